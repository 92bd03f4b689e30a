"""The production channel, against a small server that answers like the Cloud API."""

import asyncio

import pytest
from aiohttp import web

from evalrun.sample_orchestrator.errors import BadSettings, SendFailed
from evalrun.sample_orchestrator.whatsapp import WhatsAppSender, WhatsAppSettings

TAKEN = {"messages": [{"id": "wamid.A"}]}


def exchange(to, *, status=200, answer=TAKEN, timeout=5.0, wait=0.0, reachable=True):
    """Send one text; what the server saw, and the id or the failure."""
    seen = []

    async def messages(request):
        seen.append((request.path, request.headers["Authorization"], await request.json()))
        await asyncio.sleep(wait)
        return web.json_response(answer, status=status)

    async def run():
        app = web.Application()
        app.router.add_post("/{path:.*}", messages)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        api = f"http://127.0.0.1:{runner.addresses[0][1]}"
        if not reachable:
            await runner.cleanup()
        settings = WhatsAppSettings(phone_number_id="123", token="secret", api=api, timeout=timeout)
        try:
            async with WhatsAppSender(settings) as sender:
                return await sender.send(to, "coucou")
        except SendFailed as failure:
            return failure
        finally:
            await runner.cleanup()

    return seen, asyncio.run(run())


def test_a_phone_number():
    """A text to a phone number is posted with the token and comes back with the channel's id."""
    seen, result = exchange("+33600000001")
    body = {
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "to": "33600000001",
        "type": "text",
        "text": {"body": "coucou", "preview_url": False},
    }
    assert ("wamid.A", [("/v23.0/123/messages", "Bearer secret", body)]) == (result, seen)


def test_a_user_without_a_phone_number():
    """An address that is no phone number goes into `recipient`."""
    seen, _ = exchange("FR.13491208655302741918")
    body = seen[0][2]
    assert ("FR.13491208655302741918", False) == (body["recipient"], "to" in body)


@pytest.mark.parametrize(
    ("how", "certain", "said"),
    [
        ({"status": 400, "answer": {"error": {"message": "bad number", "code": 131026}}}, True, "bad number"),
        ({"status": 401, "answer": "nonsense"}, True, "HTTP 401"),
        ({"status": 500, "answer": {"error": {"message": "oops", "code": 1}}}, False, "HTTP 500"),
        ({"answer": {"messages": []}}, False, "without a message id"),
        ({"wait": 1.0, "timeout": 0.1}, False, "no answer"),
        ({"reachable": False}, True, "cannot be reached"),
    ],
)
def test_failures(how, certain, said):
    """Every failure is raised with its reason, and tells a sure refusal from a doubt."""
    _, failure = exchange("+33600000001", **how)
    assert (certain, True) == (failure.certain, said in str(failure))


def test_settings():
    """Bad settings are refused at once, and the token is not shown."""
    with pytest.raises(BadSettings):
        WhatsAppSender(WhatsAppSettings(phone_number_id="", token="secret"))
    assert "secret" not in repr(WhatsAppSettings(phone_number_id="1", token="secret"))

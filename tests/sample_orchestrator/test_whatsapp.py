"""The production channel, against a small server that answers like the Cloud API."""

import asyncio
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from evalrun.sample_orchestrator.errors import BadSettings, SendFailed
from evalrun.sample_orchestrator.heard import Inbound
from evalrun.sample_orchestrator.orchestrator import Orchestrator, Seams
from evalrun.sample_orchestrator.whatsapp import WhatsAppSender, WhatsAppSettings
from tests.sample_orchestrator.stage_door import LEA, NOON, ScriptedModel, play

TAKEN = {"messages": [{"id": "wamid.A"}]}


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One answer of the API."""

    status: int = 200
    answer: object = field(default_factory=lambda: TAKEN)
    headers: dict = field(default_factory=dict)
    wait: float = 0.0


def refusal(status, code, message="no", **more):
    """A refusal as the API words it."""
    return Reply(status=status, answer={"error": {"message": message, "code": code, **more}})


class CloudApi:
    """The API: answers from a list, the last one for ever; keeps what it saw."""

    def __init__(self, *replies):
        self.replies = list(replies) or [Reply()]
        self.seen = []

    async def __aenter__(self):
        app = web.Application()
        app.router.add_post("/{path:.*}", self._messages)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_failure):
        await self._runner.cleanup()

    async def _messages(self, request):
        self.seen.append((request.path, request.headers["Authorization"], await request.json()))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        await asyncio.sleep(reply.wait)
        return web.json_response(reply.answer, status=reply.status, headers=reply.headers)


def settings(api, **more):
    """Settings with waits that a test can afford."""
    return WhatsAppSettings(**{"phone_number_id": "123", "token": "secret", "api": api, "first_wait": 0.01} | more)


def exchange(to, *replies, text="coucou", reachable=True, **more):
    """Send one text; what the server saw, and the id or the failure."""

    async def run():
        async with CloudApi(*replies) as api:
            if not reachable:
                await api._runner.cleanup()
            try:
                async with WhatsAppSender(settings(api.url, **more)) as sender:
                    return api.seen, await sender.send(to, text)
            except SendFailed as failure:
                return api.seen, failure

    return asyncio.run(run())


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
    ("reply", "certain", "final", "said"),
    [
        (refusal(400, 131026, "Message undeliverable"), True, True, "cannot receive"),
        (refusal(400, 131047, "Re-engagement message"), True, True, "only a template"),
        (refusal(400, 100, "Invalid parameter"), True, True, "parameter is wrong"),
        (
            refusal(400, 33, "odd", error_data={"details": "the number is not registered"}),
            True,
            False,
            "not registered",
        ),
        (refusal(401, 190, "Access token has expired"), True, False, "expired (code 190)"),
        (Reply(status=403, answer="nonsense"), True, False, "HTTP 403: no reason given (code ?)"),
        (refusal(400, "x"), True, False, "no (code ?)"),
        (refusal(500, 131000, "Something went wrong"), False, False, "HTTP 500"),
        (Reply(answer={"messages": []}), False, False, "without a message id"),
        (Reply(wait=1.0), False, False, "no answer"),
    ],
)
def test_failures(reply, certain, final, said):
    """Each failure tells its reason, a sure refusal from a doubt, and whether trying again is of use; none is retried."""
    seen, failure = exchange("+33600000001", reply, timeout=0.3)
    assert (certain, final, True, 1) == (failure.certain, failure.final, said in str(failure), len(seen))
    assert "secret" not in str(failure)


@pytest.mark.parametrize(
    "reply",
    [
        refusal(429, 130429),
        refusal(400, 131056),
        refusal(400, 4),
        Reply(status=429, answer=None, headers={"Retry-After": "0"}),
    ],
)
def test_a_limit_that_passes(reply):
    """Too much at once is waited out and sent, once."""
    seen, result = exchange("+33600000001", reply, reply, Reply())
    assert ("wamid.A", 3) == (result, len(seen))


def test_a_limit_that_stays():
    """A limit that does not pass is a sure failure, for the outbox to try again in minutes."""
    seen, failure = exchange("+33600000001", refusal(429, 130429))
    assert (True, False, 130429, 3) == (failure.certain, failure.final, failure.code, len(seen))


def test_a_long_wait_is_left_to_the_outbox():
    """When the API asks for more patience than a turn has, nothing is waited for."""
    seen, failure = exchange("+33600000001", Reply(status=429, answer={}, headers={"Retry-After": "600"}))
    assert (True, 1) == (failure.certain, len(seen))


def test_after_a_day_of_silence():
    """When only a template may be sent, the text goes out in the one that is set, in one line."""
    closed = refusal(400, 131047)
    seen, result = exchange("+33600000001", closed, Reply(), text="coucou\nléa", template="ori_note")
    expected = {
        "name": "ori_note",
        "language": {"code": "fr"},
        "components": [{"type": "body", "parameters": [{"type": "text", "text": "coucou léa"}]}],
    }
    assert ("wamid.A", 2, expected) == (result, len(seen), seen[1][2]["template"])
    assert ("template", "33600000001") == (seen[1][2]["type"], seen[1][2]["to"])


def test_not_reachable():
    """A connection that is never made is tried again, then told as sure."""
    _, failure = exchange("+33600000001", reachable=False)
    assert (True, False, True) == (failure.certain, failure.final, "cannot be reached" in str(failure))


@pytest.mark.parametrize("text", ["", "  ", "a" * 4097])
def test_texts_that_cannot_be_sent(text):
    """Nothing and too much are refused before they are sent, and never cut."""
    seen, failure = exchange("+33600000001", text=text)
    assert (True, []) == (failure.final, seen)


def test_settings():
    """Bad settings are refused at once, and the token is not shown."""
    for wrong in ({"phone_number_id": ""}, {"token": ""}, {"attempts": 0}):
        with pytest.raises(BadSettings):
            WhatsAppSender(settings("http://127.0.0.1", **wrong))
    assert "secret" not in repr(settings("http://127.0.0.1"))


def test_not_opened():
    """A sender that was not opened says so."""
    with pytest.raises(BadSettings, match="context manager"):
        asyncio.run(WhatsAppSender(settings("http://127.0.0.1")).send("+33600000001", "coucou"))


@pytest.mark.parametrize(
    ("reply", "status"),
    [(refusal(400, 131047), "failed"), (refusal(401, 190), "pending"), (refusal(500, 1), "sending")],
)
def test_what_the_outbox_makes_of_it(fresh_database, reply, status):
    """In the orchestrator: what is of no use is given up, what may pass waits, what is in doubt is left as it is."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa")
        async with CloudApi(reply) as api, WhatsAppSender(settings(api.url)) as sender:
            ori = Orchestrator(fresh_database, Seams(model=ScriptedModel(), sender=sender, now=lambda: NOON))
            try:
                with pytest.raises(SendFailed):
                    await ori.handle(Inbound(id="m1", sender=LEA, text="lyon"))
            finally:
                await ori.close()
        first, *_ = await door.rows("select status from outbox order by id")
        assert (status,) == first

    play(fresh_database, scene)

"""The scripted model server itself: both ways of running it, both wire formats, exact counts."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from decimal import Decimal

from evalrun.config import Price
from evalrun.interfaces.models import Finish, Message
from evalrun.usage import Role, Tokens
from tests.endpoints import endpoint
from tests.scripted_server import Answer, ScriptedServer, Usage


def _post(url: str, body: dict[str, object]) -> dict[str, object]:
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=5) as response:
        found: dict[str, object] = json.load(response)
        return found


def test_async_server_answers_and_counts() -> None:
    """In one loop: the script sees the role, the reply carries text, finish and tokens."""

    async def play() -> None:
        async with ScriptedServer(lambda role, _: Answer(text=role, finish="length")) as server:
            reply = await endpoint(server.base_url, Role.JUDGE).complete(
                [Message(role="user", content="hi")], max_output_tokens=5
            )
        assert (reply.text, reply.finish) == ("judge", Finish.LENGTH)
        assert reply.tokens == Tokens(input=100, output=20)
        assert server.calls_by_role == {"judge": 1}

    asyncio.run(play())


def test_threaded_server_speaks_both_formats_and_costs_exactly() -> None:
    """From its own thread: Anthropic's input leaves out cached tokens, and the cost counts them once."""
    used = Usage(input=1000, cached=400, output=10)
    with ScriptedServer(lambda _, __: Answer(text="yes", usage=used)) as server:
        chat = _post(f"{server.base_url}/chat/completions", {"model": "agent-1", "messages": []})
        message = _post(f"{server.anthropic_url}/v1/messages", {"model": "judge-1", "messages": []})
    assert chat["usage"]["prompt_tokens"] == 1000  # type: ignore[index]
    assert message["usage"]["input_tokens"] == 600  # type: ignore[index]
    assert message["stop_reason"] == "end_turn"
    price = Price(input=Decimal(1), output=Decimal(10), cached=Decimal("0.1"))
    assert server.cost({"agent": price}) == Decimal("0.00074")
    assert server.cost({"agent": price, "judge": price}) == Decimal("0.00148")

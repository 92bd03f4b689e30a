"""The three rooms that reach a vendor, against a scripted server that speaks the vendors' wire formats."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest

from evalrun import plugins
from evalrun.errors import KeyRefused, ModelFailed, RateLimited
from evalrun.interfaces.models import Finish, Message, ModelRequest, ProviderSetup
from evalrun.usage import ModelName, Role, Tokens
from tests.scripted_server import Answer, ScriptedServer, Usage

KEY = "sk-very-secret-a1f2"
VENDORS = ("compatible", "openai", "anthropic")
SCHEMA = {
    "type": "object",
    "properties": {"pattern": {"type": "string", "maxLength": 9}, "score": {"type": "integer", "minimum": 1}},
    "required": ["pattern", "score"],
    "additionalProperties": False,
}


def provider_of(vendor: str, server: Any) -> Any:
    """A provider of a vendor whose address is the scripted server's."""
    address = server.anthropic_url if vendor == "anthropic" else server.base_url
    setup = ProviderSetup(
        name=vendor, options={"base_url": address, "api_key_env": "KEY"}, environ={"KEY": KEY}, tmp=Path()
    )
    return plugins.load("providers", vendor)(setup)


def request(vendor: str = "openai", **changes: Any) -> Any:
    """A request of a judge."""
    plain: dict[str, Any] = {
        "role": Role.JUDGE,
        "model": ModelName(provider=vendor, model="judge-1"),
        "messages": (Message(role="system", content="You judge."), Message(role="user", content="Salut, ça va ?")),
        "max_output_tokens": 50,
    }
    return ModelRequest(**(plain | changes))


def ask(vendor: str, script: Any, *requests: Any, timeout: float = 5.0) -> Any:
    """Replies or failures of requests made one after another, and the server."""

    async def run() -> Any:
        async with ScriptedServer(script) as server:
            provider = provider_of(vendor, server)
            await provider.start()
            got = []
            try:
                for asked in requests or (request(vendor),):
                    try:
                        got.append(await provider.complete(asked, timeout))
                    except ModelFailed as e:
                        got.append(e)
            finally:
                await provider.close()
                await provider.close()
            return got, server

    return asyncio.run(run())


@pytest.mark.parametrize("vendor", VENDORS)
def test_an_answer_comes_back_with_what_was_sent_and_used(vendor: str) -> None:
    """Text, tokens, the model returned and the body really sent are those of the wire."""
    answer = Answer(text="8", model="judge-1-2026", usage=Usage(input=1000, cached=800, output=100))
    (reply,), server = ask(vendor, lambda _role, _body: answer)
    assert reply.text == "8"
    assert reply.finish is Finish.STOP
    assert reply.tokens == Tokens(input=1000, cached=800, output=100)
    assert reply.returned == "judge-1-2026"
    (received,) = server.requests()
    assert reply.sent == received.body
    assert "Salut, ça va ?" in received.said
    assert KEY in received.headers.get("Authorization", received.headers.get("X-Api-Key", ""))


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize(
    ("finish", "expected"),
    [("stop", Finish.STOP), ("length", Finish.LENGTH), ("content_filter", Finish.REFUSAL), ("pause", Finish.OTHER)],
)
def test_the_reason_to_stop_is_one_word_for_all(vendor: str, finish: Any, expected: Any) -> None:
    """Stop reasons of all vendors are mapped; an unknown one is no clean stop."""
    (reply,), _ = ask(vendor, lambda _role, _body: Answer(text="x", finish=finish))
    assert reply.finish is expected


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [(401, KeyRefused, False), (404, ModelFailed, False), (429, RateLimited, True), (529, RateLimited, True)],
)
def test_b09_a_refusal_of_the_server_is_one_attempt_and_one_kind(
    vendor: str, status: int, kind: type[ModelFailed], retryable: bool
) -> None:
    """Each attempt is one request, whatever the status: the vendors' own retries are off."""
    headers = {"Retry-After": "7"}
    (error,), server = ask(vendor, lambda _role, _body: Answer(text="no", status=status, headers=headers))
    assert type(error) is kind
    assert (error.retryable, error.fatal, error.billed) == (retryable, kind is KeyRefused, False)
    assert error.retry_after == (7.0 if retryable else None)
    assert str(error) == f"{vendor} answered {status}: no"
    assert len(server.requests()) == 1


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_key_that_the_server_repeats_is_not_shown(vendor: str) -> None:
    """A message that repeats the key keeps only its last four characters."""
    (error,), _ = ask(vendor, lambda _role, _body: Answer(text=f"Incorrect API key: {KEY}", status=401))
    assert str(error).endswith("Incorrect API key: …a1f2")


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("body", ["<html>Bad gateway</html>", "", "[]", '{"choices": []}', '{"content": "x"}', '{"a'])
def test_b09_5_a_page_with_status_200_is_a_failed_call(vendor: str, body: Any) -> None:
    """An HTML page, an empty or a cut body under status 200 is named, and may have been billed."""
    (error,), _ = ask(vendor, lambda _role, _body: Answer(raw_body=body, headers={"Content-Type": "text/html"}))
    assert isinstance(error, ModelFailed)
    assert "answered 200 with something else" in str(error)
    assert (error.retryable, error.billed) == (True, True)


@pytest.mark.parametrize("vendor", VENDORS)
def test_silence_ends_at_the_timeout_and_may_have_been_billed(vendor: str) -> None:
    """A call that gets no answer in time is cut by our own clock."""
    (error,), _ = ask(vendor, lambda _role, _body: Answer(delay=30), timeout=0.2)
    assert str(error) == f"{vendor}: no answer within 0.2 s"
    assert (error.retryable, error.billed) == (True, True)


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_dropped_connection_may_have_been_billed(vendor: str) -> None:
    """A connection that closes without an answer is a failed call after which another may succeed."""
    (error, reply), _ = ask(vendor, dropping(), request(vendor), request(vendor))
    assert (error.retryable, error.billed) == (True, True)
    assert reply.text == "ok"


def dropping() -> Any:
    """A script that closes the first connection."""
    answers = iter([Answer(drop=True)])
    return lambda _role, _body: next(answers, Answer())


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_server_that_is_not_there_costs_nothing(vendor: str) -> None:
    """No connection, no bill: the reservation can be given back."""

    async def run() -> Any:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{taken.getsockname()[1]}"
            setup = ProviderSetup(
                name=vendor, options={"base_url": address, "api_key_env": "K"}, environ={"K": "k"}, tmp=Path()
            )
            provider = plugins.load("providers", vendor)(setup)
            await provider.start()
            try:
                await provider.complete(request(vendor), 5.0)
            finally:
                await provider.close()

    with pytest.raises(ModelFailed, match="cannot be reached") as error:
        asyncio.run(run())
    assert (error.value.retryable, error.value.billed) == (True, False)


@pytest.mark.parametrize("vendor", ["compatible", "openai"])
def test_a_refused_parameter_is_dropped_once_and_remembered(vendor: str) -> None:
    """A model that refuses temperature gets it once; `sent` tells what was really sent; other models keep theirs."""

    def picky(role: str, body: Any) -> Any:
        if role == "judge" and "temperature" in body:
            return Answer(text="Unsupported value: 'temperature' does not support 0", status=400)
        return Answer()

    hot = request(vendor, temperature=0.0, seed=7)
    other = request(vendor, temperature=0.0, model=ModelName(provider=vendor, model="persona-1"))
    (first, second, third), server = ask(vendor, picky, hot, hot, other)
    assert [("temperature" in r.body) for r in server.requests()] == [True, False, False, True]
    assert first.sent == second.sent == server.requests()[1].body
    assert first.sent["seed"] == 7
    assert third.sent["temperature"] == 0.0


@pytest.mark.parametrize("vendor", ["compatible", "openai"])
def test_a_schema_is_asked_for_in_strict_mode(vendor: str) -> None:
    """The answer's schema goes along; OpenAI gets it without the lengths its strict mode refuses."""
    _, server = ask(vendor, lambda _role, _body: "{}", request(vendor, schema=SCHEMA, schema_name="a b!"))
    sent = server.requests()[0].body["response_format"]["json_schema"]
    assert (sent["name"], sent["strict"]) == ("a_b_", True)
    assert ("maxLength" in sent["schema"]["properties"]["pattern"]) is (vendor == "compatible")


def test_openai_speaks_its_own_dialect() -> None:
    """The limit has the name that current models want, and calls of one lane share a cache key."""
    _, server = ask("openai", lambda _role, _body: "x", request("openai", lane="judge:conversation"))
    body = server.requests()[0].body
    assert body["max_completion_tokens"] == 50
    assert body["prompt_cache_key"] == "judge:conversation"


def test_anthropic_gets_system_schema_and_turns_in_its_own_shape() -> None:
    """System text apart, no temperature or seed, only the supported part of the schema, turns of one role joined."""
    messages = (
        Message(role="system", content="You judge."),
        Message(role="assistant", content="Salut"),
        Message(role="user", content="a"),
        Message(role="user", content="b"),
        Message(role="user", content=""),
    )
    asked = request("anthropic", messages=messages, schema=SCHEMA, temperature=0.0, seed=3)
    _, server = ask("anthropic", lambda _role, _body: "{}", asked)
    body = dict(server.requests()[0].body)
    assert body.pop("system")[0]["text"] == "You judge."
    assert [(m["role"], [b["text"] for b in m["content"]]) for m in body.pop("messages")] == [
        ("user", ["(the conversation begins)"]),
        ("assistant", ["Salut"]),
        ("user", ["a", "b"]),
    ]
    properties = body.pop("output_config")["format"]["schema"]["properties"]
    assert properties == {"pattern": {"type": "string"}, "score": {"type": "integer"}}
    assert body == {"model": "judge-1", "max_tokens": 50}


TOOL = {"type": "function", "function": {"name": "quote", "parameters": {"type": "object", "properties": {}}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "quote", "arguments": '{"amount": 4200}'}}


def test_anthropic_sees_tool_turns() -> None:
    """Tool calls and results reach Anthropic as its blocks, not as an assistant that says nothing."""
    messages = (
        Message(role="user", content="un devis"),
        Message(role="assistant", content=None, tool_calls=(CALL,)),
        Message(role="tool", content="ok", tool_call_id="c1"),
    )
    _, server = ask("anthropic", lambda _role, _body: "x", request("anthropic", messages=messages, tools=(TOOL,)))
    body = server.requests()[0].body
    assert body["messages"][1:] == [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "quote", "input": {"amount": 4200}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}]},
    ]
    assert body["tools"][0]["name"] == "quote"


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_tool_call_comes_back_in_one_shape(vendor: str) -> None:
    """The model's tool call has the chat-completions form for all vendors."""
    script = lambda _role, _body: Answer(  # noqa: E731  a script is one expression
        text=None, finish="tool_calls", tool_calls=({"name": "quote", "arguments": {"amount": 4200}},)
    )
    (reply,), _ = ask(vendor, script, request(vendor, tools=(TOOL,)))
    assert reply.finish is Finish.TOOLS
    (call,) = reply.tool_calls
    assert call["function"] == {"name": "quote", "arguments": '{"amount": 4200}'}


@pytest.mark.parametrize("vendor", VENDORS)
def test_many_calls_are_in_flight_at_once(vendor: str) -> None:
    """The provider sets no limit of its own: bounding calls is the limiter's work."""
    everybody = 130
    arrived = asyncio.Semaphore(0)

    async def run() -> Any:
        gate = asyncio.Event()

        async def script(role: str, body: Any) -> Any:
            arrived.release()
            await gate.wait()
            return Answer()

        async with ScriptedServer(script) as server:
            provider = provider_of(vendor, server)
            await provider.start()
            calls = [asyncio.create_task(provider.complete(request(vendor), 20.0)) for _ in range(everybody)]
            for _ in range(everybody):
                await asyncio.wait_for(arrived.acquire(), 10)
            gate.set()
            await asyncio.gather(*calls)
            await provider.close()
            return server.peak

    assert asyncio.run(run()) == everybody


def test_a_redirect_is_not_followed() -> None:
    """A base URL that moves is a mistake to correct: the key is not sent elsewhere."""
    (error,), server = ask(
        "compatible", lambda _role, _body: Answer(text="", status=301, headers={"Location": "http://127.0.0.1:1/x"})
    )
    assert (type(error), error.retryable, len(server.requests())) == (ModelFailed, False, 1)
    assert "base_url" in error.remedy

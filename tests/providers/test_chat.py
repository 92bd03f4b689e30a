"""The chat-completions wire format: what a request says and what an answer means."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import msgspec
import pytest

from evalrun.errors import KeyRefused, ModelFailed, RateLimited
from evalrun.interfaces.models import Finish, Message, ModelRequest
from evalrun.providers.chat import body_of, refused, refused_parameter, reply_of, retry_after
from evalrun.usage import ModelName, Role


def request(**changes: Any) -> Any:
    """A request."""
    plain: dict[str, Any] = {
        "role": Role.JUDGE,
        "model": ModelName(provider="openai", model="judge-1"),
        "messages": (Message(role="user", content="hi"),),
        "max_output_tokens": 50,
    }
    return ModelRequest(**(plain | changes))


def test_a_body_holds_what_was_asked_and_nothing_else() -> None:
    """Optional parameters are sent only when asked for and not refused before."""
    body = body_of(request(temperature=0.0, seed=7), limit_name="max_tokens", dropped=frozenset({"seed"}))
    expected = {
        "model": "judge-1",
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 50,
        "temperature": 0.0,
    }
    assert body == expected


def test_tool_turns_are_passed_through() -> None:
    """A tool call keeps its null content and its id: no assistant message saying 'null'."""
    call = {"id": "c1", "type": "function", "function": {"name": "quote", "arguments": "{}"}}
    messages = (
        Message(role="assistant", content=None, tool_calls=(call,)),
        Message(role="tool", content="4200", tool_call_id="c1"),
    )
    assert body_of(request(messages=messages), limit_name="max_tokens")["messages"] == [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "4200", "tool_call_id": "c1"},
    ]


def test_half_characters_do_not_stop_a_call() -> None:
    """A text with a lone surrogate, which no JSON body can carry, is sent with a mark in its place."""
    body = body_of(request(messages=(Message(role="user", content="a\ud83db é"),)), limit_name="max_tokens")
    assert msgspec.json.decode(msgspec.json.encode(body))["messages"][0]["content"] == "a?b é"


def answer(**message: Any) -> Any:
    """A chat completion."""
    return {"choices": [{"finish_reason": message.pop("finish", "stop"), "message": message}]}


@pytest.mark.parametrize(
    ("body", "text", "finish"),
    [
        (answer(content="8"), "8", Finish.STOP),
        (answer(content="8", finish="length"), "8", Finish.LENGTH),
        (answer(content=None, refusal="I can't"), "I can't", Finish.REFUSAL),
        (answer(content=None, finish="content_filter"), "", Finish.REFUSAL),
        (answer(content=None, finish="tool_calls"), "", Finish.TOOLS),
        (answer(content="x", finish=None), "x", Finish.OTHER),
        (answer(content=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), "ab", Finish.STOP),
    ],
)
def test_an_answer_is_read(body: Any, text: str, finish: Any) -> None:
    """Text and finish of an answer; a refusal is a refusal, not an empty answer."""
    reply = reply_of(body, {}, "openai")
    assert (reply.text, reply.finish) == (text, finish)


@pytest.mark.parametrize(
    "body",
    [None, [], "x", 3, {}, {"choices": []}, {"choices": None}, {"choices": [{}]}, {"choices": [{"message": None}]}],
)
def test_b09_5_a_body_that_is_no_completion_is_named(body: Any) -> None:
    """A body with status 200 and no choices is a failed call that may have been billed, never an empty answer."""
    with pytest.raises(ModelFailed, match="answered 200 with something else") as error:
        reply_of(body, {}, "openai")
    assert (error.value.retryable, error.value.billed) == (True, True)


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable", "fatal"),
    [
        (401, '{"error":{"message":"invalid key"}}', KeyRefused, False, True),
        (402, '{"error":"pay"}', KeyRefused, False, True),
        (403, "Forbidden", KeyRefused, False, True),
        (429, '{"error":{"code":"insufficient_quota","message":"You exceeded"}}', KeyRefused, False, True),
        (400, '{"error":{"message":"Your credit balance is too low"}}', KeyRefused, False, True),
        (429, '{"error":{"message":"slow down"}}', RateLimited, True, False),
        (529, '{"error":{"message":"Overloaded"}}', RateLimited, True, False),
        (408, "", ModelFailed, True, False),
        (409, "", ModelFailed, True, False),
        (500, "<html>", ModelFailed, True, False),
        (503, '{"error":{"message":"Loading model"}}', ModelFailed, True, False),
        (400, '{"error":{"message":"the billing department said no"}}', ModelFailed, False, False),
        (404, '{"error":{"message":"no model x"}}', ModelFailed, False, False),
        (422, '{"detail":"bad"}', ModelFailed, False, False),
        (301, "", ModelFailed, False, False),
    ],
)
def test_a_status_becomes_a_kind_of_failure(
    status: int, body: Any, kind: type[ModelFailed], retryable: bool, fatal: bool
) -> None:
    """Key and account stop everything, limits and faults of the server are tried again, mistakes are not."""
    error = refused("openai", status, body, {})
    assert (type(error), error.retryable, error.fatal, error.billed) == (kind, retryable, fatal, False)
    assert str(error).startswith(f"openai answered {status}: ")


def test_the_vendors_own_words_are_kept() -> None:
    """A mistake of the request carries the vendor's message."""
    error = refused("openai", 404, '{"error":{"message":"The model `x` does not exist"}}', {})
    assert str(error) == "openai answered 404: The model `x` does not exist"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "0"}, 0.0),
        ({"retry-after": "2"}, 2.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"Retry-After": "86400"}, 86400.0),
        ({"retry-after-ms": "250", "Retry-After": "9"}, 0.25),
        ({"retry-after-ms": "soon", "Retry-After": "9"}, 9.0),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "Wed, 02 Dec 1998 10:00:00 GMT"}, 0.0),
    ],
)
def test_b30_retry_after_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, thousandths, a date gone by, or nonsense."""
    assert retry_after(headers) == seconds


def test_b30_a_date_is_seconds_from_now() -> None:
    """The date form is understood."""
    until = datetime.now(UTC) + timedelta(seconds=30)
    seconds = retry_after({"Retry-After": format_datetime(until, usegmt=True)})
    assert seconds is not None
    assert 25 < seconds <= 30


@pytest.mark.parametrize(
    ("status", "text", "name"),
    [
        (400, '{"error":{"message":"Unsupported value","param":"temperature"}}', "temperature"),
        (422, "temperature is not supported", "temperature"),
        (400, "Unsupported parameter: 'seed'", "seed"),
        (400, '{"error":{"message":"temperature of the room","param":"messages"}}', ""),
        (400, "unseeded", ""),
        (500, "temperature", ""),
        (400, "prompt_cache_key", ""),
    ],
)
def test_a_refused_parameter_is_named(status: int, text: str, name: str) -> None:
    """Only a parameter that was sent, and that the vendor names, is dropped."""
    assert refused_parameter(status, text, {"temperature": 0, "seed": 1}) == name

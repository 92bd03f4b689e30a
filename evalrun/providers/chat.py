"""The chat-completions wire format, shared by the rooms that speak it: a request's body, an answer's meaning."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from evalrun.errors import KeyRefused, ModelFailed, RateLimited
from evalrun.interfaces import Finish, Message, ModelReply, ModelRequest
from evalrun.providers.usage import from_chat

_FINISH = {
    "stop": Finish.STOP,
    "length": Finish.LENGTH,
    "content_filter": Finish.REFUSAL,
    "tool_calls": Finish.TOOLS,
    "function_call": Finish.TOOLS,
}
_ACCOUNT = ("insufficient_quota", "billing", "credit balance", "spend limit", "payment required")
_NAME = re.compile(r"[^A-Za-z0-9_-]")
OPTIONAL = ("temperature", "seed", "prompt_cache_key")


def body_of(request: ModelRequest, *, limit_name: str, dropped: frozenset[str] = frozenset()) -> dict[str, object]:
    """The JSON body of a request; parameters the model has refused before are left out."""
    body: dict[str, object] = {
        "model": request.model.model,
        "messages": [_message(m) for m in request.messages],
        limit_name: request.max_output_tokens,
    }
    if request.schema is not None:
        name = _NAME.sub("_", request.schema_name)[:64]
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": name, "strict": True, "schema": request.schema},
        }
    if request.tools:
        body["tools"] = list(request.tools)
    optional = {"temperature": request.temperature, "seed": request.seed}
    return body | {k: v for k, v in optional.items() if v is not None and k not in dropped}


def _message(message: Message) -> dict[str, object]:
    body: dict[str, object] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        body["tool_calls"] = list(message.tool_calls)
    if message.tool_call_id:
        body["tool_call_id"] = message.tool_call_id
    return body


def reply_of(answer: object, sent: Mapping[str, object], vendor: str) -> ModelReply:
    """What an answer with status 200 means. Raises ModelFailed when it is no chat completion."""
    try:
        assert isinstance(answer, dict)
        choice: Any = answer["choices"][0]
        message: Any = choice["message"]
        content = message.get("content")
        refusal = message.get("refusal")
    except (AssertionError, KeyError, IndexError, TypeError, AttributeError) as e:
        raise malformed(vendor, json.dumps(answer, ensure_ascii=False, default=str)) from e
    finish = _FINISH.get(str(choice.get("finish_reason")), Finish.OTHER)
    if refusal and not content:
        finish = Finish.REFUSAL
    return ModelReply(
        text=content if isinstance(content, str) else "",
        finish=finish,
        tokens=from_chat(answer.get("usage")),
        returned=str(answer.get("model") or ""),
        fingerprint=str(answer.get("system_fingerprint") or ""),
        tier=str(answer.get("service_tier") or ""),
        tool_calls=tuple(message.get("tool_calls") or ()),
        sent=sent,
        received=answer,
    )


def malformed(vendor: str, text: str) -> ModelFailed:
    """An answer with status 200 that is no chat completion: an HTML page, a cut body."""
    return ModelFailed(
        f"{vendor} answered 200 with something else than a completion: {' '.join(text.split())[:120]!r}",
        remedy="is base_url the API's address?",
        retryable=True,
        billed=True,
    )


def unreachable(vendor: str, error: BaseException) -> ModelFailed:
    """No connection was made: nothing was billed."""
    return ModelFailed(
        f"{vendor} cannot be reached ({type(error).__name__})", remedy="check the network and base_url", retryable=True
    )


def cut(vendor: str, what: str) -> ModelFailed:
    """The call was sent and no whole answer came: it may have been billed."""
    return ModelFailed(
        f"{vendor}: {what}", remedy="raise [tool.evalrun.timeouts] call, or try later", retryable=True, billed=True
    )


def refused(vendor: str, status: int, text: str, headers: Mapping[str, str]) -> ModelFailed:
    """The error for a status other than 200."""
    short = " ".join(_said(text).split())[:200]
    message = f"{vendor} answered {status}: {short}"
    lowered = text.lower()
    if status in (401, 402, 403) or any(word in lowered for word in _ACCOUNT):
        return KeyRefused(message, remedy="check the key and the account's balance", fatal=True)
    if status in (429, 529):
        return RateLimited(
            message,
            remedy="raise the vendor's limit, or lower --concurrency",
            retryable=True,
            retry_after=retry_after(headers),
        )
    if status in (408, 409, 425) or status >= 500:
        return ModelFailed(
            message, remedy="try again later", retryable=True, retry_after=retry_after(headers), billed=False
        )
    return ModelFailed(message, remedy="correct the model's name or its options")


def _said(text: str) -> str:
    """The vendor's own message, where the body holds one."""
    try:
        error = json.loads(text)["error"]
        return str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError):
        return text


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds a vendor asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    lowered = {k.lower(): v for k, v in headers.items()}
    try:
        if "retry-after-ms" in lowered:
            return max(float(lowered["retry-after-ms"]) / 1000, 0.0)
        text = lowered.get("retry-after", "").strip()
        if not text:
            return None
        if text.replace(".", "", 1).isdigit():
            return float(text)
        return max((parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None


def refused_parameter(status: int, text: str, sent: Mapping[str, object]) -> str:
    """The optional parameter that a 400 complains about, or ""."""
    if status != 400:
        return ""
    return next((name for name in OPTIONAL if name in sent and name in text), "")

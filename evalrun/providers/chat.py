"""The chat-completions wire format, shared by the rooms that speak it: a request's body, an answer's meaning."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from evalrun.errors import KeyRefused, ModelFailed, RateLimited
from evalrun.interfaces.models import Finish, Message, ModelReply, ModelRequest
from evalrun.providers.usage import from_chat

_FINISH = {
    "stop": Finish.STOP,
    "length": Finish.LENGTH,
    "content_filter": Finish.REFUSAL,
    "tool_calls": Finish.TOOLS,
    "function_call": Finish.TOOLS,
}
_ACCOUNT = (
    "insufficient_quota",
    "exceeded your current quota",
    "billing_hard_limit",
    "billing_error",
    "credit balance is too low",
    "spend limit",
    "spending limit",
)
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


def encodable(text: str) -> str:
    """The text with half characters, which no JSON body can carry, replaced."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text  # the very same: a history is sent again and again, and each request is kept


def _message(message: Message) -> dict[str, object]:
    content = None if message.content is None else encodable(message.content)
    body: dict[str, object] = {"role": message.role, "content": content}
    if message.tool_calls:
        body["tool_calls"] = list(message.tool_calls)
    if message.tool_call_id:
        body["tool_call_id"] = message.tool_call_id
    return body


def reply_of(answer: object, sent: Mapping[str, object], vendor: str) -> ModelReply:
    """What an answer with status 200 means. Raises ModelFailed when it is no chat completion."""
    whole: Any = answer
    try:
        choice: Any = whole["choices"][0]
        message: Any = choice["message"]
        text, refusal, calls = _text(message.get("content")), message.get("refusal"), message.get("tool_calls")
        finish = _FINISH.get(str(choice.get("finish_reason")), Finish.OTHER)
    except (KeyError, IndexError, TypeError, AttributeError) as e:
        raise malformed(vendor, json.dumps(answer, ensure_ascii=False, default=str)) from e
    if refusal and not text:
        text, finish = str(refusal), Finish.REFUSAL
    return ModelReply(
        text=text,
        finish=finish,
        tokens=from_chat(whole.get("usage")),
        returned=str(whole.get("model") or ""),
        fingerprint=str(whole.get("system_fingerprint") or ""),
        tier=str(whole.get("service_tier") or ""),
        tool_calls=tuple(calls or ()),
        sent=sent,
        received=whole,
    )


def _text(content: object) -> str:
    """A message's text; some endpoints give it in parts."""
    if isinstance(content, list):
        return "".join(str(p.get("text") or "") for p in content if isinstance(p, dict))
    return content if isinstance(content, str) else ""


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
    said, code = _said(text)
    message = f"{vendor} answered {status}: {' '.join(said.split())[:200]}"
    lowered = f"{said} {code}".lower()
    if status in (401, 402, 403) or (status in (400, 429) and any(word in lowered for word in _ACCOUNT)):
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
    if status in range(300, 400):
        return ModelFailed(message, remedy="correct base_url: the API is at another address")
    return ModelFailed(message, remedy="correct the model's name or its options")


def hidden(text: str, secret: str) -> str:
    """The text with a key that a server repeats cut to its last four characters."""
    return text.replace(secret, f"…{secret[-4:]}") if secret else text


def _said(text: str) -> tuple[str, str]:
    """The vendor's own message, where the body holds one, and its codes."""
    error = _error(text)
    if not error:
        return text, ""
    return str(error.get("message") or text), f"{error.get('type')} {error.get('code')}"


def _error(text: str) -> Mapping[str, object]:
    try:
        error = json.loads(text)["error"]
    except (ValueError, KeyError, TypeError):
        return {}
    return error if isinstance(error, dict) else {"message": error}


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds a vendor asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    lowered = {k.lower(): v for k, v in headers.items()}
    if (thousandths := _number(lowered.get("retry-after-ms", ""))) is not None:
        return thousandths / 1000
    text = lowered.get("retry-after", "").strip()
    if (seconds := _number(text)) is not None:
        return seconds
    try:
        return max((parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None


def _number(text: str) -> float | None:
    """A finite number of at least 0, None for anything else."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0.0 <= number < float("inf") else None


def refused_parameter(status: int, text: str, sent: Mapping[str, object]) -> str:
    """The optional parameter that a 400 or 422 complains about, or ""."""
    if status not in (400, 422):
        return ""
    candidates = [name for name in OPTIONAL if name in sent]
    if (named := _error(text).get("param")) is not None:
        return str(named) if named in candidates else ""
    return next((name for name in candidates if re.search(rf"\b{name}\b", text)), "")

"""Anthropic through its SDK, in the cheapest way: its aiohttp transport, `post()` with a raw response."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Mapping
from typing import Any

import msgspec

from evalrun.interfaces import Finish, ModelReply, ModelRequest, ProviderSetup
from evalrun.providers.chat import cut, malformed, refused, unreachable
from evalrun.providers.keys import address_of, key_of
from evalrun.providers.usage import from_messages

CONNECT_SECONDS = 30.0
_FINISH = {
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "refusal": Finish.REFUSAL,
    "tool_use": Finish.TOOLS,
}
_UNSUPPORTED = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "multipleOf", "pattern")


class Anthropic:
    """Anthropic's messages (see `interfaces.Provider`). Options: `base_url`, `api_key_env`."""

    local = False

    def __init__(self, setup: ProviderSetup) -> None:
        self.name = setup.name
        self._key = key_of(setup, "ANTHROPIC_API_KEY")
        self._base_url = address_of(setup.options, setup.environ, "ANTHROPIC_BASE_URL")
        self._sdk: Any = None
        self._httpx: Any = None
        self._client: Any = None

    async def start(self) -> None:
        """Import the SDK in a thread (it takes seconds) and make the client with the key given, no profile."""
        self._sdk = await asyncio.to_thread(importlib.import_module, "anthropic")
        self._httpx = importlib.import_module("httpx2")
        limits = self._httpx.Limits(max_connections=None, max_keepalive_connections=None)
        options = {"base_url": self._base_url} if self._base_url else {}
        self._client = self._sdk.AsyncAnthropic(
            api_key=self._key,
            max_retries=0,
            open_telemetry=False,
            http_client=self._sdk.DefaultAioHttpClient(limits=limits, timeout=None),
            **options,
        )

    async def complete(self, request: ModelRequest, timeout: float) -> ModelReply:
        """One attempt. Raises ModelFailed and its kinds. No temperature or seed: the API has none."""
        body = body_of(request)
        try:
            text = await self._post(body, timeout)
        except self._sdk.APIStatusError as e:
            raise refused(self.name, e.status_code, e.response.text, e.response.headers) from e
        try:
            return reply_of(msgspec.json.decode(text), body, self.name)
        except msgspec.DecodeError as e:
            raise malformed(self.name, text.decode("utf-8", "replace")) from e

    async def close(self) -> None:
        """Close the client; idempotent."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _post(self, body: dict[str, object], timeout: float) -> bytes:
        times = self._httpx.Timeout(timeout, connect=CONNECT_SECONDS)
        try:
            async with asyncio.timeout(timeout):
                response = await self._client.post(
                    "/v1/messages", body=body, cast_to=self._httpx.Response, options={"timeout": times}
                )
                return await response.aread()  # type: ignore[no-any-return]
        except (TimeoutError, self._sdk.APITimeoutError) as e:
            raise cut(self.name, f"no answer within {timeout:g} s") from e
        except self._sdk.APIConnectionError as e:
            if isinstance(e.__cause__, self._httpx.ConnectError):
                raise unreachable(self.name, e.__cause__) from e
            raise cut(self.name, f"the connection was cut ({type(e.__cause__).__name__})") from e
        except self._httpx.HTTPError as e:
            raise cut(self.name, f"the answer was cut ({type(e).__name__})") from e


def body_of(request: ModelRequest) -> dict[str, object]:
    """The JSON body: system text apart, neighbouring messages of one role joined, the schema's supported part."""
    system = "\n\n".join(m.content or "" for m in request.messages if m.role == "system")
    turns: list[dict[str, str]] = []
    for message in request.messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += f"\n\n{message.content or ''}"
        else:
            turns.append({"role": role, "content": message.content or ""})
    body: dict[str, object] = {
        "model": request.model.model,
        "max_tokens": request.max_output_tokens,
        "messages": turns or [{"role": "user", "content": "Go on."}],
    }
    if system:
        body["system"] = [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]
    if request.schema is not None:
        body["output_config"] = {"format": {"type": "json_schema", "schema": _supported(request.schema)}}
    if request.tools:
        body["tools"] = [_tool(t) for t in request.tools]
    return body


def _supported(schema: object) -> object:
    """The schema without the keywords the API refuses; answers are checked again by whoever asked."""
    if isinstance(schema, Mapping):
        return {k: _supported(v) for k, v in schema.items() if k not in _UNSUPPORTED}
    if isinstance(schema, (list, tuple)):
        return [_supported(v) for v in schema]
    return schema


def _tool(tool: Mapping[str, object]) -> dict[str, object]:
    function: Any = tool.get("function", tool)
    return {
        "name": function["name"],
        "description": function.get("description", ""),
        "input_schema": function.get("parameters") or {"type": "object"},
    }


def reply_of(answer: object, sent: Mapping[str, object], vendor: str) -> ModelReply:
    """What an answer with status 200 means. Raises ModelFailed when it is no message."""
    if not isinstance(answer, dict) or not isinstance(answer.get("content"), list):
        raise malformed(vendor, json.dumps(answer, ensure_ascii=False, default=str))
    blocks = [b for b in answer["content"] if isinstance(b, dict)]
    usage = answer.get("usage")
    calls = tuple(
        {
            "id": b.get("id", ""),
            "type": "function",
            "function": {"name": b.get("name", ""), "arguments": json.dumps(b.get("input"))},
        }
        for b in blocks
        if b.get("type") == "tool_use"
    )
    return ModelReply(
        text="".join(str(b.get("text", "")) for b in blocks if b.get("type") == "text"),
        finish=_FINISH.get(str(answer.get("stop_reason")), Finish.OTHER),
        tokens=from_messages(usage),
        returned=str(answer.get("model") or ""),
        tier=str((usage if isinstance(usage, dict) else {}).get("service_tier") or ""),
        tool_calls=calls,
        sent=sent,
        received=answer,
    )

"""Anthropic through its SDK."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from evalrun.interfaces.models import Finish, Message, ModelReply, ModelRequest, ProviderSetup
from evalrun.providers.answer_schemas import without
from evalrun.providers.chat import encodable, hidden, malformed, refused
from evalrun.providers.keys import address_of, asked_for, key_of
from evalrun.providers.usage import from_messages
from evalrun.providers.vendor_sdk import VendorSdk

OPENING = "(the conversation begins)"
"""Stands first when no user has spoken yet: the API wants a user's message there."""
_FINISH = {
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "refusal": Finish.REFUSAL,
    "tool_use": Finish.TOOLS,
}
_UNSUPPORTED = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "pattern",
)
"""Keywords outside the API's subset."""


class Anthropic:
    """Anthropic's messages (see `interfaces.models.Provider`). Options: `base_url`, `api_key_env`."""

    local = False

    def __init__(self, setup: ProviderSetup) -> None:
        self.name = setup.name
        self._key = key_of(setup, "ANTHROPIC_API_KEY")
        address = address_of(setup, "ANTHROPIC_BASE_URL")
        asked_for(setup, address)
        # the key is given, so that no profile is picked up from the disk; no spans of the SDK's own
        options = {"api_key": self._key, "open_telemetry": False} | ({"base_url": address} if address else {})
        self._sdk = VendorSdk(setup.name, "anthropic", "AsyncAnthropic", options)

    async def start(self) -> None:
        """Import the SDK and make the client."""
        await self._sdk.start()

    async def complete(self, request: ModelRequest, timeout: float) -> ModelReply:
        """One attempt. Raises ModelFailed and its kinds. No temperature or seed: the API has none."""
        body = body_of(request)
        status, headers, content = await self._sdk.post("/v1/messages", body, timeout)
        if status != 200:
            raise refused(self.name, status, hidden(content.decode("utf-8", "replace"), self._key), headers)
        try:
            return reply_of(msgspec.json.decode(content), body, self.name)
        except msgspec.DecodeError as e:
            raise malformed(self.name, hidden(content.decode("utf-8", "replace"), self._key)) from e

    async def close(self) -> None:
        """Close the client; idempotent."""
        await self._sdk.close()


def body_of(request: ModelRequest) -> dict[str, object]:
    """The JSON body: system text apart, neighbouring messages of one role joined, the schema's supported part."""
    system = "\n\n".join(encodable(m.content) for m in request.messages if m.role == "system" and m.content)
    turns: list[tuple[str, list[dict[str, object]]]] = []
    for message in request.messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        if not turns or turns[-1][0] != role:
            turns.append((role, []))
        turns[-1][1].extend(_blocks(message))
    filled = [(role, blocks) for role, blocks in turns if blocks]
    if not filled or filled[0][0] != "user":
        filled.insert(0, ("user", [{"type": "text", "text": OPENING}]))
    body: dict[str, object] = {
        "model": request.model.model,
        "max_tokens": request.max_output_tokens,
        "messages": [{"role": role, "content": blocks} for role, blocks in filled],
    }
    if system:
        body["system"] = [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]
    if request.schema is not None:
        body["output_config"] = {"format": {"type": "json_schema", "schema": without(request.schema, _UNSUPPORTED)}}
    if request.tools:
        body["tools"] = [_tool(t) for t in request.tools]
    return body


def _blocks(message: Message) -> list[dict[str, object]]:
    """A message's content blocks; the API refuses an empty text."""
    if message.role == "tool":
        return [
            {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": encodable(message.content or "")}
        ]
    text = encodable(message.content or "")
    blocks: list[dict[str, object]] = [{"type": "text", "text": text}] if text else []
    for call in message.tool_calls:
        function: Any = call.get("function") or {}
        arguments = function.get("arguments") or "{}"
        blocks.append(
            {
                "type": "tool_use",
                "id": call.get("id", ""),
                "name": function.get("name", ""),
                "input": msgspec.json.decode(arguments) if isinstance(arguments, str) else arguments,
            }
        )
    return blocks


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

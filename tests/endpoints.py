"""A small real model endpoint for tests of what asks models: plain HTTP to a server, no retry, no ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import aiohttp

from evalrun.errors import AnswerRefused, KeyRefused, ModelFailed
from evalrun.interfaces.models import Finish, Message, ModelReply
from evalrun.usage import ModelName, Role, Tokens

FINISHES = {"stop": Finish.STOP, "length": Finish.LENGTH, "content_filter": Finish.REFUSAL, "tool_calls": Finish.TOOLS}


@dataclass(slots=True, kw_only=True)
class Endpoint:
    """Satisfies `interfaces.ModelEndpoint`. `asked` keeps the keyword arguments of every call."""

    role: Role
    base_url: str
    model: ModelName
    asked: list[Mapping[str, object]] = field(default_factory=list)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        max_output_tokens: int,
        schema: Mapping[str, object] | None = None,
        schema_name: str = "answer",
        tools: Sequence[Mapping[str, object]] = (),
        temperature: float | None = None,
        seed: int | None = None,
        lane: str = "",
    ) -> ModelReply:
        """One call. Raises ModelFailed as a provider would."""
        body: dict[str, object] = {
            "model": self.model.model,
            "messages": [{"role": m.role, "content": m.content} for m in messages],
            "max_tokens": max_output_tokens,
        }
        if schema is not None:
            shape = {"name": schema_name, "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}
        optional = {"temperature": temperature, "seed": seed, "tools": list(tools) or None}
        body |= {k: v for k, v in optional.items() if v is not None}
        self.asked.append({**body, "lane": lane})
        try:
            async with (
                aiohttp.ClientSession() as client,
                client.post(f"{self.base_url}/chat/completions", json=body) as response,
            ):
                if response.status in (401, 403):
                    raise KeyRefused("the key was refused", remedy="check the key", fatal=True)
                if response.status != 200:
                    raise ModelFailed(f"HTTP {response.status}", remedy="try later")
                received = await response.json()
        except aiohttp.ClientError as e:
            raise ModelFailed(f"{type(e).__name__}: {e}", remedy="check the address") from e
        return reply_of(received, body)


def reply_of(received: Mapping[str, object], sent: Mapping[str, object]) -> ModelReply:
    """A chat-completions body as a reply."""
    choices = received["choices"]
    assert isinstance(choices, list)
    message, usage = choices[0]["message"], received.get("usage")
    assert usage is None or isinstance(usage, dict)
    if message.get("refusal"):
        raise AnswerRefused(f"the model refused: {message['refusal']}", remedy="choose another model")
    tokens = Tokens(reliable=False)
    if usage is not None:
        tokens = Tokens(
            input=usage["prompt_tokens"],
            cached=usage["prompt_tokens_details"]["cached_tokens"],
            output=usage["completion_tokens"],
            reasoning=usage["completion_tokens_details"]["reasoning_tokens"],
        )
    return ModelReply(
        text=message["content"] or "",
        finish=FINISHES.get(choices[0]["finish_reason"], Finish.OTHER),
        tokens=tokens,
        returned=str(received["model"]),
        sent=sent,
        received=received,
    )


def endpoint(base_url: str, role: Role, model: str = "") -> Endpoint:
    """An endpoint of a role, its model named after the role so that the scripted server knows it."""
    return Endpoint(
        role=role, base_url=base_url, model=ModelName(provider="compatible", model=model or f"{role.value}-1")
    )

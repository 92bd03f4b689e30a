"""A model server on loopback that answers what a script says, in the wire formats of two vendors.

`script(role, body)` gives an `Answer` (or just its text); the role is read from the model's name
(`agent`, `persona` or `judge` in it, otherwise `other`), so scenarios name models such as
`compatible:judge-1`. Every request is kept, tokens are counted, and `cost` is exact.

In one event loop: `async with ScriptedServer(script) as server`. For a test that runs the command
line in a subprocess or calls `asyncio.run` itself: `with ScriptedServer(script) as server`, which
serves from its own thread. Base URLs: `server.base_url` (OpenAI, ends in /v1) and
`server.anthropic_url`.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import json
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import TracebackType
from typing import Self

from aiohttp import web

from evalrun.config import Price

ROLES = ("agent", "persona", "judge")
STOP_REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one answer: `input` includes cached and written ones, `output` includes reasoning."""

    input: int = 100
    cached: int = 0
    cache_write: int = 0
    output: int = 20
    reasoning: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the server answers. `text` None is a null content; `finish` is OpenAI's word, translated for Anthropic.

    With a `status` other than 200 `text` is the error's message. `raw_body` replaces the whole
    body. `usage` None leaves usage out. `delay` in seconds. `drop` closes the connection instead.
    """

    text: str | None = "ok"
    finish: str = "stop"
    refusal: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    usage: Usage | None = field(default_factory=Usage)
    delay: float = 0.0
    raw_body: str | bytes | None = None
    tool_calls: tuple[Mapping[str, object], ...] = ()
    model: str = ""
    drop: bool = False


Script = Callable[[str, Mapping[str, object]], Answer | str | Awaitable[Answer | str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as it came, and how it was answered."""

    role: str
    path: str
    body: Mapping[str, object]
    headers: Mapping[str, str]
    answer: Answer

    @property
    def said(self) -> str:
        """All text of the request, messages in order, whatever the wire format."""
        messages = self.body.get("messages")
        assert isinstance(messages, list)
        parts = [self.body.get("system"), *(m.get("content") for m in messages)]
        return "\n".join(_text_of(p) for p in parts if p)


def _text_of(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(c.get("text", "")) if isinstance(c, dict) else str(c) for c in content)
    return str(content)


class ScriptedServer:
    """The server. Counters may be read at any time; `peak` is the most requests in flight at once."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.received: list[Received] = []
        self.in_flight = 0
        self.peak = 0
        self.base_url = ""
        self.anthropic_url = ""
        self._ids = itertools.count(1)
        self._runner: web.AppRunner | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._failed: BaseException | None = None

    # -------------------------------------------------------------- counters

    def calls(self, role: str = "") -> int:
        """Requests that were answered with 200, of one role or of all."""
        return len(self._billed(role))

    @property
    def calls_by_role(self) -> Counter[str]:
        """Requests answered with 200, by role."""
        return Counter(r.role for r in self._billed())

    def requests(self, role: str = "") -> list[Received]:
        """All requests of one role or of all, failed ones too, in the order they came."""
        return [r for r in self.received if role in ("", r.role)]

    def tokens(self, role: str = "") -> Usage:
        """The sum of what was reported as used."""
        used = [r.answer.usage for r in self._billed(role) if r.answer.usage is not None]
        return Usage(
            input=sum(u.input for u in used),
            cached=sum(u.cached for u in used),
            cache_write=sum(u.cache_write for u in used),
            output=sum(u.output for u in used),
            reasoning=sum(u.reasoning for u in used),
        )

    def cost(self, prices: Mapping[str, Price]) -> Decimal:
        """USD of all answered requests; `prices` maps a role to its price. Exact."""
        return sum((self._cost(role, price) for role, price in prices.items()), Decimal(0))

    def _cost(self, role: str, price: Price) -> Decimal:
        used = self.tokens(role)
        cached = price.input if price.cached is None else price.cached
        written = price.input if price.cache_write is None else price.cache_write
        plain = used.input - used.cached - used.cache_write
        total = plain * price.input + used.cached * cached + used.cache_write * written + used.output * price.output
        return total / MILLION

    def _billed(self, role: str = "") -> list[Received]:
        return [r for r in self.requests(role) if r.answer.status == 200 and not r.answer.drop]

    # -------------------------------------------------------------- serving

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/messages", self._messages)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        port = self._runner.addresses[0][1]
        self.anthropic_url = f"http://127.0.0.1:{port}"
        self.base_url = f"{self.anthropic_url}/v1"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    def __enter__(self) -> Self:
        ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(ready,), name="scripted-server", daemon=True)
        self._thread.start()
        ready.wait(10)
        if not self.base_url:
            raise RuntimeError("the scripted server did not start") from self._failed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(10)

    def _serve(self, ready: threading.Event) -> None:
        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            self._stop = asyncio.Event()
            async with self:
                ready.set()
                await self._stop.wait()

        try:
            asyncio.run(serve())
        except BaseException as e:
            self._failed = e
            raise
        finally:
            ready.set()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        return await self._answered(request, _chat_body, _chat_error)

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        return await self._answered(request, _messages_body, _messages_error)

    async def _answered(
        self,
        request: web.Request,
        shape: Callable[[Answer, str, int], dict[str, object]],
        failure: Callable[[Answer], dict[str, object]],
    ) -> web.StreamResponse:
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            body = await request.json()
            model = str(body.get("model", ""))
            role = next((r for r in ROLES if r in model), "other")
            found = self.script(role, body)
            if inspect.isawaitable(found):
                found = await found
            answer = found if isinstance(found, Answer) else Answer(text=found)
            self.received.append(
                Received(role=role, path=request.path, body=body, headers=dict(request.headers), answer=answer)
            )
            if answer.delay:
                await asyncio.sleep(answer.delay)
            if answer.drop and request.transport is not None:
                request.transport.close()
            if answer.raw_body is not None:
                return web.Response(body=answer.raw_body, status=answer.status, headers=dict(answer.headers))
            content = shape(answer, answer.model or model, next(self._ids)) if answer.status == 200 else failure(answer)
            return web.json_response(content, status=answer.status, headers=dict(answer.headers))
        finally:
            self.in_flight -= 1


def _chat_body(answer: Answer, model: str, number: int) -> dict[str, object]:
    message: dict[str, object] = {"role": "assistant", "content": answer.text, "refusal": answer.refusal}
    if answer.tool_calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}_{i}",
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call.get("arguments", {}))},
            }
            for i, call in enumerate(answer.tool_calls)
        ]
    body: dict[str, object] = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_770_000_000,
        "model": model,
        "choices": [{"index": 0, "finish_reason": answer.finish, "message": message}],
    }
    if (used := answer.usage) is not None:
        body["usage"] = {
            "prompt_tokens": used.input,
            "completion_tokens": used.output,
            "total_tokens": used.input + used.output,
            "prompt_tokens_details": {"cached_tokens": used.cached},
            "completion_tokens_details": {"reasoning_tokens": used.reasoning},
        }
    return body


def _messages_body(answer: Answer, model: str, number: int) -> dict[str, object]:
    content: list[dict[str, object]] = [{"type": "text", "text": answer.text}] if answer.text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{number}_{i}", "name": call["name"], "input": call.get("arguments", {})}
        for i, call in enumerate(answer.tool_calls)
    ]
    used = answer.usage or Usage(input=0, output=0)
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": STOP_REASONS.get(answer.finish, answer.finish),
        "stop_sequence": None,
        "usage": {
            "input_tokens": used.input - used.cached - used.cache_write,
            "cache_read_input_tokens": used.cached,
            "cache_creation_input_tokens": used.cache_write,
            "output_tokens": used.output,
        },
    }


def _chat_error(answer: Answer) -> dict[str, object]:
    return {"error": {"message": answer.text, "type": "error", "param": None, "code": None}}


def _messages_error(answer: Answer) -> dict[str, object]:
    kinds = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
    return {"type": "error", "error": {"type": kinds.get(answer.status, "api_error"), "message": answer.text}}

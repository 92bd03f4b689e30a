"""Model calls wired to a scripted server over the `compatible` provider, with a clock that runs faster."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

from evalrun import plugins
from evalrun.budget import Ledger
from evalrun.config import Price
from evalrun.interfaces.models import Message, ModelReply, Provider, ProviderSetup
from evalrun.model_calls import ModelCalls, Patience, Tally, Time
from evalrun.usage import ZERO, ModelName, Role
from tests.scripted_server import Answer, Script, ScriptedServer

SPEED = 200.0
"""Our clock runs this many times faster than the wall's."""


async def _sleep(seconds: float) -> None:
    await asyncio.sleep(seconds / SPEED)


FAST = Time(now=lambda: time.monotonic() * SPEED, sleep=_sleep)
PRICES = {
    Role.AGENT: Price(input=Decimal(1), output=Decimal(4)),
    Role.JUDGE: Price(input=Decimal(3), output=Decimal(15)),
}
CENT = {"compatible:judge-1": Price(input=ZERO, output=Decimal(1000))}
"""A price at which the scripted server's 20 tokens of output cost exactly $0.02."""


@dataclass(slots=True, kw_only=True)
class Bench:
    """A server, the calls to it, the ledger behind them and what the user was told."""

    server: ScriptedServer
    calls: ModelCalls
    ledger: Ledger
    notices: list[str] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)

    async def ask(self, role: Role = Role.JUDGE, text: str = "hi", *, limit: int = 20) -> ModelReply:
        """One call."""
        endpoint = self.calls.endpoint(role, self.tally)
        return await endpoint.complete([Message(role="user", content=text)], max_output_tokens=limit)

    async def ask_many(self, n: int) -> list[ModelReply | BaseException]:
        """Calls side by side: replies and errors."""
        return await asyncio.gather(*(self.ask() for _ in range(n)), return_exceptions=True)


@asynccontextmanager
async def bench(
    script: Script,
    *,
    width: int = 64,
    cap: str | None = None,
    own: Mapping[str, Price] | None = None,
    patience: Patience | None = None,
) -> AsyncIterator[Bench]:
    """Everything wired over the `compatible` provider."""
    async with ScriptedServer(script) as server:
        setup = ProviderSetup(name="compatible", options={"base_url": server.base_url}, environ={}, tmp=Path())
        provider: Provider = plugins.load("providers", "compatible")(setup)
        priced = own or {f"compatible:{r.value}-1": p for r, p in PRICES.items()}
        ledger = Ledger(
            cap=None if cap is None else Decimal(cap),
            own=priced,
            local=frozenset(),
            table=plugins.load("prices", "genai"),
        )
        notices: list[str] = []
        calls = ModelCalls(
            providers={"compatible": provider},
            models={r: ModelName(provider="compatible", model=f"{r.value}-1") for r in Role},
            meter=ledger,
            notice=notices.append,
            patience=replace(patience or Patience(), width=width),
            time=FAST,
        )
        try:
            yield Bench(server=server, calls=calls, ledger=ledger, notices=notices)
        finally:
            await calls.close()
            await calls.close()


def in_turn(*answers: Answer | str) -> Script:
    """A script that gives its answers one after another, the last one for ever."""
    left = itertools.chain(answers, itertools.repeat(answers[-1]))
    return lambda _role, _body: next(left)


def limited(after: str | None = None) -> Answer:
    """A 429."""
    return Answer(text="slow down", status=429, headers={} if after is None else {"Retry-After": after})


def outcome(result: ModelReply | BaseException) -> str:
    """A reply's text, or the kind of error."""
    return result.text if isinstance(result, ModelReply) else type(result).__name__


class Held:
    """A script whose answers wait for `gate`; `arrived` is set by the first request."""

    def __init__(self) -> None:
        self.arrived = asyncio.Event()
        self.gate = asyncio.Event()

    async def __call__(self, _role: str, _body: Mapping[str, object]) -> Answer:
        """Answer once the gate is open."""
        self.arrived.set()
        await self.gate.wait()
        return Answer()

"""Ori on a real Postgres with a scripted model, a sender that keeps what it is given, and a clock one can set."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import text

from evalrun.sample_orchestrator.errors import SendFailed
from evalrun.sample_orchestrator.events.event import EventOutcome
from evalrun.sample_orchestrator.fixtures import arrange, snapshot
from evalrun.sample_orchestrator.heard import Inbound
from evalrun.sample_orchestrator.migrations import migrate
from evalrun.sample_orchestrator.orchestrator import Orchestrator, Seams
from evalrun.sample_orchestrator.settings import Settings

NOON = datetime(2026, 3, 2, 11, 0, tzinfo=UTC)
LEA = "+33600000001"
NOAH = "+33600000002"

DONE = {"first_name": "Léa", "city": "Lyon", "age": 34, "looking_for": "relationship"}
"""A profile that is complete."""
MEMBER = {**DONE, "agreed": True, "plan": "member"}
NOAH_MEMBER = {**MEMBER, "first_name": "Noah", "age": 31}


class ScriptedModel:
    """Says the scripted texts in order, then nothing; an exception in the script is raised."""

    def __init__(self, *script: str | Exception) -> None:
        self.script = list(script)
        self.asked: list[list[Mapping[str, str]]] = []

    async def complete(self, messages: Sequence[Mapping[str, str]], max_tokens: int) -> str:
        """Say the next thing of the script."""
        assert max_tokens > 0
        self.asked.append(list(messages))
        await asyncio.sleep(0)
        said = self.script.pop(0) if self.script else ""
        if isinstance(said, Exception):
            raise said
        return said


class KeepingSender:
    """Keeps what is sent; `faults` are raised instead, one for each send, None for none."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []
        self.faults: list[SendFailed | None] = []
        self.wait = 0.0

    async def send(self, to: str, text: str) -> str:
        """Keep a bubble, or raise the next fault."""
        await asyncio.sleep(self.wait)
        fault = self.faults.pop(0) if self.faults else None
        if fault:
            raise fault
        self.sent.append((to, text))
        return f"wamid.{len(self.sent)}"


class Door:
    """One Ori with everything around it in reach."""

    def __init__(self, url: str, *script: str | Exception) -> None:
        self.model = ScriptedModel(*script)
        self.sender = KeepingSender()
        self.tools: list[tuple[str, Mapping[str, object], object, str | None]] = []
        self.time = NOON
        self._ids = itertools.count(1)
        self.ori = Orchestrator(
            url,
            Seams(
                model=self.model,
                sender=self.sender,
                now=lambda: self.time,
                on_tool=lambda *call: self.tools.append(call),
                settings=Settings(style_block="- small letters only"),
            ),
        )

    async def given(self, **fields: object) -> None:
        """Arrange Léa."""
        await arrange(self.ori.engine, {LEA: fields}, self.time)

    async def given_both(self, lea: Mapping[str, object], noah: Mapping[str, object]) -> None:
        """Arrange Léa and Noah."""
        await self.arranged({LEA: lea, NOAH: noah})

    async def arranged(self, people: Mapping[str, Mapping[str, object]]) -> None:
        """Arrange anybody, by address."""
        await arrange(self.ori.engine, people, self.time)

    async def say(self, *texts: str, message_id: str = "", sender: str = LEA) -> list[str]:
        """Write, as Léa unless told otherwise; the bubbles that came back to them at the last message."""
        bubbles: list[str] = []
        for said in texts:
            before = len(self.sender.sent)
            await self.ori.handle(Inbound(id=message_id or f"in{next(self._ids)}", sender=sender, text=said))
            bubbles = [t for to, t in self.sender.sent[before:] if to == sender]
        return bubbles

    async def event(self, name: str = "profile_reminder", to: str = LEA) -> EventOutcome:
        """Dispatch an event, to Léa unless told otherwise."""
        return await self.ori.dispatch_event(name, to, {})

    async def user(self, address: str = LEA) -> Any:
        """A user as the snapshot shows them, Léa unless told otherwise."""
        return (await snapshot(self.ori.engine, address))["user"]

    async def state(self) -> Any:
        """The whole snapshot."""
        return await snapshot(self.ori.engine, LEA)

    async def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of a query."""
        async with self.ori.engine.connect() as connection:
            return [tuple(r) for r in await connection.execute(text(query))]

    def texts(self) -> list[str]:
        """All bubbles sent, to whomever."""
        return [t for _, t in self.sender.sent]

    def called(self) -> list[tuple[str, Mapping[str, object]]]:
        """The tool calls, by name and arguments."""
        return [(name, arguments) for name, arguments, _, _ in self.tools]

    def later(self, **interval: float) -> None:
        """Let time pass."""
        self.time += timedelta(**interval)


@asynccontextmanager
async def opened(url: str, *script: str | Exception) -> AsyncIterator[Door]:
    """A migrated Ori, closed at the end."""
    door = Door(url, *script)
    try:
        await migrate(door.ori.engine)
        yield door
    finally:
        await door.ori.close()


def play(url: str, scene: Callable[[Door], Awaitable[None]], *script: str | Exception) -> None:
    """Run one scene on a fresh Ori."""

    async def run() -> None:
        async with opened(url, *script) as door:
            await scene(door)

    asyncio.run(run())

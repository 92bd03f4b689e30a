"""One person and Ori, line by line: what is typed goes in, what Ori sends comes out."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TextIO
from uuid import uuid4

from evalrun.sample_orchestrator.clock import system_now
from evalrun.sample_orchestrator.errors import UnknownUser
from evalrun.sample_orchestrator.fixtures import snapshot
from evalrun.sample_orchestrator.heard import Inbound
from evalrun.sample_orchestrator.migrations import migrate
from evalrun.sample_orchestrator.orchestrator import Orchestrator, Seams
from evalrun.sample_orchestrator.phrasing import Model
from evalrun.sample_orchestrator.settings import Settings

HELP = "/state what ori knows of you · /later 2d lets time pass · /quit"
_LATER = re.compile(r"/later\s+(\d{1,3})\s*([mhd])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}
_SHOWN = ("stage", "first_name", "city", "age", "looking_for", "asked", "paused", "match", "meeting")


class Conversation:
    """The person in front of the terminal, at one address. Its clock can be moved ahead, never back."""

    def __init__(self, database_url: str, model: Model, settings: Settings, *, out: TextIO, address: str) -> None:
        self._out = out
        self._address = address
        self._ahead = timedelta()
        seams = Seams(model=model, sender=self, now=self.now, on_tool=self.on_tool, settings=settings)
        self._ori = Orchestrator(database_url, seams)

    async def open(self) -> None:
        """Bring the database up to date."""
        await migrate(self._ori.engine)

    async def close(self) -> None:
        """Give the connections back."""
        await self._ori.close()

    async def take(self, line: str) -> bool:
        """Answer one line; False when it was the last."""
        text = line.strip()
        if text == "/quit":
            return False
        if text == "/state":
            await self._show_state()
        elif later := _LATER.fullmatch(text):
            self._ahead += timedelta(**{_UNITS[later.group(2)]: int(later.group(1))})
            await self._ori.run_due_jobs()
        elif text.startswith("/"):
            self._say(f"  {HELP}")
        elif text:
            await self._ori.handle(Inbound(id=uuid4().hex, sender=self._address, text=text))
        return True

    async def send(self, to: str, text: str) -> str:
        """Ori's sender: the terminal. What is for somebody else is shown with their address."""
        self._say(f"ori  {text}" if to == self._address else f"ori → {to}  {text}")
        return uuid4().hex

    def on_tool(self, name: str, arguments: object, _result: object, error: str | None) -> None:
        """Show a tool call in passing."""
        self._say(f"  · {name} {arguments or ''}{f' refused: {error}' if error else ''}".rstrip())

    def now(self) -> datetime:
        """The machine's clock, and what `/later` added to it."""
        return system_now() + self._ahead

    async def _show_state(self) -> None:
        try:
            user = (await snapshot(self._ori.engine, self._address))["user"]
        except UnknownUser:
            self._say("  nothing yet")
            return
        assert isinstance(user, dict)
        self._say("  " + " · ".join(f"{name} {user[name]}" for name in _SHOWN if user.get(name) is not None))

    def _say(self, text: str) -> None:
        self._out.write(f"{text}\n")
        self._out.flush()

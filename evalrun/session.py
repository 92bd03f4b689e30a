"""The live session of one trial: what an adapter is handed, and the record of what it sends.

Output is pushed, from any task or thread. Each turn is handed its own view of the session, so
that what arrives late is attached to its own turn, and what arrives after the trial goes nowhere.
"""

from __future__ import annotations

import dataclasses
import itertools
import operator
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evalrun.clock import TrialClock
from evalrun.errors import TargetFailed
from evalrun.interfaces.databases import Database
from evalrun.interfaces.models import ModelEndpoint
from evalrun.interfaces.targets import Outgoing
from evalrun.redaction import sanitise, sanitise_value
from evalrun.scenario import Participant
from evalrun.transcript import Bubble, Route, ToolCall, Turn


@dataclass(slots=True)
class _Page:
    """What one turn's view has recorded."""

    bubbles: list[Bubble] = field(default_factory=list)
    tools: list[ToolCall] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    settled: bool = False
    changes: int = 0


class Recorder:
    """The thread-safe record of one trial, a page for each turn."""

    def __init__(self, *, sees_tools: bool) -> None:
        self._lock = threading.Lock()
        self._pages: dict[int, _Page] = {}
        self._ids = itertools.count(1)
        self._ended = False
        self._sees_tools = sees_tools
        self.strays = 0
        """Outputs that came after the trial had ended; they are counted and dropped."""

    def page(self, turn: int) -> _Page:
        """The page of a turn, made when first asked for."""
        with self._lock:
            return self._pages.setdefault(turn, _Page())

    def bubble(self, turn: int, outgoing: Outgoing, to: str) -> str:
        """Record a message; returns its id. Raises TargetFailed when its text is none."""
        if not isinstance(outgoing.text, str):
            kind = type(outgoing.text).__name__
            raise TargetFailed(f"the target emitted {kind}, not text", remedy="emit text, or an Outgoing with a text")
        text, changed = sanitise(outgoing.text)
        identifier = f"m{next(self._ids)}"
        bubble = Bubble(id=identifier, text=text, to=sanitise(to)[0], kind=outgoing.kind, sanitised=changed)
        self._add(turn, "bubbles", bubble)
        return identifier

    def tool(self, turn: int, call: ToolCall) -> None:
        """Record a tool call as it is now: what the target changes in its objects later is not seen."""
        kept = replace(call, arguments=_snapshot(call.arguments), result=_snapshot(call.result))
        self._add(turn, "tools", sanitise_value(kept))

    def route(self, turn: int, route: Route) -> None:
        """Record a hand-over."""
        self._add(turn, "routes", sanitise_value(route))

    def retract(self, message_id: str) -> None:
        """Mark a message as taken back, whichever turn it is of."""
        with self._lock:
            for page in self._pages.values():
                page.bubbles[:] = [replace(b, retracted=True) if b.id == message_id else b for b in page.bubbles]

    def settle(self, turn: int) -> None:
        """From now on what this turn's view records is late."""
        with self._lock:
            self._pages.setdefault(turn, _Page()).settled = True

    def changes(self, turn: int) -> int:
        """How many outputs the turn has had, to see whether it has gone quiet."""
        return self.page(turn).changes

    def end(self) -> None:
        """Nothing is recorded any more."""
        with self._lock:
            self._ended = True

    def turn(self, turn: Turn) -> Turn:
        """The turn with what its page holds now."""
        with self._lock:
            page = self._pages.get(turn.number)
            if page is None:
                return replace(turn, tools=() if self._sees_tools else None)
            tools = tuple(page.tools) if self._sees_tools else None
            bubbles, routes = tuple(page.bubbles), tuple(page.routes)
        if _same(bubbles, turn.bubbles) and _same(tools, turn.tools) and _same(routes, turn.routes):
            return turn
        return replace(turn, bubbles=bubbles, tools=tools, routes=routes)

    def _add(self, turn: int, kind: str, item: Bubble | ToolCall | Route) -> None:
        with self._lock:
            if self._ended:
                self.strays += 1
                return
            self._sees_tools = self._sees_tools or isinstance(item, ToolCall)
            page = self._pages.setdefault(turn, _Page())
            if page.settled and isinstance(item, Bubble):
                item = replace(item, late=True)
            getattr(page, kind).append(item)
            page.changes += 1


def _same(new: Sequence[object] | None, old: Sequence[object] | None) -> bool:
    """Whether both hold the very same things; what a target gave may not be comparable."""
    if new is None or old is None:
        return new is old
    return len(new) == len(old) and all(map(operator.is_, new, old))


def _snapshot(value: object) -> object:
    """A copy of plain containers, however deep; anything else as it is."""
    try:
        return _copied(value)
    except RecursionError:
        return repr(value)


def _copied(value: object) -> object:
    if isinstance(value, Mapping):
        return {k: _copied(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_copied(v) for v in value]
    return tuple(_copied(v) for v in value) if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSession:
    """One conversation with the target (see `interfaces.targets.Session`); `turn` is the turn it belongs to."""

    id: str
    persona: Participant
    participants: Mapping[str, Participant]
    clock: TrialClock
    database: Database | None
    model: ModelEndpoint
    tmp: Path
    given: Mapping[str, object]
    recorder: Recorder
    deadline: float = 0.0
    turn: int = 0

    def emit(self, message: Outgoing | str, to: str | None = None) -> str:
        """Record a message the agent sent, from any task or thread; returns its id.

        `to` is a participant's id or address. A recipient nobody knows is kept as given, so that
        the recipient check finds it.
        """
        outgoing = message if isinstance(message, Outgoing) else Outgoing(text=message)
        return self.recorder.bubble(self.turn, outgoing, self._known(to or outgoing.to))

    def retract(self, message_id: str) -> None:
        """The agent took a message back."""
        self.recorder.retract(message_id)

    def tool(
        self, name: str, arguments: object, result: object = None, error: str | None = None, agent: str | None = None
    ) -> None:
        """Record a tool call: its name, the arguments as given, its result or error, the specialist that called."""
        call = ToolCall(name=name, arguments=arguments, result=result, error=error, agent=agent)
        self.recorder.tool(self.turn, call)

    def route(self, source: str, destination: str) -> None:
        """Record that the conversation was handed to another specialist."""
        self.recorder.route(self.turn, Route(source=source, destination=destination))

    def for_turn(self, number: int, deadline: float) -> LiveSession:
        """The view of one turn; `deadline` in monotonic seconds."""
        return dataclasses.replace(self, turn=number, deadline=deadline)

    def refresh(self, turns: Sequence[Turn]) -> tuple[Turn, ...]:
        """The turns as the record holds them now: late and retracted messages included."""
        return tuple(self.recorder.turn(t) for t in turns)

    def end(self) -> None:
        """The trial is over: whatever comes now goes nowhere."""
        self.recorder.end()

    def _known(self, to: str) -> str:
        if not to:
            return self.persona.id
        if to in self.participants:
            return to
        return next((p.id for p in self.participants.values() if p.address and p.address == to), to)

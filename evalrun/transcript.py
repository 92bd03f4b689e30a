"""What was said and done in one trial: turns of bubbles and tool calls, and why it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class InboundKind(StrEnum):
    """What opened a turn."""

    USER = "user"
    EVENT = "event"
    TIME = "time"


class Observed(StrEnum):
    """What the agent did in a turn; silence and a timeout are never the same."""

    REPLIED = "replied"
    SILENT = "silent"
    TIMED_OUT = "timed_out"


class Ending(StrEnum):
    """Why a conversation stopped."""

    STEPS_DONE = "steps_done"
    UNTIL_MET = "until_met"
    TURNS_USED = "turns_used"
    PERSONA_DONE = "persona_done"
    GOODBYES = "goodbyes"
    HARD_FINDING = "hard_finding"
    EXPECTATION_FAILED = "expectation_failed"
    SIMULATOR_FAULT = "simulator_fault"
    AGENT_ERROR = "agent_error"
    TIMEOUT = "timeout"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"
    HARNESS_ERROR = "harness_error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bubble:
    """One message the agent sent. `to` is a participant's id; `kind` is text unless said otherwise.

    `late`: it came after its turn had settled. `retracted`: the agent took it back, so nobody
    judges it. `sanitised`: characters that cannot be stored were replaced visibly.
    """

    id: str
    text: str
    to: str
    kind: str = "text"
    late: bool = False
    retracted: bool = False
    sanitised: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool the agent called, as reported. `arguments` is what the agent gave: an object, or raw text."""

    name: str
    arguments: object = None
    result: object = None
    error: str | None = None
    agent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The conversation was handed from one specialist to another."""

    source: str
    destination: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What opened a turn: a user's text, an event with its data, or a step of time (seconds)."""

    kind: InboundKind
    text: str = ""
    sender: str = ""
    simulated: bool = False
    event: str = ""
    data: Mapping[str, object] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One opening and everything the agent sent back.

    `tools` is None when nobody was able to see tool calls, which is not the same as no calls.
    `allowed` are the participants who may be written to in this turn. `settled_by` says how the
    end of the turn was known (`return`, `quiet`, `idle`, `deadline`). `silence_expected`: the
    scenario says the agent must say nothing.
    """

    number: int
    opening: Opening
    bubbles: tuple[Bubble, ...] = ()
    tools: tuple[ToolCall, ...] | None = None
    routes: tuple[Route, ...] = ()
    observed: Observed = Observed.SILENT
    settled_by: str = "return"
    silence_expected: bool = False
    allowed: tuple[str, ...] = ()
    now: datetime
    seconds: float = 0.0

    @property
    def said(self) -> tuple[Bubble, ...]:
        """The bubbles that stand: not retracted, with visible text or another kind than text."""
        return tuple(b for b in self.bubbles if not b.retracted)

    @property
    def acted(self) -> bool:
        """Whether the agent called a tool, as far as anybody saw."""
        return bool(self.tools)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """The turns of one trial and why it ended. `names` maps participant ids to display names."""

    turns: tuple[Turn, ...] = ()
    ending: Ending = Ending.STEPS_DONE
    ending_detail: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def agent_turns(self) -> tuple[Turn, ...]:
        """The turns in which the agent said or did something."""
        return tuple(t for t in self.turns if t.said or t.acted)

"""What went wrong in a scenario, ready to be shown: quoted turns, expected beside got, what judges said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from evalrun.expectation import Unmet
from evalrun.reporters.figures import Row, under_floor
from evalrun.reporters.wording import duration, json_text, tool_line
from evalrun.results import Judgement, JudgementStatus, TrialResult
from evalrun.style import Finding, Severity
from evalrun.transcript import Bubble, InboundKind, Observed, Transcript, Turn
from evalrun.verdict import Verdict

MOST_TURNS = 3
MOST_SCORES = 4


class Voice(StrEnum):
    """Who or what a line of a turn comes from."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One line of a turn: who, and the text as it was."""

    turn: int
    voice: Voice
    who: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A scenario that did not pass, by the trial that shows it.

    `remarks` are what model judges hold against it: (what, why). `where` is the place of the
    scenario or of the expectation that does not hold.
    """

    row: Row
    trial: TrialResult
    said: tuple[Said, ...]
    unmet: tuple[Unmet, ...]
    findings: tuple[Finding, ...]
    remarks: tuple[tuple[str, str], ...]
    where: str

    @property
    def turns(self) -> tuple[int, ...]:
        """The turns that are quoted."""
        return tuple(dict.fromkeys(s.turn for s in self.said))

    @property
    def explained(self) -> bool:
        """Whether findings or expectations already say all that the trial's reason says."""
        return bool(self.unmet) or any(f.severity is Severity.HARD for f in self.findings)


def trouble_of(row: Row, agent: str) -> Trouble | None:
    """What to show of a scenario that did not pass; None when it passed or was never played."""
    trial = row.decisive
    if trial is None or row.scenario.verdict in (Verdict.PASS, Verdict.NOT_RUN):
        return None
    gating = [j for j in trial.judgements if j.gates]
    unmet = tuple(u for j in gating for u in j.unmet)
    turns = _quoted(trial, gating)
    where = str(unmet[0].where) if unmet else f"{row.scenario.path}:{row.scenario.line}"
    return Trouble(
        row=row,
        trial=trial,
        said=tuple(s for t in turns for s in said_in(t, trial.transcript, agent)),
        unmet=unmet,
        findings=tuple(f for j in gating for f in j.findings),
        remarks=tuple(r for j in gating for r in remarks_of(j)),
        where=where,
    )


def _quoted(trial: TrialResult, gating: list[Judgement]) -> list[Turn]:
    """The turns that show what went wrong, at most some; otherwise the last one."""
    numbers = [f.turn for j in gating for f in j.findings if f.severity is Severity.HARD]
    numbers += [u.turn for j in gating for u in j.unmet]
    for judgement in gating:
        numbers += [s.turn for s in under_floor(judgement)] or _weakest_turn(judgement)
        numbers += [c.turn for c in judgement.checks if c.violated]
    turns = trial.transcript.turns
    wanted = list(dict.fromkeys(numbers))[:MOST_TURNS]
    return [t for t in turns if t.number in wanted] or list(turns[-1:])


def _weakest_turn(judgement: Judgement) -> list[int]:
    """The turn with the lowest mean of a judgement that fails by its mean."""
    if judgement.marks is None or judgement.marks.passed or not judgement.scores:
        return []
    by_turn: dict[int, list[int]] = {}
    for score in judgement.scores:
        by_turn.setdefault(score.turn, []).append(score.value)
    return [min(by_turn, key=lambda t: sum(by_turn[t]) / len(by_turn[t]))]


def remarks_of(judgement: Judgement) -> Iterator[tuple[str, str]]:
    """What a model judge holds against a trial: low scores, violated checks, or that it broke."""
    if judgement.status is JudgementStatus.ERROR:
        yield f"{judgement.judge} broke", judgement.reason
    low = list(under_floor(judgement))
    if not low and judgement.marks is not None and not judgement.marks.passed:
        low = sorted(judgement.scores, key=lambda s: (s.value, s.turn))[:MOST_SCORES]
    for score in low[:MOST_SCORES]:
        at = f", turn {score.turn}" if score.turn else ""
        yield f"{score.criterion} {score.value}{at}", _with_quote(score.reason, score.quote)
    for check in judgement.checks:
        if check.violated:
            at = f", turn {check.turn}" if check.turn else ""
            yield f"{check.check} violated{at}", _with_quote(check.reason, check.quote)


def _with_quote(reason: str, quote: str) -> str:
    return f'{reason} "{quote}"' if quote and quote not in reason else reason


def said_in(turn: Turn, transcript: Transcript, agent: str) -> Iterator[Said]:
    """A turn line by line: its opening, tools, hand-overs, bubbles, or that nothing came."""
    names = transcript.names
    who, text = _opening(turn, names)
    voice = Voice.USER if turn.opening.kind is InboundKind.USER else Voice.NOTE
    yield Said(turn=turn.number, voice=voice, who=who, text=text)
    for call in turn.tools or ():
        yield Said(turn=turn.number, voice=Voice.TOOL, who="tool", text=tool_line(call))
    for route in turn.routes:
        yield Said(turn=turn.number, voice=Voice.NOTE, who="route", text=f"{route.source} -> {route.destination}")
    for bubble in turn.bubbles:
        yield Said(turn=turn.number, voice=Voice.AGENT, who=agent, text=f"{bubble.text}{_marks(bubble, turn, names)}")
    if turn.observed is Observed.TIMED_OUT:
        yield Said(turn=turn.number, voice=Voice.NOTE, who=agent, text="(timed out)")
    elif not turn.bubbles:
        expected = ", as expected" if turn.silence_expected else ""
        yield Said(turn=turn.number, voice=Voice.NOTE, who=agent, text=f"(said nothing{expected})")


def _opening(turn: Turn, names: Mapping[str, str]) -> tuple[str, str]:
    opening = turn.opening
    if opening.kind is InboundKind.EVENT:
        data = f" {json_text(dict(opening.data))}" if opening.data else ""
        return "event", f"{opening.event}{data}"
    if opening.kind is InboundKind.TIME:
        return "time", f"{_long(opening.seconds)} pass"
    return names.get(opening.sender, opening.sender) or "user", opening.text


def _long(seconds: float) -> str:
    days, rest = divmod(round(seconds), 86400)
    parts = [f"{days} d"] if days else []
    return " ".join([*parts, duration(rest)] if rest or not parts else parts)


def _marks(bubble: Bubble, turn: Turn, names: Mapping[str, str]) -> str:
    marks = [m for m, on in (("late", bubble.late), ("retracted", bubble.retracted)) if on]
    if bubble.kind != "text":
        marks.append(bubble.kind)
    if bubble.to not in turn.allowed:
        marks.append(f"to {names.get(bubble.to, bubble.to)}")
    return f" [{', '.join(marks)}]" if marks else ""

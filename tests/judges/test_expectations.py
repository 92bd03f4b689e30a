"""The judge of expectations: when it speaks, and what it says."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from evalrun.errors import Where
from evalrun.expectation import Checkpoint, Evidence, Expectations, NamedTool, StateExpectation, TextExpectation
from evalrun.interfaces.judges import Case, JudgeSetup
from evalrun.judges.expectations import Met
from evalrun.results import Judgement, JudgementStatus
from evalrun.transcript import ToolCall, Turn
from evalrun.verdict import Outcome
from tests.cases import HERE, case, turn

THERE = Where(file="scenarios/s.yaml", line=12)
NOT_DELETED = Expectations(not_called=(NamedTool(name="delete_client", where=THERE),))
SAYS_LYON = Expectations(text=(TextExpectation(text="lyon", present=True, where=THERE),))
TURNS = (turn(1, "bonjour", "bonjour"), turn(2, "et ?", "à Paris"))


def at(number: int, wanted: Expectations, *, final: bool = False, silence: bool = False) -> Checkpoint:
    """A checkpoint after a turn."""
    return Checkpoint(expectations=wanted, evidence=Evidence(), turn=number, final=final, silence=silence, where=HERE)


def of(turns: Sequence[Turn], *checkpoints: Checkpoint) -> Case:
    """A case with checkpoints."""
    return replace(case(None, turns), checkpoints=checkpoints)


def judged(turns: Sequence[Turn], *checkpoints: Checkpoint) -> Judgement:
    """What the judge says at the end."""
    return asyncio.run(Met(JudgeSetup(options={})).judge(of(turns, *checkpoints)))


def watched(turns: Sequence[Turn], *checkpoints: Checkpoint) -> Judgement | None:
    """What the judge says before the end."""
    return Met(JudgeSetup(options={})).watch(of(turns, *checkpoints))


def test_what_is_met_passes() -> None:
    """All checkpoints hold."""
    judgement = judged(TURNS, at(1, NOT_DELETED), at(2, NOT_DELETED, final=True))
    assert (judgement.outcome, judgement.code, judgement.reason) == (Outcome.PASS, "pass", "expectations met")
    assert (judgement.judge, judgement.version, judgement.deterministic) == ("expectations", "1", True)


def test_the_first_unmet_is_the_reason_with_its_place() -> None:
    """Expected, got, file and line; all that is unmet is kept."""
    called = (replace(TURNS[0], tools=(ToolCall(name="delete_client", arguments={"id": 1}),)), TURNS[1])
    judgement = judged(called, at(1, SAYS_LYON), at(2, NOT_DELETED, final=True))
    assert judgement.reason == (
        'text.present is not met: expected "lyon", got nowhere in 1 message (scenarios/s.yaml:12)'
    )
    assert [(u.path, u.turn) for u in judgement.unmet] == [("text.present", 1), ("tools.not_called.delete_client", 2)]
    assert (judgement.outcome, judgement.code) == (Outcome.FAIL, "expectation_unmet")


def test_b24_what_cannot_be_checked_is_an_error() -> None:
    """An adapter that reports no tools: error, never pass or fail, with the reason."""
    blind = tuple(replace(t, tools=None) for t in TURNS)
    judgement = judged(blind, at(2, NOT_DELETED, final=True))
    assert (judgement.outcome, judgement.code) == (Outcome.ERROR, "expectation_broken")
    assert judgement.reason == (
        "tools cannot be checked: expected a record of tool calls, got the adapter reports no tool calls"
        " (scenarios/s.yaml:12)"
    )


def test_broken_outweighs_unmet_and_is_the_reason() -> None:
    """When one expectation fails and another cannot be checked, the trial is an error and says why."""
    blind = Expectations(text=SAYS_LYON.text, state=(StateExpectation(path="user.stage", value="x", where=THERE),))
    judgement = judged(TURNS, at(2, blind, final=True))
    assert judgement.outcome is Outcome.ERROR
    assert judgement.code == "expectation_broken"
    assert judgement.reason.startswith("state.user.stage cannot be checked")


def test_nothing_expected_is_skipped() -> None:
    """No expectation is no pass."""
    judgement = judged(TURNS, at(2, Expectations(), final=True))
    assert (judgement.status, judgement.reason) == (JudgementStatus.SKIPPED, "no expectation")
    assert (judgement.outcome, judgement.code) == (Outcome.NOT_RUN, "nothing_expected")
    assert judged(TURNS).status is JudgementStatus.SKIPPED


def test_what_the_conversation_never_came_to_is_not_called_nothing() -> None:
    """A scenario that expects something but was stopped before says so."""
    stopped = of(TURNS)
    stopped = replace(stopped, scenario=replace(stopped.scenario, expect=SAYS_LYON))
    judgement = asyncio.run(Met(JudgeSetup(options={})).judge(stopped))
    assert (judgement.status, judgement.code) == (JudgementStatus.SKIPPED, "not_reached")
    assert judgement.reason == "no expectation was reached: the conversation stopped before"


def test_silence_alone_is_an_expectation() -> None:
    """`expect: silence` is checked without other expectations."""
    assert judged(TURNS, at(2, Expectations(), silence=True)).outcome is Outcome.FAIL
    assert judged((turn(1, "?"),), at(1, Expectations(), silence=True)).outcome is Outcome.PASS


@pytest.mark.parametrize(
    "checkpoints",
    [(), (at(1, SAYS_LYON),), (at(2, SAYS_LYON, final=True),)],
    ids=["none", "of an earlier turn", "final"],
)
def test_nothing_new_is_said_before_the_end(checkpoints: Sequence[Checkpoint]) -> None:
    """Without a checkpoint at this turn there is nothing to say; the end is for `judge`."""
    assert watched(TURNS, *checkpoints) is None


def test_the_newest_checkpoint_is_looked_at_at_once() -> None:
    """An unmet checkpoint stops the conversation where it stands."""
    judgement = watched(TURNS, at(1, NOT_DELETED), at(2, SAYS_LYON))
    assert judgement is not None
    assert (judgement.outcome, len(judgement.unmet)) == (Outcome.FAIL, 1)

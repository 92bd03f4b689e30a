"""Asking again: when, in which order, and what the answers make together."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Sequence

import pytest

from evalrun.interfaces.judges import JudgeSetup
from evalrun.judges.questions import reordered
from evalrun.judges.rubric import RubricJudge
from evalrun.results import Judgement, JudgementStatus
from evalrun.rubric import Rubric
from evalrun.usage import Role
from evalrun.verdict import Outcome
from tests.cases import NAMES, case, check, conversation_in, rubric, turn
from tests.endpoints import endpoint
from tests.scripted_server import Answer, ScriptedServer

ONE = (turn(1, "le devis", "c'est 49 € par mois"),)


def scores(*values: int) -> str:
    """An answer in blocks."""
    return json.dumps(
        {n: {"quote": "", "reason": f"reason {v}", "score": v} for n, v in zip(NAMES, values, strict=True)}
    )


def violated(quote: str = "49 €", *, compliant: bool = False) -> str:
    """An answer to a check."""
    return json.dumps({"applies": True, "quote": quote, "reason": "invented", "shown_compliant": compliant})


def judged(
    answers: Sequence[str | Answer], *, confirm: int = 2, scored: Rubric | None = None, checks: Sequence[Rubric] = ()
) -> tuple[Judgement, ScriptedServer]:
    """The judgement of one turn when the judge answers in this order."""

    async def play() -> tuple[Judgement, ScriptedServer]:
        left = itertools.chain(answers)
        async with ScriptedServer(lambda _, __: next(left)) as server:
            of = case(endpoint(server.base_url, Role.JUDGE), ONE, scored=scored, checks=checks)
            return await RubricJudge(JudgeSetup(options={}, confirm=confirm)).judge(of), server

    return asyncio.run(play())


@pytest.mark.parametrize(
    ("first", "again", "kept", "outcome"),
    [
        ((4, 8, 8, 8), ((6, 8, 8, 8), (7, 8, 8, 8)), 6, Outcome.PASS),
        ((4, 8, 8, 8), ((4, 8, 8, 8), (9, 8, 8, 8)), 4, Outcome.FAIL),
        ((2, 8, 8, 8), ((9, 9, 9, 9), (3, 7, 7, 7)), 3, Outcome.FAIL),
    ],
)
def test_the_median_of_three_decides(
    first: tuple[int, ...], again: tuple[tuple[int, ...], ...], kept: int, outcome: Outcome
) -> None:
    """A score under the floor counts when the median of three is; all three are kept, with the words of the one."""
    judgement, server = judged([scores(*first), *(scores(*a) for a in again)], scored=rubric())
    assert (server.calls(), judgement.outcome) == (3, outcome)
    tone = judgement.scores[0]
    assert tone.value == kept
    assert sorted(tone.given) == sorted((first[0], again[0][0], again[1][0]))
    assert tone.reason == f"reason {kept}"
    assert "turn 1: tone was judged 3 times:" in judgement.warnings[0]


def test_what_is_good_is_not_asked_again() -> None:
    """A turn without a low score costs one call, and so does a low one under the raw rule."""
    assert judged([scores(8, 8, 8, 8)], scored=rubric())[1].calls() == 1
    judgement, server = judged([scores(4, 8, 8, 8)], scored=rubric(), confirm=0)
    assert (server.calls(), judgement.outcome, judgement.scores[0].given) == (1, Outcome.FAIL, ())


def test_criteria_come_in_another_order_each_time() -> None:
    """Prompt and schema are permuted, the mark is fresh, and the scores still belong to their criteria."""
    # asked side by side, so both second answers are alike
    judgement, server = judged([scores(4, 8, 8, 8), scores(6, 9, 8, 7), scores(6, 9, 8, 7)], scored=rubric())
    orders = {
        tuple(r.body["response_format"]["json_schema"]["schema"]["required"])  # type: ignore[index]
        for r in server.received
    }
    marks = {conversation_in(r.body).split("\n")[0] for r in server.received}
    assert (len(orders), len(marks)) == (3, 3)
    assert [s.value for s in judgement.scores] == [6, 9, 8, 7]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
def test_every_order_holds_every_criterion(count: int) -> None:
    """Nothing is lost by another order, and four criteria have three orders beside their own."""
    criteria = rubric(names=[f"c{i}" for i in range(count)]).criteria
    orders = [reordered(criteria, time) for time in range(1, 5)]
    assert all(sorted(o, key=lambda c: c.id) == sorted(criteria, key=lambda c: c.id) for o in orders)
    assert count < 4 or len({tuple(c.id for c in o) for o in (criteria, *orders[:3])}) == 4


@pytest.mark.parametrize(
    ("again", "counts"),
    [
        ((violated(), violated()), True),
        ((violated(), violated(compliant=True)), True),
        ((violated(compliant=True), violated(compliant=True)), False),
    ],
)
def test_at_least_one_of_two_must_agree_with_a_violation(again: tuple[str, str], counts: bool) -> None:
    """A violation is two answers of three; a critical one too."""
    judgement, server = judged([violated(), *again], checks=[check(critical=True)])
    assert (server.calls(), judgement.checks[0].violated) == (3, counts)
    assert sum(judgement.checks[0].given) == 1 + sum('"shown_compliant": false' in a for a in again)
    assert judgement.outcome is (Outcome.FAIL if counts else Outcome.PASS)


def test_an_answer_that_never_comes_is_an_error_and_no_verdict() -> None:
    """A judge that fails while it is asked again has not confirmed anything."""
    lost = Answer(text="overloaded", status=529)
    judgement, _ = judged([scores(4, 8, 8, 8), lost, lost], scored=rubric())
    assert (judgement.status, judgement.scores) == (JudgementStatus.ERROR, ())


def test_the_number_of_times_is_part_of_the_ruler() -> None:
    """Scores that were confirmed and scores that were not are not compared."""
    prints = {judged([scores(8, 8, 8, 8)], scored=rubric(), confirm=n)[0].ruler.fingerprint for n in (0, 2)}  # type: ignore[union-attr]
    assert len(prints) == 2

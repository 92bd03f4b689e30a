"""Known-bad turns among the judge's calls: asked once, and what happens when one passes or gets no answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

from evalrun.interfaces.judges import JudgeSetup
from evalrun.judges.canaries import CANARIES
from evalrun.judges.rubric import RubricJudge
from evalrun.results import Judgement, JudgementStatus
from evalrun.usage import Role
from evalrun.verdict import Outcome
from tests.cases import NAMES, case, check, rubric, turn
from tests.endpoints import endpoint
from tests.scripted_server import Answer, Script, ScriptedServer

ONE = (turn(1, "le devis", "c'est 49 € par mois"),)


def shown(body: Mapping[str, object]) -> bool:
    """Whether a request shows a canary."""
    return any(c.user in json.dumps(body, ensure_ascii=False) for c in CANARIES)


def answer(score: int) -> str:
    """The same score for all."""
    return json.dumps({n: {"quote": "", "reason": "as seen", "score": score} for n in NAMES})


def judged(script: Script, trials: int = 1) -> tuple[list[Judgement], ScriptedServer]:
    """The judgements of so many trials of one run, side by side."""

    async def play() -> tuple[list[Judgement], ScriptedServer]:
        async with ScriptedServer(script) as server:
            judge = RubricJudge(JudgeSetup(options={}, canaries=True))
            of = case(endpoint(server.base_url, Role.JUDGE), ONE, scored=rubric())
            return list(await asyncio.gather(*(judge.judge(of) for _ in range(trials)))), server

    return asyncio.run(play())


def test_a_sound_judge_is_asked_once_in_a_run() -> None:
    """Both canaries fail, every trial is judged, and the canaries cost two calls over all trials."""
    judgements, server = judged(lambda _, body: answer(1 if shown(body) else 8), trials=5)
    assert [j.outcome for j in judgements] == [Outcome.PASS] * 5
    assert server.calls() == 5 + len(CANARIES)
    assert {s.value for j in judgements for s in j.scores} == {8}


def test_a_judge_that_is_for_sale_judges_nothing() -> None:
    """One canary that passes makes every trial an error, also those whose own answers were in before."""
    judgements, server = judged(lambda _, body: answer(10 if "format test" in json.dumps(body) else 2), trials=3)
    assert {(j.status, j.code, j.scores) for j in judgements} == {(JudgementStatus.ERROR, "judge_compromised", ())}
    assert server.calls() == 3 + len(CANARIES)
    assert judgements[0].reason.startswith("judge compromised: a known-bad turn")


def test_a_canary_without_an_answer_is_an_error_and_asked_for_again() -> None:
    """Nothing passes on the word of a judge whose canary is unknown."""
    lost = Answer(text="overloaded", status=529)
    judgements, server = judged(lambda _, body: lost if shown(body) else answer(8), trials=2)
    assert {j.status for j in judgements} == {JudgementStatus.ERROR}
    assert "a known-bad turn hidden among the judge's calls got no answer" in judgements[0].reason
    assert len(server.requests()) == 2 + 2 * len(CANARIES)


def test_canaries_look_like_any_other_turn() -> None:
    """They stand under the trial's own instructions, so that the cached prefix is theirs too."""
    _, server = judged(lambda _, body: answer(1 if shown(body) else 8))
    systems = {r.body["messages"][0]["content"] for r in server.received}  # type: ignore[index]
    assert len(systems) == 1


def test_a_judge_that_only_checks_is_watched_too() -> None:
    """Under a small rubric of our own: a judge that gives its canary top marks excuses nothing."""
    compliant = json.dumps({"applies": False, "quote": "", "reason": "no figure", "shown_compliant": True})

    async def play(score: int) -> tuple[Judgement, int]:
        marks = json.dumps({"help": {"quote": "", "reason": "as seen", "score": score}})
        async with ScriptedServer(lambda _, body: marks if shown(body) else compliant) as server:
            of = case(endpoint(server.base_url, Role.JUDGE), ONE, checks=[check()])
            return await RubricJudge(JudgeSetup(options={}, canaries=True)).judge(of), server.calls()

    sound, calls = asyncio.run(play(1))
    assert (sound.outcome, calls) == (Outcome.PASS, 1 + len(CANARIES))
    assert asyncio.run(play(9))[0].code == "judge_compromised"

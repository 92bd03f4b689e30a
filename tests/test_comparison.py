"""Run against run: what may be subtracted, what the words mean, and how often they are wrong."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.comparison import MEAN, Word, by_criterion, compare, word_of
from evalrun.results import Ruler, RunResult, ScenarioResult
from tests.results_samples import RULER, expectations, rubric, rules, said, scenario, scored, transcript, trial
from tests.runs_samples import mixed_run, run_of


def played(
    name: str,
    *rows: tuple[int, int, int, int],
    ruler: Ruler = RULER,
    key: str = "scenario=1;persona=2",
    text: str = "oui",
) -> ScenarioResult:
    """A scenario with a trial of one turn for each row of scores."""
    trials = []
    for number, row in enumerate(rows, 1):
        judged = replace(rubric(scored([row])), ruler=ruler)
        outcome = "pass" if judged.marks and judged.marks.passed else "fail"
        talk = transcript(said(1, "salut", text))
        found = trial(
            name, outcome, judged.reason, number=number, talk=talk, judgements=[rules(), expectations(), judged]
        )
        trials.append(replace(found, key=key))
    return scenario(name, *trials)


def suite(seed: int, shift: float = 0.0, count: int = 20, repeats: int = 1, sd: float = 0.5) -> RunResult:
    """A run of scenarios whose scores scatter around their own means, all moved by `shift`."""
    rng = random.Random(seed)

    def one(mean: float) -> int:
        return min(max(round(rng.gauss(mean + shift, sd)), 1), 10)

    means = [6.5 + 0.1 * i for i in range(count)]
    return run_of(
        *(played(f"s{i}", *((one(m), one(m), one(m), one(m)) for _ in range(repeats))) for i, m in enumerate(means))
    )


@pytest.mark.parametrize(
    ("interval", "word"),
    [
        ((0.1, 0.5), Word.BETTER),
        ((-0.5, -0.1), Word.WORSE),
        ((0.05, 0.2), Word.BETTER),
        ((-0.3, 0.3), Word.EQUIVALENT),
        ((-0.1, 0.4), Word.INCONCLUSIVE),
        ((-0.31, 0.2), Word.INCONCLUSIVE),
        ((0.0, 0.0), Word.EQUIVALENT),
        (None, Word.INCONCLUSIVE),
    ],
)
def test_the_words(interval: tuple[float, float] | None, word: Word) -> None:
    """An interval that excludes 0, one inside what nobody would act on, or neither."""
    assert word_of(interval) is word


def test_means_are_over_scenarios_not_over_turns_or_trials() -> None:
    """B71: a scenario with five trials weighs as much as one with one."""
    a = run_of(played("one", (8, 8, 8, 8)), played("two", *[(6, 6, 6, 6)] * 5))
    found = compare(a, a).differences[0]
    assert (found.criterion, found.a, found.b, found.scenarios) == (MEAN, 7.0, 7.0, 2)


def test_every_criterion_is_compared_by_itself() -> None:
    """One criterion falls, the others stay."""
    a, b = played("one", (8, 8, 8, 8)), played("one", (8, 4, 8, 8))
    c, d = played("two", (7, 9, 7, 7)), played("two", (7, 5, 7, 7))
    found = {x.criterion: x.difference for x in compare(run_of(a, c), run_of(b, d)).differences}
    assert found == {MEAN: -1.0, "character": 0.0, "objective": -4.0, "responsiveness": 0.0, "format": 0.0}


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (
            {"ruler": Ruler(parts={"model": "anthropic:judge-2", "rubrics": "conversation:abc"})},
            "the judge's model differs",
        ),
        (
            {"ruler": Ruler(parts={"model": "anthropic:judge-1", "rubrics": "conversation:xyz"})},
            "the judge's rubrics differs",
        ),
        ({"key": "scenario=9;persona=2"}, "the scenario changed"),
        ({"key": "scenario=1;persona=9"}, "its persona changed"),
    ],
)
def test_b73_what_was_measured_otherwise_is_not_subtracted(changed: dict[str, object], why: str) -> None:
    """The judge, the rubric, the scenario, the persona: said by name, and the others still compare."""
    a = run_of(played("one", (8, 8, 8, 8)), played("two", (7, 7, 7, 7)))
    b = run_of(played("one", (2, 2, 2, 2), **changed), played("two", (7, 7, 7, 7)))  # type: ignore[arg-type]
    found = compare(a, b)
    assert [(x.id, x.why) for x in found.apart] == [("one", (why,))]
    assert found.differences[0].scenarios == 1
    assert [p.id for p in found.flips] == ["one"]


def test_scenarios_of_one_run_only_and_those_without_scores_are_said() -> None:
    """Nothing is left out without a word."""
    a = run_of(played("one", (8, 8, 8, 8)), played("gone", (8, 8, 8, 8)))
    b = run_of(played("one", (8, 8, 8, 8)), scenario("new", trial("new", "pass", "")))
    found = {x.id: x.why for x in compare(a, b).apart}
    assert found == {"gone": ("only in A",), "new": ("only in B",)}
    assert "3 of 9 scenarios of A have no verdict" in compare(mixed_run(), mixed_run()).caveats


def test_a_true_drop_is_found_and_luck_seldom_called_one() -> None:
    """Sixty comparisons of 20 scenarios: an A/A is called better or worse about one time in twenty, a drop of one point always."""
    called = sum(compare(suite(n), suite(n + 1000)).word in (Word.BETTER, Word.WORSE) for n in range(60))
    assert called <= 8
    assert all(compare(suite(n), suite(n + 1000, shift=-1.0)).word is Word.WORSE for n in range(20))


def test_single_scenarios_are_tested_only_with_measured_noise_and_adjusted_for_all() -> None:
    """Without repeats there is no p-value; with them an A/A names none or few, and never as sure."""
    once = compare(suite(1), suite(2))
    assert (once.measured, {p.p_value for p in once.pairs}) == (False, {None})
    again = compare(suite(1, repeats=4), suite(2, repeats=4))
    assert again.measured
    assert all(p.p_value is not None and p.holm is not None and p.holm >= p.p_value for p in again.pairs)
    assert sum(p.holm <= 0.05 for p in again.pairs if p.holm is not None) <= 1


def test_the_length_of_replies_can_be_taken_out() -> None:
    """Scores that rise only with the length of replies do not differ at equal length."""
    a = run_of(*(played(f"s{i}", (7, 7, 7, 7), text="x" * 100) for i in range(8)))
    b = run_of(*(played(f"s{i}", *[(7 + i % 3,) * 4], text="x" * (100 + 100 * (i % 3))) for i in range(8)))
    found = compare(a, b).differences[0]
    assert found.word is Word.BETTER
    assert found.at_equal_length is not None
    assert found.at_equal_length[0] == pytest.approx(0.0, abs=1e-9)


ROWS = st.tuples(*[st.integers(1, 10)] * 4)


@given(st.lists(st.tuples(ROWS, ROWS), min_size=1, max_size=8))
def test_b_against_a_is_a_against_b_turned_round(rows: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> None:
    """Differences change their sign, words their side."""
    a = run_of(*(played(f"s{i}", one) for i, (one, _) in enumerate(rows)))  # type: ignore[arg-type]
    b = run_of(*(played(f"s{i}", other) for i, (_, other) in enumerate(rows)))  # type: ignore[arg-type]
    there, back = compare(a, b), compare(b, a)
    turned = {Word.BETTER: Word.WORSE, Word.WORSE: Word.BETTER}
    for x, y in zip(there.differences, back.differences, strict=True):
        assert x.difference == pytest.approx(-y.difference)
        assert turned.get(x.word, x.word) is y.word
    assert by_criterion(a.scenarios[0])[MEAN] == pytest.approx(sum(rows[0][0]) / 4)

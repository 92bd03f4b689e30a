"""The figures of a judge from its answers, and what it takes to earn a gate."""

from __future__ import annotations

import pytest

from evalrun.calibration import Answer, figures_of, near_the_threshold
from evalrun.use_cases.calibrate import split_of
from tests.cases import check, rubric

SCORED = rubric(names=("tone", "format"))


def answers(good: tuple[int, int], bad: tuple[int, int]) -> list[Answer]:
    """Yes/no answers: of so many good turns so many passed, of so many bad ones so many stopped."""
    return [
        *(Answer(label=f"g{i}", good=True, passed=i < good[0]) for i in range(good[1])),
        *(Answer(label=f"b{i}", good=False, passed=i >= bad[0]) for i in range(bad[1])),
    ]


@pytest.mark.parametrize(
    ("good", "bad", "missing"),
    [
        ((50, 50), (50, 50), ()),
        ((45, 50), (45, 50), ()),
        ((42, 50), (50, 50), ("true-positive rate",)),
        ((50, 50), (40, 50), ("true-negative rate",)),
        ((30, 50), (30, 50), ("true-positive rate", "true-negative rate", "kappa")),
        ((5, 5), (5, 5), ("true-positive rate", "true-negative rate")),
        ((50, 50), (0, 0), ("true-negative rate", "kappa")),
    ],
)
def test_a_gate_takes_both_bounds_and_kappa(
    good: tuple[int, int], bad: tuple[int, int], missing: tuple[str, ...]
) -> None:
    """Both lower bounds at 0.75 and kappa at 0.6; few labels never suffice, nor labels of one kind."""
    figures = figures_of(check(), answers(good, bad))
    assert (
        tuple(w.split(" ")[0] if w.startswith("kappa") else w.rpartition("rate ")[0] + "rate" for w in figures.why_not)
        == missing
    )
    assert figures.false_block == pytest.approx(1 - good[0] / good[1])


def test_no_usable_answer_counts_against_the_judge() -> None:
    """In the rate of its kind, and it is named."""
    made = [*answers((49, 49), (50, 50)), Answer(label="x", good=True, passed=None, reason="cut")]
    figures = figures_of(check(), made)
    assert (figures.unanswered, figures.true_positive.hits, figures.true_positive.of) == (1, 49, 50)


def test_criteria_have_bias_spread_and_kappa() -> None:
    """A judge one point too kind on tone and exact on format; the two never vary together."""
    pairs = [(3, 5), (5, 3), (7, 5), (9, 7), (4, 9)]
    made = [
        Answer(label=str(i), good=True, passed=True, scores={"tone": (t, t + 1), "format": (f, f)})
        for i, (t, f) in enumerate(pairs)
    ]
    tone, form = figures_of(SCORED, made).criteria
    assert (tone.bias, tone.sd, form.bias, form.kappa) == (
        pytest.approx(1.0),
        pytest.approx(0.0),
        0.0,
        pytest.approx(1.0),
    )
    assert list(figures_of(SCORED, made).alike) == ["tone, format"]


def test_turns_near_the_threshold_are_known_by_their_scores() -> None:
    """Within a point of the mean that passes, or at the floor; a check's answer is always near."""

    def near(*given: int) -> bool:
        scores = dict(zip(("tone", "format"), ((7, g) for g in given), strict=True))
        return near_the_threshold(SCORED, Answer(label="a", good=True, passed=True, scores=scores))

    assert [near(9, 9), near(7, 7), near(2, 2), near(10, 5), near(10, 4)] == [False, True, False, True, True]
    assert near_the_threshold(check(), Answer(label="a", good=True, passed=True))
    assert not near_the_threshold(check(), Answer(label="a", good=True, passed=None))


def test_the_same_answer_again_is_counted() -> None:
    """One turn of two was judged alike each time."""
    made = [
        Answer(label="a", good=True, passed=True, again=(True, True)),
        Answer(label="b", good=True, passed=True, again=(True, False)),
        Answer(label="c", good=True, passed=True),
    ]
    same = figures_of(check(), made).same_again
    assert same is not None
    assert (same.hits, same.of) == (1, 2)


def test_a_label_belongs_to_one_part_for_ever() -> None:
    """By the hash of its id, about half to each."""
    parts = [split_of(f"good-{i:03d}") for i in range(200)]
    assert set(parts) == {"dev", "test"}
    assert 70 <= parts.count("dev") <= 130
    assert split_of("good-001") == split_of("good-001")

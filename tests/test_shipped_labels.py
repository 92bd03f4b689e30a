"""The labelled turns that ship with the rubrics: well formed, balanced, varied, and none twice."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from evalrun.folding import fold
from evalrun.judges.tripwires import signs_in
from evalrun.labels import Label
from evalrun.loading.labels import load_labels
from evalrun.loading.settings import Overrides, load_settings
from evalrun.loading.suite import load_suite
from evalrun.rubric import Rubric, RubricKind
from evalrun.style import Severity
from evalrun.style_checks.table import CompiledRules

ROOT = Path(__file__).parents[1]
SUITE = load_suite(load_settings(ROOT, Overrides(), {}, connect=False))
EVERY = tuple(SUITE.rubrics.values())


def labels_of(rubric: Rubric) -> tuple[Label, ...]:
    """The set that a shipped rubric names."""
    return load_labels(ROOT / "rubrics" / rubric.labelled, rubric)


@pytest.mark.parametrize("rubric", EVERY, ids=lambda r: r.id)
def test_a_set_is_large_and_balanced(rubric: Rubric) -> None:
    """At least 100, half good and half bad, in two languages that are each half good and half bad."""
    labels = labels_of(rubric)
    assert len(labels) >= 100
    for language in ("fr", "en"):
        good = [one.good(rubric) for one in labels if one.language == language]
        assert len(good) >= 40
        assert 0.4 <= sum(good) / len(good) <= 0.6
    assert abs(2 * sum(one.good(rubric) for one in labels) - len(labels)) <= 2


@pytest.mark.parametrize("rubric", [r for r in EVERY if r.kind is RubricKind.SCORED], ids=lambda r: r.id)
def test_each_criterion_has_bad_turns_of_its_own(rubric: Rubric) -> None:
    """At least ten in which it is the weakest, and its scores use most of the scale."""
    labels = labels_of(rubric)
    weakest = Counter(min(one.scores, key=lambda c: one.scores[c]) for one in labels if not one.good(rubric))
    assert {c.id for c in rubric.criteria} == set(weakest)
    assert min(weakest.values()) >= 10
    assert all(len({one.scores[c.id] for one in labels}) >= 6 for c in rubric.criteria)


@pytest.mark.parametrize("rubric", EVERY, ids=lambda r: r.id)
def test_no_words_are_shared_by_good_and_bad_ones(rubric: Rubric) -> None:
    """No answer stands under two labels unless what the user or a tool said makes the difference."""
    seen: dict[str, bool] = {}
    for one in labels_of(rubric):
        turn = one.turns[-1]
        shown = fold(
            repr((one.objective, turn.opening.text, turn.opening.event, turn.tools, [b.text for b in turn.said]))
        )
        assert shown not in seen, one.id
        seen[shown] = one.good(rubric)


@pytest.mark.parametrize("rubric", [r for r in EVERY if r.only_when], ids=lambda r: r.id)
def test_every_violation_is_one_the_check_is_asked_about(rubric: Rubric) -> None:
    """The filter in code lets through all that people call a violation."""
    missed = [
        one.id
        for one in labels_of(rubric)
        if one.violated and not any(re.search(rubric.only_when, b.text) for b in one.turns[-1].said)
    ]
    assert missed == []


@pytest.mark.parametrize("rubric", EVERY, ids=lambda r: r.id)
def test_ordinary_turns_raise_no_alarm(rubric: Rubric) -> None:
    """Of what a matchmaker says, nothing but a verdict looks made for the judge."""
    assert [(one.id, signs) for one in labels_of(rubric) if (signs := signs_in(one.turns[-1]))] == []


def test_good_turns_keep_the_style_rules() -> None:
    """A turn that a person scores well breaks no hard rule of the shipped style."""
    rules = CompiledRules(SUITE.style)
    rubric = SUITE.rubrics["conversation"]
    broken = [
        (one.id, f.rule)
        for one in labels_of(rubric)
        if one.good(rubric)
        for f in rules.apply(one.turns[-1], (), ())
        if f.severity is Severity.HARD
    ]
    assert broken == []

"""Which scenarios are run, and why: a name that matches nothing is an error and never an empty success."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.errors import UnknownName, Where
from evalrun.scenario import Category, Scenario, UserStep
from evalrun.selection import Wanted, select
from evalrun.suite import Suite

ROOT = Path("/project")
HERE = Where(file="scenarios/x.yaml", line=1)


def scenario(name: str, category: Category, stage: str = "", tags: tuple[str, ...] = ()) -> Scenario:
    """A scenario in the folder of its category."""
    return Scenario(
        id=name,
        title=name,
        category=category,
        stage=stage,
        persona="ana",
        objective="o",
        steps=(UserStep(text="hi", where=HERE),),
        tags=tags,
        where=Where(file=f"scenarios/{category}/{name}.yaml", line=1),
    )


SCENARIOS = (
    scenario("welcome", Category.STAGE, "welcome", ("onboarding",)),
    scenario("pricing", Category.STAGE, "pricing", ("money", "onboarding")),
    scenario("pause", Category.ACTION, "pricing", ("money",)),
    scenario("reminder", Category.EVENT),
    scenario("whole", Category.SMOKE),
)
SUITE = Suite(scenarios=SCENARIOS)


def chosen(wanted: Wanted) -> list[str]:
    """The ids that a wish selects."""
    return [s.id for s in select(SUITE, wanted, ROOT).chosen]


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        (Wanted(), ["welcome", "pricing", "pause", "reminder"]),
        (Wanted(everything=True), ["welcome", "pricing", "pause", "reminder", "whole"]),
        (Wanted(categories=(Category.SMOKE,)), ["whole"]),
        (Wanted(names=("whole",)), ["whole"]),
        (Wanted(names=("reminder", "pause")), ["pause", "reminder"]),
        (Wanted(names=("/project/scenarios/stage",)), ["welcome", "pricing"]),
        (Wanted(names=("/project/scenarios/action/pause.yaml",)), ["pause"]),
        (Wanted(stages=("pricing",)), ["pricing", "pause"]),
        (Wanted(stages=("pricing",), categories=(Category.ACTION,)), ["pause"]),
        (Wanted(tags=("money",)), ["pricing", "pause"]),
        (Wanted(tags=("money", "onboarding")), ["welcome", "pricing", "pause"]),
        (Wanted(tags=("onboarding",), stages=("pricing",)), ["pricing"]),
    ],
)
def test_what_is_asked_for_is_chosen(wanted: Wanted, ids: list[str]) -> None:
    """In the order of the suite; kinds of filters hold together; smoke only when it is asked for."""
    assert ids == chosen(wanted)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted(names=("pricng",)), "did you mean 'pricing'"),
        (Wanted(names=("pricing", "nothing-like-it")), "no scenario has the id or path 'nothing-like-it'"),
        (Wanted(names=("/elsewhere",)), "no scenario has the id or path"),
        (Wanted(stages=("pricng",)), "no scenario has the stage 'pricng'; did you mean 'pricing'"),
        (Wanted(tags=("monney",)), "did you mean 'money'"),
        (Wanted(tags=("money", "zzz")), "no scenario has the tag 'zzz'"),
        (Wanted(stages=("welcome",), tags=("money",)), "no scenario matches welcome, money together"),
    ],
)
def test_a_name_without_a_match_is_refused(wanted: Wanted, said: str) -> None:
    """With the nearest name, also beside names that match."""
    with pytest.raises(UnknownName, match=said):
        chosen(wanted)


@pytest.mark.parametrize(
    ("scenarios", "said"), [((), "there is no scenario"), ((SCENARIOS[4],), "only smoke scenarios exist")]
)
def test_nothing_to_choose_from_is_refused(scenarios: tuple[Scenario, ...], said: str) -> None:
    """An empty suite is no success."""
    with pytest.raises(UnknownName, match=said):
        select(Suite(scenarios=scenarios), Wanted(), ROOT)


def test_smoke_that_stays_out_is_told() -> None:
    """And only where it was not a filter that left it out."""
    assert "4 of 5 scenarios (1 smoke kept for --category smoke or --all)" == select(SUITE, Wanted(), ROOT).line
    assert "1 of 5 scenarios" == select(SUITE, Wanted(names=("pause",)), ROOT).line


@given(
    st.builds(
        Wanted,
        names=st.lists(st.sampled_from([s.id for s in SCENARIOS]), unique=True).map(tuple),
        categories=st.lists(st.sampled_from(Category), unique=True).map(tuple),
        stages=st.lists(st.sampled_from(["welcome", "pricing"]), unique=True).map(tuple),
        tags=st.lists(st.sampled_from(["money", "onboarding"]), unique=True).map(tuple),
        everything=st.booleans(),
    )
)
def test_every_choice_has_its_reason_and_is_never_empty(wanted: Wanted) -> None:
    """What is chosen says why; where nothing fits together it is an error."""
    try:
        found = select(SUITE, wanted, ROOT)
    except UnknownName:
        return
    assert found.chosen
    assert {s.id for s in found.chosen} == set(found.reasons)
    assert all(found.reasons.values())

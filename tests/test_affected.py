"""What a change can affect: by hand, and against a brute force that walks every dependency."""

from __future__ import annotations

import fnmatch
import posixpath
import unicodedata
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from evalrun.affected import Affected, Closure, affected
from evalrun.changes import Change
from evalrun.config import Settings, StageSettings
from evalrun.errors import Where
from evalrun.persona import Persona
from evalrun.rubric import Rubric, RubricKind
from evalrun.scenario import Category, JudgePlan, Scenario, UserStep
from evalrun.suite import Suite


def at(file: str) -> Where:
    """The first line of a file."""
    return Where(file=file, line=1)


def scenario(name: str, **more: object) -> Scenario:
    """A scenario in a file of its name."""
    where = at(f"scenarios/{name}.yaml")
    values: dict[str, object] = {"category": Category.ACTION, "persona": "ana", "where": where, **more}
    return Scenario(id=name, title=name, objective="o", steps=(UserStep(text="hi", where=where),), **values)  # type: ignore[arg-type]


def suite_of(*scenarios: Scenario) -> Suite:
    """With two personas, a rubric with labelled examples, and a check."""
    return Suite(
        scenarios=scenarios,
        personas={
            n: Persona(id=n, name=n, background="b", traits=("t",), where=at(f"personas/{n}.yaml"))
            for n in ("ana", "bob")
        },
        rubrics={
            "talk": Rubric(id="talk", kind=RubricKind.SCORED, labelled="labels/talk", where=at("rubrics/talk.yaml")),
            "figures": Rubric(id="figures", kind=RubricKind.CHECK, where=at("rubrics/figures.yaml")),
        },
    )


SETTINGS = Settings(
    root=Path("/project"),
    file="evalrun.toml",
    source=("src/**",),
    shared=("prompts/all.md",),
    stages={
        "one": StageSettings(watch=("prompts/one/*.md",), modules=("src.one",)),
        "two": StageSettings(modules=("src.two",)),
        "bare": StageSettings(),
    },
)
CLOSURES = {
    "one": Closure(files=frozenset({"src/one.py", "src/both.py", "src/first.py"}), named=frozenset({"src/one.py"})),
    "two": Closure(files=frozenset({"src/two.py", "src/both.py"}), named=frozenset({"src/two.py"})),
}
SUITE = suite_of(
    scenario("in-one", stage="one", judge=JudgePlan(rubric="talk")),
    scenario("in-two", stage="two", persona="bob", judge=JudgePlan(checks=("figures",))),
    scenario("in-bare", stage="bare", watch=("vendor/lib/prompts/**",)),
    scenario("free", watch=("data/free.json", "data/deep")),
    scenario("whole", category=Category.SMOKE, watch=("data/whole.json",)),
)


def found(*changes: str | Change, settings: Settings = SETTINGS, settings_changed: bool = False) -> Affected:
    """What some changed paths affect."""
    listed = [c if isinstance(c, Change) else Change(path=c) for c in changes]
    return affected(SUITE, settings, listed, CLOSURES, settings_changed=settings_changed)


def ids(*changes: str | Change) -> list[str]:
    """The scenarios that are affected, in order."""
    return sorted(found(*changes).reasons)


def test_each_dependency_selects_and_says_why() -> None:
    """With the changed path in the reason."""
    for path, reasons in {
        "scenarios/free.yaml": {"free": "its file"},
        "personas/bob.yaml": {"in-two": "persona bob"},
        "rubrics/talk.yaml": {"in-one": "rubric talk"},
        "rubrics/labels/talk/1.yaml": {"in-one": "rubric talk"},
        "rubrics/figures.yaml": {"in-two": "rubric figures"},
        "data/free.json": {"free": "it watches"},
        "data/deep/er/x.json": {"free": "it watches"},
        "prompts/one/a.md": {"in-one": "stage one watches"},
        "src/one.py": {"in-one": "stage one imports"},
        "data/whole.json": {"whole": "it watches"},
    }.items():
        assert {k: (f"{label}: {path}",) for k, label in reasons.items()} == found(path).reasons


def test_what_stages_share_selects_them_and_who_says_nothing() -> None:
    """A scenario of no stage, or of one that declares nothing, may use it too."""
    assert ["free", "in-bare", "in-one", "in-two"] == ids("src/both.py")
    assert ["free", "in-bare", "in-one"] == ids("src/first.py")
    assert ["in-one"] == ids("src/one.py")


def test_code_that_nobody_claims_selects_all_but_smoke() -> None:
    """And shared files, style rules and the settings select smoke too."""
    every = ["free", "in-bare", "in-one", "in-two"]
    assert every == ids("src/new.py")
    assert ["whole"] == list(found("src/new.py").smoke)
    assert [*every, "whole"] == ids("prompts/all.md")
    assert [*every, "whole"] == ids("style_rules.toml")
    assert [*every, "whole"] == sorted(found("evalrun.toml", settings_changed=True).reasons)
    assert [] == ids("evalrun.toml")


def test_what_selects_nothing_is_listed() -> None:
    """Documents, files of nobody, names that only look alike."""
    paths = ["README.md", "personas/ana2.yaml", "prompts/one/deep/a.md", "scenarios/free-2.yaml", "src2/x.py"]
    assert ({}, tuple(paths)) == (found(*paths).reasons, found(*paths).idle)
    assert ("README.md",) == found("README.md", "src/one.py").idle


def test_a_folder_of_which_no_more_is_known_selects_what_may_lie_in_it() -> None:
    """A submodule that moved."""
    assert ["in-bare"] == ids(Change(path="vendor/lib", folder=True))
    assert ["free", "in-bare", "in-one", "in-two"] == ids(Change(path="src", folder=True))
    assert ["free", "in-bare", "in-one", "in-two", "whole"] == ids(Change(path="scenarios", folder=True))


def test_many_paths_are_one_reason() -> None:
    """The first, and how many more."""
    assert ("stage one watches: prompts/one/a.md and 2 more",) == found(
        "prompts/one/a.md", "prompts/one/b.md", "prompts/one/c.md"
    ).reasons["in-one"]


def test_names_compare_in_composed_form() -> None:
    """A file system may keep the other form."""
    name = unicodedata.normalize("NFD", "scenarios/é.yaml")
    suite = suite_of(scenario("e", where=at(name)))
    changes = [Change(path=unicodedata.normalize("NFC", name))]
    assert ["e"] == list(affected(suite, SETTINGS, changes, {}, settings_changed=False).reasons)


PATHS = st.sampled_from(
    [
        *(f"src/{n}.py" for n in ("one", "two", "both", "first", "new")),
        *(f"prompts/{n}.md" for n in ("all", "one/a", "one/deep/b", "two/a")),
        *(f"scenarios/{n}.yaml" for n in ("in-one", "in-two", "in-bare", "free", "whole", "gone")),
        *(f"personas/{n}.yaml" for n in ("ana", "bob", "carl")),
        *("rubrics/talk.yaml", "rubrics/figures.yaml", "rubrics/labels/talk/1.yaml", "style_rules.toml"),
        *("data/free.json", "data/deep/x", "data/whole.json", "vendor/lib/prompts/a", "README.md", "docs/a.md"),
    ]
)


def depends(one: Scenario, path: str) -> bool:
    """Whether a scenario depends on a file, said again and plainly."""
    rubrics = [SUITE.rubrics[r] for r in (one.judge.rubric, *one.judge.checks) if r]
    files = [one.where.file, SUITE.personas[one.persona].where.file, *(r.where.file for r in rubrics)]
    patterns = [*one.watch, *SETTINGS.shared, SETTINGS.style_rules]
    patterns += [posixpath.join("rubrics", r.labelled) for r in rubrics if r.labelled]
    stage = SETTINGS.stages.get(one.stage, StageSettings())
    imported = CLOSURES.get(one.stage, Closure()).files
    claimed = {f for c in CLOSURES.values() for f in c.files}
    named = {f for c in CLOSURES.values() for f in c.named}
    code = path.startswith("src/")
    loose = code and path not in claimed
    doubtful = code and path in claimed - named and not stage.watch and not stage.modules
    return (
        path in files
        or path in imported
        or loose
        or doubtful
        or any(path == p or path.startswith(f"{p}/") for p in patterns)
        or (path.startswith("vendor/lib/prompts/") and "vendor/lib/prompts/**" in one.watch)
        or any(fnmatch.fnmatch(path, w) and path.count("/") == w.count("/") for w in stage.watch)
    )


@given(st.lists(PATHS, max_size=6, unique=True))
def test_nobody_whose_dependency_changed_is_left_out_and_nobody_else_is_chosen(paths: list[str]) -> None:
    """Smoke may be kept back, but is told."""
    result = found(*paths)
    expected = {s.id for s in SUITE.scenarios if any(depends(s, p) for p in paths)}
    assert expected == result.reasons.keys() | result.smoke.keys()
    assert not result.reasons.keys() & result.smoke.keys()
    assert all(s.category is Category.SMOKE for s in SUITE.scenarios if s.id in result.smoke)
    used = {p for p in paths if any(depends(s, p) for s in SUITE.scenarios)}
    assert set(paths) - used == set(result.idle)

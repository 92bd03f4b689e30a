"""What was parsed before is used again only where parsing again would give the same."""

from __future__ import annotations

import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from evalrun.config import Settings
from evalrun.errors import FileProblems
from evalrun.loading import parsed_files
from evalrun.loading.parsed_files import ParsedFiles
from evalrun.loading.settings import Overrides, load_settings
from evalrun.loading.suite import CACHE, load_suite, read_all
from evalrun.scenario import Scenario
from evalrun.suite import Suite

HERE = Path(__file__).parents[2]
FULL = """\
id: full
title: Everything a scenario may hold
category: event
persona: ana
objective: Hold it all.
given:
  now: 2026-03-02T09:00:00+05:30
  state: {number: 1, real: 1.0, yes: true, none: null, text: "1", list: [1, [2, {a: b}]], phone: 0612345670}
steps:
  - user: "é 😀 \\u2028"
  - persona: {turns: 4, until: {state: {user.stage: matching}}}
  - event: {name: ping, data: {a: [1, 2.50]}}
  - advance: 3d
  - expect: {tools: {not_called: [charge_card]}}
expect:
  tools: {called: [{name: save, args: {a: 1, b: 1.0, c: true}, times: 1}]}
  replies: {min: 1, max_bubbles: 3}
  text: {absent: ["49 €"]}
  sql: [{query: "select 1", rows: [[1, 1.0, true, null]]}]
judge: {rubric: conversation}
repeats: 3
tags: [money]
watch: ["prompts/**"]
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """The shipped suite, and one scenario of everything; nothing parsed yet."""
    for folder in ("personas", "rubrics", "scenarios"):
        shutil.copytree(HERE / folder, tmp_path / folder)
    shutil.copy(HERE / "style_rules.toml", tmp_path)
    (tmp_path / "evalrun.toml").write_text('[targets.bot]\nentry = "my_bot:reply"\n', "utf-8")
    (tmp_path / "personas/ana.yaml").write_text("name: A\nbackground: b\ntraits: [c]\n", "utf-8")
    (tmp_path / "scenarios/full.yaml").write_text(FULL, "utf-8")
    return load_settings(tmp_path, Overrides(), {})


def age(root: Path) -> None:
    """Let all files be older than their entries will be, as in a repository where nobody just wrote."""
    for file in root.rglob("*.yaml"):
        os.utime(file, ns=(0, file.stat().st_mtime_ns - 10_000_000_000))


def plain(settings: Settings) -> Suite:
    """The suite without the cache."""
    loaded = read_all(settings)
    assert not loaded.problems.found
    return Suite(
        scenarios=tuple(loaded.scenarios),
        personas={p.id: p for p in loaded.personas},
        rubrics={r.id: r for r in loaded.rubrics},
        style=loaded.style,
    )


def test_the_suite_is_the_same_from_the_cache(settings: Settings) -> None:
    """Every value with its type, its place and its zone; every shipped file, and one of everything."""
    expected = plain(settings)
    assert expected == load_suite(settings)
    again = load_suite(settings)
    assert expected == again
    assert repr(expected) == repr(again)
    full = next(s for s in again.scenarios if s.id == "full")
    assert full.given.now is not None
    assert timedelta(hours=5, minutes=30) == full.given.now.utcoffset()
    assert len(expected.scenarios) == len(ParsedFiles.open(settings.root / CACHE, Scenario).entries)


def test_a_changed_file_is_parsed_again(settings: Settings) -> None:
    """Also when its size and its modification time are what they were."""
    age(settings.root)
    load_suite(settings)
    file = settings.root / "scenarios/full.yaml"
    stat = file.stat()
    file.write_text(FULL.replace("Hold it all.", "Hold it ALL."), "utf-8")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    full = next(s for s in load_suite(settings).scenarios if s.id == "full")
    assert "Hold it ALL." == full.objective


def test_a_file_that_is_gone_leaves_no_entry(settings: Settings) -> None:
    """And a renamed one has its new place."""
    load_suite(settings)
    (settings.root / "scenarios/full.yaml").rename(settings.root / "scenarios/other.yaml")
    suite = load_suite(settings)
    assert "scenarios/other.yaml" == next(s for s in suite.scenarios if s.id == "full").where.file
    entries = ParsedFiles.open(settings.root / CACHE, Scenario).entries
    assert "scenarios/full.yaml" not in entries
    assert "scenarios/other.yaml" in entries


@pytest.mark.parametrize(
    ("remove", "said"),
    [("personas/ana.yaml", "there is no persona `ana`"), ("rubrics/conversation.yaml", "conversation")],
)
def test_what_a_kept_scenario_refers_to_must_still_be_there(settings: Settings, remove: str, said: str) -> None:
    """With the line that names it, as if it had been parsed now."""
    load_suite(settings)
    (settings.root / remove).unlink()
    with pytest.raises(FileProblems) as raised:
        load_suite(settings)
    assert [str(p) for p in sorted(read_all(settings).problems.found, key=lambda p: p.where)] == [
        str(p) for p in raised.value.problems
    ]
    assert any(said in str(p) for p in raised.value.problems)


def test_a_file_with_a_problem_is_never_kept(settings: Settings) -> None:
    """It is told each time."""
    (settings.root / "scenarios/full.yaml").write_text(FULL.replace("persona: ana", "persona: anna"), "utf-8")
    for _ in range(2):
        with pytest.raises(FileProblems, match="problems in files"):
            load_suite(settings)


@pytest.mark.parametrize("damage", [b"", b"not json", b'["x", {"scenarios/full.yaml": 1}]', b"\xff\xfe"])
def test_a_damaged_cache_is_no_fault(settings: Settings, damage: bytes) -> None:
    """Everything is parsed again."""
    expected = load_suite(settings)
    for file in (settings.root / CACHE).glob("*.json"):
        file.write_bytes(damage)
    assert expected == load_suite(settings)


def test_entries_of_another_evalrun_are_not_used(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may read files in another way."""
    load_suite(settings)
    monkeypatch.setattr(parsed_files, "__version__", "0.0.0")
    assert {} == ParsedFiles.open(settings.root / CACHE, Scenario).entries


def test_where_nothing_can_be_written_everything_is_parsed(settings: Settings) -> None:
    """A file where the folder should be."""
    (settings.root / ".evalrun").write_text("in the way", "utf-8")
    assert plain(settings) == load_suite(settings)

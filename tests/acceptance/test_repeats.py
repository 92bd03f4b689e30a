"""Repeats on the real command line: another trial until the evidence is clear, and what a cut budget leaves."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.projects import SCENARIO, Project, judge_says, scores
from tests.scripted_server import Answer, Script, ScriptedServer

BOT = 'def reply(text):\n    return "hello, what is your name?"\n'
GOOD, MIDDLING, BAD, LOW = (9, 9, 9, 9), (7, 6, 7, 7), (6, 6, 6, 6), (9, 9, 9, 4)


def in_turn(*rows: tuple[int, ...]) -> Script:
    """A judge that gives these scores one after another, the last ones for ever."""
    asked = count()

    def script(role: str, _body: Mapping[str, object]) -> Answer | str:
        return scores(*rows[min(next(asked), len(rows) - 1)]) if role == "judge" else "ok"

    return script


def play(tmp_path: Path, script: Script, *options: str) -> Any:
    """One scenario of one turn under a judge that gates."""
    with ScriptedServer(script) as server:
        project = Project(root=tmp_path, url=server.base_url).fill(BOT)
        return project.run("run", "--judge-gate", "always", "--format", "json", *options)


def found(done: Any) -> tuple[str, list[str]]:
    """The verdict of the scenario and the outcomes of its trials."""
    scenario = done.report["scenarios"][0]
    return scenario["verdict"], [t["outcome"] for t in scenario["trials"]]


@pytest.mark.parametrize(
    ("rows", "code", "verdict", "outcomes"),
    [
        ([GOOD], 0, "pass", ["pass"]),
        ([MIDDLING], 0, "pass", ["pass", "pass"]),
        ([BAD], 1, "fail", ["fail", "fail"]),
        ([LOW], 1, "fail", ["fail", "fail"]),
        ([LOW, GOOD], 0, "unstable", ["fail", "pass", "pass"]),
        ([BAD, (7, 7, 7, 7), (6, 6, 7, 7)], 0, "unstable", ["fail", "pass", "pass", "pass", "pass"]),
        ([BAD, GOOD], 0, "pass", ["fail", "pass"]),
    ],
)
def test_another_trial_is_played_until_it_is_clear(
    tmp_path: Path, rows: list[tuple[int, ...]], code: int, verdict: str, outcomes: list[str]
) -> None:
    """A clear pass takes one trial; one low score among good trials is unstable, shown and not blocking."""
    done = play(tmp_path, in_turn(*rows))
    assert (done.code, *found(done)) == (code, verdict, outcomes)


def test_unstable_blocks_where_that_is_asked_for_and_says_why(tmp_path: Path) -> None:
    """`--unstable fail` is for main and releases."""
    done = play(tmp_path, in_turn(LOW, GOOD), "--unstable", "fail")
    assert (done.code, found(done)[0]) == (1, "unstable")
    assert "2 of 3 trials pass, margins sum to +6.25, 1 low" in done.report["scenarios"][0]["reason"]


@pytest.mark.parametrize(
    ("options", "rows", "verdict", "trials"),
    [
        (("--repeats", "3"), [GOOD], "pass", 3),
        (("--repeats", "1"), [BAD], "fail", 1),
        (("--repeats", "2"), [LOW, GOOD], "unstable", 2),
        (("--min-trials", "2"), [GOOD], "pass", 2),
        (("--repeats", "auto"), [GOOD], "pass", 1),
    ],
)
def test_the_command_line_says_how_many(
    tmp_path: Path, options: tuple[str, ...], rows: list[tuple[int, ...]], verdict: str, trials: int
) -> None:
    """Exactly so many, or at least so many before a pass."""
    done = play(tmp_path, in_turn(*rows), *options)
    assert (found(done)[0], len(found(done)[1])) == (verdict, trials)


@pytest.mark.parametrize("written", ["0", "101", "three", "-1", "1.5"])
def test_no_number_of_repeats_is_one_line(tmp_path: Path, written: str) -> None:
    """Exit code 2, nothing spent."""
    with ScriptedServer(judge_says(9, 9, 9, 9)) as server:
        project = Project(root=tmp_path, url=server.base_url).fill(BOT)
        done = project.run("run", f"--repeats={written}")
        assert server.calls() == 0
    assert done.code == 2
    assert "expected auto or 1 to 100" in done.err


def test_settings_say_when_it_is_clear(tmp_path: Path) -> None:
    """A wider margin takes more trials of the same scores; a profile may ask for more than one."""
    with ScriptedServer(judge_says(7, 7, 7, 7)) as server:
        project = Project(root=tmp_path, url=server.base_url)
        project.fill(
            BOT,
            judge='[judge]\nconfirm = 0\ncanaries = false\n[evidence]\nmargin = "1.6"\n[profiles.main.evidence]\nmin_trials = 5\n',
        )
        found_trials = [
            len(project.run("run", "--judge-gate", "always", "--format", "json", *o).report["scenarios"][0]["trials"])
            for o in ((), ("--profile", "main"))
        ]
    assert found_trials == [4, 5]


def test_first_trials_come_before_repeats(tmp_path: Path) -> None:
    """All scenarios have one trial before any has two, so that money that runs out costs the least."""
    with ScriptedServer(judge_says(*BAD)) as server:
        project = Project(root=tmp_path, url=server.base_url).fill(BOT)
        for name in ("two", "three"):
            project.write(f"scenarios/{name}.yaml", SCENARIO.replace("hello\ntitle", f"{name}\ntitle"))
        whole = project.run("run", "--judge-gate", "always", "--format", "json", "--concurrency", "1")
        order = sorted((t["started"], s["id"], t["number"]) for s in whole.report["scenarios"] for t in s["trials"])
    assert whole.code == 1
    assert [number for _, _, number in order] == [1, 1, 1, 2, 2, 2]


def test_a_stopped_scenario_goes_on_where_it_was(tmp_path: Path) -> None:
    """What is undecided when the money is gone is not run, exit code 4; a resumed run adds what is missing."""
    with ScriptedServer(judge_says(*MIDDLING)) as server:
        project = Project(root=tmp_path, url=server.base_url).fill(BOT)
        low, high = 0, 4000
        while high - low > 1:  # the least money that plays one trial, in 1/100,000 USD
            middle = (low + high) // 2
            tried = project.run("run", "--judge-gate", "always", "--format", "json", "--budget", f"{middle / 1e5:.5f}")
            played = tried.report["scenarios"][0]["trials"][0]["outcome"] == "pass"
            low, high = (low, middle) if played else (middle, high)
        done = project.run("run", "--judge-gate", "always", "--format", "json", "--budget", f"{high / 1e5:.5f}")
        assert done.code == 4
        scenario = done.report["scenarios"][0]
        assert scenario["verdict"] == "not_run"
        again = project.run("run", "--judge-gate", "always", "--format", "json", "--resume", "--budget", "10")
    assert (again.code, again.report["scenarios"][0]["verdict"]) == (0, "pass")
    outcomes = [t["outcome"] for t in again.report["scenarios"][0]["trials"]]
    assert outcomes.count("pass") == 2

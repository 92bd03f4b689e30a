"""From files to a verdict on the real command line: what a judge's scores decide, and when."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.projects import Project, judge_says
from tests.scripted_server import ScriptedServer

BOT = 'def reply(text):\n    return "hello, what is your name?"\n'


def test_6767_passes_at_the_threshold_when_the_judge_gates(tmp_path: Path) -> None:
    """A mean of exactly 6.5 with no score under 5 passes, and the report says that the judge is vouched for."""
    with ScriptedServer(judge_says(6, 7, 6, 7)) as server:
        project = Project(root=tmp_path, url=server.base_url).fill(BOT)
        done = project.run("run", "--judge-gate", "always", "--format", "json")
    assert (done.code, done.trial()["outcome"]) == (0, "pass")
    marks = next(j["marks"] for j in done.trial()["judgements"] if j["marks"])
    assert (marks["total"], marks["count"], marks["passed"]) == (26, 4, True)
    assert "always" in done.report["header"]["trust"][0]["line"]


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_7774_fails_on_the_floor_with_a_readable_reason(tmp_path: Path, form: str) -> None:
    """A good mean does not save a score under the floor; table and markdown name criterion, turn and floor (B71)."""
    with ScriptedServer(judge_says(7, 7, 7, 4)) as server:
        project = Project(root=tmp_path, url=server.base_url).fill(BOT)
        done = project.run("run", "--judge-gate", "always", "--format", form)
    assert done.code == 1
    assert "format 4 at turn 1 is under the floor of 5" in done.out


def test_low_mean_fails_with_a_readable_reason(tmp_path: Path) -> None:
    """6/6/7/6 is under the mean, and the reason shows enough digits to see it."""
    with ScriptedServer(judge_says(6, 6, 7, 6)) as server:
        project = Project(root=tmp_path, url=server.base_url).fill(BOT)
        done = project.run("run", "--judge-gate", "always")
    assert done.code == 1
    assert "mean 6.25 is under 6.5" in done.out


def test_an_advisory_judge_shows_and_does_not_decide(tmp_path: Path) -> None:
    """The same low scores are shown, marked, and leave the exit code to the deterministic tiers."""
    with ScriptedServer(judge_says(7, 7, 7, 4)) as server:
        project = Project(root=tmp_path, url=server.base_url).fill(BOT)
        done = project.run("run")
    assert done.code == 0
    assert "is advisory" in done.out
    assert "format 4 at turn 1 is under the floor of 5" in done.out
    assert "4.0*" in done.out


def test_a_hard_finding_spends_no_judge_token(tmp_path: Path) -> None:
    """Two questions in one reply fail at once; the judge is never called."""
    with ScriptedServer(judge_says(9, 9, 9, 9)) as server:
        project = Project(root=tmp_path, url=server.base_url).fill('def reply(text):\n    return ["who?", "where?"]\n')
        done = project.run("run", "--judge-gate", "always", "--format", "json")
        calls = server.calls("judge")
    assert (done.code, calls) == (1, 0)
    assert (done.trial()["code"], done.trial()["transcript"]["ending"]) == ("one-question", "hard_finding")


def test_the_cost_of_the_table_the_store_and_the_server_agree(tmp_path: Path) -> None:
    """Every call of persona and judge is billed once, to the last digit."""
    from decimal import Decimal

    from evalrun.config import Price

    with ScriptedServer(judge_says(8, 8, 8, 8)) as server:
        project = Project(root=tmp_path, url=server.base_url).fill(BOT)
        project.write(
            "scenarios/talk.yaml",
            "title: t\ncategory: action\npersona: ana\nobjective: o\nsteps:\n  - persona: {turns: 3}\n",
        )
        done = project.run("run", "--format", "json")
        small, dear = Price(input=Decimal(1), output=Decimal(2)), Price(input=Decimal(3), output=Decimal(6))
        owed = server.cost({"persona": small, "judge": dear})
    roles = [
        Decimal(t["spending"][r]["cost"])
        for s in done.report["scenarios"]
        for t in s["trials"]
        for r in ("agent", "persona", "judge")
    ]
    assert owed > 0
    assert sum(roles) == owed
    shown = project.run("show", "last", "--format", "json")
    kept = [
        Decimal(t["spending"][r]["cost"]) for s in shown.report["scenarios"] for t in s["trials"] for r in t["spending"]
    ]
    assert sum(kept) == owed


def test_a_budget_of_zero_allows_no_paid_call(tmp_path: Path) -> None:
    """A model that costs is refused before anything is played or sent: exit code 4, and the model is named."""
    with ScriptedServer(judge_says(8, 8, 8, 8)) as server:
        project = Project(root=tmp_path, url=server.base_url).fill(BOT)
        done = project.run("run", "--budget", "0", "--format", "json")
        calls = server.calls()
    assert (done.code, calls, done.out) == (4, 0, "")
    assert "a budget of $0 allows no paid call, and compatible:judge-1 costs money" in done.err


def test_a_judge_that_fails_is_an_error_and_never_a_pass(tmp_path: Path) -> None:
    """B09: a judge whose answers mean nothing makes a gating trial an error, exit code 3."""
    with ScriptedServer(lambda role, _body: "I would say it is fine." if role == "judge" else "ok") as server:
        project = Project(root=tmp_path, url=server.base_url).fill(BOT)
        done = project.run("run", "--judge-gate", "always", "--format", "json")
    assert (done.code, done.trial()["outcome"]) == (3, "error")


def test_expected_beside_got(tmp_path: Path) -> None:
    """An unmet expectation shows what was expected, what came, and where it is written."""
    project = Project(root=tmp_path).fill(BOT, rubric="")
    project.write("scenarios/hello.yaml", SCENARIO_WITH_TEXT)
    done = project.run("run")
    assert done.code == 1
    assert "goodbye" in done.out
    assert "scenarios/hello.yaml:8" in done.out


SCENARIO_WITH_TEXT = """\
title: t
category: action
persona: ana
objective: o
steps:
  - user: hi
expect:
  text: {present: [goodbye]}
"""

"""`evalrun calibrate` on the real command line, with the shipped labels and judges whose quality is known."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.projects import CRITERIA, Project, Ran, is_canary
from tests.cases import conversation_in
from tests.scripted_server import ScriptedServer

ROOT = Path(__file__).parents[2]
BOT = "def reply(text):\n    return 'bonjour, ton prénom ?'\n"
ASKED = """\
id: hello
title: The bot greets
category: action
persona: ana
objective: Greet.
steps:
  - user: bonjour
judge: {rubric: conversation, checks: [keeps-contact]}
"""
SETS = ("conversation", "keeps-contact")


def project_of(tmp_path: Path, url: str) -> Project:
    """A project with two shipped rubrics and their labels."""
    project = Project(root=tmp_path, url=url).fill(BOT, judge="", rubric="")
    for name in SETS:
        project.write(f"rubrics/{name}.yaml", (ROOT / f"rubrics/{name}.yaml").read_text("utf-8"))
        project.write(f"rubrics/labels/{name}.jsonl", (ROOT / f"rubrics/labels/{name}.jsonl").read_text("utf-8"))
    project.write("scenarios/hello.yaml", ASKED)
    return project


class Rater:
    """A judge that knows the labels, and gives another answer than the person in so many of a hundred."""

    def __init__(self, wrong: int) -> None:
        self._rng, self._wrong = random.Random(7), wrong
        self._known = {
            name: {
                self._key(r): r
                for r in map(json.loads, (ROOT / f"rubrics/labels/{name}.jsonl").read_text("utf-8").splitlines())
            }
            for name in SETS
        }

    @staticmethod
    def _key(row: Mapping[str, Any]) -> str:
        return json.dumps([row["user"], *row["agent"]], ensure_ascii=False)

    def __call__(self, _role: str, body: Mapping[str, Any]) -> str:
        """Its answer to a judge call."""
        system, data = body["messages"][0]["content"], conversation_in(body)
        turn = json.loads("\n".join(data.split("\n")[1:-1]))[-1]
        checked = "Rule:" in system
        row = self._known["keeps-contact" if checked else "conversation"].get(self._key(turn))
        slip = self._rng.randrange(100) < self._wrong
        if checked:
            bad = bool(row and row["violated"]) is not slip
            quote = (row or {}).get("quote") or turn["agent"][0]
            return json.dumps({"applies": bad, "quote": quote, "reason": "as I see it", "shown_compliant": not bad})
        scores = dict.fromkeys(CRITERIA, 1) if is_canary(body) else row["scores"] if row else dict.fromkeys(CRITERIA, 8)
        if slip and row:
            scores = {c: 11 - v for c, v in scores.items()}
        return json.dumps({c: {"quote": "", "reason": "as I see it", "score": v} for c, v in scores.items()})


def calibrated(tmp_path: Path, script: Callable[[str, Mapping[str, Any]], str], *more: str) -> tuple[Ran, Ran, Project]:
    """A calibration, and a run after it."""
    with ScriptedServer(script) as server:
        project = project_of(tmp_path, server.base_url)
        return project.run("calibrate", *more), project.run("run", "--format", "json"), project


def test_a_judge_that_agrees_with_people_earns_its_gate(tmp_path: Path) -> None:
    """Both rates and kappa are high, they are kept beside the rubrics, and the next run gates and says with which numbers."""
    measured, run, project = calibrated(tmp_path, Rater(wrong=3))
    assert measured.code == 0, measured.err
    assert measured.out.count("has earned to gate") == len(SETS)
    assert "kept in rubrics/calibrated.json" in measured.out
    kept = json.loads((project.root / "rubrics/calibrated.json").read_text("utf-8"))
    assert [(r["rubric"], r["earned"]) for r in kept["judges"]] == [(name, True) for name in SETS]
    (trust,) = run.report["header"]["trust"]
    assert trust["gates"] is True
    assert all(word in trust["line"] for word in ("has earned it", "good turns", "bad ones", "kappa", "blocks"))
    assert run.code == 0, run.out


def test_a_judge_that_guesses_stays_advisory_with_its_figures(tmp_path: Path) -> None:
    """Wrong in every third turn is not enough; the run says what was measured."""
    measured, run, _ = calibrated(tmp_path, Rater(wrong=33))
    assert measured.code == 0
    assert measured.out.count("advisory:") == len(SETS)
    (trust,) = run.report["header"]["trust"]
    assert trust["gates"] is False
    assert "it has not earned a gate (conversation: passes" in trust["line"]


def test_a_rubric_that_changed_has_to_be_measured_anew(tmp_path: Path) -> None:
    """What was measured of the old words says nothing of the new ones."""
    with ScriptedServer(Rater(wrong=0)) as server:
        project = project_of(tmp_path, server.base_url)
        assert project.run("calibrate").code == 0
        text = (project.root / "rubrics/conversation.yaml").read_text("utf-8")
        project.write("rubrics/conversation.yaml", text.replace("warm, brief", "brief, warm"))
        (trust,) = project.run("run", "--format", "json").report["header"]["trust"]
    assert trust["gates"] is False
    assert "conversation or the judge has changed since it was; run: evalrun calibrate" in trust["line"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("conversation", "--limit", "10"), 0, "not kept: only a whole set counts"),
        (("nonsense",), 2, "there is no rubric nonsense"),
        (("--split", "half"), 2, "write all, dev, test"),
        (("--budget", "0.001"), 4, "not kept"),
    ],
)
def test_parts_mistakes_and_an_empty_purse(tmp_path: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    """A part of the labels is shown and not kept; a wrong name is a mistake of usage; money running out is exit 4."""
    measured, _, project = calibrated(tmp_path, Rater(wrong=0), *arguments)
    assert (measured.code, said in measured.out + measured.err) == (code, True), measured.out + measured.err
    assert not (project.root / "rubrics/calibrated.json").exists()


def test_a_record_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    """A damaged file never lets a judge gate, and never quietly takes its gate away."""
    with ScriptedServer(Rater(wrong=0)) as server:
        project = project_of(tmp_path, server.base_url)
        project.write("rubrics/calibrated.json", '{"version": 1, "judges": [{}]}')
        done = project.run("run")
    assert done.code == 3
    assert "calibrated.json cannot be read" in done.out + done.err


def test_a_few_labels_are_a_mixture(tmp_path: Path) -> None:
    """A limit does not take the first ones of a sorted file, which are all good."""
    measured, _, _ = calibrated(tmp_path, Rater(wrong=0), "conversation", "--limit", "20")
    passed, stopped = (
        int(line.split()[3].partition("/")[2]) for line in measured.out.splitlines() if " turns " in line
    )
    assert passed + stopped == 20
    assert min(passed, stopped) >= 5

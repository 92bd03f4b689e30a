"""A/A runs and a baseline on the real command line."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path

from tests.acceptance.projects import Project, judge_says, scores
from tests.acceptance.test_compare import project_at
from tests.acceptance.test_compare import script as steady
from tests.repositories import Repository
from tests.scripted_server import Answer, ScriptedServer


def noisy(seed: int, mean: float = 7.0, sd: float = 0.75) -> object:
    """A judge whose scores scatter around one mean."""
    rng = random.Random(seed)

    def script(role: str, _body: Mapping[str, object]) -> Answer | str:
        if role != "judge":
            return "ok"
        return scores(*(min(max(round(rng.gauss(mean, sd)), 1), 10) for _ in range(4)))

    return script


def test_aa_runs_flip_as_often_as_the_measured_noise_says(tmp_path: Path) -> None:
    """Twelve runs of six scenarios near the limit: flips are counted, explained by the noise, and named."""
    with ScriptedServer(noisy(3)) as server:  # type: ignore[arg-type]
        made = project_at(tmp_path, server.base_url)
        settings = (tmp_path / "evalrun.toml").read_text("utf-8").replace("repeats = 1\n", "")
        made.write("evalrun.toml", settings)
        done = made.run("selftest", "--aa", "12", "--judge-gate", "always", "--format", "json", seconds=120)
    assert done.code == 0, done.err
    found = done.report
    assert sum(sum(v.values()) for v in found["verdicts"].values()) == 72
    assert len(found["runs"]) == 12
    low, high = found["expected"]
    assert low <= found["flips"] <= high
    assert found["sd"] > 0.2


def test_a_steady_suite_never_flips(tmp_path: Path) -> None:
    """The same scores each time: no flip is seen and none is expected."""
    with ScriptedServer(judge_says(8, 8, 8, 8)) as server:
        made = project_at(tmp_path, server.base_url)
        done = made.run("selftest", "--aa", "3", "--judge-gate", "always")
        advisory = made.run("selftest", "one", "--aa", "2")
    assert (done.code, advisory.code) == (0, 0)
    assert "flips 0" in done.out
    assert "gate  3 green, 0 red" in done.out
    assert "no score gates" in advisory.out


def test_what_cannot_be_judged_ends_an_aa_test_with_3_and_money_with_4(tmp_path: Path) -> None:
    """And the cap holds over all runs together."""
    with ScriptedServer(lambda role, _body: "no scores" if role == "judge" else "ok") as server:
        made = project_at(tmp_path, server.base_url)
        broken = made.run("selftest", "--aa", "2", "--judge-gate", "always")
    with ScriptedServer(judge_says(8, 8, 8, 8)) as server:
        poor = project_at(tmp_path / "poor", server.base_url).run("selftest", "--aa", "5", "--budget", "0.02")
        whole = project_at(tmp_path / "rich", server.base_url).run("selftest", "--aa", "2", "--format", "json")
    assert broken.code == 3
    assert poor.code == 4
    assert whole.code == 0


def test_a_run_with_a_baseline_says_what_is_new(tmp_path: Path) -> None:
    """The newest run of a ref; a ref without one is said, a name that is none is refused before anything is played."""
    with ScriptedServer(steady) as server:
        made: Project = project_at(tmp_path, server.base_url)
        repository = Repository(root=tmp_path).begin()
        made.write(".gitignore", ".evalrun/\n__pycache__/\n")
        repository.commit()
        missing = made.run("run", "--judge-gate", "always", "--baseline", "HEAD")
        repository.branch("other")
        repository.commit("says.txt", text="how rude")
        table = made.run("run", "--judge-gate", "always", "--baseline", "main")
        data = made.run("run", "--judge-gate", "always", "--baseline", "main", "--format", "json")
        calls = server.calls()
        wrong = made.run("run", "--baseline", "nowhere")
        assert server.calls() == calls
    assert missing.code == 0
    assert "no run of HEAD is kept" in missing.err
    assert (table.code, data.code, wrong.code) == (1, 1, 2)
    assert "B is WORSE than A" in table.out
    assert "B is WORSE than A" in data.err
    assert json.loads(data.out)["scenarios"]
    assert "'nowhere'" in wrong.err

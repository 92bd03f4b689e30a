"""Run against run on the real command line: paired by scenario, honest about what cannot be compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.acceptance.projects import RUBRIC, SCENARIO, Project, scores
from tests.repositories import Repository
from tests.scripted_server import Answer, ScriptedServer

BOT = "from pathlib import Path\n\n\ndef reply(text):\n    return Path(__file__).with_name('says.txt').read_text('utf-8') + ' ' + text\n"
NAMES = ("one", "two", "three", "four", "five", "six")


def script(role: str, body: Mapping[str, object]) -> Answer | str:
    """The judge likes warm replies; a rude one loses more the later the scenario; a scenario scatters by its name."""
    shown = json.dumps(body, ensure_ascii=False)
    if role != "judge":
        return "ok"
    extra = sum(n in shown for n in ("say two", "say four"))
    if "rude" in shown:
        return scores(6, 6, 6 - extra, 4 if "say six" in shown else 6)
    return scores(8, 8, 8 + extra, 8)


def project_at(root: Path, url: str) -> Project:
    """Six scenarios of one turn, and a bot that says what a file says."""
    made = Project(root=root, url=url).fill(BOT, settings="repeats = 1\n")
    made.write("says.txt", "how nice")
    (root / "scenarios" / "hello.yaml").unlink()
    for name in NAMES:
        text = SCENARIO.replace("hello\ntitle", f"{name}\ntitle").replace("user: hello", f"user: say {name}")
        made.write(f"scenarios/{name}.yaml", text)
    return made


def test_a_worse_prompt_is_worse_with_its_interval_and_its_flips(tmp_path: Path) -> None:
    """Every form says by how much, how sure, and shows the turns that flipped side by side."""
    with ScriptedServer(script) as server:
        made = project_at(tmp_path, server.base_url)
        first = made.run("run", "--judge-gate", "always", "--format", "json")
        made.write("says.txt", "how rude")
        second = made.run("run", "--judge-gate", "always", "--format", "json")
        calls = server.calls()
        a, b = (d.report["header"]["id"] for d in (first, second))
        table = made.run("compare", a, b)
        page = made.run("compare", a, b, "--format", "markdown")
        data = made.run("compare", a, "--format", "json")
        assert server.calls() == calls
    assert (first.code, second.code, table.code, page.code, data.code) == (0, 1, 0, 0, 0)
    assert table.out.startswith("B is WORSE than A by 2.")
    assert "6 flipped" in table.out
    assert "pass -> fail" in table.out
    assert "bot: how nice say six" in table.out
    assert "bot: how rude say six" in table.out
    assert "<details><summary>" in page.out
    found = data.report
    assert (found["word"], found["sd_measured"], len(found["scenarios"])) == ("WORSE", False, 6)
    assert [d["criterion"] for d in found["differences"]] == [
        "mean",
        "character",
        "objective",
        "responsiveness",
        "format",
    ]
    low, high = found["differences"][0]["interval"]
    assert low < found["differences"][0]["difference"] < high < 0


def test_the_same_twice_is_equivalent_and_nothing_flipped(tmp_path: Path) -> None:
    """No difference, no width."""
    with ScriptedServer(script) as server:
        made = project_at(tmp_path, server.base_url)
        runs = [made.run("run", "--judge-gate", "always", "--format", "json").report["header"]["id"] for _ in range(2)]
        done = made.run("compare", *runs)
    assert done.out.startswith("B is EQUIVALENT to A")
    assert "flipped" not in done.out


def test_b73_scores_of_another_judge_or_rubric_are_never_subtracted(tmp_path: Path) -> None:
    """The judge's name, a reworded criterion, a scenario in one run only: said by name, and nothing is computed from it."""
    with ScriptedServer(script) as server:
        made = project_at(tmp_path, server.base_url)
        first = made.run("run", "--judge-gate", "always", "--format", "json").report["header"]["id"]
        made.write("rubrics/conversation.yaml", RUBRIC.replace("In character?", "Is it kind?"))
        (tmp_path / "scenarios" / "six.yaml").unlink()
        second = made.run("run", "--judge-gate", "always", "--format", "json").report["header"]["id"]
        rubric = made.run("compare", first, second)
        other = made.run("run", "--judge-gate", "always", "--format", "json", "--model", "judge=compatible:judge-2")
        judge = made.run("compare", second, other.report["header"]["id"], "--format", "json")
    assert "nothing to compare" in rubric.out
    assert "one: the judge's rubrics differs" in rubric.out
    assert "six: only in A" in rubric.out
    assert judge.report["differences"] == []
    assert "the judge model differs: compatible:judge-1 in A, compatible:judge-2 in B" in judge.report["caveats"]
    assert any("the judge's model differs" in why for a in judge.report["not_comparable"] for why in a["why"])


def test_git_refs_name_the_newest_run_of_their_commit(tmp_path: Path) -> None:
    """A branch whose commit was never run is said so; nothing is played."""
    with ScriptedServer(script) as server:
        made = project_at(tmp_path, server.base_url)
        repository = Repository(root=tmp_path).begin()
        made.write(".gitignore", ".evalrun/\n__pycache__/\n")
        repository.commit()
        made.run("run")
        repository.branch("other")
        repository.commit("says.txt", text="how rude")
        unknown = made.run("compare", "main", "other")
        made.run("run")
        known = made.run("compare", "main", "other")
        typo = made.run("compare", "mian")
    assert (unknown.code, typo.code, known.code) == (2, 2, 0)
    assert "no run of other" in unknown.err
    assert "no run and no git ref is called 'mian'" in typo.err
    assert "WORSE" in known.out


def test_noise_is_measured_from_repeats_and_needs_them(tmp_path: Path) -> None:
    """Without repeats it says how to get them; with them the sd, the margin that fits, and what is too near the limit."""
    values = {"say one": [7, 6, 7, 7, 6], "say two": [9, 8, 9, 8, 9]}
    asked = dict.fromkeys(values, 0)

    def noisy(role: str, body: Mapping[str, object]) -> Answer | str:
        shown = json.dumps(body, ensure_ascii=False)
        for name, row in values.items():
            if role == "judge" and name in shown:
                asked[name] += 1
                return scores(*[row[(asked[name] - 1) % 5]] * 4)
        return scores(8, 8, 8, 8) if role == "judge" else "ok"

    with ScriptedServer(noisy) as server:
        made = project_at(tmp_path, server.base_url)
        made.run("run", "one", "two")
        none = made.run("noise")
        made.run("run", "one", "two", "--repeats", "5")
        done = made.run("noise", "--format", "json")
        table = made.run("noise")
    assert none.code == 2
    assert "--repeats 5" in none.err
    found = done.report
    assert found["scenarios"] == 2
    assert found["freedom"] == 10
    assert found["bounded"] is True
    assert 0.4 < found["sd"] < 1.0
    assert [g["scenario"] for g in found["close"]] == ["one"]
    assert "one  margin" in table.out


@pytest.mark.parametrize("wrong", [("compare",), ("compare", "last", "--format", "xml"), ("noise", "--last", "0")])
def test_wrong_usage_is_one_line(tmp_path: Path, wrong: tuple[str, ...]) -> None:
    """Exit code 2."""
    made = project_at(tmp_path, "http://127.0.0.1:9/v1")
    done = made.run(*wrong)
    assert done.code == 2
    assert "Traceback" not in done.err

"""Selection on the real command line in real repositories: what a change selects, and that nothing is a success."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.projects import Project
from tests.repositories import Repository

BOT = "def reply(text):\n    return 'hello.'\n"
SETTINGS = """\
source = ["src/**", "my_bot.py"]
shared = ["prompts/judge.md", "fixtures/seed.sql"]
stages.quote.watch = ["prompts/quote.md"]
stages.quote.modules = ["src.quote"]
stages.order.watch = ["prompts/order.md"]
stages.order.modules = ["src.order"]
"""
SCENARIO = """\
title: {name}
category: {category}
persona: {persona}
objective: Greet.
steps: [{{user: hello}}]
expect: {{replies: {{min: 1}}}}
"""
FILES = {
    "personas/presse.yaml": "id: presse\nname: A\nbackground: b\ntraits: [c]\n",
    "personas/presse2.yaml": "id: presse2\nname: A\nbackground: b\ntraits: [c]\n",
    "src/__init__.py": "",
    "src/tools.py": "X = 1\n",
    "src/money.py": "Y = 1\n",
    "src/quote.py": "from src import tools\nfrom src.money import Y\n",
    "src/order.py": "from src import tools\n",
    "src/free.py": "Z = 1\n",
    "prompts/quote.md": "quote",
    "prompts/order.md": "order",
    "prompts/judge.md": "judge",
    "fixtures/seed.sql": "select 1",
    "README.md": "read me",
    "docs/a.md": "a",
    ".gitignore": ".evalrun/\n__pycache__/\n.cache/\nscenarios/local*\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Six scenarios and one smoke, two stages, on a branch of a repository."""
    made = Project(root=tmp_path / "project").fill(BOT, settings=SETTINGS, rubric="")
    (made.root / "scenarios/hello.yaml").unlink()
    for path, text in FILES.items():
        made.write(path, text)
    for name, stage, persona in (
        ("devis", "quote", "presse"),
        ("devis-urgent", "quote", "ana"),
        ("commande", "order", "ana"),
        ("commande-2", "order", "presse2"),
        ("pause", "", "presse"),
        ("reset", "", "ana"),
    ):
        text = SCENARIO.format(name=name, category="stage" if stage else "action", persona=persona)
        made.write(f"scenarios/{name}.yaml", text + (f"stage: {stage}\ntags: [money]\n" if stage else ""))
    made.write("scenarios/whole.yaml", SCENARIO.format(name="whole", category="smoke", persona="presse"))
    repository = Repository(root=made.root).begin()
    repository.commit()
    repository.branch("feature")
    return made


ALL = ["commande", "commande-2", "devis", "devis-urgent", "pause", "reset"]


def planned(project: Project, *options: str) -> dict[str, Any]:
    """The plan as JSON."""
    ran = project.run("plan", "--changed-since", "main", "--format", "json", *options)
    assert 0 == ran.code, ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return found


def selected(project: Project, *options: str) -> list[str]:
    """The ids that a change selects."""
    return sorted(s["id"] for s in planned(project, *options)["selected"])


@pytest.mark.parametrize(
    ("changed", "ids"),
    [
        ("personas/presse.yaml", ["devis", "pause"]),
        ("personas/presse2.yaml", ["commande-2"]),
        ("scenarios/devis.yaml", ["devis"]),
        ("scenarios/devis-urgent.yaml", ["devis-urgent"]),
        ("scenarios/whole.yaml", ["whole"]),
        ("prompts/quote.md", ["devis", "devis-urgent"]),
        ("src/money.py", ["devis", "devis-urgent", "pause", "reset"]),
        ("src/tools.py", ALL),
        ("src/quote.py", ["devis", "devis-urgent"]),
        ("src/free.py", ALL),
        ("my_bot.py", ALL),
        ("prompts/judge.md", [*ALL, "whole"]),
        ("fixtures/seed.sql", [*ALL, "whole"]),
        ("style_rules.toml", [*ALL, "whole"]),
        ("evalrun.toml", [*ALL, "whole"]),
        ("README.md", []),
        ("docs/a.md", []),
    ],
)
def test_b41_a_change_selects_what_depends_on_it(project: Project, changed: str, ids: list[str]) -> None:
    """One at a time; every scenario says why, and a changed file that selected nothing is listed."""
    file = project.root / changed
    addition = "[timeouts]\ncall = 9\n" if changed == "evalrun.toml" else ""
    project.write(changed, file.read_text("utf-8") + (addition or "\n# changed\n"))
    found = planned(project)
    assert ids == sorted(s["id"] for s in found["selected"])
    assert all(any(changed in r for r in s["reasons"]) for s in found["selected"])
    assert ([] if ids else [changed]) == found["idle"]


def test_a_comment_in_the_settings_changes_nothing(project: Project) -> None:
    """What they say is compared, not how it is written."""
    project.write("evalrun.toml", "# a comment\n" + (project.root / "evalrun.toml").read_text("utf-8"))
    assert [] == selected(project)


def test_b37_the_merge_base_is_compared_with_and_shown(project: Project) -> None:
    """What others changed on main selects nothing here."""
    repository = Repository(root=project.root)
    base = repository.git("rev-parse", "main")
    repository.git("switch", "-q", "main")
    project.write("scenarios/pause.yaml", (project.root / "scenarios/pause.yaml").read_text("utf-8") + "tags: [x]\n")
    repository.commit()
    repository.git("switch", "-q", "feature")
    project.write("scenarios/reset.yaml", (project.root / "scenarios/reset.yaml").read_text("utf-8") + "tags: [x]\n")
    found = planned(project)
    assert ["reset"] == [s["id"] for s in found["selected"]]
    assert base[:10] in found["selection"]


def test_b40_new_files_are_seen_and_ignored_ones_are_not(project: Project) -> None:
    """Also from a sub-folder."""
    text = SCENARIO.format(name="new", category="action", persona="ana")
    project.write("scenarios/new.yaml", text)
    project.write("scenarios/local1.yaml", text)
    ran = Project(root=project.root / "scenarios").run("plan", "--changed-since", "main", "--format", "json")
    assert ["new"] == [s["id"] for s in json.loads(ran.out)["selected"]]


@pytest.mark.parametrize("command", ["plan", "run"])
def test_b38_nothing_to_compare_with_is_an_error_or_all(project: Project, command: str) -> None:
    """Never an empty success; `--on-missing-base all` says that it runs everything."""
    ran = project.run(command, "--changed-since", "0" * 40)
    assert 2 == ran.code
    assert "git knows no commit" in ran.err
    ran = project.run(command, "--changed-since", "no-such", "--on-missing-base", "all", "--format", "json")
    assert 0 == ran.code
    assert 7 == len(json.loads(ran.out)["selected" if command == "plan" else "scenarios"])
    assert "everything is run" in ran.out


def test_b43_nothing_relevant_is_a_success_that_says_so(project: Project) -> None:
    """A run writes its report; an intersection that is empty is the same."""
    project.write("README.md", "changed")
    for more in ([], ["--tag", "money"]):
        ran = project.run("run", "--changed-since", "main", "-v", "--format", "json", *more)
        assert 0 == ran.code
        assert [] == ran.report["scenarios"]
        assert "nothing relevant changed" in ran.report["header"]["selection"]
        assert "changed and selected nothing: README.md" in ran.report["notices"]
    for report_format in ("table", "markdown"):
        ran = project.run("run", "--changed-since", "main", "--format", report_format)
        assert (0, True) == (ran.code, "nothing relevant changed" in ran.out), ran.out


@pytest.mark.parametrize("asked", [["--tag", "monye"], ["scenarios/xx.yaml"], ["--stage", "qoute"]])
def test_b43_a_name_without_a_match_is_an_error_beside_a_change(project: Project, asked: list[str]) -> None:
    """A typing error never ends green."""
    for command in ("plan", "run"):
        assert 2 == project.run(command, *asked, "--changed-since", "main").code


def test_a_run_plays_what_changed_and_says_why(project: Project) -> None:
    """The reasons are in the report."""
    project.write("prompts/quote.md", "changed")
    ran = project.run("run", "--changed-since", "main", "--format", "json")
    assert 0 == ran.code
    assert ["devis-urgent", "devis"] == [s["id"] for s in ran.report["scenarios"]]
    assert ["stage quote watches: prompts/quote.md"] == ran.report["scenarios"][0]["selected_because"]


def test_smoke_is_kept_and_can_be_asked_for(project: Project) -> None:
    """It is affected by its persona, but dear."""
    project.write("personas/presse.yaml", "id: presse\nname: B\nbackground: b\ntraits: [c]\n")
    assert "1 smoke kept for --category smoke or --all" in planned(project)["selection"]
    assert ["devis", "pause", "whole"] == selected(project, "--all")
    assert ["whole"] == selected(project, "--category", "smoke")
    assert ["whole"] == selected(project, "whole")


def test_without_source_any_change_but_documents_selects_all(project: Project) -> None:
    """What is not told cannot be left out; a notice says so."""
    settings = (project.root / "evalrun.toml").read_text("utf-8").replace('source = ["src/**", "my_bot.py"]\n', "")
    project.write("evalrun.toml", settings)
    Repository(root=project.root).commit()
    Repository(root=project.root).git("branch", "-f", "main")
    project.write("README.md", "changed")
    assert [] == selected(project)
    project.write("uv.lock", "changed")
    assert ALL == selected(project)
    assert "`source` is not set" in planned(project)["notices"][0]


def test_the_matrix_is_balanced_bounded_and_may_be_empty(project: Project) -> None:
    """One entry a shard, none without work."""
    matrix = json.loads(project.run("plan", "--format", "github", "--shards", "4").out)
    assert ["1/4", "2/4", "3/4", "4/4"] == [e["shard"] for e in matrix["include"]]
    assert 6 == sum(e["scenarios"] for e in matrix["include"])
    matrix = json.loads(project.run("plan", "--format", "github", "--shards", "256").out)
    assert 6 == len(matrix["include"])
    ran = project.run("plan", "--format", "github", "--changed-since", "main")
    assert (0, '{"include":[]}\n') == (ran.code, ran.out)
    assert 2 == project.run("plan", "--format", "github", "--shards", "257").code


def test_shards_merge_to_one_run(project: Project) -> None:
    """Every scenario once; the plan tells all machines the same."""
    assert 0 == project.run("plan", "--shards", "3", "--output", "plan.json").code
    for shard in ("1/3", "2/3", "3/3"):
        assert 0 == project.run("run", "--plan", "plan.json", "--shard", shard).code
    ran = project.run("merge", ".evalrun/shards", "--format", "json")
    assert 0 == ran.code, ran.err
    assert ALL == sorted(s["id"] for s in ran.report["scenarios"])
    assert {"pass"} == {s["verdict"] for s in ran.report["scenarios"]}
    assert 3 == len(ran.report["header"]["settings"]["merged"].split())
    shown = project.run("show", ran.report["header"]["id"], "--format", "json")
    assert ran.report["scenarios"] == shown.report["scenarios"]


def test_a_lost_shard_is_never_green(project: Project) -> None:
    """Gone or damaged: its scenarios are not run, exit code 3."""
    for shard in ("1/2", "2/2"):
        assert 0 == project.run("run", "--shard", shard).code
    lost = project.root / ".evalrun/shards/shard-2-of-2.json"
    data = lost.read_bytes()
    for damage in (data[:-20], None):
        if damage is None:
            lost.unlink()
        else:
            lost.write_bytes(damage)
        ran = project.run("merge", ".evalrun/shards", "--format", "json")
        assert 3 == ran.code
        gone = [s for s in ran.report["scenarios"] if s["verdict"] == "not_run"]
        assert 3 == len(gone)
        assert all("shard lost" in s["reason"] and s["trials"][0]["code"] == "shard_lost" for s in gone)
        assert any("shard 2/2 left no result" in n for n in ran.report["notices"])


def test_when_every_shard_is_lost_the_plan_knows(project: Project) -> None:
    """Without a plan there is nothing to go by, which is an error; with an empty plan, a success."""
    assert 2 == project.run("merge").code
    assert 0 == project.run("plan", "--output", "plan.json").code
    ran = project.run("merge", "--plan", "plan.json", "shards/*.json", "--format", "json")
    assert 3 == ran.code
    assert 6 == sum("shard lost" in s["reason"] for s in ran.report["scenarios"])
    assert 0 == project.run("plan", "--changed-since", "HEAD", "--output", "../empty.json").code
    ran = project.run("merge", "--plan", "../empty.json", "--format", "json")
    assert (0, []) == (ran.code, ran.report["scenarios"])


def test_shards_of_two_runs_do_not_merge(project: Project) -> None:
    """Another commit, another selection, two results of one shard."""
    for number, ids in (("1/2", []), ("2/2", ["devis", "pause"])):
        assert 0 == project.run("run", *ids, "--shard", number).code
    ran = project.run("merge", ".evalrun/shards")
    assert (2, True) == (ran.code, "the selection differs" in ran.err)
    assert 0 == project.run("run", "--shard", "1/2", "--shard-file", "again.json").code
    ran = project.run("merge", ".evalrun/shards/shard-1-of-2.json", "again.json")
    assert (2, True) == (ran.code, "two results of shard 1/2" in ran.err)


def test_more_shards_than_scenarios_is_no_fault(project: Project) -> None:
    """A shard without work leaves an empty result."""
    for number in (1, 2):
        assert 0 == project.run("run", "pause", "--shard", f"{number}/2").code
    ran = project.run("merge", ".evalrun/shards", "--format", "json")
    assert (0, ["pause"]) == (ran.code, [s["id"] for s in ran.report["scenarios"]])


def test_a_failure_in_one_shard_fails_the_whole(project: Project) -> None:
    """One exit code: 1."""
    failing = (project.root / "scenarios/pause.yaml").read_text("utf-8").replace("min: 1", "min: 2")
    project.write("scenarios/pause.yaml", failing)
    codes = sorted(project.run("run", "--shard", f"{n}/3").code for n in (1, 2, 3))
    assert [0, 0, 1] == codes
    assert 1 == project.run("merge", ".evalrun/shards").code


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1/257", "one", "1/0", "-1/2", "1"])
def test_a_shard_that_is_none_is_refused(project: Project, shard: str) -> None:
    """Before anything is run."""
    assert 2 == project.run("run", f"--shard={shard}").code


def test_a_plan_of_another_commit_is_refused(project: Project) -> None:
    """The files may be others."""
    assert 0 == project.run("plan", "--output", "plan.json").code
    Repository(root=project.root).commit("x.txt")
    ran = project.run("run", "--plan", "plan.json")
    assert (2, True) == (ran.code, "plan and run the same commit" in ran.err)
    assert 2 == project.run("run", "--plan", "README.md").code


def test_a_plan_rests_on_the_past_where_there_is_one(project: Project) -> None:
    """Under the same models only; a broken history is a notice."""
    assert "estimated from turns" in project.run("plan").out
    assert 0 == project.run("run", "pause", "reset").code
    out = project.run("plan").out
    assert "2 of 6 scenarios from 2 past trials under these models" in out
    assert "past trials" not in project.run("plan", "--model", "agent=local:other").out
    (project.root / ".evalrun/history.db").write_bytes(b"broken" * 500)
    ran = project.run("plan")
    assert (0, True) == (ran.code, "nothing rests on past trials" in ran.out)


def test_what_running_leaves_behind_is_no_change(project: Project) -> None:
    """The history, the cache and compiled modules, also where nobody ignores them."""
    (project.root / ".gitignore").unlink()
    Repository(root=project.root).commit()
    Repository(root=project.root).git("branch", "-f", "main")
    assert 0 == project.run("run", "pause").code
    found = planned(project)
    assert ([], []) == (found["selected"], found["idle"])


def test_a_shard_has_its_share_of_the_budget(project: Project) -> None:
    """All shares together never pass the whole."""
    shares = []
    for number in (1, 2, 3):
        ran = project.run("run", "--shard", f"{number}/3", "--budget", "0.10", "--format", "json")
        shares.append(float(ran.report["header"]["cap"]))
    assert 0.0999 < sum(shares) <= 0.1
    ran = project.run("merge", ".evalrun/shards", "--format", "json")
    assert sum(shares) == pytest.approx(float(ran.report["header"]["cap"]))


ODD = ("a\nb::error::forged.txt", "##[group]x", "\x1b[31mred", "tab\there", "r\udcffaw", "é 日本 😀", "-rf", " lead")


def test_odd_names_of_changed_files_do_no_harm(project: Project) -> None:
    """They are listed, in one line each, and steer neither a terminal nor a CI service."""
    for name in ODD:
        (project.root / name).write_text("x", "utf-8")
    settings = (project.root / "evalrun.toml").read_text("utf-8")
    ran = project.run("plan", "--changed-since", "main", "-v")
    assert 0 == ran.code
    listed = ran.out.split("changed and selected nothing:\n")[1].splitlines()
    assert len(ODD) == len(listed)
    assert all(line.isprintable() and not line.startswith("::") for line in listed)
    assert "##[" not in ran.out
    assert {n.replace("\udcff", r"\udcff") for n in ODD} == set(planned(project)["idle"])
    ran = project.run("run", "--changed-since", "main", "-v", "--format", "json")
    assert 0 == ran.code
    assert len(ODD) == sum("selected nothing" in n for n in ran.report["notices"])
    for report_format in ("table", "markdown"):
        ran = project.run("run", "--changed-since", "main", "-v", "--format", report_format)
        assert (0, False) == (ran.code, "\x1b" in ran.out or "##[" in ran.out or "\n::error" in ran.out)
    assert settings == (project.root / "evalrun.toml").read_text("utf-8")


def test_a_plan_needs_no_connection(project: Project) -> None:
    """Where secrets are missing, as in a pull request of a fork."""
    settings = (project.root / "evalrun.toml").read_text("utf-8")
    text = settings.replace('entry = "my_bot:reply"', 'entry = "my_bot:reply"\ndatabase = "${NO_SUCH_DSN}"')
    project.write("evalrun.toml", 'store = "${NO_SUCH_STORE}"\n' + text)
    ran = project.run("plan", "--format", "json")
    assert 0 == ran.code
    assert 6 == len(ran.report["selected"])
    assert "nothing rests on past trials" in ran.report["notices"][0]


@pytest.mark.parametrize("where", ["scenario", "stage", "shared"])
def test_a_pattern_that_would_match_nothing_is_refused(project: Project, where: str) -> None:
    """Not skipped: what it means to watch would never be played."""
    if where == "scenario":
        file = project.root / "scenarios/pause.yaml"
        project.write("scenarios/pause.yaml", file.read_text("utf-8") + 'watch: ["prompts/{a,b}.md"]\n')
    else:
        old = "prompts/quote.md" if where == "stage" else "prompts/judge.md"
        settings = (project.root / "evalrun.toml").read_text("utf-8")
        project.write("evalrun.toml", settings.replace(old, "/prompts/quote.md"))
    ran = project.run("plan", "--changed-since", "main")
    assert (2, True) == (ran.code, "is not read" in ran.err)

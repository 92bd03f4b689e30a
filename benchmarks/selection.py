"""How long `evalrun plan --changed-since` takes in a large repository, and how much memory.

10,000 scenarios, 500 personas, 40 stages with modules, 5,000 commits; a pull-request-like branch
that touches one prompt, one persona and one shared module. Cold: no file was parsed before. Warm:
the second run. Fresh: a new checkout, so the files are read again but not parsed.

Run: python -m benchmarks.selection [SCENARIOS]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measuring import Cost, measure

SCENARIOS, PERSONAS, COMMITS, STAGES = 10_000, 500, 5_000, 40
WARM_SECONDS, COLD_SECONDS, MEGABYTES = 1.5, 12.0, 500
SCENARIO = """\
title: Scenario {n} stays in character
category: stage
stage: stage-{stage}
persona: persona-{persona}
objective: Answer and go on with the profile.
given:
  now: 2026-03-02T09:00:00+01:00
  state: {{user: {{stage: profiling, number: {n}}}}}
steps:
  - user: "c'est combien ?"
  - persona: {{turns: 4}}
expect:
  tools: {{not_called: [charge_card]}}
  replies: {{min: 1, max_bubbles: 3}}
  text: {{absent: ["49 €"]}}
judge: {{rubric: conversation}}
tags: [money]
"""
PERSONA = "name: Person {n}\nbackground: A user who is number {n}.\ntraits: [brief, curious]\nfacts: {{city: Lyon}}\n"
RUBRIC = "criteria:\n  - {id: character, ask: In character?}\n  - {id: objective, ask: On the objective?}\n"
COMMAND = (sys.executable, "-m", "evalrun", "plan", "--changed-since", "main", "--format", "json")


def files(scenarios: int) -> Iterator[tuple[str, str]]:
    """All files of the project."""
    stages = "".join(
        f'stages.stage-{i}.watch = ["prompts/stage-{i}.md"]\nstages.stage-{i}.modules = ["agent.stage_{i}"]\n'
        for i in range(STAGES)
    )
    yield (
        "evalrun.toml",
        f'source = ["agent/**", "prompts/**"]\n{stages}[targets.bot]\nentry = "agent.bot:reply"\n',
    )
    yield ".gitignore", ".evalrun/\n__pycache__/\n"
    yield "agent/__init__.py", ""
    yield "agent/bot.py", "def reply(text):\n    return 'hello'\n"
    yield "rubrics/conversation.yaml", RUBRIC
    for i in range(STAGES):
        yield f"agent/stage_{i}.py", f"from agent import shared_{i // 10}\n"
        yield f"prompts/stage-{i}.md", f"You are in stage {i}.\n"
    for i in range(STAGES // 10):
        yield f"agent/shared_{i}.py", "X = 1\n"
    for i in range(PERSONAS):
        yield f"personas/persona-{i}.yaml", PERSONA.format(n=i)
    for i in range(scenarios):
        path = f"scenarios/group-{i // 100}/scenario-{i}.yaml"
        yield path, SCENARIO.format(n=i, stage=i % STAGES, persona=i % PERSONAS)


def stream(scenarios: int) -> Iterator[bytes]:
    """The repository for `git fast-import`: one large commit, then many small ones."""
    who = b"committer Bench <bench@example.org> 1700000000 +0000\n"
    yield b"commit refs/heads/main\n" + who + b"data 5\nfirst\n"
    for path, text in files(scenarios):
        yield _file(path, text)
    for i in range(COMMITS - 2):
        yield f"commit refs/heads/main\nmark :{i + 1}\n".encode() + who + b"data 4\nmore\n"
        yield _file(f"docs/page-{i % 50}.md", f"version {i}\n")
    yield b"commit refs/heads/feature\n" + who + f"data 4\nmine\nfrom :{COMMITS - 100}\n".encode()
    yield _file("prompts/stage-7.md", "You are in stage 7, and kind.\n")
    yield _file("personas/persona-11.yaml", PERSONA.format(n=1111))
    yield _file("agent/shared_2.py", "X = 2\n")
    yield _file("docs/page-1.md", "mine\n")


def _file(path: str, text: str) -> bytes:
    data = text.encode()
    return f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"


def make_repository(root: Path, scenarios: int) -> None:
    """Write the repository and check the branch out."""
    git = shutil.which("git") or "git"
    subprocess.run([git, "init", "-q", str(root)], check=True)
    with subprocess.Popen([git, "-C", str(root), "fast-import", "--quiet"], stdin=subprocess.PIPE) as importing:
        assert importing.stdin is not None
        importing.stdin.writelines(stream(scenarios))
    subprocess.run([git, "-C", str(root), "checkout", "-q", "feature"], check=True)


def shown(name: str, cost: Cost, limit: float) -> str:
    """One line of the result."""
    ok = "" if cost.own <= limit and cost.peak_mb <= MEGABYTES else "  OVER THE LIMIT"
    return (
        f"{name:<6} {cost.wall:6.2f} s wall  {cost.own:6.2f} s less wait  {cost.cpu:6.2f} s of CPU  "
        f"{cost.peak_mb:4.0f} MB  (limit {limit:g} s, {MEGABYTES} MB){ok}"
    )


def main() -> None:
    """Make the repository, plan cold, warm and in a fresh checkout; print what each took."""
    scenarios = int(sys.argv[1]) if len(sys.argv) > 1 else SCENARIOS
    environ = {"PYTHONPATH": str(Path(__file__).parents[1])}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "repository"
        make_repository(root, scenarios)
        cold = measure(COMMAND, cwd=root, environ=environ)
        assert cold.code == 0, cold.output
        count = cold.output.count('"reasons"')
        print(f"selected {count} of {scenarios}")
        print(shown("cold", cold, COLD_SECONDS))
        for _ in range(3):
            print(shown("warm", measure(COMMAND, cwd=root, environ=environ), WARM_SECONDS))
        for file in (root / "scenarios").rglob("*.yaml"):
            os.utime(file)
        print(shown("fresh", measure(COMMAND, cwd=root, environ=environ), WARM_SECONDS))


if __name__ == "__main__":
    main()

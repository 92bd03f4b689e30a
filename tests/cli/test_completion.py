"""What a shell completes: words of the project, and silence where something is broken."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.projects import Project

BOT = 'def reply(text):\n    return "hello"\n'
PROFILES = "[profiles.ci]\nconcurrency = 2\n[profiles.night]\nconcurrency = 3\n"


def project(tmp_path: Path) -> Project:
    """Two scenarios with stages and tags, two profiles."""
    made = Project(root=tmp_path).fill(BOT)
    text = (tmp_path / "scenarios" / "hello.yaml").read_text("utf-8")
    made.write("scenarios/hello.yaml", text + "tags: [money, demo]\n")
    made.write(
        "scenarios/help.yaml",
        text.replace("id: hello", "id: help").replace("category: action", "category: stage\nstage: welcome"),
    )
    settings = (tmp_path / "evalrun.toml").read_text("utf-8")
    made.write("evalrun.toml", settings + "[stages.order]\nwatch = []\n" + PROFILES)
    return made


def completed(made: Project, line: str) -> list[str]:
    """What bash is offered after a line, typed by the command's own name."""
    words = line.split(" ")
    made.environ |= {"_EVALRUN_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    code = "import sys; sys.argv[0] = 'evalrun'; from evalrun.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=made.root,
        env=made._environ(),
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert "" == done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("evalrun run he", ["hello", "help"]),
        ("evalrun run hell", ["hello"]),
        ("evalrun run hello h", ["hello", "help"]),
        ("evalrun plan h", ["hello", "help"]),
        ("evalrun show last hel", ["hello", "help"]),
        ("evalrun run --stage ", ["order", "welcome"]),
        ("evalrun run --stage we", ["welcome"]),
        ("evalrun run --tag ", ["demo", "money"]),
        ("evalrun run --profile n", ["night"]),
        ("evalrun doctor --profile ", ["ci", "night"]),
        ("evalrun run --category s", ["smoke", "stage"]),
        ("evalrun run zz", []),
    ],
)
def test_words_of_the_project_are_offered(tmp_path: Path, line: str, offered: list[str]) -> None:
    """Ids, stages (also those of the settings alone), tags, profiles and categories."""
    assert offered == sorted(completed(project(tmp_path), line))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("scenarios/broken.yaml", "title: [\n"),
        ("scenarios/broken.yaml", "\x00"),
        ("style_rules.toml", "= ="),
        ("personas/ana.yaml", "- no"),
    ],
)
def test_a_broken_file_leaves_the_rest(tmp_path: Path, path: str, text: str) -> None:
    """What can be read is offered, and nothing is written into the shell."""
    made = project(tmp_path)
    made.write(path, text)
    assert ["hello", "help"] == sorted(completed(made, "evalrun run h"))


@pytest.mark.parametrize("text", ["= =", "target = 3", "profiles = 3", "[profiles]\nci = 3"])
def test_broken_settings_offer_nothing(tmp_path: Path, text: str) -> None:
    """No traceback and no message lands in the line that is typed."""
    made = project(tmp_path)
    made.write("evalrun.toml", text)
    assert [] == completed(made, "evalrun run h")
    assert completed(made, "evalrun run --profile ") in ([], ["ci"])


def test_no_project_offers_nothing(tmp_path: Path) -> None:
    """In any other folder the shell stays silent."""
    assert [] == completed(Project(root=tmp_path), "evalrun run h")
    assert [] == completed(Project(root=tmp_path), "evalrun run --profile ")


def test_completing_loads_nothing_heavy(tmp_path: Path) -> None:
    """A key press must not wait for an SDK."""
    code = (
        "import os, sys\nfrom evalrun.cli import completion\ncompletion.scenarios(''), completion.profiles('')\n"
        "print(sorted({m.partition('.')[0] for m in sys.modules} & "
        "{'openai', 'anthropic', 'aiohttp', 'sqlalchemy', 'asyncpg', 'rich', 'asyncio'}))"
    )
    made = project(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=made.root, env=made._environ(), capture_output=True, text=True, check=True
    )
    assert "[]" == done.stdout.strip()

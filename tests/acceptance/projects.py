"""A project in a temporary folder and the command line run in it, as a user would."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalrun.judges.canaries import CANARIES
from tests.scripted_server import Answer, Script

ROOT = Path(__file__).parents[2]
PERSONA = """\
id: ana
name: Ana
background: A test user.
traits: [brief]
"""
RUBRIC = """\
id: conversation
kind: scored
criteria:
  - {id: character, ask: In character?}
  - {id: objective, ask: On the objective?}
  - {id: responsiveness, ask: Does it answer?}
  - {id: format, ask: Short and plain?}
"""
SCENARIO = """\
id: hello
title: The bot greets
category: action
persona: ana
objective: Greet.
steps:
  - user: hello
"""
RULES = """\
[[rules]]
id = "one-question"
check = "max_questions"
severity = "hard"
say = "One question."
max = 1
[[rules]]
id = "no-placeholders"
check = "placeholders"
severity = "hard"
say = "No placeholder."
"""
RAW = """\
[judge]
confirm = 0
canaries = false
"""
NOWHERE = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
"""Where a vendor's calls go unless a test says another address: nobody is there, and nobody bills."""
CRITERIA = ("character", "objective", "responsiveness", "format")


def scores(*values: int, reason: str = "as seen") -> str:
    """A judge's answer in the form the prompt asks for."""
    return json.dumps({c: {"quote": "", "reason": reason, "score": v} for c, v in zip(CRITERIA, values, strict=True)})


def is_canary(body: Mapping[str, object]) -> bool:
    """Whether a judge is shown one of the known-bad turns that evalrun hides among its calls."""
    shown = json.dumps(body, ensure_ascii=False)
    return any(c.user in shown for c in CANARIES)


def judge_says(*values: int) -> Script:
    """A script whose judge gives the same scores to all but canaries and whose persona says goodbye."""

    def script(role: str, body: Mapping[str, object]) -> Answer | str:
        if role == "judge":
            return scores(1, 1, 1, 1) if is_canary(body) else scores(*values)
        if role == "persona":
            return json.dumps({"message": "thanks, tell me more", "done": False})
        return "a reply of the agent"

    return script


@dataclass(slots=True, kw_only=True)
class Ran:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        """The JSON report, when that was asked for."""
        found: dict[str, Any] = json.loads(self.out)
        return found

    def trial(self, scenario: str = "hello") -> dict[str, Any]:
        """The last trial of a scenario in the JSON report."""
        found = next(s for s in self.report["scenarios"] if s["id"] == scenario)
        trial: dict[str, Any] = found["trials"][-1]
        return trial


@dataclass(slots=True, kw_only=True)
class Project:
    """A project of one bot. `url` is the scripted server's base URL."""

    root: Path
    url: str = "http://127.0.0.1:9/v1"
    environ: dict[str, str] = field(default_factory=dict)

    def write(self, path: str, text: str) -> None:
        """Write a file of the project."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def fill(
        self, bot: str, *, settings: str = "", judge: str = RAW, rules: str = RULES, rubric: str = RUBRIC
    ) -> Project:
        """A bot of a few lines, a persona, a rubric, style rules, and models on the scripted server.

        `judge` is the table of that name; by default no call is made beside the one a turn.
        """
        self.write("my_bot.py", bot)
        self.write("personas/ana.yaml", PERSONA)
        if rubric:
            self.write("rubrics/conversation.yaml", rubric)
        if rules:
            self.write("style_rules.toml", rules)
        self.write("scenarios/hello.yaml", SCENARIO)
        self.write(
            "evalrun.toml",
            f"""\
{settings}
{judge}
[models]
agent = "compatible:agent-1"
persona = "compatible:persona-1"
judge = "compatible:judge-1"
[providers.compatible]
base_url = "{self.url}"
[prices]
"agent-1" = {{input = 1, output = 2}}
"persona-1" = {{input = 1, output = 2}}
"judge-1" = {{input = 3, output = 6}}
[targets.bot]
entry = "my_bot:reply"
""",
        )
        return self

    def _environ(self) -> dict[str, str]:
        kept = {
            k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONDONTWRITEBYTECODE")
        }
        return {**kept, **NOWHERE, "PYTHONPATH": str(ROOT), **self.environ}

    def run(self, *arguments: str, seconds: float = 60) -> Ran:
        """Run evalrun here."""
        done = subprocess.run(
            [sys.executable, "-m", "evalrun", *arguments],
            cwd=self.root,
            env=self._environ(),
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        return Ran(code=done.returncode, out=done.stdout, err=done.stderr)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start evalrun here, to be interrupted."""
        return subprocess.Popen(
            [sys.executable, "-m", "evalrun", *arguments],
            cwd=self.root,
            env=self._environ(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            stdin=subprocess.DEVNULL,
        )


def interrupt_after(process: subprocess.Popen[str], lines: int, number: signal.Signals) -> tuple[str, str, float]:
    """Signal a run once it has printed so many finished trials; what it printed, and how long it took to end."""
    assert process.stdout is not None
    seen: list[str] = []
    while sum(line.startswith("[") for line in seen) < lines:
        line = process.stdout.readline()
        assert line, "the run ended too early: " + "".join(seen)
        seen.append(line)
    started = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    return "".join(seen) + out, err, time.monotonic() - started

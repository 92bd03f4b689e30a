"""A small whole project for tests of loading: written to a folder, one file changed at a time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evalrun.config import Settings
from evalrun.errors import FileProblems
from evalrun.loading.settings import Overrides, load_settings
from evalrun.loading.suite import load_suite, read_all
from evalrun.suite import Suite

SETTINGS = """\
target = "bot"
[targets.bot]
entry = "bot:answer"
"""
PERSONA = """\
id: lea
name: Léa
background: 31, vit à Lyon.
traits: [brève]
"""
RUBRIC = """\
id: conversation
criteria: [{id: character, ask: Does it stay in character?}]
"""
CHECK = """\
id: honest-figures
kind: check
ask: The agent never invents a figure.
"""
RULES = """\
[[rules]]
id = "one-question"
check = "max_questions"
severity = "soft"
say = "ask one question at most"
max = 1
"""
SCENARIO = """\
id: pricing
title: Pricing comes later
category: stage
stage: pricing
persona: lea
objective: Say that pricing comes later.
steps:
  - user: c'est combien ?
expect:
  text: {absent: [49 €]}
"""
FILES: Mapping[str, str] = {
    "evalrun.toml": SETTINGS,
    "personas/lea.yaml": PERSONA,
    "rubrics/conversation.yaml": RUBRIC,
    "rubrics/honest-figures.yaml": CHECK,
    "style_rules.toml": RULES,
    "scenarios/pricing.yaml": SCENARIO,
}


def write(root: Path, changed: Mapping[str, str | None] | None = None) -> Path:
    """The project in a folder, with some files changed, added or (None) left out."""
    for name, text in {**FILES, **(changed or {})}.items():
        if text is not None:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8", newline="")
    return root


def settings_of(root: Path, **overrides: object) -> Settings:
    """The settings of a project with an empty environment."""
    return load_settings(root, Overrides(**overrides), {})  # type: ignore[arg-type]


def told(root: Path, changed: Mapping[str, str | None]) -> list[str]:
    """The problems of a project with some files changed, as users see them."""
    write(root, changed)
    try:
        return [str(p) for p in sorted(read_all(settings_of(root)).problems.found, key=lambda p: p.where)]
    except FileProblems as e:
        return [str(p) for p in e.problems]


def suite_of(root: Path, changed: Mapping[str, str | None] | None = None) -> Suite:
    """The suite of a project with some files changed."""
    return load_suite(settings_of(write(root, changed)))

"""Add a scenario, a persona or a rubric to a project: a file that validates, to be filled in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalrun.config import Settings
from evalrun.errors import FileProblems, UnknownName, UsageError
from evalrun.loading.kinds import nearest
from evalrun.loading.settings import Overrides, load_settings
from evalrun.loading.suite import load_suite
from evalrun.scenario import Category
from evalrun.suite import Suite
from evalrun.use_cases.disguise import Disguise
from evalrun.use_cases.exported import Chat, read_chat
from evalrun.use_cases.scaffold import SCHEMAS, Written, modeline, write_all

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_RUBRIC = """\
kind: check
ask: Does the agent promise something that it cannot know?   # what would be a violation, as a question
critical: false
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What a new scenario is to be. `event` is needed for the category event."""

    id: str
    category: Category
    persona: str
    stage: str = ""
    title: str = ""
    event: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """An exported chat to make a scenario of; `agent` and `scenario` as in `exported.read_chat`."""

    path: Path
    agent: str = ""
    scenario: str = ""


def project(start: Path, environ: Mapping[str, str]) -> tuple[Settings, Suite]:
    """The settings and the suite around a folder. Raises UsageError and FileProblems."""
    settings = load_settings(start, Overrides(), environ, connect=False)
    return settings, load_suite(settings)


def new_scenario(settings: Settings, suite: Suite, outline: Outline) -> Written:
    """Write a scenario with one step of its category. Raises UsageError and UnknownName; nothing is overwritten."""
    _check(settings, suite, outline)
    step = f"event: {_quoted(outline.event)}" if outline.category is Category.EVENT else 'user: "hello"'
    lines = [*_head(outline), "steps:", f"  - {step}", "expect:", "  replies: {min: 1}"]
    return _written(settings, _path(settings.scenarios, outline), lines)


def scenario_from_chat(
    settings: Settings, suite: Suite, outline: Outline, source: Source
) -> tuple[Written, Mapping[str, int]]:
    """Write a scenario that replays the user's side of an exported chat, and how much of what was replaced in it.

    Names, numbers and addresses are replaced by invented ones. Tools that the agent called are
    expected again. Raises UsageError and UnknownName.
    """
    _check(settings, suite, outline)
    chat = read_chat(source.path, agent=source.agent, scenario=source.scenario)
    if not any(s.texts for s in chat.said if not s.by_agent):
        raise UsageError(f"{source.path} holds no message of the user", remedy="choose another chat, or another agent")
    disguise = Disguise(chat.names, suite.personas[outline.persona].name)
    for said in chat.said:
        for text in said.texts:
            disguise.learn(text)
    lines = [*_head(outline), "steps:", *_steps(chat, disguise), "expect:", *_expected(chat)]
    return _written(settings, _path(settings.scenarios, outline), lines), dict(disguise.replaced)


def new_persona(settings: Settings, suite: Suite, name: str, language: str) -> Written:
    """Write a persona. Raises UsageError; nothing is overwritten."""
    _check_id(name, suite.personas, "persona")
    lines = [
        f"name: {_quoted(name.partition('-')[0].capitalize())}",
        "background: Somebody who hears of the product for the first time.   # who they are, in a sentence or two",
        "traits: [friendly, short messages]",
        f"language: {_quoted(language)}",
        "facts: {}   # what they know, by name, as text",
        "goal: Find out what the product can do for them.",
        "patience: 4",
    ]
    return _written(settings, f"{settings.personas}/{name}.yaml", lines)


def new_rubric(settings: Settings, suite: Suite, name: str, *, check: bool) -> Written:
    """Write a rubric: a check, or four criteria to be scored. Raises UsageError; nothing is overwritten."""
    _check_id(name, suite.rubrics, "rubric")
    lines = _RUBRIC.splitlines() if check else _criteria()
    return _written(settings, f"{settings.rubrics}/{name}.yaml", lines)


def _criteria() -> list[str]:
    lines = ["kind: scored", "criteria:"]
    for criterion in ("character", "objective", "responsiveness", "format"):
        lines += [
            f"  - id: {criterion}",
            f"    ask: What of the {criterion} of the agent is scored here?",
            '    anchors: {"1": what a one looks like, "5": what a five looks like, "10": what a ten looks like}',
        ]
    return [*lines, 'pass: {mean: "6.5", min: 5}']


def _check(settings: Settings, suite: Suite, outline: Outline) -> None:
    _check_id(outline.id, {s.id for s in suite.scenarios}, "scenario")
    if outline.persona not in suite.personas:
        raise UnknownName(
            f"there is no persona {outline.persona!r}; {nearest(outline.persona, suite.personas)}",
            remedy="evalrun new-persona writes one",
        )
    if outline.category is Category.STAGE and not outline.stage:
        raise UsageError("a scenario of category stage needs its stage", remedy="add --stage NAME")
    if outline.stage and settings.stages and outline.stage not in settings.stages:
        raise UnknownName(
            f"there is no stage {outline.stage!r}; {nearest(outline.stage, settings.stages)}",
            remedy="stages are declared in the settings under stages",
        )
    if outline.category is Category.EVENT and not outline.event:
        raise UsageError("a scenario of category event needs the event's name", remedy="add --event NAME")


def _check_id(name: str, taken: object, kind: str) -> None:
    if not _ID.fullmatch(name):
        raise UsageError(f"{name!r} is no id", remedy="write a-z, 0-9 and -, at most 64 characters")
    if isinstance(taken, (set, Mapping)) and name in taken:
        raise UsageError(f"there is a {kind} {name!r} already", remedy="choose another id")


def _path(folder: str, outline: Outline) -> str:
    return f"{folder}/{outline.category}/{outline.id}.yaml"


def _head(outline: Outline) -> list[str]:
    title = outline.title or f"{outline.id.replace('-', ' ').capitalize()}"
    stage = [f"stage: {_quoted(outline.stage)}"] if outline.stage else []
    return [
        f"title: {_quoted(title)}",
        f"category: {outline.category}",
        *stage,
        f"persona: {outline.persona}",
        f"objective: {_quoted(title)}   # what the agent should achieve, for the judge",
    ]


def _steps(chat: Chat, disguise: Disguise) -> list[str]:
    """A step for each message of the user, with what the agent said then as a comment."""
    lines = []
    for said in chat.said:
        texts = [disguise.text(t) for t in said.texts]
        if said.by_agent:
            lines += [f"    # the agent said: {json.dumps(' / '.join(texts), ensure_ascii=False)}"] if texts else []
        else:
            lines += [f"  - user: {_quoted(t)}" for t in texts]
    return lines


def _expected(chat: Chat) -> list[str]:
    called = dict.fromkeys(name for said in chat.said for name in said.tools)
    tools = [f"  tools: {{called: [{', '.join(_quoted(n) for n in called)}]}}"] if called else []
    return [*tools, "  replies: {min: 1}"]


def _quoted(text: str) -> str:
    """The text as YAML of one line."""
    return json.dumps(text, ensure_ascii=False)


def _written(settings: Settings, path: str, lines: Sequence[str]) -> Written:
    """Write one file and read it back with the whole project. Raises UsageError and FileProblems."""
    head = modeline(path) if (settings.root / SCHEMAS).is_dir() else ""
    [written] = write_all(settings.root, {path: head + "\n".join(lines) + "\n"})
    if written.how == "kept":
        raise UsageError(f"{path} exists already; nothing was changed", remedy="choose another id")
    try:
        load_suite(settings)
    except FileProblems:
        (settings.root / path).unlink()  # it would stand in the way of every command
        raise
    return written

"""Style rules outside a run: the block for a production prompt, and the rules applied to any text or chat."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalrun.errors import UsageError
from evalrun.loading.settings import Overrides, load_settings
from evalrun.loading.suite import load_style_rules
from evalrun.style import Finding, Severity, StyleRules, block_of
from evalrun.style_checks.table import CompiledRules
from evalrun.use_cases.exported import AGENT, read_text, texts_of

_FORMS = 'write ["a reply", ["a reply of", "two bubbles"]] or [{"role": "assistant", "content": "a reply"}]'


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A finding in a file; `reply` counts from 1."""

    file: str
    reply: int
    finding: Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesReport:
    """What the rules found in how many replies."""

    replies: int
    found: tuple[Broken, ...] = ()

    @property
    def hard(self) -> int:
        """How many findings are of a hard rule."""
        return sum(b.finding.severity is Severity.HARD for b in self.found)


def rules_of(start: Path, file: Path | None, environ: Mapping[str, str]) -> StyleRules:
    """The rules of `file`, by default those of the project. Raises FileProblems and UsageError."""
    path = start / file if file else None
    if path is None:
        settings = load_settings(start, Overrides(), environ, connect=False)
        path = settings.root / settings.style_rules
    if not path.is_file():
        raise UsageError(f"there is no file of style rules at {path}", remedy="name one with --rules FILE")
    return load_style_rules(path, str(file or path.name))


def prompt(start: Path, file: Path | None, environ: Mapping[str, str]) -> str:
    """The block of sentences for a production prompt. Raises FileProblems and UsageError."""
    return block_of(rule.say for rule in rules_of(start, file, environ).rules)


def check(rules: StyleRules, files: Sequence[Path]) -> RulesReport:
    """Apply rules to files: a text is one reply, JSON a list of messages. Raises UsageError."""
    ready = CompiledRules(rules)
    found: list[Broken] = []
    count = 0
    for path in files:
        earlier: list[str] = []
        for number, bubbles in enumerate(_replies(path), 1):
            findings = ready.check(bubbles, earlier=earlier)
            found += [Broken(file=str(path), reply=number, finding=f) for f in findings]
            earlier += bubbles
            count += 1
    return RulesReport(replies=count, found=tuple(found))


def _replies(path: Path) -> list[list[str]]:
    text = read_text(path)
    replies = _chat(path, text) if path.suffix.lower() == ".json" else [[text]]
    if not any(bubble.strip() for reply in replies for bubble in reply):
        raise UsageError(f"{path} holds no message of the agent, so nothing was checked", remedy=_FORMS)
    return replies


def _chat(path: Path, text: str) -> list[list[str]]:
    try:
        messages = json.loads(text)
    except (ValueError, RecursionError) as e:
        raise UsageError(f"{path} is not JSON: {e}", remedy=_FORMS) from e
    if isinstance(messages, dict):
        messages = messages.get("messages")
    if not isinstance(messages, list):
        raise UsageError(f"{path} is no list of messages", remedy=_FORMS)
    replies: list[list[str]] = []
    speaking = False
    for number, message in enumerate(messages, 1):
        bubbles = _bubbles(message)
        if bubbles is None:
            raise UsageError(f"{path}: message {number} is not understood", remedy=_FORMS)
        by_role = isinstance(message, dict)
        if by_role and message["role"] not in AGENT:
            speaking = False
            continue
        if by_role and speaking:
            replies[-1] += bubbles  # messages of the agent in a row are the bubbles of one reply
        else:
            replies.append(bubbles)
        speaking = by_role
    return replies


def _bubbles(message: Any) -> list[str] | None:
    """The texts of one message, None when it is no message."""
    if isinstance(message, str):
        return [message]
    if isinstance(message, list):
        return message if all(isinstance(m, str) for m in message) else None
    return texts_of(message) if isinstance(message, dict) else None

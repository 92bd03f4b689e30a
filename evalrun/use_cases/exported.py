"""Chats as other systems export them: our JSON report, messages with roles, a WhatsApp text export."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalrun.errors import UsageError

AGENT = frozenset(("assistant", "agent", "bot", "ai", "model"))
OTHERS = frozenset(("user", "human", "system", "developer", "tool", "function"))
_USERS = frozenset(("user", "human"))
_FORMS = 'expected messages such as [{"role": "user", "content": "hi"}], a JSON report of evalrun, or a WhatsApp export'
# 02/03/2026, 09:15 - Léa: text   and   [02/03/2026, 09:15:22] Léa: text, in the forms of the two phone systems
_LINE = re.compile(
    r"^[\u200e\u202a]*\[?\d{1,4}[./-]\d{1,2}[./-]\d{1,4},?[ \u202f]+(?:à )?\d{1,2}[:h.]\d{2}(?::\d{2})?"
    r"(?:[ \u202f]?[aApP]\.?[mM]\.?)?\]?(?: -)? (?P<rest>.*)$"
)
_SPEAKER = re.compile(r"^(?P<who>[^:]{1,80}): (?P<text>.*)$", re.DOTALL)
_MEDIA = re.compile(r"^[\u200e\u202a]*(?:<[^>]*>|.{0,40} (?:omitted|omis|omise))$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What one side said in a row: `by_agent`, the messages, and the names of the tools the agent called."""

    by_agent: bool
    texts: tuple[str, ...]
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """An exported chat, and the names of its people where the export has them (the user first)."""

    said: tuple[Said, ...]
    names: tuple[str, ...] = ()


def read_chat(path: Path, *, agent: str = "", scenario: str = "") -> Chat:
    """Read an export. `agent` names the agent in a WhatsApp export, `scenario` picks one of a report.

    Raises UsageError when the file cannot be read or is none of the known forms.
    """
    text = read_text(path)
    if text.lstrip()[:1] not in ("[", "{") or _LINE.match(text.lstrip().splitlines()[0]):
        return _whatsapp(path, text, agent)
    value = parsed(path, text)
    if isinstance(value, Mapping) and "scenarios" in value:
        return Chat(said=tuple(_joined(_of_report(path, value, scenario))))
    messages = value.get("messages") if isinstance(value, Mapping) else value
    if not isinstance(messages, list):
        raise UsageError(f"{path} is no exported chat", remedy=_FORMS)
    return Chat(said=tuple(_joined(_of_messages(path, messages))))


def read_text(path: Path) -> str:
    """The text of a file. Raises UsageError."""
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as e:
        raise UsageError(f"{path} cannot be read: {e}", remedy="name a text or JSON file in UTF-8") from e


def parsed(path: Path, text: str) -> Any:
    """The JSON value of a text. Raises UsageError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as e:
        raise UsageError(f"{path} is not JSON: {e}", remedy=_FORMS) from e


def texts_of(message: Mapping[str, Any]) -> list[str] | None:
    """The texts of a message with a role, None when it is no message."""
    if message.get("role") not in AGENT | OTHERS:
        return None
    content = message.get("content", message.get("text"))
    if isinstance(content, list):  # parts, as vendors write them; those without text say nothing
        return [p["text"] for p in content if isinstance(p, dict) and isinstance(p.get("text"), str)]
    return [content] if isinstance(content, str) else ([] if content is None else None)


def _of_messages(path: Path, messages: Sequence[Any]) -> Iterator[Said]:
    for number, message in enumerate(messages, 1):
        texts = texts_of(message) if isinstance(message, dict) else None
        if texts is None:
            raise UsageError(f"{path}: message {number} is not understood", remedy=_FORMS)
        if message["role"] in AGENT:
            yield Said(by_agent=True, texts=tuple(t for t in texts if t.strip()), tools=tuple(_called(message)))
        elif message["role"] in _USERS:
            yield Said(by_agent=False, texts=tuple(t for t in texts if t.strip()))


def _called(message: Mapping[str, Any]) -> Iterator[str]:
    """The tools a message of the agent calls, in the wire formats of the two vendors."""
    for call in message.get("tool_calls") or ():
        name = call.get("function", {}).get("name") if isinstance(call, dict) else None
        if isinstance(name, str):
            yield name
    parts = message.get("content")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and part.get("type") == "tool_use" and isinstance(part.get("name"), str):
            yield part["name"]


def _of_report(path: Path, report: Mapping[str, Any], wanted: str) -> Iterator[Said]:
    """The turns of one scenario of a JSON report, of its last trial."""
    scenarios = {s["id"]: s for s in report["scenarios"] if isinstance(s, dict) and "id" in s}
    if not wanted and len(scenarios) == 1:
        wanted = next(iter(scenarios))
    if wanted not in scenarios:
        known = ", ".join(sorted(scenarios)) or "none"
        raise UsageError(f"{path} holds {len(scenarios)} scenarios", remedy=f"name one with --scenario: {known}")
    trials = scenarios[wanted].get("trials") or ()
    for turn in trials[-1]["transcript"]["turns"] if trials else ():
        if turn["opening"]["text"]:
            yield Said(by_agent=False, texts=(turn["opening"]["text"],))
        bubbles = tuple(b["text"] for b in turn["bubbles"] if b["text"].strip() and not b["retracted"])
        yield Said(by_agent=True, texts=bubbles, tools=tuple(c["name"] for c in turn["tools"] or ()))


def _whatsapp(path: Path, text: str, agent: str) -> Chat:
    lines: list[tuple[str, str]] = []
    for line in text.splitlines():
        begins = _LINE.match(line)
        spoken = _SPEAKER.match(begins["rest"]) if begins else None
        if spoken:
            lines.append((spoken["who"].strip("\u200e\u202a\u202c "), spoken["text"]))
        elif lines and not begins:
            lines[-1] = (lines[-1][0], f"{lines[-1][1]}\n{line}")  # a message of several lines
    names = tuple(dict.fromkeys(who for who, _ in lines))
    if not names:
        raise UsageError(f"{path} is no exported chat", remedy=_FORMS)
    if agent not in names:
        found = f"{agent!r} says nothing in {path}" if agent else f"{path} does not say who the agent is"
        raise UsageError(found, remedy=f"name the agent with --agent: {' or '.join(names)}")
    said = (Said(by_agent=who == agent, texts=(t,)) for who, t in lines if not _MEDIA.match(t))
    return Chat(said=tuple(_joined(said)), names=tuple(n for n in names if n != agent))


def _joined(said: Iterator[Said]) -> Iterator[Said]:
    """Messages of one side in a row as one."""
    last: Said | None = None
    for one in said:
        if not (one.texts or one.tools):
            continue
        if last is None or last.by_agent != one.by_agent:
            if last is not None:
                yield last
            last = one
        else:
            last = Said(by_agent=one.by_agent, texts=last.texts + one.texts, tools=last.tools + one.tools)
    if last is not None:
        yield last

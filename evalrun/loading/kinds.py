"""Kinds of single values in files: each reads a node, finds its problems, and gives its JSON Schema."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Protocol

from evalrun.clock import parse_interval
from evalrun.errors import Problem, Where
from evalrun.loading.nodes import Node, NodeKind, decimal_of, integer_of
from evalrun.loading.yaml_nodes import quoted
from evalrun.style_checks.wording import searcher

SCALARS = ("string", "number", "boolean")
UNLIMITED = 1_000_000_000
_DATE_TIME = r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?"
_ZONE = r"(?:[Zz]|[-+]\d{2}:\d{2})"
_TIME = re.compile(f"{_DATE_TIME}{_ZONE}?")


class Skip(Exception):
    """A value could not be read; its problem is in the list already."""


@dataclass(slots=True)
class Problems:
    """The problems found so far."""

    found: list[Problem] = field(default_factory=list)

    def add(self, where: Where, message: str) -> None:
        """Note one."""
        self.found.append(Problem(where=where, message=message))

    def refuse(self, node: Node, expected: str, fix: str = "") -> Skip:
        """Note that something else was expected; to be raised."""
        self.add(node.where, f"{node.describe()}, expected {expected}{f'; {fix}' if fix else ''}")
        return Skip()


def nearest(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """A hint: the nearest known name, else `otherwise`, else all known ones."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    near += [n for n in names if min(len(n), len(name)) > 2 and (n.startswith(name) or name.startswith(n))]
    if near:
        return f"did you mean `{near[0]}`?"
    return otherwise or f"known: {', '.join(names) or 'none'}"


class Kind(Protocol):
    """One kind of value."""

    def schema(self) -> dict[str, object]:
        """Its JSON Schema (2020-12)."""

    def read(self, node: Node, problems: Problems) -> object:
        """Its value. Raises Skip after noting a problem."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Text exactly as written: `no`, `08:30`, `1.10` stay what they are."""

    pattern: str = ""
    what: str = "text"
    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, object]:
        """Any scalar that is not blank: editors read `1.10` as a number where we keep the text."""
        if self.choices:
            return {"enum": list(self.choices)}
        if not self.pattern:
            return {"type": list(SCALARS), "pattern": r"\S"}
        others = [kind for kind, text in (("integer", "12"), ("boolean", "true")) if re.fullmatch(self.pattern, text)]
        return {"type": ["string", *others], "pattern": f"^(?:{self.pattern})$"}

    def read(self, node: Node, problems: Problems) -> str:
        """The source text."""
        if node.kind is not NodeKind.TEXT:
            raise problems.refuse(node, self.what, f"write {quoted(node.source)}")
        if node.typed is not None:
            raise problems.refuse(node, self.what, f"put it in quotes: {quoted(node.text)}")
        if node.null or not node.text.strip():
            raise problems.refuse(node, self.what, f"write {quoted(node.text)}" if node.text.strip() else "write one")
        if node.hash:
            # `room #2` would be cut to `room` without a word; a comment has a blank after its hash
            fix = f"write {quoted(node.commented)}, or a blank after the `#` of a comment"
            raise problems.refuse(node, f"the whole {self.what}", fix)
        if self.choices and node.text not in self.choices:
            hint = nearest(node.text, self.choices, otherwise="write one of them")
            known = hint == "write one of them" or len(self.choices) <= 6
            raise problems.refuse(node, f"one of {', '.join(self.choices)}" if known else "a known name", hint)
        if self.pattern and not re.fullmatch(self.pattern, node.text):
            raise problems.refuse(node, self.what, "correct it")
        return node.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A regular expression of Python, as text."""

    def schema(self) -> dict[str, object]:
        """Text; its dialect is Python's, so editors cannot check it."""
        return Text().schema()

    def read(self, node: Node, problems: Problems) -> str:
        """The text, once it compiles."""
        text = Text(what="a regular expression").read(node, problems)
        try:
            re.compile(text)
        except (re.error, OverflowError, RecursionError) as e:
            raise problems.refuse(node, "a regular expression", f"correct it: {e}") from e
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Words(Text):
    """Words to look for in what the agent said: plain, `prefix*` or `re:…`."""

    def read(self, node: Node, problems: Problems) -> str:
        """The text, once it can be looked for."""
        text = Text.read(self, node, problems)
        try:
            searcher(text, addresses=True)
        except ValueError as e:
            raise problems.refuse(node, "words that can be looked for", f"correct it: {e}") from e
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Integer:
    """A whole number; with `even` none that is odd."""

    least: int = 0
    most: int = 1_000_000
    even: bool = False

    def schema(self) -> dict[str, object]:
        """An integer with its bounds."""
        bounds: dict[str, object] = {"type": "integer", "minimum": self.least, "maximum": self.most}
        return bounds | ({"multipleOf": 2} if self.even else {})

    def read(self, node: Node, problems: Problems) -> int:
        """The number."""
        value = integer_of(node) if node.kind is NodeKind.TEXT else None
        if value is None or not self.least <= value <= self.most or (self.even and value % 2):
            kind = "an even" if self.even else "a whole"
            raise problems.refuse(node, f"{kind} number from {self.least} to {self.most}", "write one without quotes")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """An exact number from 0, written as a number or as text ("0.50"); money, seconds, a mean."""

    what: str = "a number from 0 such as 0.50"
    most: int = UNLIMITED

    def schema(self) -> dict[str, object]:
        """A number, or text that is one."""
        number = {"type": "number", "minimum": 0, "maximum": self.most}
        return {"anyOf": [number, {"type": "string", "pattern": r"^\s*\+?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*$"}]}

    def read(self, node: Node, problems: Problems) -> Decimal:
        """The exact number."""
        value = decimal_of(node) if node.kind is NodeKind.TEXT else None
        if value is None or value > self.most:
            limit = f", at most {self.most}" if self.most < UNLIMITED else ""
            raise problems.refuse(node, f"{self.what}{limit}", "with a point, without a sign or an exponent")
        return value


class Repeats:
    """The word `auto`, or a whole number from 1 to 100."""

    def schema(self) -> dict[str, object]:
        """The word or a number."""
        return {"anyOf": [{"const": "auto"}, {"type": "integer", "minimum": 1, "maximum": 100}]}

    def read(self, node: Node, problems: Problems) -> object:
        """The word or the number."""
        if node.kind is NodeKind.TEXT and node.text == "auto":
            return "auto"
        return Integer(least=1, most=100).read(node, problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """true or false."""

    def schema(self) -> dict[str, object]:
        """A boolean."""
        return {"type": "boolean"}

    def read(self, node: Node, problems: Problems) -> bool:
        """The boolean; `yes`, `on` and `1` are refused."""
        value = node.scalar() if node.kind is NodeKind.TEXT else None
        if not isinstance(value, bool):
            raise problems.refuse(node, "true or false", "write one without quotes")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Duration:
    """A time such as 3d, 90m or 1w2d."""

    def schema(self) -> dict[str, object]:
        """Text of numbers with units."""
        return {"type": "string", "pattern": r"^\s*(?:[0-9]+[smhdw])*0*[1-9][0-9]*[smhdw](?:[0-9]+[smhdw])*\s*$"}

    def read(self, node: Node, problems: Problems) -> timedelta:
        """The duration."""
        try:
            value = parse_interval(node.text if node.kind is NodeKind.TEXT else "")
        except ValueError:
            value = timedelta()
        if not value:
            raise problems.refuse(node, "a duration such as 3d, 90m or 1w2d", "use the units s, m, h, d and w")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A date and time with its zone, such as 2026-03-02T09:00:00+01:00."""

    def schema(self) -> dict[str, object]:
        """An RFC 3339 time; the seconds may be left out."""
        return {"type": "string", "pattern": rf"^\s*{_DATE_TIME}{_ZONE}\s*$"}

    def read(self, node: Node, problems: Problems) -> datetime:
        """The time; without a zone it is refused."""
        expected = "a time with its zone such as 2026-03-02T09:00:00+01:00"
        text = node.text.strip() if node.kind is NodeKind.TEXT else ""
        try:
            value = datetime.fromisoformat(text) if _TIME.fullmatch(text) else None
        except ValueError:
            value = None
        if value is None:
            raise problems.refuse(node, expected, "write one")
        if value.tzinfo is None:
            raise problems.refuse(node, expected, "add its zone, for example Z or +01:00")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Anything:
    """Any value, typed by YAML 1.2's rules: true, 12, 1.5, null and quoted text.

    One rule more: a number with a leading zero (a phone number) stays text.
    """

    def schema(self) -> dict[str, object]:
        """No condition."""
        return {}

    def read(self, node: Node, problems: Problems) -> object:
        """The value; a key that stands twice and a number nothing can hold are refused."""
        before = len(problems.found)
        todo = [node]
        while todo:
            current = todo.pop()
            todo += current.items
            todo += [v for _, v in unique(current, problems)]
            if current.strange_number():
                problems.refuse(
                    current, "a finite number of at most 300 digits", f"as text write {quoted(current.text)}"
                )
            if current.hash:
                fix = f"write {quoted(current.commented)}, or a blank after the `#` of a comment"
                problems.refuse(current, "the whole value", fix)
        if len(problems.found) > before:
            raise Skip
        return node.value()


def unique(node: Node, problems: Problems) -> list[tuple[Node, Node]]:
    """The pairs of a mapping; a key that is no text or stands twice is a problem naming both places."""
    seen: dict[str, Node] = {}
    pairs = []
    for key, value in node.pairs:
        if key.kind is not NodeKind.TEXT:
            problems.add(key.where, f"{key.describe()}, expected a key; write {quoted(key.source)}")
        elif key.plain and key.text in ("", "<<"):
            problems.add(key.where, f"`{key.text}` as a key is not read, expected a name; write the keys out")
        elif key.text in seen:
            first = seen[key.text].where
            place = f"line {first.line}, column {first.column}"
            problems.add(key.where, f"`{key.text}` stands twice, first at {place}; remove one")
        else:
            seen[key.text] = key
            pairs.append((key, value))
    return pairs

"""Field tables: one declaration of a file's shape that reads it, finds its problems, and gives its JSON Schema."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Protocol

from evalrun.clock import parse_interval
from evalrun.errors import Problem, Where
from evalrun.loading.nodes import Node, NodeKind, decimal_of, integer_of
from evalrun.loading.yaml_nodes import quoted

WHERE = "__where__"


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
    empty: bool = False

    def schema(self) -> dict[str, object]:
        """Any scalar: editors read `1.10` as a number where we keep the text."""
        if self.choices:
            return {"enum": list(self.choices)}
        if self.pattern:
            return {"type": ["string", "number", "boolean"], "pattern": f"^(?:{self.pattern})$"}
        return {"type": ["string", "number", "boolean"]}

    def read(self, node: Node, problems: Problems) -> str:
        """The source text."""
        if node.kind is not NodeKind.TEXT:
            raise problems.refuse(node, self.what, f"write {quoted(node.source)}")
        if node.null or (not node.text.strip() and not self.empty):
            raise problems.refuse(node, self.what, f"write {quoted(node.text)}" if node.text.strip() else "")
        if self.choices and node.text not in self.choices:
            near = difflib.get_close_matches(node.text, self.choices, n=1)
            fix = f"did you mean `{near[0]}`?" if near else ""
            raise problems.refuse(node, f"one of {', '.join(self.choices)}", fix)
        if self.pattern and not re.fullmatch(self.pattern, node.text):
            raise problems.refuse(node, self.what)
        return node.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Integer:
    """A whole number."""

    least: int = 0
    most: int = 1_000_000

    def schema(self) -> dict[str, object]:
        """An integer with its bounds."""
        return {"type": "integer", "minimum": self.least, "maximum": self.most}

    def read(self, node: Node, problems: Problems) -> int:
        """The number."""
        value = integer_of(node) if node.kind is NodeKind.TEXT else None
        if value is None or not self.least <= value <= self.most:
            raise problems.refuse(node, f"a whole number from {self.least} to {self.most}")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """An exact number from 0, written as a number or as text ("0.50"); money, seconds, a mean."""

    what: str = "a number from 0 such as 0.50"
    most: int = 1_000_000_000

    def schema(self) -> dict[str, object]:
        """A number, or text that is one."""
        number = {"type": "number", "minimum": 0, "maximum": self.most}
        return {"anyOf": [number, {"type": "string", "pattern": r"^\+?[0-9]*\.?[0-9]+$"}]}

    def read(self, node: Node, problems: Problems) -> Decimal:
        """The exact number."""
        value = decimal_of(node) if node.kind is NodeKind.TEXT else None
        if value is None or not 0 <= value <= self.most:
            raise problems.refuse(node, self.what)
        return value


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
            raise problems.refuse(node, "true or false")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Duration:
    """A time such as 3d, 90m or 1w2d."""

    def schema(self) -> dict[str, object]:
        """Text of numbers with units."""
        return {"type": "string", "pattern": r"^(?:\d+[smhdw])+$"}

    def read(self, node: Node, problems: Problems) -> timedelta:
        """The duration."""
        try:
            value = parse_interval(node.text)
        except ValueError:
            raise problems.refuse(node, "a duration such as 3d, 90m or 1w2d") from None
        if not value:
            raise problems.refuse(node, "a duration over zero")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A date and time with its zone, such as 2026-03-02T09:00:00+01:00."""

    def schema(self) -> dict[str, object]:
        """An RFC 3339 time."""
        return {"type": "string", "format": "date-time"}

    def read(self, node: Node, problems: Problems) -> datetime:
        """The time; without a zone it is refused."""
        expected = "a time with its zone such as 2026-03-02T09:00:00+01:00"
        try:
            value = node.typed if isinstance(node.typed, datetime) else datetime.fromisoformat(node.text.strip())
        except ValueError:
            raise problems.refuse(node, expected) from None
        if value.tzinfo is None:
            raise problems.refuse(node, expected, "add its zone, for example Z or +01:00")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Anything:
    """Any value, typed by YAML 1.2's rules: true, 12, 1.5, null and quoted text."""

    def schema(self) -> dict[str, object]:
        """No condition."""
        return {}

    def read(self, node: Node, problems: Problems) -> object:
        """The value; a mapping with a key twice is refused."""
        _refuse_twice(node, problems)
        return node.value()


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOf:
    """A list of one kind."""

    item: Kind
    least: int = 0

    def schema(self) -> dict[str, object]:
        """An array."""
        plain: dict[str, object] = {"type": "array", "items": self.item.schema()}
        return plain | ({"minItems": self.least} if self.least else {})

    def read(self, node: Node, problems: Problems) -> tuple[object, ...]:
        """The items that could be read; Skip when one could not."""
        if node.kind is not NodeKind.LIST:
            raise problems.refuse(node, "a list", f"write [{node.source}]" if node.kind is NodeKind.TEXT else "")
        if len(node.items) < self.least:
            raise problems.refuse(node, f"at least {self.least} item{'s' if self.least > 1 else ''}")
        values, bad = [], False
        for item in node.items:
            try:
                if isinstance(self.item, Text) and item.commented:
                    # YAML would cut the text here without a word
                    fix = f"write {quoted(item.commented)}, or put the comment on its own line"
                    raise problems.refuse(item, "a whole text", fix)
                values.append(self.item.read(item, problems))
            except Skip:
                bad = True
        if bad:
            raise Skip
        return tuple(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingOf:
    """A mapping with free keys and one kind of value."""

    value: Kind
    key: Text = field(default_factory=Text)

    def schema(self) -> dict[str, object]:
        """An object with one schema for all values."""
        plain: dict[str, object] = {"type": "object", "additionalProperties": self.value.schema()}
        return plain | ({"propertyNames": {"pattern": f"^(?:{self.key.pattern})$"}} if self.key.pattern else {})

    def read(self, node: Node, problems: Problems) -> dict[str, object]:
        """The values by key."""
        if node.kind is not NodeKind.MAPPING:
            raise problems.refuse(node, "a mapping")
        values: dict[str, object] = {}
        bad = False
        for key, value in _unique(node, problems):
            try:
                values[self.key.read(key, problems)] = self.value.read(value, problems)
            except Skip:
                bad = True
        if bad:
            raise Skip
        return values


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One key of a table."""

    name: str
    kind: Kind
    meaning: str
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A mapping with known keys. `short` reads another shape into the same table (a plain name, say)."""

    name: str
    fields: tuple[Field, ...]
    meaning: str = ""
    moved: Mapping[str, str] = field(default_factory=dict)
    short: str = ""
    rest: Kind | None = None

    def schema(self) -> dict[str, object]:
        """An object without other keys; with `short`, or text."""
        properties: dict[str, object] = {f.name: {"description": f.meaning, **f.kind.schema()} for f in self.fields}
        table: dict[str, object] = {
            "type": "object",
            "properties": properties,
            "additionalProperties": self.rest.schema() if self.rest else False,
        }
        required = [f.name for f in self.fields if f.required]
        if required:
            table["required"] = required
        return {"anyOf": [Text().schema(), table]} if self.short else table

    def read(self, node: Node, problems: Problems) -> dict[str, object]:
        """The values that were written, by key, and the table's place under `WHERE`."""
        if self.short and node.kind is NodeKind.TEXT:
            return {self.short: Text().read(node, problems), WHERE: node.where}
        if node.kind is not NodeKind.MAPPING:
            raise problems.refuse(node, f"a mapping ({self.name})")
        known = {f.name: f for f in self.fields}
        values: dict[str, object] = {WHERE: node.where}
        bad = False
        for key, value in _unique(node, problems):
            entry = known.get(key.text)
            kind = entry.kind if entry else self.rest
            if kind is None:
                self._unknown(key, problems)
                bad = True
                continue
            try:
                values[key.text] = kind.read(value, problems)
            except Skip:
                bad = True
        written = {k.text for k, _ in node.pairs}
        for missing in (f for f in self.fields if f.required and f.name not in written):
            problems.add(node.where, f"`{missing.name}` is missing in `{self.name}`; add {missing.name}: …")
            bad = True
        if bad:
            raise Skip
        return values

    def _unknown(self, key: Node, problems: Problems) -> None:
        if key.text in self.moved:
            problems.add(key.where, f"`{key.text}` does not belong in `{self.name}`; {self.moved[key.text]}")
            return
        names = [f.name for f in self.fields]
        near = difflib.get_close_matches(key.text, names, n=1, cutoff=0.5)
        hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(names)}"
        problems.add(key.where, f"unknown key `{key.text}` in `{self.name}`; {hint}")


def _unique(node: Node, problems: Problems) -> list[tuple[Node, Node]]:
    """The pairs of a mapping; a key that is no text or stands twice is a problem naming both places."""
    seen: dict[str, Node] = {}
    pairs = []
    for key, value in node.pairs:
        if key.kind is not NodeKind.TEXT:
            problems.add(key.where, f"{key.describe()}, expected a key; write {quoted(key.source)}")
        elif key.text in seen:
            first = seen[key.text].where
            problems.add(key.where, f"`{key.text}` stands twice, first at line {first.line}; remove one")
        else:
            seen[key.text] = key
            pairs.append((key, value))
    return pairs


def _refuse_twice(node: Node, problems: Problems) -> None:
    before = len(problems.found)
    todo = [node]
    while todo:
        current = todo.pop()
        todo += current.items
        todo += [v for _, v in _unique(current, problems)] if current.kind is NodeKind.MAPPING else []
    if len(problems.found) > before:
        raise Skip


def place(values: Mapping[str, object]) -> Where:
    """The place of a table that was read."""
    where = values[WHERE]
    assert isinstance(where, Where)
    return where


def listed(value: object) -> Sequence[dict[str, Any]]:
    """The tables of a list field, none when it was not written."""
    return value if isinstance(value, tuple) else ()

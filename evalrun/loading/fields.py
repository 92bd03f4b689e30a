"""Field tables: one declaration of a file's shape that reads it, finds its problems, and gives its JSON Schema."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evalrun.errors import Where
from evalrun.loading.kinds import Kind, Problems, Skip, Text, nearest, unique
from evalrun.loading.nodes import Node, NodeKind
from evalrun.loading.yaml_nodes import quoted

WHERE = "__where__"


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
        """The items; Skip when one could not be read."""
        if node.kind is not NodeKind.LIST:
            raise problems.refuse(node, "a list", f"write [{node.source}]" if node.kind is NodeKind.TEXT else "")
        if len(node.items) < self.least:
            raise problems.refuse(node, f"at least {self.least} item{'s' if self.least > 1 else ''}", "add one")
        values, bad = [], False
        for item in node.items:
            try:
                if isinstance(self.item, Text) and item.commented:
                    # YAML would cut the text here without a word
                    fix = f"write {quoted(item.commented)}, or put the comment on its own line"
                    raise problems.refuse(item, "the whole text", fix)
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
    least: int = 0

    def schema(self) -> dict[str, object]:
        """An object with one schema for all values."""
        keys = {"pattern": f"^(?:{self.key.pattern})$" if self.key.pattern else r"\S"}
        plain = {"type": "object", "additionalProperties": self.value.schema(), "propertyNames": keys}
        return plain | ({"minProperties": self.least} if self.least else {})

    def read(self, node: Node, problems: Problems) -> dict[str, object]:
        """The values by key."""
        if node.kind is not NodeKind.MAPPING:
            raise problems.refuse(node, "a mapping", "write key: value")
        if len(node.pairs) < self.least:
            raise problems.refuse(node, f"at least {self.least} key{'s' if self.least > 1 else ''}", "add one")
        values: dict[str, object] = {}
        before = len(problems.found)
        for key, value in unique(node, problems):
            try:
                values[self.key.read(key, problems)] = self.value.read(value, problems)
            except Skip:
                continue
        if len(problems.found) > before:
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
    """A mapping with known keys.

    `short` names the field that a plain text stands for. `moved` says of keys that belong elsewhere
    what to do. `least` is how many keys must be written; of `one_of` exactly one must be.
    """

    name: str
    fields: tuple[Field, ...]
    meaning: str = ""
    moved: Mapping[str, str] = field(default_factory=dict)
    short: str = ""
    least: int = 0
    one_of: tuple[str, ...] = ()

    def schema(self) -> dict[str, object]:
        """An object without other keys; with `short`, or text."""
        table: dict[str, object] = {
            "type": "object",
            "properties": {f.name: {"description": f.meaning, **f.kind.schema()} for f in self.fields},
            "additionalProperties": False,
        }
        if required := [f.name for f in self.fields if f.required]:
            table["required"] = required
        if self.least:
            table["minProperties"] = self.least
        if self.one_of:
            table["oneOf"] = [{"required": [name]} for name in self.one_of]
        return {"anyOf": [Text().schema(), table]} if self.short else table

    def read(self, node: Node, problems: Problems) -> dict[str, object]:
        """The values that were written, by key, and the table's place under `WHERE`."""
        if self.short and node.kind is NodeKind.TEXT:
            return {self.short: Text().read(node, problems), WHERE: node.where}
        if node.kind is not NodeKind.MAPPING:
            raise problems.refuse(node, f"a mapping ({self.name})", f"write {self.fields[0].name}: …")
        known = {f.name: f for f in self.fields}
        values: dict[str, object] = {WHERE: node.where}
        before = len(problems.found)
        for key, value in unique(node, problems):
            if key.text not in known:
                self._unknown(key, problems)
                continue
            try:
                values[key.text] = known[key.text].kind.read(value, problems)
            except Skip:
                continue
        self._count(node, problems)
        if len(problems.found) > before:
            raise Skip
        return values

    def _unknown(self, key: Node, problems: Problems) -> None:
        if key.text in self.moved:
            problems.add(key.where, f"`{key.text}` does not belong in `{self.name}`; {self.moved[key.text]}")
            return
        hint = nearest(key.text, (f.name for f in self.fields))
        problems.add(key.where, f"unknown key `{key.text}` in `{self.name}`; {hint}")

    def _count(self, node: Node, problems: Problems) -> None:
        """Whether enough is written, and of alternatives exactly one."""
        written = {k.text for k, _ in node.pairs}
        unknown = written - {f.name for f in self.fields}
        for missing in (f for f in self.fields if f.required and f.name not in written):
            if difflib.get_close_matches(missing.name, unknown, n=1):
                continue  # a misspelt key is told already
            problems.add(node.where, f"`{missing.name}` is missing in `{self.name}`; add {missing.name}: …")
        if unknown:
            return
        if len(node.pairs) < self.least:
            names = ", ".join(f.name for f in self.fields)
            problems.add(node.where, f"`{self.name}` is empty, expected one of {names}; add one, or remove it")
        found = [name for name in self.one_of if name in written]
        if self.one_of and len(found) != 1:
            shown = " and ".join(f"`{n}`" for n in found) or "none of them"
            names = ", ".join(self.one_of)
            problems.add(
                node.where, f"{shown} in one `{self.name}`, expected exactly one of {names}; write one in each"
            )


def place(values: Mapping[str, object]) -> Where:
    """The place of a table that was read."""
    where = values[WHERE]
    assert isinstance(where, Where)
    return where


def listed(value: object) -> Sequence[dict[str, Any]]:
    """The tables of a list field, none when it was not written."""
    return value if isinstance(value, tuple) else ()

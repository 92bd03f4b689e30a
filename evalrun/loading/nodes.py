"""A file's values with their places: what YAML and TOML readers give and field tables read.

A scalar keeps its source text; nothing is interpreted here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from evalrun.errors import Where

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_TRUE = frozenset(("true", "True", "TRUE"))
_FALSE = frozenset(("false", "False", "FALSE"))


class NodeKind(StrEnum):
    """What a node is."""

    TEXT = "text"
    LIST = "list"
    MAPPING = "mapping"


@dataclass(slots=True, kw_only=True)
class Node:
    """One value. `text` is a scalar's source text, `plain` that it was written without quotes.

    `typed` is the value of a TOML scalar that is no text. `source` is a short piece of the file,
    `commented` that a comment follows on the same line.
    """

    kind: NodeKind
    where: Where
    text: str = ""
    plain: bool = False
    typed: object = None
    source: str = ""
    commented: str = ""
    items: list[Node] = field(default_factory=list)
    pairs: list[tuple[Node, Node]] = field(default_factory=list)
    size: int = 1

    @property
    def null(self) -> bool:
        """Whether it was written as nothing."""
        return self.kind is NodeKind.TEXT and self.plain and self.typed is None and self.text in _NULLS

    def scalar(self) -> object:
        """A scalar's value by the rules of YAML 1.2's core; a number with a leading zero stays text."""
        if self.typed is not None or not self.plain:
            return self.text if self.typed is None else self.typed
        if self.text in _NULLS:
            return None
        if self.text in _TRUE or self.text in _FALSE:
            return self.text in _TRUE
        if _INTEGER.fullmatch(self.text):
            return int(self.text)
        if _FLOAT.fullmatch(self.text):
            return float(self.text)
        return self.text

    def value(self) -> object:
        """The whole value, typed by the rules of `scalar`."""
        if self.kind is NodeKind.LIST:
            return [i.value() for i in self.items]
        if self.kind is NodeKind.MAPPING:
            return {k.text: v.value() for k, v in self.pairs}
        return self.scalar()

    def describe(self) -> str:
        """What was found, for a message: `source` is a YAML list."""
        shown = f"`{self.source}`"
        if self.kind is not NodeKind.TEXT:
            return f"{shown} is a {self.kind}"
        if self.null:
            return f"{shown or 'nothing'} is empty" if self.text else "nothing"
        return shown


def integer_of(node: Node) -> int | None:
    """A whole number, or None."""
    value = node.scalar()
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def decimal_of(node: Node) -> Decimal | None:
    """An exact decimal written as a number or as text, or None."""
    text = str(node.typed) if node.typed is not None else node.text.strip()
    return Decimal(text) if _FLOAT.fullmatch(text) and not isinstance(node.typed, bool) else None


Language = Literal["YAML", "TOML"]

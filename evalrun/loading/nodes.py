"""A file's values with their places: what YAML and TOML readers give and field tables read.

A scalar keeps its source text; nothing is interpreted here.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from evalrun.errors import Where

DIGITS_AT_MOST = 300
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_OTHER_BASE = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_TRUE = frozenset(("true", "True", "TRUE"))
_FALSE = frozenset(("false", "False", "FALSE"))
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_AMOUNT = re.compile(r"\+?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
Language = Literal["YAML", "TOML"]


class NodeKind(StrEnum):
    """What a node is."""

    TEXT = "text"
    LIST = "list"
    MAPPING = "mapping"


_TOML_WORDS = {NodeKind.LIST: "array", NodeKind.MAPPING: "table"}


@dataclass(slots=True, kw_only=True)
class Node:
    """One value. `text` is a scalar's source text, `plain` that it was written without quotes.

    `typed` is the value of a TOML scalar that is no text. `source` is a short piece of the file,
    `commented` the scalar and the comment that follows it on the same line.
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
    language: Language = "YAML"

    @property
    def hash(self) -> bool:
        """Whether what YAML takes for a comment looks like the rest of the text: `room #2`."""
        _, _, comment = self.commented.partition(f"{self.text} #") if self.commented else ("", "", "")
        return bool(comment) and not comment[0].isspace() and comment[0] not in "#!-="

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
        if _INTEGER.fullmatch(self.text) and len(self.text) <= DIGITS_AT_MOST:
            return int(self.text)
        if _OTHER_BASE.fullmatch(self.text) and len(self.text) <= DIGITS_AT_MOST:
            return int(self.text, 0)
        if _FLOAT.fullmatch(self.text):
            return float(self.text)
        return self.text

    def strange_number(self) -> bool:
        """Whether a plain scalar is a number that JSON and databases do not have: infinite, none, endless."""
        if self.kind is not NodeKind.TEXT or not self.plain:
            return isinstance(self.typed, float) and not math.isfinite(self.typed)
        value = self.scalar()
        return _NOT_FINITE.fullmatch(self.text) is not None or (
            isinstance(value, float) and (not math.isfinite(value) or len(self.text) > DIGITS_AT_MOST)
        )

    def value(self) -> object:
        """The whole value, typed by the rules of `scalar`."""
        if self.kind is NodeKind.LIST:
            return [i.value() for i in self.items]
        if self.kind is NodeKind.MAPPING:
            return {k.text: v.value() for k, v in self.pairs}
        return self.scalar()

    def describe(self) -> str:
        """What was found, for a message: "`[NAME]` is a YAML list"."""
        if self.kind is not NodeKind.TEXT:
            kind = self.kind.value if self.language == "YAML" else _TOML_WORDS[self.kind]
            return f"`{self.source}` is a {self.language} {kind}"
        if self.null:
            return f"`{self.text}` is nothing in {self.language}" if self.text else "nothing"
        return f"`{self.source}`"


def integer_of(node: Node) -> int | None:
    """A whole number, or None."""
    value = node.scalar()
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def decimal_of(node: Node) -> Decimal | None:
    """An exact decimal from 0, written as a number or as text with a point; None for anything else."""
    if isinstance(node.typed, float):
        return amount_of(format(Decimal(repr(node.typed)), "f"))
    return amount_of(node.text if node.typed is None else str(node.typed))


def amount_of(text: str) -> Decimal | None:
    """An exact decimal from 0 as people write money: `0.50`, `.5`, `12`; None for signs, commas, exponents, NaN."""
    short = text.strip()
    return Decimal(short) if len(short) <= DIGITS_AT_MOST and _AMOUNT.fullmatch(short) else None

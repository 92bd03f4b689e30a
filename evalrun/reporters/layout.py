"""Lines of text with styles, laid out by the width of what a terminal really shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells
from rich.text import Text

UNLIMITED = 1_000_000
GAP = 2
LONGEST_LABEL = 16
_PIECES = re.compile(r"(?<=[-/_])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of a table."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table and how it is aligned."""

    head: str
    right: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A text behind a label; every further line of it stands behind the same bar."""

    label: str
    text: str
    label_style: str = "bold"
    style: str = ""


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most `width` cells: at newlines, at spaces, and inside words that are too long."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        lines += _wrapped_paragraph(paragraph, max(width, 1))
    return lines


def _wrapped_paragraph(text: str, width: int) -> list[str]:
    if cell_len(text) <= width:
        return [text]
    lines, line = [], ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if cell_len(joined) <= width:
            line = joined
            continue
        if line:
            lines.append(line)
        *full, line = _chopped(word, width)
        lines += full
    return [*lines, line]


def _chopped(word: str, width: int) -> list[str]:
    """A word that may be too long for a line: cut behind hyphens and slashes, else anywhere."""
    lines, line = [], ""
    for piece in _PIECES.split(word):
        if cell_len(line + piece) <= width:
            line += piece
            continue
        *full, line = [*([line] if line else []), *(chop_cells(piece, width) or [""])]
        lines += full
    return [*lines, line]


def padded(text: str, width: int, *, right: bool = False) -> str:
    """The text filled up with spaces to a width in cells."""
    fill = " " * max(width - cell_len(text), 0)
    return fill + text if right else text + fill


def widths_of(columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> list[int]:
    """The cells each column needs."""
    widths = [cell_len(c.head) for c in columns]
    for row in rows:
        widths = [max(w, cell_len(c.text)) for w, c in zip(widths, row, strict=True)]
    return widths


def total_width(widths: Sequence[int]) -> int:
    """The cells a row needs, the margin included."""
    return 1 + sum(widths) + GAP * (len(widths) - 1)


def table_line(cells: Sequence[Cell], columns: Sequence[Column], widths: Sequence[int]) -> Text:
    """One row of a table."""
    line = Text(" ")
    for i, (cell, column, width) in enumerate(zip(cells, columns, widths, strict=True)):
        line.append(" " * (GAP if i else 0))
        line.append(padded(cell.text, width, right=column.right), cell.style)
    line.rstrip()
    return line


def labelled_lines(items: Sequence[Labelled], *, indent: int, width: int, bar: str) -> list[Text]:
    """Texts behind their labels, all texts beginning in one column behind a bar.

    The bar keeps text of others from the start of a line, where a CI service reads commands.
    """
    labels = min(max((cell_len(i.label) for i in items), default=0), LONGEST_LABEL)
    room = UNLIMITED if not width else max(width - indent - labels - 3, 8)
    lines = []
    for item in items:
        label = item.label
        if cell_len(label) > labels:
            lines.append(Text(" " * indent).append(label, item.label_style))
            label = ""
        for part in wrapped(item.text, room):
            line = Text(" " * indent).append(padded(label, labels), item.label_style)
            line.append(f" {bar} ", "dim").append(part, item.style)
            line.rstrip()
            lines.append(line)
            label = ""
    return lines


def wrapped_own(text: str, *, width: int, indent: int = 0, bar: str = "", style: str = "") -> list[Text]:
    """A line of ours over as many lines as it needs; a bar stands before text that may quote others."""
    lead = " " * indent + (f"{bar} " if bar else "")
    room = UNLIMITED if not width else max(width - cell_len(lead), 8)
    return [Text().append(lead, "dim").append(part, style) for part in wrapped(text, room)]


def joined(parts: Sequence[str], sign: str, *, width: int, indent: int = 0, style: str = "") -> list[Text]:
    """Parts of ours in a row, broken between parts where the width asks for it."""
    room = UNLIMITED if not width else max(width - indent, 8)
    lines: list[str] = []
    for part in parts:
        if lines and cell_len(lines[-1] + sign + part) <= room:
            lines[-1] += sign + part
        else:
            lines += wrapped(part, room)
    return [Text(" " * indent).append(line, style) for line in lines]

"""The table of a run in a terminal: as wide as it may be, folded where it must, nothing cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rich.cells import cell_len
from rich.text import Text

from evalrun.reporters.figures import Figures, Row
from evalrun.reporters.layout import (
    GAP,
    UNLIMITED,
    Cell,
    Column,
    padded,
    table_line,
    total_width,
    widths_of,
    wrapped,
    wrapped_own,
)
from evalrun.reporters.wording import SYMBOLS, duration, word
from evalrun.verdict import Verdict

STYLES: Mapping[Verdict, str] = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.UNSTABLE: "bold yellow",
    Verdict.ERROR: "bold magenta",
    Verdict.INVALID: "bold magenta",
    Verdict.NOT_RUN: "dim",
}
SHORT_NAME = 10
NARROWEST_NAME = 16
NONE = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How much a table shows. `name` is how long names of criteria may be, 0 folds all into one column."""

    name: int
    ending: bool = True
    plays: bool = True


SHAPES = (
    Shape(name=UNLIMITED),
    Shape(name=SHORT_NAME),
    Shape(name=SHORT_NAME, ending=False),
    Shape(name=0),
    Shape(name=0, ending=False),
    Shape(name=0, ending=False, plays=False),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """How texts are made safe for the terminal: those of others, and ours with our signs."""

    text: Callable[[str], str]
    own: Callable[[str], str]


class Table:
    """The rows of a run, laid out for a width in cells (0: no limit)."""

    def __init__(self, figures: Figures, width: int, signs: Signs) -> None:
        self._figures = figures
        self._width = width or UNLIMITED
        self._signs = signs
        self._bar = signs.own("│")

    def lines(self) -> Iterator[Text]:
        """Head, rows, and the legend where one is needed."""
        for shape in SHAPES:
            columns = self._columns(shape)
            rows = [self._cells(r, shape) for r in self._figures.rows]
            widths = widths_of(columns, rows)
            spare = self._width - (total_width(widths) - widths[0])
            if total_width(widths) <= self._width or (shape is SHAPES[-1] and spare >= NARROWEST_NAME):
                widths[0] = min(widths[0], spare)
                yield from self._laid_out(columns, rows, widths)
                yield from self._legend(shape)
                return
        yield from self._stacked()

    def _columns(self, shape: Shape) -> list[Column]:
        criteria = self._figures.criteria
        columns = [Column(head="scenario"), Column(head="verdict")]
        columns += [Column(head="plays", right=True)] if shape.plays else []
        if criteria and shape.name:
            columns += [Column(head=n, right=True) for n in self._names(shape.name)]
        elif criteria:
            columns += [Column(head="scores")]
        columns += [Column(head="mean", right=True)] if criteria else []
        columns += [Column(head="ending")] if shape.ending else []
        return [*columns, Column(head="cost", right=True), Column(head="time", right=True)]

    def _names(self, longest: int) -> list[str]:
        names = [self._signs.text(c) for c in self._figures.criteria]
        short = [n[:longest] for n in names]
        return short if len(set(short)) == len(short) else names

    def _cells(self, row: Row, shape: Shape) -> list[Cell]:
        verdict = row.scenario.verdict
        style = STYLES[verdict]
        cells = [Cell(text=self._name(row)), Cell(text=self._verdict(verdict), style=style)]
        cells += [Cell(text=row.plays)] if shape.plays else []
        if self._figures.criteria:
            dim = "dim" if row.advisory else ""
            cells += [self._score(row, c) for c in self._figures.criteria] if shape.name else [self._folded(row)]
            star = "*" if row.advisory else ""
            cells.append(Cell(text=f"{row.mean_text}{star}" if row.mean is not None else self._none(row), style=dim))
        cells += [Cell(text=row.ending, style="dim")] if shape.ending else []
        return [*cells, Cell(text=row.cost), Cell(text=duration(row.seconds))]

    def _name(self, row: Row) -> str:
        return self._signs.text(row.scenario.id).replace("\n", " ")

    def _verdict(self, verdict: Verdict) -> str:
        return self._signs.own(f"{SYMBOLS[verdict]} {word(verdict)}")

    def _score(self, row: Row, criterion: str) -> Cell:
        value = row.averages.get(criterion)
        if value is None:
            return Cell(text=self._none(row), style="dim")
        low = criterion in row.low and not row.advisory
        star = "*" if row.advisory else ""
        return Cell(text=f"{float(value):.1f}{star}", style="bold red" if low else "dim" if row.advisory else "")

    def _none(self, row: Row) -> str:
        """In place of a score that is missing; a row that could have none stays empty."""
        return self._signs.own(NONE) if row.mean is not None or row.scenario.verdict is Verdict.PASS else ""

    def _folded(self, row: Row) -> Cell:
        values = [row.averages.get(c) for c in self._figures.criteria]
        text = " ".join(self._none(row) if v is None else _whole(v) for v in values).strip()
        return Cell(text=f"{text}{'*' if row.advisory else ''}", style="dim" if row.advisory else "")

    def _laid_out(
        self, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], widths: Sequence[int]
    ) -> Iterator[Text]:
        head = table_line([Cell(text=c.head) for c in columns], columns, widths)
        head.stylize("dim")
        yield head
        for row, cells in zip(self._figures.rows, rows, strict=True):
            name, *more = wrapped(cells[0].text, widths[0])
            full = [Cell(text=name, style=cells[0].style), *cells[1:]]
            spanned = self._spanned(row, full, columns, widths)
            yield spanned or table_line(full, columns, widths)
            for part in more:
                yield Text(f" {part}")
            yield from self._reasons(row, said=spanned is not None)

    def _spanned(
        self, row: Row, cells: Sequence[Cell], columns: Sequence[Column], widths: Sequence[int]
    ) -> Text | None:
        """The row with its reason in place of scores it has not, when it fits there."""
        reason = self._reason(row)
        heads = [c.head for c in columns]
        first = heads.index("plays") + 1 if "plays" in heads else 2
        last = len(columns) - 2
        room = sum(widths[first:last]) + GAP * (last - first - 1)
        if row.mean is not None or not reason or cell_len(reason) > room:
            return None
        span = Cell(text=padded(reason, room))
        joined = [*cells[:first], span, *cells[last:]]
        return table_line(
            joined, [*columns[:first], Column(head=""), *columns[last:]], [*widths[:first], room, *widths[last:]]
        )

    def _reason(self, row: Row) -> str:
        return self._signs.text(row.reason).replace("\n", " ")

    def _reasons(self, row: Row, *, said: bool, indent: int = 4) -> Iterator[Text]:
        """Why, on lines of their own: what decided, and what an advisory judge would have said."""
        width = 0 if self._width == UNLIMITED else self._width
        reason = self._reason(row)
        if reason and not said:
            yield from wrapped_own(reason, width=width, indent=indent, bar=self._bar)
        if row.advice:
            advice = self._signs.text(f"* {row.advice}").replace("\n", " ")
            yield from wrapped_own(advice, width=width, indent=indent, bar=self._bar, style="dim")

    def _legend(self, shape: Shape) -> Iterator[Text]:
        if self._figures.criteria and not shape.name:
            names = ", ".join(self._figures.criteria)
            for line in wrapped_own(f"scores: {self._signs.text(names)}", width=self._width, indent=1):
                line.stylize("dim")
                yield line

    def _stacked(self) -> Iterator[Text]:
        """For the narrowest terminals: a few lines for each scenario."""
        for row in self._figures.rows:
            verdict = row.scenario.verdict
            for part in wrapped(f"{self._verdict(verdict)} {self._name(row)}", self._width):
                yield Text(part, STYLES[verdict])
            parts = [f"{row.plays} passed"]
            if row.mean is not None:
                parts += [self._folded(row).text, f"mean {row.mean_text}"]
            parts += [f"${row.cost}", duration(row.seconds)]
            yield from wrapped_own(self._signs.own(" · ".join(parts)), width=self._width, indent=4, style="dim")
            yield from self._reasons(row, said=False)
        yield from self._legend(SHAPES[-1])


def _whole(value: Fraction) -> str:
    """A score as a whole number, half rounded down: it must not look better than it is."""
    return str(-((1 - 2 * value) // 2))

"""A comparison of two runs for people: what differs and how sure that is, what flipped with its turns side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.cells import cell_len

from evalrun.comparison import MEAN, Comparison, Difference, Pair
from evalrun.interfaces.reports import ReportOptions, TextSink
from evalrun.reporters.figures import Figures, Row, figures_of, usd
from evalrun.reporters.layout import padded, wrapped
from evalrun.reporters.markdown_text import fitting, inert, one_line
from evalrun.reporters.markdown_text import table as markdown_table
from evalrun.reporters.troubles import Said, said_in, trouble_of
from evalrun.reporters.visible import own, visible
from evalrun.reporters.wording import SHORT_COMMIT, SYMBOLS, short_id, word
from evalrun.results import RunHeader

NARROW, WIDE = 80, 160
FALLS_SHOWN = 10
LEFT_OUT = "More was left out for length."


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A scenario with another verdict, and the turns that show it: of A, and of B."""

    pair: Pair
    turns: tuple[tuple[int, tuple[Said, ...], tuple[Said, ...]], ...]


def flips_of(comparison: Comparison) -> Iterator[Flip]:
    """All that flipped. The turns are those that trouble the side that did not pass."""
    figures = figures_of(comparison.a), figures_of(comparison.b)
    for pair in comparison.flips:
        rows = [_row(f, pair.id) for f in figures]
        agent = comparison.b.header.target
        numbers: dict[int, None] = {}
        for row in rows:
            trouble = trouble_of(row, agent) if row is not None else None
            numbers |= dict.fromkeys(trouble.turns if trouble else ())
        turns = tuple((n, _said(rows[0], n, agent), _said(rows[1], n, agent)) for n in sorted(numbers))
        yield Flip(pair=pair, turns=turns)


def _row(figures: Figures, scenario: str) -> Row | None:
    return next((r for r in figures.rows if r.scenario.id == scenario), None)


def _said(row: Row | None, number: int, agent: str) -> tuple[Said, ...]:
    trial = row.decisive if row is not None else None
    if trial is None:
        return ()
    return tuple(s for t in trial.transcript.turns if t.number == number for s in said_in(t, trial.transcript, agent))


def headline(comparison: Comparison) -> str:
    """`B is WORSE than A by 0.42 (95 % -0.71 to -0.13, 35 scenarios)`."""
    found = next((d for d in comparison.differences if d.criterion == MEAN), None)
    if found is None:
        return "nothing to compare: no scenario has scores under one ruler in both runs"
    said = {"BETTER": "BETTER than A", "WORSE": "WORSE than A", "EQUIVALENT": "EQUIVALENT to A"}
    than = said.get(found.word.value, "INCONCLUSIVE against A")
    size = f"by {abs(found.difference):.2f} " if found.word.value in ("BETTER", "WORSE") else ""
    return f"B is {than} {size}({_interval(found)}, {found.scenarios} scenarios)"


def _interval(found: Difference) -> str:
    if found.interval is None:
        return "one scenario has no interval"
    low, high = found.interval
    return f"95 % {low:+.2f} to {high:+.2f}"


def _cells(found: Difference) -> list[str]:
    """One line of the table."""
    low, high = found.interval or (None, None)
    return [
        found.criterion,
        f"{found.a:.2f}",
        f"{found.b:.2f}",
        f"{found.difference:+.2f}",
        "–" if low is None or high is None else f"{low:+.2f} to {high:+.2f}",
        "–" if found.p_value is None else f"{found.p_value:.3f}",
        f"{found.detectable:.2f}",
        found.word.value,
    ]


HEAD = ["criterion", "A", "B", "B - A", "95 %", "p", "detectable", ""]


def run_line(name: str, header: RunHeader) -> str:
    """`A  7f3a · agent openai:… · commit 3f2c1ab · 35 scenarios`."""
    parts = [f"{name}  {short_id(header.id)}", f"agent {header.models.get('agent', '?')}"]
    if header.commit:
        parts.append(f"commit {header.commit[:SHORT_COMMIT]}")
    parts.append(f"{header.selected} scenarios")
    return " · ".join(parts)


def remarks(comparison: Comparison) -> Iterator[str]:
    """What a reader must know: the noise it rests on, length, cost, caveats."""
    how = "measured from repeats" if comparison.measured else "assumed, nothing was repeated"
    yield f"sd of a trial's mean {comparison.sd:.2f} ({how}), {comparison.trials:.1f} trials a scenario"
    for found in comparison.differences:
        if found.at_equal_length is not None:
            middle, (low, high) = found.at_equal_length
            yield f"at equal length of replies {middle:+.2f} (95 % {low:+.2f} to {high:+.2f})"
    costs = [usd(r.spending.cost) for r in (comparison.a, comparison.b)]
    yield f"cost A {costs[0]}, B {costs[1]}"
    yield from (f"note: {c}" for c in comparison.caveats)


def single(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Scenarios that differ by themselves: (id, what is said of it)."""
    for pair in sorted(comparison.pairs, key=lambda p: p.differences.get(MEAN, 0.0)):
        if pair.listed and pair.holm is not None:
            sure = "sure" if pair.holm <= 0.05 else "may be luck: one in ten of this list is"
            yield pair.id, f"{pair.differences[MEAN]:+.2f} ({sure})"


class Table:
    """For a terminal or a log (see `interfaces.reports.ReportOptions`)."""

    def __init__(self, out: TextSink, options: ReportOptions) -> None:
        self._out = out
        self._width = options.width or WIDE
        self._encoding = options.encoding

    def show(self, comparison: Comparison) -> None:
        """Write all of it."""
        for line in self._lines(comparison):
            self._out.write(own(line, self._encoding).rstrip() + "\n")
        self._out.flush()

    def _lines(self, of: Comparison) -> Iterator[str]:
        yield from wrapped(headline(of), self._width)
        yield from wrapped(run_line("A", of.a.header), self._width)
        yield from wrapped(run_line("B", of.b.header), self._width)
        if of.differences:
            yield ""
            yield from self._table(of.differences)
        yield ""
        for line in remarks(of):
            yield from wrapped(line, self._width)
        flips = list(flips_of(of))
        if flips:
            yield ""
            yield f"{len(flips)} flipped"
        for flip in flips:
            yield from self._flip(flip)
        differing = list(single(of))[:FALLS_SHOWN]
        if differing:
            yield ""
            yield "scenarios that differ by themselves"
            yield from (f"  {name}  {said}" for name, said in differing)
        if of.apart:
            yield ""
            yield f"{len(of.apart)} not comparable"
            yield from (f"  {a.id}: {'; '.join(a.why)}" for a in of.apart)

    def _table(self, found: Sequence[Difference]) -> Iterator[str]:
        rows = [HEAD, *map(_cells, found)]
        if self._width < NARROW:
            rows = [[r[0], r[3], r[4], r[7]] for r in rows]
        widths = [max(cell_len(r[i]) for r in rows) for i in range(len(rows[0]))]
        last = len(widths) - 1
        for row in rows:
            yield " " + "  ".join(
                padded(c, w, right=i not in (0, last)) for i, (c, w) in enumerate(zip(row, widths, strict=True))
            )

    def _flip(self, flip: Flip) -> Iterator[str]:
        a, b = flip.pair.a, flip.pair.b
        yield ""
        yield f"{SYMBOLS[b.verdict]} {flip.pair.id}  {word(a.verdict)} -> {word(b.verdict)}"
        why = b.reason if b.verdict.value != "pass" else a.reason
        yield from (f"    {line}" for line in wrapped(visible(why, self._encoding), self._width - 4))
        room = max((self._width - 7) // 2, 12)
        for number, one, other in flip.turns:
            yield f"  turn {number}: A, then B"
            left, right = ([line for s in side for line in self._text(s, room)] for side in (one, other))
            for x, y in zip_longest(left, right, fillvalue=""):
                yield f"  │ {padded(x, room)} │ {y}"

    def _text(self, said: Said, room: int) -> list[str]:
        return wrapped(visible(f"{said.who}: {said.text}", self._encoding), room)


class Markdown:
    """For a pull request: safe whatever an agent wrote."""

    def __init__(self, out: TextSink, options: ReportOptions) -> None:
        self._out = out
        self._limit = options.limit_bytes

    def show(self, comparison: Comparison) -> None:
        """Write all of it, whole blocks up to the limit."""
        self._out.write(fitting(list(self._blocks(comparison)), self._limit, LEFT_OUT))
        self._out.flush()

    def _blocks(self, of: Comparison) -> Iterator[str]:
        yield f"## {one_line(headline(of))}"
        yield f"<sub>{inert(run_line('A', of.a.header))}<br>{inert(run_line('B', of.b.header))}</sub>"
        if of.differences:
            rows = [[inert(d.criterion), *_cells(d)[1:]] for d in of.differences]
            yield markdown_table([*HEAD[:-1], "verdict"], rows, right=range(1, 7))
        yield "\n".join(f"- {inert(line)}" for line in remarks(of))
        for flip in flips_of(of):
            yield self._flip(flip)
        differing = list(single(of))[:FALLS_SHOWN]
        if differing:
            yield "**Scenarios that differ by themselves**\n\n" + "\n".join(
                f"- {inert(name)} {inert(said)}" for name, said in differing
            )
        if of.apart:
            yield "**Not comparable**\n\n" + "\n".join(f"- {inert(a.id)}: {inert('; '.join(a.why))}" for a in of.apart)

    def _flip(self, flip: Flip) -> str:
        a, b = flip.pair.a, flip.pair.b
        why = b.reason if b.verdict.value != "pass" else a.reason
        head = f"{SYMBOLS[b.verdict]} {inert(flip.pair.id)}: {word(a.verdict)} → {word(b.verdict)}"
        rows = [
            [str(number), *("<br>".join(inert(f"{s.who}: {s.text}") for s in side) for side in (one, other))]
            for number, one, other in flip.turns
        ]
        turns = "\n\n" + markdown_table(["turn", "A", "B"], rows) if rows else ""
        return f"<details><summary>{head}</summary>\n\n{inert(why)}{turns}\n\n</details>"

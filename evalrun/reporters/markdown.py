"""A run as Markdown for pull requests and step summaries: the verdict first, then what failed, turn by turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from evalrun.interfaces.reports import Progress, ReportOptions, TextSink
from evalrun.reporters.figures import Figures, Row, figures_of
from evalrun.reporters.markdown_text import fitting, inert, one_line, preformatted, table
from evalrun.reporters.troubles import Trouble, Voice, remarks_of, said_in, trouble_of
from evalrun.reporters.wording import (
    SYMBOLS,
    cost_line,
    duration,
    exit_line,
    missing_line,
    models_line,
    selection_line,
    short_id,
    shortened,
    trust_lines,
    word,
)
from evalrun.results import RunHeader, RunResult, TrialResult
from evalrun.verdict import Verdict

LONGEST_QUOTE = 4000
OPEN_AT_FIRST = 5
LONGEST_HEAD = 5
ADVISORY_NOTE = "* shown, does not decide"
_WORST_FIRST = (Verdict.FAIL, Verdict.UNSTABLE, Verdict.ERROR, Verdict.INVALID, Verdict.NOT_RUN, Verdict.PASS)


class Markdown:
    """The reporter `markdown` (see `interfaces.reports.Reporter`): all is written at the end."""

    def __init__(self, out: TextSink, options: ReportOptions) -> None:
        self._out = out
        self._options = options

    def started(self, header: RunHeader) -> None:
        """Nothing yet."""

    def progress(self, progress: Progress) -> None:
        """Nothing yet."""

    def trial(self, result: TrialResult) -> None:
        """Nothing yet."""

    def notice(self, line: str) -> None:
        """Nothing yet: notices are in the run."""

    def finished(self, run: RunResult) -> None:
        """The whole report."""
        figures = figures_of(run)
        note = f"*The rest was left out for its size:* `evalrun show {short_id(run.header.id)}`"
        blocks = [*self._top(run, figures), *self._bodies(run, figures), *_bottom(run, figures)]
        # what must be there whatever the limit: the verdict and the table
        head = "\n\n".join(blocks[:3])
        text = fitting([head, *blocks[3:]], self._options.limit_bytes, note)
        self._out.write(text.encode(self._options.encoding, "xmlcharrefreplace").decode(self._options.encoding))
        self._out.flush()

    def close(self) -> None:
        """Nothing is held."""

    def _top(self, run: RunResult, figures: Figures) -> tuple[str, str, str]:
        header = run.header
        parts = [selection_line(header), models_line(header), *trust_lines(header)]
        about = f"<sub>{' · '.join(one_line(p) for p in parts)}</sub>"
        return f"## {headline(run, figures)}", about, _table(figures)

    def _bodies(self, run: RunResult, figures: Figures) -> Iterator[str]:
        agent = run.header.target
        opened = 0
        for row in sorted(figures.rows, key=lambda r: _WORST_FIRST.index(r.scenario.verdict)):
            if self._options.detail and self._options.scenario in ("", row.scenario.id):
                yield "\n\n".join(part for part in _every_turn(row, agent) if part)
                continue
            trouble = trouble_of(row, agent)
            if trouble is not None:
                opened += 1
                yield _block(trouble, opened=opened <= OPEN_AT_FIRST)


def headline(run: RunResult, figures: Figures) -> str:
    """`✗ 1 of 5 scenarios failed · 1 unstable · $0.039`."""
    found = Counter(r.scenario.verdict for r in figures.rows)
    total = len(figures.rows)
    if found[Verdict.FAIL]:
        first = f"{SYMBOLS[Verdict.FAIL]} {found[Verdict.FAIL]} of {total} scenarios failed"
    elif missing_line(run):
        first = f"{SYMBOLS[Verdict.ERROR]} {one_line(missing_line(run))}, {exit_line(run)}"
    elif run.exit_code == 0:
        first = f"{SYMBOLS[Verdict.PASS]} {found[Verdict.PASS]} of {total} scenarios passed"
    else:
        first = f"{SYMBOLS[Verdict.ERROR]} {found[Verdict.PASS]} of {total} scenarios passed, {exit_line(run)}"
    others = [f"{found[v]} {word(v)}" for v in _WORST_FIRST[1:-1] if found[v]]
    return " · ".join([first, *others, f"${figures.total}"])


def _table(figures: Figures) -> str:
    reasons = any(_why(r) for r in figures.rows)
    scored = bool(figures.criteria)
    criteria = [one_line(_short(c)) for c in figures.criteria]
    head = ["scenario", "verdict", "plays", *criteria, *(["mean"] if scored else []), "ending", "cost", "time"]
    head += ["why"] if reasons else []
    first = 2
    figures_at = [first, *range(first + 1, first + 1 + len(criteria) + scored)]
    figures_at += [len(head) - 3, len(head) - 2] if reasons else [len(head) - 2, len(head) - 1]
    rows = []
    for row in figures.rows:
        verdict = row.scenario.verdict
        cells = [one_line(row.scenario.id), f"{SYMBOLS[verdict]} {word(verdict)}", row.plays]
        cells += [_score(row, c) for c in figures.criteria]
        cells += [f"{row.mean_text}{_star(row)}" if row.mean is not None else "–"] if scored else []
        cells += [row.ending, f"${row.cost}", duration(row.seconds)]
        rows.append([*cells, *([_why(row)] if reasons else [])])
    text = table(head, rows, right=figures_at)
    return f"{text}\n\n<sub>{one_line(ADVISORY_NOTE)}</sub>" if figures.advisory else text


def _short(criterion: str) -> str:
    return criterion if len(criterion) <= LONGEST_HEAD else f"{criterion[:4].rstrip('aeiou')}."


def _star(row: Row) -> str:
    return "&#42;" if row.advisory else ""


def _score(row: Row, criterion: str) -> str:
    value = row.averages.get(criterion)
    if value is None:
        return "–"
    text = f"{float(value):.1f}{_star(row)}"
    return f"**{text}**" if criterion in row.low and not row.advisory else text


def _why(row: Row) -> str:
    """What decided, and what an advisory judge would have said."""
    parts = [one_line(row.reason)] if row.reason else []
    parts += [f"{one_line('* ' + row.advice)}"] if row.advice else []
    return "<br>".join(parts)


def _block(trouble: Trouble, *, opened: bool) -> str:
    row, trial = trouble.row, trouble.trial
    verdict = row.scenario.verdict
    reason = one_line(shortened(trial.reason, LONGEST_QUOTE))
    summary = f"{SYMBOLS[verdict]} {one_line(row.scenario.id)}: {reason}"
    parts = [f"<details{' open' if opened else ''}><summary>{summary}</summary>"]
    parts.append(_said_table([(str(s.turn), s.who, s.text, s.voice) for s in trouble.said]))
    if trouble.unmet:
        rows = [[inert(u.path), inert(u.expected), inert(u.got)] for u in trouble.unmet]
        parts.append(table(["expectation", "expected", "got"], rows))
    notes = [
        f"**{f.severity.value}** {one_line(f.rule)}: {one_line(f.message)} {_quote(f.quote)}" for f in trouble.findings
    ]
    notes += [f"<b>{one_line(what)}</b> {one_line(why)}" for what, why in trouble.remarks]
    parts += ["\n".join(f"- {n.strip()}" for n in notes)] if notes else []
    parts += [preformatted(trial.detail.rstrip())] if trial.detail else []
    parts.append(f"<sub>{one_line(trouble.where)}</sub>")
    return "\n\n".join([*[p for p in parts if p], "</details>"])


def _quote(text: str) -> str:
    return f"“{inert(shortened(text, LONGEST_QUOTE))}”" if text else ""


def _said_table(said: Sequence[tuple[str, str, str, Voice]]) -> str:
    if not said:
        return ""
    rows = [[turn, one_line(who), inert(shortened(text, LONGEST_QUOTE))] for turn, who, text, _ in said]
    return table(["turn", "who", "text"], rows, right=[0])


def _every_turn(row: Row, agent: str) -> Iterator[str]:
    """All trials of a scenario, turn by turn, with all judgements."""
    scenario = row.scenario
    yield f"### {SYMBOLS[scenario.verdict]} {one_line(scenario.id)}: {word(scenario.verdict)}"
    yield f"{one_line(scenario.title)}<br>**objective** {one_line(scenario.objective)}"
    for trial in scenario.trials:
        ending = trial.transcript.ending.value.replace("_", " ")
        yield f"#### trial {trial.number}: {trial.outcome.value.replace('_', ' ')} · {ending} · {duration(trial.seconds)}"
        if trial.reason:
            yield one_line(trial.reason)
        said = [s for t in trial.transcript.turns for s in said_in(t, trial.transcript, agent)]
        yield _said_table([(str(s.turn), s.who, s.text, s.voice) for s in said])
        yield from _judgements(trial)


def _judgements(trial: TrialResult) -> Iterator[str]:
    scores = [
        [str(s.turn or "all"), one_line(s.criterion), f"{s.value}{'' if j.gates else '&#42;'}", inert(s.reason)]
        for j in trial.judgements
        for s in j.scores
    ]
    if scores:
        yield table(["turn", "criterion", "score", "reason"], scores, right=[0, 2])
    lines = []
    for j in trial.judgements:
        how = "code" if j.deterministic else "gates" if j.gates else "advisory"
        lines.append(f"- <b>{one_line(j.judge)}</b> {j.status.value} ({how}): {one_line(j.reason)}")
        lines += [f"  - {one_line(f'{f.severity.value} {f.rule}, turn {f.turn}: {f.message}')}" for f in j.findings]
        lines += [f"  - {one_line(f'{u.path}: expected {u.expected}, got {u.got}')}" for u in j.unmet]
        lines += [f"  - {one_line(f'{what}: {why}')}" for what, why in remarks_of(j)]
        lines += [f"  - warning: {one_line(w)}" for w in j.warnings]
    if lines:
        yield "\n".join(lines)


def _bottom(run: RunResult, figures: Figures) -> Iterator[str]:
    yield f"**Cost of this run** {cost_line(run, figures)} · {one_line(figures.mean_line)} · {duration(run.seconds)}"
    if run.notices:
        yield "\n".join(f"- note: {one_line(n)}" for n in run.notices)
    ref = short_id(run.header.id)
    yield f"<sub>run {one_line(run.header.id)} · evalrun show {one_line(ref)} SCENARIO · {exit_line(run)}</sub>"

"""What stands under the table: each scenario that did not pass, or every turn of one scenario."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from evalrun.reporters.figures import Row, usd
from evalrun.reporters.layout import Labelled, joined, labelled_lines, wrapped_own
from evalrun.reporters.table import STYLES, Signs
from evalrun.reporters.troubles import Said, Trouble, Voice, remarks_of, said_in
from evalrun.reporters.wording import SYMBOLS, duration, shortened, word
from evalrun.results import Judgement, JudgementStatus, TrialResult
from evalrun.style import Finding
from evalrun.transcript import Turn
from evalrun.usage import Role
from evalrun.verdict import Outcome, Score

LONGEST_QUOTE = 1200
TRACE_LINES = 6
INDENT = 4
VOICES: Mapping[Voice, str] = {Voice.USER: "cyan", Voice.AGENT: "blue", Voice.TOOL: "yellow", Voice.NOTE: "dim"}
OUTCOMES: Mapping[Outcome, str] = {
    Outcome.PASS: "green",
    Outcome.FAIL: "bold red",
    Outcome.ERROR: "bold magenta",
    Outcome.INVALID: "bold magenta",
    Outcome.NOT_RUN: "dim",
}


class Details:
    """Blocks of lines for a terminal of some width (0: no limit)."""

    def __init__(self, agent: str, width: int, signs: Signs) -> None:
        self._agent = agent
        self._width = width
        self._signs = signs

    def trouble(self, trouble: Trouble) -> Iterator[Text]:
        """A scenario that did not pass: why, the quoted turns, expected beside got, what judges said."""
        verdict = trouble.row.scenario.verdict
        turns = ", ".join(map(str, trouble.turns))
        parts = [f"{SYMBOLS[verdict]} {trouble.row.scenario.id}", word(verdict)]
        parts += [f"turn{'s' if len(trouble.turns) > 1 else ''} {turns}"] if turns else []
        yield from self._heading(parts, STYLES[verdict])
        if not trouble.explained:
            yield from self._reason(trouble.trial.reason)
        items = [self._said(s, LONGEST_QUOTE) for s in trouble.said]
        for unmet in trouble.unmet:
            items.append(self._item("expected", f"{unmet.path}: {unmet.expected}", "green"))
            items.append(self._item("got", unmet.got, "red"))
        items += [self._finding(f) for f in trouble.findings]
        items += [self._item("judge", f"{what}: {why}", "magenta") for what, why in trouble.remarks]
        if trouble.trial.detail:
            items.append(
                self._item("trace", "\n".join(trouble.trial.detail.rstrip().splitlines()[-TRACE_LINES:]), "dim")
            )
        items.append(self._item("at", trouble.where, "dim", style="dim"))
        yield from self._lines(items)

    def scenario(self, row: Row) -> Iterator[Text]:
        """Everything there is of one scenario: all trials, turn by turn, with all judgements."""
        scenario = row.scenario
        title = scenario.title if scenario.title != scenario.id else ""
        parts = [f"{SYMBOLS[scenario.verdict]} {scenario.id}", word(scenario.verdict), title]
        yield from self._heading([p for p in parts if p], STYLES[scenario.verdict])
        yield from self._lines(
            [
                self._item("objective", scenario.objective),
                self._item("persona", scenario.persona),
                self._item("selected", ", ".join(scenario.selected_because) or "no reason kept"),
                self._item("at", f"{scenario.path}:{scenario.line}"),
            ]
        )
        for trial in scenario.trials:
            yield Text()
            yield from self._trial(trial, len(scenario.trials))

    def _trial(self, trial: TrialResult, of: int) -> Iterator[Text]:
        ending = trial.transcript.ending.value.replace("_", " ")
        cost = trial.spending.cost
        parts = [f"trial {trial.number} of {of}", trial.outcome.value.replace("_", " "), f"ended: {ending}"]
        parts += [f"{usd(cost)}", duration(trial.seconds)]
        parts += [f"plays trial {trial.replays} again"] if trial.replays else []
        parts += ["kept from the run before"] if trial.carried else []
        yield from self._heading(parts, OUTCOMES[trial.outcome])
        yield from self._reason(trial.reason)
        for turn in trial.transcript.turns:
            yield from self._turn(turn, trial)
        scores = [s for j in trial.judgements for s in j.scores if not s.turn]
        yield from self._lines([*self._scores(scores), *self._warnings(trial.transcript.warnings)])
        yield from self._heading(["judgements"], "bold", indent=2)
        items = [item for j in trial.judgements for item in self._judgement(j)]
        items += [self._item("trace", trial.detail.rstrip(), "dim")] if trial.detail else []
        yield from self._lines([*items, self._item("cost", self._cost(trial), "dim", style="dim")])

    def _turn(self, turn: Turn, trial: TrialResult) -> Iterator[Text]:
        seconds = f"{duration(turn.seconds)}, settled by {turn.settled_by}"
        yield from self._heading([f"turn {turn.number}", seconds], "bold", indent=2)
        items = [self._said(s, 0) for s in said_in(turn, trial.transcript, self._agent)]
        items += [self._finding(f) for j in trial.judgements for f in j.findings if f.turn == turn.number]
        for judgement in trial.judgements:
            scores = [s for s in judgement.scores if s.turn == turn.number]
            items += self._scores(scores, advisory=not judgement.gates)
            for check in judgement.checks:
                if check.turn == turn.number:
                    answer = "violated" if check.violated else "not violated"
                    items.append(self._item("check", f"{check.check} {answer}: {check.reason}", "magenta"))
        yield from self._lines(items)

    def _scores(self, scores: Sequence[Score], *, advisory: bool = False) -> list[Labelled]:
        star, style = ("*", "dim") if advisory else ("", "")
        return [
            self._item("score", f"{s.criterion} {s.value}{star}: {s.reason}", "magenta", style=style) for s in scores
        ]

    def _judgement(self, judgement: Judgement) -> list[Labelled]:
        how = "code" if judgement.deterministic else "gates" if judgement.gates else "advisory"
        said = judgement.outcome.value.replace("_", " ")
        if judgement.status is JudgementStatus.SKIPPED:
            said = "skipped"
        items = [self._item(judgement.judge, f"{said} ({how}, version {judgement.version}): {judgement.reason}")]
        items += [self._item("", f"{what}: {why}") for what, why in remarks_of(judgement) if not judgement.gates]
        for unmet in judgement.unmet:
            items.append(self._item("expected", f"{unmet.path}: {unmet.expected}", "green"))
            items.append(self._item("got", f"{unmet.got} ({unmet.where})", "red"))
        items += self._warnings(judgement.warnings)
        if judgement.ruler is not None:
            items.append(self._item("ruler", judgement.ruler.fingerprint, "dim", style="dim"))
        return items

    def _warnings(self, warnings: Sequence[str]) -> list[Labelled]:
        return [self._item("warning", w, "yellow") for w in warnings]

    def _cost(self, trial: TrialResult) -> str:
        parts = []
        for role in Role:
            total = trial.spending.of(role)
            if total.calls or total.cost:
                cached = f" ({total.tokens.cached_percent} % cached)" if total.tokens.cached else ""
                tokens = f"{total.tokens.input} tokens in{cached}, {total.tokens.output} out"
                parts.append(f"{role.value} {usd(total.cost)} ({total.calls} calls, {tokens})")
        return "; ".join(parts) or "no model was called"

    def _finding(self, finding: Finding) -> Labelled:
        bubble = f" (bubble {finding.bubble})" if finding.bubble else ""
        quote = f': "{shortened(finding.quote, LONGEST_QUOTE)}"' if finding.quote else ""
        return self._item(finding.severity.value, f"{finding.rule}: {finding.message}{bubble}{quote}", "red")

    def _said(self, said: Said, limit: int) -> Labelled:
        text = shortened(said.text, limit) if limit else said.text
        return self._item(said.who, text, VOICES[said.voice], style="dim" if said.voice is Voice.NOTE else "")

    def _item(self, label: str, text: str, label_style: str = "bold", *, style: str = "") -> Labelled:
        name = self._signs.text(label).replace("\n", " ")
        return Labelled(label=name, text=self._signs.text(text), label_style=label_style, style=style)

    def _heading(self, parts: Sequence[str], style: str, indent: int = 0) -> Iterator[Text]:
        shown = [self._signs.own(p).replace("\n", " ") for p in parts]
        lines = joined(shown, self._signs.own(" · "), width=self._width, indent=indent)
        lines[0].stylize(style, indent, indent + len(shown[0]))
        yield from lines

    def _reason(self, reason: str) -> Iterator[Text]:
        text = self._signs.text(reason)
        yield from wrapped_own(text, width=self._width, indent=INDENT, bar=self._signs.own("│"), style="bold")

    def _lines(self, items: Sequence[Labelled]) -> Iterator[Text]:
        bar = self._signs.own("│")
        yield from labelled_lines(items, indent=INDENT, width=self._width, bar=bar)

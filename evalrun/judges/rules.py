"""Tier 1 and 2: style rules on every turn, and the findings that need no rule file.

Hard findings fail the trial at once; soft ones are facts for the model judge. A turn that timed
out is not looked at: its trial is an error.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalrun.folding import visible
from evalrun.interfaces.judges import Case, JudgeSetup
from evalrun.judges.tripwires import attempts_in
from evalrun.results import Judgement, JudgementStatus
from evalrun.style import Finding, Severity, StyleRules
from evalrun.style_checks.table import CompiledRules
from evalrun.transcript import InboundKind, Observed, Turn


class Rules:
    """The deterministic judge of style (see `interfaces.judges.Judge`)."""

    name = "rules"
    version = "1"
    deterministic = True

    def __init__(self, setup: JudgeSetup) -> None:
        self._options = setup.options
        self._compiled: tuple[StyleRules, CompiledRules] | None = None

    def watch(self, case: Case) -> Judgement | None:
        """Findings of the last turn."""
        turns = case.transcript.turns
        return self._judgement(self._of_turn(case, len(turns) - 1), ()) if turns else None

    async def judge(self, case: Case) -> Judgement:
        """Findings of all turns, and of a conversation in which the agent never did anything.

        Without a single turn there is nothing to judge: a judgement of status error.
        """
        turns = case.transcript.turns
        if not turns:
            return Judgement(
                judge=self.name,
                version=self.version,
                status=JudgementStatus.ERROR,
                deterministic=True,
                code="no_turns",
                reason="no turn was played, so there is nothing to judge",
            )
        findings = [f for i in range(len(turns)) for f in self._of_turn(case, i)]
        unsettled = any(t.observed is Observed.TIMED_OUT for t in turns)
        expected = all(t.silence_expected for t in turns)
        if not (case.transcript.agent_turns or unsettled or expected):
            message = "in the whole conversation the agent said nothing and called no tool"
            findings.append(_hard("nothing_said", message, 0))
        return self._judgement(findings, attempts_in(turns))

    def _of_turn(self, case: Case, index: int) -> list[Finding]:
        turn = case.transcript.turns[index]
        if turn.observed is Observed.TIMED_OUT:
            return []
        rules = self._rules(case.style)
        earlier = case.transcript.turns[:index]
        return [*_built_in(turn, case), *rules.apply(turn, earlier, case.scenario.allow)]

    def _rules(self, style: StyleRules) -> CompiledRules:
        if self._compiled is None or self._compiled[0] is not style:
            self._compiled = (style, CompiledRules(style))
        return self._compiled[1]

    def _judgement(self, findings: Sequence[Finding], attempts: tuple[str, ...]) -> Judgement:
        hard = next((f for f in findings if f.severity is Severity.HARD), None)
        soft = sum(f.severity is Severity.SOFT for f in findings)
        reason = describe(hard) if hard else f"no hard finding{f', {soft} soft' if soft else ''}"
        return Judgement(
            judge=self.name,
            version=self.version,
            deterministic=True,
            findings=tuple(findings),
            code=hard.rule if hard else "pass",
            reason=reason,
            warnings=attempts,
        )


def describe(finding: Finding) -> str:
    """A finding in one sentence."""
    at = f" in turn {finding.turn}" if finding.turn else ""
    bubble = f", bubble {finding.bubble}" if finding.bubble else ""
    quote = f": {finding.quote[:120]!r}" if finding.quote else ""
    return f"{finding.rule}: {finding.message}{at}{bubble}{quote}"


def _hard(rule: str, message: str, turn: int, quote: str = "", bubble: int = 0) -> Finding:
    return Finding(rule=rule, severity=Severity.HARD, message=message, quote=quote, turn=turn, bubble=bubble)


def _built_in(turn: Turn, case: Case) -> list[Finding]:
    """Findings that hold for every product: silence, a message too many, a wrong recipient."""
    found = []
    said = turn.said
    seen = [b for b in said if b.kind != "text" or visible(b.text)]
    if turn.silence_expected:
        if said:
            message = "a message where silence is expected"
            found.append(_hard("unexpected_message", message, turn.number, said[0].text, 1))
    elif not seen and (said or (turn.opening.kind is not InboundKind.TIME and not turn.acted)):
        found.append(_hard("empty_reply", "nothing was said and no tool was called", turn.number))
    elif len(seen) < len(said):
        found.append(_hard("empty_reply", "a bubble without visible text", turn.number))
    for i, bubble in enumerate(said, 1):
        if bubble.to not in turn.allowed:
            names = case.transcript.names
            allowed = ", ".join(names.get(a, a) for a in turn.allowed) or "nobody"
            message = f"a message to {names.get(bubble.to, bubble.to)!r}, the step names {allowed}"
            found.append(_hard("wrong_recipient", message, turn.number, bubble.text, i))
    return found

"""The words reports share: verdicts, durations, models, what stands above and below the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from evalrun.reporters.figures import Figures, budget, usd
from evalrun.results import RunHeader, RunResult
from evalrun.transcript import ToolCall
from evalrun.usage import Role
from evalrun.verdict import Verdict

SYMBOLS: Mapping[Verdict, str] = {
    Verdict.PASS: "✓",
    Verdict.FAIL: "✗",
    Verdict.UNSTABLE: "~",
    Verdict.ERROR: "!",
    Verdict.INVALID: "!",
    Verdict.NOT_RUN: "–",
}
_EXITS = {
    1: "a scenario failed",
    3: "not everything could be judged",
    4: "the budget was reached",
    130: "interrupted",
    143: "terminated",
}
SHORT_COMMIT = 7


def word(verdict: Verdict) -> str:
    """A verdict as it is read."""
    return verdict.value.replace("_", " ")


def duration(seconds: float) -> str:
    """`0.4 s`, `9 s`, `1 min 12 s`, `2 h 5 min`."""
    if seconds < 1:
        return f"{seconds:.1f} s" if seconds else "0 s"
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    if not minutes:
        return f"{whole} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def shortened(text: str, limit: int) -> str:
    """The first part of a long text, and how long all of it is."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def counts(run: RunResult) -> str:
    """`2 pass, 1 fail, 1 unstable`."""
    found = Counter(s.verdict for s in run.scenarios)
    return ", ".join(f"{found[v]} {word(v)}" for v in Verdict if found[v]) or "no scenario"


def models_line(header: RunHeader) -> str:
    """The target and which model plays which role; roles with one model are named together."""
    roles: dict[str, list[str]] = {}
    for role, model in header.models.items():
        roles.setdefault(model, []).append(role)
    return " · ".join([header.target, *(f"{', '.join(r)} {m}" for m, r in roles.items())])


def trust_lines(header: RunHeader) -> tuple[str, ...]:
    """Whether each model judge gates, and why."""
    return tuple(dict.fromkeys(t.line for t in header.trust))


def selection_line(header: RunHeader) -> str:
    """What was chosen, from which commit, under which cap."""
    parts = [header.selection or f"{header.selected} of {header.suite_size} scenarios"]
    if header.commit:
        parts.append(f"commit {header.commit[:SHORT_COMMIT]}")
    if header.cap is not None:
        parts.append(f"budget {budget(header.cap)}")
    return " · ".join(parts)


def cost_line(run: RunResult, figures: Figures) -> str:
    """`$0.039 of $0.50 (agent 0.014, persona 0.006, judge 0.019)`."""
    total, spent = f"${figures.total}", run.spending
    if run.header.cap is not None:
        total += f" of {budget(run.header.cap)}"
    if spent.cost:
        total += f" ({', '.join(f'{r.value} {figures.by_role[r]}' for r in Role)})"
    if spent.estimated:
        total += ", partly estimated"
    if cached := spent.judge.tokens.cached_percent:
        total += f", {cached} % of the judge's input cached"
    saved = sum((spent.of(r).saved for r in Role), start=spent.agent.saved * 0)
    if saved:
        total += f", {usd(saved)} saved by recorded answers"
    return total


def short_id(run: str) -> str:
    """The end of a run's id, which is enough to name it."""
    return run.rpartition("-")[2] or run


def exit_line(run: RunResult) -> str:
    """The exit code with its meaning."""
    code = run.exit_code
    if code == 0 and any(s.no_key for s in run.scenarios):
        return "exit 0 (what lacks a key was allowed to be missing)"
    said = _EXITS.get(code) or ("" if code else "all passed" if run.scenarios else "nothing to play")
    return f"exit {code} ({said})" if said else f"exit {code}"


def missing_line(run: RunResult) -> str:
    """`0 of 5 evaluated: no key for openai (OPENAI_API_KEY)`; "" when nothing is missing that must be said so loudly."""
    evaluated, total = sum(s.evaluated for s in run.scenarios), len(run.scenarios)
    why = dict.fromkeys(s.no_key for s in run.scenarios if s.no_key)
    if why:
        return f"{evaluated} of {total} evaluated: {'; '.join(why)}"
    return f"0 of {total} evaluated" if total and not evaluated else ""


def json_text(value: object) -> str:
    """A value of a tool call on one line."""
    return value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode()


def tool_line(call: ToolCall) -> str:
    """`save_profile({"city":"Lyon"}) -> ok`."""
    arguments = "" if call.arguments is None else json_text(call.arguments)
    by = f" (by {call.agent})" if call.agent else ""
    end = f" raised {call.error}" if call.error else f" -> {json_text(call.result)}" if call.result is not None else ""
    return f"{call.name}({arguments}){by}{end}"

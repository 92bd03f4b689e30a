"""Whole runs for tests of stores and reports: mixed, advisory, hostile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from evalrun.results import JudgeTrust, RunHeader, RunResult, ScenarioResult
from evalrun.transcript import Ending
from evalrun.usage import Spending
from evalrun.verdict import Stop, exit_code
from tests.results_samples import (
    NOW,
    errored,
    expectations,
    failed_on_expectation,
    failed_on_floor,
    failed_on_mean,
    failed_on_rule,
    left_out,
    passed,
    rubric,
    rules,
    said,
    scenario,
    scored,
    spoiled,
    transcript,
    trial,
    unstable,
)


def header(*, gates: bool = True, chosen: int = 1) -> RunHeader:
    """What is known when the run starts."""
    why = (
        "gates because judge.gate is always (vouched for, not measured)"
        if gates
        else "is advisory: it has not earned a gate (not calibrated on labelled turns)"
    )
    model = "anthropic:judge-1" if gates else "local:smollm2-135m"
    return RunHeader(
        id="2026-12-01-7f3a2b",
        started=NOW,
        target="ori",
        models={"agent": "openai:agent-1", "persona": "openai:small-1", "judge": model},
        trust=(JudgeTrust(judge="rubric", model=model, gates=gates, line=f"judge {model} {why}"),),
        selection=f"{chosen} of 37 scenarios",
        selected=chosen,
        suite_size=37,
        cap=Decimal("0.50"),
        prices="genai-prices 0.2.3",
        commit="3f2c1ab9d0",
        version="0.1.0",
        settings={"gate": "always"},
    )


def run_of(*scenarios: ScenarioResult, gates: bool = True, stop: Stop | None = None, **rest: object) -> RunResult:
    """A finished run of some scenarios with its exit code by the real rule."""
    how = stop or Stop()
    result = RunResult(
        header=header(gates=gates, chosen=len(scenarios)),
        finished=NOW + timedelta(seconds=72),
        scenarios=scenarios,
        stop=how,
        exit_code=exit_code([s.verdict for s in scenarios], stop=how, selected=len(scenarios)),
        seconds=72.3,
    )
    return replace(result, **rest)  # type: ignore[arg-type]


def mixed_run() -> RunResult:
    """Every verdict once."""
    return run_of(
        passed(),
        failed_on_floor(),
        failed_on_mean(),
        unstable(),
        failed_on_rule(),
        failed_on_expectation(),
        errored(),
        spoiled(),
        left_out(),
        stop=Stop(budget=True),
        notices=("openai asks to wait 2 s: 3 calls wait",),
    )


def advised(name: str, rows: Sequence[Sequence[int]]) -> ScenarioResult:
    """A pass on facts with advisory scores."""
    judged = rubric(scored(rows), gates=False)
    one = trial(name, "pass", "no hard finding; expectations met", judgements=[rules(), expectations(), judged])
    return scenario(
        name, replace(one, transcript=replace(one.transcript, ending=Ending.STEPS_DONE), spending=Spending())
    )


def advisory_run() -> RunResult:
    """Scores that would fail by floor and by mean, and do not decide."""
    return run_of(
        advised("welcome-first-words", [(7, 7, 7, 4)]),
        advised("profiling-city", [(6, 6, 7, 6)]),
        advised("pause-for-a-week", [(8, 9, 8, 8)]),
        gates=False,
    )


HOSTILE = (
    "prix | TTC | 1 200 €\nà valider `ok` \\| <b>x</b> *fin*_",
    "hello [/] x",
    "bonjour [nom], ok",
    "voir [link=http://x]ici",
    "a :warning: b",
    "\x1b[31mrouge\x1b]8;;http://x\x07",
    "::error::forged\n::add-mask::x",
    "```\n| a | b |\n</details><script>alert(1)</script>",
    "@octocat ferme #123 et GH-45, https://x.test et user@x.test ~~non~~ $x^2$",
    "# titre\n> cite\n- liste\n1. un\n---\n***",
    "a\u202eb\u200bc\tune\rdeux\r\ntrois\x00\x9b",
    "日本 👨‍👩‍👧 ⚠️ &lt;b&gt; &amp; \\",
)


def hostile_run() -> RunResult:
    """An agent, a user and a judge who write whatever could break a report."""
    names = ("✅ devis | relance", "⚠️ relance", "👨‍👩‍👧 famille", "日本")
    chosen = []
    for i, name in enumerate(names):
        talk = transcript(*(said(n, text, *HOSTILE[i::2]) for n, text in enumerate(HOSTILE[i::4], 1)))
        why = {(1, "objective"): "ligne 1\r\nligne 2 | `x` [/red] @octocat"}
        judged = rubric(scored([(7, 3, 7, 7)] * len(talk.turns), why))
        chosen.append(
            scenario(
                name, trial(name, "fail", HOSTILE[i], talk=talk, judgements=[rules(), judged]), title="devis | relance"
            )
        )
    return run_of(*chosen)

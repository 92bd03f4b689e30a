"""The terminal: what it shows, and what nobody can make it show."""

from __future__ import annotations

import io
import re
import time
from dataclasses import replace
from decimal import Decimal

import pytest
from rich.cells import cell_len

from evalrun.interfaces.reports import Progress, ReportOptions
from evalrun.reporters.terminal import Terminal
from evalrun.results import Judgement, JudgementStatus, RunResult, TrialResult
from evalrun.transcript import Bubble, InboundKind, Observed, Opening, Route, Turn
from evalrun.usage import Tokens
from evalrun.verdict import CheckAnswer, Stop, Verdict
from tests.reporters.shown import terminal
from tests.results_samples import (
    NOW,
    errored,
    failed_on_floor,
    failed_on_mean,
    left_out,
    passed,
    rubric,
    rules,
    said,
    scenario,
    scored,
    transcript,
    trial,
)
from tests.runs_samples import advisory_run, hostile_run, mixed_run, run_of


def unwrapped(text: str) -> str:
    """The text without bars and line ends."""
    return re.sub(r"\s*\n\s*[│|] ?", " ", text)


def line_of(text: str, start: str) -> str:
    """The first line that begins so."""
    return next(line for line in text.splitlines() if line.strip().startswith(start))


@pytest.mark.parametrize(
    "expected",
    [
        "hello [/] x",
        "bonjour [nom], ok",
        "voir [link=http://x]ici",
        "a :warning: b",
        r"\x1b[31mrouge\x1b]8;;http://x\x07",
        r"a\u202eb\u200bc    une\x0ddeux",
        r"trois\x00\x9b",
        "日本 👨‍👩‍👧 ⚠️ &lt;b&gt; &amp; \\",
    ],
)
def test_b48_text_is_shown_as_written(expected: str) -> None:
    """No markup, no emoji codes, nothing that steers the terminal."""
    assert expected in terminal(hostile_run())


@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize("detail", [True, False])
def test_b48_no_raw_control_character(colour: bool, detail: bool) -> None:
    """Escapes are only our own colours, and only when asked for."""
    text = terminal(hostile_run(), ReportOptions(width=80, colour=colour, detail=detail))
    own = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert [c for c in own if not c.isprintable() and c not in "\n\u200d\ufe0f"] == []
    assert (own != text) is colour


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize("width", [40, 80, 0])
def test_b48_any_encoding(encoding: str, width: int) -> None:
    """Everything can be written in the encoding of the stream."""
    for run in (hostile_run(), mixed_run(), advisory_run()):
        text = terminal(run, ReportOptions(width=width, encoding=encoding))
        assert text.encode(encoding).decode(encoding) == text


def test_b48_what_an_encoding_lacks_is_written_out() -> None:
    """Backslash escapes for text, plain signs for ours."""
    text = terminal(hostile_run(), ReportOptions(width=0, encoding="cp1252"))
    assert r"\u2705 devis | relance" in text
    assert r"\u65e5\u672c" in text
    assert "x fail" in text
    assert "1 200 €" in text


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
@pytest.mark.parametrize("run", [mixed_run(), hostile_run(), advisory_run()], ids=["mixed", "hostile", "advisory"])
def test_b48_no_line_is_wider_than_the_terminal(run: RunResult, width: int) -> None:
    """Wide characters and joined emoji counted as they are shown."""
    for detail in (False, True):
        lines = terminal(run, ReportOptions(width=width, detail=detail)).splitlines()
        assert [line for line in lines if cell_len(line) > width] == []


def test_b48_columns_are_aligned_under_wide_names() -> None:
    """The verdicts stand under one another whatever the names are made of."""
    lines = terminal(hostile_run()).splitlines()
    starts = {cell_len(line[: line.index("✗ fail")]) for line in lines if "✗ fail" in line}
    assert len(starts) == 1


@pytest.mark.parametrize("width", [40, 80, 0])
def test_b48_nothing_is_cut_off(width: int) -> None:
    """Every name, reason and quoted text is there in full, at any width."""
    text = unwrapped(terminal(mixed_run(), ReportOptions(width=width))).replace("\n", " ")
    squeezed = re.sub(r"\s+", "", text)
    for one in mixed_run().scenarios:
        assert one.id in squeezed
        assert one.verdict is Verdict.PASS or re.sub(r"\s+", "", one.reason) in squeezed


@pytest.mark.parametrize("width", [40, 80, 200, 0])
@pytest.mark.parametrize("detail", [True, False])
def test_no_line_can_be_a_command_to_a_ci_service(width: int, detail: bool) -> None:
    """No line begins with `::`, none holds `##[`, wherever a long text is broken."""
    texts = ("mot " * 19 + "::error::forged", "x" * 70 + " ::add-mask::x", "##[error]forged", "\n::stop-commands::x")
    talk = transcript(*(said(n, t, t, t) for n, t in enumerate(texts, 1)))
    judged = rubric(scored([(7, 3, 7, 7)] * 4, {(n, "objective"): t for n, t in enumerate(texts, 1)}))
    chosen = [
        scenario(f"s{n}", trial(f"s{n}", outcome, t, talk=talk, judgements=[rules(), judged], detail=t))
        for n, t in enumerate(texts)
        for outcome in ("fail", "error")
    ]
    run = run_of(*chosen, notices=texts)
    lines = terminal(run, ReportOptions(width=width, detail=detail)).splitlines()
    assert [line for line in lines if line.lstrip().startswith("::") or "##[" in line] == []


def test_floor_and_mean_reasons() -> None:
    """A judge that gates: both reasons stand under their rows."""
    text = terminal(run_of(failed_on_floor(), failed_on_mean()))
    assert "    │ objective 4 at turn 3 is under the floor of 5\n" in text
    assert "    │ mean 6.42 is under 6.5\n" in text
    assert "judge │ objective 4, turn 3: answers a question with a question" in text
    assert "gates because judge.gate is always" in text
    assert "exit 1 (a scenario failed)" in text


def test_advisory_scores_are_marked_and_do_not_decide() -> None:
    """A star at each score, what the judge would have said, and why it does not decide."""
    text = terminal(advisory_run())
    assert line_of(text, "welcome-first-words").split()[1:8] == ["✓", "pass", "1/1", "7.0*", "7.0*", "7.0*", "4.0*"]
    assert "│ * rubric: format 4 at turn 1 is under the floor of 5; mean 6.25 is under 6.5" in text
    assert text.count("judge local:smollm2-135m is advisory: it has not earned a gate") == 2
    assert "exit 0 (all passed)" in text


def test_b71_errors_do_not_make_the_mean_look_better() -> None:
    """Seven scenarios at 8 and three errors: 8.0 on 7/10 judged, and no success."""
    good = [scenario(f"s{n}", passed_at_8(n)) for n in range(7)]
    bad = [replace(errored(), id=f"e{n}") for n in range(3)]
    run = run_of(*good, *bad)
    text = terminal(run)
    assert "mean 8.0 on 7/10 judged" in text
    assert "7 pass, 3 error" in text
    assert "exit 3 (not everything could be judged)" in text


def passed_at_8(number: int) -> TrialResult:
    """A trial with a mean of 8; every second one over many turns."""
    turns = 40 if number % 2 else 2
    judged = rubric(scored([(8, 8, 8, 8)] * turns))
    return trial(f"s{number}", "pass", judged.reason, judgements=[rules(), judged])


def test_b71_no_score_is_not_zero() -> None:
    """Without any score there is none: not 0, not nan."""
    text = terminal(run_of(errored(), left_out()))
    assert "no score" in text
    assert "nan" not in text
    assert "mean" not in text


def test_b71_the_mean_is_over_scenarios() -> None:
    """A scenario of forty turns weighs as much as one of two."""
    long = trial("long", "pass", "ok", judgements=[rubric(scored([(10, 10, 10, 10)] * 40))])
    short = trial("short", "fail", "low", judgements=[rubric(scored([(6, 6, 6, 6)] * 2))])
    assert "mean 8.0 on 2/2 judged" in terminal(run_of(scenario("long", long), scenario("short", short)))


def test_a_check_that_is_violated() -> None:
    """The check, its turn, the quote and the reason."""
    check = CheckAnswer(check="honest-figures", turn=1, violated=True, quote="97 %", reason="nobody gave it")
    judged = Judgement(judge="rubric", version="1", gates=True, checks=(check,), code="check_violated", reason="check")
    talk = transcript(said(1, "et ?", "97 % des gens"))
    text = terminal(run_of(scenario("s", trial("s", "fail", "check", talk=talk, judgements=[judged]))))
    assert 'judge │ honest-figures violated, turn 1: nobody gave it "97 %"' in text


def test_a_judge_that_broke_is_shown() -> None:
    """An error says which judge, and why."""
    broken = Judgement(
        judge="rubric", version="1", gates=True, status=JudgementStatus.ERROR, code="x", reason="no JSON object"
    )
    text = terminal(run_of(scenario("s", trial("s", "error", "no JSON object", judgements=[broken]))))
    assert "judge │ rubric broke: no JSON object" in text


def test_events_time_tools_silence_and_odd_bubbles() -> None:
    """Every kind of opening, and bubbles that are late, taken back, or to somebody else."""
    event = Opening(kind=InboundKind.EVENT, event="match", data={"match": "noah"}, sender="lea")
    time_step = Opening(kind=InboundKind.TIME, seconds=3 * 86400.0 + 60)
    bubbles = (
        Bubble(id="1", text="trop tard", to="lea", late=True),
        Bubble(id="2", text="oubli", to="lea", retracted=True),
        Bubble(id="3", text="pour Noah", to="noah", kind="image"),
    )
    route = Route(source="triage", destination="billing")
    talk = transcript(
        Turn(
            number=1,
            opening=event,
            bubbles=bubbles,
            routes=(route,),
            observed=Observed.REPLIED,
            allowed=("lea",),
            now=NOW,
        ),
        Turn(number=2, opening=time_step, silence_expected=True, allowed=("lea",), now=NOW),
        Turn(number=3, opening=event, observed=Observed.TIMED_OUT, allowed=("lea",), now=NOW),
    )
    run = run_of(scenario("s", trial("s", "error", "x", talk=talk)))
    text = terminal(run, ReportOptions(width=0, detail=True))
    for expected in (
        'event │ match {"match":"noah"}',
        "route │ triage -> billing",
        "ori   │ trop tard [late]",
        "ori   │ oubli [retracted]",
        "ori   │ pour Noah [image, to Noah]",
        "time │ 3 d 1 min 0 s pass",
        "ori  │ (said nothing, as expected)",
        "ori   │ (timed out)",
    ):
        assert expected in text


def test_a_very_long_text_is_shortened_only_outside_the_detail() -> None:
    """The block under the table stays readable; all of it is one command away."""
    talk = transcript(said(1, "?", "mot " * 5000))
    run = run_of(scenario("s", trial("s", "error", "x", talk=talk)))
    assert len(terminal(run)) < 4000
    assert "(20000 characters)" in terminal(run)
    assert terminal(run, ReportOptions(width=0, detail=True)).count("mot") == 5000


def started(options: ReportOptions) -> tuple[Terminal, io.StringIO]:
    """A reporter that has begun."""
    out = io.StringIO()
    reporter = Terminal(out, options)
    reporter.started(mixed_run().header)
    return reporter, out


def test_a_plain_line_for_each_trial_without_a_terminal() -> None:
    """In a pipe: who, outcome, cost, time, and why when it did not pass; notices once."""
    run = mixed_run()
    reporter, out = started(ReportOptions(width=0))
    before = len(out.getvalue())
    reporter.notice(run.notices[0])
    for one in (run.scenarios[0], run.scenarios[1]):
        for result in one.trials:
            reporter.trial(result)
    lines = out.getvalue()[before:].splitlines()
    assert lines == [
        "note │ openai asks to wait 2 s: 3 calls wait",
        "[1/9] ✓ pass pricing-not-before-profile · $0.0040 · 9 s",
        "[2/9] ✗ fail pricing-asked-twice · $0.0057 · 21 s · objective 4 at turn 3 is under the floor of 5",
        "[2/9] ✗ fail pricing-asked-twice #2 · $0.0057 · 21 s · objective 4 at turn 3 is under the floor of 5",
    ]
    reporter.finished(run)
    assert out.getvalue().count("openai asks to wait") == 1
    assert out.getvalue().count("judge anthropic:judge-1 gates") == 1


def test_progress_moves_only_on_a_terminal() -> None:
    """Trials in play, what they wait for, a bar, the money of the cap; wiped at the end."""
    run = mixed_run()
    step = Progress(
        scenario="pricing-asked-twice",
        trial=1,
        turn=2,
        turns=5,
        waiting_for="persona",
        cost=Decimal("0.0011"),
        run_cost=Decimal("0.0042"),
    )
    still, quiet = started(ReportOptions(width=100))
    still.progress(step)
    assert "waits for" not in quiet.getvalue()
    reporter, out = started(ReportOptions(width=100, animate=True))
    reporter.progress(step)
    deadline = time.monotonic() + 5
    while "waits for persona" not in out.getvalue() and time.monotonic() < deadline:
        time.sleep(0.01)
    reporter.trial(run.scenarios[0].trials[0])
    reporter.trial(run.scenarios[1].trials[0])
    reporter.finished(run)
    text = out.getvalue()
    assert "turn 2 of 5 · waits for persona · $0.0011" in text
    assert "0 of 9 scenarios · $0.0042 of $0.50" in text
    assert text.endswith("exit 1 (a scenario failed)\n")
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1


def test_close_gives_the_terminal_back() -> None:
    """Also when the run broke off; twice is once."""
    reporter, out = started(ReportOptions(width=100, animate=True))
    reporter.close()
    reporter.close()
    assert out.getvalue().count("\x1b[?25h") == 1


def test_interrupted() -> None:
    """An interruption says so, with its exit code."""
    run = run_of(passed(), left_out(), stop=Stop(signal=2))
    assert "exit 130 (interrupted)" in terminal(run)


def test_estimates_and_saved_money_are_said() -> None:
    """A price that is not known, an answer that was replayed."""
    one = passed().trials[0]
    agent = replace(one.spending.agent, estimated=True, saved=Decimal("0.02"))
    run = run_of(scenario(one.scenario, replace(one, spending=replace(one.spending, agent=agent))))
    assert "partly estimated, $0.020 saved by recorded answers" in terminal(run)


def test_nothing_was_chosen() -> None:
    """An empty run has no table and says so."""
    assert "no scenario · no score · $0 of $0.50" in terminal(run_of())


def test_the_share_of_the_judges_input_that_was_cached_is_said() -> None:
    """What the static prefix of the judge's prompts saves, in the totals and beside the trial."""
    one = passed().trials[0]
    judge = replace(one.spending.judge, tokens=Tokens(input=900, cached=577, output=60))
    run = run_of(scenario(one.scenario, replace(one, spending=replace(one.spending, judge=judge))))
    assert "64 % of the judge's input cached" in terminal(run)
    assert "cached" not in terminal(run_of(passed()))

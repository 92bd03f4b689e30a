"""Markdown: parsed back, every text is what it was, and nothing is live."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from evalrun.interfaces.reports import ReportOptions
from evalrun.reporters.markdown_text import BROKEN, inert, one_line, preformatted, table
from evalrun.reporters.visible import written_out
from tests.reporters.shown import markdown
from tests.results_samples import failed_on_floor, failed_on_mean, passed, said, scenario, transcript, trial
from tests.runs_samples import HOSTILE, advisory_run, hostile_run, mixed_run, run_of

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
INLINE = {"text", "softbreak", "html_inline"}


def tables(text: str) -> list[list[list[str]]]:
    """The texts of all cells, by table and row; `<br>` is a newline, what breaks mentions is left out."""
    found: list[list[list[str]]] = []
    for token in PARSER.parse(text):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type == "inline" and token.level > 3 and found and found[-1]:
            found[-1][-1].append(cell_text(token))
    return found


def cell_text(token: Token) -> str:
    """The text of a cell, whatever marks it."""
    parts = ["\n" if c.content == "<br>" else c.content for c in token.children or ()]
    return "".join(parts).replace(BROKEN, "")


def shown(text: str) -> str:
    """How a text is shown: lines without spaces at their ends."""
    return "\n".join(line.strip(" ") for line in written_out(text).split("\n"))


@pytest.mark.parametrize("text", HOSTILE)
def test_b44_a_cell_is_one_cell_and_says_what_it_said(text: str) -> None:
    """Pipes, backslashes, newlines, backticks, HTML and emphasis, parsed back."""
    assert tables(table(["a", "b"], [[inert(text), "x"]])) == [[["a", "b"], [shown(text), "x"]]]


@settings(max_examples=300)
@given(st.text(st.sampled_from("ab1 |\\`*_<>&;#~[]()!:@$/.\n-+=\"'{}^%é\t") | st.characters(), max_size=30))
def test_b44_any_text(text: str) -> None:
    """Whatever is written, the cell count holds and the text comes back."""
    assert tables(table(["a", "b"], [[inert(text), "x"]])) == [[["a", "b"], [shown(text), "x"]]]


@settings(max_examples=200)
@given(st.text(st.sampled_from("ab1 |\\`*_<>&;#~[]()!:@$/.\n-+=\t"), max_size=20))
def test_any_text_as_a_paragraph(text: str) -> None:
    """At the start of a line nothing becomes a heading, a list, a quote or a fence."""
    line = one_line(text)
    if line.strip():
        assert [t.type for t in PARSER.parse(line)] == ["paragraph_open", "inline", "paragraph_close"]


def test_b44_names_and_reasons() -> None:
    """A name with a pipe, a reason of two lines: the table keeps its columns."""
    overview, *others = tables(markdown(hostile_run()))
    assert {len(row) for row in overview} == {12}
    assert [row[0] for row in overview[1:]] == ["✅ devis | relance", "⚠️ relance", "👨‍👩‍👧 famille", "日本"]
    assert {len(row) for other in others for row in other} == {3}
    quoted = {row[2] for other in others for row in other}
    assert {shown(t) for t in HOSTILE} <= quoted


def test_nothing_of_others_is_live() -> None:
    """No link, image, code, emphasis or tag but ours, in the whole report and in the detail."""
    for detail in (False, True):
        text = markdown(hostile_run(), ReportOptions(detail=detail))
        tokens = [c for t in PARSER.parse(text) if t.type == "inline" for c in t.children or ()]
        assert {t.type for t in tokens} <= {*INLINE, "strong_open", "strong_close"}
        tags = {t.content for t in tokens if t.type == "html_inline"}
        assert tags <= {"<br>", "<sub>", "</sub>", "<b>", "</b>"}
        blocks = [t.content for t in PARSER.parse(text) if t.type == "html_block"]
        assert all(re.match(r"</?details|<sub>|<pre>", b) for b in blocks)
        assert "<script" not in text


@pytest.mark.parametrize(
    "live",
    [r"@octocat", r"#123", r"GH-45", r":warning:", r"https?://x", r"user@x", r"(?m)^\s*::", r"##\[", r"(?m)^```"],
)
def test_nothing_that_is_looked_for_is_found(live: str) -> None:
    """Mentions, issues, emoji codes, addresses, commands and fences."""
    page = re.sub(r"&#(\d+);", lambda m: chr(int(m.group(1))), markdown(hostile_run()))
    source = markdown(hostile_run())
    where = source if live.startswith("(?m)") or live == r"##\[" else page
    assert re.search(live, where) is None


def test_the_verdict_comes_first() -> None:
    """What failed, what else, the money."""
    first = markdown(mixed_run()).splitlines()[0]
    assert first == "## ✗ 4 of 9 scenarios failed · 1 unstable · 1 error · 1 invalid · 1 not run · $0.0308"
    assert markdown(run_of(passed())).startswith("## ✓ 1 of 1 scenarios passed · $0.004")
    unfinished = replace(run_of(passed()), exit_code=130)
    assert markdown(unfinished).startswith("## ! 1 of 1 scenarios passed, exit 130 (interrupted)")


def test_rows_add_up() -> None:
    """The costs of the rows sum to the total, as shown."""
    text = markdown(mixed_run())
    overview = tables(text)[0]
    at = overview[0].index("cost")
    costs = [Decimal(row[at].removeprefix("$")) for row in overview[1:]]
    assert f"**Cost of this run** ${sum(costs)} of $0.50" in text


def test_floor_and_mean_reasons() -> None:
    """Both are in the table and in the blocks; the criterion that broke the floor is bold."""
    text = markdown(run_of(failed_on_floor(), failed_on_mean()))
    floor = "objective 4 at turn 3 is under the floor of 5"
    why = [row[-1] for row in tables(text)[0][1:]]
    assert why == [f"{floor} (0 of 2 trials pass, margins sum to +1.33, 2 low)", "mean 6.42 is under 6.5"]
    assert "| **6.3** |" in text
    assert f"<summary>✗ pricing-asked-twice: {floor}" in text
    assert "gates because judge.gate is always" in text


def test_advisory() -> None:
    """Scores are marked, what the judge would have said is there, nothing is bold."""
    text = markdown(advisory_run())
    overview = tables(text)[0]
    assert overview[1][3:8] == ["7.0*", "7.0*", "7.0*", "4.0*", "6.25*"]
    assert overview[1][-1] == "* rubric: format 4 at turn 1 is under the floor of 5; mean 6.25 is under 6.5"
    assert "* shown, does not decide" in re.sub(r"&#42;", "*", text)
    assert "| **" not in text


def test_expected_beside_got() -> None:
    """An expectation that does not hold is a table of its own."""
    found = next(t for t in tables(markdown(mixed_run())) if t[0] == ["expectation", "expected", "got"])
    assert found[1] == [
        "tools.called.save_profile",
        'a call with {"city": "Lyon", "budget": 49}',
        '`city` is "Paris", not "Lyon"',
    ]


def test_b46_a_limit_in_bytes() -> None:
    """The verdict and the table always, whole blocks as they fit, a closing note; counted in UTF-8."""
    turns = transcript(*(said(n, "é" * 1000, "é" * 1000) for n in range(1, 21)))
    run = run_of(*(scenario(f"s{n}", trial(f"s{n}", "error", "x", talk=turns)) for n in range(60)))
    full = markdown(run, ReportOptions(detail=True))
    assert len(full.encode()) > 2_000_000
    cut = markdown(run, ReportOptions(detail=True, limit_bytes=900_000))
    assert 600_000 < len(cut.encode()) <= 900_000
    assert cut.rstrip().endswith("`evalrun show 7f3a2b`")
    assert cut.split("<details", 1)[0].split("###", 1)[0] == full.split("###", 1)[0]
    tiny = markdown(run, ReportOptions(limit_bytes=10))
    assert len(tables(tiny)[0]) == 61


def test_an_encoding_that_lacks_characters() -> None:
    """They become entities, which read the same."""
    text = markdown(hostile_run(), ReportOptions(encoding="ascii"))
    assert text.isascii()
    assert tables(text)[0][4][0] == "日本"


def test_a_trace_keeps_its_lines() -> None:
    """As a block of its own, inert."""
    assert preformatted("a\n  <b>\n::error::x") == "<pre>a\n  &#60;b&#62;\n&#58;&#58;error&#58;&#58;x</pre>".replace(
        "&#58;&#58;error", f"&#58;&#58;{BROKEN}error"
    )

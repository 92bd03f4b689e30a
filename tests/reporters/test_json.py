"""JSON: one document with all that is kept and all that is computed."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from evalrun.archive import decode
from evalrun.interfaces.reports import ReportOptions
from evalrun.results import RESULTS_VERSION, RunResult
from tests.reporters.shown import json_text
from tests.results_samples import errored
from tests.runs_samples import advisory_run, hostile_run, mixed_run, run_of


@pytest.mark.parametrize("run", [mixed_run(), hostile_run(), advisory_run(), run_of()])
def test_the_whole_run_is_in_it(run: RunResult) -> None:
    """The document reads back as the run it came from."""
    text = json_text(run)
    assert decode(RunResult, text) == run
    found = json.loads(text)
    assert next(iter(found)) == "schema_version"
    assert found["schema_version"] == RESULTS_VERSION
    assert text.endswith("}\n")


def test_sums_are_exact_texts() -> None:
    """Money of scenarios and of roles sums to the total, digit by digit."""
    run = mixed_run()
    figures = json.loads(json_text(run))["figures"]
    total = Decimal(figures["cost_usd"])
    assert total == run.spending.cost
    assert sum(Decimal(s["cost_usd"]) for s in figures["scenarios"].values()) == total
    assert sum(map(Decimal, figures["cost_usd_by_role"].values())) == total


def test_means() -> None:
    """Computed means are numbers; where there is no score there is null, never 0."""
    figures = json.loads(json_text(mixed_run()))["figures"]
    assert (figures["judged"], figures["selected"]) == (4, 9)
    assert figures["scenarios"]["pricing-not-before-profile"]["mean"] == 8.375
    assert figures["scenarios"]["pricing-asked-twice"]["under_floor"] == ["objective"]
    assert figures["scenarios"]["pricing-city"]["mean"] is None
    assert json.loads(json_text(run_of(errored())))["figures"]["mean"] is None


def test_the_same_run_gives_the_same_text() -> None:
    """Keys have one order."""
    assert json_text(mixed_run()) == json_text(mixed_run())


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_an_encoding_that_lacks_characters(encoding: str) -> None:
    """They become escapes; the values are the same."""
    text = json_text(hostile_run(), ReportOptions(encoding=encoding))
    assert text.encode(encoding).decode(encoding) == text
    assert decode(RunResult, text) == hostile_run()


def test_no_line_can_be_a_command_to_a_ci_service() -> None:
    """The old form of command is escaped, the value stays."""
    run = run_of(errored(), notices=("##[error]x", "::error::x"))
    text = json_text(run)
    assert "##[" not in text
    assert not any(line.lstrip().startswith("::") for line in text.splitlines())
    assert json.loads(text)["notices"] == ["##[error]x", "::error::x"]

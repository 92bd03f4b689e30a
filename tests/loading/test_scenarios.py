"""The format of scenarios: what each part of a file means."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from evalrun.errors import Where
from evalrun.expectation import Expectations, NamedTool, RepliesExpectation, SqlExpectation
from evalrun.scenario import (
    AdvanceStep,
    Category,
    EventStep,
    ExpectStep,
    JudgePlan,
    Participant,
    PersonaStep,
    UserStep,
)
from tests.loading.projects import SCENARIO, suite_of

DESIGN = """\
id: pricing-not-before-profile        # [a-z0-9-]{1,64}, unique; default: the file's stem
title: Pricing is not discussed before the profile is complete
category: stage
stage: pricing
persona: lea
objective: Answer that pricing comes later and go on with the profile.
given:
  now: 2026-03-02T09:00:00+01:00      # one clock for agent, persona and judge
  state: {user: {stage: profiling}}   # handed to the target's arrange()
  participants: [{id: noah, name: Noah, address: "+33612345678"}]
  keep_columns: [users.born]
steps:
  - user: "c'est combien ?"           # scripted
  - persona: {turns: 4, until: {state: {user.stage: matching}}}   # simulated, at most 4 turns
  - event: {name: match_notification, data: {match: noah}}        # the agent speaks first
    to: [noah]
  - advance: 1w2d                     # time passes
  - user: {text: salut, from: noah}
  - expect: silence
  - expect: {tools: {not_called: [charge_card]}}                  # checkpoint
expect:                               # at the end
  tools:
    called: [{name: save_profile, args: {city: Lyon}, times: 1}, greet]
    not_called: [charge_card]
  replies: {min: 1, max_bubbles: 3}
  text: {absent: ["49 €"]}
  state: {user.stage: profiling}
  sql: [{query: "select count(*) from payments", equals: 0}, {query: select 1, rows: [[1, null]]}]
judge: {rubric: conversation, checks: [honest-figures]}
repeats: auto
tags: [money]
watch: ["prompts/pricing.md"]
allow: ["[PDF]"]
"""


def test_the_scenario_of_the_design_loads(tmp_path: Path) -> None:
    """Every part of the format means what the design says."""
    loaded = suite_of(tmp_path, {"scenarios/pricing.yaml": DESIGN}).scenarios[0]
    assert (loaded.id, loaded.category, loaded.stage) == ("pricing-not-before-profile", Category.STAGE, "pricing")
    assert loaded.given.now == datetime(2026, 3, 2, 9, tzinfo=timezone(timedelta(hours=1)))
    assert loaded.given.state == {"user": {"stage": "profiling"}}
    assert loaded.given.participants == (Participant(id="noah", name="Noah", address="+33612345678"),)
    assert loaded.given.keep_columns == ("users.born",)
    user, persona, event, advance, other, silence, checkpoint = loaded.steps
    assert user == UserStep(text="c'est combien ?", where=Where(file="scenarios/pricing.yaml", line=13, column=5))
    assert isinstance(persona, PersonaStep)
    assert isinstance(persona.until, Expectations)
    assert (persona.turns, persona.until.state[0].path) == (4, "user.stage")
    assert isinstance(event, EventStep)
    assert (event.name, event.data, event.to) == ("match_notification", {"match": "noah"}, ("noah",))
    assert isinstance(advance, AdvanceStep)
    assert advance.interval == timedelta(days=9)
    assert isinstance(other, UserStep)
    assert (other.text, other.sender) == ("salut", "noah")
    assert isinstance(silence, ExpectStep)
    assert (silence.silence, bool(silence.expectations)) == (True, False)
    assert isinstance(checkpoint, ExpectStep)
    assert [t.name for t in checkpoint.expectations.not_called] == ["charge_card"]
    assert loaded.judge == JudgePlan(rubric="conversation", checks=("honest-figures",))
    assert (loaded.repeats, loaded.tags, loaded.allow) == ("auto", ("money",), ("[PDF]",))


def test_the_expectations_of_the_design_load(tmp_path: Path) -> None:
    """Tools by name or as a table, replies, text, state and SQL, each with its place."""
    expect = suite_of(tmp_path, {"scenarios/pricing.yaml": DESIGN}).scenarios[0].expect
    assert [(c.name, c.args, c.exact, c.times) for c in expect.called] == [
        ("save_profile", {"city": "Lyon"}, False, 1),
        ("greet", {}, False, None),
    ]
    file = "scenarios/pricing.yaml"
    assert expect.not_called == (NamedTool(name="charge_card", where=Where(file=file, line=24, column=18)),)
    assert expect.replies == RepliesExpectation(min=1, max_bubbles=3, where=Where(file=file, line=25, column=12))
    assert [(t.text, t.present) for t in expect.text] == [("49 €", False)]
    assert [(s.path, s.value) for s in expect.state] == [("user.stage", "profiling")]
    place = Where(file=file, line=28, column=9)
    assert expect.sql[0] == SqlExpectation(query="select count(*) from payments", equals=0, where=place)
    assert expect.sql[1].rows == ((1, None),)


def test_a_time_in_utc_is_read(tmp_path: Path) -> None:
    """Z is a zone."""
    loaded = suite_of(tmp_path, {"scenarios/pricing.yaml": SCENARIO + "given: {now: 2026-03-02T09:00Z}\n"}).scenarios[0]
    assert loaded.given.now == datetime(2026, 3, 2, 9, tzinfo=UTC)


def test_short_forms_mean_the_long_ones(tmp_path: Path) -> None:
    """An event and a tool by its name alone, and a judge that is none."""
    text = SCENARIO.replace("- user: c'est combien ?", "- event: reminder") + "judge: none\n"
    loaded = suite_of(tmp_path, {"scenarios/pricing.yaml": text}).scenarios[0]
    step = loaded.steps[0]
    assert isinstance(step, EventStep)
    assert (step.name, step.data, step.participant) == ("reminder", {}, "")
    assert loaded.judge == JudgePlan()

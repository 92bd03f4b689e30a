"""The shape of a scenario file, and the scenario it means."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from evalrun.expectation import (
    Expectations,
    NamedTool,
    RepliesExpectation,
    SqlExpectation,
    StateExpectation,
    TextExpectation,
    ToolExpectation,
)
from evalrun.loading.fields import WHERE, Field, ListOf, MappingOf, Table, listed, place
from evalrun.loading.kinds import Anything, Duration, Flag, Integer, Moment, Problems, Repeats, Skip, Text, Words
from evalrun.loading.nodes import Node, NodeKind
from evalrun.scenario import (
    AdvanceStep,
    Category,
    EventStep,
    ExpectStep,
    Given,
    JudgePlan,
    Participant,
    PersonaStep,
    Scenario,
    Step,
    UserStep,
)

ID = Text(pattern="[a-z0-9-]{1,64}", what="an id of a-z, 0-9 and -, at most 64 characters")
TEXTS = ListOf(item=Text())
ONLY_SETTINGS = "adapters, entry points and commands are named only in the settings, under targets"
ROOMS = ("adapter", "adapters", "entry", "target", "shell", "run", "command", "hook", "hooks", "setup", "database")

CALLED = Table(
    name="called",
    short="name",
    fields=(
        Field(name="name", kind=Text(), meaning="the tool", required=True),
        Field(
            name="args",
            kind=MappingOf(value=Anything()),
            meaning="arguments the call must hold, whatever else it holds",
        ),
        Field(name="exact", kind=Flag(), meaning="refuse arguments beyond `args`"),
        Field(name="times", kind=Integer(most=1000), meaning="exactly how many matching calls"),
    ),
)
NAMED = Table(
    name="not_called", short="name", fields=(Field(name="name", kind=Text(), meaning="the tool", required=True),)
)
TOOLS = Table(
    name="tools",
    least=1,
    fields=(
        Field(name="called", kind=ListOf(item=CALLED, least=1), meaning="tools that were called"),
        Field(name="not_called", kind=ListOf(item=NAMED, least=1), meaning="tools that were not called"),
    ),
)
REPLIES = Table(
    name="replies",
    least=1,
    fields=(
        Field(name="min", kind=Integer(), meaning="messages at least, over the conversation"),
        Field(name="max", kind=Integer(), meaning="messages at most, over the conversation"),
        Field(name="max_bubbles", kind=Integer(), meaning="messages at most in one turn to one person"),
    ),
)
TEXT = Table(
    name="text",
    least=1,
    fields=(
        Field(name="present", kind=ListOf(item=Words(), least=1), meaning="words that the agent said somewhere"),
        Field(name="absent", kind=ListOf(item=Words(), least=1), meaning="words that the agent said nowhere"),
    ),
)
SQL = Table(
    name="sql",
    one_of=("equals", "rows"),
    fields=(
        Field(name="query", kind=Text(), meaning="a query on the trial's database, read only", required=True),
        Field(name="equals", kind=Anything(), meaning="the single value it must give"),
        Field(name="rows", kind=ListOf(item=ListOf(item=Anything())), meaning="the rows it must give"),
    ),
)
EXPECT = Table(
    name="expect",
    least=1,
    moved={
        "called": "put it under `tools`",
        "not_called": "put it under `tools`",
        "present": "put it under `text`",
        "absent": "put it under `text`",
        "max_bubbles": "put it under `replies`",
    },
    fields=(
        Field(name="tools", kind=TOOLS, meaning="tool calls"),
        Field(name="replies", kind=REPLIES, meaning="how many messages"),
        Field(name="text", kind=TEXT, meaning="words said or not said"),
        Field(name="state", kind=MappingOf(value=Anything(), least=1), meaning="dotted paths of the target's state"),
        Field(name="sql", kind=ListOf(item=SQL, least=1), meaning="queries on the trial's database"),
    ),
)


class Checkpoint:
    """A table (expect), or the word `silence`."""

    def schema(self) -> dict[str, object]:
        """The word or the table."""
        return {"anyOf": [{"const": "silence"}, EXPECT.schema()]}

    def read(self, node: Node, problems: Problems) -> dict[str, object]:
        """The table; `silence` as one without conditions."""
        if node.kind is NodeKind.TEXT and node.text == "silence":
            return {WHERE: node.where, "silence": True}
        return EXPECT.read(node, problems)


TO = Field(name="to", kind=TEXTS, meaning="participants the agent may write to, beside the one the step is about")
USER = Table(
    name="user",
    short="text",
    fields=(
        Field(name="text", kind=Text(), meaning="what the user writes", required=True),
        Field(name="from", kind=Text(), meaning="a participant (default: the persona)"),
    ),
)
PERSONA = Table(
    name="persona",
    fields=(
        Field(name="turns", kind=Integer(least=1, most=100), meaning="at most so many turns", required=True),
        Field(name="until", kind=EXPECT, meaning="stop when these hold"),
    ),
)
EVENT = Table(
    name="event",
    short="name",
    fields=(
        Field(name="name", kind=Text(), meaning="the event, as the target names it", required=True),
        Field(name="data", kind=MappingOf(value=Anything()), meaning="its data"),
        Field(name="participant", kind=Text(), meaning="whom it is about (default: the persona)"),
    ),
)
STEP = Table(
    name="step",
    one_of=("user", "persona", "event", "advance", "expect"),
    moved={**dict.fromkeys(ROOMS, ONLY_SETTINGS), "assert": "it is called `expect`"},
    fields=(
        Field(name="user", kind=USER, meaning="a scripted message"),
        Field(name="persona", kind=PERSONA, meaning="the persona talks"),
        Field(name="event", kind=EVENT, meaning="dispatched to the orchestrator; the agent speaks first"),
        Field(name="advance", kind=Duration(), meaning="time passes"),
        Field(name="expect", kind=Checkpoint(), meaning="a checkpoint, or `silence`"),
        TO,
    ),
)
PARTICIPANT = Table(
    name="participant",
    fields=(
        Field(name="id", kind=ID, meaning="how steps name them", required=True),
        Field(name="name", kind=Text(), meaning="how reports name them", required=True),
        Field(name="address", kind=Text(), meaning="how the channel names them"),
        Field(name="attributes", kind=MappingOf(value=Anything()), meaning="more for the target"),
    ),
)
GIVEN = Table(
    name="given",
    fields=(
        Field(name="now", kind=Moment(), meaning="the clock of agent, persona and judge"),
        Field(name="state", kind=MappingOf(value=Anything()), meaning="handed to the target; `now-3d` is a time"),
        Field(name="participants", kind=ListOf(item=PARTICIPANT), meaning="others the agent may meet"),
        Field(name="keep_columns", kind=TEXTS, meaning="columns that `advance` leaves alone"),
    ),
)


class Judged:
    """A table (judge), or the word `none`."""

    table = Table(
        name="judge",
        fields=(
            Field(name="rubric", kind=Text(), meaning="a scored rubric (default: conversation)"),
            Field(name="checks", kind=TEXTS, meaning="check rubrics"),
        ),
    )

    def schema(self) -> dict[str, object]:
        """The word or the table."""
        return {"anyOf": [{"const": "none"}, self.table.schema()]}

    def read(self, node: Node, problems: Problems) -> dict[str, object]:
        """The table."""
        if node.kind is NodeKind.TEXT and node.text == "none":
            return {WHERE: node.where, "rubric": ""}
        return self.table.read(node, problems)


SCENARIO = Table(
    name="scenario",
    meaning="Who talks, in which situation, what must hold.",
    moved={
        **dict.fromkeys(ROOMS, ONLY_SETTINGS),
        **dict.fromkeys(("assert", "asserts"), "it is called `expect`"),
        **dict.fromkeys(("rules", "forbidden"), "style rules stand in style_rules.toml"),
        **dict.fromkeys(("now", "state", "participants", "keep_columns"), "put it under `given`"),
        **dict.fromkeys(("tools", "replies", "text", "sql"), "put it under `expect`"),
        **dict.fromkeys(("rubric", "checks"), "put it under `judge`"),
    },
    fields=(
        Field(name="id", kind=ID, meaning="unique; default: the file's name without its ending"),
        Field(name="title", kind=Text(), meaning="what is guarded, in a sentence", required=True),
        Field(name="category", kind=Text(choices=tuple(Category)), meaning="what kind of behaviour", required=True),
        Field(name="stage", kind=Text(), meaning="the step of the product's funnel; needed for category stage"),
        Field(name="persona", kind=Text(), meaning="the id of a persona", required=True),
        Field(name="objective", kind=Text(), meaning="what the agent should achieve, for the judge", required=True),
        Field(name="given", kind=GIVEN, meaning="the situation before the first step"),
        Field(name="steps", kind=ListOf(item=STEP, least=1), meaning="what happens, in order", required=True),
        Field(name="expect", kind=EXPECT, meaning="what must hold at the end"),
        Field(name="judge", kind=Judged(), meaning="rubric and checks, or `none`"),
        Field(name="repeats", kind=Repeats(), meaning="auto, or how many trials"),
        Field(name="tags", kind=TEXTS, meaning="words to select by"),
        Field(name="watch", kind=TEXTS, meaning="more paths whose change selects it"),
        Field(name="allow", kind=TEXTS, meaning="texts that style rules let pass here"),
    ),
)
DEFAULT_RUBRIC = "conversation"


def scenario_of(node: Node, *, stem: str, digest: str, problems: Problems) -> Scenario:
    """The scenario of a file. Raises Skip after noting problems."""
    values: Mapping[str, Any] = SCENARIO.read(node, problems)
    judge = values.get("judge") or {}
    return Scenario(
        id=values.get("id") or id_of(stem, node, problems),
        title=values["title"],
        category=Category(values["category"]),
        stage=values.get("stage", ""),
        persona=values["persona"],
        objective=values["objective"],
        given=_given(values.get("given") or {}),
        steps=tuple(_step(s, problems) for s in listed(values["steps"])),
        expect=expectations_of(values.get("expect"), problems),
        judge=JudgePlan(rubric=judge.get("rubric", DEFAULT_RUBRIC), checks=tuple(judge.get("checks", ()))),
        repeats=values.get("repeats", "auto"),
        tags=values.get("tags", ()),
        watch=values.get("watch", ()),
        allow=values.get("allow", ()),
        where=node.where,
        digest=digest,
    )


def id_of(stem: str, node: Node, problems: Problems) -> str:
    """The id of a file that names none: its stem. Raises Skip when that is no id."""
    try:
        return ID.read(Node(kind=NodeKind.TEXT, where=node.where, text=stem, source=stem), Problems())
    except Skip:
        message = f"the file's name gives the id `{stem}`, expected {ID.what}; rename it, or add id: …"
        problems.add(node.where, message)
        raise


def _given(values: Mapping[str, Any]) -> Given:
    now: datetime | None = values.get("now")
    people = tuple(
        Participant(id=p["id"], name=p["name"], address=p.get("address", ""), attributes=p.get("attributes", {}))
        for p in values.get("participants", ())
    )
    return Given(
        now=now, state=values.get("state", {}), participants=people, keep_columns=values.get("keep_columns", ())
    )


def _step(values: Mapping[str, Any], problems: Problems) -> Step:
    where = place(values)
    to = values.get("to", ())
    action = next(a for a in STEP.one_of if a in values)
    written: Any = values[action]
    if action == "expect" and to:
        problems.add(where, "`to` beside `expect` has no meaning; put it in the step in which the agent writes")
    match action:
        case "user":
            return UserStep(text=written["text"], sender=written.get("from", ""), to=to, where=where)
        case "persona":
            until = expectations_of(written["until"], problems) if "until" in written else None
            return PersonaStep(turns=written["turns"], until=until, to=to, where=where)
        case "event":
            data, participant = written.get("data", {}), written.get("participant", "")
            return EventStep(name=written["name"], data=data, participant=participant, to=to, where=where)
        case "advance":
            interval: timedelta = written
            return AdvanceStep(interval=interval, to=to, where=where)
    silence = bool(written.get("silence"))
    return ExpectStep(expectations=expectations_of(written, problems), silence=silence, where=place(written))


def expectations_of(values: Mapping[str, Any] | None, problems: Problems) -> Expectations:
    """The expectations of a table that was read; those that cannot hold together are a problem."""
    if values is None:
        return Expectations()
    where = place(values)
    tools = values.get("tools") or {}
    replies = values.get("replies")
    text = values.get("text") or {}
    if replies and replies.get("max") is not None and replies.get("min", 0) > replies["max"]:
        problems.add(place(replies), f"min {replies['min']} is over max {replies['max']}; correct one of them")
    both = {t for t in text.get("present", ()) if t in text.get("absent", ())}
    for word in sorted(both):
        problems.add(place(text), f"`{word}` is expected both present and absent; remove one")
    return Expectations(
        called=tuple(_called(c) for c in tools.get("called", ())),
        not_called=tuple(NamedTool(name=n["name"], where=place(n)) for n in tools.get("not_called", ())),
        replies=_replies(replies) if replies else None,
        text=tuple(
            TextExpectation(text=t, present=present, where=place(text))
            for name, present in (("present", True), ("absent", False))
            for t in text.get(name, ())
        ),
        state=tuple(
            StateExpectation(path=path, value=value, where=where) for path, value in values.get("state", {}).items()
        ),
        sql=tuple(
            SqlExpectation(query=q["query"], equals=q.get("equals"), rows=q.get("rows"), where=place(q))
            for q in values.get("sql", ())
        ),
    )


def _called(values: Mapping[str, Any]) -> ToolExpectation:
    return ToolExpectation(
        name=values["name"],
        args=values.get("args", {}),
        exact=values.get("exact", False),
        times=values.get("times"),
        where=place(values),
    )


def _replies(values: Mapping[str, Any]) -> RepliesExpectation:
    return RepliesExpectation(
        min=values.get("min"), max=values.get("max"), max_bubbles=values.get("max_bubbles"), where=place(values)
    )

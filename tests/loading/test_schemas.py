"""The shipped JSON Schemas: equal to the tables, valid themselves, and of one mind with the reader."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

import evalrun
from evalrun.errors import FileProblems, UnknownName, Where
from evalrun.loading.kinds import Problems, Skip
from evalrun.loading.nodes import Node, NodeKind
from evalrun.loading.schemas import KINDS, schema_of, schema_text
from evalrun.loading.toml_nodes import read_toml
from evalrun.loading.yaml_nodes import read_yaml
from tests.loading.projects import CHECK, FILES, PERSONA, RUBRIC, RULES, SCENARIO, SETTINGS
from tests.loading.test_scenarios import DESIGN
from tests.loading.test_settings import DESIGN as SETTINGS_OF_THE_DESIGN

SHIPPED = Path(evalrun.__file__).parent / "schemas"
VALIDATORS = {kind: Draft202012Validator(schema_of(kind)) for kind in KINDS}
YAML_KINDS = ("scenario", "persona", "rubric")


class Core(yaml.CSafeLoader):
    """YAML as editors read it: version 1.2's core schema, keys as text."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        """Keys as written."""
        return {k.value: self.construct_object(v, deep=deep) for k, v in node.value}


Core.yaml_implicit_resolvers = {}
for tag, pattern, first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("null", r"|~|null|Null|NULL", ["~", "n", "N", ""]),
):
    Core.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"), list(first))


def accepted(kind: str, node: Node) -> bool:
    """Whether the table of a kind reads a document."""
    problems = Problems()
    try:
        KINDS[kind].read(node, problems)
    except Skip:
        return False
    return not problems.found


def both(kind: str, text: str) -> tuple[bool, bool]:
    """What the reader and the reference validator say of a document."""
    if kind in YAML_KINDS:
        node, value = read_yaml(text.encode(), "f"), yaml.load(text, Loader=Core)
    else:
        node, value = read_toml(text.encode(), "f"), tomllib.loads(text)
    return accepted(kind, node), VALIDATORS[kind].is_valid(value)


@pytest.mark.parametrize("kind", KINDS)
def test_the_shipped_schema_is_the_generated_one(kind: str) -> None:
    """One declaration: the file in the package says what the reader does."""
    assert (SHIPPED / f"{kind}.json").read_text("utf-8") == schema_text(kind)


def test_nothing_else_is_shipped() -> None:
    """A schema for each kind, and no more."""
    assert sorted(p.stem for p in SHIPPED.glob("*.json")) == sorted(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_schema_is_valid_itself(kind: str) -> None:
    """By the meta-schema of 2020-12, and every key says what it means."""
    schema = json.loads(schema_text(kind))
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert all(p["description"] for p in schema["properties"].values())


def test_an_unknown_kind_is_refused() -> None:
    """With the nearest name."""
    with pytest.raises(UnknownName, match="did you mean `scenario`"):
        schema_of("scenaro")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("scenario", DESIGN),
        ("scenario", SCENARIO),
        ("persona", PERSONA),
        ("persona", PERSONA + "facts: {a: 0612345670, b: 1.10, c: no, d: true}\nmax_chars: 300\n"),
        ("rubric", RUBRIC),
        ("rubric", CHECK),
        ("rubric", RUBRIC + 'pass: {mean: "6.5", min: 5}\n'),
        ("rubric", "criteria: [{id: a, ask: b, anchors: {1: x, 9-10: y}}]\n"),
        ("style_rules", RULES),
        ("style_rules", '[[rules]]\nid="a"\ncheck="forbidden"\nseverity="soft"\nsay="s"\ntexts=["a"]\n'),
        ("style_rules", '[[rules]]\nid="a"\ncheck="no_dash"\nseverity="hard"\nsay="s"\n'),
        ("settings", SETTINGS),
        ("settings", SETTINGS_OF_THE_DESIGN.replace("tool.evalrun.", "").replace('[project]\nname = "ori"\n[tool.evalrun]', "")),
    ],
)  # fmt: skip
def test_what_we_read_is_valid(kind: str, text: str) -> None:
    """A document that loads is one the reference validator accepts."""
    assert both(kind, text) == (True, True)


SCENARIO_CHANGES = [
    ("title: Pricing comes later", "titel: a"),
    ("title: Pricing comes later", "title: [NAME]"),
    ("title: Pricing comes later", "title: null"),
    ("title: Pricing comes later", "title: '  '"),
    ("category: stage", "category: stages"),
    ("id: pricing", "id: Pricing"),
    ("- user: c'est combien ?", "- {}"),
    ("- user: c'est combien ?", "- {user: a, advance: 1d}"),
    ("- user: c'est combien ?", "- advance: soon"),
    ("- user: c'est combien ?", "- advance: 0d"),
    ("- user: c'est combien ?", "- persona: {turns: 0}"),
    ("- user: c'est combien ?", "- persona: {}"),
    ("- user: c'est combien ?", "- shell: x"),
    ("text: {absent: [49 €]}", "text: {}"),
    ("text: {absent: [49 €]}", "text: {absent: []}"),
    ("text: {absent: [49 €]}", "text: {absent: [{name}]}"),
    ("text: {absent: [49 €]}", "sql: [{query: a}]"),
    ("text: {absent: [49 €]}", "sql: [{query: a, equals: 1, rows: []}]"),
    ("text: {absent: [49 €]}", "tools: {called: [{args: {}}]}"),
    ("text: {absent: [49 €]}", "tools: {called: [{name: a, times: -1}]}"),
    ("text: {absent: [49 €]}", "tools: {called: [{name: a, exact: yes}]}"),
    ("text: {absent: [49 €]}", "replies: {min: '1'}"),
    ("text: {absent: [49 €]}", "state: {}"),
    ("persona: lea", "persona: lea\nrepeats: often"),
    ("persona: lea", "persona: lea\nrepeats: 0"),
    ("persona: lea", "persona: lea\njudge: nobody"),
    ("persona: lea", "persona: lea\ngiven: {now: 2026-03-02T09:00:00}"),
    ("persona: lea", "persona: lea\ngiven: {now: today}"),
]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *(("scenario", SCENARIO.replace(old, new)) for old, new in SCENARIO_CHANGES),
        ("persona", PERSONA + "max_chars: 1\n"),
        ("persona", PERSONA + "facts: {a: [1]}\n"),
        ("persona", PERSONA + "facts: {a: null}\n"),
        ("persona", PERSONA + "language: french\n"),
        ("persona", PERSONA.replace("[brève]", "[]")),
        ("rubric", RUBRIC + "pass: {mean: 11}\n"),
        ("rubric", RUBRIC + 'pass: {mean: "6,5"}\n'),
        ("rubric", RUBRIC.replace("character,", "character, anchors: {0: a},")),
        ("style_rules", RULES + "maxx = 1\n"),
        ("style_rules", RULES.replace("max = 1", "")),
        ("style_rules", RULES.replace("max = 1", 'max = "1"')),
        ("style_rules", RULES.replace("max_questions", "max_question")),
        ("style_rules", RULES.replace("soft", "softly")),
        ("style_rules", RULES.replace('say = "ask one question at most"', "say = 1")),
        ("style_rules", ""),
        ("settings", "targt = 1\n"),
        ("settings", "target = 1\n"),
        ("settings", "budget_usd = -1\n"),
        ("settings", 'budget_usd = "0,10"\n'),
        ("settings", 'models.judge = "gpt"\n'),
        ("settings", 'providers.p.api_key = "x"\n'),
        ("settings", 'profiles.ci.profiles.x.target = "y"\n'),
        ("settings", "concurrency = 0\n"),
    ],
)
def test_what_we_refuse_is_invalid(kind: str, text: str) -> None:
    """A document that does not load is one the reference validator refuses."""
    assert both(kind, text) == (False, False)


def _node(value: object) -> Node:
    """A value as the node its YAML would give."""
    where = Where(file="f", line=1, column=1)
    if isinstance(value, dict):
        pairs = [(_node(k), _node(v)) for k, v in value.items()]
        return Node(kind=NodeKind.MAPPING, where=where, pairs=pairs, source="{…}")
    if isinstance(value, list):
        return Node(kind=NodeKind.LIST, where=where, items=[_node(v) for v in value], source="[…]")
    if isinstance(value, str):
        return Node(kind=NodeKind.TEXT, where=where, text=value, source=value)
    return Node(kind=NodeKind.TEXT, where=where, text=json.dumps(value), plain=True, source=json.dumps(value))


SCALARS = st.one_of(
    st.sampled_from(["", " ", "a", "lea", "stage", "silence", "none", "auto", "3d", "0d", "1", "0.50", "user.stage"]),
    st.sampled_from([True, False, None, 0, 1, 5, 11, -1, 101, 1.5, "2026-03-02T09:00:00Z", "2026-03-02T09:00:00"]),
)
KEYS = st.sampled_from(
    [
        "id",
        "title",
        "category",
        "stage",
        "persona",
        "objective",
        "given",
        "steps",
        "expect",
        "judge",
        "repeats",
        "user",
        "event",
        "advance",
        "turns",
        "until",
        "tools",
        "called",
        "not_called",
        "name",
        "args",
        "times",
        "text",
        "absent",
        "replies",
        "min",
        "max",
        "state",
        "sql",
        "query",
        "equals",
        "rows",
        "now",
        "rubric",
        "checks",
        "to",
        "traits",
        "background",
        "facts",
        "reveal",
        "only_if_asked",
        "criteria",
        "ask",
        "anchors",
        "pass",
        "mean",
        "kind",
        "x",
    ]
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
GOOD = {
    kind: yaml.load(text, Loader=Core)
    for kind, text in (("scenario", DESIGN), ("persona", PERSONA), ("rubric", RUBRIC))
}


def _places(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(p for k, v in inner for p in _places(v, (*path, k)))]


def _put(value: Any, path: tuple[Any, ...], new: object) -> object:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _put(value[path[0]], path[1:], new)
    return copy


@settings(max_examples=400)
@given(data=st.data())
@pytest.mark.parametrize("kind", YAML_KINDS)
def test_reader_and_schema_are_of_one_mind(kind: str, data: st.DataObject) -> None:
    """A good document with any piece of it replaced is accepted by both or refused by both."""
    path = data.draw(st.sampled_from(_places(GOOD[kind])))
    value = _put(GOOD[kind], path, data.draw(VALUES))
    node = _node(value)
    assert accepted(kind, node) == VALIDATORS[kind].is_valid(value)


def test_the_files_of_the_test_project_are_whole() -> None:
    """What other tests change starts from documents that both accept."""
    assert FILES["scenarios/pricing.yaml"] == SCENARIO
    with pytest.raises(FileProblems):
        read_yaml(b"", "f")

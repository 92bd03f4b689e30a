"""The shape of the settings: `[tool.evalrun]` in pyproject.toml, or `evalrun.toml`."""

from __future__ import annotations

import re

from evalrun.config import Gate
from evalrun.loading.fields import Field, ListOf, MappingOf, Table
from evalrun.loading.kinds import Amount, Anything, Flag, Integer, Problems, Repeats, Skip, Text
from evalrun.loading.nodes import Node, NodeKind
from evalrun.usage import Role

TEXTS = ListOf(item=Text())
PATHS = ListOf(item=Text(what="a path or a pattern"))
MODEL = Text(pattern=r"[^:\s]+:\S+", what="a model such as local:smollm2-135m (provider:model)")
NO_KEYS = "put the key into an environment variable and name that in `api_key_env`"


class VariableName:
    """The name of an environment variable. What was found is not shown: it may be a key put in the wrong place."""

    def schema(self) -> dict[str, object]:
        """Text that is a name."""
        return {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}

    def read(self, node: Node, problems: Problems) -> str:
        """The name."""
        if node.kind is NodeKind.TEXT and node.typed is None and re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", node.text):
            return node.text
        problems.add(node.where, "this is no name, expected the name of an environment variable such as MY_API_KEY")
        raise Skip


TARGET = Table(
    name="target",
    fields=(
        Field(name="adapter", kind=Text(), meaning="how it is connected (default python)"),
        Field(name="entry", kind=Text(), meaning="module:attribute of the adapter or of a function"),
        Field(name="database", kind=Text(), meaning='"embedded", or a DSN as "${VARIABLE}"; none by default'),
        Field(name="options", kind=MappingOf(value=Anything()), meaning="handed to the adapter"),
    ),
)
MODELS = Table(
    name="models",
    fields=tuple(Field(name=r.value, kind=MODEL, meaning=f"provider:model of the role {r}") for r in Role),
)
PROVIDER = Table(
    name="provider",
    moved=dict.fromkeys(("api_key", "key", "token", "secret", "password", "api_token"), NO_KEYS),
    fields=(
        Field(name="kind", kind=Text(), meaning="the provider it is one of (default: its own name)"),
        Field(name="base_url", kind=Text(), meaning="address of the API, up to and including /v1"),
        Field(name="api_key_env", kind=VariableName(), meaning="the NAME of the variable that holds the key"),
        Field(name="options", kind=MappingOf(value=Anything()), meaning="more for a provider of your own"),
    ),
)
PRICE = Table(
    name="price",
    fields=(
        Field(name="input", kind=Amount(), meaning="USD per million tokens in", required=True),
        Field(name="output", kind=Amount(), meaning="USD per million tokens out", required=True),
        Field(name="cached", kind=Amount(), meaning="USD per million tokens read from a cache"),
        Field(name="cache_write", kind=Amount(), meaning="USD per million tokens written to a cache"),
    ),
)
STAGE = Table(
    name="stage",
    fields=(
        Field(name="watch", kind=PATHS, meaning="paths whose change selects the stage's scenarios"),
        Field(name="modules", kind=TEXTS, meaning="Python modules whose import closure does"),
    ),
)
JUDGE = Table(
    name="judge",
    fields=(
        Field(name="gate", kind=Text(choices=tuple(Gate)), meaning="auto: once it has earned it; always; never"),
        Field(name="max_output_tokens", kind=Integer(least=50, most=100_000), meaning="of one judge call"),
        Field(
            name="confirm",
            kind=Integer(least=0, most=4, even=True),
            meaning="how often a low score or a violation is asked again: 0, 2 (default) or 4",
        ),
        Field(
            name="canaries",
            kind=Flag(),
            meaning="whether known-bad turns are hidden among the calls of a judge that gates (default true)",
        ),
        Field(name="options", kind=MappingOf(value=MappingOf(value=Anything())), meaning="a table for each judge"),
    ),
)
TIMEOUTS = Table(
    name="timeouts",
    fields=tuple(
        Field(name=n, kind=Amount(what="seconds", most=86_400), meaning=f"seconds for {m}")
        for n, m in (
            ("call", "one model call"),
            ("turn", "one turn of the target"),
            ("trial", "one trial"),
            ("run", "the whole run"),
            ("setup", "the start of target and database"),
        )
    ),
)
EVIDENCE = Table(
    name="evidence",
    fields=(
        Field(name="margin", kind=Amount(what="score points"), meaning="A: what margins must sum to (default 0.5)"),
        Field(name="min_trials", kind=Integer(least=1, most=100), meaning="fewest trials for a pass (default 1)"),
        Field(name="max_trials", kind=Integer(least=1, most=100), meaning="K: most trials (default 5)"),
    ),
)
_FIELDS = (
    Field(name="target", kind=Text(), meaning="the target to run against (default: the only one)"),
    Field(name="targets", kind=MappingOf(value=TARGET), meaning="the targets by name"),
    Field(name="models", kind=MODELS, meaning="who plays which role"),
    Field(name="providers", kind=MappingOf(value=PROVIDER), meaning="addresses and keys of providers"),
    Field(name="judges", kind=ListOf(item=Text(), least=1), meaning="the judge chain, in order"),
    Field(name="judge", kind=JUDGE, meaning="how model judges are used"),
    Field(name="budget_usd", kind=Amount(), meaning="hard cap over a run"),
    Field(name="strict_prices", kind=Flag(), meaning="refuse a model without a known price"),
    Field(name="prices", kind=MappingOf(value=PRICE), meaning="your own prices, by model or provider:model"),
    Field(name="scenarios", kind=Text(), meaning="folder of the scenarios"),
    Field(name="personas", kind=Text(), meaning="folder of the personas"),
    Field(name="rubrics", kind=Text(), meaning="folder of the rubrics"),
    Field(name="style_rules", kind=Text(), meaning="the file of style rules"),
    Field(name="source", kind=PATHS, meaning="the agent's code: a change that no stage claims selects all"),
    Field(name="shared", kind=PATHS, meaning="paths whose change selects all"),
    Field(name="stages", kind=MappingOf(value=STAGE), meaning="the funnel's stages"),
    Field(
        name="concurrency",
        kind=Integer(least=1, most=10_000),
        meaning="trials side by side; else 40, or 8 with a database or the embedded model",
    ),
    Field(name="calls_in_flight", kind=Integer(least=1, most=10_000), meaning="calls to one provider side by side"),
    Field(name="timeouts", kind=TIMEOUTS, meaning="seconds"),
    Field(name="repeats", kind=Repeats(), meaning="trials of scenarios that do not say: auto (default), or how many"),
    Field(name="evidence", kind=EVIDENCE, meaning="when the trials of a scenario with repeats auto are enough"),
    Field(name="store", kind=Text(), meaning="history: a file, or a postgresql:// DSN as ${VARIABLE}"),
    Field(name="unstable", kind=Text(choices=("show", "fail")), meaning="whether an unstable scenario fails the run"),
)
SETTINGS = Table(
    name="tool.evalrun",
    meaning="The settings of a project.",
    fields=(
        *_FIELDS,
        Field(
            name="profiles",
            kind=MappingOf(value=Table(name="profile", fields=_FIELDS)),
            meaning="any of the above, by profile",
        ),
    ),
)

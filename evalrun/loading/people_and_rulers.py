"""The shapes of persona and rubric files, and what they mean."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from evalrun.errors import Where
from evalrun.loading.fields import Field, ListOf, MappingOf, Table, listed, place
from evalrun.loading.kinds import Amount, Flag, Integer, Pattern, Problems, Skip, Text, nearest
from evalrun.loading.nodes import Node
from evalrun.loading.scenarios import ID, TEXTS, id_of
from evalrun.persona import Persona
from evalrun.rubric import Criterion, PassRule, Rubric, RubricKind, Scope

LANGUAGE = Text(pattern="[a-z]{2,3}(?:-[A-Za-z]{2,4})?", what="a language such as fr, en or pt-BR")
PERSONA = Table(
    name="persona",
    meaning="A simulated user's character.",
    fields=(
        Field(name="id", kind=ID, meaning="unique; default: the file's name without its ending"),
        Field(name="name", kind=Text(), meaning="as they sign", required=True),
        Field(name="background", kind=Text(), meaning="who they are, in a sentence or two", required=True),
        Field(name="traits", kind=ListOf(item=Text(), least=1), meaning="how they talk", required=True),
        Field(name="language", kind=LANGUAGE, meaning="as in fr or en (default en)"),
        Field(name="facts", kind=MappingOf(value=Text()), meaning="what they know, by name, as text"),
        Field(
            name="reveal",
            kind=Table(
                name="reveal",
                fields=(Field(name="only_if_asked", kind=TEXTS, meaning="facts told only after the agent asked"),),
            ),
            meaning="what is held back",
        ),
        Field(name="goal", kind=Text(), meaning="what they want of the conversation"),
        Field(name="patience", kind=Integer(least=1, most=100), meaning="turns they go on without progress"),
        Field(name="max_chars", kind=Integer(least=20, most=4000), meaning="longest message (default 600)"),
    ),
)

ANCHOR = Text(pattern="(?:10|[1-9])(?:-(?:10|[1-9]))?", what="a score or a range such as 1 or 9-10")
CRITERION_ID = Text(
    pattern=r"[a-zA-ZÀ-ÖØ-öø-ÿ_][a-zA-ZÀ-ÖØ-öø-ÿ0-9_-]{0,39}", what="a short name of letters, digits, _ and -"
)
CRITERION = Table(
    name="criterion",
    fields=(
        Field(name="id", kind=CRITERION_ID, meaning="a short name, shown in tables", required=True),
        Field(name="ask", kind=Text(), meaning="what is scored, as a question", required=True),
        Field(name="anchors", kind=MappingOf(value=Text(), key=ANCHOR), meaning="what a score means"),
    ),
)
RUBRIC = Table(
    name="rubric",
    meaning="What a model judge scores or checks.",
    fields=(
        Field(name="id", kind=ID, meaning="unique; default: the file's name without its ending"),
        Field(name="kind", kind=Text(choices=tuple(RubricKind)), meaning="scored (default) or check"),
        Field(name="criteria", kind=ListOf(item=CRITERION, least=1), meaning="of a scored rubric"),
        Field(
            name="pass",
            kind=Table(
                name="pass",
                fields=(
                    Field(name="mean", kind=Amount(most=10), meaning="mean at least (default 6.5)"),
                    Field(name="min", kind=Integer(least=1, most=10), meaning="no score under (default 5)"),
                ),
            ),
            meaning="when a trial passes",
        ),
        Field(name="scope", kind=Text(choices=tuple(Scope)), meaning="one call a turn (default) or a conversation"),
        Field(name="ask", kind=Text(), meaning="of a check: what would violate it"),
        Field(name="only_when", kind=Pattern(), meaning="of a check: a pattern a turn must match to be asked about"),
        Field(name="critical", kind=Flag(), meaning="of a check: a violation is a fact, never averaged"),
        Field(name="labelled", kind=Text(), meaning="path of labelled examples"),
    ),
)


def persona_of(node: Node, *, stem: str, digest: str, problems: Problems) -> Persona:
    """The persona of a file. Raises Skip after noting problems."""
    values: Mapping[str, Any] = PERSONA.read(node, problems)
    facts = values.get("facts", {})
    held = tuple((values.get("reveal") or {}).get("only_if_asked", ()))
    for name in held:
        if name not in facts:
            hint = nearest(name, facts, otherwise="add it under `facts`")
            problems.add(place(values["reveal"]), f"`{name}` is no fact of this persona; {hint}")
    return Persona(
        id=values.get("id") or id_of(stem, node, problems),
        name=values["name"],
        background=values["background"],
        traits=values["traits"],
        language=values.get("language", "en"),
        facts=facts,
        only_if_asked=held,
        goal=values.get("goal", ""),
        patience=values.get("patience"),
        max_chars=values.get("max_chars", 600),
        where=node.where,
        digest=digest,
    )


def rubric_of(node: Node, *, stem: str, digest: str, problems: Problems) -> Rubric:
    """The rubric of a file. Raises Skip after noting problems."""
    values: Mapping[str, Any] = RUBRIC.read(node, problems)
    kind = RubricKind(values.get("kind", "scored"))
    where = place(values)
    needed, foreign = (
        ("criteria", ("ask", "only_when", "critical")) if kind is RubricKind.SCORED else ("ask", ("criteria", "pass"))
    )
    if needed not in values:
        problems.add(where, f"`{needed}` is missing in a rubric of kind {kind}; add {needed}: …")
        raise Skip
    for name in foreign:
        if name in values:
            problems.add(where, f"`{name}` does not belong in a rubric of kind {kind}; remove it")
    criteria = tuple(_criterion(c, problems) for c in listed(values.get("criteria")))
    _refuse_twins(criteria, where, problems)
    passing = values.get("pass") or {}
    return Rubric(
        id=values.get("id") or id_of(stem, node, problems),
        kind=kind,
        criteria=criteria,
        passing=PassRule(mean=passing.get("mean", Decimal("6.5")), minimum=passing.get("min", 5)),
        scope=Scope(values.get("scope", "turn")),
        ask=values.get("ask", ""),
        only_when=values.get("only_when", ""),
        critical=values.get("critical", False),
        labelled=values.get("labelled", ""),
        where=node.where,
        digest=digest,
    )


def _criterion(values: Mapping[str, Any], problems: Problems) -> Criterion:
    taken: dict[int, str] = {}
    anchors: Mapping[str, str] = values.get("anchors", {})
    for anchor in anchors:
        first, _, last = anchor.partition("-")
        scores = range(int(first), int(last or first) + 1)
        if not scores:
            problems.add(place(values), f"the anchor `{anchor}` runs backwards; write `{last}-{first}`")
        for score in scores:
            if score in taken:
                twins = f"the anchors `{taken[score]}` and `{anchor}`"
                problems.add(place(values), f"{twins} both describe the score {score}; give each score one")
                break
            taken[score] = anchor
    return Criterion(id=values["id"], ask=values["ask"], anchors=anchors)


def _refuse_twins(criteria: tuple[Criterion, ...], where: Where, problems: Problems) -> None:
    # a model may answer with another case or another form of an accented letter
    names = [unicodedata.normalize("NFC", c.id).casefold() for c in criteria]
    for name in dict.fromkeys(n for n in names if names.count(n) > 1):
        problems.add(where, f"the criterion `{name}` stands twice; give each its own id")

"""The shapes of persona, rubric and style rules files, and what they mean."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from evalrun.errors import Where
from evalrun.loading.fields import (
    Amount,
    Anything,
    Field,
    Flag,
    Integer,
    ListOf,
    MappingOf,
    Problems,
    Skip,
    Table,
    Text,
    listed,
    place,
)
from evalrun.loading.nodes import Node
from evalrun.loading.scenarios import ID, TEXTS
from evalrun.persona import Persona
from evalrun.rubric import Criterion, PassRule, Rubric, RubricKind, Scope
from evalrun.style import Severity, StyleRule, StyleRules
from evalrun.style_checks.table import CHECKS

PERSONA = Table(
    name="persona",
    meaning="A simulated user's character.",
    fields=(
        Field(name="id", kind=ID, meaning="unique; default: the file's name without its ending"),
        Field(name="name", kind=Text(), meaning="as they sign", required=True),
        Field(name="background", kind=Text(), meaning="who they are, in a sentence or two", required=True),
        Field(name="traits", kind=ListOf(item=Text(), least=1), meaning="how they talk", required=True),
        Field(name="language", kind=Text(pattern="[a-z]{2}(?:-[A-Z]{2})?"), meaning="as in fr or en (default en)"),
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
CRITERION = Table(
    name="criterion",
    fields=(
        Field(name="id", kind=Text(pattern=r"[^\W\d][\w-]{0,39}", what="a short name"), meaning="", required=True),
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
        Field(name="only_when", kind=Text(), meaning="of a check: a pattern a turn must match to be asked about"),
        Field(name="critical", kind=Flag(), meaning="of a check: a violation is a fact, never averaged"),
        Field(name="labelled", kind=Text(), meaning="path of labelled examples"),
    ),
)
RULE = Table(
    name="rules",
    rest=Anything(),
    fields=(
        Field(name="id", kind=Text(pattern=r"[a-z0-9_-]{1,64}", what="an id"), meaning="unique", required=True),
        Field(name="check", kind=Text(choices=tuple(CHECKS)), meaning="which check", required=True),
        Field(name="severity", kind=Text(choices=tuple(Severity)), meaning="hard or soft", required=True),
        Field(name="say", kind=Text(), meaning="the sentence for the production prompt", required=True),
    ),
)
STYLE_RULES = Table(
    name="style_rules",
    meaning="Rules of style, shared by the production prompts and the tests.",
    fields=(Field(name="rules", kind=ListOf(item=RULE, least=1), meaning="the rules, in order", required=True),),
)


def persona_of(node: Node, *, stem: str, digest: str, problems: Problems) -> Persona:
    """The persona of a file. Raises Skip after noting problems."""
    values: Mapping[str, Any] = PERSONA.read(node, problems)
    facts = values.get("facts", {})
    held = tuple((values.get("reveal") or {}).get("only_if_asked", ()))
    for name in held:
        if name not in facts:
            near = difflib.get_close_matches(name, facts, n=1)
            hint = f"did you mean `{near[0]}`?" if near else "add it under `facts`"
            problems.add(place(values["reveal"]), f"`{name}` is no fact of this persona; {hint}")
    return Persona(
        id=values.get("id") or stem,
        name=values["name"],
        background=values["background"],
        traits=values["traits"],
        language=values.get("language", "en"),
        facts=facts,
        only_if_asked=held,
        goal=values.get("goal", ""),
        patience=values.get("patience"),
        max_chars=values.get("max_chars", 600),
        where=Where(file=node.where.file, line=node.where.line),
        digest=digest,
    )


def rubric_of(node: Node, *, stem: str, digest: str, problems: Problems) -> Rubric:
    """The rubric of a file. Raises Skip after noting problems."""
    values: Mapping[str, Any] = RUBRIC.read(node, problems)
    kind = RubricKind(values.get("kind", "scored"))
    where = place(values)
    needed, foreign = ("criteria", "ask") if kind is RubricKind.SCORED else ("ask", "criteria")
    if needed not in values:
        problems.add(where, f"`{needed}` is missing in a rubric of kind {kind}; add {needed}: …")
        raise Skip
    if foreign in values:
        problems.add(where, f"`{foreign}` does not belong in a rubric of kind {kind}; remove it")
    criteria = tuple(
        Criterion(id=c["id"], ask=c["ask"], anchors=c.get("anchors", {})) for c in listed(values.get("criteria"))
    )
    _refuse_twins(criteria, where, problems)
    passing = values.get("pass") or {}
    return Rubric(
        id=values.get("id") or stem,
        kind=kind,
        criteria=criteria,
        passing=PassRule(mean=passing.get("mean", Decimal("6.5")), minimum=passing.get("min", 5)),
        scope=Scope(values.get("scope", "turn")),
        ask=values.get("ask", ""),
        only_when=_pattern(values.get("only_when", ""), where, problems),
        critical=values.get("critical", False),
        labelled=values.get("labelled", ""),
        where=Where(file=node.where.file, line=node.where.line),
        digest=digest,
    )


def _refuse_twins(criteria: tuple[Criterion, ...], where: Where, problems: Problems) -> None:
    names = [c.id.casefold() for c in criteria]
    for name in {n for n in names if names.count(n) > 1}:
        problems.add(where, f"the criterion `{name}` stands twice; give each its own id")


def _pattern(text: str, where: Where, problems: Problems) -> str:
    try:
        re.compile(text)
    except re.error as e:
        problems.add(where, f"`only_when` is not a regular expression: {e}; correct it")
    return text


def style_rules_of(node: Node, *, file: str, digest: str, problems: Problems) -> StyleRules:
    """The rules of a file. Raises Skip after noting problems."""
    values: Mapping[str, Any] = STYLE_RULES.read(node, problems)
    rules: list[StyleRule] = []
    for table in listed(values["rules"]):
        rule = _rule(table)
        twin = next((r for r in rules if r.id == rule.id), None)
        if twin is not None:
            problems.add(rule.where, f"the rule `{rule.id}` stands twice, first at line {twin.where.line}; rename one")
        _check_parameters(rule, problems)
        rules.append(rule)
    return StyleRules(rules=tuple(rules), path=file, digest=digest)


def _rule(table: Mapping[str, Any]) -> StyleRule:
    own = {f.name for f in RULE.fields}
    params = {k: v for k, v in table.items() if k not in own and not k.startswith("__")}
    return StyleRule(
        id=table["id"],
        check=table["check"],
        severity=Severity(table["severity"]),
        say=table["say"],
        params=params,
        where=place(table),
    )


def _check_parameters(rule: StyleRule, problems: Problems) -> None:
    spec = CHECKS[rule.check]
    known = {p.name: p for p in spec.parameters}
    fine = True
    for name, value in rule.params.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(known) or 'none'}"
            problems.add(rule.where, f"unknown key `{name}` in rule `{rule.id}` (check {rule.check}); {hint}")
            fine = False
        elif known[name].choices and value not in known[name].choices:
            choices = ", ".join(known[name].choices)
            problems.add(rule.where, f"`{value}`, expected one of {choices} for `{name}` in rule `{rule.id}`")
            fine = False
    for parameter in spec.parameters:
        if parameter.required and parameter.name not in rule.params:
            problems.add(rule.where, f"`{parameter.name}` is missing in rule `{rule.id}`; add it: {parameter.meaning}")
            fine = False
    if fine:
        try:
            spec.ready(rule.params)
        except ValueError as e:
            problems.add(rule.where, f"rule `{rule.id}`: {e}; correct it")

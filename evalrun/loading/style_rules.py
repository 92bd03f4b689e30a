"""The shape of `style_rules.toml`, with the parameters of every check, and the rules it means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalrun.loading.fields import WHERE, Field, ListOf, Table, listed, place
from evalrun.loading.kinds import Flag, Integer, Kind, Pattern, Problems, Skip, Text
from evalrun.loading.nodes import Node, NodeKind
from evalrun.style import Severity, StyleRule, StyleRules
from evalrun.style_checks.spec import Parameter
from evalrun.style_checks.table import CHECKS

COMMON = (
    Field(
        name="id",
        kind=Text(pattern=r"[a-z0-9_-]{1,64}", what="an id of a-z, 0-9, _ and -, at most 64 characters"),
        meaning="unique in the file",
        required=True,
    ),
    Field(name="check", kind=Text(choices=tuple(CHECKS)), meaning="which check", required=True),
    Field(
        name="severity",
        kind=Text(choices=tuple(Severity)),
        meaning="hard: a break fails the trial; soft: the judge weighs it",
        required=True,
    ),
    Field(name="say", kind=Text(), meaning="the sentence for the production prompt", required=True),
)
ANY_RULE = Table(name="rule", fields=COMMON)


def _kind(parameter: Parameter) -> Kind:
    match parameter.kind:
        case "integer":
            return Integer()
        case "texts":
            return ListOf(item=Text(), least=1 if parameter.required else 0)
        case "boolean":
            return Flag()
        case "choice":
            return Text(choices=parameter.choices)
        case "regex":
            return Pattern()
        case "text":
            return Text()


def _table(check: str) -> Table:
    own = tuple(
        Field(name=p.name, kind=_kind(p), meaning=p.meaning, required=p.required) for p in CHECKS[check].parameters
    )
    return Table(name=f"rule ({check})", fields=(*COMMON, *own))


class RuleOf:
    """One rule: which keys it may have depends on its check."""

    def schema(self) -> dict[str, object]:
        """The common keys, and for each check its own."""
        common: dict[str, Any] = ANY_RULE.schema()
        cases: list[dict[str, object]] = []
        for check in CHECKS:
            own: dict[str, Any] = _table(check).schema()
            names = [n for n in own["properties"] if n not in common["properties"]]
            then: dict[str, object] = {"properties": {n: own["properties"][n] for n in names}}
            if needed := [n for n in own["required"] if n in names]:
                then["required"] = needed
            cases.append({"if": {"properties": {"check": {"const": check}}}, "then": then})
        del common["additionalProperties"]
        return {**common, "allOf": cases, "unevaluatedProperties": False}

    def read(self, node: Node, problems: Problems) -> dict[str, object]:
        """The values; without a known check only that is told."""
        if node.kind is not NodeKind.MAPPING:
            raise problems.refuse(node, "a table [[rules]]", "write id, check, severity and say")
        check = next((v for k, v in node.pairs if k.text == "check"), None)
        if check is None:
            problems.add(node.where, f"`check` is missing in `rule`; add check = one of {', '.join(CHECKS)}")
            raise Skip
        return _table(COMMON[1].kind.read(check, problems)).read(node, problems)  # type: ignore[arg-type]


STYLE_RULES = Table(
    name="style_rules",
    meaning="Rules of style, shared by the production prompts and the tests.",
    fields=(Field(name="rules", kind=ListOf(item=RuleOf(), least=1), meaning="the rules, in order", required=True),),
)


def style_rules_of(node: Node, *, file: str, digest: str, problems: Problems) -> StyleRules:
    """The rules of a file. Raises Skip after noting problems."""
    values: Mapping[str, Any] = STYLE_RULES.read(node, problems)
    rules: list[StyleRule] = []
    for table in listed(values["rules"]):
        rule = _rule(table)
        twin = next((r for r in rules if r.id == rule.id), None)
        if twin is not None:
            first = f"line {twin.where.line}, column {twin.where.column}"
            problems.add(rule.where, f"the rule `{rule.id}` stands twice, first at {first}; rename one")
        try:
            CHECKS[rule.check].ready(rule.params)
        except ValueError as e:
            problems.add(rule.where, f"rule `{rule.id}`: {e}; correct it")
        rules.append(rule)
    return StyleRules(rules=tuple(rules), path=file, digest=digest)


def _rule(table: Mapping[str, Any]) -> StyleRule:
    common = {f.name for f in COMMON} | {WHERE}
    return StyleRule(
        id=table["id"],
        check=table["check"],
        severity=Severity(table["severity"]),
        say=table["say"],
        params={k: v for k, v in table.items() if k not in common},
        where=place(table),
    )

"""Labelled turns from JSON lines, YAML or CSV: one shape, with the place of each problem."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalrun.errors import FileProblems, Problem, UsageError, Where
from evalrun.folding import fold
from evalrun.labels import USER, Label
from evalrun.loading.fields import Field, ListOf, MappingOf, Table, listed, place
from evalrun.loading.kinds import Anything, Flag, Integer, Problems, Skip, Text
from evalrun.loading.nodes import Node, NodeKind
from evalrun.loading.yaml_nodes import read_yaml
from evalrun.rubric import Rubric, RubricKind
from evalrun.transcript import Bubble, InboundKind, Observed, Opening, ToolCall, Turn

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""The clock of all labelled turns: nothing in them may hang on the day they are judged."""
TEXTS = ListOf(item=Text())
CALL = Table(
    name="tool",
    fields=(
        Field(name="name", kind=Text(), meaning="the tool's name", required=True),
        Field(name="arguments", kind=Anything(), meaning="what the agent gave it"),
        Field(name="result", kind=Anything(), meaning="what it returned"),
        Field(name="error", kind=Text(), meaning="why it failed"),
    ),
)
_SAID = (
    Field(name="user", kind=Text(), meaning="what the user wrote"),
    Field(name="event", kind=Text(), meaning="instead of a user: the event that opened the turn"),
    Field(name="tools", kind=ListOf(item=CALL), meaning="the agent's tool calls"),
    Field(name="agent", kind=TEXTS, meaning="the agent's messages", required=True),
)
LABEL = Table(
    name="label",
    meaning="A turn that a person has judged.",
    fields=(
        Field(name="id", kind=Text(), meaning="unique in the file", required=True),
        Field(name="language", kind=Text(), meaning="as in fr or en"),
        Field(name="objective", kind=Text(), meaning="the objective of the scenario it could be from"),
        Field(name="before", kind=ListOf(item=Table(name="turn", fields=_SAID)), meaning="earlier turns, for context"),
        *_SAID,
        Field(
            name="scores",
            kind=MappingOf(value=Integer(least=1, most=10)),
            meaning="of a scored rubric: 1-10 for each criterion",
        ),
        Field(name="violated", kind=Flag(), meaning="of a check: whether the rule is broken"),
        Field(name="quote", kind=Text(), meaning="of a violation: the agent's words that break the rule"),
        Field(name="why", kind=Text(), meaning="a remark for people"),
    ),
)


def load_labels(path: Path, rubric: Rubric, *, name: str = "") -> tuple[Label, ...]:
    """The labels of a file for a rubric; `name` is how messages call the file.

    Raises FileProblems with everything that is wrong, UsageError when there is no such file.
    """
    shown = name or path.as_posix()
    if not path.is_file():
        raise UsageError(
            f"there is no file {shown} with labelled turns for {rubric.id}",
            remedy="correct `labelled` in the rubric, or write the file",
        )
    data = path.read_bytes()
    readers = {".jsonl": _lines, ".csv": _table}
    problems = Problems()
    nodes = readers.get(path.suffix.lower(), _document)(data, shown)
    labels = [label for node in nodes if (label := _label(node, rubric, problems)) is not None]
    _refuse_twins(labels, problems)
    if problems.found:
        raise FileProblems(sorted(problems.found, key=lambda p: p.where))
    return tuple(labels)


# ------------------------------------------------------------------ formats


def _document(data: bytes, file: str) -> Sequence[Node]:
    """A YAML list."""
    root = read_yaml(data, file)
    if root.kind is not NodeKind.LIST:
        message = f"{root.describe()}, expected a list of labels; write `- id: …`"
        raise FileProblems([Problem(where=root.where, message=message)])
    return root.items


def _lines(data: bytes, file: str) -> Sequence[Node]:
    """JSON lines, read as one list in which every label keeps its line."""
    lines = data.decode("utf-8-sig", "surrogateescape").splitlines()
    filled = [i for i, line in enumerate(lines) if line.strip()]
    if not filled:
        raise FileProblems(
            [Problem(where=Where(file=file, line=1, column=1), message="the file is empty; add a label")]
        )
    parts = [line if i == filled[-1] or not line.strip() else line + "," for i, line in enumerate(lines)]
    return _document(("[" + "\n".join(parts) + "]").encode("utf-8", "surrogateescape"), file)


def _table(data: bytes, file: str) -> Sequence[Node]:
    """CSV with a header; `score:NAME` is a column for each criterion, empty cells are left out."""
    reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig")))
    found = []
    for row in reader:
        where = Where(file=file, line=reader.line_num, column=1)
        found.append(_row({k: v for k, v in row.items() if k and isinstance(v, str) and v.strip()}, where))
    return found


def _row(cells: Mapping[str, str], where: Where) -> Node:
    pairs: list[tuple[Node, Node]] = []
    scores: list[tuple[Node, Node]] = []
    for name, cell in cells.items():
        head, _, criterion = name.partition(":")
        value = Node(kind=NodeKind.TEXT, where=where, text=cell, plain=head in ("score", "violated"), source=cell)
        if head == "score":
            scores.append((_text(criterion, where), value))
        else:
            one = Node(kind=NodeKind.LIST, where=where, items=[value]) if name == "agent" else value
            pairs.append((_text(name, where), one))
    if scores:
        pairs.append((_text("scores", where), Node(kind=NodeKind.MAPPING, where=where, pairs=scores)))
    return Node(kind=NodeKind.MAPPING, where=where, pairs=pairs)


def _text(text: str, where: Where) -> Node:
    return Node(kind=NodeKind.TEXT, where=where, text=text, source=text)


# ------------------------------------------------------------------ meaning


def _label(node: Node, rubric: Rubric, problems: Problems) -> Label | None:
    try:
        values: Mapping[str, Any] = LABEL.read(node, problems)
    except Skip:
        return None
    where = place(values)
    said = [*listed(values.get("before")), values]
    label = Label(
        id=values["id"],
        turns=tuple(_turn(number, one) for number, one in enumerate(said, 1)),
        language=values.get("language", ""),
        objective=values.get("objective", ""),
        scores=values.get("scores", {}),
        violated=values.get("violated"),
        quote=values.get("quote", ""),
        where=where,
    )
    for message in _unfit(label, rubric):
        problems.add(where, f"label `{label.id}`: {message}")
    return label


def _turn(number: int, values: Mapping[str, Any]) -> Turn:
    event = values.get("event", "")
    opening = (
        Opening(kind=InboundKind.EVENT, event=event)
        if event
        else Opening(kind=InboundKind.USER, text=values.get("user", ""), sender=USER)
    )
    calls = tuple(
        ToolCall(name=c["name"], arguments=c.get("arguments"), result=c.get("result"), error=c.get("error"))
        for c in listed(values.get("tools"))
    )
    bubbles = tuple(Bubble(id=f"{number}-{i}", text=text, to=USER) for i, text in enumerate(values["agent"], 1))
    return Turn(
        number=number,
        opening=opening,
        bubbles=bubbles,
        tools=calls,
        observed=Observed.REPLIED if bubbles else Observed.SILENT,
        allowed=(USER,),
        now=NOW,
    )


def _unfit(label: Label, rubric: Rubric) -> list[str]:
    """Why a label does not fit its rubric, with what to do."""
    if rubric.kind is RubricKind.SCORED:
        wanted, given = {c.id for c in rubric.criteria}, set(label.scores)
        found = [f"no score for `{c}`; add one" for c in sorted(wanted - given)]
        found += [f"`{c}` is no criterion of {rubric.id}; remove it" for c in sorted(given - wanted)]
        return found + (["`violated` belongs to a check; remove it"] if label.violated is not None else [])
    if label.violated is None:
        return ["`violated` is missing; add violated: true or false"]
    words = fold("\n".join(b.text for b in label.turns[-1].bubbles))
    if label.violated and (not label.quote or fold(label.quote) not in words):
        return ["`quote` is not what the agent said; copy the words that break the rule"]
    return [f"`scores` belong to a scored rubric, {rubric.id} is a check; remove them"] if label.scores else []


def _refuse_twins(labels: Sequence[Label], problems: Problems) -> None:
    """No id twice, and no turn twice: it would count twice."""
    ids: dict[str, Where] = {}
    turns: dict[object, str] = {}
    for label in labels:
        if label.id in ids:
            problems.add(
                label.where, f"the id `{label.id}` stands also in line {ids[label.id].line}; give each its own"
            )
        ids.setdefault(label.id, label.where)
        same = repr([(t.opening, t.bubbles, t.tools) for t in label.turns] + [label.objective])
        if same in turns:
            problems.add(label.where, f"`{label.id}` is the same turn as `{turns[same]}`; remove one")
        turns.setdefault(same, label.id)

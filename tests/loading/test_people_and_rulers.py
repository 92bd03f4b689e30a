"""Personas and rubrics: what they mean and what is refused."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from evalrun.rubric import Criterion, PassRule, RubricKind, Scope
from tests.loading.projects import suite_of, told

PERSONA = "name: Léa\nbackground: 31, vit à Lyon.\ntraits: [brève]\n"
SCORED = "criteria:\n  - {id: character, ask: Is it in character?"


def test_a_persona_of_a_few_lines_is_enough(tmp_path: Path) -> None:
    """Name, background and traits; the rest has defaults."""
    persona = suite_of(tmp_path, {"personas/lea.yaml": PERSONA}).personas["lea"]
    assert (persona.name, persona.language, persona.patience, persona.max_chars) == ("Léa", "en", None, 600)
    assert (persona.facts, persona.only_if_asked, persona.goal) == ({}, (), "")


def test_a_whole_persona_loads(tmp_path: Path) -> None:
    """Facts are text, held back by name."""
    more = "language: fr\nfacts: {phone: 0612345670, city: Lyon}\nreveal: {only_if_asked: [phone]}\n"
    more += "goal: payer moins de 50$\npatience: 4\nmax_chars: 200\n"
    persona = suite_of(tmp_path, {"personas/lea.yaml": PERSONA + more}).personas["lea"]
    assert persona.facts == {"phone": "0612345670", "city": "Lyon"}
    assert (persona.only_if_asked, persona.goal) == (("phone",), "payer moins de 50$")
    assert (persona.language, persona.patience, persona.max_chars) == ("fr", 4, 200)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            "facts: {phone: 1}\nreveal: {only_if_asked: [fone]}\n",
            "5:9: `fone` is no fact of this persona; did you mean `phone`?",
        ),
        ("reveal: {only_if_asked: [phone]}\n", "4:9: `phone` is no fact of this persona; add it under `facts`"),
        ("traits: []\n", "4:1: `traits` stands twice, first at line 3, column 1; remove one"),
        ("fact: {}\n", "4:1: unknown key `fact` in `persona`; did you mean `facts`?"),
        ("language: french\n", "4:11: `french`, expected a language such as fr, en or pt-BR; correct it"),
        ("facts: {phone: [1]}\n", '4:16: `[1]` is a YAML list, expected text; write "[1]"'),
        ("goal: ''\n", "4:7: `''`, expected text; write one"),
    ],
)
def test_a_persona_is_told_what_is_wrong(more: str, said: str, tmp_path: Path) -> None:
    """One line with place and cure."""
    assert told(tmp_path, {"personas/lea.yaml": PERSONA + more}) == [f"personas/lea.yaml:{said}"]


def test_a_scored_rubric_loads(tmp_path: Path) -> None:
    """Anchors keep their keys as written; passing is 6.5 and 5 unless said otherwise."""
    text = "criteria:\n  - {id: tone, ask: 'Fine?', anchors: {1: bad, 9-10: good}}\n"
    rubric = suite_of(tmp_path, {"rubrics/conversation.yaml": text}).rubrics["conversation"]
    assert rubric.criteria == (Criterion(id="tone", ask="Fine?", anchors={"1": "bad", "9-10": "good"}),)
    assert (rubric.kind, rubric.scope) == (RubricKind.SCORED, Scope.TURN)
    assert rubric.passing == PassRule(mean=Decimal("6.5"), minimum=5)
    own = text + 'pass: {mean: "7.10", min: 4}\nscope: conversation\nlabelled: examples.yaml\n'
    rubric = suite_of(tmp_path, {"rubrics/conversation.yaml": own}).rubrics["conversation"]
    assert rubric.passing == PassRule(mean=Decimal("7.10"), minimum=4)
    assert (rubric.scope, rubric.labelled) == (Scope.CONVERSATION, "examples.yaml")


def test_a_check_loads(tmp_path: Path) -> None:
    """A question, when it is asked, and whether it is critical."""
    text = "kind: check\nask: Does it invent a figure?\nonly_when: '\\d'\ncritical: true\n"
    rubric = suite_of(tmp_path, {"rubrics/honest-figures.yaml": text}).rubrics["honest-figures"]
    assert (rubric.kind, rubric.ask) == (RubricKind.CHECK, "Does it invent a figure?")
    assert (rubric.only_when, rubric.critical) == ("\\d", True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind: scored\n", "1:1: `criteria` is missing in a rubric of kind scored; add criteria: …"),
        ("kind: check\n", "1:1: `ask` is missing in a rubric of kind check; add ask: …"),
        (
            f"{SCORED}}}\ncritical: true\n",
            "1:1: `critical` does not belong in a rubric of kind scored; remove it",
        ),
        (
            "kind: check\nask: a\npass: {min: 5}\n",
            "1:1: `pass` does not belong in a rubric of kind check; remove it",
        ),
        (
            "kind: check\nask: a\nonly_when: '('\n",
            "3:12: `'('`, expected a regular expression; correct it: missing ), unterminated subpattern at position 0",
        ),
        (
            "kind: check\nask: a\ncritical: yes\n",
            "3:11: `yes`, expected true or false; write one without quotes",
        ),
        (f"{SCORED}, anchors: {{0: x}}}}\n", "2:57: `0`, expected a score or a range such as 1 or 9-10; correct it"),
        (f"{SCORED}, anchors: {{10-9: x}}}}\n", "2:5: the anchor `10-9` runs backwards; write `9-10`"),
        (
            f"{SCORED}, anchors: {{1-5: x, 5: y}}}}\n",
            "2:5: the anchors `1-5` and `5` both describe the score 5; give each score one",
        ),
        (
            f"{SCORED}}}\n  - {{id: Character, ask: b}}\n",
            "1:1: the criterion `character` stands twice; give each its own id",
        ),
        (
            f"{SCORED}}}\npass: {{mean: 11}}\n",
            "3:14: `11`, expected a number from 0 such as 0.50, at most 10; with a point, without a sign or an exponent",
        ),
        (f"{SCORED}}}\npass: {{treshold: 6}}\n", "3:8: unknown key `treshold` in `pass`; known: mean, min"),
    ],
)
def test_a_rubric_is_told_what_is_wrong(text: str, said: str, tmp_path: Path) -> None:
    """One line with place and cure."""
    assert told(tmp_path, {"rubrics/other.yaml": text}) == [f"rubrics/other.yaml:{said}"]

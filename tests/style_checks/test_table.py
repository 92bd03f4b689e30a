"""The table of checks, and rules applied to turns."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.loading.suite import load_style_rules
from evalrun.style import Severity, StyleRule, StyleRules, block_of, prompt_block
from evalrun.style_checks.table import CHECKS, CompiledRules
from evalrun.transcript import Bubble, ToolCall
from tests.cases import HERE, turn

SAMPLES: Mapping[str, Mapping[str, object]] = {
    "max_questions": {"max": 1},
    "forbidden": {"texts": ["garantie", "vip*", r"re:\d{4}"]},
    "placeholders": {},
    "max_bubbles": {"max": 3},
    "max_chars": {"max": 400},
    "max_words": {"max": 60},
    "emoji": {"max": 1},
    "no_dash": {},
    "no_markdown": {},
    "lowercase": {},
    "capitals": {},
    "regex": {"absent": r"\bTODO\b", "present": r"\w"},
    "opener": {},
    "apology": {},
    "error_text": {},
    "control_characters": {},
    "repeated": {},
}


def rules(**checks: Mapping[str, object]) -> StyleRules:
    """Hard rules named like their checks."""
    return StyleRules(
        rules=tuple(
            StyleRule(id=name, check=name, severity=Severity.HARD, say=f"Mind {name}.", params=params, where=HERE)
            for name, params in checks.items()
        )
    )


ALL = CompiledRules(rules(**SAMPLES))


def test_every_check_is_described_and_can_be_made_ready() -> None:
    """Each check has a sentence, and each parameter a meaning, for the reference; a sample makes it ready."""
    assert set(SAMPLES) == set(CHECKS)
    for name, spec in CHECKS.items():
        assert spec.name == name
        assert spec.summary.endswith((".", "…"))
        assert all(p.meaning for p in spec.parameters)
        assert callable(spec.ready(SAMPLES[name]))
        assert set(SAMPLES[name]) <= {p.name for p in spec.parameters}
        assert {p.name for p in spec.parameters if p.required} <= set(SAMPLES[name])


def test_b17_three_violations_over_the_bubbles_of_one_turn() -> None:
    """A dash in bubble 2, two questions over the reply, three bubbles: all are found, none in bubble 1 alone."""
    compiled = CompiledRules(rules(max_questions={"max": 1}, no_dash={}, max_bubbles={"max": 2}))
    said = turn(4, "?", "bonjour", "j'ai bien reçu le devis — merci", "on se voit mardi ? ou jeudi ?")
    found = compiled.apply(said)
    assert [(f.rule, f.turn, f.bubble) for f in found] == [
        ("max_questions", 4, 3),
        ("no_dash", 4, 2),
        ("max_bubbles", 4, 0),
    ]
    assert found[0].message == "2 questions, limit 1 (0 + 0 + 2 by bubble)"
    assert found[1].quote == "j'ai bien reçu le devis — merci"


def test_b17_a_blank_line_does_not_part_a_bubble() -> None:
    """One bubble with a blank line inside is one bubble."""
    assert CompiledRules(rules(max_bubbles={"max": 1})).apply(turn(1, "?", "un\n\ndeux")) == ()


def test_b18_style_rules_do_not_run_on_a_turn_of_tools_only() -> None:
    """A turn in which only a tool was called breaks no rule, not even one that wants a pattern."""
    compiled = CompiledRules(rules(lowercase={}, max_questions={"max": 1}, regex={"present": "x"}))
    assert compiled.apply(turn(1, "?", tools=[ToolCall(name="find_quote", arguments={"id": 17})])) == ()


def test_b48_bubbles_are_plain_data() -> None:
    """Text that looks like markup is judged and quoted as written: the leak in brackets is found."""
    compiled = CompiledRules(rules(placeholders={}, emoji={}, control_characters={}))
    said = ("hello [/] x", "bonjour [nom], ok", "voir [link=http://x]ici", "a :warning: b", "\x1b[31mrouge")
    found = compiled.apply(turn(1, "?", *said))
    assert [(f.rule, f.bubble, f.quote) for f in found] == [
        ("placeholders", 2, "[nom]"),
        ("control_characters", 5, "\x1b[31mrouge"),
    ]


def test_retracted_bubbles_are_not_judged_and_numbers_are_those_shown() -> None:
    """A bubble taken back is left out; an image counts as a bubble and has no text to judge."""
    said = turn(1, "?", "— non", "PHOTO.JPG", "un — deux")
    taken, image, text = said.bubbles
    shown = replace(said, bubbles=(replace(taken, retracted=True), replace(image, kind="image"), text))
    found = CompiledRules(rules(no_dash={}, lowercase={}, max_bubbles={"max": 1})).apply(shown)
    assert [(f.rule, f.bubble, f.quote) for f in found] == [
        ("no_dash", 2, "un — deux"),
        ("max_bubbles", 0, "un — deux"),
    ]


def test_what_goes_to_two_people_is_two_replies() -> None:
    """A question to each of two people is no second question, and numbers are those of the turn."""
    said = turn(1, "?", "ça te va ?", "je demande", "OK ?")
    bubbles = [replace(b, to=to) for b, to in zip(said.bubbles, ("noah", "lea", "lea"), strict=True)]
    compiled = CompiledRules(rules(max_questions={"max": 1}, max_bubbles={"max": 2}, lowercase={}))
    assert [(f.rule, f.bubble) for f in compiled.apply(replace(said, bubbles=tuple(bubbles)))] == [("lowercase", 3)]
    first = replace(said, bubbles=tuple(replace(b, to="noah") for b in said.bubbles))
    again = turn(2, "?", "ça te va ? c'est samedi à dix-huit heures")
    repeated = CompiledRules(rules(repeated={}))
    same = replace(first, bubbles=(replace(again.bubbles[0], to="noah"),))
    assert repeated.apply(again, [same]) == ()


def test_a_repetition_is_seen_over_turns() -> None:
    """A bubble said in an earlier turn is a repetition; one that was taken back is not."""
    asked = "dites-moi votre adresse s'il vous plaît"
    compiled = CompiledRules(rules(repeated={}))
    first = turn(1, "bonjour", asked)
    assert [f.quote for f in compiled.apply(turn(2, "non", asked), [first])] == [asked]
    gone = replace(first, bubbles=(Bubble(id="b", text=asked, to="marc", retracted=True),))
    assert compiled.apply(turn(2, "non", asked), [gone]) == ()


def test_long_quotes_are_cut() -> None:
    """A finding never carries a whole novel."""
    (found,) = CompiledRules(rules(max_chars={"max": 10})).check(["x" * 5_000])
    assert found.quote == "x" * 400 + "…"


def test_an_unknown_check_is_refused() -> None:
    """Rules made by hand with a check nobody knows are refused with the known names."""
    with pytest.raises(ValueError, match="'max_question' is no check; known: max_questions"):
        CompiledRules(rules(max_question={"max": 1}))


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=3))
def test_no_text_makes_a_check_raise(bubbles: list[str], earlier: list[str]) -> None:
    """Rules can be applied to any text, and each quote that is not joined or cut is in the original."""
    for finding in ALL.check(bubbles, earlier=earlier):
        assert finding.rule in CHECKS
        assert finding.bubble <= len(bubbles)


@pytest.mark.parametrize(
    "text",
    [
        "{%" * 100_000,
        "${" * 100_000,
        "{{" * 100_000,
        "!" * 200_000,
        "?" * 200_000,
        "? " * 100_000,
        "\n" * 200_000,
        " " * 200_000,
        "a." * 100_000,
        "a-" * 100_000,
        "www." * 50_000,
        "http://" + "?" * 200_000,
        "*_" * 100_000,
        "`" * 199_999,
        "a " * 100_000,
        "garantie " * 20_000,
        "error " * 33_000,
        "|" * 200_000,
        "é’" * 100_000,
        "[a" * 100_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_no_text_makes_the_checks_slow(text: str) -> None:
    """The longest text that is kept, of any shape, costs well under two seconds with all checks."""
    started = time.process_time()
    ALL.check([text])
    assert time.process_time() - started < 2


def test_two_thousand_turns_are_checked_at_once() -> None:
    """2,000 turns under ten rules take well under a second of processor time."""
    ten = ("max_questions", "forbidden", "placeholders", "max_bubbles", "max_chars", "no_dash", "no_markdown")
    compiled = CompiledRules(rules(**{n: SAMPLES[n] for n in (*ten, "error_text", "opener", "emoji")}))
    text = "oui, je peux vous proposer mardi à 10 h ou jeudi après-midi : qu'est-ce qui vous arrange ?"
    turns = [turn(n, "?", text) for n in range(1, 2_001)]
    started = time.process_time()
    for said in turns:
        assert compiled.apply(said) == ()
    assert time.process_time() - started < 1


def test_the_prompt_and_the_rules_cannot_diverge(tmp_path: Path) -> None:
    """The block of a production prompt holds the sentence of each rule the tests apply, in order, one a line."""
    file = tmp_path / "style_rules.toml"
    tables = [
        f'[[rules]]\nid = "{name.replace("_", "-")}"\ncheck = "{name}"\nseverity = "hard"\nsay = """Mind\n  {name}."""\n'
        + "".join(f"{key} = {_toml(value)}\n" for key, value in params.items())
        for name, params in SAMPLES.items()
    ]
    file.write_text("\ufeff" + "\n".join(tables), "utf-8")
    loaded = load_style_rules(file, "style_rules.toml")
    assert [r.check for r in loaded.rules] == list(SAMPLES)
    assert prompt_block(file) == block_of(r.say for r in loaded.rules)
    assert prompt_block(file).splitlines() == [f"- Mind {name}." for name in SAMPLES]
    assert CompiledRules(loaded).check(["un"]) == ()


def _toml(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_toml(v) for v in value)}]"
    return f"'{value}'" if isinstance(value, str) else str(value)

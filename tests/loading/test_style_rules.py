"""The file of style rules: parameters by check, and places in TOML."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalrun.errors import FileProblems, Where
from evalrun.loading.suite import load_style_rules
from evalrun.style import Severity, StyleRule
from tests.loading.projects import suite_of, told

HEAD = '[[rules]]\nid = "r"\nseverity = "hard"\nsay = "s"\n'


def test_rules_load_with_their_parameters(tmp_path: Path) -> None:
    """In the order written, each with its place."""
    text = HEAD + 'check = "forbidden"\ntexts = ["[NAME]", "null", "text #2"]\n\n'
    text += '[[rules]]\nid = "q"\ncheck = "max_questions"\nseverity = "soft"\nsay = "one"\nmax = 1\nper = "bubble"\n'
    style = suite_of(tmp_path, {"style_rules.toml": text}).style
    assert style.rules == (
        StyleRule(
            id="r",
            check="forbidden",
            severity=Severity.HARD,
            say="s",
            params={"texts": ("[NAME]", "null", "text #2")},
            where=Where(file="style_rules.toml", line=1, column=1),
        ),
        StyleRule(
            id="q",
            check="max_questions",
            severity=Severity.SOFT,
            say="one",
            params={"max": 1, "per": "bubble"},
            where=Where(file="style_rules.toml", line=8, column=1),
        ),
    )
    assert style.path == "style_rules.toml"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            HEAD + 'check = "max_questions"\nmax_question = 1\nmax = 1\n',
            ["6:1: unknown key `max_question` in `rule (max_questions)`; did you mean `max`?"],
        ),
        (
            'forbiden = ["—"]\n',
            [
                "1:1: unknown key `forbiden` in `style_rules`; known: rules",
                "1:1: `rules` is missing in `style_rules`; add rules: …",
            ],
        ),
        (HEAD + 'check = "forbiden"\ntexts = ["a"]\n', ['5:9: `"forbiden"`, expected a known name; did you mean `forbidden`?']),
        (HEAD, ["1:1: `check` is missing in `rule`; add check = one of "]),
        (HEAD + 'check = "max_questions"\n', ["1:1: `max` is missing in `rule (max_questions)`; add max: …"]),
        (
            HEAD + 'check = "max_questions"\nmax = "1"\n',
            ['6:7: `"1"`, expected a whole number from 0 to 1000000; write one without quotes'],
        ),
        (
            HEAD + 'check = "max_questions"\nmax = 1\nper = "bubbel"\n',
            ['7:7: `"bubbel"`, expected one of reply, bubble; did you mean `bubble`?'],
        ),
        (
            HEAD + 'check = "forbidden"\ntexts = [\n  "a",\n  3,\n  "",\n]\n',
            ['8:3: `3`, expected text; put it in quotes: "3"', '9:3: `""`, expected text; write one'],
        ),
        (HEAD + 'check = "regex"\nabsent = "("\n', ['6:10: `"("`, expected a regular expression; correct it: missing )']),
        (HEAD + 'check = "regex"\n', ["1:1: rule `r`: regex needs `absent` or `present`; correct it"]),
        (
            HEAD + 'check = "no_dash"\n' + HEAD + 'check = "no_dash"\n',
            ["6:1: the rule `r` stands twice, first at line 1, column 1; rename one"],
        ),
        (HEAD.replace('"hard"', '"harsh"') + 'check = "no_dash"\n', ['3:12: `"harsh"`, expected one of hard, soft; did you mean']),
        ("rules = 3\n", ["1:9: `3`, expected a list; write [3]"]),
        (HEAD + 'check = "no_dash"\nsay = "again"\n', ["6:14: not readable as TOML (Cannot overwrite a value)"]),
        ("[[rules]]\nid = no\n", ["2:6: not readable as TOML (Invalid value); correct it, texts need quotes"]),
        ("", ["1:1: `rules` is missing in `style_rules`; add rules: …"]),
    ],
)  # fmt: skip
def test_b51_b52_a_rule_is_told_what_is_wrong(text: str, said: list[str], tmp_path: Path) -> None:
    """Unknown, missing, wrong or doubled: each with the line and column of the key or value."""
    lines = told(tmp_path, {"style_rules.toml": text})
    assert [line.startswith(f"style_rules.toml:{s}") for line, s in zip(lines, said, strict=True)] == [True] * len(
        said
    ), lines


def test_b54_dollars_in_rules_stay(tmp_path: Path) -> None:
    """`${prenom}` is a text to look for, not a variable."""
    text = HEAD + 'check = "forbidden"\ntexts = ["${prenom}", "prix: 10$"]\n'
    assert suite_of(tmp_path, {"style_rules.toml": text}).style.rules[0].params == {"texts": ("${prenom}", "prix: 10$")}


def test_a_rules_file_loads_alone(tmp_path: Path) -> None:
    """Any file, called in messages as the caller says; one that is not there is a problem."""
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + 'check = "no_dash"\n', "utf-8")
    assert [r.id for r in load_style_rules(path, "mine").rules] == ["r"]
    with pytest.raises(FileProblems) as caught:
        load_style_rules(tmp_path / "gone.toml", "gone.toml")
    assert str(caught.value.problems[0]).startswith("gone.toml: cannot be read: No such file")

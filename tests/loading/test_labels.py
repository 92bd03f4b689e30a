"""Labelled turns: what is read from each format, and what is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalrun.errors import FileProblems, UsageError
from evalrun.loading.labels import load_labels
from tests.cases import check, rubric

SCORED = rubric(names=("tone", "format"))
CHECK = check()
SCORES = '"scores":{"tone":8,"format":7}'


def read(tmp_path: Path, name: str, text: str, of: object = SCORED) -> object:
    """The labels of a file."""
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return load_labels(path, of, name=name)  # type: ignore[arg-type]


def problems(tmp_path: Path, name: str, text: str, of: object = SCORED) -> str:
    """What is wrong with a file."""
    with pytest.raises(FileProblems) as caught:
        read(tmp_path, name, text, of)
    return "\n".join(f"{p.where.line}: {p.message}" for p in caught.value.problems)


JSONL = f'{{"id":"a","user":"non","agent":["ok","08:30"],{SCORES}}}\n\n{{"id":"b","user":"no","agent":["d\'accord"],{SCORES}}}\n'
YAML = """\
- id: a
  user: non
  agent: [ok, "08:30"]
  scores: {tone: 8, format: 7}
- id: b
  user: no
  agent: [d'accord]
  scores: {tone: 8, format: 7}
"""


@pytest.mark.parametrize(("name", "text"), [("x.jsonl", JSONL), ("x.yaml", YAML)])
def test_json_lines_and_yaml_say_the_same(tmp_path: Path, name: str, text: str) -> None:
    """Texts stay as written, scores are numbers, and each label knows its line."""
    first, second = read(tmp_path, name, text)  # type: ignore[misc]
    assert [b.text for b in first.turns[0].bubbles] == ["ok", "08:30"]
    assert (second.turns[0].opening.text, second.scores) == ("no", {"tone": 8, "format": 7})
    assert (first.good(SCORED), second.where.line) == (True, 3 if name == "x.jsonl" else 5)


def test_csv_has_a_column_for_each_criterion(tmp_path: Path) -> None:
    """A spreadsheet is enough: empty cells are left out."""
    text = 'id,user,agent,score:tone,score:format,why\na,non,"ok, noté",8,3,\n'
    (label,) = read(tmp_path, "x.csv", text)  # type: ignore[misc]
    assert (label.turns[0].bubbles[0].text, label.good(SCORED)) == ("ok, noté", False)
    (one,) = read(tmp_path, "y.csv", "id,user,agent,violated,quote\na,?,c'est 49 €,true,49 €\n", CHECK)  # type: ignore[misc]
    assert (one.violated, one.good(CHECK)) == (True, False)


def test_tools_and_earlier_turns_are_read(tmp_path: Path) -> None:
    """A judged turn may have a past, tool calls and an event that opened it."""
    text = """\
- id: a
  before: [{user: salut, agent: [bonjour]}]
  event: reminder
  tools: [{name: look_up, arguments: {id: 1}, result: {age: 34}}]
  agent: [tu as 34 ans]
  violated: false
"""
    (label,) = read(tmp_path, "x.yaml", text, CHECK)  # type: ignore[misc]
    assert [t.number for t in label.turns] == [1, 2]
    assert label.turns[1].opening.event == "reminder"
    assert label.turns[1].tools[0].result == {"age": 34}


@pytest.mark.parametrize(
    ("text", "of", "message"),
    [
        ('{"id":"a","agent":["x"],"scores":{"tone":8}}', SCORED, "1: label `a`: no score for `format`; add one"),
        ('{"id":"a","agent":["x"],"scores":{"tone":8,"format":11}}', SCORED, "a whole number from 1 to 10"),
        ('{"id":"a","agent":["x"],"scores":{"tone":8,"format":7,"x":1}}', SCORED, "`x` is no criterion"),
        ('{"id":"a","agent":["x"]}', CHECK, "`violated` is missing"),
        ('{"id":"a","agent":["x"],"violated":true}', CHECK, "`quote` is not what the agent said"),
        ('{"id":"a","agent":["x"],"violated":true,"quote":"y"}', CHECK, "`quote` is not what the agent said"),
        ('{"id":"a","agnet":["x"],"violated":false}', CHECK, "did you mean `agent`"),
        (
            '\n{"id":"a","agent":["x"],"violated":false}\n{"id":"a","agent":["y"],"violated":false}',
            CHECK,
            "3: the id `a`",
        ),
        (
            '{"id":"a","agent":["x"],"violated":false}\n{"id":"b","agent":["x"],"violated":false}',
            CHECK,
            "same turn as `a`",
        ),
        ("", CHECK, "the file is empty"),
    ],
)
def test_what_does_not_fit_is_named_with_its_line(tmp_path: Path, text: str, of: object, message: str) -> None:
    """A missing score, a foreign criterion, an answer without words, a twin."""
    assert message in problems(tmp_path, "x.jsonl", text, of)


def test_a_file_that_is_not_there_is_a_mistake_of_usage(tmp_path: Path) -> None:
    """The remedy names the key of the rubric."""
    with pytest.raises(UsageError, match="there is no file"):
        load_labels(tmp_path / "gone.jsonl", CHECK, name="gone.jsonl")

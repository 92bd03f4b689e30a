"""TOML as nodes: the place of every key and value, whatever form it is written in."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalrun.errors import FileProblems, Problem
from evalrun.loading.nodes import Node
from evalrun.loading.toml_nodes import read_toml
from evalrun.loading.toml_places import Path, places_of

TEXT = '''\
# a = 1 [comment]
a = 1
"é.b" = [ "x", # one
  "y" ]
long = """
[not.a.table]
a = 2
"""
raw = \'\'\'
b = 1\'\'\'
[t.u]
k.l = {m = 1, "n" = [1, {o = 2}]}
[[rules]]
id = "one"
[[rules]]
id = 'two # "x"'
[rules.sub]
x = 2026-01-01T00:00:00Z
[[rules.more]]
y = "a\\"b"
[z]
'''


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        (("a",), (2, 1), (2, 5)),
        (("é.b",), (3, 1), (3, 9)),
        (("é.b", 0), (3, 1), (3, 11)),
        (("é.b", 1), (3, 1), (4, 3)),
        (("long",), (5, 1), (5, 8)),
        (("raw",), (9, 1), (9, 7)),
        (("t", "u"), (11, 4), (11, 1)),
        (("t", "u", "k", "l"), (12, 3), (12, 7)),
        (("t", "u", "k", "l", "m"), (12, 8), (12, 12)),
        (("t", "u", "k", "l", "n", 1, "o"), (12, 26), (12, 30)),
        (("rules", 0), (13, 3), (13, 1)),
        (("rules", 1, "id"), (16, 1), (16, 6)),
        (("rules", 1, "sub", "x"), (18, 1), (18, 5)),
        (("rules", 1, "more", 0, "y"), (20, 1), (20, 5)),
        (("z",), (21, 2), (21, 1)),
    ],
)
def test_every_form_has_its_place(path: Path, key: tuple[int, int], value: tuple[int, int]) -> None:
    """Dotted, quoted, inline, in arrays, in arrays of tables; a table inside a text is none."""
    places = places_of(TEXT)
    assert (places.key(path), places.value(path)) == (key, value)


def test_values_are_those_of_the_standard_reader() -> None:
    """The nodes hold what tomllib reads, times as text."""
    expected = tomllib.loads(TEXT)
    expected["rules"][1]["sub"]["x"] = "2026-01-01T00:00:00+00:00"
    assert read_toml(TEXT.encode(), "f.toml").value() == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a = 1\nb = \n", "f.toml:2:5: not readable as TOML (Invalid value); correct it, texts need quotes"),
        (
            b"a = 1\na = 2\n",
            "f.toml:2:6: not readable as TOML (Cannot overwrite a value); correct it, texts need quotes",
        ),
        (b"a = [1,\n", "f.toml:2:1: not readable as TOML (Invalid value); correct it, texts need quotes"),
        (b"a = 1\nb = '\xff'\n", "f.toml:2:6: the byte 0xFF is not UTF-8; save the file as UTF-8"),
    ],
)
def test_what_cannot_be_read_is_one_line(data: bytes, expected: str) -> None:
    """Place, what was found, what to do."""
    with pytest.raises(FileProblems) as caught:
        read_toml(data, "f.toml")
    assert [str(p) for p in caught.value.problems] == [expected]


def test_marks_and_line_ends_change_nothing() -> None:
    """A byte order mark and carriage returns are no part of the values."""
    node = read_toml(b"\xef\xbb\xbfa = 1\r\nb = 'x'\r\n", "f.toml")
    assert node.value() == {"a": 1, "b": "x"}
    assert str(node.pairs[1][1].where) == "f.toml:2:5"


LINES = st.sampled_from(
    [
        "[a]",
        "[[a]]",
        "[a.b]",
        "[[a.b]]",
        "x = 1",
        "y.z = 'q'",
        '"k" = [1, [2], {m = 3}]',
        "s = '''",
        "'''",
        '"""',
        "# x = 1",
        "t = 1.5 # c",
        "e = {}",
        "n = []",
        "u = true",
        "d = 1979-05-27",
        '"a\\tb" = 1',
        's = "\\""',
        "[",
        "i = [\n1,\n 2 ]",
        "f = nan",
    ]
)


@settings(max_examples=300)
@given(data=st.one_of(st.binary(max_size=40), st.lists(LINES, max_size=10).map(lambda x: "\n".join(x).encode())))
@example(data=b"a = 0x" + b"F" * 9000)
@example(data=b"a = " + b"1" * 9000)
@example(data=b"a = " + b"[" * 5000)
@example(data=b"d = 2026-02-31")
def test_bytes_give_a_node_or_problems_and_nothing_else(data: bytes) -> None:
    """Whatever stands in a file; and every key of a valid one has a place of its own on its line."""
    read = _read(data)
    if isinstance(read, Node):
        _check_places(read, data.decode("utf-8-sig").replace("\r\n", "\n").split("\n"))
        return
    assert read != ()
    assert all("\n" not in str(p) and p.where.line >= 1 for p in read)


def _read(data: bytes) -> Node | tuple[Problem, ...]:
    try:
        return read_toml(data, "f.toml")
    except FileProblems as e:
        return e.problems


def _check_places(node: Node, lines: list[str]) -> None:
    for key, value in node.pairs:
        line = lines[key.where.line - 1]
        assert line[key.where.column - 1 :].lstrip("\"'").startswith(key.text[:1])
        _check_places(value, lines)
    for item in node.items:
        _check_places(item, lines)

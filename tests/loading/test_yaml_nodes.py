"""YAML as nodes: text as written, places, limits, and one line for all that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalrun.errors import FileProblems, Problem
from evalrun.loading import yaml_nodes
from evalrun.loading.nodes import Node, NodeKind
from evalrun.loading.yaml_nodes import BYTES_AT_MOST, read_yaml


def problems(data: bytes) -> list[str]:
    """What is told about a file that cannot be read."""
    with pytest.raises(FileProblems) as caught:
        read_yaml(data, "f.yaml")
    return [str(p) for p in caught.value.problems]


def pairs(text: str) -> dict[str, Node]:
    """The values of a mapping by key."""
    return {k.text: v for k, v in read_yaml(text.encode(), "f.yaml").pairs}


@pytest.mark.parametrize(
    "written",
    [
        "no",
        "0612345670",
        "0612345678",
        "22:30",
        "08:30",
        "1.10",
        "2026-12-01",
        "on",
        "1_000",
        "1e3",
        "<name>",
        "—",
        "=",
    ],
)
def test_b50_a_plain_scalar_keeps_its_source_text(written: str) -> None:
    """What YAML 1.1 would turn into a boolean, a number or a date stays what was written."""
    assert pairs(f"key: {written}\n")["key"].text == written


def test_b50_a_key_keeps_its_source_text() -> None:
    """`on:` is the key `on`, not true."""
    assert list(pairs("on: 1\nno: 2\n1.10: 3\n")) == ["on", "no", "1.10"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("true", True),
        ("False", False),
        ("12", 12),
        ("-3", -3),
        ("0", 0),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("null", None),
        ("~", None),
        ("", None),
        ('"12"', "12"),
        ("'true'", "true"),
        ('"null"', "null"),
        ("no", "no"),
        ("on", "on"),
        ("0612345670", "0612345670"),
        ("08:30", "08:30"),
        ("1_000", "1_000"),
        ("2026-12-01", "2026-12-01"),
    ],
)
def test_any_value_is_typed_by_yaml_1_2(written: str, expected: object) -> None:
    """Numbers, booleans and null have types, quoted text stays text, a leading zero stays text."""
    value = pairs(f"key: {written}\n")["key"].value()
    assert (type(value), value) == (type(expected), expected)


def test_every_key_and_value_knows_its_place() -> None:
    """Lines and columns count from 1, in characters."""
    node = read_yaml("é: [a,\n  b]\nclé: {x: y}\n".encode(), "f.yaml")
    places = [(str(k.where), str(v.where)) for k, v in node.pairs]
    assert places == [("f.yaml:1:1", "f.yaml:1:4"), ("f.yaml:3:1", "f.yaml:3:6")]
    assert [str(i.where) for i in node.pairs[0][1].items] == ["f.yaml:1:5", "f.yaml:2:3"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "f.yaml:1:1: the file is empty, expected a mapping; write one, or remove the file"),
        (b"# nothing\n", "f.yaml:1:1: the file is empty, expected a mapping; write one, or remove the file"),
        (b"---\n", "f.yaml:1:1: the file is empty, expected a mapping; write one, or remove the file"),
        (b"a: 1\n---\nb: 2\n", "f.yaml:2:1: a second document, expected one; move it to a file of its own"),
        (b"a: b\nc: d\x00\n", "f.yaml:2:5: the control character U+0000; remove it"),
        (b"a: \xff\n", "f.yaml:1:4: the byte 0xFF is not UTF-8; save the file as UTF-8"),
        ("a: b\n".encode("utf-16"), "f.yaml:1:1: the byte 0xFF is not UTF-8; save the file as UTF-8"),
        (b"a: *b\n", 'f.yaml:1:4: `*b` is a YAML alias to nothing; if it is a text, write "*b"'),
        (
            b"a: &co hello\n",
            "f.yaml:1:4: `&co` is a YAML anchor that is never used; put a text in quotes, or remove it",
        ),
    ],
)
def test_what_cannot_be_read_is_one_line(data: bytes, expected: str) -> None:
    """Place, what was found, what to do."""
    assert problems(data) == [expected]


@pytest.mark.parametrize(
    ("item", "pasted"),
    [
        ("%s", '"%s"'),
        ("*bold*", '"*bold*"'),
        ("`code`", '"`code`"'),
        ("@x", '"@x"'),
        ("'it's ok'", '"it\'s ok"'),
        ("|x", '"|x"'),
    ],
)
def test_b51_a_scanner_error_gives_the_quoted_form(item: str, pasted: str) -> None:
    """What YAML cannot even scan is told with its line and the form to paste, and the form to paste works."""
    said = problems(f"forbidden:\n  - {item}\n".encode())
    assert [s.partition(":")[2][:1] for s in said] == ["2"]
    assert said[0].endswith(f"write {pasted}")
    assert "\n" not in said[0]
    fixed = read_yaml(f"forbidden:\n  - {pasted}\n".encode(), "f.yaml")
    assert fixed.pairs[0][1].items[0].text == json.loads(pasted)


@pytest.mark.parametrize("mark", ["\ufeff", ""])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2028"])
def test_byte_order_marks_and_line_ends_change_nothing(mark: str, end: str) -> None:
    """A file from any editor gives the same values, and places on the lines the parser counts."""
    node = read_yaml(f"{mark}a: one{end}b: two # c{end}".encode(), "f.yaml")
    assert node.value() == {"a": "one", "b": "two"}
    assert node.pairs[0][0].where.line == 1
    assert node.pairs[1][1].commented == "two # c"


@pytest.mark.parametrize(
    "value", ['!!python/object/apply:os.system ["touch pwned"]', "!!python/name:os.system", "!!str 12", "!x {a: b}"]
)
def test_b76_a_tag_is_refused(value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No tag builds anything: one line, and nothing was run."""
    monkeypatch.chdir(tmp_path)
    said = problems(f"a: {value}\n".encode())
    assert [s[:10] for s in said] == ["f.yaml:1:4"]
    assert "is not allowed" in said[0]
    assert list(tmp_path.iterdir()) == []


def test_aliases_are_followed_within_limits() -> None:
    """An alias stands for its value; a bomb of them is refused at once."""
    assert read_yaml(b"a: &x {k: v}\nb: *x\n", "f.yaml").value() == {"a": {"k": "v"}, "b": {"k": "v"}}
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 9)]
    assert "once aliases are followed" in problems("\n".join(levels).encode())[0]
    assert "aliases; write" in problems(("a: &a x\nb: [" + ", ".join(["*a"] * 101) + "]\n").encode())[0]
    assert "alias to nothing" in problems(b"a: &a [*a]\n")[0]


@pytest.mark.parametrize("data", [b"[" * 900, b"{a: " * 900, b"- " * 900, b"[" * 200_000, b"? " * 900, b"a: [" * 900])
def test_depth_is_bounded(data: bytes) -> None:
    """A tower of brackets is refused, not followed."""
    assert len(problems(data)) == 1


def test_size_is_bounded() -> None:
    """A file too large and a file of too many values are refused."""
    assert "KiB" in problems(b"#" * (BYTES_AT_MOST + 1))[0]
    assert "more than 20000 values" in problems(b"[" + b"a," * 20_001 + b"]")[0]
    assert len(read_yaml(b"[" + b"a," * 19_000 + b"]", "f.yaml").items) == 19_000


@given(text=st.text(st.characters(codec="utf-8", categories=("L", "M", "N", "P", "S", "Z", "Cc", "Cf"))))
def test_any_text_survives_in_quotes(text: str) -> None:
    """A text in a quoted scalar is the text, whatever it holds."""
    for ascii_only in (True, False):
        quoted = json.dumps(text, ensure_ascii=ascii_only)
        unpaired = ascii_only and any(ord(c) > 0xFFFF for c in text)  # JSON's pairs of surrogates are no YAML
        strange = any(not c.isprintable() and c != " " for c in text)
        if unpaired or (strange and not ascii_only):
            continue
        node = pairs(f"key: {quoted}\n")["key"]
        assert (node.kind, node.text, node.value()) == (NodeKind.TEXT, text, text)
    if not any(c in "\n\r\x85\u2028\u2029\t" or not c.isprintable() for c in text):
        single = "'" + text.replace("'", "''") + "'"
        assert pairs(f"key: {single}\n")["key"].text == text


PIECES = st.sampled_from(
    [
        "a",
        "b: ",
        "- ",
        "\n",
        "  ",
        "[",
        "]",
        "{",
        "}",
        ": ",
        "#",
        " #",
        "&x ",
        "*x",
        "!t ",
        "|",
        ">",
        "'",
        '"',
        "? ",
        "%",
        "@",
        "---\n",
        "...\n",
        "\t",
        "\r",
        "\x85",
        "\u2028",
        "\ufeff",
        "\x00",
        "<<: ",
        "\\u00e9",
        "\\",
        "null",
        "é",
        "😀",
        ",",
    ]
)


@settings(max_examples=300)
@given(data=st.one_of(st.binary(max_size=60), st.lists(PIECES, max_size=30).map(lambda p: "".join(p).encode())))
@example(data=b"a: b\xc2\x85 #c")
@example(data=b"\xef\xbb\xbf\xef\xbb\xbfa: b")
@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
def test_bytes_give_a_node_or_problems_and_nothing_else(loader: str, data: bytes) -> None:
    """Whatever stands in a file, with or without the C library: a node, or problems of one line with a place."""
    for problem in _problems_of(data, getattr(yaml, loader)):
        assert problem.where.line >= 1
        assert problem.where.column >= 1
        assert "\n" not in str(problem)


def _problems_of(data: bytes, loader: object) -> tuple[Problem, ...]:
    """What is told about a file under another parser, nothing when it can be read."""
    chosen = yaml_nodes._LOADER
    yaml_nodes._LOADER = loader
    try:
        read_yaml(data, "f.yaml")
    except FileProblems as e:
        return e.problems
    finally:
        yaml_nodes._LOADER = chosen
    return ()

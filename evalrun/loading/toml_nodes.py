"""TOML to nodes. The standard reader gives no places: a scan of the lines finds each key's."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

from evalrun.errors import FileProblems, Problem, Where
from evalrun.loading.nodes import Node, NodeKind

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]#]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"\s*((?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'))*)\s*=")
_PART = re.compile(r"\"([^\"]*)\"|'([^']*)'|([A-Za-z0-9_-]+)")
_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")
Path = tuple[str | int, ...]


def read_toml(data: bytes, file: str) -> Node:
    """A TOML file as a mapping node. Raises FileProblems."""
    try:
        text = data.decode("utf-8-sig")
        value = tomllib.loads(text)
    except UnicodeDecodeError as e:
        problem = Problem(where=Where(file=file, line=1, column=1), message="not UTF-8; save the file as UTF-8")
        raise FileProblems([problem]) from e
    except tomllib.TOMLDecodeError as e:
        found = _PLACE.search(str(e))
        line, column = map(int, found.groups()) if found else (1, 1)
        said = _PLACE.sub("", str(e)).strip().removesuffix("(at end of document)").strip()
        problem = Problem(where=Where(file=file, line=line, column=column), message=f"not readable as TOML ({said})")
        raise FileProblems([problem]) from e
    return _node(value, (), _places(text), file)


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(next(p for p in found if p) if any(found) else "" for found in _PART.findall(dotted))


def _places(text: str) -> dict[Path, tuple[int, int]]:
    """Line and column of each table and key. A line inside a multi-line text may add a place nobody asks for."""
    places: dict[Path, tuple[int, int]] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            path: Path = _indexed(_parts(header.group(2)), counts)
            if header.group(1) == "[[":
                index = counts[path] = counts.get(path, -1) + 1
                path = (*path, index)
            table = path
            places.setdefault(table, (number, line.index("[") + 1))
        elif key := _KEY.match(line):
            parts = _parts(key.group(1))
            column = key.start(1) + 1
            for i in range(1, len(parts) + 1):
                places.setdefault((*table, *parts[:i]), (number, column))
    return places


def _indexed(parts: tuple[str, ...], counts: Mapping[Path, int]) -> Path:
    """A header's path with the index of each array of tables it is inside of."""
    path: Path = ()
    for i, part in enumerate(parts):
        path = (*path, part)
        if path in counts and i < len(parts) - 1:
            path = (*path, counts[path])
    return path


def _node(value: object, path: Path, places: Mapping[Path, tuple[int, int]], file: str) -> Node:
    place = next((places[path[:i]] for i in range(len(path), -1, -1) if path[:i] in places), (1, 1))
    where = Where(file=file, line=place[0], column=place[1])
    if isinstance(value, Mapping):
        pairs = [
            (_text(str(k), _node("", (*path, k), places, file).where), _node(v, (*path, k), places, file))
            for k, v in value.items()
        ]
        return Node(kind=NodeKind.MAPPING, where=where, pairs=pairs, source="{…}")
    if isinstance(value, list):
        items = [_node(v, (*path, i), places, file) for i, v in enumerate(value)]
        return Node(kind=NodeKind.LIST, where=where, items=items, source="[…]")
    if isinstance(value, str):
        return _text(value, where)
    return Node(kind=NodeKind.TEXT, where=where, text=str(value), typed=value, source=str(value).lower())


def _text(value: str, where: Where) -> Node:
    return Node(kind=NodeKind.TEXT, where=where, text=value, source=f'"{value[:60]}"')

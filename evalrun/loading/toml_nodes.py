"""TOML to nodes, with the places that the standard reader does not give."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from datetime import date, datetime, time

from evalrun.errors import FileProblems, Problem, Where
from evalrun.loading.nodes import Node, NodeKind
from evalrun.loading.toml_places import Path, Place, Places, places_of
from evalrun.loading.yaml_nodes import cut

BYTES_AT_MOST = 1024 * 1024
_PLACE = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)")


def read_toml(data: bytes, file: str) -> Node:
    """A TOML file as a mapping node. Raises FileProblems."""
    if len(data) > BYTES_AT_MOST:
        raise _problem(file, (1, 1), f"the file is over {BYTES_AT_MOST // 1024} KiB, expected less; split it")
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
        return _node(tomllib.loads(text), (), places_of(text), file)
    except UnicodeDecodeError as e:
        before = data[: e.start].decode("utf-8-sig", errors="replace").split("\n")
        message = f"the byte 0x{data[e.start]:02X} is not UTF-8; save the file as UTF-8"
        raise _problem(file, (len(before), len(before[-1]) + 1), message) from e
    except tomllib.TOMLDecodeError as e:
        raise _problem(file, *_explained(str(e), text)) from e
    except RecursionError as e:
        raise _problem(file, (1, 1), "nested too deeply; flatten it") from e
    except ValueError as e:  # a date such as 2026-02-31, a number of thousands of digits
        raise _problem(file, (1, 1), f"not readable as TOML ({e}); correct it") from e


def _problem(file: str, place: Place, message: str) -> FileProblems:
    where = Where(file=file, line=place[0], column=place[1])
    return FileProblems([Problem(where=where, message=message)])


def _explained(said: str, text: str) -> tuple[Place, str]:
    found = _PLACE.search(said)
    lines = text.split("\n")
    place = (int(found[1]), int(found[2])) if found and found[1] else (len(lines), len(lines[-1]) + 1)
    said = _PLACE.sub("", said).strip()
    return place, f"not readable as TOML ({said}); correct it, texts need quotes"


def _node(value: object, path: Path, places: Places, file: str) -> Node:
    where = _where(places.value(path), file)
    if isinstance(value, Mapping):
        pairs = [
            (_text(k, _where(places.key((*path, k)), file)), _node(v, (*path, k), places, file))
            for k, v in value.items()
        ]
        return Node(kind=NodeKind.MAPPING, where=where, pairs=pairs, source="{…}", language="TOML")
    if isinstance(value, list):
        items = [_node(v, (*path, i), places, file) for i, v in enumerate(value)]
        return Node(kind=NodeKind.LIST, where=where, items=items, source="[…]", language="TOML")
    if isinstance(value, str):
        return _text(value, where)
    if isinstance(value, (date, datetime, time)):
        return Node(kind=NodeKind.TEXT, where=where, text=value.isoformat(), source=value.isoformat(), language="TOML")
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    return Node(kind=NodeKind.TEXT, where=where, text=shown, typed=value, source=shown, language="TOML")


def _where(place: Place, file: str) -> Where:
    return Where(file=file, line=place[0], column=place[1])


def _text(value: str, where: Where) -> Node:
    return Node(kind=NodeKind.TEXT, where=where, text=value, source=f'"{cut(value)}"', language="TOML")

"""JSON Schemas of answers, cut to the subset that a vendor can enforce; whoever asked checks the answer again."""

from __future__ import annotations

from collections.abc import Collection, Mapping

_NAMED = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
"""Keywords whose keys are names of the user's own, never keywords."""
_VALUES = ("const", "enum", "default", "examples", "required")
"""Keywords that hold values, not schemas."""


def without(schema: Mapping[str, object], keywords: Collection[str]) -> dict[str, object]:
    """The schema with some keywords left out at every depth; a property of that name stays."""
    cut: dict[str, object] = {}
    for key, value in schema.items():
        if key in keywords:
            continue
        if key in _NAMED and isinstance(value, Mapping):
            cut[key] = {name: _inner(part, keywords) for name, part in value.items()}
        else:
            cut[key] = value if key in _VALUES else _inner(value, keywords)
    return cut


def _inner(value: object, keywords: Collection[str]) -> object:
    if isinstance(value, Mapping):
        return without(value, keywords)
    if isinstance(value, (list, tuple)):
        return [_inner(v, keywords) for v in value]
    return value


def bounded(schema: Mapping[str, object], longest: int) -> dict[str, object]:
    """The schema with no `maxLength` over a limit of characters."""
    cut: dict[str, object] = {}
    for key, value in schema.items():
        if key == "maxLength" and isinstance(value, int):
            cut[key] = min(value, longest)
        elif key in _NAMED and isinstance(value, Mapping):
            cut[key] = {name: bounded(p, longest) if isinstance(p, Mapping) else p for name, p in value.items()}
        elif key not in _VALUES and isinstance(value, Mapping):
            cut[key] = bounded(value, longest)
        else:
            cut[key] = value
    return cut

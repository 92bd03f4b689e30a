"""The JSON Schemas (2020-12) of the files people write, from the same tables that read them."""

from __future__ import annotations

import json
from collections.abc import Mapping

from evalrun.errors import UnknownName
from evalrun.loading.fields import Table
from evalrun.loading.kinds import nearest
from evalrun.loading.labels import LABEL
from evalrun.loading.people_and_rulers import PERSONA, RUBRIC
from evalrun.loading.scenarios import SCENARIO
from evalrun.loading.settings_shape import SETTINGS
from evalrun.loading.style_rules import STYLE_RULES

KINDS: Mapping[str, Table] = {
    "scenario": SCENARIO,
    "persona": PERSONA,
    "rubric": RUBRIC,
    "style_rules": STYLE_RULES,
    "settings": SETTINGS,
    "label": LABEL,
}
_IN_TOML = ("style_rules", "settings")


def schema_of(kind: str) -> dict[str, object]:
    """The schema of a kind of file. Raises UnknownName."""
    if kind not in KINDS:
        raise UnknownName(f"there is no schema {kind!r}; {nearest(kind, KINDS)}", remedy=f"known: {', '.join(KINDS)}")
    table = KINDS[kind]
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"evalrun {kind.replace('_', ' ')}",
        "description": table.meaning,
    }
    shape = table.schema()
    return {**head, **(_texts_only(shape) if kind in _IN_TOML else shape)}  # type: ignore[dict-item]


def schema_text(kind: str) -> str:
    """The schema as it is shipped and printed."""
    return json.dumps(schema_of(kind), indent=2, ensure_ascii=False) + "\n"


def _texts_only(schema: object) -> object:
    """The same schema where texts have quotes always: in TOML `1.10` is no text."""
    if isinstance(schema, Mapping):
        shape = {k: _texts_only(v) for k, v in schema.items()}
        kinds = schema.get("type")
        return {**shape, "type": "string"} if isinstance(kinds, list) and "string" in kinds else shape
    return [_texts_only(s) for s in schema] if isinstance(schema, list) else schema

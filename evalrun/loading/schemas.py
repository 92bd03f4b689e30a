"""The JSON Schemas (2020-12) of the files people write, from the same tables that read them."""

from __future__ import annotations

import json
from collections.abc import Mapping

from evalrun.errors import UnknownName
from evalrun.loading.fields import Table
from evalrun.loading.people_and_rulers import PERSONA, RUBRIC, STYLE_RULES
from evalrun.loading.scenarios import SCENARIO
from evalrun.loading.settings import SETTINGS

KINDS: Mapping[str, Table] = {
    "scenario": SCENARIO,
    "persona": PERSONA,
    "rubric": RUBRIC,
    "style_rules": STYLE_RULES,
    "settings": SETTINGS,
}


def schema_of(kind: str) -> dict[str, object]:
    """The schema of a kind of file. Raises UnknownName."""
    if kind not in KINDS:
        raise UnknownName(f"there is no schema {kind!r}", remedy=f"known: {', '.join(KINDS)}")
    table = KINDS[kind]
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"evalrun {kind.replace('_', ' ')}",
        "description": table.meaning,
    }
    return head | table.schema()


def schema_text(kind: str) -> str:
    """The schema as it is shipped and printed."""
    return json.dumps(schema_of(kind), indent=2, ensure_ascii=False) + "\n"

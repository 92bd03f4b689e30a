"""The JSON Schema of a kind of file, for editors."""

from __future__ import annotations

from evalrun.loading.schemas import KINDS, schema_text

NAMES = tuple(KINDS)


def schema(kind: str) -> str:
    """The schema of `scenario`, `persona`, `rubric`, `style_rules` or `settings`, as JSON. Raises UnknownName."""
    return schema_text(kind)

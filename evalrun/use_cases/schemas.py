"""The JSON Schema of a kind of file, for editors."""

from __future__ import annotations

from evalrun.loading.schemas import schema_text


def schema(kind: str) -> str:
    """The schema of a kind of file (see `loading.schemas.KINDS`), as JSON. Raises UnknownName."""
    return schema_text(kind)

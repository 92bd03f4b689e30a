"""Schemas cut to what a vendor can enforce."""

from __future__ import annotations

from evalrun.providers.answer_schemas import bounded, without

SCHEMA = {
    "type": "object",
    "properties": {
        "pattern": {"type": "string", "pattern": "^a", "maxLength": 400},
        "maxLength": {"type": "integer", "minimum": 1},
    },
    "anyOf": [{"type": "object", "minimum": 2}],
    "required": ["pattern", "maxLength"],
    "const": {"minimum": 3},
}


def test_keywords_go_and_names_stay() -> None:
    """A keyword is cut at every depth; a property or a value of the same name is kept."""
    expected = {
        "type": "object",
        "properties": {"pattern": {"type": "string"}, "maxLength": {"type": "integer"}},
        "anyOf": [{"type": "object"}],
        "required": ["pattern", "maxLength"],
        "const": {"minimum": 3},
    }
    assert without(SCHEMA, ("pattern", "minimum", "maxLength")) == expected


def test_texts_are_bounded_and_names_stay() -> None:
    """Only a text's `maxLength` is lowered, never raised, and a property of that name is no limit."""
    cut = bounded(SCHEMA, 48)
    assert cut["properties"] == {
        "pattern": {"type": "string", "pattern": "^a", "maxLength": 48},
        "maxLength": {"type": "integer", "minimum": 1},
    }
    assert bounded({"maxLength": 12}, 48) == {"maxLength": 12}

"""All the fields at once: what a message says of its writer."""

from __future__ import annotations

from evalrun.sample_orchestrator.extraction.age import read_age
from evalrun.sample_orchestrator.extraction.city import read_city
from evalrun.sample_orchestrator.extraction.first_name import read_first_name
from evalrun.sample_orchestrator.extraction.looking_for import read_looking_for
from evalrun.sample_orchestrator.user import Field


def read(text: str, asked: Field | None) -> dict[str, object]:
    """The values a text states, by column; a bare answer counts only for the field that was asked."""
    found = {
        Field.FIRST_NAME: read_first_name(text, asked=asked is Field.FIRST_NAME),
        Field.CITY: read_city(text, asked=asked is Field.CITY),
        Field.AGE: read_age(text, asked=asked is Field.AGE),
        Field.LOOKING_FOR: read_looking_for(text, asked=asked is Field.LOOKING_FOR),
    }
    return {field.value: value for field, value in found.items() if value is not None}

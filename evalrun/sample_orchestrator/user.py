"""A user as Ori knows them: where they are in the funnel, what they said of themselves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from evalrun.sample_orchestrator.language import Language

ADULT = 18


class StageName(StrEnum):
    """A step of the funnel, in the order of the funnel; the last is a way out of it."""

    WELCOME = "welcome"
    PROFILING = "profiling"
    MANIFESTO = "manifesto"
    ADULTS_ONLY = "adults_only"


class Field(StrEnum):
    """Something the profile holds; the value is the column's name."""

    FIRST_NAME = "first_name"
    CITY = "city"
    AGE = "age"
    LOOKING_FOR = "looking_for"


class LookingFor(StrEnum):
    """What a user hopes to find."""

    RELATIONSHIP = "relationship"
    CASUAL = "casual"
    FRIENDSHIP = "friendship"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """One person.

    `asked` is the field a question is open about, `attempts` how often it was asked in a row.
    `skipped` are fields Ori gave up asking. `inbounds` counts the user's messages: the silence
    after the n-th message is what an event happens in, whatever the clocks say.
    """

    id: int
    address: str
    stage: StageName = StageName.WELCOME
    language: Language = Language.FR
    time_zone: str = "Europe/Paris"
    first_name: str | None = None
    city: str | None = None
    age: int | None = None
    looking_for: LookingFor | None = None
    asked: Field | None = None
    attempts: int = 0
    skipped: tuple[Field, ...] = ()
    paused: bool = False
    inbounds: int = 0
    last_seen: datetime | None = None

    def value(self, field: Field) -> object:
        """What the user said of one field, None when nothing."""
        return getattr(self, field.value)

    def settled(self, field: Field) -> bool:
        """Whether there is nothing left to ask about a field: known, or given up."""
        return self.value(field) is not None or field in self.skipped

    def profile(self) -> dict[str, object]:
        """The fields that are known."""
        return {f.value: self.value(f) for f in Field if self.value(f) is not None}

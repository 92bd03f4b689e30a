"""Two people: the match that Ori made of them, and the meeting they agreed on, as one of the two sees it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from evalrun.sample_orchestrator.language import Language


class MeetingStatus(StrEnum):
    """How far a meeting is. A confirmed one whose time has passed is held."""

    PROPOSED = "proposed"
    CONFIRMED = "confirmed"
    HELD = "held"
    CANCELLED = "cancelled"


class Impression(StrEnum):
    """How a meeting was, for the one who tells."""

    GOOD = "good"
    MIXED = "mixed"
    BAD = "bad"
    MISSED = "missed"
    """The other did not come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partner:
    """The other one, with what Ori may say of them."""

    id: int
    address: str
    first_name: str | None
    age: int | None
    city: str | None
    language: Language
    time_zone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """An open match. `told` says that this user was told of it; the answers are to whether they want to meet."""

    id: int
    partner: Partner
    told: bool
    answer: bool | None
    their_answer: bool | None

    @property
    def mutual(self) -> bool:
        """Both want to meet."""
        return bool(self.answer and self.their_answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """The meeting in view: the latest that was not cancelled. `impression` and `again` are this user's feedback."""

    id: int
    partner: Partner
    at: datetime
    place: str
    status: MeetingStatus
    proposed_by: int | None = None
    impression: Impression | None = None
    again: bool | None = None

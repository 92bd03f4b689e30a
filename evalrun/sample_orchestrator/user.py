"""A user as Ori knows them: where they are in the funnel, what they said of themselves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from evalrun.sample_orchestrator.encounters import Impression, Match, Meeting, MeetingStatus
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.safety.acquaintance import Acquaintance

ADULT = 18


class StageName(StrEnum):
    """A step of the funnel, in the order of the funnel; the last is a way out of it."""

    WELCOME = "welcome"
    PROFILING = "profiling"
    MANIFESTO = "manifesto"
    PRICING = "pricing"
    MATCHING = "matching"
    MEETING = "meeting"
    FEEDBACK = "feedback"
    COACHING = "coaching"
    ADULTS_ONLY = "adults_only"


class Field(StrEnum):
    """Something Ori asks for: first what the profile holds, then what the later stages need to know.

    The value is the name of the column or of the property that holds the answer.
    """

    FIRST_NAME = "first_name"
    CITY = "city"
    AGE = "age"
    LOOKING_FOR = "looking_for"
    AGREED = "agreed"
    PLAN = "plan"
    WANTS_TO_MEET = "wants_to_meet"
    SLOT = "slot"
    CONFIRMED = "confirmed"
    IMPRESSION = "impression"
    AGAIN = "again"
    TOPIC = "topic"


PROFILE = (Field.FIRST_NAME, Field.CITY, Field.AGE, Field.LOOKING_FOR)
"""What the profile holds, in the order asked."""


class Awaiting(StrEnum):
    """What Ori waits to be told, beside the question of the stage."""

    SAFETY = "safety"
    """Whether the user is safe."""
    REPORTED = "reported"
    """Whom the user reports."""
    ANOTHER_TIME = "another_time"
    """When the user would rather meet."""
    RESET = "reset"
    """Whether the user really wants to begin again."""


class LookingFor(StrEnum):
    """What a user hopes to find."""

    RELATIONSHIP = "relationship"
    CASUAL = "casual"
    FRIENDSHIP = "friendship"
    OPEN = "open"


class Plan(StrEnum):
    """What a user decided about the membership."""

    MEMBER = "member"
    """Paid."""
    LATER = "later"
    """Not now; nothing was charged."""


class Topic(StrEnum):
    """What a user wants to work on with Ori."""

    FIRST_WORDS = "first_words"
    CONVERSATION = "conversation"
    CONFIDENCE = "confidence"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """One person.

    `asked` is the field a question is open about, `attempts` how often it was asked in a row.
    `expired`: Ori put an unfinished profile aside after a long silence.
    `match` is the open match, `meeting` the meeting in view, `acquaintances` everybody they were
    brought together with; all are read with the user.
    `skipped` are fields Ori gave up asking; `awaiting` is an answer that goes before the stage's.
    `inbounds` counts the user's messages: the silence
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
    awaiting: Awaiting | None = None
    paused: bool = False
    inbounds: int = 0
    last_seen: datetime | None = None
    agreed: bool | None = None
    plan: Plan | None = None
    topic: Topic | None = None
    expired: bool = False
    match: Match | None = None
    meeting: Meeting | None = None
    acquaintances: tuple[Acquaintance, ...] = ()

    @property
    def wants_to_meet(self) -> bool | None:
        """The answer to the open match."""
        return self.match.answer if self.match else None

    @property
    def slot(self) -> datetime | None:
        """The time that was proposed for the meeting that lies ahead."""
        return self.meeting.at if self.meeting and self.meeting.status is not MeetingStatus.HELD else None

    @property
    def confirmed(self) -> bool | None:
        """Whether the meeting is agreed on by both."""
        agreed = (MeetingStatus.CONFIRMED, MeetingStatus.HELD)
        return True if self.meeting and self.meeting.status in agreed else None

    @property
    def impression(self) -> Impression | None:
        """How the meeting was."""
        return self.meeting.impression if self.meeting else None

    @property
    def again(self) -> bool | None:
        """Whether to meet the same person again."""
        return self.meeting.again if self.meeting else None

    def value(self, field: Field) -> object:
        """What the user said of one field, None when nothing."""
        return getattr(self, field.value)

    def settled(self, field: Field) -> bool:
        """Whether there is nothing left to ask about a field: known, or given up."""
        return self.value(field) is not None or field in self.skipped

    def profile(self) -> dict[str, object]:
        """The fields that are known."""
        return {f.value: self.value(f) for f in PROFILE if self.value(f) is not None}

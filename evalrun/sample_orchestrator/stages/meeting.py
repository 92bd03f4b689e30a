"""Meeting: two people who want to meet agree on a time; one proposes, the other confirms."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from evalrun.sample_orchestrator.brief import Brief, Line
from evalrun.sample_orchestrator.dates import moment_said
from evalrun.sample_orchestrator.encounters import Meeting, MeetingStatus, Partner
from evalrun.sample_orchestrator.extraction.consent import Consent, read_consent
from evalrun.sample_orchestrator.extraction.slot import read_slot
from evalrun.sample_orchestrator.heard import Heard
from evalrun.sample_orchestrator.stages.meeting_words import CANCELLED, CONFIRMED, FREE, IT_SUITS, OPEN, PROPOSED
from evalrun.sample_orchestrator.stages.questions import put
from evalrun.sample_orchestrator.stages.stage import Reaction, Scene
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import Field, StageName, User

NAME = StageName.MEETING
NEXT = StageName.FEEDBACK
GOAL = "The two have agreed on a time and a place."

_SATURDAY = 5
_OWN_IDEA = time(18, 0)


def may_enter(user: User) -> bool:
    """Both want to meet, or have a meeting."""
    return user.meeting is not None or (user.match is not None and user.match.mutual)


def is_done(user: User) -> bool:
    """The meeting was held."""
    return user.meeting is not None and user.meeting.status is MeetingStatus.HELD


def asks(user: User) -> tuple[Field, ...]:
    """A time when there is none; whether it suits, of the one who did not propose it."""
    meeting = user.meeting
    if meeting is None:
        return (Field.SLOT,)
    theirs = meeting.status is MeetingStatus.PROPOSED and meeting.proposed_by != user.id
    return (Field.CONFIRMED,) if theirs else ()


def hear(user: User, heard: Heard, *, last: bool) -> Reaction:
    """A time to propose, or what they say to the one proposed."""
    slot = read_slot(heard.answer, heard.at, user.time_zone)
    meeting = user.meeting
    if meeting is None:
        idea = next_saturday(heard.at, user.time_zone) if last else None
        return _propose(user, slot or idea, user.match.partner) if user.match else Reaction(user=user)
    if meeting.status is not MeetingStatus.PROPOSED or meeting.proposed_by == user.id:
        return Reaction(user=user)
    if slot and slot != meeting.at:
        instead = _propose(replace(user, meeting=None), slot, meeting.partner)
        return replace(instead, tools=(_use("cancel_meeting", meeting), *instead.tools))
    consent = read_consent(heard.answer)
    if consent is Consent.YES or slot:
        agreed = replace(meeting, status=MeetingStatus.CONFIRMED)
        return Reaction(user=replace(user, meeting=agreed), tools=(_use("confirm_meeting", meeting),))
    if consent is Consent.NO:
        line = Line(task="Say that another time is fine.", wordings=CANCELLED[user.language])
        return Reaction(user=replace(user, meeting=None), tools=(_use("cancel_meeting", meeting),), told=(line,))
    return Reaction(user=user)


def say(user: User, scene: Scene) -> Brief:
    """Where the meeting stands, and what is missing for it."""
    meeting = user.meeting
    if meeting is None:
        name = _name(user.match.partner if user.match else None)
        return Brief(stage=NAME, told=scene.before, asked=put(FREE, Field.SLOT, user, name=name))
    if meeting.status is MeetingStatus.PROPOSED:
        if meeting.proposed_by == user.id:
            return Brief(stage=NAME, told=(*scene.before, _standing(user, meeting, "proposed")))
        if Field.CONFIRMED in user.skipped:
            return Brief(stage=NAME, told=(*scene.before, _standing(user, meeting, "open")))
        return Brief(stage=NAME, told=scene.before, asked=suits(user, meeting))
    return Brief(stage=NAME, told=(*scene.before, _standing(user, meeting, "confirmed")))


def suits(user: User, meeting: Meeting) -> Line:
    """The question whether the proposed time suits, with the time in it."""
    when = moment_said(meeting.at, user.time_zone, user.language)
    line = put(IT_SUITS, Field.CONFIRMED, user, name=_name(meeting.partner), when=when, place=meeting.place)
    return replace(line, task=f"Ask whether {when} suits them.", holds=(when,))


def _standing(user: User, meeting: Meeting, what: str) -> Line:
    words = {"proposed": PROPOSED, "confirmed": CONFIRMED, "open": OPEN}[what]
    when, name = moment_said(meeting.at, user.time_zone, user.language), _name(meeting.partner)
    return Line(
        task=f"Say that the meeting with {name} on {when} in {meeting.place} is {what}.",
        wordings=tuple(w.format(name=name, when=when, place=meeting.place) for w in words[user.language]),
        holds=(name, when),
    )


def next_saturday(at: datetime, time_zone: str) -> datetime:
    """The Saturday at least two days ahead, early in the evening: what Ori proposes when the two have no idea."""
    zone = ZoneInfo(time_zone)
    day = at.astimezone(zone).date() + timedelta(days=2)
    day += timedelta(days=(_SATURDAY - day.weekday()) % 7)
    return datetime.combine(day, _OWN_IDEA, zone)


def _propose(user: User, slot: datetime | None, partner: Partner) -> Reaction:
    if slot is None:
        return Reaction(user=user)
    place = user.city or partner.city or ""
    arguments = {"with": _name(partner), "at": slot.isoformat(), "place": place}
    proposed = Meeting(id=0, partner=partner, at=slot, place=place, status=MeetingStatus.PROPOSED, proposed_by=user.id)
    return Reaction(user=replace(user, meeting=proposed), tools=(ToolUse(name="propose_meeting", arguments=arguments),))


def _use(tool: str, meeting: Meeting) -> ToolUse:
    return ToolUse(name=tool, arguments={"with": _name(meeting.partner), "meeting": meeting.id})


def _name(partner: Partner | None) -> str:
    return (partner.first_name if partner else None) or "l'autre"

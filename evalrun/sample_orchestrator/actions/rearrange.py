"""Rearrange: a meeting that lies ahead is moved or called off; `coordination.py` tells the other one."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

from evalrun.sample_orchestrator.actions.action import Answer, Situation
from evalrun.sample_orchestrator.brief import Line, Wordings
from evalrun.sample_orchestrator.dates import moment_said
from evalrun.sample_orchestrator.encounters import Meeting, MeetingStatus
from evalrun.sample_orchestrator.extraction.folding import fold
from evalrun.sample_orchestrator.extraction.slot import read_slot
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import Awaiting, User

PROMPT = "This person changes a meeting. Confirm exactly what changes, no reproach."

FR, EN = Language.FR, Language.EN
_MEETING = (
    r"(?:rdv|rendez[- ]?vous|rencontre|meeting|date|appointment|samedi|dimanche|lundi|mardi|mercredi|jeudi|vendredi)"
)
_CALL_OFF = re.compile(
    rf"\b(?:annule\w*|cancel\w*|call(?:ing)? off)\b.{{0,25}}\b{_MEETING}\b|\b(?:annule tout|cancel (?:it|everything))\b"
    rf"|\b(?:je ne viens (?:pas|plus)|je viens (?:pas|plus)|i(?:'m| am) not coming|i (?:can't|cannot) (?:come|make it))\b"
)
_MOVE = re.compile(
    r"\b(?:decale\w*|reporte\w*|deplace\w*|avance(?:r|z)?|repousse\w*|reschedul\w*|postpon\w*)\b"
    rf"|\b(?:change\w*|changing) (?:\w+ ){{0,2}}(?:heure|jour|date|horaire|moment|time|day|{_MEETING})\b"
    r"|\bmove (?:it|our|the|this)\b|\b(?:un autre (?:jour|moment|creneau)|another (?:day|time))\b"
)
_NOT = re.compile(
    r"\b(?:ne|n'|pas|don't|do not|not|sans) (?:\w+ ){0,2}(?:annul|cancel|decal|report|deplac|chang|mov)\w*"
)
_MOVED: Wordings = {
    FR: ("ok, je propose {when} à {name} et je te dis.", "c'est parti, je demande à {name} pour {when}."),
    EN: ("ok, i'll suggest {when} to {name} and let you know.", "on it, i'm asking {name} about {when}."),
}
_OFF: Wordings = {
    FR: ("c'est annulé pour {when}, je préviens {name}.", "noté, plus de rendez-vous {when}. {name} le saura par moi."),
    EN: ("it's called off for {when}, i'll tell {name}.", "noted, no meeting on {when}. {name} will hear it from me."),
}
_WHEN: Wordings = {
    FR: (
        "tu préfères quel jour et quelle heure ?",
        "dis-moi le jour et l'heure qui t'iraient mieux, ce serait quand ?",
    ),
    EN: (
        "which day and time would you rather have?",
        "tell me what would suit you better, which day and at what time?",
    ),
}


def answer(situation: Situation) -> Answer | None:
    """The new time proposed, the meeting called off, or the question for when; None when no such meeting is ahead."""
    user, heard = situation.user, situation.heard
    meeting, folded = user.meeting, fold(heard.text)
    if meeting is None or not _may_change(user, meeting, heard.at) or _NOT.search(folded):
        return None
    slot = read_slot(heard.text, heard.at, user.time_zone)
    moves = bool(_MOVE.search(folded))
    if slot and slot != meeting.at and (moves or situation.awaited is Awaiting.ANOTHER_TIME):
        return _moved(user, meeting, slot)
    if _CALL_OFF.search(folded):
        return _called_off(user, meeting)
    if moves:
        when = Line(task="Ask which day and hour they would rather have.", wordings=_WHEN[user.language])
        return Answer(user=replace(user, awaiting=Awaiting.ANOTHER_TIME), prompt=PROMPT, asked=when)
    return None


def _may_change(user: User, meeting: Meeting, now: datetime) -> bool:
    """Agreed on and ahead, or the user's own proposal. What the other one proposed is answered in the stage."""
    own = meeting.status is MeetingStatus.PROPOSED and meeting.proposed_by == user.id
    return meeting.at > now and (own or meeting.status is MeetingStatus.CONFIRMED)


def _moved(user: User, meeting: Meeting, slot: datetime) -> Answer:
    arguments = {"with": meeting.partner.first_name, "at": slot.isoformat(), "place": meeting.place}
    proposed = replace(meeting, id=0, at=slot, status=MeetingStatus.PROPOSED, proposed_by=user.id)
    return Answer(
        user=replace(user, meeting=proposed),
        prompt=PROMPT,
        told=(_line("Say that you propose the new time to the other one.", _MOVED, user, proposed),),
        tools=(_cancel(meeting), ToolUse(name="propose_meeting", arguments=arguments)),
    )


def _called_off(user: User, meeting: Meeting) -> Answer:
    off = _line("Say that it is called off and that you tell the other one.", _OFF, user, meeting)
    return Answer(user=replace(user, meeting=None), prompt=PROMPT, told=(off,), tools=(_cancel(meeting),))


def _cancel(meeting: Meeting) -> ToolUse:
    return ToolUse(name="cancel_meeting", arguments={"with": meeting.partner.first_name, "meeting": meeting.id})


def _line(task: str, wordings: Wordings, user: User, meeting: Meeting) -> Line:
    name = meeting.partner.first_name or {FR: "l'autre personne", EN: "the other person"}[user.language]
    when = moment_said(meeting.at, user.time_zone, user.language)
    said = tuple(w.format(name=name, when=when) for w in wordings[user.language])
    return Line(task=f"{task} Name: {name}. Time: {when}.", wordings=said, holds=(name, when))

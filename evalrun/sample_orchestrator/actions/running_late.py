"""Running late: the other one of the meeting is told at once, at any hour, and nobody else is."""

from __future__ import annotations

import re
from datetime import timedelta

from evalrun.sample_orchestrator.actions.action import Answer, Situation
from evalrun.sample_orchestrator.brief import Line, Wordings
from evalrun.sample_orchestrator.dates import hour_said, moment_said
from evalrun.sample_orchestrator.encounters import Meeting, MeetingStatus
from evalrun.sample_orchestrator.extraction.folding import fold
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.relay import Relay
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import User

TOOL = "running_late"
PROMPT = "This person is late for a meeting. Tell them who has been told, no reproach."

BEFORE, AFTER = timedelta(hours=6), timedelta(hours=2)
"""How long before and after the time of a meeting somebody can be late for it."""
LONGEST = 180
"""Minutes that still are a delay."""
FR, EN = Language.FR, Language.EN
_LATE = re.compile(
    r"\b(?:en retard|du retard|de retard|retardee?|a la bourre|j'arrive dans|serai la dans|i'm (?:running )?late|running (?:a bit |really )?late"
    r"|(?:be|going to be|gonna be) (?:a bit )?late|minutes? late|mins? late|be there in|held up)\b"
)
_NOT_LATE = re.compile(
    r"\b(?:pas|jamais|not|never|desolee? (?:du|pour le|de mon)|sorry for (?:the|my)) (?:\w+ ){0,2}(?:retard|late)\b"
)
_MINUTES = re.compile(r"\b(\d{1,3}) ?(?:min|mn|minutes?|mins?|')(?!\w)")
_IN_WORDS = (
    (re.compile(r"\b(?:trois quarts d'heure|three quarters of an hour)\b"), 45),
    (re.compile(r"\b(?:quart d'heure|quarter of an hour)\b"), 15),
    (re.compile(r"\b(?:demi[- ]heure|half an hour|half hour)\b"), 30),
    (re.compile(r"\b(?:dizaine de minutes|ten minutes)\b"), 10),
    (re.compile(r"\b(?:une heure|1 ?h|an hour|one hour)\b"), 60),
)
_TOLD: Wordings = {
    FR: ("c'est dit, {name} sait que tu arrives{delay}.", "pas de stress, je viens de prévenir {name}{delay}."),
    EN: ("done, {name} knows you are on your way{delay}.", "no stress, i have just told {name}{delay}."),
}
_RELAYED: Wordings = {
    FR: (
        "{name} arrive avec du retard à votre rendez-vous de {hour}{delay}. merci de ta patience.",
        "petit message de {name} pour {hour}, il y a du retard{delay}.",
    ),
    EN: (
        "{name} is running late for your meeting at {hour}{delay}. thanks for waiting.",
        "a word from {name} about {hour}, there is a delay{delay}.",
    ),
}
_NOT_NOW: Wordings = {
    FR: (
        "ton rendez-vous avec {name} est {when}. si tu as du retard ce jour-là, dis-le moi et je préviens.",
        "rien à prévenir pour l'instant, c'est {when} avec {name}.",
    ),
    EN: (
        "your meeting with {name} is on {when}. if you are late on that day, tell me and i'll pass it on.",
        "nobody to tell yet, it is on {when} with {name}.",
    ),
}
_DELAY = {FR: ", environ {} minutes", EN: ", about {} minutes"}


def answer(situation: Situation) -> Answer | None:
    """The other one is told, for a user with an agreed meeting who says that they are late."""
    user, heard = situation.user, situation.heard
    folded = fold(heard.text)
    meeting = user.meeting
    if not _LATE.search(folded) or _NOT_LATE.search(folded):
        return None
    if meeting is None or meeting.status is not MeetingStatus.CONFIRMED:
        return None
    if not meeting.at - BEFORE <= heard.at <= meeting.at + AFTER:
        when = moment_said(meeting.at, user.time_zone, user.language)
        line = _line("Say when the meeting is.", _NOT_NOW, user.language, name=_of(meeting, user), when=when)
        return Answer(user=user, prompt=PROMPT, told=(line,), fixed=True)
    return _late(user, meeting, _minutes(folded))


def _late(user: User, meeting: Meeting, minutes: int | None) -> Answer:
    partner = meeting.partner
    said = _line(
        "Say who has been told.", _TOLD, user.language, name=_of(meeting, user), delay=_delay(minutes, user.language)
    )
    relayed = _line(
        "Say that the other one is late.",
        _RELAYED,
        partner.language,
        name=user.first_name or _someone(partner.language),
        hour=hour_said(meeting.at, partner.time_zone, partner.language),
        delay=_delay(minutes, partner.language),
    )
    arguments = {"meeting": meeting.id, "to": partner.address, "minutes": minutes}
    return Answer(
        user=user,
        prompt=PROMPT,
        told=(said,),
        tools=(ToolUse(name=TOOL, arguments=arguments),),
        relays=(Relay(to=partner, told=(relayed,), urgent=True),),
        fixed=True,
    )


def _minutes(folded: str) -> int | None:
    """The delay that a text names, in minutes; None when it names none, or none one can believe."""
    if found := _MINUTES.search(folded):
        minutes = int(found.group(1))
        return minutes if 0 < minutes <= LONGEST else None
    return next((minutes for pattern, minutes in _IN_WORDS if pattern.search(folded)), None)


def _delay(minutes: int | None, language: Language) -> str:
    return _DELAY[language].format(minutes) if minutes else ""


def _of(meeting: Meeting, user: User) -> str:
    return meeting.partner.first_name or _someone(user.language)


def _someone(language: Language) -> str:
    return {FR: "l'autre personne", EN: "the other person"}[language]


def _line(task: str, wordings: Wordings, language: Language, **values: str) -> Line:
    return Line(task=task, wordings=tuple(w.format(**values) for w in wordings[language]))

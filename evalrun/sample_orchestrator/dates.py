"""Times as people say them, where they live."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from evalrun.sample_orchestrator.language import Language

DAYS = {
    Language.FR: ("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
    Language.EN: ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
}
_MONTHS = {
    Language.FR: [
        "janvier",
        "février",
        "mars",
        "avril",
        "mai",
        "juin",
        "juillet",
        "août",
        "septembre",
        "octobre",
        "novembre",
        "décembre",
    ],
    Language.EN: [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ],
}


def day_said(at: datetime, time_zone: str, language: Language) -> str:
    """`samedi 7 mars`, on the user's calendar."""
    local = at.astimezone(ZoneInfo(time_zone))
    return f"{DAYS[language][local.weekday()]} {local.day} {_MONTHS[language][local.month - 1]}"


def hour_said(at: datetime, time_zone: str, language: Language) -> str:
    """`19 h 30` or `19:30`, on the user's wall."""
    local = at.astimezone(ZoneInfo(time_zone))
    if language is Language.EN:
        return f"{local.hour}:{local.minute:02}"
    return f"{local.hour} h {local.minute:02}" if local.minute else f"{local.hour} h"


def moment_said(at: datetime, time_zone: str, language: Language) -> str:
    """The day and the hour in a row."""
    link = "à" if language is Language.FR else "at"
    return f"{day_said(at, time_zone, language)} {link} {hour_said(at, time_zone, language)}"

"""When somebody is free: a day, with an hour or in the evening."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from evalrun.sample_orchestrator.dates import DAYS
from evalrun.sample_orchestrator.extraction.folding import fold

EVENING = time(19, 0)
"""Meant by a day without an hour."""
_NAMED = {name: number for days in DAYS.values() for number, name in enumerate(days)}
_DAY = re.compile(rf"\b({'|'.join(_NAMED)})\b")
_NEAR = re.compile(r"\b(apres-demain|day after tomorrow|demain|tomorrow|ce soir|tonight)\b")
_AHEAD = {"apres-demain": 2, "day after tomorrow": 2, "demain": 1, "tomorrow": 1, "ce soir": 0, "tonight": 0}
_HOUR = re.compile(r"\b(\d{1,2}) ?(?:h|:)(?: ?([0-5]\d))?(?!\w)|\b(\d{1,2})(?::([0-5]\d))? ?(am|pm)\b")
_MIDDAY = re.compile(r"\b(?:a midi|midi|noon)\b")
_DENIED = re.compile(r"\b(?:pas|sauf|not|except|jamais|never)\b(?! (?:mal|avant|before))")


def read_slot(text: str, at: datetime, time_zone: str) -> datetime | None:
    """The time a text proposes, counted from `at` where the user lives; None when it names no single day ahead."""
    folded = fold(text)
    zone = ZoneInfo(time_zone)
    here = at.astimezone(zone)
    days = {(_NAMED[d] - here.weekday()) % 7 for d in _DAY.findall(folded)}
    days |= {_AHEAD[d] for d in _NEAR.findall(folded)}
    if len(days) != 1 or _DENIED.search(folded):
        return None
    hour = _hour(folded)
    if hour is None:
        return None
    ahead = days.pop()
    slot = datetime.combine(here.date() + timedelta(days=ahead), hour, zone)
    if slot <= here:
        slot = datetime.combine(slot.date() + timedelta(days=7), hour, zone)
    return slot


def _hour(folded: str) -> time | None:
    """The hour of a text, the evening when it names none, None when there is no such hour."""
    found = _HOUR.search(folded)
    if not found:
        return time(12, 0) if _MIDDAY.search(folded) else EVENING
    hour, minute, half_hour, half_minute, half = found.groups()
    if half:
        hours = int(half_hour) % 12 + (12 if half == "pm" else 0)
        return time(hours, int(half_minute or 0)) if int(half_hour) <= 12 else None
    return time(int(hour), int(minute or 0)) if int(hour) < 24 else None

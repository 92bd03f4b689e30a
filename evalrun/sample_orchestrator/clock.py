"""Time: the injected present, and the hours in which nobody is written to unasked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

Now = Callable[[], datetime]
"""The present, with a time zone. Every time Ori stores or compares comes from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietHours:
    """The user's own evening and night, from `start` to `end` of the next morning."""

    start: time = time(21, 0)
    end: time = time(9, 0)


def system_now() -> datetime:
    """The machine's clock, for production."""
    return datetime.now(UTC)


def quiet_until(now: datetime, time_zone: str, hours: QuietHours) -> datetime | None:
    """When the quiet hours around `now` end where the user lives; None outside of them."""
    zone = ZoneInfo(time_zone)
    local = now.astimezone(zone)
    wall = local.time()
    overnight = hours.start > hours.end
    inside = (wall >= hours.start or wall < hours.end) if overnight else hours.start <= wall < hours.end
    if not inside:
        return None
    day = local.date() + timedelta(days=1) if overnight and wall >= hours.start else local.date()
    return datetime.combine(day, hours.end, zone).astimezone(UTC)

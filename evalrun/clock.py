"""The one clock of a trial, and times written relative to it (`now-3d`)."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from datetime import datetime, timedelta

from evalrun.errors import UsageError

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_INTERVAL = re.compile(r"(?:\d+[smhdw])+")
_PART = re.compile(r"(\d+)([smhdw])")
_RELATIVE = re.compile(r"now(?:\s*([+-])\s*((?:\d+[smhdw])+))?")
_STEP = timedelta(milliseconds=1)


def parse_interval(text: str) -> timedelta:
    """Read `3d`, `90m`, `1w2d`, `36h`; units s, m, h, d, w. Raises ValueError."""
    if not _INTERVAL.fullmatch(text.strip()):
        raise ValueError(f"{text!r} is not a duration such as 3d, 90m or 1w2d")
    try:
        return sum((timedelta(**{_UNITS[u]: int(n)}) for n, u in _PART.findall(text)), timedelta())
    except OverflowError as e:
        raise ValueError(f"{text!r} is too long a duration") from e


class TrialClock:
    """A fixed present that moves one millisecond at each look, so that what happens keeps its order.

    Time that passes in a scenario moves the database's timestamps back, not this clock forward.
    """

    def __init__(self, start: datetime) -> None:
        if start.tzinfo is None:
            raise ValueError("the clock needs a time zone")
        self.start = start
        self._last = start
        self._lock = threading.Lock()

    def now(self) -> datetime:
        """The trial's present, a millisecond after the one before."""
        with self._lock:
            self._last += _STEP
            return self._last

    def resolve(self, text: str) -> datetime | str:
        """`now`, `now-3d`, `now+2h30m` as a time; any other text unchanged. Raises UsageError out of the calendar."""
        found = _RELATIVE.fullmatch(text.strip())
        if not found:
            return text
        sign, interval = found.groups()
        if not interval:
            return self.start
        try:
            moved = parse_interval(interval)
            return self.start - moved if sign == "-" else self.start + moved
        except (OverflowError, ValueError) as e:
            raise UsageError(f"{text!r} leaves the calendar", remedy="write a shorter time, such as now-3d") from e

    def resolve_tree(self, value: object) -> object:
        """The same value with every relative time in it resolved."""
        if isinstance(value, str):
            return self.resolve(value)
        if isinstance(value, Mapping):
            return {k: self.resolve_tree(v) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.resolve_tree(v) for v in value]
        return value

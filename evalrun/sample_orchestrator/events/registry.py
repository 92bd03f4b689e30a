"""All events by name, those first that a user would rather hear when several are due at once."""

from __future__ import annotations

from collections.abc import Mapping

from evalrun.sample_orchestrator.events import (
    check_in,
    match_notification,
    meeting_reminder,
    profile_reminder,
    profiling_expiry,
    reactivation,
)
from evalrun.sample_orchestrator.events.event import Event

_ALL = (meeting_reminder, match_notification, check_in, profiling_expiry, profile_reminder, reactivation)

EVENTS: Mapping[str, Event] = {e.NAME: e for e in _ALL}

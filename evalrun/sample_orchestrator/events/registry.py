"""All events by name."""

from __future__ import annotations

from collections.abc import Mapping

from evalrun.sample_orchestrator.events import profile_reminder
from evalrun.sample_orchestrator.events.event import Event

EVENTS: Mapping[str, Event] = {e.NAME: e for e in (profile_reminder,)}

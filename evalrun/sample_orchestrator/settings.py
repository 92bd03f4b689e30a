"""What can be set about Ori without touching its code."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from evalrun.sample_orchestrator.clock import QuietHours


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`style_block` is the text of the house style that every prompt carries; the rest is behaviour."""

    style_block: str = ""
    time_zone: str = "Europe/Paris"
    """Of users who never said otherwise."""
    quiet_hours: QuietHours = field(default_factory=QuietHours)
    remind_after: timedelta = timedelta(hours=24)
    """How long a user with an unfinished profile is silent before the reminder."""
    expire_after: timedelta = timedelta(days=30)
    """How long the same user is silent before the profile is put aside."""
    remind_meeting_before: timedelta = timedelta(hours=24)
    """How long before a meeting both are reminded of it."""
    check_in_after: timedelta = timedelta(hours=12)
    """How long after the beginning of a meeting both are asked how it was."""
    reactivate_after: timedelta = timedelta(days=14)
    """How long a user past the profile is silent before a sign."""
    between_events: timedelta = timedelta(days=7)
    """How long nothing was sent unasked before such a sign."""
    max_tokens: int = 120
    """Asked of the model for one reply."""
    max_chars: int = 220
    """Of one bubble."""
    history: int = 4
    """Messages of the past that the model is shown."""
    send_attempts: int = 5
    """How often the channel is tried before a message is given up."""

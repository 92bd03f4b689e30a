"""The way out: whatever can put a text in front of a user."""

from __future__ import annotations

from typing import Protocol


class Sender(Protocol):
    """A channel. Raises SendFailed when it does not take the message."""

    async def send(self, to: str, text: str) -> str:
        """Send one bubble to an address; returns the channel's id of the message."""

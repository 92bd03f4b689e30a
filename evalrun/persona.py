"""A simulated user's character, as loaded from one persona file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalrun.errors import Where


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """A simulated user.

    `facts` maps a name to text as written; those named in `only_if_asked` are told only after
    the agent asked. `patience` is how many turns the user goes on without progress (None: no
    limit of its own). `max_chars` bounds one drafted message. `digest` is the hash of the file.
    """

    id: str
    name: str
    background: str
    traits: tuple[str, ...]
    language: str = "en"
    facts: Mapping[str, str] = field(default_factory=dict)
    only_if_asked: tuple[str, ...] = ()
    goal: str = ""
    patience: int | None = None
    max_chars: int = 600
    where: Where
    digest: str = ""

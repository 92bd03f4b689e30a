"""An acquaintance: somebody Ori brought a user together with, and whether the two ever really met."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from evalrun.sample_orchestrator.encounters import Partner


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquaintance:
    """The other one. `held`: a meeting took place; `agreed_at` is the first time both had agreed to meet at."""

    partner: Partner
    held: bool
    agreed_at: datetime | None
    blocked: bool

    def met(self, now: datetime) -> bool:
        """Whether there was a real meeting: one that was held, or agreed on and now past."""
        return self.held or (self.agreed_at is not None and self.agreed_at <= now)

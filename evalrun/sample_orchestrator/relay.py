"""A relay: what Ori passes on from one user to the other one of a pair."""

from __future__ import annotations

from dataclasses import dataclass

from evalrun.sample_orchestrator.brief import Brief, Line
from evalrun.sample_orchestrator.encounters import Partner

_PROMPT = "You pass on what somebody else asked you to tell this person."


@dataclass(frozen=True, slots=True, kw_only=True)
class Relay:
    """To whom, and what, in their language. An urgent one does not wait for the morning, nor for the end of a pause."""

    to: Partner
    told: tuple[Line, ...]
    asked: Line | None = None
    urgent: bool = False

    @property
    def brief(self) -> Brief:
        """Fixed: what one person agreed to is not rephrased for the other."""
        return Brief(prompt=_PROMPT, told=self.told, asked=self.asked, fixed=True)

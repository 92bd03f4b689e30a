"""All actions, in the order in which a message is held against them."""

from __future__ import annotations

from evalrun.sample_orchestrator.actions import pause, rearrange, report, reset, resume, running_late
from evalrun.sample_orchestrator.actions.action import Action

ACTIONS: tuple[Action, ...] = (report, running_late, resume, pause, reset, rearrange)

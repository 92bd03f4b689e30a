"""All stages by name."""

from __future__ import annotations

from collections.abc import Mapping

from evalrun.sample_orchestrator.stages import (
    adults_only,
    coaching,
    feedback,
    manifesto,
    matching,
    meeting,
    pricing,
    profiling,
    welcome,
)
from evalrun.sample_orchestrator.stages.stage import Stage
from evalrun.sample_orchestrator.user import StageName

_ALL = (welcome, profiling, manifesto, pricing, matching, meeting, feedback, coaching, adults_only)

STAGES: Mapping[StageName, Stage] = {s.NAME: s for s in _ALL}

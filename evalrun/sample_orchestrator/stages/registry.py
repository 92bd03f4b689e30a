"""All stages by name."""

from __future__ import annotations

from collections.abc import Mapping

from evalrun.sample_orchestrator.stages import adults_only, manifesto, profiling, welcome
from evalrun.sample_orchestrator.stages.stage import Stage
from evalrun.sample_orchestrator.user import StageName

STAGES: Mapping[StageName, Stage] = {s.NAME: s for s in (welcome, profiling, manifesto, adults_only)}

"""What the settings say where nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalrun.config import EMBEDDED_MODEL, FEW_TRIALS, MANY_TRIALS, Settings, TargetSettings
from evalrun.usage import ModelName, Role

VENDOR = ModelName(provider="openai", model="m")
PAID = dict.fromkeys(Role, VENDOR)


@pytest.mark.parametrize(
    ("models", "database", "concurrency", "expected"),
    [
        (PAID, "", 0, MANY_TRIALS),
        (PAID, "", 3, 3),
        (PAID, "embedded", 0, FEW_TRIALS),
        (PAID, "postgresql://host/db", 0, FEW_TRIALS),
        (PAID | {Role.JUDGE: EMBEDDED_MODEL}, "", 0, FEW_TRIALS),
        (PAID | {Role.AGENT: EMBEDDED_MODEL}, "", 0, MANY_TRIALS),
        (PAID | {Role.PERSONA: EMBEDDED_MODEL}, "embedded", 200, 200),
    ],
)
def test_trials_side_by_side(models: dict[Role, ModelName], database: str, concurrency: int, expected: int) -> None:
    """As set; else many, but few where the embedded model plays or a database is cloned for each trial."""
    targets = {"bot": TargetSettings(name="bot", database=database)}
    settings = Settings(root=Path(), target="bot", targets=targets, models=models, concurrency=concurrency)
    assert settings.side_by_side == expected

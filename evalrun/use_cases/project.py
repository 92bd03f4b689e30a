"""Where a project is."""

from __future__ import annotations

from pathlib import Path

from evalrun.loading.settings import find_settings


def folder(start: Path) -> Path:
    """The folder that the settings are read from, `start` itself where there are none. Raises UsageError."""
    found = find_settings(start.absolute())
    return found.parent if found else start

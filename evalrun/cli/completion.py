"""What a shell completes after `evalrun run …`: ids, stages, tags and profiles of the project it is in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from evalrun import plugins


def scenarios(incomplete: str) -> list[tuple[str, str]]:
    """Ids of scenarios, with their titles where a shell shows them."""
    found = _words().scenarios
    return [(name, title) for name, title in found.items() if name.startswith(incomplete)]


def stages(incomplete: str) -> list[str]:
    """Stages of the product's funnel."""
    return _beginning(_words().stages, incomplete)


def tags(incomplete: str) -> list[str]:
    """Tags of scenarios."""
    return _beginning(_words().tags, incomplete)


def profiles(incomplete: str) -> list[str]:
    """Profiles of the settings."""
    found: tuple[str, ...] = plugins.use_case("completion").profiles(Path.cwd())
    return _beginning(found, incomplete)


def _words() -> Any:
    return plugins.use_case("completion").words(Path.cwd(), os.environ)


def _beginning(words: tuple[str, ...], incomplete: str) -> list[str]:
    return [w for w in words if w.startswith(incomplete)]

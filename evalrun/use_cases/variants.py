"""Variants of one target played over the same scenarios at the same time, each as a run of its own.

Every variant is a process: environment and files that a target reads when it is imported cannot be
changed within one. Two go side by side, so that a slow hour of a vendor hits both alike. The cap is
shared out between them.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal
from pathlib import Path

from evalrun.config import Settings
from evalrun.errors import CannotJudge, UsageError
from evalrun.loading.settings import Overrides, load_settings
from evalrun.results import RunResult
from evalrun.usage import ModelName
from evalrun.use_cases.wiring import make_store

__all__ = ["Asked", "Overrides", "Variant", "parse", "play"]

SIDE_BY_SIDE = 2
PLAYED = (0, 1, 3, 4)
"""Exit codes of a run that has results."""
LEFT_BEHIND = (".git", ".venv", "venv", "node_modules", ".evalrun", "__pycache__", ".mypy_cache", ".pytest_cache")
STOPPING_SECONDS = 5.0
CENT = Decimal("0.000001")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """What is different: the agent's model, environment variables, files by the path they take the place of."""

    name: str
    agent: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)


def parse(name: str, written: Sequence[str], start: Path) -> Variant:
    """A variant from `agent=provider:model`, `env.NAME=value`, `file.PATH=OTHER_FILE`. Raises UsageError."""
    agent, environ, files = "", {}, {}
    for text in written:
        key, equals, value = text.partition("=")
        kind, _, rest = key.partition(".")
        if key == "agent" and equals:
            agent = str(ModelName.parse(value))
        elif kind == "env" and equals and _VARIABLE.fullmatch(rest):
            environ[rest] = value
        elif kind == "file" and equals and rest:
            files[rest] = _file(text, start, rest, value)
        else:
            raise UsageError(
                f"variant {name} says {text!r}",
                remedy="write agent=provider:model, env.NAME=value or file.PATH=OTHER_FILE",
            )
    return Variant(name=name, agent=agent, environ=environ, files=files)


def _file(text: str, start: Path, replaced: str, by: str) -> Path:
    if not (start / replaced).is_file():
        raise UsageError(f"{text!r}: there is no file {replaced}", remedy="name the file of the project it replaces")
    if not (start / by).is_file():
        raise UsageError(f"{text!r}: there is no file {by}", remedy="name the file that is played instead")
    return (start / by).absolute()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Where, with which arguments of `evalrun run`, and under which settings variants are played."""

    start: Path
    arguments: Sequence[str]
    overrides: Overrides


async def play(
    variants: Sequence[Variant], asked: Asked, environ: Mapping[str, str], say: Callable[[str], None]
) -> tuple[RunResult, ...]:
    """Play all variants, and give their runs in order.

    Raises UsageError and CannotJudge when one has no results, FileProblems for settings that do not load.
    """
    settings = load_settings(asked.start, asked.overrides, environ)
    budget = settings.budget_usd
    part = [] if budget is None else ["--budget", str((budget / len(variants)).quantize(CENT, ROUND_DOWN))]
    folder = Path(tempfile.mkdtemp(prefix="evalrun-variants-"))
    door = asyncio.Semaphore(SIDE_BY_SIDE)
    stopping = _forward_termination()
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(
                    _one(
                        _Place(v, settings, asked.start, folder / str(i)), [*part, *asked.arguments], environ, say, door
                    )
                )
                for i, v in enumerate(variants)
            ]
        names = [t.result() for t in tasks]
    except* (UsageError, CannotJudge) as group_of:
        raise group_of.exceptions[0] from None
    finally:
        stopping()
        shutil.rmtree(folder, ignore_errors=True)
    store = make_store(settings)
    try:
        await store.open()
        return tuple([await store.load(name) for name in names])
    finally:
        await store.close()


def _forward_termination() -> Callable[[], None]:
    """SIGTERM cancels the work, so that the processes of the variants are ended too; returns how to undo it."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    loop.add_signal_handler(signal.SIGTERM, task.cancel)

    def undo() -> None:
        loop.remove_signal_handler(signal.SIGTERM)

    return undo


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a variant is played."""

    variant: Variant
    settings: Settings
    start: Path
    folder: Path

    def prepare(self) -> tuple[Path, list[str]]:
        """The folder to run in, and arguments that keep one history for all."""
        self.folder.mkdir(parents=True)
        more = ["--model", f"agent={self.variant.agent}"] if self.variant.agent else []
        root = self.settings.root
        if not self.variant.files:
            return self.start, more
        copy = self.folder / "project"
        shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
        for path, other in self.variant.files.items():
            place = copy / (self.start / path).resolve().relative_to(root.resolve())
            place.write_bytes(other.read_bytes())
        if "://" not in self.settings.store:
            more += ["--store", str((root / self.settings.store).absolute())]
        return copy / self.start.resolve().relative_to(root.resolve()), more


async def _one(
    place: _Place,
    arguments: Sequence[str],
    environ: Mapping[str, str],
    say: Callable[[str], None],
    door: asyncio.Semaphore,
) -> str:
    """Play one variant; the id of its run."""
    name = place.variant.name
    async with door:
        folder, more = place.prepare()
        report = place.folder / "report.json"
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "evalrun",
            "run",
            *more,
            "--format",
            "json",
            "--output",
            str(report),
            *arguments,  # names come last, behind `--`
            cwd=folder,
            env={**environ, **place.variant.environ, "COLUMNS": "200"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        lines: list[str] = []
        try:
            assert process.stdout is not None
            async for raw in process.stdout:
                line = raw.decode("utf-8", "replace").rstrip("\n")
                lines.append(line)
                if line.startswith("["):
                    say(f"{name} {line}")
            code = await process.wait()
        except asyncio.CancelledError:
            await _ended(process)
            raise
        if code not in PLAYED:
            said = "\n".join(lines[-20:])
            kind = UsageError if code == 2 else CannotJudge
            raise kind(f"variant {name} ended with exit code {code}:\n{said}", remedy=f"correct variant {name}")
        return str(json.loads(await asyncio.to_thread(report.read_text, "utf-8"))["header"]["id"])


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Let a run store what it has, then end it."""
    if process.returncode is None:
        process.terminate()
        try:
            async with asyncio.timeout(STOPPING_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

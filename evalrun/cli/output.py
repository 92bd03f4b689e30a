"""Where reports go: the terminal as it is, a pipe, or a file that appears when it is complete."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import typer

from evalrun import plugins
from evalrun.errors import StoreFailed, UsageError
from evalrun.interfaces.reports import Reporter, ReportOptions, TextSink

TABLE = "table"
FORMAT = typer.Option("--format", help="table, markdown, json, or an installed reporter.", metavar="NAME")
OUTPUT = typer.Option("--output", help="Write the report to this file.", metavar="FILE", show_default=False)


COMPARING = (TABLE, "markdown", "json")


def checked(format_name: str, formats: tuple[str, ...] = COMPARING) -> None:
    """Raises UsageError for a format that is none of some."""
    if format_name not in formats:
        raise UsageError(f"--format is {format_name!r}", remedy=f"write one of {', '.join(formats)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """Which report is asked for. `scenario` with `detail` shows its every turn."""

    format: str = TABLE
    output: Path | None = None
    detail: bool = False
    scenario: str = ""


@contextlib.contextmanager
def reporters(wish: Wish, environ: Mapping[str, str], *, beside: bool = False) -> Iterator[tuple[Reporter, ...]]:
    """The reporters of a wish, closed at the end.

    With an output file and `beside`, the terminal's table is shown as well. Raises UnknownName
    for an unknown format and UsageError for a file that cannot be written, both before anything
    is run.
    """
    if ":" in wish.format:
        plugins.look_in(plugins.use_case("project").folder(Path.cwd()))
    make = plugins.load("reporters", wish.format)
    made: list[Reporter] = []
    with contextlib.ExitStack() as stack:
        screen = Screen(sys.stdout)
        if wish.output is None:
            made.append(make(screen, screen_options(sys.stdout, environ, wish)))
        else:
            file = stack.enter_context(ReportFile(wish.output))
            made.append(make(file, ReportOptions(width=0, detail=wish.detail, scenario=wish.scenario)))
            if beside:
                table = plugins.load("reporters", TABLE)
                made.append(table(screen, screen_options(sys.stdout, environ, Wish())))
        for reporter in made:
            stack.callback(reporter.close)
        yield tuple(made)


def screen_options(stream: TextIO, environ: Mapping[str, str], wish: Wish) -> ReportOptions:
    """What the stream can show: colours and movement on a terminal only, no limit of width in a pipe."""
    terminal = stream.isatty()
    dumb = environ.get("TERM") == "dumb"
    coloured = bool(environ.get("FORCE_COLOR")) or (terminal and not dumb)
    return ReportOptions(
        width=_width(stream, terminal, environ),
        colour=coloured and not environ.get("NO_COLOR"),
        animate=terminal and not dumb and not environ.get("CI"),
        encoding=stream.encoding or "utf-8",
        detail=wish.detail,
        scenario=wish.scenario,
    )


def _width(stream: TextIO, terminal: bool, environ: Mapping[str, str]) -> int:
    asked = environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    if not terminal:
        return 0
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except OSError:
        return 80


class Screen:
    """Standard output. When its reader has gone, the rest goes nowhere and the exit code stays."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._gone = False

    def write(self, text: str) -> object:
        """Write, unless nobody reads any more."""
        return None if self._gone else self._try(lambda: self._stream.write(text))

    def flush(self) -> None:
        """Flush, unless nobody reads any more."""
        if not self._gone:
            self._try(self._stream.flush)

    def _try(self, work: Callable[[], object]) -> object:
        try:
            return work()
        except BrokenPipeError:
            self._gone = True
            # what the interpreter still holds must not fail at its end either
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            return None


class ReportFile:
    """A file that takes the place of an earlier one only when the report is complete."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft = path.absolute().parent / f".{path.name}.{os.getpid()}.part"
        self._written = False
        try:
            if path.is_dir():
                raise IsADirectoryError(21, "Is a directory")
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._draft.open("w", encoding="utf-8", newline="\n")
        except OSError as e:
            raise UsageError(f"the report {path} cannot be written: {e.strerror}", remedy="choose another file") from e

    def write(self, text: str) -> object:
        """Write. Raises StoreFailed."""
        self._written = True
        try:
            return self._file.write(text)
        except OSError as e:
            raise self._failed(e) from e

    def flush(self) -> None:
        """Flush. Raises StoreFailed."""
        try:
            self._file.flush()
        except OSError as e:
            raise self._failed(e) from e

    def _failed(self, error: OSError) -> StoreFailed:
        return StoreFailed(
            f"the report {self._path} cannot be written: {error.strerror}",
            remedy="free space; then evalrun show last --output FILE, the run is kept",
        )

    def __enter__(self) -> TextSink:
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        with contextlib.suppress(OSError):
            self._file.close()
        if kind is None and self._written:
            self._draft.replace(self._path)
        else:
            self._draft.unlink(missing_ok=True)

"""JSON lines beside a history that could not be written, until the history takes them in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from evalrun.archive import decode, encode
from evalrun.errors import StoreFailed
from evalrun.results import RunResult, TrialResult

Kind = Literal["begin", "trial", "finish"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One thing to keep. `run` is the id of the run that a trial belongs to."""

    kind: Kind
    run: str
    value: RunResult | TrialResult


class _Envelope(msgspec.Struct):
    kind: Kind
    run: str
    body: msgspec.Raw


class Lines:
    """A file of lines, appended by any number of processes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, line: Line) -> None:
        """Write one line. Raises StoreFailed when the file cannot be written either."""
        envelope = _Envelope(kind=line.kind, run=line.run, body=msgspec.Raw(encode(line.value)))
        # the newline in front ends a line that a full disk cut short
        data = b"\n" + msgspec.json.encode(envelope) + b"\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                file.write(data)
        except OSError as e:
            raise StoreFailed(
                f"neither the history nor {self.path} can be written: {e.strerror}",
                remedy="free space or correct the rights; this report is all there is of the run",
            ) from e

    def claim(self) -> Lines | None:
        """The lines under a name of this process's own, so that nobody else takes them; None when there are none."""
        mine = Lines(self.path.with_name(f"{self.path.name}.{os.getpid()}"))
        try:
            if not self.path.is_file() or self.path.stat().st_size == 0:
                return None
            self.path.rename(mine.path)
        except OSError:
            return None  # taken by another process, or read-only: they stay where they are
        return mine

    def read(self) -> Iterator[Line | None]:
        """Every line, None for one that is damaged. Raises OSError."""
        with self.path.open("rb") as file:
            for text in file:
                if text.strip():
                    yield _line(text)

    def forget(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)


def _line(text: bytes) -> Line | None:
    try:
        found = msgspec.json.decode(text, type=_Envelope)
        body = bytes(found.body)
        value = decode(TrialResult, body) if found.kind == "trial" else decode(RunResult, body)
        return Line(kind=found.kind, run=found.run, value=value)
    except (msgspec.DecodeError, msgspec.ValidationError, StoreFailed):
        return None

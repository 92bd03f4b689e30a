"""What files held when they were parsed before, keyed by their content, so that a large suite loads at once.

Only files without a problem are kept, and only what reads back as it was written. A file whose size
and times are those of its entry is taken for unchanged without being read, unless it was written
about when the entry was (git's rule for its index). The entries of another evalrun are not used.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from evalrun import __version__
from evalrun.errors import Where
from evalrun.expectation import Expectations
from evalrun.persona import Persona
from evalrun.rubric import Rubric
from evalrun.scenario import (
    AdvanceStep,
    Category,
    EventStep,
    ExpectStep,
    Given,
    JudgePlan,
    PersonaStep,
    Scenario,
    Step,
    UserStep,
)

T = TypeVar("T", Scenario, Persona, Rubric)
SETTLED_NS = 2_000_000_000
"""A file that was written so shortly before its entry may have been written again within one tick of the clock."""
_SOURCES = ("loading", "scenario.py", "expectation.py", "persona.py", "rubric.py")


class _Step(msgspec.Struct, array_like=True, gc=False):
    user: UserStep | None = None
    persona: PersonaStep | None = None
    event: EventStep | None = None
    advance: AdvanceStep | None = None
    expect: ExpectStep | None = None


class _Scenario(msgspec.Struct, array_like=True):
    id: str
    title: str
    category: Category
    stage: str
    persona: str
    objective: str
    given: Given
    steps: tuple[_Step, ...]
    expect: Expectations
    judge: JudgePlan
    repeats: int | Literal["auto"]
    tags: tuple[str, ...]
    watch: tuple[str, ...]
    allow: tuple[str, ...]
    where: Where
    digest: str


class _Entry(msgspec.Struct, array_like=True, gc=False):
    """`stat`: size, modified, changed, inode. `seen`: when that was looked at, ns."""

    digest: str
    stat: tuple[int, int, int, int]
    seen: int
    body: msgspec.Raw


class _File(msgspec.Struct, array_like=True):
    made_by: str
    entries: dict[str, _Entry]


_FIELDS = _Scenario.__struct_fields__
_NAMES = {UserStep: "user", PersonaStep: "persona", EventStep: "event", AdvanceStep: "advance", ExpectStep: "expect"}


@dataclass(slots=True, kw_only=True)
class ParsedFiles:
    """The entries of one kind of file, in one file of their own under a folder."""

    path: Path
    kind: type[Scenario | Persona | Rubric]
    made_by: str
    entries: dict[str, _Entry] = field(default_factory=dict)
    fresh: dict[str, _Entry] = field(default_factory=dict)
    _decoder: Any = None

    @classmethod
    def open(cls, folder: Path, kind: type[T]) -> ParsedFiles:
        """Read the entries; none when there are none, or when another evalrun wrote them."""
        made = cls(path=folder / f"{kind.__name__.lower()}s.json", kind=kind, made_by=_made_by())
        made._decoder = msgspec.json.Decoder(_Scenario if kind is Scenario else kind)
        try:
            found = msgspec.json.decode(made.path.read_bytes(), type=_File)
        except (OSError, msgspec.DecodeError, msgspec.ValidationError):
            return made  # not there or damaged: everything is parsed again
        if found.made_by == made.made_by:
            made.entries = found.entries
        return made

    def get(self, file: str, path: Path) -> Any:
        """What a file holds, None when it must be parsed. Raises OSError."""
        entry = self.entries.get(file)
        if entry is None:
            return None
        if entry.stat != (now := _stat(path)) or entry.seen - now[1] < SETTLED_NS:
            if entry.digest != _digest(path.read_bytes()):
                return None
            entry = _Entry(digest=entry.digest, stat=now, seen=time.time_ns(), body=entry.body)
        try:
            value = self._decoder.decode(entry.body)
        except (msgspec.DecodeError, msgspec.ValidationError):
            return None
        self.fresh[file] = entry
        return _scenario(value) if self.kind is Scenario else value

    def keep(self, file: str, path: Path, data: bytes, value: Scenario | Persona | Rubric) -> None:
        """Keep what was parsed of a file, if it reads back the same."""
        plain = _row(value) if isinstance(value, Scenario) else value
        try:
            body = msgspec.json.encode(plain)
            back = self._decoder.decode(body)
            again = msgspec.json.encode(back)
        except (TypeError, ValueError, OverflowError, msgspec.MsgspecError):
            return  # a value that the format has not: the file is parsed each time
        # equal values may still differ: 1 and 1.0, one moment in two zones
        if again != body or (_scenario(back) if isinstance(value, Scenario) else back) != value:
            return
        with contextlib.suppress(OSError):  # gone meanwhile: nothing to keep
            stat = _stat(path)
            if stat[0] == len(data):
                self.fresh[file] = _Entry(digest=_digest(data), stat=stat, seen=time.time_ns(), body=msgspec.Raw(body))

    def close(self) -> None:
        """Write the entries of the files that are there now, if something is new."""
        if self.fresh == self.entries:
            return
        data = msgspec.json.encode(_File(made_by=self.made_by, entries=self.fresh))
        draft = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        # without a place to write, everything is parsed again next time
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(data)
            draft.replace(self.path)


def _row(scenario: Scenario) -> _Scenario:
    values: dict[str, Any] = {name: getattr(scenario, name) for name in _FIELDS}
    values["steps"] = tuple(_Step(**_named(s)) for s in scenario.steps)
    return _Scenario(**values)


def _named(step: Step) -> dict[str, Any]:
    return {_NAMES[type(step)]: step}


def _scenario(row: _Scenario) -> Scenario:
    values: dict[str, Any] = {name: getattr(row, name) for name in _FIELDS}
    values["steps"] = tuple(_step(s) for s in row.steps)
    return Scenario(**values)


def _step(row: _Step) -> Step:
    found = row.user or row.persona or row.event or row.advance or row.expect
    assert found is not None
    return found


def _stat(path: Path) -> tuple[int, int, int, int]:
    found = os.stat(path)  # noqa: PTH116  ten thousand times
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _made_by() -> str:
    """The version, and the state of the code that parses: in a checkout it changes between versions."""
    here = Path(__file__).parents[1]
    files = [p for s in _SOURCES for p in ([here / s] if s.endswith(".py") else sorted((here / s).glob("*.py")))]
    states = [(p.name, s.st_size, s.st_mtime_ns) for p in files for s in [p.stat()]]
    return f"{__version__} {hashlib.sha256(repr(states).encode()).hexdigest()[:16]}"

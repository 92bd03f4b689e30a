"""Where keys and values stand in a TOML file: the standard reader gives no places.

The text must be valid TOML (the standard reader has accepted it); nothing is checked here.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate

Path = tuple[str | int, ...]
Place = tuple[int, int]
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n]*")
_STRINGS = (
    re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}', re.DOTALL),
    re.compile(r"'''.*?'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)


@dataclass(slots=True)
class Places:
    """Line and column of each key and value by its path; an index stands for an item of an array."""

    keys: dict[Path, Place] = field(default_factory=dict)
    values: dict[Path, Place] = field(default_factory=dict)

    def key(self, path: Path) -> Place:
        """Where a key stands, else what it is in."""
        return next((self.keys[path[:i]] for i in range(len(path), 0, -1) if path[:i] in self.keys), (1, 1))

    def value(self, path: Path) -> Place:
        """Where a value stands, a table at its header; else its key."""
        return self.values.get(path) or self.key(path)


def places_of(text: str) -> Places:
    """The places in a valid TOML text."""
    scan = _Scan(text)
    scan.run()
    return scan.places


class _Scan:
    """A walk over the text; `at` is the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.places = Places()
        self._lines = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        self._counts: dict[Path, int] = {}

    def run(self) -> None:
        table: Path = ()
        self._blanks()
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._blanks()

    def _place(self) -> Place:
        line = bisect_right(self._lines, self.at)
        return line, self.at - self._lines[line - 1] + 1

    def _blanks(self) -> None:
        found = _BLANK.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _header(self) -> Path:
        place = self._place()
        array = self.text.startswith("[[", self.at)
        self.at += 2 if array else 1
        path: Path = ()
        parts = self._key()
        for i, (name, own) in enumerate(parts):
            path = (*path, name)
            self.places.keys.setdefault(path, own)
            if path in self._counts and i < len(parts) - 1:
                path = (*path, self._counts[path])
        if array:
            self._counts[path] = self._counts.get(path, -1) + 1
            path = (*path, self._counts[path])
        self.places.values.setdefault(path, place)
        self.at += 2 if array else 1
        return path

    def _key(self) -> list[tuple[str, Place]]:
        """The parts of a dotted key, up to what follows it."""
        parts = []
        while True:
            self._blanks()
            place = self._place()
            quote = self.text[self.at] in "\"'"
            pattern = _STRINGS[2 if self.text[self.at] == '"' else 3] if quote else _BARE_KEY
            found = pattern.match(self.text, self.at)
            assert found is not None, "not valid TOML"
            self.at = found.end()
            name = tomllib.loads(f"k={found.group()}")["k"] if quote else found.group()
            parts.append((name, place))
            self._blanks()
            if self.text[self.at] != ".":
                return parts
            self.at += 1

    def _pair(self, table: Path) -> None:
        path = table
        for name, place in self._key():
            path = (*path, name)
            self.places.keys.setdefault(path, place)
        self.at += 1  # the equals sign
        self._value(path)

    def _value(self, path: Path) -> None:
        self._blanks()
        self.places.values[path] = self._place()
        opening = self.text[self.at]
        if opening in "[{":
            self._inside(path, "]" if opening == "[" else "}")
            return
        for pattern in (*_STRINGS, _BARE_VALUE):
            if found := pattern.match(self.text, self.at):
                self.at = found.end()
                return

    def _inside(self, path: Path, closing: str) -> None:
        """An array or an inline table, up to behind its end."""
        self.at += 1
        index = 0
        while True:
            self._blanks()
            if self.text[self.at] == closing:
                self.at += 1
                return
            if self.text[self.at] == ",":
                self.at += 1
            elif closing == "]":
                self._value((*path, index))
                index += 1
            else:
                self._pair(path)

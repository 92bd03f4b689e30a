"""Patterns of paths, as `watch`, `source` and `shared` write them.

`*` and `?` stay inside one name, `**` crosses folders, `[ab]` is one of some characters. A
pattern without any of them is a file, or a folder with all that is in it. Paths have forward
slashes and are relative to the project; both sides are compared in Unicode's composed form,
because one file system keeps another form than the next.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from evalrun.errors import UsageError

_MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PathPattern:
    """One pattern that was read. `literal` is the path itself when it holds no wildcard, else ""."""

    text: str
    literal: str
    parts: tuple[re.Pattern[str] | None, ...]
    """A part of None is `**`."""

    def matches(self, path: str) -> bool:
        """Whether it stands for a path in composed form."""
        if self.literal:
            return path == self.literal or path.startswith(f"{self.literal}/")
        return _walk(self.parts, tuple(path.split("/")), below=False)

    def may_match_in(self, folder: str) -> bool:
        """Whether it stands for a folder, or may stand for something in it."""
        if self.literal:
            return self.matches(folder) or self.literal.startswith(f"{folder}/")
        return _walk(self.parts, tuple(folder.split("/")), below=True)


def read_pattern(text: str) -> PathPattern:
    """Read one. Raises UsageError for what would silently match nothing here."""
    plain = composed(text.strip()).removeprefix("./")
    if plain.startswith(("/", "!")) or "\\" in plain or re.search(r"\{[^}]*,[^}]*\}", plain):
        raise UsageError(
            f"the pattern {text!r} is not read: paths are relative to the settings, with forward slashes",
            remedy="write one pattern for each path, such as prompts/** or agents/*.py",
        )
    if plain.endswith("/"):
        plain = plain.rstrip("/")
    if not _MAGIC.search(plain):
        return PathPattern(text=text, literal=plain, parts=())
    return PathPattern(text=text, literal="", parts=tuple(_part(p) for p in plain.split("/")))


def composed(path: str) -> str:
    """A path in Unicode's composed form (NFC)."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def _part(text: str) -> re.Pattern[str] | None:
    """One name of a pattern as a regular expression."""
    if text == "**":
        return None
    out, i = "", 0
    while i < len(text):
        sign, i = text[i], i + 1
        end = text.find("]", i + 1) if sign == "[" else -1
        if sign == "*":
            out += "[^/]*"
        elif sign == "?":
            out += "[^/]"
        elif end > 0:
            inside = re.escape(text[i:end].lstrip("!^")).replace(r"\-", "-")
            out += f"[{'^' if text[i] in '!^' else ''}{inside}]"
            i = end + 1
        else:
            out += re.escape(sign)
    return re.compile(out, re.DOTALL)


def _walk(parts: tuple[re.Pattern[str] | None, ...], names: tuple[str, ...], *, below: bool) -> bool:
    """Whether the parts of a pattern fit the names of a path; `below`: or of something under it."""
    if not names:
        return below or all(p is None for p in parts)
    if not parts:
        return False
    first, rest = parts[0], parts[1:]
    if first is None:
        return below or any(_walk(rest, names[i:], below=False) for i in range(len(names) + 1))
    return first.fullmatch(names[0]) is not None and _walk(rest, names[1:], below=below)

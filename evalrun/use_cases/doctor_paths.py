"""Ways by which a hook or a workflow comes to play scenarios: its own lines, make targets and scripts they name."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PLAYS = re.compile(r"\bevalrun[\"']?[\s\\]+(?:-\S+[\s\\]+)*(run|judge|calibrate|selftest|ab)\b")
"""A command that may call models."""
SIZE_AT_MOST = 256 * 1024
GIT_SECONDS = 20
_CONTINUED = re.compile(r"\\\n\s*")
_MAKE = re.compile(r"\bmake\s+((?:[-\w./=]+\s*)+)")
_RULE = re.compile(r"^([-\w./ ]+):(?!=)([^#\n]*)", re.MULTILINE)
_WORD = re.compile(r"[-\w./]+")
_HOOK_FILES = (".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", "package.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A command that plays scenarios: the file it was begun in, the line, and through what it was reached."""

    file: str
    line: str
    through: str = ""

    def __str__(self) -> str:
        """`.git/hooks/pre-push: make demo: evalrun run --tag demo`."""
        return ": ".join(part for part in (self.file, self.through, self.line) if part)


@dataclass(slots=True, kw_only=True)
class Follower:
    """Reads what commands name: targets of the Makefile and scripts of the project, each once."""

    root: Path
    _seen: set[str] = field(default_factory=set)

    def ways(self, file: str, text: str) -> Iterator[Way]:
        """The commands of a text that play scenarios, followed through make and scripts."""
        self._seen = {file}
        yield from self._ways(file, text, "")

    def _ways(self, file: str, text: str, through: str) -> Iterator[Way]:
        for line in commands(text):
            if PLAYS.search(line):
                yield Way(file=file, line=line, through=through)
            for named in _MAKE.findall(line):
                for target in named.split():
                    yield from self._target(file, target)
            for word in _WORD.findall(line):
                yield from self._script(file, word)

    def _target(self, file: str, target: str) -> Iterator[Way]:
        mark = f"make {target}"
        if mark in self._seen:
            return
        self._seen.add(mark)
        for needs, recipe in recipes(self.root).get(target, ()):
            yield from self._ways(file, recipe, mark)
            for need in needs:
                yield from self._target(file, need)

    def _script(self, file: str, word: str) -> Iterator[Way]:
        path = self.root / word
        if word in self._seen or path.suffix not in ("", ".sh", ".bash") or not path.is_file():
            return
        self._seen.add(word)
        text = text_of(path)
        if text.startswith("#!"):
            yield from self._ways(file, text, word)


def commands(text: str) -> list[str]:
    """The lines of a script without comments, continued ones joined."""
    lines = (line.strip().removeprefix("- ") for line in _CONTINUED.sub(" ", text).splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def recipes(root: Path) -> dict[str, list[tuple[list[str], str]]]:
    """The rules of a project's Makefile: what each target needs, and its recipe."""
    name = next((n for n in ("GNUmakefile", "makefile", "Makefile") if (root / n).is_file()), None)
    if name is None:
        return {}
    text = text_of(root / name)
    found: dict[str, list[tuple[list[str], str]]] = {}
    for rule in _RULE.finditer(text):
        needs, _, inline = rule[2].partition(";")
        below = text[rule.end() :].partition("\n")[2].split("\n")
        end = next((i for i, line in enumerate(below) if line.strip() and not line.startswith("\t")), len(below))
        recipe = "\n".join([inline, *below[:end]])
        for target in rule[1].split():
            found.setdefault(target, []).append((needs.split(), recipe))
    return found


def hooks(root: Path) -> Iterator[tuple[str, str]]:
    """The hooks of a project, each with its text: git's own, husky's, and files of hook runners."""
    folder = hooks_folder(root)
    if folder is not None and folder.is_dir():
        for path in sorted(folder.iterdir()):
            if path.is_file() and path.suffix != ".sample" and os.access(path, os.X_OK):
                yield _shown(path, root), text_of(path)
    husky = root / ".husky"
    for path in sorted(husky.iterdir()) if husky.is_dir() else ():
        if path.is_file() and (folder is None or path.parent.resolve() != folder.resolve()):
            yield _shown(path, root), text_of(path)
    for name in _HOOK_FILES:
        if (root / name).is_file():
            yield name, text_of(root / name)


def hooks_folder(root: Path) -> Path | None:
    """Where git looks for hooks (core.hooksPath counts), None outside a repository."""
    said = git_says(root, "rev-parse", "--git-path", "hooks")
    return root / said if said else None


def git_says(root: Path, *arguments: str) -> str:
    """The answer of git in a folder, "" when it has none."""
    try:
        done = subprocess.run(  # noqa: S603  fixed arguments, no shell
            ["git", "-C", str(root), *arguments],  # noqa: S607  the user's git, wherever it is
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=GIT_SECONDS,
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def text_of(path: Path) -> str:
    """The text of a file that is a script, "" of one that is too large for that or cannot be read."""
    try:
        if path.stat().st_size > SIZE_AT_MOST:
            return ""
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def _shown(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)

"""The pages of docs/ as tests read them: the files they tell a reader to write, and the commands to run.

A fenced block whose info string names a path (`python bot.py`) is a file. A `console` block holds
commands after `$ ` and what they print; a line with only `…` stands for any lines. Blocks of
another kind are shown, not run: `sh` for what needs a key, a network or a long time. A
`pyproject.toml` in a folder of its own is a package to install: what pip would note down is.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ANY_LINES = "…"
START = re.compile(r"<!-- starts from (\S+) -->")
VARIES = (
    (re.compile(r"\b\d{4}-\d\d-\d\d-[0-9a-f]{6}\b"), "RUN"),
    (re.compile(r"\brun [0-9a-f]{6}\b|(?<=evalrun show )[0-9a-f]{6}\b"), "RUN"),
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d\b"), "DATE"),
    (re.compile(r"\b\d+(?:\.\d+)? ?s\b"), "SECONDS"),
    (re.compile(r" +"), " "),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file the reader writes."""

    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command the reader runs and the lines it must print."""

    line: str
    prints: tuple[str, ...]


def pages() -> tuple[Path, ...]:
    """All pages people read in the repository."""
    found = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / ".github").rglob("*.md")]
    return tuple(sorted(found))


def fences(page: Path) -> Iterator[Token]:
    """The fenced blocks of a page."""
    return (t for t in MarkdownIt().parse(page.read_text("utf-8")) if t.type == "fence")


def acts(page: Path) -> tuple[File | Command, ...]:
    """What the reader of a page does, in order."""
    return tuple(act for fence in fences(page) for act in _acts(fence.info.strip(), fence.content))


def _acts(info: str, text: str) -> Iterator[File | Command]:
    kind, _, path = info.partition(" ")
    if path:
        yield File(path=path, text=text)
    elif kind == "console":
        for part in re.split(r"(?m)^\$ ", text)[1:]:
            line, *prints = part.splitlines()
            yield Command(line=line, prints=tuple(prints))


def prepare(page: Path, folder: Path) -> None:
    """Bring a folder to where a page starts: the end of another page, when it says so."""
    found = START.search(page.read_text("utf-8"))
    if not found:
        return
    earlier = (page.parent / found[1]).resolve()
    prepare(earlier, folder)
    for act in acts(earlier):
        if isinstance(act, File):
            write(act, folder)
        elif not act.line.startswith("evalrun "):  # what evalrun prints changes no file that is read again
            run(act, folder, {})


def write(file: File, folder: Path) -> None:
    """Write a file below a folder."""
    path = folder / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(file.text, "utf-8")


def install(file: File, folder: Path) -> str:
    """Offer the entry points of a package as an editable install does; the folder to have on PYTHONPATH."""
    project = tomllib.loads(file.text)["project"]
    package = (folder / file.path).parent
    info = package / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(metadata, "utf-8")
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {path}" for name, path in points.items())])
        for group, points in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups), "utf-8")
    return str(package)


def run(command: Command, folder: Path, environ: Mapping[str, str], code: int = 0) -> tuple[str, int]:
    """What a command prints, both streams together, and its exit code.

    The installed `evalrun` is on the path; `code` is what the command before ended with, for `$?`.
    """
    kept = {k: v for k, v in os.environ.items() if k in ("HOME", "LANG", "TMPDIR", "PYTHONDONTWRITEBYTECODE")}
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        f"(exit {code})\n{command.line}",
        shell=True,
        cwd=folder,
        env={**kept, "PATH": path, "COLUMNS": "100", **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout, done.returncode


def same(expected: tuple[str, ...], printed: str) -> bool:
    """Whether a command printed what the page shows, ids, dates and times apart."""
    parts = [re.escape(line) if line != ANY_LINES else None for line in map(constant, expected)]
    pattern = "".join(r"(?:.*\n)*?" if part is None else f"{part}\n" for part in parts)
    text = "".join(f"{constant(line)}\n" for line in printed.splitlines())
    return re.fullmatch(pattern, text) is not None


def constant(line: str) -> str:
    """A line without what differs from run to run."""
    for pattern, word in VARIES:
        line = pattern.sub(word, line)
    return line.rstrip()

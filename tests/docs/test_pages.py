"""The users' pages are true: what they show is what happens, and what they link to is there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / ".github").rglob("*.md")]
)
BLOCK = re.compile(r"^```(?P<kind>\S*)(?: (?P<file>\S+))?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\((?P<to>[^)\s]+)\)")
PLAYED = [p for p in PAGES if "```console\n$ evalrun" in p.read_text("utf-8")]


def blocks(page: Path) -> Iterator[tuple[str, str, str]]:
    """Kind, file and body of each block of a page, in order."""
    for match in BLOCK.finditer(page.read_text("utf-8")):
        yield match["kind"], match["file"] or "", match["body"]


def plain(text: str) -> list[str]:
    """Lines without what differs from run to run: ids, times, and the width that times take."""
    text = re.sub(r"\d{4}-\d{2}-\d{2}-[0-9a-f]{6}", "RUN", text)
    text = re.sub(r"\b[0-9a-f]{6}\b", "ID", text)
    text = re.sub(r"\d+(?:\.\d+)? s\b", "N s", text)
    return [re.sub(r" +", " ", line).rstrip() for line in text.strip().splitlines()]


@pytest.mark.parametrize("page", PLAYED, ids=lambda p: p.name)
def test_what_a_page_shows_happens(page: Path, tmp_path: Path) -> None:
    """Its files are written and its commands run in order in an empty folder; they print what the page says."""
    command = str(Path(sys.executable).with_name("evalrun"))
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    for kind, file, body in blocks(page):
        if file:
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_text(body, "utf-8")
        elif kind == "console" and body.startswith("$ evalrun"):
            typed, _, shown = body.partition("\n")
            words = typed.removeprefix("$ evalrun").split()
            done = subprocess.run(
                [command, *words], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
            )
            assert plain(shown) == plain(done.stdout + done.stderr), typed


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of every page names a file that is there."""
    links = [m["to"] for m in LINK.finditer(BLOCK.sub("", page.read_text("utf-8")))]
    local = [t.partition("#")[0] for t in links if "://" not in t and not t.startswith(("#", "mailto:"))]
    assert [] == [t for t in local if not (page.parent / t).exists()]

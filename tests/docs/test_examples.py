"""Every example of the documentation is run as a reader would, from a fresh folder."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from tests.acceptance.projects import is_canary
from tests.docs import pages
from tests.docs.pages import DOCS, Command, File
from tests.scripted_server import ScriptedServer

RUN = tuple(p for p in pages.pages() if any(isinstance(a, Command) for a in pages.acts(p)))


def name_of(page: Path) -> str:
    """A page's path in the repository."""
    return str(page.relative_to(pages.ROOT))


def answer(role: str, body: Mapping[str, object]) -> str:
    """What the models of the pages say: a reader's own models say something else."""
    if role == "judge":
        if is_canary(body):
            block = {"quote": "", "reason": "rude and broken", "score": 1}
            return json.dumps({"warmth": block, "clarity": block})
        block = {"quote": "With pleasure", "reason": "kind and plain", "score": 8}
        return json.dumps({"warmth": block, "clarity": block | {"score": 7}})
    if role == "persona":
        return json.dumps({"message": "four people, at eight", "done": True})
    return "With pleasure. For how many people?"


@contextmanager
def surroundings(page: Path, request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """The variables a reader of the page has set: a Postgres, a server with models."""
    text = page.read_text("utf-8")
    if "<!-- needs a Postgres -->" in text:
        yield {"AGENT_DB_URL": request.getfixturevalue("cluster").dsn}
    elif "<!-- needs models -->" in text:
        with ScriptedServer(answer) as server:
            yield {"EVALRUN_COMPATIBLE_BASE_URL": server.base_url}
    else:
        yield {}


@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_a_page_does_what_it_shows(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Its files are written, its commands are run in order, and each prints what the page says."""
    with surroundings(page, request) as environ:
        follow(page, tmp_path, environ)


def follow(page: Path, tmp_path: Path, environ: dict[str, str]) -> None:
    """Do what a page says, in order."""
    pages.prepare(page, tmp_path)
    code = 0
    for act in pages.acts(page):
        if isinstance(act, File):
            pages.write(act, tmp_path)
            if act.path.endswith("/pyproject.toml"):
                environ["PYTHONPATH"] = pages.install(act, tmp_path)
            continue
        printed, code = pages.run(act, tmp_path, environ, code)
        assert pages.same(act.prints, printed), f"$ {act.line}\n{printed}\n--- the page says\n" + "\n".join(act.prints)


@pytest.mark.parametrize("page", pages.pages(), ids=name_of)
def test_what_is_shown_can_be_read(page: Path) -> None:
    """Python compiles, TOML and YAML parse, also where the block is no file of its own."""
    for fence in pages.fences(page):
        kind = fence.info.partition(" ")[0]
        if kind == "python":
            compile(fence.content, name_of(page), "exec")
        elif kind == "toml":
            tomllib.loads(fence.content)
        elif kind == "yaml":
            yaml.safe_load(fence.content)


def test_the_pages_that_promise_an_example_have_one() -> None:
    """The tutorial, the four parts one may write, and the wiring of a product are run."""
    promised = {"tutorial", "write-a-judge", "write-a-provider", "write-an-adapter", "write-a-reporter"}
    promised |= {"wire-your-product", "time-and-events", "use-a-real-model", "cap-the-money", "use-your-own-postgres"}
    assert promised - {p.stem for p in RUN if p.is_relative_to(DOCS)} == set()


def test_the_readme_shows_what_the_tutorial_shows() -> None:
    """Its report is not made up, and moves when the tutorial's does."""
    shown = next(f.content for f in pages.fences(pages.ROOT / "README.md") if f.info == "text")
    tutorial = {pages.constant(line) for line in (DOCS / "tutorial.md").read_text("utf-8").splitlines()}
    assert {pages.constant(line) for line in shown.splitlines()} - tutorial == set()


def test_a_product_is_wired_in_under_30_lines() -> None:
    """As the page says, imports counted."""
    page = DOCS / "how-to" / "wire-your-product.md"
    wiring = next(a for a in pages.acts(page) if isinstance(a, File) and a.path == "wiring.py")
    assert len([line for line in wiring.text.splitlines() if line]) < 30


def test_the_comparison_sees_a_difference() -> None:
    """Times and ids may differ, words may not; lines are left out only where the page says so."""
    shown = ("run 2026-12-01-aaaaaa · exit 0", "…", "last")
    assert pages.same(shown, "run 2030-01-31-0f0f0f · exit 0\nany\nlines\nlast\n")
    assert not pages.same(shown, "run 2030-01-31-0f0f0f · exit 1\nlast\n")
    assert not pages.same(("last",), "first\nlast\n")

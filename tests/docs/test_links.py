"""Links between pages lead somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.docs import pages


def tokens(page: Path) -> Iterator[Token]:
    """All tokens of a page, those inside lines too."""
    for token in MarkdownIt().enable("table").parse(page.read_text("utf-8")):
        yield token
        yield from token.children or ()


def links(page: Path) -> tuple[str, ...]:
    """The targets of a page's links."""
    found = (t.attrGet("href") or t.attrGet("src") for t in tokens(page))
    return tuple(str(f) for f in found if f)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as the forge makes them."""
    parsed = list(MarkdownIt().parse(page.read_text("utf-8")))
    titles = [after.content for token, after in pairwise(parsed) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", pages.pages(), ids=lambda p: str(p.relative_to(pages.ROOT)))
def test_relative_links_resolve(page: Path) -> None:
    """Every file and every heading that is linked to exists."""
    dead = []
    for link in links(page):
        parts = urlsplit(link)
        if parts.scheme:
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        heading = parts.fragment and target.suffix == ".md" and target.is_file()
        if not target.exists() or (heading and parts.fragment not in anchors(target)):
            dead.append(link)
    assert dead == []


def test_every_page_can_be_reached_from_the_index() -> None:
    """A page nobody links to is read by nobody."""
    seen: set[Path] = set()
    waiting = [pages.DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in seen:
            continue
        seen.add(page)
        found = ((page.parent / unquote(urlsplit(link).path)).resolve() for link in links(page) if "://" not in link)
        waiting += [f for f in found if f.suffix == ".md" and f.is_file()]
    assert {p for p in pages.pages() if p.is_relative_to(pages.DOCS)} - seen == set()

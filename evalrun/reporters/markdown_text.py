"""Text of others inside Markdown: shown as written, and inert wherever GitHub looks for something.

Every sign that means something to Markdown, HTML or a CI service becomes an HTML entity, so that
nothing can be opened, closed, linked or run. What GitHub looks for in the finished page
(mentions, issue numbers, emoji codes) is broken by a zero-width space.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from evalrun.reporters.visible import written_out

_MEANING = re.compile(
    r"[\\`*_\[\]<>#|~&$@]"  # inside a line
    r"|:(?=[:/]|[a-z+-][\w+-]*:)|(?<=:):"  # addresses, emoji codes, commands to a CI service
    r"|^[-+=]|^\d(?=\d{0,8}[.)])",  # at the start of one: lists, headings
    re.MULTILINE | re.IGNORECASE,
)
# what is looked for once Markdown is read: mentions, issue numbers, emoji codes, addresses
_LOOKED_FOR = re.compile(r"@(?=\w)|#(?=\d)|\bGH-(?=\d)|:(?=[a-z+-][\w+-]*:)|(?<=:)/(?=/)|\bwww(?=\.)", re.IGNORECASE)
_EDGE = re.compile(r"^\s|\s$")  # spaces other than the plain one, which parsers drop there
BROKEN = "\u200b"
NEWLINE = "<br>"


def inert(text: str) -> str:
    """A text for a table cell or a line: newlines become `<br>`."""
    lines = written_out(text).split("\n")
    # stripped first: a sign after spaces is still at the start of its line
    return NEWLINE.join(_EDGE.sub(_entity, _entities(line.strip(" "))) for line in lines)


def preformatted(text: str) -> str:
    """A block that keeps its lines and indents."""
    return f"<pre>{_entities(text)}</pre>"


def _entities(text: str) -> str:
    clean = _LOOKED_FOR.sub(lambda m: m.group() + BROKEN, written_out(text))
    return _MEANING.sub(_entity, clean)


def _entity(found: re.Match[str]) -> str:
    return f"&#{ord(found.group())};"


def one_line(text: str) -> str:
    """A text where no tag may stand: newlines become spaces."""
    return inert(" ".join(text.splitlines()))


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> str:
    """A table of cells that are Markdown already; `right` are columns of figures."""
    rule = ["--:" if i in right else ":--" for i in range(len(head))]
    lines = [head, rule, *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def fitting(blocks: Sequence[str], limit: int, note: str) -> str:
    """Blocks with an empty line between, whole ones only, at most `limit` bytes in UTF-8 (0: no limit).

    The first block is always there. When blocks are left out, the note says so.
    """
    text = "\n\n".join(blocks) + "\n"
    if not limit or len(text.encode()) <= limit:
        return text
    kept = [blocks[0]]
    size = len((blocks[0] + note).encode()) + 4
    for block in blocks[1:]:
        size += len(block.encode()) + 2
        if size > limit:
            break
        kept.append(block)
    return "\n\n".join([*kept, note]) + "\n"

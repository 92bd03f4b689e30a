"""YAML to nodes, from the parser's events: no constructor, no tag, no interpretation of scalars.

Limits on bytes, depth, nodes and aliases are checked while reading, so that no file can blow up.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from evalrun.errors import FileProblems, Problem, Where
from evalrun.loading.nodes import Node, NodeKind

BYTES_AT_MOST = 256 * 1024
NODES_AT_MOST = 20_000
DEPTH_AT_MOST = 40
ALIASES_AT_MOST = 100
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# what YAML 1.1 counts as the end of a line: marks must fall on the same lines as ours
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_COMMENT = re.compile(r"[ \t]+(#.*)")
_BAD_CHARACTER = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]")


def read_yaml(data: bytes, file: str) -> Node:
    """The one document of a file. Raises FileProblems."""
    text = _decoded(data, file)
    builder = _Builder(file=file, lines=_BREAK.split(text))
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except yaml.MarkedYAMLError as e:
        raise _problem(_at(file, e.problem_mark or e.context_mark), _explain(e, builder.lines)) from e
    except yaml.YAMLError as e:
        said = " ".join(str(e).split())
        raise _problem(Where(file=file, line=1, column=1), f"not readable as YAML ({said}); correct it") from e
    builder.refuse_unused()
    if builder.root is None or builder.root.null:
        message = "the file is empty, expected a mapping; write one, or remove the file"
        raise _problem(Where(file=file, line=1, column=1), message)
    return builder.root


def _decoded(data: bytes, file: str) -> str:
    if len(data) > BYTES_AT_MOST:
        message = f"the file is over {BYTES_AT_MOST // 1024} KiB, expected less; split it"
        raise _problem(Where(file=file, line=1, column=1), message)
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as e:
        line, column = _place(data[: e.start].decode("utf-8-sig", errors="replace"))
        message = f"the byte 0x{data[e.start]:02X} is not UTF-8; save the file as UTF-8"
        raise _problem(Where(file=file, line=line, column=column), message) from e
    if bad := _BAD_CHARACTER.search(text):
        line, column = _place(text[: bad.start()])
        message = f"the control character U+{ord(bad.group()):04X}; remove it"
        raise _problem(Where(file=file, line=line, column=column), message)
    return text


def _place(before: str) -> tuple[int, int]:
    """Line and column of what follows a text."""
    lines = _BREAK.split(before)
    return len(lines), len(lines[-1]) + 1


def _problem(where: Where, message: str) -> FileProblems:
    return FileProblems([Problem(where=where, message=message)])


def _at(file: str, mark: Any) -> Where:
    return Where(file=file, line=mark.line + 1, column=mark.column + 1) if mark else Where(file=file, line=1, column=1)


def _explain(error: yaml.MarkedYAMLError, lines: list[str]) -> str:
    """The parser's problem in one line, with the quoted form to paste when quoting would help."""
    said = " ".join(str(error.problem or error.context or error).split())
    mark = error.problem_mark
    if mark is not None and mark.line < len(lines):
        item = re.match(r"\s*(?:-\s+)?(?:[\w.-]+:\s+)?(.*\S)", lines[mark.line])
        if "\t" in lines[mark.line][: mark.column + 1]:
            return f"not readable as YAML ({said}); indent with blanks, not with tabs"
        if item and not item.group(1).startswith('"'):
            shown = item.group(1)
            # 'it's ok': the writer's own quotes are no part of the text
            shown = cut(shown[1:-1] if len(shown) > 2 and shown[0] == shown[-1] == "'" else shown)
            return f"not readable as YAML ({said}); if `{shown}` is a text, write {quoted(shown)}"
    return f"not readable as YAML ({said}); correct the indentation, the brackets or the quotes here"


def cut(text: str) -> str:
    """A text at 60 characters, for a message."""
    return text if len(text) <= 60 else f"{text[:59]}…"


def quoted(text: str) -> str:
    """A text as a double-quoted YAML scalar on one line, to paste."""
    return json.dumps(text, ensure_ascii=False)


@dataclass(slots=True, kw_only=True)
class _Open:
    """A collection being read; `key` waits for its value."""

    node: Node
    anchor: str | None
    start: Any
    key: Node | None = None


@dataclass(slots=True, kw_only=True)
class _Builder:
    """Builds nodes from events with a stack of its own, so that depth is ours to bound."""

    file: str
    lines: list[str]
    root: Node | None = None
    stack: list[_Open] = field(default_factory=list)
    anchors: dict[str, Node] = field(default_factory=dict)
    unused: dict[str, Where] = field(default_factory=dict)
    nodes: int = 0
    aliases: int = 0
    documents: int = 0

    def take(self, event: Any) -> None:
        """One event. Raises FileProblems."""
        if isinstance(event, yaml.ScalarEvent):
            self._check_tag(event)
            self._count(event, 1)
            self._add(self._scalar(event), event.anchor)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._check_tag(event)
            self._count(event, 1)
            if len(self.stack) >= DEPTH_AT_MOST:
                raise _problem(self._where(event), f"nested deeper than {DEPTH_AT_MOST} levels; flatten it")
            kind = NodeKind.LIST if isinstance(event, yaml.SequenceStartEvent) else NodeKind.MAPPING
            node = Node(kind=kind, where=self._where(event))
            self.stack.append(_Open(node=node, anchor=event.anchor, start=event.start_mark))
        elif isinstance(event, yaml.CollectionEndEvent):
            opened = self.stack.pop()
            opened.node.source = self._source(opened.start, event.end_mark)
            opened.node.size = 1 + sum(n.size for n in opened.node.items)
            opened.node.size += sum(k.size + v.size for k, v in opened.node.pairs)
            self._add(opened.node, opened.anchor)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise _problem(self._where(event), "a second document, expected one; move it to a file of its own")

    def _where(self, event: Any) -> Where:
        return _at(self.file, event.start_mark)

    def _check_tag(self, event: Any) -> None:
        tag = event.tag
        if tag is not None:
            said = "found `!`" if tag == "!" else f"the tag `{cut(tag)}` is not allowed"
            raise _problem(
                self._where(event), f"{said}, expected a plain value; a text that opens with `!` needs quotes"
            )

    def _scalar(self, event: Any) -> Node:
        plain = not event.style
        node = Node(
            kind=NodeKind.TEXT,
            where=self._where(event),
            text=event.value,
            plain=plain,
            source=event.value if plain else self._source(event.start_mark, event.end_mark),
        )
        if plain and event.value:
            line = self.lines[event.end_mark.line] if event.end_mark.line < len(self.lines) else ""
            rest = line[event.end_mark.column :]
            if found := _COMMENT.fullmatch(rest):
                node.commented = f"{event.value} {found.group(1)}"
        return node

    def _source(self, start: Any, end: Any) -> str:
        """The first line of a piece of the file, cut at 60 characters."""
        line = self.lines[start.line] if start.line < len(self.lines) else ""
        last = end.column if end.line == start.line else len(line)
        return cut(line[start.column : last].rstrip())

    def _alias(self, event: Any) -> None:
        self.aliases += 1
        if self.aliases > ALIASES_AT_MOST:
            raise _problem(self._where(event), f"more than {ALIASES_AT_MOST} aliases; write the values out")
        found = self.anchors.get(event.anchor)
        if found is None:
            text = cut(self.lines[event.start_mark.line][event.start_mark.column :].strip())
            message = f"`*{event.anchor}` is a YAML alias to nothing; if it is a text, write {quoted(text)}"
            raise _problem(self._where(event), message)
        self.unused.pop(event.anchor, None)
        self._count(event, found.size)
        self._add(found, None)

    def refuse_unused(self) -> None:
        """An anchor nobody uses is a text such as `&nbsp; hello` that lost its first word. Raises FileProblems."""
        problems = [
            Problem(
                where=w, message=f"`&{cut(a)}` is a YAML anchor that is never used; put a text in quotes, or remove it"
            )
            for a, w in self.unused.items()
        ]
        if problems:
            raise FileProblems(problems)

    def _count(self, event: Any, size: int) -> None:
        self.nodes += size
        if self.nodes > NODES_AT_MOST:
            message = f"more than {NODES_AT_MOST} values once aliases are followed; split the file"
            raise _problem(self._where(event), message)

    def _add(self, node: Node, anchor: str | None) -> None:
        if anchor is not None:
            self.anchors[anchor] = node
            self.unused[anchor] = node.where
        if not self.stack:
            self.root = node
            return
        parent = self.stack[-1]
        if parent.node.kind is NodeKind.LIST:
            parent.node.items.append(node)
        elif parent.key is None:
            parent.key = node
        else:
            parent.node.pairs.append((parent.key, node))
            parent.key = None

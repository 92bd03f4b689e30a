"""`${NAME}` in the settings: put in once, after parsing, in connection fields only.

Text elsewhere keeps its dollars. What a variable holds is never read again for variables and never
stands in a message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from evalrun.loading.kinds import Problems, Skip
from evalrun.loading.nodes import Node, NodeKind

_VARIABLE = re.compile(r"\$\{([^}]*)(\}?)|\$([A-Za-z_][A-Za-z0-9_]*)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEY = re.compile(
    r"(?<![A-Za-z0-9_-])(?:(?:sk|pk|key|xai|gsk)[-_](?=[A-Za-z0-9_-]*[0-9])[A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{30,})"
)


def refuse_keys(node: Node, problems: Problems) -> None:
    """A key's value in a settings file would end up in the repository. Raises Skip; the key is not shown."""
    todo = [node]
    while todo:
        current = todo.pop()
        todo += [*current.items, *(v for _, v in current.pairs)]
        if _KEY.search(current.text):
            message = "this looks like a key; put it into an environment variable and name that in `api_key_env`"
            problems.add(current.where, message)
    if problems.found:
        raise Skip


def at(node: Node, path: tuple[str, ...]) -> Node | None:
    """The value under nested keys, None when it was not written."""
    current: Node | None = node
    for name in path:
        current = next((v for k, v in current.pairs if k.text == name), None) if current else None
    return current


def resolved(node: Node, environ: Mapping[str, str], problems: Problems) -> str:
    """A text with its variables put in. Raises Skip after noting what is unset, empty or written otherwise."""
    before = len(problems.found)
    text = "".join(_pieces(node, environ, problems)) if node.kind is NodeKind.TEXT else ""
    if len(problems.found) > before:
        raise Skip
    return text


def _pieces(node: Node, environ: Mapping[str, str], problems: Problems) -> list[str]:
    pieces = []
    last = 0
    for found in _VARIABLE.finditer(node.text):
        pieces.append(node.text[last : found.start()])
        last = found.end()
        braced, end, bare = found.groups()
        if bare is not None or not end or not _NAME.fullmatch(braced):
            name = bare or next(iter(_NAME.findall(braced)), "NAME")
            message = f"`{found.group()}` is not read, expected a variable as ${{NAME}}; write ${{{name}}}"
            problems.add(node.where, message)
        elif not environ.get(braced, "").strip():
            state = "empty" if braced in environ else "not set"
            message = f"the variable {braced} is {state}, expected a connection; set it, or choose another profile"
            problems.add(node.where, message)
        else:
            pieces.append(environ[braced])
    return [*pieces, node.text[last:]]

"""Whether expectations hold: numbers by value, text by its composed form, JSON text decoded, true is not 1.

Unknown is never met: what could not be looked at comes back as `broken`.
"""

from __future__ import annotations

import difflib
import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from uuid import UUID

from evalrun.errors import Where
from evalrun.expectation import (
    Checkpoint,
    Evidence,
    NamedTool,
    RepliesExpectation,
    SqlExpectation,
    SqlResult,
    StateExpectation,
    ToolExpectation,
    Unmet,
)
from evalrun.style_checks.wording import contains
from evalrun.transcript import ToolCall, Turn

_MISSING = object()
LONGEST_SHOWN = 160


def evaluate(checkpoint: Checkpoint, turns: Sequence[Turn]) -> tuple[Unmet, ...]:
    """The expectations of a checkpoint that do not hold, over all turns up to it."""
    seen = [t for t in turns if t.number <= checkpoint.turn]
    wanted = checkpoint.expectations
    found = [
        *_silence(checkpoint, seen),
        *_tools(checkpoint, seen),
        *_replies(wanted.replies, seen),
        *_texts(checkpoint, seen),
        *(u for s in wanted.state for u in _state(s, checkpoint.evidence)),
        *(u for q in wanted.sql for u in _sql(q, checkpoint.evidence)),
    ]
    return tuple(_at(u, checkpoint.turn) for u in found)


def compare(expected: object, actual: object, *, exact: bool = False) -> str | None:
    """None when `actual` is what was expected, else a readable difference.

    Mappings are compared as subsets unless `exact`; lists by position and length.
    """
    if isinstance(expected, Mapping):
        return _compare_mapping(expected, actual, exact=exact)
    if isinstance(expected, (list, tuple)):
        return _compare_list(expected, actual, exact=exact)
    if isinstance(expected, bool) or isinstance(actual, bool) or expected is None or actual is None:
        same = expected is actual or (type(expected) is type(actual) and expected == actual)
        return None if same else _differ(expected, actual)
    left, right = _plain(expected), _plain(actual)
    if _is_number(left) and _is_number(right):
        return None if _as_decimal(left) == _as_decimal(right) else _differ(expected, actual)
    return None if type(left) is type(right) and left == right else _differ(expected, actual)


def show(value: object) -> str:
    """A value as JSON on one line, cut at 160 characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def _at(unmet: Unmet, turn: int) -> Unmet:
    return Unmet(
        path=unmet.path,
        expected=unmet.expected,
        got=unmet.got,
        turn=turn,
        broken=unmet.broken,
        where=unmet.where,
    )


def _unmet(where: Where, path: str, expected: str, got: str, *, broken: bool = False) -> Unmet:
    return Unmet(path=path, expected=expected, got=got, turn=0, broken=broken, where=where)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, Decimal))


def _as_decimal(value: object) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(str(value))


def _plain(value: object) -> object:
    """Text composed; what a database gives (dates, ids) as text in its ISO form."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    return value


def _differ(expected: object, actual: object) -> str:
    hint = ""
    if _is_number(expected) and isinstance(actual, str) and _number_in(actual) == _as_decimal(expected):
        hint = " (text, not a number)"
    elif isinstance(expected, str) and _is_number(actual) and _number_in(expected) == _as_decimal(actual):
        hint = " (a number, not text)"
    elif isinstance(expected, bool) != isinstance(actual, bool):
        hint = " (a boolean is no number)"
    return f"expected {show(_plain(expected))}, got {show(_plain(actual))}{hint}"


def _number_in(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _compare_mapping(expected: Mapping[object, object], actual: object, *, exact: bool) -> str | None:
    if not isinstance(actual, Mapping):
        return f"expected an object, got {show(actual)}"
    have = {_plain(k): v for k, v in actual.items()}
    for key, value in expected.items():
        got = have.pop(_plain(key), _MISSING)
        if got is _MISSING:
            near = difflib.get_close_matches(str(key), [str(k) for k in have], n=1)
            return f"{key}: missing{f' (there is {near[0]!r})' if near else ''}"
        if difference := compare(value, got, exact=exact):
            return f"{key}: {difference}"
    if exact and have:
        return f"unexpected {', '.join(map(str, have))}"
    return None


def _compare_list(expected: Sequence[object], actual: object, *, exact: bool) -> str | None:
    if not isinstance(actual, (list, tuple)):
        return f"expected a list, got {show(actual)}"
    if len(expected) != len(actual):
        return f"expected {len(expected)} items, got {len(actual)}: {show(actual)}"
    for i, (left, right) in enumerate(zip(expected, actual, strict=True), 1):
        if difference := compare(left, right, exact=exact):
            return f"item {i}: {difference}"
    return None


def _silence(checkpoint: Checkpoint, turns: Sequence[Turn]) -> Iterator[Unmet]:
    if not checkpoint.silence:
        return
    if not turns:
        yield _unmet(checkpoint.where, "silence", "a turn before it", "none", broken=True)
    elif turns[-1].said:
        said = turns[-1].said[0].text
        yield _unmet(checkpoint.where, "silence", "no message", f"{len(turns[-1].said)}: {show(said)}")


def _tools(checkpoint: Checkpoint, turns: Sequence[Turn]) -> Iterator[Unmet]:
    wanted = checkpoint.expectations
    named_tools: tuple[ToolExpectation | NamedTool, ...] = (*wanted.called, *wanted.not_called)
    if not named_tools:
        return
    if any(t.tools is None for t in turns) or not turns:
        where = named_tools[0].where
        yield _unmet(where, "tools", "a record of tool calls", "the adapter reports none", broken=True)
        return
    calls = [c for t in turns for c in t.tools or ()]
    declared = checkpoint.evidence.tools_declared
    for named in named_tools:
        if declared is not None and named.name not in declared:
            near = difflib.get_close_matches(named.name, declared, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; declared: {', '.join(declared)}"
            got = f"{named.name!r} is no tool of the target{hint}"
            yield _unmet(named.where, "tools", "a declared tool", got, broken=True)
            return
    for tool in wanted.called:
        yield from _called(tool, [c for c in calls if c.name == tool.name], calls)
    for banned in wanted.not_called:
        for call in calls:
            if call.name == banned.name:
                got = f"called with {show(_arguments(call))}"
                yield _unmet(banned.where, f"tools.not_called.{banned.name}", "no call", got)
                break


def _called(tool: ToolExpectation, same: Sequence[ToolCall], calls: Sequence[ToolCall]) -> Iterator[Unmet]:
    path = f"tools.called.{tool.name}"
    with_args = f" with {show(tool.args)}" if tool.args or tool.exact else ""
    if not same and tool.times != 0:
        others = ", ".join(dict.fromkeys(c.name for c in calls)) or "no tool at all"
        yield _unmet(tool.where, path, f"a call{with_args}", f"not called; called: {others}")
        return
    differences = [_arguments_differ(tool, c) for c in same]
    matching = differences.count(None)
    if tool.times is not None and matching != tool.times:
        wrong = next((d for d in differences if d), "")
        got = f"{matching} times{f'; another call: {wrong}' if wrong else ''}"
        yield _unmet(tool.where, path, f"{tool.times} times{with_args}", got)
    elif tool.times is None and not matching:
        yield _unmet(tool.where, path, f"a call{with_args}", str(differences[-1]))


def _arguments(call: ToolCall) -> object:
    """The arguments as an object where they are JSON text, else as given."""
    if isinstance(call.arguments, str):
        try:
            return json.loads(call.arguments)
        except ValueError:
            return call.arguments
    return call.arguments


def _arguments_differ(tool: ToolExpectation, call: ToolCall) -> str | None:
    if not tool.args and not tool.exact:
        return None
    given = _arguments(call)
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        return f"its arguments are no object: {show(call.arguments)}"
    return compare(tool.args, given, exact=tool.exact)


def _replies(wanted: RepliesExpectation | None, turns: Sequence[Turn]) -> Iterator[Unmet]:
    if wanted is None:
        return
    count = sum(len(t.said) for t in turns)
    if wanted.min is not None and count < wanted.min:
        yield _unmet(wanted.where, "replies.min", f"at least {wanted.min} messages", str(count))
    if wanted.max is not None and count > wanted.max:
        yield _unmet(wanted.where, "replies.max", f"at most {wanted.max} messages", str(count))
    if wanted.max_bubbles is not None:
        for turn in turns:
            if len(turn.said) > wanted.max_bubbles:
                expected = f"at most {wanted.max_bubbles} bubbles a turn"
                yield _unmet(wanted.where, "replies.max_bubbles", expected, f"{len(turn.said)} in turn {turn.number}")
                break


def _texts(checkpoint: Checkpoint, turns: Sequence[Turn]) -> Iterator[Unmet]:
    said = [(t.number, b.text) for t in turns for b in t.said]
    for wanted in checkpoint.expectations.text:
        hit = next(((n, text) for n, text in said if contains(text, wanted.text)), None)
        if wanted.present and hit is None:
            yield _unmet(wanted.where, "text.present", show(wanted.text), f"nowhere in {len(said)} messages")
        elif not wanted.present and hit is not None:
            got = f"turn {hit[0]}: {show(hit[1])}"
            yield _unmet(wanted.where, "text.absent", f"no {show(wanted.text)}", got)


def _state(wanted: StateExpectation, evidence: Evidence) -> Iterator[Unmet]:
    path = f"state.{wanted.path}"
    if evidence.state is None:
        yield _unmet(wanted.where, path, show(wanted.value), "the adapter reports no state", broken=True)
        return
    found, trouble = _walk(evidence.state, wanted.path)
    if trouble:
        yield _unmet(wanted.where, path, show(wanted.value), trouble)
    elif difference := compare(wanted.value, found):
        yield _unmet(wanted.where, path, show(wanted.value), difference.partition("got ")[2] or difference)


def _walk(state: object, path: str) -> tuple[object, str]:
    """The value at a dotted path, or why there is none; a key may itself hold dots."""
    current, rest = state, path
    while rest:
        if isinstance(current, Mapping):
            keys = {str(k): k for k in current}
            key = next((k for k in sorted(keys, key=len, reverse=True) if rest == k or rest.startswith(f"{k}.")), None)
            if key is None:
                head = rest.partition(".")[0]
                near = difflib.get_close_matches(head, keys, n=1)
                hint = f"; there is {near[0]!r}" if near else f"; there are: {', '.join(keys) or 'none'}"
                return None, f"nothing at {head!r}{hint}"
            current, rest = current[keys[key]], rest[len(key) + 1 :]
        elif isinstance(current, (list, tuple)):
            head, _, rest = rest.partition(".")
            if not head.isdigit() or int(head) >= len(current):
                return None, f"no item {head!r} in a list of {len(current)}"
            current = current[int(head)]
        else:
            return None, f"nothing below {show(current)}"
    return current, ""


def _sql(wanted: SqlExpectation, evidence: Evidence) -> Iterator[Unmet]:
    path = f"sql: {wanted.query}"
    result = next((r for r in evidence.sql if r.query == wanted.query), SqlResult(query="", error="it was not run"))
    expected = show(wanted.equals) if wanted.rows is None else show(wanted.rows)
    if result.error:
        yield _unmet(wanted.where, path, expected, result.error, broken=True)
    elif wanted.rows is not None:
        if difference := compare(wanted.rows, result.rows):
            yield _unmet(wanted.where, path, expected, difference)
    elif len(result.rows) != 1 or len(result.rows[0]) != 1:
        yield _unmet(wanted.where, path, expected, f"{len(result.rows)} rows: {show(result.rows[:3])}")
    elif difference := compare(wanted.equals, result.rows[0][0]):
        yield _unmet(wanted.where, path, expected, difference.partition("got ")[2])

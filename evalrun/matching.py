"""Whether expectations hold: tools, replies, text, state, SQL, silence.

Unknown is never met: what could not be looked at comes back as `broken`.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from evalrun.errors import Where
from evalrun.expectation import (
    Checkpoint,
    Evidence,
    NamedTool,
    RepliesExpectation,
    SqlExpectation,
    SqlResult,
    StateExpectation,
    TextExpectation,
    ToolExpectation,
    Unmet,
)
from evalrun.folding import visible
from evalrun.style_checks.wording import searcher
from evalrun.transcript import Observed, ToolCall, Turn
from evalrun.values import compare, decoded, difference, show


def evaluate(checkpoint: Checkpoint, turns: Sequence[Turn]) -> tuple[Unmet, ...]:
    """The expectations of a checkpoint that do not hold, over all turns from the first up to it.

    Never raises: what cannot be looked at is an `Unmet` with `broken`.
    """
    seen = [t for t in turns if t.number <= checkpoint.turn]
    wanted = checkpoint.expectations
    found = [
        *_silence(checkpoint, seen),
        *_tools(checkpoint, seen),
        *_replies(wanted.replies, seen),
        *_texts(wanted.text, seen),
        *(u for s in wanted.state for u in _state(s, checkpoint.evidence)),
        *(u for q in wanted.sql for u in _sql(q, checkpoint.evidence)),
    ]
    return tuple(replace(u, turn=checkpoint.turn) for u in found)


def _unmet(where: Where, path: str, expected: str, got: str, *, broken: bool = False) -> Unmet:
    return Unmet(path=path, expected=expected, got=got, turn=0, broken=broken, where=where)


def _times(count: int, what: str = "time") -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _near(name: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names) or 'none'}"


def _silence(checkpoint: Checkpoint, turns: Sequence[Turn]) -> Iterator[Unmet]:
    if not checkpoint.silence:
        return
    if not turns:
        yield _unmet(checkpoint.where, "silence", "a turn before it", "none", broken=True)
    elif turns[-1].said:
        said = turns[-1].said
        got = f"{_times(len(said), 'message')}: {show(said[0].text)}"
        yield _unmet(checkpoint.where, "silence", "no message", got)
    elif turns[-1].observed is Observed.TIMED_OUT:
        yield _unmet(checkpoint.where, "silence", "no message", "a turn that never settled", broken=True)


def _tools(checkpoint: Checkpoint, turns: Sequence[Turn]) -> Iterator[Unmet]:
    wanted = checkpoint.expectations
    named_tools: tuple[ToolExpectation | NamedTool, ...] = (*wanted.called, *wanted.not_called)
    if not named_tools:
        return
    if not turns or any(t.tools is None for t in turns):
        got = "the adapter reports no tool calls" if turns else "no turn was played before it"
        yield _unmet(named_tools[0].where, "tools", "a record of tool calls", got, broken=True)
        return
    declared = checkpoint.evidence.tools_declared
    unknown = [n for n in named_tools if declared is not None and n.name not in declared]
    for named in unknown:
        got = f"{named.name!r} is no tool of the target; {_near(named.name, declared or ())}"
        yield _unmet(named.where, f"tools.{named.name}", "a tool that the target declares", got, broken=True)
    if unknown:
        return
    calls = [c for t in turns for c in t.tools or ()]
    for tool in wanted.called:
        yield from _called(tool, [c for c in calls if c.name == tool.name], calls)
    for banned in wanted.not_called:
        same = [c for c in calls if c.name == banned.name]
        if same:
            got = f"called {_times(len(same))}, first with {show(decoded(same[0].arguments))}"
            yield _unmet(banned.where, f"tools.not_called.{banned.name}", "no call", got)


def _called(tool: ToolExpectation, same: Sequence[ToolCall], calls: Sequence[ToolCall]) -> Iterator[Unmet]:
    path = f"tools.called.{tool.name}"
    with_args = f" with {'exactly ' if tool.exact else ''}{show(tool.args)}" if tool.args or tool.exact else ""
    if not same and tool.times != 0:
        others = ", ".join(dict.fromkeys(c.name for c in calls)) or "no tool at all"
        expected = f"{_times(tool.times) if tool.times else 'a call'}{with_args}"
        yield _unmet(tool.where, path, expected, f"not called; called: {others}")
        return
    differences = [_arguments_differ(tool, c) for c in same]
    matching = differences.count(None)
    wrong = next((d for d in reversed(differences) if d), "")
    if tool.times is not None and matching != tool.times:
        got = f"{_times(matching)}{f'; another call: {wrong}' if wrong else ''}"
        yield _unmet(tool.where, path, f"{_times(tool.times)}{with_args}", got)
    elif tool.times is None and not matching:
        yield _unmet(tool.where, path, f"a call{with_args}", wrong)


def _arguments_differ(tool: ToolExpectation, call: ToolCall) -> str | None:
    if not tool.args and not tool.exact:
        return None
    given = {} if call.arguments is None else decoded(call.arguments)
    if not isinstance(given, Mapping):
        kind = "not valid JSON" if isinstance(given, str) else "not an object"
        return f"its arguments are {kind}: {show(call.arguments)}"
    return compare(tool.args, given, exact=tool.exact)


def _replies(wanted: RepliesExpectation | None, turns: Sequence[Turn]) -> Iterator[Unmet]:
    if wanted is None:
        return
    said = [b for t in turns for b in t.said]
    seen = sum(b.kind != "text" or bool(visible(b.text)) for b in said)
    if wanted.min is not None and seen < wanted.min:
        yield _unmet(wanted.where, "replies.min", f"at least {_times(wanted.min, 'message')}", str(seen))
    if wanted.max is not None and len(said) > wanted.max:
        yield _unmet(wanted.where, "replies.max", f"at most {_times(wanted.max, 'message')}", str(len(said)))
    if wanted.max_bubbles is not None:
        for turn in turns:
            most = max(Counter(b.to for b in turn.said).values(), default=0)
            if most > wanted.max_bubbles:
                expected = f"at most {_times(wanted.max_bubbles, 'bubble')} a turn to one person"
                yield _unmet(wanted.where, "replies.max_bubbles", expected, f"{most} in turn {turn.number}")
                break


def _texts(wanted: Sequence[TextExpectation], turns: Sequence[Turn]) -> Iterator[Unmet]:
    said = [(t.number, b.text) for t in turns for b in t.said]
    for one in wanted:
        path = f"text.{'present' if one.present else 'absent'}"
        try:
            search = searcher(one.text, addresses=True)
        except ValueError as e:
            yield _unmet(one.where, path, show(one.text), f"it cannot be looked for: {e}", broken=True)
            continue
        hit = next(((n, quote, text) for n, text in said for _, quote in search(text)), None)
        if one.present and hit is None:
            yield _unmet(one.where, path, show(one.text), f"nowhere in {_times(len(said), 'message')}")
        elif not one.present and hit is not None:
            yield _unmet(one.where, path, f"no {show(one.text)}", f"{show(hit[1])} in turn {hit[0]}: {show(hit[2])}")


def _state(wanted: StateExpectation, evidence: Evidence) -> Iterator[Unmet]:
    path = f"state.{wanted.path}"
    if evidence.state is None:
        yield _unmet(wanted.where, path, show(wanted.value), "the adapter reports no state", broken=True)
        return
    found, trouble = _walk(evidence.state, wanted.path)
    if trouble:
        yield _unmet(wanted.where, path, show(wanted.value), trouble)
    elif unlike := difference(wanted.value, found):
        yield _unmet(wanted.where, path, show(wanted.value), unlike.got)


def _walk(state: object, path: str) -> tuple[object, str]:
    """The value at a dotted path, or why there is none; a key may itself hold dots."""
    if not path:
        return state, ""
    head, _, rest = path.partition(".")
    if isinstance(state, (list, tuple)):
        if not head.isdecimal() or int(head) >= len(state):
            return None, f"nothing at {head!r} in a list of {len(state)}"
        return _walk(state[int(head)], rest)
    if not isinstance(state, Mapping):
        return None, f"nothing at {head!r}: {show(state)} has no parts"
    keys = {str(k): k for k in state}
    trouble = ""
    for key in sorted(keys, key=len, reverse=True):
        if path == key or path.startswith(f"{key}."):
            found, why = _walk(state[keys[key]], path[len(key) + 1 :])
            if not why:
                return found, ""
            trouble = trouble or why
    return None, trouble or f"nothing at {head!r}; {_near(head, keys)}"


def _sql(wanted: SqlExpectation, evidence: Evidence) -> Iterator[Unmet]:
    path = f"sql: {wanted.query}"
    result = next((r for r in evidence.sql if r.query == wanted.query), SqlResult(query="", error="it was not run"))
    expected = show(wanted.equals) if wanted.rows is None else show(wanted.rows)
    if result.error:
        yield _unmet(wanted.where, path, expected, result.error, broken=True)
    elif wanted.rows is not None:
        if unlike := compare(wanted.rows, result.rows):
            yield _unmet(wanted.where, path, expected, f"{unlike}; rows: {show(result.rows)}")
    elif len(result.rows) != 1 or len(result.rows[0]) != 1:
        columns = f" of {len(result.rows[0])} columns" if result.rows else ""
        got = f"{_times(len(result.rows), 'row')}{columns}: {show(result.rows[:3])}"
        yield _unmet(wanted.where, path, f"one value, {expected}", got)
    else:
        value = result.rows[0][0]
        structured = isinstance(wanted.equals, (Mapping, list, tuple))
        if unlike_value := difference(wanted.equals, decoded(value) if structured else value):
            yield _unmet(wanted.where, path, expected, unlike_value.got)

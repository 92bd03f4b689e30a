"""A transcript as data for a judge: one JSON value a turn, between fences nobody could foresee.

Inside a JSON string no line can begin, so that a role line written by an agent stays inside its
bubble; marks that chat templates take for control tokens are escaped too. What was not said or
not returned is left out, never shown as `null`.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from evalrun.transcript import Bubble, InboundKind, Opening, ToolCall, Transcript, Turn

_CONTROL = re.compile(
    r"<|\[(?=/?[A-Z_]+\])|[\x7f-\x9f\u2028\u2029]"
    # hidden text, such as tags that only a model reads, and overrides of the reading direction: shown as what they are
    r"|[\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\U000e0000-\U000e007f]"
)
_DEEPEST = 12


def dumped(value: object) -> str:
    """Compact JSON on one line that holds no line break, no control token, nothing hidden and nothing unsendable."""
    text = json.dumps(_plain(value, _DEEPEST), ensure_ascii=False, separators=(",", ":"))
    text = _CONTROL.sub(_escaped, text)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _escaped(found: re.Match[str]) -> str:
    """The character in JSON's notation, two halves where it takes two."""
    return re.sub("(.{4})", r"\\u\1", found.group().encode("utf-16-be").hex())


def fresh_mark() -> str:
    """A mark for the fences of a transcript.

    Drawn after the conversation has ended, so that nothing in it can hold the mark; one for all
    calls of a trial, so that vendors cache the shared beginning of its transcripts.
    """
    return secrets.token_hex(4)


def fenced(lines: Iterable[str], mark: str) -> str:
    """JSON values as one list between two lines that carry the mark."""
    return "\n".join([f"BEGIN {mark}", "[" + ",\n".join(lines) + "]", f"END {mark}"])


def turn_lines(transcript: Transcript, turns: Sequence[Turn], persona: str) -> list[str]:
    """Each turn as one line of JSON. `persona` is the participant the agent talks with."""
    return [dumped(_turn(t, transcript.names, persona)) for t in turns]


def spoken(turns: Sequence[Turn]) -> str:
    """What the agent said and did in some turns, as one text in which quotes are looked for."""
    parts: list[str] = []
    for turn in turns:
        parts += [b.text for b in turn.said]
        for call in turn.tools or ():
            parts += [call.name, *(dumped(p) for p in (call.arguments, call.result, call.error) if p is not None)]
    return "\n".join(parts)


def _turn(turn: Turn, names: Mapping[str, str], persona: str) -> dict[str, object]:
    found: dict[str, object] = {"turn": turn.number, **_opening(turn.opening, names, persona)}
    if turn.tools:
        found["tools"] = [_call(c) for c in turn.tools]
    if turn.routes:
        found["handed_to"] = [r.destination for r in turn.routes]
    found["agent"] = [_bubble(b, names, persona) for b in turn.said]
    return found


def _opening(opening: Opening, names: Mapping[str, str], persona: str) -> dict[str, object]:
    if opening.kind is InboundKind.EVENT:
        return {"event": opening.event, "data": opening.data} if opening.data else {"event": opening.event}
    if opening.kind is InboundKind.TIME:
        return {"time_passes": str(timedelta(seconds=round(opening.seconds)))}
    if opening.sender not in ("", persona):
        return {"from": names.get(opening.sender, opening.sender), "user": opening.text}
    return {"user": opening.text}


def _bubble(bubble: Bubble, names: Mapping[str, str], persona: str) -> object:
    extra: dict[str, object] = {}
    if bubble.to not in ("", persona):
        extra["to"] = names.get(bubble.to, bubble.to)
    if bubble.kind != "text":
        extra["kind"] = bubble.kind
    return {**extra, "text": bubble.text} if extra else bubble.text


def _call(call: ToolCall) -> dict[str, object]:
    parts = {"name": call.name, "arguments": call.arguments, "result": call.result, "error": call.error}
    return {k: v for k, v in parts.items() if v is not None}


def _plain(value: object, deep: int) -> object:
    """The value in JSON's own types; what has none is shown as text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if deep == 0:
        return "…"
    if isinstance(value, Mapping):
        return {str(k): _plain(v, deep - 1) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(v, deep - 1) for v in value]
    return value.isoformat() if isinstance(value, datetime) else str(value)

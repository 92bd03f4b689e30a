"""The one JSON object in a model's answer, found strictly: for judges, and for simulated users.

First the whole text is read as JSON. Only when that fails are a byte order mark and leading
reasoning blocks removed and a JSON decoder tried at each brace or bracket that is not inside a
value already read; exactly one object with the expected keys must remain. Duplicate keys, NaN
and Infinity are refused. Keys compare after NFC and case folding.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import NoReturn

LONGEST_ANSWER = 200_000

_REASONING = re.compile(r"\s*<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_REASONING_OPEN = re.compile(r"\s*<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_REASONING_END = re.compile(r"[^{\[]*?</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_STARTS = re.compile(r"[{\[]")


class Unreadable(ValueError):
    """An answer that cannot be used; its text names the fault, fit to be shown to the model."""


class _Refused(ValueError):
    """Well-formed for a lenient reader and never acceptable: a duplicate key, NaN, Infinity."""


def key_of(name: str) -> str:
    """The form in which keys compare."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def only_object(text: str, names: Sequence[str]) -> dict[str, object]:
    """The one object with the keys `names` (in the form of `key_of`, as are all keys of the result).

    When the answer is a single object it is returned whatever its keys, so that the caller can
    name what is missing. Raises Unreadable.
    """
    if len(text) > LONGEST_ANSWER:
        raise Unreadable(f"the answer has {len(text)} characters")
    try:
        whole = _DECODER.decode(text)
    except _Refused as e:
        raise Unreadable(str(e)) from e
    except (ValueError, RecursionError):
        return _chosen(_objects(_without_reasoning(text)), names)
    if not isinstance(whole, dict):
        raise Unreadable(f"expected one JSON object, got {kind_of(whole)}")
    return whole


def kind_of(value: object) -> str:
    """A JSON value in a few characters, for messages."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return json.dumps(value, ensure_ascii=False)[:40]


def _chosen(objects: Sequence[dict[str, object]], names: Sequence[str]) -> dict[str, object]:
    fitting = [o for o in objects if o.keys() >= set(names)]
    if len(fitting) > 1:
        raise Unreadable(f"{len(fitting)} objects with the expected keys: give exactly one")
    if fitting:
        return fitting[0]
    if len(objects) == 1:
        return objects[0]
    raise Unreadable(f"no JSON object with the keys {', '.join(names)}")


def _objects(text: str) -> list[dict[str, object]]:
    """All objects of a text that are not inside another value."""
    found: list[dict[str, object]] = []
    at = 0
    while (start := _STARTS.search(text, at)) is not None:
        at = start.start()
        try:
            value, at = _DECODER.raw_decode(text, at)
        except _Refused as e:
            raise Unreadable(str(e)) from e
        except json.JSONDecodeError as e:
            # what the decoder had read until there belongs to the broken value: no object inside it counts
            at = max(at + 1, e.pos)
        except (ValueError, RecursionError) as e:
            raise Unreadable("the answer is nested too deep or holds a number too long") from e
        else:
            if isinstance(value, dict):
                found.append(value)
    return found


def _without_reasoning(text: str) -> str:
    """The text without a byte order mark and without reasoning blocks before the answer."""
    rest = text.removeprefix("\ufeff")
    while (block := _REASONING.match(rest)) is not None:
        rest = rest[block.end() :]
    if _REASONING_OPEN.match(rest) is not None:
        raise Unreadable("only reasoning, no answer")
    end = _REASONING_END.match(rest)
    return rest[end.end() :] if end is not None else rest


def _pairs(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        key = key_of(name)
        if key in found:
            raise _Refused(f"duplicate key {name[:40]!r}")
        found[key] = value
    return found


def _constant(name: str) -> NoReturn:
    raise _Refused(f"{name} is not a number")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)

"""Reading what a model judge answered: pure code, no call, no default, no digit fished from prose.

First the whole text is read as JSON. Only when that fails are a byte order mark and leading
reasoning blocks removed and a JSON decoder tried at each brace or bracket that is not inside a
value already read; exactly one object with the expected keys must remain. Keys compare after NFC
and case folding. Everything that is refused is an `Unreadable` whose text names the fault, fit to
be shown to the judge when it is asked again.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from evalrun.folding import fold

PARSER_VERSION = "1"
"""Part of every ruler: raise it when an answer would be read differently."""

LONGEST_ANSWER = 200_000
HARMLESS = frozenset(
    {"reason", "reasons", "reasoning", "explanation", "comment", "pass", "passed", "verdict", "overall", "mean"}
)
"""Keys of the judge's own that may stand beside the scores; they are never used as a score."""

_REASONING = re.compile(r"\s*<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_REASONING_OPEN = re.compile(r"\s*<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_REASONING_END = re.compile(r"[^{\[]*?</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_DIGITS = re.compile(r"10|[1-9]")
_STARTS = re.compile(r"[{\[]")
_CLAIMS: Mapping[str, bool] = {"pass": True, "passed": True, "fail": False, "failed": False}


class Unreadable(ValueError):
    """An answer that cannot be used; its text names the fault."""


class Doubtful(Unreadable):
    """An answer that can be read but is worth one more question; `value` stands when it comes again."""

    def __init__(self, fault: str, value: ReadCheck) -> None:
        super().__init__(fault)
        self.value = value


class _Refused(ValueError):
    """Well-formed for a lenient reader and never acceptable: a duplicate key, NaN, Infinity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One criterion of one answer. `value` is an integer from 1 to 10."""

    criterion: str
    value: int
    reason: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadScores:
    """A scored answer. `claimed` is the judge's own pass or fail, which decides nothing."""

    marks: tuple[Mark, ...]
    claimed: bool | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCheck:
    """An answer to a check. `claimed`: the judge sees a violation; `violated`: and code found its quote."""

    violated: bool
    claimed: bool
    quote: str
    reason: str


def key_of(name: str) -> str:
    """The form in which keys and criteria compare."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def read_scores(text: str, criteria: Sequence[str]) -> ReadScores:
    """The scores of an answer, in the order of `criteria`.

    Two forms are read: a block `{quote, reason, score}` for each criterion, or the bare number.
    Raises Unreadable.
    """
    expected = {key_of(c): c for c in criteria}
    found = _only_object(text, lambda keys: expected.keys() <= keys, list(expected))
    missing = [name for key, name in expected.items() if key not in found]
    if missing:
        raise Unreadable(f"missing: {', '.join(missing)}")
    unknown = sorted(found.keys() - expected.keys() - HARMLESS)
    if unknown:
        raise Unreadable(f"unexpected: {', '.join(unknown)}")
    warnings: list[str] = []
    marks = [_mark(name, found[key], warnings) for key, name in expected.items()]
    shared = found.get("reason")
    if isinstance(shared, str) and "reason" not in expected:
        marks = [m if m.reason else _with_reason(m, shared) for m in marks]
    extras = {k: v for k, v in found.items() if k not in expected}
    return ReadScores(marks=tuple(marks), claimed=_claimed(extras), warnings=tuple(warnings))


def quoted_in(quote: str, words: str) -> bool:
    """Whether a quote stands in some words: whole words, after folding both; an empty quote never does."""
    wanted, text = fold(quote), fold(words)
    if not wanted:
        return False
    before = r"(?<!\w)" if wanted[0].isalnum() else ""
    after = r"(?!\w)" if wanted[-1].isalnum() else ""
    return re.search(before + re.escape(wanted) + after, text) is not None


def read_check(text: str, words: str) -> ReadCheck:
    """The answer to a check of what the agent said (`words`).

    Raises Unreadable, also for `not violated` without a reason; Doubtful for a violation whose
    quote is not in the words.
    """
    expected = ("applies", "quote", "reason", "shown_compliant")
    found = _only_object(text, lambda keys: keys >= set(expected), expected)
    missing = [k for k in expected if k not in found]
    if missing:
        raise Unreadable(f"missing: {', '.join(missing)}")
    unknown = sorted(found.keys() - set(expected) - HARMLESS)
    if unknown:
        raise Unreadable(f"unexpected: {', '.join(unknown)}")
    applies, compliant = _boolean("applies", found), _boolean("shown_compliant", found)
    quote, reason = _string("quote", found), _string("reason", found)
    if not reason and (compliant or not applies):
        raise Unreadable("reason is empty: say why the rule is not broken")
    claimed = applies and not compliant
    found = claimed and quoted_in(quote, words)
    read = ReadCheck(violated=found, claimed=claimed, quote=quote, reason=reason)
    if claimed and not found:
        raise Doubtful("the agent did not say what quote says: copy its words, or say that the rule is kept", read)
    return read


# ------------------------------------------------------------------ finding the object


def _only_object(text: str, fits: Callable[[frozenset[str]], bool], names: Sequence[str]) -> dict[str, object]:
    """The one object of an answer, its keys in the form of `key_of`."""
    if len(text) > LONGEST_ANSWER:
        raise Unreadable(f"the answer has {len(text)} characters")
    try:
        whole = _DECODER.decode(text)
    except _Refused as e:
        raise Unreadable(str(e)) from e
    except (ValueError, RecursionError):
        return _searched(_without_reasoning(text), fits, names)
    if not isinstance(whole, dict):
        raise Unreadable(f"expected one JSON object, got {_kind(whole)}")
    return whole


def _searched(text: str, fits: Callable[[frozenset[str]], bool], names: Sequence[str]) -> dict[str, object]:
    found: list[dict[str, object]] = []
    others: list[dict[str, object]] = []
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
                (found if fits(frozenset(value)) else others).append(value)
    if len(found) > 1:
        raise Unreadable(f"{len(found)} objects with the expected keys: give exactly one")
    if not found and len(others) == 1:
        return others[0]
    if not found:
        raise Unreadable(f"no JSON object with the keys {', '.join(names)}")
    return found[0]


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
            raise _Refused(f"duplicate key {name!r}")
        found[key] = value
    return found


def _constant(name: str) -> NoReturn:
    raise _Refused(f"{name} is not a number")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)

# ------------------------------------------------------------------ reading values


def _mark(criterion: str, value: object, warnings: list[str]) -> Mark:
    if not isinstance(value, Mapping):
        return Mark(criterion=criterion, value=_score(criterion, value, warnings))
    if "score" not in value:
        raise Unreadable(f"missing: score of {criterion}")
    unknown = sorted(value.keys() - {"quote", "reason", "score"})
    if unknown:
        raise Unreadable(f"unexpected in {criterion}: {', '.join(unknown)}")
    score = _score(criterion, value["score"], warnings)
    reason, quote = (_string(k, value) if k in value else "" for k in ("reason", "quote"))
    return Mark(criterion=criterion, value=score, reason=reason, quote=quote)


def _score(criterion: str, value: object, warnings: list[str]) -> int:
    """An integer from 1 to 10: 8, 8.0 or 1e1; the text "8" with a warning; nothing else."""
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        warnings.append(f"{criterion} was given as text ({value!r})")
        return int(value)
    whole = (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, float) and math.isfinite(value) and value.is_integer()
    )
    if not (whole and isinstance(value, (int, float)) and 1 <= value <= 10):
        raise Unreadable(f"{criterion} must be an integer from 1 to 10, got {_kind(value)}")
    return int(value)


def _with_reason(mark: Mark, reason: str) -> Mark:
    return Mark(criterion=mark.criterion, value=mark.value, reason=reason, quote=mark.quote)


def _boolean(name: str, found: Mapping[str, object]) -> bool:
    value = found[name]
    if not isinstance(value, bool):
        raise Unreadable(f"{name} must be true or false, got {_kind(value)}")
    return value


def _string(name: str, found: Mapping[str, object]) -> str:
    value = found[name]
    if not isinstance(value, str):
        raise Unreadable(f"{name} must be a text, got {_kind(value)}")
    return value.strip()


def _claimed(extras: Mapping[str, object]) -> bool | None:
    """The judge's own pass or fail, when it gives one that is not contradictory in itself."""
    said = set()
    for name in ("pass", "passed", "verdict", "overall"):
        value = extras.get(name)
        if isinstance(value, bool):
            said.add(value)
        elif isinstance(value, str) and value.strip().casefold() in _CLAIMS:
            said.add(_CLAIMS[value.strip().casefold()])
    return said.pop() if len(said) == 1 else None


def _kind(value: object) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return json.dumps(value, ensure_ascii=False)[:40]

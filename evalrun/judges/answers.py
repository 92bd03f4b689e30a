"""Reading what a model judge answered: pure code, no call, no default, no digit fished from prose.

Everything that is refused is an `Unreadable` whose text names the fault, fit to be shown to the
judge when it is asked again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evalrun.folding import fold
from evalrun.json_object import Unreadable, key_of, kind_of, only_object

PARSER_VERSION = "1"
"""Part of every ruler: raise it when an answer would be read differently."""

HARMLESS = frozenset(
    {"reason", "reasons", "reasoning", "explanation", "comment", "pass", "passed", "verdict", "overall", "mean"}
)
"""Keys of the judge's own that may stand beside the scores; they are never used as a score."""

_DIGITS = re.compile(r"10|[1-9]")
_CLAIMS: Mapping[str, bool] = {"pass": True, "passed": True, "fail": False, "failed": False}


class Doubtful(Unreadable):
    """An answer that can be read but is worth one more question; `value` stands when it comes again."""

    def __init__(self, fault: str, value: ReadCheck) -> None:
        super().__init__(fault)
        self.value = value


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One criterion of one answer. `value` is an integer from 1 to 10.

    `given`: all values in the order asked, where it was asked again; `value` is then their median.
    """

    criterion: str
    value: int
    reason: str = ""
    quote: str = ""
    given: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadScores:
    """A scored answer. `claimed` is the judge's own pass or fail, which decides nothing."""

    marks: tuple[Mark, ...]
    claimed: bool | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCheck:
    """An answer to a check. `claimed`: the judge sees a violation; `violated`: and code found its quote.

    `given`: every `violated` in the order asked, where it was asked again; most of them decide.
    """

    violated: bool
    claimed: bool
    quote: str
    reason: str
    given: tuple[bool, ...] = ()


def read_scores(text: str, criteria: Sequence[str]) -> ReadScores:
    """The scores of an answer, in the order of `criteria`.

    Two forms are read: a block `{quote, reason, score}` for each criterion, or the bare number.
    Raises Unreadable.
    """
    expected = {key_of(c): c for c in criteria}
    found = _exactly(text, expected)
    warnings: list[str] = []
    marks = [_mark(name, found[key], warnings) for key, name in expected.items()]
    shared = found.get("reason")
    if isinstance(shared, str) and "reason" not in expected:
        marks = [m if m.reason else replace(m, reason=shared) for m in marks]
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
    found = _exactly(text, {k: k for k in ("applies", "quote", "reason", "shown_compliant")})
    applies, compliant = _boolean("applies", found), _boolean("shown_compliant", found)
    quote, reason = _string("quote", found), _string("reason", found)
    if not reason and (compliant or not applies):
        raise Unreadable("reason is empty: say why the rule is not broken")
    claimed = applies and not compliant
    violated = claimed and quoted_in(quote, words)
    read = ReadCheck(violated=violated, claimed=claimed, quote=quote, reason=reason)
    if claimed and not violated:
        raise Doubtful("the agent did not say what quote says: copy its words, or say that the rule is kept", read)
    return read


# ------------------------------------------------------------------ reading values


def _exactly(text: str, expected: Mapping[str, str]) -> Mapping[str, object]:
    """The one object that has all expected keys and beside them only harmless ones."""
    found = only_object(text, list(expected))
    missing = [name for key, name in expected.items() if key not in found]
    if missing:
        raise Unreadable(f"missing: {', '.join(missing)}")
    unknown = sorted(found.keys() - expected.keys() - HARMLESS)
    if unknown:
        raise Unreadable(f"unexpected: {_named(unknown)}")
    return found


def _named(keys: Sequence[str]) -> str:
    """Keys of an answer, short enough to be shown to the judge again."""
    shown = ", ".join(" ".join(k[:40].split()) for k in keys[:5])
    return shown if len(keys) <= 5 else f"{shown} and {len(keys) - 5} more"


def _mark(criterion: str, value: object, warnings: list[str]) -> Mark:
    if not isinstance(value, Mapping):
        return Mark(criterion=criterion, value=_score(criterion, value, warnings))
    if "score" not in value:
        raise Unreadable(f"missing: score of {criterion}")
    unknown = sorted(value.keys() - {"quote", "reason", "score"})
    if unknown:
        raise Unreadable(f"unexpected in {criterion}: {_named(unknown)}")
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
        raise Unreadable(f"{criterion} must be an integer from 1 to 10, got {kind_of(value)}")
    return int(value)


def _boolean(name: str, found: Mapping[str, object]) -> bool:
    value = found[name]
    if not isinstance(value, bool):
        raise Unreadable(f"{name} must be true or false, got {kind_of(value)}")
    return value


def _string(name: str, found: Mapping[str, object]) -> str:
    value = found[name]
    if not isinstance(value, str):
        raise Unreadable(f"{name} must be a text, got {kind_of(value)}")
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

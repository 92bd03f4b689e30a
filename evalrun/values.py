"""Whether two values are the same: numbers by value, text by its composed form, true is not 1.

Here are plain values only; what is expected of a conversation is in `matching.py`.
"""

from __future__ import annotations

import difflib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from enum import Enum
from uuid import UUID

LONGEST_SHOWN = 160
_MISSING = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Where two values part: the path inside them ("" for the whole), what was expected there, what was found."""

    path: str = ""
    expected: str
    found: str

    @property
    def got(self) -> str:
        """What was found, with its path."""
        return f"{self.path}: expected {self.expected}, got {self.found}" if self.path else self.found

    def __str__(self) -> str:
        """The whole difference in words."""
        return f"{f'{self.path}: ' if self.path else ''}expected {self.expected}, got {self.found}"


def compare(expected: object, actual: object, *, exact: bool = False) -> str | None:
    """None when `actual` is what was expected, else a readable difference with a hint on types.

    Mappings are compared as subsets unless `exact`; lists by position and length.
    """
    found = difference(expected, actual, exact=exact)
    return str(found) if found else None


def difference(expected: object, actual: object, *, exact: bool = False, path: str = "") -> Difference | None:
    """Where `actual` first differs from what was expected; None when it does not."""
    left, right = _plain(expected), _plain(actual)
    if isinstance(left, Mapping):
        return _in_mapping(left, right, exact=exact, path=path)
    if isinstance(left, (list, tuple)):
        return _in_list(left, right, exact=exact, path=path)
    if _same(left, right):
        return None
    return Difference(path=path, expected=show(left), found=f"{show(right)}{_hint(left, right)}")


def decoded(value: object) -> object:
    """What a JSON text says; any other value, and text that is no JSON, as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def show(value: object) -> str:
    """A value as JSON on one line, cut at 160 characters; what JSON cannot say, as Python says it."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=_shown)
    except (TypeError, ValueError, RecursionError):
        text = f"a {type(value).__name__} that cannot be shown" if isinstance(value, (int, float)) else repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def _shown(value: object) -> object:
    plain = _plain(value)
    if isinstance(plain, Decimal):
        near = float(plain)
        return near if plain.is_finite() and _as_decimal(near) == plain else str(plain)
    if isinstance(plain, date):
        return plain.isoformat()
    return repr(plain) if plain is value else plain


def _plain(value: object) -> object:
    """Text composed; a member of an enumeration as its value; an identifier as text."""
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, str):
        return unicodedata.normalize("NFC", str.__str__(value))
    return str(value) if isinstance(value, UUID) else value


def _same(left: object, right: object) -> bool:
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return left is right
    if _is_number(left) and _is_number(right):
        return _as_decimal(left) == _as_decimal(right)
    if isinstance(right, date) and isinstance(left, str):
        return _same_moment(left, right)
    if isinstance(left, date) and isinstance(right, str):
        return _same_moment(right, left)
    return type(left) is type(right) and bool(left == right)


def _same_moment(text: str, moment: date) -> bool:
    """Whether a text names a date or an instant, in ISO form; a time zone must be on both sides or on none."""
    try:
        if not isinstance(moment, datetime):
            return date.fromisoformat(text) == moment
        return datetime.fromisoformat(text) == moment
    except ValueError:
        return False


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def _as_decimal(value: object) -> Decimal:
    return Decimal(float.__repr__(value)) if isinstance(value, float) else Decimal(value)  # type: ignore[arg-type]


def _hint(left: object, right: object) -> str:
    if _is_number(left) and isinstance(right, str) and _number_in(right) == _as_decimal(left):
        return " (a text, not a number)"
    if isinstance(left, str) and _is_number(right) and _number_in(left) == _as_decimal(right):
        return " (a number, not a text)"
    if isinstance(right, bool) and not isinstance(left, bool):
        return " (a boolean)"
    if isinstance(left, bool) and not isinstance(right, bool):
        return f" (a {'text' if isinstance(right, str) else 'value'}, not a boolean)"
    return ""


def _number_in(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _in_mapping(expected: Mapping[object, object], actual: object, *, exact: bool, path: str) -> Difference | None:
    if not isinstance(actual, Mapping):
        return Difference(path=path, expected=f"an object {show(expected)}", found=show(actual))
    have = {_plain(k): v for k, v in actual.items()}
    for key, value in expected.items():
        below = f"{path}.{key}" if path else str(key)
        got = have.pop(_plain(key), _MISSING)
        if got is _MISSING:
            near = difflib.get_close_matches(str(key), [str(k) for k in have], n=1)
            hint = f" (there is {near[0]!r})" if near else ""
            return Difference(path=below, expected=show(value), found=f"nothing{hint}")
        if found := difference(value, got, exact=exact, path=below):
            return found
    if exact and have:
        extra = ", ".join(f"{k}: {show(v)}" for k, v in have.items())
        return Difference(path=path, expected="nothing else", found=extra)
    return None


def _in_list(expected: Sequence[object], actual: object, *, exact: bool, path: str) -> Difference | None:
    if not isinstance(actual, (list, tuple)):
        return Difference(path=path, expected=f"a list {show(expected)}", found=show(actual))
    if len(expected) != len(actual):
        items = f"{len(actual)} item{'' if len(actual) == 1 else 's'}"
        return Difference(path=path, expected=f"{len(expected)} items", found=f"{items}: {show(actual)}")
    for i, (left, right) in enumerate(zip(expected, actual, strict=True)):
        if found := difference(left, right, exact=exact, path=f"{path}[{i}]"):
            return found
    return None

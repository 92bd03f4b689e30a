"""Two ways text is changed before it leaves the process: secrets hidden, unstorable characters shown."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar
from urllib.parse import unquote, urlsplit

HIDDEN = "***"
SHORTEST_SECRET = 6
LONGEST_TEXT = 200_000
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS?)(?:$|_)", re.IGNORECASE
)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
T = TypeVar("T")


class Redactor:
    """Replaces known secret values; values under six characters are no pattern, so that reports stay readable."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        usable = sorted({s for s in secrets if len(s) >= SHORTEST_SECRET}, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, usable))) if usable else None

    @classmethod
    def from_environ(cls, environ: Mapping[str, str], urls: Iterable[str] = ()) -> Redactor:
        """The values of secret-looking variables, and the passwords inside URLs, raw and decoded."""
        found: list[str] = [v for k, v in environ.items() if _SECRET_NAME.search(k)]
        for text in (*environ.values(), *urls):
            found += _passwords(text)
        return cls(found)

    def text(self, text: str) -> str:
        """The text with every known secret replaced by `***`."""
        return self._pattern.sub(HIDDEN, text) if self._pattern else text

    def value(self, value: T) -> T:
        """The same value with secrets hidden in every text inside it."""
        return map_text(value, self.text) if self._pattern else value


def _passwords(text: str) -> list[str]:
    if "://" not in text or "@" not in text:
        return []
    try:
        raw = urlsplit(text.strip()).password
    except ValueError:
        return []
    return [raw, unquote(raw)] if raw else []


def sanitise(text: str) -> tuple[str, bool]:
    """A text that every store takes, and whether anything was changed.

    NUL becomes U+2400, half a surrogate U+FFFD; over 200,000 characters the rest is cut visibly.
    """
    clean = text
    if len(clean) > LONGEST_TEXT:
        clean = f"{clean[:LONGEST_TEXT]}… [{len(clean) - LONGEST_TEXT} characters cut]"
    if _UNSTORABLE.search(clean):
        clean = _UNSTORABLE.sub(lambda m: "␀" if m.group() == "\x00" else "�", clean)
    return clean, clean is not text


def sanitise_value(value: T) -> T:
    """The same value with every text inside it sanitised."""
    return map_text(value, lambda text: sanitise(text)[0])


def map_text(value: T, change: Callable[[str], str]) -> T:
    """Apply `change` to every text in dataclasses, mappings, tuples and lists; the same object if nothing changed."""
    return _mapped(value, change)  # type: ignore[return-value]


def _mapped(value: object, change: Callable[[str], str]) -> object:
    if type(value) is str:
        return change(value)
    if isinstance(value, Mapping):
        pairs = [(_mapped(k, change), _mapped(v, change)) for k, v in value.items()]
        same = all(a is k and b is v for (a, b), (k, v) in zip(pairs, value.items(), strict=True))
        return value if same else dict(pairs)
    if isinstance(value, (tuple, list)):
        items = [_mapped(v, change) for v in value]
        if all(a is b for a, b in zip(items, value, strict=True)):
            return value
        return type(value)(items)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changed = {}
        for f in dataclasses.fields(value):
            old = getattr(value, f.name)
            new = _mapped(old, change)
            if new is not old:
                changed[f.name] = new
        return dataclasses.replace(value, **changed) if changed else value
    return value

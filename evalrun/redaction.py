"""Two ways text is changed before it leaves the process: secrets hidden, unstorable characters shown."""

from __future__ import annotations

import dataclasses
import functools
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar
from urllib.parse import quote, quote_plus, unquote, urlsplit

HIDDEN = "***"
SHORTEST_SECRET = 6
LONGEST_TEXT = 200_000
LONG_LINE = 16
_SECRET_NAME = re.compile(
    r"(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIALS?|TOKEN|API_?KEY|(?:^|_)(?:KEY|PASS|PAT)|_PWD)(?:$|_|\d)|_AUTH$",
    re.IGNORECASE,
)
_URL_PASSWORD = re.compile(r"://[^\s:/@]{0,200}:([^\s/@]{1,500})@")
_URL_TOKEN = re.compile(r"https?://([^\s:/@]{1,500})@")
_DSN_PASSWORD = re.compile(
    r"\b(?:ssl)?password\s{0,9}=\s{0,9}(?:'((?:[^'\\]|\\.){1,500})'|([^\s'&]{1,500}))", re.IGNORECASE
)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_PLAIN = frozenset({int, float, bool, type(None)})
T = TypeVar("T")


class Redactor:
    """Replaces known secret values; values under six characters are no pattern, so that reports stay readable."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for s in secrets for form in _forms(s)}
        usable = sorted((f for f in forms if len(f) >= SHORTEST_SECRET), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, usable))) if usable else None

    @classmethod
    def from_environ(cls, environ: Mapping[str, str], urls: Iterable[str] = ()) -> Redactor:
        """The values of secret-looking variables, and the passwords inside all values and `urls`.

        Each is hidden as written, URL-decoded and URL-encoded; of a value of several lines, each
        line that is long enough.
        """
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

    def clean(self, value: T) -> T:
        """The same value as it may leave the process: every text inside it sanitised, then without secrets."""
        return map_text(value, lambda text: self.text(sanitise(text)[0]))


def _passwords(text: str) -> list[str]:
    """The passwords in URLs and in `key=value` connection strings; of a web address also a user alone."""
    quoted = [a or b for a, b in _DSN_PASSWORD.findall(text)]
    return [*_url_passwords(text), *_URL_TOKEN.findall(text), *quoted]


def _url_passwords(text: str) -> list[str]:
    found: list[str] = _URL_PASSWORD.findall(text)
    if "://" in text and "@" in text:
        try:
            found.append(urlsplit(text.strip()).password or "")
        except ValueError:
            return found  # no URL after all; what looked like one has been taken above
    return found


def _forms(secret: str) -> set[str]:
    """A secret as it may turn up: as written, decoded, encoded, line by line."""
    plain = secret.strip()
    lines = [line.strip() for line in plain.splitlines()]
    long = [line for line in lines if len(line) >= LONG_LINE] if len(lines) > 1 else []
    return {
        plain,
        unquote(plain),
        quote(plain, safe="", errors="replace"),
        quote_plus(plain, safe="", errors="replace"),
        *long,
    }


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
    """Apply `change` to every text in dataclasses, mappings, tuples, lists and sets; the same object if nothing changed.

    A text that is there many times, as a history in all its requests, is looked at once.
    """
    changed = {text: new for text in _texts(value) if (new := change(text)) != text}
    return _mapped(value, changed) if changed else value  # type: ignore[return-value]


def _texts(value: object) -> set[str]:
    """Every text inside a value."""
    found: set[str] = set()
    seen: dict[int, object] = {}  # what a mapping makes as it is read is kept: its identity must not come again
    left: list[Iterable[Any]] = [(value,)]
    while left:
        for one in left.pop():
            kind = type(one)
            if kind is str:
                found.add(one)
                continue
            shape = None if kind in _PLAIN else _shape(kind)  # type: ignore[arg-type]
            if shape is None or id(one) in seen:
                continue
            seen[id(one)] = one
            if shape is dict:
                left += (one, one.values())
            else:
                left.append(one if shape in (list, set) else [getattr(one, name) for name in shape])
    return found


def _mapped(value: object, changed: Mapping[str, str]) -> object:
    kind = type(value)
    if kind is str:
        return changed.get(value, value)  # type: ignore[call-overload]
    shape = _shape(kind)  # type: ignore[arg-type]
    if shape is None:
        return value
    if shape is dict:
        pairs = [(k, v, _mapped(k, changed), _mapped(v, changed)) for k, v in value.items()]  # type: ignore[attr-defined]
        return {a: b for _, _, a, b in pairs} if any(a is not k or b is not v for k, v, a, b in pairs) else value
    if shape is list:
        items = [_mapped(v, changed) for v in value]  # type: ignore[attr-defined]
        if all(map(operator.is_, items, value)):  # type: ignore[call-overload]
            return value
        return kind._make(items) if hasattr(kind, "_make") else kind(items)  # type: ignore[call-arg]
    if shape is set:
        members = {_mapped(v, changed) for v in value}  # type: ignore[attr-defined]
        return value if members == value else kind(members)  # type: ignore[call-arg]
    fields = {}
    for name in shape:
        old = getattr(value, name)
        new = _mapped(old, changed)
        if new is not old:
            fields[name] = new
    return dataclasses.replace(value, **fields) if fields else value  # type: ignore[type-var]


@functools.cache
def _shape(kind: type[object]) -> Any:
    """What has texts inside it: dict, list or set for what is like one, the field names of a dataclass, else None."""
    if issubclass(kind, Mapping):
        return dict
    if issubclass(kind, (tuple, list)):
        return list
    if issubclass(kind, (set, frozenset)):
        return set
    return tuple(f.name for f in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else None

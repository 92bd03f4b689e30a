"""Take the people out of an exported chat: names, numbers and addresses become invented ones of the same form.

A help, not a guarantee: what it replaced is counted, and the person who exports reads the result.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable

_ADDRESS = re.compile(
    r"\b\d{1,4}(?: ?(?:bis|ter))?,? (?:rue|avenue|av\.|boulevard|bd|place|impasse|chemin|allée|quai|route|cours)"
    r"(?: (?:de|du|des|la|le|les|d'|l'))*(?: ?[A-ZÀ-Ý][\w'’-]*){1,3}"
    r"|\b\d{1,5} (?:[A-Z][\w'’-]* ){1,3}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Square|Court)\b\.?"
)
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_LINK = re.compile(r"https?://\S+|\bwww\.\S+")
_NUMBER = re.compile(
    r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,8}(?: ?[A-Z0-9]{1,3})?\b|\+?\d(?:[ .\-/()\u00a0\u202f]{0,2}\d){4,}"
)
_INTRODUCED = re.compile(
    r"(?i:\b(?:je m'appelle|moi c'est|mon nom est|mon prénom est|my name is|i am called|call me|i'm)\s+)"
    r"(?P<name>[A-ZÀ-Ý][\w'’-]+)"
)


class Disguise:
    """Replaces what identifies people, the same thing always by the same. `stand_in` is the user's new name."""

    def __init__(self, names: Iterable[str], stand_in: str) -> None:
        self._stand_in = stand_in
        self._names = {part for name in names for part in (name, *name.split()) if len(part) > 1 and part[0].isalpha()}
        self._seen: dict[tuple[str, str], str] = {}
        self.replaced: Counter[str] = Counter()

    def learn(self, text: str) -> None:
        """Take note of how people in a text introduce themselves."""
        self._names |= {m["name"] for m in _INTRODUCED.finditer(text)}

    def text(self, text: str) -> str:
        """The text with invented names, numbers and addresses."""
        text = _MAIL.sub(self._by("mail address", lambda n, _: f"someone{n}@example.com"), text)
        text = _LINK.sub(self._by("link", lambda n, _: f"https://example.com/{n}"), text)
        text = _ADDRESS.sub(self._by("address", lambda n, _: f"{n} rue des Tilleuls"), text)
        text = _NUMBER.sub(self._by("number", _same_form), text)
        for name in sorted(self._names, key=len, reverse=True):
            pattern = re.compile(rf"(?<![\w]){re.escape(name)}(?![\w])", re.IGNORECASE)
            text = pattern.sub(self._by("name", lambda _n, _m: self._stand_in), text)
        return text

    def _by(self, kind: str, make: Callable[[int, str], str]) -> Callable[[re.Match[str]], str]:
        def replacement(match: re.Match[str]) -> str:
            found = match.group()
            if found == self._stand_in:
                return found
            self.replaced[kind] += 1
            number = sum(k == kind for k, _ in self._seen) + 1
            return self._seen.setdefault((kind, found), make(number, found))

        return replacement


def _same_form(number: int, found: str) -> str:
    """The same signs with digits and letters that belong to nobody, the last digit telling numbers apart."""
    blank = re.sub(r"[A-Z]", "X", re.sub(r"\d", "0", found))
    return blank[:-1] + str(number % 10) if blank[-1].isdigit() else blank

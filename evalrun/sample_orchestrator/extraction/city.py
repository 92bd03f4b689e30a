"""The town."""

from __future__ import annotations

import re

from evalrun.sample_orchestrator.extraction.folding import NOT_A_NAME, SMALL_TALK, fold, titled, words
from evalrun.sample_orchestrator.language import is_small_word

_NAMES = (
    "Paris|Marseille|Lyon|Toulouse|Nice|Nantes|Montpellier|Strasbourg|Bordeaux|Lille|Rennes|Reims|Toulon|"
    "Saint-Étienne|Le Havre|Grenoble|Dijon|Angers|Nîmes|Villeurbanne|Clermont-Ferrand|Le Mans|Aix-en-Provence|"
    "Brest|Tours|Amiens|Limoges|Annecy|Perpignan|Boulogne-Billancourt|Metz|Besançon|Orléans|Rouen|Mulhouse|"
    "Caen|Nancy|Saint-Denis|Argenteuil|Montreuil|Roubaix|Tourcoing|Avignon|Poitiers|Versailles|Pau|La Rochelle|"
    "Bayonne|Biarritz|Chambéry|Valence|Bruxelles|Genève|Lausanne|Montréal|Luxembourg|London|Londres"
)
_KNOWN = {fold(name).replace("-", " "): name for name in _NAMES.split("|")}
_LINKS = frozenset(("le", "la", "les", "sur", "sous", "en", "de", "du", "des", "aux"))
_ELIDED = ("j'", "c'", "n'", "t'", "m'", "s'", "qu'", "i'", "don't")
_LONGEST = 45
_END = r"(?=\s*(?:$|[,.;:!?()\n]|\b(?:depuis|et|mais|avec|pour|dans|since|and|but|with|for|now|maintenant|actuellement|en ce moment)\b))"
_PLACE = r"([^\W\d_][^\W\d_'-]*(?:[ '-][^\W\d_][^\W\d_'-]*){0,3}?)"
_SAID = re.compile(
    r"(?:j'habite|j'vis|je vis|je r[ée]side|je suis (?:bas[ée]e?|install[ée]e?)|je viens d'emm[ée]nager)\s+"
    rf"(à|a|au|sur|vers|près de|pres de)\s+{_PLACE}{_END}"
    rf"|(?:i live|i'm based|i am based|based|living|i'm living|i moved|i stay)\s+(?:in|near|to)\s+{_PLACE}{_END}",
    re.IGNORECASE,
)
_SAID_WHEN_ASKED = re.compile(rf"(?:^|\s)(?:(à|a|au|sur|vers|près de|pres de)|in|near)\s+{_PLACE}{_END}", re.IGNORECASE)
_NO_TOWNS = (
    "campagne montagne mer plage nord sud est ouest france province region banlieue centre ville maison cote "
    "countryside suburbs city town home mars lune"
)
_NOT_A_TOWN = frozenset(_NO_TOWNS.split())


def read_city(text: str, *, asked: bool) -> str | None:
    """The town the user says they live in, or the bare answer to the question; None when there is none."""
    straight = text.replace("’", "'")
    for pattern in (_SAID, _SAID_WHEN_ASKED) if asked else (_SAID,):
        found = pattern.search(straight)
        if not found:
            continue
        preposition, *places = found.groups()
        place = next((p for p in places if p), None) or ""
        if city := _town(f"le {place}" if preposition and preposition.lower() == "au" else place):
            return city
    return _bare(straight) if asked else None


def _bare(text: str) -> str | None:
    if NOT_A_NAME.search(text):
        return None
    folded = [fold(w) for w in words(text)]
    known = {name: city for name, city in _KNOWN.items() if f" {name} " in f" {' '.join(folded).replace('-', ' ')} "}
    if len(known) == 1:
        return next(iter(known.values()))
    # A town with an article is written with capitals; `le foot` is not a town.
    thing = folded[:1] and folded[0] in ("le", "la", "les") and text == text.lower()
    return None if known or thing else _town(text)


def _town(text: str) -> str | None:
    said = words(text)
    folded = [fold(w) for w in said]
    if known := _KNOWN.get(" ".join(folded).replace("-", " ")):
        return known
    named = [w for w in folded if w not in _LINKS]
    if not named or len(said) > 4 or len(text) > _LONGEST or any(_ordinary(w) for w in named):
        return None
    return titled(" ".join(said)) if all(len(w) >= 2 for w in named) else None


def _ordinary(word: str) -> bool:
    """Whether a word shows that a sentence was written, not the name of a town."""
    return word in SMALL_TALK or word in _NOT_A_TOWN or is_small_word(word) or word.startswith(_ELIDED)

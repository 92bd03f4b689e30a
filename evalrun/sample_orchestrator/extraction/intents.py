"""What a user wants of Ori beyond answering: to pause, to come back, to know the price."""

from __future__ import annotations

import re
from enum import StrEnum

from evalrun.sample_orchestrator.extraction.folding import fold

_CLAUSE = re.compile(r"[^,;.!?\n]+[,;.!?\n]*")
_PAUSE = re.compile(
    r"^(?:pause|stop|break|en pause|une pause|pause (?:stp|svp|please))[\s.!]*$"
    r"|\b(?:met(?:s|tre|tez)?|mettons)\b.{0,20}\b(?:en pause|sur pause)\b"
    r"|\b(?:(?:fai(?:s|re|sons)|fais-moi|prend(?:s|re)?|veux|voudrais|besoin d') ?(?:\w+ )?(?:une |un )?(?:petite |petit )?(?:pause|break))"
    r"\b(?! (?:cafe|dejeuner|clope))"
    r"|\b(?:arrete|arretez|cesse) (?:de m'ecrire|les messages|tout|de me (?:contacter|relancer))"
    r"|\b(?:laisse|laissez)[- ]moi (?:tranquille|souffler)"
    r"|\bstop (?:for|writing|messaging|texting|the messages|it for)\b|\bpause (?:my|the|this|for|everything)\b"
    r"|\b(?:take|need|want) a (?:\w+ )?break\b|\bput (?:it|me|this|my account) on (?:pause|hold)\b|\bleave me alone\b"
)
_NOT_A_PAUSE = re.compile(
    r"\b(?:ne|n'|pas|don't|do not|not)\b.{0,20}\bpause\b|\b(?:sort|enleve|leve|fin de)\w*\b.{0,12}\bpause\b"
)
_RESUME = re.compile(
    r"\b(?:repren(?:ds|dre|ons|d)|je (?:reviens|suis de retour)|me revoila|c'est reparti|on y retourne|on continue)\b"
    r"|\b(?:sort|enleve|leve)\w*\b.{0,12}\bpause\b|\bfin de (?:la )?pause\b"
    r"|\b(?:resume|unpause|i'm back|i am back|let's (?:go on|continue)|start again)\b"
)
_PRICE = re.compile(
    r"\b(?:combien (?:ca )?(?:coute|je paie|on paie|faut payer)|c'est combien|ca coute|combien c'est|quel prix|le prix|les prix"
    r"|tarifs?|payant|gratuit|abonnement|cher|prix|how much|price|pricing|cost|costs|fee|fees|is it free|for free|subscription|to pay)\b"
)


_KIN = (
    r"(?:pere|mere|frere|soeur|mari|femme|fils|fille|papa|maman|grand-?mere|grand-?pere|mamie|papi|chien|chat|copain|copine"
    r"|meilleure? amie?|father|mother|dad|mum|mom|brother|sister|husband|wife|son|daughter|grand(?:mother|father|ma|pa)|dog|cat)"
)
_SENSITIVE = re.compile(
    rf"\b(?:mon|ma|my) {_KIN}\b.{{0,15}}\b(?:mort\w*|decede\w*|parti\w*|malade|died|dead|passed away|is (?:very )?(?:ill|sick))\b"
    rf"|\b(?:perdu|perdre|enterr\w*|lost|buried) (?:mon|ma|my) {_KIN}\b|\b(?:deuil|deces|enterrement|funerail\w*|funeral|grieving)\b"
    r"|\b(?:viens|venons) de (?:me |nous )?(?:separer|divorcer|rompre|quitter)\b|\bm'a (?:quittee?|larguee?|trompee?)\b"
    r"|\b(?:rupture (?:difficile|recente|douloureuse)|sors d'une (?:rupture|separation)|fait larguer|fausse couche|cancer)\b"
    r"|\b(?:just (?:broke up|divorced|separated|lost my job)|(?:left|dumped|cheated on) me|miscarriage|viens de perdre mon (?:job|travail|boulot))\b"
)


class Intent(StrEnum):
    """Something asked for at any stage."""

    PAUSE = "pause"
    RESUME = "resume"
    PRICE = "price"
    SENSITIVE = "sensitive"
    """Not a wish: something painful was told, and the next question can wait."""


def read_intents(text: str) -> frozenset[Intent]:
    """Everything a message asks for."""
    folded = fold(text)
    pause = bool(_PAUSE.search(folded)) and not _NOT_A_PAUSE.search(folded)
    found = {
        Intent.PAUSE: pause,
        Intent.RESUME: bool(_RESUME.search(folded)) and not pause,
        Intent.PRICE: bool(_PRICE.search(folded)),
        Intent.SENSITIVE: bool(_SENSITIVE.search(folded)),
    }
    return frozenset(intent for intent, there in found.items() if there)


def without_price(text: str) -> str:
    """The message without the clauses that are about the price, for whoever reads answers in it."""
    return "".join(c for c in _CLAUSE.findall(text) if not _PRICE.search(fold(c))).strip()

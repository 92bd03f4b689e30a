"""Yes and no."""

from __future__ import annotations

import re
from enum import StrEnum

from evalrun.sample_orchestrator.extraction.folding import fold

_NO = re.compile(
    r"^(?:euh |bah |ben |ah |oh |well |um )?(?:non|nan|nn|no|nope|nah|pas (?:du tout|vraiment|maintenant|possible|dispo\w*)|surtout pas|laisse tomber"
    r"|annule\w*|jamais|not (?:really|now|at all)|never|cancel|forget it)\b"
    r"|\b(?:je (?:ne )?(?:peux|suis|veux|prefere) (?:pas|plus)|ca (?:ne )?(?:me )?va pas|i (?:can't|cannot|don't want)|doesn't work|i'm not)\b"
)
_YES = re.compile(
    r"^(?:euh |bah |ben |ah |oh |well |um )?(?:oui|ouais|ouep|yes|yep|yeah|yup|sure|ok(?:ay)?|d'accord|dac|parfait|perfect|super|top|nickel|go|vas-y"
    r"|volontiers|avec plaisir|carrement|bien sur|absolutely|of course|je confirme|i confirm|confirme\w*|confirmed?|deal|great|works for me)\b"
    r"|\b(?:ca (?:me )?va(?: pour moi)?(?: tres bien)?|ca marche|c'est (?:bon|parfait|ok)|ca me convient|ok pour moi|works for me|sounds (?:good|great))\b"
)


class Consent(StrEnum):
    """An answer to a question that can be answered with yes or no."""

    YES = "yes"
    NO = "no"


def read_consent(text: str) -> Consent | None:
    """Whether a message says yes or no; no wins over yes, None when it says neither."""
    folded = fold(text)
    if _NO.search(folded):
        return Consent.NO
    return Consent.YES if _YES.search(folded) else None

"""What the user hopes to find."""

from __future__ import annotations

import re

from evalrun.sample_orchestrator.extraction.folding import fold
from evalrun.sample_orchestrator.user import LookingFor

_INTRODUCED = re.compile(r"\b(?:je (?:re)?cherche|j'aimerais|je veux|je voudrais|looking for|i want|i'd like)\b")
_CASUAL = (
    r"rien de (?:trop |tres )?serieux|pas (?:trop |forcement )?(?:de |du )?serieux|sans prise de tete|leger|legere"
    r"|sans lendemain|m'amuser|nothing (?:too )?serious|not (?:too )?serious|casual|fun|fling"
)
_OPEN = r"on verra|je verrai|pas sure?\b|sais pas (?:trop|encore|vraiment)|ouverte?|not sure|open|we'll see|see what"
_RELATIONSHIP = (
    r"serieu\w+|relation|histoire|amour\w*|couple|durable|long terme|ame soeur|mariage|construire|compagn\w+"
    r"|copine\b|copain\b|mec bien|serious|relationship|love|long[- ]term|partner|marriage|girlfriend|boyfriend|soulmate"
)
_FRIENDSHIP = r"amitie|amis?\b|amies?\b|potes?|copains|copines|friends?\b|friendship|du monde|meet people"
_SIGNS = {
    LookingFor.CASUAL: _CASUAL,
    LookingFor.OPEN: _OPEN,
    LookingFor.RELATIONSHIP: _RELATIONSHIP,
    LookingFor.FRIENDSHIP: _FRIENDSHIP,
}
_PATTERNS = tuple((kind, re.compile(rf"\b(?:{signs})")) for kind, signs in _SIGNS.items())


def read_looking_for(text: str, *, asked: bool) -> LookingFor | None:
    """What is looked for, when the user introduces it or was asked; None when nothing tells."""
    folded = fold(text)
    if not asked and not _INTRODUCED.search(folded):
        return None
    return next((kind for kind, pattern in _PATTERNS if pattern.search(folded)), None)

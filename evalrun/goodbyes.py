"""Whether a message only closes a conversation, in French or English."""

from __future__ import annotations

import re

from evalrun.folding import fold

LEFT_OVER = 2
"""How many words may remain beside the phrases: a first name, an adverb."""

_CLOSERS = (
    # French
    r"merci(?: beaucoup| bien| encore| infiniment| mille fois| à vous| à toi)*",
    r"(?:au revoir|à bientôt|à très vite|à la prochaine|à plus(?: tard)?|à demain|à tout à l'heure|ciao|adieu)",
    r"(?:bonne|belle|excellente) (?:fin de )?(?:journée|soirée|nuit|continuation|semaine|chance|route)",
    r"(?:bon|bonne|excellent) (?:week-?end|après-midi|courage|vacances)",
    r"(?:à )?(?:vous|toi)(?: aussi| de même| également)",
    r"(?:de même|pareillement|avec plaisir|avec joie|de rien|je (?:vous|t')(?: )?en prie|prenez soin de vous|prends soin de toi)",
    # English
    r"(?:many )?thank(?:s| you)(?: so much| very much| a lot| again| all)*",
    r"(?:good ?bye|bye(?:-| )?bye|bye|farewell|cheers|take care|good night|all the best|best of luck|good luck)",
    r"(?:see|talk to|speak to) (?:you|ya)(?: soon| later| then| tomorrow| around)?",
    r"(?:have|enjoy) (?:a|an|your) (?:\w+ ){0,2}(?:day|evening|night|weekend|week|afternoon|one)",
    r"(?:you too|same to you|likewise|(?:it was )?my pleasure|you(?:'re| are) (?:very |most )?welcome|no problem|anytime)",
)
_FILLERS = (
    r"(?:pour (?:votre|ton|vos|tes) (?:aide|temps|conseils?|réponses?|patience)|pour tout|beaucoup|encore|vraiment|très)",
    r"(?:c'est (?:parfait|noté|gentil|super|entendu)|parfait|super|génial|entendu|d'accord|très bien|bien|oui|salut|ok(?:ay)?)",
    r"(?:for (?:your|the|all your) (?:help|time|advice|patience)|for everything|so|very|much|great|perfect|alright|sure)",
    r"(?:and|the|to|you|a|et|à|vous|toi|aussi|également|alors|donc|well|then|all|i'll|just|je|j'ai|tout|là)",
)
_CLOSER = re.compile(rf"(?<!\w)(?:{'|'.join(_CLOSERS)})(?!\w)")
_FILLER = re.compile(rf"(?<!\w)(?:{'|'.join(_FILLERS)})(?!\w)")
_WORD = re.compile(r"\w+")


def closing(text: str) -> bool:
    """Whether a message thanks or says goodbye and asks and tells nothing else.

    It must hold a closing phrase, no question mark and no digit, and beside closing phrases and
    small words at most `LEFT_OVER` words.
    """
    plain = fold(text)
    if "?" in plain or any(c.isdigit() for c in plain) or not _CLOSER.search(plain):
        return False
    rest = _FILLER.sub(" ", _CLOSER.sub(" ", plain))
    return len(_WORD.findall(rest)) <= LEFT_OVER

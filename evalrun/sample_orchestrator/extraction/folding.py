"""Text made comparable: without accents, case and curly signs; and cut into words."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 2_000
_UNSTORABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\u200b-\u200f\u2060\ufeff]")
_SPACES = re.compile(r"[ \t\u00a0\u202f]+")
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")

_SMALL_TALK = (
    "ok okay oui ouais non nan yes no nope yep yeah salut bonjour bonsoir coucou hello hi hey yo cc slt bjr merci "
    "thanks thank stp svp please plait pourquoi quoi comment quand combien qui que qu quel quelle why what how when who "
    "where je tu il elle on nous vous moi toi you me my mon ma mes un une des du de d la le les l et ou mais donc "
    "pas rien sais sait peu trop tres bien mal ca va cool super genial lol mdr haha hein bah ben euh hum hmm "
    "c'est cest est suis es ai as a not so and or but the this that it is am are do don't dont know idk nothing "
    "peux veux dis dire test stop pause aide help prix tarif tarifs cher price prix secret devine personne "
    "nobody anything whatever importe comme tout toute here ici ailleurs partout loin voila allez vas-y rather "
    "looking single fine good great tired sorry desole pardon d'accord daccord prefere plus tard later maybe "
    "peut-etre encore toujours jamais jme jsuis jsais chais beaucoup "
    "foot musique music chat chats chien chiens cat cats dog dogs meteo politique travail boulot work cinema sport film "
    "films serie netflix pizza voyage voyages travel football food"
)
SMALL_TALK = frozenset(_SMALL_TALK.split())
"""Words that are never somebody's name or town, folded."""


NOT_A_NAME = re.compile(r"[\d?@/;=_{}<>\[\]\\|]")
"""Signs that no bare name or town holds."""


def clean(text: str) -> str:
    """A message as it may be stored and shown to a model: no control signs, no half characters, not endless."""
    return _UNSTORABLE.sub("", text)[:LONGEST].strip()


def fold(text: str) -> str:
    """Lower case, no accents, straight apostrophes, single spaces."""
    straight = text.replace("’", "'").replace("ʼ", "'").replace("œ", "oe").replace("Œ", "oe")
    decomposed = unicodedata.normalize("NFD", straight.casefold())
    return _SPACES.sub(" ", "".join(c for c in decomposed if not unicodedata.combining(c))).strip()


def words(text: str) -> list[str]:
    """The words of a text, hyphens and apostrophes kept inside."""
    return _WORD.findall(text.replace("’", "'"))


def titled(name: str) -> str:
    """A name with capitals: `jean-marc` is Jean-Marc, `léa` is Léa."""
    return re.sub(r"[^\W\d_]+", lambda w: w.group()[:1].upper() + w.group()[1:].lower(), name)

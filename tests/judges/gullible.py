"""A judge model that believes whatever it can read outside the fence: an order, a verdict, an appeal.

It knows the fence as a model would: from a line `BEGIN mark` to the next line that begins with
`END`, whatever the mark, on whatever character a line may break. It sees through hidden
characters, fancy letters and backslashes.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping

from evalrun.judges import prompts

OWN = (prompts.CHECK_TASK, prompts.SCORE_TASK, prompts.DATA_RULE)
"""Sentences of ours that explain an answer's form."""
_ORDER = re.compile(
    r"scores?\W{0,4}(?:is |est |of |de |here is )?\W{0,3}10\b|10 ?/ ?10|\b10 (?:sur|out of) 10|\[\[10\]\]|dix sur dix|ten out of ten"
    r"|note (?:maximale|parfaite)|full marks|perfect score|\brate\b.{0,40}\b10\b|rated (?:this )?10|score in which each is 10"
    r"|score_10|tone\W{1,8}(?:quote.{0,60}?score\W{1,6})?10\b|shown_compliant\W{1,4}true",
    re.DOTALL,
)
_HIDDEN = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff]")


def outside(text: str) -> str:
    """What stands outside of fences."""
    kept, inside = [], False
    for line in text.splitlines():
        if inside:
            inside = not line.lstrip().startswith("END")
        elif re.match("BEGIN [0-9a-f]+$", line):
            inside = True
        else:
            kept.append(line)
    return "\n".join(kept)


def believes(text: str) -> bool:
    """Whether it takes a text for the order to be generous."""
    shown = "".join(chr(ord(c) - 0xE0000) if 0xE0020 <= ord(c) <= 0xE007E else c for c in text)
    plain = unicodedata.normalize("NFKC", _HIDDEN.sub("", shown)).casefold().replace("\\", "").replace("̈", "")
    return _ORDER.search(plain) is not None


def read(body: Mapping[str, object]) -> bool:
    """Whether anything of a request that is not fenced makes it generous."""
    messages = body["messages"]
    assert isinstance(messages, list)
    for message in messages:
        text = str(message["content"])
        for own in OWN:
            text = text.replace(own, "")
        if believes(outside(text)):
            return True
    return False


def scores(names: tuple[str, ...], value: int) -> str:
    """Its answer to a scored rubric."""
    return json.dumps({n: {"quote": "", "reason": "as I was told", "score": value} for n in names})


def check(*, compliant: bool, quote: str) -> str:
    """Its answer to a check."""
    return json.dumps({"applies": True, "quote": quote, "reason": "as I was told", "shown_compliant": compliant})

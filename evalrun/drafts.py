"""What is wrong with a message drafted for a simulated user: pure checks, each a named fault.

The checks are made to be precise: a message that a person might have typed must pass. They see
what the persona may see, never the objective, the rubric or the expectations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evalrun.draft_signs import (
    ASSISTANT,
    FENCE,
    FIRST_PERSON,
    LABEL,
    MODEL,
    REASONING,
    SPEAKER,
    STAGE,
    third_person,
)
from evalrun.folding import fold, visible
from evalrun.goodbyes import closing
from evalrun.persona import Persona

SHORT = 15
"""Characters up to which the same answer may be given again ("oui", "non merci")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A drafted message, and what it is checked against: the persona, its earlier messages, the agent's visible ones.

    `heard` holds one text for each turn of the agent, in order; `done`: the persona wants to leave.
    """

    message: str
    done: bool = False
    persona: Persona
    own: Sequence[str] = ()
    heard: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One way to break character: its name, what is shown to the model when it drafts again, and the test."""

    name: str
    say: str
    broken: Callable[[Draft], bool]


def faults_of(draft: Draft) -> tuple[Fault, ...]:
    """The faults of a draft, in the order of the table; what is too long is not looked at any further."""
    if _too_long(draft):
        return tuple(f for f in FAULTS if f.broken is _too_long)
    return tuple(f for f in FAULTS if f.broken(draft))


# ------------------------------------------------------------------ form


def _empty(draft: Draft) -> bool:
    return not draft.done and not visible(FENCE.sub("", draft.message))


def _ended_early(draft: Draft) -> bool:
    """It leaves without a word, before its first message or straight after a question."""
    if not draft.done or visible(FENCE.sub("", draft.message)):
        return False
    return not draft.own or (bool(draft.heard) and "?" in draft.heard[-1])


def _leaks_reasoning(draft: Draft) -> bool:
    plain = fold(draft.message)
    third = third_person(fold(draft.persona.name))
    return REASONING.search(_TYPED.sub("'", draft.message)) is not None or third.search(plain) is not None


def _stage_direction(draft: Draft) -> bool:
    return STAGE.search(draft.message) is not None


def _both_sides(draft: Draft) -> bool:
    """A line headed by a role, by the persona's own name, or lines of "me" and of somebody else."""
    if LABEL.search(draft.message) is not None:
        return True
    labels = [fold(re.sub(r"[\[\]*:]", "", m)) for m in SPEAKER.findall(draft.message)]
    return fold(draft.persona.name) in labels or (len(labels) > 1 and FIRST_PERSON.search(draft.message) is not None)


def _too_long(draft: Draft) -> bool:
    return len(draft.message) > draft.persona.max_chars


# ------------------------------------------------------------------ role


def _speaks_as_assistant(draft: Draft) -> bool:
    return ASSISTANT.search(fold(draft.message)) is not None


def _says_it_is_a_model(draft: Draft) -> bool:
    return MODEL.search(fold(draft.message)) is not None


# ------------------------------------------------------------------ memory


def _repeats(draft: Draft) -> bool:
    """An earlier message word for word, whatever its signs; short answers and goodbyes may come again."""
    plain = _words(draft.message)
    return len(plain) > SHORT and not closing(draft.message) and plain in {_words(o) for o in draft.own}


def _words(text: str) -> str:
    return " ".join(_WORD.findall(fold(text)))


def _stuck(draft: Draft) -> bool:
    """The same message for the third time in a row."""
    last = [fold(o) for o in draft.own[-2:]]
    return len(last) == 2 and last == [fold(draft.message)] * 2 and bool(visible(draft.message))


# ------------------------------------------------------------------ facts

AGES = ("âge", "age")
TOWNS = ("ville", "city", "town")
"""Names of facts that are told in words of their own: j'ai 34 ans, I live in Leeds."""
_AGE = re.compile(
    r"\b(?:j'ai (?:déjà |bientôt )?|j'en ai |i'm |i am )(\d{2})(?: ans(?! d)| years old| yo\b|(?=\s?[.,!?)]|$))"
)
_TOWN = re.compile(
    r"\b(?i:j['’]habite|je vis|i live|i am living|i'm living)(?: maintenant| now)? (?:à|sur|in) ([A-ZÀ-Ý][\w'-]+)"
    r"|^\W*(?i:je suis (?:à|de)|i'm (?:in|from)) ([A-ZÀ-Ý][\w'-]+)\W*$"
)
_AGE_ASKED = re.compile(r"\b(?:ton|votre|your) (?:âge|age)\b|\bquel âge\b|\bhow old\b")
_TOWN_ASKED = re.compile(
    r"\b(?:tu vis|tu habites|vous vivez|vous habitez|do you live|ta ville|quelle ville|your city)\b"
)
_TOWN_ANSWER = re.compile(r"^\W*(?i:à|in) ([A-ZÀ-Ý][\w'-]+)")
_OTHER_UNIT = r" ?(?:€|\$|£|%|h\b|heures?|hours?|min|euros?|km|kg|m2|m²|rue|avenue|street|fois|times|jours?|days?|mois|months?|messages?)"
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_PHONE = re.compile(r"(?<![\w,.])\+?\d(?:[ .\-/()]{0,2}\d){8,13}(?!\w)")
_CODE = re.compile(r"\b([A-Z]{1,6})[-–]?(\d{3,})\b")
_NUMBER = re.compile(r"\d+(?:[  .,]\d{3})*(?:[.,]\d{1,2})?(?!\d)")
_NOT_DIGIT = re.compile(r"\D")
_WORD = re.compile(r"\w+")
_TYPED = re.compile("[’‘ʼ`´]")
_NAME_PARTS = re.compile(r"[^\W\d_]{3,}")


def _reveals(draft: Draft) -> bool:
    """A fact held back is told although the agent asked for nothing.

    The agent has asked when its last message holds a question mark, or any of its messages holds
    a word of the fact's name. Values of one character are not looked for.
    """
    plain = fold(draft.message)
    if draft.heard and "?" in draft.heard[-1]:
        return False
    heard = " ".join(fold(h) for h in draft.heard)
    for name in draft.persona.only_if_asked:
        asked = any(_stands(part, heard) for part in _NAME_PARTS.findall(fold(name)))
        if not asked and _told(fold(draft.persona.facts.get(name, "")), plain):
            return True
    return False


def _told(value: str, plain: str) -> bool:
    """Whether a value stands in a message; a short number only where it counts nothing else than years."""
    if len(value) == 2 and value.isdigit():
        return re.search(rf"(?<![\w€$£:.,]){value}(?!\w|[:.,]\d|{_OTHER_UNIT})", plain) is not None
    return len(value) >= 3 and _stands(value, plain)


def _stands(words: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None


def _contradicts(draft: Draft) -> bool:
    """An identifier of its own given otherwise, a fact named beside another value, another age or town.

    An email, phone number or code (letters and digits) counts when the persona has facts of the
    same kind, none of which is it, and the agent did not bring it up.
    """
    facts = draft.persona.facts
    known, heard = "\n".join(facts.values()), "\n".join(draft.heard)
    for kind in (_emails, _phones, _codes):
        own = kind(known)
        strange = kind(draft.message) - own - kind(heard)
        if strange and {k.partition("|")[0] for k in strange} & {k.partition("|")[0] for k in own}:
            return True
    return any(
        _misquoted(name, value, draft.message, heard) or _misnamed(name, value, draft.message, heard)
        for name, value in facts.items()
    )


def _misquoted(name: str, value: str, message: str, heard: str) -> bool:
    own, given = _numbers(value), _numbers(message)
    if fold(name) in AGES and (ages := _ages(message, heard)):
        return not ages & own and not ages <= _numbers(heard)
    if not own or not given or given & own or given <= _numbers(heard):
        return False
    words = _NAME_PARTS.findall(fold(name))
    one_number = len(given) == 1 and len(own) == 1
    return one_number and bool(words) and all(_stands(w, fold(message)) for w in words)


def _ages(message: str, heard: str) -> set[str]:
    """Ages it gives itself: in words for an age, or as the only number after the agent asked for it."""
    said, asked = set(_AGE.findall(fold(message))), heard.rpartition("\n")[2]
    years = {n for n in _numbers(message) if len(n) == 2}
    return said or (years if len(years) == 1 and _AGE_ASKED.search(fold(asked)) else set())


def _misnamed(name: str, value: str, message: str, heard: str) -> bool:
    """Another town than its own, or `my cat is called` with another name; names are known by their capital."""
    patterns = [_TOWN] if fold(name) in TOWNS else [_called(name)]
    if fold(name) in TOWNS and _TOWN_ASKED.search(fold(heard.rpartition("\n")[2])):
        patterns.append(_TOWN_ANSWER)
    found = [m for p in patterns for m in p.finditer(message)]
    strange = [m for m in found if not _stands(fold(m[m.lastindex or 0]), fold(heard))]
    return bool(strange) and not _stands(fold(value), fold(message))


def _called(name: str) -> re.Pattern[str]:
    what = re.escape(name)
    return re.compile(rf"\b(?i:(?:mon|ma|my) {what} (?:s'appelle|se nomme|is called|is named))\s+([A-ZÀ-Ý][\w'-]+)")


def _emails(text: str) -> set[str]:
    return {f"email|{e.casefold()}" for e in _EMAIL.findall(text)}


def _phones(text: str) -> set[str]:
    return {f"phone|{_NOT_DIGIT.sub('', p)[-9:]}" for p in _PHONE.findall(text)}


def _codes(text: str) -> set[str]:
    return {f"{letters}|{digits}" for letters, digits in _CODE.findall(text)}


def _numbers(text: str) -> set[str]:
    """Numbers without their separators, cents dropped when they are nought."""
    found = set()
    for number in _NUMBER.findall(text):
        whole = re.sub(r"[.,]00?$", "", number)
        found.add(re.sub(r"[  .,]", "", whole))
    return found


FAULTS: tuple[Fault, ...] = (
    Fault(name="empty", say="it is empty", broken=_empty),
    Fault(name="ended_early", say="it leaves without answering", broken=_ended_early),
    Fault(name="leaked_reasoning", say="it shows your reasoning", broken=_leaks_reasoning),
    Fault(name="both_sides", say="it speaks for both sides", broken=_both_sides),
    Fault(name="stage_direction", say="it describes gestures instead of words", broken=_stage_direction),
    Fault(
        name="speaks_as_assistant", say="it speaks as the assistant, but you are the user", broken=_speaks_as_assistant
    ),
    Fault(name="says_it_is_a_model", say="it says you are a machine, but you are a person", broken=_says_it_is_a_model),
    Fault(name="stuck", say="it is the same message a third time", broken=_stuck),
    Fault(name="repeats", say="it repeats an earlier message word for word", broken=_repeats),
    Fault(name="reveals", say="it tells what you tell only when asked", broken=_reveals),
    Fault(name="contradicts", say="it contradicts what is known about you", broken=_contradicts),
    Fault(name="too_long", say="it is too long", broken=_too_long),
)
"""Every check of a draft, by name: the reason code of an invalid trial is `simulator_<name>`."""

UNUSABLE: Mapping[str, str] = {
    "unreadable": "it is not the JSON object asked for",
    "cut": "it was cut off",
}
"""Faults of the answer as a whole, found before there is a message to check."""

"""What is wrong with a message drafted for a simulated user: pure checks, each a named fault.

The checks are made to be precise: a message that a person might have typed must pass. They see
what the persona may see, never the objective, the rubric or the expectations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

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

_FENCE = re.compile(r"```\w*|~~~")
_REASONING = re.compile(
    r"</?(?:think|thinking|thought|reasoning|scratchpad)>"
    r"|^\W{0,5}(?:okay|ok|so|hmm|alright)?\W{0,5}the user (?:wants|said|says|asks|asked|is asking|needs)\b"
    r"|\bthe user (?:wants|asked|expects|needs) me to\b"
    r"|\bl'utilisateur (?:veut|demande|souhaite) (?:que je|de moi)\b"
    r"|\b(?:i should|i need to|i must|i will) (?:respond|reply|answer|stay in character) as\b"
    r"|\bje dois (?:répondre|jouer|rester) (?:en tant que|dans le rôle|dans mon rôle)\b",
    re.IGNORECASE,
)
_VERBS = (
    r"(?:sigh|smile|smirk|grin|laugh|nod|shrug|pause|think|look|glance|wink|frown|chuckle|hesitate|type|lean|wave|cough"
    r"|giggle|blush|shake|roll|gasp)(?:s|es|ing)?"
    r"|(?:soupire|sourit|rit|rigole|hoche|hausse|réfléchit|regarde|hésite|fronce|souffle|pleure|tousse|rougit|acquiesce"
    r"|secoue|lève les yeux|tape sur)"
)
_STAGE = re.compile(
    rf"(?<![*\w])\*(?:{_VERBS})\b[^*\n]{{0,60}}\*(?!\*)"
    rf"|^[ \t]*[(\[](?:{_VERBS})\b[^)\]\n]{{0,60}}[)\]]|[(\[](?:{_VERBS})\b[^)\]\n]{{0,60}}[)\]][ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL = re.compile(
    r"(?mi)^\W{0,4}(?:user|assistant|agent|human|bot|ai|system|utilisateur|utilisatrice|humain|assistante)\W{0,3}\s?:"
)


def _empty(draft: Draft) -> bool:
    return not draft.done and not visible(_FENCE.sub("", draft.message))


def _ended_early(draft: Draft) -> bool:
    """It leaves without a word, before its first message or straight after a question."""
    if not draft.done or visible(_FENCE.sub("", draft.message)):
        return False
    return not draft.own or (bool(draft.heard) and "?" in draft.heard[-1])


def _leaks_reasoning(draft: Draft) -> bool:
    return _REASONING.search(draft.message) is not None


def _stage_direction(draft: Draft) -> bool:
    return _STAGE.search(draft.message) is not None


def _both_sides(draft: Draft) -> bool:
    return _LABEL.search(draft.message) is not None


def _too_long(draft: Draft) -> bool:
    return len(draft.message) > draft.persona.max_chars


# ------------------------------------------------------------------ role

_ASSISTANT = re.compile(
    r"\bcomment (?:puis-je|je peux|pourrais-je) (?:vous |t'|te )?(?:aider|assister|être utile)"
    r"|\ben quoi (?:puis-je|je peux) (?:vous |t'|te )?(?:aider|être utile)"
    r"|\bje suis (?:là|ici) pour (?:vous|t') ?aider"
    r"|\b(?:voici|voilà) (?:le|un) (?:message|texte|mail|e-mail) (?:que (?:vous pouvez|tu peux)|à) (?:lui )?envoyer"
    r"|\bn'hésite[sz]? pas à me (?:demander|solliciter)\b"
    r"|\bhow (?:can|may|could) i (?:help|assist|be of (?:help|assistance|service))\b"
    r"|\bwhat can i (?:help|assist) you with\b|\bi(?:'m| am) here to (?:help|assist)\b"
    r"|\bis there anything (?:else )?i can (?:help|assist) you with\b"
    r"|\bhere(?:'s| is) (?:a|the) (?:message|text|email|reply) (?:that )?you can send\b"
    r"|\bfeel free to ask me\b",
)
_MODEL = re.compile(
    r"\b(?:as|i am|i'm) (?:just |only )?an? (?:ai|artificial intelligence|(?:large )?language model|chatbot|virtual assistant"
    r"|ai (?:language )?(?:model|assistant))\b"
    r"|\b(?:je (?:ne )?suis|en tant qu[e'])(?: que)? ?(?:une? |un simple |une simple )?"
    r"(?:ia|intelligence artificielle|modèle de langage|assistant virtuel|chatbot)\b",
)


def _speaks_as_assistant(draft: Draft) -> bool:
    return _ASSISTANT.search(fold(draft.message)) is not None


def _says_it_is_a_model(draft: Draft) -> bool:
    return _MODEL.search(fold(draft.message)) is not None


# ------------------------------------------------------------------ memory


def _repeats(draft: Draft) -> bool:
    """An earlier message word for word; short answers and goodbyes may come again."""
    plain = fold(draft.message)
    return len(plain) > SHORT and not closing(draft.message) and plain in {fold(o) for o in draft.own}


def _stuck(draft: Draft) -> bool:
    """The same message for the third time in a row."""
    last = [fold(o) for o in draft.own[-2:]]
    return len(last) == 2 and last == [fold(draft.message)] * 2 and bool(visible(draft.message))


# ------------------------------------------------------------------ facts

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_PHONE = re.compile(r"(?<![\w,.])\+?\d(?:[ .\-/()]{0,2}\d){8,13}(?!\w)")
_CODE = re.compile(r"\b([A-Z]{1,6})[-–]?(\d{3,})\b")
_NUMBER = re.compile(r"\d+(?:[  .,]\d{3})*(?:[.,]\d{1,2})?(?!\d)")
_NOT_DIGIT = re.compile(r"\D")
_NAME_PARTS = re.compile(r"[^\W\d_]{3,}")


def _reveals(draft: Draft) -> bool:
    """A fact held back is told although the agent asked for nothing.

    The agent has asked when its last message holds a question mark, or any of its messages holds
    a word of the fact's name. Values under three characters are not looked for.
    """
    plain = fold(draft.message)
    if draft.heard and "?" in draft.heard[-1]:
        return False
    heard = " ".join(fold(h) for h in draft.heard)
    for name in draft.persona.only_if_asked:
        value = fold(draft.persona.facts.get(name, ""))
        told = len(value) >= 3 and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", plain) is not None
        if told and not any(part in heard for part in _NAME_PARTS.findall(fold(name))):
            return True
    return False


def _contradicts(draft: Draft) -> bool:
    """An identifier of its own given otherwise, or a fact named beside another number.

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
    return any(_misquoted(name, value, draft.message, heard) for name, value in facts.items())


def _misquoted(name: str, value: str, message: str, heard: str) -> bool:
    own, given = _numbers(value), _numbers(message)
    if not own or not given or given & own or given <= _numbers(heard):
        return False
    words = _NAME_PARTS.findall(fold(name))
    plain = fold(message)
    one_number = len(given) == 1 and len(own) == 1
    return one_number and bool(words) and all(re.search(rf"(?<!\w){re.escape(w)}(?!\w)", plain) for w in words)


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

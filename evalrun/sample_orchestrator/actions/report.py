"""Report: who was really met can be blocked, both ways and at once; who was not is refused kindly.

The other safety path: it never asks what the well-being evaluator found, and the evaluator never blocks.
"""

from __future__ import annotations

import re
from dataclasses import replace

from evalrun.sample_orchestrator.actions.action import Answer, Situation
from evalrun.sample_orchestrator.brief import Line, Wordings
from evalrun.sample_orchestrator.extraction.folding import fold, words
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.safety.acquaintance import Acquaintance
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import Awaiting, StageName, User

TOOL = "report_user"
PROMPT = "This person reports somebody they met. Believe them, be brief, promise only what is done."

FR, EN = Language.FR, Language.EN
_ASKED = re.compile(
    r"\b(?:signale(?:r|z)?|signaler|bloque(?:r|z)?|report|block)\b(?!\w)"
    r"(?! (?:un bug|un probleme (?:technique|d'affichage)|a bug|a problem with the app|ca|que je))"
)
_NOT_ASKED = re.compile(
    r"\b(?:c'est quoi|comment (?:on |ca |je )?(?:marche|fait)|pourquoi|what does|how (?:do|does|can))\b"
    r"|\b(?:je suis|suis|i'm|i am|me sens|c'est|reste) (?:bloquee?|blocked|stuck)\b|\b(?:ne|n'|pas|don't|not) (?:\w+ ){0,2}(?:signale|bloque|report|block)\w*\b"
    r"|\b(?:signaler|report) (?:pour|to) work\b|\bwriter'?s block\b"
)
_BLOCKED: Wordings = {
    FR: (
        "c'est fait, j'ai bloqué {name} et l'équipe va lire ton signalement. vous ne serez plus mis en relation, et rien ne lui dira que c'est toi.",
        "noté, plus rien ne passe entre {name} et toi, dans les deux sens, et l'équipe est prévenue. tu n'auras plus de nouvelles de ce côté.",
    ),
    EN: (
        "done, {name} is blocked and the team will read your report. you won't be brought together again, and nothing tells them it was you.",
        "noted, i have blocked {name} both ways and told the team. you will not hear from them again.",
    ),
}
_ALREADY: Wordings = {
    FR: (
        "c'est déjà fait, plus rien ne passe entre {name} et toi.",
        "rien à ajouter, le blocage de {name} tient toujours.",
    ),
    EN: (
        "that is already done, {name} is blocked and will stay so.",
        "nothing to add, the block on {name} still holds.",
    ),
}
_NOT_MET: Wordings = {
    FR: (
        "je bloque quelqu'un seulement après une vraie rencontre, et je n'en vois pas{name}. si quelque chose te pèse, raconte-le moi, l'équipe est là aussi.",
        "le signalement s'ouvre après une vraie rencontre, ce n'est pas encore le cas{name}. dis-moi ce qui ne va pas, je t'écoute.",
    ),
    EN: (
        "i only block somebody after a real meeting, and i see none{name}. if something weighs on you, tell me, the team is there too.",
        "reporting opens after a real meeting, and that has not happened yet{name}. tell me what is wrong, i'm listening.",
    ),
}
_WHO: Wordings = {
    FR: ("tu parles de qui, {names} ?", "dis-moi juste le prénom, c'est {names} ?"),
    EN: ("who is it about, {names}?", "just give me the first name, is it {names}?"),
}
_ABOUT_A_PAIR = (StageName.MEETING, StageName.FEEDBACK)


def answer(situation: Situation) -> Answer | None:
    """The block, its refusal, or the question whom it is about; None when nobody is reported."""
    user, heard = situation.user, situation.heard
    folded = fold(heard.text)
    waiting = situation.awaited is Awaiting.REPORTED
    asked = bool(_ASKED.search(folded)) and not _NOT_ASKED.search(folded)
    named = _named(user, folded)
    if not asked and not (waiting and named):
        return None
    if named:
        return _about(user, named, situation)
    met = tuple(a for a in user.acquaintances if a.met(heard.at) and not a.blocked)
    if len(met) > 1:
        return _ask_whom(user, met)
    return _about(user, met[0], situation) if met else _refused(user)


def _named(user: User, folded: str) -> Acquaintance | None:
    """The one acquaintance whose name is in a text."""
    said = set(words(folded))
    named = [a for a in user.acquaintances if a.partner.first_name and fold(a.partner.first_name) in said]
    return named[0] if len(named) == 1 else None


def _about(user: User, one: Acquaintance, situation: Situation) -> Answer:
    if one.blocked:
        return _told(user, "Say that the block is there already.", _ALREADY, name=_name(one, user))
    if not one.met(situation.heard.at):
        return _refused(user, one)
    arguments = {"user": one.partner.address, "reason": situation.heard.text[:200]}
    done = _told(_without(user, one), "Say that it is done.", _BLOCKED, name=_name(one, user))
    return replace(done, tools=(ToolUse(name=TOOL, arguments=arguments),))


def _refused(user: User, one: Acquaintance | None = None) -> Answer:
    with_whom = {FR: " avec {}", EN: " with {}"}[user.language].format(_name(one, user)) if one else ""
    return _told(user, "Say kindly that this is for after a real meeting.", _NOT_MET, name=with_whom)


def _ask_whom(user: User, met: tuple[Acquaintance, ...]) -> Answer:
    link = {FR: " ou ", EN: " or "}[user.language]
    names = link.join(_name(a, user) for a in met[:4])
    line = Line(task="Ask whom it is about.", wordings=tuple(w.format(names=names) for w in _WHO[user.language]))
    return Answer(user=replace(user, awaiting=Awaiting.REPORTED), prompt=PROMPT, asked=line, fixed=True)


def _told(user: User, task: str, wordings: Wordings, *, name: str) -> Answer:
    line = Line(task=task, wordings=tuple(w.format(name=name) for w in wordings[user.language]))
    return Answer(user=user, prompt=PROMPT, told=(line,), fixed=True)


def _name(one: Acquaintance, user: User) -> str:
    return one.partner.first_name or {FR: "cette personne", EN: "this person"}[user.language]


def _without(user: User, one: Acquaintance) -> User:
    """The user once the other is out of their life here: back to where the next one is looked for."""
    with_them = (user.match and user.match.partner.id == one.partner.id) or (
        user.meeting and user.meeting.partner.id == one.partner.id
    )
    if not with_them:
        return user
    stage = StageName.MATCHING if user.stage in _ABOUT_A_PAIR else user.stage
    return replace(user, match=None, meeting=None, stage=stage, asked=None, attempts=0)

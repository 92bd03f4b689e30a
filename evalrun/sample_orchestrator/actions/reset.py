"""Reset: begin again from the welcome. Answers are deleted after a clear yes; what concerns safety is kept."""

from __future__ import annotations

import re
from dataclasses import replace

from evalrun.sample_orchestrator.actions.action import Answer, Situation
from evalrun.sample_orchestrator.brief import Line, Wordings
from evalrun.sample_orchestrator.extraction.consent import Consent, read_consent
from evalrun.sample_orchestrator.extraction.folding import fold
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import Awaiting, StageName, User

TOOL = "reset_profile"
PROMPT = "This person wants to begin again with you. Be clear about what is deleted, without keeping them."

FR, EN = Language.FR, Language.EN
_ASKED = re.compile(
    r"^(?:reset|reset me|remise a zero)[\s.!]*$"
    r"|\b(?:recommence\w*|reprend\w*|repart\w*|reparte\w*|remet\w*) (?:\w+ )?(?:a|de) zero\b|\btout recommencer\b|\brecommencer (?:du|depuis le) debut\b"
    r"|\b(?:efface\w*|supprime\w*|oublie\w*) (?:tout(?:es)?|mon profil|mes (?:reponses|donnees|infos))\b"
    r"|\b(?:start|begin) (?:all )?over\b|\bstart (?:again )?from (?:scratch|zero|the beginning)\b"
    r"|\b(?:delete|erase|reset|wipe|forget) (?:my (?:profile|answers|data)|everything|all of it)\b"
)
_NOT_ASKED = re.compile(
    r"\b(?:ne|n'|pas|don't|do not|not|sans|without)\b(?: \w+){0,2} (?:recommenc|repart|effac|supprim|oubli|delet|eras|reset|start)\w*"
)
_ARE_YOU_SURE: Wordings = {
    FR: (
        "si tu veux, j'efface tes réponses et on recommence au début. tu me le confirmes par oui ?",
        "je peux repartir de zéro, tes réponses seront effacées pour de bon, c'est bien oui ?",
    ),
    EN: (
        "if you like i'll delete your answers and we start over. is that a yes?",
        "i can start from scratch, your answers will be gone for good, yes or no?",
    ),
}
_KEPT: Wordings = {
    FR: ("ok, je garde tout comme c'est.", "rien n'est effacé, on continue."),
    EN: ("ok, i keep everything as it is.", "nothing is deleted, we go on."),
}
_DONE: Wordings = {
    FR: ("c'est effacé, on repart de zéro.", "voilà, page blanche."),
    EN: ("it's deleted, we start from scratch.", "there, a blank page."),
}


def answer(situation: Situation) -> Answer | None:
    """The question whether they are sure; the new beginning after a yes; nothing of it for who may not begin again."""
    user, text = situation.user, situation.heard.text
    if situation.awaited is Awaiting.RESET:
        return _decided(user, read_consent(text))
    folded = fold(text)
    # Somebody under age would only have to tell another age.
    barred = user.paused or user.stage is StageName.ADULTS_ONLY or user.inbounds <= 1
    if barred or not _ASKED.search(folded) or _NOT_ASKED.search(folded):
        return None
    line = Line(
        task="Ask whether you may delete their answers and begin again.",
        wordings=_ARE_YOU_SURE[user.language],
        mentions=("effac", "zero", "delet", "scratch", "over"),
    )
    return Answer(user=replace(user, awaiting=Awaiting.RESET), prompt=PROMPT, asked=line)


def _decided(user: User, consent: Consent | None) -> Answer | None:
    """Anything but a yes keeps everything; a message about something else is heard as such."""
    if consent is Consent.NO:
        kept = Line(task="Say that nothing is deleted.", wordings=_KEPT[user.language])
        return Answer(user=user, prompt=PROMPT, told=(kept,), goes_on=True)
    if consent is None:
        return None
    done = Line(task="Say that their answers are deleted.", wordings=_DONE[user.language])
    return Answer(user=_blank(user), prompt=PROMPT, told=(done,), tools=(ToolUse(name=TOOL),), goes_on=True)


def _blank(user: User) -> User:
    """The user as on the first day, but for what the other tables hold: payments, meetings, safety."""
    return User(
        id=user.id,
        address=user.address,
        language=user.language,
        time_zone=user.time_zone,
        inbounds=user.inbounds,
        last_seen=user.last_seen,
        plan=user.plan,
        match=user.match,
        meeting=user.meeting,
        acquaintances=user.acquaintances,
    )

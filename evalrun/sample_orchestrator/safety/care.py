"""Care: what Ori says to somebody in trouble. The conversation is kept, help is named, nothing else is asked for.

Always in code's own words: no model is asked for them, so they hold when the model is down, and the
numbers in them are right.
"""

from __future__ import annotations

from dataclasses import replace

from evalrun.sample_orchestrator.actions.action import Answer, Situation
from evalrun.sample_orchestrator.brief import Line, Wordings
from evalrun.sample_orchestrator.extraction.consent import Consent, read_consent
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.safety.help_lines import help_lines
from evalrun.sample_orchestrator.safety.wellbeing import Concern, Severity, Signal
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import Awaiting, User

PROMPT = "This person is in trouble. Stay with them, name who can help at once, ask for nothing else."

FR, EN = Language.FR, Language.EN
_SELF_HARM: Wordings = {
    FR: (
        "merci de me le dire, je reste là. tu n'as pas à porter ça sans aide, le {crisis} répond à toute heure, et le {emergency} s'il y a urgence.",
        "je t'entends et je ne pars pas. parle à quelqu'un maintenant, au {crisis}, ou au {emergency} si tu es en danger tout de suite.",
        "je suis toujours là. le {crisis} est ouvert jour et nuit, le {emergency} vient à toi si c'est urgent.",
    ),
    EN: (
        "thank you for telling me, i'm staying right here. you don't have to carry this without help: {crisis} answers at any hour, {emergency} if it is urgent.",
        "i hear you and i'm not leaving. please talk to someone now, on {crisis}, or {emergency} if you are in danger right away.",
        "i'm still here. {crisis} is open day and night, and {emergency} will come to you if it is urgent.",
    ),
}
_DANGER: Wordings = {
    FR: (
        "je reste avec toi. appelle le {emergency} tout de suite si tu le peux{text}. mets-toi près d'autres gens si c'est possible.",
        "ta sécurité d'abord, je ne bouge pas. le {emergency} répond tout de suite{text}.",
        "je suis là. dès que tu peux, le {emergency}{text}, même pour demander conseil.",
    ),
    EN: (
        "i'm staying with you. call {emergency} right now if you can{text}. get near other people if that is possible.",
        "your safety comes first, i'm not going anywhere. {emergency} answers at once{text}.",
        "i'm here. as soon as you can, {emergency}{text}, even just to ask what to do.",
    ),
}
_THREAT: Wordings = {
    FR: (
        "je t'entends, la colère est grande. personne ne doit être blessé, le {emergency} peut aider avant que ça arrive, et le {crisis} écoute aussi.",
        "on souffle. si quelqu'un risque d'avoir mal, le {emergency} répond tout de suite, et le {crisis} est là pour parler.",
    ),
    EN: (
        "i hear how angry you are. nobody should get hurt: {emergency} can help before it happens, and {crisis} listens too.",
        "let's take a breath. if someone may get hurt, {emergency} answers at once, and {crisis} is there to talk.",
    ),
}
_HARASSMENT: Wordings = {
    FR: (
        "merci de me le dire, ce n'est pas acceptable et tu n'y es pour rien. l'équipe est prévenue. après une rencontre, tu peux aussi écrire « signale » et je bloque.",
        "je te crois, et l'équipe va le lire. garde les messages. si tu as rencontré la personne, écris « signale » et elle ne te verra plus ici.",
    ),
    EN: (
        "thank you for telling me, that is not acceptable and it is not your fault. the team has been told. after a meeting you can also write « report » and i will block them.",
        "i believe you, and the team will read this. keep the messages. if you met this person, write « report » and they will not see you here any more.",
    ),
}
_DISTRESS: Wordings = {
    FR: (
        "merci de me le confier, ça a l'air lourd. on n'est pas pressés, je suis là, et le {crisis} écoute aussi si tu veux une voix.",
        "je t'entends. on laisse le reste de côté aujourd'hui, et si ça pèse trop, le {crisis} est là à toute heure.",
    ),
    EN: (
        "thank you for trusting me with that, it sounds heavy. there is no hurry, i'm here, and {crisis} listens too if you want a voice.",
        "i hear you. we leave the rest for today, and if it weighs too much, {crisis} is there at any hour.",
    ),
}
_WORDS = {
    Concern.SELF_HARM: _SELF_HARM,
    Concern.DANGER: _DANGER,
    Concern.THREAT: _THREAT,
    Concern.HARASSMENT: _HARASSMENT,
    Concern.DISTRESS: _DISTRESS,
}
_SAFE: Wordings = {
    FR: ("est-ce que tu es en sécurité, là, maintenant ?", "il y a quelqu'un près de toi en ce moment ?"),
    EN: ("are you safe right now?", "is there somebody with you at the moment?"),
}
_AFTER: Wordings = {
    FR: (
        "merci de m'avoir répondu. on reprend quand tu veux, rien ne presse.",
        "ok, je suis content de te lire. le reste attendra, écris-moi quand tu veux.",
    ),
    EN: (
        "thank you for answering. we go on whenever you like, there is no hurry.",
        "ok, i'm glad to read you. the rest can wait, write to me whenever you like.",
    ),
}


def answer(situation: Situation) -> Answer | None:
    """What is said to a message that worries, or to the one after it; None when nothing worries."""
    signals = situation.heard.signals
    if signals:
        return _caring(situation.user, signals)
    return _after(situation) if situation.awaited is Awaiting.SAFETY else None


def raised(signal: Signal) -> ToolUse:
    """The call that raises a signal."""
    arguments = {"concern": signal.concern.value, "severity": signal.severity.value, "words": signal.words}
    return ToolUse(name="raise_wellbeing_signal", arguments=arguments)


def _caring(user: User, signals: tuple[Signal, ...]) -> Answer:
    gravest = signals[0]
    critical = gravest.severity is Severity.CRITICAL and gravest.concern is not Concern.THREAT
    return Answer(
        user=replace(user, awaiting=Awaiting.SAFETY if critical else None),
        prompt=PROMPT,
        told=(_line("Name who can help at once.", _WORDS[gravest.concern], user),),
        asked=_line("Ask whether they are safe.", _SAFE, user) if critical else None,
        tools=tuple(raised(s) for s in signals),
        fixed=True,
    )


def _after(situation: Situation) -> Answer:
    """Help once more for somebody who is not safe, else no hurry; in neither case the next question of the stage."""
    user = situation.user
    if read_consent(situation.heard.text) is Consent.NO:
        again = _line("Name help again.", _DANGER, user)
        return Answer(user=replace(user, awaiting=Awaiting.SAFETY), prompt=PROMPT, told=(again,), fixed=True)
    return Answer(user=user, prompt=PROMPT, told=(_line("Say that there is no hurry.", _AFTER, user),), fixed=True)


def _line(task: str, wordings: Wordings, user: User) -> Line:
    lines = help_lines(user.time_zone)
    text = lines.text[user.language]
    filled = (w.format(crisis=lines.crisis, emergency=lines.emergency, text=text) for w in wordings[user.language])
    return Line(task=task, wordings=tuple(filled))

"""Answers to what a user asks beside the point, after which the stage goes on."""

from __future__ import annotations

from evalrun.sample_orchestrator.brief import Brief, Line
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.stages import profiling, welcome
from evalrun.sample_orchestrator.user import Plan, StageName, User

_BEFORE_PROFILE = {
    Language.FR: (
        "on parlera des tarifs une fois ton profil terminé.",
        "les tarifs viennent après ton profil, pas avant.",
        "promis, la question du prix arrive juste après ton profil.",
    ),
    Language.EN: (
        "we'll talk about pricing once your profile is done.",
        "pricing comes after your profile, not before.",
        "i promise, the price comes right after your profile.",
    ),
}
_AFTER_PROFILE = {
    Language.FR: ("les tarifs font partie des prochaines étapes de ton profil, j'y viens bientôt.",),
    Language.EN: ("pricing is one of the next steps now that your profile is done, i'll come to it soon.",),
}


_PAID = {
    Language.FR: ("ton adhésion est réglée, il n'y a rien d'autre à payer.", "tu as tout payé, plus rien à régler."),
    Language.EN: ("your membership is paid, there is nothing else to pay.", "you have paid, nothing more to settle."),
}
_TENDER_PROMPT = "This person just told something painful. Be gentle and short. Ask nothing, and sell nothing."
_TENDER = {
    Language.FR: (
        "merci de me confier ça, c'est un moment difficile. on n'est pas pressés, je suis là quand tu veux reprendre.",
        "je te lis, et ça compte. prends le temps qu'il te faut, rien ici ne presse.",
        "ça doit peser. je reste là, on continuera seulement quand tu en auras envie.",
    ),
    Language.EN: (
        "thank you for trusting me with that, it is a hard moment. there is no hurry, i'm here when you want to go on.",
        "i read you, and it matters. take the time you need, nothing here is urgent.",
        "that must weigh on you. i'm staying here, we'll go on only when you feel like it.",
    ),
}
_TENDER_MENTIONS = (
    "temps", "press", "difficil", "pein", "dur", "courage", "compt", "pes",
    "time", "hurry", "hard", "sorry", "matter", "weigh",
)  # fmt: skip


def tender(user: User, *, first_contact: bool) -> Brief:
    """The whole reply to something painful: gentle, and without a question; the one that was open stays open."""
    line = Line(
        task="They told you something painful: acknowledge it gently, say that there is no hurry. Do not cheer up.",
        wordings=_TENDER[user.language],
        mentions=_TENDER_MENTIONS,
    )
    told = (welcome.introduction(user.language), line) if first_contact else (line,)
    return Brief(prompt=_TENDER_PROMPT, told=told)


def about_price(user: User) -> Line:
    """That pricing is for later. Never a figure: the guard refuses those too."""
    if user.plan is Plan.MEMBER:
        task = "They asked about money: say that everything is paid, and give no figure."
        return Line(task=task, wordings=_PAID[user.language], mentions=("pay", "regl", "paid", "settl", "adhesion"))
    before = user.stage in (StageName.WELCOME, StageName.PROFILING)
    wordings = _BEFORE_PROFILE if before and not finished(user) else _AFTER_PROFILE
    return Line(
        task="They asked about money: say that this comes later, after their profile, and give no figure.",
        wordings=wordings[user.language],
        mentions=("profil",),
    )


def finished(user: User) -> bool:
    """Whether the profile is done."""
    return welcome.is_done(user) and profiling.is_done(user)

"""Answers to what a user asks beside the point, after which the stage goes on."""

from __future__ import annotations

from evalrun.sample_orchestrator.brief import Line
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.stages import profiling, welcome
from evalrun.sample_orchestrator.user import StageName, User

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


def about_price(user: User) -> Line:
    """That pricing is for later. Never a figure: the guard refuses those too."""
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

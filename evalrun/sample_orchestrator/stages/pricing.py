"""Pricing: the one price, said once the profile is done, and a charge only after an explicit yes."""

from __future__ import annotations

import re
from dataclasses import replace

from evalrun.sample_orchestrator.brief import Brief, Line
from evalrun.sample_orchestrator.extraction.consent import Consent, read_consent
from evalrun.sample_orchestrator.extraction.folding import fold
from evalrun.sample_orchestrator.heard import Heard
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.membership import CENTS, CURRENCY, PRICE
from evalrun.sample_orchestrator.stages import manifesto
from evalrun.sample_orchestrator.stages.questions import Question, put
from evalrun.sample_orchestrator.stages.stage import Reaction, Scene
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import Field, Plan, StageName, User

NAME = StageName.PRICING
NEXT = StageName.MATCHING
GOAL = "The user knows the price and has said yes or no to it; nothing is charged without a yes."

FR, EN = Language.FR, Language.EN
_TERMS = {
    FR: (
        f"l'adhésion coûte {PRICE}, une seule fois, et ensuite je cherche pour toi.",
        f"pour que je cherche, c'est {PRICE} en une fois, sans abonnement.",
        f"je te redis le tarif, {PRICE} payés une fois, rien de plus.",
    ),
    EN: (
        f"the membership costs {PRICE}, once, and then i start looking for you.",
        f"for me to look, it's {PRICE} paid one time, with no subscription.",
        f"here is the price again, {PRICE} paid once and nothing more.",
    ),
}
_PAYS = Question(
    task="Ask whether you may charge their card now.",
    first={FR: ("tu veux que je lance le paiement ?",), EN: ("shall i charge your card now?",)},
    again={
        FR: (
            "je ne débite rien sans ton accord clair, c'est oui ou non pour le paiement ?",
            "j'attends juste un oui ou un non, je passe la carte maintenant ?",
        ),
        EN: (
            "i charge nothing without a clear yes, is it yes or no for the payment?",
            "i only need a yes or a no, do i put it on your card now?",
        ),
    },
    mentions=("paiement", "pai", "carte", "debit", "regle", "charge", "card", "pay"),
)
_NOTHING_CHARGED = {
    FR: (
        "pas de souci, rien n'est débité. ton profil reste là, écris « je paie » le jour où tu veux.",
        "aucun prélèvement, promis. le jour venu, « je paie » suffit.",
        "on laisse ça tranquille, ta carte n'est pas touchée. un « je paie » et je commence à chercher.",
    ),
    EN: (
        "no worries, nothing is charged. your profile stays here, write « i'll pay » the day you want to.",
        "nothing is taken, promise. whenever you are ready, « i'll pay » is enough.",
        "let's leave it, your card is not touched. one « i'll pay » and i start looking.",
    ),
}
_PAID = {
    FR: ("c'est réglé, merci pour ta confiance.", "paiement bien reçu, merci à toi."),
    EN: ("it's paid, thank you for your trust.", "payment received, thank you."),
}
_SAYS_PAY = re.compile(
    r"\b(?:je (?:paie|paye|regle|prends)|(?:lance|valide|fais|ok pour|d'accord pour|vas-y pour) (?:le |l')?(?:paiement|prelevement|adhesion)"
    r"|debite|prends ma carte|i(?:'ll| will) pay|i'm paying|charge (?:it|my card|me)|go ahead and charge)\b"
)
_HEDGED = re.compile(
    r"\b(?:mais|peut-etre|sais pas|hesite|reflechi\w*|plus tard|demain|attends?|pas (?:maintenant|encore|tout de suite|sure?)"
    r"|si |but|maybe|not sure|later|tomorrow|wait|think about|don't|if )\b|\?"
)


def may_enter(user: User) -> bool:
    """The way of doing was told, so the profile is done."""
    return manifesto.may_enter(user) and manifesto.is_done(user)


def is_done(user: User) -> bool:
    """Paid."""
    return user.plan is Plan.MEMBER


def asks(user: User) -> tuple[Field, ...]:
    """The consent, of who has not decided."""
    return (Field.PLAN,) if user.plan is None else ()


def consents(text: str, *, asked: bool) -> bool:
    """Whether a text is an explicit yes to the charge: plain and unhedged, or with the word itself when not asked."""
    folded = fold(text)
    if _HEDGED.search(folded) or read_consent(text) is Consent.NO:
        return False
    return bool(_SAYS_PAY.search(folded)) or (asked and read_consent(text) is Consent.YES)


def hear(user: User, heard: Heard, *, last: bool) -> Reaction:  # noqa: ARG001  the shape of a stage
    """A clear yes charges, a no is kept, anything else changes nothing."""
    if consents(heard.text, asked=user.asked is Field.PLAN):
        arguments = {"cents": CENTS, "currency": CURRENCY, "consent": heard.text}
        line = Line(task="Say that the payment went through and thank them.", wordings=_PAID[user.language])
        charge = ToolUse(name="charge_card", arguments=arguments)
        return Reaction(user=replace(user, plan=Plan.MEMBER), tools=(charge,), told=(line,))
    if user.plan is None and read_consent(heard.answer) is Consent.NO:
        use = ToolUse(name="save_plan", arguments={"plan": Plan.LATER.value})
        return Reaction(user=replace(user, plan=Plan.LATER), tools=(use,))
    return Reaction(user=user)


def say(user: User, scene: Scene) -> Brief:
    """The terms on arrival or when asked for, then the question; to who declined only that nothing is charged."""
    told = (*scene.before, terms(user)) if scene.arrived or scene.asks_price else scene.before
    if user.settled(Field.PLAN):
        line = Line(task="Say that nothing is charged and that « je paie » (« i'll pay » in English) is enough one day.", wordings=_NOTHING_CHARGED[user.language], mentions=("rien", "aucun", "pas", "nothing", "not"))  # fmt: skip
        return Brief(stage=NAME, told=(*told, line), price=PRICE)
    return Brief(stage=NAME, told=told, asked=put(_PAYS, Field.PLAN, user), price=PRICE)


def terms(user: User) -> Line:
    """The price, as it is."""
    task = f"Say that the membership costs {PRICE}, paid once."
    return Line(task=task, wordings=_TERMS[user.language], holds=(PRICE,))

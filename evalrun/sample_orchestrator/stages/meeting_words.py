"""How a meeting is spoken of: the questions, and where it stands."""

from __future__ import annotations

from evalrun.sample_orchestrator.brief import Wordings
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.stages.questions import Question

FR, EN = Language.FR, Language.EN

FREE = Question(
    task="Say that both want to meet, and ask on which day they are free.",
    first={
        FR: ("{name} a envie aussi, c'est oui des deux côtés. quel jour te va, et vers quelle heure ?",),
        EN: ("{name} would like to as well, it's a yes on both sides. which day suits you, and at what time?",),
    },
    again={
        FR: (
            "donne-moi un jour et une heure pour voir {name}, par exemple jeudi 19h, ça donne quoi ?",
            "il me faut un moment précis à proposer à {name}, c'est quel soir qui t'arrange ?",
        ),
        EN: (
            "give me a day and a time to see {name}, say thursday 7pm, what would it be?",
            "i need a precise moment to propose to {name}, which evening is good for you?",
        ),
    },
    mentions=("jour", "quand", "soir", "moment", "day", "when", "evening", "time"),
)
IT_SUITS = Question(
    task="Ask whether that suits them.",
    first={
        FR: ("{name} propose {when}, à {place}. ça te va ?",),
        EN: ("{name} proposes {when}, in {place}. does that suit you?",),
    },
    again={
        FR: (
            "pour {when}, il me faut juste un oui ou un non, tu viens ?",
            "je réponds quoi à {name} pour {when}, c'est bon pour toi ?",
        ),
        EN: (
            "for {when}, i only need a yes or a no, are you coming?",
            "what shall i tell {name} about {when}, is it good for you?",
        ),
    },
    mentions=("va", "bon", "oui", "viens", "propose", "suit", "good", "yes", "coming"),
)
PROPOSED: Wordings = {
    FR: (
        "je propose {when}, à {place}, à {name}. je te dis dès que j'ai sa réponse.",
        "{name} a ta proposition, {when} à {place}, et je t'écris quand ça répond.",
        "pas encore de réponse de {name} pour {when}, je te tiens au courant.",
    ),
    EN: (
        "i'm proposing {when}, in {place}, to {name}. i'll tell you as soon as i have an answer.",
        "{name} has your proposal, {when} in {place}, and i'll write when they answer.",
        "no answer from {name} yet about {when}, i'll keep you posted.",
    ),
}
CONFIRMED: Wordings = {
    FR: (
        "c'est calé avec {name}, {when}, à {place}.",
        "tout est bon, tu vois {name} {when}, à {place}.",
        "je te confirme, {name} t'attend {when} à {place}.",
    ),
    EN: (
        "it's settled with {name}, {when}, in {place}.",
        "all good, you are seeing {name} {when}, in {place}.",
        "i confirm, {name} will be there {when} in {place}.",
    ),
}
OPEN: Wordings = {
    FR: (
        "la proposition de {name} pour {when} reste ouverte, dis-moi oui ou non quand tu sais.",
        "je garde {when} avec {name} sous le coude, un oui ou un non me suffit.",
    ),
    EN: (
        "the proposal of {name} for {when} stays open, tell me yes or no when you know.",
        "i'm keeping {when} with {name} for you, a yes or a no will do.",
    ),
}
CANCELLED: Wordings = {
    FR: ("pas de souci, on trouve un autre moment.", "ok, on cherche une autre date."),
    EN: ("no worries, we'll find another time.", "ok, let's look for another date."),
}

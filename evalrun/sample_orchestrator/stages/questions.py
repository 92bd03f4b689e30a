"""Questions, each in several wordings that do not resemble each other, and those of the profile."""

from __future__ import annotations

from dataclasses import dataclass

from evalrun.sample_orchestrator.brief import Line, Wordings
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.user import Field, User

FR, EN = Language.FR, Language.EN


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """How a field is asked: the first time, and again with a reason; `mentions` hold the reply to the topic."""

    task: str
    first: Wordings
    again: Wordings
    mentions: tuple[str, ...]


QUESTIONS = {
    Field.FIRST_NAME: Question(
        task="Ask for their first name.",
        first={FR: ("comment tu t'appelles ?",), EN: ("what's your first name?",)},
        again={
            FR: (
                "il me faut juste un prénom pour te présenter, lequel je note ?",
                "un prénom ou un surnom suffit, tu veux que je t'appelle comment ?",
            ),
            EN: (
                "i only need a first name to introduce you, which one shall i write down?",
                "a first name or a nickname will do, how should i call you?",
            ),
        },
        mentions=("prenom", "appelle", "nomme", "surnom", "name", "call", "nickname"),
    ),
    Field.CITY: Question(
        task="Ask which town they live in.",
        first={FR: ("tu vis dans quelle ville ?",), EN: ("which city do you live in?",)},
        again={
            FR: (
                "je présente des personnes qui peuvent se croiser pour de vrai, tu habites où ?",
                "le nom de ta ville ou de la plus proche suffit, c'est laquelle ?",
                "pour chercher près de chez toi, je note quelle ville ?",
            ),
            EN: (
                "i introduce people who can really meet, where do you live?",
                "the name of your city or the nearest one will do, which is it?",
                "so that i can look near you, which city shall i write down?",
            ),
        },
        mentions=("vill", "habit", "vis", "quartier", "city", "town", "live", "based"),
    ),
    Field.AGE: Question(
        task="Ask how old they are.",
        first={FR: ("tu as quel âge ?",), EN: ("how old are you?",)},
        again={
            FR: (
                "un chiffre suffit et je ne le montre à personne, tu as combien d'années au compteur ?",
                "c'est pour rester dans ta tranche d'âge, je note combien ?",
                "il me manque ton âge pour bien chercher, tu me le donnes en chiffres ?",
            ),
            EN: (
                "just a number and i show it to nobody, how many years do you have behind you?",
                "it's so that i stay in your age range, which number shall i write down?",
                "i still need your age to search well, can you give it in figures?",
            ),
        },
        mentions=("age", "annee", "ans", "old", "year"),
    ),
    Field.LOOKING_FOR: Question(
        task="Ask what they are looking for: something serious, something light, friendship, or open.",
        first={
            FR: ("et tu cherches quoi en ce moment ?",),
            EN: ("and what are you looking for at the moment?",),
        },
        again={
            FR: (
                "plutôt une histoire sérieuse, quelque chose de léger, de l'amitié, ou tu verras bien ?",
                "dis-le avec tes mots, c'est l'amour, l'amitié ou du léger que tu cherches ?",
                "pour ne pas te présenter n'importe qui, tu cherches du sérieux ou pas forcément ?",
            ),
            EN: (
                "would that be something serious, something light, friendship, or we'll see?",
                "in your own words, is it love, friendship or something casual you are looking for?",
                "so that i don't introduce just anybody, are you looking for something serious or not?",
            ),
        },
        mentions=("cherch", "envie", "attend", "serieu", "histoire", "look", "hope", "want", "serious"),
    ),
}


def question(field: Field, user: User) -> Line:
    """The line that asks for a field of the profile."""
    return put(QUESTIONS[field], field, user)


def put(asked: Question, field: Field, user: User, **known: str) -> Line:
    """The line that puts a question, its wordings filled in: the first on the first try, the others after it."""
    again = user.asked is field and user.attempts > 1
    first, later = (
        tuple(w.format(**known) for w in wordings[user.language]) for wordings in (asked.first, asked.again)
    )
    task = asked.task.format(**known)
    if again:
        task = f"{task} They did not answer the first time: use other words and say why you ask."
    return Line(task=task, wordings=later if again else (*first, *later), mentions=asked.mentions)

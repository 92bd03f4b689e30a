"""Coaching: one thing to work on and one piece of advice; then the search goes on, unless the two meet again."""

from __future__ import annotations

from dataclasses import replace

from evalrun.sample_orchestrator.brief import Brief, Line, Wordings
from evalrun.sample_orchestrator.extraction.topic import read_topic
from evalrun.sample_orchestrator.heard import Heard
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.stages import feedback
from evalrun.sample_orchestrator.stages.questions import Question, put
from evalrun.sample_orchestrator.stages.stage import Reaction, Scene
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import Field, StageName, Topic, User

NAME = StageName.COACHING
NEXT = StageName.MATCHING
GOAL = "The user leaves with one thing to try, and knows what happens next."

FR, EN = Language.FR, Language.EN
_WHAT = Question(
    task="Ask what they would like to work on: first words, conversation or confidence.",
    first={
        FR: ("pour la prochaine fois, tu veux qu'on travaille les premiers mots, la conversation ou la confiance ?",),
        EN: ("for next time, shall we work on first words, conversation or confidence?",),
    },
    again={
        FR: (
            "je te donne un seul conseil, alors je préfère viser juste, c'est quoi le plus dur pour toi ?",
            "si tu devais choisir, ce serait briser la glace, tenir la discussion ou oser davantage ?",
        ),
        EN: (
            "i give a single piece of advice, so i'd rather aim well, what is hardest for you?",
            "if you had to choose, would it be breaking the ice, keeping the talk going or daring more?",
        ),
    },
    mentions=("travail", "conseil", "dur", "chois", "confiance", "conversation", "work", "advice", "hard", "choose"),
)
_ADVICE: dict[Topic, Wordings] = {
    Topic.FIRST_WORDS: {
        FR: ("commence par ce que tu vois autour de vous, un détail vrai vaut mieux qu'une belle phrase.",),
        EN: ("start with something you both see, one true detail is better than a fine sentence.",),
    },
    Topic.CONVERSATION: {
        FR: ("rebondis sur le dernier mot de l'autre avant de parler de toi, ça suffit à faire couler un échange.",),
        EN: ("pick up the other one's last word before you talk of yourself, that keeps a talk going.",),
    },
    Topic.CONFIDENCE: {
        FR: ("dis simplement que tu es un peu nerveux, ça détend tout le monde, toi le premier.",),
        EN: ("just say that you are a little nervous, it puts everybody at ease, you first.",),
    },
}
_MENTIONS = {
    Topic.FIRST_WORDS: ("commenc", "detail", "mot", "phrase", "start", "detail", "word"),
    Topic.CONVERSATION: ("rebond", "ecout", "question", "parl", "echange", "pick", "listen", "talk", "ask"),
    Topic.CONFIDENCE: ("nerv", "confiance", "respir", "detend", "calm", "breath", "confiden", "ease"),
}
_TOGETHER = {
    FR: (
        "je vous laisse la suite à tous les deux, et je reste là si tu as besoin de moi.",
        "profite de cette belle histoire, je ne suis jamais loin.",
        "tout se passe entre vous maintenant, écris-moi quand tu veux.",
    ),
    EN: (
        "i leave the rest to the two of you, and i'm here if you need me.",
        "enjoy what is starting, i'm never far.",
        "it's between you two now, write to me whenever you like.",
    ),
}


def may_enter(user: User) -> bool:
    """The feedback is given, or was given up."""
    return feedback.may_enter(user) and feedback.is_done(user)


def is_done(user: User) -> bool:
    """The advice is given, or not wanted, the two do not meet again, and their match is closed."""
    return user.settled(Field.TOPIC) and user.again is not True and user.match is None


def asks(_user: User) -> tuple[Field, ...]:
    """What to work on."""
    return (Field.TOPIC,)


def hear(user: User, heard: Heard, *, last: bool) -> Reaction:
    """A topic brings its advice; who leaves without one, or with it, is free for somebody new."""
    settled = user.settled(Field.TOPIC)
    topic = None if settled else read_topic(heard.answer)
    told = () if topic is None else (_advice(topic, user.language),)
    tools = [] if topic is None else [ToolUse(name="save_topic", arguments={"topic": topic.value})]
    user = replace(user, topic=topic or user.topic)
    if (topic or last or settled) and user.again is not True and user.match:
        partner = user.match.partner
        arguments = {"match": user.match.id, "with": partner.first_name or partner.address}
        tools.append(ToolUse(name="close_match", arguments=arguments))
        user = replace(user, match=None)
    return Reaction(user=user, tools=tuple(tools), told=told)


def say(user: User, scene: Scene) -> Brief:
    """Ask what to work on, then leave them to it."""
    if user.settled(Field.TOPIC):
        line = Line(task="Wish them well and say that you stay near.", wordings=_TOGETHER[user.language])
        return Brief(stage=NAME, told=(*scene.before, line))
    return Brief(stage=NAME, told=scene.before, asked=put(_WHAT, Field.TOPIC, user))


def _advice(topic: Topic, language: Language) -> Line:
    advice = _ADVICE[topic][language]
    task = f"Give this advice in your own words: {advice[0]}"
    return Line(task=task, wordings=advice, mentions=_MENTIONS[topic])

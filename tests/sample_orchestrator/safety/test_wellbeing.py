"""The well-being evaluator: a table of what people write, in French and English, and what it must raise."""

import pytest

from evalrun.sample_orchestrator.safety.wellbeing import Concern, Severity, evaluate

RAISED = {
    Concern.SELF_HARM: (
        "j'ai envie de mourir",
        "je veux mourir",
        "je veux plus vivre",
        "je ne veux plus vivre",
        "j'ai plus envie de vivre",
        "j'veux en finir",
        "je vais me tuer",
        "je pense au suicide",
        "j'ai des idées noires",
        "j'ai avalé toute la boîte",
        "je me suis scarifiée hier",
        "je vais mettre fin à mes jours",
        "lyon. et honnêtement j'ai envie d'en finir",
        "je rigole pas, j'ai envie de mourir",
        "je plaisante pas je veux mourir",
        "j'ai envie de disparaître",
        "ce serait mieux si je n'étais plus là",
        "i want to die",
        "i don't want to live anymore",
        "i'm going to kill myself",
        "i feel suicidal",
        "i've been cutting myself",
        "i wish i was dead",
        "i want to end it all",
        "everyone would be better off without me",
        "je veux pas mourir mais j'ai envie de me faire du mal",
        "34 ans, pensées suicidaires",
        "J’AI ENVIE DE MOURIR",
        "je veux me suicider",
        "jvais me suicider",
        "j'ai voulu mourir l'an dernier",
        "je veux vraiment mourir",
        "j'ai plein d'idées noires en ce moment",
        "sometimes i really just want to die",
    ),
    Concern.DANGER: (
        "il m'a frappée",
        "mon ex me suit dans la rue",
        "je suis en danger",
        "il vient de me frapper",
        "je me sens pas en sécurité",
        "j'ai peur qu'il me tue",
        "il m'attend en bas de chez moi",
        "aidez-moi, au secours",
        "il me laisse pas sortir",
        "je me suis fait agresser",
        "he hit me",
        "my ex is following me",
        "i'm in danger",
        "i don't feel safe",
        "he won't let me leave",
        "i'm scared of him",
        "he spiked my drink",
        "i was assaulted last night",
        "il veut me tuer",
    ),
    Concern.THREAT: (
        "je vais la tuer si elle répond pas",
        "je sais où elle habite",
        "i'm going to kill him",
        "je vais lui casser la gueule",
    ),
    Concern.HARASSMENT: (
        "noah me harcèle",
        "il n'arrête pas de m'écrire malgré mon refus",
        "il m'insulte tous les jours",
        "elle me fait du chantage",
        "il m'a envoyé une photo de son sexe",
        "he keeps texting me",
        "she won't stop calling",
        "i'm being harassed",
        "noah keeps harassing me",
        "il me menace",
        "je suis harcelée par lui",
    ),
    Concern.DISTRESS: (
        "j'en peux plus",
        "je suis au bout du rouleau",
        "je suis très déprimé",
        "je pleure tous les soirs",
        "mon frère s'est suicidé",
        "i feel hopeless",
        "i can't take it anymore",
        "je me sens tellement seul",
        "my sister killed herself",
    ),
}
NEUTRAL = (
    "mort de rire",
    "je meurs de faim",
    "tu me tues mdr",
    "je veux pas mourir seul",
    "j'ai peur de mourir seule",
    "je suis crevé",
    "c'est mortel ici",
    "i'm dying to meet her",
    "i'd kill for a coffee",
    "this commute is killing me",
    "je n'ai jamais pensé au suicide",
    "je ne suis pas en danger",
    "il ne m'a pas frappée",
    "j'ai vu un film sur le suicide",
    "suicide squad est nul",
    "lyon",
    "34",
    "du sérieux",
    "j'en peux plus d'attendre",
    "je tue le temps",
    "je veux me jeter à l'eau",
    "t'es nul comme bot",
    "va te faire voir",
    "i'm not suicidal",
    "he never hit me",
    "i don't want to die alone",
    "je cherche quelqu'un avec qui vivre",
    "je veux plus vivre à paris",
    "je veux finir mon profil",
    "arrête de m'écrire",
    "pause",
    "c'est combien ?",
    "dead tired today",
    "je n'en peux plus de rire",
    "j'ai besoin d'aide pour mon profil",
    "je suis en sécurité, merci",
    "personne ne me harcèle",
    "elle habite où ?",
    "je suis seul depuis deux ans",
    "désolé je suis fatigué",
    "i'm dead serious about this",
    "j'ai envie de disparaître de ce site",
    "à mourir d'ennui",
    "i want to kill time",
    "i don't want to live in paris",
    "mon chat m'a agressé mdr",
    "il me suit partout sur insta mon chien",
    "je l'ai tué au tennis",
    "a l'aide je comprends pas la question",
    "elle va me tuer si je suis en retard",
    "he killed it on stage",
    "i could kill for pizza",
    "il m'a tapé dans l'oeil",
    "je vais le tuer ce chat lol",
)


@pytest.mark.parametrize(("concern", "text"), [(c, t) for c, texts in RAISED.items() for t in texts])
def test_what_worries_is_raised(concern, text):
    """Each of these raises its concern, as the gravest of the message."""
    assert concern is evaluate(text)[0].concern


@pytest.mark.parametrize("text", NEUTRAL)
def test_sayings_denials_and_stories_raise_nothing(text):
    """Idioms, negations, films and ordinary answers are no signal."""
    assert () == evaluate(text)


def test_a_denial_does_not_cover_what_follows():
    """What is denied in one half of a sentence may be true in the other."""
    found = evaluate("je ne veux pas mourir, mais il m'a frappée")
    assert [Concern.DANGER] == [s.concern for s in found]


def test_several_concerns():
    """Several concerns of one message are all raised, the gravest first, and distress not beside a graver one."""
    found = evaluate("j'en peux plus. il me harcèle et j'ai envie de mourir")
    assert [Concern.SELF_HARM, Concern.HARASSMENT] == [s.concern for s in found]


@pytest.mark.parametrize(
    "text", ["J'AI ENVIE DE MOURIR", "j’ai envie de mourir", "  j'ai  envie de mourir  ", "j'ai envie de mourir 😔"]
)
def test_how_it_is_typed_does_not_matter(text):
    """Case, curly signs, blanks and emoji change nothing."""
    assert Concern.SELF_HARM is evaluate(text)[0].concern


def test_severity():
    """What endangers a life is critical, harassment high, distress low; the words that raised it are kept."""
    signals = [evaluate(t)[0] for t in ("je veux mourir", "il me harcèle", "je suis au bout du rouleau")]
    assert [Severity.CRITICAL, Severity.HIGH, Severity.LOW] == [s.severity for s in signals]
    assert "je veux mourir" == signals[0].words


@pytest.mark.parametrize("text", ["", "…", "a" * 2000, "envie de " * 220, "je ne " * 300, "he " * 660])
def test_odd_messages(text):
    """Empty, endless and repetitive messages are read at once and raise nothing."""
    assert () == evaluate(text)

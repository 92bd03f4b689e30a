"""What code reads from a user's words."""

from datetime import UTC, datetime

import pytest

from evalrun.sample_orchestrator.extraction.folding import clean
from evalrun.sample_orchestrator.extraction.impression import read_impression
from evalrun.sample_orchestrator.extraction.intents import Intent, read_intents, without_price
from evalrun.sample_orchestrator.extraction.reading import read
from evalrun.sample_orchestrator.extraction.slot import read_slot
from evalrun.sample_orchestrator.extraction.topic import read_topic
from evalrun.sample_orchestrator.language import Language, detect
from evalrun.sample_orchestrator.user import Field, LookingFor


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("léa", "Léa"),
        ("Léa", "Léa"),
        ("LÉA !", "Léa"),
        ("moi c'est léa", "Léa"),
        ("je m'appelle Jean-Marc", "Jean-Marc"),
        ("je m’appelle léa", "Léa"),
        ("salut moi c'est noah et toi", "Noah"),
        ("i'm Noah", "Noah"),
        ("my name is Noah", "Noah"),
        ("jean pierre", "Jean Pierre"),
        ("léa martin", "Léa"),
        ("hello, léa", "Léa"),
        ("pourquoi ?", None),
        ("c'est combien", None),
        ("je sais pas", None),
        ("bonjour", None),
        ("i'm looking for love", None),
        ("devine", None),
        ("non merci", None),
        ("06 12 34 56 78", None),
        ("", None),
    ],
)
def test_first_name(text, name):
    """A first name is read from an introduction or a bare answer, and from nothing else."""
    assert name == read(text, Field.FIRST_NAME).get("first_name")


@pytest.mark.parametrize(
    ("text", "city"),
    [
        ("lyon", "Lyon"),
        ("Lyon !", "Lyon"),
        ("j'habite à lyon depuis 2 ans", "Lyon"),
        ("je vis à saint etienne", "Saint-Étienne"),
        ("saint-étienne", "Saint-Étienne"),
        ("aix en provence", "Aix-en-Provence"),
        ("je vis au mans", "Le Mans"),
        ("la rochelle", "La Rochelle"),
        ("à Villefranche", "Villefranche"),
        ("moi je suis sur lille, et toi", "Lille"),
        ("i live in london with my cat", "London"),
        ("plutôt côté lyon tu vois", "Lyon"),
        ("paris ou lyon", None),
        ("à la campagne", None),
        ("pourquoi", None),
        ("je préfère pas", None),
        ("34", None),
        ("je sais pas trop", None),
        ("j'aime les chats", None),
        ("le foot", None),
        ("la danse", None),
        ("annemasse", "Annemasse"),
        ("L'Isle-d'Abeau", "L'Isle-D'Abeau"),
        ("x" * 200, None),
    ],
)
def test_city(text, city):
    """A town is read from a sentence or a bare answer; two towns, a landscape or small talk are none."""
    assert city == read(text, Field.CITY).get("city")


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("34", 34),
        ("34 ans", 34),
        ("j'ai 34 ans", 34),
        ("J’ai 34 ans", 34),
        ("i'm 34", 34),
        ("trente-quatre", 34),
        ("vingt et un ans", 21),
        ("quatre-vingt deux", 82),
        ("soixante-dix-sept", 77),
        ("thirty four", 34),
        ("16", 16),
        ("j'ai un fils de 4 ans", None),
        ("depuis 3 ans", None),
        ("entre 30 et 40", None),
        ("999", None),
        ("2", None),
        ("secret", None),
    ],
)
def test_age(text, age):
    """An age is the user's own, believable, and the only figure."""
    assert age == read(text, Field.AGE).get("age")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("une relation sérieuse", LookingFor.RELATIONSHIP),
        ("l'amour", LookingFor.RELATIONSHIP),
        ("rien de sérieux", LookingFor.CASUAL),
        ("des amis", LookingFor.FRIENDSHIP),
        ("je sais pas trop, on verra", LookingFor.OPEN),
        ("something serious", LookingFor.RELATIONSHIP),
        ("le foot", None),
    ],
)
def test_looking_for(text, kind):
    """What is looked for is one of four kinds, or unknown."""
    assert kind == read(text, Field.LOOKING_FOR).get("looking_for")


def test_everything_at_once():
    """A talkative user's message fills every field it states, whatever was asked."""
    text = "moi c'est léa, j'habite à lyon, j'ai 34 ans et je cherche une histoire sérieuse"
    expected = {"first_name": "Léa", "city": "Lyon", "age": 34, "looking_for": LookingFor.RELATIONSHIP}
    assert expected == read(text, None)


def test_bare_words_need_a_question():
    """A lone word or figure means nothing when nothing was asked."""
    assert [{}, {}, {}] == [read("lyon", None), read("34", None), read("léa", Field.AGE)]


@pytest.mark.parametrize(
    "text",
    [
        "pause",
        "mets en pause",
        "Mets-moi en pause stp",
        "stop",
        "je veux faire une pause",
        "fais une petite pause",
        "laisse moi tranquille",
        "arrête de m'écrire",
        "stop for a while",
        "i need a break",
        "pause my account please",
        "put me on hold",
    ],
)
def test_pause_is_heard(text):
    """The usual ways to ask for a pause are understood, in both languages."""
    assert frozenset({Intent.PAUSE}) == read_intents(text)


@pytest.mark.parametrize(
    "text", ["ne mets pas en pause", "je fais une pause café", "stopper la clope", "je sors de pause"]
)
def test_other_pauses_are_not(text):
    """The word alone does not make a request."""
    assert Intent.PAUSE not in read_intents(text)


@pytest.mark.parametrize(
    "text", ["c'est combien ?", "ça coûte cher ?", "quels tarifs", "how much is it?", "c'est payant ?"]
)
def test_price_is_heard(text):
    """A question about money is understood."""
    assert Intent.PRICE in read_intents(text)


def test_an_answer_beside_a_price_question():
    """The part of a message that is not about the price is still read."""
    assert "Lyon" == read(without_price("lyon, et c'est combien ?"), Field.CITY).get("city")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("salut, je cherche quelqu'un", Language.FR),
        ("hello, i am looking for somebody", Language.EN),
        ("Lyon", None),
        ("the city de la", None),
        ("j'habite à lyon", Language.FR),
        ("12345", None),
    ],
)
def test_language(text, language):
    """The language is the one with more small words; a lone name has none."""
    assert language == detect(text)


def test_what_cannot_be_stored_is_removed():
    """Control signs, half characters and endless text do not reach the database."""
    assert "ab" == clean("a\x00\ud800b\u200b")
    assert 2000 == len(clean("x" * 10_000))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("super, on a bien ri", "good"),
        ("c'était très bien", "good"),
        ("it was lovely", "good"),
        ("bof", "mixed"),
        ("pas mal", "mixed"),
        ("not bad", "mixed"),
        ("sympa mais sans plus", "mixed"),
        ("pas terrible", "bad"),
        ("bof, j'étais mal à l'aise", "bad"),
        ("pas super bien", "bad"),
        ("il n'est pas venu", "missed"),
        ("she never came", "missed"),
        ("elle m'a posé un lapin", "missed"),
        ("on verra", None),
    ],
)
def test_impression(text, expected):
    """How a meeting was, with what was bad before what was so-so."""
    assert expected == read_impression(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("jeudi 19h30", "2026-03-05T19:30:00+01:00"),
        ("samedi", "2026-03-07T19:00:00+01:00"),
        ("plutôt dimanche à 15 h", "2026-03-08T15:00:00+01:00"),
        ("demain midi", "2026-03-03T12:00:00+01:00"),
        ("tomorrow at 7pm", "2026-03-03T19:00:00+01:00"),
        ("ce soir 20h", "2026-03-02T20:00:00+01:00"),
        ("lundi 9h", "2026-03-09T09:00:00+01:00"),
        ("jeudi ou vendredi", None),
        ("pas samedi", None),
        ("19h", None),
        ("jeudi 27h", None),
        ("quand tu veux", None),
    ],
)
def test_slot(text, expected):
    """One day ahead, with its hour on the user's wall; the evening when none is said; two days are none."""
    found = read_slot(text, datetime(2026, 3, 2, 11, 0, tzinfo=UTC), "Europe/Paris")
    assert expected == (found and found.isoformat())


def test_slot_over_the_change_of_summer_time():
    """The hour is that of the wall on the day itself, after the clocks have changed too."""
    found = read_slot("lundi 19h", datetime(2026, 3, 27, 11, 0, tzinfo=UTC), "Europe/Paris")
    assert "2026-03-30T19:00:00+02:00" == found.isoformat()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("la confiance", "confidence"),
        ("les premiers mots", "first_words"),
        ("keeping a conversation going", "conversation"),
        ("tout", None),
        ("la confiance ou la conversation", None),
    ],
)
def test_topic(text, expected):
    """One topic is taken, several are none."""
    assert expected == read_topic(text)

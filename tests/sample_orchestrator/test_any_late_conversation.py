"""Whatever users write after the profile: the guard passes all safe wording, and nothing is charged unasked."""

import random
from dataclasses import replace
from datetime import timedelta

import pytest

from evalrun.sample_orchestrator.encounters import Impression, Match, Meeting, MeetingStatus, Partner
from evalrun.sample_orchestrator.events.registry import EVENTS
from evalrun.sample_orchestrator.funnel import decide
from evalrun.sample_orchestrator.guard import Breach, Frame, breach
from evalrun.sample_orchestrator.heard import listen
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.phrasing import safe_wording
from evalrun.sample_orchestrator.stages.registry import STAGES
from evalrun.sample_orchestrator.user import Plan, StageName, User
from tests.sample_orchestrator.stage_door import DONE, NOON

SAID = (
    "oui", "non", "ok", "hum", "je sais pas", "c'est combien ?", "je paie", "oui mais", "jeudi 19h", "demain", "samedi",
    "super", "bof", "pas terrible", "la confiance", "les premiers mots", "alors ?", "merci", "pourquoi ?", "", "pause",
    "reprends", "plutôt dimanche 15h", "lol", "j'habite à lille", "je viens de perdre mon père", "il n'est pas venu",
)  # fmt: skip
NOAH = Partner(
    id=2, address="b", first_name="Noah", age=31, city="Lyon", language=Language.FR, time_zone="Europe/Paris"
)
NAMELESS = replace(NOAH, first_name=None, age=None, city=None)
MATCH = Match(id=1, partner=NOAH, told=True, answer=None, their_answer=None)
HELD = Meeting(id=1, partner=NOAH, at=NOON - timedelta(days=1), place="Lyon", status=MeetingStatus.HELD)
AHEAD = replace(HELD, at=NOON + timedelta(days=1), status=MeetingStatus.CONFIRMED)
SITUATIONS = {
    "manifesto": {"stage": StageName.MANIFESTO},
    "pricing": {"stage": StageName.PRICING},
    "searching": {"stage": StageName.MATCHING, "plan": Plan.MEMBER},
    "untold": {"stage": StageName.MATCHING, "plan": Plan.MEMBER, "match": replace(MATCH, told=False)},
    "matched": {"stage": StageName.MATCHING, "plan": Plan.MEMBER, "match": replace(MATCH, their_answer=True)},
    "nameless": {"stage": StageName.MATCHING, "plan": Plan.MEMBER, "match": replace(MATCH, partner=NAMELESS)},
    "arranging": {
        "stage": StageName.MEETING,
        "plan": Plan.MEMBER,
        "match": replace(MATCH, answer=True, their_answer=True),
    },
    "proposed to": {
        "stage": StageName.MEETING,
        "plan": Plan.MEMBER,
        "match": replace(MATCH, answer=True, their_answer=True),
        "meeting": replace(AHEAD, status=MeetingStatus.PROPOSED, proposed_by=2),
    },
    "confirmed": {"stage": StageName.MEETING, "plan": Plan.MEMBER, "meeting": AHEAD},
    "held": {"stage": StageName.FEEDBACK, "plan": Plan.MEMBER, "match": MATCH, "meeting": HELD},
    "coaching": {
        "stage": StageName.COACHING,
        "plan": Plan.MEMBER,
        "match": MATCH,
        "meeting": replace(HELD, impression=Impression.MIXED, again=False),
    },
}


def holds(brief, user, earlier):
    """The guard passes the safe wording, but for repetition, which endless talk cannot avoid; the bubbles."""
    bubbles = safe_wording(brief, earlier).bubbles
    found = breach(bubbles, Frame(brief=brief, language=user.language, max_chars=320, earlier=tuple(earlier)))
    assert found in (None, Breach.REPEATED), (found, bubbles)
    return list(bubbles)


@pytest.mark.parametrize("language", [Language.FR, Language.EN])
@pytest.mark.parametrize("name", SITUATIONS)
@pytest.mark.parametrize("seed", range(6))
def test_rules_hold(seed, name, language):
    """From any situation: safe wording passes the guard, no two questions in a row are alike, only consent charges."""
    dice = random.Random(f"{seed}{name}")
    user = User(id=1, address="a", inbounds=9, agreed=True, language=language, **{**DONE, **SITUATIONS[name]})
    earlier, last = [], ""
    for _ in range(20):
        text = dice.choice(SAID)
        was_asked = user.asked
        decision = decide(user, listen(text, first_contact=False, at=NOON))
        user = replace(decision.user, language=language)
        assert STAGES[user.stage].may_enter(user), user.stage
        if "charge_card" in {t.name for t in decision.tools}:
            assert text == "je paie" or (text in ("oui", "ok", "super") and was_asked == "plan"), text
        bubbles = holds(replace(decision, user=user).brief, decision.user, earlier)
        if decision.brief.asked and not decision.brief.fixed:
            assert bubbles[-1] != last
            last = bubbles[-1]
        earlier += bubbles


@pytest.mark.parametrize("language", [Language.FR, Language.EN])
@pytest.mark.parametrize("name", SITUATIONS)
@pytest.mark.parametrize("event", EVENTS)
def test_events_hold(event, name, language):
    """Every event that applies in a situation is said in wording that the guard passes."""
    user = User(id=1, address="a", inbounds=9, agreed=True, language=language, **{**DONE, **SITUATIONS[name]})
    module = EVENTS[event]
    if not module.is_relevant(user, NOON):
        return
    prepared = module.prepare(user)
    brief = module.say(prepared, {})
    assert holds(brief, prepared, [])
    assert module.occasion(user) == module.occasion(prepared)
    assert STAGES[prepared.stage].may_enter(prepared)

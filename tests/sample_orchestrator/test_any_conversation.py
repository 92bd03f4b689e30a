"""Whatever users write, in whatever order: the rules that no conversation breaks."""

import random

import pytest

from evalrun.sample_orchestrator.events import profile_reminder
from evalrun.sample_orchestrator.funnel import decide
from evalrun.sample_orchestrator.guard import Breach, Frame, breach
from evalrun.sample_orchestrator.heard import listen
from evalrun.sample_orchestrator.phrasing import safe_wording
from evalrun.sample_orchestrator.stages.registry import STAGES
from evalrun.sample_orchestrator.user import User
from tests.sample_orchestrator.stage_door import NOON

FRENCH = (
    "salut", "léa", "moi c'est léa", "lyon", "j'habite à lille", "34", "j'ai 34 ans", "16", "une histoire sérieuse",
    "pause", "reprends", "c'est combien ?", "lyon, et c'est combien ?", "pourquoi ?", "je sais pas", "lol", "ok",
    "tu penses quoi du foot ?", "", "on verra bien",
)  # fmt: skip
ENGLISH = (
    "hello", "Noah", "my name is Noah", "i live in london", "london", "i'm 34", "stop for a while", "i'm back",
    "how much is it?", "why do you ask that?", "something serious please", "i don't want to tell you",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_rules_hold(seed):
    """Safe wording always passes the guard, asks exactly when it should, and each stage's entry condition holds."""
    dice = random.Random(seed)
    pool = FRENCH if seed % 3 else FRENCH + ENGLISH
    user, earlier = User(id=1, address="a"), []
    for _ in range(25):
        decision = decide(user, listen(dice.choice(pool), first_contact=user.inbounds == 0, at=NOON))
        before, user = user, decision.user
        bubbles = safe_wording(decision.brief, earlier).bubbles
        _holds(decision.brief, user, bubbles)
        assert STAGES[user.stage].may_enter(user)
        assert not (user.paused and decision.brief.asked)
        assert user.paused == before.paused or {"pause_account", "resume_account"} & {t.name for t in decision.tools}
        earlier += bubbles
        if not user.paused and profile_reminder.is_relevant(user, NOON):
            prepared = profile_reminder.prepare(user)
            brief = profile_reminder.say(prepared, {})
            _holds(brief, prepared, safe_wording(brief, earlier).bubbles)
            assert brief.asked


def _holds(brief, user, bubbles):
    """The guard passes it, but for repetition, which endless talk cannot avoid."""
    found = breach(bubbles, Frame(brief=brief, language=user.language, max_chars=300))
    assert found in (None, Breach.REPEATED), (found, bubbles)


@pytest.mark.parametrize("seed", range(20))
def test_no_question_is_repeated_at_once(seed):
    """Two replies in a row never ask in the same words."""
    dice = random.Random(seed)
    user, earlier, last = User(id=1, address="a"), [], ""
    for _ in range(15):
        decision = decide(user, listen(dice.choice(FRENCH), first_contact=user.inbounds == 0, at=NOON))
        user = decision.user
        bubbles = safe_wording(decision.brief, earlier).bubbles
        assert bubbles[-1] != last
        earlier, last = [*earlier, *bubbles], bubbles[-1]

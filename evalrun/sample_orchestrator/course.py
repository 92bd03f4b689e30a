"""The way through the funnel: what a message teaches, how far the user gets with it, and what the stage then says.

Pure, like `funnel.py`, which comes before it and sees to what goes before the funnel: safety, actions, the pause.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from evalrun.sample_orchestrator import asides
from evalrun.sample_orchestrator.brief import Brief, Line
from evalrun.sample_orchestrator.extraction.intents import Intent
from evalrun.sample_orchestrator.extraction.reading import read
from evalrun.sample_orchestrator.heard import Heard
from evalrun.sample_orchestrator.relay import Relay
from evalrun.sample_orchestrator.stages import adults_only, welcome
from evalrun.sample_orchestrator.stages.registry import STAGES
from evalrun.sample_orchestrator.stages.stage import Reaction, Scene
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import PROFILE, Field, StageName, User

TRIES = 2
"""How often a field is asked for in a row before Ori moves on without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The user after the message, the tools to call, the reply to phrase, and what is passed on to others."""

    user: User
    brief: Brief
    tools: tuple[ToolUse, ...] = ()
    relays: tuple[Relay, ...] = ()


def take(user: User, heard: Heard, *, first_contact: bool) -> Decision:
    """A message that is neither an action nor from a paused user: learn from it, move, speak."""
    before = user
    user, new = _learn(replace(user, expired=False), heard)
    saved = (ToolUse(name="save_profile", arguments=new),) if new else ()
    if Intent.SENSITIVE in heard.intents and user.stage is not StageName.ADULTS_ONLY:
        return Decision(user=user, brief=asides.tender(user, first_contact=first_contact), tools=saved)
    asks_price = Intent.PRICE in heard.intents
    reaction = _react(move(user), heard, new)
    user = move(reaction.user)
    scene = Scene(
        first_contact=first_contact,
        arrived=user.stage is not before.stage,
        learnt=frozenset(Field(name) for name in new),
        gave_up=next((f for f in user.skipped if f not in before.skipped), None),
        asks_price=asks_price,
        aside=asides.about_price(user) if asks_price and user.stage is not StageName.PRICING else None,
        reacted=(*_introduced(user, first_contact=first_contact), *reaction.told),
    )
    return replace(speak(user, scene), tools=(*saved, *reaction.tools))


def _introduced(user: User, *, first_contact: bool) -> tuple[Line, ...]:
    """Who Ori is, for somebody whose first message leads past the stages that say so themselves."""
    own_words = (StageName.WELCOME, StageName.PROFILING)
    return (welcome.introduction(user.language),) if first_contact and user.stage not in own_words else ()


def move(user: User) -> User:
    """Follow the funnel as far as its conditions allow, never round in a circle."""
    if adults_only.may_enter(user):
        return replace(user, stage=StageName.ADULTS_ONLY)
    stage, passed = STAGES[user.stage], {user.stage}
    while stage.NEXT and stage.NEXT not in passed and stage.is_done(user) and STAGES[stage.NEXT].may_enter(user):
        stage = STAGES[stage.NEXT]
        passed.add(stage.NAME)
    return replace(user, stage=stage.NAME)


def speak(user: User, scene: Scene) -> Decision:
    """Let the stage say its words, once the field it asks for is noted as open."""
    user = open_question(user, counts=scene.aside is None and not scene.asks_price)
    return Decision(user=user, brief=STAGES[user.stage].say(user, scene))


def open_question(user: User, *, counts: bool) -> User:
    """The user with the next field open. An ask that only follows an aside does not count as a try."""
    wanted = [f for f in STAGES[user.stage].asks(user) if not user.settled(f)]
    if not wanted:
        return replace(user, asked=None, attempts=0)
    field = user.asked if user.asked in wanted else wanted[0]
    if field is user.asked:
        return replace(user, attempts=max(user.attempts + counts, 1))
    return replace(user, asked=field, attempts=1)


def _learn(user: User, heard: Heard) -> tuple[User, dict[str, object]]:
    """Take what the message tells of the profile."""
    if user.stage is StageName.ADULTS_ONLY:
        return user, {}
    new = {k: v for k, v in read(heard.answer, user.asked).items() if v != user.value(Field(k))}
    user = replace(user, **new)  # type: ignore[arg-type]
    return replace(user, skipped=tuple(f for f in user.skipped if f not in PROFILE or user.value(f) is None)), new


def _react(user: User, heard: Heard, new: dict[str, object]) -> Reaction:
    """What the stage makes of the message; the open field is given up when it was asked for often enough."""
    open_field = user.asked
    unasked = Intent.PRICE in heard.intents or bool(new)
    last = open_field is not None and user.attempts >= TRIES and not unasked
    reaction = STAGES[user.stage].hear(user, heard, last=last)
    user = reaction.user
    if open_field and last and not user.settled(open_field):
        user = replace(user, skipped=(*user.skipped, open_field))
    return replace(reaction, user=user)

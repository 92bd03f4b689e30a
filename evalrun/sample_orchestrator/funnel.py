"""The state machine: from a user and a message to what is called, where the user stands and what must be said.

Pure: no database, no model, no clock. Everything that decides is here and in the modules it asks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from evalrun.sample_orchestrator import asides
from evalrun.sample_orchestrator.actions import pause
from evalrun.sample_orchestrator.actions.action import Answer, Situation
from evalrun.sample_orchestrator.actions.registry import ACTIONS
from evalrun.sample_orchestrator.brief import Brief
from evalrun.sample_orchestrator.extraction.intents import Intent
from evalrun.sample_orchestrator.extraction.reading import read
from evalrun.sample_orchestrator.heard import Heard
from evalrun.sample_orchestrator.safety import care
from evalrun.sample_orchestrator.stages import adults_only
from evalrun.sample_orchestrator.stages.registry import STAGES
from evalrun.sample_orchestrator.stages.stage import Scene
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import Field, StageName, User

TRIES = 2
"""How often a field is asked for in a row before Ori moves on without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The user after the message, the tools to call and the reply to phrase."""

    user: User
    brief: Brief
    tools: tuple[ToolUse, ...] = ()


def decide(user: User, heard: Heard) -> Decision:
    """What a message leads to."""
    user = replace(user, language=heard.language or user.language)
    first_contact = user.inbounds == 0
    user = replace(user, inbounds=user.inbounds + 1)
    situation = Situation(user=user, heard=heard)
    if heard.signals and (caring := care.answer(situation)):
        return _carry_out(_with_action(caring, situation))
    if wanted := _wanted(situation) or care.answer(situation):
        return _carry_out(wanted, first_contact=first_contact)
    if user.paused:
        return Decision(user=user, brief=Brief(prompt=pause.PROMPT, told=(pause.reminder(user),)))
    return _take(user, heard, first_contact=first_contact)


def _wanted(situation: Situation) -> Answer | None:
    """What the first action that is asked for answers."""
    return next((found for action in ACTIONS if (found := action.answer(situation))), None)


def _with_action(caring: Answer, situation: Situation) -> Answer:
    """Care, and an action asked for in the same message, unless it would go on with the stage or ask something."""
    wanted = _wanted(replace(situation, user=caring.user))
    if wanted is None or wanted.goes_on or wanted.asked:
        return caring
    told, tools = (*caring.told, *wanted.told), (*caring.tools, *wanted.tools)
    return replace(caring, user=wanted.user, told=told, asked=None, tools=tools)


def _carry_out(answer: Answer, *, first_contact: bool = False) -> Decision:
    """An answer as a decision, with the stage's own words after it when it goes on."""
    if answer.goes_on:
        aside = answer.told[0] if answer.told else None
        return replace(_speak(answer.user, Scene(first_contact=first_contact, aside=aside)), tools=answer.tools)
    brief = Brief(prompt=answer.prompt, told=answer.told, asked=answer.asked, fixed=answer.fixed)
    return Decision(user=answer.user, brief=brief, tools=answer.tools)


def _take(user: User, heard: Heard, *, first_contact: bool) -> Decision:
    """A message that is neither an action nor from a paused user: learn from it, move, speak."""
    asks_price = Intent.PRICE in heard.intents
    before = user
    user, new = _learn(user, heard, may_give_up=not asks_price)
    user = _move(user)
    scene = Scene(
        first_contact=first_contact,
        arrived=user.stage is not before.stage,
        learnt=frozenset(Field(name) for name in new),
        gave_up=next((f for f in user.skipped if f not in before.skipped), None),
        aside=asides.about_price(user) if asks_price else None,
    )
    tools = (ToolUse(name="save_profile", arguments=new),) if new else ()
    return replace(_speak(user, scene), tools=tools)


def _learn(user: User, heard: Heard, *, may_give_up: bool) -> tuple[User, dict[str, object]]:
    """Take what the message tells; give up the open field when it was asked for often enough."""
    if user.stage is StageName.ADULTS_ONLY:
        return user, {}
    new = {k: v for k, v in read(heard.answer, user.asked).items() if v != user.value(Field(k))}
    user = replace(user, **new)  # type: ignore[arg-type]
    user = replace(user, skipped=tuple(f for f in user.skipped if user.value(f) is None))
    open_field = user.asked
    if open_field and not user.settled(open_field) and not new and may_give_up and user.attempts >= TRIES:
        user = replace(user, skipped=(*user.skipped, open_field))
    return user, new


def _move(user: User) -> User:
    """Follow the funnel as far as its conditions allow."""
    if adults_only.may_enter(user):
        return replace(user, stage=StageName.ADULTS_ONLY)
    stage = STAGES[user.stage]
    while stage.NEXT and stage.is_done(user) and STAGES[stage.NEXT].may_enter(user):
        stage = STAGES[stage.NEXT]
    return replace(user, stage=stage.NAME)


def _speak(user: User, scene: Scene) -> Decision:
    """Let the stage say its words, once the field it asks for is noted as open."""
    user = open_question(user, counts=scene.aside is None)
    return Decision(user=user, brief=STAGES[user.stage].say(user, scene))


def open_question(user: User, *, counts: bool) -> User:
    """The user with the next field open. An ask that only follows an aside does not count as a try."""
    wanted = [f for f in STAGES[user.stage].FIELDS if not user.settled(f)]
    if not wanted:
        return replace(user, asked=None, attempts=0)
    field = user.asked if user.asked in wanted else wanted[0]
    if field is user.asked:
        return replace(user, attempts=max(user.attempts + counts, 1))
    return replace(user, asked=field, attempts=1)

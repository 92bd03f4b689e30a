"""The state machine: from a user and a message to what is called, where the user stands and what must be said.

Pure: no database, no model, no clock. Everything that decides is here and in the modules it asks.
"""

from __future__ import annotations

from dataclasses import replace

from evalrun.sample_orchestrator.actions import pause
from evalrun.sample_orchestrator.actions.action import Answer, Situation
from evalrun.sample_orchestrator.actions.registry import ACTIONS
from evalrun.sample_orchestrator.brief import Brief
from evalrun.sample_orchestrator.coordination import passed_on
from evalrun.sample_orchestrator.course import Decision, speak, take
from evalrun.sample_orchestrator.heard import Heard
from evalrun.sample_orchestrator.safety import care
from evalrun.sample_orchestrator.safety.wellbeing import Severity
from evalrun.sample_orchestrator.stages.stage import Scene
from evalrun.sample_orchestrator.user import User


def decide(user: User, heard: Heard) -> Decision:
    """What a message leads to, for the user and for the other one of a meeting that it changed."""
    decision = _decide(user, heard)
    return replace(decision, relays=(*decision.relays, *passed_on(user, decision.user)))


def _decide(user: User, heard: Heard) -> Decision:
    """Safety first, then what is asked for, then the pause, then the stage."""
    awaited = user.awaiting
    user = replace(user, awaiting=None, language=heard.language or user.language)
    first_contact = user.inbounds == 0
    user = replace(user, inbounds=user.inbounds + 1)
    situation = Situation(user=user, heard=heard, awaited=awaited)
    if heard.signals and (caring := care.answer(situation)):
        return _carry_out(_with_action(caring, situation))
    if wanted := _wanted(situation) or care.answer(situation):
        return _carry_out(wanted, first_contact=first_contact)
    if user.paused:
        return Decision(user=user, brief=Brief(prompt=pause.PROMPT, told=(pause.reminder(user),)))
    return take(user, heard, first_contact=first_contact)


def _wanted(situation: Situation) -> Answer | None:
    """What the first action that is asked for answers."""
    return next((found for action in ACTIONS if (found := action.answer(situation))), None)


def _with_action(caring: Answer, situation: Situation) -> Answer:
    """Care, and an action asked for in the same message, unless it would go on with the stage or ask something.

    Where no life is at stake the words of the action are enough.
    """
    wanted = _wanted(replace(situation, user=caring.user))
    if wanted is None or wanted.goes_on or wanted.asked:
        return caring
    critical = situation.heard.signals[0].severity is Severity.CRITICAL
    told = (*caring.told, *wanted.told) if critical else wanted.told
    tools = (*caring.tools, *wanted.tools)
    return replace(caring, user=wanted.user, told=told, asked=None, tools=tools, relays=wanted.relays)


def _carry_out(answer: Answer, *, first_contact: bool = False) -> Decision:
    """An answer as a decision, with the stage's own words after it when it goes on."""
    if answer.goes_on:
        aside = answer.told[0] if answer.told else None
        return replace(
            speak(answer.user, Scene(first_contact=first_contact, aside=aside)),
            tools=answer.tools,
            relays=answer.relays,
        )
    brief = Brief(prompt=answer.prompt, told=answer.told, asked=answer.asked, fixed=answer.fixed)
    return Decision(user=answer.user, brief=brief, tools=answer.tools, relays=answer.relays)

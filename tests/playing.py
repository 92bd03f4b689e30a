"""A conversation from a few lines: a bot, steps, and what the persona's model says."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from evalrun.conversation import Conversation, Stage, Watch
from evalrun.errors import Where
from evalrun.expectation import Expectations, RepliesExpectation, SqlExpectation, StateExpectation, TextExpectation
from evalrun.interfaces.models import Finish, Message, ModelReply
from evalrun.persona import Persona
from evalrun.persona_actor import PersonaActor
from evalrun.scenario import Category, EventStep, ExpectStep, Given, PersonaStep, Scenario, Step, UserStep
from evalrun.session import LiveSession
from evalrun.testing import FixedModel
from evalrun.usage import Tokens
from tests.sessions import session_of, target_of

HERE = Where(file="scenarios/s.yaml", line=3)
LEA = Persona(id="lea", name="Léa", background="une cliente", traits=("directe",), where=HERE)


class Lines(FixedModel):
    """A persona's model: one line after another, the last one with `done` when it is a pair."""

    def __init__(self, *lines: str | tuple[str, bool]) -> None:
        super().__init__()
        self._lines = iter(lines)

    async def complete(self, messages: Sequence[Message], **_options: Any) -> ModelReply:
        """The next line."""
        self.asked.append(tuple(messages))
        line = next(self._lines)
        message, done = line if isinstance(line, tuple) else (line, False)
        text = json.dumps({"message": message, "done": done})
        return ModelReply(text=text, finish=Finish.STOP, tokens=Tokens())


def user(text: str, **more: Any) -> UserStep:
    """A scripted message."""
    return UserStep(text=text, where=HERE, **more)


def persona(turns: int, until: Expectations | None = None, **more: Any) -> PersonaStep:
    """Simulated turns."""
    return PersonaStep(turns=turns, until=until, where=HERE, **more)


def event(name: str, **more: Any) -> EventStep:
    """An event."""
    return EventStep(name=name, where=HERE, **more)


def checkpoint(expectations: Expectations | None = None, *, silence: bool = False) -> ExpectStep:
    """A checkpoint."""
    return ExpectStep(expectations=expectations or Expectations(), silence=silence, where=HERE)


def says(*texts: str) -> Expectations:
    """Words that must have been said."""
    return Expectations(text=tuple(TextExpectation(text=t, present=True, where=HERE) for t in texts))


def in_state(path: str, value: object) -> Expectations:
    """A value that the state must have."""
    return Expectations(state=(StateExpectation(path=path, value=value, where=HERE),))


def replies(**bounds: int) -> Expectations:
    """How many messages."""
    return Expectations(replies=RepliesExpectation(where=HERE, **bounds))


def rows(query: str, equals: object) -> Expectations:
    """A query and its value."""
    return Expectations(sql=(SqlExpectation(query=query, equals=equals, where=HERE),))


def scenario_of(*steps: Step, expect: Expectations | None = None, given: Given | None = None, **more: Any) -> Scenario:
    """A scenario of Léa."""
    return Scenario(
        **{
            "id": "s",
            "title": "t",
            "category": Category.ACTION,
            "persona": "lea",
            "objective": "o",
            "steps": steps,
            "expect": expect or Expectations(),
            "given": given or Given(),
            "where": HERE,
            **more,
        }
    )


def conversation(
    bot: object,
    *steps: Step,
    lines: Sequence[str | tuple[str, bool]] = (),
    expect: Expectations | None = None,
    watch: Watch = lambda *_: None,
    session: LiveSession | None = None,
    tell: Callable[[int, str], None] = lambda *_: None,
    turn_timeout: float = 5.0,
) -> Conversation:
    """A conversation that is ready to be played."""
    target = target_of(bot)
    return Conversation(
        on=Stage(
            scenario=scenario_of(*steps, expect=expect),
            persona=LEA,
            target=target,
            session=session or session_of(sees_tools=target.tools is not None),
            actor=PersonaActor(LEA, Lines(*lines), seed="s/1"),
            watch=watch,
            turn_timeout=turn_timeout,
            tell=tell,
        )
    )

"""What a reply must do, decided in code before any model is asked for words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evalrun.sample_orchestrator.language import Language

Wordings = Mapping[Language, tuple[str, ...]]
"""Safe ways to say one thing, several in each language, so that Ori need not repeat itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One thing to say: `task` tells the model, `wordings` are said when the model fails.

    `mentions` are beginnings of words, without accents, of which a reply must hold at least one.
    `holds` are texts that a reply must hold, all of them: a name, a day, an hour, a price.
    """

    task: str
    wordings: tuple[str, ...]
    mentions: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """A reply: what is told, then at most one question.

    `stage` names the prompt in `prompts/stages/` that it is phrased with, `prompt` is an event's or action's own.

    `fixed`: said in code's own words, a bubble for each line; no model is asked. For what must be
    exact, and must be said whatever the model is doing. `price`: the one price that may be named.
    """

    prompt: str = ""
    stage: str = ""
    told: tuple[Line, ...] = ()
    asked: Line | None = None
    max_bubbles: int = 2
    fixed: bool = False
    price: str | None = None

    @property
    def lines(self) -> tuple[Line, ...]:
        """All of it, in the order said."""
        return (*self.told, self.asked) if self.asked else self.told


def called(name: str | None, before: str = " ") -> str:
    """A name with what goes before it, nothing when there is no name."""
    return f"{before}{name}" if name else ""

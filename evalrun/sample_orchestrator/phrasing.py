"""How a brief becomes bubbles: the model's words when the guard lets them pass, safe wording otherwise."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import resources
from typing import Protocol

from evalrun.sample_orchestrator.brief import Brief, Line
from evalrun.sample_orchestrator.extraction.folding import fold
from evalrun.sample_orchestrator.guard import Frame, breach
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.settings import Settings
from evalrun.sample_orchestrator.user import StageName, User

_LANGUAGES = {Language.FR: "French, with tu", Language.EN: "English"}
FIXED = "fixed"
"""The reason why the wording is code's own when nothing was asked of the model."""
_SPACES = re.compile(r"[ \t\u00a0\u202f]+")


class Model(Protocol):
    """A language model. What it raises goes to the caller: a failed model is not an empty answer."""

    async def complete(self, messages: Sequence[Mapping[str, str]], max_tokens: int) -> str:
        """Answer a chat of `role` and `content`."""


class PhrasedBy(StrEnum):
    """Whose words a reply is in."""

    MODEL = "model"
    SAFE = "safe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrased:
    """A reply ready to send. `reason` names the rule the model's text broke when the wording is safe."""

    bubbles: tuple[str, ...]
    by: PhrasedBy
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """The conversation so far: the last messages for the model, all of Ori's bubbles for the guard."""

    messages: tuple[Mapping[str, str], ...] = ()
    bubbles: tuple[str, ...] = ()


class Phraser:
    """Asks the model for words and lets none pass that the guard refuses."""

    def __init__(self, model: Model, settings: Settings) -> None:
        self._model = model
        self._settings = settings
        prompts = resources.files(__package__).joinpath("prompts")
        self._character = prompts.joinpath("ori.md").read_text("utf-8").strip()
        self._stages = {str(s): prompts.joinpath(f"stages/{s}.md").read_text("utf-8").strip() for s in StageName}

    async def phrase(self, brief: Brief, user: User, past: Past) -> Phrased:
        """The bubbles of a reply. A fixed brief never waits for the model."""
        if brief.fixed:
            return replace(safe_wording(brief, past.bubbles), reason=FIXED)
        system = self.system_prompt(brief, user)
        messages = [{"role": "system", "content": system}, *past.messages]
        if messages[-1]["role"] != "user":
            messages.append({"role": "user", "content": "…"})
        text = await self._model.complete(messages, self._settings.max_tokens)
        bubbles = _bubbles(text)
        frame = Frame(
            brief=brief,
            language=user.language,
            max_chars=self._settings.max_chars,
            earlier=past.bubbles,
            instructions=system,
        )
        if broken := breach(bubbles, frame):
            return replace(safe_wording(brief, past.bubbles), reason=broken.value)
        return Phrased(bubbles=bubbles, by=PhrasedBy.MODEL)

    def system_prompt(self, brief: Brief, user: User) -> str:
        """What never changes first, so that a prompt cache can keep it; the task of this reply last."""
        question = "Ask one question." if brief.asked else "Ask no question."
        known = ", ".join(f"{k.replace('_', ' ')}: {v}" for k, v in user.profile().items())
        parts = (
            self._character,
            self._settings.style_block.strip(),
            self._stages[brief.stage].format(price=brief.price) if brief.stage else "",
            brief.prompt.strip(),
            f"Known of this person: {known or 'nothing yet'}.",
            f"Now write, in {_LANGUAGES[user.language]}: {' '.join(line.task for line in brief.lines)} {question}",
        )
        return "\n\n".join(p for p in parts if p)


def safe_wording(brief: Brief, earlier: Sequence[str] = ()) -> Phrased:
    """A reply in code's own words, each line in a wording not used yet while there is one."""
    said = [_unsaid(line, earlier) for line in brief.told]
    bubbles = said if brief.fixed else [" ".join(said)] if said else []
    if brief.asked:
        bubbles.append(_unsaid(brief.asked, earlier))
    return Phrased(bubbles=tuple(_in_house_style(b) for b in bubbles), by=PhrasedBy.SAFE)


def _unsaid(line: Line, earlier: Sequence[str]) -> str:
    """The wording least recently said: one never said when there is one."""
    said = [fold(t) for t in earlier]

    def last(wording: str) -> int:
        places = [i for i, text in enumerate(said) if fold(wording) in text]
        return places[-1] if places else -1

    return min(line.wordings, key=last)


def _bubbles(text: str) -> tuple[str, ...]:
    return tuple(_in_house_style(part) for part in text.strip().strip('"«»').splitlines() if part.strip())


def _in_house_style(text: str) -> str:
    """Ori writes in small letters, like its users."""
    return _SPACES.sub(" ", text).strip().lower()

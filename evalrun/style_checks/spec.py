"""What a check is: its parameters, and how it is made ready for a rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evalrun.folding import visible

Kind = Literal["integer", "text", "texts", "boolean", "choice", "regex"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of a check, for the loader and the generated reference."""

    name: str
    kind: Kind
    meaning: str
    required: bool = False
    default: object = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One reply as a check sees it: its bubbles' texts, the earlier replies, texts the scenario allows.

    A bubble of another kind than text counts as a bubble and has the text "".
    """

    bubbles: Sequence[str]
    earlier: Sequence[str] = ()
    allow: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A break: a readable sentence, the original text, the bubble it is in (from 1; 0: the whole reply)."""

    message: str
    quote: str = ""
    bubble: int = 0


Find = Callable[[Reply], list[Hit]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSpec:
    """A check: `ready` turns a rule's parameters into a function of a reply. It raises ValueError on bad ones."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    ready: Callable[[Mapping[str, object]], Find]


PER = Parameter(
    name="per",
    kind="choice",
    meaning="count over the whole reply or in each bubble",
    default="reply",
    choices=("reply", "bubble"),
)


def number(params: Mapping[str, object], name: str, default: int | None = None) -> int:
    """An integer parameter. Raises ValueError when it is missing, not a whole number, or negative."""
    value = params.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{name} must be a whole number from 0, got {value!r}")
    return value


def texts(params: Mapping[str, object], name: str) -> tuple[str, ...]:
    """A list of non-empty texts. Raises ValueError."""
    value = params.get(name, ())
    if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) and v.strip() for v in value):
        raise ValueError(f"{name} must be a list of non-empty texts, got {value!r}")
    return tuple(value)


def option(params: Mapping[str, object], name: str) -> str:
    """A text parameter, "" when it is not given. Raises ValueError."""
    value = params.get(name, "")
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a text, got {value!r}")  # noqa: TRY004  one error for a bad parameter
    return value


def readable(bubbles: Sequence[str]) -> list[tuple[int, str]]:
    """The bubbles that have a visible text, with their numbers from 1."""
    return [(i, text) for i, text in enumerate(bubbles, 1) if visible(text)]


def counted(params: Mapping[str, object], count: Callable[[str], int], limit: int, what: str) -> Find:
    """A check that compares a count with a limit, per reply or per bubble."""

    def find(reply: Reply) -> list[Hit]:
        counts = [count(b) for b in reply.bubbles]
        if params.get("per", "reply") == "bubble":
            return [
                Hit(message=f"{n} {what} in bubble {i}, limit {limit}", quote=reply.bubbles[i - 1], bubble=i)
                for i, n in enumerate(counts, 1)
                if n > limit
            ]
        if sum(counts) <= limit:
            return []
        where = [i for i, n in enumerate(counts, 1) if n]
        spread = f" ({' + '.join(str(n) for n in counts)} by bubble)" if len(counts) > 1 else ""
        message = f"{sum(counts)} {what}, limit {limit}{spread}"
        quote = " / ".join(reply.bubbles[i - 1].strip() for i in where)
        return [Hit(message=message, quote=quote, bubble=where[0] if len(where) == 1 else 0)]

    return find

"""Style rules: one file shared by the production prompts and the tests, so that they cannot diverge.

Here is what a rule is, what a break of it is, and the block of sentences for a production prompt.
The checks themselves are in `style_checks/`; reading the file with places is `loading`'s work.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from evalrun.errors import UsageError, Where


class Severity(StrEnum):
    """A `hard` finding fails the trial at once; a `soft` one is a fact handed to the judge."""

    HARD = "hard"
    SOFT = "soft"


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleRule:
    """One rule. `check` names the check, `params` its parameters, `say` the sentence for the prompt."""

    id: str
    check: str
    severity: Severity
    say: str
    params: Mapping[str, object] = field(default_factory=dict)
    where: Where


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleRules:
    """The rules of one file, in the order written."""

    rules: tuple[StyleRule, ...] = ()
    path: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A break of a rule. `quote` is the original text; `turn` and `bubble` count from 1, 0 for the whole."""

    rule: str
    severity: Severity
    message: str
    quote: str = ""
    turn: int = 0
    bubble: int = 0


def block_of(sentences: Iterable[str]) -> str:
    """The block for a production prompt: one dash and one sentence a line."""
    return "\n".join(f"- {' '.join(s.split())}" for s in sentences if s.strip())


def prompt_block(path: str | Path) -> str:
    """The style block of a rules file, for the production prompt of the agent under test.

    Reads only what a prompt needs (each rule's `say`), with the standard library, so that a
    product can call it without anything else of evalrun. Raises UsageError when the file is
    missing or is not a rules file.
    """
    try:
        rules = tomllib.loads(Path(path).read_text("utf-8-sig"))["rules"]
        return block_of([str(r["say"]) for r in rules])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError) as e:
        raise UsageError(
            f"{path} is not a readable style rules file ({type(e).__name__}: {e})",
            remedy="evalrun validate names the line",
        ) from e

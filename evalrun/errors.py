"""Every error evalrun raises on purpose, each with its exit code and its cure.

EvalrunError
├── UsageError (2)               the command line, a setting or a file must be changed
│   ├── FileProblems             problems in files people write, one line each
│   ├── UnknownName              a name that nothing answers to (plugin, scenario, persona, run)
│   ├── CapabilityMissing        a step needs what the adapter cannot do
│   ├── NoMergeBase              nothing to compare the files with (git)
│   ├── MissingExtra             an optional dependency is not installed
│   ├── NotAskedFor              a model that may cost money, where nobody asked for calls
│   └── Unpriced                 a model without a price, and that is not allowed
├── CannotJudge (3)              the surroundings failed: neither for nor against the agent
│   ├── MissingKey               no key is set for a chosen provider
│   ├── ModelFailed              a model call failed
│   │   ├── KeyRefused           the vendor refused the key or the account: no call will succeed
│   │   ├── RateLimited          waiting for the vendor passed the cap
│   │   ├── AnswerTruncated      the answer was cut or empty, twice
│   │   └── AnswerRefused        the model refused to answer
│   ├── DatabaseFailed           a database could not be started, cloned or reached
│   ├── TargetFailed             the target raised, died or cut its stream
│   ├── JudgeBroken              a judge raised while it watched a conversation
│   └── StoreFailed              results could not be written or read
├── BudgetReached (4)            a call would pass the cap
└── SimulatorFault (3)           the simulated user broke its character twice: the trial is invalid

Inside a trial these become values (an outcome with a reason code); only what stops the whole
run reaches the command line. Not here: our own bugs, which are plain exceptions (exit 70).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Where:
    """A place in a file; lines and columns count from 1, 0 when unknown."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """`file`, `file:line` or `file:line:column`."""
        parts = [self.file, *(str(n) for n in (self.line, self.column) if n)]
        return ":".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem in a file people write: where, what was found and expected, and how to fix it."""

    where: Where
    message: str

    def __str__(self) -> str:
        """The one line a user sees; signs that would break it or steer a terminal are written out."""
        line = f"{self.where}: {self.message}"
        return line if line.isprintable() else "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in line)


class EvalrunError(Exception):
    """An expected failure: a message, the cure, and where known the place in a file.

    `turn` is the turn (transcript.Turn) it broke, with what had been said in it, when it broke one.
    """

    exit_code: ClassVar[int] = 70
    reason: ClassVar[str] = "error"

    def __init__(self, message: str, *, remedy: str, where: Where | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.where = where
        self.turn: object = None

    def __str__(self) -> str:
        """`where: message`, without the remedy."""
        return f"{self.where}: {self.message}" if self.where else self.message


class UsageError(EvalrunError):
    """The command line, a setting or a file must be changed; nothing was run or spent."""

    exit_code = 2
    reason = "usage"


class FileProblems(UsageError):
    """Problems in files people write, at most `limit` of them shown at once."""

    limit: ClassVar[int] = 20

    def __init__(self, problems: Sequence[Problem], *, remedy: str = "fix the lines above") -> None:
        self.problems = tuple(problems)
        super().__init__(f"{len(self.problems)} problems in files", remedy=remedy)

    def lines(self) -> tuple[str, ...]:
        """What a user sees: a line for each of the first problems, how many more, and what it means."""
        shown = [str(p) for p in self.problems[: self.limit]]
        if more := len(self.problems) - len(shown):
            shown.append(f"and {more} more")
        files = len({p.where.file for p in self.problems})
        count = f"{_counted(len(self.problems), 'problem')} in {_counted(files, 'file')}"
        return (*shown, f"{count}; nothing was run, nothing was spent")


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


class UnknownName(UsageError):
    """A name that nothing answers to."""


class CapabilityMissing(UsageError):
    """A step needs something the adapter does not offer."""


class NoMergeBase(UsageError):
    """What changed cannot be told: no repository, no such reference, or no commit in common."""


class MissingExtra(UsageError):
    """An optional dependency is needed and not installed."""


class NotAskedFor(UsageError):
    """A model that may cost money is to be called, and no command that was typed asked for it."""

    reason = "not_asked_for"


class Unpriced(UsageError):
    """A model has no known price and strict prices are asked for."""


class CannotJudge(EvalrunError):
    """The surroundings failed, so nothing can be said for or against the agent."""

    exit_code = 3
    reason = "surroundings"


class MissingKey(CannotJudge):
    """No key is set for a provider that a role uses; empty counts as not set.

    `short` says which, for a line of a report: `no key for openai (OPENAI_API_KEY)`.
    """

    reason = "no_key"

    def __init__(self, message: str, *, remedy: str, short: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.short = short or message


class ModelFailed(CannotJudge):
    """A model call failed.

    `retryable`: another attempt may succeed. `retry_after`: seconds the vendor asked to wait.
    `fatal`: no further call to this provider can succeed in this run. `billed`: the vendor may
    have charged for the attempt, though nobody knows how much.
    """

    reason = "model"

    def __init__(
        self,
        message: str,
        *,
        remedy: str,
        retryable: bool = False,
        retry_after: float | None = None,
        fatal: bool = False,
        billed: bool = False,
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.retryable = retryable
        self.retry_after = retry_after
        self.fatal = fatal
        self.billed = billed


class KeyRefused(ModelFailed):
    """The vendor refused the key, the account or its balance: no call will succeed."""

    reason = "key_refused"


class RateLimited(ModelFailed):
    """The vendor limits the rate; retryable until the wait passes the cap."""

    reason = "rate_limit"


class AnswerTruncated(ModelFailed):
    """The answer was cut or empty even with a larger limit."""

    reason = "truncated"


class AnswerRefused(ModelFailed):
    """The model refused to answer."""

    reason = "refused"


class DatabaseFailed(CannotJudge):
    """A database could not be started, cloned, reached or queried."""

    reason = "database"


class TargetFailed(CannotJudge):
    """The target raised, died or cut its stream; `detail` holds its traceback."""

    reason = "target"

    def __init__(self, message: str, *, remedy: str, detail: str = "", turn: object = None) -> None:
        super().__init__(message, remedy=remedy)
        self.detail = detail
        self.turn = turn


class JudgeBroken(CannotJudge):
    """A judge raised while it watched a conversation, so nobody knows what it would have found."""

    reason = "judge_broken"


class StoreFailed(CannotJudge):
    """Results could not be written or read."""

    reason = "store"


class BudgetReached(EvalrunError):
    """The call would pass the cap of the run; nothing was sent.

    `later`: only what is set aside for calls in flight stands in the way, and may come free.
    """

    exit_code = 4
    reason = "budget"

    def __init__(self, message: str, *, remedy: str, later: bool = False) -> None:
        super().__init__(message, remedy=remedy)
        self.later = later


class SimulatorFault(EvalrunError):
    """The simulated user broke its character twice; `fault` names how (see persona_actor)."""

    exit_code = 3
    reason = "simulator"

    def __init__(self, message: str, *, fault: str, remedy: str) -> None:
        super().__init__(message, remedy=remedy)
        self.fault = fault

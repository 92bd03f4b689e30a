"""What judges said and what became of trials, scenarios and runs: the values that are stored and reported."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from evalrun.errors import MissingKey
from evalrun.evidence import EvidenceRule
from evalrun.expectation import Unmet
from evalrun.scenario import Category
from evalrun.style import Finding, Severity
from evalrun.transcript import Transcript
from evalrun.usage import ZERO, Role, Spending, Tokens
from evalrun.verdict import CheckAnswer, Marks, Outcome, Score, Stop, Verdict

RESULTS_VERSION = 1
UNFINISHED = "the run has not ended: it was killed or still goes on; what follows is from the trials kept so far"


class JudgementStatus(StrEnum):
    """`skipped`: not asked, because an earlier tier had already failed the trial or nothing applied."""

    OK = "ok"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruler:
    """Everything that shapes a score, part by part. Scores compare only under equal fingerprints."""

    parts: Mapping[str, str] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits over all parts."""
        text = json.dumps(dict(self.parts), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What one judge says of one trial.

    `deterministic`: code alone decided. `gates`: it counts for the outcome; otherwise it is
    advisory. `reason` is a readable sentence, `code` a short stable word for it.
    """

    judge: str
    version: str
    status: JudgementStatus = JudgementStatus.OK
    deterministic: bool = False
    gates: bool = False
    findings: tuple[Finding, ...] = ()
    unmet: tuple[Unmet, ...] = ()
    scores: tuple[Score, ...] = ()
    checks: tuple[CheckAnswer, ...] = ()
    marks: Marks | None = None
    code: str = ""
    reason: str = ""
    warnings: tuple[str, ...] = ()
    ruler: Ruler | None = None
    seconds: float = 0.0

    @property
    def outcome(self) -> Outcome:
        """What this judge alone would make of the trial."""
        if self.status is JudgementStatus.ERROR or any(u.broken for u in self.unmet):
            return Outcome.ERROR
        if self.status is JudgementStatus.SKIPPED:
            return Outcome.NOT_RUN
        hard = any(f.severity is Severity.HARD for f in self.findings)
        low = self.marks is not None and not self.marks.passed
        if hard or self.unmet or low or any(c.violated for c in self.checks):
            return Outcome.FAIL
        return Outcome.PASS


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One model call as it really was: what was sent and what came back, or the error."""

    role: Role
    asked: str
    returned: str = ""
    fingerprint: str = ""
    sent: Mapping[str, object] = field(default_factory=dict)
    received: Mapping[str, object] = field(default_factory=dict)
    tokens: Tokens = field(default_factory=Tokens)
    cost: Decimal = ZERO
    attempt: int = 1
    seconds: float = 0.0
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """One play of a scenario. `number` counts from 1. `fact`: the outcome is no matter of scores.

    `code` is the reason code, `reason` a readable sentence, `detail` a traceback or longer text.
    `key` hashes all that shapes the result, part by part. `replays` is the number of the invalid
    trial that this one plays again (0: none). `carried`: taken over from the run that is resumed.
    `exchanges` are kept by the store and left out of values held in memory.
    """

    scenario: str
    number: int
    outcome: Outcome
    fact: bool = False
    code: str
    reason: str
    detail: str = ""
    transcript: Transcript = field(default_factory=Transcript)
    judgements: tuple[Judgement, ...] = ()
    spending: Spending = field(default_factory=Spending)
    started: datetime
    seconds: float = 0.0
    key: str = ""
    replays: int = 0
    carried: bool = False
    exchanges: tuple[Exchange, ...] = ()

    @property
    def scores(self) -> tuple[Score, ...]:
        """All scores, of judges that gate and of advisory ones."""
        return tuple(s for j in self.judgements for s in j.scores)

    @property
    def advisory(self) -> bool:
        """Whether the scores shown do not gate."""
        return any(j.scores and not j.gates for j in self.judgements)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioResult:
    """One scenario of a run with all its trials, and the rule that makes them a verdict."""

    id: str
    title: str
    category: Category
    stage: str
    path: str
    line: int
    objective: str
    persona: str
    verdict: Verdict
    reason: str = ""
    selected_because: tuple[str, ...] = ()
    rule: EvidenceRule = field(default_factory=EvidenceRule)
    trials: tuple[TrialResult, ...] = ()

    @property
    def plays(self) -> tuple[int, int]:
        """Passed trials, and trials that were judged."""
        judged = [t for t in self.trials if t.outcome in (Outcome.PASS, Outcome.FAIL)]
        return sum(t.outcome is Outcome.PASS for t in judged), len(judged)

    @property
    def evaluated(self) -> bool:
        """Whether something can be said of the agent."""
        return self.verdict in (Verdict.PASS, Verdict.FAIL, Verdict.UNSTABLE)

    @property
    def no_key(self) -> str:
        """The key it was not run for want of, as in `no key for openai (OPENAI_API_KEY)`; "" when it was not that."""
        lacking = [t for t in self.trials if t.code == MissingKey.reason] if self.verdict is Verdict.NOT_RUN else []
        return lacking[0].reason if lacking else ""

    @property
    def spending(self) -> Spending:
        """Over all trials."""
        return Spending.total(t.spending for t in self.trials)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTrust:
    """Whether a model judge gates in this run and why, in one line."""

    judge: str
    model: str
    gates: bool
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """What is known when a run starts. `models` maps role to `provider:model`."""

    id: str
    started: datetime
    target: str
    models: Mapping[str, str] = field(default_factory=dict)
    trust: tuple[JudgeTrust, ...] = ()
    selection: str = ""
    selected: int = 0
    suite_size: int = 0
    cap: Decimal | None = None
    prices: str = ""
    commit: str = ""
    version: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    unstable_fails: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """A whole run. `notices` are lines the user should read (waits, fallbacks, warnings)."""

    header: RunHeader
    finished: datetime
    scenarios: tuple[ScenarioResult, ...] = ()
    notices: tuple[str, ...] = ()
    stop: Stop = field(default_factory=Stop)
    exit_code: int = 3
    seconds: float = 0.0

    @property
    def spending(self) -> Spending:
        """Over all scenarios."""
        return Spending.total(s.spending for s in self.scenarios)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardResult:
    """What one of several machines leaves behind: its own run, and what all of them together were to play.

    `planned` are all selected scenarios as they were before any trial, `shard_of` says which shard
    (from 1) plays each, `selection` is the line that tells what was selected.
    """

    number: int
    of: int
    selection: str
    planned: tuple[ScenarioResult, ...]
    shard_of: Mapping[str, int]
    run: RunResult

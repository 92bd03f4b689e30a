"""Measure the judge against labelled turns: ask it about every one, do the sums, keep the result beside the rubrics."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from evalrun import plugins
from evalrun.calibration import Answer, Figures, figures_of, near_the_threshold
from evalrun.config import Settings
from evalrun.errors import BudgetReached, UsageError
from evalrun.expectation import Evidence
from evalrun.interfaces.judges import Case, Judge, JudgeSetup
from evalrun.interfaces.models import NO_CONSENT, Consent, ModelEndpoint
from evalrun.labels import USER, Label
from evalrun.loading.labels import load_labels
from evalrun.loading.settings import Overrides, load_settings
from evalrun.loading.suite import load_suite
from evalrun.model_calls import Tally
from evalrun.persona import Persona
from evalrun.results import Judgement, JudgementStatus
from evalrun.rubric import Rubric, RubricKind
from evalrun.scenario import Category, Scenario
from evalrun.style import StyleRules
from evalrun.transcript import Transcript
from evalrun.usage import Role
from evalrun.use_cases.calibration_lines import figures_lines, head_of
from evalrun.use_cases.earned import Record, keep, prompts_of
from evalrun.use_cases.wiring import make_calls

SPLITS = ("all", "dev", "test")
OBJECTIVE = "Answer as the concierge the user writes to."


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is measured: rubrics by id (all that have labels), which part of the labels, how many, how often again."""

    rubrics: tuple[str, ...] = ()
    split: str = "all"
    limit: int = 0
    again: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """The figures of one judge. `kept` is the file they were written to, "" when the set was not whole.

    `budget` is why it stopped before the end.
    """

    model: str
    figures: tuple[Figures, ...]
    answers: Mapping[str, tuple[Answer, ...]]
    cost: Decimal
    kept: str = ""
    budget: BudgetReached | None = None


def lines_of(done: Calibrated, *, mistakes: bool) -> list[str]:
    """What to tell the user."""
    lines = [head_of(done.model, done.cost)]
    for figures in done.figures:
        lines += ["", *figures_lines(figures, done.answers[figures.rubric], mistakes=mistakes)]
    if done.kept:
        return [*lines, "", f"kept in {done.kept}: commit it, so that every run knows"]
    return [*lines, "", "not kept: only a whole set counts"]


async def calibrate(
    start: Path,
    wanted: Wanted,
    overrides: Overrides,
    environ: Mapping[str, str],
    notice: Callable[[str], None],
    *,
    consent: Consent = NO_CONSENT,
) -> Calibrated:
    """Ask the judge about the labels of the project's rubrics; with `consent` also one that costs money.

    Raises UsageError, FileProblems, and what providers raise before the first call.
    """
    if wanted.split not in SPLITS:
        raise UsageError(f"--split is {wanted.split!r}", remedy=f"write {', '.join(SPLITS)}")
    settings = load_settings(start, overrides, environ)
    plugins.look_in(settings.root)
    sets = _sets(settings, wanted)
    judge = _judge(settings)
    tmp = Path(tempfile.mkdtemp(prefix="evalrun-"))
    calls, ledger, warm = make_calls(settings, frozenset({Role.JUDGE}), environ, tmp, notice, consent=consent)
    try:
        calls.warm(warm)
        await calls.ready(warm)
        bench = _Bench(judge=judge, model=calls.endpoint(Role.JUDGE, Tally()), width=settings.calls_in_flight)
        answers = {rubric.id: await bench.answers(rubric, labels, wanted.again) for rubric, labels in sets}
    finally:
        await calls.close()
        shutil.rmtree(tmp, ignore_errors=True)
    figures = tuple(figures_of(rubric, answers[rubric.id]) for rubric, _ in sets if answers[rubric.id])
    model = str(settings.models[Role.JUDGE])
    whole = bench.budget is None and not wanted.limit and wanted.split == "all"
    kept = (
        keep(settings, [_record(judge, model, r, f) for (r, _), f in zip(sets, figures, strict=True)]) if whole else ""
    )
    return Calibrated(model=model, figures=figures, answers=answers, cost=ledger.spent, kept=kept, budget=bench.budget)


def _record(judge: Judge, model: str, rubric: Rubric, figures: Figures) -> Record:
    return Record(
        judge=judge.name,
        prompts=prompts_of(judge),
        model=model,
        digest=rubric.digest,
        figures=figures,
    )


def _sets(settings: Settings, wanted: Wanted) -> list[tuple[Rubric, tuple[Label, ...]]]:
    """The rubrics that are measured with their labels."""
    suite = load_suite(settings)
    if unknown := sorted(set(wanted.rubrics) - suite.rubrics.keys()):
        raise UsageError(f"there is no rubric {unknown[0]}", remedy=f"known: {', '.join(suite.rubrics) or 'none'}")
    chosen = [r for r in suite.rubrics.values() if r.id in wanted.rubrics or (not wanted.rubrics and r.labelled)]
    found = []
    for rubric in chosen:
        if not rubric.labelled:
            raise UsageError(f"rubric {rubric.id} names no labels", remedy="add `labelled: PATH` to it")
        path = (settings.root / rubric.where.file).parent / rubric.labelled
        labels = load_labels(
            path, rubric, name=path.relative_to(settings.root).as_posix() if path.is_relative_to(settings.root) else ""
        )
        part = [one for one in labels if wanted.split in ("all", split_of(one.id))]
        found.append((rubric, tuple(sorted(part, key=_place)[: wanted.limit] if wanted.limit else part)))
    if not found:
        raise UsageError("no rubric of this project names labelled turns", remedy="add `labelled: PATH` to a rubric")
    return found


def _place(label: Label) -> bytes:
    """A place that has nothing to do with good or bad: files are often sorted."""
    return hashlib.sha256(f"order {label.id}".encode()).digest()


def split_of(label: str) -> str:
    """The part of the set a label belongs to for ever, by the hash of its id."""
    return SPLITS[1 + hashlib.sha256(label.encode()).digest()[0] % 2]


def _judge(settings: Settings) -> Judge:
    """The model judge of the settings, as it judges without asking again. Raises UsageError."""
    for name in settings.judges:
        options = settings.judge.options.get(name, {})
        setup = JudgeSetup(options=options, max_output_tokens=settings.judge.max_output_tokens)
        judge: Judge = plugins.load("judges", name)(setup)
        if not judge.deterministic:
            return judge
    raise UsageError("no judge of the settings asks a model", remedy='add "rubric" to `judges`')


@dataclass(slots=True, kw_only=True)
class _Bench:
    """Asks one judge about labels, so many at a time."""

    judge: Judge
    model: ModelEndpoint
    width: int
    budget: BudgetReached | None = None

    async def answers(self, rubric: Rubric, labels: Sequence[Label], again: int) -> tuple[Answer, ...]:
        """One answer for each label that money was left for."""
        places = asyncio.Semaphore(self.width)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._one(rubric, one, again, places)) for one in labels]
        return tuple(a for t in tasks if (a := t.result()) is not None)

    async def _one(self, rubric: Rubric, label: Label, again: int, places: asyncio.Semaphore) -> Answer | None:
        try:
            async with places:
                first = await self._asked(rubric, label)
                if not again or not near_the_threshold(rubric, first):
                    return first
                more = [await self._asked(rubric, label) for _ in range(again)]
                return replace(first, again=tuple(a.passed for a in more))
        except BudgetReached as e:
            self.budget = e
            return None

    async def _asked(self, rubric: Rubric, label: Label) -> Answer:
        if self.budget is not None:
            raise self.budget
        judgement = await self.judge.judge(case_of(label, rubric, self.model))
        return answer_of(label, rubric, judgement)


def case_of(label: Label, rubric: Rubric, model: ModelEndpoint) -> Case:
    """A labelled turn as a judge sees a trial."""
    scored = rubric.kind is RubricKind.SCORED
    user = Persona(
        id=USER, name="the user", background="", traits=(), language=label.language or "en", where=label.where
    )
    scenario = Scenario(
        id=label.id,
        title=label.id,
        category=Category.STAGE,
        persona=USER,
        objective=label.objective or OBJECTIVE,
        steps=(),
        where=label.where,
    )
    return Case(
        scenario=scenario,
        persona=user,
        rubric=rubric if scored else None,
        checks=() if scored else (rubric,),
        style=StyleRules(),
        transcript=Transcript(turns=label.turns, names={USER: "the user"}),
        evidence=Evidence(),
        checkpoints=(),
        earlier=(),
        model=model,
    )


def answer_of(label: Label, rubric: Rubric, judgement: Judgement) -> Answer:
    """What a judgement says of the labelled turn, the last one; those before it are context."""
    good, number = label.good(rubric), label.turns[-1].number
    if judgement.status is JudgementStatus.ERROR:
        return Answer(label=label.id, good=good, passed=None, reason=judgement.reason)
    if rubric.kind is RubricKind.CHECK:
        # a check that is not asked of a turn lets it pass
        broken = any(c.violated for c in judgement.checks if c.turn in (0, number))
        return Answer(label=label.id, good=good, passed=not broken, reason=judgement.reason)
    given = {s.criterion: s.value for s in judgement.scores if s.turn in (0, number)}
    scores = {c: (label.scores[c], v) for c, v in given.items()}
    low = min(given.values(), default=0) < rubric.passing.minimum
    passed = not low and sum(given.values()) >= rubric.passing.mean * len(given)
    return Answer(label=label.id, good=good, passed=passed, scores=scores, reason=judgement.reason)

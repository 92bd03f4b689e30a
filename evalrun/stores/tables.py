"""The tables of a history, their versioned migrations, and the statements on them.

Every function here takes a plain SQLAlchemy connection, so that SQLite and Postgres share them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from evalrun.archive import decode, encode
from evalrun.errors import StoreFailed, UnknownName
from evalrun.results import Exchange, RunHeader, RunResult, ScenarioResult, TrialResult
from evalrun.verdict import verdict_of

METADATA = sa.MetaData()
VERSION = sa.Table("evalrun_schema", METADATA, sa.Column("version", sa.Integer, nullable=False))
RUNS = sa.Table(
    "evalrun_runs",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("started", sa.Text, nullable=False),
    sa.Column("finished", sa.Text),
    sa.Column("target", sa.Text, nullable=False),
    sa.Column("commit_sha", sa.Text, nullable=False),
    sa.Column("exit_code", sa.Integer),
    sa.Column("cost_usd", sa.Text),
    sa.Column("body", sa.Text, nullable=False),
)
_TRIAL_KEY = (
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("scenario", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
)
TRIALS = sa.Table(
    "evalrun_trials",
    METADATA,
    *(c._copy() for c in _TRIAL_KEY),  # noqa: SLF001  SQLAlchemy's own way to share columns
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("code", sa.Text, nullable=False),
    sa.Column("started", sa.Text, nullable=False),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("cost_agent", sa.Text, nullable=False),
    sa.Column("cost_persona", sa.Text, nullable=False),
    sa.Column("cost_judge", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
)
SCORES = sa.Table(
    "evalrun_scores",
    METADATA,
    *(c._copy() for c in _TRIAL_KEY),  # noqa: SLF001
    sa.Column("judge", sa.Text, primary_key=True),
    sa.Column("turn", sa.Integer, primary_key=True),
    sa.Column("criterion", sa.Text, primary_key=True),
    sa.Column("value", sa.Integer, nullable=False),
    sa.Column("gates", sa.Boolean, nullable=False),
    sa.Column("ruler", sa.Text, nullable=False),
)
EXCHANGES = sa.Table(
    "evalrun_exchanges",
    METADATA,
    *(c._copy() for c in _TRIAL_KEY),  # noqa: SLF001
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
)


def _first(connection: sa.Connection) -> None:
    METADATA.create_all(connection, checkfirst=True)


MIGRATIONS = (_first,)
"""Each brings the schema from its index to the next; never change one that was released."""


def migrate(connection: sa.Connection) -> None:
    """Bring the schema up to date. Raises StoreFailed when it is newer than this evalrun knows."""
    found = 0
    if sa.inspect(connection).has_table(VERSION.name):
        found = connection.execute(sa.select(sa.func.max(VERSION.c.version))).scalar() or 0
    if found > len(MIGRATIONS):
        raise StoreFailed(
            f"the history has schema {found}, this evalrun knows {len(MIGRATIONS)}",
            remedy="use the newer evalrun, or another store; nothing was changed",
        )
    for version in range(found, len(MIGRATIONS)):
        MIGRATIONS[version](connection)
        connection.execute(sa.delete(VERSION))
        connection.execute(sa.insert(VERSION).values(version=version + 1))


def _bare(run: RunResult) -> str:
    """The run without its trials, which are kept one by one."""
    return encode(replace(run, scenarios=tuple(replace(s, trials=()) for s in run.scenarios))).decode()


def begin(connection: sa.Connection, run: RunResult) -> None:
    """Keep a run that starts."""
    header = run.header
    connection.execute(
        sa.insert(RUNS).values(
            id=header.id,
            started=header.started.isoformat(),
            target=header.target,
            commit_sha=header.commit,
            body=_bare(run),
        )
    )


def add(connection: sa.Connection, run: str, trial: TrialResult) -> None:
    """Keep a trial with its scores and exchanges."""
    key = {"run": run, "scenario": trial.scenario, "number": trial.number}
    spent = trial.spending
    connection.execute(
        sa.insert(TRIALS).values(
            **key,
            outcome=trial.outcome.value,
            code=trial.code,
            started=trial.started.isoformat(),
            seconds=trial.seconds,
            key=trial.key,
            cost_agent=str(spent.agent.cost),
            cost_persona=str(spent.persona.cost),
            cost_judge=str(spent.judge.cost),
            body=encode(replace(trial, exchanges=())).decode(),
        )
    )
    scores = [
        {
            **key,
            "judge": j.judge,
            "turn": s.turn,
            "criterion": s.criterion,
            "value": s.value,
            "gates": j.gates,
            "ruler": j.ruler.fingerprint if j.ruler else "",
        }
        for j in trial.judgements
        for s in j.scores
    ]
    if scores:
        connection.execute(sa.insert(SCORES), scores)
    kept = [
        {**key, "position": i, "role": e.role.value, "body": encode(e).decode()}
        for i, e in enumerate(trial.exchanges, 1)
    ]
    if kept:
        connection.execute(sa.insert(EXCHANGES), kept)


def finish(connection: sa.Connection, run: RunResult) -> None:
    """Keep the end of a run."""
    connection.execute(
        sa.update(RUNS)
        .where(RUNS.c.id == run.header.id)
        .values(
            finished=run.finished.isoformat(),
            exit_code=run.exit_code,
            cost_usd=str(run.spending.cost),
            body=_bare(run),
        )
    )


def load(connection: sa.Connection, reference: str) -> RunResult:
    """A run by id, by the end of its id, or "last". Raises UnknownName."""
    row = _find(connection, reference)
    run = decode(RunResult, row.body)
    trials = [
        decode(TrialResult, body)
        for (body,) in connection.execute(
            sa.select(TRIALS.c.body).where(TRIALS.c.run == row.id).order_by(TRIALS.c.scenario, TRIALS.c.number)
        )
    ]
    return replace(run, scenarios=tuple(_with_trials(s, trials, row.finished is not None) for s in run.scenarios))


def _with_trials(scenario: ScenarioResult, trials: Sequence[TrialResult], finished: bool) -> ScenarioResult:
    own = tuple(t for t in trials if t.scenario == scenario.id)
    if finished or not own:
        return replace(scenario, trials=own)
    # the run was killed: the verdict follows from what is kept
    replayed = {t.replays for t in own}
    final = [(t.outcome, t.fact) for t in own if t.number not in replayed]
    return replace(scenario, trials=own, verdict=verdict_of(final), reason=own[-1].reason)


def _find(connection: sa.Connection, reference: str) -> Any:
    query = sa.select(RUNS).order_by(RUNS.c.started.desc(), RUNS.c.id.desc())
    if reference == "last":
        row = connection.execute(query.limit(1)).first()
        if row is None:
            raise UnknownName("the history holds no run", remedy="evalrun run")
        return row
    exact = connection.execute(query.where(RUNS.c.id == reference)).first()
    if exact is not None:
        return exact
    rows = [r for r in connection.execute(query) if r.id.endswith(reference)]
    if not rows:
        raise UnknownName(f"no run {reference!r}", remedy="evalrun runs lists them; the end of an id is enough")
    if len(rows) > 1:
        raise UnknownName(f"{reference!r} is the end of {len(rows)} runs", remedy=", ".join(r.id for r in rows[:5]))
    return rows[0]


def runs(connection: sa.Connection, limit: int) -> tuple[RunHeader, ...]:
    """Headers, the newest first."""
    rows = connection.execute(sa.select(RUNS.c.body).order_by(RUNS.c.started.desc()).limit(limit))
    return tuple(decode(RunResult, body).header for (body,) in rows)


def exchanges(connection: sa.Connection, run: str, scenario: str, number: int) -> tuple[Exchange, ...]:
    """What was sent and returned in one trial, in order."""
    rows = connection.execute(
        sa.select(EXCHANGES.c.body)
        .where(EXCHANGES.c.run == run, EXCHANGES.c.scenario == scenario, EXCHANGES.c.number == number)
        .order_by(EXCHANGES.c.position)
    )
    return tuple(decode(Exchange, body) for (body,) in rows)

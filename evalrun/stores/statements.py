"""Writing runs and trials into the tables, and reading them back.

Every function takes a plain SQLAlchemy connection inside a transaction, so that SQLite and
Postgres share them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from evalrun.archive import decode, encode
from evalrun.errors import UnknownName
from evalrun.redaction import sanitise
from evalrun.results import Exchange, RunHeader, RunResult, ScenarioResult, TrialResult
from evalrun.stores.tables import EXCHANGES, RUNS, SCENARIOS, SCORES, TRIALS
from evalrun.verdict import verdict_of

CANDIDATES = 5
UNFINISHED = "the run has not ended: it was killed or still goes on; what follows is from the trials kept so far"

# built once: making a statement anew costs more than running it
_KNOWN_TRIAL = sa.select(TRIALS.c.number).where(
    *(TRIALS.c[k] == sa.bindparam(k) for k in ("run", "scenario", "number"))
)
_GOES_ON = (
    sa.update(RUNS).where(RUNS.c.id == sa.bindparam("again"), RUNS.c.finished.is_not(None)).values(finished=sa.null())
)


def _text(text: str) -> str:
    """A text that a column takes; the body has it as it was."""
    return sanitise(text)[0]


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _bare(run: RunResult) -> str:
    """The run without its trials, which are kept one by one."""
    return encode(replace(run, scenarios=tuple(replace(s, trials=()) for s in run.scenarios))).decode()


def begin(connection: sa.Connection, run: RunResult) -> None:
    """Keep a run that starts; one that is known already is left as it is."""
    header = run.header
    if connection.execute(sa.select(RUNS.c.id).where(RUNS.c.id == header.id)).first():
        return
    connection.execute(
        sa.insert(RUNS),
        {
            "id": header.id,
            "started": _time(header.started),
            "target": _text(header.target),
            "commit_sha": _text(header.commit),
            "body": _bare(run),
        },
    )
    _keep_scenarios(connection, run)


def _keep_scenarios(connection: sa.Connection, run: RunResult) -> None:
    connection.execute(sa.delete(SCENARIOS).where(SCENARIOS.c.run == run.header.id))
    rows = [
        {
            "run": run.header.id,
            "scenario": _text(s.id),
            "category": s.category.value,
            "stage": _text(s.stage),
            "path": _text(s.path),
            "verdict": s.verdict.value,
            "reason": _text(s.reason),
        }
        for s in run.scenarios
    ]
    if rows:
        connection.execute(sa.insert(SCENARIOS), rows)


def add(connection: sa.Connection, run: str, trial: TrialResult) -> None:
    """Keep a trial with its scores and exchanges; one that is known already is left as it is."""
    key = {"run": _text(run), "scenario": _text(trial.scenario), "number": trial.number}
    if connection.execute(_KNOWN_TRIAL, key).first():
        return
    spent = trial.spending
    row = {
        **key,
        "outcome": trial.outcome.value,
        "code": _text(trial.code),
        "ending": trial.transcript.ending.value,
        "started": _time(trial.started),
        "seconds": trial.seconds,
        "key": _text(trial.key),
        "replays": trial.replays,
        "cost_agent": str(spent.agent.cost),
        "cost_persona": str(spent.persona.cost),
        "cost_judge": str(spent.judge.cost),
        "body": encode(replace(trial, exchanges=())).decode(),
    }
    for table, rows in ((TRIALS, [row]), (SCORES, _scores(key, trial)), (EXCHANGES, _exchanges(key, trial))):
        if rows:
            connection.execute(sa.insert(table), rows)
    # a run that is resumed goes on again
    connection.execute(_GOES_ON, {"again": key["run"]})


def _scores(key: dict[str, Any], trial: TrialResult) -> list[dict[str, Any]]:
    # two judges of one name, or a criterion scored twice in a turn, keep the last: the body has all
    rows = {
        (j.judge, s.turn, s.criterion): {
            **key,
            "judge": _text(j.judge),
            "turn": s.turn,
            "criterion": _text(s.criterion),
            "value": s.value,
            "gates": j.gates,
            "ruler": j.ruler.fingerprint if j.ruler else "",
        }
        for j in trial.judgements
        for s in j.scores
    }
    return list(rows.values())


def _exchanges(key: dict[str, Any], trial: TrialResult) -> list[dict[str, Any]]:
    return [
        {**key, "position": i, "role": e.role.value, "cost_usd": str(e.cost), "body": encode(e).decode()}
        for i, e in enumerate(trial.exchanges, 1)
    ]


def finish(connection: sa.Connection, run: RunResult) -> None:
    """Keep the end of a run."""
    connection.execute(
        sa.update(RUNS)
        .where(RUNS.c.id == run.header.id)
        .values(
            finished=_time(run.finished),
            exit_code=run.exit_code,
            cost_usd=str(run.spending.cost),
            body=_bare(run),
        )
    )
    _keep_scenarios(connection, run)


def load(connection: sa.Connection, reference: str) -> RunResult:
    """A run by id, by the end of its id, or "last". Raises UnknownName, StoreFailed."""
    row = _find(connection, reference)
    run = decode(RunResult, row.body)
    bodies = connection.execute(
        sa.select(TRIALS.c.body).where(TRIALS.c.run == row.id).order_by(TRIALS.c.scenario, TRIALS.c.number)
    )
    trials = [decode(TrialResult, body) for (body,) in bodies]
    if row.finished is None:
        run = replace(run, notices=(*run.notices, UNFINISHED))
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
    ids = [
        i
        for (i,) in connection.execute(
            sa.select(RUNS.c.id)
            .where(RUNS.c.id.endswith(reference, autoescape=True))
            .order_by(RUNS.c.started.desc(), RUNS.c.id.desc())
        )
        if reference and i.endswith(reference)  # LIKE ignores case on SQLite
    ]
    if not ids:
        raise UnknownName(f"no run {reference!r}", remedy="evalrun runs lists them; the end of an id is enough")
    if len(ids) > 1:
        more = f" and {len(ids) - CANDIDATES} more" if len(ids) > CANDIDATES else ""
        raise UnknownName(
            f"{reference!r} is the end of {len(ids)} runs", remedy=f"one of {', '.join(ids[:CANDIDATES])}{more}"
        )
    return connection.execute(query.where(RUNS.c.id == ids[0])).one()


def runs(connection: sa.Connection, limit: int) -> tuple[RunHeader, ...]:
    """Headers, the newest first."""
    rows = connection.execute(sa.select(RUNS.c.body).order_by(RUNS.c.started.desc(), RUNS.c.id.desc()).limit(limit))
    return tuple(decode(RunResult, body).header for (body,) in rows)


def exchanges(connection: sa.Connection, run: str, scenario: str, number: int) -> tuple[Exchange, ...]:
    """What was sent and returned in one trial, in order."""
    rows = connection.execute(
        sa.select(EXCHANGES.c.body)
        .where(EXCHANGES.c.run == run, EXCHANGES.c.scenario == scenario, EXCHANGES.c.number == number)
        .order_by(EXCHANGES.c.position)
    )
    return tuple(decode(Exchange, body) for (body,) in rows)

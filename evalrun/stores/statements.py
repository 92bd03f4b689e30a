"""Writing runs and trials into the tables, and reading them back.

Every function takes a connection inside a transaction; SQLite and Postgres share the statements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from evalrun.archive import decode, encode
from evalrun.deciding import verdict_so_far
from evalrun.errors import UnknownName
from evalrun.redaction import sanitise
from evalrun.results import UNFINISHED, Exchange, RunResult, ScenarioResult, TrialResult
from evalrun.stores.backend import Connection, Row, Values
from evalrun.verdict import Verdict

CANDIDATES = 5
_NEWEST_FIRST = "order by started desc, id desc"
_RUN = "select id, finished, body from evalrun_runs"


def _insert(table: str, columns: str) -> str:
    """The statement that adds rows to a table; each column is filled by the value of its name."""
    return f"insert into {table} ({columns}) values (:{columns.replace(', ', ', :')})"  # noqa: S608  our own names


_ADD_RUN = _insert("evalrun_runs", "id, started, target, commit_sha, body")
_ADD_SCENARIO = _insert("evalrun_scenarios", "run, scenario, category, stage, path, verdict, reason")
_ADD_TRIAL = _insert(
    "evalrun_trials",
    "run, scenario, number, outcome, code, ending, started, seconds, key, replays,"
    " cost_agent, cost_persona, cost_judge, body",
)
_ADD_SCORE = _insert("evalrun_scores", "run, scenario, number, judge, turn, criterion, value, gates, ruler")
_ADD_EXCHANGE = _insert("evalrun_exchanges", "run, scenario, number, position, role, cost_usd, body")


def _text(text: str) -> str:
    """A text that a column takes; the body has it as it was."""
    return sanitise(text)[0]


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _bare(run: RunResult) -> str:
    """The run without its trials, which are kept one by one."""
    return encode(replace(run, scenarios=tuple(replace(s, trials=()) for s in run.scenarios))).decode()


def begin(connection: Connection, run: RunResult) -> None:
    """Keep a run that starts; one that is known already is left as it is."""
    header = run.header
    if connection.rows("select id from evalrun_runs where id = :id", {"id": header.id}):
        return
    connection.write(
        _ADD_RUN,
        {
            "id": header.id,
            "started": _time(header.started),
            "target": _text(header.target),
            "commit_sha": _text(header.commit),
            "body": _bare(run),
        },
    )
    _keep_scenarios(connection, run)


def _keep_scenarios(connection: Connection, run: RunResult) -> None:
    connection.write("delete from evalrun_scenarios where run = :run", {"run": run.header.id})
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
        connection.write(_ADD_SCENARIO, *rows)


def add(connection: Connection, run: str, trial: TrialResult) -> None:
    """Keep a trial with its scores and exchanges; one that is known already is left as it is."""
    key = {"run": _text(run), "scenario": _text(trial.scenario), "number": trial.number}
    known = "select number from evalrun_trials where run = :run and scenario = :scenario and number = :number"
    if connection.rows(known, key):
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
    connection.write(_ADD_TRIAL, row)
    for statement, rows in ((_ADD_SCORE, _scores(key, trial)), (_ADD_EXCHANGE, _exchanges(key, trial))):
        if rows:
            connection.write(statement, *rows)
    # a run that is resumed goes on again
    connection.write(
        "update evalrun_runs set finished = null where id = :run and finished is not null", {"run": key["run"]}
    )


def _scores(key: Values, trial: TrialResult) -> list[Values]:
    # two judges of one name, or a criterion scored twice in a turn, keep the last: the body has all
    rows: dict[tuple[str, int, str], Values] = {
        (j.judge, s.turn, s.criterion): {
            **key,
            "judge": _text(j.judge),
            "turn": s.turn,
            "criterion": _text(s.criterion),
            "value": s.value,
            "gates": j.gates,
            "ruler": ruler,
        }
        for j in trial.judgements
        for ruler in [j.ruler.fingerprint if j.ruler else ""]
        for s in j.scores
    }
    return list(rows.values())


def _exchanges(key: Values, trial: TrialResult) -> list[Values]:
    return [
        {**key, "position": i, "role": e.role.value, "cost_usd": str(e.cost), "body": encode(e).decode()}
        for i, e in enumerate(trial.exchanges, 1)
    ]


def finish(connection: Connection, run: RunResult) -> None:
    """Keep the end of a run."""
    connection.write(
        "update evalrun_runs set finished = :finished, exit_code = :exit_code, cost_usd = :cost_usd, body = :body"
        " where id = :id",
        {
            "id": run.header.id,
            "finished": _time(run.finished),
            "exit_code": run.exit_code,
            "cost_usd": str(run.spending.cost),
            "body": _bare(run),
        },
    )
    _keep_scenarios(connection, run)


def load(connection: Connection, reference: str) -> RunResult:
    """A run by id, by the end of its id, or "last". Raises UnknownName, StoreFailed."""
    name, finished, body = _find(connection, reference)
    run = decode(RunResult, body)
    bodies = connection.rows(
        "select body from evalrun_trials where run = :run order by scenario, number", {"run": name}
    )
    trials = [decode(TrialResult, body) for (body,) in bodies]
    if finished is None:
        run = replace(run, notices=(*run.notices, UNFINISHED))
    return replace(run, scenarios=tuple(_with_trials(s, trials, finished is not None) for s in run.scenarios))


def _with_trials(scenario: ScenarioResult, trials: Sequence[TrialResult], finished: bool) -> ScenarioResult:
    own = tuple(t for t in trials if t.scenario == scenario.id)
    if finished or not own:
        return replace(scenario, trials=own)
    # the run was killed: the verdict follows from what is kept
    verdict = verdict_so_far(own, scenario.rule) or Verdict.NOT_RUN
    return replace(scenario, trials=own, verdict=verdict, reason=own[-1].reason)


def _find(connection: Connection, reference: str) -> Row:
    """Id, end and body of one run."""
    if reference == "last":
        newest = connection.rows(f"{_RUN} {_NEWEST_FIRST} limit 1")
        if not newest:
            raise UnknownName("the history holds no run", remedy="evalrun run")
        return newest[0]
    if exact := connection.rows(f"{_RUN} where id = :id", {"id": reference}):
        return exact[0]
    every = connection.rows(f"select id from evalrun_runs {_NEWEST_FIRST}")  # noqa: S608  our own words
    ids = [name for (name,) in every if reference and name.endswith(reference)]
    if not ids:
        raise UnknownName(f"no run {reference!r}", remedy="evalrun runs lists them; the end of an id is enough")
    if len(ids) > 1:
        more = f" and {len(ids) - CANDIDATES} more" if len(ids) > CANDIDATES else ""
        raise UnknownName(
            f"{reference!r} is the end of {len(ids)} runs", remedy=f"one of {', '.join(ids[:CANDIDATES])}{more}"
        )
    return connection.rows(f"{_RUN} where id = :id", {"id": ids[0]})[0]


def runs(connection: Connection, limit: int) -> tuple[RunResult, ...]:
    """Runs without their trials, the newest first; one that has not ended says so in its notices."""
    rows = connection.rows(f"{_RUN} {_NEWEST_FIRST} limit :limit", {"limit": limit})
    found = [(decode(RunResult, body), finished is not None) for _, finished, body in rows]
    return tuple(run if ended else replace(run, notices=(*run.notices, UNFINISHED)) for run, ended in found)


def exchanges(connection: Connection, run: str, scenario: str, number: int) -> tuple[Exchange, ...]:
    """What was sent and returned in one trial, in order."""
    rows = connection.rows(
        "select body from evalrun_exchanges where run = :run and scenario = :scenario and number = :number"
        " order by position",
        {"run": run, "scenario": scenario, "number": number},
    )
    return tuple(decode(Exchange, body) for (body,) in rows)

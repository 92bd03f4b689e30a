"""What trials took before, read from the history without the SQL library, so that a plan stays quick.

Only the last runs are looked at, and of each scenario only its last trials.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from evalrun.errors import StoreFailed
from evalrun.interfaces.stores import PastTrials
from evalrun.usage import Role

RUNS_AT_MOST = 60
TRIALS_AT_MOST = 5
LOOKED_INTO_AT_MOST = 400
"""Scenarios whose trials are opened for their calls."""

TRIALS = """
select t.scenario, t.run, t.number, t.seconds, t.cost_agent, t.cost_persona, t.cost_judge
from evalrun_trials t join (select id, started from evalrun_runs order by started desc limit {runs}) r on r.id = t.run
where t.outcome in ('pass', 'fail') and t.key like {key}
order by t.started desc
"""
_CALLS = """
select json_extract(body, '$.spending.agent.calls'), json_extract(body, '$.spending.persona.calls'),
json_extract(body, '$.spending.judge.calls') from evalrun_trials where run = ? and scenario = ? and number = ?
"""
Row = Sequence[Any]


async def sqlite_past(location: str, key_part: str, scenarios: Sequence[str]) -> Mapping[str, PastTrials]:
    """See `interfaces.stores.Past`; of a history in a file."""
    return await asyncio.to_thread(_read, Path(location), key_part, scenarios)


def _read(path: Path, key_part: str, scenarios: Sequence[str]) -> Mapping[str, PastTrials]:
    if not path.is_file():
        return {}
    try:
        # immutable would miss the write-ahead log; read-only must not create what is not there
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=5)
        try:
            statement = TRIALS.format(runs=RUNS_AT_MOST, key="?")
            found = by_scenario(connection.execute(statement, (f"%{key_part}%",)))
            opened = [s for s in scenarios if s in found][:LOOKED_INTO_AT_MOST]
            calls = {s: _calls(connection, found[s]) for s in opened}
        finally:
            connection.close()
    except sqlite3.Error as e:
        raise StoreFailed(
            f"the history {path} cannot be read: {e}", remedy="correct its rights, or set `store` to another place"
        ) from e
    return {s: mean_of(rows, calls.get(s, {})) for s, rows in found.items()}


def _calls(connection: sqlite3.Connection, rows: Sequence[Row]) -> Mapping[Role, float]:
    counts = [connection.execute(_CALLS, (run, scenario, number)).fetchone() for scenario, run, number, *_ in rows]
    return {role: sum(c[i] or 0 for c in counts) / len(counts) for i, role in enumerate(Role)}


def by_scenario(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The last trials of each scenario, of rows with the newest first."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        own = found.setdefault(row[0], [])
        if len(own) < TRIALS_AT_MOST:
            own.append(row)
    return found


def mean_of(rows: Sequence[Row], calls: Mapping[Role, float]) -> PastTrials:
    """The mean of some trials."""
    count = len(rows)
    return PastTrials(
        trials=count,
        seconds=sum(float(r[3]) for r in rows) / count,
        cost={role: sum((Decimal(str(r[4 + i])) for r in rows), Decimal(0)) / count for i, role in enumerate(Role)},
        calls=calls,
    )

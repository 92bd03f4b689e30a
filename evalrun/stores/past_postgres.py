"""What trials took before, read from a history on Postgres."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import asyncpg

from evalrun.errors import StoreFailed
from evalrun.interfaces.stores import PastTrials
from evalrun.stores.past import LOOKED_INTO_AT_MOST, RUNS_AT_MOST, TRIALS, Row, by_scenario, mean_of
from evalrun.usage import Role

_CALLS = """
select (body::jsonb #>> '{spending,agent,calls}')::int, (body::jsonb #>> '{spending,persona,calls}')::int,
(body::jsonb #>> '{spending,judge,calls}')::int
from evalrun_trials where run = $1 and scenario = $2 and number = $3
"""
SECONDS = 10


async def postgres_past(location: str, key_part: str, scenarios: Sequence[str]) -> Mapping[str, PastTrials]:
    """See `interfaces.stores.Past`; of a history on a server."""
    try:
        connection = await asyncpg.connect(location, timeout=SECONDS, command_timeout=SECONDS)
        try:
            rows = await connection.fetch(TRIALS.format(runs=RUNS_AT_MOST, key="$1"), f"%{key_part}%")
            found = by_scenario(tuple(r) for r in rows)
            opened = [s for s in scenarios if s in found][:LOOKED_INTO_AT_MOST]
            calls = {s: await _calls(connection, found[s]) for s in opened}
        finally:
            await connection.close()
    except asyncpg.UndefinedTableError:
        return {}
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError, ValueError) as e:
        raise StoreFailed(
            f"the history on Postgres cannot be read: {type(e).__name__}: {e}", remedy="correct `store`, or its server"
        ) from e
    return {s: mean_of(rows, calls.get(s, {})) for s, rows in found.items()}


async def _calls(connection: asyncpg.Connection, rows: Sequence[Row]) -> Mapping[Role, float]:
    counts = [await connection.fetchrow(_CALLS, run, scenario, number) for scenario, run, number, *_ in rows]
    return {role: sum(c[i] or 0 for c in counts) / len(counts) for i, role in enumerate(Role)}

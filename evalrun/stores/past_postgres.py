"""What trials took before, read from a history on Postgres."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from evalrun.interfaces.stores import PastTrials
from evalrun.stores.backend import Connection
from evalrun.stores.past import LOOKED_INTO_AT_MOST, RUNS_AT_MOST, TRIALS, Row, by_scenario, mean_of
from evalrun.stores.postgres import Postgres
from evalrun.usage import Role

_CALLS = """
select cast(cast(body as jsonb) #>> '{spending,agent,calls}' as int),
cast(cast(body as jsonb) #>> '{spending,persona,calls}' as int),
cast(cast(body as jsonb) #>> '{spending,judge,calls}' as int)
from evalrun_trials where run = :run and scenario = :scenario and number = :number
"""
SECONDS = 10.0


async def postgres_past(location: str, key_part: str, scenarios: Sequence[str]) -> Mapping[str, PastTrials]:
    """See `interfaces.stores.Past`; of a history on a server."""
    server = Postgres(location, SECONDS)
    try:
        return await server.run(partial(_read, key_part, scenarios))
    finally:
        await server.close()


def _read(key_part: str, scenarios: Sequence[str], connection: Connection) -> Mapping[str, PastTrials]:
    if not connection.has("evalrun_trials"):
        return {}
    rows = connection.rows(TRIALS.format(runs=RUNS_AT_MOST, key=":key"), {"key": f"%{key_part}%"})
    found = by_scenario(rows)
    opened = [s for s in scenarios if s in found][:LOOKED_INTO_AT_MOST]
    calls = {s: _calls(connection, found[s]) for s in opened}
    return {s: mean_of(own, calls.get(s, {})) for s, own in found.items()}


def _calls(connection: Connection, rows: Sequence[Row]) -> Mapping[Role, float]:
    counts = [
        connection.rows(_CALLS, {"run": run, "scenario": scenario, "number": number})[0]
        for scenario, run, number, *_ in rows
    ]
    return {role: sum(c[i] or 0 for c in counts) / len(counts) for i, role in enumerate(Role)}

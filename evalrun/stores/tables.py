"""The tables of a history and their versioned migrations.

Each trial is kept twice: whole, as JSON in `body`, and as columns for what history, drift and
costs ask of many runs at once. Money is text, so that it stays exact; times are ISO 8601 in UTC,
so that text sorts as time. A run whose `finished` is null goes on, or was killed. Scores of
different rulers (their fingerprint) are never joined.
"""

from __future__ import annotations

from evalrun.stores.backend import Connection

VERSION = "evalrun_schema"
_FIRST = (
    "create table evalrun_schema (version integer not null)",
    """create table evalrun_runs (
      id text not null primary key, started text not null, finished text, target text not null,
      commit_sha text not null, exit_code integer, cost_usd text, body text not null
    )""",
    """create table evalrun_scenarios (
      run text not null, scenario text not null, category text not null, stage text not null,
      path text not null, verdict text not null, reason text not null,
      primary key (run, scenario)
    )""",
    """create table evalrun_trials (
      run text not null, scenario text not null, number integer not null,
      outcome text not null, code text not null, ending text not null, started text not null,
      seconds float not null, key text not null, replays integer not null,
      cost_agent text not null, cost_persona text not null, cost_judge text not null, body text not null,
      primary key (run, scenario, number)
    )""",
    "create index evalrun_trials_by_scenario on evalrun_trials (scenario, started)",
    """create table evalrun_scores (
      run text not null, scenario text not null, number integer not null,
      judge text not null, turn integer not null, criterion text not null,
      value integer not null, gates boolean not null, ruler text not null,
      primary key (run, scenario, number, judge, turn, criterion)
    )""",
    """create table evalrun_exchanges (
      run text not null, scenario text not null, number integer not null, position integer not null,
      role text not null, cost_usd text not null, body text not null,
      primary key (run, scenario, number, position)
    )""",
)
MIGRATIONS = (_FIRST,)
"""Each brings the schema from its index to the next; one that was released never changes."""


def migrate(connection: Connection) -> int:
    """Bring the schema up to date and return the version found; a newer one is left as it is."""
    if connection.lock:
        connection.rows(connection.lock)
    found = 0
    if connection.has(VERSION):
        found = connection.rows("select max(version) from evalrun_schema")[0][0] or 0
    for version in range(found, len(MIGRATIONS)):
        for statement in MIGRATIONS[version]:
            connection.write(statement)
        connection.write("delete from evalrun_schema")
        connection.write("insert into evalrun_schema (version) values (:version)", {"version": version + 1})
    return found

"""The tables of a history and their versioned migrations.

Each trial is kept twice: whole, as JSON in `body`, and as columns for what history, drift and
costs ask of many runs at once. Money is text, so that it stays exact.
"""

from __future__ import annotations

import sqlalchemy as sa

METADATA = sa.MetaData()
MIGRATION_LOCK = 0x65766C  # any fixed number: two processes must not migrate one Postgres at once


def _trial_key() -> tuple[sa.Column[str], sa.Column[str], sa.Column[int]]:
    """Run, scenario, number: new columns for each table."""
    return (
        sa.Column("run", sa.Text, primary_key=True),
        sa.Column("scenario", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
    )


VERSION = sa.Table("evalrun_schema", METADATA, sa.Column("version", sa.Integer, nullable=False))
RUNS = sa.Table(
    "evalrun_runs",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("started", sa.Text, nullable=False),  # ISO 8601 in UTC, so that text sorts as time
    sa.Column("finished", sa.Text),  # null: it goes on, or was killed
    sa.Column("target", sa.Text, nullable=False),
    sa.Column("commit_sha", sa.Text, nullable=False),
    sa.Column("exit_code", sa.Integer),
    sa.Column("cost_usd", sa.Text),
    sa.Column("body", sa.Text, nullable=False),
)
SCENARIOS = sa.Table(
    "evalrun_scenarios",
    METADATA,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("scenario", sa.Text, primary_key=True),
    sa.Column("category", sa.Text, nullable=False),
    sa.Column("stage", sa.Text, nullable=False),
    sa.Column("path", sa.Text, nullable=False),
    sa.Column("verdict", sa.Text, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
)
TRIALS = sa.Table(
    "evalrun_trials",
    METADATA,
    *_trial_key(),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("code", sa.Text, nullable=False),
    sa.Column("ending", sa.Text, nullable=False),
    sa.Column("started", sa.Text, nullable=False),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("replays", sa.Integer, nullable=False),
    sa.Column("cost_agent", sa.Text, nullable=False),
    sa.Column("cost_persona", sa.Text, nullable=False),
    sa.Column("cost_judge", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Index("evalrun_trials_by_scenario", "scenario", "started"),
)
SCORES = sa.Table(
    "evalrun_scores",
    METADATA,
    *_trial_key(),
    sa.Column("judge", sa.Text, primary_key=True),
    sa.Column("turn", sa.Integer, primary_key=True),
    sa.Column("criterion", sa.Text, primary_key=True),
    sa.Column("value", sa.Integer, nullable=False),
    sa.Column("gates", sa.Boolean, nullable=False),
    sa.Column("ruler", sa.Text, nullable=False),  # fingerprint: scores of different rulers are never joined
)
EXCHANGES = sa.Table(
    "evalrun_exchanges",
    METADATA,
    *_trial_key(),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("cost_usd", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
)


def _first(connection: sa.Connection) -> None:
    METADATA.create_all(connection, tables=[VERSION, RUNS, SCENARIOS, TRIALS, SCORES, EXCHANGES])


MIGRATIONS = (_first,)
"""Each brings the schema from its index to the next; one that was released never changes."""


def migrate(connection: sa.Connection) -> int:
    """Bring the schema up to date and return the version found; a newer one is left as it is."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MIGRATION_LOCK)))
    found = 0
    if sa.inspect(connection).has_table(VERSION.name):
        found = connection.execute(sa.select(sa.func.max(VERSION.c.version))).scalar() or 0
    for version in range(found, len(MIGRATIONS)):
        MIGRATIONS[version](connection)
        connection.execute(sa.delete(VERSION))
        connection.execute(sa.insert(VERSION).values(version=version + 1))
    return found

"""Time that passes: every timestamp, timestamptz and date column of a database moves back.

The interval is a length of time, not a calendar: a timestamptz moves by exactly so many seconds
across a change of summer time. A date moves by the whole days in it (36 h move it by one). Left
alone are generated columns, foreign tables, views, arrays, ranges and JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import asyncpg

_DAY = 86_400
_ASIDE_DAYS = 365_000
"""Where rows of a table with unique times wait, so that none meets one that has not moved yet."""
_COLUMNS = """
select n.nspname as schema, c.relname as relation, a.attname as name, b.typname as kind,
  exists (
    select from pg_index i
    where i.indrelid = c.oid and (i.indisunique or i.indisexclusion)
      and (a.attnum = any (i.indkey) or i.indexprs is not null)
  ) as unique
from pg_attribute a
join pg_class c on c.oid = a.attrelid
join pg_namespace n on n.oid = c.relnamespace
join pg_type t on t.oid = a.atttypid
join pg_type b on b.oid = coalesce(nullif(t.typbasetype, 0), t.oid)
where c.relkind in ('r', 'p') and not c.relispartition and a.attnum > 0 and not a.attisdropped
  and a.attgenerated = '' and b.typname in ('timestamp', 'timestamptz', 'date')
  and b.typnamespace = 'pg_catalog'::regnamespace
  and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname not like 'pg\\_toast%'
  and n.nspname not like 'pg\\_temp%'
order by 1, 2, a.attnum
"""


@dataclass(slots=True)
class _Table:
    """The columns of one table that move."""

    columns: list[tuple[str, str]] = field(default_factory=list)
    unique: bool = False


async def shift(connection: asyncpg.Connection, interval: timedelta, keep: Sequence[str], timeout: float) -> int:
    """Move the columns back, inside the caller's transaction; returns how many. Raises what asyncpg raises.

    `keep` names columns as `column`, `table.column` or `schema.table.column`; `timeout` is in
    seconds, for each table. Triggers and foreign keys rest where the role may switch them off.
    """
    if await connection.fetchval("select current_setting('is_superuser') = 'on'"):
        await connection.execute("set local session_replication_role = replica")
    tables: dict[tuple[str, str], _Table] = {}
    for row in await connection.fetch(_COLUMNS):
        schema, relation, name = row["schema"], row["relation"], row["name"]
        if not {name, f"{relation}.{name}", f"{schema}.{relation}.{name}"} & set(keep):
            table = tables.setdefault((schema, relation), _Table())
            table.columns.append((name, row["kind"]))
            table.unique = table.unique or row["unique"]
    for (schema, relation), table in tables.items():
        aside = timedelta(days=_ASIDE_DAYS) if table.unique else timedelta()
        for step in (interval + aside, -aside):
            if step:
                await connection.execute(_update(schema, relation, table, step), timeout=timeout)
    return sum(len(t.columns) for t in tables.values())


def _update(schema: str, relation: str, table: _Table, back: timedelta) -> str:
    days = back // timedelta(days=1)
    moved = [
        f"{quoted(c)} = {quoted(c)} - "
        + (f"({days})" if kind == "date" else f"make_interval(secs => {_seconds(back)})")
        for c, kind in table.columns
    ]
    return f"update {quoted(schema)}.{quoted(relation)} set {', '.join(moved)}"  # noqa: S608  identifiers are quoted


def _seconds(interval: timedelta) -> str:
    return f"{interval.days * _DAY + interval.seconds}.{interval.microseconds:06}"


def quoted(identifier: str) -> str:
    """An SQL identifier."""
    return '"' + identifier.replace('"', '""') + '"'

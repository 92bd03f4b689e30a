"""One trial's own database: its address in every form, a read-only look, and time that passes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import quote, urlencode

import asyncpg

from evalrun.errors import DatabaseFailed

CONNECT_SECONDS = 10.0
QUERY_SECONDS = 30.0
_DAYS = "floor(extract(epoch from $1::interval) / 86400)::int"

_TIME_COLUMNS = """
select n.nspname, c.relname, a.attname, t.typname
from pg_attribute a
join pg_class c on c.oid = a.attrelid
join pg_namespace n on n.oid = c.relnamespace
join pg_type t on t.oid = a.atttypid
where c.relkind in ('r', 'p') and not c.relispartition and a.attnum > 0 and not a.attisdropped
  and a.attgenerated = '' and t.typname in ('timestamp', 'timestamptz', 'date')
  and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname not like 'pg_toast%'
order by 1, 2, a.attnum
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a server is and how to log in; `options` are the query parameters of a DSN."""

    host: str
    port: int
    user: str
    password: str = ""
    options: tuple[tuple[str, str], ...] = ()

    def dsn(self, database: str, scheme: str = "postgresql") -> str:
        """A DSN for libpq and asyncpg."""
        login = quote(self.user, safe="") + (f":{quote(self.password, safe='')}" if self.password else "")
        query = f"?{urlencode(self.options)}" if self.options else ""
        return f"{scheme}://{login}@{quote(self.host, safe='')}:{self.port}/{quote(database, safe='')}{query}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialDatabase:
    """One database (see `interfaces.Database`)."""

    name: str
    address: Address

    @property
    def host(self) -> str:
        """A host name or an address."""
        return self.address.host

    @property
    def port(self) -> int:
        """The port."""
        return self.address.port

    @property
    def user(self) -> str:
        """The role."""
        return self.address.user

    @property
    def password(self) -> str:
        """The password, "" for none."""
        return self.address.password

    @property
    def url(self) -> str:
        """For SQLAlchemy's async engine over asyncpg, which calls `sslmode` `ssl`."""
        options = tuple(("ssl" if k == "sslmode" else k, v) for k, v in self.address.options)
        plain = Address(host=self.host, port=self.port, user=self.user, password=self.password, options=options)
        return plain.dsn(self.name, "postgresql+asyncpg")

    @property
    def dsn(self) -> str:
        """For libpq and asyncpg."""
        return self.address.dsn(self.name)

    @property
    def environ(self) -> Mapping[str, str]:
        """The PG* variables."""
        return {
            "PGHOST": self.host,
            "PGPORT": str(self.port),
            "PGUSER": self.user,
            "PGPASSWORD": self.password,
            "PGDATABASE": self.name,
        }

    async def fetch(self, query: str) -> tuple[tuple[object, ...], ...]:
        """Rows of a query in a read-only transaction. Raises DatabaseFailed."""
        async with Connection(self.address, self.name) as connection:
            try:
                async with connection.transaction(readonly=True):
                    rows = await connection.fetch(query, timeout=QUERY_SECONDS)
            except (asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError) as e:
                raise DatabaseFailed(f"{_said(e)} in {query!r}", remedy="correct the query") from e
        return tuple(tuple(row.values()) for row in rows)

    async def shift_time(self, interval: timedelta, keep: Sequence[str] = ()) -> int:
        """Move every timestamp, timestamptz and date back by `interval`, in one transaction.

        A date moves by the whole days of the interval. Columns in `keep` (`column` or
        `table.column`), generated columns and foreign tables stay. Triggers do not fire when the
        role may switch them off. Returns how many columns were moved. Raises DatabaseFailed.
        """
        async with Connection(self.address, self.name) as connection:
            try:
                async with connection.transaction():
                    if await connection.fetchval("select current_setting('is_superuser') = 'on'"):
                        await connection.execute("set local session_replication_role = replica")
                    columns = [tuple(r.values()) for r in await connection.fetch(_TIME_COLUMNS)]
                    kept = [c for c in columns if c[2] not in keep and f"{c[1]}.{c[2]}" not in keep]
                    for statement in _updates(kept):
                        await connection.execute(statement, interval, timeout=QUERY_SECONDS)
            except (asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError) as e:
                raise DatabaseFailed(
                    f"time could not pass: {_said(e)}", remedy="leave the column out with given.keep_columns"
                ) from e
        return len(kept)


def _updates(columns: Sequence[tuple[str, str, str, str]]) -> list[str]:
    """One UPDATE a table."""
    tables: dict[tuple[str, str], list[str]] = {}
    for schema, table, column, kind in columns:
        name = quoted(column)
        moved = f"{name} - {_DAYS if kind == 'date' else '$1::interval'}"
        tables.setdefault((schema, table), []).append(f"{name} = {moved}")
    return [
        f"update {quoted(s)}.{quoted(t)} set {', '.join(c)}"  # noqa: S608  every identifier is quoted
        for (s, t), c in tables.items()
    ]


def quoted(identifier: str) -> str:
    """An SQL identifier."""
    return '"' + identifier.replace('"', '""') + '"'


def _said(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


class Connection:
    """A short-lived asyncpg connection as an async context. Raises DatabaseFailed when it cannot be made."""

    def __init__(self, address: Address, database: str, application: str = "evalrun") -> None:
        self._address = address
        self._database = database
        self._application = application
        self._connection: asyncpg.Connection | None = None

    async def __aenter__(self) -> asyncpg.Connection:
        """Connect."""
        self._connection = await connect(self._address, self._database, self._application)
        return self._connection

    async def __aexit__(self, *_: object) -> None:
        """Close, also when interrupted."""
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                await connection.close(timeout=5)
            except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                connection.terminate()


async def connect(address: Address, database: str, application: str = "evalrun") -> asyncpg.Connection:
    """A connection. Raises DatabaseFailed with one line that holds no password."""
    where = f"{address.host}:{address.port}/{database}"
    try:
        return await asyncpg.connect(
            address.dsn(database),
            timeout=CONNECT_SECONDS,
            statement_cache_size=0,
            server_settings={"application_name": application},
        )
    except (OSError, TimeoutError, asyncio.IncompleteReadError) as e:
        raise DatabaseFailed(
            f"no Postgres answers at {where} ({type(e).__name__})", remedy="start it, or correct the DSN"
        ) from e
    except (asyncpg.PostgresError, asyncpg.InterfaceError, ValueError) as e:
        raise DatabaseFailed(f"Postgres at {where} refused: {_said(e)}", remedy="correct the DSN or its role") from e

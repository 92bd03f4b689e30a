"""One trial's own database: its address in every form, a read-only look, and time that passes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import quote, urlencode

import asyncpg

from evalrun.databases.time_shift import shift
from evalrun.errors import DatabaseFailed

CONNECT_SECONDS = 10.0
QUERY_SECONDS = 30.0


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
        place, options = f"{quote(self.host, safe='')}:{self.port}", self.options
        if self.host.startswith("/"):  # the folder of a socket is no host, and goes where every driver finds it
            place, options = "", (("host", self.host), ("port", str(self.port)), *options)
        elif ":" in self.host:
            place = f"[{self.host}]:{self.port}"
        query = f"?{urlencode(options)}" if options else ""
        return f"{scheme}://{login}@{place}/{quote(database, safe='')}{query}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialDatabase:
    """One database (see `interfaces.databases.Database`)."""

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
        mode = dict(self.address.options).get("sslmode")
        return {
            "PGHOST": self.host,
            "PGPORT": str(self.port),
            "PGUSER": self.user,
            "PGPASSWORD": self.password,
            "PGDATABASE": self.name,
            **({"PGSSLMODE": mode} if mode else {}),
        }

    async def fetch(self, query: str) -> tuple[tuple[object, ...], ...]:
        """Rows of a query in a read-only transaction. Raises DatabaseFailed."""
        async with Connection(self.address, self.name) as connection:
            try:
                async with connection.transaction(readonly=True):
                    rows = await connection.fetch(query, timeout=QUERY_SECONDS)
            except TimeoutError as e:
                raise DatabaseFailed(f"over {QUERY_SECONDS:g} s for {query!r}", remedy="make the query quicker") from e
            except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as e:
                raise DatabaseFailed(f"{_said(e)} in {query!r}", remedy="correct the query") from e
        return tuple(tuple(row.values()) for row in rows)

    async def shift_time(self, interval: timedelta, keep: Sequence[str] = ()) -> int:
        """Move every timestamp, timestamptz and date back by `interval`, in one transaction (see `time_shift`).

        Returns how many columns were moved. Raises DatabaseFailed, and then nothing has moved.
        """
        async with Connection(self.address, self.name) as connection:
            try:
                async with connection.transaction():
                    return await shift(connection, interval, keep, QUERY_SECONDS)
            except TimeoutError as e:
                raise DatabaseFailed(
                    f"time could not pass within {QUERY_SECONDS:g} s a table",
                    remedy="the target must commit before its turn ends: a lock is held",
                ) from e
            except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as e:
                table = getattr(e, "table_name", None)
                raise DatabaseFailed(
                    f"time could not pass{f' in table {table}' if table else ''}: {_said(e)}",
                    remedy="leave the column out with given.keep_columns",
                ) from e


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

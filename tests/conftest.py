"""What tests share: one embedded Postgres a session, and an empty database for each test that asks."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from evalrun.databases.embedded import Embedded
from evalrun.interfaces.databases import Database, DatabaseSetup


class Cluster:
    """A private Postgres on an event loop of its own, usable from tests that are not asynchronous."""

    def __init__(self, tmp: Path) -> None:
        self._loop = asyncio.new_event_loop()
        setup = DatabaseSetup(location="embedded", run=f"tests-{os.getpid()}", environ=os.environ, tmp=tmp)
        self._server = Embedded(setup)
        try:
            self._run(self._server.start())
            self._run(self._server.prepare(None, 0))
            database = self.database()
            self.dsn = database.dsn.replace(f"/{database.name}", "/postgres")
            """Its address as a real server's, with the database for administration."""
        except BaseException:
            self.close()
            raise

    def database(self) -> Database:
        """A new empty database."""
        fresh: Database = self._run(self._server.clone(""))
        return fresh

    @property
    def folder(self) -> Path:
        """Where it keeps its data."""
        assert self._server._folder is not None
        return self._server._folder.path

    def forget(self, database: Database) -> None:
        """Drop a database."""
        self._run(self._server.drop(database))

    def close(self) -> None:
        """End the cluster."""
        self._run(self._server.close())
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(work)


@pytest.fixture(scope="session", autouse=True)
def _no_key_of_the_machine() -> Iterator[None]:
    """No test may reach what is paid for: keys in the shell of a developer are put away."""
    keys = {name: os.environ.pop(name) for name in list(os.environ) if name.endswith(("_API_KEY", "_AUTH_TOKEN"))}
    yield
    os.environ.update(keys)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One embedded Postgres for all tests of a session."""
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    yield running
    running.close()


@pytest.fixture
def database(cluster: Cluster) -> Iterator[Database]:
    """A new empty database, dropped after the test."""
    fresh = cluster.database()
    yield fresh
    cluster.forget(fresh)


@pytest.fixture
def fresh_database(database: Database) -> str:
    """The address of a new empty database, for SQLAlchemy's async engine over asyncpg."""
    return database.url

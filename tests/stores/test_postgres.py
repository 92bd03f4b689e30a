"""The history on a Postgres."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from evalrun.errors import StoreFailed, UsageError
from evalrun.interfaces.databases import Database
from evalrun.stores.postgres import postgres
from evalrun.stores.sql import SqlStore
from tests.results_samples import passed, trial
from tests.runs_samples import hostile_run, mixed_run, run_of
from tests.stores.test_sqlite import keep, named

T = TypeVar("T")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is not stored goes to the current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def use(url: str, work: Callable[[SqlStore], Awaitable[T]]) -> T:
    """Open the store of an address, work with it, close it."""

    async def whole() -> T:
        store = postgres(url)
        try:
            await store.open()
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(whole())


@pytest.mark.parametrize("form", ["postgresql+asyncpg", "postgresql", "postgres"])
def test_a_run_comes_back_as_it_was(database: Database, form: str) -> None:
    """Whatever form the address has, and whatever texts the run holds."""
    url = form + database.url.removeprefix("postgresql+asyncpg")

    async def work(store: SqlStore) -> None:
        for run in (mixed_run(), named(hostile_run(), "2026-12-02-ffffff", 40)):
            await keep(store, run)
            assert await store.load("last") == run
        assert (await store.load("7f3a2b")).header.id == mixed_run().header.id
        assert store.notices == []

    use(url, work)


def test_several_open_at_once(database: Database) -> None:
    """Two processes may migrate and write one history."""

    async def work() -> list[str]:
        stores = [postgres(database.url) for _ in range(3)]
        await asyncio.gather(*(s.open() for s in stores))
        run = run_of(passed())
        await stores[0].begin(run)
        await asyncio.gather(
            *(s.add(run.header.id, trial("s", "pass", "ok", number=n)) for n, s in enumerate(stores * 5))
        )
        found = len((await stores[0].load("last")).scenarios)
        notices = [n for s in stores for n in s.notices]
        await asyncio.gather(*(s.close() for s in stores))
        assert found == 1
        return notices

    assert asyncio.run(work()) == []


@pytest.mark.parametrize("kind", ["no server", "no database", "no rights"])
def test_a_server_that_cannot_be_used(database: Database, here: Path, kind: str) -> None:
    """The results go beside, the notice names the address without its password, reading is an error."""
    url = database.url
    if kind == "no server":
        url = "postgresql://app:s3cr3t-word@127.0.0.1:9/history"
    elif kind == "no database":
        url = url.replace(database.name, "missing")
    else:
        url = url.replace("postgres@", "nobody_here@").replace("//postgres:", "//nobody_here:")

    async def work(store: SqlStore) -> list[str]:
        await keep(store, run_of(passed()))
        with pytest.raises(StoreFailed):
            await store.load("last")
        return store.notices

    notices = use(url, work)
    assert len(notices) == 1
    assert "s3cr3t-word" not in notices[0]
    written = list((here / ".evalrun").iterdir())
    assert [p.name.startswith("history-") and p.suffix == ".jsonl" for p in written] == [True]


def test_b68_half_a_surrogate(database: Database) -> None:
    """A text that Postgres refuses does not lose the trial."""
    run = run_of(passed())

    async def work(store: SqlStore) -> None:
        await store.begin(run)
        await store.add(run.header.id, trial(run.scenarios[0].id, "pass", "a\x00b \ud83d", number=2))
        found = (await store.load("last")).scenarios[0].trials
        assert [t.reason for t in found] == ["a␀b \ufffd"]

    use(database.url, work)


def test_no_address() -> None:
    """What is no address is a usage error."""
    with pytest.raises(UsageError):
        postgres("postgresql://host:port/history")

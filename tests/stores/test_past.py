"""What trials took before, read without the SQL library."""

from __future__ import annotations

import asyncio
import socket
import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from evalrun.errors import StoreFailed
from evalrun.interfaces.databases import Database
from evalrun.interfaces.stores import PastTrials
from evalrun.results import RunResult, TrialResult
from evalrun.stores.past import TRIALS_AT_MOST, sqlite_past
from evalrun.stores.past_postgres import postgres_past
from evalrun.stores.postgres import postgres
from evalrun.stores.sql import SqlStore
from evalrun.stores.sqlite import sqlite
from evalrun.usage import Role
from tests.results_samples import NOW, money, scenario, trial
from tests.runs_samples import run_of

KEY = "scenario=1;models=abc;code=2"


def played(name: str, minute: int, *, seconds: float, cost: str, outcome: str = "pass", key: str = KEY) -> RunResult:
    """A run of one trial."""
    one: TrialResult = replace(
        trial(name, outcome, "as seen"),
        key=key,
        seconds=seconds,
        started=NOW + timedelta(minutes=minute),
        spending=money(cost, "0", "0.002"),
    )
    run = run_of(scenario(name, one))
    header = replace(run.header, id=f"run-{name}-{minute}", started=NOW + timedelta(minutes=minute))
    return replace(run, header=header)


def keep(path: Path | str, *runs: RunResult) -> None:
    """Keep runs as a runner does, in a file or on a server."""

    async def whole() -> None:
        store: SqlStore = postgres(path) if isinstance(path, str) else sqlite(str(path))
        try:
            await store.open()
            for run in runs:
                await store.begin(replace(run, scenarios=tuple(replace(s, trials=()) for s in run.scenarios)))
                for s in run.scenarios:
                    for t in s.trials:
                        await store.add(run.header.id, t)
                await store.finish(run)
        finally:
            await store.close()

    asyncio.run(whole())


def look(path: Path, *names: str, part: str = ";models=abc;") -> Mapping[str, PastTrials]:
    """What is known."""
    return asyncio.run(sqlite_past(str(path), part, names))


def test_the_mean_of_the_last_trials_is_taken(tmp_path: Path) -> None:
    """Seconds, USD by role, and the calls of the scenarios asked for."""
    file = tmp_path / "history.db"
    keep(file, played("a", 1, seconds=10, cost="0.01"), played("a", 2, seconds=20, cost="0.03"))
    keep(file, played("b", 3, seconds=5, cost="0"))
    found = look(file, "a", "never-run")
    assert {"a", "b"} == set(found)
    assert (2, 15.0) == (found["a"].trials, found["a"].seconds)
    assert Decimal("0.02") == found["a"].cost[Role.AGENT]
    assert Decimal("0.002") == found["a"].cost[Role.JUDGE]
    assert {Role.AGENT: 3.0, Role.PERSONA: 3.0, Role.JUDGE: 3.0} == found["a"].calls
    assert {} == found["b"].calls


def test_old_trials_other_models_and_what_was_not_judged_do_not_count(tmp_path: Path) -> None:
    """An error says nothing of what a trial takes."""
    file = tmp_path / "history.db"
    keep(file, *(played("a", m, seconds=100 if m < 3 else 1, cost="0") for m in range(3 + TRIALS_AT_MOST)))
    keep(file, played("a", 50, seconds=999, cost="9", key="scenario=1;models=other;code=2"))
    keep(file, played("a", 51, seconds=999, cost="9", outcome="error"))
    assert (TRIALS_AT_MOST, 1.0) == (look(file)["a"].trials, look(file)["a"].seconds)
    assert {} == look(file, part=";models=third;")


def test_no_history_is_no_fault_and_none_is_made(tmp_path: Path) -> None:
    """A plan writes nothing."""
    assert {} == look(tmp_path / "none.db")
    assert [] == list(tmp_path.iterdir())


def test_a_history_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    """Another file in its place, or tables of another kind."""
    (tmp_path / "a.db").write_bytes(b"this is no database, though it is long enough to be looked at" * 20)
    with sqlite3.connect(tmp_path / "b.db") as other:
        other.execute("create table evalrun_trials (x int)")
    for name in ("a.db", "b.db"):
        with pytest.raises(StoreFailed, match="cannot be read"):
            look(tmp_path / name)


@pytest.mark.parametrize("form", ["postgresql+asyncpg", "postgresql", "postgres"])
def test_a_history_on_postgres_tells_the_same(
    database: Database, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing before there are tables, then means and calls as of a file."""
    monkeypatch.chdir(tmp_path)
    url = form + database.url.removeprefix("postgresql+asyncpg")
    assert {} == asyncio.run(postgres_past(url, ";models=abc;", ["a"]))
    runs = [played("a", 1, seconds=10, cost="0.01"), played("a", 2, seconds=20, cost="0.03")]
    runs += [played("b", 3, seconds=5, cost="0", key="models=other;"), played("c", 4, seconds=1, cost="0.5")]
    keep(url, *runs)
    keep(tmp_path / "history.db", *runs)
    expected = look(tmp_path / "history.db", "a", "c")
    assert {"a", "c"} == set(expected)
    assert expected == asyncio.run(postgres_past(url, ";models=abc;", ["a", "c"]))


def test_a_server_that_is_not_there_says_so(free_port: int) -> None:
    """A plan then rests on turns."""
    with pytest.raises(StoreFailed, match="cannot be used") as raised:
        asyncio.run(postgres_past(f"postgresql://u:secret-word@127.0.0.1:{free_port}/x", ";models=abc;", []))
    assert "secret-word" not in str(raised.value)


@pytest.fixture
def free_port() -> int:
    """A port where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return port

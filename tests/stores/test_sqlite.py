"""The history in a file."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from evalrun.errors import StoreFailed, UnknownName
from evalrun.results import RunResult
from evalrun.stores.sql import SqlStore
from evalrun.stores.sqlite import Sqlite, sqlite
from evalrun.stores.statements import UNFINISHED
from evalrun.verdict import Verdict
from tests.results_samples import exchange, passed, trial
from tests.runs_samples import HOSTILE, hostile_run, mixed_run, run_of

T = TypeVar("T")


def use(path: Path, work: Callable[[SqlStore], Awaitable[T]]) -> T:
    """Open the store of a file, work with it, close it."""

    async def whole() -> T:
        store = sqlite(str(path))
        try:
            await store.open()
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(whole())


async def keep(store: SqlStore, run: RunResult) -> None:
    """A whole run as a runner keeps it."""
    await store.begin(replace(run, scenarios=tuple(replace(s, trials=()) for s in run.scenarios)))
    for scenario in run.scenarios:
        for one in scenario.trials:
            await store.add(run.header.id, one)
    await store.finish(run)


def named(run: RunResult, name: str, minutes: int = 0) -> RunResult:
    """The run under another id."""
    started = run.header.started.replace(minute=minutes)
    return replace(run, header=replace(run.header, id=name, started=started))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a history may be."""
    return tmp_path / ".evalrun" / "history.db"


def rows(file: Path, query: str) -> list[tuple[object, ...]]:
    """What a query finds in the file itself."""
    connection = sqlite3.connect(file)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize("run", [mixed_run(), hostile_run(), run_of()], ids=["mixed", "hostile", "empty"])
def test_a_run_comes_back_as_it_was(file: Path, run: RunResult) -> None:
    """All but exchanges, which are read by trial."""
    use(file, lambda store: keep(store, run))
    assert use(file, lambda store: store.load("last")) == run


def test_b33_trials_are_committed_one_by_one(file: Path) -> None:
    """When `add` has returned, another connection sees the trial; a killed run can be shown."""
    run = mixed_run()
    two = run.scenarios[1]

    async def killed(store: SqlStore) -> None:
        await store.begin(replace(run, scenarios=tuple(replace(s, trials=()) for s in run.scenarios)))
        await store.add(run.header.id, two.trials[0])
        assert rows(file, "select scenario, number from evalrun_trials") == [(two.id, 1)]

    use(file, killed)
    found = use(file, lambda store: store.load("last"))
    assert [len(s.trials) for s in found.scenarios] == [0, 1, 0, 0, 0, 0, 0, 0, 0]
    assert (found.scenarios[1].verdict, found.scenarios[1].reason) == (Verdict.NOT_RUN, two.trials[0].reason)
    assert found.notices[-1] == UNFINISHED
    assert found.exit_code != 0


def test_a_resumed_run_is_open_again(file: Path) -> None:
    """A trial added after the end reopens the run, so that the old verdict is not taken for the new one."""
    run = run_of(passed())
    use(file, lambda store: keep(store, run))
    use(file, lambda store: store.add(run.header.id, trial(run.scenarios[0].id, "fail", "worse", number=2)))
    found = use(file, lambda store: store.load("last"))
    assert (found.scenarios[0].verdict, found.notices[-1]) == (Verdict.UNSTABLE, UNFINISHED)


def test_exchanges_are_kept_in_order(file: Path) -> None:
    """Every model call of a trial, apart from the trial itself."""
    run = run_of(passed())
    one = run.scenarios[0].trials[0]
    calls = (exchange(cost="0.1"), exchange(cost="0.2"))

    async def work(store: SqlStore) -> None:
        await store.begin(run)
        await store.add(run.header.id, replace(one, exchanges=calls))
        assert await store.exchanges(run.header.id, one.scenario, 1) == calls
        assert await store.exchanges(run.header.id, one.scenario, 2) == ()
        assert (await store.load("last")).scenarios[0].trials == (one,)

    use(file, work)


def test_columns_that_history_asks_for(file: Path) -> None:
    """Scenario, stage, verdict, outcome, costs and each score with its ruler are columns."""
    run = mixed_run()
    use(file, lambda store: keep(store, run))
    assert rows(file, "select stage, verdict from evalrun_scenarios where scenario = 'profile-saved'") == [
        ("profiling", "fail")
    ]
    costs = rows(file, "select cost_agent, cost_persona, cost_judge from evalrun_trials")
    spent = run.spending
    for i, part in enumerate((spent.agent, spent.persona, spent.judge)):
        assert sum((type(part.cost)(str(c[i])) for c in costs), start=part.cost * 0) == part.cost
    scores = rows(
        file,
        "select turn, criterion, value, gates, ruler from evalrun_scores"
        " where scenario = 'pricing-asked-twice' and number = 1 and value < 5",
    )
    ruler = run.scenarios[1].trials[0].judgements[2].ruler
    assert ruler is not None
    assert scores == [(3, "objective", 4, 1, ruler.fingerprint)]
    assert rows(file, "select exit_code, cost_usd from evalrun_runs") == [(1, str(spent.cost))]


def test_runs_are_found_by_the_end_of_their_id(file: Path) -> None:
    """`last`, a whole id, or the end of one that only one run has."""
    names = ["2026-12-01-aaa111", "2026-12-01-bbb111", "2026-12-02-ccc222"]

    async def work(store: SqlStore) -> None:
        for minute, name in enumerate(names):
            await keep(store, named(run_of(passed()), name, minute))
        for reference, expected in (("last", 2), (names[0], 0), ("bbb111", 1), ("222", 2)):
            assert (await store.load(reference)).header.id == names[expected]
        assert [r.header.id for r in await store.runs(2)] == [names[2], names[1]]
        with pytest.raises(UnknownName, match="end of 2 runs") as found:
            await store.load("111")
        assert found.value.remedy == f"one of {names[1]}, {names[0]}"
        for reference in ("zzz", "", "%", "_", "AAA111"):
            with pytest.raises(UnknownName, match="no run"):
                await store.load(reference)

    use(file, work)


def test_an_empty_history(file: Path) -> None:
    """No run is an error that says what to do."""

    async def work(store: SqlStore) -> None:
        assert await store.runs(5) == ()
        with pytest.raises(UnknownName) as found:
            await store.load("last")
        assert found.value.remedy == "evalrun run"

    use(file, work)


def test_a_newer_schema_is_refused_and_left_alone(file: Path) -> None:
    """Nothing of it is changed, nothing goes beside it."""
    use(file, lambda store: keep(store, mixed_run()))
    connection = sqlite3.connect(file)
    connection.execute("update evalrun_schema set version = 99")
    connection.commit()
    connection.close()
    with pytest.raises(StoreFailed, match="schema 99"):
        use(file, lambda store: store.load("last"))
    assert rows(file, "select version from evalrun_schema") == [(99,)]
    assert not file.with_suffix(".jsonl").exists()


def test_b68_texts_that_cannot_be_stored_are_stored(file: Path) -> None:
    """NUL and half a surrogate in any text do not lose the trial."""
    bad = trial("a\x00b", "error", f"{HOSTILE[10]} \ud83d", code="x\ud83d", detail="\x00")
    run = run_of(passed())

    async def work(store: SqlStore) -> None:
        await store.begin(run)
        await store.add(run.header.id, bad)

    use(file, work)
    assert rows(file, "select scenario, code from evalrun_trials") == [("a␀b", "x\ufffd")]


WRITER = """
import asyncio, sys
from pathlib import Path
from dataclasses import replace
from evalrun.stores.sqlite import sqlite
from tests.results_samples import passed, trial
from tests.runs_samples import run_of
async def main(name):
    store = sqlite(sys.argv[1])
    await store.open()
    run = run_of(passed())
    run = replace(run, header=replace(run.header, id=name))
    await store.begin(run)
    for number in range(25):
        await store.add(name, trial(name, "pass", "ok", number=number))
    await store.finish(run)
    await store.close()
    print(store.notices)
asyncio.run(main(sys.argv[2]))
"""


def test_several_processes_share_a_file(file: Path) -> None:
    """They start on no file at all and all their trials are there at the end."""
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(file), f"run-{n}"],
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(3)
    ]
    ended = [p.communicate(timeout=60) for p in started]
    assert ended == [("[]\n", "")] * 3
    assert rows(file, "select run, count(*) from evalrun_trials group by run order by run") == [
        (f"run-{n}", 25) for n in range(3)
    ]


def test_trials_side_by_side(file: Path) -> None:
    """Many adds at once queue up and are all kept."""
    run = run_of(passed())

    async def work(store: SqlStore) -> None:
        await store.begin(run)
        await asyncio.gather(*(store.add(run.header.id, trial("s", "pass", "ok", number=n)) for n in range(100)))

    use(file, work)
    assert rows(file, "select count(*) from evalrun_trials") == [(100,)]


def test_a_file_that_may_only_be_read_is_shown(file: Path) -> None:
    """A history of somebody else can be read; what is new goes beside it."""
    use(file, lambda store: keep(store, mixed_run()))
    for suffix in ("-wal", "-shm"):
        assert not file.with_name(file.name + suffix).exists()
    file.chmod(0o444)
    assert use(file, lambda store: store.load("last")) == mixed_run()


def test_close_twice(file: Path) -> None:
    """Closing is idempotent, also before anything was opened."""

    async def work() -> None:
        store = sqlite(str(file))
        await store.close()
        await store.close()

    asyncio.run(work())
    use(file, lambda store: store.close())


def test_a_lock_is_waited_for(file: Path) -> None:
    """Another process that writes for a moment does not send results beside the history."""
    use(file, lambda store: keep(store, run_of(passed())))

    async def work() -> list[str]:
        holder = sqlite3.connect(file, isolation_level=None)
        store = SqlStore(Sqlite(file, busy_seconds=10), beside=file.with_suffix(".jsonl"))
        await store.open()
        holder.execute("begin immediate")
        adding = asyncio.create_task(store.add("r", trial("s", "pass", "ok")))
        await asyncio.sleep(0.1)
        waited = not adding.done()
        holder.execute("commit")
        await adding
        holder.close()
        await store.close()
        assert waited
        return store.notices

    assert asyncio.run(work()) == []

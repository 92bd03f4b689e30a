"""What becomes of results when the history cannot be written."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from evalrun.errors import StoreFailed
from evalrun.stores.lines import Line, Lines
from evalrun.stores.sql import SqlStore
from evalrun.stores.sqlite import Sqlite, sqlite
from tests.results_samples import passed, trial
from tests.runs_samples import mixed_run, run_of
from tests.stores.test_sqlite import keep, named, rows, use


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a history may be."""
    return tmp_path / "history.db"


def test_a_lock_past_its_time_sends_results_beside(file: Path) -> None:
    """Nothing is lost, it is said once, and the next opening takes them in."""
    use(file, lambda store: keep(store, named(run_of(passed()), "earlier")))
    run = named(mixed_run(), "later", 10)

    async def locked_out() -> list[str]:
        holder = sqlite3.connect(file, isolation_level=None)
        holder.execute("begin immediate")
        store = SqlStore(Sqlite(file, busy_seconds=0.05), beside=file.with_suffix(".jsonl"))
        await store.open()
        await keep(store, run)
        holder.execute("rollback")
        holder.close()
        await store.close()
        return store.notices

    notices = asyncio.run(locked_out())
    assert len(notices) == 1
    assert "locked" in notices[0]
    assert f"results go to {file.with_suffix('.jsonl')}" in notices[0]

    async def later(store: SqlStore) -> None:
        assert await store.load("later") == run
        assert store.notices == ["13 trials of an earlier run were taken into the history"]

    use(file, later)
    assert sorted(p.name for p in file.parent.iterdir()) == ["history.db"]


@pytest.mark.parametrize("what", ["a folder", "no database", "a folder above it"])
def test_a_place_that_cannot_be_written(tmp_path: Path, what: str) -> None:
    """The run goes on and its results are beside the place, or it is said that they cannot be."""
    file = tmp_path / "history.db"
    if what == "a folder":
        file.mkdir()
    elif what == "no database":
        file.write_text("this is no database, and it is longer than the sixteen bytes of a header")

    async def work(place: Path) -> list[str]:
        store = sqlite(str(place))
        try:
            await store.open()
            await store.begin(run_of(passed()))
        finally:
            await store.close()
        return store.notices

    if what == "a folder above it":
        file.write_text("a file")
        with pytest.raises(StoreFailed, match="neither the history nor"):
            asyncio.run(work(file / "x" / "history.db"))
    else:
        assert len(asyncio.run(work(file))) == 1
        assert file.with_suffix(".jsonl").stat().st_size > 0


FULL = """
import asyncio, resource, signal, sys
from evalrun.errors import StoreFailed
from evalrun.stores.sqlite import sqlite
from tests.results_samples import trial
from tests.runs_samples import mixed_run
async def main():
    store = sqlite(sys.argv[1])
    await store.open()
    await store.begin(mixed_run())
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limit = int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    kept = 0
    try:
        for number in range(400):
            await store.add("r", trial("s", "pass", "ok " * 300, number=number))
            kept += 1
    except StoreFailed as e:
        print("failed", e.message.startswith("neither the history nor"), e.remedy)
    print("kept", kept, len(store.notices))
    await store.close()
asyncio.run(main())
"""


def test_a_full_disk(file: Path) -> None:
    """First the history fails, then the lines too: one notice, then one error with the cure, never a crash.

    A limit on the size of files plays the full disk.
    """
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(file), "250000"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    failed, kept = done.stdout.splitlines()
    assert failed == "failed True free space or correct the rights; this report is all there is of the run"
    number, notices = map(int, kept.split()[1:])
    assert (number > 100, notices) == (True, 1)
    # all that was said to be kept is there, once there is room again
    use(file, lambda store: store.runs(1))
    assert rows(file, "select count(*) from evalrun_trials") == [(number,)]


def test_damaged_lines_are_kept_and_said(file: Path) -> None:
    """A line cut short by a full disk does not take the others with it."""
    beside = Lines(file.with_suffix(".jsonl"))
    run = run_of(passed())
    for line in (
        Line(kind="begin", run=run.header.id, value=run),
        Line(kind="trial", run=run.header.id, value=run.scenarios[0].trials[0]),
    ):
        beside.append(line)
    with beside.path.open("ab") as raw:
        raw.write(b'\n{"kind":"trial","run":"x","bo')
    beside.append(Line(kind="finish", run=run.header.id, value=run))

    async def work(store: SqlStore) -> list[str]:
        assert await store.load("last") == run
        return store.notices

    notices = use(file, work)
    assert notices[0].startswith("1 damaged lines stay in ")
    assert notices[1] == "1 trials of an earlier run were taken into the history"


def test_lines_of_a_trial_that_is_known_change_nothing(file: Path) -> None:
    """Taking lines in twice is harmless."""
    run = run_of(passed())
    use(file, lambda store: keep(store, run))
    worse = replace(run.scenarios[0].trials[0], reason="other")
    Lines(file.with_suffix(".jsonl")).append(Line(kind="trial", run=run.header.id, value=worse))

    async def finish(store: SqlStore) -> None:
        await store.finish(run)

    use(file, finish)
    assert use(file, lambda store: store.load("last")) == run


def test_a_value_that_is_refused_says_nothing_of_others(file: Path) -> None:
    """One trial the database does not take goes beside it; the next one is stored."""
    use(file, lambda store: keep(store, run_of(passed())))
    connection = sqlite3.connect(file)
    connection.execute(
        "create trigger t before insert on evalrun_trials when new.number = 7 begin select raise(abort, 'no 7'); end"
    )
    connection.commit()
    connection.close()

    async def work(store: SqlStore) -> list[str]:
        await store.add("r", trial("s", "pass", "ok", number=7))
        await store.add("r", trial("s", "pass", "ok", number=8))
        return store.notices

    notices = use(file, work)
    assert len(notices) == 1
    assert rows(file, "select number from evalrun_trials where run = 'r'") == [(8,)]
    assert file.with_suffix(".jsonl").stat().st_size > 0

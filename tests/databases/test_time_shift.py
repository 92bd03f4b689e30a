"""Time that passes: columns move back exactly, whatever stands in the way; and looking at a database."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, timedelta

import asyncpg
import pytest

from evalrun.errors import DatabaseFailed

NOON = datetime(2026, 3, 31, 12, 0, tzinfo=UTC)
"""Two days after the clocks of Paris went forward."""


def run(database, statements, *queries, interval=timedelta(days=3), keep=()):
    """Run statements, let time pass, and return how many columns moved and what queries then say."""

    async def scene():
        await execute(database, statements)
        moved = await database.shift_time(interval, keep)
        return [moved, *[await database.fetch(query) for query in queries]]

    return asyncio.run(scene())


async def execute(database, statements):
    """Run statements."""
    connection = await asyncpg.connect(database.dsn)
    try:
        await connection.execute(statements)
    finally:
        await connection.close()


def test_every_kind_of_column_moves(database):
    """Timestamps, timestamps with zone, dates, domains over them and NULLs, in every schema of the product."""
    moved, rows, other = run(
        database,
        """
        create domain moment as timestamptz;
        create table a (naive timestamp, aware timestamptz, day date, own moment, empty date, name text);
        insert into a values ('2026-03-10 08:00', '2026-03-10 08:00+00', '2026-03-10', '2026-03-10 08:00+00', null, 'x');
        create schema billing;
        create table billing."Odd ""n"" one" ("when" timestamptz);
        insert into billing."Odd ""n"" one" values ('2026-03-10 08:00+00'), ('infinity');
        """,
        "select naive, aware, day, own, empty, name from a",
        'select "when"::text from billing."Odd ""n"" one" order by 1',
    )
    at = datetime(2026, 3, 7, 8, 0)  # noqa: DTZ001  the column has no zone
    aware = at.replace(tzinfo=UTC)
    assert (6, ((at, aware, date(2026, 3, 7), aware, None, "x"),)) == (moved, rows)
    assert other == (("2026-03-07 08:00:00+00",), ("infinity",))


def test_a_length_of_time_is_exact_across_summer_time(database):
    """Three days are 72 hours, whatever time zone the product's database is set to."""
    _, rows = run(
        database,
        f"""
        alter database "{database.name}" set timezone = 'Europe/Paris';
        create table a (at timestamptz); insert into a values ('{NOON.isoformat()}');
        """,
        "select at from a",
    )
    assert ((NOON - timedelta(hours=72),),) == rows


@pytest.mark.parametrize(("hours", "days"), [(12, 0), (24, 1), (36, 1), (71, 2), (72, 3)])
def test_a_date_moves_by_whole_days(database, hours, days):
    """A date moves by the whole days in the interval."""
    _, rows = run(
        database,
        "create table a (day date); insert into a values ('2026-03-10')",
        "select day from a",
        interval=timedelta(hours=hours),
    )
    assert ((date(2026, 3, 10) - timedelta(days=days),),) == rows


def test_microseconds_are_kept(database):
    """An interval with a fraction of a second moves by exactly that."""
    _, rows = run(
        database,
        "create table a (at timestamptz); insert into a values ('2026-03-10 08:00:00.000003+00')",
        "select at from a",
        interval=timedelta(days=400, microseconds=2),
    )
    expected = datetime(2026, 3, 10, 8, 0, 0, 3, tzinfo=UTC) - timedelta(days=400, microseconds=2)
    assert ((expected,),) == rows


def test_what_is_kept_stays(database):
    """Columns named in keep stay, by name, by table, by schema; views and generated columns are no columns to move."""
    moved, rows = run(
        database,
        """
        create table a (born date, seen date, due date, year int generated always as (extract(year from seen)) stored);
        create table b (born date, seen date);
        create view v as select seen from a;
        insert into a values ('2000-01-10', '2026-01-02', '2026-01-10');
        insert into b values ('2000-01-10', '2026-01-10');
        """,
        "select a.born, a.seen, a.due, a.year, b.born, b.seen, v.seen from a, b, v",
        keep=("born", "a.due", "public.b.seen"),
    )
    born = date(2000, 1, 10)
    expected = (born, date(2025, 12, 30), date(2026, 1, 10), 2025, born, date(2026, 1, 10), date(2025, 12, 30))
    assert (1, (expected,)) == (moved, rows)


def test_unique_times_do_not_meet_on_the_way(database):
    """Rows a day apart under a unique key, or ranges under an exclusion, move although each lands where one was."""
    days = ", ".join(f"('2026-01-{d:02}')" for d in range(28, 0, -1))
    _, first, count = run(
        database,
        f"""
        create table a (day date primary key, at timestamptz unique);
        insert into a (day, at) select d::date, d::timestamptz from (values {days}) v(d);
        create table b (since timestamp, until timestamp, exclude using gist (tsrange(since, until) with &&));
        insert into b select d::timestamp, d::timestamp + interval '1 day' from (values {days}) v(d);
        """,
        "select min(day), max(day) from a",
        "select count(*), min(since), max(until) from b",
        interval=timedelta(days=1),
    )
    assert ((date(2025, 12, 31), date(2026, 1, 27)),) == first
    expected = (28, datetime(2025, 12, 31), datetime(2026, 1, 28))  # noqa: DTZ001
    assert (expected,) == count


def test_triggers_and_foreign_keys_rest(database):
    """The product's triggers do not fire, and a time that other rows refer to moves with them."""
    _, rows = run(
        database,
        """
        create table log (what text);
        create function noted() returns trigger language plpgsql as
          $$ begin insert into log values ('moved'); new.changed = now(); return new; end $$;
        create table a (at timestamptz primary key, changed timestamptz);
        create table b (at timestamptz references a);
        create trigger t before update on a for each row execute function noted();
        insert into a values ('2026-03-10 08:00+00', '2026-03-10 08:00+00');
        insert into b values ('2026-03-10 08:00+00');
        """,
        "select a.at = b.at, a.at, a.changed, (select count(*) from log) from a, b",
    )
    moved = datetime(2026, 3, 7, 8, 0, tzinfo=UTC)
    assert ((True, moved, moved, 0),) == rows


def test_rows_change_their_partition(database):
    """A partitioned table moves once, through its parent."""
    moved, rows = run(
        database,
        """
        create table a (at timestamptz) partition by range (at);
        create table feb partition of a for values from ('2026-02-01 00:00+00') to ('2026-03-01 00:00+00');
        create table mar partition of a for values from ('2026-03-01 00:00+00') to ('2026-04-01 00:00+00');
        insert into a values ('2026-03-02 00:00+00');
        """,
        "select tableoid::regclass::text, at from a",
    )
    assert (1, (("feb", datetime(2026, 2, 27, tzinfo=UTC)),)) == (moved, rows)


def test_when_one_table_refuses_nothing_moves(database):
    """A condition of the product that forbids the past is told with its table and the cure, and nothing has moved."""

    async def scene():
        await execute(
            database,
            """
            create table a (at timestamptz); insert into a values ('2026-03-10 08:00+00');
            create table b (day date check (day > '2026-03-09')); insert into b values ('2026-03-10');
            """,
        )
        with pytest.raises(DatabaseFailed, match=r"in table b: .*check constraint") as failed:
            await database.shift_time(timedelta(days=3))
        assert "keep_columns" in failed.value.remedy
        assert ((datetime(2026, 3, 10, 8, 0, tzinfo=UTC),),) == await database.fetch("select at from a")
        assert await database.shift_time(timedelta(days=3), ("b.day",)) == 1

    asyncio.run(scene())


def test_a_look_changes_nothing(database):
    """A query runs read-only and as one statement; its error is told with the query."""

    async def scene():
        await execute(database, "create table a (x int); insert into a values (1), (2)")
        assert await database.fetch("select x, null from a order by x") == ((1, None), (2, None))
        for query in ("delete from a returning x", "select 1; delete from a", "create table b (x int)", "select nope"):
            with pytest.raises(DatabaseFailed) as failed:
                await database.fetch(query)
            assert (query in failed.value.message, "\n" in failed.value.message) == (True, False)
        assert await database.fetch("select count(*) from a") == ((2,),)

    asyncio.run(scene())

"""Whose a database is: names that carry the run, a mark on its template, and the sweep of what dead runs left.

A run shows that it is alive by an open session with its own application name; on its own machine
also by its process. Only databases whose name has our shape and whose run carries our mark are
ever dropped, for a customer's own database may begin with `evalrun_` too.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Mapping, Sequence

import asyncpg

from evalrun.databases import processes
from evalrun.databases.time_shift import quoted

PREFIX = "evalrun_"
TEMPLATE = "template"
SWEEP_LOCK = 0x6576616C
_NAME = re.compile(rf"{PREFIX}([a-z0-9]{{8,32}})_[0-9a-f]{{12}}")
_NAMES = """
select d.datname, shobj_description(d.oid, 'pg_database') as mark,
  exists (select from pg_stat_activity s where s.datname = d.datname) as used
from pg_database d where starts_with(d.datname, $1)
"""


def key_of(run: str) -> str:
    """A run as it stands in the names of its databases: readable, at most 32 letters and digits, its own."""
    readable = re.sub(r"[^a-z0-9]+", "", run.lower())[:24]
    return readable + hashlib.sha256(run.encode()).hexdigest()[:8]


def name_of(run: str, label: str) -> str:
    """A database's name: prefix, run, short hash of the label; always under 63 bytes."""
    return f"{PREFIX}{key_of(run)}_{hashlib.sha256(label.encode()).hexdigest()[:12]}"


def session_name(run: str) -> str:
    """The application name by which a run shows that it is alive."""
    return f"{PREFIX}owner_{key_of(run)}"


def mark() -> str:
    """What is written on a template, so that others can see whether its owner still lives."""
    pid = os.getpid()
    return json.dumps({"place": processes.place(), "pid": pid, "started": processes.started_at(pid)})


async def names_of(connection: asyncpg.Connection, run: str) -> list[str]:
    """All databases of a run, its template last, so that a sweep cut short can be taken up again."""
    rows = await connection.fetch(_NAMES, f"{PREFIX}{key_of(run)}_")
    return sorted((r["datname"] for r in rows), key=lambda n: n == name_of(run, TEMPLATE))


async def sweep(connection: asyncpg.Connection, *, seconds: float) -> int:
    """Drop what dead runs left, under an advisory lock, for at most some seconds; returns how many.

    A database somebody is connected to, or that the role may not drop, is left alone.
    """
    if not await connection.fetchval("select pg_try_advisory_lock($1)", SWEEP_LOCK):
        return 0
    try:
        names = await _dead(connection)
        deadline = time.monotonic() + seconds
        dropped = 0
        for name in names:
            if time.monotonic() > deadline:
                break
            try:
                await connection.execute(f"drop database if exists {quoted(name)}")
            except asyncpg.PostgresError:
                # in use, another role's, or just gone: not ours to force, and the next sweep tries again
                continue
            dropped += 1
        return dropped
    finally:
        await connection.execute("select pg_advisory_unlock($1)", SWEEP_LOCK)


async def _dead(connection: asyncpg.Connection) -> list[str]:
    """The databases of runs whose owner is gone, templates last."""
    rows = await connection.fetch(_NAMES, PREFIX)
    sessions = await connection.fetch("select distinct application_name from pg_stat_activity")
    living = {r["application_name"] for r in sessions}
    runs: dict[str, list[Mapping[str, object]]] = {}
    for row in rows:
        if found := _NAME.fullmatch(row["datname"]):
            runs.setdefault(found[1], []).append(row)
    here = processes.place()
    dead = [
        databases
        for key, databases in runs.items()
        if f"{PREFIX}owner_{key}" not in living
        and not any(d["used"] for d in databases)
        and any(_owner_gone(d["mark"], here) for d in databases)
    ]
    return [str(d["datname"]) for databases in dead for d in _template_last(databases)]


def _template_last(databases: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    return sorted(databases, key=lambda d: d["mark"] is not None)


def _owner_gone(written: object, here: str) -> bool:
    """Whether a mark is ours and its owner no longer lives; of another machine only its session is known."""
    try:
        owner = json.loads(str(written))
        pid, started, where = int(owner["pid"]), str(owner["started"]), str(owner["place"])
    except (ValueError, TypeError, KeyError):
        return False
    return where != here or not processes.alive(pid, started)

"""The rooms of a run: started beside one another before the first trial, closed after the last."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from evalrun.config import Timeouts
from evalrun.errors import CannotJudge, EvalrunError, TargetFailed
from evalrun.interfaces.databases import Database
from evalrun.interfaces.targets import Capability, SuiteInfo, Target
from evalrun.turn_play import done_by_target
from evalrun.use_cases.wiring import Rooms

CLOSE_SECONDS = 10.0


async def open_rooms(rooms: Rooms, info: SuiteInfo, timeouts: Timeouts, trials: int) -> None:
    """Start providers, database and target, for so many trials. Raises EvalrunError for what cannot be started."""
    target, server = rooms.target, rooms.server
    rooms.calls.warm(rooms.warm)
    try:
        async with asyncio.timeout(timeouts.setup):
            if server is not None:
                await server.start()
            await done_by_target(target.setup(info), "setup()")
            if server is not None:
                await server.prepare(_migrate(target), trials)
            await rooms.calls.ready(rooms.warm)
    except TimeoutError as e:
        raise TargetFailed(
            f"the start of the run took over {timeouts.setup:g} s",
            remedy="look at the target's setup() and migrate() and at its database, or raise timeouts.setup",
        ) from e


def _migrate(target: Target) -> Any:
    if Capability.MIGRATE not in target.capabilities:
        return None

    async def migrate(database: Database) -> None:
        await done_by_target(target.migrate(database), "migrate()")

    return migrate


async def close_rooms(rooms: Rooms) -> tuple[EvalrunError, ...]:
    """Close everything, also when one of them fails; what failed, for the results are there already."""
    closing = {
        "the providers": rooms.calls.close(),
        "the target": done_by_target(rooms.target.teardown(), "teardown()"),
    }
    if rooms.server is not None:
        closing["the database server"] = rooms.server.close()
    ended = await asyncio.gather(*(_closed(what, work) for what, work in closing.items()))
    return tuple(e for e in ended if e is not None)


async def _closed(what: str, work: Coroutine[Any, Any, None]) -> EvalrunError | None:
    """What kept it from closing, None when nothing did."""
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await work
    except EvalrunError as e:
        return e
    except (Exception, SystemExit) as e:  # noqa: BLE001  the report of a finished run must still come
        said = f"took over {CLOSE_SECONDS:g} s" if isinstance(e, TimeoutError) else f"raised {type(e).__name__}: {e}"
        return CannotJudge(f"closing {what} {said}", remedy="the results stand; look at what is left running")
    return None

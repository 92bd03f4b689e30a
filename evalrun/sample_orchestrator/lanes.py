"""One lane for each user: whatever concerns a user happens one thing after another, in all processes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

_NAMESPACE = 7_321


@asynccontextmanager
async def lane(engine: AsyncEngine, address: str) -> AsyncIterator[AsyncConnection]:
    """A connection that has the user to itself, outside of any transaction.

    An advisory lock, not a row lock: it spans the transaction of a turn and the sending after it.
    """
    key = {"address": address, "namespace": _NAMESPACE}
    async with engine.connect() as connection:
        try:
            await connection.execute(text("select pg_advisory_lock(hashtextextended(:address, :namespace))"), key)
            await connection.commit()
            yield connection
            await connection.execute(text("select pg_advisory_unlock(hashtextextended(:address, :namespace))"), key)
            await connection.commit()
        except BaseException:
            # A connection that may still hold the lock must not go back to the pool.
            await connection.invalidate()
            raise

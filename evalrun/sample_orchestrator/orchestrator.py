"""The orchestrator: what production code calls. It ties the state machine, the model, the database and the channel.

Five seams, all in the constructor: the database, the model, the sender, the clock, and a hook that sees tool calls.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from evalrun.sample_orchestrator import jobs, records
from evalrun.sample_orchestrator.brief import Brief
from evalrun.sample_orchestrator.clock import Now, quiet_until, system_now
from evalrun.sample_orchestrator.encounter_records import hold_past_meetings, lock_match
from evalrun.sample_orchestrator.errors import BadSettings, UnknownEvent, UnknownUser
from evalrun.sample_orchestrator.events.event import Event, EventOutcome
from evalrun.sample_orchestrator.events.registry import EVENTS
from evalrun.sample_orchestrator.extraction.folding import clean
from evalrun.sample_orchestrator.funnel import decide
from evalrun.sample_orchestrator.heard import Inbound, listen
from evalrun.sample_orchestrator.lanes import lane
from evalrun.sample_orchestrator.matchmaking import search_for, with_candidates
from evalrun.sample_orchestrator.outbox import Courier, Kind, Post, drop_events, enqueue, is_stored
from evalrun.sample_orchestrator.phrasing import Model, Phrased, Phraser
from evalrun.sample_orchestrator.relay import Relay
from evalrun.sample_orchestrator.safety.blocks import are_blocked, concerns_blocked
from evalrun.sample_orchestrator.sender import Sender
from evalrun.sample_orchestrator.settings import Settings
from evalrun.sample_orchestrator.tables import outbox, users
from evalrun.sample_orchestrator.tools import Toolbox, ToolHook
from evalrun.sample_orchestrator.user import User

_LOG = logging.getLogger(__name__)
_DRIVER = "postgresql+asyncpg://"
_Work = Callable[[], Awaitable[EventOutcome | None]]
_WAITING = (
    select(users.c.address).join(outbox, outbox.c.user_id == users.c.id).where(outbox.c.status == "pending").distinct()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seams:
    """What Ori is connected to, beside its database."""

    model: Model
    sender: Sender
    now: Now = system_now
    on_tool: ToolHook | None = None
    settings: Settings = field(default_factory=Settings)


class Orchestrator:
    """Ori. Safe to call from many tasks and many processes: each user has a lane of their own."""

    def __init__(self, database_url: str, seams: Seams) -> None:
        if not database_url.startswith(_DRIVER):
            raise BadSettings(f"the database URL must start with {_DRIVER}")
        self.engine: AsyncEngine = create_async_engine(database_url, pool_pre_ping=True)
        self._settings = seams.settings
        self._now = seams.now
        self._on_tool = seams.on_tool
        self._phraser = Phraser(seams.model, seams.settings)
        self._courier = Courier(seams.sender, seams.now, seams.settings.send_attempts)

    async def close(self) -> None:
        """Give the connections back; idempotent."""
        await self.engine.dispose()

    async def handle(self, message: Inbound) -> None:
        """Answer a message; the same message id is answered once.

        Everything of a turn is one transaction: when the model or the database fails, nothing has
        happened, and the channel's redelivery of the message starts afresh.
        """
        message = replace(message, text=clean(message.text))
        async with lane(self.engine, message.sender) as connection:
            async with connection.begin():
                await hold_past_meetings(connection, self._now())
            async with connection.begin():
                user, others = await self._turn(connection, message)
            await self._courier.deliver(connection, user, (Kind.REPLY,))
            if not user.paused:
                await self._courier.deliver(connection, user, (Kind.RELAY, Kind.URGENT), only_due=True)
        for address in others:
            await self._retry(address)

    async def dispatch_event(self, name: str, user: str, data: Mapping[str, object]) -> EventOutcome:
        """Speak first. Raises UnknownEvent and UnknownUser."""
        event = EVENTS.get(name)
        if event is None:
            raise UnknownEvent(f"there is no event {name!r}; known: {', '.join(EVENTS)}")
        async with lane(self.engine, user) as connection:
            async with connection.begin():
                await hold_past_meetings(connection, self._now())
            async with connection.begin():
                found = await self._known(connection, user)
                outcome = await self._compose(connection, event, found, data)
            if outcome is EventOutcome.SENT:
                await self._courier.deliver(connection, found, (Kind.EVENT,))
        return outcome

    async def run_due_jobs(self) -> Mapping[EventOutcome, int]:
        """Do what the time that passed has made due; returns what came of it.

        One user's failure does not keep the others waiting; failures are raised at the end.
        """
        async with self.engine.begin() as connection:
            await hold_past_meetings(connection, self._now())
            searched = await with_candidates(connection)
        failures = await self._attempt([partial(self._search, address) for address in searched], Counter())
        now = self._now()
        async with self.engine.connect() as connection:
            put_off = await jobs.due_jobs(connection, now)
            ripe = await self._ripe(connection, now, taken={job.address for job in put_off})
            waiting = (await connection.execute(_WAITING)).scalars().all()
        work: list[_Work] = [partial(self._do, job) for job in put_off]
        work += [partial(self.dispatch_event, name, address, {}) for address, name in ripe.items()]
        work += [partial(self._retry, address) for address in waiting]
        outcomes: Counter[EventOutcome] = Counter()
        failures += await self._attempt(work, outcomes)
        _raise(failures)
        return outcomes

    async def _attempt(self, work: Sequence[_Work], outcomes: Counter[EventOutcome]) -> list[Exception]:
        """Do one piece of work after the other, count what came of it, and return what failed."""
        failures: list[Exception] = []
        for job in work:
            try:
                outcome = await job()
            except Exception as failure:  # noqa: BLE001  kept, and raised once everybody had their turn
                failures.append(failure)
            else:
                outcomes.update([outcome] if outcome else [])
        return failures

    async def _ripe(self, connection: AsyncConnection, now: datetime, taken: set[str]) -> Mapping[str, str]:
        """What time alone has made due, by address: one message for each user, none for those `taken`."""
        ripe: dict[str, str] = {}
        for event in EVENTS.values():
            for address in await event.due(connection, now, self._settings):
                if address not in taken:
                    ripe.setdefault(address, event.NAME)
        return ripe

    async def _search(self, address: str) -> None:
        """Look for somebody who fits a user, unless they have been found for somebody else meanwhile."""
        async with self.engine.begin() as connection:
            user = await self._known(connection, address)
            if user.match is None:
                await self._toolbox(connection, user).run(search_for(user))

    def _toolbox(self, connection: AsyncConnection, user: User) -> Toolbox:
        return Toolbox(connection=connection, user=user, at=self._now(), on_tool=self._on_tool)

    async def _turn(self, connection: AsyncConnection, message: Inbound) -> tuple[User, tuple[str, ...]]:
        """The user after the turn, and the addresses of the others whom it has a message for."""
        now = self._now()
        user = await records.find_user(connection, message.sender)
        if user is None:
            new = User(id=0, address=message.sender, time_zone=self._settings.time_zone)
            user = await records.add_user(connection, new, now)
        if not await records.add_inbound(connection, user, message, now):
            _LOG.info("message %s was handled before", message.id)
            return user, ()
        if user.match:
            await lock_match(connection, user.match)
            user = await self._known(connection, message.sender)
        await drop_events(connection, user)
        decision = decide(user, listen(message.text, first_contact=user.inbounds == 0, at=now))
        toolbox = self._toolbox(connection, user)
        for use in decision.tools:
            await toolbox.run(use)
        user = replace(decision.user, last_seen=now)
        await records.save_funnel(connection, user)
        phrased = await self._phrase(connection, decision.brief, user)
        post = Post(user=user, kind=Kind.REPLY, key=f"reply:{user.id}:{message.id}", phrased=phrased)
        await enqueue(connection, post, self._now())
        for relay in decision.relays:
            await self._pass_on(connection, relay, user, message)
        return user, tuple(r.to.address for r in decision.relays)

    async def _pass_on(self, connection: AsyncConnection, relay: Relay, user: User, message: Inbound) -> None:
        """Store what goes to the other one, in the turn of the one who said it. Nothing passes a block."""
        if await are_blocked(connection, user.id, relay.to.id):
            _LOG.warning("user %s: nothing is passed on to %s, there is a block", user.id, relay.to.id)
            return
        to = await self._known(connection, relay.to.address)
        key = f"relay:{user.id}:{message.id}:{to.id}"
        phrased = await self._phrase(connection, relay.brief, to)
        kind = Kind.URGENT if relay.urgent else Kind.RELAY
        await enqueue(connection, Post(user=to, kind=kind, key=key, phrased=phrased), self._now())

    async def _compose(
        self, connection: AsyncConnection, event: Event, user: User, data: Mapping[str, object]
    ) -> EventOutcome:
        key = _key(event, user)
        refusal = await self._refusal(connection, event, user, data)
        if refusal:
            return refusal
        now = self._now()
        if until := quiet_until(now, user.time_zone, self._settings.quiet_hours):
            job = jobs.NewJob(user=user, event=event.NAME, data=data, key=key, due_at=until)
            return EventOutcome.DEFERRED if await jobs.put_off(connection, job, now) else EventOutcome.DUPLICATE
        toolbox = self._toolbox(connection, user)
        for use in event.tools(user):
            await toolbox.run(use)
        user = event.prepare(user)
        phrased = await self._phrase(connection, event.say(user, data), user)
        await records.save_funnel(connection, user)
        await enqueue(connection, Post(user=user, kind=Kind.EVENT, key=key, phrased=phrased), self._now())
        return EventOutcome.SENT

    async def _refusal(
        self, connection: AsyncConnection, event: Event, user: User, data: Mapping[str, object]
    ) -> EventOutcome | None:
        """Why nothing may be said, before a word of it is paid for."""
        if await concerns_blocked(connection, user.id, data):
            return EventOutcome.BLOCKED
        if user.paused:
            return EventOutcome.PAUSED
        if not event.is_relevant(user, self._now()):
            return EventOutcome.NOT_RELEVANT
        return EventOutcome.DUPLICATE if await is_stored(connection, _key(event, user)) else None

    async def _do(self, job: jobs.Job) -> EventOutcome | None:
        """Dispatch a job that was put off, unless somebody else did meanwhile."""
        async with lane(self.engine, job.address) as connection:
            async with connection.begin():
                if not await jobs.is_waiting(connection, job.id):
                    return None
                user = await self._known(connection, job.address)
                until = quiet_until(self._now(), user.time_zone, self._settings.quiet_hours)
                if until:
                    await jobs.postpone(connection, job.id, until)
                    return EventOutcome.DEFERRED
                outcome = await self._compose(connection, EVENTS[job.event], user, job.data)
                await jobs.finish(connection, job.id, sent=outcome is EventOutcome.SENT)
            if outcome is EventOutcome.SENT:
                await self._courier.deliver(connection, user, (Kind.EVENT,))
        return outcome

    async def _retry(self, address: str) -> EventOutcome | None:
        """Try the channel again, with what may still be said at this hour."""
        async with lane(self.engine, address) as connection:
            async with connection.begin():
                user = await self._known(connection, address)
            silent = user.paused or quiet_until(self._now(), user.time_zone, self._settings.quiet_hours)
            kinds = (Kind.REPLY, Kind.URGENT) if silent else tuple(Kind)
            await self._courier.deliver(connection, user, kinds, only_due=True)
        return None

    async def _phrase(self, connection: AsyncConnection, brief: Brief, user: User) -> Phrased:
        past = await records.past_of(connection, user, self._settings.history)
        phrased = await self._phraser.phrase(brief, user, past)
        _LOG.info("user %s at %s: phrased by %s %s", user.id, user.stage, phrased.by, phrased.reason)
        return phrased

    async def _known(self, connection: AsyncConnection, address: str) -> User:
        user = await records.find_user(connection, address)
        if user is None:
            raise UnknownUser(f"nobody ever wrote from {address!r}")
        return user


def _key(event: Event, user: User) -> str:
    """What one message of one event to one user is known by."""
    return f"{event.NAME}:{user.id}:{event.occasion(user)}"


def _raise(failures: list[Exception]) -> None:
    """Raise what went wrong: a single failure as itself, so that callers can tell what it is."""
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise ExceptionGroup("several jobs failed", failures)

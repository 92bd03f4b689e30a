"""Occasions in SQL: what has been said or waits already, for the queries that find what is due."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Text, cast, exists, literal

from evalrun.sample_orchestrator.outbox import dedupe_key
from evalrun.sample_orchestrator.tables import jobs, outbox, users


def not_yet(event: str, occasion: ColumnElement[int]) -> tuple[ColumnElement[bool], ...]:
    """Users to whom an event has neither been sent on an occasion (a column, such as a count or an id) nor waits."""
    key = literal(f"{event}:") + cast(users.c.id, Text) + literal(":") + cast(occasion, Text)
    sent = exists().where(outbox.c.dedupe_key == key + literal(dedupe_key("", 1)))
    waits = exists().where(jobs.c.dedupe_key == key, jobs.c.status != "dropped")
    return ~sent, ~waits

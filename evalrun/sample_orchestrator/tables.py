"""The tables, as SQLAlchemy Core sees them. `migrations.py` makes them; a test holds the two together."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

_TIME = DateTime(timezone=True)

metadata = MetaData()

users = Table(
    "users",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("address", Text, nullable=False, unique=True),
    Column("stage", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("time_zone", Text, nullable=False),
    Column("first_name", Text),
    Column("city", Text),
    Column("age", Integer),
    Column("looking_for", Text),
    Column("asked", Text),
    Column("attempts", Integer, nullable=False),
    Column("skipped", ARRAY(Text), nullable=False),
    Column("awaiting", Text),
    Column("paused", Boolean, nullable=False),
    Column("inbounds", Integer, nullable=False),
    Column("last_seen", _TIME),
    Column("created_at", _TIME, nullable=False),
    Column("agreed", Boolean),
    Column("plan", Text),
    Column("topic", Text),
    Column("expired", Boolean, nullable=False),
)

inbound = Table(
    "inbound",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("user_id", BigInteger, ForeignKey("users.id"), nullable=False),
    Column("message_id", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("received_at", _TIME, nullable=False),
    UniqueConstraint("user_id", "message_id"),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("user_id", BigInteger, ForeignKey("users.id"), nullable=False),
    Column("dedupe_key", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("phrased_by", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("created_at", _TIME, nullable=False),
    Column("retry_at", _TIME),
    Column("sent_at", _TIME),
    Column("channel_id", Text),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("user_id", BigInteger, ForeignKey("users.id"), nullable=False),
    Column("event", Text, nullable=False),
    Column("data", JSONB, nullable=False),
    Column("dedupe_key", Text, nullable=False, unique=True),
    Column("status", Text, nullable=False),
    Column("due_at", _TIME, nullable=False),
    Column("created_at", _TIME, nullable=False),
)

matches = Table(
    "matches",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("a_user_id", BigInteger, ForeignKey("users.id"), nullable=False),
    Column("b_user_id", BigInteger, ForeignKey("users.id"), nullable=False),
    Column("a_told", Boolean, nullable=False),
    Column("b_told", Boolean, nullable=False),
    Column("a_answer", Boolean),
    Column("b_answer", Boolean),
    Column("status", Text, nullable=False),
    Column("created_at", _TIME, nullable=False),
)

meetings = Table(
    "meetings",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("a_user_id", BigInteger, ForeignKey("users.id"), nullable=False),
    Column("b_user_id", BigInteger, ForeignKey("users.id"), nullable=False),
    Column("proposed_by", BigInteger, ForeignKey("users.id")),
    Column("at", _TIME, nullable=False),
    Column("place", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("created_at", _TIME, nullable=False),
)

payments = Table(
    "payments",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("user_id", BigInteger, ForeignKey("users.id"), nullable=False, unique=True),
    Column("cents", Integer, nullable=False),
    Column("currency", Text, nullable=False),
    Column("created_at", _TIME, nullable=False),
)

feedback = Table(
    "feedback",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("user_id", BigInteger, ForeignKey("users.id"), nullable=False),
    Column("meeting_id", BigInteger, ForeignKey("meetings.id"), nullable=False),
    Column("impression", Text),
    Column("again", Boolean),
    Column("created_at", _TIME, nullable=False),
    UniqueConstraint("user_id", "meeting_id"),
)

wellbeing_signals = Table(
    "wellbeing_signals",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("user_id", BigInteger, ForeignKey("users.id"), nullable=False),
    Column("concern", Text, nullable=False),
    Column("severity", Text, nullable=False),
    Column("words", Text, nullable=False),
    Column("created_at", _TIME, nullable=False),
)

admin_alerts = Table(
    "admin_alerts",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("user_id", BigInteger, ForeignKey("users.id"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("about_id", BigInteger, ForeignKey("users.id")),
    Column("status", Text, nullable=False),
    Column("created_at", _TIME, nullable=False),
)

blocks = Table(
    "blocks",
    metadata,
    Column("blocker_id", BigInteger, ForeignKey("users.id"), primary_key=True),
    Column("blocked_id", BigInteger, ForeignKey("users.id"), primary_key=True),
    Column("reason", Text, nullable=False),
    Column("created_at", _TIME, nullable=False),
)

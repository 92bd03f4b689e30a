"""Values as files hold them, read strictly. Every reader raises KeyError, TypeError or ValueError."""

from __future__ import annotations

from datetime import datetime

from evalrun.sample_orchestrator.user import Field


def text_of(value: object) -> str:
    """Text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(value)
    return value


def whole(value: object) -> int:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise TypeError(value)
    return int(value)


def yes_or_no(value: object) -> bool:
    """True or false."""
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}[str(value)]


def moment(value: object) -> datetime:
    """A time with its zone."""
    read = value if isinstance(value, datetime) else datetime.fromisoformat(text_of(value))
    if read.tzinfo is None:
        raise ValueError(value)
    return read


def fields(value: object) -> tuple[Field, ...]:
    """Names of fields."""
    if not isinstance(value, (list, tuple)):
        raise TypeError(value)
    return tuple(Field(text_of(v)) for v in value)

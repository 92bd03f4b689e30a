"""Results to and from JSON bytes, versioned, exact: money as text, times with their zone.

Stores and reports use the same bytes, so what is shown is what was kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from evalrun.errors import StoreFailed
from evalrun.results import RESULTS_VERSION, Exchange, RunHeader, RunResult, TrialResult

T = TypeVar("T", TrialResult, RunHeader, RunResult, Exchange)


def _plain(value: object) -> object:
    """What SQL and targets may give and JSON has not: shown as text."""
    if isinstance(value, Mapping):
        return {str(k): v for k, v in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    return str(value)


_ENCODER = msgspec.json.Encoder(enc_hook=_plain, decimal_format="string")


def encode(value: TrialResult | RunHeader | RunResult | Exchange) -> bytes:
    """A result as JSON."""
    return _ENCODER.encode(value)


def decode(kind: type[T], data: bytes | str) -> T:
    """A result from JSON. Raises StoreFailed when it is not one."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, msgspec.ValidationError) as e:
        raise StoreFailed(
            f"a stored {kind.__name__} cannot be read: {e}", remedy="was it written by another version of evalrun?"
        ) from e


def document(run: RunResult) -> dict[str, Any]:
    """A whole run as plain JSON values, with the version of its shape."""
    plain: dict[str, Any] = msgspec.json.decode(encode(run))
    return {"schema_version": RESULTS_VERSION, **plain}


def text_of(value: object, *, indent: int = 0) -> str:
    """Plain values as JSON text."""
    data = _ENCODER.encode(value)
    return (msgspec.json.format(data, indent=indent) if indent else data).decode()

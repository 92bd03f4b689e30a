"""Results to and from JSON, versioned, exact: money as text, times with their zone.

Stores and reports use the same shape, so what is shown is what was kept. Values a target or a
database gave that JSON has not (identifiers, dates, sets) become text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from evalrun.errors import StoreFailed
from evalrun.redaction import sanitise
from evalrun.results import RESULTS_VERSION, Exchange, RunHeader, RunResult, ShardResult, TrialResult

T = TypeVar("T", TrialResult, RunHeader, RunResult, Exchange, ShardResult)
DEEPEST = 60


class _Version(msgspec.Struct):
    schema_version: int = 0


def _plain(value: object) -> object:
    """What SQL and targets may give and JSON has not: shown as text."""
    if isinstance(value, Mapping):
        return {str(k): v for k, v in value.items()}
    return str(value)


_ENCODER = msgspec.json.Encoder(enc_hook=_plain, decimal_format="string")
_VERSION = msgspec.json.Decoder(_Version)
_KINDS = (TrialResult, RunHeader, RunResult, Exchange, ShardResult)
_DECODERS: Mapping[type, Any] = {k: msgspec.json.Decoder(k) for k in _KINDS}
_HEAD = b'{"schema_version":%d,' % RESULTS_VERSION


def encode(value: TrialResult | RunHeader | RunResult | Exchange | ShardResult) -> bytes:
    """A result as a JSON object that names its version. Never fails on what a target said or returned."""
    return _HEAD + _bytes(value)[1:]


def _bytes(value: object) -> bytes:
    try:
        return _ENCODER.encode(value)
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
        # half a surrogate, a key that is no text, a value nested without end: the long way round
        return _ENCODER.encode(_storable(value, 0))


def _storable(value: object, depth: int) -> object:
    if isinstance(value, str):
        return sanitise(value)[0]
    if depth > DEEPEST:
        return f"[{type(value).__name__} nested over {DEEPEST} deep]"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _storable(getattr(value, f.name), depth + 1) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {sanitise(str(k))[0]: _storable(v, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_storable(v, depth + 1) for v in value]
    return value


def decode(kind: type[T], data: bytes | str) -> T:
    """A result from JSON. Raises StoreFailed when it is not one, or when a newer evalrun wrote it."""
    try:
        found = _VERSION.decode(data).schema_version
        if found > RESULTS_VERSION:
            raise StoreFailed(
                f"a stored {kind.__name__} has version {found}, this evalrun knows {RESULTS_VERSION}",
                remedy="read it with the evalrun that wrote it, or a newer one",
            )
        result: T = _DECODERS[kind].decode(data)
    except (msgspec.DecodeError, msgspec.ValidationError) as e:
        raise StoreFailed(
            f"a stored {kind.__name__} cannot be read: {e}", remedy="it was damaged or written by something else"
        ) from e
    return result


def document(run: RunResult) -> dict[str, Any]:
    """A whole run as plain JSON values, with the version of its shape."""
    plain: dict[str, Any] = msgspec.json.decode(encode(run))
    return plain


def text_of(value: object, *, indent: int = 0) -> str:
    """Plain values as JSON text, characters as they are."""
    data = _bytes(value)
    return (msgspec.json.format(data, indent=indent) if indent else data).decode()

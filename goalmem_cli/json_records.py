"""Convert frozen records to JSON values and back, for traces, runs and every `--json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

_PLAIN = (str, int, float, type(None))


def plain(value: object) -> Any:
    """Return a frozen value as JSON data: records as objects, sequences as lists, times as ISO 8601."""
    if isinstance(value, _PLAIN):
        return value
    kind: Any = type(value)
    names = _names(kind)
    if names is not None:
        told = [(name, getattr(value, name)) for name in names]
        return {name: item if isinstance(item, _PLAIN) else plain(item) for name, item in told}
    if isinstance(value, Mapping):
        return {str(key): item if isinstance(item, _PLAIN) else plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [item if isinstance(item, _PLAIN) else plain(item) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value


def rebuild(kind: Any, value: Any) -> Any:
    """Return the JSON value as the annotated type `kind`.

    Missing fields get their defaults. Old field names are translated by the record's `RENAMED`.

    Raises:
        TypeError, ValueError, KeyError, AttributeError: the value does not fit.
    """
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        inner = next(item for item in get_args(kind) if item is not type(None))
        return None if value is None else rebuild(inner, value)
    if origin is tuple:
        if not isinstance(value, list):
            raise TypeError(f"{value!r} is not a list")
        arguments = get_args(kind)
        kinds = [arguments[0]] * len(value) if len(arguments) == 2 and arguments[1] is Ellipsis else arguments
        return tuple(rebuild(inner, item) for inner, item in zip(kinds, value, strict=True))
    if origin is Mapping:
        return {key: rebuild(get_args(kind)[1], item) for key, item in value.items()}
    if isinstance(kind, type) and is_dataclass(kind):
        hints, renamed = _hints(kind), getattr(kind, "RENAMED", {})
        named = {renamed.get(name, name): item for name, item in value.items()}
        return kind(**{name: rebuild(hints[name], item) for name, item in named.items()})
    if kind is datetime:
        return datetime.fromisoformat(value)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(value)
    if kind is float and isinstance(value, int):
        return float(value)
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is not of the kind {kind.__name__}")
    return value


@cache  # a trace has some thousand records of a few kinds
def _names(kind: type) -> tuple[str, ...] | None:
    """Return the names of a record's fields, or None for anything else."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


@cache  # evaluating the annotations takes longer than all else
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)

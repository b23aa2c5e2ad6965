"""Check the settings that a settings file gives to a backbone or reasoner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, TypeVar, get_type_hints

from goalmem_cli.errors import UsageError

T = TypeVar("T")

LEAST = "least"
"""Metadata key of an integer field: its minimum, if that is not 1."""
MOST = "most"
"""Metadata key of a float field: its maximum, if that is not 1."""

SEARCHING: Mapping[str, bool] = {"searching": True}
"""Metadata of a field that affects only the search: all its values share one index."""


@dataclass(frozen=True, slots=True)
class NoSettings:
    """The settings of a backbone or reasoner that has none."""


def settings_from(name: str, kind: type[T], given: Mapping[str, Any], key: str = "backbones") -> T:
    """Return the settings of the backbone or reasoner `name`: a frozen record of `kind`, with defaults filled in.

    `key` names the section of the settings file in messages. Integers must be at least 1 (or the field's `LEAST`).
    Floats must lie between 0 and 1 (or the field's `MOST`).

    Raises:
        UsageError: there is no such setting, or its value is not allowed.
    """
    hints = get_type_hints(kind)
    known = {slot.name: slot for slot in fields(kind)}  # type: ignore[arg-type]
    for own in given:
        if own not in known:
            raise UsageError(f"{key}: {name} has no setting {own!r}", f"it has {', '.join(known) or 'none'}")
    try:
        return kind(**{own: _checked(own, hints[own], value, known[own].metadata) for own, value in given.items()})
    except (TypeError, ValueError) as error:
        raise UsageError(f"{key}: {name}: {error}", "give another value, or leave it out") from error


def indexing_settings(kind: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given settings that affect the index, without those that affect only the search."""
    searching = {slot.name for slot in fields(kind) if "searching" in slot.metadata}
    return {name: value for name, value in given.items() if name not in searching}


def _checked(name: str, kind: Any, value: Any, bounds: Mapping[Any, Any]) -> Any:
    """Return the value converted to the annotated type; `bounds` is the metadata of its field.

    Raises:
        TypeError, ValueError: the value has another type, or is out of bounds.
    """
    from goalmem_cli.json_records import rebuild

    if isinstance(value, bool) and kind is not bool:
        raise TypeError(f"{name} is a number or a word, not {str(value).lower()}")
    try:
        rebuilt = rebuild(kind, value)
    except (TypeError, ValueError) as error:
        choices = f": it is one of {', '.join(kind)}" if isinstance(kind, type) and issubclass(kind, StrEnum) else ""
        raise ValueError(f"{name} cannot be {value!r}{choices}") from error
    least, most = bounds.get(LEAST, 1), bounds.get(MOST, 1)
    if kind is int and rebuilt < least:
        raise ValueError(f"{name} is below {least}")
    if kind is float and not 0 <= rebuilt <= most:
        raise ValueError(f"{name} is not between 0 and {most}")
    return rebuilt

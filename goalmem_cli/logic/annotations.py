"""Store what the relative times in a unit's text mean as a JSON attribute of the unit (DESIGN section 7)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalmem_cli.logic.dates import Annotation

TIMES = "times"


def time_attributes(
    text: str, said: datetime | None, before: str | None = None, language: str | None = None
) -> dict[str, object]:
    """Return the attribute `times`, a list of [expression, first day, last day]; nothing if the text names no time.

    `before` is the text that was said right before, `language` its conversation's language if it is known; one that
    goalmem cannot read dates in counts as unknown. Days are ISO dates; an open end is None. An entry that has a start
    but no end has a fourth item, the latest day on which it can have begun.
    """
    from goalmem_cli.logic.dates import annotate  # only here, as reading a store needs none of its patterns

    times = [_entry(found) for found in annotate(text, said, before, language)]
    return {TIMES: times} if times else {}


def annotations_of(attributes: Mapping[str, object]) -> tuple[Annotation, ...]:
    """Return the annotations that the attributes hold; skip entries of an unknown form (from a foreign store)."""
    times = attributes.get(TIMES)
    found = [_annotation(entry) for entry in times] if isinstance(times, list) else []
    return tuple(annotation for annotation in found if annotation is not None)


def with_moved_day(
    attributes: Mapping[str, object], text: str, day: int, said: datetime, was: Mapping[str, object]
) -> Mapping[str, object]:
    """Return the attributes of "the fair is now on the 19th", the 19th in the month of the day `was` that it replaces.

    It is in the next month if that day is past. What is put off is later than the day that it replaces, what is brought
    forward earlier. The attributes stay as they are if no such day is known, or if the text says more about the day:
    its month or weekday, or in how many days it is.
    """
    days = {found.first for found in annotations_of(was) if found.first is not None and found.first == found.last}
    bare = re.compile(rf"\b(?:on )?the {day}(?:st|nd|rd|th)\b", re.IGNORECASE)
    named = bare.search(text)
    if len(days) != 1 or named is None or _WHICH_MONTH.search(text):
        return attributes
    (old,) = days
    near = [each for shift in range(-31, 62) if (each := old + timedelta(shift)).day == day and each >= said.date()]
    if _FORWARD.search(text):
        near = [each for each in reversed(near) if each < old]
    else:
        first = old if _PUT_OFF.search(text) else old.replace(day=1)
        near = [each for each in near if each >= first]
    told = attributes.get(TIMES)
    others = [entry for entry in told if not bare.search(str(entry))] if isinstance(told, list) else []
    return {**attributes, TIMES: [*others, [named[0], *map(_written, 2 * near[:1])]]} if near else attributes


_WHICH_MONTH = re.compile(
    r"\b(?:this|next|the same) month\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\bin \w+ (?:days|weeks)\b",
    re.IGNORECASE,
)
_PUT_OFF = re.compile(r"\b(?:put off|postponed|delayed|pushed back|slipped)\b", re.IGNORECASE)
_FORWARD = re.compile(r"\b(?:brought|moved|put) (?:forward|up)\b|\balready on\b", re.IGNORECASE)


def _annotation(entry: object) -> Annotation | None:
    """Return the annotation of a JSON entry, None if it is malformed."""
    from goalmem_cli.logic.dates import Annotation

    if not isinstance(entry, list) or len(entry) not in (3, 4) or not isinstance(entry[0], str):
        return None
    try:
        days = [None if day is None else date.fromisoformat(day) for day in entry[1:]]
    except (TypeError, ValueError):
        return None
    return Annotation(entry[0], *days)


def _entry(found: Annotation) -> list[str | None]:
    begun_by = [] if found.begun_by is None else [_written(found.begun_by)]
    return [found.text, _written(found.first), _written(found.last), *begun_by]


def _written(day: date | None) -> str | None:
    return None if day is None else day.isoformat()

"""Store what the relative times in a unit's text mean as a JSON attribute of the unit (DESIGN section 7)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalmem_cli.logic.dates import Annotation

TIMES = "times"


def time_attributes(
    text: str, said: datetime | None, before: str | None = None, language: str | None = None
) -> dict[str, object]:
    """Return the attribute `times`, a list of [expression, first day, last day]; nothing if the text names no time.

    `before` is the text that was said right before, `language` the text's language if it is known. Days are ISO dates;
    an open end is None. An entry that has a start but no end has a fourth item, the latest day on which it can have
    begun.
    """
    from goalmem_cli.logic.dates import annotate  # only here, as reading a store needs none of its patterns

    times = [_entry(found) for found in annotate(text, said, before, language)]
    return {TIMES: times} if times else {}


def annotations_of(attributes: Mapping[str, object]) -> tuple[Annotation, ...]:
    """Return the annotations that the attributes hold; skip entries of an unknown form (from a foreign store)."""
    times = attributes.get(TIMES)
    found = [_annotation(entry) for entry in times] if isinstance(times, list) else []
    return tuple(annotation for annotation in found if annotation is not None)


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

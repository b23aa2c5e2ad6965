"""Turns by hand, with the days that each time in them means: what decides is told in the turn, or right before it."""

from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from time import process_time
from typing import Any

import pytest
import yaml

from goalmem_cli.logic.dates import Annotation, annotate, periods_in

FOLDER = Path(__file__).parent / "data"
FILES = ("told_dates.yaml", "told_dates_of_a_second_author.json")


def _told(name: str) -> Iterator[dict[str, Any]]:
    """Yield the turns of a file; JSON is YAML, with its days as text."""
    for told in yaml.safe_load((FOLDER / name).read_text(encoding="utf-8")):
        wanted = [
            {**each, "start": _day(each["start"]), "end": _day(each["end"])} for each in told.get("expected") or ()
        ]
        yield {**told, "said": _day(told["said"]), "expected": wanted}


def _day(told: date | str | None) -> date | None:
    return date.fromisoformat(told) if isinstance(told, str) else told


TOLD = [told for name in FILES for told in _told(name)]


def spoken_of(told: dict[str, Any]) -> tuple[Annotation, ...]:
    """Return the annotations of a turn, said in the afternoon of its day."""
    return annotate(told["text"], afternoon(told["said"]), told.get("before"))


def afternoon(day: date) -> datetime:
    """Return a time of the day at which it is not over."""
    return datetime(day.year, day.month, day.day, 15)


def is_of(found: Annotation, phrase: str) -> bool:
    """Say whether the annotation is of the phrase, or of what it is a part of."""
    text, wanted = found.text.casefold(), phrase.casefold()
    return text in wanted or wanted in text


def _is_right(found: Annotation, wanted: dict[str, Any]) -> bool:
    """Say whether the days are those told; of what is open at one end it is the other."""
    return found.first in (None, wanted["start"]) and found.last in (None, wanted["end"])


@pytest.mark.parametrize("told", TOLD, ids=lambda told: told["text"][:40])
def test_each_time_means_the_days_that_were_told(told: dict[str, Any]) -> None:
    """Every time has its days, and nothing else has any: no annotation is better than a wrong one."""
    left = list(spoken_of(told))
    for wanted in told["expected"]:
        found = next((each for each in left if is_of(each, wanted["phrase"])), None)
        assert found is not None, wanted
        assert _is_right(found, wanted), wanted
        left.remove(found)
    assert not left


def test_the_checks_allow_what_is_shown() -> None:
    """A day on which an annotation begins or ends is one that its fact can mean."""
    for told in TOLD:
        allowed = periods_in(told["text"], afternoon(told["said"]), told.get("before"))
        for found in spoken_of(told):
            assert found.first is None or found.first in {period.first for period in allowed}
            assert found.last is None or found.last in {period.last for period in allowed}


def test_a_long_row_of_numbers_is_read_in_time() -> None:
    """A pasted table beside the name of a month is no list of days, and takes no time with the square of its length."""
    start = process_time()
    assert [each.text for each in annotate("5, 6, " * 3000 + "and so on, in May.", afternoon(date(2023, 5, 10)))]
    assert process_time() - start < 5

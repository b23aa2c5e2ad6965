"""Turns by hand, with the days that each time in them means: what decides is told in the turn, or right before it."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from goalmem_cli.logic.dates import Annotation, annotate, periods_in

FOLDER = Path(__file__).parent / "data"
TOLD: list[dict[str, Any]] = yaml.safe_load((FOLDER / "told_dates.yaml").read_text(encoding="utf-8"))


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


@pytest.mark.parametrize("told", TOLD, ids=lambda told: told["text"][:40])
def test_each_time_means_the_days_that_were_told(told: dict[str, Any]) -> None:
    """Every time has its days, and nothing else has any: no annotation is better than a wrong one."""
    left = list(spoken_of(told))
    for wanted in told.get("expected", ()):
        found = next((each for each in left if is_of(each, wanted["phrase"])), None)
        assert found is not None, wanted
        assert (found.first, found.last) == (wanted["start"], wanted["end"]), wanted
        left.remove(found)
    assert not left


def test_the_checks_allow_what_is_shown() -> None:
    """A day on which an annotation begins or ends is one that its fact can mean."""
    for told in TOLD:
        allowed = periods_in(told["text"], afternoon(told["said"]), told.get("before"))
        for found in spoken_of(told):
            assert found.first is None or found.first in {period.first for period in allowed}
            assert found.last is None or found.last in {period.last for period in allowed}

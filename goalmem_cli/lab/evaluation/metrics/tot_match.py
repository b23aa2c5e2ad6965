"""Test of Time's exact match: compare the values of two answers, written in JSON or in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation

from goalmem_cli.lab.evaluation.values import value_of, written
from goalmem_cli.logic.dates import parse_date

_GROUPS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SEPARATOR = re.compile(r",\s*and\s+|,|;|\s+and\s+", re.IGNORECASE)
_TIME_UNIT = re.compile(r"(-?[\d.]+) (?:years?|months?|weeks?|days?|hours?|minutes?|seconds?)")
_NAMED = re.compile(r"(\w+)\s*[=:]\s*(.+)")


def is_tot_match(prediction: str, label: str, *, in_any_order: bool = False) -> bool:
    """Say whether an answer equals Test of Time's label.

    Of a JSON object, only `answer` counts, or everything but `explanation`, as the benchmark's prompts ask. Ignored
    differences: case, quotes, brackets, blanks, a final full stop, the notation of a number or full date, and a unit of
    time after a number if the label is a bare number. The order of a list matters unless `in_any_order`. The names of
    several named values ({"H": 1, "M": 33}) may be left out if the values are in the label's order.
    """
    predicted, gold = value_of(written(prediction)), value_of(written(label))
    if isinstance(gold, dict):
        return _has_values(predicted, {str(key).casefold(): value for key, value in gold.items()})
    if _is_same(str(predicted), str(gold)):
        return True
    return _are_same(_items(predicted), _items(gold), in_any_order=in_any_order)


def _has_values(predicted: object, gold: Mapping[str, object]) -> bool:
    """Say whether the gold values are present, under their names or in their order."""
    named = {str(key).casefold(): value for key, value in predicted.items()} if isinstance(predicted, dict) else None
    items = _items(predicted)
    if named is None and (found := [_NAMED.fullmatch(item) for item in items]) and all(found):
        pairs = {match[1]: match[2] for match in found if match is not None}
        named = pairs if pairs.keys() == gold.keys() else None
    if named is None:
        return _are_same(items, [item for value in gold.values() for item in _items(value)])
    return named.keys() == gold.keys() and all(_are_same(_items(named[key]), _items(gold[key])) for key in gold)


def _are_same(predicted: Sequence[str], gold: Sequence[str], *, in_any_order: bool = False) -> bool:
    """Say whether the values are the same, in order or `in_any_order`."""
    if len(predicted) != len(gold):
        return False
    if not in_any_order:
        return all(map(_is_same, predicted, gold))
    left = list(predicted)
    for item in gold:
        place = next((place for place, other in enumerate(left) if _is_same(other, item)), None)
        if place is None:
            return False
        del left[place]
    return True


def _is_same(predicted: str, gold: str) -> bool:
    """Say whether two values are the same text, number or day."""
    one, other = _plain(predicted), _plain(gold)
    if one == other:
        return bool(other)
    if (number := _number(other)) is not None:
        found = _TIME_UNIT.fullmatch(one)
        return _number(found[1] if found else one) == number
    return (day := _day(other)) is not None and _day(one) == day


def _items(value: object) -> list[str]:
    """Return the normalised parts of a list, or of a text that names several."""
    return list(_parts(value))


def _parts(value: object) -> Iterator[str]:
    """Yield the normalised parts of a value, with the keys of a dictionary in sorted order."""
    if isinstance(value, list | tuple):
        for part in value:
            yield from _parts(part)
    elif isinstance(value, dict):
        for key in sorted(value, key=str):
            yield str(key).casefold()
            yield from _parts(value[key])
    else:
        yield from filter(None, map(_plain, _SEPARATOR.split(_GROUPS.sub("", str(value)))))


def _plain(text: str) -> str:
    return " ".join(_GROUPS.sub("", text).strip().strip("[]()").casefold().split()).strip("\"'` ").rstrip(".")


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _day(text: str) -> tuple[int, int, int] | None:
    """Return the full date that the text is, or None."""
    when = parse_date(text)
    if when is None or when.year is None or when.month is None or when.day is None:
        return None
    return when.year, when.month, when.day

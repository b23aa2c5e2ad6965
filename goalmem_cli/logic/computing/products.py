"""Products of amounts: a number of things at a price each, a number of hours at a price per hour."""

from __future__ import annotations

import re

from goalmem_cli.logic.computing.amounts import MONTHS, SECONDS, Amount, UnsettledError, divided, without_noun

_RATE = re.compile(rf"^(?: [^\W\d]+){{0,2}}? (?:an?|per|each|every) ({'|'.join((*SECONDS, *MONTHS))})\b")


def rate_in(behind: str) -> str:
    """Return the unit of time in the words after an amount ("15 euros an hour" -> hour), or ""."""
    found = _RATE.search(behind)
    return found[1] if found else ""


def in_units(length: Amount, name: str) -> Amount:
    """Return a length of time as a number of the named unit.

    Raises:
        UnsettledError: the number is not fixed (days in months; worked hours in days), or it is below one.
    """
    known = SECONDS if length.unit.key == "second" else MONTHS
    if name not in known:
        raise UnsettledError(f"{length.unit.shown}s are no fixed number of {name}s")
    day = SECONDS["day"]
    if known is SECONDS and known[name] < day and length.low is not None and length.low >= day:
        raise UnsettledError(f"it is not known how many {name}s of the days count")
    share = divided(length, known[name])
    if share.low is None or share.low < 1:
        raise UnsettledError(f"it is less than one {name}")
    return Amount(share.low, share.high, is_about=length.is_about)


def times(left: Amount, right: Amount) -> Amount:
    """Return the product of two amounts, at most one of which has a unit: 40 at 12 euros, 3 times 20 minutes.

    Raises:
        UnsettledError: both have units that cannot be multiplied, or an amount has an open end.
    """
    counted, measured = (left, right) if without_noun(left).unit.key == "" else (right, left)
    if without_noun(counted).unit.key:
        raise UnsettledError(f"{left.unit.shown.strip()} times {right.unit.shown.strip()} is nothing")
    if without_noun(measured).unit.key == "":
        measured = without_noun(measured)
    ends = [one * other if one is not None and other is not None else None
            for one in (counted.low, counted.high) for other in (measured.low, measured.high)]  # fmt: skip
    known = [end for end in ends if end is not None]
    if len(known) < len(ends):
        raise UnsettledError("it is not known how much it is at most or at least")
    return Amount(min(known), max(known), measured.unit, left.is_about or right.is_about)

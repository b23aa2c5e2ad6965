"""Products: so many at a price each, so many hours at a price an hour."""

from __future__ import annotations

import re

from goalmem_cli.logic.computing.amounts import MONTHS, SECONDS, Amount, UnsettledError, divided, without_noun

_RATE = re.compile(rf"^(?: [^\W\d]+){{0,2}}? (?:an?|per|each|every) ({'|'.join((*SECONDS, *MONTHS))})\b")


def rate_in(behind: str) -> str:
    """Return the unit of time for which an amount is told, in the words behind it: of "15 euros an hour", hour."""
    found = _RATE.search(behind)
    return found[1] if found else ""


def in_units(length: Amount, name: str) -> Amount:
    """Return how many of the unit a length of time is.

    Raises:
        UnsettledError: it is no fixed number of them: of days no number of months, and no number of hours that somebody
            worked; or it is less than one.
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
    """Return the product of two amounts, of which at most one is of something: 40 at 12 euros, 3 times 20 minutes.

    Raises:
        UnsettledError: both have units that are multiplied to nothing, or an end is open.
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

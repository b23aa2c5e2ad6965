"""Write amounts in words, in the unit asked for and without false precision."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from goalmem_cli.logic.computing.amounts import MONTH, MONTHS, SECONDS, Amount, AmountUnit

_STEPS = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))
_LONGEST_IN_DAYS = 60
UNITS = ("second", "minute", "hour", "day", "week", "month", "year")
"""The units of time that a question may ask for."""


def say_amount(amount: Amount, asked: str = "") -> str:
    """Return the amount in words: ``12 days``, ``€1,150``, ``2 to 3 weeks``, ``about 3 months``.

    `asked` is the unit of time that the question names. An amount of at least one such unit is rounded to it, with
    "about" if it is not whole.
    """
    if amount.low is None or amount.high is None:
        known, word = (amount.low, "at least") if amount.high is None else (amount.high, "at most")
        if known is None:
            return "any amount"
        return f"{word} {say_amount(replace(amount, low=known, high=known, is_about=False), asked)}"
    about = "about " if amount.is_about else ""
    if amount.unit.key in ("second", "month"):
        said = _say_seconds(amount, asked) if amount.unit.key == "second" else _say_months(amount, asked)
        return said if said.startswith(about) else about + said
    return about + _say_range(amount.low, amount.high, amount.unit)


def say_number(number: Fraction) -> str:
    """Return the number with commas for thousands and at most two decimals."""
    rounded = Fraction(round(number * 100), 100)
    if rounded.denominator == 1:
        return f"{rounded.numerator:,}"
    return f"{float(rounded):,.2f}".rstrip("0")


def _say_range(low: Fraction, high: Fraction, unit: AmountUnit) -> str:
    if low == high:
        return _with_unit(say_number(low), low, unit)
    word = "or" if high - low == 1 else "to"
    return _with_unit(f"{say_number(low)} {word} {_signed(say_number(high), unit)}", high, unit)


def _signed(number: str, unit: AmountUnit) -> str:
    return f"{unit.shown}{number}" if unit.is_sign else number


def _with_unit(said: str, number: Fraction, unit: AmountUnit) -> str:
    """Return a number in words with its unit."""
    if not unit.shown:
        return said
    if unit.is_sign:
        return f"{'-' * said.startswith('-')}{unit.shown}{_cents(said.removeprefix('-'))}"
    return f"{said}%" if unit.key == "%" else f"{said} {_plural(unit.shown, number)}"


def _cents(said: str) -> str:
    whole, point, rest = said.partition(".")
    return f"{whole}.{rest:0<2}" if point and " " not in said else said


def _plural(word: str, number: Fraction) -> str:
    """Return the plural of a unit of time if the number asks for it; other units stay as they were written."""
    return f"{word}s" if number != 1 and (word in SECONDS or word in MONTHS) else word


def _say_seconds(amount: Amount, asked: str) -> str:
    """Return a length of time in words, in the unit asked for if it fits."""
    low, high = amount.low or Fraction(0), amount.high or Fraction(0)
    is_long = not asked and high >= _LONGEST_IN_DAYS * SECONDS["day"]
    if amount.calendar is not None and (is_long or asked in MONTHS):
        return _say_calendar(*amount.calendar, asked) or _parts(low)
    if low == high and asked in SECONDS:
        return _rounded(low, asked)
    own = SECONDS[amount.unit.shown]
    if low == high and low % own:
        return _parts(low)
    name = amount.unit.shown if not low % own and not high % own else _fitting(low, high)
    return _say_range(low / SECONDS[name], high / SECONDS[name], AmountUnit(name, name))


def _fitting(low: Fraction, high: Fraction) -> str:
    """Return the longest unit, up to days, in which both ends are whole numbers."""
    return next((name for name, length in _STEPS if not low % length and not high % length), "second")


def _rounded(seconds: Fraction, name: str) -> str:
    """Return seconds in a unit, with "about" if they were rounded."""
    count = seconds / SECONDS[name]
    nearest = Fraction(round(count))
    if not nearest:
        return _parts(seconds)
    return ("" if count == nearest else "about ") + _say_range(nearest, nearest, AmountUnit(name, name))


def _parts(seconds: Fraction) -> str:
    """Return the time in days, hours, minutes and seconds: ``3 hours 40 minutes``."""
    said = []
    left = seconds
    for name, length in _STEPS:
        count = left if name == "second" else Fraction(left // length)
        left -= count * length
        if count:
            said.append(_say_range(count, count, AmountUnit(name, name)))
    return " ".join(said) or "0 days"


def _say_calendar(months: int, days: int, asked: str) -> str:
    """Return the whole months and remaining days, or about how many of the unit asked for; "" if both are 0."""
    length = MONTHS.get(asked, 1)
    nearest = round((Fraction(months) + Fraction(days, 31)) / length)
    if asked and nearest:
        is_about = bool(days or months % length)
        return ("about " if is_about else "") + _say_range(*(Fraction(nearest),) * 2, AmountUnit(asked, asked))
    over = [_say_range(*(Fraction(days),) * 2, AmountUnit("day", "day"))] if days else []
    return " ".join([*([_say_months(Amount.of(months, MONTH), "")] if months else []), *over])


def _say_months(amount: Amount, asked: str) -> str:
    """Return a length in months in words, in years if it fits."""
    low, high = amount.low or Fraction(0), amount.high or Fraction(0)
    year = AmountUnit("year", "year")
    if not high:
        return f"less than a {amount.unit.shown}"
    if low % 12 == high % 12 == 0 and (asked != "month" or amount.unit.shown == "year"):
        return _say_range(low / 12, high / 12, year)
    if low != high or low < 12 or asked == "month":
        return _say_range(low, high, MONTH)
    years, months = Fraction(low // 12), low % 12
    if asked == "year":
        return f"about {_say_range(*(Fraction(round(low / 12)),) * 2, year)}"
    return f"{_say_range(years, years, year)} {_say_range(months, months, MONTH)}"

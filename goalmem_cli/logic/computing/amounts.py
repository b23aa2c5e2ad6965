"""Read amounts as people write them (numbers with units, money, lengths of time) and compute with them.

An amount is exact or a range. A length of time is in seconds if it is given in weeks or shorter units, and in months if
it is given in months or years, because a month has no fixed number of days.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.computing.numerals import has_decimal_comma, in_english, plain_numerals
from goalmem_cli.logic.languages.values import value_in_english
from goalmem_cli.logic.normal import stem, words


class UnsettledError(ValueError):
    """The values do not determine the result; the message says why in a clause."""


@dataclass(frozen=True, slots=True)
class AmountUnit:
    """The unit of an amount: `key` identifies it, `shown` is its written form; `is_sign` puts it before the number."""

    key: str = ""
    shown: str = ""
    is_sign: bool = False


@dataclass(frozen=True, slots=True)
class Amount:
    """A number or a range from `low` to `high` with a unit; None is an open end.

    `calendar` holds the whole months and the remaining days of a length of time between two known days.
    """

    low: Fraction | None
    high: Fraction | None
    unit: AmountUnit = AmountUnit()
    is_about: bool = False
    calendar: tuple[int, int] | None = None

    @classmethod
    def of(cls, number: int | Fraction, unit: AmountUnit | None = None) -> Amount:
        """Return an exact amount."""
        return cls(Fraction(number), Fraction(number), unit or AmountUnit())

    @property
    def exact(self) -> Fraction | None:
        """The number if the amount is exact, else None."""
        return self.low if self.low == self.high else None


MONTH, DAY = AmountUnit("month", "month"), AmountUnit("second", "day")
_MONEY = {
    **dict.fromkeys(("€", "eur", "euro", "euros"), "EUR"),
    **dict.fromkeys(("$", "us$", "usd", "dollar", "dollars", "buck", "bucks"), "USD"),
    **dict.fromkeys(("£", "gbp", "pound", "pounds", "quid"), "GBP"),
    **dict.fromkeys(("¥", "jpy", "yen"), "JPY"),
    **dict.fromkeys(("₹", "inr", "rupee", "rupees"), "INR"),
    **dict.fromkeys(("chf", "franc", "francs"), "CHF"),
    **dict.fromkeys(("cny", "rmb", "yuan"), "CNY"),
    **dict.fromkeys(("brl", "reais"), "BRL"),
}
SECONDS = {
    "second": 1, "minute": 60, "hour": 3600, "day": 86_400, "night": 86_400, "week": 604_800, "fortnight": 1_209_600,
}  # fmt: skip
MONTHS = {"month": 1, "year": 12, "decade": 120}
_SHORT = {
    "sec": "second", "s": "second", "min": "minute", "hr": "hour", "h": "hour", "wk": "week", "yr": "year",
    "km": "kilometre", "m": "metre", "cm": "centimetre", "kg": "kilogram", "kilo": "kilogram", "g": "gram",
    "l": "litre", "ml": "millilitre", "mi": "mile", "percent": "%",
}  # fmt: skip
_SCALES = {
    "hundred": 100, "k": 1000, "thousand": 1000, "grand": 1000, "million": 1_000_000, "billion": 10**9, "dozen": 12,
    "lakh": 100_000, "crore": 10**7,
}  # fmt: skip
_OF_MONEY = {"m": 1_000_000, "mn": 1_000_000, "bn": 10**9, "b": 10**9}
_ABOUT = frozenset("about around roughly approximately nearly almost approx circa ca some".split())
_BOUNDS = (
    (late(r"^(?:at least|more than|over|no (?:less|fewer) than|upwards of)\b"), "low"),
    (late(r"^(?:at most|less than|fewer than|under|up to|no more than|not more than|below)\b"), "high"),
)
_IDLE = frozenset("just only exactly another further extra the altogether of".split())
_ENDS = frozenset("in on at by of for with from to a an per each every off away left over and".split())
_SIGN = late(
    r"(?P<sign>(?<![^\W\d_])(?:us|a|c|nz)?[$€£¥₹]|\b(?:eur|usd|gbp|chf|jpy|inr))\s*(?=\d)"
    r"|(?<=\d)(?:\s?(?P<scale>k|m|bn))?\s?(?P<behind>[$€£¥₹])"
)
_WORDS_OF_SUM = 2
_MINUS = late(r"^(?:[-−]\s?(?=[$€£¥₹]?\d)|minus\s)")
_A_SCALE = late(r"\b(?<!half )an? (?=(?:hundred|thousand|million|billion)\b)")
_DASH = late(r"(?<=\d)\s*[-–]\s*(?=\d)")
_NUMBER = r"\d+(?:\.\d+)?"
_RANGE = late(rf"\b({_NUMBER})(?: ?\w+)? (?:to|or) ({_NUMBER})\b")
_COUNTED = late(rf"(?P<number>{_NUMBER})(?P<unit>[^\W\d_]*|%)")
_SPELT = tuple(
    (late(pattern), plain)
    for pattern, plain in (
        (r"\ban? (\w+) and a half\b", r"1.5 \1"),
        (r"\b(\d+) (\w+) and a half\b", r"\1.5 \2"),
        (r"\b(\d+) and a half\b", r"\1.5"),
        (r"\b(?:an? )?quarter of an? (?=\w)|\ba quarter (?=hour\b)", "0.25 "),
        (r"\b3 quarters of an? (?=\w)", "0.75 "),
        (r"\b(\d+) ?h ?(\d+) ?(?:m|mins?)?(?!\w)", r"\1 hours \2 minutes"),
        (r"\bhalf (?:an? )?(?=\w)", "0.5 "),
        (r"\b(?:a )?couple(?: of)?\b", "2"),
        (r"\b(\d+) 12\b", r"\1 dozen"),
        (r"\ba 12\b", "12"),
    )
)


@lru_cache(maxsize=4096)  # the elements of a list are compared with one another
def read_amount(text: str) -> Amount | None:
    """Return the amount that the whole text states; None if it has no number, or several that do not form one amount.

    "€1,150", "70 euros", "1.150,50 euros", "1 minute 30 seconds", "2 to 3 weeks", "about twenty", "at least 5 dogs",
    and in other languages "zwei Dutzend Eier", "3 mil euros", "1万2千円".
    """
    folded = " ".join(plain_numerals(value_in_english(text).casefold()).split())
    if minus := _MINUS.match(folded):
        amount = read_amount(folded[minus.end() :])
        return (
            None if amount is None or amount.exact is None else replace(amount, low=-amount.exact, high=-amount.exact)
        )
    signs = {match["sign"] or match["behind"] for match in _SIGN.finditer(folded)}
    if len(signs) > 1:
        return None
    sign = next((_sign(sign) for sign in signs), None)
    spoken = _A_SCALE.sub("one ", _SIGN.sub(lambda match: f"{match['scale'] or ''} ", folded))
    plain = " ".join(words(_DASH.sub(" to ", spoken)))
    for pattern, replacement in _SPELT:
        plain = pattern.sub(replacement, plain)
    bound = next(((found.end(), end) for pattern, end in _BOUNDS if (found := pattern.match(plain))), None)
    if bound is None:
        return _ranged(plain, sign)
    amount = _ranged(plain[bound[0] :], sign)
    if amount is None:
        return None
    return replace(amount, high=None) if bound[1] == "low" else replace(amount, low=None)


def are_one_sum(left: str, right: str) -> bool:
    """Say whether both texts are the same exact sum of money and no more: "1.150,50 Euro" and "€1,150.50"."""
    one, other = _sum_alone(left), _sum_alone(right)
    return one is not None and other is not None and (one.exact, one.unit.key) == (other.exact, other.unit.key)


def _sum_alone(text: str) -> Amount | None:
    amount = read_amount(text)
    if amount is None or amount.exact is None or amount.is_about or amount.unit.key not in _MONEY.values():
        return None
    return amount if len(words(plain_numerals(value_in_english(text)))) <= _WORDS_OF_SUM else None


def in_one_style(texts: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the texts with their ambiguous amounts in English notation.

    Unambiguous numbers in the texts, else those in `others`, show whether a comma separates decimals.
    """
    is_comma = has_decimal_comma(texts)
    if not (has_decimal_comma(others) if is_comma is None else is_comma):
        return list(texts)
    return [in_english(text) if read_amount(text) is not None else text for text in texts]


def _sign(written: str) -> AmountUnit:
    shown = written.upper()
    return AmountUnit(_MONEY.get(written, shown), f"{shown} " if shown.isalpha() else shown, is_sign=True)


_STOPWATCH = late(r"(?:(?P<hours>\d{1,2}):)?(?P<minutes>\d{1,3}):(?P<seconds>[0-5]\d)(?P<part>\.\d+)?")


def read_stopwatch(text: str) -> Amount | None:
    """Return the length of time that a stopwatch shows: 7:44 is minutes and seconds, 1:58:30 has hours first."""
    found = _STOPWATCH.fullmatch(text.strip())
    if found is None:
        return None
    whole = 3600 * int(found["hours"] or 0) + 60 * int(found["minutes"]) + int(found["seconds"])
    return Amount.of(whole + Fraction(Decimal(found["part"] or 0)), AmountUnit("second", "second"))


def without_noun(amount: Amount) -> Amount:
    """Return the amount without its unit if that is a counted noun: 140 LPs -> 140. Money, times and % keep theirs."""
    is_measure = amount.unit.key in LENGTHS or amount.unit.key in _MONEY.values() or amount.unit.key == "%"
    return amount if is_measure or amount.unit.is_sign else replace(amount, unit=AmountUnit())


def _ranged(plain: str, sign: AmountUnit | None) -> Amount | None:
    """Return the amount in a normalised text, which may be a range ("2 to 3 weeks")."""
    spread = _RANGE.search(plain)
    if spread is None:
        return _made_of(plain.split(), sign)
    low, high = (_made_of(f"{plain[: spread.start()]}{end}{plain[spread.end() :]}".split(), sign)
                 for end in spread.groups())  # fmt: skip
    if low is None or high is None or low.low is None or high.high is None or low.low > high.high:
        return None
    return replace(high, low=low.low)


def _made_of(found: list[str], sign: AmountUnit | None) -> Amount | None:
    """Return the amount that the words form: one number with its unit, or a sum of lengths ("2 hours 5 minutes")."""
    rest = [word for word in found if word not in _ABOUT | _IDLE]
    if rest[:1] in (["a"], ["an"]) and rest[1:] and _length(rest[1]) is not None:
        rest = ["1", *rest[1:]]
    parts: list[Amount] = []
    while rest and (counted := _COUNTED.fullmatch(rest[0])):
        unit = [counted["unit"]] if counted["unit"] else []
        part, rest = _counted(Fraction(Decimal(counted["number"])), [*unit, *rest[1:]], sign)
        parts.append(part)
        if rest[:1] == ["and"] and part.unit.key in LENGTHS:
            rest = rest[1:]
    if not parts or any(_COUNTED.fullmatch(word) for word in rest):
        return None
    if len(parts) > 1 and not all(part.unit.key in LENGTHS for part in parts):
        return None
    whole = parts[0]
    for part in parts[1:]:
        whole = add(whole, part)
    return replace(whole, is_about=not _ABOUT.isdisjoint(found))


LENGTHS = frozenset({"second", "month"})
"""The unit keys of lengths of time."""


def _counted(number: Fraction, following: list[str], sign: AmountUnit | None) -> tuple[Amount, list[str]]:
    """Return the amount that the number forms with the words after it, and the words after its unit."""
    is_money = sign is not None or (len(following) > 1 and following[1] in _MONEY)
    scales = _SCALES | _OF_MONEY if is_money else _SCALES
    while following and following[0] in scales:
        number, following = number * scales[following[0]], following[1:]
    if sign is not None or not following or following[0] in _ENDS:
        return Amount.of(number, sign), following
    first, rest = following[0], following[1:]
    if (length := _length(first)) is not None:
        unit, factor = length
        return Amount.of(number * factor, unit), rest
    if first in _MONEY:
        return Amount.of(number, AmountUnit(_MONEY[first], first)), rest
    ends = next((place for place, word in enumerate(following) if word in _ENDS or word[0].isdigit()), len(following))
    noun = following[:ends]
    unit = AmountUnit(stem(_SHORT.get(noun[-1], noun[-1])), " ".join(noun)) if noun else AmountUnit()
    return Amount.of(number, unit), following[ends:]


def _length(word: str) -> tuple[AmountUnit, int] | None:
    """Return the unit of time that the word names and its size in seconds or months, or None."""
    singular = word.removesuffix("s") if len(word) > 1 else word
    name = _SHORT.get(singular, singular)
    if name in SECONDS:
        return AmountUnit("second", name), SECONDS[name]
    return (AmountUnit("month", name), MONTHS[name]) if name in MONTHS else None


def common_unit(amounts: Sequence[Amount]) -> AmountUnit:
    """Return the unit that all amounts share; bare numbers fit any unit.

    Raises:
        UnsettledError: the units differ, such as euros and dollars.
    """
    units: dict[str, AmountUnit] = {}
    for amount in amounts:
        units.setdefault(amount.unit.key, amount.unit)
    units.pop("", None)
    if len(units) > 1 and units.keys() != LENGTHS:
        names = " and ".join(sorted(unit.shown.strip() for unit in units.values()))
        is_money = units.keys() <= set(_MONEY.values())
        raise UnsettledError(f"{names} are {'different currencies' if is_money else 'different units'}")
    return DAY if len(units) > 1 else next(iter(units.values()), AmountUnit())


def add(left: Amount, right: Amount) -> Amount:
    """Return the sum of both.

    Raises:
        UnsettledError: the units differ.
    """
    unit = common_unit((left, right))
    left, right = _in_seconds(left, unit), _in_seconds(right, unit)
    return Amount(_sum(left.low, right.low), _sum(left.high, right.high), unit, left.is_about or right.is_about)


def apart(left: Amount, right: Amount) -> Amount:
    """Return the difference of the two, never negative.

    Raises:
        UnsettledError: the units differ.
    """
    unit = common_unit((left, right))
    left, right = _in_seconds(left, unit), _in_seconds(right, unit)
    is_about = left.is_about or right.is_about
    one, other = _minus(left.low, right.high), _minus(right.low, left.high)
    least = max((gap for gap in (one, other) if gap is not None and gap > 0), default=Fraction(0))
    if None in (left.low, left.high, right.low, right.high):
        return Amount(least, None, unit, is_about)
    far = [_minus(left.high, right.low), _minus(right.high, left.low)]
    return Amount(least, max(gap for gap in far if gap is not None), unit, is_about)


def divided(amount: Amount, by: int | Fraction) -> Amount:
    """Return the amount divided by a number."""
    low, high = amount.low, amount.high
    return replace(amount, low=None if low is None else low / by, high=None if high is None else high / by)


def compared(left: Amount, right: Amount) -> int | None:
    """Return -1, 0 or 1 if the left is less, equal or more; None if their ranges overlap.

    Raises:
        UnsettledError: the units differ.
    """
    unit = common_unit((left, right))
    left, right = _in_seconds(left, unit), _in_seconds(right, unit)
    if left.exact is not None and left.exact == right.exact:
        return None if left.is_about or right.is_about else 0
    if left.high is not None and right.low is not None and left.high < right.low:
        return -1
    if right.high is not None and left.low is not None and right.high < left.low:
        return 1
    return None


def _in_seconds(amount: Amount, unit: AmountUnit) -> Amount:
    """Return an amount of months as a range of seconds if the unit wanted is seconds; otherwise return it unchanged."""
    if unit.key != "second" or amount.unit.key != "month":
        return amount
    low = None if amount.low is None else amount.low * Fraction(28 * 86_400 if amount.low < 12 else 30 * 86_400)
    high = None if amount.high is None else amount.high * 31 * 86_400
    return replace(amount, low=low, high=high, unit=unit)


def _sum(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    return None if left is None or right is None else left + right


def _minus(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    return None if left is None or right is None else left - right

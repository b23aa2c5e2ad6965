"""Add amounts up: skip totals that are listed beside their parts, and count "three at 20 each" as three times 20.

An amount is a total if it equals the sum of other amounts and the text calls it one ("altogether", "in all") or it is a
bare reply to them ("Sixty euros!"). In doubt it is a part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.checks import Remembered
from goalmem_cli.logic.computing.amounts import Amount, UnsettledError, add, common_unit
from goalmem_cli.logic.computing.numerals import plain_numerals
from goalmem_cli.logic.computing.products import times
from goalmem_cli.logic.computing.rows import Element, time_of
from goalmem_cli.logic.computing.saying import say_amount
from goalmem_cli.logic.normal import FUNCTION_WORDS, normalise, words

_UNITS = (
    "euros dollars pounds bucks cents percent times people friends years months weeks days nights hours minutes seconds"
    " miles kilometres kilometers metres meters litres liters inches"
)
_IN_ALL = r"in all(?! (?:honesty|fairness|likelihood|seriousness|cases?|weathers?|sizes|my|the|our|of)\b)"
_TOTAL = rf"(?:altogether|in total|all told|(?<!all ){_IN_ALL})"
_BEHIND = late(rf"^(?: (?!and\b)\w+){{0,2}} {_TOTAL}(?! (?:with|including)\b)(?! \w+ly\b)")
_BEFORE = late(rf"(?:\b{_TOTAL}|\btotal (?:was|is|of|came to|comes to|cost|price))(?: (?!and\b)\w+){{0,3}} $")
_MAKES = late(r"(?:^|\b(?:that|this|which) )(?:all )?(?:makes?|made)(?: it| up to)? $")
_EACH = late(
    r"^(?: \w+)? (?:each|apiece|a piece)\b(?! (?:of us|of you|of them|other|one|person|time|way|side|hour|day|night"
    r"|week|weekend|month|year|morning|evening|visit|session|lesson|class|trip|round|game|match|at|in|on)\b)"
)
_ORDINAL = late(
    r"\b(?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[- ])?(?:first|second|third|fourth|fifth|sixth"
    r"|seventh|eighth|ninth|tenth|eleventh|twelfth|\w+teenth|\w+tieth|\d+(?:st|nd|rd|th)|once|twice|thrice)\b",
    re.IGNORECASE,
)
_NOUN = rf"(?!(?:{_UNITS.replace(' ', '|')})\b)(?P<noun>[^\W\d]{{2,}}s)\b"
_COUNTED = (
    late(rf"^(?:the |a )?(?P<count>\d+) {_NOUN} (?:are|were|went|go|cost|sold|at|for)\b"),
    late(
        r"\b(?:sold|sells?|selling|bought|buys?|buying|got|gets?|ordered|took|had|has|have|made|baked|picked|found) "
        rf"(?P<count>\d+)(?: of (?:my|our|your|his|her|their|the)(?: \w+)??)? {_NOUN}"
    ),
)
"""Patterns of the number of things that cost an amount each: at the start of a sentence or after a verb of having.

Elsewhere a number before a noun may be part of a name, a date or a measure.
"""
_SENTENCE_END = late(r"(?<=[.!?;])\s+")
_NUMBER = late(r"\d+(?:\.\d+)?")
_REPLY = frozenset(
    "so wow oh well nice great not bad that is was makes made then really just only a whole hey good cool".split()
)
_OWN = frozenset("i me my we us our and too also another more".split())
"""Words that show that a reply with an amount tells of the speaker's own amount."""


@dataclass(frozen=True, slots=True)
class Line:
    """One summand: an amount, how often it counts, the elements that state it, and its position among the lines."""

    place: int
    elements: tuple[Element, ...]
    each: Amount
    count: int = 1

    def __str__(self) -> str:
        return f"{self.count} × {self.elements[0]}" if self.count > 1 else str(self.elements[0])

    @property
    def amount(self) -> Amount:
        """The amount multiplied by the count."""
        return times(self.each, Amount.of(self.count)) if self.count > 1 else self.each

    @property
    def facts(self) -> frozenset[str]:
        """The numbers of the facts that state it."""
        return frozenset(number for element in self.elements for number in element.facts)


@dataclass(frozen=True, slots=True)
class Summed:
    """The lines to add, and notes on the rows that were recognised as totals."""

    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()

    @property
    def whole(self) -> Amount:
        """The sum of the lines."""
        return _sum(self.lines)


def summed(found: Sequence[Element], read: Callable[[Element], Amount], facts: Mapping[str, Remembered]) -> Summed:
    """Return the lines to add for the elements, without totals.

    `read` reads the amount of an element.

    Raises:
        UnsettledError: an element is no amount, or an element is called the total and the others come to less.
    """
    lines = _lines(found, read, facts)
    parts, notes = list(lines), list[str]()
    for total in lines:
        others = [line for line in parts if line is not total]
        of = next((group for group in _groups(total, others, facts) if _comes_to(group, total)), None)
        if of is not None and total in parts:
            is_one = sum(line.count for line in of) == 1
            total_of = "told again" if is_one else f"the total of {', '.join(map(str, of))}"
            notes.append(f"{total} is {total_of}, and no further part")
            parts = _with_unit(others, of, total)
        elif len(others) > 1 and _says_total(total, facts) and _is_of_all(total, others):
            raise UnsettledError(f"{total} is told as a total, and the others come to {say_amount(_sum(others))}")
    return Summed(tuple(parts), tuple(notes))


def _lines(found: Sequence[Element], read: Callable[[Element], Amount], facts: Mapping[str, Remembered]) -> list[Line]:
    """Return a line for each element; elements for which a fact gives a count ("three at 20 each") share one line."""
    groups: dict[object, list[Element]] = {}
    counts: dict[object, int] = {}
    for place, element in enumerate(found):
        amount, count = read(element), _count(element, facts)
        is_told_again = not count and amount in counts and not element.beside and _is_each(element, facts)
        key: object = amount if count or is_told_again else place
        groups.setdefault(key, []).append(element)
        counts[key] = max(count, counts.get(key, 0))
    lines: list[Line] = []
    for key, group in groups.items():
        many = [(tuple(group), counts[key])] if len(group) < counts[key] else [((element,), 1) for element in group]
        lines += [Line(len(lines) + at, own, read(group[0]), count) for at, (own, count) in enumerate(many)]
    return lines


def _is_each(element: Element, facts: Mapping[str, Remembered]) -> bool:
    return any(_EACH.search(behind) for _, behind in places_told(element, facts))


def _count(element: Element, facts: Mapping[str, Remembered]) -> int:
    """Return how many things have this amount each ("three lamps, 20 each" -> 3); 0 if that is not said.

    It is also 0 if the sentence has other numbers, or if the amount was given for other things.
    """
    beside = [words(given.value) for given in element.beside.values() if time_of(given.value, given.said) is None]
    for before, behind in places_told(element, facts):
        told = next((found for form in _COUNTED if (found := form.search(before)) is not None), None)
        if told is None or not _EACH.search(behind) or (beside and not any(told["noun"] in value for value in beside)):
            continue
        count, amount = int(told["count"]), _number_of(element)
        others = set(_NUMBER.findall(before + behind)) - {told["count"], amount, f"{count * float(amount):g}"}
        if 1 < count <= _MOST and not others:
            return count
    return 0


_MOST = 1000


def _number_of(element: Element) -> str:
    """Return the first number of a value in plain digits, or ""."""
    number = _NUMBER.search(" ".join(words(plain_numerals(element.value))))
    return number[0] if number is not None else ""


def places_told(element: Element, facts: Mapping[str, Remembered]) -> Iterator[tuple[str, str]]:
    """Yield the words before and after the amount for each sentence that states it."""
    number = _number_of(element)
    if not number:
        return
    for text in (element.value, *(facts[name].text for name in element.facts if name in facts)):
        for sentence in _SENTENCE_END.split(text):
            told = words(plain_numerals(_ORDINAL.sub("nth", sentence)))
            for place in (place for place, word in enumerate(told) if word == number):
                yield "".join(f"{word} " for word in told[:place]), "".join(f" {word}" for word in told[place + 1 :])


def _says_total(line: Line, facts: Mapping[str, Remembered]) -> bool:
    """Say whether the text calls the amount a total."""
    places = (place for element in line.elements for place in places_told(element, facts))
    return line.count == 1 and any(_BEHIND.search(behind) or _BEFORE.search(before) for before, behind in places)


def _makes(line: Line, facts: Mapping[str, Remembered]) -> bool:
    """Say whether the text may mean that other amounts make this one ("that makes 35")."""
    places = (place for element in line.elements for place in places_told(element, facts))
    return line.count == 1 and any(_MAKES.search(before) for before, _ in places)


def _echoed(line: Line, lines: Sequence[Line], facts: Mapping[str, Remembered]) -> list[Line]:
    """Return the lines to which this amount is a reply without new content; questions are left out."""
    said = [facts[number] for number in line.facts if number in facts]
    amount = {word for element in line.elements for word in words(plain_numerals(element.value))}
    found: list[Line] = []
    for fact in said:
        earlier = fact.before[-1][1] if fact.before else ""
        said_words = set(words(plain_numerals(fact.text)))
        own = said_words - amount - _REPLY - FUNCTION_WORDS - set(words(earlier))
        is_own = own - _CURRENCIES or said_words & _OWN
        if is_own or earlier.rstrip().endswith("?"):
            return []
        told = {name for name, other in facts.items() if other.text == earlier}
        found += [other for other in lines if other is not line and other.facts & told]
    return found


_CURRENCIES = frozenset("euro euros dollar dollars pound pounds bucks cents".split())


def _groups(total: Line, parts: Sequence[Line], facts: Mapping[str, Remembered]) -> Iterator[Sequence[Line]]:
    """Yield the groups of lines that the total may sum up.

    These are the lines that it replies to. If the text calls it a total: all lines, those of the same facts, or those
    told last before it. Also a single count of the same fact (60 euros beside three at 20 each).
    """
    groups: list[Sequence[Line]] = [_echoed(total, parts, facts)]
    if _says_total(total, facts) or _makes(total, facts):
        before = sorted((line for line in parts if _told(line, facts) < _told(total, facts)),
                        key=lambda line: _told(line, facts))  # fmt: skip
        many = [parts, [line for line in parts if line.facts & total.facts]]
        many += [before[-size:] for size in range(2, len(before) + 1)]
        groups += [group for group in many if sum(line.count for line in group) > 1]
    groups += [[line] for line in parts if line.count > 1 and line.facts & total.facts]
    yield from (group for group in groups if group and total.count == 1 and not _is_apart(total, group))


def _told(line: Line, facts: Mapping[str, Remembered]) -> tuple[str, int, str]:
    """Return a sort key for when the line was first told, as far as its facts say."""
    known = [number for number in line.facts if number in facts]
    times_said = {number: facts[number].said for number in known}
    return min(
        ((said.isoformat() if said else "~", len(name), name) for name, said in times_said.items()), default=_LAST
    )


_LAST = ("~", 0, "")


def _comes_to(group: Sequence[Line], total: Line) -> bool:
    """Say whether the lines come to the total."""
    try:
        whole = _sum(group)
        common_unit((whole, total.amount))
    except UnsettledError:
        return False
    return whole.exact is not None and whole.exact == total.amount.exact


def _is_of_all(total: Line, parts: Sequence[Line]) -> bool:
    """Say whether a total may cover all the lines and more: it exceeds their sum and nothing sets it apart."""
    try:
        whole = _sum(parts)
        common_unit((whole, total.amount))
    except UnsettledError:
        return False
    low = total.amount.low
    return not _is_apart(total, parts) and whole.high is not None and low is not None and low > whole.high


def _is_apart(total: Line, others: Sequence[Line]) -> bool:
    """Say whether the values given with the total (a thing or a time) differ from those of all other lines."""
    mine = {name: given for element in total.elements for name, given in element.beside.items()}
    beside = [element.beside for line in others for element in line.elements]
    return any(
        all(name in other and normalise(other[name].value) != normalise(given.value) for other in beside)
        for name, given in mine.items()
    )


def _with_unit(parts: Sequence[Line], of: Sequence[Line], total: Line) -> list[Line]:
    """Return the lines; those that the total covers get its unit if they have none."""
    unit = total.amount.unit
    return [
        replace(line, each=replace(line.each, unit=unit)) if line in of and not line.each.unit.key else line
        for line in parts
    ]


def _sum(lines: Sequence[Line]) -> Amount:
    whole = lines[0].amount
    for line in lines[1:]:
        whole = add(whole, line.amount)
    return whole

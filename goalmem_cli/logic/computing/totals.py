"""What is added up: parts and not their total, and three things at 20 each as three times 20.

A row is a total where what was said calls it one ("altogether", "in all"), or where somebody answers the parts with
nothing but an amount ("Sixty euros!"), and where it is what the parts come to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from goalmem_cli.logic.checks import Remembered
from goalmem_cli.logic.computing.amounts import Amount, UnsettledError, add, common_unit
from goalmem_cli.logic.computing.numerals import plain_numerals
from goalmem_cli.logic.computing.products import times
from goalmem_cli.logic.computing.rows import Element, time_of
from goalmem_cli.logic.computing.saying import say_amount
from goalmem_cli.logic.normal import FUNCTION_WORDS, normalise, words

_TOTAL = r"altogether|in total|all told|all together|overall|combined"
_IN_ALL = r"in all(?! (?:honesty|fairness|likelihood|seriousness|cases?|weathers?|sizes|my|the|our|of)\b)"
_BEHIND = re.compile(rf"^(?: (?!and\b)\w+){{0,2}} (?:{_TOTAL}|in all(?! \w)|in all for)\b")
_BEFORE = re.compile(rf"(?:\b(?:{_TOTAL}|total(?:s|ed|led|ling)?)|(?<!all )\b{_IN_ALL})(?: (?!and\b)\w+){{0,3}} $")
_MAKES = re.compile(
    r"\b(?:(?:makes?|made|adds?|added) (?:it|that|up to)|(?:that|which|they|this) (?:all )?(?:makes?|made)) $"
)
_EACH_BEHIND = re.compile(
    r"^(?: \w+)?(?: for| per)? (?:each|apiece|a piece)\b(?! (?:of us|of you|of them|other|one|person|time|way|side|hour"
    r"|day|night|week|weekend|month|year|morning|evening|visit|session|lesson|class|trip|round|game|match)\b)"
)
_EACH_BEFORE = re.compile(r"\beach(?: (?:was|were|is|are|cost|costs|at|for|sold))*(?: for| at)? $")
_ORDINAL = re.compile(
    r"\b(?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[- ])?(?:first|second|third|fourth|fifth|sixth"
    r"|seventh|eighth|ninth|tenth|eleventh|twelfth|\w+teenth|\w+tieth|\d+(?:st|nd|rd|th)|once|twice|thrice)\b",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"(?<!\bin )(?<!\bat )(?<!\bon )(?<!\bby )(?<!\bsince )(?<!\buntil )(?<![\d.:] )\b(?P<count>\d+) "
    r"(?!(?:of us|of you|of them|people|friends|persons|times|am|pm|percent|euros?|dollars?|pounds?|bucks?|years?"
    r"|months?|weeks?|days?|nights?|hours?|minutes?|seconds?|january|february|march|april|may|june|july|august"
    r"|september|october|november|december|and|or|to|a|an|per|each)\b)(?=[^\W\d])"
)
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?\w*")
_REPLY = frozenset(
    "so wow oh well nice great not bad that is was makes made then really just only a whole hey good cool".split()
)


@dataclass(frozen=True, slots=True)
class Line:
    """What is added: an amount, so many times, with the elements that tell of it and its place among the lines."""

    place: int
    elements: tuple[Element, ...]
    each: Amount
    count: int = 1

    def __str__(self) -> str:
        return f"{self.count} × {self.elements[0]}" if self.count > 1 else str(self.elements[0])

    @property
    def amount(self) -> Amount:
        """What it comes to."""
        return times(self.each, Amount.of(self.count)) if self.count > 1 else self.each

    @property
    def facts(self) -> frozenset[str]:
        """The facts that tell of it, by number."""
        return frozenset(number for element in self.elements for number in element.facts)


@dataclass(frozen=True, slots=True)
class Summed:
    """The lines to be added, and what is said of the rows that are totals of them."""

    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()

    @property
    def whole(self) -> Amount:
        """What the lines come to."""
        return _sum(self.lines)


def summed(found: Sequence[Element], read: Callable[[Element], Amount], facts: Mapping[str, Remembered]) -> Summed:
    """Return what is to be added of the elements.

    Raises:
        UnsettledError: an element is no amount, or one is called a total that the others do not come to.
    """
    lines = list(_lines(found, read, facts))
    told = [one for one in lines if _says_total(one, facts) or _makes(one, facts) or _echoed(one, lines, facts)]
    parts = [line for line in lines if line not in told]
    notes: list[str] = []
    for total in told:
        of = next((group for group in _groups(total, parts, facts) if _comes_to(group, total)), None)
        if of is not None:
            is_one = sum(line.count for line in of) == 1
            total_of = "told again" if is_one else f"the total of {', '.join(map(str, of))}"
            notes.append(f"{total} is {total_of}, and no further part")
            parts = _with_unit(parts, of, total)
        elif parts and _says_total(total, facts) and _is_of_all(total, parts):
            others = say_amount(_sum(parts))
            raise UnsettledError(f"{total} is told as a total, and the others come to {others}")
        else:
            parts.append(total)
    return Summed(tuple(sorted(parts, key=lambda line: line.place)), tuple(notes))


def _lines(
    found: Sequence[Element], read: Callable[[Element], Amount], facts: Mapping[str, Remembered]
) -> Iterator[Line]:
    """Yield a line for each element, or one for several of which a fact says how many there are, each at the amount."""
    groups: dict[object, list[Element]] = {}
    counts: dict[object, int] = {}
    for place, element in enumerate(found):
        amount = read(element)
        count = _count(element, facts)
        key: object = (amount, frozenset(element.facts)) if count else place
        groups.setdefault(key, []).append(element)
        counts[key] = count
    place = 0
    for key, group in groups.items():
        if len(group) < counts[key]:
            yield Line(place, tuple(group), read(group[0]), counts[key])
        else:
            yield from (Line(place + at, (element,), read(element)) for at, element in enumerate(group))
        place += len(group)


def _count(element: Element, facts: Mapping[str, Remembered]) -> int:
    """Return how many things the amount is told of each of: three lamps, 20 each; 0 where that is not told."""
    for before, behind in places_told(element, facts):
        if _EACH_BEHIND.search(behind) or _EACH_BEFORE.search(before):
            counts = [int(match["count"]) for part in (f"{before}| ", f" {behind}") for match in _COUNT.finditer(part)]
            if len(counts) == 1 and counts[0] > 1 and not 1900 <= counts[0] <= 2100:
                return counts[0]
    return 0


def places_told(element: Element, facts: Mapping[str, Remembered]) -> Iterator[tuple[str, str]]:
    """Yield the words before and behind the amount, in each sentence that has it."""
    number = _NUMBER.search(" ".join(words(plain_numerals(element.value))))
    if number is None:
        return
    for text in (element.value, *(facts[name].text for name in element.facts if name in facts)):
        for sentence in _SENTENCE_END.split(text):
            told = words(plain_numerals(_ORDINAL.sub("nth", sentence)))
            for place in (place for place, word in enumerate(told) if word == number[0]):
                yield "".join(f"{word} " for word in told[:place]), "".join(f" {word}" for word in told[place + 1 :])


def _says_total(line: Line, facts: Mapping[str, Remembered]) -> bool:
    """Say whether what was said calls the amount a total."""
    places = (place for element in line.elements for place in places_told(element, facts))
    return line.count == 1 and any(_BEHIND.search(behind) or _BEFORE.search(before) for before, behind in places)


def _makes(line: Line, facts: Mapping[str, Remembered]) -> bool:
    """Say whether what was said may mean that others make the amount: that makes 35."""
    places = (place for element in line.elements for place in places_told(element, facts))
    return line.count == 1 and any(_MAKES.search(before) for before, _ in places)


def _echoed(line: Line, lines: Sequence[Line], facts: Mapping[str, Remembered]) -> list[Line]:
    """Return the lines that somebody answers with this amount and nothing new, and that are no question."""
    said = [facts[number] for number in line.facts if number in facts]
    amount = {word for element in line.elements for word in words(plain_numerals(element.value))}
    found: list[Line] = []
    for fact in said:
        earlier = fact.before[-1][1] if fact.before else ""
        own = set(words(plain_numerals(fact.text))) - amount - _REPLY - FUNCTION_WORDS - set(words(earlier))
        if any(not word[0].isdigit() and word not in _UNITS for word in own) or earlier.rstrip().endswith("?"):
            return []
        told = {name for name, other in facts.items() if other.text == earlier}
        found += [other for other in lines if other is not line and other.facts & told]
    return found


_UNITS = frozenset("euro euros dollar dollars pound pounds bucks cents".split())


def _groups(total: Line, parts: Sequence[Line], facts: Mapping[str, Remembered]) -> Iterator[Sequence[Line]]:
    """Yield the lines that the total may be of: all, those that it answers, told with it, or told last before it."""
    answered = [line for line in _echoed(total, parts, facts) if line in parts]
    if not _says_total(total, facts) and not _makes(total, facts):
        yield answered
        return
    yield parts
    yield answered
    yield [line for line in parts if line.facts & total.facts]
    before = [line for line in parts if _told(line, facts) < _told(total, facts)]
    before.sort(key=lambda line: _told(line, facts))
    yield from (before[-size:] for size in range(2, len(before) + 1) if not _is_apart(total, before[-size:]))


def _told(line: Line, facts: Mapping[str, Remembered]) -> tuple[str, int, str]:
    """Return when the line was told, as far as its facts tell."""
    known = [number for number in line.facts if number in facts]
    times_said = {number: facts[number].said for number in known}
    return min(
        ((said.isoformat() if said else "~", len(name), name) for name, said in times_said.items()), default=_LAST
    )


_LAST = ("~", 0, "")


def _comes_to(group: Sequence[Line], total: Line) -> bool:
    """Say whether the lines come to the total; one alone is it only where nothing given beside tells them apart."""
    if not group or (sum(line.count for line in group) < 2 and _is_apart(total, group)):
        return False
    try:
        whole = _sum(group)
        common_unit((whole, total.amount))
    except UnsettledError:
        return False
    return whole.exact is not None and whole.exact == total.amount.exact


def _is_of_all(total: Line, parts: Sequence[Line]) -> bool:
    """Say whether a total may be that of all the lines, and of more: nothing tells it apart, and it is more."""
    try:
        whole = _sum(parts)
        common_unit((whole, total.amount))
    except UnsettledError:
        return False
    low = total.amount.low or Fraction(0)
    return not _is_apart(total, parts) and whole.high is not None and low > whole.high


def _is_apart(total: Line, others: Sequence[Line]) -> bool:
    """Say whether a thing that was given beside the total is another than those beside each of the others."""
    mine = {
        name: given
        for element in total.elements
        for name, given in element.beside.items()
        if time_of(given.value, given.said) is None
    }
    beside = [element.beside for line in others for element in line.elements]
    return any(
        all(name in other and normalise(other[name].value) != normalise(given.value) for other in beside)
        for name, given in mine.items()
    )


def _with_unit(parts: Sequence[Line], of: Sequence[Line], total: Line) -> list[Line]:
    """Return the lines, those that the total is of in its unit where they had none."""
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

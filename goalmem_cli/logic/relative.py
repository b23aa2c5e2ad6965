"""Recognise expressions that depend on the time of speaking: yesterday, last Friday, two weeks ago, in spring.

A table holds patterns over lower-case text, each with a function of `readings.py` that says what a match means.
`compounds.py` combines the matches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from goalmem_cli.logic import readings as read
from goalmem_cli.logic import spans
from goalmem_cli.logic.around import just
from goalmem_cli.logic.days import HOLIDAY, MONTH, MONTH_NAME, NUMBER, ORDINAL, SEASONS, WEEKDAY, WEEKDAYS, Period
from goalmem_cli.logic.scene import Scene


class Bound(StrEnum):
    """The relation of an expression to its days."""

    ON = "on"
    BEFORE = "before"
    AFTER = "after"
    SINCE = "since"
    UNTIL = "until"


@dataclass(frozen=True, slots=True)
class Expression:
    """A time expression: its position, its possible meanings (best first) and its bound.

    `is_plain`: a date with its year, which needs no explanation. `is_certain` is False if the words may not be about
    time (sun, May, "in two weeks" as a duration). `is_clear` is False if the context does not decide between several
    days, so that the best reading is a guess.
    """

    start: int
    end: int
    readings: tuple[Period, ...]
    bound: Bound = Bound.ON
    is_plain: bool = False
    is_certain: bool = True
    is_clear: bool = True


@dataclass(frozen=True)
class Rule:
    """A pattern, the keywords that a text must hold to match it, and the function that reads a match.

    The text must hold one word of each set in `keys`. `written` is a pattern of whole words; a blank matches white
    space or hyphens. Patterns are compiled on first use: compiling all takes a fifth of a second, and few commands need
    them.
    """

    written: str
    keys: tuple[frozenset[str], ...]
    read: Callable[[re.Match[str], Scene], Iterable[Period]]
    bound: Bound = Bound.ON
    is_certain: bool = True

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(rf"(?<![\w'])(?<!\d[.,])(?:{self.written})(?!\w)".replace(" ", r"[\s-]+"))


COUNT = rf"(?:half an?|(?:an? )?(?:couple(?: of)?|few|good few)|several|{NUMBER}(?:(?: or | to |-){NUMBER})?|an?)"
SOME = rf"(?:{NUMBER}|couple(?: of)?|few|several)"
UNIT = r"(?:hour|hr|minute|min|day|night|weekend|week|wk|fortnight|month|year|yr|decade)s?"
FULL_DAY = rf"(?:{'|'.join(WEEKDAYS)})"
DAY = rf"(?:{'|'.join(sorted(WEEKDAY, key=len, reverse=True))})"
SEASON = rf"(?:{'|'.join(SEASONS)})"
ABOUT = (
    r"(?:(?:just )?(?:about|around|roughly|approximately|nearly|almost|over|under|exactly)|(?:more|less|fewer) than|"
    r"some|maybe|like|at least)"
)
NTH = rf"(?:the )?(?:very )?(?P<nth>{ORDINAL}|last|final) (?P<unit>day|week|weekend|{FULL_DAY})"
PART = (
    r"(?:the )?(?:very )?(?:(?P<part>early|mid|late)|"
    r"(?P<side>end|beginning|start|middle|first half|second half)(?: part)? of)"
)
END = r"(?=\s*(?:[.,;:!?)\"…]|$))"
_GOES_ON = (
    r"(?=\s*(?:[.,;:!?)\"…–-]|$|(?:at|in|and|but|or|so|to|with|for|because|when|if|as|after|before|until|"
    r"(?:i|we|you|he|she|they|it)(?:'\w+)?|my|our|his|her|their|the|is|are|was|were|will|has|have|had|can|must|should|would|this|that|just|through|from|by|then|"
    r"where|which|who|last|next)\b))"
)
_STAYS = r"(?=\s+(?:again|anyway|between|instead|latest|now|off|right|stays?|still|though|too|whatever|\d)\b)"
_AGO = (
    rf"(?:{ABOUT} ){{0,3}}(?P<count>{COUNT}) (?P<unit>{UNIT}|{FULL_DAY}s?|{SEASON}s?)(?: or (?P<more>so|two))?"
    r"(?P<half> and a half)?"
)
_NAMED = rf"(?P<name>week|weekend|month|year|decade|{SEASON}|{DAY}|{MONTH_NAME}|{HOLIDAY})"
_YEARLY = rf"(?P<name>{SEASON}|{MONTH_NAME}|{HOLIDAY})"


_NO_NAME = (  # words that turn a weekday into a habit, another day's name or a title
    r"(?! (?:morning|afternoon|evening|night)s\b|,?(?: the)? [0-3]?\d(?:st|nd|rd|th)\b|"
    rf",? [0-3]?\d (?:of )?{MONTH_NAME}\b|"
    r" night (?:live|football|fever|lights|raw)\b| (?:school|best|times|after|week)\b)"
)

_UNITS = "hour hr minute min day night weekend week wk fortnight month year yr decade".split()
_GROUPS: dict[str, Iterable[str]] = {
    "UNITS": [*_UNITS, *(f"{unit}s" for unit in _UNITS)],
    "DAYS": [*WEEKDAY, *(f"{name}s" for name in WEEKDAY)],
    "AGO": [*_UNITS, *(f"{name}s" for name in (*_UNITS, *WEEKDAYS, *SEASONS)), *WEEKDAYS, *SEASONS],
    "MONTHS": MONTH,
    "SEASONS": [*SEASONS, *(f"{name}time" for name in SEASONS)],
    "ORDINALS": [f"{number}{ending}" for number in range(40) for ending in ("st", "nd", "rd", "th")]
    + re.findall(r"[a-z]{5,}", ORDINAL),
    "HOLIDAYS": re.findall(r"[a-z]{3,}", HOLIDAY),
}


def _rule(
    keys: str, pattern: str, reader: Callable[[re.Match[str], Scene], Iterable[Period]], bound: Bound = Bound.ON
) -> Rule:
    """Return a rule; `keys` are groups of words, separated by "&", or names of groups."""
    groups = (frozenset(word for key in group.split() for word in _GROUPS.get(key, [key])) for group in keys.split("&"))
    return Rule(pattern, tuple(groups), reader, bound)


def _commonness(words: frozenset[str]) -> int:
    """Return how many common words the group has; groups that are rare in texts rank first."""
    return len(words & _COMMON)


_COMMON = frozenset("in now back before last this next past of from the time".split())

_RULES = (
    _rule(
        "today tonight tonite now morning afternoon evening",
        r"(?:earlier |later )?today|(?:earlier |later )?toni(?:ght|te)|just now|"
        r"(?:early |late |later |earlier )?this (?:morning|afternoon|evening)",
        read.fixed(0),
    ),
    _rule("just & have has ve s we i they you", just.PERFECT, just.happened),
    _rule("just & i we", just.TOLD, just.told),
    _rule("yesterday yday night evening", r"yesterday|yday|last (?:night|evening)", read.fixed(-1)),
    _rule("night & before", r"(?:the )?night before last", read.fixed(-2)),
    _rule("tomorrow tmrw tmr tomorow", r"tomorrow|tmrw|tmr|tomorow", read.fixed(1)),
    _rule("ago back before & AGO", rf"{_AGO} (?:ago(?: (?P<exact>today|yesterday))?|back|before now)", read.ago),
    _rule("before & AGO", rf"{_AGO} before(?P<exact>){END}", read.ago),
    _rule("ago & DAYS", rf"(?P<count>{COUNT}) weeks? ago (?:on )?(?P<day>{FULL_DAY})", read.ago_on),
    _rule(
        "in & UNITS",
        rf"in (?:{ABOUT} )?(?P<count>{COUNT}) (?P<unit>{UNIT})(?:'s?)?(?: time)?(?! and a half| or two)",
        spans.surely_ahead,
    ),
    _rule(
        "in & UNITS",
        rf"(?:the )?{spans.BEST}(?: (?!in\b)[\w']+){{0,4}} in (?:{ABOUT} )?(?P<count>{COUNT}) "
        rf"(?P<unit>{UNIT})(?!'| time\b)",
        spans.best_in,
        Bound.SINCE,
    ),
    _rule(
        "row running straight & UNITS DAYS",
        rf"(?:(?:the|these|for) )?(?:(?:last|past) )?(?P<count>{SOME}) (?P<unit>{UNIT}|{FULL_DAY}s?) "
        r"(?:in a row|running|straight)",
        spans.in_a_row,
    ),
    _rule("from hence & UNITS", rf"(?P<count>{COUNT}) (?P<unit>{UNIT}) (?:from (?:now|today)|hence)", read.ahead),
    _rule(
        "last past previous & UNITS",
        rf"(?:(?:for|over|in|during|within|throughout|of) )?(?:(?:the|these|this) )?(?:last|past|previous) "
        rf"(?P<count>{SOME}) (?P<unit>{UNIT})(?! (?:of|ago)\b)",
        spans.span_behind,
        Bound.SINCE,
    ),
    _rule(
        "last past & UNITS",
        r"(?:(?:for|over|in|during|within|throughout) )?the (?:last|past)(?P<count>) (?P<unit>week|month|year|decade)"
        r"(?! (?:of|before)\b)",
        spans.span_behind,
        Bound.SINCE,
    ),
    _rule(
        "now & UNITS",
        rf"(?:for )?(?:(?:well|{ABOUT}) ){{0,3}}(?P<count>{COUNT}) (?P<unit>{UNIT})(?: or so)? now",
        spans.span_behind,
        Bound.SINCE,
    ),
    _rule(
        "next coming & UNITS",
        rf"(?:for|over|in|during|within) the (?:next|coming)(?: (?P<count>{SOME}))? (?P<unit>{UNIT})(?! of\b| or two)",
        spans.span_ahead,
    ),
    _rule(
        "last past coming upcoming previous this next & UNITS DAYS MONTHS SEASONS HOLIDAYS",
        rf"(?P<the>the (?!(?:last|next|this)\b))?(?P<step>(?:this )?(?:past|last|coming|upcoming)|previous|this|next) "
        rf"{_NAMED}",
        read.stepped,
    ),
    _rule(
        "last next & UNITS DAYS SEASONS",
        rf"(?:the )?(?P<name>day|week|weekend|month|year|{SEASON}|{FULL_DAY}) (?P<side>before last|after next)",
        read.beside_last,
    ),
    _rule("before & UNITS", rf"the (?P<name>day|night|week|weekend|month|year) before{END}", read.one_before),
    _rule(
        "earlier later & UNITS SEASONS",
        rf"(?P<part>earlier|later)(?: on)?(?: in)? (?:this|the) (?P<name>week|month|year|{SEASON})",
        read.part_of_this,
    ),
    _rule(
        "of & UNITS SEASONS",
        rf"{PART}(?: in)? (?:the|this) (?P<name>week|month|year|decade|{SEASON})",
        read.part_of_the,
    ),
    _rule("of & month year", rf"{NTH} of the (?P<name>month|year)", read.nth_of_the),
    _rule(
        "time & week month year",
        r"(?:this|the same|same) time (?P<step>last|next) (?P<name>week|month|year)",
        read.same_time,
    ),
    _rule("week & DAYS", rf"(?:on )?(?P<day>{DAY}),?(?: of)? (?P<step>last|this|next) week", read.day_of_week),
    _rule("week & DAYS", rf"(?P<step>last|this|next) week,?(?: on)? (?P<day>{FULL_DAY})", read.day_of_week),
    _rule(
        "week & DAYS",
        rf"(?:on )?(?P<day>{DAY}),?(?: of| in)? the week (?P<step>before last|after next)",
        read.day_of_week,
    ),
    _rule("week & DAYS", rf"the week (?P<step>before last|after next),?(?: on)? (?P<day>{FULL_DAY})", read.day_of_week),
    _rule(
        "year & MONTHS SEASONS HOLIDAYS",
        rf"(?:in )?(?:the )?{_YEARLY},?(?: of)? (?P<step>last|this|next) year",
        read.part_of_year,
    ),
    _rule(
        "year & MONTHS SEASONS HOLIDAYS", rf"(?P<step>last|this|next) year,? in (?:the )?{_YEARLY}", read.part_of_year
    ),
    _rule(
        "ago & MONTHS SEASONS HOLIDAYS",
        rf"(?:in )?(?:the )?{_YEARLY},? (?:of )?(?P<count>{COUNT}) years? ago",
        read.part_of_year_ago,
    ),
    _rule(
        "ago & MONTHS SEASONS HOLIDAYS",
        rf"(?P<count>{COUNT}) years? ago,? (?:in|at|on|during|over) (?:the )?{_YEARLY}",
        read.part_of_year_ago,
    ),
    _rule(
        "weekend",
        r"(?:(?:over|on|at|during|for) )?the weekend(?! (?:of|before|after)\b)|had an?(?: [\w']+){0,2} weekend"
        rf"(?:{_GOES_ON}|(?=\s+[a-z]+ing\s+(?:with|in|at|on|by|the|my|our|some|up|around|together)\b))",
        read.the_weekend,
    ),
    _rule("DAYS", rf"(?P<on>on (?:the )?)?(?P<name>{DAY}){_NO_NAME}", read.weekday),
    _rule(
        "ORDINALS",
        rf"(?P<on>on )?(?P<the>the )?(?P<day>{ORDINAL})(?:(?P<of> of (?:the|this) month)|{_GOES_ON}|{_STAYS})",
        read.day_of_month,
    ),
    _rule(
        "SEASONS",
        rf"(?P<lead>(?:in|during|over|throughout) )?(?P<the>the )?(?P<name>{SEASON})(?:time)?(?! of\b)",
        read.season,
    ),
    _rule("HOLIDAYS", rf"(?P<name>{HOLIDAY}){_GOES_ON}", read.named_day),
)
_LOOSE_RULES = (
    _rule("now", r"right now", read.fixed(0)),
    _rule("earlier before & AGO", rf"{_AGO} (?:earlier|before)(?P<exact>)", read.ago),
    _rule("in & UNITS", rf"in (?P<count>{COUNT}) (?P<unit>{UNIT})", read.ahead),
    _rule(
        "last past previous this next coming following & UNITS MONTHS SEASONS",
        rf"(?P<step>last|previous|past|this|next|coming|following) "
        rf"(?P<name>week|weekend|month|year|{SEASON}|{MONTH_NAME})",
        read.any_stepped,
    ),
    _rule("DAYS", rf"(?P<name>{DAY})s?", read.any_weekday),
    _rule("HOLIDAYS", rf"(?P<name>{HOLIDAY})", read.any_named_day),
    _rule(
        "on by until till since from for before after the",
        rf"(?:on|by|until|till|since|from|for|before|after|the) (?:the )?(?P<day>{ORDINAL}|{NUMBER})(?! \w+ ago)",
        read.any_day_of_month,
    ),
)


VOCABULARY = frozenset(MONTH).union(*(min(rule.keys, key=_commonness) for rule in _RULES))
"""A text without any of these words has no relative expression."""


def matches(scene: Scene, *, is_loose: bool = False) -> Iterator[Expression]:
    """Yield every match of every rule that has a reading; with `is_loose`, also uncertain ones."""
    for rules, is_certain in ((_RULES, True), (_LOOSE_RULES if is_loose else (), False)):
        for rule in rules:
            if not any(group.isdisjoint(scene.words) for group in rule.keys):
                for match in rule.pattern.finditer(scene.folded):
                    if found := _readings(rule, match, scene):
                        yield Expression(*match.span(), found, rule.bound, is_certain=is_certain)


def _readings(rule: Rule, match: re.Match[str], scene: Scene) -> tuple[Period, ...]:
    try:
        return tuple(rule.read(match, scene))
    except (ValueError, OverflowError):
        return ()  # outside the calendar

"""A statement of what holds, and the words that tell whether it replaces what was said before. English only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.days import MONTHS, WEEKDAYS
from goalmem_cli.logic.normal import stem, words


@dataclass(frozen=True, slots=True)
class State:
    """A statement: the `value` that holds from then on, as stems, or what ended (`is_end`; no value: whatever it was).

    A time is written with its kind: "weekday thurs", "date 19", "month may", "clock half past seven".

    `holder` is "" for the speaker, else the stem of "sister" in "my sister", or of a name. `is_only`: the words say
    that it is the only value ("now", "that is what I drive"). `replaces` is False for what is said late or holds beside
    another value ("I also work at the kiosk"). `is_shared`: it is of a thing that all who talk may mean ("the alarm
    code", not "my code"). `begins` is the weekday or month from which it holds, if that was told.
    """

    holder: str
    value: frozenset[str]
    is_end: bool = False
    is_only: bool = False
    replaces: bool = True
    is_shared: bool = False
    begins: str = ""

    def says_the_same(self, other: State) -> bool:
        """Say whether both name one value: "Leeds" and "Headingley, Leeds" do."""
        return bool(self.value and other.value) and _fit(self.value, other.value)

    def differs(self, other: State) -> bool:
        """Say whether this, which is told later, rules the other out.

        Tuesdays and Thursdays cannot hold at once, Tuesdays and at seven can. Two days of different kinds, such as a
        weekday and a date, differ if this is the only value.
        """
        mine, theirs = _by_kind(self.value), _by_kind(other.value)
        if any(not _fit(mine[kind], theirs[kind]) for kind in mine.keys() & theirs.keys()):
            return True
        days, others = (each.keys() & _DAYS for each in (mine, theirs))
        return self.is_only and bool(days and others) and not days & others

    def stems_by(self, speaker: str) -> frozenset[str]:
        """Return the stems of the value, without kinds, and with the speaker's name for "I"."""
        plain = (
            f"{part}day" if kind == "weekday" else part or kind
            for kind, _, part in (v.partition(" ") for v in self.value)
        )
        told = {stem(word) for each in plain for word in words(each)}
        return frozenset((told - ME) | set(map(stem, words(speaker))) if told & ME else told)

    def has_begun(self, said: datetime | None, at: datetime | None) -> bool:
        """Say whether it holds at a time: "from July", said in June, does not before July, nor if no time is known."""
        if not self.begins:
            return True
        if said is None or at is None:
            return False
        if self.begins in WEEKDAYS:
            first = said.date() + timedelta((WEEKDAYS.index(self.begins) - said.weekday() - 1) % 7 + 1)
        else:
            month = MONTHS.index(self.begins) + 1
            first = date(said.year + (month < said.month), month, 1)
        return at.date() >= first


_DAYS = frozenset(("weekday", "date", "month"))
ME = frozenset(("i", "me"))


def _fit(one: frozenset[str], other: frozenset[str]) -> bool:
    return one <= other or other <= one


def _by_kind(value: frozenset[str]) -> dict[str, frozenset[str]]:
    """Return kind -> the parts of a value, such as "weekday thurs", of that kind; a stem has the kind ""."""
    kinds = {each: each.partition(" ")[0] if " " in each else "" for each in value}
    return {kind: frozenset(each for each in value if kinds[each] == kind) for kind in kinds.values()}


NOW = late(
    r"\bnow(?! (?:that|and then)\b)|\b(?:these days|nowadays|currently|from now on|instead|any ?more)\b"
    r"|\b(?:any|no) longer\b|\bsince (?!I\b|we\b|he\b|she\b|they\b|it\b|you\b|my\b)\w|\bnew\b"
    r"|\b(?:switched|swapped|changed)\b",
    re.IGNORECASE,
)
LATE = late(
    r"\b(?:used to|when I was|as (?:a|an) (?:child|kid|boy|girl|teen\w*|student|baby)|years ago|back then|before that|"
    r"at the time|originally|at first|earlier|previously|once|for (?:uni|college|school)|in (?:19|20)\d\d)\b"
    r"|\bbefore[.!]?$",
    re.IGNORECASE,
)
NOT_YET = late(
    r"\b(?:will|going to|gonna|want(?:s|ed)? to|hop(?:e|es|ing) to|love to|like to|next (?:year|month|week|spring|"
    r"summer|autumn|fall|winter|\w+day)|tomorrow|soon|thinking (?:of|about)|looking (?:to|for)|considering|"
    r"(?:from|starting)(?: in| on)? (?:next|tomorrow|January|February|March|April|May|June|July|August|September|"
    r"October|November|December|\w+day)\b(?! (?:to|till|until|through)\b)|"
    r"pretend\w*|wants?|if only|supposed to|about to|tried to|almost)\b|['’]ll\b",
    re.IGNORECASE,
)
ONCE = late(
    r"\b(?:today|tonight|tomorrow|for once|exceptionally|this (?:week|time|month|once|\w+day)|(?:just|only) this|"
    r"week only)\b",
    re.IGNORECASE,
)
"""Words of an exception, which changes no rule."""
AT_FIRST = late(
    r",? ?\b(?:from|starting|as of|as from)(?: in| on)? (?P<when>January|February|March|April|May|June|July|August|"
    r"September|October|November|December|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)"
    r"(?: on(?:wards?)?)?\b,?(?! (?:to|till|until|through)\b)",
    re.IGNORECASE,
)
"""From when on something holds."""
WAS = late(r"\b(?:had|were|was)\b", re.IGNORECASE)

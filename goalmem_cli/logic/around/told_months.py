"""The month of a bare day ("it's on the 19th"), if an earlier text tells in which month the same thing is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from goalmem_cli.logic.dates import Annotation
from goalmem_cli.logic.days import MONTH, MONTH_NAME, ORDINAL, month_of
from goalmem_cli.logic.normal import content_stems, stem

LONGEST = timedelta(days=120)
"""How long before the day number the month may have been told."""
_BARE = re.compile(rf"(?:on\s+)?the\s+{ORDINAL}", re.IGNORECASE)
_WHOSE = r"(?P<whose>the|this|our|my|your|his|her|their|[A-Z]\w+['’]s)"
_THING = rf"\b(?i:{_WHOSE})\s+(?P<thing>(?:[\w-]+\s+){{0,2}}?[\w-]+)"
_PUT = r"(?:moved|postponed|shifted|pushed|put off|set|fixed|confirmed|planned|booked|scheduled)"
_IS = (
    rf"(?:['’]s|\s+(?:is|are|will\s+be|takes?\s+place|falls|starts?|begins?|comes?|arrives?|happens?|(?:was|were|got|has\s+been)\s+{_PUT}))"
    r"(?:\s+(?:now|then|only|actually|really|going\s+to\s+be|(?:\w+ly)|" + _PUT + r"))*"
    r"(?:\s+from\s+\w+)?(?:\s+(?:back\s+)?(?:to|for))?"
)
_TELLS = re.compile(rf"{_THING}{_IS}\s*\Z", re.IGNORECASE)
_POINTS = re.compile(rf"\b(?:it|that){_IS}\s*\Z", re.IGNORECASE)
_ASKED = re.compile(
    rf"\b(?:when|what\s+day|which\s+day|what\s+date)\b[^.!?]*?{_THING}(?=\s*(?:\?|then\b|again\b|exactly\b))",
    re.IGNORECASE,
)
_MONTH = re.compile(
    rf"\s*\b(?:in|this|next|until|till|to|for)\s+(?:early\s+|mid\s+|late\s+|the\s+(?:beginning|start|middle|end)\s+of\s+)?(?P<month>{MONTH_NAME})\b(?!\s*\d)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?…;]+\s+|\n")
_PRONOUNS = frozenset("my your his her their".split())
_COMMON = frozenset({"the", "this", "our"})


@dataclass(frozen=True, slots=True)
class Told:
    """What somebody said at a time, and what was said right before it, nearest last."""

    speaker: str
    text: str
    said: datetime
    before: tuple[Told, ...] = ()

    @property
    def clock(self) -> datetime:
        """Its time by the speaker's clock, without an offset, as not every turn has one."""
        return self.said.replace(tzinfo=None)


@dataclass(frozen=True, slots=True)
class _Thing:
    """What a sentence is about: its words, and whose it is ("" for "the", "this" and "our")."""

    stems: frozenset[str]
    head: str
    owner: str

    def is_of(self, other: _Thing) -> bool:
        """Say whether both are the same thing, one perhaps with more words."""
        is_named = self.stems <= other.stems or other.stems <= self.stems
        return self.head == other.head and self.owner == other.owner and is_named


def is_bare_day(note: Annotation) -> bool:
    """Say whether the note is of a day number alone ("on the 19th")."""
    return note.first is not None and note.first == note.last and _BARE.fullmatch(note.text) is not None


def with_month_told(note: Annotation, told: Told, earlier: Sequence[Told]) -> Annotation:
    """Return the note of a bare day to come, with its day in the month that was told for the same thing.

    The thing is what the sentence is about, or for "it" what was asked right before. The last month told within
    `LONGEST` counts. Other notes, and those of things without a month to come, are returned unchanged.
    """
    today = told.said.date()
    if not is_bare_day(note) or note.first is None or note.first < today:
        return note
    about = _about(told.text[: told.text.find(note.text)], told)
    since, until = told.clock - LONGEST, told.clock
    near = [each for each in (*earlier, *told.before) if since <= each.clock <= until and each != told]
    months = [] if about is None else [(each.clock, month) for each in near for month in _months_of(about, each)]
    if not months:
        return note
    _, number = max(months)
    month = month_of(today.year + (number < today.month), number)
    day = note.first.day
    if day > month.last.day or month.first.replace(day=day) < today:
        return note
    there = month.first.replace(day=day)
    return replace(note, first=there, last=there)


def _months_of(thing: _Thing, told: Told) -> Iterator[int]:
    """Yield the numbers of the months in which the text says that the thing is to be."""
    for month in _MONTH.finditer(told.text):
        about = _about(told.text[: month.start()], told)
        if about is not None and thing.is_of(about):
            yield MONTH[month["month"].casefold()]


def _about(text: str, told: Told) -> _Thing | None:
    """Return what the last sentence of a part of the text is about; for "it", what was asked right before."""
    sentence = _SENTENCE.split(text)[-1]
    if (found := _TELLS.search(sentence)) is not None:
        return _thing(found, told.speaker)
    asked = [(_ASKED.search(each.text), each.speaker) for each in reversed(told.before)]
    is_pointing = _POINTS.search(sentence) is not None
    return next((_thing(found, speaker) for found, speaker in asked if is_pointing and found is not None), None)


def _thing(found: re.Match[str], speaker: str) -> _Thing:
    """Return what was named; "my" and the like are of who says it."""
    whose, words = found["whose"].casefold(), found["thing"].casefold().split()
    owner = "" if whose in _COMMON else f"{speaker if whose in _PRONOUNS else ''} {whose}"
    return _Thing(content_stems(found["thing"]), stem(words[-1]), owner)

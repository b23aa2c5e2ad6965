"""Where and when something was said: the text, the time, and the tense around each place in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from enum import IntEnum

from goalmem_cli.logic.days import Period


class Tense(IntEnum):
    """What a sentence is about, as far as its words tell."""

    PAST = -1
    OPEN = 0
    FUTURE = 1


_WORDS = re.compile(r"[a-z]+|[0-9]+[a-z]*")
_NEVER = datetime(2000, 1, 1)
_LONGEST = 200  # characters
_SENTENCE_END = re.compile(r"[.!?…]+(?=\s|$)|\n")
_FUTURE = re.compile(
    r"\b(?:will|won't|shall|going to|gonna|plan(?:s|ning)?|hop(?:e|ing) to|(?:can't|cannot) wait|looking forward|"
    r"excited (?:for|about|to)|coming up|upcoming|about to|see you|let's|wanna|want to|should|might|"
    r"(?:can|could|may|shall) (?:i|you|we)|how about|what about|due|scheduled|free|would (?:you )?like|"
    r"(?:start|begin|end|open|close|leave|arrive|return|finish|happen|expire)s|"
    r"'d (?:like|love)|(?:i|we|they) (?:leave|start|fly|move|meet|return)|(?:have|has|needs?) to|gotta|"
    r"(?:day|week|month|year)s? from|(?:is|are) (?:on|at|in)|(?:i|we|you|they) have an?|(?:'ve|'s|have|has) got)\b|"
    r"'ll\b|"
    r"\b(?:am|are|is|i'm|we're|they're|you're|he's|she's|it's|that's)(?: (?!not)\w+)?(?: not)? \w{2,}ing\b"
)
_PAST = re.compile(
    r"\b(?:was|were|wasn't|weren't|did|didn't|had|hadn't|went|(?<!'ve )(?<!'s )(?<!have )(?<!has )got|came|saw|met|"
    r"made|took|told|said|gave|found|felt|left|bought|brought|began|ran|won|lost|spent|thought|knew|ate|drove|flew|"
    r"wrote|spoke|sent|sold|broke|fell|held|"
    r"kept|heard|caught|built|taught|slept|woke|wore|became|grew|drew|rode|sang|swam|threw|paid|been|haven't|"
    r"hasn't|ago|"
    r"(?!excited|interested|tired|married|scheduled|planned|supposed|stoked|indeed|speed|feed|need|exceed|proceed|"
    r"succeed|hundred|sacred|booked|invited|worried)\w{2,}ed)\b"
)
_AHEAD = frozenset("until till by than starting for is are".split())
_HABIT = re.compile(
    r"\b(?:usually|always|often|every|each|whenever|sometimes|generally|typically|normally|never|tend|loves?|"
    r"(?:i|we|they|you) like|likes|enjoys?|especially|favou?rite)\b"
)
_CUSTOM = re.compile(r"\b(?:used to|always|usually|whenever)\b")


@dataclass(frozen=True, slots=True)
class Scene:
    """A text as it was said.

    `folded` is the text in lower case with plain apostrophes, of the same length, so that places agree; `words` are
    its words, to see at once what it cannot hold. Where it is not `is_timed`, `said` means nothing.
    """

    text: str
    folded: str
    words: frozenset[str]
    said: datetime
    is_timed: bool

    @classmethod
    def of(cls, text: str, said: datetime | None) -> Scene:
        """Return the scene of a text said at a time, or at a time that is not known."""
        folded = _fold(text)
        words = frozenset(_WORDS.findall(folded))
        return cls(text, folded, words, _NEVER if said is None else said, said is not None)

    @property
    def day(self) -> date:
        """The day on which it was said, by the clock of whoever said it."""
        return self.said.date()

    def word_before(self, start: int) -> str:
        """Return the word that ends right before the place, or an empty string."""
        match = re.search(r"([\w']+)[\s-]*\Z", self.folded[max(0, start - 24) : start])
        return match[1] if match else ""

    def tense(self, start: int, end: int) -> Tense:
        """Return the tense of the cue nearest to the place, within its sentence."""
        lead = self.word_before(start)
        if lead == "since":
            return Tense.PAST
        left, right = _sentence(self.folded, start, end)
        nearest, tense = len(self.folded) + 1, Tense.OPEN
        for pattern, meaning in ((_PAST, Tense.PAST), (_FUTURE, Tense.FUTURE)):
            for cue in pattern.finditer(self.folded, left, right):
                apart = max(0, start - cue.end()) if cue.start() < start else cue.start() - end
                if 0 <= apart < nearest:
                    nearest, tense = apart, meaning
        return Tense.FUTURE if tense is Tense.OPEN and lead in _AHEAD else tense

    def is_habit(self, start: int, end: int, tense: Tense) -> bool:
        """Say whether the sentence around the place is about what happens, or happened, again and again."""
        pattern = {Tense.OPEN: _HABIT, Tense.PAST: _CUSTOM}.get(tense)
        return pattern is not None and pattern.search(self.folded, *_sentence(self.folded, start, end)) is not None

    def nearest(self, periods: Iterable[Period], tense: Tense) -> list[Period]:
        """Return the periods with those first that the tense allows, and of these the nearest; open allows all."""
        is_future = tense is Tense.FUTURE

        def distance(period: Period) -> tuple[bool, int]:
            if tense is Tense.OPEN:
                ahead, behind = (period.first - self.day).days, (self.day - period.last).days
                return False, max(ahead, behind, 0)
            is_allowed = period.last >= self.day if is_future else period.first <= self.day
            gap = (period.first if is_future else period.last) - self.day
            return not is_allowed, abs(gap.days)

        return sorted(periods, key=distance)


def _fold(text: str) -> str:
    """Return the text in lower case and with plain apostrophes, each character in its place."""
    lower = text.replace("’", "'").lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text.replace("’", "'"))


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the sentence around the place begins and ends, looking no further than a long sentence goes."""
    near, far = max(0, start - _LONGEST), min(len(text), end + _LONGEST)
    left = max((match.end() for match in _SENTENCE_END.finditer(text, near, start)), default=near)
    right = _SENTENCE_END.search(text, end, far)
    return left, right.start() if right else far

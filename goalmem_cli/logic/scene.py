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
_SENTENCE_END = re.compile(r"[.!?…]+(?=\s|$)|[\n;]")
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
_DECIDED = (
    r"agreed|announced|arranged|asked|booked|chose|confirmed|decided|extended|fixed|invited|moved|offered|ordered|"
    r"postponed|promised|reminded|rented|reserved|said|scheduled|signed|told"
)
_PLANNED = re.compile(rf"(?:(?:was|were) )?(?:{_DECIDED}|planned)|took (?:\w+ )?off")
_NOT_BEING = "".join(rf"(?<!\b{word} )" for word in ("is", "are", "am", "be", "i'm", "'s", "'re", "get", "gets"))
_PAST = re.compile(
    rf"\b(?:(?:was|were) (?:{_DECIDED}|planned)|was|were|wasn't|weren't|did|didn't|had|hadn't|went|came|saw|met|made|"
    r"(?<!'ve )(?<!'s )(?<!have )(?<!has )got|took (?:\w+ )?off|took|told|said|gave|found|felt|left|bought|brought|"
    r"began|ran|won|lost|spent|thought|knew|ate|drove|flew|wrote|spoke|sent|sold|broke|fell|held|kept|heard|caught|"
    r"built|taught|slept|woke|wore|became|grew|drew|rode|sang|swam|threw|paid|been|haven't|hasn't|ago|"
    r"blew|chose|clung|crept|dealt|drank|dug|fled|fought|forgot|forgave|froze|hid|sank|shone|shook|slid|stood|swept|"
    r"understood|(?<!\ba )(?<!\bthe )shot|"
    r"(?!excited|interested|tired|married|scheduled|planned|supposed|stoked|indeed|speed|feed|need|exceed|proceed|"
    rf"succeed|hundred|sacred|booked|invited|worried){_NOT_BEING}\w{{2,}}ed)\b"
)
_AHEAD = frozenset("until till by than starting for is are".split())
_WITHIN = frozenset("in during over throughout".split())
_EITHER_WAY = frozenset("until till by from to than".split())
_HABIT = re.compile(
    r"\b(?:usually|always|often|every|each \w+|whenever|sometimes|generally|typically|normally|never|tend|loves?|"
    r"(?:i|we|they|you) like|likes|enjoys?|especially|favou?rite|weekly|these days|nowadays|from now on|"
    r"most weeks)\b"
)
_TEEN_OR_LESS = (
    "four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
)
_YOUNG = re.compile(
    r"\bwhen (?:i|he|she|we|they|you|my \w+|our \w+) (?:was|were) "
    rf"(?:\d|about \d|an? |still |little|young|small|in (?:my|his|her) |(?:{_TEEN_OR_LESS}|twenty|thirty|forty)\b)"
    r"|\bas an? (?:kid|child|boy|girl|teen\w*|student)\b|\bat (?:age|the age of)\b"
    r"|\bgrowing up\b|\bback in the day\b|\bin (?:my|his|her|our) (?:childhood|youth|teens|twenties|thirties)\b"
)
_CUSTOM_IS = re.compile(  # "Wednesday is dance now", "Friday is pizza night"
    r"(?: (?:morning|afternoon|evening|night))? (?:is|are|means)(?: [\w']+){1,3}? now\b"
    r"|(?: (?:morning|afternoon|evening|night))? is(?: (?:my|our|the|always))? "
    r"(?!(?:last|first|big|next|only|free|final|perfect|good|every|election|moving|exam|opening|closing)\b)"
    r"\w+ (?:day|night)\b"
)
_WEEKLY = re.compile(r"\b(?:weekly|every week|each week)\b")
_EVERY_NTH = re.compile(r"\b(?:every|each)\s+\w+\s+\Z")
_SUPPOSED = re.compile(r"(?:'d|\b(?:would|could|might))\s+have\b")
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

    def lead(self, start: int) -> str:
        """Return the word before the place, or before the article there."""
        word = self.word_before(start)
        return self.word_before(self.folded.rindex("the", 0, start)) if word == "the" else word

    def tense(self, start: int, end: int) -> Tense:
        """Return the tense of the cue nearest to the place, within its sentence."""
        return self._cue(start, end)[0]

    def yearly_tense(self, start: int, end: int) -> Tense:
        """Return the tense for what comes once a year: open where only the deciding, or the beginning, is past.

        "We booked it for 5 June", "it is closed until Christmas", "he signed from the first of December".
        """
        tense, cue, is_after = self._cue(start, end)
        lead = self.lead(start)
        is_decided = _PLANNED.fullmatch(cue) and not {lead, self.folded[start:end].split()[0]} & _WITHIN
        is_either = (lead in _EITHER_WAY and not is_after) or is_decided
        return Tense.OPEN if tense is Tense.PAST and is_either else tense

    def _cue(self, start: int, end: int) -> tuple[Tense, str, bool]:
        """Return the tense at the place, the word that tells it, and whether that stands after the place."""
        lead = self.lead(start)
        if lead == "since":
            return Tense.PAST, lead, False
        left, right = _sentence(self.folded, start, end)
        nearest, tense, word, is_after = len(self.folded) + 1, Tense.OPEN, "", False
        for pattern, meaning in ((_PAST, Tense.PAST), (_FUTURE, Tense.FUTURE)):
            for cue in pattern.finditer(self.folded, left, right):
                apart = max(0, start - cue.end()) if cue.start() < start else cue.start() - end
                if 0 <= apart < nearest:
                    nearest, tense, word, is_after = apart, meaning, cue[0], cue.start() > start
        is_ahead = tense is Tense.OPEN and lead in _AHEAD
        return (Tense.FUTURE, lead, False) if is_ahead else (tense, word, is_after)

    def is_habit(self, start: int, end: int, tense: Tense) -> bool:
        """Say whether the sentence around the place is about what happens, or happened, again and again."""
        if _CUSTOM_IS.match(self.folded, end) or self.is_long_ago(start, end):
            return True
        if _EVERY_NTH.search(self.folded[max(0, start - 24) : start]):
            return True
        pattern = {Tense.OPEN: _HABIT, Tense.PAST: _CUSTOM, Tense.FUTURE: _WEEKLY}[tense]
        return pattern.search(self.folded, *_sentence(self.folded, start, end)) is not None

    def is_long_ago(self, start: int, end: int) -> bool:
        """Say whether the sentence around the place is about an age of life, so that the year is not known."""
        return _YOUNG.search(self.folded, *_sentence(self.folded, start, end)) is not None

    def is_supposed(self, start: int, end: int) -> bool:
        """Say whether the sentence around the place is about what would have been."""
        return _SUPPOSED.search(self.folded, *_sentence(self.folded, start, end)) is not None

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

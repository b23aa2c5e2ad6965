"""The context of a time expression: the text, its time, and the tense at each position."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from enum import IntEnum

from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.around.cues import DECIDED, Cue, Manner, cues_in, has_verb, is_request
from goalmem_cli.logic.days import Period


class Tense(IntEnum):
    """The tense at a position, judged by its words."""

    PAST = -1
    OPEN = 0
    FUTURE = 1


_WORDS = late(r"[a-z]+|[0-9]+[a-z]*")
_NEVER = datetime(2000, 1, 1)
_LONGEST = 200  # characters
_SENTENCE_END = late(r"[.!?…]+(?=\s|$)|[\n;]")
_DECIDED = late(rf"(?:(?:was|were) )?(?:{DECIDED}|planned)|took (?:\w+ )?off")
_READYING = late(
    r"bought|got|ordered|wrapped|made|baked|found|chose|sewed|knitted|saved|hung|carved|prepared|picked|painted|built|"
    r"planted|learned|learnt|wrote|written|cooked|collected|packed|decorated|gathered|practi[sc]ed|rehearsed|been"
)
_CLAUSE = late(r"[,;:–]\s|\b(?:and|but|so)\b")
_APART = 80  # characters: the extra distance of a word in another clause
_AHEAD = frozenset("until till by than starting for is are".split())
_WITHIN = frozenset("in during over throughout".split())
_EITHER_WAY = frozenset("until till by from to than".split())
_REACTION = late(r"\bsounds\b")
_TARGETS = frozenset({"for", "to"})
_SETTLED = late(rf"(?:(?:has|have|had|been|was|were) )?(?:{DECIDED}|gave|got|picked|put|rebooked|went|brought)")
_HABIT = late(
    r"\b(?:usually|always|often|every|each \w+|whenever|sometimes|generally|typically|normally|never|tend|loves?|"
    r"(?:i|we|they|you) like|likes|enjoys?|especially|favou?rite|weekly|these days|nowadays|from now on|"
    r"most weeks)\b"
)
_TEEN_OR_LESS = (
    "four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
)
_YOUNG = late(
    r"\bwhen (?:i|he|she|we|they|you|my \w+|our \w+) (?:was|were) "
    rf"(?:\d|about \d|an? |still |little|young|small|in (?:my|his|her) |(?:{_TEEN_OR_LESS}|twenty|thirty|forty)\b)"
    r"|\bas an? (?:kid|child|boy|girl|teen\w*|student)\b|\bat (?:age|the age of)\b"
    r"|\bgrowing up\b|\bback in the day\b|\bin (?:my|his|her|our) (?:childhood|youth|teens|twenties|thirties)\b"
)
_CUSTOM_IS = late(  # "Wednesday is dance now", "Friday is pizza night"
    r"(?: (?:morning|afternoon|evening|night))? (?:is|are|means)(?: [\w']+){1,3}? now\b"
    r"|(?: (?:morning|afternoon|evening|night))? is(?: (?:my|our|the|always))? "
    r"(?!(?:last|first|big|next|only|free|final|perfect|good|every|election|moving|exam|opening|closing)\b)"
    r"\w+ (?:day|night)\b"
)
_CUSTOM_DAY = late(r"\b(?:favou?rite (?:\w+ )?|day off |(?:market|bin|laundry|wash|rest) day )(?:is|are)\s+\Z")
_WEEKLY = late(r"\b(?:weekly|every week|each week)\b")
_EVERY_NTH = late(r"\b(?:every|each)\s+\w+\s+\Z")
_OF_TODAY = late(
    r"\b(?:today|tonight|this (?:morning|afternoon|evening)|just now|right now|so far|"
    r"(?<!last )(?<!that )all (?:morning|afternoon))\b"
)
_TENSES = {Manner.PAST: Tense.PAST, Manner.FUTURE: Tense.FUTURE}
_SUPPOSED = late(r"(?:'d|\b(?:would|could|might))\s+have\b")
_CUSTOM = late(r"\b(?:used to|always|usually|whenever)\b")


@dataclass(frozen=True, slots=True)
class Scene:
    """A text with the time at which it was said.

    `folded` is the text in lower case with plain apostrophes, of the same length, so that positions agree. `words` are
    its words, for quick exclusion. If `is_timed` is False, `said` has no meaning. `before` is the text said right
    before.
    """

    text: str
    folded: str
    words: frozenset[str]
    said: datetime
    is_timed: bool
    before: Scene | None = None

    @classmethod
    def of(cls, text: str, said: datetime | None, before: str | None = None) -> Scene:
        """Return the scene of a text said at a time (None if unknown), right after the text `before`."""
        folded = _fold(text)
        words = frozenset(_WORDS.findall(folded))
        earlier = None if not before else cls.of(before, said)
        return cls(text, folded, words, _NEVER if said is None else said, said is not None, earlier)

    @property
    def day(self) -> date:
        """The day on which it was said, by the speaker's clock."""
        return self.said.date()

    @property
    def is_of_today(self) -> bool:
        """Whether the text, or the one right before it, is about the day of speaking."""
        return any(scene is not None and _OF_TODAY.search(scene.folded) for scene in (self, self.before))

    @property
    def is_answer(self) -> bool:
        """Whether the text right before it ends with a question."""
        return self.before is not None and self.before.folded.rstrip().endswith("?")

    def word_before(self, start: int) -> str:
        """Return the word that ends right before the position, or ""."""
        match = re.search(r"([\w']+)[\s-]*\Z", self.folded[max(0, start - 24) : start])
        return match[1] if match else ""

    def lead(self, start: int) -> str:
        """Return the word before the position, skipping an article."""
        word = self.word_before(start)
        return self.word_before(self.folded.rindex("the", 0, start)) if word == "the" else word

    def tense(self, start: int, end: int) -> Tense:
        """Return the tense of the nearest cue in the sentence around the position."""
        return self._cue(start, end)[0]

    def day_tense(self, start: int, end: int) -> Tense:
        """Return the tense for a weekday: what is not told as past is about the future.

        A sentence without a verb takes the tense of the text right before it; a question without one is about the
        future.
        """
        tense = self.tense(start, end)
        if tense is not Tense.OPEN or self.is_planned(start, end):
            return tense
        left, right = self.sentence(start, end)
        is_told = self.is_present(start, end) or has_verb(self.folded, left, right)
        if is_told and _REACTION.search(self.folded, left, start):
            return tense
        return Tense.FUTURE if is_told else self._tense_around(start, end)

    def number_tense(self, start: int, end: int, *, is_on: bool) -> Tense:
        """Return the tense for a day of the month, which people seldom name for a past day without a verb.

        A past decision for a day leaves it in the future: "rebooked for the 6th", "they offered the 4th". `is_on` says
        whether "on" or a word like it stands before the day.
        """
        tense, cue = self._cue(start, end)
        if tense is Tense.PAST and cue is not None and cue.start < start and _SETTLED.fullmatch(cue.word):
            return tense if is_on and self.lead(start) not in _TARGETS else Tense.FUTURE
        return Tense.PAST if self.day_tense(start, end) is Tense.PAST else Tense.FUTURE

    def is_after_past(self, start: int, end: int) -> bool:
        """Say whether the sentence has no verb and no question before it, and stands beside one in the past tense."""
        is_told = self._cue(start, end)[0] is not Tense.OPEN
        return not is_told and not self.is_answer and self._tense_around(start, end) is Tense.PAST

    def is_undecided(self, start: int, end: int) -> bool:
        """Say whether a weekday may be past or future: it was planned in the past, or no verb is near."""
        if self.is_planned(start, end):
            return True
        is_bare = self.tense(start, end) is Tense.OPEN and not has_verb(self.folded, *self.sentence(start, end))
        return is_bare and self._tense_around(start, end) is Tense.OPEN

    def is_planned(self, start: int, end: int) -> bool:
        """Say whether the position is about the future as somebody planned it in the past."""
        cue = self._cue(start, end)[1]
        return cue is not None and cue.manner is Manner.PLANNED

    def is_arranged(self, start: int, end: int) -> bool:
        """Say whether a decision may be for this time or may have been made at it: "they promised it in May"."""
        cue = self._cue(start, end)[1]
        return cue is not None and _DECIDED.fullmatch(cue.word) is not None

    def is_present(self, start: int, end: int) -> bool:
        """Say whether the position is in the present tense."""
        cue = self._cue(start, end)[1]
        return cue is not None and cue.manner is Manner.PRESENT

    def yearly_tense(self, start: int, end: int) -> Tense:
        """Return the tense for a yearly time; open if only the decision or the start is past.

        Examples: "We booked it for 5 June", "it is closed until Christmas", "he signed from the first of December", "I
        bought the goose for Christmas".
        """
        tense, cue = self._cue(start, end)
        if tense is not Tense.PAST or cue is None:
            return tense
        lead = self.lead(start)
        is_decided = _DECIDED.fullmatch(cue.word) and not {lead, self.folded[start:end].split()[0]} & _WITHIN
        is_either = (lead in _EITHER_WAY and cue.start < start) or is_decided
        is_ready = lead == "for" and _READYING.search(cue.word)
        return Tense.OPEN if is_either or is_ready else tense

    def sentence(self, start: int, end: int) -> tuple[int, int]:
        """Return the start and end of the sentence around the position, at most 200 characters away."""
        return _sentence(self.folded, start, end)

    def _cue(self, start: int, end: int) -> tuple[Tense, Cue | None]:
        """Return the tense at the position and the nearest cue in its sentence."""
        lead = self.lead(start)
        if lead == "since":
            return Tense.PAST, None
        nearest, told = 2 * _LONGEST + _APART * _LONGEST, None
        for cue in cues_in(self.folded, *self.sentence(start, end)):
            is_around = cue.start <= start and end <= cue.end
            apart = max(0, start - cue.end) if cue.start < start or is_around else cue.start - end
            between = self.folded[cue.end : start] if cue.start < start else self.folded[end : cue.start]
            apart += _APART * len(_CLAUSE.findall(between))
            if 0 <= apart < nearest:
                nearest, told = apart, cue
        if told is None or told.manner not in _TENSES:
            return (Tense.FUTURE if told is None and lead in _AHEAD else Tense.OPEN), told
        return _TENSES[told.manner], told

    def _tense_around(self, start: int, end: int) -> Tense:
        """Return the tense of the context for a sentence without a verb.

        A request is about the future. So is a question, unless the text before is in the past tense.
        """
        left, right = self.sentence(start, end)
        if has_verb(self.folded, left, right):
            return Tense.OPEN
        before = self._tense_before(left)
        before = before if before is not Tense.OPEN else self._tense_after(right)
        is_question = self.folded[right : right + 1] == "?"
        if is_request(self.folded, left, right) or (is_question and before is not Tense.PAST):
            return Tense.FUTURE
        return Tense.OPEN if is_question else before

    def _tense_before(self, place: int) -> Tense:
        tense = self.last_tense(place)
        return tense if tense is not Tense.OPEN or self.before is None else self.before.last_tense()

    def _tense_after(self, place: int) -> Tense:
        """Return the tense of the next sentence, or open."""
        rest = re.compile(r"\w").search(self.folded, place)
        if rest is None:
            return Tense.OPEN
        left, right = self.sentence(rest.start(), rest.start() + 1)
        if is_request(self.folded, rest.start(), right):
            return Tense.FUTURE
        manners = {cue.manner for cue in cues_in(self.folded, left, right)}
        tenses = {_TENSES[manner] for manner in manners if manner in _TENSES}
        if manners == {Manner.PRESENT}:
            return Tense.FUTURE
        return tenses.pop() if len(tenses) == 1 and Manner.PLANNED not in manners else Tense.OPEN

    def last_tense(self, end: int | None = None) -> Tense:
        """Return the tense of the last of the two sentences before the position (or the end) that has one."""
        place = len(self.folded) if end is None else end
        for _ in range(2):
            while place > 0 and not self.folded[place - 1].isalnum():
                place -= 1
            if not place:
                break
            left, _ = self.sentence(place - 1, place)
            manners = {cue.manner for cue in cues_in(self.folded, left, place)} & set(_TENSES)
            if len(manners) == 1:
                return _TENSES[manners.pop()]
            if has_verb(self.folded, left, place):
                break
            place = left
        return Tense.OPEN

    def is_habit(self, start: int, end: int, tense: Tense) -> bool:
        """Say whether the sentence around the position is about something repeated."""
        if _CUSTOM_IS.match(self.folded, end) or self.is_long_ago(start, end):
            return True
        lead = self.folded[max(0, start - 32) : start]
        if _EVERY_NTH.search(lead) or _CUSTOM_DAY.search(lead):
            return True
        pattern = {Tense.OPEN: _HABIT, Tense.PAST: _CUSTOM, Tense.FUTURE: _WEEKLY}[tense]
        return pattern.search(self.folded, *_sentence(self.folded, start, end)) is not None

    def is_long_ago(self, start: int, end: int) -> bool:
        """Say whether the sentence around the position is about an age in life, so that its year is unknown."""
        return _YOUNG.search(self.folded, *_sentence(self.folded, start, end)) is not None

    def is_supposed(self, start: int, end: int) -> bool:
        """Say whether the sentence around the position is hypothetical: what would or should have been."""
        return _SUPPOSED.search(self.folded, *_sentence(self.folded, start, end)) is not None

    def nearest(self, periods: Iterable[Period], tense: Tense) -> list[Period]:
        """Return the periods sorted: those that the tense allows first, then by distance; open allows all."""
        is_future = tense is Tense.FUTURE

        def distance(period: Period) -> tuple[bool, int]:
            """Return the sort key of a period: first those that the tense allows, then the nearest."""
            if tense is Tense.OPEN:
                ahead, behind = (period.first - self.day).days, (self.day - period.last).days
                return False, max(ahead, behind, 0)
            is_allowed = period.last >= self.day if is_future else period.first <= self.day
            gap = (period.first if is_future else period.last) - self.day
            return not is_allowed, abs(gap.days)

        return sorted(periods, key=distance)


def _fold(text: str) -> str:
    """Return the text in lower case with plain apostrophes, without changing its length."""
    lower = text.replace("’", "'").lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text.replace("’", "'"))


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the start and end of the sentence around the position, at most 200 characters away."""
    near, far = max(0, start - _LONGEST), min(len(text), end + _LONGEST)
    left = max((match.end() for match in _SENTENCE_END.finditer(text, near, start)), default=near)
    right = _SENTENCE_END.search(text, end, far)
    return left, right.start() if right else far

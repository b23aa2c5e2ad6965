"""Checks of a grounding that need no model; each returns a verdict and a reason (DESIGN section 4).

What they cannot decide, mainly entailment, is left to the model and shown as the model's judgement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from goalmem_cli.languages.patterns import late
from goalmem_cli.languages.words import words_of
from goalmem_cli.logic.dates import dates_in, parse_date
from goalmem_cli.logic.forms import is_age, is_length
from goalmem_cli.logic.languages.values import value_in_english
from goalmem_cli.logic.normal import content_stems, content_words, name_stems, name_words, numbers, stem, words
from goalmem_cli.logic.terms import Atom, Constant, Variable


class Remembered(Protocol):
    """A fact as the checks see it.

    It has its speaker, text and time, notes on the times in its text, the turns around it, the addressee in a
    two-person chat, and who passed on a forward or quote.
    """

    @property
    def speaker(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def said(self) -> datetime | None: ...
    @property
    def times(self) -> Sequence[str]: ...
    @property
    def before(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def after(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def to(self) -> str: ...
    @property
    def forwarded_by(self) -> str: ...
    @property
    def quoted_by(self) -> str: ...


class TypeVerdict(StrEnum):
    """Whether a constant can be of a type."""

    OK = "ok"
    VIOLATED = "violated"
    UNDECIDED = "undecided"


class Anchor(StrEnum):
    """Whether the cited facts are about a constant of the subgoal."""

    ANCHORED = "anchored"
    BRIDGED = "bridged"
    ANOTHERS = "another's"


@dataclass(frozen=True, slots=True)
class TypeCheck:
    """The verdict on a binding's type, with its reason."""

    verdict: TypeVerdict
    reason: str


@dataclass(frozen=True, slots=True)
class AnchorCheck:
    """The verdict on a constant, with its reason."""

    verdict: Anchor
    reason: str


_TEMPORAL = frozenset(
    "today yesterday tomorrow tonight morning afternoon evening night noon midday midnight dawn day days week weeks "
    "weekend weekends month months year years decade century spring summer autumn fall winter season minute minutes "
    "hour hours second seconds fortnight fortnights ago before after since until last next now recently always never "
    "christmas easter birthday eve halloween thanksgiving ramadan diwali monday tuesday wednesday thursday friday "
    "saturday sunday january february march april may june july august september october november december early late "
    "mid ongoing daily weekly monthly yearly once twice while moment start end am pm o'clock past".split()
)
_MONTHS_AND_SEASONS = frozenset(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug "
    "sep sept oct nov dec month months last this next".split()
)
_QUANTITIES = frozenset(
    "few several many much most all both none no some half quarter third couple pair double triple single hundreds "
    "thousands dozens free nothing every each another".split()
)
_LENGTHS = frozenset(
    "km kilometre kilometres kilometer kilometers cm centimetre centimetres centimeter centimeters mm m metre metres "
    "meter meters mile miles ft foot feet inch inches yard yards".split()
)
_MEASURES = _LENGTHS | frozenset(
    "g gram grams kg kilo kilos kilogram kilograms ml litre litres liter liters degree degrees".split()
)
_ANSWERS = frozenset({"yes", "no", "likely", "unlikely", "probably", "possibly", "true", "false"})


def _has_number(value: str) -> bool:
    return any(character.isnumeric() for character in value) or bool(numbers(value) or set(words(value)) & _QUANTITIES)


def _is_temporal(value: str) -> bool:
    """Say whether the value names a time or is a bare number; "14 euros" is no date."""
    counted = [word for word in content_words(value) if not _has_number(word) and word not in _SHORT_DAYS]
    is_of_time = bool(dates_in(value) or {stem(w) for w in words(value)} & _STEMMED_TEMPORAL)
    return is_of_time or (_has_number(value) and not counted)


def _is_long(value: str) -> bool:
    """Say whether the value tells how long something takes, or is: "two weeks", "900 metres"."""
    return _is_temporal(value) or (_has_number(value) and bool(set(words(value)) & _LENGTHS))


def _is_amount(value: str) -> bool:
    return _has_number(value) and not set(words(value)) & _MEASURES


def _is_month(value: str) -> bool:
    return bool(dates_in(value)) or bool(set(words(value)) & _MONTHS_AND_SEASONS) or _has_number(value)


def _is_yes_or_no(value: str) -> bool:
    return bool(set(words(value)) & _ANSWERS)


_STEMMED_TEMPORAL = frozenset(map(stem, _TEMPORAL)) | _TEMPORAL
_SHORT_DAYS = frozenset("mon tue tues wed weds thu thur thurs fri sat sun".split())
"""Short weekday names that are also other words; next to a number they are days ("fri at 10")."""

DATED = frozenset({"date", "when"})
"""Type heads that accept a date and no length of time."""

_Test = Callable[[str], bool]
_DECIDABLE: Mapping[str, tuple[_Test, str]] = {
    **dict.fromkeys(("date", "time", "when", "weekday"), (_is_temporal, "nothing of time in it")),
    "duration": (_is_long, "no length in it"),
    **dict.fromkeys(("month",), (_is_month, "no month in it")),
    **dict.fromkeys(("year", "number", "count", "age"), (_has_number, "no number in it")),
    **dict.fromkeys(("price", "cost"), (_is_amount, "no sum in it")),
    **dict.fromkeys(("percentage",), (_has_number, "no amount in it")),
    **dict.fromkeys(("yes/no", "yes or no"), (_is_yes_or_no, "neither yes nor no")),
}
_NOT_COUNTS = late(r"\b(?:phone|room|model|house|serial|reference|registration|flight|track|lot) number")


def check_type(value: str, type_phrase: str) -> TypeCheck:
    """Return whether the constant can be of the type; undecided except for dates, times, numbers, prices and yes/no."""
    head = type_head(type_phrase)
    known = _DECIDABLE.get(head)
    if known is None or _NOT_COUNTS.search(type_phrase.casefold()):
        return TypeCheck(TypeVerdict.UNDECIDED, f"{type_phrase} is not a type that can be decided")
    test, lack = known
    told = value_in_english(value)
    if head == "year" and parse_date(value) is None and not dates_in(told) and not _has_number(told):
        return TypeCheck(TypeVerdict.VIOLATED, f"{value!r} is no year: {lack}")
    if head in DATED and is_length(value):
        return TypeCheck(TypeVerdict.VIOLATED, f"{value!r} is no {type_phrase}: it is a length of time")
    if head == "duration" and parse_date(value) is not None:
        return TypeCheck(TypeVerdict.VIOLATED, f"{value!r} is no {type_phrase}: it is a date")
    if test(value) or test(told) or (head in DATED and is_age(value)):
        return TypeCheck(TypeVerdict.OK, f"{value!r} can be a {type_phrase}")
    return TypeCheck(TypeVerdict.VIOLATED, f"{value!r} is no {type_phrase}: {lack}")


def type_head(type_phrase: str) -> str:
    """Return the head noun of a type in the singular: number of days -> number, monthly cost -> cost, dates -> date."""
    phrase = type_phrase.casefold().replace("_", " ").strip()
    if phrase in _DECIDABLE:
        return phrase
    chunk = re.split(r"\s(?:of|per|in|for|at|on|when|that|to|from|by|with)\s", phrase)[0].split()
    head = chunk[-1] if chunk else ""
    if (head == "length" and "time" in phrase) or (head in ("span", "period") and "time" in phrase):
        return "duration"
    return head if head in _DECIDABLE else head.removesuffix("s")


_ONE_VALUED = frozenset(
    "birthplace birthday hometown nationality surname height weight amount total sum rent salary fee distance size "
    "temperature score".split()
)
_ONE_VALUED_EVENTS = late(r"\b(?:born|birth|died|death)\b", re.IGNORECASE)


def has_one_value(atom: Atom, variable: Variable) -> bool:
    """Say whether the variable can have only one value, such as a date, an amount or a birthplace.

    Different values of such a variable are a conflict, whatever a model says. A starred variable may have several.
    """
    is_decidable = check_type("", variable.type).verdict is not TypeVerdict.UNDECIDED
    is_of_event = bool(_ONE_VALUED_EVENTS.search(str(atom)))
    return not variable.is_starred and (is_decidable or type_head(variable.type) in _ONE_VALUED or is_of_event)


_FIRST_PERSON = frozenset("i i'm i've i'd i'll my me mine myself im ive".split())
_SHARED_PERSON = frozenset("we we're we've we'd we'll us our ours ourselves you you're you've your yours u".split())
_SECOND_PERSON = frozenset("you your yours yourself u".split())
_THIRD_PERSON = frozenset("he he's she she's they they're him her his hers them their it it's".split())
_ORDER = (Anchor.ANCHORED, Anchor.BRIDGED, Anchor.ANOTHERS)
_SENTENCE_END = late(r"(?<=[.!?;])\s+")
SELF_WORDS = frozenset({"i", "me", "my", "mine", "myself", "user", "speaker", "asker"})


_YOURS = late(r"\byours?\b", re.IGNORECASE)
_OPENER = (
    "(?:Yes|Yeah|Yep|No|Nope|Ok|Okay|OK|Well|Sure|Sorry|Oh|Ah|Aha|Hey|Hi|Hello|Hmm+|Mmm*|Um|Uh|Wow|Haha|Thanks|Great|Nice"
    "|Good|Perfect|Cool|Right|True|So|And|But|Then|Also|Still|Now|Maybe|Perhaps|Actually|Honestly|Luckily|Sadly|Really"
    "|Seriously|Exactly|Absolutely|Definitely|Finally|Unfortunately|Apparently|Probably|Obviously|Anyway|Anyways|Please"
    "|Today|Tomorrow|Yesterday|Tonight|Later|However|Besides|Funny|Lol|LOL|Ugh|Alright|Yay|Congrats)"
)
_CALLED = late(
    rf"(?:^|[.!?]\s+)(?:(?!{_OPENER},)[A-Z]\w+(?: [A-Z]\w+)?,\s"
    r"|(?:Hi|Hey|Hello|Dear|Thanks|(?:Good|Great|Happy|Thank|Oh) \w+) [A-Z]\w+\b)"
    r"|,\s[A-Z]\w+(?=[.!?,]|$)|@\w"
)
"""Somebody who is addressed by name: "Ana, your solo is on Friday", "Yes Ana, your solo", not "Yes, your solo"."""


def told_as_you(fact: Remembered, text: str | None = None) -> str:
    """Return whom the fact, or the given part of its text, calls "you"; "" if nobody.

    It is the other person in a two-person chat. Among more people it is who spoke right before, if the text has "your"
    and addresses nobody by name.
    """
    part = fact.text if text is None else text
    if fact.to or fact.forwarded_by or fact.quoted_by:
        return fact.to if says_you(part) else ""
    return answered_by(fact.speaker, part, fact.before)


def answered_by(speaker: str, text: str, before: Sequence[tuple[str, str]]) -> str:
    """Return the speaker right before, if a text among several people is about something of theirs; else ""."""
    last = before[-1][0] if before else ""
    is_theirs = _YOURS.search(text) or ((told := words_of(text)) is not None and told.has(text, "you"))
    return last if last != speaker and is_theirs and not _CALLED.search(text) else ""


def says_you(text: str) -> bool:
    """Say whether a text has a pronoun of the second person."""
    is_english = any(word.partition("'")[0] in _SECOND_PERSON for word in words(text))
    return is_english or ((told := words_of(text)) is not None and told.has(text, "you"))


def check_anchor(
    constant: Constant,
    facts: Sequence[Remembered],
    people: frozenset[str],
    *,
    beside: Sequence[str] = (),
    bound: Sequence[str] = (),
) -> AnchorCheck:
    """Return whether the cited facts are about the constant.

    - Anchored: a fact or a neighbouring turn names the constant, the constant is the fact's speaker, or "you" means it.
    - Another's: `people` (the speakers in scope) include the constant, and every cited fact is another speaker's
      statement about themselves. That speaker is not in `beside`, the subgoal's other constants.
    - Bridged: the model made the link. Either no fact names the constant, or the facts that hold the values are
      another's and a further fact links them.

    `bound` are the bound values; in a longer fact, only the sentences that hold them count.
    """
    wanted = name_stems(constant.value)
    checks = [
        _named(constant, wanted, fact, people, bound) or _told_of(constant, fact, people, beside, bound)
        for fact in facts
    ]
    if not checks:
        return AnchorCheck(Anchor.BRIDGED, f"no fact names {constant.value}")
    best = min(checks, key=lambda check: _ORDER.index(check.verdict))
    values = frozenset(part for value in bound for part in content_stems(value))
    holding = [check for fact, check in zip(facts, checks, strict=True) if values & content_stems(fact.text)]
    foreign = [check for check in holding if check.verdict is Anchor.ANOTHERS]
    if best.verdict is Anchor.ANCHORED and foreign and len(foreign) == len(holding):
        return AnchorCheck(Anchor.BRIDGED, f"{foreign[0].reason}; another fact links them")
    return best


def _named(
    constant: Constant, wanted: frozenset[str], fact: Remembered, people: frozenset[str], bound: Sequence[str]
) -> AnchorCheck | None:
    """Return how a fact, its speaker or its neighbours name a constant; None if they do not."""
    person = _person(constant.value, people)
    if wanted & content_stems(fact.text) or (person is not None and person == _person(fact.speaker, people)):
        return AnchorCheck(Anchor.ANCHORED, f"{constant.value} is named in the fact")
    if wanted and wanted <= content_stems(told_as_you(fact, _telling(fact.text, bound))):
        return AnchorCheck(Anchor.ANCHORED, f'{constant.value} is who the fact calls "you"')
    if wanted & content_stems(" ".join(text for _, text in (*fact.before, *fact.after))):
        return AnchorCheck(Anchor.ANCHORED, f"{constant.value} is named beside the fact")
    return None


def _told_of(
    constant: Constant, fact: Remembered, people: frozenset[str], beside: Sequence[str], bound: Sequence[str]
) -> AnchorCheck:
    """Judge by its pronouns a fact that does not name the constant."""
    person, speaker = _person(constant.value, people), _person(fact.speaker, people)
    if person is None or speaker is None:
        return AnchorCheck(Anchor.BRIDGED, f"no cited fact names {constant.value}")
    if any(_person(other, people) == speaker for other in beside):
        return AnchorCheck(Anchor.ANCHORED, f"{constant.value} takes part in what {fact.speaker} tells")
    part = _telling(fact.text, bound)
    said, told = set(words(part)), words_of(fact.text)
    is_own = bool(said & _FIRST_PERSON) or (told is not None and told.has(part, "i"))
    is_shared = bool(said & (_SHARED_PERSON | _THIRD_PERSON)) or (told is not None and told.has(part, "you", "others"))
    if is_shared or not is_own:
        return AnchorCheck(Anchor.ANCHORED, f"{constant.value} takes part in the conversation")
    return AnchorCheck(Anchor.ANOTHERS, f"{fact.speaker} speaks of themselves, not of {constant.value}")


def _telling(text: str, bound: Sequence[str]) -> str:
    """Return the sentences of the text that hold one of the values, or the whole text if none does."""
    wanted = frozenset(stem for value in bound for stem in content_stems(value))
    return " ".join(part for part in _SENTENCE_END.split(text) if wanted & content_stems(part)) or text


def _person(name: str, people: frozenset[str]) -> str | None:
    """Return the person in `people` whose full or partial name this is, or None."""
    mine = name_words(name)
    return next((person for person in sorted(people) if mine and mine <= content_words(person)), None)

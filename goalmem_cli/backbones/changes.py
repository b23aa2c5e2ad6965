"""Find changes that a text states, by its words: "we are back in York", "no longer", "chess moved to Thursdays".

English only: it finds nothing in another language. A false change misleads, while a missed one costs little. So each
kind of change must share words with the earlier text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.normal import content_stems, stem

_LESS = frozenset(map(stem, (
    "i i'm i've i'd i'll im ive you you're he he's she she's we we're we've they they're it it's that's there's me us "
    "him them not don't didn't doesn't isn't can't couldn't won't wasn't so but just if then than when what who how "
    "where which there here have has had do does did done will would can could should may might must get got go come "
    "make take say tell know think see look want like mean call out up down off back over after before now still also "
    "too very much more most less all no yes ok oh well good great nice bad thing time day week month year today "
    "yesterday tomorrow morning evening night way last next first new old only even again never ever always because "
    "while until since let need put give own another other both lot bit little few many one two every each really "
    "actually anyway longer any anymore instead stop quit give gave up moved back n w u ur r im btw lol live place "
    "same why myself yourself"
).split()))  # fmt: skip
"""Words too common to show what a text is about."""
_KEPT_TEXTS = 2048
_SENTENCES = late(r"(?<=[.!?;…])\s+|\n+")
_WEEKDAY = late(r"\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE)
_MONTH = late(
    r"(?:\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? )?"
    r"\b(january|february|march|april|(?-i:May)|june|july|august|september|october|november|december)\b"
    r"(?: (\d{1,2})(?:st|nd|rd|th)?\b)?"
    r"|\b(?:on|to|for|\w+day,?) the (\d{1,2})(?:st|nd|rd|th)\b"
    r"(?!-| (?!(?:at|in|and|but|now|instead|so|then|of|because|since|with)\b)\w)",
    re.IGNORECASE,
)
_HOUR = r"(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_CLOCK = late(
    rf"\b(half past {_HOUR})\b|\bat ({_HOUR}(?:[:.]\d\d)?)\b|\b(\d{{1,2}}(?:[:.]\d\d)?) ?[ap]\.?m\b", re.IGNORECASE
)
_KINDS = {"weekday": _WEEKDAY, "month": _MONTH, "clock": _CLOCK}
_FEW = 4
_LONGEST = 600
"""The longest sentence that is searched, in characters: the patterns below take time quadratic in its length."""
_OBJECT = r"(?P<object>(?:(?!(?:and|but|so|because|for|since|after|when|n)\b)[\w’'-]+\s*){1,5})"
_SUBJECT = r"(?P<object>(?:[\w’'-]+\s+){1,4}?)"
_OWN = r"(?=(?:my|our|the|his|her|their|that|this|it|them)\b)"
_ENDINGS = tuple(late(pattern, re.IGNORECASE) for pattern in (
    rf"\b(?P<cue>(?:gave|given|giving) up(?: on)?)\s+(?!(?:a|an|and|at|in|though|to)\b){_OBJECT}",
    rf"\b(?P<cue>quit|(?:am|['’]m|is|are|was|were) done with)\s+(?!(?:a|an|and)\b){_OBJECT}",
    rf"\b(?P<cue>stopped(?: with)?)\s+(?=\w+ing\b|(?<=with )){_OBJECT}",
    r"\b(?P<cue>sold|cancel+ed|called off|got rid of|dropped out of|resigned from|retired from|gave away|threw out|"
    r"broke up with|sent back)\s+" + _OWN + _OBJECT,
    rf"\b(?P<cue>(?:have|['’]ve) left)\s+(?=(?:my|our|the)\b|(?-i:[A-Z])){_OBJECT}",
    rf"{_SUBJECT}\b(?P<cue>(?:is|are|was|were|ha(?:s|ve) been|['’]s|got) (?:cancel+ed|called off|scrapped))\b",
    rf"{_SUBJECT}\b(?P<cue>did(?: not|n['’]t) work out|fell through|came to nothing)\b",
    r"\b(?P<cue>(?:switched|changed|migrated)(?: over)? from)\s+(?P<object>(?:(?!to\b)[\w’'-]+\s+){1,4})(?=to\b)",
))  # fmt: skip
"""Patterns for what ended or was given up; the group `object` holds its name."""
_NO_MORE = late(r"\bno longer\b|(?:\bnot\b|n['’]t\b)[^.!?;]{0,50}\bany ?(?:more|longer)\b", re.IGNORECASE)
_SHIFTED = late(
    r"\b(?:moved|switched|changed|shifted|postponed|rescheduled|pushed(?: back)?|put off|brought forward)"
    r"(?: (?:it|us|them|that))?(?: back)? (?:to|until|till)\b",
    re.IGNORECASE,
)
_NOW = late(r"\bnow(?=[.!,]|$)|(?:['’](?:s|m|re)|\bis|\bare|\bam) now\b|\bnow (?=\w+s\b)", re.IGNORECASE)
_QUOTED = late(
    r"\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»"
    r"|(?<!\w)['‘](?!(?:em|cause|til|bout|n|tis|twas)\b)(?=\w)[^\n]{0,300}?[\w.,!?…]['’](?!\w)",
    re.IGNORECASE,
)
_SAID = late(
    r"(?<!\bI )(?<!['’]ve )\b(?:says?|said|told|tells|wrote|according to|thinks?|claims?|heard|mention(?:s|ed)|"
    r"reckons?)\b|[\"“”«»]",
    re.IGNORECASE,
)
_OPENS = late(
    r"(?<!\bI )\b(?:says?|said|told \w+|wrote|writes|texted)\s*:|(?:^|(?<=[.!?] ))(?:imagine|suppose|pretend)\b",
    re.IGNORECASE,
)
"""What follows to the end of the line is somebody else's, or not real."""
_ASKS = late(r"\?[\s)\"'”]*$")
_UNREAL = late(
    r"\b(?:if|would|could|should|might|maybe|perhaps|let['’]?s|wish|imagine|suppose|pretend|almost|nearly|unless|"
    r"in case|in (?:the|a|my|this) (?:novel|book|story|film|movie|game|play|song)|whether|dream\w*|"
    r"jok(?:e|ing)|kidding|plan(?:s|ned)? to|will have|feared)\b|['’](?:d|ll have)\b",
    re.IGNORECASE,
)
_NO_NEWS = late(
    r"\b(?:(?:by|until|till|for|right|even) now|now that|still|never|used to|wait any longer|sav\w+ you)\b",
    re.IGNORECASE,
)
_NEGATED = late(r"(?:n['’]t|\bnot|\bnever|\bwithout)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)
_DOER = late(
    r"\b(?:(?P<pronoun>he|she|they)|(?:my|our|his|her|their|the) (?P<who>\w+)|"
    r"(?!We|Just|Finally|Already|Also|Now|So|And|But|Then|Have|Has|Had)(?-i:(?P<name>[A-Z]\w+)))"
    r"(?: (?:has|have|had|is|are|was|were|just|finally|also))*\s+$",
    re.IGNORECASE,
)
"""The subject of a change, if it is not the speaker."""
_SPEAKER = late(r"\b(?:I|we)\b", re.IGNORECASE)
_NAME = late(r"(?<=\s)[A-Z]\w+")
_ANY = (
    "now", "more", "back", "left", "call", "work", "gav", "giv", "mov", "sent", "put", "push", "liv", "start", "settl",
    "based", "employ", "longer", "quit", "done with", "stopped", "sold", "cancel", "rid of", "dropped", "threw",
    "broke", "fell", "came to", "scrapped", "switch", "chang", "shift", "postpon", "resched", "brought", "migrat",
    "resign", "retire", "job",
)  # fmt: skip
"""Parts of words. Every sentence that states a change has at least one of them."""
_CLAUSES = late(r"(?<=[,:])\s+|\s+(?=(?:and|but|so|because|since|where|which|who)\s)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Change:
    """A change that a sentence states in the words `cue`.

    It makes an earlier text out of date if both share at least `least` of the stems `about`. Where the change is to
    other times, `values`, one is enough, but the earlier text must have another value of such a kind: another weekday,
    say. `is_clear` means that the sentence alone shows a change. `doer` is the stem of the person who made the change,
    blank for the speaker; the earlier text must name that person. For "he", it must not be about its own speaker.
    """

    cue: str
    about: frozenset[str]
    least: int
    values: tuple[tuple[str, frozenset[str]], ...] = ()
    is_clear: bool = True
    doer: str = ""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier text states as a fact, and the stems that show what it is about."""

    text: str
    told: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Earlier:
        """Return what the text states."""
        real = _real(text)
        return cls(" ".join(real), frozenset().union(*(topic(each) for each in real if not _NO_MORE.search(each))))

    def is_ended_by(self, change: Change) -> bool:
        """Say whether the change makes this earlier text out of date, by the rules that `Change` gives."""
        if _SPEAKER.search(self.text) if change.doer == "he" else change.doer and change.doer not in self.told:
            return False
        shared = change.about & self.told
        if not change.values:
            return len(shared) >= change.least
        before = dict(times_named(self.text))
        return bool(shared) and any(_differ(before.get(kind, values), values) for kind, values in change.values)


def may_tell_change(text: str) -> bool:
    """Say whether a text may state a change; a fast check that rules out most texts."""
    return any(map(text.lower().__contains__, _ANY))


@lru_cache(maxsize=_KEPT_TEXTS)  # the queries of one question find the same turns
def changes_in(text: str) -> tuple[Change, ...]:
    """Return the changes that a text states, in their order."""
    told = (each for each in stated(text, may_tell_change) if not _NO_NEWS.search(each))
    return tuple(change for sentence in told for change in _changes(sentence))


@lru_cache(maxsize=_KEPT_TEXTS)
def stated(text: str, among: Callable[[str], bool] | None = None) -> tuple[str, ...]:
    """Return the sentences in which the speaker states a fact: no quotes, and nothing that somebody else says.

    `among` is a fast check of sentences; those that fail it are left out before the slower ones.
    """
    lines = [_OPENS.split(line, maxsplit=1)[0] for line in text.splitlines() if not line.lstrip().startswith(">")]
    return tuple(each for each in _real(_QUOTED.sub('""', "\n".join(lines)), among) if not _SAID.search(each))


def _real(text: str, among: Callable[[str], bool] | None = None) -> list[str]:
    """Return the sentences that state a fact, whoever does: no questions, nothing hypothetical."""
    sentences = (each for each in _SENTENCES.split(text) if len(each) <= _LONGEST)
    return [each for each in filter(among or bool, sentences) if not _ASKS.search(each) and not _UNREAL.search(each)]


def _changes(sentence: str) -> Iterable[Change]:
    """Yield what a sentence says has ended, moved or begun now."""
    clauses = _CLAUSES.split(sentence)
    for clause in clauses:
        if found := _NO_MORE.search(clause):
            ended = topic(clause)
            yield Change(found[0], ended, 1 if len(ended) <= _FEW else 2, doer=_doer(clause[: found.start()]))
    yield from _ended(sentence)
    if found := _SHIFTED.search(sentence):
        to = _CLAUSES.split(sentence[found.start() :])[0]
        yield Change(found[0], topic(sentence[: found.start()]) or topic(sentence), 2, times_named(to))
    for clause in clauses:
        if (found := _NOW.search(clause)) and (times := times_named(clause)):
            named = content_stems(" ".join(match[0] for kind in _KINDS.values() for match in kind.finditer(clause)))
            thing = topic(_NAME.sub("", clause)) - named  # people do more than one thing
            yield Change(found[0], thing or topic(sentence), 1, times, is_clear=False)


def _ended(sentence: str) -> Iterable[Change]:
    for pattern in _ENDINGS:
        for found in pattern.finditer(sentence):
            if _NEGATED.search(sentence[: found.start("cue")]):
                continue
            if ended := topic(found["object"]):
                is_clear = not found["cue"].lower().startswith("stopped")
                is_done = found.start("object") > found.start("cue")  # "Ana sold the van", not "the van was sold"
                doer = _doer(sentence[: found.start("cue")]) if is_done else ""
                yield Change(found["cue"], ended, 1, is_clear=is_clear, doer=doer)
            elif before := topic(sentence[: found.start("cue")]):
                yield Change(found["cue"], before, min(2, len(before)))  # "Tragfix had no van, so I cancelled them"


def _doer(before: str) -> str:
    """Return who made the change, from the words before the cue: "he", a stem, or "" if it may be the speaker."""
    found = _DOER.search(before)
    return "" if found is None else "he" if found["pronoun"] else stem((found["who"] or found["name"]).casefold())


def _differ(one: frozenset[str], other: frozenset[str]) -> bool:
    return not (one <= other or other <= one)


def topic(text: str) -> frozenset[str]:
    """Return the stems that show what a text is about: no common words, no numbers, no single letters."""
    return frozenset(word for word in content_stems(text) - _LESS if not word[:1].isdigit() and len(word) > 1)


def times_named(text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return the times that the text names as (kind, values): weekdays, months, days of a month as "date", clocks."""
    found: dict[str, set[str]] = {}
    for kind, pattern in _KINDS.items():
        for value in (each.casefold() for match in pattern.finditer(text) for each in match.groups() if each):
            found.setdefault("date" if kind == "month" and value.isdigit() else kind, set()).add(value)
    return tuple((kind, frozenset(values)) for kind, values in found.items())

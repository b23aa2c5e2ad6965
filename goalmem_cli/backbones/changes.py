"""Find changes that a text states, by its words: "we are back in York", "no longer", "chess moved to Thursdays".

English only: it finds nothing in another language. A false change misleads, while a missed one costs little. So each
kind of change must share words with the earlier text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from goalmem_cli.logic.normal import content_stems, stem

_LESS = frozenset(map(stem, (
    "i i'm i've i'd i'll im ive you you're he he's she she's we we're we've they they're it it's that's there's me us "
    "him them not don't didn't doesn't isn't can't couldn't won't wasn't so but just if then than when what who how "
    "where which there here have has had do does did done will would can could should may might must get got go come "
    "make take say tell know think see look want like mean call out up down off back over after before now still also "
    "too very much more most less all no yes ok oh well good great nice bad thing time day week month year today "
    "yesterday tomorrow morning evening night way last next first new old only even again never ever always because "
    "while until since let need put give own another other both lot bit little few many one two every each really "
    "actually anyway longer any anymore instead stop quit give gave up moved back n w u ur r im btw lol"
).split()))  # fmt: skip
"""Words too common to show what a text is about."""
_SENTENCES = re.compile(r"(?<=[.!?;…])\s+|\n+")
_WEEKDAY = re.compile(r"\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE)
_MONTH = re.compile(
    r"\b(january|february|march|april|(?-i:May)|june|july|august|september|october|november|december)\b", re.IGNORECASE
)
_CLOCK = re.compile(
    r"\bat (?:half past )?(\d{1,2}(?:[:.]\d\d)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
    r"|\b(\d{1,2}(?:[:.]\d\d)?) ?[ap]\.?m\b",
    re.IGNORECASE,
)
_KINDS = {"weekday": _WEEKDAY, "month": _MONTH, "clock": _CLOCK}
_FEW = 4
_LONGEST = 600
"""The longest sentence that is searched, in characters: the patterns below take time quadratic in its length."""
_PLACE = (
    r"(?!(?:January|February|March|April|May|June|July|August|September|October|November|December|\w+day)\b)"
    r"(?-i:(?P<place>[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)?))\b(?! (?:for|until|till)\b)"
)
_ADVERBS = r"(?:(?:now|just|all|both|finally|already|actually|happily|here|over|down|up|out|home|away)\s+){0,2}"
_WE = r"\b(?:I|we)(?:\s+(?:have|am|are)|['’](?:ve|m|re))?\s+"
_HOMES = re.compile(
    rf"(?:{_WE}|^(?=(?:moved|back)\b)){_ADVERBS}(?:moved|live|living|settled|based|back)\s+{_ADVERBS}(?:back\s+)?"
    rf"(?:to|in|into)\s+{_PLACE}(?P<within>(?:, (?-i:[A-Z][\w’'-]+))*)",
    re.IGNORECASE,
)
_WORKPLACES = re.compile(
    rf"{_WE}{_ADVERBS}(?:work|working|started|employed)\s+{_ADVERBS}(?:at|for)\s+{_PLACE}", re.IGNORECASE
)
_OBJECT = r"(?P<object>(?:(?!(?:and|but|so|because|for|since|after|when|n)\b)[\w’'-]+\s*){1,5})"
_SUBJECT = r"(?P<object>(?:[\w’'-]+\s+){1,4}?)"
_OWN = r"(?=(?:my|our|the|his|her|their|that|this|it|them)\b)"
_ENDINGS = tuple(re.compile(pattern, re.IGNORECASE) for pattern in (
    rf"\b(?P<cue>(?:gave|given|giving) up(?: on)?)\s+(?!(?:a|an|and|at|in|though|to)\b){_OBJECT}",
    rf"\b(?P<cue>quit|(?:am|['’]m|is|are|was|were) done with)\s+(?!(?:a|an|and)\b){_OBJECT}",
    rf"\b(?P<cue>stopped(?: with)?)\s+(?=\w+ing\b|(?<=with )){_OBJECT}",
    r"\b(?P<cue>sold|cancel+ed|called off|got rid of|dropped out of|gave away|threw out|broke up with|sent back)\s+"
    + _OWN + _OBJECT,
    rf"\b(?P<cue>(?:have|['’]ve) left)\s+(?=(?:my|our|the)\b|(?-i:[A-Z])){_OBJECT}",
    rf"{_SUBJECT}\b(?P<cue>(?:is|are|was|were|ha(?:s|ve) been|['’]s|got) (?:cancel+ed|called off|scrapped))\b",
    rf"{_SUBJECT}\b(?P<cue>did(?: not|n['’]t) work out|fell through|came to nothing)\b",
    rf"\b(?P<cue>instead of)\s+{_OBJECT}",
))  # fmt: skip
"""Patterns for what ended or was given up; the group `object` holds its name."""
_WEAK = ("instead", "stopped")
_NO_MORE = re.compile(r"\bno longer\b|(?:\bnot\b|n['’]t\b)[^.!?;]{0,50}\bany ?(?:more|longer)\b", re.IGNORECASE)
_SHIFTED = re.compile(
    r"\b(?:moved|switched|changed|shifted|postponed|rescheduled|pushed(?: back)?|put off|brought forward)"
    r"(?: (?:it|us|them|that))?(?: back)? (?:to|until|till)\b",
    re.IGNORECASE,
)
_NOW = re.compile(r"\bnow(?=[.!,]|$)|(?:['’](?:s|m|re)|\bis|\bare|\bam) now\b|\bnow (?=\w+s\b)", re.IGNORECASE)
_ASKS = re.compile(r"\?[\s)\"'”]*$")
_UNREAL = re.compile(
    r"\b(?:if|would|could|should|might|maybe|perhaps|let['’]?s|wish|imagine|almost|nearly|unless|"
    r"in case|whether|dream\w*|jok(?:e|ing)|kidding|plan(?:s|ned)? to|will have|feared)\b|['’](?:d|ll have)\b",
    re.IGNORECASE,
)
_NO_NEWS = re.compile(
    r"\b(?:(?:by|until|till|for|right|even) now|now that|still|never|used to|wait any longer|sav\w+ you)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"(?:n['’]t|\bnot|\bnever|\bwithout)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)
_DOER = re.compile(
    r"\b(?:(?P<pronoun>he|she|they)|(?:my|our|his|her|their|the) (?P<who>\w+)|"
    r"(?!We|Just|Finally|Already|Also|Now|So|And|But|Then|Have|Has|Had)(?-i:(?P<name>[A-Z]\w+)))"
    r"(?: (?:has|have|had|is|are|was|were|just|finally|also))*\s+$",
    re.IGNORECASE,
)
"""The subject of a change, if it is not the speaker."""
_SPEAKER = re.compile(r"\b(?:I|we)\b", re.IGNORECASE)
_NAME = re.compile(r"(?<=\s)[A-Z]\w+")
_ANY = (
    "now", "more", "back", "left", "call", "work", "gav", "giv", "mov", "sent", "put", "push", "liv", "start", "settl",
    "based", "employ", "longer", "quit", "done with", "stopped", "sold", "cancel", "rid of", "dropped", "threw",
    "broke", "fell", "came to", "scrapped", "instead", "switch", "chang", "shift", "postpon", "resched", "brought",
)  # fmt: skip
"""Parts of words. Every text that states a change has at least one of them."""
_CLAUSES = re.compile(r"(?<=[,:])\s+|\s+(?=(?:and|but|so|because)\s)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Change:
    """A change that a sentence states in the words `cue`.

    It makes an earlier text out of date if both share at least `least` of the stems `about`. One shared stem is enough
    if the earlier text has another value of a kind in `values`: another weekday, say. `is_clear` means that the
    sentence alone shows a change. `doer` is the stem of the person who made the change, blank for the speaker; the
    earlier text must name that person. For "he", the earlier text must not be about its own speaker.
    """

    cue: str
    about: frozenset[str]
    least: int
    values: tuple[tuple[str, frozenset[str]], ...] = ()
    is_clear: bool = True
    doer: str = ""


def moves_on(later: str, earlier: str) -> str:
    """Return the words of the later text that make the earlier one out of date; "" if there are none."""
    if cue := _elsewhere(later, earlier):
        return cue
    changes = changes_in(later)
    told = _told(earlier) if changes else frozenset()
    return next((change.cue for change in changes if _is_of(change, earlier, told)), "")


def may_tell_change(text: str) -> bool:
    """Say whether a text may state a change; a fast check that rules out most texts."""
    lowered = text.lower()
    return any(part in lowered for part in _ANY)


def told_change(text: str) -> str:
    """Return the first words of a text that show a change without an earlier text; "" if there are none."""
    return next((each.cue for each in changes_in(text) if each.is_clear), "") if may_tell_change(text) else ""


def _elsewhere(later: str, earlier: str) -> str:
    """Return the later text's words on where its speaker lives or works, if the earlier text names another place."""
    for now, before in zip(_places(later), _places(earlier), strict=True):
        places = frozenset[str]().union(*(named for _, named in before))
        if places and now and not now[-1][1] & places:
            return now[-1][0]
    return ""


@lru_cache(maxsize=1024)
def _places(text: str) -> tuple[tuple[tuple[str, frozenset[str]], ...], ...]:
    """Return two tuples, for homes and for workplaces, of (matched words, place and what it lies in, in lower case)."""
    sentences = real_sentences(text) if may_tell_change(text) else ()
    return tuple(
        tuple((found[0], _named_in(found)) for each in sentences for found in pattern.finditer(each))
        for pattern in (_HOMES, _WORKPLACES)
    )


def _named_in(found: re.Match[str]) -> frozenset[str]:
    within = found.groupdict().get("within") or ""
    return frozenset(each.strip().casefold() for each in (found["place"], *within.split(",")) if each.strip())


@lru_cache(maxsize=1024)
def changes_in(text: str) -> tuple[Change, ...]:
    """Return the changes that the text states, in the order of its sentences."""
    told = (each for each in real_sentences(text) if not _NO_NEWS.search(each))
    return tuple(change for sentence in told for change in _changes(sentence))


@lru_cache(maxsize=1024)
def real_sentences(text: str) -> tuple[str, ...]:
    """Return the sentences that state a fact: no questions, nothing hypothetical."""
    return tuple(
        each
        for each in _SENTENCES.split(text)
        if len(each) <= _LONGEST and not _ASKS.search(each) and not _UNREAL.search(each)
    )


def _changes(sentence: str) -> Iterable[Change]:
    """Yield what a sentence says has ended, moved or begun now."""
    about = topic(sentence)
    if found := _NO_MORE.search(sentence):
        yield Change(found[0], about, 1 if len(about) <= _FEW else 2, doer=_doer(sentence[: found.start()]))
    for pattern in _ENDINGS:
        for found in pattern.finditer(sentence):
            if _NEGATED.search(sentence[: found.start("cue")]):
                continue
            if ended := topic(found["object"]):
                is_clear = not found["cue"].lower().startswith(_WEAK)
                is_done = found.start("object") > found.start("cue")  # "Ana sold the van", not "the van was sold"
                doer = _doer(sentence[: found.start("cue")]) if is_done else ""
                yield Change(found["cue"], ended, 1, is_clear=is_clear, doer=doer)
            elif before := topic(sentence[: found.start("cue")]):
                yield Change(found["cue"], before, min(2, len(before)))  # "Tragfix had no van, so I cancelled them"
    if found := _SHIFTED.search(sentence):
        to = _CLAUSES.split(sentence[found.start() :])[0]
        yield Change(found[0], topic(sentence[: found.start()]) or about, 2, times_named(to))
    for clause in _CLAUSES.split(sentence):
        if found := _NOW.search(clause):
            thing = topic(_NAME.sub("", clause)) - _named_times(clause)  # people do more than one thing
            yield Change(found[0], thing or about, 2, times_named(clause), is_clear=False)


def _doer(before: str) -> str:
    """Return who made the change, from the words before the cue: "he", a stem, or "" if it may be the speaker."""
    found = _DOER.search(before)
    return "" if found is None else "he" if found["pronoun"] else stem((found["who"] or found["name"]).casefold())


def _is_of(change: Change, earlier: str, told: frozenset[str]) -> bool:
    """Say whether a change concerns what an earlier text with the stems `told` says."""
    if _SPEAKER.search(earlier) if change.doer == "he" else change.doer and change.doer not in told:
        return False
    shared = change.about & told
    if len(shared) >= change.least:
        return True
    before = dict(times_named(earlier))
    return bool(shared) and any(before.get(kind, values) - values for kind, values in change.values)


@lru_cache(maxsize=1024)
def _told(text: str) -> frozenset[str]:
    """Return the stems of the text's statements, without questions and without statements that something ended."""
    return frozenset().union(*(topic(each) for each in real_sentences(text) if not _NO_MORE.search(each)))


def topic(text: str) -> frozenset[str]:
    """Return the stems that show what a text is about: no common words, no numbers, no single letters."""
    return frozenset(word for word in content_stems(text) - _LESS if not word[:1].isdigit() and len(word) > 1)


def _named_times(text: str) -> frozenset[str]:
    return content_stems(" ".join(match[0] for pattern in _KINDS.values() for match in pattern.finditer(text)))


def times_named(text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return the times that the text names as (kind, values); kinds without a value are left out."""
    found = {
        kind: frozenset(each.casefold() for match in pattern.finditer(text) for each in match.groups() if each)
        for kind, pattern in _KINDS.items()
    }
    return tuple((kind, values) for kind, values in found.items() if values)

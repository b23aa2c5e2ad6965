"""Split turns into clauses, to find which time expression dates which statement.

A clause ends with its sentence, or where a conjunction or a comma starts a new subject or tense. A piece without a verb
stays with the clause before it. So does a piece with "when", "while" or "as", which gives the time of the rest. In
doubt a clause ends, so that one statement is not dated by the time of another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum

from goalmem_cli.logic.dates import spoken_in
from goalmem_cli.logic.normal import BASES, content_stems
from goalmem_cli.logic.relative import Expression
from goalmem_cli.records import Turn

_TITLE = r"(?<!\bmr)(?<!\bmrs)(?<!\bms)(?<!\bdr)(?<!\bst)(?<!\bprof)(?<!\bvs)(?<![ap]\.m)"
_SENTENCE = re.compile(rf"{_TITLE}[.!?…]+[\"')\]]*(?=\s|$)|[\n;()\[\]]|\s[-–—]+\s|—", re.IGNORECASE)
_WORD = r"[^\W\d_]+(?:['’][^\W\d_]+)?"
_ADVERB = (
    r"(?:also|always|already|even|finally|honestly|just|luckily|maybe|now|only|really|so|still|then|usually|\w+ly)"
)
_PRONOUN = r"(?:i|we|he|she|they|it|you|there|this|that|everyone|everybody|nobody|someone|somebody|one of (?:them|us))"
_REFERRING = re.compile(r"\b(?:he|she|it|they|him|her|them|his|their|its|this|that|who|which|one)\b", re.IGNORECASE)
_OWNED = r"(?:my|our|his|her|their|your|its)"
_LEAD = rf"(?:{_ADVERB},?\s+)*"
_AUXILIARY = (
    r"am|is|are|was|were|be|been|has|have|had|do|does|did|will|would|can|could|should|shall|may|might|must|gonna|"
    r"won't|can't|don't|doesn't|didn't|isn't|aren't|wasn't|weren't|haven't|hasn't|hadn't|couldn't|wouldn't"
)
_PAST = "|".join(sorted(BASES.keys() - {"going"}))
_BASE = "|".join(sorted(set(BASES.values())))
_FINITE = re.compile(
    rf"\b(?:{_AUXILIARY}|{_PAST}|(?:{_BASE})s?|\w{{2,}}ed)\b|['’](?:m|re|ve|ll|d)\b|\b(?:i|we|they|you|he|she|it)\s+"
    rf"(?:\w+ly\s+)?{_WORD}|\b{_OWNED}\s+(?:\w+\s+)?\w*[^\Ws]\s+\w{{2,}}s\b|\b(?:that|there|it|he|she|what|who)['’]s\b",
    re.IGNORECASE,
)
_NAMED_DOES = re.compile(r"\b[A-Z]\w+ \w{2,}s\b")
_OPENS = re.compile(
    r"(?P<comma>,)\s*(?:(?P<linked>and|but|or|so|yet|plus|then|because|cause|though|although|whereas|unless|if|before|"
    r"after|until|till|since|once|who|which|where|while|when|as)\b)?|\b(?P<word>and|but|so|yet|plus|because|though|"
    r"although|whereas|unless|if|before|after|until|till|since|once)\b",
    re.IGNORECASE,
)
_RELATIVE = frozenset(("who", "which", "where"))
_OF_CLAUSES = frozenset("but so yet because cause though although whereas unless if".split())
_SAME_TIME = frozenset(("when", "while", "as"))
_OPENED = re.compile(rf"\s*(?:and\s+|but\s+)?{_LEAD}(?P<word>{_WORD})", re.IGNORECASE)
_SUBJECT = re.compile(rf"\s*{_LEAD}{_PRONOUN}\b(?!\s*(?:[,.!?]|$))", re.IGNORECASE)
_NOUN = re.compile(rf"\s*{_LEAD}(?:{_OWNED}|the|a|an|these|those|some|all|both|[A-Z]\w+)\b")
_FUTURE = re.compile(r"\b(?:will|shall|won't|gonna|going\s+to|about\s+to)\b|['’]ll\b", re.IGNORECASE)
_DONE = re.compile(rf"\b(?:was|were|did|had|{_PAST}|\w{{2,}}ed)\b", re.IGNORECASE)
_IS = re.compile(r"\b(?:am|is|are|has|have|do|does|can|may|must|should)\b|['’](?:m|re|ve)\b", re.IGNORECASE)
_VERB_FIRST = re.compile(
    rf"\s*{_LEAD}(?:(?:{_AUXILIARY}|{_PAST}|\w{{2,}}ed)\b|{_WORD}\s+"
    rf"(?:at|in|on|to|with|for|the|a|an|it|them|him|{_OWNED})\b)",
    re.IGNORECASE,
)
_LEADING_TIME = re.compile(r"\s*(?:(?:on|in|at|by|for|during|since|until|the)\s+)*\Z", re.IGNORECASE)
_EMPTY = frozenset(
    "it this that he she they we i you was is be happen so yes no yeah yep nope oh ok okay well finally actually "
    "really just about around maybe think probably there then when what which where who do not".split()
)
_JUST = re.compile(
    rf"\b(?:just\s+(?:{_PAST}|\w{{2,}}ed)|(?:have|has|['’](?:ve|s))\s+(?:only\s+)?just\s+\w+)\b", re.IGNORECASE
)


class _Tense(StrEnum):
    PAST = "past"
    PRESENT = "present"
    FUTURE = "future"


@dataclass(frozen=True, slots=True)
class Spoken:
    """A time expression: its words as said, and what they mean."""

    words: str
    meaning: Expression


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause, with its time expressions and the day on which it was said."""

    text: str
    spoken: tuple[Spoken, ...] = ()
    day: date | None = None

    def __add__(self, other: Clause) -> Clause:
        return Clause(f"{self.text} {other.text}".strip(), self.spoken + other.spoken, other.day or self.day)

    @property
    def is_just_done(self) -> bool:
        """Whether it says that somebody "just" did or has just done something."""
        return _JUST.search(self.text) is not None

    @property
    def stems(self) -> frozenset[str]:
        """The stems of its words, without time expressions and words that mean nothing alone."""
        text = self.text
        for spoken in self.spoken:
            text = text.replace(spoken.words, " ")
        return content_stems(text) - _EMPTY if re.search(r"\w", text) else frozenset()


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of a sentence; `goes_on` says whether it shares its subject with the piece before."""

    start: int
    end: int
    goes_on: bool = False


def clauses_of(turns: Sequence[Turn]) -> list[Clause]:
    """Return the clauses of the turns that have content, in order, each with the time expressions that date it.

    "That was last week" dates the clause before it; "Last week!" at the very beginning dates the clause after it. The
    first clause after a question answers it and is joined with it.
    """
    found: list[Clause] = []
    for turn in turns:
        own = _of_turn(turn)
        if own and found and found[-1].text.endswith("?"):
            found[-1:] = [found[-1] + own.pop(0)]
        found += own
    return _with_times_apart(found)


def _of_turn(turn: Turn) -> list[Clause]:
    text, said = turn.text, turn.local
    spoken, day = spoken_in(text, said), None if said is None else said.date()
    pieces = [piece for sentence in _sentences(text) for piece in _pieces(text, sentence, spoken)]
    return [replace(_clause(text, piece, spoken), day=day) for piece in pieces]


def _with_times_apart(clauses: Sequence[Clause]) -> list[Clause]:
    """Return the clauses; those of times only are merged into a neighbour."""
    kept: list[Clause] = []
    waiting = Clause("")
    for clause in clauses:
        if clause.stems:
            kept.append(replace(clause, spoken=waiting.spoken + clause.spoken))
            waiting = Clause("")
        elif kept:
            kept[-1] = replace(kept[-1], spoken=kept[-1].spoken + clause.spoken)
        else:
            waiting += clause
    return kept or [waiting]


def telling(told: str, clauses: Sequence[Clause]) -> Clause | None:
    """Return the clause that says what a statement says: the one that shares most words with it.

    Words that no other clause shares count first. A clause with a pronoun such as "she" or "it" also claims the shared
    words of the clause before it. Returns None if several clauses, or none, share most; a single clause is returned.
    """
    if len(clauses) == 1:
        return clauses[0]
    wanted = content_stems(told)
    shared = [{stem for stem in wanted if any(_same(stem, own) for own in clause.stems)} for clause in clauses]
    meant = [
        own | shared[place - 1] if place and _REFERRING.search(clause.text) else own
        for place, (own, clause) in enumerate(zip(shared, clauses, strict=True))
    ]
    scores = []
    for place, own in enumerate(shared):
        others = set().union(*(each for other, each in enumerate(meant) if other != place))
        scores.append((len(own - others), len(own)))
    best = max(scores, default=(0, 0))
    return clauses[scores.index(best)] if best > (0, 0) and scores.count(best) == 1 else None


def _same(left: str, right: str) -> bool:
    """Say whether two stems are equal or one is derived from the other, such as perform and performance."""
    short, long = sorted((left, right), key=len)
    return left == right or (len(short) >= 4 and long.startswith(short))


def _clause(text: str, piece: _Piece, spoken: Sequence[Expression]) -> Clause:
    inside = [found for found in spoken if piece.start <= found.start < piece.end]
    return Clause(
        text[piece.start : piece.end].strip(), tuple(Spoken(text[found.start : found.end], found) for found in inside)
    )


def _sentences(text: str) -> Iterator[_Piece]:
    """Yield the spans of a text's sentences."""
    begin = 0
    for end in [*(match.end() for match in _SENTENCE.finditer(text)), len(text)]:
        if text[begin:end].strip():
            yield _Piece(begin, end)
        begin = end


def _pieces(text: str, sentence: _Piece, spoken: Sequence[Expression]) -> list[_Piece]:
    """Return the clauses of a sentence."""
    cuts: list[tuple[int, bool]] = []
    begin = sentence.start
    for match in _OPENS.finditer(text, sentence.start, sentence.end):
        if any(found.start < match.end() and match.start() < found.end for found in spoken):
            continue  # part of a time expression: "since March", "after Christmas"
        word = (match["linked"] or match["word"] or "").casefold()
        opens = _opens(text, begin, match, sentence.end, word, spoken)
        if opens is not None:
            cuts.append((match.start(), opens))
            begin = match.start()
    starts = [(sentence.start, False), *cuts]
    ends = [*(start for start, _ in cuts), sentence.end]
    pieces = [_Piece(start, end, goes_on) for (start, goes_on), end in zip(starts, ends, strict=True)]
    return _joined(text, pieces, spoken)


def _opens(
    text: str, begin: int, match: re.Match[str], end: int, word: str, spoken: Sequence[Expression]
) -> bool | None:
    """Return whether the text after a conjunction or a comma keeps the subject; None if no clause begins there.

    Leading time expressions are skipped: "and next month we perform".
    """
    if word in _SAME_TIME:
        return None
    if word in _RELATIVE:
        return False
    left, right = text[begin : match.start()], _without_lead(text, match.end(), end, spoken)
    if not _has_verb(left):
        return None
    opened = _OPENED.match(_without_lead(text, begin, match.start(), spoken))
    if match["comma"] and not word and opened is not None and opened["word"].casefold() in _SAME_TIME:
        return None  # "When I was there last week, I ..." is one time
    following = _OPENS.search(right)
    until = right[: following.start()] if following else right
    if _SUBJECT.match(right) or (_NOUN.match(right) and (word in _OF_CLAUSES or _has_verb(until))):
        return False
    return True if word in ("and", "but", "then", "so", "yet") and _VERB_FIRST.match(right) else None


def _without_lead(text: str, start: int, end: int, spoken: Sequence[Expression]) -> str:
    for found in spoken:
        if start <= found.start and found.end <= end and _LEADING_TIME.match(text[start : found.start]):
            start = found.end + (text[found.end : found.end + 1] == ",")
    return text[start:end]


def _joined(text: str, pieces: Sequence[_Piece], spoken: Sequence[Expression]) -> list[_Piece]:
    """Return the pieces, joined if they share the subject and both are past or both future.

    They stay apart if each has its own time expression.
    """
    kept: list[_Piece] = []
    for piece in pieces:
        if kept and piece.goes_on:
            before = kept[-1]
            tenses = {_tense(text[each.start : each.end]) for each in (before, piece)}
            are_dated = all(any(each.start <= found.start < each.end for found in spoken) for each in (before, piece))
            if len(tenses) == 1 and _Tense.PRESENT not in tenses and not are_dated:
                kept[-1] = _Piece(before.start, piece.end, before.goes_on)
                continue
        kept.append(piece)
    return kept


def _has_verb(text: str) -> bool:
    return _FINITE.search(text) is not None or _NAMED_DOES.search(text) is not None


def _tense(text: str) -> _Tense:
    """Return the tense of the last verb whose form shows it; present if there is none."""
    last, tense = -1, _Tense.PRESENT
    for pattern, meaning in ((_DONE, _Tense.PAST), (_IS, _Tense.PRESENT), (_FUTURE, _Tense.FUTURE)):
        for match in pattern.finditer(text):
            if match.start() >= last:
                last, tense = match.start(), meaning
    return tense

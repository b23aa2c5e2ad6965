"""The form of a question: its words in a standard order and choice, with open places for names, times and things.

Two questions of one form ask the same of other people, things and days. The standard choice folds only what a small
table of general rewrites knows ("what is the name of X" and "what is X called"); the order of words, negations, tense
and the words of time ("now") count, because "who called Ana" and "who did Ana call" have the same words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from goalmem_cli.logic.normal import BASES, FUNCTION_WORDS, stem
from goalmem_cli.logic.questions import asks_for_current_state, named_in
from goalmem_cli.logic.terms import Constant

NAME, TIME, THING = "name", "time", "thing"
MOST_PLACES, LONGEST_THING = 6, 3
_LETTERS = "abcfhi"
_MARK = "qqplace"
_PLACE = rf"{_MARK}[{_LETTERS}]"

_P = _PLACE


def _belonging(found: re.Match[str]) -> str:
    """Return "dog of sister of Ana" for "Ana's sister's dog"."""
    return " of ".join((*reversed(re.split(r"'s? ", found[2])[1:]), found[1]))


_PERSONS = "boss|manager|sister|brother|mother|father|wife|husband|partner|friend|neighbour|teacher|doctor|son|daughter"
_ADJECTIVES = "favourite|favorite|new|old|first|last|best|least favourite|biggest|eldest|youngest"
_GIVEN = "give|gives|gave|send|sends|sent|show|shows|showed|tell|told|lend|lent|sell|sold|bring|brought|teach|taught"
_REWRITES = tuple(
    (re.compile(rf"\b{pattern}"), told)
    for pattern, told in (
        # Around the question
        (r"^(?:please|hey|ok|okay|well|so) ", ""),
        (r"(?:can|could|would|will) you (?:tell|remind|show) me (?:again )?", ""),
        (r"(?:tell|remind|show) me (?:again )?", ""),
        (r"do you (?:happen to )?(?:know|remember|recall) (?=the name)", "what is "),
        (r"(?:do you (?:happen to )?(?:know|remember|recall)|i (?:want|would like|need) to know|any idea) ", ""),
        (r"(?: again| please| by the way)$", ""),
        (r"(?:exactly|actually|usually|normally|typically) ", ""),
        (r"^((?:in|on|at|during|since|by) [^,]+), (.+)$", r"\2 \1"),
        # Short forms, and what the standard order has no use for
        (r"(what|who|where|when|how|why)'s ", r"\1 is "),
        (r"(\w+)n't ", r"\1 not "),
        (r"(?:a|an|the) ", ""),
        (r"(what|who|where|when|why|how) (?:is|was) it that ", r"\1 "),
        (r"(?:located|situated)\b ?", ""),
        (r"(?:nowadays|currently|presently|now|at moment|at present|these days|today|still)\b ?", ""),
        # What is asked for
        (r"(?:which|what) person ", "who "),
        (r"whom ", "who "),
        (r"whereabouts ", "where "),
        (r"what (?:is|was) place where ", "where "),
        (r"(?:in |at |to |on )?(?:which|what) (?:place|location) ", "where "),
        (r"(?:on |at )?(?:which|what) date ", "when "),
        (r"(?:for (?:which|what) reason|what (?:is|was) reason(?: why| that)?|how come) ", "why "),
        (r"(?:which|what) (?:kind|sort|type)s? of ", "what "),
        (r"(?:which|what) things? ", "what "),
        (r"(?:which|what) number of ", "how many "),
        (rf"what is number of ({_P})'s (\w+)$", r"how many \2 \1 have"),
        (r"(?:which|what) amount (?:of )?", "how much "),
        (r"which ", "what "),
        # Names of things, and what belongs to somebody
        (r"(?:what|how) (is|was) name of (.+)$", r"what \1 \2 called"),
        (r"(?:what|how) (is|was) (.+)'s name$", r"what \1 \2 called"),
        (r"(?:what|how) (is|was) (.+) (?:called|named)$", r"what \1 \2 called"),
        (r"what name does (.+) have$", r"what is \1 called"),
        (rf"what (\w+) is ({_P})'s (favou?rite)$", r"what is \2's \3 \1"),
        (rf"(?:what|when) (?:is|was) ({_P})'s date of birth$", r"when was \1 born"),
        (rf"when was ({_P})'s wedding$", r"when did \1 marry"),
        (rf"({_P})'s ({_ADJECTIVES}) (\w+)", r"\2 \3 of \1"),
        (rf"({_P})((?:'s? \w+)+)", _belonging),
        (rf"what is ((?:{_PERSONS}) of .+) called$", r"who is \1"),
        # Verbs
        (rf"(?:has|have) ({_P}) got\b", r"\1 have"),
        (rf"(?:has|have) ({_P})$", r"\1 have"),
        (r"get(?:ting)? married|tie knot", "marry"),
        (r"got married|tied knot", "married"),
        (r"get to know ", "meet "),
        (r"got to know ", "met "),
        (rf"(?:is|are) ({_P}) employed", r"\1 work"),
        (rf"({_GIVEN}) (?!{_P})((?:\w+ ){{0,2}}\w+) to ({_P})", r"\1 \3 \2"),
        (rf"(?:was|were|got) (\w+)(?<!ing) by ({_P})", r"did \2 \1"),
    )
)  # fmt: skip
_PROGRESSIVE = re.compile(r"\b(?:is|are|am|was|were) ((?:\S+ ){0,4}?)(\w{2,}ing)\b")
_LEADING = re.compile(r"^(?:in|on|at|since|until|by|from|during|before|after) ", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_ALIKE = {
    stem(word): stem(words.split()[0])
    for words in (
        "live reside dwell", "work employ", "job occupation profession", "buy purchase", "begin start commence",
        "end finish", "marry married", "child children kid", "movie film", "mother mum mom", "father dad", "big large",
        "picture photo photograph",
        "bicycle bike", "phone telephone", "doctor physician", "own possess", "trip journey", "company firm",
        "repair fix mend", "boss manager", "flat apartment", "relocate move",
        "favourite favorite", "colour color", "choose pick", "town city", "use utilise", "happen occur",
    )
    for word in words.split()
}  # fmt: skip
_AUXILIARIES = frozenset("do does did".split())
_HAVE = frozenset("has have had".split())
_PERFECT = re.compile(
    rf"\b(?:has|have) (?:\S+ ){{0,3}}?(?:\w+ed|been|{'|'.join(form for form in BASES if form != 'had')})\b"
)
_BE = frozenset("is are was were be been am".split())
_ASKING = frozenset("what who whose where when why how".split())
_PREPOSITIONS = frozenset("in at on to from for with by of about".split())
_PAST = frozenset("did was were had".split())
_FUTURE = frozenset("will would shall".split())
_PRESENT = frozenset("do does is are am has have".split())


@dataclass(frozen=True, slots=True)
class Place:
    """An open place of a form: its kind, and what stands there in one question."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a question, in standard form and as written. `place` is the number of the open place it fills."""

    word: str
    written: str
    place: int = -1


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """A question taken apart: words and open places in standard order, its tense, and whether it asks of now.

    `text` is the question as it was asked, with the kinds of its places: ``Where does {name} live?``
    """

    tokens: tuple[Token, ...]
    places: tuple[Place, ...]
    tense: str
    is_current: bool
    text: str

    @property
    def form(self) -> str:
        """The form as text: ``where {name} live``, with the tense and "now" after it."""
        return " ".join((*(each.word for each in self.tokens), f"[{self.tense}{', now' if self.is_current else ''}]"))


def taken_apart(question: str, asked: datetime | None, things: Sequence[str] = ()) -> QuestionForm | None:
    """Return the question taken apart, None if it has too many places; `things` are further texts to open."""
    text = " ".join(question.replace("’", "'").split()).rstrip("?!. ")
    if _MARK in text.casefold():
        return None
    spans = sorted(_spans(text, asked, things))
    if len(spans) > MOST_PLACES:
        return None
    masked, shown, at = "", "", 0
    for letter, (start, end, kind) in zip(_LETTERS, spans, strict=False):
        masked, shown = f"{masked}{text[at:start]}{_MARK}{letter}", f"{shown}{text[at:start]}{{{kind}}}"
        at = end
    told = _rewritten(f"{masked}{text[at:]}".casefold())
    places = tuple(Place(kind, text[start:end]) for start, end, kind in spans)
    tokens = tuple(_tokens(told, places))
    order = [token.place for token in tokens if token.place >= 0]
    if sorted(order) != list(range(len(places))):
        return None  # a rewrite has lost a place
    tokens = tuple(replace(each, place=order.index(each.place)) if each.place >= 0 else each for each in tokens)
    is_current = asks_for_current_state(question)
    return QuestionForm(tokens, tuple(places[each] for each in order), _tense(told), is_current, f"{shown}{text[at:]}?")


def values_for(form: str, asked: QuestionForm) -> tuple[Place, ...] | None:
    """Return what stands in the form's open places in this question, in order, or None if it has another form.

    A place for a thing takes one to three words that are no names and carry meaning.
    """
    if asked.form == form:
        return asked.places
    wanted = form.split(" [")[0].split()
    if f"{{{THING}}}" not in wanted or not form.endswith(asked.form[asked.form.rindex(" [") :]):
        return None
    return _aligned(wanted, list(asked.tokens), asked)


def _aligned(wanted: list[str], tokens: list[Token], asked: QuestionForm) -> tuple[Place, ...] | None:
    if not wanted or not tokens:
        return () if not wanted and not tokens else None
    if wanted[0] != f"{{{THING}}}":
        if tokens[0].word != wanted[0]:
            return None
        rest = _aligned(wanted[1:], tokens[1:], asked)
        own = (asked.places[tokens[0].place],) if tokens[0].place >= 0 else ()
        return None if rest is None else (*own, *rest)
    for length in range(1, LONGEST_THING + 1):
        said = tokens[:length]
        if len(said) < length or any(each.place >= 0 or each.word in _NO_THING for each in said):
            return None
        rest = _aligned(wanted[1:], tokens[length:], asked)
        if rest is not None:
            return (Place(THING, " ".join(each.written for each in said)), *rest)
    return None


def _spans(text: str, asked: datetime | None, things: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of the times, names and further things in the text; none overlaps another."""
    from goalmem_cli.logic.dates import spoken_in  # only here, as the patterns of dates are slow to compile

    taken = list[tuple[int, int, str]]()
    for found in spoken_in(text, asked):
        said = text[found.start : found.end]
        if found.is_certain and not asks_for_current_state(said):
            taken.append((found.end - len(_LEADING.sub("", said)), found.end, TIME))
    parts, at = named_in(text).parts, 0
    for part in parts if len(parts) > 1 else ():
        size = len(part.value if isinstance(part, Constant) else str(part))
        if isinstance(part, Constant):
            taken += [(at, at + size, NAME)] if _is_free(at, at + size, taken) else []
        at += size
    opening = re.match(r"([A-Z]\w*)'s\b", text)
    if opening and opening[1].casefold() not in _ASKING and _is_free(0, opening.end(1), taken):
        taken.append((0, opening.end(1), NAME))
    for thing in things:
        place = re.search(rf"\b{re.escape(thing)}\b", text, re.IGNORECASE)
        if place and _is_free(place.start(), place.end(), taken):
            taken.append((place.start(), place.end(), THING))
    yield from taken


def _is_free(start: int, end: int, taken: list[tuple[int, int, str]]) -> bool:
    return all(end <= first or last <= start for first, last, _ in taken)


def _rewritten(masked: str) -> str:
    for pattern, told in _REWRITES:
        masked = pattern.sub(told, masked).strip()
    return masked.replace(",", "")


def _tokens(text: str, places: Sequence[Place]) -> Iterator[Token]:
    """Yield the words in standard order: what is asked for, "be", and the rest; a leading preposition goes last."""
    is_perfect = _PERFECT.search(text) is not None
    words = [each for each in _WORD.findall(_PROGRESSIVE.sub(r"\1\2", text)) if each not in _AUXILIARIES]
    words = [each for each in words if not is_perfect or each not in _HAVE]
    if len(words) > 1 and words[0] in _PREPOSITIONS and words[1] in _ASKING:
        words = [*words[1:], words[0]]
    for kind in (_BE, _ASKING):
        at = [number for number, word in enumerate(words) if word in kind]
        if len(at) == 1 and not _ASKING.isdisjoint(words):
            words = [words[at[0]], *words[: at[0]], *words[at[0] + 1 :]]
    if words[:1] == ["where"] and words[-1] in _PREPOSITIONS:
        words = words[:-1]
    for word in words:
        number = _LETTERS.index(word[-1]) if re.fullmatch(_PLACE, word) else -1
        yield Token(_standard(word) if number < 0 else f"{{{places[number].kind}}}", word, number)


def _standard(word: str) -> str:
    if word in _BE:
        return "be"
    root = stem(word)
    return _ALIKE.get(root, root)


def _tense(text: str) -> str:
    """Return when the question is about: its first auxiliary says it, or else the form of a verb."""
    found = _WORD.findall(text)
    if _PERFECT.search(text):
        return "past"
    for word in found:
        for tense, told in (("past", _PAST), ("future", _FUTURE), ("present", _PRESENT)):
            if word in told:
                return tense
    is_past = any(word.endswith("ed") or (word in BASES and not word.endswith("s")) for word in found)
    return "past" if is_past else "present"


_PLAIN = "because bear call come date die get give go know live marry meet move name place say take tell than time work"
KNOWN_STEMS = frozenset(map(stem, (*FUNCTION_WORDS, *_BE, *_AUXILIARIES, *_HAVE, *_ALIKE, *_PLAIN.split())))
"""Stems of words that are the package's own: they tell nothing of a memory, wherever they stand."""
_NO_THING = frozenset(map(_standard, FUNCTION_WORDS | _ASKING | {"not", "no", "or", "than", "if", "when", "and"}))

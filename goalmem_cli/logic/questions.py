"""Classify a question by its words alone: English ones, or those of the language that it is surely in."""

from __future__ import annotations

import re
from functools import lru_cache

from goalmem_cli.languages.patterns import late
from goalmem_cli.languages.words import words_of
from goalmem_cli.logic.normal import PARTICLES, content_stems, stem, words
from goalmem_cli.logic.terms import Atom, Constant, Variable

_CURRENT = frozenset({"now", "currently", "current", "nowadays", "presently", "still", "latest", "today"})
_INTERROGATIVES = frozenset("what which who whom whose when where why how".split())
_QUESTION_WORDS = _INTERROGATIVES | {"name", "list"}
_PREPOSITIONS = frozenset("in on at by of for with from to about since until under into".split())
_AUXILIARIES = frozenset("did does do is are was were has have had can could will would should might may if".split())
_ASKING = frozenset(map(stem, _INTERROGATIVES | _AUXILIARIES))
_OPENERS = _QUESTION_WORDS | _PREPOSITIONS | _AUXILIARIES
_SUBJECTS = frozenset(
    "i you he she it we they this that these those there my your his her its our their the anyone anybody anything "
    "someone somebody something everyone everybody everything".split()
)
_FIRST_PERSON = frozenset("i me my mine myself we us our ours ourselves".split())
_REQUESTS = ("tell me", "show me", "give me", "list all", "list the", "list my", "name all", "name the", "name my")
# An ASCII mark counts at the end of a word only (not in addresses); marks of other scripts count anywhere.
_QUESTION_MARK = late(r"""\?["'”’»)\]}*_]*(?:[\s!.?]|$)|[？؟¿⁇⁈‽]""")
_ENDS_STATEMENT = late(r"""[.!。！…]["'”’»)\]}*_]*$""")
_WEEKDAY = late(
    r"^(?!.*\b(?:when|date|month|year)\b).*\b(?:which|what) (?:week ?day|day of the week)"
    r"(?= (?:is|was|are|were|did|does|do|has|have|will|would|can)\b|\W*$)",
    re.IGNORECASE,
)
_WHEN = late(r"(?:and |so )?when\b(?!.*\b(?:\w+day|today|tonight|tomorrow|what time|\d+)\b)", re.IGNORECASE)
_TIME = late(r"\b(?:date|day|time|month|year|weekday|when|moment)\b", re.IGNORECASE)
_SENTENCES = late(r"(?<=[.!?])\s+")
_SEVERAL = late(
    r"\b(?:and|both|each|two|three|four|five|how (?:long|many (?:minute|hour|day|night|week|month|year)s))\b",
    re.IGNORECASE,
)
_RANKING = late(
    r"\bfavou?rites?\b|\bprefers?\b|(?<!\bat )\b(?:best|worst|most|least)\b(?! (?:of(?! all\b)|recent\w*|likely|man|"
    r"men|before|regards|wishes|people|things|(?:day|night|morning|afternoon|evening|weekend|week|month|year|time)s?)\b)|"
    r"\b(?:biggest|greatest|dearest|closest|nicest|funniest|hardest|easiest|happiest|proudest|scariest|strongest)\b",
    re.IGNORECASE,
)
_ALL = frozenset("all every each everything everyone everybody list total altogether".split())
_CURRENT_PHRASES = ("these days", "at the moment", "so far", "at present", "as of now", "most recent")


def asks_for_current_state(question: str) -> bool:
    """Say whether the question asks about the present state, so that later statements win."""
    found = words(question)
    phrase = " ".join(found)
    is_english = bool(_CURRENT & set(found)) or any(cue in phrase for cue in _CURRENT_PHRASES)
    return is_english or _has(question, "now")


def asks_for_time(text: str) -> bool:
    """Say whether a question, statement or type asks for a point in time."""
    return bool(_TIME.search(text))


def asks_for_weekday(question: str) -> bool:
    """Say whether an English question asks for a day of the week, not for a date."""
    return bool(_WEEKDAY.search(question))


def asks_when(question: str) -> bool:
    """Say whether an English question asks when, not at what time of a day that it names."""
    return bool(_WHEN.match(question))


def asks_for_all(question: str) -> bool:
    """Say whether the question asks for all things or their number, so that one missing makes the answer wrong."""
    found = words(question)
    return bool(_ALL & set(found)) or "how many" in " ".join(found) or _has(question, "all")


def asks_for_ranking(text: str) -> bool:
    """Say whether the text is about a favourite, a preference, or the best or most."""
    return bool(_RANKING.search(text))


def speaks_of_asker(text: str) -> bool:
    """Say whether the question is in the first person, so that the asker matters to it."""
    return says_i(text) or _has(text, "i")


def says_i(text: str) -> bool:
    """Say whether the text is in the first person, by English words alone; searching ranks by it."""
    return any(word.partition("'")[0] in _FIRST_PERSON for word in words(text))


def _has(text: str, name: str) -> bool:
    """Say whether a text in another language than English has a word of that language's list `name`."""
    told = words_of(text)
    return told is not None and told.has(text, name)


def asks_for_something(question: str) -> bool:
    """Say whether the question opens with a question word, so that yes or no cannot answer it."""
    if (told := words_of(question)) is not None:
        return told.asks_for_something(question)
    opening = words(question)[:2]
    while opening and opening[0] in _PREPOSITIONS:
        opening = opening[1:]
    return bool(opening) and opening[0] in _QUESTION_WORDS


def stems_asked_for(text: str) -> frozenset[str]:
    """Return the stems of the meaningful words, without question words; all stems if nothing else is left."""
    found = content_stems(text)
    return found - _ASKING or found


_KINDS: dict[str, tuple[str, ...]] = {
    "when": ("date", "time", "day", "month", "year", "weekday", "season"),
    "where": ("place", "city", "town", "village", "country", "room", "street", "shop", "hotel", "workplace"),
    **dict.fromkeys(("who", "whom", "whose"), ("person", "people", "child", "animal")),
    "why": ("reason", "cause"),
    "how long": ("time", "duration", "length", "number"),
    "how many": ("number", "amount"),
    "how much": ("amount", "price", "sum", "cost", "weight", "number"),
}
_WHO = late(r"\bwho(?:m|se|'s)?\b|:person\)", re.IGNORECASE)
_WHO_IS = late(r"(?i:(?:and )?who(?: is| was|['’]s)) (?:[A-Z][\w.-]*\s*)+\?*")


def kinds_asked_for(question: str) -> tuple[str, ...]:
    """Return the words with which the type of the answer may begin, judged by the question's opening; () if unknown.

    In the training conversations, 984 questions have such an opening and ask for one thing. The type of 45 is another.
    """
    if asks_who_one_is(question):
        return ("relation", "role", "job")
    opening = [word.partition("'")[0] for word in words(question)]
    while opening and opening[0] in _PREPOSITIONS:
        opening = opening[1:]
    return _KINDS.get(" ".join(opening[:2])) or _KINDS.get(" ".join(opening[:1]), ())


def asks_who_one_is(question: str) -> bool:
    """Say whether the question only asks who a named person is, so that a name is no answer."""
    return bool(_WHO_IS.fullmatch(question.strip()))


def asks_for_person(text: str) -> bool:
    """Say whether a question or a statement asks who somebody is."""
    return bool(_WHO.search(text)) or _has(text, "person")


def may_ask_for_several(question: str) -> bool:
    """Say whether the question may ask for several things.

    It may if it has two question words, names a number of things, or asks for the time between two others. The corpus
    has 35 goals with two or more variables; this misses 5.
    """
    return sum(word in _INTERROGATIVES for word in words(question)) > 1 or bool(_SEVERAL.search(question))


def asks_yes_or_no(question: str) -> bool:
    """Say whether yes or no would answer: the last sentence, or the part after an "if", opens with an auxiliary.

    Choices ("or"), "can you tell me" and "is there one, and if so, which" are excluded.
    """
    sentence = _SENTENCES.split(question.strip())[-1]
    if (told := words_of(question)) is not None:
        return told.asks_yes_or_no(sentence)
    if words(sentence)[:1] == ["if"]:
        sentence = sentence.partition(",")[2]
    found = words(sentence)
    is_more = "or" in found or found[1:2] == ["you"] or "if so" in " ".join(found)
    return found[:1] != ["if"] and bool(_AUXILIARIES & set(found[:1])) and not is_more


def is_question(text: str) -> bool:
    """Say whether a line that a user typed asks for an answer.

    It does if it has a question mark or opens with a request ("tell me", "list all ..."). Without final punctuation it
    also does in two cases. It opens with a question word without the subject after it (not "when I was ten"). Or it
    opens with an auxiliary and its subject ("did Alice", "is there").
    """
    if _QUESTION_MARK.search(text):
        return True
    found = words(text)
    if any(" ".join(found[:2]) == request for request in _REQUESTS):
        return True
    if len(found) < 2 or _ENDS_STATEMENT.search(text.rstrip()):
        return False
    if asks_for_something(text):
        return found[1] not in _SUBJECTS | {"a", "an"}
    second = text.split()[1:2]
    is_name = bool(second) and second[0][0].isupper()
    return found[0] in _AUXILIARIES - {"if"} and (is_name or found[1] in _SUBJECTS)


def is_all_questions(text: str) -> bool:
    """Say whether every sentence is a question from its first or second word on ("And who", "Hey, is").

    A sentence that tells something first ("Painted this last week, do you like it?") is not.
    """
    sentences = _SENTENCES.split(text.strip())
    if not all(_QUESTION_MARK.search(sentence) for sentence in sentences):
        return False
    opens = _INTERROGATIVES | _AUXILIARIES
    return all(opens & set(words(sentence)[:2]) for sentence in sentences) or words_of(text) is not None


ANSWER = "x"
_AUXILIARY = r"(?:did|does|do|is|are|was|were|has|have|had|can|could|will|would|should|might|may|['’]s)\b"
_ASKED_FOR = late(
    r"\b(?:(?P<many>how many)|(?P<much>how much)|(?P<long>how long)|(?P<often>how often)|(?P<old>how old)|(?P<how>how)"
    r"|(?P<whose>whose)|(?P<who>who(?:m)?)|(?P<when>when)|(?P<where>where)|(?P<why>why)"
    rf"|(?:which|what)(?P<type>(?: (?!{_AUXILIARY}|of\b)[\w’'-]+){{1,4}}?)(?= {_AUXILIARY})|(?P<what>what)"
    r"|(?P<which>which))\b",
    re.IGNORECASE,
)
_TYPES_ASKED = {
    "many": "number", "much": "amount", "long": "duration", "often": "frequency", "old": "age", "how": "way",
    "whose": "person", "who": "person", "when": "time", "where": "place", "why": "reason", "what": "thing",
    "which": "one",
}  # fmt: skip
_NAME_OF = late(r"(?: (?:is|was|are|were)|['’]s) the (?:\w+ )?names? of\b", re.IGNORECASE)
_KEPT = {"whose": "'s"}
_IN_NAMES = rf"[ -](?:(?:{'|'.join(sorted(PARTICLES))})[ -]|[dl]['’])*"
_CAPITALISED = late(rf"(?<![\w'’])(?!I\b)[^\W\d_a-z]\w*(?:{_IN_NAMES}[^\W\d_a-z]\w*)*")
_OR_BEHIND = late(r"(?:, [^\W\d_a-z]\w*)*,? or\b")
"""What follows a name that is one of a choice, and not the last: "Ana, Ben or Tom"."""


def goal_asked(question: str) -> Atom:
    """Return the question as a goal atom: the variable x for the answer, and constants for the names.

    A yes/no question has no variable. Unless the words name the type, it is "thing" after "what", else "one", which may
    be a person ("Which of her nieces sings?"). A question in another language is taken as a whole, in small letters:
    which of its words are names is not known.
    """
    text = " ".join(question.split()).rstrip("?!. ？！。")
    if (told := words_of(question)) is not None:
        whole = Constant(text.casefold())
        kind = "person" if told.has(question, "person") else "one"
        is_closed = told.asks_yes_or_no(question)
        return Atom((whole,) if is_closed else (Variable(ANSWER, kind), " answers ", whole))
    if asks_yes_or_no(question) and not asks_for_something(question):
        return named_in(text)
    found = _ASKED_FOR.search(text)
    if found is None:
        return Atom((Variable(ANSWER, "one"), " answers ", Constant(text)))
    kind = next(name for name, said in found.groupdict().items() if said is not None)
    wanted = (found["type"].strip() if kind == "type" else _TYPES_ASKED[kind]).lower()
    before, behind = text[: found.start()], _KEPT.get(kind, "") + text[found.end() :]
    wanted = "name" if kind == "what" and _NAME_OF.match(behind) else wanted
    return Atom((*_with_names(before), Variable(ANSWER, wanted), *_with_names(behind)))


def named_in(text: str) -> Atom:
    """Return a plain statement as an atom: its names become constants; without names, the whole text is one."""
    named = _with_names(text)
    return Atom(named if any(isinstance(part, Constant) for part in named) else (Constant(text),))


def _with_names(text: str) -> tuple[str | Constant, ...]:
    """Return the text with its names as constants, but for question openers and names of a choice ("Ana or Ben")."""
    parts: list[str | Constant] = []
    at = 0
    for found in _CAPITALISED.finditer(text):
        opening, _, rest = found[0].partition(" ")
        is_opener = found.start() == 0 and (opening.casefold() in _OPENERS or not rest)
        name = rest if is_opener else found[0]
        begin = found.end() - len(name)
        if name and not text[:begin].endswith(" or ") and not _OR_BEHIND.match(text, found.end()):
            parts += [text[at:begin], Constant(name)]
            at = found.end()
    return tuple(part for part in (*parts, text[at:]) if part)


@lru_cache(maxsize=2048)
def only_asks(text: str) -> bool:
    """Say whether the text consists of questions only and says nothing about the asker."""
    return is_all_questions(text) and not speaks_of_asker(text)

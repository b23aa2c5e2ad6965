"""Statements of something of one's own: "My dentist is Dr Walsh", "the rent is 640", "the kitchen is green now"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from goalmem_cli.backbones.changes import times_named
from goalmem_cli.backbones.now.asked import Asked
from goalmem_cli.backbones.now.state import LATE, NOT_YET, NOW, WAS, State
from goalmem_cli.logic.normal import content_stems, numbers, stem, words

_CHANGED = re.compile(
    r"\bnow\b|\b(?:has|have|was|were|got|been) (?:moved|changed|switched|shifted)\b|\bmoved to\b", re.IGNORECASE
)
_COLOURS = frozenset(
    "red orange yellow green blue purple violet pink brown black white grey gray beige cream turquoise teal navy gold "
    "golden silver maroon lilac crimson olive mint".split()
)
_OTHERS = re.compile(
    r"\b(?:he|she|they(?! (?:put|raised|lowered|changed|cut|set|moved|gave)\b)|his|her|their|your|you)\b"
    r"|\b(?:my|our) \w+['’]s\b|\b(?:my|our) (?:\w+ )?(?:son|daughter|sister|brother|mother|mum|mom|father|dad|wife|"
    r"husband|partner|boyfriend|girlfriend|friend|cousin|aunt|uncle|neighbou?r|boss|colleague|flatmate|roommate|"
    r"parents?|kids?|children)s?\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"\b(?!It|That|What|There|Here|Who|He|She|Let)([A-Z]\w+)['’]s (?=[a-z])|\b\w+s['’] (?=[a-z])")


def owned(sentence: str, asked: Asked) -> Iterator[State]:
    named = frozenset(map(stem, words(sentence)))
    sentence = re.sub(r"\bmine(?= is\b|['’]s\b)", f"my {asked.head}", sentence, flags=re.IGNORECASE)
    is_named = asked.about <= named or (asked.head in named and bool(_CHANGED.search(sentence)))
    if not is_named:
        return
    clauses = [each for each in re.split("[,;]", sentence) if asked.head in map(stem, words(each))]
    about = sentence if asked.type == "amount" else ",".join(clauses)
    if _is_other(sentence, about, asked) or NOT_YET.search(sentence) or any(map(WAS.search, clauses)):
        return
    read = _READERS[asked.type]
    if value := read(sentence, asked):
        replaces = not LATE.search(sentence) and not re.search(r"\b(?:also|too|as well|another)\b", sentence, re.I)
        yield State("", value, is_only=bool(NOW.search(sentence)), replaces=replaces)


def _is_other(sentence: str, about: str, asked: Asked) -> bool:
    """Say whether it is somebody else's, or a former one; "my boyfriend" is nobody else where he is asked for."""
    is_theirs = any(stem(words(found[0])[-1]) != asked.head for found in _OTHERS.finditer(about))
    former = rf"\b(?:old|former|previous|ex|late|next|first)[ -](?:\w+ )?{re.escape(asked.head)}"
    return is_theirs or bool(_NAMED.search(sentence) or re.search(former, sentence, re.IGNORECASE))


def _amount(sentence: str, _: Asked) -> frozenset[str]:
    found = numbers(_NO_AMOUNT.sub("", sentence))
    return frozenset(map(str, found)) if len(set(found)) == 1 else frozenset()


_NO_AMOUNT = re.compile(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}(?:st|nd|rd|th)\b|\b\d{1,2}:\d\d\b|\b(?:up|down|by|extra|another|of|\w+day|the) "
    r"\d[\d.,]*"
    r"|\b\d[\d.,]* ?(?:%|(?:per ?cent|more|less|days?|weeks?|months?|years?|hours?|rooms?|people)\b)",
    re.IGNORECASE,
)
"""Numbers that are no sum of money: years, days, times, differences and counts."""


def _time(sentence: str, _: Asked) -> frozenset[str]:
    kinds = times_named(sentence)
    return frozenset(value for _, values in kinds for value in values) if len(kinds) == 1 else frozenset()


def _colour(sentence: str, _: Asked) -> frozenset[str]:
    clause = re.split(r"[,;:]", sentence)[0]
    return _COLOURS & frozenset(words(clause))


_IN_ANOTHER = re.compile(r"\b(?:at|in|on|of|for|with|from)\b")
_IS_FROM = re.compile(
    r"(?:an? )?(?:[A-Z]\w+(?:ish|ese)|German|French|Dutch|Greek|Swiss|(?:North |South )?(?:Americ|Afric|Kore|Itali|"
    r"Indi|Russi|Canadi|Australi|Brazili|Norwegi|Austri|Hungari|Ukraini|Romani|Irani|Belgi)an|Czech|Arab|Thai)"
)
"""Where somebody is from, which is no name."""


def _said_of(sentence: str, asked: Asked) -> frozenset[str]:
    """Return the stems of what the thing is said to be: "My favourite band these days is Khruangbin"."""
    found = re.search(r"(?:\bis|['’]s|:)\s+(?:(?:now|still|currently|called|actually)\s+)*(?P<v>[^,;.!?]+)", sentence)
    if found is None:
        coded = re.findall(r"\b(?=\w*\d)\w{3,}\b", sentence) if NOW.search(sentence) and not asked.type else []
        return frozenset(map(stem, words(coded[0]))) if len(coded) == 1 else frozenset()
    *_, before = re.split("[,;:]", sentence[: found.start()])
    _, is_there, behind = f" {' '.join(map(stem, words(before)))} ".rpartition(f" {asked.head} ")
    if not is_there or (_IN_ANOTHER.search(behind) and content_stems(behind) - asked.about):
        return frozenset()
    text = re.split(r"\s(?:and|but|since|because|for|so|now|these days|who|which|at the)\b", found["v"].strip())[0]
    if re.match(r"(?:not|no|in|at|on|from|with)\b", text, re.IGNORECASE):
        return frozenset()
    has_name = bool(re.search(r"[A-Z]|\d", text)) and not _IS_FROM.fullmatch(text)
    if not has_name and (asked.type == "name" or len(text.split()) > 1):
        return frozenset()
    return frozenset(stem(word) for word in words(text)) - {"dr", "mr", "mrs", "ms", "a", "the", "an"}


_READERS = {"amount": _amount, "time": _time, "colour": _colour, "name": _said_of, "": _said_of}

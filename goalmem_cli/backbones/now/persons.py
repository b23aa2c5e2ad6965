"""Who has a thing or does it: "Ines took the key", "I gave it to Dov", "Jana looks after the cat now".

The value is a person. For "I" and "me" it is "i", which `holding.py` replaces by the speaker.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from goalmem_cli.backbones.now.asked import KEEPER, PERSON, Asked
from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.normal import BASES, stem, words

_IT = ("it", "them")
_NAME = (
    r"(?!(?:Every(?:body|one)|Some(?:body|one)|Any(?:body|one)|Nobody|None|He|She|It|We|You|They|Who|That|This|There|"
    r"What|If|And|But|So|When|Then|Now|Today|Yesterday|Yes|No|Well|Okay|Ok|Sorry|Actually|Since|The|My|Our|His|Her|"
    r"Their|Your)\b)"
    r"[A-Z][\w.]*(?: [A-Z]\w+)?\b(?!['’]s [a-z](?!ot\b))"
)
_WHO = rf"(?P<where>{_NAME}|(?:[Mm]y|[Oo]ur) (?:\w+ )?{PERSON}\b(?!['’]s))"
_WHOM = rf"(?P<where>me\b|{_NAME}|(?:my|our) (?:\w+ )?{PERSON}\b(?!['’]s))"
_THE = r"(?P<b>(?:the|our|my|The|Our|My) [^,;:.!?]*?|it|them)"
_END = (
    r"(?= *(?:$|[,;:.!?)]|(?:with (?:him|her|them|me|us)|home|now|today|yesterday|this|last|from (?=[A-Z]|my|our)|"
    r"already|again|these days|at the moment|and (?:then|is|will|has|I|we|he|she|they|[A-Z])|but|so|because|since)\b))"
)
_SOFTLY = r"(?: (?:now|still|currently|just|already))*"
_DID = rf"{_WHO}(?: (?:has|have)|['’](?:s|ve))?{_SOFTLY}"
_HAS = late(rf"{_WHO}(?:{_SOFTLY} (?:has|have|keeps?|holds?)(?: got)?|['’](?:s|ve) got){_SOFTLY} {_THE}{_END}")
_GAVE = r"(?:gave|lent|handed|given|passed|returned)"
_GIVEN = (
    late(rf"\b{_GAVE} {_THE}(?: back| over| on)* to {_WHOM}"),
    late(rf"\b(?:brought|took|taken) {_THE} back to {_WHOM}"),
    late(rf"\b{_GAVE} {_WHOM} {_THE}(?: back)?{_END}"),
    late(rf"{_THE}(?: (?:has|have|is))?(?: now)?(?: been)? {_GAVE}(?: back| over| on)? to {_WHOM}"),
)
_TOOK = late(rf"{_DID} (?:takes?|took|taken|collected|picked up|borrowed|grabbed|got) {_THE}(?: back)?{_END}")
_RETURNED = late(rf"{_DID} (?:(?:gave|given|brought|handed)(?=[^,;:.!?]* back\b)|returned) {_THE}(?: back)?{_END}")
_IS_BACK = late(r"(?:\b(?:is|are)|['’](?:s|re)) back\b")
_NEVER = late(r"(?:n['’]t|\b(?:not|never|nobody|no one))(?: \w+)? $", re.IGNORECASE)
_DOUBT = late(
    r"\b(?:maybe|perhaps|probably|possibly|whether|if|unless|until|should|hope|wish|think|guess|reckon|remember\w*|"
    r"den(?:y|ies|ied)|true that|years ago|when (?:we|i|you|he|she|they|my)|"
    r"last (?:year|month|spring|summer|autumn|fall|winter))\b",
    re.IGNORECASE,
)
_DOES = late(rf"{_WHO}(?: (?:is|am|are)|['’](?:s|m))?{_SOFTLY} (?P<verb>[a-z]+) (?:[a-z]+ )?{_THE}{_END}")
_BESIDE_WHOM = late(r"\b(?:and|or|nor) $", re.IGNORECASE)
_AT_THE_MOMENT = frozenset(
    "walking cooking driving cleaning washing mowing baking feeding watering ironing painting".split()
)
"""Forms in -ing that tell what somebody does at that moment, not whose task it is."""
ONLY_DOES = late(
    r"\bnow(?! (?:that|and then)\b)|\b(?:from now on|these days|instead|any ?more|took over|taken over)\b",
    re.IGNORECASE,
)
"""Words that say that nobody else does it."""
_WHICH = frozenset("the our my new old".split())


def handed(sentence: str, asked: Asked) -> Iterator[tuple[str, str]]:
    """Yield the ways to read who got or has the thing, as (thing, person), the last hand first.

    "Ines took the car" says not where it is.
    """
    taken = (_TOOK, _RETURNED) if asked.type == KEEPER else ()
    hands = _of_thing((*_GIVEN, *taken, _HAS), sentence, asked)
    for found in sorted(hands, key=lambda found: found.start("where"), reverse=True):
        yield asked.head if found["b"] in _IT else found["b"], found["where"]


def is_given_back(sentence: str, asked: Asked) -> bool:
    """Say whether who had the thing gave it back, to nobody who is named: so who has it is not known."""
    return _is_any((_RETURNED,), sentence, asked) and not _is_any(_GIVEN, sentence, asked)


def is_handed_on(sentence: str, asked: Asked) -> bool:
    """Say whether the thing came into other hands."""
    return _is_any((*_GIVEN, _TOOK, _RETURNED), sentence, asked) or bool(_IS_BACK.search(sentence))


def _is_any(patterns: Sequence[re.Pattern[str]], sentence: str, asked: Asked) -> bool:
    return next(_of_thing(patterns, sentence, asked), None) is not None


def _of_thing(patterns: Sequence[re.Pattern[str]], sentence: str, asked: Asked) -> Iterator[re.Match[str]]:
    """Yield what the patterns find of the thing, or of the "it" that stands for it, if it is told without doubt."""
    for pattern in () if _DOUBT.search(sentence) else patterns:
        for found in pattern.finditer(sentence):
            before, thing = sentence[: found.start()], list(map(stem, words(found["b"])))
            if found["b"] in _IT:
                is_it = asked.about <= frozenset(map(stem, words(before)))
            else:
                is_it = asked.head in thing and {*thing[: thing.index(asked.head)]} <= asked.about | _WHICH
            if is_it and not _NEVER.search(before):
                yield found


def doer_in(sentence: str, asked: Asked) -> frozenset[str]:
    """Return the stems of who does what is asked about, in the present; empty if the sentence does not say it."""
    for found in () if _DOUBT.search(sentence) else _DOES.finditer(sentence):
        verb, thing = found["verb"], list(map(stem, words(found["b"])))
        is_past = verb in BASES or (verb.endswith("ed") and not verb.endswith("eed"))
        is_it = asked.about <= {*thing} and {*thing[thing.index(asked.head) :]} <= asked.about | {"to"}
        is_one_of = _BESIDE_WHOM.search(sentence[: found.start()]) is not None
        if is_it and stem(verb) == asked.verb and not (is_past or is_one_of or verb in _AT_THE_MOMENT):
            return frozenset(map(stem, words(found["where"]))) - {"my", "our"}
    return frozenset()

"""Where a thing is said to be: "the key hangs by the back door", "I put it in the safe", "Tom has the ladder now"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from goalmem_cli.backbones.now.asked import Asked
from goalmem_cli.backbones.now.persons import handed
from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.normal import content_stems, stem, words

_AT = (
    r"(?:in|on|at|under|underneath|beneath|behind|by|beside|next to|inside|near|above|over|below|between|with|outside|"
    r"on top of|in front of|opposite)"
)
_WHERE = (
    rf"(?P<where>{_AT} (?:(?:the|a|an|my|our|his|her|their|this|that|its) |(?-i:[A-Z0-9])|(?:me|us|bed|storage|town|"
    r"school|work|church|room|hall|building|block|box|shelf)\b)[^,;.!?]*|(?:up|down)stairs|next door|outside|"
    r"out(?:side)? the (?:back|front))"
)
_KEPT = (
    r"(?:is|are|['’]s|['’]re|hangs?|sits?|stands?|lies|lie|lives?|stays?|goes|go|belongs?|meets?|rehearses?|trains?|"
    r"practi[sc]es?|happens?|takes? place|gathers?)"
)
_SOFTLY = (
    r"(?:now|still|always|usually|normally|currently|again|back|kept|stored|parked|hidden|hanging|lying|sitting|"
    r"standing|up|down|over|out|just|these days)"
)
_STANDS = late(rf"(?P<b>[^,;:]*?) ?\b{_KEPT}(?: {_SOFTLY})* {_WHERE}", re.IGNORECASE)
_PUT = late(
    r"\b(?:I|we)(?:['’]ve| have)? (?:(?:just|now|always|usually) )*"
    r"(?:put|moved|left|hid|hung|stored|parked|placed|keep|store|park|hang|leave) "
    rf"(?P<b>[^,;:]*?)(?: {_SOFTLY})* (?:to (?P<to>(?:the|my|our|(?-i:[A-Z]))[^,;.!?]*)|{_WHERE})",
    re.IGNORECASE,
)
_MOVED_TO = late(
    r"(?P<b>[^,;:]*?) (?:(?:has|have|is|are|was|were|got)(?: been)? )?(?:now )?moved (?:over |back )?to "
    r"(?P<where>(?:the|my|our|(?-i:[A-Z]))[^,;.!?]*)",
    re.IGNORECASE,
)
_CUT = late(
    r"\s(?:and|but|since|because|so|now|these days|until|till|from now on|again|if|when|while|where|which|who|though|"
    r"nowadays|instead|any ?more|at the moment|for now)\b",
    re.IGNORECASE,
)
_NO_PLACE = frozenset(map(stem, (
    "way sale moment state condition mood shape order trouble morning afternoon evening night day week weekend month "
    "year time phone blink mend list agenda end beginning minute hour hours verge mess middle dark cheap side whole "
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december christmas easter meeting "
    "calendar diary finals stress insurance leg legs lane maker name mind nerves"
).split()))  # fmt: skip
_BEHIND = frozenset(
    map(stem, "to for of the our my moved too as well have has changed now back up again out down".split())
)
"""What may stand between the name of a thing and the verb: "the key to the shed", "the key has moved"."""
NAMED_BEFORE = late(r"^\W*(?:and |so |but )*(?:it|that|this|which|they)$", re.IGNORECASE)
"""A word for a thing that the clause before names."""
_MOST = 8


def place_in(sentence: str, asked: Asked) -> frozenset[str]:
    """Return the stems of where a sentence says that the thing is; empty if it does not."""
    for thing, where in (*handed(sentence, asked), *_read(sentence)):
        found = list(map(stem, words(thing)))
        if asked.head not in found or not _ends_with(found, asked):
            continue
        place = _CUT.split(f"{where} ")[0]
        told = [word for word in words(place) if word not in _SMALL]
        if not told or told[0][0].isdigit() or len(told) > _MOST:
            continue
        if _NO_PLACE.isdisjoint((stem(told[0]), stem(told[-1]))):
            return frozenset(map(stem, told))
    return frozenset()


_SMALL = frozenset(
    "in on at under underneath beneath behind by beside next to inside near above over below between with outside top "
    "of front opposite the a an my our his her their this that its mr mrs ms dr".split()
)


def _read(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the ways to read a sentence as (thing, place); "it" stands for what was named before."""
    for pattern in (_PUT, _MOVED_TO, _STANDS):
        for found in pattern.finditer(sentence):
            named = found.groupdict()
            thing = named["b"].strip()
            if NAMED_BEFORE.match(thing):
                thing = sentence[: found.start()].strip(" ,;:")
            yield thing, named.get("to") or named["where"]


def _ends_with(found: list[str], asked: Asked) -> bool:
    """Say whether the words of the thing end with its name, or with what says which: "the key to the shed"."""
    behind = found[found.index(asked.head) + 1 :]
    allowed = asked.about | _BEHIND
    return all(word in allowed for word in behind) and not content_stems(" ".join(behind)) - allowed

"""What a question asks for, as a goal: by rule from its words, where no model has planned yet."""

from __future__ import annotations

import re

from goalmem_cli.logic.questions import OPENERS, asks_for_something, asks_yes_or_no
from goalmem_cli.logic.terms import Atom, Constant, Variable

ANSWER = "x"
_AUXILIARY = r"(?:did|does|do|is|are|was|were|has|have|had|can|could|will|would|should|might|may|['’]s)\b"
_ASKED = re.compile(
    r"\b(?:(?P<many>how many)|(?P<much>how much)|(?P<long>how long)|(?P<often>how often)|(?P<old>how old)|(?P<how>how)"
    r"|(?P<whose>whose)|(?P<who>who(?:m)?)|(?P<when>when)|(?P<where>where)|(?P<why>why)"
    rf"|(?:which|what)(?P<type>(?: (?!{_AUXILIARY})[\w’'-]+){{1,4}}?)(?= {_AUXILIARY})|(?P<what>what|which))\b",
    re.IGNORECASE,
)
_TYPES = {
    "many": "number", "much": "amount", "long": "duration", "often": "frequency", "old": "age", "how": "way",
    "whose": "person", "who": "person", "when": "time", "where": "place", "why": "reason", "what": "thing",
}  # fmt: skip
_KEPT = {"whose": "'s"}
_NAME = re.compile(r"(?<![\w'’])(?!I\b)[^\W\d_a-z]\w*(?:[ -][^\W\d_a-z]\w*)*")


def goal_asked(question: str) -> Atom:
    """Return the question as a goal: the answer variable x where it asks, the names in it as constants.

    A question for yes or no has no variable. One that says nothing of what it asks for asks for a thing.
    """
    text = " ".join(question.split()).rstrip("?!. ")
    if asks_yes_or_no(question) and not asks_for_something(question):
        named = _named(text)
        return Atom(named if any(isinstance(part, Constant) for part in named) else (Constant(text),))
    found = _ASKED.search(text)
    if found is None:
        return Atom((Variable(ANSWER, "thing"), " answers ", Constant(text)))
    kind = next(name for name, said in found.groupdict().items() if said is not None)
    wanted = (found["type"].strip() if kind == "type" else _TYPES[kind]).lower()
    before, behind = text[: found.start()], _KEPT.get(kind, "") + text[found.end() :]
    return Atom((*_named(before), Variable(ANSWER, wanted), *_named(behind)))


def _named(text: str) -> tuple[str | Constant, ...]:
    """Return the text with the names in it as constants; a word that opens a question is none for its capital."""
    parts: list[str | Constant] = []
    at = 0
    for found in _NAME.finditer(text):
        opening, _, rest = found[0].partition(" ")
        is_opener = found.start() == 0 and (opening.casefold() in OPENERS or not rest)
        name = rest if is_opener else found[0]
        if name:
            begin = found.end() - len(name)
            parts += [text[at:begin], Constant(name)]
            at = found.end()
    return tuple(part for part in (*parts, text[at:]) if part)

"""What a small model's claim has to be beside right in form: about whom the statement names, and news."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from goalmem_cli.logic import Atom, Constant, Variable
from goalmem_cli.logic.checks import told_as_you
from goalmem_cli.logic.dates import dates_in
from goalmem_cli.logic.normal import content_stems, content_words, normalise
from goalmem_cli.logic.questions import speaks_of_asker
from goalmem_cli.trace import Fact

NEARER = 0.75
"""How much likelier another's best turn is evidence for a question than the named person's, for the question to be
about the other: a difference of the logarithms of odds."""
_LEAST = 1e-9
_OWN = re.compile(r"\b(?:my|our|mine|ours)\b[^.!?,;]*", re.IGNORECASE)
_GREETED = (
    "hey|hi|hello|thanks|thank you|wow|oh|yeah|yes|yep|no|sorry|well|congrats|congratulations|bye|okay|ok|sure|dear"
    "|good|morning|night|and|so|but|you"
)
"""What a name follows by which somebody is addressed, beside a mark or nothing."""


def log_odds(probability: float) -> float:
    """Return the logarithm of the odds of a probability; certainty is as sure as a number can be."""
    kept = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(kept / (1 - kept))


def speakers(facts: Iterable[Fact]) -> frozenset[str]:
    """Return who speaks in the facts and around them."""
    said = [(fact.speaker, *(speaker for speaker, _ in (*fact.before, *fact.after))) for fact in facts]
    return frozenset(speaker for entry in said for speaker in entry)


def doubt(atom: Atom, fact: Fact, people: Iterable[str], beside: Iterable[Fact] = ()) -> str:
    """Return why a fact does not tell of whom or what the statement names, or nothing.

    Of two who talk, what one says of himself is likeliest to be taken for the other's: of 59 right answers of held-out
    conversations and of LoCoMo that rule costs one. That half of a name's words are said in the fact or beside it, or
    are its speaker's, is so of 863 of the 905 names in the corpus's proofs; that what a statement begins with is not
    told of by another's "I", of 554 of 571. In talks of two "you" names whom it is said to; and a statement that
    names both who speaks and whom it is said to may be told of without naming the second, unless the speaker calls
    something in it "my". Of facts that are read together with those `beside` it, one of the same conversation may name
    who or what no speaker is called.
    """
    text = f"{fact.text} {told_as_you(fact)}"
    told = content_stems(f"{fact.speaker} {text}")
    hearer = _hearer(atom, fact)
    context = [(other.speaker, other.text) for other in beside if other.conversation == fact.conversation]
    around = content_stems(" ".join(f"{who} {said}" for who, said in context))
    beside_it = " ".join((hearer, *(f"{who} {said}" for who, said in (*fact.before, *fact.after))))
    near = told | around | content_stems(beside_it)
    for constant in atom.constants:
        name = content_words(constant.value)
        namesakes = [person for person in people if name & content_words(person)]
        if namesakes and fact.speaker not in namesakes and not name & content_words(f"{text} {hearer}"):
            return f"{constant.value} neither says nor is named in it"
        wanted = content_stems(constant.value) if _is_name(constant.value) else frozenset()
        if 2 * len(wanted & near) < len(wanted):
            return f"nobody names {constant.value} there"
        is_named = bool(wanted & (told | around))
        if wanted and not is_named and constant is atom.parts[0] and speaks_of_asker(fact.text):
            return f"the speaker tells of himself or herself, not of {constant.value}"
    return ""


def _hearer(atom: Atom, fact: Fact) -> str:
    """Return whom the fact is said to, where the statement names its speaker, who calls nothing in it "my"."""
    speaker = content_words(fact.speaker)
    is_named = any(name and name <= speaker for name in (content_words(constant.value) for constant in atom.constants))
    own = content_stems(" ".join(_OWN.findall(fact.text)))
    return fact.to if is_named and not own & _stems(atom) else ""


def told_by_another(question: str, told: Mapping[str, float], people: Iterable[str]) -> tuple[str, str] | None:
    """Return the one person who talks and whom a question names, and who tells of it rather than that person, if so.

    `told` is how likely the best turn of each speaker is evidence, whomever the question names. Of the corpus's
    questions that name one speaker and have an answer, 5% are nearer to what another says; of the same questions with
    somebody else's name in them, 45%.
    """
    asked = content_words(question)
    named = [person for person in people if asked & content_words(person)]
    if len(named) != 1 or not told:
        return None
    other = max((speaker for speaker in told if speaker not in named), key=lambda speaker: told[speaker], default="")
    nearer = log_odds(told.get(other, 0.0)) - log_odds(told.get(named[0], 0.0))
    return (named[0], other) if nearer >= NEARER else None


def is_addressed(value: str, facts: Iterable[Fact], people: Iterable[str]) -> bool:
    """Say whether the value is the name of one who talks, and stands in the facts only to address that person.

    "Thanks, Sam!" tells nothing of Sam. None of the names bound in the corpus's proofs stands like that.
    """
    name = content_words(value)
    if not any(name <= content_words(person) for person in people):
        return False
    called = re.escape(value)
    told = [fact for fact in facts if name <= content_words(f"{fact.speaker} {fact.text}")]
    address = re.compile(rf"(?:^|[,.!?;:—–-]\s*|\b(?:{_GREETED})\s+){called}(?=\s*(?:[,.!?;:—–]|$))", re.IGNORECASE)
    return bool(told) and all(
        not name & content_words(fact.speaker) and not name & content_words(address.sub("", fact.text)) for fact in told
    )


def _is_name(phrase: str) -> bool:
    return any(word[:1].isupper() for word in phrase.split()) and not dates_in(phrase)


def says_nothing_new(bindings: Mapping[str, Sequence[str]], atom: Atom) -> bool:
    """Say whether a value stands in the grounded statement twice, or is made of the statement's own words.

    No proof in the corpus has the first, 5 of 1,482 bindings there have the second, and many wrong ones have.
    """
    values = [normalise(value) for found in bindings.values() for value in found]
    named = [normalise(constant.value) for constant in atom.constants]
    if len({*values, *named}) < len(values) + len({*named}):
        return True
    written = _stems(atom)
    return any(content_stems(value) and content_stems(value) <= written for value in values)


def _stems(atom: Atom) -> frozenset[str]:
    return content_stems(" ".join(map(_wording, atom.parts)))


def _wording(part: str | Variable | Constant) -> str:
    """Return the words of a part of a statement; a type that names a choice is none of them."""
    if isinstance(part, Variable):
        return "" if " or " in part.type else part.type
    return part.value if isinstance(part, Constant) else part

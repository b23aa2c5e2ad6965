"""Checks a small model's claims beyond their form: they are about the named person, and they say something new."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from goalmem_cli.logic import Atom, Constant, Variable
from goalmem_cli.logic.checks import told_as_you
from goalmem_cli.logic.dates import dates_in
from goalmem_cli.logic.normal import content_stems, content_words, name_stems, name_words, normalise
from goalmem_cli.logic.questions import speaks_of_asker
from goalmem_cli.trace import Fact

NEARER = 0.75
"""The least difference in log odds by which another speaker's best turn must be likelier evidence than the named
person's, for the question to count as being about the wrong person."""
_LEAST = 1e-9
_OWN = re.compile(r"\b(?:my|our|mine|ours)\b[^.!?,;]*", re.IGNORECASE)
_GREETED = (
    "hey|hi|hello|thanks|thank you|wow|oh|yeah|yes|yep|no|sorry|well|congrats|congratulations|bye|okay|ok|sure|dear"
    "|good|morning|night|and|so|but|you"
)
"""The words that may come before the name of somebody who is addressed: "thanks, Sam"."""


def log_odds(probability: float) -> float:
    """Return the natural logarithm of the odds of a probability, kept away from 0 and 1 so that it is finite."""
    kept = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(kept / (1 - kept))


def speakers(facts: Iterable[Fact]) -> frozenset[str]:
    """Return the speakers of the facts and of the turns shown around them."""
    said = [(fact.speaker, *(speaker for speaker, _ in (*fact.before, *fact.after))) for fact in facts]
    return frozenset(speaker for entry in said for speaker in entry)


def doubt(atom: Atom, fact: Fact, people: Iterable[str], beside: Iterable[Fact] = ()) -> str:
    """Return why a fact is not about the persons and things that the statement names, or an empty text.

    In two-person chats the commonest error is to give one person's statement to the other. The rules:

    - A person of the conversation must speak in the fact or be named in it. This costs one of 59 right answers of
      held-out conversations and LoCoMo.
    - At least half of a name's words must occur in the fact, near it, or in its speaker's name. This holds for 863 of
      the 905 names in the corpus' proofs. A fact `beside` it, of the same conversation, may have the name as well.
    - If the statement begins with a name, the speaker must not say "I" of himself or herself. This holds for 554 of
      571.

    In a two-person chat "you" names the hearer. A statement that names both speaker and hearer may be stated without
    the hearer's name, unless the speaker calls something in it "my".
    """
    text = f"{fact.text} {told_as_you(fact)}"
    told = content_stems(f"{fact.speaker} {text}")
    hearer = _hearer(atom, fact)
    context = [(other.speaker, other.text) for other in beside if other.conversation == fact.conversation]
    around = content_stems(" ".join(f"{who} {said}" for who, said in context))
    beside_it = " ".join((hearer, *(f"{who} {said}" for who, said in (*fact.before, *fact.after))))
    near = told | around | content_stems(beside_it)
    for constant in atom.constants:
        name = name_words(constant.value)
        namesakes = [person for person in people if name & content_words(person)]
        if namesakes and fact.speaker not in namesakes and not name & content_words(f"{text} {hearer}"):
            return f"{constant.value} neither says nor is named in it"
        wanted = name_stems(constant.value) if _is_name(constant.value) else frozenset()
        if 2 * len(wanted & near) < len(wanted):
            return f"nobody names {constant.value} there"
        is_named = bool(wanted & (told | around))
        if wanted and not is_named and constant is atom.parts[0] and speaks_of_asker(fact.text):
            return f"the speaker tells of himself or herself, not of {constant.value}"
    return ""


def _hearer(atom: Atom, fact: Fact) -> str:
    """Return the hearer of the fact if the statement names its speaker, who calls nothing in it "my"; else nothing."""
    speaker = content_words(fact.speaker)
    is_named = any(name and name <= speaker for name in (content_words(constant.value) for constant in atom.constants))
    own = content_stems(" ".join(_OWN.findall(fact.text)))
    return fact.to if is_named and not own & _stems(atom) else ""


def told_by_another(question: str, told: Mapping[str, float], people: Iterable[str]) -> tuple[str, str] | None:
    """Return the speaker whom a question names and another who seems to have said it, or None.

    `told` maps each speaker to the probability that the best turn is evidence. Of the corpus' answerable questions that
    name one speaker, 5% are nearer to another's turn. With a wrong name put into the same questions it is 45%. None if
    the name is one of a choice ("Who steers, Ana or Ben?").
    """
    asked = content_words(question)
    named = [person for person in people if asked & name_words(person)]
    if len(named) != 1 or not told or any(_is_choice(name, question) for name in name_words(named[0])):
        return None
    other = max((speaker for speaker in told if speaker not in named), key=lambda speaker: told[speaker], default="")
    nearer = log_odds(told.get(other, 0.0)) - log_odds(told.get(named[0], 0.0))
    return (named[0], other) if nearer >= NEARER else None


def is_addressed(value: str, facts: Iterable[Fact], people: Iterable[str]) -> bool:
    """Say whether the value is a speaker's name that the facts use only to address that person.

    "Thanks, Sam!" says nothing about Sam. No name in the corpus' proofs is used only in this way.
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
    """Say whether a value occurs twice in the grounded statement, or consists of the statement's own words.

    A value that the statement offers ("Who won, Ana or Ben?") does neither. In the corpus' proofs no value does the
    first, and 5 of 1,482 bindings do the second. Many wrong claims do.
    """
    chosen = {variable.name for variable in atom.variables if variable.type in _CHOSEN}
    stated = "".join(map(_wording, atom.parts))
    values = [
        normalise(value)
        for name, found in bindings.items()
        for value in found
        if name not in chosen or not _is_choice(value, stated)
    ]
    named = [normalise(constant.value) for constant in atom.constants]
    if len({*values, *named}) < len(values) + len({*named}):
        return True
    written = _stems(atom)
    return any(content_stems(value) and content_stems(value) <= written for value in values)


_CHOSEN = ("one", "person", "thing")
"""The types of what a question asks for if it names the choices."""


def _is_choice(value: str, text: str) -> bool:
    """Say whether the text offers the value: before "or", in a list that ends with "or", or soon after it."""
    told = re.escape(re.sub(r"^(?:the|an?) ", "", value.casefold()))
    offered = rf"(?<!\w){told}(?:, [^,]{{1,30}})*,? or\b|\bor (?:\S+ ){{0,3}}{told}(?!\w)"
    return re.search(offered, text.casefold()) is not None


def _stems(atom: Atom) -> frozenset[str]:
    return content_stems(" ".join(map(_wording, atom.parts)))


def _wording(part: str | Variable | Constant) -> str:
    """Return the words of a part of a statement, without a type that names a choice ("tea or coffee")."""
    if isinstance(part, Variable):
        return "" if " or " in part.type else part.type
    return part.value if isinstance(part, Constant) else part

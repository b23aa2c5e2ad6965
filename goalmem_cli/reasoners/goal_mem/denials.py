"""Facts against a subgoal: they contradict it, or say it of another person or thing, or only as a plan.

One such verdict is only the model's opinion. It becomes final when a further look finds nothing new, or the next reply
repeats it. It is final at once if another person says it and the named person's own statement is in view.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from goalmem_cli.logic import Atom
from goalmem_cli.logic.checks import told_as_you
from goalmem_cli.logic.normal import content_stems, content_words, name_stems, name_words
from goalmem_cli.reasoners.goal_mem.records import Claim
from goalmem_cli.reasoners.goal_mem.weighing import speakers
from goalmem_cli.trace import Denied, Fact, Verdict


class Denials:
    """The latest denial of each subgoal, by number."""

    def __init__(self) -> None:
        self._by_subgoal: dict[int, Denied] = {}

    def is_final(self, number: int) -> bool:
        """Say whether the denial of a subgoal is final."""
        return number in self._by_subgoal and self._by_subgoal[number].is_final

    def why(self, number: int) -> str:
        """Return in words what denies a subgoal, or an empty text."""
        return self._by_subgoal[number].why if number in self._by_subgoal else ""

    def take(self, claims: Sequence[Claim], atoms: Mapping[int, Atom], facts: Mapping[str, Fact]) -> tuple[Denied, ...]:
        """Record a reply's denials of open subgoals (`atoms` by number), and return them.

        A denial is final if an earlier reply had one for this subgoal, or if the facts in view make it clear.
        """
        earlier = set(self._by_subgoal)
        told = [claim for claim in claims if claim.subgoal in atoms]
        for claim in told:
            number = claim.subgoal
            why = _reason(claim, atoms[number], facts)
            is_final = number in earlier or _is_clear(claim, atoms[number], facts)
            self._by_subgoal[number] = Denied(number, claim.facts, claim.verdict, why, is_final)
        return tuple(self._by_subgoal[number] for number in dict.fromkeys(claim.subgoal for claim in told))

    def confirm(self, numbers: Iterable[int]) -> tuple[Denied, ...]:
        """Make the denials of these subgoals final, because a look found nothing new. Return those that changed."""
        confirmed = [n for n in numbers if n in self._by_subgoal and not self._by_subgoal[n].is_final]
        self._by_subgoal |= {n: replace(self._by_subgoal[n], is_final=True) for n in confirmed}
        return tuple(self._by_subgoal[n] for n in confirmed)

    def forget(self, numbers: Iterable[int]) -> None:
        """Drop the denials of subgoals that are proved now."""
        for number in numbers:
            self._by_subgoal.pop(number, None)


def _is_clear(claim: Claim, atom: Atom, facts: Mapping[str, Fact]) -> bool:
    """Say whether a further look would find nothing.

    That is so if another person says it, and one statement of the named person has every name and thing of the subgoal.
    """
    people = speakers(facts.values())
    named = [person for person in people if name_stems(person) & content_stems(atom.phrase)]
    stems = [content_stems(constant.value) for constant in atom.constants]
    things = frozenset[str]().union(*stems).difference(*map(content_stems, named))
    is_anothers = claim.verdict is Verdict.OF_ANOTHER and all(facts[each].speaker not in named for each in claim.facts)
    own = [fact.text for fact in facts.values() if fact.speaker in named and "?" not in fact.text]
    return is_anothers and bool(named) and bool(things) and any(things <= content_stems(text) for text in own)


def _reason(claim: Claim, atom: Atom, facts: Mapping[str, Fact]) -> str:
    """Return what denies a subgoal, with the fact: ``F1 says it of Audrey``."""
    cited = ", ".join(claim.facts)
    if claim.verdict is Verdict.CONTRADICTED:
        return f"{cited} says otherwise"
    named, people = content_words(str(atom)), speakers(facts.values())
    others = [person for person in sorted(people) if not name_words(person) & named]
    told = [facts[number] for number in claim.facts]
    mentioned = [person for person in others if any(name_words(person) & content_words(fact.text) for fact in told)]
    telling = [fact.speaker for fact in told if fact.speaker in others]
    addressed = [person for fact in told if (person := told_as_you(fact)) in others]
    if whom := (mentioned or telling or addressed):
        return f"{cited} says it of {whom[0]}"
    return f"{cited} says it of something else, or only as a plan or wish"

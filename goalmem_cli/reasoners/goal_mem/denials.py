"""Facts that speak against a subgoal: they contradict it, or tell it of another person or thing, or only as a plan.

One such verdict is only the model's; it settles the subgoal as not provable once a further look for it brought nothing
new, or the next reply says it again; at once where another person tells it and what the named person has to tell of
it is in view.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from goalmem_cli.logic import Atom
from goalmem_cli.logic.checks import told_as_you
from goalmem_cli.logic.normal import content_stems, content_words
from goalmem_cli.reasoners.goal_mem.records import Claim
from goalmem_cli.reasoners.goal_mem.weighing import speakers
from goalmem_cli.trace import Denied, Fact, Verdict


class Denials:
    """The latest of each subgoal, by its number."""

    def __init__(self) -> None:
        self._by_subgoal: dict[int, Denied] = {}

    def is_final(self, number: int) -> bool:
        """Say whether a subgoal is settled as not provable."""
        return number in self._by_subgoal and self._by_subgoal[number].is_final

    def why(self, number: int) -> str:
        """Return what speaks against a subgoal, in words, or nothing."""
        return self._by_subgoal[number].why if number in self._by_subgoal else ""

    def take(self, claims: Sequence[Claim], atoms: Mapping[int, Atom], facts: Mapping[str, Fact]) -> tuple[Denied, ...]:
        """Take what a reply says against the subgoals that are open, `atoms` by number; said again, or clear from the
        facts in view, it is final.
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
        """Take it that a look for these subgoals brought nothing new, and return what is final by that."""
        confirmed = [n for n in numbers if n in self._by_subgoal and not self._by_subgoal[n].is_final]
        self._by_subgoal |= {n: replace(self._by_subgoal[n], is_final=True) for n in confirmed}
        return tuple(self._by_subgoal[n] for n in confirmed)

    def forget(self, numbers: Iterable[int]) -> None:
        """Drop what was said against subgoals that are proved now."""
        for number in numbers:
            self._by_subgoal.pop(number, None)


def _is_clear(claim: Claim, atom: Atom, facts: Mapping[str, Fact]) -> bool:
    """Say whether a further look would find nothing: another person tells it, and one thing that the named person says,
    and does not ask, has every name and thing of the subgoal.
    """
    people = speakers(facts.values())
    named = [person for person in people if content_stems(person) & content_stems(atom.phrase)]
    stems = [content_stems(constant.value) for constant in atom.constants]
    things = frozenset[str]().union(*stems).difference(*map(content_stems, named))
    is_anothers = claim.verdict is Verdict.OF_ANOTHER and all(facts[each].speaker not in named for each in claim.facts)
    own = [fact.text for fact in facts.values() if fact.speaker in named and "?" not in fact.text]
    return is_anothers and bool(named) and bool(things) and any(things <= content_stems(text) for text in own)


def _reason(claim: Claim, atom: Atom, facts: Mapping[str, Fact]) -> str:
    """Return what speaks against a subgoal, naming the fact: ``F1 says it of Audrey``."""
    cited = ", ".join(claim.facts)
    if claim.verdict is Verdict.CONTRADICTED:
        return f"{cited} says otherwise"
    named, people = content_words(str(atom)), speakers(facts.values())
    others = [person for person in sorted(people) if not content_words(person) & named]
    told = [facts[number] for number in claim.facts]
    mentioned = [person for person in others if any(content_words(person) & content_words(fact.text) for fact in told)]
    telling = [fact.speaker for fact in told if fact.speaker in others]
    addressed = [person for fact in told if (person := told_as_you(fact)) in others]
    if whom := (mentioned or telling or addressed):
        return f"{cited} says it of {whom[0]}"
    return f"{cited} says it of something else, or only as a plan or wish"

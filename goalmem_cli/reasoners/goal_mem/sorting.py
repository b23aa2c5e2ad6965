"""Sorts claims by their verdict: to be judged, refused at once, or denying their subgoal; keeps the denials.

A claim that facts only suggest counts for a question that asks for a conclusion, a favourite, the best or the most. It
is marked as likely wherever it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from goalmem_cli.logic import Atom
from goalmem_cli.logic.checks import told_as_you
from goalmem_cli.logic.normal import content_stems, content_words, name_stems, name_words, normalise
from goalmem_cli.logic.questions import asks_for_ranking
from goalmem_cli.logic.support import Support
from goalmem_cli.reasoners.goal_mem.records import Claim, Proposed, Ruling, Status
from goalmem_cli.reasoners.goal_mem.weighing import speakers
from goalmem_cli.trace import Denied, Fact, Grounded, Rejected, Verdict

if TYPE_CHECKING:
    from goalmem_cli.reasoners.goal_mem.state import ProofState

SUGGESTED = "likely: the facts suggest it and do not say it"
"""The note on a grounding that facts only suggest."""
LIKELY = "likely "
"""The beginning of an answer that facts only suggest."""

Cited = tuple[int, tuple[str, ...]]
"""A subgoal and the facts that a claim cites for it."""


@dataclass(slots=True)
class Sorted:
    """The claims to be judged (`kept`), those refused at once, and those that deny their subgoal.

    `suggested` maps each claim that is only likely to its reason. `incomplete` lists subgoals with facts that are about
    them but leave out the detail that is asked for.
    """

    kept: list[Claim] = field(default_factory=list)
    refused: list[Rejected] = field(default_factory=list)
    denied: list[Claim] = field(default_factory=list)
    suggested: dict[Cited, str] = field(default_factory=dict)
    incomplete: list[tuple[int, str]] = field(default_factory=list)


def sort_claims(reply: Proposed, facts: Iterable[str], state: ProofState) -> Sorted:
    """Return the claims sorted by what to do with them; `facts` are the numbers in view."""
    found, in_view, is_conclusion = Sorted(), set(facts), state.plan.is_conclusion
    said = {claim.subgoal for claim in reply.claims if claim.verdict is Verdict.ENTAILED}
    for claim in reply.claims:
        cited, is_known = ", ".join(claim.facts), state.has_subgoal(claim.subgoal)
        atom = state.atoms[claim.subgoal] if is_known else None
        if atom is not None and in_view.issuperset(claim.facts) and _speaks_against(claim, state):
            found.denied.append(claim)
        elif claim.verdict is Verdict.INCOMPLETE:
            found.refused.append(claim.refused(f"{cited} leaves out what is asked for"))
            found.incomplete += [(claim.subgoal, each) for each in claim.facts if is_known and each in in_view]
        elif claim.verdict is Verdict.SUGGESTED and not (atom is not None and _may_be_likely(atom, reply, state)):
            found.refused.append(claim.refused(f"{cited} only suggests it: not enough by itself"))
        elif atom is None:
            found.refused.append(claim.refused("there is no such subgoal"))
        elif claim.verdict is Verdict.SUGGESTED and claim.subgoal in said and not is_conclusion:
            found.refused.append(claim.refused(f"{cited} only suggests it, and another fact says what it is"))
        elif not _says_again(claim, state):
            found.kept.append(claim)
            if claim.verdict is Verdict.SUGGESTED:
                found.suggested[claim.subgoal, claim.facts] = claim.why
    return found


def _speaks_against(claim: Claim, state: ProofState) -> bool:
    """Say whether a claim denies its subgoal. In a closed question a contradiction settles a plan's subgoal instead."""
    is_verdict = state.plan.is_closed and claim.subgoal < len(state.plan.subgoals)
    denies = claim.verdict is Verdict.OF_ANOTHER or (claim.verdict is Verdict.CONTRADICTED and not is_verdict)
    return denies and state.is_provisional


def _may_be_likely(atom: Atom, reply: Proposed, state: ProofState) -> bool:
    """Say whether a mere suggestion counts for a subgoal. For a favourite, nothing may be left to retrieve."""
    words = " ".join(part if isinstance(part, str) else part.type for part in atom.parts)
    is_last = reply.status is not Status.LOOK and asks_for_ranking(words)
    return not state.is_strict and (state.plan.is_conclusion or is_last)


def _says_again(claim: Claim, state: ProofState) -> bool:
    """Say whether a claim only repeats a settled value."""
    number, bindings = claim.subgoal, claim.bindings
    if claim.is_contradiction:
        return any(item.subgoal == number for item in state.contradicted)
    items = state.settling(number)
    if state.plan.is_computed:  # one value may stand for two things, told by other facts or beside another date
        return any(set(claim.facts) <= set(i.facts) and i.bindings == bindings for i in items)
    known = {(n, normalise(v)) for item in items for n, values in item.bindings.items() for v in values}
    return bool(items) and all((n, normalise(v)) in known for n, values in bindings.items() for v in values)


def marked(ruling: Ruling, suggested: Mapping[Cited, str]) -> Ruling:
    """Return the ruling with suggested groundings marked as likely, each with its reason."""
    return replace(ruling, grounded=tuple(_marked(item, suggested) for item in ruling.grounded))


def _marked(item: Grounded, suggested: Mapping[Cited, str]) -> Grounded:
    why = suggested.get((item.subgoal, item.facts))
    if why is None:
        return item
    return replace(
        item,
        support=dict.fromkeys(item.bindings, Support.SUGGESTED),
        notes=(*item.notes, SUGGESTED, *([why] if why else [])),
    )


def as_likely(answer: str, groundings: Iterable[Grounded]) -> str:
    """Return the answer, preceded by "likely" if a grounding is only suggested."""
    is_suggested = any(SUGGESTED in item.notes for item in groundings)
    return f"{LIKELY}{answer}" if is_suggested and not answer.startswith(LIKELY) else answer


class Denials:
    """The latest denial of each subgoal, by number: facts contradict it, or say it of another, or only as a plan.

    One such verdict is only the model's opinion. It becomes final when a further look finds nothing new, or the next
    reply repeats it. It is final at once if another person says it and the named person's own statement is in view.
    """

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

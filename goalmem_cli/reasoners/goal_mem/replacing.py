"""Replaces a value by one said later: an amount agreed after an offer, or a state that has changed.

Only later statements replace earlier ones. A value that was given up never comes back, so values cannot alternate.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from goalmem_cli.backbones.now.asked import KEEPER, Asked, asked_in
from goalmem_cli.backbones.now.states import replied_to, states_in
from goalmem_cli.logic.moments import is_later, latest
from goalmem_cli.logic.normal import normalise, stem, words
from goalmem_cli.model_replies import in_one_line
from goalmem_cli.reasoners.goal_mem.records import Bench, Claim
from goalmem_cli.trace import Contradicted, Fact, Grounded, Rejected

OUTDATED = "superseded now: "
"""The beginning of the reason for refusing a fact that a later one replaces."""
_QUOTED = 160
"""How many letters of a later fact a refusal quotes."""


def replaced_by(
    claim: Claim,
    known: Sequence[Grounded | Contradicted],
    starred: Collection[str],
    facts: Mapping[str, Fact],
    given_up: Collection[tuple[str, str]],
) -> list[Grounded | Contradicted] | str:
    """Return what a claim with `is_instead` replaces, or why it may not.

    It replaces what settled its subgoal, and other values of its variables: values of starred variables only in its own
    subgoal. `given_up` holds pairs of variable and normalised value that were replaced before.
    """
    if pairs_of(claim.bindings) & set(given_up):
        return "it was replaced before, and is not taken back"
    lost, last = [item for item in known if _is_replaced(item, claim, starred)], last_said(claim.facts, facts)
    for item in lost:
        before = last_said(item.facts, facts)
        if last is None or before is None or not is_later(last, before):
            cited, told = ", ".join(claim.facts), ", ".join(item.facts)
            return f"{cited} was not said later than {told}, which it is to replace"
    return lost


def pairs_of(bindings: Mapping[str, tuple[str, ...]]) -> set[tuple[str, str]]:
    """Return each variable with each of its values in normal form."""
    return {(name, normalise(value)) for name, values in bindings.items() for value in values}


def superseding(item: Grounded, lost: Iterable[Grounded | Contradicted]) -> Grounded:
    """Return the grounding with notes on what it replaces."""
    notes = [f"supersedes {_said(old)} of {', '.join(old.facts)}" for old in lost]
    return replace(item, notes=tuple(dict.fromkeys((*item.notes, *notes))))


def superseded(old: Grounded | Contradicted, claim: Claim) -> Rejected:
    """Return the refusal of what a claim replaces."""
    told, why = _told(claim.bindings), f"superseded: {', '.join(claim.facts)} was said later"
    bindings = old.bindings if isinstance(old, Grounded) else {}
    return Rejected(old.subgoal, old.facts, f"{why} and gives {told}" if told else why, bindings)


def last_said(numbers: Iterable[str], facts: Mapping[str, Fact]) -> datetime | None:
    """Return when the latest of the facts was said, or None if no known fact has a time."""
    return latest(facts[number].said for number in numbers if number in facts)


def outdated(claim: Claim, bench: Bench) -> str:
    """Return why the claim may not rest on a fact that a later one replaces, or an empty text.

    It may not if the question asks how things are now and the claim gives the value that was replaced.
    """
    asked = asked_in(bench.question)
    cited = [bench.facts[number] for number in claim.facts]
    if asked is None or not any(fact.moved_on for fact in cited):
        return ""
    telling = [fact for fact in cited if claim.is_contradiction or _tells(claim, fact, asked, bench)]
    later = [fact.moved_on for fact in telling if fact.moved_on is not None]
    if not later or len(later) < len(telling):
        return ""
    number = next((fact.number for fact in bench.facts.values() if fact.unit == later[0].unit), "a turn out of view")
    return f"{OUTDATED}{number} was said later: {in_one_line(later[0].text)[:_QUOTED]}"


def who_got_it(value: str, fact: Fact, question: str) -> str:
    """Return who has the thing that is asked for, if all that the speaker, whom the value names, says is who got it.

    "Who has the ladder?" is answered "Tom" by "I gave the ladder to Tom." Where more is said, the value stays.
    """
    asked = asked_in(question)
    if asked is None or asked.type != KEEPER or normalise(value) != normalise(fact.speaker):
        return value
    found = _GAVE_ALL.fullmatch(fact.text.strip())
    is_it = found is not None and set(map(stem, words(found["thing"]))) == asked.about
    return found["who"] if found is not None and is_it else value


_GAVE_ALL = re.compile(
    r"(?:I|We)(?:['’]ve| have)?(?: just| already)? (?:gave|given|lent|handed|passed) (?:the|my|our) (?P<thing>[\w -]+?)"
    r"(?: over| on)? to (?P<who>[A-Z]\w+)(?: (?:now|already|today|yesterday|(?:this|yesterday) \w+))?[.!]*"
)


def superseded_by(claim: Claim, bench: Bench) -> list[str]:
    """Return a note on the facts in view that the claim's facts replace, if any."""
    units = {bench.facts[number].unit for number in claim.facts if number in bench.facts}
    replaced = [fact for fact in bench.facts.values() if fact.moved_on is not None]
    earlier = [fact.number for fact in replaced if fact.moved_on is not None and fact.moved_on.unit in units]
    return [f"supersedes {', '.join(earlier)}"] if earlier else []


def _tells(claim: Claim, fact: Fact, asked: Asked, bench: Bench) -> bool:
    """Say whether the claim gives a value that the fact states of what the question asks for."""
    atom = bench.subgoals[claim.subgoal]
    given = [value for values in claim.bindings.values() for value in values]
    given += [constant.value for constant in atom.constants]
    stems = [frozenset(map(stem, words(value))) for value in given]
    states = states_in(fact.text, asked, replied_to(fact.speaker, fact.before))
    told = [state.stems_by(fact.speaker) for state in states if state.value]
    return any(value <= each or each <= value for value in told for each in stems if each)


def _is_replaced(item: Grounded | Contradicted, claim: Claim, starred: Collection[str]) -> bool:
    if item.subgoal == claim.subgoal:
        return True
    if isinstance(item, Contradicted):
        return False
    return any(
        name not in starred and normalise(values[0]) != normalise(item.bindings[name][0])
        for name, values in claim.bindings.items()
        if name in item.bindings
    )


def _said(item: Grounded | Contradicted) -> str:
    return _told(item.bindings) if isinstance(item, Grounded) and item.bindings else "what was said before"


def _told(bindings: Mapping[str, tuple[str, ...]]) -> str:
    return "; ".join(", ".join(values) for values in bindings.values())

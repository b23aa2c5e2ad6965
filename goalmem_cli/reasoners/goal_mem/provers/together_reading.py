"""Reads a reply of `plan_and_prove`: what cannot be read is unusable, what does not hold is not judged here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic import Atom
from goalmem_cli.reasoners.goal_mem.plan_texts import answered_anew, parse_plan, parse_reply_atom
from goalmem_cli.reasoners.goal_mem.records import Claim, Need, Plan, Proposed, Round, Status, Wish, as_pair
from goalmem_cli.records import Question
from goalmem_cli.trace import Verdict

LETTERS = tuple("xyzwvu")
"""The letters that variables may have."""


def read_proof(reply: Any, standing: Round, max_subgoals: int) -> Proposed:
    """Return what the reply says; labels stand for the subgoals in the order in which it writes them down.

    Raises:
        ReplyUnusable: a plan cannot be read, or has too many subgoals.
    """
    state, atoms, places = standing.state, list[Atom](), dict[str, int]()
    plan = state.plan if state is not None else None
    if state is not None:
        atoms, places = list(state.atoms), {f"S{number + 1}": number for number in state.in_view()}
        plan = answered_anew(state.plan, reply.get("answer", ()), standing.question)
    elif reply["subgoals"]:
        meanings = {entry["name"]: entry["stands_for"] for entry in reply["variables"]}
        plan = _plan(standing.question, reply, max_subgoals, meanings)
        plan = replace(plan, is_current=reply["current"], is_conclusion=reply["conclusion"])
        atoms, places = list(plan.subgoals), _places(reply["subgoals"])
    if plan is None:
        return Proposed(None, status=Status.STOP)
    return Proposed(
        plan,
        tuple(_claim(entry, places, atoms) for entry in reply["groundings"]),
        frozenset(reply["several"]),
        frozenset(as_pair(entry["left"], entry["right"]) for entry in reply["same"]),
        tuple(_wish(entry, places[entry["subgoal"]]) for entry in reply["open"] if entry["subgoal"] in places),
        {},
        _next(reply["next"], plan, standing.question, max_subgoals),
        Status(reply["status"]),
        " ".join(reply["wording"].split()),
    )


def _plan(question: Question, written: Any, max_subgoals: int, meanings: Mapping[str, str]) -> Plan:
    """Return the plan that a reply writes down.

    Raises:
        ReplyUnusable: it cannot be read.
    """
    count = len(written["subgoals"])
    if count > max_subgoals:
        raise ReplyUnusable(f"it has {count} subgoals, and at most {max_subgoals} may be")
    plan = parse_plan(question, written["goal"], written["subgoals"], written["answer"], meanings, False)
    names = [variable.name for atom in plan.subgoals for variable in atom.variables]
    if strange := [name for name in names if name not in LETTERS]:
        raise ReplyUnusable(f"the variable {strange[0]} is none of {', '.join(LETTERS)}")
    return plan


def _next(written: Sequence[Any], plan: Plan, question: Question, max_subgoals: int) -> Plan | None:
    if not written:
        return None
    found = _plan(question, written[0], max_subgoals, plan.meanings)
    return replace(found, is_current=plan.is_current, is_conclusion=plan.is_conclusion)


def _places(texts: Sequence[str]) -> dict[str, int]:
    """Return which subgoal each label stands for; one that was written twice is one."""
    atoms = [parse_reply_atom(text) for text in texts]
    distinct = list(dict.fromkeys(map(str, atoms)))
    return {f"S{place}": distinct.index(str(atom)) for place, atom in enumerate(atoms, 1)}


def _claim(entry: Any, places: Mapping[str, int], atoms: Sequence[Atom]) -> Claim:
    """Return the grounding; bindings of variables that its subgoal does not have are dropped from it."""
    is_known = entry["subgoal"] in places
    number = places[entry["subgoal"]] if is_known else _number(entry["subgoal"])
    names = {variable.name for variable in atoms[number].variables} if is_known else set()
    bindings: dict[str, tuple[str, ...]] = {}
    for binding in entry["bindings"]:
        name, value = binding["variable"], " ".join(binding["value"].split())
        if name in names and value not in bindings.get(name, ()):
            bindings[name] = (*bindings.get(name, ()), value)
    verdict = Verdict(entry["verdict"])
    facts = tuple(dict.fromkeys(entry["facts"]))
    return Claim(number, facts, bindings, verdict, " ".join(entry["why"].split()), entry["instead"])


def _number(label: str) -> int:
    """Return the number of a label that nothing declared, which no subgoal has."""
    return int(label[1:]) - 1 if label[1:].isdecimal() and len(label) < 4 else -1


def _wish(entry: Any, number: int) -> Wish:
    queries = tuple(dict.fromkeys(text for query in entry["queries"] if (text := " ".join(query.split()))))
    need = next((Need(parse_reply_atom(needed["text"]), needed["relation"]) for needed in entry["needs"]), None)
    return Wish(number, " ".join(entry["why"].split()), queries, need)

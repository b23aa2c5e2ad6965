"""Reads a reply of `plan_and_prove`, as far as it can be read; what does not hold is not judged here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic import Atom
from goalmem_cli.logic.normal import as_pair
from goalmem_cli.reasoners.goal_mem.plan_texts import answered_anew, parse_plan
from goalmem_cli.reasoners.goal_mem.provers.mending_plans import LETTERS, MendedPlan, mended_plan, read_statement
from goalmem_cli.reasoners.goal_mem.records import Claim, Need, Plan, Proposed, Round, Status, Wish
from goalmem_cli.reasoners.inquiry import is_refusal as is_refused
from goalmem_cli.records import Question
from goalmem_cli.trace import Verdict


def read_proof(reply: Any, standing: Round, max_subgoals: int) -> Proposed:
    """Return what the reply says; labels stand for the subgoals in the order in which it writes them down.

    Raises:
        ReplyUnusable: a plan cannot be read, or has too many subgoals.
    """
    state, atoms, places = standing.state, list[Atom](), dict[str, int]()
    plan, mended, repairs = None, None, list[str]()
    if state is not None:
        atoms, places = list(state.atoms), {f"S{number + 1}": number for number in state.in_view()}
        plan = answered_anew(state.plan, reply.get("answer", ()), standing.question)
    elif reply["subgoals"]:
        mended = mended_plan(reply, standing.question)
        repairs += mended.repairs
        meanings = {mended.letter(entry["name"]): entry["stands_for"] for entry in reply["variables"]}
        plan = _plan(standing.question, mended, max_subgoals, meanings)
        plan = replace(plan, is_current=reply["current"], is_conclusion=reply["conclusion"])
        atoms, places = list(plan.subgoals), _places(mended.subgoals)
    if plan is None:
        return Proposed(None, status=Status.STOP)
    lost = mended.left_out if mended is not None else {}
    told = [entry for entry in reply["groundings"] if entry["subgoal"] not in lost]
    claims = tuple(_claim(entry, places, atoms, mended) for entry in told)
    following = _next(reply["next"], plan, standing.question, max_subgoals, repairs)
    wishes = [_wish(entry, places[entry["subgoal"]], mended) for entry in reply["open"] if entry["subgoal"] in places]
    is_refusal = reply["status"] == Status.STOP and is_refused(reply["wording"])
    is_disorderly = bool(mended is not None and mended.repairs)
    is_disorderly = is_disorderly or (not is_refusal and _is_unreadable(claims, plan, standing, len(atoms)))
    return Proposed(
        plan,
        claims,
        frozenset(reply["several"]),
        frozenset(as_pair(entry["left"], entry["right"]) for entry in reply["same"]),
        tuple(wishes),
        {},
        following,
        Status(reply["status"]),
        " ".join(reply["wording"].split()),
        tuple(repairs),
        is_disorderly,
    )


def _is_unreadable(claims: Sequence[Claim], plan: Plan, standing: Round, count: int) -> bool:
    """Say whether most claims name subgoals that nothing declares, or cite facts for the answer and do not say it."""
    if 2 * sum(not 0 <= claim.subgoal < count for claim in claims) > len(claims):
        return True
    bound = standing.state.substitution.bindings if standing.state is not None else {}
    wanted = set(plan.answer_variables) - set(bound)
    having = plan.having(wanted)
    told = [claim for claim in claims if claim.subgoal in having and claim.verdict is Verdict.ENTAILED]
    return bool(told) and not any(wanted & claim.bindings.keys() for claim in told)


def _plan(question: Question, written: MendedPlan, max_subgoals: int, meanings: Mapping[str, str]) -> Plan:
    """Return the plan that a reply writes down.

    Raises:
        ReplyUnusable: it cannot be read.
    """
    subgoals = [text for text in written.subgoals if text is not None]
    if len(subgoals) > max_subgoals:
        raise ReplyUnusable(f"it has {len(subgoals)} subgoals, and at most {max_subgoals} may be")
    plan = parse_plan(question, written.goal, subgoals, written.answer, meanings, False)
    names = [variable.name for atom in plan.subgoals for variable in atom.variables]
    if strange := [name for name in names if name not in LETTERS]:
        raise ReplyUnusable(f"the variable {strange[0]} is none of {', '.join(LETTERS)}")
    return replace(plan, left_out=tuple(written.left_out.values()))


def _next(written: Sequence[Any], plan: Plan, question: Question, max_subgoals: int, repairs: list[str]) -> Plan | None:
    """Return the next plan; one that cannot be read spoils no proof, and is left out."""
    if not written:
        return None
    try:
        found = _plan(question, mended_plan(written[0], question), max_subgoals, plan.meanings)
    except ReplyUnusable as error:
        repairs.append(f"the next plan was left out: {error.message}"[:160])
        return None
    return replace(found, is_current=plan.is_current, is_conclusion=plan.is_conclusion)


def _places(texts: Sequence[str | None]) -> dict[str, int]:
    """Return which subgoal each label stands for; one that was written twice is one, and one left out none."""
    distinct = list(dict.fromkeys(text for text in texts if text is not None))
    return {f"S{place}": distinct.index(text) for place, text in enumerate(texts, 1) if text is not None}


def _claim(entry: Any, places: Mapping[str, int], atoms: Sequence[Atom], mended: MendedPlan | None) -> Claim:
    """Return the grounding; bindings of variables that its subgoal does not have are dropped from it."""
    is_known = entry["subgoal"] in places
    number = places[entry["subgoal"]] if is_known else _number(entry["subgoal"])
    names = {variable.name for variable in atoms[number].variables} if is_known else set()
    bindings: dict[str, tuple[str, ...]] = {}
    for binding in entry["bindings"]:
        name, value = binding["variable"], " ".join(binding["value"].split())
        name = name if mended is None else mended.letter(name)
        if name in names and value not in bindings.get(name, ()):
            bindings[name] = (*bindings.get(name, ()), value)
    verdict = Verdict(entry["verdict"])
    facts = tuple(dict.fromkeys(entry["facts"]))
    return Claim(number, facts, bindings, verdict, " ".join(entry["why"].split()), entry["instead"])


def _number(label: str) -> int:
    """Return the number of a label that nothing declared, which no subgoal has."""
    return int(label[1:]) - 1 if label[1:].isdecimal() and len(label) < 4 else -1


def _wish(entry: Any, number: int, mended: MendedPlan | None) -> Wish:
    queries = tuple(dict.fromkeys(text for query in entry["queries"] if (text := " ".join(query.split()))))
    letters = mended.letters if mended is not None else {}
    told = [(read_statement(needed["text"], letters), needed["relation"]) for needed in entry["needs"]]
    need = next((Need(statement, relation) for statement, relation in told if statement is not None), None)
    return Wish(number, " ".join(entry["why"].split()), queries, need)

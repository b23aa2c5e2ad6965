"""Reads replies of `plan_and_prove`. Whether their claims hold is judged elsewhere (`judge.py`)."""

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
    """Return the content of a reply. Labels S1, S2 ... count the subgoals in the order of the reply.

    Raises:
        ReplyUnusable: the plan is unreadable, or has too many subgoals.
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
    """Say whether most claims use undeclared labels, or whether claims for the answer bind no answer variable."""
    if 2 * sum(not 0 <= claim.subgoal < count for claim in claims) > len(claims):
        return True
    bound = standing.state.substitution.bindings if standing.state is not None else {}
    wanted = set(plan.answer_variables) - set(bound)
    having = plan.having(wanted)
    told = [claim for claim in claims if claim.subgoal in having and claim.verdict is Verdict.ENTAILED]
    return bool(told) and not any(wanted & claim.bindings.keys() for claim in told)


def _plan(question: Question, written: MendedPlan, max_subgoals: int, meanings: Mapping[str, str]) -> Plan:
    """Return the plan of a reply.

    Raises:
        ReplyUnusable: it is unreadable, has too many subgoals, or uses an unknown variable.
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
    """Return the next plan, or None. An unreadable one is left out and noted in `repairs`."""
    if not written:
        return None
    try:
        found = _plan(question, mended_plan(written[0], question), max_subgoals, plan.meanings)
    except ReplyUnusable as error:
        repairs.append(f"the next plan was left out: {error.message}"[:160])
        return None
    return replace(found, is_current=plan.is_current, is_conclusion=plan.is_conclusion)


def _places(texts: Sequence[str | None]) -> dict[str, int]:
    """Return label -> subgoal number. Repeated texts share a number; texts that were left out have none."""
    distinct = list(dict.fromkeys(text for text in texts if text is not None))
    return {f"S{place}": distinct.index(text) for place, text in enumerate(texts, 1) if text is not None}


def _claim(entry: Any, places: Mapping[str, int], atoms: Sequence[Atom], mended: MendedPlan | None) -> Claim:
    """Return the claim of a grounding, without bindings of variables that its subgoal lacks."""
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
    """Return the number in an undeclared label, which no subgoal has."""
    return int(label[1:]) - 1 if label[1:].isdecimal() and len(label) < 4 else -1


def _wish(entry: Any, number: int, mended: MendedPlan | None) -> Wish:
    queries = tuple(dict.fromkeys(text for query in entry["queries"] if (text := " ".join(query.split()))))
    letters = mended.letters if mended is not None else {}
    told = [(read_statement(needed["text"], letters), needed["relation"]) for needed in entry["needs"]]
    need = next((Need(statement, relation) for statement, relation in told if statement is not None), None)
    return Wish(number, " ".join(entry["why"].split()), queries, need)

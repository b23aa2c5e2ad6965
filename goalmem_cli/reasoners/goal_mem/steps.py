"""The model steps with JSON replies: one function a step, each fills its prompt, asks, and parses into records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from goalmem_cli.logic import Atom
from goalmem_cli.ports import JsonShape, LanguageModel, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.asking import Reply, ask, asker_in, parse_json, say_day
from goalmem_cli.reasoners.goal_mem.asking import parse_plan, parse_reply_atom, say_bindings
from goalmem_cli.reasoners.goal_mem.plans import (
    Antecedent,
    Decomposition,
    Proposal,
    Situation,
    Unification,
    as_pair,
)
from goalmem_cli.reasoners.showing import block_of
from goalmem_cli.records import Question
from goalmem_cli.trace import Fact, Verdict


class JsonSteps:
    """Steps for models of about 3B parameters and more: JSON replies, one unification over all subgoals."""

    def __init__(self, model: LanguageModel, prompts: PromptBook) -> None:
        self._model = model
        self._prompts = prompts

    def decompose(self, question: Question, failed: Sequence[str], problem: str) -> Reply[Decomposition]:
        """Return a rule for the question."""

        def build(trouble: str) -> list[Request]:
            inputs = _asked(question) | {"failed": list(failed), "problem": trouble or problem}
            return [self._prompts["decompose"].request(inputs)]

        return self._ask(build, lambda reply: _read_plan(reply, question))

    def queries(self, question: Question, plan: Decomposition) -> tuple[str, ...]:  # noqa: ARG002
        """Return the subgoals, which alone are looked for (GOAL-MEM Algorithm 1)."""
        return tuple(atom.phrase for atom in plan.subgoals)

    def unify(self, situation: Situation) -> Reply[Unification]:
        """Return the proposals for all active subgoals over all facts, from one reply."""
        labels = {f"S{number + 1}": number for number in situation.subgoals}
        variables = sorted({v.name for atom in situation.subgoals.values() for v in atom.variables})
        choices = {
            "subgoals": list(labels),
            "facts": [fact.number for fact in situation.facts],
            # A schema needs a value to enumerate even where nothing is left to bind; the engine ignores it.
            "variables": sorted({*variables, *situation.substitution}) or ["none"],
        }

        def build(trouble: str) -> list[Request]:
            inputs = _facing(situation) | {
                "subgoals": [f"{label}. {situation.subgoals[number]}" for label, number in labels.items()],
                "variables": [f"{name}: {situation.plan.meanings.get(name, 'to be found')}" for name in variables],
                "undecided": [f"{left} / {right}" for left, right in situation.undecided],
                "problem": trouble,
            }
            return [self._prompts["unify"].request(inputs, choices)]

        return self._ask(build, lambda reply: _read_unification(reply, labels))

    def refine(
        self, situation: Situation, unresolved: Mapping[int, str], tried: Sequence[str]
    ) -> Reply[tuple[Antecedent, ...]]:
        """Return antecedents for the unresolved subgoals, from one reply."""
        labels = {f"S{number + 1}": number for number in unresolved}

        def build(trouble: str) -> list[Request]:
            inputs = _facing(situation) | {
                "unresolved": [
                    f"{label}. {situation.subgoals[number]} -- {unresolved[number]}" for label, number in labels.items()
                ],
                "tried": list(tried),
                "problem": trouble,
            }
            return [self._prompts["refine"].request(inputs, {"subgoals": list(labels)})]

        return self._ask(build, lambda reply: _read_antecedents(reply, labels))

    def answer(self, question: Question, facts: Sequence[Fact], goal: Atom, found: str) -> Reply[str]:
        """Return a wording of what was found."""

        def build(trouble: str) -> list[Request]:
            inputs = _asked(question) | {"facts": list(block_of(facts).lines), "goal": str(goal), "found": found}
            return [self._prompts["answer"].request(inputs | {"problem": trouble})]

        return self._ask(build, lambda reply: str(reply["answer"]))

    def verdict(self, question: Question, facts: Sequence[Fact], goal: Atom, settled: Sequence[str]) -> Reply[str]:
        """Return yes, no, likely yes, likely no or unknown."""

        def build(trouble: str) -> list[Request]:
            inputs = _asked(question) | {"facts": list(block_of(facts).lines), "goal": str(goal)}
            return [self._prompts["verdict"].request(inputs | {"settled": list(settled), "problem": trouble})]

        return self._ask(build, lambda reply: str(reply["answer"]))

    def _ask(self, build: Any, read: Any) -> Reply[Any]:
        """Ask for one JSON reply; it is validated here too, since a server may ignore the schema."""
        shapes: list[JsonShape] = []

        def recorded(trouble: str) -> list[Request]:
            requests: list[Request] = build(trouble)
            shapes[:] = [request.shape for request in requests if isinstance(request.shape, JsonShape)]
            return requests

        return ask(self._model, recorded, lambda texts: read(parse_json(texts[0], shapes[0].schema)))


def _asked(question: Question) -> dict[str, object]:
    return {"question": question.text, "asker": asker_in(question), "asked": say_day(question.asked)}


def _facing(situation: Situation) -> dict[str, object]:
    return _asked(situation.question) | {
        "facts": list(situation.shown.lines),
        "goal": str(situation.plan.goal),
        "substitution": say_bindings(situation.substitution),
    }


def _read_plan(reply: Any, question: Question) -> Decomposition:
    meanings = {entry["name"]: entry["stands_for"] for entry in reply["variables"]}
    return parse_plan(question, reply["goal"], reply["subgoals"], reply["answer"], meanings, reply["current"])


def _read_unification(reply: Any, labels: Mapping[str, int]) -> Unification:
    proposals = []
    for entry in reply["groundings"]:
        bindings: dict[str, tuple[str, ...]] = {}
        for binding in entry["bindings"]:
            bindings[binding["variable"]] = (*bindings.get(binding["variable"], ()), binding["value"])
        verdict, facts = Verdict(entry["verdict"]), tuple(dict.fromkeys(entry["facts"]))
        number, is_minor = labels[entry["subgoal"]], verdict is Verdict.MINOR
        proposals.append(Proposal(number, facts, bindings, verdict is Verdict.CONTRADICTED, is_minor))
    same = frozenset(as_pair(entry["left"], entry["right"]) for entry in reply["same"])
    unresolved = {labels[entry["subgoal"]]: entry["why"] for entry in reply["unresolved"]}
    return Unification(tuple(proposals), unresolved, same)


def _read_antecedents(reply: Any, labels: Mapping[str, int]) -> tuple[Antecedent, ...]:
    if reply["status"] == "stop":
        return ()
    return tuple(
        Antecedent(labels[entry["of"]], parse_reply_atom(entry["subgoal"]), entry["query"], entry["relation"])
        for entry in reply["antecedents"]
    )

"""The model steps with line replies, for small models: one short request a subgoal, all decoded in one call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic import Atom, Variable
from goalmem_cli.logic.questions import asks_for_current_state, asks_for_something, expected_types, names_in
from goalmem_cli.ports import LanguageModel, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.asking import Reply, ask, asker_in, fact_line
from goalmem_cli.reasoners.goal_mem.asking import VERDICTS, parse_plan, parse_reply_atom, say_bindings
from goalmem_cli.reasoners.goal_mem.plans import (
    Antecedent,
    Decomposition,
    Proposal,
    Situation,
    Unification,
    as_pair,
)
from goalmem_cli.records import Question
from goalmem_cli.trace import Fact

_PLAN = re.compile(r"goal: (?P<goal>.+)\nanswer: (?P<answer>.+)\n(?P<subgoals>1\. .+)", re.DOTALL)
_SUBGOAL = re.compile(r"^\d\. (.+)$", re.MULTILINE)
_NOT_IN_TERMS = frozenset("():|\n")
_RELATIONS = ("temporal", "causal", "semantic", "spatial")


class LineSteps:
    """Steps for the bundled model and others of its size: line replies under a grammar."""

    def __init__(self, model: LanguageModel, prompts: PromptBook) -> None:
        self._model = model
        self._prompts = prompts

    def decompose(self, question: Question, failed: Sequence[str], problem: str) -> Reply[Decomposition]:
        """Return a rule for the question."""

        def build(trouble: str) -> list[Request]:
            inputs = _asked(question) | {"failed": list(failed), "problem": trouble or problem}
            return [self._prompts["decompose"].request(inputs, _plan_choices(question))]

        return ask(self._model, build, lambda texts: _read_plan(texts[0], question))

    def unify(self, situation: Situation) -> Reply[Unification]:
        """Return the proposals of one request a subgoal, and of one for each undecided pair."""
        facts = list(map(fact_line, situation.facts))
        numbers = [fact.number for fact in situation.facts]
        closed = [] if situation.plan.answer_variables else ["no"]
        variables = {number: atom.variables for number, atom in situation.subgoals.items()}

        def build(trouble: str) -> list[Request]:
            shared = _asked(situation.question) | {"facts": facts, "problem": trouble}
            requests = [
                self._prompts["unify"].request(
                    shared | {"subgoal": str(atom)},
                    {"facts": numbers, "closed": closed, "variables": [v.name for v in variables[number]]},
                )
                for number, atom in situation.subgoals.items()
            ]
            pairs = [{"left": left, "right": right} for left, right in situation.undecided]
            del shared["asker"]
            return requests + [self._prompts["same"].request(shared | pair) for pair in pairs]

        return ask(self._model, build, lambda texts: _read_unification(texts, situation, variables))

    def refine(
        self, situation: Situation, unresolved: Mapping[int, str], tried: Sequence[str]
    ) -> Reply[tuple[Antecedent, ...]]:
        """Return the antecedents of one request a subgoal."""

        def build(trouble: str) -> list[Request]:
            shared = _asked(situation.question) | {
                "substitution": say_bindings(situation.substitution),
                "tried": list(tried),
                "problem": trouble,
            }
            prompt, choices = self._prompts["refine"], {"names": _known_names(situation)}
            subgoals = [str(situation.subgoals[number]) for number in unresolved]
            return [prompt.request(shared | {"subgoal": subgoal}, choices) for subgoal in subgoals]

        return ask(self._model, build, lambda texts: _read_antecedents(texts, tuple(unresolved)))

    def answer(self, question: Question, facts: Sequence[Fact], goal: Atom, found: str) -> Reply[str]:  # noqa: ARG002
        """Return a wording of what was found; the goal is left out of this size's prompt."""

        def build(trouble: str) -> list[Request]:
            inputs = {"question": question.text, "facts": list(map(fact_line, facts)), "found": found}
            return [self._prompts["answer"].request(inputs | {"problem": trouble})]

        return ask(self._model, build, _read_line)

    def verdict(self, question: Question, facts: Sequence[Fact], goal: Atom, settled: Sequence[str]) -> Reply[str]:  # noqa: ARG002
        """Return yes, no, likely yes, likely no or unknown; the goal is left out of this size's prompt."""

        def build(trouble: str) -> list[Request]:
            inputs = {"question": question.text, "facts": list(map(fact_line, facts)), "settled": list(settled)}
            return [self._prompts["verdict"].request(inputs | {"problem": trouble})]

        return ask(self._model, build, _read_verdict)


def _asked(question: Question) -> dict[str, object]:
    return {"question": question.text, "asker": asker_in(question)}


def _names(question: Question, *others: str) -> list[str]:
    """Return the names that a subgoal may use, each once: the asker's, the question's, and others."""
    names = (asker_in(question), *names_in(question.text), *others)
    return list(dict.fromkeys(name for name in names if name and not _NOT_IN_TERMS & set(name)))


def _known_names(situation: Situation) -> list[str]:
    bound = [value for values in situation.substitution.values() for value in values]
    return _names(situation.question, *bound, *(fact.speaker for fact in situation.facts))


def _plan_choices(question: Question) -> dict[str, list[str]]:
    """Return what the grammar of a plan may use: the names that the question has, and the types it asks for."""
    return {
        "names": _names(question),
        "types": list(expected_types(question.text)),
        "open": ["x"] if asks_for_something(question.text) else [],
    }


def _read_plan(text: str, question: Question) -> Decomposition:
    match = _PLAN.fullmatch(text.strip())
    if match is None:
        raise ReplyUnusable("it must be a goal line, an answer line and numbered subgoals")
    answer = [] if match["answer"].strip() == "yes or no" else [name.strip() for name in match["answer"].split(",")]
    subgoals = _SUBGOAL.findall(match["subgoals"])
    return parse_plan(question, match["goal"], subgoals, answer, {}, asks_for_current_state(question.text))


def _read_unification(
    texts: list[str], situation: Situation, variables: Mapping[int, tuple[Variable, ...]]
) -> Unification:
    proposals = []
    for (number, wanted), text in zip(variables.items(), texts, strict=False):
        proposal = _read_proposal(text.strip(), number, wanted)
        if proposal is not None:
            proposals.append(proposal)
    same = set()
    for (left, right), text in zip(situation.undecided, texts[len(variables) :], strict=True):
        if text.strip() not in ("same", "different"):
            raise ReplyUnusable("it must be same or different")
        if text.strip() == "same":
            same.add(as_pair(left, right))
    return Unification(tuple(proposals), {}, frozenset(same))


def _read_proposal(text: str, number: int, wanted: Sequence[Variable]) -> Proposal | None:
    """Return the proposal that a line such as ``F4, F7 | x = 9 May 2024`` makes for the subgoal; None for ``none``."""
    if text == "none":
        return None
    cited, bar, rest = text.partition(" | ")
    facts = tuple(dict.fromkeys(part.strip() for part in cited.split(",")))
    if not bar:
        raise ReplyUnusable("it must be fact numbers, a bar and bindings, or none")
    if rest in ("yes", "no"):
        return Proposal(number, facts, {}, rest == "no")
    starred = {variable.name: variable.is_starred for variable in wanted}
    bindings = {}
    for part in rest.split("; "):
        name, equals, value = part.partition(" = ")
        values = tuple(item.strip() for item in (value.split(", ") if starred.get(name.strip()) else [value]))
        if not equals or name.strip() not in starred or not all(values):
            raise ReplyUnusable(f"{part!r} binds no variable of the statement")
        bindings[name.strip()] = values
    return Proposal(number, facts, bindings)


def _read_antecedents(texts: list[str], numbers: Sequence[int]) -> tuple[Antecedent, ...]:
    found = []
    for number, text in zip(numbers, texts, strict=True):
        if text.strip() == "stop":
            continue
        parts = [part.strip() for part in text.split(" | ")]
        if len(parts) != 3 or parts[0] not in _RELATIONS or not parts[2]:
            raise ReplyUnusable("it must be a relation, a statement and a query with bars between, or stop")
        found.append(Antecedent(number, parse_reply_atom(parts[1]), parts[2], parts[0]))
    return tuple(found)


def _read_line(texts: list[str]) -> str:
    if not texts[0].strip():
        raise ReplyUnusable("it is empty")
    return texts[0].strip()


def _read_verdict(texts: list[str]) -> str:
    if texts[0].strip() not in VERDICTS:
        raise ReplyUnusable(f"it must be one of {', '.join(VERDICTS)}")
    return texts[0].strip()

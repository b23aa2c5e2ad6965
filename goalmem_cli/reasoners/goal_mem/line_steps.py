"""The model steps with line replies, for small models: many short requests, all decoded in one call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from goalmem_cli.logic import Atom
from goalmem_cli.logic.people import is_only_named, unfit
from goalmem_cli.logic.questions import asks_for_something, asks_yes_or_no, kinds_asked_for, may_ask_for_several
from goalmem_cli.ports import Completion, LanguageModel, Request
from goalmem_cli.prompts import Prompt, PromptBook
from goalmem_cli.reasoners.asking import Reply, ask, ask_whole, asker_in, fact_line, said_line
from goalmem_cli.reasoners.goal_mem import lines
from goalmem_cli.reasoners.goal_mem.asking import say_bindings
from goalmem_cli.reasoners.goal_mem.plans import (
    Antecedent,
    Decomposition,
    Proposal,
    Situation,
    Unification,
    as_pair,
)
from goalmem_cli.reasoners.goal_mem.readings import (
    ReadFrom,
    read_from,
    read_request,
    readable,
    told_of_another,
    what_is_read,
)
from goalmem_cli.reasoners.goal_mem.weighing import (
    certainty,
    doubt,
    is_addressed,
    says_nothing_new,
    says_yes,
    speakers,
)
from goalmem_cli.records import Question, Usage
from goalmem_cli.trace import Fact

CANDIDATES = 4
"""How many facts a subgoal is held against in one call: the likeliest of those that it was not held against."""
SHOWN_FOR_NAMES = 4
"""How many of the facts that have one of two names are shown where they are compared."""
_WORD, _CAPITAL = re.compile(r"\w+"), re.compile("[A-Z0-9]")
_ADDRESSED = "Assistant"
"""Whom "you" means in a question."""


class LineSteps:
    """Steps for the bundled model and others of its size: line replies under a grammar."""

    def __init__(self, model: LanguageModel, prompts: PromptBook) -> None:
        self._model = model
        self._prompts = prompts

    def decompose(self, question: Question, failed: Sequence[str], problem: str) -> Reply[Decomposition]:
        """Return a rule for the question."""

        def build(trouble: str) -> list[Request]:
            inputs = _asked(question) | {"failed": list(failed), "problem": trouble or problem}
            return [self._prompts["decompose"].request(inputs, plan_choices(question))]

        return ask(self._model, build, lambda texts: lines.read_plan(texts[0], question))

    def queries(self, question: Question, plan: Decomposition) -> tuple[str, ...]:
        """Return the subgoals, and the question itself where its answer may be read from what that finds."""
        return (*(atom.phrase for atom in plan.subgoals), *([question.text] if readable(plan) else []))

    def unify(self, situation: Situation) -> Reply[Unification]:
        """Return the proposals of one request for a subgoal and a fact, one for what several facts together tell
        of the answer, and one for each undecided pair.
        """
        refused = told_of_another(situation)
        pairs = [pair for pair in _held_together(situation) if pair[0] not in refused]
        readings = [reading for reading in read_from(situation) if reading.subgoal not in refused]

        def build(trouble: str) -> list[Request]:
            unify, read = self._prompts["unify"], self._prompts["read"]
            requests = [
                unify_request(unify, situation.subgoals[number], fact, trouble, may_refuse=False)
                for number, fact, _ in pairs
            ]
            requests += [read_request(read, situation.question, reading, trouble) for reading in readings]
            return requests + [self._same_request(situation, *names, trouble) for names in situation.undecided]

        if not pairs and not situation.undecided:
            return Reply(Unification(unresolved=refused), Usage())

        def read_all(replies: Sequence[Completion]) -> Unification:
            said = _read_unification(replies, pairs, readings, situation)
            return replace(said, unresolved={**said.unresolved, **refused})

        return ask_whole(self._model, build, read_all)

    def _same_request(self, situation: Situation, left: str, right: str, trouble: str) -> Request:
        """Return the request for two wordings, with the facts that have either."""
        facts = [fact for fact in situation.facts if any(name in fact.text for name in (left, right))]
        inputs = {"question": situation.question.text, "facts": list(map(fact_line, facts[:SHOWN_FOR_NAMES]))}
        return self._prompts["same"].request(inputs | {"left": left, "right": right, "problem": trouble})

    def refine(
        self, situation: Situation, unresolved: Mapping[int, str], tried: Sequence[str]
    ) -> Reply[tuple[Antecedent, ...]]:
        """Return the antecedents of one request a subgoal."""
        numbers = tuple(unresolved)

        def build(trouble: str) -> list[Request]:
            shared = _asked(situation.question) | {
                "substitution": say_bindings(situation.substitution),
                "tried": list(tried),
                "problem": trouble,
            }
            subgoals = [str(situation.subgoals[number]) for number in numbers]
            return [refine_request(self._prompts["refine"], shared | {"subgoal": subgoal}) for subgoal in subgoals]

        return ask(self._model, build, lambda texts: _read_antecedents(texts, numbers))

    def answer(self, question: Question, facts: Sequence[Fact], goal: Atom, found: str) -> Reply[str]:  # noqa: ARG002
        """Return a wording of what was found; the goal is left out of this size's prompt."""

        def build(trouble: str) -> list[Request]:
            inputs = {"question": question.text, "facts": list(map(fact_line, facts)), "found": found}
            return [self._prompts["answer"].request(inputs | {"problem": trouble})]

        return ask(self._model, build, lambda texts: lines.read_line(texts[0]))

    def verdict(self, question: Question, facts: Sequence[Fact], goal: Atom, settled: Sequence[str]) -> Reply[str]:  # noqa: ARG002
        """Return yes, no, likely yes, likely no or unknown; the goal is left out of this size's prompt.

        No model is asked where a fact says all that the question does: this size says no to nearly everything.
        """
        if any(says_yes(question.text, fact) for fact in facts):
            return Reply("yes", Usage())

        def build(trouble: str) -> list[Request]:
            inputs = {"question": question.text, "facts": list(map(fact_line, facts)), "settled": list(settled)}
            return [self._prompts["verdict"].request(inputs | {"problem": trouble})]

        return ask(self._model, build, lambda texts: lines.read_verdict(texts[0]))


def unify_request(prompt: Prompt, subgoal: Atom, fact: Fact, trouble: str = "", *, may_refuse: bool = True) -> Request:
    """Return the request that holds a subgoal against a fact.

    Where the model may not refuse, what it gives the reply's first word tells all the same whether it would have.
    """
    atom, names = lines.renamed(subgoal)
    inputs = {"subgoal": str(atom), "fact": said_line(fact), "problem": trouble}
    return prompt.request(inputs, {"variables": list(names.values()), "refusal": [lines.NONE] if may_refuse else []})


def plan_choices(question: Question) -> dict[str, list[str]]:
    """Return what the grammar of a plan depends on: whether its goal has a variable, of which kind, or several, and
    which names it may have.
    """
    is_several = may_ask_for_several(question.text)
    return {
        "kinds": [] if is_several else list(kinds_asked_for(question.text)),
        "open": ["x"] if asks_for_something(question.text) else [],
        "several": ["x and y"] if is_several else [],
        "closed": ["yes or no"] if asks_yes_or_no(question.text) else [],
        "names": _names(question.text, asker_in(question), _ADDRESSED),
    }


def refine_request(prompt: Prompt, inputs: Mapping[str, object]) -> Request:
    """Return the request for an antecedent, whose names are those of the inputs."""
    told = [str(value) for name, value in inputs.items() if name != "problem"]
    return prompt.request(inputs, {"names": _names(*told)})


def _names(*texts: str) -> list[str]:
    """Return what a statement about the texts may write with a capital or a digit: a small model makes names up.

    Any of their words may be a name that was typed without its capital, where the first text has none.
    """
    words = dict.fromkeys(word for text in texts for word in _WORD.findall(text))
    is_cased = any(len(word) > 1 and word[0].isupper() for word in _WORD.findall(texts[0])[1:])
    as_typed = [form for word in words for form in (word, word.removesuffix("s"))]
    forms = as_typed if is_cased else [*as_typed, *(word[:1].upper() + word[1:] for word in words)]
    return [form for form in dict.fromkeys(forms) if _CAPITAL.search(form)]


def _asked(question: Question) -> dict[str, object]:
    return {"question": question.text, "asker": asker_in(question)}


def _held_together(situation: Situation) -> Iterator[tuple[int, Fact, float]]:
    """Yield the subgoals to hold against facts, each with the likeliest of those that it was not held against."""
    facts = {fact.number: fact for fact in situation.facts}
    for number in situation.subgoals:
        for name, likelihood in list(situation.leads[number].items())[:CANDIDATES]:
            yield number, facts[name], likelihood


def _read_unification(
    replies: Sequence[Completion],
    pairs: Sequence[tuple[int, Fact, float]],
    readings: Sequence[ReadFrom],
    situation: Situation,
) -> Unification:
    """Return the proposals that fit, and of each subgoal without any why it has none."""
    rest = iter(replies)
    proposals = []
    for (number, fact, likelihood), reply in zip(pairs, rest, strict=False):
        atom, names = lines.renamed(situation.subgoals[number])
        found = lines.read_bindings(reply.text, atom.variables)
        if found is not None:
            bindings = {name: found[called] for name, called in names.items() if called in found}
            sure = certainty(likelihood, reply.first_token_probability)
            proposals.append(Proposal(number, (fact.number,), bindings, certainty=sure))
    for reading, said in zip(readings, rest, strict=False):
        proposals += what_is_read(reading, said)
    verdicts = zip(situation.undecided, rest, strict=True)
    same = [as_pair(*names) for names, reply in verdicts if lines.read_sameness(reply.text)]
    fit, refused = fitting(proposals, situation)
    return Unification(fit, refused, frozenset(same), tuple((number, fact.number) for number, fact, _ in pairs))


def fitting(
    proposals: Sequence[Proposal], situation: Situation, beside: Sequence[Fact] = (), *, is_trusted: bool = False
) -> tuple[tuple[Proposal, ...], dict[int, str]]:
    """Return the proposals that say something, of whom they should; and of each other subgoal why one does not.

    `beside` are facts that were read together with those cited. Whom they tell of is not asked where they are
    `is_trusted`.
    """
    people, facts = speakers(situation.facts), {fact.number: fact for fact in situation.facts}
    fit, refused = [], dict[int, str]()
    for proposal in proposals:
        atom = situation.subgoals[proposal.subgoal]
        if says_nothing_new(proposal.bindings, atom):
            continue
        cited = [facts[number] for number in proposal.facts]
        doubts = () if is_trusted else (doubt(atom, fact, people, beside) for fact in cited)
        why = next(filter(None, doubts), "")
        addressed = {v for vs in proposal.bindings.values() for v in vs if is_addressed(v, cited, people)}
        told = {name: tuple(v for v in vs if v not in addressed) for name, vs in proposal.bindings.items()}
        if not why:
            why = _misnamed(proposal, atom, situation.question, people)
        if not why and not all(told.values()):
            why = f"only addresses {', '.join(sorted(addressed))}"
        if why:
            refused.setdefault(proposal.subgoal, f"{proposal.facts[0]} comes near, but {why}")
        else:
            fit.append(replace(proposal, bindings=told))
    return tuple(fit), refused


def _misnamed(proposal: Proposal, atom: Atom, question: Question, people: frozenset[str]) -> str:
    """Return why a person whom the proposal names cannot be what is asked for, or nothing."""
    for variable in atom.variables:
        for value in proposal.bindings.get(variable.name, ()):
            if is_only_named(value, question.text, people):
                return f"{value} is a name, and does not tell who somebody is"
            if why := unfit(value, variable, atom, people):
                return why
    return ""


def _read_antecedents(texts: Sequence[str], numbers: Sequence[int]) -> tuple[Antecedent, ...]:
    found = [lines.read_antecedent(text, number) for number, text in zip(numbers, texts, strict=True)]
    return tuple(antecedent for antecedent in found if antecedent is not None)

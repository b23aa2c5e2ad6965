"""The goal as its own subgoal: what all facts that the question found tell of it, read in one call and then checked.

An easy question needs no more. Whoever reads the facts together sees what a proof from single facts does not: which of
several turns is meant, and a yes or no.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from goalmem_cli.asking import read_fields
from goalmem_cli.logic.equality import Equality, compare
from goalmem_cli.ports import Completion, LanguageModel, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.asking import Reply, ask_whole, asker_in, fact_line
from goalmem_cli.reasoners.goal_mem.asking import VERDICTS
from goalmem_cli.reasoners.goal_mem.attempt import Outcome
from goalmem_cli.reasoners.goal_mem.line_steps import likely_of
from goalmem_cli.reasoners.goal_mem.plans import Antecedent, Decomposition, Proposal, Situation, Unification
from goalmem_cli.reasoners.goal_mem.readings import stating, told_of_another
from goalmem_cli.reasoners.goal_mem.weighing import doubt, log_odds, speakers
from goalmem_cli.reasoners.inquiry import Reading, reading_choices, reading_of
from goalmem_cli.records import Question, Usage
from goalmem_cli.trace import Contradicted, Fact, Grounded

SURE = 2.0
"""From which odds (their logarithm) that the model gives its own words a reading needs no further proof."""
UNREAD = "read together, the facts do not tell it"
UNSTATED = "the facts do not state what was read"


class ReadingSteps:
    """The steps of an attempt with one round, whose only subgoal is the goal: all facts are read in one request."""

    def __init__(self, model: LanguageModel, prompts: PromptBook) -> None:
        self._model = model
        self._prompts = prompts

    def queries(self, question: Question, plan: Decomposition) -> tuple[str, ...]:  # noqa: ARG002
        """Return the question: a plan is not looked for."""
        return (question.text,)

    def unify(self, situation: Situation) -> Reply[Unification]:
        """Return what the facts tell of the goal; no model is asked where another than the person asked of tells it."""
        refused = told_of_another(situation)
        if refused:
            return Reply(Unification(unresolved=refused), Usage())
        numbers = [fact.number for fact in situation.facts]
        sent: list[Request] = []

        def build(trouble: str) -> list[Request]:
            inputs = {
                "question": situation.question.text,
                "asker": asker_in(situation.question),
                "facts": [fact_line(fact) for fact in reversed(situation.facts)],  # the best next to the question
                "problem": trouble,
            }
            sent[:] = [self._prompts["read"].request(inputs, reading_choices(numbers))]
            return sent

        def read(replies: Sequence[Completion]) -> Unification:
            (said,) = replies
            return _told(reading_of(read_fields(said.text, sent[0]), numbers), said.mean_likelihood, situation)

        return ask_whole(self._model, build, read)

    def refine(
        self, situation: Situation, unresolved: Mapping[int, str], tried: Sequence[str]  # noqa: ARG002
    ) -> Reply[tuple[Antecedent, ...]]:  # fmt: skip
        """Return nothing: one reading is all."""
        return Reply((), Usage())


@dataclass(frozen=True, slots=True)
class Read:
    """The goal of a plan, and what became of it when it was read at once."""

    plan: Decomposition
    outcome: Outcome

    @property
    def suffices(self) -> bool:
        """Whether it needs no proof beside it: a sure one where there are no steps between that a proof would show, and
        any yes or no, which a small model tells better from all facts than from those that prove its plan.
        """
        is_closed = not self.plan.answer_variables
        return self.outcome.is_grounded if is_closed else self._is_sure and len(self.plan.subgoals) == 1

    def allows(self, proof: Outcome) -> bool:
        """Say whether a proof is taken rather than the reading: that is not sure, or both say the same."""
        return not self._is_sure or self._agrees(proof)

    @property
    def _is_sure(self) -> bool:
        items: list[Grounded | Contradicted] = [*self.outcome.groundings, *self.outcome.contradicted]
        told = [item.certainty for item in items if item.certainty is not None]
        return self.outcome.is_grounded and len(told) == len(items) and all(log_odds(each) >= SURE for each in told)

    def _agrees(self, proof: Outcome) -> bool:
        said, proved = self.outcome.substitution.bindings, proof.substitution.bindings
        return all(
            any(compare(one, other) in (Equality.EQUAL, Equality.ALIAS) for one in said[name] for other in proved[name])
            for name in self.plan.answer_variables
        )


def may_read(plan: Decomposition) -> bool:
    """Say whether a goal can be read at once: one thing is asked for, or yes or no, and nothing is computed."""
    return len(plan.answer_variables) <= 1 and not plan.is_computed


def _told(reading: Reading, likelihood: float | None, situation: Situation) -> Unification:
    """Return the proposal of a reading, if its facts tell it of whom they should, else why there is none."""
    if reading.answer is None:
        return Unification(unresolved={0: UNREAD})
    facts = {fact.number: fact for fact in situation.facts}
    cited = [facts[number] for number in reading.cited]
    variables = situation.plan.answer_variables
    if not variables:
        verdict = reading.answer.lower()
        if verdict not in VERDICTS:
            return Unification(unresolved={0: f"what was read is no verdict: {reading.answer}"})
        says_no = verdict.endswith("no")
        proposal = Proposal(0, reading.cited, is_contradiction=says_no, certainty=likelihood)
        return Unification((proposal,), wording=verdict)
    atom, people = situation.subgoals[0], speakers(situation.facts)
    order = [*cited, *(fact for fact in situation.facts if fact not in cited)]
    fit = [fact for fact in order if not doubt(atom, fact, people, situation.facts)]
    told = stating(reading.answer, fit) or stating(reading.answer, order)
    if not told:
        return Unification(unresolved={0: f"{UNSTATED}: {reading.answer}"})
    beside = [fact for fact in cited if fact in fit and fact not in told]
    (variable,) = (each for each in atom.variables if each.name == variables[0])
    values = tuple(reading.answer.split(", ")) if variable.is_starred else (reading.answer,)
    proposal = Proposal(0, _numbers(told, beside), {variable.name: values}, certainty=likelihood)
    likely, unsure = likely_of([proposal], situation, 0.0, situation.facts)
    return Unification(likely, unsure)


def _numbers(*facts: Sequence[Fact]) -> tuple[str, ...]:
    return tuple(fact.number for each in facts for fact in each)

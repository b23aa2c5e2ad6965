"""The goal as its own subgoal: what the facts that the question found tell of it together, read and then checked.

An easy question needs no more. Whoever reads the facts together sees what a proof from single facts does not: which of
several turns is meant, and a yes or no. A small model is led astray by facts beside the right one, and among too few
that one is missing: so it reads the best few first, and more where it is not sure. Of all that the checks let stand,
the words it was surest of are taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from goalmem_cli.asking import read_fields
from goalmem_cli.fitted import Fitted
from goalmem_cli.logic import Atom
from goalmem_cli.logic.equality import Equality, compare
from goalmem_cli.logic.substitution import values_of
from goalmem_cli.ports import Completion, LanguageModel, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.asking import Reply, ask_whole
from goalmem_cli.reasoners.goal_mem.asking import VERDICTS
from goalmem_cli.reasoners.goal_mem.attempt import Outcome
from goalmem_cli.reasoners.goal_mem.line_steps import fitting
from goalmem_cli.reasoners.goal_mem.plans import Antecedent, Decomposition, Proposal, Situation, Unification
from goalmem_cli.reasoners.goal_mem.readings import as_shown, reading_request, stated, stating, told_of_another
from goalmem_cli.reasoners.goal_mem.weighing import doubt, speakers
from goalmem_cli.reasoners.inquiry import Reading, reading_choices, reading_of
from goalmem_cli.reasoners.showing import Shown
from goalmem_cli.records import Question, Usage
from goalmem_cli.trace import Ending, Fact

UNREAD = "read together, the facts do not tell it"
NOTHING_MORE = "the facts do not settle it, and there is no further fact to read"
UNSTATED = "the facts do not state what was read"


class ReadingSteps:
    """The steps of an attempt with one round, whose only subgoal is the goal, read from several facts together."""

    def __init__(
        self, model: LanguageModel, prompts: PromptBook, fitted: Fitted, before: Shown, beside: Sequence[str] = ()
    ) -> None:
        """Take what is fitted to the model, and what was read `before`; what the queries `beside` the question find is
        read too.
        """
        self._model = model
        self._prompts = prompts
        self._fitted = fitted
        self._before = before
        self._beside = tuple(beside)

    def queries(self, question: Question, plan: Decomposition) -> tuple[str, ...]:  # noqa: ARG002
        """Return the question, and what is looked for beside it."""
        return (question.text, *self._beside)

    def unify(self, situation: Situation) -> Reply[Unification]:
        """Return what the facts tell of the goal; no model is asked where another than the person asked of tells it, or
        where nothing is shown that was not read before.
        """
        if self._before.blocks and situation.shown == self._before:
            return Reply(Unification(unresolved={0: NOTHING_MORE}), Usage())
        refused = told_of_another(situation)
        if refused and not self._fitted.reads_first:
            return Reply(Unification(unresolved=refused), Usage())
        facts, told, usage = list(situation.facts), list[Unification](), Usage()
        for views in _rounds(facts, self._fitted.rounds):
            reply = self._read_each(situation, views)
            usage += reply.usage
            if reply.value is None and not told:
                return Reply(None, usage, reply.problem)
            told += reply.value or []
            if any((proposal.certainty or 0.0) >= self._fitted.sure for each in told for proposal in each.proposals):
                break
        read = _together(told, situation.plan)
        if refused and not any((proposal.certainty or 0.0) >= self._fitted.trusted for proposal in read.proposals):
            read = Unification(unresolved=refused)
        return Reply(read, usage)

    def _read_each(self, situation: Situation, views: Sequence[Sequence[Fact]]) -> Reply[list[Unification]]:
        """Return what each of several lots of facts tells, read in one call."""
        sent: list[Request] = []

        def build(trouble: str) -> list[Request]:
            sent[:] = [self._request(situation, view, trouble) for view in views]
            return sent

        def read(replies: Sequence[Completion]) -> list[Unification]:
            told = []
            for request, view, said in zip(sent, views, replies, strict=True):
                reading = reading_of(read_fields(said.text, request), [fact.number for fact in view])
                told.append(_told(reading, said.mean_likelihood, situation, self._fitted.trusted))
            return told

        return ask_whole(self._model, build, read)

    def _request(self, situation: Situation, facts: Sequence[Fact], trouble: str) -> Request:
        choices, shown = reading_choices([fact.number for fact in facts]), as_shown(situation.shown, facts)
        return reading_request(self._prompts["read"], situation.question, shown, choices, trouble)

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
    def said(self) -> tuple[str, ...]:
        """What was read; nothing where it was refused, or is a verdict."""
        bindings = self.outcome.substitution.bindings if self.outcome.is_grounded else {}
        return tuple(value for name in self.plan.answer_variables for value in bindings.get(name, ()))

    @property
    def likelihood(self) -> float:
        """The mean probability of the words read, 0 to 1; 0 where they were refused, 1 where the model tells none."""
        steps = self.outcome.record.steps if self.outcome.is_grounded else ()
        told = [item.certainty for step in steps for item in step.grounded]
        told += [item.certainty for step in steps for item in step.contradicted]
        return min((1.0 if each is None else each for each in told), default=0.0)

    def is_sure(self, least: float) -> bool:
        """Say whether the reading stands, and is so sure that no plan is made."""
        return self.outcome.is_grounded and self.likelihood >= least

    @property
    def settles(self) -> bool:
        """Whether no proof is tried beside it. A plan of one step has nothing more to show, and where facts together
        did not tell its goal, single facts tell it no better: of 28 such questions (conversations set aside or trained
        on) their proofs answered one rightly and 17 wrongly. A yes or no is told better by facts together.
        """
        if self.outcome.record.ending is Ending.UNUSABLE_REPLY:
            return False
        is_verdict = self.outcome.is_grounded and not self.plan.answer_variables
        return is_verdict or len(self.plan.subgoals) == 1

    def allows(self, proof: Outcome) -> bool:
        """Say whether a proof is taken rather than the reading: that was refused, or both say the same.

        Of 56 questions set aside, no proof was better than a reading that stood, and many were worse.
        """
        if not self.outcome.is_grounded:
            return True
        said, proved = self.outcome.substitution.bindings, proof.substitution.bindings
        return all(
            any(compare(one, other) in (Equality.EQUAL, Equality.ALIAS) for one in said[name] for other in proved[name])
            for name in self.plan.answer_variables
        )


def may_read(plan: Decomposition) -> bool:
    """Say whether a goal can be read at once: one thing is asked for, or yes or no, and nothing is computed."""
    return len(plan.answer_variables) <= 1 and not plan.is_computed


def _rounds(facts: Sequence[Fact], rounds: Sequence[Sequence[int]]) -> Iterator[list[Sequence[Fact]]]:
    """Yield the lots of facts that are read, by rounds; one that a smaller number shows already is left out."""
    read = 0
    for counts in rounds:
        views = [facts[:count] for count in sorted({min(count, len(facts)) for count in counts}) if count > read]
        if views:
            read = len(views[-1])
            yield views


def _told(reading: Reading, likelihood: float | None, situation: Situation, trusted: float) -> Unification:
    """Return the proposal of a reading, if its facts tell it of whom they should, else why there is none.

    Of whom they tell is not asked where the reading is as likely as `trusted`.
    """
    if reading.answer is None:
        return Unification(unresolved={0: UNREAD})
    variables = situation.plan.answer_variables
    if not variables:
        verdict = reading.answer.lower()
        if verdict not in VERDICTS:
            return Unification(unresolved={0: f"what was read is no verdict: {reading.answer}"})
        says_no = verdict.endswith("no")
        proposal = Proposal(0, reading.cited, is_contradiction=says_no, certainty=likelihood)
        return Unification((proposal,), wording=verdict)
    atom = situation.subgoals[0]
    (variable,) = (each for each in atom.variables if each.name == variables[0])
    is_trusted = (likelihood or 0.0) >= trusted
    found = stated_by(reading.answer, reading.cited, atom, situation.facts, situation, is_trusted=is_trusted)
    if isinstance(found, str):
        return Unification(unresolved={0: found})
    answer, numbers = found
    proposal = Proposal(0, numbers, {variable.name: values_of(answer, variable)}, certainty=likelihood)
    return Unification(*fitting([proposal], situation, situation.facts, is_trusted=is_trusted))


def stated_by(
    answer: str,
    numbers: Sequence[str],
    atom: Atom,
    shown: Sequence[Fact],
    situation: Situation,
    *,
    is_trusted: bool = False,
) -> tuple[str, tuple[str, ...]] | str:
    """Return an answer that was read, and the facts that state it, those cited first; or why none of them does.

    A day that no fact states is the time, of several days, that one of those cited tells. Whether they tell it of whom
    the statement names is not asked where it `is_trusted`.
    """
    people, facts = speakers(situation.facts), {fact.number: fact for fact in situation.facts}
    cited = [facts[number] for number in numbers]
    order = [*cited, *(fact for fact in shown if fact not in cited)]
    fit = [fact for fact in order if is_trusted or not doubt(atom, fact, people, situation.facts)]
    told = stating(answer, fit)
    if not told:
        answer, told = stated(answer, order, [fact for fact in cited if fact in fit])
    if not told:
        return f"{UNSTATED}: {answer}"
    beside = [fact for fact in cited if fact in fit and fact not in told]
    return answer, tuple(fact.number for fact in (*told, *beside))


def _together(told: Sequence[Unification], plan: Decomposition) -> Unification:
    """Return the proposals of several readings, which are alternatives; or of one, the surest, where a verdict or a
    list is asked for, to which the others would add. A model that tells no probabilities has the reading of the most
    facts taken. Where there is no proposal, return why the reading of the most facts has none.
    """
    found = [(proposal, each.wording) for each in told for proposal in each.proposals]
    if not found:
        return next((each for each in reversed(told) if each.unresolved != {0: UNREAD}), told[-1])
    is_list = any(variable.is_starred for variable in plan.goal.variables)
    is_ranked = all(proposal.certainty is not None for proposal, _ in found)
    if plan.answer_variables and not is_list and is_ranked:
        return Unification(tuple(proposal for proposal, _ in found))
    surest, wording = max(reversed(found), key=lambda entry: entry[0].certainty or 0.0)
    return Unification((surest,), wording=wording)

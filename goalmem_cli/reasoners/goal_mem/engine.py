"""The GOAL-MEM engine in the order `blind`: the breadth loop over decompositions, and the answer.

Algorithm 1 of the paper and its section 4.4: a plan is made before any fact is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

from goalmem_cli.fitted import UNFITTED, Fitted
from goalmem_cli.logic import Rule
from goalmem_cli.logic.questions import asks_for_current_state, goal_asked
from goalmem_cli.ports import Backbone, LanguageModel, Observer
from goalmem_cli.prompts import Profile, PromptBook
from goalmem_cli.reasoners.asking import Reply
from goalmem_cli.reasoners.goal_mem.at_once import Read, ReadingSteps, may_read
from goalmem_cli.reasoners.goal_mem.attempt import AttemptRun, Outcome
from goalmem_cli.reasoners.goal_mem.base import Engine, settled_by
from goalmem_cli.reasoners.goal_mem.computing import calculations, concluded
from goalmem_cli.reasoners.goal_mem.facts import FactBook
from goalmem_cli.reasoners.goal_mem.line_steps import LineSteps
from goalmem_cli.reasoners.goal_mem.plans import Decomposition, Limits, ProvingSteps, Steps
from goalmem_cli.reasoners.goal_mem.step_reading import StepReadings
from goalmem_cli.reasoners.goal_mem.steps import JsonSteps
from goalmem_cli.reasoners.goal_mem.wording import unproved, worded
from goalmem_cli.reasoners.showing import Shown
from goalmem_cli.records import Question, Usage
from goalmem_cli.trace import Attempt, Contradicted, Ending, Grounded, Status, Trace

BLIND: Final = "blind"
STEPS: Mapping[Profile, tuple[str, ...]] = {
    "full": ("decompose", "unify", "refine", "answer", "verdict"),
    "compact": ("decompose", "unify", "read", "same", "refine", "answer", "verdict"),
}
REPEATED = "it repeats a plan that failed"


class GoalMem(Engine):
    """The engine that plans before any fact is seen.

    Model calls stay within 1 + B(2 + 2D) a question, or 2B(3 + 2D) where every reply needs its second try, for
    maximum breadth B and depth D (Appendix B). With the compact prompts one or two more read the goal at once.
    """

    planning = BLIND

    def __init__(
        self,
        backbone: Backbone,
        model: LanguageModel,
        prompts: PromptBook,
        limits: Limits,
        *,
        fitted: Fitted = UNFITTED,
        strict: bool = False,
        model_name: str = "",
        adapter: str = "",
        observer: Observer | None = None,
    ) -> None:
        super().__init__(
            backbone, model, prompts, limits,
            strict=strict, model_name=model_name, adapter=adapter, observer=observer,
        )  # fmt: skip
        self._fitted = fitted

    def _proved(self, question: Question, blank: Trace) -> Trace:
        book = FactBook(self._backbone, question, self._limits, self._prompts.profile)
        reads_first = self._prompts.profile == "compact" and self._fitted.reads_first
        search = self._search_by_reading if reads_first else self._search
        return replace(search(question, book, blank), facts=book.facts)

    def _search_by_reading(self, question: Question, book: FactBook, trace: Trace) -> Trace:
        """Read the question from its best facts; where that does not settle it, plan, read the plan's steps, and read
        the question again: from what the steps found, or from more facts.
        """
        asked = _asked(question)
        first = Read(asked, self._read(question, asked, book))
        trace = _with(trace, asked, first.outcome)
        if first.is_sure(self._fitted.sure):
            return self._concluded_by(first, question, book, trace)
        shown = first.outcome.shown
        plan, usage, problem = self._decompose(question, {})
        trace = replace(trace, usage=trace.usage + usage)
        proof: Outcome | None = None
        if plan is None:
            trace = replace(trace, notes=(*trace.notes, f"no plan could be read: {problem}"))
        elif len(plan.subgoals) > 1 and may_read(plan):
            steps = StepReadings(self._model, self._prompts, self._fitted, shown, self._limits.max_fact_tokens)
            limits = self._limits.beyond(shown)
            proof = self._attempt(question, plan, book.within(limits), steps, limits, 1, shown)
            found = [proof.substitution.apply(atom).phrase for atom in plan.subgoals]
            trace = _with(trace, plan, proof)
            last = Read(asked, self._read_more(question, asked, book, shown, tuple(dict.fromkeys(found))))
            trace, shown = _with(trace, asked, last.outcome), last.outcome.shown
            if last.outcome.is_grounded:
                return self._concluded_by(last, question, book, trace)
            if proof.is_grounded and not first.outcome.is_grounded and plan.answer_variables:
                return self._conclude(question, plan, proof, book, _last(trace, proof), _values(plan, proof))
        if proof is None or not proof.is_grounded:
            again = Read(asked, self._read_more(question, asked, book, shown))
            trace = _with(trace, asked, again.outcome)
            if again.outcome.is_grounded:
                return self._concluded_by(again, question, book, trace)
        return self._concluded_by(first, question, book, trace) if first.outcome.is_grounded else unproved(trace)

    def _concluded_by(self, read: Read, question: Question, book: FactBook, trace: Trace) -> Trace:
        return self._conclude(question, read.plan, read.outcome, book, _by_reading(trace, read), read.said)

    @cached_property
    def _steps(self) -> Steps:
        return _steps(self._model, self._prompts)

    def _search(self, question: Question, book: FactBook, trace: Trace) -> Trace:
        """Run the breadth loop; beside its first plan the goal is read at once."""
        failed: dict[frozenset[str], str] = {}
        read: Read | None = None
        for breadth in range(1, self._limits.max_breadth + 1):
            plan, usage, problem = self._decompose(question, failed)
            trace = replace(trace, usage=trace.usage + usage)
            if plan is None:
                if not problem:
                    trace = replace(trace, notes=(*trace.notes, "the next plan repeated one that had failed"))
                else:
                    attempt = Attempt(
                        breadth, "", (), ending=Ending.UNUSABLE_REPLY, failure=f"decomposition: {problem}"
                    )
                    trace = replace(trace, attempts=(*trace.attempts, attempt))
                break
            if breadth == 1 and self._prompts.profile == "compact" and may_read(plan):
                read = Read(plan, self._read(question, plan, book))
                trace = _with(trace, plan, read.outcome)
                if read.settles:
                    break
            outcome = self._attempt(question, plan, book, self._steps, self._limits, breadth)
            trace = _with(trace, plan, outcome)
            if outcome.is_grounded and (read is None or read.allows(outcome)):
                return self._conclude(question, plan, outcome, book, trace, read.said if read else ())
            if read is not None and read.outcome.is_grounded:
                break
            failed[plan.key] = str(Rule(plan.subgoals, plan.goal))
        if read is not None and read.outcome.is_grounded:
            return self._conclude(question, read.plan, read.outcome, book, _by_reading(trace, read), read.said)
        return unproved(trace)

    def _read(self, question: Question, plan: Decomposition, book: FactBook) -> Outcome:
        """Return what became of a plan's goal as its own subgoal, read at once from what the question finds."""
        return self._read_from(question, plan, book, self._fitted, self._limits.read_tokens)

    def _read_more(
        self, question: Question, plan: Decomposition, book: FactBook, shown: Shown, beside: tuple[str, ...] = ()
    ) -> Outcome:
        """Return what became of a plan's goal, read from what was shown and more: what the queries `beside` the
        question find, or without any what else the question does.
        """
        count, tokens = self._fitted.again
        if beside:
            count, tokens = len(shown.facts) + self._fitted.added[0], shown.tokens + self._fitted.added[1]
        count = max(count, len(shown.facts), self._fitted.rounds[-1][-1])
        room = min(max(tokens, self._limits.read_tokens), self._limits.max_fact_tokens)
        return self._read_from(question, plan, book, replace(self._fitted, rounds=((count,),)), room, shown, beside)

    def _read_from(
        self,
        question: Question,
        plan: Decomposition,
        book: FactBook,
        fitted: Fitted,
        tokens: int,
        shown: Shown = Shown(),  # noqa: B008 - frozen
        beside: tuple[str, ...] = (),
    ) -> Outcome:
        budget = min(self._limits.budget + shown.units, fitted.rounds[-1][-1])
        limits = replace(self._limits, max_depth=0, budget=budget, max_fact_tokens=tokens)
        steps = ReadingSteps(self._model, self._prompts, fitted, shown, beside)
        goal = replace(plan, subgoals=(plan.goal,))
        read = self._attempt(question, goal, book.within(limits), steps, limits, 0, shown)
        return replace(read, record=replace(read.record, planned=tuple(map(str, plan.subgoals))))

    def _attempt(
        self,
        question: Question,
        plan: Decomposition,
        book: FactBook,
        steps: ProvingSteps,
        limits: Limits,
        breadth: int,
        shown: Shown = Shown(),  # noqa: B008 - frozen
    ) -> Outcome:
        return AttemptRun(
            question, plan, book, steps, limits,
            is_strict=self._is_strict, breadth=breadth, observer=self._observer, shown=shown,
        ).run()  # fmt: skip

    def _decompose(
        self, question: Question, failed: dict[frozenset[str], str]
    ) -> tuple[Decomposition | None, Usage, str]:
        """Return a decomposition that none of the failed ones equals; a repeated one is refused once."""
        usage, problem = Usage(), ""
        for _ in range(2):
            reply = self._steps.decompose(question, list(failed.values()), problem)
            usage += reply.usage
            if reply.value is None:
                return None, usage, reply.problem
            count = len(reply.value.subgoals)
            if count > self._limits.max_subgoals:
                problem = f"it has {count} subgoals, and at most {self._limits.max_subgoals} may be"
            elif reply.value.key in failed:
                problem = REPEATED
            else:
                return reply.value, usage, ""
        return None, usage, "" if problem == REPEATED else problem

    def _conclude(
        self,
        question: Question,
        plan: Decomposition,
        outcome: Outcome,
        book: FactBook,
        trace: Trace,
        said: Sequence[str] = (),
    ) -> Trace:
        """Word the answer of a grounded attempt from its supporting facts only, where no words of it were read."""
        items, cited = settled_by(outcome.groundings, outcome.contradicted)
        facts = [book.facts[number] for number in cited]
        goal = outcome.substitution.apply(plan.goal)
        trace = replace(trace, evidence=cited)
        if plan.is_computed:
            found = calculations(plan, outcome.groundings, book.facts, question, outcome.judged)
            return concluded(found, trace)
        if not plan.answer_variables and outcome.wording:
            return self._closed(Reply(outcome.wording, Usage()), trace)
        if not plan.answer_variables:
            settled = [_settled_line(outcome, item) for item in items]
            return self._closed(self._steps.verdict(question, facts, goal, settled), trace)
        if said:
            return replace(trace, status=Status.ANSWERED, answer=", ".join(said))
        values = [value for name in plan.answer_variables for value in outcome.substitution.bindings[name]]
        reply = self._steps.answer(question, facts, goal, ", ".join(values))
        answer, note = worded(reply, values, f"{question.text} {plan.goal.phrase}")
        notes = (*trace.notes, note) if note else trace.notes
        return replace(trace, status=Status.ANSWERED, answer=answer, usage=trace.usage + reply.usage, notes=notes)

    def _closed(self, reply: Reply[str], trace: Trace) -> Trace:
        trace = replace(trace, usage=trace.usage + reply.usage)
        if reply.value is None:
            return replace(trace, status=Status.FAILED, failure=f"answer: {reply.problem}")
        if reply.value == "unknown":
            return replace(trace, notes=(*trace.notes, "the supporting facts settle neither yes nor no"))
        return replace(trace, status=Status.ANSWERED, answer=reply.value)


def _with(trace: Trace, plan: Decomposition, outcome: Outcome) -> Trace:
    """Return the trace with an attempt, its cost and what it bound."""
    return replace(
        trace,
        goal=str(plan.goal),
        attempts=(*trace.attempts, outcome.record),
        usage=trace.usage + outcome.usage,
        substitution=outcome.substitution.bindings,
    )


def _by_reading(trace: Trace, read: Read) -> Trace:
    """Return the trace with the reading last: what it bound stands, whatever the plans beside it came to."""
    return replace(_last(trace, read.outcome), goal=str(read.plan.goal))


def _last(trace: Trace, outcome: Outcome) -> Trace:
    """Return the trace with an attempt last, and what it bound."""
    attempts = (*(attempt for attempt in trace.attempts if attempt is not outcome.record), outcome.record)
    return replace(trace, attempts=attempts, substitution=outcome.substitution.bindings)


def _asked(question: Question) -> Decomposition:
    """Return the question as a plan of one step, made by rule."""
    goal = goal_asked(question.text)
    names = tuple(variable.name for variable in goal.variables)
    return Decomposition(goal, (goal,), names, is_current=asks_for_current_state(question.text))


def _values(plan: Decomposition, proof: Outcome) -> tuple[str, ...]:
    return tuple(value for name in plan.answer_variables for value in proof.substitution.bindings[name])


def planner(model: LanguageModel, prompts: PromptBook) -> Callable[[Question], Sequence[str]]:
    """Return what gives the subgoals of a question's first decomposition as plain words; none if it is unusable."""
    steps = _steps(model, prompts)

    def plan(question: Question) -> Sequence[str]:
        reply = steps.decompose(question, [], "")
        return [atom.phrase for atom in reply.value.subgoals] if reply.value is not None else []

    return plan


def _steps(model: LanguageModel, prompts: PromptBook) -> Steps:
    return LineSteps(model, prompts) if prompts.profile == "compact" else JsonSteps(model, prompts)


def _settled_line(outcome: Outcome, item: Grounded | Contradicted) -> str:
    atom = outcome.substitution.apply(outcome.subgoals[item.subgoal])
    cited = ", ".join(item.facts)
    return f"{atom} -- contradicted by {cited}" if isinstance(item, Contradicted) else f"{atom} -- {cited}"

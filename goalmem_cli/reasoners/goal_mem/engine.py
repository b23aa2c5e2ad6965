"""GOAL-MEM: backward chaining over memory, every binding checked (arXiv 2605.12213).

A question passes through a prover (it chooses the plans, `provers/`), `loop` (one attempt), `pool` (the facts in view),
`state` (what the engine accepted) and `wording` (the proof becomes an answer).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from time import perf_counter

from goalmem_cli.fitted import UNFITTED, Fitted
from goalmem_cli.memory_ports import StructuredMemory
from goalmem_cli.ports import Backbone, LanguageModel, Observer
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem.loop import AttemptRun, AttemptTerms
from goalmem_cli.reasoners.goal_mem.plans import calculations, concluded, say_lost, taken_up
from goalmem_cli.reasoners.goal_mem.pool import Pool
from goalmem_cli.reasoners.goal_mem.provers import chosen_planning, prover_of
from goalmem_cli.reasoners.goal_mem.records import NAME, Begun, Ended, Limits, Planning, Proof, Prover, Task
from goalmem_cli.reasoners.goal_mem.state import ProofState, as_likely
from goalmem_cli.reasoners.goal_mem.wording import checked_wording, reasons_to_check, settled_by, unproved, verdict_in
from goalmem_cli.reasoners.inquiry import Unwatched, is_refusal
from goalmem_cli.records import Question, Usage
from goalmem_cli.trace import Attempt, Checked, Contradicted, Status, Trace


@dataclass(eq=False)
class GoalMem:
    """Answers a question by backward chaining over a backbone. Checks every binding, unless `limits.checks` is off.

    Without `planning`, the prompts' profile chooses the prover. With `begun`, an earlier proof of the question that
    asks is tried again, and nothing else. `open_store` opens the memory, where the prover keeps summaries of the
    speakers. Building one raises UsageError if the prompts have no such planning, or the prover keeps nothing.
    """

    backbone: Backbone
    model: LanguageModel
    prompts: PromptBook
    limits: Limits
    _: KW_ONLY
    planning: Planning | None = None
    fitted: Fitted = UNFITTED
    strict: bool = False
    model_name: str = ""
    adapter: str = ""
    observer: Observer = field(default_factory=Unwatched)
    begun: Begun | None = None
    open_store: Callable[[], StructuredMemory] | None = None

    def __post_init__(self) -> None:
        self._planning = chosen_planning(self.planning, self.prompts.profile)
        self._prover = prover_of(self._planning, self.model, self.prompts, self.limits, self.fitted, self.open_store)

    def answer(self, question: Question) -> Trace:
        """Return the question's trace: answered, unknown, or failed if the model gave no usable reply."""
        started = perf_counter()
        blank = Trace(
            Status.UNKNOWN,
            NAME,
            question.text,
            question.asked,
            model=self.model_name,
            asker=question.asker,
            prompts=self.prompts.hashes,
            adapter=self.adapter,
            planning=self._planning,
            is_unchecked=not self.limits.checks,
        )
        pool = Pool(self.backbone, question, self.limits, self.prompts.profile, self._prover.spending)
        search = SearchRun(AttemptTerms(question, self.limits, self.observer, self.strict), pool, blank)
        trace = search.run(self._prover, self.begun)
        usage = replace(trace.usage, seconds=perf_counter() - started)
        return replace(trace, facts=pool.every_fact, usage=usage)


class SearchRun:
    """The search for one question: it runs the prover's attempts, then turns the proof into an answer."""

    def __init__(self, terms: AttemptTerms, pool: Pool, blank: Trace) -> None:
        """Take the question's terms, its facts (none is in view yet), and its trace so far."""
        self.question, self.limits, self.pool = terms.question, terms.limits, pool
        self._terms = terms
        self._trace = blank

    def run(self, prover: Prover, begun: Begun | None = None) -> Trace:
        """Let the prover search, or try again what was begun, and return the question's trace."""
        plan = None if begun is None else taken_up(begun, self.question)
        ended = prover.search(self) if begun is None or plan is None else prover.resume(self, plan, begun)
        if ended is None or ended.state is None:
            return unproved(self._trace)
        return self._conclude(ended, ended.state, prover)

    def attempt(self, task: Task) -> Ended:
        """Run an attempt and record it in the trace."""
        ended = AttemptRun(self._terms, task).run()
        state, trace = ended.state, self._trace
        self._trace = replace(
            trace,
            goal=str(state.plan.goal) if state is not None else trace.goal,
            attempts=trace.attempts if ended.record is None else (*trace.attempts, ended.record),
            usage=trace.usage + ended.usage,
            substitution=state.substitution.bindings if state is not None else trace.substitution,
            notes=(*trace.notes, ended.note) if ended.note else trace.notes,
            may_be_more=ended.may_be_more,
        )
        return ended

    def count(self, usage: Usage, note: str = "", failed: Attempt | None = None) -> None:
        """Record a call outside of attempts: its cost, a note, and the attempt if it failed before it began."""
        notes = (*self._trace.notes, note) if note else self._trace.notes
        attempts = self._trace.attempts if failed is None else (*self._trace.attempts, failed)
        self._trace = replace(self._trace, usage=self._trace.usage + usage, notes=notes, attempts=attempts)

    # The answer

    def _conclude(self, ended: Ended, state: ProofState, prover: Prover) -> Trace:
        """Return the trace of a proved plan: word the answer, and check it once more if there are reasons to."""
        proof, cited = _proof(self.question, state, self.pool)
        trace = self._trace
        others = (attempt for attempt in trace.attempts if attempt is not ended.record)
        trace = self._trace = replace(
            trace,
            goal=str(state.plan.goal),
            attempts=(*others, *([] if ended.record is None else [ended.record])),
            substitution=state.substitution.bindings,
            evidence=cited,
            notes=(*trace.notes, *say_lost(state)),
        )
        answer = self._answer(ended, state, proof, prover)
        trace = self._trace
        if answer is None:
            return trace
        answer = as_likely(answer, state.groundings)
        reasons = (*ended.task.doubts, *(f"{text} was left out of its plan" for text in state.plan.left_out))
        reasons += reasons_to_check(state.groundings, ended.task.breadth) if ended.task.breadth else ()
        reply = prover.check(proof, answer) if reasons else None
        if reply is not None:
            check = Checked(reasons, False, problem=reply.problem, usage=reply.usage)
            why = f"the last check of {answer!r} could not be read: {reply.problem}"
            if reply.value is not None:
                check = Checked(reasons, reply.value.is_same, reply.value.differs, usage=reply.usage)
                differs = reply.value.differs or "no reason given"
                why = f"{answer!r} does not answer the question as it was asked: {differs}"
            notes = trace.notes if check.is_same else (*trace.notes, why)
            trace = replace(trace, check=check, notes=notes, usage=trace.usage + reply.usage)
            if not check.is_same:
                return trace
        return replace(trace, status=Status.ANSWERED, answer=answer)

    def _answer(self, ended: Ended, state: ProofState, proof: Proof, prover: Prover) -> str | None:
        """Return the computed or worded answer of a proved plan, or None if it stays open. Add notes to the trace."""
        plan, trace = state.plan, self._trace
        if plan.is_computed and not self.limits.generates:
            found = calculations(plan, state.groundings, self.pool.every_fact, self.question, state.judged)
            trace = concluded(found, trace)
            self._trace = replace(trace, status=Status.UNKNOWN, answer=None)
            return trace.answer
        reply = prover.word(proof)
        wording, problem = ended.last.wording if ended.last is not None else "", ""
        if reply is not None:
            wording, problem = reply.value or "", reply.problem
            self.count(reply.usage)
        if plan.is_closed and problem:
            self._trace = replace(self._trace, status=Status.FAILED, failure=f"answer: {problem}")
            return None
        is_blank = self.limits.generates and not wording.strip()
        if plan.is_closed and not self.limits.generates:
            verdict = verdict_in(wording)
            self.count(Usage(), "" if verdict else "the supporting facts settle neither yes nor no")
            return verdict
        if problem or (is_blank and proof.found):
            why = problem or "it is blank"
            self.count(Usage(), f"the answer's wording was unusable ({why}), the bindings stand for it")
            return ", ".join(proof.found)
        if is_blank or (self.limits.generates and is_refusal(wording)):
            self.count(Usage(), f"the model wrote {wording!r} over the proof")
            return None
        if self.limits.generates or wording == ", ".join(proof.found):
            return wording
        asked = self.question.text if reply is None else f"{self.question.text} {plan.goal.phrase}"
        answer, note = checked_wording(wording.rstrip(" .") if reply is None else wording, proof.found, asked)
        self.count(Usage(), note)
        return answer


def _proof(question: Question, state: ProofState, pool: Pool) -> tuple[Proof, tuple[str, ...]]:
    """Return the proof and the numbers of the facts that it cites."""
    items, cited = settled_by(state.groundings, state.contradicted)
    settled = []
    for item in items:
        atom, told = state.substitution.apply(state.atoms[item.subgoal]), ", ".join(item.facts)
        settled.append(f"{atom} -- contradicted by {told}" if isinstance(item, Contradicted) else f"{atom} -- {told}")
    found = [value for name in state.plan.answer_variables for value in state.substitution.bindings[name]]
    every, goal = pool.every_fact, state.substitution.apply(state.plan.goal)
    facts = tuple(every[number] for number in cited)
    return Proof(question, goal, facts, tuple(settled), tuple(found), state.plan.is_closed), cited

"""The GOAL-MEM engine: the breadth loop over decompositions, and the answer (Algorithm 1 of the paper, section 4.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter

from goalmem_cli.logic import Rule
from goalmem_cli.logic.equality import Equality, compare
from goalmem_cli.logic.normal import content_words, numbers, stem, words
from goalmem_cli.ports import Backbone, LanguageModel, Observer
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem.attempt import AttemptRun, Outcome
from goalmem_cli.reasoners.goal_mem.facts import FactBook
from goalmem_cli.reasoners.goal_mem.line_steps import LineSteps
from goalmem_cli.reasoners.goal_mem.plans import Decomposition, Limits, Reply, Steps
from goalmem_cli.reasoners.goal_mem.steps import JsonSteps
from goalmem_cli.records import Question, Usage
from goalmem_cli.trace import Attempt, Contradicted, Ending, Fact, Status, Step, Trace

NAME = "goal-mem"


class Unwatched:
    """An observer that looks away."""

    def started(self, attempt: int, goal: str, subgoals: Sequence[str]) -> None:
        """Do nothing."""

    def stepped(self, attempt: int, step: Step, facts: Mapping[str, Fact]) -> None:
        """Do nothing."""


class GoalMem:
    """Answers a question by backward chaining over a backbone; every binding of an answer was checked.

    Model calls stay within 1 + B(2 + 2D) a question, or 2B(3 + 2D) where every reply needs its second try, for
    maximum breadth B and depth D (Appendix B).
    """

    def __init__(
        self,
        backbone: Backbone,
        model: LanguageModel,
        prompts: PromptBook,
        limits: Limits,
        *,
        strict: bool = False,
        model_name: str = "",
        observer: Observer | None = None,
    ) -> None:
        self._backbone = backbone
        self._steps: Steps = (LineSteps if prompts.profile == "compact" else JsonSteps)(model, prompts)
        self._hashes = prompts.hashes
        self._limits = limits
        self._is_strict = strict
        self._model_name = model_name
        self._observer = observer or Unwatched()

    def answer(self, question: Question) -> Trace:
        """Return the trace of the question: answered, unknown, or failed where no attempt got a usable reply."""
        started = perf_counter()
        book = FactBook(self._backbone, question, self._limits)
        blank = Trace(
            Status.UNKNOWN,
            NAME,
            question.text,
            question.asked,
            model=self._model_name,
            asker=question.asker,
            prompts=self._hashes,
        )
        trace = self._search(question, book, blank)
        usage = replace(trace.usage, seconds=perf_counter() - started)
        return replace(trace, facts=book.facts, usage=usage)

    def _search(self, question: Question, book: FactBook, trace: Trace) -> Trace:
        """Run the breadth loop."""
        failed: dict[frozenset[str], str] = {}
        for breadth in range(1, self._limits.max_breadth + 1):
            plan, usage, problem = self._decompose(question, failed)
            trace = replace(trace, usage=trace.usage + usage)
            if plan is None:
                if problem:
                    attempt = Attempt(
                        breadth, "", (), ending=Ending.UNUSABLE_REPLY, failure=f"decomposition: {problem}"
                    )
                    trace = replace(trace, attempts=(*trace.attempts, attempt))
                break
            outcome = AttemptRun(
                question, plan, book, self._steps, self._limits,
                is_strict=self._is_strict, breadth=breadth, observer=self._observer,
            ).run()  # fmt: skip
            trace = replace(
                trace,
                goal=str(plan.goal),
                attempts=(*trace.attempts, outcome.record),
                usage=trace.usage + outcome.usage,
                substitution=outcome.substitution.bindings,
            )
            if outcome.is_grounded:
                return self._conclude(question, plan, outcome, book, trace)
            failed[plan.key] = str(Rule(plan.subgoals, plan.goal))
        return _unproved(trace)

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
            if reply.value.key not in failed:
                return reply.value, usage, ""
            problem = "it repeats a plan that failed"
        return None, usage, ""

    def _conclude(
        self, question: Question, plan: Decomposition, outcome: Outcome, book: FactBook, trace: Trace
    ) -> Trace:
        """Word the answer of a grounded attempt from its supporting facts only."""
        cited = dict.fromkeys(number for item in outcome.settled.values() for number in item.facts)
        facts = [book.facts[number] for number in cited]
        goal = outcome.substitution.apply(plan.goal)
        trace = replace(trace, evidence=tuple(cited))
        if not plan.answer_variables:
            settled = [_settled_line(outcome, number) for number in sorted(outcome.settled)]
            return self._closed(self._steps.verdict(question, facts, goal, settled), trace)
        found = [value for name in plan.answer_variables for value in outcome.substitution.bindings[name]]
        reply = self._steps.answer(question, facts, goal, ", ".join(found))
        answer, note = worded(reply, found, [question.text, str(goal), *(f"{f.speaker} {f.text}" for f in facts)])
        notes = (*trace.notes, note) if note else trace.notes
        return replace(trace, status=Status.ANSWERED, answer=answer, usage=trace.usage + reply.usage, notes=notes)

    def _closed(self, reply: Reply[str], trace: Trace) -> Trace:
        trace = replace(trace, usage=trace.usage + reply.usage)
        if reply.value is None:
            return replace(trace, status=Status.FAILED, failure=f"answer: {reply.problem}")
        if reply.value == "unknown":
            return replace(trace, notes=(*trace.notes, "the supporting facts settle neither yes nor no"))
        return replace(trace, status=Status.ANSWERED, answer=reply.value)


def worded(reply: Reply[str], found: Sequence[str], sources: Sequence[str]) -> tuple[str, str]:
    """Return the model's wording if it says what was found and nothing that has no source, else the bindings; a note.

    Nothing unchecked leaves the engine: a name or number that is in neither the bindings nor the sources counts.
    """
    bindings = ", ".join(found)
    if reply.value is None:
        return bindings, f"the answer's wording was unusable ({reply.problem}), the bindings stand for it"
    wording = " ".join(reply.value.split())
    if not all(_says(wording, value) for value in found):
        return bindings, f"the wording {wording!r} leaves out a binding, the bindings stand for it"
    if extra := _unsourced(wording, [*sources, *found]):
        return bindings, f"the wording {wording!r} adds {extra!r}, the bindings stand for it"
    return wording, ""


def _says(wording: str, value: str) -> bool:
    is_same = compare(wording, value) in (Equality.EQUAL, Equality.ALIAS)
    wanted = {stem(word) for word in content_words(value)}
    return is_same or wanted <= {stem(word) for word in words(wording)}


def _unsourced(wording: str, sources: Sequence[str]) -> str:
    """Return a name or number of the wording that no source has, or nothing."""
    told = {stem(word) for source in sources for word in words(source)}
    for token in wording.split():
        is_name = token[:1].isupper() or bool(numbers(token)) or any(character.isdigit() for character in token)
        if is_name and not {stem(word) for word in words(token)} <= told:
            return token
    return ""


def _settled_line(outcome: Outcome, number: int) -> str:
    item = outcome.settled[number]
    atom = outcome.substitution.apply(outcome.subgoals[number])
    cited = ", ".join(item.facts)
    return f"{atom} -- contradicted by {cited}" if isinstance(item, Contradicted) else f"{atom} -- {cited}"


def _unproved(trace: Trace) -> Trace:
    """Return the trace as unknown, or as failed where every attempt ended in unusable replies."""
    endings = [attempt.ending for attempt in trace.attempts]
    if endings and all(ending is Ending.UNUSABLE_REPLY for ending in endings):
        last = trace.attempts[-1]
        failure = last.failure or next(step.failure for step in last.steps if step.failure)
        return replace(trace, status=Status.FAILED, failure=failure)
    return trace

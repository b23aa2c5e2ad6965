"""Reads the question as its own subgoal: the model answers from the retrieved facts, and the engine checks the answer.

Further facts mislead a small model, but among too few the right one may be missing. So the model may read the best few
first, and more if it is unsure. Of the answers that pass the checks, the one with the likeliest words is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.fitted import UNFITTED, Fitted
from goalmem_cli.languages.words import verdict_in_any
from goalmem_cli.logic.computing.question_words import two_times
from goalmem_cli.logic.questions import asks_for_current_state, goal_asked
from goalmem_cli.model_replies import Reply, ask_whole, read_fields
from goalmem_cli.ports import Completion, LanguageModel, Request
from goalmem_cli.prompts import Prompt, PromptBook
from goalmem_cli.reasoners.goal_mem.plan_texts import parse_plan, say_question
from goalmem_cli.reasoners.goal_mem.provers.readings import UNREAD, Read, fitting, read_each, stated_by, told_of_another
from goalmem_cli.reasoners.goal_mem.records import VERDICTS, Claim, Ended, Manner, Plan, Proposed, Round
from goalmem_cli.reasoners.goal_mem.state import ProofState
from goalmem_cli.reasoners.goal_mem.wording import verdict_in
from goalmem_cli.reasoners.inquiry import reading_choices, reading_of
from goalmem_cli.reasoners.showing import Shown
from goalmem_cli.records import Question, Usage
from goalmem_cli.trace import Fact, Verdict

NOTHING_MORE = "the facts do not settle it, and there is no further fact to read"


class GoalReading:
    """Proposes an answer read from several facts together, for a plan whose only subgoal is its goal."""

    manner = Manner()

    def __init__(
        self,
        model: LanguageModel,
        prompts: PromptBook,
        fitted: Fitted,
        before: Shown | None,
        without: frozenset[str] = frozenset(),
    ) -> None:
        """Take the values fitted to the model, the facts that were read `before`, and the units not to read."""
        self._model = model
        self._prompts = prompts
        self._fitted = fitted
        self._before = before
        self._without = without

    def propose(self, standing: Round) -> Reply[Proposed]:
        """Return what the facts say about the goal. The model is not asked if they were all read before."""
        state = standing.begun
        if standing.pool.shown == self._before:
            return Reply(Proposed(state.plan, reasons={0: NOTHING_MORE}), Usage())
        refused = told_of_another(standing, state)
        told, usage = list[Proposed](), Usage()
        facts = [fact for fact in standing.pool.shown.facts if fact.unit not in self._without]
        for views in _rounds(facts, self._fitted.rounds):
            text = standing.question.text
            reply = read_each(self._model, self._prompts["read"], standing, [(text, view) for view in views])
            usage += reply.usage
            if reply.value is None and not told:
                return Reply(None, usage, reply.problem)
            told += [claimed_of(each, standing, state, self._fitted.trusted) for each in reply.value or ()]
            if any((claim.grounding_certainty or 0.0) >= self._fitted.sure for each in told for claim in each.claims):
                break
        read = _together(told, state.plan)
        if refused and not any((claim.grounding_certainty or 0.0) >= self._fitted.trusted for claim in read.claims):
            read = Proposed(state.plan, reasons=refused)
        return Reply(read, usage)


class Floor:
    """Proposes an answer read from the facts in view, as `direct` reads: the floor under replies without a proof."""

    manner = Manner(rereads=False)

    def __init__(self, model: LanguageModel, prompt: Prompt) -> None:
        self._model = model
        self._prompt = prompt

    def propose(self, standing: Round) -> Reply[Proposed]:
        """Return what was read as a claim with the facts that state it."""
        state, numbers = standing.begun, list(standing.pool.facts)

        def build(trouble: str) -> list[Request]:
            inputs = say_question(standing.question) | {"facts": list(standing.pool.shown.lines), "problem": trouble}
            return [self._prompt.request(inputs, reading_choices(numbers))]

        def parse(requests: Sequence[Request], replies: Sequence[Completion]) -> Read:
            reading = reading_of(read_fields(replies[0].text, requests[0]), numbers)
            return Read(reading, replies[0].mean_likelihood)

        reply = ask_whole(self._model, build, parse)
        if reply.value is None:
            return Reply(None, reply.usage, reply.problem)
        read, said = reply.value, reply.value.reading.answer or ""
        if state.plan.is_closed and (verdict := verdict_in(said)) is not None:
            read = replace(read, reading=replace(read.reading, answer=verdict))
        proposed = claimed_of(read, standing, state, UNFITTED.trusted)
        return Reply(proposed if state.plan.is_closed else replace(proposed, wording=said), reply.usage)


def plan_asked(question: Question) -> Plan:
    """Return the question as a plan of one subgoal, made by rule."""
    goal = goal_asked(question.text)
    names = tuple(variable.name for variable in goal.variables)
    return Plan(goal, (goal,), names, is_current=asks_for_current_state(question.text))


def computed_plan(question: Question) -> Plan | None:
    """Return a plan for the time between two events, made by rule; None if the question does not clearly ask for it."""
    dated = two_times(question.text)
    if dated is None:
        return None
    subgoals = [str(atom) for atom in dated]
    try:
        return parse_plan(question, str(goal_asked(question.text)), subgoals, ["between(y, z)"], {}, is_current=False)
    except ReplyUnusable:  # brackets in the question
        return None


def likelihood_of(read: Ended) -> float:
    """Return the mean probability (0 to 1) of the words read: 0 if refused, 1 if the model gives no probabilities."""
    steps = read.record.steps if read.record is not None and read.is_proved else ()
    told = [item.grounding_certainty for step in steps for item in step.grounded]
    told += [item.grounding_certainty for step in steps for item in step.contradicted]
    return min((1.0 if each is None else each for each in told), default=0.0)


def _rounds(facts: Sequence[Fact], rounds: Sequence[Sequence[int]]) -> Iterator[list[Sequence[Fact]]]:
    """Yield for each round the lists of facts to read. Lists that an earlier round showed whole are left out."""
    read = 0
    for counts in rounds:
        views = [facts[:count] for count in sorted({min(count, len(facts)) for count in counts}) if count > read]
        if views:
            read = len(views[-1])
            yield views


def claimed_of(read: Read, standing: Round, state: ProofState, trusted: float) -> Proposed:
    """Return a reading of the whole question as a claim if its facts are about the right person, else why not.

    A reading that is at least as likely as `trusted` (0 to 1) skips the check of the person.
    """
    plan, reading, likelihood = state.plan, read.reading, read.likelihood
    if reading.answer is None:
        return Proposed(plan, reasons={0: UNREAD})
    if plan.is_closed:
        verdict = reading.answer.lower()
        verdict = verdict if verdict in VERDICTS else verdict_in_any(verdict) or verdict
        if verdict not in VERDICTS:
            return Proposed(plan, reasons={0: f"what was read is no verdict: {reading.answer}"})
        said = Verdict.CONTRADICTED if verdict.endswith("no") else Verdict.ENTAILED
        return Proposed(plan, (Claim(0, reading.cited, verdict=said, grounding_certainty=likelihood),), wording=verdict)
    atom, facts = state.applied(0), standing.pool.shown.facts
    (variable,) = (each for each in atom.variables if each.name == plan.answer_variables[0])
    is_trusted = (likelihood or 0.0) >= trusted
    found = stated_by(reading.answer, reading.cited, atom, facts, facts, is_trusted=is_trusted)
    if isinstance(found, str):
        return Proposed(plan, reasons={0: found})
    answer, numbers = found
    claim = Claim(0, numbers, {variable.name: (answer,)}, grounding_certainty=likelihood)
    claims, reasons = fitting([claim], standing, state, is_trusted=is_trusted)
    return Proposed(plan, claims, reasons=reasons)


def _together(told: Sequence[Proposed], plan: Plan) -> Proposed:
    """Return the claims of several readings as alternatives.

    For a closed question only the likeliest reading counts. If the model gives no probabilities, the reading of the
    most facts counts. Without any claim, return why the reading of the most facts has none.
    """
    found = [(claim, each.wording) for each in told for claim in each.claims]
    if not found:
        return next((each for each in reversed(told) if each.reasons != {0: UNREAD}), told[-1])
    is_ranked = all(claim.grounding_certainty is not None for claim, _ in found)
    if not plan.is_closed and is_ranked:
        return Proposed(plan, tuple(claim for claim, _ in found))
    surest, wording = max(reversed(found), key=lambda entry: entry[0].grounding_certainty or 0.0)
    return Proposed(plan, (surest,), wording=wording)

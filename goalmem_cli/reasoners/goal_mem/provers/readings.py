"""How a small model reads: the whole question or a plan's steps, and which facts state what it read.

Further facts mislead a small model, but among too few the right one may be missing. So the model may read the best few
first, and more if it is unsure. Of the answers that pass the checks, the one with the likeliest words is taken.

A plan's steps are read one after another, each from its own retrieval, with the values of earlier steps put in: to find
the neighbour's granddaughter, one must first know who the neighbour is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.fitted import UNFITTED, Fitted
from goalmem_cli.logic import Atom, Constant, Variable
from goalmem_cli.logic.computing.question_words import two_times
from goalmem_cli.logic.dates import dates_in
from goalmem_cli.logic.forms import time_around
from goalmem_cli.logic.normal import content_stems
from goalmem_cli.logic.people import is_only_named, unfit, who_is_meant
from goalmem_cli.logic.questions import asks_for_current_state, asks_for_person, asks_for_time, goal_asked
from goalmem_cli.logic.substitution import values_of
from goalmem_cli.logic.support import Support, is_scaled, support_of, telling_stems, working_of
from goalmem_cli.model_replies import Reply, ask_whole, read_fields
from goalmem_cli.ports import Completion, LanguageModel, Request
from goalmem_cli.prompts import Prompt, PromptBook
from goalmem_cli.reasoners.facts import token_cost
from goalmem_cli.reasoners.goal_mem.plans import parse_plan, say_question
from goalmem_cli.reasoners.goal_mem.records import AfterReply, Claim, Ended, Plan, Proposed, Round
from goalmem_cli.reasoners.goal_mem.state import ProofState
from goalmem_cli.reasoners.goal_mem.weighing import doubt, is_addressed, says_nothing_new, speakers, told_by_another
from goalmem_cli.reasoners.goal_mem.wording import verdict_in
from goalmem_cli.reasoners.inquiry import Reading, reading_choices, reading_of
from goalmem_cli.reasoners.prompt_texts import asked_in, asker_in, fact_line
from goalmem_cli.reasoners.showing import Shown
from goalmem_cli.records import Question, Usage
from goalmem_cli.trace import Fact, Verdict

CITED = 4
"""The most facts that may together state an answer that none of them states alone."""
UNREAD = "read together, the facts do not tell it"
UNSTATED = "the facts do not state what was read"


def reading_request(
    prompt: Prompt, question: Question, shown: Sequence[Fact], choices: Mapping[str, Sequence[str]], trouble: str = ""
) -> Request:
    """Return the request to read an answer from the facts `shown`, in that order.

    The best facts come last, since a small model relies on what is next to the question.
    """
    inputs = {
        "question": asked_in(question.text, shown),
        "asker": asker_in(question),
        "facts": [fact_line(fact) for fact in shown],
        "problem": trouble,
    }
    return prompt.request(inputs, choices)


def read_each(
    model: LanguageModel, prompt: Prompt, standing: Round, questions: Sequence[tuple[str, Sequence[Fact]]]
) -> Reply[list[Reading]]:
    """Read each question from its own facts, all in one call."""

    def build(trouble: str) -> list[Request]:
        requests = []
        for text, facts in questions:
            choices = reading_choices([fact.number for fact in facts])
            asked, shown = replace(standing.question, text=text), as_shown(standing.pool.shown, facts)
            requests.append(reading_request(prompt, asked, shown, choices, trouble))
        return requests

    def parse(requests: Sequence[Request], replies: Sequence[Completion]) -> list[Reading]:
        found = []
        for request, (text, facts), said in zip(requests, questions, replies, strict=True):
            reading = reading_of(read_fields(said.text, request), [fact.number for fact in facts], text)
            found.append(replace(reading, likelihood=said.mean_likelihood))
        return found

    return ask_whole(model, build, parse)


def as_shown(shown: Shown, view: Collection[Fact]) -> list[Fact]:
    """Return the facts of a view in the order of prompts: block by block, the best of each block last.

    So a later reading with one more block has a prompt that begins like the earlier one.
    """
    return [fact for block in shown.blocks for fact in reversed(block.facts) if fact in view]


def told_of_another(standing: Round, state: ProofState) -> dict[int, str]:
    """Return a reason for each active subgoal with the answer variable, if the question seems to name a wrong person.

    Empty if the named person's own turns are the likeliest evidence, or if a time is asked for.
    """
    pool, plan, text = standing.pool, state.plan, standing.question.text
    found = told_by_another(text, pool.by_speaker(text), speakers(pool.shown.facts))
    if found is None or len(plan.answer_variables) != 1 or _asks_when(plan):
        return {}
    why = f"what comes nearest to the question is said by {found[1]}, not by {found[0]}"
    having = plan.having(plan.answer_variables)
    return {number: why for number in state.active_numbers() if number in having}


def _asks_when(plan: Plan) -> bool:
    """Say whether the answer is a time, by its type."""
    wanted = {v.type for atom in plan.subgoals for v in atom.variables if v.name in plan.answer_variables}
    return any(map(asks_for_time, wanted))


def stated_by(
    answer: str,
    numbers: Sequence[str],
    atom: Atom,
    shown: Sequence[Fact],
    in_view: Sequence[Fact],
    question: str,
    *,
    is_trusted: bool = False,
) -> tuple[str, tuple[str, ...]] | str:
    """Return the answer that was read with the facts that state it, cited ones first, or else why none of them does.

    If the answer is a day that no fact states, a time of several days in a cited fact takes its place. A number may be
    worked out from two numbers of the cited facts (`working_of`). If the reading `is_trusted`, the facts need not be
    about the person whom the statement names.
    """
    people, facts = speakers(in_view), {fact.number: fact for fact in in_view}
    cited = [facts[number] for number in numbers]
    answer = who_is_meant(answer, cited[0]) if cited and asks_for_person(str(atom)) else answer
    order = [*cited, *(fact for fact in shown if fact not in cited)]
    fit = [fact for fact in order if is_trusted or not doubt(atom, fact, people, in_view)]
    told = stating(answer, fit)
    fit_cited = [fact for fact in cited if fact in fit]
    for fact in () if told else fit_cited:
        whole = time_around(answer, fact.text, fact.said)
        if whole is not None:
            answer, told = whole, [fact]
            break
    if not told and len(fit_cited) <= CITED and working_of(answer, fit_cited, question):
        told = fit_cited
    if not told:
        return f"{UNSTATED}: {answer}"
    beside = [fact for fact in fit_cited if fact not in told]
    return answer, tuple(fact.number for fact in (*told, *beside))


def stating(answer: str, facts: Sequence[Fact]) -> list[Fact]:
    """Return the first fact that states the answer, or implies it if it is a time or a number by a factor ("half").

    Without one, return the first few facts that together have all words of the answer (at most `CITED`), or none.
    """
    for fact in facts:
        support = support_of(answer, [fact])
        if support is Support.STATED or (support is Support.DERIVED and dates_in(answer)) or is_scaled(answer, fact):
            return [fact]
    missing, chosen = telling_stems(answer), []
    for fact in facts:
        told = content_stems(f"{fact.speaker} {fact.text}")
        if missing & told:
            chosen.append(fact)
            missing -= told
    return chosen if chosen and not missing and len(chosen) <= CITED else []


def fitting(
    claims: Sequence[Claim], standing: Round, state: ProofState, *, is_trusted: bool = False
) -> tuple[tuple[Claim, ...], dict[int, str]]:
    """Return the claims that pass the checks, and for each subgoal why its first refused claim does not.

    The cited facts must be about the person whom the statement names, unless the claims are `is_trusted`. The values
    must be what is asked for. Values that the facts only address are removed. Claims that add nothing to the statement
    are left out without a reason.
    """
    in_view = standing.pool.shown.facts
    people, facts = speakers(in_view), standing.pool.facts
    fit, refused = [], dict[int, str]()
    for claim in claims:
        atom = state.applied(claim.subgoal)
        if says_nothing_new(claim.bindings, atom):
            continue
        cited = [facts[number] for number in claim.facts]
        doubts = () if is_trusted else (doubt(atom, fact, people, in_view) for fact in cited)
        why = next(filter(None, doubts), "")
        addressed = {v for vs in claim.bindings.values() for v in vs if is_addressed(v, cited, people)}
        told = {name: tuple(v for v in vs if v not in addressed) for name, vs in claim.bindings.items()}
        if not why:
            why = _misnamed(claim, atom, standing.question, people)
        if not why and not all(told.values()):
            why = f"only addresses {', '.join(sorted(addressed))}"
        if why:
            refused.setdefault(claim.subgoal, f"{claim.facts[0]} comes near, but {why}")
        else:
            fit.append(replace(claim, bindings=told))
    return tuple(fit), refused


def _misnamed(claim: Claim, atom: Atom, question: Question, people: frozenset[str]) -> str:
    """Return why a person in the claim's bindings cannot be what is asked for, or an empty text."""
    for variable in atom.variables:
        for value in claim.bindings.get(variable.name, ()):
            if is_only_named(value, question.text, people):
                return f"{value} is a name, and does not tell who somebody is"
            if why := unfit(value, variable, atom, people):
                return why
    return ""


NOTHING_MORE = "the facts do not settle it, and there is no further fact to read"


class GoalReading:
    """Proposes an answer read from several facts together, for a plan whose only subgoal is its goal."""

    after_reply = AfterReply()

    def __init__(
        self,
        model: LanguageModel,
        prompts: PromptBook,
        fitted: Fitted,
        before: Shown | None,
        without: frozenset[str] = frozenset(),
        denial: Claim | None = None,
    ) -> None:
        """Take the values fitted to the model, the facts that were read `before`, and the units not to read.

        `denial` is the claim of an earlier reading that the answer is no. A sure "yes" is proposed beside it.
        """
        self._model = model
        self._prompts = prompts
        self._fitted = fitted
        self._before = before
        self._without = without
        self._denial = denial

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
        return Reply(read if self._denial is None else self._beside(self._denial, read), usage)

    def _beside(self, denial: Claim, read: Proposed) -> Proposed:
        """Return the "yes" read without the facts of the denial, and the denial; no claim if the "yes" is not sure."""
        yes = [claim for claim in read.claims if not claim.is_contradiction]
        is_sure = any((claim.grounding_certainty or 0.0) >= self._fitted.sure for claim in yes)
        return replace(read, claims=(*yes, denial)) if is_sure else Proposed(read.plan, reasons={0: UNREAD})


class Floor:
    """Proposes an answer read from the facts in view, as `direct` reads: used if other replies give no proof."""

    after_reply = AfterReply()

    def __init__(self, model: LanguageModel, prompt: Prompt) -> None:
        self._model = model
        self._prompt = prompt

    def propose(self, standing: Round) -> Reply[Proposed]:
        """Return what was read as a claim with the facts that state it."""
        state, numbers = standing.begun, list(standing.pool.facts)

        def build(trouble: str) -> list[Request]:
            shown = standing.pool.shown
            inputs = say_question(standing.question, shown.facts) | {"facts": list(shown.lines), "problem": trouble}
            return [self._prompt.request(inputs, reading_choices(numbers))]

        def parse(requests: Sequence[Request], replies: Sequence[Completion]) -> Reading:
            reading = reading_of(read_fields(replies[0].text, requests[0]), numbers)
            return replace(reading, likelihood=replies[0].mean_likelihood)

        reply = ask_whole(self._model, build, parse)
        if reply.value is None:
            return Reply(None, reply.usage, reply.problem)
        read, said = reply.value, reply.value.answer or ""
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


def claimed_of(reading: Reading, standing: Round, state: ProofState, trusted: float) -> Proposed:
    """Return a reading of the whole question as a claim if its facts are about the right person, else why not.

    A reading that is at least as likely as `trusted` (0 to 1) skips the check of the person.
    """
    plan, likelihood = state.plan, reading.likelihood
    if reading.answer is None:
        return Proposed(plan, reasons={0: UNREAD})
    if plan.is_closed:
        verdict = verdict_in(reading.answer)
        if verdict is None:
            return Proposed(plan, reasons={0: f"what was read is no verdict: {reading.answer}"})
        said = Verdict.CONTRADICTED if verdict.endswith("no") else Verdict.ENTAILED
        return Proposed(plan, (Claim(0, reading.cited, verdict=said, grounding_certainty=likelihood),), wording=verdict)
    atom, facts = state.applied(0), standing.pool.shown.facts
    (variable,) = (each for each in atom.variables if each.name == plan.answer_variables[0])
    is_trusted = (likelihood or 0.0) >= trusted
    asked = standing.question.text
    found = stated_by(reading.answer, reading.cited, atom, facts, facts, asked, is_trusted=is_trusted)
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


_YES = ("yes", "likely yes")


@dataclass(frozen=True, slots=True)
class _Asked:
    """A step as a question: its number, its statement, the variable to find (None: yes or no), the facts to read."""

    number: int
    atom: Atom
    wanted: Variable | None
    facts: tuple[Fact, ...]

    @property
    def text(self) -> str:
        """The question."""
        return step_question(self.atom, self.wanted.name if self.wanted else "")


class StepReading:
    """Proposes for a plan's subgoals what the model reads about each.

    Each reading shows the facts `shown` for the question, and a few more that the step's own queries found. All facts
    together have at most `room` tokens; within that the first further fact may be a long one.
    """

    after_reply = AfterReply()

    def __init__(self, model: LanguageModel, prompts: PromptBook, fitted: Fitted, shown: Shown, room: int) -> None:
        self._model = model
        self._prompts = prompts
        self._fitted = fitted
        self._shown = shown.facts
        self._room = room - shown.tokens

    def propose(self, standing: Round) -> Reply[Proposed]:
        """Read all steps that are ready in one call.

        A step is ready if it lacks at most one value. If none is, the first step is read for each of its values.
        """
        state = standing.begun
        asked = list(self._asked(standing, state))
        if not asked:
            return Reply(Proposed(state.plan), Usage())
        questions = [(each.text, each.facts) for each in asked]
        reply = read_each(self._model, self._prompts["read"], standing, questions)
        if reply.value is None:
            return Reply(None, reply.usage, reply.problem)
        return Reply(_told(list(zip(asked, reply.value, strict=True)), standing, state), reply.usage)

    def _asked(self, standing: Round, state: ProofState) -> Iterator[_Asked]:
        atoms = {number: state.applied(number) for number in state.active_numbers()}
        ready = [number for number, atom in atoms.items() if len(atom.variables) < 2]
        for number in ready or list(atoms)[:1]:
            facts = self._facts(standing, state, number)
            for wanted in (atoms[number].variables or (None,)) if facts else ():
                yield _Asked(number, atoms[number], wanted, facts)

    def _facts(self, standing: Round, state: ProofState, number: int) -> tuple[Fact, ...]:
        """Return the facts to read a step from: its queries' hits, likeliest first, then the facts shown before."""
        facts, shown = standing.pool.facts, {fact.number for fact in self._shown}
        count, tokens = self._fitted.added
        led, more, cost = list[Fact](), 0, 0
        queries = (state.applied(number).phrase, state.atoms[number].phrase)
        for fact in (facts[name] for name in standing.pool.led_to(queries)):
            if fact.number not in shown:
                cost += token_cost(fact.speaker, fact.text, fact.times)
                more += 1
                if more > count or cost > (self._room if more == 1 else min(tokens, self._room)):
                    break
            led.append(fact)
        return (*led, *(fact for fact in self._shown if fact not in led))


def _told(readings: Sequence[tuple[_Asked, Reading]], standing: Round, state: ProofState) -> Proposed:
    """Return a claim for each step whose missing values were all read, and the reason for each other step."""
    claims, reasons = list[Claim](), dict[int, str]()
    for number in dict.fromkeys(asked.number for asked, _ in readings):
        own = [entry for entry in readings if entry[0].number == number]
        values: dict[str, tuple[str, ...]] = {}
        facts: list[str] = []
        likely = [read.likelihood for _, read in own if read.likelihood is not None]
        for asked, read in own:
            found = _value(asked, read, standing)
            if isinstance(found, str):
                reasons[number] = found
                break
            value, cited = found
            facts += cited
            if asked.wanted is not None:
                values[asked.wanted.name] = values_of(value, asked.wanted)
        else:
            certainty = min(likely) if len(likely) == len(own) else None
            claims.append(Claim(number, tuple(dict.fromkeys(facts)), values, grounding_certainty=certainty))
    fit, refused = fitting(claims, standing, state)
    return Proposed(state.plan, fit, reasons={**reasons, **refused})


def _value(asked: _Asked, reading: Reading, standing: Round) -> tuple[str, tuple[str, ...]] | str:
    """Return the value that was read and the facts that state it, or else why it is refused."""
    if reading.answer is None:
        return UNREAD
    if asked.wanted is None:
        is_so = reading.answer.lower() in _YES
        return ("", reading.cited) if is_so else f"what was read is {reading.answer}"
    return stated_by(reading.answer, reading.cited, asked.atom, asked.facts, standing.pool.shown.facts, asked.text)


def step_question(atom: Atom, wanted: str) -> str:
    """Return the subgoal as a question for the variable of that name: ``Alice ordered which drink at Momoco?``.

    Other variables become "some" and their type. Without `wanted` it is a yes-or-no question.
    """
    text = " ".join("".join(_said(part, wanted) for part in atom.parts).split())
    return f"{text[:1].upper()}{text[1:]}?"


def _said(part: str | Variable | Constant, wanted: str) -> str:
    if isinstance(part, Variable):
        return f"{'which' if part.name == wanted else 'some'} {part.type}"
    return part.value if isinstance(part, Constant) else part

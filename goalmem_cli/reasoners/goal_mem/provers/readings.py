"""Readings: the model answers a question from several facts, and this module finds the facts that state the answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from goalmem_cli.logic import Atom
from goalmem_cli.logic.dates import dates_in
from goalmem_cli.logic.forms import time_around
from goalmem_cli.logic.normal import content_stems
from goalmem_cli.logic.people import is_only_named, unfit, who_is_meant
from goalmem_cli.logic.questions import asks_for_person, asks_for_time
from goalmem_cli.logic.support import Support, is_scaled, support_of, telling_stems
from goalmem_cli.model_replies import Reply, ask_whole, read_fields
from goalmem_cli.ports import Completion, LanguageModel, Request
from goalmem_cli.prompts import Prompt
from goalmem_cli.reasoners.goal_mem.records import Claim, Plan, Round
from goalmem_cli.reasoners.goal_mem.state import ProofState
from goalmem_cli.reasoners.goal_mem.weighing import doubt, is_addressed, says_nothing_new, speakers, told_by_another
from goalmem_cli.reasoners.inquiry import Reading, reading_choices, reading_of
from goalmem_cli.reasoners.prompt_texts import asked_in, asker_in, fact_line
from goalmem_cli.reasoners.showing import Shown
from goalmem_cli.records import Question
from goalmem_cli.trace import Fact

CITED = 4
"""The most facts that may together state an answer that none of them states alone."""
UNREAD = "read together, the facts do not tell it"
UNSTATED = "the facts do not state what was read"


def reading_request(
    prompt: Prompt,
    question: Question,
    shown: Sequence[Fact],
    choices: Mapping[str, Sequence[str]],
    trouble: str = "",
) -> Request:
    """Return the request to read an answer from the facts `shown`, in that order.

    The best facts come last, since a small model relies on what is next to the question.
    """
    inputs = {
        "question": asked_in(question.text),
        "asker": asker_in(question),
        "facts": [fact_line(fact) for fact in shown],
        "problem": trouble,
    }
    return prompt.request(inputs, choices)


@dataclass(frozen=True, slots=True)
class Read:
    """A reading and the mean probability (0 to 1) of its words, or None if the model gives no probabilities."""

    reading: Reading
    likelihood: float | None


def read_each(
    model: LanguageModel, prompt: Prompt, standing: Round, questions: Sequence[tuple[str, Sequence[Fact]]]
) -> Reply[list[Read]]:
    """Read each question from its own facts, all in one call."""

    def build(trouble: str) -> list[Request]:
        requests = []
        for text, facts in questions:
            choices = reading_choices([fact.number for fact in facts])
            asked, shown = replace(standing.question, text=text), as_shown(standing.pool.shown, facts)
            requests.append(reading_request(prompt, asked, shown, choices, trouble))
        return requests

    def parse(requests: Sequence[Request], replies: Sequence[Completion]) -> list[Read]:
        found = []
        for request, (text, facts), said in zip(requests, questions, replies, strict=True):
            reading = reading_of(read_fields(said.text, request), [fact.number for fact in facts], text)
            found.append(Read(reading, said.mean_likelihood))
        return found

    return ask_whole(model, build, parse)


def as_shown(shown: Shown, view: Collection[Fact]) -> list[Fact]:
    """Return the facts of a view in the order of prompts: block by block, the best of each block last.

    So a later reading with one more block has a prompt that begins like the earlier one.
    """
    return [fact for block in shown.blocks for fact in reversed(block.facts) if fact in view]


def told_of_another(standing: Round, state: ProofState) -> dict[int, str]:
    """Return the active subgoals with the answer, each with a reason, if the question seems to name the wrong person.

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
    *,
    is_trusted: bool = False,
) -> tuple[str, tuple[str, ...]] | str:
    """Return the answer that was read with the facts that state it, cited ones first, or else why none of them does.

    If the answer is a day that no fact states, a time of several days in a cited fact takes its place. If the reading
    `is_trusted`, the facts need not be about the person whom the statement names.
    """
    people, facts = speakers(in_view), {fact.number: fact for fact in in_view}
    cited = [facts[number] for number in numbers]
    answer = who_is_meant(answer, cited[0]) if cited and asks_for_person(str(atom)) else answer
    order = [*cited, *(fact for fact in shown if fact not in cited)]
    fit = [fact for fact in order if is_trusted or not doubt(atom, fact, people, in_view)]
    told = stating(answer, fit)
    for fact in () if told else [fact for fact in cited if fact in fit]:
        whole = time_around(answer, fact.text, fact.said)
        if whole is not None:
            answer, told = whole, [fact]
            break
    if not told:
        return f"{UNSTATED}: {answer}"
    beside = [fact for fact in cited if fact in fit and fact not in told]
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
    """Return the claims that say something new about the right person, and for other subgoals why theirs do not.

    If the claims are `is_trusted`, the facts need not be about the person whom the statement names.
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

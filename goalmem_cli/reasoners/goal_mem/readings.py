"""What several facts together tell of the answer, read as from a passage; the engine finds which of them state it.

A model of this size that is shown one fact writes what stands there; of eight it tells better which has the answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from goalmem_cli.logic import Variable
from goalmem_cli.logic.dates import dates_in
from goalmem_cli.logic.forms import time_around
from goalmem_cli.logic.normal import content_stems
from goalmem_cli.logic.questions import asks_for_time
from goalmem_cli.logic.substitution import values_of
from goalmem_cli.logic.support import Support, support_of, telling_stems
from goalmem_cli.ports import Completion, Request
from goalmem_cli.prompts import Prompt
from goalmem_cli.reasoners.asking import asker_in, fact_line
from goalmem_cli.reasoners.goal_mem.plans import Decomposition, Proposal, Situation
from goalmem_cli.reasoners.goal_mem.weighing import PREFERENCE, certainty, doubt, speakers, told_by_another
from goalmem_cli.reasoners.showing import Shown
from goalmem_cli.records import Question
from goalmem_cli.trace import Fact

SHOWN, CITED = 8, 4
"""How many of the question's likeliest facts are read together, and how many an answer may rest on."""
ANSWER = "answer: "


@dataclass(frozen=True, slots=True)
class ReadFrom:
    """A subgoal that lacks nothing but the answer, and the facts to read it from, with how likely each is evidence.

    The likeliest are first, but those that cannot be about whom the subgoal names are last.
    """

    subgoal: int
    variable: Variable
    facts: tuple[tuple[Fact, float], ...]


def readable(plan: Decomposition) -> bool:
    """Say whether the answer can be read: it is one thing."""
    return len(plan.answer_variables) == 1


def asks_when(plan: Decomposition) -> bool:
    """Say whether the answer is a time, by its type."""
    wanted = {v.type for atom in plan.subgoals for v in atom.variables if v.name in plan.answer_variables}
    return any(map(asks_for_time, wanted))


def told_of_another(situation: Situation) -> dict[int, str]:
    """Return the active subgoals of the plan that have the answer, where the question asks of one person what another
    tells, and why that is thought.
    """
    found = told_by_another(situation.question.text, situation.told, speakers(situation.facts))
    if found is None or not readable(situation.plan) or asks_when(situation.plan):
        return {}
    why = f"what comes nearest to the question is said by {found[1]}, not by {found[0]}"
    wanted = set(situation.plan.answer_variables)
    having = [wanted & {variable.name for variable in atom.variables} for atom in situation.plan.subgoals]
    return {number: why for number in situation.subgoals if number < len(having) and having[number]}


def read_from(situation: Situation) -> Iterator[ReadFrom]:
    """Yield the active subgoals that lack nothing but the answer, with what they or the question itself led to."""
    facts, people = {fact.number: fact for fact in situation.facts}, speakers(situation.facts)
    for number, atom in situation.subgoals.items() if situation.found and readable(situation.plan) else ():
        if tuple(variable.name for variable in atom.variables) == situation.plan.answer_variables:
            likely = dict(situation.found)
            for name, likelihood in situation.leads[number].items():
                likely[name] = max(likelihood, likely.get(name, 0.0))
            order = sorted(likely, key=lambda name: -likely[name])[:SHOWN]
            if not situation.leads[number].keys() & set(order):
                continue  # every one of them was held against it already
            leads = [(facts[name], likely[name]) for name in order]
            leads.sort(key=lambda lead: bool(doubt(atom, lead[0], people)))
            yield ReadFrom(number, atom.variables[0], tuple(leads))


def read_request(prompt: Prompt, question: Question, reading: ReadFrom, trouble: str) -> Request:
    """Return the request for an answer from a subgoal's facts, which names none of them."""
    shown = sorted(reading.facts, key=lambda lead: lead[1])
    return reading_request(prompt, question, [fact for fact, _ in shown], {"facts": [], "replies": ["alone"]}, trouble)


def reading_request(
    prompt: Prompt,
    question: Question,
    shown: Sequence[Fact],
    choices: Mapping[str, Sequence[str]],
    trouble: str = "",
) -> Request:
    """Return the request for an answer from facts shown in that order: the best last, since a model of this size goes
    by what stands next to the question.
    """
    inputs = {
        "question": question.text,
        "asker": asker_in(question),
        "facts": [fact_line(fact) for fact in shown],
        "problem": trouble,
    }
    return prompt.request(inputs, choices)


def as_shown(shown: Shown, view: Collection[Fact]) -> list[Fact]:
    """Return the facts of a view in the order in which a prompt shows them: block by block, the best of each last.

    So a reading that adds a block to those of an earlier one has a prompt that begins as the earlier one's did.
    """
    return [fact for block in shown.blocks for fact in reversed(block.facts) if fact in view]


def what_is_read(reading: ReadFrom, said: Completion) -> list[Proposal]:
    """Return the proposal of a reading, if facts state its answer.

    How sure the model is, is told by the (geometric) mean of the probabilities that it gave the tokens.
    """
    facts = [fact for fact, _ in reading.facts]
    answer, told = stated(said.text.removeprefix(ANSWER).strip(), facts, facts[:1])
    if not told:
        return []
    values = {reading.variable.name: values_of(answer, reading.variable)}
    likely = {fact.number: likelihood for fact, likelihood in reading.facts}
    numbers = tuple(fact.number for fact in told)
    sure = certainty(min(likely[number] for number in numbers), said.mean_likelihood)
    return [Proposal(reading.subgoal, numbers, values, certainty=sure, preference=PREFERENCE)]


def stated(answer: str, facts: Sequence[Fact], cited: Sequence[Fact]) -> tuple[str, list[Fact]]:
    """Return the answer and the facts that state it; a day none of them does is the time, of several days, that one of
    those cited tells. There are no facts where it is not stated at all.
    """
    told = stating(answer, facts)
    for fact in () if told else cited:
        whole = time_around(answer, fact.text, fact.said)
        if whole is not None:
            return whole, [fact]
    return answer, told


def stating(answer: str, facts: Sequence[Fact]) -> list[Fact]:
    """Return the first fact that states the answer, or means it where it is a time, else the first few that together
    say all of its words.
    """
    for fact in facts:
        support = support_of(answer, [fact])
        if support is Support.STATED or (support is Support.DERIVED and dates_in(answer)):
            return [fact]
    missing, chosen = telling_stems(answer), []
    for fact in facts:
        told = content_stems(f"{fact.speaker} {fact.text}")
        if missing & told:
            chosen.append(fact)
            missing -= told
    return chosen if chosen and not missing and len(chosen) <= CITED else []

"""Training examples: plans, and readings of a question, or of one step of its plan, from retrieved facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from goalmem_cli.lab.tuning.batches import Example
from goalmem_cli.lab.tuning.corpus import Talk, by_domain
from goalmem_cli.lab.tuning.plan import LONGEST_VALUE, Ground, Lesson, lesson_of, planning
from goalmem_cli.lab.tuning.renaming import YEARS, Kind, lower_words, names_of, rename
from goalmem_cli.lab.tuning.scenes import Scene, remembered
from goalmem_cli.logic import Atom, Substitution, Variable
from goalmem_cli.logic.normal import numbers
from goalmem_cli.logic.support import Support, support_of
from goalmem_cli.ports import Embedder, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.facts import token_cost
from goalmem_cli.reasoners.goal_mem.provers.readings import CITED, reading_request, step_question
from goalmem_cli.reasoners.goal_mem.records import Limits
from goalmem_cli.reasoners.inquiry import reading_choices
from goalmem_cli.trace import Fact

FEWEST, MOST, TOKENS = 2, 20, Limits().read_tokens
"""The minimum and maximum number of facts in a reading, and their maximum tokens, as in answering."""
WITHOUT = 0.12
"""The probability that a reading shows none of the evidence."""
TOGETHER = 14
"""The maximum number of questions about the same facts."""
LEFT_OUT = 0.33
"""The probability that a step's question omits a value that an earlier step found."""


def reading(scene: Scene, book: PromptBook, chance: Random) -> Iterator[Example]:
    """Yield a reading of the facts that the question retrieves, best last; some readings lack the evidence."""
    evidence = scene.gold(scene.case.evidence)
    is_without = chance.random() < WITHOUT
    is_unknown = scene.case.is_unanswerable or is_without
    found = scene.found(scene.question.text, chance.randint(FEWEST, MOST))
    units = {fact.unit for fact in evidence}
    if is_without and not scene.case.is_unanswerable:
        found = [fact for fact in found if fact.unit not in units]
    else:
        found = _with(found, evidence, chance)
    shown = _within(found, units)
    answer = scene.case.answer
    if not shown or (not is_unknown and answer is None):
        return
    if is_unknown:
        yield _unknown(scene, book, scene.question.text, shown)
    else:
        reply = _reply(answer, _numbers(shown, evidence))
        yield Example("read", scene.case.id, _read(scene, book, scene.question.text, shown), reply)


def reading_together(scenes: Sequence[Scene], book: PromptBook, chance: Random, copy: int) -> Iterator[Example]:
    """Yield readings of one conversation's questions, where several questions share the same facts.

    The facts are all evidence of these questions and some that each retrieves, in any order. The shared prompt is
    computed once. `copy` distinguishes copies of the conversation.
    """
    asked = [scene for scene in scenes if scene.case.is_unanswerable or scene.case.answer is not None]
    chance.shuffle(asked)
    for at in range(0, len(asked), TOGETHER):
        part = asked[at : at + TOGETHER]
        first, group = part[0], f"{copy}/{part[0].case.id}"
        evidence = first.gold(list(dict.fromkeys(label for scene in part for label in scene.case.evidence)))
        units = {fact.unit for fact in evidence}
        hits = [hit for scene in part for hit in scene.numbered.hits(scene.question.text, FEWEST)]
        found = {fact.unit: fact for fact in map(first.numbered.fact, chance.sample(hits, len(hits)))}
        others = [fact for unit, fact in found.items() if unit not in units][: max(0, MOST - len(units))]
        shown = _within(_with(others, evidence, chance), units)
        for scene in part:
            told = first.gold(scene.case.evidence)
            reply = _reply(None if scene.case.is_unanswerable else scene.case.answer, _numbers(shown, told))
            request = _read(scene, book, scene.question.text, shown)
            yield Example("read together", scene.case.id, request, reply, group)


def _unknown(scene: Scene, book: PromptBook, asked: str, shown: Sequence[Fact]) -> Example:
    return Example("read none", scene.case.id, _read(scene, book, asked, shown), _reply(None, ()))


def _reply(answer: str | None, numbers: Sequence[str]) -> str:
    """Return the reply of a reading; without an answer it is "answer: unknown"."""
    return "answer: unknown" if answer is None else f"answer: {answer}\nfacts: {', '.join(numbers)}"


def _read(scene: Scene, book: PromptBook, asked: str, shown: Sequence[Fact]) -> Request:
    """Return the request to read the facts; they are given best first and shown best last."""
    choices = reading_choices([fact.number for fact in shown])
    return reading_request(book["read"], replace(scene.question, text=asked), shown[::-1], choices)


def _numbers(shown: Sequence[Fact], evidence: Sequence[Fact]) -> list[str]:
    """Return the numbers of the evidence among the shown facts, at most as many as a reading cites."""
    numbers = {fact.unit: fact.number for fact in shown}
    return [numbers[fact.unit] for fact in evidence][:CITED]


def _with(found: Sequence[Fact], evidence: Sequence[Fact], chance: Random) -> list[Fact]:
    """Return the facts with the missing evidence inserted at random places."""
    facts = list(found)
    units = {fact.unit for fact in facts}
    for fact in evidence:
        if fact.unit not in units:
            units.add(fact.unit)
            facts.insert(chance.randint(0, len(facts)), fact)
    return facts


def _within(facts: Sequence[Fact], kept: set[str]) -> list[Fact]:
    """Return the facts that fit the token limit, best first; those in `kept` always stay.

    They are renumbered in that order, as in the engine, so numbers do not reveal the evidence.
    """
    left = TOKENS - sum(_cost(fact) for fact in facts if fact.unit in kept)
    shown = []
    for fact in facts:
        if fact.unit not in kept:
            left -= _cost(fact)
        if fact.unit in kept or left >= 0:
            shown.append(fact)
    return [replace(fact, number=f"F{place}") for place, fact in enumerate(shown, 1)]


def _cost(fact: Fact) -> int:
    return token_cost(fact.speaker, fact.text, fact.times)


def stepping(scene: Scene, lesson: Lesson, book: PromptBook, chance: Random) -> Iterator[Example]:
    """Yield a reading for each step of a plan with several steps, of the facts that the step's question retrieves."""
    found: dict[str, tuple[str, ...]] = {}
    for ground in lesson.subgoals if len(lesson.subgoals) > 1 else ():
        known = {name: values for name, values in found.items() if chance.random() >= LEFT_OUT}
        atom = Substitution(known).apply(ground.atom)
        wanted = next((each for each in atom.variables if each.name not in found), None)
        if wanted is not None:
            yield from _step(scene, ground, atom, wanted, book, chance)
        found |= {name: values for name, values in ground.bindings.items() if name not in lesson.starred}


def _step(
    scene: Scene, ground: Ground, atom: Atom, wanted: Variable, book: PromptBook, chance: Random
) -> Iterator[Example]:
    """Yield a reading of the facts retrieved for one step; some readings lack the evidence, so the reply is unknown."""
    text = step_question(atom, wanted.name)
    evidence = scene.gold(ground.facts)
    units = {fact.unit for fact in evidence}
    shown = scene.found(text, chance.randint(FEWEST, MOST))
    is_without = not evidence or chance.random() < WITHOUT
    shown = [fact for fact in shown if fact.unit not in units] if is_without else _with(shown, evidence, chance)
    shown = _within(shown, set() if is_without else units)
    if not shown:
        return
    request = _read(scene, book, text, shown)
    if is_without:
        yield Example("read step none", scene.case.id, request, _reply(None, ()))
        return
    values = ground.bindings.get(wanted.name, ())
    known = [constant.value for constant in atom.constants]
    if not values or any(len(value) > LONGEST_VALUE for value in values):
        return
    if any(support_of(value, evidence, known) is Support.INFERRED for value in values):
        return
    yield Example("read step", scene.case.id, request, _reply(", ".join(values), _numbers(shown, evidence)))


@dataclass(frozen=True, slots=True)
class Variety:
    """What differs between a copy of the examples and the corpus: names, years."""

    names: bool = True
    years: bool = False


def render(
    talks: Sequence[Talk], book: PromptBook, embedder: Embedder, seed: int, variety: Variety = Variety()
) -> Iterator[Example]:
    """Yield one copy of the conversations' examples; another seed gives another copy.

    Questions without a gold plan only give examples of reading.

    Raises:
        PromptError: a prompt has other inputs than the examples give.
        StoreError: the memory cannot be written.
    """
    chance = Random(seed)  # noqa: S311 - these are no secrets
    common = lower_words(talks)
    kinds: Mapping[str, Mapping[str, Kind]] = {talk.name: names_of(talk, common) for talk in talks}
    for members in by_domain(talks).values():
        years = chance.choice(YEARS) if variety.years else 0
        renamed = [rename(talk, kinds[talk.name] if variety.names else {}, chance, years) for talk in members]
        with remembered(renamed, embedder) as scenes:
            read: dict[str, list[Scene]] = {}
            for scene in scenes:
                lesson = lesson_of(scene.case)
                if lesson is not None and is_worked_out(scene, lesson):
                    continue
                yield from reading(scene, book, chance)
                if lesson is not None:
                    yield from planning(scene, lesson, book)
                    yield from stepping(scene, lesson, book, chance)
                read.setdefault(scene.case.conversation, []).append(scene)
            for asked in read.values():
                yield from reading_together(asked, book, chance, seed)


def is_worked_out(scene: Scene, lesson: Lesson) -> bool:
    """Return whether the answer is a number that no fact states and no check derives; such examples teach guessing."""
    return any(
        numbers(value) and facts and support_of(value, facts, known) is Support.INFERRED
        for ground in lesson.subgoals
        for facts, known in [(scene.gold(ground.facts), [constant.value for constant in ground.atom.constants])]
        for name, values in ground.bindings.items()
        if name in lesson.answer_variables
        for value in values
    )

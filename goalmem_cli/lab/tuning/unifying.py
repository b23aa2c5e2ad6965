"""Examples of unification: one subgoal against one fact, which proves it with these values, or does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from goalmem_cli.lab.tuning.batches import Example
from goalmem_cli.lab.tuning.memory import Scene
from goalmem_cli.lab.tuning.plan import LONGEST_VALUE, Ground, Lesson
from goalmem_cli.lab.tuning.renaming import Kind
from goalmem_cli.logic import Atom, Constant, Substitution
from goalmem_cli.logic.normal import content_stems
from goalmem_cli.logic.support import Support, support_of
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.asking import said_line
from goalmem_cli.reasoners.goal_mem import lines
from goalmem_cli.reasoners.goal_mem.line_steps import unify_request
from goalmem_cli.trace import Fact

NEGATIVES = 1.2
"""How many facts that do not prove their subgoal there are for each that does."""
NEAREST = 8
UNRESOLVED = 2
"""How many such facts there are for each subgoal that nothing in its conversation proves."""
MARKED, FOUND = 2, 4
"""How many of them, a subgoal at most, the corpus marks as near misses, and retrieval finds beside the evidence."""
ABOUT_OTHERS = 0.35
"""How often a fact that proves a subgoal is also held against it as claimed of somebody or something else."""


def unifying(scene: Scene, lesson: Lesson, book: PromptBook, chance: Random) -> Iterator[Example]:
    """Yield a question's subgoals and refinements held against facts that prove them and facts that do not."""
    positives: list[Example] = []
    negatives: list[Example] = []
    grounds = [*enumerate(lesson.subgoals), *((ground.of, ground) for ground in lesson.refinements)]
    grounds += [(None, ground) for ground in _whole(scene, lesson)]
    for number, ground in grounds:
        forms = _forms(lesson, number, ground)
        positives += _proved(scene, book, ground, forms, chance)
        negatives += _unproved(scene, lesson, book, ground, forms, chance)
        if chance.random() < ABOUT_OTHERS:
            negatives += _about_others(scene, book, ground, forms, chance)
    unresolved = sum(not ground.facts for ground in lesson.subgoals)
    wanted = round(NEGATIVES * len(positives)) + UNRESOLVED * unresolved
    yield from positives
    yield from chance.sample(negatives, min(wanted, len(negatives)))


def _whole(scene: Scene, lesson: Lesson) -> Iterator[Ground]:
    """Yield the goal as one more subgoal where a single turn proves it: a plan may well ask for no less."""
    is_told = lesson.goal is not None and all(name in lesson.bindings for name in lesson.answer_variables)
    if lesson.goal is None or not is_told or scene.case.is_unanswerable or len(scene.case.evidence) != 1:
        return
    if lesson.answer_variables and lesson.goal not in [ground.atom for ground in lesson.subgoals]:
        bindings = {name: lesson.bindings[name] for name in lesson.answer_variables}
        yield Ground(lesson.goal, scene.case.evidence, bindings)


def _forms(lesson: Lesson, number: int | None, ground: Ground) -> list[Atom]:
    """Return the subgoal as the engine might hold it against facts: as planned, and with what others bound put in."""
    known = lesson.known_beside(number) if number is not None else Substitution()
    applied = known.apply(ground.atom)
    return [ground.atom] if applied == ground.atom else [ground.atom, applied]


def _example(scene: Scene, book: PromptBook, kind: str, atom: Atom, fact: Fact, reply: str) -> Example:
    return Example(kind, scene.case.id, unify_request(book["unify"], atom, fact), reply)


def _proved(scene: Scene, book: PromptBook, ground: Ground, forms: Sequence[Atom], chance: Random) -> Iterator[Example]:
    facts = scene.gold(ground.facts)
    for fact in facts:
        held = list(forms) if chance.random() < 0.4 else [chance.choice(forms)]
        for atom in held:
            bindings = _told(atom, ground, fact, is_only=len(facts) == 1)
            if bindings is not None:
                called = lines.renamed(atom)[1]
                reply = lines.write_bindings({called[name]: values for name, values in bindings.items()})
                yield _example(scene, book, "unify", atom, fact, reply)


def _told(atom: Atom, ground: Ground, fact: Fact, *, is_only: bool) -> dict[str, tuple[str, ...]] | None:
    """Return what the fact binds; None where it is one of several and the values do not stand in it.

    Nor are values of use that only a bridge leads to: with a small model the engine takes none (`--strict`).
    """
    stems = content_stems(said_line(fact))
    known = [constant.value for constant in atom.constants]
    bindings: dict[str, tuple[str, ...]] = {}
    for variable in atom.variables:
        values = ground.bindings.get(variable.name, ())
        if variable.is_starred and not is_only:
            values = tuple(value for value in values if content_stems(value) <= stems)
        elif not is_only and not all(content_stems(value) <= stems for value in values):
            return None
        if not values or any(";" in value or len(value) > LONGEST_VALUE for value in values):
            return None
        if any(support_of(value, [fact], known) is Support.INFERRED for value in values):
            return None
        bindings[variable.name] = values
    return bindings if bindings or is_only else None


def _unproved(
    scene: Scene, lesson: Lesson, book: PromptBook, ground: Ground, forms: Sequence[Atom], chance: Random
) -> Iterator[Example]:
    """Yield near misses: distractors, the evidence of other subgoals, and what retrieval finds beside the evidence."""
    gold = {label for other in (*lesson.subgoals, *lesson.refinements) for label in other.facts}
    near = list(dict.fromkeys((*lesson.distractors, *(label for label in sorted(gold))))) if ground.facts else []
    near = near or [*scene.case.evidence, *lesson.distractors]
    marked = scene.gold([label for label in near if label not in ground.facts])
    held = chance.sample(marked, min(MARKED, len(marked)))
    known = gold | set(scene.case.evidence)
    found = [fact for fact in scene.found(chance.choice(forms).phrase, NEAREST) if scene.label(fact) not in known]
    held += chance.sample(found, min(FOUND, len(found)))
    for fact in {fact.unit: fact for fact in held}.values():
        atom = chance.choice(forms)
        if scene.label(fact) in lesson.distractors or not _may_prove(atom, ground, fact, scene):
            yield _example(scene, book, "unify none", atom, fact, lines.NONE)


def _may_prove(atom: Atom, ground: Ground, fact: Fact, scene: Scene) -> bool:
    """Say whether a fact of the same conversation holds all the values: it may then be evidence that nobody marked."""
    values = [value for variable in atom.variables for value in ground.bindings.get(variable.name, ())]
    stems = content_stems(said_line(fact))
    return bool(values) and bool(scene.label(fact)) and all(content_stems(value) <= stems for value in values)


def _about_others(
    scene: Scene, book: PromptBook, ground: Ground, forms: Sequence[Atom], chance: Random
) -> Iterator[Example]:
    """Yield what a fact proves, claimed of another person, place or thing."""
    for fact in scene.gold(ground.facts):
        changed = _changed(chance.choice(forms), scene.names, said_line(fact), chance)
        if changed is not None:
            yield _example(scene, book, "unify none", changed, fact, lines.NONE)


def _changed(atom: Atom, names: Mapping[str, Kind], told: str, chance: Random) -> Atom | None:
    """Return the atom with the name in one of its constants changed for one that the fact does not tell of."""
    places = [
        (place, part, name)
        for place, part in enumerate(atom.parts)
        if isinstance(part, Constant)
        for name in names
        if name in part.value.split() and name in told
    ]
    if not places:
        return None
    place, part, name = chance.choice(places)
    others = [other for other in names if names[other] == names[name] or _are_people(names[other], names[name])]
    others = [other for other in others if other not in told and other not in str(atom)]
    if not others:
        return None
    value = " ".join(chance.choice(others) if word == name else word for word in part.value.split())
    return Atom((*atom.parts[:place], Constant(value, part.type), *atom.parts[place + 1 :]))


def _are_people(left: Kind, right: Kind) -> bool:
    return left.is_person and right.is_person

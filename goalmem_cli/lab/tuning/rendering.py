"""Render the corpus as examples of each kind, with new names each time and, if wanted, with shifted years."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from goalmem_cli.lab.tuning.answering import reading, reading_together, stepping
from goalmem_cli.lab.tuning.batches import Example
from goalmem_cli.lab.tuning.corpus import Talk, by_domain
from goalmem_cli.lab.tuning.plan import Lesson, lesson_of, planning
from goalmem_cli.lab.tuning.renaming import YEARS, Kind, lower_words, names_of, rename
from goalmem_cli.lab.tuning.scenes import Scene, remembered
from goalmem_cli.logic.normal import numbers
from goalmem_cli.logic.support import Support, support_of
from goalmem_cli.ports import Embedder
from goalmem_cli.prompts import PromptBook


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

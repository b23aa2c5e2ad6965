"""Renders the corpus into examples of every step, under new names each time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from goalmem_cli.ports import Embedder
from goalmem_cli.prompts import PromptBook
from goalmem_cli.tuning.answering import answering
from goalmem_cli.tuning.corpus import Talk, by_domain
from goalmem_cli.tuning.example import Example
from goalmem_cli.tuning.memory import remembered
from goalmem_cli.tuning.plan import lesson_of
from goalmem_cli.tuning.planning import planning
from goalmem_cli.tuning.renaming import Kind, lower_words, names_of, rename
from goalmem_cli.tuning.unifying import unifying


def render(
    talks: Sequence[Talk], book: PromptBook, embedder: Embedder, seed: int, *, is_renamed: bool = True
) -> Iterator[Example]:
    """Yield one copy of the examples of the conversations; another seed draws other names and other near misses.

    Raises:
        PromptError: a prompt has other inputs than the examples give.
        StoreError: the memory cannot be written.
    """
    chance = Random(seed)  # noqa: S311 - these are no secrets
    common = lower_words(talks)
    kinds: Mapping[str, Mapping[str, Kind]] = {talk.name: names_of(talk, common) for talk in talks}
    for members in by_domain(talks).values():
        renamed = [rename(talk, kinds[talk.name] if is_renamed else {}, chance) for talk in members]
        with remembered(renamed, embedder) as scenes:
            for scene in scenes:
                lesson = lesson_of(scene.case)
                if lesson is not None:
                    for examples in (planning, unifying, answering):
                        yield from examples(scene, lesson, book, chance)

"""Render the corpus as examples of each kind, with new names each time and, if wanted, with shifted years."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from goalmem_cli.backbones.flat import RECIPES
from goalmem_cli.backbones.fusion import DEPTH
from goalmem_cli.backbones.relevance import POOL, rerank
from goalmem_cli.backbones.time_ranking import NamedTimes
from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.tuning.answering import of_another, reading, reading_together, stepping
from goalmem_cli.lab.tuning.batches import Example
from goalmem_cli.lab.tuning.corpus import Talk, by_domain
from goalmem_cli.lab.tuning.plan import Lesson, lesson_of, planning
from goalmem_cli.lab.tuning.renaming import YEARS, Kind, Renamed, lower_words, names_of, rename
from goalmem_cli.logic.normal import numbers
from goalmem_cli.logic.support import Support, support_of
from goalmem_cli.memory_ports import OpenMemory
from goalmem_cli.ports import Embedder
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.facts import NumberedFacts
from goalmem_cli.records import Hit, Query, Question, Turn
from goalmem_cli.store.store import Store
from goalmem_cli.store.units import retrievable, units_from_turns
from goalmem_cli.trace import Fact


@dataclass(frozen=True, slots=True)
class Scene:
    """A question with its memory: `hits` are its conversation's turns by label, `names` that conversation's names."""

    case: Case
    question: Question
    hits: Mapping[str, Hit]
    names: Mapping[str, Kind]
    numbered: NumberedFacts

    def gold(self, labels: Sequence[str]) -> list[Fact]:
        """Return the turns with these labels as facts; turns that were split into passages are left out."""
        return [self.numbered.fact(self.hits[label]) for label in labels if label in self.hits]

    def found(self, query: str, k: int) -> list[Fact]:
        """Return the facts that the memory retrieves for a query, best first."""
        return [self.numbered.fact(hit) for hit in self.numbered.hits(query, k)]


@contextmanager
def remembered(members: Sequence[Renamed], embedder: Embedder) -> Iterator[Iterator[Scene]]:
    """Yield the conversations' questions; one memory holds the conversations while the context is open.

    Raises:
        StoreError: the memory cannot be written.
    """
    with TemporaryDirectory() as folder:
        store = Store(Path(folder) / "store", embedder, announce=lambda _: None)
        store.add_all((member.talk.conversation for member in members), by_name=True)
        units = retrievable(units_from_turns(store.turns()))
        with store.reading() as reader:
            yield _scenes(members, _Retrieval(reader, reader.hits([unit.id for unit in units])))


class _Retrieval:
    """The backbone `reranked` over an open store: the same hits, but faster for many queries."""

    def __init__(self, reader: OpenMemory, hits: Mapping[str, Hit]) -> None:
        self.hits = hits
        self._reader = reader
        self._known: dict[Query, list[Hit]] = {}

    def update(self, turns: Sequence[Turn]) -> None:
        """Raise NotImplementedError: a store open for reading cannot be written."""
        raise NotImplementedError

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return at most k hits, best first; k is at most POOL."""
        if query not in self._known:
            recipe = RECIPES["hybrid"]
            ranked = self._reader.rank(query, list(recipe), DEPTH)
            lists = {ranking.value: [scored.unit for scored in units] for ranking, units in ranked.items()}
            best = NamedTimes(self._reader, query).fuse(
                lists, {ranking.value: weight for ranking, weight in recipe.items()}
            )[:POOL]
            found = [self.hits[each.unit] for each in best if each.unit in self.hits]
            self._known[query] = rerank(query.text, found)
        return self._known[query][:k]


def _scenes(members: Sequence[Renamed], backbone: _Retrieval) -> Iterator[Scene]:
    scope = tuple(member.talk.name for member in members)
    turns: dict[str, dict[str, Hit]] = {}
    for hit in backbone.hits.values():
        if hit.unit.kind == "turn":
            turns.setdefault(hit.unit.conversation, {})[hit.unit.labels[0]] = hit
    for member in members:
        hits = turns[member.talk.name]
        last = max((turn.said for turn in member.talk.conversation.turns if turn.said), default=datetime(1970, 1, 1))
        for case in member.talk.cases:
            question = Question(case.question, last, case.asker, scope)
            yield Scene(case, question, hits, member.names, NumberedFacts(backbone, question))


@dataclass(frozen=True, slots=True)
class Variety:
    """What differs between a copy of the examples and the corpus: names, years, the person in a question."""

    names: bool = True
    years: bool = False
    people: bool = False


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
                    if variety.people:
                        yield from of_another(scene, book, chance)
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

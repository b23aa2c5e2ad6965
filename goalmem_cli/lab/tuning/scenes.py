"""The facts for each training question: retrieved from a memory of its domain, as `reranked` does at run time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from goalmem_cli.backbones.flat import RECIPES
from goalmem_cli.backbones.fusion import DEPTH, up_to
from goalmem_cli.backbones.relevance import POOL, rerank
from goalmem_cli.backbones.time_ranking import NamedTimes
from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.tuning.renaming import Renamed
from goalmem_cli.memory_ports import OpenMemory
from goalmem_cli.ports import Embedder
from goalmem_cli.reasoners.facts import NumberedFacts
from goalmem_cli.records import Hit, Query, Question, Turn
from goalmem_cli.store.store import Store
from goalmem_cli.store.units import retrievable, units_from_turns
from goalmem_cli.trace import Fact


@dataclass(frozen=True, slots=True)
class Scene:
    """A question with its memory; `hits` are its conversation's turns by label."""

    case: Case
    question: Question
    hits: Mapping[str, Hit]
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
        """Return at most k hits, best first, of at most POOL messages."""
        if query not in self._known:
            recipe = RECIPES["hybrid"]
            ranked = self._reader.rank(query, list(recipe), DEPTH)
            lists = {ranking.value: [scored.unit for scored in units] for ranking, units in ranked.items()}
            best = NamedTimes(self._reader, query).fuse(
                lists, {ranking.value: weight for ranking, weight in recipe.items()}
            )
            found = (self.hits[each.unit] for each in best if each.unit in self.hits)
            self._known[query] = rerank(query.text, up_to(found, POOL))
        return self._known[query][:k]


def _scenes(members: Sequence[Renamed], backbone: _Retrieval) -> Iterator[Scene]:
    """Yield each question of the conversations with the facts that the backbone retrieves for it."""
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
            yield Scene(case, question, hits, NumberedFacts(backbone, question))

"""What the tests of structured backbones that retrieve their own units have in common."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

import pytest

from goalmem_cli.backbones.structured.decisions import DECISION, Deed, ending_of, endings_of
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.units import passing
from goalmem_cli.lab.bench.gathering import GatheringStore
from goalmem_cli.memory_records import Selection
from goalmem_cli.ports import Completion, Indexed, LanguageModel, Outlook, PartDone, Request, StructuredBackbone
from goalmem_cli.prompts import PromptBook
from goalmem_cli.records import Conversation, Derived, Edge, Query, Turn, Unit
from goalmem_cli.store.store import Store
from goalmem_cli.testing import HashEmbedder, ScriptedModel
from tests.store.samples import chat, open_store

B = TypeVar("B", bound=StructuredBackbone)
Says = Callable[[Request], str | Completion]


def books(steps: Sequence[str]) -> tuple[PromptBook, PromptBook, pytest.MarkDecorator]:
    """Return a backbone's prompts, full and compact, and what runs a test with each of them as its `book`."""
    full, compact = (PromptBook.load(None, profile, steps) for profile in ("full", "compact"))
    return full, compact, pytest.mark.parametrize("book", [full, compact], ids=["full", "compact"])


def filled(path: Path, turns: Sequence[Turn], announce: Callable[[str], None] = lambda _: None) -> Store:
    """Return a store with the turns of one conversation, of which nothing was derived yet."""
    name = turns[0].conversation
    store = open_store(path, announce, dimension=64)
    store.add(Conversation(name, "openai", tuple(turns), name))
    return store


def indexed_by(backbone: StructuredBackbone, store: Store) -> list[PartDone]:
    """Index the store, which has to be consistent then, and return what was reported."""
    reported: list[PartDone] = []
    backbone.index(reported.append)
    assert store.verify() == []
    return reported


@dataclass(frozen=True)
class Sample(Generic[B]):
    """A backbone as its tests use it: what is talked about, what a model says to it, its prompts and its settings."""

    name: str
    make: Callable[..., B]
    says: Says
    book: PromptBook
    talk: Sequence[str]
    per_session: int
    told: object = None

    def said(
        self, texts: Sequence[str] | None = None, name: str = "chat", per_session: int | None = None
    ) -> list[Turn]:
        """Return a conversation of two who take turns."""
        texts = self.talk if texts is None else texts
        return list(chat(texts, with_ids=True, per_session=per_session or self.per_session, name=name).turns)

    def backbone(
        self, store: Store, model: LanguageModel, told: Any = None, book: PromptBook | None = None, at_once: int = 4
    ) -> B:
        """Return the backbone over the store."""
        return self.make(store, lambda: Kit(model, book or self.book, at_once, 4096), told or self.told)

    def indexed(
        self, store: Store, told: Any = None, model: Says | None = None, book: PromptBook | None = None
    ) -> list[PartDone]:
        """Index the store and return what was reported."""
        return indexed_by(self.backbone(store, ScriptedModel(model or self.says), told, book), store)

    def ends_as_new(
        self, store: Store, path: Path, told: Any = None, book: PromptBook | None = None,
        forgotten: Selection | None = None,
    ) -> None:  # fmt: skip
        """Check that a store has what a new one with the same talk has, of which the same was forgotten."""
        fresh = filled(path / "fresh", self.said())
        if forgotten is not None:
            fresh.forget(forgotten)
        self.indexed(fresh, told, book=book)
        assert contents_of(self.name, store) == contents_of(self.name, fresh)

    def estimated(self, store: Store, told: Any = None, book: PromptBook | None = None) -> tuple[Outlook, Indexed]:
        """Return the outlook, which asks nothing, and what indexing then did, after which nothing is left to do."""
        model = ScriptedModel(self.says)
        outlook = self.backbone(store, model, told, book).outlook()
        assert model.calls == 0
        done = self.backbone(store, model, told, book).index(lambda _: None)
        assert self.make(store, no_kit, told or self.told).outlook().parts == 0
        return outlook, done

    def asked_together(self, path: Path, at_once: int) -> tuple[Store, Store]:
        """Check that two conversations take as many calls as one, and return the stores of one and of both."""
        alone, both = filled(path / "alone", self.said()), filled(path / "both", self.said())
        both.add(Conversation("other", "openai", tuple(self.said(name="other")), "other"))
        models = [ScriptedModel(self.says), ScriptedModel(self.says)]
        for store, model in zip((alone, both), models, strict=True):
            self.backbone(store, model, at_once=at_once).index(lambda _: None)
        assert models[0].calls == models[1].calls
        assert len(models[1].seen) == 2 * len(models[0].seen)
        return alone, both

    def goes_with_its_turns(self, path: Path) -> Store:
        """Check that what forgotten turns told goes and is made again of what is left; return the store."""
        store, early = filled(path, self.said()), Selection(before=self.said()[3].said)
        self.indexed(store)
        gone = {turn.id for turn in self.said()[:3]}
        store.forget(early)
        assert not any(gone & set(unit.turns) for unit in store.units_of(self.name))
        self.indexed(store)
        self.ends_as_new(store, path, forgotten=early)
        return store


def no_kit() -> Kit:
    """Stand for a model that nobody may load."""
    raise AssertionError("the model was loaded")


def contents_of(backbone: str, store: Store) -> tuple[list[Unit], list[Edge], list[Derived]]:
    """Return all that a backbone has in the store, in an order that does not depend on when it was written."""
    edges = sorted(store.edges_of(backbone), key=lambda edge: (edge.kind, edge.source, edge.target))
    lines = sorted(store.derived(backbone), key=lambda line: (line.conversation, line.name))
    return store.units_of(backbone), edges, lines


def replay(units: Sequence[Unit], at: datetime | None = None) -> tuple[dict[str, Unit], dict[str, Deed]]:
    """Return the units that were current at a time (None: now), and the deeds that had ended the others, by unit id."""
    endings, is_said = endings_of(units), passing(Query("", until=at))
    said = [unit for unit in units if unit.kind != DECISION and is_said(unit)]
    ended = {unit.id: deed for unit in said if (deed := ending_of(endings, unit.id, at)) is not None}
    return {unit.id: unit for unit in said if unit.id not in ended}, ended


Stores = Callable[[], Store]
Index = Callable[[Store], object]


def stores_in(factory: pytest.TempPathFactory) -> Stores:
    """Return what opens a store of its own for each example of a property.

    It writes what a run derives at once, which takes a fifth of the time; other tests write part by part.
    """
    return lambda: GatheringStore(factory.mktemp("store"), HashEmbedder(64), lambda _: None)


def forget_as_if_never_said(
    backbone: str, opened: Stores, turns: Sequence[Turn], places: Iterable[int], index: Index
) -> None:
    """Check that forgetting turns takes all that rests on them, and that indexing again ends as if there were none."""
    forgotten = [replace(turn, speaker="Cem") if turn.ordinal in set(places) else turn for turn in turns]
    store, fresh = opened(), opened()
    for each in (store, fresh):
        each.add(Conversation("chat", "openai", tuple(forgotten), "chat"))
    index(store)
    for each in (store, fresh):
        each.forget(Selection(speakers=("Cem",)))
    gone = {turn.id for turn in forgotten if turn.speaker == "Cem"}
    assert not any(gone & set(unit.turns) for unit in store.units_of(backbone))
    index(store)
    index(fresh)
    assert contents_of(backbone, store) == contents_of(backbone, fresh)


def grow_as_at_once(backbone: str, opened: Stores, turns: Sequence[Turn], sizes: Iterable[int], index: Index) -> Store:
    """Check that a conversation indexed at several sizes ends as one that was indexed at once; return its store."""
    store, fresh = opened(), opened()
    for count in [*sorted(sizes), len(turns)]:
        store.add(Conversation("chat", "openai", tuple(turns[:count]), "chat"))
        index(store)
    fresh.add(Conversation("chat", "openai", tuple(turns), "chat"))
    index(fresh)
    assert contents_of(backbone, store) == contents_of(backbone, fresh)
    return store


def stop_and_go_on(
    backbone: str,
    stores: tuple[Store, Store],
    stop: int,
    begin: StructuredBackbone,
    index: Callable[[Store], list[PartDone]],
) -> None:
    """Check that indexing that is interrupted after so many parts goes on with the rest, and ends as one that was not.

    `begin` indexes the first of the stores, which hold the same.
    """
    store, fresh = stores
    reported: list[str] = []

    def stopping(part: PartDone) -> None:
        reported.append(part.name)
        if len(reported) == stop:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        begin.index(stopping)
    rest = index(store)
    assert not set(reported) & {part.name for part in rest}
    index(fresh)
    assert contents_of(backbone, store) == contents_of(backbone, fresh)

"""What a fork copies is stored once, whichever of the conversations is read first, in one command or several."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.memory_ports import KeptMemory
from goalmem_cli.memory_records import Derivation, Ranking
from goalmem_cli.records import COPIED_FROM, Conversation, Part, Query, Turn
from goalmem_cli.store.store import Store
from goalmem_cli.transcripts.formats import conversations_in
from goalmem_cli.transcripts.reading.source import Source
from tests.conftest import examples
from tests.store.samples import START, open_store

TEXTS = ("Go on.", "Rename the table.", "Done.", "Add an index.", "It is there.")


@dataclass(frozen=True)
class Logs:
    """Logs of sessions: each has its whole text, of which the first `copied` turns are copied from its `sources`."""

    logs: Sequence[Conversation]
    sources: Sequence[Sequence[str]]
    copied: Sequence[int]

    def kept(self, places: Sequence[int]) -> dict[str, list[Turn]]:
        """Return what of these logs is to be stored, by session: all that none of its sources that are there has."""
        found: dict[str, list[Turn]] = {}
        for place in sorted(places):
            log = self.logs[place]
            there = Counter(told(turn) for name in set(self.sources[place]) for turn in found.get(name, ()))
            kept = []
            for number, turn in enumerate(log.turns):
                if number < self.copied[place] and there[told(turn)] > 0:
                    there[told(turn)] -= 1
                else:
                    kept.append(turn)
            if kept:
                found[log.name] = kept
        return found


def told(turn: Turn) -> tuple[str, str]:
    return turn.speaker, turn.text


def log(name: str, copied: Sequence[str], own: Sequence[str], day: int, sources: Sequence[str]) -> Conversation:
    """Return a session's log: what it copies has the date of the copy, as Codex writes it."""
    begun = START + timedelta(days=day)
    turns = []
    for place, text in enumerate((*copied, *own)):
        is_copied = place < len(copied)
        said = begun + (timedelta(milliseconds=place) if is_copied else timedelta(minutes=place))
        attributes = {COPIED_FROM: list(sources)} if is_copied else {}
        speaker = ("user", "assistant")[place % 2]
        turns.append(Turn(name, 0, place, speaker, text, said, role=speaker, attributes=attributes))
    return Conversation(name, "agent-log", tuple(turns), name)


@st.composite
def families(draw: st.DrawFn) -> Logs:
    """Make up a session, up to two forks of it, and a fork of the first fork; all say the same few things."""
    texts = st.lists(st.sampled_from(TEXTS), min_size=1, max_size=4)
    logs, sources, copied = [log("p", (), draw(texts), 0, ())], [tuple[str, ...]()], [0]
    for name, parent in draw(st.sampled_from([[("f", 0)], [("f", 0), ("g", 1)], [("f", 0), ("e", 0), ("g", 1)]])):
        said = [turn.text for turn in logs[parent].turns]
        first = said[: draw(st.integers(1, len(said)))]
        told_ = [logs[parent].name, *sources[parent]]
        own = draw(st.lists(st.sampled_from(TEXTS), min_size=0, max_size=3))
        logs.append(log(name, first, own, len(logs), told_))
        sources.append(tuple(told_))
        copied.append(len(first))
    return Logs(logs, sources, copied)


def stored(memory: KeptMemory) -> dict[str, list[Turn]]:
    found: dict[str, list[Turn]] = {}
    for turn in memory.turns() if memory.exists else ():
        found.setdefault(turn.conversation, []).append(turn)
    return found


@given(families(), st.data())
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_order_of_forks_ends_alike(family: Logs, data: st.DataObject) -> None:
    """In any split over commands, read again, and grown meanwhile; a preview says the same, and no index is behind."""
    order = data.draw(st.permutations(range(len(family.logs))))
    with TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "store")
        read: list[int] = []
        while len(read) < len(order):
            several = order[len(read) : len(read) + data.draw(st.integers(1, len(order)))]
            batch = [family.logs[place] for place in several]
            if data.draw(st.booleans()):  # as they were a while ago
                store.add_all(
                    replace(each, turns=each.turns[: data.draw(st.integers(1, len(each.turns)))]) for each in batch
                )
            assert store.preview_all(batch) == [replace(added, units=added.units) for added in store.add_all(batch)]
            read += several
            assert stored(store) == family.kept(read)
        assert {each.name for each in store.conversations()} == family.kept(read).keys()
        assert [added.new_turns for added in store.add_all(family.logs)] == [0] * len(order)
        assert stored(store) == family.kept(read)
        assert store.verify() == []


THREE = Logs(
    [
        log("p", (), ["Rename the table.", "Done."], 0, ()),
        log("f", ["Rename the table.", "Done."], ["Add an index.", "It is there."], 1, ["p"]),
        log("g", ["Rename the table.", "Done.", "Add an index.", "It is there."], ["Thanks."], 2, ["f", "p"]),
    ],
    [(), ("p",), ("f", "p")],
    [0, 2, 4],
)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_three_generations(tmp_path: Path, order: Sequence[int]) -> None:
    """Each turn is there once, under its own date, where it was said; until then whoever copied it has it."""
    store = open_store(tmp_path / "store")
    texts = {turn.text for turn in THREE.logs[2].turns}
    for count, place in enumerate(order, 1):
        added = store.add(THREE.logs[place])
        has_copies = any(place + 1 <= other for other in order[: count - 1])
        assert bool(added.copied) == has_copies
        if 2 in order[:count]:  # the youngest has all that was said, and nothing of it is ever lost
            assert {turn.text for turn in store.turns()} == texts
    assert stored(store) == {
        "p": list(THREE.logs[0].turns), "f": list(THREE.logs[1].turns[2:]), "g": list(THREE.logs[2].turns[4:])
    }  # fmt: skip
    with store.reading() as memory:
        for text in texts:
            found = memory.rank(Query(text), (Ranking.BM25, Ranking.DENSE), 9)
            for scored in found.values():
                hits = memory.hits([one.unit for one in scored]).values()
                assert [hit.unit.text for hit in hits].count(text) == 1


def test_what_rests_on_a_copy_goes_with_it(tmp_path: Path) -> None:
    """A gist of the fork is to be derived again, one of its own turns alone stays; and so does an answer."""
    store = open_store(tmp_path / "store")
    fork = THREE.logs[1]
    store.add(fork)
    derive_from_both(store, fork)
    answers = [store.add_answer("It is there.", fork.turns[place], [fork.turns[place].id], {}) for place in (0, 2)]
    store.add(THREE.logs[0])
    assert [unit.text for unit in store.units_of("notes", ["note"])] == ["own"]
    assert [line.name for line in store.derived("notes")] == ["own"]
    assert [store.are_stored([answer.id]) for answer in answers] == [False, True]
    assert store.verify() == []


@pytest.mark.parametrize("is_before", [True, False])
def test_what_an_export_derived_from_a_copy_does_not_come_back(tmp_path: Path, is_before: bool) -> None:
    """Whether the source is there before the export is read, or comes after it."""
    fork = THREE.logs[1]
    exporting, store = open_store(tmp_path / "one"), open_store(tmp_path / "other")
    exporting.add(fork)
    derive_from_both(exporting, fork)
    exporting.export_file(tmp_path / "export.jsonl")
    read = [*conversations_in(Source.from_path(tmp_path / "export.jsonl"))]
    for each in ([THREE.logs[0]], read) if is_before else (read, [THREE.logs[0]]):
        store.add_all(each)
    assert [unit.text for unit in store.units_of("notes", ["note"])] == ["own"]
    assert stored(store) == THREE.kept([0, 1])
    assert store.verify() == []


def derive_from_both(store: Store, fork: Conversation) -> None:
    """Derive a note from a copy and a turn of the fork's own, and one from its own alone."""
    for part in (Part("f", "both", fork.turns[1:3]), Part("f", "own", fork.turns[2:])):
        store.derive("notes", [Derivation(part, (derived_unit("notes", "note", part.name, part.turns),))])


def test_a_fork_without_anything_of_its_own_is_no_conversation(tmp_path: Path) -> None:
    """Whichever is read first; reading it again, or once it goes on, adds what is its own."""
    parent, fork = THREE.logs[0], THREE.logs[1]
    bare = replace(fork, turns=fork.turns[:2])
    for number, order in enumerate(permutations([parent, bare])):
        store = open_store(tmp_path / f"{number}")
        store.add_all([*order, bare])
        assert [each.name for each in store.conversations()] == ["p"]
        assert store.add(fork).new_turns == 2
        assert stored(store) == THREE.kept([0, 1])
        assert store.verify() == []


def test_a_fork_that_leaves_and_comes_again_keeps_its_name(tmp_path: Path) -> None:
    """Its only turn was a copy, and the same command reads it with one of its own: a preview names it alike."""
    parent = log("p", (), ["Go on.", "Go on."], 0, ())
    fork = log("f", ["Go on.", "Go on."], ["Done."], 1, ["p"])
    store = open_store(tmp_path / "store")
    store.add_all([replace(parent, turns=parent.turns[:1]), replace(fork, turns=fork.turns[:2])])
    shown = store.preview_all([parent, fork])
    assert shown == store.add_all([parent, fork])
    assert [(each.conversation, each.new_turns) for each in shown] == [("p", 1), ("f", 1)]

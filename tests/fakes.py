"""Fakes for the seams of `goalmem_cli/memory_ports.py`, and the smallest structured backbone; the others are the public ones of
`goalmem_cli/testing.py`. `tests/test_contracts.py` holds each to what its real counterpart does.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from goalmem_cli.backbones.structured.beside import hits_beside_turns, ranked_units
from goalmem_cli.backbones.structured.indexing import about_tokens, batches, derive_all, plan, sessions_of, summary
from goalmem_cli.backbones.structured.units import derived_unit, node
from goalmem_cli.errors import StoreError
from goalmem_cli.memory_ports import StructuredMemory, unreported
from goalmem_cli.memory_records import (
    FLAT,
    Added,
    ConversationSummary,
    Derivation,
    Forgotten,
    Ranking,
    Scored,
    Selection,
    Speaker,
    Stats,
)
from goalmem_cli.ports import Indexed, Outlook, PartDone
from goalmem_cli.records import Conversation, Edge, Hit, Part, Query, Turn, Unit, content_hash
from goalmem_cli.testing import ListBackbone, passes


class ListMemory:
    """A memory in a list: conversations are known by their own id, else by their name, and turns by their ids.

    Every ranking counts the words that a turn shares with the query.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.announce: Callable[[str], None] = lambda _: None
        self.generation = 0
        self._turns: dict[str, Turn] = {}
        self._answers: list[Unit] = []

    @property
    def exists(self) -> bool:
        """True once something was written."""
        return self.generation > 0

    @property
    def state(self) -> int:
        """The number of changes."""
        return self.generation

    def add_all(
        self,
        conversations: Iterable[Conversation],
        *,
        by_name: bool = False,
        report: Callable[[Added], None] = unreported,
    ) -> list[Added]:
        """Append the turns that are not there yet."""
        done = []
        for conversation in conversations:
            done += self.preview_all([conversation], by_name=by_name)
            fresh = self._fresh(conversation, done[-1].conversation)
            self._turns |= {turn.id: turn for turn in fresh}
            self.generation += bool(fresh)
            report(done[-1])
        return done

    def preview_all(
        self,
        conversations: Iterable[Conversation],
        *,
        by_name: bool = False,
        report: Callable[[Added], None] = unreported,
    ) -> list[Added]:
        """Count the turns that `add_all` would append."""
        done = []
        for conversation in conversations:
            name = conversation.name if by_name else conversation.own_id or conversation.name
            fresh = len(self._fresh(conversation, name))
            done.append(Added(name, len(conversation.turns), fresh, units=fresh))
            report(done[-1])
        return done

    def add_turns(self, turns: Iterable[Turn]) -> list[Added]:
        """Append the turns that are not there yet."""
        grouped: dict[str, list[Turn]] = {}
        for turn in turns:
            grouped.setdefault(turn.conversation, []).append(turn)
        return self.add_all((Conversation(name, "turns", tuple(said)) for name, said in grouped.items()), by_name=True)

    def add_answer(self, text: str, question: Turn, cited: Sequence[str], attributes: Mapping[str, object]) -> Unit:
        """Keep the answer where everything that it rests on is there."""
        sources = (question.id, *cited)
        if not self.are_stored(sources):
            raise StoreError("what the answer rests on is not stored any more", "ask again")
        answer = Unit(
            content_hash("answer", *sources), "answer", text, question.conversation, "goalmem", question.said, sources, (),
            backbone="answers", attributes=attributes,
        )  # fmt: skip
        self._answers.append(answer)
        return answer

    @contextmanager
    def reading(self) -> Iterator[ListMemory]:
        """Open the memory, which is always open once it is there."""
        self._require()
        yield self

    def rank(
        self, query: Query, rankings: Sequence[Ranking], depth: int, *, backbone: str = FLAT,
        kinds: tuple[str, ...] | None = None,
    ) -> dict[Ranking, list[Scored]]:  # fmt: skip
        """Rank by shared words, whatever the ranking is called."""
        is_theirs = backbone == FLAT and (kinds is None or "turn" in kinds)
        hits = ListBackbone(self.turns()).retrieve(query, depth) if is_theirs else []
        return {ranking: [Scored(hit.unit.id, hit.score) for hit in hits] for ranking in rankings}

    def hits(self, units: Sequence[str]) -> dict[str, Hit]:
        """Look the turns up, with their neighbours."""
        known = {hit.unit.id: hit for hit in ListBackbone(self.turns(), least=0).retrieve(Query(""), len(self._turns))}
        return {unit: replace(known[unit], score=0.0, ranks={}) for unit in units if unit in known}

    def units(self, units: Sequence[str]) -> dict[str, Unit]:
        """Look the units of the turns up."""
        return {unit: hit.unit for unit, hit in self.hits(units).items()}

    def count_without_time(self, query: Query) -> int:
        """Count the turns without a time that the query's other filters let through."""
        if query.since is None and query.until is None:
            return 0
        timeless = replace(query, since=None, until=None)
        return sum(turn.said is None and passes(turn, timeless) for turn in self.turns())

    def turns(self, conversations: Sequence[str] | None = None) -> list[Turn]:
        """Return the turns, by conversation and place."""
        self._require()
        wanted = [turn for turn in self._turns.values() if conversations is None or turn.conversation in conversations]
        return sorted(wanted, key=lambda turn: (turn.conversation, turn.ordinal))

    def last_turn(self, conversation: str) -> Turn | None:
        """Return the last turn of a conversation, if there is one."""
        return next(iter(self.turns([conversation])[::-1]), None) if self.exists else None

    def are_stored(self, units: Sequence[str]) -> bool:
        """Return whether all of these are turns of the list."""
        self._require()
        return set(units) <= set(self._turns)

    def conversations(self) -> list[ConversationSummary]:
        """Sum up each conversation."""
        found = []
        for name in sorted({turn.conversation for turn in self.turns()}):
            turns = self.turns([name])
            said = sorted(turn.local for turn in turns if turn.local is not None)
            speakers = tuple(
                Speaker(speaker, None, count)
                for speaker, count in Counter(turn.speaker for turn in turns).most_common()
            )
            sessions = len({turn.session for turn in turns})
            bounds = (said[0], said[-1]) if said else (None, None)
            found.append(ConversationSummary(name, "turns", len(turns), sessions, speakers, *bounds))
        return found

    def stats(self) -> Stats:
        """Count what there is."""
        turns = self.turns()
        conversations = {turn.conversation for turn in turns}
        sessions = {(turn.conversation, turn.session) for turn in turns}
        units = {"turn": len(turns)} | ({"answer": len(self._answers)} if self._answers else {})
        return Stats(len(conversations), len(sessions), len(turns), units, generation=self.generation)

    def forgettable(self, selection: Selection) -> Forgotten:
        """Count what `forget` would take away."""
        gone = [turn for turn in self.turns() if _is_selected(turn, selection)]
        ids = {turn.id for turn in gone}
        left = {turn.conversation for turn in self.turns() if turn.id not in ids}
        names = tuple(sorted({turn.conversation for turn in gone} - left))
        answers = sum(bool(ids & set(answer.turns)) for answer in self._answers)
        units = {kind: count for kind, count in (("answer", answers), ("turn", len(gone))) if count}
        timeless = replace(selection, before=None)
        kept = sum(turn.said is None and _is_selected(turn, timeless) for turn in self.turns() if selection.before)
        return Forgotten(names, len(gone), units, without_time=kept, ids=frozenset(ids))

    def forget(self, selection: Selection, shown: frozenset[str] | None = None) -> Forgotten:
        """Take the turns away, and the answers that rest on them."""
        counts = self.forgettable(selection)
        if shown is not None and counts.ids != shown:
            raise StoreError("other turns would be deleted now than were shown")
        self._turns = {turn.id: turn for turn in self.turns() if not _is_selected(turn, selection)}
        self._answers = [answer for answer in self._answers if set(answer.turns) <= set(self._turns)]
        self.generation += 1
        return counts

    def export(self, unread: list[StoreError] | None = None) -> Iterator[dict[str, object]]:
        """Yield a document a turn."""
        for turn in self.turns():
            yield {"conversation": turn.conversation, "speaker": turn.speaker, "text": turn.text}

    def export_file(self, file: Path, unread: list[StoreError] | None = None) -> int:
        """Write a line a document."""
        lines = [json.dumps(document) for document in self.export()]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return len(lines)

    def export_tables(self, folder: Path) -> list[Path]:
        """Write no table, as a list has none."""
        self._require()
        folder.mkdir(parents=True, exist_ok=True)
        return []

    def _fresh(self, conversation: Conversation, name: str) -> list[Turn]:
        turns = [replace(turn, conversation=name) for turn in conversation.turns]
        return [turn for turn in turns if turn.id not in self._turns]

    def _require(self) -> None:
        if not self.exists:
            raise StoreError("nothing was stored yet", "store something")


class SessionNotes:
    """The smallest structured backbone: a note of each session's long words, and a node for each word in a note.

    No model is asked. Sessions that `fails_on` says yes to fail, as they do where a model's reply is unusable.
    """

    NAME = "notes"

    def __init__(
        self, store: StructuredMemory, fails_on: Callable[[Part], bool] = lambda _: False, at_once: int = 2
    ) -> None:
        self._store = store
        self._fails_on = fails_on
        self._at_once = at_once

    def update(self, turns: Sequence[Turn]) -> None:
        """Remember the turns; `index` takes notes of them."""
        self._store.add_turns(turns)

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return notes and turns, fused."""
        with self._store.reading() as reader:
            notes = ranked_units(reader, query, self.NAME, ("note",))
            return hits_beside_turns(reader, query, k, notes, dict.fromkeys(notes, 1.0))

    def outlook(self) -> Outlook:
        """Return which sessions are pending; a model would be asked once for each."""
        work = plan(sessions_of(self._store.turns()), self._store.derived(self.NAME))
        texts = [turn.text for part in work.pending for turn in part.turns]
        return work.outlook(calls=len(work.pending), tokens=about_tokens(texts))

    def index(self, report: Callable[[PartDone], None]) -> Indexed:
        """Take notes of the pending sessions, then link all notes by their words."""
        work = plan(sessions_of(self._store.turns()), self._store.derived(self.NAME))
        groups = batches(work.pending, self._at_once, lambda _: 1)
        done = derive_all(self._store, self.NAME, work, groups, self._derive, report)
        self._link()
        return summary(self._store, self.NAME, done)

    def _derive(self, parts: Sequence[Part]) -> list[Derivation]:
        return [
            Derivation(part, problem="no word came to mind") if self._fails_on(part) else self._noted(part)
            for part in parts
        ]

    def _noted(self, part: Part) -> Derivation:
        words = sorted({word for turn in part.turns for word in re.findall(r"\w{5,}", turn.text.lower())})
        note = derived_unit(self.NAME, "note", " ".join(words) or "nothing", part.turns)
        return Derivation(part, (note,), (Edge(note.id, part.turns[0].id, "begins"),))

    def _link(self) -> None:
        behind: dict[str, list[Unit]] = {}
        for note in self._store.units_of(self.NAME, ["note"]):
            for word in note.text.split():
                behind.setdefault(word, []).append(note)
        nodes = {word: node(self.NAME, "word", word, notes) for word, notes in behind.items()}
        edges = [Edge(nodes[word].id, note.id, "names") for word, notes in behind.items() for note in notes]
        self._store.shared(self.NAME, "word", list(nodes.values()), edges, links=["names"])


def _is_selected(turn: Turn, selection: Selection) -> bool:
    if selection.before is not None and (turn.said is None or turn.said >= selection.before):
        return False
    return passes(turn, Query("", selection.conversations, selection.speakers))

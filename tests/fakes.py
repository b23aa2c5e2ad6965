"""Fakes for the seams of `goalmem_cli/ports.py`; `tests/test_contracts.py` holds each to what its real counterpart does."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from goalmem_cli.backbones.structured.beside import hits_beside_turns, ranked_units
from goalmem_cli.backbones.structured.indexing import about_tokens, batches, derive_all, plan, sessions_of, summary
from goalmem_cli.backbones.structured.units import derived_unit, node
from goalmem_cli.ports import Completion, Indexed, Outlook, PartDone, Request, Vectors
from goalmem_cli.records import Edge, Hit, Part, Query, Turn, Unit, content_hash
from goalmem_cli.store.memory import Store
from goalmem_cli.store.values import Derivation

Reply = str | Callable[[Request], str]


class ScriptedModel:
    """Replies from a queue, or by a function of the request; keeps every request it saw in `seen`."""

    def __init__(self, replies: Iterable[Reply] | Callable[[Request], str | Completion]) -> None:
        self._function = replies if callable(replies) else None
        self._queue: deque[Reply] = deque() if callable(replies) else deque(replies)
        self.seen: list[Request] = []
        self.calls = 0

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the next replies; an exhausted queue is a failing test."""
        self.calls += 1
        said = [self._reply(request) for request in requests]
        return [
            reply if isinstance(reply, Completion) else Completion(reply, prompt_tokens=1, completion_tokens=1)
            for reply in said
        ]

    def _reply(self, request: Request) -> str | Completion:
        self.seen.append(request)
        if self._function is not None:
            return self._function(request)
        if not self._queue:
            raise AssertionError(f"no reply left for step {request.step!r}")
        reply = self._queue.popleft()
        return reply(request) if callable(reply) else reply


class HashEmbedder:
    """Bag of hashed words: equal words give equal directions, nothing is learnt.

    A text without words gets an axis in the negative, which no text with words is near to.
    """

    def __init__(self, dimension: int = 64, name: str = "hash") -> None:
        self.name = name
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit-length row per text."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                row[int(content_hash(word)[:8], 16) % self.dimension] += 1.0
            if not row.any():
                row[int(content_hash(text)[:8], 16) % self.dimension] = -1.0
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


class ListBackbone:
    """Turns in a list, ranked by the number of words they share with the query (at least `least`), then by order."""

    def __init__(self, turns: Sequence[Turn] = (), least: int = 1) -> None:
        self._turns: list[Turn] = []
        self._least = least
        self.queries: list[Query] = []
        self.update(turns)

    def update(self, turns: Sequence[Turn]) -> None:
        """Append the turns that are not there yet."""
        known = {turn.id for turn in self._turns}
        self._turns.extend(turn for turn in turns if turn.id not in known)

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return the k turns that share most words with the query, of those that its filters let through."""
        self.queries.append(query)
        words = set(re.findall(r"\w+", query.text.lower()))
        scored = [
            (len(words & set(re.findall(r"\w+", f"{turn.speaker} {turn.text}".lower()))), -position, turn)
            for position, turn in enumerate(self._turns)
            if _passes(turn, query)
        ]
        best = sorted((row for row in scored if row[0] >= self._least), key=lambda row: row[:2], reverse=True)[:k]
        return [self._hit(turn, float(score)) for score, _, turn in best]

    def _hit(self, turn: Turn, score: float) -> Hit:
        unit = Unit(
            turn.id, "turn", turn.text, turn.conversation, turn.speaker, turn.said, (turn.id,), (turn.label,),
            session=turn.session, ordinal=turn.ordinal,
        )  # fmt: skip
        near = [
            other for other in self._turns if (other.conversation, other.session) == (turn.conversation, turn.session)
        ]
        before = tuple((o.speaker, o.text) for o in near if turn.ordinal - 2 <= o.ordinal < turn.ordinal)
        after = tuple((o.speaker, o.text) for o in near if turn.ordinal < o.ordinal <= turn.ordinal + 2)
        return Hit(unit, score, {"words": 1}, before, after)


class SessionNotes:
    """The smallest structured backbone: a note of each session's long words, and a node for each word in a note.

    No model is asked. Sessions that `fails_on` says yes to fail, as they do where a model's reply is unusable.
    """

    NAME = "notes"

    def __init__(self, store: Store, fails_on: Callable[[Part], bool] = lambda _: False, at_once: int = 2) -> None:
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


def _passes(turn: Turn, query: Query) -> bool:
    if query.conversations is not None and turn.conversation not in query.conversations:
        return False
    if query.speakers is not None and turn.speaker not in query.speakers:
        return False
    if query.since is None and query.until is None:
        return True
    if turn.said is None:
        return False
    return (query.since is None or turn.said >= query.since) and (query.until is None or turn.said <= query.until)

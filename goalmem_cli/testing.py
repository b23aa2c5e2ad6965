"""Fakes for goalmem's tests and for programs that use goalmem, without models, files or network.

`tests/test_contracts.py` checks each against its real counterpart.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from goalmem_cli.logic.roles import TOOL
from goalmem_cli.ports import Completion, Embedder, LanguageModel, Request, Vectors
from goalmem_cli.records import Hit, Query, Turn, Unit, content_hash
from goalmem_cli.wiring import Factories, LoadedModel

Reply = str | Callable[[Request], str]


class ScriptedModel:
    """Replies from a queue, or by a function of the request; `seen` holds every request."""

    def __init__(self, replies: Iterable[Reply] | Callable[[Request], str | Completion]) -> None:
        self._function = replies if callable(replies) else None
        self._queue: deque[Reply] = deque() if callable(replies) else deque(replies)
        self.seen: list[Request] = []
        self.calls = 0

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the next replies; an empty queue fails the test."""
        self.calls += 1
        said = [self._reply(request) for request in requests]
        return [
            reply
            if isinstance(reply, Completion)
            else Completion(reply, prompt_tokens=1, completion_tokens=1, shown_tokens=1)
            for reply in said
        ]

    def _reply(self, request: Request) -> str | Completion:
        """Return the next reply of the script; raises AssertionError if none is left."""
        self.seen.append(request)
        if self._function is not None:
            return self._function(request)
        if not self._queue:
            raise AssertionError(f"no reply left for step {request.step!r}")
        reply = self._queue.popleft()
        return reply(request) if callable(reply) else reply


class HashEmbedder:
    """Embeds a text as a bag of hashed words, so that equal words give equal directions.

    A text without words gets a negative axis, which is far from every text with words.
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
    """Turns in a list, ranked by the number of words shared with the query (at least `least`), then by order."""

    def __init__(self, turns: Sequence[Turn] = (), least: int = 1) -> None:
        self._turns: list[Turn] = []
        self._least = least
        self.queries: list[Query] = []
        self.update(turns)

    def update(self, turns: Sequence[Turn]) -> None:
        """Append the turns that are not in the list yet."""
        known = {turn.id for turn in self._turns}
        self._turns.extend(turn for turn in turns if turn.id not in known)

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return the k turns that share the most words with the query, among those that pass its filters."""
        self.queries.append(query)
        words = set(re.findall(r"\w+", query.text.lower()))
        scored = [
            (len(words & set(re.findall(r"\w+", f"{turn.speaker} {turn.text}".lower()))), -position, turn)
            for position, turn in enumerate(self._turns)
            if passes(turn, query)
        ]
        best = sorted((row for row in scored if row[0] >= self._least), key=lambda row: row[:2], reverse=True)[:k]
        return [self._hit(turn, float(score)) for score, _, turn in best]

    def _hit(self, turn: Turn, score: float) -> Hit:
        """Return a turn as a hit, with its neighbours and addressee."""
        near = [
            other for other in self._turns if (other.conversation, other.session) == (turn.conversation, turn.session)
        ]
        beside = [self._unit(other) for other in near if 0 < abs(other.ordinal - turn.ordinal) <= 2]
        people = {other.speaker for other in self._turns if other.conversation == turn.conversation}
        to = next(iter(people - {turn.speaker}), "") if len(people) == 2 else ""
        return Hit(self._unit(turn), score, {"words": 1}, tuple(sorted(beside, key=lambda unit: unit.place)), to)

    def _unit(self, turn: Turn) -> Unit:
        return Unit(
            turn.id, "turn", turn.text, turn.conversation, turn.speaker, turn.said, (turn.id,), (turn.label,),
            session=turn.session, ordinal=turn.ordinal,
        )  # fmt: skip


def faked(model: LanguageModel, embedder: Embedder | None = None) -> Factories:
    """Return `factories` for `goalmem_cli.open` with this model and, if given, this embedder; the rest is real."""
    factories = Factories(model=lambda _: LoadedModel(model, "fake", "full", 8192))
    return factories if embedder is None else replace(factories, embedder=lambda _: embedder)


def passes(turn: Turn, query: Query) -> bool:
    """Return whether the turn passes the query's filters."""
    if query.conversations is not None and turn.conversation not in query.conversations:
        return False
    if query.speakers is not None and turn.speaker not in query.speakers:
        return False
    if query.speakers is None and not query.tools and turn.role == TOOL:
        return False
    if query.since is None and query.until is None:
        return True
    if turn.said is None:
        return False
    return (query.since is None or turn.said >= query.since) and (query.until is None or turn.said <= query.until)

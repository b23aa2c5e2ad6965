"""Interfaces between the parts, as Protocols of one to three methods.

Implement one to add your own backbone, reasoner, model or embedder; `wiring.py` selects it. Fakes for tests are in
`testing.py`, and one contract test covers each fake and its real counterpart. What a method returns and raises is
described here once; the docstrings of implementations add only what is special to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.records import Counts, Hit, Query, Question, Turn, Usage

if TYPE_CHECKING:
    from goalmem_cli.trace import Action, Fact, Step, Trace

Vectors: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Example:
    """A worked input and its reply, shown to the model before the actual input."""

    input: str
    output: str


@dataclass(frozen=True, slots=True)
class JsonShape:
    """The reply is one JSON value that fits the schema (draft 2020-12, the flat subset that grammars support)."""

    schema: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class GrammarShape:
    """The reply is text that matches a GBNF grammar with the start symbol ``root``."""

    grammar: str


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt and the shape of its reply.

    The prompt has three parts, the most stable first, so that a model can reuse what it has evaluated. `system` and
    `examples` are the same for every request of a step. `growing` is the question and then the facts, and is only
    appended to within a question. `tail` is the part that changes.
    """

    step: str
    system: str
    examples: tuple[Example, ...]
    growing: str
    tail: str
    shape: JsonShape | GrammarShape
    max_tokens: int = 512

    @property
    def talk(self) -> tuple[tuple[str, str], ...]:
        """The prompt without its system text as messages: (role, text), with roles ``user`` and ``assistant``."""
        shown = [pair for each in self.examples for pair in (("user", each.input), ("assistant", each.output))]
        return (*shown, ("user", self.growing + self.tail))


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's reply to one request. `is_complete` is False if it was cut off at the token limit.

    `shown_tokens` are those of the prompt's `growing` and `tail`, beside what is the same for every request of the
    step; 0 if unknown. `first_token_probability` is the model's probability of the first token, before any grammar;
    `likelihood` that of the whole reply. None if not available.
    """

    text: str
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    is_complete: bool = True
    first_token_probability: float | None = None
    likelihood: float | None = None
    shown_tokens: int = 0

    @property
    def mean_likelihood(self) -> float | None:
        """The geometric mean of the token probabilities of the reply, or None."""
        return None if self.likelihood is None else self.likelihood ** (1 / max(1, self.completion_tokens))


class LanguageModel(Protocol):
    """Writes replies. One `complete` is one call, however many requests it has."""

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return one completion per request, in order.

        Raises:
            ModelError: the model cannot be used; a reply of the wrong form is not an error here.
        """
        ...


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """The name that the store records and `--embedder` takes."""
        ...

    @property
    def dimension(self) -> int:
        """The length of each vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return an (n, dimension) matrix of unit-length rows, never zero or non-finite, for any text."""
        ...


@runtime_checkable
class QueryEmbedder(Protocol):
    """An embedder that reads queries in another way than what is stored, such as behind an instruction."""

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a query, of shape (dimension,)."""
        ...


def query_vector(embedder: Embedder, text: str) -> Vectors:
    """Return the unit vector of a query, of shape (dimension,)."""
    return embedder.embed_query(text) if isinstance(embedder, QueryEmbedder) else embedder.embed([text])[0]


class Backbone(Protocol):
    """A way to organise and retrieve memory (GOAL-MEM section 3)."""

    def update(self, turns: Sequence[Turn]) -> None:
        """Store the turns under the conversations they name; known turns change nothing.

        Raises:
            StoreError: the store cannot be written.
        """
        ...

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return at most k hits, best first, each unit once.

        Raises:
            ModelError: this backbone asks a model, and it cannot be used.
            StoreError: the store cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class Outlook:
    """A preview of indexing: how many parts of conversations it would process, and their turns.

    `failed` counts the parts that failed in an earlier indexing. `calls` and `tokens` (prompts and replies) are
    estimates without retries.
    """

    parts: int
    turns: int
    failed: int
    calls: int
    tokens: int


@dataclass(frozen=True, slots=True)
class PartDone:
    """A part that was processed and saved: its turns, its derived units and edges, its cost and its problem.

    `problem` is None if all went well; otherwise the next indexing tries the part again.
    """

    conversation: str
    name: str
    turns: int
    units: int
    edges: int
    usage: Usage
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Indexed:
    """The result of one indexing, and the counts of the backbone's units and edges afterwards.

    `parts` and `turns` count what was processed; `failed` are the parts that failed. `noted` has the backbone's own
    counts by name.
    """

    parts: int
    turns: int
    counts: Counts
    usage: Usage
    failed: tuple[PartDone, ...] = ()
    noted: Mapping[str, int] = field(default_factory=dict)

    @property
    def units(self) -> Mapping[str, int]:
        """The number of units by kind."""
        return self.counts.units

    @property
    def edges(self) -> int:
        """The number of edges of all kinds."""
        return sum(self.counts.edges.values())


class StructuredBackbone(Backbone, Protocol):
    """A backbone that derives units and edges from turns with a model's help, when `goalmem index` runs it."""

    def outlook(self) -> Outlook:
        """Return what `index` would do now, without calling a model.

        Raises:
            StoreError: the store cannot be read.
        """
        ...

    def index(self, report: Callable[[PartDone], None]) -> Indexed:
        """Process what is new or failed before; report each part once it is saved. Known parts change nothing.

        Raises:
            ModelError: the model cannot be used; a failed reply is only the part's problem.
            StoreError: the store cannot be used.
        """
        ...


@dataclass(frozen=True, slots=True)
class Happening:
    """An event in the history of a unit: what happened, when it was said, in which turns, and the text afterwards.

    `turns` are the transcript's labels; `unit` is the id of the unit with that text.
    """

    event: str
    said: datetime | None
    turns: tuple[str, ...]
    text: str
    unit: str


@runtime_checkable
class KeepsHistory(Protocol):
    """A structured backbone that records how its units changed."""

    def history(self, unit: str) -> list[Happening]:
        """Return the events of the unit of that id, in order, including those of its earlier versions.

        Raises:
            StoreError: the store cannot be read.
        """
        ...


class Observer(Protocol):
    """Receives a question's trace as it grows, so that it can be drawn while the model works."""

    def retrieved(self, queries: Sequence[str], facts: Mapping[str, Fact]) -> None:
        """Facts were retrieved and no model was called yet; `facts` are all of the question so far, by number."""
        ...

    def started(self, attempt: int, goal: str, subgoals: Sequence[str]) -> None:
        """An attempt began: plans count from 1, and 0 is a reading of the whole question without a plan."""
        ...

    def stepped(self, attempt: int, step: Step, facts: Mapping[str, Fact]) -> None:
        """One round of retrieval and unification ended; `facts` are all of the question so far, by number."""
        ...

    def acted(self, action: Action, facts: Mapping[str, Fact]) -> None:
        """A reasoner without subgoals performed an action; `facts` are all of the question so far, by number."""
        ...


class Reasoner(Protocol):
    """A way to answer a question from memory."""

    def answer(self, question: Question) -> Trace:
        """Return the trace of the question. Unknown and failed are traces too, not exceptions.

        Raises:
            ModelError: the model cannot be used.
            StoreError: the memory cannot be read.
        """
        ...

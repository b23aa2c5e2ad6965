"""The seams: what each part asks of the next, as Protocols of one to three methods.

Whoever builds a backbone, a reasoner, a model or an embedder of their own implements one of these; `wiring.py` is
where it is then chosen. Fakes for tests are in `testing.py`, and one contract test runs over each fake and its real
counterpart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.records import Hit, Query, Question, Turn, Usage

if TYPE_CHECKING:
    from goalmem_cli.trace import Action, Fact, Step, Trace

Vectors: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Example:
    """A worked input and its reply, shown to the model before the real input."""

    input: str
    output: str


@dataclass(frozen=True, slots=True)
class JsonShape:
    """The reply is one JSON value that fits the schema (draft 2020-12, the flat subset that grammars can express)."""

    schema: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class GrammarShape:
    """The reply is text of a GBNF grammar whose start symbol is ``root``."""

    grammar: str


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt and the shape of its reply.

    The prompt comes in three parts, most lasting first, so that a model can keep what it has evaluated: `system` and
    `examples` are the same for every request of a step; `growing` is the question and then the facts, append-only
    within a question; `tail` is whatever changes.
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
        """The prompt below its system text as messages: a role (``user`` or ``assistant``) and a text each."""
        shown = [pair for each in self.examples for pair in (("user", each.input), ("assistant", each.output))]
        return (*shown, ("user", self.growing + self.tail))


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's reply to one request. `is_complete` is False when it was cut off at the token limit.

    `first_token_probability` is what the model itself gave the first token, before any grammar, and `likelihood` what
    it gave the whole reply; None where they are not told.
    """

    text: str
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    is_complete: bool = True
    first_token_probability: float | None = None
    likelihood: float | None = None

    @property
    def mean_likelihood(self) -> float | None:
        """The (geometric) mean of the probabilities that the model gave the tokens of the reply."""
        return None if self.likelihood is None else self.likelihood ** (1 / max(1, self.completion_tokens))


class LanguageModel(Protocol):
    """Writes replies. A call is one `complete`, however many sequences it decodes."""

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return one completion per request, in order.

        Raises:
            ModelError: the model could not be used at all; a reply of the wrong form is not an error here.
        """
        ...


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """What the store records, and what `--embedder` takes."""
        ...

    @property
    def dimension(self) -> int:
        """The length of each vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return an (n, dimension) matrix of unit-length rows: never zero, never non-finite, whatever the text."""
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
        """Remember the turns; those known already change nothing."""
        ...

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return at most k hits, best first, no unit twice."""
        ...


@dataclass(frozen=True, slots=True)
class Outlook:
    """What indexing would do now: how many parts of conversations it would derive from, and the turns in them.

    `failed` counts the parts among them that an earlier indexing tried in vain. `calls` of a model and `tokens` of its
    prompts and replies are estimates, without second tries.
    """

    parts: int
    turns: int
    failed: int
    calls: int
    tokens: int


@dataclass(frozen=True, slots=True)
class PartDone:
    """A part that was derived from and is safe: its turns, the units and edges it gave, its cost, and what went wrong.

    `problem` is None where nothing did; else the next indexing tries the part again.
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
    """What one indexing did, and what the backbone then has: units by kind, and edges.

    `parts` counts those derived from, with so many `turns`, and `failed` are those of them that failed; `noted` counts
    whatever else the backbone looks out for, by what it is called.
    """

    parts: int
    turns: int
    units: Mapping[str, int]
    edges: int
    usage: Usage
    failed: tuple[PartDone, ...] = ()
    noted: Mapping[str, int] = field(default_factory=dict)


class StructuredBackbone(Backbone, Protocol):
    """A backbone that derives units and edges from turns, with a model's help, when `goalmem index` asks it to."""

    def outlook(self) -> Outlook:
        """Return what `index` would do now, without asking a model."""
        ...

    def index(self, report: Callable[[PartDone], None]) -> Indexed:
        """Derive from what is new or failed before, reporting each part once it is safe; known parts change nothing.

        Raises:
            ModelError: the model could not be used at all; what it made nothing of is a part's problem.
            StoreError: the store could not be used.
        """
        ...


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happened to a memory: what, when it was said, by which turns, and how the memory reads by then.

    `turns` are called as in the transcript; `unit` is the id of what holds that text.
    """

    event: str
    said: datetime | None
    turns: tuple[str, ...]
    text: str
    unit: str


@runtime_checkable
class KeepsHistory(Protocol):
    """A structured backbone that knows what its units were before, and what became of them."""

    def history(self, unit: str) -> list[Happening]:
        """Return what happened to the unit of that id, before it was what it is and since, in order.

        Raises:
            StoreError: the store could not be read.
        """
        ...


class Observer(Protocol):
    """Sees a question's trace grow, so that it can be drawn while the model works."""

    def retrieved(self, queries: Sequence[str], facts: Mapping[str, Fact]) -> None:
        """Memory was looked into, before a model is asked; `facts` are those of the question so far, by number."""
        ...

    def started(self, attempt: int, goal: str, subgoals: Sequence[str]) -> None:
        """An attempt began: plans count from 1, and 0 is a reading of the question as a whole."""
        ...

    def stepped(self, attempt: int, step: Step, facts: Mapping[str, Fact]) -> None:
        """One round of retrieval and unification ended; `facts` are those of the question so far, by number."""
        ...

    def acted(self, action: Action, facts: Mapping[str, Fact]) -> None:
        """A reasoner without subgoals did something; `facts` are those of the question so far, by number."""
        ...


class Reasoner(Protocol):
    """A way to answer a question from memory."""

    def answer(self, question: Question) -> Trace:
        """Return everything the question did. Unknown and failed are traces too, not exceptions.

        Raises:
            ModelError: the model could not be used at all.
            StoreError: the memory could not be read.
        """
        ...

"""Interfaces of a memory, as Protocols of one to three methods.

Commands, backbones and reasoners depend on these, never on a store's class, so that a memory can be stored elsewhere.
`store/store.py` implements them in a folder, `tests/fakes.py` has the fake for tests, and one contract test covers
both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, Self

from goalmem_cli.errors import StoreError
from goalmem_cli.memory_records import (
    FLAT,
    Added,
    Capability,
    ConversationSummary,
    Derivation,
    Forgotten,
    Joined,
    Ranking,
    Scored,
    Selection,
    Stats,
)
from goalmem_cli.ports import Embedder, Vectors
from goalmem_cli.records import Conversation, Counts, Derived, Edge, Hit, Query, Turn, Unit


def unreported(_: Added) -> None:
    """Ignore what is added."""


class SupportsAdding(Protocol):
    """A memory that conversations can be added to."""

    def add_all(
        self,
        conversations: Iterable[Conversation],
        *,
        by_name: bool = False,
        report: Callable[[Added], None] = unreported,
    ) -> list[Added]:
        """Store the new content of the conversations; report each once it is saved.

        DESIGN section 7 says which stored conversation each one belongs to; with `by_name`, its name decides. A
        conversation that `continues` extends the one before it.

        Raises:
            InputError: two turns of a conversation have the same own id.
            EmbedderMismatch: the memory's vectors come from another embedder, or from another model of that name.
            ModelError: the embedder cannot embed a text.
            StoreError: the memory cannot be used.
        """
        ...

    def preview_all(
        self, conversations: Iterable[Conversation], *, report: Callable[[Added], None] = unreported
    ) -> list[Added]:
        """Report what `add_all` would do, without doing it; raises as it does."""
        ...

    def add_turns(self, turns: Iterable[Turn]) -> list[Added]:
        """Store turns under the conversation names that they carry; raises as `add_all`."""
        ...


class SupportsAnswers(Protocol):
    """A memory that stores goalmem's own answers."""

    def add_answer(self, text: str, question: Turn, cited: Sequence[str], attributes: Mapping[str, object]) -> Unit:
        """Store one of goalmem's own answers, with the turns of the cited units and the question's turn as sources.

        An answer is not a turn: other backbones never retrieve it, and it is deleted when one of its sources is
        forgotten.

        Raises:
            StoreError: the question or a cited unit is no longer stored, or the memory cannot be used.
            ModelError: the embedder cannot be used.
        """
        ...


class OpenMemory(Protocol):
    """A memory open for reading: rankings of unit ids, and the units themselves."""

    @property
    def generation(self) -> int:
        """The number of changes so far; while it stays the same, so does everything that was read."""
        ...

    def rank(
        self,
        query: Query,
        rankings: Sequence[Ranking],
        depth: int,
        *,
        backbone: str = FLAT,
        kinds: tuple[str, ...] | None = None,
    ) -> dict[Ranking, list[Scored]]:
        """Return for each ranking at most `depth` of the backbone's units that pass the query's filters, best first.

        With `kinds`, only units of these kinds are ranked. A turn that was split into passages is represented by them.

        Raises:
            EmbedderMismatch: a dense ranking needs the memory's embedder, and it is another one.
            StoreError: an index cannot be used.
        """
        ...

    def hits(self, units: Sequence[str]) -> dict[str, Hit]:
        """Return unit id -> hit with its neighbours, in the given order, without units that are not stored.

        The hits have no score and ranks yet; the backbone sets them.
        """
        ...

    def units(self, units: Sequence[str]) -> dict[str, Unit]:
        """As `hits`, but return the units alone, which takes less time."""
        ...


class SupportsRanking(Protocol):
    """A memory that can be searched."""

    def reading(self) -> AbstractContextManager[OpenMemory]:
        """Open the memory for several reads; writers wait until the block ends.

        Raises:
            StoreError: there is no memory, or it cannot be used.
        """
        ...

    def count_without_time(self, query: Query) -> int:
        """Return how many turns only the query's time filter excludes, because their time is unknown.

        Raises:
            StoreError: there is no memory, or it cannot be used.
        """
        ...


class SupportsLooking(Protocol):
    """A memory whose turns can be looked up; raises `StoreError` if there is no memory or it cannot be used."""

    def turns(self, conversations: Sequence[str] | None = None) -> list[Turn]:
        """Return the stored turns of the conversations (None: all), in order."""
        ...

    def last_turn(self, conversation: str) -> Turn | None:
        """Return the last turn of a conversation, or None if it is not stored."""
        ...

    def are_stored(self, units: Sequence[str]) -> bool:
        """Return whether all these units are stored."""
        ...


class SupportsListing(Protocol):
    """A memory that lists its content; raises `StoreError` if there is no memory or it cannot be used."""

    @property
    def exists(self) -> bool:
        """Whether anything was ever written."""
        ...

    def conversations(self) -> list[ConversationSummary]:
        """Return a summary of each stored conversation, by name."""
        ...

    def stats(self) -> Stats:
        """Return the memory's statistics."""
        ...


class SupportsForgetting(Protocol):
    """A memory that can forget; raises `StoreError` if there is no memory or it cannot be used."""

    def forgettable(self, selection: Selection) -> Forgotten:
        """Return what `forget` would delete."""
        ...

    def forget(self, selection: Selection, shown: frozenset[str] | None = None) -> Forgotten:
        """Delete the turns and everything derived from them, so that no file of the memory holds their text.

        `shown` are the ids of the turns that the user saw; it is an error if other turns would be deleted now.
        """
        ...


class SupportsExporting(Protocol):
    """A memory that can be exported; raises `StoreError` if there is none or a file cannot be written.

    With `unread`, goals that cannot be read are left out, and their errors are appended to it; else they are raised.
    """

    def export(self, unread: list[StoreError] | None = None) -> Iterator[dict[str, object]]:
        """Yield the memory as JSON documents in the format ``goalmem``, which can be read back."""
        ...

    def export_file(self, file: Path, unread: list[StoreError] | None = None) -> int:
        """Write the documents of `export` into a file, which appears once complete; return their number."""
        ...

    def export_tables(self, folder: Path) -> list[Path]:
        """Write every content table into the folder as a Parquet file, and return the files."""
        ...


class SupportsDeriving(Protocol):
    """A memory that stores what structured backbones derive; `store.changes.deriving` lists the errors."""

    def derive(self, backbone: str, derivations: Sequence[Derivation]) -> None:
        """Store what a backbone derived from parts, replacing its earlier results for them."""
        ...

    def drop_parts(self, lines: Sequence[Derived]) -> None:
        """Delete these ledger lines, whose parts no longer exist, and the units derived from them."""
        ...

    def shared(
        self, backbone: str, kind: str, units: Sequence[Unit], edges: Sequence[Edge], *, links: Sequence[str]
    ) -> None:
        """Replace a backbone's shared nodes of a kind, to which many parts contribute, and its `links` edges."""
        ...


class SupportsLedger(Protocol):
    """A memory that records what a backbone has derived; raises `StoreError` if it cannot be used."""

    def derived(self, backbone: str) -> list[Derived]:
        """Return a backbone's ledger: the parts that it processed, and the units from each."""
        ...

    def has_derived(self, backbone: str) -> bool:
        """Return whether a backbone has derived anything from stored turns."""
        ...

    def counts_of(self, backbone: str) -> Counts:
        """Return how many units and edges a backbone has, by kind."""
        ...


class SupportsDerivedUnits(Protocol):
    """A memory whose derived units can be read; raises `StoreError` if it cannot be used."""

    def units_of(
        self, backbone: str, kinds: Sequence[str] | None = None, conversations: Sequence[str] | None = None
    ) -> list[Unit]:
        """Return a backbone's units of these kinds and conversations (None: all), in conversation order."""
        ...

    def edges_of(self, backbone: str, kinds: Sequence[str] | None = None) -> list[Edge]:
        """Return the edges of these kinds (None: all) that touch a unit of the backbone."""
        ...

    def vectors_of(self, units: Sequence[Unit]) -> Vectors:
        """Return the (units, dimension) vectors of the units' texts, as stored or else from the embedder."""
        ...


class AnyMemory(
    SupportsAdding,
    SupportsAnswers,
    SupportsRanking,
    SupportsLooking,
    SupportsListing,
    SupportsForgetting,
    SupportsExporting,
    Protocol,
):
    """The operations of every memory, whatever stores it."""

    @property
    def path(self) -> Path:
        """The folder of the memory, or of what goalmem keeps locally about it."""
        ...

    @property
    def state(self) -> object | None:
        """A value that differs once the memory, or a name in it, is changed; None if only reading it tells that."""
        ...

    @property
    def announce(self) -> Callable[[str], None]:
        """Shows a line to the user: about waiting, or about something that was left out."""
        ...


class SupportsJoining(Protocol):
    """A memory in which two conversations can become one.

    Each method raises `StoreError` where one of them is not there, or nothing tells where the turns of one go in the
    other.
    """

    def joinable(self, name: str, other: str) -> Joined:
        """Return what `join` would do."""
        ...

    def join(self, name: str, other: str, shown: Joined) -> None:
        """Take the turns of the other conversation into the named one, each once, as they were said; the other goes.

        What a transcript holds that was read into either goes to the named one from now on.

        Raises:
            StoreError: the turns are others by now than were shown.
            EmbedderMismatch, ModelError: the embedder, which reads moved turns again, cannot be used.
        """
        ...


class SupportsLanguages(Protocol):
    """A memory that knows the languages of its conversations."""

    def tell_language(self, name: str, language: str | None) -> str:
        """Store a conversation's language, or with None find it from the turns; return it, "" if unknown.

        Raises:
            StoreError: there is no such conversation, or the memory cannot be used.
        """
        ...


class SupportsUpkeep(Protocol):
    """A memory that can be maintained; raises `StoreError` if there is none or it cannot be used."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The optional operations that it supports."""
        ...

    def over(self, embedder: Embedder) -> Self:
        """Return the same memory with another embedder, without opening anything again."""
        ...

    def keeping(self) -> AbstractContextManager[Callable[[str], None]]:
        """Hold the write lock to change a file next to the memory; yields a function to call on each write."""
        ...

    def lingering(self) -> AbstractContextManager[None]:
        """Stay open between the reads of a short block, which then open the memory once; writers may have to wait."""
        ...

    def embedded_with(self) -> tuple[str, int]:
        """Return the name and dimension of the memory's embedder; "" and 0 if nothing is embedded yet."""
        ...

    def verify(self) -> list[str]:
        """Return the problems found, a line each."""
        ...

    def remove(self) -> None:
        """Delete the memory and what goalmem keeps locally about it."""
        ...


class KeptMemory(AnyMemory, SupportsJoining, SupportsLanguages, SupportsUpkeep, Protocol):
    """The operations of every memory that commands open."""


class StructuredMemory(AnyMemory, SupportsDeriving, SupportsLedger, SupportsDerivedUnits, Protocol):
    """A memory in which structured backbones can store what they derive."""

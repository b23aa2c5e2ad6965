"""The seams of a memory: what others use of a store, as Protocols of one to three methods.

Commands, backbones and reasoners take one of these, or what several make together, and never a store's class, so that
a memory may be kept elsewhere. `store/store.py` keeps one in a folder; the fake for tests is in `tests/fakes.py`, and
one contract test runs over both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, Self

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
from goalmem_cli.records import Conversation, Derived, Edge, Hit, Query, Turn, Unit


def unreported(_: Added) -> None:
    """Hear nothing of what is added."""


class SupportsAdding(Protocol):
    """A memory that conversations can be added to."""

    def add_all(
        self,
        conversations: Iterable[Conversation],
        *,
        by_name: bool = False,
        report: Callable[[Added], None] = unreported,
    ) -> list[Added]:
        """Store what is new of the conversations, and report each when it is safe.

        Which stored conversation each one is, DESIGN section 7 says; with `by_name` it is the one of its name. One that
        `continues` goes on with the one before it.

        Raises:
            InputError: two turns of a conversation have one own id.
            EmbedderMismatch: the memory's vectors come from another embedder, or from another model of its name.
            ModelError: the embedder makes nothing of a text.
            StoreError: the memory cannot be used.
        """
        ...

    def preview_all(
        self, conversations: Iterable[Conversation], *, report: Callable[[Added], None] = unreported
    ) -> list[Added]:
        """Report what `add_all` would do with the conversations, without doing it; raises as it does."""
        ...

    def add_turns(self, turns: Iterable[Turn]) -> list[Added]:
        """Store turns under the very conversation names that they carry; raises as `add_all`."""
        ...


class SupportsAnswers(Protocol):
    """A memory that keeps goalmem's own answers."""

    def add_answer(self, text: str, question: Turn, cited: Sequence[str], attributes: Mapping[str, object]) -> Unit:
        """Store one of goalmem's own answers, sourced to the turns of the cited units and to the question's turn.

        It is no turn: no ranking of another backbone finds it, and it goes when one of its turns is forgotten.

        Raises:
            StoreError: the question or something cited is not stored any more, or the memory cannot be used.
            ModelError: the embedder cannot be used.
        """
        ...


class OpenMemory(Protocol):
    """A memory that is open for reading: rankings of unit ids, and the units behind them."""

    @property
    def generation(self) -> int:
        """How many changes the memory has seen: as long as it stays the same, so does all that was read."""
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

        With `kinds`, only units of these are ranked. A turn that was cut into passages is represented by them.

        Raises:
            EmbedderMismatch: a dense ranking was asked for and the memory's vectors come from another embedder.
            StoreError: an index cannot be used.
        """
        ...

    def hits(self, units: Sequence[str]) -> dict[str, Hit]:
        """Return unit id -> hit with its neighbours, in the order given, without the units that are not stored.

        The hits have no score and no ranks yet: those are the backbone's.
        """
        ...


class SupportsRanking(Protocol):
    """A memory that can be searched."""

    def reading(self) -> AbstractContextManager[OpenMemory]:
        """Open the memory once for several rankings and look-ups; whoever writes waits until the block ends.

        Raises:
            StoreError: there is no memory, or it cannot be used.
        """
        ...

    def count_without_time(self, query: Query) -> int:
        """Return how many turns only the query's time filter hides because nobody knows when they were said.

        Raises:
            StoreError: there is no memory, or it cannot be used.
        """
        ...


class SupportsLooking(Protocol):
    """A memory whose turns can be looked up; raises `StoreError` where there is no memory or it cannot be used."""

    def turns(self, conversations: Sequence[str] | None = None) -> list[Turn]:
        """Return the stored turns of the conversations (None: all), in their order."""
        ...

    def last_turn(self, conversation: str) -> Turn | None:
        """Return the last turn of a conversation; None where it is not stored."""
        ...

    def are_stored(self, units: Sequence[str]) -> bool:
        """Return whether all of these units are stored."""
        ...


class SupportsListing(Protocol):
    """A memory that says what is in it; raises `StoreError` where there is no memory or it cannot be used."""

    @property
    def exists(self) -> bool:
        """True once something was written."""
        ...

    def conversations(self) -> list[ConversationSummary]:
        """Return each stored conversation at a glance, by name."""
        ...

    def stats(self) -> Stats:
        """Return the memory in numbers."""
        ...


class SupportsForgetting(Protocol):
    """A memory that can forget; raises `StoreError` where there is no memory or it cannot be used."""

    def forgettable(self, selection: Selection) -> Forgotten:
        """Return what `forget` would delete."""
        ...

    def forget(self, selection: Selection, shown: frozenset[str] | None = None) -> Forgotten:
        """Delete the turns and all that came from them, so that no file of the memory holds their text any more.

        With the ids of the turns that were `shown`, it is an error if others would go by now.
        """
        ...


class SupportsExporting(Protocol):
    """A memory that can be carried elsewhere; raises `StoreError` where there is none or a file cannot be written."""

    def export(self) -> Iterator[dict[str, object]]:
        """Yield the memory as JSON documents that the format ``goalmem`` reads back."""
        ...

    def export_file(self, file: Path) -> int:
        """Write `export`'s documents into a file, which gets its name when it is whole; return how many they are."""
        ...

    def export_tables(self, folder: Path) -> list[Path]:
        """Write every table of content into the folder as a Parquet file, and return the files."""
        ...


class SupportsDeriving(Protocol):
    """A memory that keeps what structured backbones make of turns; `store.changes.deriving` says what each raises."""

    def derive(self, backbone: str, derivations: Sequence[Derivation]) -> None:
        """Store what a backbone made of parts, in place of what it made of them before."""
        ...

    def drop_parts(self, lines: Sequence[Derived]) -> None:
        """Delete these lines of the ledger, about parts that there are no more, and the units that the parts gave."""
        ...

    def shared(
        self, backbone: str, kind: str, units: Sequence[Unit], edges: Sequence[Edge], *, links: Sequence[str]
    ) -> None:
        """Bring a backbone's nodes of a kind, to which many parts contribute, and its `links`, to exactly these."""
        ...


class SupportsLedger(Protocol):
    """A memory that knows what a backbone has derived; raises `StoreError` where it cannot be used."""

    def derived(self, backbone: str) -> list[Derived]:
        """Return the ledger of a backbone: the parts that it has derived from, and what each gave."""
        ...

    def has_derived(self, backbone: str) -> bool:
        """Return whether a backbone has derived from anything that is stored."""
        ...

    def counts_of(self, backbone: str) -> tuple[dict[str, int], int]:
        """Return how many units of each kind a backbone has, and how many edges touch one of its units."""
        ...


class SupportsDerivedUnits(Protocol):
    """A memory whose derived units can be read; raises `StoreError` where it cannot be used."""

    def units_of(
        self, backbone: str, kinds: Sequence[str] | None = None, conversations: Sequence[str] | None = None
    ) -> list[Unit]:
        """Return a backbone's units, of these kinds and conversations (None: all), in the conversations' order."""
        ...

    def edges_of(self, backbone: str, kinds: Sequence[str] | None = None) -> list[Edge]:
        """Return the edges, of these kinds (None: all), that touch a unit of the backbone."""
        ...

    def vectors_of(self, units: Sequence[Unit]) -> Vectors:
        """Return the vectors of the units' texts, a row a unit: as stored, else from the embedder."""
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
    """What every memory can do, whatever keeps it."""

    @property
    def path(self) -> Path:
        """The folder that it lies in, or where goalmem keeps what belongs to it."""
        ...

    @property
    def announce(self) -> Callable[[str], None]:
        """Says a line to the user: that there is something to wait for, or that something was done without."""
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


class SupportsUpkeep(Protocol):
    """A memory that can be looked after; raises `StoreError` where there is none or it cannot be used."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What it can do beside what every memory can."""
        ...

    def over(self, embedder: Embedder) -> Self:
        """Return the same memory over another embedder, without opening anything a second time."""
        ...

    def keeping(self) -> AbstractContextManager[Callable[[str], None]]:
        """Be the only one who writes, to change what lies in a file beside it; gives who hears of each single write."""
        ...

    def embedded_with(self) -> tuple[str, int]:
        """Return the name and dimension of the memory's embedder; empty and 0 where nothing was embedded yet."""
        ...

    def verify(self) -> list[str]:
        """Return what is wrong, a line each."""
        ...

    def remove(self) -> None:
        """Delete the memory, and what goalmem keeps beside it."""
        ...


class KeptMemory(AnyMemory, SupportsJoining, SupportsUpkeep, Protocol):
    """What every memory can do that commands open."""


class StructuredMemory(AnyMemory, SupportsDeriving, SupportsLedger, SupportsDerivedUnits, Protocol):
    """A memory in which structured backbones can keep what they derive."""

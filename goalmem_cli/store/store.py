"""The store: conversations go in, ranked units come out. Everything else in this folder works for this class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from goalmem_cli.memory_ports import unreported
from goalmem_cli.memory_records import Added, Derivation, Forgotten, Joined, Selection
from goalmem_cli.ports import Embedder
from goalmem_cli.records import Conversation, Derived, Edge, Turn, Unit
from goalmem_cli.store.changes import answers, deriving, joining
from goalmem_cli.store.changes.adding import Adding
from goalmem_cli.store.changes.exporting import CONTENT_TABLES, documents, write_lines
from goalmem_cli.store.changes.forgetting import Forgetting
from goalmem_cli.store.changes.previewing import preview
from goalmem_cli.store.changes.reembedding import Reembedding
from goalmem_cli.store.changes.refreshing import refresh
from goalmem_cli.store.changes.removal import remove_store
from goalmem_cli.store.readonly import ReadOnlyStore


class Store(ReadOnlyStore):
    """One memory, a folder: a `StructuredMemory` (`memory_ports.py` says what its methods do), and its upkeep.

    Nothing is created before the first write, and nothing stays open between calls. `announce` gets a line whenever the
    user has to wait, or something was repaired or done without; `patience` is how many seconds to wait for another
    process's lock; `written` hears of every single write.
    """

    # Adding

    def add(self, conversation: Conversation) -> Added:
        """As `add_all`, of one conversation."""
        return self.add_all([conversation])[0]

    def add_all(
        self,
        conversations: Iterable[Conversation],
        *,
        by_name: bool = False,
        report: Callable[[Added], None] = unreported,
    ) -> list[Added]:
        """Store what is new, a batch at a time, each batch in one transaction; see `SupportsAdding`."""
        done: list[Added] = []

        def take(added: Added) -> None:
            done.append(added)
            report(added)

        Adding(self._parts, by_name=by_name).add(conversations, take)
        return done

    def add_turns(self, turns: Iterable[Turn]) -> list[Added]:
        """Store turns under the conversation names that they carry; see `SupportsAdding`."""
        grouped: dict[str, list[Turn]] = {}
        for turn in turns:
            grouped.setdefault(turn.conversation, []).append(turn)
        named = (Conversation(name, "turns", tuple(members), own_id=name) for name, members in grouped.items())
        return self.add_all(named, by_name=True)

    def preview(self, conversation: Conversation) -> Added:
        """As `preview_all`, of one conversation."""
        return self.preview_all([conversation])[0]

    def preview_all(
        self, conversations: Iterable[Conversation], *, report: Callable[[Added], None] = unreported
    ) -> list[Added]:
        """Report what `add_all` would do with the conversations; see `SupportsAdding`."""
        done: list[Added] = []

        def take(added: Added) -> None:
            done.append(added)
            report(added)

        preview(self._parts, conversations, take)
        return done

    def add_answer(self, text: str, question: Turn, cited: Sequence[str], attributes: Mapping[str, object]) -> Unit:
        """Store one of goalmem's own answers; see `SupportsAnswers`."""
        return answers.add_answer(self._parts, text, question, cited, attributes)

    # Forgetting and exporting

    def forgettable(self, selection: Selection) -> Forgotten:
        """Return what `forget` would delete; see `SupportsForgetting`."""
        return Forgetting(self._parts).counts(selection)

    def forget(self, selection: Selection, shown: frozenset[str] | None = None) -> Forgotten:
        """Delete the turns and all that came from them; see `SupportsForgetting`."""
        return Forgetting(self._parts).forget(selection, shown)

    def export(self) -> Iterator[dict[str, object]]:
        """Yield the store as JSON documents; see `SupportsExporting`."""
        return documents(self._parts)

    def export_file(self, file: Path) -> int:
        """Write `export`'s documents into a file; see `SupportsExporting`."""
        return write_lines(documents(self._parts), file)

    def export_tables(self, folder: Path) -> list[Path]:
        """Write every table of content into the folder as a Parquet file; see `SupportsExporting`."""
        self._parts.require()
        return self._database.export(folder, CONTENT_TABLES)

    # What structured backbones keep

    def derive(self, backbone: str, derivations: Sequence[Derivation]) -> None:
        """Store what a structured backbone made of parts; see `deriving.derive`."""
        deriving.derive(self._parts, backbone, derivations)

    def drop_parts(self, lines: Sequence[Derived]) -> None:
        """Delete lines of the ledger with what their parts gave; see `deriving.drop_parts`."""
        deriving.drop_parts(self._parts, lines)

    def shared(
        self, backbone: str, kind: str, units: Sequence[Unit], edges: Sequence[Edge], *, links: Sequence[str]
    ) -> None:
        """Bring a backbone's shared nodes of a kind to exactly these; see `deriving.share`."""
        deriving.share(self._parts, backbone, kind, units, edges, links)

    # Joining

    def joinable(self, name: str, other: str) -> Joined:
        """Return what `join` would do; see `SupportsJoining`."""
        return joining.joinable(self._parts, name, other)

    def join(self, name: str, other: str, shown: Joined) -> None:
        """Take the turns of the other conversation into the named one; see `SupportsJoining`."""
        joining.join(self._parts, name, other, shown)

    # Upkeep; each raises StoreError where there is no store, or it cannot be used

    def reembed(self, embedder: Embedder, progress: Callable[[int, int], None]) -> int:
        """Embed everything again with another embedder, and return how many units that were.

        `progress` hears how many are done, of how many. Interrupted, the store stays as it is; the next call goes on.
        """
        Forgetting(self._parts).finish()
        return Reembedding(self._parts, embedder).run(progress)

    def refresh(self) -> int:
        """Read again what the times in the turns mean, and return of how many turns and passages it had changed.

        Nothing else is touched: the texts, and what is indexed of them, stay as they are.
        """
        return refresh(self._parts)

    def rebuild(self) -> None:
        """Write both indexes anew from the database."""
        self._parts.require()
        if not Forgetting(self._parts).finish():
            self._parts.rebuild()

    def remove(self) -> None:
        """Delete the store: its database, indexes and traces, and its folder where nothing else is in it."""
        remove_store(self._parts)

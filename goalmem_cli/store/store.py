"""The class `Store`, which stores conversations and ranks units; the rest of this folder implements it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from goalmem_cli.memory_ports import unreported
from goalmem_cli.memory_records import Added, Derivation, Forgotten, Joined, Selection
from goalmem_cli.ports import Embedder
from goalmem_cli.records import Conversation, Derived, Edge, Turn, Unit
from goalmem_cli.store import changes
from goalmem_cli.store.readonly import ReadOnlyStore


class Store(ReadOnlyStore):
    """One memory in a folder: a `StructuredMemory`, whose methods `memory_ports.py` describes, with its upkeep.

    Nothing is created before the first write, and nothing stays open between calls. `announce` gets a line when the
    user has to wait, or when something was repaired or left out. `patience` is the seconds to wait for another
    process's lock. `written` is called after every write.
    """

    # Adding

    def add(self, conversation: Conversation) -> Added:
        """Call `add_all` for one conversation."""
        return self.add_all([conversation])[0]

    def add_all(
        self,
        conversations: Iterable[Conversation],
        *,
        by_name: bool = False,
        report: Callable[[Added], None] = unreported,
    ) -> list[Added]:
        """Store new turns batch by batch, each batch in one transaction; see `SupportsAdding`."""
        done: list[Added] = []

        def take(added: Added) -> None:
            done.append(added)
            report(added)

        changes.adding.Adding(self._parts, by_name=by_name).add(conversations, take)
        return done

    def add_turns(self, turns: Iterable[Turn]) -> list[Added]:
        """Store turns in the conversations that they name; see `SupportsAdding`."""
        grouped: dict[str, list[Turn]] = {}
        for turn in turns:
            grouped.setdefault(turn.conversation, []).append(turn)
        named = (Conversation(name, "turns", tuple(members), own_id=name) for name, members in grouped.items())
        return self.add_all(named, by_name=True)

    def preview(self, conversation: Conversation) -> Added:
        """Call `preview_all` for one conversation."""
        return self.preview_all([conversation])[0]

    def preview_all(
        self, conversations: Iterable[Conversation], *, report: Callable[[Added], None] = unreported
    ) -> list[Added]:
        """Report what `add_all` would do with the conversations; see `SupportsAdding`."""
        done: list[Added] = []

        def take(added: Added) -> None:
            done.append(added)
            report(added)

        changes.previewing.preview(self._parts, conversations, take)
        return done

    def add_answer(self, text: str, question: Turn, cited: Sequence[str], attributes: Mapping[str, object]) -> Unit:
        """Store one of goalmem's own answers; see `SupportsAnswers`."""
        return changes.answers.add_answer(self._parts, text, question, cited, attributes)

    # Forgetting and exporting

    def forgettable(self, selection: Selection) -> Forgotten:
        """Return what `forget` would delete; see `SupportsForgetting`."""
        return changes.forgetting.Forgetting(self._parts).counts(selection)

    def forget(self, selection: Selection, shown: frozenset[str] | None = None) -> Forgotten:
        """Delete the turns and all that came from them; see `SupportsForgetting`."""
        return changes.forgetting.Forgetting(self._parts).forget(selection, shown)

    def export(self) -> Iterator[dict[str, object]]:
        """Yield the store as JSON documents; see `SupportsExporting`."""
        return changes.exporting.documents(self._parts)

    def export_file(self, file: Path) -> int:
        """Write `export`'s documents into a file; see `SupportsExporting`."""
        return changes.exporting.write_lines(changes.exporting.documents(self._parts), file)

    def export_tables(self, folder: Path) -> list[Path]:
        """Write each content table into the folder as a Parquet file; see `SupportsExporting`."""
        self._parts.require()
        return self._database.export(folder, changes.exporting.CONTENT_TABLES)

    # Structured backbones

    def derive(self, backbone: str, derivations: Sequence[Derivation]) -> None:
        """Store what a structured backbone derived from parts; see `deriving.derive`."""
        changes.deriving.derive(self._parts, backbone, derivations)

    def drop_parts(self, lines: Sequence[Derived]) -> None:
        """Delete lines of the ledger, with what was derived from their parts; see `deriving.drop_parts`."""
        changes.deriving.drop_parts(self._parts, lines)

    def shared(
        self, backbone: str, kind: str, units: Sequence[Unit], edges: Sequence[Edge], *, links: Sequence[str]
    ) -> None:
        """Replace a backbone's shared nodes of a kind by these; see `deriving.share`."""
        changes.deriving.share(self._parts, backbone, kind, units, edges, links)

    # Joining

    def joinable(self, name: str, other: str) -> Joined:
        """Return what `join` would do; see `SupportsJoining`."""
        return changes.joining.joinable(self._parts, name, other)

    def join(self, name: str, other: str, shown: Joined) -> None:
        """Move the turns of the other conversation into the named one; see `SupportsJoining`."""
        changes.joining.join(self._parts, name, other, shown)

    # Upkeep; each raises StoreError if there is no store, or it cannot be used

    def reembed(self, embedder: Embedder, progress: Callable[[int, int], None]) -> int:
        """Embed all units again with another embedder, and return how many there were.

        `progress` gets the number done and the total. If interrupted, the store is unchanged, and the next call
        continues.
        """
        changes.forgetting.Forgetting(self._parts).finish()
        return changes.reembedding.Reembedding(self._parts, embedder).run(progress)

    def tell_language(self, name: str, language: str | None) -> str:
        """Store a conversation's language, or find it again; see `SupportsLanguages`."""
        return changes.telling.tell_language(self._parts, name, language)

    def refresh(self) -> int:
        """Parse the time expressions in the turns again, and return how many turns and passages changed.

        Texts and indexes stay as they are.
        """
        return changes.refreshing.refresh(self._parts)

    def rebuild(self) -> None:
        """Rebuild both indexes from the database."""
        self._parts.require()
        if not changes.forgetting.Forgetting(self._parts).finish():
            self._parts.rebuild()

    def remove(self) -> None:
        """Delete the store: its database, indexes and traces, and its folder if nothing else is in it."""
        changes.removal.remove_store(self._parts)

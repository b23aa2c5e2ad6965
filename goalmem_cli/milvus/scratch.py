"""A temporary local store in which the local store's code computes a change to some conversations.

That code decides which conversation a transcript belongs to, and how two are joined.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

from goalmem_cli.milvus.changing import Wanted
from goalmem_cli.milvus.kept import Kept
from goalmem_cli.milvus.rows import Talk
from goalmem_cli.records import Turn, Unit
from goalmem_cli.store.changes.answers import BACKBONE as ANSWERS
from goalmem_cli.store.changes.overlapping import target_of
from goalmem_cli.store.changes.parts import DATABASE, Parts
from goalmem_cli.store.changes.writing import write_derived
from goalmem_cli.store.database import languages, overlaps, tables, unit_rows
from goalmem_cli.store.database.access import Connection, Database


class Scratch:
    """A store without indexes in a folder; `talks` are the conversations that were copied into it, by name."""

    def __init__(self, kept: Kept, folder: Path) -> None:
        self._kept = kept
        parts = Parts.of_folder(folder, kept.embedder, kept.announce, kept.patience, lambda _: None)
        self.parts = replace(parts, database=Database(folder / DATABASE, kept.announce, kept.patience))
        self.talks: dict[str, Talk] = {}
        self._before: dict[str, tuple[dict[str, Turn], dict[str, Unit]]] = {}

    def clear(self) -> None:
        """Empty it, as other processes may have changed the memory since it was filled."""
        database = self.parts.database.path
        for path in database.parent.glob(f"{database.name}*"):
            path.unlink()
        self.talks, self._before = {}, {}

    def bring(self, talks: Iterable[Talk]) -> None:
        """Copy stored conversations into it."""
        new = [talk for talk in talks if talk.name not in self.talks]
        turns, answers = self._kept.said(new)
        for talk in new:
            self._before[talk.name] = (
                {id_: turn for id_, turn in turns.items() if turn.conversation == talk.name},
                {id_: unit for id_, unit in answers.items() if unit.conversation == talk.name},
            )
        self.talks |= {talk.name: talk for talk in new}
        with self.parts.database.writing() as connection, connection.transaction():
            tables.insert_conversations(connection, [(talk.name, talk.format, talk.own_id, talk.file) for talk in new])
            tables.insert_turns(connection, list(turns.values()))
            tables.rewrite_sessions(connection, [talk.name for talk in new])
            write_derived(connection, list(answers.values()))
            joined = {alias: target_of(talk.name) for talk in new for alias in talk.joined}
            overlaps.write_joined(connection, overlaps.load_joined(connection) | joined)
            write_languages_of(connection, new)

    def turns_of(self, names: Iterable[str]) -> set[str]:
        """Return the ids of the turns that these conversations had when they were copied."""
        return {id_ for name in names if name in self._before for id_ in self._before[name][0]}

    def changed(self, names: Iterable[str]) -> tuple[list[Wanted], set[str]]:
        """Return the new content of those conversations that changed, and the ids of the turns in all of them."""
        if not self.parts.database.exists:
            return [], set()
        with self.parts.database.reading() as connection:
            rows = {row[0]: row for row in tables.load_conversation_rows(connection, sorted(set(names)))}
            turns = tables.load_turns(connection, list(rows))
            answers = unit_rows.load_units(connection, conversations=list(rows), backbone=ANSWERS)
            joined = overlaps.load_joined(connection)
            known = languages.load_languages(connection, list(rows))
        found = []
        for name, (_, form, own_id, file) in rows.items():
            own = {id_: turn for id_, turn in turns.items() if turn.conversation == name}
            told = {unit.id: unit for unit in answers if unit.conversation == name}
            aliases = tuple(sorted(alias for alias, target in joined.items() if target == target_of(name)))
            talk = self.talks.get(name) or Talk(name, form, own_id)
            becomes = replace(talk, file=file, joined=aliases, language=known[name][0], is_language_told=known[name][1])
            if self._before.get(name) != (own, told) or becomes != talk:
                found.append(Wanted(talk, list(own.values()), list(told.values()), becomes))
        return found, set(turns)

    def gone(self, names: Iterable[str]) -> list[Talk]:
        """Return the conversations that were copied into it and are gone now."""
        copied = sorted(set(names) & self.talks.keys())
        if not copied:
            return []
        with self.parts.database.reading() as connection:
            there = {row[0] for row in tables.load_conversation_rows(connection, copied)}
        return [self.talks[name] for name in copied if name not in there]


def write_languages_of(connection: Connection, talks: Collection[Talk]) -> None:
    """Store the languages of these conversations, and whether the user told them."""
    for is_told in (False, True):
        known = {talk.name: talk.language for talk in talks if talk.is_language_told is is_told}
        languages.write_languages(connection, known, is_told=is_told)

"""Export a store as JSON documents, which the format ``goalmem`` reads back: all turns, then derived units."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from goalmem_cli.errors import StoreError
from goalmem_cli.memory_records import FLAT
from goalmem_cli.records import Derived, Turn, Unit
from goalmem_cli.store.changes.overlapping import target_of
from goalmem_cli.store.changes.parts import Parts
from goalmem_cli.store.database import languages, ledger, overlaps, tables, unit_rows
from goalmem_cli.store.files import reporting, sync_file
from goalmem_cli.store.goals import GoalFolder
from goalmem_cli.store.indexes.spans import pages
from goalmem_cli.store.people import People
from goalmem_cli.store.privacy import FILE_MODE, GOALS

SCHEMA_VERSION = 1
CONTENT_TABLES = (
    "conversations", "sessions", "turns", "units", "unit_sources", "edges", "vectors",
    "parts", "part_turns", "part_units",
)  # fmt: skip


def documents(parts: Parts, unread: list[StoreError] | None = None) -> Iterator[dict[str, object]]:
    """Yield the documents, without turn units, vectors and indexes, which are made again when read.

    With `unread`, goals that cannot be read are left out, and their errors are appended to it.

    Raises:
        StoreError: there is no store, it cannot be used, or without `unread` a goal cannot be read.
    """
    parts.require()
    with parts.database.reading() as connection:
        yield heading(parts.path, unread)
        joined: dict[str, list[str]] = {}
        for alias, target in sorted(overlaps.load_joined(connection).items()):
            joined.setdefault(target, []).append(alias)
        told = languages.told_languages(connection)
        heads: dict[str, dict[str, object]] = {
            name: head(name, form, own_id, joined.get(target_of(name), ()), told.get(name, ""))
            for name, (form, own_id) in tables.conversation_rows(connection).items()
        }
        current = ""
        for page in pages(connection):
            places = [(span.conversation, span.first, span.last) for span in page]
            for turn in sorted(tables.load_turns_within(connection, places).values(), key=_order):
                if turn.conversation != current:
                    current = turn.conversation
                    yield heads[current]
                yield {"turn": turn_document(turn)}
        # a unit may come from turns of several conversations, and an edge may connect two
        with_units = unit_rows.conversations_with_derived(connection, FLAT)
        for name in sorted({*with_units, *ledger.conversations_with_parts(connection)}):
            yield heads[name]
            for unit in unit_rows.load_units(connection, conversations=[name], not_of=FLAT):
                yield {"unit": unit_document(unit)}
            for line in ledger.load_ledger(connection, conversations=[name]):
                yield {"part": _part(line)}
        for name in unit_rows.conversations_with_edges(connection):
            yield heads[name]
            for edge in unit_rows.load_edges(connection, name):
                yield {"edge": asdict(edge)}


def heading(folder: Path, unread: list[StoreError] | None) -> dict[str, object]:
    """Return the first document, with the schema's version, the user's notes on people, and the kept goals.

    For `unread` see `documents`.
    """
    told = {
        "people": People.of_folder(folder).documents(),
        "goals": [goal.document() for goal in GoalFolder(folder / GOALS).all(unread)],
    }
    return {"goalmem": SCHEMA_VERSION} | {name: each for name, each in told.items() if each}


def head(name: str, form: str, own_id: str | None, joined: Sequence[str], language: str) -> dict[str, object]:
    """Return the document of a conversation, with what was joined with it by command, and the language told for it.

    A language that was found is found again from the turns.
    """
    told: dict[str, object] = {"conversation": name, "format": form, "own_id": own_id}
    return told | ({"joined": list(joined)} if joined else {}) | ({"language": language} if language else {})


def _order(turn: Turn) -> tuple[str, tuple[int, int, bool, str, str]]:
    return (turn.conversation, turn.order)


def write_lines(found: Iterable[dict[str, object]], file: Path, *, is_private: bool = False) -> int:
    """Write the documents, one a line, and return how many; the file is written atomically.

    With `is_private` only the owner can read it.

    Raises:
        StoreError: the file cannot be written.
    """
    count = 0
    part = file.with_name(f".{file.name}.part")
    with reporting(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.unlink(missing_ok=True)
            with open(part, "w", encoding="utf-8", opener=_private if is_private else None) as lines:
                for document in found:
                    lines.write(json.dumps(document, ensure_ascii=False) + "\n")
                    count += 1
            sync_file(part)
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
    return count


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, FILE_MODE)


def turn_document(turn: Turn) -> dict[str, object]:
    """Return a turn as a JSON object."""
    said = None if turn.said is None else turn.said.isoformat()
    shown = {key: value for key, value in (asdict(turn) | {"said": said}).items() if key != "conversation"}
    return shown if turn.attributes else {key: value for key, value in shown.items() if key != "attributes"}


def _part(line: Derived) -> dict[str, object]:
    shown = asdict(line) | {"turns": list(line.turns), "units": list(line.units)}
    return {key: value for key, value in shown.items() if key != "conversation"}


def unit_document(unit: Unit) -> dict[str, object]:
    """Return a derived unit as a JSON object."""
    times = {key: getattr(unit, key) for key in ("said", "event_from", "event_to")}
    written = {key: None if time is None else time.isoformat() for key, time in times.items()}
    shown = asdict(unit) | written | {"turns": list(unit.turns), "labels": list(unit.labels)}
    return {key: value for key, value in shown.items() if key not in ("conversation", "begun")}

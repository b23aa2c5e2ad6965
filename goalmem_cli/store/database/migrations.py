"""The tables, as an ordered list of named migrations. Never change a released step; add another.

Texts are only in `turns` and `units`; the indexes are built from them. No table has a primary key, since DuckDB's key
indexes slow down bulk writes. Ids are content hashes, which the writing code computes and `Store.verify` checks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from goalmem_cli.errors import StoreDamaged, StoreNewer
from goalmem_cli.languages.finding import ENGLISH
from goalmem_cli.logic.annotations import TIMES, time_attributes
from goalmem_cli.memory_records import FLAT
from goalmem_cli.store.database.keys import SQL_KEY, SQL_PLACE_KEY


class Run(Protocol):
    """Runs one statement, with its parameters, and returns the rows."""

    def __call__(self, sql: str, parameters: Sequence[object] = (), /) -> Sequence[tuple[Any, ...]]: ...


def m001_initial(run: Run) -> None:
    """Add conversations, sessions, turns, units with their links, vectors, and the outbox of the indexes.

    `said` is the time as written; `clock` and `instant` are its moment (see `times`). `text_vector` and
    `context_vector` are little-endian float32.
    """
    run("CREATE TABLE conversations (name VARCHAR, format VARCHAR, own_id VARCHAR)")
    run(
        """CREATE TABLE sessions (conversation VARCHAR, number INTEGER, turns INTEGER,
        first_said VARCHAR, last_said VARCHAR)"""
    )
    run("""CREATE TABLE turns (id VARCHAR, conversation VARCHAR, session INTEGER, ordinal INTEGER, own_id VARCHAR,
        speaker VARCHAR, role VARCHAR, said VARCHAR, clock BIGINT, instant BIGINT, text VARCHAR,
        content_key VARCHAR)""")
    run("""CREATE TABLE units (id VARCHAR, backbone VARCHAR, kind VARCHAR, conversation VARCHAR, session INTEGER,
        ordinal INTEGER, speaker VARCHAR, said VARCHAR, clock BIGINT, instant BIGINT, event_from VARCHAR,
        event_to VARCHAR, attributes VARCHAR, text VARCHAR)""")
    run("CREATE TABLE unit_sources (unit VARCHAR, place INTEGER, turn VARCHAR, label VARCHAR)")
    run("CREATE TABLE edges (source VARCHAR, target VARCHAR, kind VARCHAR, weight DOUBLE)")
    run("CREATE TABLE vectors (unit VARCHAR, text_vector BLOB, context_vector BLOB)")
    run("CREATE TABLE meta (key VARCHAR, value VARCHAR)")
    run("CREATE TABLE outbox (generation BIGINT, unit VARCHAR)")
    run("INSERT INTO meta VALUES ('store', uuid()::VARCHAR)")


def m002_times_and_lifecycle(run: Run) -> None:
    """Store the resolved times of turns as an attribute of their units; add tables for re-embedding and forgetting.

    `vectors_next` has the new vectors while a store changes its embedder. `forgetting` lists deleted units while their
    texts may still be in some file.
    """
    run("CREATE TABLE vectors_next (unit VARCHAR, text_vector BLOB, context_vector BLOB)")
    run("CREATE TABLE forgetting (unit VARCHAR)")
    _annotate(run)


def m003_keys(run: Run) -> None:
    """Add numeric keys of ids and places (see `keys`) to units and their sources, for fast lookups."""
    for table, column, value in (
        ("units", "id_key", SQL_KEY.format("id")),
        ("units", "place_key", SQL_PLACE_KEY.format("conversation")),
        ("unit_sources", "unit_key", SQL_KEY.format("unit")),
    ):
        run(f"ALTER TABLE {table} ADD COLUMN {column} UINTEGER")
        run(f"UPDATE {table} SET {column} = {value}")


def m004_ledger(run: Run) -> None:
    """Add the ledger: the parts of conversations that a backbone has processed, with their turns and units.

    `ledger.part_id` makes a part's id from backbone, conversation and name.
    """
    run("CREATE TABLE parts (id VARCHAR, backbone VARCHAR, conversation VARCHAR, name VARCHAR, problem VARCHAR)")
    run("CREATE TABLE part_turns (part VARCHAR, place INTEGER, turn VARCHAR)")
    run("CREATE TABLE part_units (part VARCHAR, place INTEGER, unit VARCHAR)")


def m005_follows(run: Run) -> None:
    """Store from which part a part follows, instead of the turns of all earlier parts.

    An existing part keeps only the turns that the longest part which it continues does not have.
    """
    run("ALTER TABLE parts ADD COLUMN follows VARCHAR")
    rows = run(
        """SELECT backbone, conversation, name, id, list(turn ORDER BY place) FROM parts JOIN part_turns ON part = id
        GROUP BY ALL ORDER BY backbone, conversation, len(list(turn))"""
    )
    shorter: dict[tuple[str, str], list[tuple[str, Sequence[str]]]] = {}
    for backbone, conversation, name, id_, turns in rows:
        parts = shorter.setdefault((backbone, conversation), [])
        before = next(((other, own) for other, own in reversed(parts) if turns[: len(own)] == own), None)
        if before is not None:
            other, own = before
            run("UPDATE parts SET follows = ? WHERE id = ?", [other, id_])
            run("DELETE FROM part_turns WHERE part = ? AND place < ?", [id_, len(own)])
            run("UPDATE part_turns SET place = place - ? WHERE part = ?", [len(own), id_])
        parts.append((name, turns))


def m006_times_read_again(run: Run) -> None:
    """Resolve relative times again, with better rules for habits, spans, ages and holidays."""
    _annotate(run)


def m007_files(run: Run) -> None:
    """Store the file from which a conversation was last read; it is unknown for older conversations."""
    run("ALTER TABLE conversations ADD COLUMN file VARCHAR")


def m008_attributes_of_turns(run: Run) -> None:
    """Store the attributes of turns as JSON; NULL means none."""
    run("ALTER TABLE turns ADD COLUMN attributes VARCHAR")


def m009_times_read_by_what_stands_around(run: Run) -> None:
    """Resolve relative times again, with the tense, a year or span beside them, and the turn before."""
    _annotate(run)


def m010_languages(run: Run) -> None:
    """Add each conversation's language, found from its turns, and whether the user told it; NULL means unknown."""
    from goalmem_cli.store.database.languages import found_languages

    run("ALTER TABLE conversations ADD COLUMN language VARCHAR")
    run("ALTER TABLE conversations ADD COLUMN is_language_told BOOLEAN")
    found = {name: language for name, language in found_languages(run).items() if language}
    run(
        """UPDATE conversations SET language = told.language, is_language_told = false
        FROM (SELECT unnest(?::VARCHAR[]) AS name, unnest(?::VARCHAR[]) AS language) AS told
        WHERE conversations.name = told.name""",
        [[*found], [*found.values()]],
    )


def m011_times_read_by_language(run: Run) -> None:
    """Resolve relative times again, by the conversation's language, and with "should have done" as past."""
    rows = run("SELECT name, language FROM conversations")
    _annotate(run, {name: None if language in (None, "", ENGLISH) else language for name, language in rows})


def _annotate(run: Run, languages: Mapping[str, str | None] | None = None) -> None:
    """Update the resolved times of the turns' units to the rules of this version; `languages` are conversations'."""
    languages = languages or {name: None for (name,) in run("SELECT name FROM conversations")}
    if not languages:  # as in a new store
        return
    run("CREATE TEMP TABLE annotated (unit VARCHAR, attributes VARCHAR)")
    for conversation, language in languages.items():
        rows = run(
            """SELECT id, session, ordinal, text, said, attributes, kind FROM units
            WHERE conversation = ? AND backbone = ?""",
            [conversation, FLAT],
        )
        parts = {unit: _part(kind, attributes) for unit, _, _, _, _, attributes, kind in rows}
        texts = {(session, ordinal, parts[unit]): text for unit, session, ordinal, text, *_ in rows}
        found = {
            unit: (
                _reannotated(text, said, attributes, _before(texts, session, ordinal, parts[unit]), language),
                attributes,
            )
            for unit, session, ordinal, text, said, attributes, _ in rows
        }
        changed = {unit: now for unit, (now, before) in found.items() if now != before}
        run(
            "INSERT INTO annotated SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[])", [[*changed], [*changed.values()]]
        )
    run("UPDATE units SET attributes = annotated.attributes FROM annotated WHERE id = unit")
    run("DROP TABLE annotated")


def _part(kind: str, attributes: str) -> int:
    """Return a passage's place in its turn; 0 means a whole turn, whatever its attributes are."""
    return int(json.loads(attributes).get("part", 0)) if kind == "passage" else 0


def _before(texts: Mapping[tuple[int, int, int], str], session: int, ordinal: int, part: int) -> str | None:
    """Return the text right before a turn, or before a part of one."""
    return texts.get((session, ordinal, part - 1)) if part > 1 else texts.get((session, ordinal - 1, 0))


def _reannotated(text: str, said: str | None, attributes: str, before: str | None, language: str | None) -> str:
    others = {name: value for name, value in json.loads(attributes).items() if name != TIMES}
    times = time_attributes(text, None if said is None else datetime.fromisoformat(said), before, language)
    return json.dumps(others | times, sort_keys=True)


MIGRATIONS: tuple[tuple[str, Callable[[Run], None]], ...] = (
    ("m001_initial", m001_initial),
    ("m002_times_and_lifecycle", m002_times_and_lifecycle),
    ("m003_keys", m003_keys),
    ("m004_ledger", m004_ledger),
    ("m005_follows", m005_follows),
    ("m006_times_read_again", m006_times_read_again),
    ("m007_files", m007_files),
    ("m008_attributes_of_turns", m008_attributes_of_turns),
    ("m009_times_read_by_what_stands_around", m009_times_read_by_what_stands_around),
    ("m010_languages", m010_languages),
    ("m011_times_read_by_language", m011_times_read_by_language),
)


def pending_migrations(run: Run) -> list[str]:
    """Return the names of the steps that were not applied to this database yet.

    Raises:
        StoreNewer: steps were applied that this goalmem does not know.
        StoreDamaged: the file holds tables, but not goalmem's.
    """
    tables = {str(name) for (name,) in run("SELECT table_name FROM duckdb_tables()")}
    if "migrations" not in tables:
        if tables:
            raise StoreDamaged("memory.duckdb is not a goalmem database", "use another folder with --store")
        return [name for name, _ in MIGRATIONS]
    done = {str(name) for (name,) in run("SELECT name FROM migrations")}
    unknown = sorted(done - {name for name, _ in MIGRATIONS})
    if unknown:
        raise StoreNewer(
            f"the store was written by a newer goalmem (it has {', '.join(unknown)})",
            "update goalmem: pip install -U goalmem",
        )
    return [name for name, _ in MIGRATIONS if name not in done]


def migrate(run: Run) -> None:
    """Apply the pending steps in order and record them; the caller holds a transaction."""
    pending = set(pending_migrations(run))
    run("CREATE TABLE IF NOT EXISTS migrations (name VARCHAR)")
    for name, step in MIGRATIONS:
        if name in pending:
            step(run)
            run(f"INSERT INTO migrations VALUES ('{name}')")

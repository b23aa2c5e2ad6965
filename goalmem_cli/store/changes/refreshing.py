"""Read stored turns again: their times by the rules of this version, or all by another language."""

from __future__ import annotations

from goalmem_cli.errors import StoreError
from goalmem_cli.store.changes.forgetting import catch_up
from goalmem_cli.store.changes.parts import Parts
from goalmem_cli.store.changes.writing import renew_all_of, renew_units
from goalmem_cli.store.database import languages
from goalmem_cli.store.indexes import consistency


def refresh(parts: Parts) -> int:
    """Write the units again whose times this version parses differently, and return how many there were.

    The generation increases, so that caches are refreshed; the indexes have nothing to replay.

    Raises:
        StoreError: the store cannot be used.
    """
    parts.require()
    with parts.database.writing() as connection:
        count = renew_units(connection)
        if count:
            with connection.transaction():
                consistency.prune_outbox(connection, (parts.text, parts.vectors))
                consistency.record_change(connection, [])
    catch_up(parts)
    return count


def no_conversation(name: str) -> StoreError:
    """Return the error for a conversation that is not stored."""
    return StoreError(f"there is no conversation {name!r}", "`goalmem stores show` lists them")


def tell_language(parts: Parts, name: str, language: str | None) -> str:
    """Store the language, or with None find it from the turns, read words and times again by it, and return it.

    Raises:
        StoreError: there is no such conversation, or the store cannot be used.
    """
    parts.require()
    with parts.database.writing() as connection, connection.transaction():
        before = languages.load_languages(connection, [name]).get(name)
        if before is None:
            raise no_conversation(name)
        languages.write_languages(connection, {name: before[0] or None}, is_told=False)
        changed = languages.renew_languages(connection, [name], {} if language is None else {name: language})
        now = languages.load_languages(connection, [name])[name]
        if changed or now != before:
            consistency.prune_outbox(connection, (parts.text, parts.vectors))
            renew_all_of(connection, changed)
            consistency.record_change(connection, languages.units_in(connection, changed) if changed else ())
    catch_up(parts)
    return now[0]

"""The languages of conversations: found from a sample of their turns, unless the user told them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from goalmem_cli.records import Turn
from goalmem_cli.store.database.access import Connection

_SPREAD = 2_654_435_761  # a prime, by which the sample spreads over a conversation, and is the same each time
Run = Callable[..., Sequence[tuple[Any, ...]]]


def found_languages(run: Run, names: Collection[str] | None = None) -> dict[str, str | None]:
    """Return name -> language, None if unknown, of the conversations (None: all) whose language nobody told."""
    from goalmem_cli.languages.finding import SAMPLE_CHARACTERS, SAMPLE_TURNS, language_of  # only writing needs it

    where = "" if names is None else "AND name IN (SELECT unnest(?::VARCHAR[]))"
    rows = run(
        f"""SELECT conversation, string_agg(said, ' ' ORDER BY ordinal) FROM (
            SELECT conversation, ordinal, left(text, {SAMPLE_CHARACTERS}) AS said FROM turns
            WHERE conversation IN (SELECT name FROM conversations WHERE NOT coalesce(is_language_told, false) {where})
            QUALIFY row_number() OVER (
                PARTITION BY conversation ORDER BY (ordinal::BIGINT * {_SPREAD}) % 4294967296, id) <= {SAMPLE_TURNS}
        ) GROUP BY conversation""",
        *([] if names is None else [[list(names)]]),
    )
    return {str(name): language_of(str(sample or "")) or None for name, sample in rows}


def language_among(turns: Iterable[Turn]) -> str:
    """Return the language of a conversation's turns, as `found_languages` finds it in the database; "" if unknown."""
    from goalmem_cli.languages.finding import SAMPLE_CHARACTERS, SAMPLE_TURNS, language_of

    spread = sorted(turns, key=lambda turn: (turn.ordinal * _SPREAD % 2**32, turn.id))[:SAMPLE_TURNS]
    spread.sort(key=lambda turn: turn.ordinal)
    return language_of(" ".join(turn.text[:SAMPLE_CHARACTERS] for turn in spread))


def load_languages(connection: Connection, names: Collection[str]) -> dict[str, tuple[str, bool]]:
    """Return name -> language ("" if unknown), and whether the user told it, of these conversations."""
    rows = connection.rows(
        """SELECT name, coalesce(language, ''), coalesce(is_language_told, false) FROM conversations
        WHERE name IN (SELECT unnest(?::VARCHAR[]))""",
        [list(names)],
    )
    return {str(name): (str(language), bool(is_told)) for name, language, is_told in rows}


def told_languages(connection: Connection) -> dict[str, str]:
    """Return name -> language, of the conversations whose language the user told."""
    rows = connection.rows("SELECT name, language FROM conversations WHERE is_language_told")
    return {str(name): str(language or "") for name, language in rows}


def other_languages(connection: Connection) -> dict[str, str]:
    """Return name -> language, of the conversations in another language than English."""
    rows = connection.rows("SELECT name, language FROM conversations WHERE language <> 'en' AND language <> ''")
    return {str(name): str(language) for name, language in rows}


def write_languages(connection: Connection, found: Mapping[str, str | None], *, is_told: bool) -> None:
    """Store the conversations' languages, and whether the user told them."""
    connection.rows(
        """UPDATE conversations SET language = told.language,
            is_language_told = CASE WHEN told.language IS NULL THEN NULL ELSE ? END
        FROM (SELECT unnest(?::VARCHAR[]) AS name, unnest(?::VARCHAR[]) AS language) AS told
        WHERE conversations.name = told.name""",
        [is_told, list(found), list(found.values())],
    )


def renew_languages(connection: Connection, names: Collection[str], told: Mapping[str, str]) -> list[str]:
    """Store the languages that were told, find the others again, and return the conversations whose words changed.

    The caller holds the transaction. The units of a changed conversation have to be indexed again.
    """
    before = load_languages(connection, [*names])
    if told:
        write_languages(connection, told, is_told=True)
    found = found_languages(connection.rows, [name for name in names if name not in told])
    fresh = {name: language for name, language in found.items() if (language or "") != before.get(name, ("",))[0]}
    if fresh:
        write_languages(connection, fresh, is_told=False)
    after = {**fresh, **told}
    return [name for name, language in after.items() if (language or "") != before.get(name, ("",))[0]]


def units_in(connection: Connection, names: Collection[str]) -> list[str]:
    """Return the ids of the conversations' units that are indexed."""
    rows = connection.rows(
        """SELECT units.id FROM units SEMI JOIN vectors ON unit = units.id
        WHERE conversation IN (SELECT unnest(?::VARCHAR[])) ORDER BY ALL""",
        [list(names)],
    )
    return [str(unit) for (unit,) in rows]

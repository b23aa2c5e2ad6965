"""The SQL statements on the ledger: the parts of conversations that a backbone has processed, with their units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goalmem_cli.records import Derived, content_hash
from goalmem_cli.store.database import unit_rows
from goalmem_cli.store.database.access import Connection

_IDS = "(SELECT unnest($parts::VARCHAR[]))"


def part_id(backbone: str, conversation: str, name: str) -> str:
    """Return the id of a part in the tables."""
    return content_hash("part", backbone, conversation, name)


def id_of(line: Derived) -> str:
    """Return the id of the line's part."""
    return part_id(line.backbone, line.conversation, line.name)


def load_ledger(
    connection: Connection,
    backbone: str | None = None,
    conversations: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
) -> list[Derived]:
    """Return the lines of a backbone, of conversations or of parts (None: all), sorted by conversation and name."""
    if ids is not None and not ids:
        return []
    conditions = ["true"]
    parameters: list[object] = []
    if backbone is not None:
        conditions.append("backbone = ?")
        parameters.append(backbone)
    for column, values in (("conversation", conversations), ("id", ids)):
        if values is not None:
            conditions.append(f"{column} IN (SELECT unnest(?::VARCHAR[]))")
            parameters.append(list(values))
    rows = connection.rows(
        f"""WITH wanted AS (SELECT * FROM parts WHERE {" AND ".join(conditions)})
        SELECT backbone, conversation, name, problem, follows,
            (SELECT list(turn ORDER BY place) FROM part_turns WHERE part = id),
            (SELECT list(unit ORDER BY place) FROM part_units WHERE part = id)
        FROM wanted ORDER BY backbone, conversation, name""",
        parameters,
    )
    return [
        Derived(backbone_, conversation, name, tuple(turns or ()), tuple(units or ()), problem, follows)
        for backbone_, conversation, name, problem, follows, turns, units in rows
    ]


def has_parts(connection: Connection, backbone: str) -> bool:
    """Return whether the backbone has processed any stored turns."""
    return bool(connection.value("SELECT count(*) FROM parts WHERE backbone = ?", [backbone]))


def conversations_with_parts(connection: Connection) -> list[str]:
    """Return the conversations that have lines in the ledger, in order."""
    return [str(name) for (name,) in connection.rows("SELECT DISTINCT conversation FROM parts ORDER BY ALL")]


def replace_parts(connection: Connection, lines: Sequence[Derived]) -> None:
    """Write the lines; each replaces an earlier one of the same part."""
    delete_parts(connection, [id_of(line) for line in lines])
    connection.insert("parts", {
        "id": ("VARCHAR", [id_of(line) for line in lines]),
        "backbone": ("VARCHAR", [line.backbone for line in lines]),
        "conversation": ("VARCHAR", [line.conversation for line in lines]),
        "name": ("VARCHAR", [line.name for line in lines]),
        "problem": ("VARCHAR", [line.problem for line in lines]),
        "follows": ("VARCHAR", [line.follows for line in lines]),
    })  # fmt: skip
    for table, column, of_each in (
        ("part_turns", "turn", [(id_of(line), line.turns) for line in lines]),
        ("part_units", "unit", [(id_of(line), line.units) for line in lines]),
    ):
        rows = [(part, place, value) for part, values in of_each for place, value in enumerate(values)]
        connection.insert(table, {
            "part": ("VARCHAR", [part for part, _, _ in rows]),
            "place": ("INTEGER", [place for _, place, _ in rows]),
            column: ("VARCHAR", [value for _, _, value in rows]),
        })  # fmt: skip


def delete_parts(connection: Connection, ids: Sequence[str]) -> None:
    """Delete the lines of these parts; their units stay."""
    for table, column in (("parts", "id"), ("part_turns", "part"), ("part_units", "part")):
        connection.delete(table, column, ids)


def leaving_with(connection: Connection, turns: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the units and the parts to delete with these turns.

    A part is deleted as a whole if it has one of the turns or a unit from one of them, since the model that wrote its
    other units had read the turn too. Parts that follow from a deleted part are deleted too. A unit that several parts
    share is deleted with any of them, as nobody knows which part contributed what; the next indexing derives it again.
    """
    if not turns:
        return [], []
    units = unit_rows.units_from(connection, turns)
    parts = connection.rows(
        """SELECT part FROM part_turns WHERE turn IN (SELECT unnest($turns::VARCHAR[]))
        UNION SELECT part FROM part_units WHERE unit IN (SELECT unnest($units::VARCHAR[])) ORDER BY ALL""",
        {"turns": list(turns), "units": units},
    )
    ids = with_followers(connection, [str(part) for (part,) in parts])
    return sorted({*units, *units_of_parts(connection, ids)}), ids


def with_followers(connection: Connection, ids: Sequence[str]) -> list[str]:
    """Return these parts and all that follow from them, directly or indirectly, in order."""
    later: dict[str, list[str]] = {}
    for before, after in _follows(connection, ids):
        later.setdefault(before, []).append(after)
    return _reached(ids, later)


def _with_leaders(connection: Connection, ids: Sequence[str]) -> list[str]:
    """Return these parts and all from which they follow."""
    return _reached(ids, {after: [before] for before, after in _follows(connection, ids)})


def _follows(connection: Connection, ids: Sequence[str]) -> list[tuple[str, str]]:
    """Return which part follows from which, in the backbones and conversations of these parts."""
    if not ids:
        return []
    rows = connection.rows(
        f"""WITH near AS (SELECT * FROM parts WHERE (backbone, conversation) IN
            (SELECT (backbone, conversation) FROM parts WHERE id IN {_IDS}))
        SELECT lead.id, later.id FROM near later JOIN near lead ON
            (lead.backbone, lead.conversation, lead.name) = (later.backbone, later.conversation, later.follows)""",
        {"parts": list(ids)},
    )
    return [(str(before), str(later)) for before, later in rows]


def _reached(ids: Sequence[str], onward: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the ids, and all ids that can be reached from them by `onward`, sorted."""
    reached = set(ids)
    waiting = list(ids)
    while waiting:
        new = [each for each in onward.get(waiting.pop(), ()) if each not in reached]
        reached.update(new)
        waiting += new
    return sorted(reached)


def units_of_parts(connection: Connection, ids: Sequence[str]) -> list[str]:
    """Return the units that were derived from these parts, alone or with others, in order.

    That includes shared units of the parts from which these follow, as their content was read too.
    """
    if not ids:
        return []
    rows = connection.rows(
        f"""WITH own AS (SELECT unit FROM part_units WHERE part IN {_IDS}),
        read AS (SELECT turn FROM part_turns WHERE part IN (SELECT unnest($read::VARCHAR[]))
            UNION SELECT turn FROM unit_sources WHERE unit IN (SELECT unit FROM own))
        SELECT unit FROM own UNION SELECT id FROM units
        WHERE backbone IN (SELECT backbone FROM parts WHERE id IN {_IDS})
            AND id NOT IN (SELECT unit FROM part_units)
            AND id IN (SELECT unit FROM unit_sources WHERE turn IN (SELECT turn FROM read)) ORDER BY ALL""",
        {"parts": list(ids), "read": _with_leaders(connection, ids)},
    )
    return [str(unit) for (unit,) in rows]


def own_units(connection: Connection, ids: Sequence[str]) -> list[str]:
    """Return the units that were derived from these parts alone."""
    if not ids:
        return []
    rows = connection.rows(f"SELECT unit FROM part_units WHERE part IN {_IDS}", {"parts": list(ids)})
    return [str(unit) for (unit,) in rows]

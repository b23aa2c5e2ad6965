"""The statements over the ledger: which parts of conversations a backbone has derived from, and what each gave."""

from __future__ import annotations

from collections.abc import Sequence

from goalmem_cli.records import Derived, content_hash
from goalmem_cli.store import unit_rows
from goalmem_cli.store.database import Connection

_IDS = "(SELECT unnest($parts::VARCHAR[]))"


def part_id(backbone: str, conversation: str, name: str) -> str:
    """Return what the rows of a part are known by."""
    return content_hash("part", backbone, conversation, name)


def id_of(line: Derived) -> str:
    """Return the id of the part that the line is about."""
    return part_id(line.backbone, line.conversation, line.name)


def load_ledger(
    connection: Connection,
    backbone: str | None = None,
    conversations: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
) -> list[Derived]:
    """Return the lines of a backbone, of conversations or of parts, or all of them, by conversation and name."""
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
        SELECT backbone, conversation, name, problem,
            (SELECT list(turn ORDER BY place) FROM part_turns WHERE part = id),
            (SELECT list(unit ORDER BY place) FROM part_units WHERE part = id)
        FROM wanted ORDER BY backbone, conversation, name""",
        parameters,
    )
    return [
        Derived(backbone_, conversation, name, tuple(turns or ()), tuple(units or ()), problem)
        for backbone_, conversation, name, problem, turns, units in rows
    ]


def has_parts(connection: Connection, backbone: str) -> bool:
    """Return whether the backbone has derived from anything that is stored."""
    return bool(connection.value("SELECT count(*) FROM parts WHERE backbone = ?", [backbone]))


def conversations_with_parts(connection: Connection) -> list[str]:
    """Return the conversations that have lines in the ledger, in order."""
    return [str(name) for (name,) in connection.rows("SELECT DISTINCT conversation FROM parts ORDER BY ALL")]


def replace_parts(connection: Connection, lines: Sequence[Derived]) -> None:
    """Write the lines, each in place of an earlier one about the same part."""
    delete_parts(connection, [id_of(line) for line in lines])
    connection.insert("parts", {
        "id": ("VARCHAR", [id_of(line) for line in lines]),
        "backbone": ("VARCHAR", [line.backbone for line in lines]),
        "conversation": ("VARCHAR", [line.conversation for line in lines]),
        "name": ("VARCHAR", [line.name for line in lines]),
        "problem": ("VARCHAR", [line.problem for line in lines]),
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
    """Delete the lines about these parts; what the parts gave stays."""
    for table, column in (("parts", "id"), ("part_turns", "part"), ("part_units", "part")):
        connection.delete(table, column, ids)


def leaving_with(connection: Connection, turns: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the units and the parts that leave with these turns.

    A part that has one of the turns leaves as a whole, and so does one that gave a unit from one of them: the model
    that wrote its other units had read the turn too. What several parts contributed to leaves with any of them: it
    stays for nobody to say which of them gave what of it, until the next indexing derives it again.
    """
    if not turns:
        return [], []
    units = unit_rows.units_from(connection, turns)
    parts = connection.rows(
        """SELECT part FROM part_turns WHERE turn IN (SELECT unnest($turns::VARCHAR[]))
        UNION SELECT part FROM part_units WHERE unit IN (SELECT unnest($units::VARCHAR[])) ORDER BY ALL""",
        {"turns": list(turns), "units": units},
    )
    ids = [str(part) for (part,) in parts]
    return sorted({*units, *units_of_parts(connection, ids)}), ids


def units_of_parts(connection: Connection, ids: Sequence[str]) -> list[str]:
    """Return the units that these parts gave or contributed to, in order."""
    if not ids:
        return []
    rows = connection.rows(
        f"""WITH own AS (SELECT unit FROM part_units WHERE part IN {_IDS}),
        read AS (SELECT turn FROM part_turns WHERE part IN {_IDS}
            UNION SELECT turn FROM unit_sources WHERE unit IN (SELECT unit FROM own))
        SELECT unit FROM own UNION SELECT id FROM units
        WHERE backbone IN (SELECT backbone FROM parts WHERE id IN {_IDS})
            AND id NOT IN (SELECT unit FROM part_units)
            AND id IN (SELECT unit FROM unit_sources WHERE turn IN (SELECT turn FROM read)) ORDER BY ALL""",
        {"parts": list(ids)},
    )
    return [str(unit) for (unit,) in rows]


def own_units(connection: Connection, ids: Sequence[str]) -> list[str]:
    """Return the units that these parts gave."""
    rows = connection.rows(f"SELECT unit FROM part_units WHERE part IN {_IDS}", {"parts": list(ids)})
    return [str(unit) for (unit,) in rows]

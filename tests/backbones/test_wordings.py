"""How often a change told in any words is known without a model: 87 changes, and 42 turns that change nothing.

No rule was fitted to them. Rules that were fitted to the first 67 changes, to see what that brings, knew 60 of these,
but of the last 20 only 8; the rules here know 6.
"""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import goalmem_cli
from goalmem_cli.records import Conversation, Turn

SAID = json.loads(Path(__file__).with_name("wordings.json").read_text("utf-8"))
"""`changes` and `keeps`: the earlier text, the later one, a question, and a part of the text that holds."""
LEAST_KNOWN, MOST_MARKED = 22, 5


def talk(name: str, earlier: str, later: str) -> Conversation:
    """Return a chat in which Ana says the two texts, four months apart."""
    told = (
        ("Ana", earlier, 0), ("Ben", "Good to know, thanks.", 0), ("Ana", "Anyone for a walk on Sunday?", 30),
        ("Ben", "I burnt the soup again.", 30), ("Ana", later, 120), ("Ben", "Thanks for the photos.", 120),
    )  # fmt: skip
    first = datetime(2026, 2, 1, 10, tzinfo=UTC)
    turns = [
        Turn(name, days // 30, place, speaker, text, first + timedelta(days=days, minutes=place))
        for place, (speaker, text, days) in enumerate(told)
    ]
    return Conversation(name, "test", tuple(turns))


def test_changes_in_other_words(tmp_path: Path) -> None:
    """A change is known if the first hit that no later one replaces has the new value; what stays must have no mark."""
    with goalmem_cli.open(tmp_path / "store") as memory:
        named = {kind: [(f"{kind}{n}", *row) for n, row in enumerate(rows)] for kind, rows in SAID.items()}
        memory.kept.add_all([talk(*row[:3]) for rows in named.values() for row in rows])
        found = {
            kind: [(row, memory.search(row[3], conversations=[row[0]])) for row in rows] for kind, rows in named.items()
        }
    holding = [next(hit.unit.text for hit in hits if hit.moved_on is None) for _, hits in found["changes"]]
    known = sum(row[4] in text for (row, _), text in zip(found["changes"], holding, strict=True))
    marked = sum(hit.moved_on is not None and hit.unit.text == row[1] for row, hits in found["keeps"] for hit in hits)
    print(f"known: {known} of {len(holding)}; marked wrongly: {marked} of {len(found['keeps'])}")  # noqa: T201
    assert known >= LEAST_KNOWN
    assert marked <= MOST_MARKED

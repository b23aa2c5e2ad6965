"""`goalmem ingest` on files whose conversations say in part the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest

from tests.cli.conftest import Goalmem

GREETING = ["Hi", "Hello!"]
ALIKE = [GREETING, [*GREETING, "Plan Rome", "Sure: Rome."], [*GREETING, "Fix tax", "Sure: tax."]]


def openai(conversations: list[list[str]]) -> str:
    roles = ("user", "assistant")
    return json.dumps(
        [
            {"messages": [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]}
            for texts in conversations
        ]
    )


def sharegpt(conversations: list[list[str]]) -> str:
    names = ("human", "gpt")
    return json.dumps(
        [
            {"conversations": [{"from": names[place % 2], "value": text} for place, text in enumerate(texts)]}
            for texts in conversations
        ]
    )


def stored(goalmem: Goalmem) -> list[list[str]]:
    """Return the texts of each stored conversation."""
    rows = [json.loads(line) for line in goalmem("stores", "export").out.splitlines()]
    found: list[list[str]] = []
    for row in rows:
        if "conversation" in row:
            found.append([])
        elif "turn" in row:
            found[-1].append(row["turn"]["text"])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("write", [openai, sharegpt])
@pytest.mark.parametrize("order", [*permutations(range(3)), (0, 0, 1), (1, 0, 0, 2)])
def test_conversations_of_one_file_are_never_one(
    goalmem: Goalmem, tmp_path: Path, write: Callable[[list[list[str]]], str], order: tuple[int, ...]
) -> None:
    """Each is kept as it is, a preview says so, and reading the file again changes nothing."""
    said = [ALIKE[place] for place in order]
    file = tmp_path / "a.json"
    file.write_text(write(said))
    preview = json.loads(goalmem("ingest", "--dry-run", "--json", str(file)).out)
    assert json.loads(goalmem("ingest", "--json", str(file)).out) == preview
    assert preview["files"][0]["new_turns"] == sum(map(len, said))
    assert sorted(stored(goalmem)) == sorted(said)
    again = json.loads(goalmem("ingest", "--json", str(file)).out)
    assert again["files"][0]["new_turns"] == 0
    assert sorted(stored(goalmem)) == sorted(said)


def test_many_conversations_that_begin_alike_find_themselves_again(goalmem: Goalmem, tmp_path: Path) -> None:
    """The tenth is not taken for the third because of how their numbers sort."""
    said = [["x", str(place)] for place in range(9)] + [[*GREETING, "Plan Rome"]]
    said[2] = GREETING
    file = tmp_path / "a.json"
    for _ in range(2):
        file.write_text(openai(said))
        assert goalmem("ingest", str(file)).code == 0
        assert sorted(stored(goalmem)) == sorted(said)
    said[9] = [*said[9], "Sure: Rome."]
    file.write_text(openai(said))
    assert json.loads(goalmem("ingest", "--json", str(file)).out)["files"][0]["new_turns"] == 1
    assert sorted(stored(goalmem)) == sorted(said)

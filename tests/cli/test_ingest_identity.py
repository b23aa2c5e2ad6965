"""`goalmem ingest` on files whose conversations say in part the same."""

import json
import shutil
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest

from tests.invoking import Goalmem, Outcome

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


def stored(goalmem: Goalmem, *words: str) -> list[list[str]]:
    """Return the texts of each stored conversation."""
    rows = [json.loads(line) for line in goalmem("stores", "export", *words).out.splitlines()]
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


LONG = [
    f"Turn {number} is about the {number * 7} boats in the harbour of Oban, " + "and so on, " * 10
    for number in range(9)
]


def ingested(goalmem: Goalmem, *words: str) -> Outcome:
    """Return what ingesting did, after a dry run that has to say the same."""
    preview = json.loads(goalmem("ingest", "--dry-run", "--json", *words).out)
    outcome = goalmem("ingest", "--json", *words)
    assert json.loads(outcome.out) == preview
    return outcome


def test_turns_whose_day_could_not_be_read_before_are_stored_once(goalmem: Goalmem, tmp_path: Path) -> None:
    """As when a newer goalmem reads a day from a note that an older one stored without."""
    note = tmp_path / "note.md"
    said = "".join(f"**{who}:** Line {place}.\n\n" for place, who in enumerate(("Ana", "Ben") * 3))
    for front in ("", "---\ncreated: 2024-03-05\n---\n", "---\ncreated: 2024-03-05\n---\n"):
        note.write_text(front + said, "utf-8")
        outcome = goalmem("ingest", str(note))
    assert "nothing new" in outcome.out
    assert len(stored(goalmem)) == 1
    assert "2024-03-05" in goalmem("stores", "export").out


def test_files_that_begin_alike_are_kept_apart(goalmem: Goalmem, tmp_path: Path) -> None:
    """One being the beginning of another tells nothing, whichever is read first, and that both are kept is said."""
    folder = tmp_path / "files"
    folder.mkdir()
    for place, texts in enumerate(ALIKE):
        (folder / f"{place}.json").write_text(openai([texts]))
    for order in ((0, 1, 2), (2, 0, 1)):
        shutil.rmtree(tmp_path / "store", ignore_errors=True)
        outcome = ingested(goalmem, *(str(folder / f"{place}.json") for place in order))
        assert sorted(stored(goalmem)) == sorted(ALIKE)
        assert "kept as new" in outcome.err
    assert "kept as new" not in ingested(goalmem, str(folder)).err
    assert sorted(stored(goalmem)) == sorted(ALIKE)


@pytest.mark.parametrize(
    ("texts", "is_known"), [(GREETING, False), (LONG, True), (LONG[:6], False), (["Hm."] * 9, False)]
)
def test_a_file_that_grew_goes_on_and_one_that_moved_only_if_it_says_enough(
    goalmem: Goalmem, tmp_path: Path, texts: list[str], is_known: bool
) -> None:
    """Its path tells what a file is; else eight turns with 200 words that no third conversation has."""
    file, moved = tmp_path / "a.json", tmp_path / "b.json"
    file.write_text(openai([texts]))
    ingested(goalmem, str(file))
    file.write_text(openai([[*texts, "More."]]))
    assert json.loads(ingested(goalmem, str(file)).out)["files"][0]["new_turns"] == 1
    moved.write_text(openai([[*texts, "More.", "Still more."]]))
    outcome = ingested(goalmem, str(moved))
    assert json.loads(outcome.out)["files"][0]["new_turns"] == (1 if is_known else len(texts) + 2)
    assert len(stored(goalmem)) == (1 if is_known else 2)
    assert ("kept as new" in outcome.err) is not is_known


def test_what_a_third_conversation_says_too_proves_nothing(goalmem: Goalmem, tmp_path: Path) -> None:
    """A long opening that two stored files share makes a file that has it alone the continuation of neither."""
    for name, last in (("a", "One."), ("b", "Two.")):
        (tmp_path / f"{name}.json").write_text(openai([[*LONG, last]]))
        ingested(goalmem, str(tmp_path / f"{name}.json"))
    (tmp_path / "copy.json").write_text(openai([LONG]))
    assert len(stored(goalmem)) == 2
    ingested(goalmem, str(tmp_path / "copy.json"))
    assert len(stored(goalmem)) == 3


def test_two_exports_of_one_chat_in_a_folder_are_previewed_as_they_are_stored(goalmem: Goalmem, tmp_path: Path) -> None:
    """What an earlier file of the same command would have stored counts."""
    (tmp_path / "a.json").write_text(openai([LONG]))
    (tmp_path / "b.json").write_text(openai([[*LONG, "More."]]))
    outcome = ingested(goalmem, str(tmp_path / "a.json"), str(tmp_path / "b.json"))
    assert [file["new_turns"] for file in json.loads(outcome.out)["files"]] == [len(LONG), 1]


def test_standard_input_goes_on_with_what_is_named(goalmem: Goalmem) -> None:
    """Without a name it is another conversation each time; with one, new turns stand behind those stored."""

    def piped(texts: list[str], *words: str) -> Outcome:
        return goalmem("ingest", "-", *words, stdin=openai([texts]).encode())

    for _ in range(2):
        piped(GREETING, "--conversation", "talk")
    assert stored(goalmem) == [GREETING]
    piped([*GREETING, "Plan Rome"], "--conversation", "talk")
    piped(["Fix tax", "Sure."], "--conversation", "talk")
    assert stored(goalmem) == [[*GREETING, "Plan Rome", "Fix tax", "Sure."]]
    assert "kept as new" in piped(GREETING).err
    assert len(stored(goalmem)) == 2
    two = goalmem("ingest", "-", "--conversation", "talk", stdin=openai([GREETING, LONG]).encode())
    assert (two.code, "several conversations" in two.err) == (5, True)
    assert goalmem("ingest", ".", "--conversation", "talk").code == 2

"""`goalmem ingest` and `stores join` on windows of one chat, and on logs that copy from one another."""

import json
import os
import re
import shlex
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import permutations
from pathlib import Path

import pytest

from goalmem_cli.milvus.embedded import close_embedded
from goalmem_cli.transcripts.reading import drafts
from tests.cli.test_ingest_identity import ingested, stored
from tests.invoking import Goalmem, scripted
from tests.reasoners.scripting import claims, plan, proved

BEGUN = datetime(2022, 5, 17, 7, 0, 5)
SAID = [f"Note {number} of the boat shed." for number in range(12)]


def write_window(file: Path, first: int, end: int) -> Path:
    """Write messages as imessage-exporter does, three a day."""
    file.parent.mkdir(exist_ok=True, parents=True)
    times = [BEGUN + timedelta(days=place // 3, hours=place % 3) for place in range(len(SAID))]
    file.write_text("".join(
        f"{times[place]:%b %d, %Y  %-I:%M:%S %p}\n{('Me', 'Ana')[place % 2]}\n{SAID[place]}\n\n"
        for place in range(first, end)
    ))  # fmt: skip
    return file


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_windows_are_joined_though_one_speaker_was_forgotten(
    either: Goalmem, tmp_path: Path, order: tuple[int, int]
) -> None:
    """A dry run says so too; what was forgotten stays so, and reading both again changes nothing."""
    words = " ".join(f"word{number}" for number in range(25))
    files = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for file, span in zip(files, (range(22), range(12, 33)), strict=True):
        said = [
            f"{BEGUN + timedelta(hours=at):%Y-%m-%d %H:%M:%S},{('Ana', 'Ben')[at % 2]},{words} {at}\n" for at in span
        ]
        file.write_text("".join(("Date,User,Message\n", *said)), "utf-8")
    one, two = (str(files[place]) for place in order)
    assert either("ingest", one).code == 0
    assert either("forget", "--speaker", "Ana", "--yes").code == 0
    assert "joined with" in either("ingest", "--dry-run", two).err
    assert "joined with" in either("ingest", two).err
    new = range(22, 33) if order == (0, 1) else range(12)
    for _ in range(2):
        (told,) = stored(either)
        assert [int(text.split()[25]) for text in told] == [at for at in range(33) if at % 2 or at in new]
        assert either("ingest", one, two).out.count("nothing new") == 2


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_windows_of_one_name_are_one_conversation(either: Goalmem, tmp_path: Path, order: tuple[int, int]) -> None:
    """A day is shared: each message is there once, it is said how to part them, and reading again brings nothing."""
    goalmem = either
    files = [write_window(tmp_path / "a" / "+1555.txt", 0, 9), write_window(tmp_path / "b" / "+1555.txt", 6, 12)]
    ingested(goalmem, str(files[order[0]]))
    outcome = ingested(goalmem, str(files[order[1]]))
    assert "joined with +1555" in outcome.err
    assert "--apart" in outcome.err
    assert stored(goalmem) == [SAID]
    assert '"new_turns": 0' in ingested(goalmem, *map(str, files)).out
    assert goalmem("forget", "+1555", "--leave-nothing", "--yes").code == 0
    outcome = goalmem("ingest", "--apart", *map(str, files))
    assert sorted(stored(goalmem)) == sorted([SAID[:9], SAID[6:]])
    assert "goalmem stores join +1555 +1555-2" in outcome.err
    ingested(goalmem, *map(str, files))
    assert len(stored(goalmem)) == 2


def test_what_overlaps_by_less_is_joined_by_the_command_that_is_named(either: Goalmem, tmp_path: Path) -> None:
    """A dry run says so too; the join is shown, and done with a yes; what was forgotten stays forgotten."""
    goalmem = either
    one, other = write_window(tmp_path / "one.txt", 0, 8), write_window(tmp_path / "other.txt", 6, 12)
    assert goalmem("ingest", str(one)).code == 0
    dry = goalmem("ingest", "--dry-run", str(other))
    outcome = goalmem("ingest", str(other))
    assert "`goalmem stores join one other` joins them" in outcome.err
    assert "`goalmem stores join one other` joins them" in dry.err
    assert goalmem("forget", "other", "--before", "2022-05-19T08:30", "--yes").code == 0

    assert goalmem("stores", "join", "one", "other").code == 2
    assert "would have 12 turns, 0 of which both had" in goalmem("stores", "join", "one", "other", "--dry-run").out
    assert len(stored(goalmem)) == 2
    assert "one has 12 turns" in goalmem("stores", "join", "one", "other", "--yes").out
    assert stored(goalmem) == [SAID]
    assert goalmem("ingest", str(one), str(other)).out.count("nothing new") == 2
    assert stored(goalmem) == [SAID]
    assert goalmem("stores", "join", "one", "one").code == 2
    assert goalmem("stores", "join", "one", "none").code == 3
    assert goalmem("stores", "verify").code == 0


def test_commands_that_are_printed_are_for_the_store_that_was_named(goalmem: Goalmem, tmp_path: Path) -> None:
    """As they are typed in a shell: each does what it says in this store, and nothing in the default one."""
    place = ("--store", str(tmp_path / "our own"))
    chats = [write_window(tmp_path / "1" / "one.txt", 0, 8), write_window(tmp_path / "2" / "-other one.txt", 6, 12)]
    outcome = goalmem("ingest", *map(str, chats), *place)
    join = re.search(r"`goalmem stores (join .*?)` joins", outcome.err)
    assert join is not None
    verb, *named = shlex.split(join[1])
    assert goalmem("stores", verb, "--yes", *named).out.startswith("one has 12 turns")

    place = ("--store", str(tmp_path / "another"))
    same = [write_window(tmp_path / "3" / "+1.txt", 0, 9), write_window(tmp_path / "4" / "+1.txt", 6, 12)]
    outcome = goalmem("ingest", *map(str, same), *place)
    apart = re.search(r"`goalmem (forget .*?)`, then `goalmem (ingest .*?)` parts them", outcome.err)
    assert apart is not None
    assert goalmem(*shlex.split(apart[1]), "--yes").code == 0
    assert "9 new stored" in goalmem(*shlex.split(apart[2]), str(same[0])).out
    assert goalmem("stores", "show", *place).code == 0
    assert goalmem("stores", "show").code == 3


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("cut", [9, 10, 11])
def test_windows_that_begin_between_equal_messages_are_joined(
    either: Goalmem, tmp_path: Path, order: tuple[int, int], cut: int
) -> None:
    """Two or three of one minute by one person: each is there once, as in the whole chat, and stays so."""
    goalmem = either
    words = "the grey boat lies at the long pier of the old harbour since the first storm of autumn"
    said = [(f"09:{place:02}:00", ("Ana", "Ben")[place % 2], f"{place} {words}") for place in range(40)]
    said[9:12] = [("09:09:00", "Ben", "ok")] * 3
    files = [tmp_path / name / f"{name}.csv" for name in ("one", "other", "whole")]
    for file, (first, end) in zip(files, ((0, 30), (cut, 40), (0, 40)), strict=True):
        file.parent.mkdir()
        rows = (f"2024-03-01 {time},{who},{text}\n" for time, who, text in said[first:end])
        file.write_text("".join(["Date,User,Message\n", *rows]))
    assert goalmem("ingest", str(files[order[0]])).code == 0
    outcome = goalmem("ingest", str(files[order[1]]))
    assert "joined with" in outcome.err
    for file in (*files[:2], files[2]):
        assert "nothing new" in goalmem("ingest", str(file)).out
    assert stored(goalmem) == [[text for _, _, text in said]]
    assert goalmem("stores", "verify").code == 0


def test_all_that_another_file_tells_too_is_named(either: Goalmem, tmp_path: Path) -> None:
    """Also beside the window that a whole chat is joined with; the commands that are named leave each message once."""
    goalmem = either
    spans = {"one": (0, 30), "third": (35, 45), "fourth": (47, 55), "whole": (0, 60)}
    words = "the grey boat lies at the long pier of the old harbour since the first storm of autumn"
    rows = [f'2024-03-01 {9 + place // 60:02}:{place % 60:02}:00,{("Ana", "Ben")[place % 2]},{place} {words}\n'
            for place in range(60)]  # fmt: skip
    for name, (first, end) in spans.items():
        file = tmp_path / name / f"{name}.csv"
        file.parent.mkdir()
        file.write_text("".join(["Date,User,Message\n", *rows[first:end]]))
        outcome = goalmem("ingest", str(file))
    assert "joined with one" in outcome.err
    told = outcome.err.partition("fourth and third" if "fourth and third" in outcome.err else "fourth, third")[2]
    assert "of other files overlap with it" in told
    for command in re.findall("`goalmem stores (join [^`]*)`", told):
        verb, *named = shlex.split(command)
        assert goalmem("stores", verb, "--yes", *named).code == 0
    assert [len(each) for each in stored(goalmem)] == [60]
    assert goalmem("stores", "verify").code == 0


def test_a_chat_whose_group_and_contact_were_renamed_is_joined_by_the_command(either: Goalmem, tmp_path: Path) -> None:
    """The number that became a name said the same: it is told after reading, and each turn is there once."""
    goalmem = either
    for name, who, last in (
        ("Allotment", "+44 7700 900321", ""),
        ("Plot 9", "Ravi", "02/05/2026, 08:05 - Ravi: Blue pot.\n"),
    ):
        (tmp_path / f"WhatsApp Chat with {name}.txt").write_text(
            f"13/04/2026, 09:10 - {who}: I planted 14 leeks in bed two.\n"
            f"13/04/2026, 09:12 - Nora: Lovely, I water them tonight.\n"
            f"14/04/2026, 20:00 - {who}: The slugs took three of them.\n{last}"
        )
    old, new = sorted(tmp_path.glob("*.txt"))
    first = goalmem("ingest", str(old), str(new), "--dry-run").err
    assert goalmem("ingest", str(old)).code == 0
    dry, outcome = goalmem("ingest", str(new), "--dry-run"), goalmem("ingest", str(new))
    for told in (first, dry.err, outcome.err):
        assert "+44 7700 900321 and Ravi may be one person (the same 2 turns)" in told
        assert "`goalmem stores join Allotment 'Plot 9'`" in told
    command = re.search(r"`goalmem (stores join .*?)` joins", outcome.err)
    assert command is not None

    joined = goalmem(*shlex.split(command[1]), "--yes")
    assert "has 4 turns, 3 of which both had" in joined.out
    assert "is called" in joined.out and "`goalmem people name" in joined.out
    said = [
        "I planted 14 leeks in bed two.",
        "Lovely, I water them tonight.",
        "The slugs took three of them.",
        "Blue pot.",
    ]
    assert stored(goalmem) == [said]
    assert goalmem("ingest", str(old), str(new)).out.count("nothing new") == 2
    assert stored(goalmem) == [said]


def test_one_that_begins_as_another_is_said_to_be_joined(either: Goalmem, tmp_path: Path) -> None:
    """By what both say alone; a dry run says so too, and the file itself, grown, needs no word."""
    goalmem = either
    texts = [
        f"13/03/2024, 10:{place:02} - {('Ana', 'Ben')[place % 2]}: {'and so on ' * 9}{place}\n" for place in range(20)
    ]
    boat, cart = tmp_path / "boat.txt", tmp_path / "cart.txt"
    boat.write_text("".join(texts[:10]))
    cart.write_text("".join(texts[:15]))
    assert goalmem("ingest", str(boat)).code == 0
    for outcome in (goalmem("ingest", str(cart), "--dry-run"), goalmem("ingest", str(cart))):
        assert "joined with boat" in outcome.err and "--apart" in outcome.err
    cart.write_text("".join(texts))
    outcome = goalmem("ingest", str(cart))
    assert "5 new stored" in outcome.out and "joined" not in outcome.err
    assert len(stored(goalmem)) == 1


def write_titled(file: Path, *told: tuple[str, str]) -> Path:
    """Write a chat of these speakers and texts as WhatsApp does, a message a day; "" is a day without one."""
    file.parent.mkdir(exist_ok=True, parents=True)
    lines = [f"{day:02}/03/2024, 10:00 - {who}: {text}\n" for day, (who, text) in enumerate(told, 13) if who]
    file.write_text("".join(lines))
    return file


def test_a_chat_that_has_only_the_title_of_another_is_said_to_be_added(either: Goalmem, tmp_path: Path) -> None:
    """A dry run says so too; after the command, two titles are two chats. What shares a message needs no word."""
    goalmem, name = either, "WhatsApp Chat with Ben.txt"
    boat = write_titled(tmp_path / "a" / name, ("Ana", "The boat is in."), ("Ben", "Good."))
    shop = write_titled(tmp_path / "b" / name, ("", ""), ("", ""), ("Zoe", "The shop is closed."), ("Ben", "Tomorrow."))
    assert "added to" not in goalmem("ingest", str(boat)).err
    for outcome in (goalmem("ingest", "--dry-run", str(shop)), goalmem("ingest", str(shop))):
        assert "added to Ben, a chat of that title that has none of its messages" in outcome.err
    with boat.open("a") as more:
        more.write("25/03/2024, 10:00 - Ben: Six metres of rope.\n")
    moved = boat.rename(tmp_path / name)
    for again in (moved, shop, moved):
        assert "added to" not in goalmem("ingest", str(again)).err
    (told,) = stored(goalmem)
    assert len(told) == 5
    assert goalmem("forget", "Ben", "--leave-nothing", "--yes").code == 0
    both = [str(shop), str(moved.rename(tmp_path / "WhatsApp Chat with Ben 2.txt"))]
    assert "added to" not in goalmem("ingest", *both).err
    assert [len(each) for each in stored(goalmem)] == [2, 3]


def test_a_long_chat_that_shares_its_end_needs_no_word(
    goalmem: Goalmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read in parts, the first of which have no message of the stored chat; that one was exported later."""
    monkeypatch.setattr(drafts, "STRETCH_TURNS", 2)
    name, told = "WhatsApp Chat with Ben.txt", [("Ana", f"The boat has {number} oars.") for number in range(9)]
    window = write_titled(tmp_path / "a" / name, *[("", "")] * 7, *told[7:])
    whole = write_titled(tmp_path / "b" / name, *told)
    assert goalmem("ingest", str(window)).code == 0
    for outcome in (goalmem("ingest", "--dry-run", str(whole)), goalmem("ingest", str(whole))):
        assert "7 new" in outcome.out
        assert "added to" not in outcome.err
    assert stored(goalmem) == [[text for _, text in told]]


def test_the_same_words_of_somebody_who_speaks_already_are_no_new_name(either: Goalmem) -> None:
    """Both wished everybody a happy new year in the same minute."""
    wish = "Happy new year to all of you from us both"
    lines = ["31/12/2025, 23:00 - Cleo: Are you all there?", "31/12/2025, 23:01 - Bob: Of course we are."]
    for who in ("Alex", "Bob"):
        text = "\n".join([*lines, f"01/01/2026, 00:05 - {who}: {wish}", ""]).encode()
        assert either("ingest", "-", "--conversation", "talk", "--day-first", stdin=text).code == 0
    assert stored(either)[0].count(wish) == 2


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_contact_who_is_renamed_between_two_exports_of_a_group(
    either: Goalmem, tmp_path: Path, order: tuple[int, int]
) -> None:
    """Each message is there once, as it was stored first, and it is said who has two names; a namesake of words is not."""
    names = ["+44 7700 900321", "Nora", "Tom"]

    def written(folder: str, first: int, end: int, called: str, *more: str) -> str:
        lines = [
            f"{1 + place // 3:02}/06/2026, 09:{place:02} - {[called, *names[1:]][place % 3]}: "
            f"Note {place} of the boat shed by the lake is a new one."
            for place in range(first, end)
        ]
        file = tmp_path / folder / "WhatsApp Chat with Boat.txt"
        file.parent.mkdir()
        file.write_text("\n".join([*lines, *more]), "utf-8")
        return str(file)

    echo = "01/06/2026, 09:01 - Tom: Note 1 of the boat shed by the lake is a new one."
    files = [written("a", 0, 12, names[0]), written("b", 6, 18, "Ravi", echo)]
    other, called = (("Ravi", names[0])[order[0]], (names[0], "Ravi")[order[0]])
    ingested(either, files[order[0]])
    told = f"{other} is called {called} in the turns that were stored before"
    assert told in either("ingest", files[order[1]], "--day-first", "--dry-run").err
    outcome = either("ingest", files[order[1]], "--day-first")
    assert told in outcome.err
    assert "Nora is called" not in outcome.err
    notes = [f"Note {place} of the boat shed by the lake is a new one." for place in range(18)]
    assert sorted(stored(either)[0]) == sorted([*notes, notes[1]])
    assert '"new_turns": 0' in ingested(either, *files).out
    words = shlex.split(re.findall("`goalmem (people merge .*?)`", outcome.err)[0])
    assert either(*words).code == 0
    listed = json.loads(either("people", "--json").out)["people"]
    assert {each["name"]: each["turns"] for each in listed} == {other: 6, "Nora": 6, "Tom": 7}


@pytest.mark.parametrize("is_copied", [True, False])
@pytest.mark.parametrize("target", ["folder", "milvus"])
def test_what_was_joined_by_command_is_one_in_a_copy_too(
    either: Goalmem, tmp_path: Path, target: str, is_copied: bool
) -> None:
    """Its files bring nothing new there either, also where their messages stand between one another."""
    goalmem, place = either, str(tmp_path / "place")
    elsewhere = ("--store", place if target == "folder" else f"milvus:{place}.db")
    files = [str(write_window(tmp_path / f"{name}.txt", *ends)) for name, ends in (("one", (0, 4)), ("other", (8, 12)))]
    between = write_window(tmp_path / "between.txt", 5, 6)
    between.write_text(between.read_text() + write_window(tmp_path / "last.txt", 11, 12).read_text())
    files.append(str(between))
    ingested(goalmem, *files)
    for name in ("other", "between"):
        assert goalmem("stores", "join", "one", name, "--yes").code == 0
    whole = stored(goalmem)
    exported = str(tmp_path / "all.jsonl")
    assert goalmem("stores", "export", "--out", exported).code == 0
    if is_copied:
        assert goalmem("stores", "copy", os.environ["GOALMEM_STORE"], elsewhere[1]).code == 0
    else:
        dry = ingested(goalmem, "--dry-run", exported, *files, *elsewhere)
        assert [one["new_turns"] for one in json.loads(dry.out)["files"]] == [len(whole[0]), 0, 0, 0]
        ingested(goalmem, exported, *elsewhere)
    for words in (("--dry-run",), ()):
        outcome = ingested(goalmem, *words, *files, *elsewhere)
        assert [one["new_turns"] for one in json.loads(outcome.out)["files"]] == [0, 0, 0]
    assert stored(goalmem, *elsewhere) == whole
    assert goalmem("stores", "verify", *elsewhere).code == 0
    again = goalmem("stores", "export", *elsewhere).out
    assert again == Path(exported).read_text("utf-8")


def test_what_an_export_brought_is_known_by_its_own_file(either: Goalmem, tmp_path: Path) -> None:
    """Not by the export's, which holds it only: what of its file is read again brings nothing new."""
    goalmem, exported = either, str(tmp_path / "all.jsonl")
    file = str(write_window(tmp_path / "few.txt", 0, 3))
    ingested(goalmem, file)
    assert goalmem("forget", "--speaker", "Me", "--yes").code == 0
    assert goalmem("stores", "export", "--with-forgotten", "--out", exported).code == 0
    for elsewhere in (("--store", str(tmp_path / "place")), ("--store", f"milvus:{tmp_path / 'place.db'}")):
        ingested(goalmem, "--take-forgotten", exported, *elsewhere)
        for _ in range(2):
            assert '"new_turns": 0' in ingested(goalmem, file, *elsewhere).out
            ingested(goalmem, exported, *elsewhere)
        assert stored(goalmem, *elsewhere) == stored(goalmem) == [[SAID[1]]]


def found_in(out: str) -> list[str]:
    """Return what a search found, without its ranks, which each engine reckons for itself."""
    return sorted(json.dumps({**hit, "score": 0, "ranks": 0}, sort_keys=True) for hit in json.loads(out)["hits"])


@pytest.mark.slow
def test_a_joined_store_is_the_same_in_milvus(goalmem: Goalmem, tmp_path: Path) -> None:
    """What all commands say after a join, and after forgetting some of it, is what they say over a folder."""
    files = [str(write_window(tmp_path / f"{name}.txt", *ends)) for name, ends in (("one", (0, 8)), ("other", (6, 12)))]
    wrote = "(x:person) wrote (Note 5:text)"
    proof = proved(
        claims(1, "Note 5 of the boat shed", x="Ana"), plan=plan(wrote, wrote), status="settled", wording="Ana"
    )
    asked = ("ask", "Who wrote Note 5 of the boat shed?")
    said = []
    for store in (str(tmp_path / "folder"), f"milvus:{tmp_path / 'database'}"):
        ingested(goalmem, *files, "--store", store)
        held = []
        for words in (
            ("stores", "join", "one", "other", "--dry-run"),
            ("stores", "join", "one", "other", "--yes"),
            asked,
            ("search", "note of the boat shed", "--json", "-k", "40"),
            ("search", "note", "--since", "2022-05-20", "--json"),
            ("people",),
            ("people", "merge", "Me", "Ana"),
            ("search", "Note 11", "--speaker", "Me", "--json", "-k", "3"),
            ("ingest", "--dry-run", "--json", *files),
            ("ingest", "--json", *files),
            ("forget", "one", "--before", "2022-05-18", "--yes"),
            ("forget", "--list"),
            ("ingest", "--json", *files),
            ("stores", "export"),
        ):
            outcome = goalmem(*words, "--store", store, factories=scripted(proof))
            assert outcome.code == 0, outcome.err
            held.append((words, found_in(outcome.out) if words[0] == "search" else outcome.out.replace(store, "STORE")))
        shown = json.loads(goalmem("stores", "show", "--json", "--store", store).out)
        held.append((("show",), json.dumps(shown["conversations"])))
        assert goalmem("stores", "verify", "--store", store).out.endswith(": sound\n")
        said.append(held)
    close_embedded()
    for ours, theirs in zip(*said, strict=True):
        assert ours == theirs
    assert (said[0][2][1], len(said[0][3][1])) == ("Ana\n", len(SAID))


def codex(file: Path, events: Sequence[tuple[str, str, object]]) -> str:
    lines = [{"timestamp": f"2026-09-{time}Z", "type": kind, "payload": payload} for time, kind, payload in events]
    file.write_text("\n".join(map(json.dumps, lines)))
    return str(file)


def said(time: str, role: str, text: str) -> tuple[str, str, object]:
    return time, "response_item", {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_codex_fork_adds_its_own_turns(goalmem: Goalmem, tmp_path: Path, order: Sequence[int]) -> None:
    """What it copies at its beginning is the parent's; the same prompt said again later is its own; so with a fork of it.

    Whichever is read first, in one command or in three; a dry run says the same.
    """
    talk = [("user", "Rename the table."), ("assistant", "Done.")]
    meta = "session_meta"
    parent = codex(tmp_path / "1.jsonl", [
        ("02T08:00:00.000", meta, {"id": "p"}), *(said(f"02T08:00:0{n}.000", *one) for n, one in enumerate(talk, 1)),
    ])  # fmt: skip
    own = [said("05T12:01:00.000", "user", "Rename the table."), said("05T12:01:09.000", "assistant", "It is.")]
    fork = codex(tmp_path / "2.jsonl", [
        ("05T12:00:00.000", meta, {"id": "f", "forked_from_id": "p"}), ("05T12:00:00.001", meta, {"id": "p"}),
        *(said(f"05T12:00:00.00{n}", *one) for n, one in enumerate(talk, 2)), *own,
    ])  # fmt: skip
    again = [(f"07T12:00:00.00{place}", *event[1:]) for place, event in enumerate(own, 6)]
    second = codex(tmp_path / "3.jsonl", [
        ("07T12:00:00.000", meta, {"id": "g", "forked_from_id": "f"}), ("07T12:00:00.001", meta, {"id": "f"}),
        ("07T12:00:00.002", meta, {"id": "p"}), *(said(f"07T12:00:00.00{n}", *one) for n, one in enumerate(talk, 3)),
        *again, said("07T12:02:00.000", "user", "Thanks."),
    ])  # fmt: skip
    logs = [(parent, fork, second)[place] for place in order]
    for several in ([[one] for one in logs], [logs]):
        for paths in several:
            dry, outcome = goalmem("ingest", "--dry-run", "--json", *paths), goalmem("ingest", "--json", *paths)
            assert dry.out == outcome.out
            words = [
                re.findall(r"(\d cop\w+) in (.*?) left out: .* once, in (.*)", each.err) for each in (dry, outcome)
            ]
            assert words[0] == words[1]
            if paths == [parent]:  # the younger fork leaves the copies to the elder one, if that was read before
                forks = [name for place, name in ((1, "f"), (2, "g")) if place in order[: order.index(0)]][:1]
                assert words[1] == [("2 copies", name, "p") for name in forks]
        assert stored_by_name(goalmem) == {
            "p": ["02 Rename the table.", "02 Done."],
            "f": ["05 Rename the table.", "05 It is."],
            "g": ["07 Thanks."],
        }  # fmt: skip
        assert goalmem("stores", "verify").code == 0


def stored_by_name(goalmem: Goalmem) -> dict[str, list[str]]:
    """Return what each conversation holds, with the day on which it was said."""
    found: dict[str, list[str]] = {}
    for line in goalmem("stores", "export").out.splitlines():
        row = json.loads(line)
        if "conversation" in row:
            told = found.setdefault(row["conversation"], [])
        elif "turn" in row:
            told.append(f"{row['turn']['said'][8:10]} {row['turn']['text']}")
    return found


@pytest.mark.parametrize("order", list(permutations(range(2))))
def test_a_fork_alone_keeps_all_until_its_parent_comes(goalmem: Goalmem, tmp_path: Path, order: Sequence[int]) -> None:
    """Claude Code's and Codex's: nothing that is said in one file only is lost, and each turn is there once."""
    meta = ("05T12:00:00.000", "session_meta", {"id": "f", "forked_from_id": "p"})
    copies = [said("05T12:00:00.001", "user", "Use port 7411."), said("05T12:00:00.002", "assistant", "Set.")]
    paths = [
        codex(tmp_path / "p.jsonl", [
            ("02T08:00:00.000", "session_meta", {"id": "p"}), said("02T08:00:01.000", "user", "Use port 7411."),
            said("02T08:00:02.000", "assistant", "Set."), said("09T08:00:02.000", "user", "And now 7412."),
        ]),
        codex(tmp_path / "f.jsonl", [meta, *copies, said("05T12:01:00.000", "user", "Back to 80.")]),
    ]  # fmt: skip
    ingested(goalmem, paths[order[0]])
    if order[0] == 1:
        assert stored(goalmem) == [["Use port 7411.", "Set.", "Back to 80."]]
    outcome = ingested(goalmem, paths[order[1]])
    assert ("2 copies in f left out" in outcome.err) == (order[0] == 1)
    assert stored_by_name(goalmem) == {
        "p": ["02 Use port 7411.", "02 Set.", "09 And now 7412."], "f": ["05 Back to 80."]
    }  # fmt: skip
    for place in order:
        assert '"new_turns": 0' in ingested(goalmem, paths[place]).out


@pytest.fixture
def family(tmp_path: Path) -> dict[str, str]:
    """Logs of Codex: `p`, its fork `f`, and a fork of that one, `g`."""
    meta = "session_meta"
    pin, noted, mill = ("user", "The PIN is 8843."), ("assistant", "Noted."), ("user", "Draw the mill.")
    return {
        "p": codex(tmp_path / "p.jsonl", [
            ("02T08:00:00.000", meta, {"id": "p"}), said("02T08:00:01.000", *pin), said("02T08:00:02.000", *noted),
        ]),
        "f": codex(tmp_path / "f.jsonl", [
            ("05T12:00:00.000", meta, {"id": "f", "forked_from_id": "p"}), ("05T12:00:00.001", meta, {"id": "p"}),
            said("05T12:00:00.002", *pin), said("05T12:00:00.003", *noted), said("05T12:01:00.000", *mill),
        ]),
        "g": codex(tmp_path / "g.jsonl", [
            ("07T12:00:00.000", meta, {"id": "g", "forked_from_id": "f"}), ("07T12:00:00.001", meta, {"id": "f"}),
            ("07T12:00:00.002", meta, {"id": "p"}), said("07T12:00:00.003", *pin), said("07T12:00:00.004", *noted),
            said("07T12:00:00.005", *mill), said("07T12:02:00.000", "user", "Thanks."),
        ]),
    }  # fmt: skip


def test_what_was_forgotten_does_not_come_back_by_a_fork(
    either: Goalmem, family: dict[str, str], tmp_path: Path
) -> None:
    """Its copies have other times; they are what was forgotten, until it is wanted back, and in another memory too."""
    goalmem, other, exported = either, str(tmp_path / "other"), str(tmp_path / "all.jsonl")
    ingested(goalmem, family["p"], family["f"])
    assert goalmem("forget", "p", "--yes").code == 0
    for words in (("--dry-run",), ()):
        outcome = ingested(goalmem, *words, *family.values())
        assert outcome.err.count("left out: 2 turns that were forgotten") == 3
    assert stored_by_name(goalmem) == {"f": ["05 Draw the mill."], "g": ["07 Thanks."]}
    assert goalmem("stores", "export", "--with-forgotten", "--out", exported).code == 0
    goalmem("ingest", exported, "--take-forgotten", "--store", other)
    assert "PIN is 8843" not in goalmem("ingest", "--json", family["g"], "--store", other).out
    assert "PIN is 8843" not in goalmem("stores", "export", "--store", other).out

    ingested(goalmem, "--restore-forgotten", *family.values())
    assert stored_by_name(goalmem)["p"] == ["02 The PIN is 8843.", "02 Noted."]
    assert stored_by_name(goalmem)["g"] == ["07 Thanks."]
    assert goalmem("forget", "--list").code == 1


def test_what_was_forgotten_in_a_fork_does_not_come_back_by_its_parent(either: Goalmem, family: dict[str, str]) -> None:
    """Nor by another fork: whichever of them is read, it is the same that was said."""
    goalmem = either
    ingested(goalmem, family["f"])
    assert goalmem("forget", "f", "--yes").code == 0
    ingested(goalmem, *family.values())
    assert stored_by_name(goalmem) == {"g": ["07 Thanks."]}


def test_the_same_words_said_later_are_not_what_a_fork_had_copied(
    either: Goalmem, family: dict[str, str], tmp_path: Path
) -> None:
    """In the log that it was copied from, after the copy was made; also in another memory that takes the marks."""
    goalmem, other, exported = either, str(tmp_path / "other"), str(tmp_path / "all.jsonl")
    pin = ("user", "The PIN is 8843.")
    ingested(goalmem, family["f"], family["g"])
    assert goalmem("forget", "f", "--yes").code == 0  # copied on the fifth
    codex(Path(family["p"]), [
        ("02T08:00:00.000", "session_meta", {"id": "p"}), said("02T08:00:01.000", *pin),
        said("02T08:00:02.000", "assistant", "Noted."), said("04T09:00:00.000", *pin), said("06T08:00:00.000", *pin),
    ])  # fmt: skip
    for words in (("--dry-run",), ()):
        outcome = ingested(goalmem, *words, family["p"])
        assert "left out: 3 turns that were forgotten" in outcome.err
    assert stored_by_name(goalmem)["p"] == ["06 The PIN is 8843."]
    ingested(goalmem, *family.values())
    assert stored_by_name(goalmem)["p"] == ["06 The PIN is 8843."]
    assert "f" not in stored_by_name(goalmem)

    assert goalmem("stores", "export", "--with-forgotten", "--out", exported).code == 0
    assert goalmem("ingest", exported, "--take-forgotten", "--store", other).code == 0
    assert goalmem("ingest", family["p"], "--store", other).code == 0
    exported_turns = goalmem("stores", "export", "--store", other).out
    assert exported_turns.count("The PIN is 8843.") == 1


def test_what_comes_later_of_a_forgotten_log_does_not_come_by_its_fork(either: Goalmem, family: dict[str, str]) -> None:
    """With `--always`, what a fork copies of it is forgotten as well; what the fork says itself stays."""
    goalmem = either
    log = Path(family["p"])
    whole = log.read_text()
    log.write_text("".join(whole.splitlines(keepends=True)[:2]))
    ingested(goalmem, family["p"])
    assert goalmem("forget", "p", "--always", "--yes").code == 0
    ingested(goalmem, family["f"])
    assert stored_by_name(goalmem) == {"f": ["05 Draw the mill."]}


def test_a_subagent_s_log_leaves_its_session_what_it_repeats(goalmem: Goalmem, tmp_path: Path) -> None:
    """The session is read first, though its file's name sorts behind the folder of its subagents."""
    told = [("u1", "Which shop?"), ("u2", "Mill Lane."), ("u3", "Compare the prices."), ("u4", "25 cents.")]
    logs = {"s1.jsonl": told[:2], "s1/agent-a.jsonl": told}
    for name, messages in logs.items():
        is_aside = "/" in name
        events = [
            {"type": "user", "sessionId": "s1", "uuid": uuid, "timestamp": f"2026-06-01T10:00:0{place}Z",
             "isSidechain": is_aside, "agentId": "a" if is_aside else None, "message": {"role": "user", "content": text}}
            for place, (uuid, text) in enumerate(messages)
        ]  # fmt: skip
        (tmp_path / "logs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "logs" / name).write_text("\n".join(map(json.dumps, events)))
    ingested(goalmem, str(tmp_path / "logs"))
    assert sorted(stored(goalmem)) == sorted([["Which shop?", "Mill Lane."], ["Compare the prices.", "25 cents."]])

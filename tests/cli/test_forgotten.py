"""What was forgotten stays forgotten, when the same transcript or one like it is read again."""

import json
import stat
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

import goalmem_cli
from goalmem_cli.library.known import KnownMemory
from goalmem_cli.memory_records import Voice
from goalmem_cli.milvus.embedded import close_embedded
from goalmem_cli.records import COPIED_FROM, Turn
from goalmem_cli.store.people import People, Person
from goalmem_cli.store.privacy import FORGOTTEN, PEOPLE
from goalmem_cli.store.recognising import without_quotes
from goalmem_cli.store.tombstones import Tombstones, under_another_name, under_names
from tests.conftest import SAMPLES
from tests.invoking import Goalmem
from tests.milvus.test_forgetting import contents

pytestmark = pytest.mark.usefixtures("here")
PIN = {"role": "user", "name": "Nora", "content": "My PIN is 8843.", "timestamp": "2026-01-01T10:00:00+00:00"}
SAME_WORDS = {**PIN, "name": "Tom"}
REPLY = {"role": "user", "name": "Ravi", "content": "Do not write it here.", "timestamp": "2026-01-02T10:01:00+00:00"}
LATER = {"role": "user", "name": "Nora", "content": "I moved to Leeds.", "timestamp": "2026-02-01T10:00:00+00:00"}

MARK, KEY = "0123456789abcdef" * 2, "ab" * 32


@pytest.fixture
def talk(goalmem: Goalmem, tmp_path: Path) -> Path:
    """A stored talk, as a file."""
    return stored(goalmem, tmp_path / "talk.json", PIN, REPLY)


def test_who_forgets_a_conversation_hears_of_the_same_turns_in_another(either: Goalmem, tmp_path: Path) -> None:
    """With the command that deletes them there; others with the speaker are not named, and neither is the rest."""
    goalmem = either
    stored(goalmem, tmp_path / "one.json", PIN, REPLY)
    stored(goalmem, tmp_path / "two two.json", LATER, PIN)
    stored(goalmem, tmp_path / "three.json", {**LATER, "content": "I moved again."})
    told = "two two has 1 of these turns too: `goalmem forget{} 'two two'` deletes them, and all else that it names"
    assert told.format("") in goalmem("forget", "one", "--dry-run").err
    assert told.format(" --speaker Nora") in goalmem("forget", "one", "--speaker", "Nora", "--dry-run").err
    assert "two two" not in goalmem("forget", "one", "--speaker", "Ravi", "--dry-run").err
    assert "these turns" not in goalmem("forget", "--speaker", "Nora", "--dry-run").err
    assert told.format("") in goalmem("forget", "one", "--yes").err
    assert "these turns" not in goalmem("forget", "two two", "--yes").err


def stored(goalmem: Goalmem, file: Path, *messages: dict[str, str]) -> Path:
    """Write the messages into the file, read it, and return it."""
    file.write_text(json.dumps(messages), "utf-8")
    assert goalmem("ingest", str(file)).code == 0
    return file


UNLIKE = [
    ("Zoë's PIN is 8843.", "Zoe\u0308's PIN is 8843."),
    ("My PIN is 8843.", "\u200eMy PIN is 8843."),
    ("My PIN is 8843.", "My\u00a0PIN  is 8843. "),
    ("My PIN is 8843 \u2764\ufe0f", "My PIN is 8843 \u2764"),
]


@pytest.mark.parametrize(("one", "other"), [*UNLIKE, *(pair[::-1] for pair in UNLIKE)])
def test_what_looks_alike_is_the_same_text(goalmem: Goalmem, tmp_path: Path, one: str, other: str) -> None:
    """In both Unicode forms, with and without invisible characters, whatever the blanks; another text is another."""
    stored(goalmem, tmp_path / "talk.json", {**PIN, "name": "Zoë", "content": one}, REPLY)
    goalmem("forget", "--speaker", "Zoë", "--yes")
    stored(goalmem, tmp_path / "talk.json", {**PIN, "name": "Zoe\u0308", "content": other}, REPLY)
    assert said(goalmem) == [REPLY["content"]]
    stored(goalmem, tmp_path / "talk.json", {**PIN, "name": "Zoë", "content": f"{other}!"}, REPLY)
    assert said(goalmem) == [f"{other}!".strip(), REPLY["content"]]


SIGNAL = """[2023-03-05 21:15] Nora: The locker code is zebra nineteen
[2023-03-05 21:16] Ravi:\x20
> Nora: The locker code is zebra nineteen
>\x20
Thanks, got it
[2023-03-05 21:17] Ben:\x20
> Ravi: Thanks, got it
>\x20
You are welcome
"""


def test_a_reply_loses_the_quote_of_what_was_forgotten(goalmem: Goalmem, tmp_path: Path, place: str) -> None:
    """In every file of the memory, and when the transcript is read again; other quotes stay."""
    (tmp_path / "Ravi.md").write_text(SIGNAL, "utf-8")
    store = place.format(tmp_path / "store")
    read = "ingest", str(tmp_path / "Ravi.md"), "--format", "signal", "--store", store
    assert goalmem(*read).code == 0
    assert "zebra" in goalmem("search", "thanks", "--json", "--store", store).out
    goalmem("forget", "--speaker", "Nora", "--yes", "--store", store)
    for _ in range(2):
        told = goalmem("search", "thanks", "--json", "--store", store).out
        assert "zebra" not in told + goalmem("stores", "export", "--store", store).out
        assert "Ravi: Thanks, got it" in goalmem("stores", "export", "--store", store).out
        folders = Path(store.removeprefix("milvus:")), tmp_path / "data"
        assert not any("zebra" in contents(folder) for folder in folders)
        assert "nothing new" in goalmem(*read).out
    assert goalmem("stores", "verify", "-q", "--store", store).code == 0
    goalmem(*read, "--restore-forgotten")
    assert "Nora: The locker code" in goalmem("stores", "export", "--store", store).out


@pytest.mark.parametrize(
    ("quoted", "is_gone"),
    [
        ("The code of the shed is 8843.", True),
        ("Nora: The code of the shed is 8843.", True),
        ("The  code of the shed…", True),
        ("Ben: The code of the shed is 8843.", False),
        ("It hangs behind it.", False),
        ("The", False),
        ("The code of the shed is what?", False),
    ],
)
def test_quotes_are_known_whole_in_part_and_with_a_name(quoted: str, is_gone: bool) -> None:
    """Not by a few letters that any text may begin with."""
    gone = Turn("talk", 0, 0, "Nora", "The code of the shed is 8843.\nIt hangs behind it.")
    reply = Turn("talk", 0, 1, "Ravi", "Thanks.", attributes={"quoted": quoted, "edited": True})
    (left,) = without_quotes([reply], [gone])
    assert left.attributes == {"edited": True, **({} if is_gone else {"quoted": quoted})}


@pytest.mark.parametrize(("quoted", "is_gone"), [("Nora: ok", True), ("Ben: ok", False), ("ok", False)])
def test_a_short_quote_goes_only_with_its_speaker(quoted: str, is_gone: bool) -> None:
    """Others say "ok" too."""
    reply = Turn("talk", 0, 1, "Ravi", "Thanks.", attributes={"quoted": quoted})
    (left,) = without_quotes([reply], [Turn("talk", 0, 0, "Nora", "ok")])
    assert left.attributes == ({} if is_gone else {"quoted": quoted})


@pytest.mark.parametrize(
    ("quoted", "is_gone"),
    [("Nora: ok", True), ("Ben: I sold the boat yesterday.", True), ("Ben: ok", False), ("Ben: I sold\nok", False)],
)
def test_a_quote_goes_with_its_own_speaker_s_text(quoted: str, is_gone: bool) -> None:
    """Though turns of both are forgotten."""
    gone = [Turn("talk", 0, 0, "Nora", "ok"), Turn("talk", 0, 1, "Ben", "I sold the boat yesterday.")]
    reply = Turn("talk", 0, 2, "Ravi", "Thanks.", attributes={"quoted": quoted})
    (left,) = without_quotes([reply], gone)
    assert left.attributes == ({} if is_gone else {"quoted": quoted})


def test_a_copy_may_lose_quotes_of_what_its_target_forgot(goalmem: Goalmem, tmp_path: Path, place: str) -> None:
    """That is no damage to the copy."""
    (tmp_path / "Ravi.md").write_text(SIGNAL, "utf-8")
    store, other = (place.format(tmp_path / name) for name in ("store", "other"))
    for where in (store, other):
        goalmem("ingest", str(tmp_path / "Ravi.md"), "--format", "signal", "--store", where)
    goalmem("forget", "--speaker", "Nora", "--yes", "--store", store)
    done = goalmem("stores", "copy", other, store)
    assert done.code == 0, done.err
    assert "zebra" not in goalmem("stores", "export", "--store", store).out


@pytest.mark.parametrize("text", ["My  PIN is\u00a08843.", "Zoe\u0308 has it."])
def test_marks_of_earlier_versions_go_on_working(text: str) -> None:
    """They were made of the text as it was written."""
    turn, rooms = Turn("talk", 0, 0, "Zoe\u0308", text, datetime(2026, 1, 1, 10, tzinfo=UTC)), ["name talk"]
    key = Tombstones(bytes.fromhex(KEY))
    told = key.mark("said", "instant 1767261600000000", turn.speaker, text)
    old = replace(key, turns={told: 1}, always={key.mark("always", None, turn.speaker): 1})
    assert old.forgotten(turn, rooms) == {told, *old.always}
    assert old.without(old.forgotten(turn, rooms)).is_empty


@pytest.fixture(params=["{}", "milvus:{}.db"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """How a memory of some name is named, of either kind."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    yield request.param
    close_embedded()


def said(goalmem: Goalmem) -> list[str]:
    """Return what the store holds."""
    goalmem("stores", "export", "--out", "all.jsonl", "--yes")
    lines = map(json.loads, Path("all.jsonl").read_text("utf-8").splitlines())
    return [line["turn"]["text"] for line in lines if "turn" in line]


def test_a_forgotten_turn_does_not_come_back(goalmem: Goalmem, talk: Path) -> None:
    """The same file, or one that goes on, stores nothing of it, and says so; nothing of the key or text is exported."""
    assert goalmem("forget", "--speaker", "Nora", "--yes").code == 0
    for _ in range(2):
        outcome = goalmem("ingest", str(talk))
        assert outcome.out == f"{talk}: openai, 1 conversation, 2 turns, nothing new\n"
        assert "left out: 1 turn that was forgotten (--restore-forgotten takes it back)" in outcome.err
    assert stored(goalmem, talk, PIN, REPLY, LATER) == talk
    assert said(goalmem) == [REPLY["content"], LATER["content"]]
    assert "PIN is 8843" not in goalmem("search", "PIN", "--json", "-q").out
    assert b"PIN is 8843" not in Path("store", FORGOTTEN).read_bytes()


def test_what_had_no_time_stays_forgotten_when_the_file_gives_one(goalmem: Goalmem, tmp_path: Path) -> None:
    """A later export, or a later version of the reader, may know when it was said."""
    undated = [{key: value for key, value in one.items() if key != "timestamp"} for one in (PIN, REPLY)]
    talk = stored(goalmem, tmp_path / "talk.json", *undated)
    assert goalmem("forget", "--speaker", "Nora", "--yes").code == 0
    assert stored(goalmem, talk, PIN, REPLY) == talk
    assert PIN["content"] not in said(goalmem)
    assert REPLY["content"] in said(goalmem)


def test_a_dry_run_and_json_say_it_too(goalmem: Goalmem, talk: Path) -> None:
    """What would be left out is counted as what is."""
    goalmem("forget", "--speaker", "Nora", "--yes")
    outcome = goalmem("ingest", str(talk), "--dry-run", "--json")
    assert json.loads(outcome.out)["files"][0] | {"path": ""} == {
        "path": "", "format": "openai", "conversations": 1, "turns": 2, "new_turns": 0, "forgotten": 1,
    }  # fmt: skip
    said_ = goalmem("ingest", str(talk), "--dry-run").err
    assert said_ == f"{talk}: would be left out: 1 turn that was forgotten (--restore-forgotten takes it back)\n"
    said_ = goalmem("ingest", str(talk), "--dry-run", "--restore-forgotten").err
    assert said_ == f"{talk}: would be stored again: 1 turn that was forgotten\n"


def test_a_whole_conversation_stays_forgotten_under_another_name(goalmem: Goalmem, talk: Path) -> None:
    """A copy, or a later export of the same chat, brings only what is new in it."""
    assert goalmem("forget", "talk", "--yes").code == 0
    outcome = goalmem("ingest", str(talk))
    assert (outcome.code, outcome.out) == (0, f"{talk}: openai, 1 conversation, 2 turns, nothing new\n")
    assert json.loads(goalmem("stores", "show", "--json").out)["stats"]["turns"] == 0
    stored(goalmem, talk.with_name("talk (1).json"), PIN, REPLY, LATER)
    assert said(goalmem) == [LATER["content"]]


def test_somebody_elses_same_words_are_stored(goalmem: Goalmem, talk: Path) -> None:
    """Only what that speaker said at that instant was forgotten."""
    goalmem("forget", "--speaker", "Nora", "--yes")
    stored(goalmem, talk.with_name("other.json"), SAME_WORDS, {**PIN, "timestamp": "2026-03-01T10:00:00+00:00"})
    assert said(goalmem) == [SAME_WORDS["content"], PIN["content"], REPLY["content"]]


UNDER_TWO_NAMES = (
    ("Ana", "2026-03-21T09:00:00+00:00", "The padlock of the tool box is 2207."),
    ("Mo", "2026-03-21T09:02:00+00:00", "Thanks, written down."),
    ("Ana", "2026-03-21T09:05:00+00:00", "I plant the leeks on Sunday."),
    ("Ana", "2026-03-22T10:00:00+00:00", "They are in."),
)


def chat_of(file: Path, name: str, count: int) -> str:
    """Write the first messages, in which the contact Ana is saved under this name, and return the file's name."""
    told = [
        {"role": "user", "name": who.replace("Ana", name), "timestamp": time, "content": text}
        for who, time, text in UNDER_TWO_NAMES[:count]
    ]
    file.write_text(json.dumps(told), "utf-8")
    return str(file)


@pytest.mark.parametrize("command", [(), ("merge", "+44 7700 900321", "Ravi"), ("name", "+44 7700 900321", "Ravi")])
def test_a_contact_who_got_another_name_stays_forgotten(
    goalmem: Goalmem, tmp_path: Path, place: str, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what was said at the same instants, or by the user's notes; `--restore-forgotten` knows it too."""
    monkeypatch.setenv("GOALMEM_STORE", place.format(tmp_path / "one"))
    before, after = chat_of(tmp_path / "a.json", "+44 7700 900321", 3), chat_of(tmp_path / "b.json", "Ravi", 4)
    goalmem("ingest", before, *([after, "--apart"] if command[:1] == ("merge",) else []))
    if command:
        assert goalmem("people", *command).code == 0
        until = ("--before", "2026-03-21T09:03:00+00:00")
        assert goalmem("forget", "--speaker", "Ravi", *until, "--yes").code == 0
    else:
        assert goalmem("forget", "--speaker", "+44 7700 900321", "--yes").code == 0
    outcome = goalmem("ingest", before, after)
    assert "that was forgotten" in outcome.err or "2 turns that were forgotten" in outcome.err
    assert not [text for text in said(goalmem) if "2207" in text]
    assert "They are in." in said(goalmem)
    goalmem("ingest", after, "--restore-forgotten")
    assert [text for text in said(goalmem) if "2207" in text]


def test_a_contact_is_known_in_every_piece_of_a_long_conversation() -> None:
    """One text in a later piece is enough where an earlier piece has told who it is."""
    marks = Tombstones(b"k" * 32)
    said = [
        Turn("c", 0, place, name, text, datetime(2026, 3, 21, 9, place, tzinfo=UTC))
        for name in ("Ana", "Anna")
        for place, text in enumerate(("The padlock of the shed is at 2207 now.", "I plant the leeks on Sunday.", "Ok."))
    ]
    marks = marks.with_turns(said[:3], {"c": ("name c",)})
    by_somebody = {turn: marks.said_by_somebody(turn) for turn in said[3:]}
    first, last = dict(list(by_somebody.items())[:2]), dict(list(by_somebody.items())[2:])
    assert set(under_another_name(first, frozenset())) == set(first)
    assert under_another_name(last, frozenset()) == {}
    assert set(under_another_name(last, frozenset(), {"Anna"})) == set(last)


def test_a_copied_turn_stays_forgotten_in_its_source_alone_under_each_name_of_its_speaker() -> None:
    """The same words, said later in the conversation that it was copied from, are not forgotten."""
    at = datetime(2026, 1, 1, 10, tzinfo=UTC)
    copied = Turn("b", 0, 3, "user", "Go on.", at, attributes={COPIED_FROM: ("a",)})
    later = Turn("a", 0, 9, "user", "Go on.", at + timedelta(days=3))
    people = People((Person("Ana", (Voice("user"),)),))
    marks = Tombstones(b"k" * 32).with_turns([copied], {"b": ("id agent-log b",)}, people)
    assert not any(marks.forgotten(each, ("id agent-log a",)) for each in under_names(later, people))
    assert any(marks.forgotten(each, ("id agent-log a",)) for each in under_names(replace(later, said=at), people))


def test_one_text_of_one_instant_makes_no_two_names_one(goalmem: Goalmem, tmp_path: Path) -> None:
    """Nor do two whose first speaker is still there, nor short ones: all greet each other at midnight."""
    begun = [{**PIN, "content": "Happy new year!"}, {**LATER, "content": "Good night!"}]
    goalmem("ingest", str(stored(goalmem, tmp_path / "a.json", *begun)))
    goalmem("forget", "--speaker", "Nora", "--yes")
    stored(goalmem, tmp_path / "b.json", *({**one, "name": "Tom"} for one in begun))
    assert said(goalmem) == ["Happy new year!", "Good night!"]
    longer = [{**one, "content": f"{one['content']} I wish you all the best."} for one in begun]
    stored(goalmem, tmp_path / "c.json", *longer)
    goalmem("forget", "--speaker", "Nora", "--yes")
    stored(goalmem, tmp_path / "d.json", *({**one, "name": name} for one in longer for name in ("Nora", "Tom")))
    assert said(goalmem)[2:] == [one["content"] for one in longer]


WISH = "Happy birthday dear Carla from the whole crew today."
CREW = [
    {**PIN, "name": who, "content": text, "timestamp": f"2026-01-01T10:0{minute}:01+00:00"}
    for who, text, minute in (
        ("Ana", WISH, 0), ("Ben", WISH, 0), ("Ben", "The cake stands on the shelf.", 5), ("Cy", "Thanks to you all.", 6),
    )
]  # fmt: skip


@pytest.mark.parametrize("who", ["Ana", "Ben"])
def test_one_of_two_who_said_the_same_stays_forgotten_under_another_name(
    goalmem: Goalmem, tmp_path: Path, place: str, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are forgotten; so are both in the form of older versions, which had one number a text, where it tells it."""
    monkeypatch.setenv("GOALMEM_STORE", place.format(tmp_path / "one"))
    told = [*CREW, {**LATER, "name": "Ana", "content": "I bring the plates."}]
    stored(goalmem, tmp_path / "a.json", *told)
    goalmem("forget", "--speaker", "Ana", "--speaker", "Ben", "--yes")
    renamed = stored(goalmem, tmp_path / "a.json", *({**one, "name": one["name"].replace(who, "Dee")} for one in told))
    assert said(goalmem) == ["Thanks to you all."]
    marks = next(tmp_path.glob(f"**/{FORGOTTEN}"))
    document = json.loads(marks.read_text("utf-8"))
    assert [numbers for numbers in document["somebody"].values() if type(numbers) is list] == [[1, 2]] * 2
    document["somebody"] = dict.fromkeys(document["somebody"], 1 if who == "Ana" else 2)
    marks.write_text(json.dumps(document), "utf-8")
    assert "4 turns that were forgotten" in goalmem("ingest", str(renamed)).err
    assert said(goalmem) == ["Thanks to you all."]


def test_restoring_one_of_two_who_said_the_same_leaves_the_other_forgotten() -> None:
    """Under new names too; one that may be either restores neither, and one beside the other's old name does."""
    ana, ben = (Turn("c", 0, place, who, WISH, datetime(2026, 1, 1, 10, 0, 1)) for place, who in enumerate(("A", "B")))
    rooms, dee = ("name c",), replace(ana, speaker="Dee")
    marks = Tombstones(b"k" * 32).with_turns([ana, ben], {"c": rooms})
    for one, other in ((ana, ben), (ben, ana)):
        left = marks.without(marks.forgotten(one, rooms))
        assert not left.forgotten(one, rooms)
        assert left.forgotten(other, rooms) and left.said_by_somebody(dee)
        assert left.used_up(left.forgotten(other, rooms), left.said_by_somebody(dee)) == left.said_by_somebody(dee)
        assert marks.without(marks.forgotten(one, rooms) | marks.said_by_somebody(dee)).is_empty
    either_ = marks.without(marks.said_by_somebody(dee))
    assert either_.forgotten(ana, rooms) and either_.forgotten(ben, rooms)
    assert not marks.used_up(marks.forgotten(ana, rooms), marks.said_by_somebody(dee))
    assert marks.joined(Tombstones(b"k" * 32).with_turns([ben], {"c": rooms})).somebody == marks.somebody


def test_the_same_words_of_one_instant_are_two_forgotten_turns(goalmem: Goalmem, tmp_path: Path, place: str) -> None:
    """They are counted as two, and restoring one leaves the other forgotten; a copy elsewhere knows both as well."""
    a, b = (str(tmp_path / f"{name}.json") for name in "ab")
    stored(goalmem, Path(a), PIN)
    stored(goalmem, Path(b), SAME_WORDS)
    goalmem("forget", "--speaker", "Nora", "--yes")
    goalmem("forget", "--speaker", "Tom", "--yes")
    assert goalmem("forget", "--list", "-q").out == "forgotten: 2 turns\n"
    goalmem("stores", "export", "--with-forgotten", "--out", "marks.jsonl")
    there = ("--store", place.format(tmp_path / "there"))
    assert goalmem("ingest", "marks.jsonl", "--take-forgotten", *there).code == 0
    assert goalmem("forget", "--list", *there).out == "forgotten: 2 turns\n"
    goalmem("ingest", a, "--restore-forgotten")
    assert "nothing new" in goalmem("ingest", b).out
    assert said(goalmem) == [PIN["content"]]


def test_the_instant_counts_and_not_how_it_is_written(goalmem: Goalmem, talk: Path) -> None:
    """Another export may have the same instant in another zone."""
    goalmem("forget", "--speaker", "Nora", "--yes")
    stored(goalmem, talk.with_name("zone.json"), {**PIN, "timestamp": "2026-01-01T11:00:00+01:00"})
    assert said(goalmem) == [REPLY["content"]]


def test_a_turn_without_a_time_is_known_by_its_conversation(goalmem: Goalmem, tmp_path: Path) -> None:
    """The same words in another conversation are another turn."""
    words = "Nora: My PIN is 8843.\nRavi: Do not write it here.\nNora: Right.\nRavi: Good.\n"
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text(words if name == "one.txt" else words + "Nora: Bye.\n", "utf-8")
    goalmem("ingest", "one.txt")
    goalmem("forget", "one", "--speaker", "Nora", "--yes")
    assert goalmem("ingest", "one.txt").out == "one.txt: names, 1 conversation, 4 turns, nothing new\n"
    assert "5 turns, 5 new stored" in goalmem("ingest", "two.txt").out


def test_forgotten_turns_are_stored_again_where_that_is_wanted(goalmem: Goalmem, talk: Path) -> None:
    """`--restore-forgotten` stores them, and they are no longer forgotten; a dry run of it changes nothing."""
    goalmem("forget", "--speaker", "Nora", "--yes")
    goalmem("ingest", str(talk), "--restore-forgotten", "--dry-run")
    assert goalmem("forget", "--list").out == "forgotten: 1 turn\n"
    outcome = goalmem("ingest", str(talk), "--restore-forgotten")
    assert "1 new stored" in outcome.out
    assert "stored again: 1 turn that was forgotten" in outcome.err
    assert goalmem("forget", "--list").code == 1
    assert said(goalmem) == [PIN["content"], REPLY["content"]]


def test_nothing_is_left_where_that_is_wanted(goalmem: Goalmem, talk: Path) -> None:
    """With `--leave-nothing` nobody can tell that anything was forgotten, and reading brings it back."""
    goalmem("forget", "--speaker", "Nora", "--yes", "--leave-nothing")
    assert not Path("store", FORGOTTEN).exists()
    assert "1 new stored" in goalmem("ingest", str(talk)).out


@pytest.mark.parametrize("words", [("--speaker", "Nora"), ("talk",), ("talk", "--speaker", "Nora")])
def test_what_comes_later_is_forgotten_too_with_always(goalmem: Goalmem, talk: Path, words: tuple[str, ...]) -> None:
    """Of the speaker, the conversation, or the speaker there; until it is restored."""
    assert goalmem("forget", *words, "--always", "--yes").code == 0
    stored(goalmem, talk, PIN, REPLY, LATER)
    assert LATER["content"] not in said(goalmem)
    listed = json.loads(goalmem("forget", "--list", "--json").out)
    assert (listed["turns"], listed["always"]) == (2 if words == ("talk",) else 1, 1)
    stored(goalmem, talk.with_name("other.json"), {**LATER, "content": "I keep bees."})
    assert ("I keep bees." in said(goalmem)) == ("talk" in words)
    goalmem("ingest", str(talk), "--restore-forgotten")
    assert said(goalmem)[-1] == LATER["content"]
    assert goalmem("forget", "--list").code == 1


def test_always_can_be_said_when_nothing_of_somebody_is_left(goalmem: Goalmem, talk: Path) -> None:
    """Who was forgotten before can be left out from then on; stored again, that ends, and it is said."""
    assert goalmem("forget", "--speaker", "Nora", "--yes").code == 0
    assert goalmem("forget", "--speaker", "Nora", "--yes").code == 2
    assert "what comes later" in goalmem("forget", "--speaker", "Nora", "--always", "--yes").err
    assert json.loads(goalmem("forget", "--list", "--json").out)["always"] == 1
    assert "left out" in goalmem("ingest", str(talk)).err
    assert "--always ended" in goalmem("ingest", str(talk), "--restore-forgotten").err
    assert goalmem("forget", "--list").code == 1


def test_always_is_of_the_person_and_not_of_whoever_gets_the_name(goalmem: Goalmem, talk: Path) -> None:
    """Whom the user calls Nora later is somebody else; who was called Ray as Ravi was forgotten is not, nor a merged."""
    bees, leeks = ({**LATER, "name": name, "content": text} for name, text in (("Bob", "Bees."), ("Robert", "Leeks.")))
    assert goalmem("forget", "--speaker", "Nora", "--always", "--yes").code == 0
    goalmem("people", "name", "Ravi", "Ray")
    assert goalmem("forget", "--speaker", "Ray", "--always", "--yes").code == 0
    stored(goalmem, talk, PIN, {**REPLY, "name": "Ray", "content": "Not here."}, bees)
    assert said(goalmem) == ["Bees."]
    assert goalmem("people", "name", "Bob", "Nora").code == 0
    stored(goalmem, talk.with_name("new.json"), {**bees, "content": "Honey."}, {**LATER, "content": "Her own words."})
    assert sorted(said(goalmem)) == ["Bees.", "Honey."]
    stored(goalmem, talk.with_name("more.json"), leeks)
    assert goalmem("people", "merge", "Robert", "Bob").code == 0
    assert goalmem("forget", "more", "--speaker", "Bob", "--always", "--yes").code == 0
    stored(goalmem, talk.with_name("more.json"), {**bees, "content": "Wax."}, {**leeks, "content": "Peas."})
    assert sorted(said(goalmem)) == ["Bees.", "Honey."]


@pytest.mark.parametrize("has_id", [False, True])
def test_a_given_name_is_left_out_only_where_that_person_speaks(goalmem: Goalmem, tmp_path: Path, has_id: bool) -> None:
    """Somebody else of that name is stored in another chat; an id says who it is without a name."""
    mum, chat_ = {**LATER, "name": "Mum", "content": "I am your real mum."}, tmp_path / "chat.json"

    def grown(*told: tuple[str, str]) -> None:
        if not has_id:
            stored(goalmem, chat_, *({**REPLY, "name": name, "content": text} for name, text in told))
            return
        lines = [
            {"id": place, "type": "message", "date": f"2026-01-0{place}T10:00:00", "date_unixtime": f"176{place}000000",
             "from": name, "from_id": "user7" if name != "Ivo" else "user8", "text": text}
            for place, (name, text) in enumerate(told, 1)
        ]  # fmt: skip
        chat_.write_text(json.dumps({"name": "K", "type": "personal_chat", "id": 5, "messages": lines}), "utf-8")
        assert goalmem("ingest", str(chat_)).code == 0

    first = [("Ravi", "Hello there."), ("Ivo", "Hm.")]
    grown(*first)
    assert goalmem("people", "name", "Ravi", "Mum").code == 0
    assert goalmem("forget", "--speaker", "Ravi", "--always", "--yes").code == 0
    stored(goalmem, tmp_path / "other.json", mum)
    grown(*first, ("Mum", "Bye then."))
    assert sorted(said(goalmem)) == ["Hm.", "I am your real mum."]


def test_notes_of_a_newer_goalmem_stop_what_needs_them(goalmem: Goalmem, talk: Path) -> None:
    """Before anything is deleted or read, as a forgotten turn's name may be in them; if none is, files are read."""
    Path("store", PEOPLE).write_text('{"schema_version": 2, "people": []}', "utf-8")
    stored(goalmem, talk, PIN, REPLY, LATER)
    for words in (("forget", "talk", "--yes", "--leave-nothing"), ("forget", "talk", "--yes")):
        assert goalmem(*words).code == 3
        assert json.loads(goalmem("stores", "show", "--json").out)["stats"]["turns"] == 3
    Path("store", PEOPLE).unlink()
    assert goalmem("forget", "talk", "--yes").code == 0
    Path("store", PEOPLE).write_text('{"schema_version": 2, "people": []}', "utf-8")
    outcome = goalmem("ingest", str(talk))
    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.error_lines == [
        f"{Path('store', PEOPLE).resolve()} was written by a newer goalmem",
        "update goalmem",
    ]


@pytest.mark.parametrize("name", ["", " "])
def test_always_needs_a_name(goalmem: Goalmem, talk: Path, name: str) -> None:
    """An empty one names nobody, and leaves no mark."""
    assert talk.exists()
    outcome = goalmem("forget", "--speaker", name, "--always", "--yes")
    assert outcome.code == 2
    assert outcome.error_lines[0] == "--speaker: the name is empty"
    assert goalmem("forget", "--list").code == 1


def test_always_says_that_nobody_has_the_name(goalmem: Goalmem, talk: Path) -> None:
    """With who may be meant, before it asks; of a stored speaker it says nothing."""
    assert talk.exists()
    asked = goalmem("forget", "--speaker", "Norra", "--always")
    assert asked.code == 2
    told = "nobody called 'Norra' speaks here (did you mean 'Nora'?): only what comes later is left out"
    assert told in asked.err
    assert goalmem("forget", "--list").code == 1
    outcome = goalmem("forget", "--speaker", "Norra", "--always", "--yes")
    assert outcome.code == 0
    assert told in outcome.err
    unlike = goalmem("forget", "--speaker", "Zbigniew", "--always", "--yes").err
    assert "nobody called 'Zbigniew' speaks here: only what comes later is left out" in unlike
    assert "nobody called" not in goalmem("forget", "--speaker", "Nora", "--always", "--yes").err


@pytest.mark.parametrize("has_id", [False, True])
def test_always_can_be_said_of_a_conversation_that_is_gone(
    goalmem: Goalmem, tmp_path: Path, place: str, has_id: bool
) -> None:
    """By the name that it had here, of files with and without own ids; other conversations are stored; until restored."""
    there, file = place.format("there"), tmp_path / "talk.json"

    def write(name: str, *messages: dict[str, str]) -> str:
        told = [{"id": name, "messages": messages}] if has_id else messages
        (found := file.with_name(f"{name}.json")).write_text(json.dumps(told), "utf-8")
        return goalmem("ingest", str(found), "--store", there).out

    write("other", SAME_WORDS, PIN)
    write("talk", PIN, REPLY)
    assert goalmem("forget", "talk", "--yes", "--store", there).code == 0
    assert goalmem("forget", "talk", "--yes", "--store", there).code == 2
    outcome = goalmem("forget", "talk", "--always", "--yes", "--store", there)
    assert (outcome.code, "no conversation is called 'talk' here" in outcome.err) == (0, True)
    assert json.loads(goalmem("forget", "--list", "--json", "--store", there).out)["always"] == 1
    assert "3 turns, nothing new" in write("talk", PIN, REPLY, LATER)
    assert "3 turns, 1 new stored" in write("other", SAME_WORDS, PIN, LATER)
    outcome = goalmem("ingest", str(file), "--restore-forgotten", "--store", there)
    assert ("3 new stored" in outcome.out, "--always ended" in outcome.err) == (True, True)


@pytest.mark.parametrize("words", [("--before", "2026-01-02"), ("--leave-nothing",)])
def test_always_excludes_what_contradicts_it(goalmem: Goalmem, talk: Path, words: tuple[str, ...]) -> None:
    """It is about all that comes later."""
    assert talk.exists()
    assert goalmem("forget", "--speaker", "Nora", "--always", *words, "--yes").code == 2
    assert len(said(goalmem)) == 2


def test_an_exported_store_does_not_bring_it_back(goalmem: Goalmem, talk: Path) -> None:
    """Neither the turn nor what goalmem's own memory derived from it."""
    assert talk.exists()
    said(goalmem)
    Path("all.jsonl").rename("before.jsonl")
    goalmem("forget", "--speaker", "Nora", "--yes")
    assert goalmem("ingest", "before.jsonl").code == 0
    assert said(goalmem) == [REPLY["content"]]
    assert goalmem("stores", "verify", "-q").code == 0


def test_the_marks_are_private_and_go_with_the_store(goalmem: Goalmem, talk: Path) -> None:
    """Only the owner can read the key; a removed store leaves nothing."""
    assert talk.exists()
    goalmem("forget", "--speaker", "Nora", "--yes")
    assert stat.S_IMODE(Path("store", FORGOTTEN).stat().st_mode) == 0o600
    assert goalmem("stores", "remove", "--yes").code == 0
    assert not Path("store").exists()


def test_a_copy_has_the_marks(goalmem: Goalmem, talk: Path) -> None:
    """Whoever goes on with a copy, or with a database, does not read in again what was forgotten."""
    goalmem("forget", "--speaker", "Nora", "--yes")
    assert goalmem("stores", "copy", "store", "copy").code == 0
    assert "1 turn that was forgotten" in goalmem("ingest", str(talk), "--store", "copy").err


@pytest.mark.parametrize("content", [
    "", "[]", '{"schema_version": 9}', '{"schema_version": 1, "key": "x"}',
    *(json.dumps({
        "schema_version": 1, "key": "00" * 32, "turns": {"a" * 32: 1}, "always": {}, "redacted": [],
        "somebody": {"b" * 32: numbers},
    }) for numbers in list[object](("1", "", {}, None, True, 1.0, [1.0], [True], [[1]], ["1"], [-1]))),
])  # fmt: skip
def test_a_garbled_file_stops_reading(goalmem: Goalmem, talk: Path, content: str) -> None:
    """Reading on would bring back what was forgotten."""
    Path("store", FORGOTTEN).write_text(content, "utf-8")
    outcome = goalmem("ingest", str(talk))
    assert (outcome.code, "nobody knows what was forgotten" in outcome.err) == (3, True)


def test_a_long_conversation_keeps_what_was_not_forgotten(
    goalmem: Goalmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes in several stretches: the first may be forgotten whole, and so may one between."""
    monkeypatch.setattr("goalmem_cli.transcripts.reading.drafts.STRETCH_TURNS", 2)
    messages = [
        {"role": "user", "name": name, "content": f"Line {place}.", "timestamp": f"2026-01-0{place}T10:00:00+00:00"}
        for place, name in enumerate(["Nora", "Nora", "Ravi", "Ravi", "Nora", "Nora", "Ravi"], 1)
    ]
    talk = stored(goalmem, tmp_path / "talk.json", *messages)
    goalmem("forget", "--speaker", "Nora", "--yes")
    goalmem("forget", "--speaker", "Ravi", "--yes", "--leave-nothing")
    assert "7 turns, 3 new stored" in goalmem("ingest", str(talk)).out
    assert said(goalmem) == ["Line 3.", "Line 4.", "Line 7."]
    assert json.loads(goalmem("stores", "show", "--json").out)["stats"]["conversations"] == 1


def test_a_memory_in_milvus_keeps_marks_as_well(
    goalmem: Goalmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They lie where goalmem keeps what belongs to it."""
    monkeypatch.setenv("GOALMEM_STORE", f"milvus:{tmp_path / 'database'}")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    sample = str(SAMPLES / "momoco.json")
    try:
        goalmem("ingest", sample)
        goalmem("forget", "--speaker", "Ben", "--yes")
        outcome = goalmem("ingest", sample)
        assert "nothing new" in outcome.out
        assert "turns that were forgotten" in outcome.err
        assert goalmem("stores", "remove", "--yes").code == 0
        assert not list(tmp_path.rglob(FORGOTTEN))
    finally:
        close_embedded()


def test_stopped_before_it_deletes_nothing_is_lost(
    goalmem: Goalmem, talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The marks come first: what is marked is still stored then, and forgetting again deletes it."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped:
        stopped.setattr("goalmem_cli.store.changes.forgetting.Forgetting.forget", stop)
        assert goalmem("forget", "--speaker", "Nora", "--yes").code == 130
    assert goalmem("ingest", str(talk)).code == 0
    assert said(goalmem) == [PIN["content"], REPLY["content"]]
    assert goalmem("forget", "--speaker", "Nora", "--yes").code == 0
    assert said(goalmem) == [REPLY["content"]]


def untimed(goalmem: Goalmem, file: Path, *lines: str) -> str:
    """Write messages without times, user and assistant in turn, read the file, and return what was said of it."""
    file.parent.mkdir(exist_ok=True)
    roles = ("user", "assistant")
    messages = [{"role": roles[place % 2], "content": line} for place, line in enumerate(lines)]
    file.write_text(json.dumps(messages), "utf-8")
    outcome = goalmem("ingest", str(file))
    return outcome.out + outcome.err


def test_two_files_of_one_name_are_two_conversations(goalmem: Goalmem, tmp_path: Path) -> None:
    """What was forgotten of one stays forgotten, whatever it is called in the store; the other is stored whole."""
    one, other = tmp_path / "p" / "chat.json", tmp_path / "q" / "chat.json"
    hens, bees = ("hi", "Hello!", "I keep hens.", "Good."), ("hi", "Hello!", "I keep bees.", "Nice.")
    untimed(goalmem, one, *hens)
    untimed(goalmem, other, *bees)
    assert goalmem("forget", "chat-2", "--yes").code == 0
    assert "4 turns, nothing new" in untimed(goalmem, other, *bees)
    assert "nothing new" in untimed(goalmem, one, *hens)
    assert "forgotten" not in untimed(goalmem, one, *hens)
    assert goalmem("forget", "chat", "--yes").code == 0
    assert "4 turns, 4 new stored" in untimed(goalmem, tmp_path / "r" / "chat.json", *hens)


def test_words_that_were_said_again_are_another_turn(goalmem: Goalmem, tmp_path: Path) -> None:
    """Without times a turn is known by its place."""
    talk = tmp_path / "talk.json"
    untimed(goalmem, talk, "yes", "Fine.")
    goalmem("forget", "--speaker", "user", "--yes")
    assert "3 turns, 1 new stored" in untimed(goalmem, talk, "yes", "Fine.", "yes")


def test_what_another_conversation_still_has_is_not_said_to_be_left_out(goalmem: Goalmem, talk: Path) -> None:
    """The same person may have said the same at once to two: the one that is stored stays."""
    other = stored(goalmem, talk.with_name("other.json"), PIN, LATER)
    goalmem("forget", "talk", "--yes")
    outcome = goalmem("ingest", str(other))
    assert "nothing new" in outcome.out
    assert "forgotten" not in outcome.err
    assert said(goalmem) == [PIN["content"], LATER["content"]]


def test_an_edited_message_does_not_come_back(goalmem: Goalmem, tmp_path: Path) -> None:
    """Where messages have ids, they are known by them too."""
    line = {"type": "user", "sessionId": "s1", "uuid": "a1", "timestamp": "2025-05-01T10:00:00.000Z"}
    file = tmp_path / "s1.jsonl"
    for text, new in (("My PIN is 8843.", "1 new"), ("My PIN is 8843!", "nothing new")):
        file.write_text(json.dumps({**line, "message": {"role": "user", "content": text}}) + "\n", "utf-8")
        assert new in goalmem("ingest", str(file)).out
        goalmem("forget", "s1", "--yes")


def test_the_list_is_asked_for_alone(goalmem: Goalmem, talk: Path) -> None:
    """It forgets nothing, whatever stands beside it."""
    assert talk.exists()
    assert goalmem("forget", "talk", "--list").code == 2


def test_what_is_forgotten_while_files_are_read_stays_forgotten(tmp_path: Path) -> None:
    """Marks that another process writes meanwhile are not overwritten."""
    with goalmem_cli.open(tmp_path / "store") as memory:
        memory.ingest(SAMPLES / "momoco.json")
        known = KnownMemory(memory.kept, is_dry=False)
        memory.forget(speakers=["Ben"])
        known.change(lambda marks: marks.with_redacted({MARK}))  # nothing was marked when the reading began
        forgotten = Tombstones.of_folder(tmp_path / "store")
        assert forgotten.turns and not forgotten.redacted
        known = KnownMemory(memory.kept, is_dry=False)
        memory.forget(speakers=["Alice"])
        known.change(lambda marks: marks.with_redacted({MARK}))
        both = Tombstones.of_folder(tmp_path / "store")
        assert both.turns.keys() > forgotten.turns.keys() and both.redacted == {MARK}


# Taken elsewhere


def carried(goalmem: Goalmem, store: str = "store", file: str = "carried.jsonl") -> Path:
    """Return the memory's export with the marks."""
    assert goalmem("stores", "export", "--with-forgotten", "--out", file, "--store", store, "--yes").code == 0
    return Path(file)


def marks_of(file: Path) -> list[dict[str, dict[str, int]]]:
    """Return the marks that stand last in an export."""
    forgotten: list[dict[str, dict[str, int]]] = json.loads(file.read_text("utf-8").splitlines()[-1])["forgotten"]
    return forgotten


def test_it_stays_forgotten_in_another_memory(goalmem: Goalmem, tmp_path: Path, place: str) -> None:
    """An export that has the marks tells them to a memory that is told to take them; there, they are as its own."""
    there, here = place.format("there"), place.format("here")
    talk = tmp_path / "talk.json"
    talk.write_text(json.dumps([PIN, REPLY]), "utf-8")
    goalmem("ingest", str(talk), "--store", there)
    goalmem("forget", "--speaker", "Nora", "--yes", "--store", there)
    file = carried(goalmem, there)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "PIN is 8843" not in file.read_text("utf-8")

    outcome = goalmem("ingest", str(file), "--take-forgotten", "--store", here)
    assert "taken over: marks of what was forgotten where it comes from (1 turn)" in outcome.err
    assert goalmem("forget", "--list", "--store", here).out == "forgotten: 1 turn\n"
    assert not (tmp_path / "here").exists() or stat.S_IMODE(Path("here", FORGOTTEN).stat().st_mode) == 0o600
    outcome = goalmem("ingest", str(talk), "--store", here)
    assert "left out: 1 turn that was forgotten (--restore-forgotten takes it back)" in outcome.err
    assert marks_of(carried(goalmem, here)) == marks_of(file)

    outcome = goalmem("ingest", str(talk), "--restore-forgotten", "--store", here)
    assert "stored again: 1 turn that was forgotten" in outcome.err
    assert goalmem("forget", "--list", "--store", here).code == 1
    assert goalmem("forget", "--list", "--store", there).out == "forgotten: 1 turn\n"


def test_an_export_has_marks_only_where_that_is_asked_for(goalmem: Goalmem, talk: Path) -> None:
    """It is as it always was before them; where nothing was forgotten there are none; tables never have any."""
    assert talk.exists()
    plain = goalmem("stores", "export").out
    assert goalmem("stores", "export", "--with-forgotten").out == plain
    goalmem("forget", "--speaker", "Nora", "--yes")
    plain = goalmem("stores", "export").out
    *lines, last = goalmem("stores", "export", "--with-forgotten").out.splitlines(keepends=True)
    assert "".join(lines) == plain
    assert list(json.loads(last)) == ["forgotten"]
    assert goalmem("stores", "export", "--with-forgotten", "--parquet", "tables").code == 2


def test_a_file_cannot_have_anything_left_out_unasked(goalmem: Goalmem, talk: Path) -> None:
    """What its marks are is said, and how to take them; nothing is written of them, nor by a dry run that takes them."""
    goalmem("forget", "--speaker", "Nora", "--always", "--yes")
    file, store = str(carried(goalmem)), ("--store", "other")
    (words,) = goalmem("ingest", file, *store).err.splitlines()
    assert words.endswith("(1 turn, and all that comes of 1 conversation or speaker): --take-forgotten takes them over")
    dry = goalmem("ingest", file, "--take-forgotten", "--dry-run", *store).err
    assert (
        dry
        == f"{file}: would be taken over: marks of what was forgotten where it comes from{words.rpartition('from')[2].partition(':')[0]}\n"
    )
    assert words.removeprefix(file) in goalmem("ingest", file, "--explain").out.replace("  it has", f"{file}: it has")
    assert not Path("other", FORGOTTEN).exists()
    assert "1 new stored" in goalmem("ingest", str(talk), *store).out  # Nora's; the reply came with the export
    (told,) = json.loads(goalmem("ingest", file, "--json", *store).out)["files"]
    assert told["marked"] == {"turns": 1, "always": 1}


def test_what_comes_later_stays_forgotten_in_another_memory(goalmem: Goalmem, talk: Path) -> None:
    """A wish made with `--always` is taken over too, even where nothing is stored yet."""
    goalmem("forget", "--speaker", "Nora", "--speaker", "Ravi", "--always", "--yes")
    file = str(carried(goalmem))
    assert goalmem("ingest", file, "--take-forgotten", "--store", "other").out == (
        f"{file}: goalmem, 0 conversations, 0 turns, nothing new\n"
    )
    assert stat.S_IMODE(Path("other").stat().st_mode) == 0o700
    talk.write_text(json.dumps([PIN, REPLY, LATER, {**LATER, "name": "Tom"}]), "utf-8")
    assert "4 turns, 1 new stored" in goalmem("ingest", str(talk), "--store", "other").out
    listed = goalmem("forget", "--list", "--store", "other").out
    assert listed == "forgotten: 2 turns, and all that comes of 2 conversations or speakers\n"


def test_each_memory_has_a_key_of_its_own(goalmem: Goalmem, talk: Path) -> None:
    """What is taken over is kept beside it, under the key that it came with, and goes on to a third; twice is once."""
    goalmem("forget", "--speaker", "Nora", "--yes")
    one = carried(goalmem, file="one.jsonl")
    goalmem("ingest", str(talk), "--store", "other")
    goalmem("forget", "--speaker", "Ravi", "--yes", "--store", "other")
    for _ in range(2):
        goalmem("ingest", str(one), "--take-forgotten", "--store", "other")
    both = carried(goalmem, "other", "both.jsonl")
    keys = [marks["key"] for marks in marks_of(both)]
    assert keys[1:] == [marks["key"] for marks in marks_of(one)] != keys[:1]
    goalmem("ingest", str(both), "--take-forgotten", "--store", "third")
    assert "nothing new" in goalmem("ingest", str(talk), "--store", "third").out
    assert goalmem("forget", "--list", "--store", "third").out == "forgotten: 2 turns\n"
    goalmem("ingest", str(both), "--take-forgotten")  # where its own come back, they are its own
    own = json.loads(Path("store", FORGOTTEN).read_text("utf-8"))
    assert (own["key"], [other["key"] for other in own["carried"]]) == (keys[1], keys[:1])


def test_marks_hold_for_the_files_behind_them(goalmem: Goalmem, talk: Path) -> None:
    """In the command that takes them already; what the export itself has is stored, though another of the like is not."""
    stored(goalmem, talk.with_name("other.json"), PIN, LATER)
    goalmem("forget", "talk", "--yes")
    file = carried(goalmem)
    for _ in range(2):
        outcome = goalmem("ingest", str(file), str(talk), "--take-forgotten", "--store", "there")
        assert outcome.out.splitlines()[1] == f"{talk}: openai, 1 conversation, 2 turns, nothing new"
        assert "forgotten (" in outcome.err
    assert json.loads(goalmem("stores", "show", "--json", "--store", "there").out)["stats"]["turns"] == 2


def test_marks_hold_while_secrets_are_blacked_out(goalmem: Goalmem, talk: Path) -> None:
    """That is marked at once, which loses none of the marks that are taken over, and writes none of them too early."""
    goalmem("forget", "--speaker", "Nora", "--yes")
    file = carried(goalmem)
    secret = talk.with_name("secret.json")
    secret.write_text(json.dumps([{**LATER, "content": "The key is AKIAIOSFODNN7EXAMPLE."}]), "utf-8")
    for store in ("new", "new", "store"):
        outcome = goalmem("ingest", str(file), str(secret), str(talk), "--take-forgotten", "--redact", "--store", store)
        assert "redacted: 1 aws key" in outcome.err
        assert f"{talk}: left out: 1 turn that was forgotten" in outcome.err
    with goalmem_cli.open(Path("third")) as memory:
        memory.ingest(talk)
        known = KnownMemory(memory.kept, is_dry=False)
        known.carry([Tombstones.of_folder(Path("new"))])
        for mark in (MARK, MARK[::-1]):
            known.change(partial(Tombstones.with_redacted, marks=[mark]))
            assert Tombstones.of_folder(Path("third")).carried == ()
            assert known.marks.redacted >= {mark} and known.marks.counts == (1, 0)
        known.settle()
        both = Tombstones.of_folder(Path("third"))
        assert both == known.marks and both.redacted == {MARK, MARK[::-1]} and both.counts == (1, 0)


def test_marks_that_cannot_be_read_hinder_no_forgetting_without_marks(goalmem: Goalmem, talk: Path) -> None:
    """The file stays as it is, for the error of the next command that needs it."""
    assert goalmem("forget", "--speaker", "Nora", "--yes").code == 0
    (file,) = Path().rglob(FORGOTTEN)
    file.write_text("{", "utf-8")
    assert goalmem("forget", talk.stem, "--leave-nothing", "--yes").code == 0
    assert file.read_text("utf-8") == "{"


@pytest.mark.parametrize(
    "told",
    [
        '{"forgotten": [',
        '{"forgotten": null}',
        '{"forgotten": ["a"]}',
        '{"forgotten": [{"key": "KEY", "turns": {}, "always": {}}]}',
        '{"forgotten": [{"key": "abcd", "turns": {}, "always": {}, "redacted": []}]}',
        '{"forgotten": [{"key": 7, "turns": {}, "always": {}, "redacted": []}]}',
        '{"forgotten": [{"key": "KEY", "turns": {"../../x": 1}, "always": {}, "redacted": []}]}',
        '{"forgotten": [{"key": "KEY", "turns": {"MARK": "1"}, "always": {}, "redacted": []}]}',
        '{"forgotten": [{"key": "KEY", "turns": {"MARK": 1e400}, "always": {}, "redacted": []}]}',
        '{"forgotten": [{"key": "KEY", "turns": {}, "always": {}, "redacted": [[]]}]}',
        '{"forgotten": [{"key": "KEY", "turns": {}, "always": {"EVERYTHING": 1}, "redacted": []}]}',
        '{"forgotten": []}\n{"conversation": "more", "format": "openai", "own_id": null}',
    ],
)
def test_marks_that_nobody_exported_are_refused(goalmem: Goalmem, talk: Path, told: str) -> None:
    """In one line that says where they stand; none of them is taken, and strict reading stores nothing of the file."""
    assert talk.exists()
    everything = Tombstones(bytes.fromhex(KEY)).mark("always", None, None)
    told = told.replace("KEY", KEY).replace("MARK", MARK).replace("EVERYTHING", everything)
    file = Path("damaged.jsonl")
    file.write_text(goalmem("stores", "export").out + told + "\n", "utf-8")
    for flags in ((), ("--take-forgotten",), ("--strict-input", "--take-forgotten")):
        outcome = goalmem("ingest", str(file), "--store", "other", *flags)
        (error,) = [line for line in outcome.err.splitlines() if line.startswith("error: ")]
        assert outcome.code == 5 and error.startswith(f"error: {file}: line ")
        assert not Path("other", FORGOTTEN).exists()
    assert goalmem("ingest", str(file), "--store", "strict", "--strict-input").code == 5
    assert not Path("strict").exists()


def test_marks_are_no_more_than_can_be_read(goalmem: Goalmem, talk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither of one file, nor of many together; a memory that has more exports no line that cannot be read."""
    assert talk.exists()
    goalmem("forget", "--speaker", "Nora", "--yes")
    one, heading = carried(goalmem), '{"goalmem": 1}\n'
    others = [Path(f"{key}.jsonl") for key in ("aa", "bb")]
    for each in others:
        marks = {"key": each.stem * 32, "turns": {MARK: 1}, "always": {}, "redacted": []}
        each.write_text(heading + json.dumps({"forgotten": [marks]}), "utf-8")
    monkeypatch.setattr("goalmem_cli.store.tombstones.MOST_MEMORIES", 2)
    outcome = goalmem("ingest", str(one), *map(str, others), "--take-forgotten", "--store", "other")
    assert (outcome.code, "bb.jsonl: line 2" in outcome.err) == (5, True)
    assert goalmem("forget", "--list", "--store", "other").out == "forgotten: 2 turns\n"
    monkeypatch.setattr("goalmem_cli.store.tombstones.MOST_MARKS", 1)
    outcome = goalmem("stores", "export", "--with-forgotten", "--out", "many.jsonl", "--store", "other")
    assert (outcome.code, Path("many.jsonl").exists()) == (3, False)
    assert goalmem("stores", "copy", "other", "more").code == 3


def test_what_was_stored_without_its_secrets_is_so_elsewhere(goalmem: Goalmem, tmp_path: Path) -> None:
    """Its marks come along with an export that has marks, and with a copy."""
    secret = {**REPLY, "content": "The AWS key is AKIAIOSFODNN7EXAMPLE."}
    talk = tmp_path / "talk.json"
    talk.write_text(json.dumps([PIN, secret]), "utf-8")
    goalmem("ingest", str(talk), "--redact")
    outcome = goalmem("ingest", str(carried(goalmem)), "--take-forgotten", "--store", "exported")
    assert "taken over: marks of what was forgotten where it comes from (what was stored without its" in outcome.err
    goalmem("stores", "copy", "store", "copied")
    for store in ("exported", "copied"):
        assert "redacted: 1 aws key" in goalmem("ingest", str(talk), "--store", store).err
        assert "AKIA" not in goalmem("stores", "export", "--store", store).out


def test_marks_without_a_memory_are_removed_as_one_is(goalmem: Goalmem, talk: Path, place: str) -> None:
    """Marks that were taken over before anything was stored go, with their key, and then nothing is left out."""
    place = place.format("other")
    goalmem("forget", "talk", "--yes")
    goalmem("ingest", str(carried(goalmem)), "--take-forgotten", "--store", place)
    assert goalmem("stores", "remove", "--store", place).code == 2
    assert goalmem("forget", "--list", "--store", place).out == "forgotten: 2 turns\n"
    outcome = goalmem("stores", "remove", "--store", place, "--yes")
    assert (outcome.code, outcome.out) == (0, f"{place}: removed\n")
    assert "marks of what was forgotten" in outcome.err
    assert goalmem("forget", "--list", "--store", place).code == 1
    assert goalmem("stores", "remove", "--store", place, "--yes").code == 3
    assert "2 new stored" in goalmem("ingest", str(talk), "--store", place).out


def test_a_program_takes_them_along_too(tmp_path: Path) -> None:
    """A memory's export has them where that is wanted, and another takes them where that is wanted."""
    file = tmp_path / "carried.jsonl"
    with goalmem_cli.open(tmp_path / "store") as memory:
        memory.ingest(SAMPLES / "momoco.json")
        gone = memory.forget(speakers=["Ben"]).turns
        assert memory.export(file, with_forgotten=True) == memory.export(tmp_path / "plain.jsonl") + 1
    for takes, left_out in ((False, 0), (True, gone)):
        with goalmem_cli.open(tmp_path / f"other-{takes}") as memory:
            (told,) = memory.ingest(file, takes_forgotten=takes)
            assert told.marked.turns == gone
            assert [done.forgotten for done in memory.ingest(SAMPLES / "momoco.json")] == [left_out]


def test_a_copy_leaves_out_what_is_forgotten_there(goalmem: Goalmem, talk: Path, place: str) -> None:
    """It says so, and brings it back where that is wanted; what the source forgot is forgotten there as well.

    The other memory keeps its own embedder. A new one gets that of its source.
    """
    there = place.format("there")
    goalmem("ingest", str(talk), "--store", there, "--embedder", "static")
    goalmem("forget", "--speaker", "Nora", "--yes", "--store", there)
    goalmem("forget", "--speaker", "Ravi", "--yes")
    assert goalmem("stores", "copy", "store", there).code == 0
    assert goalmem("forget", "--list", "--store", there).out == "forgotten: 2 turns\n"
    goalmem("ingest", str(talk), "--restore-forgotten")
    outcome = goalmem("stores", "copy", "store", there)
    assert outcome.out == f"{there}: 1 conversation, 2 turns, 0 new; 1 compared with store\n"
    assert outcome.err == f"{there}: left out: 1 turn that was forgotten (--restore-forgotten takes it back)\n"
    outcome = goalmem("stores", "copy", "store", there, "--restore-forgotten")
    assert outcome.out == f"{there}: 1 conversation, 2 turns, 1 new; 2 compared with store\n"
    assert "stored again: 1 turn that was forgotten" in outcome.err
    assert "left out" not in goalmem("stores", "copy", "store", there).err
    assert goalmem("stores", "copy", there, "third").code == 0
    used = [
        json.loads(goalmem("embedder", "--json", "--store", one).out)["embedder"] for one in ("store", there, "third")
    ]
    assert used == ["multilingual", "static", "static"]


def test_a_copy_of_what_is_all_forgotten_there_copies_nothing(goalmem: Goalmem, talk: Path) -> None:
    """A whole conversation is left out like a turn; the marks of both are known there, and of a third."""
    goalmem("ingest", str(talk), "--store", "there")
    goalmem("forget", "talk", "--yes", "--store", "there")
    stored(goalmem, talk.with_name("later.json"), LATER)
    goalmem("forget", "later", "--yes")
    outcome = goalmem("stores", "copy", "store", "there")
    assert outcome.out == "there: 1 conversation, 2 turns, 0 new; 0 compared with store\n"
    assert "left out: 2 turns that were forgotten" in outcome.err
    assert goalmem("forget", "--list", "--store", "there").out == "forgotten: 3 turns\n"
    outcome = goalmem("ingest", str(talk), str(talk.with_name("later.json")), "--store", "there")
    assert outcome.out.count("nothing new") == 2
    assert goalmem("stores", "copy", "there", "third").code == 0
    assert goalmem("forget", "--list", "--store", "third").out == "forgotten: 3 turns\n"


LOCKER, PADDLES = "My blue locker has the code zebra nineteen.", "Bring the orange paddles and not the green ones."


def timed(who: str, *told: tuple[str, str]) -> tuple[dict[str, str], ...]:
    """Return messages of one person at these times of one hour."""
    return tuple({**PIN, "name": who, "timestamp": f"2026-03-05T21:{at}+00:00", "content": text} for at, text in told)


WITH_SECONDS, BY_MINUTE = (
    (("15:37", LOCKER), ("17:40", PADDLES), ("18:00", "Thanks.")),
    (("15:00", LOCKER), ("17:00", PADDLES), ("18:00", "Thanks.")),
)


@pytest.mark.parametrize(("first", "then"), [(WITH_SECONDS, BY_MINUTE), (BY_MINUTE, WITH_SECONDS)])
@pytest.mark.parametrize("name", ["Nora", "Nora Vint"])
def test_what_one_export_has_with_seconds_and_another_without_stays_forgotten(
    goalmem: Goalmem,
    tmp_path: Path,
    place: str,
    name: str,
    first: tuple[tuple[str, str], ...],
    then: tuple[tuple[str, str], ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also if the contact has got another name; it can be restored, and each turn counts once."""
    monkeypatch.setenv("GOALMEM_STORE", place.format(tmp_path / "one"))
    stored(goalmem, tmp_path / "a.json", *timed("Nora", *first), REPLY)
    goalmem("forget", "--speaker", "Nora", "--yes")
    others = 3 if name == "Nora" else 0
    other = stored(goalmem, tmp_path / "b.json", *timed(name, *then), *timed("Tom", *then)[:others], LATER)
    assert "3 turns that were forgotten" in goalmem("ingest", str(other)).err
    texts = said(goalmem)
    assert (texts.count(LOCKER), texts.count(PADDLES), texts.count(LATER["content"])) == (
        others // 3,
        others // 3,
        1,
    )  # Tom's
    assert goalmem("forget", "--list", "-q").out == "forgotten: 3 turns\n"
    goalmem("ingest", str(other), "--restore-forgotten")
    assert said(goalmem).count(LOCKER) == others // 3 + 1
    assert goalmem("forget", "--list", "-q").code == 1  # nothing is marked


def test_equal_texts_of_one_minute_are_two_where_seconds_tell_them() -> None:
    """Restoring one leaves the other forgotten; without seconds, both are restored. Marks keep it when they travel."""
    rooms, start = ("name c",), datetime(2026, 3, 5, 21, 15, tzinfo=UTC)
    one, two, whole, third = (Turn("c", 0, at, "Nora", "Ok.", start + timedelta(seconds=at)) for at in (10, 40, 0, 50))
    marks = Tombstones(b"k" * 32).with_turns([one, two], {"c": rooms})
    assert marks.counts == (2, 0) and not marks.forgotten(third, rooms)
    for each in (marks, Tombstones.of_document(json.loads(json.dumps(marks.document()))), marks.joined(marks)):
        assert each.minutes == marks.minutes and each.forgotten(whole, rooms)
        left = each.without(each.forgotten(one, rooms))
        assert left.counts == (1, 0) and left.forgotten(two, rooms) and left.forgotten(whole, rooms)
        assert each.without(each.forgotten(whole, rooms)).is_empty
    both = marks.with_turns([whole], {"c": rooms})
    assert both.counts == (3, 0) and both.without(both.forgotten(whole, rooms)).counts == (2, 0)
    assert marks.used_up(marks.forgotten(whole, rooms), marks.said_by_somebody(whole)) == marks.said_by_somebody(whole)


def test_marks_without_seconds_of_earlier_versions_know_what_comes_with_them() -> None:
    """One with seconds is known by the minute's mark only if the texts and the speakers are equal."""
    key = Tombstones(b"k" * 32)
    old = replace(key, turns={key.mark("said", "instant 1767261600000000", "Nora", "My PIN is 8843."): 1})
    turn = Turn("c", 0, 0, "Nora", "My PIN is 8843.", datetime(2026, 1, 1, 10, 0, 59, 999, tzinfo=UTC))
    assert old.forgotten(turn, ("name c",)) and old.without(old.forgotten(turn, ("name c",))).is_empty
    assert not any(
        old.forgotten(each, ("name c",))
        for each in (
            replace(turn, speaker="Tom"), replace(turn, text="It is 8843."),
            replace(turn, said=datetime(2026, 1, 1, 10, 1, 1, tzinfo=UTC)),
        )
    )  # fmt: skip


@pytest.mark.parametrize(("first", "then"), [("15:37", "15:00"), ("15:00", "15:37")])
@pytest.mark.parametrize("name", ["Nora", "Nora Vint"])
def test_a_redacted_turn_stays_so_with_seconds_and_without(
    goalmem: Goalmem, tmp_path: Path, first: str, then: str, name: str
) -> None:
    """Whatever its speaker is called then."""
    key = "The key is AKIA" + "IOSFODNN7EXAMPLE."
    (tmp_path / "a.json").write_text(json.dumps(timed("Nora", (first, key))), "utf-8")
    assert goalmem("ingest", str(tmp_path / "a.json"), "--redact").code == 0
    stored(goalmem, tmp_path / "b.json", *timed(name, (then, key)))
    assert "AKIA" not in "".join(said(goalmem))

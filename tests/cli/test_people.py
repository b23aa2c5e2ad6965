"""One person under many names, and two of one name: what the user says of them, and what it does everywhere."""

import json
import re
import shlex
import shutil
import stat
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import goalmem_cli
from goalmem_cli.cli.invocation import Invocation
from goalmem_cli.cli.serving.offers import Offers
from goalmem_cli.config import given_settings
from goalmem_cli.library import alike, people
from goalmem_cli.memory_records import Voice
from goalmem_cli.milvus.embedded import close_embedded
from goalmem_cli.ports import Request
from goalmem_cli.render.console import Screen
from goalmem_cli.store.people import LONGEST_NAME, People, Person
from goalmem_cli.store.privacy import PEOPLE
from goalmem_cli.store.roster import Roster
from goalmem_cli.store.store import Store
from goalmem_cli.transcripts.readers import signal_jsonl
from goalmem_cli.wiring import Factories
from tests.invoking import Goalmem, Outcome, scripted
from tests.reasoners.scripting import claims, plan, proved

pytestmark = pytest.mark.usefixtures("here")
NUMBER = "+44 7700 900321"
OLD = f"""\
12/04/2026, 18:02 - {NUMBER} created group “Allotment”
13/04/2026, 09:10 - {NUMBER}: I planted 14 leeks in bed two.
13/04/2026, 09:12 - Nora: Lovely, I water them tonight.
14/04/2026, 20:00 - {NUMBER}: The slugs took three of them.
15/04/2026, 20:00 - {NUMBER}: I work at the dockyard.
"""
NEW = """\
12/04/2026, 18:02 - Ravi created group “Allotment”
13/04/2026, 09:10 - Ravi: I planted 14 leeks in bed two.
13/04/2026, 09:12 - Nora: Lovely, I water them tonight.
14/04/2026, 20:00 - Ravi: The slugs took three of them.
02/05/2026, 08:00 - Nora changed the group name from “Allotment” to “Plot 9”
02/05/2026, 08:05 - Ravi: I put the spare key under the blue pot.
"""
"""After the case 11: a group was renamed, and a number became a name."""
ALEX, OTHER = (
    ("Alex", "user1001", "I sing bass, and I work at the post office."),
    ("Alex", "user2002", "I teach chemistry."),
)
MIA = ("Mia", "user4004", "Rehearsal is in hall C.")
"""After the case 20: two of one name."""


def chat_of(*said: tuple[str, str, str], number: int = 55) -> str:
    """Return a Telegram export in which they say that, a minute after one another."""
    messages = [
        {
            "id": place,
            "type": "message",
            "date_unixtime": str(1769940000 + 60 * place),
            "from": name,
            "from_id": id_,
            "text": text,
        }
        for place, (name, id_, text) in enumerate(said, 1)
    ]
    return json.dumps({"name": "Choir", "type": "private_group", "id": number, "messages": messages})


def stored(goalmem: Goalmem, **files: str) -> None:
    """Read files of these names and contents."""
    for name, content in files.items():
        path = Path(f"{name}.json" if content.startswith("{") else f"WhatsApp Chat with {name}.txt")
        path.write_text(content, "utf-8")
        assert goalmem("ingest", str(path), "--quiet").code == 0


@pytest.fixture
def allotment(goalmem: Goalmem) -> Goalmem:
    """The command over a store with both exports of the renamed group."""
    stored(goalmem, Allotment=OLD, Plot=NEW)
    return goalmem


@pytest.fixture
def choir(goalmem: Goalmem) -> Goalmem:
    """The command over a store in which two are called Alex."""
    stored(goalmem, choir=chat_of(ALEX, OTHER, MIA))
    return goalmem


def hits(goalmem: Goalmem, *words: str) -> list[tuple[str, str]]:
    """Return who said what, of the hits of a search."""
    found = json.loads(goalmem("search", *words, "--json").out)["hits"]
    return [(hit["speaker"], hit["text"]) for hit in found]


def who(goalmem: Goalmem) -> dict[str, dict[str, Any]]:
    """Return what `people` lists, by name."""
    return {one["name"]: one for one in json.loads(goalmem("people", "--json").out)["people"]}


def kept() -> People:
    """Return what the store keeps of people."""
    return People.of_folder(Path("store"))


# One person under many names


def test_people_are_listed_and_who_may_be_one_is_suggested(allotment: Goalmem) -> None:
    """The same turns stand under a number and a name: that is suggested, with the command, and nothing else is."""
    listed = who(allotment)
    assert {name: (one["turns"], one["conversations"]) for name, one in listed.items()} == {
        NUMBER: (3, ["Allotment"]), "Nora": (2, ["Allotment", "Plot"]), "Ravi": (3, ["Plot"]),
    }  # fmt: skip
    assert listed["Ravi"]["first_said"] == "2026-04-13T09:10:00"
    assert listed["Ravi"]["last_said"] == "2026-05-02T08:05:00"
    assert json.loads(allotment("people", "--json").out)["suggestions"] == [
        {"people": [NUMBER, "Ravi"], "reason": "the same 2 turns"}
    ]
    outcome = allotment("people")
    assert f"goalmem people merge '{NUMBER}' Ravi" in outcome.err
    assert "dockyard" not in hits_of("Ravi", allotment)


def test_reading_a_file_says_whose_number_it_may_be(goalmem: Goalmem) -> None:
    """Once, when the turns come that tell it, and not where it is known; a chat without a number says nothing."""
    told = f"{NUMBER} and Ravi may be one person (the same 2 turns): `goalmem people` says more"
    stored(goalmem, Allotment=OLD)
    Path("WhatsApp Chat with Plot.txt").write_text(NEW, "utf-8")
    dry = goalmem("ingest", "WhatsApp Chat with Plot.txt", "--dry-run").err
    assert told in dry and "`goalmem stores join Allotment Plot` joins" in dry
    assert told in goalmem("ingest", "WhatsApp Chat with Plot.txt").err
    assert told not in goalmem("ingest", "WhatsApp Chat with Plot.txt", "--dry-run").err
    assert told not in goalmem("ingest", "WhatsApp Chat with Plot.txt").err
    goalmem("people", "merge", NUMBER, "Ravi")
    Path("WhatsApp Chat with Plot.txt").write_text(NEW + "03/05/2026, 08:05 - Ravi: It rains.\n", "utf-8")
    outcome = goalmem("ingest", "WhatsApp Chat with Plot.txt")
    assert "1 new stored" in outcome.out and "may be one" not in outcome.err


def test_numbers_written_in_two_ways_are_suggested(goalmem: Goalmem) -> None:
    """With and without the code of the country, in a name, and as what a chat of two is called after."""
    stored(
        goalmem,
        one=chat_of((NUMBER, "user1", "One."), ("07700 900321", "", "Two."), ("Ana (00 44 7700 900321)", "", "Three.")),
    )
    found = json.loads(goalmem("people", "--json").out)["suggestions"]
    assert {(*sorted(each["people"]), each["reason"]) for each in found} == {
        (NUMBER, "07700 900321", "one number"),
        (NUMBER, "Ana (00 44 7700 900321)", "the number in the name"),
        ("07700 900321", "Ana (00 44 7700 900321)", "the number in the name"),
    }


def test_a_chat_that_is_called_after_a_number_tells_whose_it_is(goalmem: Goalmem) -> None:
    """As backups of text messages have it: the contact's name inside, the number outside."""
    stored(goalmem, **{NUMBER: "01/04/2026, 09:10 - Ravi: Hello there.\n01/04/2026, 09:12 - Me: Hello.\n"}, Group=OLD)
    found = json.loads(goalmem("people", "--json").out)["suggestions"]
    assert [each["people"] for each in found] == [[NUMBER, "Ravi"]]
    assert found[0]["reason"].startswith("the number is what ")


def test_names_spelled_alike_are_suggested(goalmem: Goalmem) -> None:
    """Case, accents and signs make no other name."""
    stored(goalmem, one=chat_of(("Zoë", "", "One."), ("~ zoe 🌙", "", "Two."), ("Zoey", "", "Three.")))
    found = json.loads(goalmem("people", "--json").out)["suggestions"]
    assert [set(each["people"]) for each in found] == [{"Zoë", "~ zoe 🌙"}]


def hits_of(name: str, goalmem: Goalmem) -> str:
    """Return all that a search among what somebody said finds, as one text."""
    return " ".join(text for _, text in hits(goalmem, "What do you do for work?", "--speaker", name))


def test_a_merged_person_is_one_everywhere(allotment: Goalmem) -> None:
    """In filters, in what is shown, and in what is found of a name; the turns stay as they are."""
    before = allotment("stores", "export").out
    outcome = allotment("people", "merge", NUMBER, "Ravi")
    assert outcome.out == f"{NUMBER} and Ravi are one person now, called Ravi\n"
    assert "`goalmem people split Ravi` takes it back" in outcome.err
    for name in ("Ravi", NUMBER, "+447700900321"):
        assert "dockyard" in hits_of(name, allotment), name
    assert hits(allotment, "Where does Ravi work?", "-k", "1") == [("Ravi", "I work at the dockyard.")]
    assert hits(allotment, "Where does Ravi work?", "-k", "1", "--backbone", "bm25") == [
        ("Ravi", "I work at the dockyard.")
    ]
    assert who(allotment)["Ravi"] | {"first_said": "", "last_said": ""} == {
        "name": "Ravi", "names": [NUMBER, "Ravi"], "ids": [], "conversations": ["Allotment", "Plot"], "turns": 6,
        "first_said": "", "last_said": "", "is_told": True, "numbers": [],
    }  # fmt: skip
    assert json.loads(allotment("people", "--json").out)["suggestions"] == []
    assert allotment("stores", "export").out.split("\n", 1)[1] == before.split("\n", 1)[1]
    assert allotment("stores", "verify").code == 0


def test_splitting_takes_all_of_it_back(allotment: Goalmem) -> None:
    """Afterwards nothing is different from what was before, and no file is left."""
    before = hits(allotment, "Where does Ravi work?"), who(allotment)
    allotment("people", "merge", NUMBER, "Ravi")
    assert (hits(allotment, "Where does Ravi work?"), who(allotment)) != before
    outcome = allotment("people", "split", "Ravi")
    assert outcome.out == f"taken back that Ravi is {NUMBER}, Ravi\n"
    assert f"`goalmem people merge '{NUMBER}' Ravi` says it again" in outcome.err
    assert (hits(allotment, "Where does Ravi work?"), who(allotment)) == before
    assert not Path("store", PEOPLE).exists()


@pytest.mark.parametrize("part", [NUMBER, "Ravi"])
def test_one_name_is_taken_out(allotment: Goalmem, part: str) -> None:
    """Of two names either may go: then they are two again."""
    allotment("people", "merge", NUMBER, "Ravi")
    assert allotment("people", "split", "Ravi", part).code == 0
    assert set(who(allotment)) == {NUMBER, "Nora", "Ravi"}


def test_a_name_is_given_and_taken_back(allotment: Goalmem) -> None:
    """It is used for what is shown and by filters, beside the old one; their own name ends it."""
    assert allotment("people", "name", NUMBER, "Uncle Ravi").out == f"{NUMBER} is called Uncle Ravi now\n"
    assert hits(allotment, "dockyard", "-k", "1", "--speaker", "Uncle Ravi") == [
        ("Uncle Ravi", "I work at the dockyard.")
    ]
    assert hits(allotment, "dockyard", "-k", "1", "--speaker", NUMBER) == [("Uncle Ravi", "I work at the dockyard.")]
    assert allotment("people", "name", "Uncle Ravi", NUMBER).code == 0
    assert not Path("store", PEOPLE).exists()


def test_the_file_is_for_its_owner_alone(allotment: Goalmem) -> None:
    """Its mode is 600, and its folder keeps the mode 700; `doctor` and `stores remove` know it."""
    allotment("people", "merge", NUMBER, "Ravi")
    assert stat.S_IMODE(Path("store", PEOPLE).stat().st_mode) == 0o600
    assert stat.S_IMODE(Path("store").stat().st_mode) == 0o700
    assert allotment("stores", "remove", "--yes").code == 0
    assert not Path("store").exists()


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("merge", "Tom", "Ravi"), "people: nobody is called 'Tom'"),
        (("merge", "Ravi", "ravi"), "people: 'Ravi' and 'ravi' are one person already"),
        (("name", NUMBER, "Ravi"), "people: somebody else is called 'Ravi'"),
        (("name", NUMBER, "  "), "people: the name is empty"),
        (("split", "Ravi"), "people: nothing was said of 'Ravi'"),
    ],
)
def test_what_cannot_be_said_is_refused(allotment: Goalmem, words: tuple[str, ...], error: str) -> None:
    """With what to do, and nothing is kept of it."""
    outcome = allotment("people", *words)
    assert (outcome.code, outcome.error_lines[0]) == (2, error)
    assert not Path("store", PEOPLE).exists()


def test_names_are_data(goalmem: Goalmem) -> None:
    """Neither markup nor an option nor a control character in a name does anything."""
    stored(goalmem, chat=chat_of(("[red]Al[/red]", "user1", "The boat is blue."), ("--yes\x1b[2J", "user2", "Yes.")))
    assert goalmem("people", "name", "user1@telegram", "[bold]\x1b[31mBo[/bold]").code == 0
    outcome = goalmem("people")
    assert "[bold]" in outcome.out and "\x1b" not in outcome.out + outcome.err
    assert goalmem("people", "merge", "--", "--yes\x1b[2J", "[bold]\x1b[31mBo[/bold]").code == 0
    assert len(who(goalmem)) == 1


# A number beside the name


def signal() -> str:
    """Return an export of Signal in which Ravi, whose number is known, writes to Otto."""
    contact = {"aci": "QUFB", "e164": "447700900321", "nickname": {"given": "Ravi K."}}
    told: list[dict[str, object]] = [
        {"version": 1, "backupTimeMs": "1790000000000", "currentAppVersion": "8.20"},
        {"account": {"givenName": "Otto", "familyName": "Lind"}},
        {"recipient": {"id": "1", "self": {}}},
        {"recipient": {"id": "2", "contact": contact}},
        {"chat": {"id": "7", "recipientId": "2"}},
        {"chatItem": {
            "chatId": "7", "authorId": "2", "dateSent": "1769940005000", "incoming": {},
            "standardMessage": {"text": {"body": "I bought a kayak."}}}},
    ]  # fmt: skip
    return "".join(json.dumps(frame) + "\n" for frame in told)


SMS = (
    "<?xml version='1.0' encoding='UTF-8' ?><smses><sms protocol='0' address='07700 900321' date='1769940005000'"
    " type='1' body='I bought a kayak.' contact_name='Ravi K.' /></smses>"
)


@pytest.mark.parametrize(("file", "place"), [("main.jsonl", "folder"), ("main.jsonl", "milvus"), ("sms.xml", "folder")])
def test_a_number_that_is_kept_beside_a_name_is_theirs(
    goalmem: Goalmem, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: str, place: str
) -> None:
    """Whoever is only a number in another chat may be the same; filters take it; it stays when all is copied."""
    if place == "milvus":
        monkeypatch.setenv("GOALMEM_STORE", "milvus:store.db")
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    Path(file).write_text(signal() if file == "main.jsonl" else SMS, "utf-8")
    stored(goalmem, Allotment=OLD)
    told = goalmem("ingest", file)
    assert told.code == 0
    number = "+447700900321" if file == "main.jsonl" else "07700 900321"
    assert who(goalmem)["Ravi K."]["numbers"] == [number]
    assert f"  {number}" in goalmem("people").out
    assert f"{NUMBER} and Ravi K. may be one (one number): goalmem people merge" in goalmem("people").err
    assert f"{NUMBER} and Ravi K. may be one person (one number)" in told.err
    assert told.err.count("may be one person") == 1
    for asked in (number, number.replace(" ", "")):
        assert hits(goalmem, "kayak", "--speaker", asked)[0] == ("Ravi K.", "I bought a kayak.")
    assert goalmem("people", "merge", NUMBER, "Ravi K.").code == 0
    assert {speaker for speaker, _ in hits(goalmem, "dockyard or kayak", "--speaker", number)} == {"Ravi K."}
    assert goalmem("stores", "export", "--out", "all.jsonl").code == 0
    assert goalmem("ingest", "all.jsonl", "--store", "copy", "--quiet").code == 0
    assert {
        tuple(one["numbers"]) for one in json.loads(goalmem("people", "--json", "--store", "copy").out)["people"]
    } >= {(number,)}
    close_embedded()


def test_a_file_that_was_stored_without_numbers_gets_them_when_it_is_read_again(
    goalmem: Goalmem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is stored twice."""
    Path("main.jsonl").write_text(signal(), "utf-8")
    read = signal_jsonl.Person.from_frame
    with monkeypatch.context() as before:
        before.setattr(signal_jsonl.Person, "from_frame", lambda *told: replace(read(*told), telephone=""))
        assert goalmem("ingest", "main.jsonl", "--quiet").code == 0
        assert who(goalmem)["Ravi K."]["numbers"] == []
    assert goalmem("ingest", "main.jsonl", "--quiet").code == 0
    assert (who(goalmem)["Ravi K."]["numbers"], who(goalmem)["Ravi K."]["turns"]) == (["+447700900321"], 1)


# Two of one name


def test_two_of_one_name_are_two(choir: Goalmem) -> None:
    """By the format's ids, which stay beside the turns; each may be asked for alone, or both by the name."""
    assert {name: one["ids"] for name, one in who(choir).items()} == {
        "Alex (user1001)": ["user1001@telegram"], "Alex (user2002)": ["user2002@telegram"], "Mia": ["user4004@telegram"],
    }  # fmt: skip
    both = {("Alex (user1001)", ALEX[2]), ("Alex (user2002)", OTHER[2])}
    assert set(hits(choir, "What do you do?", "--speaker", "Alex")) == both
    for name in ("user1001", "user1001@telegram", "Alex (user1001)"):
        assert hits(choir, "What do you do?", "--speaker", name, "-k", "1") == [("Alex (user1001)", ALEX[2])], name
    assert json.loads(choir("people", "--json").out)["suggestions"] == []


def test_a_name_that_one_has_without_an_id_is_still_that_of_three() -> None:
    """Nobody's turns are forgotten for another's, and a search for the name finds all."""
    roster = Roster.of(People(), [Voice("Alex", "u1@telegram"), Voice("Alex", "u2@telegram"), Voice("Alex")])
    assert [one.shown for one in roster.called("alex")] == ["Alex (u1)", "Alex (u2)", "Alex"]
    assert [one.shown for one in roster.called("Alex (u1)")] == ["Alex (u1)"]


def test_what_ids_of_one_format_tell_apart_is_not_joined_by_another_s() -> None:
    """One account in Slack had the names of two people in Telegram."""
    slack = [Voice("Alex", "s1@slack"), Voice("Sasha", "s1@slack")]
    roster = Roster.of(People(), [Voice("Alex", "u1@telegram"), Voice("Sasha", "u2@telegram"), *slack])
    assert [{voice.id for voice in one.voices} for one in roster.persons] == [
        {"u1@telegram", "s1@slack"},
        {"u2@telegram"},
    ]


def test_one_of_them_gets_a_name(choir: Goalmem) -> None:
    """Then no mark is needed any more to tell the two apart."""
    assert choir("people", "name", "user1001@telegram", "Alex P.").code == 0
    assert set(who(choir)) == {"Alex P.", "Alex", "Mia"}
    assert ("Alex P.", ALEX[2]) in hits(choir, "Who works at the post office?")
    assert hits(choir, "anything at all", "--speaker", "Alex") == [("Alex", OTHER[2])]
    assert choir("people", "merge", "Alex", "Alex P.").code == 0
    assert set(who(choir)) == {"Alex P.", "Mia"}


def test_whoever_is_meant_has_to_be_said_where_it_matters(choir: Goalmem) -> None:
    """A command that deletes, or that says who is who, does not guess which of the two."""
    for words in (
        ("forget", "--speaker", "Alex", "--yes"),
        ("people", "merge", "Alex", "Mia"),
        ("people", "name", "Alex", "A."),
    ):
        outcome = choir(*words)
        assert outcome.code == 2
        assert outcome.error_lines[0].endswith(": 2 people are called 'Alex'")
        assert outcome.error_lines[1] == "say which: 'user1001@telegram' or 'user2002@telegram'"
    assert len(who(choir)) == 3


def test_only_one_of_the_two_is_forgotten(choir: Goalmem) -> None:
    """The other one stays, now and when the same chat is read again, with more in it."""
    outcome = choir("forget", "--speaker", "user2002@telegram", "--always", "--yes")
    assert outcome.out.startswith("forgot 1 turn, ")
    stored(choir, choir=chat_of(ALEX, OTHER, MIA, ("Alex", "user2002", "Again me."), ("Alex", "user1001", "And me.")))
    told = {text for _, text in hits(choir, "me again, chemistry, post office, hall", "-k", "9")}
    assert told == {ALEX[2], MIA[2], "And me."}


def test_an_id_under_two_names_is_one_person(goalmem: Goalmem) -> None:
    """Somebody who is called otherwise in a later export is found by either name, without a word of the user."""
    stored(
        goalmem,
        one=chat_of(("Zoe", "user7", "I keep bees.")),
        two=chat_of(("zoe_k", "user7", "I sell honey."), number=9),
    )
    (one,) = who(goalmem).values()
    assert (set(one["names"]), one["ids"]) == ({"Zoe", "zoe_k"}, ["user7@telegram"])
    assert set(hits(goalmem, "bees and honey", "--speaker", "Zoe")) == {
        ("Zoe", "I keep bees."),
        ("zoe_k", "I sell honey."),
    }


def test_what_was_stored_before_there_were_ids_gets_them(goalmem: Goalmem) -> None:
    """Reading the file again adds the ids, stores nothing new, and what was said of the name stays."""
    old = json.loads(chat_of(ALEX, MIA))
    for message in old["messages"]:
        del message["from_id"]
    stored(goalmem, choir=json.dumps(old))
    goalmem("people", "name", "Alex", "Alex P.")
    Path("choir.json").write_text(chat_of(ALEX, MIA), "utf-8")
    assert "nothing new" in goalmem("ingest", "choir.json").out
    assert {name: one["ids"] for name, one in who(goalmem).items()} == {
        "Alex P.": ["user1001@telegram"], "Mia": ["user4004@telegram"],
    }  # fmt: skip


# Asking


def asked(goalmem: Goalmem, question: str, goal: str, cited: str, seen: list[str], *words: str) -> dict[str, Any]:
    """Return the trace of a question whose model proves the goal by the fact with that text."""

    def model(request: Request) -> str:
        prompt = request.growing + request.tail
        seen.append(prompt)
        reply = proved(claims(1, cited, x=cited), plan=plan(goal, goal), status="settled", wording=cited)
        return reply(request)

    outcome = goalmem("ask", question, "--json", "--certainty", "0", *words, factories=scripted(*[model] * 9))
    return json.loads(outcome.out)  # type: ignore[no-any-return]


def test_the_answer_says_that_there_are_two(choir: Goalmem) -> None:
    """It names whom it is about, and the proof has a note; with the name of one, or of another, there is none."""
    seen: list[str] = []
    trace = asked(choir, "Where does Alex work?", "(Alex) works at (x:place)", "post office", seen)
    assert "Alex (user1001): I sing bass" in seen[0] and "Alex (user2002): I teach" in seen[0], seen[0]
    assert trace["answer"] == "Alex (user1001): post office"
    assert "2 people are called Alex: Alex (user1001), Alex (user2002)" in trace["notes"]
    trace = asked(choir, "Where is the rehearsal?", "The rehearsal is in (x:place)", "hall C", seen)
    assert (trace["answer"], trace["notes"]) == ("hall C", [])
    choir("people", "name", "user1001@telegram", "Alex P.")
    trace = asked(choir, "Where does Alex work?", "(Alex P.) works at (x:place)", "post office", seen)
    assert trace["answer"] == "Alex P.: post office"
    assert "2 people are called Alex: Alex, Alex P." in trace["notes"]
    trace = asked(choir, "Where does Alex P. work?", "(Alex P.) works at (x:place)", "post office", seen)
    assert trace["answer"] == "post office"
    assert "Alex P.: I sing bass" in seen[-1]


def test_a_fact_is_about_the_person(allotment: Goalmem) -> None:
    """A question about Ravi is proved by what the number said, once they are one; before, nothing is about him."""
    seen: list[str] = []
    words = ("Where does Ravi work?", "(Ravi) works at (x:place)", "dockyard", seen)
    assert asked(allotment, *words)["answer"] is None
    allotment("people", "merge", NUMBER, "Ravi")
    trace = asked(allotment, *words)
    assert trace["answer"] == "dockyard"
    assert {fact["speaker"] for fact in trace["facts"].values()} == {"Ravi", "Nora"}
    assert asked(allotment, "Where do I work?", *words[1:], "--asker", NUMBER)["asker"] == "Ravi"


# Forgetting, copying, clients


def test_a_speaker_who_is_forgotten_leaves_the_file(allotment: Goalmem) -> None:
    """All names of the person go at once; no byte of the file names them afterwards."""
    allotment("people", "merge", NUMBER, "Ravi")
    allotment("people", "name", "Nora", "Nora V.")
    outcome = allotment("forget", "--speaker", "Ravi", "--yes")
    assert outcome.out.startswith("forgot 6 turns, ")
    content = Path("store", PEOPLE).read_text("utf-8")
    assert "Nora V." in content and "Ravi" not in content and NUMBER not in content
    assert set(who(allotment)) == {"Nora V."}
    assert allotment("forget", "--speaker", "Nora V.", "--leave-nothing", "--yes").code == 0
    assert not list(Path("store").glob("*people*"))


def test_a_forgetting_that_is_cut_off_loses_no_name(allotment: Goalmem, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as the turns are there, so is what was said of who speaks; forgetting again ends it."""
    allotment("people", "merge", NUMBER, "Ravi")
    before = kept()

    def cut_off(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(Store, "forget", cut_off)
        assert allotment("forget", "--speaker", "Ravi", "--yes").code != 0
    assert kept() == before and "Ravi" in who(allotment)
    assert allotment("forget", "--speaker", "Ravi", "--yes").code == 0
    assert kept() == People()


def test_a_conversation_that_is_forgotten_takes_its_names_along(allotment: Goalmem) -> None:
    """Of a person with names in two, the one in the other stays; who is said to be forgotten later is pruned likewise."""
    allotment("people", "merge", NUMBER, "Ravi")
    assert allotment("forget", "Allotment", "--yes").code == 0
    assert NUMBER not in (Path("store", PEOPLE).read_text("utf-8") if Path("store", PEOPLE).exists() else "")
    assert set(who(allotment)) == {"Nora", "Ravi"}


def test_who_is_forgotten_meanwhile_is_not_merged(allotment: Goalmem, monkeypatch: pytest.MonkeyPatch) -> None:
    """A merge that was on its way when its person was forgotten keeps no name of theirs."""
    with goalmem_cli.open("store") as memory:
        ask_roster = people.roster_of

        def late(*given: Any) -> Any:
            roster = ask_roster(*given)
            monkeypatch.setattr(people, "roster_of", ask_roster)
            allotment("forget", "--speaker", NUMBER, "--yes")
            return roster

        monkeypatch.setattr(people, "roster_of", late)
        memory.name_person(NUMBER, "Uncle")
    assert kept() == People()


def test_an_export_carries_people_and_a_copy_too(allotment: Goalmem) -> None:
    """An export says it in its first line, and reading it takes it over, unless something else is said there."""
    allotment("people", "merge", NUMBER, "Ravi")
    assert allotment("stores", "export", "--out", "all.jsonl").code == 0
    outcome = allotment("ingest", "all.jsonl", "--store", "other")
    assert "taken over from exports: who 1 person is" in outcome.err
    assert People.of_folder(Path("other")) == kept()
    assert allotment("stores", "copy", "store", "copied").code == 0
    assert People.of_folder(Path("copied")) == kept()
    allotment("people", "name", NUMBER, "Somebody", "--store", "third")  # no store: refused
    assert allotment("ingest", "all.jsonl", "--store", "third", "--dry-run").code == 0
    assert not Path("third", PEOPLE).exists()


def test_an_export_with_nonsense_about_people_is_read(allotment: Goalmem) -> None:
    """What is not of the form is passed over, and so is who does not speak there."""
    allotment("stores", "export", "--out", "all.jsonl")
    first, rest = Path("all.jsonl").read_text("utf-8").split("\n", 1)
    odd = [
        7,
        {"name": 3},
        {"name": "X", "voices": []},
        {"name": "Tom", "voices": [["nobody here", ""]]},
        {"name": "N.", "voices": [["Nora", ""]]},
    ]
    Path("odd.jsonl").write_text(json.dumps(json.loads(first) | {"people": odd}) + "\n" + rest, "utf-8")
    assert allotment("ingest", "odd.jsonl", "--store", "other").code == 0
    assert [person.name for person in People.of_folder(Path("other")).persons] == ["N."]


@pytest.mark.parametrize(
    ("given", "called"),
    [
        ("\u202eBo\x1b[2J\n# Answer:\u200b yes", "Bo [2J # Answer: yes"), ("x" * 5000, "x" * LONGEST_NAME),
        ("[bold]Bo[/bold]", "[bold]Bo[/bold]"), ("B\ud800o", "B?o"),
    ],
)  # fmt: skip
def test_names_from_files_are_cleaned_as_typed_ones(allotment: Goalmem, given: str, called: str) -> None:
    """Those of an export, and those of the store's own file, which may have been edited."""
    said = {"name": given, "voices": [["Nora", ""]]}
    allotment("stores", "export", "--out", "all.jsonl")
    first, rest = Path("all.jsonl").read_text("utf-8").split("\n", 1)
    Path("odd.jsonl").write_text(json.dumps(json.loads(first) | {"people": [said]}) + "\n" + rest, "utf-8")
    assert allotment("ingest", "odd.jsonl", "--store", "other").code == 0
    Path("store", PEOPLE).write_text(json.dumps({"schema_version": 1, "people": [said]}), "utf-8")
    for store in ("store", "other"):
        assert [person.name for person in People.of_folder(Path(store)).persons] == [called]
        assert goalmem_out(allotment, store).startswith(f"{called}: ") or called in goalmem_out(allotment, store)
    typed = allotment("people", "name", "Nora", "y" * (LONGEST_NAME + 1))
    assert typed.error_lines[0] == f"people: the name has more than {LONGEST_NAME} characters"


def goalmem_out(goalmem: Goalmem, store: str) -> str:
    """Return what `people` prints of a store."""
    return goalmem("people", "--store", store).out


def test_an_export_that_says_two_things_of_one_person_is_read(allotment: Goalmem) -> None:
    """The first counts."""
    said = [{"name": name, "voices": [["Nora", ""]]} for name in ("N.", "M.")]
    allotment("stores", "export", "--out", "all.jsonl")
    first, rest = Path("all.jsonl").read_text("utf-8").split("\n", 1)
    Path("odd.jsonl").write_text(json.dumps(json.loads(first) | {"people": said}) + "\n" + rest, "utf-8")
    assert allotment("ingest", "odd.jsonl", "--store", "other").code == 0
    assert [person.name for person in People.of_folder(Path("other")).persons] == ["N."]


def test_a_file_of_a_newer_goalmem_is_no_damaged_one(allotment: Goalmem) -> None:
    """It says what to do; one that is nested without end is damaged, and nothing more."""
    Path("store", PEOPLE).write_text('{"schema_version": 2, "people": {}}', "utf-8")
    for words in (("people",), ("search", "leeks")):
        outcome = allotment(*words)
        assert outcome.code == 3
        assert outcome.error_lines == [
            f"{Path('store', PEOPLE).resolve()} was written by a newer goalmem",
            "update goalmem",
        ]
    Path("store", PEOPLE).write_text('{"schema_version": 1, "people": ' + "[" * 90_000, "utf-8")
    outcome = allotment("people")
    assert outcome.code == 3 and "nobody knows who is one person" in outcome.error_lines[0]


def test_a_damaged_file_is_said(allotment: Goalmem) -> None:
    """With what to do; nothing is overwritten."""
    Path("store", PEOPLE).write_text("{}", "utf-8")
    for words in (("people",), ("search", "leeks"), ("people", "merge", NUMBER, "Ravi")):
        outcome = allotment(*words)
        assert outcome.code == 3, words
        assert "nobody knows who is one person" in outcome.error_lines[0]
    assert Path("store", PEOPLE).read_text("utf-8") == "{}"


def test_a_program_and_a_client_have_the_same(choir: Goalmem) -> None:
    """The library and the tools of MCP list people, filter by any of their names, and show the same names."""
    with goalmem_cli.open("store") as memory:
        assert memory.name_person("user1001", "Alex P.").parts == ("Alex (user1001)",)
        assert [one.name for one in memory.people()] == ["Alex", "Alex P.", "Mia"]
        assert [hit.unit.speaker for hit in memory.search("office", speakers=["Alex P."])] == ["Alex P."]
    offers = Offers(Invocation(given_settings({"store": "store"}), Screen(is_quiet=True), Factories()))
    rows: Any = offers.people()["people"]
    assert [row["name"] for row in rows] == ["Alex", "Alex P.", "Mia"]
    found: Any = offers.search("office", speaker=["user1001@telegram"])["hits"]
    assert [hit["speaker"] for hit in found] == ["Alex P."]
    shown: Any = offers.turns("chat55")["turns"]
    assert [turn["speaker"] for turn in shown] == ["Alex P.", "Alex", "Mia"]
    assert "Alex P.: I sing bass" in offers.transcript("chat55")
    listed: Any = offers.conversations()["conversations"]
    assert listed[0]["speakers"] == ["Alex P.", "Alex", "Mia"]
    with goalmem_cli.open("store") as memory:
        assert memory.split_person("Alex P.").parts == ("Alex (user1001)",)
        assert memory.merge_people("user1001", "user2002").name == "Alex"
        assert [one.name for one in memory.people()] == ["Alex", "Mia"]


NFD, NFC = "Zoe\u0308", "Zo\u00eb"


def test_accents_written_in_two_ways_make_no_two_people(goalmem: Goalmem) -> None:
    """After the case 21: some phones write the accent on its own. Who is asked for, or forgotten, is both."""
    stored(goalmem, Trip=f"05/03/2026, 21:15 - {NFC}: The van is on level 4.\n05/03/2026, 21:16 - {NFD}: It is red.\n")
    assert {name: one["turns"] for name, one in who(goalmem).items()} == {NFC: 2}
    assert who(goalmem)[NFC]["names"] == [NFC]
    for name in (NFC, NFD, NFD.upper()):
        assert len(hits(goalmem, "van", "--speaker", name)) == 2, name
    goalmem("people", "name", NFD, "Zoë B.")
    assert {name for name, _ in hits(goalmem, "van")} == {"Zoë B."}
    assert goalmem("forget", "--speaker", NFC, "--yes").out.startswith("forgot 2 turns, ")


def test_the_one_of_three_who_has_no_id_can_be_named(goalmem: Goalmem) -> None:
    """Two of Telegram and one of WhatsApp: "Alex" means all three, and the error says how each is named."""
    stored(goalmem, choir=chat_of(ALEX, OTHER, MIA), Kiln="01/04/2026, 09:10 - Alex: The kiln is hot.\n")
    for words in (("people", "name", "Alex", "Al"), ("forget", "--speaker", "alex", "--yes")):
        hint = goalmem(*words).error_lines[1]
        assert hint == "say which: 'Alex (no id)' or 'user1001@telegram' or 'user2002@telegram'"
    assert hits(goalmem, "kiln", "--speaker", "Alex (no id)") == [("Alex", "The kiln is hot.")]
    assert ["people", "merge", "Alex (no id)", "Alex (user1001)"] in suggested(goalmem)
    assert undone(goalmem, "name", "alex (no id)", "Al") == [["people", "split", "Al"]]
    assert set(who(goalmem)) == {"Al", "Alex (user1001)", "Alex (user2002)", "Mia"}


def test_two_whom_one_name_made_one_are_told_apart(goalmem: Goalmem) -> None:
    """WhatsApp's Ravi is not Telegram's: each is asked for alone, and the note makes them one again."""
    stored(goalmem, Plot=NEW, choir=chat_of(("Ravi", "user7", "I adopted a goat."), MIA))
    before = {one["turns"] for one in who(goalmem).values()}
    refused = goalmem("people", "split", "Ravi")
    assert refused.error_lines[1] == "name an id after it that is somebody else's"
    assert goalmem("people", "split", "Ravi", "ravi").code == 2
    assert undone(goalmem, "split", "Ravi", "user7") == [["people", "merge", "Ravi (no id)", "Ravi (user7)"]]
    assert {name: one["turns"] for name, one in who(goalmem).items()} == {
        "Ravi": 3, "Ravi (user7)": 1, "Nora": 1, "Mia": 1,
    }  # fmt: skip
    assert hits(goalmem, "goat", "--speaker", "user7") == [("Ravi (user7)", "I adopted a goat.")]
    assert suggested(goalmem) == []
    goalmem("forget", "--speaker", "Mia", "--yes")
    assert "Ravi (user7)" in who(goalmem)
    assert undone(goalmem, "merge", "Ravi (no id)", "Ravi (user7)") == [["people", "split", "Ravi"]]
    assert {one["turns"] for one in who(goalmem).values()} == before


def test_many_suggestions_are_cut_short(goalmem: Goalmem) -> None:
    """The strongest come first; JSON has all."""
    stored(goalmem, Allotment=OLD, Plot=NEW)
    chats = Path("chats")
    chats.mkdir()
    for n, (a, b) in product(range(22), (("a", "b"), ("A", "B"))):
        (chats / f"WhatsApp Chat with {a}{n}.txt").write_text(f"01/04/2026, 09:10 - {a * (n + 1)}.{n // 15}{b}: x\n")
    assert goalmem("ingest", str(chats), "--quiet").code == 0
    outcome = goalmem("people")
    lines = outcome.err.splitlines()
    assert len(lines) == 21 and "the same 2 turns" in lines[0]
    assert lines[-1] == "and 3 more: `goalmem people --json` has all"
    assert len(json.loads(goalmem("people", "--json").out)["suggestions"]) == 23


def suggested(goalmem: Goalmem) -> list[list[str]]:
    """Return the commands that `people` suggests, in words."""
    return [shlex.split(each)[1:] for each in re.findall("goalmem people merge .*", goalmem("people").err)]


def test_the_list_is_whole_in_80_columns_and_in_a_pipe(goalmem: Goalmem) -> None:
    """One line a person, and one for other names and ids, none of them broken: it can be copied, and searched for."""
    long = "QUFBQkJCQ0NDRERERUVFRkZGRkdHR0dHSEhISEhISEhISEg="
    stored(
        goalmem, Allotment=OLD, choir=chat_of((NUMBER, long, "One."), ("Zoë Anastasia Papadopoulou", "user7", "Two."))
    )
    assert goalmem("people").out.splitlines() == [
        f"{NUMBER}: 4 turns, 2026-02-01 to 2026-04-15, in Allotment, chat55",
        f"  {long}@telegram",
        "Nora: 1 turn, 2026-04-13, in Allotment",
        "Zoë Anastasia Papadopoulou: 1 turn, 2026-02-01, in chat55",
        "  user7@telegram",
    ]


def test_more_is_looked_for_until_enough_is_found(goalmem: Goalmem) -> None:
    """Where one of two of a name says little, what the other says does not crowd it out."""
    loud = [("Alex", "user2002", f"The kiln is hot, batch {number}.") for number in range(150)]
    stored(goalmem, choir=chat_of(*loud, ("Alex", "user1001", "My cat sleeps on the piano.")))
    assert hits(goalmem, "kiln", "--speaker", "user1001", "-k", "1") == [
        ("Alex (user1001)", "My cat sleeps on the piano.")
    ]


def test_a_memory_in_milvus_has_people_too(goalmem: Goalmem) -> None:
    """Merging, filters, names, forgetting and copying are the same there."""
    stored(goalmem, Allotment=OLD, Plot=NEW, choir=chat_of(ALEX, OTHER, MIA))
    goalmem("people", "merge", NUMBER, "Ravi")
    place = "milvus:there.db"

    def there(*words: str) -> Outcome:
        return goalmem(*words, "--store", place)

    assert goalmem("stores", "copy", "store", place).code == 0
    listed = json.loads(there("people", "--json").out)["people"]
    assert listed == json.loads(goalmem("people", "--json").out)["people"]
    (hit,) = json.loads(there("search", "Where does Ravi work?", "-k", "1", "--json").out)["hits"]
    assert (hit["speaker"], hit["text"]) == ("Ravi", "I work at the dockyard.")
    (hit,) = json.loads(there("search", "office", "--speaker", "user1001", "--json").out)["hits"]
    assert hit["speaker"] == "Alex (user1001)"
    assert there("people", "name", "user2002", "Alex B.").code == 0
    assert there("forget", "--speaker", "Alex B.", "--yes").out.startswith("forgot 1 turn, ")
    assert there("people", "split", "Ravi").code == 0
    assert {one["name"] for one in json.loads(there("people", "--json").out)["people"]} == {
        NUMBER, "Ravi", "Nora", "Alex", "Mia",
    }  # fmt: skip
    assert there("stores", "verify").code == 0
    shutil.rmtree("store")


# Taking back


def undone(goalmem: Goalmem, *words: str) -> list[list[str]]:
    """Run a command of `people`, and return the commands that its note offers, in words."""
    outcome = goalmem("people", *words)
    assert outcome.code == 0, outcome.err
    commands = [shlex.split(each)[1:] for each in re.findall("`(goalmem people [^`]*)`", outcome.err)]
    assert commands, outcome.err
    return commands


def said_of_people() -> list[tuple[str, frozenset[Voice]]]:
    """Return what is said of people, whatever was said before."""
    return sorted((person.name, frozenset(person.voices)) for person in kept().persons)


CHAIN = (
    ("merge", NUMBER, "Ravi"),
    ("merge", "Ravi", "Ravi Menon"),
    ("name", "Ravi", "Uncle Ravi"),
    ("merge", "user2002", "user1001", "Mia"),
    ("merge", "Uncle Ravi", "Mia"),
    ("name", "Mia", "Ravi"),
    ("name", "--", "Ravi", "--yes it's"),
)


@pytest.fixture
def crowd(goalmem: Goalmem) -> Goalmem:
    """The command over a store with two Alexes, and somebody with a number, a name, and an id under another name."""
    stored(
        goalmem,
        Allotment=OLD,
        Plot=NEW,
        choir=chat_of(ALEX, OTHER, MIA, ("Ravi Menon", "user7", "I adopted a goat.")),
    )
    return goalmem


def test_what_was_said_last_is_taken_back_and_said_again(crowd: Goalmem) -> None:
    """Each note, typed as it stands, makes all as it was before, also where much was said one after another."""
    states, notes = [(said_of_people(), who(crowd))], []
    for words in CHAIN:
        (back,) = undone(crowd, *words)
        after = said_of_people(), who(crowd)
        again = undone(crowd, *back[1:])
        assert (said_of_people(), who(crowd)) == states[-1], (words, back)
        for command in again:
            assert crowd(*command).code == 0, command
        assert (said_of_people(), who(crowd)) == after, (words, again)
        states.append(after)
        notes.append(back)
    for back, state in zip(reversed(notes), reversed(states[:-1]), strict=True):  # and one after another
        assert crowd(*back).code == 0
        assert (said_of_people(), who(crowd)) == state, back
    assert not Path("store", PEOPLE).exists()


def test_a_former_name_is_taken_back_by_its_own_note(allotment: Goalmem) -> None:
    """Whoever is called as before has lost a name: the note gives that again."""
    allotment("people", "name", NUMBER, "Uncle Ravi")
    assert undone(allotment, "name", "Uncle Ravi", NUMBER) == [["people", "name", NUMBER, "Uncle Ravi"]]
    assert "`" not in allotment("people", "name", NUMBER, NUMBER).err  # nothing was changed
    allotment("people", "name", NUMBER, "Uncle Ravi")
    allotment("people", "name", NUMBER, "Ravi M.")
    assert undone(allotment, "name", "Ravi M.", "Uncle Ravi") == [["people", "name", "Uncle Ravi", "Ravi M."]]
    assert not kept().persons[0].before


def test_notes_name_the_store(allotment: Goalmem) -> None:
    """Whoever named it on the command line gets it back there."""
    shutil.move("store", "an other")
    given = ["--store", "an other"]
    commands = undone(allotment, "merge", NUMBER, "Ravi", *given)
    assert commands == [["people", "split", *given, "Ravi"]]
    (again,) = undone(allotment, *commands[0][1:])
    assert again == ["people", "merge", *given, NUMBER, "Ravi"]
    assert f"goalmem people merge --store 'an other' '{NUMBER}' Ravi" in allotment("people", *given).err


@pytest.mark.parametrize(
    ("part", "leaves"),
    [
        ("+447700900321", {NUMBER}), ("00447700900321", {NUMBER}), ("ravi", {"Ravi"}), (" RAVI ", {"Ravi"}),
        ("zoe", {"Zoé"}), ("Zoe\u0301", {"Zoé"}), ("user7", {"Zoé"}), ("user7@telegram", {"Zoé"}), ("USER7", {"Zoé"}),
        ("Zoé (user7)", {"Zoé"}),
    ],
)  # fmt: skip
def test_a_part_is_known_however_it_is_spelled(goalmem: Goalmem, part: str, leaves: set[str]) -> None:
    """With other blanks, case and accents, as a number is dialled, by an id with or without the format."""
    stored(goalmem, Allotment=OLD, Plot=NEW, choir=chat_of(("Zoé", "user7", "One."), MIA))
    goalmem("people", "merge", NUMBER, "Ravi", "Zoé", "Mia")
    assert goalmem("people", "split", "Mia", part).code == 0
    assert set(who(goalmem)) == {"Nora", "Mia", *leaves}
    outcome = goalmem("people", "split", "Mia", "Nora")
    assert outcome.code == 2 and "'Nora' was not said to be 'Mia'" in outcome.error_lines[0]


def test_a_name_leaves_with_the_ids_that_have_it(goalmem: Goalmem) -> None:
    """A name that was said with an id and without one is one person's, and leaves as a whole."""
    stored(goalmem, Plot=NEW, choir=chat_of(("Ravi", "user7", "I adopted a goat."), MIA))
    goalmem("people", "merge", "Ravi", "Mia")
    assert goalmem("people", "split", "Mia", "Ravi").out == "taken back that Mia is Ravi\n"
    assert {name: one["turns"] for name, one in who(goalmem).items()} == {"Ravi": 4, "Nora": 1, "Mia": 1}


def test_a_part_that_leaves_takes_its_name_along(crowd: Goalmem) -> None:
    """Whoever stays is called as before, unless the user gave the name."""
    crowd("people", "merge", NUMBER, "Ravi")
    crowd("people", "merge", "Ravi", "Ravi Menon")
    crowd("people", "split", "Ravi Menon", "user7")
    assert {"Ravi", "Ravi Menon"} <= set(who(crowd))
    crowd("people", "merge", "Ravi", "Ravi Menon")
    crowd("people", "name", "Ravi", "Uncle")
    crowd("people", "split", "Uncle", "user7")
    assert {"Uncle", "Ravi Menon"} <= set(who(crowd))


def test_many_people_are_told_apart_in_steps_that_grow_with_their_number() -> None:
    """Four times as many people of whom something was said take no sixteen times as many calls at each search."""

    def calls(count: int) -> int:
        voices = [Voice(f"Person {number}") for number in range(2 * count)]
        people = People(tuple(Person(one.name, (other, one)) for one, other in batched_pairs(voices)))
        made = 0

        def counted(_frame: object, event: str, _argument: object) -> None:
            nonlocal made
            made += event in ("call", "c_call")

        sys.setprofile(counted)
        try:
            found = Roster.of(people, voices)
        finally:
            sys.setprofile(None)
        assert len(found.persons) == count
        return made

    assert calls(800) < 8 * calls(200)


def batched_pairs(voices: list[Voice]) -> list[tuple[Voice, Voice]]:
    """Return the voices two by two."""
    return list(zip(voices[::2], voices[1::2], strict=True))


def test_a_dry_run_says_once_whose_number_it_may_be(goalmem: Goalmem, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the conversation is stored and would grow; if there are too many turns to compare, it says
    nothing and holds no more of them."""
    stored(goalmem, Allotment=f"20/04/2026, 09:00 - {NUMBER}: I planted leeks.\n22/04/2026, 09:12 - me: Lovely.\n")
    said = "20/04/2026, 09:10 - Ravi: I sowed peas.\n20/04/2026, 09:12 - me: Good.\n"
    stored(goalmem, **{NUMBER: said})
    file = Path(f"WhatsApp Chat with {NUMBER}.txt")
    file.write_text(said + "21/04/2026, 09:10 - Ravi: They came up.\n", "utf-8")
    told = [line for line in goalmem("ingest", str(file), "--dry-run").err.splitlines() if "may be one person" in line]
    assert len(told) == 1, told
    monkeypatch.setattr(alike, "MOST_COMPARED", 0)
    assert "may be one person" not in goalmem("ingest", str(file), "--dry-run").err
    held: list[int] = []

    def counted(_: object, grown: dict[str, list[object]]) -> list[object]:
        held.append(sum(map(len, grown.values())))
        return []

    monkeypatch.setattr(alike, "numbers_of", counted)
    Path("WhatsApp Chat with Plot.txt").write_text(NEW, "utf-8")
    assert goalmem("ingest", str(file), "WhatsApp Chat with Plot.txt", "--dry-run").code == 0
    assert held == [3]

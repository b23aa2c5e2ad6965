"""The backbone `mem0`: facts of each pair of messages, decided on one after the other; nothing is overwritten."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from goalmem_cli.backbones.mem0 import DECIDE, FACT, FACTS, MEMORY, NAME, STEPS, SUM_UP, SUMMARY
from goalmem_cli.backbones.mem0.backbone import Mem0
from goalmem_cli.backbones.mem0.settings import Mem0Settings, Perspectives
from goalmem_cli.backbones.structured.decisions import DECISION, SUPERSEDES, acts_of
from goalmem_cli.memory_records import Selection
from goalmem_cli.ports import Completion, JsonShape, PartDone, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.records import Conversation, Query, Unit
from goalmem_cli.store.store import Store
from goalmem_cli.testing import ScriptedModel
from tests.backbones.derived import Sample, books, contents_of, filled, no_kit, replay
from tests.store.samples import START

FULL, COMPACT, both_profiles = books(STEPS)
contents = partial(contents_of, NAME)
TALK = (
    "Priya home Hull",
    "um, hello",
    "Priya pet Biscuit",
    "Tom drink tea",
    "um, nice",
    "Priya home Leeds",
    "Tom drink no",
    "Tom job baker",
    "Priya home York",
    "Priya pet Biscuit",
)
AT_THE_END = ["Priya home York", "Priya pet Biscuit", "Tom drink no", "Tom job baker"]
Says = Callable[[Request], str | Completion]


def says(request: Request) -> str:
    """Return what a perfect model says: a statement has who, what and a value; ``no`` says that there is none."""
    steps: Mapping[str, Callable[[Request], object]] = {FACTS: found, DECIDE: settled, SUM_UP: summed}
    reply = steps[request.step](request)
    if isinstance(request.shape, JsonShape):
        return json.dumps(reply)
    assert isinstance(reply, dict)
    if "acts" in reply:
        lines = [
            f"{act['new']} {act['event']} {act['on']}" + f" | {act['text']}" * bool(act["text"])
            for act in reply["acts"]
        ]
        return "\n".join(lines)
    if "summary" in reply:
        return f"summary: {reply['summary']}"
    return "\n".join(f"facts: {fact}" for fact in reply["facts"]) or "nothing: told"


def lines_of(request: Request) -> list[tuple[str, str]]:
    """Return who says what in the numbered messages."""
    return re.findall(r"^T\d+\. (\w+): (.*) \[(?:said|nobody).*\]$", request.growing, re.M)


def found(request: Request) -> object:
    """Return the messages that state something; of the user alone, where there is one."""
    user = re.search(r"^User: (.*)$", request.tail, re.M)
    told = [text for who, text in lines_of(request) if user is None or who == user[1]]
    return {"facts": [text for text in told if not text.startswith("um")]}


def settled(request: Request) -> dict[str, object]:
    """Return what becomes of new facts: what differs in its value alone takes the place of what was known."""
    known = {text.split()[0] + text.split()[1]: (number, text) for number, text in known_of(request)}
    acts = []
    for number, text in re.findall(r"^N(\d+)\. (.*)$", request.tail, re.M):
        who, what, value = text.split(" ", 2)
        on, before = known.get(who + what, ("0", ""))
        event = "ADD" if on == "0" else "NONE" if before == text else "DELETE" if value == "no" else "UPDATE"
        acts.append({"new": f"N{number}", "event": event, "on": on, "text": text if event in ("ADD", "UPDATE") else ""})
    return {"acts": acts}


def known_of(request: Request) -> list[tuple[str, str]]:
    """Return the memories that are shown, with their numbers."""
    return re.findall(r"^(\d+)\. (.*?)(?: \[[-\d]+\])?$", request.growing, re.M)


def summed(request: Request) -> object:
    """Return all words that are said, each once."""
    before = re.search(r"^(?:So far|Known): (.*)$", request.growing, re.M)
    told = [*(before[1].split() if before else ()), *(word for _, text in lines_of(request) for word in text.split())]
    return {"summary": " ".join(dict.fromkeys(told))}


SAMPLE = Sample(NAME, Mem0, says, FULL, TALK, 4)
said, backbone, indexed = SAMPLE.said, SAMPLE.backbone, SAMPLE.indexed


def deciding(*acts: tuple[str, int, str]) -> Says:
    """Return what says of the first new fact whatever is given; the rest is perfect."""

    def reply(request: Request) -> str:
        if request.step != DECIDE:
            return says(request)
        listed = [{"new": "N1", "event": event, "on": str(on), "text": text} for event, on, text in acts]
        return json.dumps({"acts": listed})

    return reply


def current(store: Store, at: datetime | None = None) -> list[str]:
    """Return the memories that are current, in alphabetical order."""
    return sorted(unit.text for unit in replay(store.units_of(NAME, [MEMORY, DECISION]), at)[0].values())


def events(store: Store) -> list[list[str]]:
    """Return the events of each decision in order."""
    return [[act.event for act in acts_of(unit)] for unit in store.units_of(NAME, [DECISION])]


@both_profiles
def test_a_memory_says_how_things_are_now(tmp_path: Path, book: PromptBook) -> None:
    """What changed is changed, what is said again is once there; what was overwritten has a place in the history."""
    store = filled(tmp_path, said())
    done = indexed(store, book=book)
    assert current(store) == AT_THE_END
    assert events(store) == [
        ["ADD"], ["ADD", "ADD"], ["UPDATE"], ["DELETE", "ADD", "ADD"], ["NONE", "UPDATE"]
    ]  # fmt: skip
    assert all(part.problem is None for part in done)
    assert sum(part.turns for part in done) == len(TALK)
    (york,) = [unit for unit in store.units_of(NAME, [MEMORY]) if unit.text == "Priya home York"]
    assert set(york.labels) == {said()[place].label for place in (0, 1, 4, 5, 8, 9)}
    history = Mem0(store, no_kit).history(york.id)
    assert [(each.event, each.text, each.said, each.turns) for each in history] == [
        ("ADD", "Priya home Hull", said()[1].said, ("D1:1", "D1:2")),
        ("UPDATE", "Priya home Leeds", said()[5].said, ("D2:1", "D2:2")),
        ("UPDATE", "Priya home York", said()[9].said, ("D3:1", "D3:2")),
    ]
    (hit,) = Mem0(store, no_kit).retrieve(Query("Priya home"), 1)
    assert hit.unit.attributes["in_place_of"] == [f"Priya home Leeds, until {said()[9].said:%Y-%m-%d}"]
    deleted = [unit for unit in store.units_of(NAME, [MEMORY]) if unit.text == "Tom drink tea"]
    assert [(each.event, each.text) for each in Mem0(store, no_kit).history(deleted[0].id)] == [
        ("ADD", "Tom drink tea"), ("DELETE", "Tom drink tea"), ("ADD", "Tom drink no")
    ]  # fmt: skip


def test_it_is_asked_as_of_a_time(tmp_path: Path) -> None:
    """A search finds what was current then, as one that stopped there would; and now, what is."""
    store = filled(tmp_path, said())
    indexed(store)
    query = Query("Priya home and Tom job")
    assert [hit.unit.text for hit in Mem0(store, no_kit).retrieve(Query("Priya home"), 1)] == ["Priya home York"]
    assert sorted(hit.unit.text for hit in Mem0(store, no_kit).retrieve(query, 60)) == AT_THE_END
    for end in (1, 3, 5, 7):
        until = said()[end].said
        early = Mem0(store, no_kit).retrieve(replace(query, until=until), 60)
        shorter = filled(tmp_path / str(end), said()[: end + 1])
        indexed(shorter)
        assert [hit.unit for hit in early] == [hit.unit for hit in Mem0(shorter, no_kit).retrieve(query, 60)]
        assert sorted(hit.unit.text for hit in early) == current(store, until)
    assert Mem0(store, no_kit).retrieve(replace(query, until=START - timedelta(days=1)), 9) == []


def test_superseded_memories_take_no_place(tmp_path: Path) -> None:
    """However many versions there are, as many are found as are asked for; each is linked to what replaced it."""
    texts = [text for place in range(12) for text in (f"Priya home Hull{place}", "um")]
    texts += ["Priya pet Biscuit", "Priya home York"]
    store = filled(tmp_path, said(texts))
    indexed(store)
    found = [hit.unit.text for hit in Mem0(store, no_kit).retrieve(Query("Priya home Hull3"), 2)]
    assert sorted(found) == ["Priya home York", "Priya pet Biscuit"]
    by_id = {unit.id: unit for unit in store.units_of(NAME)}
    links = [(by_id[edge.source].text, by_id[edge.target].text) for edge in store.edges_of(NAME, [SUPERSEDES])]
    assert len(links) == 12
    assert ("Priya home York", "Priya home Hull11") in links


def test_turns_are_found_beside_it_where_that_is_wished(tmp_path: Path) -> None:
    """By default as in the original: memories alone, no facts and no decisions."""
    store = filled(tmp_path, said())
    indexed(store)
    assert {hit.unit.kind for hit in Mem0(store, no_kit).retrieve(Query("Priya"), 99)} == {MEMORY}
    beside = Mem0(store, no_kit, Mem0Settings(beside=True)).retrieve(Query("Priya"), 99)
    assert {hit.unit.kind for hit in beside} == {MEMORY, "turn"}


def test_what_contradicts_is_added_where_the_original_only_deletes(tmp_path: Path) -> None:
    """Issue 4536 of the original: the old fact went and the new one never came."""
    store = filled(tmp_path, said(["Tom drink tea", "um", "Tom drink no", "um"]))
    indexed(store, model=deciding(("DELETE", 1, "")))
    assert current(store) == ["Tom drink no"]
    assert current(store, said()[1].said) == ["Tom drink tea"]


def test_the_same_said_twice_deletes_nothing(tmp_path: Path) -> None:
    """Issue 1674 of the original: the repeated message deleted the first. Ours asks nothing about it."""
    texts = ["Tom drink tea", "um", "TOM drink tea!", "um", "Tom drink tea", "Tom pet cat"]
    store = filled(tmp_path, said(texts))
    model = ScriptedModel(deciding(("DELETE", 1, "")))
    backbone(store, model).index(lambda _: None)
    assert current(store) == ["Tom drink tea", "Tom pet cat"]
    assert events(store) == [["ADD"], ["NONE"], ["NONE", "ADD"]]
    assert [request.step for request in model.seen] == [FACTS] * 3  # nothing is shown that could be deleted


@pytest.mark.parametrize(
    ("acts", "left"),
    [
        ((("ADD", 0, "Tom job cook"),), ["Tom drink tea", "Tom job cook"]),
        ((("UPDATE", 1, "Tom is a cook who drinks tea"),), ["Tom is a cook who drinks tea"]),
        ((("NONE", 1, ""),), ["Tom drink tea"]),
        ((("NONE", 0, ""),), ["Tom drink tea"]),
        ((("DELETE", 1, ""), ("UPDATE", 1, "Tom job cook")), ["Tom job cook"]),
        ((("DELETE", 1, ""), ("NONE", 0, "")), []),
        ((), ["Tom drink tea", "Tom job cook"]),
    ],
)
def test_each_event(tmp_path: Path, acts: Sequence[tuple[str, int, str]], left: list[str]) -> None:
    """A fact is lost only where the model says that it is known; what it says nothing of is added."""
    store = filled(tmp_path, said(["Tom drink tea", "um", "Tom job cook", "um"]))
    indexed(store, model=deciding(*acts))
    assert current(store) == left


def test_a_pair_comes_with_the_messages_before_it(tmp_path: Path) -> None:
    """Ten by default, across sessions, or as many as are wished; what is said before alone gives no fact."""
    store = filled(tmp_path / "ten", said([f"Tom likes thing{place}" for place in range(14)]))
    model = ScriptedModel(says)
    backbone(store, model).index(lambda _: None)
    last = next(request.growing for request in model.seen if "thing12 [" in request.growing)
    assert re.findall(r"^\w+: Tom likes thing(\d+)$", last, re.M) == [str(place) for place in range(2, 12)]
    store = filled(tmp_path / "none", said())
    model = ScriptedModel(says)
    backbone(store, model, Mem0Settings(before=0)).index(lambda _: None)
    assert not any("Said before" in request.growing for request in model.seen)
    assert current(store) == AT_THE_END


def test_pairs_may_be_longer_and_sessions_end_them(tmp_path: Path) -> None:
    """Three messages at a time of sessions of four: three and one."""
    store = filled(tmp_path, said()[:8])
    model = ScriptedModel(says)
    backbone(store, model, Mem0Settings(pair=3)).index(lambda _: None)
    read = [len(lines_of(request)) for request in model.seen if request.step == FACTS]
    assert read == [3, 1, 3, 1]


@both_profiles
def test_a_running_summary_is_kept_where_it_is_wished(tmp_path: Path, book: PromptBook) -> None:
    """It is of all sessions before, has their turns, and is shown with each pair; the first session has none."""
    store = filled(tmp_path, said())
    model = ScriptedModel(says)
    reported: list[PartDone] = []
    backbone(store, model, Mem0Settings(summary=True), book).index(reported.append)
    sums = store.units_of(NAME, [SUMMARY])
    assert [len(unit.turns) for unit in sums] == [4, 8, 10]
    by_session = {turn.session: turn for turn in said()}
    for request in model.seen:
        if request.step == FACTS:
            text = lines_of(request)[0][1]
            session = next(
                turn.session for turn in said() if turn.text == text and f"T1. {turn.speaker}" in request.growing
            )
            shown = re.search(r"^So far: (.*)$", request.growing, re.M)
            assert (shown[1] if shown else None) == (sums[session - 1].text if session else None)
    assert len(by_session) == 3
    assert current(store) == AT_THE_END
    assert not any(hit.unit.kind == SUMMARY for hit in Mem0(store, no_kit).retrieve(Query("Priya"), 99))


def test_each_speaker_may_have_a_memory(tmp_path: Path) -> None:
    """As in the original's benchmark: read once for each who speaks, and compared with their own memories alone."""
    store = filled(tmp_path, said(["Tom drink tea", "Tom drink milk", "Tom drink rum", "um"]))
    model = ScriptedModel(says)
    reported: list[PartDone] = []
    backbone(store, model, Mem0Settings(perspectives=Perspectives.EACH)).index(reported.append)
    memories = {unit.text: unit.attributes for unit in store.units_of(NAME, [MEMORY])}
    assert memories == {
        "Tom drink tea": {"of": "Alice"}, "Tom drink milk": {"of": "Ben"}, "Tom drink rum": {"of": "Alice"}
    }  # fmt: skip
    assert current(store) == ["Tom drink milk", "Tom drink rum"]
    assert sum(part.turns for part in reported) == 4
    (decide,) = [request for request in model.seen if request.step == DECIDE]
    assert [text for _, text in known_of(decide)] == ["Tom drink tea"]


@pytest.mark.slow
def test_only_the_nearest_memories_are_shown(tmp_path: Path) -> None:
    """So many for each fact, and so many in all."""
    texts = [f"Tom likes{place} thing{place}" for place in range(12)] + [
        "Tom likes3 thing3 now",
        "Tom likes5 thing5 now",
    ]
    counts: dict[Mem0Settings, list[str]] = {}
    for told in (Mem0Settings(), Mem0Settings(similar=1), Mem0Settings(similar=4, candidates=3)):
        store = filled(tmp_path / str(len(counts)), said(texts))
        model = ScriptedModel(says)
        backbone(store, model, told).index(lambda _: None)
        counts[told] = [text for _, text in known_of(model.seen[-1])]
    assert len(counts[Mem0Settings()]) >= 10
    assert counts[Mem0Settings(similar=1)] == ["Tom likes3 thing3", "Tom likes5 thing5"]
    assert len(counts[Mem0Settings(similar=4, candidates=3)]) == 3


def test_forgetting_brings_back_what_was_superseded(tmp_path: Path) -> None:
    """The fact that a forgotten message had replaced is current again, before anything is indexed."""
    turns = [replace(turn, speaker="Cem") if turn.ordinal in (4, 5) else turn for turn in said(TALK[:6])]
    store = filled(tmp_path, turns)
    indexed(store, Mem0Settings(before=0))
    assert "Priya home Leeds" in current(store)
    store.forget(Selection(speakers=("Cem",)))
    assert current(store) == ["Priya home Hull", "Priya pet Biscuit", "Tom drink tea"]


def test_a_grown_conversation_costs_only_what_is_new(tmp_path: Path) -> None:
    """One reading and one decision for a pair more; nothing where nothing is new."""
    store = filled(tmp_path, said()[:8])
    indexed(store)
    store.add(Conversation("chat", "openai", tuple(said()), "chat"))
    model = ScriptedModel(says)
    reported: list[PartDone] = []
    backbone(store, model).index(reported.append)
    assert [request.step for request in model.seen] == [FACTS, DECIDE]
    assert sum(part.turns for part in reported) == 2
    assert Mem0(store, no_kit).index(lambda _: None).parts == 0


def test_only_what_was_shown_is_decided_on_again(tmp_path: Path) -> None:
    """Where a message in the middle goes, whatever was not compared with its fact stays as it was."""
    told = Mem0Settings(before=0, similar=1)
    first = [text for place in range(2) for text in (f"Tom{place} likes{place} cake{place}", "um")]
    last = [text for place in range(2) for text in (f"Tom{place} likes{place} cake{place} now", "um")]
    turns = said([*first, "Tom0 likes0 cake0 once more", "um", "um", "um", *last])
    store = filled(tmp_path, [replace(turn, speaker="Cem") if turn.ordinal in (4, 5) else turn for turn in turns])
    indexed(store, told)
    store.forget(Selection(speakers=("Cem",)))
    model = ScriptedModel(says)
    backbone(store, model, told).index(lambda _: None)
    assert [request.step for request in model.seen] == [DECIDE]
    assert known_of(model.seen[0]) == [("1", "Tom0 likes0 cake0")]
    assert current(store) == ["Tom0 likes0 cake0 now", "Tom1 likes1 cake1 now"]


@pytest.mark.slow
@both_profiles
def test_what_cannot_be_read_is_tried_again(tmp_path: Path, book: PromptBook) -> None:
    """Unread pairs give nothing yet; undecided facts are there beside what they may replace, until the next run."""

    def cannot(request: Request) -> str:
        wrong = request.step == FACTS and "Tom job baker" in request.growing.partition("T1.")[2]
        return "?" if wrong or (request.step == DECIDE and "home York" in request.tail) else says(request)

    store = filled(tmp_path, said())
    failed = [part for part in indexed(store, model=cannot, book=book) if part.problem is not None]
    assert [part.problem.partition(":")[0] for part in failed if part.problem] == ["up to D2", "up to D3"]
    assert current(store) == ["Priya home Leeds", "Priya home York", "Priya pet Biscuit", "Tom drink tea"]
    outlook = backbone(store, ScriptedModel(says), book=book).outlook()
    assert outlook.failed == 2
    before = contents(store)
    assert len([part for part in indexed(store, model=cannot, book=book) if part.problem is not None]) == 2
    assert contents(store) == before
    indexed(store, book=book)
    SAMPLE.ends_as_new(store, tmp_path, book=book)


@pytest.mark.slow
def test_a_summary_that_cannot_be_read_leaves_the_one_before(tmp_path: Path) -> None:
    """Pairs are read with what there is; the next run sums up again."""

    def cannot(request: Request) -> str:
        return '{"summary": " "}' if request.step == SUM_UP and "home Leeds" in request.growing else says(request)

    store = filled(tmp_path, said())
    told = Mem0Settings(summary=True)
    (failed,) = [part for part in indexed(store, told, model=cannot) if part.problem is not None]
    assert "blank" in str(failed.problem)
    assert current(store) == AT_THE_END
    indexed(store, told)
    SAMPLE.ends_as_new(store, tmp_path, told)


@pytest.mark.slow
def test_conversations_are_decided_on_together(tmp_path: Path) -> None:
    """A pair waits for those before it in its own conversation, for no other; nothing passes between them."""
    alone, both = SAMPLE.asked_together(tmp_path, 16)
    both.forget(Selection(conversations=("other",)))
    Mem0(both, no_kit).index(lambda _: None)
    assert contents(both) == contents(alone)


@pytest.mark.parametrize(
    "told", [Mem0Settings(), Mem0Settings(summary=True), Mem0Settings(perspectives=Perspectives.EACH)], ids=str
)
def test_the_outlook_is_about_what_indexing_does(tmp_path: Path, told: Mem0Settings) -> None:
    """Without asking; nothing once it is done."""
    store = filled(tmp_path, said())
    outlook, done = SAMPLE.estimated(store, told)
    assert abs(outlook.parts - done.parts) <= 2
    assert abs(outlook.calls - done.usage.calls) <= 2
    assert (outlook.turns, outlook.failed) == (len(TALK), 0)
    assert outlook.tokens > outlook.parts * 100


@pytest.mark.slow
def test_other_settings_read_it_again(tmp_path: Path) -> None:
    """Where they show the model something else; what is the same is not asked for again."""
    store = filled(tmp_path, said())
    indexed(store)
    model = ScriptedModel(says)
    backbone(store, model, Mem0Settings(similar=1)).index(lambda _: None)
    assert FACTS not in {request.step for request in model.seen}
    SAMPLE.ends_as_new(store, tmp_path, Mem0Settings(similar=1))


def test_long_and_blank_messages(tmp_path: Path) -> None:
    """A long pair is read in stretches, a blank one not at all; a conversation of blanks has no memory."""
    long = " ".join(f"Tom likes thing{place} and cake." for place in range(400))
    store = filled(tmp_path, said([long, "um", " ", " "]))
    model = ScriptedModel(lambda request: says(request) if request.step == DECIDE else '{"facts": ["Tom likes cake"]}')
    backbone(store, model).index(lambda _: None)
    assert len([request for request in model.seen if request.step == FACTS]) > 1
    assert current(store) == ["Tom likes cake"]
    assert {unit.labels for unit in store.units_of(NAME, [FACT])} <= {("D1:1",), ("D1:2",), ("D1:1", "D1:2")}
    blank = filled(tmp_path / "blank", said([" ", ""]))
    assert indexed(blank) == []
    assert Mem0(blank, no_kit).outlook().parts == 0
    assert Mem0(blank, no_kit).retrieve(Query("Tom"), 3) == []


def test_without_times_everything_is_current_but_nothing_as_of_one(tmp_path: Path) -> None:
    """As with turns: what has no time passes no filter by time."""
    store = filled(tmp_path, [replace(turn, said=None) for turn in said()])
    indexed(store)
    assert current(store) == AT_THE_END
    assert Mem0(store, no_kit).retrieve(Query("Priya", until=START + timedelta(days=9)), 9) == []
    assert [unit.text for unit in sorted(store.units_of(NAME, [MEMORY]), key=_text)][:1] == ["Priya home Hull"]


def _text(unit: Unit) -> str:
    return unit.text

"""The backbone `secom`: sessions are cut into segments of one topic, which are retrieved whole."""

import json
import re
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.backbones.secom import BELONGS, KEY, NAME, SEGMENT, SEGMENTS, STEPS
from goalmem_cli.backbones.secom.backbone import SeCom
from goalmem_cli.backbones.secom.keys import compressed
from goalmem_cli.backbones.secom.segmenting import cut, exchanges_of, tiled_starts
from goalmem_cli.backbones.secom.settings import Retriever, SeComSettings, Starts, Way
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.errors import LibraryMissing
from goalmem_cli.logic.normal import words
from goalmem_cli.memory_records import Selection
from goalmem_cli.ports import JsonShape, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.records import Conversation, Query, Turn
from goalmem_cli.store.store import Store
from goalmem_cli.testing import ScriptedModel
from tests.backbones.derived import Sample, books, filled, forget_as_if_never_said, no_kit, stop_and_go_on, stores_in
from tests.conftest import examples
from tests.store.samples import START, open_store

FULL, COMPACT, both_profiles = books(STEPS)
TALK = (
    "The cello pupils come on Monday.",
    "How many cello pupils have you got?",
    "Eleven cello pupils, all from Leeds.",
    "Impressive, so many pupils!",
    "Did you repaint the boat?",
    "The paint for the boat comes on Friday.",
    "A blue boat again?",
    "The boat stays blue.",
    "My sister likes matcha.",
    "Momoco has matcha.",
)
TOPICS = ("cello pupils", "boat", "matcha")
ONLINE = SeComSettings(way=Way.ONLINE)


def topic(text: str) -> int:
    """Return the number of the last topic whose word the text has."""
    return max((place for place, word in enumerate(TOPICS) if word.split()[-1] in text), default=-1)


def understands(request: Request) -> str:
    """Return what a model says that sees the topics."""
    is_json = isinstance(request.shape, JsonShape)
    if request.step == BELONGS:
        same = topic(request.growing) == topic(request.tail.split("Next: ")[-1])
        return json.dumps({"belongs": same}) if is_json else f"belongs: {'yes' if same else 'no'}"
    topics = [topic(line) for line in re.findall(r"^\d+\. (.*)$", request.growing, re.MULTILINE)]
    starts = [str(n) for n, (a, b) in enumerate(pairwise(topics), 2) if a != b] or ["0"]
    return json.dumps({"starts": starts[::-1]}) if is_json else "\n".join(f"starts: {start}" for start in starts)


SAMPLE = Sample(NAME, SeCom, understands, FULL, TALK, 100)
said, backbone, indexed = SAMPLE.said, SAMPLE.backbone, SAMPLE.indexed


def segments(store: Store) -> list[tuple[str, ...]]:
    """Return the turns of each segment."""
    return [unit.labels for unit in store.units_of(NAME, [SEGMENT])]


def labels(first: int, last: int) -> tuple[str, ...]:
    """Return the labels of these turns of the first session."""
    return tuple(f"D1:{place}" for place in range(first, last + 1))


@both_profiles
@pytest.mark.parametrize("told", [SeComSettings(), ONLINE], ids=["batch", "online"])
def test_a_session_is_cut_where_the_topic_changes(tmp_path: Path, book: PromptBook, told: SeComSettings) -> None:
    """Both ways cut it alike; each segment has its turns' full text, with their speakers, and stands at the last."""
    store = filled(tmp_path, said())
    (done,) = indexed(store, told, book=book)
    units = store.units_of(NAME, [SEGMENT])

    assert segments(store) == [labels(1, 4), labels(5, 8), labels(9, 10)]
    assert units[2].text == "Alice: My sister likes matcha.\nBen: Momoco has matcha."
    assert [unit.said for unit in units] == [said()[place].said for place in (3, 7, 9)]
    assert (done.problem, done.units, done.usage.calls) == (None, 3, 1 if told.way is Way.BATCH else 4)


def test_a_reply_need_be_neither_sorted_nor_complete(tmp_path: Path) -> None:
    """Only starts count: the first exchange begins a segment in any case, and nothing is left over."""
    store = filled(tmp_path, said())
    indexed(store, model=lambda _: '{"starts": ["5", "3", "5"]}')
    assert segments(store) == [labels(1, 4), labels(5, 8), labels(9, 10)]
    assert [line.problem for line in store.derived(NAME)] == [None]


@given(st.integers(0, 30), st.integers(1, 3), st.sets(st.integers(0, 12)))
def test_every_turn_is_in_one_segment(turns: int, size: int, starts: set[int]) -> None:
    """Whatever the starts, in the order of the session."""
    exchanges = exchanges_of([Turn("chat", 0, n, "A", str(n)) for n in range(turns)], size)
    found = cut(exchanges, starts)
    assert [turn.ordinal for segment in found for each in segment for turn in each.turns] == list(range(turns))
    assert all(found)


def test_what_cannot_be_read_is_cut_after_every_third_exchange(tmp_path: Path) -> None:
    """It is listed as failed, found meanwhile, and cut again by the next indexing."""
    store = filled(tmp_path, said(per_session=8))
    done = indexed(store, model=lambda request: "no" if "cello" in request.growing else understands(request))
    assert [part.problem is None for part in done] == [False, True]
    assert segments(store) == [labels(1, 6), labels(7, 8), ("D2:1", "D2:2")]
    (again,) = indexed(store)
    assert (again.name, again.problem) == ("0", None)
    assert segments(store) == [labels(1, 4), labels(5, 8), ("D2:1", "D2:2")]


def test_online_a_failed_exchange_begins_a_segment_and_is_asked_again(tmp_path: Path) -> None:
    """From the session's beginning, since what follows depends on it."""
    store = filled(tmp_path, said())
    (done,) = indexed(store, ONLINE, model=lambda request: "?" if "Eleven" in request.tail else understands(request))
    assert done.problem is not None
    assert done.problem.startswith("exchange 2: ")
    assert segments(store)[:2] == [labels(1, 2), labels(3, 4)]
    (again,) = indexed(store, ONLINE)
    assert (again.problem, again.usage.calls) == (None, 4)
    assert segments(store)[0] == labels(1, 4)


@pytest.mark.parametrize("told", [SeComSettings(), ONLINE], ids=["batch", "online"])
@settings(max_examples=examples(6), deadline=None)
@given(st.lists(st.integers(1, 9), max_size=3, unique=True), st.integers(1, 3))
def test_growing_ends_as_reading_it_at_once(
    tmp_path_factory: pytest.TempPathFactory, told: SeComSettings, sizes: list[int], size: int
) -> None:
    """Indexed after any growth, the store has what it would have had at once; online, known exchanges cost nothing."""
    told = replace(told, exchange=size)
    store, fresh = (open_store(tmp_path_factory.mktemp("store"), dimension=64) for _ in range(2))
    for count in [*sorted(sizes), len(TALK)]:
        store.add(Conversation("chat", "openai", tuple(said()[:count]), "chat"))
        indexed(store, told)
    fresh.add(Conversation("chat", "openai", tuple(said()), "chat"))
    indexed(fresh, told)
    assert store.units_of(NAME) == fresh.units_of(NAME)
    assert indexed(store, told) == []


def test_online_asks_of_a_grown_session_only_what_is_new(tmp_path: Path) -> None:
    """The starts of the exchanges before are those that are stored."""
    store = filled(tmp_path, said()[:8])
    indexed(store, ONLINE)
    store.add(Conversation("chat", "openai", tuple(said()), "chat"))
    (done,) = indexed(store, ONLINE)
    assert done.usage.calls == 1
    assert segments(store) == [labels(1, 4), labels(5, 8), labels(9, 10)]


@pytest.mark.parametrize("told", [SeComSettings(rate=0.5), ONLINE], ids=["batch", "online"])
def test_interrupted_it_goes_on(tmp_path: Path, told: SeComSettings) -> None:
    """What was reported is kept and not asked for again; in the end there is all that there would have been."""
    stores = filled(tmp_path / "one", said(per_session=4)), filled(tmp_path / "other", said(per_session=4))
    one_by_one = SeCom(stores[0], lambda: Kit(ScriptedModel(understands), FULL, 1, 4096), told)
    stop_and_go_on(NAME, stores, 2, one_by_one, lambda store: indexed(store, told))


@settings(max_examples=examples(4), deadline=None)
@given(st.sets(st.integers(0, len(TALK) - 1), min_size=1, max_size=4))
def test_forgetting_ends_as_if_it_was_never_said(tmp_path_factory: pytest.TempPathFactory, places: set[int]) -> None:
    """Whichever turns are forgotten."""
    forget_as_if_never_said(NAME, stores_in(tmp_path_factory), said(per_session=4), places, indexed)


def test_forgetting_takes_the_session_and_it_is_cut_again(tmp_path: Path) -> None:
    """Nothing of a forgotten turn stays in a segment or a key; other sessions stay as they are."""
    told = SeComSettings(rate=0.5)
    store = filled(tmp_path, said(per_session=8))
    indexed(store, told)
    before = store.units_of(NAME, [SEGMENT])
    store.forget(Selection(speakers=("Ben",), before=START.replace(hour=21)))
    assert [unit.labels for unit in store.units_of(NAME)] == [("D2:1", "D2:2")] * 2
    indexed(store, told)
    assert segments(store)[-1:] == [("D2:1", "D2:2")]
    assert before[-1] in store.units_of(NAME, [SEGMENT])
    assert not any("Ben" in unit.text for unit in store.units_of(NAME) if unit.session == 0)


@pytest.mark.parametrize("retriever", list(Retriever))
def test_whole_segments_are_found(tmp_path: Path, retriever: Retriever) -> None:
    """Best first, no model asked, at most k, and beside the turns where that is wished."""
    store = filled(tmp_path, said())
    indexed(store)
    found = SeCom(store, no_kit, SeComSettings(retriever=retriever)).retrieve(Query("blue boat"), 2)
    assert found[0].unit.labels == labels(5, 8)
    assert len(found) <= 2
    assert {hit.unit.kind for hit in found} == {SEGMENT}
    beside = SeCom(store, no_kit, SeComSettings(retriever=retriever, beside=True)).retrieve(Query("blue boat"), 30)
    assert {hit.unit.kind for hit in beside} == {SEGMENT, "turn"}
    assert SeCom(store, no_kit).retrieve(Query("blue boat", until=START), 3) == []


def test_compressed_keys_lead_to_whole_segments(tmp_path: Path) -> None:
    """Keys are made without a model, follow the rate at the next indexing, and go when the rate is 1 again."""
    store = filled(tmp_path, said())
    indexed(store)
    for rate in (0.5, 0.8, 1.0):
        told = SeComSettings(rate=rate)
        assert indexed(store, told) == []
        keys = store.units_of(NAME, [KEY])
        assert len(keys) == (3 if rate < 1 else 0)
        (hit,) = SeCom(store, no_kit, told).retrieve(Query("blue boat"), 1)
        assert (hit.unit.kind, hit.unit.labels) == (SEGMENT, labels(5, 8))


@given(st.text("ab \n.:", max_size=60), st.sampled_from([0.2, 0.5, 0.75, 1.0]))
def test_a_key_keeps_the_rate(text: str, rate: float) -> None:
    """So many words, the lines, and no word that the text does not have."""
    counts = Counter(words(text))
    short = compressed(text, rate, counts)
    assert short.count("\n") == text.count("\n")
    assert len(words(short)) <= len(words(text))
    assert set(words(short)) <= set(words(text))


def test_the_commonest_words_go_first() -> None:
    """Function words, then what most segments have; speakers, line ends and full stops stay."""
    counts = Counter({"boat": 3, "paint": 1, "comes": 1, "friday": 1})
    text = "Ben: The paint for the boat comes on Friday.\nAlice: The boat."
    assert compressed(text, 0.4, counts) == "Ben: paint comes Friday.\nAlice: boat."
    assert compressed(text, 0.3, counts) == "Ben: paint comes Friday.\nAlice: ."


def tiled(path: Path, script: str) -> list[int]:
    """Return the turns with which segments start, of a talk about three things in words of a script."""
    talk = [
        " ".join(f"{script}{name}{(turn * 7 + place) % 9}" for place in range(25))
        for name in ("cello", "boat", "matcha")
        for turn in range(12)
    ]
    store = filled(path, said(talk))
    SeCom(store, no_kit, SeComSettings(starts=Starts.TEXTTILING)).index(lambda _: None)
    assert sum(segments(store), ()) == labels(1, 36)
    return [int(segment[0].partition(":")[2]) for segment in segments(store)]


def test_texttiling_needs_no_model(tmp_path: Path) -> None:
    """It cuts where the words change, in other scripts too, and does not where there are too few of them."""
    starts = tiled(tmp_path / "latin", "")
    assert {13, 25} <= set(starts)
    assert tiled(tmp_path / "я", "я") == starts
    assert {13, 25} <= set(tiled(tmp_path / "本", "本"))  # words of Chinese letters are read by pairs
    assert tiled_starts(exchanges_of(said(), 2)) == set()
    assert tiled_starts([]) == set()


def test_without_nltk_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, and what to install."""
    monkeypatch.setitem(sys.modules, "nltk.tokenize.texttiling", None)
    with pytest.raises(LibraryMissing, match="nltk, which TextTiling needs") as raised:
        tiled_starts([])
    assert "goalmem[eval]" in raised.value.hint


@both_profiles
@pytest.mark.parametrize("told", [SeComSettings(), ONLINE], ids=["batch", "online"])
def test_the_outlook_is_what_indexing_does(tmp_path: Path, book: PromptBook, told: SeComSettings) -> None:
    """As many calls, and tokens of the right size; nothing once it is done."""
    store = filled(tmp_path, said(per_session=4))
    model = ScriptedModel(understands)
    outlook = backbone(store, model, told, book).outlook()
    assert (model.calls, outlook.parts, outlook.turns) == (0, 3, 10)
    done = backbone(store, model, told, book).index(lambda _: None)
    assert outlook.calls == done.usage.calls == model.calls
    assert outlook.tokens > 0
    assert backbone(store, model, told, book).outlook().calls == 0
    assert SeCom(store, no_kit, SeComSettings(starts=Starts.TEXTTILING)).outlook().tokens == 0


def test_a_long_session_is_read_in_stretches(tmp_path: Path) -> None:
    """Each fits a request, and begins a segment."""
    store = filled(tmp_path, said([f"The boat is blue, number {n}. " + "Really. " * 30 for n in range(40)]))
    model = ScriptedModel(understands)
    backbone(store, model, book=COMPACT).index(lambda _: None)
    asked = [request for request in model.seen if request.step == SEGMENTS]
    assert len(asked) == len(segments(store)) > 1
    assert model.calls == 1

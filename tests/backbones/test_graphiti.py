"""The backbone `graphiti`: names and facts of each episode, what is the same, and what ended by what was said later."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.backbones.graphiti import DATES, DECIDE, ENTITIES, ENTITY, FACT, FACTS, INVALIDATES, MENTION, NAME
from goalmem_cli.backbones.graphiti.episode_reading import held
from goalmem_cli.backbones.graphiti.settings import Episode, GraphitiSettings
from goalmem_cli.backbones.graphiti.validity import Validity, invalidate, validities
from goalmem_cli.backbones.structured.decisions import DECISION
from goalmem_cli.backbones.structured.units import derived_unit, listed
from goalmem_cli.memory_records import Selection
from goalmem_cli.ports import Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.records import Turn, Unit
from goalmem_cli.store.store import Store
from goalmem_cli.testing import ScriptedModel
from tests.backbones.derived import filled
from tests.backbones.graphiti_samples import (
    FULL,
    SAMPLE,
    TALK,
    backbone,
    both_profiles,
    indexed,
    known_of,
    meant,
    parsed,
    said,
    says,
    searching,
)
from tests.conftest import examples

ALL = GraphitiSettings(similar=50)
"""With which all facts on a matter are compared."""
Row = tuple[str, str, str, str, int]


def year(moment: datetime | None) -> str:
    """Return a time as the tests write it."""
    return "" if moment is None else str(moment.year)


def facts(store: Store, at: datetime | None = None) -> list[Row]:
    """Return each fact with from when to when it held, when that was known, and how many episodes tell it."""
    known = validities(store.units_of(NAME, [FACT, DECISION]), at).values()
    return sorted(
        (each.fact.text, year(each.valid), year(each.invalid), str(each.expired or ""), len(each.told))
        for each in known
    )


@both_profiles
def test_what_is_contradicted_ends_when_the_new_begins(tmp_path: Path, book: PromptBook) -> None:
    """And what began before something that is known is over at once; both stay, and so does what the model saw."""
    turns = said(TALK[:4])
    store = filled(tmp_path, turns)
    done = indexed(store, book=book)
    assert all(part.problem is None for part in done)
    assert sum(part.turns for part in done) == 4
    assert facts(store) == [
        ("ann home hull", "2019", "2021", str(turns[1].said), 1),
        ("ann home york", "2021", "", "", 2),
        ("bea plays cello", "2020", "", "", 1),
    ]
    assert facts(store, turns[0].said) == [("ann home hull", "2019", "", "", 1)]
    by_id = {unit.id: unit for unit in store.units_of(NAME)}
    ended = [(by_id[edge.source].text, by_id[edge.target].text) for edge in store.edges_of(NAME, [INVALIDATES])]
    assert ended == [("ann home york", "ann home hull")]
    assert {unit.text for unit in by_id.values() if unit.kind == ENTITY} == {
        "Alice", "Ben", "ann", "hull", "york", "bea", "cello"
    }  # fmt: skip
    york = next(unit for unit in by_id.values() if unit.text == "york" and unit.kind == ENTITY)
    assert set(york.labels) == {"D1:2", "D2:1"}


def test_names_are_resolved(tmp_path: Path) -> None:
    """By the same words without asking; what may mean a known name is asked for."""
    store = filled(tmp_path, said(["ann home hull", "Ann likes tea", "ann-smith likes milk", "ann-jones likes gin"]))

    def new_for_jones(request: Request) -> str:
        if request.step == "graphiti_resolve" and "ann jones" in request.tail:
            return '{"acts": [{"new": "N1", "event": "NEW", "on": "0"}]}'
        return says(request)

    model = ScriptedModel(new_for_jones)
    backbone(store, model).index(lambda _: None)
    asked = [request for request in model.seen if request.step == "graphiti_resolve"]
    assert [known_of(request)[0] for request in asked] == ["ann", "ann"]
    entities = {unit.text: listed(unit, "names") for unit in store.units_of(NAME, [ENTITY])}
    assert entities["ann"] == ["Ann", "ann", "ann smith"]
    assert entities["ann jones"] == ["ann jones"]


def test_what_is_no_fact_between_two_names(tmp_path: Path) -> None:
    """A name that is none of the episode's, or twice the same, gives no fact; with one name nobody is asked."""

    def odd(request: Request) -> str:
        if request.step != FACTS:
            return says(request)
        rows = [("ann", "mars"), ("ann", "Ann"), ("ann", "hull")]
        shared = '"turns": ["T1"], "relation": "R", "fact": "f", "valid_at": "", "invalid_at": ""'
        listed_facts = ", ".join(f'{{{shared}, "source": "{one}", "target": "{other}"}}' for one, other in rows)
        return f'{{"facts": [{listed_facts}]}}'

    store = filled(tmp_path, said(["ann home hull", "um well"]))
    model = ScriptedModel(odd)
    backbone(store, model).index(lambda _: None)
    assert [unit.text for unit in store.units_of(NAME, [FACT])] == ["f"]
    assert sum(request.step == FACTS for request in model.seen) == 1
    assert len(store.units_of(NAME, [MENTION])) == 4


@both_profiles
def test_a_fact_without_times_is_asked_about_once_more(tmp_path: Path, book: PromptBook) -> None:
    """Where that is wished; one that nobody dates ends nothing and is ended by nothing."""

    def dated(request: Request) -> str:
        if request.step != DATES or "hull" not in request.tail:
            return says(request)
        return '{"valid_at": "2020", "invalid_at": ""}' if book is FULL else "valid_at: 2020\ninvalid_at: unknown"

    texts = ["ann home hull", "ann home york", "ann home leeds 2022"]
    store = filled(tmp_path, said(texts))
    indexed(store, model=dated, book=book)
    expected = [("ann home hull", "2020", "2022"), ("ann home leeds", "2022", ""), ("ann home york", "", "")]
    assert [row[:3] for row in facts(store)] == expected
    model = ScriptedModel(says)
    backbone(filled(tmp_path / "not", said(texts)), model, GraphitiSettings(dates=False), book).index(lambda _: None)
    assert DATES not in {request.step for request in model.seen}


def test_times_are_those_of_the_clause() -> None:
    """Checked by the resolver; on the message's own day it is the time of the message; no end before the beginning."""
    (turn,) = said(["We moved to Leeds last year."])
    assert turn.said is not None
    begun, ended = held("2022", "", "We moved to Leeds", [turn])
    assert begun is not None
    assert (begun.year, ended) == (turn.said.year - 1, None)
    plain = replace(turn, text="We live in Leeds.")
    assert held(f"{turn.said:%Y-%m-%d}", "", "We live in Leeds.", [plain]) == (turn.said.replace(tzinfo=None), None)
    assert held("2022", "2021", "We live in Leeds.", [plain]) == (None, None)
    assert held("", "", "We live in Leeds.", [plain]) == (None, None)
    assert held("before", "", "We lived in Leeds.", [plain])[0] is None


def unit_of(text: str, turn: Turn) -> Unit:
    """Return a fact."""
    return derived_unit(NAME, FACT, text, (turn,))


@pytest.mark.parametrize(
    ("old", "new", "old_after", "new_after"),
    [
        (("2019", ""), ("2021", ""), ("2019", "2021", True), ("2021", "", False)),
        (("2021", ""), ("2019", ""), ("2021", "", False), ("2019", "2021", True)),
        (("2019", "2020"), ("2021", ""), ("2019", "2020", False), ("2021", "", False)),
        (("2022", ""), ("2019", "2021"), ("2022", "", False), ("2019", "2021", True)),
        (("2020", ""), ("2019", "2021"), ("2020", "", False), ("2019", "2021", True)),
        (("2019", "2023"), ("2021", ""), ("2019", "2021", True), ("2021", "", False)),
        (("", ""), ("2021", ""), ("", "", False), ("2021", "", False)),
        (("2019", ""), ("", ""), ("2019", "", False), ("", "", False)),
        (("2020", ""), ("2020", ""), ("2020", "", False), ("2020", "", False)),
    ],
)
def test_every_case_of_the_rule(
    old: tuple[str, str], new: tuple[str, str], old_after: tuple[str, str, bool], new_after: tuple[str, str, bool]
) -> None:
    """Which of two that contradict each other ends, and when, worked out by hand."""

    def validity(times: tuple[str, str], text: str) -> Validity:
        begun, ended = (datetime(int(each), 1, 1) if each else None for each in times)
        return Validity(unit_of(text, said()[0]), begun, ended)

    one, other = validity(old, "old"), validity(new, "new")
    invalidate(other, [one], said()[1].said)
    assert (year(one.valid), year(one.invalid), one.is_expired) == old_after
    assert (year(other.valid), year(other.invalid), other.is_expired) == new_after


@dataclass
class Stated:
    """An edge as the original keeps and overwrites it."""

    text: str
    valid: str
    invalid: str
    expired: str = ""
    episodes: int = 1
    contradicted: bool = False


def overwritten(edges: list[Stated], turn: Turn) -> None:
    """Take in an episode as the original does, with all edges on a matter compared, and overwrite what it changes."""
    told = parsed(turn.text)
    if told is None:
        return
    text, now = f"{told[0]} {told[1]} {told[2]}", str(turn.said)
    matter = meant(text)
    of = [edge for edge in edges if meant(edge.text)[:2] == matter[:2]]
    exact = [edge for edge in of if edge.text == text and not edge.contradicted]
    if exact:
        exact[0].episodes += 1
        edge, against = exact[0], list[Stated]()
    else:
        same = next((edge for edge in of if meant(edge.text)[2] == matter[2]), None)
        against = [edge for edge in of if meant(edge.text)[2] != matter[2]]
        edge = same or Stated(text, told[3], told[4])
        edge.episodes += same is not None
        if same is None:
            edges.append(edge)
    if edge.invalid and not edge.expired:
        edge.expired = now
    later = sorted(each.valid for each in against if each.valid and edge.valid and each.valid > edge.valid)
    if not edge.expired and later:
        edge.invalid, edge.expired = later[0], now
    for other in against:
        other.contradicted = True
        ended_first = bool(other.invalid and edge.valid and other.invalid <= edge.valid)
        ended_first |= bool(edge.invalid and other.valid and edge.invalid <= other.valid)
        if not ended_first and other.valid and edge.valid and other.valid < edge.valid:
            other.invalid, other.expired = edge.valid, other.expired or now


@pytest.mark.slow
@settings(max_examples=examples(12), deadline=None)
@given(st.lists(st.sampled_from([text for text in TALK if "-" not in text]), min_size=1, max_size=9))
def test_at_every_time_it_knows_what_the_original_knew(
    tmp_path_factory: pytest.TempPathFactory, texts: Sequence[str]
) -> None:
    """The replay equals a plain simulation that overwrites, after each episode."""
    turns = said(texts)
    store = filled(tmp_path_factory.mktemp("store"), turns)
    indexed(store, ALL)
    edges: list[Stated] = []
    for turn in turns:
        overwritten(edges, turn)
        expected = [(edge.text, edge.valid, edge.invalid, edge.expired, edge.episodes) for edge in edges]
        assert facts(store, turn.said) == sorted(expected)


def test_a_forgotten_episode_takes_back_what_it_ended(tmp_path: Path) -> None:
    """The original leaves invalidations behind that an episode caused which is removed."""
    turns = said(TALK[:2])
    store = filled(tmp_path, [turns[0], replace(turns[1], speaker="Cem")])
    indexed(store)
    assert [row[:3] for row in facts(store)] == [("ann home hull", "2019", "2021"), ("ann home york", "2021", "")]
    store.forget(Selection(speakers=("Cem",)))
    assert [row[:3] for row in facts(store)] == [("ann home hull", "2019", "")]
    assert not store.edges_of(NAME, [INVALIDATES])


@both_profiles
def test_what_cannot_be_read_is_tried_again(tmp_path: Path, book: PromptBook) -> None:
    """Meanwhile an episode has no names or no facts, or nothing is decided about it: then each fact is new."""

    def cannot(request: Request) -> str:
        last = request.growing.strip().split("\n")[-1] + request.tail
        unread = {ENTITIES: "oboe", FACTS: "tea", DATES: "tea", DECIDE: "york"}
        return "?" if unread.get(request.step, "?!") in last or ("tea" in request.growing and request.step == FACTS) \
            else says(request)  # fmt: skip

    store = filled(tmp_path, said())
    failed = [part for part in indexed(store, model=cannot, book=book) if part.problem is not None]
    assert failed
    outlook = backbone(store, ScriptedModel(says), book=book).outlook()
    assert outlook.failed == outlook.parts == len(failed)
    indexed(store, book=book)
    SAMPLE.ends_as_new(store, tmp_path, book=book)


def test_the_outlook_is_about_what_indexing_does(tmp_path: Path) -> None:
    """Without asking; nothing once it is done; with other settings what these change."""
    store = filled(tmp_path, said()[:6])
    outlook, done = SAMPLE.estimated(store)
    assert outlook.turns == 6
    assert done.parts / 2 < outlook.parts < done.parts * 2
    assert done.usage.calls / 2 < outlook.calls < done.usage.calls * 3  # how many names are open nobody knows before
    assert outlook.tokens > outlook.parts * 100
    with_communities = backbone(store, ScriptedModel(says), GraphitiSettings(communities=True)).outlook()
    assert with_communities.parts == len(indexed(store, GraphitiSettings(communities=True))) > 0


def test_sessions_and_blank_messages(tmp_path: Path) -> None:
    """An episode may be a whole session; a blank message is none."""
    store = filled(tmp_path, said([*TALK[:3], " "]))
    reported = indexed(store, GraphitiSettings(episode=Episode.SESSION))
    assert sum(part.turns for part in reported) == 3
    mentions = store.units_of(NAME, [MENTION])
    assert {unit.labels for unit in mentions} == {("D1:1", "D1:2", "D1:3")}
    assert searching(filled(tmp_path / "blank", said([" "]))).outlook().parts == 0

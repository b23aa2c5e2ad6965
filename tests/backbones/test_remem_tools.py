"""REMem's four tools over a real store."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.backbones.remem import NAME
from goalmem_cli.backbones.remem.event_times import period_of
from goalmem_cli.backbones.remem.graph import LINKS, phrase_edges
from goalmem_cli.backbones.remem.settings import RememSettings
from goalmem_cli.backbones.remem.tools import Aggregation, Found, Tool, ToolCall, run
from goalmem_cli.backbones.structured.triples import phrase_units
from goalmem_cli.errors import UsageError
from goalmem_cli.memory_records import Derivation
from goalmem_cli.records import Conversation, Edge, Part, Query
from goalmem_cli.store.queries.episodes import GIST, PHRASE, SYNONYMY, Bound, Operator, Ordering, Sought, Times
from goalmem_cli.store.queries.reader import Reader
from goalmem_cli.store.store import Store
from tests.backbones.remem_samples import SAID, fact, gist, stored, turns
from tests.conftest import examples
from tests.store.histories import DEEDS, NAMES, THINGS, in_order, matching, possible, remembered
from tests.store.samples import open_store

EVERYWHERE = Query("")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store with the gists and facts of two sessions."""
    return stored(tmp_path_factory.mktemp("remem"))


@pytest.fixture(scope="module")
def reader(store: Store) -> Iterator[Reader]:
    """The store, open."""
    with store.reading() as reading:
        yield reading


def bound(operator: str, when: str) -> Bound:
    """Return a bound."""
    period = period_of(when)
    assert period is not None
    return Bound(Operator(operator), period)


def during(start: str = "", start_operator: str = "ge", end: str = "", end_operator: str = "le") -> Times:
    """Return the times that the tools' four parameters mean."""
    return Times(bound(start_operator, start) if start else None, bound(end_operator, end) if end else None)


def told(found: Found) -> list[str]:
    """Return the texts of what was found, in order."""
    return [hit.unit.text for hit in found.hits]


def use(tool: Tool, reader: Reader, top: int = 10, **asked: Any) -> Found:
    """Return what the tool finds everywhere."""
    return run(reader, EVERYWHERE, ToolCall(tool, **asked), RememSettings(top=top))


def entities(reader: Reader, **asked: Any) -> Found:
    """Return what the search by names finds everywhere."""
    return use(Tool.FIND_ENTITY_CONTEXTS, reader, **asked)


def facts(reader: Reader, **sought: Any) -> list[str]:
    """Return the facts that `find_entity_contexts` finds."""
    found = entities(reader, **sought)
    assert not found.gists
    return told(found)


@pytest.mark.parametrize("tool", [Tool.SEMANTIC_RETRIEVE, Tool.LEXICAL_RETRIEVE])
def test_retrieval_gives_gists_and_facts_and_nothing_else(reader: Reader, tool: Tool) -> None:
    """The best gists, then the best facts, each with its turn; no raw turn, no phrase."""
    found = use(tool, reader, 2, query="Who visited Momoco?")

    assert {hit.unit.kind for hit in found.gists} == {"gist"}
    assert {hit.unit.kind for hit in found.facts} == {"fact"}
    assert len(found.gists) == len(found.facts) == 2
    assert all("Momoco" in text for text in told(found))
    assert [hit.unit.labels for hit in found.gists] in ([("D2:1",), ("D2:2",)], [("D2:2",), ("D2:1",)])
    assert found.gists[0].score >= found.gists[1].score > 0
    assert [list(hit.ranks.values()) for hit in found.hits] == [[1], [2], [1], [2]]


@pytest.mark.parametrize("tool", [Tool.SEMANTIC_RETRIEVE, Tool.LEXICAL_RETRIEVE])
def test_retrieval_looks_past_what_is_out_of_time(reader: Reader, tool: Tool) -> None:
    """A filter is not applied to the first few alone: what passes is found however low it ranks."""
    april = use(tool, reader, 1, query="Who visited Momoco yesterday?", times=during("2023-04", end="2023-04"))

    assert told(april) == [
        "Priya and Tom visited Momoco on 20 April 2023.", "(Priya, visited, the Momoco) [20 April 2023]",
    ]  # fmt: skip


def test_a_gist_without_event_is_dated_by_its_telling(reader: Reader) -> None:
    """What nobody dated was so when it was told."""
    found = use(Tool.SEMANTIC_RETRIEVE, reader, query="York", times=during("2023-05-08"))

    assert "Tom says that he moved to York." in told(found)


def test_the_context_of_a_gist_is_what_says_the_same_and_what_is_linked(reader: Reader, store: Store) -> None:
    """Gists along synonymy edges, facts of its chunk's phrases; those of its own turn first."""
    (gist,) = (unit for unit in store.units_of(NAME, kinds=[GIST]) if "yesterday" in unit.text)
    found = use(Tool.FIND_GIST_CONTEXTS, reader, gist=gist.id)

    assert [hit.unit.text for hit in found.gists] == ["Priya and Tom visited Momoco on 20 April 2023."]
    assert {hit.unit.text for hit in found.facts[:2]} == {
        "(Tom, visited, Momoco) [7 May 2023]", "(Priya, visited, the Momoco) [20 April 2023]",
    }  # fmt: skip
    assert "(Priya, coached, E95) [from 2018 to February 2021]" in [hit.unit.text for hit in found.facts]
    assert told(use(Tool.FIND_GIST_CONTEXTS, reader, gist=gist.id, times=during(end="2022"))) == [
        "(Priya, coached, E95) [from 2018 to February 2021]",
    ]
    assert len(use(Tool.FIND_GIST_CONTEXTS, reader, 1, gist=gist.id).facts) == 1
    assert use(Tool.FIND_GIST_CONTEXTS, reader, gist="no such gist") == Found()


def test_names_are_compared_without_case_and_articles(reader: Reader) -> None:
    """An article and capitals make no other name of Momoco."""
    assert facts(reader, object="MOMOCO", ordering=Ordering.ASC) == [
        "(Priya, visited, the Momoco) [20 April 2023]", "(Tom, visited, Momoco) [7 May 2023]",
    ]  # fmt: skip


def test_where_no_name_matches_its_words_do_and_that_is_said(reader: Reader) -> None:
    """York is not York city; but where no fact has the name, those are given that hold its words."""
    whole = entities(reader, object="York")
    part = entities(reader, object="City")

    assert (told(whole), whole.is_loose) == (["(Tom, moved to, York)"], False)
    assert (told(part), part.is_loose) == (["(Tom, lives in, York city)"], True)
    assert entities(reader, object="Zanzibar") == Found(total=0)
    assert entities(reader, object="York", times=during("1990", "eq")) == Found(total=0)


def test_both_of_two_facts_that_contradict_are_kept(reader: Reader) -> None:
    """Where they moved to is told twice, and differently."""
    assert facts(reader, predicate="moved to", ordering=Ordering.ASC) == [
        "(Priya, moved to, Leeds) [6 May 2023]", "(Tom, moved to, York)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sought", "answer"),
    [
        ({"predicate": "visited", "ordering": Ordering.ASC, "limit": 1}, ["Priya"]),
        ({"predicate": "visited", "ordering": Ordering.DESC, "limit": 1}, ["Tom"]),
        ({"predicate": "visited", "ordering": Ordering.ASC, "limit": 1, "offset": 1}, ["Tom"]),
        ({"subject": "Priya", "times": during("2019", "le", "2019", "ge")}, ["Priya"]),
        ({"predicate": "coaches", "times": during("2025", "le", "2025", "ge")}, ["Tom"]),
        ({"predicate": "coaches", "times": during(end="2025", end_operator="lt")}, []),
        ({"subject": "Priya", "times": during("2022", "gt", "2023-04", "le")}, ["Priya"]),
        ({"subject": "Priya", "times": during("2021-03", "eq")}, []),
        ({"subject": "Tom", "times": during("2021-03", "eq")}, ["Tom"]),
    ],
    ids=["first", "last", "second", "at", "still", "ended", "between", "began (not)", "began"],
)  # fmt: skip
def test_questions_of_time_and_order(reader: Reader, sought: dict[str, Any], answer: list[str]) -> None:
    """First, last, nth, at a time, still so, within, begun in: an open end goes on for ever."""
    found = entities(reader, **sought)

    assert [hit.unit.attributes["subject"] for hit in found.facts] == answer


@pytest.mark.parametrize(
    ("aggregation", "number"),
    [(Aggregation.COUNT, 2), (Aggregation.COUNT_UNIQUE_SUBJECTS, 2), (Aggregation.COUNT_UNIQUE_OBJECTS, 1)],
)
def test_an_aggregation_counts_all_that_match(reader: Reader, aggregation: Aggregation, number: int) -> None:
    """Whatever the limit of the facts beside it, which are what the number rests on."""
    found = entities(reader, predicate="visited", aggregation=aggregation, limit=1)

    assert (found.number, found.total, len(found.facts)) == (number, 2, 1)


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """An open store of a made-up history of a thousand facts."""
    with remembered(tmp_path_factory.mktemp("past")).reading() as reading:
        yield reading


def name(*known: str) -> st.SearchStrategy[str | None]:
    """Return one of the names as somebody may write it, or none."""
    return st.none() | st.sampled_from([*known, *(f"The {each.upper()}" for each in known)])


WHENS = ("2019", "2020", "2021-02", "2022-12", "2020-02-29", "1955", "2030")
BOUNDS = st.none() | st.builds(bound, st.sampled_from(list(Operator)), st.sampled_from(WHENS))


@settings(max_examples=examples(100))
@given(
    names=st.tuples(name(*NAMES, "lee"), name(*DEEDS, "work"), name(*THINGS, "tea", "nothing")).filter(any),
    times=st.builds(Times, BOUNDS, BOUNDS), ordering=st.none() | st.sampled_from(list(Ordering)),
    limit=st.none() | st.integers(1, 30), offset=st.integers(0, 10), aggregation=st.sampled_from(list(Aggregation)),
)  # fmt: skip
def test_a_thousand_facts_are_counted_and_ordered_as_a_reference_does(
    past: Reader, names: tuple[str | None, str | None, str | None], times: Times, ordering: Ordering | None,
    limit: int | None, offset: int, aggregation: Aggregation,
) -> None:  # fmt: skip
    """Counts, the first, the last, the nth, and overlaps are those of plain Python, whatever is combined with what.

    Where nothing of any time has the names, those that have their words are taken.
    """
    subject, predicate, thing = (each and each.lower().removeprefix("the ") for each in names)
    sought = Sought(subject, predicate, thing, times)
    if not matching(replace(sought, times=Times())):
        sought = replace(sought, is_loose=True)
    expected, others = matching(sought), possible(sought)
    found = entities(
        past, subject=names[0], predicate=names[1], object=names[2], times=times,
        limit=limit, ordering=ordering, offset=offset, aggregation=aggregation, top=7,
    )  # fmt: skip

    ids = in_order(expected, ordering) + in_order(others, ordering)

    assert [hit.unit.id for hit in found.facts] == ids[offset:][: 7 if limit is None else limit]
    assert (found.total, found.open) == (len(expected), len(others))
    assert found.is_loose == (sought.is_loose and bool(ids))
    assert (
        found.number
        == {
            Aggregation.COUNT: len(expected),
            Aggregation.COUNT_UNIQUE_SUBJECTS: len({made.keys[0] for made in expected}),
            Aggregation.COUNT_UNIQUE_OBJECTS: len({made.keys[2] for made in expected}),
        }[aggregation]
    )


@pytest.mark.parametrize(
    "wrong", [{}, {"subject": ""}, {"subject": "Tom", "limit": 0}, {"subject": "Tom", "offset": -1}]
)
def test_what_makes_no_sense_is_refused(reader: Reader, wrong: dict[str, Any]) -> None:
    """Without any name all facts would match; no fact stands before the first."""
    with pytest.raises(UsageError):
        entities(reader, **wrong)


def test_the_scope_holds_for_every_tool(reader: Reader, store: Store) -> None:
    """What was told later, or elsewhere, is not there."""
    gist = store.units_of(NAME, kinds=[GIST])[0].id
    early = Query("", until=SAID + timedelta(minutes=1))
    calls = [
        ToolCall(Tool.SEMANTIC_RETRIEVE, "Priya Tom moved visited"), ToolCall(Tool.LEXICAL_RETRIEVE, "Priya Tom moved visited"),
        ToolCall(Tool.FIND_GIST_CONTEXTS, gist=gist), ToolCall(Tool.FIND_ENTITY_CONTEXTS, predicate="moved to"),
    ]  # fmt: skip

    for call in calls:
        assert run(reader, EVERYWHERE, call).hits
        assert {hit.unit.labels for hit in run(reader, early, call).hits} == {("D1:1",)}
        assert not run(reader, Query("", conversations=("elsewhere",)), call).hits


SPANS = (("I had that performance.", "before"), ("I performed on 3 May 2023.", "2023-05-03"), ("I perform.", ""))


@pytest.fixture(scope="module")
def open_times(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """A store whose facts and gists are before the message, on a day, and without a time of their own."""
    memory = open_store(tmp_path_factory.mktemp("open"), dimension=64)
    said = turns(texts=[text for text, _ in SPANS])
    memory.add(Conversation("chat", "openai", tuple(said), "chat"))
    units = [
        unit
        for turn, (_, when), name in zip(said, SPANS, ("Priya", "Tom", "Wen"), strict=True)
        for unit in (
            fact(turn, name, "performed", "dance", when),
            gist(turn, f"{name} performed a dance in the old hall.", when),
        )
    ]
    memory.derive(NAME, [Derivation(Part("chat", "0", tuple(said)), tuple(units))])
    facts, gists = ([unit for unit in units if unit.kind == kind] for kind in ("fact", "gist"))
    near = [Edge(gists[2].id, other.id, SYNONYMY, 0.9) for other in gists[:2]]
    memory.shared(NAME, PHRASE, phrase_units(NAME, facts), [*phrase_edges(gists, facts), *near], links=LINKS)
    with memory.reading() as reading:
        yield reading


WHEN_OPEN: list[tuple[Times, list[str], int]] = [
    (during(end="2023-05"), ["Tom", "Wen", "Priya"], 0),
    (during(start="2023-05"), ["Tom", "Wen", "Priya"], 1),
    (during("2023-05-01", end="2023-05-04"), ["Tom", "Priya"], 1),
    (during("2023-05-09"), [], 0),
    (during("2020", "le", "2020", "ge"), ["Priya"], 1),
    (during(end="2023-05-07", end_operator="lt"), ["Tom", "Priya"], 1),
]


@pytest.mark.parametrize(("times", "names", "maybe"), WHEN_OPEN)
def test_what_is_open_is_treated_as_open_by_every_tool(
    open_times: Reader, times: Times, names: list[str], maybe: int
) -> None:
    """What was before the message may have been at any time before: it stands behind what surely fits, and apart."""
    found = entities(open_times, predicate="performed", times=times)

    assert sorted(who(hit.unit.text) for hit in found.facts) == sorted(names)
    assert (found.total, found.open) == (len(names) - maybe, maybe)
    assert not maybe or who(found.facts[-1].unit.text) == "Priya"
    for tool in (Tool.SEMANTIC_RETRIEVE, Tool.LEXICAL_RETRIEVE):
        hits = use(tool, open_times, query="performed a dance", times=times).gists
        assert sorted(who(hit.unit.text) for hit in hits) == sorted(names)
        assert not maybe or who(hits[-1].unit.text) == "Priya"
    seen = use(Tool.SEMANTIC_RETRIEVE, open_times, query="dance").gists
    (start,) = (hit.unit.id for hit in seen if who(hit.unit.text) == "Wen")
    context = use(Tool.FIND_GIST_CONTEXTS, open_times, gist=start, times=times)
    assert sorted(who(hit.unit.text) for hit in context.facts) == sorted(names)
    assert sorted(who(hit.unit.text) for hit in context.gists) == sorted(set(names) - {"Wen"})
    assert not maybe or [who(hits[-1].unit.text) for hits in (context.facts, context.gists)] == ["Priya", "Priya"]


@pytest.mark.parametrize(("ordering", "last"), [(Ordering.ASC, "Priya"), (Ordering.DESC, "Priya")])
def test_what_is_open_is_neither_first_nor_last(open_times: Reader, ordering: Ordering, last: str) -> None:
    """Nobody knows when it was, so that it comes behind what has a day."""
    found = entities(open_times, object="dance", ordering=ordering)

    assert who(found.facts[-1].unit.text) == last
    assert {who(hit.unit.text) for hit in found.facts[:2]} == {"Tom", "Wen"}


def who(text: str) -> str:
    """Return whom a gist or a fact is about."""
    return text.strip("(").replace(",", " ").split()[0]

"""Retrieval for queries that name a time."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from goalmem_cli.backbones.flat import RECIPES, FlatBackbone
from goalmem_cli.backbones.structured.beside import hits_beside_turns
from goalmem_cli.backbones.time_ranking import (
    COMMON,
    MAY_NAME_TIME,
    TIMES,
    WEIGHT,
    NamedTimes,
    around,
    informativeness,
    is_of,
    named_times,
)
from goalmem_cli.logic.annotations import time_attributes
from goalmem_cli.logic.days import Period
from goalmem_cli.logic.relative import VOCABULARY
from goalmem_cli.records import Conversation, Query, Turn, Unit
from goalmem_cli.store.store import Store
from tests.fakes import ListMemory
from tests.store.samples import open_store

ASKED = datetime(2023, 12, 20, 12, 0)  # a Wednesday
DAYS = {
    "D1:1": (datetime(2023, 3, 5, 9), "I went climbing with Ana."),
    "D2:1": (datetime(2023, 7, 9, 9), "I went climbing with Luis."),
    "D3:1": (datetime(2023, 10, 6, 9), "I went climbing with Dora."),
    "D4:1": (datetime(2023, 10, 30, 9), "I went climbing with Emil in July."),
    "D5:1": (datetime(2023, 12, 18, 9), "I went climbing with Fay."),
    "D6:1": (None, "I went climbing with Gus."),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    memory = open_store(tmp_path_factory.mktemp("times") / "store")
    memory.add(climbs())
    return memory


def climbs() -> Conversation:
    """Return a conversation of one turn a session, all alike but for whom it names and when it was said."""
    turns = (
        Turn("chat", place, place, "Nora", text, said, own_id)
        for place, (own_id, (said, text)) in enumerate(DAYS.items())
    )
    return Conversation("chat", "openai", tuple(turns))


def found(
    memory: Store, text: str, backbone: str = "hybrid", until: datetime | None = None
) -> dict[str, Mapping[str, int]]:
    """Return the labels of the hits, best first, with their ranks."""
    hits = FlatBackbone(memory, backbone).retrieve(Query(text, until=until, asked=ASKED), 10)
    return {hit.unit.labels[0]: hit.ranks for hit in hits}


NAMED = {
    "Whom did Nora climb with in March?": [("2023-03-01", "2023-03-31")],
    "Whom did Nora climb with on 6 October 2023?": [("2023-10-06", "2023-10-06")],
    "Whom did Nora climb with in the first weekend of October 2023?": [("2023-10-07", "2023-10-08")],
    "Whom did Nora climb with last summer?": [("2023-06-01", "2023-08-31")],
    "What had she done by July 10, 2023?": [("0001-01-01", "2023-07-10")],
    "What had she done before July 10, 2023?": [("0001-01-01", "2023-07-09")],
    "What has she done since July 10, 2023?": [("2023-07-10", "9999-12-31")],
    "What did she do after July 10, 2023?": [("2023-07-11", "9999-12-31")],
    "What did she do today?": [("2023-12-20", "2023-12-20")],
    "Where does she live today?": [],
    "Where does she live?": [],
    "What does she do on Sundays?": [],
}


@pytest.mark.parametrize("text", NAMED)
def test_which_times_a_query_names(text: str) -> None:
    """Open ends reach the ends of the calendar; how things stand today, and habits, name no time."""
    periods = named_times(Query(text, asked=ASKED))
    assert [(str(period.first), str(period.last)) for period in periods] == NAMED[text]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Was hat Jonas letzten Freitag gemacht?", "2023-05-19"), ("¿Qué hizo Ana el 3/4/2023?", "2023-04-03"),
        ("Qu'est-ce que Luc a fait le 3 mai 2023 ?", "2023-05-03"), ("What did Ana do on 3/4/2023?", ""),
    ],
)  # fmt: skip
def test_a_query_in_another_language_names_times(text: str, days: str) -> None:
    """It is read in its own, also where English would read another day or none."""
    periods = [period for period in named_times(Query(text, asked=datetime(2023, 5, 22, 9))) if period.days == 1]
    assert [str(period.first) for period in periods] == ([days] if days else [])


@pytest.mark.parametrize("day", ["16.01.2024", "2024-01-16", "16/01/2024", "01/16/2024", "16 January 2024"])
def test_a_day_in_numbers_is_a_day(day: str) -> None:
    """However a query and a turn write it, they mean the same day."""
    (period,) = named_times(Query(f"What came on {day}?", asked=ASKED))
    unit = Unit("u1", "turn", "The boat comes on 16.01.2024.", "talk", "Ana", None, ("t1",), ("D1:1",))

    assert period == Period(date(2024, 1, 16), date(2024, 1, 16))
    assert is_of(unit, period) and is_of(replace(unit, text=f"The boat comes on {day}."), period)
    assert not is_of(replace(unit, text="The boat comes on 18.01.2024."), period)


def test_no_word_of_time_is_overlooked() -> None:
    """The patterns are loaded for every word that makes an expression of time, but those of holidays called a day.

    What has "just" happened is told, and not asked for.
    """
    overlooked = {word for word in VOCABULARY if not MAY_NAME_TIME.search(word)}
    called_a_day = "black good boxing saint stephen patrick fools new independence mother father memorial labou just"
    assert overlooked <= set(called_a_day.split())
    assert not MAY_NAME_TIME.search("Kyoto Latte")


def test_without_a_time_of_asking() -> None:
    """Only dates with their year are times then."""
    assert named_times(Query("What did she do last summer, and in March?")) == []
    assert named_times(Query("What did she do in March 2023?")) == [Period(date(2023, 3, 1), date(2023, 3, 31))]


@pytest.mark.parametrize("backbone", [name for name, recipe in RECIPES.items() if len(recipe) > 1])
def test_what_was_said_or_tells_of_then_comes_first(store: Store, backbone: str) -> None:
    """Of turns alike, one said in July and one that tells of July lead, and say which ranking they lead in."""
    ranks = found(store, "Whom did Nora go climbing with in July?", backbone)
    assert set(list(ranks)[:2]) == {"D2:1", "D4:1"}
    assert {ranks[label][TIMES] for label in ("D2:1", "D4:1")} == {1, 2}
    assert all(TIMES not in ranks[label] for label in ranks if label not in {"D2:1", "D4:1"})


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Whom did Nora go climbing with on 6 October 2023?", {"D3:1"}),
        ("Whom had Nora gone climbing with by March 31, 2023?", {"D1:1"}),
        ("Whom had Nora gone climbing with before July 1, 2023?", {"D1:1"}),
        ("Whom has Nora gone climbing with since December 1, 2023?", {"D5:1"}),
        ("Whom did Nora go climbing with after November 2023?", {"D5:1"}),
        ("Whom did Nora go climbing with last summer?", {"D2:1", "D4:1"}),
        ("Whom did Nora go climbing with this week?", {"D5:1"}),
        ("(Nora) went climbing with (x:person) in March 2023", {"D1:1"}),
    ],
)
def test_each_side_of_a_time(store: Store, text: str, first: set[str]) -> None:
    """Before, after, by and since mean the turns on that side; words about time are read when the question is asked."""
    assert set(list(found(store, text))[: len(first)]) == first


def test_times_rank_softly(store: Store) -> None:
    """What was said at other times, or nobody knows when, comes later, and is there."""
    assert set(found(store, "Whom did Nora go climbing with in July?")) == set(DAYS)


def test_filters_still_hold(store: Store) -> None:
    """A time that is named widens no filter: what was said later than is asked for stays hidden."""
    early = found(store, "Whom did Nora go climbing with in July?", until=datetime(2023, 10, 1))
    assert set(early) == {"D1:1", "D2:1"}


@pytest.mark.parametrize("text", ["Whom did Nora go climbing with?", "Whom did Nora go climbing with in July 1990?"])
def test_a_query_without_a_time_that_matches_is_fused_as_ever(store: Store, text: str) -> None:
    """No hit has a place in the ranking by times."""
    for backbone in RECIPES:
        ranks = found(store, text, backbone)
        assert ranks and not any(TIMES in each for each in ranks.values())


def test_a_memory_without_annotations_ranks_by_when_it_was_said(tmp_path: Path) -> None:
    """Any memory will do that gives units by the Protocols: what it lacks is not told of."""
    memory = ListMemory(tmp_path)
    memory.add_all([climbs()])
    hits = FlatBackbone(memory, "bm25").retrieve(Query("climbing in July 2023"), 10)
    assert hits[0].unit.said == DAYS["D2:1"][0]
    assert len(hits) == len(DAYS)


def test_backbones_with_units_of_their_own_rank_by_times(store: Store) -> None:
    """Turns are ranked so beside what was derived."""
    with store.reading() as reader:
        hits = hits_beside_turns(reader, Query("climbing in March 2023"), 10, {}, {})
    assert hits[0].unit.labels == ("D1:1",)
    assert hits[0].ranks[TIMES] == 1


MAY = Period(date(2023, 5, 1), date(2023, 5, 31))
TOLD = {
    "We moved in May.": True,
    "We moved last year.": False,
    "I've lived here since May.": True,
    "I've lived here for two years now.": False,
    "It was on 5 May 2023.": True,
    "It was on 5 May 2021.": False,
    "We moved in the spring.": False,
    "We moved.": False,
}


@pytest.mark.parametrize("text", TOLD)
def test_what_a_unit_tells_of(text: str) -> None:
    """Of some day of that time, and of nothing much longer; what has no end tells of its beginning."""
    said = datetime(2023, 9, 12, 20, 0)
    unit = Unit("u", "turn", text, "chat", "Nora", said, ("t",), ("D1:1",), attributes=time_attributes(text, said))
    assert is_of(unit, MAY) == TOLD[text]


def test_what_a_derived_unit_tells_of() -> None:
    """When it happened, as far as that is known."""
    unit = Unit("u", "fact", "x", "chat", "", datetime(2023, 9, 1), ("t",), ("D1:1",), event_from=datetime(2023, 5, 9))
    assert is_of(unit, MAY)
    assert not is_of(replace(unit, event_from=None), MAY)
    assert is_of(replace(unit, event_from=datetime(2023, 4, 20), event_to=datetime(2023, 5, 2)), MAY)


def test_what_was_said_around_a_time() -> None:
    """Some days more on each side, within the bounds of the query itself."""
    open_query = around(Query("x"), MAY)
    assert (open_query.since, open_query.until) == (datetime(2023, 4, 17), datetime(2023, 6, 14, 23, 59, 59, 999999))
    bounds = (datetime(2023, 5, 3), datetime(2023, 5, 9))
    narrow = around(Query("x", since=bounds[0], until=bounds[1]), MAY)
    assert (narrow.since, narrow.until) == bounds
    ever = around(Query("x"), Period(date.min, date.max))
    assert (ever.since, ever.until) == (None, None)


def test_a_time_of_most_turns_tells_little() -> None:
    """From its full weight, where few match, down to none, where all do."""
    assert [informativeness(share) for share in (0.0, 0.01, COMMON, 1.0)] == [1.0, 1.0, 1.0, 0.0]
    assert 0 < informativeness(0.9) < informativeness(0.5) < 1


def test_the_weight_is_a_share_of_what_it_is_fused_with(store: Store) -> None:
    """A recipe with more rankings gives it more weight."""
    with store.reading() as reader:
        units, weight = NamedTimes(reader, Query("March 2023")).ranking({"bm25": list(_ids(store))}, {"bm25": 4.0})
    assert (len(units), weight) == (1, 4.0 * WEIGHT)


def _ids(memory: Store) -> list[str]:
    return [turn.id for turn in memory.turns()]


def test_many_turns_of_other_times_do_not_hide_those_of_then(tmp_path: Path) -> None:
    """A turn said then is found though hundreds said at other times have more of the query's words."""
    start = datetime(2023, 1, 1)
    turns = [
        Turn("chat", 0, place, "Nora", "Dave was doing what he was doing, Dave was.", start + timedelta(hours=place))
        for place in range(450)
    ]
    turns.append(Turn("chat", 1, 450, "Dave", "Fixing the engine all day.", datetime(2023, 10, 7, 9)))
    memory = open_store(tmp_path / "store")
    memory.add(Conversation("chat", "openai", tuple(turns)))
    hits = FlatBackbone(memory, "hybrid").retrieve(Query("What was Dave doing in October 2023?"), 30)
    assert "Fixing the engine all day." in [hit.unit.text for hit in hits]

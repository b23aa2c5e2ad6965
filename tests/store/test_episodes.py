"""Facts asked for as a table: each answer is the one that plain Python over the same facts gives."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.records import Query
from goalmem_cli.store.queries.episodes import FACT, Episodes, Operator, Ordering, Sought, Times
from goalmem_cli.store.queries.reader import Reader
from tests.conftest import examples
from tests.store.histories import (
    BACKBONE,
    DEEDS,
    HISTORY,
    NAMES,
    THINGS,
    Made,
    bound,
    in_order,
    matching,
    possible,
    remembered,
    told_once,
)

EVERYWHERE = Query("")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """An open store of a thousand facts in two conversations."""
    with remembered(tmp_path_factory.mktemp("facts")).reading() as reading:
        yield reading


@pytest.fixture(scope="module")
def episodes(reader: Reader) -> Episodes:
    """Its facts."""
    return reader.episodes(BACKBONE)


WHENS = st.sampled_from(["2019", "2020", "2021-02", "2022-12", "2019-06-01", "2020-02-29", "1955", "2030"])
BOUNDS = st.none() | st.builds(bound, st.sampled_from([each.value for each in Operator]), WHENS)
SOUGHT = st.builds(
    Sought, st.none() | st.sampled_from([*NAMES, "lee", "nobody"]), st.none() | st.sampled_from([*DEEDS, "work"]),
    st.none() | st.sampled_from([*THINGS, "tea", "57"]), st.builds(Times, BOUNDS, BOUNDS), st.booleans(),
)  # fmt: skip


@settings(max_examples=examples(150))
@given(data=st.data())
def test_every_question_has_the_answer_of_the_reference(episodes: Episodes, data: st.DataObject) -> None:
    """First and last, the nth, overlaps and counts over a thousand facts are exactly what plain Python gives."""
    sought, ordering = data.draw(SOUGHT), data.draw(st.none() | st.sampled_from(list(Ordering)))
    limit, offset = data.draw(st.none() | st.integers(1, 30)), data.draw(st.integers(0, 10))
    expected, others = matching(sought), possible(sought)
    ids = in_order(expected, ordering) + in_order(others, ordering)
    counts = episodes.count(EVERYWHERE, sought)

    assert episodes.facts(EVERYWHERE, sought, ordering, limit, offset) == ids[offset:][:limit]
    assert (counts.facts, counts.subjects, counts.objects) == (
        len(expected), len({made.keys[0] for made in expected}), len({made.keys[2] for made in expected}),
    )  # fmt: skip
    assert (counts.open, counts.shown) == (len(others), len(ids))
    timeless = [made for made in matching(replace(sought, times=Times())) if made.began is None]
    assert counts.without_time == (0 if sought.times.is_open else len(timeless))


QUESTIONS: dict[str, tuple[Times, Callable[[Made], bool]]] = {
    "start after 1950": (
        Times(start=bound("gt", "2020")), lambda made: _between(made.began)[0] > datetime(2020, 12, 31, 23, 59, 59, 999999)
    ),
    "end before 1960": (Times(end=bound("lt", "2021")), lambda made: _between(made.ended)[1] < datetime(2021, 1, 1)),
    "exist at one point": (
        Times(bound("le", "2020-07-01"), bound("ge", "2020-07-01")),
        lambda made: _between(made.began)[1].date() <= date(2020, 7, 1) <= _between(made.ended)[0].date(),
    ),
    "only within": (
        Times(bound("ge", "2020"), bound("le", "2021")),
        lambda made: _between(made.began)[0].year >= 2020 and _between(made.ended)[1].year <= 2021,
    ),
    "overlap": (
        Times(bound("le", "2021"), bound("ge", "2020")),
        lambda made: _between(made.began)[1].year <= 2021 and _between(made.ended)[0].year >= 2020,
    ),
}  # fmt: skip


def _between(moments: tuple[datetime, datetime] | None) -> tuple[datetime, datetime]:
    assert moments is not None
    return moments


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_paper_s_five_temporal_questions(episodes: Episodes, question: str) -> None:
    """Start after, end before, exist at, only within, overlap with: each finds those that surely are, then the open."""
    times, is_meant = QUESTIONS[question]
    meant = told_once([made for made in HISTORY if made.began is not None and is_meant(made)])
    found = episodes.facts(EVERYWHERE, Sought(times=times), Ordering.ASC)

    assert 0 < len(meant) < len(found) < len(HISTORY)
    assert found == in_order(meant, Ordering.ASC) + in_order(possible(Sought(times=times)), Ordering.ASC)
    assert episodes.count(EVERYWHERE, Sought(times=times)).facts == len(meant)


def test_the_scope_hides_other_conversations_and_what_was_told_later(episodes: Episodes) -> None:
    """A fact of another conversation, or told after the time of asking, is neither given nor counted."""
    until = datetime(2019, 6, 5)
    scope = Query("", conversations=("talk",), until=until)
    expected = [made for made in HISTORY if made.conversation == "talk" and made.recorded and made.recorded <= until]

    assert episodes.facts(scope, Sought(), Ordering.ASC) == in_order(told_once(expected), Ordering.ASC)
    assert episodes.count(scope, Sought()).facts == len(told_once(expected))


def test_another_backbone_s_units_are_no_facts_of_this_one(reader: Reader) -> None:
    """What one backbone derived is not seen through another."""
    other = reader.episodes("other")

    assert (other.facts(EVERYWHERE, Sought()), other.count_of(FACT)) == ([], 0)


@pytest.mark.parametrize("name", ["' OR 1=1 --", "%", "\x00", "", "🙂"])
def test_a_name_is_data(episodes: Episodes, name: str) -> None:
    """No name is an operator of the database."""
    empty: Any = episodes.facts(EVERYWHERE, Sought(subject=name))

    assert empty == []

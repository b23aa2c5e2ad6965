"""Now takes the later statement of a thing that has one value at a time, and shows the earlier as replaced."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from goalmem_cli.backbones.flat import FlatBackbone
from goalmem_cli.backbones.now.asked import asked_in
from goalmem_cli.backbones.now.holding import Holding
from goalmem_cli.backbones.now.states import states_in
from goalmem_cli.backbones.whole_scope import WholeScope
from goalmem_cli.records import Query, Turn
from goalmem_cli.store import Store
from goalmem_cli.testing import HashEmbedder

LEEDS, YORK = "We moved to Leeds in February.", "Back to York since June."
CHATTER = ("The bus was late.", "Did you see the match?", "I burnt the soup again.")


def stored(folder: Path, *said: str, name: str = "talk") -> Store:
    """Return a store of one conversation: lines "Ana: ..." a month apart, with chatter between."""
    turns: list[Turn] = []
    for month, line in enumerate(said, 1):
        speaker, text = line.split(": ", 1)
        for day, each in enumerate((text, *CHATTER), 1):
            when = datetime(2026, month, day, 10)
            turns.append(Turn(name, month, len(turns), speaker, each, when, own_id=f"{month}:{day}"))
    store = Store(folder / name, HashEmbedder(), announce=lambda _: None)
    store.add_turns(turns)
    return store


def found(store: Store, question: str, **filters: object) -> tuple[list[str], dict[str, str]]:
    """Return the texts of the hits without the chatter, and by text what replaces it."""
    query = Query(question, **filters)  # type: ignore[arg-type]
    hits = [hit for hit in Holding(FlatBackbone(store), store).retrieve(query, 20) if hit.unit.text not in CHATTER]
    return [hit.unit.text for hit in hits], {hit.unit.text: hit.moved_on.text for hit in hits if hit.moved_on}


@pytest.mark.parametrize(
    "question",
    [
        "Where does Ana live?",
        "Where does Ana live now?",
        "Which city does Ana currently live in?",
        "Is Ana still living in Leeds?",
        "Is Ana still in Leeds?",
        "Ana lives in city",
    ],
)
def test_the_present_takes_the_later_statement(tmp_path: Path, question: str) -> None:
    """In each wording; the earlier one is shown as replaced by it."""
    assert found(stored(tmp_path, f"Ana: {LEEDS}", f"Ana: {YORK}"), question) == ([YORK, LEEDS], {LEEDS: YORK})


@pytest.mark.parametrize(
    "question", ["Where did Ana live in March?", "Where has Ana lived?", "When did Ana move?", "Where will Ana live?"]
)
def test_a_question_about_another_time_changes_nothing(tmp_path: Path, question: str) -> None:
    """Neither the order nor the marks, and not where a plan's step for it is in the present."""
    store = stored(tmp_path, f"Ana: {LEEDS}", f"Ana: {YORK}")
    for query in (Query(question), Query("Ana lives in city", question=question)):
        assert Holding(FlatBackbone(store), store).retrieve(query, 10) == FlatBackbone(store).retrieve(query, 10)


def test_what_was_so_until_then_holds_then(tmp_path: Path) -> None:
    """As of a time, later turns do not count."""
    store = stored(tmp_path, f"Ana: {LEEDS}", f"Ana: {YORK}")
    assert found(store, "Where does Ana live?", until=datetime(2026, 1, 28)) == ([LEEDS], {})


@pytest.mark.parametrize(
    ("question", "earlier", "later"),
    [
        ("Who does Hugo work for?", "I work at the mill.", "Started at Osprey on Monday."),
        ("Where does Hugo's brother live?", "My brother lives in Graz.", "My brother has moved to Linz."),
        ("How much rent does Hugo pay?", "My rent is 640 a month.", "They put the rent up, it's 715 from now on."),
        ("Who is Hugo's dentist?", "My dentist is Dr Walsh.", "My new dentist is Dr Okafor."),
        ("What is the gate code?", "The gate code is 4471.", "gate code changed, 9023 now"),
        ("On which day does our club meet?", "Our club meets on Tuesdays.", "The club has moved to Thursdays."),
        ("What colour is Hugo's boat?", "I painted the boat red.", "The boat is green now."),
        ("What does Hugo play?", "I play the oboe.", "I switched, the cello is what I play."),
        ("What does Hugo like best to eat?", "I like plums best to eat.", "I like figs best to eat."),
        ("Who is Hugo's dentist?", "My dentist is Dr Walsh.", "I switched dentists, mine is Dr Okafor now."),
        ("Who is Hugo's boyfriend?", "My boyfriend is called Dan.", "We split up, my boyfriend is Felix now."),
        ("Where does Hugo live?", "We live in Porto.", "I left Porto, Braga is home now."),
        ("Where does Hugo work?", "I work at the mill.", "I got a new job at the garage."),
        ("Does Hugo still work at the mill?", "I work at the mill.", "I do not work at the mill any more."),
    ],
)
def test_whatever_has_one_value_at_a_time(tmp_path: Path, question: str, earlier: str, later: str) -> None:
    """Told as a change, as a correction, or as it is now."""
    texts, marks = found(stored(tmp_path, f"Hugo: {earlier}", f"Hugo: {later}"), question)
    assert (texts[0], marks) == (later, {earlier: later})


@pytest.mark.parametrize(
    ("question", "earlier", "later"),
    [
        ("Where does Ana live?", "I live in Graz.", "My parents moved to Linz."),
        ("Where does Ana live?", "I live in Graz.", "Next year we move to Linz."),
        ("Where does Ana live?", "I live in Graz.", "We would love to live in Linz."),
        ("Where does Ana live?", "I live in Graz.", "I lived in Linz as a child."),
        ("Where does Ana live?", "I live in Graz.", "Tom says he lives in Linz now."),
        ("Where does Ana live?", "I live in Graz.", "We live in Lend, Graz."),
        ("Where does Ana live?", "I live in Graz.", "Should I live in Linz?"),
        ("Where does Ana work?", "I work at the mill.", "I also work at the kiosk."),
        ("Where does Ana work?", "I work at the mill.", "I work at night."),
        ("Where does Ana work?", "I work at the mill.", "I work with Ben now."),
        ("Where does Ana work?", "I work at the mill.", "From May I work at the garage."),
        ("Where does Ana work?", "I work at the mill.", "I joined Ben for lunch."),
        ("Where does Ana work?", "I work at the mill.", "In the novel I work at the Kremlin now."),
        ("Where does Ana live?", "I live in Graz.", "Her note: 'We live in Linz now, send it there.'"),
        ("What does Ana play?", "I play the oboe.", "I play the cello."),
        ("How much rent does Ana pay?", "My rent is 640.", "I pay 30 for the gym now."),
        ("How much rent does Ana pay?", "My rent is 640.", "The rent is due on Friday 4."),
        ("How much rent does Ana pay?", "My rent is 640.", "The rent went up by 20."),
        ("Who is Ana's dentist?", "My dentist is Dr Walsh.", "My old dentist is Dr Okafor."),
        ("Who is Ana's dentist?", "My dentist is Dr Walsh.", "My dentist is in Okafor Street."),
        ("Who is Ana's dentist?", "My dentist is Dr Walsh.", "My son's dentist is Dr Okafor."),
        ("Who is Ana's landlord?", "My landlord is Mr Pike.", "My landlord is Irish."),
        ("What is the wifi password?", "The wifi password is otter22.", "The wifi password at work is zebra9."),
    ],
)
def test_what_may_both_be_so_is_left_alone(tmp_path: Path, question: str, earlier: str, later: str) -> None:
    """Somebody else, a plan, a wish, the past, a report, one within the other, a question, another thing."""
    assert found(stored(tmp_path, f"Ana: {earlier}", f"Ana: {later}"), question)[1] == {}


def test_two_people_are_two(tmp_path: Path) -> None:
    """What Ben says moves nothing of Ana's."""
    store = stored(tmp_path, "Ana: I live in Graz.", "Ben: I moved to Linz.")
    assert found(store, "Where does Ana live?")[1] == found(store, "Where does Ben live?")[1] == {}


def test_a_value_that_is_back_is_not_replaced_by_what_was_between(tmp_path: Path) -> None:
    """Only what does not hold is marked, and a value that ended holds no more."""
    said = ("Ana: I live in Graz.", "Ana: I moved to Linz.", "Ana: I am back in Graz.")
    marks = found(stored(tmp_path, *said), "Where does Ana live?")[1]
    assert marks == {"I moved to Linz.": "I am back in Graz."}
    left = "I do not live in Graz any more."
    marks = found(stored(tmp_path, *said, f"Ana: {left}", name="left"), "Where does Ana live?")[1]
    assert set(marks) == {"I live in Graz.", "I moved to Linz.", "I am back in Graz."}
    assert left in marks.values()


def test_what_holds_is_found_beyond_the_hits(tmp_path: Path) -> None:
    """It takes the place of the first that is replaced; the number of hits stays what was asked for."""
    store = stored(tmp_path, *[f"Ana: I still live in Graz, number {each}." for each in range(6)], f"Ana: {YORK}")
    (hit,) = Holding(FlatBackbone(store), store).retrieve(Query("Where does Ana live?"), 1)
    assert (hit.unit.text, hit.holds, hit.moved_on) == (YORK, True, None)


def test_what_was_said_last_is_found_among_many(tmp_path: Path) -> None:
    """Also where more turns than are looked through at once have more of the words that are searched for."""
    said = [*["Back home in Graz now, living at home again, moved back."] * 230, "I moved to Linz."]
    begun = datetime(2026, 1, 1, 10)
    turns = [Turn("talk", 1, day, "Ana", text, begun + timedelta(days=day)) for day, text in enumerate(said)]
    store = Store(tmp_path / "talk", HashEmbedder(), announce=lambda _: None)
    store.add_turns(turns)
    hits = Holding(FlatBackbone(store), store).retrieve(Query("Where does Ana live?"), 5)
    assert (hits[0].unit.text, hits[0].holds) == (said[-1], True)
    assert {hit.moved_on.text for hit in hits[1:] if hit.moved_on} == {said[-1]}


def test_what_has_an_order_of_its_own_keeps_it(tmp_path: Path) -> None:
    """The whole scope is shown as it was said, with the marks."""
    store = stored(tmp_path, f"Ana: {LEEDS}", f"Ana: {YORK}")
    hits = Holding(WholeScope(store), store, moves=False).retrieve(Query("Where does Ana live?"), 20)
    assert [hit.unit.ordinal for hit in hits] == list(range(8))
    assert [hit.unit.text for hit in hits if hit.moved_on] == [LEEDS]


@pytest.mark.parametrize("text", ["Where " * 200 + "does Ana live?", "((((?", "", "Ana's", "Where does live?", "(Ana)"])
def test_a_question_may_be_anything(text: str) -> None:
    """It asks for nothing that is understood here."""
    assert asked_in(text) is None


def test_a_long_text_takes_no_more_than_its_length() -> None:
    """A pasted log is no statement."""
    asked = asked_in("Where does Ana live?")
    assert asked is not None
    assert states_in("I live in " * 20_000, asked) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Tom said: I'm done. I live in Hull now.",
        "> I live in Hull now.",
        "Imagine this. I live in Hull now.",
        "He reckons I live in Hull.",
    ],
)
def test_what_others_say_or_nobody_means_is_not_stated(text: str) -> None:
    """A quote goes on to the end of its line, and so does what is only imagined; the next line is the speaker's again."""
    asked = asked_in("Where does Ana live?")
    assert asked is not None
    assert states_in(text, asked) == ()
    (told,) = states_in(f"{text}\nWe live in York now.", asked)
    assert told.value == {"york"}

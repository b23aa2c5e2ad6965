"""The checks that need no model: types, anchors, support, and the dates under them."""

import re
from dataclasses import dataclass, field
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.logic import Constant
from goalmem_cli.logic.checks import Anchor, TypeVerdict, check_anchor, check_type, told_as_you
from goalmem_cli.logic.dates import Period, When, dates_in, parse_date, periods_in
from goalmem_cli.logic.normal import normalise, numbers
from goalmem_cli.logic.questions import asks_for_current_state, goal_asked
from goalmem_cli.logic.support import Support, support_of

SAID = datetime(2023, 5, 24, 18, 20)  # a Wednesday
PEOPLE = frozenset({"Alice", "Ben Okafor"})


@dataclass(frozen=True)
class Told:
    """A fact for the checks."""

    speaker: str
    text: str
    said: datetime | None = SAID
    before: tuple[tuple[str, str], ...] = field(default=())
    after: tuple[tuple[str, str], ...] = field(default=())
    to: str = ""
    forwarded_by: str = ""
    quoted_by: str = ""
    times: tuple[str, ...] = ()


CALLS = (
    *((f"{opener} Ana,", "") for opener in ("Thanks", "No", "Sure", "Right", "Yes")),
    *((f"{opener},", "Ben") for opener in ("Thanks", "No", "Hey", "Hmm", "Actually")),
    ("Hey Ana!", ""), ("Good morning Ana!", ""), ("Ana,", ""), ("I know, Ana.", ""), ("Ok. Ana,", ""), ("Oh, Ana,", ""), ("No. Well,", "Ben"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("fact", "hearer"),
    [
        (Told("Mina", "It is your solo.", to="Ben"), "Ben"),
        (Told("Mina", "It is your solo.", before=(("Ana", "Hm."), ("Ben", "I am away."))), "Ben"),
        (Told("Mina", "It is my solo.", before=(("Ben", "I am away."),)), ""),
        (Told("Mina", "You never know with cats.", before=(("Ben", "I am away."),)), ""),
        (Told("Mina", "Ana, it is your solo.", before=(("Ben", "I am away."),)), ""),
        (Told("Mina", "It is your solo then, Ana.", before=(("Ben", "I am away."),)), ""),
        (Told("Mina", "It is your solo.", before=(("Ben", "I am away."), ("Mina", "Oh."))), ""),
        *(
            (Told("Mina", f"{said} your solo is on Friday.", before=(("Ben", "I am away."),)), hearer)
            for said, hearer in CALLS
        ),
        (Told("Mina", "It is your solo.", before=(("Ben", "Look."),), forwarded_by="Ana"), ""),
        (Told("Mina", "Es ist dein Solo, sagt die Leiterin.", before=(("Ben", "Ich bin nicht da."),)), "Ben"),
    ],
)
def test_you_is_the_addressee_or_who_spoke_before(fact: Told, hearer: str) -> None:
    """Among more than two people, who spoke right before; a forward is to nobody who is there."""
    assert told_as_you(fact) == hearer


@pytest.mark.parametrize(
    ("value", "type_phrase", "verdict"),
    [
        ("7 May 2023", "date", TypeVerdict.OK),
        ("the week before 9 June 2023", "date", TypeVerdict.OK),
        ("last spring", "date", TypeVerdict.OK),
        ("Kyoto Latte", "date", TypeVerdict.VIOLATED),
        ("2 hours 11 minutes", "time", TypeVerdict.OK),
        ("thirty-one", "number of loaves", TypeVerdict.OK),
        ("several", "number", TypeVerdict.OK),
        ("Ben", "count", TypeVerdict.VIOLATED),
        ("4.50 euros", "price per head", TypeVerdict.OK),
        ("nothing", "price", TypeVerdict.OK),
        ("a walk", "price", TypeVerdict.VIOLATED),
        ("2022", "year", TypeVerdict.OK),
        ("Leeds", "year", TypeVerdict.VIOLATED),
        ("half", "percentage", TypeVerdict.OK),
        ("likely yes", "yes/no", TypeVerdict.OK),
        ("Leeds", "yes/no", TypeVerdict.VIOLATED),
        ("14 euros", "date", TypeVerdict.VIOLATED),
        ("the 14th", "date", TypeVerdict.OK),
        ("half past nine", "time", TypeVerdict.OK),
        ("350 g", "price", TypeVerdict.VIOLATED),
        ("350 euros", "price", TypeVerdict.OK),
        ("Kyoto Latte", "drink", TypeVerdict.UNDECIDED),
        ("ask at the desk", "phone number", TypeVerdict.UNDECIDED),
        ("Tuesday", "weekday", TypeVerdict.OK),
        ("an hour", "length of time", TypeVerdict.OK),
        ("nine hundred metres", "duration", TypeVerdict.OK),
        ("14 euros", "duration", TypeVerdict.VIOLATED),
    ],
)
def test_types(value: str, type_phrase: str, verdict: TypeVerdict) -> None:
    """A type is decided for dates, times, numbers, prices and yes/no, by the head of its phrase."""
    assert check_type(value, type_phrase).verdict is verdict


@pytest.mark.parametrize(
    ("constant", "fact", "verdict"),
    [
        ("Alice", Told("Alice", "I ordered a Kyoto Latte."), Anchor.ANCHORED),
        ("Momoco", Told("Alice", "We met at Momoco's again."), Anchor.ANCHORED),
        ("Ben", Told("Ben Okafor", "I ordered cocoa."), Anchor.ANCHORED),
        ("Momoco", Told("Alice", "I ordered cocoa.", before=(("Ben Okafor", "How was Momoco?"),)), Anchor.ANCHORED),
        ("Alice", Told("Ben Okafor", "I ordered cocoa."), Anchor.ANOTHERS),
        ("Alice", Told("Ben Okafor", "I saw you order cocoa."), Anchor.ANCHORED),
        ("Alice", Told("Ben Okafor", "She ordered cocoa while I waited."), Anchor.ANCHORED),
        ("Momoco", Told("Ben Okafor", "I ordered cocoa."), Anchor.BRIDGED),
        ("Carla", Told("Ben Okafor", "I ordered cocoa."), Anchor.BRIDGED),
    ],
)
def test_anchors(constant: str, fact: Told, verdict: Anchor) -> None:
    """A constant is anchored by name, speaker, address or neighbour; another speaker's own story is refused."""
    assert check_anchor(Constant(constant), [fact], PEOPLE).verdict is verdict


def test_the_sentence_with_the_value_decides_whose_it_is() -> None:
    """A greeting to the other does not make one's own order theirs."""
    fact = Told("Ben Okafor", "How are you? I ordered a cocoa.")

    assert check_anchor(Constant("Alice"), [fact], PEOPLE).verdict is Anchor.ANCHORED
    assert check_anchor(Constant("Alice"), [fact], PEOPLE, bound=["cocoa"]).verdict is Anchor.ANOTHERS


def test_the_teller_may_stand_in_the_subgoal_too() -> None:
    """What Ben tells of himself may be about Ben and Alice when both stand in the subgoal."""
    fact = Told("Ben Okafor", "I need a spare bed.")

    assert check_anchor(Constant("Alice"), [fact], PEOPLE, beside=["Ben"]).verdict is Anchor.ANCHORED


@pytest.mark.parametrize(
    ("value", "texts", "known", "support"),
    [
        ("Kyoto Latte", ["I ordered a Kyoto Latte"], [], Support.STATED),
        ("Ben", ["I ordered a Kyoto Latte"], [], Support.INFERRED),
        ("Teller", ["I sold it"], [], Support.STATED),
        ("23 May 2023", ["It was yesterday"], [], Support.DERIVED),
        ("19 May 2023", ["It was last Friday"], [], Support.DERIVED),
        ("May 2023", ["It was last Friday"], [], Support.DERIVED),
        ("10 May 2023", ["Two weeks ago"], [], Support.DERIVED),
        ("June 2023", ["We go next month"], [], Support.DERIVED),
        ("28 May 2023", ["It's on the 28th"], [], Support.DERIVED),
        ("30 April 2023", ["On the last day of April"], [], Support.DERIVED),
        ("24 December 2022", ["We met on Christmas Eve"], [], Support.DERIVED),
        ("18 May 2023", ["It was last Friday"], [], Support.INFERRED),
        ("7 weeks", ["They moved it from the 28th of May to the 16th of July"], [], Support.DERIVED),
        ("7 euros", ["They moved it from the 28th of May to the 16th of July"], [], Support.INFERRED),
        ("7", ["They moved it"], ["28 May 2022", "16 July 2022"], Support.DERIVED),
        ("55", ["We sold 31 loaves and 24 buns"], [], Support.DERIVED),
        ("56", ["We sold 31 loaves and 24 buns"], [], Support.INFERRED),
        ("Connecticut", ["A shelter in Stamford"], [], Support.INFERRED),
        ("his sister", ["His sister painted it, and he helped"], [], Support.STATED),
        ("He", ["His sister painted it, and he helped"], [], Support.INFERRED),
    ],
)
def test_support(value: str, texts: list[str], known: list[str], support: Support) -> None:
    """A binding is stated in its facts, derived from their dates and numbers, or inferred."""
    assert support_of(value, [Told("Teller", text) for text in texts], known) is support


def test_a_relative_date_without_a_time_of_speaking_is_inferred() -> None:
    """Where the transcript gives no time, nothing is derived from "yesterday"."""
    assert support_of("23 May 2023", [Told("Alice", "It was yesterday", said=None)]) is Support.INFERRED


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("on Friday, the 28th of May 2021", When(2021, 5, 28)),
        ("28 May", When(None, 5, 28)),
        ("May 2023", When(2023, 5, None)),
        ("in 2022", When(2022, None, None)),
        ("31 February 2022", None),
        ("the week before 9 June 2023", None),
        ("a Kyoto Latte", None),
    ],
)
def test_dates_are_read_whole(text: str, when: When | None) -> None:
    """A text that is a date is read with the parts it gives; a date inside a longer phrase is not the phrase."""
    assert parse_date(text) == when


def test_periods_have_every_reading() -> None:
    """A weekday may be the last or the next; a written date is itself."""
    periods = periods_in("On Monday, not on 3 June 2024", SAID)

    assert Period(date(2023, 5, 22), date(2023, 5, 22)) in periods
    assert Period(date(2023, 5, 29), date(2023, 5, 29)) in periods
    assert Period(date(2024, 6, 3), date(2024, 6, 3)) in periods


@given(st.text(max_size=60), st.datetimes())
def test_no_text_breaks_the_checks(text: str, said: datetime) -> None:
    """Any text, said at any time, has normal forms, numbers, dates, periods and a support."""
    normalise(text), numbers(text), dates_in(text), check_type(text, "date")
    for period in periods_in(text, said):
        assert period.first <= period.last
    support_of(text, [Told("Alice", text, said)], [text])


@given(st.dates())
def test_written_dates_are_read_back(day: date) -> None:
    """Every day from 1800 to 2199 that is written out is read as itself."""
    if 1800 <= day.year <= 2199:
        when = When(day.year, day.month, day.day)

        assert parse_date(f"{day.day} {day:%B} {day.year}") == when
        assert parse_date(f"{day:%B} {day.day}, {day.year}") == when
        assert parse_date(f"{day.year}-{day.month:02d}-{day.day:02d}") == when


@pytest.mark.parametrize(
    ("question", "expected"),
    [("Where does Ben live now?", True), ("What is Ben's latest job?", True), ("Where did Ben live in 2019?", False)],
)
def test_current_state(question: str, expected: bool) -> None:
    """Words such as now, still and latest ask for the current state."""
    assert asks_for_current_state(question) is expected


@pytest.mark.parametrize(
    "name", ["Ana de la Cruz", "Jan van der Berg", "Käthe von Stein", "Omar al-Sayed", "Anna d'Angelo"]
)
def test_a_name_with_particles_is_one(name: str) -> None:
    """In a question it is one constant; a fact that has only its particles does not name it."""
    asked = goal_asked(f"Where does {name} live?")
    assert [part.value for part in asked.constants] == [name]
    particles = " ".join(word for word in re.split(r"[ '-]", name) if word.islower())
    people = frozenset({name, "Ben"})
    beside = Told("Ben", f"I live in {particles} {particles}.")
    assert check_anchor(Constant(name), [beside], people).verdict is Anchor.ANOTHERS
    named = Told("Ben", f"I saw {name.rpartition(' ')[2]} there.")
    assert check_anchor(Constant(name), [named], people).verdict is Anchor.ANCHORED


def test_a_small_english_word_joins_no_names() -> None:
    """What stands between two names is a particle only where no English sentence has it."""
    asked = goal_asked("When did Ana do Pilates in Bremen?")
    assert [part.value for part in asked.constants] == ["Ana", "Pilates", "Bremen"]

"""What people mean by words about time, read against the time at which they said them."""

from datetime import date, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.logic.dates import Annotation, Period, annotate, periods_in, say, spoken_in
from tests.conftest import examples

SAID = datetime(2023, 5, 24, 18, 20)  # a Wednesday

MEANT = [
    # days by name
    ("I saw her yesterday.", ["yesterday = 23 May 2023"]),
    ("What are you doing TODAY?", ["TODAY = 24 May 2023"]),
    ("See you tomorrow night!", ["tomorrow night = 25 May 2023"]),
    ("This morning I ran, tonight I rest.", ["This morning = 24 May 2023", "tonight = 24 May 2023"]),
    ("We won the day before yesterday", ["the day before yesterday = 22 May 2023"]),
    ("I'm leaving the day after tomorrow.", ["the day after tomorrow = 26 May 2023"]),
    ("Here's one from last night", ["last night = 23 May 2023"]),
    # counted
    ("It closed three years ago.", ["three years ago = 2020"]),
    ("I got him a year ago.", ["a year ago = May 2022"]),
    ("She called two days ago", ["two days ago = 22 May 2023"]),
    ("We moved about six weeks ago.", ["about six weeks ago = 10-16 April 2023"]),
    ("A couple of months back it broke.", ["A couple of months back = March 2023"]),
    ("It happened a fortnight ago.", ["a fortnight ago = 8-14 May 2023"]),
    ("He wrote a few days ago", ["a few days ago = 19-22 May 2023"]),
    ("I lost it two or three days ago", ["two or three days ago = 21-22 May 2023"]),
    ("That was twenty-five years ago!", ["twenty-five years ago = 1998"]),
    ("We met a year and a half ago.", ["a year and a half ago = November 2021"]),
    ("We camped two weekends ago.", ["two weekends ago = 13-14 May 2023"]),
    ("I saw it two Fridays ago.", ["two Fridays ago = 12 May 2023"]),
    ("Two summers ago we sailed.", ["Two summers ago = 1 June - 31 August 2021"]),
    ("We fly in two weeks.", ["in two weeks = 5-11 June 2023"]),
    ("I'll be done in a month.", ["in a month = June 2023"]),
    ("Ten days from now I'm free.", ["Ten days from now = 3 June 2023"]),
    # last, this, next
    ("Last Friday I took the test.", ["Last Friday = 19 May 2023"]),
    ("I met him last  Tues, by chance", ["last  Tues = 23 May 2023"]),
    ("It's next Tuesday", ["next Tuesday = 30 May 2023"]),
    ("This Sunday we're painting.", ["This Sunday = 28 May 2023"]),
    ("I got the job this Monday!", ["this Monday = 22 May 2023"]),
    ("The fair was last week.", ["last week = 15-21 May 2023"]),
    ("We'd love that next weekend.", ["next weekend = 3-4 June 2023"]),
    ("this past weekend was mad", ["this past weekend = 20-21 May 2023"]),
    ("Next month I start.", ["Next month = June 2023"]),
    ("Last year's parade was better.", ["Last year = 2022"]),
    ("Last August we got married.", ["Last August = August 2022"]),
    ("Last spring it rained a lot.", ["Last spring = 1 March - 31 May 2022"]),
    ("I'm going home next summer.", ["next summer = 1 June - 31 August 2023"]),
    ("It was the week before.", ["the week before = 15-21 May 2023"]),
    ("We were in Bath the weekend before last.", ["the weekend before last = 13-14 May 2023"]),
    ("Earlier this week I slipped.", ["Earlier this week = 22-24 May 2023"]),
    ("It opens later this month", ["later this month = 24-31 May 2023"]),
    ("I was ill over the weekend.", ["over the weekend = 20-21 May 2023"]),
    ("We'll see you at the weekend!", ["at the weekend = 27-28 May 2023"]),
    ("I got my licence this time last year.", ["this time last year = May 2022"]),
    ("She left on Friday last week.", ["on Friday last week = 19 May 2023"]),
    # weekdays, days of the month, dates without a year: by the tense, without one the nearest
    ("Gaswork hall, 13 July, two seats.", ["13 July = 13 July 2023"]),
    ("The rent, 3 May, in cash.", ["3 May = 3 May 2023"]),
    ("My lease: till the end of June.", ["till the end of June = until 30 June 2023"]),
    ("On Friday I got great news", ["On Friday = 19 May 2023"]),
    ("On Friday we'll get the keys", ["On Friday = 26 May 2023"]),
    ("I met them on the 14th after my trip", ["on the 14th = 14 May 2023"]),
    ("We're meeting on the 14th.", ["on the 14th = 14 June 2023"]),
    ("I was born on 5 July", ["5 July = 5 July 2022"]),
    ("I will return on July 20, I hope", ["July 20 = 20 July 2023"]),
    ("Friday, 2 June, is my last day", ["Friday, 2 June = 2 June 2023"]),
    ("They opened in March.", ["in March = March 2023"]),
    ("They will open in March.", ["in March = March 2024"]),
    ("We had our garden done in the spring.", ["in the spring = 1 March - 31 May 2023"]),
    ("We got engaged on New Year’s Eve!", ["New Year’s Eve = 31 December 2022"]),
    ("We're flying home for Christmas.", ["Christmas = 25 December 2023"]),
    ("Thanksgiving was quiet", ["Thanksgiving = 24 November 2022"]),
    # by other words that look ahead
    ("I've got work on Friday.", ["on Friday = 26 May 2023"]),
    ("I have to be there on Monday", ["on Monday = 29 May 2023"]),
    ("Our lease ends on the 30th.", ["on the 30th = 30 May 2023"]),
    ("My last day is Friday", ["Friday = 26 May 2023"]),
    ("May I come in on Monday?", ["on Monday = 29 May 2023"]),
    ("I booked a table for Saturday", ["Saturday = 27 May 2023"]),
    ("I need it no later than Friday.", ["no later than Friday = until 26 May 2023"]),
    ("I got it on Friday", ["on Friday = 19 May 2023"]),
    ("Sounds like a fun Sunday morning", ["Sunday morning = 21 May 2023"]),
    ("It was Friday the 12th", ["Friday the 12th = 12 May 2023"]),
    # parts and places
    ("It ended at the end of last month.", ["the end of last month = 25-30 April 2023"]),
    ("We'll move early next year.", ["early next year = 1 January - 1 May 2024"]),
    ("I plan to finish by mid-June", ["by mid-June = until 20 June 2023"]),
    ("It's due by the end of the year.", ["by the end of the year = until 31 December 2023"]),
    ("We'll start on the first Monday of next month.", ["the first Monday of next month = 5 June 2023"]),
    ("It was the last Sunday in April", ["the last Sunday in April = 30 April 2023"]),
    # counted from something else
    ("I flew two days after Christmas, it was empty.", ["two days after Christmas = 27 December 2022"]),
    ("The Friday before 22 October 2023", ["The Friday before 22 October 2023 = 20 October 2023"]),
    ("the week of 23 August 2023", ["the week of 23 August 2023 = 21-27 August 2023"]),
    ("a week from Friday", ["a week from Friday = 2 June 2023"]),
    ("He died two years ago in March.", ["two years ago in March = March 2021"]),
    ("We bought it in March two years ago", ["in March two years ago = March 2021"]),
    # direction
    ("I've been ill since last Friday.", ["since last Friday = since 19 May 2023"]),
    ("I had never skied before last week", ["before last week = before 15 May 2023"]),
    ("It was fine until yesterday.", ["until yesterday = until 23 May 2023"]),
    ("After last Friday nothing was the same", ["After last Friday = after 19 May 2023"]),
    ("Starting tomorrow, I will go to the gym", ["Starting tomorrow = since 25 May 2023"]),
    ("I'm starting next month.", ["next month = June 2023"]),
    ("I've worked on it for the past two weeks.", ["for the past two weeks = since 10 May 2023"]),
    ("I've been playing for about four months now", ["for about four months now = since January 2023"]),
    ("I worked from Monday to Friday.", ["from Monday to Friday = 15-19 May 2023"]),
    ("I'll be away from 5 July to 9 July", ["from 5 July to 9 July = 5-9 July 2023"]),
    ("He came by yesterday.", ["yesterday = 23 May 2023"]),
]

NOT_MEANT = [
    "They put the cabin up: 98 a night now.",
    "It is 22 euros a day now.",
    "I have been there for two weeks",
    "my 5 year old",
    "The film is two hours long.",
    "He is five years old.",
    "May I ask",
    "You may come in.",
    "The sun is out.",
    "March on!",
    "They march in step.",
    "He will spring up.",
    "second to none",
    "Don't fall down.",
    "She sat on the mat and wed the cat.",
    "We meet every Friday.",
    "On Sundays we rest.",
    "I met her on 5 July 2021, and in 2019.",
    "Since May 2022 I live here",
    "the other day",
    "some time ago",
    "on the 5th floor",
    "the 3rd time",
    "on the second",
    "I finished it in two weeks.",
    "I haven't seen him in a month",
    "at the end of the day",
    "June said hello to April.",
    "twice a week",
    "day by day",
    "I usually swim in the summer.",
    "my last year at school",
    "long ago",
    "Now and then it snows.",
    "What a day!",
    "It took the whole week.",
    "Good Fri-ends",
    "We need a weekend away.",
    "He saw the spring of the clock.",
    "I've known them for 4 years, since I moved",
    "a three-day trip",
    "Is this the last one?",
    "We go out on Friday nights.",
    "Monday mornings are the worst",
    "I work Monday to Friday.",
    "The shop is open 9 to 5, from Monday to Friday.",
    "Open Mon-Fri",
    "It always rains on Sunday",
    "We used to spend Christmas at my parents'",
    "We always went skiing in winter",
    "We watched Friday the 13th.",
    "Did you watch Monday Night Football?",
    "I go to Sunday school with the kids.",
    "I leave in a week and a half",
    "I'll know in the next week or two",
    "We had a weekend getaway.",
    "",
]


def shown(text: str, said: datetime | None = SAID) -> list[str]:
    """Return the annotations, each as its words and what is said of them."""
    return [f"{found.text} = {say(found).rpartition(' = ')[2]}" for found in annotate(text, said)]


@pytest.mark.parametrize(("text", "expected"), MEANT)
def test_what_is_meant(text: str, expected: list[str]) -> None:
    """Each expression is found in its own characters and gets its most likely days."""
    assert shown(text) == expected


@pytest.mark.parametrize("text", NOT_MEANT)
def test_what_is_not_meant(text: str) -> None:
    """Durations, ages, habits, whole dates, vague times and words that only look like times get no annotation."""
    assert shown(text) == []


def test_what_is_shown() -> None:
    """A model sees the words in quotes, on one line, and days, months and years as short as they are exact."""
    assert [say(found) for found in annotate("I went last\nFriday", SAID)] == ['"last Friday" = 19 May 2023']
    ways = {
        (date(2022, 12, 29), date(2023, 1, 4)): "29 December 2022 - 4 January 2023",
        (date(2023, 3, 1), date(2023, 5, 31)): "1 March - 31 May 2023",
        (date(2023, 5, 1), date(2023, 5, 31)): "May 2023",
        (date(2022, 1, 1), date(2022, 12, 31)): "2022",
        (date(2019, 1, 1), date(2022, 12, 31)): "2019-2022",
        (date(2023, 5, 6), date(2023, 5, 7)): "6-7 May 2023",
        (date(2023, 5, 19), None): "since 19 May 2023",
        (None, date(2023, 5, 19)): "until 19 May 2023",
    }
    assert [say(Annotation("x", first, last)) for (first, last) in ways] == [f'"x" = {way}' for way in ways.values()]


def test_the_ends_of_the_calendar_can_be_shown() -> None:
    """An annotation that a store made elsewhere holds never stops a fact from being shown."""
    assert say(Annotation("after it", date.min, None)) == '"after it" = since 1 January 1'
    assert say(Annotation("before it", None, date.max)) == '"before it" = until 31 December 9999'
    assert say(Annotation("it", None, None)) == '"it" = any time'


def test_open_ends_keep_their_direction() -> None:
    """Since and after have no last day, before and until no first; the day itself belongs to since and until only."""
    ends = {
        "since last Friday": (date(2023, 5, 19), None),
        "after last Friday": (date(2023, 5, 20), None),
        "before last Friday": (None, date(2023, 5, 18)),
        "until last Friday": (None, date(2023, 5, 19)),
    }
    for text, (first, last) in ends.items():
        assert annotate(text, SAID) == (Annotation(text, first, last),)


def test_without_a_time_of_speaking() -> None:
    """Only what is counted from a date with its year has a meaning when nobody knows when it was said."""
    assert shown("yesterday, on Friday, in March", None) == []
    assert shown("the week before 9 June 2023", None) == ["the week before 9 June 2023 = 29 May - 4 June 2023"]
    assert shown("yesterday", datetime(1000, 5, 5)) == []
    assert shown("yesterday", datetime(9000, 5, 5)) == []
    assert shown("9000 years ago", SAID) == []


def test_the_offset_of_the_speaker_does_not_move_the_day() -> None:
    """A day is the day on the speaker's own clock."""
    late = datetime(2023, 5, 24, 23, 50, tzinfo=timezone(timedelta(hours=-9)))
    assert shown("today", late) == ["today = 24 May 2023"]
    assert shown("two hours ago", late.replace(hour=1)) == ["two hours ago = 23 May 2023"]


def test_every_best_reading_is_one_that_the_checks_allow() -> None:
    """The checks read by the same grammar: they never refuse a day on which what an annotation shows begins or ends."""
    for text, _ in MEANT:
        allowed = periods_in(text, SAID)
        for found in spoken_in(text, SAID):
            assert found.readings[0].first in {period.first for period in allowed}
            assert found.readings[0].last in {period.last for period in allowed}


def test_a_word_in_doubt_is_for_the_checks_only() -> None:
    """Checks ask what can be meant, so that "sun" may be Sunday; an annotation would mislead."""
    assert Period(date(2023, 5, 28), date(2023, 5, 28)) in periods_in("sun is fine for me", SAID)
    assert shown("sun is fine for me") == []
    assert shown("Let's say on Sun") == ["on Sun = 28 May 2023"]


def test_a_day_to_count_from_is_not_meant_itself() -> None:
    """The day before yesterday is not yesterday, for the checks neither."""
    assert Period(date(2023, 5, 23), date(2023, 5, 23)) not in periods_in("the day before yesterday", SAID)
    assert Period(date(2023, 5, 22), date(2023, 5, 22)) in periods_in("the day before yesterday", SAID)


def test_a_word_said_over_and_over_costs_no_more_each_time() -> None:
    """A text is read once however often a word comes that may begin an expression: 200,000 of them are no trouble."""
    text = "about " * 200_000 + "two days ago"
    (found,) = annotate(text, SAID)
    assert found.text == "about about about two days ago"


WORDS = st.sampled_from(
    "last next this the in on by before after since until from to of a two 3 few 14th first friday sun may march 5 2023 "
    "week weekend month year day ago now spring christmas end early mid tomorrow yesterday and , . - ’s \n İ ſ 9999".split(
        " "
    )
)


@settings(max_examples=examples(400))
@given(st.one_of(st.text(max_size=80), st.lists(WORDS, max_size=12).map(" ".join)), st.none() | st.datetimes())
def test_no_text_breaks_it(text: str, said: datetime | None) -> None:
    """Any text, said at any time, gives annotations in the text's own characters, in order and within the calendar."""
    at = 0
    for found in annotate(text, said):
        at = text.index(found.text, at)
        assert found.text.strip()
        assert found.first is None or found.last is None or found.first <= found.last
        assert (found.first, found.last) != (None, None)
        assert say(found).startswith('"')


@given(st.datetimes(datetime(1001, 1, 1), datetime(8999, 12, 31), timezones=st.one_of(st.none(), st.timezones())))
def test_any_time_of_speaking_will_do(said: datetime) -> None:
    """In every year, with an offset or without, yesterday is the day before, and last and next do not meet."""
    (yesterday,) = annotate("yesterday", said)
    assert yesterday.last == said.date() - timedelta(days=1)
    for name in ("Friday", "week", "month", "March", "spring", "Christmas"):
        before, after = annotate(f"last {name}, next {name}", said)
        assert before.last is not None
        assert after.first is not None
        assert before.last < said.date() < after.first

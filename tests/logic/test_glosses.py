"""What is easily taken for another time than was meant: holidays ahead, habits, spans, ages, and days beside a trip."""

from datetime import date, datetime

import pytest

from goalmem_cli.logic.annotations import TIMES, annotations_of, time_attributes
from goalmem_cli.logic.dates import annotate, say

MEANT = [
    # what comes once a year, in a sentence whose verb tells of the deciding, or of the beginning
    ("2024-10-09 18:00", "She comes home at Christmas.", ["Christmas = 25 December 2024"]),
    ("2024-10-09 18:00", "We booked the cabin for Christmas.", ["Christmas = 25 December 2024"]),
    ("2024-10-09 18:00", "The road was closed until Christmas, they said.", ["until Christmas = until 25 December 2024"]),
    ("2024-10-09 18:00", "It stays shut until Christmas.", ["until Christmas = until 25 December 2024"]),
    ("2024-10-09 18:00", "He signed from the first of December.", ["first of December = 1 December 2024"]),
    ("2024-10-09 18:00", "They offered me the flat for the first of December.", ["first of December = 1 December 2024"]),
    ("2025-07-03 09:00", "I rented the studio until the 30th of September.",
     ["until the 30th of September = until 30 September 2025"]),
    ("2025-07-03 09:00", "My permit is valid until the 30th of September.",
     ["until the 30th of September = until 30 September 2025"]),
    ("2025-03-11 12:00", "The fair is the 5th and 6th of June.", ["the 5th and 6th of June = 5-6 June 2025"]),
    ("2025-03-11 12:00", "We reserved the 5th and 6th of June.", ["the 5th and 6th of June = 5-6 June 2025"]),
    ("2025-03-11 12:00", "June 5 and 6 the hall was booked for us.", ["June 5 and 6 = 5-6 June 2025"]),
    ("2024-09-14 16:50", "I asked them for January.", ["January = January 2025"]),
    ("2024-09-14 16:50", "They moved it from the 28th of September to the 16th of November.",
     ["28th of September = 28 September 2024", "16th of November = 16 November 2024"]),
    ("2023-06-11 18:45", "I signed up for the exam on 8 July.", ["8 July = 8 July 2023"]),
    ("2023-06-11 18:45", "We chose the 2nd of September.", ["2nd of September = 2 September 2023"]),
    ("2025-01-14 14:05", "They want notice by the last day of March, otherwise we're stuck with it.",
     ["by the last day of March = until 31 March 2025"]),
    ("2024-09-26 17:40", "By March she was beating me at chess.", ["By March = until 31 March 2024"]),
    ("2024-09-26 17:40", "My grandson was born on 5 July.", ["5 July = 5 July 2024"]),
    ("2024-02-10 10:00", "We ate far too much at Christmas.", ["Christmas = 25 December 2023"]),
    ("2024-02-10 10:00", "Christmas was quiet this time.", ["Christmas = 25 December 2023"]),
    ("2024-02-10 10:00", "We drove up during the Easter holidays", []),
    ("2023-08-21 13:00", "In autumn the two courses are fixed.", ["In autumn = 1 September - 30 November 2023"]),
    # seasons, told of before and after
    ("2023-10-28 20:00", "In the spring I planted the first beds.", ["In the spring = 1 March - 31 May 2023"]),
    ("2023-10-28 20:00", "I lost my job in the spring.", ["in the spring = 1 March - 31 May 2023"]),
    ("2023-10-28 20:00", "In the spring we'll build a shed.", ["In the spring = 1 March - 31 May 2024"]),
    ("2023-06-20 20:00", "We're going to Norway this summer.", ["this summer = 1 June - 31 August 2023"]),
    ("2023-10-02 20:00", "I read forty books this summer.", ["this summer = 1 June - 31 August 2023"]),
    ("2023-04-02 20:00", "This summer is going to be wild.", ["This summer = 1 June - 31 August 2023"]),
    ("2023-10-02 20:00", "Last summer's trip was better.", ["Last summer = 1 June - 31 August 2023"]),
    ("2023-05-02 20:00", "Remember last summer?", ["last summer = 1 June - 31 August 2022"]),
    ("2023-10-02 20:00", "Last year I could hardly run.", ["Last year = 2022"]),
    ("2023-10-02 20:00", "That's from last year.", ["last year = 2022"]),
    ("2023-10-02 20:00", "Nina's last year was hard.", ["last year = 2022"]),
    # weekdays and the clock
    ("2023-05-19 19:30", "Come over on Friday at 5.", ["on Friday = 26 May 2023"]),
    ("2023-05-19 19:30", "Friday at 5?", ["Friday = 26 May 2023"]),
    ("2023-05-19 12:00", "Friday at 5?", ["Friday = 19 May 2023"]),
    ("2023-05-19 19:30", "See you Friday at 9 pm!", ["Friday = 19 May 2023"]),
    ("2023-05-19 08:00", "The bus leaves Friday at noon.", ["Friday = 19 May 2023"]),
    ("2023-05-19 13:00", "The bus leaves Friday at noon.", ["Friday = 26 May 2023"]),
    ("2023-05-18 19:30", "Friday at 5 works.", ["Friday = 19 May 2023"]),
    ("2024-03-29 19:20", "she wants to look at it, tuesday at 10", ["tuesday = 2 April 2024"]),
    ("2024-09-26 17:40", "What we dug up on Saturday comes to forty kilos.", ["on Saturday = 21 September 2024"]),
    # weekends
    ("2023-05-20 08:15", "I had a great weekend with the kids.", ["had a great weekend = 13-14 May 2023"]),
    ("2023-05-20 08:15", "We had a lovely weekend hiking in the hills.", ["had a lovely weekend = 13-14 May 2023"]),
    ("2023-05-21 20:15", "I had a great weekend!", ["had a great weekend = 20-21 May 2023"]),
    ("2023-05-22 20:15", "I had a great weekend!", ["had a great weekend = 20-21 May 2023"]),
    ("2023-05-24 20:15", "It rained two weekends in a row.", ["two weekends in a row = 13-21 May 2023"]),
    ("2023-05-24 20:15", "I will be away three weekends in a row.", ["three weekends in a row = 27 May - 11 June 2023"]),
    ("2023-05-24 20:15", "I ran three days in a row.", ["three days in a row = 21-24 May 2023"]),
    ("2023-05-24 20:15", "I lost two Fridays running.", ["two Fridays running = 12-24 May 2023"]),
    ("2023-05-24 20:15", "I'd have had seven nights in a row.", []),
    # spans: since some time in, never since a day that nobody named
    ("2023-05-24 20:15", "I've lived here for two years now.", ["for two years now = since May 2021"]),
    ("2023-05-24 20:15", "Ten years now, and still no raise.", ["Ten years now = since 2013"]),
    ("2023-05-24 20:15", "I've painted for a few years now.", []),
    ("2023-05-24 20:15", "It's been raining for the past few days.", ["for the past few days = since 19-22 May 2023"]),
    ("2023-05-24 20:15", "I've been at it for three weeks now.", ["for three weeks now = since 3 May 2023"]),
    ("2023-05-24 20:15", "I have not smoked since March.", ["since March = since March 2023"]),
    ("2023-05-24 20:15", "I've known it since the weekend.", ["since the weekend = since 20-21 May 2023"]),
    ("2023-05-24 20:15", "I've had it since last year.", ["since last year = since 2022"]),
    ("2023-05-24 20:15", "A few years ago I sold the boat.", []),
    ("2023-05-24 20:15", "We met several years ago.", []),
    ("2023-05-24 20:15", "It was the first frost in sixty years.", ["the first frost in sixty years = since 1963"]),
    ("2023-05-24 20:15", "She is the first in sixty years.", ["the first in sixty years = since 1963"]),
    ("2023-05-24 20:15", "It's the worst drought in twenty years!", ["the worst drought in twenty years = since 2003"]),
    ("2023-05-24 20:15", "We'll open the box in sixty years.", ["in sixty years = 2083"]),
    ("2023-05-24 20:15", "I wrote it in two weeks.", []),
    ("2023-10-01 20:15", "We took a cabin, four days from Friday the 13th.",
     ["four days from Friday the 13th = 13-16 October 2023"]),
    ("2023-10-01 20:15", "three nights from the 12th of October", ["three nights from the 12th of October = 12-15 October 2023"]),
    ("2023-10-01 20:15", "Four days from now I fly.", ["Four days from now = 5 October 2023"]),
    # a day beside a trip
    ("2023-07-10 20:15", "We camped from 4 to 6 August. Sunday it will rain, they say.",
     ["4 to 6 August = 4-6 August 2023", "Sunday = 6 August 2023"]),
    ("2023-07-10 20:15", "I was in Ghent, 30 June to 2 July. On Sunday we rowed.",
     ["30 June to 2 July = 30 June - 2 July 2023", "On Sunday = 2 July 2023"]),
    ("2023-07-10 20:15", "On Sunday we rowed.", ["On Sunday = 9 July 2023"]),
    # habits have no day
    ("2023-05-24 20:15", "weds is dance now", []),
    ("2023-05-24 20:15", "Wednesdays I swim.", []),
    ("2023-05-24 20:15", "Wednesdays are for dancing.", []),
    ("2023-05-24 20:15", "Friday is pizza night.", []),
    ("2023-05-24 20:15", "Friday night is our game night.", []),
    ("2023-05-24 20:15", "Thursday means choir practice now.", []),
    ("2023-05-24 20:15", "We meet weekly, on Tuesday.", []),
    ("2023-05-24 20:15", "These days I train on Monday and Friday.", []),
    ("2023-05-24 20:15", "Every Christmas we skate.", []),
    ("2023-05-24 20:15", "I always ski in winter.", []),
    ("2023-05-24 20:15", "Friday is the last day of term.", ["Friday = 26 May 2023"]),
    ("2023-05-24 20:15", "Friday is my birthday!", ["Friday = 26 May 2023"]),
    ("2023-04-03 21:20", "We meet by video every second Sunday.", []),
    # ages have no year
    ("2023-05-24 20:15", "When I was 10 we moved in the summer.", []),
    ("2023-05-24 20:15", "When I was ten, we left in March.", []),
    ("2023-05-24 20:15", "As a kid I broke my arm at Christmas.", []),
    ("2023-05-24 20:15", "Growing up, we sailed in August.", []),
    ("2023-05-24 20:15", "I learnt it at the age of 12.", []),
    ("2023-05-24 20:15", "He's 10 years old and in sixth grade.", []),
    ("2023-05-24 20:15", "When I was in town last week, it rained.", ["last week = 15-21 May 2023"]),
    # nouns that look like verbs
    ("2023-05-24 20:15", "A bit late: the party is on Saturday.", ["on Saturday = 27 May 2023"]),
    ("2023-05-24 20:15", "I'm fed up, Friday is my last day.", ["Friday = 26 May 2023"]),
]  # fmt: skip


@pytest.mark.parametrize(("said", "text", "expected"), MEANT)
def test_what_is_easily_mistaken(said: str, text: str, expected: list[str]) -> None:
    """Each gloss is the time that its speaker meant, as sharp as they said it; what has no day gets none."""
    shown = [
        f"{found.text} = {say(found).rpartition(' = ')[2]}" for found in annotate(text, datetime.fromisoformat(said))
    ]
    assert shown == expected


def test_what_has_no_end_keeps_when_it_may_have_begun() -> None:
    """A stored annotation gives back the last day on which it can have begun; on a known day, there is none."""
    said = datetime(2023, 5, 24, 20, 15)
    attributes = time_attributes("Since March I run, and since yesterday I swim.", said)
    assert attributes[TIMES] == [
        ["Since March", "2023-03-01", None, "2023-03-31"],
        ["since yesterday", "2023-05-23", None],
    ]
    march, yesterday = annotations_of(attributes)
    assert (march.begun_by, yesterday.begun_by) == (date(2023, 3, 31), None)
    assert [say(march), say(yesterday)] == ['"Since March" = since March 2023', '"since yesterday" = since 23 May 2023']

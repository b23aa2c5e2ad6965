"""Which words about time of a turn date which of the things it tells: a table of turns written by hand."""

from datetime import datetime

import pytest

from goalmem_cli.backbones.remem.event_times import Verdict, disagreements, judge_point
from goalmem_cli.records import Turn
from tests.backbones.remem_samples import SAID, gist

JANUARY = datetime(2023, 1, 29, 14)

# Said on Monday, 8 May 2023. What is told, and when it was as the turn has it: blank where nobody says.
TURNS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    # one of two is dated: two sentences
    ("I was in Paris yesterday. I have been on the hunt for a studio all this time.",
     (("Jon was in Paris", "7 May 2023"), ("Jon is on the hunt for a studio", ""))),
    ("I sing in a choir. We won a prize last Saturday!",
     (("Priya sings in a choir", ""), ("The choir won a prize", "6 May 2023"))),
    ("My sister lives in Rome. She visits me next week.",
     (("Tom's sister lives in Rome", ""), ("Tom's sister visits Tom", "15-21 May 2023"))),
    ("The boat is called Heron; I painted it two days ago.",
     (("Tom's boat is called Heron", ""), ("Tom painted his boat", "6 May 2023"))),
    ("I adopted a cat on Friday! Her favourite toy is a cork.",
     (("Priya adopted a cat", "5 May 2023"), ("The favourite toy of Priya's cat is a cork", ""))),
    ("We signed the lease today - the kitchen has a gas stove.",
     (("Tom signed the lease", "8 May 2023"), ("The kitchen has a gas stove", ""))),
    ("Dr. Meyer saw my knee yesterday. Running hurts.",
     (("Dr. Meyer saw Priya's knee", "7 May 2023"), ("Running hurts Priya", ""))),
    ("My bread rises badly (I threw a loaf away last night).",
     (("Tom's bread rises badly", ""), ("Tom threw a loaf away", "7 May 2023"))),
    # one of two is dated: a conjunction with a subject
    ("My group does all kinds of dances, and we perform at a festival next month.",
     (("Jon's group does all kinds of dances", ""), ("Jon's group performs at a festival", "June 2023"))),
    ("I have eleven pupils, and one of them played in public yesterday.",
     (("Priya has eleven pupils", ""), ("One pupil played in public", "7 May 2023"))),
    ("I love pottery, but the kiln broke last Thursday.",
     (("Priya loves pottery", ""), ("The kiln broke", "4 May 2023"))),
    ("We close the shop tomorrow, so my brother is looking for work.",
     (("Tom closes the shop", "9 May 2023"), ("Tom's brother is looking for work", ""))),
    ("I am tired because my daughter woke me at four this morning.",
     (("Priya is tired", ""), ("The daughter woke Priya at four", "8 May 2023"))),
    ("I ran ten miles yesterday, though my ankle is still weak.",
     (("Priya ran ten miles", "7 May 2023"), ("Priya's ankle is weak", ""))),
    ("I teach maths and I am flying to Oslo tomorrow.",
     (("Tom teaches maths", ""), ("Tom is flying to Oslo", "9 May 2023"))),
    ("The garden is full of tulips, and next week I plant the beans.",
     (("The garden is full of tulips", ""), ("Tom plants beans", "15-21 May 2023"))),
    ("I bake for the market, but last Saturday nobody bought my rolls.",
     (("Tom bakes for the market", ""), ("Nobody bought Tom's rolls", "6 May 2023"))),
    ("Last week I sold the van, and now I cycle to work.",
     (("Tom sold his van", "1-7 May 2023"), ("Tom cycles to work", ""))),
    ("She has two degrees, yet she only found a job last month.",
     (("Maria has two degrees", ""), ("Maria found a job", "April 2023"))),
    ("My parents are divorced, and my father married again last month.",
     (("Priya's parents are divorced", ""), ("Priya's father married again", "April 2023"))),
    # one of two is dated: commas, relatives, other tenses
    ("I met Omar yesterday, he plays the oud.",
     (("Priya met Omar", "7 May 2023"), ("Omar plays the oud", ""))),
    ("My neighbour, who moved in last week, owns three dogs.",
     (("The neighbour moved in", "1-7 May 2023"),)),
    ("I work at the harbour and will start a course next month.",
     (("Tom works at the harbour", ""), ("Tom will start a course", "June 2023"))),
    ("I teach piano and perform at a wedding next month.",
     (("Priya teaches piano", ""), ("Priya performs at a wedding", "June 2023"))),
    ("I got a puppy last Tuesday and am very happy with him.",
     (("Priya got a puppy", "2 May 2023"), ("Priya is happy with the puppy", ""))),
    ("I keep bees, and tomorrow I harvest the honey.",
     (("Tom keeps bees", ""), ("Tom harvests honey", "9 May 2023"))),
    ("I know the owner, we met at a fair last month.",
     (("Tom knows the owner", ""), ("Tom and the owner met at a fair", "April 2023"))),
    ("I am allergic to nuts, that cake last night was a mistake.",
     (("Priya is allergic to nuts", ""), ("The cake was a mistake", "7 May 2023"))),
    ("I play chess. If it rains tomorrow, the tournament is in the hall.",
     (("Tom plays chess", ""),)),
    ("I have a lisp. My brother stammered until last year.",
     (("Tom has a lisp", ""), ("Tom's brother stammered", "until 2022"))),
    # both are dated
    ("I moved yesterday and left the choir on 1 May 2021.",
     (("Priya moved", "7 May 2023"), ("Priya left the choir", "1 May 2021"))),
    ("I sold the boat last week, and my brother bought a bike yesterday.",
     (("Tom sold the boat", "1-7 May 2023"), ("Tom's brother bought a bike", "7 May 2023"))),
    ("We visited Ghent in March. On Friday we will go to Lille.",
     (("Priya visited Ghent", "March 2023"), ("Priya goes to Lille", "12 May 2023"))),
    ("My exam was last Monday, but the results come next week.",
     (("Priya's exam was", "1 May 2023"), ("The results come", "15-21 May 2023"))),
    ("I joined the club in 2019 and became its treasurer in 2021.",
     (("Tom joined the club", "2019"), ("Tom became the treasurer", "2021"))),
    ("Yesterday I fixed the roof; today I rest.",
     (("Tom fixed the roof", "7 May 2023"), ("Tom rests", "8 May 2023"))),
    ("Last night we ate at Momoco and tomorrow we cook at home.",
     (("Priya ate at Momoco", "7 May 2023"), ("Priya cooks at home", "9 May 2023"))),
    ("I have worked here since March and I finish next month.",
     (("Tom works here", "since March 2023"), ("Tom finishes", "June 2023"))),
    ("My son was born on 3 April 2020, and my daughter was born last month.",
     (("Priya's son was born", "3 April 2020"), ("Priya's daughter was born", "April 2023"))),
    ("We played in Leeds on Saturday. Tomorrow the band is in York.",
     (("The band played in Leeds", "6 May 2023"), ("The band is in York", "9 May 2023"))),
    ("I saw a heron this morning, and two days ago I saw an otter.",
     (("Tom saw a heron", "8 May 2023"), ("Tom saw an otter", "6 May 2023"))),
    # one time for two statements of one clause
    ("I went to Paris yesterday and bought a hat.",
     (("Priya went to Paris", "7 May 2023"), ("Priya bought a hat", "7 May 2023"))),
    ("Last Saturday I cleaned the attic and found my old violin.",
     (("Tom cleaned the attic", "6 May 2023"), ("Tom found his old violin", "6 May 2023"))),
    ("When I was in Oslo last week, I lost my passport.",
     (("Tom was in Oslo", "1-7 May 2023"), ("Tom lost his passport", "1-7 May 2023"))),
    ("I broke my arm while I was skiing last month.",
     (("Priya broke her arm", "April 2023"), ("Priya was skiing", "April 2023"))),
    ("Tomorrow I will call the bank and order new cards.",
     (("Tom will call the bank", "9 May 2023"), ("Tom will order new cards", "9 May 2023"))),
    ("Yesterday my aunt and my uncle opened a bakery.",
     (("Tom's aunt opened a bakery", "7 May 2023"), ("Tom's uncle opened a bakery", "7 May 2023"))),
    # the time is said apart
    ("We finally moved to Leeds! That was last Saturday. I like the cathedral.",
     (("Priya moved to Leeds", "6 May 2023"), ("Priya likes the cathedral", ""))),
    ("Yesterday! We got the keys. The rent is high.",
     (("Tom got the keys", "7 May 2023"), ("The rent is high", ""))),
    ("I passed the driving test. It was on Friday. My car is a wreck, though.",
     (("Priya passed the driving test", "5 May 2023"), ("Priya's car is a wreck", ""))),
    ("The race is hard. Tomorrow, I think.", (("The race is hard", "9 May 2023"),)),
    # none is dated
    ("I like tea. My brother likes coffee.", (("Priya likes tea", ""), ("Priya's brother likes coffee", ""))),
    ("I paint, and my husband writes.", (("Priya paints", ""), ("Priya's husband writes", ""))),
    ("My job is dull, but the people are kind.", (("Tom's job is dull", ""), ("The people are kind", ""))),
    ("I used to dance and my mother used to sing.", (("Priya used to dance", ""), ("Priya's mother used to sing", ""))),
    ("I read a lot because the bus is slow.", (("Tom reads a lot", ""), ("The bus is slow", ""))),
    ("I had that performance. The judges were nice.", (("Jon had a performance", ""), ("The judges were nice", ""))),
    ("I want a dog so my flat has to be bigger.", (("Priya wants a dog", ""), ("Priya's flat has to be bigger", ""))),
    # three statements
    ("I love my job. Yesterday a pupil thanked me. The school is old.",
     (("Priya loves her job", ""), ("A pupil thanked Priya", "7 May 2023"), ("The school is old", ""))),
    ("I run, I swim, and on Saturday I did a triathlon.",
     (("Tom runs", ""), ("Tom swims", ""), ("Tom did a triathlon", "6 May 2023"))),
    ("We sold the farm in 2020, I miss the cows, and last week I visited the new owners.",
     (("Tom sold the farm", "2020"), ("Tom misses the cows", ""), ("Tom visited the new owners", "1-7 May 2023"))),
    ("My tooth hurts. The dentist is away until Friday, so I take pills.",
     (("Priya's tooth hurts", ""), ("The dentist is away", "until 12 May 2023"), ("Priya takes pills", ""))),
    # "just" is the day of the message, unless other words date it
    ("I just moved to Leeds. My room is small.", (("Priya moved to Leeds", "8 May 2023"), ("Priya's room is small", ""))),
    ("I've just finished the novel, and I like the end.",
     (("Tom finished the novel", "8 May 2023"), ("Tom likes the end", ""))),
    ("I just bought a kayak last week. It is red.",
     (("Tom bought a kayak", "1-7 May 2023"), ("The kayak is red", ""))),
    ("I just want to sleep. My bed is broken.", (("Priya wants to sleep", ""), ("Priya's bed is broken", ""))),
    ("It is just a cold. We just have no tea.", (("It is a cold", ""), ("They have no tea", ""))),
)  # fmt: skip
STATEMENTS = [(text, told, event) for text, statements in TURNS for told, event in statements]


def turn(text: str, said: datetime | None = SAID) -> Turn:
    """Return the turn of somebody."""
    return Turn("chat", 0, 0, "Priya", text, said)


def test_the_table_has_sixty_turns_of_several_statements() -> None:
    """Of some one statement is dated, of some several, of some none."""
    dated = [sum(bool(event) for _, event in statements) for _, statements in TURNS if len(statements) > 1]

    assert len(dated) >= 60
    assert {0, 1, 2} <= set(dated)


@pytest.mark.parametrize(("text", "told", "event"), STATEMENTS)
def test_a_blank_time_is_the_clause_s_or_stays_blank(text: str, told: str, event: str) -> None:
    """Where the model names no time, only the words about time of the very clause date what is told."""
    judged = judge_point("", told, [turn(text)])

    assert judged.event.text == event
    assert judged.verdict == (Verdict.RESOLVED if event else None)


@pytest.mark.parametrize(("text", "told", "event"), STATEMENTS)
def test_another_time_of_the_model_stays_where_no_clause_says_otherwise(text: str, told: str, event: str) -> None:
    """A year that no words of the turn mean is kept, and counted where the turn has words about time elsewhere."""
    judged = judge_point("1999", told, [turn(text)])
    assert judged.event.text == (event or "1999")
    assert judged.verdict == (Verdict.CORRECTED if event else Verdict.INFERRED)
    assert judged.proposed == ("1999" if event else "")


@pytest.mark.parametrize(
    ("text", "told", "when", "verdict", "event"),
    [
        ("My group does all kinds of dances, and we perform at a festival next month.",
         "Jon's group does all kinds of dances", "", None, ""),
        ("I was in Paris yesterday. I have been on the hunt for a studio all this time.",
         "Jon is on the hunt for the ideal spot", "2022", Verdict.INFERRED, "2022"),
        ("I was in Paris yesterday. I have been on the hunt for a studio all this time.",
         "Jon is on the hunt for the ideal spot", "2023", Verdict.INFERRED, "2023"),
    ],
)  # fmt: skip
def test_the_times_that_were_once_mixed_up(text: str, told: str, when: str, verdict: Verdict, event: str) -> None:
    """A festival does not date all dances, nor a day in Paris the hunt for a studio."""
    judged = judge_point(when, told, [turn(text, JANUARY)])

    assert (judged.verdict, judged.event.text, judged.proposed) == (verdict, event, "")


def test_a_kept_time_that_the_turn_does_not_know_is_counted() -> None:
    """What the resolver read elsewhere in the turn is kept beside it."""
    said = turn("I was in Paris yesterday. I have been on the hunt for a studio.", JANUARY)
    units = [gist(said, "Jon is on the hunt for a studio.", when) for when in ("2022", "2023", "2023-01-28", "")]

    assert [unit.attributes.get("otherwise") for unit in units] == ["2023-01-28", None, None, None]
    assert [unit.attributes.get("time") for unit in units] == ["inferred", "inferred", "agreed", None]
    assert disagreements(units) == 1


def test_words_about_time_in_what_is_told_date_it() -> None:
    """Whichever clause they stand in: the model has kept them."""
    said = turn("I paint a lot. Next month I go to Rome.")

    assert judge_point("", "Priya paints a lot and goes to Rome next month", [said]).event.text == "June 2023"


def test_an_answer_dates_the_question_before_it() -> None:
    """Where two turns tell it, a time that is said alone belongs to what stands before."""
    asked, answered = turn("When did you leave the choir?"), turn("Last Saturday. The new one is better.")

    assert judge_point("", "Tom left the choir", [asked, answered]).event.text == "6 May 2023"
    assert judge_point("", "The new choir is better", [asked, answered]).event.text == ""

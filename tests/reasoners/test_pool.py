"""What a pool brings into view: within which budget, in which order, what comes along, and what it knows of it all."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from goalmem_cli.backbones.flat import FlatBackbone
from goalmem_cli.logic import Substitution, parse_atom
from goalmem_cli.prompts import Profile
from goalmem_cli.reasoners.facts import NumberedFacts, shown_cost, stretch_of
from goalmem_cli.reasoners.goal_mem.judge import rule
from goalmem_cli.reasoners.goal_mem.pool import MOST_QUERIES, Looked, Pool
from goalmem_cli.reasoners.goal_mem.records import Bench, Claim, Limits, Spending
from goalmem_cli.reasoners.prompt_texts import fact_line
from goalmem_cli.reasoners.showing import block_of, line_tokens, lines_shown
from goalmem_cli.records import Conversation, Query, Question, Turn
from goalmem_cli.testing import ListBackbone
from tests.reasoners.scripting import MOMENT, chat
from tests.store.samples import open_store

TALK = chat(
    "Nora: Where does the wooden bookshelf stand now?", "Luis: In the hall.", "Nora: I love the bookshelf you built.",
    "--", "Luis: My sister Ines came from Porto with her dog for a week.", "Nora: She sent me a postcard of the bookshelf.",
)  # fmt: skip
PETS = chat(*(f"Nora: Pet number {number} is a parrot." for number in range(8)), "Luis: I keep none.")
ALL = Spending(first=1.0, later=1.0)
BESIDE = Spending(neighbours=True)


def pool(
    turns: list[Turn],
    limits: Limits = Limits(),  # noqa: B008 - it is frozen
    spending: Spending = BESIDE,
    profile: Profile = "full",
    as_of: datetime | None = None,
) -> Pool:
    """Return the pool of a question about the turns, with nothing in view."""
    question = Question("Where is the bookshelf?", MOMENT, as_of=as_of)
    return Pool(ListBackbone(turns), question, limits, profile, spending)


def texts(looked: Looked) -> list[str]:
    """Return what the turns say that a look brought."""
    return [fact.text for fact in looked.new]


# How facts are shown


def test_a_look_is_read_in_the_order_of_time_under_headings() -> None:
    """One heading a session, who says it to whom, no time on a line; a pronoun's turn comes with the one before it."""
    facts = pool(TALK)
    facts.look_first(["bookshelf postcard"])
    (block,) = facts.shown.blocks

    assert list(block.lines) == [
        "[chat, 6:00 pm, 1 May 2023]",
        "F1. Nora to Luis: Where does the wooden bookshelf stand now?",
        "F2. Nora to Luis: I love the bookshelf you built.",
        "[6:03 pm, 2 May 2023]",
        "F3. Luis to Nora: My sister Ines came from Porto with her dog for a week.",
        "F4. Nora to Luis: She sent me a postcard of the bookshelf.",
    ]
    assert block.brought == {"F3"}


def test_the_compact_prompts_have_the_best_fact_first() -> None:
    """There no turn comes along, and no heading stands between."""
    facts = pool(TALK, profile="compact")
    looked = facts.look_first(["postcard bookshelf"])

    assert texts(looked) == [TALK[4].text, TALK[0].text, TALK[2].text]
    assert len(facts.shown.lines) == 3


def test_what_comes_along_counts_no_unit() -> None:
    """A budget of one unit shows the reply and the question that it answers."""
    facts = pool(TALK, Limits(budget=2))
    looked = facts.look_first(["hall"])

    assert texts(looked) == [TALK[0].text, TALK[1].text]
    assert facts.shown.units == 1


def test_later_looks_are_further_blocks() -> None:
    """What was shown stays as it was, so that each prompt begins with the one before it."""
    facts = pool(TALK)
    facts.look_first(["postcard"])
    first = facts.shown
    facts.look(["hall"])

    assert facts.shown.lines[: len(first.lines)] == first.lines
    assert len(facts.shown.facts) > len(first.facts)


def test_a_group_has_nobody_whom_it_is_said_to() -> None:
    """Only where just two talk is it known whom a turn is said to."""
    facts = pool([*TALK, *chat("Mia: Our own bookshelf came from Lisbon in 2019.", day=9)])
    facts.look_first(["Lisbon"])

    assert facts.shown.lines[1:] == ("F1. Mia: Our own bookshelf came from Lisbon in 2019.",)


def test_cheering_is_left_out_of_the_first_look_only() -> None:
    """It is no evidence for anything, but what a query for something open finds is shown whatever it is."""
    turns = chat("Nora: I restored the bookshelf in 2019 with Ines.", "Luis: Wow, so great, thanks so much!")
    facts = pool(turns)

    assert texts(facts.look_first(["great bookshelf"])) == [turns[0].text]
    assert texts(facts.look(["great"])) == [turns[1].text]


def test_the_line_of_a_fact_is_known_by_its_text_though_it_has_days_in_words() -> None:
    """Scripted replies find the facts that they cite by what was said."""
    turns = chat("Ana: The boat shelf came on 16.01.2024.", "Ben: The boat shelf left on 2024-01-20.")
    facts = pool(turns)
    facts.look_first(["boat shelf"])
    shown = lines_shown("\n".join(facts.shown.lines))

    assert "16 January 2024" in shown[0].told and "20 January 2024" in shown[1].told
    assert [[line.says(turn.text) for turn in turns] for line in shown] == [[True, False], [False, True]]


def test_you_is_whom_it_is_said_to() -> None:
    """The bookshelf you built, said to Luis, grounds that Luis built it; said in a group, it names nobody."""
    numbered = NumberedFacts(ListBackbone(TALK), Question("What did Luis build?", MOMENT), "full")
    fact = numbered.fact(numbered.hits("love built", 1)[0])
    atom = parse_atom("(Luis) built (x:thing)")
    people = frozenset({"Nora", "Luis"})
    bench = Bench("What did Luis build?", (atom,), {fact.number: fact}, Substitution(), (), people)

    assert fact.to == "Luis"
    (grounded,) = rule([Claim(0, (fact.number,), {"x": ("the bookshelf",)})], bench).grounded
    assert grounded.notes == ()


# The turns beside those cited


def test_neighbours_come_without_a_query() -> None:
    """The reply to a cited turn is shown, with a number of its own, and counts no unit."""
    facts = pool(TALK)
    facts.look_first(["wooden stand"])
    units = facts.shown.units

    assert texts(facts.look([], ["F1"])) == ["In the hall."]
    assert facts.shown.units == units


def test_a_pool_without_neighbours_shows_none() -> None:
    """A prover says whether they come along."""
    facts = pool(TALK, spending=Spending())
    facts.look_first(["wooden stand"])

    assert facts.look([], ["F1"]).new == ()


def test_what_comes_along_obeys_as_of_and_the_tokens() -> None:
    """A reply that was said later than --as-of is no neighbour, and no turn comes along for which no tokens are left."""
    early = pool(TALK, as_of=TALK[0].said)
    assert texts(early.look_first(["wooden stand"])) == [TALK[0].text]
    assert early.look([], ["F1"]).new == ()

    short = pool(TALK, Limits(max_fact_tokens=60))
    short.look_first(["postcard"])
    assert [block.brought for block in short.shown.blocks] == [frozenset()]


# The budget


def test_the_first_look_shows_its_share_and_later_ones_theirs() -> None:
    """Half of eight units first, then half of what is left."""
    facts = pool(PETS, Limits(budget=8), Spending(first=0.5, later=0.5), "compact")

    assert [len(facts.look_first(["parrot"]).new), len(facts.look(["pet parrot"]).new)] == [4, 2]


def test_queries_beside_the_first_may_fill_less() -> None:
    """What the question finds counts most, whatever its subgoals find."""
    turns = [*PETS, *chat(*(f"Luis: Boat number {number} is red." for number in range(8)), conversation="boats")]
    even = pool(turns, Limits(budget=8), ALL, "compact")
    less = pool(turns, Limits(budget=8), Spending(first=1.0, beside=0.25), "compact")

    def boats(looked: Looked) -> int:
        return sum("Boat" in text for text in texts(looked))

    assert boats(even.look_first(["pet parrot", "boat red"])) == 4
    assert boats(less.look_first(["pet parrot", "boat red"])) == 2


def test_what_is_spent_is_said_and_nothing_more_is_shown() -> None:
    """Neither another query nor a deeper look goes past the budget."""
    facts = pool(PETS, Limits(budget=3), ALL, "compact")
    before = facts.is_spent
    facts.look_first(["parrot"])

    assert (before, facts.is_spent) == (False, True)
    assert facts.look(["pet number"], is_deep=True) == Looked()


def test_a_unit_that_is_too_long_is_counted() -> None:
    """It is never silently gone."""
    turns = chat("Ana: A short one on a dog.", f"Ana: dog {'слово ' * 400}")
    looked = pool(turns, Limits(max_fact_tokens=600)).look_first(["dog"])

    assert (len(looked.new), looked.skipped) == (1, 1)


def test_a_query_is_asked_once_however_it_is_written() -> None:
    """Case and articles make no other query, and nothing is none."""
    facts = pool(PETS, spending=ALL)
    facts.look_first(["The Parrot"])

    assert facts.tried == ("The Parrot",)
    assert facts.fresh(["the parrot", "parrot", " ", "pets", "Pets"]) == ["Pets"]


def test_queries_asked_before_take_no_place_of_new_ones() -> None:
    """A look has only so many queries, all of them new."""
    facts, old = pool(PETS), [f"parrot {number}" for number in range(MOST_QUERIES)]
    facts.look(old)

    assert facts.fresh([*old, "a pet"]) == ["a pet"]
    assert len(facts.fresh(f"pet {number}" for number in range(20))) == MOST_QUERIES


def test_a_deep_look_sees_past_what_is_in_view() -> None:
    """A query sees only so far, so that nothing new can happen; for the further values of a list it sees on."""
    narrow = Spending(first=0.5, later=0.2, least_look=1)
    turns = chat(*(f"Nora: Pet number {number} is a parrot." for number in range(20)))
    shallow, deep = (pool(turns, Limits(budget=16), narrow, "compact") for _ in range(2))
    for facts in (shallow, deep):
        facts.look_first(["parrot"])

    assert shallow.look(["a parrot pet"]).new == ()
    assert deep.look(["a parrot pet"], is_deep=True).new


def test_a_picky_look_passes_over_what_is_hardly_evidence() -> None:
    """A list that seems complete is not looked for again because of a turn that has one of its words."""
    turns = chat("Nora: I keep a parrot as a pet.", "Luis: The number of the bus is nine.")
    spending = Spending(first=1.0, later=1.0, least=0.99)
    for is_picky, count in ((False, 1), (True, 0)):
        facts = pool(turns, spending=spending, profile="compact")
        facts.look_first(["parrot"])
        assert len(facts.look(["number of pets"], is_deep=True, is_picky=is_picky).new) == count


# Pools that go on from another


def test_a_pool_that_goes_on_counts_what_is_in_view_or_does_not() -> None:
    """Within so many units the first facts are among them; beyond, they are not. A pool that was emptied has none."""
    first = pool(PETS, Limits(budget=3), ALL, "compact")
    first.look_first(["parrot"])
    within, beyond = first.within(5, 3000, ALL), first.beyond(Limits(budget=5), ALL)
    within.look_first(["pet parrot"])
    beyond.look_first(["pet parrot"])

    assert len(first.facts) == 3
    assert (len(within.facts), len(beyond.facts)) == (5, 8)
    assert within.shown.lines[:3] == first.shown.lines
    assert not first.emptied(2, Spending()).facts


def test_a_fact_has_one_number_in_all_pools_of_a_question() -> None:
    """Whichever saw it first; every fact is known to each of them."""
    first = pool(TALK, Limits(budget=2), profile="compact")
    first.look_first(["hall"])
    other = first.emptied(2, Spending())
    other.look_first(["postcard"])

    assert [(number, fact.text) for number, fact in other.facts.items()] == [("F2", TALK[4].text)]
    assert list(first.every_fact) == list(other.every_fact) == ["F1", "F2"]


# What is known of what was found


def test_the_facts_in_view_are_told_by_the_query_that_found_them() -> None:
    """The likeliest evidence first, of those in view only, and of no query that was not asked."""
    facts = pool(TALK, profile="compact")
    looked = facts.look_first(["postcard bookshelf", "hall"])
    led = facts.led_to(["postcard bookshelf"])

    assert [facts.facts[number].text for number in led] == [TALK[4].text, TALK[2].text, TALK[0].text]
    assert list(led.values()) == sorted(led.values(), reverse=True)
    assert looked.found["hall"] == {number for number, fact in facts.facts.items() if fact.text == TALK[1].text}
    assert facts.led_to(["the hall"]) == {}


def test_the_nearest_facts_are_those_likeliest_to_tell_of_a_phrase() -> None:
    """Without another look."""
    facts = pool(TALK, profile="compact")
    facts.look_first(["postcard of the bookshelf"])

    assert [facts.facts[number].text for number in facts.nearest("the postcard she sent", 1)] == [TALK[4].text]


@pytest.mark.parametrize(("turn", "is_likelier"), [("Luis: I keep a red parrot.", True), ("Luis: A parrot?", False)])
def test_how_near_each_speaker_comes_is_known(turn: str, is_likelier: bool) -> None:
    """By the best turn of each that asks nothing; nobody comes nearer because the query names them."""
    facts = pool(chat("Nora: Nice.", turn, "Nora: Nora has a red bag."), profile="compact")
    facts.look_first(["Which red parrot does Nora keep?"])
    found = facts.by_speaker("Which red parrot does Nora keep?")

    assert (found.get("Luis", 0.0) > found["Nora"]) is is_likelier
    assert ("Luis" in found) is is_likelier


# The times that a fact means

SAID = datetime(2023, 5, 21, 18, 20)


def told(folder: Path, text: str) -> Pool:
    """Return the pool of a question about swimming, over a store that holds the text, with what it finds in view."""
    store = open_store(folder / "store")
    store.add(Conversation("c", "openai", (Turn("c", 0, 0, "Ana", text, SAID),)))
    question = Question("When did Ana go swimming?", SAID)
    facts = Pool(FlatBackbone(store), question, Limits(), "full", Spending())
    facts.look_first(["Ana swimming"])
    return facts


def test_a_fact_reads_with_its_times(tmp_path: Path) -> None:
    """As DESIGN has it: the time it was said, then each expression and the days it means."""
    (fact,) = told(tmp_path, "I went swimming last Friday, and two weekends ago too.").facts.values()
    assert fact_line(fact) == (
        "F1. Ana: I went swimming last Friday, and two weekends ago too. [said 6:20 pm, 21 May 2023; "
        '"last Friday" = 19 May 2023; "two weekends ago" = 6-7 May 2023]'
    )


def test_a_fact_without_relative_times_has_none(tmp_path: Path) -> None:
    """A duration is no date."""
    (fact,) = told(tmp_path, "I went swimming for two hours.").facts.values()
    assert fact.times == ()
    assert fact_line(fact).endswith("[said 6:20 pm, 21 May 2023]")


def test_open_ends_keep_their_direction(tmp_path: Path) -> None:
    """Before and since are not the day itself."""
    (fact,) = told(
        tmp_path, "I have been swimming since last March, but never before yesterday in the sea."
    ).facts.values()
    assert '"since last March" = since March 2023' in fact.times
    assert '"before yesterday" = before 20 May 2023' in fact.times


SHOWN = chat(
    "Nora: Where does the wooden bookshelf stand now?", "Luis: In the hall.", "Nora: I love the bookshelf you built.",
    "--", "Luis: My sister Ines came from Porto with her dog for a week.", "Nora: She sent me a postcard of the bookshelf.",
)  # fmt: skip


@pytest.mark.parametrize("kind", ["turn", "passage", "note"])
def test_what_a_hit_costs_is_what_its_block_has(kind: str) -> None:
    """Counted without laying one out: alone with its heading, beside others without; late in a session with its time."""
    said = {"turn": datetime(2023, 5, 1, 18, 0), "passage": None, "note": datetime(2023, 5, 1, 18, 0)}[kind]
    for found in ListBackbone(SHOWN, least=0).retrieve(Query("bookshelf"), 9):
        times = {"times": [["last Friday", "2023-05-19", "2023-05-19"]]}
        hit = replace(found, unit=replace(found.unit, kind=kind, said=said, attributes=times))
        number = NumberedFacts(ListBackbone(SHOWN), Question("Where?", MOMENT), "full").fact(hit)
        block = block_of([replace(number, number="F000")])
        assert shown_cost(hit, {}) == block.tokens
        opened = {stretch_of(hit.unit): hit.unit.said}
        assert shown_cost(hit, opened) == line_tokens(block.lines[1])
        if hit.unit.said is not None:
            opened = {stretch_of(hit.unit): hit.unit.said - timedelta(hours=1)}
            assert shown_cost(hit, opened) > line_tokens(block.lines[1])


@pytest.mark.parametrize("line", ["", "F1. Ana: tea", "F2. Zoë: thé à la menthe ☕", "ꙮ" * 7])
def test_tokens_of_a_line_are_counted_by_script(line: str) -> None:
    """A letter of English is a part of a token, a byte of another script a larger one."""
    data = line.encode()
    ascii_bytes = [byte for byte in data if byte < 128]
    assert line_tokens(line) == int(len(ascii_bytes) / 3.2 + (len(data) - len(ascii_bytes)) * 0.72) + 2

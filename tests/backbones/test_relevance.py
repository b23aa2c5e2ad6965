"""Reranking: what is likelier evidence comes first, and nothing is lost or made up."""

import os
import subprocess
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.backbones.flat import FlatBackbone
from goalmem_cli.backbones.relevance import BIAS, FUSED, PERSONAL, WEIGHTS, features, likelihoods, rerank
from goalmem_cli.logic.annotations import time_attributes
from goalmem_cli.records import Hit, Query, Turn, Unit
from goalmem_cli.store import Store
from goalmem_cli.testing import HashEmbedder

MONDAY = datetime(2024, 3, 4, 9, 0)


def hit(text: str, speaker: str = "Ana", *before: tuple[str, str]) -> Hit:
    """Return a retrieved turn."""

    def unit(ordinal: int, speaker: str, text: str) -> Unit:
        times = time_attributes(text, MONDAY)
        return Unit(text, "turn", text, "tea", speaker, MONDAY, ("t",), ("D1:1",), ordinal=ordinal, attributes=times)

    beside = [unit(ordinal, *said) for ordinal, said in enumerate(before)]
    return Hit(unit(len(before), speaker, text), 0.5, {"bm25": 1}, tuple(beside))


def column(name: str, query: str, *hits: Hit) -> list[float]:
    """Return one feature of the hits."""
    return [float(value) for value in features(query, hits)[:, list(WEIGHTS).index(name)]]


def test_words_that_few_hits_have_count_more() -> None:
    """Both have one of the query's two words; the one that is not everywhere tells more."""
    hits = [hit("Ana plays chess."), hit("Ana sings."), hit("Ana sleeps."), hit("The violin is old.")]

    shares = column("words", "Ana violin", *hits)
    assert shares[3] > shares[0] == shares[1]


@pytest.mark.parametrize(
    ("name", "query", "yes", "no"),
    [
        ("names", "Where does Ben live?", hit("In Leeds.", "Ana", ("Ben", "Guess where I live.")), hit("In Leeds.")),
        ("speaker", "Where does Ben live?", hit("In Leeds.", "Ben"), hit("Ben lives in Leeds.")),
        ("question", "Leeds", hit("Is it Leeds? "), hit("Leeds? No.")),
        ("number", "price of the bike", hit("It was 300."), hit("It was cheap.")),
        ("number", "How many bikes are there?", hit("We have 3."), hit("We have some.")),
    ],
)
def test_feature_tells_hits_apart(name: str, query: str, yes: Hit, no: Hit) -> None:
    """Each has its feature where it should."""
    assert column(name, query, yes, no) == [1.0, 0.0]


def test_who_says_it_counts_for_nothing_where_only_the_content_is_asked_for() -> None:
    """Two who say the same are as likely then, and the one whom the query names is likelier otherwise."""
    hits = [replace(hit("Ben lives in Leeds.", speaker), ranks={FUSED: 1}) for speaker in ("Ben", "Ana")]
    ben, ana = likelihoods("Where does Ben live?", hits)
    by_content = likelihoods("Where does Ben live?", hits, without=PERSONAL)

    assert ben > ana
    assert by_content[0] == by_content[1]


def told(text: str, speaker: str, to: str = "") -> Hit:
    """Return a turn that was said to somebody."""
    return replace(hit(text, speaker), to=to)


def test_the_side_that_is_asked_for_is_likelier_in_talks_with_an_assistant() -> None:
    """The user tells what was done, whatever the name; what the assistant said is asked for in the past tense.

    A short answer of an assistant is told as people tell things.
    """
    hits = [
        told("I use oak.", "user"),
        told("I use oak.", "Ana", "Assistant"),
        told("Use oak. " * 40, "assistant"),
        told("Use oak.", "assistant"),
        hit("Oak"),
    ]

    assert column("other_side", "Which wood do I use?", *hits) == [0, 0, 1, 0, 0]
    assert column("other_side", "Can you list the woods?", *hits) == [0, 0, 1, 0, 0]
    for query in ("Which wood did you suggest?", "What was your advice?", "The assistant recommended (x:wood)"):
        assert column("other_side", query, *hits) == [1, 1, 0, 0, 0]
    caused = ("When did I last have you plane the wood?", "What had I ever had you cut?", "the rack I've had you feed")
    for query in (*caused, "Which wood do we use?", "Who did we invite?", "Where have we been?", "our oak's age"):
        assert column("other_side", query, *hits) == [0, 0, 1, 0, 0]
    for query in ("What have you already cut?", "What had you said when I asked?"):
        assert column("other_side", query, *hits) == [1, 1, 0, 0, 0]
    agreed = ("What do we agree on?", "our agreement on wood", "Which did you and I settle on?", "what we came up with")
    for query in (*agreed, "Which wood did we choose?", "Which wood have we agreed on?", "the wood that we settled on"):
        assert column("other_side", query, *hits) == [0, 0, 0, 0, 0]
    assert WEIGHTS["other_side"] < 0


def test_what_an_assistant_offers_at_the_end_of_a_long_answer_is_not_asked() -> None:
    """What a user says next is seldom about it; a question at the end of an answer, or in a short one, is one."""
    long = "1. Is the oak dry?\n" + "Oak needs time. " * 20

    def asked(before: str, speaker: str = "assistant") -> bool:
        return column("asked", "Which oil for the oak?", hit("Linseed.", "user", (speaker, before)))[0] > 0

    offers = ("Would you like me to write about oil?", "Shall I list oils?", "If so, want me to write about oil?")
    for offer in offers:
        assert not asked(f"{long}\n\nDone. {offer}")
        assert asked(offer) and asked(f"{long}\n\n{offer}", "Ben")
    for end in ("", "\n- oil\n- wax", "\nWhich oil?\nLinseed is good.", "\nWhich oil? Linseed.\nLet me know."):
        assert not asked(f"{long}{end}")
    options = "\n\n- Linseed oil\n- Tung oil"
    questions = ("Good. Which oil would you like to use?\n", f"**Which oil shall I take?**{options}\n\nLet me know.",
                 "1. Which oil?\n2. When?", "Do you want oil of linseed or tung?", "May I ask which oil it had?",
                 "Would you like the old oil?", "Is it the oil that you want me to use?")  # fmt: skip
    for question in questions:
        assert asked(f"{long}\n\n{question}"), question


def test_what_a_user_asks_an_assistant_tells_as_well() -> None:
    """ "I'm building a boat, can you help?" is no mere question, as it would be between people."""
    text = "I'm building a boat of oak, can you help me?"

    assert column("question", "boat", told(text, "user"), hit(text), told("Is oak good?", "user")) == [0, 1, 1]


def test_how_long_an_assistants_answer_is_tells_nothing() -> None:
    """Long passages would come first otherwise, as longer turns do between people; short answers count as those do."""
    texts = ("oak " * 80, "oak " * 200)
    short, long = column("length", "oak", *(told(text, "assistant") for text in texts))
    assert short == long
    short, long = column("length", "oak", *map(hit, texts))
    assert short < long
    short, long = column("length", "oak", told("oak", "assistant"), told("oak " * 70, "assistant"))
    assert short < long


def test_the_words_of_a_passages_headings_count() -> None:
    """A step under "Sail" is about sails, though it does not say so; of a derived unit nothing is a heading."""
    plain, derived = hit("Sew it twice."), hit("Sew it twice.")
    under = replace(plain.unit, attributes={"part": 2, "heading": "Boat > Sail"})
    other = replace(derived.unit, attributes={"heading": "Sail"})

    shares = column("words", "Sew the sail", replace(plain, unit=under), plain, replace(derived, unit=other))
    assert shares[0] > shares[1] == shares[2]


def test_standing_wishes_are_likelier_evidence() -> None:
    """What a user wants always done bears on questions that share few of its words."""
    wishes = ("Always give versions when I ask about libraries.", "I'd really prefer oak.", "From now on, use metres.")
    others = ("I always get up late.", "He prefers oak.", "It never ends.")

    assert column("wish", "x", *(told(text, "user") for text in (*wishes, *others))) == [1, 1, 1, 0, 0, 0]
    assert column("wish", "x", *map(hit, wishes), told(wishes[0], "assistant")) == [0, 0, 0, 0]


def test_times_count_only_where_one_is_asked_for() -> None:
    """A turn that names a time is likelier evidence for "when" than for "who"."""
    told, plain = hit("Last Friday I ran."), hit("I ran.")

    assert column("time", "Who ran?", told, plain) == [0.0, 0.0]
    assert column("time", "When did Ana run?", told, plain) == [1.0, 0.0]


def test_what_is_asked_before_a_turn_counts_where_the_turn_does_not_say_it() -> None:
    """ "Leeds" after "Where does Ben live?" is what the query is for; what is asked elsewhere is not."""
    query = "Which town does Ben live in?"
    told = hit("In Leeds.", "Ana", ("Ana", "In which town does Ben live?"), ("Ben", "Tea, please. Guess!"))
    answer = hit("In Leeds.", "Ana", ("Ben", "Tea, please. In which town does Ben live? Guess!"))
    repeating = hit("Which town does Ben live in? Leeds.", "Ana", ("Ben", "In which town does Ben live?"))

    assert column("asked", query, told, answer, repeating)[1] > 0
    assert column("asked", query, told, answer, repeating)[::2] == [0.0, 0.0]
    assert rerank("Where does Ben live?", [hit("I live here."), answer])[0].unit.text == "In Leeds."


def test_an_answer_comes_before_the_question_that_was_asked() -> None:
    """Likeness puts a question about the thing first; who asks wants the turn that tells it."""
    hits = [
        hit("And the name of the horse?", "Ben"),
        hit("The name of the horse is Juniper, a grey mare from Ross."),
        hit("Sleep well!", "Ben"),
    ]

    ranked = rerank("What is the name of the horse?", hits)
    assert [each.ranks[FUSED] for each in ranked] == [2, 1, 3]
    assert 1 > ranked[0].score > ranked[1].score > ranked[2].score > 0


texts = st.text(max_size=30)


@given(st.text(max_size=30), st.lists(st.builds(hit, texts, texts), max_size=6))
def test_hits_are_put_in_order_and_no_more(query: str, hits: list[Hit]) -> None:
    """Whatever is asked and told: the same units, scores that fall and are finite."""
    ranked = rerank(query, hits)

    assert sorted(each.unit.id for each in ranked) == sorted(each.unit.id for each in hits)
    scores = [each.score for each in ranked]
    assert scores == sorted(scores, reverse=True)
    assert np.isfinite(scores).all()


@given(st.text(max_size=30), st.lists(st.builds(hit, texts, texts), min_size=1, max_size=6), st.randoms())
def test_likelihoods_are_those_of_the_features_whatever_was_asked_before(
    query: str, hits: list[Hit], random: Random
) -> None:
    """Features are kept for the same hits in another order; with others, or other ranks, they are worked out anew."""
    reranked = rerank(query, hits)
    shuffled = random.sample(reranked, len(reranked))
    for asked in (hits, reranked, shuffled, reranked[:-1], [replace(each, ranks={}) for each in shuffled]):
        odds = features(query, asked) @ np.array(list(WEIGHTS.values())) + BIAS if asked else np.zeros(0)
        assert likelihoods(query, asked) == [float(value) for value in 1 / (1 + np.exp(-odds))]


def test_first_hits_do_not_depend_on_how_many_are_asked_for(tmp_path: Path) -> None:
    """The one best hit is the first of ten: the same pool is reranked."""
    store = Store(tmp_path / "store", HashEmbedder(), announce=lambda _: None)
    said = ("cold and long forgotten", "hot", "hot")
    turns = [Turn("tea", 0, n, "Ana", f"Cup {n} of tea was {said[n % 3]}.", MONDAY) for n in range(20)]
    backbone = FlatBackbone(store)
    backbone.update(turns)

    ten = backbone.retrieve(Query("cold tea"), 10)
    assert [each.unit.id for each in backbone.retrieve(Query("cold tea"), 3)] == [each.unit.id for each in ten[:3]]
    assert all(FUSED in each.ranks for each in ten)


def test_features_are_the_same_in_every_process() -> None:
    """Python orders a set's words anew in each process; what is printed of a hit may not change with that."""
    program = (
        "from tests.backbones.test_relevance import features, hit\n"
        "told = [' '.join(f'w{n % d}' for n in range(60)) for d in range(3, 40)]\n"
        "print(features(' '.join(f'w{n}' for n in range(40)), [hit(text) for text in told]).tobytes().hex())"
    )
    root = Path(__file__).parents[2]
    ran = [
        subprocess.run(
            [sys.executable, "-c", program], cwd=root, env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, check=True,
        ).stdout
        for seed in ("1", "2", "3")
    ]  # fmt: skip
    assert ran[0]
    assert set(ran) == {ran[0]}

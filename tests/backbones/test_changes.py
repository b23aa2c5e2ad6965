"""What a text says has changed."""

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from goalmem_cli.backbones.later import marked
from goalmem_cli.records import FORWARDED_FROM, Hit, Turn, Unit
from goalmem_cli.transcripts import read_file

SHARED = Path(__file__).parents[2].parent / "shared" / "data" / "corpus"
JUDGED = {
    "assistant-02": ["D2:1 D3:1"],
    "assistant-06": ["D1:3 D2:3"],
    "assistant-08": ["D1:7 D3:9"],
    "assistant-09": ["D1:3 D3:7"],
    "assistant-10": ["D1:13 D3:5"],
    "family-11": ["D1:11 D3:14"],
    "friends-01": ["D2:8 D4:8"],
    "friends-02": ["D2:1 D3:10"],
    "friends-04": ["D1:6 D3:5"],
    "friends-05": ["D2:8 D3:3"],
    "friends-09": ["D1:12 D2:7"],
    "messaging-03": ["D1:6 D3:4"],
    "messaging-08": ["D1:10 D2:6"],
    "work-05": ["D1:11 D3:5"],
}
"""The marks of the corpus, each read and found right: a turn and the later one that changes what it says."""


def hits_of(turns: Sequence[Turn]) -> list[Hit]:
    """Return all turns of a conversation as hits."""
    return [
        Hit(
            Unit(
                str(turn.own_id or turn.ordinal),
                "turn",
                turn.text,
                turn.conversation,
                turn.speaker,
                None,
                ("t",),
                ("l",),
                ordinal=turn.ordinal,
            ),
            0.5,
        )
        for turn in turns
    ]


def told_change(text: str) -> str:
    """Return the words of a text that tell a change by themselves."""
    return marked(hits_of([Turn("talk", 1, 0, "Ana", text, None)]))[0].change


def moved_by(*said: str) -> str | None:
    """Return which of the things that one person says in turn makes the first out of date."""
    turns = [Turn("talk", 1, place, "Ana", text, None) for place, text in enumerate(said)]
    later = marked(hits_of(turns))[0].moved_on
    return None if later is None else later.text


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("We moved to Leeds in May.", "Since Sunday we are back to York."),
        ("I have sugar in my tea.", "I no longer take sugar."),
        ("Our choir sings on Tuesdays.", "The choir has moved to Thursdays."),
        ("I drive to work in the Panda.", "I have sold the Panda."),
        ("Our trip is in May.", "The trip to Rome is cancelled."),
        ("Tom drives the Panda.", "Tom has sold the Panda."),
        ("Tom drives the Panda.", "He has sold the Panda."),
        ("I drive the Panda.", "Finally sold the Panda."),
        ("They send me to Hanoi in the autumn.", "Hanoi is cancelled, there is no money."),
        ("The report is due on 3 March.", "The report moved to 10 March."),
        ("I write it all in Vim.", "I have switched from Vim to Zed."),
        ("I work at Lidl.", "I got a new job at Boots."),
    ],
)
def test_a_later_text_moves_on_from_what_it_changes(earlier: str, later: str) -> None:
    """One thing that has one value at a time, or that ended."""
    assert moved_by(earlier, later) == later


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("We moved to Leeds in May.", "We are back to Leeds since Sunday."),
        ("We moved to Leeds in May.", "Should we move back to York?"),
        ("I lived in Leeds as a student.", "We are back to York."),
        ("I have sugar in my tea.", "I no longer take the bus."),
        ("I drive the Panda.", "I would have sold the Panda if it ran."),
        ("I drive the Panda.", "I have not sold the Panda."),
        ("I drive the Panda.", "My neighbour sold his Panda."),
        ("I drive the Panda.", "Tom has sold the Panda."),
        ("I drive the Panda.", "He quit the Panda club."),
        ("I have sugar in my tea.", "My mum no longer takes sugar."),
        ("We go to Rome in May.", "Unless Rome is cancelled, we fly on Monday."),
        ("We go to Rome in May.", "They asked whether Rome is cancelled."),
        ("We go to Rome in May.", "I dreamt that Rome was cancelled."),
        ("I drive the Panda.", "I'll have sold the Panda by June."),
        ("I work at Lidl.", "I work with Ana."),
        ("We moved to Leeds in May.", "We are back in June."),
        ("We moved to Leeds in May.", "We are back in London for the weekend."),
        ("We moved to Leeds in May.", "'I live in Hull now.' It is a line of hers."),
        ("We moved to Leeds in May.", '"Wait. I live in Hull now. Bye." That was the play.'),
        ("We moved to Leeds in May.", "Tom told me: I live in Hull now."),
        ("I work at Lidl.", "In the novel I work at Aldi now."),
        ("I feed the hedgehog in the woodshed.", "The woodshed feeds four of the hedgehog kind now."),
        ("My course with Amélia has twenty evenings.", "The course with Amélia is on Wednesdays now."),
        ("What a moment for the team.", "Instead of staying in that moment, I left."),
        ("The report is due on 3 March.", "The report moved to March."),
        ("Wir sind nach Leeds gezogen.", "Wir wohnen nicht mehr in Leeds, sondern in York."),
    ],
)
def test_other_texts_move_on_from_nothing(earlier: str, later: str) -> None:
    """Not the same again, a question, a denial, a visit, another time, thing, person or language, nor what is not meant."""
    assert moved_by(earlier, later) is None


def test_a_value_that_is_back_is_not_replaced() -> None:
    """Whatever was asked; what was between is."""
    graz, linz = "I live in Graz.", "I moved to Linz."
    assert moved_by(graz, linz, "I am back in Graz.") is None
    assert moved_by(linz, "I am back in Graz.") == "I am back in Graz."


def test_the_marks_of_the_corpus_are_those_that_were_judged() -> None:
    """Over all its turns: at most 2 false in 100 are allowed, of these none is."""
    if not SHARED.is_dir():
        pytest.skip("the corpus is not beside the checkout")
    found: dict[str, list[str]] = {}
    for file in sorted(SHARED.glob("*.json")):
        for conversation in read_file(file):
            for hit in marked(hits_of(conversation.turns)):
                if hit.moved_on is not None:
                    found.setdefault(file.stem, []).append(f"{hit.unit.id} {hit.moved_on.id}")
    assert found == JUDGED


def test_a_text_tells_of_a_change_by_itself() -> None:
    """Only where its words leave no doubt."""
    assert told_change("I no longer take sugar.") == "no longer"
    assert told_change("I am at home now.") == ""


@pytest.mark.parametrize("piece", ["word-", "sold my, ", "I'm done with my ", "' ", " 'a", '"a '])
def test_a_long_text_takes_no_more_than_its_length(piece: str) -> None:
    """Without a full stop, as in a pasted list or log: a sentence so long is left out. It took 20 s and more."""
    text = (piece * 40_000)[:40_000]
    begun = time.process_time()
    assert moved_by("I have sold my van.", text) is None
    assert told_change(text) == ""
    assert moved_by(text + ". We drive a van.", "I have sold my van.") is not None
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    ("one", "other", "is_marked"),
    [
        (("tea", "Ana", {}), ("tea", "Ana", {}), True),
        (("tea", "Ana", {}), ("tea", "Ben", {}), False),
        (("tea", "Ana", {}), ("work", "Ana", {}), False),
        (("tea", "Ana", {}), ("tea", "Ana", {FORWARDED_FROM: "Cy"}), False),
        (("tea", "Ana", {FORWARDED_FROM: "Cy"}), ("tea", "Ben", {FORWARDED_FROM: "Cy"}), True),
        (("tea", "Ana", {FORWARDED_FROM: ""}), ("tea", "Ana", {FORWARDED_FROM: ""}), False),
    ],
)
def test_only_the_same_person_moves_on(
    one: tuple[str, str, dict[str, object]], other: tuple[str, str, dict[str, object]], is_marked: bool
) -> None:
    """In the same conversation: there may be another Ana in another one, and two unknown authors may be two people."""
    texts = ("I drive the Panda.", "I have sold the Panda.")
    hits = [
        Hit(Unit(text, "turn", text, talk, who, None, ("t",), ("l",), ordinal=place, attributes=beside), 0.5, {}, ())
        for place, (text, (talk, who, beside)) in enumerate(zip(texts, (one, other), strict=True))
    ]
    assert [hit.moved_on is not None for hit in marked(hits)] == [is_marked, False]

"""What a text says has changed."""

from __future__ import annotations

import time

import pytest

from goalmem_cli.backbones.changes import moves_on, told_change
from goalmem_cli.backbones.later import marked
from goalmem_cli.records import FORWARDED_FROM, Hit, Unit


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
    ],
)
def test_a_later_text_moves_on_from_what_it_changes(earlier: str, later: str) -> None:
    """One thing that has one value at a time, or that ended."""
    assert moves_on(later, earlier)


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
        ("Wir sind nach Leeds gezogen.", "Wir wohnen nicht mehr in Leeds, sondern in York."),
    ],
)
def test_other_texts_move_on_from_nothing(earlier: str, later: str) -> None:
    """The same again, a question, another time, another thing, what might be, a denial, another person, a visit, another language."""
    assert moves_on(later, earlier) == ""


def test_a_text_tells_of_a_change_by_itself() -> None:
    """Only where its words leave no doubt."""
    assert told_change("I no longer take sugar.") == "no longer"
    assert told_change("I am at home now.") == ""


@pytest.mark.parametrize("piece", ["word-", "sold my, ", "I'm done with my ", "' "])
def test_a_long_text_takes_no_more_than_its_length(piece: str) -> None:
    """Without a full stop, as in a pasted list or log: a sentence so long is left out. It took 20 s and more."""
    text = (piece * 40_000)[:40_000]
    begun = time.process_time()
    assert moves_on(text, "I have sold my van.") == told_change(text) == ""
    assert moves_on("I have sold my van.", text + ". We drive a van.") == "sold"
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

"""What is left out of what a model extracts."""

from dataclasses import replace

import pytest

from goalmem_cli.backbones.remem.extraction import without_filler
from goalmem_cli.backbones.remem.graph import Gist, Statement, fact_unit, gist_unit
from tests.backbones.remem_samples import turns

SPEAKERS = ("Priya Rao", "Tom")
TURN = turns()[0]


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("Tom congratulates Priya on her new flat.", False),
        ("Tom thanks Priya Rao.", False),
        ("Priya is proud of Tom.", False),
        ("Priya encouraged Tom to keep going.", False),
        ("Tom wishes Priya good luck.", False),
        ("Tom thanked his teacher.", True),
        ("Priya wishes for a dog.", True),
        ("Tom praised the soup at Momoco.", True),
        ("Priya moved to Leeds.", True),
    ],
)
def test_courtesies_between_those_who_talk_are_left_out(text: str, stays: bool) -> None:
    """Pep talk and thanks to one another are no events; what is said of others stays."""
    gists, _, left_out = without_filler([Gist(text, (TURN,))], [], SPEAKERS)

    assert (len(gists), left_out) == (int(stays), int(not stays))


def test_courteous_facts_go_too() -> None:
    """A triple says the same in three parts."""
    facts = [Statement("Tom", "congratulated", "Priya", (TURN,)), Statement("Tom", "wishes", "a dog", (TURN,))]

    assert without_filler([], facts, SPEAKERS) == ((), (facts[1],), 1)


def test_a_picture_gives_one_entry_marked_as_such() -> None:
    """What only its caption tells is told once, and says where it is from; what was said beside it is not touched."""
    said = replace(TURN, text="We adopted a cat! [image: a photo of a grey kitten on a red sofa]")
    gists = [Gist(text, (said,)) for text in ("Priya adopted a cat.", "A grey kitten lies on a red sofa.")]
    facts = [Statement("grey kitten", "sits on", "red sofa", (said,)), Statement("Priya", "adopted", "cat", (said,))]
    kept, stated, left_out = without_filler(gists, facts, SPEAKERS)

    assert [(gist.text, gist.is_pictured) for gist in kept] == [(gists[0].text, False), (gists[1].text, True)]
    assert (stated, left_out) == ((facts[1],), 1)
    assert gist_unit(kept[1], 0).text == "A grey kitten lies on a red sofa. [in a picture]"
    assert gist_unit(kept[1], 0).attributes["pictured"] is True
    assert fact_unit(replace(facts[0], is_pictured=True), 0).text == "(grey kitten, sits on, red sofa) [in a picture]"

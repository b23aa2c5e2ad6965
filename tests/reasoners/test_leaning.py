"""Turns that cannot be understood without those before them bring them along, as far back as what they change."""

import pytest

from goalmem_cli.reasoners.facts import NumberedFacts, Room, leaned_on
from goalmem_cli.records import Query, Question
from goalmem_cli.testing import ListBackbone
from tests.reasoners.scripting import MOMENT, chat


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        (("Ana: Is the doll called Ida?", "Ben: Unless she is called Osk"), 1),
        (("Ana: The lamp is 40 euros.", "Ben: Hm.", "Ana: Five more and the shade is yours as well."), 2),
        (("Ana: The lamp is 40 euros.", "Ana: With five more the shade is yours as well."), 1),
        (("Ana: We marry on 3 May.", "Ben: How lovely for you both!", "Ana: And three days after that we fly."), 2),
        (("Ana: We sail on 3 May.", "Ben: On 3 May I work.", "Ana: The next day then."), 1),
        (("Ana: I signed for the flat.", "Ben: On which terms?", "Ana: With the same terms as you."), 1),
        (("Ana: The lamp is 40 euros.", "Ben: Good.", "Ana: My sister painted the whole kitchen green today."), 0),
        (("Ben: I have 3 dogs.", "Ana: The other day I bought a blue lamp in Ghent."), 0),
        (("Ben: I have 3 dogs.", "Ana: I have one more question about your dog Rex."), 0),
        (("Ben: I have 3 dogs.", "Ana: Thanks!", "Ben: Bye"), 1),
        (("Ana: The lamp is 40 euros.",), 0),
    ],
)
def test_how_many_turns_a_turn_leans_on(lines: tuple[str, ...], count: int) -> None:
    """The turn before a reply; the one before that too where the amount or the day that it changes stands there."""
    turns = chat(*lines)
    (hit,) = [hit for hit in ListBackbone(turns, least=0).retrieve(Query(""), 9) if hit.unit.id == turns[-1].id]

    assert leaned_on(hit) == count


def test_turns_that_are_leaned_on_are_shown_in_their_order() -> None:
    """A price is shown with what changes it, though only the change was found."""
    turns = chat("Ana: The lamp is 40 euros.", "Ben: Hm.", "Ana: Five more and the shade is yours as well.")
    facts = NumberedFacts(ListBackbone(turns), Question("shade", MOMENT), "full")
    chosen = facts.choose(facts.hits("shade", 1), (), Room(9, 900, 900))

    assert [fact.text for fact in facts.block(chosen).facts] == [turn.text for turn in turns]
    assert len(chosen.hits) == 1

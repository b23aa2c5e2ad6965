"""What a message has beside its text, in the one form that all formats share."""

from datetime import UTC, datetime

from goalmem_cli.transcripts.reading.attributes import Reaction, attributes, cleaned
from goalmem_cli.transcripts.reading.told_times import Stamp

NOON = datetime(2023, 3, 5, 12, tzinfo=UTC)


def test_only_what_is_known_is_there() -> None:
    """Nothing known is no attribute at all; blank texts and reactions are none."""
    assert attributes() == {}
    assert attributes(reply_to="", quoted=" ", edited=False, reactions=[Reaction(" ")]) == {}
    assert attributes(reply_to="7", quoted=" x ", edited=Stamp(NOON)) == {
        "reply_to": "7",
        "quoted": "x",
        "edited": "2023-03-05T12:00:00+00:00",
    }


def test_an_edit_without_its_time_is_true() -> None:
    """A format may only say that there was one; a time at the edge of the calendar says no more."""
    assert attributes(edited=True) == attributes(edited=Stamp(datetime(1, 1, 1))) == {"edited": True}


def test_each_reaction_is_listed_once() -> None:
    """One reaction of several people is one, with all who are known and how many there were."""
    found = attributes(reactions=[Reaction("+", ("Ana",)), Reaction("x", count=3), Reaction("+", ("Bo", ""), 5)])
    assert found == {"reactions": [{"reaction": "+", "count": 6, "by": ["Ana", "Bo"]}, {"reaction": "x", "count": 3}]}


def test_lone_surrogates_are_replaced_anywhere() -> None:
    """What UTF-8 cannot express is replaced in texts, lists and keys."""
    assert cleaned({"a\ud800": ["\udc00", {"b": True, "c": 1}]}) == {"a\ufffd": ["\ufffd", {"b": True, "c": 1}]}

"""Conversations in stretches."""

from io import BytesIO

from goalmem_cli.transcripts import Source
from goalmem_cli.transcripts.reading.drafts import (
    STRETCH_TURNS,
    Draft,
    Message,
    conversations_from_drafts,
    whole_conversations,
)

SOURCE = Source.from_bytes(b"x", "a.json")


def test_what_is_left_out_behind_the_last_stretch_is_still_counted() -> None:
    """Blank messages at the end of a long conversation are in its notes, though no turn comes after them."""
    for kept in (STRETCH_TURNS, 2 * STRETCH_TURNS, 2 * STRETCH_TURNS + 1, 2 * STRETCH_TURNS + 2):
        messages = [Message("A", "x")] * kept + [Message("A", " ")] * 3
        stretches = list(conversations_from_drafts(SOURCE, "openai", Draft("c").fill(messages)))

        assert all(stretch.turns for stretch in stretches)
        (whole,) = whole_conversations(stretches)
        assert len(whole.turns) == kept
        assert sum(int(note.removeprefix("blank messages left out: ")) for note in whole.notes) == 3


def test_a_conversation_that_is_there_twice_is_read_once() -> None:
    """As exporters write it: the same id and the same turns. It is counted, and nothing that differs is left out so."""
    same = [Message("A", "x"), Message("B", "y")]
    drafts = (draft for said in (same, same, same[:1]) for draft in Draft("c").fill(said))
    heard: list[str] = []
    source = Source("a.json", lambda: BytesIO(b"x"), skip=lambda error: heard.append(error.reason))
    (read,) = conversations_from_drafts(source, "openai", drafts)

    assert [turn.text for turn in read.turns] == ["x", "y"]
    assert read.notes == ("conversations that are there twice, left out: 1",)
    assert heard == ["a second conversation is called 'c'"]


def test_an_id_or_title_with_half_a_character_can_be_stored() -> None:
    """It is cleaned like the texts, whichever reader gives it and whenever."""
    for own_id, title in (("a\ud800", None), (None, "a\ud800")):
        draft = Draft()
        draft.own_id, draft.title = own_id, title
        (read,) = conversations_from_drafts(SOURCE, "openai", draft.fill([Message("A", "x")]))
        assert read.name == "a\ufffd"
        assert read.own_id == (None if own_id is None else "a\ufffd")

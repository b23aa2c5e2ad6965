"""Chats of Viber in CSV without a header."""

from datetime import datetime

import pytest

from goalmem_cli.errors import UnclearDates
from goalmem_cli.transcripts.formats import conversations_in
from goalmem_cli.transcripts.reading.source import Source
from tests.transcripts.reading import read_bytes

CHAT = (
    '01/02/2026,10:00:05,Mira Holt,+441230,"Late, the boat?"\n'
    "01/02/2026,10:00:09,Otto,+441231,By an hour, says\n"
    "the skipper.\n"
    "01/02/2026,10:00:10,Otto,+441231,\n"
    '13/02/2026,09:00:00,Mira Holt,+441230,"She said ""never"".\nTea?"\n'
)


def test_a_chat_as_golden() -> None:
    """Commas and line feeds belong to the text, quoted or not; a message of media is blank."""
    (chat,) = read_bytes(CHAT.encode(), "Mira.csv")

    assert (chat.name, chat.format) == ("Mira", "viber")
    assert [(turn.speaker, turn.text, turn.said) for turn in chat.turns] == [
        ("Mira Holt", "Late, the boat?", datetime(2026, 2, 1, 10, 0, 5)),
        ("Otto", "By an hour, says\nthe skipper.", datetime(2026, 2, 1, 10, 0, 9)),
        ("Mira Holt", 'She said "never".\nTea?', datetime(2026, 2, 13, 9)),
    ]
    assert [turn.session for turn in chat.turns] == [0, 0, 1]
    assert len({turn.own_id for turn in chat.turns}) == 3
    assert chat.notes == ("blank messages left out: 1",)


def test_who_has_no_name_is_called_by_the_number() -> None:
    """In a group with strangers."""
    (chat,) = read_bytes(b"13/02/2026,10:00:05,,+441230,Late?\n13/02/2026,10:00:09,Otto,,Yes.\n", "a.csv")
    assert [turn.speaker for turn in chat.turns] == ["+441230", "Otto"]


def test_dates_that_leave_the_day_open_are_asked_about() -> None:
    """As in other chats."""
    rows = b"1/2/2026,10:00:05 AM,Mira,+441230,Late?\n1/2/2026,10:00:09 AM,Otto,+441231,Yes.\n"
    with pytest.raises(UnclearDates):
        read_bytes(rows, "a.csv")


def test_a_row_with_an_impossible_day_is_counted_as_nearly_a_message() -> None:
    """It stays text of the message before, and its file knows of it."""
    source = Source.from_bytes(f"{CHAT}99/99/2026,09:00:01,Otto,+441231,Hm\n".encode(), "a.csv")
    (chat,) = conversations_in(source)
    assert len(chat.turns) == 3
    assert len(source.missed) == 1

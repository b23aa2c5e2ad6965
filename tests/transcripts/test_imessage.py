"""The reader of iMessage chats as imessage-exporter writes them."""

from datetime import datetime
from functools import partial

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.records import Turn
from tests.transcripts.reading import detect, read_one

CHAT = """\
May 17, 2022  5:29:42 PM (Read by you after 1 minute, 3 seconds)
+15558675309
Where do we stay?

In Lisbon, I mean.
Tapbacks:
    Loved by Me
    😀 by +15558675309

    May 17, 2022  5:31:00 PM
    Me
    Baixa

on the left bank

May 17, 2022  5:31:00 PM
Me
Baixa

on the left bank
This message responded to an earlier message.

May 17, 2022  5:32:00 PM +15558675309 named the conversation Lisbon

May 17, 2022  5:33:00 PM
+15558675309
attachments/AB/CD/IMG 12.HEIC
the view
Sent with Confetti

May 17, 2022  5:34:00 PM
Me
May 17, 2022  5:34:00 PM I'll bok
Edited 8 seconds later: I'll booc
Edited 4 seconds later: I'll book
the flat

May 17, 2022  5:35:00 PM
Me
You deleted a message.

May 17, 2022 11:35:00 PM
+15558675309
May 17, 2022  5:29:42 PM was when I asked
/Users/ana/Library/Messages/Attachments/ab/12/a.jpeg
see /etc/hosts
"""
read = partial(read_one, name="+15558675309.txt", format="imessage")


def test_reads_a_chat_as_golden() -> None:
    """Texts of several paragraphs; what the exporter adds is taken out; an answer stands at its own time only."""
    conversation = read(CHAT)
    ids = [turn.own_id for turn in conversation.turns]
    name, other = "+15558675309", "+15558675309"
    turns = (
        Turn(name, 0, 0, other, "Where do we stay?\n\nIn Lisbon, I mean.", datetime(2022, 5, 17, 17, 29, 42), ids[0],
             attributes={"reactions": [{"reaction": "Loved", "count": 1, "by": ["Me"]},
                                       {"reaction": "😀", "count": 1, "by": [other]}]}),
        Turn(name, 0, 1, "Me", "Baixa\n\non the left bank", datetime(2022, 5, 17, 17, 31), ids[1],
             attributes={"reply_to": ids[0]}),
        Turn(name, 0, 2, other, "the view", datetime(2022, 5, 17, 17, 33), ids[2]),
        Turn(name, 0, 3, "Me", "I'll book\nthe flat", datetime(2022, 5, 17, 17, 34), ids[3],
             attributes={"edited": True}),
        Turn(
            name, 0, 4, other, "May 17, 2022  5:29:42 PM was when I asked\nsee /etc/hosts",
            datetime(2022, 5, 17, 23, 35), ids[4],
        ),
    )  # fmt: skip
    assert conversation.turns == turns
    assert sorted(conversation.notes) == [
        "answers shown below what they answer left out: 1",
        "attachments left out: 2",
        "deleted messages left out: 1",
        "notices left out: 1",
    ]
    assert detect("chat.txt", CHAT.encode()) == detect("-", CHAT.encode()) == "imessage"


def test_a_time_in_a_text_begins_no_message() -> None:
    """A time begins a message only behind a blank line, with a sender below it."""
    conversation = read("May 17, 2022  5:29:42 PM\nMe\nat\nMay 17, 2022  5:29:42 PM\nsharp\n")
    assert [turn.text for turn in conversation.turns] == ["at\nMay 17, 2022  5:29:42 PM\nsharp"]


def test_an_impossible_time_is_an_error_with_its_line() -> None:
    """The place is the line."""
    with pytest.raises(InputError) as caught:
        read("May 47, 2022  5:29:42 PM\nMe\nx\n")
    assert (caught.value.place, caught.value.reason[:30]) == ("line 1", "'May 47, 2022  5:29:42 PM' is ")


def test_what_stands_behind_an_answer_is_counted() -> None:
    """It may be more of the message, or a further paragraph of the answer; that the message is an answer is known."""
    parts = """\
May 17, 2022  5:29:42 PM
Me
First.

May 17, 2022  5:30:00 PM
Ana
Look
    May 17, 2022  5:31:00 PM
    Me
    Lovely

and at this
This message responded to an earlier message.

May 17, 2022  5:31:00 PM
Me
Lovely
This message responded to an earlier message.
"""
    conversation = read(parts)
    assert [turn.text for turn in conversation.turns] == ["First.", "Look", "Lovely"]
    assert "lines behind answers left out, since nobody can tell whose they are: 1" in conversation.notes

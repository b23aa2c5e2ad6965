"""Messages copied from Telegram Desktop, and DiscordChatExporter's plain text."""

from __future__ import annotations

from datetime import datetime

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts import detect, read_bytes

TELEGRAM = """\
Ana Reis, [13.05.2024 10:00]
Where do we stay?
Near the river?

Ben Ott, [13.05.2024 10:01]
[In reply to Ana Reis]
Baixa, it is flat.

Ana Reis, [13.05.2024 10:02]
[Photo]

Ben Ott, [14.05.2024 09:00]
[Forwarded from Cy]
I am vegan since March.
"""
BAR = "=" * 62
DISCORD = f"""\
{BAR}
Guild: Boats
Channel: Harbour / repairs
{BAR}

[5/13/2024 10:00 AM] ana#0001
The mast is cracked.

{{Attachments}}
https://example.org/mast.png

{{Reactions}}
sad (2) \n
[5/13/2024 10:01 PM] ben (pinned)
I have glue. [5/13/2024] is the day.

{BAR}
Exported 2 message(s)
{BAR}
"""


def test_copied_from_telegram() -> None:
    """Replies lose their mark, media is counted, and what is forwarded is its author's."""
    (chat,) = read_bytes(TELEGRAM.encode(), "chat.txt")

    assert detect("chat.txt", TELEGRAM.encode()) == chat.format == "copied-messages"
    assert [(turn.speaker, turn.text, turn.said) for turn in chat.turns] == [
        ("Ana Reis", "Where do we stay?\nNear the river?", datetime(2024, 5, 13, 10)),
        ("Ben Ott", "Baixa, it is flat.", datetime(2024, 5, 13, 10, 1)),
        ("Ben Ott", "[forwarded from Cy] I am vegan since March.", datetime(2024, 5, 14, 9)),
    ]
    assert chat.turns[2].attributes["forwarded_from"] == "Cy"
    assert chat.notes == ("messages of media alone left out: 1",)


def test_the_plain_text_of_discord_chat_exporter() -> None:
    """Only the message's own text is kept, under the channel's name."""
    (chat,) = read_bytes(DISCORD.encode(), "export.txt")

    assert (chat.name, chat.format) == ("repairs", "copied-messages")
    assert [(turn.speaker, turn.text, turn.said) for turn in chat.turns] == [
        ("ana#0001", "The mast is cracked.", datetime(2024, 5, 13, 10)),
        ("ben", "I have glue. [5/13/2024] is the day.", datetime(2024, 5, 13, 22, 1)),
    ]
    assert chat.notes == ("attachments, embeds, stickers and reactions left out: 2",)


@pytest.mark.parametrize(
    "text",
    [
        "See Smith, [2019].\nAs Jones, [2020] says.\n",
        "Ana, [13.05.2024 10:00]\nHello.\n",
        "[13.05.2024 10:00] started\nok\n",
    ],
)
def test_other_texts_are_none(text: str) -> None:
    """Citations, one such line, and logs."""
    with pytest.raises(InputError):
        detect("a.txt", text.encode())

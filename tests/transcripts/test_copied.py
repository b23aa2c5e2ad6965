"""Messages copied from Telegram Desktop, and DiscordChatExporter's plain text."""

from datetime import datetime
from time import perf_counter

import pytest

from goalmem_cli.errors import InputError
from tests.transcripts.reading import detect, read_bytes

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
    assert chat.notes == ("attachments, embeds, stickers and reactions left out: 1",)


def of_discord(*texts: str) -> str:
    """Return an export with a message of each text."""
    said = "".join(f"[5/13/2024 10:{minute:02} AM] ana\n{text}\n\n" for minute, text in enumerate(texts))
    return DISCORD[: DISCORD.index("[")] + said


def texts_of(text: str, name: str = "chat.txt") -> tuple[list[str], tuple[str, ...]]:
    """Return what was said, and what was counted."""
    (chat,) = read_bytes(text.encode(), name, "copied-messages")
    return [turn.text for turn in chat.turns], chat.notes


def test_what_stands_below_a_message_in_discord_is_not_said() -> None:
    """An embed has paragraphs; a line that only begins as one is said. What the program says is a notice."""
    embed = "Look at this.\n\n{Embed}\nhttps://x.org\nA title\n\nA paragraph.\n\nAnother.\n\n{Reactions}\nsad (2)"
    words = "{Attachments} is what it writes.\n\nSo it is. [Photo]"
    notices = ["Joined the server.", "Pinned a message.", "Started a call that lasted 1,234 minutes."]
    said, notes = texts_of(of_discord(embed, words, *notices, "He said: Joined the server.\n[Photo]"))

    assert said == ["Look at this.", words, "He said: Joined the server.\n[Photo]"]
    assert notes == ("attachments, embeds, stickers and reactions left out: 1", "notices left out: 3")


@pytest.mark.parametrize(
    "words",
    [
        "I like [Video games].",
        "[File a report]",
        "[Contact us]",
        "[Video games]",
        "see [Photo] there",
        "[Voices, many]",
    ],
)
def test_words_in_brackets_are_the_persons(words: str) -> None:
    """Only a line that stands for media is left out."""
    assert texts_of(TELEGRAM.replace("Near the river?", words))[0][0] == f"Where do we stay?\n{words}"


@pytest.mark.parametrize(
    "media",
    [
        "[Photo]", "[ Photo ]", "[Voice message]", "[ Voice message, 0:07 ]", "[File : name.pdf]", "[ Video message ]",
        "[Sticker \U0001f600]", "[ \u2764\ufe0f Sticker ]", "[Photo]\n[Photo]",
    ],
)  # fmt: skip
def test_media_is_left_out(media: str) -> None:
    """Alone it is counted; beside words, these are kept."""
    said, notes = texts_of(TELEGRAM.replace("[Photo]", media).replace("Near the river?", media))
    assert said[0] == "Where do we stay?"
    assert (len(said), notes) == (3, ("messages of media alone left out: 1",))


def test_a_head_inside_a_message_is_quoted() -> None:
    """A message begins first, below a blank line, or below a message without text."""
    pasted = "Carl, [12.05.2024 09:00]\nAre you there?"
    said, _ = texts_of(TELEGRAM.replace("Near the river?", pasted))
    assert said[0] == f"Where do we stay?\n{pasted}"

    noted = "My plan:\n[5/14/2024 9:00 AM] standup notes\n[5/14/2024 9:30 AM] coffee"
    assert texts_of(of_discord(noted, "Good."))[0] == [noted, "Good."]

    empty = TELEGRAM.replace("[Photo]\n\n", "")
    assert texts_of(empty) == (
        ["Where do we stay?\nNear the river?", "Baixa, it is flat.", "[forwarded from Cy] I am vegan since March."],
        ("blank messages left out: 1",),
    )


def test_a_long_path_of_a_channel_takes_no_time() -> None:
    """Its last part is the name; looking for it once took time with the square of the length."""
    head = DISCORD.replace("Harbour / repairs\n", "a" + " / " * 20_000)
    begun = perf_counter()
    with pytest.raises(InputError):
        detect("a.txt", head[: head.index("[")].rstrip("=\n").encode())
    assert perf_counter() - begun < 1


@pytest.mark.parametrize(
    "text",
    [
        "See Smith, [2019].\nAs Jones, [2020] says.\n",
        "Ana, [13.05.2024 10:00]\nHello.\n",
        "[13.05.2024 10:00] started\nok\n",
        "v1.2, [2020-01-01 10:00]\nFaster.\n\n1.1.0-rc1, [2019-01-01 10:00]\nSmaller.\n",
        "Ana, [13.05.2024 10:00]\nShe said:\nCarl, [12.05.2024 09:00]\nHello.\n",
    ],
)
def test_other_texts_are_none(text: str) -> None:
    """Citations, one such line, logs, notes on versions, and one message with another pasted in."""
    with pytest.raises(InputError):
        detect("a.txt", text.encode())

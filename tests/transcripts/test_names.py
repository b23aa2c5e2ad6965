"""The reader of plain texts with names before colons."""

from datetime import UTC, datetime
from functools import partial

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation, Turn
from tests.transcripts.reading import detect, read_bytes, read_one

TALK = """\
Ana: Where do we stay?
Ben: Baixa.

It is flat: no hills.
note: ask Cy
Dr. Cy Ott : Indeed.
Ana:
In Alfama?
see http://x.org
"""
read = partial(read_one, name="talk.txt", format="names")


def test_reads_a_text_as_golden() -> None:
    """Who comes back or has the form of a name speaks; other lines stay with what was said before."""
    turns = (
        Turn("talk", 0, 0, "Ana", "Where do we stay?"),
        Turn("talk", 0, 1, "Ben", "Baixa.\n\nIt is flat: no hills.\nnote: ask Cy"),
        Turn("talk", 0, 2, "Dr. Cy Ott", "Indeed."),
        Turn("talk", 0, 3, "Ana", "In Alfama?\nsee http://x.org"),
    )
    notes = ("lines that look nearly like a message, not read as one (the first: 'It is flat: no hills.'): 2",)
    assert read(TALK) == Conversation("talk", "names", turns, None, notes)
    assert {detect(name, TALK.encode()) for name in ("talk.txt", "talk.md", "-")} == {"names"}


def test_a_title_and_days_may_stand_above() -> None:
    """As people write their own notes; a line of code in what somebody says is no heading."""
    text = "# Our trip\n\n## 3 May 2026\nAna: Where do we stay?\nBen: Baixa.\n# apt install maps\n\n## 5 May 2026\nAna: Good one.\nBen: So it is.\nAna: Bye.\n"
    conversation = read(text)

    assert [(turn.speaker, turn.text, turn.said and turn.said.day, turn.session) for turn in conversation.turns] == [
        ("Ana", "Where do we stay?", 3, 0), ("Ben", "Baixa.\n# apt install maps", 3, 0), ("Ana", "Good one.", 5, 1),
        ("Ben", "So it is.", 5, 1), ("Ana", "Bye.", 5, 1),
    ]  # fmt: skip
    assert detect("trip.md", text.encode()) == "names"


@pytest.mark.parametrize(
    "text",
    [
        "3 May 2026\nAna: The code?\nBen:\n7719\nAna: Thanks.\n5 May 2026\nBen: So it is.\nAna: Bye.\n",
        "Our trip\n\n2026-05-03\n\nAna: The code?\nBen:\n7719\nAna: Thanks.\n\nTuesday, May 5, 2026\nBen: So it is.\nAna: Bye.\n",
    ],
)
def test_plain_lines_with_a_date_tell_the_day(text: str) -> None:
    """At the top, below an empty line, or anywhere if the file begins with one; a number alone is no date."""
    conversation = read(text)

    assert [(turn.speaker, turn.text, turn.said and turn.said.day) for turn in conversation.turns] == [
        ("Ana", "The code?", 3), ("Ben", "7719", 3), ("Ana", "Thanks.", 3), ("Ben", "So it is.", 5), ("Ana", "Bye.", 5),
    ]  # fmt: skip
    assert detect("trip.txt", text.removeprefix("Our trip\n\n").encode()) == "names"


def test_a_date_in_what_somebody_says_stays_text() -> None:
    conversation = read("Ana: When is it?\nBen: Let me look.\n3 May 2026\nAna: Good.\n")

    assert [(turn.text, turn.said) for turn in conversation.turns][1] == ("Let me look.\n3 May 2026", None)


@pytest.mark.parametrize("top", ["", "5 March 2024\n"])
def test_a_day_that_somebody_tells_is_no_heading(top: str) -> None:
    """It stands alone, is announced, or is before the days of the talk."""
    text = (
        f"{top}Ann: When were you born?\nBob: This is the day:\n\n12 March 1990\n\nAnn: Thank you, Bob.\nBob: Gladly.\n"
    )
    for asked in (text, text.replace("day:", "day.")):
        turns = read(asked).turns
        assert turns[1].text.endswith("12 March 1990")
        assert {turn.said and turn.said.year for turn in turns} == ({2024} if top else {None})
        assert detect("talk.txt", asked.encode()) == "names"


def test_headings_end_what_was_said() -> None:
    """They are counted, as is the text below them; one with a number that is no date makes the day unknown."""
    text = (
        "# Our trip\n## 3 May 2026\nAna: Where?\nBen: Baixa.\n\n## Food\n\nWe went out.\nIt rained.\n\nAna: Fish.\n\n"
        "## 5/13/2026\nBen: Cod.\nAna: Salt.\n\n## 14 May 2026\nBen: Bye.\n"
    )
    conversation = read(text)

    assert [(turn.speaker, turn.text, turn.said and turn.said.day) for turn in conversation.turns] == [
        ("Ana", "Where?", 3), ("Ben", "Baixa.", 3), ("Ana", "Fish.", 3), ("Ben", "Cod.", None), ("Ana", "Salt.", None),
        ("Ben", "Bye.", 14),
    ]  # fmt: skip
    assert {"titles and headings left out: 3", "lines outside any message left out: 2"} <= set(conversation.notes)


def test_front_matter_stands_above_and_tells_the_day() -> None:
    """Its fields are nobody's words."""
    text = "---\nTopic: boats\nTopic2: x\ncreated: 2026-03-05T10:00:00Z\n---\nMira: Is the boat late?\nOtto: Yes, by an hour.\nMira: Why?\n"
    assert detect("a.md", text.encode()) == "names"
    (chat,) = read_bytes(text.encode(), "a.md")
    day = datetime(2026, 3, 5, 10, tzinfo=UTC)
    assert [(turn.speaker, turn.said) for turn in chat.turns] == [("Mira", day), ("Otto", day), ("Mira", day)]
    assert chat.notes == ()


def test_code_in_a_message_has_no_headings() -> None:
    """Neither where the fence begins on the speaker's line, nor below it."""
    code = "```sh\nls\n\n# list 3 files\nls -l\n```"
    conversation = read(f"# Notes\n\nAna: {code}\nBen: So:\n{code}\n\n# Later\nAna: Good.\n")
    assert [turn.text for turn in conversation.turns] == [code, f"So:\n{code}", "Good."]


def test_roles_are_known() -> None:
    """Chats with a model, copied by hand. A tool is hidden in a search, so a bare name makes none."""
    conversation = read("User: Hi\nAssistant: Hello\nUser: Bye\nSystem: Off.\nTool: No.\nObservation: It is.\n")
    assert [turn.role for turn in conversation.turns] == ["user", "assistant", "user", "system", None, None]


@pytest.mark.parametrize(
    "text",
    [
        "Title: a\nAuthor: b\nVersion: c\nStatus: d\n",
        "INFO: started\nERROR: x\nINFO: y\nINFO: z\n",
        "Dear Ana,\nAna: hi\nBen: ho\nAna: hm\n",
        "Name: Ana Reis\nAge: 3\nName: Ben Ott\nAge: 4\n",
        "Ana: hi\nAna: ho\nAna: hm\n",
        "From: a@b.c\nTo: d@e.f\nFrom: x\nTo: y\n",
        "Ana: hi\nBen: ho\n",
        "# Setup\n\nName: use your own one.\nPort: any will do.\nName: not root.\nThe rest is\nas it was\nbefore, see\n",
        "Ana: hi\nBen: ho\nAna: hm\n" + "and so on\n" * 60,
        "# 3 May 2026\nMorning: I ran far.\nEvening: I read a book.\n\n# 4 May 2026\nMorning: I slept.\nEvening: We went out.\n",
        "3 May 2026\nMorning: I ran far.\nEvening: I read a book.\n\n4 May 2026\nMorning: I slept.\nEvening: We went out.\n",
        "## 5/13/2026\nMood: all good.\nGrateful: for the sun.\n\n## 5/14/2026\nMood: not good.\nGrateful: for tea.\n",
    ],
)
def test_other_texts_are_none(text: str) -> None:
    """Settings, logs, letters, one person's notes, diaries, and texts with little speech in them."""
    with pytest.raises(InputError, match=r"in none of the accepted formats|looks like a document"):
        detect("a.txt", text.encode())

"""The Markdown reader."""

from datetime import UTC, datetime
from functools import partial

import pytest

from goalmem_cli.errors import InputError, UnknownFormat
from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import Source, conversations_in
from goalmem_cli.transcripts.reading.drafts import whole_conversations
from tests.transcripts.reading import check_refused, detect, read_one, said_in

read = partial(read_one, name="walk.md", format="markdown")


BOLD = """\
# A walk

# 8 May 2023

**Alice:** Hi
there,

- a list

**Ben** (14:30): Hello
```python
# 9 May 2023
**Alice:** not me
```
---

## 2023-05-09 18:00

**Alice** (2023-05-09T18:05:00Z): Later
**Ben (7 pm)**: Bye
**Ben (7:00 pm):** Really
"""


def test_bold_names_as_golden() -> None:
    """Bold names, multi-line turns, fences, date headings, and times of turns that stand for themselves."""
    day, evening = datetime(2023, 5, 8), datetime(2023, 5, 9, 18)
    code = "Hello\n```python\n# 9 May 2023\n**Alice:** not me\n```"
    turns = (
        Turn("walk", 0, 0, "Alice", "Hi\nthere,\n\n- a list", day),
        Turn("walk", 0, 1, "Ben", code, datetime(2023, 5, 8, 14, 30)),
        Turn("walk", 1, 2, "Alice", "Later", datetime(2023, 5, 9, 18, 5, tzinfo=UTC)),
        Turn("walk", 1, 3, "Ben (7 pm)", "Bye", evening),
        Turn("walk", 1, 4, "Ben", "Really", datetime(2023, 5, 9, 19)),
    )
    notes = ("titles left out: 1", "turns dated by day only, kept as 00:00 of that day: 1")
    assert read(BOLD) == Conversation("walk", "markdown", turns, None, notes)


HEADINGS = """\
Exported on Monday

## User

How do I knead?

## Assistant (2023-05-08 14:30)

**Step 1:** wash your hands
### Then
knead.

## **User:** ##
Thanks

# The end
an advertisement
"""


def test_heading_names_as_golden() -> None:
    """With headings as names, bold lines and deeper headings are text; shallower ones end a turn; roles are known."""
    turns = (
        Turn("walk", 0, 0, "User", "How do I knead?", role="user"),
        Turn("walk", 0, 1, "Assistant", "**Step 1:** wash your hands\n### Then\nknead.",
             datetime(2023, 5, 8, 14, 30), role="assistant"),
        Turn("walk", 0, 2, "User", "Thanks", role="user"),
    )  # fmt: skip
    notes = ("lines outside any turn left out: 2", "headings above the speakers' level left out: 1")
    conversation = read(HEADINGS)

    assert conversation.turns == turns
    assert set(conversation.notes) == set(notes)


@pytest.mark.parametrize(
    "line",
    ["**Ann:** hi", "**Ann**: hi", "**Ann** (8 May 2023): hi", "**Ann (2023-05-08 14:30):** hi", "**Ann:**hi"],
)
def test_forms_of_bold_names(line: str) -> None:
    """Every documented form of a bold name opens a turn."""
    assert said_in(read(line)) == [("Ann", "hi")]


@pytest.mark.parametrize(
    "line",
    ["**Ann** hi", "x **Ann:** hi", " **Ann:** hi", "**Important** (see below): hi", "*Ann:* hi", "**:** hi", "** : ** hi", "**_ (14:30)**: hi",
     "#Ann: hi"],
)  # fmt: skip
def test_lines_that_are_text(line: str) -> None:
    """Bold words elsewhere, without a colon, or with other parentheses are text of the turn."""
    assert said_in(read(f"**Ben:** first\n{line}")) == [("Ben", f"first\n{line}")]


@pytest.mark.parametrize(
    "heading",
    [
        "# 8 May 2023",
        "### May 8, 2023",
        "## Monday, 8 May 2023",
        "# 2023-05-08",
        "#### 8th May 2023 ####",
        "# **8 May 2023**",
    ],
)
def test_forms_of_date_headings(heading: str) -> None:
    """Every documented form of a date, at any level, dates the turns below it."""
    assert [turn.said for turn in read(f"{heading}\n**Ann:** hi").turns] == [datetime(2023, 5, 8)]


def test_names_at_the_top_level() -> None:
    """Level-1 headings are names when there are several; a lone one above other names is the title."""
    assert said_in(read("# Ann\nhi\n# Ben\nho")) == [("Ann", "hi"), ("Ben", "ho")]
    assert said_in(read("# Ann\nhi")) == [("Ann", "hi")]
    assert said_in(read("# A chat\n## Ann\nhi\n## Ben\nho")) == [("Ann", "hi"), ("Ben", "ho")]


def test_without_date_headings_a_gap_starts_a_session() -> None:
    """Where no heading gives a date, eight hours between the turns' own times do."""
    conversation = read("**A** (2023-05-08 08:00): x\n**B** (2023-05-08 16:01): y\n**A:** z")

    assert [turn.session for turn in conversation.turns] == [0, 1, 1]
    assert conversation.turns[2].said is None


def test_a_time_of_day_needs_a_date() -> None:
    """Without a date above it, a time of day says nothing that could be kept, and is counted."""
    conversation = read("**A** (14:30): x")

    assert conversation.turns[0].said is None
    assert conversation.notes == ("times of day without a date ignored: 1",)


FRONT = "---\ntitle: A walk\ntags:\n  - sea\n{}\n---\n"
TALK = "**Ann:** Is it late?\n\n**Ben** (9:10 am): No.\n\n**Ann:** Good.\n"


@pytest.mark.parametrize(
    ("fields", "day"),
    [
        ("date: 2023-05-08", datetime(2023, 5, 8)),
        ("Date: '8 May 2023'", datetime(2023, 5, 8)),
        ("created: [[2023-05-08]]", datetime(2023, 5, 8)),
        ("date_created: 2023-05-08\nupdated: 2023-06-01", datetime(2023, 5, 8)),
        ("updated: 2023-05-08", None),
        ("date: 2023-05-08 # as I remember", datetime(2023, 5, 8)),
        ("date: soon\ncreated: 2023-05-08", datetime(2023, 5, 8)),
        ("created: 2023-06-01\ndate: 2023-05-08", datetime(2023, 5, 8)),
        ("date: 05/08/2023", None),
        ("# date: 2023-05-08", None),
        ("published: 2023-05-08", None),
    ],
)  # fmt: skip
def test_the_front_matter_tells_the_day(fields: str, day: datetime | None) -> None:
    """It holds for turns below that have no time of their own, by the surest of its dates."""
    text = FRONT.format(fields) + TALK
    assert detect("a.md", text.encode()) == "markdown"
    clock = None if day is None else day.replace(hour=9, minute=10)
    assert [turn.said for turn in read(text).turns] == [day, clock, day]
    assert said_in(read(text)) == [("Ann", "Is it late?"), ("Ben", "No."), ("Ann", "Good.")]
    assert not any("outside" in note for note in read(text).notes)
    later = read(text + "\n## 1 July 2023\n\n**Ben:** Late.\n")
    assert later.turns[-1].said == datetime(2023, 7, 1)


@pytest.mark.parametrize(
    "text",
    [
        "---\nonly: begun\n" + TALK,
        "---\na walk by the sea\n---\n" + TALK,
        "\n---\ndate: 2023-05-08\n---\n" + TALK,
        "---\nUser: 2023-05-08\n---\n" + TALK,
        "---\ndate: 2023-05-08\ndate: 2023-05-09\n---\n" + TALK,
    ],
)
def test_other_rules_are_no_front_matter(text: str) -> None:
    """It is fields between two rules, from the first line on."""
    assert [turn.said for turn in read(text).turns] == [None, None, None]


@pytest.mark.parametrize(
    "fenced",
    ["```\n## B\n```", "~~~~\n```\n**B:** x\n~~~\n~~~~", "1. step\n    ```\n# B\n    ```", "```sh\n**B:** `x`\n`````"],
)
def test_fences_hold_text_only(fenced: str) -> None:
    """Nothing in a code fence is a name or a date, whatever its marks, length or indent."""
    for opening in ("**A:** ", "**A:**\n"):
        assert said_in(read(f"{opening}{fenced}\n**C:** y")) == [("A", fenced), ("C", "y")]


def test_an_open_fence_is_reported() -> None:
    """A fence that is never closed holds the rest of the file, and the notes say so."""
    conversation = read("**A:** x\n```\n**B:** y")

    assert len(conversation.turns) == 1
    assert conversation.notes == ("code fences that are never closed: 1",)


def test_a_long_chat_comes_in_stretches() -> None:
    """A file is never in memory as a whole: turns are handed on by the thousand, and sessions go on across that."""
    day = "# 8 May 2023\n" + "**A:** x\n\n**B:** y\n\n" * 4_000
    stretches = list(conversations_in(Source.from_bytes(f"{day}{day}".encode(), "a.md")))

    assert [len(stretch.turns) for stretch in stretches] == [5_000, 5_000, 5_000, 1_000]
    assert [stretch.continues for stretch in stretches] == [False, True, True, True]
    (whole,) = whole_conversations(stretches)
    assert [turn.ordinal for turn in whole.turns] == list(range(16_000))
    assert [turn.session for turn in whole.turns] == [0] * 8_000 + [1] * 8_000


def test_blank_turns_are_left_out() -> None:
    """A name with nothing under it is counted, not kept."""
    conversation = read("**A:**\n\n---\n**B:** y\r\n**A:** z\r")

    assert [(turn.ordinal, turn.text) for turn in conversation.turns] == [(0, "y"), (1, "z")]
    assert conversation.notes == ("blank messages left out: 1",)


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("## 08/05/2023\n**A:** x\n", "line 1", "'08/05/2023' is not a date that can be read one way only"),
        ("nobody speaks", "", "no messages found"),
        ("## A\n## B\n", "", "no messages found"),
    ],
)
def test_errors_name_the_line(text: str, place: str, reason: str) -> None:
    """What stands in the place of a time and is none is an error with its line."""
    check_refused(read, text, place, reason)


def test_names_that_nothing_marks_are_an_error_that_says_how_to_mark_them() -> None:
    """A chat typed as ``Ann: Hello.`` has no speakers; the hint has the form that has."""
    with pytest.raises(InputError) as caught:
        read("# Chat\n\n## 6 March 2026\n\nAnn: Hello.\nBen: Hi.\n")

    assert "**Ann:** Hello." in caught.value.hint


DOCUMENTS = {
    "headings": "# Bramble\n\nCounts hedgehogs.\n\n## Installing\n\nType `make`.\n\n## Licence\n\nMIT.\n",
    "one comment": "# for the tests\nhedgehog==1.0\nbramble>=2\n",
    "one speaker": "**Ana:** I moved to Leeds.\n",
    "two that do not come back": "## Ana\nhi\n## Ben\nho\n",
    "changelog": "# Changelog\n\n### Added\n- a\n### Fixed\n- b\n### Added\n- c\n### Fixed\n- d\n",
    "dated changelog": "## 2024-01-02\n### Added\n- a\n### Fixed\n- b\n## 2024-02-02\n### Added\n- c\n### Fixed\n- d\n",
    "interface": "# f\n**Parameters:** x\n\n**Returns:** y\n# g\n**Parameters:** x\n\n**Returns:** y\n",
    "warnings": "**Note:** Mind the gap.\n\n**Warning:** It is deep.\n\n**Note:** Mind it again.\n",
    "frequent questions": "**Q:** Is it late?\n\n**A:** Yes.\n\n**Q:** Why?\n\n**A:** Fog.\n",
    "lists": "**Harbour:**\n- one\n- two\n\n**Pier:**\n- one\n\n**Harbour:**\n- three\n",
    "sections with bold words": "# A\n**Ann**: x\n## B\n**Ben**: y\n## C\n**Ann**: z\n## D\n**Ben**: w\n",
    "much before": "\n".join([*["This is about the harbour."] * 20, "**Ann:** x", "**Ben:** y", "**Ann:** z"]),
    "roles of one side": "## User\nHas a name.\n\n## System\nHas a clock.\n",
}


@pytest.mark.parametrize("name", ["README.md", "notes.txt"])
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_documents_are_no_transcripts(kind: str, name: str) -> None:
    """Headings and bold words of a document are not people; `--format markdown` says otherwise."""
    with pytest.raises(UnknownFormat):
        detect(name, DOCUMENTS[kind].encode())
    assert read(DOCUMENTS[kind]).turns


@pytest.mark.parametrize(
    ("one", "other"),
    [("User", "Assistant"), ("HUMAN", "ASSISTANT"), ("You", "ChatGPT"), ("🧑 You", "🤖 Claude"), ("Me", "GPT-4o"),
     ("Prompt", "Response"), ("user", "Gemini 2.5 Pro")],
)  # fmt: skip
def test_both_sides_of_a_chat_are_a_transcript(one: str, other: str) -> None:
    """Two headings are enough then; each has its role, and headings of an answer are text."""
    text = f"# Boats\n\n**Model:** x\n\n## {one}\n\nIs it late?\n\n## {other}\n\nYes.\n\n## Why\n\nFog.\n"
    assert detect("a.md", text.encode()) == "markdown"
    assert [(turn.role, turn.text) for turn in read(text).turns] == [
        ("user", "Is it late?"), ("assistant", "Yes.\n\n## Why\n\nFog."),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("**A:** x\n\n# 31 February 2023\n**B:** y\n", [None, None]),
        ("**A** (2023-13-08 14:30): x\n**B** (2023-01-08 14:30): y\n", [None, datetime(2023, 1, 8, 14, 30)]),
        ("**A** (25:00): x\n", [None]),
        ("**A** (about 14:30): x\n", [None]),
    ],
)
def test_what_is_no_time_leaves_the_turn(text: str, times: list[datetime | None]) -> None:
    """What was said is kept, its time is unknown, and the notes say so."""
    conversation = read(text)

    assert [turn.said for turn in conversation.turns] == times
    assert any("times that cannot be read, left unknown" in note for note in conversation.notes)

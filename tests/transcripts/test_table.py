"""The reader of tables."""

from datetime import UTC, datetime

import pytest

from goalmem_cli.errors import InputError, UnclearDates
from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import Source, conversations_in
from goalmem_cli.transcripts.reading.drafts import whole_conversations
from tests.transcripts.reading import detect, read_bytes, said_in

FULL = """\
message_id,channel_id,created_at,sender,role,content
m1,trip-to-lisbon-1,2023-03-05T21:15:00Z,Ana,user,Where do we stay?
m2,trip-to-lisbon-1,2023-03-05T21:16:00Z,Guide,assistant,"Baixa, it is
flat ""enough"", no?"
m3,x,2023-03-05T21:17:00Z,Ana,user,Bye

m4,x,,Ana,user,
"""


def read(table: str, name: str = "talk.csv", **columns: str) -> list[Conversation]:
    """Return the conversations of a table, of which somebody may have said what its columns hold."""
    source = Source.from_bytes(table.encode(), name)
    source.columns = columns
    return whole_conversations(conversations_in(source))


def test_reads_a_table_as_golden() -> None:
    """Ids, conversations, times, roles, quotes and lines in cells; blank rows and texts are no messages."""
    said = [datetime(2023, 3, 5, 21, minute, tzinfo=UTC) for minute in (15, 16, 17)]
    long, short = "trip-to-lisbon-1", "talk x"
    assert read(FULL) == [
        Conversation(
            long,
            "table",
            (
                Turn(long, 0, 0, "Ana", "Where do we stay?", said[0], "m1", "user"),
                Turn(long, 0, 1, "Guide", 'Baixa, it is\nflat "enough", no?', said[1], "m2", "assistant"),
            ),
            long,
        ),
        Conversation(
            short, "table", (Turn(short, 0, 0, "Ana", "Bye", said[2], "m3", "user"),), None, ("blank messages left out: 1",)
        ),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("Date,User,Message", "2023-03-05 21:15:00,Ana,Hi"),
        ("Date;Time;Author;Text", "05.03.2023;21:15;Ana;Hi"),
        ("timestamp\tfrom\tbody", "1678050900\tAna\tHi"),
        ("createdAt|senderName|messageText", "5 March 2023 21:15|Ana|Hi"),
        ('"Time","Display Name","Content","Channel"', '"2023/3/5 21:15","Ana","Hi","a"'),
    ],
)
def test_columns_are_found_by_name(header: str, row: str) -> None:
    """Whatever stands between, in any case, with date and time in one column or in two."""
    (conversation,) = read(f"{header}\n{row}\n")
    (turn,) = conversation.turns
    assert (turn.speaker, turn.text) == ("Ana", "Hi")
    assert turn.said is not None
    assert turn.said.replace(tzinfo=None) == datetime(2023, 3, 5, 21, 15)
    assert detect("a.csv", f"{header}\n{row}\n".encode()) == "table"


def test_columns_can_be_told() -> None:
    """What is told holds before what the names say; a text is all that has to be there."""
    text = "Words,Who,Message\nHi,Ana,m1\n"
    (conversation,) = read(text, text="Words", speaker="who")
    assert [(turn.speaker, turn.text, turn.said) for turn in conversation.turns] == [("Ana", "Hi", None)]
    assert read("Words\nHi\n", text="Words")[0].turns[0].speaker == "unknown"
    with pytest.raises(InputError) as caught:
        read(text, text="Wrds")
    assert (caught.value.place, caught.value.reason) == ("line 1", "its first line names no such columns (Wrds)")


def test_conversations_may_alternate() -> None:
    """Rows of several conversations come together, in their order."""
    conversations = read("chat,name,text\na,Ana,1\nb,Ben,2\na,Ana,3\n,Cy,4\n", "t.csv")
    assert [(one.name, [turn.text for turn in one.turns]) for one in conversations] == [
        ("t a", ["1", "3"]),
        ("t b", ["2"]),
        ("t unknown", ["4"]),
    ]


def test_which_number_is_the_day_is_decided_from_all_rows() -> None:
    """One row that has one reading settles it for all; where none does, it is asked."""
    rows = "date,name,text\n5/3/2023 21:15,Ana,1\n5/25/2023 21:15,Ana,2\n"
    assert [str(turn.said)[:10] for turn in read(rows)[0].turns] == ["2023-05-03", "2023-05-25"]
    with pytest.raises(UnclearDates):
        read("date,name,text\n5/3/23 21:15,Ana,1\n")


def test_times_that_cannot_be_read_stay_unknown() -> None:
    """Nothing is lost, and the first is shown."""
    (conversation,) = read("date,name,text\nsoon,Ana,1\n99/99/2023,Ana,2\n2023-03-05,Ana,3\n")
    assert [turn.said for turn in conversation.turns] == [None, None, datetime(2023, 3, 5)]
    assert "times that cannot be read, left unknown (the first: 'soon'): 2" in conversation.notes


def test_rows_with_more_cells_than_the_header() -> None:
    """Commas in a last text that nobody quoted are its own."""
    (conversation,) = read("name,text\nAna,one, two,three\n")
    assert conversation.turns[0].text == "one,two,three" or conversation.turns[0].text == "one, two,three"
    assert conversation.notes == ("rows with more cells than the header, the text's joined: 1",)


def test_the_owner_of_the_file_has_no_name_in_it() -> None:
    """iMazing leaves the sender of what was sent empty, and says `Outgoing`."""
    head = "Chat Session,Message Date,Service,Type,Sender ID,Sender Name,Text"
    rows = [
        "Bo,2024-05-01 10:00:00,iMessage,Incoming,+15550100,Bo Reed,Hello",
        "Bo,2024-05-01 10:01:00,iMessage,Outgoing,,,Hi Bo",
    ]
    (chat,) = read_bytes("\n".join([head, *rows]).encode(), "Messages - Bo.csv")

    assert said_in(chat) == [("Bo Reed", "Hello"), ("Me", "Hi Bo")]


@pytest.mark.parametrize(
    ("column", "value", "speaker"),
    [
        ("type", "1", "unknown"), ("Type", "true", "unknown"), ("direction", "yes", "unknown"),
        ("direction", "Outbound", "Me"), ("Type", "Sent Message", "Me"), ("direction", "incoming", "unknown"),
        ("is_from_me", "1", "Me"), ("isFromMe", "0", "unknown"), ("from me", "TRUE", "Me"), ("is_outgoing", "yes", "Me"),
    ],
)  # fmt: skip
def test_who_sent_a_message_without_a_name(column: str, value: str, speaker: str) -> None:
    """A number says so only where the column asks: Android's type 1 is received."""
    (chat,) = read(f"name,{column},text\n,{value},Hi\n")
    assert chat.turns[0].speaker == speaker


def test_only_a_role_makes_a_tool() -> None:
    """A search hides what tools say, so a speaker's name alone does not make one."""
    assert [turn.role for turn in read("name,text\nTool,Hi\nObservation,Ho\nUser,Hm\n")[0].turns] == [
        None,
        None,
        "user",
    ]
    assert [turn.role for turn in read("name,role,text\nTool,tool,Hi\nAna,tool,Ho\n")[0].turns] == ["tool", "tool"]
    assert read("role,text\ntool,Hi\n")[0].turns[0].role == "tool"


def test_the_sides_of_a_chat_with_a_model_have_roles() -> None:
    """Copilot's history names them Human and AI."""
    text = "Conversation,Time,Author,Message\nTrip,2026-05-01T10:00:00,Human,Where to?\nTrip,2026-05-01T10:00:05,AI,Porto.\n"
    (chat,) = read_bytes(text.encode(), "history.csv")

    assert [turn.role for turn in chat.turns] == ["user", "assistant"]

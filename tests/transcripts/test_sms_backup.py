"""What SMS Backup & Restore saves."""

import io
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation
from goalmem_cli.transcripts import Source, conversations_in
from tests.transcripts.reading import check_refused, read_bytes
from tests.transcripts.test_fuzz import check

HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n<!--File Created By SMS Backup & Restore v10.21-->\n"
MIRA, OTTO = "+441632960001", "+441632960002"


def sms(body: str, kind: int = 1, number: str = MIRA, name: str = "Mira", date: str = "1769940005000") -> str:
    """Return a text message."""
    return f'<sms protocol="0" address="{number}" date="{date}" type="{kind}" subject="null" body="{body}" contact_name="{name}" />\n'


GROUP = f"""<mms date="1769940011000" msg_box="1" address="{MIRA}~{OTTO}" sub="null" contact_name="Mira, Otto">
  <parts><part seq="-1" ct="application/smil" text="&lt;smil&gt;" /><part seq="0" ct="text/plain" text="Meet at pier 2." />
    <part seq="0" ct="image/jpeg" name="a.jpg" text="null" data="/9j/4AAQ" /></parts>
  <addrs><addr address="{OTTO}" type="137" charset="106" /><addr address="{MIRA}" type="151" charset="106" /></addrs></mms>
"""
BACKUP = f"""{HEAD}<smses count="8" backup_set="x" type="full">
{sms("Late?&#10;&amp; why &#128512; &#55357;&#56832;&#0;")}{sms("It is.", number=OTTO, name="Otto")}{sms("Yes.", 2, name="(Unknown)")}\
{sms("Per", 3)}{sms("Lost", 5)}{sms("Who?", number="+441632960003", name="null")}{GROUP}{sms("So it goes.", 2, date="soon")}</smses>
"""


def told(chat: Conversation) -> list[tuple[str, str, datetime | None]]:
    """Return who said what when."""
    return [(turn.speaker, turn.text, turn.said) for turn in chat.turns]


def test_a_backup_as_golden() -> None:
    """A conversation for each number and group; speakers by the kind of message, emoji of halves, times, counts."""
    mira, otto, nobody, group = read_bytes(BACKUP.encode(), "sms-20260201.xml")
    noon = datetime(2026, 2, 1, 10, 0, 5, tzinfo=UTC)
    assert (mira.name, mira.own_id, mira.format) == (MIRA, MIRA, "sms-backup")
    assert told(mira) == [
        ("Mira", "Late?\n& why \N{GRINNING FACE} \N{GRINNING FACE}\ufffd", noon), ("Me", "Yes.", noon), ("Me", "So it goes.", None),
    ]  # fmt: skip
    assert mira.turns[0].own_id is not None
    assert mira.turns[0].own_id.startswith("20260201-100005-")
    assert set(mira.notes) == {
        "drafts and messages that were not sent left out: 2",
        "times that cannot be read, left unknown (the first: 'soon'): 1",
    }
    assert (told(otto), told(nobody)) == ([("Otto", "It is.", noon)], [("+441632960003", "Who?", noon)])
    assert (group.name, told(group)) == (
        f"{MIRA}~{OTTO}", [("Otto", "Meet at pier 2.", datetime(2026, 2, 1, 10, 0, 11, tzinfo=UTC))],
    )  # fmt: skip
    assert group.notes == ("media left out: 1",)


@pytest.mark.parametrize("definition", [
    '<!DOCTYPE smses [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>', '<!DOCTYPE smses [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
    '<!DOCTYPE smses [<!ENTITY % a SYSTEM "http://x.org/a"> %a;]>', '<!DOCTYPE smses [<!ATTLIST part text CDATA "aaaa">]>',
])  # fmt: skip
def test_a_document_that_defines_entities_or_attributes_is_refused(definition: str) -> None:
    """Nothing is expanded or fetched, whether it is used or not: a small file could fill the memory."""
    data = f"{HEAD}{definition}\n<smses>{sms('&a;')}</smses>".encode()
    check_refused(lambda one: read_bytes(one, "a.xml"), data, "line 3", "defines an entity or attributes")


def test_what_came_before_a_break_is_kept() -> None:
    """The error names line and column; where nothing may be skipped, it refuses the file."""
    broken = BACKUP[: BACKUP.index("<mms")] + "<sms body=></smses>"
    skipped: list[InputError] = []
    source = Source("a.xml", lambda: io.BytesIO(broken.encode()), skip=skipped.append)
    assert [len(chat.turns) for chat in conversations_in(source)] == [2, 1, 1]
    (error,) = skipped
    assert error.reason.startswith("not XML (")
    assert error.place.startswith("line ")
    with pytest.raises(InputError):
        read_bytes(broken.encode(), "a.xml")


def test_a_message_without_a_number_is_skipped() -> None:
    """It belongs to no conversation."""
    data = f"{HEAD}<smses>{sms('x', number='')}{sms('y')}</smses>".encode()
    check_refused(lambda one: read_bytes(one, "a.xml"), data, "line 3", "a message without an address")


def test_halves_of_a_character_may_lie_in_two_stretches() -> None:
    """A file is read in stretches of a million characters, which end anywhere."""
    for padding in range(2**20 - 400, 2**20 - 200, 7):
        data = f"{HEAD}<smses>{sms('x' * padding)}{sms('&#55357;&#56832;' * 20)}</smses>".encode()
        (chat,) = read_bytes(data, "a.xml")
        assert chat.turns[1].text == "\N{GRINNING FACE}" * 20


PIECES = [
    HEAD, "<smses>", "</smses>", sms("x"), GROUP, "<mms>", "</mms>", "<sms", 'body="', '"', "/>", "&#55357;", "&#56832;", "&#x0;",
    "&#9999999;", "&a;", "<![CDATA[", "]]>", "<!--", "-->", '<!DOCTYPE a [<!ENTITY a "x">]>', "<part ct='text/plain' text='y'/>",
    "<addr type='137'/>", "\x00", "\ufffe", '<sms address="1" body="z" date="9999999999999999" type="1"/>',
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=30))
def test_any_pieces(pieces: list[str]) -> None:
    """Documents made of what means something in them, in any order, broken off and nested anyhow."""
    check("".join(pieces).encode("utf-8", "replace"), "a.xml", "sms-backup")


@given(st.data(), st.binary(max_size=6))
def test_mutated_backups(data: st.DataObject, token: bytes) -> None:
    """A valid backup with a stretch of it replaced by any bytes."""
    whole = BACKUP.encode()
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 40)))
    check(whole[:start] + token + whole[end:], "a.xml", data.draw(st.sampled_from([None, "sms-backup"])))


def test_a_missing_text_is_no_message_that_says_null() -> None:
    """The app writes `null` for what is missing."""
    (chat,) = read_bytes(f"{HEAD}<smses>{sms('null')}{sms('Null and void.')}</smses>".encode(), "sms.xml")
    assert [turn.text for turn in chat.turns] == ["Null and void."]

"""The reader of e-mail."""

from datetime import UTC, datetime, timedelta, timezone
from functools import partial

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation, Turn
from tests.transcripts.reading import detect, read_bytes

FIRST = """\
Received: from a by b; Sun, 5 Mar 2023 21:15:08 +0100
From: =?utf-8?q?Ana_Re=C3=ADs?= <ana@example.org>
To: Ben <ben@example.org>
Date: Sun, 5 Mar 2023 21:15:07 +0100
Message-ID: <1@example.org>
Subject: Lisbon
MIME-Version: 1.0
Content-Type: text/plain; charset="iso-8859-1"
Content-Transfer-Encoding: quoted-printable

Wo schlafen wir, Jos=E9?
>From here it is far.
--=20
Ana Re=EDs
"""
SECOND = """\
From: ben@example.org
Date: Mon, 6 Mar 2023 09:00:00 +0000
Message-ID: <2@example.org>
In-Reply-To: <1@example.org>
References: <1@example.org>
Subject: Re: Lisbon
Content-Type: multipart/alternative; boundary=b

--b
Content-Type: text/plain; charset=utf-8

In Baixa.

On Sun, 5 Mar 2023 at 21:15, Ana
Reis <ana@example.org> wrote:

> Wo schlafen wir?
>
> From here

It is flat.

--b
Content-Type: text/html

<p>In Baixa.</p>
--b--
"""
THIRD = """\
From: Cy <cy@example.org>
Date: Tue, 7 Mar 2023 09:00:00 +0000
Message-ID: <3@example.org>
Subject: Tax
Content-Type: text/html

<html><head><style>p {}</style></head><body><p>It is <b>due</b> &amp; late.<br>Now.</p>
<blockquote>earlier</blockquote><img src="a.png" alt="a form"></body></html>
"""
MAILBOX = "".join(f"From x@example.org Sun Mar  5 21:15:07 2023\n{mail}\n" for mail in (SECOND, FIRST, THIRD, FIRST))


def mail(text: str, **fields: str) -> str:
    """Return a message with the text."""
    more = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in fields.items())
    return f"From: Ana <ana@example.org>\nDate: Sun, 5 Mar 2023 21:15:07 +0100\n{more}\n{text}"


read = partial(read_bytes, name="a.eml")


def test_reads_a_mailbox_as_golden() -> None:
    """Threads in the order of their times; quotes with their attribution, signatures, markup and copies left out."""
    first = datetime(2023, 3, 5, 21, 15, 7, tzinfo=timezone(timedelta(hours=1)))
    lisbon = (
        Turn("1@example.org", 0, 0, "Ana Reís", "Wo schlafen wir, José?\nFrom here it is far.", first, "1@example.org"),
        Turn(
            "1@example.org", 1, 1, "ben@example.org", "In Baixa.\n\nIt is flat.", datetime(2023, 3, 6, 9, tzinfo=UTC),
            "2@example.org", attributes={"reply_to": "1@example.org"},
        ),
    )  # fmt: skip
    tax = Turn(
        "3@example.org", 0, 0, "Cy", "It is due & late.\nNow.\n[image: a form]", datetime(2023, 3, 7, 9, tzinfo=UTC),
        "3@example.org",
    )  # fmt: skip
    notes = ("copies of messages left out: 1", "lines quoted from earlier messages left out: 5")
    assert read(MAILBOX, name="inbox.mbox") == [
        Conversation("1@example.org", "mail", lisbon, "1@example.org", notes),
        Conversation("3@example.org", "mail", (tax,), "3@example.org"),
    ]


@pytest.mark.parametrize(("name", "text"), [("a.eml", FIRST), ("-", FIRST), ("b.mbox", MAILBOX), ("-", MAILBOX)])
def test_mail_is_detected(name: str, text: str) -> None:
    """By its fields, behind the line that mailboxes put before."""
    assert detect(name, text.encode()) == "mail"


def test_bytes_of_another_encoding_are_read() -> None:
    """Mail may hold raw bytes of whatever encoding it names, or of none that is known."""
    body = mail("Grüße", Content_Type="text/plain; charset=iso-8859-1").encode("iso-8859-1")
    assert read(body)[0].turns[0].text == "Grüße"
    body = mail("Grüße", Content_Type="text/plain; charset=no-such").encode()
    assert read(body)[0].turns[0].text == "Grüße"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Yes.\n\n-----Original Message-----\nFrom: Ben\nSent: x\n\nNo?\n", "Yes."),
        ("Yes.\n\nFrom: Ben <b@c.d>\nSent: Monday\nTo: Ana\n\nNo?\n", "Yes."),
        ("Ja.\n\nAm 5.3.2023 um 21:15 schrieb Ben:\n> Nein?\n", "Ja."),
        ("From: now on I agree.\n", "From: now on I agree."),
        ("One:\n> a\nTwo:\n> b\n", "One:\nTwo:"),
        ("a\n-- \nAna\n> not quoted: signature\n", "a"),
    ],
)
def test_what_is_quoted_is_left_out(text: str, said: str) -> None:
    """Marked lines with the line that says whose they are, and all that follows an earlier message's head."""
    assert read(mail(text))[0].turns[0].text == said


def mixed(kind: str, plain: str) -> str:
    """Return a mail with HTML and plain text, together or as a choice."""
    parts = (
        f"--b\nContent-Type: text/plain\n\n{plain}\n--b\nContent-Type: text/html\n\n<p>The boat is late.</p>\n--b--\n"
    )
    return mail(parts, Content_Type=f"multipart/{kind}; boundary=b")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (mixed("mixed", "_______________________________________________\nBoats mailing list\nboats@example.org\n"), "The boat is late."),
        (mixed("mixed", "Coffee?\n"), "Coffee?"),
        (mixed("alternative", "Coffee?\n\n> x\n"), "Coffee?"),
    ],
)  # fmt: skip
def test_the_html_is_read_where_the_plain_text_is_only_a_list_s_foot(text: str, said: str) -> None:
    """A list puts its foot in plain text below mails that are HTML alone."""
    assert [turn.text for turn in read(text)[0].turns] == [said]


def test_answers_to_a_message_that_is_not_there_are_one_thread() -> None:
    """Two answers to the same message come together under its id; subjects alone join nothing."""
    answers = [mail("x", Message_ID=f"<{n}@x>", In_Reply_To="<0@x>", Subject="Re: a") for n in (1, 2)]
    other = mail("y", Message_ID="<3@x>", Subject="a")
    text = "".join(f"From x Sun Mar  5 21:15:07 2023\n{one}\n\n" for one in (*answers, other))
    assert [(one.own_id, len(one.turns)) for one in read(text, name="a.mbox")] == [("0@x", 2), ("3@x", 1)]


def test_what_is_wrong_in_a_message_stays_unknown() -> None:
    """Dates, encoded words, charsets and boundaries that are none: what can be read is."""
    text = "From: =?x-none?b?!!!?= <a@b.c>\nDate: soon\nSubject: =?utf-8?b?x?=\nMessage-ID: none\n\nhello\n"
    (turn,) = read(text)[0].turns
    assert (turn.text, turn.said, turn.own_id) == ("hello", None, "line 1")
    with pytest.raises(InputError, match="no messages found"):
        read(mail("", Content_Type="multipart/mixed; boundary=x"))


def test_two_messages_under_one_id_are_both_kept() -> None:
    """Only the same text again is a copy."""
    text = "".join(f"From x Sun Mar  5 21:15:07 2023\n{mail(body, Message_ID='<1@x>')}\n\n" for body in "aba")
    (first, second) = read(text, name="a.mbox")
    assert [first.turns[0].text, second.turns[0].text] == ["a", "b"]
    assert first.notes == ("copies of messages left out: 1",)

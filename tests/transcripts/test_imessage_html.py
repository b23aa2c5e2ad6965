"""imessage-exporter's HTML, of its first versions and of the fourth."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.errors import NoMessages
from goalmem_cli.records import Conversation, Turn, content_hash
from tests.transcripts.reading import detect, read_bytes
from tests.transcripts.test_fuzz import check

PAGE = """<html>
<head>
<meta charset="UTF-8"><style>
.message { margin: 1%; }
</style>
</head>
<body>
<div class="message">
<div class="received">
<p><span class="timestamp">Feb 01, 2026 10:00:05 AM (Read by you after 7 seconds)</span>
<span class="sender">Mira Holt</span></p>
<p>Subject: <span class="subject">Pier &amp; boat</span></p>
<hr><div class="message_part">
<span class="bubble">Is it late?
Or &lt;not&gt;?</span>
</div>
<div class="reactions"><hr><p>Reactions:</p>
<div class="reaction"><span class="reaction"><b>Loved</b> by Me</span></div>
<div class="reaction"><span class="reaction"><b>Laughed</b> by Otto</span></div>
</div>
<div class="replies">
<div class="reply" id="G-2"><div class="message">
<div class="sent iMessage">
<p><span class="timestamp">Feb 01, 2026 10:00:09 AM</span>
<span class="reply_anchor"><a href="#r-G-2">x</a></span>
<span class="sender">Me</span></p>
<hr><div class="message_part">
<span class="bubble">By an hour.</span>
</div>
</div>
</div>
</div>
</div>
</div>
</div>

<div class ="announcement"><p><span class="timestamp">Feb 01, 2026 10:00:07 AM</span> You named the conversation <b>Pier</b></p></div>
<div class="message", id="r-G-2">
<div class="sent iMessage">
<p><span class="timestamp">Feb 01, 2026 10:00:09 AM</span>
<span class="reply_anchor"><a href="#G-2">x</a></span>
<span class="sender">Me</span></p>
<hr><div class="message_part">
<span class="bubble">By an hour.</span>
</div>
<span class="reply_context">This message responded to an earlier message.</span>
</div>
</div>
<div class="message">
<div class="received">
<p><span class="timestamp">Feb 01, 2026  1:00:00 PM</span>
<span class="sender">Mira Holt</span></p>
<hr><div class="message_part">
<div class="attachment"><audio controls src="attachments/a.caf" type="x-caf" </audio></div>
</div>
</div>
</div>
<div class="message">
<div class="received">
<p><span class="timestamp">Feb 01, 2026  1:00:01 PM</span>
<span class="sender">Mira Holt</span></p>
<hr><div class="message_part">
<div class="edited"><table><tbody><tr><td><span class="timestamp"></span></td><td>At nun.</td></tr></tbody><tfoot><tr><td><span class="timestamp">Edited 9 seconds later</span></td><td>At noon.</td></tr></tfoot></table></div>
</div>
<hr><div class="message_part">
<div class="app"><a href="https://pier.example/tide"><div class="app_header"><img src="x"><div class="name">pier.example</div></div><div class="app_footer"><div class="caption">Tide table</div></div></a></div>
</div>
</div>
</div>
<div class="message">
<div class="received">
<p><span class="timestamp">Feb 01, 2026  1:00:02 PM</span>
<span class="sender">Mira Holt</span></p>
<div class="edited"><div class ="announcement"><p><span class="timestamp">Feb 01, 2026  1:00:02 PM</span> They deleted a message.</p></div></div>
</div>
</div>
</body></html>"""
NEWER = """<html>
<body>
<div class="message" id="r-G-9">
    <div class="sent RCS">
        <p>
            <span class="timestamp">
                <a title="Reveal in Messages app" href="sms://open?message-guid=G-9">Feb 01, 2026  1:00:02 PM</a>
                (Read by them after 1 hour)
            </span>
            <span class="sender">Me</span>
        </p>
        <hr>
<div class="message_part">
    <span class="bubble jumbomoji">Go <u>now</u></span>
    </div>
<hr>
<div class="tapbacks">
    <p>Tapbacks:</p>
    <div class="tapback"><span class="tapback"><b>Emphasized</b> by Mira Holt</span></div>
</div>
    </div>
</div>
"""


def own_id(at: datetime, speaker: str, text: str) -> str:
    """Return the id of a turn."""
    return f"{at:%Y%m%d-%H%M%S}-{content_hash(speaker, text)[:6]}"


def test_a_page_as_golden() -> None:
    """Answers once, at their time; last versions; links; reactions; the rest is counted by kind."""
    (chat,) = read_bytes(PAGE.encode(), "Mira Holt.html")

    name, mira = "Mira Holt", "Mira Holt"
    early, late = datetime(2026, 2, 1, 10, 0, 5), datetime(2026, 2, 1, 13, 0, 1)
    answer = datetime(2026, 2, 1, 10, 0, 9)
    first, last = "Pier & boat\nIs it late?\nOr <not>?", "At noon.\nhttps://pier.example/tide\nTide table"
    reactions = [{"reaction": "Loved", "count": 1, "by": ["Me"]}, {"reaction": "Laughed", "count": 1, "by": ["Otto"]}]
    turns = (
        Turn(name, 0, 0, mira, first, early, own_id(early, mira, first), attributes={"reactions": reactions}),
        Turn(name, 0, 1, "Me", "By an hour.", answer, own_id(answer, "Me", "By an hour."),
             attributes={"reply_to": own_id(early, mira, first)}),
        Turn(name, 0, 2, mira, last, late, own_id(late, mira, last), attributes={"edited": True}),
    )  # fmt: skip
    assert chat == Conversation(name, "imessage-html", turns, None, chat.notes)
    assert set(chat.notes) == {
        "answers shown below what they answer left out: 1", "attachments left out: 1", "deleted messages left out: 1",
        "notices left out: 1",
    }  # fmt: skip


def test_a_page_of_a_newer_version() -> None:
    """Its time is a link, its text has marks, and reactions are tapbacks."""
    (chat,) = read_bytes(NEWER.encode(), "Pier.html")

    assert chat.format == "imessage-html"
    assert [(turn.speaker, turn.text, turn.said, turn.attributes) for turn in chat.turns] == [
        ("Me", "Go now", datetime(2026, 2, 1, 13, 0, 2),
         {"reactions": [{"reaction": "Emphasized", "count": 1, "by": ["Mira Holt"]}]})
    ]  # fmt: skip


def test_the_text_export_of_the_same_chat_gives_the_same_ids() -> None:
    """So that the one and the other are one chat."""
    text = "Feb 01, 2026 10:00:09 AM\nMe\nBy an hour.\n\nFeb 01, 2026  1:00:02 PM\nMira Holt\nGo\n\n"
    ids = {turn.own_id for turn in read_bytes(text.encode(), "Mira Holt.txt")[0].turns}
    assert ids & {turn.own_id for turn in read_bytes(PAGE.encode(), "Mira Holt.html")[0].turns}


def test_an_answer_without_an_id_is_known_to_answer_nothing() -> None:
    """Older versions give none; it is counted all the same where it is shown a second time."""
    page = PAGE.replace(' id="G-2"', "").replace(', id="r-G-2"', "")
    (chat,) = read_bytes(page.encode(), "a.html")
    assert "reply_to" not in chat.turns[1].attributes
    assert "answers shown below what they answer left out: 1" in chat.notes


def test_it_is_detected_and_a_page_without_messages_is_an_error() -> None:
    """From a file and from standard input; a page cut off in a message has that message."""
    assert detect("a.html", PAGE.encode()) == detect("-", NEWER.encode()) == "imessage-html"
    cut = PAGE[: PAGE.index("Or &lt;")]
    assert [turn.text for turn in read_bytes(cut.encode(), "a.html")[0].turns] == ["Pier & boat\nIs it late?"]
    with pytest.raises(NoMessages, match="no messages found"):
        read_bytes(b"<html><body><p>nobody</p></body></html>", "a.html", "imessage-html")


@given(st.data())
def test_broken_pages(data: st.DataObject) -> None:
    """A page with pieces taken out, doubled or put elsewhere."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(PAGE)), min_size=2, max_size=6)))
    pieces = [PAGE[a:b] for a, b in zip([0, *cuts], [*cuts, len(PAGE)], strict=True)]
    mixed = "".join(data.draw(st.lists(st.sampled_from(pieces), min_size=1, max_size=8)))
    check(mixed.encode(), "a.html", data.draw(st.sampled_from([None, "imessage-html"])))

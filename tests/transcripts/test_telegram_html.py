"""The reader of Telegram's export as HTML."""

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import read_file, transcript_files
from tests.transcripts.reading import read_bytes

HEAD = """<!DOCTYPE html>
<html>
 <head>
  <meta charset="utf-8"/>
  <title>Exported Data</title>
  <link href="css/style.css" rel="stylesheet"/>
  <script src="js/script.js" type="text/javascript">

  </script>
 </head>
 <body onload="CheckLocation();">
  <div class="page_wrap">
   <div class="page_header">
    <div class="content">
     <div class="text bold">
Trip &amp; Co
     </div>
    </div>
   </div>
   <div class="page_body chat_page">
    <div class="history">
"""
END = """
    </div>
   </div>
  </div>
 </body>
</html>
"""
USERPIC = '<div class="userpic userpic1" style="width: 42px"><div class="initials" style="line-height: 42px"{}>\nAB\n</div></div>'


def message(number: int, inside: str, name: str = "", minute: int = 15) -> str:
    """Return a message; one without a name stands behind another of the same person."""
    head = ""
    if name:
        head = f'<div class="pull_left userpic_wrap">{USERPIC.format("")}</div>'
    from_name = f'<div class="from_name">\n{name}\n       </div>' if name else ""
    return f"""
     <div class="message default clearfix{"" if name else " joined"}" id="message{number}">
      {head}
      <div class="body">
       <div class="pull_right date details" title="31.12.2023 21:{minute}:07 UTC+02:00">
21:{minute}
       </div>
       {from_name}
       {inside}
      </div>
     </div>
"""


def text(html: str) -> str:
    """Return the element of a message's text."""
    return f'<div class="text">\n{html}\n       </div>'


def service(number: int, said: str) -> str:
    """Return what the program says, or a date, which has a negative number."""
    return f'<div class="message service" id="message{number}">\n<div class="body details">\n{said}\n</div>\n</div>'


REPLY = (
    '<div class="reply_to details">\nIn reply to <a href="messages.html#go_to_message2" onclick="return GoToMessage(2)">'
    "this message</a>\n</div>"
)
PHOTO = (
    '<div class="media_wrap clearfix"><a class="photo_wrap clearfix pull_left" href="photos/p.jpg">'
    '<img class="photo" src="photos/p_thumb.jpg" style="width: 260px; height: 195px"/></a></div>'
)
FILE = (
    '<div class="media_wrap clearfix"><div class="media clearfix pull_left media_file"><div class="fill pull_left"></div>'
    '<div class="body"><div class="title bold">a.pdf</div><div class="description">Not included</div>'
    '<div class="status details">1 KB</div></div></div></div>'
)
FORWARDED = (
    f'<div class="pull_left forwarded userpic_wrap">{USERPIC.format("")}</div><div class="forwarded body">'
    '<div class="from_name">\nNews via @somebot <span class="date details" title="30.12.2023 09:00:00 UTC+02:00">'
    " 30.12.2023 09:00:00</span></div>{}</div>"
)
JOINED_FORWARD = '<div class="forwarded body">{}</div>'
REACTIONS = (
    '<span class="reactions"><span class="reaction active"><span class="emoji">\n\u2764\n</span><span class="userpics">'
    + USERPIC.format(' title="Ana Bee"') + USERPIC.format(' title="Ben"')
    + '</span><span class="count">\n3\n</span></span><span class="reaction"><span class="emoji">\n+\n</span>'
    '<span class="userpics">' + USERPIC.format(' title="Ben"') + "</span></span></span>"
)  # fmt: skip
BUTTONS = '<table class="bot_buttons_table"><tbody><tr><td><div class="bot_button"><div>Yes</div></div></td></tr></tbody></table>'
TELEGRAM_HTML = "".join([
    HEAD,
    service(-1, "31 December 2023"),
    service(1, "Ana Bee created group &laquo;Trip&raquo;"),
    message(2, text("Where do <strong>we</strong> stay?<br><br>  See <a href=\"https://x.org\">this</a> &lt;3"), "Ana Bee"),
    message(3, PHOTO + text("The view") + BUTTONS, minute=16),
    message(4, REPLY + text("In Baixa") + REACTIONS + '<div class="signature details">\nBen\n</div>', "Ben via @somebot", 17),
    message(5, FORWARDED.format(text("Rooms are cheap")), "Ben", 18),
    message(6, JOINED_FORWARD.format(text("Still") + FILE), minute=19),
    message(7, FILE, minute=20),
    END,
])  # fmt: skip
EAST = timezone(timedelta(hours=2))


def test_reads_a_page_as_golden() -> None:
    """Names carried on, lines, forwards, replies and reactions as they stand; services and media are counted."""
    said: list[tuple[int, int, str, str, dict[str, object]]] = [
        (2, 15, "Ana Bee", "Where do we stay?\n\nSee this <3", {}),
        (3, 16, "Ana Bee", "The view", {}),
        (4, 17, "Ben", "In Baixa", {"reply_to": "2", "reactions": [
            {"reaction": "\u2764", "count": 3, "by": ["Ana Bee", "Ben"]}, {"reaction": "+", "count": 1, "by": ["Ben"]}]}),
        (5, 18, "Ben", "[forwarded from News] Rooms are cheap", {"forwarded_from": "News"}),
        (6, 19, "Ben", "[forwarded from News] Still", {"forwarded_from": "News"}),
    ]  # fmt: skip
    turns = tuple(
        Turn("Trip & Co", 0, place, speaker, words, datetime(2023, 12, 31, 21, minute, 7, tzinfo=EAST), str(number),
             attributes=beside)
        for place, (number, minute, speaker, words, beside) in enumerate(said)
    )  # fmt: skip
    (conversation,) = read_bytes(TELEGRAM_HTML.encode(), "messages.html")
    assert conversation == Conversation("Trip & Co", "telegram-html", turns, None, conversation.notes)
    assert sorted(conversation.notes) == ["media left out: 3", "service messages left out: 1"]


def test_a_poll_is_its_question_its_answers_and_their_votes() -> None:
    """It stands where media stand, and is none; whose vote it was and the total are left out."""
    poll = (
        '<div class="media_wrap clearfix"><div class="media_poll"><div class="question bold">\nWhich pier?\n</div>'
        '<div class="details">\nAnonymous poll\n</div><div class="answer">\n- Four &amp; five <span class="details">'
        '2 votes, chosen vote</span>\n</div><div class="answer">\n- Six\n</div>'
        '<div class="total details\t">\n2 votes\n</div></div></div>'
    )
    (conversation,) = read_bytes((HEAD + message(2, poll, "Ana") + END).encode(), "messages.html")
    assert [turn.text for turn in conversation.turns] == ["Which pier?\n- Four & five (2 votes)\n- Six"]
    assert conversation.notes == ()


def test_a_folder_of_pages_is_one_chat(tmp_path: Path) -> None:
    """Pages come by their numbers, the first has none; other files of the export are no transcripts of their own."""
    for number, name in ((2, "messages.html"), (3, "messages2.html"), (4, "messages10.html")):
        (tmp_path / name).write_text(HEAD + message(number, text(f"x{number}"), "Ana") + END, "utf-8")
    (tmp_path / "css").mkdir()

    (found,) = transcript_files([tmp_path])
    (conversation,) = read_file(found.path)

    assert found.path == tmp_path
    assert [turn.own_id for turn in conversation.turns] == ["2", "3", "4"]


def test_a_time_without_its_offset_is_local() -> None:
    """Older versions do not write it."""
    page = TELEGRAM_HTML.replace(" UTC+02:00", "")
    (conversation,) = read_bytes(page.encode(), "messages.html")
    assert conversation.turns[0].said == datetime(2023, 12, 31, 21, 15, 7)


def test_a_time_that_is_none_names_the_message() -> None:
    """The place is the message's number."""
    page = TELEGRAM_HTML.replace("31.12.2023 21:17", "31.13.2023 21:17")
    with pytest.raises(InputError) as caught:
        read_bytes(page.encode(), "messages.html")
    assert caught.value.place == "message '4'"


PIECES = [
    HEAD, END, *(piece for piece in TELEGRAM_HTML.split("\n") if "<" in piece), "</div>", "<![x[y]]>", "<!--", "<br>",
    "\u2028", "&#xD800;", "&#0;", '<div class="message default" id="message9">', 'title="31.12.2023 21:15:07 UTC+99:00"',
]  # fmt: skip


def test_a_text_may_be_parsed_in_two_pieces() -> None:
    """A page is parsed in pieces of 65,536 characters; blanks at their border are one blank, as elsewhere."""
    before = HEAD.replace("</head>", "<!--{}--></head>")
    said = message(1, text("a    b"), "Mira")
    start = len(before.format("")) + said.index("a    b")
    for shift in range(7):
        page = before.format("x" * (2**16 - start - shift)) + said + END
        assert [turn.text for turn in read_bytes(page.encode(), "messages.html", "telegram-html")[0].turns] == ["a b"]

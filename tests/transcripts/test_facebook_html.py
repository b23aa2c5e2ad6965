"""Chats of Instagram and Messenger as pages."""

from datetime import datetime
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts import read_file, transcript_files
from tests.transcripts.reading import detect, read_bytes

HEAD = '<html><head><title>Instagram</title><style>._a6-g{color:red}</style></head><body class="_5vb_"><h1>Otto &amp; Co</h1><main role="main">'
END = "</main></body></html>"


def message(speaker: str, text: str, said: str, inside: str = "") -> str:
    """Return a message as a page has it."""
    return (
        f'<div class="pam _3-95 _2ph- _a6-g uiBoxWhite noborder"><h2 class="_3-95 _2pim _a6-h _a6-i">{speaker}</h2>\n'
        f'<div class="_3-95 _a6-p"><div><div></div><div>{text}</div><div></div>{inside}</div></div>'
        f'<div class="_3-94 _a6-o">{said}</div></div>\n'
    )


LIKED = '<div><ul class="_a6-q"><li><span>\u2764\ufe0fMira</span></li><li><span>\N{THUMBS UP SIGN}Otto Lind<span> (Feb 01, 2026 10:02 am)</span></span></li></ul></div>'
PHOTO = '<div><a href="your/photo.jpg"><img src="your/photo.jpg" class="_a6_o _3-96" /></a></div>'
SHARED = '<div><div><div>Tides of the week</div><div>pier_two</div><div><a href="https://x.org/reel/1/">https://x.org/reel/1/</a></div></div></div>'
FILM = '<div><video src="your/a.mp4" controls="1"><a href="your/a.mp4"><div>Click for video:</div></a></video></div>'
HEADING = '<div class="pam _3-95 _2ph- _a6-g uiBoxWhite noborder"><h2 class="_3-95 _2pim _a6-h _a6-i">Participants: Mira and Otto</h2></div>'
MESSAGES = (
    HEADING,
    message("Mira", "", "Feb 01, 2026 10:05 am", FILM),
    message("Mira", "Liked a message", "Feb 01, 2026 10:04 am"),
    message("Mira", "Mira sent an attachment.", "Feb 01, 2026 10:03 am", PHOTO),
    message("Otto Lind", "See", "feb. 01, 2026 10:02 am", PHOTO),
    message("Mira", "Mira sent an attachment.", "Feb 01, 2026, 10:01 AM", SHARED),
    message("Otto Lind", "Yes,<br />by an <b>hour</b>.", "Feb 01, 2026 10:01 am", LIKED),
    message("Mira", "Late &amp; wet?", "Feb 01, 2026 10:00 am"),
)
PAGE = f"{HEAD}{''.join(MESSAGES)}{END}"


def test_a_page_as_golden() -> None:
    """Messages from the oldest, with names, texts, times and reactions; notices and media are counted."""
    (chat,) = read_bytes(PAGE.encode(), "message_1.html")
    assert (chat.name, chat.own_id, chat.format) == ("Otto & Co", None, "facebook-html")
    assert [(turn.speaker, turn.text, turn.said) for turn in chat.turns] == [
        ("Mira", "Late & wet?", datetime(2026, 2, 1, 10, 0)),
        ("Otto Lind", "Yes,\nby an hour.", datetime(2026, 2, 1, 10, 1)),
        ("Mira", "Tides of the week\npier_two\nhttps://x.org/reel/1/", datetime(2026, 2, 1, 10, 1)),
        ("Otto Lind", "See", datetime(2026, 2, 1, 10, 2)),
    ]
    assert dict(chat.turns[1].attributes) == {"reactions": [
        {"reaction": "\u2764\ufe0f", "count": 1, "by": ["Mira"]},
        {"reaction": "\N{THUMBS UP SIGN}", "count": 1, "by": ["Otto Lind"]},
    ]}  # fmt: skip
    assert set(chat.notes) == {
        "media left out: 3", "notices of something sent left out: 2", "notices of reactions left out: 1",
    }  # fmt: skip
    assert all(turn.own_id for turn in chat.turns)


def test_a_folder_of_pages_is_one_chat(tmp_path: Path) -> None:
    """The page with the greatest number is the oldest; the folder names the chat, also where a page is given alone."""
    folder = tmp_path / "messages" / "inbox" / "otto_1"
    folder.mkdir(parents=True)
    for number, found in (
        ("1", MESSAGES[-2]),
        ("2", MESSAGES[-1]),
        ("10", message("Mira", "Hello", "Jan 01, 2026 9:00 pm")),
    ):
        (folder / f"message_{number}.html").write_text(HEAD + found + END, "utf-8")

    (found_there,) = transcript_files([tmp_path])
    (chat,) = read_file(found_there.path)
    assert found_there.path == folder
    assert chat.own_id == "inbox/otto_1"
    assert [turn.text for turn in chat.turns] == ["Hello", "Late & wet?", "Yes,\nby an hour."]
    (page,) = read_file(folder / "message_1.html")
    assert page.own_id == "inbox/otto_1"


@pytest.mark.parametrize(("said", "read"), [
    ("Mär 05, 2026 9:15 pm", datetime(2026, 3, 5, 21, 15)), ("dic. 31, 2025 11:59 pm", datetime(2025, 12, 31, 23, 59)),
    ("03/05/2026, 21:15", None), ("soon", None), ("", None),
])  # fmt: skip
def test_times_are_read_where_the_month_is_a_word(said: str, read: datetime | None) -> None:
    """Numbers alone could be two days; what was said is kept without them."""
    (chat,) = read_bytes(f"{HEAD}{message('Mira', 'Hello', said)}{END}".encode(), "message_1.html")
    assert [turn.said for turn in chat.turns] == [read]


def test_it_is_detected() -> None:
    """By its messages, or by its name where styles fill the beginning; other pages of the download are none."""
    assert detect("a.html", PAGE.encode()) == detect("-", PAGE.encode()) == "facebook-html"
    long = PAGE.replace("</style>", f"{'.x{}' * 40_000}</style>").encode()
    assert detect("message_3.html", long) == "facebook-html"
    likes = '<div class="pam _a6-g"><h2 class="_a6-h">Owner</h2><div class="_a6-p"><table><tr><td class="_a6_q">URL</td></tr></table></div></div>'
    for page in (f"{HEAD}{likes}{END}", "<html><body><p>x</p></body></html>"):
        with pytest.raises(InputError, match="in none of the accepted formats"):
            detect("liked_posts.html", page.encode())


PIECES = [
    HEAD, END, *MESSAGES, LIKED, PHOTO, "</div>", "</h2>", "<![x[y]]>", "<!--", "<br>", "\u2028", "&#xD800;", "&#0;", "<li>",
    '<div class="_a6-g">', '<h2 class="_a6-h">', '<div class="_a6-p">', '<div class="_a6-o">', '<ul class="_a6-q">', "<title>",
]  # fmt: skip

"""Generated turns in the text, Markdown and HTML formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from xml.sax.saxutils import quoteattr

from goalmem_cli.lab.bench.layouts import talks
from goalmem_cli.lab.bench.layouts.documents import DOCUMENTS, LINES, document_text, said_at, seconds_of
from goalmem_cli.records import Turn

_PAGE = (
    '<html><body><div class="page_header"><div class="text bold">\nMade up\n</div></div>'
    '<div class="page_body chat_page"><div class="history">\n'
)


def _telegram_html(turns: Sequence[Turn]) -> str:
    messages = (
        f'<div class="message default clearfix" id="message{turn.ordinal + 1}">\n<div class="body">\n'
        f'<div class="pull_right date details" title="{said_at(turn):%d.%m.%Y %H:%M:%S} UTC+00:00">\n'
        f'{said_at(turn):%H:%M}\n</div>\n<div class="from_name">\n{turn.speaker}\n</div>\n'
        f'<div class="text">\n{turn.text}\n</div>\n</div>\n</div>\n'
        for turn in turns
    )
    return f"{_PAGE}{''.join(messages)}</div></div></body></html>"


def _facebook_html(turns: Sequence[Turn]) -> str:
    messages = (
        f'<div class="pam _3-95 _2ph- _a6-g uiBoxWhite noborder">'
        f'<h2 class="_3-95 _2pim _a6-h _a6-i">{turn.speaker}</h2>'
        f'<div class="_3-95 _a6-p"><div><div></div><div>{turn.text}</div><div></div></div></div>'
        f'<div class="_3-94 _a6-o">{said_at(turn):%b %d, %Y %I:%M %p}</div></div>\n'
        for turn in reversed(turns)
    )
    return f'<html><head><title>Made up</title></head><body><main role="main">{"".join(messages)}</main></body></html>'


def _sms_backup(turns: Sequence[Turn]) -> str:
    messages = (
        f'<sms protocol="0" address="+441632960001" date="{1000 * seconds_of(turn)}" type="{1 + turn.ordinal % 2}" '
        f'subject="null" body={quoteattr(turn.text)} read="1" status="-1" contact_name={quoteattr(turn.speaker)} />\n'
        for turn in turns
    )
    return f"<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n<smses>\n{''.join(messages)}</smses>\n"


def _whatsapp(turns: Sequence[Turn]) -> str:
    return "".join(f"{said_at(turn):%d/%m/%Y, %H:%M} - {turn.speaker}: {turn.text}\n" for turn in turns)


def _signal(turns: Sequence[Turn]) -> str:
    return "".join(f"[{said_at(turn):%Y-%m-%d %H:%M:%S}] {turn.speaker}: {turn.text}  \n" for turn in turns)


def _imessage(turns: Sequence[Turn]) -> str:
    return "".join(
        f"{said_at(turn):%b %d, %Y} {said_at(turn):%I:%M:%S %p}\n{turn.speaker}\n{turn.text}\n\n" for turn in turns
    )


def _line(turns: Sequence[Turn]) -> str:
    days = "".join(
        f"\n{day}\n" + "".join(f"{said_at(turn):%H:%M}\t{turn.speaker}\t{turn.text}\n" for turn in said)
        for day, said in groupby(turns, key=lambda turn: f"{said_at(turn):%Y/%m/%d(%a)}")
    )
    return f"[LINE] Chat history with {turns[0].speaker}\nSaved on: 2024/01/20 09:00\n{days}"


def _kakaotalk(turns: Sequence[Turn]) -> str:
    lines = (
        f"{said_at(turn):%B} {said_at(turn).day}, {said_at(turn):%Y, %I:%M %p}, {turn.speaker} : {turn.text}\n"
        for turn in turns
    )
    head = f"KakaoTalk Chats with {turns[0].speaker}\nDate Saved : March 6, 2031, 10:00 AM\n\n"
    return head + "".join(lines)


def _table(turns: Sequence[Turn]) -> str:
    rows = (f'{said_at(turn):%Y-%m-%d %H:%M:%S},{turn.speaker},"{turn.text}"\n' for turn in turns)
    return f"Date,User,Message\n{''.join(rows)}"


def _mail(turns: Sequence[Turn]) -> str:
    return "".join(
        f"From x@example.org {said_at(turn):%a %b %d %H:%M:%S %Y}\nFrom: {turn.speaker} <x@example.org>\n"
        f"Date: {said_at(turn):%a, %d %b %Y %H:%M:%S} +0000\nMessage-ID: <{turn.ordinal}@example.org>\n"
        f"References: <0@example.org>\nSubject: Made up\n\n{turn.text}\n\n"
        for turn in turns
    )


def _cursor(turns: Sequence[Turn]) -> str:
    said = (f"---\n\n**{('User', 'Cursor')[turn.ordinal % 2]}**\n\n{turn.text}\n\n" for turn in turns)
    return f"# Made up\n_Exported on 7/8/2025 at 19:03:40 PDT from Cursor (1.2.1)_\n\n{''.join(said)}"


def _markdown(turns: Sequence[Turn]) -> str:
    return "".join(f"**{turn.speaker}** ({said_at(turn):%Y-%m-%d %H:%M}): {turn.text}\n\n" for turn in turns)


def _names(turns: Sequence[Turn]) -> str:
    return "".join(f"{turn.speaker}: {turn.text}\n" for turn in turns)


TEXTS: Mapping[str, tuple[str, Callable[[Sequence[Turn]], str]]] = {
    "telegram-html": (".html", _telegram_html), "facebook-html": (".html", _facebook_html),
    "sms-backup": (".xml", _sms_backup), "whatsapp": (".txt", _whatsapp), "signal": (".md", _signal),
    "imessage": (".txt", _imessage), "line": (".txt", _line), "kakaotalk": (".txt", _kakaotalk),
    "table": (".csv", _table), "mail": (".mbox", _mail), "cursor": (".md", _cursor), "markdown": (".md", _markdown),
    "names": (".txt", _names), **talks.TEXTS,
}  # fmt: skip
_DOCUMENTS = {**DOCUMENTS, **talks.DOCUMENTS}
_LINES = LINES | talks.LINES


def layout_of(name: str, turns: Sequence[Turn]) -> tuple[str, str]:
    """Return the file ending and the text of a transcript of that format with these turns."""
    if name in _DOCUMENTS:
        by_line = name in _LINES
        return (".jsonl" if by_line else ".json"), document_text(_DOCUMENTS[name](turns), by_line=by_line)
    ending, write = TEXTS[name]
    return ending, write(turns)

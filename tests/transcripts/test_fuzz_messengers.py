"""Whatever a messenger's export or an agent's log holds, its reader gives conversations or an InputError."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts import read_file
from tests.conftest import examples
from tests.transcripts.reading import jsonl
from tests.transcripts.test_agent_log import CLAUDE, CODEX
from tests.transcripts.test_chat_exports import CURSOR_LOG, GOOGLE, OPENCODE, TEAMS
from tests.transcripts.test_cline import TASK
from tests.transcripts.test_discord import DISCORD
from tests.transcripts.test_discord_package import CHANNEL
from tests.transcripts.test_facebook import ENCRYPTED, FACEBOOK
from tests.transcripts.test_facebook_html import PAGE, PIECES
from tests.transcripts.test_fuzz import VALUES, changed, check, places
from tests.transcripts.test_gemini import CHECKPOINT, LOGS, RECORD, TAKEOUT
from tests.transcripts.test_goose import EXPORT as GOOSE
from tests.transcripts.test_goose import HEAD, SAID
from tests.transcripts.test_irc import LOGS as IRC
from tests.transcripts.test_matrix import ROOM
from tests.transcripts.test_mattermost import EXPORT as MATTERMOST
from tests.transcripts.test_signal_jsonl import EXPORT as SIGNAL
from tests.transcripts.test_signal_text import LETTERS, MARKDOWN, SHORT
from tests.transcripts.test_sillytavern import CHAT as TAVERN
from tests.transcripts.test_slack import CHANNELS, MONDAY, TUESDAY, USERS
from tests.transcripts.test_telegram import ACCOUNT, CHAT
from tests.transcripts.test_telegram_html import PIECES as TELEGRAM_PIECES
from tests.transcripts.test_telegram_html import TELEGRAM_HTML
from tests.transcripts.test_viber import CHAT as VIBER
from tests.transcripts.test_vscode_copilot import LOG, SESSION
from tests.transcripts.test_wechat_qq import CHATLOG, MEMOTRACE, QQ
from tests.transcripts.test_whatsapp import ANDROID, IOS
from tests.transcripts.test_x_archive import CHATS

FILES = st.sampled_from(["a.txt", "b.md", "-", "_chat.txt", "WhatsApp Chat with \x00.txt", "chat.md"])
TEXTS = st.sampled_from([None, "whatsapp", "signal"])
TOKENS = st.lists(
    st.sampled_from(
        ["31/12/2023", "12/31/23", "31.12.23", "2023-12-31", "99/99/9999", "0001-01-01", "1/2/0099", "31/12/2566", ", ", " ",
         "21:15", "9:15:07", "25:00", "PM", "오후 ", "م", "\u202f", "\u200e", "\u2068", "[", "] ", " - ", "Ana", ": ", ":", "~",
         "\n", "\r\n", "\u2028", "<Media omitted>", "<attached: a.jpg>", "a.jpg (file attached)", '"', "Conversation: x",
         "From: Ana", "Type: incoming", "Type: keychange", "Sent: Sun, 31 Dec 2023 21:15:07 +0100", "Sent: unknown",
         "Sent: 31 Dec 0001 00:00:00 +2359", "Sent: 31 Dec 9999 23:59:59 -2359", "Sent: x", "Edited: 2 versions",
         "| Version: 2", "|", "> From: x", ">", "(- x -)", "(( x ))", "![x](y)", "[edited] ", "[2 attachments] ", "\x00"]
    )
    | st.text(max_size=3),
    max_size=40,
).map("".join)  # fmt: skip


@given(TOKENS, FILES, TEXTS)
def test_any_tokens(text: str, name: str, format_name: str | None) -> None:
    """Arbitrary sequences of what means something in a messenger's lines."""
    check(text.encode("utf-8", "replace"), name, format_name)


@given(st.data(), st.sampled_from([ANDROID, IOS, MARKDOWN, SHORT, LETTERS]), TOKENS, FILES, TEXTS)
def test_mutated_chats(data: st.DataObject, chat: str, token: str, name: str, format_name: str | None) -> None:
    """A valid chat with a stretch of it replaced by anything, in UTF-16 too."""
    start = data.draw(st.integers(0, len(chat)))
    end = data.draw(st.integers(start, min(len(chat), start + 40)))
    encoding = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    check((chat[:start] + token + chat[end:]).encode(encoding, "replace"), name, format_name)


EXPORTS = [
    ("cline", "a.json", TASK), ("discord", "a.json", DISCORD), ("goose", "a.json", GOOSE),
    ("discord-package", "messages.json", CHANNEL), ("goose", "a.jsonl", [HEAD, *SAID]),
    ("matrix", "export.json", ROOM), ("mattermost", "import.jsonl", MATTERMOST),
    ("signal-jsonl", "main.jsonl", SIGNAL), ("sillytavern", "a.jsonl", TAVERN),
    ("vscode-copilot", "a.json", SESSION), ("vscode-copilot", "a.jsonl", LOG),
    ("x-archive", "direct-messages.js", CHATS), ("agent-log", "log.jsonl", CLAUDE), ("agent-log", "log.jsonl", CODEX),
    ("cursor", "log.jsonl", CURSOR_LOG), ("facebook", "a.json", FACEBOOK), ("facebook", "a.json", ENCRYPTED),
    *(("google-chat teams opencode", "messages.json", each) for each in (GOOGLE, TEAMS, OPENCODE)),
    *(("telegram slack", "result.json", each) for each in (CHAT, ACCOUNT, MONDAY, TUESDAY)),
    ("gemini", "a.json", TAKEOUT), *(("gemini-cli", "a.json", each) for each in (RECORD, CHECKPOINT, LOGS)),
]  # fmt: skip
"""The formats that each is read as, parted by blanks, beside the one that is found; a file's name, and its content."""


@pytest.mark.parametrize(("formats", "name", "export"), EXPORTS)
@given(data=st.data(), value=VALUES)
def test_mutated_exports(formats: str, name: str, export: Any, data: st.DataObject, value: object) -> None:
    """A valid export with one value of it replaced by anything; a file of lines stays one."""
    is_of_lines = name.endswith(".jsonl")
    path = data.draw(st.sampled_from(places(export)[1 if is_of_lines else 0 :]))
    mutated: Any = changed(export, path, lambda _: value)
    written = jsonl(*mutated) if is_of_lines else json.dumps(mutated).encode()
    before = b"window.YTD.direct_messages.part0 = " if name.endswith(".js") else b""
    check(before + written, name, data.draw(st.sampled_from([None, *formats.split()])))


@pytest.mark.parametrize("name", ["users.json", "channels.json", "general/2023-12-31.json"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(30))
@given(data=st.data(), value=VALUES)
def test_mutated_folders(tmp_path: Path, name: str, data: st.DataObject, value: object) -> None:
    """A Slack export with one value of one of its files replaced by anything."""
    files: dict[str, object] = {"users.json": USERS, "channels.json": CHANNELS, "general/2023-12-31.json": MONDAY}
    (tmp_path / "general").mkdir(exist_ok=True)
    path = data.draw(st.sampled_from(places(files[name])))
    for file, document in files.items():
        changed_document = changed(document, path, lambda _: value) if file == name else document
        (tmp_path / file).write_text(json.dumps(changed_document))
    try:
        conversations = read_file(tmp_path)
    except InputError as error:
        assert error.reason
        return
    for turn in (turn for conversation in conversations for turn in conversation.turns):
        f"{turn.conversation}{turn.speaker}{turn.text}{turn.own_id}".encode()


MIXED = [
    ("irc", "a.log", [*IRC.values(), "[99:99] <a> b\n--- Day changed Mon Feb 99 2026\n"], []),
    ("qq wechat", "a.txt", [QQ, MEMOTRACE, CHATLOG.replace("{}", ""), "9999-99-99 10:00:05 A(1)\n消息对象:\n"], ["[图片](", "(", "<"]),
    ("viber", "a.csv", [VIBER], ['"', ",", "99/99/2026,10:00:05,A,+1,", "1/2/26, 9:00 PM,A,+1,x\n"]),
]  # fmt: skip


@pytest.mark.parametrize(("formats", "name", "texts", "more"), MIXED)
@given(data=st.data())
def test_mixed_lines(formats: str, name: str, texts: list[str], more: list[str], data: st.DataObject) -> None:
    """Lines of all programs in any order, and anything between them."""
    pieces = st.sampled_from([f"{line}\n" for text in texts for line in text.splitlines()] + more)
    mixed = "".join(data.draw(st.lists(pieces | st.text(max_size=12), max_size=14)))
    check(mixed.encode("utf-8", "surrogatepass"), name, data.draw(st.sampled_from([None, *formats.split()])))


@pytest.mark.parametrize(("format_name", "pieces"), [("facebook-html", PIECES), ("telegram-html", TELEGRAM_PIECES)])
@given(data=st.data())
def test_any_pieces(format_name: str, pieces: list[str], data: st.DataObject) -> None:
    """Pages made of what means something in them, in any order, broken off and nested anyhow."""
    mixed = data.draw(st.lists(st.sampled_from(pieces) | st.text(max_size=5), max_size=40))
    check("".join(mixed).encode("utf-8", "replace"), "a.html", format_name)


@pytest.mark.parametrize(
    ("format_name", "page", "step"), [("facebook-html", PAGE, 13), ("telegram-html", TELEGRAM_HTML, 7)]
)
def test_a_page_that_breaks_off_anywhere(format_name: str, page: str, step: int) -> None:
    """It gives the messages up to there, or says that there is none."""
    for length in range(0, len(page), step):
        check(page[:length].encode() or b" ", "a.html", format_name)

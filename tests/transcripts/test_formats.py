"""Detection, and the errors that come before any format."""

import json
from pathlib import Path

import pytest

import goalmem_cli
from goalmem_cli.errors import InputError, NoMessages, UnknownFormat, UsageError
from goalmem_cli.testing import HashEmbedder, ScriptedModel, faked
from goalmem_cli.transcripts import FORMATS, READERS, read_file
from tests.transcripts.layouts import EXPORTS
from tests.transcripts.reading import detect, jsonl, read_bytes
from tests.transcripts.test_agent_log import CLAUDE as AGENT_LOG
from tests.transcripts.test_came import TRIP
from tests.transcripts.test_chat_exports import SAMPLES as CHAT_EXPORTS
from tests.transcripts.test_cline import TASK, data_of
from tests.transcripts.test_described import FILES as DESCRIBED
from tests.transcripts.test_discord import DISCORD
from tests.transcripts.test_discord_package import CHANNEL
from tests.transcripts.test_facebook import ENCRYPTED, FACEBOOK
from tests.transcripts.test_facebook_html import PAGE
from tests.transcripts.test_gemini import SAMPLES as GEMINI
from tests.transcripts.test_goose import HEAD as GOOSE
from tests.transcripts.test_goose import SAID
from tests.transcripts.test_imessage import CHAT as IMESSAGE
from tests.transcripts.test_imessage_html import PAGE as IMESSAGE_PAGE
from tests.transcripts.test_irc import LOGS as IRC
from tests.transcripts.test_kakaotalk import ANDROID as KAKAOTALK
from tests.transcripts.test_kakaotalk import ENGLISH, WINDOWS
from tests.transcripts.test_line import JAPANESE as LINE
from tests.transcripts.test_mail import MAILBOX
from tests.transcripts.test_matrix import ROOM
from tests.transcripts.test_mattermost import EXPORT as MATTERMOST
from tests.transcripts.test_names import TALK as NAMES
from tests.transcripts.test_signal_jsonl import EXPORT as SIGNAL_EXPORT
from tests.transcripts.test_signal_text import MARKDOWN as SIGNAL
from tests.transcripts.test_sillytavern import CHAT as SILLYTAVERN
from tests.transcripts.test_slack import MONDAY as SLACK
from tests.transcripts.test_sms_backup import BACKUP
from tests.transcripts.test_table import FULL as TABLE
from tests.transcripts.test_telegram import ACCOUNT
from tests.transcripts.test_telegram import CHAT as TELEGRAM
from tests.transcripts.test_telegram_html import TELEGRAM_HTML
from tests.transcripts.test_viber import CHAT as VIBER
from tests.transcripts.test_vscode_copilot import SESSION
from tests.transcripts.test_wechat_qq import MEMOTRACE, QQ
from tests.transcripts.test_whatsapp import ANDROID as WHATSAPP
from tests.transcripts.test_x_archive import CHATS as X_CHATS
from tests.transcripts.test_x_archive import assigned

LOCOMO = b'{"session_1": [{"speaker": "A", "text": "x"}]}'
CHAT = b'[{"role": "user", "content": "x"}]'
LINES = b'{"role": "user", "content": "x"}\n{"role": "user", "content": "y"}\n'
BOLD = b"**A:** x\n**B:** y\n**A:** z\n"
SAMPLES: dict[str, tuple[str, bytes]] = {
    "locomo": ("a.json", LOCOMO),
    "openai": ("a.json", CHAT),
    "openai-jsonl": ("a.jsonl", LINES),
    "markdown": ("a.md", BOLD),
    "came": ("a.jsonl", jsonl(*TRIP)),
    "telegram": ("a.json", json.dumps(TELEGRAM).encode()),
    "slack": ("a.json", json.dumps(SLACK).encode()),
    "agent-log": ("a.jsonl", jsonl(*AGENT_LOG)),
    "whatsapp": ("a.txt", WHATSAPP.encode()),
    "signal": ("a.txt", SIGNAL.encode()),
    "imessage": ("a.txt", IMESSAGE.encode()),
    "line": ("a.txt", LINE.encode()),
    "kakaotalk": ("a.txt", KAKAOTALK.encode()),
    "names": ("a.txt", NAMES.encode()),
    "table": ("a.csv", TABLE.encode()),
    "mail": ("a.mbox", MAILBOX.encode()),
    "telegram-html": ("a.html", TELEGRAM_HTML.encode()),
    "facebook": ("a.json", json.dumps(FACEBOOK).encode()),
    "discord": ("a.json", json.dumps(DISCORD).encode()),
    "discord-package": ("a.json", json.dumps(CHANNEL).encode()),
    "facebook-html": ("a.html", PAGE.encode()),
    "imessage-html": ("a.html", IMESSAGE_PAGE.encode()),
    "matrix": ("export.json", json.dumps(ROOM).encode()),
    "mattermost": ("import.jsonl", jsonl(*MATTERMOST)),
    "x-archive": ("direct-messages.js", assigned(X_CHATS)),
    "irc": ("#boats.log", IRC["irssi"].encode()),
    "viber": ("a.csv", VIBER.encode()),
    "qq": ("a.txt", QQ.encode()),
    "wechat": ("a.txt", MEMOTRACE.encode()),
    "signal-jsonl": ("a.jsonl", jsonl(*SIGNAL_EXPORT)),
    "sms-backup": ("a.xml", BACKUP.encode()),
    "cline": ("a.json", data_of(TASK)),
    "goose": ("a.jsonl", jsonl(GOOSE, *SAID)),
    "sillytavern": ("a.jsonl", jsonl(*SILLYTAVERN)),
    "vscode-copilot": ("a.json", json.dumps(SESSION).encode()),
    **{name: (file, text.encode()) for name, (file, text) in DESCRIBED.items()},
    **GEMINI,
    **{name: ("a.jsonl" if name == "cursor" else "a.json", data) for name, data in CHAT_EXPORTS.items()},
    **{name: ("a.json", json.dumps(document).encode()) for name, document in EXPORTS.items()},
}


def test_the_table_of_formats() -> None:
    """Every reader has its own name, FORMATS names them in order, and a format stands before what it could be taken for."""
    assert [reader.name for reader in READERS] == list(FORMATS)
    assert len(set(FORMATS)) == len(FORMATS)
    assert set(SAMPLES) <= set(FORMATS)
    for specific, general in [
        ("realtalk", "locomo"),
        *((name, "openai") for name in ("locomo", *EXPORTS)),
        ("openai", "openai-jsonl"),
        ("telegram", "openai"),
        ("slack", "openai"),
        ("agent-log", "openai-jsonl"),
        ("came", "openai-jsonl"),
        *((name, "openai-jsonl") for name in ("goose", "sillytavern")),
        *(
            (name, "openai")
            for name in ("goose", "google-chat", "teams", "opencode", "facebook", "discord", "gemini-cli")
        ),
        ("gemini-cli", "agent-log"),
        ("cursor", "openai-jsonl"),
        ("cursor", "markdown"),
        *((name, "whatsapp") for name in ("imessage", "line", "kakaotalk")),
        ("whatsapp", "signal"),
        ("qq", "wechat"),
        ("copied-messages", "wechat"),
        ("viber", "table"),
        ("markdown", "names"),
        ("signal", "markdown"),
        ("openai-jsonl", "markdown"),
    ]:
        assert FORMATS.index(specific) < FORMATS.index(general)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_each_format_is_detected_among_all_others(name: str) -> None:
    """Each format's sample is detected as that format and read as it, from a file and from standard input."""
    file, data = SAMPLES[name]

    assert detect(file, data) == detect("-", data) == name
    assert {conversation.format for conversation in read_bytes(data, file)} == {name}


@pytest.mark.parametrize("name", sorted(EXPORTS))
def test_an_export_is_detected_as_object_and_as_array(name: str) -> None:
    """One record alone, the second of an array, and one behind its long beginning are detected alike."""
    document = EXPORTS[name]

    for value in (document, [document], [None, document], {"padding": ["x" * 1000] * 200, **document}):
        assert detect("a.json", json.dumps(value).encode()) == name


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.json", LOCOMO, "locomo"),
        ("a.json", b"[1, " + LOCOMO + b"]", "locomo"),
        ("a.json", b'{"conversation": {"session_2": 5}}', "locomo"),
        ("a.JSON", CHAT, "openai"),
        ("a.json", b'{"messages": [5, {"role": "user", "content": 5}]}', "openai"),
        ("a.json", b'[{"mapping": {"a": {"message": 5}}}]', "chatgpt"),
        ("a.json", b'{"mapping": 5, "current_node": "x"}', "chatgpt"),
        ("a.json", b'[{"chat_messages": 5}]', "claude"),
        ("a.json", b'[{"haystack_session_ids": 5}]', "longmemeval"),
        ("a.json", b'{"session_3": [5, {"clean_text": 5}]}', "realtalk"),
        ("a.json", b'{"conversation": [5, {"from": 5}]}', "sharegpt"),
        ("a.jsonl", b'{"a": 1}\n{"conversations": [{"from": 5}]}', "sharegpt"),
        ("a.json", b'[{"messages": []}, {"messages": [{"role": "assistant", "tool_calls": []}]}]', "openai"),
        ("a.json", LINES, "openai-jsonl"),
        ("a.jsonl", LINES, "openai-jsonl"),
        ("a.ndjson", b'{"meta": 1}\n{"messages": [{"role": "x", "content": 5}]}', "openai-jsonl"),
        ("a.md", BOLD, "markdown"),
        ("a.markdown", b"## Ann\nx\n## Ben\ny\n## Ann\nz\n", "markdown"),
        ("-", LOCOMO, "locomo"),
        ("-", CHAT, "openai"),
        ("-", LINES, "openai-jsonl"),
        ("-", BOLD, "markdown"),
        ("notes.txt", BOLD, "markdown"),
        ("a.json", b"\xef\xbb\xbf" + CHAT, "openai"),
        *((name, ENCRYPTED, "facebook") for name in ("a.json", "-")),
        *((name, json.dumps(ROOM, indent=2), "matrix") for name in ("export.json", "-")),
        *((name, text, "kakaotalk") for name in ("chat.txt", "-") for text in (KAKAOTALK, WINDOWS, ENGLISH)),
        # a colon with blanks in a text of WhatsApp's old layout makes no chat of KakaoTalk's
        ("chat.txt", b"14.11.23 21:25:15: Ana: oui : non\n", "whatsapp"),
        ("chat.txt", b"2023/11/14, 21:25 - Ana: oui : non\n", "whatsapp"),
        # ISO dates on a clock of 24 hours are Signal's unless WhatsApp's invisible marks are there
        ("a.txt", b"[2023-12-31, 21:15:07] Ana: x\n", "signal"),
        ("a.txt", b"[2023-12-31, 9:15:07 PM] Ana: x\n", "whatsapp"),
        ("a.txt", b"Feb 01, 2026 10:00:05 AM\nMira\nLate?\n\nFeb 01, 2026 10:00:09 AM\nOtto\nYes\n\n", "imessage"),
        *(("result.json", chat, "telegram") for chat in (TELEGRAM, ACCOUNT, {"type": "personal_chat", "messages": []})),
        ("result.json", {"messages": [{"role": "user", "content": "x"}]}, "openai"),
        ("result.json", {"type": "chat", "messages": [{"role": "user", "content": "x"}]}, "openai"),
        ("a.jsonl", {"role": "user", "content": "x"}, "openai-jsonl"),
        # turns that have `text` are LoCoMo's, whatever else they have
        ("a.json", {"session_1": [{"speaker": "A", "text": "x", "clean_text": "x"}]}, "locomo"),
    ],
)
def test_detection(name: str, data: object, expected: str) -> None:
    """The ending and the data together tell the format, even when details of it are wrong."""
    assert detect(name, data) == expected


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.json", b"{}"),
        ("a.json", b'"text"'),
        ("a.json", b"[]"),
        ("a.json", b'{"mapping": {"a": "b"}}'),
        ("a.json", b'{"conversations": [{"role": "x"}]}'),
        ("a.json", b'{"messages": 5}'),
        ("a.json", b'{"messages": []}'),
        ("a.json", b'{"messages": [{"sender": "@ana:x.org", "content": {"body": "x"}}]}'),
        ("a.json", b'{"messages": [{"role": "user", "parts": [{"text": "x"}]}]}'),
        ("a.jsonl", b'{"messages": [{"author": "x"}]}'),
        ("a.jsonl", b'{"a": 1}'),
        ("a.jsonl", b"plain"),
        ("-", b"plain text"),
        ("a.md", b"plain text"),
    ],
)
def test_unknown_formats(name: str, data: bytes) -> None:
    """What no reader recognises is an error that names formats, and the command that lists them all."""
    with pytest.raises(UnknownFormat) as caught:
        detect(name, data)

    assert caught.value.reason.startswith("in none of the accepted formats; ")
    reason = caught.value.reason
    assert any(format_name in reason for format_name in FORMATS) or "none of the" in reason
    assert "goalmem ingest --formats" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "data"),
    [
        # programs have times in their logs too, and nobody in them speaks
        ("a.log", b"10:00 started\n10:01 stopped\n"),
        ("a.log", b"[10:00:05] <b>bold</b>\n"),
        ("a.log", b"2026-02-01 10:00:05 INFO server <main> started\n2026-02-01 10:00:06 INFO <main> stopped\n"),
        ("a.log", b"<mira> hello\n<otto> hello\n"),
        # levels do not speak, a log has no empty lines, a speaker comes back
        ("a.txt", b"2026-02-01 10:00:05 INFO\nstarted\n\n2026-02-01 10:00:09 INFO\nstopped\n"),
        ("a.txt", b"2026-02-01 10:00:05 started\n2026-02-01 10:00:09 started\n"),
        ("a.txt", b"2026-02-01 10:00:05 Release 1.2\n- fog\n\n2026-02-02 10:00:05 Release 1.1\n- tide\n"),
        ("a.txt", b"Boats\n\n2026-02-01 10:00:05 Mira\nLate\n\n2026-02-02 10:00:05 Mira\nLate\n"),
        # readings and bank statements have days and times too
        ("a.csv", b"Date,Time,Amount\n01/02/2026,10:00:05,4.50\n"),
        ("a.csv", b"01/02/2026,10:00:05,4.50,7\n02/02/2026,10:00:05,4.50,7\n"),
        # a table without texts, or without speakers, is no conversation
        ("a.csv", b"a,b,c\n1,2,3\n"),
        ("a.csv", b"price,date\n3,2023-01-01\n"),
        ("a.csv", b"text\nx\n"),
        # nor is any other page, or other XML, such as a backup of calls
        ("a.html", b"<html><body><p>x</p></body></html>"),
        ("a.xml", b"<html><body>x</body></html>"),
        ("a.xml", b'<?xml version="1.0"?><calls count="1"><call number="1" /></calls>'),
        # events of other agents have a session too
        ("a.jsonl", b'{"type": "message", "session_id": "s1", "role": "user", "text": "Late?"}'),
        ("a.jsonl", b'{"type": "user.message", "session_id": "s1", "prompt": "Late?"}'),
        ("a.jsonl", b'{"type": "system", "session_id": "s1", "model": "m", "cwd": "/boats"}'),
        # where other parts come before, `User` and `Model` are parts too
        (
            "README.md",
            b"# App\n\n## Installing\n\nRun it.\n\n## Tables\n\nTwo.\n\n### User\n\nA name.\n\n### Model\n\nA number.\n",
        ),
        (
            "README.md",
            b"# App\n\n## Installing\n\nRun it.\n\n## Terms\n\n**Prompt:** what is sent.\n\n**Response:** what comes.\n",
        ),
    ],
)
def test_what_looks_like_a_chat_and_is_none(name: str, data: bytes) -> None:
    """Logs, notes, tables, documents and other programs' events are in no format."""
    with pytest.raises(UnknownFormat):
        detect(name, data)


@pytest.mark.parametrize(
    ("format_name", "name", "content"),
    [
        ("irc", "a.log", "--- Log opened Sun Feb 01 10:00:00 2026\n10:00 -!- mira has joined\n"),
        ("qq", "a.txt", QQ.partition("2026")[0]),
        ("viber", "a.csv", "13/02/2026,10:00:05,Mira,+441230,\n"),
        ("kakaotalk", "KakaoTalkChats.txt", "Saturday, March 5, 2023\nnothing\n"),
    ],
)
def test_a_file_in_which_nobody_speaks_is_an_error(format_name: str, name: str, content: str) -> None:
    """In one line, with what was looked for."""
    with pytest.raises(NoMessages, match=f"no messages found, read as {format_name}"):
        read_bytes(content, name, format_name)


@pytest.mark.parametrize(
    ("name", "data", "beside"),
    [
        ("a.json", b'{"messages": [{"creator": 5, "body": "x"}]}', "nearest: google-chat ("),
        ("a.json", b'{"messages": [{"role": "user", "parts": []}]}', "nearest: openai ("),
        ("a.jsonl", b'{"messages": [{"role": "user", "text": "x"}]}', "nearest: openai ("),
        ("package.json", b'{"name": "x", "type": "module"}', "none of the "),
        ("a.md", b"plain text", "with .md: "),
        ("a.json", b"{}", "none of the "),
        ("-", b"plain text", "none of the "),
    ],
)
def test_an_unknown_format_names_the_nearest(name: str, data: bytes, beside: str) -> None:
    """First by the keys that a format is recognised by; without any, those with that ending; without one, all."""
    with pytest.raises(UnknownFormat) as caught:
        detect(name, data)

    assert f"; {beside}" in caught.value.reason


@pytest.mark.parametrize(
    ("name", "data", "place", "reason"),
    [
        ("a.json", b'[{"role": "user",\n "content": "x"},\n}', "line 3, column 1", "not JSON"),
        ("-", b'{"role": ', "line 1, column 10", "not JSON"),
        ("a.json", b"", "", "the file is empty"),
        ("a.md", b"\xef\xbb\xbf \r\n\t", "", "the file is empty"),
        ("a.md", b"**A:** caf\xe9", "byte 10", "not UTF-8"),
        ("a.md", b"\xef\xbb\xbf**A:** caf\xe9 x", "byte 13", "not UTF-8"),
        ("a.json", b"\xff\xfe[\x00", "line 1, column 2", "not JSON"),
        ("a.json", b"\xff\xfe[\x00[", "byte 4", "not UTF-16"),
        ("a.json", b"\xfe\xff\x00[\xd8\x00\x00]", "byte 4", "not UTF-16"),
        ("a.json", b"[" * 200_000, "line 1, column 2", "the JSON is nested too deeply"),
        ("a.json", b"[" + b"9" * 5000 + b"]", "line 1, column 2", "the JSON holds a number of too many digits"),
    ],
)
def test_unreadable_data(name: str, data: bytes, place: str, reason: str) -> None:
    """Text that is not UTF-8 gives the byte, text that is not JSON the line and column."""
    with pytest.raises(InputError) as caught:
        read_bytes(data, name)

    assert (caught.value.path, caught.value.place) == (name, place)
    assert caught.value.reason.startswith(reason)
    assert "\n" not in caught.value.message


def test_a_format_given_is_believed() -> None:
    """With a format given nothing is detected, so a README is read as Markdown when asked to."""
    text = b"# Title\n## A\nx\n## B\ny\n## C\nz\n"

    assert len(read_bytes(text, "README.md", "markdown")[0].turns) == 3
    assert read_bytes(CHAT, "a.md", "openai")[0].format == "openai"


def test_an_unknown_format_is_a_usage_error() -> None:
    """The error's hint lists the formats there are."""
    with pytest.raises(UsageError) as caught:
        read_bytes(CHAT, "a.json", "docx")

    assert "goalmem ingest --formats" in caught.value.hint


def test_missing_files_and_folders_are_input_errors(tmp_path: Path) -> None:
    """A path that cannot be read as a file is named with the system's reason."""
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(InputError) as caught:
            read_file(path)
        assert str(path) in caught.value.message
        assert caught.value.exit_code == 5


def test_reading_twice_gives_equal_values_and_growth_keeps_the_old(tmp_path: Path) -> None:
    """The same file gives the same turns, and a grown one the same turns and more: ids do not move."""
    file = tmp_path / "chat.jsonl"
    file.write_bytes(LINES)
    (first,) = read_file(file)
    (again,) = read_file(file)
    file.write_bytes(LINES + b'{"role": "user", "content": "z"}\n')
    (grown,) = read_file(file)

    assert first == again
    assert [turn.id for turn in grown.turns[:2]] == [turn.id for turn in first.turns]
    assert len(grown.turns) == 3


NEWEST = ("sillytavern", "cline", "goose", "imessage-html", "x-archive", "irc", "matrix", "mattermost")


@pytest.mark.parametrize("name", NEWEST)
def test_storing_a_file_twice_stores_nothing_new(name: str, tmp_path: Path) -> None:
    """Nor does a copy of it under another name."""
    file, data = SAMPLES[name]
    first, copy = tmp_path / file, tmp_path / "copy" / file
    copy.parent.mkdir()
    first.write_bytes(data)
    copy.write_bytes(data)
    memory = goalmem_cli.open(tmp_path / "store", factories=faked(ScriptedModel([]), HashEmbedder()))
    (stored,), (again,), (other,) = (memory.ingest(path) for path in (first, first, copy))

    assert (stored.format, stored.new_turns) == (name, stored.turns)
    assert (again.new_turns, other.new_turns) == (0, 0)


def test_a_file_name_that_is_not_utf8_still_names_a_conversation() -> None:
    """Bytes that the file system gave as surrogates do not reach the store."""
    (conversation,) = read_bytes(CHAT, "caf\udce9.json")

    assert conversation.name == "caf\ufffd"

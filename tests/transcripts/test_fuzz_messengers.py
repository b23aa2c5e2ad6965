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
from tests.transcripts import (
    test_cline as cline,
)
from tests.transcripts import (
    test_discord as discord,
)
from tests.transcripts import (
    test_discord_package as discord_package,
)
from tests.transcripts import (
    test_goose as goose,
)
from tests.transcripts import (
    test_matrix as matrix,
)
from tests.transcripts import (
    test_mattermost as mattermost,
)
from tests.transcripts import (
    test_signal_jsonl as signal_jsonl,
)
from tests.transcripts import (
    test_sillytavern as sillytavern,
)
from tests.transcripts import (
    test_vscode_copilot as vscode_copilot,
)
from tests.transcripts import (
    test_x_archive as x_archive,
)
from tests.transcripts.reading import jsonl
from tests.transcripts.test_agent_log import CLAUDE, CODEX
from tests.transcripts.test_fuzz import VALUES, changed, check, places
from tests.transcripts.test_signal_text import LETTERS, MARKDOWN, SHORT
from tests.transcripts.test_slack import CHANNELS, MONDAY, TUESDAY, USERS
from tests.transcripts.test_telegram import ACCOUNT, CHAT
from tests.transcripts.test_whatsapp import ANDROID, IOS

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


@given(st.data(), st.sampled_from([CHAT, ACCOUNT, MONDAY, TUESDAY]), VALUES)
def test_mutated_documents(data: st.DataObject, document: object, value: object) -> None:
    """A valid export with one value of it replaced by anything."""
    path = data.draw(st.sampled_from(places(document)))
    given_name = data.draw(st.sampled_from([None, "telegram", "slack"]))
    check(json.dumps(changed(document, path, lambda _: value)).encode(), "result.json", given_name)


@given(st.data(), st.sampled_from([CLAUDE, CODEX]), VALUES, st.sampled_from([None, "agent-log"]))
def test_mutated_logs(
    data: st.DataObject, log: list[dict[str, object]], value: object, format_name: str | None
) -> None:
    """A valid log with one value of it replaced by anything."""
    path = data.draw(st.sampled_from(places(log)[1:]))
    mutated = changed(log, path, lambda _: value)
    assert isinstance(mutated, list)
    check(jsonl(*mutated), "log.jsonl", format_name)


OTHERS = [
    ("cline", "a.json", cline.TASK), ("discord", "a.json", discord.DISCORD), ("goose", "a.json", goose.EXPORT),
    ("discord-package", "messages.json", discord_package.CHANNEL), ("goose", "a.jsonl", [goose.HEAD, *goose.SAID]),
    ("matrix", "export.json", matrix.ROOM), ("mattermost", "import.jsonl", mattermost.EXPORT),
    ("signal-jsonl", "main.jsonl", signal_jsonl.EXPORT), ("sillytavern", "a.jsonl", sillytavern.CHAT),
    ("vscode-copilot", "a.json", vscode_copilot.SESSION), ("vscode-copilot", "a.jsonl", vscode_copilot.LOG),
    ("x-archive", "direct-messages.js", x_archive.CHATS),
]  # fmt: skip


@pytest.mark.parametrize(("format_name", "name", "export"), OTHERS)
@given(data=st.data(), value=VALUES)
def test_mutated_exports(format_name: str, name: str, export: Any, data: st.DataObject, value: object) -> None:
    """A valid export with one value of it replaced by anything; a file of lines stays one."""
    is_of_lines = name.endswith(".jsonl")
    path = data.draw(st.sampled_from(places(export)[1 if is_of_lines else 0 :]))
    mutated: Any = changed(export, path, lambda _: value)
    written = jsonl(*mutated) if is_of_lines else json.dumps(mutated).encode()
    before = b"window.YTD.direct_messages.part0 = " if name.endswith(".js") else b""
    check(before + written, name, data.draw(st.sampled_from([None, format_name])))


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

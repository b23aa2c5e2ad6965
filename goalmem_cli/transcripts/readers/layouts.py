"""The layouts of chats in JSON that `described.DescribedReader` reads: one entry of the table each.

`deepseek` and `grok` are the exports of 2025 and 2026. `open-webui` is the export of 0.6 ("Export chats"). `chatlab` is
ChatLab's interchange format 0.0.2 (JSON and JSONL). `llama-ui` is what llama.cpp's web page saves (JSONL, 2026).
`ai-studio` is what Google AI Studio keeps in Google Drive (2024 to 2026). `oasst` is OpenAssistant's data (2023: trees
and single messages). `fireflies` is a transcript as the API of Fireflies.ai gives it (GraphQL, 2024 and 2025).
`rocketchat` is what Rocket.Chat's API (2019) and data export (exportRoomMessagesToFile.ts of 2022 to 2026) give.
`mattermost` is the bulk export (`mmctl export create`, 5.x to 11.x, 2018 to 2026): users and channels, then posts with
their answers. Posts have no ids: author and time identify them. `cline` is a task of Cline (1.0 to 3.x, 2024 to 2026)
or Roo Code, as its panel showed it: a folder that is named by the task's number. The file beside it has what was sent
to the model, without times. `goose` is a session of Goose (block/goose): JSONL of 1.0 to 1.9 (2025), whose first line
describes it, and `goose session export --format json` since. `sillytavern` is a chat of SillyTavern (1.8 to 1.13, 2023
to 2026): a head, which groups do not have before 2025, then a message a line. Its times are local and in three forms,
since 2025 in UTC, or in milliseconds.

Four layouts were not tried on real files, so `ingest --formats` calls them "untested". `lm-studio` is the
`*.conversation.json` of LM Studio 0.3 (after YorkieDev/lm-studio-conversation-converter of 2025). `copilot-cli` is the
events.jsonl of the GitHub Copilot CLI 0.0.369 to 1.0.63 (after public session logs). `continue` is a session of
Continue or Kiro. `mistral` is the `chat-*.json` of Le Chat's data export (after Superkikim/nexus-ai-chat-importer of
2025).
"""

from __future__ import annotations

import re

from goalmem_cli.transcripts.readers import told
from goalmem_cli.transcripts.readers.arranged import line_of_oasst, told_in_turns, with_caption
from goalmem_cli.transcripts.readers.described import Described, Line
from goalmem_cli.transcripts.reading.drafts import Draft
from goalmem_cli.transcripts.reading.nodes import Node


def _line_of_llama(line: Node) -> Line:
    if line.child("type").value == "session":
        return Line({key: line.child(key).value for key in line.keys()}, is_head=True)  # noqa: SIM118
    return Line(messages=[line.child("message")] if line.has("message") else [])


def _line_of_chatlab(line: Node) -> Line:
    kind = line.child("_type").value
    about = {key: line.child(key).value for key in line.keys()} if kind == "header" else {}  # noqa: SIM118
    return Line(about, [line] if kind == "message" else [])


def _line_of_copilot(line: Node) -> Line:
    """Return the session that the line begins, or its message; another event is a message of nobody."""
    kind, data = line.child("type").value, line.child("data")
    if kind == "session.start":
        return Line({"id": data.child("sessionId").value}, is_head=True)
    is_said = kind in ("user.message", "assistant.message")
    role = str(kind).partition(".")[0] if is_said else "event"
    if is_said and data.child("parentToolCallId").value is not None:
        role = "subagent"
    content = data.child("content").value if is_said else None
    return Line(messages=[line.with_members({"role": role, "content": content})])


def _version_shown(draft: Draft, entry: Node) -> Node:
    """Return the version of an LM Studio message that was shown last. The texts of its steps are its content."""
    versions = entry.required("versions").elements()
    if not versions:
        raise entry.child("versions").error("is empty")
    draft.count("messages on other branches left out", len(versions) - 1)
    number = entry.child("currentlySelected").value
    shown = versions[number if isinstance(number, int) and 0 <= number < len(versions) else -1]
    if not shown.has("steps"):
        return shown
    parts: list[object] = []
    for step in shown.child("steps").elements():
        if step.child("type").value != "contentBlock":
            draft.count("notes of the program and tool calls left out")
        elif step.at(("style", "type")).value == "thinking":
            draft.count("thinking left out")
        else:
            parts += [part.value for part in step.child("content").elements()]
    return Node({"role": shown.child("role").value, "content": parts}, shown.file, shown.path, shown.line)


def _is_of_copilot(line: Node) -> bool:
    return line.child("type").value == "session.start" and line.child("data").has("sessionId")


def _is_of_rocketchat(line: Node) -> bool:
    """Say whether the line is a message; programs log with `msg` and `ts` too, but with a `level`."""
    said = line.child("ts")
    is_timed = isinstance(said.value, str) or said.has("$date")
    return is_timed and line.has("msg") and line.has("username") and not line.has("level")


def _is_of_oasst(line: Node) -> bool:
    """Say whether the line is of a tree: it names it, or is its first message, with all replies in it."""
    if line.has("message_tree_id"):
        return True
    is_first = line.has("message_id") and line.child("parent_id").value is None
    is_said = all(isinstance(line.child(key).value, str) for key in ("text", "role"))
    return is_first and is_said and isinstance(line.child("replies").value, list)


_SESSION_OF_GOOSE = re.compile(r"\d{8}_\d+", re.ASCII)
_TASK_OF_CLINE = re.compile(r"\d{13}|[0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_INSTRUCTIONS = "instructions of the program left out"
LAYOUTS = (
    Described(
        "deepseek", "`mapping` of messages with `fragments`", (("mapping",),), ("mapping",), inner=("message",),
        own_id=("id",), time=("inserted_at",), parent=("parent",), fragments="fragments", entry=("fragments",),
    ),
    Described(
        "grok", "`conversations` of a `conversation` and its `responses`", (("conversation",), ("responses",)),
        ("responses",), wraps=(("conversations",),), id=("conversation", "id"), title=(("conversation", "title"),),
        inner=("response",), own_id=("_id",), speaker=(("sender",),), text=("message",), time=("create_time",),
    ),
    Described(
        "open-webui", "`chat` with `history` of `messages`", (("chat", "history", "messages"),),
        ("chat", "history", "messages"), parent=("parentId",), current=("chat", "history", "currentId"),
    ),
    Described(
        "chatlab", "`chatlab` and `meta`", (("chatlab",), ("messages",)), ("messages",), suffixes=(".json", ".jsonl"),
        id=("meta", "groupId"), title=(("meta", "name"),), own_id=("platformMessageId",),
        speaker=(("groupNickname",), ("accountName",), ("sender",)), kind=("type",), of_line=_line_of_chatlab,
        is_line=lambda line: line.has("chatlab"), is_of_people=True,
    ),
    Described(
        "llama-ui", "lines of `harness` llama.app and messages with `convId`", (("currNode",), ("messages",)),
        ("messages",), suffixes=(".jsonl",), title=(("name",),), parent=("parent",), current=("currNode",),
        of_line=_line_of_llama, is_line=lambda line: line.has("harness") and line.has("currNode"),
    ),
    Described(
        "ai-studio", "`chunkedPrompt` with `chunks`", (("chunkedPrompt", "chunks"),), ("chunkedPrompt", "chunks"),
        text=("text",), time=("createTime",), thought="isThought", parts="parts", aside={
            **dict.fromkeys(("executableCode", "codeExecutionResult"), "code that the model ran, left out"),
            **dict.fromkeys(
                ("driveImage", "driveDocument", "driveVideo", "driveAudio", "inlineImage", "inlineFile", "inlineData",
                 "inlineAudio", "youtubeVideo"), "media and files left out"),
        },
    ),
    Described(
        "lm-studio", "`messages` with `versions` and `currentlySelected` (untested)", (("createdAt",), ("messages",)),
        ("messages",), title=(("name",),), chosen=_version_shown, entry=("versions",), unsaid={"system": _INSTRUCTIONS},
    ),
    Described(
        "copilot-cli", "lines after `session.start` of GitHub Copilot (untested)", suffixes=(".jsonl",),
        of_line=_line_of_copilot, is_line=_is_of_copilot, unsaid={
            "event": "tool calls and other events left out", "subagent": "messages of subagents left out",
        },
    ),
    Described(
        "continue", "`history` of `message`, with `sessionId` and `workspaceDirectory` (untested)",
        (("sessionId",), ("workspaceDirectory",), ("history",)), ("history",), id=("sessionId",), inner=("message",),
        unsaid={"system": _INSTRUCTIONS, "tool": "answers of tools left out", "thinking": "thinking left out"},
    ),
    Described(
        "mistral", "messages with `chatId` and `contentChunks` (untested)", (("chatId",), ("createdAt",)),
        ("messages",), time=("createdAt",), parts="contentChunks", is_of_parts=True,
        of_line=lambda line: Line({"id": line.child("chatId").value}, [line]),
        is_line=lambda line: line.has("chatId") and line.has("contentChunks"), is_sorted=False,
    ),
    Described(
        "oasst", "trees with `message_tree_id` and `prompt`, or their messages one a line", (("message_tree_id",),),
        ("messages",), suffixes=(".jsonl", ".json"), own_id=("message_id",), text=("text",), time=("created_date",),
        parent=("parent_id",), rank=("rank",), of_line=line_of_oasst, is_line=_is_of_oasst,
        is_of_parts=True,
    ),
    Described(
        "rocketchat", "`messages` with `rid` and `msg`, or lines of `msg`, `username` and `ts`", (("messages",),),
        ("messages",), suffixes=(".json", ".jsonl"), own_id=("_id",), text=("msg",), time=("ts",), kind=("t",),
        speaker=(("u", "name"), ("u", "username"), ("username",)), entry=("rid", "msg"), chosen=with_caption,
        of_line=lambda line: Line(messages=[line.with_members({"t": line.child("type").value})]),
        is_line=_is_of_rocketchat, is_sorted=False, aside={"file": "media left out"}, is_of_people=True,
    ),
    Described(
        "mattermost", "lines of `type` post with `post`, below people and channels", suffixes=(".jsonl",),
        of_line=told.line_of_mattermost, is_line=told.is_of_mattermost, says=told.said_in_mattermost,
        time=("create_at",), is_mixed=True, is_sorted=False, is_of_people=True,
    ),
    Described(
        "cline", "messages with `ts` and `say` or `ask`; a folder with `ui_messages.json`",
        of_line=lambda shown: Line(messages=[shown]), is_line=told.is_of_cline, is_of_parts=True, is_one_chat=True,
        says=told.said_in_cline, files=("ui_messages.json", "claude_messages.json"), named=_TASK_OF_CLINE,
    ),
    Described(
        "goose", "`working_dir` with `conversation`, or above lines of `role` and `content`",
        (("working_dir",), ("conversation",)), ("conversation",), suffixes=(".jsonl", ".json"),
        title=(("name",), ("description",)), is_line=told.is_of_goose, is_one_chat=True, named=_SESSION_OF_GOOSE,
        of_line=lambda line: Line(messages=[] if told.is_of_goose(line) else [line]), says=told.said_in_goose,
    ),
    Described(
        "sillytavern", "lines of `mes` with `is_user`, below a line with `chat_metadata`", suffixes=(".jsonl",),
        of_line=told.line_of_tavern, is_line=told.is_of_tavern, is_one_chat=True, says=told.said_in_tavern,
    ),
    Described(
        "fireflies", "`sentences` with `speaker_name` and `start_time`", (("sentences",),), ("sentences",),
        wraps=(("data", "transcripts"), ("data", "transcript"), ("rawResponse",)), entry=("start_time",),
        speaker=(("speaker_name",),), text=("text",), made=told_in_turns,
    ),
)  # fmt: skip

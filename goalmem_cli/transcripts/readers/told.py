"""Reads the messages of described layouts where keys alone do not tell what was said: parts, notices, joined lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts.readers.described import Chat, Line
from goalmem_cli.transcripts.reading.attributes import attributes, edited_at, objects_in, reactions_in
from goalmem_cli.transcripts.reading.drafts import Draft, Message, messages_of_parts
from goalmem_cli.transcripts.reading.messenger import Opening
from goalmem_cli.transcripts.reading.nodes import Node, node_from_text
from goalmem_cli.transcripts.reading.told_times import Stamp, stamp_from_text

_LONGEST_MEETING = 10**6
"""In seconds."""


def line_of_oasst(line: Node) -> Line:
    """Return the messages of a tree, which has its `prompt` or is its first message, or a single message."""
    root = line.child("prompt") if line.has("prompt") else line
    is_tree = line.has("prompt") or bool(line.child("replies").value)
    tree = line.child("message_tree_id").value or line.child("message_id").value
    return Line({"id": tree}, list(_flat(root)) if is_tree else [root], is_head=line.has("prompt"))


def with_caption(_draft: Draft, message: Node) -> Node:
    """Return Rocket.Chat's message with the captions of files as text, and what is attached and no quote as `file`."""
    listed = message.child("attachments").value
    attached = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    if not attached:
        return message
    files = [one for one in attached if any(one.values()) and not one.get("message_link")]
    text = "\n\n".join(said for one in files if isinstance(said := one.get("description"), str))
    file = message.child("file").value or files or None
    return message.with_members({"msg": message.child("msg").value or text, "file": file})


def told_in_turns(meeting: Node) -> Node:
    """Return the meeting with consecutive sentences of one speaker joined, and the time at which each turn begins."""
    stamp = meeting.child("date").stamp()
    began = None if stamp is None or stamp.unread else stamp.moment
    speakers = objects_in(meeting.child("speakers"))
    named = {
        number: one.child("name").value for one in speakers if isinstance(number := one.child("id").value, (int, str))
    }
    turns: list[dict[str, object]] = []
    for sentence in meeting.required("sentences").elements():
        speaker, text = _speaker_of(sentence, named), sentence.child("text").optional_text()
        if turns and text and turns[-1]["speaker_name"] == speaker:
            turns[-1]["text"] = f"{turns[-1]['text']} {text}"
        elif text:
            said = _moment(began, sentence.child("start_time").value)
            turns.append({"speaker_name": speaker, "text": text, "timestamp": said})
    about = {key: meeting.child(key).value for key in ("id", "title")}
    return replace(meeting, value={**about, "sentences": turns})


def _flat(prompt: Node) -> Iterator[Node]:
    """Yield the messages of a tree, each before its replies."""
    waiting = [prompt]
    while waiting:
        message = waiting.pop()
        if isinstance(message.value, dict):
            yield message
            replies = message.child("replies")
            waiting.extend(reversed(replies.elements()) if isinstance(replies.value, list) else ())


def _speaker_of(sentence: Node, named: Mapping[int | str, object]) -> str:
    """Return the speaker of a sentence: its own name, the name under its number in `named`, or "Speaker 1"."""
    number = sentence.child("speaker_id").value
    name = sentence.child("speaker_name").optional_name()
    known = named.get(number) if isinstance(number, (int, str)) else None
    if name or isinstance(known, str):
        return name or str(known)
    return f"Speaker {number + 1}" if isinstance(number, int) else "unknown"


def _moment(began: datetime | None, seconds: object) -> str | None:
    """Return the time `seconds` after the meeting began."""
    if began is None or not isinstance(seconds, (int, float)) or not 0 <= seconds <= _LONGEST_MEETING:
        return None
    return (began + timedelta(seconds=int(seconds))).isoformat().replace("+00:00", "Z")


_INSERTED = re.compile(r"<info-msg>.*</info-msg>", re.DOTALL)
_CALLS = frozenset({"toolRequest", "frontendToolRequest", "toolConfirmationRequest", "actionRequired"})
_LEFT_OUT = {"thinking": "thinking", "redactedThinking": "thinking", "image": "images"}


def is_of_goose(line: Node) -> bool:
    """Say whether the line describes a session; an exported one has its `conversation` too."""
    is_meant = line.has("working_dir") and not line.has("role")
    return is_meant and any(map(line.has, ("description", "message_count", "total_tokens", "conversation")))


def said_in_goose(chat: Chat, node: Node) -> Iterator[Message]:
    """Yield what the message says, then what tools answered in it."""
    role, own_id = node.required("role").filled_text(), node.child("id").optional_name()
    said = node.child("created").stamp()
    if node.at(("metadata", "userVisible")).value is False:
        chat.draft.count("instructions and summaries of the program left out")
        return
    yield from messages_of_parts(role, said, own_id, _parts_of_goose(chat, said, node.required("content").elements()))


def _parts_of_goose(chat: Chat, said: Stamp | None, parts: Iterable[Node]) -> Iterator[str | Message]:
    """Yield texts, and tools' answers under the names that their calls gave; count other parts."""
    for part in parts:
        kind = part.child("type").optional_text()
        if kind == "text":
            text = part.required("text").text()
            is_inserted = _INSERTED.fullmatch(text) is not None
            chat.draft.count("texts that nobody said left out", is_inserted)
            yield "" if is_inserted else text
        elif kind in _CALLS:
            chat.draft.count("tool calls left out")
            call, tool = part.child("id").optional_name(), part.at(("toolCall", "value", "name")).optional_text()
            chat.names |= {call: tool} if call and tool else {}
        elif kind == "toolResponse":
            call, answer = part.child("id").optional_name(), _answer_of_goose(part.child("toolResult"))
            chat.draft.count("answers of tools without text left out", not answer)
            if answer:
                yield Message(chat.names.pop(call or "", "tool"), answer, said, call, "tool")
        else:
            chat.draft.count(f"{_LEFT_OUT.get(kind, 'other parts of messages')} left out")


def _answer_of_goose(result: Node) -> str:
    """Return the texts of a tool's answer, which is a list or an object with a list; else its error."""
    value = result.at(("value",))
    listed = objects_in(value.child("content") if isinstance(value.value, dict) else value)
    texts = filter(None, (one.child("text").optional_text() for one in listed))
    return "\n".join(texts) or result.at(("error",)).optional_text()


_BY_USER = frozenset({"task", "user_feedback"})
_BY_ASSISTANT = frozenset({"text", "completion_result", "plan_completion_result"})
_QUESTIONS = frozenset({"followup", "plan_mode_respond", "act_mode_respond"})


def is_of_cline(node: Node) -> bool:
    """Say whether this is a message that Cline's panel showed."""
    kind = node.child("type").value
    return node.has("ts") and kind in ("ask", "say") and node.has(str(kind))


def said_in_cline(chat: Chat, node: Node) -> Iterator[Message]:
    """Yield what was shown. A question may hold the answer that the user chose, which is a message too.

    A text that is repeated milliseconds later in one reply is counted. A task that changed files has that at its end.
    """
    shown = node.value if isinstance(node.value, dict) else {}
    last, chat.last = chat.last, tuple(shown.get(key) for key in ("say", "text", "conversationHistoryIndex"))
    is_there = chat.last == last and all(last)
    chat.draft.count("messages that are there twice, left out", is_there)
    if is_there:
        return
    way = node.required("type").filled_text()
    kind = node.child(way).optional_text()
    text = node.child("text").optional_text().removesuffix("HAS_CHANGES").strip()
    is_by_user = kind in _BY_USER or (not chat.draft.is_begun and way == "say" and kind == "text")
    said, own_id = node.child("ts").stamp(), node.child("ts").optional_name()
    if kind in _QUESTIONS:
        question, chosen = _question_of_cline(text, node)
        yield Message("assistant", question, said, own_id, "assistant")
        if chosen:
            yield Message("user", chosen, said, f"{own_id}-2", "user")
    elif (is_by_user or kind in _BY_ASSISTANT) and text:
        media = sum(len(listed) for key in ("images", "files") if isinstance(listed := node.child(key).value, list))
        chat.draft.count("media and files left out", media)
        role = "user" if is_by_user else "assistant"
        yield Message(role, text, said, own_id, role)
    else:
        chat.draft.count("thinking left out" if kind == "reasoning" else "tool calls and other events left out")


def _question_of_cline(text: str, node: Node) -> tuple[str, str]:
    """Return the assistant's question with its options, and the chosen option ("" if none); older ones are plain text.

    Raises:
        InputError: it is JSON, but in another layout.
    """
    try:
        asked = node_from_text(text, node.file, node.line)
    except InputError:
        return text, ""
    if not isinstance(asked.value, dict):
        return text, ""
    said = asked.child("question").optional_text() or asked.child("response").optional_text()
    listed = next((one for key in ("options", "suggest") if isinstance((one := asked.child(key)).value, list)), None)
    given = [] if listed is None else listed.elements()
    options = [(one.child("answer") if isinstance(one.value, dict) else one).optional_text() for one in given]
    return "\n".join([said, *(f"- {option}" for option in options if option)]), asked.child("selected").optional_text()


_OF_TAVERN = ("user_name", "character_name", "chat_metadata")
_MEDIA = ("image", "video", "file", "files", "media", "image_swipes")
_TAVERN_TIME = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2}) ?@(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s(?: ?(\d{1,3})ms)?", re.ASCII
)


def is_of_tavern(line: Node) -> bool:
    """Say whether the line is a message of SillyTavern, or the head of a chat."""
    return (line.has("mes") and line.has("is_user")) or all(map(line.has, _OF_TAVERN))


def line_of_tavern(line: Node) -> Line:
    """Return the line as a message, unless it is a head."""
    is_head = not line.has("mes") and line.has_any(frozenset(_OF_TAVERN))
    return Line(messages=[] if is_head else [line])


def said_in_tavern(chat: Chat, line: Node) -> Iterator[Message]:
    """Yield what the line says, in the version that was chosen. Notices have types, calls list their tools."""
    text, name = line.required("mes").optional_text(), line.child("name").optional_name() or "unknown"
    is_user, extra = line.child("is_user").value is True, line.child("extra")
    kind, versions = extra.at(("type",)).value, line.child("swipes").value
    is_called = extra.at(("tool_invocations",)).value is not None
    if name == "SillyTavern System" or kind not in (None, "narrator", "comment") or is_called:
        chat.draft.count("notices of the program left out")
        return
    media = sum(bool(extra.at((key,)).value) for key in _MEDIA)
    chat.draft.count("other versions of answers left out", len(versions[1:]) if isinstance(versions, list) else 0)
    chat.draft.count("media left out", media)
    chat.draft.count("thinking left out", bool(extra.at(("reasoning",)).value))
    if text or not media:
        said = line.child("send_date").stamp(_time_of_tavern)
        own_id = chat.ids.of(Opening(name, said, text)) if text else None
        role = "user" if is_user else "assistant" if kind is None else None
        yield Message(name, text, said, own_id, role)


def _time_of_tavern(text: str) -> Stamp | None:
    """Return the time that the text states, such as ``2024-7-12@01h31m37s``.

    Raises:
        ValueError: it has the form of a time, but there is no such time.
    """
    match = _TAVERN_TIME.fullmatch(text.strip())
    if match is None:
        return stamp_from_text(text)
    year, month, day, hour, minute, second, part = (int(group or 0) for group in match.groups())
    return Stamp(datetime(year, month, day, hour, minute, second, part * 1000))


_OF_MATTERMOST = {
    "post": "create_at", "direct_post": "channel_members", "user": "username", "channel": "team",
    "team": "display_name",
}  # fmt: skip
"""A key that lines of each kind have, in the object that is named after the kind."""


def is_of_mattermost(line: Node) -> bool:
    """Say whether the line has its kind, and under it what lines of that kind have."""
    kind = line.child("type").value
    return isinstance(kind, str) and kind in _OF_MATTERMOST and line.child(kind).has(_OF_MATTERMOST[kind])


def line_of_mattermost(line: Node) -> Line:
    """Return the name of a user, the title of a channel, or a post and its answers.

    An answer has its own time, and under `answered` the id of the post.
    """
    kind = line.required("type").optional_text()
    if kind not in _OF_MATTERMOST or kind == "team":
        return Line()
    told = line.required(kind)
    if kind == "user":
        given = " ".join(part for key in ("first_name", "last_name") if (part := told.child(key).optional_text()))
        account = told.required("username").filled_text()
        return Line(names={account: given or told.child("nickname").optional_text() or account})
    if kind == "direct_post":
        members = sorted(one.optional_text() for one in told.required("channel_members").elements())
        return Line({"id": ", ".join(members)}, _with_replies(told))
    keys = ("team", "channel" if kind == "post" else "name")
    own_id = "/".join(told.required(key).optional_name() or "" for key in keys)
    if kind == "post":
        return Line({"id": own_id}, _with_replies(told))
    return Line({"id": own_id, "title": told.child("display_name").optional_text() or None})


def _with_replies(post: Node) -> Iterator[Node]:
    yield post
    for reply in objects_in(post.child("replies")):
        yield reply.with_members({"answered": _id_of(post)})


def _id_of(post: Node) -> str:
    return f"{post.child('create_at').optional_name() or 'undated'}-{post.child('user').optional_name() or ''}"


def said_in_mattermost(chat: Chat, post: Node) -> Iterator[Message]:
    """Yield what the post says; notices, media and cards of programs are counted."""
    user, text = post.required("user").optional_name() or "", post.required("message").optional_text()
    if post.child("type").optional_text().startswith("system_"):
        chat.draft.count("notices left out")
        return
    media, cards = (len(objects_in(post.at(keys))) for keys in (("attachments",), ("props", "attachments")))
    chat.draft.count("media left out", media)
    chat.draft.count("cards of programs left out", cards)
    if text or not media:
        shown = post.at(("props", "override_username")).optional_text()
        beside = attributes(
            reply_to=post.child("answered").optional_name(), edited=edited_at(post.child("edit_at")),
            speaker=(None if shown else user, "mattermost"),
            reactions=reactions_in(post, "emoji_name", "user", chat.name),
        )  # fmt: skip
        yield Message(shown or chat.name(user), text, post.child("create_at").stamp(), _id_of(post), attributes=beside)

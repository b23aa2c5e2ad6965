"""Generated turns in the JSON formats, with only the required parts of each message, so that formats are comparable."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby, zip_longest

from goalmem_cli.records import Turn

Write = Callable[[Sequence[Turn]], object]
"""Returns the document; the formats in `LINES` write a list one element per line."""


def said_at(turn: Turn) -> datetime:
    """Return the turn's time in UTC."""
    if turn.said is None:
        raise ValueError("made-up turns have times")
    return turn.said.replace(tzinfo=UTC)


def _iso(turn: Turn) -> str:
    return f"{said_at(turn):%Y-%m-%dT%H:%M:%S.000Z}"


def seconds_of(turn: Turn) -> int:
    """Return the turn's time in seconds since 1970."""
    return int(said_at(turn).timestamp())


def role_of(turn: Turn) -> str:
    """Return the turn's role in a chat with a model."""
    return ("user", "assistant")[turn.ordinal % 2]


def _sessions(turns: Sequence[Turn]) -> list[list[Turn]]:
    return [list(group) for _, group in groupby(turns, key=lambda turn: turn.session)]


def _locomo(turns: Sequence[Turn]) -> object:
    talk: dict[str, object] = {}
    for number, session in enumerate(_sessions(turns), 1):
        first = said_at(session[0])
        talk[f"session_{number}_date_time"] = f"{first:%H:%M} on {first.day} {first:%B}, {first.year}"
        talk[f"session_{number}"] = [
            {"speaker": turn.speaker, "dia_id": f"D{number}:{place}", "text": turn.text}
            for place, turn in enumerate(session, 1)
        ]
    return {"sample_id": "made-up", "conversation": talk}


def _tot(turns: Sequence[Turn]) -> object:
    row = {"question": "Which came first?", "question_type": "first_last", "label": "E1"}
    return [{**row, "prompt": "\n".join(_facts(turns))}]


def _complex_tr(turns: Sequence[Turn]) -> object:
    row = {"id": "1", "question": "Which came first?", "text_answers": {"text": ["E1"]}}
    return [{**row, "fact_context": "\n".join(_facts(turns))}]


def _facts(turns: Sequence[Turn]) -> list[str]:
    """Return as many facts as there are turns; benchmarks about time contain nothing else."""
    return [f"E{place} was the R1 of E0 from {1000 + place % 9000} to 9999." for place in range(1, len(turns) + 1)]


def _realtalk(turns: Sequence[Turn]) -> object:
    talk: dict[str, object] = {"name": {"speaker_1": turns[0].speaker, "speaker_2": turns[-1].speaker}}
    for number, session in enumerate(_sessions(turns), 1):
        talk[f"session_{number}_date_time"] = f"{said_at(session[0]):%d.%m.%Y, %H:%M:%S}"
        talk[f"session_{number}"] = [
            {
                "clean_text": turn.text, "speaker": turn.speaker, "date_time": f"{said_at(turn):%d.%m.%Y, %H:%M:%S}",
                "img_file": [], "dia_id": f"D{number}:{place}",
            }
            for place, turn in enumerate(session, 1)
        ]  # fmt: skip
    return talk


def _longmemeval(turns: Sequence[Turn]) -> object:
    sessions = _sessions(turns)
    return [
        {
            "question_id": "made-up", "question_type": "single-session-user", "question": "Which?", "answer": "That.",
            "haystack_session_ids": [f"s{number}" for number in range(len(sessions))],
            "haystack_dates": [f"{said_at(session[0]):%Y/%m/%d (%a) %H:%M}" for session in sessions],
            "haystack_sessions": [
                [{"role": role_of(turn), "content": turn.text} for turn in session] for session in sessions
            ],
        }
    ]  # fmt: skip


def _chatgpt(turns: Sequence[Turn]) -> object:
    mapping: dict[str, object] = {"m0": {"id": "m0", "message": None, "parent": None, "children": ["m1"]}}
    for number, turn in enumerate(turns, 1):
        message = {
            "id": f"m{number}", "author": {"role": role_of(turn), "name": None, "metadata": {}}, "metadata": {},
            "create_time": seconds_of(turn), "recipient": "all",
            "content": {"content_type": "text", "parts": [turn.text]},
        }  # fmt: skip
        children = [f"m{number + 1}"] if number < len(turns) else []
        mapping[f"m{number}"] = {
            "id": f"m{number}", "message": message, "parent": f"m{number - 1}", "children": children,
        }  # fmt: skip
    return [{"title": "Made up", "conversation_id": "c1", "mapping": mapping, "current_node": f"m{len(turns)}"}]


def _claude(turns: Sequence[Turn]) -> object:
    messages = [
        {
            "uuid": f"m{turn.ordinal}", "text": turn.text, "content": [{"type": "text", "text": turn.text}],
            "sender": ("human", "assistant")[turn.ordinal % 2], "created_at": _iso(turn), "attachments": [],
            "files": [],
        }
        for turn in turns
    ]  # fmt: skip
    return [{"uuid": "c1", "name": "Made up", "created_at": _iso(turns[0]), "chat_messages": messages}]


def _telegram(turns: Sequence[Turn]) -> object:
    messages = [
        {
            "id": turn.ordinal, "type": "message", "date": f"{said_at(turn):%Y-%m-%dT%H:%M:%S}",
            "date_unixtime": str(seconds_of(turn)), "from": turn.speaker, "from_id": f"user{turn.ordinal % 2}",
            "text": turn.text, "text_entities": [{"type": "plain", "text": turn.text}],
        }
        for turn in turns
    ]  # fmt: skip
    return {"name": "Made up", "type": "personal_chat", "id": 1, "messages": messages}


def _facebook(turns: Sequence[Turn]) -> object:
    messages = [
        {
            "sender_name": turn.speaker, "timestamp_ms": 1000 * seconds_of(turn), "content": turn.text,
            "is_geoblocked_for_viewer": False, "is_unsent_image_by_messenger_kid_parent": False,
        }
        for turn in reversed(turns)
    ]  # fmt: skip
    people = [{"name": name} for name in sorted({turn.speaker for turn in turns})]
    return {"participants": people, "messages": messages, "title": "Made up", "thread_path": "inbox/madeup_1"}


def _discord(turns: Sequence[Turn]) -> object:
    messages: list[object] = [
        {
            "id": str(turn.ordinal), "type": "Default", "timestamp": _iso(turn), "timestampEdited": None,
            "callEndedTimestamp": None, "isPinned": False, "content": turn.text,
            "author": {
                "id": str(turn.ordinal % 2), "name": turn.speaker.lower(), "discriminator": "0000",
                "nickname": turn.speaker, "color": None, "isBot": False, "roles": [], "avatarUrl": "",
            },
            "attachments": [], "embeds": [], "stickers": [], "reactions": [], "mentions": [], "inlineEmojis": [],
        }
        for turn in turns
    ]  # fmt: skip
    channel = {"id": "77", "type": "GuildTextChat", "categoryId": None, "category": None, "name": "made-up"}
    return {"guild": {"id": "7", "name": "Trip"}, "channel": channel, "messages": messages}


def _discord_package(turns: Sequence[Turn]) -> object:
    return [
        {
            "ID": 10**17 + turn.ordinal, "Timestamp": f"{said_at(turn):%Y-%m-%d %H:%M:%S}", "Contents": turn.text,
            "Attachments": "",
        }
        for turn in reversed(turns)
    ]  # fmt: skip


def _signal_jsonl(turns: Sequence[Turn]) -> object:
    people = {name: str(number) for number, name in enumerate(dict.fromkeys(turn.speaker for turn in turns), 2)}
    met = [{"recipient": {"id": number, "contact": {"profileGivenName": name}}} for name, number in people.items()]
    said = [
        {
            "chatItem": {
                "chatId": "1", "authorId": people[turn.speaker], "incoming": {},
                "dateSent": str(1000 * seconds_of(turn) + turn.ordinal),
                "standardMessage": {"text": {"body": turn.text}},
            }
        }
        for turn in turns
    ]  # fmt: skip
    return [{"version": 1, "backupTimeMs": "1"}, *met, {"chat": {"id": "1", "recipientId": "2"}}, *said]


def _gemini(turns: Sequence[Turn]) -> object:
    """Return prompts with their answers; each pair has one time."""
    return [
        {
            "header": "Gemini Apps", "title": f"Prompted {asked.text}", "time": _iso(asked),
            "products": ["Gemini Apps"], "activityControls": ["Gemini Apps Activity"],
            "safeHtmlItem": [{"html": f"<p>{answer.text}</p>"}] if answer else [],
        }
        for asked, answer in reversed(list(zip_longest(turns[::2], turns[1::2])))
    ]  # fmt: skip


def _gemini_cli(turns: Sequence[Turn]) -> object:
    messages = [
        {
            "id": f"m{turn.ordinal}", "timestamp": _iso(turn), "type": ("user", "gemini")[turn.ordinal % 2],
            "content": turn.text,
        }
        for turn in turns
    ]  # fmt: skip
    return {"sessionId": "s1", "projectHash": "ab", "startTime": _iso(turns[0]), "messages": messages}


def _slack(turns: Sequence[Turn]) -> object:
    return [
        {
            "type": "message", "user": f"U{turn.ordinal % 2}", "user_profile": {"display_name": turn.speaker},
            "text": turn.text, "ts": f"{seconds_of(turn)}.{turn.ordinal:06}",
        }
        for turn in turns
    ]  # fmt: skip


def _google_chat(turns: Sequence[Turn]) -> object:
    return {
        "messages": [
            {
                "creator": {"name": turn.speaker, "email": "a@example.org", "user_type": "Human"}, "text": turn.text,
                "created_date": f"{said_at(turn):%A, %B} {said_at(turn).day}, {said_at(turn):%Y at %I:%M:%S %p} UTC",
                "topic_id": "t", "message_id": f"a/t/{turn.ordinal}",
            }
            for turn in turns
        ]
    }  # fmt: skip


def _teams(turns: Sequence[Turn]) -> object:
    messages = [
        {
            "id": str(turn.ordinal), "displayName": turn.speaker, "originalarrivaltime": _iso(turn),
            "messagetype": "RichText", "content": turn.text, "from": f"8:live:{turn.speaker}", "properties": None,
        }
        for turn in reversed(turns)
    ]  # fmt: skip
    return {"userId": "8:live:x", "conversations": [{"id": "c1", "displayName": "Made up", "MessageList": messages}]}


def _opencode(turns: Sequence[Turn]) -> object:
    messages = [
        {
            "info": {"id": f"m{turn.ordinal}", "role": role_of(turn), "time": {"created": 1000 * seconds_of(turn)}},
            "parts": [{"id": f"p{turn.ordinal}", "type": "text", "text": turn.text}],
        }
        for turn in turns
    ]  # fmt: skip
    return {"info": {"id": "s1", "title": "Made up"}, "messages": messages}


def _openai(turns: Sequence[Turn]) -> object:
    return [{"role": role_of(turn), "content": turn.text, "timestamp": seconds_of(turn)} for turn in turns]


def _sharegpt(turns: Sequence[Turn]) -> object:
    names = ("human", "gpt")
    said = [{"from": names[turn.ordinal % 2], "value": turn.text} for turn in turns]
    return [{"id": "c1", "conversations": said}]


def _came(turns: Sequence[Turn]) -> object:
    return [
        {
            "id": f"trip-1-turn-{turn.ordinal}", "role": role_of(turn), "content": turn.text,
            "partition": ["trip-1", "day-1"], "timestamp_mapping": {"trip-1": f"{said_at(turn):%Y-%m-%dT%H:%M}"},
        }
        for turn in turns
    ]  # fmt: skip


def _agent_log(turns: Sequence[Turn]) -> object:
    return [
        {
            "type": role_of(turn), "sessionId": "s1", "uuid": f"m{turn.ordinal}", "timestamp": _iso(turn),
            "message": {"role": role_of(turn), "content": [{"type": "text", "text": turn.text}]},
        }
        for turn in turns
    ]  # fmt: skip


def _goalmem(turns: Sequence[Turn]) -> object:
    said = [
        {
            "turn": {
                "session": turn.session, "ordinal": turn.ordinal, "speaker": turn.speaker, "text": turn.text,
                "said": said_at(turn).isoformat(), "own_id": None, "role": None,
            }
        }
        for turn in turns
    ]  # fmt: skip
    return [{"goalmem": 1}, {"conversation": "made-up", "format": "openai", "own_id": None}, *said]


DOCUMENTS: Mapping[str, Write] = {
    "goalmem": _goalmem, "realtalk": _realtalk, "locomo": _locomo, "longmemeval": _longmemeval, "came": _came,
    "tot": _tot, "complex-tr": _complex_tr,
    "chatgpt": _chatgpt, "claude": _claude, "sharegpt": _sharegpt, "telegram": _telegram, "facebook": _facebook,
    "discord-package": _discord_package, "signal-jsonl": _signal_jsonl,
    "discord": _discord, "gemini": _gemini, "gemini-cli": _gemini_cli, "slack": _slack, "google-chat": _google_chat,
    "teams": _teams, "opencode": _opencode, "agent-log": _agent_log, "openai": _openai, "openai-jsonl": _openai,
}  # fmt: skip
LINES = frozenset({"goalmem", "came", "agent-log", "openai-jsonl", "signal-jsonl"})


def document_text(document: object, *, by_line: bool) -> str:
    """Return a document as text; with `by_line`, a list has one element per line."""
    if by_line and isinstance(document, list):
        return "".join(json.dumps(line) + "\n" for line in document)
    return json.dumps(document)

"""Generated turns in the formats of model chats, meetings and interchange programs, in JSON and Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest

from goalmem_cli.lab.bench.layouts.documents import Write, role_of, said_at, seconds_of
from goalmem_cli.records import Turn


def _beam(turns: Sequence[Turn]) -> object:
    said = [
        {"role": role_of(turn), "id": turn.ordinal, "content": turn.text, "time_anchor": f"{said_at(turn):%B-%d-%Y}"}
        for turn in turns
    ]
    return [{"batch_number": 1, "time_anchor": None, "turns": [said]}]


def _deepseek(turns: Sequence[Turn]) -> object:
    kinds = ("REQUEST", "RESPONSE")
    root = {"id": "root", "parent": None, "children": ["0"], "message": None}
    nodes = {
        str(place): {
            "id": str(place), "parent": str(place - 1) if place else "root",
            "children": [str(place + 1)] if place + 1 < len(turns) else [],
            "message": {
                "inserted_at": said_at(turn).isoformat(),
                "fragments": [{"type": kinds[turn.ordinal % 2], "content": turn.text}],
            },
        }
        for place, turn in enumerate(turns)
    }  # fmt: skip
    return [{"id": "d1", "title": "Made up", "mapping": {"root": root, **nodes}}]


def _grok(turns: Sequence[Turn]) -> object:
    responses = [
        {
            "response": {
                "_id": f"r{turn.ordinal}", "sender": ("human", "assistant")[turn.ordinal % 2], "message": turn.text,
                "create_time": {"$date": {"$numberLong": str(1000 * seconds_of(turn))}},
            }
        }
        for turn in turns
    ]  # fmt: skip
    return {"conversations": [{"conversation": {"id": "g1", "title": "Made up"}, "responses": responses}]}


def _open_webui(turns: Sequence[Turn]) -> object:
    messages = {
        f"m{place}": {
            "id": f"m{place}", "parentId": f"m{place - 1}" if place else None, "role": role_of(turn),
            "content": turn.text, "timestamp": seconds_of(turn),
        }
        for place, turn in enumerate(turns)
    }  # fmt: skip
    history = {"currentId": f"m{len(turns) - 1}", "messages": messages}
    return [{"id": "w1", "title": "Made up", "chat": {"history": history}}]


def _llama_ui(turns: Sequence[Turn]) -> object:
    last = f"m{len(turns) - 1}"
    head = {"type": "session", "harness": "llama.app", "id": "l1", "name": "Made up", "currNode": last}
    messages = [
        {
            "type": "message",
            "message": {
                "convId": "l1", "id": f"m{place}", "parent": f"m{place - 1}" if place else None, "role": role_of(turn),
                "content": turn.text, "timestamp": 1000 * seconds_of(turn),
            },
        }
        for place, turn in enumerate(turns)
    ]  # fmt: skip
    return [head, *messages]


def _copied_messages(turns: Sequence[Turn]) -> str:
    return "\n\n".join(f"{turn.speaker}, [{said_at(turn):%d.%m.%Y %H:%M}]\n{turn.text}" for turn in turns) + "\n"


def _chatlab(turns: Sequence[Turn]) -> object:
    said = [
        {
            "sender": turn.speaker, "accountName": turn.speaker, "timestamp": seconds_of(turn), "type": 0,
            "content": turn.text,
        }
        for turn in turns
    ]  # fmt: skip
    meta = {"name": "Made up", "platform": "wechat", "type": "private"}
    return {"chatlab": {"version": "0.0.2"}, "meta": meta, "messages": said}


def _ai_studio(turns: Sequence[Turn]) -> object:
    sides = ("user", "model")
    chunks = [
        {"text": turn.text, "role": sides[turn.ordinal % 2], "createTime": said_at(turn).isoformat(), "tokenCount": 9}
        for turn in turns
    ]
    return {"runSettings": {"model": "models/x"}, "chunkedPrompt": {"chunks": chunks, "pendingInputs": []}}


def _lm_studio(turns: Sequence[Turn]) -> object:
    versions = [{"role": role_of(turn), "content": [{"type": "text", "text": turn.text}]} for turn in turns]
    messages = [{"versions": [version], "currentlySelected": 0} for version in versions]
    return {"name": "Made up", "createdAt": 1, "messages": messages}


def _copilot_cli(turns: Sequence[Turn]) -> object:
    head = {"type": "session.start", "data": {"sessionId": "s1", "copilotVersion": "1.0.2"}}
    said = [
        {
            "type": f"{role_of(turn)}.message", "id": f"m{turn.ordinal}", "timestamp": said_at(turn).isoformat(),
            "data": {"content": turn.text},
        }
        for turn in turns
    ]  # fmt: skip
    return [head, *said]


def _continue(turns: Sequence[Turn]) -> object:
    history = [{"message": {"role": role_of(turn), "content": turn.text}} for turn in turns]
    return {"sessionId": "s1", "title": "Made up", "workspaceDirectory": "/made-up", "history": history}


def _mistral(turns: Sequence[Turn]) -> object:
    return [
        {
            "id": str(turn.ordinal), "chatId": "c1", "role": role_of(turn), "content": turn.text, "contentChunks": None,
            "createdAt": f"{said_at(turn):%Y-%m-%dT%H:%M:%S.000Z}",
        }
        for turn in turns
    ]  # fmt: skip


def _oasst(turns: Sequence[Turn]) -> list[object]:
    """Return the messages of one tree without branches, one a line."""
    return [
        {
            "message_tree_id": "0", "message_id": str(turn.ordinal), "role": role_of(turn), "text": turn.text,
            "parent_id": str(turn.ordinal - 1) if turn.ordinal else None,
            "created_date": f"{said_at(turn):%Y-%m-%dT%H:%M:%S+00:00}",
        }
        for turn in turns
    ]  # fmt: skip


def _fireflies(turns: Sequence[Turn]) -> object:
    sentences = [
        {
            "speaker_name": turn.speaker, "speaker_id": turn.ordinal % 2, "text": turn.text,
            "start_time": seconds_of(turn) - seconds_of(turns[0]),
        }
        for turn in turns
    ]  # fmt: skip
    meeting = {"id": "f1", "title": "Made up", "date": 1000 * seconds_of(turns[0]), "sentences": sentences}
    return {"data": {"transcript": meeting}}


def _wechat(turns: Sequence[Turn]) -> str:
    return "".join(f"{said_at(turn):%Y-%m-%d %H:%M:%S} {turn.speaker}\n{turn.text}\n\n" for turn in turns)


def _qq(turns: Sequence[Turn]) -> str:
    head = "\u6d88\u606f\u5bf9\u8c61:Made up\n\n"  # the words that stand before a chat's name
    return head + "".join(f"{said_at(turn):%Y-%m-%d %H:%M:%S} {turn.speaker}(10001)\n{turn.text}\n\n" for turn in turns)


def _viber(turns: Sequence[Turn]) -> str:
    return "".join(f'{said_at(turn):%d/%m/%Y,%H:%M:%S},{turn.speaker},+441230,"{turn.text}"\n' for turn in turns)


def _vscode_copilot(turns: Sequence[Turn]) -> object:
    """Return requests with their answers and the answers' completion times."""
    requests = [
        {
            "requestId": f"r{asked.ordinal}", "timestamp": 1000 * seconds_of(asked), "message": {"text": asked.text},
            "response": [{"value": answer.text}] if answer else [],
            "modelState": {"value": 1, "completedAt": 1000 * seconds_of(answer or asked)},
        }
        for asked, answer in zip_longest(turns[::2], turns[1::2])
    ]  # fmt: skip
    return {"version": 3, "sessionId": "s1", "responderUsername": "GitHub Copilot", "requests": requests}


def _sillytavern(turns: Sequence[Turn]) -> object:
    head = {"user_name": "unused", "character_name": "unused", "chat_metadata": {"integrity": "x"}}
    said = [
        {
            "name": turn.speaker, "is_user": turn.ordinal % 2 == 0, "is_system": False, "mes": turn.text, "extra": {},
            "send_date": f"{said_at(turn):%Y-%m-%dT%H:%M:%S.000Z}",
        }
        for turn in turns
    ]  # fmt: skip
    return [head, *said]


def _cline(turns: Sequence[Turn]) -> object:
    kinds = ("user_feedback", "text")
    return [
        {"ts": 1000 * seconds_of(turn) + place, "type": "say", "say": kinds[turn.ordinal % 2], "text": turn.text}
        for place, turn in enumerate(turns)
    ]


def _goose(turns: Sequence[Turn]) -> object:
    head = {"working_dir": "/made-up", "description": "Made up", "message_count": len(turns)}
    said = [
        {
            "id": f"m{turn.ordinal}", "role": role_of(turn), "created": seconds_of(turn),
            "content": [{"type": "text", "text": turn.text}],
        }
        for turn in turns
    ]  # fmt: skip
    return [head, *said]


def _subtitles(turns: Sequence[Turn]) -> str:
    def clock(place: int) -> str:
        return f"{place // 3600:02}:{place // 60 % 60:02}:{place % 60:02}.000"

    cues = (f"{clock(n)} --> {clock(n + 1)}\n{turn.speaker}: {turn.text}\n\n" for n, turn in enumerate(turns))
    return f"WEBVTT\n\n{''.join(cues)}"


def _aider(turns: Sequence[Turn]) -> str:
    said = (f"#### {turn.text}  \n\n" if turn.ordinal % 2 == 0 else f"{turn.text}\n\n" for turn in turns)
    return f"# aider chat started at 2026-03-01 10:00:00\n\n{''.join(said)}"


def _specstory(turns: Sequence[Turn]) -> str:
    names = ("User", "Agent")
    said = (
        f"_**{names[turn.ordinal % 2]} ({said_at(turn):%Y-%m-%d %H:%M:%SZ})**_\n\n{turn.text}\n\n" for turn in turns
    )
    return "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n" + "---\n\n".join(said)


def _chat_exporter(turns: Sequence[Turn]) -> str:
    said = (f"## {('Prompt', 'Response')[turn.ordinal % 2]}:\n{turn.text}\n\n" for turn in turns)
    return f"# Made up\n\n**Exported:** 3/2/2026 9:00:00\n\n{''.join(said)}"


def _copied_chat(turns: Sequence[Turn]) -> str:
    return "".join(f"{('You', 'ChatGPT')[turn.ordinal % 2]} said:\n{turn.text}\n" for turn in turns)


DOCUMENTS: Mapping[str, Write] = {
    "beam": _beam, "deepseek": _deepseek, "grok": _grok, "open-webui": _open_webui, "llama-ui": _llama_ui,
    "chatlab": _chatlab, "ai-studio": _ai_studio, "vscode-copilot": _vscode_copilot,
    "lm-studio": _lm_studio, "copilot-cli": _copilot_cli, "continue": _continue,
    "sillytavern": _sillytavern, "cline": _cline, "goose": _goose, "mistral": _mistral, "oasst": _oasst,
    "fireflies": _fireflies,
}  # fmt: skip
LINES = frozenset({"llama-ui", "copilot-cli", "sillytavern", "goose", "oasst"})
TEXTS: Mapping[str, tuple[str, Callable[[Sequence[Turn]], str]]] = {
    "subtitles": (".vtt", _subtitles), "aider": (".md", _aider), "specstory": (".md", _specstory),
    "chat-exporter": (".md", _chat_exporter), "copied-chat": (".txt", _copied_chat),
    "copied-messages": (".txt", _copied_messages), "wechat": (".txt", _wechat), "qq": (".txt", _qq),
    "viber": (".csv", _viber),
}  # fmt: skip

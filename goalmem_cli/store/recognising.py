"""What identifies a turn and its conversation when a transcript is read again, as tuples and keys (rooms).

A turn is recognised by its speaker, instant and text, or by its own id in its conversation. If one of two times has no
seconds, the minute counts: one export of a chat has them and another has not. A turn without a time is recognised by
its place, speaker and text in its conversation. Several turns of one speaker are recognised without the name, as a
contact may have got another one. A copied turn is recognised by the conversation that it may come from, speaker and
text. A conversation is recognised by its own id, else by its file, else by its name. Differences that nobody sees, such
as blanks and invisible characters, do not count (`folded`).
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, time
from functools import lru_cache

from goalmem_cli.logic.moments import Moment
from goalmem_cli.memory_records import ConversationSummary
from goalmem_cli.records import QUOTED, STANDARD_INPUT, Conversation, Turn
from goalmem_cli.store.redaction import redacted

_NUMBERED = re.compile(r"-\d+$")
_BY_ID = "id "
_BY_MINUTE = "by minute"
CHAT_UNKNOWN = ("chat unknown",)
"""The key of stored conversations that nothing tells from others (`chat_of`)."""
_TELLING = 12
"""The fewest characters by which a part of a text is told from other texts."""


def looked_for(turn: Turn, rooms: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the tuples under which a turn of a transcript may be forgotten.

    It may have been forgotten while its time was not read.
    """
    text = without_secrets(turn.text)
    undated = told_of(replace(turn, said=None), rooms, text)
    return [*told_of(turn, rooms, text), *undated, *_told_elsewhere(turn, rooms, text)]


@lru_cache(maxsize=64)  # one turn is looked for in several ways
def without_secrets(text: str) -> str:
    """Return the text without its secrets, as turns are recognised by it."""
    return redacted(text)[0]


def folded(told: Sequence[str | None]) -> tuple[str | None, ...]:
    """Return a tuple that is the same for all ways to write its texts that look alike.

    Texts are in the form NFC, without format characters (U+200E) and variation selectors, with one blank for any run
    of them. The second item, which may be a room, keeps its characters: two files may differ in a blank alone.
    """
    kind, room, *texts = told
    return (kind, None if room is None else unicodedata.normalize("NFC", room), *map(_folded, texts))


@lru_cache(maxsize=64)
def _folded(text: str | None) -> str | None:
    if text is None:
        return None
    if not text.isascii():
        seen = "".join(each for each in text if unicodedata.category(each) != "Cf" and not "\ufe00" <= each <= "\ufe0f")
        text = unicodedata.normalize("NFC", seen)
    return " ".join(text.split())


def without_quotes(turns: Iterable[Turn], gone: Iterable[Turn]) -> list[Turn]:
    """Return the turns, without the attribute ``quoted`` where it shows the text of one of the `gone` turns.

    The quote has the whole text, or a beginning that tells it from others, with or without its speaker's name. A short
    text without the name may be somebody else's, and its quote stays.
    """
    given, lost = list(turns), list(gone)
    if not any(QUOTED in turn.attributes for turn in given):
        return given
    texts = sorted({text for turn in lost if len(text := _seen(turn.text)) >= _TELLING})
    named = sorted({f"{_seen(turn.speaker)}: {_seen(turn.text)}" for turn in lost})

    def shows_gone(quoted: str) -> bool:
        quote = _seen(quoted.rstrip(" .…") if quoted.endswith(("...", "…")) else quoted)
        said = quote.partition(": ")[2]
        return _begins_one(quote, texts, is_telling=len(quote) >= _TELLING) or (
            bool(said) and _begins_one(quote, named, is_telling=len(said) >= _TELLING)
        )

    return [unquoted(turn) if shows_gone(str(turn.attributes.get(QUOTED, ""))) else turn for turn in given]


def _begins_one(quote: str, known: Sequence[str], *, is_telling: bool) -> bool:
    """Say whether a quote is one of the sorted texts or, if it `is_telling`, begins one."""
    found = known[at] if (at := bisect_left(known, quote)) < len(known) else None
    return found is not None and (found == quote or (is_telling and found.startswith(quote)))


def unquoted(turn: Turn) -> Turn:
    """Return the turn without the text that it replies to."""
    if QUOTED not in turn.attributes:
        return turn
    return replace(turn, attributes={name: value for name, value in turn.attributes.items() if name != QUOTED})


def _seen(text: str) -> str:
    return _folded(without_secrets(text)) or ""


def told_of(turn: Turn, rooms: Sequence[str], text: str) -> list[tuple[str, ...]]:
    """Return the tuples that identify a turn in a conversation with these rooms.

    `text` is the turn's text without secrets: the same, whether it is stored with or without `--redact`.
    """
    told = [("id", room, turn.own_id) for room in rooms if turn.own_id is not None]
    if turn.said is None:
        return told + [("told", room, turn.own_id or str(turn.ordinal), turn.speaker, text) for room in rooms]
    return [*told, ("said", _clock_of(turn.said), turn.speaker, text)]


def told_without_name(turn: Turn) -> list[tuple[str, ...]]:
    """Return the tuples that identify a turn whoever its speaker is: a contact may get another name."""
    if turn.said is None or turn.said.time() == time():  # a day alone is kept as its midnight
        return []
    return [("said by somebody", _clock_of(turn.said), without_secrets(turn.text))]


def marked_by_minute(turn: Turn, *, is_named: bool) -> list[tuple[str, ...]]:
    """Return the tuples that identify a turn in exports without seconds; none if its own time is a whole minute."""
    told = _told_of_minute(turn, is_named=is_named)
    return [] if turn.said is None or turn.said == _minute_of(turn.said) else [(_BY_MINUTE, *one) for one in told]


def looked_for_by_minute(turn: Turn, *, is_named: bool) -> list[tuple[str, ...]]:
    """Return the tuples under which a turn may be forgotten with seconds if it has none, or without if it has some."""
    told = _told_of_minute(turn, is_named=is_named)
    return told if turn.said is None or turn.said != _minute_of(turn.said) else [(_BY_MINUTE, *one) for one in told]


def _told_of_minute(turn: Turn, *, is_named: bool) -> list[tuple[str, ...]]:
    """Return the tuples, with or without the speaker, of a turn as if it were said as its minute began."""
    if turn.said is None:
        return []
    whole = replace(turn, said=_minute_of(turn.said))
    return told_of(whole, (), without_secrets(turn.text)) if is_named else told_without_name(whole)


def _minute_of(said: datetime) -> datetime:
    return said.replace(second=0, microsecond=0)


def _clock_of(said: datetime) -> str:
    moment = Moment.from_datetime(said)
    return f"clock {moment.clock}" if moment.instant is None else f"instant {moment.instant}"


def told_to_copies(turn: Turn, rooms: Sequence[str], text: str) -> list[tuple[str, ...]]:
    """Return the tuples that identify copies of a turn, and its original if it is a copy itself."""
    copied = [("copied", room) for room in rooms if turn.own_id is None and room.startswith(_BY_ID)]
    copies = [("copy", source) for source in sources_of(turn, rooms)]
    return [(*told, turn.speaker, text) for told in (*copied, *copies)]


def told_of_source(turn: Turn, rooms: Sequence[str]) -> list[tuple[str, ...]]:
    """Return those of `told_to_copies` that identify the original of a copied turn."""
    text = without_secrets(turn.text)
    return [("copy", source, turn.speaker, text) for source in sources_of(turn, rooms)]


def _told_elsewhere(turn: Turn, rooms: Sequence[str], text: str) -> list[tuple[str, ...]]:
    """Return the tuples of `told_to_copies` with which a turn was forgotten in one of its sources, or in a copy."""
    sources = sources_of(turn, rooms)
    if not sources and (turn.own_id is not None or not any(room.startswith(_BY_ID) for room in rooms)):
        return []
    told = [(kind, source) for kind in ("copied", "copy") for source in sources] or [("copy", room) for room in rooms]
    return [(*each, turn.speaker, text) for each in told]


def sources_of(turn: Turn, rooms: Sequence[str]) -> list[str]:
    """Return the rooms of the conversations from which a turn was copied; they have its conversation's format."""
    forms = [room.split(" ", 2)[1] for room in rooms if room.startswith(_BY_ID)] if turn.copied_from else []
    return [_room_of_id(form, source) for form in forms for source in turn.copied_from]


def rooms_of_stored(conversation: ConversationSummary) -> tuple[str, ...]:
    """Return the keys (rooms) that identify a stored conversation."""
    if conversation.own_id is not None:
        return (_room_of_id(conversation.format, conversation.own_id),)
    names = dict.fromkeys((conversation.name, _NUMBERED.sub("", conversation.name)))  # the store may have numbered it
    return (f"stored {conversation.name}", *(_told_room(conversation.file, name) for name in names))


def chat_of(conversation: ConversationSummary) -> tuple[str, ...]:
    """Return what tells a stored conversation from all others that are stored: its format with its own id or its file.

    A file may have several conversations, so the name is part of it, but never enough: somebody may use it again. The
    conversations that cannot be told so have one key together.
    """
    if conversation.own_id is not None:
        return ("chat of id", conversation.format, conversation.own_id)
    if conversation.file in (None, STANDARD_INPUT):
        return CHAT_UNKNOWN
    return ("chat of file", conversation.format, str(conversation.file), conversation.name)


def rooms_of(conversation: Conversation) -> tuple[str, ...]:
    """Return the keys (rooms) that identify a conversation of a transcript."""
    if conversation.own_id is not None:
        return (_room_of_id(conversation.format, conversation.own_id),)
    if conversation.is_exported or conversation.is_named:
        return (f"stored {conversation.name}",)
    rooms = (_told_room(conversation.file, conversation.name), _told_room(None, conversation.name))
    return tuple(dict.fromkeys(rooms))


def rooms_called(name: str) -> tuple[str, ...]:
    """Return the keys (rooms) of conversations of that name, for one of which nothing is stored."""
    return (f"stored {name}", _told_room(None, name), _room_called(name))


def with_rooms_called(rooms: Sequence[str]) -> tuple[str, ...]:
    """Return the rooms, and after each own id the room of its name: the store calls a conversation by its own id."""
    names = (room.split(" ", 2)[2] for room in rooms if room.startswith(_BY_ID))
    return (*rooms, *map(_room_called, names))


def _room_called(own_id: str) -> str:
    return f"called {own_id}"


def _room_of_id(form: str, own_id: str) -> str:
    return f"{_BY_ID}{form} {own_id}"


def _told_room(file: str | None, name: str) -> str:
    return f"name {name}" if file in (None, STANDARD_INPUT) else f"file {file} {name}"

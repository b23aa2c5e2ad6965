"""Convert turns to rows of Milvus and back, with pure functions: the same turns always give the same rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from goalmem_cli.errors import StoreDamaged
from goalmem_cli.memory_records import FLAT, ConversationSummary, Speaker, Voice, voice_of
from goalmem_cli.milvus.schema import ID, MOST_BYTES, TALK
from goalmem_cli.records import COPIED_FROM, SPEAKER_NUMBER, Turn, Unit, content_hash, encodable
from goalmem_cli.store.database.columns import moment_columns
from goalmem_cli.store.indexes.analysis import STEMMED, asked, indexed, wholes
from goalmem_cli.store.units import UnitEntry, entries_from_units, units_from_turns

Row = dict[str, Any]

ANSWER = "answer"
TURN = "turn"
JOINED = "joined"
_NUMBER_DIGITS = 15
_PART_BYTES = 60_000
_LATER = (COPIED_FROM, "language", "is_language_told")


Spoken = tuple[Any, ...]
"""A speaker's name, role, number of turns, id, first and last time, and telephone numbers.

Rows of older versions end before the id, or before the telephone numbers.
"""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation in Milvus: which of its rows are visible, and a summary of its content.

    Readers see the rows with a revision from `since` to `revision` that are not `retired`. `is_changing` says that the
    `owner` is writing or deleting rows. `changed` is the time of that, in seconds since 1970. `joined` are the aliases
    (see `alias_of`) of transcripts that a command joined with it, by which they are recognised when read again.
    `copied_from` are the keys (see `own_key`) of conversations from which turns of it were copied. `language` is found
    from its turns, unless the user told it.
    """

    name: str
    format: str
    own_id: str | None = None
    file: str | None = None
    revision: int = 0
    since: int = 0
    retired: tuple[str, ...] = ()
    is_changing: bool = False
    changed: float = 0.0
    turns: int = 0
    sessions: int = 0
    units: Mapping[str, int] = field(default_factory=dict)
    speakers: tuple[Spoken, ...] = ()
    first_said: str | None = None
    last_said: str | None = None
    last_ordinal: int = -1
    owner: str = ""
    timezones: Mapping[str, int] = field(default_factory=dict)
    joined: tuple[str, ...] = ()
    copied_from: tuple[str, ...] = ()
    language: str = ""
    is_language_told: bool = False

    @property
    def told_language(self) -> str:
        """The language that the user told, "" if it was found."""
        return self.language if self.is_language_told else ""

    @property
    def key(self) -> str:
        """The hash of its name, for filters."""
        return content_hash(self.name)

    def shows(self, row: Mapping[str, Any]) -> bool:
        """Return whether readers see this row of the conversation."""
        return self.since <= row["revision"] <= self.revision and row[ID] not in self.retired

    @property
    def pair(self) -> tuple[str, str] | None:
        """The names of the two speakers; None if there are not exactly two."""
        names = sorted({name for name, *_ in self.speakers if name})
        return (names[0], names[1]) if len(names) == 2 else None

    def summary(self) -> ConversationSummary:
        """Return the conversation's summary."""
        speakers = tuple(_speaker(*each) for each in self.speakers)
        first, last = _time(self.first_said), _time(self.last_said)
        return ConversationSummary(
            self.name, self.format, self.turns, self.sessions, speakers, first, last, self.own_id, self.file,
            self.language, self.is_language_told,
        )  # fmt: skip

    def row(self) -> Row:
        """Return the conversation as a row; empty fields that earlier versions do not know are left out."""
        document = {name: value for name, value in asdict(self).items() if value or name not in _LATER}
        return {
            ID: self.key, "name": self.name[:MOST_BYTES // 4], "own_key": own_key(self.format, self.own_id),
            "is_changing": int(self.is_changing),
            "document": json.dumps(document, ensure_ascii=False),
        }  # fmt: skip

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Talk:
        """Return the conversation of a row.

        Raises:
            StoreDamaged: the row does not have goalmem's form.
        """
        try:
            told = json.loads(row["document"])
            speakers = tuple((name, role, turns, *more) for name, role, turns, *more in told.pop("speakers"))
            keys = {name: tuple(told.pop(name, ())) for name in ("retired", "joined", COPIED_FROM)}
            return cls(**(told | keys), speakers=speakers)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StoreDamaged(
                "a conversation's row in Milvus is none of goalmem's", "name another database"
            ) from error


def own_key(form: str, own_id: str | None) -> str:
    """Return a key for a conversation's own id in its format; "" if it has none."""
    return "" if own_id is None else content_hash(form, own_id)


def number_of(*parts: str) -> int:
    """Return the parts' hash as a number that fits into a field of every engine."""
    return int(content_hash(*parts)[:_NUMBER_DIGITS], 16)


def place_of(conversation: str, ordinal: int) -> int:
    """Return a number for a turn's place in its conversation."""
    return number_of(conversation, str(ordinal))


def described(talk: Talk, turns: Sequence[Turn], answers: Sequence[Unit]) -> Talk:
    """Return the conversation with the summary of these turns and answers."""
    spoken: dict[tuple[Voice, str | None], list[Turn]] = {}
    for turn in turns:
        spoken.setdefault((voice_of(turn), turn.role), []).append(turn)
    said = _times(turns)
    kinds: dict[str, int] = {}
    for unit in (*units_from_turns(turns), *answers):
        kinds[unit.kind] = kinds.get(unit.kind, 0) + 1
    last = max(turns, key=lambda turn: turn.ordinal, default=None)
    return replace(
        talk, turns=len(turns), sessions=len({turn.session for turn in turns}), units=dict(sorted(kinds.items())),
        speakers=tuple(_spoken(voice, role, theirs) for (voice, role), theirs in spoken.items()),
        first_said=said[0] if said else None, last_said=said[-1] if said else None,
        last_ordinal=-1 if last is None else last.ordinal,
        copied_from=tuple(sorted({own_key(talk.format, one) for turn in turns for one in turn.copied_from})),
        timezones=dict(sorted(Counter(turn.timezone for turn in turns if turn.timezone).items())),
    )  # fmt: skip


def _times(turns: Iterable[Turn]) -> list[str]:
    """Return the times of the turns by the speakers' clocks, earliest first."""
    said = sorted(
        (turn.local for turn in turns if turn.local is not None), key=lambda time: moment_columns(time)[0] or 0
    )
    return [time.isoformat() for time in said]


def _spoken(voice: Voice, role: str | None, turns: Sequence[Turn]) -> Spoken:
    times = _times(turns)
    numbers = sorted({str(turn.attributes[SPEAKER_NUMBER]) for turn in turns if SPEAKER_NUMBER in turn.attributes})
    span = (times[0], times[-1]) if times else (None, None)
    return (voice.name, role, len(turns), voice.id, *span, *([numbers] if numbers else []))


def _speaker(
    name: str, role: str | None, turns: int, id_: str = "", first: str | None = None, last: str | None = None,
    numbers: Sequence[str] = (),
) -> Speaker:  # fmt: skip
    return Speaker(name, role, turns, id_, _time(first), _time(last), tuple(numbers))


def rows_of_said(talk: Talk, turns: Iterable[Turn], answers: Iterable[Unit]) -> list[Row]:
    """Return the rows of the conversation's turns and answers (long ones in parts) and of its joined transcripts."""
    rows = [_row_of_joined(talk, alias) for alias in talk.joined]
    for turn in turns:
        said = None if turn.said is None else turn.said.isoformat()
        document = {
            "session": turn.session, "ordinal": turn.ordinal, "speaker": turn.speaker, "text": turn.text, "said": said,
            "own_id": turn.own_id, "role": turn.role, "attributes": dict(turn.attributes),
        }  # fmt: skip
        head = _head(talk, TURN, FLAT, turn)
        rows += _parts(talk, turn.id, head | {"content_key": number_of(turn.content_key)}, (turn.id,), document)
    for unit in answers:
        said = None if unit.said is None else unit.said.isoformat()
        document = {
            "session": unit.session, "ordinal": unit.ordinal, "speaker": unit.speaker, "text": unit.text, "said": said,
            "kind": unit.kind, "backbone": unit.backbone, "turns": list(unit.turns), "labels": list(unit.labels),
            "attributes": dict(unit.attributes),
        }  # fmt: skip
        head = _head(talk, ANSWER, unit.backbone, unit)
        rows += _parts(talk, unit.id, head | {"content_key": 0}, unit.turns, document)
    return rows


def rows_of_units(talk: Talk, turns: Sequence[Turn], answers: Sequence[Unit]) -> dict[str, tuple[Row, UnitEntry]]:
    """Return row id -> row without vectors, and the entry whose texts are to be embedded."""
    found: dict[str, tuple[Row, UnitEntry]] = {}
    for entry in entries_from_units([*units_from_turns(turns), *answers]):
        unit = entry.unit
        row = {
            **_head(talk, unit.kind, unit.backbone, unit),
            "unit": unit.id, "label": cut(unit.labels[0]),
            "words": words_of(entry.text, talk.language), "context_words": words_of(entry.context, talk.language),
        }  # fmt: skip
        found[_id(talk, row, entry.text, entry.context)] = (row, entry)
    return found


def turn_from(conversation: str, document: Mapping[str, Any]) -> Turn:
    """Return the turn of a document."""
    return Turn(
        conversation, document["session"], document["ordinal"], document["speaker"], document["text"],
        _time(document["said"]), document["own_id"], document["role"], document["attributes"],
    )  # fmt: skip


def answer_from(conversation: str, id_: str, document: Mapping[str, Any]) -> Unit:
    """Return the answer of a document."""
    return Unit(
        id_, document["kind"], document["text"], conversation, document["speaker"], _time(document["said"]),
        tuple(document["turns"]), tuple(document["labels"]), document["backbone"], document["session"],
        document["ordinal"], attributes=document["attributes"],
    )  # fmt: skip


def whole(rows: Iterable[Row]) -> dict[str, Row]:
    """Join rows that come in parts, and return id -> row with its whole document; incomplete ones are left out."""
    parts: dict[str, dict[int, Row]] = {}
    for row in rows:
        parts.setdefault(row["said_id"], {})[row["part"] % _MOST_PARTS] = row
    found: dict[str, Row] = {}
    for id_, each in parts.items():
        if len(each) == each[min(each)]["part"] // _MOST_PARTS:
            text = "".join(each[number]["document"] for number in sorted(each))
            found[id_] = {**each[min(each)], "document": json.loads(text)}
    return found


_MOST_PARTS = 100_000
"""The field `part` is the number of parts times this, plus the row's part number."""


def words_of(text: str, language: str) -> str:
    """Return the tokens of a text in the form of the analysed fields."""
    return cut(" ".join(map(_plain, indexed(text, language))))


def query_words(text: str, languages: Iterable[str]) -> str:
    """Return the tokens of a query, each once; `languages` are those of the conversations that are searched."""
    words, grams = asked(encodable(text), sorted(STEMMED.keys() & set(languages)))
    return cut(" ".join(dict.fromkeys(map(_plain, (*words, *wholes(encodable(text)), *grams)))))


def _plain(token: str) -> str:
    """Return the token in characters that no engine's tokenizer splits."""
    return token if token.isascii() and token.isalnum() else f"x{token.encode().hex()}"


def cut(text: str) -> str:
    """Return the text, shortened to the size of a field."""
    data = encodable(text).encode()
    return data.decode() if len(data) <= MOST_BYTES else data[:MOST_BYTES].decode(errors="ignore")


def _head(talk: Talk, kind: str, backbone: str, said: Turn | Unit) -> Row:
    """Return the columns that all rows of a turn or unit share."""
    clock, instant = moment_columns(said.local if isinstance(said, Turn) else said.said)
    return {
        TALK: talk.key, "conversation": cut(talk.name), "kind": kind, "backbone": backbone,
        "speaker_key": content_hash(encodable(said.speaker)), "speaker": cut(said.speaker), "ordinal": said.ordinal,
        "place": place_of(talk.name, said.ordinal), "clock": clock, "instant": instant,
    }  # fmt: skip


def _row_of_joined(talk: Talk, alias: str) -> Row:
    """Return the row that notes a joined conversation by its hash."""
    row = {
        TALK: talk.key, "conversation": cut(talk.name), "kind": JOINED, "backbone": JOINED,
        "speaker_key": content_hash(""), "speaker": "", "ordinal": -1, "place": 0, "clock": None, "instant": None,
        "said_id": alias, "content_key": 0, "sources": [alias], "part": _MOST_PARTS, "document": "{}",
    }  # fmt: skip
    return {ID: _id(talk, row), **row}


def _parts(talk: Talk, said_id: str, head: Row, sources: Sequence[str], document: Mapping[str, object]) -> list[Row]:
    """Return the rows of a document, which is cut into pieces that fit a column."""
    text = json.dumps(document, ensure_ascii=False)
    pieces = _pieces(text)
    rows = []
    for number, piece in enumerate(pieces):
        row = {
            **head, "said_id": said_id, "sources": list(sources),
            "part": len(pieces) * _MOST_PARTS + number, "document": piece,
        }  # fmt: skip
        rows.append({ID: _id(talk, row), **row})
    return rows


def _pieces(text: str) -> list[str]:
    step = _PART_BYTES // 4 if len(text.encode()) > _PART_BYTES else len(text)
    return [text[start : start + step] for start in range(0, len(text), step)]


def _id(talk: Talk, row: Row, *more: str) -> str:
    """Return the hash of a row's content and of `since`, so that rewriting a whole conversation gives new ids."""
    return content_hash(str(talk.since), json.dumps(row, ensure_ascii=False, sort_keys=True), *more)


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)

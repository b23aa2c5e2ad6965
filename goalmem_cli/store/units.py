"""Make units to index from turns: one for each turn, or for each passage of a long turn, with its neighbours.

All functions here are pure, so that the same turns always give the same units.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from types import MappingProxyType

from goalmem_cli.logic.annotations import time_attributes
from goalmem_cli.memory_records import FLAT
from goalmem_cli.records import BLOCKS, CUT_AT, HEADING, QUOTED_FROM, QUOTES, Turn, Unit, content_hash
from goalmem_cli.store.passages import MAX_TOKENS, split_at_blocks, split_into_passages

NEIGHBOURS = 2
"""How many turns before and after belong to a unit's context: with two, LoCoMo's recall is best of one to three."""
_HEAD = re.compile(r"(?:^[> \t]*\*?\w[\w '-]{0,30}\s?:\*?[ \t][^\n]*(?:\n|\Z)){2,9}", re.MULTILINE)
_LEAST_FIELDS = 3
_RECIPIENTS = re.compile(
    r"^[> \t]*\*?(?:To|B?CC|An|À|Para|Aan|Till|Til)\s?:\*?[ \t][^\n]*\n?", re.MULTILINE | re.IGNORECASE
)
_END = "[end of quote]"
_NO_LANGUAGES: Mapping[str, str] = MappingProxyType({})
_MARKS = re.compile(r"^[ \t]*>[ \t>]*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class UnitEntry:
    """A unit as the indexes have it: its own text, and the text together with its neighbours' texts."""

    unit: Unit
    text: str
    context: str


def units_from_turns(
    turns: Iterable[Turn], wanted: Container[str] | None = None, languages: Mapping[str, str] = _NO_LANGUAGES
) -> list[Unit]:
    """Return each turn as a unit, followed by its passages if it is long; with `wanted`, only turns with these ids.

    Time expressions are resolved with the help of the turn right before in the session, if it is given, and read in
    the conversation's language, if it is in `languages` (conversation -> code).
    """
    told = list(turns)
    texts = {(turn.conversation, turn.session, turn.ordinal): turn.text for turn in told}
    return [
        unit
        for turn in told
        if wanted is None or turn.id in wanted
        for unit in units_of_turn(
            turn,
            texts.get((turn.conversation, turn.session, turn.ordinal - 1)),
            languages.get(turn.conversation),
        )
    ]


def units_of_turn(turn: Turn, before: str | None, language: str | None = None) -> list[Unit]:
    """Return the turn as a unit, and its passages; `before` is the text of the turn right before it.

    `language` is the code of its conversation's language, if it is known. A long turn has several passages. A turn with
    quotes has each quote in passages of its own.
    """
    said = turn.local
    whole = Unit(
        id=turn.id, kind="turn", text=turn.text, conversation=turn.conversation, speaker=turn.speaker,
        said=said, turns=(turn.id,), labels=(turn.label,), backbone=FLAT, session=turn.session,
        ordinal=turn.ordinal, attributes={**turn.attributes, **time_attributes(turn.text, said, before, language)},
    )  # fmt: skip
    passages = _passages(turn, MAX_TOKENS)
    is_split = len(passages) > 1 or QUOTES in turn.attributes
    return [whole, *(_units_of_passages(turn, whole, passages, before, language) if is_split else ())]


@dataclass(frozen=True, slots=True)
class _Passage:
    """A passage's text, the headings that it stands under, and its source as in `Turn.stretches`."""

    text: str
    heading: str
    author: str | None

    @property
    def shown(self) -> str:
        """The text, with a mark before a quote."""
        return self.text if self.author is None else _marked(self.text, self.author)


def _passages(turn: Turn, limit: int) -> list[_Passage]:
    """Return the passages of a turn, cut as its attribute says."""
    split = split_at_blocks if turn.attributes.get(CUT_AT) == BLOCKS else _split_without_headings
    return [
        _Passage(text, heading, author)
        for stretch, author in (turn.stretches if QUOTES in turn.attributes else [(turn.text, None)])
        for text, heading in split(stretch if author is None else _shown(stretch), limit)
    ]


def _split_without_headings(text: str, limit: int) -> list[tuple[str, str]]:
    return [(passage, "") for passage in split_into_passages(text, limit)]


def _units_of_passages(
    turn: Turn, whole: Unit, passages: Sequence[_Passage], before: str | None, language: str | None
) -> Iterator[Unit]:
    """Yield the passages as units; times in quotes are not resolved, as a quote's own time is unknown."""
    beside = {name: value for name, value in turn.attributes.items() if name not in (QUOTES, CUT_AT)}
    for part, passage in enumerate(passages, 1):
        told = {**beside, "part": part, "parts": len(passages)}
        if passage.heading:
            told[HEADING] = passage.heading
        if passage.author is None:
            told |= time_attributes(passage.text, whole.said, before, language)
            before = passage.text
        else:
            told[QUOTED_FROM] = passage.author
        yield replace(whole, id=passage_id(whole.id, part), kind="passage", text=passage.shown, attributes=told)


def text_with_marks(turn: Turn) -> str:
    """Return the turn's text with marks around each quote, which name its author and show its end."""
    if QUOTES not in turn.attributes:
        return turn.text
    told = [(text, author) for text, author in turn.stretches if text.strip()]
    shown = [text.strip() if author is None else _marked(_shown(text), author).strip() for text, author in told]
    ended = [
        f"{text} {_END}" if author is not None and after is None else text
        for text, (_, author), (_, after) in zip(shown, told, (*told[1:], ("", "")), strict=True)
    ]
    return "\n".join(ended)


def passages_with_marks(turn: Turn, limit: int) -> list[tuple[str, str | None]]:
    """Return the turn's passages of at most `limit` tokens, each with its author as in `Turn.stretches`.

    Quoted passages begin with a mark that says so.
    """
    return [(passage.shown, passage.author) for passage in _passages(turn, limit)]


def _shown(text: str) -> str:
    """Return a quote without `>` signs and without the recipients in the head of a mail, who are seldom its subject.

    A quote that has nothing else keeps them. "To: be or not to be" is no head and stays.
    """
    shown = _MARKS.sub("", _HEAD.sub(_without_recipients, text))
    return shown if shown.strip() else _MARKS.sub("", text)


def _without_recipients(head: re.Match[str]) -> str:
    is_of_mail = "@" in head[0] or head[0].count("\n") + (not head[0].endswith("\n")) >= _LEAST_FIELDS
    return _RECIPIENTS.sub("", head[0]) if is_of_mail else head[0]


def _marked(text: str, author: str) -> str:
    return f"[quoted from {author}] {text}" if author else f"[quoted] {text}"


def passage_id(turn: str, part: int) -> str:
    """Return the id of a turn's passage, counted from 1."""
    return content_hash(turn, "passage", str(part))


def retrievable(units: Sequence[Unit]) -> list[Unit]:
    """Return the units without turns that are indexed by their passages."""
    in_passages = {unit.turns for unit in units if unit.kind == "passage" and unit.backbone == FLAT}
    return [unit for unit in units if not (unit.kind == "turn" and unit.turns in in_passages)]


def entries_from_units(units: Sequence[Unit]) -> list[UnitEntry]:
    """Return the retrievable units with the texts to index, in the order of the conversation.

    The text includes the speaker's name, since questions name people, but people seldom name themselves, and the
    headings that a passage stands under. The context of
    a turn has the neighbouring turns that are also near in the transcript, so that a gap of forgotten turns does not
    join distant ones. A long neighbour contributes its nearest passage. The context of a passage has only the turn
    before the long turn. Derived units have no context.
    """
    ordered = sorted(retrievable(units), key=order_of)
    entries: list[UnitEntry] = []
    for _, group in groupby(ordered, key=lambda unit: (unit.backbone != FLAT, unit.conversation, unit.session)):
        session = list(group)
        texts = list(map(_searched, session))
        for place, unit in enumerate(session):
            near = [*_before(session, place), place, *_after(session, place)]
            entries.append(UnitEntry(unit, texts[place], "\n".join(texts[at] for at in near)))
    return entries


def _searched(unit: Unit) -> str:
    text = f"{unit.speaker}: {unit.text}" if unit.speaker else unit.text
    return f"{unit.heading}\n{text}" if unit.heading else text


def _before(session: Sequence[Unit], place: int) -> list[int]:
    """Return the places of the neighbours before the unit; a passage has only the turn before its long turn."""
    most = 1 if session[place].kind == "passage" else NEIGHBOURS
    return _turns_near(session, place, range(place - 1, -1, -1))[:most][::-1]


def _after(session: Sequence[Unit], place: int) -> list[int]:
    """Return the places of the neighbours after the unit; a passage has none."""
    return [] if session[place].kind == "passage" else _turns_near(session, place, range(place + 1, len(session)))


def _turns_near(session: Sequence[Unit], place: int, others: Iterable[int]) -> list[int]:
    """Return the places of the turns near the unit in one direction; for a long turn, of its nearest passage."""
    found: dict[int, int] = {}
    for at in others:
        if not _are_near(session[at], session[place]):
            break
        if session[at].ordinal != session[place].ordinal:
            found.setdefault(session[at].ordinal, at)
    return list(found.values())


def order_of(unit: Unit) -> tuple[bool, str, int, int, int, str]:
    """Return a sort key for units: the order of their conversations, derived units last."""
    return (unit.backbone != FLAT, unit.conversation, unit.session, unit.ordinal, unit.part, unit.id)


def _are_near(one: Unit, other: Unit) -> bool:
    return one.backbone == other.backbone == FLAT and abs(one.ordinal - other.ordinal) <= NEIGHBOURS

"""Turns what a reader finds into conversations: one place for blanks, repeats, sessions and names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts.source import Source
from goalmem_cli.transcripts.texts import clean, quoted
from goalmem_cli.transcripts.times import Stamp

SESSION_GAP = timedelta(hours=8)


@dataclass(frozen=True, slots=True)
class Message:
    """One message as the transcript gives it. `session` is any number that changes when the format starts a session."""

    speaker: str
    text: str
    said: Stamp | None = None
    own_id: str | None = None
    role: str | None = None
    session: int | None = None


class Draft:
    """A conversation being read: takes messages in order, and counts what was repaired or left out.

    `own_id` is the format's own id for the conversation; `title` names it when there is no id and no other
    conversation of the file has that title; `place` is where in the file it is.
    """

    def __init__(self, own_id: str | None = None, title: str | None = None, place: str = "") -> None:
        self.own_id = None if own_id is None else clean(own_id)
        self.title = None if title is None else clean(title)
        self.place = place
        self._repairs: Counter[str] = Counter()
        self._turns: list[Turn] = []
        self._own_ids: set[str] = set()
        self._session_key: int | None = None
        self._last_said: datetime | None = None

    def add(self, message: Message) -> None:
        """Add a message at the end; a blank one is left out and counted."""
        text = self._cleaned(message.text)
        if not text.strip():
            self.count("blank messages left out")
            return
        said = self._said(message.said)
        turn = Turn(
            conversation="",
            session=self._next_session(message.session, said),
            ordinal=len(self._turns),
            speaker=self._cleaned(message.speaker),
            text=text,
            said=said,
            own_id=self._unique(message.own_id),
            role=None if message.role is None else self._cleaned(message.role),
        )
        self._turns.append(turn)
        self._last_said = said if said is not None else self._last_said

    def count(self, repair: str, times: int = 1) -> None:
        """Count something repaired or left out, for the conversation's notes."""
        self._repairs[repair] += times

    @property
    def has_turns(self) -> bool:
        """Whether any message was kept."""
        return bool(self._turns)

    @property
    def message_ids(self) -> frozenset[str]:
        """The own ids of the messages that were kept."""
        return frozenset(turn.own_id for turn in self._turns if turn.own_id is not None)

    def conversation(self, name: str, format_name: str) -> Conversation:
        """Return the finished conversation under the name."""
        notes = tuple(f"{repair}: {times}" for repair, times in self._repairs.items() if times)
        turns = tuple(
            Turn(name, turn.session, turn.ordinal, turn.speaker, turn.text, turn.said, turn.own_id, turn.role)
            for turn in self._turns
        )
        return Conversation(name, format_name, turns, self.own_id, notes)

    def _said(self, stamp: Stamp | None) -> datetime | None:
        if stamp is None:
            return None
        if stamp.is_placeholder:
            self.count("times in year 1 or 9999, which stand for none, left out")
            return None
        if stamp.is_day:
            self.count("turns dated by day only, kept as 00:00 of that day")
        return stamp.moment

    def _cleaned(self, text: str) -> str:
        cleaned = clean(text)
        if cleaned != text:
            self.count("texts with lone surrogates, shown as U+FFFD")
        return cleaned

    def _unique(self, own_id: str | None) -> str | None:
        if own_id is None:
            return None
        own_id = clean(own_id)
        if own_id in self._own_ids:
            self.count("repeated message ids ignored")
            return None
        self._own_ids.add(own_id)
        return own_id

    def _next_session(self, key: int | None, said: datetime | None) -> int:
        current = self._turns[-1].session if self._turns else 0
        is_new = key != self._session_key if key is not None else _is_apart(self._last_said, said)
        self._session_key = key
        return current + 1 if is_new and self._turns else current


def conversations_from_drafts(source: Source, format_name: str, drafts: Sequence[Draft]) -> list[Conversation]:
    """Return the drafts that have turns as conversations; the first one's notes count the others.

    Raises:
        InputError: no draft has a turn, or two have the same name.
    """
    names = names_of_drafts(source, drafts)
    kept = [(draft, name) for draft, name in zip(drafts, names, strict=True) if draft.has_turns]
    if not kept:
        raise source.error("", f"no messages found, read as {format_name}", "check the file, or give another --format")
    kept[0][0].count("conversations without messages left out", len(drafts) - len(kept))
    return [draft.conversation(name, format_name) for draft, name in kept]


def names_of_drafts(source: Source, drafts: Sequence[Draft]) -> list[str]:
    """Return each draft's name: its own id, else its title, else the file's (numbered where there are several).

    Raises:
        InputError: two drafts have the same name.
    """
    names: dict[str, None] = {}
    titles = Counter(draft.title for draft in drafts)
    for number, draft in enumerate(drafts, 1):
        title = draft.title if titles[draft.title] == 1 else None
        name = draft.own_id or title or (source.stem if len(drafts) == 1 else f"{source.stem}-{number}")
        if name in names:
            reason = f"a second conversation is called {quoted(name)}"
            raise source.error(draft.place, reason, "give each conversation of the file an id of its own")
        names[name] = None
    return list(names)


def _is_apart(earlier: datetime | None, later: datetime | None) -> bool:
    """Return whether two times are known, comparable, and so far apart that a new session starts between them."""
    if earlier is None or later is None or (earlier.tzinfo is None) != (later.tzinfo is None):
        return False
    return later - earlier > SESSION_GAP

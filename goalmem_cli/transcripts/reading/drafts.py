"""Turns readers' drafts into conversations: handles blanks, repeats, sessions and names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from goalmem_cli.errors import InputError, NoMessages
from goalmem_cli.records import Conversation, Turn, plain_name
from goalmem_cli.transcripts.reading.attributes import cleaned
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.texts import clean, quoted
from goalmem_cli.transcripts.reading.told_times import Stamp

SESSION_GAP = timedelta(hours=8)
STRETCH_TURNS = 5_000
STRETCH_CHARACTERS = 2**22
"""The most turns and characters that are handed on at once; a longer conversation comes in stretches."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message as the transcript gives it.

    `session` is any number that changes when the format starts a session. `attributes` is what `attributes.attributes`
    returns. A message with `is_beside` and an own id has the number of the message after it, so that those without own
    ids have the same numbers, which identify them, whether it is read or not.
    """

    speaker: str
    text: str
    said: Stamp | None = None
    own_id: str | None = None
    role: str | None = None
    session: int | None = None
    attributes: Mapping[str, object] | None = None
    is_beside: bool = False


def messages_of_parts(
    role: str, said: Stamp | None, own_id: str | None, parts: Iterable[str | Message]
) -> Iterator[Message]:
    """Yield the message that the texts among the parts make up, if there is one, then the messages among them."""
    told = list(parts)
    if text := "\n\n".join(part for part in told if part and isinstance(part, str)):
        yield Message(role, text, said, own_id, role)
    yield from (part for part in told if isinstance(part, Message))


def id_of_call(number: int) -> str:
    """Return the own id of a log's call of a tool, which is `is_beside`; such ids sort in the order of the calls."""
    return f"call {number:06}"


_Said = tuple[int, int, str, str, datetime | None, str | None, str | None, dict[str, object]]
"""A turn while its conversation's name is unknown: the fields of `Turn` without the name, in order."""


class Draft:
    """A conversation being read: takes messages in order, and counts what was repaired or left out.

    `own_id` is the format's own id for the conversation. `title` names it if there is no id and no earlier conversation
    of the file has that title. `place` is its place in the file. A reader sets `is_of_an_agent` if a coding agent wrote
    it, and `shares_ids` if its messages' ids mean the same in all conversations.
    """

    def __init__(self, own_id: str | None = None, title: str | None = None, place: str = "") -> None:
        self.own_id = own_id
        self.title = title
        self.place = place
        self.is_of_an_agent = False
        self.shares_ids = False
        self._repairs: Counter[str] = Counter()
        self._turns: list[_Said] = []
        self._characters = 0
        self._own_ids: dict[str, int] = {}
        self._count = 0
        self._beside = 0
        self._session = 0
        self._session_key: int | None = None
        self._last_said: datetime | None = None
        self._first_unread = ""
        self._content = 0

    def add(self, message: Message) -> None:
        """Add a message at the end; a blank one is left out and counted."""
        text = self._cleaned(message.text)
        if not text.strip():
            self.count("blank messages left out")
            return
        if self._is_there(message, text):
            self.count("messages that are there twice, left out")
            return
        said = self._said(message.said)
        self._session = self._next_session(message.session, said)
        speaker, own_id = self._cleaned(plain_name(message.speaker)), self._unique(message, text)
        role = None if message.role is None else self._cleaned(message.role)
        beside = {name: cleaned(value) for name, value in message.attributes.items()} if message.attributes else {}
        place = self._count - self._beside
        self._turns.append((self._session, place, speaker, text, said, own_id, role, beside))
        self._count += 1
        self._beside += message.is_beside
        self._content = hash((self._content, speaker, text, said))
        self._characters += len(text)
        self._last_said = said if said is not None else self._last_said

    def fill(self, messages: Iterable[Message]) -> Iterator[Draft]:
        """Add the messages, and yield the draft whenever it is full and at the end.

        Raises:
            InputError: the messages end in an error; those before it were added, and the draft was yielded with them.
        """
        try:
            for message in messages:
                self.add(message)
                if self.is_full:
                    yield self
        except InputError:
            if self.is_begun:
                yield self
            raise
        yield self

    def count(self, repair: str, times: int = 1) -> None:
        """Count something repaired or left out, for the conversation's notes."""
        self._repairs[repair] += times

    def count_stray(self, times: int = 1) -> None:
        """Count lines outside any message."""
        self.count("lines outside any message left out", times)

    @property
    def is_full(self) -> bool:
        """Whether as much was added since the last stretch as should be in memory at once."""
        return len(self._turns) >= STRETCH_TURNS or self._characters >= STRETCH_CHARACTERS

    @property
    def is_begun(self) -> bool:
        """Whether any message was kept at all."""
        return self._count > 0

    @property
    def content(self) -> int | None:
        """A number that is equal for drafts with the same turns; None while the draft is full and may go on."""
        return None if self.is_full else self._content

    @property
    def message_ids(self) -> frozenset[str]:
        """The own ids of the messages that were kept."""
        return frozenset(self._own_ids)

    @property
    def names(self) -> tuple[str | None, str | None]:
        """The own id and the title, in a form that can be stored."""
        own_id, title = (None if name is None else clean(name) for name in (self.own_id, self.title))
        return own_id, title

    def stretch(self, name: str, format_name: str) -> Conversation:
        """Return what was added since the last stretch, under the name; later messages go into the next stretch."""
        notes = tuple(_note(repair, times) for repair, times in self._repairs.items() if times)
        turns = tuple(Turn(name, *said) for said in self._turns)
        continues = self._count > len(turns)
        self._repairs.clear()
        self._turns.clear()
        self._characters = 0
        return Conversation(name, format_name, turns, self.names[0], notes, continues, shares_ids=self.shares_ids)

    def _said(self, stamp: Stamp | None) -> datetime | None:
        """Return the time of a stamp; unreadable times and placeholders are counted, and None."""
        if stamp is None:
            return None
        if stamp.unread:
            self._first_unread = self._first_unread or quoted(stamp.unread)
            self.count(f"times that cannot be read, left unknown (the first: {self._first_unread})")
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

    def _is_there(self, message: Message, text: str) -> bool:
        """Say whether the same message was added before, under the same id."""
        known = None if message.own_id is None else self._own_ids.get(clean(message.own_id))
        return known is not None and known == _content_of(message, text)

    def _unique(self, message: Message, text: str) -> str | None:
        """Return the message's own id; None without one, or if the draft has it already, which is counted."""
        if message.own_id is None:
            return None
        own_id = clean(message.own_id)
        if own_id in self._own_ids:
            self.count("repeated message ids ignored")
            return None
        self._own_ids[own_id] = _content_of(message, text)
        return own_id

    def _next_session(self, key: int | None, said: datetime | None) -> int:
        is_new = key != self._session_key if key is not None else _is_apart(self._last_said, said)
        self._session_key = key
        return self._session + 1 if is_new and self._count else self._session


def conversations_from_drafts(
    source: Source, format_name: str, drafts: Iterable[Draft], form: str = "check the file"
) -> Iterator[Conversation]:
    """Yield the drafts that have turns as conversations, each whole or, if it is long, in stretches.

    A draft may come several times, whenever it is full. It comes a last time when it is complete; only then does the
    next one come. The last conversation's notes count the drafts without messages. `form` says how to write a message.

    If the drafts end in an error that may be skipped, what was read before it is still yielded.

    Raises:
        InputError: no draft has a turn, or two have the same name.
    """
    names = Names(source)
    held: Conversation | None = None
    for stretch in _stretches(names, format_name, _until_broken(source, drafts)):
        if held is not None and not stretch.turns:
            held = replace(held, notes=(*held.notes, *stretch.notes))
            continue
        if held is not None:
            yield held
        held = stretch
    if held is None:
        reason, hint = f"no messages found, read as {format_name}", f"{form}, or give another --format"
        nothing = NoMessages(source.file, "", reason, hint)
        raise source.first_skipped or nothing
    yield replace(held, notes=(*held.notes, *names.notes()))


def _until_broken(source: Source, drafts: Iterable[Draft]) -> Iterator[Draft]:
    """Yield the drafts up to the first error, which is skipped if it may be."""
    try:
        yield from drafts
    except InputError as error:
        source.skip(error)


def _stretches(names: Names, format_name: str, drafts: Iterable[Draft]) -> Iterator[Conversation]:
    """Yield the drafts' stretches. A draft's first one is held back until the draft comes again, or another follows."""
    held: Draft | None = None
    for draft in drafts:
        if draft is held:
            if draft.is_full and (name := names.of(draft)) is not None:
                yield replace(draft.stretch(name, format_name), goes_on=True)
            continue
        if held is not None:
            names.is_one_of_several = True
            yield from _last_stretch(held, names, format_name)
        held = draft
    if held is not None:
        yield from _last_stretch(held, names, format_name)


def _last_stretch(draft: Draft, names: Names, format_name: str) -> Iterator[Conversation]:
    """Yield the last piece of a finished draft, if it has any message."""
    name = names.of(draft)
    if name is None:
        return
    if draft.is_begun:
        yield draft.stretch(name, format_name)  # without turns if it only has notes to add to the one before
    else:
        names.left_out += 1


class Names:
    """Names the conversations of one file: by own id, else by title, else by the file's name.

    `is_one_of_several` says that the file's name alone is not enough; `left_out` counts drafts without messages. A
    draft that repeats an earlier one with its id is left out and counted, if `may_repeat` is set.
    """

    def __init__(self, source: Source, *, may_repeat: bool = True) -> None:
        self.is_one_of_several = False
        self.left_out = 0
        self._repeated = 0
        self._may_repeat = may_repeat
        self._source = source
        self._taken: dict[str, int | None] = {}
        self._draft: Draft | None = None
        self._name: str | None = None

    def of(self, draft: Draft) -> str | None:
        """Return the draft's name, which stays the same once it was returned; None if the draft is skipped.

        Raises:
            InputError: an earlier draft has this name, and it may not be skipped.
        """
        if draft is not self._draft:
            self._draft, self._name = draft, self._new(draft)
        return self._name

    def _new(self, draft: Draft) -> str | None:
        """Return the name of a finished conversation; None if it repeats an earlier one or its name is taken."""
        number, stem = len(self._taken) + 1, self._source.stem
        numbered = f"{stem}-{number}" if self.is_one_of_several else stem
        own_id, title = draft.names
        name = own_id or (title if title not in self._taken else None) or numbered
        is_same = self._may_repeat and draft.content is not None and self._taken.get(name) == draft.content
        if is_same:
            self._repeated += 1
            return None
        if name in self._taken:
            reason = f"a second conversation is called {quoted(name)}"
            hint = "give each conversation of the file an id of its own"
            self._source.skip(self._source.error(draft.place, reason, hint))
            return None
        self._taken[name] = draft.content
        return name

    def notes(self) -> list[str]:
        """Return what to say of the conversations that were left out."""
        counted = (
            ("conversations without messages left out", self.left_out),
            ("conversations that are there twice, left out", self._repeated),
        )
        return [_note(what, times) for what, times in counted if times]


def names_of_drafts(source: Source, drafts: Sequence[Draft]) -> list[str]:
    """Return the names of a file's drafts, in order; a skipped draft, whose name is taken, is left out.

    Raises:
        InputError: two drafts have the same name, and none may be skipped.
    """
    names = Names(source, may_repeat=False)
    names.is_one_of_several = len(drafts) > 1
    return [name for draft in drafts if (name := names.of(draft)) is not None]


def summed(notes: Iterable[str]) -> list[str]:
    """Return the notes of several stretches or conversations added up: one note for each kind of repair."""
    times: Counter[str] = Counter()
    for note in notes:
        repair, _, count = note.rpartition(": ")
        times[repair] += int(count)
    return [_note(repair, count) for repair, count in times.items()]


def whole_conversations(stretches: Iterable[Conversation]) -> list[Conversation]:
    """Return the conversations with their stretches joined, all in memory."""
    whole: list[Conversation] = []
    for stretch in stretches:
        if stretch.continues:
            begun = whole.pop()
            notes = tuple(summed((*begun.notes, *stretch.notes)))
            derived, edges = begun.derived + stretch.derived, begun.edges + stretch.edges
            stretch = replace(
                begun, turns=begun.turns + stretch.turns, notes=notes, derived=derived, edges=edges,
                goes_on=stretch.goes_on,
            )  # fmt: skip
        whole.append(stretch)
    return whole


def _content_of(message: Message, text: str) -> int:
    return hash((message.speaker, text, message.said))


def _note(repair: str, times: int) -> str:
    return f"{repair}: {times}"


def _is_apart(earlier: datetime | None, later: datetime | None) -> bool:
    """Return whether two times are known, comparable, and so far apart that a new session starts between them."""
    if earlier is None or later is None or (earlier.tzinfo is None) != (later.tzinfo is None):
        return False
    return later - earlier > SESSION_GAP

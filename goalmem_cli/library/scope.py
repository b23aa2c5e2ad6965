"""Resolve the names of conversations, speakers and the asker against the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from goalmem_cli.errors import UsageError
from goalmem_cli.logic.moments import Moment
from goalmem_cli.memory_records import Selection, Voice
from goalmem_cli.records import encodable
from goalmem_cli.store.people import People
from goalmem_cli.store.roster import Roster, Somebody

if TYPE_CHECKING:
    from datetime import datetime

    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.memory_records import ConversationSummary

USER_ROLE = "user"
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the parameters in errors: the library's words or the command's flags."""

    conversations: str = "conversations"
    speakers: str = "speakers"
    asker: str = "asker"


def chosen_conversations(
    asked: Sequence[str] | None, stored: Sequence[ConversationSummary], flag: str
) -> tuple[str, ...] | None:
    """Return the stored names of the `asked` conversations, None for all; `flag` names the parameter in errors.

    Raises:
        UsageError: the store has no such conversation, or a text is given instead of a list.
    """
    return _chosen(asked, [summary.name for summary in stored], flag, "conversation")


@dataclass(frozen=True, slots=True)
class Heard:
    """The chosen speakers: the names under which they speak, and their shown names.

    `voices` identify their turns if others share a name (`is_shared`) or if they have ids; None if names are enough.
    """

    names: tuple[str, ...]
    shown: frozenset[str]
    voices: frozenset[Voice] | None = None
    is_shared: bool = False

    @property
    def all_names(self) -> tuple[str, ...]:
        """The names and the shown names, as a backbone may know its units under either."""
        return tuple(dict.fromkeys((*self.names, *sorted(self.shown))))


def chosen_speakers(
    asked: Sequence[str] | None,
    stored: Sequence[ConversationSummary],
    scope: Sequence[str] | None,
    flag: str,
    people: People,
    *,
    is_sure: bool = False,
) -> Heard | None:
    """Return the `asked` speakers, by any of their names or ids, None for all; `flag` names the parameter in errors.

    Raises:
        UsageError: nobody with that name speaks in the scope's conversations, or a text is given instead of a list, or
            `is_sure` is set and several people have the name.
    """
    if asked is None:
        return None
    _refuse_text(asked, flag)
    roster = Roster.of_stored(people, stored)
    chosen = dict.fromkeys(
        one for name in asked for one in _called(encodable(name), roster, _within(stored, scope), flag, is_sure=is_sure)
    )
    names = tuple(dict.fromkeys(name for one in chosen for name in one.names))
    voices = frozenset(voice for one in chosen for voice in one.voices)
    is_shared = roster.share_names(chosen)
    shown = frozenset(roster.labels[voice] for voice in voices)
    return Heard(names, shown, voices if is_shared or any(voice.id for voice in voices) else None, is_shared)


def chosen_asker(
    asked: str | None, stored: Sequence[ConversationSummary], scope: Sequence[str] | None, flag: str, people: People
) -> str | None:
    """Return the asker: the `asked` speaker, else the speaker in the user's role if the scope has exactly one.

    Raises:
        UsageError: nobody with that name, or several people, speak in the scope's conversations.
    """
    within = _within(stored, scope)
    voices = {speaker.voice for summary in within for speaker in summary.speakers if speaker.role == USER_ROLE}
    if asked is None and not voices:
        return None
    roster = Roster.of_stored(people, stored)
    if asked is not None:
        return _called(encodable(asked), roster, within, flag, is_sure=True)[0].shown
    users = {roster.shown(voice) for voice in voices}
    return users.pop() if len(users) == 1 else None


def selected(
    memory: KeptMemory,
    conversations: Sequence[str] | None,
    speakers: Sequence[str] | None,
    before: datetime | None,
    names: Names,
    *,
    is_always: bool = False,
) -> Selection:
    """Return the selection of turns to forget; they have to match all that is given.

    With `is_always`, conversations and speakers of whom nothing is stored any more may be named too.

    Raises:
        UsageError: nothing is given, a list or a name is empty, or a name is not in the store.
        StoreError: there is no store, or it cannot be read.
    """
    if conversations is None and speakers is None and before is None:
        raise UsageError("nothing says what to forget", "name a conversation, a speaker or a time")
    for asked, flag in ((conversations, names.conversations), (speakers, names.speakers)):
        if asked is not None and not asked:
            raise UsageError(f"{flag}: names nothing to forget", "name something, or leave it out to restrict nothing")
    stored = memory.conversations()
    people, gone = People.of_folder(memory.path) if speakers is not None else People(), tuple[str, ...]()
    rooms = tuple[str, ...]()
    if is_always and conversations is not None:
        known = [each.name for each in stored]
        rooms = _not_in(conversations, lambda name: _is_among(name, known), names.conversations)
        conversations = [name for name in conversations if encodable(name) not in rooms]
    scope = chosen_conversations(conversations, stored, names.conversations)
    if is_always and speakers is not None:
        gone = _not_in(speakers, lambda name: _speaks(name, people, stored), names.speakers)
        speakers = [name for name in speakers if encodable(name) not in gone]
    heard = chosen_speakers(speakers, stored, None if rooms else scope, names.speakers, people, is_sure=True)
    scope = None if scope is None else (*scope, *rooms)
    if heard is None:
        return Selection(scope, None, before)
    return Selection(scope, (*heard.names, *gone), before, voices=heard.voices)


def _not_in(asked: Sequence[str], is_known: Callable[[str], bool], flag: str) -> tuple[str, ...]:
    """Return the names of which nothing is stored; `flag` names the parameter in errors.

    Raises:
        UsageError: one is empty, or a text is given instead of a list.
    """
    _refuse_text(asked, flag)
    gone = tuple(encodable(name) for name in asked if not is_known(encodable(name)))
    if not all(name.strip() for name in gone):
        raise UsageError(f"{flag}: the name is empty", "`goalmem stores show` lists conversations and speakers")
    return gone


def strangers_in_words(memory: KeptMemory, conversations: Sequence[str], speakers: Sequence[str]) -> list[str]:
    """Return a line for each conversation and speaker of whom the memory has nothing, with similar names.

    Raises:
        StoreError: there is no store, or it cannot be read.
    """
    people, stored = People.of_folder(memory.path), memory.conversations()
    labels, rooms = Roster.of_stored(people, stored).labels, [each.name for each in stored]
    voices = sorted({name for voice in _voices(stored) for name in (voice.name, labels[voice])})
    unread = {
        f"no conversation is called {name!r}": (name, rooms) for name in map(encodable, conversations)
        if not _is_among(name, rooms)
    } | {
        f"nobody called {name!r} speaks": (name, voices) for name in map(encodable, speakers)
        if not _speaks(name, people, stored)
    }  # fmt: skip
    lines = list[str]()
    for what, (name, known) in unread.items():
        asks = f" ({hint})" if (hint := _did_you_mean(name, known)) else ""
        lines.append(f"{what} here{asks}: only what comes later is left out")
    return lines


def _is_among(name: str, known: Iterable[str]) -> bool:
    return name.casefold() in map(str.casefold, known)


def _speaks(name: str, people: People, stored: Sequence[ConversationSummary]) -> bool:
    return bool(Roster.of_stored(people, stored).called(encodable(name)))


def refuse_reversed(since: datetime | None, until: datetime | None) -> None:
    """Raise a UsageError if the span of time ends before it begins: `since` is after `until`."""
    if since is not None and until is not None:
        begun, ended = Moment.from_datetime(since), Moment.from_datetime(until)
        if begun.is_later_than(ended):
            message = f"since {since:%Y-%m-%d %H:%M} is after until {until:%Y-%m-%d %H:%M}: no time lies between"
            raise UsageError(message, "give an earlier since or a later until")


def left_out_in_words(count: int) -> str:
    """Return in words how many turns the time filter left out because they have no time."""
    noun = "turn" if count == 1 else "turns"
    return f"{count} {noun} without a time left out by the time filter"


def _within(stored: Sequence[ConversationSummary], scope: Sequence[str] | None) -> list[ConversationSummary]:
    return [summary for summary in stored if scope is None or summary.name in scope]


def _voices(stored: Iterable[ConversationSummary]) -> list[Voice]:
    return [speaker.voice for summary in stored for speaker in summary.speakers]


def _called(
    text: str, roster: Roster, within: Sequence[ConversationSummary], flag: str, *, is_sure: bool
) -> list[Somebody]:
    """Return the people whom the text names among the speakers of these conversations.

    Raises:
        UsageError: it names nobody, or several people although `is_sure` is set.
    """
    speak = set(_voices(within))
    found = [one for one in roster.called(text) if not speak.isdisjoint(one.voices)]
    if not found:
        there = {voice.name for voice in speak} | {roster.labels[voice] for voice in speak}
        raise _unknown(text, sorted(there), flag, "speaker")
    if is_sure and len(found) > 1:
        raise several(text, found, flag)
    return found


def several(text: str, found: Sequence[Somebody], flag: str) -> UsageError:
    """Return the error for a text that names several people; its hint says how to name each."""
    ids = [next((voice.id for voice in one.voices if voice.id), one.shown) for one in found]
    ids = [one.without_id if id_.casefold() == text.casefold() else id_ for id_, one in zip(ids, found, strict=True)]
    message = f"{flag}: {len(found)} people are called {text!r}"
    return UsageError(message, f"say which: {' or '.join(repr(id_) for id_ in ids[:_SHOWN])}")


def _refuse_text(asked: Sequence[str], flag: str) -> None:
    if isinstance(asked, str):
        raise UsageError(f"{flag}: the text {asked!r} is no list of names", f"give a list: [{asked!r}]")


def _chosen(asked: Sequence[str] | None, known: Sequence[str], flag: str, noun: str) -> tuple[str, ...] | None:
    if asked is None:
        return None
    _refuse_text(asked, flag)
    return tuple(dict.fromkeys(_match(encodable(name), known, flag, noun) for name in asked))


def _match(name: str, known: Sequence[str], flag: str, noun: str) -> str:
    """Return the known name that is equal, or the only one that differs just in case."""
    if name in known:
        return name
    folded = [each for each in known if each.casefold() == name.casefold()]
    if len(folded) == 1:
        return folded[0]
    raise _unknown(name, known, flag, noun)


def _unknown(name: str, known: Sequence[str], flag: str, noun: str) -> UsageError:
    """Return the error for an unknown name, with a hint at similar names."""
    hint = _did_you_mean(name, known)
    if not known:
        hint = "the store is empty: `goalmem ingest PATH` reads a transcript into it"
    elif not hint:
        more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
        hint = f"there is {', '.join(repr(each) for each in known[:_SHOWN])}{more}; `goalmem stores show` lists them"
    return UsageError(f"{flag}: there is no {noun} {name!r} in the store", hint)


def _did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return a question with the names that are similar, "" if there are none."""
    by_folded = {each.casefold(): each for each in known}
    close = [by_folded[each] for each in get_close_matches(name.casefold(), by_folded, n=_SHOWN, cutoff=0.5)]
    return f"did you mean {' or '.join(repr(each) for each in close)}?" if close else ""

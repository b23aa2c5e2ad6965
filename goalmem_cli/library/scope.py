"""Which conversations, speakers and asker are meant, checked against what the store holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from goalmem_cli.errors import UsageError
from goalmem_cli.logic.moments import Moment
from goalmem_cli.memory_records import Selection
from goalmem_cli.records import encodable

if TYPE_CHECKING:
    from datetime import datetime

    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.memory_records import ConversationSummary

USER_ROLE = "user"
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Names:
    """What whoever asks calls the things that can be wrong, so that errors name what was written."""

    conversations: str = "conversations"
    speakers: str = "speakers"
    asker: str = "asker"


def chosen_conversations(
    asked: Sequence[str] | None, stored: Sequence[ConversationSummary], flag: str
) -> tuple[str, ...] | None:
    """Return the conversations asked for by their stored names, None for all; `flag` is where they were given.

    Raises:
        UsageError: the store has no conversation of that name, or a text is given for a list.
    """
    return _chosen(asked, [summary.name for summary in stored], flag, "conversation")


def chosen_speakers(
    asked: Sequence[str] | None, stored: Sequence[ConversationSummary], scope: Sequence[str] | None, flag: str
) -> tuple[str, ...] | None:
    """Return the speakers asked for by their stored names, None for all; `flag` is where they were given.

    Raises:
        UsageError: nobody of that name speaks in the conversations of the scope, or a text is given for a list.
    """
    return _chosen(asked, _speakers(_within(stored, scope)), flag, "speaker")


def chosen_asker(
    asked: str | None, stored: Sequence[ConversationSummary], scope: Sequence[str] | None, flag: str
) -> str | None:
    """Return who asks: the speaker named at `flag`, else the one in the user's role where the scope has exactly one.

    Raises:
        UsageError: nobody of that name speaks in the conversations of the scope.
    """
    within = _within(stored, scope)
    if asked is not None:
        return _match(encodable(asked), _speakers(within), flag, "speaker")
    users = {speaker.name for summary in within for speaker in summary.speakers if speaker.role == USER_ROLE}
    return users.pop() if len(users) == 1 else None


def selected(
    memory: KeptMemory,
    conversations: Sequence[str] | None,
    speakers: Sequence[str] | None,
    before: datetime | None,
    names: Names,
) -> Selection:
    """Return what to forget, by its stored names; what is given together narrows.

    Raises:
        UsageError: nothing says what, a list names nothing, or something is not in the store.
        StoreError: there is no store, or it cannot be read.
    """
    if conversations is None and speakers is None and before is None:
        raise UsageError("nothing says what to forget", "name a conversation, a speaker or a time")
    for asked, flag in ((conversations, names.conversations), (speakers, names.speakers)):
        if asked is not None and not asked:
            raise UsageError(f"{flag}: names nothing to forget", "name something, or leave it out to restrict nothing")
    stored = memory.conversations()
    scope = chosen_conversations(conversations, stored, names.conversations)
    return Selection(scope, chosen_speakers(speakers, stored, scope, names.speakers), before)


def refuse_reversed(since: datetime | None, until: datetime | None) -> None:
    """Refuse a stretch of time that ends before it begins.

    Raises:
        UsageError: it does.
    """
    if since is not None and until is not None:
        begun, ended = Moment.from_datetime(since), Moment.from_datetime(until)
        if begun.is_later_than(ended):
            message = f"since {since:%Y-%m-%d %H:%M} is after until {until:%Y-%m-%d %H:%M}: no time lies between"
            raise UsageError(message, "give an earlier since or a later until")


def left_out_in_words(count: int) -> str:
    """Return how many turns a time filter left out because nothing tells when they were said."""
    noun = "turn" if count == 1 else "turns"
    return f"{count} {noun} without a time left out by the time filter"


def _within(stored: Sequence[ConversationSummary], scope: Sequence[str] | None) -> list[ConversationSummary]:
    return [summary for summary in stored if scope is None or summary.name in scope]


def _speakers(stored: Iterable[ConversationSummary]) -> list[str]:
    return sorted({speaker.name for summary in stored for speaker in summary.speakers})


def _chosen(asked: Sequence[str] | None, known: Sequence[str], flag: str, noun: str) -> tuple[str, ...] | None:
    if asked is None:
        return None
    if isinstance(asked, str):
        raise UsageError(f"{flag}: the text {asked!r} is no list of names", f"give a list: [{asked!r}]")
    return tuple(dict.fromkeys(_match(encodable(name), known, flag, noun) for name in asked))


def _match(name: str, known: Sequence[str], flag: str, noun: str) -> str:
    """Return the known name that is meant: the same, or the only one that differs in case alone."""
    if name in known:
        return name
    folded = [each for each in known if each.casefold() == name.casefold()]
    if len(folded) == 1:
        return folded[0]
    by_folded = {each.casefold(): each for each in known}
    close = [by_folded[each] for each in get_close_matches(name.casefold(), by_folded, n=_SHOWN, cutoff=0.5)]
    if close:
        hint = f"did you mean {' or '.join(repr(each) for each in close)}?"
    elif known:
        more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
        hint = f"there is {', '.join(repr(each) for each in known[:_SHOWN])}{more}; `goalmem stores show` lists them"
    else:
        hint = "the store is empty: `goalmem ingest PATH` reads a transcript into it"
    raise UsageError(f"{flag}: there is no {noun} {name!r} in the store", hint)

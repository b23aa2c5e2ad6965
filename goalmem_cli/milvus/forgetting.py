"""Forget turns of a memory in Milvus, with what was derived from them and the traces that show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta

from goalmem_cli.errors import StoreError
from goalmem_cli.memory_records import Forgotten, Selection, voice_of
from goalmem_cli.milvus.adding import without_answers_on
from goalmem_cli.milvus.changing import Wanted, bring, drop, settle
from goalmem_cli.milvus.kept import SAID_FIELDS, Kept, told
from goalmem_cli.milvus.lookups import both, passing
from goalmem_cli.milvus.rows import Talk
from goalmem_cli.milvus.schema import Collection
from goalmem_cli.records import Query, Turn, Unit, content_hash
from goalmem_cli.store.database.languages import language_among
from goalmem_cli.store.queries.reader import check_embedder
from goalmem_cli.store.recognising import without_quotes
from goalmem_cli.store.traces import place_key
from goalmem_cli.store.units import units_from_turns

_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class _Leaving:
    """What will be deleted: whole conversations, the remaining content of others, and the keys of traces to delete."""

    whole: list[Talk]
    parted: list[Wanted]
    keys: frozenset[str]
    counts: Forgotten


def forgettable(kept: Kept, selection: Selection) -> Forgotten:
    """Return what `forget` would delete; see `SupportsForgetting`."""
    kept.require()
    return _leaving(kept, selection).counts


def forget(kept: Kept, selection: Selection, shown: frozenset[str] | None) -> Forgotten:
    """Delete the turns and all that came from them; see `SupportsForgetting`.

    Raises:
        StoreError: the turns differ from those that were `shown`, or the engine still has rows of them afterwards.
    """
    meta = kept.require()
    with kept.writing():
        settle(kept)
        leaving = _leaving(kept, selection)
        counts = leaving.counts
        if shown is not None and counts.ids != shown:
            raise StoreError("other turns would be deleted now than were shown", "look again at what would be deleted")
        if not counts.turns:
            return counts
        if leaving.parted:
            check_embedder(meta, kept.embedder)
            kept.fingerprint.check(meta)
        kept.expect_deleted()
        _forget_shown(kept, leaving.keys)  # first, as the turns are needed to find the traces that quote them
        if leaving.whole:
            drop(kept, leaving.whole)
        if leaving.parted:
            bring(kept, leaving.parted)
        kept.renew()
        _forget_shown(kept, leaving.keys)  # again, as a question may have been answered from the turns meanwhile
        if kept.address.path is None:
            kept.engine.compact()
            kept.announce(
                "the server's files may hold what was deleted until it has compacted them, which it does by itself"
            )
    return counts


def _forget_shown(kept: Kept, keys: frozenset[str]) -> None:
    kept.traces.forget(keys)
    kept.goals.undermine(keys, kept.known_units)


def _without(talk: Talk, turns: list[Turn], answers: list[Unit]) -> Wanted:
    """Return what stays of a conversation, whose language is found again unless the user told it."""
    language = talk.language if talk.is_language_told else language_among(turns)
    return Wanted(talk, turns, answers, replace(talk, language=language))


def _leaving(kept: Kept, selection: Selection) -> _Leaving:
    """Return what a selection would delete, and what stays of each conversation."""
    before = None if selection.before is None else selection.before - _INSTANT
    query = Query("", selection.conversations, selection.speakers, until=before)
    turns = _selected(kept, query)
    if selection.content_keys is not None:
        turns = [turn for turn in turns if turn.content_key in selection.content_keys]
    if selection.voices is not None:
        turns = [turn for turn in turns if voice_of(turn) in selection.voices]
    gone = {turn.id: turn for turn in turns}
    talks = kept.shown({turn.conversation for turn in turns})
    numbers = Counter(turn.conversation for turn in turns)
    whole = [talk for name, talk in talks.items() if numbers[name] == talk.turns]
    parted = [talk for talk in talks.values() if talk not in whole]
    stay, answers = kept.said(parted)
    leaving: dict[str, Unit] = {}
    for unit in (*answers.values(), *kept.said(whole, may_lack=True)[1].values()):
        if unit.conversation in {talk.name for talk in whole} or not gone.keys().isdisjoint(unit.turns):
            leaving[unit.id] = unit
    wanted = [
        _without(
            talk,
            without_quotes(
                (turn for id_, turn in stay.items() if turn.conversation == talk.name and id_ not in gone),
                (turn for turn in turns if turn.conversation == talk.name),
            ),
            [unit for id_, unit in answers.items() if unit.conversation == talk.name and id_ not in leaving],
        )
        for talk in parted
    ]
    for elsewhere in without_answers_on(kept, gone, set(talks)):
        stays = {unit.id for unit in elsewhere.answers}
        leaving |= {id_: unit for id_, unit in kept.said([elsewhere.talk])[1].items() if id_ not in stays}
        wanted.append(elsewhere)
    units = [*units_from_turns(turns), *leaving.values()]
    keys = _keys(turns, units, whole)
    counts = Forgotten(
        tuple(sorted(talk.name for talk in whole)),
        len(turns),
        dict(sorted(Counter(unit.kind for unit in units).items())),
        traces=len(kept.traces.about(keys)),
        goals=kept.goals.count_about(keys, kept.known_units),
        without_time=_without_time(kept, selection),
        ids=frozenset(gone),
    )
    return _Leaving(whole, wanted, keys, counts)


def _selected(kept: Kept, query: Query) -> list[Turn]:
    condition = both(passing(query), 'kind == "turn"')
    rows = list(kept.engine.rows(Collection.SAID, condition, [*SAID_FIELDS, "conversation"]))
    talks = kept.shown({row["conversation"] for row in rows})
    return list(told(rows, {talk.key: talk for talk in talks.values()})[0].values())


def _without_time(kept: Kept, selection: Selection) -> int:
    """Return how many selected turns stay since they have no time."""
    if selection.before is None:
        return 0
    found = _selected(kept, Query("", selection.conversations, selection.speakers))
    voices = selection.voices
    return len([turn for turn in found if turn.said is None and (voices is None or voice_of(turn) in voices)])


def _keys(turns: Iterable[Turn], units: Iterable[Unit], whole: Iterable[Talk]) -> frozenset[str]:
    """Return the keys of these turns, units and conversations for `TraceFolder.about`."""
    keys = {place_key(talk.name) for talk in whole}
    for unit in units:
        keys |= {unit.id, content_hash(unit.text)}
    for turn in turns:
        keys.add(content_hash(turn.text))
        if turn.own_id is not None:
            keys.add(place_key(turn.conversation, turn.own_id))
    return frozenset(keys)

"""Mark hits that are out of date because the same person later said otherwise.

`changes` decides this from the words alone, without a model, for every query. These marks are for people who read the
hits: they change neither the order of hits nor what a model sees. Questions about now: see `now/holding.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from goalmem_cli.backbones.changes import Change, Earlier, changes_in, may_tell_change, topic
from goalmem_cli.backbones.now.asked import AT_HOME, AT_WORK
from goalmem_cli.backbones.now.states import Telling, replaced_by, states_in
from goalmem_cli.logic.questions import only_asks
from goalmem_cli.logic.roles import ASSISTANT, role_of
from goalmem_cli.memory_ports import OpenMemory
from goalmem_cli.memory_records import Ranking
from goalmem_cli.records import UNKNOWN_AUTHOR, Hit, Query, Unit

_CUES = "no longer any more gave up quit stopped sold cancelled left moved back switched changed to now instead of"
_DEPTH = 30
_SAID = ("turn", "passage")


def marked(hits: Sequence[Hit], others: Iterable[Unit] = ()) -> list[Hit]:
    """Return the hits, each with `moved_on` and `change` set.

    `moved_on` is the first later turn of the same author that makes the hit out of date, unless `now/holding.py` has
    set it or found that the hit holds. It is searched among the hits, their neighbours and the `others` that were
    found. `change` is the words of the hit itself that state a change.
    """
    first: dict[tuple[str, str], int] = {}
    for hit in hits:
        whose, ordinal = (hit.unit.author, hit.unit.conversation), hit.unit.ordinal
        first[whose] = min(ordinal, first.get(whose, ordinal))
    near = {unit.id: unit for hit in hits for unit in (hit.unit, *hit.beside)} | {unit.id: unit for unit in others}
    of_authors = (unit for unit in near.values() if (unit.author, unit.conversation) in first)
    told = sorted((unit for unit in of_authors if may_tell_change(unit.text)), key=lambda unit: unit.place)
    changed = {
        unit.id: (unit, found)
        for unit in told
        if unit.ordinal >= first[unit.author, unit.conversation] and (found := changes_in(unit.text)) and is_told(unit)
    }
    elsewhere = _elsewhere(told, {hit.unit.id for hit in hits})
    return [_marked(hit, changed, elsewhere) if is_told(hit.unit) else hit for hit in hits]


def _elsewhere(told: Sequence[Unit], wanted: Collection[str]) -> dict[str, Unit]:
    """Return for each wanted unit that states a home or a workplace the later unit that replaces it, if one does.

    What other units state matters only where a wanted one states something.
    """
    found: dict[str, Unit] = {}
    for asked in (AT_HOME, AT_WORK):
        if any(states_in(unit.text, asked) for unit in told if unit.id in wanted):
            states = [Telling(unit, state) for unit in told if is_told(unit) for state in states_in(unit.text, asked)]
            found |= {each: later for each, later in replaced_by(states, asked).items() if later is not None}
    return found


def looked_up(reader: OpenMemory, hits: Sequence[Hit], query: Query) -> list[Unit]:
    """Search the scope of the query, by words, for turns that state a change of what the hits are about.

    Raises:
        StoreError: the memory cannot be read.
    """
    about = sorted(frozenset[str]().union(*(topic(hit.unit.text) for hit in hits)))
    where = tuple(dict.fromkeys(hit.unit.conversation for hit in hits))
    asked = replace(query, text=" ".join((_CUES, *about)), conversations=where)
    found = reader.rank(asked, [Ranking.BM25], _DEPTH)[Ranking.BM25]
    return list(reader.units([each.unit for each in found]).values())


def _marked(hit: Hit, changed: Mapping[str, tuple[Unit, Sequence[Change]]], elsewhere: Mapping[str, Unit]) -> Hit:
    unit, first = hit.unit, hit.moved_on
    if first is None and not hit.holds:
        later = [each for each in changed.values() if _follows(each[0], unit)] if unit.id not in elsewhere else []
        first = elsewhere.get(unit.id) or _moving_on(later, unit.text)
    _, own = changed.get(unit.id, (unit, ()))
    change = next((each.cue for each in own if each.is_clear), "")
    return hit if (first, change) == (hit.moved_on, hit.change) else replace(hit, moved_on=first, change=change)


def _moving_on(later: Sequence[tuple[Unit, Sequence[Change]]], text: str) -> Unit | None:
    """Return the first later unit whose changes make the text out of date."""
    if not later:
        return None
    earlier = Earlier.of(text)
    return next((unit for unit, changes in later if any(map(earlier.is_ended_by, changes))), None)


def _follows(one: Unit, other: Unit) -> bool:
    is_same = one.author == other.author and one.conversation == other.conversation
    return is_same and one.ordinal > other.ordinal


def is_told(unit: Unit) -> bool:
    """Say whether a known person states this: no assistant (it advises), no unknown author, no mere question."""
    is_said = (
        unit.kind in _SAID and role_of(unit.author) != ASSISTANT and unit.author.strip() not in ("", UNKNOWN_AUTHOR)
    )
    return is_said and not only_asks(unit.text)

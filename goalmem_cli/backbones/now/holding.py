"""Show what holds now: where a question asks for a thing that has one value at a time, the later statement comes first.

`Holding` wraps a backbone, so that every search, every reasoner and every benchmark gets the same order and the same
marks. It asks no model. Of questions about the past, and of things that may have several values, it changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from goalmem_cli.backbones.later import is_told
from goalmem_cli.backbones.now.asked import DOING, HOME, OWN, WORK, Asked, asked_in
from goalmem_cli.backbones.now.owned import names_thing
from goalmem_cli.backbones.now.state import ME, State
from goalmem_cli.backbones.now.states import Telling, clock_of, may_state, replaced_by, replied_to, states_in
from goalmem_cli.backbones.scope import hits_within
from goalmem_cli.logic.annotations import annotations_of, with_moved_day
from goalmem_cli.logic.normal import stem, words
from goalmem_cli.memory_ports import OpenMemory, SupportsRanking
from goalmem_cli.memory_records import Ranking
from goalmem_cli.ports import Backbone
from goalmem_cli.records import Hit, Query, Turn, Unit

_DEPTH = 200
"""How many turns are looked through: they have the words below, and are of one speaker where the question names one."""
_ROUNDS = 4
"""How often it is looked: where so many were found, again among those later than the last that tells it."""
_CUES: Mapping[str, str] = {
    HOME: "live lives living moved back settled based relocated home",
    WORK: "work works working job started joined employed hired back",
    OWN: "now changed new moved put",
    DOING: "now any more anymore longer switched changed instead",
}


class Holding:
    """A backbone whose hits show what holds now; `own` is the backbone that finds them, a plug-in's own one too."""

    def __init__(self, own: Backbone, store: SupportsRanking, *, moves: bool = True) -> None:
        """Take a backbone and its store; without `moves` hits are marked and keep their order."""
        self._finder = own
        self.own: Backbone = getattr(own, "own", own)
        self._store = store
        self._moves = moves

    def update(self, turns: Sequence[Turn]) -> None:
        """Store the turns; raises StoreError if the store cannot be written."""
        self._finder.update(turns)

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return at most k hits, best first; what was said later stands before what it replaces, which is marked.

        Raises:
            StoreError: the store cannot be read.
        """
        asked = asked_for(query)
        if asked is None:
            return self._finder.retrieve(query, k)
        with self._store.reading() as reader:  # opened once, for the finder too
            if not (hits := self._finder.retrieve(query, k)):
                return hits
            told = _told(reader, hits, query, asked)
            by = replaced_by(told, asked)
            hits = _marked(hits, {each.unit.id: each.state for each in told}, by, asked)
            hits = _moved(hits, by, reader)[:k] if self._moves else hits
            if asked.type != "time":
                return hits
            noted = _moved_days(told, by, [hit.unit for hit in hits], asked)
            return [
                replace(hit, unit=replace(hit.unit, attributes=noted[hit.unit.id])) if hit.unit.id in noted else hit
                for hit in hits
            ]


def found_by(backbone: Backbone) -> Backbone:
    """Return the backbone that finds the hits, without the wrapping."""
    return backbone.own if isinstance(backbone, Holding) else backbone


def asked_for(query: Query) -> Asked | None:
    """Return what the query asks for, if it and the question behind it are about the present; else None."""
    if query.question and query.question != query.text and asked_in(query.question) is None:
        return None
    return asked_in(query.text)


def _told(reader: OpenMemory, hits: Sequence[Hit], query: Query, asked: Asked) -> list[Telling]:
    """Return what the hits tell, and what is found in the scope: looked for again after the last, if there is more."""
    known: set[str] = set()
    told: list[Telling] = []
    found = hits_within(hits, query)
    for _ in range(_ROUNDS):
        more = _searched(reader, hits, query, asked)
        said = [(hit.unit, "") for hit in (*found, *more)]
        if asked.kind == OWN:
            said = [pair for hit in (*found, *more) for pair in _with_reply(hit, asked, query)]
        for unit, before in {unit.id: (unit, before) for unit, before in said if unit.id not in known}.values():
            known.add(unit.id)
            told += [Telling(unit, state) for state in _told_by(unit, before, asked, query.until or query.asked)]
        last = {
            each.unit.conversation: each.unit.said for each in sorted(told, key=lambda each: clock_of(each.unit.said))
        }
        since = min(last.values(), key=clock_of, default=None)
        if len(more) < _DEPTH or since is None or since == query.since:
            break
        query, found = replace(query, since=since), []
    return told


def _with_reply(hit: Hit, asked: Asked, query: Query) -> Iterator[tuple[Unit, str]]:
    """Yield the hit's unit, and the reply to it if it asks for the thing; each with the question that it replies to."""
    yield hit.unit, replied_to(hit.unit.author, hit.before)
    if not may_state(hit.unit.text, asked) or not names_thing(hit.unit.text, asked) or not hit.later:
        return
    if query.speakers is None or hit.later[0].speaker in query.speakers:
        yield hit.later[0], replied_to(hit.later[0].author, [(hit.unit.author, hit.unit.text)])


def _told_by(unit: Unit, before: str, asked: Asked, at: datetime | None) -> list[State]:
    """Return what a unit states of what is asked for, at that time."""
    if not may_state(f"{before} {unit.text}", asked) or not is_told(unit):
        return []
    states = states_in(unit.text, asked, before)
    named = (replace(each, value=_stems(unit.author)) if each.value and each.value <= ME else each for each in states)
    return [state for state in named if _is_asked(state, unit, asked) and state.has_begun(unit.said, at)]


def _searched(reader: OpenMemory, hits: Sequence[Hit], query: Query, asked: Asked) -> list[Hit]:
    text = " ".join((*sorted(asked.about), asked.verb, _CUES[asked.kind], asked.kin, *sorted(asked.names)))
    speakers = tuple(sorted({hit.unit.speaker for hit in hits if asked.names & _stems(hit.unit.speaker)}))
    where = tuple(dict.fromkeys(hit.unit.conversation for hit in hits))
    looked = replace(query, text=text, conversations=query.conversations or where)
    if speakers and query.speakers is None:
        looked = replace(looked, speakers=speakers)
    found = [each.unit for each in reader.rank(looked, [Ranking.BM25], _DEPTH)[Ranking.BM25]]
    if asked.kind == OWN:
        return list(hits_within(reader.hits(found).values(), query))
    return list(hits_within((Hit(unit, 0.0) for unit in reader.units(found).values()), query))


def _is_asked(state: State, unit: Unit, asked: Asked) -> bool:
    """Say whether the statement is about the one who is asked about."""
    author = _stems(unit.author)
    if asked.kin:
        return state.holder == asked.kin and (not asked.names or bool(asked.names & author))
    if state.holder:
        return state.holder in asked.names and not asked.names & author
    return not asked.names or bool(asked.names & author)


def _stems(name: str) -> frozenset[str]:
    return frozenset(map(stem, words(name)))


def _is_from(unit: Unit, state: State, asked: Asked) -> bool:
    """Say whether a unit says what was stated: of a single turn it does, of several its own words must."""
    return len(unit.turns) == 1 or any(each.says_the_same(state) for each in states_in(unit.text, asked))


def _marked(hits: Sequence[Hit], stated: Mapping[str, State], by: Mapping[str, Unit | None], asked: Asked) -> list[Hit]:
    """Return the hits with marks; what was derived is replaced where the turn is that it has the value of."""
    marked = []
    for hit in hits:
        turns = [turn for turn in (hit.unit.id, *hit.unit.turns) if by.get(turn) is not None]
        later = [by[turn] for turn in turns if _is_from(hit.unit, stated[turn], asked)]
        moved_on = later[-1] if later else hit.moved_on
        holds = hit.holds or (len(by) > 1 and by.get(hit.unit.id, hit.unit) is None)
        is_same = (moved_on, holds) == (hit.moved_on, hit.holds)
        marked.append(hit if is_same else replace(hit, moved_on=moved_on, holds=holds))
    return marked


def _has_day(unit: Unit, asked: Asked) -> bool:
    """Say whether a clause of the unit's text names the thing and a noted time."""
    clauses = [clause for clause in re.split("[,;.!?]", unit.text) if names_thing(clause, asked)]
    return any(each.text in clause for each in annotations_of(unit.attributes) for clause in clauses)


def _moved_days(
    told: Sequence[Telling], by: Mapping[str, Unit | None], found: Sequence[Unit], asked: Asked
) -> dict[str, Mapping[str, object]]:
    """Return the attributes of units with a day such as "now on the 19th": in the month of the day that it replaces.

    What it replaces is known from what was stated; else, if it tells of a change, it is the last turn before it of
    those `found`. In either, the clause that names the thing has to have the day.
    """
    noted: dict[str, Mapping[str, object]] = {}
    for each in sorted(told, key=lambda each: clock_of(each.unit.said)):
        unit, days = each.unit, _days(each.state)
        if len(days) != 1 or unit.said is None or any(part.startswith("month ") for part in each.state.value):
            continue
        replaced = [old.unit for old in told if (new := by.get(old.unit.id)) and new.id == unit.id]
        if not replaced and each.state.is_only:
            replaced = [old for old in found if old.said is not None and clock_of(old.said) < clock_of(unit.said)]
        replaced = [old for old in replaced if _has_day(old, asked)]
        if replaced:
            was = max(replaced, key=lambda old: clock_of(old.said))
            noted[unit.id] = with_moved_day(
                unit.attributes, unit.text, days[0], unit.said, noted.get(was.id, was.attributes)
            )
    return noted


def _days(state: State) -> list[int]:
    """Return the days of a month that the state names."""
    return [int(part.removeprefix("date ")) for part in state.value if part.startswith("date ")]


def _moved(hits: list[Hit], by: Mapping[str, Unit | None], reader: OpenMemory) -> list[Hit]:
    """Return the hits with the best that holds before the first that is replaced."""
    first, replaced = next(((at, hit.moved_on) for at, hit in enumerate(hits) if hit.moved_on is not None), (0, None))
    if replaced is None or any(hit.holds for hit in hits[:first]):
        return hits
    for _ in by:  # what replaces it may have been replaced again
        replaced = by.get(replaced.id) or replaced
    there = next((hit for hit in hits[first:] if hit.holds), None) or reader.hits([replaced.id]).get(replaced.id)
    if there is None:
        return hits
    now = replace(there, holds=True, score=hits[first].score)
    others = [hit for hit in hits if hit.unit.id != now.unit.id]
    return [*others[:first], now, *others[first:]]

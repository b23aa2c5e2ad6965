"""Show what holds now: where a question asks for a thing that has one value at a time, the later statement comes first.

`Holding` wraps a backbone, so that every search, every reasoner and every benchmark gets the same order and the same
marks. It asks no model. Of questions about the past, and of things that may have several values, it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from goalmem_cli.backbones.later import is_told
from goalmem_cli.backbones.now.asked import DOING, HOME, OWN, WORK, Asked, asked_in
from goalmem_cli.backbones.now.state import State
from goalmem_cli.backbones.now.states import states_in
from goalmem_cli.backbones.scope import hits_within
from goalmem_cli.logic.moments import Moment
from goalmem_cli.logic.normal import stem, words
from goalmem_cli.logic.roles import USER, role_of
from goalmem_cli.memory_ports import OpenMemory, SupportsRanking
from goalmem_cli.memory_records import Ranking
from goalmem_cli.ports import Backbone
from goalmem_cli.records import Hit, Query, Turn, Unit

_DEPTH = 200
"""How many turns are looked through: they have the words below, and are of one speaker where the question names one."""
_CUES: Mapping[str, str] = {
    HOME: "live lives living moved back settled based relocated home",
    WORK: "work works working job started joined employed hired back",
    OWN: "now changed new",
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
        """Store the turns.

        Raises:
            StoreError: the store cannot be written.
        """
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
            told = _tellings(reader, hits, query, asked)
            marked, there = _marked(hits, told, asked, reader)
            return _moved(marked, told, there)[:k] if self._moves else marked


def found_by(backbone: Backbone) -> Backbone:
    """Return the backbone that finds the hits, without the wrapping."""
    return backbone.own if isinstance(backbone, Holding) else backbone


def asked_for(query: Query) -> Asked | None:
    """Return what the query asks for, if it and the question behind it are about the present; else None."""
    if query.question and query.question != query.text and asked_in(query.question) is None:
        return None
    return asked_in(query.text)


@dataclass(frozen=True, slots=True)
class Telling:
    """A turn that states what is asked for."""

    unit: Unit
    state: State


@dataclass(frozen=True, slots=True)
class _Told:
    """What the turns state, by id; those that hold; and for each that does not the turn that replaces it."""

    stated: Mapping[str, State]
    holding: frozenset[str]
    replaced: Mapping[str, str]

    def now(self, unit: str) -> str:
        """Return the turn that holds in place of a unit, which may itself have been replaced again."""
        while unit in self.replaced:
            unit = self.replaced[unit]
        return unit


def replaced_by(told: Sequence[Telling], asked: Asked) -> dict[str, Telling | None]:
    """Return unit id -> the statement that replaces it, or None if it holds. `told` are one holder's, in order of time.

    What holds is decided from the last back: a value that is said again is not replaced by what was said between.
    """
    found: dict[str, Telling | None] = {}
    for place, one in enumerate(told):
        found[one.unit.id] = None
        rest = told[place + 1 :]
        end = next((at for at in reversed(range(len(rest))) if _replaces(rest[at].state, one.state, asked)), None)
        if end is not None and not _is_back(one.state, rest[end + 1 :]):
            said_first = (each for each in rest[:end] if rest[end].state.says_the_same(each.state))
            found[one.unit.id] = next(
                (each for each in said_first if _replaces(each.state, one.state, asked)), rest[end]
            )
    return found


def _replaces(later: State, earlier: State, asked: Asked) -> bool:
    if not later.replaces:
        return False
    is_same = later.says_the_same(earlier)
    if later.is_end:
        return not earlier.is_end and (is_same or not later.value)
    if earlier.is_end:
        return is_same or asked.has_one_value or later.is_only
    return not is_same and (asked.has_one_value or later.is_only)


def _is_back(state: State, rest: Iterable[Telling]) -> bool:
    """Say whether a value was told again after the last statement that replaced it."""
    return not state.is_end and any(
        each.state.says_the_same(state) and not each.state.is_end and each.state.replaces for each in rest
    )


def _tellings(reader: OpenMemory, hits: Sequence[Hit], query: Query, asked: Asked) -> _Told:
    """Look through the scope for statements of what is asked for, and decide which of them hold."""
    units = {hit.unit.id: hit.unit for hit in hits}
    units.update({unit.id: unit for unit in _searched(reader, hits, query, asked)})
    holders: dict[tuple[str, ...], list[Telling]] = {}
    for unit in units.values():
        for state in states_in(unit.text, asked) if is_told(unit) else ():
            if _is_asked(state, unit, asked):
                is_one = role_of(unit.author) == USER and unit.said is not None
                talk = "" if is_one else unit.conversation
                holders.setdefault((talk, unit.author, state.holder), []).append(Telling(unit, state))
    stated, holding, replaced = dict[str, State](), set[str](), dict[str, str]()
    for told in holders.values():
        stated.update({each.unit.id: each.state for each in told})
        for unit_id, by in replaced_by(_in_time(told), asked).items():
            if by is None or by.unit.id == unit_id:
                holding.add(unit_id)
            else:
                replaced[unit_id] = by.unit.id
    return _Told(stated, frozenset(holding), {one: by for one, by in replaced.items() if one not in holding})


def _in_time(told: Iterable[Telling]) -> list[Telling]:
    """Return what one person told in order: by place in a conversation, by time over several."""
    by_place = sorted(told, key=lambda each: each.unit.place)
    if len({each.unit.conversation for each in by_place}) == 1:
        return by_place
    return sorted(by_place, key=_clock)


def _clock(telling: Telling) -> int:
    said = telling.unit.said
    return 0 if said is None else Moment.from_datetime(said).clock


def _searched(reader: OpenMemory, hits: Sequence[Hit], query: Query, asked: Asked) -> list[Unit]:
    text = " ".join((*sorted(asked.about), asked.verb, _CUES[asked.kind], asked.kin, *sorted(asked.names)))
    speakers = tuple(sorted({hit.unit.speaker for hit in hits if asked.names & _stems(hit.unit.speaker)}))
    where = tuple(dict.fromkeys(hit.unit.conversation for hit in hits))
    looked = replace(query, text=text, conversations=query.conversations or where)
    if speakers and query.speakers is None:
        looked = replace(looked, speakers=speakers)
    found = reader.rank(looked, [Ranking.BM25], _DEPTH)[Ranking.BM25]
    return [hit.unit for hit in hits_within(reader.hits([each.unit for each in found]).values(), query)]


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


def _marked(hits: Sequence[Hit], told: _Told, asked: Asked, reader: OpenMemory) -> tuple[list[Hit], Mapping[str, Hit]]:
    """Return the hits with marks, and the hits of the turns that replace them, by id.

    What was derived from turns is replaced where the turn is that it states the value of.
    """
    by: dict[str, str] = {}
    for hit in hits:
        for turn in (hit.unit.id, *hit.unit.turns):
            if turn in told.replaced and _is_from(hit.unit, told.stated[turn], asked):
                by[hit.unit.id] = told.replaced[turn]
    wanted = [turn for each in by.values() for turn in (each, told.now(each))]
    later = reader.hits(list(dict.fromkeys(wanted))) if by else {}
    marked = []
    for hit in hits:
        moved_on = later.get(by.get(hit.unit.id, ""))
        holds = hit.unit.id in told.holding and len(told.stated) > 1
        if moved_on is not None:
            hit = replace(hit, moved_on=moved_on.unit)
        marked.append(replace(hit, holds=True) if holds else hit)
    return marked, later


def _moved(hits: list[Hit], told: _Told, later: Mapping[str, Hit]) -> list[Hit]:
    """Return the hits with the best that holds before the first that is replaced."""
    first = next((place for place, hit in enumerate(hits) if hit.moved_on is not None), None)
    if first is None or any(hit.holds for hit in hits[:first]):
        return hits
    replaced = hits[first]
    by = None if replaced.moved_on is None else later.get(told.now(replaced.moved_on.id))
    now = next((hit for hit in hits[first:] if hit.holds), None if by is None else replace(by, holds=True))
    if now is None:
        return hits
    others = [hit for hit in hits if hit.unit.id != now.unit.id]
    return [*others[:first], replace(now, score=replaced.score), *others[first:]]

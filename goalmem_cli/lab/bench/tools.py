"""How long the tools of the backbone `remem` take over graphs of several sizes, and how long these take to link."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import cycle, islice

from goalmem_cli.backbones.remem import NAME
from goalmem_cli.backbones.remem.backbone import Remem
from goalmem_cli.backbones.remem.episodic_memory import EpisodicMemory
from goalmem_cli.backbones.remem.event_times import Event, Judged
from goalmem_cli.backbones.remem.graph import Gist, Statement, fact_unit, gist_unit
from goalmem_cli.backbones.remem.tools import Aggregation, Call, Tool
from goalmem_cli.backbones.structured.indexing import sessions_of
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.errors import ModelError
from goalmem_cli.lab.bench.talk import made_up_conversations
from goalmem_cli.lab.bench.timing import Progress, median_ms, timed, unwatched
from goalmem_cli.logic.days import Period
from goalmem_cli.memory_records import Derivation
from goalmem_cli.records import Part, Query
from goalmem_cli.store.queries.episodes import FACT, GIST, Bound, Operator, Ordering, Times

FACTS_A_TURN = 2

_TURNS_A_GIST = 2
_CHUNK = 12  # turns that a large model is shown at a time
_CONVERSATIONS_A_TIME = 10
_SESSION = 25
_RARE = 5
_FIRST, _DAYS = date(2000, 1, 1), 8000
_DEEDS = ("bought", "sold", "visited", "cooked", "painted", "lost", "found", "borrowed", "fixed", "planned")
_TIMES = Times(
    Bound(Operator.GE, Period(date(2005, 1, 1), date(2005, 12, 31))),
    Bound(Operator.LE, Period(date(2006, 1, 1), date(2006, 12, 31))),
)


@dataclass(frozen=True, slots=True)
class ToolFigures:
    """A graph of so many facts, gists, and edges.

    `linking_seconds` is how long the whole of it took to link, `again_seconds` how long after one more session;
    `tools_ms` has the median of each way to call a tool, opening the store included.
    """

    facts: int
    gists: int
    edges: int
    linking_seconds: float
    again_seconds: float
    tools_ms: Mapping[str, float]


def measure_tools(
    store: EpisodicMemory, sizes: Sequence[int], *, rounds: int = 10, report: Progress = unwatched
) -> Iterator[ToolFigures]:
    """Grow an empty store to each of the sizes, in facts, and yield what was measured there.

    The sizes ascend; `report` hears how many facts are stored. Gists and facts are made up, of sessions' turns.

    Raises:
        StoreError, ModelError: the store or its embedder cannot be used.
    """
    memory = Remem(store, _no_kit)
    stored = 0
    for seed, size in enumerate(sizes):
        for made in _remember(store, (size - stored) // FACTS_A_TURN - _SESSION, 2 * seed):
            stored += made
            report(stored, sizes[-1])
        linking = timed(memory.link)
        stored += sum(_remember(store, _SESSION, 2 * seed + 1))
        again = timed(memory.link)
        tools = {name: _median(memory, calls, rounds) for name, calls in calls_of(store).items()}
        kinds, edges = store.counts_of(NAME)
        yield ToolFigures(kinds[FACT], kinds[GIST], edges, linking, again, tools)


def calls_of(store: EpisodicMemory) -> dict[str, list[Call]]:
    """Return the ways to call the tools, each about several of what the store's first conversation tells."""
    (first, *_) = store.conversations()
    facts, gists = (store.units_of(NAME, [kind], [first.name])[:20] for kind in (FACT, GIST))
    said = [(str(fact.attributes["subject"]), str(fact.attributes["object"])) for fact in facts]
    queries = [f"When did {subject} have anything to do with {thing}?" for subject, thing in said]
    return {
        "semantic_retrieve": [Call(Tool.SEMANTIC_RETRIEVE, query) for query in queries],
        "semantic_retrieve, of a time": [Call(Tool.SEMANTIC_RETRIEVE, query, times=_TIMES) for query in queries],
        "lexical_retrieve": [Call(Tool.LEXICAL_RETRIEVE, query) for query in queries],
        "lexical_retrieve, of a time": [Call(Tool.LEXICAL_RETRIEVE, query, times=_TIMES) for query in queries],
        "find_gist_contexts": [Call(Tool.FIND_GIST_CONTEXTS, gist=gist.id) for gist in gists],
        "find_entity_contexts": [Call(Tool.FIND_ENTITY_CONTEXTS, subject=name, object=thing) for name, thing in said],
        "find_entity_contexts, second and count": [
            Call(Tool.FIND_ENTITY_CONTEXTS, predicate=deed, times=_TIMES, ordering=Ordering.ASC, limit=1, offset=1,
                 aggregation=Aggregation.COUNT)
            for deed in _DEEDS
        ],
    }  # fmt: skip


def _median(memory: Remem, calls: Sequence[Call], rounds: int) -> float:
    following = cycle(calls)
    return median_ms(lambda: memory.explore(Query(""), next(following)), rounds)


def _remember(store: EpisodicMemory, turns: int, seed: int) -> Iterator[int]:
    """Store made-up turns with what is told in them, and yield how many facts each batch of them brought."""
    chance = random.Random(seed)  # noqa: S311 - these are no secrets
    conversations = made_up_conversations(turns, seed)
    while batch := list(islice(conversations, _CONVERSATIONS_A_TIME)):
        store.add_all(batch)
        parts = [part for conversation in batch for part in sessions_of(conversation.turns)]
        store.derive(NAME, [_derivation(part, chance) for part in parts])
        yield FACTS_A_TURN * sum(len(part.turns) for part in parts)


def _derivation(part: Part, chance: random.Random) -> Derivation:
    """Return a part's gists and facts: of every turn who did what on some day, in the turn's own words."""
    units = []
    for place, turn in enumerate(part.turns):
        chunk = part.turns[place // _CHUNK * _CHUNK].ordinal
        words = sorted(set(turn.text.rstrip(".?!").replace(",", "").split()), key=len)[-_RARE:]  # long ones are rare
        for _ in range(FACTS_A_TURN):
            thing = " ".join(chance.sample(words, 2))
            day = _FIRST + timedelta(days=chance.randrange(_DAYS))
            when = Judged(Event(Period(day, day)))
            units.append(fact_unit(Statement(turn.speaker, chance.choice(_DEEDS), thing, (turn,), when), chunk))
        if place % _TURNS_A_GIST == 0:
            units.append(gist_unit(Gist(f"{turn.speaker} spoke of {' '.join(words)}.", (turn,)), chunk))
    return Derivation(part, tuple({unit.id: unit for unit in units}.values()))


def _no_kit() -> Kit:
    raise ModelError("made-up facts are measured without a model", "use goalmem index to measure one")

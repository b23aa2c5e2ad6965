"""The backbone `secom`: cuts sessions into segments of one topic each, and retrieves whole segments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from goalmem_cli.backbones.secom import BELONGS, KEY, NAME, SEGMENT, SEGMENTS
from goalmem_cli.backbones.secom.keys import OF, key_units
from goalmem_cli.backbones.secom.segmenting import (
    Cuts,
    Exchange,
    cut,
    cut_online,
    cut_whole,
    exchanges_of,
    segment_unit,
    starts_of,
    stretches,
    tiled_starts,
)
from goalmem_cli.backbones.secom.settings import Retriever, SeComSettings, Starts, Way
from goalmem_cli.backbones.structured.beside import own_hits
from goalmem_cli.backbones.structured.indexing import (
    Plan,
    about_tokens,
    batches,
    derive_all,
    plan,
    sessions_of,
    summary,
)
from goalmem_cli.backbones.structured.kit import LoadKit, StructuredBackbone
from goalmem_cli.memory_ports import StructuredMemory
from goalmem_cli.memory_records import Derivation, Ranking
from goalmem_cli.ports import Indexed, Outlook, PartDone
from goalmem_cli.records import Hit, Part, Query, Unit

_RANKINGS = {
    Retriever.BM25: (Ranking.BM25,),
    Retriever.DENSE: (Ranking.DENSE,),
    Retriever.BOTH: (Ranking.BM25, Ranking.DENSE),
}


class SeCom(StructuredBackbone[StructuredMemory]):
    """Retrieves segments with the full text of their turns; the search compares the segments' keys."""

    def __init__(self, store: StructuredMemory, kit: LoadKit, settings: SeComSettings | None = None) -> None:
        """Take the store, and the function that loads the model and prompts, which only indexing needs."""
        super().__init__(store, kit)
        self._settings = settings or SeComSettings()

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return at most k segments, best first, with each ranking's rank."""
        kind = KEY if self._settings.rate < 1 else SEGMENT
        of = {key.id: str(key.attributes[OF]) for key in self._store.units_of(NAME, [KEY])} if kind == KEY else {}
        with self._store.reading() as reader:
            found = reader.rank(query, _RANKINGS[self._settings.retriever], max(k, 1), backbone=NAME, kinds=(kind,))
            lists = {
                ranking.value: [of.get(each.unit, each.unit) for each in ranked] for ranking, ranked in found.items()
            }
            return own_hits(reader, query, k, lists, is_beside=self._settings.beside)

    def outlook(self) -> Outlook:
        """Return what `index` would do now, without asking the model."""
        work = self._plan()
        if not work.pending or self._settings.starts is Starts.TEXTTILING:
            return work.outlook(0, 0)
        kit = self._kit()
        sessions = [self._exchanges(part) for part in work.pending]
        lines = about_tokens(exchange.line for exchanges in sessions for exchange in exchanges)
        if self._settings.way is Way.ONLINE:
            asked = [max(0, len(exchanges) - 1) for exchanges in sessions]
            # each exchange is read once as the new one, and about three times as part of the segment before
            return work.outlook(
                sum(max(group) for group in _grouped(asked, kit.at_once)),
                kit.fixed_tokens(BELONGS) * sum(asked) + 4 * lines,
            )
        requests = sum(len(stretches(exchanges, kit.prompts.profile)) for exchanges in sessions)
        groups = len(list(self._groups(work)))
        return work.outlook(groups, kit.fixed_tokens(SEGMENTS) * requests + lines)

    def index(self, report: Callable[[PartDone], None]) -> Indexed:
        """Cut the sessions that are new, changed or failed before into segments."""
        work = self._plan()
        done = derive_all(self._store, NAME, work, self._groups(work), self._derive, report)
        self.link()
        return summary(self._store, NAME, done)

    def link(self) -> None:
        """Update the keys from the stored segments; no language model is used."""
        of: dict[str, list[Unit]] = {}
        for segment in self._store.units_of(NAME, [SEGMENT]):
            of.setdefault(segment.conversation, []).append(segment)
        rate = self._settings.rate
        keys = [key for segments in of.values() for key in key_units(segments, rate)] if rate < 1 else []
        self._store.shared(NAME, KEY, keys, [], links=())

    def _plan(self) -> Plan:
        return plan(sessions_of(self._store.turns()), self._store.derived(NAME))

    def _exchanges(self, part: Part) -> list[Exchange]:
        return exchanges_of(part.turns, self._settings.exchange)

    def _groups(self, work: Plan) -> Iterator[list[Part]]:
        """Yield the pending parts in batches for one model call each."""
        if not work.pending:
            return
        if self._settings.starts is Starts.TEXTTILING:
            yield from ([part] for part in work.pending)
        elif self._settings.way is Way.ONLINE:
            yield from batches(work.pending, self._kit().at_once, lambda _: 1)
        else:
            kit = self._kit()
            yield from batches(
                work.pending, kit.at_once, lambda part: len(stretches(self._exchanges(part), kit.prompts.profile))
            )

    def _derive(self, parts: Sequence[Part]) -> list[Derivation]:
        """Return the segments of each session, cut by TextTiling, online, or as a whole."""
        sessions = [self._exchanges(part) for part in parts]
        if self._settings.starts is Starts.TEXTTILING:
            found = [Cuts(tiled_starts(exchanges)) for exchanges in sessions]
        elif self._settings.way is Way.ONLINE:
            decided = [self._decided(part, exchanges) for part, exchanges in zip(parts, sessions, strict=True)]
            found = cut_online(self._kit(), [(of, *known) for of, known in zip(sessions, decided, strict=True)])
        else:
            found = cut_whole(self._kit(), sessions)
        return [
            Derivation(
                part,
                tuple(segment_unit(segment) for segment in cut(exchanges, cuts.starts)),
                problem="; ".join(cuts.problems) or None,
                usage=cuts.usage,
            )
            for part, exchanges, cuts in zip(parts, sessions, found, strict=True)
        ]

    def _decided(self, part: Part, exchanges: Sequence[Exchange]) -> tuple[int, set[int]]:
        """Return how many of a session's exchanges were decided before it grew, and the segment starts among them.

        A session with an unusable reply counts as undecided, and so does an exchange that has grown.
        """
        place = (part.conversation, part.name)
        line = next((line for line in self._store.derived(NAME) if (line.conversation, line.name) == place), None)
        known = line.turns if line is not None and line.problem is None else ()
        if known != tuple(turn.id for turn in part.turns[: len(known)]):
            return 0, set()
        decided = len(known) // self._settings.exchange
        stored = [unit for unit in self._store.units_of(NAME, [SEGMENT], [part.conversation]) if unit.turns[0] in known]
        return decided, {start for start in starts_of(stored, exchanges) if start < decided}


def _grouped(sizes: Sequence[int], at_once: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(sizes), at_once):
        yield sizes[start : start + at_once]

"""Measure what backbones know about the present and past states of facts, and their cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from goalmem_cli.backbones.flat import FlatBackbone
from goalmem_cli.backbones.later import marked
from goalmem_cli.backbones.now.holding import Holding
from goalmem_cli.lab.bench.changes.replies import DecidingModel, stated_in
from goalmem_cli.lab.bench.changes.story import Asked, History, Telling, questions_of
from goalmem_cli.lab.bench.gathering import index_by
from goalmem_cli.lab.bench.timing import Progress, unwatched
from goalmem_cli.ports import Backbone
from goalmem_cli.records import Hit, Query
from goalmem_cli.store import Store

DEPTH = 10
AT_ONCE = 64
"""How many things the model is asked at once, so that all conversations progress side by side."""
FLAT = "reranked"
OF_ONE_TURN = ("turn", "note", "event")
"""The kinds of units that say the same as their first turn."""
DECIDING = ("mem0", "mem0-graph", "a-mem", "magma", "graphiti")
"""Backbones in which a model decides how turns change the memory; in `magma`, only what is related."""


@dataclass(frozen=True, slots=True)
class ChangeFigures:
    """The results of one backbone when the share `wrong` of the model's decisions is wrong.

    - `questions`: the number of questions of each kind.
    - `now`, `as_of`: the shares for which the first of ten hits about the question has the answer, of those that are
      not marked as replaced.
    - `own_now`, `own_as_of`: the same of the backbone's own hits, which no statement of a later time is put before.
    - `of_kind`: for each way in which the present value was told last, the number of questions and the share `now`.
    - `latest_now`, `latest_as_of`: the same for the hit that was said last.
    - `calls`, `tokens`: per indexed turn, with one call per item.
    - `late_calls`, `late_turns`: the calls of indexing again after a session was inserted between two indexed ones, and
      that session's turns.
    """

    backbone: str
    wrong: float
    questions: int
    now: float
    as_of: float
    latest_now: float
    latest_as_of: float
    calls: float = 0.0
    tokens: float = 0.0
    late_calls: int = 0
    late_turns: int = 0
    own_now: float = 0.0
    own_as_of: float = 0.0
    of_kind: Mapping[str, tuple[int, float]] = field(default_factory=dict)


def measure_changes(
    open_store: Callable[[str], Store],
    histories: Sequence[History],
    backbones: Sequence[str],
    wrong: Sequence[float],
    seed: int,
    report: Progress = unwatched,
) -> Iterator[ChangeFigures]:
    """Yield the results of `reranked`, then of each backbone with each share of wrong decisions.

    Raises:
        ModelError: there are no replies for a backbone.
        StoreError: a store cannot be used.
    """
    questions = [pair for history in histories for pair in questions_of(history, seed)]
    of_turns = {told.turn.id: told for history in histories for told in history.tellings}
    asking = _Asking(questions, of_turns)
    store = open_store(FLAT)
    store.add_all([history.conversation for history in histories])
    yield asking.figures(FLAT, 0.0, FlatBackbone(store, FLAT), store)
    runs = [(name, share) for name in backbones for share in wrong]
    for done, (name, share) in enumerate(runs, 1):
        yield _measured(open_store(f"{name}-{share}"), asking, histories, name, DecidingModel(histories, share, seed))
        report(done, len(runs))


def _measured(
    store: Store, asking: _Asking, histories: Sequence[History], name: str, model: DecidingModel
) -> ChangeFigures:
    """Index everything except a session in the middle of the first history, then that session, and ask everything."""
    first, *others = [history.conversation for history in histories]
    middle = first.turns[len(first.turns) // 2].session
    early = tuple(turn for turn in first.turns if turn.session != middle)
    store.add_all([replace(first, turns=early), *others])
    usage = index_by(name, store, model, {}, AT_ONCE).done.usage
    asked, turns = model.asked, len(early) + sum(len(each.turns) for each in others)
    store.add_all([first])
    backbone = index_by(name, store, model, {}, AT_ONCE).backbone
    late = model.asked - asked
    return replace(
        asking.figures(name, model.wrong, backbone, store),
        calls=asked / turns,
        tokens=(usage.prompt_tokens + usage.completion_tokens) / turns,
        late_calls=late,
        late_turns=len(first.turns) - len(early),
    )


@dataclass(frozen=True)
class _Asking:
    """The questions, and what each turn tells, by turn id."""

    questions: Sequence[tuple[Asked, Asked]]
    of_turns: dict[str, Telling]

    def figures(self, name: str, wrong: float, backbone: Backbone, store: Store) -> ChangeFigures:
        """Ask every question and return the results."""
        holding = Holding(backbone, store)
        right = [[0, 0], [0, 0], [0, 0]]
        of_kind: dict[str, list[bool]] = {}
        for pair in self.questions:
            for when, asked in enumerate(pair):
                own = self._found(asked, backbone.retrieve(_query(asked), DEPTH))
                hits = marked(holding.retrieve(_query(asked), DEPTH))
                found, shown = self._found(asked, hits), self._found(asked, [hit for hit in hits if not hit.moved_on])
                latest = max(found, key=lambda each: each[0])[1] if found else None
                is_right = _first(shown) == asked.answer
                right[0][when] += is_right
                right[1][when] += latest == asked.answer
                right[2][when] += _first(own) == asked.answer
                if asked.as_of is None:
                    of_kind.setdefault(asked.told_as, []).append(is_right)
        count = max(1, len(self.questions))
        shares = ([each / count for each in row] for row in right)
        (now, as_of), (latest_now, latest_as_of), (own_now, own_as_of) = shares
        kinds = {kind: (len(found), sum(found) / len(found)) for kind, found in sorted(of_kind.items())}
        figures = ChangeFigures(name, wrong, len(self.questions), now, as_of, latest_now, latest_as_of)
        return replace(figures, own_now=own_now, own_as_of=own_as_of, of_kind=kinds)

    def _found(self, asked: Asked, hits: Sequence[Hit]) -> list[tuple[str, str | None]]:
        """Return the time and the value of each hit about the question, best first.

        Hits that state an end before the asked time are skipped.
        """
        found = []
        for hit in hits:
            if _is_over(hit, asked):
                continue
            said = "" if hit.unit.said is None else hit.unit.said.isoformat()
            told = self.of_turns.get(hit.unit.turns[0]) if hit.unit.kind in OF_ONE_TURN else None
            stated = stated_in(hit.unit.text if told is None else told.statement)
            found += [(said, each.value) for each in stated if (each.person, each.slot) == (asked.person, asked.slot)]
        return found


def _first(found: Sequence[tuple[str, str | None]]) -> str | None:
    return found[0][1] if found else None


def _is_over(hit: Hit, asked: Asked) -> bool:
    ended = hit.unit.event_to
    return ended is not None and (asked.as_of is None or ended <= asked.as_of)


def _query(asked: Asked) -> Query:
    return Query(asked.text, (asked.conversation,), until=asked.as_of)

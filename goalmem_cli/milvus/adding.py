"""Which stored conversation a transcript is, and what it changes there, is worked out as the local store does.

That store's own code does it, in a scratch store that holds what of the memory a batch may belong to; what it then
holds is what Milvus is brought to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from goalmem_cli.memory_records import Added
from goalmem_cli.milvus.changing import Wanted, bring, settle
from goalmem_cli.milvus.kept import Kept
from goalmem_cli.milvus.rows import Talk, number_of, own_key
from goalmem_cli.milvus.schema import TALK, Collection
from goalmem_cli.milvus.scratch import Scratch
from goalmem_cli.records import Conversation
from goalmem_cli.store.changes.adding import Adding, batches
from goalmem_cli.store.changes.answers import BACKBONE as ANSWERS
from goalmem_cli.store.changes.copied import sources_of
from goalmem_cli.store.changes.overlapping import alias_of
from goalmem_cli.store.changes.storable import storable
from goalmem_cli.store.database.columns import moment_columns
from goalmem_cli.store.queries.reader import check_embedder

_NAMES_TRIED = 4

Report = Callable[[Added], None]


def add(kept: Kept, conversations: Iterable[Conversation], report: Report, *, by_name: bool) -> None:
    """Store what is new, a batch at a time, and report each conversation of it when it is safe.

    Raises:
        InputError, EmbedderMismatch, ModelError, StoreError: as `SupportsAdding.add_all`.
    """
    with TemporaryDirectory(prefix="goalmem-") as folder:
        planning = _Planning(kept, Path(folder), by_name=by_name)
        for batch in _batches(kept, conversations, by_name=by_name):
            with kept.writing():
                kept.begin()
                settle(kept)
                planning.forget_all()
                reports = planning.plan(batch)
                wanted, emptied = planning.wanted(reports)
                if any(each.becomes is not None and each.becomes.joined for each in wanted):
                    kept.expect_joined()
                bring(kept, wanted, emptied)
            for added in reports:
                report(added)


def preview(kept: Kept, conversations: Iterable[Conversation], report: Report) -> None:
    """Report what `add` would do, and change nothing; raises as it does."""
    with TemporaryDirectory(prefix="goalmem-") as folder:
        planning = _Planning(kept, Path(folder), by_name=False)
        for batch in _batches(kept, conversations, by_name=False):
            if kept.engine.exists:
                check_embedder(kept.meta(), kept.embedder)
            for added in planning.plan(batch):
                report(added)


def _batches(kept: Kept, conversations: Iterable[Conversation], *, by_name: bool) -> Iterable[list[Conversation]]:
    """Yield batches of what can be kept here, and say what of an exported store cannot."""
    has_said = False

    def bare(conversation: Conversation) -> Conversation:
        nonlocal has_said
        answers = tuple(unit for unit in conversation.derived if unit.backbone == ANSWERS)
        is_less = len(answers) < len(conversation.derived) or conversation.edges or conversation.ledger
        if is_less and not has_said:
            kept.announce("left out: what structured backbones derived, which a memory in Milvus does not keep")
            has_said = True
        return replace(conversation, derived=answers, edges=(), ledger=())

    return batches((storable(bare(conversation)) for conversation in conversations), by_name=by_name)


class _Planning:
    """A scratch store that is told what a batch may belong to, and then given the batch."""

    def __init__(self, kept: Kept, folder: Path, *, by_name: bool) -> None:
        self._kept = kept
        self._scratch = Scratch(kept, folder)
        self._reserved: set[str] = set()
        self._adding = Adding(self._scratch.parts, by_name=by_name, is_dry=True, reserved=self._reserved)

    def forget_all(self) -> None:
        """Empty the scratch store: others may have changed the memory since it was filled."""
        self._scratch.clear()
        self._reserved.clear()

    def plan(self, batch: Sequence[Conversation]) -> list[Added]:
        """Return what is to be reported of a batch."""
        if self._kept.engine.exists:
            self._bring(batch)
        return self._adding.add_batch(batch)

    def wanted(self, reports: Sequence[Added]) -> tuple[list[Wanted], list[Talk]]:
        """Return what changed conversations are to hold, and which conversations leave as a whole.

        Changed are those reported, forks that lose their copies to them, and others that lose an answer with a turn
        behind it. A fork leaves if it only copied.
        """
        forks = {name for added in reports for name in added.copied}
        found, turns = self._scratch.changed({added.conversation for added in reports} | forks)
        emptied = self._scratch.gone(forks)
        names = {each.talk.name for each in found} | {talk.name for talk in emptied}
        lost = self._scratch.turns_of(names) - turns
        return [*found, *without_answers_on(self._kept, lost, names)], emptied

    def _bring(self, batch: Sequence[Conversation]) -> None:
        """Copy the stored conversations that one of the batch may be into the scratch store."""
        kept = self._kept
        named = {said.name for said in batch} | {self._adding.stretched} - {""}
        own = [own_key(said.format, said.own_id) for said in batch if said.own_id is not None]
        own += [own_key(*source) for said in batch for source in sources_of(said)]
        sources = [said for said in batch if said.own_id is not None and not said.shares_ids]
        forks = kept.forks_of({own_key(said.format, said.own_id) for said in sources})
        talks = kept.talks(named | self._like(batch) | forks)
        talks |= {talk.name: talk for talk in map(Talk.from_row, kept.talk_rows("own_key", own))}
        aliases = [alias_of(said.format, said.own_id, said.file, said.name) for said in batch if not said.continues]
        joined = {alias for alias in (*aliases, *(one for said in batch for one in said.joined)) if alias is not None}
        talks |= {talk.name: talk for talk in kept.joined_with(sorted(joined))}
        self._reserved |= self._taken(batch)
        new = [talk for talk in talks.values() if talk.name not in self._scratch.talks and talk.revision]
        if new:
            self._scratch.bring(new)

    def _like(self, batch: Sequence[Conversation]) -> set[str]:
        """Return the names of the conversations that have a turn of the batch, by what it says or when."""
        told = [said for said in batch if said.shares_ids or (said.own_id is None and not said.continues)]
        heard = [turn for said in told for turn in said.turns]
        moments = [  # wherever they stand, and in whichever zone
            moment_columns(turn.said)
            for turn in heard
            if turn.said is not None and (turn.own_id is None or turn.said.utcoffset())
        ]
        looked_for = {
            "content_key": {number_of(turn.content_key) for turn in heard},
            "clock": {clock for clock, instant in moments if clock is not None and instant is None},
            "instant": {instant for _, instant in moments if instant is not None},
        }
        like: set[str] = set()
        for field, values in looked_for.items():
            if not values:
                continue
            rows = self._kept.engine.rows_of(Collection.SAID, field, sorted(values), ["conversation"])
            like |= {row["conversation"] for row in rows}
        return like

    def _taken(self, batch: Sequence[Conversation]) -> set[str]:
        """Return the stored names that are near those which the batch may be given, far enough to find free ones."""
        open_ = Counter(name for said in batch for name in {said.name, said.own_id or said.name})
        taken: set[str] = set()
        start = 1
        while open_:
            step = max(_NAMES_TRIED, 2 * max(open_.values()))
            numbers = range(start, start + step)
            tried = {base: {base if number == 1 else f"{base}-{number}" for number in numbers} for base in open_}
            found = self._kept.talks(set().union(*tried.values())).keys()
            taken |= found
            open_ = Counter({base: open_[base] for base, names in tried.items() if names & found})
            start += step
        return taken


def names_with_answers_on(kept: Kept, turns: Iterable[str]) -> set[str]:
    """Return the names of the conversations with answers that rest on one of these turns."""
    ids = sorted(turns)
    names: set[str] = set()
    for start in range(0, len(ids), 500):
        some = ", ".join(f'"{id_}"' for id_ in ids[start : start + 500])
        condition = f'kind == "answer" and array_contains_any(sources, [{some}])'
        names |= {row["conversation"] for row in kept.engine.rows(Collection.SAID, condition, [TALK, "conversation"])}
    return names


def without_answers_on(kept: Kept, gone: Iterable[str], besides: set[str]) -> list[Wanted]:
    """Return the conversations, but those `besides`, with answers that rest on a turn that is gone, without these."""
    ids = set(gone)
    names = names_with_answers_on(kept, ids)
    talks = kept.shown(names - besides)
    turns, answers = kept.said(talks.values())
    return [
        Wanted(
            talk,
            [turn for turn in turns.values() if turn.conversation == name],
            [unit for unit in answers.values() if unit.conversation == name and set(unit.turns).isdisjoint(ids)],
        )
        for name, talk in talks.items()
    ]

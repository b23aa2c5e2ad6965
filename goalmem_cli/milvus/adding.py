"""Add transcripts to a memory in Milvus, with the local store's rules.

The stored conversations that a batch may belong to are copied into a scratch store. The local store's code adds the
batch there. Then Milvus is changed to hold the result.
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
    """Store new turns batch by batch, and report each conversation once its batch is stored.

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
    """Report what `add` would do, without changing anything; raises as `add`."""
    with TemporaryDirectory(prefix="goalmem-") as folder:
        planning = _Planning(kept, Path(folder), by_name=False)
        for batch in _batches(kept, conversations, by_name=False):
            if kept.engine.exists:
                check_embedder(kept.meta(), kept.embedder)
            for added in planning.plan(batch):
                report(added)


def _batches(kept: Kept, conversations: Iterable[Conversation], *, by_name: bool) -> Iterable[list[Conversation]]:
    """Yield batches without what Milvus does not keep of an exported store, and announce what is left out."""
    has_said = False

    def bare(conversation: Conversation) -> Conversation:
        """Return the conversation without units of structured backbones; announce that once."""
        nonlocal has_said
        answers = tuple(unit for unit in conversation.derived if unit.backbone == ANSWERS)
        is_less = len(answers) < len(conversation.derived) or conversation.edges or conversation.ledger
        if is_less and not has_said:
            kept.announce("left out: what structured backbones derived, which a memory in Milvus does not keep")
            has_said = True
        return replace(conversation, derived=answers, edges=(), ledger=())

    return batches((storable(bare(conversation)) for conversation in conversations), by_name=by_name)


class _Planning:
    """A scratch store that gets the conversations that a batch may belong to, and then the batch."""

    def __init__(self, kept: Kept, folder: Path, *, by_name: bool) -> None:
        self._kept = kept
        self._scratch = Scratch(kept, folder)
        self._reserved: set[str] = set()
        self._adding = Adding(self._scratch.parts, by_name=by_name, is_dry=True, reserved=self._reserved)

    def forget_all(self) -> None:
        """Empty the scratch store, as other processes may have changed the memory since it was filled."""
        self._scratch.clear()
        self._reserved.clear()

    def plan(self, batch: Sequence[Conversation]) -> list[Added]:
        """Add a batch to the scratch store, and return the reports on its conversations."""
        if self._kept.engine.exists:
            self._bring(batch)
        return self._adding.add_batch(batch)

    def wanted(self, reports: Sequence[Added]) -> tuple[list[Wanted], list[Talk]]:
        """Return the new content of the changed conversations, and the conversations to delete.

        Changed are the reported conversations, forks that lose copied turns to them, and conversations that lose an
        answer because a turn behind it is gone. A fork that has only copied turns is deleted.
        """
        forks = {name for added in reports for name in added.copied}
        found, turns = self._scratch.changed({added.conversation for added in reports} | forks)
        emptied = self._scratch.gone(forks)
        names = {each.talk.name for each in found} | {talk.name for talk in emptied}
        lost = self._scratch.turns_of(names) - turns
        return [*found, *without_answers_on(self._kept, lost, names)], emptied

    def _bring(self, batch: Sequence[Conversation]) -> None:
        """Copy the stored conversations that the batch may belong to into the scratch store."""
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
        self._reserved -= self._scratch.talks.keys()  # of these the scratch store knows whether a name is free again

    def _like(self, batch: Sequence[Conversation]) -> set[str]:
        """Return the names of the conversations that share a text or a time with a turn of the batch."""
        told = [said for said in batch if said.shares_ids or (said.own_id is None and not said.continues)]
        heard = [turn for said in told for turn in (*said.turns, *(turn for turn, _ in said.missing))]
        moments = [  # at any place in the conversation, in any zone
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
        """Return the stored names that begin like those of the batch (`chat`, `chat-2`, ...), to find a free number."""
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
    """Return the names of the conversations with answers that cite one of these turns."""
    ids = sorted(turns)
    names: set[str] = set()
    for start in range(0, len(ids), 500):
        some = ", ".join(f'"{id_}"' for id_ in ids[start : start + 500])
        condition = f'kind == "answer" and array_contains_any(sources, [{some}])'
        names |= {row["conversation"] for row in kept.engine.rows(Collection.SAID, condition, [TALK, "conversation"])}
    return names


def without_answers_on(kept: Kept, gone: Iterable[str], besides: set[str]) -> list[Wanted]:
    """Return the conversations that lose answers because turns are gone, with their remaining content.

    Conversations in `besides` are left out.
    """
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

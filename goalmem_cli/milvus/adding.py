"""Which stored conversation a transcript is, and what it changes there, is worked out as the local store does.

That store's own code does it, in a scratch database that holds what of the memory a batch may belong to; what it then
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
from goalmem_cli.records import Conversation, Turn, Unit
from goalmem_cli.store.changes.adding import Adding, batches
from goalmem_cli.store.changes.answers import BACKBONE as ANSWERS
from goalmem_cli.store.changes.copied import sources_of
from goalmem_cli.store.changes.parts import DATABASE, Parts
from goalmem_cli.store.changes.storable import storable
from goalmem_cli.store.changes.writing import write_derived
from goalmem_cli.store.database import tables, unit_rows
from goalmem_cli.store.database.access import Database
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
        planning = _Planning(kept, Path(folder), by_name=by_name, is_dry=False)
        for batch in _batches(kept, conversations, by_name=by_name):
            with kept.writing():
                kept.begin()
                settle(kept)
                planning.forget_all()
                reports = planning.plan(batch)
                bring(kept, *planning.wanted(reports))
            for added in reports:
                report(added)


def preview(kept: Kept, conversations: Iterable[Conversation], report: Report) -> None:
    """Report what `add` would do, and change nothing; raises as it does."""
    with TemporaryDirectory(prefix="goalmem-") as folder:
        planning = _Planning(kept, Path(folder), by_name=False, is_dry=True)
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

    def __init__(self, kept: Kept, folder: Path, *, by_name: bool, is_dry: bool) -> None:
        self._kept = kept
        scratch = Parts.of_folder(folder, kept.embedder, kept.announce, kept.patience, lambda _: None)
        self._scratch = replace(scratch, database=Database(folder / DATABASE, kept.announce, kept.patience))
        self._reserved: set[str] = set()
        self._adding = Adding(self._scratch, by_name=by_name, is_dry=True, reserved=self._reserved)
        self._is_dry = is_dry
        self._talks: dict[str, Talk] = {}
        self._before: dict[str, tuple[dict[str, Turn], dict[str, Unit]]] = {}
        self._formats: dict[str, tuple[str, str | None, str | None]] = {}

    def forget_all(self) -> None:
        """Empty the scratch store: others may have changed the memory since it was filled."""
        database = self._scratch.database.path
        for path in database.parent.glob(f"{database.name}*"):
            path.unlink()
        self._reserved.clear()
        self._talks, self._before = {}, {}

    def plan(self, batch: Sequence[Conversation]) -> list[Added]:
        """Return what is to be reported of a batch."""
        if self._kept.engine.exists:
            self._bring(batch)
        return self._adding.add_batch(batch)

    def wanted(self, reports: Sequence[Added]) -> tuple[list[Wanted], list[Talk]]:
        """Return what the conversations that were reported are to hold, and forks of theirs, of those that change, and
        which leave as a whole, since they only copied.
        """
        forks = {name for added in reports for name in added.copied}
        names = sorted({added.conversation for added in reports} | forks)
        if not self._scratch.database.exists:
            return [], []
        with self._scratch.database.reading() as connection:
            rows = {row[0]: row for row in tables.load_conversation_rows(connection, names)}
            turns = tables.load_turns(connection, list(rows))
            answers = unit_rows.load_units(connection, conversations=list(rows), backbone=ANSWERS)
        found = []
        for name, (_, form, own_id, file) in rows.items():
            own = {id_: turn for id_, turn in turns.items() if turn.conversation == name}
            told = {unit.id: unit for unit in answers if unit.conversation == name}
            talk = self._talks.get(name) or Talk(name, form, own_id)
            if self._before.get(name) != (own, told) or talk.file != file:
                found.append(Wanted(replace(talk, file=file), list(own.values()), list(told.values())))
        emptied = [self._talks[name] for name in sorted(forks - rows.keys())]
        changed = {talk.name for talk in (*(each.talk for each in found), *emptied)}
        return [*found, *self._elsewhere(changed, turns)], emptied

    def _elsewhere(self, names: set[str], turns: dict[str, Turn]) -> list[Wanted]:
        """Return other conversations with answers that rest on a turn which leaves, without those answers."""
        gone = {id_ for name in names & self._before.keys() for id_ in self._before[name][0]} - turns.keys()
        return without_answers_on(self._kept, gone, names)

    def _bring(self, batch: Sequence[Conversation]) -> None:
        """Copy the stored conversations that one of the batch may be into the scratch store."""
        kept = self._kept
        named = {said.name for said in batch} | {self._adding.stretched} - {""}
        own = [own_key(said.format, said.own_id) for said in batch if said.own_id is not None]
        own += [own_key(*source) for said in batch for source in sources_of(said)]
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
            rows = kept.engine.rows_of(Collection.SAID, field, sorted(values), ["conversation"])
            like |= {row["conversation"] for row in rows}
        sources = [said for said in batch if said.own_id is not None and not said.shares_ids]
        like |= kept.forks_of({own_key(said.format, said.own_id) for said in sources})
        talks = kept.talks(named | like)
        talks |= {talk.name: talk for talk in map(Talk.from_row, kept.talk_rows("own_key", own))}
        new = [talk for talk in talks.values() if talk.name not in self._talks and talk.revision]
        self._reserved |= self._taken(batch)
        self._talks |= {talk.name: talk for talk in new}
        if not new:
            return
        turns, answers = kept.said(new)
        for talk in new:
            self._before[talk.name] = (
                {id_: turn for id_, turn in turns.items() if turn.conversation == talk.name},
                {id_: unit for id_, unit in answers.items() if unit.conversation == talk.name},
            )
        with self._scratch.database.writing() as connection, connection.transaction():
            tables.insert_conversations(connection, [(talk.name, talk.format, talk.own_id, talk.file) for talk in new])
            tables.insert_turns(connection, list(turns.values()))
            tables.rewrite_sessions(connection, [talk.name for talk in new])
            write_derived(connection, list(answers.values()))

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


def without_answers_on(kept: Kept, gone: Iterable[str], besides: set[str]) -> list[Wanted]:
    """Return the conversations, but those `besides`, with answers that rest on a turn that is gone, without these."""
    ids = sorted(gone)
    names: set[str] = set()
    for start in range(0, len(ids), 500):
        some = ", ".join(f'"{id_}"' for id_ in ids[start : start + 500])
        condition = f'kind == "answer" and array_contains_any(sources, [{some}])'
        names |= {row["conversation"] for row in kept.engine.rows(Collection.SAID, condition, [TALK, "conversation"])}
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

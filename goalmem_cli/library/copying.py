"""Taking a memory from one place to another, whatever keeps it there and here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from goalmem_cli.errors import StoreError
from goalmem_cli.library.forgetting import EXPORT, Sieve
from goalmem_cli.library.known import KnownMemory
from goalmem_cli.memory_ports import KeptMemory
from goalmem_cli.memory_records import Added
from goalmem_cli.records import Conversation
from goalmem_cli.store.people import People
from goalmem_cli.store.tombstones import Tombstones
from goalmem_cli.transcripts import read_file

SAMPLE = 200
"""So many conversations are compared turn by turn, by the hashes that are the turns' ids."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy did: the conversations and turns of the source, how many turns were new, and how many it compared.

    `forgotten` counts the turns that the target had forgotten: they were left out, or stored again if that was wanted.
    """

    conversations: int
    turns: int
    new_turns: int
    compared: int
    forgotten: int


@dataclass(slots=True)
class _Sifted:
    """Hands conversations on without what the target has forgotten, and keeps the ids of the turns that it left out."""

    sieve: Sieve
    known: int = 0
    left_out: set[str] = field(default_factory=set)
    by_conversation: Counter[str] = field(default_factory=Counter)

    def kept(self, conversations: Iterable[Conversation]) -> Iterator[Conversation]:
        for sifted in self.sieve.sifted(conversations):
            self.known += sifted.known
            self.left_out.update(turn.id for turn in sifted.left_out)
            self.by_conversation.update(turn.conversation for turn in sifted.left_out)
            if sifted.kept is not None:
                yield sifted.kept


def copy(
    source: KeptMemory,
    target: KeptMemory,
    report: Callable[[Added], None],
    seed: int = 0,
    *,
    restores_forgotten: bool = False,
) -> Copied:
    """Bring all of one memory into another, and compare them; what is there already is left as it is.

    What was forgotten there is left out, unless it `restores_forgotten` turns. The source's marks of what was forgotten
    come along, and so does what was said of people of whom nothing is said there.

    It goes through a file, so that neither memory has to fit into this process, and is safe a batch at a time:
    interrupted, the same copy goes on from there.

    Raises:
        StoreError: one of them cannot be used, or the copy is not what it was made of.
    """
    known, sieve = KnownMemory(target, is_dry=False), Sieve(restores=restores_forgotten, takes=False)
    sieve.take(known)
    sifted = _Sifted(sieve)
    with TemporaryDirectory(prefix="goalmem-copy-") as folder:
        file = Path(folder) / "memory.jsonl"
        source.export_file(file)
        added = target.add_all(sifted.kept(read_file(file, EXPORT)), report=report) if source.conversations() else []
    known.carry([Tombstones.of_folder(source.path)])
    sieve.settle()
    told = People.of_folder(target.path).plus(People.of_folder(source.path))
    if told.persons:
        with target.keeping() as written:
            told.keep(target.path, written)
    return _compared(source, target, added, sifted, seed)


def _compared(source: KeptMemory, target: KeptMemory, added: list[Added], sifted: _Sifted, seed: int) -> Copied:
    """Compare counts of all conversations, and the turns of a sample of them, but for what was left out.

    Raises:
        StoreError: they differ.
    """
    theirs = source.conversations()
    ours = {one.name: one for one in target.conversations()} if theirs and target.exists else {}
    copied = [one for one in theirs if not one.turns or one.turns > sifted.by_conversation[one.name]]
    for one in copied:
        here, gone = ours.get(one.name), sifted.by_conversation[one.name]
        if here is None or here.turns != one.turns - gone or not (gone or here.speakers == one.speakers):
            found = "nothing" if here is None else f"{here.turns} turns"
            raise StoreError(
                f"{one.name}: {one.turns - gone} turns there, {found} under that name here",
                "copy into a place of its own, where no other conversation has the name",
            )
    names = [one.name for one in copied]
    Random(seed).shuffle(names)  # noqa: S311 - which are looked at is no secret
    compared = 0
    for name in islice(names, SAMPLE):
        turns = [turn for turn in source.turns([name]) if turn.id not in sifted.left_out]
        if turns != target.turns([name]):
            raise StoreError(f"{name}: its turns are not what they are there", "remove the copy, and copy again")
        compared += len(turns)
    turns_there, new_turns = sum(one.turns for one in theirs), sum(one.new_turns for one in added)
    return Copied(len(theirs), turns_there, new_turns, compared, sifted.known)

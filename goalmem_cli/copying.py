"""Copy a memory from one place to another, between any kinds of storage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from goalmem_cli.errors import StoreError
from goalmem_cli.memory_ports import KeptMemory
from goalmem_cli.memory_records import Added
from goalmem_cli.store.people import People
from goalmem_cli.store.tombstones import Tombstones
from goalmem_cli.transcripts import read_file

SAMPLE = 200
"""The number of conversations that are compared turn by turn, by the turns' ids (hashes)."""


@dataclass(frozen=True, slots=True)
class Copied:
    """The result of a copy: the source's conversations and turns, the new turns, and the turns compared."""

    conversations: int
    turns: int
    new_turns: int
    compared: int


def copy(source: KeptMemory, target: KeptMemory, report: Callable[[Added], None], seed: int = 0) -> Copied:
    """Copy one memory into another and compare them; existing content of the target stays.

    The target also keeps its own marks of forgotten turns, if it has any, else it gets the source's. Information about
    people is added if the target has none about them. The copy goes through a file, so memories need not fit into RAM.
    It is saved in batches: after an interruption, the same copy continues.

    Raises:
        StoreError: one of them cannot be used, or the copy differs from its source.
    """
    with TemporaryDirectory(prefix="goalmem-copy-") as folder:
        file = Path(folder) / "memory.jsonl"
        source.export_file(file)
        added = target.add_all(read_file(file, "goalmem"), report=report) if source.conversations() else []
    marks = Tombstones.of_folder(source.path)
    if not marks.is_empty and Tombstones.of_folder(target.path).is_empty:
        marks.keep(target.path)
    told = People.of_folder(target.path).plus(People.of_folder(source.path))
    if told.persons:
        with target.keeping() as written:
            told.keep(target.path, written)
    return _compared(source, target, added, seed)


def _compared(source: KeptMemory, target: KeptMemory, added: list[Added], seed: int) -> Copied:
    """Compare the counts of all conversations and the turns of a sample.

    Raises:
        StoreError: they differ.
    """
    theirs = source.conversations()
    ours = {one.name: one for one in target.conversations()} if theirs else {}
    for one in theirs:
        here = ours.get(one.name)
        if here is None or (here.turns, here.speakers) != (one.turns, one.speakers):
            found = "nothing" if here is None else f"{here.turns} turns"
            raise StoreError(
                f"{one.name}: {one.turns} turns there, {found} under that name here",
                "copy into a place of its own, where no other conversation has the name",
            )
    names = [one.name for one in theirs]
    Random(seed).shuffle(names)  # noqa: S311 - the choice is not secret
    compared = 0
    for name in islice(names, SAMPLE):
        turns = source.turns([name])
        if turns != target.turns([name]):
            raise StoreError(f"{name}: its turns are not what they are there", "remove the copy, and copy again")
        compared += len(turns)
    return Copied(len(theirs), sum(one.turns for one in theirs), sum(one.new_turns for one in added), compared)

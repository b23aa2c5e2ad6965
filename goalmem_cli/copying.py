"""Taking a memory from one place to another, whatever keeps it there and here."""

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
"""So many conversations are compared turn by turn, by the hashes that are the turns' ids."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy did: the conversations and turns of the source, how many turns were new, and how many it compared."""

    conversations: int
    turns: int
    new_turns: int
    compared: int


def copy(source: KeptMemory, target: KeptMemory, report: Callable[[Added], None], seed: int = 0) -> Copied:
    """Bring all of one memory into another, and compare them; what is there already is left as it is.

    So are its marks of what was forgotten, where it has any, else it gets the source's; and what was said of people
    of whom nothing is said there.

    It goes through a file, so that neither memory has to fit into this process, and is safe a batch at a time:
    interrupted, the same copy goes on from there.

    Raises:
        StoreError: one of them cannot be used, or the copy is not what it was made of.
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
    """Compare counts of all conversations, and the turns of a sample of them.

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
    Random(seed).shuffle(names)  # noqa: S311 - which are looked at is no secret
    compared = 0
    for name in islice(names, SAMPLE):
        turns = source.turns([name])
        if turns != target.turns([name]):
            raise StoreError(f"{name}: its turns are not what they are there", "remove the copy, and copy again")
        compared += len(turns)
    return Copied(len(theirs), sum(one.turns for one in theirs), sum(one.new_turns for one in added), compared)

"""Join two conversations in a scratch store with the local store's code, and write the result to Milvus."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from goalmem_cli.memory_records import Joined
from goalmem_cli.milvus.adding import names_with_answers_on
from goalmem_cli.milvus.changing import bring, settle
from goalmem_cli.milvus.kept import Kept
from goalmem_cli.milvus.scratch import Scratch
from goalmem_cli.store.changes import joining
from goalmem_cli.store.changes.overlapping import alias_of


def joinable(kept: Kept, name: str, other: str) -> Joined:
    """Return what `join` would do; raises as `join`."""
    kept.require()
    with TemporaryDirectory(prefix="goalmem-") as folder:
        return joining.joinable(_filled(kept, Path(folder), name, other).parts, name, other)


def join(kept: Kept, name: str, other: str, shown: Joined) -> None:
    """Move the turns of the other conversation into the named one; see `SupportsJoining`."""
    kept.require()
    with TemporaryDirectory(prefix="goalmem-") as folder, kept.writing():
        kept.begin()
        settle(kept)
        scratch = _filled(kept, Path(folder), name, other)
        joining.join_rows(scratch.parts, name, other, shown)
        wanted, _ = scratch.changed(scratch.talks)
        wanted.sort(key=lambda each: each.talk.name == name)  # the last is written with the one that leaves
        kept.expect_joined()
        bring(kept, wanted, [scratch.talks[other]])


def _filled(kept: Kept, folder: Path, name: str, other: str) -> Scratch:
    """Return a scratch store with both conversations and those that the join may change too.

    These have answers that cite turns of the two, or were joined with one of the two transcripts before.
    """
    scratch = Scratch(kept, folder)
    both = kept.shown([name, other])
    scratch.bring(both.values())
    scratch.bring(kept.shown(names_with_answers_on(kept, scratch.turns_of(both))).values())
    aliases = [alias_of(talk.format, talk.own_id, talk.file, talk.name) for talk in both.values()]
    scratch.bring(kept.joined_with([alias for alias in aliases if alias is not None]))
    return scratch

"""Copy a memory into another, in a folder or in Milvus."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryFile, gettempdir
from typing import BinaryIO

from goalmem_cli.errors import StoreError
from goalmem_cli.library.forgetting import EXPORT, Sieve
from goalmem_cli.library.goals.adopting import adopt
from goalmem_cli.library.known import KnownMemory
from goalmem_cli.library.redacting import Redactor
from goalmem_cli.memory_ports import KeptMemory
from goalmem_cli.memory_records import Added
from goalmem_cli.records import Conversation, Turn
from goalmem_cli.store.files import reporting
from goalmem_cli.store.goals import GoalFolder
from goalmem_cli.store.people import People
from goalmem_cli.store.privacy import GOALS
from goalmem_cli.store.recognising import unquoted
from goalmem_cli.store.rules import RuleFile
from goalmem_cli.store.tombstones import Tombstones
from goalmem_cli.transcripts import Source, conversations_in

SAMPLE = 200
"""How many copied conversations are compared with the source turn by turn, by the turns' hashes."""


@dataclass(frozen=True, slots=True)
class Copied:
    """Counts of a copy: the source's conversations and turns, new turns in the target, and compared turns.

    `forgotten` counts the turns that the target had forgotten. They were left out, or stored again on request.
    `redacted` counts the turns whose secrets were blacked out, as they are in the target.
    `rules_fault` says why the rules for forms of questions were not copied; "" if they were.
    """

    conversations: int
    turns: int
    new_turns: int
    compared: int
    forgotten: int
    redacted: int = 0
    rules_fault: str = ""


@dataclass(slots=True)
class _Sifted:
    """Yields conversations without what the target has forgotten or redacted, and keeps the ids of these turns.

    `redacted` are the ids that turns have in the source -> the turns without secrets. `unquoted` are the ids, in the
    target, of replies without their quote of a forgotten turn.
    """

    sieve: Sieve
    redactor: Redactor
    known: int = 0
    redacted: dict[str, Turn] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)
    unquoted: set[str] = field(default_factory=set)
    by_conversation: Counter[str] = field(default_factory=Counter)

    def kept(self, conversations: Iterable[Conversation]) -> Iterator[Conversation]:
        """Yield the conversations without forgotten turns, and count these; the redactor deletes plain turns first."""
        return self.redactor.settled(self._sifted(map(self._without_secrets, conversations)))

    def _without_secrets(self, conversation: Conversation) -> Conversation:
        """Return the conversation without the secrets that were blacked out in the target."""
        told, *_ = self.redactor.redacted(conversation)
        pairs = zip(conversation.turns, told.turns, strict=True)
        self.redacted.update((there.id, here) for there, here in pairs if there != here)
        return told

    def _sifted(self, conversations: Iterable[Conversation]) -> Iterator[Conversation]:
        for sifted in self.sieve.sifted(conversations):
            self.known += sifted.known
            self.left_out.update(turn.id for turn in sifted.left_out)
            self.unquoted |= sifted.unquoted
            self.by_conversation.update(turn.conversation for turn in sifted.left_out)
            if sifted.kept is not None:
                yield sifted.kept


def copy(
    source: KeptMemory,
    target: KeptMemory,
    report: Callable[[Added], None],
    seed: int = 0,
    *,
    note: Callable[[str], None] = lambda _: None,
    restores_forgotten: bool = False,
    redacts_goals: bool = False,
    unread: list[StoreError] | None = None,
) -> Copied:
    """Copy all of the source into the target, and compare the two; turns that the target has stay as they are.

    Turns that the target has forgotten are left out, unless `restores_forgotten` is set. Turns that it has redacted are
    redacted; `note` says what plain turns this deletes there. Besides turns, it copies:

    - the marks of forgotten turns;
    - the user's notes on people, except on people whom the target has notes on;
    - the kept goals, except those whose names the target has; `redacts_goals` and `unread` are as for `adopt` and
      `GoalFolder.all`;
    - the rules for forms of questions that have no rule in the target, if they can be read and written.

    The copy goes through a file, so that neither memory has to fit into this process. It is stored in batches: after an
    interruption the same copy continues.

    Raises:
        StoreError: one of the memories cannot be used, the copy differs from its source, or without `unread` a goal
            cannot be read.
    """
    goals = [goal.document() for goal in GoalFolder(source.path / GOALS).all(unread)]
    known, sieve = KnownMemory(target, is_dry=False), Sieve(restores=restores_forgotten, takes=False)
    redactor = Redactor(redacts=False, note=note)
    sieve.take(known)
    redactor.take(known)
    sifted = _Sifted(sieve, redactor)
    added: list[Added] = []
    if source.conversations():
        with _exported(source) as opened:
            conversations = conversations_in(Source(str(source.path), opened), EXPORT)
            added = target.add_all(sifted.kept(conversations), report=report)
    known.carry([Tombstones.of_folder(source.path)])
    sieve.settle()
    adopt(target, goals, redacts=redacts_goals)
    fault = _take_rules(source, target)
    told = People.of_folder(target.path).plus(People.of_folder(source.path))
    if told.persons:
        with target.keeping() as written:
            told.keep(target.path, written)
    return replace(_compared(source, target, added, sifted, seed), rules_fault=fault)


@contextmanager
def _exported(source: KeptMemory) -> Iterator[Callable[[], BinaryIO]]:
    """Yield a function that opens an export of the memory again; close one reader before the next is opened.

    The file has no name, so that nothing of it stays if this process is killed.

    Raises:
        StoreError: the memory cannot be used, or the file cannot be written.
    """
    with reporting(Path(gettempdir())):
        file = TemporaryFile()  # noqa: SIM115 - closed below
    with file as kept:
        with reporting(Path(gettempdir())):
            for document in source.export(unread=[]):  # the goals come from their files
                kept.write(json.dumps(document, ensure_ascii=False).encode() + b"\n")
            kept.flush()

        def opened() -> BinaryIO:
            again = os.fdopen(os.dup(kept.fileno()), "rb")
            again.seek(0)
            return again

        yield opened


def _take_rules(source: KeptMemory, target: KeptMemory) -> str:
    """Copy the rules; return why that failed, or "". Rules are learned again, so a failure does not stop the copy."""
    try:
        RuleFile(target.path).take(RuleFile(source.path).all())
    except StoreError as error:
        return error.message
    return ""


def _compared(source: KeptMemory, target: KeptMemory, added: list[Added], sifted: _Sifted, seed: int) -> Copied:
    """Compare the counts of all conversations and the turns of a sample, without what was left out.

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
    Random(seed).shuffle(names)  # noqa: S311 - the sample is no secret
    compared = 0
    for name in islice(names, SAMPLE):
        told = (sifted.redacted.get(turn.id, turn) for turn in source.turns([name]))
        turns = [turn for turn in told if turn.id not in sifted.left_out]
        if [unquoted(turn) if turn.id in sifted.unquoted else turn for turn in turns] != target.turns([name]):
            raise StoreError(f"{name}: its turns are not what they are there", "remove the copy, and copy again")
        compared += len(turns)
    turns_there, new_turns = sum(one.turns for one in theirs), sum(one.new_turns for one in added)
    return Copied(len(theirs), turns_there, new_turns, compared, sifted.known, len(sifted.redacted))

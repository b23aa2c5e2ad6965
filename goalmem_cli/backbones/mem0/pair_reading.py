"""Read a conversation pair by pair (Mem0 section 2.1): build the request for each pair, and parse its facts.

A part's name is a hash of everything that the model is shown, and the part has all its turns. So a reading stays valid
until something of this changes, and is dropped if one of the turns is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from goalmem_cli.backbones.mem0 import FACT, FACTS, NAME, SUM_UP, SUMMARY
from goalmem_cli.backbones.mem0.settings import Mem0Settings, Perspectives
from goalmem_cli.backbones.structured.indexing import sessions_of
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.stretches import Stretch, stretches_of
from goalmem_cli.backbones.structured.summaries import named, read_text
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.backbones.structured.walking import Walk
from goalmem_cli.model_replies import in_one_line, read_fields
from goalmem_cli.ports import Request
from goalmem_cli.records import Part, Turn, Unit, content_hash

EVERYBODY = ""
"""The owner of a memory that all speakers share."""
OF = "of"
"""The attribute with the owner of a unit's memory; it is missing if all speakers share it."""
_LETTERS = 4000  # the longest stretch that is read at once; nearly every pair is shorter
_SUMMED_LETTERS = 6000


@dataclass(frozen=True)
class Reading:
    """A pair, or a stretch of a long one, read for the memory of `user`; `summary` covers the sessions before it.

    `known` are the turns of the summary. `first` marks the first of several memories that read the same pair.
    """

    stretch: Stretch
    backbone: str = NAME
    user: str = EVERYBODY
    summary: Unit | None = None
    known: tuple[Turn, ...] = ()
    first: bool = True

    @cached_property
    def part(self) -> Part:
        """The part of its facts."""
        before = [turn.id for turn in self.stretch.before]
        lines = [text for turn, line in self.stretch.lines for text in (turn.id, line)]
        name = content_hash(self.user, self.summary.id if self.summary else None, str(len(before)), *before, *lines)
        return _part(FACTS, name, (*self.known, *self.stretch.before, *self.stretch.sources))

    @property
    def new_turns(self) -> int:
        """The number of turns that it reads first."""
        return len(self.stretch.sources) if self.first else 0

    def request(self, kit: Kit, problem: str) -> Request:
        """Return the request for facts; the model may reply that there are none."""
        told = {"summary": self.summary.text if self.summary else "", "user": in_one_line(self.user)}
        return kit.prompts[FACTS].request({**self.stretch.inputs(problem), **told})

    def read(self, kit: Kit, text: str) -> tuple[Unit, ...]:
        """Return the distinct facts of a reply as units.

        Raises:
            ReplyUnusable: the reply has another form.
        """
        told = read_fields(text, self.request(kit, "")).get("facts", ())
        attributes: Mapping[str, object] = {OF: self.user} if self.user else {}
        return tuple(
            derived_unit(
                self.backbone, FACT, fact, self.stretch.sources, identity=(self.part.name,), attributes=attributes
            )
            for fact in dict.fromkeys(told)
            if fact
        )


@dataclass(frozen=True)
class Summing:
    """A stretch of a session to add to the running summary; `known` are the turns that the summary covers so far."""

    stretch: Stretch
    before: Unit | None
    known: tuple[Turn, ...]
    backbone: str = NAME

    @cached_property
    def part(self) -> Part:
        """The part of the new summary."""
        lines = [text for turn, line in self.stretch.lines for text in (turn.id, line)]
        return _part(SUMMARY, content_hash(self.before.id if self.before else None, *lines), self.turns)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns that the new summary covers."""
        return tuple({turn.id: turn for turn in (*self.known, *self.stretch.sources)}.values())

    def request(self, kit: Kit, problem: str) -> Request:
        """Return the request for the new summary."""
        inputs = {**self.stretch.inputs(problem), "summary": self.before.text if self.before else ""}
        del inputs["before"]
        return kit.prompts[SUM_UP].request(inputs)

    def read(self, kit: Kit, text: str) -> Unit:
        """Return the new summary; raises ReplyUnusable if the reply has another form, or is blank."""
        return self.unit(read_text(partial(self.request, kit), text))

    def unit(self, text: str) -> Unit:
        """Return the summary `text` as a unit."""
        return derived_unit(self.backbone, SUMMARY, text, self.turns, identity=(self.part.name,))


class Summed(Walk[Summing]):
    """The walk that extends the running summary of a conversation."""

    def __init__(self, turns: Sequence[Turn], known: Mapping[str, Sequence[Unit]], backbone: str = NAME) -> None:
        """Take the conversation's turns, the known units by part name, and the backbone's name."""
        super().__init__(known)
        self._backbone = backbone
        self._stretches = [
            (part.name, stretch) for part in sessions_of(turns) for stretch in stretches_of(part.turns, _SUMMED_LETTERS)
        ]
        self._last: Unit | None = None
        self._turns: tuple[Turn, ...] = ()
        self._at: dict[str, tuple[Unit | None, tuple[Turn, ...]]] = {}

    def before(self, session: int) -> tuple[Unit | None, tuple[Turn, ...]]:
        """Return the summary of the sessions before a session, and the turns that it covers."""
        return self._at.get(str(session), (None, ()))

    def _steps(self) -> Iterator[Summing]:
        for session, stretch in self._stretches:
            self._at.setdefault(session, (self._last, self._turns))
            yield Summing(stretch, self._last, self._turns, self._backbone)

    def take(self, step: Summing, units: Sequence[Unit]) -> None:
        """Update the running summary with that of a step; without units it stays as before."""
        self.names.add(step.part.name)
        if units:
            self._last, self._turns = units[0], step.turns


def readings_of(
    turns: Sequence[Turn], summed: Summed, settings: Mem0Settings, backbone: str = NAME
) -> Iterator[Reading]:
    """Yield the readings of a conversation in order: for each pair one for each memory."""
    for session in sessions_of(turns):
        summary, known = summed.before(int(session.name))
        for start in range(0, len(session.turns), settings.pair):
            for stretch in stretches_of(session.turns[start : start + settings.pair], _LETTERS):
                earlier = [turn for turn in turns if turn.ordinal < stretch.place]
                shown = replace(stretch, before=tuple(earlier[-settings.before :] if settings.before else ()))
                users = list(dict.fromkeys(turn.speaker for turn in stretch.sources))
                each = users if settings.perspectives is Perspectives.EACH else [EVERYBODY]
                for user in each:
                    yield Reading(shown, backbone, user, summary, known, user == each[0])


def _part(layer: str, name: str, turns: Sequence[Turn]) -> Part:
    ordered = sorted({turn.id: turn for turn in turns}.values(), key=lambda turn: turn.ordinal)
    return Part(ordered[0].conversation, named(layer, name), tuple(ordered))

"""Read a conversation episode by episode (Graphiti section 2.2): the names in each, and the facts between them.

A part's name is a hash of everything that the model is shown, and the part has all its turns. So a reading stays valid
until something of this changes, and is dropped if one of the turns is forgotten. The model says when a fact held, and
goalmem's resolver checks it, as in `remem`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from goalmem_cli.backbones.graphiti import DATES, ENTITIES, FACT, FACTS, MENTION, NAME
from goalmem_cli.backbones.graphiti.settings import Episode, GraphitiSettings
from goalmem_cli.backbones.remem.event_times import Course, judge_point, judge_span
from goalmem_cli.backbones.structured.entries import NONE, Form, StructuredEntry, read_entries
from goalmem_cli.backbones.structured.indexing import batches, sessions_of
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.stretches import Stretch, stretches_of
from goalmem_cli.backbones.structured.summaries import named
from goalmem_cli.backbones.structured.triples import key_of
from goalmem_cli.backbones.structured.units import derived_unit, listed
from goalmem_cli.backbones.structured.walking import Known, ask_all
from goalmem_cli.logic.days import single
from goalmem_cli.model_replies import Reply, in_one_line, read_fields
from goalmem_cli.ports import Request
from goalmem_cli.records import Part, Turn, Unit, Usage, content_hash
from goalmem_cli.store.queries.episodes import event_times

FORMS = (Form(FACT, "facts", ("source", "target", "relation", "fact"), ("valid_at", "invalid_at")),)
ENDS = "ends"
"""The attribute of a fact with the ids of its source and target mentions."""
RELATION = "relation"
_LETTERS = 4000  # the longest stretch that is read at once; longer episodes are split
_UNSAID = "unknown"


@dataclass(frozen=True)
class Naming:
    """The question for the names in an episode, or in a stretch of a long one."""

    stretch: Stretch

    @cached_property
    def part(self) -> Part:
        """The part of its mentions."""
        before = [turn.id for turn in self.stretch.before]
        lines = [text for turn, line in self.stretch.lines for text in (turn.id, line)]
        return _part(ENTITIES, content_hash(str(len(before)), *before, *lines), self.stretch)

    def request(self, kit: Kit, problem: str) -> Request:
        """Return the request for the names."""
        return kit.prompts[ENTITIES].request(self.stretch.inputs(problem))

    def read(self, kit: Kit, text: str) -> tuple[Unit, ...]:
        """Return the mentions: the speakers, then the names of the reply, each once.

        Raises:
            ReplyUnusable: the reply has another form.
        """
        said = read_fields(text, self.request(kit, "")).get("names", ())
        speakers = [in_one_line(turn.speaker) for turn in self.stretch.sources]
        names: dict[str, str] = {}
        for name in (*speakers, *(name for name in said if name != NONE)):
            if name:
                names.setdefault(key_of(name), name)
        return tuple(self._mention(name) for name in names.values())

    def _mention(self, name: str) -> Unit:
        unit = derived_unit(NAME, MENTION, name, self.stretch.sources, identity=(self.part.name,))
        return replace(unit, speaker="")  # so that its vector depends on the name alone


@dataclass(frozen=True)
class Telling:
    """The question for the facts of an episode, given its names."""

    naming: Naming
    mentions: tuple[Unit, ...]

    @property
    def stretch(self) -> Stretch:
        """The stretch that is read."""
        return self.naming.stretch

    @cached_property
    def part(self) -> Part:
        """The part of its facts."""
        names = [unit.id for unit in self.mentions]
        return _part(FACTS, content_hash(self.naming.part.name, *names), self.stretch)

    def request(self, kit: Kit, problem: str) -> Request:
        """Return the request for facts; the model may reply that there are none."""
        names = [in_one_line(unit.text) for unit in self.mentions]
        inputs = {**self.stretch.inputs(problem), "names": names}
        return kit.prompts[FACTS].request(inputs, {"turns": self.stretch.labels, "names": names})

    def read(self, kit: Kit, text: str) -> tuple[Unit, ...]:
        """Return the distinct facts of a reply, without those with unknown names or between a name and itself.

        Raises:
            ReplyUnusable: the reply has another form.
        """
        entries = read_entries(text, self.request(kit, "").shape, self.stretch, FORMS)
        known = {key_of(unit.text): unit.id for unit in self.mentions}
        found = [unit for entry in entries if (unit := self._fact(entry, known)) is not None]
        return tuple({unit.id: unit for unit in found}.values())

    def _fact(self, entry: StructuredEntry, known: dict[str, str]) -> Unit | None:
        """Return the fact between two known names, None if they are unknown or the same."""
        ends = [known.get(key_of(entry[name])) for name in ("source", "target")]
        if None in ends or ends[0] == ends[1]:
            return None
        return derived_unit(
            NAME, FACT, entry["fact"], entry.turns,
            identity=(self.part.name, *map(str, ends)),
            event=held(entry["valid_at"], entry["invalid_at"], entry["fact"], entry.turns),
            attributes={ENDS: ends, RELATION: entry["relation"]},
        )  # fmt: skip


@dataclass(frozen=True)
class Dating:
    """The further question when a fact held that came without times."""

    telling: Telling
    fact: Unit

    def request(self, kit: Kit, problem: str) -> Request:
        """Return the request for the fact's times."""
        inputs = {**self.telling.stretch.inputs(problem), "fact": in_one_line(self.fact.text)}
        return kit.prompts[DATES].request(inputs)

    def read(self, kit: Kit, text: str) -> Unit:
        """Return the fact with the times of the reply, if it has any.

        Raises:
            ReplyUnusable: the reply has another form.
        """
        said = read_fields(text, self.request(kit, ""))
        times = [" ".join(said.get(name, ())).strip() for name in ("valid_at", "invalid_at")]
        valid, invalid = ("" if each == _UNSAID else each for each in times)
        turns = [turn for turn in self.telling.stretch.sources if turn.id in self.fact.turns]
        event = held(valid, invalid, self.fact.text, turns)
        return replace(self.fact, event_from=event[0], event_to=event[1])


@dataclass(frozen=True)
class Told:
    """An episode after reading: its mentions, its facts, and its stretch."""

    mentions: tuple[Unit, ...]
    facts: tuple[Unit, ...]
    stretch: Stretch


def held(valid_at: str, invalid_at: str, told: str, turns: Sequence[Turn]) -> tuple[datetime | None, datetime | None]:
    """Return when the statement `told` began and ended, from the model's times and the turns that tell it.

    Times are local clock times without a zone. The day of the last turn becomes the time at which that turn was said. A
    fact that would end before it begins gets no times.
    """
    said = max(turns, key=lambda turn: turn.ordinal).local
    clock = None if said is None else said.replace(tzinfo=None)
    first, last = judge_point(valid_at, told, turns).event, judge_span("", invalid_at, told, turns).event
    start = None if first.course is Course.BEFORE else first.start
    end = last.end if last.end is not None else first.end

    def moment(place: int) -> datetime | None:
        """Return the start (0) or end (1) of the period as a time, None if unknown."""
        period = (start, end)[place]
        if period is None:
            return None
        is_today = clock is not None and period == single(clock.date())
        return clock if is_today else event_times(period)[place]

    begins, ends = moment(0), moment(1)
    return (None, None) if begins is not None and ends is not None and ends < begins else (begins, ends)


def namings_of(turns: Sequence[Turn], settings: GraphitiSettings) -> Iterator[Naming]:
    """Yield the episodes of a conversation, in order."""
    for session in sessions_of(turns):
        episodes = [(turn,) for turn in session.turns] if settings.episode is Episode.MESSAGE else [session.turns]
        for episode in episodes:
            for stretch in stretches_of(episode, _LETTERS):
                earlier = [turn for turn in turns if turn.ordinal < stretch.place]
                before = tuple(earlier[-settings.before :] if settings.before else ())
                yield Naming(replace(stretch, before=before))


def tell(kit: Kit, tellings: Sequence[Telling], *, dates: bool) -> list[Reply[tuple[Unit, ...]]]:
    """Ask for the facts of the episodes; with `dates`, ask again about each fact without times.

    Episodes with fewer than two names are not asked about.

    Raises:
        ModelError: the model could not be used at all.
    """
    asked = [place for place, each in enumerate(tellings) if len(each.mentions) > 1]
    replies: list[Reply[tuple[Unit, ...]]] = [Reply((), Usage()) for _ in tellings]
    for place, told in zip(asked, ask_all(kit, [tellings[place] for place in asked]), strict=True):
        replies[place] = told
    undated = [
        (place, Dating(tellings[place], unit))
        for place in asked
        for unit in (replies[place].value or () if dates else ())
        if unit.event_from is None and unit.event_to is None
    ]
    for group in batches(undated, kit.at_once, lambda _: 1):
        for (place, dating), reply in zip(group, ask_all(kit, [each for _, each in group]), strict=True):
            before = replies[place]
            facts = [reply.value if reply.value and unit.id == dating.fact.id else unit for unit in before.value or ()]
            replies[place] = Reply(tuple(facts), before.usage + reply.usage, before.problem or reply.problem)
    return replies


def told_of(namings: Sequence[Naming], known: Known) -> Iterator[Told]:
    """Yield the episodes with their known mentions and facts; `known` is by part name."""
    for naming in namings:
        mentions = known.get(naming.part.name, ())
        yield Told(mentions, known.get(Telling(naming, mentions).part.name, ()), naming.stretch)


def ends_of(fact: Unit) -> tuple[str, ...]:
    """Return the ids of a fact's source and target mentions; () if a store made elsewhere lacks them."""
    ends = listed(fact, ENDS)
    return tuple(ends) if len(ends) == 2 else ()


def _part(layer: str, name: str, stretch: Stretch) -> Part:
    turns = {turn.id: turn for turn in (*stretch.before, *stretch.sources)}
    ordered = tuple(sorted(turns.values(), key=lambda turn: turn.ordinal))
    return Part(ordered[0].conversation, named(layer, name), ordered)

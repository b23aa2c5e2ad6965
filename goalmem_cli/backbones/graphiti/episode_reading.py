"""Reading a conversation episode by episode (Graphiti section 2.2): the names in each, and the facts between them.

Whatever a model is shown for a part is in the part's name, and all of its turns are the part's. So what was read stays
as it is until something of that changes, and goes when something of it is forgotten. When a fact held, the model says
and goalmem's resolver checks, as in `remem`.
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
"""The attribute of a fact that lists the mentions, by id, of what it leads from and to."""
RELATION = "relation"
_LETTERS = 4000  # of an episode that are read at once; longer ones come in several
_UNSAID = "unknown"


@dataclass(frozen=True)
class Naming:
    """An episode, or a stretch of a long one, whose names are asked for."""

    stretch: Stretch

    @cached_property
    def part(self) -> Part:
        """The part that its mentions come from."""
        before = [turn.id for turn in self.stretch.before]
        lines = [text for turn, line in self.stretch.lines for text in (turn.id, line)]
        return _part(ENTITIES, content_hash(str(len(before)), *before, *lines), self.stretch)

    def request(self, kit: Kit, problem: str) -> Request:
        """Return what the model is asked."""
        return kit.prompts[ENTITIES].request(self.stretch.inputs(problem))

    def read(self, kit: Kit, text: str) -> tuple[Unit, ...]:
        """Return the mentions of a reply: whoever speaks first, each name once.

        Raises:
            ReplyUnusable: the reply is of another form.
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
        return replace(unit, speaker="")  # so that its vector is that of the name alone


@dataclass(frozen=True)
class Telling:
    """An episode with its names, whose facts are asked for."""

    naming: Naming
    mentions: tuple[Unit, ...]

    @property
    def stretch(self) -> Stretch:
        """What is read."""
        return self.naming.stretch

    @cached_property
    def part(self) -> Part:
        """The part that its facts come from."""
        names = [unit.id for unit in self.mentions]
        return _part(FACTS, content_hash(self.naming.part.name, *names), self.stretch)

    def request(self, kit: Kit, problem: str) -> Request:
        """Return what the model is asked; it may reply that there is nothing."""
        names = [in_one_line(unit.text) for unit in self.mentions]
        inputs = {**self.stretch.inputs(problem), "names": names}
        return kit.prompts[FACTS].request(inputs, {"turns": self.stretch.labels, "names": names})

    def read(self, kit: Kit, text: str) -> tuple[Unit, ...]:
        """Return the facts of a reply, each once, without those of unknown names and of a name with itself.

        Raises:
            ReplyUnusable: the reply is of another form.
        """
        entries = read_entries(text, self.request(kit, "").shape, self.stretch, FORMS)
        known = {key_of(unit.text): unit.id for unit in self.mentions}
        found = [unit for entry in entries if (unit := self._fact(entry, known)) is not None]
        return tuple({unit.id: unit for unit in found}.values())

    def _fact(self, entry: StructuredEntry, known: dict[str, str]) -> Unit | None:
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
    """A fact without times, about which is asked once more when it held."""

    telling: Telling
    fact: Unit

    def request(self, kit: Kit, problem: str) -> Request:
        """Return what the model is asked."""
        inputs = {**self.telling.stretch.inputs(problem), "fact": in_one_line(self.fact.text)}
        return kit.prompts[DATES].request(inputs)

    def read(self, kit: Kit, text: str) -> Unit:
        """Return the fact with the times of a reply, where it has any.

        Raises:
            ReplyUnusable: the reply is of another form.
        """
        said = read_fields(text, self.request(kit, ""))
        times = [" ".join(said.get(name, ())).strip() for name in ("valid_at", "invalid_at")]
        valid, invalid = ("" if each == _UNSAID else each for each in times)
        turns = [turn for turn in self.telling.stretch.sources if turn.id in self.fact.turns]
        event = held(valid, invalid, self.fact.text, turns)
        return replace(self.fact, event_from=event[0], event_to=event[1])


@dataclass(frozen=True)
class Told:
    """An episode as it was read: its mentions and its facts."""

    mentions: tuple[Unit, ...]
    facts: tuple[Unit, ...]
    stretch: Stretch


def held(valid_at: str, invalid_at: str, told: str, turns: Sequence[Turn]) -> tuple[datetime | None, datetime | None]:
    """Return from when to when what is told held, given what the model made of it and the turns that tell it.

    On the day of the last of these turns it is the very time at which that was said. Times are clock readings. What
    ended before it began has none.
    """
    said = max(turns, key=lambda turn: turn.ordinal).local
    clock = None if said is None else said.replace(tzinfo=None)
    first, last = judge_point(valid_at, told, turns).event, judge_span("", invalid_at, told, turns).event
    start = None if first.course is Course.BEFORE else first.start
    end = last.end if last.end is not None else first.end

    def moment(place: int) -> datetime | None:
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
    """Return the facts of the episodes; of those that came without times, asked once more, with `dates`.

    Nothing is asked about an episode with one name.

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
    """Yield the episodes with all that is known of them by the names of parts."""
    for naming in namings:
        mentions = known.get(naming.part.name, ())
        yield Told(mentions, known.get(Telling(naming, mentions).part.name, ()), naming.stretch)


def ends_of(fact: Unit) -> tuple[str, ...]:
    """Return the mentions that a fact leads from and to, by id; nothing where a store made elsewhere has none."""
    ends = listed(fact, ENDS)
    return tuple(ends) if len(ends) == 2 else ()


def _part(layer: str, name: str, stretch: Stretch) -> Part:
    turns = {turn.id: turn for turn in (*stretch.before, *stretch.sources)}
    ordered = tuple(sorted(turns.values(), key=lambda turn: turn.ordinal))
    return Part(ordered[0].conversation, named(layer, name), ordered)

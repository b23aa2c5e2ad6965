"""What a model decides about what is known already, kept as data (BACKBONES.md, C1 to C4).

Systems that update, delete or invalidate overwrite what they know. Here a unit of the kind `decision` keeps what was
decided, `acts`, and nothing is overwritten: what is current at any time is computed from them by `replay`, without a
model. A decision has the turns of all that the model was shown, so that forgetting any of them takes it back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Literal

from goalmem_cli.backbones.structured.kit import Kit, LoadKit
from goalmem_cli.backbones.structured.units import derived_unit, listed, passing
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic.moments import Moment
from goalmem_cli.model_replies import NO_NUMBER, Reply, ask_each, in_one_line, numbers_of, parse_json
from goalmem_cli.ports import Happening, JsonShape, Request
from goalmem_cli.records import Edge, Part, Query, Unit, Usage

DECISION = "decision"
SUPERSEDES = "supersedes"
_ACTS = "acts"
_TOLD = "told"
_LINE = re.compile(r"(\w+) (\w+) (\d+)(?: \| (.+))?")


@dataclass(frozen=True, slots=True)
class Event:
    """What can be done about something new, `on` a known unit or not, with a `text` of its own or not.

    A known unit that it `ends` is not current any more; where there is a text, what this becomes stands in its place.
    """

    on: Literal["never", "may", "must"] = "never"
    text: bool = False
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Act:
    """An event, the known unit that it is `on` (its id) and its text, each blank where there is none.

    `unit` is what the text became, or else what stands in place of what it `ends`. `new` is the place of what it is
    about among what was new, from 1; it is not stored.
    """

    event: str
    on: str = ""
    text: str = ""
    unit: str = ""
    ends: bool = False
    new: int = 0


@dataclass(frozen=True, slots=True)
class Undecided:
    """What is new, as texts of one line, and what is known of it; `inputs` are what else the prompt is filled with.

    `line` gives a known unit as the model reads it.
    """

    new: tuple[str, ...]
    candidates: tuple[Unit, ...]
    inputs: Mapping[str, object] = field(default_factory=dict)
    line: Callable[[Unit], str] = field(default_factory=lambda: known_line)

    @property
    def labels(self) -> list[str]:
        """What a reply calls the new things: N1, N2 ..."""
        return [f"N{number}" for number in range(1, len(self.new) + 1)]


@dataclass(frozen=True, slots=True)
class Deed:
    """An act, and the decision that it is of."""

    decision: Unit
    act: Act


@dataclass(frozen=True, slots=True)
class State:
    """What is current at a time, and by which deed each of the other units ended; both by the units' ids."""

    current: Mapping[str, Unit]
    ended: Mapping[str, Deed]


def decide(
    kit: Kit, step: str, undecided: Sequence[Undecided], events: Mapping[str, Event]
) -> list[Reply[tuple[Act, ...]]]:
    """Return for each what the model decides, all asked for in one call; the acts are in the order of the reply.

    Its prompt has the inputs `new`, `known` and `problem`, and the choices `new`, `events` and `numbers`.

    Raises:
        ModelError: the model could not be used at all.
    """
    if not undecided:
        return []
    builds = [partial(request_of, kit, step, each, events) for each in undecided]
    parses = [
        partial(read_acts, build=build, asked=asked, events=events)
        for build, asked in zip(builds, undecided, strict=True)
    ]
    return ask_each(kit.model, builds, parses)


def decide_some(
    load: LoadKit, step: str, undecided: Sequence[Undecided | None], events: Mapping[str, Event]
) -> list[Reply[tuple[Act, ...]]]:
    """Return for each what the model decides, as `decide` does, and no acts where there is nothing to decide.

    Where that is so everywhere, no model is loaded.

    Raises:
        ModelError: the model could not be used at all.
    """
    asked = [each for each in undecided if each is not None]
    replies = iter(decide(load(), step, asked, events) if asked else ())
    return [Reply((), Usage()) if each is None else next(replies) for each in undecided]


def request_of(kit: Kit, step: str, asked: Undecided, events: Mapping[str, Event], problem: str) -> Request:
    """Return what the model is asked; the candidates are numbered from 1."""
    known = [asked.line(unit) for unit in asked.candidates]
    inputs = {"new": list(asked.new), "known": known, "problem": problem, **asked.inputs}
    choices = {"new": asked.labels, "events": list(events), "numbers": numbers_of(asked.candidates)}
    return kit.prompts[step].request(inputs, choices)


def known_line(unit: Unit) -> str:
    """Return a known unit in one line as a model reads it, with the day on which it was said."""
    return in_one_line(unit.text) + (f" [{unit.said:%Y-%m-%d}]" if unit.said is not None else "")


def read_acts(
    text: str, build: Callable[[str], Request], asked: Undecided, events: Mapping[str, Event]
) -> tuple[Act, ...]:
    """Return the acts of a reply, in its order: JSON, or a line each, ``N1 UPDATE 2 | Priya lives in York.``

    Raises:
        ReplyUnusable: it is of another form, names what it was not shown, or lacks a number or a text.
    """
    shape = build("").shape
    items = parse_json(text, shape.schema)["acts"] if isinstance(shape, JsonShape) else _of_lines(text)
    return tuple(dict.fromkeys(_act(item, asked, events) for item in items))


def _of_lines(text: str) -> Iterator[dict[str, str]]:
    for line in text.strip().split("\n"):
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise ReplyUnusable(f"the line {line[:60]!r} says not what is done")
        yield {"new": match[1], "event": match[2], "on": match[3], "text": match[4] or ""}


def _act(item: Mapping[str, str], asked: Undecided, events: Mapping[str, Event]) -> Act:
    name, number, text = item["event"], item["on"], in_one_line(item.get("text", ""))
    if item["new"] not in asked.labels or name not in events or number not in numbers_of(asked.candidates):
        raise ReplyUnusable(f"{' '.join((item['new'], name, number))[:40]!r} names what is not there")
    event = events[name]
    if event.on == "must" and number == NO_NUMBER:
        raise ReplyUnusable(f"{name} has to name something known")
    if event.text and not text:
        raise ReplyUnusable(f"{name} has to have a text")
    on = "" if event.on == "never" or number == NO_NUMBER else asked.candidates[int(number) - 1].id
    return Act(name, on, text if event.text else "", ends=event.ends, new=asked.labels.index(item["new"]) + 1)


def carried_out(
    acts: Iterable[Act],
    events: Mapping[str, Event],
    known: Mapping[str, Unit],
    make: Callable[[int, str, Unit | None], Unit],
) -> tuple[tuple[Unit, ...], tuple[Act, ...]]:
    """Return the units that acts make one after the other, and the acts as they are kept.

    `known` are the units that they may be on, and `make` gets an act's place, its text, and the unit whose place it
    takes. An act on what an earlier one replaced is on what stands in its place; on what an earlier one ended, there
    is nothing left to do but what has a text.
    """
    now: dict[str, Unit | None] = dict(known)
    made: list[Unit] = []
    kept: list[Act] = []
    for place, act in enumerate(acts):
        event, before = events[act.event], now.get(act.on)
        if act.on and before is None and not event.text:
            continue
        unit = make(place, act.text, before) if event.text else None
        kept.append(replace(act, on=before.id if before else "", unit=unit.id if unit else ""))
        if unit is not None:
            made.append(unit)
        if before is not None and event.ends:
            now[act.on] = unit
    of = {act.new: act.unit for act in reversed(kept) if act.unit}
    return tuple(made), tuple(replace(act, unit=of.get(act.new, "")) if _ends_alone(act) else act for act in kept)


def _ends_alone(act: Act) -> bool:
    return act.ends and not act.unit


def decision_unit(backbone: str, part: Part, acts: Sequence[Act], told: Sequence[str]) -> Unit:
    """Return the unit that keeps what was decided about a part, which has the turns of all that was shown.

    `told` are the ids of those among them that tell what was new. It is for no ranking.
    """
    stored = [{name: value for name, value in asdict(act).items() if name != "new"} for act in acts]
    text = "; ".join(f"{act.event} {act.text}".strip() for act in acts) or DECISION
    attributes = {_ACTS: stored, _TOLD: list(told)}
    return derived_unit(backbone, DECISION, text, part.turns, identity=(part.name,), attributes=attributes)


def acts_of(decision: Unit) -> tuple[Act, ...]:
    """Return what was decided; nothing where a store made elsewhere does not say it."""
    acts = decision.attributes.get(_ACTS)
    return tuple(_stored(act) for act in acts if isinstance(act, dict)) if isinstance(acts, list) else ()


def _stored(act: Mapping[str, Any]) -> Act:
    event, on, text, unit = (str(act.get(name, "")) for name in ("event", "on", "text", "unit"))
    return Act(event, on, text, unit, act.get("ends") is True)


def deeds_of(units: Iterable[Unit]) -> list[Deed]:
    """Return what the decisions among the units did, in the order of the replay: time said, ordinal, place in it."""
    decisions = sorted((unit for unit in units if unit.kind == DECISION), key=_when)
    return [Deed(decision, act) for decision in decisions for act in acts_of(decision)]


def _when(unit: Unit) -> tuple[str, bool, int, int, str]:
    if unit.said is None:
        return unit.conversation, False, 0, unit.ordinal, unit.id
    moment = Moment.from_datetime(unit.said)
    return unit.conversation, True, moment.clock if moment.instant is None else moment.instant, unit.ordinal, unit.id


def endings_of(units: Iterable[Unit]) -> dict[str, list[Deed]]:
    """Return by which deeds each unit ended, the first of them first, by its id."""
    found: dict[str, list[Deed]] = {}
    for deed in deeds_of(units):
        if deed.act.ends and deed.act.on:
            found.setdefault(deed.act.on, []).append(deed)
    return found


def ending_of(endings: Mapping[str, Sequence[Deed]], unit: str, at: datetime | None) -> Deed | None:
    """Return by which deed a unit had ended at a time (None: now); None where it was current then."""
    is_said = passing(Query("", until=at))
    return next((deed for deed in endings.get(unit, ()) if is_said(deed.decision)), None)


def replay(units: Sequence[Unit], at: datetime | None = None) -> State:
    """Return what was current of the units at a time (None: now), and by which deed each other one had ended.

    `units` are decisions and all that these may be on. What was said later is not there yet; acts on what is not there
    any more change nothing.
    """
    endings, is_said = endings_of(units), passing(Query("", until=at))
    current: dict[str, Unit] = {}
    ended: dict[str, Deed] = {}
    for unit in units:
        if unit.kind != DECISION and is_said(unit):
            deed = ending_of(endings, unit.id, at)
            if deed is None:
                current[unit.id] = unit
            else:
                ended[unit.id] = deed
    return State(current, ended)


def history_of(units: Iterable[Unit], unit: str) -> list[Deed]:
    """Return what happened to a unit, to those whose place it took, and to those that took its place, in order."""
    deeds = deeds_of(units)
    line = {unit}
    for ends in (("on", "unit"), ("unit", "on")):
        reached = {unit}
        while reached:
            line |= reached
            found = {getattr(deed.act, ends[1]) for deed in deeds if getattr(deed.act, ends[0]) in reached}
            reached = found - line - {""}
    return [deed for deed in deeds if deed.act.on in line or deed.act.unit in line]


def happenings(units: Sequence[Unit], unit: str) -> list[Happening]:
    """Return the history of a unit as people read it: an update has its new text, what adds none the text it is on."""
    texts = {each.id: each.text for each in units}
    return [
        Happening(
            deed.act.event,
            deed.decision.said,
            told_by(deed.decision),
            deed.act.text or texts.get(deed.act.on, ""),
            deed.act.unit if deed.act.text else deed.act.on,
        )
        for deed in history_of(units, unit)
    ]


def told_by(decision: Unit) -> tuple[str, ...]:
    """Return the turns that told what was decided about, as people call them; all where a store does not say it."""
    told = listed(decision, _TOLD)
    labels = tuple(label for id_, label in zip(decision.turns, decision.labels, strict=True) if id_ in told)
    return labels or decision.labels


def replaced_by(units: Sequence[Unit]) -> dict[str, list[str]]:
    """Return for each unit, by its id, what it took the place of, a line each with the day until which that held."""
    texts = {unit.id: unit.text for unit in units}
    found: dict[str, list[str]] = {}
    for ended, deeds in endings_of(units).items():
        for deed in deeds:
            if deed.act.unit and ended in texts:
                said = deed.decision.said
                until = f", until {said:%Y-%m-%d}" if said is not None else ""
                found.setdefault(deed.act.unit, []).append(in_one_line(texts[ended]) + until)
    return found


def superseding(units: Sequence[Unit], kind: str = SUPERSEDES) -> list[Edge]:
    """Return an edge of the kind to each unit that ended: from what stands in its place, or else from the decision."""
    known = {unit.id for unit in units}
    return [
        Edge(deed.act.unit if deed.act.unit in known else deed.decision.id, ended, kind)
        for ended, (deed, *_) in endings_of(units).items()
        if ended in known
    ]

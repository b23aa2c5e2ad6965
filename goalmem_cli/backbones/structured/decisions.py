"""Ask a model what to do with known units, and keep its decisions as data (BACKBONES.md, C1 to C4).

The original systems update, delete or invalidate by overwriting. Here nothing is overwritten: a unit of the kind
`decision` keeps the `acts`, and `ending_of` tells from them, without a model, what was current at any time. A decision
names the turns of everything that the model saw, so that forgetting any of them undoes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Literal, Protocol

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
    """A kind of act that the model may choose, such as ADD or UPDATE.

    `on` says whether it names a known unit. `text` says whether it has a text of its own. If it `ends` the known unit,
    that unit is no longer current, and the unit made of the text, if any, replaces it.
    """

    on: Literal["never", "may", "must"] = "never"
    text: bool = False
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Act:
    """One decided act: its event, the id of the known unit that it is `on`, and its text; blank if there is none.

    `unit` is the id of the unit made of the text, or else of the unit that replaces the one it `ends`. `new` is the
    position, from 1, of the new thing that the act is about; it is not stored.
    """

    event: str
    on: str = ""
    text: str = ""
    unit: str = ""
    ends: bool = False
    new: int = 0


@dataclass(frozen=True, slots=True)
class Undecided:
    """A question for the model: `new` texts of one line each, and the known units that are `candidates`.

    `inputs` are further inputs of the prompt. `line` formats a known unit for the model.
    """

    new: tuple[str, ...]
    candidates: tuple[Unit, ...]
    inputs: Mapping[str, object] = field(default_factory=dict)
    line: Callable[[Unit], str] = field(default_factory=lambda: known_line)

    @property
    def labels(self) -> list[str]:
        """The labels of the new things in a reply: N1, N2 ..."""
        return [f"N{number}" for number in range(1, len(self.new) + 1)]


@dataclass(frozen=True, slots=True)
class Deed:
    """An act, and the decision that it belongs to."""

    decision: Unit
    act: Act


def decide(
    kit: Kit, step: str, undecided: Sequence[Undecided], events: Mapping[str, Event]
) -> list[Reply[tuple[Act, ...]]]:
    """Ask the model about all in one call; return for each the acts in the order of its reply.

    The prompt has the inputs `new`, `known` and `problem`, and the choices `new`, `events` and `numbers`.

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


class MayAsk(Protocol):
    """A step of a walk, with what the model has to decide; None if it is clear without it."""

    @property
    def undecided(self) -> Undecided | None:
        """What the model has to decide."""


def decide_some(
    load: LoadKit, prompt: str, events: Mapping[str, Event], steps: Sequence[MayAsk]
) -> list[Reply[tuple[Act, ...]]]:
    """Do as `decide` for the undecided steps; the others have no acts. If all are decided, no model is loaded.

    Raises:
        ModelError: the model could not be used at all.
    """
    asked = [step.undecided for step in steps if step.undecided is not None]
    replies = iter(decide(load(), prompt, asked, events) if asked else ())
    return [Reply((), Usage()) if step.undecided is None else next(replies) for step in steps]


def request_of(kit: Kit, step: str, asked: Undecided, events: Mapping[str, Event], problem: str) -> Request:
    """Return the request to the model; the candidates are numbered from 1."""
    known = [asked.line(unit) for unit in asked.candidates]
    inputs = {"new": list(asked.new), "known": known, "problem": problem, **asked.inputs}
    choices = {"new": asked.labels, "events": list(events), "numbers": numbers_of(asked.candidates)}
    return kit.prompts[step].request(inputs, choices)


def known_line(unit: Unit) -> str:
    """Return a known unit in one line for a model, with the day on which it was said."""
    return in_one_line(unit.text) + (f" [{unit.said:%Y-%m-%d}]" if unit.said is not None else "")


def read_acts(
    text: str, build: Callable[[str], Request], asked: Undecided, events: Mapping[str, Event]
) -> tuple[Act, ...]:
    """Parse the acts of a reply in its order: JSON, or lines like ``N1 UPDATE 2 | Priya lives in York.``

    Raises:
        ReplyUnusable: it has another form, names something it was not shown, or lacks a number or a text.
    """
    shape = build("").shape
    items = parse_json(text, shape.schema)["acts"] if isinstance(shape, JsonShape) else _of_lines(text)
    return tuple(dict.fromkeys(_act(item, asked, events) for item in items))


def _of_lines(text: str) -> Iterator[dict[str, str]]:
    """Yield the fields of each line of a compact reply; raises ReplyUnusable."""
    for line in text.strip().split("\n"):
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise ReplyUnusable(f"the line {line[:60]!r} says not what is done")
        yield {"new": match[1], "event": match[2], "on": match[3], "text": match[4] or ""}


def _act(item: Mapping[str, str], asked: Undecided, events: Mapping[str, Event]) -> Act:
    """Return the act of an item in a reply; raises ReplyUnusable if it names something unknown."""
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
    """Carry out acts in order; return the units made, and the acts to keep.

    `known` are the units that acts may be on. `make` takes an act's position, its text and the unit that it replaces,
    and returns a unit. An act on a unit that was replaced by an earlier act applies to the replacement. An act on a
    unit that was ended is dropped unless it has a text.
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
    return tuple(made), tuple(
        replace(act, unit=of.get(act.new, "")) if act.ends and not act.unit else act for act in kept
    )


def decision_unit(backbone: str, part: Part, acts: Sequence[Act], told: Sequence[str]) -> Unit:
    """Return the unit that keeps the decision about a part; the part has the turns of everything the model saw.

    `told` are the ids of the turns that told what was new. The unit takes part in no ranking.
    """
    stored = [{name: value for name, value in asdict(act).items() if name != "new"} for act in acts]
    text = "; ".join(f"{act.event} {act.text}".strip() for act in acts) or DECISION
    attributes = {_ACTS: stored, _TOLD: list(told)}
    return derived_unit(backbone, DECISION, text, part.turns, identity=(part.name,), attributes=attributes)


def acts_of(decision: Unit) -> tuple[Act, ...]:
    """Return the acts of a decision; none if a store made elsewhere lacks them."""
    acts = decision.attributes.get(_ACTS)
    return tuple(_stored(act) for act in acts if isinstance(act, dict)) if isinstance(acts, list) else ()


def _stored(act: Mapping[str, Any]) -> Act:
    event, on, text, unit = (str(act.get(name, "")) for name in ("event", "on", "text", "unit"))
    return Act(event, on, text, unit, act.get("ends") is True)


def deeds_of(units: Iterable[Unit]) -> list[Deed]:
    """Return the acts of the decisions among the units in replay order: time said, ordinal, place in the decision."""
    decisions = sorted((unit for unit in units if unit.kind == DECISION), key=_when)
    return [Deed(decision, act) for decision in decisions for act in acts_of(decision)]


def _when(unit: Unit) -> tuple[str, bool, int, int, str]:
    if unit.said is None:
        return unit.conversation, False, 0, unit.ordinal, unit.id
    moment = Moment.from_datetime(unit.said)
    return unit.conversation, True, moment.clock if moment.instant is None else moment.instant, unit.ordinal, unit.id


def endings_of(units: Iterable[Unit]) -> dict[str, list[Deed]]:
    """Return by unit id the deeds that ended it, the earliest first."""
    found: dict[str, list[Deed]] = {}
    for deed in deeds_of(units):
        if deed.act.ends and deed.act.on:
            found.setdefault(deed.act.on, []).append(deed)
    return found


def ending_of(endings: Mapping[str, Sequence[Deed]], unit: str, at: datetime | None) -> Deed | None:
    """Return the deed that had ended a unit at a time (None: now), or None if the unit was still current."""
    is_said = passing(Query("", until=at))
    return next((deed for deed in endings.get(unit, ()) if is_said(deed.decision)), None)


def history_of(units: Iterable[Unit], unit: str) -> list[Deed]:
    """Return in order the deeds on a unit, on the units that it replaced, and on those that replaced it."""
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
    """Return the history of a unit for people: each act with its new text, or else the text of the unit it is on."""
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
    """Return the labels of the turns that told what was new; all of the decision's if the store does not say."""
    told = listed(decision, _TOLD)
    labels = tuple(label for id_, label in zip(decision.turns, decision.labels, strict=True) if id_ in told)
    return labels or decision.labels


def replaced_by(units: Sequence[Unit]) -> dict[str, list[str]]:
    """Return by unit id the texts that it replaced, a line each, with the day until which each held."""
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
    """Return an edge to each ended unit, from the unit that replaced it, or else from the decision."""
    known = {unit.id for unit in units}
    return [
        Edge(deed.act.unit if deed.act.unit in known else deed.decision.id, ended, kind)
        for ended, (deed, *_) in endings_of(units).items()
        if ended in known
    ]

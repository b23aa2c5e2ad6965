"""How `remem` dates what is told: gold statements fed in as entries, held to the dates that their plans bind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from goalmem_cli.backbones.remem.event_times import Event, judge_point, written
from goalmem_cli.lab.evaluation.cases import Case, GoldStep
from goalmem_cli.logic import parse_atom
from goalmem_cli.logic.dates import parse_date
from goalmem_cli.logic.days import Period
from goalmem_cli.logic.terms import Atom, Variable
from goalmem_cli.records import Conversation, Turn

_LEADS = frozenset("on in at since until by from before after during around".split())


class Way(StrEnum):
    """What the model is taken to have said of the time: nothing, or what the plan binds."""

    BLANK = "no time"
    GOLD = "the gold date"


class Outcome(StrEnum):
    """How the entry's time lies to the gold date: the same or within it, wider, none, or another."""

    RIGHT = "right"
    WIDER = "wider"
    NONE = "none"
    OTHER = "another"


@dataclass(frozen=True, slots=True)
class DatedEntry:
    """A gold statement whose plan binds a date, and what became of its time."""

    conversation: str
    told: str
    gold: str
    turns: tuple[Turn, ...]
    events: Mapping[Way, Event]
    outcomes: Mapping[Way, Outcome]


@dataclass(frozen=True, slots=True)
class EntryTimes:
    """The gold statements that bind a date; how many others there are, and how many of these are given a time.

    Whether those have one in truth, no plan says.
    """

    entries: tuple[DatedEntry, ...]
    others: int
    others_dated: int

    def count(self, way: Way) -> Mapping[Outcome, int]:
        """Return how often each outcome came about."""
        found = Counter(entry.outcomes[way] for entry in self.entries)
        return {outcome: found[outcome] for outcome in Outcome}


def entry_times(cases: Sequence[Case], conversations: Iterable[Conversation]) -> EntryTimes:
    """Return how the gold statements of the cases' plans are dated, each as an entry of the turns that ground it.

    A statement is a subgoal with its bindings in place; the date, with the preposition before it, is left out.
    """
    turns = {(talk.name, turn.label): turn for talk in conversations for turn in talk.turns}
    entries: list[DatedEntry] = []
    others: list[bool] = []
    for case in cases:
        for step in case.plan.subgoals if case.plan is not None else ():
            said = tuple(turns[case.conversation, label] for label in step.facts if (case.conversation, label) in turns)
            if not said:
                continue
            atom = parse_atom(step.text)
            dates = {name: when for name, value in step.bindings.items() if (when := parse_date(value)) is not None}
            told = _told(atom, step, dates.keys())
            if len(dates) == 1:
                ((name, when),) = dates.items()
                if when.year is not None and (days := when.within(when.year)) is not None:
                    entries.append(_entry(case.conversation, told, step.bindings[name], days, said))
            elif not dates:
                others.append(bool(judge_point("", told, said).event.text))
    return EntryTimes(tuple(entries), len(others), sum(others))


def _entry(conversation: str, told: str, gold: str, days: Period, turns: tuple[Turn, ...]) -> DatedEntry:
    proposed = {Way.BLANK: "", Way.GOLD: written(days)}
    events = {way: judge_point(said, told, turns).event for way, said in proposed.items()}
    return DatedEntry(
        conversation, told, gold, turns, events, {way: _outcome(event, days) for way, event in events.items()}
    )


def _outcome(event: Event, days: Period) -> Outcome:
    periods = [period for period in (event.start, event.end) if period is not None]
    if not periods:
        return Outcome.NONE
    if any(days.contains(period) for period in periods):
        return Outcome.RIGHT
    return Outcome.WIDER if any(period.contains(days) for period in periods) else Outcome.OTHER


def _told(atom: Atom, step: GoldStep, dates: Iterable[str]) -> str:
    left_out = set(dates)
    return " ".join("".join(_words(atom, step, left_out)).split())


def _words(atom: Atom, step: GoldStep, left_out: set[str]) -> Iterator[str]:
    for place, part in enumerate(atom.parts):
        if isinstance(part, str):
            following = atom.parts[place + 1 : place + 2]
            is_before = any(isinstance(each, Variable) and each.name in left_out for each in following)
            yield _without_lead(part) if is_before else part
        elif isinstance(part, Variable):
            yield "" if part.name in left_out else step.bindings.get(part.name, part.type)
        else:
            yield part.value


def _without_lead(text: str) -> str:
    words = text.split()
    return text[: text.rindex(words[-1])] if words and words[-1].casefold() in _LEADS else text

"""Generated talks in which facts about people change over months; their words stand in `stories.yaml`.

A history, for `bench changes`, is one finished conversation of two people who tell new, changed, corrected, repeated
and ended facts about themselves. A story, for `bench goals`, is many chats that grow step by step, and goals about
what people say in them: also about a flatmate, who changes too. Its chatter names some of the same towns, firms and
things, but states nothing that a goal asks for.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise, product
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from goalmem_cli.records import Conversation, Turn

WORDS: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
PEOPLE = tuple(WORDS["people"].split())
_CHATTER: list[str] = WORDS["chatter"]
_BESIDE: list[tuple[str, str]] = WORDS["beside"]
FACTS_A_CONVERSATION = 100
GOALS_A_CHAT = 8
_A_SESSION, _EARLY = 10, 4
_MOST_FORGOTTEN = 3
_SHARE_TOLD_EARLY, _SHARE_TOLD = 0.6, 0.15
_SHARE_GROWN = 0.4
"""The share of the chats that continue in a step."""
_SHARE_HELD_BACK = 0.2
"""The share of the matters that nobody mentions before the goals are kept."""
SINGLE, CLOSED, TWO_STEPS = "single", "closed", "two steps"

Matter: TypeAlias = tuple[str, str]
"""What a statement or a goal is about: a person, and the name of a slot."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A fact with one value at a time: its questions, its wordings and its values, as `stories.yaml` explains them."""

    name: str
    question: str
    closed: str
    atom: str
    statement: str
    ended: str
    told: str
    corrected: str
    repeated: str
    left: str
    values: tuple[str, ...]


*SLOTS, FLATMATE = (Slot(**each | {"values": tuple(each["values"])}) for each in WORDS["slots"])
THEIR_WORK = replace(next(slot for slot in SLOTS if slot.name == "work"), **WORDS["their_work"])
"""The slot `work` in the words of somebody who speaks about a flatmate."""


class Kind(StrEnum):
    """What a statement does to a fact: it is new, replaces a value, repeats it, or ends it."""

    NEW = "new"
    CHANGE = "change"
    CORRECTION = "correction"
    REPEAT = "repeat"
    END = "end"


RETURN = "return"
"""The kind of a telling that returns to an earlier value, with another value between."""


@dataclass(frozen=True, slots=True)
class Telling:
    """A turn's statement about a person; `value` holds from then on or, with `Kind.END`, no longer."""

    person: str
    slot: Slot
    value: str
    kind: Kind
    turn: Turn

    @property
    def matter(self) -> Matter:
        """What it is about."""
        return self.person, self.slot.name

    @property
    def holds(self) -> str | None:
        """The value from then on; None after an end."""
        return None if self.kind is Kind.END else self.value

    def is_told(self, at: datetime | None) -> bool:
        """Say whether the turn was said by a time (None: now)."""
        return at is None or (self.turn.said is not None and self.turn.said <= at)

    @property
    def statement(self) -> str:
        """The content as a self-contained sentence."""
        form = self.slot.ended if self.kind is Kind.END else self.slot.statement
        return form.format(person=self.person, value=self.value)


def last_about(tellings: Sequence[Telling], person: str | None, slot: Slot) -> Telling | None:
    """Return the last of the statements about a person's slot, or None."""
    return next((each for each in reversed(tellings) if each.matter == (person, slot.name)), None)


def _telling(
    person: str,
    slot: Slot,
    turn: Turn,
    now: dict[Matter, str | None],
    chance: random.Random,
    taken: Collection[str | None] = (),
    others: Sequence[str] = (),
) -> Telling:
    """Return a statement about the person's slot, of a random kind, in `turn`; update the present values in `now`.

    A new value is one of the slot's, or of `others` if it has none, and neither the present one nor `taken`.
    """
    before = now.get((person, slot.name))
    kind = Kind.NEW
    if before is not None:
        kind = chance.choices([Kind.CHANGE, Kind.CORRECTION, Kind.REPEAT, Kind.END], (45, 10, 35, 10))[0]
    value = before
    if value is None or kind not in (Kind.REPEAT, Kind.END):
        value = chance.choice([each for each in slot.values or others if each not in {before, *taken}])
    forms = {Kind.CORRECTION: slot.corrected, Kind.REPEAT: slot.repeated, Kind.END: slot.left}
    text = forms.get(kind, slot.told).format(value=value, person=person)
    now[person, slot.name] = None if kind is Kind.END else value
    return Telling(person, slot, value, kind, replace(turn, text=text))


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the time that it asks about (None: now), the right answer, and how that was stated last."""

    text: str
    person: str
    slot: Slot
    conversation: str
    as_of: datetime | None
    answer: str | None
    told_as: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """One conversation, and the statements of its turns in order."""

    conversation: Conversation
    tellings: tuple[Telling, ...]

    def state(self, person: str, slot: Slot, at: datetime | None = None) -> str | None:
        """Return the value at a time (None: now); None if the fact had ended or was not stated yet."""
        last = last_about([each for each in self.tellings if each.is_told(at)], person, slot)
        return None if last is None else last.holds


def made_up_histories(facts: int, seed: int) -> list[History]:
    """Return histories with `facts` facts in total, at most 100 each; equal arguments give equal results."""
    chance = random.Random(seed)  # noqa: S311 - no secret, but the same each time
    sizes = [min(FACTS_A_CONVERSATION, facts - start) for start in range(0, facts, FACTS_A_CONVERSATION)]
    return [_history(f"changes-{seed}-{number:03}", size, chance) for number, size in enumerate(sizes)]


def questions_of(history: History, seed: int) -> Iterator[tuple[Asked, Asked]]:
    """Yield, for every fact of a person that changed, a question about now and one about an earlier time.

    The earlier time is the end of a session after which the fact changed, drawn at random.
    """
    chance = random.Random(f"{history.conversation.name} {seed}")  # noqa: S311 - no secret
    ends = {turn.session: turn.said for turn in history.conversation.turns}
    told: dict[tuple[str, Slot], list[Telling]] = {}
    for each in history.tellings:
        told.setdefault((each.person, each.slot), []).append(each)
    for (person, slot), tellings in told.items():
        before = [
            one.turn.session
            for one, next_ in pairwise(tellings)
            if one.holds != next_.holds and one.turn.session != next_.turn.session
        ]
        if before:
            now, then = (
                Asked(
                    slot.question.format(person=person), person, slot, history.conversation.name, at,
                    history.state(person, slot, at), _told_as([each for each in tellings if each.is_told(at)]),
                )
                for at in (None, ends[chance.choice(before)])
            )  # fmt: skip
            yield now, then


def _told_as(tellings: Sequence[Telling]) -> str:
    """Return how the value after these tellings was stated last: new, a change, correction, repeat, end or return."""
    *before, last = tellings
    others = [place for place, each in enumerate(before) if each.holds != last.holds]
    is_return = bool(others) and any(each.holds == last.holds for each in before[: others[-1]])
    is_back = last.kind in (Kind.NEW, Kind.CHANGE) and is_return
    return RETURN if is_back else last.kind.value


def _history(name: str, facts: int, chance: random.Random) -> History:
    """Return a conversation of two people with `facts` statements, three in four turns; the other turns are chatter."""
    people = chance.sample(PEOPLE, 2)
    moment = datetime(2022, 1, 3, 18, 30) + timedelta(days=chance.randrange(300))
    now: dict[Matter, str | None] = {}
    turns: list[Turn] = []
    tellings: list[Telling] = []
    while len(tellings) < facts:
        session, place = divmod(len(turns), _A_SESSION)
        if not place:
            moment += timedelta(days=chance.randint(2, 9))
        said, speaker = moment + timedelta(minutes=3 * place), people[len(turns) % 2]
        text = chance.choice(_CHATTER)
        turn = Turn(name, session, len(turns), speaker, text, said, own_id=f"D{session + 1}:{place + 1}")
        if chance.random() < 0.75:  # the rest is chatter
            tellings.append(_telling(speaker, chance.choice(SLOTS), turn, now, chance))
            turn = tellings[-1].turn
        turns.append(turn)
    return History(Conversation(name, "changes", tuple(turns), own_id=name), tuple(tellings))


@dataclass(frozen=True, slots=True)
class Standing:
    """A question to keep, with the plan that a good model writes.

    `slots` are what its steps ask for: the first about `person`, the second about the value of the first. `value` is
    the value that a yes/no question asks about.
    """

    chat: str
    kind: str
    question: str
    person: str
    slots: tuple[Slot, ...]
    value: str | None = None

    @property
    def subgoals(self) -> tuple[str, ...]:
        """The steps of the plan, in the notation of replies."""
        if self.value is not None:
            head, _, rest = self.slots[0].atom.format(self.person, self.value).rpartition(":")
            return (f"{head}){rest.partition(')')[2]}",)
        subjects = (self.person, "x:person")
        return tuple(
            slot.atom.format(subject, name) for slot, subject, name in zip(self.slots, subjects, "xy", strict=False)
        )

    @property
    def answers(self) -> tuple[str, ...]:
        """The variable that answers; empty for a yes/no question."""
        return () if self.value is not None else ("xy"[len(self.slots) - 1],)

    def answer(self, told: Sequence[Telling]) -> str | None:
        """Return the right answer by the statements in order; None if it is unknown."""
        last = last_about(told, self.person, self.slots[0])
        if last is None:
            return None
        if self.value is not None:
            return "yes" if last.holds == self.value else "no"
        if len(self.slots) == 1 or last.holds is None:
            return last.holds
        then = last_about(told, last.holds, self.slots[1])
        return None if then is None else then.holds

    def matters(self, told: Sequence[Telling]) -> set[Matter]:
        """Return the facts that the answer depends on."""
        last = last_about(told, self.person, self.slots[0])
        further = {(last.holds, slot.name) for slot in self.slots[1:] if last is not None and last.holds is not None}
        return {(self.person, self.slots[0].name)} | further


@dataclass(frozen=True, slots=True)
class Step:
    """One step: the chats that grew, whole, the statements in their new turns, and the forgotten statements."""

    chats: tuple[Conversation, ...]
    tellings: tuple[Telling, ...]
    forgotten: tuple[Telling, ...] = ()

    @property
    def grown(self) -> set[str]:
        """The names of the chats that grow or lose a turn."""
        return {chat.name for chat in self.chats} | {each.turn.conversation for each in self.forgotten}

    @property
    def matters(self) -> set[Matter]:
        """The facts that are stated or forgotten in the step."""
        return {each.matter for each in (*self.tellings, *self.forgotten)}

    def after(self, told: Sequence[Telling]) -> list[Telling]:
        """Return the statements that the memory holds after the step, given those before it."""
        return [*(each for each in told if each not in self.forgotten), *self.tellings]


@dataclass(frozen=True, slots=True)
class Story:
    """The chats before the goals are kept, the goals, and the steps after that."""

    before: Step
    goals: tuple[Standing, ...]
    steps: tuple[Step, ...]


def made_up_story(goals: int, steps: int, seed: int) -> Story:
    """Return a story with `goals` goals and `steps` steps; equal arguments give equal results."""
    chance = random.Random(f"goals {seed}")  # noqa: S311 - no secret, but the same each time
    count = -(-goals // GOALS_A_CHAT)
    names = _names(chance)
    chats = [_Chat(f"goals-{seed}-{number:03}", [next(names) for _ in range(5)], chance) for number in range(count)]
    told = [each for _ in range(_EARLY) for chat in chats for each in chat.session(early=True)]
    standing = [goal for chat in chats for goal in chat.goals()][:goals]
    first = Step(tuple(chat.conversation for chat in chats), tuple(told))
    made = []
    for number in range(steps):
        made.append(_step(number, chats, told, chance))
        told = made[-1].after(told)
    return Story(first, tuple(standing), tuple(made))


def _step(number: int, chats: Sequence[_Chat], told: Sequence[Telling], chance: random.Random) -> Step:
    """Let some chats grow and return the step; every second step also forgets a few facts' last statements."""
    known = list({each.matter: each for each in told}.values())
    forgotten = chance.sample(known, min(_MOST_FORGOTTEN, len(known))) if number % 2 else []
    grown = [chat for chat in chats if chance.random() < _SHARE_GROWN]
    new = [telling for chat in grown for telling in chat.session()]
    return Step(tuple(chat.conversation for chat in grown), tuple(new), tuple(forgotten))


def _names(chance: random.Random) -> Iterator[str]:
    """Yield names, each once; with family names when the first names are used up."""
    first = [*PEOPLE, *WORDS["others"].split()]
    chance.shuffle(first)
    yield from first
    yield from (f"{name} {family}" for family, name in product(WORDS["families"].split(), first))


class _Chat:
    """Two people's chat. Three others live with them in turn."""

    def __init__(self, name: str, names: Sequence[str], chance: random.Random) -> None:
        self._name = name
        self._people, self._others = names[:2], tuple(names[2:])
        self._chance = chance
        self._now: dict[Matter, str | None] = {}
        self._turns: list[Turn] = []
        self._session = 0
        self._moment = datetime(2022, 1, 3, 18, 30) + timedelta(days=chance.randrange(30))
        matters = [(person, slot.name) for person in self._people for slot in (*SLOTS, FLATMATE)]
        self._held_back = frozenset(matter for matter in matters if chance.random() < _SHARE_HELD_BACK)

    @property
    def conversation(self) -> Conversation:
        """The chat as it is now."""
        return Conversation(self._name, "made-up", tuple(self._turns), own_id=self._name)

    def session(self, *, early: bool = False) -> list[Telling]:
        """Add a session to the chat, and return its statements, at most one about each fact."""
        self._moment += timedelta(days=self._chance.randint(2, 9))
        self._session += 1
        told = list[Telling]()
        share = _SHARE_TOLD_EARLY if early else _SHARE_TOLD
        for place in range(_A_SESSION):
            speaker, said = self._people[place % 2], self._moment + timedelta(minutes=3 * place)
            own_id = f"D{self._session}:{place + 1}"
            turn = Turn(self._name, self._session, len(self._turns), speaker, "", said, own_id=own_id)
            done = {each.matter for each in told}
            subject = self._subject(speaker, done, early=early) if self._chance.random() < share else None
            if subject is None:
                turn = replace(turn, text=self._chatter())
            else:
                flatmates = {self._now.get((each, FLATMATE.name)) for each in self._people}
                told.append(_telling(*subject, turn, self._now, self._chance, flatmates, self._others))
                turn = told[-1].turn
            self._turns.append(turn)
        return told

    def goals(self) -> list[Standing]:
        """Return the goals about this chat: single facts, yes/no questions, and questions of two steps."""
        made = []
        for person in self._people:
            *single, asked = self._chance.sample(SLOTS, 3)
            made += [
                Standing(self._name, SINGLE, each.question.format(person=person), person, (each,)) for each in single
            ]
            value = self._now.get((person, asked.name)) or self._chance.choice(asked.values)
            question = asked.closed.format(person=person, value=value)
            made.append(Standing(self._name, CLOSED, question, person, (asked,), value))
            question = f"Where does {person}'s flatmate work?"
            made.append(Standing(self._name, TWO_STEPS, question, person, (FLATMATE, THEIR_WORK)))
        return made

    def _subject(self, speaker: str, done: set[Matter], *, early: bool) -> tuple[str, Slot] | None:
        """Return the person and slot that the speaker mentions next, of self or flatmate; None if all are done."""
        matters = [(speaker, slot) for slot in (*SLOTS, FLATMATE)]
        if flatmate := self._now.get((speaker, FLATMATE.name)):
            matters += [(flatmate, THEIR_WORK)] * 2
        held_back = done | self._held_back if early else done
        free = [(person, slot) for person, slot in matters if (person, slot.name) not in held_back]
        return self._chance.choice(free) if free else None

    def _chatter(self) -> str:
        """Return a text that states no fact that a goal asks for."""
        chance = self._chance
        if chance.random() < 0.5:
            return chance.choice(_CHATTER)
        form, name = chance.choice(_BESIDE)
        return form.format(value=chance.choice(next(slot.values for slot in SLOTS if slot.name == name)))

"""Generated chats that grow step by step, and goals about what people say in them.

People speak about themselves, as in `bench changes`, and about a flatmate, who changes too. The chatter between names
some of the same towns, firms and things, but states nothing that a goal asks for.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import product
from typing import TypeAlias

from goalmem_cli.lab.bench.changes.story import CHATTER, PEOPLE, SLOTS, Kind, Slot, Telling
from goalmem_cli.records import Conversation, Turn

Matter: TypeAlias = tuple[str, str]
"""What a goal asks about: a person, and the name of a slot."""

GOALS_A_CHAT = 8
_OTHERS = tuple(
    "Agnes Bilal Carla Diego Edda Felix Gloria Hamza Irina Jasper Kaya Lorenz Mirela Nils Odette Pavel Ramona Sergio "
    "Tilda Umar Vera Wim Yara Zeno Anouk Boris Clara Darius Esra Fiona Goran Hanna Ilyas Judith Karim Lotte Marek "
    "Noemi Orlando Petra Rashid Selma Theo Ulrike Viktor Wanda Xenia Yusuf Zita Arne Beatriz Cem Dunja Emil Flora "
    "Gideon Helga Ivo Joana Kasper Linnea Milo Nora Otis Pia Ruben Stella Tomas Ursula Vito".split()
)
_FAMILIES = ("Lind", "Okafor", "Barros", "Novak", "Haddad", "Moreau", "Tanaka", "Keller")
FLATMATE = Slot(
    "flatmate", "Who is {person}'s flatmate?", "{person}'s flatmate is {value}.", "{person} has no flatmate any more.",
    "{value} has moved in, {value} is my flatmate now.", "I wrote the wrong name: {value} is my flatmate.",
    "{value} is still my flatmate.", "{value} has moved out, I have no flatmate now.", (),
)  # fmt: skip
WORK = next(slot for slot in SLOTS if slot.name == "work")
THEIR_WORK = replace(
    WORK,
    told="{person} has a new job, {person} works at {value} now.",
    corrected="I said it wrongly: {value} is where {person} works.",
    repeated="{person} still works at {value}.",
    left="{person} does not work at {value} any more, and is looking around.",
)
"""The slot `work` in the words of somebody who speaks about a flatmate."""
_BESIDE = (
    ("My brother lives in {value}, by the way.", "home"), ("We came through {value} on the train.", "home"),
    ("Do you know anybody in {value}?", "home"), ("I read about {value} in the paper.", "work"),
    ("A friend of mine had an interview at {value}.", "work"), ("Our neighbour drives {value}.", "own"),
    ("They have {value} at the market.", "like"),
)  # fmt: skip
"""Remarks that name a value of a slot but say nothing about the people whom goals ask about."""
_A_SESSION, _EARLY = 10, 4
_MOST_FORGOTTEN = 3
_SHARE_TOLD_EARLY, _SHARE_TOLD = 0.6, 0.15
_SHARE_GROWN = 0.4
"""The share of the chats that continue in a step."""
_SHARE_HELD_BACK = 0.2
"""The share of the matters that nobody mentions before the goals are kept."""
_WHAT = {
    "home": "({}) lives in ({}:place)", "work": "({}) works at ({}:company)", "own": "({}) drives ({}:vehicle)",
    "like": "({}) likes ({}:drink) best to drink", "flatmate": "the flatmate of ({}) is ({}:person)",
}  # fmt: skip
_CLOSED = {
    "home": "Does {} live in {}?", "work": "Does {} work at {}?", "own": "Does {} drive {}?",
    "like": "Does {} like {} best to drink?",
}  # fmt: skip
SINGLE, CLOSED, TWO_STEPS = "single", "closed", "two steps"


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
            bare = _WHAT[self.slots[0].name].format(self.person, "|").partition("(|")[0]
            rest = _WHAT[self.slots[0].name].rpartition(")")[2]
            return (f"{bare}({self.value}){rest}",)
        subjects = (self.person, "x:person")
        return tuple(
            _WHAT[slot.name].format(subject, name)
            for slot, subject, name in zip(self.slots, subjects, "xy", strict=False)
        )

    @property
    def answers(self) -> tuple[str, ...]:
        """The variable that answers; empty for a yes/no question."""
        return () if self.value is not None else ("xy"[len(self.slots) - 1],)

    def answer(self, told: Told) -> str | None:
        """Return the right answer; None if it is unknown."""
        last = told.last(self.person, self.slots[0])
        if last is None:
            return None
        if self.value is not None:
            return "yes" if last.holds == self.value else "no"
        if len(self.slots) == 1 or last.holds is None:
            return last.holds
        then = told.last(last.holds, self.slots[1])
        return None if then is None else then.holds

    def matters(self, told: Told) -> set[Matter]:
        """Return the facts that the answer depends on, as (person, slot name)."""
        last = told.last(self.person, self.slots[0])
        further = {(last.holds, slot.name) for slot in self.slots[1:] if last is not None and last.holds is not None}
        return {(self.person, self.slots[0].name)} | further


@dataclass(slots=True)
class Told:
    """The statements that the memory holds, in order."""

    tellings: list[Telling] = field(default_factory=list)

    def last(self, person: str, slot: Slot) -> Telling | None:
        """Return the last statement about a person's slot, or None."""
        told = [each for each in self.tellings if (each.person, each.slot.name) == (person, slot.name)]
        return told[-1] if told else None


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
        """The facts that are stated or forgotten in the step, as (person, slot name)."""
        return {(each.person, each.slot.name) for each in (*self.tellings, *self.forgotten)}


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
    before = [chat.session(early=True) for _ in range(_EARLY) for chat in chats]
    standing = [goal for chat in chats for goal in chat.goals()][:goals]
    told = Told([each for part in before for each in part])
    first = Step(tuple(chat.conversation for chat in chats), tuple(told.tellings))
    return Story(first, tuple(standing), tuple(_step(number, chats, told, chance) for number in range(steps)))


def _step(number: int, chats: Sequence[_Chat], told: Told, chance: random.Random) -> Step:
    """Let some chats grow and return the step; every second step also forgets a few facts' last statements."""
    known = list({(each.person, each.slot.name): each for each in told.tellings}.values())
    forgotten = chance.sample(known, min(_MOST_FORGOTTEN, len(known))) if number % 2 else []
    grown = [chat for chat in chats if chance.random() < _SHARE_GROWN]
    new = [telling for chat in grown for telling in chat.session()]
    told.tellings[:] = [each for each in told.tellings if each not in forgotten] + new
    return Step(tuple(chat.conversation for chat in grown), tuple(new), tuple(forgotten))


def _names(chance: random.Random) -> Iterator[str]:
    """Yield names, each once; with family names when the first names are used up."""
    first = [*PEOPLE, *_OTHERS]
    chance.shuffle(first)
    yield from first
    yield from (f"{name} {family}" for family, name in product(_FAMILIES, first))


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
        told, done = list[Telling](), set[Matter]()
        share = _SHARE_TOLD_EARLY if early else _SHARE_TOLD
        for place in range(_A_SESSION):
            speaker, said = self._people[place % 2], self._moment + timedelta(minutes=3 * place)
            turn = Turn(
                self._name, self._session, len(self._turns), speaker, "", said,
                own_id=f"D{self._session}:{place + 1}",
            )  # fmt: skip
            subject = self._subject(speaker, done, early=early) if self._chance.random() < share else None
            if subject is None:
                turn = replace(turn, text=self._chatter())
            else:
                done.add((subject[0], subject[1].name))
                telling = self._telling(*subject, turn)
                told.append(telling)
                turn = telling.turn
            self._turns.append(turn)
        return told

    def goals(self) -> list[Standing]:
        """Return the goals about this chat: single facts, yes/no questions, and questions of two steps."""
        made = []
        for person in self._people:
            one, other, asked = self._chance.sample(SLOTS, 3)
            made += [
                Standing(self._name, SINGLE, each.question.format(person=person), person, (each,))
                for each in (one, other)
            ]
            value = self._now.get((person, asked.name)) or self._chance.choice(asked.values)
            made.append(
                Standing(self._name, CLOSED, _CLOSED[asked.name].format(person, value), person, (asked,), value)
            )
            question = f"Where does {person}'s flatmate work?"
            made.append(Standing(self._name, TWO_STEPS, question, person, (FLATMATE, THEIR_WORK)))
        return made

    def _subject(self, speaker: str, done: set[Matter], *, early: bool) -> tuple[str, Slot] | None:
        """Return the person and slot that the speaker mentions next, of self or flatmate; None if all are done."""
        matters = [(speaker, slot) for slot in (*SLOTS, FLATMATE)]
        if flatmate := self._now.get((speaker, FLATMATE.name)):
            matters += [(flatmate, THEIR_WORK)] * 2
        free = [
            (person, slot)
            for person, slot in matters
            if (person, slot.name) not in done and not (early and (person, slot.name) in self._held_back)
        ]
        return self._chance.choice(free) if free else None

    def _telling(self, person: str, slot: Slot, turn: Turn) -> Telling:
        """Return a statement on the person's slot, of a random kind, in `turn`; update the present value."""
        before, chance = self._now.get((person, slot.name)), self._chance
        kind = Kind.NEW
        if before is not None:
            kind = chance.choices([Kind.CHANGE, Kind.CORRECTION, Kind.REPEAT, Kind.END], (45, 10, 35, 10))[0]
        value = before
        if value is None or kind not in (Kind.REPEAT, Kind.END):
            taken = {before, *(self._now.get((each, FLATMATE.name)) for each in self._people)}
            value = chance.choice([each for each in slot.values or self._others if each not in taken])
        forms = {Kind.CORRECTION: slot.corrected, Kind.REPEAT: slot.repeated, Kind.END: slot.left}
        text = forms.get(kind, slot.told).format(value=value, person=person)
        self._now[person, slot.name] = None if kind is Kind.END else value
        return Telling(person, slot, value, kind, replace(turn, text=text))

    def _chatter(self) -> str:
        """Return a text that states no fact that a goal asks for."""
        chance = self._chance
        if chance.random() < 0.5:
            return chance.choice(CHATTER)
        form, name = chance.choice(_BESIDE)
        return form.format(value=chance.choice(next(slot.values for slot in SLOTS if slot.name == name)))

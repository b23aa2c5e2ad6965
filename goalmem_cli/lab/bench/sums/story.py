"""Events in two people's lives over months, and the turns that tell them, among similar distractors."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from goalmem_cli.lab.bench.changes.story import PEOPLE
from goalmem_cli.logic.days import WEEKDAYS
from goalmem_cli.records import Turn

KINDS = ("lamp", "chair", "jacket", "teapot", "rug", "mirror", "backpack", "vase")
LOOKS = (
    "brass", "wooden", "blue", "folding", "striped", "vintage", "green", "yellow", "woollen", "painted", "silver",
    "linen", "oak", "copper", "purple", "square",
)  # fmt: skip
TOWNS = (
    "Leeds", "Porto", "Ghent", "Turin", "Bergen", "Lyon", "Krakow", "Seville", "Bremen", "Aarhus", "Tallinn", "Graz",
)  # fmt: skip
COURSES = ("pottery", "Spanish", "sailing", "cooking", "drawing", "welding", "salsa", "first aid")
_CHATTER = (
    "It has been raining here since the morning.", "My knee is much better, thanks for asking.",
    "I could not sleep last night, the neighbours were so loud.", "Shall we talk again at the weekend?",
    "The bus was late again, as always.", "I am reading a long novel about the sea.",
    "Work is busy, everybody wants something before the holidays.", "That sounds lovely, tell me more!",
    "I burnt the soup and had to open all the windows.", "My brother says hello, by the way.",
)  # fmt: skip
MOST_OF_A_KIND = 8
"""The most things of a kind that a person buys."""
MOST_TOWNS, MOST_VISITS = 6, 12
"""The most towns that a person visits, and the most visits in total."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """A thing that a person bought, with its turn."""

    person: str
    kind: str
    thing: str
    price: int
    day: date
    turn: str


@dataclass(frozen=True, slots=True)
class Visit:
    """A person's day in a town, with its turn."""

    person: str
    town: str
    day: date
    turn: str


@dataclass(frozen=True, slots=True)
class Course:
    """A course that a person took, with its first and last day and its turn."""

    person: str
    subject: str
    first: date
    last: date
    turn: str


@dataclass(slots=True)
class Story:
    """One conversation and the events told in it."""

    name: str
    people: tuple[str, str]
    turns: list[Turn] = field(default_factory=list)
    purchases: list[Purchase] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    courses: list[Course] = field(default_factory=list)

    @property
    def asked(self) -> datetime:
        """The time of asking: a week after the last turn."""
        return max(turn.said for turn in self.turns if turn.said is not None) + timedelta(days=7)


def made_up_story(name: str, turns: int, seed: int) -> Story:
    """Return a story of `turns` turns; equal arguments give equal stories."""
    chance = random.Random(f"{name} {seed}")  # noqa: S311 - no secret, but the same each time
    first, second = chance.sample(PEOPLE, 2)
    return _Teller(Story(name, (first, second)), chance).told(turns)


class _Teller:
    """Generates a story session by session."""

    def __init__(self, story: Story, chance: random.Random) -> None:
        self._story = story
        self._chance = chance
        self._texts: set[tuple[str, str]] = set()
        self._things = {(person, kind): self._order(kind) for person in story.people for kind in KINDS}
        self._subjects = {person: chance.sample(COURSES, len(COURSES)) for person in story.people}
        self._days: dict[str, set[date]] = {person: set() for person in story.people}
        self._seen: Counter[tuple[str, str]] = Counter()

    def _order(self, kind: str) -> list[str]:
        return [f"{look} {kind}" for look in self._chance.sample(LOOKS, MOST_OF_A_KIND)]

    def told(self, turns: int) -> Story:
        """Return the story extended to `turns` turns."""
        moment = datetime(2022, 1, 3, 18, 30) + timedelta(days=self._chance.randrange(300))
        session = 0
        while len(self._story.turns) < turns:
            session += 1
            moment = (moment + timedelta(days=self._chance.randint(2, 6))).replace(hour=self._chance.randint(8, 21))
            for place in range(1, min(self._chance.randint(6, 12), turns - len(self._story.turns)) + 1):
                said = moment + timedelta(minutes=3 * place)
                self._say(session, f"D{session}:{place}", self._story.people[place % 2], said)
        return self._story

    def _say(self, session: int, label: str, speaker: str, said: datetime) -> None:
        """Add one turn: an event, a distractor, or small talk."""
        ways = (self._bought, self._was_there, self._learnt, self._lookalike)
        (way,) = self._chance.choices(ways, (30, 18, 4, 30))
        is_telling = self._chance.random() < 0.7
        text = (way(label, speaker, said) if is_telling else "") or self._chance.choice(_CHATTER)
        self._texts.add((speaker, text))
        turns = self._story.turns
        turns.append(Turn(self._story.name, session, len(turns), speaker, text, said, own_id=label))

    def _day(self, speaker: str, said: datetime, *, is_own: bool = True) -> tuple[date, str] | None:
        """Return a recent day for which the speaker has told nothing yet, with its wording; None if it is taken."""
        back = self._chance.choice((0, 0, 1, 1, 2, 3))
        day = said.date() - timedelta(days=back)
        if is_own and day in self._days[speaker]:
            return None
        words = {0: "today", 1: "yesterday"}.get(back) or self._chance.choice(
            (f"on {WEEKDAYS[day.weekday()].capitalize()}", f"on {day.day} {day:%B}")
        )
        return day, words

    def _bought(self, label: str, speaker: str, said: datetime) -> str:
        kind = self._chance.choice(KINDS)
        left, when = self._things[speaker, kind], self._day(speaker, said)
        if not left or when is None:
            return ""
        thing, price = left[-1], self._chance.randint(8, 240)
        text = self._chance.choice(
            (
                f"I bought a {thing} for {price} euros {when[1]}.",
                f"Guess what, {when[1]} I got myself a {thing}, {price} euros.",
                f"I paid {price} euros for a {thing} {when[1]}, and it was worth it.",
            )
        )
        if (speaker, text) in self._texts:
            return ""
        left.pop()
        self._days[speaker].add(when[0])
        self._story.purchases.append(Purchase(speaker, kind, thing, price, when[0], label))
        return text

    def _was_there(self, label: str, speaker: str, said: datetime) -> str:
        town, when = self._chance.choice(TOWNS), self._day(speaker, said)
        if when is None or self._visits(speaker) >= MOST_VISITS or self._towns(speaker, town) > MOST_TOWNS:
            return ""
        text = self._chance.choice(
            (f"I was in {town} {when[1]}, just for the day.", f"I went to {town} {when[1]} and walked for hours.")
        )
        if (speaker, text) in self._texts:
            return ""
        self._seen[speaker, town] += 1
        self._days[speaker].add(when[0])
        self._story.visits.append(Visit(speaker, town, when[0], label))
        return text

    def _visits(self, speaker: str) -> int:
        return sum(times for (person, _), times in self._seen.items() if person == speaker)

    def _towns(self, speaker: str, town: str) -> int:
        return len({name for person, name in self._seen if person == speaker} | {town})

    def _learnt(self, label: str, speaker: str, said: datetime) -> str:
        left = self._subjects[speaker]
        if not left:
            return ""
        last = said.date() - timedelta(days=self._chance.randint(1, 4))
        first = last - timedelta(days=self._chance.randint(5, 50))
        subject = left.pop()
        self._story.courses.append(Course(speaker, subject, first, last, label))
        return f"My {subject} course began on {_said(first)} and ended on {_said(last)}."

    def _lookalike(self, label: str, speaker: str, said: datetime) -> str:  # noqa: ARG002 - as the others are called
        """Return a distractor: another person's event, a wish, or a thing not bought."""
        look, kind = self._chance.choice(LOOKS), self._chance.choice(KINDS)
        price, town = self._chance.randint(8, 240), self._chance.choice(TOWNS)
        when = self._day(speaker, said, is_own=False)
        return self._chance.choice(
            (
                f"My sister bought a {look} {kind} for {price} euros {when[1] if when else 'today'}.",
                f"I nearly bought a {look} {kind}, but {price} euros is too much.",
                f"One day I want a {look} {kind}.",
                f"My cousin was in {town} {when[1] if when else 'today'}.",
                f"I would love to see {town} one day.",
                f"They asked {price} euros for a {look} {kind}, so I left it there.",
            )
        )


def _said(day: date) -> str:
    return f"{day.day} {day:%B %Y}"

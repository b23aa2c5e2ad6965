"""Generated facts about people over months, and the turns that state them: new, changed, corrected, repeated, ended."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise

from goalmem_cli.records import Conversation, Turn

PEOPLE = (
    "Amara", "Bruno", "Celia", "Dmitri", "Elif", "Farid", "Greta", "Hiro", "Imke", "Jonas", "Kofi", "Leila", "Mateo",
    "Nadia", "Oskar", "Priya", "Quentin", "Rosa", "Sanne", "Tariq",
)  # fmt: skip
FACTS_A_CONVERSATION = 100
_A_SESSION = 10
CHATTER = (
    "It rained the whole day here.", "My knee is much better, thanks.", "Shall we talk again at the weekend?",
    "The bus was late again.", "I am reading a long novel.", "Work is busy.", "Tell me more!", "I burnt the soup.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Slot:
    """A fact with one value at a time: its question, its wordings and its values.

    `statement` and `ended` are in the third person; `told`, `corrected`, `repeated` and `left` are what the person
    says.
    """

    name: str
    question: str
    statement: str
    ended: str
    told: str
    corrected: str
    repeated: str
    left: str
    values: tuple[str, ...]


SLOTS = (
    Slot(
        "home", "Where does {person} live?", "{person} lives in {value}.",
        "{person} does not live in {value} any more.",
        "We have moved, I live in {value} now.", "I put that wrongly: {value} is where I live.",
        "I still live in {value}, as you know.", "I do not live in {value} any more, and have no new place yet.",
        ("Leeds", "Porto", "Ghent", "Turin", "Bergen", "Lyon", "Krakow", "Seville", "Bremen", "Aarhus", "Tallinn"),
    ),
    Slot(
        "work", "Where does {person} work?", "{person} works at {value}.",
        "{person} does not work at {value} any more.",
        "I have a new job, I work at {value} now.", "I said it wrongly: {value} is where I work.",
        "I still work at {value}.", "I do not work at {value} any more, and am looking around.",
        ("Brightwell", "Norwick", "Halden", "Castor", "Merrin", "Ostara", "Pellier", "Quarry House", "Redfern"),
    ),
    Slot(
        "own", "What does {person} drive?", "{person} drives {value}.", "{person} does not drive {value} any more.",
        "I bought {value}, that is what I drive now.", "No, wrong: it is {value} that I drive.",
        "I still drive {value}.", "I do not drive {value} any more, I sold it.",
        ("a Fiat", "a Volvo", "a Skoda", "a Toyota", "a Peugeot", "a Mazda", "a Saab", "a Lancia"),
    ),
    Slot(
        "like", "What does {person} like best to drink?", "{person} likes {value} best to drink.",
        "{person} does not like {value} best to drink any more.",
        "I have found out that I like {value} best to drink.", "I meant {value}, that is what I like best to drink.",
        "I still like {value} best to drink.", "I do not like {value} best to drink any more, nor anything else.",
        ("green tea", "cocoa", "matcha", "lemonade", "espresso", "cider", "oolong", "buttermilk"),
    ),
)  # fmt: skip


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
    def holds(self) -> str | None:
        """The value from then on; None after an end."""
        return None if self.kind is Kind.END else self.value

    @property
    def statement(self) -> str:
        """The content as a self-contained sentence."""
        form = self.slot.ended if self.kind is Kind.END else self.slot.statement
        return form.format(person=self.person, value=self.value)


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
        told = [
            each
            for each in self.tellings
            if (each.person, each.slot) == (person, slot) and (at is None or _said(each) <= at)
        ]
        return told[-1].holds if told else None


def made_up_histories(facts: int, seed: int) -> list[History]:
    """Return histories with `facts` facts in total, at most 100 each; equal arguments give equal results."""
    chance = random.Random(seed)  # noqa: S311 - no secret, but the same each time
    sizes = [FACTS_A_CONVERSATION] * (facts // FACTS_A_CONVERSATION)
    if rest := facts % FACTS_A_CONVERSATION:
        sizes.append(rest)
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
                    history.state(person, slot, at), _told_as(tellings),
                )
                for at in (None, ends[chance.choice(before)])
            )  # fmt: skip
            yield now, then


def _told_as(tellings: Sequence[Telling]) -> str:
    """Return how the present value was stated last: as a correction, repeat, end, return or change."""
    *before, last = tellings
    others = [place for place, each in enumerate(before) if each.holds != last.holds]
    is_return = bool(others) and any(each.holds == last.holds for each in before[: others[-1]])
    is_back = last.kind in (Kind.NEW, Kind.CHANGE) and is_return
    return RETURN if is_back else last.kind.value


def _history(name: str, facts: int, chance: random.Random) -> History:
    """Return a conversation of two people with `facts` statements, three in four turns; the other turns are chatter."""
    people = chance.sample(PEOPLE, 2)
    moment = datetime(2022, 1, 3, 18, 30) + timedelta(days=chance.randrange(300))
    now: dict[tuple[str, str], str | None] = {}
    turns: list[Turn] = []
    tellings: list[Telling] = []
    while len(tellings) < facts:
        session, place = divmod(len(turns), _A_SESSION)
        if not place:
            moment += timedelta(days=chance.randint(2, 9))
        said, speaker = moment + timedelta(minutes=3 * place), people[len(turns) % 2]
        turn = Turn(
            name, session, len(turns), speaker, chance.choice(CHATTER), said, own_id=f"D{session + 1}:{place + 1}"
        )
        if chance.random() < 0.75:  # the rest is chatter
            told = _told(speaker, now, turn, chance)
            turn = told.turn
            tellings.append(told)
        turns.append(turn)
    return History(Conversation(name, "changes", tuple(turns), own_id=name), tuple(tellings))


def _told(person: str, now: dict[tuple[str, str], str | None], turn: Turn, chance: random.Random) -> Telling:
    """Return a person's next statement, and update the present values in `now`."""
    slot = chance.choice(SLOTS)
    before = now.get((person, slot.name))
    kinds: Sequence[Kind] = [Kind.NEW]
    if before is not None:
        kinds = chance.choices([Kind.CHANGE, Kind.CORRECTION, Kind.REPEAT, Kind.END], (45, 10, 35, 10))
    kind = kinds[0]
    value = before if before is not None and kind in (Kind.REPEAT, Kind.END) else _other(slot, before, chance)
    forms = {Kind.CORRECTION: slot.corrected, Kind.REPEAT: slot.repeated, Kind.END: slot.left}
    text = forms.get(kind, slot.told).format(value=value)
    told = replace(turn, text=text)
    now[person, slot.name] = None if kind is Kind.END else value
    return Telling(person, slot, value, kind, told)


def _other(slot: Slot, value: str | None, chance: random.Random) -> str:
    return chance.choice([other for other in slot.values if other != value])


def _said(telling: Telling) -> datetime:
    if telling.turn.said is None:
        raise ValueError("a telling has a time")
    return telling.turn.said

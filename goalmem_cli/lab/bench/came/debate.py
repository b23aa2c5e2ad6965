"""Debates: two sides argue several motions at once, each under several aspects, with rematches."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from goalmem_cli.lab.bench.came.came_questions import (
    MULTI_HOP,
    RECALL,
    REVISION,
    SYNTHESIS,
    Asker,
    AskForm,
    Attribute,
    Domain,
    Slot,
    TurnList,
    Words,
    ordinal,
)
from goalmem_cli.lab.bench.came.records import FOCUS, Event, Form, Move, Place, StoryQuestion, StoryTurn, Thread, merged

PRO, CON = "pro", "con"
SIDES = (PRO, CON)
INFORM = "supply background"
ARGUE, ATTACK, DEFEND = CITING = ("propose argument", "attack argument", "defend argument")
CONCEDE, CORRECT, WITHDRAW = "concede argument", "correct figure", "withdraw evidence"
ELABORATE, SUMMARISE = "elaborate", "summarise"

MOTIONS = (
    "closing town centres to cars", "a four-day school week", "making museums free", "a tax on flights",
    "lending out public land for gardens", "ending homework", "compulsory voting", "a ban on night deliveries",
    "paying carers a wage", "moving offices out of the capital", "lights off in shops at night",
    "selling school buildings",
)  # fmt: skip
SUBJECTS = (
    "shop owners", "pensioners", "students", "night workers", "young families", "small towns", "hospitals", "farmers",
    "tenants", "bus drivers", "teachers", "villages on the coast", "nurses", "newcomers",
)  # fmt: skip
CLAIMS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    PRO: {
        "cost": ("would pay less over a year", "would save on upkeep", "would get cheaper loans"),
        "health": ("would sleep better", "would see a doctor less often", "would walk more"),
        "safety": ("would have fewer accidents", "would feel safer after dark", "would get help sooner"),
        "fairness": ("would be treated alike", "would have a say at last", "would get what is due to them"),
        "jobs": ("would find work nearer home", "would be hired sooner", "would learn a second trade"),
    },
    CON: {
        "cost": ("would pay higher fees", "would lose steady income", "would carry the cost of the change"),
        "health": ("would be under more stress", "would miss regular meals", "would sit indoors longer"),
        "safety": ("would face new dangers", "would be left without guards", "would wait longer for help"),
        "fairness": ("would be left behind", "would carry more than their share", "would have no choice left"),
        "jobs": ("would lose their posts", "would work odd hours", "would earn less by the hour"),
    },
}
"""The claims that each side may make about a subject, by aspect."""

FIGURE = Attribute("Figure", "the figure", tuple(f"{share} percent" for share in range(11, 90)))
BACKGROUND = (
    Attribute("people", "the number of people concerned", tuple(f"{n} thousand people" for n in range(12, 95))),
    Attribute("budget", "the yearly budget", tuple(f"{n} million euros" for n in range(3, 89))),
    Attribute("towns", "the number of towns that have tried it", tuple(f"{n} towns" for n in range(4, 68))),
)

_CITED = ("Argument", "Evidence", "Figure")
WORDS = Words(
    roles=SIDES,
    slots={"": Slot((), "argument", "", "on {scope} in the {topic}", (FIGURE, *BACKGROUND))},
    types={
        INFORM: ("Background", "Figure"), CONCEDE: ("Argument",), ELABORATE: ("Argument",), WITHDRAW: ("Evidence",),
        CORRECT: ("Evidence", "Figure"), ARGUE: _CITED, ATTACK: _CITED, DEFEND: _CITED,
    },
    texts={
        FOCUS: ("",),
        INFORM: ("For orientation, {what} is {value}.", "To set the frame, we put {what} at {value}."),
        ARGUE: ("We hold that {claim}. {other} finds it for {value}.", "Consider that {claim}: {other} has {value}."),
        ATTACK: ("{target} does not hold: {other} has the reverse for {value}.", "{other} refutes {target}: {value}."),
        DEFEND: ("{target} stands: {other} has {value}.", "We keep to {target}, for {other} has {value}."),
        CONCEDE: ("We give up {target}, the objection was a fair one.", "Very well, we concede {target}."),
        CORRECT: ("On {target} I misread {other}: it says {value}.", "A correction on {target}: {other} has {value}."),
        WITHDRAW: ("On {target} I withdraw {other}.", "For {target} please disregard {other}, a small sample."),
        ELABORATE: ("[{whose} reason]. [appeal]",),
        SUMMARISE: ("That is our side of the matter here.", "With this we close, and leave the rest to the judges."),
    },
    pools={
        "our reason": (
            "{target} is not a matter of taste but of what people meet every day",
            "one need only ask in any street to hear what lies behind {target}",
            "it would be too easy to set {target} aside as a detail",
            "the other side has nothing to set against {target}",
        ),
        "your reason": (
            "{target} sounds well until one asks who would notice it",
            "one need only ask in any street to hear the doubts about {target}",
            "take {target} away and little of their case remains",
            "there is a long history to {target}, and it points the other way",
        ),
        "appeal": (
            "Those who would have to live with the outcome deserve an honest reckoning.",
            "I ask everybody in this room to think of somebody they know.",
            "The burden of showing otherwise lies across the table.",
            "We will come back to it as often as we have to.",
        ),
    },
    references={
        "target": {
            Form.NAME: ("{whose} argument that {name}",),
            Form.ORDINAL: ("{whose} {nth} argument", "{whose} {nth} point"),
            Form.PRONOUN: ("that argument", "this point", "that claim"),
        },
        "other": {
            Form.NAME: ("{name}",),
            Form.ORDINAL: ("the {nth} study that I cited there",),
            Form.PRONOUN: ("that study", "this source", "the study just cited"),
        },
    },
    questions={
        "standing arguments": AskForm(REVISION, (ARGUE, CONCEDE),
            "Which of {owner}'s arguments {where} stand at the end, those conceded left out?"),
        "corrected figure": AskForm(REVISION, (CORRECT,),
            "Which figure does {owner} give from {target} {where}, after what was corrected?"),
        "withdrawn evidence": AskForm(REVISION, (WITHDRAW,), "Which evidence does {owner} withdraw {where}?"),
        "evidence kept": AskForm(REVISION, (*CITING, WITHDRAW),
            "Which evidence does {owner} rely on at the end {where}, apart from what was withdrawn?", ("Evidence",)),
        "figure": AskForm(RECALL, CITING,
            "Which figure does {owner} give from {target} {where}?", ("Evidence", "Figure")),
        "background": AskForm(RECALL, (INFORM,), "What is {what} that {owner} gives as background {where}?"),
        "evidence against the nth": AskForm(MULTI_HOP, (ARGUE, ATTACK),
            "Which evidence is cited against {owner}'s {nth} argument {where}?", _CITED[:2]),
        "figure in defence of the nth": AskForm(MULTI_HOP, (ARGUE, DEFEND),
            "Which figure is given in defence of {owner}'s {nth} argument {where}?"),
        "evidence against evidence": AskForm(MULTI_HOP, (ARGUE, ATTACK),
            "Which evidence is cited against the argument that {owner} based on {target} {where}?", _CITED[:2]),
        "evidence of all attacks": AskForm(SYNTHESIS, (ATTACK,),
            "Which evidence is cited against {owner}'s arguments in the {topic}, under any aspect?",
            ("Evidence",)),
        "all concessions": AskForm(SYNTHESIS, (CONCEDE,),
            "Which arguments are conceded in the {topic}, by either side and under any aspect?"),
    },
    is_cited=True,
)  # fmt: skip


_REMATCH = 0.4
_AUTHORS = """Adair Bexley Cordova Drummond Eriksen Falcone Galloway Hsieh Imamura Jellinek Kowal Lindqvist Mbeki Novak
Okonjo Petrov Quiroga Rosseau Sandoval Tamsin""".split()
_STUDIES = tuple(f"{author} ({year})" for author in _AUTHORS for year in (2017, 2023))
_ASPECTS, _ARGUMENTS = (3, 5), (2, 4)
_OTHER = {PRO: CON, CON: PRO}


def _topics(world: str, chance: random.Random) -> Iterator[list[Thread]]:
    """Yield the threads of one round after another, one per aspect of its motion: new motions and rematches."""
    rounds: Counter[str] = Counter()
    while True:
        motion = chance.choice(list(rounds) if rounds and chance.random() < _REMATCH else MOTIONS)
        rounds[motion] += 1
        places = [
            Place(f"{ordinal(rounds[motion])} round on {motion}", aspect)
            for aspect in chance.sample(list(CLAIMS[PRO]), chance.randint(*_ASPECTS))
        ]
        yield [Thread(place, _Dispute(world, place, chance).moves()) for place in places]


class _Dispute:
    """What both sides say under one aspect; a study is cited at most once in it."""

    def __init__(self, world: str, place: Place, chance: random.Random) -> None:
        self._world, self._place, self._chance = world, place, chance
        self._studies = chance.sample(_STUDIES, len(_STUDIES))

    def moves(self) -> list[Move]:
        """Return the moves in order: background, the arguments with their replies, and two summaries."""
        chance = self._chance
        opening = []
        for side in SIDES:
            attribute = chance.choice(BACKGROUND)
            value = attribute.value(self._world, side, self._place.label)
            opening.append((Event(INFORM, side, self._place, attribute=attribute.name, value=value),))
        chains = []
        for side in SIDES:
            claims = [f"{who} {what}" for who in SUBJECTS for what in CLAIMS[side][self._place.scope]]
            chains += [self._about(side, claim) for claim in chance.sample(claims, chance.randint(*_ARGUMENTS))]
        ending = [(Event(SUMMARISE, side, self._place),) for side in chance.sample(SIDES, 2)]
        return [*chance.sample(opening, chance.randint(0, 2)), *merged(chains, chance), *ending]

    def _about(self, owner: str, claim: str) -> list[Move]:
        """Return the moves about one argument; a concession follows an attack and a defence."""
        moves = self._cited(ARGUE, owner, claim, owner)
        if self._chance.random() < 0.75:
            moves += self._cited(ATTACK, _OTHER[owner], claim, owner)
            if self._chance.random() < 0.7:
                moves += self._cited(DEFEND, owner, claim, owner)
                if self._chance.random() < 0.5:
                    moves.append((Event(CONCEDE, owner, self._place, claim, owner=owner),))
        return moves

    def _cited(self, kind: str, role: str, claim: str, owner: str) -> list[Move]:
        """Return a move that cites a study, with elaborations, and sometimes a correction or withdrawal of it."""
        study, place = self._studies.pop(), self._place
        value = FIGURE.value(self._world, study, place.label)
        more = Event(ELABORATE, role, place, claim, owner=owner)
        cited = Event(kind, role, place, claim, study, FIGURE.name, value, owner)
        moves: list[Move] = [(cited, *[more] * self._chance.randint(0, 2))]
        drawn = self._chance.random()
        if drawn < 0.13:
            other = self._chance.choice([figure for figure in FIGURE.values if figure != value])
            moves.append((Event(CORRECT, role, place, claim, study, FIGURE.name, other, owner),))
        elif drawn < 0.22:
            moves.append((Event(WITHDRAW, role, place, claim, study, owner=owner),))
        return moves


def _questions(turns: Sequence[StoryTurn]) -> Iterator[StoryQuestion]:
    asker = Asker(WORDS, turns, (*CITING, CORRECT))
    for place, said in asker.places.items():
        for side in SIDES:
            yield from _about_side(asker, place, said, side)
            yield from _about_arguments(asker, place, said, side)
        for (study, figure), cited in said.of(*CITING, CORRECT).by_thing().items():
            ask = partial(asker.ask, target=study, attribute=figure, owner=cited[0].role)
            form, is_hard = "figure" if len(cited) == 1 else "corrected figure", asker.is_told_elsewhere(cited)
            yield ask(form, [cited[-1].event.value], cited[-1:], place, is_hard=is_hard)
        for turn in said.of(INFORM):
            name, value = turn.event.attribute, turn.event.value
            yield asker.ask("background", [value], [turn], place, attribute=name, owner=turn.role)
    for topic, places in asker.topics().items():
        whole, said = Place(topic, ""), TurnList(turn for found in places.values() for turn in found)
        for side in SIDES:
            if len(attacks := said.of(ATTACK, owner=side)) > 1:
                yield asker.ask("evidence of all attacks", attacks.by("other"), attacks, whole, owner=side)
        if len(conceded := said.of(CONCEDE)) > 1:
            yield asker.ask("all concessions", conceded.by("target"), conceded, whole)


def _about_side(asker: Asker, place: Place, said: TurnList, side: str) -> Iterator[StoryQuestion]:
    """Yield questions on the fate of a side's arguments and evidence."""
    argued, conceded = said.of(ARGUE, owner=side), said.of(CONCEDE, owner=side)
    standing = argued.by("target").keys() - conceded.by("target").keys()
    if conceded and standing:
        answers = [claim for claim in argued.by("target") if claim in standing]
        yield asker.ask("standing arguments", answers, [*argued, *conceded], place, owner=side)
    cited, withdrawn = said.of(*CITING, role=side), said.of(WITHDRAW, role=side)
    if withdrawn:
        gone = withdrawn.by("other")
        yield asker.ask("withdrawn evidence", gone, withdrawn, place, owner=side)
        if kept := [study for study in cited.by("other") if study not in gone]:
            yield asker.ask("evidence kept", kept, [*cited, *withdrawn], place, owner=side)


def _about_arguments(asker: Asker, place: Place, said: TurnList, side: str) -> Iterator[StoryQuestion]:
    """Yield questions on the evidence about a side's nth argument."""
    argued = said.of(ARGUE, owner=side)
    corrected = said.of(CORRECT).by("other")
    for number, turn in enumerate(argued, 1):
        claim, before, nth = turn.event.target, argued[:number], ordinal(number)
        ask = partial(asker.ask, place=place, owner=side)
        for attack in said.of(ATTACK, target=claim):
            answer, study = [attack.event.other], turn.event.other
            yield ask("evidence against the nth", answer, [*before, attack], target=claim, nth=nth)
            yield ask("evidence against evidence", answer, [turn, attack], target=study)
        for defence in said.of(DEFEND, target=claim):
            if defence.event.other not in corrected:
                answer = [defence.event.value]
                yield ask("figure in defence of the nth", answer, [*before, defence], target=claim, nth=nth)


DEBATE = Domain(WORDS, _topics, _questions)

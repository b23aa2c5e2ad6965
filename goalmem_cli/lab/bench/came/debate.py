"""Debates: two sides argue several motions at once, each under several aspects, with rematches."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from goalmem_cli.lab.bench.came import debate_words as words
from goalmem_cli.lab.bench.came.came_questions import Asker, Domain, TurnList
from goalmem_cli.lab.bench.came.debate_words import CITING, CON, FIGURE, PRO, SIDES, WORDS
from goalmem_cli.lab.bench.came.interleaving import Move, Thread, merged
from goalmem_cli.lab.bench.came.records import Event, Place, StoryQuestion, StoryTurn
from goalmem_cli.lab.bench.came.wording import ordinal

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
        motion = chance.choice(list(rounds) if rounds and chance.random() < _REMATCH else words.MOTIONS)
        rounds[motion] += 1
        places = [
            Place(f"{ordinal(rounds[motion])} round on {motion}", aspect)
            for aspect in chance.sample(list(words.CLAIMS[PRO]), chance.randint(*_ASPECTS))
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
            attribute = chance.choice(words.BACKGROUND)
            value = attribute.value(self._world, side, self._place.label)
            opening.append((Event(words.INFORM, side, self._place, attribute=attribute.name, value=value),))
        chains = []
        for side in SIDES:
            claims = [f"{who} {what}" for who in words.SUBJECTS for what in words.CLAIMS[side][self._place.scope]]
            chains += [self._about(side, claim) for claim in chance.sample(claims, chance.randint(*_ARGUMENTS))]
        ending = [(Event(words.SUMMARISE, side, self._place),) for side in chance.sample(SIDES, 2)]
        return [*chance.sample(opening, chance.randint(0, 2)), *merged(chains, chance), *ending]

    def _about(self, owner: str, claim: str) -> list[Move]:
        """Return the moves about one argument; a concession follows an attack and a defence."""
        moves = self._cited(words.ARGUE, owner, claim, owner)
        if self._chance.random() < 0.75:
            moves += self._cited(words.ATTACK, _OTHER[owner], claim, owner)
            if self._chance.random() < 0.7:
                moves += self._cited(words.DEFEND, owner, claim, owner)
                if self._chance.random() < 0.5:
                    moves.append((Event(words.CONCEDE, owner, self._place, claim, owner=owner),))
        return moves

    def _cited(self, kind: str, role: str, claim: str, owner: str) -> list[Move]:
        """Return a move that cites a study, with elaborations, and sometimes a correction or withdrawal of it."""
        study, place = self._studies.pop(), self._place
        value = FIGURE.value(self._world, study, place.label)
        more = Event(words.ELABORATE, role, place, claim, owner=owner)
        cited = Event(kind, role, place, claim, study, FIGURE.name, value, owner)
        moves: list[Move] = [(cited, *[more] * self._chance.randint(0, 2))]
        drawn = self._chance.random()
        if drawn < 0.13:
            other = self._chance.choice([figure for figure in FIGURE.values if figure != value])
            moves.append((Event(words.CORRECT, role, place, claim, study, FIGURE.name, other, owner),))
        elif drawn < 0.22:
            moves.append((Event(words.WITHDRAW, role, place, claim, study, owner=owner),))
        return moves


def _questions(turns: Sequence[StoryTurn]) -> Iterator[StoryQuestion]:
    asker = Asker(WORDS, turns, (*CITING, words.CORRECT))
    for place, said in asker.places.items():
        for side in SIDES:
            yield from _about_side(asker, place, said, side)
            yield from _about_arguments(asker, place, said, side)
        for (study, figure), cited in said.of(*CITING, words.CORRECT).by_thing().items():
            ask = partial(asker.ask, target=study, attribute=figure, owner=cited[0].role)
            form, is_hard = "figure" if len(cited) == 1 else "corrected figure", asker.is_told_elsewhere(cited)
            yield ask(form, [cited[-1].event.value], cited[-1:], place, is_hard=is_hard)
        for turn in said.of(words.INFORM):
            name, value = turn.event.attribute, turn.event.value
            yield asker.ask("background", [value], [turn], place, attribute=name, owner=turn.role)
    for topic, places in asker.topics().items():
        whole, said = Place(topic, ""), TurnList(turn for found in places.values() for turn in found)
        for side in SIDES:
            if len(attacks := said.of(words.ATTACK, owner=side)) > 1:
                yield asker.ask("evidence of all attacks", attacks.by("other"), attacks, whole, owner=side)
        if len(conceded := said.of(words.CONCEDE)) > 1:
            yield asker.ask("all concessions", conceded.by("target"), conceded, whole)


def _about_side(asker: Asker, place: Place, said: TurnList, side: str) -> Iterator[StoryQuestion]:
    """Yield questions on the fate of a side's arguments and evidence."""
    argued, conceded = said.of(words.ARGUE, owner=side), said.of(words.CONCEDE, owner=side)
    standing = argued.by("target").keys() - conceded.by("target").keys()
    if conceded and standing:
        answers = [claim for claim in argued.by("target") if claim in standing]
        yield asker.ask("standing arguments", answers, [*argued, *conceded], place, owner=side)
    cited, withdrawn = said.of(*CITING, role=side), said.of(words.WITHDRAW, role=side)
    if withdrawn:
        gone = withdrawn.by("other")
        yield asker.ask("withdrawn evidence", gone, withdrawn, place, owner=side)
        if kept := [study for study in cited.by("other") if study not in gone]:
            yield asker.ask("evidence kept", kept, [*cited, *withdrawn], place, owner=side)


def _about_arguments(asker: Asker, place: Place, said: TurnList, side: str) -> Iterator[StoryQuestion]:
    """Yield questions on the evidence about a side's nth argument."""
    argued = said.of(words.ARGUE, owner=side)
    corrected = said.of(words.CORRECT).by("other")
    for number, turn in enumerate(argued, 1):
        claim, before, nth = turn.event.target, argued[:number], ordinal(number)
        ask = partial(asker.ask, place=place, owner=side)
        for attack in said.of(words.ATTACK, target=claim):
            answer, study = [attack.event.other], turn.event.other
            yield ask("evidence against the nth", answer, [*before, attack], target=claim, nth=nth)
            yield ask("evidence against evidence", answer, [turn, attack], target=study)
        for defence in said.of(words.DEFEND, target=claim):
            if defence.event.other not in corrected:
                answer = [defence.event.value]
                yield ask("figure in defence of the nth", answer, [*before, defence], target=claim, nth=nth)


DEBATE = Domain(WORDS, _topics, _questions)

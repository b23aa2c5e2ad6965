"""The closed world of debate: motions, what can be claimed under each aspect, and studies with their figures."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from goalmem_cli.lab.bench.came.wording import ordinal

PRO, CON = "pro", "con"
SIDES = (PRO, CON)

MOTIONS = (
    "closing town centres to cars", "a four-day school week", "making museums free", "a tax on flights",
    "lending out public land for gardens", "ending homework", "compulsory voting", "a ban on night deliveries",
    "paying carers a wage", "moving offices out of the capital", "lights off in shops at night",
    "selling school buildings",
)  # fmt: skip
_REMATCH = 0.4


@dataclass(frozen=True, slots=True)
class Aspect:
    """One thing that a motion is argued under, with what each side may claim of somebody."""

    name: str
    claims: Mapping[str, tuple[str, ...]]


ASPECTS = (
    Aspect("cost", {
        PRO: ("would pay less over a year", "would save on upkeep", "would get cheaper loans"),
        CON: ("would pay higher fees", "would lose steady income", "would carry the cost of the change"),
    }),
    Aspect("health", {
        PRO: ("would sleep better", "would see a doctor less often", "would walk more"),
        CON: ("would be under more stress", "would miss regular meals", "would sit indoors longer"),
    }),
    Aspect("safety", {
        PRO: ("would have fewer accidents", "would feel safer after dark", "would get help sooner"),
        CON: ("would face new dangers", "would be left without guards", "would wait longer for help"),
    }),
    Aspect("fairness", {
        PRO: ("would be treated alike", "would have a say at last", "would get what is due to them"),
        CON: ("would be left behind", "would carry more than their share", "would have no choice left"),
    }),
    Aspect("jobs", {
        PRO: ("would find work nearer home", "would be hired sooner", "would learn a second trade"),
        CON: ("would lose their posts", "would work odd hours", "would earn less by the hour"),
    }),
    Aspect("freedom", {
        PRO: ("would have more time of their own", "would choose where to live", "would answer to fewer rules"),
        CON: ("would need more permits", "would be watched more closely", "would have to ask first"),
    }),
)  # fmt: skip

_SUBJECTS = (
    "shop owners", "pensioners", "students", "night workers", "young families", "small towns", "hospitals", "farmers",
    "tenants", "bus drivers", "teachers", "villages on the coast", "nurses", "newcomers",
)  # fmt: skip
_AUTHORS = """Adair Bexley Cordova Drummond Eriksen Falcone Galloway Hsieh Imamura Jellinek Kowal Lindqvist Mbeki Novak
Okonjo Petrov Quiroga Rosseau Sandoval Tamsin""".split()
_YEARS = (2014, 2017, 2020, 2023)
_SOURCES_A_DEBATE = 40

BACKGROUND: Mapping[str, str] = {
    "people concerned": "the number of people concerned",
    "yearly budget": "the yearly budget",
    "towns that tried it": "the number of towns that have tried it",
}
"""What is given as background, by name, as a question names it."""

_SIZES: Mapping[str, tuple[int, int, str]] = {
    "people concerned": (12, 94, "{} thousand people"),
    "yearly budget": (3, 88, "{} million euros"),
    "towns that tried it": (4, 67, "{} towns"),
}


class DebateWorld:
    """The studies that both sides of every debate cite, the same for every trajectory of a seed."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        chance = random.Random(f"{seed}: debate world")  # noqa: S311 - these are no secrets
        studies = [f"{author} ({year})" for author in _AUTHORS for year in _YEARS]
        self.sources = tuple(sorted(chance.sample(studies, _SOURCES_A_DEBATE)))

    def figure(self, source: str, when: str) -> str:
        """Return the share that a study is cited with on an occasion; it holds many."""
        return f"{self._number(f'{source}, {when}', 11, 89)} percent"

    def size(self, name: str, when: str) -> str:
        """Return a figure of the background of a motion, as a side gives it."""
        least, most, form = _SIZES[name]
        return form.format(self._number(f"{name}, {when}", least, most))

    def _number(self, what: str, least: int, most: int) -> int:
        return random.Random(f"{self._seed}: {what}").randint(least, most)  # noqa: S311 - likewise


def claims(aspect: Aspect, side: str, number: int, chance: random.Random) -> list[str]:
    """Return so many different claims of a side: who would fare how."""
    every = [f"{subject} {predicate}" for subject in _SUBJECTS for predicate in aspect.claims[side]]
    return chance.sample(every, number)


def rounds(chance: random.Random) -> Iterator[str]:
    """Yield what each round of debate is called, no two alike: new motions, and rematches on those already debated."""
    debated: dict[str, int] = {}
    while True:
        new = [motion for motion in MOTIONS if motion not in debated]
        is_rematch = debated and (not new or chance.random() < _REMATCH)
        motion = chance.choice(list(debated) if is_rematch else new)
        debated[motion] = debated.get(motion, 0) + 1
        yield f"{ordinal(debated[motion])} round on {motion}"

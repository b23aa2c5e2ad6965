"""Replace the names and shift the years of a conversation, alike in its turns, questions and plans."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random

from goalmem_cli.lab.evaluation.cases import Case, GoldPlan, GoldStep
from goalmem_cli.lab.evaluation.datasets.plans import MACHINE
from goalmem_cli.lab.tuning.corpus import Talk
from goalmem_cli.logic import parse_atom
from goalmem_cli.records import Turn

WOMEN = tuple(
    """Adaeze Agnes Aisha Alma Amara Amelia Anouk Anya Aoife Asha Astrid Aya Beata Bianca Bridget Camila Carla Carmen
    Celeste Chloe Clara Daniela Delia Dorothea Ebba Edith Eleanor Elena Elsa Emma Esther Eva Fatima Fiona Flora Freya
    Gabriela Gemma Gloria Hana Heidi Helen Hilde Ida Imani Ingeborg Irina Isabel Ivana Jana Jasmine Joan Johanna Julia
    Kamala Karin Kezia Laila Laura Lena Lidia Lina Lotte Lucia Magda Maia Malin Margot Maria Mariam Marlene Martha
    Matilda Maya Meera Mina Miriam Molly Nadine Naomi Nina Noor Nora Olga Olivia Paula Petra Philomena Rachel Ramona
    Rania Rebecca Rita Rosa Ruth Sabine Sadia Sakura Sarah Selma Shanti Signe Simone Sofia Stella Sunita Tamar Tanja
    Teresa Thandi Ulla Uma Ursula Valentina Vera Viola Wendy Xiu Yasmin Yvonne Zara Zoe""".split()
)
MEN = tuple(
    """Aaron Abdul Adam Adrian Ahmed Alan Albert Alex Amir Anders Andre Angus Antonio Ari Arnav Arthur Axel Babak
    Baptiste Ben Bilal Boris Bruno Carl Carlos Cedric Chen Christian Colin Conor Daniel David Dennis Dimitri Edgar
    Edward Emil Enzo Eric Ethan Ezra Felix Finn Francis Frank Gabriel George Gilbert Giorgio Goran Hamza Hans Harald
    Hassan Henry Hiro Hugo Ian Ibrahim Igor Ivan Jack Jacob James Javier Joao Joel John Joseph Juan Kai Kenji Kevin Kojo
    Lasse Leo Leon Liam Louis Lucas Luis Magnus Malik Marco Mario Martin Max Michael Miguel Milan Mohan Nathan Neil
    Nico Noah Oliver Omar Oscar Otto Owen Pablo Patrick Paul Pedro Peter Philip Rafael Rajesh Ralph Raymond Reza Richard
    Robert Roman Rupert Sam Sanjay Sebastian Simon Stefan Sven Tarek Thomas Tim Tom Umar Victor Vincent Walter William
    Xavier Yannick Yosef Zaid""".split()
)
PLACES = tuple(
    """Aberfell Antwerp Arles Ashby Austin Bath Bergen Bilbao Bologna Bombay Boston Bremen Brno Cadiz Cairo Calgary
    Cardiff Chester Cordoba Cork Dakar Dallas Denver Derby Dresden Dublin Durham Eastmoor Exeter Faro Galway Geneva
    Genoa Ghent Glasgow Graz Halifax Hamburg Hanoi Harrowgate Helsinki Houston Hull Innsbruck Izmir Jena Kampala Kiel
    Kingsbrook Lagos Leeds Leipzig Leuven Lima Limerick Lincoln Lisbon Lublin Lucerne Lyon Madison Malmo Manila Marburg
    Memphis Milan Montreal Nairobi Nantes Naples Norwich Odense Osaka Ostend Oxford Padua Palermo Perth Pisa Plymouth
    Porto Portland Poznan Quito Ravenna Reims Riga Rochester Rostock Rouen Salerno Salford Seville Siena Split Stirling
    Tampere Tangier Toledo Toulon Trieste Truro Turin Utrecht Valencia Verona Vigo Westerby Wexford York Zadar
    Zagreb""".split()
)
ONSETS = (
    "B Br C Cal Cor D Dal El F Fen G Gar H Hal J K Kel L Lor M Mar N Nor Or P Pel Qu R S Sel T Tar V Vel W Z".split()
)
MIDDLES = "a e i o u an en in on ar er or al el il am em and est ill".split()
ENDINGS = "ba da den do dor ga ka la lo ma mer mo na ne nix no ra ric ro sa ta tis ton va vane via wick xo".split()

NO_NAMES = frozenset(
    """Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mondays Tuesdays Wednesdays Thursdays Fridays Saturdays
    Sundays January February March April May June July August September October November December Jan Feb Mar Apr Jun
    Jul Aug Sep Sept Oct Nov Dec Christmas Easter Eve Year New Boxing Day Halloween Ramadan Diwali Eid Lent Passover
    Thanksgiving Valentine Midsummer Advent Epiphany English French German Dutch Greek Turkish Polish Swedish Danish
    Finnish Spanish Welsh Irish Scottish Czech Thai Arabic Swiss Hindi Urdu Swahili Yoruba Igbo Latin Hebrew Europe
    European Africa African Asia Asian America American The This That What When Where Who Why How And But Not Yes God
    Mr Mrs Ms Dr Miss Sir Lord Lady Saint San Santa Aunt Aunty Auntie Uncle Grandma Grandpa Granny Mum Mom Mama Mummy
    Dad Papa Daddy Assistant Wifi Internet Excel Google Zoom Monopoly Bluetooth""".split()
)
"""Capitalised words that are not replaced: the calendar, languages, forms of address."""

YEARS = (-28, 0, 28)
"""The possible shifts in years: after 28 years every date has the same weekday, leap days included."""
_YEAR = re.compile(r"(?<![\w.,€£$])(?:19|20)\d\d(?![\w%]|[.,]\d)")
_WORD = re.compile(r"\w+")
_INSIDE = re.compile(r"(?<=[\w,;)] )[^\W\d_][\w]*")  # a word inside a sentence
_PEOPLES = ("ish", "ese", "ian", "ians", "ean", "ans")
_TELLS_PERSON = frozenset(
    "said says told tells asked asks gave gives has had wants came called calls thinks who got took bought lent "
    "brought sent wrote lives moved works plays loves likes makes".split()
)
_RELATIVES = frozenset(
    "sister brother cousin friend aunt uncle colleague neighbour wife husband son daughter niece nephew boss mr mrs ms "
    "dr miss grandma grandpa granny girlfriend boyfriend partner baby named dona don with and".split()
)
_BEFORE_PLACE = frozenset("in to from near at towards via outside around leaving reach".split())
_PERSON_TYPES = frozenset(
    "person name sister brother cousin friend aunt uncle colleague neighbour wife husband son daughter relative buyer "
    "guest child man woman teacher doctor boss".split()
)
_PLACE_TYPES = frozenset(
    "place city town village country region island street station harbour venue destination".split()
)
_FEMALE = frozenset("she her hers mrs ms miss aunt sister wife daughter mother niece girlfriend grandma granny".split())
_MALE = frozenset("he him his mr uncle brother husband son father nephew boyfriend grandpa".split())


class Kind(StrEnum):
    """The kind of thing that a name denotes."""

    WOMAN = "woman"
    MAN = "man"
    PERSON = "person"
    PLACE = "place"
    THING = "thing"


@dataclass(frozen=True, slots=True)
class Renamed:
    """A conversation with new names and years, and the kind of each new name."""

    talk: Talk
    names: Mapping[str, Kind]


def rename(talk: Talk, kinds: Mapping[str, Kind], chance: Random, years: int = 0) -> Renamed:
    """Return the conversation shifted by `years`, with each name replaced by a random one of its kind."""
    taken = {word for text in _texts(talk) for word in _WORD.findall(text)}
    new: dict[str, str] = {}
    for name, kind in kinds.items():
        new[name] = _draw(kind, taken, chance)
        taken.add(new[name])
    written = dict(new)
    for speaker in talk.speakers:
        if speaker in new and speaker != MACHINE:
            written[speaker.lower()] = new[speaker].lower()  # some people write names in lower case
    return Renamed(_replaced(talk, written, years), {new[name]: kind for name, kind in kinds.items()})


def lower_words(talks: Iterable[Talk]) -> frozenset[str]:
    """Return the words that occur in lower case in some conversation; these are not names."""
    return frozenset(
        word
        for talk in talks
        for turn in talk.conversation.turns
        for word in _WORD.findall(turn.text)
        if word.islower()
    )


def names_of(talk: Talk, common: frozenset[str]) -> dict[str, Kind]:
    """Return the one-word names of a conversation with their kinds; words in `common` are not names.

    A name that begins another (Theo, Theodora) is left out, since both may be one person.
    """
    texts = _texts(talk)
    speakers = {word for speaker in talk.speakers if speaker != MACHINE for word in _WORD.findall(speaker)}
    inside = {word for text in texts for word in _INSIDE.findall(text)}
    found = sorted({word for word in speakers | inside if _is_name(word, common)} | speakers)
    found = [name for name in found if not any(_belongs(name, other) for other in found)]
    typed = _typed(talk)
    return {name: _kind(name, texts, typed, is_speaker=name in speakers) for name in found}


def _is_name(word: str, common: frozenset[str]) -> bool:
    is_shaped = len(word) > 2 and word[0].isupper() and word[1:].islower()
    return is_shaped and word not in NO_NAMES and word.lower() not in common and not word.endswith(_PEOPLES)


def _belongs(name: str, other: str) -> bool:
    return name != other and (name.startswith(other) or other.startswith(name))


def _kind(name: str, texts: Sequence[str], typed: Mapping[str, str], *, is_speaker: bool) -> Kind:
    """Return the kind of thing that a name denotes, by the words around it, and its type in the plans."""
    scores: Counter[Kind] = Counter()
    for text in texts:
        words = _WORD.findall(text)
        for place, word in enumerate(words):
            if word == name:
                before = words[place - 1].lower() if place else ""
                after = words[place + 1].lower() if place + 1 < len(words) else ""
                scores[Kind.PERSON] += 2 * (before in _RELATIVES) + 2 * (after in _TELLS_PERSON) + (after == "s")
                scores[Kind.PLACE] += 2 * (before in _BEFORE_PLACE)
                near = {other.lower() for other in words[max(0, place - 3) : place + 8]}
                scores[Kind.WOMAN] += len(near & _FEMALE)
                scores[Kind.MAN] += len(near & _MALE)
    head = typed.get(name, "").split(" ")[-1]
    scores[Kind.PERSON] += 5 * (head in _PERSON_TYPES) + 99 * is_speaker
    scores[Kind.PLACE] += 5 * (head in _PLACE_TYPES)
    person, place_score = scores[Kind.PERSON], scores[Kind.PLACE]
    if person >= 2 and person > place_score:
        if scores[Kind.WOMAN] == scores[Kind.MAN]:
            return Kind.PERSON
        return Kind.WOMAN if scores[Kind.WOMAN] > scores[Kind.MAN] else Kind.MAN
    return Kind.PLACE if place_score >= 2 else Kind.THING


def _typed(talk: Talk) -> dict[str, str]:
    """Return the types of the one-word values in the plans."""
    found: dict[str, str] = {}
    for case in talk.cases:
        for step in (*_plan(case).subgoals, *_plan(case).refinements):
            for variable in parse_atom(step.text).variables:
                found.setdefault(step.bindings.get(variable.name, ""), variable.type)
            for constant in parse_atom(step.text).constants:
                found.setdefault(constant.value if constant.type else "", constant.type)
    return found


def _draw(kind: Kind, taken: set[str], chance: Random) -> str:
    """Return a random name of the kind, often a known one, else an invented one, that is not taken."""
    names = {Kind.WOMAN: WOMEN, Kind.MAN: MEN, Kind.PERSON: WOMEN + MEN, Kind.PLACE: PLACES, Kind.THING: ()}[kind]
    while True:
        name = chance.choice(names) if names and chance.random() < 0.9 else _invented(chance)
        if name not in taken and name.lower() not in taken:  # avoids invented names like Mine or None
            return name


def _invented(chance: Random) -> str:
    return chance.choice(ONSETS) + chance.choice(MIDDLES) + chance.choice(ENDINGS)


def _texts(talk: Talk) -> list[str]:
    """Return all texts of a conversation, its questions and their plans."""
    told = [turn.text for turn in talk.conversation.turns]
    for case in talk.cases:
        plan = _plan(case)
        steps = (*plan.subgoals, *plan.refinements)
        told += [case.question, case.answer or "", plan.goal, *plan.alternative, *(step.text for step in steps)]
        told += [value for step in steps for value in step.bindings.values()]
    return told


def _plan(case: Case) -> GoldPlan:
    return case.plan or GoldPlan("", (), ())


def later(text: str, years: int) -> str:
    """Return the text with its years shifted; decades, prices and percentages are not years."""
    return _YEAR.sub(lambda match: str(int(match[0]) + years), text) if years else text


def _replaced(talk: Talk, new: Mapping[str, str], years: int) -> Talk:
    """Return the conversation with its names replaced by `new` and its years shifted, in turns and cases alike."""
    names = "|".join(sorted(map(re.escape, new), key=len, reverse=True)) or "(?!)"
    exact = re.compile(rf"(?<!\w)(?:{names})(?!\w)")
    loose = re.compile(exact.pattern, re.IGNORECASE)
    lowered = {name.lower(): to for name, to in new.items()}

    def say(text: str) -> str:
        return later(exact.sub(lambda match: new[match[0]], text), years)

    def seek(text: str) -> str:
        return later(loose.sub(lambda match: lowered[match[0].lower()], text), years)

    turns = tuple(_turn(turn, say, years) for turn in talk.conversation.turns)
    return Talk(replace(talk.conversation, turns=turns), tuple(_case(case, say, seek) for case in talk.cases))


def _turn(turn: Turn, say: Callable[[str], str], years: int) -> Turn:
    said = turn.said and turn.said.replace(year=turn.said.year + years)
    return Turn(
        turn.conversation, turn.session, turn.ordinal, say(turn.speaker), say(turn.text), said, turn.own_id, turn.role
    )


def _case(case: Case, say: Callable[[str], str], seek: Callable[[str], str]) -> Case:
    """Return the question with `say` applied to its texts, and `seek`, which ignores case, to its queries."""

    def step(old: GoldStep) -> GoldStep:
        bindings = {name: say(value) for name, value in old.bindings.items()}
        return replace(old, text=say(old.text), bindings=bindings, query=seek(old.query))

    def plan_of(old: GoldPlan) -> GoldPlan:
        """Return the plan with `say` applied to its texts, and `step` to its steps."""
        return replace(
            old,
            goal=say(old.goal),
            subgoals=tuple(map(step, old.subgoals)),
            refinements=tuple(map(step, old.refinements)),
            alternative=tuple(map(say, old.alternative)),
        )

    return replace(
        case,
        question=say(case.question),
        answer=None if case.answer is None else say(case.answer),
        asker=None if case.asker is None else say(case.asker),
        plan=case.plan and plan_of(case.plan),
    )

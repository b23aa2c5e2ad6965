"""Questions about a made-up travel planning, of CAME-Bench's four types, with their exact answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from goalmem_cli.lab.bench.came.came_questions import MULTI_HOP, RECALL, REVISION, SYNTHESIS, Candidate, Form, candidate
from goalmem_cli.lab.bench.came.records import Place, StoryTurn
from goalmem_cli.lab.bench.came.travel import plan
from goalmem_cli.lab.bench.came.travel.state import SlotState, states
from goalmem_cli.lab.bench.came.travel.words import attribute_of, noun, question_place
from goalmem_cli.lab.bench.came.travel.world import PRICE, SLOTS, Category, slot_types
from goalmem_cli.lab.bench.came.wording import ordinal

_DECISIONS, _DETAILS = (plan.CHOOSE, plan.REPLACE), (plan.TELL, plan.CORRECT)

FINAL = Form("final choice", REVISION, _DECISIONS, ())
EVER = Form("ever chosen", REVISION, _DECISIONS, ())
CORRECTED = Form("corrected detail", REVISION, _DETAILS, ())
NEW_LIMIT = Form("changed limit", REVISION, (plan.LIMIT, plan.NEW_LIMIT), ("Budget",))
REJECTED = Form("turned down", REVISION, (plan.REJECT,), ())
TOLD = Form("detail", RECALL, _DETAILS, ())
NTH = Form("detail of the nth", MULTI_HOP, (plan.PROPOSE, *_DETAILS), ())
GIVEN_UP = Form("detail of the one given up", MULTI_HOP, (*_DECISIONS, *_DETAILS), ())
PROPOSED = Form("proposed", MULTI_HOP, (plan.PROPOSE,), ())
ELSEWHERE = Form("proposed elsewhere", MULTI_HOP, (*_DECISIONS, plan.PROPOSE), ())
DAY = Form("plan of a day", SYNTHESIS, _DECISIONS, tuple(category.value for category in Category))
HOTELS = Form("hotels of a trip", SYNTHESIS, _DECISIONS, (Category.HOTEL.value,))
TOTAL = Form("price of a trip's hotels", SYNTHESIS, (*_DECISIONS, *_DETAILS), (Category.HOTEL.value, PRICE))

_PLANNED = {"hotel": "Stay at", "breakfast": "Breakfast at", "lunch": "Lunch at", "dinner": "Dinner at"} | {
    "sights": "Visit"
}


class TravelQuestions:
    """Everything that can be asked about a trajectory."""

    def __init__(self, turns: Sequence[StoryTurn]) -> None:
        self._turns = turns
        self._states = states(turns)
        self._topics: dict[str, list[Place]] = {}
        for place in self._states:
            self._topics.setdefault(place.topic, []).append(place)
        self._proposed: dict[str, list[Place]] = {}
        self._values: dict[tuple[str, str], set[str]] = {}
        for place, state in self._states.items():
            for name in state.proposed:
                self._proposed.setdefault(name, []).append(place)
            for detail, told in state.told.items():
                self._values.setdefault(detail, set()).update(self._value(index) for index in told)

    def candidates(self) -> Iterator[Candidate]:
        """Yield the questions, all those about one decision together."""
        for place, state in self._states.items():
            yield from self._about_choices(place, state)
            yield from self._about_details(place, state)
            yield from self._about_options(place, state)
        for topic, places in self._topics.items():
            for scope in dict.fromkeys(place.scope for place in places):
                yield from self._about_day(Place(topic, scope))
            yield from self._about_hotels(topic, [place for place in places if place.slot == "hotel"])

    def _about_choices(self, place: Place, state: SlotState) -> Iterator[Candidate]:
        where, options = question_place(place), f"{noun(place)}s"
        if state.chosen:
            asked = f"Which {options} are" if place.slot == "sights" else f"Which {noun(place)} is"
            text = f"{asked} chosen in the end for {where}?"
            evidence = self._all_carried(place, state.chosen.items())
            yield self._ask(FINAL, text, state.chosen, evidence, place, is_hard=bool(state.replaced))
        if state.replaced:
            text = f"Which {options} were chosen at any point for {where}, later changes included?"
            names = [name for name, _ in state.decisions]
            yield self._ask(EVER, text, names, self._all_carried(place, state.decisions), place)
        if state.rejected:
            text = f"Which of the {options} that were proposed for {where} did the user turn down?"
            evidence = self._all_carried(place, state.rejected.items())
            yield self._ask(REJECTED, text, state.rejected, evidence, place)
        if len(state.limits) > 1:
            text = f"What may a {noun(place)} cost at most for {where}, as the user last set it?"
            yield self._ask(NEW_LIMIT, text, [self._value(state.limits[-1])], state.limits[-1:], place)

    def _about_details(self, place: Place, state: SlotState) -> Iterator[Candidate]:
        for (name, attribute), told in state.told.items():
            what = f"What is {attribute_of(place, attribute).phrase} for {name}, an option for {question_place(place)}"
            evidence, value = self._carried(place, told[-1], name), self._value(told[-1])
            form, text = (TOLD, f"{what}?") if len(told) == 1 else (CORRECTED, f"{what}, after what was corrected?")
            yield self._ask(
                form, text, [value], evidence, place, target=name, attribute=attribute,
                is_hard=len(self._values[name, attribute]) > len(told),
            )  # fmt: skip
            if len(told) > 1:
                continue
            number = list(state.proposed).index(name) + 1
            before = [state.proposed[other] for other in list(state.proposed)[:number]]
            what = f"What is {attribute_of(place, attribute).phrase} for the"
            text = f"{what} {ordinal(number)} {noun(place)} that was proposed for {question_place(place)}?"
            yield self._ask(
                NTH, text, [value], [*before, *evidence], place, target=name, attribute=attribute, is_hard=number > 1
            )
            if [given_up for given_up, _ in state.replaced] == [name] and place.slot != "sights":
                text = f"{what} {noun(place)} that was chosen first for {question_place(place)} and then given up?"
                evidence = [*evidence, *self._all_carried(place, [state.decisions[0], *state.replaced])]
                yield self._ask(GIVEN_UP, text, [value], evidence, place, target=name, attribute=attribute)

    def _about_options(self, place: Place, state: SlotState) -> Iterator[Candidate]:
        where = question_place(place)
        if len(state.proposed) > 1:
            text = f"Which {noun(place)}s were proposed for {where}?"
            yield self._ask(PROPOSED, text, state.proposed, state.proposed.values(), place)
        if len(state.chosen) != 1 or place.slot == "sights":
            return
        ((name, index),) = state.chosen.items()
        others = [other for other in self._proposed[name] if other.topic != place.topic]
        if len({other.topic for other in others}) == 1:
            asked = f"The {noun(place)} that is chosen in the end for {where}"
            text = f"{asked} was proposed for another trip too. For which trip?"
            evidence = [self._states[other].proposed[name] for other in others]
            evidence += self._carried(place, index, name)
            yield self._ask(ELSEWHERE, text, [others[0].topic], evidence, place, target=name)

    def _about_day(self, day: Place) -> Iterator[Candidate]:
        planned = {slot: Place(day.topic, day.scope, slot) for slot in SLOTS}
        found = {slot: self._states[place].chosen for slot, place in planned.items() if place in self._states}
        found = {slot: chosen for slot, chosen in found.items() if chosen}
        if len(found) < 2:
            return
        parts = "; ".join(f"{_PLANNED[slot]} [{noun(planned[slot])}]" for slot in found)
        text = f"What is the plan in the end for {day.scope} of the {day.topic}? Answer in the form: {parts}"
        evidence = [i for slot, chosen in found.items() for i in self._all_carried(planned[slot], chosen.items())]
        answer = "; ".join(f"{_PLANNED[slot]} {' and '.join(chosen)}" for slot, chosen in found.items())
        names = [name for chosen in found.values() for name in chosen]
        yield self._ask(DAY, text, names, evidence, day, answer=answer)

    def _about_hotels(self, topic: str, places: Sequence[Place]) -> Iterator[Candidate]:
        found = [(place, name, index) for place in places for name, index in self._states[place].chosen.items()]
        if len(found) < 2:
            return
        evidence = [i for place, name, index in found for i in self._carried(place, index, name)]
        names = [name for _, name, _ in found]
        text = f"Which hotels are chosen in the end for the {topic}, over all its days?"
        if len(set(names)) > 1:
            yield self._ask(HOTELS, text, names, evidence, Place(topic, "", "hotel"))
        priced = [(place, name, self._states[place].told.get((name, PRICE), [])) for place, name, _ in found]
        if all(told for _, _, told in priced):
            total = sum(int(self._value(told[-1]).split()[0]) for _, _, told in priced)
            evidence += [i for place, name, told in priced for i in self._carried(place, told[-1], name)]
            text = f"What do the hotels that are chosen in the end for the {topic} cost together, a night for each day?"
            yield self._ask(TOTAL, text, [f"{total} euros"], evidence, Place(topic, "", "hotel"))

    def _ask(
        self, form: Form, text: str, answers: Iterable[str], evidence: Iterable[int], place: Place, *,
        answer: str | None = None, is_hard: bool = True, target: str = "", attribute: str = "",
    ) -> Candidate:  # fmt: skip
        found = sorted(set(evidence))
        named = [place.label] if place.scope else [self._turns[index].labels.scope for index in found]
        types = [*slot_types(place.slot), *([attribute] if attribute else [])]
        return candidate(
            self._turns, form, text, answers, found, place, named=named, entity_types=types, answer=answer,
            is_hard=is_hard, target=target, attribute=attribute,
        )  # fmt: skip

    def _value(self, index: int) -> str:
        return self._turns[index].event.value

    def _carried(self, place: Place, index: int, name: str) -> list[int]:
        """Return the turn, and the one that names what it only refers to."""
        is_named = self._turns[index].names(name)
        return [index] if is_named else [index, self._states[place].proposed[name]]

    def _all_carried(self, place: Place, found: Iterable[tuple[str, int]]) -> list[int]:
        return [i for name, index in found for i in self._carried(place, index, name)]

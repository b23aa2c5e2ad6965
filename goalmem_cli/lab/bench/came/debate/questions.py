"""Questions about a made-up debate, of CAME-Bench's four types, with their exact answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from goalmem_cli.lab.bench.came.came_questions import MULTI_HOP, RECALL, REVISION, SYNTHESIS, Candidate, Form, candidate
from goalmem_cli.lab.bench.came.debate import plan
from goalmem_cli.lab.bench.came.debate.state import AspectState, states
from goalmem_cli.lab.bench.came.debate.words import question_place, side_name
from goalmem_cli.lab.bench.came.debate.world import BACKGROUND, SIDES
from goalmem_cli.lab.bench.came.records import Place, StoryTurn
from goalmem_cli.lab.bench.came.wording import ordinal

_FIGURE = ("Evidence", "Figure")

STANDING = Form("standing arguments", REVISION, (plan.ARGUE, plan.CONCEDE), ("Argument",))
CORRECTED = Form("corrected figure", REVISION, (plan.CORRECT,), _FIGURE)
WITHDRAWN = Form("withdrawn evidence", REVISION, (plan.WITHDRAW,), ("Evidence",))
KEPT = Form("evidence kept", REVISION, (*plan.CITING, plan.WITHDRAW), ("Evidence",))
FIGURE = Form("figure", RECALL, plan.CITING, _FIGURE)
INFORMED = Form("background", RECALL, (plan.INFORM,), ("Background", "Figure"))
AGAINST_NTH = Form("evidence against the nth", MULTI_HOP, (plan.ARGUE, plan.ATTACK), ("Argument", "Evidence"))
DEFENCE = Form("figure in defence of the nth", MULTI_HOP, (plan.ARGUE, plan.DEFEND), ("Argument", *_FIGURE))
ANSWERED = Form("evidence against evidence", MULTI_HOP, (plan.ARGUE, plan.ATTACK), ("Argument", "Evidence"))
ATTACKS = Form("evidence of all attacks", SYNTHESIS, (plan.ATTACK,), ("Evidence",))
CONCEDED = Form("all concessions", SYNTHESIS, (plan.CONCEDE,), ("Argument",))


class DebateQuestions:
    """Everything that can be asked about a trajectory."""

    def __init__(self, turns: Sequence[StoryTurn]) -> None:
        self._turns = turns
        self._states = states(turns)
        self._topics: dict[str, list[Place]] = {}
        self._figures: dict[str, set[str]] = {}
        for place, state in self._states.items():
            self._topics.setdefault(place.topic, []).append(place)
            for source, cited in state.cited.items():
                self._figures.setdefault(source, set()).update(turns[index].event.value for index in cited)

    def candidates(self) -> Iterator[Candidate]:
        """Yield the questions, all those about one aspect together."""
        for place, state in self._states.items():
            for side in SIDES:
                yield from self._about_side(place, state, side)
            yield from self._about_evidence(place, state)
            yield from self._about_background(place, state)
        for topic, places in self._topics.items():
            yield from self._about_round(topic, places)

    def _about_side(self, place: Place, state: AspectState, side: str) -> Iterator[Candidate]:
        """Yield what became of a side's arguments and evidence."""
        where, name, argued = question_place(place), side_name(side), state.argued[side]
        given_up = [claim for claim in argued if claim in state.conceded]
        standing = [claim for claim in argued if claim not in state.conceded]
        if given_up and standing:
            text = f"Which of {name}'s arguments {where} stand at the end, those that were conceded left out?"
            evidence = [*argued.values(), *(state.conceded[claim] for claim in given_up)]
            yield self._ask(STANDING, text, standing, evidence, place, owner=side)
        sources = [source for source, cited in state.cited.items() if self._turns[cited[0]].role == side]
        withdrawn = [source for source in sources if source in state.withdrawn]
        if withdrawn:
            evidence = [index for source in withdrawn for index in self._named(state, state.withdrawn[source], source)]
            text = f"Which evidence does {name} withdraw {where}?"
            yield self._ask(WITHDRAWN, text, withdrawn, evidence, place, owner=side)
        kept = [source for source in sources if source not in state.withdrawn]
        if withdrawn and kept:
            evidence += [state.cited[source][0] for source in sources]
            text = f"Which evidence does {name} still rely on at the end {where}, what was withdrawn left out?"
            yield self._ask(KEPT, text, kept, evidence, place, owner=side)
        for number, claim in enumerate(argued, 1):
            yield from self._about_argument(place, state, side, claim, number)

    def _about_argument(
        self, place: Place, state: AspectState, side: str, claim: str, number: int
    ) -> Iterator[Candidate]:
        """Yield what was cited on the nth argument of a side."""
        where, argued, name = question_place(place), state.argued[side], side_name(side)
        other = side_name(plan.opponent(side))
        before = list(argued.values())[:number]
        if claim in state.attacked:
            index = state.attacked[claim]
            answer, first = self._turns[index].event.other, self._turns[argued[claim]].event.other
            text = f"Which evidence does {other} cite against {name}'s {ordinal(number)} argument {where}?"
            yield self._ask(AGAINST_NTH, text, [answer], [*before, index], place, target=claim, owner=side)
            text = f"With which evidence does {other} attack the argument that {name} based on {first} {where}?"
            evidence = [argued[claim], index]
            yield self._ask(ANSWERED, text, [answer], evidence, place, target=first, owner=side)
        if claim in state.defended:
            index = state.defended[claim]
            event = self._turns[index].event
            if len(state.cited[event.other]) == 1:
                asked = f"Which figure does the evidence give with which {name} defends its {ordinal(number)} argument"
                evidence = [*before, index]
                yield self._ask(DEFENCE, f"{asked} {where}?", [event.value], evidence, place, target=claim, owner=side)

    def _about_evidence(self, place: Place, state: AspectState) -> Iterator[Candidate]:
        """Yield which figures were given; hard are those of studies that gave others elsewhere."""
        for source, cited in state.cited.items():
            event, side = self._turns[cited[-1]].event, self._turns[cited[0]].role
            evidence = self._named(state, cited[-1], source)
            text = f"Which figure does {side_name(side)} give from {source} {question_place(place)}"
            is_corrected = len(cited) > 1
            yield self._ask(
                CORRECTED if is_corrected else FIGURE,
                f"{text}, after what was corrected?" if is_corrected else f"{text}?",
                [event.value], evidence, place, target=source, attribute=event.attribute, owner=side,
                is_hard=len(self._figures[source]) > len(cited),
            )  # fmt: skip

    def _about_background(self, place: Place, state: AspectState) -> Iterator[Candidate]:
        for (side, name), index in state.background.items():
            text = f"What is {BACKGROUND[name]} that {side_name(side)} gives as background {question_place(place)}?"
            answers = [self._turns[index].event.value]
            yield self._ask(INFORMED, text, answers, [index], place, attribute=name, owner=side)

    def _about_round(self, topic: str, places: Sequence[Place]) -> Iterator[Candidate]:
        """Yield what has to be gathered from all aspects of a round."""
        whole = Place(topic, "")
        found = [self._states[place] for place in places]
        for side in SIDES:
            attacks = [
                index for state in found for claim, index in state.attacked.items() if claim in state.argued[side]
            ]
            names = [self._turns[index].event.other for index in attacks]
            if len(names) > 1:
                other = side_name(plan.opponent(side))
                text = f"Which evidence does {other} cite against arguments of {side_name(side)} in the {topic}?"
                yield self._ask(ATTACKS, f"{text} Name all, whatever the aspect.", names, attacks, whole, owner=side)
        conceded = [(state, claim, index) for state in found for claim, index in state.conceded.items()]
        if len(conceded) > 1:
            evidence = [index for _, _, index in conceded]
            for state, claim, index in conceded:
                if not self._turns[index].names(claim):
                    evidence.append(state.argued[self._turns[index].event.owner][claim])
            text = f"Which arguments are conceded in the {topic}, by either side and under any aspect?"
            yield self._ask(CONCEDED, text, [claim for _, claim, _ in conceded], evidence, whole)

    def _ask(
        self, form: Form, text: str, answers: Iterable[str], evidence: Iterable[int], place: Place, *,
        is_hard: bool = True, target: str = "", attribute: str = "", owner: str = "",
    ) -> Candidate:  # fmt: skip
        found = sorted(set(evidence))
        named = [place.label] if place.scope else [self._turns[index].labels.scope for index in found]
        return candidate(
            self._turns, form, text, answers, found, place, named=named, is_hard=is_hard, target=target,
            attribute=attribute, owner=owner,
        )  # fmt: skip

    def _named(self, state: AspectState, index: int, source: str) -> list[int]:
        """Return the turn, and the one that cited by its name what it only refers to."""
        return [index] if self._turns[index].names(source) else [state.cited[source][0], index]

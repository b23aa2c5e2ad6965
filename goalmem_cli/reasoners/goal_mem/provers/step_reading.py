"""Reads a plan's steps one after another, each from its own retrieval, with the values of earlier steps put in.

To find the neighbour's granddaughter, one must first know who the neighbour is: no single retrieval finds both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from goalmem_cli.fitted import Fitted
from goalmem_cli.logic import Atom, Constant, Variable
from goalmem_cli.logic.substitution import values_of
from goalmem_cli.model_replies import Reply
from goalmem_cli.ports import LanguageModel
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.facts import token_cost
from goalmem_cli.reasoners.goal_mem.provers.readings import UNREAD, Read, fitting, read_each, stated_by
from goalmem_cli.reasoners.goal_mem.records import Claim, Manner, Proposed, Round
from goalmem_cli.reasoners.goal_mem.state import ProofState
from goalmem_cli.reasoners.inquiry import Reading
from goalmem_cli.reasoners.showing import Shown
from goalmem_cli.records import Usage
from goalmem_cli.trace import Fact

_YES = ("yes", "likely yes")


@dataclass(frozen=True, slots=True)
class _Asked:
    """A step as a question: its number, its statement, the variable to find (None: yes or no), the facts to read."""

    number: int
    atom: Atom
    wanted: Variable | None
    facts: tuple[Fact, ...]

    @property
    def text(self) -> str:
        """The question."""
        return step_question(self.atom, self.wanted.name if self.wanted else "")


class StepReading:
    """Proposes for a plan's subgoals what the model reads about each.

    Each reading shows the facts `shown` for the question, and a few more that the step's own queries found. All facts
    together have at most `room` tokens; within that the first further fact may be a long one.
    """

    manner = Manner()

    def __init__(self, model: LanguageModel, prompts: PromptBook, fitted: Fitted, shown: Shown, room: int) -> None:
        self._model = model
        self._prompts = prompts
        self._fitted = fitted
        self._shown = shown.facts
        self._room = room - shown.tokens

    def propose(self, standing: Round) -> Reply[Proposed]:
        """Read all steps that are ready in one call.

        A step is ready if it lacks at most one value. If none is, the first step is read for each of its values.
        """
        state = standing.begun
        asked = list(self._asked(standing, state))
        if not asked:
            return Reply(Proposed(state.plan), Usage())
        questions = [(each.text, each.facts) for each in asked]
        reply = read_each(self._model, self._prompts["read"], standing, questions)
        if reply.value is None:
            return Reply(None, reply.usage, reply.problem)
        return Reply(_told(list(zip(asked, reply.value, strict=True)), standing, state), reply.usage)

    def _asked(self, standing: Round, state: ProofState) -> Iterator[_Asked]:
        atoms = {number: state.applied(number) for number in state.active_numbers()}
        ready = [number for number, atom in atoms.items() if len(atom.variables) < 2]
        for number in ready or list(atoms)[:1]:
            facts = self._facts(standing, state, number)
            for wanted in (atoms[number].variables or (None,)) if facts else ():
                yield _Asked(number, atoms[number], wanted, facts)

    def _facts(self, standing: Round, state: ProofState, number: int) -> tuple[Fact, ...]:
        """Return the facts to read a step from: its queries' hits, likeliest first, then the facts shown before."""
        facts, shown = standing.pool.facts, {fact.number for fact in self._shown}
        count, tokens = self._fitted.added
        led, more, cost = list[Fact](), 0, 0
        queries = (state.applied(number).phrase, state.atoms[number].phrase)
        for fact in (facts[name] for name in standing.pool.led_to(queries)):
            if fact.number not in shown:
                cost += token_cost(fact.speaker, fact.text, fact.times)
                more += 1
                if more > count or cost > (self._room if more == 1 else min(tokens, self._room)):
                    break
            led.append(fact)
        return (*led, *(fact for fact in self._shown if fact not in led))


def _told(readings: Sequence[tuple[_Asked, Read]], standing: Round, state: ProofState) -> Proposed:
    """Return a claim for each step whose missing values were all read, and the reason for each other step."""
    claims, reasons = list[Claim](), dict[int, str]()
    for number in dict.fromkeys(asked.number for asked, _ in readings):
        own = [entry for entry in readings if entry[0].number == number]
        values: dict[str, tuple[str, ...]] = {}
        facts: list[str] = []
        likely = [read.likelihood for _, read in own if read.likelihood is not None]
        for asked, read in own:
            found = _value(asked, read.reading, standing)
            if isinstance(found, str):
                reasons[number] = found
                break
            value, cited = found
            facts += cited
            if asked.wanted is not None:
                values[asked.wanted.name] = values_of(value, asked.wanted)
        else:
            certainty = min(likely) if len(likely) == len(own) else None
            claims.append(Claim(number, tuple(dict.fromkeys(facts)), values, grounding_certainty=certainty))
    fit, refused = fitting(claims, standing, state)
    return Proposed(state.plan, fit, reasons={**reasons, **refused})


def _value(asked: _Asked, reading: Reading, standing: Round) -> tuple[str, tuple[str, ...]] | str:
    """Return the value that was read and the facts that state it, or else why it is refused."""
    if reading.answer is None:
        return UNREAD
    if asked.wanted is None:
        is_so = reading.answer.lower() in _YES
        return ("", reading.cited) if is_so else f"what was read is {reading.answer}"
    return stated_by(reading.answer, reading.cited, asked.atom, asked.facts, standing.pool.shown.facts)


def step_question(atom: Atom, wanted: str) -> str:
    """Return the subgoal as a question for the variable of that name: ``Alice ordered which drink at Momoco?``.

    Other variables become "some" and their type. Without `wanted` it is a yes-or-no question.
    """
    text = " ".join("".join(_said(part, wanted) for part in atom.parts).split())
    return f"{text[:1].upper()}{text[1:]}?"


def _said(part: str | Variable | Constant, wanted: str) -> str:
    if isinstance(part, Variable):
        return f"{'which' if part.name == wanted else 'some'} {part.type}"
    return part.value if isinstance(part, Constant) else part

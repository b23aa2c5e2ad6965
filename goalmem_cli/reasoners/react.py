"""`react`: think, retrieve and observe, a step at a time, until the model gives its answer (GOAL-MEM Appendix F)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.model_replies import Fields
from goalmem_cli.reasoners.inquiry import READ, Inquiry, Reading, Tools, one_of, reading_of
from goalmem_cli.records import Question
from goalmem_cli.trace import Stop, Trace

NAME = "react"
REACT = "react"
STEPS = (REACT, READ)
MOST_STEPS = 5
RETRIEVE, FINISH = "Retrieve", "Finish"


def calls(steps: int = MOST_STEPS) -> tuple[int, int]:
    """Return the least and the most model calls of a question for which something is retrieved, without retries."""
    return min(steps, 1) + 1, steps + 1


@dataclass(frozen=True, slots=True)
class ReactSettings:
    """The most steps; 0 is the `max_steps` of all reasoners that go step by step."""

    max_steps: int = 0


@dataclass(frozen=True, slots=True)
class Move:
    """One thought and one action: a query to retrieve with, or the reading that ends the question."""

    thought: str
    query: str = ""
    finish: Reading | None = None


@dataclass(frozen=True, slots=True)
class Observed:
    """A retrieval as later prompts show it; `facts` are the lines of the facts that were new."""

    thought: str
    query: str
    facts: tuple[str, ...]


class React:
    """Lets the model choose each step: `Retrieve`, whose facts the next prompt shows, or `Finish` with its answer.

    Every retrieval takes an equal share of the budget's units. Unlike in the paper, the model may choose `Finish` only
    after it has observed facts, and must cite those behind its answer. If it does not finish, the answer is read from
    the observed facts with the common prompt.
    """

    def __init__(self, tools: Tools, steps: int = MOST_STEPS) -> None:
        self._tools = tools
        self._steps = steps

    def answer(self, question: Question) -> Trace:
        """Return the trace of the question."""
        inquiry = Inquiry(NAME, question, self._tools)
        per_query = max(1, self._tools.budget.units // max(1, self._steps))
        trajectory: list[Observed] = []
        for step in range(self._steps):
            move = _next_move(inquiry, trajectory)
            if move is None and not trajectory:
                return inquiry.conclude(None, Stop.UNUSABLE_REPLY)  # memory was never asked: not unknown, but failed
            if move is None:
                inquiry.note("no step could be used: the answer was read from the facts observed until then")
                return inquiry.read(Stop.UNUSABLE_REPLY)
            if move.finish is not None:
                return inquiry.conclude(move.finish, Stop.FINISHED)
            block = inquiry.retrieve([move.query], per_query, more=self._steps - step - 1)
            trajectory.append(Observed(move.thought, move.query, block.lines))
        inquiry.note(f"it did not finish within {self._steps} steps: the answer was read from what it observed")
        return inquiry.read(Stop.LIMIT)


def _next_move(inquiry: Inquiry, trajectory: Sequence[Observed]) -> Move | None:
    numbers = [fact.number for fact in inquiry.pool]
    actions = [RETRIEVE, FINISH] if numbers else [RETRIEVE]
    choices = {"actions": actions, "facts": numbers or [""]}  # an enumeration needs a value, even one that is refused
    return inquiry.ask(REACT, lambda fields: _move(fields, numbers), choices, steps=trajectory)


def _move(fields: Fields, numbers: Sequence[str]) -> Move:
    thought, action, argument = (one_of(fields, name) for name in ("thought", "action", "input"))
    if action == RETRIEVE:
        return Move(thought, argument)
    if action != FINISH:
        raise ReplyUnusable(f"{action[:20]!r} is no action")
    reading = reading_of({"answer": (argument,), "facts": fields.get("facts", ())}, numbers)
    return Move(thought, finish=reading)

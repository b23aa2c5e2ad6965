"""`full-context`: no retrieval; shows as much of the transcript as the model's context holds (REMem section 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Protocol

from goalmem_cli.backbones.scope import scope_of, within_time
from goalmem_cli.errors import ContextOverflow
from goalmem_cli.memory_records import ConversationSummary
from goalmem_cli.reasoners.chronology import chronological
from goalmem_cli.reasoners.facts import hit_cost
from goalmem_cli.reasoners.inquiry import READ, Budget, Inquiry, Tools
from goalmem_cli.reasoners.prompt_texts import say_time
from goalmem_cli.records import Hit, Question, Turn
from goalmem_cli.store.units import retrievable, units_of_turn
from goalmem_cli.trace import Stop, Trace

NAME = "full-context"
STEPS = (READ,)
SHRINKING = 0.9
LEAST_TOKENS = 64


def calls() -> tuple[int, int]:
    """Return the least and the most model calls of a question in whose scope something was said, without retries."""
    return 1, 1


class Transcript(Protocol):
    """The stored conversations as turns, without goalmem's remembered answers."""

    def turns(self, conversations: Sequence[str] | None = None) -> list[Turn]:
        """Return the turns of the conversations (None: all), in their order."""
        ...

    def conversations(self) -> Sequence[ConversationSummary]:
        """Return a summary of each conversation."""
        ...


class FullContext:
    """Shows the model the question's whole scope in order of time, or the newest part that fits. One call.

    The facts are the store's units: a turn, or the passages of a long turn. So a trace names only what is stored, and
    the end of a turn that is too long can still be shown. Only what is shown is turned into units. Token counts are
    estimates: if the model says that the prompt is too long, a tenth less is shown, until it fits.
    """

    name, step = NAME, READ

    def __init__(
        self, tools: Tools, transcript: Transcript, prompt_of: Callable[[Question], str] | None = None
    ) -> None:
        """Keep what it works with; where `prompt_of` has the benchmark's own prompt, facts go in the order of that."""
        self._tools = tools
        self._transcript = transcript
        self._prompt_of = prompt_of or (lambda _: "")

    def answer(self, question: Question) -> Trace:
        """Return the trace of the question."""
        started = perf_counter()
        every = self._transcript.turns(question.conversations)
        turns = chronological(filter(within_time(scope_of(question)), every), lambda turn: turn)
        if prompt := self._prompt_of(question):  # a benchmark knows it by the very question that it made
            turns = as_written(prompt, turns)
        languages = {each.name: each.language for each in self._transcript.conversations()}
        budget = self._tools.budget
        while True:
            try:
                trace = self._read(question, turns, budget, languages)
                return replace(trace, usage=replace(trace.usage, seconds=perf_counter() - started))
            except ContextOverflow:
                if budget.tokens < LEAST_TOKENS:
                    raise
                budget = replace(budget, tokens=int(budget.tokens * SHRINKING))

    def _read(self, question: Question, turns: Sequence[Turn], budget: Budget, languages: Mapping[str, str]) -> Trace:
        inquiry = Inquiry(self.name, question, self._tools)
        shown = newest(turns, budget, languages)
        left = len(turns) - len({hit.unit.turns for hit in shown})
        inquiry.take(in_that_order(shown) if self._prompt_of(question) else shown, missing=left)
        if note := _left_out(left, turns, shown):
            inquiry.note(note)
        return inquiry.read(Stop.ONE_ROUND, step=self.step, is_ranked=False)


def newest(turns: Sequence[Turn], budget: Budget, languages: Mapping[str, str]) -> list[Hit]:
    """Return the units of the last turns, in order and without a gap, as many as the budget holds.

    `languages` are those of their conversations, by name.
    """
    kept: list[Hit] = []
    tokens = budget.tokens
    texts = {(turn.conversation, turn.session, turn.ordinal): turn.text for turn in turns}
    for turn in reversed(turns):
        before = texts.get((turn.conversation, turn.session, turn.ordinal - 1))
        for unit in reversed(retrievable(units_of_turn(turn, before, languages.get(turn.conversation)))):
            hit = Hit(unit, 0.0)
            tokens -= hit_cost(hit)
            if tokens < 0 or len(kept) >= budget.units:
                return kept[::-1]
            kept.append(hit)
    return kept[::-1]


def as_written(prompt: str, turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns in the order in which a benchmark's prompt has their texts."""
    return sorted(turns, key=lambda turn: prompt.find(turn.text))


def in_that_order(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits as those of one session without times, which prompts show in the order given."""
    return [replace(hit, unit=replace(hit.unit, session=0, ordinal=at, said=None)) for at, hit in enumerate(hits)]


def _left_out(left: int, turns: Sequence[Turn], shown: Sequence[Hit]) -> str:
    """Return a note on what the context had no room for (`left` turns), or an empty text."""
    parts = [f"the oldest {left:,} of {len(turns):,} turns"] if left else []
    if shown and shown[0].unit.part > 1:
        parts.append("the beginning of the first turn shown")
    if not parts:
        return ""
    since = f": shown is what was said from {say_time(shown[0].unit.said)} on" if shown else ""
    return f"the context has no room for {' and '.join(parts)}{since}"

"""The floor under every answer: if a reply has no readable proof, the model reads the facts in view once.

It reads as `direct` does. The engine checks the answer like any other claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goalmem_cli.fitted import UNFITTED
from goalmem_cli.model_replies import read_fields
from goalmem_cli.ports import Completion, LanguageModel, Request
from goalmem_cli.prompts import Prompt
from goalmem_cli.reasoners.goal_mem.plan_texts import say_question
from goalmem_cli.reasoners.goal_mem.provers.goal_reading import claimed_of
from goalmem_cli.reasoners.goal_mem.provers.readings import Read
from goalmem_cli.reasoners.goal_mem.records import Manner, Proposed, Round
from goalmem_cli.reasoners.goal_mem.wording import verdict_in
from goalmem_cli.reasoners.inquiry import reading_choices, reading_of
from goalmem_cli.reasoners.prompt_texts import Reply, ask_whole


class Floor:
    """Proposes an answer read from the facts in view, for a plan whose only subgoal is the question."""

    manner = Manner(rereads=False)

    def __init__(self, model: LanguageModel, prompt: Prompt) -> None:
        self._model = model
        self._prompt = prompt

    def propose(self, standing: Round) -> Reply[Proposed]:
        """Return what was read as a claim with the facts that state it."""
        state, numbers = standing.begun, list(standing.pool.facts)
        sent: list[Request] = []

        def build(trouble: str) -> list[Request]:
            inputs = say_question(standing.question) | {"facts": list(standing.pool.shown.lines), "problem": trouble}
            sent[:] = [self._prompt.request(inputs, reading_choices(numbers))]
            return sent

        def parse(replies: Sequence[Completion]) -> Read:
            reading = reading_of(read_fields(replies[0].text, sent[0]), numbers)
            return Read(reading, replies[0].mean_likelihood)

        reply = ask_whole(self._model, build, parse)
        if reply.value is None:
            return Reply(None, reply.usage, reply.problem)
        read, said = reply.value, reply.value.reading.answer or ""
        if state.plan.is_closed and (verdict := verdict_in(said)) is not None:
            read = replace(read, reading=replace(read.reading, answer=verdict))
        proposed = claimed_of(read, standing, state, UNFITTED.trusted)
        return Reply(proposed if state.plan.is_closed else replace(proposed, wording=said), reply.usage)

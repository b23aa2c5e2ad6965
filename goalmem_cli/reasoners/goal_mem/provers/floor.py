"""The floor under every answer: where a reply has no proof that can be read, the facts in view are read once, as
`direct` reads them, and what is read is held to the question as any claim is.
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
    """Proposes for a plan whose only subgoal is the question what the facts in view tell of it."""

    manner = Manner(rereads=False)

    def __init__(self, model: LanguageModel, prompt: Prompt) -> None:
        self._model = model
        self._prompt = prompt

    def propose(self, standing: Round) -> Reply[Proposed]:
        """Return what is read of the question, as a claim that names the facts which state it."""
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

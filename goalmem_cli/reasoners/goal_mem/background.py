"""A summary of what each speaker said, for Algorithm 1's decomposition: made once, and kept in the memory.

A summary is a derived unit of `goal-mem`, so it goes when a turn behind it is forgotten, and new turns extend the last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from goalmem_cli.backbones.mem0 import SUM_UP, SUMMARY
from goalmem_cli.backbones.mem0.pair_reading import Summing
from goalmem_cli.backbones.scope import scope_of, within_time
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.stretches import stretches_of
from goalmem_cli.memory_ports import StructuredMemory
from goalmem_cli.memory_records import Derivation
from goalmem_cli.model_replies import ask_each
from goalmem_cli.ports import LanguageModel
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem.records import NAME
from goalmem_cli.records import Question, Turn, Unit, Usage

STEP = SUM_UP
_LETTERS = 12_000
"""About how many letters of one speaker's turns a request adds to that speaker's summary."""


class Background:
    """Summarises the speakers of a question's conversations, as far as that is not done yet."""

    def __init__(self, open_store: Callable[[], StructuredMemory], model: LanguageModel, prompts: PromptBook) -> None:
        self._open_store = open_store
        self._kit = Kit(model, prompts, 1, 0)

    def of(self, question: Question) -> tuple[list[str], Usage]:
        """Return a line for each speaker whom the question may see, and what making the new ones took.

        A speaker whose summary cannot be read from the model's reply keeps the summary of the turns before.

        Raises:
            ModelError: the model cannot be used at all.
            StoreError: the memory cannot be used; `StoreUnable` if it cannot keep what is derived.
        """
        store = self._open_store()
        of: dict[tuple[str, str], list[Turn]] = {}
        for turn in filter(within_time(scope_of(question)), store.turns(question.conversations)):
            if turn.speaker:
                of.setdefault((turn.conversation, turn.speaker), []).append(turn)
        units = {unit.id: unit for unit in store.units_of(NAME, [SUMMARY], question.conversations)}
        known = {line.name: units[line.units[0]] for line in store.derived(NAME) if set(line.units) & units.keys()}
        lines, usage = [], Usage()
        for (_, speaker), turns in of.items():
            summary, cost = self._summed(store, turns, known)
            usage += cost
            if summary is not None:
                lines.append(f"{speaker}: {summary.text}")
        return lines, usage

    def _summed(
        self, store: StructuredMemory, turns: Sequence[Turn], known: dict[str, Unit]
    ) -> tuple[Unit | None, Usage]:
        """Return the summary after the last stretch of a speaker's turns, and the cost of the stretches not known."""
        last: Unit | None = None
        covered: tuple[Turn, ...] = ()
        usage = Usage()
        for stretch in stretches_of(turns, _LETTERS):
            step = Summing(stretch, last, covered, NAME)
            covered = step.turns
            if step.part.name not in known:
                build, read = partial(step.request, self._kit), partial(step.read, self._kit)
                (reply,) = ask_each(self._kit.model, [build], [read])
                usage += reply.usage
                if reply.value is None:
                    break
                store.derive(NAME, [Derivation(step.part, (reply.value,), usage=reply.usage)])
                known[step.part.name] = reply.value
            last = known[step.part.name]
        return last, usage

"""Let a model sort a run's questions by what they need to know about time (REMem, Appendix C.7)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.runs.judge import quotable
from goalmem_cli.lab.evaluation.runs.run import Sorted
from goalmem_cli.model_replies import ask_each, read_fields
from goalmem_cli.ports import LanguageModel, Request
from goalmem_cli.prompts import Prompt, PromptBook
from goalmem_cli.reasoners.inquiry import one_of

STEP = "temporal_kind"


def sort_questions(
    cases: Sequence[Case],
    model: LanguageModel,
    prompts: PromptBook,
    have: Collection[str],
    append: Callable[[Sorted], None],
    progress: Callable[[int, int], None] = lambda *_: None,
    at_once: int = 1,
) -> int:
    """Sort the questions that are not sorted yet, and return how many got no usable reply; these are asked again.

    `have` are the ids of those that are sorted.

    Raises:
        ModelError: the model cannot be used.
    """
    prompt, failed = prompts[STEP], 0
    left = [case for case in cases if case.id not in have]
    for begin in range(0, len(left), at_once):
        batch = left[begin : begin + at_once]
        replies = ask_each(model, [partial(_request, prompt, case) for case in batch], partial(_kind, prompt))
        for case, reply in zip(batch, replies, strict=True):
            if reply.value is None:
                failed += 1
            else:
                append(Sorted(case.id, reply.value))
        progress(len(cases) - len(left) + begin + len(batch), len(cases))
    return failed


def _request(prompt: Prompt, case: Case, problem: str) -> Request:
    return prompt.request({"question": quotable(case.question), "problem": problem})


def _kind(prompt: Prompt, text: str) -> str:
    """Return the kind in a reply.

    Raises:
        ReplyUnusable: it has none.
    """
    return one_of(read_fields(text, prompt.request(dict.fromkeys(prompt.variables, ""))), "kind")

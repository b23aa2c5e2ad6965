"""Let a model sort a run's questions by time (REMem, C.7), and the labels chosen for them by faults (STITCH, D.2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeVar

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.runs.judge import quotable
from goalmem_cli.lab.evaluation.runs.run import Faulted, Run, Sorted
from goalmem_cli.model_replies import ask_each, read_fields
from goalmem_cli.ports import LanguageModel, Request
from goalmem_cli.prompts import Prompt, PromptBook
from goalmem_cli.reasoners.inquiry import one_of

STEP, FAULTS_STEP = "temporal_kind", "label_faults"
Progress = Callable[[int, int], None]
T = TypeVar("T", Sorted, Faulted)


def sort_questions(
    cases: Sequence[Case],
    model: LanguageModel,
    prompts: PromptBook,
    have: Collection[str],
    append: Callable[[Sorted], None],
    progress: Progress = lambda *_: None,
    at_once: int = 1,
) -> int:
    """Sort the questions that are not sorted yet, and return how many got no usable reply; these are asked again.

    `have` are the ids of those that are sorted.

    Raises:
        ModelError: the model cannot be used.
    """
    prompt = prompts[STEP]
    left = [
        (partial(_request, prompt, {"question": quotable(case.question)}), partial(_sorted, prompt, case.id))
        for case in cases
        if case.id not in have
    ]
    return _ask(model, left, append, progress, at_once)


def sort_labels(
    run: Run,
    model: LanguageModel,
    prompts: PromptBook,
    append: Callable[[Faulted], None],
    progress: Progress = lambda *_: None,
    at_once: int = 1,
) -> int:
    """Sort the labels that were chosen for wrongly answered questions, one kind of label at a time (STITCH, D.2).

    The model sees the question and the labels alone. What is sorted already is left out. Return how many got no usable
    reply.

    Raises:
        ModelError: the model cannot be used.
    """
    prompt = prompts[FAULTS_STEP]
    known = {(each.case, each.backbone, each.kind) for each in run.faulted}
    left = [
        (
            partial(_request, prompt, {"question": quotable(case.question), "kind": key[2], "labels": labels}),
            partial(_faulted, prompt, key),
        )
        for case, key, labels in _chosen(run)
        if key not in known
    ]
    return _ask(model, left, append, progress, at_once)


def _chosen(run: Run) -> Iterator[tuple[Case, tuple[str, str, str], list[str]]]:
    """Yield each wrongly answered question with (case, backbone, kind of label), and its labels of that kind.

    Wrong is what the first judge, with its first prompt, says of the first reasoner in most of its passes.
    """
    cases = {placed.case.id: placed.case for placed in run.cases}
    first = [(each.judge, each.prompt, each.reasoner) for each in run.verdicts[:1]]
    marks: dict[tuple[str, str], list[bool]] = {}
    for verdict in run.verdicts:
        if verdict.mark is not None and (verdict.judge, verdict.prompt, verdict.reasoner) in first:
            marks.setdefault((verdict.case, verdict.backbone), []).append(verdict.mark < 1)
    wrong = {key for key, own in marks.items() if 2 * sum(own) > len(own)}
    for each in {(each.case, each.backbone): each for each in reversed(run.retrieved) if each.chosen}.values():
        kinds: dict[str, list[str]] = {}
        for label in each.chosen if (each.case, each.backbone) in wrong else ():
            kind, _, name = label.partition(": ")
            kinds.setdefault(kind, []).append(quotable(name))
        for kind, labels in kinds.items():
            yield cases[each.case], (each.case, each.backbone, kind), labels


def _ask(
    model: LanguageModel,
    left: Sequence[tuple[Callable[[str], Request], Callable[[str], T]]],
    append: Callable[[T], None],
    progress: Progress,
    at_once: int,
) -> int:
    """Ask for each request with its reading, append what is read, and return how many replies were not usable."""
    failed = 0
    for begin in range(0, len(left), at_once):
        builds, reads = zip(*left[begin : begin + at_once], strict=True)
        for reply in ask_each(model, builds, list(reads)):
            if reply.value is None:
                failed += 1
            else:
                append(reply.value)
        progress(begin + len(builds), len(left))
    return failed


def _request(prompt: Prompt, inputs: Mapping[str, object], problem: str) -> Request:
    return prompt.request({**inputs, "problem": problem})


def _sorted(prompt: Prompt, case: str, text: str) -> Sorted:
    """Return the kind in a reply; raises ReplyUnusable if it has none."""
    return Sorted(case, one_of(read_fields(text, prompt.request(dict.fromkeys(prompt.variables, ""))), "kind"))


def _faulted(prompt: Prompt, key: tuple[str, str, str], text: str) -> Faulted:
    """Return the faults in a reply, perhaps none; raises ReplyUnusable if it cannot be read."""
    fields = read_fields(text, prompt.request(dict.fromkeys(prompt.variables, "")))
    return Faulted(*key, tuple(dict.fromkeys(fields.get("faults", ()))))

"""Has a model mark answers against the gold answers; what it cannot mark stays without a mark, and is never wrong.

LongMemEval's questions are marked by its published rules, one prompt for each of its types; all other datasets' by the
standard prompt or the strict one. Decoding is greedy, so that asking twice would only repeat the reply: an odd pass
shows the gold answer first, an even pass the given answer, which shows how far a judge goes by the order alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from goalmem_cli.errors import ContextOverflow, InputError, ReplyUnusable, UsageError
from goalmem_cli.evaluation.cases import Case
from goalmem_cli.evaluation.folder import Key, key_of
from goalmem_cli.evaluation.refusal import is_refused, prediction
from goalmem_cli.evaluation.run import Answered, Run, Verdict
from goalmem_cli.ports import Completion, LanguageModel, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.asking import read_fields
from goalmem_cli.reasoners.inquiry import one_of

Style: TypeAlias = Literal["standard", "strict"]
Progress: TypeAlias = Callable[[str, int, int], None]
"""Told after every answer: which judge is at work, how many answers it has seen to and how many there are."""

LONGMEMEVAL = "longmemeval"
ABSTENTION = "judge_abstention"
TEMPLATES: Mapping[str, str] = {
    "single-session-user": "judge_recall",
    "single-session-assistant": "judge_recall",
    "multi-session": "judge_recall",
    "temporal-reasoning": "judge_temporal",
    "knowledge-update": "judge_update",
    "single-session-preference": "judge_preference",
}
STYLES: Mapping[Style, str] = {"standard": "judge", "strict": "judge_strict"}
REFUSED = "refused"
MODEL_DIGEST = "model_hash"

_MARKS = {"right": True, "wrong": False}


def steps_of(format: str, style: Style) -> tuple[str, ...]:  # noqa: A002 - what a dataset calls it
    """Return the prompts that judge a dataset of the format."""
    if format == LONGMEMEVAL:
        return (*dict.fromkeys(TEMPLATES.values()), ABSTENTION)
    return (STYLES[style],)


@dataclass(frozen=True, slots=True)
class Judging:
    """How many verdicts judging a run took, by how they came about.

    `asked` were asked of the model, and `unreadable` of them stayed without a mark; `refused` were settled without
    asking, since nothing was answered; `known` were there before. `unjudged` counts the answers that get no verdict:
    to questions without a gold answer, or that only a refusal answers rightly.
    """

    asked: int = 0
    unreadable: int = 0
    refused: int = 0
    known: int = 0
    unjudged: int = 0


class Judge:
    """Marks answers with a model, by the prompts that suit the dataset and the style."""

    def __init__(
        self,
        model: LanguageModel,
        prompts: PromptBook,
        name: str,
        style: Style,
        format: str,  # noqa: A002 - what a dataset calls it
        digest: str = "",
    ) -> None:
        """Make a judge of the name, for a dataset of the format; `digest` tells the model from others of the name.

        Raises:
            PromptError: one of its prompts is missing.
        """
        self.name = name
        self.style = style
        self.digest = digest
        self._model = model
        self._is_longmemeval = format == LONGMEMEVAL
        self._prompts = {step: prompts[step] for step in steps_of(format, style)}

    @property
    def hashes(self) -> dict[str, str]:
        """The hash of each prompt that the judge uses, by step."""
        return {step: prompt.hash for step, prompt in self._prompts.items()}

    def step_of(self, case: Case) -> str | None:
        """Return the prompt that judges answers to the case; None where no model is to judge them.

        Raises:
            InputError: LongMemEval has no rules for the case's type.
        """
        if self._is_longmemeval and case.is_unanswerable:
            return ABSTENTION
        if case.is_unanswerable or not gold_of(case):
            return None
        if not self._is_longmemeval:
            return STYLES[self.style]
        if case.category not in TEMPLATES:
            hint = f"LongMemEval's types are {', '.join(TEMPLATES)}"
            raise InputError(f"question {case.id}", "", f"no rules to judge the type {case.category!r} by", hint)
        return TEMPLATES[case.category]

    def verdicts(self, case: Case, answered: Answered, numbers: Sequence[int]) -> list[Verdict]:
        """Return the verdicts of the passes of these numbers (from 1), in order; none where `step_of` gives no prompt.

        The passes go to the model in one call, and those whose reply is unusable once more; after that `is_right` is
        None and `reply` says why. A refused answer is wrong, and right where there is no answer, without any call.

        Raises:
            ModelError: the model could not be used at all.
            InputError: LongMemEval has no rules for the case's type.
        """
        step = self.step_of(case)
        if step is None:
            return []
        if is_refused(answered.trace):
            return [self._verdict(answered, number, case.is_unanswerable, REFUSED) for number in numbers]
        texts = {
            "question": quotable(case.question),
            "gold": quotable(gold_of(case)),
            "prediction": quotable(prediction(answered.trace)),
        }
        marks = self._marks(step, texts, numbers)
        rules = self._prompts[step].hash
        return [
            replace(self._verdict(answered, number, *marks[number]), weights=self.digest, rules=rules)
            for number in numbers
        ]

    def require_same(self, verdicts: Iterable[Verdict]) -> None:
        """Refuse to go on from verdicts that another model, or another prompt, gave under the judge's name.

        Raises:
            UsageError: there are such verdicts.
        """
        rules = set(self.hashes.values())
        for verdict in verdicts:
            if verdict.rules and (verdict.judge, verdict.prompt) == (self.name, self.style):
                what = "model" if verdict.weights != self.digest else "prompt" if verdict.rules not in rules else ""
                if what:
                    reason = f"another {what} of the name {self.name} has judged this run ({self.style})"
                    raise UsageError(reason, "judge with that one, or move the run's verdicts.jsonl away")

    def _marks(self, step: str, texts: Mapping[str, str], numbers: Sequence[int]) -> dict[int, tuple[bool | None, str]]:
        """Return each pass's mark and reply, or None and the problem with it."""
        marks: dict[int, tuple[bool | None, str]] = dict.fromkeys(numbers, (None, ""))
        for _ in range(2):
            open_passes = [number for number, (mark, _) in marks.items() if mark is None]
            if not open_passes:
                break
            requests = [self._request(step, texts, number, marks[number][1]) for number in open_passes]
            try:
                completions = self._model.complete(requests)
            except ContextOverflow as error:
                return marks | dict.fromkeys(open_passes, (None, error.message))
            marks |= {
                number: _read(request, completion)
                for number, request, completion in zip(open_passes, requests, completions, strict=True)
            }
        return marks

    def _request(self, step: str, texts: Mapping[str, str], number: int, problem: str) -> Request:
        style = {"strict": self.style == "strict"} if self._is_longmemeval else {}
        return self._prompts[step].request(
            {**texts, **style, "swapped": number % 2 == 0, "problem": quotable(problem)},
        )

    def _verdict(self, answered: Answered, number: int, is_right: bool | None, reply: str) -> Verdict:
        return Verdict(
            answered.case, answered.reasoner, answered.backbone, self.name, self.style, number, is_right, reply
        )  # fmt: skip


def judge_run(
    run: Run,
    judge: Judge,
    passes: int,
    have: Collection[Key],
    append: Callable[[Verdict], None],
    progress: Progress = lambda *_: None,
) -> Judging:
    """Judge every answer of the run in so many passes, but for the verdicts whose keys it has, and return the counts.

    Each answer's verdicts are appended as soon as they are made, so that going on later asks nothing twice. All cases
    are looked at before anything is asked.

    Raises:
        ModelError: the model could not be used at all.
        InputError: LongMemEval has no rules for the type of one of the cases.
        UsageError: another model or prompt of the judge's name has judged some answers.
    """
    judge.require_same(run.verdicts)
    cases = {placed.case.id: placed.case for placed in run.cases}
    judged = {id_ for id_, case in cases.items() if judge.step_of(case) is not None}
    made: list[Verdict] = []
    known = unjudged = 0
    for count, answered in enumerate(run.answered, 1):
        if answered.case in judged:
            left = [number for number in range(1, passes + 1) if _key(answered, judge, number) not in have]
            known += passes - len(left)
            for verdict in judge.verdicts(cases[answered.case], answered, left) if left else []:
                append(verdict)
                made.append(verdict)
        else:
            unjudged += 1
        progress(f"judge {judge.name}, {judge.style}", count, len(run.answered))
    refused = sum(verdict.reply == REFUSED for verdict in made)
    unreadable = sum(verdict.is_right is None for verdict in made)
    return Judging(len(made) - refused, unreadable, refused, known, unjudged)


def is_self_judged(run: Run, judge_name: str, judge_digest: str = "") -> bool:
    """Say whether the judge is the model that answered: the same name, or the same digest of the model's file."""
    digest = run.manifest.settings.get(MODEL_DIGEST, "")
    answering = {run.manifest.model, digest} - {""}
    return judge_name in answering or judge_digest in answering


def gold_of(case: Case) -> str:
    """Return the answer that the dataset gives, or all that must be named; empty where it gives none."""
    return case.answer or "; ".join(case.answers)


def quotable(text: str) -> str:
    """Return the text as it may stand between double quotes: on one line, with its own quotes escaped.

    So no text can end its quotes, begin a line of its own, or pass for one of the prompt's labels.
    """
    return json.dumps(" ".join(text.split()), ensure_ascii=False)[1:-1]


def _key(answered: Answered, judge: Judge, number: int) -> Key:
    return key_of(
        Verdict(answered.case, answered.reasoner, answered.backbone, judge.name, judge.style, number, is_right=None)
    )


def _read(request: Request, completion: Completion) -> tuple[bool | None, str]:
    """Return the mark in a reply and what it said, or None and why it cannot be used."""
    if not completion.is_complete:
        return None, "it was cut off at its greatest length"
    try:
        fields = read_fields(completion.text, request)
        word = one_of(fields, "verdict")
    except ReplyUnusable as error:
        return None, error.message
    if word not in _MARKS:
        return None, f"{word[:40]!r} is neither right nor wrong"
    why = " ".join(" ".join(fields.get("why", ())).split())
    return _MARKS[word], f"{word}: {why}" if why else word

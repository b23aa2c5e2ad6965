"""Has a model mark answers against the gold answers; what it cannot mark stays without a mark, and is never wrong.

LongMemEval's questions are marked by its published rules, one prompt for each of its types. For BEAM (arXiv 2510.27246)
each nugget of an answer is marked 0, 0.5 or 1, and the answer has the mean; one that lists events is marked by their
order. All other datasets are marked by the standard prompt or the strict one. Decoding is greedy, so that asking twice
would only repeat the reply: an odd pass shows the gold answer first, an even pass the given answer, which shows how far
a judge goes by the order alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from goalmem_cli.errors import ContextOverflow, InputError, ReplyUnusable, UsageError
from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.beam import ORDERING
from goalmem_cli.lab.evaluation.metrics.ordering import order_score
from goalmem_cli.lab.evaluation.metrics.refusal import is_refused, prediction
from goalmem_cli.lab.evaluation.runs.folder import Key, key_of
from goalmem_cli.lab.evaluation.runs.run import Answered, Run, Verdict
from goalmem_cli.lab.evaluation.runs.together import complete_each
from goalmem_cli.model_replies import numbers_of, read_fields
from goalmem_cli.ports import Completion, LanguageModel, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.inquiry import one_of
from goalmem_cli.records import Usage

Style: TypeAlias = Literal["standard", "strict"]
Mark: TypeAlias = tuple[float | None, str]
"""From 0 (wrong) to 1 (right), or None, with what the reply said, or what was wrong with it."""
Pass: TypeAlias = tuple[int, int]
"""The number of a pass, and the place of the nugget that is marked in it; 0 where the answer is marked as a whole."""
Progress: TypeAlias = Callable[[str, int, int], None]
"""Told after every answer: which judge is at work, how many answers it has seen to and how many there are."""

LONGMEMEVAL, BEAM = "longmemeval", "beam"
NUGGET, ORDER = "judge_nugget", "judge_order"
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

_MARKS = {"right": 1.0, "wrong": 0.0, "1": 1.0, "0.5": 0.5, "0": 0.0}
_PASSING = 0.5
"""From which mean of its nuggets' marks an answer counts as right."""


def steps_of(format: str, style: Style) -> tuple[str, ...]:  # noqa: A002 - what a dataset calls it
    """Return the prompts that judge a dataset of the format."""
    if format == LONGMEMEVAL:
        return (*dict.fromkeys(TEMPLATES.values()), ABSTENTION)
    return (NUGGET, ORDER, STYLES[style]) if format == BEAM else (STYLES[style],)


@dataclass(frozen=True, slots=True)
class Judging:
    """How many verdicts judging a run took, by how they came about.

    `asked` were asked of the model, and `unreadable` of them stayed without a mark; `refused` were settled without
    asking, since nothing was answered; `known` were there before. `unjudged` counts the answers that get no verdict:
    to questions without a gold answer, or that only a refusal answers rightly. `usage` is what asking took.
    """

    asked: int = 0
    unreadable: int = 0
    refused: int = 0
    known: int = 0
    unjudged: int = 0
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Paper:
    """An answer to be marked: to which case, and in the passes of which numbers (from 1)."""

    case: Case
    answered: Answered
    numbers: tuple[int, ...]


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

        In the strict style half of a nugget counts for nothing.

        Raises:
            PromptError: one of its prompts is missing.
        """
        self.name = name
        self.style = style
        self.digest = digest
        self._model = model
        self._format = format
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
        if self._format == LONGMEMEVAL and case.is_unanswerable:
            return ABSTENTION
        if case.is_unanswerable or not (gold_of(case) or case.nuggets):
            return None
        if self._format == BEAM and case.nuggets:
            return ORDER if case.category == ORDERING else NUGGET
        if self._format != LONGMEMEVAL:
            return STYLES[self.style]
        if case.category not in TEMPLATES:
            hint = f"LongMemEval's types are {', '.join(TEMPLATES)}"
            raise InputError(f"question {case.id}", "", f"no rules to judge the type {case.category!r} by", hint)
        return TEMPLATES[case.category]

    def is_asked(self, paper: Paper) -> bool:
        """Say whether a model has to mark the paper: `step_of` gives a prompt, and it is no refusal."""
        return self.step_of(paper.case) is not None and not is_refused(paper.answered.trace)

    def verdicts(self, papers: Sequence[Paper]) -> list[list[Verdict]]:
        """Return each paper's verdicts, in the order of its passes; none where `step_of` gives no prompt.

        All passes of all papers go to the model in one call, and those whose reply is unusable in one more; after that
        `is_right` is None and `reply` says why, as where a prompt is too long. A refused answer is wrong, and right
        where there is no answer, without any call.

        Raises:
            ModelError: the model could not be used at all.
            InputError: LongMemEval has no rules for the type of one of the cases.
        """
        markings = {place: self._marking(paper) for place, paper in enumerate(papers) if self.is_asked(paper)}
        self._mark(markings.values())
        return [
            self._marked(paper, markings[place]) if place in markings else self._settled(paper)
            for place, paper in enumerate(papers)
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

    def _settled(self, paper: Paper) -> list[Verdict]:
        """Return the verdicts of a paper that nothing is asked about."""
        if self.step_of(paper.case) is None:
            return []
        is_right = paper.case.is_unanswerable
        return [self._verdict(paper.answered, number, is_right, REFUSED) for number in paper.numbers]

    def _marked(self, paper: Paper, marking: _Marking) -> list[Verdict]:
        rules = self._prompts[marking.step].hash
        return [
            replace(
                self._verdict(paper.answered, number, mark if mark is None else mark >= _PASSING, reply),
                weights=self.digest,
                rules=rules,
                usage=marking.usage[number],
                score=mark if marking.step in (NUGGET, ORDER) else None,
            )
            for number in paper.numbers
            for mark, reply in [marking.mark_of(number)]
        ]

    def _mark(self, markings: Iterable[_Marking]) -> None:
        """Have the model mark all passes, and once more those that it gave no usable reply to."""
        for _ in range(2):
            markings = [marking for marking in markings if marking.open_passes]
            if not markings:
                return
            groups = [[self._request(marking, each) for each in marking.open_passes] for marking in markings]
            for marking, requests, reply in zip(markings, groups, complete_each(self._model, groups), strict=True):
                marking.take(requests, reply, is_strict=self.style == "strict")

    def _marking(self, paper: Paper) -> _Marking:
        step, case = self.step_of(paper.case) or "", paper.case
        texts: dict[str, object] = {
            "question": quotable(case.question),
            "prediction": quotable(prediction(paper.answered.trace)),
        }
        nuggets = [quotable(nugget) for nugget in case.nuggets]
        if step == NUGGET:
            return _Marking(step, texts, paper.numbers, [{"nugget": nugget} for nugget in nuggets])
        texts |= {"nuggets": nuggets} if step == ORDER else {"gold": quotable(gold_of(case))}
        return _Marking(step, texts, paper.numbers, [{}])

    def _request(self, marking: _Marking, each: Pass) -> Request:
        number, place = each
        inputs = {**marking.texts, **marking.parts[place], "problem": quotable(marking.marks[each][1])}
        if self._format == LONGMEMEVAL:
            inputs["strict"] = self.style == "strict"
        if marking.step == ORDER:
            return self._prompts[ORDER].request(inputs, {"numbers": numbers_of(marking.nuggets)})
        return self._prompts[marking.step].request({**inputs, "swapped": number % 2 == 0})

    def _verdict(self, answered: Answered, number: int, is_right: bool | None, reply: str) -> Verdict:
        return Verdict(
            answered.case, answered.reasoner, answered.backbone, self.name, self.style, number, is_right, reply
        )  # fmt: skip


class _Marking:
    """A paper under way: by which prompt, in which parts, and what each pass has come to, a mark or the problem."""

    def __init__(
        self,
        step: str,
        texts: Mapping[str, object],
        numbers: Sequence[int],
        parts: Sequence[Mapping[str, object]],
    ) -> None:
        self.step = step
        self.texts = texts
        self.parts = parts
        self.open_passes = [(number, place) for number in numbers for place in range(len(parts))]
        self.marks: dict[Pass, Mark] = dict.fromkeys(self.open_passes, (None, ""))
        self.usage: dict[int, Usage] = dict.fromkeys(numbers, Usage())

    @property
    def nuggets(self) -> Sequence[str]:
        """The nuggets that the prompt lists."""
        listed = self.texts.get("nuggets", ())
        return listed if isinstance(listed, list) else ()

    def take(
        self, requests: Sequence[Request], reply: Sequence[Completion] | ContextOverflow, *, is_strict: bool
    ) -> None:
        """Take what the model replied for the open passes; a prompt that is too long is not asked again."""
        if isinstance(reply, ContextOverflow):
            self.marks |= dict.fromkeys(self.open_passes, (None, reply.message))
            self.open_passes = []
            return
        for (number, _), each in zip(self.open_passes, reply, strict=True):
            self.usage[number] += Usage(1, each.prompt_tokens, each.cached_tokens, each.completion_tokens)
        for place, request, each in zip(self.open_passes, requests, reply, strict=True):
            mark, said = _read(request, each, len(self.nuggets))
            whole = mark if mark is None or self.step == ORDER or not is_strict else float(int(mark))
            self.marks[place] = whole, said
        self.open_passes = [place for place in self.open_passes if self.marks[place][0] is None]

    def mark_of(self, number: int) -> Mark:
        """Return the mean mark of a pass and what was said; None and the first problem where a part has no mark."""
        marks = [mark for (own, _), mark in self.marks.items() if own == number]
        values = [value for value, _ in marks if value is not None]
        if len(values) < len(marks):
            return next(mark for mark in marks if mark[0] is None)
        return sum(values) / len(values), " | ".join(said for _, said in marks)


def judge_run(
    run: Run,
    judge: Judge,
    passes: int,
    have: Collection[Key],
    append: Callable[[Verdict], None],
    progress: Progress = lambda *_: None,
    at_once: int = 1,
) -> Judging:
    """Judge every answer of the run in so many passes, but for the verdicts whose keys it has, and return the counts.

    The model gets `at_once` answers in a call, and their verdicts are appended as soon as they are made, so that going
    on later asks nothing twice. All cases are looked at before anything is asked.

    Raises:
        ModelError: the model could not be used at all.
        InputError: LongMemEval has no rules for the type of one of the cases.
        UsageError: another model or prompt of the judge's name has judged some answers.
    """
    judge.require_same(run.verdicts)
    cases = {placed.case.id: placed.case for placed in run.cases}
    judged = {id_ for id_, case in cases.items() if judge.step_of(case) is not None}
    wanted = [answered for answered in run.answered if answered.case in judged]
    papers = [Paper(cases[answered.case], answered, _left(answered, judge, passes, have)) for answered in wanted]
    made: list[Verdict] = []
    seen = len(run.answered) - len(wanted)
    for batch in _batches(papers, judge, at_once):
        for verdicts in judge.verdicts(batch):
            for verdict in verdicts:
                append(verdict)
                made.append(verdict)
            seen += 1
            progress(f"judge {judge.name}, {judge.style}", seen, len(run.answered))
    refused = sum(verdict.reply == REFUSED for verdict in made)
    unreadable = sum(verdict.is_right is None for verdict in made)
    known = passes * len(papers) - len(made)
    usage = sum((verdict.usage for verdict in made), Usage())
    return Judging(len(made) - refused, unreadable, refused, known, len(run.answered) - len(wanted), usage)


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


def _left(answered: Answered, judge: Judge, passes: int, have: Collection[Key]) -> tuple[int, ...]:
    """Return the numbers of the passes that there are no verdicts of yet."""
    return tuple(number for number in range(1, passes + 1) if _key(answered, judge, number) not in have)


def _batches(papers: Iterable[Paper], judge: Judge, at_once: int) -> Iterator[list[Paper]]:
    """Yield the papers in their order, as many together as have so many to be asked about among them."""
    batch: list[Paper] = []
    asked = 0
    for paper in papers:
        batch.append(paper)
        asked += bool(paper.numbers) and judge.is_asked(paper)
        if asked == at_once:
            yield batch
            batch, asked = [], 0
    if batch:
        yield batch


def _key(answered: Answered, judge: Judge, number: int) -> Key:
    return key_of(
        Verdict(answered.case, answered.reasoner, answered.backbone, judge.name, judge.style, number, is_right=None)
    )


def _read(request: Request, completion: Completion, listed: int) -> Mark:
    """Return the mark in a reply and what it said, or None and why it cannot be used; of nuggets that are `listed` the
    mark is that of their order.
    """
    if not completion.is_complete:
        return None, "it was cut off at its greatest length"
    try:
        fields = read_fields(completion.text, request)
        word = "" if listed else one_of(fields, "verdict")
    except ReplyUnusable as error:
        return None, error.message
    if listed:
        order = fields.get("order", ())
        if wrong := [number for number in order if number not in numbers_of(range(listed))]:
            return None, f"{wrong[0][:20]!r} is none of the numbers"
        return order_score([int(number) for number in order], listed), f"order: {', '.join(order)}"
    if word not in _MARKS:
        return None, f"{word[:40]!r} is no mark"
    why = " ".join(" ".join(fields.get("why", ())).split())
    return _MARKS[word], f"{word}: {why}" if why else word

"""Mark answers against gold answers with a model; an answer that it cannot mark gets no mark, and is not wrong.

LongMemEval's questions are marked by its published rules, one prompt per question type. For BEAM (arXiv 2510.27246),
each nugget is marked 0, 0.5 or 1 and the answer gets the mean; answers that list events are marked by their order. For
CAME-Bench's questions with several right items, those that an answer names are counted (STITCH, Listing 12). All other
questions use the standard or the strict prompt. Decoding is greedy, so a repeated prompt repeats the reply. Therefore
odd passes show the gold answer first and even passes the given answer, which shows how much the order influences a
judge.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from goalmem_cli.errors import ContextOverflow, InputError, ReplyUnusable, UsageError
from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.beam import CONTRADICTIONS, ORDERING
from goalmem_cli.lab.evaluation.metrics.ordering import order_score
from goalmem_cli.lab.evaluation.metrics.refusal import is_refused, prediction
from goalmem_cli.lab.evaluation.runs.folder import Key
from goalmem_cli.lab.evaluation.runs.run import Answered, Run, Verdict
from goalmem_cli.lab.evaluation.runs.together import complete_each
from goalmem_cli.model_replies import Fields, numbers_of, read_fields
from goalmem_cli.ports import Completion, LanguageModel, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.inquiry import one_of
from goalmem_cli.records import Usage
from goalmem_cli.render.tree import reason_line
from goalmem_cli.trace import Status

Style: TypeAlias = Literal["standard", "strict"]
Mark: TypeAlias = tuple[float | None, str]
"""A mark from 0 (wrong) to 1 (right), or None; with the reply's text or its problem."""
Pass: TypeAlias = tuple[int, int]
"""The number of a pass, and the index of the marked nugget; 0 if the answer is marked as a whole."""
Progress: TypeAlias = Callable[[str, int, int], None]
"""Called after every answer with the judge's name, the answers done and the total."""

LONGMEMEVAL, BEAM, CAME = "longmemeval", "beam", "came"
NUGGET, ORDER, COUNT = "judge_nugget", "judge_order", "judge_count"
_NUMBERED = (ORDER, COUNT)
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
_CUT_OFF = "it was cut off at its greatest length"
MODEL_DIGEST = "model_hash"

_MARKS = {"right": 1.0, "wrong": 0.0, "1": 1.0, "0.5": 0.5, "0": 0.0}
_PASSING = 0.5
"""The least mean of its nuggets' marks with which an answer counts as right."""


def steps_of(format: str, style: Style) -> tuple[str, ...]:  # noqa: A002 - the dataset's term
    """Return the prompts that judge datasets of the format."""
    if format == LONGMEMEVAL:
        return (*dict.fromkeys(TEMPLATES.values()), ABSTENTION)
    own = {BEAM: (NUGGET, ORDER), CAME: (COUNT,)}
    return (*own.get(format, ()), STYLES[style])


@dataclass(frozen=True, slots=True)
class Judging:
    """The number of verdicts of a judged run, by origin.

    - `asked`: asked of the model; `unreadable`: how many of these got no mark.
    - `refused`: settled without a call, because nothing was answered.
    - `known`: existed before.
    - `unjudged`: answers without a verdict, because the question has no gold answer or only a refusal is right.
    - `usage`: the cost of asking.
    """

    asked: int = 0
    unreadable: int = 0
    refused: int = 0
    known: int = 0
    unjudged: int = 0
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Paper:
    """An answer to mark, with its case and the numbers of its passes (from 1)."""

    case: Case
    answered: Answered
    numbers: tuple[int, ...]


class Judge:
    """Marks answers with a model, using the prompts of the dataset and style."""

    def __init__(
        self,
        model: LanguageModel,
        prompts: PromptBook,
        name: str,
        style: Style,
        format: str,  # noqa: A002 - the dataset's term
        digest: str = "",
    ) -> None:
        """Make a judge for datasets of the format; `digest` identifies the model among models of that name.

        In the strict style, half a mark for a nugget counts as 0.

        Raises:
            PromptError: a prompt is missing.
        """
        self.name = name
        self.style = style
        self.digest = digest
        self._model = model
        self._format = format
        self._prompts = {step: prompts[step] for step in steps_of(format, style)}

    @property
    def hashes(self) -> dict[str, str]:
        """The hashes of the judge's prompts by step."""
        return {step: prompt.hash for step, prompt in self._prompts.items()}

    def step_of(self, case: Case) -> str | None:
        """Return the prompt that judges answers to the case, or None if no model judges them.

        Raises:
            InputError: LongMemEval has no rules for the case's type.
        """
        if self._format == LONGMEMEVAL and case.is_unanswerable:
            return ABSTENTION
        if case.is_unanswerable or not (gold_of(case) or case.nuggets):
            return None
        if self._format == BEAM and case.nuggets:
            return ORDER if case.category == ORDERING else NUGGET
        if self._format == CAME and len(case.answers) > 1:
            return COUNT
        if self._format != LONGMEMEVAL:
            return STYLES[self.style]
        if case.category not in TEMPLATES:
            hint = f"LongMemEval's types are {', '.join(TEMPLATES)}"
            raise InputError(f"question {case.id}", "", f"no rules to judge the type {case.category!r} by", hint)
        return TEMPLATES[case.category]

    def is_asked(self, paper: Paper) -> bool:
        """Say whether a model must mark the paper: it has a prompt and is no refusal.

        For BEAM's questions about contradictions an answer that shows both sides of a conflict is no refusal.
        """
        is_answered = not is_refused(paper.answered.trace) or _shows_conflict(paper)
        return is_answered and self.step_of(paper.case) is not None

    def verdicts(self, papers: Sequence[Paper]) -> list[list[Verdict]]:
        """Return each paper's verdicts in the order of its passes; empty if `step_of` gives no prompt.

        All passes of all papers go to the model in one call, and those with unusable replies in a second one. If the
        reply is unusable again, or the prompt is too long, `is_right` is None and `reply` gives the reason. A refusal
        needs no call: it is right if the question is unanswerable, else wrong.

        Raises:
            ModelError: the model cannot be used.
            InputError: LongMemEval has no rules for the type of one of the cases.
        """
        markings = {place: self._marking(paper) for place, paper in enumerate(papers) if self.is_asked(paper)}
        self._mark(markings.values())
        return [
            self._marked(paper, markings[place]) if place in markings else self._settled(paper)
            for place, paper in enumerate(papers)
        ]

    def require_same(self, verdicts: Iterable[Verdict]) -> None:
        """Raise an error if another model or prompt gave verdicts under the judge's name.

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
        """Return the verdicts of a paper that needs no call."""
        if self.step_of(paper.case) is None:
            return []
        is_right = paper.case.is_unanswerable and paper.answered.trace.status is not Status.FAILED
        return [self._verdict(paper.answered, number, is_right, REFUSED) for number in paper.numbers]

    def _marked(self, paper: Paper, marking: _Marking) -> list[Verdict]:
        """Return a verdict for each pass of the paper, from its marks."""
        rules = self._prompts[marking.step].hash
        return [
            replace(
                self._verdict(paper.answered, number, mark if mark is None else mark >= _PASSING, reply),
                weights=self.digest,
                rules=rules,
                usage=marking.usage[number],
                score=mark if marking.step in (NUGGET, *_NUMBERED) else None,
                precision=marking.precision.get(number),
            )
            for number in paper.numbers
            for mark, reply in [marking.mark_of(number)]
        ]

    def _mark(self, markings: Iterable[_Marking]) -> None:
        """Let the model mark all passes, and once more those without a usable reply."""
        for _ in range(2):
            markings = [marking for marking in markings if marking.open_passes]
            if not markings:
                return
            groups = [[self._request(marking, each) for each in marking.open_passes] for marking in markings]
            for marking, requests, reply in zip(markings, groups, complete_each(self._model, groups), strict=True):
                marking.take(requests, reply, is_strict=self.style == "strict")

    def _marking(self, paper: Paper) -> _Marking:
        """Return the paper with the texts for its prompt; nuggets that are marked one by one are its parts."""
        step, case = self.step_of(paper.case) or "", paper.case
        trace = paper.answered.trace
        said = reason_line(trace) if _shows_conflict(paper) else prediction(trace)
        texts: dict[str, object] = {"question": quotable(case.question), "prediction": quotable(said)}
        nuggets = [quotable(nugget) for nugget in (case.answers if step == COUNT else case.nuggets)]
        if step == NUGGET:
            return _Marking(step, texts, paper.numbers, [{"nugget": nugget} for nugget in nuggets])
        texts |= {"nuggets": nuggets} if step in _NUMBERED else {"gold": quotable(gold_of(case))}
        return _Marking(step, texts, paper.numbers, [{}])

    def _request(self, marking: _Marking, each: Pass) -> Request:
        """Return the request for one pass over one part, with the problem of the previous reply, if any."""
        number, place = each
        inputs = {**marking.texts, **marking.parts[place], "problem": quotable(marking.marks[each][1])}
        if self._format == LONGMEMEVAL:
            inputs["strict"] = self.style == "strict"
        if marking.step in _NUMBERED:
            return self._prompts[marking.step].request(inputs, {"numbers": numbers_of(marking.nuggets)})
        return self._prompts[marking.step].request({**inputs, "swapped": number % 2 == 0})

    def _verdict(self, answered: Answered, number: int, is_right: bool | None, reply: str) -> Verdict:
        return Verdict(
            answered.case, answered.reasoner, answered.backbone, self.name, self.style, number, is_right, reply
        )  # fmt: skip


def _shows_conflict(paper: Paper) -> bool:
    """Say whether the answer shows both sides of a conflict, and the case is BEAM's question about a contradiction."""
    return bool(paper.answered.trace.conflict) and paper.case.category == CONTRADICTIONS


class _Marking:
    """A paper being marked: its prompt, its parts, and each pass's mark or problem."""

    def __init__(
        self,
        step: str,
        texts: Mapping[str, object],
        numbers: Sequence[int],
        parts: Sequence[Mapping[str, object]],
    ) -> None:
        """Take the prompt's name and texts, the passes' numbers, and the parts that are asked about separately."""
        self.step = step
        self.texts = texts
        self.parts = parts
        self.open_passes = [(number, place) for number in numbers for place in range(len(parts))]
        self.marks: dict[Pass, Mark] = dict.fromkeys(self.open_passes, (None, ""))
        self.usage: dict[int, Usage] = dict.fromkeys(numbers, Usage())
        self.precision: dict[int, float] = {}

    @property
    def nuggets(self) -> Sequence[str]:
        """The nuggets that the prompt lists."""
        listed = self.texts.get("nuggets", ())
        return listed if isinstance(listed, list) else ()

    def take(
        self, requests: Sequence[Request], reply: Sequence[Completion] | ContextOverflow, *, is_strict: bool
    ) -> None:
        """Take the model's replies for the open passes; a prompt that is too long is not asked again."""
        if isinstance(reply, ContextOverflow):
            self.marks |= dict.fromkeys(self.open_passes, (None, reply.message))
            self.open_passes = []
            return
        for (number, _), each in zip(self.open_passes, reply, strict=True):
            self.usage[number] += Usage(1, each.prompt_tokens, each.cached_tokens, each.completion_tokens)
        for place, request, each in zip(self.open_passes, requests, reply, strict=True):
            mark, said = self._read(request, each, place[0])
            whole = mark if mark is None or self.step in _NUMBERED or not is_strict else float(int(mark))
            self.marks[place] = whole, said
        self.open_passes = [place for place in self.open_passes if self.marks[place][0] is None]

    def _read(self, request: Request, completion: Completion, number: int) -> Mark:
        """Return the mark and the text of a reply; where it numbers nuggets, the mark is computed from the numbers."""
        if self.step not in _NUMBERED:
            return _read(request, completion)
        named, problem = _read_numbers(request, completion, len(self.nuggets))
        if named is None:
            return None, problem
        told = f"{self.step.removeprefix('judge_')}: {', '.join(map(str, named))}"
        if self.step == ORDER:
            return order_score(named, len(self.nuggets)), told
        right = len({*named} - {0})
        self.precision[number] = right / len(named) if named else 0.0
        return 2 * right / (len(named) + len(self.nuggets)), told

    def mark_of(self, number: int) -> Mark:
        """Return the mean mark of a pass with its texts; None and the first problem if a part has no mark."""
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
    """Judge every answer of the run in `passes` passes, except for existing verdicts, and return the counts.

    `have` are the keys of existing verdicts. The model gets `at_once` answers per call, and their verdicts are appended
    at once, so nothing is asked twice after an interruption. All cases are checked before the first call.

    Raises:
        ModelError: the model cannot be used.
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
    """Say whether the judge is the answering model: the same name or file digest."""
    digest = run.manifest.settings.get(MODEL_DIGEST, "")
    answering = {run.manifest.model, digest} - {""}
    return judge_name in answering or judge_digest in answering


def gold_of(case: Case) -> str:
    """Return the gold answer, or all items of the answer set; "" if there is none."""
    return case.answer or "; ".join(case.answers)


def quotable(text: str) -> str:
    """Return the text on one line with escaped quotes, so that it can be put between double quotes.

    So no text can end its quotes, start a line, or look like one of the prompt's labels.
    """
    return json.dumps(" ".join(text.split()), ensure_ascii=False)[1:-1]


def _left(answered: Answered, judge: Judge, passes: int, have: Collection[Key]) -> tuple[int, ...]:
    """Return the numbers of the passes without a verdict."""
    own = (answered.case, answered.reasoner, answered.backbone, judge.name, judge.style)
    return tuple(number for number in range(1, passes + 1) if (*own, number) not in have)


def _batches(papers: Iterable[Paper], judge: Judge, at_once: int) -> Iterator[list[Paper]]:
    """Yield the papers in order, in batches with `at_once` papers to ask about."""
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


def _read(request: Request, completion: Completion) -> Mark:
    """Return the mark and text of a reply, or None and why it is unusable."""
    try:
        fields = _fields(request, completion)
        word = one_of(fields, "verdict")
    except ReplyUnusable as error:
        return None, error.message
    if word not in _MARKS:
        return None, f"{word[:40]!r} is no mark"
    why = " ".join(" ".join(fields.get("why", ())).split())
    return _MARKS[word], f"{word}: {why}" if why else word


def _read_numbers(request: Request, completion: Completion, listed: int) -> tuple[list[int] | None, str]:
    """Return the numbers of a reply, one for each item of the answer, or None and why it is unusable."""
    try:
        order = _fields(request, completion).get("order", ())
    except ReplyUnusable as error:
        return None, error.message
    if wrong := [number for number in order if number not in numbers_of(range(listed))]:
        return None, f"{wrong[0][:20]!r} is none of the numbers"
    return [int(number) for number in order], ""


def _fields(request: Request, completion: Completion) -> Fields:
    if not completion.is_complete:
        raise ReplyUnusable(_CUT_OFF)
    return read_fields(completion.text, request)

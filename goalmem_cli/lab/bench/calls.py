"""Compare the calls of whole questions, made in the plain way and in goalmem's way: tokens evaluated, and seconds.

Both ways get the same requests, and each question is measured in one way right after the other, so that other load on
the machine affects both. `goalmem ask` is measured as a process, as a user runs it.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from goalmem_cli.errors import ModelError
from goalmem_cli.lab.bench.timing import Progress, run_goalmem, run_python, unwatched
from goalmem_cli.models.in_process.llama import LlamaModel
from goalmem_cli.models.in_process.plain_calls import PlainModel
from goalmem_cli.models.state_cache import StateCache
from goalmem_cli.ports import Completion, Example, GrammarShape, JsonShape, LanguageModel, Reasoner, Request
from goalmem_cli.records import Question

STATES_LIMIT = 2**31  # bytes: more than any benchmark run keeps


@dataclass(frozen=True, slots=True)
class Weights:
    """A model's file as shipped, the file that goalmem runs, and the loading options.

    `context` is in tokens; `threads` None means one per core.
    """

    shipped: Path
    path: Path
    context: int
    threads: int | None = None

    def plain(self) -> PlainModel:
        """Load the model for the library's common use.

        Raises:
            ModelError: it cannot be loaded.
        """
        return PlainModel.from_file(self.shipped, context=self.context, threads=self.threads)

    def goalmem(self, states: Path | None = None) -> LlamaModel:
        """Load the model as goalmem does; evaluated prompts are kept in the folder `states`, if given.

        Raises:
            ModelError: it cannot be loaded.
        """
        kept = None if states is None else StateCache(states, STATES_LIMIT)
        return LlamaModel.from_file(self.path, context=self.context, threads=self.threads, states=kept)


Calls: TypeAlias = tuple[tuple[Request, ...], ...]
"""The requests to a model, call by call."""


@dataclass(frozen=True, slots=True)
class RecordedQuestion:
    """A question with the calls that a reasoner made for it."""

    text: str
    calls: Calls

    @property
    def requests(self) -> list[Request]:
        """The requests of all calls, in order."""
        return [request for requests in self.calls for request in requests]


class RecordingModel:
    """Forwards every call to a model and records the requests."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._calls: list[tuple[Request, ...]] = []

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the model's completions."""
        self._calls.append(tuple(requests))
        return self._model.complete(requests)

    def take(self) -> Calls:
        """Return the calls since the last `take`, and forget them."""
        calls, self._calls = tuple(self._calls), []
        return calls


def record_questions(
    questions: Iterable[Question],
    model: LanguageModel,
    build: Callable[[LanguageModel], Reasoner],
    *,
    wanted: int,
    least_calls: int = 1,
    report: Progress = unwatched,
) -> list[RecordedQuestion]:
    """Return the first `wanted` questions that take a reasoner at least `least_calls` calls; fewer if there are none.

    `build` makes the reasoner over a model. `report` receives the number found.

    Raises:
        ModelError, StoreError: as in `Reasoner.answer`.
    """
    recording = RecordingModel(model)
    reasoner = build(recording)
    found: list[RecordedQuestion] = []
    for question in questions:
        if len(found) == wanted:
            break
        reasoner.answer(question)
        calls = recording.take()
        if len(calls) >= least_calls:
            found.append(RecordedQuestion(question.text, calls))
            report(len(found), wanted)
    return found


def calls_document(calls: Calls) -> list[list[dict[str, Any]]]:
    """Return the calls as JSON data."""
    return [[asdict(request) for request in requests] for requests in calls]


def calls_from_document(document: Sequence[Sequence[Mapping[str, Any]]]) -> Calls:
    """Return the calls from `calls_document`'s data."""
    return tuple(tuple(_request(request) for request in requests) for requests in document)


def _request(document: Mapping[str, Any]) -> Request:
    shape = document["shape"]
    return Request(
        step=document["step"],
        system=document["system"],
        examples=tuple(Example(**example) for example in document["examples"]),
        growing=document["growing"],
        tail=document["tail"],
        shape=JsonShape(shape["schema"]) if "schema" in shape else GrammarShape(shape["grammar"]),
        max_tokens=document["max_tokens"],
    )


PLAIN, GOALMEM = "plain", "goalmem"


@dataclass(frozen=True, slots=True)
class CallCost:
    """The cost of calls: prompt tokens, those of them that were evaluated, tokens written, and seconds."""

    prompt_tokens: int = 0
    evaluated_tokens: int = 0
    reply_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: CallCost) -> CallCost:
        return CallCost(
            self.prompt_tokens + other.prompt_tokens,
            self.evaluated_tokens + other.evaluated_tokens,
            self.reply_tokens + other.reply_tokens,
            self.seconds + other.seconds,
        )


@dataclass(frozen=True, slots=True)
class QuestionCosts:
    """One question: its number of calls and requests, and their cost in each way.

    `plain` evaluates every prompt from the start. `cold` is goalmem with an empty folder of evaluated prompts, `warm`
    with a full one. The model of each way is loaded once, before the first question.
    """

    question: str
    calls: int
    requests: int
    plain: CallCost
    cold: CallCost
    warm: CallCost


@dataclass(frozen=True, slots=True)
class AskCost:
    """The cost of `asked` questions, one process each.

    The seconds are those of the first, the median, and the longest. `peak_bytes` is the peak memory of a process, 0 if
    unknown. `unknown` counts questions without an answer.
    """

    asked: int
    unknown: int
    first_seconds: float
    seconds: float
    longest_seconds: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class CallsComparison:
    """All questions with their costs."""

    questions: tuple[QuestionCosts, ...]

    @property
    def plain(self) -> CallCost:
        """The total cost in the plain way."""
        return sum((question.plain for question in self.questions), CallCost())

    @property
    def cold(self) -> CallCost:
        """The total cost in goalmem's way with an initially empty folder of evaluated prompts."""
        return sum((question.cold for question in self.questions), CallCost())

    @property
    def warm(self) -> CallCost:
        """The total cost in goalmem's way with a full folder of evaluated prompts."""
        return sum((question.warm for question in self.questions), CallCost())


@dataclass(frozen=True, slots=True)
class ProcessCosts:
    """One question in its own process, which loads the model: the cost of its calls, and the seconds of the process."""

    question: str
    plain: CallCost
    plain_seconds: float
    warm: CallCost
    warm_seconds: float


def make_calls(model: LanguageModel, calls: Calls) -> CallCost:
    """Make the calls one after another and return their cost.

    Raises:
        ModelError: as in `LanguageModel.complete`.
    """
    cost = CallCost()
    for requests in calls:
        begun = time.perf_counter()
        completions = model.complete(requests)
        cost += CallCost(
            sum(completion.prompt_tokens for completion in completions),
            sum(completion.prompt_tokens - completion.cached_tokens for completion in completions),
            sum(completion.completion_tokens for completion in completions),
            time.perf_counter() - begun,
        )
    return cost


def compare_calls(
    weights: Weights,
    questions: Sequence[RecordedQuestion],
    folder: Path,
    report: Progress = unwatched,
) -> CallsComparison:
    """Make the calls of each question in three ways, each with a model that stays loaded.

    `folder` holds the evaluated prompts; `report` receives the number of questions done.

    Raises:
        ModelError: the model cannot be used.
    """
    fill_states(weights, questions, folder / "warm")
    done = []
    with (
        closing(weights.plain()) as plain,
        closing(weights.goalmem(folder / "cold")) as cold,
        closing(weights.goalmem(folder / "warm")) as warm,
    ):
        for question in questions:
            costs = (make_calls(model, question.calls) for model in (plain, cold, warm))
            done.append(QuestionCosts(question.text, len(question.calls), len(question.requests), *costs))
            report(len(done), len(questions))
    return CallsComparison(tuple(done))


def fill_states(weights: Weights, questions: Sequence[RecordedQuestion], folder: Path) -> None:
    """Fill the folder with goalmem's states of the questions' prompts, by one short request per step.

    Raises:
        ModelError: the model cannot be used.
    """
    steps = {request.step: request for question in questions for request in question.requests}
    with closing(weights.goalmem(folder)) as model:
        for request in steps.values():
            model.complete([replace(request, max_tokens=1)])


def compare_processes(
    weights: Weights,
    questions: Sequence[RecordedQuestion],
    folder: Path,
    report: Progress = unwatched,
) -> list[ProcessCosts]:
    """Make the calls of each question in separate processes, the plain way and goalmem's, with states on disk.

    Raises:
        ModelError: a process failed.
    """
    fill_states(weights, questions, folder / "warm")
    done = []
    for question in questions:
        plain, plain_seconds = _in_process(PLAIN, weights, question.calls, folder)
        warm, warm_seconds = _in_process(GOALMEM, weights, question.calls, folder)
        done.append(ProcessCosts(question.text, plain, plain_seconds, warm, warm_seconds))
        report(len(done), len(questions))
    return done


def measure_asking(questions: Sequence[str], words: Sequence[str], report: Progress = unwatched) -> AskCost:
    """Run `goalmem ask` with the arguments `words` for each question; there must be at least one.

    Raises:
        ModelError: a process failed.
    """
    ran = []
    for question in questions:
        ran.append(run_goalmem("ask", question, *words))
        if ran[-1].has_failed:
            raise ModelError(f"`goalmem ask` ended with {ran[-1].status}: {ran[-1].said}", "ask it by hand")
        report(len(ran), len(questions))
    seconds = [each.seconds for each in ran]
    return AskCost(
        asked=len(ran),
        unknown=sum(each.status != 0 for each in ran),
        first_seconds=seconds[0],
        seconds=statistics.median(seconds),
        longest_seconds=max(seconds),
        peak_bytes=max(each.peak_bytes for each in ran),
    )


def _in_process(way: str, weights: Weights, calls: Calls, folder: Path) -> tuple[CallCost, float]:
    job = folder / f"{way}.json"
    job.parent.mkdir(parents=True, exist_ok=True)
    setup = {**asdict(weights), "shipped": str(weights.shipped), "path": str(weights.path)}
    content = {"way": way, "states": str(folder / "warm"), "weights": setup, "calls": calls_document(calls)}
    job.write_text(json.dumps(content), "utf-8")
    ran = run_python(["-m", "goalmem_cli.lab.bench.calls", str(job)])
    if ran.status:
        raise ModelError(f"the process that was measured ended with {ran.status}: {ran.said}", "goalmem doctor")
    return CallCost(**json.loads(result_file(job).read_text("utf-8"))), ran.seconds


def result_file(job: Path) -> Path:
    """Return the file in which a job's process writes its costs."""
    return job.with_suffix(".result")


def do_job(job: Path) -> None:
    """Make the calls of a job file in its way, and write their cost next to it.

    Raises:
        ModelError: the model cannot be used.
    """
    content = json.loads(job.read_text("utf-8"))
    setup = content["weights"]
    weights = Weights(**{**setup, "shipped": Path(setup["shipped"]), "path": Path(setup["path"])})
    with closing(weights.plain() if content["way"] == PLAIN else weights.goalmem(Path(content["states"]))) as model:
        cost = make_calls(model, calls_from_document(content["calls"]))
    result_file(job).write_text(json.dumps(asdict(cost)), "utf-8")


if __name__ == "__main__":  # `compare_processes` runs it, once a question and way
    do_job(Path(sys.argv[1]))

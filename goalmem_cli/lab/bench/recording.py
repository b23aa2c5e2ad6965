"""Record the requests that a reasoner makes for questions, to repeat them in other ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from goalmem_cli.lab.bench.timing import Progress, unwatched
from goalmem_cli.ports import Completion, Example, GrammarShape, JsonShape, LanguageModel, Reasoner, Request
from goalmem_cli.records import Question

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

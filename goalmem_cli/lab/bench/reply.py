"""Measure the cost of reply forms: the grammar's share of each token, and the tokens of JSON against lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from goalmem_cli.lab.bench.timing import Progress, median_ms, unwatched
from goalmem_cli.lab.bench.ways import Weights
from goalmem_cli.lab.bench.writing import FREE, Writing, written
from goalmem_cli.ports import Example, LanguageModel, Request
from goalmem_cli.prompts import PromptBook

_LEAST_TOKENS = 16
_COMPILATIONS = 5
_QUESTION = re.compile(r"^Question: (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GrammarCost:
    """The cost of a step's grammar: constrained against free replies, and the median compile time."""

    step: str
    held: Writing
    free: Writing
    compile_ms: float


@dataclass(frozen=True, slots=True)
class ReplyForms:
    """The tokens of a step's reply to one example question, as JSON and as lines."""

    step: str
    json_tokens: int
    line_tokens: int


@dataclass(frozen=True, slots=True)
class ReplyFigures:
    """The costs of reply forms."""

    grammars: tuple[GrammarCost, ...]
    forms: tuple[ReplyForms, ...]

    @property
    def held(self) -> Writing:
        """All writing under grammars."""
        return sum((cost.held for cost in self.grammars), Writing())

    @property
    def free(self) -> Writing:
        """All writing without grammars."""
        return sum((cost.free for cost in self.grammars), Writing())


def measure_replies(
    weights: Weights,
    requests: Sequence[Request],
    full: PromptBook,
    compact: PromptBook,
    *,
    samples: int = 3,
    report: Progress = unwatched,
) -> ReplyFigures:
    """Measure `samples` requests of each step, and every worked example that both profiles have.

    `report` receives the number of requests done.

    Raises:
        ModelError: the model cannot be used.
    """
    by_step: dict[str, list[Request]] = {}
    for request in requests:
        by_step.setdefault(request.step, []).append(request)
    samples_of = {step: of_step[:samples] for step, of_step in by_step.items()}
    done, total = 0, sum(map(len, samples_of.values()))
    grammars = []
    with closing(weights.goalmem()) as model, closing(weights.plain()) as plain:
        for step, of_step in samples_of.items():
            held = free = Writing()
            for request in of_step:
                one, other = _writings(model, request)
                held, free = held + one, free + other
                done += 1
                report(done, total)
            shape = of_step[0].shape
            compile_ms = median_ms(lambda shape=shape: plain.compile_grammar(shape), _COMPILATIONS)  # type: ignore[misc]
            grammars.append(GrammarCost(step, held, free, compile_ms))
        return ReplyFigures(tuple(grammars), tuple(reply_forms(full, compact, model.count_tokens)))


def _writings(model: LanguageModel, request: Request) -> tuple[Writing, Writing]:
    """Return the writing speed of a reply under its grammar, and of a free one of about the same length."""
    held = written(model, [request])
    return held, written(model, [replace(request, shape=FREE, max_tokens=max(held.tokens + 1, _LEAST_TOKENS))])


def reply_forms(full: PromptBook, compact: PromptBook, count_tokens: Callable[[str], int]) -> Iterator[ReplyForms]:
    """Yield for each step the token counts of both profiles' example replies to the same question."""
    for step in sorted(full.prompts.keys() & compact.prompts.keys()):
        lines = _by_question(compact[step].examples)
        both = [
            (reply, lines[question])
            for question, reply in _by_question(full[step].examples).items()
            if question in lines
        ]
        for reply, line in both[:1]:
            yield ReplyForms(step, count_tokens(reply), count_tokens(line))


def _by_question(examples: Iterable[Example]) -> dict[str, str]:
    """Return the first reply to each question of the examples."""
    found: dict[str, str] = {}
    for example in examples:
        for question in _QUESTION.findall(example.input):
            found.setdefault(question, example.output)
    return found

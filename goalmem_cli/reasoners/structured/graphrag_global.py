"""`graphrag-global`: reads all reports for points on a question, then answers from the best (GraphRAG section 2.6).

It suits questions about a whole memory: it retrieves nothing, and reads every report.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from goalmem_cli.backbones.scope import scope_of
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.model_replies import Fields
from goalmem_cli.reasoners.inquiry import Inquiry, Reading, Tools, is_refusal, one_of
from goalmem_cli.reasoners.prompt_texts import fact_line
from goalmem_cli.records import Hit, Query, Question
from goalmem_cli.store.passages import estimate_tokens
from goalmem_cli.trace import Fact, Stop, Trace

NAME = "graphrag-global"
MAP, REDUCE = "graphrag_map", "graphrag_reduce"
STEPS = (MAP, REDUCE)
MEMORY = "graphrag"
_SEED = 86  # GraphRAG's own, for the order of the reports
_POINT = re.compile(r"((?:F\d+ )+)(\d{1,3}) (\S.*)")
_HIGHEST = 100


class Reports(Protocol):
    """A memory that keeps reports on its communities."""

    def reports(self, query: Query) -> list[Hit]:
        """Return the reports that pass the query's filters, the broadest and some levels below them."""
        ...


@dataclass(frozen=True, slots=True)
class Point:
    """A point that some reports make about a question, and how much it helps, from 1 to 100."""

    text: str
    score: int
    facts: tuple[str, ...]


def calls(batches: int) -> tuple[int, int]:
    """Return the least and the most model calls of a question for which there are reports, without retries."""
    return 1, batches + 1


class GraphRAGGlobal:
    """Asks for the points in each batch of reports, then for an answer from the best points.

    A batch has as many reports as the budget's tokens hold. There are at most `batches` of them.
    """

    def __init__(self, tools: Tools, memory: Reports, batches: int) -> None:
        self._tools = tools
        self._memory = memory
        self._batches = batches

    def answer(self, question: Question) -> Trace:
        """Return the trace of the question."""
        room = replace(self._tools.budget, units=sys.maxsize, tokens=sys.maxsize)
        inquiry = Inquiry(NAME, question, replace(self._tools, budget=room))
        reports = self._memory.reports(scope_of(question, question.text))
        reports.sort(key=lambda hit: hit.unit.id)
        random.Random(_SEED).shuffle(reports)  # noqa: S311 - no secret, but the same each time
        inquiry.take(reports, brings=False)
        batches = _batches(inquiry.pool, self._tools.budget.tokens)
        if len(batches) > self._batches:
            left = sum(map(len, batches[self._batches :]))
            inquiry.note(
                f"{left:,} of {len(reports):,} reports were not read: there was room for {self._batches} calls"
            )
        points = [
            point
            for batch in batches[: self._batches]
            for point in inquiry.ask(MAP, partial(_points, batch), {"facts": _numbers(batch)}, batch) or ()
        ]
        return self._reduced(inquiry, sorted(points, key=lambda point: -point.score))

    def _reduced(self, inquiry: Inquiry, points: Sequence[Point]) -> Trace:
        kept: dict[str, Point] = {}
        left = self._tools.budget.tokens
        for number, point in enumerate(points, 1):
            left -= estimate_tokens(point.text)
            if left < 0 and kept:
                inquiry.note(f"{len(points) - len(kept):,} of {len(points):,} points were left out of the last call")
                break
            kept[f"P{number}"] = point
        if not kept:
            inquiry.note("no report says anything of it" if inquiry.pool else "there is no report to read")
            return inquiry.conclude(Reading(None), Stop.ONE_ROUND)
        lines = [f"{number} ({point.score}): {point.text}" for number, point in kept.items()]
        reading = inquiry.ask(REDUCE, partial(_reading, kept), {"points": list(kept)}, points=lines)
        return inquiry.conclude(reading, Stop.ONE_ROUND)


def _batches(facts: Sequence[Fact], tokens: int) -> list[list[Fact]]:
    batches: list[list[Fact]] = []
    full = 0
    for fact in facts:
        size = estimate_tokens(fact_line(fact))
        if not batches or full + size > tokens:
            batches.append([])
            full = 0
        batches[-1].append(fact)
        full += size
    return batches


def _numbers(facts: Sequence[Fact]) -> list[str]:
    return [fact.number for fact in facts]


def _points(batch: Sequence[Fact], fields: Fields) -> tuple[Point, ...]:
    """Return the points of a reply that say something, each with the reports it rests on.

    Raises:
        ReplyUnusable: a point is of another form, scores above 100, or names a report that was not shown.
    """
    found = []
    for text in fields.get("points", ()):
        match = _POINT.fullmatch(text)
        if match is None:
            if text == "none":
                continue
            raise ReplyUnusable(f"the point {text[:60]!r} has no reports, no score or no text")
        facts, score = tuple(dict.fromkeys(match[1].split())), int(match[2])
        if unknown := [number for number in facts if number not in _numbers(batch)]:
            raise ReplyUnusable(f"{unknown[0]!r} is none of the reports")
        if score > _HIGHEST:
            raise ReplyUnusable(f"the score {score} is above {_HIGHEST}")
        if score:
            found.append(Point(match[3], score, facts))
    return tuple(found)


def _reading(points: dict[str, Point], fields: Fields) -> Reading:
    """Return the answer with the reports behind the points that it names.

    Raises:
        ReplyUnusable: there is no answer, or it names no point, or one that was not shown.
    """
    answer = one_of(fields, "answer")
    if is_refusal(answer):
        return Reading(None)
    cited = [part.strip() for text in fields.get("points", ()) for part in text.split(",") if part.strip()]
    if unknown := [number for number in cited if number not in points]:
        raise ReplyUnusable(f"{unknown[0][:20]!r} is none of the points")
    if not cited:
        raise ReplyUnusable("it names no point that the answer rests on")
    return Reading(answer, tuple(dict.fromkeys(fact for number in cited for fact in points[number].facts)))

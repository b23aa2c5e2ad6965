"""The retrieval queries of a benchmark question: its own words, or the subgoals of a plan.

They measure whether goal-directed retrieval pays, with the same backbone, scope and budget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.logic import NotationError, parse_atom
from goalmem_cli.ports import Backbone
from goalmem_cli.reasoners.facts import round_robin
from goalmem_cli.records import Hit, Query, Question

Planner = Callable[[Question], Sequence[str]]
"""Returns a model's subgoals for a question, as plain words; none if its reply is unusable."""


class QueryKind(StrEnum):
    """The kind of queries: the question, gold subgoals, these with question and refinements, or a model's subgoals."""

    QUESTION = "question"
    PLAN = "plan"
    PLAN_AND_REFINEMENTS = "plan+refinements"
    MODEL = "model"


def gold_queries(case: Case, kind: QueryKind) -> tuple[str, ...]:
    """Return the queries of a case, each once; plan queries are empty if the case has no gold plan."""
    if kind is QueryKind.QUESTION:
        return (case.question,)
    if case.plan is None:
        return ()
    texts = [plain_words(step.text) for step in case.plan.subgoals]
    if kind is QueryKind.PLAN_AND_REFINEMENTS:
        texts = [case.question, *texts, *(plain_words(step.text) for step in case.plan.refinements)]
    return tuple(dict.fromkeys(texts))


def plain_words(text: str) -> str:
    """Return an atom's text as words: constants by name, variables by type, without brackets and stars."""
    try:
        return parse_atom(text).phrase
    except NotationError:
        return text


def retrieve_fused(backbone: Backbone, queries: Sequence[str], scope: Query, k: int) -> list[Hit]:
    """Return the first k units of a round-robin over the queries' results, each unit once.

    Raises:
        StoreError: the memory cannot be read.
    """
    lists = [backbone.retrieve(replace(scope, text=text), k) for text in queries]
    hits: dict[str, Hit] = {}
    for hit in round_robin(lists):
        hits.setdefault(hit.unit.id, hit)
    return list(hits.values())[:k]

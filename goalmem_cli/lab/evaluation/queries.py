"""What a benchmark question is retrieved with: its own words, or the subgoals of a plan for it.

Does goal-directed retrieval pay? The same backbone, scope and budget, with one query or several.
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
"""Gives the subgoals, as plain words, of the decomposition that a model makes; none where its reply is unusable."""


class QueryKind(StrEnum):
    """What is retrieved with: the question, its gold subgoals, those with question and refinements, or a model's."""

    QUESTION = "question"
    PLAN = "plan"
    PLAN_AND_REFINEMENTS = "plan+refinements"
    MODEL = "model"


def gold_queries(case: Case, kind: QueryKind) -> tuple[str, ...]:
    """Return the queries of a case, each once; those of a plan are none where the case has no gold plan."""
    if kind is QueryKind.QUESTION:
        return (case.question,)
    if case.plan is None:
        return ()
    texts = [plain_words(step.text) for step in case.plan.subgoals]
    if kind is QueryKind.PLAN_AND_REFINEMENTS:
        texts = [case.question, *texts, *(plain_words(step.text) for step in case.plan.refinements)]
    return tuple(dict.fromkeys(texts))


def plain_words(text: str) -> str:
    """Return an atom's text as words: a constant as its name, a variable as its type, without brackets and stars."""
    try:
        return parse_atom(text).phrase
    except NotationError:
        return text


def retrieve_fused(backbone: Backbone, queries: Sequence[str], scope: Query, k: int) -> list[Hit]:
    """Return the k units that come first when each query's best is taken in turn, each unit once.

    Raises:
        StoreError: the memory could not be read.
    """
    lists = [backbone.retrieve(replace(scope, text=text), k) for text in queries]
    hits: dict[str, Hit] = {}
    for hit in round_robin(lists):
        hits.setdefault(hit.unit.id, hit)
    return list(hits.values())[:k]

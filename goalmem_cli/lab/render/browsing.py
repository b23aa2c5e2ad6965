"""The data of the page's question browser: a small index, and the details of each question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from goalmem_cli.json_records import plain
from goalmem_cli.lab.evaluation.cases import DEPTHS, Case
from goalmem_cli.lab.evaluation.runs.judge import gold_of
from goalmem_cli.lab.evaluation.runs.run import Answered, Retrieved, Run, Verdict
from goalmem_cli.lab.evaluation.summaries.errors import RIGHT, mark
from goalmem_cli.lab.evaluation.summaries.summary import ANSWERS, REASONING, SUPPORT, Row, Scores, Summary
from goalmem_cli.lab.render.cells import label
from goalmem_cli.lab.render.figures import in_words, names_of
from goalmem_cli.render.text import when
from goalmem_cli.trace import Fact, Trace

_ID_LENGTH = 32
_DIGITS = 4
_SCORES = (*ANSWERS, *(f"recall@{k}" for k in DEPTHS), *REASONING, *SUPPORT)
_LEFT_OUT = {"reasoner", "question", "asked", "facts", "model", "adapter", "asker", "prompts"}

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Browsing:
    """The data of the browser as JSON values. `details` has an entry per question, read when the question is chosen."""

    index: Json
    facts: list[list[str]]
    details: list[Json]


@dataclass(frozen=True, slots=True)
class _Collected:
    """One question of a dataset, and the result of every row for it."""

    dataset: str
    category: str
    case: Case
    results: list[Json] = field(default_factory=list)


class _Facts:
    """The facts of all traces, each once."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self._places: dict[tuple[str, ...], int] = {}
        self._turns: dict[tuple[str, str], int] = {}

    def place(self, fact: Fact) -> int:
        """Return the fact's index in `rows`, where it is added if it is new."""
        labels = [label for label in fact.turns if len(label) != _ID_LENGTH]
        about = "; ".join((*fact.times, *(f"in place of: {each}" for each in fact.instead)))
        row = (fact.conversation, " ".join(labels), fact.speaker, when(fact.said), fact.text, about)
        if row not in self._places:
            self._places[row] = len(self.rows)
            self.rows.append(list(row))
            for label in labels:
                self._turns.setdefault((fact.conversation, label), self._places[row])
        return self._places[row]

    def of_turn(self, conversation: str, label: str) -> int | None:
        """Return the index of a fact from the turn, None if no trace has one."""
        return self._turns.get((conversation, label))


def browsing(summaries: Sequence[Summary], runs: Sequence[Run]) -> Browsing:
    """Return the data of the browser for these runs; a question of several runs has one entry."""
    facts, questions = _Facts(), dict[tuple[str, str], _Collected]()
    rows = ((summary, run, row) for summary, run in zip(summaries, runs, strict=True) for row in summary.rows)
    for summary, run in zip(summaries, runs, strict=True):
        for placed in run.cases:
            case = placed.case
            category = summary.categories.get(case.category, case.category)
            collected = _Collected(summary.manifest.dataset, category, case)
            questions.setdefault((summary.manifest.digest, case.id), collected)
    for number, (summary, run, row) in enumerate(rows):
        for case_id, result in _results(run, row, facts):
            if found := questions.get((summary.manifest.digest, case_id)):
                own = row.scores.get(case_id, {})
                value = mark(found.case, run.manifest.format, own)
                outcome = _outcome(value, own, is_answered="trace" in result)
                found.results.append({"row": number, **result, **outcome})
    members = list(questions.values())
    return Browsing(_index(_labels(summaries), members), facts.rows, [_detail(each, facts) for each in members])


def _labels(summaries: Sequence[Summary]) -> list[str]:
    """Return the name of each row, with its dataset if there are several."""
    members = [(summary, row) for summary in summaries for row in summary.rows]
    has_datasets = len({summary.manifest.dataset for summary in summaries}) > 1
    return [
        in_words(name) + (f" ({summary.manifest.dataset})" if has_datasets else "")
        for (summary, _), name in zip(members, names_of(members), strict=True)
    ]


def _index(labels: Sequence[str], questions: Sequence[_Collected]) -> Json:
    """Return the index: each question's texts for searching, and its outcome in every row."""
    categories = list(dict.fromkeys(each.category for each in questions))
    datasets = list(dict.fromkeys(each.dataset for each in questions))
    return {
        "rows": list(labels),
        "labels": [[name, label(name)] for name in _SCORES],
        "right": RIGHT,
        "categories": categories,
        "datasets": datasets,
        "questions": [
            {
                "text": each.case.question,
                "gold": gold_of(each.case),
                "category": categories.index(each.category),
                "dataset": datasets.index(each.dataset),
                "results": [
                    [result["row"], result["outcome"], result["is_refused"], _said(result)]
                    for result in each.results
                ],
            }
            for each in questions
        ],
    }  # fmt: skip


def _detail(question: _Collected, facts: _Facts) -> Json:
    """Return the details of one question; its evidence has the index of a fact from each turn, if any."""
    case = question.case
    return {
        "id": case.id,
        "conversation": case.conversation,
        "question": case.question,
        "gold": gold_of(case),
        "is_unanswerable": case.is_unanswerable,
        "tempting": case.adversarial_answer or "",
        "category": question.category,
        "evidence": [[label, facts.of_turn(case.conversation, label)] for label in case.evidence],
        "results": question.results,
    }


def _said(result: Json) -> str:
    return result["trace"]["answer"] or "" if "trace" in result else ""


def _results(run: Run, row: Row, facts: _Facts) -> Iterable[tuple[str, Json]]:
    """Yield (case id, result) for each question of a row: its retrieval, or its answer with verdicts."""
    if row.queries:
        for retrieved in run.retrieved:
            if (retrieved.backbone, retrieved.kind) == (row.backbone, row.queries):
                yield retrieved.case, {"retrieved": _retrieved(retrieved)}
        return
    verdicts: dict[str, list[Verdict]] = {}
    for verdict in run.verdicts:
        if (verdict.reasoner, verdict.backbone) == (row.reasoner, row.backbone):
            verdicts.setdefault(verdict.case, []).append(verdict)
    for answered in run.answered:
        if (answered.reasoner, answered.backbone) == (row.reasoner, row.backbone):
            yield answered.case, _answered(answered, verdicts.get(answered.case, ()), facts)


def _answered(answered: Answered, verdicts: Iterable[Verdict], facts: _Facts) -> Json:
    """Return an answer's trace and verdicts as JSON."""
    return {
        "trace": _trace(answered.trace, facts),
        "verdicts": [
            [verdict.judge, verdict.prompt, verdict.number, verdict.is_right, verdict.reply] for verdict in verdicts
        ],
    }


def _retrieved(retrieved: Retrieved) -> Json:
    """Return a retrieval as JSON, with the first rank of each turn."""
    ranks: dict[str, int] = {}
    for rank, labels in enumerate(retrieved.units, 1):
        for turn in labels:
            ranks.setdefault(turn, rank)
    return {"queries": list(retrieved.queries), "ranks": ranks, "units": len(retrieved.units)}


def _trace(trace: Trace, facts: _Facts) -> Json:
    """Return the trace without what the page shows elsewhere; its facts are indexes in the table of facts."""
    numbers = {number: facts.place(fact) for number, fact in trace.facts.items()}
    shown = {slot.name: plain(getattr(trace, slot.name)) for slot in fields(trace) if slot.name not in _LEFT_OUT}
    return {**shown, "facts": numbers}


def _outcome(value: float | None, scores: Scores, *, is_answered: bool) -> Json:
    """Return the outcome for a mark (right, wrong, unscored or retrieved), whether it was refused, and the scores."""
    is_refused = scores.get("refused", 0.0) > 0
    outcome = "unscored" if value is None else "right" if value >= RIGHT else "wrong"
    if not is_answered:
        outcome = "retrieved"
    rounded = {name: round(number, _DIGITS) for name, number in scores.items()}
    return {"outcome": outcome, "is_refused": is_refused, "scores": rounded}

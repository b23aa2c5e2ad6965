"""Summarise a run: means with intervals for every row of the comparison, as frozen data for reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from statistics import fmean, pstdev

from goalmem_cli.lab.evaluation.cases import DEPTHS, Case
from goalmem_cli.lab.evaluation.datasets.locomo import MEM0_CATEGORIES
from goalmem_cli.lab.evaluation.metrics.agreement import FAULTS
from goalmem_cli.lab.evaluation.metrics.bootstrap import Interval, interval, paired
from goalmem_cli.lab.evaluation.metrics.plan_quality import cited_without_reading
from goalmem_cli.lab.evaluation.metrics.refusal import Refusal, refusal_scores
from goalmem_cli.lab.evaluation.queries import QueryKind
from goalmem_cli.lab.evaluation.runs.judge import is_self_judged
from goalmem_cli.lab.evaluation.runs.run import (
    CERTAINTY,
    NO_REASONER,
    Answered,
    Faulted,
    Grown,
    Manifest,
    Retrieved,
    Run,
    Verdict,
)
from goalmem_cli.lab.evaluation.summaries.errors import ErrorClass, error_of, mark
from goalmem_cli.lab.evaluation.summaries.parts import Part, by_part
from goalmem_cli.lab.evaluation.summaries.scores import OVER_ALL, has_ranks, over_all, score, tokens_of
from goalmem_cli.records import Usage
from goalmem_cli.trace import Status, Trace

ANSWERS = (
    "f1", "token_f1", "mem0_f1", "bleu1", "exact", "exact_strict", "set_precision", "set_recall", "set_f1",
    "set_accuracy", "answer_f1", "judge", "judge_precision", "refused",
)  # fmt: skip
MEMORY_TOKENS = "memory_tokens"
USAGE = (
    "calls", "prompt_tokens", "shown_tokens", "cached_tokens", "completion_tokens", "search_tokens", MEMORY_TOKENS,
    "seconds",
)  # fmt: skip
SEARCH = ("breadth", "depth", "subgoals")
REASONING = ("plan_parsed", "subgoal_match", "grounding_precision", "grounding_recall", "bindings_right")
SUPPORT = ("stated", "derived", "inferred")
LIMITS: Mapping[str, int] = {"depth": 0, "breadth": 1}
"""The limits of the search of `goal-mem`, and the least of each."""

PAIRED = ("f1", "judge", "set_f1", "set_accuracy", "exact", "refused")
BASELINE = "direct"

Scores = Mapping[str, float]


class CategoryNames(StrEnum):
    """The names of a dataset's categories: its own, or those of papers after Mem0 for LoCoMo."""

    OFFICIAL = "official"
    MEM0 = "mem0"


@dataclass(frozen=True, slots=True)
class Category:
    """The questions of one category in a row; `metrics` as in `Row.metrics`, with ``recall@k``."""

    name: str
    n: int
    metrics: Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts of one judge with one prompt on a row's answers.

    `accuracy` is over the questions with a readable verdict, None if there is none. `verdicts` counts all, `unscored`
    the unreadable ones. `usage` is the total cost; older runs did not record it.
    """

    judge: str
    prompt: str
    accuracy: Interval | None
    verdicts: int
    unscored: int
    is_self_judged: bool
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean of the conversations' means, their standard deviation, and the number of conversations."""

    mean: float
    deviation: float
    conversations: int


@dataclass(frozen=True, slots=True)
class Row:
    """One reasoner over one backbone, or one kind of query over one backbone if nothing is answered.

    `n` questions are done, `unfinished` are left. Each interval has its own n, because a metric skips questions that it
    does not apply to. `usage` is per question. `distributions` count the values of breadth, depth and subgoals;
    `support` are totals of bindings by origin. `paired` are the mean differences to the baseline over questions that
    both answered. `scores` are the scores by case. For a row that only retrieves, `queries` is the kind of query,
    `without_queries` counts questions without such queries, and `unplanned` those asked with the question itself
    because a model's plan was unusable. `failed` questions had unusable replies or could not be asked, and count as
    refused if they have an answer. `indexing` is the total cost of building the backbone, and `grown` its size
    afterwards. `unranked` answers give no `recall`, because the order of their facts is unknown. `left_out` counts hits
    per question that did not fit into the tokens of facts.
    `errors` count the classes of wrong answers. `within` has for each of `LIMITS` the share of right answers if the
    search had ended there. `labels` has the diagnostics of the labels chosen for questions,
    `faults` the shares of choices that a model found faulty.
    """

    reasoner: str
    backbone: str
    n: int
    unfinished: int
    metrics: Mapping[str, Interval] = field(default_factory=dict)
    by_category: Mapping[str, Category] = field(default_factory=dict)
    refusal: Refusal | None = None
    recall: Mapping[int, Interval] = field(default_factory=dict)
    usage: Mapping[str, Interval] = field(default_factory=dict)
    distributions: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    reasoning: Mapping[str, Interval] = field(default_factory=dict)
    support: Mapping[str, int] = field(default_factory=dict)
    judged: tuple[Judged, ...] = ()
    paired: Mapping[str, Interval] = field(default_factory=dict)
    queries: str = ""
    without_queries: int = 0
    unplanned: int = 0
    failed: int = 0
    unranked: int = 0
    left_out: Interval | None = None
    scores: Mapping[str, Scores] = field(default_factory=dict, repr=False)
    indexing: Usage = field(default_factory=Usage)
    by_part: Mapping[str, Mapping[str, Part]] = field(default_factory=dict)
    grown: Grown | None = None
    labels: Mapping[str, Spread] = field(default_factory=dict)
    faults: Mapping[str, Interval] = field(default_factory=dict)
    errors: Mapping[ErrorClass, int] = field(default_factory=dict)
    within: Mapping[str, Mapping[int, Interval]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The row's name in tables: the reasoner, with the kind of query if it only retrieves."""
        return f"{self.reasoner}: {self.queries}" if self.queries else self.reasoner


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of one run. `categories` maps code to name, in table order.

    `judge` are the judge and prompt behind the metric ``judge``; `variants` are as in `Run`.
    """

    manifest: Manifest
    cases: int
    baseline: str
    categories: Mapping[str, str]
    rows: tuple[Row, ...]
    judge: tuple[str, str] | None = None
    variants: Mapping[str, tuple[str, Mapping[str, str]]] = field(default_factory=dict)

    @property
    def measured_with(self) -> str:
        """The run's model, and its embedder if it is recorded."""
        embedder = self.manifest.settings.get("embedder", "")
        return f"{self.manifest.model}{f' with embedder {embedder}' if embedder else ''}"

    def told(self, row: Row) -> tuple[str, str, Mapping[str, str]]:
        """Return the original reasoner and backbone of a row that may be a variant, and the settings of its run.

        If each of several reasoners has a least certainty of its own, the settings have that of the row's.
        """
        usual = self.manifest.settings
        reasoner, told = self.variants.get(row.reasoner, (row.reasoner, usual))
        backbone, also = self.variants.get(row.backbone, (row.backbone, usual))
        settings = told if row.reasoner in self.variants else also
        least, names = settings.get(CERTAINTY, "").split("/"), self.manifest.reasoners
        if len(least) == len(names) > 1 and row.reasoner in names:
            settings = {**settings, CERTAINTY: least[names.index(row.reasoner)]}
        return reasoner, backbone, settings


@dataclass(frozen=True, slots=True)
class _Answers:
    """The answers of one row with their scores by case."""

    scores: Mapping[str, Scores]
    verdicts: tuple[Verdict, ...]
    failed: int
    unranked: int
    errors: Mapping[ErrorClass, int]
    within: Mapping[str, Mapping[int, Interval]]


def summarise(run: Run, baseline: str = BASELINE, names: CategoryNames = CategoryNames.OFFICIAL) -> Summary:
    """Return the means, with 95% intervals, of every row of a run, finished or not.

    Args:
        run: the run so far.
        baseline: the reasoner to compare the others with, question by question, over the same backbone.
        names: which category names to use.
    """
    cases = {placed.case.id: placed.case for placed in run.cases}
    categories = _categories(run.manifest, cases.values(), names)
    judge = _judge_of(run.verdicts)
    scored = {key: _scored(run, key, answers, cases, judge) for key, answers in _answers_of(run).items()}
    rows = [
        _answering_row(run, key, answers, cases, categories, scored.get((baseline, key[1])))
        for key, answers in scored.items()
    ]
    rows += [_retrieving_row(run, key, retrieved, cases, categories) for key, retrieved in _retrieved_of(run).items()]
    indexing = _indexing(run)
    grown = {each.backbone: each for each in run.grown}
    rows = [replace(row, indexing=indexing.get(row.backbone, Usage()), grown=grown.get(row.backbone)) for row in rows]
    return Summary(run.manifest, len(cases), baseline, categories, tuple(rows), judge, run.variants)


def named_categories(categories: Mapping[str, str], form: str, names: CategoryNames) -> dict[str, str]:
    """Return the categories of a dataset by code, under the chosen names."""
    if names is CategoryNames.MEM0 and form == "locomo":
        return {code: MEM0_CATEGORIES.get(code, name) for code, name in categories.items()}
    return dict(categories)


def accuracies(verdicts: Iterable[Verdict]) -> dict[str, float]:
    """Return each case's mean mark over its readable verdicts, from 0 to 1; cases without one are left out."""
    said: dict[str, list[float]] = {}
    for verdict in verdicts:
        if verdict.mark is not None:
            said.setdefault(verdict.case, []).append(verdict.mark)
    return {case: sum(marks) / len(marks) for case, marks in said.items()}


def recall_at(units: Sequence[Sequence[str]], evidence: Iterable[str], k: int) -> float:
    """Return the share of the (non-empty) evidence among the first k units' labels."""
    wanted = set(evidence)
    found = {label for labels in units[:k] for label in labels}
    return len(wanted & found) / len(wanted)


def _categories(manifest: Manifest, cases: Iterable[Case], names: CategoryNames) -> dict[str, str]:
    there = {case.category for case in cases}
    own = {code: name for code, name in manifest.categories.items() if code in there}
    own |= {code: code for code in sorted(there - own.keys())}
    return named_categories(own, manifest.format, names)


def _judge_of(verdicts: Sequence[Verdict]) -> tuple[str, str] | None:
    """Return the judge and prompt behind the metric: the first of the run."""
    return (verdicts[0].judge, verdicts[0].prompt) if verdicts else None


def _answers_of(run: Run) -> dict[tuple[str, str], list[Answered]]:
    """Return the answers by reasoner and backbone, in the manifest's order, each question once."""
    order = [(reasoner, backbone) for reasoner in run.manifest.reasoners for backbone in run.manifest.backbones]
    rows: dict[tuple[str, str], dict[str, Answered]] = {
        key: {} for key in order if key[0] != NO_REASONER and key not in run.absent
    }  # rows without answers are included
    for answered in run.answered:
        rows.setdefault((answered.reasoner, answered.backbone), {}).setdefault(answered.case, answered)
    return {key: list(answers.values()) for key, answers in rows.items()}


def _indexing(run: Run) -> dict[str, Usage]:
    """Return the cost of building each backbone."""
    costs: dict[str, Usage] = {}
    for built in run.built:
        costs[built.backbone] = costs.get(built.backbone, Usage()) + built.usage
    return costs


def _retrieved_of(run: Run) -> dict[tuple[str, str], list[Retrieved]]:
    """Return the retrievals by kind of query and backbone, each question once."""
    rows: dict[tuple[str, str], dict[str, Retrieved]] = {}
    for retrieved in run.retrieved:
        rows.setdefault((retrieved.kind, retrieved.backbone), {}).setdefault(retrieved.case, retrieved)
    return {key: list(members.values()) for key, members in rows.items()}


def _scored(
    run: Run,
    key: tuple[str, str],
    answers: Sequence[Answered],
    cases: Mapping[str, Case],
    judge: tuple[str, str] | None,
) -> _Answers:
    """Return the answers of one row with their scores; `judge` is the judge and prompt whose verdicts count."""
    verdicts = tuple(verdict for verdict in run.verdicts if (verdict.reasoner, verdict.backbone) == key)
    by_case: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        if (verdict.judge, verdict.prompt) == judge:
            by_case.setdefault(verdict.case, []).append(verdict)
    ranked = {answer.case: has_ranks(answer.trace, run.manifest.settings) for answer in answers}
    scores = {
        name: score(cases[name], run.manifest.format, answer.trace, by_case.get(name, ()), is_ranked=ranked[name])
        | tokens_of(answer)
        for answer in answers
        if (name := answer.case) in cases
    }
    if any(case.is_unanswerable for case in cases.values()):
        scores = {name: each | over_all(cases[name], each, is_judged=bool(by_case)) for name, each in scores.items()}
    scored = [(cases[answer.case], answer.trace, scores[answer.case]) for answer in answers if answer.case in scores]
    wrong = [error_of(case, run.manifest.format, trace, own) for case, trace, own in scored]
    return _Answers(
        scores,
        verdicts,
        sum(answer.trace.status is Status.FAILED for answer in answers),
        sum(not each for each in ranked.values()),
        {kind: wrong.count(kind) for kind in ErrorClass if kind in wrong},
        _within(run.manifest.format, scored),
    )


def _answering_row(
    run: Run,
    key: tuple[str, str],
    answers: _Answers,
    cases: Mapping[str, Case],
    categories: Mapping[str, str],
    baseline: _Answers | None,
) -> Row:
    """Return the row of one reasoner over one backbone; `baseline` is the row to compare it with, if any."""
    scores = answers.scores
    values = _values(scores.values())
    depths = {} if answers.unranked else {f"recall@{k}": k for k in DEPTHS}
    return Row(
        *key,
        n=len(scores),
        unfinished=len(cases) - len(scores),
        metrics=_intervals(values, (*ANSWERS, *OVER_ALL)),
        by_category=_by_category(categories, cases, scores, (*ANSWERS, *OVER_ALL, *depths)),
        refusal=refusal_scores([(each["refused"] > 0, cases[case].is_unanswerable) for case, each in scores.items()]),
        recall={depths[name]: each for name, each in _intervals(values, depths).items()},
        usage={name: of for name, of in _intervals(values, USAGE).items() if name != MEMORY_TOKENS or of.mean},
        distributions={name: _counts(values[name]) for name in SEARCH if name in values},
        reasoning=_intervals(values, REASONING),
        support={name: round(sum(values[name])) for name in SUPPORT if name in values},
        judged=_judged(run, answers.verdicts),
        paired=differences(scores, baseline.scores) if baseline is not None and baseline is not answers else {},
        failed=answers.failed,
        unranked=answers.unranked,
        left_out=interval(values.get("left_out", ())),
        scores=scores,
        by_part=by_part(cases, scores),
        errors=answers.errors,
        within=answers.within,
    )


def _retrieving_row(
    run: Run,
    key: tuple[str, str],
    retrieved: Sequence[Retrieved],
    cases: Mapping[str, Case],
    categories: Mapping[str, str],
) -> Row:
    """Return the row of one kind of query; questions without such a query are left out of its means."""
    kind, backbone = key
    depths = _depths(run.manifest)
    scores = {
        each.case: {f"recall@{k}": recall_at(each.units, cases[each.case].evidence, k) for k in depths}
        for each in retrieved
        if each.case in cases and each.queries and _has_evidence(cases[each.case])
    }
    metrics = {f"recall@{k}": k for k in depths}
    chosen_for = run.faulted if kind == QueryKind.QUESTION.value else ()
    faulted = {(each.case, each.backbone, each.kind): each for each in chosen_for}.values()
    cited = [
        cited_without_reading(plan, each.units, len(each.queries))
        for each in retrieved
        if kind in (QueryKind.PLAN, QueryKind.MODEL) and (plan := cases[each.case].plan) is not None
    ]
    return Row(
        NO_REASONER,
        backbone,
        n=len(retrieved),
        unfinished=len(cases) - len(retrieved),
        by_category=_by_category(categories, cases, scores, metrics),
        recall={metrics[name]: each for name, each in _intervals(_values(scores.values()), metrics).items()},
        reasoning=_intervals(_values(cited), REASONING),
        queries=kind,
        without_queries=sum(not each.queries for each in retrieved),
        unplanned=sum(kind == QueryKind.MODEL and each.queries == (cases[each.case].question,) for each in retrieved),
        scores=scores,
        by_part=by_part(cases, scores),
        labels=_spreads(retrieved, cases),
        faults=_faults([each for each in faulted if each.backbone == backbone and each.case in cases]),
    )


def _spreads(retrieved: Sequence[Retrieved], cases: Mapping[str, Case]) -> dict[str, Spread]:
    """Return each diagnostic of labels: its mean per conversation, averaged over conversations (STITCH, Table 6)."""
    values: dict[str, dict[str, list[float]]] = {}
    for each in retrieved:
        for name, value in each.labels.items() if each.case in cases else ():
            values.setdefault(name, {}).setdefault(cases[each.case].conversation, []).append(value)
    means = {name: [fmean(members) for members in of.values()] for name, of in values.items()}
    return {name: Spread(fmean(own), pstdev(own), len(own)) for name, own in means.items()}


def _faults(judged: Sequence[Faulted]) -> dict[str, Interval]:
    """Return each fault's share of the choices judged (STITCH, Table 3)."""
    return _intervals({name: [float(name in each.faults) for each in judged] for name in FAULTS}, FAULTS)


def _within(
    format: str,  # noqa: A002
    answers: Iterable[tuple[Case, Trace, Scores]],
) -> dict[str, dict[int, Interval]]:
    """Return limit's name -> its value -> the mean mark if `goal-mem` had stopped there, as in GOAL-MEM's Figure 4.

    An answer gets its `mark` from the depth or breadth at which it was settled, and 0 below. If the row has a judge,
    only judged answers count.
    """
    ended = [(_ended(trace), mark(case, format, scores), scores) for case, trace, scores in answers if trace.attempts]
    needed = {"judge"} if any("judge" in scores for *_, scores in ended) else set()
    marked = [(at, value) for at, value, scores in ended if value is not None and needed <= scores.keys()]
    found: dict[str, dict[int, Interval]] = {}
    for name, least in LIMITS.items():
        asked = [(at[name], value) for at, value in marked]
        for limit in range(least, max((at for at, _ in asked), default=-1) + 1):
            figure = interval([value if at <= limit else 0.0 for at, value in asked])
            if figure is not None:
                found.setdefault(name, {})[limit] = figure
    return found


def _ended(trace: Trace) -> dict[str, int]:
    """Return the depth of the last attempt, and its number."""
    return {
        "depth": max((step.depth for step in trace.attempts[-1].steps), default=0), "breadth": len(trace.attempts)
    }  # fmt: skip


def _has_evidence(case: Case) -> bool:
    return bool(case.evidence) and not case.is_unanswerable


def _depths(manifest: Manifest) -> tuple[int, ...]:
    """Return the depths that the run retrieved to; if its own limit is smaller, that is the last."""
    limit = manifest.settings.get("budget", "")
    deepest = min(int(limit), DEPTHS[-1]) if limit.isdecimal() else DEPTHS[-1]
    return (*(k for k in DEPTHS if k < deepest), deepest)


def _values(scores: Iterable[Scores]) -> dict[str, list[float]]:
    """Return name -> values of all cases that have the score."""
    values: dict[str, list[float]] = {}
    for each in scores:
        for name, value in each.items():
            values.setdefault(name, []).append(value)
    return values


def _intervals(values: Mapping[str, Sequence[float]], names: Iterable[str]) -> dict[str, Interval]:
    return {name: figure for name in names if (figure := interval(values.get(name, ()))) is not None}


def _by_category(
    categories: Mapping[str, str],
    cases: Mapping[str, Case],
    scores: Mapping[str, Scores],
    names: Iterable[str],
) -> dict[str, Category]:
    """Return category code -> means of the named scores; categories without an answer are left out."""
    parts: dict[str, list[Scores]] = {code: [] for code in categories}
    for case, each in scores.items():
        parts[cases[case].category].append(each)
    wanted = tuple(names)
    return {
        code: Category(categories[code], len(members), _intervals(_values(members), wanted))
        for code, members in parts.items()
        if members
    }


def _counts(values: Iterable[float]) -> dict[int, int]:
    return dict(sorted(Counter(round(value) for value in values).items()))


def _judged(run: Run, verdicts: Sequence[Verdict]) -> tuple[Judged, ...]:
    """Return the verdicts of a row by judge and prompt, counted and averaged."""
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault((verdict.judge, verdict.prompt), []).append(verdict)
    return tuple(
        Judged(
            judge,
            prompt,
            interval(list(accuracies(members).values())),
            len(members),
            sum(verdict.is_right is None for verdict in members),
            is_self_judged(run, judge, next((verdict.weights for verdict in members if verdict.weights), "")),
            sum((verdict.usage for verdict in members), Usage()),
        )
        for (judge, prompt), members in groups.items()
    )


def differences(scores: Mapping[str, Scores], baseline: Mapping[str, Scores]) -> dict[str, Interval]:
    """Return the mean differences of two rows' scores by case, over the questions that both have."""
    found: dict[str, Interval] = {}
    for name in PAIRED:
        common = [case for case, each in scores.items() if name in each and name in baseline.get(case, {})]
        figure = paired([scores[case][name] for case in common], [baseline[case][name] for case in common])
        if figure is not None:
            found[name] = figure
    return found

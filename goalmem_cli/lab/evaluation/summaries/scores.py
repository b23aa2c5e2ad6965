"""Compute all scores of one answered question, by name; scores that do not apply are absent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from goalmem_cli.lab.evaluation.cases import DEPTHS, Case
from goalmem_cli.lab.evaluation.metrics.answer_sets import answer_set, token_f1
from goalmem_cli.lab.evaluation.metrics.locomo_f1 import f1_score, locomo_score
from goalmem_cli.lab.evaluation.metrics.overlap import (
    bleu1,
    is_exact_match,
    is_strict_match,
    is_unspaced,
    set_scores,
    spaced,
    word_set_f1,
)
from goalmem_cli.lab.evaluation.metrics.plan_quality import final_plan, plan_quality
from goalmem_cli.lab.evaluation.metrics.refusal import is_refused, prediction
from goalmem_cli.lab.evaluation.metrics.tot_match import is_tot_match
from goalmem_cli.lab.evaluation.runs.run import Answered, Verdict
from goalmem_cli.trace import Status, Trace

LOCOMO_FORMATS = frozenset({"locomo", "realtalk"})
"""The formats with LoCoMo's categories and scoring rules."""

TOT, COMPLEX_TR, CAME = "tot", "complex-tr", "came"
"""The formats with their own scoring rules."""

OVER_ALL = ("all_f1", "all_bleu1", "all_judge")
"""Scores over all questions: for unanswerable ones, a refusal is right; for others, it is wrong (REMem's tables)."""

Scores = dict[str, float]


def score(
    case: Case,
    format: str,  # noqa: A002
    trace: Trace,
    verdicts: Sequence[Verdict] = (),
    *,
    is_ranked: bool = True,
) -> Scores:
    """Return the scores of one answer; names that do not apply, or could not be scored, are absent.

    `verdicts` are those of one judge with one prompt on this answer. Without `is_ranked`, the order in which its facts
    were found is unknown. Shares are from 0 to 1, `seconds` in seconds.

    - `f1`, `token_f1`, `mem0_f1`, `bleu1`, `exact`, `exact_strict`: answerable questions with a gold answer. `f1`
      follows the category's rule in LoCoMo's formats, and is the plain F1 of stems elsewhere. `token_f1` is SQuAD's
      (REMem 4.3, after HippoRAG 2). `exact` follows Test of Time's rule for its questions, also the unanswerable ones.
      For Complex-TR, all three follow its rules. Where the file accepts several ways to write the answer, the best of
      each counts.
    - `set_accuracy`, `answer_f1`: Complex-TR's questions.
    - `set_precision`, `set_recall`, `set_f1`: answerable questions with a set of answers.
    - `judge`: the mean of the readable verdicts; for CAME-Bench's sets the F1 of the items counted as right, whose
      share of those named is `judge_precision`.
    - `refused`: 0 or 1, every question. A failed question counts as refused only if it has an answer: it is no right
      refusal of one that has none.
    - ``recall@k``: answerable questions with evidence; its share in the first k facts found.
    - `left_out`: every question; the hits that did not fit into the tokens of facts, if the trace has them.
    - `calls`, `prompt_tokens`, `cached_tokens`, `completion_tokens`, `seconds`: every question.
    - `breadth` (attempts), `depth` (the deepest round, from 0), `subgoals` (of the final plan): `goal-mem` only.
    - the names of `PlanQuality`: `goal-mem` on questions with a gold plan.

    Raises:
        ValueError: the format is LoCoMo's, and the category is none of its categories.
    """
    is_mishap = case.is_unanswerable and trace.status is Status.FAILED
    scores: Scores = {"refused": float(is_refused(trace) and not is_mishap)}
    if not case.is_unanswerable:
        scores |= _answer_scores(case, format, prediction(trace)) | (_recall(case, trace) if is_ranked else {})
    elif format == TOT:
        scores["exact"] = scores["refused"]
    readable = [verdict.mark for verdict in verdicts if verdict.mark is not None]
    if readable:
        scores["judge"] = sum(readable) / len(readable)
    if case.answers and format == CAME and readable:
        precise = [each.mark if each.precision is None else each.precision for each in verdicts]
        scores["judge_precision"] = sum(value for value in precise if value is not None) / len(readable)
    scores |= {name: float(value) for name, value in asdict(trace.usage).items()}
    return scores | _left_out(trace) | _search(trace) | _plan(case, trace)


def has_ranks(trace: Trace, settings: Mapping[str, str]) -> bool:
    """Say whether it is known in which order the answer's facts were found, given the run's settings.

    Facts in older traces have no ranks, and with full prompts their numbers give the order in time instead.
    """
    return settings.get("profile") != "full" or all(fact.rank for fact in trace.facts.values())


def tokens_of(answered: Answered) -> Scores:
    """Return the tokens that a trace's usage does not count.

    The first two are left out if run or server did not count them, the second also in older runs.

    - `shown_tokens`: the prompts' tokens beside what their steps always say: facts, summaries, question, subgoals.
    - `search_tokens`: these and the replies' tokens, of all calls before the one that answers (GOAL-MEM, Table 3,
      where a memory that is read once has 0). Where `goal-mem` proves nothing, or computes its answer in the paper's
      order, no call does.
    - `memory_tokens`: prompts and replies of the backbone's own calls while it searched (STITCH, Table 7).
    """
    shown, written = answered.shown, answered.written
    asked = {"memory_tokens": float(answered.memory_tokens)}
    if shown is None or (answered.trace.usage.prompt_tokens and not any(shown.values())):
        return asked
    asked |= {"shown_tokens": float(sum(shown.values()))}
    if answered.last_tokens is None:
        return asked
    answering = answered.last_tokens if _has_answering_call(answered) else 0
    return asked | {"search_tokens": asked["shown_tokens"] + sum(written.values()) - answering}


def _has_answering_call(answered: Answered) -> bool:
    """Say whether the last call was for the answer: in the paper's order by its step, else if `goal-mem` proved one."""
    trace = answered.trace
    if trace.planning == "paper":
        return not {"answer", "verdict", "generate"}.isdisjoint(answered.written)
    return not trace.attempts or trace.status is Status.ANSWERED


def over_all(case: Case, scores: Scores, *, is_judged: bool) -> Scores:
    """Return the `OVER_ALL` scores of an answer.

    An unanswerable question scores 1 in each if it was refused, else 0 (REMem 6.2). Others get their `token_f1`,
    `bleu1` and `judge`. `is_judged` says that the row has a judge, so that refusals get a judge's mark too.
    """
    if not case.is_unanswerable:
        named = zip(OVER_ALL, ("token_f1", "bleu1", "judge"), strict=True)
        return {name: scores[of] for name, of in named if of in scores}
    refused = scores["refused"]
    judged = {"all_judge": scores.get("judge", refused)} if is_judged else {}
    return {"all_f1": refused, "all_bleu1": refused, **judged}


def _answer_scores(case: Case, format: str, text: str) -> Scores:  # noqa: A002
    """Return the scores of an answer's text against the gold answers, the best of each over accepted wordings."""
    golds = () if case.answer is None else (case.answer, *case.accepted)
    compared = [_compared(case, format, text, gold) for gold in golds]
    scores: Scores = {name: max(one[name] for one in compared) for name in compared[0]} if golds else {}
    if case.answers and format == COMPLEX_TR:
        each = answer_set(text, case.answers)
        scores |= {"f1": each.token_f1, "token_f1": each.token_f1, "exact": each.exact}
        scores |= {"set_accuracy": each.accuracy, "answer_f1": each.f1}
    if case.answers:
        found = set_scores(text, case.answers)
        scores |= {"set_precision": found.precision, "set_recall": found.recall, "set_f1": found.f1}
    return scores


def _compared(case: Case, format: str, text: str, gold: str) -> Scores:  # noqa: A002
    """Return the scores against one way to write the answer; Chinese and Japanese are compared by characters."""
    scores = {"exact_strict": float(is_strict_match(text, gold))}
    if is_unspaced(case.question) or is_unspaced(gold):
        text, gold = spaced(text), spaced(gold)
    scores["f1"] = locomo_score(text, gold, case.category) if format in LOCOMO_FORMATS else f1_score(text, gold)
    scores["token_f1"] = token_f1(text, gold)
    scores["mem0_f1"] = word_set_f1(text, gold)
    scores["bleu1"] = bleu1(text, gold)
    scores["exact"] = float(is_exact_match(text, gold))
    if format == TOT:
        scores["exact"] = float(is_tot_match(text, gold, in_any_order=bool(case.answers)))
    return scores


def _recall(case: Case, trace: Trace) -> Scores:
    """Return ``recall@k`` of the facts in the order in which they were found; empty without evidence."""
    wanted = set(case.evidence)
    if not wanted:
        return {}
    facts = sorted(trace.facts.values(), key=lambda fact: fact.rank or int(fact.number.removeprefix("F")))
    labels = [set(fact.turns) if fact.conversation == case.conversation else set() for fact in facts]
    return {f"recall@{k}": len(wanted & set().union(*labels[:k])) / len(wanted) for k in DEPTHS}


def _left_out(trace: Trace) -> Scores:
    """Return how many hits did not fit into the tokens of facts; empty if an action does not tell."""
    counts = [action.too_long if action.skipped else 0 for action in trace.actions]
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return {}
    return {"left_out": float(sum(known) + sum(step.skipped for each in trace.attempts for step in each.steps))}


def _search(trace: Trace) -> Scores:
    """Return how far the search of a trace went, as in GOAL-MEM's Figure 5."""
    if not trace.attempts:
        return {}
    scores: Scores = {"breadth": float(len(trace.attempts))}
    depths = [step.depth for attempt in trace.attempts for step in attempt.steps]
    if depths:
        scores["depth"] = float(max(depths))
    if subgoals := final_plan(trace).plan:
        scores["subgoals"] = float(len(subgoals))
    return scores


def _plan(case: Case, trace: Trace) -> Scores:
    quality = plan_quality(case, trace)
    if quality is None:
        return {}
    return {name: float(value) for name, value in asdict(quality).items() if value is not None}

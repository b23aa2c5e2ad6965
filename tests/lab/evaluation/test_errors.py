"""What a report says of wrong answers, of lower limits of the search, and of systems that lack something."""

from dataclasses import replace

import pytest

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.runs.run import Answered, Run
from goalmem_cli.lab.evaluation.summaries.errors import ErrorClass, error_of
from goalmem_cli.lab.evaluation.summaries.pairing import ablations, kind_of
from goalmem_cli.lab.evaluation.summaries.reproducing import listed
from goalmem_cli.lab.evaluation.summaries.scores import score
from goalmem_cli.lab.evaluation.summaries.summary import Row, Summary, summarise
from goalmem_cli.lab.render.charts import Charts, charts_of
from goalmem_cli.lab.render.figures import sections
from goalmem_cli.trace import Side, Trace
from tests.lab.evaluation.made_runs import CASES, answered_run, failed, forward, manifest

CASE = Case("c", "conv-1", "Which drinks?", "tea, milk", ("D1:1", "D1:2"), "4", answers=("tea", "milk"))
BOTH, ONE = ("D1:1", "D1:2"), ("D1:1", "D9:9")
IN_CONFLICT = replace(forward(CASE, None, BOTH), conflict=(Side("tea", ("F1",)), Side("milk", ("F2",))))


@pytest.mark.parametrize(
    ("case", "trace", "wanted"),
    [
        (CASE, forward(CASE, "tea, milk", ONE), None),
        (CASE, forward(CASE, "tea, milk, rum, gin, ale, cola, beer", BOTH), ErrorClass.WRONG_FOUND),
        (CASE, forward(CASE, "rum", ONE), ErrorClass.WRONG_MISSED),
        (CASE, forward(CASE, None, BOTH), ErrorClass.REFUSED_FOUND),
        (CASE, forward(CASE, None, ONE), ErrorClass.REFUSED_MISSED),
        (CASE, IN_CONFLICT, ErrorClass.REFUSED_CONFLICT),
        (replace(CASE, answers=("tea", "milk", "rum", "gin")), forward(CASE, "tea", ONE), ErrorClass.LIST_PART),
        (replace(CASE, evidence=()), forward(CASE, "rum", ONE), ErrorClass.WRONG_UNKNOWN),
        (replace(CASE, evidence=()), forward(CASE, None, ONE), ErrorClass.REFUSED_UNKNOWN),
        (replace(CASE, conversation="conv-2"), forward(CASE, "rum", BOTH), ErrorClass.WRONG_MISSED),
        (replace(CASE, is_unanswerable=True), forward(CASE, "tea", BOTH), ErrorClass.ANSWERED),
        (replace(CASE, is_unanswerable=True), forward(CASE, None, BOTH), None),
        (CASE, failed(CASE), ErrorClass.UNUSABLE),
        (replace(CASE, answer=None, answers=()), forward(CASE, "tea", BOTH), None),
    ],
)
def test_a_wrong_answer_has_one_class(case: Case, trace: Trace, wanted: ErrorClass | None) -> None:
    """By what was shown to the model of the case's evidence, and by how it ended; right and unscored ones have none."""
    assert error_of(case, "locomo", trace, score(case, "locomo", trace)) == wanted


def test_what_the_judge_says_goes_before_the_words() -> None:
    """A right answer in other words has no class, and a wrong one in the same words has one."""
    said = forward(CASES[0], "the Kyoto one", ("D1:1",))
    assert error_of(CASES[0], "locomo", said, score(CASES[0], "locomo", said) | {"judge": 1.0}) is None
    same = forward(CASES[0], "Kyoto Latte", ("D1:1",))
    assert (
        error_of(CASES[0], "locomo", same, score(CASES[0], "locomo", same) | {"judge": 0.0}) is ErrorClass.WRONG_FOUND
    )


def test_exact_match_decides_for_test_of_time() -> None:
    """A wrong number of days shares a word with the right one, and the right one may be written in another way."""
    case = Case("t", "tot", "How long was it?", "5 days", (), "relation_duration")
    wrong, right = forward(case, "6 days"), forward(case, "5 days.")
    told = {name: score(case, "tot", trace) for name, trace in (("wrong", wrong), ("right", right))}
    assert told["wrong"]["f1"] == 0.5
    assert error_of(case, "tot", wrong, told["wrong"]) is ErrorClass.WRONG_UNKNOWN
    assert error_of(case, "tot", right, told["right"]) is None
    assert error_of(case, "tot", wrong, told["wrong"] | {"judge": 1.0}) is None
    nothing = replace(case, answer=None, is_unanswerable=True)
    assert error_of(nothing, "tot", wrong, score(nothing, "tot", wrong)) is ErrorClass.ANSWERED


def test_a_report_counts_the_classes() -> None:
    """Each wrong answer once, with its share of the row's wrong ones."""
    summary = summarise(answered_run())
    direct, goal_mem = summary.rows
    assert direct.errors == dict.fromkeys((ErrorClass.ANSWERED, ErrorClass.REFUSED_MISSED, ErrorClass.WRONG_MISSED), 1)
    assert goal_mem.errors == {ErrorClass.UNUSABLE: 1}
    table = next(table for table in sections([summary])[0].tables if table.title == "Errors")
    assert table.columns[:3] == ("wrong", "unusable reply", "answered\nunanswerable")
    assert table.rows[0] == (("direct", "hybrid"), ("3", "0 (0%)", *3 * ("1 (33%)",)))


def test_a_lower_limit_has_right_what_was_settled_within_it() -> None:
    """Of three judged questions two were settled by the first plan, one by the second, all after one refinement."""
    row = summarise(answered_run()).rows[1]
    means = {name: {limit: figure.mean for limit, figure in each.items()} for name, each in row.within.items()}
    assert means == {
        "depth": {0: 0.0, 1: pytest.approx(2.5 / 3)},
        "breadth": {1: pytest.approx(2 / 3), 2: pytest.approx(2.5 / 3)},
    }
    assert summarise(answered_run()).rows[0].within == {}


def test_a_lower_limit_without_a_judge_goes_by_the_mark_of_errors() -> None:
    """By the F1 of sets where the answer is one, by the refusal where there is none; the note names the measure."""
    run, case = answered_run(verdicts=()), replace(CASES[2], answers=("matcha", "oat milk"))
    sets = replace(
        run, cases=tuple(replace(each, case=case) if each.case.id == case.id else each for each in run.cases)
    )
    row = summarise(sets).rows[1]
    values = [row.scores["c1-2"]["set_f1"], *(row.scores[name]["f1"] for name in ("c1-0", "c1-1", "c2-0", "c2-1"))]
    assert row.scores["c1-2"]["set_f1"] != row.scores["c1-2"]["f1"]
    assert row.within["breadth"][3].mean == pytest.approx((sum(values) + 1) / 6)
    assert row.within["breadth"][2].mean == pytest.approx(sum(values) / 6)  # the refusal took three plans
    notes = {
        table.title: table.note for each in (sets, answered_run()) for table in sections([summarise(each)])[0].tables
    }
    assert notes["Right within breadth"].startswith("right answers (judged right), ")
    table = next(table for table in sections([summarise(sets)])[0].tables if table.title == "Right within breadth")
    assert table.note.startswith("right answers (set F1), ")


def lacking(run: Run) -> Run:
    """Return the run of a `hybrid` that was told something of its own, and whose first answer of `direct` is wrong."""
    first = next(each for each in run.answered if (each.case, each.reasoner) == ("c1-0", "direct"))
    wrong = Answered("c1-0", "direct", "hybrid", forward(CASES[0], "a bus"))
    told = replace(run.manifest, settings={**run.manifest.settings, "hybrid.neighbours": "False"})
    return replace(run, manifest=told, answered=tuple(wrong if each is first else each for each in run.answered))


def members(*summaries: Summary) -> list[tuple[Summary, Row]]:
    """Return the rows of the summaries."""
    return [(summary, row) for summary in summaries for row in summary.rows]


def test_a_system_that_lacks_something_is_compared_with_the_whole() -> None:
    """In another run with a setting of its own; in a matrix under its own name. Nothing else is an ablation."""
    whole, part = summarise(answered_run()), summarise(lacking(answered_run()))
    found = ablations(members(whole, part))
    assert {at: list(apart) for at, apart in found.items()} == {0: [2], 1: [3]}
    assert found[0][2]["f1"].mean == pytest.approx(-1 / 4)  # one of four answerable ones
    assert found[1][3]["f1"].mean == 0
    assert (
        ablations(members(whole)) == ablations(members(whole, replace(part, manifest=manifest(digest="1" * 32)))) == {}
    )

    varied = replace(part, variants={"hybrid, bare": ("hybrid", part.manifest.settings)}, manifest=whole.manifest)
    rows = tuple(replace(row, backbone="hybrid, bare") for row in part.rows)
    matrix = replace(varied, rows=(*whole.rows, *rows))
    assert {at: list(apart) for at, apart in ablations(members(matrix)).items()} == {0: [2], 1: [3]}
    assert [kind_of(members(each)[-1:]) for each in (matrix, part)] == ["Ablations", "Variants"]


@pytest.mark.parametrize("setting", [{"budget": "10"}, {"scope": "domain"}, {"embedder": "e"}])
def test_runs_that_differ_in_something_else_are_not_compared(setting: dict[str, str]) -> None:
    """A run of a lower budget, another scope or embedder is not the whole of one that was told something of its own."""
    run = answered_run()
    other = replace(run, manifest=replace(run.manifest, settings={**run.manifest.settings, **setting}))
    assert ablations(members(summarise(other), summarise(lacking(run)))) == {}
    assert ablations(members(summarise(other), summarise(lacking(other)))).keys() == {0, 1}


def test_the_run_that_was_told_least_is_the_whole() -> None:
    """Of two that were told a part of what a third was, wherever they stand; settings of other backbones do not count."""
    run, less = answered_run(), lacking(answered_run())
    own = less.manifest.settings
    more = replace(less, manifest=replace(less.manifest, settings={**own, "hybrid.depth": "3", "dense.k": "3"}))
    found = ablations(members(*map(summarise, (more, less, run))))
    assert {at: list(apart) for at, apart in found.items()} == {4: [0, 2], 5: [1, 3]}


def charts(*runs: Run) -> dict[str, Charts]:
    """Return the groups of charts of a page of the runs."""
    return {group.title: group for group in charts_of([summarise(run) for run in runs])}


def test_the_papers_figures_and_ablations_are_charts_of_the_page() -> None:
    """Each group of charts that `eval tables` names for a figure; a bar for each limit, and for each ablation."""
    came = replace(CASES[0], answers=("Kyoto Latte",))
    run = answered_run()
    sets = replace(run, cases=(replace(run.cases[0], case=came), *run.cases[1:]))
    found = charts(run) | charts(sets)
    assert {name for one in listed().figures for name in one.charts} <= found.keys()
    whole, of_answers = (found[name].charts[0] for name in ("Answers, over all questions", "Answers"))
    assert (whole.title, of_answers.title) == ("F1 (SQuAD)", "F1")
    assert [each.bars[0].value.split()[0] for each in (whole, of_answers)] == [
        "0.400",
        "0.500",
    ]  # direct answered a car
    (depth,) = found["Right within depth"].charts
    assert depth.title == "goal-mem over hybrid"
    assert [bar.label for bar in depth.bars] == ["depth 0", "depth 1"]
    assert [bar.value.split()[0] for bar in depth.bars] == ["0.000", "0.833"]

    of_both = charts(run, lacking(run))
    f1 = of_both["Variants of direct over hybrid"].charts[0]
    assert (f1.title, [bar.label for bar in f1.bars]) == ("F1", ["direct over hybrid, hybrid.neighbours False"])
    assert f1.bars[0].value.startswith("-0.250 ")
    assert not [title for title in charts(run) if "direct over hybrid" in title and " of " in title]

"""What a run's summary says, on runs made by hand whose means are known."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.lab.evaluation.cases import Case, GoldPlan, GoldStep
from goalmem_cli.lab.evaluation.metrics.bootstrap import Interval
from goalmem_cli.lab.evaluation.runs.run import Answered, Retrieved, Run, Verdict
from goalmem_cli.lab.evaluation.summaries.summary import (
    PAIRED,
    CategoryNames,
    Row,
    Summary,
    accuracies,
    recall_at,
    summarise,
)
from goalmem_cli.lab.evaluation.summaries.summary_formats import COLUMNS, document, harmless, rows_csv
from goalmem_cli.lab.render.figures import SHOWN_IN_GRIDS, sections
from goalmem_cli.records import Usage
from goalmem_cli.trace import Status
from tests.lab.evaluation.made_runs import CASES, answered_run, backward, forward, manifest, placed, retrieved_run


def row_of(summary: Summary, name: str) -> Row:
    """Return the row of the name."""
    return next(row for row in summary.rows if row.name == name)


def test_means_are_over_the_questions_that_the_metric_applies_to() -> None:
    """F1 leaves out the unanswerable question, refusals count every question; intervals hold their means."""
    row = row_of(summarise(answered_run()), "direct")
    assert row.n == 5
    f1 = row.metrics["f1"]
    assert (f1.mean, f1.n) == (0.5, 4)
    assert f1.low <= f1.mean <= f1.high
    assert row.metrics["refused"].mean == pytest.approx(0.2)
    assert row.metrics["refused"].n == 5


def test_what_is_left_to_do_is_counted() -> None:
    """A row says how many of the run's questions it has not answered; a row that has not begun is there too."""
    summary = summarise(answered_run(manifest=manifest(reasoners=("direct", "goal-mem", "react"))))
    assert {row.name: (row.n, row.unfinished) for row in summary.rows} == {
        "direct": (5, 1),
        "goal-mem": (6, 0),
        "react": (0, 6),
    }
    assert row_of(summary, "react").metrics == {}


def test_categories_have_their_own_means() -> None:
    """Each category's row counts its own questions, under its name."""
    row = row_of(summarise(answered_run()), "goal-mem")
    assert [(code, part.name, part.n) for code, part in row.by_category.items()] == [
        ("1", "multi-hop", 1), ("2", "temporal", 1), ("3", "open-domain", 1), ("4", "single-hop", 2),
        ("5", "adversarial", 1),
    ]  # fmt: skip
    assert row.by_category["2"].metrics["f1"].mean == 1.0
    assert "f1" not in row.by_category["5"].metrics
    assert row.by_category["5"].metrics["refused"].mean == 1.0


def test_categories_can_go_by_the_names_that_mem0_gives_them() -> None:
    """The numbers stay, the names change; other datasets' names do not."""
    names = summarise(answered_run(), names=CategoryNames.MEM0).categories
    assert (names["1"], names["2"], names["4"]) == ("multi-hop", "single-hop", "open-domain")
    longmemeval = manifest(format="realtalk")
    assert summarise(answered_run(manifest=longmemeval), names=CategoryNames.MEM0).categories["1"] == "multi-hop"


def test_refusals_are_held_against_the_unanswerable_questions() -> None:
    """goal-mem refused the unanswerable question and one more; direct refused only one that it should not."""
    summary = summarise(answered_run())
    refusal = row_of(summary, "goal-mem").refusal
    assert refusal is not None
    assert (refusal.precision, refusal.recall, refusal.unanswerable) == (0.5, 1.0, 1)
    direct = row_of(summary, "direct").refusal
    assert direct is not None
    assert (direct.precision, direct.recall) == (0.0, 0.0)


def test_recall_and_cost_are_those_of_the_traces() -> None:
    """Evidence recall counts what the traces saw; cost is a mean over every question."""
    row = row_of(summarise(answered_run()), "goal-mem")
    assert (row.recall[10].mean, row.recall[10].n) == (0.5, 4)
    assert row.usage["calls"].mean == pytest.approx((4 + 4 + 8 + 12 + 4 + 2) / 6)
    assert row.usage["seconds"].n == 6


def test_the_search_is_counted_by_value() -> None:
    """Breadth, depth and subgoals are counts of questions, for goal-mem only."""
    summary = summarise(answered_run())
    assert row_of(summary, "goal-mem").distributions == {
        "breadth": {1: 4, 2: 1, 3: 1},
        "depth": {1: 5},
        "subgoals": {2: 5},
    }
    assert row_of(summary, "direct").distributions == {}


def test_reasoning_is_measured_where_there_is_a_gold_plan() -> None:
    """Means of plan quality and totals of support appear for goal-mem on questions with a plan."""
    plan = GoldPlan(
        "(Alice) ordered (x:drink)", ("x",), (GoldStep("(Alice) went to (y:cafe)", ("D1:1",), {"y": "Momoco"}),)
    )
    case = replace(CASES[0], plan=plan)
    answers = (
        Answered(case.id, "goal-mem", "hybrid", backward(case, "Kyoto Latte")),
        Answered(case.id, "direct", "hybrid", forward(case, "Kyoto Latte")),
    )
    summary = summarise(Run(manifest(), placed([case]), answered=answers))
    row = row_of(summary, "goal-mem")
    assert row.reasoning["plan_parsed"].mean == 1.0
    assert row.support == {"stated": 1, "derived": 0, "inferred": 1}
    assert row_of(summary, "direct").reasoning == {}


def test_a_judge_is_wrong_only_where_it_says_so() -> None:
    """Accuracy is over readable verdicts; those that cannot be read are counted and change no mean."""
    summary = summarise(answered_run())
    (judged,) = row_of(summary, "goal-mem").judged
    assert judged.accuracy is not None
    assert judged.accuracy.mean == pytest.approx((1 + 1 + 0.5) / 3)
    assert judged.accuracy.n == 3
    assert (judged.verdicts, judged.unscored, judged.is_self_judged) == (8, 2, False)
    assert summary.judge == ("arbiter", "standard")
    assert row_of(summary, "goal-mem").metrics["judge"] == judged.accuracy


def test_judges_and_prompts_are_kept_apart() -> None:
    """A second judge, the model that answered, has a line of its own, marked, and does not change the metric."""
    run = answered_run()
    second = Verdict("c1-0", "direct", "hybrid", "scripted", "strict", 1, is_right=False)
    summary = summarise(replace(run, verdicts=(*run.verdicts, second)))
    first, other = row_of(summary, "direct").judged
    assert other.is_self_judged
    assert not first.is_self_judged
    renamed = replace(second, judge="elsewhere.gguf", weights="ab12")
    own = replace(run, manifest=manifest(settings={"model_hash": "ab12"}), verdicts=(renamed,))
    assert row_of(summarise(own), "direct").judged[0].is_self_judged
    assert other.accuracy is not None
    assert other.accuracy.mean == 0.0
    assert row_of(summary, "direct").metrics["judge"] == first.accuracy


def test_only_unreadable_verdicts_give_no_accuracy() -> None:
    """A judge none of whose replies could be read says nothing, and is not zero."""
    verdict = Verdict("c1-0", "direct", "hybrid", "arbiter", "standard", 1, is_right=None)
    (judged,) = row_of(summarise(answered_run(verdicts=(verdict,))), "direct").judged
    assert (judged.accuracy, judged.unscored) == (None, 1)
    assert accuracies([verdict]) == {}


def test_differences_are_over_the_questions_that_both_have() -> None:
    """The baseline has no difference to itself; the other's is over the four questions both have an F1 for."""
    summary = summarise(answered_run())
    assert row_of(summary, "direct").paired == {}
    found = row_of(summary, "goal-mem").paired
    assert found["f1"].mean == pytest.approx((0 + 1 + 0.5 + 0) / 4)
    assert found["f1"].n == 4
    assert found["refused"].n == 5
    assert found["judge"].n == 2


def test_whatever_a_grid_shows_has_its_difference() -> None:
    """So that each benchmark's own metric, exact match or set accuracy too, can be compared with `direct`."""
    assert set(SHOWN_IN_GRIDS) <= set(PAIRED)
    cases = tuple(Case(name, "c", "Who?", "Ann", (), "timeline", answers=("Ann",)) for name in "ab")
    answers = [
        Answered(case.id, reasoner, "hybrid", forward(case, said))
        for reasoner, said in (("direct", "Bea"), ("tiser", "Ann"))
        for case in cases
    ]
    for form, metric in (("tot", "exact"), ("complex-tr", "set_accuracy")):
        made = manifest(format=form, categories={}, reasoners=("direct", "tiser"))
        summary = summarise(Run(made, placed(cases), answered=tuple(answers)))
        assert row_of(summary, "tiser").paired[metric].mean == 1
        note = next(table.note for table in sections([summary])[0].tables if table.title == "Answers")
        assert ("exact match is Test of Time's" in note) is (form == "tot")


def test_another_baseline_turns_the_differences_round() -> None:
    """With goal-mem as the baseline, direct has the differences, of the other sign; with an unknown one nobody has."""
    turned = summarise(answered_run(), baseline="goal-mem")
    assert row_of(turned, "direct").paired["f1"].mean == pytest.approx(-0.375)
    assert not any(row.paired for row in summarise(answered_run(), baseline="react").rows)


def test_differences_stay_within_a_backbone() -> None:
    """goal-mem over one backbone is not compared with direct over another."""
    run = answered_run(manifest=manifest(backbones=("hybrid", "bm25")))
    moved = tuple(
        replace(answered, backbone="bm25") if answered.reasoner == "direct" else answered for answered in run.answered
    )
    assert not any(row.paired for row in summarise(replace(run, answered=moved)).rows)


def test_a_question_counts_once() -> None:
    """An answer that stands in a run twice, as after a merge gone wrong, counts once: the first."""
    run = answered_run()
    again = Answered("c1-0", "direct", "hybrid", forward(CASES[0], "something else"))
    assert summarise(replace(run, answered=(*run.answered, again))) == summarise(run)


def test_a_dataset_of_several_languages_is_told_by_language() -> None:
    """F1, refusals where there is an answer and where there is none, and recall: of each language and each kind."""
    spoken = [
        replace(case, language="de", asked_in="en" if number == 1 else "de", kind="time" if number == 1 else "")
        for number, case in enumerate(CASES)
    ]
    run = Run(manifest(), placed(spoken), answered=(
        Answered("c1-0", "direct", "hybrid", forward(CASES[0], "Kyoto Latte")),
        Answered("c1-1", "direct", "hybrid", forward(CASES[1], None, ("D1:2",))),
        Answered("c1-3", "direct", "hybrid", forward(CASES[3], None)),
    ))  # fmt: skip
    summary = summarise(run)
    parts = row_of(summary, "direct").by_part
    means = {
        (title, name): {metric: (figure.mean, figure.n) for metric, figure in part.metrics.items()}
        for title, each in parts.items()
        for name, part in each.items()
    }
    whole = {"refused_answerable": (0.5, 2), "refused_unanswerable": (1.0, 1)}
    assert means == {
        ("language", "de"): {"f1": (0.5, 2), **whole, "recall@10": (0.75, 2)},
        ("language of the question", "de, asked in de"): {
            "f1": (1.0, 1), "refused_answerable": (0.0, 1), "refused_unanswerable": (1.0, 1), "recall@10": (1.0, 1),
        },
        ("language of the question", "de, asked in en"): {
            "f1": (0.0, 1), "refused_answerable": (1.0, 1), "recall@10": (0.5, 1),
        },
        ("kind", "time"): {"f1": (0.0, 1), "refused_answerable": (1.0, 1), "recall@10": (0.5, 1)},
    }  # fmt: skip
    (table,) = [table for each in sections([summary]) for table in each.tables if table.title == "By language"]
    assert table.columns == ("questions", "F1", "refused\nanswerable", "refused\nunanswerable", "recall@10")
    assert [(names[-1], cells[0]) for names, cells in table.rows] == [("de", "3")]
    assert "language of the question: de, asked in en,recall@10,0.5" in rows_csv([summary]).replace('"', "")
    assert not summarise(answered_run()).rows[0].by_part


def test_retrieval_counts_the_own_conversation_only() -> None:
    """Turns of other conversations find nothing, neither do unanswerable questions or those without evidence count."""
    summary = summarise(retrieved_run())
    question, plan = summary.rows
    assert (question.name, plan.name) == ("retrieval: question", "retrieval: plan")
    assert (question.recall[10].mean, question.recall[10].n) == (0.5, 4)
    assert (plan.recall[10].mean, plan.n) == (1.0, 6)
    assert set(question.by_category) == {"1", "2", "4"}
    assert question.metrics == {}


def test_questions_without_such_a_query_are_left_out() -> None:
    """A question without a gold plan is no miss of retrieval with plans; it is counted."""
    run = Run(manifest(), placed(CASES[:2]), retrieved=(
        Retrieved("c1-0", "hybrid", "plan", ("drink",), (("D1:1",),)), Retrieved("c1-1", "hybrid", "plan", (), ()),
    ))  # fmt: skip
    row = row_of(summarise(run), "retrieval: plan")
    assert (row.recall[10].mean, row.recall[10].n, row.without_queries) == (1.0, 1, 1)


def test_recall_is_not_said_beyond_the_depth_retrieved() -> None:
    """A run that retrieved 20 units says nothing of the first 40."""
    run = replace(retrieved_run(), manifest=manifest(settings={"budget": "20"}))
    assert set(row_of(summarise(run), "retrieval: plan").recall) == {10, 20}
    few = replace(retrieved_run(), manifest=manifest(settings={"budget": "3"}))
    assert set(row_of(summarise(few), "retrieval: plan").recall) == {3}
    assert row_of(summarise(few), "retrieval: plan").recall[3].mean == 0.5


def test_questions_without_a_usable_plan_are_counted() -> None:
    """Where a model's plan was unusable the question was asked instead, and its row says how often."""
    run = Run(manifest(), placed(CASES[:2]), retrieved=(
        Retrieved("c1-0", "hybrid", "model", (CASES[0].question,), ()),
        Retrieved("c1-1", "hybrid", "model", ("Ben left for city",), ()),
    ))  # fmt: skip
    summary = summarise(run)
    assert row_of(summary, "retrieval: model").unplanned == 1
    assert row_of(summarise(retrieved_run()), "retrieval: question").unplanned == 0
    (entry,) = [entry for entry in json.loads(json.dumps(document([summary])))["runs"] if entry["queries"]]
    assert entry["unplanned"] == 1


def test_failed_questions_are_counted() -> None:
    """A question without an answer that failed was not refused rightly."""
    run = answered_run()
    failed = Answered("c1-3", "direct", "hybrid", replace(forward(CASES[3], None), status=Status.FAILED))
    summary = summarise(replace(run, answered=(failed, *run.answered)))
    assert (row_of(summary, "direct").failed, row_of(summary, "goal-mem").failed) == (1, 1)
    assert row_of(summary, "direct").scores["c1-3"]["refused"] == 0.0


def test_a_run_that_has_not_begun_is_summarised() -> None:
    """Neither answers nor questions are needed."""
    summary = summarise(Run(manifest(), ()))
    assert [(row.n, row.unfinished, row.metrics) for row in summary.rows] == [(0, 0, {}), (0, 0, {})]
    assert json.dumps(document([summary]))
    assert rows_csv([summary]).splitlines() == [",".join(COLUMNS)]


def test_the_document_has_the_shape_that_is_promised() -> None:
    """An entry a row: dataset, reasoner, backbone, model, n, metrics, categories, retrieval, refusal, usage."""
    made = json.loads(json.dumps(document([summarise(answered_run()), summarise(retrieved_run())])))
    assert made["schema_version"] == 1
    assert len(made["runs"]) == 4
    entry = made["runs"][1]
    assert [entry[key] for key in ("dataset", "reasoner", "backbone", "model", "n")] == [
        "made-up", "goal-mem", "hybrid", "scripted", 6,
    ]  # fmt: skip
    assert set(entry["metrics"]["f1"]) == {"mean", "low", "high", "n"}
    assert entry["by_category"]["2"]["metrics"]["f1"]["mean"] == 1.0
    assert set(entry["retrieval"]["recall"]) == {"10", "20", "40", "60"}
    assert entry["refusal"]["recall"] == 1.0
    assert entry["usage"]["calls"]["n"] == 6
    assert entry["distributions"]["breadth"] == {"1": 4, "2": 1, "3": 1}
    assert entry["paired"]["baseline"] == "direct"
    assert entry["judges"][0]["unscored"] == 2
    assert made["runs"][2]["queries"] == "question"


def test_csv_has_a_figure_a_line() -> None:
    """Every line has all columns; overall figures go by the category `all`."""
    rows = list(csv.DictReader(io.StringIO(rows_csv([summarise(answered_run())]))))
    assert set(rows[0]) == set(COLUMNS)
    found = {(row["reasoner"], row["category"], row["metric"]): row for row in rows}
    assert found["direct", "all", "f1"]["mean"] == "0.5"
    assert found["goal-mem", "temporal", "f1"]["n"] == "1"
    assert found["goal-mem", "all", "f1 minus direct"]["mean"] == "0.375"


def test_csv_holds_no_formula() -> None:
    """A name that a spreadsheet would run is text there; a negative number stays a number."""
    run = answered_run(manifest=manifest(dataset='=HYPERLINK("http://x")', model="@SUM(1)"))
    rows = list(csv.DictReader(io.StringIO(rows_csv([summarise(run, baseline="goal-mem")]))))
    assert {row["dataset"] for row in rows} == {'\'=HYPERLINK("http://x")'}
    assert {row["model"] for row in rows} == {"'@SUM(1)"}
    assert "-0.375" in {row["mean"] for row in rows}


@given(st.text())
def test_no_cell_of_text_begins_a_formula(text: str) -> None:
    """Whatever the text, what is written does not begin as a formula does, and still ends with the text."""
    cell = harmless(text)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    assert cell.endswith(text)


@given(
    st.lists(st.lists(st.sampled_from("abcdef"), max_size=3), max_size=8),
    st.sets(st.sampled_from("abcdef"), min_size=1),
    st.integers(0, 8),
)
def test_recall_grows_with_depth(units: list[list[str]], evidence: set[str], k: int) -> None:
    """Recall is a share, and never falls when more units count."""
    shallow, deep = recall_at(units, evidence, k), recall_at(units, evidence, k + 1)
    assert 0.0 <= shallow <= deep <= 1.0


def test_a_category_that_the_manifest_does_not_name_keeps_its_code() -> None:
    """Nothing is lost when a dataset has a category without a name."""
    case = Case("x", "conv-1", "Who?", "Ann", (), "preference")
    run = Run(
        manifest(format="longmemeval", categories={}), placed([case]),
        answered=(Answered("x", "direct", "hybrid", forward(case, "Ann")),),
    )  # fmt: skip
    summary = summarise(run)
    assert summary.categories == {"preference": "preference"}
    assert summary.rows[0].by_category["preference"].n == 1


def test_the_tokens_of_judging_are_summed_for_each_judge() -> None:
    """Over all verdicts of a row and judge; in the document and in the report's table."""
    run = answered_run()
    used = Usage(calls=1, prompt_tokens=300, cached_tokens=200, completion_tokens=11)
    run = replace(run, verdicts=tuple(replace(one, usage=used) for one in run.verdicts))
    summary = summarise(run)
    (judged,) = row_of(summary, "direct").judged
    entry = document([summary])["runs"][0]["judges"][0]  # type: ignore[index]

    assert judged.usage == Usage(6, 1800, 1200, 66)
    assert entry["usage"] == {"calls": 6, "prompt_tokens": 1800, "cached_tokens": 1200, "completion_tokens": 66}
    (table,) = [table for table in sections([summary])[0].tables if table.title == "Judges"]
    assert table.columns == ("right", "verdicts", "unscored", "tokens read", "written")
    assert [cells[-2:] for _, cells in table.rows] == [("1,800", "66"), ("2,400", "88")]


def test_remem_s_tables_by_hand() -> None:
    """Over all six questions a refusal counts where there is no answer; refusals have precision, recall and F1."""
    row = row_of(summarise(answered_run()), "goal-mem")
    # "Kyoto Latte" 1, "7 May 2023" 1, "matcha" of "matcha oat milk" 1/2, refused rightly 1, whole 1, failed 0
    assert row.metrics["token_f1"].mean == pytest.approx((1 + 1 + 1 / 2 + 1 + 0) / 5)
    assert row.metrics["all_f1"].mean == pytest.approx((1 + 1 + 1 / 2 + 1 + 1 + 0) / 6)
    assert row.metrics["all_f1"].n == 6
    # judged: 1, 1, 1/2; c2-0 unread; the refusal 1; c2-1 has no verdict
    assert row.metrics["all_judge"].mean == pytest.approx((1 + 1 + 1 / 2 + 1) / 4)
    assert row.metrics["all_judge"].n == 4
    assert row.by_category["5"].metrics["all_f1"].mean == 1.0
    refusal = row.refusal  # two refused, one of them unanswerable, and that is the only one
    assert refusal is not None
    assert (refusal.precision, refusal.recall) == (0.5, 1.0)
    assert refusal.f1 == pytest.approx(2 / 3)

    titles = {table.title: table for table in sections([summarise(answered_run())])[0].tables}
    assert titles["Answers, over all questions"].columns == ("F1 (SQuAD)\nn=5-6", "BLEU-1\nn=5-6", "judged right\nn=4")
    assert "BLEU-1 by category" in titles


def test_without_unanswerable_questions_there_is_nothing_over_all() -> None:
    """It would be the same figures once more."""
    run = answered_run(cases=placed([case for case in CASES if not case.is_unanswerable]))
    assert not {"all_f1", "all_judge"} & set(row_of(summarise(run), "goal-mem").metrics)


def test_stitch_s_tables_by_hand() -> None:
    """Answer sets have precision, recall and F1 in all and by type of question, as macro means, and a table of each."""
    cases = (
        Case("a", "c", "Which drinks?", "tea, cocoa", (), "type_1", answers=("tea", "cocoa")),
        Case("b", "c", "Which towns?", "Bonn", (), "type_1", answers=("Bonn",)),
        Case("d", "c", "Which hotels?", "Astoria, Ritz, Plaza", (), "type_4", answers=("Astoria", "Ritz", "Plaza")),
    )
    said = {"a": "tea; milk", "b": "Bonn", "d": "Ritz"}
    answers = tuple(Answered(case.id, "direct", "hybrid", forward(case, said[case.id])) for case in cases)
    types = {"type_1": "incremental memory revision", "type_4": "information synthesis"}
    made = manifest(format="came", categories=types, reasoners=("direct",))
    summary = summarise(Run(made, placed(cases), answered=answers))
    row = row_of(summary, "direct")

    def told(metrics: Mapping[str, Interval]) -> list[float]:
        return [metrics[name].mean for name in ("set_precision", "set_recall", "set_f1")]

    assert told(row.metrics) == pytest.approx([(0.5 + 1 + 1) / 3, (0.5 + 1 + 1 / 3) / 3, (0.5 + 1 + 0.5) / 3])
    assert told(row.by_category["type_1"].metrics) == pytest.approx([0.75, 0.75, 0.75])
    assert told(row.by_category["type_4"].metrics) == pytest.approx([1, 1 / 3, 0.5])
    titles = [table.title for table in sections([summary])[0].tables]
    assert {"Set precision by category", "Set recall by category", "Set F1 by category"} <= set(titles)


def test_sets_of_complex_tr_stand_by_level() -> None:
    """Set accuracy and answer F1, each with a table by category."""
    cases = (
        Case("a", "c", "For whom?", "Acme", (), "L2", answers=("Acme",)),
        Case("b", "c", "For whom?", "Acme, Bolt", (), "L3", answers=("Acme", "Bolt")),
    )
    answers = tuple(Answered(case.id, "direct", "hybrid", forward(case, "Acme")) for case in cases)
    summary = summarise(
        Run(manifest(format="complex-tr", categories={}, reasoners=("direct",)), placed(cases), answered=answers)
    )
    tables = {table.title: table for table in sections([summary])[0].tables}

    assert row_of(summary, "direct").by_category["L3"].metrics["answer_f1"].mean == pytest.approx(2 / 3)
    assert tables["Set accuracy by category"].columns == ("L2\nn=1", "L3\nn=1")
    assert tables["Set accuracy by category"].rows[0][1] == ("1.000 [1.00, 1.00]", "0.000 [0.00, 0.00]")
    assert "Answer F1 by category" in tables


@pytest.mark.parametrize(("told", "own"), [("0/45 of an answer", ["0", "45 of an answer"]), ("0 of an answer", None)])
def test_a_row_has_the_least_certainty_of_its_reasoner(told: str, own: list[str] | None) -> None:
    """Where the run names one for each."""
    summary = summarise(answered_run(manifest=manifest(settings={"certainty": told})))
    assert [summary.told(row)[2]["certainty"] for row in summary.rows] == (own or [told, told])


def test_tokens_of_a_question_are_those_of_its_trace() -> None:
    """Prompt and completion, as means over the questions, in the table of costs."""
    row = row_of(summarise(answered_run()), "goal-mem")
    assert row.usage["prompt_tokens"].mean == pytest.approx((3000 * (1 + 1 + 2 + 3 + 1) + 500) / 6)
    assert row.usage["completion_tokens"].mean == pytest.approx((120 * (1 + 1 + 2 + 3 + 1) + 40) / 6)
    tables = {table.title: table for table in sections([summarise(answered_run())])[0].tables}
    assert {column.partition("\n")[0] for column in tables["Cost of a question"].columns} >= {
        "prompt tokens", "completion tokens",
    }  # fmt: skip


def test_a_run_of_before_ranks_were_kept_has_no_evidence_recall_and_says_so() -> None:
    """With full prompts the numbers of its facts are places in time; neither row, category nor document has a figure."""
    old = answered_run(manifest=manifest(settings={"profile": "full"}))
    summary = summarise(old)
    row = row_of(summary, "direct")
    assert row.unranked == 5
    assert not row.recall
    assert not [name for part in row.by_category.values() for name in part.metrics if name.startswith("recall@")]
    assert not [name for each in row.scores.values() for name in each if name.startswith("recall@")]
    (section,) = sections([summary])
    assert [note for note in section.notes if "no evidence recall: 5 answers of an earlier goalmem" in note]
    assert not [note for note in sections([summarise(answered_run())])[0].notes if "evidence recall" in note]
    assert row_of(summarise(answered_run()), "direct").recall


def test_what_was_left_out_for_want_of_tokens_is_reported() -> None:
    """The mean of a question stands in the document, the CSV file and a note; where nothing was, there is no note."""
    run = answered_run()
    short = replace(run, answered=tuple(_shortened(each) for each in run.answered if each.reasoner == "direct"))
    summary = summarise(short)
    assert [(row.left_out and row.left_out.mean) for row in summary.rows] == [7.0, None]
    runs: Any = document([summary])["runs"]
    assert [run.get("left_out", {}).get("mean") for run in runs] == [7.0, None]
    assert "direct,hybrid,,scripted,all,left_out,7.0" in rows_csv([summary])
    (section,) = sections([summary])
    assert [note for note in section.notes if note.startswith("direct over hybrid: 7.0 hits a question left out for")]


def _shortened(answered: Answered) -> Answered:
    """Return the answer with seven hits of each retrieval too long to be shown."""
    actions = [replace(each, skipped=9, too_long=7) if each.queries else each for each in answered.trace.actions]
    return replace(answered, trace=replace(answered.trace, actions=tuple(actions)))

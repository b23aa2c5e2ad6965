"""Agreement and kappa against what they are on paper; marks made by hand; judges compared."""

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.lab.evaluation.metrics.agreement import Correlation, agreement, cohens_kappa, correlation
from goalmem_cli.lab.evaluation.runs.labels import read_labels
from goalmem_cli.lab.evaluation.runs.run import Run, Verdict
from goalmem_cli.lab.evaluation.summaries.agreeing import (
    by_hand,
    compared,
    correlations,
    document,
    judges_of,
    other_answers,
    sheet_of,
)
from tests.lab.evaluation.made_runs import CASES, answered_run, forward, manifest, placed

DIRECT, GOAL_MEM = ("direct", "hybrid"), ("goal-mem", "hybrid")


def pairs(both_right: int, first_alone: int, second_alone: int, both_wrong: int) -> list[tuple[bool, bool]]:
    """Return marks of so many answers."""
    return (
        [(True, True)] * both_right + [(True, False)] * first_alone
        + [(False, True)] * second_alone + [(False, False)] * both_wrong
    )  # fmt: skip


def marked(folder: Path, *rows: str, head: str = "question,reasoner,backbone,mark") -> Path:
    """Write marks made by hand."""
    path = folder / "marks.csv"
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return path


def judged(*said: tuple[str, str, Sequence[bool | None]], judge: str = "arbiter", reply: str = "") -> Run:
    """Return the run with other verdicts: case, reasoner and what the passes say."""
    verdicts = tuple(
        Verdict(case, reasoner, "hybrid", judge, "standard", number, is_right, reply)
        for case, reasoner, passes in said
        for number, is_right in enumerate(passes, 1)
    )
    return answered_run(verdicts=verdicts)


@pytest.mark.parametrize(
    ("counts", "equal", "kappa"),
    [
        ((20, 5, 10, 15), 0.7, 0.4),  # by chance (25 x 30 + 25 x 20) / 50 x 50 = 0.5
        ((45, 15, 25, 15), 0.6, 3 / 23),  # 0.54
        ((25, 35, 5, 35), 0.6, 7 / 27),  # 0.46: as many are equal, and kappa is twice that
        ((3, 0, 0, 4), 1.0, 1.0),
        ((0, 5, 5, 0), 0.0, -1.0),
        ((3, 2, 0, 0), 0.6, 0.0),  # the first gives one mark only: no better than chance
        ((0, 0, 2, 6), 0.75, 0.0),
        ((1, 0, 0, 1), 1.0, 1.0),
        ((7, 0, 0, 0), 1.0, None),
        ((0, 0, 0, 7), 1.0, None),
        ((0, 1, 0, 0), 0.0, 0.0),
    ],
)
def test_agreement_and_kappa_by_hand(counts: tuple[int, int, int, int], equal: float, kappa: float | None) -> None:
    """Both are what they are on paper; kappa is undefined where both give every answer one and the same mark."""
    found = agreement(pairs(*counts))
    assert (found.both_right, found.first_alone, found.second_alone, found.both_wrong) == counts
    assert found.n == sum(counts)
    assert found.equal is not None
    assert found.equal.mean == pytest.approx(equal)
    assert cohens_kappa(*counts) == (None if kappa is None else pytest.approx(kappa))
    assert (found.kappa is None) is (kappa is None)
    if found.kappa is not None:
        assert found.kappa.low <= found.kappa.mean <= found.kappa.high


def test_kappa_does_not_depend_on_who_is_first_or_what_is_called_right() -> None:
    """Swapping the two, or the marks, leaves it as it is."""
    assert cohens_kappa(9, 2, 5, 4) == cohens_kappa(9, 5, 2, 4) == cohens_kappa(4, 2, 5, 9)


def test_nothing_to_compare_has_no_figures() -> None:
    """No answers in common: neither agreement nor kappa."""
    found = agreement([])
    assert (found.n, found.equal, found.kappa) == (0, None, None)
    assert cohens_kappa(0, 0, 0, 0) is None


def test_the_interval_narrows_with_the_answers() -> None:
    """Ten times as many answers with the same shares: a narrower interval around the same kappa."""
    few, many = agreement(pairs(20, 5, 10, 15)).kappa, agreement(pairs(200, 50, 100, 150)).kappa
    assert few is not None
    assert many is not None
    assert few.mean == pytest.approx(many.mean)
    assert many.high - many.low < (few.high - few.low) / 2


def test_marks_made_by_hand_are_read(tmp_path: Path) -> None:
    """Marks in their usual words; further columns, blank lines and a byte order mark make no difference."""
    path = tmp_path / "marks.csv"
    text = (
        "Question ID;Reasoner;note;Backbone;MARK\r\n"
        "c1-0;direct;fine;hybrid;Right\r\n\r\n"
        'c1-0;goal-mem;"two\nlines";hybrid; 1 \r\n'
        "c1-1;goal-mem;;;no\r\n"
    )
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    labels = read_labels(path, answered_run())

    assert labels.bad == ()
    assert labels.rows == 3
    assert labels.marks == {
        ("c1-0", *DIRECT): True, ("c1-0", *GOAL_MEM): True, ("c1-1", *GOAL_MEM): False,
    }  # fmt: skip


def test_what_a_run_has_one_of_need_not_be_said(tmp_path: Path) -> None:
    """With one reasoner over one backbone the question's id is enough."""
    run = answered_run(manifest=manifest(reasoners=("direct",)))
    run = replace(run, answered=tuple(one for one in run.answered if one.reasoner == "direct"))
    labels = read_labels(marked(tmp_path, "c1-0,yes", "c1-1,no", head="case,mark"), run)

    assert labels.marks == {("c1-0", *DIRECT): True, ("c1-1", *DIRECT): False}


def test_bad_rows_are_counted_and_named(tmp_path: Path) -> None:
    """Each with file, line and reason; the others count."""
    path = marked(
        tmp_path,
        "c1-0,direct,hybrid,right",
        "c9-9,direct,hybrid,right",
        "c1-0,zenith,hybrid,right",
        "c1-0,direct,bm25,right",
        "c1-1,direct,hybrid,maybe",
        "c1-1,direct,hybrid,",
        "c1-1,,hybrid,right",
        ",direct,hybrid,right",
        "c1-0,direct,hybrid,wrong",
        'c1-1,"direct"x,hybrid,right',
        "c1-1,goal-mem,hybrid,wrong",
        "c1-2,goal-mem",
        "c2-1,direct,hybrid,wrong",
    )
    labels = read_labels(path, answered_run())

    assert labels.marks == {("c1-0", *DIRECT): True, ("c1-1", *GOAL_MEM): False}
    assert labels.rows == 13
    assert len(labels.bad) == 11
    said = [line.removeprefix(f"{path}: ") for line in labels.bad]
    assert [line.partition(": ")[0] for line in said] == [f"line {number}" for number in (*range(3, 12), 13, 14)]
    for line, reason in zip(
        said,
        (
            "no answer to a question called 'c9-9'",
            "no such answer of the reasoner 'zenith'",
            "no such answer of the backbone 'bm25'",
            "'maybe' is neither right nor wrong",
            "there is no mark",
            "there is no reasoner, and the run has several",
            "there is no question",
            "line 2 marks this answer already",
            "not a row of a CSV file",
            "there is no mark",
            "no such answer of the reasoner 'direct'",
        ),
        strict=True,
    ):
        assert reason in line


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"question,reasoner\nc1-0,direct\n", "no column is called mark"),
        (b"id,mark\nc1-0,right\n", "no column is called question"),
        (b"", "no column is called question"),
        (b"question,mark\n", "gives no mark: there are no rows"),
        (b"question,reasoner,mark\nc1-0,direct,perhaps\n", "gives no mark: line 2: 'perhaps'"),
        (b"question,mark\nc1-0,\xff\n", "not UTF-8 text"),
    ],
)
def test_a_file_without_marks_is_an_error(tmp_path: Path, content: bytes, said: str) -> None:
    """What is the matter, and what a row has to have."""
    path = tmp_path / "marks.csv"
    path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        read_labels(path, answered_run())
    assert said in raised.value.message
    assert raised.value.hint


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """Its path, and why."""
    with pytest.raises(InputError, match=r"none\.csv.*No such file"):
        read_labels(tmp_path / "none.csv", answered_run())


def test_a_judge_is_compared_with_people(tmp_path: Path) -> None:
    """On the answers that both marked, in all and row by row; most passes decide, ties and unread ones are left out."""
    path = marked(
        tmp_path,
        "c1-0,direct,hybrid,right", "c1-1,direct,hybrid,right", "c2-0,direct,hybrid,right",
        "c1-0,goal-mem,hybrid,right", "c1-1,goal-mem,hybrid,wrong", "c1-2,goal-mem,hybrid,right",
        "c2-0,goal-mem,hybrid,right",
    )  # fmt: skip
    run = answered_run()
    (judge,) = judges_of(run)
    found = compared(judge, by_hand(read_labels(path, run)))

    assert judge.name == "arbiter, standard"
    assert (judge.refusals, judge.unread, judge.split) == (0, 1, 1)
    assert found.rows[DIRECT] == agreement(pairs(2, 0, 1, 0))
    assert found.rows[GOAL_MEM] == agreement(pairs(1, 1, 0, 0))
    assert found.overall == agreement(pairs(3, 1, 1, 0))
    assert [(case, reasoner, is_right) for (case, reasoner, _), is_right in found.differing.items()] == [
        ("c1-1", "direct", False), ("c1-1", "goal-mem", True),
    ]  # fmt: skip
    assert (found.first_alone, found.second_alone) == (0, 2)


def test_refusals_that_nobody_was_asked_about_do_not_count() -> None:
    """They would make every judge agree with every other."""
    run = judged(("c1-0", "direct", (True,)), ("c1-1", "direct", (False,)))
    settled = replace(run.verdicts[1], reply="refused")
    (judge,) = judges_of(replace(run, verdicts=(run.verdicts[0], settled)))

    assert judge.marks == {("c1-0", *DIRECT): True}
    assert judge.refusals == 1


def test_two_judges_of_one_run_are_compared() -> None:
    """Each prompt is a judge of its own."""
    run = judged(("c1-0", "direct", (True, True, False)), ("c1-1", "direct", (False,)))
    strict = tuple(replace(one, prompt="strict", is_right=False) for one in run.verdicts)
    first, second = judges_of(replace(run, verdicts=(*run.verdicts, *strict)))

    assert (first.name, second.name) == ("arbiter, standard", "arbiter, strict")
    assert compared(first, second).overall == agreement(pairs(0, 1, 0, 1))


def test_judges_of_two_runs_are_compared_where_the_answers_are_the_same() -> None:
    """An answer that the other run gives otherwise is left out, and counted."""
    run = judged(("c1-0", "direct", (True,)), ("c1-1", "direct", (False,)))
    second = judged(("c1-0", "direct", (True,)), ("c1-1", "direct", (True,)), judge="other")
    changed = replace(second.answered[0], trace=forward(CASES[0], "a flat white"))
    second = replace(second, answered=(changed, *second.answered[1:]))
    found = compared(judges_of(run)[0], judges_of(second, " in b")[0], other_answers(run, second))

    assert found.second.name == "other, standard in b"
    assert found.overall == agreement(pairs(0, 0, 1, 0))
    assert found.other_answers == 1
    assert other_answers(run, run) == set()


def test_the_document_has_everything(tmp_path: Path) -> None:
    """Figures with bounds, counts, rows, what was left out, and the rows of the file that were bad."""
    run = answered_run()
    labels = read_labels(marked(tmp_path, "c1-0,direct,hybrid,right", "c1-1,direct,hybrid,?"), run)
    made = document([compared(judges_of(run)[0], by_hand(labels))], labels.rows, labels.bad)

    assert made["labels"] == {"rows": 2, "bad": [f"{tmp_path / 'marks.csv'}: line 3: '?' is neither right nor wrong"]}
    assert made["pairs"] == [
        {
            "first": {"name": "arbiter, standard", "marks": 5, "alone": 4, "refusals": 0, "unread": 1, "split": 1},
            "second": {"name": "by hand", "marks": 1, "alone": 0, "refusals": 0, "unread": 0, "split": 0},
            "answered_otherwise": 0,
            "n": 1,
            "agreement": {"mean": 1.0, "low": 1.0, "high": 1.0},
            "kappa": None,
            "counts": {"both_right": 1, "first_alone": 0, "second_alone": 0, "both_wrong": 0},
            "rows": [
                {
                    "reasoner": "direct", "backbone": "hybrid", "n": 1, "kappa": None,
                    "agreement": {"mean": 1.0, "low": 1.0, "high": 1.0},
                    "counts": {"both_right": 1, "first_alone": 0, "second_alone": 0, "both_wrong": 0},
                }
            ],
            "differing": [],
        }
    ]  # fmt: skip


def test_a_sheet_comes_back_as_marks(tmp_path: Path) -> None:
    """Every answer that a judge would be asked about, once; filled in, it is read without a bad row."""
    cases = (replace(CASES[0], id="=1+1", question="=cmd|' /C calc'!A0"), *CASES[1:])
    run = answered_run(cases=placed(cases))
    run = replace(run, answered=tuple(replace(one, case="=1+1") if one.case == "c1-0" else one for one in run.answered))
    text, rows = sheet_of(run)
    listed = list(csv.DictReader(io.StringIO(text)))

    assert rows == len(listed) == 7
    assert not [cell for row in listed for cell in row.values() if cell.startswith(("=", "+", "-", "@"))]
    assert "c1-3" not in {row["question"] for row in listed}
    path = tmp_path / "marks.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(listed[0]))
        writer.writeheader()
        writer.writerows(row | {"mark": "right"} for row in listed)
    labels = read_labels(path, run)
    assert labels.bad == ()
    assert len(labels.marks) == 7


def test_correlations_by_hand() -> None:
    """Of four answers, two of them right: what Pearson and Spearman are on paper; of equal scores there are none."""
    found = correlation([0.0, 0.5, 0.5, 1.0], [False, False, True, True])
    assert found is not None
    assert (found.mean, found.n) == (0.5, 4)
    assert found.pearson == pytest.approx(1 / 2**0.5)  # 0.5 by the root of 0.5 x 1
    assert found.spearman == pytest.approx(4 / (4.5 * 4) ** 0.5 * 0.75)  # ranks 1, 2.5, 2.5, 4 and 1.5, 1.5, 3.5, 3.5
    assert correlation([0.3, 0.3], [True, False]) == Correlation(0.3, None, None, 2)
    assert correlation([0.1, 0.3], [True, True]) == Correlation(0.2, None, None, 2)
    assert correlation([], []) is None


def test_scores_go_with_marks_made_by_hand(tmp_path: Path) -> None:
    """Each score of an answer with its mark; answers without a score or a mark are left out (REMem's Table 7)."""
    run = answered_run()
    path = marked(tmp_path, "c1-0,direct,hybrid,right", "c1-1,direct,hybrid,wrong", "c1-2,direct,hybrid,wrong")
    found = correlations(run, read_labels(path, run))
    assert {name: each.n for name, each in found.items()}["f1"] == 3
    assert "set_f1" not in found
    assert document([], 3, (), found)["correlations"]["f1"]["n"] == 3  # type: ignore[index]

"""The report on the terminal: complete, readable at any width, and never markup."""

import io
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.console import Console

from goalmem_cli.lab.evaluation.metrics.bootstrap import Interval
from goalmem_cli.lab.evaluation.runs.run import Run, Verdict
from goalmem_cli.lab.evaluation.summaries.summary import Summary, summarise
from goalmem_cli.lab.render.cells import amount, difference, share
from goalmem_cli.lab.render.figures import sections
from goalmem_cli.lab.render.report import report
from tests.lab.evaluation.made_runs import HOSTILE, answered_run, manifest, placed, retrieved_run


def drawn(summaries: Sequence[Summary], width: int) -> str:
    """Return the report as it stands on a terminal of the width."""
    console = Console(file=io.StringIO(), width=width, markup=False, highlight=False)
    with console.capture() as captured:
        console.print(report(summaries))
    return captured.get()


@pytest.fixture(scope="module")
def summaries() -> list[Summary]:
    """A run that answers and one that only retrieves, of one dataset."""
    return [summarise(answered_run()), summarise(retrieved_run())]


@pytest.mark.parametrize("width", [80, 120])
def test_everything_is_there_and_fits(summaries: list[Summary], width: int) -> None:
    """Every table, and every cell of it whole, stands within the width."""
    text = drawn(summaries, width)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    (section,) = sections(summaries)
    assert {"Answers", "F1 by category", "Refusal", "Evidence recall", "Cost of a question", "Realised breadth",
            "Realised depth", "Realised subgoals", "Compared with direct", "Judges"} <= {
        table.title for table in section.tables
    }  # fmt: skip
    for table in section.tables:
        assert table.title in text
        for names, cells in table.rows:
            assert all(cell in text for cell in (*names, *cells))
    assert "…" not in text


def test_a_narrow_screen_repeats_the_names_of_the_rows(summaries: list[Summary]) -> None:
    """Where columns go on below, the rows' names stand beside them again; a wider screen needs fewer parts."""
    narrow, wide = drawn(summaries, 80), drawn(summaries, 120)
    assert narrow.count("reasoner") > wide.count("reasoner")
    assert drawn(summaries, 20)


def test_figures_carry_their_intervals() -> None:
    """Shares, amounts and differences are written with the bounds of their intervals."""
    assert share(Interval(0.2314, 0.2, 0.262, 150)) == "0.231 [0.20, 0.26]"
    assert difference(Interval(0.031, -0.01, 0.052, 150)) == "+0.031 [-0.01, +0.05]"
    assert amount(Interval(1204.4, 1100, 1310, 150)) == "1,204 [1,100, 1,310]"
    assert amount(Interval(4.234, 3.9, 4.55, 150)) == "4.23 [3.90, 4.55]"


def test_what_qualifies_the_figures_is_said() -> None:
    """Repairs, unfinished questions, unread verdicts, a judge that answered itself, shards and a missing baseline."""
    run = answered_run(manifest=manifest(shard=(2, 3)))
    own = Verdict("c1-0", "direct", "hybrid", "scripted", "strict", 1, is_right=None)
    text = " ".join(drawn([summarise(replace(run, verdicts=(*run.verdicts, own)), "react")], 120).split())
    for said in (
        "repaired in made-up: 6 answers that are numbers, read as text",
        "direct over hybrid: 1 question of 6 not done yet",
        "2 of 8 verdicts of arbiter (standard) could not be read",
        "direct over hybrid: judged by scripted, the model that answered",
        "shard 2 of 3",
        "no differences: react is not in the run",
    ):
        assert said in text


def test_columns_say_over_how_many_questions_they_are(summaries: list[Summary]) -> None:
    """The heads of columns hold the number of questions, as a range where the rows differ."""
    (section,) = sections(summaries)
    answers = next(table for table in section.tables if table.title == "Answers")
    assert answers.columns[0] == "F1\nn=4-5"
    recall = next(table for table in section.tables if table.title == "Evidence recall")
    assert recall.columns[0] == "@10\nn=4"


def test_each_dataset_has_a_section_and_models_are_named_where_they_differ() -> None:
    """Runs of one dataset stand in one table; the model is a column only where it tells rows apart."""
    first = summarise(answered_run())
    other = summarise(answered_run(manifest=manifest(model="other")))
    third = summarise(answered_run(manifest=manifest(dataset="second")))
    joined, alone = sections([first, other, third])
    assert (joined.dataset, alone.dataset) == ("made-up", "second")
    assert joined.tables[0].keys == ("reasoner", "backbone", "model")
    assert len(joined.tables[0].rows) == 4
    assert alone.tables[0].keys == ("reasoner", "backbone")


def test_notes_name_the_model_where_it_tells_runs_apart() -> None:
    """What qualifies the figures of one of two models is not said of both."""
    whole, part = answered_run(), answered_run(manifest=manifest(model="other"))
    part = replace(part, answered=part.answered[:-1])
    (alone,) = sections([summarise(whole)])
    (section,) = sections([summarise(whole), summarise(part)])
    assert "direct over hybrid: 1 question of 6 not done yet" in alone.notes
    assert "direct over hybrid, scripted: 1 question of 6 not done yet" in section.notes
    assert not any(note.startswith("goal-mem over hybrid, scripted: 1 question of 6") for note in section.notes)
    assert "goal-mem over hybrid, other: 1 question of 6 not done yet" in section.notes


def test_runs_of_one_name_are_told_apart_by_what_they_were_told() -> None:
    """Two runs of the same reasoners stand side by side with what differs between them, in tables and charts."""
    runs = [summarise(answered_run(manifest=manifest(settings={"seed": "0", "budget": each}))) for each in ("10", "60")]
    (section,) = sections(runs)
    assert section.tables[0].keys == ("reasoner", "backbone", "run")
    assert [names[2] for names, _ in section.tables[0].rows] == ["budget 10", "budget 10", "budget 60", "budget 60"]


def test_names_are_text() -> None:
    """A dataset's name, a model's or a repair's is neither markup nor an escape sequence."""
    run = answered_run(manifest=manifest(dataset=HOSTILE, model=HOSTILE, repairs={HOSTILE: 1}))
    text = drawn([summarise(run)], 80)
    assert "\x1b" not in text
    assert "[bold]b[/bold]" in text
    assert "\u202e" not in text


def test_an_empty_run_is_no_failure() -> None:
    """A run without questions or answers draws its name and nothing else that would mislead."""
    text = drawn([summarise(Run(manifest(repairs={}), placed(())))], 80)
    assert "made-up" in text
    assert "n=" not in text

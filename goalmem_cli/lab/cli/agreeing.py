"""`goalmem eval agree`: how well judges agree with labels by hand or each other; and how `eval` judges a run."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import examples
from goalmem_cli.cli.invocation import Invocation, begin
from goalmem_cli.errors import UsageError

if TYPE_CHECKING:
    from goalmem_cli.lab.evaluation.metrics.agreement import Correlation
    from goalmem_cli.lab.evaluation.runs.labels import Labels
    from goalmem_cli.lab.evaluation.runs.run import Run
    from goalmem_cli.lab.evaluation.summaries.agreeing import Compared, Marks
    from goalmem_cli.lab.render.report import SplitTable
    from goalmem_cli.prompts import PromptBook
    from goalmem_cli.wiring import LoadedModel

_NO_JUDGE = "`goalmem eval score RUN --judge MODEL` has one mark the answers"
EPILOG = examples(
    "goalmem eval agree my-run marks.csv",
    "goalmem eval agree my-run other-run --json",
    "goalmem eval agree my-run --sheet marks.csv",
    guide="measuring",
)


def agree(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run that a judge has marked.")],
    other: Annotated[
        Path | None,
        typer.Argument(metavar="LABELS", help="A CSV file of marks made by hand, or the folder of another judged run."),
    ] = None,
    sheet: Annotated[
        Path | None,
        typer.Option("--sheet", metavar="FILE", help="Write the answers as a CSV file to mark by hand, and no more."),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Measure how far a judge agrees with marks made by hand, or with another judge.

    Agreement is the share of equal marks; kappa is the agreement beyond chance. Both have a 95% interval. Without
    LABELS the judges of the run are compared with one another.
    """
    from goalmem_cli.lab.evaluation.runs.matrix import read_any

    if sheet is not None and other is not None:
        raise UsageError("--sheet writes what LABELS would be", "leave one of the two out")
    made = begin(context, quiet=quiet)
    run = read_any(folder)
    if sheet is not None:
        _write(made, run, sheet)
        return 0
    from goalmem_cli.lab.evaluation.summaries.agreeing import correlations, document

    pairs, labels = _pairs(made, run, folder, other)
    told = {} if labels is None else correlations(run, labels)
    if json:
        rows, bad = (0, ()) if labels is None else (labels.rows, labels.bad)
        made.screen.document(document(pairs, rows, bad, told))
    else:
        from goalmem_cli.lab.render.agreeing import agreements

        made.screen.show(agreements(pairs))
        if told:
            made.screen.show(_correlated(told))
    return 0


def _correlated(told: Mapping[str, Correlation]) -> SplitTable:
    """Return the table of how scores correlate with marks made by hand."""
    from goalmem_cli.lab.render.cells import Figures, label
    from goalmem_cli.lab.render.report import SplitTable

    rows = tuple(
        ((label(name),), (f"{each.mean:.3f}", *map(_coefficient, (each.pearson, each.spearman)), str(each.n)))
        for name, each in told.items()
    )
    columns = ("mean", "Pearson r", "Spearman rho", "answers")
    return SplitTable(Figures("Scores and marks made by hand", ("score",), columns, rows))


def _coefficient(value: float | None) -> str:
    return "undefined" if value is None else f"{value:+.3f}"


def _pairs(made: Invocation, run: Run, folder: Path, other: Path | None) -> tuple[list[Compared], Labels | None]:
    """Return the compared pairs, and the marks made by hand if they are what is compared with.

    Raises:
        UsageError: fewer than two judges can be compared.
        InputError: the labels cannot be read.
    """
    from goalmem_cli.lab.evaluation.runs.labels import read_labels
    from goalmem_cli.lab.evaluation.runs.matrix import read_any
    from goalmem_cli.lab.evaluation.summaries.agreeing import by_hand, compared, judges_of, other_answers

    judges = _judges(judges_of(run), folder)
    if other is None:
        if len(judges) < 2:
            raise UsageError(f"{folder} has one judge only", "name a CSV file of marks, or another judged run")
        return [compared(one, two) for place, one in enumerate(judges) for two in judges[place + 1 :]], None
    if other.is_dir():
        second = read_any(other)
        left_out = other_answers(run, second)
        others = _judges(judges_of(second, f" in {other}"), other)
        return [compared(one, two, left_out) for one in judges for two in others], None
    labels = read_labels(other, run)
    if labels.bad:
        made.screen.warn(f"{len(labels.bad)} of {labels.rows} rows give no mark, and are left out")
    for line in labels.bad:
        made.screen.warn(line)
    return [compared(judge, by_hand(labels)) for judge in judges], labels


def _judges(judges: list[Marks], folder: Path) -> list[Marks]:
    if not judges:
        raise UsageError(f"no judge has marked {folder}", _NO_JUDGE)
    return judges


def _write(made: Invocation, run: Run, path: Path) -> None:
    """Write the sheet of answers to mark; raises UsageError if the file exists."""
    from goalmem_cli.lab.evaluation.summaries.agreeing import sheet_of
    from goalmem_cli.store.files import replace_file

    text, rows = sheet_of(run)
    if path.exists():
        raise UsageError(f"{path} is there already", "name a new file: marks that were made are not written over")
    replace_file(path, text.encode("utf-8-sig"), hint="check permissions and space, or name another file with --sheet")
    made.screen.note(f"{path} has {rows} answers to mark right or wrong")


@dataclass(frozen=True, slots=True)
class Jury:
    """The model that judges, its prompt (standard or strict), and the number of passes."""

    model: str
    style: Literal["standard", "strict"]
    passes: int


def jury_of(model: str | None, style: Literal["standard", "strict"], passes: int) -> Jury | None:
    """Return the jury that the options name, or None without a judge.

    Raises:
        UsageError: options of judging are given without a model.
    """
    if model is not None:
        return Jury(model, style, passes)
    if (style, passes) != ("standard", 1):
        raise UsageError("--judge-prompt and --passes are for a judge", "name its model with --judge")
    return None


@contextmanager
def _asking(made: Invocation, jury: Jury, *steps: str) -> Iterator[tuple[LoadedModel, PromptBook]]:
    """Yield the jury's model and the prompts of the steps; the model is closed afterwards."""
    from goalmem_cli.wiring import open_prompts

    with closing(made.factories.model(replace(made.settings, model=jury.model, adapter=None))) as loaded:
        yield loaded, open_prompts(made.settings.prompts, loaded.profile, steps)


def sort_runs(made: Invocation, paths: Sequence[Path], jury: Jury | None) -> None:
    """Let the judge sort the runs' questions by what they need to know about time; ask about each question once.

    Raises:
        UsageError: there is no judge or no run.
        ModelError: the model cannot be used.
        InputError: a file of the run is damaged.
        StoreError: the run's folder cannot be written.
    """
    from goalmem_cli.lab.evaluation.runs.folder import RunFolder, read_run
    from goalmem_cli.lab.evaluation.runs.run import Sorted
    from goalmem_cli.lab.evaluation.runs.sorting import STEP, sort_questions

    if jury is None:
        raise UsageError("--temporal needs a model that sorts the questions", "name it with --judge")
    with ExitStack() as stack:
        folders = [stack.enter_context(closing(RunFolder.going_on(path))) for path in paths]
        asked = [{placed.case.id: placed.case for placed in read_run(path).cases} for path in paths]
        known = {each.case: each for folder in folders for each in folder.results(Sorted)}
        lacking = [cases.keys() - {each.case for each in folder.results(Sorted)}
                   for folder, cases in zip(folders, asked, strict=True)]  # fmt: skip

        def keep(result: Sorted) -> None:
            for folder, names in zip(folders, lacking, strict=True):
                if result.case in names:
                    folder.append(result)

        for each in known.values():
            keep(each)
        loaded, prompts = stack.enter_context(_asking(made, jury, STEP))
        with made.screen.working() as reach:
            failed = sort_questions(
                list(ChainMap(*asked).values()), loaded.model, prompts, known, keep,
                lambda number, of: reach(f"questions sorted: {number} of {of}", number, of), loaded.at_once,
            )  # fmt: skip
    if failed:
        made.screen.warn(f"{failed} questions were not sorted, as no reply was usable; the same command asks again")


def sort_labels_of(made: Invocation, path: Path, jury: Jury) -> None:
    """Let the judge sort the faults of the labels that were chosen for a run's wrongly answered questions.

    Raises:
        As `sort_runs`.
    """
    from goalmem_cli.lab.evaluation.runs.folder import RunFolder, read_run
    from goalmem_cli.lab.evaluation.runs.sorting import FAULTS_STEP, sort_labels

    with ExitStack() as stack:
        folder = stack.enter_context(closing(RunFolder.going_on(path)))
        loaded, prompts = stack.enter_context(_asking(made, jury, FAULTS_STEP))
        with made.screen.working() as reach:
            failed = sort_labels(
                read_run(path), loaded.model, prompts, folder.append,
                lambda number, of: reach(f"labels sorted: {number} of {of}", number, of), loaded.at_once,
            )  # fmt: skip
    if failed:
        made.screen.warn(f"{failed} choices of labels were not sorted; the same command asks again")


def judge_run(made: Invocation, path: Path, jury: Jury | None) -> None:
    """Judge the answers that the model has not judged yet, and note the cost; do nothing without a jury.

    Raises:
        UsageError: there is no run, or another model or prompt of the judge's name has judged it.
        ModelError: the model cannot be used.
        InputError: a file of the run is damaged.
        StoreError: the run's folder cannot be written.
    """
    if jury is None:
        return
    from goalmem_cli.lab.evaluation.runs import judge as judges
    from goalmem_cli.lab.evaluation.runs.folder import RunFolder, read_run
    from goalmem_cli.lab.evaluation.runs.run import Verdict

    with ExitStack() as stack:
        folder = stack.enter_context(closing(RunFolder.going_on(path)))
        run = read_run(path)
        steps = judges.steps_of(run.manifest.format, jury.style)
        loaded, prompts = stack.enter_context(_asking(made, jury, *steps))
        judge = judges.Judge(loaded.model, prompts, loaded.name, jury.style, run.manifest.format, loaded.digest)
        with made.screen.working() as reach:
            done = judges.judge_run(
                run, judge, jury.passes, folder.keys(Verdict), folder.append,
                lambda name, number, of: reach(f"{name}: {number} of {of}", number, of), loaded.at_once,
            )  # fmt: skip
    made.screen.note(
        f"judged by {judge.name}: {done.asked} asked, {done.unreadable} unreadable, {done.refused} refused and so "
        f"settled, {done.known} known before, {done.unjudged} not for a judge; "
        f"{done.usage.prompt_tokens:,} tokens read, {done.usage.completion_tokens:,} written"
    )

"""`goalmem bench labels`: what labels are worth to retrieval, measured with gold ones and without a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.invocation import Invocation, begin

if TYPE_CHECKING:
    from goalmem_cli.backbones.structured.kit import Kit
    from goalmem_cli.lab.bench.came.records import QuestionLabels
    from goalmem_cli.lab.evaluation.metrics.recall import RecallRow
    from goalmem_cli.ports import Backbone
    from goalmem_cli.records import Hit, Query
    from goalmem_cli.store import Store

SCHEMA_VERSION = 1
DEPTHS = (10, 40)
FIGURES = tuple(f"{what}@{depth}" for what in ("recall", "precision") for depth in DEPTHS)


@dataclass(frozen=True, slots=True)
class Errors:
    """How what is given errs: how often a question's label is a wrong one, and whether notes are the turns' words."""

    wrong: float
    seed: int
    plain_notes: bool


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured on one trajectory: a row for each backbone, over so many questions and turns of evidence."""

    trajectory: str
    turns: int
    questions: int
    evidence: int
    rows: tuple[RecallRow, ...]


def labels(
    context: typer.Context,
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="FOLDER...", help="Trajectories with gold labels, as `goalmem bench came` writes them."),
    ],
    wrong: Annotated[
        float, typer.Option("--wrong", min=0, max=1, help="How often a label that a question looks for is a wrong one.")
    ] = 0.0,
    plain_notes: Annotated[
        bool, typer.Option("--plain-notes", help="Take the turns' own words for notes, not the gold ones.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Chooses the wrong labels.")] = 0,
    embedder: options.Embedder = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Print what gold labels add to retrieval, at 10 and 40 hits.

    Evidence recall and precision, by content alone and by gold labels; no model is asked.
    The labels of turns and questions are those of the storyboard, so that ranking is measured and no model's labels.
    Backbones that know nothing of labels are measured before there are any, in a store that holds turns alone.
    """
    errors = Errors(wrong, seed, plain_notes)
    measured: list[Measured] = []
    with TemporaryDirectory(prefix="goalmem-bench-") as place:
        run = begin(context, quiet=quiet, store=Path(place), embedder=embedder)
        with run.screen.counting("trajectories") as reach:
            for number, folder in enumerate(folders, 1):
                measured.append(_measured(run, folder, Path(place) / str(number), errors))
                reach(number, len(folders))
    if json:
        run.screen.document({"schema_version": SCHEMA_VERSION, "trajectories": list(map(_document, measured))})
    else:
        _show(run, measured)
    return 0


def _measured(run: Invocation, folder: Path, place: Path, errors: Errors) -> Measured:
    """Return the figures of one trajectory, for which a store is made at the place.

    Raises:
        InputError: the folder holds no trajectory with labels.
    """
    from goalmem_cli.lab.bench.came.files import read_labels
    from goalmem_cli.lab.bench.came.gold import derive_gold
    from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
    from goalmem_cli.lab.evaluation.metrics.recall import evidence_recall
    from goalmem_cli.memory_records import Capability
    from goalmem_cli.transcripts import read_file
    from goalmem_cli.transcripts.readers.came import TURNS
    from goalmem_cli.wiring import local, open_store

    gold = read_labels(folder)
    cases = read_dataset([folder / TURNS]).cases
    asked = {case.question: gold.questions[case.id.rsplit(":", 1)[-1]] for case in cases}
    opened = open_store(replace(run.settings, store=place, address=None), run.factories, run.screen.note)
    store = local(opened, Capability.STRUCTURE)
    store.add_all(read_file(folder / TURNS, "came"))
    by_content = evidence_recall(_each(_flat(store)), cases, DEPTHS)
    # only now: how rare a word is, is counted over all that is stored, so that snippets would change these rankings
    derive_gold(store, gold.turns, gold_notes=not errors.plain_notes)
    by_labels = evidence_recall(_each(_labelled(store, asked, errors)), cases, DEPTHS)
    rows = (*by_content.rows, *by_labels.rows)
    return Measured(folder.resolve().name, len(gold.turns), by_content.questions, by_content.evidence, rows)


def _flat(store: Store) -> Mapping[str, Backbone]:
    from goalmem_cli.backbones.flat import RERANKED, FlatBackbone

    return {name: FlatBackbone(store, name) for name in ("hybrid", RERANKED)}


def _labelled(store: Store, asked: Mapping[str, QuestionLabels], errors: Errors) -> Mapping[str, Backbone]:
    """Return `stitch` where no label was chosen, and by the chosen ones in either way."""
    from goalmem_cli.backbones.stitch.backbone import Stitch
    from goalmem_cli.backbones.stitch.settings import StitchSettings, Way
    from goalmem_cli.errors import ModelError
    from goalmem_cli.lab.bench.came.gold import Selector

    def no_model() -> Kit:
        raise ModelError("no model is asked where gold labels are given", "use goalmem eval to measure one")

    choose = Selector(asked, errors.wrong, errors.seed).choose
    found: dict[str, Backbone] = {"stitch without labels": Stitch(store, no_model, choose=lambda *_: {})}
    return found | {f"stitch, {way.value}": Stitch(store, no_model, StitchSettings(way=way), choose) for way in Way}


def _each(backbones: Mapping[str, Backbone]) -> Callable[[Query, int], Mapping[str, Sequence[Hit]]]:
    return lambda query, k: {name: backbone.retrieve(query, k) for name, backbone in backbones.items()}


def _figures(row: RecallRow) -> dict[str, float]:
    return dict(zip(FIGURES, (*row.mean, *row.precision), strict=True))


def _document(measured: Measured) -> dict[str, object]:
    return {
        "trajectory": measured.trajectory,
        "turns": measured.turns,
        "questions": measured.questions,
        "evidence": measured.evidence,
        "backbones": {row.ranking: _figures(row) for row in measured.rows},
    }


def _show(run: Invocation, measured: Sequence[Measured]) -> None:
    from goalmem_cli.render.tables import plain_table

    rows = [
        (one.trajectory, f"{one.turns:,}", row.ranking, *(f"{figure:.3f}" for figure in _figures(row).values()))
        for one in measured
        for row in one.rows
    ]
    figures = tuple(f"{what}@{depth}" for what in ("R", "P") for depth in DEPTHS)  # short: a line has room for them
    run.screen.show(plain_table(("trajectory", "turns", "backbone", *figures), rows, numbers=("turns", *figures)))
    run.screen.note("R: share of the evidence found, P: share of the hits that bring evidence; a turn counts once")
    for one in measured:
        run.screen.note(f"{one.trajectory}: mean over {one.questions} questions with {one.evidence} evidence turns")

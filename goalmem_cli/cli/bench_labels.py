"""`goalmem bench labels`: what labels are worth to retrieval, measured with gold ones and without a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.invocation import begin

if TYPE_CHECKING:
    from goalmem_cli.backbones.structured.kit import Kit
    from goalmem_cli.bench.came.records import QuestionLabels
    from goalmem_cli.evaluation.recall import RecallTable
    from goalmem_cli.ports import Backbone
    from goalmem_cli.records import Hit, Query
    from goalmem_cli.store import Store

SCHEMA_VERSION = 1
DEPTHS = (10, 40)


def labels(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A trajectory with gold labels, as `goalmem bench came` writes it.")
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
    """Print which share of the evidence is among the first 10 and 40, by content alone and by gold labels. No model.

    The labels of turns and questions are those of the storyboard, so that ranking is measured and no model's labels.
    """
    from goalmem_cli.bench.came.files import TURNS, read_labels
    from goalmem_cli.bench.came.gold import derive_gold
    from goalmem_cli.evaluation.datasets import read_dataset
    from goalmem_cli.evaluation.recall import evidence_recall
    from goalmem_cli.transcripts import read_file
    from goalmem_cli.wiring import open_store

    gold = read_labels(folder)
    cases = read_dataset([folder / TURNS]).cases
    conversations = read_file(folder / TURNS, "came")
    asked = {case.question: gold.questions[case.id.rsplit(":", 1)[-1]] for case in cases}
    with TemporaryDirectory(prefix="goalmem-bench-") as place:
        run = begin(context, quiet=quiet, store=Path(place), embedder=embedder)
        store = open_store(run.settings, run.factories, run.screen.note)
        store.add_all(conversations)
        derive_gold(store, gold.turns, gold_notes=not plain_notes)
        table = evidence_recall(_each(_backbones(store, asked, wrong, seed)), cases, DEPTHS)
    if json:
        run.screen.document(_document(table, len(gold.turns)))
        return 0
    from goalmem_cli.render.tables import plain_table

    columns = [f"@{depth}" for depth in table.depths]
    rows = [(row.ranking, *(f"{share:.3f}" for share in row.mean)) for row in table.rows]
    run.screen.show(plain_table(("backbone", *columns), rows, numbers=columns))
    run.screen.note(
        f"mean over {table.questions} questions with {table.evidence} evidence turns, of {len(gold.turns)} turns"
    )
    return 0


def _backbones(store: Store, asked: Mapping[str, QuestionLabels], wrong: float, seed: int) -> Mapping[str, Backbone]:
    """Return what is compared: by content, by the chosen labels in either way, and `stitch` where none was chosen."""
    from goalmem_cli.backbones.flat import RERANKED, FlatBackbone
    from goalmem_cli.backbones.stitch.backbone import Stitch
    from goalmem_cli.backbones.stitch.ranking import Way
    from goalmem_cli.bench.came.gold import Selector
    from goalmem_cli.errors import ModelError

    def no_model() -> Kit:
        raise ModelError("no model is asked where gold labels are given", "use goalmem eval to measure one")

    choose = Selector(asked, wrong, seed).choose
    found: dict[str, Backbone] = {name: FlatBackbone(store, name) for name in ("hybrid", RERANKED)}
    found["stitch without labels"] = Stitch(store, no_model, choose=lambda *_: {})
    return found | {f"stitch, {way.value}": Stitch(store, no_model, way=way, choose=choose) for way in Way}


def _each(backbones: Mapping[str, Backbone]) -> Callable[[Query, int], Mapping[str, Sequence[Hit]]]:
    return lambda query, k: {name: backbone.retrieve(query, k) for name, backbone in backbones.items()}


def _document(table: RecallTable, turns: int) -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "turns": turns,
        "questions": table.questions,
        "evidence": table.evidence,
        "backbones": {
            row.ranking: {f"recall@{depth}": share for depth, share in zip(table.depths, row.mean, strict=True)}
            for row in table.rows
        },
    }

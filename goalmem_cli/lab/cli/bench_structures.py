"""`goalmem bench structures` and `bench changes`: what backbones find with gold structure or gold decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.invocation import Invocation, begin
from goalmem_cli.errors import UsageError
from goalmem_cli.lab.cli.wanted import listed

if TYPE_CHECKING:
    from goalmem_cli.lab.bench.changes.measuring import ChangeFigures
    from goalmem_cli.lab.evaluation.cases import Case
    from goalmem_cli.ports import Backbone, LanguageModel
    from goalmem_cli.store import Store

SCHEMA_VERSION = 1
DEPTH = 10
FLAT = ("dense", "hybrid")
NAMES = ("secom", "raptor", "memtree", "hipporag", "graphrag", "mem0", "mem0-graph", "a-mem", "magma", "graphiti")
_TURNWISE: dict[str, dict[str, object]] = {"secom": {"exchange": 1}, "hipporag": {"unit": "turn"}}
"""Settings that let a backbone take its gold structure turn by turn."""


@dataclass(frozen=True, slots=True)
class Row:
    """One backbone's sums over all questions: the share of evidence in its first hits, and about how many tokens these
    have. `calls` and `seconds` are the cost of indexing.
    """

    backbone: str
    found: float
    tokens: float
    calls: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Measured:
    """The rows of one file, with its numbers of questions and turns."""

    name: str
    turns: int
    questions: int
    rows: tuple[Row, ...]

    def mean(self, total: float) -> float:
        """Return a sum over all questions as the mean of one."""
        return total / max(1, self.questions)


def structures(
    context: typer.Context,
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Conversations with gold plans in LoCoMo's form."),
    ],
    backbone: Annotated[
        list[str] | None, typer.Option("--backbone", metavar="NAME", help="Only this one; may be given several times.")
    ] = None,
    embedder: options.Embedder = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Print what structured backbones find with gold structure.

    These are secom, raptor, memtree, hipporag, graphrag, mem0, mem0-graph, a-mem, magma and graphiti, at 10
    hits. Each is indexed with the replies that gold plans give, beside dense and hybrid over the turns alone.
    A hit may be a whole segment or a summary: the tokens of the hits say what they cost a reader.
    No model is asked; summaries are the first words of what they sum up.
    """
    names = tuple(backbone or NAMES)
    if wrong := [name for name in names if name not in NAMES]:
        raise UsageError(f"there is no gold structure for {wrong[0]!r}", f"choose among {', '.join(NAMES)}")
    measured = []
    with TemporaryDirectory(prefix="goalmem-bench-") as place:
        run = begin(context, quiet=quiet, store=Path(place), embedder=embedder)
        with run.screen.counting("files") as reach:
            for number, path in enumerate(paths, 1):
                measured.append(_measured(run, path, Path(place) / str(number), names))
                found = ", ".join(f"{row.backbone} {measured[-1].mean(row.found):.3f}" for row in measured[-1].rows)
                run.screen.note(f"{measured[-1].name}: {found}")
                reach(number, len(paths))
    if json:
        run.screen.document({"schema_version": SCHEMA_VERSION, "measured": [_document(each) for each in measured]})
    else:
        _show(run, measured)
    return 0


def _measured(run: Invocation, path: Path, place: Path, names: Sequence[str]) -> Measured:
    """Return the figures of one file; each backbone has a store of its own."""
    from goalmem_cli.lab.bench.gold_structure import GoldModel, gold_statements
    from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
    from goalmem_cli.memory_records import Capability
    from goalmem_cli.transcripts import read_file
    from goalmem_cli.wiring import local, open_store

    if path.is_dir():
        raise UsageError(f"{path} is a folder: the labels of made-up trajectories are read no more", "name its files")
    cases = [case for case in read_dataset([path]).cases if case.evidence and not case.is_unanswerable]
    told = gold_statements(_subgoals(cases))
    rows = []
    turns = 0
    for name in (*FLAT, *names):
        opened = open_store(replace(run.settings, store=place / name, address=None), run.factories, run.screen.note)
        store = local(opened, Capability.STRUCTURE)
        store.add_all(read_file(path, "locomo"))
        turns = len(store.turns())
        searched, calls, seconds = _built(store, name, GoldModel(told, store.turns()))
        rows.append(_row(name, searched, cases, calls, seconds))
    return Measured(path.name, turns, len(cases), tuple(rows))


def _subgoals(cases: Sequence[Case]) -> Iterator[tuple[str, Mapping[str, str], Sequence[str]]]:
    for case in cases:
        for step in (*case.plan.subgoals, *case.plan.refinements) if case.plan is not None else ():
            yield step.text, step.bindings, step.facts


def _built(store: Store, name: str, model: LanguageModel) -> tuple[Backbone, int, float]:
    """Return the indexed backbone, with the calls and seconds of indexing."""
    from goalmem_cli.backbones.flat import FlatBackbone
    from goalmem_cli.lab.bench.gathering import index_by

    if name in FLAT:
        return FlatBackbone(store, name), 0, 0.0
    made = index_by(name, store, model, _TURNWISE.get(name, {}))
    return made.backbone, made.done.usage.calls, made.seconds


def _row(name: str, backbone: Backbone, cases: Sequence[Case], calls: int, seconds: float) -> Row:
    from goalmem_cli.records import Query
    from goalmem_cli.store.passages import estimate_tokens

    share, tokens = 0.0, 0
    for case in cases:
        hits = backbone.retrieve(Query(case.question, (case.conversation,)), DEPTH)
        found = {label for hit in hits for label in hit.unit.labels}
        share += len(found & set(case.evidence)) / len(set(case.evidence))
        tokens += sum(estimate_tokens(hit.unit.text) for hit in hits)
    return Row(name, share, tokens, calls, seconds)


def _document(measured: Measured) -> dict[str, object]:
    rows = {
        row.backbone: {
            f"recall@{DEPTH}": measured.mean(row.found), "tokens": measured.mean(row.tokens),
            "index_calls": row.calls, "index_seconds": row.seconds,
        }
        for row in measured.rows
    }  # fmt: skip
    return {"name": measured.name, "turns": measured.turns, "questions": measured.questions, "backbones": rows}


def _together(measured: Sequence[Measured]) -> Measured:
    """Return the figures over all questions of all files."""
    rows = []
    for same in zip(*(each.rows for each in measured), strict=True):
        sums = map(sum, zip(*(astuple(row)[1:] for row in same), strict=True))
        rows.append(Row(same[0].backbone, *sums))
    return Measured("all", sum(each.turns for each in measured), sum(each.questions for each in measured), tuple(rows))


def _show(run: Invocation, measured: Sequence[Measured]) -> None:
    from goalmem_cli.render.tables import plain_table

    if len(measured) > 1:
        measured = [*measured, _together(measured)]
    rows = [
        (
            each.name, row.backbone, f"{each.mean(row.found):.3f}", f"{each.mean(row.tokens):,.0f}", f"{row.calls:,}",
            f"{row.seconds:.1f}",
        )
        for each in measured
        for row in each.rows
    ]  # fmt: skip
    figures = (f"R@{DEPTH}", "tokens", "calls", "s")
    run.screen.show(plain_table(("file", "backbone", *figures), rows, numbers=figures))
    run.screen.note(f"R: share of the evidence in the first {DEPTH} hits; calls and s: of indexing")
    for each in measured:
        run.screen.note(f"{each.name}: {each.questions} questions over {each.turns:,} turns")


SHARES = "0,0.1,0.3"


def changes(
    context: typer.Context,
    facts: Annotated[int, typer.Option("--facts", min=10, help="How many facts are told.")] = 1000,
    backbone: Annotated[
        str | None, typer.Option("--backbone", metavar="A,B", help="Only these, with commas between.")
    ] = None,
    wrong: Annotated[
        str, typer.Option("--wrong", metavar="SHARES", help="Which shares of the decisions are wrong.")
    ] = SHARES,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another one makes up other histories.")] = 0,
    embedder: options.Embedder = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Print what deciding backbones know of facts that change.

    People tell where they live and work, what they drive and like, with changes, corrections, ends and repeats. Asked
    is what is so now, and what was so before something changed. Decisions are those that a model should make, but for
    the share of them that is to be wrong; no model is asked.
    """
    from goalmem_cli.lab.bench.changes.measuring import DECIDING, measure_changes
    from goalmem_cli.lab.bench.changes.story import made_up_histories
    from goalmem_cli.lab.bench.gathering import GatheringStore
    from goalmem_cli.wiring import chosen_embedder

    names = listed(backbone, "--backbone") if backbone else DECIDING
    if unknown := [name for name in names if name not in DECIDING]:
        raise UsageError(f"there are no gold decisions for {unknown[0]!r}", f"choose among {', '.join(DECIDING)}")
    shares = _shares(wrong)
    found = []
    with TemporaryDirectory(prefix="goalmem-bench-") as place:
        run = begin(context, quiet=quiet, store=Path(place), embedder=embedder)
        embedded = chosen_embedder(replace(run.settings, address=None), run.factories, run.screen.note)

        def opened(name: str) -> Store:
            return GatheringStore(Path(place) / name, embedded, run.screen.note)

        with run.screen.counting("backbones") as reach:
            for figures in measure_changes(opened, made_up_histories(facts, seed), names, shares, seed, reach):
                found.append(figures)
                run.screen.note(f"{figures.backbone}, {figures.wrong:.0%} wrong: now {figures.now:.3f}")
    if json:
        run.screen.document({"schema_version": SCHEMA_VERSION, "measured": [asdict(each) for each in found]})
    else:
        _show_changes(run, found)
    return 0


def _shares(text: str) -> list[float]:
    try:
        shares = [float(each) for each in listed(text, "--wrong")]
    except ValueError:
        shares = []
    if not shares or not all(0 <= share <= 1 for share in shares):
        raise UsageError(f"--wrong {text!r} is not a list of shares from 0 to 1", f"for example --wrong {SHARES}")
    return shares


def _share(found: tuple[int, float] | None) -> str:
    return "" if found is None else f"{found[1]:.3f} ({found[0]})"


def _show_changes(run: Invocation, found: Sequence[ChangeFigures]) -> None:
    from goalmem_cli.render.tables import plain_table

    columns = ("wrong", "now", "then", "own now", "own then", "last now", "last then", "calls", "tokens", "late")
    rows = [
        (
            each.backbone,
            f"{each.wrong:.0%}",
            *(f"{share:.3f}" for share in (each.now, each.as_of, each.own_now, each.own_as_of)),
            *(f"{share:.3f}" for share in (each.latest_now, each.latest_as_of)),
            f"{each.calls:.2f}",
            f"{each.tokens:,.0f}",
            f"{each.late_calls:,}",
        )
        for each in found
    ]
    run.screen.show(plain_table(("backbone", *columns), rows, numbers=columns))
    kinds = sorted({kind for each in found for kind in each.of_kind})
    rows = [(each.backbone, f"{each.wrong:.0%}", *(_share(each.of_kind.get(kind)) for kind in kinds)) for each in found]
    run.screen.show(plain_table(("backbone", "wrong", *kinds), rows, numbers=("wrong", *kinds)))
    run.screen.note("now, then: by the first hit that tells of it, not marked as replaced; own: by the first hit of")
    run.screen.note("the backbone alone; last: by the one of the ten hits that was said last")
    run.screen.note("below: now, by how the value was told last, with the number of questions")
    late = found[-1].late_turns
    run.screen.note(f"calls, tokens: of a turn; late: calls of indexing again with a session of {late} turns put in")

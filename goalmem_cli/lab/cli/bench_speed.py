"""`goalmem bench speed`: measure what questions and the store cost on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import goalmem_cli
from goalmem_cli.cli import options
from goalmem_cli.cli.invocation import Invocation, begin
from goalmem_cli.config import Settings
from goalmem_cli.errors import UsageError
from goalmem_cli.lab.cli.retired import SECTIONS
from goalmem_cli.lab.cli.wanted import ascending_sizes, listed

if TYPE_CHECKING:
    from goalmem_cli.lab.bench.store import Place, SizeFigures
    from goalmem_cli.lab.evaluation.cases import Dataset
    from goalmem_cli.lab.evaluation.runs.runner import Memory

SCHEMA_VERSION = 1
SIZES = "1000,10000,100000"
MEGABYTE = 2**20

_PACKAGE = Path(goalmem_cli.__file__).parent
_SAMPLES = (_PACKAGE / "sample_files", _PACKAGE.parent / "sample_convos")
"""The folders of the sample conversations: in an installed package, and in the checkout."""
_Unused = Annotated[int, typer.Option(hidden=True)]
"""An option of the removed section `calls`: accepted, and without effect."""


def speed(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="Conversations with questions, for all but store [default: the sample conversations].",
        ),
    ] = None,
    only: Annotated[str | None, typer.Option("--only", metavar="SECTIONS", help="Some of ask,store.")] = None,
    questions: Annotated[int, typer.Option(min=1, help="How many questions to ask.")] = 10,
    max_breadth: _Unused = 2,
    max_depth: _Unused = 3,
    budget: _Unused = 10,
    units: Annotated[
        str, typer.Option(metavar="SIZES", help="How many made-up turns to search, in ascending order.")
    ] = SIZES,
    assistant: Annotated[
        bool, typer.Option("--assistant", help="Make up talks with an assistant, whose answers are long.")
    ] = False,
    profile: Annotated[Literal["full", "compact"] | None, typer.Option(hidden=True)] = None,
    milvus: Annotated[
        bool, typer.Option("--milvus", help="Measure an embedded Milvus beside the store, of the same turns.")
    ] = False,
    model: options.Model = None,
    adapter: options.Adapter = None,
    threads: options.Threads = None,
    embedder: options.Embedder = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Print how fast questions and the store are on this machine.

    ask: processes of `goalmem ask`, with its own defaults, and what the first does outside the model. store:
    ingesting and searching, which needs about 5 KB of disk per unit. Everything is made in a temporary folder.
    """
    from goalmem_cli.models.servers.address import is_address

    del max_breadth, max_depth, budget, profile
    with TemporaryDirectory(prefix="goalmem-bench-") as name:
        folder = Path(name)
        run = begin(
            context, quiet=quiet, store=folder / "store", model=model, adapter=adapter, threads=threads,
            embedder=embedder,
        )  # fmt: skip
        samples = [next((place for place in _SAMPLES if place.exists()), _SAMPLES[-1])]
        sizes = ascending_sizes(units, "--units", SIZES)
        bench = SpeedBench(
            run, folder, files or samples, questions, sizes, is_document=json, has_milvus=milvus,
            has_assistant=assistant,
        )  # fmt: skip
        names = listed(only, "--only") or tuple(bench.sections)
        if odd := [name for name in names if name not in bench.sections]:
            if odd[0] in SECTIONS:
                raise UsageError(f"--only: the section {odd[0]} was removed", SECTIONS[odd[0]])
            raise UsageError(f"--only {odd[0]!r} is no section", f"choose from {','.join(bench.sections)}")
        if names != ("store",) and is_address(run.settings.model):
            raise UsageError("a server's calls are not measured", "name bundled or a GGUF file with --model")
        document: dict[str, object] = {"schema_version": SCHEMA_VERSION}
        if names != ("store",):
            document["model"] = bench.take_model()
        document |= {name: bench.sections[name]() for name in names}
    if json:
        run.screen.document(document)
    return 0


@dataclass
class SpeedBench:
    """One run: each section measures, shows its tables and returns its part of the JSON document."""

    run: Invocation
    folder: Path
    files: Sequence[Path]
    questions: int
    sizes: Sequence[int]
    is_document: bool
    has_milvus: bool
    has_assistant: bool

    @property
    def sections(self) -> Mapping[str, Callable[[], object]]:
        """The sections by name, in order."""
        return {"ask": self._ask, "store": self._store}

    def take_model(self) -> str:
        """Return the model's name, and fix for the whole run which model ``bundled`` is.

        Raises:
            ModelError: it is missing or unreadable.
        """
        from goalmem_cli.models.catalogue import resolve

        name = resolve(self.run.settings.model, note=self.run.screen.note, watch=self.run.screen.bytes_done).name
        self.run = replace(self.run, settings=replace(self.run.settings, model=name))
        self.run.screen.note(f"the model is {name}")
        return name

    def _ask(self) -> object:
        """Measure `goalmem ask` in a process per question, show the tables, and return their JSON."""
        from goalmem_cli.lab.bench.outside import measure_outside
        from goalmem_cli.lab.bench.timing import measure_asking

        _ = self._memory  # fills the store
        told = {name: getattr(self.run.settings, name) for name in ("store", "model", "adapter", "threads")}
        words = [word for name, value in told.items() if value is not None for word in (f"--{name}", str(value))]
        questions = [case.question for case in self._dataset.cases[: self.questions]]
        with self.run.screen.counting("questions, a process each") as reach:
            cost = measure_asking(questions, words, reach)
        row = [f"{cost.asked}", f"{cost.unknown}"]
        row += [f"{each:.1f}" for each in (cost.first_seconds, cost.seconds, cost.longest_seconds)]
        columns = ("questions", "unknown", "first, s", "median, s", "longest, s", "memory, MB")
        self._show(columns, [[*row, f"{cost.peak_bytes / MEGABYTE:,.0f}"]])
        outside = asdict(measure_outside("ask", questions[0], *words))
        self._show(
            ("first, outside the model", *list(outside)[1:-1], "ms"),
            [[f"{outside['files']} files", *(f"{each:,.0f}" for each in list(outside.values())[1:])]],
        )
        return {**asdict(cost), "outside": outside}

    def _store(self) -> object:
        """Measure ingesting and searching at each size, show a table per memory, and return the JSON of all."""
        from goalmem_cli.lab.bench.store import measure_sizes
        from goalmem_cli.wiring import DEFAULT_EMBEDDER, open_store

        run, memories = self.run, self._made_up()
        embedder = run.factories.embedder(run.settings.embedder or DEFAULT_EMBEDDER)
        measured: dict[str, list[SizeFigures]] = {name: [] for name in memories}
        with run.screen.counting("turns of made-up talk") as reach:
            growing = [
                measure_sizes(
                    open_store(settings, run.factories, run.screen.note), embedder, self.sizes, place=place,
                    has_assistant=self.has_assistant, report=reach,
                )
                for settings, place in memories.values()
            ]  # fmt: skip
            for each in zip(*growing, strict=True):
                for name, figures in zip(memories, each, strict=True):
                    measured[name].append(figures)
                    run.screen.note(f"{name}, {figures.units:,} units: {figures.retrieval.whole_ms:.0f} ms a search")
        for name, sizes in measured.items():
            self._show((name, *(f"{each.units:,}" for each in sizes)), _store_table(sizes))
        return [{"memory": name} | _store_document(figures) for name, sizes in measured.items() for figures in sizes]

    def _made_up(self) -> dict[str, tuple[Settings, Place]]:
        """The measured memories by name, each with its settings and its folder."""
        from goalmem_cli.lab.bench.store import Place

        folder = self.folder / "made-up"
        settings = replace(self.run.settings, store=folder, address=None)
        memories = {"store": (settings, Place.of_folder(folder))}
        if self.has_milvus:
            from goalmem_cli.addresses import MilvusAddress
            from goalmem_cli.milvus.embedded import close_embedded

            address = MilvusAddress(path=self.folder / "milvus")
            place = Place(str(address), self.folder / "milvus", close_embedded)
            memories["milvus"] = (replace(settings, store=self.folder / "beside", address=address), place)
        return memories

    @cached_property
    def _dataset(self) -> Dataset:
        from goalmem_cli.lab.evaluation.datasets.loading import read_dataset

        return read_dataset(self.files)

    @cached_property
    def _memory(self) -> Memory:
        """The store with the conversations of the files."""
        from goalmem_cli.lab.evaluation.runs.runner import Memory
        from goalmem_cli.wiring import open_store

        store = open_store(self.run.settings, self.run.factories, self.run.screen.note)
        memory = Memory(store, self._dataset, self._dataset.cases)
        memory.fill()
        return memory

    def _show(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Show a table, unless the output is JSON."""
        from goalmem_cli.render.tables import plain_table

        if not self.is_document:
            self.run.screen.show(plain_table(columns, rows, numbers=columns[1:]))
            self.run.screen.answer("")


def _store_table(sizes: Sequence[SizeFigures]) -> list[list[str]]:
    """Return the measurements of a memory, with one column for each size."""
    rows: Mapping[str, Callable[[SizeFigures], str]] = {
        "ingest, turns/s": lambda each: f"{each.ingest.turns_per_second:,.0f}",
        "embedder, texts/s": lambda each: f"{each.texts_per_second:,.0f}",
        "retrieval, ms": lambda each: f"{each.retrieval.whole_ms:.1f}",
        "of 95 in 100 at most, ms": lambda each: f"{each.retrieval.p95_ms:.1f}",
        "retrievals/s": lambda each: f"{each.retrieval.queries_per_second:.1f}",
        "of it opening, ms": lambda each: f"{each.retrieval.opening_ms:.1f}",
        "of it words, ms": lambda each: f"{each.retrieval.words_ms:.1f}",
        "of it vectors, ms": lambda each: f"{each.retrieval.vectors_ms:.1f}",
        "of it hits, ms": lambda each: f"{each.retrieval.hits_ms:.1f}",
        "search from process start, s": lambda each: f"{each.search.seconds:.2f}",
        "its memory, MB": lambda each: f"{each.search.peak_bytes / MEGABYTE:,.0f}",
        "files, MB": lambda each: f"{each.search.file_bytes / MEGABYTE:,.0f}",
    }
    return [[name, *map(written, sizes)] for name, written in rows.items()]


def _store_document(figures: SizeFigures) -> dict[str, object]:
    """Return the measurements at one size, with the rates."""
    per_second = (figures.ingest.turns_per_second, figures.retrieval.queries_per_second)
    return asdict(figures) | dict(zip(("turns_per_second", "queries_per_second"), per_second, strict=True))

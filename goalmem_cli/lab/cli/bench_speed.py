"""`goalmem bench speed`: measure the cost of goalmem's model calls and of its store on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import goalmem_cli
from goalmem_cli.cli import options
from goalmem_cli.cli.invocation import Invocation, begin
from goalmem_cli.config import LEAST, MOST, Settings
from goalmem_cli.errors import InputError, UsageError
from goalmem_cli.lab.cli.retired import SECTIONS
from goalmem_cli.lab.cli.wanted import ascending_sizes, listed

if TYPE_CHECKING:
    from goalmem_cli.cli.invocation import Invocation
    from goalmem_cli.lab.bench.calls import RecordedQuestion, Weights
    from goalmem_cli.lab.bench.outside import OutsideCost
    from goalmem_cli.lab.bench.proofs import GoldQuestion
    from goalmem_cli.lab.bench.store import Place, SizeFigures
    from goalmem_cli.lab.cli.speed_tables import Table
    from goalmem_cli.lab.evaluation.cases import Case, Dataset
    from goalmem_cli.lab.evaluation.runs.runner import Memory
    from goalmem_cli.loading import LoadedModel
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.ports import LanguageModel, Reasoner
    from goalmem_cli.prompts import Profile
    from goalmem_cli.records import Turn
    from goalmem_cli.trace import Trace

SCHEMA_VERSION = 1
LEAST_CALLS = 2
PROCESSES = 3
READING = "direct"  # this reasoner makes one call a question, independent of other calls
AMPLE = 32_768  # tokens of context, as in large models
SIZES = "1000,10000,100000"

_PACKAGE = Path(goalmem_cli.__file__).parent
_SAMPLES = (_PACKAGE / "sample_files", _PACKAGE.parent / "sample_convos")
"""The folders of the sample conversations: in an installed package, and in the checkout."""


def speed(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="Conversations with questions, for all but store [default: the sample conversations].",
        ),
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", metavar="SECTIONS", help="Some of calls,proofs,ask,store.")
    ] = None,
    questions: Annotated[int, typer.Option(min=1, help="How many questions to ask.")] = 10,
    max_breadth: Annotated[
        int, typer.Option(min=LEAST["max_breadth"], max=MOST["max_breadth"], help="As `goalmem ask` has it.")
    ] = 2,
    max_depth: Annotated[
        int, typer.Option(min=LEAST["max_depth"], max=MOST["max_depth"], help="As `goalmem ask` has it.")
    ] = 3,
    budget: Annotated[int, typer.Option(min=LEAST["budget"], max=MOST["budget"], help="As `goalmem ask` has it.")] = 10,
    units: Annotated[
        str, typer.Option(metavar="SIZES", help="How many made-up turns to search, in ascending order.")
    ] = SIZES,
    profile: Annotated[
        Literal["full", "compact"] | None,
        typer.Option(help="Whose prompts the calls have: large models' or small ones' [default: the model's]."),
    ] = None,
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
    """Print how fast model calls and the store are on this machine.

    The calls stand beside those that plain llama-cpp-python makes.

    calls: the calls of whole questions both ways, in one process and in a process each. proofs: for questions with gold
    plans, what proofs cost where a model replies as these do, within the limits that `goalmem ask` has. ask: processes
    of `goalmem ask`, with its own defaults, and what a question does outside the model. store: ingest and search, for
    which it takes about 5 KB of disk a unit. Everything is made in a folder that is gone afterwards.
    """
    from goalmem_cli.models.servers.address import is_address

    with TemporaryDirectory(prefix="goalmem-bench-") as name:
        folder = Path(name)
        run = begin(
            context, quiet=quiet, store=folder / "store", model=model, adapter=adapter, threads=threads,
            embedder=embedder, max_breadth=max_breadth, max_depth=max_depth, budget=budget,
        )  # fmt: skip
        bench = SpeedBench(
            run, folder, files or [next((place for place in _SAMPLES if place.exists()), _SAMPLES[-1])], questions,
            ascending_sizes(units, "--units", SIZES), profile, is_document=json, has_milvus=milvus,
        )  # fmt: skip
        names = listed(only, "--only") or tuple(bench.sections)
        if odd := [name for name in names if name not in bench.sections]:
            instead = SECTIONS.get(odd[0], f"choose from {','.join(bench.sections)}")
            raise UsageError(f"--only {odd[0]!r} is no section", instead)
        if names != ("store",) and is_address(run.settings.model):
            raise UsageError("a server's calls are not measured", "name bundled or a GGUF file with --model")
        document: dict[str, object] = {"schema_version": SCHEMA_VERSION}
        if names != ("store",):
            document["model"] = bench.take_model()
        document |= {name: bench.sections[name]() for name in names}
    if json:
        run.screen.document(document)
    return 0


class SpeedBench:
    """One run: each section measures, shows its tables and returns its part of the JSON document."""

    def __init__(
        self,
        run: Invocation,
        folder: Path,
        files: Sequence[Path],
        questions: int,
        sizes: Sequence[int],
        profile: Profile | None,
        *,
        is_document: bool,
        has_milvus: bool = False,
    ) -> None:
        self._run = run
        self._screen = run.screen
        self._folder = folder
        self._files = files
        self._questions = questions
        self._sizes = sizes
        self._profile = profile
        self._is_document = is_document
        self._has_milvus = has_milvus

    @property
    def sections(self) -> Mapping[str, Callable[[], object]]:
        """The sections by name, in order."""
        return {
            "calls": self._calls, "proofs": self._proofs, "ask": self._ask, "store": self._store,
        }  # fmt: skip

    def take_model(self) -> str:
        """Return the model's name, and fix for the whole run which model ``bundled`` is.

        Raises:
            ModelError: it is missing or unreadable.
        """
        from goalmem_cli.models.catalogue import resolve

        name = resolve(self._run.settings.model, note=self._screen.note, watch=self._screen.bytes_done).name
        self._run = replace(self._run, settings=replace(self._run.settings, model=name))
        self._screen.note(f"the model is {name}")
        return name

    def _calls(self) -> object:
        from goalmem_cli.lab.bench.calls import compare_calls, compare_processes
        from goalmem_cli.lab.cli.speed_tables import calls_document, calls_table, processes_document, processes_table

        recorded, states = self._recorded, self._folder / "states"
        with self._screen.counting("questions, each in three ways") as reach:
            compared = compare_calls(self._weights, recorded, states, reach)
        self._show(calls_table(compared))
        with self._screen.counting("questions in processes of their own") as reach:
            processes = compare_processes(self._weights, recorded[:PROCESSES], states, reach)
        self._show(processes_table(processes))
        return calls_document(compared) | {"processes": processes_document(processes)}

    def _proofs(self) -> object:
        """Measure proofs with a model that replies from the gold plans, at the limits of `goalmem ask`."""
        from goalmem_cli.lab.bench.proofs import measure_proofs
        from goalmem_cli.lab.cli.speed_tables import proofs_document, proofs_table
        from goalmem_cli.models.in_process.prompt_tokens import PromptTokens

        questions = self._gold_questions()
        if not questions:
            self._screen.note("no question has a gold plan: what proofs cost is not counted")
            return []
        names = {"together": "together", "paper": "paper", READING: None}
        with closing(PromptTokens(self._weights.shipped)) as tokens:
            build = {name: partial(self._reasoner, planning) for name, planning in names.items()}
            with self._screen.counting("questions by their gold plans") as reach:
                costs = measure_proofs(questions, build, tokens.prompt, "together", reach)
        self._show(proofs_table(costs, READING))
        return proofs_document(costs)

    def _gold_questions(self) -> list[GoldQuestion]:
        """The questions with gold plans; each is asked of all conversations of its domain."""
        from goalmem_cli.lab.bench.proofs import GoldQuestion
        from goalmem_cli.lab.evaluation.replies import GoldReplies
        from goalmem_cli.lab.evaluation.runs.runner import Memory

        memory = Memory(self._memory.store, self._dataset, self._dataset.cases, by_domain=True)
        memory.fill()
        planned = [case for case in self._dataset.cases if case.plan is not None]
        turns: dict[str, dict[str, Turn]] = {}
        for turn in memory.store.turns(sorted({case.conversation for case in planned})):
            turns.setdefault(turn.conversation, {})[turn.label] = turn
        return [
            GoldQuestion(
                memory.question(case), partial(GoldReplies, case, turns[case.conversation]), frozenset(case.evidence),
                case.conversation, case.is_unanswerable,
            )
            for case in planned
        ]  # fmt: skip

    def _reasoner(self, planning: str | None, model: LanguageModel) -> Reasoner:
        """Build goal-mem with this planning, or `direct` for None, with the full prompts over the given model."""
        from goalmem_cli.loading import LoadedModel
        from goalmem_cli.wiring import GOAL_MEM, build_reasoner

        settings = replace(
            Settings(self._run.settings.store), reasoner=GOAL_MEM if planning else READING, planning=planning
        )
        loaded = LoadedModel(model, "gold replies", "full", AMPLE)
        return build_reasoner(settings, self._memory.store, loaded)

    def _ask(self) -> object:
        from goalmem_cli.lab.bench.calls import measure_asking
        from goalmem_cli.lab.cli.speed_tables import ask_table, outside_table

        _ = self._memory  # fills the store
        told = {name: getattr(self._run.settings, name) for name in ("store", "model", "adapter", "threads")}
        words = [word for name, value in told.items() if value is not None for word in (f"--{name}", str(value))]
        questions = [case.question for case in self._dataset.cases[: self._questions]]
        with self._screen.counting("questions, a process each") as reach:
            cost = measure_asking(questions, words, reach)
        self._show(ask_table(cost))
        outside = outside_costs(self._run, self._dataset.cases[0], self._memory.store)
        self._show(outside_table(outside))
        return asdict(cost) | {"outside": [asdict(each) for each in outside]}

    def _store(self) -> object:
        from goalmem_cli.lab.bench.store import measure_sizes
        from goalmem_cli.lab.cli.speed_tables import store_document, store_table
        from goalmem_cli.wiring import DEFAULT_EMBEDDER, open_store

        run, memories = self._run, self._made_up()
        embedder = run.factories.embedder(run.settings.embedder or DEFAULT_EMBEDDER)
        measured: dict[str, list[SizeFigures]] = {name: [] for name in memories}
        with self._screen.counting("turns of made-up talk") as reach:
            growing = [
                measure_sizes(
                    open_store(settings, run.factories, self._screen.note), embedder, self._sizes, place=place,
                    report=reach,
                )
                for settings, place in memories.values()
            ]  # fmt: skip
            for each in zip(*growing, strict=True):
                for name, figures in zip(memories, each, strict=True):
                    measured[name].append(figures)
                    self._screen.note(f"{name}, {figures.units:,} units: {figures.retrieval.whole_ms:.0f} ms a search")
        for name, sizes in measured.items():
            self._show(store_table(sizes, name))
        return [{"memory": name} | store_document(figures) for name, sizes in measured.items() for figures in sizes]

    def _made_up(self) -> dict[str, tuple[Settings, Place]]:
        """The measured memories by name, each with its settings and its folder."""
        from goalmem_cli.lab.bench.store import Place

        folder = self._folder / "made-up"
        settings = replace(self._run.settings, store=folder, address=None)
        memories = {"store": (settings, Place.of_folder(folder))}
        if self._has_milvus:
            from goalmem_cli.addresses import MilvusAddress
            from goalmem_cli.milvus.embedded import close_embedded

            address = MilvusAddress(path=self._folder / "milvus")
            place = Place(str(address), self._folder / "milvus", close_embedded)
            memories["milvus"] = (replace(settings, store=self._folder / "beside", address=address), place)
        return memories

    @cached_property
    def _weights(self) -> Weights:
        from goalmem_cli.lab.bench.calls import Weights
        from goalmem_cli.loading import weights_that_run
        from goalmem_cli.models.catalogue import resolve
        from goalmem_cli.models.in_process.llama import default_context
        from goalmem_cli.models.weights.gguf import read_header

        settings, spec = self._run.settings, resolve(self._run.settings.model)
        path = weights_that_run(spec, self._screen.note)
        return Weights(spec.path, path, settings.context or default_context(read_header(path)), settings.threads)

    @cached_property
    def _dataset(self) -> Dataset:
        from goalmem_cli.lab.evaluation.datasets.loading import read_dataset

        return read_dataset(self._files)

    @cached_property
    def _memory(self) -> Memory:
        """The store with the conversations of the files."""
        from goalmem_cli.lab.evaluation.runs.runner import Memory
        from goalmem_cli.wiring import open_store

        store = open_store(self._run.settings, self._run.factories, self._screen.note)
        memory = Memory(store, self._dataset, self._dataset.cases)
        memory.fill()
        return memory

    @cached_property
    def _recorded(self) -> list[RecordedQuestion]:
        """The recorded calls of the first questions for which goal-mem makes several calls.

        Raises:
            InputError: no question needs several calls.
        """
        found = self._record()
        if not found:
            hint = "give conversations with other questions, or leave calls out with --only"
            raise InputError(self._files[0], "", f"no question takes {LEAST_CALLS} calls or more", hint)
        if len(found) < self._questions:
            self._screen.warn(f"only {len(found)} questions take {LEAST_CALLS} calls or more")
        return found

    def _record(self) -> list[RecordedQuestion]:
        from goalmem_cli.lab.bench.calls import record_questions
        from goalmem_cli.wiring import GOAL_MEM, build_reasoner

        settings = replace(self._run.settings, reasoner=GOAL_MEM)
        questions = [self._memory.question(case) for case in self._dataset.cases]
        loaded = self._run.factories.model(settings)

        def build(model: LanguageModel) -> Reasoner:
            asked = replace(loaded, model=model, profile=self._profile or loaded.profile)
            return build_reasoner(settings, self._memory.store, asked)

        try:
            with self._screen.counting(f"questions asked of {GOAL_MEM}") as reach:
                return record_questions(
                    questions, loaded.model, build, wanted=self._questions, least_calls=LEAST_CALLS, report=reach
                )
        finally:
            loaded.close()

    def _show(self, table: Table) -> None:
        """Show a table, unless the output is JSON."""
        from goalmem_cli.render.tables import plain_table

        if not self._is_document:
            self._screen.show(plain_table(table.columns, table.rows, numbers=table.columns[1:]))
            self._screen.answer("")


_AMPLE = 32_768  # tokens of context, as in large models


def outside_costs(run: Invocation, case: Case, store: KeptMemory) -> list[OutsideCost]:
    """Return the question's costs with the full prompts, if it has a gold plan, and with the model's own prompts.

    Raises:
        ModelError: the model cannot be loaded or used.
    """
    from goalmem_cli.lab.bench.outside import measure_outside
    from goalmem_cli.lab.evaluation.replies import GoldReplies
    from goalmem_cli.loading import LoadedModel
    from goalmem_cli.testing import ScriptedModel

    told = run.settings
    settings = replace(
        Settings(told.store), model=told.model, adapter=told.adapter, threads=told.threads, embedder=told.embedder
    )
    ways = []
    if case.plan is not None:
        turns = {turn.label: turn for turn in store.turns([case.conversation])}
        ways.append(LoadedModel(ScriptedModel(GoldReplies(case, turns)), "gold replies", "full", _AMPLE))
    ways.append(run.factories.model(settings))
    with closing(ways[-1]), run.screen.counting("runs of one question") as reach:
        return [
            measure_outside(
                way.profile, partial(_answered, run, settings, case.question, way), way.model, report=reach
            )
            for way in ways
        ]  # fmt: skip


def _answered(run: Invocation, settings: Settings, question: str, loaded: LoadedModel, model: LanguageModel) -> Trace:
    """Open the store, ask the question as a program would, and return its trace, which is also stored."""
    from goalmem_cli.library.memory import Memory

    asked = replace(loaded, model=model, close=lambda: None)
    factories = replace(run.factories, model=lambda _: asked)
    with Memory(settings, factories, run.screen) as memory:
        return memory.ask(question)

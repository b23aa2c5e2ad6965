"""The work of `goalmem eval`: from the command's options to a run's folder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import platformdirs

from goalmem_cli.cli.invocation import UNINSTALLED, Invocation, version_of
from goalmem_cli.errors import ContextOverflow, UsageError
from goalmem_cli.lab.cli.wanted import Wanted, one_of
from goalmem_cli.records import Usage, content_hash

if TYPE_CHECKING:
    from goalmem_cli.lab.evaluation.cases import Dataset
    from goalmem_cli.lab.evaluation.runs.estimate import Cost
    from goalmem_cli.lab.evaluation.runs.folder import RunFolder
    from goalmem_cli.lab.evaluation.runs.run import Manifest, Placed
    from goalmem_cli.lab.evaluation.runs.runner import Memory, Row
    from goalmem_cli.lab.evaluation.runs.together import Each
    from goalmem_cli.ports import PartDone, Reasoner
    from goalmem_cli.wiring import LoadedModel


class Measuring:
    """Measures what the options ask for, with the store of the run's settings."""

    def __init__(self, run: Invocation, wanted: Wanted) -> None:
        """Check the options and read the dataset.

        Raises:
            UsageError: a reasoner, backbone, category, kind of query or shard is unknown.
            InputError: the dataset cannot be read.
        """
        from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
        from goalmem_cli.lab.evaluation.runs.sampling import shard
        from goalmem_cli.wiring import backbone_names, is_indexed, reasoner_names

        self._run = run
        self._wanted = wanted
        for name in wanted.reasoners:
            one_of(name, reasoner_names(wanted.reasoners), "--reasoner")
        for name in wanted.backbones:
            one_of(name, backbone_names(run.factories, wanted.backbones), "--backbone")
        self._structured = tuple(name for name in wanted.backbones if is_indexed(name, run.factories))
        self._kinds, self._shard = wanted.kinds, wanted.part
        self._dataset = read_dataset(wanted.files)
        for line in self._dataset.notes:
            run.screen.note(f"{self._dataset.name}: {line}")
        self._codes = tuple(dict.fromkeys(self._code(name) for name in wanted.categories))
        self._chosen = self._choose()
        self._placed = shard(self._chosen, *self._shard)

    def measure(self) -> Path:
        """Retrieve and answer what the run still lacks, and return its folder.

        Raises:
            GoalmemError: measuring failed.
        """
        from goalmem_cli.lab.evaluation.runs.folder import RunFolder, read_run
        from goalmem_cli.lab.evaluation.runs.hypotheses import FORMAT, write_hypotheses

        with self._model() as loaded:
            manifest = self._manifest(loaded)
            path = self._path(manifest)
            folder = RunFolder.begin(path, manifest, self._placed, is_new=not self._wanted.is_resumed)
            try:
                self._run.screen.note(f"run {path}{f', model {loaded.name}' if loaded is not None else ''}")
                self._fill(folder, loaded)
                if self._answers and self._dataset.format == FORMAT:
                    write_hypotheses(read_run(path), path / "hypotheses")
            finally:
                folder.close()
        return path

    def _fill(self, folder: RunFolder, loaded: LoadedModel | None) -> None:
        """Do the stages that the run still lacks."""
        from goalmem_cli.lab.evaluation.runs.run import Answered, Retrieved
        from goalmem_cli.lab.evaluation.runs.runner import Row, unanswered, unretrieved

        done = folder.keys(Answered)
        rows = [Row(reasoner, backbone) for reasoner in self._wanted.reasoners for backbone in self._wanted.backbones]
        left = {row: unanswered(done, self._placed, row) for row in rows if self._answers}
        queried = folder.keys(Retrieved)
        if not any(left.values()) and not unretrieved(queried, self._placed, self._wanted.backbones, self._kinds):
            self._run.screen.note("nothing is left to measure: the figures are those of the finished run")
            return
        memory = self._memory()
        if loaded is not None:
            self._index(folder, memory, loaded)
        each, asked = self._together(loaded)
        self._retrieve(folder, memory, asked, each)
        if asked is not None and any(left.values()):
            self._answer(folder, memory, asked, each, {row: number for row, number in left.items() if number})

    @property
    def _answers(self) -> bool:
        return not self._wanted.only_retrieves

    def _at_once(self, loaded: LoadedModel) -> int:
        """Return the number of concurrent questions: `--parallel`, else the setting for a server or 1 in process."""
        if self._wanted.parallel is not None:
            return self._wanted.parallel
        return self._run.settings.parallel if loaded.is_shared else 1

    def _together(self, loaded: LoadedModel | None) -> tuple[Each, LoadedModel | None]:
        """Return the function that goes through the questions, and the model that they share."""
        from goalmem_cli.lab.evaluation.runs.together import Together, one_by_one

        if loaded is None:
            return one_by_one, None
        together = Together(loaded.model, self._at_once(loaded), is_shared=loaded.is_shared)
        return together.each, replace(loaded, model=together)

    @contextmanager
    def _model(self) -> Iterator[LoadedModel | None]:
        """Yield the model, or None if no stage calls one."""
        if not (self._answers or self._structured or "model" in self._wanted.queries):
            yield None
            return
        loaded = self._run.factories.model(self._run.settings)
        try:
            yield replace(loaded, profile=loaded.answering) if self._answers else loaded
        finally:
            loaded.close()

    def _memory(self) -> Memory:
        """Store the conversations, show the progress, and return the memory."""
        from goalmem_cli.lab.evaluation.runs.runner import Memory
        from goalmem_cli.wiring import open_store

        store = open_store(self._run.settings, self._run.factories, self._run.screen.note)
        cases = [placed.case for placed in self._chosen]  # all shards need the same store
        memory = Memory(store, self._dataset, cases, by_domain=self._wanted.sees_domain)
        with self._run.screen.working() as reach:
            memory.fill(lambda turns: reach(f"storing turns: {turns:,}", 0, 0))
        return memory

    def _index(self, folder: RunFolder, memory: Memory, loaded: LoadedModel) -> None:
        """Build the structured backbones over the run's store."""
        from goalmem_cli.cli.index import indexed
        from goalmem_cli.lab.evaluation.runs.run import Grown
        from goalmem_cli.wiring import open_structured

        for name in self._structured:
            run = replace(self._run, settings=replace(self._run.settings, backbone=name))
            structured = open_structured(run.settings, memory.store, run.factories, lambda: loaded)
            outlook = structured.outlook()
            done = indexed(run, structured, outlook, _noting(folder, name))
            if outlook.parts or (name,) not in folder.keys(Grown):
                folder.append(Grown(name, memory.scopes, done.counts, peak_memory()))

    def _retrieve(self, folder: RunFolder, memory: Memory, loaded: LoadedModel | None, each: Each) -> None:
        """Retrieve with each backbone and kind of query what the run lacks, and show the progress."""
        from goalmem_cli.lab.evaluation.runs.runner import retrieve
        from goalmem_cli.wiring import build_planner, open_backbone

        settings, factories = self._run.settings, self._run.factories
        backbones = {
            name: open_backbone(
                replace(settings, backbone=name), memory.store, factories, lambda: loaded or factories.model(settings)
            )
            for name in self._wanted.backbones
        }
        with self._run.screen.working() as reach:
            retrieve(
                folder, self._placed, memory, backbones, kinds=self._kinds, k=settings.budget,
                planner=build_planner(settings, loaded) if loaded is not None else None, each=each,
                progress=lambda name, number, of: reach(f"retrieving with {name}, {number} of {of}", number, of),
            )  # fmt: skip

    def _answer(
        self, folder: RunFolder, memory: Memory, loaded: LoadedModel, each: Each, left: Mapping[Row, int]
    ) -> None:
        """Estimate the cost from the run's calls or from one trial question, note it, then answer."""
        from goalmem_cli.lab.evaluation.runs.estimate import estimated, seconds_per_call
        from goalmem_cli.lab.evaluation.runs.runner import answer
        from goalmem_cli.library.languages import InLanguages
        from goalmem_cli.wiring import build_reasoner, call_ranges

        settings = self._run.settings
        prompt_of = None if self._dataset.prompts is None else memory.prompt

        def build(reasoner: str, backbone: str) -> Reasoner:
            named = replace(settings, reasoner=reasoner, backbone=backbone)
            built = build_reasoner(
                named, memory.store, loaded, gold=memory.gold, prompt_of=prompt_of, factories=self._run.factories
            )
            return InLanguages(built, loaded, memory.store.conversations())

        seconds = seconds_per_call(folder.path)
        if seconds is None:
            started = perf_counter()
            self._tried(memory, loaded, self._wanted.backbones[0])
            seconds = (perf_counter() - started) / self._at_once(loaded)
        calls = call_ranges(self._wanted.reasoners, settings, loaded.profile)
        self._run.screen.note(f"{estimated(left, calls, seconds)}; interrupted, the same command goes on")
        weights = {row.name: sum(calls[row.reasoner]) for row in left}
        total = sum(number * weights[row.name] for row, number in left.items())
        before = {row.name: len(self._placed) - number for row, number in left.items()}
        done: dict[str, int] = {}
        with self._run.screen.working() as reach:

            def progress(name: str, number: int, of: int) -> None:
                done[name] = number - before[name]
                reach(f"{name}: {number} of {of}", sum(weights[row] * count for row, count in done.items()), total)

            answer(folder, self._placed, list(left), memory, build, progress, each)

    def _tried(self, memory: Memory, loaded: LoadedModel, backbone: str) -> Usage:
        """Return the usage of `direct` on the first question; zero if its prompt is too long."""
        from goalmem_cli.wiring import build_reasoner

        settings = replace(self._run.settings, reasoner="direct", backbone=backbone)
        with suppress(ContextOverflow):
            reasoner = build_reasoner(settings, memory.store, loaded, factories=self._run.factories)
            return reasoner.answer(memory.question(self._placed[0].case)).usage
        return Usage()

    def foreseen(self, tried: Usage | None, *, with_indexes: bool) -> tuple[list[Cost], Usage]:
        """Return the expected cost of all measurements, and the usage of one trial question.

        Only the store is filled. A given trial, `tried`, is used again.

        Raises:
            GoalmemError: measuring would fail.
        """
        from goalmem_cli.lab.evaluation.runs.estimate import foreseen_answers, foreseen_index
        from goalmem_cli.wiring import call_ranges, open_structured

        wanted = self._wanted
        costs: list[Cost] = []
        loaded = self._run.factories.model(self._run.settings)
        try:
            memory = self._memory()
            if tried is None:
                tried = self._tried(memory, loaded, "reranked")
            for name in self._structured if with_indexes else ():
                own = replace(self._run.settings, backbone=name)
                outlook = open_structured(own, memory.store, self._run.factories, lambda: loaded).outlook()
                costs.append(foreseen_index(name, outlook))
            calls = call_ranges(wanted.reasoners, self._run.settings, loaded.profile)
        finally:
            loaded.close()
        costs += [
            foreseen_answers(reasoner, backbone, len(self._placed), calls[reasoner], tried)
            for backbone in wanted.backbones
            for reasoner in wanted.reasoners
        ]
        return costs, tried

    @property
    def dataset(self) -> Dataset:
        """The dataset that is measured."""
        return self._dataset

    def _choose(self) -> tuple[Placed, ...]:
        """Return the cases of all shards.

        Raises:
            UsageError: no question is left.
        """
        from goalmem_cli.lab.evaluation.runs.sampling import Sample, choose

        wanted, known = self._wanted, {case.conversation: True for case in self._dataset.cases}
        placed = choose(
            self._dataset.cases,
            categories=self._codes or None,
            conversations={one_of(name, known, "--conversations") for name in wanted.conversations} or None,
            ids=self._listed,
            limit=wanted.limit,
            sample=Sample(wanted.sample),
            seed=self._run.settings.seed,
        )
        if not placed:
            raise UsageError(
                f"{self._dataset.name} has no such question", "name other --categories, --conversations or --only"
            )
        return placed

    @cached_property
    def _listed(self) -> frozenset[str] | None:
        """The ids in the file of `--only`, or None without that option.

        Raises:
            InputError: the file cannot be read, or names an unknown question.
        """
        if self._wanted.only is None:
            return None
        from goalmem_cli.transcripts import Source

        known, source = {case.id for case in self._dataset.cases}, Source.from_path(self._wanted.only)
        ids = {number: line.strip() for number, line in source.lines() if line.strip()}
        for number, name in ids.items():
            if name not in known:
                hint = f"name questions as a run's `cases.jsonl` does, such as {min(known)}"
                raise source.error(f"line {number}", f"{self._dataset.name} has no question {name}", hint)
        return frozenset(ids.values())

    def _code(self, name: str) -> str:
        """Return the code of a category, given by the name that the tables show.

        Raises:
            UsageError: there is no such category.
        """
        from goalmem_cli.lab.evaluation.summaries.summary import CategoryNames, named_categories

        style = CategoryNames(self._wanted.category_names)
        shown_names = named_categories(self._dataset.categories, self._dataset.format, style)
        names = {shown.lower(): code for code, shown in shown_names.items()}
        return names.get(name.lower()) or one_of(name, self._dataset.categories, "--categories")

    def _manifest(self, loaded: LoadedModel | None) -> Manifest:
        """Return the manifest: everything that can change the results."""
        from goalmem_cli.lab.evaluation.runs.run import NO_REASONER, Manifest
        from goalmem_cli.reasoners.goal_mem import NAME
        from goalmem_cli.wiring import DEFAULT_EMBEDDER, backbone_entry, open_prompts, reasoner_steps

        settings, wanted = self._run.settings, self._wanted
        prompts: Mapping[str, str] = {}
        decisive = {
            "budget": settings.budget, "limit": wanted.limit, "sample": wanted.sample, "seed": settings.seed,
            "categories": ",".join(self._codes), "scope": "domain" if wanted.sees_domain else "conversation",
            "queries": ",".join(self._kinds), "embedder": settings.embedder or DEFAULT_EMBEDDER,
        } | ({"store": "milvus"} if settings.address is not None else {})  # fmt: skip
        if wanted.conversations:
            decisive["conversations"] = ",".join(sorted(set(wanted.conversations)))
        if self._listed is not None:
            decisive["only"] = content_hash(*sorted(self._listed))
        for told, names in ((settings.backbones, self._structured), (settings.reasoners, wanted.reasoners)):
            decisive |= {f"{name}.{key}": value for name in names for key, value in told.get(name, {}).items()}
        if loaded is not None:
            steps = reasoner_steps(wanted.reasoners if self._answers else (NAME,), settings, loaded.profile)
            steps |= {"decompose"} if "model" in self._kinds else frozenset()
            steps = steps.union(*(backbone_entry(name, self._run.factories).steps for name in self._structured))
            prompts = open_prompts(settings.prompts, loaded.profile, steps).hashes
            decisive |= self._decisive_of(loaded)
        return Manifest(
            self._dataset.name, self._dataset.format, self._dataset.digest,
            sources=tuple(str(file) for file in wanted.files),
            reasoners=wanted.reasoners if self._answers else (NO_REASONER,),
            backbones=wanted.backbones,
            model=loaded.name if loaded is not None else "",
            categories=self._dataset.categories,
            repairs=self._dataset.repairs,
            settings={name: str(value) for name, value in decisive.items()},
            prompts=prompts,
            version=version_of("goalmem", UNINSTALLED),
            shard=self._shard,
        )  # fmt: skip

    def _decisive_of(self, loaded: LoadedModel) -> dict[str, int | str | None]:
        """Return the settings of the model that can change the results."""
        from goalmem_cli.lab.evaluation.runs.run import AT_ONCE, CERTAINTY, FACT_TOKENS
        from goalmem_cli.reasoners.goal_mem import chosen_planning
        from goalmem_cli.wiring import most_fact_tokens

        settings = self._run.settings
        least = [f"{100 * loaded.least_certainty(name, settings.certainty):.0f}" for name in self._wanted.reasoners]
        decisive: dict[str, int | str | None] = {
            "model_hash": loaded.digest, "context": loaded.context, "max_breadth": settings.max_breadth,
            "max_depth": settings.max_depth, "max_subgoals": settings.max_subgoals, "max_steps": settings.max_steps,
            CERTAINTY: f"{'/'.join(dict.fromkeys(least))} of an answer", "profile": loaded.profile,
            "planning": chosen_planning(settings.planning, loaded.profile), "strict": settings.strict,
            FACT_TOKENS: 0 if settings.fact_tokens == 0 else most_fact_tokens(settings, loaded),
        }  # fmt: skip
        decisive |= {name: "off" for name in ("checks", "sift", "lean") if not getattr(settings, name)}
        decisive |= {"rules": "on"} if settings.rules else {}
        decisive |= {"adapter": loaded.adapter} if loaded.adapter else {}
        at_once = self._at_once(loaded)
        return decisive | ({AT_ONCE: at_once} if at_once > 1 else {})

    def _path(self, manifest: Manifest) -> Path:
        """Return the run's folder: the given one, else one that is the same for the same command.

        It stays the same if ``bundled`` now names another model: that run is refused, not begun anew.
        """
        from goalmem_cli.json_records import plain
        from goalmem_cli.lab.evaluation.runs.run import CERTAINTY, FACT_TOKENS
        from goalmem_cli.models.catalogue import BUNDLED

        if self._wanted.out is not None:
            return self._wanted.out
        settings = self._run.settings
        if manifest.model and settings.model == BUNDLED:
            typed = {
                "model_hash": "", "adapter": settings.adapter, "context": settings.context,
                CERTAINTY: settings.certainty, FACT_TOKENS: settings.fact_tokens,
            }  # fmt: skip
            as_typed = {name: str(value) for name, value in typed.items()}
            manifest = replace(manifest, model=BUNDLED, settings={**manifest.settings, **as_typed})
        decisive = plain(replace(manifest, sources=(), repairs={}))
        name = f"{manifest.dataset}-{content_hash(repr(decisive))[:10]}"
        runs = platformdirs.user_data_path("goalmem", appauthor=False) / "runs"
        if self._wanted.is_resumed:
            return runs / name
        return next(path for number in count(1) if not (path := runs / f"{name}-{number}").exists())


def peak_memory() -> int:
    """Return the most memory, in bytes, that this process had so far; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _noting(folder: RunFolder, backbone: str) -> Callable[[PartDone], None]:
    """Return a callback that records the cost of each indexed part in the run."""
    from goalmem_cli.lab.evaluation.runs.run import Built

    return lambda done: folder.append(Built(backbone, done.conversation, done.name, done.turns, done.usage))

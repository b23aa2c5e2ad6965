"""A matrix: every reasoner over every backbone, and variants of both, as a folder of runs that is read as one run.

The folder has `matrix.json`, which names the runs; `parts`, with one folder per run; and `stores`, with the
conversations and derived content of each part.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from goalmem_cli.errors import InputError, UsageError
from goalmem_cli.json_records import plain
from goalmem_cli.lab.evaluation.runs.folder import HINT, MANIFEST, differing, key_of, read_run, write_run
from goalmem_cli.lab.evaluation.runs.hypotheses import write_hypotheses
from goalmem_cli.lab.evaluation.runs.run import Answered, Built, Grown, Retrieved, Run, Verdict
from goalmem_cli.records import content_hash
from goalmem_cli.store.files import replace_file, reporting


def merge(runs: Sequence[Run]) -> Run:
    """Return the runs as one, with its results in the order of a single run.

    Raises:
        UsageError: they are not the shards of one run, each once.
    """
    runs = sorted(runs, key=lambda run: run.manifest.shard)
    first = runs[0].manifest
    for run in runs[1:]:
        if what := differing(first, run.manifest, besides=("shard",)):
            raise UsageError(f"these are not shards of one run: {what}", "merge what the same flags measured")
    shards = sorted(run.manifest.shard for run in runs)
    if shards != [(number, first.shard[1]) for number in range(1, first.shard[1] + 1)]:
        shown = ", ".join(f"{number}/{of}" for number, of in shards)
        raise UsageError(f"{shown} are not the shards of one run", "give every shard of the run, each once")
    placed = sorted((placed for run in runs for placed in run.cases), key=lambda placed: placed.place)
    judges = list(dict.fromkeys((verdict.judge, verdict.prompt) for run in runs for verdict in run.verdicts))
    places = {member.case.id: member.place for member in placed}
    rows, backbones = first.reasoners, first.backbones

    def order(result: Retrieved | Answered | Verdict) -> tuple[Any, ...]:
        own: tuple[int, ...] = (backbones.index(result.backbone), places[result.case])
        if isinstance(result, Retrieved):
            return (result.kind, *own)
        own = (rows.index(result.reasoner), *own)
        return (
            (judges.index((result.judge, result.prompt)), *own, result.number) if isinstance(result, Verdict) else own
        )

    return Run(
        replace(first, shard=(1, 1)),
        tuple(placed),
        tuple(sorted((result for run in runs for result in run.retrieved), key=order)),
        tuple(sorted((result for run in runs for result in run.answered), key=order)),
        tuple(sorted((result for run in runs for result in run.verdicts), key=order)),
        tuple({key_of(built): built for run in runs for built in run.built}.values()),  # every shard indexes everything
        grown=tuple({each.backbone: each for run in runs for each in run.grown}.values()),
        faulted=tuple(each for run in runs for each in run.faulted),
    )


SCHEMA_VERSION = 1
MATRIX, PARTS, STORES = "matrix.json", "parts", "stores"
PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Variant:
    """A backbone or reasoner `of` with changed settings, and its label in the matrix."""

    of: str
    label: str
    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """One run of a matrix: its folder's name and its variant; the plain part has none.

    With `shares_index`, its backbone uses the plain part's store.
    """

    name: str
    of: str = ""
    label: str = ""
    kind: Literal["", "backbone", "reasoner"] = ""
    shares_index: bool = True

    @property
    def store(self) -> str:
        """The name of its store's folder."""
        return PLAIN if self.shares_index else self.name


def _without(of: str, **settings: str) -> tuple[Variant, ...]:
    return tuple(Variant(of, f"{of} without {what}", {name: False}) for name, what in settings.items())


ABLATIONS: Mapping[str, tuple[Variant, ...]] = {
    **{
        name: _without(
            name, gists="gists", facts="facts", synonymy="synonymy edges", semantic_retrieve="semantic_retrieve",
            lexical_retrieve="lexical_retrieve", find_gist_contexts="find_gist_contexts",
            find_entity_contexts="find_entity_contexts",
        )
        for name in ("remem", "paper:remem")
    },
    **{
        name: _without(
            name, by_scope="scope", by_event="event types", by_entity="entity types", coreference="coreference"
        )
        for name in ("stitch", "paper:stitch")
    },
    "goal-mem": (
        Variant("goal-mem", "goal-mem without refinement", {"max_depth": 0}),
        Variant("goal-mem", "goal-mem, breadth 1", {"max_breadth": 1}),
        Variant("goal-mem", "goal-mem, unchecked", {"checks": False}),
        Variant("goal-mem", "goal-mem, paper", {"planning": "paper"}),
        Variant("goal-mem", "goal-mem, together", {"planning": "together"}),
    ),
}  # fmt: skip
"""The ablations of the papers by system: REMem's Table 5, STITCH's Table 2, and GOAL-MEM's section 5."""


def named(label: str) -> str:
    """Return a folder name for a variant's label."""
    words = re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")
    return f"{words[:40]}-{content_hash(label)[:6]}"


def is_matrix(path: Path) -> bool:
    """Return whether the folder holds a matrix."""
    return (path / MATRIX).is_file()


def read_parts(path: Path) -> tuple[Part, ...]:
    """Return the parts of the matrix in the folder, the plain one first.

    Raises:
        InputError: `matrix.json` is damaged.
    """
    file = path / MATRIX
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if content.pop("schema_version") != SCHEMA_VERSION:
            raise ValueError("it is of another version of goalmem")
        parts: tuple[Part, ...] = tuple(Part(**each) for each in content["parts"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(file, "", f"cannot be read: {error}", "measure into a new folder") from error
    return parts


def begin_matrix(path: Path, parts: Iterable[Part]) -> tuple[Part, ...]:
    """Make the folder a matrix with these parts, in addition to existing ones; return all parts.

    Raises:
        UsageError: the folder holds something else.
        InputError: the existing matrix is damaged.
        StoreError: the folder cannot be written.
    """
    with reporting(path, HINT):
        path.mkdir(parents=True, exist_ok=True)
        if not is_matrix(path) and any(path.iterdir()):
            raise UsageError(f"{path} is not empty, and holds no matrix", "name another folder with --out")
    there = {part.name: part for part in (read_parts(path) if is_matrix(path) else ())}
    every = tuple((there | {part.name: part for part in parts}).values())
    content = {"schema_version": SCHEMA_VERSION, "parts": [plain(part) for part in every]}
    replace_file(path / MATRIX, json.dumps(content, indent=1).encode(), hint=HINT)
    return every


def runs_of(path: Path) -> list[Path]:
    """Return the folders of the runs in a folder: a matrix's parts that have begun, or the folder itself.

    Raises:
        UsageError: nothing of the matrix has been measured.
        InputError: `matrix.json` is damaged.
    """
    if not is_matrix(path):
        return [path]
    found = [folder for part in read_parts(path) if (folder := path / PARTS / part.name / MANIFEST).is_file()]
    if not found:
        raise UsageError(f"nothing of the matrix in {path} is measured yet", "give `goalmem eval matrix` once more")
    return [folder.parent for folder in found]


def read_any(path: Path) -> Run:
    """Return the run in the folder, or its matrix as one run with each variant under its own name.

    Raises:
        UsageError: there is neither.
        InputError: a file is damaged.
    """
    if not is_matrix(path):
        return read_run(path)
    begun = {folder.name for folder in runs_of(path)}
    parts = [(part, read_run(path / PARTS / part.name)) for part in read_parts(path) if part.name in begun]
    return _joined([(part, _renamed(part, run)) for part, run in parts])


def merge_matrices(out: Path, folders: Sequence[Path]) -> None:
    """Merge the shards of one matrix.

    Raises:
        UsageError: they are not the shards of one matrix with the same parts, each once, or the folder is not empty.
        InputError: a file is damaged.
        StoreError: the folder cannot be written.
    """
    for folder in folders:
        if not is_matrix(folder):
            raise UsageError(f"{folder} has no matrix", "merge either runs or matrices")
    parts = read_parts(folders[0])
    wholes = []
    for folder in folders[1:]:
        if apart := {part.label for part in parts} ^ {part.label for part in read_parts(folder)}:
            reason = f"{folders[0]} and {folder} have not the same parts: {', '.join(sorted(apart))}"
            raise UsageError(reason, "give both the same --ablations and --vary first")
    for part in parts:
        names = [folder / PARTS / part.name for folder in folders]
        wholes.append((part, merge([read_run(name) for name in names])))
    with reporting(out, HINT):
        if out.exists() and any(out.iterdir()):
            raise UsageError(f"{out} is not empty", "name a new folder")
    begin_matrix(out, parts)
    for part, whole in wholes:
        write_run(out / PARTS / part.name, whole)
        write_hypotheses(whole, out / PARTS / part.name / "hypotheses")


def _renamed(part: Part, run: Run) -> Run:
    """Return a part's run with the variant's name instead of the original's."""
    if not part.kind:
        return run

    def called(name: str) -> str:
        return part.label if name == part.of else name

    names, own = f"{part.kind}s", ("answered", "verdicts")
    changed: dict[str, Any] = {
        stage: tuple(replace(each, **{part.kind: called(getattr(each, part.kind))}) for each in getattr(run, stage))
        for stage in (own if part.kind == "reasoner" else (*own, "retrieved", "built", "grown", "faulted"))
    }
    told: dict[str, Any] = {names: tuple(map(called, getattr(run.manifest, names)))}
    return replace(run, manifest=replace(run.manifest, **told), **changed)


def _joined(parts: Sequence[tuple[Part, Run]]) -> Run:
    """Return the parts as one run. A variant that shares the plain index also has its cost."""
    first = parts[0][1]
    backbones = _together(parts, lambda run: run.manifest.backbones, "backbone")
    reasoners = _together(parts, lambda run: run.manifest.reasoners, "reasoner")
    there = {pair for _, run in parts for pair in _pairs(run.manifest.reasoners, run.manifest.backbones)}
    return Run(
        replace(first.manifest, backbones=backbones, reasoners=reasoners),
        first.cases,
        tuple(each for _, run in parts for each in run.retrieved),
        tuple(each for _, run in parts for each in run.answered),
        tuple(each for _, run in parts for each in run.verdicts),
        tuple(_shared(parts, lambda run: run.built)),
        frozenset(_pairs(reasoners, backbones)) - there,
        {part.label: (part.of, run.manifest.settings) for part, run in parts if part.kind},
        tuple(_shared(parts, lambda run: run.grown)),
        tuple(each for _, run in parts for each in run.faulted),
    )


_Indexed = TypeVar("_Indexed", Built, Grown)


def _shared(parts: Sequence[tuple[Part, Run]], of: Callable[[Run], Sequence[_Indexed]]) -> Iterator[_Indexed]:
    """Yield what indexing cost or made; a variant that shares an index also has what another part spent on it."""
    for _, run in parts:
        yield from of(run)
    for part, own in parts:
        if part.kind == "backbone" and part.shares_index and not of(own):
            names = {part.of} | {other.label for other, _ in parts if other.of == part.of and other.shares_index}
            spent = ([each for each in of(run) if each.backbone in names] for _, run in parts)
            yield from (replace(each, backbone=part.label) for each in next(filter(None, spent), ()))


def _together(
    parts: Sequence[tuple[Part, Run]], names: Callable[[Run], Sequence[str]], kind: Literal["backbone", "reasoner"]
) -> tuple[str, ...]:
    """Return the names of all parts, each variant after its original."""
    variants = [part for part, _ in parts if part.kind == kind]
    plain_names = [name for part, run in parts if part.kind != kind for name in names(run)]
    ordered = [each for name in plain_names for each in (name, *(part.label for part in variants if part.of == name))]
    return tuple(dict.fromkeys((*ordered, *(part.label for part in variants))))


def _pairs(reasoners: Iterable[str], backbones: Sequence[str]) -> list[tuple[str, str]]:
    return [(reasoner, backbone) for reasoner in reasoners for backbone in backbones]

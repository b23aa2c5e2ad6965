"""Merge the shards of a run into one run, as if one machine had measured it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from goalmem_cli.errors import UsageError
from goalmem_cli.lab.evaluation.runs.folder import differing, key_of
from goalmem_cli.lab.evaluation.runs.run import Answered, Manifest, Retrieved, Run, Verdict


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
    judges = dict.fromkeys((verdict.judge, verdict.prompt) for run in runs for verdict in run.verdicts)
    places = {member.case.id: member.place for member in placed}
    order = _Order(replace(first, shard=(1, 1)), places, tuple(judges))
    return Run(
        order.manifest,
        tuple(placed),
        tuple(sorted((result for run in runs for result in run.retrieved), key=order.of_retrieved)),
        tuple(sorted((result for run in runs for result in run.answered), key=order.of_answer)),
        tuple(sorted((result for run in runs for result in run.verdicts), key=order.of_verdict)),
        tuple({key_of(built): built for run in runs for built in run.built}.values()),  # every shard indexes everything
    )


@dataclass(frozen=True, slots=True)
class _Order:
    """The order of a run's results: by row, and within a row by the position of the case."""

    manifest: Manifest
    places: Mapping[str, int]
    judges: Sequence[tuple[str, str]]

    def of_retrieved(self, result: Retrieved) -> tuple[str, int, int]:
        return (result.kind, self.manifest.backbones.index(result.backbone), self.places[result.case])

    def of_answer(self, result: Answered | Verdict) -> tuple[int, int, int]:
        reasoner = self.manifest.reasoners.index(result.reasoner)
        return (reasoner, self.manifest.backbones.index(result.backbone), self.places[result.case])

    def of_verdict(self, result: Verdict) -> tuple[int, int, int, int, int]:
        return (self.judges.index((result.judge, result.prompt)), *self.of_answer(result), result.number)

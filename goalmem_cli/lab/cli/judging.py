"""Let a model judge the stored answers of a run, for `goalmem eval`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from goalmem_cli.cli.invocation import Invocation
from goalmem_cli.errors import UsageError


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
    from goalmem_cli.wiring import open_prompts

    folder = RunFolder.going_on(path)
    loaded = None
    try:
        run = read_run(path)
        loaded = made.factories.model(replace(made.settings, model=jury.model, adapter=None))
        steps = judges.steps_of(run.manifest.format, jury.style)
        prompts = open_prompts(made.settings.prompts, loaded.profile, steps)
        judge = judges.Judge(loaded.model, prompts, loaded.name, jury.style, run.manifest.format, loaded.digest)
        with made.screen.working() as reach:
            done = judges.judge_run(
                run, judge, jury.passes, folder.keys(Verdict), folder.append,
                lambda name, number, of: reach(f"{name}: {number} of {of}", number, of), loaded.at_once,
            )  # fmt: skip
    finally:
        if loaded is not None:
            loaded.close()
        folder.close()
    made.screen.note(
        f"judged by {judge.name}: {done.asked} asked, {done.unreadable} unreadable, {done.refused} refused and so "
        f"settled, {done.known} known before, {done.unjudged} not for a judge; "
        f"{done.usage.prompt_tokens:,} tokens read, {done.usage.completion_tokens:,} written"
    )

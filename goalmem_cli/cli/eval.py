"""`goalmem eval`: measures reasoners and backbones on the questions of a benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

import typer

from goalmem_cli.cli import agreeing, options
from goalmem_cli.cli.groups import CONTEXT, RunGroup, examples
from goalmem_cli.cli.invocation import begin
from goalmem_cli.cli.judging import judge_run, jury_of
from goalmem_cli.cli.measuring import Measuring, Wanted, listed
from goalmem_cli.cli.report import Form, print_report
from goalmem_cli.errors import StoreError, UsageError

Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="LoCoMo, LongMemEval, REALTALK, CAME-Bench or the corpus; or a folder."),
]
Reasoners = Annotated[str, typer.Option("--reasoner", metavar="A,B", help="Which to compare, with commas; oracle too.")]
Backbones = Annotated[str, typer.Option("--backbone", metavar="C,D", help="Over which, with commas.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="How many questions [default: all].")]
Categories = Annotated[
    str | None, typer.Option("--categories", metavar="1,2", help="Only these, by number or name, with commas.")
]
Conversations = Annotated[
    str | None, typer.Option("--conversations", metavar="A,B", help="Only questions asked of these, with commas.")
]
Only = Annotated[
    Path | None, typer.Option("--only", metavar="LIST", help="Only the questions whose ids this file has, a line each.")
]
Sample = Annotated[Literal["stratified", "first", "random"], typer.Option("--sample", help="How --limit draws.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="The run's folder [default: one of its own].")]
Resume = Annotated[
    bool, typer.Option("--resume/--no-resume", help="Go on with the same run where it stopped, or begin anew.")
]
RetrievalOnly = Annotated[bool, typer.Option("--retrieval-only", help="Only retrieve: no model.")]
Queries = Annotated[
    str | None,
    typer.Option(
        "--queries",
        metavar="KIND,...",
        help="Retrieve with question, plan, plan+refinements (gold) or model; implies --retrieval-only.",
    ),
]
Scope = Annotated[
    Literal["conversation", "domain"] | None,
    typer.Option("--scope", help="What a question sees [default: its conversation; with --queries its domain]."),
]
Units = Annotated[int | None, typer.Option("-k", min=1, help="The budget of units a question [default: 60].")]
Shard = Annotated[str, typer.Option("--shard", metavar="I/N", help="Only the I-th of N like parts.")]
Judge = Annotated[
    str | None, typer.Option("--judge", metavar="MODEL", help="Let this model judge the answers, named as for --model.")
]
JudgePrompt = Annotated[
    Literal["standard", "strict"], typer.Option("--judge-prompt", help="How generous the judge is.")
]
Passes = Annotated[int, typer.Option("--passes", min=1, max=100, help="How often each answer is judged.")]

group = typer.Typer(
    cls=RunGroup,
    help="Measure reasoners and backbones on a benchmark.\n\n`eval FILE`, `eval score RUN`, `eval agree RUN LABELS`, "
    "`eval merge OUT RUN...`.",
    context_settings=CONTEXT,
)


def register(app: typer.Typer) -> None:
    """Add the group to the app."""
    agreeing.register(group)
    app.add_typer(group, name="eval")


@group.command(
    "run",
    epilog=examples(
        "goalmem eval sample_convos/momoco.json",
        "goalmem eval locomo10.json --reasoner direct,goal-mem,react --limit 150 --out my-run",
        "goalmem eval locomo10.json --retrieval-only --backbone bm25,dense,hybrid,reranked",
        "goalmem eval score my-run --judge models/judge.gguf",
        "goalmem eval merge whole-run shard-1 shard-2",
        guide="measuring",
    ),
)
def run(
    context: typer.Context,
    files: Files,
    reasoner: Reasoners = "direct,goal-mem",
    backbone: Backbones = "reranked",
    model: options.Model = None,
    adapter: options.Adapter = None,
    limit: Limit = None,
    categories: Categories = None,
    conversations: Conversations = None,
    only: Only = None,
    sample: Sample = "stratified",
    seed: options.Seed = None,
    out: Out = None,
    resume: Resume = True,
    retrieval_only: RetrievalOnly = False,
    queries: Queries = None,
    scope: Scope = None,
    k: Units = None,
    shard: Shard = "1/1",
    judge: Judge = None,
    judge_prompt: JudgePrompt = "standard",
    passes: Passes = 1,
    planning: options.Planning = None,
    max_breadth: options.MaxBreadth = None,
    max_depth: options.MaxDepth = None,
    max_steps: options.MaxSteps = None,
    certainty: options.Certainty = None,
    strict: options.Strict = None,
    context_length: options.Context = None,
    threads: options.Threads = None,
    parallel: options.Parallel = None,
    prompts: options.Prompts = None,
    embedder: options.Embedder = None,
    milvus: options.OwnMilvus = False,
    category_names: options.CategoryNames = "official",
    json: options.Json = False,
    csv: options.Csv = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Measure reasoners over backbones on a benchmark's questions.

    The store is one of its own, and is gone afterwards.
    Results are kept in the run's folder as they come: the same command goes on where it was interrupted.
    """
    form, jury = Form(json, csv, category_names), jury_of(judge, judge_prompt, passes)
    wanted = Wanted(
        tuple(files), listed(reasoner, "--reasoner"), listed(backbone, "--backbone"), limit=limit, sample=sample,
        categories=listed(categories, "--categories"), conversations=listed(conversations, "--conversations"),
        only=only,
        queries=listed(queries, "--queries"), scope=scope, shard=shard,
        is_retrieval_only=retrieval_only, out=out, is_resumed=resume, category_names=category_names, parallel=parallel,
    )  # fmt: skip
    if jury is not None and wanted.only_retrieves:
        raise UsageError("--judge has no answers to judge where a run only retrieves", "leave one of the two out")
    with _temporary() as folder:
        made = begin(
            context, quiet=quiet, verbose=verbose, store=folder / "store", model=model, adapter=adapter,
            seed=seed, budget=k, planning=planning, max_breadth=max_breadth, max_depth=max_depth, max_steps=max_steps,
            strict=strict,
            certainty=certainty, context=context_length, threads=threads, parallel=parallel, prompts=prompts,
            embedder=embedder,
        )  # fmt: skip
        with made.over_milvus(folder, is_wanted=milvus) as over:
            path = Measuring(over, wanted).measure()
    judge_run(made, path, jury)
    print_report(made.screen, [path], form)
    return 0


@group.command(
    "score",
    epilog=examples("goalmem eval score my-run --judge models/judge.gguf --judge-prompt strict", guide="measuring"),
)
def score(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    judge: Judge = None,
    judge_prompt: JudgePrompt = "standard",
    passes: Passes = 1,
    context_length: options.Context = None,
    threads: options.Threads = None,
    prompts: options.Prompts = None,
    category_names: options.CategoryNames = "official",
    json: options.Json = False,
    csv: options.Csv = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Score a run again from its stored answers, and let a judge read those that it has not read yet."""
    form, jury = Form(json, csv, category_names), jury_of(judge, judge_prompt, passes)
    made = begin(
        context, quiet=quiet, verbose=verbose, context=context_length, threads=threads, prompts=prompts, model=judge
    )
    judge_run(made, folder, jury)
    print_report(made.screen, [folder], form)
    return 0


@group.command("merge", epilog=examples("goalmem eval merge whole-run shard-1 shard-2", guide="measuring"))
def merge(
    context: typer.Context,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder of the whole run, new or empty.")],
    folders: Annotated[list[Path], typer.Argument(metavar="RUN...", help="The folders of all its shards.")],
    category_names: options.CategoryNames = "official",
    json: options.Json = False,
    csv: options.Csv = False,
    quiet: options.Quiet = False,
) -> int:
    """Make one run of the shards that --shard measured on several machines."""
    from goalmem_cli.evaluation.runs.folder import read_run, write_run
    from goalmem_cli.evaluation.runs.hypotheses import write_hypotheses
    from goalmem_cli.evaluation.runs.merging import merge as merged

    form = Form(json, csv, category_names)
    made = begin(context, quiet=quiet)
    whole = merged([read_run(folder) for folder in folders])
    write_run(out, whole)
    write_hypotheses(whole, out / "hypotheses")
    print_report(made.screen, [out], form)
    return 0


@contextmanager
def _temporary() -> Iterator[Path]:
    """Yield a folder that is gone afterwards.

    Raises:
        StoreError: the system has no room for one.
    """
    try:
        folder = TemporaryDirectory(prefix="goalmem-eval-", ignore_cleanup_errors=True)
    except OSError as error:
        raise StoreError(f"no temporary folder: {error.strerror or error}", "make room, or set TMPDIR") from error
    with folder as path:
        yield Path(path)

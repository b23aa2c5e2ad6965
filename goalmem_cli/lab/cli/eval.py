"""`goalmem eval`: measure reasoners and backbones on a benchmark's questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, RunGroup, examples
from goalmem_cli.cli.invocation import begin, temporary
from goalmem_cli.errors import UsageError
from goalmem_cli.lab.cli import agreeing, matrix
from goalmem_cli.lab.cli import wanted as asked
from goalmem_cli.lab.cli.judging import judge_run, jury_of
from goalmem_cli.lab.cli.measuring import Measuring
from goalmem_cli.lab.cli.report import Form, print_report
from goalmem_cli.lab.cli.wanted import Wanted, listed

group = typer.Typer(
    cls=RunGroup,
    help="Measure reasoners and backbones on a benchmark.\n\n`eval FILE`, `eval score RUN`, `eval agree RUN LABELS`, "
    "`eval matrix FILE`, `eval merge OUT RUN...`.",
    context_settings=CONTEXT,
)


def register(app: typer.Typer) -> None:
    """Add the group to the app."""
    agreeing.register(group)
    matrix.register(group)
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
    files: asked.Files,
    reasoner: asked.Reasoners = "direct,goal-mem",
    backbone: asked.Backbones = "reranked",
    model: options.Model = None,
    adapter: options.Adapter = None,
    limit: asked.Limit = None,
    categories: asked.Categories = None,
    conversations: asked.Conversations = None,
    only: asked.Only = None,
    sample: asked.Sample = "stratified",
    seed: options.Seed = None,
    out: asked.Out = None,
    resume: asked.Resume = True,
    retrieval_only: asked.RetrievalOnly = False,
    queries: asked.Queries = None,
    scope: asked.Scope = None,
    k: asked.Units = None,
    fact_tokens: options.FactTokens = None,
    sift: asked.Sift = None,
    lean: asked.Lean = None,
    shard: asked.Shard = "1/1",
    judge: asked.Judge = None,
    judge_prompt: asked.JudgePrompt = "standard",
    passes: asked.Passes = 1,
    planning: options.Planning = None,
    max_breadth: options.MaxBreadth = None,
    max_depth: options.MaxDepth = None,
    max_steps: options.MaxSteps = None,
    certainty: options.Certainty = None,
    strict: options.Strict = None,
    keep_prompts: options.KeepPrompts = None,
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
    with temporary() as folder:
        made = begin(
            context, quiet=quiet, verbose=verbose, store=folder / "store", model=model, adapter=adapter,
            seed=seed, budget=k, planning=planning, max_breadth=max_breadth, max_depth=max_depth, max_steps=max_steps,
            fact_tokens=fact_tokens, sift=sift, lean=lean, strict=strict, keep_prompts=keep_prompts,
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
    judge: asked.Judge = None,
    judge_prompt: asked.JudgePrompt = "standard",
    passes: asked.Passes = 1,
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
    from goalmem_cli.lab.evaluation.runs.matrix import runs_of

    form, jury = Form(json, csv, category_names), jury_of(judge, judge_prompt, passes)
    made = begin(
        context, quiet=quiet, verbose=verbose, context=context_length, threads=threads, prompts=prompts, model=judge
    )
    for part in runs_of(folder):
        judge_run(made, part, jury)
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
    from goalmem_cli.lab.evaluation.runs.folder import read_run, write_run
    from goalmem_cli.lab.evaluation.runs.hypotheses import write_hypotheses
    from goalmem_cli.lab.evaluation.runs.matrix import is_matrix, merge_matrices
    from goalmem_cli.lab.evaluation.runs.matrix import merge as merged

    form = Form(json, csv, category_names)
    made = begin(context, quiet=quiet)
    if any(map(is_matrix, folders)):
        merge_matrices(out, folders)
    else:
        whole = merged([read_run(folder) for folder in folders])
        write_run(out, whole)
        write_hypotheses(whole, out / "hypotheses")
    print_report(made.screen, [out], form)
    return 0

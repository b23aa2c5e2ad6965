"""`goalmem eval`: measure reasoners and backbones on a benchmark's questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, RunGroup, examples
from goalmem_cli.cli.invocation import begin, temporary
from goalmem_cli.errors import UsageError
from goalmem_cli.lab.cli import agreeing, matrix, tables
from goalmem_cli.lab.cli.agreeing import judge_run, jury_of, sort_runs
from goalmem_cli.lab.cli.measuring import Measuring
from goalmem_cli.lab.cli.report import Form, print_report
from goalmem_cli.lab.cli.wanted import Judge, JudgePrompt, Passes, Typed, listed, sharing

group = typer.Typer(
    cls=RunGroup,
    help="Measure reasoners and backbones on a benchmark.\n\n`eval FILE`, `eval score RUN`, `eval agree RUN LABELS`, "
    "`eval matrix FILE`, `eval tables PAPER`, `eval merge OUT RUN...`.",
    context_settings=CONTEXT,
)


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
@sharing
def run(
    context: typer.Context,
    typed: Typed,
    resume: Annotated[
        bool, typer.Option("--resume/--no-resume", help="Go on with the same run where it stopped, or begin anew.")
    ] = True,
    retrieval_only: Annotated[bool, typer.Option("--retrieval-only", help="Only retrieve: no model.")] = False,
    queries: Annotated[
        str | None,
        typer.Option(
            "--queries",
            metavar="KIND,...",
            help="Retrieve with question, plan, plan+refinements (gold) or model; implies --retrieval-only.",
        ),
    ] = None,
    keep_prompts: options.KeepPrompts = None,
    milvus: options.OwnMilvus = False,
) -> int:
    """Measure reasoners over backbones on a benchmark's questions.

    Uses a temporary store of its own. Results are kept in the run's folder as they come; if interrupted, the same
    command continues.
    """
    form = Form(typed.json, typed.csv, typed.category_names)
    jury = jury_of(typed.judge, typed.judge_prompt, typed.passes)
    wanted = typed.wanted(queries=listed(queries, "--queries"), is_retrieval_only=retrieval_only, is_resumed=resume)
    if jury is not None and wanted.only_retrieves:
        raise UsageError("--judge has no answers to judge where a run only retrieves", "leave one of the two out")
    with temporary() as folder:
        made = typed.begun(context, folder / "store", keep_prompts=keep_prompts)
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
    temporal: Annotated[
        bool, typer.Option("--temporal", help="Let the judge also sort the questions by what they ask about time.")
    ] = False,
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
    parts = runs_of(folder)
    for part in parts:
        judge_run(made, part, jury)
    if temporal:
        sort_runs(made, parts, jury)
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
    """Merge the shards of a run, which --shard measured on several machines, into one run."""
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


group.command("agree", epilog=agreeing.EPILOG)(agreeing.agree)
group.command("matrix", epilog=matrix.EPILOG)(matrix.matrix)
group.command("tables", epilog=tables.EPILOG)(tables.tables)

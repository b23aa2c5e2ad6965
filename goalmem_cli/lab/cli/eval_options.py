"""The options that `goalmem eval` and `goalmem eval matrix` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

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
Sift = Annotated[
    bool | None, typer.Option("--sift/--no-sift", help="Full prompts leave out turns that are never evidence.")
]
Lean = Annotated[
    bool | None, typer.Option("--lean/--no-lean", help="Full prompts have the turns on which those found lean.")
]
Shard = Annotated[str, typer.Option("--shard", metavar="I/N", help="Only the I-th of N like parts.")]
Judge = Annotated[
    str | None, typer.Option("--judge", metavar="MODEL", help="Let this model judge the answers, named as for --model.")
]
JudgePrompt = Annotated[
    Literal["standard", "strict"], typer.Option("--judge-prompt", help="How generous the judge is.")
]
Passes = Annotated[int, typer.Option("--passes", min=1, max=100, help="How often each answer is judged.")]

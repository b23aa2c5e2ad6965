"""The flags that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args

import typer

from goalmem_cli.config import LEAST, MOST

ReasonerName: TypeAlias = Literal[
    "goal-mem", "direct", "full-context", "reformulate", "reflect", "react", "memguide", "tiser", "full-context-tiser",
    "remem", "remem-single", "remem-tiser", "graphrag-global",
]  # fmt: skip
"""All but `oracle` and `own-prompt`, which need a benchmark."""


Keep = Annotated[
    str | None,
    typer.Option("--keep", metavar="NAME", help="Keep the question as a goal: `goalmem goals check` proves it again."),
]


def _known_reasoner(name: str | None) -> str | None:
    """Return the name if it is a reasoner of goalmem or of a plug-in.

    Raises:
        typer.BadParameter: there is no such reasoner.
    """
    if name is None or name in (own := get_args(ReasonerName)):
        return name
    from goalmem_cli.plugins import PluginKind, find  # imported here, as it scans all installed packages

    if find(PluginKind.REASONER, name) is not None:
        return name
    raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, own))}.")


def _reasoners_that_begin(typed: str) -> list[str]:
    """Return the completions of a typed beginning for the shell."""
    return [name for name in get_args(ReasonerName) if name.startswith(typed)]


def _bounded(setting: str, says: str, metavar: str | None = None, *, hidden: bool = False) -> Any:
    """Return the option of a number, with its setting's name and bounds, and the help `says`, unless it is hidden."""
    flag = f"--{setting.replace('_', '-')}"
    return typer.Option(flag, min=LEAST[setting], max=MOST[setting], metavar=metavar, help=says, hidden=hidden)


PlanningName: TypeAlias = Literal["together", "stepwise", "paper", "auto", "seen", "blind"]
"""`seen` is a former name of `together`, and `blind` of `paper`, or of `stepwise` with compact prompts."""

Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="DIR",
        help="The store: a folder, or milvus:PATH, or milvus+https://HOST:PORT/DATABASE "
        "[default: GOALMEM_STORE, or the user's own].",
    ),
]
Redact = Annotated[
    bool | None,
    typer.Option(
        "--redact/--no-redact", help="Black out keys, tokens, passwords in addresses and card numbers [default: no]."
    ),
]
OwnMilvus = Annotated[bool, typer.Option("--milvus", help="Keep the conversations in an embedded Milvus.")]
Embedder = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="NAME",
        help="multilingual, static, minilm, gguf:PATH, a sentence-transformers name or path, or "
        "http://host:port/v1#name [default: the store's].",
    ),
]
TrustRemoteCode = Annotated[
    bool | None,
    typer.Option("--trust-remote-code", help="Run the Python code that the model named with --embedder brings along."),
]
Backbone = Annotated[
    str | None,
    typer.Option(
        "--backbone",
        metavar="NAME",
        help="How to search: reranked, hybrid, bm25, dense, bm25-plain, dense-plain, none, or a backbone "
        "that `goalmem index` built [default: reranked].",
    ),
]
Reasoner = Annotated[
    str | None,
    typer.Option(
        "--reasoner",
        metavar="NAME",
        callback=_known_reasoner,
        autocompletion=_reasoners_that_begin,
        help="How to answer: goal-mem, with a proof; without: direct, full-context, reformulate, reflect, react, "
        "memguide, tiser, full-context-tiser; with --backbone graphrag: graphrag-global; with remem: remem, "
        "remem-single, remem-tiser "
        "[default: goal-mem].",
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="bundled (the best installed one that fits), qwen-1.5b, qwen-0.5b or smollm2-135m, a GGUF file, "
        "hf:repo/file once downloaded, or a server: http://host:port/v1#name "
        "[default: GOALMEM_MODEL, or bundled].",
    ),
]
Adapter = Annotated[
    str | None,
    typer.Option(
        "--adapter",
        metavar="FILE",
        help="A LoRA adapter in GGUF form, or none [default: goalmem's own for bundled models].",
    ),
]
Context = Annotated[int | None, _bounded("context", "How many tokens the model sees at once.", "TOKENS")]
Threads = Annotated[
    int | None, _bounded("threads", "How many threads the model uses, at most one a core [default: one a core].")
]
Seed = Annotated[int | None, _bounded("seed", "A server's seed [default: 0].", hidden=True)]
SampleSeed = Annotated[int | None, _bounded("seed", "The seed of --sample; also sent to servers [default: 0].")]
Parallel = Annotated[
    int | None, _bounded("parallel", "How many questions to answer at a time [default: 1, or 8 on a server].", "N")
]
Planning = Annotated[
    PlanningName | None,
    typer.Option(
        "--planning",
        metavar="NAME",
        help="How goal-mem works: together plans and proves in one call, with facts in view; paper plans before it "
        "sees facts; stepwise, for small models, reads first and plans only if unsure; auto tests a new model once by "
        "two made-up questions [default: auto on a server, else by the model's size].",
    ),
]
All = Annotated[
    bool, typer.Option("--all", help="For lists: search until nothing likely is left [default: search once more].")
]
MaxBreadth = Annotated[int | None, _bounded("max_breadth", "How many decompositions goal-mem tries [default: 3].")]
MaxDepth = Annotated[int | None, _bounded("max_depth", "How many further rounds a decomposition has [default: 5].")]
MaxSubgoals = Annotated[
    int | None, _bounded("max_subgoals", "How many subgoals a plan has; 0: any, with --planning paper [default: 4].")
]
MaxSteps = Annotated[int | None, _bounded("max_steps", "How many steps remem and react take [default: 5].")]
Certainty = Annotated[
    int | None,
    _bounded("certainty", "Withhold answers less certain than this, in percent; 0: none [default: the model's own]."),
]
Budget = Annotated[
    int | None, _bounded("budget", "How many facts an attempt may see, except for full-context [default: 60].")
]
FactTokens = Annotated[
    int | None,
    _bounded(
        "fact_tokens",
        "About how many tokens of facts the model is shown at a time; 0: as many as fit [default: the "
        "model's, 3000 for a capable one].",
        "TOKENS",
    ),
]
Prompts = Annotated[
    Path | None,
    typer.Option("--prompts", metavar="DIR", help="A folder whose files replace goalmem's prompts of the same name."),
]
Strict = Annotated[
    bool | None,
    typer.Option(
        "--strict/--no-strict", help="Refuse what a model only infers, in goal-mem [default: for small models]."
    ),
]
Rules = Annotated[
    bool | None,
    typer.Option(
        "--rules/--no-rules",
        help="Begin with the plan that settled a question of the same form [default: for models with full prompts].",
    ),
]
KeepPrompts = Annotated[
    bool | None,
    typer.Option(
        "--keep-prompts", help="Keep each prompt and its reply in the trace; `goalmem trace show --prompts` shows them."
    ),
]
Trace = Annotated[bool, typer.Option("--trace", help="Draw the proof tree on stderr.")]
Asker = Annotated[
    str | None,
    typer.Option("--asker", metavar="NAME", help="Who I and my are [default: the user, if there is just one]."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on stderr but warnings and errors.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more on stderr.")]
Conversations = Annotated[
    list[str] | None, typer.Option("--conversation", metavar="NAME", help="Only this conversation; may be repeated.")
]
Speakers = Annotated[
    list[str] | None, typer.Option("--speaker", metavar="NAME", help="Only what this person said; may be repeated.")
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help="Only what was said then or later: 2023, 2023-05, 2023-05-21 or 2023-05-21T18:20.",
    ),
]
Until = Annotated[
    str | None,
    typer.Option("--until", metavar="TIME", help="Only what was said then or earlier; a date means to its end."),
]
Last = Annotated[
    str | None,
    typer.Option(
        "--last",
        metavar="LENGTH",
        help="Only what was said in the last 30d, 2w, 6m or 1y (days, weeks, months, years) before --as-of or now.",
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of", metavar="TIME", help="Ask as if it were then, and hide everything said later [default: now]."
    ),
]
SearchAsOf = Annotated[
    str | None,
    typer.Option("--as-of", metavar="TIME", help="Show the memory as of then, and read words about time as said then."),
]
Csv = Annotated[bool, typer.Option("--csv", help="Print the figures as CSV, one a row.")]
CategoryNames = Annotated[
    Literal["official", "mem0"],
    typer.Option("--category-names", help="LoCoMo's own names of its categories, or Mem0's."),
]

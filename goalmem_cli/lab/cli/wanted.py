"""The measurement that a command asks for, as typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.invocation import Invocation, begin
from goalmem_cli.errors import UsageError

if TYPE_CHECKING:
    from goalmem_cli.lab.evaluation.queries import QueryKind


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options of a measurement, as typed."""

    files: tuple[Path, ...]
    reasoners: tuple[str, ...]
    backbones: tuple[str, ...]
    limit: int | None = None
    categories: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()
    only: Path | None = None
    sample: str = "stratified"
    queries: tuple[str, ...] = ()
    is_retrieval_only: bool = False
    scope: str | None = None
    shard: str = "1/1"
    out: Path | None = None
    is_resumed: bool = True
    category_names: str = "official"
    parallel: int | None = None

    @property
    def only_retrieves(self) -> bool:
        """Whether to retrieve without answering: `--queries` only compares what kinds of query find."""
        return self.is_retrieval_only or bool(self.queries)

    @property
    def sees_domain(self) -> bool:
        """Whether a question may use all conversations of its domain, not only its own."""
        return self.scope == "domain" or (self.scope is None and bool(self.queries))

    @property
    def kinds(self) -> tuple[QueryKind, ...]:
        """The kinds of query to retrieve with.

        Raises:
            UsageError: there is no such kind of query.
        """
        from goalmem_cli.lab.evaluation.queries import QueryKind

        known = [kind.value for kind in QueryKind]
        return tuple(QueryKind(one_of(name, known, "--queries")) for name in self.queries or (QueryKind.QUESTION,))

    @property
    def part(self) -> tuple[int, int]:
        """The shard as (number, count): "2/5" -> (2, 5).

        Raises:
            UsageError: the text has another form.
        """
        number, slash, of = self.shard.partition("/")
        is_short = len(self.shard) < 20  # int() refuses thousands of digits
        if not (slash and is_short and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
            raise UsageError(f"--shard {self.shard!r} names no part", "write 2/5 for the second of five")
        return int(number), int(of)


def listed(typed: str | None, flag: str) -> tuple[str, ...]:
    """Return the comma-separated names, each once; an empty tuple if the option was not given.

    Raises:
        UsageError: the option was given without a name.
    """
    names = tuple(dict.fromkeys(name.strip() for name in (typed or "").split(",") if name.strip()))
    if typed is not None and not names:
        raise UsageError(f"{flag} {typed!r} names nothing", "write names with commas between, or leave the flag out")
    return names


def one_of(name: str, known: Sequence[str] | Mapping[str, object], flag: str) -> str:
    """Return the name if it is known.

    Raises:
        UsageError: it is not.
    """
    if name not in known:
        raise UsageError(f"{flag}: there is no {name!r}", f"choose from {', '.join(known)}")
    return name


def ascending_sizes(text: str, flag: str, example: str) -> list[int]:
    """Return the comma-separated sizes.

    Raises:
        UsageError: they are not ascending numbers of at least 100.
    """
    names = listed(text, flag)
    sizes = [int(name) for name in names if name.isdecimal() and len(name) < 10]
    if len(sizes) < len(names) or sizes[0] < 100 or sizes != sorted(set(sizes)):
        raise UsageError(f"{flag} {text!r} is no list of sizes", f"write numbers from 100 on, ascending: {example}")
    return sizes


Judge = Annotated[
    str | None, typer.Option("--judge", metavar="MODEL", help="Let this model judge the answers, named as for --model.")
]
JudgePrompt = Annotated[
    Literal["standard", "strict"], typer.Option("--judge-prompt", help="How generous the judge is.")
]
Passes = Annotated[int, typer.Option("--passes", min=1, max=100, help="How often each answer is judged.")]


@dataclass(frozen=True)
class Typed:
    """The options that `goalmem eval` and `goalmem eval matrix` share, as typed."""

    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="LoCoMo, LongMemEval, REALTALK, BEAM, CAME-Bench, Test of Time, Complex-TR, MuSiQue, 2Wiki, HotpotQA "
            "or the corpus; or a folder.",
        ),
    ]
    reasoner: Annotated[
        str, typer.Option("--reasoner", metavar="A,B", help="Which reasoners, with commas; also oracle, own-prompt.")
    ] = "direct,goal-mem"
    backbone: Annotated[str, typer.Option("--backbone", metavar="C,D", help="Over which, with commas.")] = "reranked"
    model: options.Model = None
    adapter: options.Adapter = None
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="How many questions [default: all].")] = None
    categories: Annotated[
        str | None, typer.Option("--categories", metavar="1,2", help="Only these, by number or name, with commas.")
    ] = None
    conversations: Annotated[
        str | None, typer.Option("--conversations", metavar="A,B", help="Only questions asked of these, with commas.")
    ] = None
    only: Annotated[
        Path | None,
        typer.Option("--only", metavar="LIST", help="Only the questions whose ids this file has, a line each."),
    ] = None
    sample: Annotated[
        Literal["stratified", "first", "random"], typer.Option("--sample", help="How --limit chooses questions.")
    ] = "stratified"
    seed: options.SampleSeed = None
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The run's folder [default: one of its own].")
    ] = None
    scope: Annotated[
        Literal["conversation", "domain"] | None,
        typer.Option("--scope", help="What a question sees [default: its conversation; with --queries its domain]."),
    ] = None
    k: Annotated[int | None, typer.Option("-k", min=1, help="How many units each question gets [default: 60].")] = None
    fact_tokens: options.FactTokens = None
    sift: Annotated[
        bool | None, typer.Option("--sift/--no-sift", help="Full prompts leave out turns that are never evidence.")
    ] = None
    lean: Annotated[
        bool | None,
        typer.Option("--lean/--no-lean", help="Full prompts also show turns that the found ones depend on."),
    ] = None
    shard: Annotated[str, typer.Option("--shard", metavar="I/N", help="Only part I of N equal parts.")] = "1/1"
    judge: Judge = None
    judge_prompt: JudgePrompt = "standard"
    passes: Passes = 1
    planning: options.Planning = None
    max_breadth: options.MaxBreadth = None
    max_depth: options.MaxDepth = None
    max_subgoals: options.MaxSubgoals = None
    max_steps: options.MaxSteps = None
    certainty: options.Certainty = None
    strict: options.Strict = None
    context_length: options.Context = None
    threads: options.Threads = None
    parallel: options.Parallel = None
    prompts: options.Prompts = None
    embedder: options.Embedder = None
    trust_remote_code: options.TrustRemoteCode = None
    category_names: options.CategoryNames = "official"
    json: options.Json = False
    csv: options.Csv = False
    quiet: options.Quiet = False
    verbose: options.Verbose = False

    def wanted(self, **more: Any) -> Wanted:
        """Return the measurement; `more` are options that only one of the commands has.

        Raises:
            UsageError: an option names nothing.
        """
        same = ("limit", "only", "sample", "scope", "shard", "out", "category_names", "parallel")
        return Wanted(
            tuple(self.files), listed(self.reasoner, "--reasoner"), listed(self.backbone, "--backbone"),
            categories=listed(self.categories, "--categories"),
            conversations=listed(self.conversations, "--conversations"),
            **{name: getattr(self, name) for name in same}, **more,
        )  # fmt: skip

    def begun(self, context: typer.Context, store: Path, **more: Any) -> Invocation:
        """Return the invocation of the command, over a store of its own."""
        same = {name: getattr(self, name) for name in _SETTINGS}
        return begin(context, store=store, budget=self.k, context=self.context_length, **same, **more)


_SETTINGS = (
    "quiet", "verbose", "model", "adapter", "seed", "fact_tokens", "sift", "lean", "planning", "max_breadth",
    "max_depth", "max_subgoals", "max_steps", "certainty", "strict", "threads", "parallel", "prompts", "embedder",
    "trust_remote_code",
)  # fmt: skip


def sharing(command: Callable[..., int]) -> Callable[..., int]:
    """Return the command with the options of `Typed` in place of its parameter `typed`."""
    hints, shared = get_type_hints(command, include_extras=True), get_type_hints(Typed, include_extras=True)
    context, _, *own = signature(command, eval_str=True).parameters.values()
    taken = [each.replace(annotation=shared[each.name]) for each in signature(Typed).parameters.values()]

    @wraps(command)
    def run(context: typer.Context, **words: Any) -> int:
        typed = Typed(**{each.name: words.pop(each.name) for each in taken})
        return command(context, typed, **words)

    keyed = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in (*taken, *own)]
    run.__signature__ = Signature([context, *keyed])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in (context, *keyed)} | {"return": hints["return"]}
    return run

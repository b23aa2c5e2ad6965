"""`goalmem eval matrix`: run every reasoner over every backbone, and ablations of both."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from goalmem_cli.cli.groups import examples
from goalmem_cli.cli.invocation import Invocation, temporary
from goalmem_cli.errors import UsageError
from goalmem_cli.lab.cli.agreeing import judge_run, jury_of
from goalmem_cli.lab.cli.measuring import Measuring
from goalmem_cli.lab.cli.report import Form, print_report
from goalmem_cli.lab.cli.wanted import Typed, Wanted, listed, one_of, sharing
from goalmem_cli.records import Usage, content_hash

if TYPE_CHECKING:
    from goalmem_cli.config import Settings
    from goalmem_cli.lab.cli.agreeing import Jury
    from goalmem_cli.lab.evaluation.runs.estimate import Cost
    from goalmem_cli.lab.evaluation.runs.matrix import Part, Variant
    from goalmem_cli.wiring import LoadedModel

SCHEMA_VERSION = 1
CHANGEABLE = (
    "planning", "max_breadth", "max_depth", "max_subgoals", "max_steps", "certainty", "budget", "strict", "checks",
    "fact_tokens", "sift", "lean",
)  # fmt: skip
"""The settings of a reasoner that a variant can change."""
SHOWING = frozenset({"budget", "fact_tokens", "sift", "lean"})
"""Those that a variant of a backbone can change too: what of its hits is shown."""
EPILOG = examples(
    "goalmem eval matrix locomo10.json --backbone bm25,remem --reasoner direct,remem,goal-mem --out table",
    "goalmem eval matrix locomo10.json --backbone remem --ablations remem,goal-mem --estimate",
    "goalmem report table --html table.html",
    guide="measuring",
)


@sharing
def matrix(
    context: typer.Context,
    typed: Typed,
    ablations: Annotated[
        str | None,
        typer.Option(
            "--ablations", metavar="A,B", help="Also remem, stitch or goal-mem without the parts that papers leave out."
        ),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary", metavar="NAME:KEY=VALUE", help="Also this backbone or reasoner with other settings; repeatable."
        ),
    ] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only estimate calls, tokens and hours, from one trial question.")
    ] = False,
) -> int:
    """Compare every reasoner over every backbone, in one table.

    Backbones are rows, reasoners columns, each with its difference to `direct` over the same backbone. Conversations
    are stored and indexed once, in the matrix's folder. If interrupted, the same command continues.
    """
    form = Form(typed.json, typed.csv, typed.category_names)
    jury, wanted = jury_of(typed.judge, typed.judge_prompt, typed.passes), typed.wanted()
    with temporary() as folder:
        made = typed.begun(context, folder / "store")
        first = Measuring(made, wanted)
        variants = _variants(made, wanted, listed(ablations, "--ablations"), vary or ())
        loaded = made.factories.model(made.settings)
        try:
            loaded = replace(loaded, profile=loaded.answering)
            tables = _Matrix(made, wanted, tuple(_possible(made, variants, loaded)), loaded)
            if estimate:
                _show_costs(made, list(tables.costs()), is_json=typed.json)
                return 0
            path = tables.measure(wanted.out or _own_folder(made, first, wanted), jury)
        finally:
            loaded.close()
    print_report(made.screen, [path], form)
    return 0


@dataclass(frozen=True)
class _Matrix:
    """Runs the plain pairs, then each variant with all that it is combined with; one loaded model serves all."""

    made: Invocation
    wanted: Wanted
    variants: tuple[Variant, ...]
    loaded: LoadedModel

    def measure(self, path: Path, jury: Jury | None) -> Path:
        """Measure what is missing, and return the matrix's folder."""
        from goalmem_cli.lab.evaluation.runs.matrix import PARTS, STORES, begin_matrix

        parts = list(self._parts())
        begin_matrix(path, [part for part, _, _ in parts])
        for part, wanted, run in parts:
            if part.label:
                self.made.screen.note(f"{part.label}:")
            settings = replace(run.settings, store=path / STORES / part.store)
            folder = path / PARTS / part.name
            Measuring(replace(run, settings=settings), replace(wanted, out=folder)).measure()
            judge_run(self.made, folder, jury)
        return path

    def costs(self) -> Iterator[tuple[Cost, Usage]]:
        """Yield the cost of each index and each pair, with the usage of one trial question."""
        tried: Usage | None = None
        shared = set(self.wanted.backbones)
        for part, wanted, run in self._parts():
            is_there = part.kind == "reasoner" or (part.shares_index and part.of in shared)
            has_index = not part.kind or not is_there
            shared |= {part.of} if part.kind == "backbone" and part.shares_index else set()
            found, tried = Measuring(run, wanted).foreseen(tried, with_indexes=has_index)
            for cost in found:
                if part.kind == "reasoner":
                    yield replace(cost, reasoner=part.label), tried
                else:
                    yield replace(cost, backbone=part.label or cost.backbone), tried

    def _parts(self) -> Iterator[tuple[Part, Wanted, Invocation]]:
        """Yield each part, its measurement, and the invocation with its settings."""
        from goalmem_cli.backbones.structured.settings import indexing_settings
        from goalmem_cli.lab.evaluation.runs.matrix import PLAIN, Part, named
        from goalmem_cli.wiring import backbone_entry

        kept = replace(self.made.factories, model=lambda _: replace(self.loaded, close=lambda: None))
        run = replace(self.made, factories=kept)
        yield Part(PLAIN), self.wanted, run
        for variant in self.variants:
            name, settings = named(variant.label), self.made.settings
            if _is_reasoner(variant):
                part = Part(name, variant.of, variant.label, "reasoner")
                changed = _changed(settings, variant, _own_settings(variant.of), "reasoners")
                yield part, replace(self.wanted, reasoners=(variant.of,)), replace(run, settings=changed)
                continue
            own = variant.changes.keys() - SHOWING
            told = {key: variant.changes[key] for key in own}
            shares = not told or not indexing_settings(backbone_entry(variant.of, run.factories).settings, told)
            part = Part(name, variant.of, variant.label, "backbone", shares)
            changed = _changed(settings, variant, own, "backbones")
            yield part, replace(self.wanted, backbones=(variant.of,)), replace(run, settings=changed)


def _is_reasoner(variant: Variant) -> bool:
    """Return whether the variant changes a reasoner, not a backbone; the name `remem` can be either."""
    from goalmem_cli.wiring import reasoner_names

    keys = variant.changes.keys()
    is_told = keys <= {*CHANGEABLE, *_own_settings(variant.of)}
    return is_told and (variant.of in reasoner_names((variant.of,)) or not keys <= SHOWING)


def _own_settings(reasoner: str) -> frozenset[str]:
    """Return the names of a reasoner's own settings; empty for a reasoner that is not goalmem's."""
    from dataclasses import fields

    from goalmem_cli.reasoners.catalogue import REASONERS

    entry = REASONERS.get(reasoner)
    return frozenset(slot.name for slot in fields(entry.settings)) if entry is not None else frozenset()


def _changed(
    settings: Settings, variant: Variant, own: Collection[str], key: Literal["backbones", "reasoners"]
) -> Settings:
    """Return the settings of a variant; those called as in `own` are its own, the others are common ones."""
    changes: dict[str, Any] = {name: value for name, value in variant.changes.items() if name not in own}
    every: Mapping[str, Mapping[str, Any]] = getattr(settings, key)
    told = {**every.get(variant.of, {}), **{name: variant.changes[name] for name in own if name in variant.changes}}
    return replace(settings, **(changes | {key: {**every, variant.of: told}} if told else changes))


def _variants(made: Invocation, wanted: Wanted, ablations: Sequence[str], varied: Sequence[str]) -> list[Variant]:
    """Return the variants that the options name.

    Raises:
        UsageError: an ablation or setting is unknown, or the matrix lacks the reasoner or backbone to vary.
    """
    from goalmem_cli.lab.evaluation.runs.matrix import ABLATIONS
    from goalmem_cli.wiring import backbone_names

    left_out = [variant for name in ablations for variant in ABLATIONS[one_of(name, ABLATIONS, "--ablations")]]
    found = [*left_out, *(_varied(made, text) for text in varied)]
    for place, variant in enumerate(found):
        flag, there = ("--reasoner", wanted.reasoners) if _is_reasoner(variant) else ("--backbone", wanted.backbones)
        if variant.of not in there and (place < len(left_out) or flag == "--reasoner"):
            raise UsageError(f"{variant.label}: {variant.of} is not in the matrix", f"name it with {flag} too")
        if variant.of not in there:
            one_of(variant.of, backbone_names(made.factories, (variant.of,)), "--vary")
    return found


def _varied(made: Invocation, text: str) -> Variant:
    """Return the variant written as NAME:KEY=VALUE, with commas between several settings.

    Raises:
        UsageError: the text has another form, or a value does not fit its setting.
    """
    import yaml

    from goalmem_cli.backbones.structured.settings import settings_from
    from goalmem_cli.config import setting_in_words
    from goalmem_cli.lab.evaluation.runs.matrix import Variant
    from goalmem_cli.reasoners.catalogue import REASONERS
    from goalmem_cli.wiring import backbone_entry, is_indexed

    head, equals, values = text.partition("=")
    name, colon, key = head.rpartition(":")
    rest = f"{key}{equals}{values}"
    pairs = [setting.partition("=") for setting in rest.split(",")]
    if not (name and colon and all(key and equals and value for key, equals, value in pairs)):
        raise UsageError(f"--vary {text!r} is no variant", "write NAME:KEY=VALUE, such as goal-mem:max_breadth=1")
    told, own = {key.strip(): value.strip() for key, _, value in pairs}, _own_settings(name)
    is_backbone = not told.keys() <= {*CHANGEABLE, *own} and is_indexed(name, made.factories)
    shared = SHOWING if is_backbone else frozenset(CHANGEABLE) - own
    common = {key: setting_in_words(key, value, "--vary") for key, value in told.items() if key in shared}
    try:
        changes = {key: yaml.safe_load(value) for key, value in told.items() if key not in common}
    except yaml.YAMLError as error:
        raise UsageError(f"--vary {text!r}: a value cannot be read", "write a number, a word, true or false") from error
    if is_backbone:
        settings_from(name, backbone_entry(name, made.factories).settings, changes)
    elif own:
        settings_from(name, REASONERS[name].settings, changes, "reasoners")
    elif changes:
        raise UsageError(f"--vary: {name} has no setting {next(iter(changes))!r}", f"it has {', '.join(CHANGEABLE)}")
    return Variant(name, f"{name}, {rest.strip()}", {**common, **changes})


def _possible(made: Invocation, variants: Sequence[Variant], loaded: LoadedModel) -> Iterator[Variant]:
    """Yield the variants that differ from the default and that the model's prompts support."""
    from goalmem_cli.reasoners.goal_mem import chosen_planning

    usual = chosen_planning(made.settings.planning, loaded.profile)
    for variant in variants:
        wanted = variant.changes.get("planning")
        try:
            planning = chosen_planning(str(wanted), loaded.profile) if wanted is not None else None
        except UsageError:
            made.screen.note(f"{variant.label}: left out, since the {loaded.profile} prompts know no such planning")
            continue
        if planning == usual:
            made.screen.note(f"{variant.label}: left out, since it is the usual planning here")
        else:
            yield variant


def _own_folder(made: Invocation, first: Measuring, wanted: Wanted) -> Path:
    """Return the default folder of a matrix; the same command gives the same folder."""
    import platformdirs

    settings, dataset = made.settings, first.dataset
    asked_of = (dataset.digest, wanted.limit, wanted.sample, wanted.shard, settings.seed, settings.model)
    name = f"matrix-{dataset.name}-{content_hash(repr(asked_of))[:10]}"
    return platformdirs.user_data_path("goalmem", appauthor=False) / "runs" / name


def _show_costs(made: Invocation, costs: Sequence[tuple[Cost, Usage]], *, is_json: bool) -> None:
    """Print the expected cost, with the model's speed in the trial."""
    from goalmem_cli.lab.evaluation.runs.estimate import Cost
    from goalmem_cli.render.tables import plain_table

    tried = costs[-1][1]
    tokens = tried.prompt_tokens + tried.completion_tokens
    speed = tokens / tried.seconds if tried.seconds and tokens else None
    whole = [(sum(cost.calls[end] for cost, _ in costs), sum(cost.tokens[end] for cost, _ in costs)) for end in (0, 1)]
    calls, all_tokens = zip(*whole, strict=True)
    if is_json:
        from goalmem_cli.json_records import plain

        rows = [{**plain(cost), "hours": cost.hours(speed) if speed else None} for cost, _ in costs]
        made.screen.document({"schema_version": SCHEMA_VERSION, "tokens_per_second": speed, "rows": rows})
        return
    shown = [
        (cost.backbone, cost.reasoner or "(index)", _between(cost.calls), _between(cost.tokens), _hours(cost, speed))
        for cost, _ in costs
    ]
    everything = Cost("", "", 0, calls, all_tokens)
    shown.append(("all", "", _between(calls), _between(all_tokens), _hours(everything, speed)))
    made.screen.show(plain_table(("backbone", "reasoner", "calls", "tokens", "hours"), shown))
    by = f"{speed:,.0f} tokens a second" if speed else "a speed that is not known"
    count = f"{costs[-1][0].count:,} questions"
    made.screen.note(f"{count}; by one of them for trial, {tokens:,} tokens at {by}; without --estimate it begins")


def _between(ends: tuple[int, ...]) -> str:
    """Return the minimum and the maximum as text, shortened from ten thousand on: "12k to 3,400k"."""
    return " to ".join(dict.fromkeys(_short(number) for number in ends))


def _short(number: int) -> str:
    if number < 10_000:
        return f"{number:,}"
    return f"{number / 1000:,.0f}k" if number < 10**7 else f"{number / 10**6:,.0f}M"


def _hours(cost: Cost, speed: float | None) -> str:
    if speed is None:
        return "?"
    return " to ".join(dict.fromkeys(f"{hours:.2g}" for hours in cost.hours(speed)))

"""The training commands: `pack`, `train` and `convert`.

They need only torch, transformers, peft and gguf, as on a lent GPU machine: no store and no llama.cpp. Without
llama.cpp an adapter is not checked against it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalmem_cli.errors import InputError, UsageError
from goalmem_cli.lab.tuning import prepared
from goalmem_cli.lab.tuning.batches import MIX, batches
from goalmem_cli.models.bundled import SMOLLM2
from goalmem_cli.models.catalogue import resolve
from goalmem_cli.models.state_cache import appearing_whole
from goalmem_cli.models.weights.gguf import file_digest

if TYPE_CHECKING:
    from goalmem_cli.lab.tuning.adapter import Shape
    from goalmem_cli.lab.tuning.prepared import Prepared
    from goalmem_cli.lab.tuning.training import Course, Progress, Run

BASE = SMOLLM2.name
CHECKPOINT, BEGUN = "checkpoint", "begun.json"
"""The names of the folder of weights and progress, and of the file of initial settings, which training leaves."""
CHECKED_PROMPTS = 8
_LIBRARIES = ("goalmem", "torch", "transformers", "peft", "gguf", "llama-cpp-python")


def say(line: str) -> None:
    """Print a line at once."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def add_commands(commands: Any) -> None:
    """Add `pack`, `train` and `convert` to a parser's subparsers."""
    small = commands.add_parser("pack", help="write a model's file with no more of its vocabulary than examples use")
    small.add_argument("prepared", type=Path, help="what prepare wrote")
    small.add_argument("out", type=Path, help="the folder to write the file and the examples for it to")
    small.add_argument("--base", default=BASE, help="the model that tokenised them, as --model takes it")
    small.set_defaults(run=_pack)
    teach = commands.add_parser("train", help="train on prepared examples; convert, check and describe the adapter")
    _course_options(teach)
    teach.set_defaults(run=_train)
    turn = commands.add_parser("convert", help="convert and check the last weights of a training")
    turn.add_argument("folder", type=Path, help="the folder that train wrote to")
    turn.add_argument("--base", help="the model's file, if it was moved or packed")
    turn.set_defaults(run=_convert)


def _course_options(command: argparse.ArgumentParser) -> None:
    """Add the options of `train` to its parser."""
    command.add_argument("prepared", type=Path, help="what prepare wrote")
    command.add_argument("out", type=Path, help="the folder to write to")
    command.add_argument(
        "--base", help=f"the model to train, as --model takes it, or a packed file ({BASE}; resumed, as it began)"
    )
    end = command.add_mutually_exclusive_group(required=True)
    end.add_argument("--minutes", type=float, help="how long to train, without the time for measuring")
    end.add_argument("--steps", type=int, help="how many batches to train on")
    begin = command.add_mutually_exclusive_group()
    begin.add_argument("--resume", action="store_true", help="go on as the training in the folder began")
    begin.add_argument(
        "--start", type=Path, nargs="+", help="an adapter to start from, with its shape; of several their mean"
    )
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--rank", type=int, default=16)
    command.add_argument("--alpha", type=int, default=32)
    command.add_argument("--layers", default="", help="which layers to adapt, such as q_proj,v_proj [default: all]")
    command.add_argument("--dropout", type=float, default=0.0, help="the share of the adapter's inputs that is dropped")
    command.add_argument("--decay", type=float, default=0.0, help="the weight decay")
    command.add_argument("--rate", type=float, default=4e-4, help="the highest learning rate")
    command.add_argument("--tokens", type=int, help="how many tokens a batch has at most (1024; on a GPU 32768)")
    command.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    command.add_argument(
        "--save-minutes", type=float, default=10.0, help="how often to save, and to measure on the examples set aside"
    )
    command.add_argument("--mix", type=json.loads, default={}, help='shares of kinds to change: {"read": 0.1}')


def _pack(options: argparse.Namespace) -> None:
    """Write the packed model and the examples in its tokens to the folder."""
    from goalmem_cli.lab.tuning import adapter

    base, data = resolve(options.base, note=say).path, prepared.read(options.prepared)
    _belongs(data, base, options.prepared)
    options.out.mkdir(parents=True, exist_ok=True)
    for taken, name in ((base, adapter.BASE), (options.prepared, adapter.EXAMPLES)):
        if (options.out / name).exists() and taken.samefile(options.out / name):
            raise UsageError(f"{taken} would be replaced by what is packed of it", "name another folder")
    packed, renumbered = adapter.pack(data, base, options.out)
    prepared.write(renumbered, options.out / adapter.EXAMPLES)
    say(f"{packed}: {packed.stat().st_size} bytes of {base.stat().st_size}, {len(renumbered.vocabulary)} tokens")


def _train(options: argparse.Namespace) -> None:
    """Train an adapter or resume its training, print the losses, and write the adapter with its card."""
    from goalmem_cli.lab.tuning import adapter, card, training

    known = _begun(options.out) if options.resume else {}
    base = _base_of(options, known, options.out) if known else resolve(options.base or BASE, note=say).path
    checkpoint, data = options.out / CHECKPOINT, prepared.read(options.prepared)
    _belongs(data, base, options.prepared)
    course, shares = _course(options, known), known.get("mix") or {**MIX, **options.mix}
    if options.resume:
        run = training.resumed(base, checkpoint, course)
    else:
        run = training.begun(base, course)
        known = _started(options, base, run, data, course, shares)
    say(f"held out, before: {_told(known['held_out_losses_before'])}")

    def aside() -> dict[str, float]:
        losses = training.mean_losses(run.model, data.aside, course.tokens)
        say(f"aside: {_told(losses)}")
        return _rounded(losses)

    supply = batches(data.trained, shares, course.tokens, course.seed)
    done = training.train(run, supply, course, checkpoint, _tell, aside)
    after = _rounded(training.mean_losses(run.model, data.held_out, course.tokens))
    say(f"held out, after: {_told(after)}")
    record = {
        **data.about, "available": dict(data.available), "start": known["start"], "course": asdict(course),
        "mix": shares, "device": training.machine(), "steps": done.steps, "left_out": done.left_out,
        "examples": dict(done.kinds), "tokens": done.tokens, "minutes": round(done.seconds / 60, 1),
        "losses": _rounded(done.losses), "aside_losses": aside(),
        "held_out_losses_before": known["held_out_losses_before"], "held_out_losses": after,
        "versions": _versions(), "evaluation": {}, "base": base.name, "base_digest": adapter.whole_digest(base),
        "bytes": 0, "digest": "not converted yet", "check": {},
    }  # fmt: skip
    card.write_record(record, options.out)
    card.update_record(options.out, _converted(run.model, base, options.out, known["prompts"]))


def _started(
    options: argparse.Namespace, base: Path, run: Run, data: Prepared, course: Course, shares: Mapping[str, float]
) -> dict[str, Any]:
    """Set the starting weights of a new training; write and return its initial settings."""
    from goalmem_cli.lab.tuning import adapter, training

    if options.start:
        adapter.copy_weights(options.start, run.model)
    known = {
        "base": str(base.resolve()), "whole": adapter.whole_digest(base),
        "start": ", ".join("/".join(path.parts[-2:]) for path in options.start or ()),
        "course": asdict(course), "mix": dict(shares), "vocabulary": data.vocabulary,
        "prompts": [example.prompt for example in data.held_out[:CHECKED_PROMPTS]],
        "held_out_losses_before": _rounded(training.mean_losses(run.model, data.held_out, course.tokens)),
    }  # fmt: skip
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / BEGUN).write_text(json.dumps(known), "utf-8")
    return known


def _belongs(data: Prepared, base: Path, path: Path) -> None:
    """Check that the examples are in this model's tokens.

    Raises:
        InputError: they are in another model's tokens.
    """
    if data.base != file_digest(base):
        hint = "prepare them with --base, or name the file that they were packed with"
        raise InputError(path, "", f"these examples are not in the tokens of {base.name}", hint)


def _course(options: argparse.Namespace, known: Mapping[str, Any]) -> Course:
    """Return the course of the options; a resumed training keeps its own, with a new end and machine."""
    from goalmem_cli.lab.tuning import training

    here = {
        "minutes": options.minutes, "steps": options.steps, "threads": options.threads,
        "save_minutes": options.save_minutes,
    }  # fmt: skip
    if "course" in known:
        return training.Course(**{**known["course"], **here})
    return training.Course(
        **here, **_shape(options)._asdict(), seed=options.seed, rate=options.rate,
        tokens=options.tokens or training.room(), dropout=options.dropout, decay=options.decay,
    )  # fmt: skip


def _shape(options: argparse.Namespace) -> Shape:
    """Return the adapter's shape: that of the files to start from, or that of the options.

    Raises:
        UsageError: there is no such layer.
    """
    from goalmem_cli.lab.tuning import adapter, training

    if options.start:
        return adapter.shape_of(options.start[0])
    layers = tuple(options.layers.split(",")) if options.layers else training.LAYERS
    if unknown := sorted(set(layers) - set(training.LAYERS)):
        raise UsageError(f"no layers are called {', '.join(unknown)}", f"they are {', '.join(training.LAYERS)}")
    return adapter.Shape(options.rank, options.alpha, layers)


def _begun(folder: Path) -> dict[str, Any]:
    """Return the initial settings of the training in the folder.

    Raises:
        InputError: there are none, or they are from an earlier version of goalmem.
    """
    hint = "begin one without --resume"
    try:
        known = dict(json.loads((folder / BEGUN).read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise InputError(folder / BEGUN, "", f"no training began there: {error}", hint) from error
    if missing := [key for key in ("base", "whole", "vocabulary", "prompts") if key not in known]:
        raise InputError(folder / BEGUN, missing[0], "an earlier version of goalmem began this training", hint)
    return known


def _base_of(options: argparse.Namespace, known: Mapping[str, Any], folder: Path) -> Path:
    """Return the file of the base model: the one that the training in the folder began with, or `--base`.

    Raises:
        InputError: the file is of another model.
    """
    from goalmem_cli.lab.tuning import adapter

    base = resolve(options.base or known["base"], note=say).path
    if adapter.whole_digest(base) != known["whole"]:
        raise InputError(folder / BEGUN, "base", f"this training is not of {base}", f"give --base {known['base']}")
    return base


def _convert(options: argparse.Namespace) -> None:
    """Convert the last weights of a training, check them, and update the record."""
    from goalmem_cli.lab.tuning import adapter, card, training

    known = _begun(options.folder)
    base, prompts = _base_of(options, known, options.folder), known["prompts"]
    if known["vocabulary"] and not adapter.is_packed(base):
        prompts = [[known["vocabulary"][token] for token in prompt] for prompt in prompts]
    made = _converted(training.load_trained(base, options.folder / CHECKPOINT), base, options.folder, prompts)
    if (options.folder / card.RECORD).exists():
        card.update_record(options.folder, made)


def _converted(model: object, base: Path, folder: Path, prompts: list[list[int]]) -> dict[str, object]:
    """Write the adapter's file, check it if llama.cpp is installed, and return its entries for the record."""
    from goalmem_cli.lab.tuning import adapter

    file, checked = folder / adapter.NAME, dict[str, float]()
    with appearing_whole(file) as part:
        size = adapter.write_adapter(model, base, part)
        if find_spec("llama_cpp") is None:
            say(f"not held against llama.cpp, which is not here: convert {folder} does that where it is")
        else:
            checked = _rounded(asdict(adapter.check(model, base, part, prompts)))
    say(f"{file}: {size} bytes; {_told(checked)}")
    return {
        "base": base.name, "base_digest": adapter.whole_digest(base), "bytes": size, "digest": file_digest(file),
        "check": checked,
    }  # fmt: skip


def _versions() -> dict[str, str]:
    """Return library -> version, of those that are installed."""
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _tell(done: Progress) -> None:
    """Print the progress on one line."""
    speed = done.tokens / max(done.seconds, 1e-9)
    say(
        f"{done.seconds / 60:.1f} min, {done.steps} steps ({done.left_out} left out), {done.examples} examples, "
        f"{speed:.0f} tokens/s, rate {done.rate:.1e}: {_told(done.losses)}"
    )


def _told(figures: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {figure:.3f}" for name, figure in figures.items())


def _rounded(losses: Mapping[str, float]) -> dict[str, float]:
    return {kind: round(loss, 4) for kind, loss in losses.items()}

"""The commands of ``python -m goalmem_cli.tuning``: to prepare, train, convert, record, rank and calibrate."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from goalmem_cli.errors import GoalmemError, InputError, UsageError
from goalmem_cli.models.bundled import SMOLLM2
from goalmem_cli.models.catalogue import resolve
from goalmem_cli.models.in_process.prompt_tokens import PromptTokens
from goalmem_cli.models.weights.gguf import file_digest
from goalmem_cli.tuning import prepared
from goalmem_cli.tuning.batches import MIX, Tokens, batches, tokenise
from goalmem_cli.tuning.corpus import HELD_OUT, Talk, read_corpus, split
from goalmem_cli.tuning.example import Example
from goalmem_cli.tuning.rendering import Variety, render
from goalmem_cli.wiring import load_embedder, open_prompts

if TYPE_CHECKING:
    from goalmem_cli.tuning.adapter import Shape
    from goalmem_cli.tuning.calibration import Checked
    from goalmem_cli.tuning.training import Course

BASE = SMOLLM2.name
DEPTHS = (1, 3, 5, 10)
LARGE, EVERY = 65_536, 50
"""From how many tokens a vocabulary is large, and one reply in how many is held against its grammar then."""
CHECKPOINT, PROMPTS, BEGUN = "checkpoint", "prompts.json", "begun.json"
"""What training leaves in its folder beside the adapter and its card: the weights and how far they are, what they are
checked on, and what it began with."""
_LIBRARIES = ("goalmem", "torch", "transformers", "peft", "gguf", "llama-cpp-python")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 4 with a message where it cannot be done."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except GoalmemError as error:
        _say(f"error: {error.message}")
        _say(f"hint: {error.hint}")
        return 4
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m goalmem_cli.tuning", description=__doc__)
    commands = parser.add_subparsers(required=True)
    show = commands.add_parser("examples", help="print some examples of each kind, and how many there are")
    show.add_argument("corpus", type=Path, help="the folder of the corpus")
    show.add_argument("--seed", type=int, default=1)
    show.add_argument("--each", type=int, default=2, help="how many of each kind to print")
    _varied(show)
    show.set_defaults(run=_show)
    make = commands.add_parser("prepare", help="render, tokenise and write the examples to train on")
    make.add_argument("out", type=Path, help="the file to write")
    make.add_argument("corpora", type=Path, nargs="+", help="folders of conversations; once more is under other names")
    make.add_argument("--base", default=BASE, help="the model whose tokens they become, as --model takes it")
    make.add_argument("--seed", type=int, default=1)
    make.add_argument("--held-out", type=int, default=200, help="how many held-out examples to take the loss of")
    make.add_argument("--aside", type=int, default=300, help="how many examples set aside to take the loss of")
    _varied(make)
    make.set_defaults(run=_prepare)
    teach = commands.add_parser("train", help="train on prepared examples; convert, check and describe the adapter")
    _course_options(teach)
    teach.set_defaults(run=_train)
    turn = commands.add_parser("convert", help="convert and check the last weights of a training that was interrupted")
    turn.add_argument("folder", type=Path, help="the folder that train wrote to")
    turn.set_defaults(run=_convert)
    order = commands.add_parser("rank", help="fit the weights by which retrieved turns are reranked, and print them")
    order.add_argument("corpus", type=Path, help="the folder of the corpus")
    order.set_defaults(run=_rank)
    chat = commands.add_parser("idle", help="fit which turns are never evidence for anything, and print the weights")
    chat.add_argument("folders", type=Path, nargs="+", help="conversations with questions to fit on")
    chat.add_argument("--report", type=Path, action="append", default=[], help="others to say what is lost there")
    chat.set_defaults(run=_idle)
    sure = commands.add_parser("calibrate", help="fit how certain answers are to runs on training conversations")
    sure.add_argument("reasoner", help="whose answers")
    sure.add_argument("runs", type=Path, nargs="+", help="folders of `goalmem eval`, with --certainty 0")
    sure.add_argument("--check", type=Path, nargs="+", default=[], help="runs to check the fit on, of other questions")
    sure.add_argument("--card", type=Path, help="the folder of the adapter, whose card is to have it")
    sure.set_defaults(run=_calibrate)
    note = commands.add_parser("record", help="put figures of an evaluation into the model card")
    note.add_argument("folder", type=Path, help="the folder that train wrote")
    note.add_argument("name", help="what was measured")
    note.add_argument("figures", type=json.loads, help='a JSON object: {"F1": 0.31}')
    note.set_defaults(run=_record)
    return parser


def _course_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("prepared", type=Path, help="what prepare wrote")
    command.add_argument("out", type=Path, help="the folder to write to")
    end = command.add_mutually_exclusive_group(required=True)
    end.add_argument("--minutes", type=float, help="how long to train, looking at those aside not counted")
    end.add_argument("--steps", type=int, help="how many batches to train on")
    begin = command.add_mutually_exclusive_group()
    begin.add_argument("--resume", action="store_true", help="go on as the training in the folder began")
    begin.add_argument(
        "--start", type=Path, nargs="+", help="an adapter to go on from, of its shape; the mean of several"
    )
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--rank", type=int, default=16)
    command.add_argument("--alpha", type=int, default=32)
    command.add_argument("--layers", default="", help="which layers to adapt, such as q_proj,v_proj; all if not told")
    command.add_argument("--dropout", type=float, default=0.0, help="how much of what enters the adapter is dropped")
    command.add_argument("--decay", type=float, default=0.0, help="how strongly weights are drawn to nought")
    command.add_argument("--rate", type=float, default=4e-4, help="the highest learning rate")
    command.add_argument("--tokens", type=int, help="how many tokens a batch has at most (1024; on a GPU 32768)")
    command.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    command.add_argument(
        "--save-minutes", type=float, default=10.0, help="how often to save, and to look at those aside"
    )
    command.add_argument("--mix", type=json.loads, default={}, help='shares of kinds to change: {"read": 0.1}')


def _varied(command: argparse.ArgumentParser) -> None:
    command.add_argument("--years", action="store_true", help="move what lies in one memory by 28 years, or not, too")
    command.add_argument("--people", action="store_true", help="also put questions with somebody else's name in them")


def _show(options: argparse.Namespace) -> None:
    talks, _ = split(read_corpus(options.corpus))
    by_kind: dict[str, list[Example]] = {}
    for example in _rendered(talks, options.seed, _variety(options)):
        by_kind.setdefault(example.kind, []).append(example)
    vocabulary = PromptTokens(resolve(BASE).path)
    chance = Random(options.seed)  # noqa: S311 - these are no secrets
    for kind, members in by_kind.items():
        lengths = [len(vocabulary.prompt(e.request)) + len(vocabulary.reply(e.reply)) for e in members]
        allowed = sum(vocabulary.allows(example.request, example.reply) for example in members)
        _say(f"{kind}: {len(members)}, {sum(lengths) / len(lengths):.0f} tokens, {allowed / len(members):.1%} allowed")
        for example in chance.sample(members, min(options.each, len(members))):
            _say(f"--- {example.case}\n{example.request.growing}{example.request.tail}==> {example.reply}")
    vocabulary.close()


def _prepare(options: argparse.Namespace) -> None:
    variety = _variety(options)
    vocabulary = PromptTokens(resolve(options.base).path)
    every = EVERY if vocabulary.size > LARGE else 1
    dropped: Counter[str] = Counter()
    parts: dict[str, list[Tokens]] = {part: [] for part in prepared.PARTS}
    names = []
    for number, corpus in enumerate(options.corpora):
        talks, held = split(read_corpus(corpus))
        is_again = corpus in options.corpora[:number]
        names += [] if is_again else [talk.name for talk in talks if not prepared.is_aside(talk.name)]
        _say(f"{corpus}: {len(talks)} conversations, {len(held)} held out")
        rendered: dict[str, list[Example]] = {"aside": [], "trained": []}
        for example in _rendered(talks, options.seed + number, variety):
            rendered["aside" if prepared.is_aside(example.case.rpartition(":")[0]) else "trained"].append(example)
        for part, examples in rendered.items():
            if part == "trained" or not is_again:
                parts[part] += tokenise(examples, vocabulary, dropped, every)
        if held and not is_again:
            parts["held_out"] += tokenise(_rendered(held, options.seed, variety), vocabulary, Counter(), every)
    vocabulary.close()
    copies = Counter("/".join(corpus.parts[-2:]) for corpus in options.corpora)
    about = {
        "conversations": len(names), "copies": dict(copies),
        "variety": asdict(variety), "dropped": dict(dropped), "held_out": HELD_OUT,
    }  # fmt: skip
    aside, held_out = _sample(parts["aside"], options.aside), _sample(parts["held_out"], options.held_out)
    made = prepared.Prepared(tuple(parts["trained"]), tuple(aside), tuple(held_out), about)
    prepared.write(prepared.check(made, options.corpora[0], HELD_OUT), options.out)
    _say(
        f"{len(made.trained)} examples, {sum(map(len, made.trained))} tokens: {dict(made.available)}; "
        f"dropped {dict(dropped)}; {len(made.aside)} aside, {len(made.held_out)} held out"
    )


def _train(options: argparse.Namespace) -> None:
    from goalmem_cli.tuning import adapter, card, training

    base, checkpoint = resolve(BASE).path, options.out / CHECKPOINT
    data = prepared.read(options.prepared)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / PROMPTS).write_text(json.dumps([example.prompt for example in data.held_out[:8]]), "utf-8")
    known = _begun(options.out) if options.resume else {}
    course, mix = _course(options, known), known.get("mix", options.mix)
    if options.resume:
        run, before = training.resumed(base, checkpoint, course), known["held_out_losses_before"]
    else:
        run = training.begun(base, course)
        if options.start:
            adapter.copy_weights(options.start, run.model)
        before = _rounded(training.mean_losses(run.model, data.held_out, course.tokens))
        start = ", ".join("/".join(path.parts[-2:]) for path in options.start or ())
        known = {"start": start, "course": asdict(course), "mix": mix, "held_out_losses_before": before}
        (options.out / BEGUN).write_text(json.dumps(known), "utf-8")
    _say(f"held out, before: {_losses(before)}")

    def aside() -> dict[str, float]:
        losses = training.mean_losses(run.model, data.aside, course.tokens)
        _say(f"aside: {_losses(losses)}")
        return _rounded(losses)

    shares = {**MIX, **mix}
    supply = batches(data.trained, shares, course.tokens, course.seed)
    done = training.train(run, supply, course, checkpoint, _tell, aside)
    after = _rounded(training.mean_losses(run.model, data.held_out, course.tokens))
    _say(f"held out, after: {_losses(after)}")
    record = {
        **data.about, "available": dict(data.available), "start": known["start"], "course": asdict(course),
        "mix": shares, "device": training.machine(), "steps": done.steps, "examples": dict(done.kinds),
        "tokens": done.tokens, "minutes": round(done.seconds / 60, 1), "losses": _rounded(done.losses),
        "aside_losses": aside(), "held_out_losses_before": before, "held_out_losses": after,
        "versions": {name: version(name) for name in _LIBRARIES}, "evaluation": {},
    }  # fmt: skip
    card.write_record(record | _converted(run.model, base, options.out), options.out)


def _course(options: argparse.Namespace, known: Mapping[str, Any]) -> Course:
    """Return the course that was asked for; of a training that is resumed its own, with another end and machine."""
    from goalmem_cli.tuning import training

    here = {
        "minutes": options.minutes, "steps": options.steps, "threads": options.threads,
        "save_minutes": options.save_minutes,
    }  # fmt: skip
    if known:
        return training.Course(**{**known["course"], **here})
    return training.Course(
        **here, **_shape(options)._asdict(), seed=options.seed, rate=options.rate,
        tokens=options.tokens or training.room(), dropout=options.dropout, decay=options.decay,
    )  # fmt: skip


def _shape(options: argparse.Namespace) -> Shape:
    """Return how the adapter is to be built: as those to start from, or as was asked for.

    Raises:
        UsageError: there is no such layer.
    """
    from goalmem_cli.tuning import adapter, training

    if options.start:
        return adapter.shape_of(options.start[0])
    layers = tuple(options.layers.split(",")) if options.layers else training.LAYERS
    if unknown := sorted(set(layers) - set(training.LAYERS)):
        raise UsageError(f"no layers are called {', '.join(unknown)}", f"they are {', '.join(training.LAYERS)}")
    return adapter.Shape(options.rank, options.alpha, layers)


def _begun(folder: Path) -> dict[str, Any]:
    """Return what the training in the folder began with.

    Raises:
        InputError: there is none.
    """
    try:
        return dict(json.loads((folder / BEGUN).read_text("utf-8")))
    except (OSError, ValueError) as error:
        hint = "begin one without --resume"
        raise InputError(folder / BEGUN, "", f"no training began there: {error}", hint) from error


def _rank(options: argparse.Namespace) -> None:
    from goalmem_cli.tuning import ranking

    talks, held = split(read_corpus(options.corpus))
    embedder = load_embedder("static")
    weights, bias = ranking.fit(list(ranking.retrievals(talks, embedder)))
    _say(", ".join(f"{name} {weight:.3f}" for name, weight in weights.items()) + f", bias {bias:.3f}")
    unseen = list(ranking.retrievals(held, embedder))
    for name, order in (("as retrieved", ranking.as_retrieved()), ("reranked", list(weights.values()))):
        found = ranking.recall(unseen, order, DEPTHS)
        shares = ", ".join(f"{share:.3f} at {depth}" for depth, share in zip(DEPTHS, found, strict=True))
        _say(f"evidence found for {len(unseen)} held-out queries, {name}: {shares}")


def _idle(options: argparse.Namespace) -> None:
    from goalmem_cli.tuning import idle

    turns = idle.Turns.from_files(options.folders)
    fitted = idle.fit(turns)
    _say(idle.named(fitted))
    told = [("fitted on", turns), *((str(path), idle.Turns.from_files([path])) for path in options.report)]
    for name, each in told:
        left_out, lost = fitted.shares(each)
        _say(f"{name}: {left_out:.1%} of {len(each.are_evidence)} turns left out, {lost:.1%} of those of evidence")


def _calibrate(options: argparse.Namespace) -> None:
    from goalmem_cli.tuning import calibration, card

    fitted, unseen = (
        [each for run in runs for each in calibration.outcomes(run, options.reasoner)]
        for runs in (options.runs, options.check)
    )
    weights, crossed = calibration.fit(fitted)
    checked = calibration.check(unseen, weights) if unseen else None
    for name, line in zip(
        ("weights", "floors"),
        calibration.in_record(options.reasoner, weights, (checked or crossed).floor),
        strict=True,
    ):
        _say(f"{name} of the model's record: {line}")
    _tell_checked("each conversation left out of its own fit", crossed)
    if checked is not None:
        _tell_checked("other questions", checked)
    if options.card is not None:
        made = {
            "weights": weights, "fitted": asdict(crossed), "checked": asdict(checked) if checked is not None else {},
        }  # fmt: skip
        card.add_certainty(options.card, options.reasoner, made)


def _tell_checked(name: str, checked: Checked) -> None:
    _say(
        f"{checked.asked} questions, {name}: expected calibration error {checked.error:.3f}; fewer than a quarter is "
        f"right below {checked.floor:.0%}"
    )
    for each in checked.bins:
        _say(f"  {each.count} answers, {each.certainty:.0%} certain in the mean, {each.right:.0%} right")
    for point in checked.curve:
        _say(
            f"  at least {point.least:.0%}: {point.answered:.0%} answered, {point.right:.0%} of them right; "
            f"F1 {point.f1:.3f}; refused {point.refused:.0%} of the answerable, "
            f"{point.unanswerable_refused:.0%} of the unanswerable"
        )


def _convert(options: argparse.Namespace) -> None:
    from goalmem_cli.tuning import card, training

    base = resolve(BASE).path
    made = _converted(training.load_trained(base, options.folder / CHECKPOINT), base, options.folder)
    if (options.folder / card.RECORD).exists():
        card.update_record(options.folder, made)


def _converted(model: object, base: Path, folder: Path) -> dict[str, object]:
    """Write the adapter's file, checked, and return what the record says of it."""
    from goalmem_cli.tuning import adapter

    file = folder / adapter.NAME
    size = adapter.write_adapter(model, base, file)
    result = adapter.check(model, base, file, json.loads((folder / PROMPTS).read_text("utf-8")))
    _say(f"{file}: {size} bytes; {result}")
    return {
        "base": base.name, "base_digest": file_digest(base), "bytes": size, "digest": file_digest(file),
        "check": _rounded(asdict(result)),
    }  # fmt: skip


def _record(options: argparse.Namespace) -> None:
    from goalmem_cli.tuning import card

    card.add_evaluation(options.folder, options.name, options.figures)


def _variety(options: argparse.Namespace) -> Variety:
    return Variety(years=options.years, people=options.people)


def _rendered(talks: Sequence[Talk], seed: int, variety: Variety) -> Iterator[Example]:
    return render(talks, open_prompts(None, "compact"), load_embedder("static"), seed, variety)


def _sample(examples: list[Tokens], count: int) -> list[Tokens]:
    chance = Random(0)  # noqa: S311 - these are no secrets
    return chance.sample(examples, min(count, len(examples)))


def _tell(done: object) -> None:
    from goalmem_cli.tuning.training import Progress

    if isinstance(done, Progress):
        speed = done.tokens / max(done.seconds, 1e-9)
        _say(
            f"{done.seconds / 60:.1f} min, {done.steps} steps, {done.examples} examples, {speed:.0f} tokens/s, "
            f"rate {done.rate:.1e}: {_losses(done.losses)}"
        )


def _losses(losses: object) -> str:
    return ", ".join(f"{kind} {loss:.3f}" for kind, loss in losses.items()) if isinstance(losses, dict) else ""


def _rounded(losses: dict[str, float]) -> dict[str, float]:
    return {kind: round(loss, 4) for kind, loss in losses.items()}


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()

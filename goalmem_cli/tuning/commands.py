"""The commands of ``python -m goalmem_cli.tuning``: examples, train, convert, record figures, and fit the reranking."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from random import Random

from goalmem_cli.errors import GoalmemError, InputError
from goalmem_cli.models.catalogue import resolve
from goalmem_cli.models.in_process.prompt_tokens import PromptTokens
from goalmem_cli.models.weights.gguf import file_digest
from goalmem_cli.tuning.batches import MIX, Tokens, batches, tokenise
from goalmem_cli.tuning.corpus import HELD_OUT, Talk, read_corpus, split
from goalmem_cli.tuning.example import Example
from goalmem_cli.tuning.rendering import Variety, render
from goalmem_cli.wiring import load_embedder, open_prompts

BASE = "bundled"
DEPTHS = (1, 3, 5, 10)
CHECKPOINT, PROMPTS = "checkpoint", "prompts.json"
"""What training leaves in its folder beside the adapter and its card: the weights, and what they are checked on."""
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
    teach = commands.add_parser("train", help="train, convert, check and describe an adapter")
    teach.add_argument("corpus", type=Path, help="the folder of the corpus")
    teach.add_argument("out", type=Path, help="the folder to write to")
    end = teach.add_mutually_exclusive_group(required=True)
    end.add_argument("--minutes", type=float, help="how long to train")
    end.add_argument("--steps", type=int, help="how many batches to train on")
    teach.add_argument("--seed", type=int, default=1)
    teach.add_argument("--copies", type=int, default=1, help="how many times to render the corpus, under other names")
    teach.add_argument("--rank", type=int, default=16)
    teach.add_argument("--alpha", type=int, default=32)
    teach.add_argument("--rate", type=float, default=4e-4, help="the highest learning rate")
    teach.add_argument("--tokens", type=int, default=1024, help="how many tokens a batch has at most")
    teach.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    teach.add_argument("--mix", type=json.loads, default={}, help='shares of kinds to change: {"read": 0.1}')
    teach.add_argument("--held-out", type=int, default=200, help="how many held-out examples to take the loss of")
    _varied(teach)
    teach.set_defaults(run=_train)
    turn = commands.add_parser("convert", help="convert and check the last weights of a training that was interrupted")
    turn.add_argument("folder", type=Path, help="the folder that train wrote to")
    turn.set_defaults(run=_convert)
    order = commands.add_parser("rank", help="fit the weights by which retrieved turns are reranked, and print them")
    order.add_argument("corpus", type=Path, help="the folder of the corpus")
    order.set_defaults(run=_rank)
    note = commands.add_parser("record", help="put figures of an evaluation into the model card")
    note.add_argument("folder", type=Path, help="the folder that train wrote")
    note.add_argument("name", help="what was measured")
    note.add_argument("figures", type=json.loads, help='a JSON object: {"F1": 0.31}')
    note.set_defaults(run=_record)
    return parser


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


def _train(options: argparse.Namespace) -> None:
    from goalmem_cli.tuning import card, training

    base = resolve(BASE).path
    course = training.Course(
        minutes=options.minutes, steps=options.steps, seed=options.seed, rank=options.rank, alpha=options.alpha,
        rate=options.rate, tokens=options.tokens, threads=options.threads,
    )  # fmt: skip
    talks, held = split(read_corpus(options.corpus))
    vocabulary = PromptTokens(base)
    dropped: Counter[str] = Counter()
    variety = _variety(options)
    copies = (_rendered(talks, options.seed + copy, variety) for copy in range(options.copies))
    examples = list(tokenise(chain.from_iterable(copies), vocabulary, dropped))
    unseen = _sample(list(tokenise(_rendered(held, options.seed, variety), vocabulary, Counter())), options.held_out)
    vocabulary.close()
    if not examples or not unseen:
        missing = "conversation to train on" if not examples else "held-out conversation to check the adapter on"
        raise InputError(options.corpus, "", f"there is no {missing}", f"held out are {', '.join(HELD_OUT)}")
    available = Counter(example.kind for example in examples)
    _say(f"{len(examples)} examples, {sum(map(len, examples))} tokens: {dict(available)}; dropped {dict(dropped)}")
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / PROMPTS).write_text(json.dumps([example.prompt for example in unseen[:8]]), "utf-8")
    model = training.with_adapter(training.load_base(base), course)
    before = training.mean_losses(model, unseen, course.tokens)
    _say(f"held out, before: {_losses(before)}")
    supply = batches(examples, {**MIX, **options.mix}, course.tokens, course.seed)
    done = training.train(model, supply, course, options.out / CHECKPOINT, _tell)
    after = training.mean_losses(model, unseen, course.tokens)
    _say(f"held out, after: {_losses(after)}")
    record = {
        "conversations": len(talks), "copies": options.copies, "variety": asdict(variety),
        "available": dict(available), "dropped": dict(dropped),
        "course": asdict(course), "device": str(training.device()), "steps": done.steps,
        "examples": dict(done.kinds), "tokens": done.tokens, "minutes": round(done.seconds / 60, 1),
        "losses": _rounded(done.losses), "held_out_losses_before": _rounded(before), "held_out_losses": _rounded(after),
        "held_out": HELD_OUT, "versions": {name: version(name) for name in _LIBRARIES}, "evaluation": {},
    }  # fmt: skip
    card.write_record(record | _converted(model, base, options.out), options.out)


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

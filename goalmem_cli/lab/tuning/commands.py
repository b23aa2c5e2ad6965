"""The commands of ``python -m goalmem_cli.lab.tuning``: to prepare, pack, train, convert, record, rank and calibrate.

What renders examples is loaded by the commands that do: a machine that only trains need not have it.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from goalmem_cli.errors import GoalmemError, UsageError, libraries_of
from goalmem_cli.lab.tuning import courses, prepared
from goalmem_cli.lab.tuning.batches import Example, Tokens, tokenise
from goalmem_cli.lab.tuning.courses import BASE, say
from goalmem_cli.logic.roles import ASSISTANT
from goalmem_cli.models.catalogue import resolve
from goalmem_cli.models.weights.gguf import file_digest
from goalmem_cli.store.files import replace_file

if TYPE_CHECKING:
    from goalmem_cli.lab.tuning.calibration import Checked
    from goalmem_cli.lab.tuning.corpus import Talk
    from goalmem_cli.lab.tuning.rendering import Variety

DEPTHS = (10, 20, 60)
LARGE, EVERY = 65_536, 50
"""The size in tokens from which a vocabulary is large; then one reply in `EVERY` is checked against its grammar."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 4 after printing an error."""
    options = _parser().parse_args(arguments)
    try:
        with libraries_of("tuning", "this command"):
            options.run(options)
    except GoalmemError as error:
        say(f"error: {error.message}")
        say(f"hint: {error.hint}")
        return 4
    return 0


def _parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; each sets `run` to its function."""
    parser = argparse.ArgumentParser(prog="python -m goalmem_cli.lab.tuning", description=__doc__)
    commands = parser.add_subparsers(required=True)
    show = commands.add_parser("examples", help="print some examples of each kind, and how many there are")
    show.add_argument("corpus", type=Path, help="the folder of the corpus")
    show.add_argument("--seed", type=int, default=1)
    show.add_argument("--each", type=int, default=2, help="how many of each kind to print")
    _varied(show)
    show.set_defaults(run=_show)
    make = commands.add_parser("prepare", help="render, tokenise and write the examples to train on")
    make.add_argument("out", type=Path, help="the file to write")
    make.add_argument("corpora", type=Path, nargs="+", help="folders of conversations; a repeated one gets other names")
    make.add_argument("--base", default=BASE, help="the model that tokenises them, as --model takes it")
    make.add_argument("--seed", type=int, default=1)
    make.add_argument("--held-out", type=int, default=200, help="on how many held-out examples to measure the loss")
    make.add_argument("--aside", type=int, default=300, help="on how many examples set aside to measure the loss")
    _varied(make)
    make.set_defaults(run=_prepare)
    courses.add_commands(commands)
    order = commands.add_parser("rank", help="fit the weights by which retrieved turns are reranked, and print them")
    order.add_argument("corpus", type=Path, help="the folder of the corpus")
    order.add_argument("minis", type=Path, help="the folder of the minis, with train and held-out in it")
    _out(order, "backbones/relevance.json")
    order.set_defaults(run=_rank)
    chat = commands.add_parser("small-talk", help="fit which turns are never evidence, and print the weights")
    chat.add_argument("folders", type=Path, nargs="+", help="conversations with questions to fit on")
    chat.add_argument(
        "--report",
        type=Path,
        action="append",
        default=[],
        help="other conversations, to report how much evidence is lost there",
    )
    _out(chat, "backbones/small_talk.json")
    chat.set_defaults(run=_small_talk)
    sure = commands.add_parser("calibrate", help="fit how certain answers are to runs on training conversations")
    sure.add_argument("reasoner", help="whose answers")
    sure.add_argument("runs", type=Path, nargs="+", help="folders of `goalmem eval`, with --certainty 0")
    sure.add_argument("--check", type=Path, nargs="+", default=[], help="runs to check the fit on, of other questions")
    sure.add_argument("--card", type=Path, help="the folder of an adapter: add the result to its card")
    sure.add_argument(
        "--out",
        nargs=2,
        default=("", ""),
        metavar=("FILE", "MODEL"),
        help="put them into goalmem_cli/models/bundled.json, for this model",
    )
    sure.set_defaults(run=_calibrate)
    note = commands.add_parser("record", help="put figures of an evaluation into the model card")
    note.add_argument("folder", type=Path, help="the folder that train wrote")
    note.add_argument("name", help="what was measured")
    note.add_argument("figures", type=json.loads, help='a JSON object: {"F1": 0.31}')
    note.set_defaults(run=_record)
    return parser


def _out(command: argparse.ArgumentParser, name: str) -> None:
    command.add_argument("--out", type=Path, metavar="FILE", help=f"write the values, as goalmem_cli/{name} has them")


def _check_out(path: Path | None) -> None:
    """Raise UsageError if no file can be written there: that is told before the long fit."""
    if path is not None and (path.is_dir() or not os.access(path.parent, os.W_OK)):
        raise UsageError(f"--out: {path} cannot be written", "name a file in a folder that exists and may be changed")


def _write(path: Path | None, values: Mapping[str, object]) -> None:
    if path is not None:
        replace_file(path, f"{json.dumps(values, indent=1)}\n".encode())


def _varied(command: argparse.ArgumentParser) -> None:
    command.add_argument("--years", action="store_true", help="move what lies in one memory by 28 years, or not, too")
    command.add_argument("--people", action="store_true", help=argparse.SUPPRESS)


def _show(options: argparse.Namespace) -> None:
    """Print the number, mean tokens and share with an allowed reply of each kind of example, and some examples."""
    from goalmem_cli.lab.tuning.corpus import read_corpus, split
    from goalmem_cli.models.in_process.prompt_tokens import PromptTokens

    talks, _ = split(read_corpus(options.corpus))
    by_kind: dict[str, list[Example]] = {}
    for example in _rendered(talks, options.seed, _variety(options)):
        by_kind.setdefault(example.kind, []).append(example)
    vocabulary = PromptTokens(resolve(BASE).path)
    chance = Random(options.seed)  # noqa: S311 - these are no secrets
    for kind, members in by_kind.items():
        lengths = [len(vocabulary.prompt(e.request)) + len(vocabulary.reply(e.reply)) for e in members]
        allowed = sum(vocabulary.allows(example.request, example.reply) for example in members)
        say(f"{kind}: {len(members)}, {sum(lengths) / len(lengths):.0f} tokens, {allowed / len(members):.1%} allowed")
        for example in chance.sample(members, min(options.each, len(members))):
            say(f"--- {example.case}\n{example.request.growing}{example.request.tail}==> {example.reply}")
    vocabulary.close()


def _prepare(options: argparse.Namespace) -> None:
    """Write the examples of the corpora as tokens; a corpus that is given again is rendered with other names."""
    from goalmem_cli.lab.tuning.corpus import HELD_OUT, read_corpus, split
    from goalmem_cli.models.in_process.prompt_tokens import PromptTokens

    variety, base = _variety(options), resolve(options.base).path
    vocabulary = PromptTokens(base)
    every = EVERY if vocabulary.size > LARGE else 1
    dropped: Counter[str] = Counter()
    parts: dict[str, list[Tokens]] = {part: [] for part in prepared.PARTS}
    names = []
    for number, corpus in enumerate(options.corpora):
        talks, held = split(read_corpus(corpus))
        is_again = corpus in options.corpora[:number]
        names += [] if is_again else [talk.name for talk in talks if not prepared.is_aside(talk.name)]
        say(f"{corpus}: {len(talks)} conversations, {len(held)} held out")
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
    made = prepared.Prepared(tuple(parts["trained"]), tuple(aside), tuple(held_out), about, file_digest(base))
    prepared.write(prepared.check(made, options.corpora[0], HELD_OUT), options.out)
    say(
        f"{len(made.trained)} examples, {sum(map(len, made.trained))} tokens: {dict(made.available)}; "
        f"dropped {dict(dropped)}; {len(made.aside)} aside, {len(made.held_out)} held out"
    )


def _rank(options: argparse.Namespace) -> None:
    """Fit the weights of retrieved turns, print them, and print the recall on held-out conversations."""
    from goalmem_cli.backbones.relevance import BIAS, WEIGHTS, WISH
    from goalmem_cli.lab.tuning import ranking
    from goalmem_cli.lab.tuning.corpus import ASSISTANTS, read_corpus, split
    from goalmem_cli.wiring import load_embedder

    _check_out(options.out)
    retrieved = partial(ranking.retrievals, embedder=load_embedder("static"))
    (corpus, unseen), (talks, aside) = (split(read_corpus(each)) for each in (options.corpus, ASSISTANTS))
    train, held_out = (read_corpus(options.minis / part) for part in ("train", "held-out"))
    short = [each for each in retrieved(train, with_plans=False) if each.with_assistant]
    fitted_on = [*retrieved(corpus), *short, *retrieved(talks)]
    weights, bias = ranking.fit(fitted_on)
    late = zip(ranking.WITH_ASSISTANTS, ranking.fit_assistants(fitted_on, list(WEIGHTS.values()), BIAS), strict=True)
    for told, each in (("", {**weights, "bias": bias}), ("beside the shipped ones: ", dict(late))):
        say(told + ", ".join(f"{name} {weight:.3f}" for name, weight in each.items()))
    say(f"wish is not written: relevance.py sets it to {WISH}")
    _write(options.out, {**{name: each for name, each in weights.items() if name != "wish"}, "bias": bias})
    held = {
        "corpus": list(retrieved(unseen)),
        "minis": list(retrieved(held_out, with_plans=False)),
        "made-up talks": list(retrieved(aside)),
    }
    orders = {"as retrieved": ranking.as_retrieved(), "shipped": WEIGHTS.values(), "fitted": weights.values()}
    for name, found in held.items():
        for side in ("people", ASSISTANT):
            queries = [each for each in found if each.with_assistant == (side == ASSISTANT)]
            for order, values in orders.items() if queries else ():
                shares = zip(DEPTHS, ranking.recall(queries, list(values), DEPTHS), strict=True)
                told = ", ".join(f"{share:.3f} at {depth}" for depth, share in shares)
                say(f"{name}, {side}, {len(queries)} held-out queries, {order}: {told}")


def _small_talk(options: argparse.Namespace) -> None:
    """Fit which turns are never evidence, print the weights, and print the shares left out."""
    from goalmem_cli.lab.tuning import small_talk

    _check_out(options.out)
    turns = small_talk.Turns.from_files(options.folders)
    fitted = small_talk.fit(turns)
    values = small_talk.named(fitted)
    say(json.dumps(values))
    _write(options.out, values)
    told = [("fitted on", turns), *((str(path), small_talk.Turns.from_files([path])) for path in options.report)]
    for name, each in told:
        left_out, lost = fitted.shares(each)
        say(f"{name}: {left_out:.1%} of {len(each.are_evidence)} turns left out, {lost:.1%} of those of evidence")


def _calibrate(options: argparse.Namespace) -> None:
    """Fit certainties to runs, print the weights and how well they fit, and add them to a model card if asked."""
    from goalmem_cli.lab.tuning import calibration, card

    out, model = options.out
    record = calibration.read_record(Path(out), model) if out else None
    _check_out(Path(out) if out else None)
    fitted, unseen = (
        [each for run in runs for each in calibration.outcomes(run, options.reasoner)]
        for runs in (options.runs, options.check)
    )
    weights, crossed = calibration.fit(fitted)
    checked = calibration.check(unseen, weights) if unseen else None
    least = (checked or crossed).floor
    say(f"weights {', '.join(f'{weight:.3f}' for weight in weights)}; floor {least:.2f}")
    if record is not None:
        _write(Path(out), calibration.in_record(record, model, options.reasoner, weights, least))
    _tell_checked("each conversation left out of its own fit", crossed)
    if checked is not None:
        _tell_checked("other questions", checked)
    if options.card is not None:
        made = {
            "weights": weights, "fitted": asdict(crossed), "checked": asdict(checked) if checked is not None else {},
        }  # fmt: skip
        card.add_certainty(options.card, options.reasoner, made)


def _tell_checked(name: str, checked: Checked) -> None:
    """Print how well certainties fit: the error, the bins, and the results by least certainty."""
    say(
        f"{checked.asked} questions, {name}: expected calibration error {checked.error:.3f}; fewer than a quarter is "
        f"right below {checked.floor:.0%}"
    )
    for each in checked.bins:
        say(f"  {each.count} answers, {each.certainty:.0%} certain in the mean, {each.right:.0%} right")
    for point in checked.curve:
        say(
            f"  at least {point.least:.0%}: {point.answered:.0%} answered, {point.right:.0%} of them right; "
            f"F1 {point.f1:.3f}; refused {point.refused:.0%} of the answerable, "
            f"{point.unanswerable_refused:.0%} of the unanswerable"
        )


def _record(options: argparse.Namespace) -> None:
    from goalmem_cli.lab.tuning import card

    card.add_evaluation(options.folder, options.name, options.figures)


def _variety(options: argparse.Namespace) -> Variety:
    from goalmem_cli.lab.tuning.rendering import Variety

    if options.people:
        raise UsageError(
            "--people was removed: it taught to refuse", "leave it out; one reading in eight lacks its evidence"
        )
    return Variety(years=options.years)


def _rendered(talks: Sequence[Talk], seed: int, variety: Variety) -> Iterator[Example]:
    from goalmem_cli.lab.tuning.rendering import render
    from goalmem_cli.wiring import load_embedder, open_prompts

    return render(talks, open_prompts(None, "compact"), load_embedder("static"), seed, variety)


def _sample(examples: list[Tokens], count: int) -> list[Tokens]:
    chance = Random(0)  # noqa: S311 - these are no secrets
    return chance.sample(examples, min(count, len(examples)))

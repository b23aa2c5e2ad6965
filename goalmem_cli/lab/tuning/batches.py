"""Examples as tokens, mixed by kind, packed where their prompts begin alike, and batched by length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import TYPE_CHECKING

from goalmem_cli.ports import Request

if TYPE_CHECKING:
    from goalmem_cli.models.in_process.prompt_tokens import PromptTokens

MIX: Mapping[str, float] = {
    "decompose": 0.3, "read": 0.3, "read none": 0.04, "read together": 0.2, "read step": 0.12, "read step none": 0.04,
}  # fmt: skip
"""The share of each kind among the rows that are drawn."""

WINDOW = 256
"""So many rows are drawn at a time at least, for large batches more, and batched by their lengths."""


@dataclass(frozen=True, slots=True)
class Example:
    """The request that the engine would make, and the reply wanted.

    `kind` is the step, in finer grain where what is learnt differs; `case` the question it comes from. Examples of one
    `group` have the beginning of their prompts in common.
    """

    kind: str
    case: str
    request: Request
    reply: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class Tokens:
    """An example as tokens: what the model is given, and what it should go on with, the end included."""

    kind: str
    prompt: tuple[int, ...]
    reply: tuple[int, ...]
    group: str = ""

    def __len__(self) -> int:
        return len(self.prompt) + len(self.reply)


@dataclass(frozen=True, slots=True)
class Row:
    """Examples computed together: the first `shared` tokens of their prompts once, the rest of each behind them."""

    examples: tuple[Tokens, ...]
    shared: int = 0

    def __len__(self) -> int:
        return self.shared + sum(len(example) - self.shared for example in self.examples)


def packed(examples: Sequence[Tokens]) -> Row:
    """Return the row of examples whose prompts begin alike; a token at least of each prompt is its own."""
    prompts = [example.prompt for example in examples]
    most = min(map(len, prompts)) - 1
    return Row(tuple(examples), next((n for n in range(most) if len({prompt[n] for prompt in prompts}) > 1), most))


def tokenise(
    examples: Iterable[Example], vocabulary: PromptTokens, dropped: Counter[str], every: int = 1
) -> Iterator[Tokens]:
    """Yield the examples as tokens; those that their prompt's grammar would not let the model say are counted.

    One example in `every` is held against its grammar, which takes milliseconds a token where a vocabulary is large.
    """
    for place, example in enumerate(examples):
        if place % every or vocabulary.allows(example.request, example.reply):
            prompt, reply = vocabulary.prompt(example.request), vocabulary.reply(example.reply)
            yield Tokens(example.kind, tuple(prompt), tuple(reply), example.group)
        else:
            dropped[example.kind] += 1


def batches(examples: Sequence[Tokens], mix: Mapping[str, float], most: int, seed: int) -> Iterator[list[Row]]:
    """Yield batches without end: kinds as the mix says, rows alike in length.

    A batch has `most` tokens at most with its padding, or one row. Examples of one group are one row.
    No row of a kind comes again before all others of it have come.
    """
    chance = Random(seed)  # noqa: S311 - these are no secrets
    drawn = _drawn(examples, mix, chance)
    while True:
        window = sorted(islice(drawn, max(WINDOW, most // 8)), key=len)
        ready: list[list[Row]] = []
        for row in window:
            if ready and (len(ready[-1]) + 1) * len(row) <= most:
                ready[-1].append(row)
            else:
                ready.append([row])
        chance.shuffle(ready)
        yield from ready


def rows_of(examples: Iterable[Tokens]) -> Iterator[Row]:
    """Yield the examples as rows: those of a group together, each other alone."""
    groups: dict[str, list[Tokens]] = {}
    for example in examples:
        if example.group:
            groups.setdefault(example.group, []).append(example)
        else:
            yield Row((example,))
    yield from map(packed, groups.values())


def _drawn(examples: Sequence[Tokens], mix: Mapping[str, float], chance: Random) -> Iterator[Row]:
    by_kind: dict[str, list[Row]] = {}
    for row in rows_of(examples):
        by_kind.setdefault(row.examples[0].kind, []).append(row)
    kinds = [kind for kind in by_kind if mix.get(kind, 0.0) > 0]
    weights = [mix[kind] for kind in kinds]
    left: dict[str, list[Row]] = {kind: [] for kind in kinds}
    while True:
        kind = chance.choices(kinds, weights)[0]
        if not left[kind]:
            left[kind] = chance.sample(by_kind[kind], len(by_kind[kind]))
        yield left[kind].pop()

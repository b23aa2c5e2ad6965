"""Examples as tokens, mixed by kind and batched by length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

from goalmem_cli.models.in_process.prompt_tokens import PromptTokens
from goalmem_cli.tuning.example import Example

MIX: Mapping[str, float] = {
    "decompose": 0.15, "decompose again": 0.02, "unify": 0.32, "unify none": 0.36, "refine": 0.03, "stop": 0.01,
    "answer": 0.03, "verdict": 0.02, "read": 0.045, "read none": 0.015,
}  # fmt: skip
"""The share of each kind among the examples that are drawn."""

WINDOW = 256
"""So many examples are drawn at a time at least, for large batches more, and batched by their lengths."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """An example as tokens: what the model is given, and what it should go on with, the end included."""

    kind: str
    prompt: tuple[int, ...]
    reply: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.prompt) + len(self.reply)


def tokenise(examples: Iterable[Example], vocabulary: PromptTokens, dropped: Counter[str]) -> Iterator[Tokens]:
    """Yield the examples as tokens; those that their prompt's grammar would not let the model say are counted."""
    for example in examples:
        if vocabulary.allows(example.request, example.reply):
            prompt, reply = vocabulary.prompt(example.request), vocabulary.reply(example.reply)
            yield Tokens(example.kind, tuple(prompt), tuple(reply))
        else:
            dropped[example.kind] += 1


def batches(examples: Sequence[Tokens], mix: Mapping[str, float], most: int, seed: int) -> Iterator[list[Tokens]]:
    """Yield batches without end: kinds as the mix says, alike in length, of `most` tokens at most with their padding.

    No example of a kind comes again before all others of it have come.
    """
    chance = Random(seed)  # noqa: S311 - these are no secrets
    drawn = _drawn(examples, mix, chance)
    while True:
        window = sorted(islice(drawn, max(WINDOW, most // 8)), key=len)
        ready: list[list[Tokens]] = []
        for example in window:
            if ready and (len(ready[-1]) + 1) * len(example) <= most:
                ready[-1].append(example)
            else:
                ready.append([example])
        chance.shuffle(ready)
        yield from ready


def _drawn(examples: Sequence[Tokens], mix: Mapping[str, float], chance: Random) -> Iterator[Tokens]:
    by_kind: dict[str, list[Tokens]] = {}
    for example in examples:
        by_kind.setdefault(example.kind, []).append(example)
    kinds = [kind for kind in by_kind if mix.get(kind, 0.0) > 0]
    weights = [mix[kind] for kind in kinds]
    left: dict[str, list[Tokens]] = {kind: [] for kind in kinds}
    while True:
        kind = chance.choices(kinds, weights)[0]
        if not left[kind]:
            left[kind] = chance.sample(by_kind[kind], len(by_kind[kind]))
        yield left[kind].pop()

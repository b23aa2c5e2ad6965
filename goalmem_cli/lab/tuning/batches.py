"""Turn examples into tokens, mix them by kind, pack those with the same prompt beginning, and batch them by length."""

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
"""The share of each kind among the drawn rows."""

WINDOW = 256
"""The minimum number of rows to draw and sort by length at a time; larger batches draw more."""


@dataclass(frozen=True, slots=True)
class Example:
    """A request as the engine would make it, with the wanted reply.

    `kind` is the step, split further where the task differs. `case` is the question that it comes from. The prompts of
    one `group` begin alike.
    """

    kind: str
    case: str
    request: Request
    reply: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class Tokens:
    """An example as tokens: the prompt, and the reply with its end token."""

    kind: str
    prompt: tuple[int, ...]
    reply: tuple[int, ...]
    group: str = ""

    def __len__(self) -> int:
        return len(self.prompt) + len(self.reply)


@dataclass(frozen=True, slots=True)
class Row:
    """Examples computed together: the first `shared` tokens of their prompts once, then the rest of each."""

    examples: tuple[Tokens, ...]
    shared: int = 0

    def __len__(self) -> int:
        return self.shared + sum(len(example) - self.shared for example in self.examples)


def packed(examples: Sequence[Tokens]) -> Row:
    """Return the row of examples whose prompts begin alike; at least one token of each prompt stays unshared."""
    prompts = [example.prompt for example in examples]
    most = min(map(len, prompts)) - 1
    return Row(tuple(examples), next((n for n in range(most) if len({prompt[n] for prompt in prompts}) > 1), most))


def tokenise(
    examples: Iterable[Example], vocabulary: PromptTokens, dropped: Counter[str], every: int = 1
) -> Iterator[Tokens]:
    """Yield the examples as tokens; count in `dropped` those whose reply the prompt's grammar forbids.

    Only one example in `every` is checked, since a check takes milliseconds a token with a large vocabulary.
    """
    for place, example in enumerate(examples):
        if place % every or vocabulary.allows(example.request, example.reply):
            prompt, reply = vocabulary.prompt(example.request), vocabulary.reply(example.reply)
            yield Tokens(example.kind, tuple(prompt), tuple(reply), example.group)
        else:
            dropped[example.kind] += 1


def batches(examples: Sequence[Tokens], mix: Mapping[str, float], most: int, seed: int) -> Iterator[list[Row]]:
    """Yield batches endlessly: kinds in the shares of `mix`, rows of similar length together.

    A batch has at most `most` tokens including padding, or one row. The examples of a group form one row. No row of a
    kind repeats before all its other rows have come.
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
    """Yield the examples as rows: each group as one row, every other example alone."""
    groups: dict[str, list[Tokens]] = {}
    for example in examples:
        if example.group:
            groups.setdefault(example.group, []).append(example)
        else:
            yield Row((example,))
    yield from map(packed, groups.values())


def _drawn(examples: Sequence[Tokens], mix: Mapping[str, float], chance: Random) -> Iterator[Row]:
    """Yield rows endlessly: kinds in the shares of `mix`, and each kind's rows in random order, all before a repeat."""
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

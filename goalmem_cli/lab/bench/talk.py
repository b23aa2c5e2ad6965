"""Generated conversations of any length, equal for equal seeds, to measure speed and memory on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import accumulate

from goalmem_cli.lab.bench.stories import WORDS
from goalmem_cli.logic.roles import ASSISTANT, USER
from goalmem_cli.records import Conversation, Turn

TURNS_A_CONVERSATION = 500

_TURNS_A_SESSION = 25
_SHORTEST, _LONGEST = 12, 25
_COMMONEST = 100
_START = datetime(2021, 1, 4, 9)
_NAMES, _WORDS = (WORDS[name].split() for name in ("speakers", "words"))
# the nth word occurs 1/n as often as the first (Zipf's law)
_WEIGHTS = list(accumulate(1 / place for place in range(1, len(_WORDS) + 1)))


def made_up_conversations(turns: int, seed: int = 0, *, has_assistant: bool = False) -> Iterator[Conversation]:
    """Yield conversations of 500 turns each, `turns` turns in total; each seed gives others.

    They are of two people. If `has_assistant`, they are of a user and an assistant, whose answers have about 500 words.
    """
    chance = random.Random(seed)  # noqa: S311 - these are no secrets
    for number, first in enumerate(range(0, turns, TURNS_A_CONVERSATION)):
        name, count = f"talk-{seed}-{number:05}", min(TURNS_A_CONVERSATION, turns - first)
        yield _conversation(name, count, chance, has_assistant=has_assistant)


def made_up_conversation(turns: int, seed: int = 0) -> Conversation:
    """Return one conversation of `turns` turns."""
    return _conversation(f"talk-{seed}", turns, random.Random(seed))  # noqa: S311 - these are no secrets


def made_up_questions(count: int, seed: int = 0) -> list[str]:
    """Return questions, each made of four of the less common words in the generated conversations."""
    chance = random.Random(seed)  # noqa: S311 - these are no secrets
    rarer = _WORDS[_COMMONEST:]
    return [
        f"When did {chance.choice(_NAMES)} {' '.join(chance.choices(rarer, k=3))} the {chance.choice(rarer)}?"
        for _ in range(count)
    ]


def _conversation(name: str, turns: int, chance: random.Random, *, has_assistant: bool = False) -> Conversation:
    """Return a conversation of alternating speakers; with `has_assistant`, every second turn is a long answer."""
    speakers = [USER, ASSISTANT] if has_assistant else chance.sample(_NAMES, 2)
    start = _START + timedelta(days=chance.randrange(1000))
    return Conversation(
        name,
        "made-up",
        tuple(
            Turn(
                name, place // _TURNS_A_SESSION, place, speakers[place % 2],
                _answer(chance) if has_assistant and place % 2 else _said(chance),
                said=start + timedelta(days=place // _TURNS_A_SESSION, minutes=place % _TURNS_A_SESSION),
                role=speakers[place % 2] if has_assistant else None,
            )
            for place in range(turns)
        ),
        own_id=name,
    )  # fmt: skip


def _said(chance: random.Random) -> str:
    words = chance.choices(_WORDS, cum_weights=_WEIGHTS, k=chance.randint(_SHORTEST, _LONGEST))
    middle = len(words) // 2
    text = f"{' '.join(words[:middle])}, {' '.join(words[middle:])}{chance.choice('...?!')}"
    return text[0].upper() + text[1:]


def _answer(chance: random.Random) -> str:
    """Return an assistant's long answer: paragraphs, a list and a block of code."""
    paragraphs = [" ".join(_said(chance) for _ in range(chance.randint(3, 5))) for _ in range(chance.randint(4, 7))]
    items = [f"{number}. {_said(chance)}" for number in range(1, chance.randint(4, 8))]
    code = [f"{'_'.join(chance.choices(_WORDS, k=2))} = {chance.choice(_WORDS)}()" for _ in range(chance.randint(2, 6))]
    return "\n\n".join((*paragraphs, "\n".join(items), "\n".join(("```python", *code, "```"))))

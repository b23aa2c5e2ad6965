"""Generated conversations of any length, equal for equal seeds, to measure speed and memory on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import accumulate

from goalmem_cli.logic.roles import ASSISTANT, USER
from goalmem_cli.records import Conversation, Turn

TURNS_A_CONVERSATION = 500

_TURNS_A_SESSION = 25
_SHORTEST, _LONGEST = 12, 25
_COMMONEST = 100
_START = datetime(2021, 1, 4, 9)
_NAMES = """Alice Ben Cleo Dana Elif Femi Grace Hugo Ines Jonas Kenji Lena Marek Nadia Omar Priya Quinn Rosa Sami Tara
Ugo Vera Wanda Xenia Yusuf Zoe""".split()
_WORDS = """the I to a and you it of in that my is was we for on have with so but they this at be not just me your about
what she he are had all like really think going from one time when out know up were there get can how her would our some
good will been no if did last more got after see him them then day today week work well their back make need has his or
an new home as love great do down too much little people next year never feel way still before said sure now went told
tomorrow yesterday morning night weekend friend friends sister brother mother father kids dinner lunch breakfast coffee
tea latte matcha oat milk sugar bakery cafe restaurant kitchen garden flowers river lake beach mountain forest walk run
bike train station bus ticket flight hotel trip holiday summer winter spring autumn Monday Tuesday Friday Sunday January
March June October doctor dentist clinic medicine cold fever sleep tired early late meeting office project report
deadline boss colleague interview job offer salary budget rent flat house room window door table chair lamp painting
music guitar piano song concert band film series book novel library chapter letter phone laptop screen password email
picture camera photo birthday party present cake candle wedding anniversary dog cat puppy vet bread cheese soup noodles
rice salad apple lemon tomato garlic recipe oven market shop shoes jacket dress colour blue green red yellow small large
cheap expensive beautiful quiet noisy busy free happy sad angry worried excited nervous proud funny strange simple
difficult important school teacher class exam language Spanish Japanese lesson course practice football tennis swimming
yoga race medal team coach weather rain snow wind sunny cloud storm city village street bridge museum gallery theatre
hospital airport bank post police neighbour landlord plumber electrician mechanic engine battery repair broken fixed
lost found bought sold borrowed returned moved started finished planned cancelled forgot remembered promised agreed
decided asked answered called wrote visited cooked painted climbed travelled celebrated Kyoto Lisbon Oslo Momoco Berlin
Lagos Hanoi Toronto Naples Porto""".split()
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

"""Plans of what prompts share: every prompt is evaluated whole, what pays is evaluated once, and nothing else decides."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from goalmem_cli.models.in_process.decoding import LEAST_KEPT, LEAST_SAVED, Fork, Plan, Root, plan
from goalmem_cli.models.in_process.kv_cache import Tokens

SYSTEM = list(range(900, 925))


def tokens(*parts: list[int]) -> Tokens:
    """The parts as one prompt."""
    return np.array([token for part in parts for token in part], dtype=np.int32)


def words(seed: int, count: int) -> list[int]:
    """Tokens that no other seed gives."""
    return [1000 * seed + number for number in range(count)]


def carried_out(made: Plan, prompts: list[Tokens]) -> tuple[int, int]:
    """Carry a plan out on paper; return how many tokens were evaluated, and in how many batches that are not whole."""
    held = {root.place: list(prompts[root.place][: root.end]) for root in made.roots}
    evaluated = sum(map(len, held.values()))
    batches = len(made.roots)
    for level in made.levels:
        for fork in level:
            if fork.place != fork.source:
                assert fork.place not in held and len(held[fork.source]) >= fork.start
                held[fork.place] = held[fork.source][: fork.start]
        for fork in level:
            assert len(held[fork.place]) == fork.start
            held[fork.place] += list(prompts[fork.place][fork.start : fork.end])
            evaluated += fork.end - fork.start
        batches += any(fork.end > fork.start for fork in level)
    assert sorted(held) == list(range(len(prompts)))
    for place, prompt in enumerate(prompts):
        assert held[place] == list(prompt[: len(held[place])]) and len(held[place]) < len(prompt)
        evaluated += len(prompt) - len(held[place])
    assert evaluated == made.cells
    return evaluated, batches


PROMPTS = some.lists(
    some.tuples(
        some.sampled_from([0, 3, 20]), some.lists(some.sampled_from([1, 2]), min_size=1, max_size=40),
        some.sampled_from([0, 30, 140]),
    ),
    min_size=1, max_size=9,
)  # fmt: skip


@given(PROMPTS, some.booleans())
def test_every_prompt_is_evaluated_whole(drawn: list[tuple[int, list[int], int]], can_fork: bool) -> None:
    """Whatever prompts share, each ends up with its own tokens, the last one evaluated for itself."""
    prompts = [tokens([7] * fixed, own, [8] * more) for fixed, own, more in drawn]
    made = plan(prompts, [fixed for fixed, _, _ in drawn], can_fork=can_fork)
    evaluated, _ = carried_out(made, prompts)
    assert evaluated <= sum(map(len, prompts))
    if not can_fork:
        assert made.levels == () and len(made.roots) == len(prompts)


def test_facts_of_one_statement_share_it() -> None:
    """Of eight short prompts about one statement, the statement is evaluated once, then all the rest together."""
    prompts = [tokens(SYSTEM, words(1, 12), words(2 + number, 40)) for number in range(8)]
    made = plan(prompts, [len(SYSTEM)] * 8, can_fork=True)
    assert made.roots == (Root(0, 25),)
    assert made.levels[0] == (Fork(0, 0, 25, 37),)
    assert made.levels[1] == tuple(Fork(place, 0, 37, 37) for place in range(1, 8))
    assert carried_out(made, prompts) == (25 + 12 + 8 * 40, 2)


def test_statements_are_evaluated_together() -> None:
    """Four statements with facts each cost one batch for the statements, not one for every one of them."""
    prompts = [tokens(SYSTEM, words(1 + number // 4, 12), words(9 + number, 40)) for number in range(16)]
    made = plan(prompts, [len(SYSTEM)] * 16, can_fork=True)
    assert carried_out(made, prompts) == (25 + 4 * 12 + 16 * 40, 2)


def test_what_saves_little_is_not_evaluated_by_itself() -> None:
    """A name that two facts begin with is not worth an evaluation of its own; one that many share is."""
    few = [tokens(SYSTEM, words(1, LEAST_SAVED - 1), words(2 + number, 30)) for number in range(2)]
    assert carried_out(plan(few, [25, 25], can_fork=True), few)[1] == 1
    many = [tokens(SYSTEM, words(1, 4), words(2 + number, 30)) for number in range(6)]
    assert carried_out(plan(many, [25] * 6, can_fork=True), many) == (25 + 4 + 6 * 30, 2)


def test_long_prompts_are_roots() -> None:
    """What later calls may go on from is evaluated by itself: of each of several questions its own facts."""
    long = [tokens(SYSTEM, [5], words(1 + number // 2, LEAST_KEPT), words(20 + number, 9)) for number in range(4)]
    short = [tokens(SYSTEM, words(50, 9)), tokens(words(60, 40))]
    made = plan([*long, *short], [25] * 6, can_fork=True)
    assert set(made.roots) == {Root(0, 26 + LEAST_KEPT), Root(2, 26 + LEAST_KEPT), Root(4, 25), Root(5, 25)}
    assert carried_out(made, [*long, *short])[1] == 4


def test_a_prompt_alone_is_cut_after_its_fixed_part() -> None:
    """The rest of it is evaluated in one go, its last token with the others."""
    assert plan([tokens(SYSTEM, words(1, 300))], [25], can_fork=True) == Plan((Root(0, 25),), (), 325)
    assert plan([tokens(SYSTEM)], [25], can_fork=True) == Plan((Root(0, 24),), (), 25)


def test_equal_prompts_share_all_but_the_last_token() -> None:
    """The last is evaluated for each, as what comes after it is wanted of each."""
    prompts = [tokens(SYSTEM, words(1, 30))] * 3
    assert carried_out(plan(prompts, [25] * 3, can_fork=True), prompts)[0] == 25 + 29 + 3

"""Batches: within their tokens, of kinds as the mix says, no example again before its turn."""

from collections import Counter
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.lab.tuning.batches import MIX, WINDOW, Tokens, batches, packed
from tests.conftest import examples

LENGTHS = st.lists(st.tuples(st.sampled_from(sorted(MIX)), st.integers(1, 300), st.integers(1, 40)), min_size=1)


def example(kind: str, prompt: int, reply: int = 2) -> Tokens:
    """Return an example of so many tokens."""
    return Tokens(kind, tuple(range(prompt)), tuple(range(reply)))


def windows(examples: list[Tokens], mix: dict[str, float], count: int, most: int = 400) -> list[Tokens]:
    """Return the examples of the first draws."""
    drawn: list[Tokens] = []
    for batch in batches(examples, mix, most, 1):
        drawn += [example for row in batch for example in row.examples]
        if len(drawn) >= count * WINDOW:
            return drawn
    raise AssertionError("batches came to an end")


@settings(max_examples=examples(25))
@given(lengths=LENGTHS, most=st.integers(50, 600))
def test_batches_stay_within_their_tokens(lengths: list[tuple[str, int, int]], most: int) -> None:
    """A batch has no more tokens than it may, its padding counted; what is longer alone comes alone."""
    examples = [example(*each) for each in lengths]
    for batch in islice(batches(examples, MIX, most, 1), 60):
        assert batch
        assert len(batch) == 1 or len(batch) * max(map(len, batch)) <= most


def test_batches_are_full() -> None:
    """Examples of one length go together as many as the tokens allow."""
    some = [example("unify", 98) for _ in range(10)]
    sizes = [len(batch) for batch in islice(batches(some, {"unify": 1.0}, 450, 1), 64)]

    assert Counter(sizes) == {4: WINDOW // 4}


def test_examples_of_a_batch_are_alike_in_length() -> None:
    """Hardly a batch is mostly padding, however much lengths differ."""
    some = [example("unify", length) for length in range(10, 500, 7)]
    made = list(islice(batches(some, {"unify": 1.0}, 2000, 1), 40))
    padded = sum(len(batch) * max(map(len, batch)) for batch in made)

    assert sum(len(each) for batch in made for each in batch) > 0.85 * padded


def test_kinds_come_as_the_mix_says() -> None:
    """What counts is the mix, not how many examples of a kind there are; a kind without a share never comes."""
    some = [example("unify", 20) for _ in range(500)] + [example("read", 30) for _ in range(5)]
    some += [example("answer", 10), example("stop", 10)]
    drawn = Counter(each.kind for each in windows(some, {"unify": 0.5, "read": 0.3, "answer": 0.2, "stop": 0.0}, 20))

    assert drawn["unify"] / drawn.total() == pytest.approx(0.5, abs=0.03)
    assert drawn["read"] / drawn.total() == pytest.approx(0.3, abs=0.03)
    assert drawn["answer"] / drawn.total() == pytest.approx(0.2, abs=0.03)
    assert "stop" not in drawn


def test_no_example_comes_again_before_all_others_of_its_kind() -> None:
    """After whole windows, no example of a kind was seen twice more than another."""
    some = [example("unify", 20 + number) for number in range(30)]
    some += [example("read", 80 + number) for number in range(7)]
    drawn = Counter((each.kind, len(each)) for each in windows(some, {"unify": 0.8, "read": 0.2}, 1))

    for kind in ("unify", "read"):
        seen = [count for (name, _), count in drawn.items() if name == kind]
        assert max(seen) - min(seen) <= 1
    assert len(drawn) == 37


def test_seed_decides_the_batches() -> None:
    """The same seed gives the same batches, another one others."""
    some = [example("read", 20 + number) for number in range(40)]
    first, again, other = (list(islice(batches(some, MIX, 300, seed), 30)) for seed in (1, 1, 2))

    assert first == again != other


def test_examples_of_a_group_are_one_row() -> None:
    """They are drawn together, and what their prompts have in common counts once."""
    group = [Tokens("read together", (1, 2, 3, number, 9), (5, 6), "talk") for number in (20, 30, 40)]
    alone = Tokens("read together", (1, 2, 3, 50), (5, 6))
    rows = [row for batch in islice(batches([*group, alone], {"read together": 1.0}, 40, 1), 50) for row in batch]

    assert {row.examples for row in rows} == {tuple(group), (alone,)}
    assert {(len(row.examples), row.shared, len(row)) for row in rows} == {(3, 3, 15), (1, 0, 6)}


def test_examples_with_one_prompt_keep_its_last_token() -> None:
    """From it the first token of each reply is said."""
    row = packed([Tokens("read", (1, 2, 3), (reply,), "talk") for reply in (4, 5)])

    assert (row.shared, len(row)) == (2, 6)


def test_mix_is_whole() -> None:
    """The shares of the kinds make one."""
    assert sum(MIX.values()) == pytest.approx(1.0)

"""The key-value cache, against a plain-Python model of what each sequence holds, and against llama.cpp itself."""

from collections.abc import Iterator
from pathlib import Path

import hypothesis.strategies as st
import llama_cpp
import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from goalmem_cli.errors import ModelError
from goalmem_cli.models.in_process.kv_cache import KvCache, Logits, shared_length
from tests.conftest import examples
from tests.models.native_model import Native, loaded

CELLS = 256
SEQUENCES = 6
PROBE = 260
TOKENS = st.lists(st.integers(100, 2000), min_size=1, max_size=40)
PLACE = st.integers(0, SEQUENCES - 1)


@pytest.fixture(scope="module")
def native(bundled_path: Path) -> Iterator[Native]:
    """A small cache over the bundled model, whose batches are shorter than what is put into them."""
    with loaded(bundled_path, context=CELLS, most=SEQUENCES, batch=32) as held:
        yield held


@pytest.fixture(scope="module")
def reference(bundled_path: Path) -> Iterator[Native]:
    """Another one, in which every comparison starts from nothing."""
    with loaded(bundled_path, context=2 * CELLS, most=2, batch=2 * CELLS) as held:
        yield held


@pytest.fixture(autouse=True)
def _empty(native: Native) -> None:
    native.cache.clear()


def fresh_logits(reference: Native, tokens: list[int]) -> Logits:
    """Return the logits after the tokens, evaluated at once in an empty cache."""
    reference.cache.clear()
    return reference.cache.evaluate([(reference.cache.begin(), tokens)])[0]


def assert_alike(found: Logits, fresh: Logits) -> None:
    """Fail unless two outcomes differ by no more than the rounding of quantised weights makes them differ.

    That is 0.3 on average where logits of other tokens differ by 3 and more; the likeliest token stays among the best.
    """
    assert np.sqrt(np.mean((found - fresh) ** 2)) < 0.8
    assert fresh[found.argmax()] > fresh.max() - 2


class Machine(RuleBasedStateMachine):
    """Does at random what a cache can do, and keeps beside it which tokens, in which cells, each sequence should hold."""

    def __init__(self, native: Native, reference: Native) -> None:
        super().__init__()
        native.cache.clear()
        self.native, self.reference, self.cache = native, reference, native.cache
        self.held: dict[int, list[tuple[int, object]]] = {}  # by sequence: each token, and what stands for its cell
        self.kept: list[tuple[list[int], bytes]] = []

    @property
    def room(self) -> int:
        """How many cells no sequence uses."""
        return CELLS - len({id(cell) for held in self.held.values() for _, cell in held})

    def sequence(self, place: int) -> int:
        """Return one of the sequences."""
        return sorted(self.held)[place % len(self.held)]

    @precondition(lambda self: len(self.held) < SEQUENCES)
    @rule(tokens=TOKENS)
    def begin(self, tokens: list[int]) -> None:
        """Begin a sequence, with some tokens where there is room."""
        self.held[sequence := self.cache.begin()] = []
        self.append(sequence, tokens)

    def append(self, *arguments: object) -> None:
        """Evaluate sequences and tokens, given in turns, in one go, as far as there is room."""
        parts: list[tuple[int, list[int]]] = []
        room = self.room
        for sequence, tokens in zip(arguments[::2], arguments[1::2], strict=True):
            assert isinstance(sequence, int) and isinstance(tokens, list)
            if len(tokens) <= room and sequence not in [each for each, _ in parts]:
                parts.append((sequence, tokens))
                room -= len(tokens)
        outcomes = self.cache.evaluate(parts)
        assert len(outcomes) == len(parts)
        for sequence, tokens in parts:
            self.held[sequence] += [(token, object()) for token in tokens]

    @precondition(lambda self: self.held)
    @rule(places=st.tuples(PLACE, PLACE, PLACE), tokens=st.tuples(TOKENS, TOKENS, TOKENS))
    def evaluate(self, places: tuple[int, ...], tokens: tuple[list[int], ...]) -> None:
        """Append to up to three sequences at once."""
        self.append(*(each for pair in zip(map(self.sequence, places), tokens, strict=True) for each in pair))

    @precondition(lambda self: 0 < len(self.held) < SEQUENCES)
    @rule(place=PLACE, share=st.floats(0, 1))
    def fork(self, place: int, share: float) -> None:
        """Fork from anywhere in a sequence."""
        source = self.sequence(place)
        length = round(share * len(self.held[source]))
        self.held[self.cache.fork(source, length)] = self.held[source][:length]

    @precondition(lambda self: self.held)
    @rule(place=PLACE, share=st.floats(0, 1))
    def cut(self, place: int, share: float) -> None:
        """Cut a sequence anywhere."""
        sequence = self.sequence(place)
        length = round(share * len(self.held[sequence]))
        assert self.cache.cut(sequence, length)
        self.held[sequence] = self.held[sequence][:length]

    @precondition(lambda self: self.held)
    @rule(place=PLACE)
    def drop(self, place: int) -> None:
        """Drop a sequence."""
        sequence = self.sequence(place)
        self.cache.drop(sequence)
        del self.held[sequence]

    @precondition(lambda self: any(self.held.values()))
    @rule(place=PLACE)
    def save(self, place: int) -> None:
        """Take a sequence's state."""
        sequence = self.sequence(place)
        if self.held[sequence]:
            self.kept.append(([token for token, _ in self.held[sequence]], self.cache.state(sequence)))

    @precondition(lambda self: self.kept and len(self.held) < SEQUENCES)
    @rule(place=st.integers(0, 99))
    def restore(self, place: int) -> None:
        """Restore a state, which is refused where there is no room for it."""
        tokens, state = self.kept[place % len(self.kept)]
        sequence = self.cache.restore(np.array(tokens, dtype=np.int32), state)
        assert (sequence is not None) == (len(tokens) <= self.room)
        if sequence is not None:
            self.held[sequence] = [(token, object()) for token in tokens]

    @invariant()
    def agrees(self) -> None:
        """The cache, llama.cpp and the plain model say the same."""
        assert self.cache.room == self.room
        memory = llama_cpp.llama_get_memory(self.native.context)
        for sequence in range(SEQUENCES):
            held = [token for token, _ in self.held.get(sequence, [])]
            assert llama_cpp.llama_memory_seq_pos_max(memory, sequence) == len(held) - 1
            if sequence in self.held:
                assert self.cache.tokens(sequence).tolist() == held

    def teardown(self) -> None:
        """What each sequence goes on with is what it would go on with had its tokens been evaluated afresh."""
        for sequence, held in self.held.items():
            tokens = [*(token for token, _ in held), PROBE]
            if self.cache.room:
                assert_alike(self.cache.evaluate([(sequence, [PROBE])])[0], fresh_logits(self.reference, tokens))
                self.cache.cut(sequence, len(held))


def test_the_cache_holds_what_it_says(native: Native, reference: Native) -> None:
    """After any beginning, forking, cutting, dropping and restoring, tokens, room and what comes next are right."""

    class OverThese(Machine):
        def __init__(self) -> None:
            super().__init__(native, reference)

    run_state_machine_as_test(
        OverThese, settings=settings(max_examples=examples(12), stateful_step_count=20, deadline=None)
    )


@pytest.mark.slow
def test_room_is_what_fits(native: Native) -> None:
    """With forks and cuts, exactly `room` tokens more are taken, and one more is an error that says so."""
    cache = native.cache
    source = cache.begin()
    cache.evaluate([(source, [300] * 100)])
    fork = cache.fork(source, 60)
    cache.evaluate([(fork, [400] * 50)])
    cache.cut(source, 80)
    assert cache.room == CELLS - 80 - 50
    cache.evaluate([(fork, [500] * cache.room)])
    assert cache.room == 0
    with pytest.raises(ModelError, match="cannot go on"):
        cache.evaluate([(source, [600])])
    cache.drop(fork)
    assert cache.room == CELLS - 80
    cache.evaluate([(source, [700] * cache.room)])


def test_each_part_gets_its_own_outcome(native: Native, reference: Native) -> None:
    """The logits come in the order of the parts, though these are spread over several batches."""
    parts = [[500 + 10 * number + place for place in range(length)] for number, length in enumerate((1, 45, 3, 70))]
    outcomes = native.cache.evaluate([(native.cache.begin(), tokens) for tokens in parts])
    for tokens, outcome in zip(parts, outcomes, strict=True):
        assert_alike(outcome, fresh_logits(reference, tokens))
    others = [fresh_logits(reference, tokens) for tokens in parts]
    assert all(np.sqrt(np.mean((outcomes[0] - other) ** 2)) > 1 for other in others[1:])


def test_nothing_is_evaluated_for_nothing(native: Native) -> None:
    """No parts give no outcomes."""
    assert native.cache.evaluate([]) == []


def test_what_does_not_fit_leaves_the_others(native: Native, reference: Native) -> None:
    """After an evaluation that failed, its sequence can be dropped, and the other ones go on as before."""
    cache = native.cache
    kept, failed = cache.begin(), cache.begin()
    cache.evaluate([(kept, list(range(900, 960)))])
    with pytest.raises(ModelError):
        cache.evaluate([(failed, [300] * CELLS)])
    cache.drop(failed)
    assert cache.room == CELLS - 60
    assert_alike(cache.evaluate([(kept, [PROBE])])[0], fresh_logits(reference, [*range(900, 960), PROBE]))


def test_bytes_that_are_no_state_are_refused(native: Native, reference: Native) -> None:
    """Truncated, garbled, foreign and empty bytes, and those of other tokens, give no sequence and take no room."""
    cache = native.cache
    sequence = cache.begin()
    tokens = np.arange(1000, 1040, dtype=np.int32)
    cache.evaluate([(sequence, tokens.tolist())])
    state = cache.state(sequence)
    wrong = [b"", b"x", b"x" * 100, state[:-1], state[: len(state) // 2], state + b"xx", bytes(len(state))]
    wrong += [bytes([state[0] ^ 255, *state[1:]])]
    assert [cache.restore(tokens, bad) for bad in wrong] == [None] * len(wrong)
    assert cache.restore(tokens[:-1], state) is None
    assert cache.room == CELLS - len(tokens)
    good = cache.restore(tokens, state)
    assert good is not None
    assert_alike(cache.evaluate([(good, [PROBE])])[0], fresh_logits(reference, [*tokens.tolist(), PROBE]))


def test_a_state_fits_between_what_is_there(native: Native, reference: Native) -> None:
    """A state is restored into cells that lie apart from one another."""
    cache = native.cache
    sequences = [cache.begin() for _ in range(4)]
    for place in range(4):
        for sequence in sequences:
            cache.evaluate(
                [(sequence, list(range(1000 + 20 * sequence + 4 * place, 1016 + 20 * sequence + 4 * place)))]
            )
    tokens, state = cache.tokens(sequences[1]), cache.state(sequences[1])
    cache.drop(sequences[1])
    assert cache.room == 64
    restored = cache.restore(tokens, state)
    assert restored is not None and cache.room == 0
    cache.drop(sequences[0])
    assert_alike(cache.evaluate([(restored, [PROBE])])[0], fresh_logits(reference, [*tokens.tolist(), PROBE]))


def test_a_model_that_cannot_be_cut_forks_whole_sequences(bundled_path: Path, reference: Native) -> None:
    """Where a sequence has one state (a recurrent model), a fork of all of it goes on as the first would."""
    tokens = list(range(1000, 1030))
    with loaded(bundled_path, context=CELLS, most=3, can_cut=False) as stepwise:
        cache = stepwise.cache
        sequence = cache.begin()
        cache.evaluate([(sequence, tokens)])
        fork = cache.fork(sequence, len(tokens))
        assert cache.tokens(fork).tolist() == tokens
        assert_alike(cache.evaluate([(fork, [PROBE])])[0], fresh_logits(reference, [*tokens, PROBE]))


@pytest.mark.parametrize(
    ("left", "right", "length"),
    [
        ([], [], 0),
        ([1], [], 0),
        ([1, 2], [1, 2], 2),
        ([1, 2], [1, 2, 3], 2),
        ([2, 1], [3, 1], 0),
        ([1, 2, 3], [1, 9, 3], 1),
    ],
)
def test_a_shared_length_ends_at_the_first_difference(left: list[int], right: list[int], length: int) -> None:
    """What two begin with alike ends where they differ, or where one ends."""
    arrays = np.array(left, dtype=np.int32), np.array(right, dtype=np.int32)
    assert shared_length(*arrays) == shared_length(*arrays[::-1]) == length


def test_a_cleared_cache_is_empty(native: Native) -> None:
    """After clearing, all room and all sequences are there again."""
    cache: KvCache = native.cache
    cache.evaluate([(cache.begin(), [300] * 20) for _ in range(SEQUENCES)])
    cache.clear()
    assert cache.room == CELLS
    cache.evaluate([(cache.begin(), [300] * 20) for _ in range(SEQUENCES)])
    assert cache.room == CELLS - 20 * SEQUENCES

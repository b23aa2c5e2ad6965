"""Greedy sampling under a grammar, against a plain search of the whole vocabulary."""

import ctypes
from collections.abc import Iterator
from pathlib import Path

import llama_cpp
import numpy as np
import pytest

from goalmem_cli.errors import ModelError
from goalmem_cli.models.in_process.kv_cache import Logits
from goalmem_cli.models.in_process.sampling import KEPT_GRAMMARS, LIKELIEST, Grammars, grammar_text
from goalmem_cli.models.in_process.template import Piece
from goalmem_cli.models.in_process.vocabulary import Vocabulary
from goalmem_cli.ports import GrammarShape, JsonShape
from tests.models.native_model import loaded

LINE = GrammarShape('root ::= "Answer: " [a-zA-Z ]{1,30} "\\n"')
ANY = GrammarShape("root ::= [^\\x00]*")
VERDICT = JsonShape(
    {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": {"enum": ["F1", "F12"]}}, "why": {"type": "string"}},
        "required": ["facts", "why"],
    }
)


@pytest.fixture(scope="module")
def vocabulary(bundled_path: Path) -> Iterator[Vocabulary]:
    """The bundled model's vocabulary."""
    with loaded(bundled_path, context=64, batch=16) as held:
        yield held.vocabulary


@pytest.fixture
def grammars(vocabulary: Vocabulary) -> Iterator[Grammars]:
    """Grammars over it."""
    made = Grammars(llama_cpp, vocabulary)
    yield made
    made.close()


class PlainGrammar:
    """A grammar that is tried on every token, one reply long, compiled for that reply alone."""

    def __init__(self, vocabulary: Vocabulary, shape: JsonShape | GrammarShape) -> None:
        self._vocabulary = vocabulary
        text = grammar_text(shape).encode()
        self._sampler = llama_cpp.llama_sampler_init_grammar(vocabulary.pointer, text, b"root")

    def admitted(self) -> list[int]:
        """Return every token that may come next, in order, but for control tokens."""
        tokens = (llama_cpp.llama_token_data * self._vocabulary.size)()
        for token, entry in enumerate(tokens):
            entry.id, entry.logit = token, 0.0
        array = llama_cpp.llama_token_data_array(data=tokens, size=len(tokens), selected=-1, sorted=False)
        llama_cpp.llama_sampler_apply(self._sampler, ctypes.byref(array))
        admitted = np.flatnonzero(np.array([entry.logit for entry in tokens]) == 0.0)
        return [token for token in admitted.tolist() if self._vocabulary.is_sayable(token)]

    def best(self, logits: Logits) -> int:
        """Return the first of the most probable tokens that may come next."""
        return max(self.admitted(), key=lambda token: (logits[token], -token))

    def accept(self, token: int) -> None:
        """Go on after the token."""
        llama_cpp.llama_sampler_accept(self._sampler, token)

    def close(self) -> None:
        """Give the memory back."""
        llama_cpp.llama_sampler_free(self._sampler)


def random_logits(size: int, seed: int, levels: int | None) -> Logits:
    """Return logits that a model could give; with `levels`, of so few values that many are equal."""
    numbers = np.random.default_rng(seed)
    drawn = numbers.normal(0, 4, size) if levels is None else numbers.integers(0, levels, size)
    return drawn.astype(np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("levels", [None, 3, 200])
@pytest.mark.parametrize("shape", [LINE, VERDICT, ANY], ids=["line", "json", "any"])
def test_the_choice_is_the_best_of_the_whole_vocabulary(
    vocabulary: Vocabulary, grammars: Grammars, shape: JsonShape | GrammarShape, levels: int | None
) -> None:
    """Whatever the logits, the choice is the most probable token that the grammar admits; of equals the first."""
    plain = PlainGrammar(vocabulary, shape)
    with grammars.of(shape) as grammar:
        for seed in range(12):
            logits = random_logits(vocabulary.size, seed, levels)
            best = plain.best(logits)
            assert grammar.choose(logits.copy()) == best
            if vocabulary.is_end(best):
                break
            grammar.accept(best)
            plain.accept(best)
    plain.close()


SHORT = GrammarShape('root ::= "none" | "x = " [^;\\n]{1,8}')
VERDICTS = JsonShape({"type": "object", "properties": {"a": {"enum": ["yes", 1]}}, "required": ["a"]})


@pytest.mark.slow
@pytest.mark.parametrize("shape", [LINE, VERDICTS, SHORT, ANY], ids=["line", "json", "short", "any"])
def test_a_reply_is_over_where_only_the_end_may_follow(
    vocabulary: Vocabulary, grammars: Grammars, shape: JsonShape | GrammarShape
) -> None:
    """That is said after any token, and the same when it is known from an earlier reply, exactly where it is so."""
    outcomes = []
    for seed in (0, 1, 0, 1):
        plain = PlainGrammar(vocabulary, shape)
        with grammars.of(shape) as grammar:
            for step in range(12):
                token = plain.best(random_logits(vocabulary.size, 40 * seed + step, None))
                if vocabulary.is_end(token):
                    break
                grammar.accept(token)
                plain.accept(token)
                is_over = all(map(vocabulary.is_end, plain.admitted()))
                assert grammar.is_over() == is_over
                outcomes.append(is_over)
        plain.close()
    assert False in outcomes and (True in outcomes or shape in (ANY, LINE))


@pytest.mark.parametrize(("word", "is_over"), [("none", True), ("x = May", False), ("x = May 2023", True)])
def test_short_replies_are_over(vocabulary: Vocabulary, grammars: Grammars, word: str, is_over: bool) -> None:
    """After none nothing may come; a value may go on as far as its length."""
    for _ in range(2):
        with grammars.of(SHORT) as grammar:
            for token in vocabulary.tokens(Piece(word, is_content=True)):
                assert not grammar.is_over()
                grammar.accept(token)
            assert grammar.is_over() == is_over


@pytest.mark.parametrize("before", [0, 1, LIKELIEST - 1, LIKELIEST, 5000])
def test_a_token_far_down_is_found(vocabulary: Vocabulary, grammars: Grammars, before: int) -> None:
    """However many likelier tokens the grammar refuses, the one that it admits is chosen."""
    (wanted,) = vocabulary.tokens(Piece("yes", is_content=True))
    letters = np.array([token for token in range(1000, 20_000) if not vocabulary.text([token]).startswith("y")])
    logits = np.full(vocabulary.size, -50, dtype=np.float32)
    logits[letters[:before]] = 5
    logits[wanted] = 1
    with grammars.of(GrammarShape('root ::= "yes"')) as grammar:
        assert grammar.choose(logits) == wanted


def test_control_tokens_are_not_chosen(vocabulary: Vocabulary, grammars: Grammars) -> None:
    """Of markers, only one that ends the reply may be chosen, and only where the reply may end."""
    (starts,) = vocabulary.tokens(Piece("<|im_start|>", is_content=False))
    (ends,) = vocabulary.tokens(Piece("<|im_end|>", is_content=False))
    (word,) = vocabulary.tokens(Piece("yes", is_content=True))
    logits = np.zeros(vocabulary.size, dtype=np.float32)
    logits[[starts, ends, word]] = 9, 8, 7
    with grammars.of(ANY) as grammar:
        assert grammar.choose(logits.copy()) == ends
    with grammars.of(GrammarShape('root ::= "yes"')) as grammar:
        assert grammar.choose(logits.copy()) == word
        grammar.accept(word)
        assert vocabulary.is_end(grammar.choose(logits.copy()))


@pytest.mark.parametrize("logits", [-np.inf, np.nan])
def test_no_way_to_go_on_is_an_error(vocabulary: Vocabulary, grammars: Grammars, logits: float) -> None:
    """Where no token is left, or the logits are no numbers, that is an error with a hint."""
    with grammars.of(LINE) as grammar, pytest.raises(ModelError, match="no possible token") as raised:
        grammar.choose(np.full(vocabulary.size, logits, dtype=np.float32))
    assert raised.value.hint


def test_a_grammar_that_admits_nothing_is_an_error(vocabulary: Vocabulary, grammars: Grammars) -> None:
    """A grammar of characters that no token has is an error, and the next grammar works."""
    with grammars.of(GrammarShape("root ::= [\\x00]")) as grammar, pytest.raises(ModelError, match="no possible token"):
        grammar.choose(random_logits(vocabulary.size, 1, None))
    with grammars.of(GrammarShape('root ::= "yes"')) as grammar:
        assert vocabulary.text([grammar.choose(random_logits(vocabulary.size, 1, None))]) in ("y", "ye", "yes")


@pytest.mark.parametrize("grammar", ["root ::= (", 'other ::= "a"', "root ::= nowhere", "root ::= root"])
def test_a_wrong_grammar_is_an_error(grammars: Grammars, grammar: str) -> None:
    """What llama.cpp does not take is refused when asked for, and is refused again the next time."""
    for _ in range(2):
        with pytest.raises(ModelError), grammars.of(GrammarShape(grammar)):
            pass


def test_copies_are_independent(vocabulary: Vocabulary, grammars: Grammars) -> None:
    """Two replies of one shape go on apart from each other, and a later one starts from the beginning."""
    shape = GrammarShape('root ::= ("a" | "b") [0-9] "\\n"')
    logits = random_logits(vocabulary.size, 3, None)
    with grammars.of(shape) as first, grammars.of(shape) as second:
        start = first.choose(logits.copy())
        assert vocabulary.text([start]) in ("a", "b")
        first.accept(start)
        assert vocabulary.text([first.choose(logits.copy())]).isdigit()
        assert second.choose(logits.copy()) == start
    with grammars.of(shape) as third:
        assert third.choose(logits.copy()) == start


class Counting:
    """llama.cpp, whose compilations are counted, and what of them is not freed."""

    def __init__(self) -> None:
        self.compiled = 0
        self.alive = 0

    def __getattr__(self, name: str) -> object:
        return getattr(llama_cpp, name)

    def llama_sampler_init_grammar(self, *arguments: object) -> object:
        """Compile, and count."""
        self.compiled += 1
        self.alive += 1
        return llama_cpp.llama_sampler_init_grammar(*arguments)

    def llama_sampler_clone(self, sampler: object) -> object:
        """Copy, and count."""
        self.alive += 1
        return llama_cpp.llama_sampler_clone(sampler)

    def llama_sampler_free(self, sampler: object) -> None:
        """Free, and count."""
        self.alive -= 1
        llama_cpp.llama_sampler_free(sampler)


def test_a_grammar_is_compiled_once(vocabulary: Vocabulary) -> None:
    """Replies of the same shape share one compilation; the least recently used ones go, and all is freed at the end."""
    native = Counting()
    grammars = Grammars(native, vocabulary)
    shapes = [GrammarShape(f'root ::= "{number}"') for number in range(KEPT_GRAMMARS + 1)]
    used: list[GrammarShape | JsonShape] = [*shapes[:-1], shapes[0], VERDICT, JsonShape(dict(VERDICT.schema)), VERDICT]
    for shape in used:
        with grammars.of(shape):
            pass
    assert native.compiled == KEPT_GRAMMARS + 1  # with the last, the second has gone, as the first was used again
    assert native.alive == KEPT_GRAMMARS
    with grammars.of(shapes[0]), grammars.of(VERDICT):
        assert native.compiled == KEPT_GRAMMARS + 1
    with grammars.of(shapes[1]):
        assert native.compiled == KEPT_GRAMMARS + 2
    grammars.close()
    assert native.alive == 0


def test_a_grammar_in_use_may_go(vocabulary: Vocabulary) -> None:
    """A reply goes on though its grammar is no longer among those kept."""
    grammars = Grammars(llama_cpp, vocabulary)
    logits = random_logits(vocabulary.size, 4, None)
    with grammars.of(GrammarShape('root ::= "yes"')) as grammar:
        for number in range(KEPT_GRAMMARS + 1):
            with grammars.of(GrammarShape(f'root ::= "{number}"')):
                pass
        assert vocabulary.text([grammar.choose(logits)]) in ("y", "ye", "yes")
    grammars.close()

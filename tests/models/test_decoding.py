"""Several requests in one call: their replies, what is evaluated for them, and what errors and interrupts leave."""

import _thread
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from goalmem_cli.errors import ContextOverflow, ModelError
from goalmem_cli.models.in_process.decoding import LEAST_KEPT, LEAST_SAVED, DecodingPlan, Fork, Root, plan
from goalmem_cli.models.in_process.kv_cache import Tokens
from goalmem_cli.models.in_process.llama import LlamaModel
from goalmem_cli.models.in_process.template import ChatTemplate, Piece
from goalmem_cli.models.weights.gguf import read_header
from goalmem_cli.ports import Completion, GrammarShape, Request
from tests.models.native_model import Interrupting, assembled, loaded
from tests.models.varied import LONG, VARIED, chosen, person, told

YES = GrammarShape('root ::= "yes"')
STORY = "".join(f"F{n}: On day {n} somebody walked past the old mill and counted {n} boats.\n" for n in range(1, 31))


@pytest.fixture
def made(weights: Path) -> Iterator[Callable[..., LlamaModel]]:
    """Makes models that know nothing yet, and closes them."""
    models: list[LlamaModel] = []

    def make(context: int = 2048, parallel: int = 8) -> LlamaModel:
        models.append(LlamaModel.from_file(weights, context=context, threads=1, parallel=parallel))
        return models[-1]

    yield make
    for model in models:
        model.close()


def said(replies: Sequence[Completion]) -> list[tuple[str, bool]]:
    """Return what the replies say, and whether to the end."""
    return [(reply.text, reply.is_complete) for reply in replies]


def evaluated(replies: Sequence[Completion]) -> int:
    """Return how many tokens of prompts were evaluated."""
    return sum(reply.prompt_tokens - reply.cached_tokens for reply in replies)


def yes(growing: str, tail: str, step: str = "s", max_tokens: int = 4) -> Request:
    """A request whose only reply is yes."""
    return Request(step, f"You are step {step} and you say yes.", (), growing, tail, YES, max_tokens)


@pytest.fixture(scope="module")
def one_by_one(weights: Path) -> list[tuple[str, bool]]:
    """What a model says to the varied requests, each alone and before all others."""
    replies = []
    for request in VARIED:
        model = LlamaModel.from_file(weights, context=2048, threads=1)
        replies += model.complete([request])
        model.close()
    return said(replies)


@pytest.mark.slow
def test_one_by_one_the_model_is_right(one_by_one: list[tuple[str, bool]]) -> None:
    """The model copies what it is told to, to the end: the other tests compare real replies."""
    assert all(is_complete for _, is_complete in one_by_one)
    assert one_by_one[0][0] == one_by_one[10][0] == '{"name": "Anna", "city": "Lyon"}'
    assert [one_by_one[place][0] for place in (2, 5, 8, 11)] == ["no", "yes", "no", "yes"]
    assert one_by_one[7][0] == "- house\n- tree\n- river\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("context", "parallel"), [(2048, 64), (2048, 1), (512, 8), (384, 3)], ids=lambda value: str(value)
)
def test_together_as_one_by_one(
    made: Callable[..., LlamaModel], one_by_one: list[tuple[str, bool]], context: int, parallel: int
) -> None:
    """Twelve requests of three steps get the replies that each gets alone, in order: all at once, or as room permits."""
    model = made(context, parallel)
    assert said(model.complete(VARIED)) == one_by_one
    assert said(model.complete(VARIED[::-1])) == one_by_one[::-1]


def sure(word: str, tail: str = "Is it so?") -> Request:
    """A request that can only be answered by the word; free where that is empty."""
    shape = GrammarShape(f'root ::= "{word}"' if word else "root ::= [^\\x00]*")
    return Request("sure", "You say yes or no.", (), STORY[:200], tail, shape, 1)


def test_the_certainty_is_the_models_own(made: Callable[..., LlamaModel]) -> None:
    """It is the probability of the first token before any grammar: highest for what the model says when it is free."""
    model = made()
    free, *forced = (model.complete([sure(word)])[0] for word in ("", "yes", "no", "Yes", "No"))
    certainties = [reply.first_token_probability or 0.0 for reply in forced]
    assert 0 < sum(certainties) <= 1 and len(set(certainties)) == len(certainties)
    assert free.first_token_probability is not None and free.first_token_probability >= max(certainties)
    together = model.complete([sure("yes"), sure("no"), sure("yes", "Is it?")])
    assert [reply.first_token_probability for reply in together[:2]] == pytest.approx(certainties[:2], abs=0.01)


def test_the_certainty_is_what_the_logits_say(weights: Path) -> None:
    """It is the softmax of what llama.cpp computes after the prompt, at the token that the grammar lets through."""
    request = sure("yes")
    with loaded(weights, context=512, most=2, batch=512) as held:
        reply = assembled(weights, held, context=512, parallel=2).complete([request])[0]
        template = ChatTemplate(
            str(read_header(weights).values["tokenizer.chat_template"]), "<|im_start|>", "<|im_end|>"
        )
        prompt, fixed = held.vocabulary.prompt(template.pieces(request))
        (token,) = held.vocabulary.tokens(Piece("yes", is_content=True))
        held.cache.clear()
        sequence = held.cache.begin()
        held.cache.evaluate([(sequence, prompt[:fixed])])
        (logits,) = held.cache.evaluate([(sequence, prompt[fixed:])])
    weights_of = np.exp(logits.astype(np.float64) - logits.max())
    assert reply.first_token_probability == pytest.approx(weights_of[token] / weights_of.sum(), rel=1e-9)


def test_the_likelihood_is_of_the_whole_reply(made: Callable[..., LlamaModel]) -> None:
    """It is the product over the tokens: no more than the first one's, and less for each that is said after it."""
    model = made()
    short, long = (model.complete([replace(sure(words), max_tokens=8)])[0] for words in ("yes", "yes, I do"))
    assert short.completion_tokens == 1 and short.likelihood == short.first_token_probability
    assert long.completion_tokens > 1 and long.first_token_probability == pytest.approx(
        short.first_token_probability, rel=1e-6
    )
    assert long.likelihood is not None and short.likelihood is not None and 0 < long.likelihood < short.likelihood


def test_no_requests_give_no_replies(made: Callable[..., LlamaModel]) -> None:
    """A call may be empty."""
    assert made(512).complete([]) == []


@pytest.mark.slow
def test_more_than_fit_are_all_answered(made: Callable[..., LlamaModel]) -> None:
    """Many requests, most of which take more than half of the context, are answered one after the other."""
    model = made(512, 8)
    requests = [yes(STORY[: 90 * (number % 9)], f"Number {number}.", f"s{number % 4}", 300) for number in range(14)]
    replies = model.complete(requests)
    assert said(replies) == [("yes", True)] * 14
    assert sum(reply.prompt_tokens + 300 > 256 for reply in replies) > 7


@pytest.mark.slow
def test_a_context_filled_to_the_last_token(made: Callable[..., LlamaModel]) -> None:
    """Replies that use up all that is left beside their prompts are cut, not refused, whatever shares the context."""
    endless = GrammarShape("root ::= [a-z ] root")
    model = made(256, 4)
    requests = [
        Request("s", "S", (), STORY[: 70 * n], f"{n}", endless, size)
        for n, size in ((6, 999), (6, 60), (1, 60), (6, 999))
    ]
    for _ in range(2):
        replies = model.complete(requests)
        assert [reply.prompt_tokens + reply.completion_tokens for reply in (replies[0], replies[3])] == [256, 256]
        assert [reply.completion_tokens for reply in replies[1:3]] == [60, 60]


@pytest.mark.slow
def test_many_steps_with_nothing_alike(made: Callable[..., LlamaModel]) -> None:
    """Call after call of as many steps as are decoded at once: there are always sequences left."""
    model = made(2048, 8)
    for call in range(6):
        assert said(model.complete([yes("", "", f"{call}-{place}") for place in range(8)])) == [("yes", True)] * 8


@pytest.mark.slow
def test_what_prompts_share_is_evaluated_once(made: Callable[..., LlamaModel]) -> None:
    """Of a cold model, the prompts' common beginnings cost their tokens once, however deep they branch."""
    parts = [("", "one"), ("", "two"), ("", "three")]
    branches = [
        (STORY[:900] + middle, tail) for middle in (STORY[900:1500], "Later. " + STORY[1500:2000]) for _, tail in parts
    ]
    lone = made()
    (base,) = lone.complete([yes(STORY[:900], "")])
    model = made(4096)
    replies = model.complete([yes(*branch) for branch in branches])
    assert replies[0].cached_tokens == 0
    first, second = replies[0].prompt_tokens, replies[3].prompt_tokens
    shared = base.prompt_tokens - 8  # without the words of the template at the end
    assert first + (second - shared) - 12 <= evaluated(replies) <= first + (second - shared) + 6 * 20
    assert evaluated(replies) < 0.4 * sum(reply.prompt_tokens for reply in replies)


def test_the_same_request_many_times(made: Callable[..., LlamaModel]) -> None:
    """Equal prompts are evaluated once but for the last token, and get equal replies."""
    model = made()
    replies = model.complete([told(STORY[:600], "What happened?")] * 5)
    assert len(set(said(replies))) == 1
    assert [reply.prompt_tokens - reply.cached_tokens for reply in replies[1:]] == [1] * 4


@pytest.mark.slow
def test_questions_under_way_together_go_on(made: Callable[..., LlamaModel]) -> None:
    """Of several questions that are worked on in turns, each goes on from its own facts, not from one of them only."""
    model = made(4096)
    facts = [STORY.replace("mill", place)[:1200] for place in ("mill", "church", "tower")]
    first = model.complete([yes(f"{number}. {text}", "First.") for number, text in enumerate(facts)])
    second = model.complete([yes(f"{number}. {text}More came.\n", "Second.") for number, text in enumerate(facts)])
    assert all(reply.prompt_tokens - reply.cached_tokens <= 80 for reply in second)
    assert all(reply.prompt_tokens > 300 for reply in first)


def test_one_prompt_too_long_stops_the_call_before_it_starts(made: Callable[..., LlamaModel]) -> None:
    """Among others that fit, one prompt that does not is an error, and nothing was evaluated for the others."""
    model = made(512)
    good = person("Anna", "Lyon")
    with pytest.raises(ContextOverflow, match="step story"):
        model.complete([good, yes(STORY * 3, "", "story"), good])
    assert model.complete([good])[0].cached_tokens == 0


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["root ::= (", "root ::= [\\x00]"], ids=["rejected", "admits nothing"])
def test_one_wrong_grammar_stops_the_call(
    made: Callable[..., LlamaModel], one_by_one: list[tuple[str, bool]], wrong: str
) -> None:
    """An error that comes at once, and one that comes while others are decoded; the next call works as ever."""
    model = made()
    bad = Request("bad", "S", (), "G", "T", GrammarShape(wrong))
    with pytest.raises(ModelError):
        model.complete([*VARIED[:3], bad, *VARIED[3:]])
    assert said(model.complete(VARIED)) == one_by_one


@pytest.mark.slow
def test_an_interrupt_leaves_the_model_as_it_was(made: Callable[..., LlamaModel]) -> None:
    """Ctrl-C in the middle of a batch ends the call; what is asked afterwards gets the same words as before."""
    model = made()
    asked = [told(STORY[:400], "What happened?"), told(STORY[:800], "Who was there?"), person("Anna", "Lyon")]
    before = said(model.complete(asked))
    for seconds in (0.05, 0.4, 1.0):
        timer = threading.Timer(seconds, _thread.interrupt_main)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            for number in range(1000):
                model.complete([told(STORY[: 90 * n], f"{number}", max_tokens=200) for n in range(1, 9)])
        timer.join()
        assert said(model.complete(asked)) == before


@pytest.mark.slow
def test_an_interrupt_anywhere_loses_nothing(weights: Path) -> None:
    """Right after whichever call to llama.cpp it comes: no room and no sequence is lost, and replies stay the same."""
    native = Interrupting()
    with loaded(weights, context=512, most=4, batch=512, native=native) as held:
        model = assembled(weights, held, context=512, parallel=4)
        asked = [yes(STORY[:400], "One."), yes(STORY[:400], "Two."), chosen("no"), yes("", "Three.", "other")]
        again = [yes(STORY[:500], "Four."), *asked[1:]]
        before = said(model.complete(asked))
        rooms = held.cache.room
        native.arm(0)
        model.complete(again)
        for at in range(1, native.calls + 1, 3):
            native.arm(at)
            with pytest.raises(KeyboardInterrupt):
                model.complete(again)
                model.complete(asked)
            native.arm(0)
            assert said(model.complete(asked)) == before
        assert held.cache.room == rooms
        assert said(model.complete([chosen("no", LONG)] * 9)) == [("no", True)] * 9


SYSTEM = list(range(900, 925))


def tokens(*parts: list[int]) -> Tokens:
    """The parts as one prompt."""
    return np.array([token for part in parts for token in part], dtype=np.int32)


def words(seed: int, count: int) -> list[int]:
    """Tokens that no other seed gives."""
    return [1000 * seed + number for number in range(count)]


def carried_out(made: DecodingPlan, prompts: list[Tokens]) -> tuple[int, int]:
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
    assert plan([tokens(SYSTEM, words(1, 300))], [25], can_fork=True) == DecodingPlan((Root(0, 25),), (), 325)
    assert plan([tokens(SYSTEM)], [25], can_fork=True) == DecodingPlan((Root(0, 24),), (), 25)


def test_equal_prompts_share_all_but_the_last_token() -> None:
    """The last is evaluated for each, as what comes after it is wanted of each."""
    prompts = [tokens(SYSTEM, words(1, 30))] * 3
    assert carried_out(plan(prompts, [25] * 3, can_fork=True), prompts)[0] == 25 + 29 + 3

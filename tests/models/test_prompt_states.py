"""What prompts begin with is evaluated once: over steps, questions and processes, without a change in any reply."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.models.in_process.llama import LlamaModel
from goalmem_cli.models.state_cache import StateCache
from goalmem_cli.ports import Completion, Request
from tests.models.varied import LONG, chosen, listed, person, told

LIMIT = 2**30
FACTS = tuple(
    f"F{n}: {name} said that friend {n} likes walks, tea and {n} songs.\n" for n, name in enumerate("ABCDEFGHIJ")
)
FAMILIES = (person("Anna", "Lyon"), listed("cat", "dog"), chosen("no"), told("F1: Anna paints.\n", "Who paints?"))


@contextmanager
def model(path: Path, **options: Any) -> Iterator[LlamaModel]:
    """Load a model for a moment, as another process would."""
    made = LlamaModel.from_file(path, **{"context": 1024, "threads": 1, **options})
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def states(tmp_path: Path, notes: list[str]) -> StateCache:
    """An empty cache on disk."""
    return StateCache(tmp_path / "states", LIMIT, notes.append)


def answers(path: Path, calls: list[list[Request]], **options: Any) -> list[Completion]:
    """Return what a fresh model says to the calls, one after the other."""
    with model(path, **options) as made:
        return [reply for call in calls for reply in made.complete(call)]


def texts(replies: list[Completion]) -> list[str]:
    """Return what they say."""
    return [reply.text for reply in replies]


def other_tail(request: Request) -> Request:
    """A request of the same step with other words after its fixed part."""
    return Request(request.step, request.system, request.examples, "", "Say yes.", request.shape, 1)


@pytest.fixture(scope="module")
def fixed(weights: Path) -> list[int]:
    """How many tokens the fixed part of each family has: what two prompts of it share, when nothing else is alike."""
    replies = answers(weights, [[each] for request in FAMILIES for each in (request, other_tail(request))])
    return [reply.cached_tokens for reply in replies[1::2]]


@pytest.mark.slow
def test_the_fixed_part_is_evaluated_once_for_all_processes(
    weights: Path, states: StateCache, notes: list[str], fixed: list[int]
) -> None:
    """A second process starts where the fixed parts end, another prompt of the step too, and says just the same."""
    calls = [[each] for each in FAMILIES]
    none = answers(weights, calls)
    cold = answers(weights, calls, states=states)
    warm = answers(weights, calls, states=states)
    assert texts(none) == texts(cold) == texts(warm)
    assert [reply.cached_tokens for reply in cold] == [0] * len(FAMILIES)
    assert [reply.cached_tokens for reply in warm] == fixed
    assert all(length > 32 for length in fixed)
    assert [
        (state.step, state.tokens) for state in sorted(states.states(), key=lambda state: state.path.stat().st_ctime)
    ]
    assert {(state.step, state.tokens) for state in states.states()} == {
        (request.step, length) for request, length in zip(FAMILIES, fixed, strict=True)
    }
    others = answers(weights, [[other_tail(each)] for each in FAMILIES], states=states)
    assert [reply.cached_tokens for reply in others] == fixed
    assert notes == []


@pytest.mark.slow
def test_another_setup_does_not_use_a_state(
    bundled_path: Path, weights: Path, states: StateCache, notes: list[str]
) -> None:
    """Another context, attention, system text, example or file of weights starts from nothing; the first is kept."""
    (request,) = call = [FAMILIES[0]]
    answers(bundled_path, [call], states=states)
    assert weights != bundled_path
    changed = [
        Request(request.step, request.system + ".", request.examples, "", request.tail, request.shape, 1),
        Request(request.step, request.system, request.examples[:1], "", request.tail, request.shape, 1),
    ]
    cached = [reply.cached_tokens for each in changed for reply in answers(bundled_path, [[each]], states=states)]
    for options in ({"context": 1280}, {"flash_attention": False}):
        cached += [reply.cached_tokens for reply in answers(bundled_path, [call], states=states, **options)]
    cached += [reply.cached_tokens for reply in answers(weights, [call], states=states)]
    assert cached == [0] * 5 and len(states.states()) == 6
    again = answers(bundled_path, [call], states=states) + answers(weights, [call], states=states)
    assert len({reply.cached_tokens for reply in again}) == 1 and again[0].cached_tokens > 32
    assert notes == []


def test_the_same_weights_elsewhere_use_a_state(weights: Path, states: StateCache, tmp_path: Path) -> None:
    """It is the weights that count, not the name of their file."""
    answers(weights, [[FAMILIES[0]]], states=states)
    copy = tmp_path / "copy.gguf"
    shutil.copy(weights, copy)
    assert answers(copy, [[FAMILIES[0]]], states=states)[0].cached_tokens > 32


def test_families_do_not_lose_each_other(weights: Path, fixed: list[int]) -> None:
    """However steps alternate, and whatever else was asked, each starts at the end of its fixed part at least."""
    first, second, third, fourth = FAMILIES
    order = [first, second, first, second, third, first, fourth, second, third, fourth]
    requests = [
        Request(r.step, r.system, r.examples, f"{n} ", r.tail, r.shape, r.max_tokens) for n, r in enumerate(order)
    ]
    seen: set[str] = set()
    for request, reply in zip(requests, answers(weights, [[each] for each in requests]), strict=True):
        least = fixed[[family.step for family in FAMILIES].index(request.step)]
        assert reply.cached_tokens >= (least if request.step in seen else 0)
        seen.add(request.step)


def growing(count: int, tail: str, step: str = "tell") -> Request:
    """A request over the first facts."""
    return told("Who likes tea?\n" + "".join(FACTS[:count]), tail, step)


@pytest.mark.slow
def test_a_question_goes_on_from_what_was_evaluated(weights: Path) -> None:
    """Facts appended, with another tail and with other steps called in between: the facts before are not read again."""
    depths = [
        growing(4, "Unify."),
        growing(6, "Unify: x is tea."),
        growing(10, "Unify again, now with all that is known."),
    ]
    between = [[chosen("no", LONG)], [growing(5, "Refine.", "refine")], [listed("cat", "dog")]]
    calls = [call for depth, others in zip(depths, between, strict=True) for call in ([depth], others)]
    replies = answers(weights, calls)[::2]
    with model(weights) as made:
        facts = [made.count_tokens("".join(FACTS[:count])) for count in (4, 6)]
        fixed = answers(weights, [[depths[0]], [told("", "", max_tokens=1)]])[1].cached_tokens
    for reply, before in zip(replies[1:], facts, strict=True):
        # Of a prompt's end a few tokens may be read again, for the sake of the same arithmetic.
        assert reply.cached_tokens >= min(fixed + before - 2, reply.prompt_tokens - 64)
    assert replies[1].cached_tokens < replies[2].cached_tokens


@pytest.mark.slow
@pytest.mark.parametrize("is_shipped", [True, False], ids=["shipped", "repacked"])
def test_no_reply_depends_on_what_was_kept(bundled_path: Path, weights: Path, is_shipped: bool) -> None:
    """Free text, in which any difference of the arithmetic would show, is the same from models with and without a past.

    Among the prompts are some that go on, by a little or by much, from shorter and from longer ones.
    """
    path = bundled_path if is_shipped else weights
    requests = [
        growing(1, "Who?"), growing(1, "Who is it?"), growing(2, "Who?"), growing(6, "Who?"),
        growing(3, "Who?", "refine"), growing(6, "Whom does A like?"), growing(10, "Who?"), growing(2, "Who else?"),
        growing(0, "Who?"), growing(10, "Whom?"), growing(8, "Where?", "refine"),
    ]  # fmt: skip
    warm = texts(answers(path, [[each] for each in requests], context=768))
    cold = [text for each in requests for text in texts(answers(path, [[each]], context=768))]
    assert warm == cold
    assert len(set(cold)) > 6


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["flipped", "truncated", "empty", "refused"])
def test_a_damaged_state_is_made_again(weights: Path, states: StateCache, notes: list[str], damage: str) -> None:
    """It is discarded with one note, the reply is as without it, and the next process has a good one."""
    call = [FAMILIES[3]]
    (cold,) = answers(weights, [call], states=states)
    (kept,) = states.states()
    content = kept.path.read_bytes()
    if damage == "refused":  # whole by all that goalmem can tell, but nothing that llama.cpp takes
        states.save(kept.path.stem, b"no state of llama.cpp", step=kept.step, model=kept.model, tokens=kept.tokens)
    else:
        flipped = content[:-100] + bytes([content[-100] ^ 1]) + content[-99:]
        kept.path.write_bytes({"flipped": flipped, "truncated": content[:-1], "empty": b""}[damage])
    (again,) = answers(weights, [call], states=states)
    assert (again.text, again.cached_tokens) == (cold.text, 0)
    assert len(notes) == 1 and notes[0].startswith("discarded the cached prompt")
    assert kept.path.read_bytes() == content
    (warm,) = answers(weights, [call], states=states)
    assert (warm.text, len(notes)) == (cold.text, 1) and warm.cached_tokens > 32


def test_where_nothing_can_be_kept_the_model_works(weights: Path, tmp_path: Path, notes: list[str]) -> None:
    """A file in the folder's place is said; replies and what is kept in memory are as ever."""
    (tmp_path / "states").write_text("in the way")
    states = StateCache(tmp_path / "states", LIMIT, notes.append)
    replies = answers(weights, [[FAMILIES[0]], [other_tail(FAMILIES[0])]], states=states)
    assert replies[0].text == answers(weights, [[FAMILIES[0]]])[0].text
    assert replies[1].cached_tokens > 32
    assert any("could not be kept" in note for note in notes)


def test_a_state_above_the_limit_is_kept_in_memory_alone(weights: Path, tmp_path: Path, notes: list[str]) -> None:
    """A cache too small for a state stays empty, and nobody needs to hear of it."""
    states = StateCache(tmp_path / "states", 1000, notes.append)
    replies = answers(weights, [[FAMILIES[0]], [other_tail(FAMILIES[0])]], states=states)
    assert replies[1].cached_tokens > 32
    assert states.states() == [] and notes == []


def test_a_short_fixed_part_is_not_kept(weights: Path, states: StateCache) -> None:
    """What is evaluated sooner than read from a disk leaves no file."""
    bare = Request("bare", "S", (), "F1: Anna paints.\n", "Say no.", chosen("no").shape, 1)
    cold, warm = (answers(weights, [[bare]], states=states)[0] for _ in range(2))
    assert cold.text == warm.text and states.states() == []

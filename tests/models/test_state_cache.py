"""Evaluated prompts on disk: what is damaged or foreign goes, the folder stays bounded, several processes share it."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.models.in_process.llama import LlamaModel
from goalmem_cli.models.state_cache import DAY, StateCache, appearing_whole, model_cache, remove_parts
from goalmem_cli.ports import Completion, Request
from tests.models.varied import LONG, chosen, listed, person, told

KEYS = tuple(f"{number:064x}" for number in range(6))
STATE = bytes(range(256)) * 4


@pytest.fixture
def cache(tmp_path: Path, notes: list[str]) -> StateCache:
    """A cache with room for five states or so, in a folder that is not there yet."""
    return StateCache(tmp_path / "deep" / "states", 6000, notes.append)


def save(cache: StateCache, key: str, state: bytes = STATE) -> Path:
    """Keep a state, and return its file."""
    cache.save(key, state, step="unify", model="Small", tokens=40)
    return cache.folder / f"{key}.state"


def kept(cache: StateCache) -> set[str]:
    """Return the keys of what is kept."""
    return {state.path.stem for state in cache.states()}


def age(path: Path, seconds: float) -> None:
    """Make a file look as if it was last used so long ago."""
    moment = time.time() - seconds
    os.utime(path, (moment, moment))


def test_a_state_comes_back_in_another_process(cache: StateCache, notes: list[str]) -> None:
    """What is kept under a key is found under that key alone, by whoever looks into the folder."""
    path = save(cache, KEYS[0])
    other = StateCache(cache.folder, 6000, notes.append)
    assert (other.load(KEYS[0]), other.load(KEYS[1])) == (STATE, None)
    (listed,) = other.states()
    assert (listed.path, listed.step, listed.model, listed.tokens) == (path, "unify", "Small", 40)
    assert listed.size == path.stat().st_size > len(STATE)
    assert notes == [] and list(cache.folder.iterdir()) == [path]


def test_an_empty_state_and_odd_names_are_kept(cache: StateCache, notes: list[str]) -> None:
    """Line breaks, other scripts and names of any length in what a model says of itself do no harm."""
    for key, name in zip(KEYS, ("", "two\nlines", "模型 \ud800", "x" * 10_000, "日" * 10_000), strict=False):
        cache.save(key, STATE, step=name, model=name, tokens=1)
        assert cache.load(key) == STATE
    cache.save(KEYS[5], b"", step="s", model="m", tokens=0)
    assert cache.load(KEYS[5]) == b"" and notes == []


HEAD = json.dumps({"format": "goalmem state 1", "key": KEYS[0], "digest": "0"}).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"\0" * 5000,
        b"GGUF\x03\x00\x00\x00" * 100,
        b'{"format": "goalmem state 1"}\n' + STATE,
        b'{"format": "another program"}\n' + STATE,
        b"[" * 4095 + b"\n" + STATE,
        b"[]\n" + STATE,
        b"\xff\xfe\n" + STATE,
        HEAD + b"\n" + STATE,
        HEAD,
    ],
    ids=["empty", "blank", "zeros", "model", "no key", "foreign", "nested", "list", "no text", "digest", "head"],
)
def test_a_foreign_file_is_discarded(cache: StateCache, notes: list[str], content: bytes) -> None:
    """Whatever stands under the name: it is not used, it is removed, that is said, and a new state takes its place."""
    cache.folder.mkdir(parents=True)
    path = cache.folder / f"{KEYS[0]}.state"
    path.write_bytes(content)
    assert len(cache.states()) == 1
    assert cache.load(KEYS[0]) is None
    assert not path.exists()
    (note,) = notes
    assert note.startswith(f"discarded the cached prompt {path.name}: ")
    save(cache, KEYS[0])
    assert cache.load(KEYS[0]) == STATE and len(notes) == 1


@pytest.mark.parametrize("place", [0, 20, -1, -600])
def test_a_damaged_file_is_discarded(cache: StateCache, notes: list[str], place: int) -> None:
    """One flipped bit, in the head or in the state, is enough."""
    path = save(cache, KEYS[0])
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    assert cache.load(KEYS[0]) is None and not path.exists() and len(notes) == 1


@pytest.mark.parametrize("length", [0, 10, -1, 300])
def test_a_truncated_file_is_discarded(cache: StateCache, notes: list[str], length: int) -> None:
    """A file that ends early is not used."""
    path = save(cache, KEYS[0])
    path.write_bytes(path.read_bytes()[:length])
    assert cache.load(KEYS[0]) is None and not path.exists() and len(notes) == 1


def test_a_state_of_another_prompt_is_discarded(cache: StateCache, notes: list[str]) -> None:
    """A whole file under the name of another key is not taken for that one's."""
    path = save(cache, KEYS[0])
    path.rename(cache.folder / f"{KEYS[1]}.state")
    assert cache.load(KEYS[1]) is None and len(notes) == 1


def test_the_least_recently_used_goes(cache: StateCache, notes: list[str]) -> None:
    """Above the limit the state that was loaded or saved longest ago goes, and no more than needed."""
    for place, key in enumerate(KEYS[:4]):
        age(save(cache, key), 100 - place)
    assert kept(cache) == set(KEYS[:4])
    assert cache.load(KEYS[0]) == STATE
    save(cache, KEYS[4])
    assert kept(cache) == {KEYS[0], *KEYS[2:5]}
    assert sum(state.size for state in cache.states()) <= 6000 and notes == []


def test_the_state_just_written_stays(cache: StateCache) -> None:
    """Though clocks differ, and the others seem to be of the future, what was written last is not what goes."""
    for key in KEYS[:4]:
        age(save(cache, key), -1000)
    save(cache, KEYS[4])
    assert KEYS[4] in kept(cache) and len(kept(cache)) == 4


def test_a_state_larger_than_the_limit_is_not_kept(cache: StateCache, notes: list[str]) -> None:
    """It would drive out all others and be gone itself."""
    save(cache, KEYS[0])
    save(cache, KEYS[1], b"x" * 6001)
    assert kept(cache) == {KEYS[0]} and notes == []


def test_a_file_where_the_folder_should_be_is_said(tmp_path: Path, notes: list[str]) -> None:
    """Where nothing can be kept, loading and saving say so and go on; there is nothing to show or to clear."""
    (tmp_path / "states").write_text("in the way")
    cache = StateCache(tmp_path / "states", 6000, notes.append)
    assert cache.load(KEYS[0]) is None
    save(cache, KEYS[0])
    assert notes and all(str(tmp_path / "states") in note for note in notes)
    cache.clear()
    assert cache.states() == []
    assert (tmp_path / "states").read_text() == "in the way"


def test_a_folder_under_the_name_is_said(cache: StateCache, notes: list[str]) -> None:
    """A folder in a state's place is neither read nor removed."""
    (cache.folder / f"{KEYS[0]}.state").mkdir(parents=True)
    assert cache.load(KEYS[0]) is None
    save(cache, KEYS[0])
    assert len(notes) == 2 and [path.is_dir() for path in cache.folder.iterdir()] == [True]


def test_clearing_removes_states_and_parts_alone(cache: StateCache) -> None:
    """Clearing takes the leftovers of interrupted writes along, and leaves other files alone; twice is no error."""
    for key in KEYS[:2]:
        save(cache, key)
    (cache.folder / ".half-abc.part").write_bytes(b"half")
    (cache.folder / "notes.txt").write_text("mine")
    cache.clear()
    assert [path.name for path in cache.folder.iterdir()] == ["notes.txt"]
    cache.clear()


def test_old_parts_go_when_a_state_is_saved(cache: StateCache) -> None:
    """What another process may still be writing stays; what is older than a day goes."""
    cache.folder.mkdir(parents=True)
    new, old = cache.folder / "new.part", cache.folder / ".old.part"
    for path in (new, old):
        path.write_bytes(b"half")
    age(old, DAY + 60)
    age(new, DAY - 600)
    save(cache, KEYS[0])
    assert {path.name for path in cache.folder.iterdir()} == {"new.part", f"{KEYS[0]}.state"}
    remove_parts(cache.folder)
    assert not new.exists()
    remove_parts(cache.folder / "none")


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, ValueError])
def test_an_interrupted_write_leaves_what_was_there(tmp_path: Path, error: type[BaseException]) -> None:
    """The file appears under its name when it is whole; until then, and after an error, the one before stays."""
    path = tmp_path / "kept.state"
    path.write_bytes(b"before")
    with pytest.raises(error), appearing_whole(path) as part:
        part.write_bytes(b"half")
        assert part.suffix == ".part" and path.read_bytes() == b"before"
        raise error
    assert list(tmp_path.iterdir()) == [path] and path.read_bytes() == b"before"
    with appearing_whole(path) as part:
        part.write_bytes(b"after")
    assert list(tmp_path.iterdir()) == [path] and path.read_bytes() == b"after"


WORKER = """
import sys
from pathlib import Path
from goalmem_cli.models.state_cache import StateCache
notes = []
cache = StateCache(Path(sys.argv[1]), 20_000, notes.append)
for turn in range(150):
    key = f"{(turn * int(sys.argv[2])) % 23:064x}"
    state = key.encode() * 30
    found = cache.load(key)
    assert found in (None, state), key
    cache.save(key, state, step="s", model="m", tokens=1)
    cache.states()
print(notes)
"""


def test_processes_share_a_folder(tmp_path: Path) -> None:
    """Several that save, load and evict at once get no error, no wrong state, and keep the bound."""
    commands = [[sys.executable, "-c", WORKER, str(tmp_path / "states"), str(step)] for step in (1, 5, 7)]
    running = [subprocess.Popen(each, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for each in commands]
    for process in running:
        out, err = process.communicate()
        assert (process.returncode, out, err) == (0, "[]\n", "")
    cache = StateCache(tmp_path / "states", 20_000)
    sizes = [state.size for state in cache.states()]
    assert sizes and sum(sizes) - max(sizes) <= 20_000
    assert all(path.suffix == ".state" for path in cache.folder.iterdir())


def test_the_cache_lies_in_the_users_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The folder is the platform's own for caches."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert model_cache() == tmp_path / "goalmem"
    assert StateCache.in_folder(model_cache(), 1).folder == model_cache() / "states"


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

"""What a question does outside the model is counted where it happens, the same each time, and never the model's own."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from threading import Thread

import pytest

import goalmem_cli
from goalmem_cli.errors import ModelError
from goalmem_cli.lab.bench.outside import Heard, OutsideCost, ToldAgain, empty_caches, measure_outside, noting
from goalmem_cli.logic.normal import content_stems, stem
from goalmem_cli.models.native_log import native_log
from goalmem_cli.ports import LanguageModel
from goalmem_cli.testing import HashEmbedder, Reply, ScriptedModel, faked
from goalmem_cli.trace import Trace
from tests.lab.bench.conftest import asking
from tests.reasoners.scripting import grounds, plan, unified

TALK = "Priya: I moved to Oslo with the cats.\nTom: And your sister?\nPriya: She lives in Leeds.\n"
QUESTION = "Where does Priya's sister live?"
GOAL = "(Priya)'s sister lives in (x:town)"


def asks(store: Path, times: int, model: LanguageModel) -> Trace:
    """Ask the question so often in the order `blind`, of a memory that is opened once."""
    factories = faked(model, HashEmbedder())
    with goalmem_cli.open(store, factories=factories, planning="blind") as memory:
        return [memory.ask(QUESTION) for _ in range(times)][-1]


def replies(times: int) -> ScriptedModel:
    """What proves the goal, so often."""
    proof: list[Reply] = [plan(GOAL, GOAL), unified(grounds(1, "She lives in Leeds", x="Leeds")), '{"answer": "Leeds"}']
    return ScriptedModel(proof * times)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A memory of three turns."""
    (tmp_path / "talk.txt").write_text(TALK, "utf-8")
    with goalmem_cli.open(tmp_path / "store", factories=faked(ScriptedModel([]), HashEmbedder())) as memory:
        memory.ingest(tmp_path / "talk.txt")
    return tmp_path / "store"


def test_a_question_is_counted_the_same_each_time(store: Path) -> None:
    """The model is asked in one run only; each run opens the store, ranks it, and shows its three turns as facts."""
    reported: list[tuple[int, int]] = []
    costs: list[OutsideCost] = []
    for _ in range(2):
        model = replies(1)
        costs.append(
            measure_outside(
                "full", partial(asks, store, 1), model, rounds=2, report=lambda *done: reported.append(done)
            )
        )
        assert model.calls == costs[-1].model_calls == 3
    one, again = costs
    counts = ("files", "functions", "starts", "openings", "readings", "retrievals", "scorings", "facts")
    assert [getattr(one, name) for name in counts] == [getattr(again, name) for name in counts]
    assert one.facts == 3 and one.scorings and one.starts == 1
    assert one.retrievals == 3  # the question, what holds now, and what moves on from the evidence
    assert 0 < one.files < one.functions < one.calls < one.all_calls
    assert 0 < one.stage_ms("searching") < one.milliseconds
    assert reported == [(1, 4), (2, 4), (3, 4), (4, 4)] * 2


def test_what_is_done_twice_counts_twice(store: Path) -> None:
    """Through the same files and functions, more often; but the same hits are scored for the same query once."""
    once = measure_outside("full", partial(asks, store, 1), replies(1), rounds=1)
    twice = measure_outside("full", partial(asks, store, 2), replies(2), rounds=1)
    assert (twice.files, twice.functions) == (once.files, once.functions)
    assert (twice.retrievals, twice.scorings) == (2 * once.retrievals, once.scorings)
    assert twice.readings > once.readings and twice.calls > once.calls and twice.model_calls == 2 * once.model_calls


def test_functions_are_noted_in_every_thread_and_never_afterwards() -> None:
    """A thread that starts meanwhile is noted too."""

    def elsewhere() -> None:
        stem("walked")

    with noting() as entered:
        content_stems("Alice walked to no other test's cafe.")
        started = Thread(target=elsewhere)
        started.start()
        started.join()
    names = [code.co_name for code in entered]
    assert "elsewhere" in names and "content_words" in names
    before = len(entered)
    elsewhere()
    assert len(entered) == before


def test_caches_are_emptied() -> None:
    """What was worked out before is worked out again."""
    content_stems("a text that nothing else asks for")
    assert content_stems.cache_info().currsize
    log = native_log()
    empty_caches()
    assert native_log() is log  # llama.cpp calls it back until the end
    assert not content_stems.cache_info().currsize


def test_replies_are_told_again_as_they_were_heard() -> None:
    """Call by call; another way through the question is no measurement."""
    heard = Heard(ScriptedModel(["one", "two", "three"]))
    said = [heard.complete([asking("a"), asking("b")]), heard.complete([asking("c")])]
    told = ToldAgain(heard.said)
    assert [told.complete([asking("a"), asking("b")]), told.complete([asking("other")])] == said
    with pytest.raises(ModelError, match="another way"):
        told.complete([asking("d")])
    with pytest.raises(ModelError, match="another way"):
        ToldAgain(heard.said).complete([asking("a")])

"""`goalmem index` builds a structured backbone, says what it costs and what failed; the other commands use it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.backbones.catalogue import FLAT, BackboneEntry, indexed
from goalmem_cli.backbones.structured.kit import LoadKit
from goalmem_cli.config import Settings
from goalmem_cli.errors import ModelMissing
from goalmem_cli.memory_ports import StructuredMemory
from goalmem_cli.ports import Backbone, Indexed, PartDone
from goalmem_cli.records import Part
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.wiring import Factories, LoadedModel
from tests.conftest import SAMPLES
from tests.fakes import SessionNotes
from tests.invoking import Goalmem, seeing

MOMOCO = str(SAMPLES / "momoco.json")


class AskingNotes(SessionNotes):
    """Asks for the model before it takes notes."""

    def __init__(self, store: StructuredMemory, kit: LoadKit) -> None:
        super().__init__(store)
        self._kit = kit

    def index(self, report: Callable[[PartDone], None]) -> Indexed:
        """Ask for the model, then index."""
        assert self._kit().at_once == 3
        return super().index(report)


def no_model(_: Settings) -> LoadedModel:
    """Return no model: whoever asks for one has failed the test."""
    raise ModelMissing("there is no model", "get one")


def noting(
    fails_on: Callable[[Part], bool] = lambda _: False, model: Callable[[Settings], LoadedModel] = no_model
) -> Factories:
    """Return factories that know the backbones `notes` and `asking`."""
    entries: dict[str, BackboneEntry[Backbone]] = {
        **FLAT,
        "notes": indexed(lambda store, *_: SessionNotes(store, fails_on)),
        "asking": indexed(lambda store, kit, _: AskingNotes(store, kit)),
    }
    return Factories(model=model, backbones=lambda: entries)


@pytest.fixture
def filled(momoco: Goalmem) -> Goalmem:
    """The command over a store that holds two conversations."""
    assert momoco("ingest", str(SAMPLES / "work-02.json"), "--quiet").code == 0
    return momoco


def document(goalmem: Goalmem, *words: str, factories: Factories | None = None) -> Any:
    """Return what `index notes --json` printed."""
    outcome = goalmem("index", "notes", "--json", *words, factories=factories or noting())
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


@pytest.mark.slow
def test_it_derives_from_what_is_new(filled: Goalmem) -> None:
    """The first run has every session, the next none, and after another transcript only that one's."""
    first = document(filled)
    assert first["schema_version"] == 1
    assert first["backbone"] == "notes"
    assert first["parts"] == first["units"]["note"] > 1
    assert first["failed"] == []
    again = document(filled)
    assert again["parts"] == 0
    assert again["units"] == first["units"]
    assert "notes: nothing is new" in filled("index", "notes", factories=noting()).err
    filled("ingest", str(SAMPLES / "lisbon-trip.json"), "--quiet")
    more = document(filled)
    assert 0 < more["parts"] == more["units"]["note"] - first["units"]["note"]


def test_it_says_first_what_there_is_to_do(filled: Goalmem) -> None:
    """Parts, turns, calls and tokens stand on stderr before, the figures on stdout after."""
    outcome = filled("index", "notes", factories=noting())
    assert outcome.code == 0
    assert " parts with " in outcome.err
    assert " turns, about " in outcome.err
    assert "tokens" in outcome.err
    assert "units now" in outcome.out
    assert filled("index", "notes", "-q", factories=noting()).err == ""


def test_it_says_what_a_turn_cost(filled: Goalmem) -> None:
    """Calls and tokens are divided by the turns that were derived from; where there were none, nothing is said."""
    model = ScriptedModel(lambda _: '{"gists": [], "facts": []}')
    factories = seeing(lambda _: LoadedModel(model, "scripted", "full", 8192, at_once=4))
    turns = json.loads(filled("index", "remem", "--dry-run", "--json", factories=factories).out)["turns"]
    built = json.loads(filled("index", "remem", "--json", factories=factories).out)

    assert built["turns"] == turns
    assert built["per_turn"]["calls"] == built["calls"] / turns > 0
    for name in ("prompt_tokens", "cached_tokens", "completion_tokens"):
        assert built["per_turn"][name] == built[name] / turns
    again = json.loads(filled("index", "remem", "--json", factories=factories).out)
    assert (again["turns"], again["per_turn"]) == (0, {})
    filled("forget", "momoco-01", "--leave-nothing", "--yes")
    filled("ingest", MOMOCO, "--quiet")
    shown = filled("index", "remem", factories=factories).out
    assert "calls a turn" in shown
    assert "completion tokens a turn" in shown


def test_a_dry_run_does_nothing(filled: Goalmem) -> None:
    """It shows the outlook, which is what the run then does, and loads no model."""
    outlook = document(filled, "--dry-run")
    assert outlook["parts"] > 1
    assert outlook["turns"] > outlook["parts"]
    assert (outlook["failed"], outlook["calls"]) == (0, outlook["parts"])
    assert "parts" in filled("index", "notes", "--dry-run", factories=noting()).out
    assert document(filled)["parts"] == outlook["parts"]
    assert document(filled, "--dry-run")["parts"] == 0


def test_what_failed_is_listed_and_tried_again(filled: Goalmem) -> None:
    """The rest is stored, the exit code is 0, and a warning says how many the next run retries, even when quiet."""
    failing = noting(lambda part: part.conversation == "momoco-01")
    outcome = filled("index", "notes", "--json", "-q", factories=failing)
    made = json.loads(outcome.out)
    assert outcome.code == 0
    assert {each["conversation"] for each in made["failed"]} == {"momoco-01"}
    assert {each["problem"] for each in made["failed"]} == {"no word came to mind"}
    assert 0 < len(made["failed"]) < made["parts"]
    assert f"{len(made['failed'])} of {made['parts']} parts failed; the next run retries them" in outcome.err
    assert "momoco-01, part 0: no word came to mind" in outcome.err
    outlook = document(filled, "--dry-run")
    assert outlook["parts"] == outlook["failed"] == len(made["failed"])
    assert f"{outlook['failed']} of them again" in filled("index", "notes", factories=noting()).err
    assert document(filled)["parts"] == 0


def test_the_other_commands_use_it(filled: Goalmem) -> None:
    """`search --backbone notes` finds notes and turns, with the ranks that each ranking gave."""
    filled("index", "notes", "-q", factories=noting())
    words = ("search", "Kyoto Latte", "--backbone", "notes", "-k", "30")
    hits = json.loads(filled(*words, "--json", factories=noting()).out)["hits"]
    ranks = {name for hit in hits for name in hit["ranks"]}
    assert {"own-bm25", "own-dense", "bm25", "dense"} <= ranks
    assert any(len(hit["turns"]) > 1 for hit in hits)
    shown = filled(*words, "--explain", factories=noting())
    assert shown.code == 0
    assert ", note" in shown.out
    assert " , " not in shown.out


@pytest.mark.slow
@pytest.mark.parametrize("words", [("search", "latte"), ("ask", "Who likes latte?")])
def test_a_backbone_that_is_not_built_says_what_builds_it(
    filled: Goalmem, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """One error, before any model is loaded, whose hint is the command."""
    outcome = filled(*words, "--backbone", "notes", factories=noting())
    assert outcome.code == 3
    error, hint = outcome.error_lines
    assert "notes is not built" in error
    assert hint == f"goalmem index notes --store {tmp_path / 'store'}"
    assert filled(*hint.split()[1:], "-q", factories=noting()).code == 0
    assert filled(*words, "--backbone", "notes", factories=noting()).code in {0, 4}


def test_an_answer_rests_on_what_was_derived(filled: Goalmem) -> None:
    """A reasoner is shown notes beside turns, and its trace names the turns that a note came from."""
    filled("index", "notes", "-q", factories=noting())
    model = ScriptedModel(lambda _: '{"answer": "Matcha.", "facts": []}')
    factories = noting(model=lambda _: LoadedModel(model, "scripted", "full", 8192))
    words = ("ask", "What is in a Kyoto Latte?", "--reasoner", "direct", "--backbone", "notes", "--json")
    trace = json.loads(filled(*words, factories=factories).out)
    shown = [fact for fact in trace["facts"].values() if len(fact["turns"]) > 1]
    assert shown
    assert any(shown[0]["text"] in request.growing for request in model.seen)


def test_a_model_that_cannot_be_used_is_exit_4(filled: Goalmem) -> None:
    """What asks a model fails with the model's own error; what asks none needs none."""
    outcome = filled("index", "asking", factories=noting())
    assert outcome.code == 4
    assert "there is no model" in outcome.err


def test_the_model_is_loaded_once_and_closed(filled: Goalmem) -> None:
    """The kit has the model, how much it does at once, and its prompts."""
    events: list[str] = []

    def load(_: Settings) -> LoadedModel:
        events.append("loaded")
        return LoadedModel(ScriptedModel([]), "scripted", "full", 8192, lambda: events.append("closed"), at_once=3)

    assert filled("index", "asking", factories=noting(model=load)).code == 0
    assert events == ["loaded", "closed"]


@pytest.mark.parametrize(
    ("name", "said", "hinted"),
    [("telepathy", "no backbone 'telepathy'", "notes"), ("hybrid", "hybrid needs no indexing", "notes")],
)
def test_what_is_not_to_be_indexed_is_a_usage_error(filled: Goalmem, name: str, said: str, hinted: str) -> None:
    """A name that there is not, or of a backbone that finds turns as they are."""
    outcome = filled("index", name, factories=noting())
    assert outcome.code == 2
    error, hint = outcome.error_lines
    assert said in error
    assert hinted in hint


def test_a_store_that_is_not_there_is_said(goalmem: Goalmem) -> None:
    """There is nothing to derive from."""
    outcome = goalmem("index", "notes", factories=noting())
    assert outcome.code == 3
    assert "goalmem ingest" in outcome.error_lines[1]


def test_forgetting_what_was_indexed_leaves_a_sound_store(filled: Goalmem) -> None:
    """The counts name what goes, and the next indexing has only that to do which lost something."""
    made = document(filled)
    counts = json.loads(filled("forget", "momoco-01", "--dry-run", "--json").out)
    assert counts["units"]["note"] > 0
    assert filled("forget", "momoco-01", "--yes").code == 0
    assert filled("stores", "verify").code == 0
    left = document(filled)
    assert left["parts"] == 0
    assert left["units"]["note"] == made["units"]["note"] - counts["units"]["note"]

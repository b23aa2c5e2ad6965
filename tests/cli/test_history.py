"""A memory as it stood: `goalmem search --as-of`, what happened to it: `goalmem index --history`, and in a proof."""

import json
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.ports import Request
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.wiring import Factories, LoadedModel
from tests.backbones import graphiti_samples, test_amem, test_magma, test_mem0_graph
from tests.backbones.test_mem0 import says
from tests.invoking import Goalmem, seeing
from tests.reasoners.scripting import claims, plan, proved

HOME = "(Priya) has a home in (x:place)"
CHAT = [
    {"role": "user", "content": "Priya home Hull", "timestamp": "2023-05-01T10:00:00"},
    {"role": "assistant", "content": "um", "timestamp": "2023-05-01T10:01:00"},
    {"role": "user", "content": "Priya home Leeds", "timestamp": "2023-06-01T10:00:00"},
    {"role": "assistant", "content": "um", "timestamp": "2023-06-01T10:01:00"},
    {"role": "user", "content": "Priya pet Biscuit", "timestamp": "2023-07-01T10:00:00"},
    {"role": "assistant", "content": "Priya home Leeds", "timestamp": "2023-07-01T10:01:00"},
]


def factories() -> Factories:
    """Return factories whose model understands simple statements."""
    return seeing(lambda _: LoadedModel(ScriptedModel(says), "scripted", "full", 8192, at_once=4))


@pytest.fixture
def moved(goalmem: Goalmem, tmp_path_factory: pytest.TempPathFactory) -> Goalmem:
    """The command over a memory of somebody who moved."""
    file = tmp_path_factory.mktemp("talk") / "talk.json"
    file.write_text(json.dumps(CHAT), encoding="utf-8")
    assert goalmem("ingest", str(file), "--format", "openai", "--quiet").code == 0
    assert goalmem("index", "mem0", "--quiet", factories=factories()).code == 0
    return goalmem


def found(goalmem: Goalmem, *words: str) -> list[dict[str, Any]]:
    """Return the memories that a search finds."""
    shown = goalmem("search", "Priya home", "--backbone", "mem0", "--json", *words)
    hits = json.loads(shown.out)["hits"]
    assert isinstance(hits, list)
    return hits


def test_a_search_shows_the_memory_as_it_stood(moved: Goalmem) -> None:
    """Now, at any time, and before there was anything; --until finds the same."""
    assert [hit["text"] for hit in found(moved, "-k", "1")] == ["Priya home Leeds"]
    for flag in ("--as-of", "--until"):
        assert [hit["text"] for hit in found(moved, flag, "2023-05-20")] == ["Priya home Hull"]
        assert [hit["text"] for hit in found(moved, flag, "2023-06")] == ["Priya home Leeds"]
        assert found(moved, flag, "2022") == []
    assert found(moved, "-k", "1")[0]["attributes"]["in_place_of"] == ["Priya home Hull, until 2023-06-01"]
    outcome = moved("search", "Priya", "--as-of", "2023", "--until", "2023")
    assert outcome.code == 2
    assert outcome.error_lines[1] == "give one of them"
    assert "--as-of" in moved("search", "Priya", "--as-of", "once").error_lines[0]


def test_words_about_time_are_read_as_of_it(moved: Goalmem) -> None:
    """Last month is the one before then, for every backbone."""
    words = ("search", "last month", "--as-of", "2023-06-15", "--backbone", "hybrid", "--json")
    texts = [hit["text"] for hit in json.loads(moved(*words).out)["hits"]]
    assert set(texts[:2]) == {"Priya home Hull", "um"}
    assert "Priya pet Biscuit" not in texts


def test_a_history_lists_each_event_with_its_turns(moved: Goalmem) -> None:
    """By the beginning of an id, as --explain shows it; no model is needed."""
    shown = moved("search", "Priya home", "--backbone", "mem0", "--explain", "-k", "1").out
    begins = shown.split("unit ")[1].split()[0]
    assert begins == found(moved, "-k", "1")[0]["unit"][:12]
    listed = moved("index", "mem0", "--history", begins)
    assert listed.code == 0
    lines = listed.out.splitlines()
    assert [line.split("  ")[0] for line in lines[1:]] == ["1 May 2023 10:01", "1 Jun 2023 10:01", "1 Jul 2023 10:01"]
    assert ["ADD" in lines[1], "UPDATE" in lines[2], "NONE" in lines[3]] == [True] * 3
    document = json.loads(moved("index", "mem0", "--history", begins[:8], "--json").out)
    assert document["text"] == "Priya home Leeds"
    assert [(each["event"], each["text"], len(each["turns"])) for each in document["history"]] == [
        ("ADD", "Priya home Hull", 2), ("UPDATE", "Priya home Leeds", 2), ("NONE", "Priya home Leeds", 2)
    ]  # fmt: skip
    assert document["history"][1]["said"] == "2023-06-01T10:01:00"
    assert document["history"][1]["unit"] == document["unit"]


def test_what_has_no_history_is_said(moved: Goalmem) -> None:
    """No such unit, several, a backbone that keeps none or that is not built: exit 2 or 3, and what to do."""
    for words, said, hinted in (
        (("mem0", "--history", "xyz"), "no unit whose id begins with 'xyz'", "--explain"),
        (("mem0", "--history", ""), "no unit", "--explain"),
        (("secom", "--history", "a"), "secom", "goalmem index secom"),
        (("hybrid", "--history", "a"), "needs no indexing", "mem0"),
    ):
        outcome = moved("index", *words)
        assert outcome.code in (2, 3)
        assert said in outcome.error_lines[0]
        assert hinted in outcome.error_lines[1]
    units = [hit["unit"] for hit in found(moved)]
    several = [digit for digit in "0123456789abcdef" if moved("index", "mem0", "--history", digit).code == 2]
    assert len(units) == 2
    assert any("give more of it" in moved("index", "mem0", "--history", digit).err for digit in several)


def test_a_backbone_without_versions_keeps_no_history(moved: Goalmem) -> None:
    """Built, it says so."""
    model = ScriptedModel(lambda _: '{"starts": ["0"]}')
    built = moved("index", "secom", "-q", factories=seeing(lambda _: LoadedModel(model, "scripted", "full", 8192)))
    outcome = moved("index", "secom", "--history", "a")
    assert (built.code, outcome.code, "secom keeps no history" in outcome.err) == (0, 2, True)


def test_a_proof_shows_what_was_superseded(moved: Goalmem) -> None:
    """The fact says what it took the place of, and until when that held; the model is not shown it."""
    model = ScriptedModel(
        [proved(claims(1, "Priya home Leeds", x="Leeds"), plan=plan(HOME, HOME), status="settled", wording="Leeds")]
    )
    words = ("ask", "Where is Priya's home?", "--backbone", "mem0", "--trace")
    outcome = moved(*words, factories=seeing(lambda _: LoadedModel(model, "scripted", "full", 8192)))
    assert outcome.code == 0, outcome.err
    assert "in place of: Priya home Hull, until 2023-06-01" in " ".join(outcome.err.replace("│", " ").split())
    assert not any("Hull" in request.growing + request.tail for request in model.seen)


HISTORIES = {
    "mem0": ("Priya home Leeds 2021", "Leeds", ["ADD", "UPDATE", "NONE"]),
    "mem0-graph": ("Priya home Leeds 2021", "Leeds", ["ADD", "ADD", "INVALIDATE", "NONE"]),
    "a-mem": ("user: Priya home Hull 2019", "Hull", ["ADD", *["LINK", "UPDATE"] * 3]),
    "graphiti": ("Priya home Leeds [since 1 January 2021]", "Leeds", ["ADD", "ADD", "INVALIDATES", "SAME"]),
}
"""For each backbone that decides what begins so, and took the place of something; the place; and what happened to it."""
DATED = [{**turn, "content": f"{turn['content']} {2019 + 2 * ('Leeds' in turn['content'])}"} for turn in CHAT]


def understands(request: Request) -> str:
    """Return what a model that understands the statements says to a step of any backbone that decides."""
    of = {"amem": test_amem.says, "graphiti": graphiti_samples.says, "magma": test_magma.says}
    return of.get(request.step.partition("_")[0], test_mem0_graph.says)(request)


def built(goalmem: Goalmem, folder: Path, name: str) -> Goalmem:
    """Return the command over a memory of somebody who moved, as a backbone has it."""
    file = folder / "talk.json"
    file.write_text(json.dumps(DATED), encoding="utf-8")
    assert goalmem("ingest", str(file), "--format", "openai", "--quiet").code == 0
    made = seeing(lambda _: LoadedModel(ScriptedModel(understands), "scripted", "full", 8192, at_once=4))
    outcome = goalmem("index", name, "--quiet", factories=made)
    assert outcome.code == 0, outcome.err
    return goalmem


@pytest.mark.parametrize("name", sorted(HISTORIES))
def test_each_backbone_that_decides_tells_what_happened_and_proves_what_is_so_now(
    goalmem: Goalmem, tmp_path: Path, name: str
) -> None:
    """A history lists each event with its turns; in a proof stands what the fact took the place of, and until when."""
    text, place, events = HISTORIES[name]
    command = built(goalmem, tmp_path, name)

    def answers(request: Request) -> str:
        if request.step.partition("_")[0] in ("amem", "mem0", "graphiti"):
            return understands(request)
        told = claims(1, text, x=place)
        return proved(told, plan=plan(HOME, HOME), status="settled", wording=place)(request)

    made = seeing(lambda _: LoadedModel(ScriptedModel(answers), "scripted", "full", 8192))
    shown = command("search", "Priya home", "--backbone", name, "--json", factories=made)
    hits = [each for each in json.loads(shown.out)["hits"] if "in_place_of" in each["attributes"]]
    unit = next(each for each in hits if each["text"].startswith(text))
    (before,) = unit["attributes"]["in_place_of"]
    document = json.loads(command("index", name, "--history", unit["unit"][:12], "--json").out)
    assert [each["event"] for each in document["history"]] == events
    assert all(each["turns"] and each["said"] for each in document["history"])
    asked = command("ask", "Where is Priya's home?", "--backbone", name, "--trace", factories=made)
    assert f"in place of: {before}" in " ".join(asked.err.replace("│", " ").split()), asked.err


def test_magma_overwrites_nothing_and_says_so(goalmem: Goalmem, tmp_path: Path) -> None:
    """Its events stay as they are: there is no history of them."""
    outcome = built(goalmem, tmp_path, "magma")("index", "magma", "--history", "a")
    assert (outcome.code, outcome.error_lines[0]) == (
        2, "the backbone magma keeps no history: its units never replace each other"
    )  # fmt: skip

"""`remem` through the command line: built by `goalmem index`, searched, and explored by its reasoners."""

import json
from pathlib import Path

import pytest

from goalmem_cli.ports import JsonShape, Request
from goalmem_cli.prompts import Profile
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.wiring import Factories, LoadedModel
from tests.invoking import Goalmem, seeing
from tests.reasoners.forward import says
from tests.reasoners.scripting import number_of

QUESTION = "Which drink did Alice order at cafe Momoco?"


def reply(request: Request) -> str:
    """Return a fitting reply to whatever is asked: one gist and one fact a chunk, and a look-up before the answer."""
    is_json = isinstance(request.shape, JsonShape)
    if request.step == "remem_extract":
        gist = {"turns": ["T1"], "text": "Alice ordered a Kyoto Latte.", "when": ""}
        fact = {"turns": ["T1"], "subject": "Alice", "predicate": "ordered", "object": "Kyoto Latte"}
        times = {"point_in_time": "", "start_time": "", "end_time": ""}
        lines = "gist T1: Alice ordered a Kyoto Latte\nfact T1: Alice | ordered | Kyoto Latte"
        return json.dumps({"gists": [gist], "facts": [fact | times]}) if is_json else lines
    if "F1. " not in request.growing:
        return _written({"thought": "look", "tool": "semantic_retrieve", "query": "Kyoto Latte"}, is_json)
    number = number_of(request, "Kyoto Latte")
    if request.step == "read":
        return says(["Kyoto Latte"], answer="Kyoto Latte")(request)
    fields = {"thought": "that is it", "tool": "output_answer", "answer": "Kyoto Latte"}
    return _written(fields | {"facts": [number] if is_json else number}, is_json)


def _written(fields: dict[str, object], is_json: bool) -> str:
    return json.dumps(fields) if is_json else "\n".join(f"{name}: {value}" for name, value in fields.items())


def answering(profile: Profile) -> Factories:
    """Return a scripted model of the profile."""
    return seeing(lambda _: LoadedModel(ScriptedModel(reply), "scripted", profile, 8192, at_once=4))


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["full", "compact"])
def test_from_turns_to_an_answer(momoco: Goalmem, profile: Profile) -> None:
    """Not built is an error with the command that builds; then search, `remem`, `remem-single` and others use it."""
    factories = answering(profile)
    refused = momoco("ask", QUESTION, "--backbone", "remem", factories=factories)
    built = json.loads(momoco("index", "remem", "--json", factories=factories).out)
    again = json.loads(momoco("index", "remem", "--json", factories=factories).out)
    found = json.loads(momoco("search", "Kyoto Latte", "--backbone", "remem", "--json", factories=factories).out)

    assert refused.code == 3
    assert refused.error_lines[1].startswith("goalmem index remem")
    assert (built["parts"], built["failed"], built["units"]["phrase"]) == (3, [], 2)
    assert built["units"]["gist"] == built["units"]["fact"] > 2
    assert (again["parts"], again["calls"], again["units"]) == (0, 0, built["units"])
    texts = {hit["text"].rstrip(".") for hit in found["hits"]}
    assert texts >= {"Alice ordered a Kyoto Latte", "(Alice, ordered, Kyoto Latte)"}
    assert any("talked me into a Kyoto Latte" in text for text in texts)
    for reasoner in ("remem", "remem-single", "direct"):
        words = ("ask", QUESTION, "--backbone", "remem", "--reasoner", reasoner)
        outcome = momoco(*words, factories=factories)
        assert (outcome.code, outcome.out) == (0, "Kyoto Latte\n"), outcome.err
    assert momoco("doctor", factories=factories).code == 0


@pytest.mark.parametrize(("words", "steps"), [((), 5), (("--max-steps", "3"), 3)])
def test_the_user_says_how_many_steps(momoco: Goalmem, words: tuple[str, ...], steps: int) -> None:
    """A model that keeps looking is made to answer after so many of them, which is one call more."""
    model = ScriptedModel(keeps_looking)
    factories = seeing(lambda _: LoadedModel(model, "scripted", "full", 8192, at_once=4))
    momoco("index", "remem", "-q", factories=factories)
    asked = model.calls
    outcome = momoco("ask", QUESTION, "--backbone", "remem", "--reasoner", "remem", *words, factories=factories)

    assert (outcome.code, outcome.out) == (0, "Kyoto Latte\n"), outcome.err
    assert model.calls - asked == steps + 1


def keeps_looking(request: Request) -> str:
    """Return another retrieval wherever one may be called, each for something else."""
    if request.step != "remem" or "semantic_retrieve" not in str(request.shape):
        return reply(request)
    query = f"Kyoto Latte {request.growing.count('Found: ')}"
    return _written({"thought": "look", "tool": "semantic_retrieve", "query": query}, True)


@pytest.mark.parametrize("reasoner", ["remem", "remem-single"])
def test_the_reasoners_need_their_backbone(momoco: Goalmem, reasoner: str) -> None:
    """Over turns alone there is no graph to explore."""
    outcome = momoco("ask", QUESTION, "--reasoner", reasoner, factories=answering("full"))

    assert outcome.code == 2
    assert outcome.error_lines[1] == "--backbone remem"


@pytest.mark.model
@pytest.mark.slow
def test_with_the_bundled_model(goalmem: Goalmem, tmp_path: Path) -> None:
    """Whatever the small model makes of it, nothing breaks: units name turns, and a question ends."""
    lines = [
        "**Alice:** I ordered a Kyoto Latte at cafe Momoco.",
        "**Ben:** Was it green?",
        "**Alice:** It was, and sweet.",
    ]
    (tmp_path / "cafe.md").write_text("# 8 May 2023\n\n" + "\n\n".join(lines) + "\n", encoding="utf-8")
    assert goalmem("ingest", str(tmp_path / "cafe.md")).code == 0
    built = goalmem("index", "remem", "--json")
    assert built.code == 0, built.err
    words = ("--backbone", "remem", "--reasoner", "remem", "--max-steps", "2", "--json")
    outcome = goalmem("ask", QUESTION, *words)
    document = json.loads(outcome.out)

    assert outcome.code in (0, 1), outcome.err
    assert json.loads(built.out)["failed"] == []
    assert document["reasoner"] == "remem"
    assert document["status"] in ("answered", "unknown")
    assert set(document["evidence"]) <= set(document["facts"])

"""A trace is written as the documented JSON and read back as it was."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.records import Question
from goalmem_cli.testing import ListBackbone, ScriptedModel
from goalmem_cli.trace import as_document, from_document
from tests.conftest import examples
from tests.reasoners.scripting import FULL, MOMENT, answered, ask, chat, grounds, plan, refined, unified
from tests.reasoners.test_bounds import TURNS, ProofAdversary


@given(st.integers(0, 10**9))
@settings(max_examples=examples(40))
def test_every_trace_comes_back_from_its_document(seed: int) -> None:
    """Through JSON text and back nothing is lost, whatever the question did."""
    engine = GoalMem(
        ListBackbone(TURNS),
        ScriptedModel(ProofAdversary(seed)),
        FULL,
        Limits(max_breadth=2, max_depth=2),
        planning="paper",
    )
    trace = engine.answer(Question("Who?", MOMENT, "Alice"))

    assert from_document(json.loads(json.dumps(as_document(trace)))) == trace


def test_document_has_the_documented_keys() -> None:
    """The document that `ask --json` prints has the keys that scripts rely on, with turns by their own ids."""
    drink = plan("(Alice) ordered (x:drink)", "(Alice) ordered (x:drink)")
    trace, _ = ask(
        chat("Alice: I ordered a Kyoto Latte.", "--", "Ben: My dog is at the cafe."), "Which drink?", drink,
        unified(unresolved={1: "unclear"}), refined((1, "(Ben) has a dog at (y:cafe)", "cafe dog")),
        unified(grounds(1, "Latte", x="Kyoto Latte"), grounds(2, "My dog", y="the cafe")), answered("Kyoto Latte"),
    )  # fmt: skip
    document: dict[str, Any] = as_document(trace)

    assert next(iter(document)) == "schema_version"
    assert document["schema_version"] == 9
    assert (document["status"], document["reasoner"], document["answer"]) == ("answered", "goal-mem", "Kyoto Latte")
    assert document["substitution"] == {"x": ["Kyoto Latte"], "y": ["the cafe"]}
    assert document["evidence"] == ["F1", "F2"]
    fact = document["facts"]["F1"]
    assert {key: fact[key] for key in ("turns", "conversation", "speaker", "said", "text")} == {
        "turns": ["D1:1"], "conversation": "chat", "speaker": "Alice", "said": "2023-05-01T18:00:00",
        "text": "I ordered a Kyoto Latte.",
    }  # fmt: skip
    first, second = document["attempts"][0]["steps"]
    assert document["attempts"][0]["breadth"] == 1
    assert (first["depth"], first["queries"], first["new_facts"]) == (0, ["Alice ordered drink"], ["F1"])
    assert {"subgoal": 0, "why": "unclear"}.items() <= first["unresolved"][0].items()
    assert first["refined"] == [
        {"of": 0, "subgoal": "(Ben) has a dog at (y:cafe)", "query": "cafe dog", "relation": "semantic"}
    ]
    assert second["grounded"][0]["support"] == {"x": "stated"}
    assert {"calls", "prompt_tokens", "cached_tokens", "completion_tokens", "seconds"} == document["usage"].keys()


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"schema_version": 7},
        {"schema_version": 1},
        {"schema_version": 1, "facts": 3},
        {"schema_version": 1, "evidence": "F1"},
    ],
)
def test_what_is_no_trace_is_refused(document: dict[str, object]) -> None:
    """A document of another version or form is a ValueError, never a half-read trace."""
    with pytest.raises(ValueError, match=r"trace|schema_version"):
        from_document(document)

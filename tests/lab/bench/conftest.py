"""What the tests of the benchmark share: the bundled model's weights, and questions that were recorded."""

from __future__ import annotations

import pytest

from goalmem_cli.lab.bench.calls import RecordedQuestion, Weights
from goalmem_cli.models.catalogue import resolve
from goalmem_cli.ports import Example, GrammarShape, JsonShape, Request

PLACE = JsonShape({"type": "object", "properties": {"place": {"enum": ["Leeds", "Oslo"]}}, "required": ["place"]})


def asking(question: str, facts: str = "", shape: JsonShape | GrammarShape | None = None) -> Request:
    """A short request whose fixed part is long enough to be kept."""
    return Request(
        step="read",
        system="Answer the question from what was said, in one or two words, and nothing else.",
        examples=(Example("Tom: My boat is green.\nWhich colour is the boat?", "green"),),
        growing=facts,
        tail=question,
        shape=shape or GrammarShape("root ::= [a-zA-Z ]{1,12}"),
        max_tokens=8,
    )


@pytest.fixture(scope="session")
def weights() -> Weights:
    """The bundled model as it is shipped, for both ways."""
    path = resolve("smollm2-135m").path
    return Weights(path, path, context=1024, threads=1)


@pytest.fixture(scope="session")
def recorded() -> list[RecordedQuestion]:
    """Two questions: one of two calls, of which the first has two requests, and one of a single call."""
    facts = "Priya: My sister moved to Leeds, and I stay here in Oslo with the cats.\n"
    first = (asking("Where does the sister live?", facts), asking("Where do the cats live?", facts))
    return [
        RecordedQuestion("Where do they live?", (first, (asking("Who has cats?", facts, PLACE),))),
        RecordedQuestion("Who?", ((asking("Who speaks?", facts),),)),
    ]

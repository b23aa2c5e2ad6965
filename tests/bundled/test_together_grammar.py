"""Every schema of the prover `together` is a grammar of llama.cpp, and the bundled model decodes it to valid JSON."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.model_replies import parse_json
from goalmem_cli.models.in_process.llama import LlamaModel
from goalmem_cli.models.in_process.prompt_tokens import PromptTokens
from goalmem_cli.ports import JsonShape, Request
from goalmem_cli.reasoners.goal_mem import Limits
from tests.reasoners.scripting import ask_together, chat, checked, claims, plan, proved, wants

TURNS = chat("Alice: I ordered a Kyoto Latte at Momoco.", "Ben: My dog is called Biscuit.", "Alice: Rain again.")
LATTE = claims(1, "Kyoto Latte", x="Kyoto Latte")
OPEN = plan("(Alice) ordered (x:drink)", "(Alice) ordered (x:drink)")
CLOSED = plan("(Alice) ordered tea", "(Alice) ordered tea", answer=())
LESS = plan("(Alice) had (x:drink)", "(Alice) had (x:drink)")


def exchanges() -> dict[str, tuple[Request, str]]:
    """Return one request of each schema with a reply to it: plans to write, given, closed, declined; the last check."""
    look = proved(plan=OPEN, open=[wants(1, "dog Biscuit", needs="(Ben) has (y:dog)")])
    few = Limits(budget=2)
    _, asked = ask_together(
        TURNS, "What did Alice order at Momoco?", look, proved(LATTE, wording="Kyoto Latte"), limits=few
    )
    _, closed = ask_together(
        TURNS, "Did Alice order tea at Momoco?",
        proved(plan=CLOSED, open=[wants(1, "dog Biscuit")]), proved(status="stop"), limits=few,
    )  # fmt: skip
    _, further = ask_together(
        TURNS, "What did Alice order at Momoco?",
        proved(plan=OPEN, open=[wants(1, "Kyoto")]), proved(LATTE, plan=LESS, wording="Kyoto Latte"), checked(),
    )  # fmt: skip
    return {
        "a plan to write": exchange(asked.seen[0], look),
        "a plan that is given": exchange(asked.seen[1], proved(LATTE, wording="Kyoto Latte")),
        "a closed plan that is given": exchange(closed.seen[1], proved(wording="likely no")),
        "a further plan": exchange(further.seen[1], proved(LATTE, plan=LESS, wording="Kyoto Latte")),
        "the last check": (further.seen[2], checked(False, "it is a plan")),
    }


def exchange(request: Request, reply: object) -> tuple[Request, str]:
    """Return the request with what a scripted reply says to it."""
    assert callable(reply)
    return request, reply(request)


NAMES = list(exchanges())


@pytest.fixture(scope="module")
def tokens(bundled_path: Path) -> Iterator[PromptTokens]:
    """Return the bundled model's vocabulary."""
    with closing(PromptTokens(bundled_path)) as found:
        yield found


@pytest.mark.parametrize("name", NAMES)
def test_schema_is_a_grammar_that_lets_a_reply_through(tokens: PromptTokens, name: str) -> None:
    """llama.cpp compiles it; it lets a model write a right reply, and no fact or subgoal that there is not."""
    request, reply = exchanges()[name]

    assert tokens.allows(request, json.dumps(json.loads(reply)))
    if "F1" in reply:
        assert not tokens.allows(request, reply.replace("F1", "F9"))
    assert not tokens.allows(request, reply.replace("S1", "S9")) or "S1" not in reply


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a plan to write", "a closed plan that is given", "the last check"])
def test_bundled_model_decodes_valid_json(name: str, bundled_path: Path) -> None:
    """With the full prompts, whatever it says, the reply is JSON of its schema, whose texts and lists are short here."""
    request, _ = exchanges()[name]
    assert isinstance(request.shape, JsonShape)
    short = replace(request, shape=JsonShape(shortened(request.shape.schema)))
    with closing(LlamaModel.from_file(bundled_path, context=4096, threads=1)) as model:
        (completion,) = model.complete([short])

    assert completion.is_complete
    parse_json(completion.text, request.shape.schema)


def shortened(schema: Any) -> Any:
    """Return the schema with at most one item a list and a few letters a text, so that a small model comes to an end."""
    if isinstance(schema, list):
        return [shortened(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    most = {"maxItems": 1, "maxLength": 12}
    return {key: min(value, most[key]) if key in most else shortened(value) for key, value in schema.items()}

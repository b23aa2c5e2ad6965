"""Requests in one call and one by one are the same requests."""

from __future__ import annotations

from datetime import datetime

from goalmem_cli.lab.bench.batch import compare_batch, extraction_requests
from goalmem_cli.lab.bench.ways import Weights
from goalmem_cli.records import Conversation, Turn


def conversation(*sessions: str) -> Conversation:
    """One turn a session."""
    turns = (Turn("c", place, place, "Priya", text, datetime(2024, 1, 1)) for place, text in enumerate(sessions))
    return Conversation("c", "made-up", tuple(turns))


def test_each_session_is_one_request() -> None:
    """At most as many as wanted, each with what was said in it."""
    talk = [conversation("I moved to Leeds.", "The cats are well."), conversation("My boat is green.")]
    assert [request.growing for request in extraction_requests(talk, 9)] == [
        "Priya: I moved to Leeds.", "Priya: The cats are well.", "Priya: My boat is green."
    ]  # fmt: skip
    assert len(extraction_requests(talk, 2)) == 2


def test_both_ways_are_measured(weights: Weights) -> None:
    """The prompts are the same, and what they share is evaluated once either way."""
    requests = extraction_requests([conversation("I moved to Leeds.", "The cats are well.")], 2)
    compared = compare_batch(weights, requests, rounds=1)
    assert (compared.requests, compared.rounds) == (2, 1)
    assert compared.together.prompt_tokens == compared.one_by_one.prompt_tokens > 0
    assert compared.together.evaluated_tokens <= compared.together.prompt_tokens
    assert min(compared.together.seconds, compared.one_by_one.seconds) > 0
    assert min(compared.together.reply_tokens, compared.one_by_one.reply_tokens) > 0

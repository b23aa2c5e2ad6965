"""What the tests of the benchmark share: a short request."""

from __future__ import annotations

from goalmem_cli.ports import Example, GrammarShape, Request


def asking(question: str) -> Request:
    """A short request whose fixed part is long enough to be kept."""
    return Request(
        step="read",
        system="Answer the question from what was said, in one or two words, and nothing else.",
        examples=(Example("Tom: My boat is green.\nWhich colour is the boat?", "green"),),
        growing="",
        tail=question,
        shape=GrammarShape("root ::= [a-zA-Z ]{1,12}"),
        max_tokens=8,
    )

"""Compare independent requests in one call with one call each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby, islice

from goalmem_cli.lab.bench.calls import CallCost, make_calls
from goalmem_cli.lab.bench.timing import Progress, unwatched
from goalmem_cli.lab.bench.ways import Weights
from goalmem_cli.ports import GrammarShape, Request
from goalmem_cli.records import Conversation

_ASKED = "List what is said about people, one fact a line."
_FACTS = r"""root ::= fact ("\n" fact){0,5}
fact ::= [A-Z] [^\n]{8,90}
"""
_MAX_TOKENS = 96


@dataclass(frozen=True, slots=True)
class BatchComparison:
    """The cost of the same requests in one call and one by one, over `rounds` rounds, each with a new model."""

    requests: int
    rounds: int
    together: CallCost
    one_by_one: CallCost


def extraction_requests(conversations: Iterable[Conversation], most: int) -> list[Request]:
    """Return at most `most` requests, one per session, to list the facts in it."""
    return [
        Request("extract", _ASKED, (), said, "", GrammarShape(_FACTS), _MAX_TOKENS)
        for said in islice(_sessions(conversations), most)
    ]


def compare_batch(
    weights: Weights, requests: Sequence[Request], *, rounds: int = 2, report: Progress = unwatched
) -> BatchComparison:
    """Make the requests in both ways in turn; nothing is kept between rounds.

    `report` receives the number of rounds done.

    Raises:
        ModelError: the model cannot be used.
    """
    together = one_by_one = CallCost()
    for done in range(1, rounds + 1):
        with closing(weights.goalmem()) as model:
            together += make_calls(model, (tuple(requests),))
        with closing(weights.goalmem()) as model:
            one_by_one += make_calls(model, tuple((request,) for request in requests))
        report(done, rounds)
    return BatchComparison(len(requests), rounds, together, one_by_one)


def _sessions(conversations: Iterable[Conversation]) -> Iterator[str]:
    for conversation in conversations:
        for _, turns in groupby(conversation.turns, key=lambda turn: turn.session):
            yield "\n".join(f"{turn.speaker}: {turn.text}" for turn in turns)

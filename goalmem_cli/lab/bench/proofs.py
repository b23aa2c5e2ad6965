"""Measure the calls and prompt tokens of proofs when a model replies according to gold plans.

No model runs. Prompts are counted in tokens of a real model's vocabulary. The beginning that a prompt shares with the
previous prompt of its step counts as cached (DESIGN section 3), as in goalmem's calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import takewhile
from typing import TypeAlias

from goalmem_cli.lab.bench.timing import Progress, unwatched
from goalmem_cli.ports import Completion, LanguageModel, Reasoner, Request
from goalmem_cli.records import Question, Usage
from goalmem_cli.trace import Fact, Status, Trace


class Group(StrEnum):
    """Groups of questions by what a proof must do: whether the first facts contain the evidence."""

    AT_HAND = "at hand"
    FURTHER = "not at hand"
    REFUSED = "unanswerable"


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question with a factory of gold replies, one per reasoner; `evidence` are labels of turns."""

    question: Question
    replies: Callable[[], Callable[[Request], str]]
    evidence: frozenset[str]
    conversation: str
    is_unanswerable: bool = False


@dataclass(frozen=True, slots=True)
class ProofCost:
    """The total cost of a group's questions for one reasoner; `right` counts those that ended as the plan says.

    `checks` counts answers with a final check, each of which is one call.
    """

    reasoner: str
    group: Group
    questions: int = 0
    right: int = 0
    checks: int = 0
    most_calls: int = 0
    usage: Usage = field(default_factory=Usage)

    def plus(self, trace: Trace, is_right: bool) -> ProofCost:
        """Return the cost with one more question."""
        return ProofCost(
            self.reasoner, self.group, self.questions + 1, self.right + is_right,
            self.checks + (trace.check is not None), max(self.most_calls, trace.usage.calls), self.usage + trace.usage,
        )  # fmt: skip


Tokens: TypeAlias = Sequence[int]


class CountedReplies:
    """A model that gives set replies, and counts the tokens of prompts and the cached ones among them."""

    def __init__(
        self, reply: Callable[[Request], str], prompt: Callable[[Request], Tokens], kept: dict[str, Tokens]
    ) -> None:
        """Take the replies, the tokeniser of prompts, and the last prompt of each step, which calls update."""
        self._reply = reply
        self._prompt = prompt
        self._kept = kept

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the replies."""
        return [self._complete(request) for request in requests]

    def _complete(self, request: Request) -> Completion:
        tokens = self._prompt(request)
        before = self._kept.get(request.step, ())
        kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(tokens, before, strict=False)))
        self._kept[request.step] = tokens
        return Completion(self._reply(request), len(tokens), min(kept, len(tokens) - 1), 0)


def measure_proofs(
    questions: Sequence[GoldQuestion],
    build: Mapping[str, Callable[[LanguageModel], Reasoner]],
    prompt: Callable[[Request], Tokens],
    deciding: str,
    report: Progress = unwatched,
) -> list[ProofCost]:
    """Return the cost of the questions for each reasoner, grouped by the traces of the `deciding` reasoner.

    That reasoner runs first. `report` receives the number of questions done.

    Raises:
        StoreError: the memory cannot be read.
    """
    names = [deciding, *(name for name in build if name != deciding)]
    costs = {(group, name): ProofCost(name, group) for group in Group for name in build}
    kept: dict[str, dict[str, Tokens]] = {name: {} for name in names}
    for done, asked in enumerate(questions, 1):
        group = Group.REFUSED
        for name in names:
            trace = build[name](CountedReplies(asked.replies(), prompt, kept[name])).answer(asked.question)
            if name == deciding and not asked.is_unanswerable:
                group = Group.AT_HAND if asked.evidence <= _first_shown(trace, asked.conversation) else Group.FURTHER
            is_right = (trace.status is Status.ANSWERED) is not asked.is_unanswerable
            costs[group, name] = costs[group, name].plus(trace, is_right)
        report(done, len(questions))
    return [cost for cost in costs.values() if cost.questions]


def _first_shown(trace: Trace, conversation: str) -> frozenset[str]:
    """Return the labels of the conversation's turns shown in the first round."""
    first = trace.attempts[0].steps[0].new_facts if trace.attempts else ()
    return frozenset(_labels((trace.facts[number] for number in first), conversation))


def _labels(facts: Iterable[Fact], conversation: str) -> Iterable[str]:
    return (label for fact in facts if fact.conversation == conversation for label in fact.turns)

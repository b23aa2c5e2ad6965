"""What both forms of questions have: statements with their turns, groundings of them, and a choice among questions."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from goalmem_cli.lab.bench.sums.questions import Gold, Sum
from goalmem_cli.lab.bench.sums.story import Said, Story
from goalmem_cli.lab.bench.tot.facts import Span, TimedGraph
from goalmem_cli.transcripts.readers.statements import SPEAKER

MOST_GROUNDINGS = 12
"""How many facts one reply of the step `plan_and_prove` grounds at most; questions that need more are not asked."""

Key = tuple[int, int]
Ask = Callable[["Told", random.Random], Iterator[Sum]]


@dataclass(frozen=True, slots=True)
class Told:
    """A graph in words: its story, and the label and text of the statement of each span."""

    graph: TimedGraph
    story: Story
    labels: Mapping[Span, str]

    @property
    def statements(self) -> dict[Span, str]:
        """The statement of each span, by when they began."""
        texts = {turn.label: turn.text for turn in self.story.turns}
        return {span: texts[label] for span, label in self.labels.items()}


def told(graph: TimedGraph, name: str, say: Callable[[Span], str]) -> Told:
    """Return the graph in words, a statement for each span, said when it began."""
    spans = sorted(graph.spans, key=lambda span: (span.first, say(span)))
    labels = {span: f"S{number}" for number, span in enumerate(spans, 1)}
    turns = [Said(label, SPEAKER, say(span), datetime(span.first, 1, 1)) for span, label in labels.items()]
    return Told(graph, Story(name, (SPEAKER, SPEAKER), turns), labels)


def groups(spans: Iterable[Span], key: Callable[[Span], Key]) -> dict[Key, list[Span]]:
    """Return the spans that share a key, by when they began."""
    found: dict[Key, list[Span]] = {}
    for span in sorted(spans, key=lambda span: (span.first, span.subject, span.object)):
        found.setdefault(key(span), []).append(span)
    return found


def grounded(
    told: Told, spans: Sequence[Span], subgoal: int, bindings: Callable[[Span], Mapping[str, str]]
) -> tuple[Gold, ...]:
    """Return a grounding of a subgoal for each span."""
    return tuple(Gold(subgoal, told.labels[span], bindings(span)) for span in spans)


def chosen(told: Told, asks: Iterable[Ask], chance: random.Random) -> list[Sum]:
    """Return a question of each kind that the graph has one of, which one by chance."""
    found: list[Sum] = []
    for ask in asks:
        possible = [question for question in ask(told, chance) if len(question.groundings) <= MOST_GROUNDINGS]
        if possible:
            found.append(chance.choice(possible))
    return found

"""Facts: hits as the model sees them, numbered once for a whole question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from goalmem_cli.logic.annotations import annotations_of
from goalmem_cli.logic.dates import say
from goalmem_cli.ports import Backbone
from goalmem_cli.records import Hit, Query, Question, Unit
from goalmem_cli.trace import Fact

_LETTERS_PER_TOKEN = 3.2  # of English
_TOKENS_PER_BYTE = 0.72  # of other scripts in UTF-8, at worst: emoji
_TOKENS_PER_LINE = 24  # number, colon and the time it was said


class NumberedFacts:
    """Retrieves for one question and numbers what it sees: a unit keeps its number for the whole question."""

    def __init__(self, backbone: Backbone, question: Question) -> None:
        self._backbone = backbone
        self._question = question
        self._facts: dict[str, Fact] = {}

    @property
    def by_number(self) -> Mapping[str, Fact]:
        """Every fact seen so far."""
        return {fact.number: fact for fact in self._facts.values()}

    def hits(self, query: str, k: int) -> list[Hit]:
        """Return at most k hits within the question's scope; remembered answers are none.

        Raises:
            StoreError: the memory could not be read.
        """
        scope = Query(
            query, conversations=self._question.conversations, until=self._question.as_of, asked=self._question.asked
        )
        return [hit for hit in self._backbone.retrieve(scope, k) if hit.unit.kind != "answer"]

    def fact(self, hit: Hit) -> Fact:
        """Return the hit as a fact, under the number that it has or the next one."""
        unit = hit.unit
        if unit.id not in self._facts:
            self._facts[unit.id] = Fact(
                number=f"F{len(self._facts) + 1}",
                unit=unit.id,
                turns=unit.labels,
                conversation=unit.conversation,
                speaker=unit.speaker,
                said=unit.said,
                text=unit.text,
                before=hit.before,
                after=hit.after,
                times=said_times(unit),
            )
        return self._facts[unit.id]


def said_times(unit: Unit) -> tuple[str, ...]:
    """Return what the relative expressions in the unit's text mean, as facts say it (DESIGN section 7)."""
    return tuple(say(annotation) for annotation in annotations_of(unit.attributes))


def token_cost(speaker: str, text: str, times: Sequence[str]) -> int:
    """Return about how many tokens a fact's line has, rather too many than too few."""
    data = " ".join((speaker, text, *times)).encode()
    letters = sum(byte < 128 for byte in data)
    return int(letters / _LETTERS_PER_TOKEN + (len(data) - letters) * _TOKENS_PER_BYTE) + _TOKENS_PER_LINE


def hit_cost(hit: Hit) -> int:
    """Return about how many tokens the hit's line has as a fact."""
    return token_cost(hit.unit.speaker, hit.unit.text, said_times(hit.unit))


def round_robin(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Return the hits of all lists, the best of each first."""
    return [hit for row in zip_longest(*lists) for hit in row if hit is not None]

"""Gold labels in the place of a model's: the units of `stitch` as it would write them if it made no mistake."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from goalmem_cli.backbones.stitch import NAME
from goalmem_cli.backbones.stitch.backbone import windows_of
from goalmem_cli.backbones.stitch.intent import Facet, Intent, Labels, snippet_unit
from goalmem_cli.lab.bench.came.records import QuestionLabels, TurnLabels
from goalmem_cli.memory_ports import StructuredMemory
from goalmem_cli.memory_records import Derivation
from goalmem_cli.records import Query, Turn, Unit


def derive_gold(store: StructuredMemory, labels: Mapping[str, TurnLabels], *, gold_notes: bool) -> None:
    """Store a snippet with the gold labels of each turn; its note is the gold one, or else the turn's own text.

    Raises:
        StoreError: the store cannot be used.
    """
    for _, members in groupby(store.turns(), key=lambda turn: turn.conversation):
        turns = list(members)
        (part,) = windows_of(turns, len(turns))
        units = [_snippet(turn, labels[turn.label], gold_notes) for turn in turns if turn.label in labels]
        store.derive(NAME, [Derivation(part, tuple(units))])


@dataclass(frozen=True, slots=True)
class Selector:
    """Chooses the gold labels of questions, by their texts; with the chance `wrong` another label for each of them.

    The same question gets the same labels, whoever asks and however often.
    """

    asked: Mapping[str, QuestionLabels]
    wrong: float = 0.0
    seed: int = 0

    def choose(self, query: Query, known: Labels) -> Labels:
        """Return the labels to look for, of those that there are."""
        labels = self.asked[query.text]
        gold: Labels = {Facet.SCOPE: labels.scopes, Facet.EVENT: labels.events, Facet.ENTITY: labels.entity_types}
        chance = random.Random(f"{self.seed} {query.text}")  # noqa: S311 - no secret, but the same each time
        return {facet: self._of(names, known.get(facet, ()), chance) for facet, names in gold.items()}

    def _of(self, names: Sequence[str], known: Sequence[str], chance: random.Random) -> tuple[str, ...]:
        there = [name for name in names if name in set(known)]
        return tuple(dict.fromkeys(chance.choice(known) if chance.random() < self.wrong else name for name in there))


def _snippet(turn: Turn, labels: TurnLabels, gold_notes: bool) -> Unit:
    intent = Intent(labels.scope, labels.event, labels.entity_types)
    return snippet_unit(turn, labels.note if gold_notes else turn.text, intent)

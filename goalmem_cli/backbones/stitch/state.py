"""The state before a window of turns: labels, summaries and earlier notes, rebuilt from the stored units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from goalmem_cli.backbones.stitch.intent import (
    INVENTORY,
    SNIPPET,
    Facet,
    Intent,
    in_order,
    intent_of,
    inventory_of,
    known_as,
)
from goalmem_cli.records import Turn, Unit


@dataclass(frozen=True, slots=True)
class Seen:
    """A turn that was read, its labels, and its canonical note."""

    turn: Turn
    intent: Intent
    note: str


@dataclass(slots=True)
class State:
    """What is known of a conversation so far; it grows with every turn that is read.

    `scopes` has the most recently used scope first.
    """

    seen: list[Seen] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)
    summaries: dict[str, str] = field(default_factory=dict)
    vocabulary: dict[Facet, list[str]] = field(default_factory=lambda: {Facet.EVENT: [], Facet.ENTITY: []})

    @classmethod
    def from_units(cls, turns: Sequence[Turn], units: Iterable[Unit]) -> State:
        """Return the state after these turns; units of other turns are ignored."""
        state = cls()
        said = {turn.id: turn for turn in turns}
        for unit in sorted(units, key=in_order):
            if not all(turn in said for turn in unit.turns):
                continue
            if unit.kind == SNIPPET:
                state.saw(said[unit.turns[0]], intent_of(unit), unit.text)
            elif unit.kind == INVENTORY:
                inventory = inventory_of(unit)
                state.rename(inventory.renamed)
                state.vocabulary = {Facet.EVENT: list(inventory.events), Facet.ENTITY: list(inventory.entity_types)}
            else:
                state.summaries[str(unit.attributes["scope"])] = unit.text
        return state

    @property
    def scope(self) -> str:
        """The scope of the last turn; "" before the first."""
        return self.scopes[0] if self.scopes else ""

    def saw(self, turn: Turn, intent: Intent, note: str) -> None:
        """Add a turn with its labels and note; its labels become known."""
        self.seen.append(Seen(turn, intent, note))
        if intent.scope:
            self.scopes = [intent.scope, *(scope for scope in self.scopes if scope != intent.scope)]
        for facet, labels in ((Facet.EVENT, [intent.event]), (Facet.ENTITY, intent.entity_types)):
            known = self.vocabulary[facet]
            known.extend(label for label in labels if label and label not in known)

    def reused(self, label: str, facet: Facet) -> str:
        """Return the known label of that kind that differs at most in case, or else the label."""
        return known_as(label, self.scopes if facet is Facet.SCOPE else self.vocabulary[facet])

    def rename(self, renamed: Mapping[Facet, Mapping[str, str]]) -> None:
        """Replace merged labels in the vocabularies and in all turns seen."""
        for facet, names in renamed.items():
            self.vocabulary[facet] = [label for label in self.vocabulary[facet] if label not in names]
        self.seen = [Seen(each.turn, each.intent.renamed(renamed), each.note) for each in self.seen]

    def aligned(self, scope: str, event: str, most: int) -> list[str]:
        """Return the notes of at most `most` earlier turns with the same scope or event type, in their order.

        Turns that share both are preferred, then those that share the scope, then the event type; later turns come
        before earlier ones.
        """
        kin = [
            (2 * (bool(scope) and each.intent.scope == scope) + (bool(event) and each.intent.event == event), place)
            for place, each in enumerate(self.seen)
        ]
        best = sorted((one for one in kin if one[0]), reverse=True)[:most]
        return [self.seen[place].note for place in sorted(place for _, place in best)]

"""Contextual intent and the units that hold it (STITCH sections 2.1-2.2), as pure functions.

A snippet is a note on one turn, with its labels as they were at that time. An inventory at the end of every window has
the labels known then, and which of them were renamed. A summary is the text of a scope after a window. Labels are
nodes, with the names that the last inventories give them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from goalmem_cli.backbones.structured.units import derived_unit, node
from goalmem_cli.model_replies import in_one_line
from goalmem_cli.records import Edge, Turn, Unit

SNIPPET, INVENTORY, SUMMARY = "snippet", "inventory", "summary"


class Facet(StrEnum):
    """The three kinds of label; also the kinds of the labels' nodes, and of the edges from snippets to them."""

    SCOPE = "scope"
    EVENT = "event-type"
    ENTITY = "entity-type"


Labels = Mapping[Facet, tuple[str, ...]]
"""Labels of each kind; a kind may be missing."""
Renamed = Mapping[Facet, Mapping[str, str]]
"""Merged labels by kind: old name -> new name."""


@dataclass(frozen=True, slots=True)
class Intent:
    """The labels of a turn: its scope, its event type (the kind of step it is), and the types of entities it names."""

    scope: str = ""
    event: str = ""
    entity_types: tuple[str, ...] = ()

    @property
    def labels(self) -> Labels:
        """The labels that are not blank, by kind."""
        single = {Facet.SCOPE: self.scope, Facet.EVENT: self.event}
        found = {facet: (label,) for facet, label in single.items() if label}
        return found | ({Facet.ENTITY: self.entity_types} if self.entity_types else {})

    def renamed(self, renamed: Renamed) -> Intent:
        """Return the intent with merged labels replaced, without duplicates."""
        events, types = renamed.get(Facet.EVENT, {}), renamed.get(Facet.ENTITY, {})
        kept = dict.fromkeys(types.get(label, label) for label in self.entity_types)
        return Intent(self.scope, events.get(self.event, self.event), tuple(kept))


@dataclass(frozen=True, slots=True)
class Inventory:
    """The vocabularies at the end of a window, and the labels merged there."""

    events: tuple[str, ...] = ()
    entity_types: tuple[str, ...] = ()
    renamed: Renamed = field(default_factory=dict)


def tidy(label: str) -> str:
    """Return a label in one line, without the quotes and the punctuation that models put around it."""
    return in_one_line(label).strip("\"'`.,;: ")


def known_as(label: str, known: Iterable[str]) -> str:
    """Return the known label that differs from `label` at most in case, or else `label`."""
    return next((other for other in known if other.casefold() == label.casefold()), label)


def snippet_unit(backbone: str, turn: Turn, note: str, intent: Intent, resolved: str = "") -> Unit:
    """Return the snippet of a turn: its canonical note, its labels, and its text with references `resolved`."""
    attributes: dict[str, object] = {
        "scope": intent.scope,
        "event": intent.event,
        "entity_types": list(intent.entity_types),
    }
    return derived_unit(
        backbone, SNIPPET, note, (turn,), attributes=attributes | ({"resolved": resolved} if resolved else {})
    )


def intent_of(snippet: Unit) -> Intent:
    """Return the labels that a snippet was written with."""
    given: Mapping[str, Any] = snippet.attributes
    return Intent(given["scope"], given["event"], tuple(given["entity_types"]))


def whole_text(snippet: Unit, intent: Intent) -> str:
    """Return a snippet as the paper stores it: the note, the labels in their current names, and the turn's text."""
    named = {"scope": intent.scope, "kind of step": intent.event, "details": ", ".join(intent.entity_types)}
    labels = "; ".join(f"{name}: {label}" for name, label in named.items() if label)
    return " ".join(filter(None, (snippet.text, f"[{labels}]" * bool(labels), str(snippet.attributes["resolved"]))))


def inventory_unit(backbone: str, turns: Sequence[Turn], inventory: Inventory) -> Unit:
    """Return the unit of the inventory after the turns of a window."""
    text = f"event types: {', '.join(inventory.events)}; entity types: {', '.join(inventory.entity_types)}"
    attributes = {
        "events": list(inventory.events),
        "entity_types": list(inventory.entity_types),
        "renamed": {facet.value: dict(names) for facet, names in inventory.renamed.items() if names},
    }
    return derived_unit(backbone, INVENTORY, text, turns, attributes=attributes)


def inventory_of(unit: Unit) -> Inventory:
    """Return the inventory that a unit holds."""
    given: Mapping[str, Any] = unit.attributes
    renamed = {Facet(facet): names for facet, names in given["renamed"].items()}
    return Inventory(tuple(given["events"]), tuple(given["entity_types"]), renamed)


def summary_unit(backbone: str, scope: str, text: str, turns: Sequence[Turn]) -> Unit:
    """Return the unit of a scope's summary; `turns` are the turns of the window in that scope."""
    return derived_unit(backbone, SUMMARY, text, turns, identity=(scope,), attributes={"scope": scope})


def current_intents(units: Iterable[Unit]) -> dict[str, Intent]:
    """Return the intent of each snippet among the units, by its id, in current labels.

    Labels that an inventory of a later window merged are replaced.
    """
    found: dict[str, Intent] = {}
    of: dict[str, list[Unit]] = {}
    for unit in units:
        if unit.kind in (SNIPPET, INVENTORY):
            of.setdefault(unit.conversation, []).append(unit)
    for members in of.values():
        found.update(_current(sorted(members, key=in_order)))
    return found


def _current(members: Sequence[Unit]) -> Iterator[tuple[str, Intent]]:
    """Yield each snippet's id and intent, with labels under the names of later mergers."""
    later: dict[Facet, dict[str, str]] = {Facet.EVENT: {}, Facet.ENTITY: {}}
    for unit in reversed(members):
        if unit.kind == SNIPPET:
            yield unit.id, intent_of(unit).renamed(later)
            continue
        for facet, names in inventory_of(unit).renamed.items():
            known = later[facet]
            later[facet] = known | {old: known.get(new, new) for old, new in names.items()}


def in_order(unit: Unit) -> tuple[int, bool, str]:
    """Return a sort key for a conversation's units that puts a window's inventory after its last snippet."""
    return unit.ordinal, unit.kind == INVENTORY, unit.id


def label_nodes(
    backbone: str, snippets: Sequence[Unit], intents: Mapping[str, Intent], facet: Facet
) -> tuple[list[Unit], list[Edge]]:
    """Return the nodes of the labels of a kind, and the edges from the snippets to them."""
    behind: dict[str, list[Unit]] = {}
    for snippet in snippets:
        for label in intents[snippet.id].labels.get(facet, ()):
            behind.setdefault(label, []).append(snippet)
    nodes = {label: node(backbone, facet.value, label, members) for label, members in behind.items()}
    edges = [Edge(snippet.id, nodes[label].id, facet.value) for label, members in behind.items() for snippet in members]
    return list(nodes.values()), edges


def inventory_counts(intents: Iterable[Intent]) -> dict[Facet, Counter[str]]:
    """Return for each kind the number of intents with each label."""
    counts: dict[Facet, Counter[str]] = {facet: Counter() for facet in Facet}
    for intent in intents:
        for facet, labels in intent.labels.items():
            counts[facet].update(labels)
    return counts

"""The backbone `stitch`: a model labels every turn, and a question's labels lead to the turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, zip_longest

import numpy as np

from goalmem_cli.backbones.stitch import EVENT, NAME, NOTE, SCOPE
from goalmem_cli.backbones.stitch.intent import (
    INVENTORY,
    SNIPPET,
    SUMMARY,
    Facet,
    Intent,
    Labels,
    current_intents,
    inventory_counts,
    label_nodes,
    whole_text,
)
from goalmem_cli.backbones.stitch.ranking import WAYS, Choose
from goalmem_cli.backbones.stitch.settings import StitchSettings
from goalmem_cli.backbones.stitch.state import State
from goalmem_cli.backbones.stitch.steps import StitchSteps
from goalmem_cli.backbones.stitch.tracking import WindowReader
from goalmem_cli.backbones.structured.indexing import Plan, about_tokens, batches, derive_all, plan, summary
from goalmem_cli.backbones.structured.kit import Kept, LoadKit, StructuredBackbone
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.memory_ports import StructuredMemory
from goalmem_cli.memory_records import Derivation
from goalmem_cli.model_replies import ask_each
from goalmem_cli.ports import Indexed, Outlook, PartDone
from goalmem_cli.records import Hit, Part, Query, Turn, Unit, content_hash

_KEPT = 16  # the intents of this many sets of conversations are cached
_REQUESTS = 2  # the scope and the event type of a turn are asked in one call
_STEPS_A_TURN = (SCOPE, EVENT, NOTE)
_SHARE_OF_CONTEXT = 3  # a third of the context for the labels shown with a question; the rest is for the prompt


class Stitch(StructuredBackbone[StructuredMemory]):
    """Retrieves turns and their snippets by the labels chosen for a question, and by content."""

    def __init__(
        self,
        store: StructuredMemory,
        kit: LoadKit,
        settings: StitchSettings | None = None,
        choose: Choose | None = None,
    ) -> None:
        """Take the store, and the function that loads the model and the prompts.

        `choose` chooses the labels for a question; by default the model does.
        """
        super().__init__(store, kit)
        self._settings = settings or StitchSettings()
        self._name = self._settings.name
        self._choose = choose or self._choose_by_model
        self._known: dict[tuple[str, ...] | None, Kept[Mapping[str, Intent]]] = {}
        self._last: tuple[str, tuple[str, ...] | None, Mapping[str, Intent], Labels] | None = None

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return at most k hits, best first, with each ranking's rank.

        Raises:
            ModelError: the model that chooses the labels cannot be used.
        """
        told, intents = self._settings, self._intents(query.conversations)
        chosen = self._chosen(query, intents)
        with self._store.reading() as reader:
            hits = WAYS[told.way](reader, query, k, intents, chosen, told.name)
        if not told.filled:
            hits = [hit for hit in hits if hit.unit.id in intents]
        return [_whole(hit, intents) for hit in hits] if told.whole else hits

    def labelled(self, query: Query) -> tuple[list[str], dict[tuple[str, str], list[str]]]:
        """Return the labels chosen for a query, and those of each labelled turn by its conversation and label.

        What `retrieve` chose for the same query just before is not chosen again.

        Raises:
            ModelError: the model that chooses the labels cannot be used.
        """
        intents = self._intents(query.conversations)
        snippets = self._store.units_of(self._name, [SNIPPET], query.conversations)
        turns = {
            (unit.conversation, label): _named(intents[unit.id].labels)
            for unit in snippets if unit.id in intents for label in unit.labels
        }  # fmt: skip
        last = self._last
        is_known = last is not None and last[:2] == (query.text, query.conversations) and last[2] is intents
        return _named(last[3] if last is not None and is_known else self._chosen(query, intents)), turns

    def outlook(self) -> Outlook:
        """Return what `index` would do now, without asking the model."""
        work = self._plan(self._store.turns())
        turns = [turn for part in work.pending for turn in part.turns]
        if not turns:
            return Outlook(0, 0, work.failed, 0, 0)
        fixed = self._kit().fixed_tokens(*_STEPS_A_TURN)
        longest = [max(len(part.turns) for part in group) for group in self._groups(work)]
        calls = sum(2 * number + 2 for number in longest)
        # a turn is read three times, with the context before it; its note is about as long as the turn
        tokens = fixed * len(turns) + (5 + self._settings.aligned) * about_tokens(turn.text for turn in turns)
        return work.outlook(calls, tokens)

    def index(self, report: Callable[[PartDone], None]) -> Indexed:
        """Read windows that are new, changed or failed before, in order, and link all snippets by their labels."""
        turns = self._store.turns()
        work = self._plan(turns)
        groups = self._groups(work) if work.pending else ()
        of = {name: list(members) for name, members in groupby(turns, key=lambda turn: turn.conversation)}
        done = derive_all(self._store, self._name, work, groups, partial(self._derive, of), report)
        self.link()
        return summary(self._store, self._name, done)

    def link(self) -> None:
        """Update the labels' nodes and edges from the stored snippets; no language model is used."""
        units = self._store.units_of(self._name, [SNIPPET, INVENTORY])
        snippets = [unit for unit in units if unit.kind == SNIPPET]
        intents = current_intents(units)
        for facet in Facet:
            nodes, edges = label_nodes(self._name, snippets, intents, facet)
            self._store.shared(self._name, facet.value, nodes, edges, links=[facet.value])

    def _chosen(self, query: Query, intents: Mapping[str, Intent]) -> Labels:
        """Return the labels chosen for the query among those of the intents; the last choice is kept."""
        counted = inventory_counts(intents.values())
        known = {
            facet: tuple(sorted(counted[facet])) for facet in Facet if self._settings.uses(facet) and counted[facet]
        }
        chosen = self._choose(query, known) if known else {}
        self._last = (query.text, query.conversations, intents, chosen)
        return chosen

    def _intents(self, conversations: tuple[str, ...] | None) -> Mapping[str, Intent]:
        """Return the intents of the conversations' snippets, cached until the store changes."""
        if conversations not in self._known:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[conversations] = Kept(self._store, partial(self._read_intents, conversations))
        return self._known[conversations]()

    def _read_intents(self, conversations: tuple[str, ...] | None) -> Mapping[str, Intent]:
        return current_intents(self._store.units_of(self._name, [SNIPPET, INVENTORY], conversations))

    def _plan(self, turns: Sequence[Turn]) -> Plan:
        return plan(windows_of(turns, self._settings.window), self._store.derived(self._name))

    def _begin(self, part: Part) -> int:
        """Return the number of turns before a window."""
        return int(part.name) * self._settings.window

    def _groups(self, work: Plan) -> Iterator[list[Part]]:
        """Yield batches of pending parts, one of each conversation at a time: a window depends on those before it."""
        of = [list(parts) for _, parts in groupby(work.pending, key=lambda part: part.conversation)]
        for at_once in zip_longest(*of):
            parts = [part for part in at_once if part is not None]
            yield from batches(parts, self._kit().at_once, lambda _: _REQUESTS)

    def _derive(self, turns: Mapping[str, Sequence[Turn]], parts: Sequence[Part]) -> list[Derivation]:
        """Return the derivations of the windows; `turns` has all turns of each conversation."""
        kit = self._kit()
        reader = WindowReader(StitchSteps(kit.prompts), self._settings, self._near)
        windows = []
        for part in parts:
            begin = self._begin(part)
            units = self._store.units_of(self._name, [SNIPPET, SUMMARY, INVENTORY], [part.conversation])
            windows.append((part, begin, State.from_units(turns[part.conversation][:begin], units)))
        return reader.derive(kit.model, windows)

    def _near(self, text: str, labels: Sequence[str], most: int) -> list[str]:
        """Return at most `most` labels; if there are more, those nearest to the text by vectors, nearest first."""
        if len(labels) <= most:
            return list(labels)
        vectors = self._store.vectors_of([_loose(each) for each in (text, *labels)])
        order = np.argsort(-(vectors[1:] @ vectors[0]), kind="stable")[:most]
        return [labels[place] for place in order.tolist()]

    def _choose_by_model(self, query: Query, known: Labels) -> Labels:
        """Return the labels that the model picks; none, with an announcement, for a kind with an unusable reply."""
        kit = self._kit()
        steps = StitchSteps(kit.prompts)
        shown = {facet: self._fitting(query.text, labels, kit.context) for facet, labels in known.items()}
        asks = [steps.choose(facet, query.text, labels) for facet, labels in shown.items()]
        replies = ask_each(kit.model, [ask.build for ask in asks], [ask.parse for ask in asks])
        failed = {
            facet.value: reply.problem for facet, reply in zip(shown, replies, strict=True) if reply.value is None
        }
        if failed:
            told = "; ".join(f"{kind}: {problem}" for kind, problem in failed.items())
            self._store.announce(
                f"{self._name}: labels of {len(failed)} of {len(shown)} kinds were not chosen usably ({told})"
            )
        return {facet: tuple(reply.value or ()) for facet, reply in zip(shown, replies, strict=True)}

    def _fitting(self, question: str, labels: Sequence[str], context: int) -> list[str]:
        """Return the labels that fit into the context with the prompt; if not all do, those nearest to the question."""
        longest = max(about_tokens([label]) for label in labels) + 3
        return self._near(question, labels, max(1, context // _SHARE_OF_CONTEXT // longest))


def windows_of(turns: Sequence[Turn], size: int) -> list[Part]:
    """Return each window of each conversation as a part, named by its number.

    A window `follows` the one before, so it is read again or forgotten with it.
    """
    parts = []
    for conversation, members in groupby(turns, key=lambda turn: turn.conversation):
        own = tuple(members)
        parts += [
            Part(
                conversation, str(number), own[number * size : (number + 1) * size], str(number - 1) if number else None
            )
            for number in range(-(-len(own) // size))
        ]
    return parts


def _named(labels: Labels) -> list[str]:
    """Return the labels with their kinds: ``scope: the trip``."""
    return [f"{facet.value}: {label}" for facet, own in labels.items() for label in own]


def _loose(text: str) -> Unit:
    """Return a unit of the text that belongs to no conversation, to embed it in the same way as stored units."""
    turn = Turn("", 0, 0, "", text)
    return derived_unit(NAME, "text", text, (turn,), identity=(content_hash(text),))


def _whole(hit: Hit, intents: Mapping[str, Intent]) -> Hit:
    """Return a snippet's hit with the whole snippet as its text; other hits as they are."""
    unit = hit.unit
    if unit.id not in intents:
        return hit
    return replace(hit, unit=replace(unit, text=whole_text(unit, intents[unit.id])))

"""Read a window turn by turn: scope and event type, then the note, and at its end summaries and merged labels.

Each window is a generator of questions for the model. So windows of several conversations, which do not depend on each
other, are read in parallel in the same calls.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias

from goalmem_cli.backbones.stitch.intent import Facet, Intent, Inventory, inventory_unit, snippet_unit, summary_unit
from goalmem_cli.backbones.stitch.settings import StitchSettings
from goalmem_cli.backbones.stitch.state import State
from goalmem_cli.backbones.stitch.steps import Ask, Noted, Seeds, StitchSteps
from goalmem_cli.memory_records import Derivation
from goalmem_cli.model_replies import Reply, ask_each, in_one_line
from goalmem_cli.ports import LanguageModel
from goalmem_cli.records import Part, Turn, Unit, Usage

Track: TypeAlias = Generator[list[Ask], list[Reply[Any]], list[Unit]]
Near: TypeAlias = Callable[[str, Sequence[str], int], list[str]]
"""Takes a text, labels and a maximum; returns the labels most similar to the text, most similar first."""

_SHOWN_PROBLEMS = 3


@dataclass(slots=True)
class Tally:
    """The usage of the replies, and the problems of the unusable ones."""

    usage: Usage
    problems: list[str]


@dataclass(frozen=True, slots=True)
class WindowReader:
    """Reads windows of turns."""

    steps: StitchSteps
    settings: StitchSettings
    near: Near

    def derive(self, model: LanguageModel, windows: Sequence[tuple[Part, int, State]]) -> list[Derivation]:
        """Read the windows: (part, number of turns before it, state before it), all of different conversations.

        If a reply is unusable, its turn goes without that step's result, and the part has a problem.

        Raises:
            ModelError: the model cannot be used at all.
        """
        tallies = [Tally(Usage(), []) for _ in windows]
        tracks = [
            self.read(part.turns, begin, state, tally.problems)
            for (part, begin, state), tally in zip(windows, tallies, strict=True)
        ]
        units = _side_by_side(model, tracks, tallies)
        return [
            Derivation(part, tuple(made), problem=_told(tally.problems), usage=tally.usage)
            for (part, _, _), made, tally in zip(windows, units, tallies, strict=True)
        ]

    def read(self, turns: Sequence[Turn], begin: int, state: State, problems: list[str]) -> Track:
        """Yield all questions about the turns, and return their units; `begin` is the number of turns before them."""
        if not begin or self.settings.online:
            yield from self._seed(turns, state, problems)
        told = [turn for turn in turns if turn.text.strip()]
        before = len(state.seen)
        units: list[Unit] = []
        for turn in told:
            units += yield from self._snippet(turn, state, problems)
        window = [each.turn for each in state.seen[before:]]
        units += yield from self._summaries(state, before, problems)
        renamed: dict[Facet, Mapping[str, str]] = {}
        if begin // self.settings.period < (begin + len(turns)) // self.settings.period:
            renamed = yield from self._merges(state, problems)
        state.rename(renamed)
        inventory = Inventory(tuple(state.vocabulary[Facet.EVENT]), tuple(state.vocabulary[Facet.ENTITY]), renamed)
        return [*units, inventory_unit(self.settings.name, window or turns, inventory)]

    def _seed(
        self, turns: Sequence[Turn], state: State, problems: list[str]
    ) -> Generator[list[Ask], list[Reply[Any]], None]:
        """Ask for the first labels, and put them into the state's vocabulary."""
        shown = [turn for turn in turns[: self.settings.seed] if turn.text.strip()]
        if not shown:
            return
        given = {facet: labels for facet, labels in state.vocabulary.items() if self.settings.gives(facet)}
        known = [label for labels in given.values() for label in labels]
        (reply,) = yield [self.steps.seed(shown, known)]
        seeds: Seeds | None = _value(reply, "further labels" if known else "the first labels", problems)
        if seeds is not None:
            found = {Facet.EVENT: seeds.events, Facet.ENTITY: seeds.entity_types}
            for facet, labels in given.items():
                labels += [label for label in found[facet] if state.reused(label, facet) not in labels]

    def _snippet(self, turn: Turn, state: State, problems: list[str]) -> Track:
        """Ask for a turn's scope, event type and note; return its snippet, and update the state."""
        settings, scopes = self.settings, state.scopes[: self.settings.scopes]
        candidates = self.near(turn.text, state.vocabulary[Facet.EVENT], settings.candidates)
        before = [(each.turn, each.intent.scope) for each in state.seen[-settings.history :]]
        asks = {
            Facet.SCOPE: self.steps.scope(turn, scopes, state.summaries.get(state.scope, ""), before),
            Facet.EVENT: self.steps.event(turn, candidates),
        }
        asks = {facet: ask for facet, ask in asks.items() if settings.gives(facet)}
        replies = dict(zip(asks, (yield list(asks.values())) if asks else (), strict=True))
        scope = event = ""
        if Facet.SCOPE in asks:
            scope = _value(replies[Facet.SCOPE], f"the scope of {turn.label}", problems) or state.scope
        if Facet.EVENT in asks:
            event = _value(replies[Facet.EVENT], f"the event type of {turn.label}", problems) or ""
        intent = Intent(state.reused(scope, Facet.SCOPE), state.reused(event, Facet.EVENT))
        types = self.near(turn.text, state.vocabulary[Facet.ENTITY], settings.types)
        is_led = settings.coreference
        earlier = state.aligned(intent.scope, intent.event, settings.aligned) if is_led else []
        summary = state.summaries.get(intent.scope, "") if is_led else ""
        (reply,) = yield [self.steps.note(turn, intent.scope, intent.event, summary, earlier, types)]
        noted: Noted | None = _value(reply, f"the note of {turn.label}", problems)
        noted = noted or Noted(in_one_line(turn.text), "", ())
        if settings.gives(Facet.ENTITY):
            named = dict.fromkeys(state.reused(label, Facet.ENTITY) for label in noted.entity_types)
            intent = replace(intent, entity_types=tuple(named))
        state.saw(turn, intent, noted.note)
        resolved = (noted.resolved if is_led else "") or (turn.text if settings.whole else "")
        return [snippet_unit(settings.name, turn, noted.note, intent, resolved)]

    def _summaries(self, state: State, before: int, problems: list[str]) -> Track:
        """Update the summaries of the window's scopes; one with an unusable reply stays as it was."""
        of = {scope: [each for each in state.seen[before:] if each.intent.scope == scope] for scope in state.scopes}
        touched = {scope: members for scope, members in of.items() if members}
        if not touched:
            return []
        replies = yield [
            self.steps.summary(scope, state.summaries.get(scope, ""), [each.note for each in members])
            for scope, members in touched.items()
        ]
        units = []
        for (scope, members), reply in zip(touched.items(), replies, strict=True):
            text = _value(reply, f"the summary of {scope}", problems)
            if text is not None:
                state.summaries[scope] = text
                units.append(summary_unit(self.settings.name, scope, text, [each.turn for each in members]))
        return units

    def _merges(
        self, state: State, problems: list[str]
    ) -> Generator[list[Ask], list[Reply[Any]], dict[Facet, Mapping[str, str]]]:
        """Ask which labels mean the same, and return old name -> new name by kind."""
        shown = {facet: labels[-self.settings.merged :] for facet, labels in state.vocabulary.items()}
        shown = {facet: labels for facet, labels in shown.items() if len(labels) > 1}
        if not shown:
            return {}
        replies = yield [self.steps.merge(facet, labels) for facet, labels in shown.items()]
        found = {
            facet: _value(reply, f"the labels of the kind {facet.value} that mean the same", problems)
            for facet, reply in zip(shown, replies, strict=True)
        }
        return {facet: names for facet, names in found.items() if names}


def _side_by_side(model: LanguageModel, tracks: Sequence[Track], tallies: Sequence[Tally]) -> list[list[Unit]]:
    """Run the tracks to their end, asking the questions of all in one call each round; return their results."""
    waiting: dict[int, list[Ask]] = {}
    units: dict[int, list[Unit]] = {}

    def go_on(number: int, replies: list[Reply[Any]] | None) -> None:
        try:
            waiting[number] = next(tracks[number]) if replies is None else tracks[number].send(replies)
        except StopIteration as stop:
            units[number] = stop.value

    for number in range(len(tracks)):
        go_on(number, None)
    while waiting:
        asked, waiting = waiting, {}
        asks = list(chain.from_iterable(asked.values()))
        replies: list[Reply[Any]] = ask_each(model, [ask.build for ask in asks], [ask.parse for ask in asks])
        for number, own in asked.items():
            given, replies = replies[: len(own)], replies[len(own) :]
            tallies[number].usage = sum((reply.usage for reply in given), tallies[number].usage)
            go_on(number, given)
    return [units[number] for number in range(len(tracks))]


def _value(reply: Reply[Any], what: str, problems: list[str]) -> Any:
    """Return the value of a reply; if it is unusable, note the problem and return None."""
    if reply.value is None:
        problems.append(f"{what}: {reply.problem}")
    return reply.value


def _told(problems: Sequence[str]) -> str | None:
    """Return the first few problems in one line, with the number of the others; None if there are none."""
    if not problems:
        return None
    rest = len(problems) - _SHOWN_PROBLEMS
    return "; ".join(problems[:_SHOWN_PROBLEMS]) + (f"; and {rest} more" if rest > 0 else "")

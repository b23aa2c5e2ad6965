"""Build the requests about turns and questions, and parse the replies: one `Ask` for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from goalmem_cli.backbones.stitch import CHOOSE, EVENT, MERGE, NOTE, SCOPE, SEED, SUMMARY
from goalmem_cli.backbones.stitch.intent import Facet, known_as, tidy
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.model_replies import NO_NUMBER, Fields, in_one_line, numbers_of, picked, read_fields
from goalmem_cli.ports import Request
from goalmem_cli.prompts import Profile, PromptBook
from goalmem_cli.records import Turn
from goalmem_cli.store.units import text_with_marks

_CALLED = {Facet.SCOPE: "scopes", Facet.EVENT: "event types", Facet.ENTITY: "entity types"}
_LETTERS: Mapping[Profile, int] = {"full": 1600, "compact": 240}
_BEFORE_LETTERS: Mapping[Profile, int] = {"full": 160, "compact": 60}
_SEED_LETTERS: Mapping[Profile, int] = {"full": 200, "compact": 40}
MOST: Mapping[Profile, int] = {"full": 1_000_000, "compact": 6}
"""The maximum number of labels, earlier turns or notes in a prompt, whatever the settings say."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ask:
    """A function that builds a request, given what was wrong with the last reply, and one that parses the reply."""

    build: Callable[[str], Request]
    parse: Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Noted:
    """The reply of the note step; `resolved` is blank if no reference had to be resolved."""

    note: str
    resolved: str
    entity_types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Seeds:
    """The vocabularies that a conversation starts with."""

    events: tuple[str, ...]
    entity_types: tuple[str, ...]


class StitchSteps:
    """Builds an `Ask` for each step from the prompts."""

    def __init__(self, prompts: PromptBook) -> None:
        self._prompts = prompts
        self._profile = prompts.profile
        self.most = MOST[prompts.profile]

    def seed(self, turns: Sequence[Turn], known: Sequence[str] = ()) -> Ask:
        """Ask for the first event types and entity types, or for those that the `known` ones do not cover."""
        lines = [spoken(turn, _SEED_LETTERS[self._profile]) for turn in turns][: self.most * 4]
        inputs = {"turns": lines, "known": known}
        return self._ask(SEED, inputs, (), lambda fields: _read_seeds(fields, is_first=not known))

    def scope(self, turn: Turn, known: Sequence[str], summary: str, before: Sequence[tuple[Turn, str]]) -> Ask:
        """Ask which scope a turn belongs to; `known[0]` is the current scope."""
        shown = known[: self.most]
        letters = _BEFORE_LETTERS[self._profile]
        lines = [f"({scope}) {spoken(said, letters)}" for said, scope in before][-self.most :]
        inputs = {"scopes": shown, "summary": summary, "before": lines, "turn": self._spoken(turn)}
        return self._ask(SCOPE, inputs, shown, lambda fields: _label(fields, shown))

    def event(self, turn: Turn, candidates: Sequence[str]) -> Ask:
        """Ask for a turn's event type: one of the candidates, or a new one."""
        inputs = {"events": candidates, "turn": self._spoken(turn)}
        return self._ask(EVENT, inputs, candidates, lambda fields: _label(fields, candidates))

    def note(
        self, turn: Turn, scope: str, event: str, summary: str, earlier: Sequence[str], types: Sequence[str]
    ) -> Ask:
        """Ask for a turn's canonical note, its references resolved from earlier notes, and its entity types."""
        shown = types[: self.most]
        inputs = {
            "scope": scope,
            "event": event,
            "summary": summary,
            "earlier": earlier[-self.most :],
            "types": shown,
            "turn": self._spoken(turn),
        }
        return self._ask(NOTE, inputs, shown, lambda fields: _read_note(fields, shown))

    def summary(self, scope: str, before: str, notes: Sequence[str]) -> Ask:
        """Ask for a scope's summary, given the summary before and new notes."""
        inputs = {"scope": scope, "summary": before, "notes": notes[-self.most * 2 :]}
        return self._ask(SUMMARY, inputs, (), lambda fields: _filled(fields, "summary"))

    def merge(self, facet: Facet, labels: Sequence[str]) -> Ask:
        """Ask which labels mean the same."""
        shown = labels[: self.most * 2]
        return self._ask(MERGE, {"what": _CALLED[facet], "labels": shown}, shown, lambda fields: _merges(fields, shown))

    def choose(self, facet: Facet, question: str, labels: Sequence[str]) -> Ask:
        """Ask which labels the turns that answer a question should have."""
        shown = labels[: self.most * 2]
        inputs = {"what": _CALLED[facet], "question": in_one_line(question), "labels": shown}
        return self._ask(CHOOSE, inputs, shown, lambda fields: picked(fields, "labels", shown))

    def _spoken(self, turn: Turn) -> str:
        return spoken(turn, _LETTERS[self._profile])

    def _ask(self, step: str, inputs: Mapping[str, object], labels: Sequence[str], read: Callable[[Fields], T]) -> Ask:
        def build(problem: str) -> Request:
            return self._prompts[step].request({**inputs, "problem": problem}, {"labels": numbers_of(labels)})

        return Ask(build, lambda text: read(read_fields(text, build(""))))


def spoken(turn: Turn, letters: int) -> str:
    """Return speaker and text in one line; a long text is cut in the middle to about `letters`."""
    text = in_one_line(text_with_marks(turn))
    if len(text) > letters:
        half = letters // 2
        text = f"{text[:half].rstrip()} ... {text[-half:].lstrip()}"
    return f"{in_one_line(turn.speaker)}: {text}"


def _label(fields: Fields, known: Sequence[str]) -> str:
    """Return the label that was picked, or else the new one."""
    chosen = picked(fields, "label", known)
    return chosen[0] if chosen else known_as(tidy(_filled(fields, "new")), known)


def _filled(fields: Fields, name: str) -> str:
    text = " ".join(fields.get(name, ())).strip()
    if not text or not tidy(text):
        raise ReplyUnusable(f"{name} is blank")
    return text


def _new(fields: Fields, name: str, known: Sequence[str]) -> tuple[str, ...]:
    return tuple(known_as(label, known) for each in fields.get(name, ()) if (label := tidy(each)))


def _read_seeds(fields: Fields, *, is_first: bool) -> Seeds:
    seeds = Seeds(_once(_new(fields, "event_types", ())), _once(_new(fields, "entity_types", ())))
    if is_first and not (seeds.events and seeds.entity_types):
        raise ReplyUnusable("there must be event types and entity types")
    return seeds


def _read_note(fields: Fields, types: Sequence[str]) -> Noted:
    named = (*picked(fields, "types", types), *_new(fields, "new_types", types))
    resolved = " ".join(fields.get("resolved", ())).strip()
    return Noted(_filled(fields, "note"), resolved, _once(named))


def _merges(fields: Fields, labels: Sequence[str]) -> dict[str, str]:
    """Return merged labels as old name -> new name, with chains followed to their end.

    Raises:
        ReplyUnusable: a pair is not two numbers, or a label is merged with itself or with two others.
    """
    renamed: dict[str, str] = {}
    for pair in fields.get("merges", ()):
        numbers = tuple(pair.split())
        if numbers == (NO_NUMBER,):
            continue
        chosen = [picked({"label": (number,)}, "label", labels) for number in numbers]
        if len(chosen) != 2 or not all(chosen):
            raise ReplyUnusable(f"{pair[:20]!r} is not two numbers of labels")
        (old,), (new,) = chosen
        while new in renamed:
            new = renamed[new]
        if old == new or old in renamed:
            raise ReplyUnusable(f"the label {old[:40]!r} gives way to itself or to two others")
        renamed = {label: new if to == old else to for label, to in renamed.items()} | {old: new}
    return renamed


def _once(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the labels without those that differ from an earlier one only in case."""
    return tuple({label.casefold(): label for label in reversed(labels)}.values())[::-1]

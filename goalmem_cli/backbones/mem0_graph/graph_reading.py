"""Read a pair of messages for the graph (Mem0 section 2.2): ask for its entities, then for their relations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from goalmem_cli.backbones.mem0_graph import ENTITIES, NAME, NAMED, RELATION, RELATIONS
from goalmem_cli.backbones.structured.entries import NONE, Form, read_entries
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.stretches import Stretch
from goalmem_cli.backbones.structured.summaries import named
from goalmem_cli.backbones.structured.triples import keys_of, triple_attributes
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.backbones.structured.walking import ask_all
from goalmem_cli.model_replies import Reply, in_one_line, read_fields
from goalmem_cli.ports import Request
from goalmem_cli.records import Part, Unit, content_hash

NAMES = "names"
"""The attribute that lists the entities of a pair."""
_FORMS = (Form("fact", "triples", ("subject", "predicate", "object")),)


@dataclass(frozen=True)
class Naming:
    """The question for the entities in some lines: those of a pair, or a user's question."""

    lines: tuple[str, ...]

    @classmethod
    def of_question(cls, text: str) -> Naming:
        """Return the `Naming` of a question, formatted like a message."""
        return cls((f"T1. user: {in_one_line(text)}",))

    def request(self, kit: Kit, problem: str) -> Request:
        """Return the request for the entities."""
        return kit.prompts[ENTITIES].request({"lines": list(self.lines), "problem": problem})

    def read(self, kit: Kit, text: str) -> tuple[str, ...]:
        """Return the distinct names of a reply; raises ReplyUnusable if the reply has another form."""
        told = read_fields(text, self.request(kit, "")).get(NAMES, ())
        return tuple(dict.fromkeys(name for name in map(in_one_line, told) if name not in ("", NONE)))


@dataclass(frozen=True)
class Relating:
    """A pair of messages, or a stretch of a long one, as the graph reads it."""

    stretch: Stretch
    names: tuple[str, ...] = ()

    @cached_property
    def part(self) -> Part:
        """The part of its entities and relations; it has the turns shown, without messages before them."""
        lines = [text for turn, line in self.stretch.lines for text in (turn.id, line)]
        sources = self.stretch.sources
        return Part(sources[0].conversation, named(RELATION, content_hash(*lines)), sources)

    def request(self, kit: Kit, problem: str) -> Request:
        """Return the request for the relations of the names."""
        inputs = {name: value for name, value in self.stretch.inputs(problem).items() if name != "before"}
        return kit.prompts[RELATIONS].request({**inputs, "names": list(self.names)}, {"turns": self.stretch.labels})

    def read(self, kit: Kit, text: str) -> tuple[Unit, ...]:
        """Return the units of a reply: one with the names, and a draft of each distinct triple.

        Raises:
            ReplyUnusable: the reply has another form.
        """
        entries = read_entries(text, self.request(kit, "").shape, self.stretch, _FORMS)
        drafts: dict[tuple[str, ...], Unit] = {}
        for entry in entries:
            ends = (entry["subject"], entry["predicate"], entry["object"])
            attributes = triple_attributes(*ends)
            draft = derived_unit(
                NAME, RELATION, " ".join(ends), entry.turns, identity=(self.part.name, *ends), attributes=attributes
            )
            drafts.setdefault(keys_of(draft), draft)
        names = derived_unit(
            NAME, NAMED, ", ".join(self.names) or NONE, self.part.turns,
            identity=(self.part.name,), attributes={NAMES: list(self.names)},
        )  # fmt: skip
        return (names, *drafts.values())


def read_pairs(kit: Kit, pairs: Sequence[Relating]) -> list[Reply[tuple[Unit, ...]]]:
    """Read pairs of messages in two calls: the entities of all pairs, then their relations.

    If a reply about entities is unusable, the relations are asked for without them, and the next run asks again.

    Raises:
        ModelError: the model could not be used at all.
    """
    named_ = ask_all(kit, [Naming(tuple(map(str, _lines(pair.stretch)))) for pair in pairs])
    told = ask_all(kit, [replace(pair, names=reply.value or ()) for pair, reply in zip(pairs, named_, strict=True)])
    return [
        Reply(reply.value, names.usage + reply.usage, reply.problem or names.problem)
        for names, reply in zip(named_, told, strict=True)
    ]


def _lines(stretch: Stretch) -> Sequence[object]:
    lines = stretch.inputs("")["lines"]
    return lines if isinstance(lines, list) else ()

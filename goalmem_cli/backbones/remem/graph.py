"""Make the units and edges of the episodic graph from extracted entries (REMem section 3.1, Appendix B).

Gists and facts are units; a phrase is a unit shared by all facts that name it. A gist is linked to every phrase of its
chunk (context edges). A fact is linked to its subject and object, and these to each other (relation edges). Gists that
say nearly the same are linked (synonymy edges). Contradicting entries are neither merged nor dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from goalmem_cli.backbones.remem import NAME
from goalmem_cli.backbones.remem.event_times import Course, Judged
from goalmem_cli.backbones.structured.triples import ends_of, phrase_id, triple_attributes, triple_edges, triple_text
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.logic.dates import dates_in
from goalmem_cli.records import Edge, Turn, Unit
from goalmem_cli.store.queries.episodes import CONTEXT, FACT, GIST, OBJECT, RELATION, SUBJECT, SYNONYMY

CHUNK, PICTURED = "chunk", "pictured"
LINKS = (CONTEXT, RELATION, SYNONYMY, SUBJECT, OBJECT)
"""The kinds of edges."""
SAME_TURN, SAME_CHUNK = 1.0, 0.5
"""The weight of a context edge if the gist and a fact with the phrase come from one turn, or only from one chunk."""


@dataclass(frozen=True, slots=True)
class Gist:
    """One event as a self-contained sentence, the turns that tell it, and when it happened.

    `is_pictured` means that only the caption of a picture tells it.
    """

    text: str
    turns: tuple[Turn, ...]
    event: Judged = field(default_factory=Judged)
    is_pictured: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact as a triple, the turns that tell it, and when it held; `is_pictured` as in `Gist`."""

    subject: str
    predicate: str
    object: str
    turns: tuple[Turn, ...]
    event: Judged = field(default_factory=Judged)
    is_pictured: bool = False

    @property
    def text(self) -> str:
        """Its three parts, separated by blanks."""
        return f"{self.subject} {self.predicate} {self.object}"


def gist_unit(gist: Gist, chunk: int, backbone: str = NAME, *, is_stamped: bool = False) -> Unit:
    """Return the gist as a unit; the days that a relative time means follow it in brackets.

    With `is_stamped` it begins with the time of its last message.
    """
    judged = gist.event
    said = max(gist.turns, key=lambda turn: turn.ordinal).local
    stamp = f"[{said.day} {said:%B %Y, %H:%M}] " if is_stamped and said is not None else ""
    return derived_unit(
        backbone, GIST, stamp + _dated(gist.text, judged) + _mark(gist), gist.turns, event=judged.event.bounds,
        attributes={CHUNK: chunk, **judged.attributes, **_pictured(gist)},
    )  # fmt: skip


def fact_unit(fact: Statement, chunk: int, backbone: str = NAME) -> Unit:
    """Return the fact as a unit, with its parts and its qualifiers as attributes."""
    parts = (fact.subject, fact.predicate, fact.object)
    event = fact.event.event
    told = max(fact.turns, key=lambda turn: turn.ordinal).local
    qualifiers = ({"record_time": told.isoformat()} if told is not None else {}) | event.qualifiers
    attributes: dict[str, object] = {
        **triple_attributes(*parts), "qualifiers": qualifiers, CHUNK: chunk, **fact.event.attributes, **_pictured(fact),
    }  # fmt: skip
    when = event.text
    text = triple_text(*parts) + (f" [{when}]" if when else "") + _mark(fact)
    return derived_unit(backbone, FACT, text, fact.turns, identity=parts, event=event.bounds, attributes=attributes)


def phrase_edges(gists: Sequence[Unit], facts: Sequence[Unit], backbone: str = NAME) -> list[Edge]:
    """Return the edges from gists and facts to the phrases of `phrase_units`, and between the phrases of a fact.

    The weight of a relation edge is the number of its facts.
    """
    edges = triple_edges(backbone, facts)
    chunks: dict[tuple[str, object], dict[str, set[str]]] = {}
    for fact in facts:
        phrases = chunks.setdefault((fact.conversation, fact.attributes.get(CHUNK)), {})
        for key in ends_of(fact):
            phrases.setdefault(phrase_id(backbone, key), set()).update(fact.turns)
    for gist in gists:
        for phrase, turns in chunks.get((gist.conversation, gist.attributes.get(CHUNK)), {}).items():
            weight = SAME_CHUNK if turns.isdisjoint(gist.turns) else SAME_TURN
            edges.append(Edge(gist.id, phrase, CONTEXT, weight))
    return edges


def _mark(told: Gist | Statement) -> str:
    return " [in a picture]" if told.is_pictured else ""


def _pictured(told: Gist | Statement) -> dict[str, object]:
    return {PICTURED: True} if told.is_pictured else {}


def _dated(text: str, judged: Judged) -> str:
    """Return the gist's text with the days that it means, unless the text has them already."""
    event = judged.event
    if not event.text or (
        event.start and event.course is Course.AT and any(w.covers(event.start) for w in dates_in(text))
    ):
        return text
    said = f" ({event.text})"
    words = re.search(re.escape(judged.words), text, re.IGNORECASE) if judged.words else None
    if words is not None:
        return f"{text[: words.end()]}{said}{text[words.end() :]}"
    return f"{text[:-1]}{said}." if text.endswith(".") else f"{text}{said}"

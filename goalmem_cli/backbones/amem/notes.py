"""Notes (A-MEM section 3.1): a turn's text, with keywords, tags and a sentence of context by a model.

Every version of a note is a unit. Content and keywords stay the same in all versions; context and tags may change. All
versions have the note's key in the attribute `KEY`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from goalmem_cli.backbones.amem import DESCRIBE, DRAFT, NAME, NOTE
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.stretches import node_line
from goalmem_cli.backbones.structured.summaries import named
from goalmem_cli.backbones.structured.units import derived_unit, listed
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.model_replies import in_one_line, read_fields
from goalmem_cli.ports import Request
from goalmem_cli.records import FORWARDED_FROM, QUOTED_FROM, Part, Turn, Unit

KEY = "note"
"""The attribute with the key of the note that a unit is a version of."""
LINKS = "links"
"""The attribute with the keys of the linked notes."""
_CONTENT, _AUTHOR, _KEYWORDS, _CONTEXT, _TAGS = "content", "author", "keywords", "context", "tags"
_BETWEEN = ", "


@dataclass(frozen=True, slots=True)
class Details:
    """The keywords, context and tags of a note."""

    keywords: tuple[str, ...] = ()
    context: str = ""
    tags: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All details in one line."""
        parts = (self.context, f"keywords: {_BETWEEN.join(self.keywords)}" if self.keywords else "",
                 f"tags: {_BETWEEN.join(self.tags)}" if self.tags else "")  # fmt: skip
        return "; ".join(filter(None, parts))


@dataclass(frozen=True)
class Reading:
    """A turn, or a passage of a long one, whose note needs details; `is_first` marks a turn's first passage."""

    leaf: Unit
    turn: Turn
    is_first: bool = True

    @cached_property
    def part(self) -> Part:
        """The part of the draft."""
        return Part(self.turn.conversation, named(DRAFT, self.leaf.id), (self.turn,))

    def request(self, kit: Kit, problem: str) -> Request:
        """Return the request for the details."""
        return kit.prompts[DESCRIBE].request({"line": node_line(self.leaf, is_leaf=True), "problem": problem})

    def read(self, kit: Kit, text: str) -> tuple[Unit, ...]:
        """Return the draft of the note, with the details of a reply.

        Raises:
            ReplyUnusable: the reply has another form, or has no details.
        """
        told = read_fields(text, self.request(kit, ""))
        context = " ".join(told.get(_CONTEXT, ())).strip()
        keywords, tags = (split(_BETWEEN.join(told.get(name, ()))) for name in (_KEYWORDS, _TAGS))
        if not (context or keywords or tags):
            raise ReplyUnusable("it says nothing of the message")
        return (self.draft(Details(keywords, context, tags)),)

    def draft(self, details: Details) -> Unit:
        """Return the draft of the note with these details."""
        identity = (self.leaf.id, *details.keywords, details.context, *details.tags)
        attributes = {**self.leaf.attributes, KEY: self.leaf.id, **_attributes(details)}
        text = in_one_line(self.leaf.text)
        return derived_unit(
            NAME, DRAFT, text, (self.turn,), identity=identity, attributes=attributes, speaker=self.leaf.speaker
        )


def split(text: str) -> tuple[str, ...]:
    """Return the distinct words or phrases of a text that is separated by commas."""
    return tuple(dict.fromkeys(word for each in text.split(",") if (word := each.strip())))


def details_of(unit: Unit) -> Details:
    """Return the details of a draft or of a version."""
    keywords, tags = (tuple(listed(unit, name)) for name in (_KEYWORDS, _TAGS))
    return Details(keywords, str(unit.attributes.get(_CONTEXT, "")), tags)


def line_of(unit: Unit) -> str:
    """Return a draft or a version in one line for a model: speaker, text and day."""
    return node_line(unit, is_leaf=True)


def key_of(unit: Unit) -> str:
    """Return the key of the note that a unit is a draft or a version of."""
    return str(unit.attributes.get(KEY, unit.id))


def version(of: Unit, details: Details, links: Sequence[str], turns: Sequence[Turn], identity: Sequence[str]) -> Unit:
    """Return a new version of a note, derived from these turns; `of` is its draft or an earlier version.

    If the turns have several speakers, the version has no speaker, and its text begins with the author's name.
    """
    content, author = str(of.attributes.get(_CONTENT, of.text)), str(of.attributes.get(_AUTHOR, of.speaker))
    text = f"{content} [{told}]" if (told := details.text) else content
    is_own = all(turn.speaker == author for turn in turns)
    if author and not is_own:
        text = f"{in_one_line(author)}: {text}"
    passed_on = {name: of.attributes[name] for name in (FORWARDED_FROM, QUOTED_FROM) if name in of.attributes}
    told_of = {KEY: key_of(of), _CONTENT: content, _AUTHOR: author, LINKS: list(links), **_attributes(details)}
    attributes = {**passed_on, **told_of}
    return derived_unit(
        NAME, NOTE, text, turns, identity=identity, attributes=attributes, speaker=author if is_own else ""
    )


def _attributes(details: Details) -> dict[str, object]:
    return {_KEYWORDS: list(details.keywords), _CONTEXT: details.context, _TAGS: list(details.tags)}

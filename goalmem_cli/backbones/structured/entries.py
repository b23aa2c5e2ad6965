"""Parse what a model extracts from a stretch of talk: entries of a few kinds, each with the lines that tell it.

A JSON reply has a list for each kind: ``{"facts": [{"turns": ["T1"], "subject": "Priya", ...}]}``. With the compact
prompts each entry is a line, ``fact T1: Priya | moved to | Leeds``, and an empty reply is ``none``. The backbone and
its prompt decide which fields a kind has: a type, a description, a strength, times.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from goalmem_cli.backbones.structured.stretches import Stretch
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.model_replies import in_one_line, parse_json
from goalmem_cli.ports import GrammarShape, JsonShape
from goalmem_cli.records import Turn

NONE = "none"
_LINE = re.compile(r"(\w+) (T\d+): (.+)")


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of entry, and the name of its list in a JSON reply.

    The fields `needed` must not be blank. On a line, the fields `more` may follow them, in this order.
    """

    kind: str
    listed: str
    needed: tuple[str, ...]
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StructuredEntry:
    """An extracted entry: its fields, each of one line, the turns that tell it, and the positions of their lines."""

    kind: str
    turns: tuple[Turn, ...]
    places: tuple[int, ...]
    fields: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        """Return the value of a field; "" if the reply does not have it."""
        return self.fields.get(name, "")


def read_entries(
    text: str, shape: JsonShape | GrammarShape, stretch: Stretch, forms: Sequence[Form]
) -> tuple[StructuredEntry, ...]:
    """Return the entries of a reply in its order; those of a JSON reply kind by kind.

    Raises:
        ReplyUnusable: it has another form, names lines that do not exist, or leaves a needed field blank.
    """
    if isinstance(shape, GrammarShape):
        said = text.strip()
        return tuple(_of_line(line.strip(), stretch, forms) for line in ([] if said == NONE else said.split("\n")))
    reply = parse_json(text, shape.schema)
    return tuple(
        _entry(form, item["turns"], {name: str(value) for name, value in item.items() if name != "turns"}, stretch)
        for form in forms
        for item in reply[form.listed]
    )


def _of_line(line: str, stretch: Stretch, forms: Sequence[Form]) -> StructuredEntry:
    """Return the entry of a line in a compact reply; raises ReplyUnusable."""
    match = _LINE.fullmatch(line)
    form = next((form for form in forms if match is not None and form.kind == match[1]), None)
    if match is None or form is None:
        raise ReplyUnusable(f"the line {line[:60]!r} is no {' and no '.join(form.kind for form in forms)}")
    names = (*form.needed, *form.more)
    parts = match[3].split("|")
    if not len(form.needed) <= len(parts) <= len(names):
        raise ReplyUnusable(f"the line {line[:60]!r} lacks parts of a {form.kind}")
    return _entry(form, [match[2]], dict(zip(names, parts, strict=False)), stretch)


def _entry(form: Form, labels: Sequence[str], fields: Mapping[str, str], stretch: Stretch) -> StructuredEntry:
    """Return an entry with the turns that the labels name.

    Raises:
        ReplyUnusable: a needed field is blank, there is no label, or one names no line.
    """
    told = {name: in_one_line(value) for name, value in fields.items()}
    if blank := [name for name in form.needed if not told.get(name)]:
        raise ReplyUnusable(f"the {blank[0]} of a {form.kind} is blank")
    places = stretch.places(labels)
    return StructuredEntry(form.kind, stretch.turns(places), places, told)

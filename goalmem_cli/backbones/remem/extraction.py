"""Extract gists and facts from a session: split it into chunks for one request each, and parse the replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from goalmem_cli.backbones.remem.event_times import judge_point, judge_span
from goalmem_cli.backbones.remem.filler import without_filler
from goalmem_cli.backbones.remem.graph import Gist, Statement
from goalmem_cli.backbones.structured.entries import Form, StructuredEntry, read_entries
from goalmem_cli.backbones.structured.stretches import Stretch, stretches_of
from goalmem_cli.ports import GrammarShape, JsonShape
from goalmem_cli.prompts import Profile
from goalmem_cli.records import Turn
from goalmem_cli.store.queries.episodes import FACT, GIST

FORMS = (
    Form(GIST, "gists", ("text",), ("when",)),
    Form(FACT, "facts", ("subject", "predicate", "object"), ("point_in_time",)),
)
_SIZES: Mapping[Profile, tuple[int, int]] = {"full": (12, 2400), "compact": (4, 600)}
_BEFORE = 2


@dataclass(frozen=True, slots=True)
class Extracted:
    """The gists and facts of a chunk; `left_out` counts the entries without content (see `filler`)."""

    gists: tuple[Gist, ...] = ()
    facts: tuple[Statement, ...] = ()
    left_out: int = 0


def chunks_of(turns: Sequence[Turn], profile: Profile) -> Iterator[Stretch]:
    """Yield the turns of a session a few at a time; a long turn is split into passages."""
    lines, letters = _SIZES[profile]
    return stretches_of(turns, letters, lines=lines, before=_BEFORE)


def read_extracted(
    text: str, shape: JsonShape | GrammarShape, chunk: Stretch, forms: Sequence[Form] = FORMS, *, is_sifted: bool = True
) -> Extracted:
    """Parse the reply about a chunk, which has entries of these forms; with `is_sifted` those without content go.

    Raises:
        ReplyUnusable: it has another form, names messages that do not exist, or leaves a needed field blank.
    """
    entries = read_entries(text, shape, chunk, forms)
    gists = tuple(_gist(entry) for entry in entries if entry.kind == GIST)
    facts = tuple(_fact(entry) for entry in entries if entry.kind == FACT)
    if not is_sifted:
        return Extracted(gists, facts)
    speakers = {turn.speaker for turn in (*chunk.before, *(turn for turn, _ in chunk.lines))}
    return Extracted(*without_filler(gists, facts, speakers))


def _gist(entry: StructuredEntry) -> Gist:
    said = entry["text"]
    return Gist(said, entry.turns, judge_point(entry["when"], said, entry.turns))


def _fact(entry: StructuredEntry) -> Statement:
    """Return the fact of an entry, with a checked point or span of time."""
    subject, predicate, thing = (entry[name] for name in ("subject", "predicate", "object"))
    point, start, end = (entry[name] for name in ("point_in_time", "start_time", "end_time"))
    told = f"{subject} {predicate} {thing}"
    is_span = not point and bool(start or end)
    event = judge_span(start, end, told, entry.turns) if is_span else judge_point(point, told, entry.turns)
    return Statement(subject, predicate, thing, entry.turns, event)

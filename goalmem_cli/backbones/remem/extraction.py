"""Extract gists and facts from a session: split it into chunks for one request each, and parse the replies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from goalmem_cli.backbones.remem.event_times import judge_point, judge_span
from goalmem_cli.backbones.remem.graph import Gist, Statement
from goalmem_cli.backbones.structured.entries import Form, StructuredEntry, read_entries
from goalmem_cli.backbones.structured.stretches import Stretch, stretches_of
from goalmem_cli.logic.normal import content_stems
from goalmem_cli.ports import GrammarShape, JsonShape
from goalmem_cli.prompts import Profile
from goalmem_cli.records import Turn
from goalmem_cli.store.queries.episodes import FACT, GIST

Told = TypeVar("Told", Gist, Statement)

_CAPTION = re.compile(r"\[image: ([^\]]*)\]")
_COURTEOUS = (
    r"(?:also |kindly |warmly )?(?:thank|congratulat|encourag|wish|compliment|prais|cheer|reassur|greet|applaud|"
    r"is (?:proud of|happy for|excited for|glad for|supportive of)|(?:says|said) (?:hello|hi|goodbye|bye) to)\w*"
)


def without_filler(
    gists: Sequence[Gist], facts: Sequence[Statement], speakers: Iterable[str]
) -> tuple[tuple[Gist, ...], tuple[Statement, ...], int]:
    """Return the gists and facts with content, and the number of entries dropped.

    Dropped are courtesies of one speaker to another (thanks, praise, pep talk). Of the entries that only a picture's
    caption tells, the first stays, marked, and the others are dropped.
    """
    courtesy = _courtesy(speakers)
    pictured: set[str] = set()
    kept_gists = tuple(_marked([gist for gist in gists if not _is_courtesy(gist.text, courtesy)], pictured))
    kept_facts = tuple(_marked([fact for fact in facts if not _is_courtesy(fact.text, courtesy)], pictured))
    left_out = len(gists) + len(facts) - len(kept_gists) - len(kept_facts)
    return kept_gists, kept_facts, left_out


def _courtesy(speakers: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern for courtesies between these speakers, None without names."""
    names = sorted({re.escape(name) for speaker in speakers if speaker for name in (speaker, speaker.split()[0])})
    if not names:
        return None
    either = "|".join(names)
    return re.compile(rf"(?:{either})\s+{_COURTEOUS}\s+(?:to\s+|for\s+)?(?:{either})\b", re.IGNORECASE)


def _is_courtesy(text: str, courtesy: re.Pattern[str] | None) -> bool:
    return courtesy is not None and courtesy.match(text) is not None


def _marked(told: Iterable[Told], pictured: set[str]) -> Iterable[Told]:
    """Yield the entries; those that only a picture's caption tells are marked, and kept once for each turn."""
    for each in told:
        turn = each.turns[0]
        if len(each.turns) > 1 or not _is_pictured(each.text, turn):
            yield each
        elif turn.id not in pictured:
            pictured.add(turn.id)
            yield replace(each, is_pictured=True)


def _is_pictured(told: str, turn: Turn) -> bool:
    """Say whether the statement comes from the caption of the turn's picture rather than from its words."""
    captions = " ".join(_CAPTION.findall(turn.text))
    if not captions:
        return False
    said = _CAPTION.sub(" ", turn.text)
    wanted = content_stems(told)
    return len(wanted & content_stems(captions)) > len(wanted & content_stems(said))


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

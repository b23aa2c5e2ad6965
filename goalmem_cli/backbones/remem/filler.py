"""Drop extracted entries without content: courtesies between speakers, and repeated entries about a picture."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from goalmem_cli.backbones.remem.graph import Gist, Statement
from goalmem_cli.logic.normal import content_stems
from goalmem_cli.records import Turn

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

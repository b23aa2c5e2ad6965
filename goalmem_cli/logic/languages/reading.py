"""Read the time expressions of a text in English and in the other languages that it may be in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from goalmem_cli.languages.finding import has_english
from goalmem_cli.languages.patterns import late
from goalmem_cli.logic import compounds
from goalmem_cli.logic.languages.times import Phrase, is_readable, phrases
from goalmem_cli.logic.readings import STEPS
from goalmem_cli.logic.relative import Expression
from goalmem_cli.logic.scene import Scene

_OF_YEAR = late(r"(?P<day>\d+ \w+) (?P<step>last|this|next) year")
_LETTERS = late(r"[^\W\d_]")


def spoken(scene: Scene, language: str | None = None, *, is_english: bool = True) -> list[Expression]:
    """Return the time expressions of a text in order, without overlaps, each with its most likely reading first.

    `language` is a short tag of BCP 47 ("de"). A text in a language that goalmem reads is not read as English, but for
    dates in digits, unless it has words that are English alone. If it has no table, the text is read as English and for
    what cannot be English. `is_english` is False if the text has no word of an English time.
    """
    others = [found for phrase in phrases(scene.text, scene.folded, language) for found in _best(phrase, scene)]
    english = [found for found in _english(scene, language) if not _is_within(found, others)] if is_english else []
    return sorted([*english, *others], key=lambda found: found.start) if others else english


def loose(scene: Scene, language: str | None = None) -> Iterator[Expression]:
    """Yield every time expression of a text with every reading, for checks; they may overlap."""
    if not is_readable(language):
        yield from compounds.expressions(scene, is_loose=True)
    for phrase in phrases(scene.text, scene.folded, language):
        yield from compounds.expressions(_scene_of(phrase, scene), is_loose=True)


def _english(scene: Scene, language: str | None) -> list[Expression]:
    """Return the English time expressions; in another language that goalmem reads, only dates in digits."""
    if not is_readable(language) or has_english(scene.words):
        return compounds.spoken(scene)
    return [
        found for found in compounds.spoken(scene)
        if found.is_plain and not _LETTERS.search(scene.folded[found.start : found.end].removeprefix("in "))
    ]  # fmt: skip


def _is_within(found: Expression, others: Iterable[Expression]) -> bool:
    return any(found.start < other.end and other.start < found.end for other in others)


def _scene_of(phrase: Phrase, scene: Scene) -> Scene:
    """Return the English of a phrase as a text of its own; of "3 June last year" with the year's number."""
    english = phrase.english
    if scene.is_timed and (found := _OF_YEAR.fullmatch(english)):
        english = f"{found['day']} {scene.day.year + STEPS[found['step']]}"
    return Scene.of(f"{phrase.lead}{english}.", scene.said if scene.is_timed else None)


def _best(phrase: Phrase, scene: Scene) -> list[Expression]:
    """Return the expression with the days that its English means, or nothing if they are unknown."""
    found = [each for each in compounds.spoken(_scene_of(phrase, scene)) if each.end > len(phrase.lead)]
    is_plain = bool(found) and found[0].is_plain and not _OF_YEAR.fullmatch(phrase.english)
    return [replace(found[0], start=phrase.start, end=phrase.end, is_plain=is_plain)] if len(found) == 1 else []

"""Turns a proof into an answer: checks its wording, reads its verdict, and says when one more check is due."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from goalmem_cli.languages.words import verdict_in_any
from goalmem_cli.logic.equality import Equality, compare
from goalmem_cli.logic.forms import standard_time
from goalmem_cli.logic.normal import FUNCTION_WORDS, content_stems, content_words, normalise, stem, words
from goalmem_cli.logic.support import Support
from goalmem_cli.reasoners.goal_mem.judge import BRIDGED, sides_of
from goalmem_cli.reasoners.goal_mem.records import VERDICTS
from goalmem_cli.trace import Contradicted, Ending, Grounded, Status, Trace

# Words that turn what stands beside them into something else, in English and the six languages of `languages.words`.
_TURNS = frozenset(
    "not no never nor or and but neither without except instead rather nobody nothing none "
    "nicht nie kein keine keinen ohne oder aber sondern weder nunca ni sin pero sino ne pas non jamais sans mais "
    "não nem sem mas ou 不是 没有 ない".split()
)
_SETTLING = [verdict for verdict in VERDICTS if verdict != "unknown"]


def checked_wording(text: str, found: Sequence[str], asked: str) -> tuple[str, str]:
    """Return the model's wording if it says what was found and nothing more, else the bindings, and a note.

    Every word of the wording, except function words, must be in the bindings or in `asked`. Words such as "not", "or"
    and "without" must be in the bindings. Dates are written in the standard form.
    """
    bindings, wording = ", ".join(found), " ".join(text.split())
    if not all(_says(wording, value) for value in found):
        return bindings, f"the wording {wording!r} leaves out a binding, the bindings stand for it"
    if extra := _added(wording, found, asked):
        return bindings, f"the wording {wording!r} adds {extra!r}, the bindings stand for it"
    return standard_time(wording), ""


def _says(wording: str, value: str) -> bool:
    wanted = content_stems(value)
    is_same = compare(wording, value) in (Equality.EQUAL, Equality.ALIAS)
    return is_same or wanted <= {stem(word) for word in words(wording)}


def _added(wording: str, found: Sequence[str], asked: str) -> str:
    """Return a word of the wording that is neither in the bindings nor in the question, or an empty text."""
    bound = {stem(word) for value in found for word in words(value)}
    told = bound | {stem(word) for word in words(asked)}
    for word in words(wording):
        is_turn = word in _TURNS or word.endswith("n't")
        if stem(word) not in (bound if is_turn else told) and (is_turn or content_words(word) - FUNCTION_WORDS):
            return word
    return ""


def verdict_in(wording: str) -> str | None:
    """Return the verdict that a wording begins with: yes, no, likely yes or likely no; None if it has none."""
    said = f"{normalise(wording)} "
    if said.startswith(("yes and no ", "no and yes ")):
        return None
    english = next((verdict for verdict in _SETTLING if said.startswith(f"{verdict} ")), None)
    return english or verdict_in_any(wording) or None


def settled_by(
    groundings: Iterable[Grounded], contradicted: Iterable[Contradicted]
) -> tuple[list[Grounded | Contradicted], tuple[str, ...]]:
    """Return what settled the subgoals, by subgoal, and the distinct numbers of the cited facts."""
    items: list[Grounded | Contradicted] = sorted([*groundings, *contradicted], key=lambda item: item.subgoal)
    return items, tuple(dict.fromkeys(number for item in items for number in item.facts))


def reasons_to_check(groundings: Sequence[Grounded], breadth: int) -> tuple[str, ...]:
    """Return the reasons to check an answer once more; none if it needs no check.

    A later plan (`breadth` above 1) may ask for less than the question does. Inferred values and bridged constants rest
    on the model's word alone. A value does not count as inferred if any grounding states or derives it.
    """
    later = [f"it is the answer of plan {breadth}"] if breadth > 1 else []
    supports = [
        (name, value, item.support.get(name) is Support.INFERRED)
        for item in groundings
        for name, values in item.bindings.items()
        for value in values
    ]
    supported = {(name, normalise(value)) for name, value, is_inferred in supports if not is_inferred}
    inferred = [
        f"{name} = {value} is inferred" for name, value, _ in supports if (name, normalise(value)) not in supported
    ]
    bridged = [note for item in groundings for note in item.notes if note.startswith(BRIDGED)]
    return tuple(dict.fromkeys([*later, *inferred, *bridged]))


def unproved(trace: Trace) -> Trace:
    """Return the trace as failed if every attempt that asked a model ended in unusable replies, else as unknown.

    An unknown answer may have values in conflict.
    """
    tried = [each for each in trace.attempts if each.breadth or any(step.usage.calls for step in each.steps)]
    if tried and all(attempt.ending is Ending.UNUSABLE_REPLY for attempt in tried):
        last = tried[-1]
        failure = last.failure or next(step.failure for step in last.steps if step.failure)
        return replace(trace, status=Status.FAILED, failure=failure)
    return replace(trace, conflict=sides_of(trace.attempts))

"""What leaves the engine as an answer, and how a question that has none ends: the same in both orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goalmem_cli.logic.equality import Equality, compare
from goalmem_cli.logic.forms import standard_time
from goalmem_cli.logic.normal import FUNCTION_WORDS, content_stems, content_words, stem, words
from goalmem_cli.reasoners.asking import Reply
from goalmem_cli.trace import Ending, Status, Trace

# Words that turn what stands beside them into something else.
_TURNS = frozenset("not no never nor or and but neither without except instead rather nobody nothing none".split())


def worded(reply: Reply[str], found: Sequence[str], asked: str) -> tuple[str, str]:
    """Return the model's wording if it says what was found and nothing more, else the bindings; and a note.

    Nothing unchecked leaves the engine: beside function words, every word of the wording stands in the bindings or in
    what was `asked` (question and goal), and it denies, opposes or joins nothing that the bindings do not.
    """
    if reply.value is None:
        return ", ".join(found), f"the answer's wording was unusable ({reply.problem}), the bindings stand for it"
    return checked_wording(reply.value, found, asked)


def checked_wording(text: str, found: Sequence[str], asked: str) -> tuple[str, str]:
    """Return a wording that passes the check of `worded`, dates in their form, else the bindings; and a note."""
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
    """Return a word of the wording that neither the bindings nor the question account for, or nothing."""
    bound = {stem(word) for value in found for word in words(value)}
    told = bound | {stem(word) for word in words(asked)}
    for word in words(wording):
        is_turn = word in _TURNS or word.endswith("n't")
        if stem(word) not in (bound if is_turn else told) and (is_turn or content_words(word) - FUNCTION_WORDS):
            return word
    return ""


def unproved(trace: Trace) -> Trace:
    """Return the trace as unknown, or as failed where every plan ended in unusable replies."""
    tried = [attempt for attempt in trace.attempts if attempt.breadth]
    if tried and all(attempt.ending is Ending.UNUSABLE_REPLY for attempt in tried):
        last = tried[-1]
        failure = last.failure or next(step.failure for step in last.steps if step.failure)
        return replace(trace, status=Status.FAILED, failure=failure)
    return trace

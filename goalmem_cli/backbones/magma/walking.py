"""Find a question's intent, and walk through the graph accordingly (MAGMA section 3.4)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

from goalmem_cli.backbones.magma.graph import Graph
from goalmem_cli.backbones.magma.settings import Intent, MagmaSettings
from goalmem_cli.logic.moments import Moment
from goalmem_cli.records import Unit

_WORDS = {
    Intent.WHY: re.compile(r"\b(?:why|because|causes?|caused|reasons?|how come)\b", re.IGNORECASE),
    Intent.WHEN: re.compile(
        r"\b(?:when|dates?|before|after|since|until|how long|what (?:year|month|day|time)|which (?:year|month|day))\b",
        re.IGNORECASE,
    ),
}
_DIGITS = 9


def intent_of(question: str) -> Intent:
    """Return a question's intent by its words: WHY, WHEN, or else ENTITY."""
    return next((intent for intent, words in _WORDS.items() if words.search(question)), Intent.ENTITY)


def beam_search(
    graph: Graph,
    anchors: Mapping[str, float],
    likeness: Mapping[str, float],
    intent: Intent,
    settings: MagmaSettings,
    sees: Callable[[str], bool],
) -> dict[str, float]:
    """Return the nodes that the walk visits with their scores, best first.

    From each of the best nodes of a step the walk follows all links: score(j) = gamma score(i) + S(j | i) with
    S = exp(structure w(kind) + meaning cos(j)), where w is the weight of the link's kind for the intent. `anchors` has
    the scores of the start nodes. `likeness` has cosines to the question; a missing one counts as 0. Nodes for which
    `sees` is false are skipped. If several ways lead to a node, the best score counts.
    """
    weights = settings.weights(intent)
    scores = {node: score for node, score in anchors.items() if sees(node)}
    frontier = _best(scores, settings.beam)
    for _ in range(settings.depth):
        reached: dict[str, float] = {}
        for node in frontier:
            for other, kind in graph.links.get(node, ()):
                if other in scores or sees(other):
                    step = math.exp(settings.structure * weights[kind] + settings.meaning * likeness.get(other, 0.0))
                    score = round(settings.gamma * scores[node] + step, _DIGITS)
                    if score > max(scores.get(other, -math.inf), reached.get(other, -math.inf)):
                        reached[other] = score
        frontier = []
        for node in _best(reached, settings.beam):
            if node in scores or len(scores) < settings.visited:
                scores[node] = reached[node]
                frontier.append(node)
        if not frontier:
            break
    return {node: scores[node] for node in _best(scores, len(scores))}


def _best(scores: Mapping[str, float], most: int) -> list[str]:
    return sorted(scores, key=lambda node: (-scores[node], node))[:most]


def answer_order(events: Sequence[Unit], intent: Intent, effects: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the ids of events in the order for an answer.

    WHEN sorts by time, and WHY puts causes before their effects. ENTITY keeps the order.
    """
    if intent is Intent.WHEN:
        return [unit.id for unit in sorted(events, key=_when)]
    if intent is Intent.WHY:
        return _causes_first([unit.id for unit in events], effects)
    return [unit.id for unit in events]


def _when(unit: Unit) -> tuple[bool, int, str, int]:
    if unit.said is None:
        return True, 0, unit.conversation, unit.ordinal
    moment = Moment.from_datetime(unit.said)
    return False, moment.clock if moment.instant is None else moment.instant, unit.conversation, unit.ordinal


def _causes_first(ids: Sequence[str], effects: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the ids with causes before their effects. Otherwise, and in cycles, the order stays."""
    waiting = dict.fromkeys(ids, 0)
    for cause in ids:
        for effect in effects.get(cause, ()):
            if effect in waiting and effect != cause:
                waiting[effect] += 1
    found: list[str] = []
    while waiting:
        ready = next((id_ for id_, causes in waiting.items() if causes <= 0), next(iter(waiting)))
        del waiting[ready]
        found.append(ready)
        for effect in effects.get(ready, ()):
            if effect in waiting and effect != ready:
                waiting[effect] -= 1
    return found

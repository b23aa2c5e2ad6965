"""Questions of Test of Time's eight types about a graph without names, worked out in plain Python, with gold plans.

Nothing here uses `goalmem_cli.logic.computing`: the answers are what that is held to. A span holds in its first and in
its last year.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from goalmem_cli.lab.bench.sums.questions import Gold, Sum
from goalmem_cli.lab.bench.tot.facts import Span, TimedGraph
from goalmem_cli.lab.bench.tot.tot_questions import Ask, Key, Told, grounded, groups, told

_TIMES = ("1st", "2nd", "3rd")
_TRIES = 20  # of other events, of which few are at a time when just one entity was


def told_without_names(graph: TimedGraph, seed: int) -> Told:
    """Return the graph in the benchmark's words: "E12 was the R3 of E40 from 1983 to 1989."."""
    return told(graph, f"tot-{seed}-{graph.number}", _say)


def _say(span: Span) -> str:
    return f"E{span.subject} was the R{span.relation} of E{span.object} from {span.first} to {span.last}."


def _of(span: Span) -> Key:
    return span.relation, span.object


def _groups(told: Told) -> list[tuple[str, list[Span]]]:
    """Return who was what to whom: the words for it, and all who were."""
    found = groups(told.graph.spans, _of)
    return [(f"the R{relation} of E{object_}", spans) for (relation, object_), spans in found.items()]


def _all(told: Told, spans: Sequence[Span]) -> tuple[Gold, ...]:
    return grounded(told, spans, 0, lambda span: {"x": f"E{span.subject}", "y": str(span.first), "z": str(span.last)})


def _subgoal(spans: Sequence[Span]) -> str:
    return f"(x:entity*) was the (R{spans[0].relation}) of (E{spans[0].object}) from (y:year*) to (z:year*)"


def _entities(spans: Sequence[Span]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"E{span.subject}" for span in spans))


def _in_year(told: Told, chance: random.Random) -> Iterator[Sum]:
    for what, spans in _groups(told):
        span = chance.choice(spans)
        year = chance.randint(span.first, span.last)
        answer = _entities([one for one in spans if one.holds(year, year)])
        if len(answer) == 1:
            text = f"Which entity was {what} in {year}?"
            expression = f"during(x from y to z, '{year}')"
            yield Sum("event_at_time_t", text, answer, expression, (_subgoal(spans),), _all(told, spans))


def _with_another(told: Told, chance: random.Random) -> Iterator[Sum]:
    every = told.graph.spans
    once = [own[0] for own in _by_edge(every) if len(own) == 1]
    for what, spans in _groups(told):
        tried = chance.sample(once, min(_TRIES, len(once)))
        others = [one for one in tried if _of(one) != _of(spans[0])]
        others = [one for one in others if len(_entities([s for s in spans if s.holds(one.first, one.first)])) == 1]
        if not others:
            continue
        other = others[0]
        answer = _entities([span for span in spans if span.holds(other.first, other.first)])
        role = f"the R{other.relation} of E{other.object}"
        beginning = f"(E{other.subject}) began to be the (R{other.relation}) of (E{other.object}) in (w:year)"
        gold = (*_all(told, spans), Gold(1, told.labels[other], {"w": str(other.first)}))
        yield Sum(
            "event_at_the_time_of_another_event",
            f"Which entity was {what} in the year in which E{other.subject} began to be {role}?",
            answer, "during(x from y to z, w)", (_subgoal(spans), beginning), gold,
        )  # fmt: skip


def _number(told: Told, chance: random.Random) -> Iterator[Sum]:
    for what, spans in _groups(told):
        first = chance.randint(spans[0].first - 2, spans[-1].last)
        last = first + chance.randint(1, 30)
        count = len(_entities([span for span in spans if span.holds(first, last)]))
        text = f"How many different entities were {what} in any of the years from {first} to {last}, both included?"
        expression = f"count(during(x from y to z, '{first}', '{last}'))"
        yield Sum(
            "number_of_events_in_time_interval", text, (str(count),), expression, (_subgoal(spans),), _all(told, spans)
        )


def _timeline(told: Told, chance: random.Random) -> Iterator[Sum]:  # noqa: ARG001 - asked as the others are
    for what, spans in _groups(told):
        if len(_entities(spans)) > 1:
            text = f"Which entities were {what}? Name each once, in the order in which they first were."
            yield Sum("timeline", text, _entities(spans), "ordered(x by y)", (_subgoal(spans),), _all(told, spans))


def _ends(told: Told, chance: random.Random) -> Iterator[Sum]:
    for what, spans in _groups(told):
        if len(spans) > 1:
            word, place = chance.choice((("first", 0), ("last", -1)))
            text, answer = f"Which entity was the {word} to become {what}?", (f"E{spans[place].subject}",)
            yield Sum("first_last", text, answer, f"{word}(x by y)", (_subgoal(spans),), _all(told, spans))


def _beside(told: Told, chance: random.Random) -> Iterator[Sum]:
    for what, spans in _groups(told):
        subjects = [span.subject for span in spans]
        places = [place for place, subject in enumerate(subjects) if subjects.count(subject) == 1]
        for word, function, step in (("before", "previous", -1), ("after", "next", 1)):
            near = [place for place in places if 0 <= place + step < len(spans)]
            if near:
                place = chance.choice(near)
                text = f"Which entity became {what} right {word} E{subjects[place]} did?"
                answer, expression = (f"E{subjects[place + step]}",), f"{function}(x by y, 'E{subjects[place]}')"
                yield Sum("before_after", text, answer, expression, (_subgoal(spans),), _all(told, spans))


def _duration(told: Told, chance: random.Random) -> Iterator[Sum]:
    for spans in _by_edge(told.graph.spans):
        place = chance.randrange(len(spans))
        span, is_one = spans[place], len(spans) == 1
        which = "" if is_one else f" the {_TIMES[place]} time"
        expression = "between(y, z)" if is_one else f"between(nth(y by y, {place + 1}), nth(z by z, {place + 1}))"
        text = f"For how many years was E{span.subject} the R{span.relation} of E{span.object}{which}?"
        length = (str(span.last - span.first),)
        yield Sum(
            "relation_duration", text, length, expression, (_edge(span, "" if is_one else "*"),), _years(told, spans)
        )


def _when(told: Told, chance: random.Random) -> Iterator[Sum]:
    for spans in _by_edge(told.graph.spans):
        if len(spans) == 1:
            (span,) = spans
            word, name, year = chance.choice((("begin", "y", span.first), ("cease", "z", span.last)))
            text = f"In which year did E{span.subject} {word} to be the R{span.relation} of E{span.object}?"
            yield Sum("event_at_what_time", text, (str(year),), name, (_edge(span, ""),), _years(told, spans))


def _by_edge(spans: Sequence[Span]) -> list[list[Span]]:
    found: dict[tuple[int, int, int], list[Span]] = {}
    for span in sorted(spans, key=lambda span: span.first):
        found.setdefault((span.subject, span.relation, span.object), []).append(span)
    return list(found.values())


def _edge(span: Span, star: str) -> str:
    who = f"(E{span.subject}) was the (R{span.relation}) of (E{span.object})"
    return f"{who} from (y:year{star}) to (z:year{star})"


def _years(told: Told, spans: Sequence[Span]) -> tuple[Gold, ...]:
    return grounded(told, spans, 0, lambda span: {"y": str(span.first), "z": str(span.last)})


ASKS: tuple[Ask, ...] = (_in_year, _with_another, _number, _timeline, _ends, _beside, _duration, _when)
"""One for each type of the benchmark."""

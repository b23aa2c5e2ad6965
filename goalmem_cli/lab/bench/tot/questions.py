"""Questions about temporal graphs in the forms of Test of Time and Complex-TR, with gold plans.

The answers are computed in plain Python, without `goalmem_cli.logic.computing`, because they test it. A span includes
its first and last year. Each function asks about some spans, sorted by start; it returns None if they do not allow its
question.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from goalmem_cli.lab.bench.sums.questions import Gold, Sum
from goalmem_cli.lab.bench.tot.graphs import Span, Told, done_by, kind_of, thing_of

TIME_TO_EVENT, EVENT_TO_EVENT = "L2", "L3"
"""The levels of Complex-TR's questions, with which the published ids begin."""
MOST_GROUNDINGS = 12
"""The most groundings in one `plan_and_prove` reply; questions that need more are not asked."""

Ask = Callable[[Told, Sequence[Span], random.Random], Sum | None]

_TIMES = ("1st", "2nd", "3rd")
_TRIES = 20  # other events to try; few are at a time with exactly one entity


def chosen(told: Told, asks: Sequence[Ask], chance: random.Random) -> list[Sum]:
    """Return one random question of each kind that the graph allows."""
    found: list[Sum] = []
    for ask in asks:
        groups = told.edges if ask in _OF_EDGES else told.groups
        asked = [ask(told, spans, chance) for spans in groups]
        possible = [one for one in asked if one is not None and len(one.groundings) <= MOST_GROUNDINGS]
        if possible:
            found.append(chance.choice(possible))
    return found


def _held(spans: Sequence[Span], first: int, last: int) -> list[Span]:
    return [span for span in spans if span.holds(first, last)]


def _role(span: Span) -> str:
    return f"the R{span.relation} of E{span.object}"


def _in_year(told: Told, spans: Sequence[Span], chance: random.Random) -> Sum | None:
    span = chance.choice(spans)
    year = chance.randint(span.first, span.last)
    answer = told.names(_held(spans, year, year))
    text, expression = f"Which entity was {_role(span)} in {year}?", f"during(x from y to z, '{year}')"
    return told.ask("event_at_time_t", text, answer, expression, spans) if len(answer) == 1 else None


def _with_another(told: Told, spans: Sequence[Span], chance: random.Random) -> Sum | None:
    for other in chance.sample(told.once, min(_TRIES, len(told.once))):
        answer = told.names(_held(spans, other.first, other.first))
        if len(answer) == 1 and _role(other) != _role(spans[0]):
            who = f"E{other.subject}"
            text = f"Which entity was {_role(spans[0])} in the year in which {who} began to be {_role(other)}?"
            beginning = f"({who}) began to be the (R{other.relation}) of (E{other.object}) in (w:year)"
            gold = Gold(1, told.labels[other], {"w": str(other.first)})
            return told.ask(
                "event_at_the_time_of_another_event", text, answer, "during(x from y to z, w)", spans, (beginning, gold)
            )
    return None


def _number(told: Told, spans: Sequence[Span], chance: random.Random) -> Sum:
    first = chance.randint(spans[0].first - 2, spans[-1].last)
    last = first + chance.randint(1, 30)
    answer = str(len(told.names(_held(spans, first, last))))
    when = f"in any of the years from {first} to {last}, both included"
    text, expression = f"How many different entities were {_role(spans[0])} {when}?", f"'{first}', '{last}'"
    return told.ask(
        "number_of_events_in_time_interval", text, (answer,), f"count(during(x from y to z, {expression}))", spans
    )


def _timeline(told: Told, spans: Sequence[Span], chance: random.Random) -> Sum | None:  # noqa: ARG001 - as the others
    answer = told.names(spans)
    text = f"Which entities were {_role(spans[0])}? Name each once, in the order in which they first were."
    return told.ask("timeline", text, answer, "ordered(x by y)", spans) if len(answer) > 1 else None


def _ends(told: Told, spans: Sequence[Span], chance: random.Random) -> Sum | None:
    word, place = chance.choice((("first", 0), ("last", -1)))
    text, answer = f"Which entity was the {word} to become {_role(spans[0])}?", (told.name(spans[place]),)
    return told.ask("first_last", text, answer, f"{word}(x by y)", spans) if len(spans) > 1 else None


def _before_after(told: Told, spans: Sequence[Span], chance: random.Random) -> Sum | None:
    return _beside(told, spans, chance, "before_after", f"Which entity became {_role(spans[0])} right {{}} {{}} did?")


def _beside(told: Told, spans: Sequence[Span], chance: random.Random, type_: str, text: str) -> Sum | None:
    """Ask what came right before or after an item that came once; `text` has places for the direction and its name."""
    names = [told.name(span) for span in spans]
    step, word, function = chance.choice(((-1, "before", "previous"), (1, "after", "next")))
    places = [place for place, name in enumerate(names) if names.count(name) == 1 and 0 <= place + step < len(names)]
    if not places:
        return None
    place = chance.choice(places)
    answer, expression = (names[place + step],), f"{function}(x by y, '{names[place]}')"
    return told.ask(type_, text.format(word, names[place]), answer, expression, spans)


def _duration(told: Told, spans: Sequence[Span], chance: random.Random) -> Sum:
    place = chance.randrange(len(spans))
    span, is_one = spans[place], len(spans) == 1
    which = "" if is_one else f" the {_TIMES[place]} time"
    expression = "between(y, z)" if is_one else f"between(nth(y by y, {place + 1}), nth(z by z, {place + 1}))"
    text = f"For how many years was E{span.subject} {_role(span)}{which}?"
    return _of_edge(told, "relation_duration", text, span.last - span.first, expression, spans)


def _when(told: Told, spans: Sequence[Span], chance: random.Random) -> Sum | None:
    span = spans[0]
    word, name, year = chance.choice((("begin", "y", span.first), ("cease", "z", span.last)))
    text = f"In which year did E{span.subject} {word} to be {_role(span)}?"
    return _of_edge(told, "event_at_what_time", text, year, name, spans) if len(spans) == 1 else None


def _of_edge(told: Told, type_: str, text: str, answer: int, expression: str, spans: Sequence[Span]) -> Sum:
    gold = tuple(Gold(0, told.labels[span], {"y": str(span.first), "z": str(span.last)}) for span in spans)
    subgoal = told.subgoal(spans[0], star="" if len(spans) == 1 else "*")
    return Sum(type_, text, (str(answer),), expression, (subgoal,), gold)


def _at_a_time(told: Told, spans: Sequence[Span], chance: random.Random) -> Sum:
    span = chance.choice(spans)
    first = chance.randint(span.first, span.last)
    last = first + chance.choice((0, 5, 10))
    when = f"in {first}" if first == last else f"in any of the years from {first} to {last}, both included"
    bounds = f"'{first}'" if first == last else f"'{first}', '{last}'"
    text, answer = f"Which are the {kind_of(span)}s that {done_by(span)} {when}?", told.names(_held(spans, first, last))
    return told.ask(TIME_TO_EVENT, text, answer, f"during(x from y to z, {bounds})", spans)


def _while_another(told: Told, spans: Sequence[Span], chance: random.Random) -> Sum | None:
    span = spans[0]
    others = [one for one in told.once if one.subject == span.subject and one.relation != span.relation]
    others = [one for one in others if _held(spans, one.first, one.last)]
    if not others:
        return None
    other = chance.choice(others)
    meanwhile = f"in the years in which {done_by(other)} {thing_of(other)}"
    gold = Gold(1, told.labels[other], {"v": str(other.first), "w": str(other.last)})
    return told.ask(
        EVENT_TO_EVENT, f"Which are the {kind_of(span)}s that {done_by(span)} {meanwhile}?",
        told.names(_held(spans, other.first, other.last)), "during(x from y to z, v, w)", spans,
        (told.subgoal(other, years="vw"), gold),
    )  # fmt: skip


def _begun_beside(told: Told, spans: Sequence[Span], chance: random.Random) -> Sum | None:
    asked = f"Of the {kind_of(spans[0])}s that {done_by(spans[0])}, by when each began"
    return _beside(told, spans, chance, EVENT_TO_EVENT, f"{asked}, which comes right {{}} {{}}?")


SEMANTIC: tuple[Ask, ...] = (
    _in_year, _with_another, _number, _timeline, _ends, _before_after, _duration, _when
)  # fmt: skip
"""One per question type of Test of Time."""
COMPLEX: tuple[Ask, ...] = (_at_a_time, _while_another, _at_a_time, _begun_beside)
"""As many questions of one level as of the other."""
_OF_EDGES = (_duration, _when)

"""Evaluate an expression over rows; return its value and the calculation in words, or why it cannot be settled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from goalmem_cli.logic.checks import Remembered
from goalmem_cli.logic.computing import date_arithmetic, ordering
from goalmem_cli.logic.computing.amounts import (
    LENGTHS,
    Amount,
    UnsettledError,
    apart,
    divided,
    read_amount,
    without_noun,
)
from goalmem_cli.logic.computing.date_arithmetic import Time
from goalmem_cli.logic.computing.expressions import Call, Expression, Function, Literal, Now, Use
from goalmem_cli.logic.computing.holding import held_during
from goalmem_cli.logic.computing.products import in_units, rate_in, times
from goalmem_cli.logic.computing.rows import Element, Row, Same, alike, elements, merged, same_words
from goalmem_cli.logic.computing.saying import say_amount
from goalmem_cli.logic.computing.totals import places_told, summed
from goalmem_cli.logic.computing.workings import (
    Found,
    Scene,
    amount_of,
    as_amount,
    as_time,
    facts_of,
    name_of,
    one_of,
    time_in,
    together,
)
from goalmem_cli.logic.days import month_of


@dataclass(frozen=True, slots=True)
class Computed:
    """The result of a computation: the values of the answer, the calculation in words, and the supporting facts.

    `elements` are the things that were counted, added or chosen from, each with its own facts. If the values do not
    settle the result, `why` says so and `values` is empty. Facts are given by number.
    """

    values: tuple[str, ...]
    how: str = ""
    facts: tuple[str, ...] = ()
    elements: tuple[Element, ...] = ()
    why: str = ""


def evaluate(
    expression: Expression,
    rows: Sequence[Row],
    *,
    now: datetime | None = None,
    same: Same = same_words,
    asked: str = "",
    facts: Mapping[str, Remembered] | None = None,
    is_so_far: bool = False,
) -> Computed:
    """Evaluate an expression that `check_expression` accepted over the rows; raise no error.

    `now` is the time of asking. `same` says whether two constants are one thing. `asked` is the unit of time that the
    question names ("day", "week" ...), or "". `facts` are those that the rows cite; they distinguish a total from its
    parts. With `is_so_far`, the question asks how long something has gone on; the answer then says when the length was
    told.
    """
    try:
        found = _found(expression, Scene(rows, now, same, asked, facts or {}))
    except UnsettledError as error:
        return Computed((), why=str(error))
    if found.amount is not None:
        values: tuple[str, ...] = (say_amount(found.amount, asked),)
        if is_so_far and isinstance(expression, Call) and expression.function is Function.DURATION:
            values, found = _as_told(values[0], found, now)
    else:
        values = (found.word,) if found.word else tuple(dict.fromkeys(map(str, found.elements)))
    if not values:
        return Computed((), facts=found.facts, why=f"nothing is left by {expression}")
    return Computed(values, "; ".join(dict.fromkeys(found.how)), found.facts, found.elements)


def _found(expression: Expression, scene: Scene) -> Found:
    """Return the value of an expression with its facts and calculation; raises UnsettledError."""
    if isinstance(expression, Use):
        found = tuple(elements(scene.rows, expression.name, scene.same))
        if not found:
            raise UnsettledError(f"nothing was found for {expression.name}")
        return Found(found, facts_of(found), called=expression.name)
    if isinstance(expression, Now):
        if scene.now is None:
            raise UnsettledError("the time of asking is not known")
        return Found(time=Time.of(scene.now))
    if isinstance(expression, Literal):
        return Found((Element(expression.value),), called=str(expression))
    return _FUNCTIONS[expression.function](expression, scene)


def _parts(call: Call, scene: Scene) -> list[Found]:
    return [_found(argument, scene) for argument in call.arguments]


# Counting, adding and choosing things


def _count(call: Call, scene: Scene) -> Found:
    (part,) = _parts(call, scene)
    number = len(part.elements)
    how = f"{', '.join(map(str, part.elements))}: {number}" if number else f"{call}: none"
    return replace(part, amount=Amount.of(number), how=(*part.how, how))


def _total(call: Call, scene: Scene) -> Found:
    """Compute a sum or an average."""
    (part,) = _parts(call, scene)
    added = summed(part.elements, as_amount, scene.facts)
    whole = added.whole
    said = " + ".join(map(str, added.lines))
    if call.function is Function.AVERAGE:
        count = sum(line.count for line in added.lines)
        whole = divided(whole, count)
        said = f"({said}) / {count}"
    kept = tuple(element for line in added.lines for element in line.elements)
    how = (*part.how, f"{said} = {say_amount(whole, scene.asked)}", *added.notes)
    return replace(part, elements=kept, amount=whole, how=how)


def _most(call: Call, scene: Scene) -> Found:
    """Compute the value found most often; a tie raises UnsettledError."""
    (argument,) = call.arguments
    if not isinstance(argument, Use):
        raise UnsettledError(f"{argument} has each thing once")
    each = elements(scene.rows, argument.name, scene.same, is_each=True)
    groups: list[list[Element]] = []
    for element in each:
        group = next((group for group in groups if alike(group[0], element, scene.same)), None)
        if group is None:
            groups.append([element])
        else:
            group.append(element)
    if not groups:
        raise UnsettledError(f"nothing was found for {argument}")
    groups.sort(key=len, reverse=True)
    said = ", ".join(f"{group[0]} {len(group)} time{'s' * (len(group) > 1)}" for group in groups)
    if len(groups) > 1 and len(groups[0]) == len(groups[1]):
        raise UnsettledError(f"none is the most: {said}")
    return Found(tuple(groups[0]), facts_of(each), (said,), word=str(groups[0][0]))


def _pairs(call: Call, scene: Scene) -> list[ordering.Pair]:
    """Return the values of a variable with those that they are ordered by; raises UnsettledError."""
    name = str(call.arguments[0])
    is_amount_first = call.function in (Function.LEAST, Function.GREATEST)
    found = ordering.pairs(scene.rows, name, call.by, scene.same, is_amount_first=is_amount_first)
    if not found:
        raise UnsettledError(f"nothing was found for {name} by {call.by}")
    return found


def _ranked(call: Call, scene: Scene) -> Found:
    found = _pairs(call, scene)
    chosen, how = ordering.chosen(found, call.function, call.place)
    facts = tuple(dict.fromkeys(number for pair in found for number in pair.facts))
    return Found((chosen.element,), facts, (how,), called=str(call.arguments[0]))


def _in_order(call: Call, scene: Scene) -> Found:
    ranked = ordering.in_order(_pairs(call, scene))
    facts = tuple(dict.fromkeys(number for pair in ranked for number in pair.facts))
    how = f"in order: {', '.join(pair.said for pair in ranked)}"
    return Found(tuple(pair.element for pair in ranked), facts, (how,))


def _beside(call: Call, scene: Scene) -> Found:
    """Compute the value before or after another one in an order."""
    mark = _found(call.arguments[1], scene)
    found = _pairs(call, scene)
    pair, how = ordering.beside(found, Element(name_of(mark, scene)), call.function, scene.same)
    facts = tuple(dict.fromkeys((*(number for one in found for number in one.facts), *mark.facts)))
    return Found((pair.element,), facts, (*mark.how, how), called=str(call.arguments[0]))


def _during(call: Call, scene: Scene) -> Found:
    """Compute the values that held in a span of time."""
    thing, *bounds = call.arguments
    parts = [_found(bound, scene) for bound in bounds]
    first, last = (time_in(part, scene) for part in (parts[0], parts[-1]))
    held = held_during(scene.rows, str(thing), call.by, call.until, (first, last), scene.same)
    proof = together(parts, held.how)
    return replace(proof, elements=held.elements, facts=tuple(dict.fromkeys((*held.facts, *proof.facts))))


# Sets


def _set(call: Call, scene: Scene) -> Found:
    """Compute the values that both have, that either has, or that one has without the other."""
    left, right = _parts(call, scene)
    kept: list[Element] = []
    for element in left.elements:
        others = [other for other in right.elements if alike(element, other, scene.same)]
        if call.function is Function.WITHOUT and not others:
            kept.append(element)
        elif call.function is not Function.WITHOUT and (others or call.function is Function.EITHER):
            kept.append(merged(element, *others))
    if call.function is Function.EITHER:
        kept += [other for other in right.elements if not any(alike(other, one, scene.same) for one in left.elements)]
    return replace(together((left, right)), elements=tuple(kept), how=(_set_in_words(call.function, left, right),))


def _set_in_words(function: Function, left: Found, right: Found) -> str:
    mine, theirs = (", ".join(map(str, part.elements)) or "nothing" for part in (left, right))
    join = {Function.BOTH: "and", Function.EITHER: "or", Function.WITHOUT: "without"}[function]
    return f"{{{mine}}} {join} {{{theirs}}}"


# Distances and comparisons of times and amounts


def _between(call: Call, scene: Scene) -> Found:
    """Compute the length between two times."""
    parts = _parts(call, scene)
    left, right = _ends(parts, scene)
    length = date_arithmetic.between(left, right)
    first, last = (
        (right, left) if date_arithmetic.order(left, right) == 1 and left.period is not None else (left, right)
    )
    return replace(together(parts, _said(f"{first} to {last} is", length, scene)), amount=length)


def _ends(parts: Sequence[Found], scene: Scene) -> tuple[Time, Time]:
    """Return two times; a bare number next to a clock time is an hour ("from 3:20 to seven")."""
    hours = [date_arithmetic.hour_of(one_of(part, scene).value) if part.elements else None for part in parts]
    found = [None if hour is not None else time_in(part, scene) for part, hour in zip(parts, hours, strict=True)]
    is_clock = any(time is not None and time.period is None for time in found)
    left, right = (
        hour if time is None and hour is not None and is_clock else time or time_in(part, scene)
        for part, hour, time in zip(parts, hours, found, strict=True)
    )
    return left, right


def _said(opening: str, length: Amount, scene: Scene) -> str:
    """Return the calculation in words: the exact length, and the length in the unit asked for if that differs."""
    days = say_amount(length, "day" if length.unit.key == "second" else "")
    exact = days if not days.startswith("about") else say_amount(length)
    asked = say_amount(length, scene.asked)
    return f"{opening} {exact}" + (f", {asked}" if asked != exact else "")


def _difference(call: Call, scene: Scene) -> Found:
    """Compute the difference of two amounts."""
    parts = _parts(call, scene)
    left, right = (amount_of(part, scene) for part in parts)
    gap = apart(left, right)
    names = [name_of(part, scene) for part in parts]
    if left.high is not None and right.low is not None and left.high < right.low:
        names.reverse()
    return replace(together(parts, f"{' - '.join(names)} = {say_amount(gap, scene.asked)}"), amount=gap)


def _multiplied(call: Call, scene: Scene) -> Found:
    """Compute the product of two amounts; a rate takes the other in its unit of time."""
    parts = _parts(call, scene)
    left, right = (amount_of(part, scene) for part in parts)
    mine, theirs = (_rate(part, scene) for part in parts)
    if mine and right.unit.key in LENGTHS:
        right = in_units(right, mine)
    elif theirs and left.unit.key in LENGTHS:
        left = in_units(left, theirs)
    whole = times(left, right)
    said = " × ".join(name_of(part, scene) for part in parts)
    return replace(together(parts, f"{said} = {say_amount(whole, scene.asked)}"), amount=whole)


def _rate(part: Found, scene: Scene) -> str:
    """Return the unit of time of a rate ("an hour") if all statements of the amount agree on one, else ""."""
    rates = {rate_in(behind) for element in part.elements for _, behind in places_told(element, scene.facts)} - {""}
    return rates.pop() if len(rates) == 1 and part.amount is None else ""


def _shared(call: Call, scene: Scene) -> Found:
    """Compute an amount divided among a number."""
    parts = _parts(call, scene)
    whole, among = amount_of(parts[0], scene), without_noun(amount_of(parts[1], scene))
    if among.exact is None or among.exact <= 0 or among.unit.key:
        raise UnsettledError(f"{name_of(parts[1], scene)} is no number to share something among")
    share = divided(whole, among.exact)
    said = " / ".join(name_of(part, scene) for part in parts)
    return replace(together(parts, f"{said} = {say_amount(share, scene.asked)}"), amount=share)


def _winner(call: Call, scene: Scene) -> Found:
    """Compute which of the labelled parts is earlier, later, more or less."""
    parts = _parts(call, scene)
    if call.function in (Function.EARLIER, Function.LATER):
        keys: list[Amount | Time] = [time_in(part, scene) for part in parts]
    else:
        keys = [amount_of(part, scene) for part in parts]
    labelled = [f"{label} {name_of(part, scene)}" for label, part in zip(call.labels, parts, strict=True)]
    place = ordering.extreme(keys, labelled, is_last=call.function in (Function.LATER, Function.MORE))
    how = f"{', '.join(labelled)}: {call.function.value} is {call.labels[place]}"
    return replace(together(parts, how), word=call.labels[place])


def _verdict(call: Call, scene: Scene) -> Found:
    """Compute yes or no: whether two are the same, or one time is before or after another."""
    parts = _parts(call, scene)
    left, right = parts
    if call.function is Function.SAME:
        return _sameness(left, right, scene)
    first, second = time_in(left, scene), time_in(right, scene)
    found = date_arithmetic.order(first, second)
    if found is None:
        raise UnsettledError(f"{first} and {second} overlap")
    side = {-1: "before", 0: "at the same time as", 1: "after"}[found]
    is_so = found == (-1 if call.function is Function.BEFORE else 1)
    return replace(together(parts, f"{first} is {side} {second}"), word="yes" if is_so else "no")


def _sameness(left: Found, right: Found, scene: Scene) -> Found:
    """Compute whether two values are the same; raises UnsettledError if that is open."""
    mine, theirs = (_element(part, scene) for part in (left, right))
    verdict = ordering.is_same(mine, theirs, scene.same)
    if verdict is None:
        raise UnsettledError(f"it is not settled whether {mine} is {theirs}")
    how = f"{mine} is {'' if verdict else 'not '}{theirs}"
    return replace(together((left, right), how), word="yes" if verdict else "no")


def _element(found: Found, scene: Scene) -> Element:
    is_made = found.amount is not None or found.time is not None or found.word
    return Element(name_of(found, scene)) if is_made else one_of(found, scene)


def _age(call: Call, scene: Scene) -> Found:
    """Compute the years from a birth to a time, by default now."""
    arguments = call.arguments if len(call.arguments) > 1 else (*call.arguments, Now())
    parts = [_found(argument, scene) for argument in arguments]
    born, at = (time_in(part, scene) for part in parts)
    years = date_arithmetic.age(born, at)
    return replace(together(parts, f"born {born}: {say_amount(years)} on {at}"), amount=years)


def _duration(call: Call, scene: Scene) -> Found:
    """Compute a length of time: as told, of a span, or from a time until now."""
    (part,) = _parts(call, scene)
    if part.amount is not None:
        return part
    element = one_of(part, scene)
    told = read_amount(element.value)
    if told is not None and told.unit.key in LENGTHS:
        return replace(part, amount=told)
    start = as_time(element)
    if (length := date_arithmetic.length_of(start)) is not None:
        return replace(part, amount=length, how=(_said(f"{start} is", length, scene),))
    now = time_in(_found(Now(), scene), scene)
    length = date_arithmetic.between(start, now)
    return replace(part, amount=length, how=(_said(f"{start} to {now} is", length, scene),))


def _as_told(value: str, found: Found, now: datetime | None) -> tuple[tuple[str, ...], Found]:
    """Return a length with the month in which it was told; the calculation adds how long it would be now.

    If it would not be longer now, return the value unchanged.
    """
    told = [one for one in found.elements if one.said is not None and read_amount(one.value) == found.amount]
    said = max((one.said.replace(tzinfo=None) for one in told if one.said is not None), default=None)
    if said is None or now is None or found.amount is None:
        return (value,), found
    longer = date_arithmetic.so_far(found.amount, said, now.replace(tzinfo=None))
    if longer is None:
        return (value,), found
    month = Time(month_of(said.year, said.month))
    by_now = f"if it went on, {say_amount(longer, found.amount.unit.shown)} on {Time.of(now)}"
    return (f"{value} when it was said, in {month}",), replace(found, how=(*found.how, by_now))


def _weekday(call: Call, scene: Scene) -> Found:
    (part,) = _parts(call, scene)
    time = time_in(part, scene)
    name = date_arithmetic.weekday(time)
    return replace(together((part,), f"{time} is a {name}"), word=name)


_FUNCTIONS: Mapping[Function, Callable[[Call, Scene], Found]] = {
    Function.COUNT: _count,
    **dict.fromkeys((Function.SUM, Function.AVERAGE), _total),
    Function.MOST: _most,
    **dict.fromkeys((Function.FIRST, Function.LAST, Function.NTH), _ranked),
    **dict.fromkeys((Function.LEAST, Function.GREATEST), _ranked),
    Function.IN_ORDER: _in_order,
    **dict.fromkeys((Function.PREVIOUS, Function.NEXT), _beside),
    Function.DURING: _during,
    **dict.fromkeys((Function.BOTH, Function.EITHER, Function.WITHOUT), _set),
    Function.BETWEEN: _between,
    Function.DIFFERENCE: _difference,
    Function.PRODUCT: _multiplied,
    Function.EACH: _shared,
    **dict.fromkeys((Function.EARLIER, Function.LATER, Function.MORE, Function.LESS), _winner),
    **dict.fromkeys((Function.BEFORE, Function.AFTER, Function.SAME), _verdict),
    Function.AGE: _age,
    Function.DURATION: _duration,
    Function.WEEKDAY: _weekday,
}

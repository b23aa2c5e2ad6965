"""What an expression comes to over rows, with the calculation in words, or why the values do not settle it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from goalmem_cli.logic.checks import Remembered
from goalmem_cli.logic.computing import date_arithmetic, ordering
from goalmem_cli.logic.computing.amounts import Amount, UnsettledError, apart, divided, read_amount, read_stopwatch
from goalmem_cli.logic.computing.date_arithmetic import Time, read_time
from goalmem_cli.logic.computing.expressions import Call, Expression, Function, Literal, Now, Use
from goalmem_cli.logic.computing.holding import held_during
from goalmem_cli.logic.computing.rows import Element, Row, Same, alike, elements, merged, same_words
from goalmem_cli.logic.computing.saying import say_amount
from goalmem_cli.logic.computing.totals import summed


@dataclass(frozen=True, slots=True)
class Computed:
    """What was computed: the values of the answer, how, and the facts that it rests on, by number.

    `elements` are what was counted, added or chosen from, each with its own facts. `why` says what the values do not
    settle; then there is no value.
    """

    values: tuple[str, ...]
    how: str = ""
    facts: tuple[str, ...] = ()
    elements: tuple[Element, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Scene:
    """What an expression is evaluated over."""

    rows: Sequence[Row]
    now: datetime | None
    same: Same
    asked: str
    facts: Mapping[str, Remembered]


@dataclass(frozen=True, slots=True)
class _Found:
    """What a part of an expression comes to: things, or one amount, time or word; from which facts, and how."""

    elements: tuple[Element, ...] = ()
    facts: tuple[str, ...] = ()
    how: tuple[str, ...] = ()
    amount: Amount | None = None
    time: Time | None = None
    word: str = ""
    called: str = ""


def evaluate(
    expression: Expression,
    rows: Sequence[Row],
    *,
    now: datetime | None = None,
    same: Same = same_words,
    asked: str = "",
    facts: Mapping[str, Remembered] | None = None,
) -> Computed:
    """Return what the expression, which fits its plan, comes to over the rows.

    `now` is the time of asking, `same` says whether two constants are one thing, `asked` is the unit of time that the
    question names ("day", "week" ...), if any. `facts` are those that the rows cite: they tell a total from its parts.
    """
    try:
        found = _found(expression, _Scene(rows, now, same, asked, facts or {}))
    except UnsettledError as error:
        return Computed((), why=str(error))
    if found.amount is not None:
        values: tuple[str, ...] = (say_amount(found.amount, asked),)
    else:
        values = (found.word,) if found.word else tuple(dict.fromkeys(map(str, found.elements)))
    if not values:
        return Computed((), facts=found.facts, why=f"nothing is left by {expression}")
    return Computed(values, "; ".join(dict.fromkeys(found.how)), found.facts, found.elements)


def _found(expression: Expression, scene: _Scene) -> _Found:
    if isinstance(expression, Use):
        found = tuple(elements(scene.rows, expression.name, scene.same))
        if not found:
            raise UnsettledError(f"nothing was found for {expression.name}")
        return _Found(found, _facts(found), called=expression.name)
    if isinstance(expression, Now):
        if scene.now is None:
            raise UnsettledError("the time of asking is not known")
        return _Found(time=Time.of(scene.now))
    if isinstance(expression, Literal):
        return _Found((Element(expression.value),), called=str(expression))
    return _FUNCTIONS[expression.function](expression, scene)


def _facts(found: Sequence[Element]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(number for element in found for number in element.facts))


def _parts(call: Call, scene: _Scene) -> list[_Found]:
    return [_found(argument, scene) for argument in call.arguments]


def _together(parts: Sequence[_Found], how: str = "") -> _Found:
    """Return the proof of a result that several parts make."""
    facts = tuple(dict.fromkeys(number for part in parts for number in part.facts))
    said = tuple(line for part in parts for line in part.how)
    return _Found(tuple(e for part in parts for e in part.elements), facts, (*said, how) if how else said)


_Value = TypeVar("_Value", Amount, Time)


def _read(element: Element, reader: Callable[[Element], _Value | None], lack: str) -> _Value:
    value = reader(element)
    if value is None:
        raise UnsettledError(f"{element} is {lack}")
    return value


def _as_amount(element: Element) -> Amount:
    return _read(element, lambda one: read_amount(one.value) or read_stopwatch(one.value), "no amount")


def _as_time(element: Element) -> Time:
    return _read(element, lambda one: read_time(one.value, one.said), "no date")


def _one(found: _Found, scene: _Scene) -> Element:
    """Return the only value of a part."""
    first, *others = found.elements
    if not all(alike(first, other, scene.same) for other in others):
        raise UnsettledError(f"{found.called} has several values: {', '.join(map(str, found.elements))}")
    return first


def _amount(found: _Found, scene: _Scene) -> Amount:
    return found.amount if found.amount is not None else _as_amount(_one(found, scene))


def _time(found: _Found, scene: _Scene) -> Time:
    return found.time if found.time is not None else _as_time(_one(found, scene))


def _name(found: _Found, scene: _Scene) -> str:
    """Return what a part comes to as it stands in a calculation."""
    if found.amount is not None:
        return say_amount(found.amount)
    return str(found.time) if found.time is not None else found.word or str(_one(found, scene))


# Things: counted, added, chosen


def _count(call: Call, scene: _Scene) -> _Found:
    (part,) = _parts(call, scene)
    number = len(part.elements)
    how = f"{', '.join(map(str, part.elements))}: {number}" if number else f"{call}: none"
    return replace(part, amount=Amount.of(number), how=(*part.how, how))


def _total(call: Call, scene: _Scene) -> _Found:
    (part,) = _parts(call, scene)
    added = summed(part.elements, _as_amount, scene.facts)
    whole = added.whole
    said = " + ".join(map(str, added.lines))
    if call.function is Function.AVERAGE:
        count = sum(line.count for line in added.lines)
        whole = divided(whole, count)
        said = f"({said}) / {count}"
    kept = tuple(element for line in added.lines for element in line.elements)
    how = (*part.how, f"{said} = {say_amount(whole, scene.asked)}", *added.notes)
    return replace(part, elements=kept, amount=whole, how=how)


def _most(call: Call, scene: _Scene) -> _Found:
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
    return _Found(tuple(groups[0]), _facts(each), (said,), word=str(groups[0][0]))


def _pairs(call: Call, scene: _Scene) -> list[ordering.Pair]:
    name = str(call.arguments[0])
    found = ordering.pairs(scene.rows, name, call.by, scene.same)
    if not found:
        raise UnsettledError(f"nothing was found for {name} by {call.by}")
    return found


def _ranked(call: Call, scene: _Scene) -> _Found:
    found = _pairs(call, scene)
    chosen, how = ordering.chosen(found, call.function, call.place)
    facts = tuple(dict.fromkeys(number for pair in found for number in pair.facts))
    return _Found((chosen.element,), facts, (how,), called=str(call.arguments[0]))


def _in_order(call: Call, scene: _Scene) -> _Found:
    ranked = ordering.in_order(_pairs(call, scene))
    facts = tuple(dict.fromkeys(number for pair in ranked for number in pair.facts))
    how = f"in order: {', '.join(pair.said for pair in ranked)}"
    return _Found(tuple(pair.element for pair in ranked), facts, (how,))


def _beside(call: Call, scene: _Scene) -> _Found:
    mark = _found(call.arguments[1], scene)
    found = _pairs(call, scene)
    pair, how = ordering.beside(found, Element(_name(mark, scene)), call.function, scene.same)
    facts = tuple(dict.fromkeys((*(number for one in found for number in one.facts), *mark.facts)))
    return _Found((pair.element,), facts, (*mark.how, how), called=str(call.arguments[0]))


def _during(call: Call, scene: _Scene) -> _Found:
    thing, *bounds = call.arguments
    parts = [_found(bound, scene) for bound in bounds]
    first, last = (_time(part, scene) for part in (parts[0], parts[-1]))
    held = held_during(scene.rows, str(thing), call.by, call.until, (first, last), scene.same)
    proof = _together(parts, held.how)
    return replace(proof, elements=held.elements, facts=tuple(dict.fromkeys((*held.facts, *proof.facts))))


# Sets


def _set(call: Call, scene: _Scene) -> _Found:
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
    return replace(_together((left, right)), elements=tuple(kept), how=(_set_in_words(call.function, left, right),))


def _set_in_words(function: Function, left: _Found, right: _Found) -> str:
    mine, theirs = (", ".join(map(str, part.elements)) or "nothing" for part in (left, right))
    join = {Function.BOTH: "and", Function.EITHER: "or", Function.WITHOUT: "without"}[function]
    return f"{{{mine}}} {join} {{{theirs}}}"


# Times and amounts: what lies between, which is more


def _between(call: Call, scene: _Scene) -> _Found:
    parts = _parts(call, scene)
    left, right = _ends(parts, scene)
    length = date_arithmetic.between(left, right)
    first, last = (
        (right, left) if date_arithmetic.order(left, right) == 1 and left.period is not None else (left, right)
    )
    return replace(_together(parts, _said(f"{first} to {last} is", length, scene)), amount=length)


def _ends(parts: Sequence[_Found], scene: _Scene) -> tuple[Time, Time]:
    """Return two times; a bare number beside a time of day is the hour: from 3:20 to seven."""
    hours = [date_arithmetic.hour_of(_one(part, scene).value) if part.elements else None for part in parts]
    found = [None if hour is not None else _time(part, scene) for part, hour in zip(parts, hours, strict=True)]
    is_clock = any(time is not None and time.period is None for time in found)
    left, right = (
        hour if time is None and hour is not None and is_clock else time or _time(part, scene)
        for part, hour, time in zip(parts, hours, found, strict=True)
    )
    return left, right


def _said(opening: str, length: Amount, scene: _Scene) -> str:
    """Return a calculation that ends in a length of time: exactly, and in the unit asked for where that differs."""
    days = say_amount(length, "day" if length.unit.key == "second" else "")
    exact = days if not days.startswith("about") else say_amount(length)
    asked = say_amount(length, scene.asked)
    return f"{opening} {exact}" + (f", {asked}" if asked != exact else "")


def _difference(call: Call, scene: _Scene) -> _Found:
    parts = _parts(call, scene)
    left, right = (_amount(part, scene) for part in parts)
    gap = apart(left, right)
    names = [_name(part, scene) for part in parts]
    if left.high is not None and right.low is not None and left.high < right.low:
        names.reverse()
    return replace(_together(parts, f"{' - '.join(names)} = {say_amount(gap, scene.asked)}"), amount=gap)


def _winner(call: Call, scene: _Scene) -> _Found:
    parts = _parts(call, scene)
    if call.function in (Function.EARLIER, Function.LATER):
        keys: list[Amount | Time] = [_time(part, scene) for part in parts]
    else:
        keys = [_amount(part, scene) for part in parts]
    labelled = [f"{label} {_name(part, scene)}" for label, part in zip(call.labels, parts, strict=True)]
    place = ordering.extreme(keys, labelled, is_last=call.function in (Function.LATER, Function.MORE))
    how = f"{', '.join(labelled)}: {call.function.value} is {call.labels[place]}"
    return replace(_together(parts, how), word=call.labels[place])


def _verdict(call: Call, scene: _Scene) -> _Found:
    parts = _parts(call, scene)
    left, right = parts
    if call.function is Function.SAME:
        return _sameness(left, right, scene)
    first, second = _time(left, scene), _time(right, scene)
    found = date_arithmetic.order(first, second)
    if found is None:
        raise UnsettledError(f"{first} and {second} overlap")
    side = {-1: "before", 0: "at the same time as", 1: "after"}[found]
    is_so = found == (-1 if call.function is Function.BEFORE else 1)
    return replace(_together(parts, f"{first} is {side} {second}"), word="yes" if is_so else "no")


def _sameness(left: _Found, right: _Found, scene: _Scene) -> _Found:
    mine, theirs = (_element(part, scene) for part in (left, right))
    verdict = ordering.is_same(mine, theirs, scene.same)
    if verdict is None:
        raise UnsettledError(f"it is not settled whether {mine} is {theirs}")
    how = f"{mine} is {'' if verdict else 'not '}{theirs}"
    return replace(_together((left, right), how), word="yes" if verdict else "no")


def _element(found: _Found, scene: _Scene) -> Element:
    is_made = found.amount is not None or found.time is not None or found.word
    return Element(_name(found, scene)) if is_made else _one(found, scene)


def _age(call: Call, scene: _Scene) -> _Found:
    arguments = call.arguments if len(call.arguments) > 1 else (*call.arguments, Now())
    parts = [_found(argument, scene) for argument in arguments]
    born, at = (_time(part, scene) for part in parts)
    years = date_arithmetic.age(born, at)
    return replace(_together(parts, f"born {born}: {say_amount(years)} on {at}"), amount=years)


def _duration(call: Call, scene: _Scene) -> _Found:
    (part,) = _parts(call, scene)
    if part.amount is not None:
        return part
    element = _one(part, scene)
    told = read_amount(element.value)
    if told is not None and told.unit.key in ("second", "month"):
        return replace(part, amount=told)
    start = _as_time(element)
    if (length := date_arithmetic.length_of(start)) is not None:
        return replace(part, amount=length, how=(_said(f"{start} is", length, scene),))
    now = _time(_found(Now(), scene), scene)
    length = date_arithmetic.between(start, now)
    return replace(part, amount=length, how=(_said(f"{start} to {now} is", length, scene),))


def _weekday(call: Call, scene: _Scene) -> _Found:
    (part,) = _parts(call, scene)
    time = _time(part, scene)
    name = date_arithmetic.weekday(time)
    return replace(_together((part,), f"{time} is a {name}"), word=name)


_FUNCTIONS: Mapping[Function, Callable[[Call, _Scene], _Found]] = {
    Function.COUNT: _count,
    **dict.fromkeys((Function.SUM, Function.AVERAGE), _total),
    Function.MOST: _most,
    **dict.fromkeys((Function.FIRST, Function.LAST, Function.NTH), _ranked),
    Function.IN_ORDER: _in_order,
    **dict.fromkeys((Function.PREVIOUS, Function.NEXT), _beside),
    Function.DURING: _during,
    **dict.fromkeys((Function.BOTH, Function.EITHER, Function.WITHOUT), _set),
    Function.BETWEEN: _between,
    Function.DIFFERENCE: _difference,
    **dict.fromkeys((Function.EARLIER, Function.LATER, Function.MORE, Function.LESS), _winner),
    **dict.fromkeys((Function.BEFORE, Function.AFTER, Function.SAME), _verdict),
    Function.AGE: _age,
    Function.DURATION: _duration,
    Function.WEEKDAY: _weekday,
}

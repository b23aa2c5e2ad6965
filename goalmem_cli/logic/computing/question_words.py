"""Read from the words of a question how its answer is computed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.computing.kinds import ValueKind, kind_of
from goalmem_cli.logic.normal import content_stems
from goalmem_cli.logic.questions import goal_asked, named_in
from goalmem_cli.logic.terms import Atom, Variable

_UNITS = "second|minute|hour|day|night|week|month|year"
_UNIT = late(rf"\b(?:how many|number of|in)(?: \w+)? ({_UNITS})s\b", re.IGNORECASE)
_LENGTH = late(rf"\bhow (?:long|much time|many(?: \w+)? (?:{_UNITS})s)\b", re.IGNORECASE)
_COUNT = late(rf"\bhow many (?!(?:\w+ )?(?:{_UNITS})s\b)", re.IGNORECASE)
_TOTAL = late(r"\b(?:altogether|in total|in all|put together)\b", re.IGNORECASE)
_WEEKDAY = late(r"\b(?:weekday|day of the week)\b", re.IGNORECASE)
_AGE = late(r"\bhow old\b", re.IGNORECASE)
_SINCE = late(r"\bhow long (?:ago|(?:has|have)\b)", re.IGNORECASE)
_SO_FAR = late(rf"\bhow (?:long|much time|many(?: \w+)? (?:{_UNITS})s) (?:has|have)\b", re.IGNORECASE)
_GAP = late(
    r"\b(?:by how (?:much|many)|how (?:much|many) (?:\w+ )?(?:more|less|fewer|cheaper|longer))\b", re.IGNORECASE
)
_DAYS = "day|week|month|year"
_HOW_LONG = rf"how (?:long|many (?:{_DAYS})s)"
_BETWEEN = late(
    rf"^{_HOW_LONG}(?: (?:lay|lie|lies|passed|pass|went by|elapsed|had passed|have passed|(?:were|are|was|is) there))? "
    r"between (?P<first>(?!the (?:\w+st|second|\w+rd|\w+th) and).+?) and (?P<second>.+?)[?. ]*$",
    re.IGNORECASE,
)
_FROM = late(
    rf"^{_HOW_LONG} (?:after|before|ahead of) (?P<first>.+?) (?P<second>(?:did|was|were|had) .+?)[?. ]*$", re.IGNORECASE
)
_MORE_THAN_AN_EVENT = late(
    r"\band\b|[()\[\]]|\b(?:did|do|does|is|are|was|were|had|should|by|still|already)\b", re.IGNORECASE
)
_LASTING = late(
    r"\b(?:last|stay|sleep|study|live|work|talk|go on|take|wait|spend|be|off|in|free|closed|open|away|unconscious|ill|"
    r"sick)(?: \w+)?$",
    re.IGNORECASE,
)
"""How a question ends that asks how long something lasted."""
_NOUN = late(r"(?:the|an?|my|our|your|his|her|its|their|this|that)\b|[\w-]+(?:['’]s|s['’]) ", re.IGNORECASE)
"""How a name of an event begins; "Ana moved" is a statement."""
_LENGTHS = late(rf"\b(?:(?:{_DAYS})s?|duration|length|time)\b", re.IGNORECASE)
_CHOICE = late(
    r"\b(?P<way>first|earlier|sooner|later|last|more recently)\b.*?[,:]\s*"
    r"(?P<left>[^,?]+?),?\s+or\s+(?P<right>[^,?]+)\?",
    re.IGNORECASE,
)


def asked_unit(question: str) -> str:
    """Return the unit of time that the question asks for ("how many weeks" -> week), or ""."""
    found = _UNIT.search(question)
    return found[1].casefold() if found else ""


def asks_how_long_so_far(question: str) -> bool:
    """Say whether the question asks how long something has gone on until now."""
    return _SO_FAR.search(question) is not None


def plain_answer(question: str, wanted: Sequence[Variable], subgoals: Sequence[Atom]) -> tuple[str, ...]:
    """Return the answer expression that the question's words clearly ask for, else the plan's variables.

    It serves models too small to write expressions: the plan says what to find, and the question how to combine it.
    """
    names = tuple(variable.name for variable in wanted)
    kinds = [kind_of(variable.type) for variable in wanted]
    found = ""
    if kinds == [ValueKind.TIME, ValueKind.TIME]:
        found = _of_two_times(question, names, subgoals)
    elif kinds == [ValueKind.AMOUNT, ValueKind.AMOUNT] and _GAP.search(question):
        found = f"difference({names[0]}, {names[1]})"
    elif len(kinds) == 1:
        found = _of_one(question, names[0], kinds[0])
    return (found,) if found else names


def two_times(question: str) -> tuple[Atom, Atom] | None:
    """Return statements of the two dates, y and z, between which the question asks for the time; None if it does not.

    "How many days after the party did Ana move?" needs ``the party was on (y:date)`` and ``(z:date) did (Ana) move``.
    """
    between = _BETWEEN.match(question)
    found = between or _FROM.match(question)
    if found is None or _MORE_THAN_AN_EVENT.search(found["first"]):
        return None
    auxiliary, _, told = found["second"].partition(" ")
    if between:
        is_event = not _MORE_THAN_AN_EVENT.search(found["second"])
        return (_dated(found["first"], "y"), _dated(found["second"], "z")) if is_event else None
    if _MORE_THAN_AN_EVENT.search(told) or _LASTING.search(told):
        return None
    asked = goal_asked(f"When {auxiliary} {told}?")
    return _dated(found["first"], "y"), Atom((Variable("z", "date"), *asked.parts[1:]))


def _dated(event: str, name: str) -> Atom:
    first, *rest = named_in(f"the {event}").parts  # so that a name at its beginning does not open a sentence
    opening = first.removeprefix("the ") if isinstance(first, str) else event
    link = " was on " if _NOUN.match(event) else " on "
    return Atom((*([opening] if opening else []), *rest, link, Variable(name, "date")))


def computed_step(name: str, subgoals: Sequence[Atom]) -> tuple[int, str] | None:
    """Return the index of the only subgoal with the variable `name`, and the expression that computes it.

    None unless that subgoal only counts the time between two dates that other subgoals give: ``(z:date) is (x:number of
    days) after (y:date)`` is ``between(z, y)``.
    """
    having = [at for at, atom in enumerate(subgoals) if any(each.name == name for each in atom.variables)]
    if len(having) != 1 or subgoals[having[0]].constants:
        return None
    (at,) = having
    known = {each.name for atom in (*subgoals[:at], *subgoals[at + 1 :]) for each in atom.variables}
    (asked,) = (each for each in subgoals[at].variables if each.name == name)
    dates = [each for each in subgoals[at].variables if each.name != name]
    told = " ".join((asked.type, *(part for part in subgoals[at].parts if isinstance(part, str))))
    is_gap = kind_of(asked.type) in (ValueKind.AMOUNT, ValueKind.LENGTH) and _LENGTHS.search(told) is not None
    if not is_gap or len(dates) != 2 or {kind_of(each.type) for each in dates} != {ValueKind.TIME}:
        return None
    names = [each.name for each in dates]
    return (at, f"between({', '.join(names)})") if known.issuperset(names) else None


def _of_one(question: str, name: str, kind: ValueKind) -> str:
    """Return the expression that the question's words ask for over one variable, "" if none."""
    if kind is ValueKind.ANY and _COUNT.search(question):
        return f"count({name})"
    if kind is ValueKind.AMOUNT and _TOTAL.search(question):
        return f"sum({name})"
    if kind is not ValueKind.TIME:
        return ""
    if _SINCE.search(question):
        return f"duration({name})"
    if _WEEKDAY.search(question):
        return f"weekday({name})"
    return f"age({name})" if _AGE.search(question) else ""


def _of_two_times(question: str, names: Sequence[str], subgoals: Sequence[Atom]) -> str:
    """Return the expression that the question's words ask for over two times, "" if none."""
    if _LENGTH.search(question):
        return f"between({names[0]}, {names[1]})"
    choice = _CHOICE.search(question)
    if choice is None:
        return ""
    labels = {_name_of(choice["left"], names, subgoals): choice["left"]}
    labels[_name_of(choice["right"], names, subgoals)] = choice["right"]
    if set(labels) != set(names):
        return ""
    word = "later" if choice["way"].casefold() in ("later", "last", "more recently") else "earlier"
    return f"{word}({', '.join(f'{label.strip()}: {name}' for name, label in labels.items())})"


def _name_of(label: str, names: Sequence[str], subgoals: Sequence[Atom]) -> str:
    """Return the variable of the only subgoal that has the label's words, or "" if there is not exactly one."""
    having = [
        variable.name
        for atom in subgoals
        if content_stems(label) <= content_stems(atom.phrase)
        for variable in atom.variables
        if variable.name in names
    ]
    return having[0] if len(having) == 1 else ""

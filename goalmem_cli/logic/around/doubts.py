"""Mark expressions that could mean several days as not clear: no date is better than a wrong one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.around.trips import is_number_alone, is_weekday_alone
from goalmem_cli.logic.days import HOLIDAY, MONTH_NAME, WEEKDAY, yearly
from goalmem_cli.logic.relative import SEASON, Bound, Expression
from goalmem_cli.logic.scene import Scene, Tense

_REACH = 40  # characters
_VAGUE = late(r"\b(?:few|several)\s+(?:years?|yrs?|decades?)\b")
_THE_WEEKEND = late(r"(?:(?:over|on|at|during|for)\s+)?the\s+weekend")
_CALLED = late(r"\b(?:call(?:ed|s)?|nam(?:ed?|es)) (?:him|her|it|them) \Z")
_PUT = (
    r"(?:moved|postponed|rescheduled|delayed|extended|shifted|switched|changed|pushed(?: back)?|put off|"
    r"brought forward|cancell?ed|called off|booked|scheduled|planned|arranged|(?<=was )set)"
)
_PUT_TO = late(rf"\b{_PUT}\b[^.!?;,]*\b(?:to|for|from|until|till)\s+(?:the\s+)?\Z")
_GOT_FOR = late(r"\b(?:bought|got|had|ordered|found)\b[^.!?;,]*\b(?:tickets?|seats?)\s+(?:for|to)\s+\Z")
_WAS_PUT = late(
    rf"(?:'s(?:\s+\w+){{1,3}}?)?\s+(?:was|were|got|has\s+been|have\s+been|had\s+to\s+be)\s+(?:\w+ly\s+)?{_PUT}\b"
)
_YEARLY = late(
    rf"(?:(?:in|during|over|throughout|at|on)\s+)?(?:the\s+)?(?P<name>{SEASON}|{MONTH_NAME}|{HOLIDAY})(?:time)?"
)


def cleared(
    found: Sequence[Expression], scene: Scene, decided: Collection[int], strange: Collection[int]
) -> list[Expression]:
    """Return the expressions with the doubtful ones marked as not clear.

    An expression with "just" is left out if its sentence names another time. `decided` and `strange` hold start
    positions: a day in `decided` was settled by another time; a day in `strange` does not fit a future span that was
    named before.
    """
    kept = [each for each in found if not _is_told_otherwise(each, found, scene)]
    return [
        replace(each, is_clear=False) if each.is_clear and _is_doubtful(each, scene, decided, strange) else each
        for each in kept
    ]


def _is_told_otherwise(each: Expression, found: Sequence[Expression], scene: Scene) -> bool:
    """Say whether the sentence gives another time for what has just happened: "I just signed up yesterday"."""
    if "just" not in scene.folded[each.start : each.end].split():
        return False
    left, right = scene.sentence(each.start, each.end)
    return any(other is not each and left <= other.start < right for other in found)


def _is_doubtful(each: Expression, scene: Scene, decided: Collection[int], strange: Collection[int]) -> bool:
    """Say whether the time of an expression is uncertain."""
    if each.is_plain or not scene.is_timed:
        return False
    if _VAGUE.search(scene.folded, each.start, each.end) or each.start in strange:
        return True
    if is_weekday_alone(each, scene) and each.readings[0].first < scene.day and _is_put(each, scene):
        return True
    if each.start in decided or each.bound is not Bound.ON:
        return False
    if is_weekday_alone(each, scene):
        return _is_day_in_doubt(each, scene)
    if is_number_alone(each, scene):
        if scene.is_undecided(each.start, each.end) and (each.readings[0].first - scene.day).days > 20:
            return True
        return scene.is_planned(each.start, each.end) or scene.is_after_past(each.start, each.end)
    if _THE_WEEKEND.fullmatch(scene.folded, each.start, each.end):
        return scene.is_planned(each.start, each.end)
    return _is_yearly_in_doubt(each, scene)


def _is_day_in_doubt(each: Expression, scene: Scene) -> bool:
    """Say whether a weekday may be the last or the next one; said on the same weekday, it may also be today."""
    words = scene.folded[each.start : each.end].split()
    is_same = any(WEEKDAY.get(word) == scene.day.weekday() for word in words)
    is_today = each.readings[0].first == scene.day
    if _CALLED.search(scene.folded, max(0, each.start - _REACH), each.start):
        return True
    if is_same and not is_today and words[0] != "on" and scene.day_tense(each.start, each.end) is not Tense.FUTURE:
        return True
    return not (is_same and is_today) and scene.is_undecided(each.start, each.end)


def _is_put(each: Expression, scene: Scene) -> bool:
    """Say whether something was moved to the day or from it: the decision is past, the day may not be."""
    left, _ = scene.sentence(each.start, each.end)
    put = any(form.search(scene.folded, left, each.start) for form in (_PUT_TO, _GOT_FOR))
    return put or _WAS_PUT.match(scene.folded, each.end) is not None


def _is_yearly_in_doubt(each: Expression, scene: Scene) -> bool:
    """Say whether a month, season or feast may be the last or the next one, because the nearer one was not chosen."""
    name = _YEARLY.fullmatch(scene.folded, each.start, each.end)
    if name is None:
        return False
    near = scene.nearest(yearly(name["name"], scene.day.year), Tense.OPEN)[0]
    is_past = scene.yearly_tense(each.start, each.end) is Tense.PAST
    if scene.is_planned(each.start, each.end):
        return near.last < scene.day
    is_either = scene.lead(each.start) == "for" or scene.is_arranged(each.start, each.end)
    return is_past and is_either and near != each.readings[0]

"""What a text states about a thing that has one value at a time, and whether that ends what was said before.

"We are back in York" states a home, "that is what I drive now" a car and that there is no other. Only statements of the
present count, and changes that happened: no plan, no wish, no past, nothing about somebody else. English only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from goalmem_cli.backbones.changes import stated
from goalmem_cli.backbones.now.asked import OWN, Asked
from goalmem_cli.backbones.now.clauses import done, stems_of
from goalmem_cli.backbones.now.owned import owned
from goalmem_cli.backbones.now.state import State
from goalmem_cli.logic.moments import Moment
from goalmem_cli.logic.normal import BASES, stem
from goalmem_cli.logic.roles import USER, role_of
from goalmem_cli.records import Unit


@dataclass(frozen=True, slots=True)
class Telling:
    """A turn that states what is asked for."""

    unit: Unit
    state: State


def states_in(told: str | Iterable[str], asked: Asked, before: str = "") -> tuple[State, ...]:
    """Return what a text or its `stated` sentences state of the kind that is asked for, in order, whoever holds it.

    `before` is the question that the text replies to.
    """
    if isinstance(told, str):
        told = stated(told) if may_state(f"{before} {told}", asked) else ()
    sentences = list(told)
    if asked.kind != OWN:
        plain = replace(asked, names=frozenset(), kin="")  # the same states, whoever is asked about
        return tuple(state for each in sentences if may_state(each, asked) for state in done(each, plain))
    pairs = zip([before, *sentences], sentences, strict=False)
    return tuple(
        state for last, each in pairs if may_state(f"{last} {each}", asked) for state in owned(each, asked, last)
    )


def replied_to(author: str, before: Sequence[tuple[str, str]]) -> str:
    """Return the question right before what an author says, (author, text) with the nearest last; else ""."""
    asker, text = before[-1] if before else (author, "")
    return text if asker != author and text.rstrip().endswith("?") else ""


def may_state(text: str, asked: Asked) -> bool:
    """Say whether a text may state what is asked for; a fast check that rules out most texts."""
    if not text.isascii():
        return True
    has = text.lower().__contains__
    one_of, each_of = _parts_of(asked)
    return any(map(has, one_of)) or all(any(map(has, parts)) for parts in each_of)


@lru_cache(maxsize=64)
def _parts_of(asked: Asked) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return parts of words: a text that states it has one of the first, or one of each of the second."""
    if asked.kind != OWN:
        return tuple({part for each in stems_of(asked) for part in _parts(each)}), ((),)
    return ("mine", *_parts(asked.head)), tuple(map(_parts, asked.about))


def _parts(stemmed: str) -> tuple[str, ...]:
    """Return parts of words; a word with that stem has one of them: how it begins, or an irregular form."""
    if not stemmed.isalpha():
        return ("",)
    return (stemmed.removesuffix("y"), *_FORMS.get(stemmed, ()))


_FORMS: dict[str, list[str]] = {}
"""Stem of a verb -> its irregular forms."""
for _form, _base in BASES.items():
    _FORMS.setdefault(stem(_base), []).append(_form)


def replaced_by(told: Iterable[Telling], asked: Asked) -> dict[str, Unit | None]:
    """Return unit id -> the unit that replaces what it states, None if that holds; for each holder on its own.

    What holds is decided from the last back: a value that is said again is not replaced by what was said between.
    """
    holders: dict[tuple[str, str, str], list[Telling]] = {}
    for each in told:
        unit = each.unit
        is_one = role_of(unit.author) == USER and unit.said is not None
        talk = "" if is_one else unit.conversation  # there may be another Ana in another one
        author = unit.author if asked.names or is_one else ""
        holders.setdefault((talk, author, each.state.holder), []).append(each)
    found: dict[str, Unit | None] = {}
    for of_one in map(_in_time, holders.values()):
        for place, one in enumerate(of_one):
            by, name = _replacing(one, of_one[place + 1 :], asked), one.unit.id
            is_itself = by is None or by.id == name
            found[name] = None if is_itself or found.get(name, by) is None else by
    return found


def _replacing(one: Telling, later: Sequence[Telling], asked: Asked) -> Unit | None:
    end = next((at for at in reversed(range(len(later))) if _is_over(one, later[at], asked)), None)
    if end is None or _is_back(one, later[end + 1 :]):
        return None
    same = (each for each in later[:end] if later[end].state.says_the_same(each.state))
    return next((each for each in same if _is_over(one, each, asked)), later[end]).unit


def _is_over(one: Telling, later: Telling, asked: Asked) -> bool:
    """Say whether what one told is replaced later; of another speaker only a change counts ("it is 4402 now")."""
    is_heard = one.state.is_shared and later.state.is_shared and later.state.is_only
    return (is_heard or one.unit.author == later.unit.author) and _replaces(later.state, one.state, asked)


def _in_time(told: Iterable[Telling]) -> list[Telling]:
    """Return what one person told in order: by place in a conversation, by time over several."""
    by_place = sorted(told, key=lambda each: each.unit.place)
    if len({each.unit.conversation for each in by_place}) == 1:
        return by_place
    return sorted(by_place, key=lambda each: clock_of(each.unit.said))


def clock_of(said: datetime | None) -> int:
    """Return a number to order times by."""
    return 0 if said is None else Moment.from_datetime(said).clock


def _replaces(later: State, earlier: State, asked: Asked) -> bool:
    if not later.replaces:
        return False
    is_same = later.says_the_same(earlier)
    if later.is_end:
        return not earlier.is_end and (is_same or not later.value)
    if earlier.is_end:
        return is_same or asked.has_one_value or later.is_only
    return later.differs(earlier) and (asked.has_one_value or later.is_only)


def _is_back(one: Telling, rest: Iterable[Telling]) -> bool:
    """Say whether a value was told again after the last statement that replaced it."""
    state = one.state
    return not state.is_end and any(
        (each.unit.author == one.unit.author or (each.state.is_shared and state.is_shared))
        and each.state.says_the_same(state)
        and not each.state.is_end
        and each.state.replaces
        for each in rest
    )

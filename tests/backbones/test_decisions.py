"""Decisions as data: what is current at any time is what the original's overwriting would have left."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.backbones.structured.decisions import (
    DECISION,
    SUPERSEDES,
    Act,
    Event,
    Undecided,
    acts_of,
    carried_out,
    decide,
    decision_unit,
    deeds_of,
    history_of,
    superseding,
)
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.prompts import Profile, PromptBook
from goalmem_cli.records import Edge, Part, Turn, Unit
from goalmem_cli.testing import ScriptedModel
from tests.backbones.derived import replay
from tests.conftest import examples

NAME = "testing"
STEP = "mem0_decide"
EVENTS: Mapping[str, Event] = {
    "ADD": Event(text=True),
    "UPDATE": Event("must", text=True, ends=True),
    "DELETE": Event("must", ends=True),
    "NONE": Event("may"),
}
START = datetime(2023, 5, 1, 9)


def turn(place: int, said: datetime | None = None) -> Turn:
    """Return a message, an hour after the one before it."""
    return Turn("chat", 0, place, "Alice", f"message {place}", said or START + timedelta(hours=place), f"D1:{place}")


def memory(text: str, place: int = 0, *behind: Unit) -> Unit:
    """Return a memory of that text, told by one message and those of other units."""
    turns = {
        each.ordinal: each for each in (turn(place), *(turn(int(label[3:])) for u in behind for label in u.labels))
    }
    return derived_unit(NAME, "memory", text, [turns[key] for key in sorted(turns)])


def decided(place: int, known: Sequence[Unit], *acts: Act, said: datetime | None = None) -> tuple[Unit, ...]:
    """Return what a message's acts make, the decision last."""
    at = turn(place, said)

    def make(number: int, text: str, before: Unit | None) -> Unit:
        return derived_unit(NAME, "memory", text, [at], identity=(str(number), before.id if before else ""))

    made, kept = carried_out(acts, EVENTS, {unit.id: unit for unit in known}, make)
    return (*made, decision_unit(NAME, Part("chat", f"p{place}", (at,)), kept, [at.id]))


def texts(units: Sequence[Unit], at: datetime | None = None) -> list[str]:
    """Return what is current, by its texts."""
    return sorted(unit.text for unit in replay(units, at)[0].values())


Move = tuple[str, int, str]
moves = st.lists(
    st.lists(st.tuples(st.sampled_from(sorted(EVENTS)), st.integers(0, 5), st.sampled_from("abcdef")), max_size=4),
    max_size=12,
)


class Overwriting:
    """The original: texts under ids, which an update overwrites and a deletion removes."""

    def __init__(self) -> None:
        self.texts: dict[int, str] = {}
        self._next = 0

    def do(self, event: str, on: int | None, text: str) -> None:
        """Apply one entry of a reply; an update of what is gone adds, so that nothing is lost."""
        if event == "ADD" or (event == "UPDATE" and on not in self.texts):
            self.texts[self._next] = text
            self._next += 1
        elif event == "UPDATE" and on is not None:
            self.texts[on] = text
        elif event == "DELETE" and on is not None:
            self.texts.pop(on, None)


@settings(max_examples=examples(200), deadline=None)
@given(moves, st.lists(st.integers(0, 2), min_size=12, max_size=12))
def test_the_replay_is_the_original_at_every_time(history: list[list[Move]], steps: list[int]) -> None:
    """Whatever is added, updated and deleted, several times in a reply too: at each time, what overwriting has left."""
    original = Overwriting()
    units: list[Unit] = []
    ids: dict[str, int] = {}
    states: list[tuple[datetime, list[str]]] = []
    said = START
    for place, reply in enumerate(history):
        said += timedelta(minutes=steps[place])  # several messages may come at one time
        known = list(replay(units)[0].values())
        acts = []
        for number, (event, which, text) in enumerate(reply):
            on = known[which % len(known)] if known else None
            if EVENTS[event].on == "must" and on is None:
                continue
            acts.append(Act(event, on.id if on and event != "ADD" else "", text, ends=EVENTS[event].ends, new=number))
            original.do(event, ids[on.id] if on else None, text)
        made = decided(place, known, *acts, said=said)
        current = {unit.id: unit for unit in (*known, *made) if unit.kind != DECISION}
        units += made
        ids |= _named(ids, units, current, original)
        states.append((said, sorted(original.texts.values())))
    last = dict(states)
    for at, left in last.items():
        assert texts(units, at) == left
    assert texts(units) == (states[-1][1] if states else [])
    assert texts(units, START - timedelta(days=1)) == []


def _named(
    ids: Mapping[str, int], units: Sequence[Unit], own: Mapping[str, Unit], original: Overwriting
) -> dict[str, int]:
    """Return under which id the original has each new unit: that of the one whose place it took, else the next."""
    named = dict(ids)
    last = units[-1]
    fresh = iter(
        number for number in sorted(original.texts.keys() | set(range(original._next))) if number not in ids.values()
    )
    for act in acts_of(last):
        if act.event in ("ADD", "UPDATE") and act.unit in own:
            named[act.unit] = named[act.on] if act.on else next(fresh)
    return named


def test_the_same_in_one_reply_follows_on() -> None:
    """A second update is of what the first made; what was deleted cannot be, so it is added; deleting twice is once."""
    old = memory("tea")
    twice = decided(1, [old], Act("UPDATE", old.id, "green tea", ends=True), Act("UPDATE", old.id, "matcha", ends=True))
    assert texts([old, *twice]) == ["matcha"]
    gone = Act("DELETE", old.id, ends=True)
    again = decided(1, [old], gone, gone, Act("UPDATE", old.id, "coffee", ends=True))
    assert texts([old, *again]) == ["coffee"]
    assert [act.event for act in acts_of(again[-1])] == ["DELETE", "UPDATE"]


def test_what_ended_says_when_and_what_stands_in_its_place() -> None:
    """An update by what it made, a deletion by what the same new thing became; else by the decision alone."""
    tea, milk = memory("tea"), memory("milk")
    made = decided(
        3, [tea, milk],
        Act("DELETE", tea.id, ends=True, new=1), Act("ADD", text="no tea", new=1), Act("DELETE", milk.id, ends=True, new=2),
    )  # fmt: skip
    units = [tea, milk, *made]
    current, ended = replay(units)
    assert list(current.values()) == [made[0]]
    assert ended[tea.id].act.unit == made[0].id
    assert ended[tea.id].decision.said == turn(3).said
    assert superseding(units) == [Edge(made[0].id, tea.id, SUPERSEDES), Edge(made[-1].id, milk.id, SUPERSEDES)]
    current, ended = replay(units, turn(2).said)
    assert (set(current), ended) == ({tea.id, milk.id}, {})


def test_the_first_to_end_a_unit_is_by_time_and_then_by_place() -> None:
    """Even where transcripts are not in the order of time."""
    tea = memory("tea")
    late = decided(1, [tea], Act("DELETE", tea.id, ends=True), said=START + timedelta(days=3))
    early = decided(2, [tea], Act("DELETE", tea.id, ends=True), said=START + timedelta(days=1))
    units = [tea, *late, *early]
    assert replay(units)[1][tea.id].decision == early[0]
    assert texts(units, START + timedelta(hours=5)) == ["tea"]
    assert texts(units, START + timedelta(days=1)) == []
    assert [deed.decision for deed in deeds_of(units)] == [early[0], late[0]]


def test_acts_on_what_is_gone_change_nothing() -> None:
    """And without the decision, what it ended is current again."""
    tea = memory("tea")
    made = decided(1, [tea], Act("UPDATE", tea.id, "coffee", ends=True))
    assert texts([*made]) == ["coffee"]
    assert superseding(made) == []
    assert texts([tea]) == ["tea"]


def test_a_history_is_of_the_line_that_a_unit_stands_in() -> None:
    """What came before and after it, said again or not, and nothing of others that the same message was about."""
    tea, milk = memory("tea"), memory("milk")
    first = decided(
        1, [tea, milk], Act("UPDATE", tea.id, "green tea", ends=True), Act("UPDATE", milk.id, "oat", ends=True)
    )
    second = decided(2, [first[0]], Act("NONE", first[0].id))
    third = decided(3, [first[0]], Act("UPDATE", first[0].id, "matcha", ends=True))
    units = [tea, milk, *first, *second, *third]
    for unit in (tea, first[0], third[0]):
        assert [(deed.act.event, deed.act.text) for deed in history_of(units, unit.id)] == [
            ("UPDATE", "green tea"), ("NONE", ""), ("UPDATE", "matcha")
        ]  # fmt: skip
    assert [deed.act.text for deed in history_of(units, milk.id)] == ["oat"]
    assert history_of(units, "nothing") == []


def test_what_another_program_stored_is_read_as_far_as_it_goes() -> None:
    """Attributes that are no acts are none."""
    odd = derived_unit(NAME, DECISION, "x", [turn(1)], attributes={"acts": ["x", {"event": 3}, {"on": None}]})
    assert [act.event for act in acts_of(odd)] == ["3", ""]
    assert acts_of(derived_unit(NAME, DECISION, "x", [turn(1)], attributes={"acts": "no"})) == ()


GOOD = [
    {"new": "N1", "event": "UPDATE", "on": "2", "text": " green\n tea "},
    {"new": "N1", "event": "DELETE", "on": "1", "text": ""},
    {"new": "N2", "event": "ADD", "on": "2", "text": "milk"},
    {"new": "N2", "event": "NONE", "on": "0", "text": "ignored"},
]


def replied(profile: Profile, acts: Sequence[Mapping[str, str]] | str) -> str:
    """Return a reply in the profile's form."""
    if isinstance(acts, str):
        return acts
    if profile == "full":
        return json.dumps({"acts": acts})
    lines = [
        f"{act['new']} {act['event']} {act['on']}" + (f" | {act['text'].strip()}" * bool(act["text"])) for act in acts
    ]
    return "\n".join(" ".join(line.split()) for line in lines)


def asked(profile: Profile, *replies: Sequence[Mapping[str, str]] | str) -> tuple[ScriptedModel, object, str]:
    """Return the model, what it decides by these replies, and what was wrong with the last."""
    model = ScriptedModel([replied(profile, each) for each in replies])
    kit = Kit(model, PromptBook.load(None, profile, [STEP]), 4, 4096)
    (reply,) = decide(kit, STEP, [Undecided(("tea is green", "milk"), (memory("coffee"), memory("tea")))], EVENTS)
    return model, reply.value, reply.problem


@pytest.mark.parametrize("profile", ["full", "compact"])
def test_a_reply_names_what_it_was_shown_by_numbers(profile: Profile) -> None:
    """Texts are on one line; a number or a text that an event has no use for is dropped."""
    model, acts, problem = asked(profile, GOOD)
    coffee, tea = memory("coffee"), memory("tea")
    assert problem == ""
    assert acts == (
        Act("UPDATE", tea.id, "green tea", ends=True, new=1),
        Act("DELETE", coffee.id, ends=True, new=1),
        Act("ADD", "", "milk", new=2),
        Act("NONE", "", new=2),
    )
    assert "1. coffee [2023-05-01]\n2. tea [2023-05-01]" in model.seen[0].growing
    assert "N1. tea is green\nN2. milk" in model.seen[0].tail


@pytest.mark.parametrize("profile", ["full", "compact"])
@pytest.mark.parametrize(
    "wrong", [{"on": "3"}, {"on": "0"}, {"event": "MERGE"}, {"new": "N3"}, {"text": ""}, {"on": "00"}], ids=str
)
def test_a_reply_that_names_something_else_is_asked_for_again(profile: Profile, wrong: Mapping[str, str]) -> None:
    """Once; the second prompt says what was wrong."""
    model, acts, problem = asked(profile, [{**GOOD[0], **wrong}], GOOD)
    assert (problem, len(model.seen)) == ("", 2)
    assert isinstance(acts, tuple)
    assert len(acts) == 4
    assert len(model.seen[1].tail) > len(model.seen[0].tail)
    _, acts, problem = asked(profile, [{**GOOD[0], **wrong}], "what?")
    assert acts is None
    assert problem

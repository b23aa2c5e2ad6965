"""Which new turns touch a kept goal, over small chats in everyday words, by the real store and ranking."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from goalmem_cli.library.answering import Terms
from goalmem_cli.library.goals.noticing import _Asked
from goalmem_cli.library.memory import Memory, opened
from goalmem_cli.records import Hit, Unit
from goalmem_cli.testing import ScriptedModel, faked
from tests.library.keeping import FIRST_DAY, chat, replies

CASES: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "noticing_cases.yaml").read_text("utf-8"))


def touched(memory: Memory, case: dict[str, Any]) -> bool:
    """Keep the case's goal, tell the new turn, and say whether that touches the goal."""
    goal = memory.goals.add(case["goal"], Terms())
    assert (goal.state.answer is None) == (not case["told"]), goal.state.trace
    ((_, before),) = memory.goals.touched([goal.name])
    assert before is None
    speaker = case["new"].partition(":")[0]
    name, sessions = next((name, told) for name, told in CASES["chats"].items() if f"{speaker}: " in str(told))
    memory.kept.add_all([chat(name, [*sessions, [case["new"]]])])
    ((_, touch),) = memory.goals.touched([goal.name])
    return touch is not None


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[dict[str, Any], bool]]]:
    """Each case with whether its new turn touches its goal."""
    results = []
    for case in CASES["cases"]:
        place = tmp_path_factory.mktemp("goals")
        with opened(place / "store", factories=faked(ScriptedModel(replies(case))), certainty=0) as memory:
            memory.kept.add_all([chat(name, told) for name, told in CASES["chats"].items()])
            results.append((case, touched(memory, case)))
    yield results


def test_turns_that_change_an_answer_touch_its_goal(found: list[tuple[dict[str, Any], bool]]) -> None:
    """In whatever words; but not where the turn shares no word with goal, plan or answer ("kick-off", "quits")."""
    missed = [case["new"] for case, is_touched in found if case["touches"] and not is_touched]
    assert [new for new in missed if "kick-off" not in new and "quits" not in new] == []
    assert sum(case["touches"] for case, _ in found) >= 25


def test_turns_about_something_else_leave_goals_alone(found: list[tuple[dict[str, Any], bool]]) -> None:
    """All but one in ten."""
    others = [(case, is_touched) for case, is_touched in found if not case["touches"]]
    assert len(others) >= 24
    assert sum(is_touched for _, is_touched in others) <= 0.1 * len(others)


CROWD = [
    f"Rosa: I read that everybody at {firm} works hard, at work." for firm in ("Castor", "Halden", "Ostara", "Tarn")
]
FAMILY = ["Ana Lind: I live in Leeds.", "Leo Lind: The match was good."]


@pytest.mark.parametrize(
    ("told", "goal", "plan", "cited", "new", "touches"),
    [
        (CROWD, "Does Rosa work at Pellier?", "(Rosa) works at (Pellier)", None, "Rosa: I work at Merrin now.", True),
        (FAMILY, "Where does Ana Lind live?", "(Ana Lind) lives in (x:city)", "Leeds", "Ana Lind: I live in York now.", True),
        (FAMILY, "Where does Ana Lind live?", "(Ana Lind) lives in (x:city)", "Leeds", "Leo Lind: I live in York now.", False),
        (FAMILY, "Where does Ana live?", "(Ana) lives in (x:city)", "Leeds", "Ana Lind: I live in York now.", True),
        (FAMILY, "Where does Ana Lind live?", "(Ana Lind) lives in (x:city)", "Leeds", "Ana Lind: Kim lives in York now.", False),
        (FAMILY, "Where does Ana Lind live?", "(Ana Lind) lives in (x:city)", "Leeds", "Ana Lind: I meant York is where Kim lives.", False),
        (FAMILY, "Where does Ana Lind live?", "(Ana Lind) lives in (x:city)", "Leeds", "Leo Lind: As you know, we live in York now.", True),
    ],
)  # fmt: skip
def test_who_is_meant_and_not_what_stood_first_decides(
    tmp_path: Path, told: list[str], goal: str, plan: str, cited: str | None, new: str, touches: bool
) -> None:
    """Turns that were known hide no new one; relatives share a name; what somebody else does touches no goal."""
    case = {"goal": goal, "plan": [plan], "told": [f"live in {cited}"] if cited else [], "is": {"x": cited}}
    with opened(tmp_path / "store", factories=faked(ScriptedModel(replies(case))), certainty=0) as memory:
        memory.kept.add_all([chat("c", [told])])
        memory.goals.add(goal, Terms(), "goal")
        memory.kept.add_all([chat("c", [told, [new]])])
        ((_, touch),) = memory.goals.touched()
    assert (touch is not None) is touches


def test_a_change_that_names_the_matter_is_told_behind_older_tellings() -> None:
    """Of the new turns it has to be among the first; what names the matter without a change is held against the best."""
    for text, touches in (("I put that wrongly: York is where I live.", True), ("I live here.", False)):
        hit = Hit(Unit("u", "turn", text, "c", "Ana", FIRST_DAY, ("u",), ("u",)), 0.5)
        asked = _Asked.of(
            "Ana lives in", [hit, replace(hit, unit=replace(hit.unit, id="cited"), score=0.94)], ["cited"]
        )
        assert asked.is_told_by(hit, is_first=False, leads=True, known=0.94) is touches
        assert not asked.is_told_by(hit, is_first=False, leads=False, known=0.94)


def test_who_is_meant_may_stand_first_in_a_sentence() -> None:
    """ "My boss" is no name with the verb "boss"; another speaker's boss is not meant."""
    for speaker, is_told in (("Nadia", True), ("Paul", False)):
        hit = Hit(Unit("u", "turn", "My boss is called Verena.", "c", speaker, FIRST_DAY, ("u",), ("u",)), 0.5)
        assert _Asked.of("Nadia's boss", [hit], (), frozenset()).may_be_told_by(hit) is is_told

"""How many new turns are noticed that touch a kept answer in other words, over chats by an author unaware of the code."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from goalmem_cli.library.answering import Asking, Terms
from goalmem_cli.library.memory import Memory, opened
from goalmem_cli.reasoners.facts import NumberedFacts
from goalmem_cli.records import Conversation, Turn
from goalmem_cli.testing import ScriptedModel, faked
from goalmem_cli.trace import Status, Trace

HISTORIES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("noticing_histories.yaml").read_text("utf-8"))


def chat(name: str, lines: list[str]) -> Conversation:
    """Return the chat of lines such as "[2026-01-12] Marta: first week done"; a day is a session."""
    turns: list[Turn] = []
    days = list(dict.fromkeys(line[1:11] for line in lines))
    for place, line in enumerate(lines):
        speaker, text = line[13:].split(": ", 1)
        said = datetime.fromisoformat(line[1:11]) + timedelta(hours=10, minutes=2 * place)
        turns.append(Turn(name, days.index(line[1:11]), place, speaker, text, said, own_id=f"D{place}"))
    return Conversation(name, "made-up", tuple(turns), own_id=name)


def keep(memory: Memory, name: str, history: Mapping[str, Any]) -> None:
    """Keep the question with its answer as a goal that was read at once from the turns that tell it."""
    parts, told = memory.goals._parts, [history["turns"][place].split(": ", 1)[1] for place in history["told"]]
    asked = Asking(parts, Terms(), may_try_rules=False).question(history["question"])
    facts = NumberedFacts(memory.goals._ranked(), asked)
    found = [facts.fact(hit) for hit in facts.hits(asked.text, 200) if hit.unit.text in told]
    assert len(found) == len(told)
    trace = Trace(
        Status.ANSWERED if found else Status.UNKNOWN, "goal-mem", asked.text, asked.asked, history["answer"],
        facts={fact.number: fact for fact in found}, evidence=tuple(fact.number for fact in found), model="gold",
    )  # fmt: skip
    memory.goals.keep(asked, trace, name, memory.goals.generation)


@pytest.fixture(scope="module")
def touched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bool]:
    """Each new turn with whether it touches its goal. All chats are in one memory; a new turn comes to each of them."""
    found: dict[str, bool] = {}
    for round_ in range(4):
        place = tmp_path_factory.mktemp("goals") / "store"
        with opened(place, factories=faked(ScriptedModel(())), certainty=0) as memory:
            memory.kept.add_all([chat(str(number), each["turns"]) for number, each in enumerate(HISTORIES)])
            for number, each in enumerate(HISTORIES):
                keep(memory, str(number), each)
            new = [[*each["touching"], *each["others"]][round_] for each in HISTORIES]
            memory.kept.add_all(
                [chat(str(number), [*each["turns"], new[number]]) for number, each in enumerate(HISTORIES)]
            )
            found |= {new[int(goal.name)]: touch is not None for goal, touch in memory.goals.touched()}
    return found


def test_most_turns_that_touch_an_answer_in_other_words_are_noticed(touched: dict[str, bool]) -> None:
    """Three in four; where a turn has to share a word with the question, it is half of them."""
    told = list(chain.from_iterable(each["touching"] for each in HISTORIES))
    missed = [new for new in told if not touched[new]]
    assert len(told) == 80
    assert len(missed) <= 20, missed


def test_most_turns_on_something_else_touch_nothing(touched: dict[str, bool]) -> None:
    """Half of these are near: the same person on another subject, or the same subject by somebody else."""
    others = list(chain.from_iterable(each["others"] for each in HISTORIES))
    wrong = [new for new in others if touched[new]]
    assert len(others) == 80
    assert len(wrong) <= 28, wrong

"""goalmem's own answers: sourced to what they cite, gone with it, and never found as memory."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from goalmem_cli.errors import StoreError
from goalmem_cli.memory_records import Ranking, Selection
from goalmem_cli.records import Query, Turn, Unit
from goalmem_cli.store.store import Store
from goalmem_cli.transcripts import read_file
from tests.store.samples import chat, open_store

ASKED = Turn("goalmem", 0, 0, "user", "Which drink is green?", datetime(2023, 6, 1, 12), "q1", "user")
ONLY_IN_ANSWER = "Zanzibar"


def filled(path: Path) -> Store:
    """Return a store with a conversation of two and a question that was asked of it."""
    store = open_store(path)
    store.add(chat(with_ids=True, own_id="chat"))
    store.add_turns([ASKED])
    return store


def unit_of(store: Store, words: str) -> str:
    """Return the id of the turn's unit that words find first."""
    return store.rank(Query(words), [Ranking.BM25], 1)[Ranking.BM25][0].unit


def answers_in(store: Store) -> list[str]:
    """Return the ids of the remembered answers that the indexes find."""
    found = store.rank(Query(ONLY_IN_ANSWER), list(Ranking), 10, backbone="answers")
    assert len({tuple(sorted(scored.unit for scored in hits)) for hits in found.values()}) == 1
    return [scored.unit for scored in found[Ranking.BM25]]


def add(store: Store, *words: str, text: str = ONLY_IN_ANSWER) -> Unit:
    """Remember an answer that cites the turns that these words find."""
    return store.add_answer(text, ASKED, [unit_of(store, each) for each in words], {"question": ASKED.text})


def everything_in(folder: Path) -> bytes:
    """Return what the files of the store hold."""
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


def test_an_answer_names_what_it_cites_and_its_question(tmp_path: Path) -> None:
    """Its turns are those cited, in order and once, and the question's own; its place is the question's."""
    store = filled(tmp_path)
    before = store.stats()
    unit = add(store, "Matcha oat milk", "Kyoto Latte", "Matcha oat milk")
    assert (unit.kind, unit.backbone, unit.speaker, unit.text) == ("answer", "answers", "goalmem", ONLY_IN_ANSWER)
    assert unit.labels == ("D1:5", "D1:3", "q1")
    assert unit.turns[-1] == ASKED.id
    assert (unit.conversation, unit.session, unit.ordinal, unit.said) == ("goalmem", 0, 0, ASKED.said)
    assert store.hits([unit.id])[unit.id].unit == unit
    after = store.stats()
    assert after.generation == before.generation + 1
    assert after.units == {**before.units, "answer": 1}
    assert (after.turns, after.sessions) == (before.turns, before.sessions)
    assert store.verify() == []


def test_an_answer_that_cites_nothing_comes_from_its_question(tmp_path: Path) -> None:
    """No unit is without a turn."""
    store = filled(tmp_path)
    assert add(store).turns == (ASKED.id,)
    assert store.verify() == []


def test_an_answer_from_a_passage_names_the_whole_turn(tmp_path: Path) -> None:
    """Passages of a long turn are cited as the turn they are of."""
    store = filled(tmp_path)
    long = Turn("talk", 0, 0, "Ben", " ".join(f"word{number}." for number in range(600)), own_id="L1")
    store.add_turns([long])
    unit = store.add_answer("yes", ASKED, [unit_of(store, "word7"), unit_of(store, "word590")], {})
    assert unit.turns == (long.id, ASKED.id)
    assert store.verify() == []


def test_no_ranking_of_turns_finds_an_answer(tmp_path: Path) -> None:
    """Asked for nothing but the answer's words, every ranking returns turns alone, and finds no words."""
    store = filled(tmp_path)
    unit = add(store, "Kyoto Latte")
    found = store.rank(Query(ONLY_IN_ANSWER), list(Ranking), 100)
    assert found[Ranking.BM25] == found[Ranking.BM25_CONTEXT] == []
    assert unit.id not in {scored.unit for hits in found.values() for scored in hits}
    assert answers_in(store) == [unit.id]


def test_an_answer_goes_with_a_turn_that_it_cites(tmp_path: Path) -> None:
    """Forgetting the cited conversation forgets the answer, in the question's conversation, and counts it."""
    store = filled(tmp_path)
    add(store, "Kyoto Latte")
    assert ONLY_IN_ANSWER.encode() in everything_in(tmp_path)
    forgotten = store.forget(Selection(conversations=("chat",)))
    assert forgotten.units["answer"] == 1
    assert answers_in(store) == []
    assert store.stats().units == {"turn": 1}
    assert store.verify() == []
    assert ONLY_IN_ANSWER.encode() not in everything_in(tmp_path)


def test_an_answer_goes_with_its_question(tmp_path: Path) -> None:
    """Forgetting what was asked forgets what was answered; what was cited stays."""
    store = filled(tmp_path)
    add(store, "Kyoto Latte")
    assert store.forget(Selection(speakers=("user",))).units == {"answer": 1, "turn": 1}
    assert answers_in(store) == []
    assert store.stats().units == {"turn": 6}
    assert store.verify() == []


def test_an_answer_goes_when_what_it_cites_is_replaced(tmp_path: Path) -> None:
    """A transcript read again with another text under the cited turn's id: nobody said what the answer rests on."""
    store = filled(tmp_path)
    add(store, "Kyoto Latte")
    told = chat(with_ids=True, own_id="chat")
    changed = tuple(replace(turn, text="I had tea.") if turn.own_id == "D1:3" else turn for turn in told.turns)
    assert store.add(replace(told, turns=changed)).replaced == ("D1:3",)
    assert answers_in(store) == []
    assert store.verify() == []


@pytest.mark.parametrize("selection", [Selection(conversations=("chat",)), Selection(conversations=("goalmem",))])
def test_what_was_forgotten_meanwhile_gives_no_answer(tmp_path: Path, selection: Selection) -> None:
    """A source that went while the model worked: the answer is refused, and nothing is written."""
    store = filled(tmp_path)
    cited = [unit_of(store, "Kyoto Latte")]
    store.forget(selection)
    before = store.stats()
    with pytest.raises(StoreError, match="forgotten or replaced"):
        store.add_answer(ONLY_IN_ANSWER, ASKED, cited, {})
    assert store.stats().units == before.units
    assert store.stats().generation == before.generation


def test_an_answer_is_exported_and_read_back(tmp_path: Path) -> None:
    """A store read from an export has the same answer, sourced to the same turns of another conversation."""
    store = filled(tmp_path / "one")
    unit = add(store, "Kyoto Latte")
    file = tmp_path / "export.jsonl"
    documents = list(store.export())
    file.write_text("".join(f"{json.dumps(document)}\n" for document in documents), "utf-8")
    copy = open_store(tmp_path / "two")
    copy.add_all(read_file(file))
    assert list(copy.export()) == documents
    assert copy.hits([unit.id])[unit.id].unit == unit
    assert answers_in(copy) == [unit.id]
    assert copy.verify() == []


def test_odd_text_is_stored_as_text(tmp_path: Path) -> None:
    """Lone surrogates become question marks, as everywhere in the store; the rest stays."""
    store = filled(tmp_path)
    unit = add(store, "Kyoto Latte", text=f"{ONLY_IN_ANSWER} \udce9 \x1b[31m '; DROP TABLE units; --")
    assert unit.text == f"{ONLY_IN_ANSWER} ? \x1b[31m '; DROP TABLE units; --"
    assert store.hits([unit.id])[unit.id].unit.text == unit.text
    assert answers_in(store) == [unit.id]


class Halt(BaseException):
    """Stands for the process being stopped at a write."""


class Halting:
    """Hears of every write, and stops at the one numbered `at`; 0 never."""

    def __init__(self) -> None:
        self.at = 0
        self.seen: list[str] = []

    def __call__(self, what: str) -> None:
        self.seen.append(what)
        if len(self.seen) == self.at:
            raise Halt


def test_conversations_without_answers_stay_as_they_are(tmp_path: Path) -> None:
    """Remembering an answer changes no other unit and no summary."""
    store = filled(tmp_path)

    def seen() -> tuple[Sequence[object], Sequence[Turn]]:
        return store.conversations(), store.turns()

    before = seen()
    add(store, "Kyoto Latte")
    assert seen() == before
    assert store.add(chat(with_ids=True, own_id="chat")).new_turns == 0


def test_two_who_write_at_once_lose_no_line(tmp_path: Path) -> None:
    """Lines of two chats that took the same place in the dialogue are both kept, and both can be answered."""
    store = filled(tmp_path)
    other = replace(ASKED, text="Which drink is sweet?", own_id="q2")
    store.add_turns([other])
    assert {turn.text for turn in store.turns(["goalmem"])} == {ASKED.text, other.text}
    places = {store.add_answer(text, asked, [], {}).ordinal for text, asked in (("matcha", ASKED), ("cocoa", other))}
    assert places == {0, 1}
    assert store.verify() == []

"""What is said in a dialogue becomes turns; what is answered is remembered beside them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone

import pytest

from goalmem_cli.reasoners.remembering import CONVERSATION, remember_answer, remember_words
from goalmem_cli.records import Query, Question, Turn, Unit
from goalmem_cli.testing import ListBackbone
from goalmem_cli.trace import Fact, Status, Trace

NOON = datetime(2023, 6, 1, 12)


class Notebook:
    """A dialogue in a list, and the answers that were given in it."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.answers: list[tuple[str, Turn, tuple[str, ...], Mapping[str, object]]] = []

    def last_turn(self, conversation: str) -> Turn | None:
        """Return the last turn kept."""
        assert conversation == CONVERSATION
        return self.turns[-1] if self.turns else None

    def add_answer(self, text: str, question: Turn, cited: Sequence[str], attributes: Mapping[str, object]) -> Unit:
        """Keep the answer."""
        self.answers.append((text, question, tuple(cited), attributes))
        return Unit("u", "answer", text, CONVERSATION, "goalmem", question.said, (question.id,), (question.label,))


def say(notebook: Notebook, text: str, at: datetime = NOON, asker: str | None = None, tick: int = 0) -> Turn:
    """Remember a line said then; `tick` is the microsecond of writing."""
    moment = datetime(2024, 1, 2, 3, 4, 5, tick, UTC)
    backbone = ListBackbone()
    turn = remember_words(Question(text, at, asker), backbone, notebook, lambda: moment)
    notebook.turns.append(turn)
    assert [hit.unit.id for hit in backbone.retrieve(Query(text), 9)] == [turn.id]
    return turn


def test_words_become_the_next_turn_through_the_backbone() -> None:
    """Who said it, when, and that it was the user; the turn is what the backbone was given."""
    notebook = Notebook()
    first = say(notebook, "I moved to Leeds in May.", asker="Alice")
    second = say(notebook, "Where do I live?", NOON + timedelta(hours=8), tick=1)
    assert (first.conversation, first.speaker, first.role, first.said) == ("goalmem", "Alice", "user", NOON)
    assert (first.session, first.ordinal, first.text) == (0, 0, "I moved to Leeds in May.")
    assert (second.session, second.ordinal, second.speaker) == (0, 1, "user")


@pytest.mark.parametrize(
    ("before", "now", "session"),
    [
        (NOON, NOON + timedelta(hours=8), 0),
        (NOON, NOON + timedelta(hours=8, seconds=1), 1),
        (NOON, NOON - timedelta(days=900), 1),
        (NOON, datetime(9999, 12, 31), 1),
        (NOON.replace(tzinfo=UTC), NOON.replace(tzinfo=timezone(timedelta(hours=9))), 1),
        (NOON.replace(tzinfo=UTC), NOON + timedelta(hours=1), 0),
    ],
)
def test_a_session_starts_more_than_eight_hours_away(before: datetime, now: datetime, session: int) -> None:
    """Before or after; instants are compared where both have an offset, clocks otherwise."""
    notebook = Notebook()
    say(notebook, "first", before)
    assert say(notebook, "second", now, tick=1).session == session


def test_no_two_lines_have_one_id() -> None:
    """Said within one second, or the same words twice, each line is a turn of its own."""
    notebook = Notebook()
    turns = [say(notebook, text, tick=tick) for tick, text in enumerate(["yes", "yes", "no", "yes"])]
    assert len({turn.own_id for turn in turns}) == 4
    at_once = [say(Notebook(), text) for text in ("yes", "no")]
    assert at_once[0].own_id != at_once[1].own_id


def trace_of(status: Status, answer: str | None, *evidence: str) -> Trace:
    """Return the trace of a question that saw two facts."""
    facts = {
        f"F{number}": Fact(f"F{number}", f"unit{number}", ("D1:1",), "chat", "Ben", NOON, "text") for number in (1, 2)
    }
    return Trace(status, "goal-mem", "Which?", NOON, answer=answer, facts=facts, evidence=evidence)


def test_an_answer_is_remembered_with_what_it_cites() -> None:
    """The cited facts' units, in order, with the question, the outcome and the trace."""
    notebook = Notebook()
    turn = say(notebook, "Which?")
    remember_answer(turn, trace_of(Status.ANSWERED, "tea", "F2", "F1"), "trace-1", notebook)
    ((text, question, cited, attributes),) = notebook.answers
    assert (text, question, cited) == ("tea", turn, ("unit2", "unit1"))
    assert attributes == {"question": "Which?", "status": "answered", "trace": "trace-1"}


@pytest.mark.parametrize("status", [Status.UNKNOWN, Status.FAILED])
def test_what_is_no_answer_is_not_remembered_as_one(status: Status) -> None:
    """Unknown and failed leave the user's words alone."""
    notebook = Notebook()
    assert remember_answer(say(notebook, "Which?"), trace_of(status, None), None, notebook) is None
    assert notebook.answers == []

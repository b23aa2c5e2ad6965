"""`full-context`: the scope itself, as far as the model's context goes."""

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from time import sleep

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.errors import ContextOverflow
from goalmem_cli.memory_records import ConversationSummary
from goalmem_cli.ports import Completion, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.chronology import chronological
from goalmem_cli.reasoners.facts import hit_cost
from goalmem_cli.reasoners.full_context import FullContext, calls, newest
from goalmem_cli.reasoners.inquiry import Budget, Tools
from goalmem_cli.reasoners.tiser import TISER, TiserFullContext
from goalmem_cli.records import Conversation, Hit, Question, Turn
from goalmem_cli.store import Store
from goalmem_cli.testing import HashEmbedder, ListBackbone, Reply, ScriptedModel
from goalmem_cli.trace import Status, Stop, Trace
from tests.reasoners.forward import FULL, QUESTION, RUBBISH, TURNS, adversarial, both_profiles, says, stays_within
from tests.reasoners.scripting import MOMENT, chat

EVERYTHING = Budget(sys.maxsize, 3000)
UNKNOWN = says(answer="unknown")


class Kept:
    """Turns in a list; `asked` are the scopes they were asked for in."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self.asked: list[Sequence[str] | None] = []

    def turns(self, conversations: Sequence[str] | None = None) -> list[Turn]:
        """Return the turns of the conversations."""
        self.asked.append(conversations)
        return [turn for turn in self._turns if conversations is None or turn.conversation in conversations]

    def conversations(self) -> list[ConversationSummary]:
        """Return nothing, as nobody needs their languages here."""
        return []


def ask(
    turns: Sequence[Turn],
    *replies: Reply,
    book: PromptBook = FULL,
    budget: Budget = EVERYTHING,
    question: Question | None = None,
) -> tuple[Trace, ScriptedModel]:
    """Return the trace of a question over the turns, which no backbone has."""
    model = ScriptedModel(replies)
    tools = Tools(ListBackbone(), model, book, budget, "scripted")
    return FullContext(tools, Kept(turns)).answer(question or Question(QUESTION, MOMENT)), model


def texts(trace: Trace) -> list[str]:
    """Return what the facts say, in the order of their numbers."""
    return [fact.text for fact in trace.facts.values()]


def said_at(number: int, said: datetime | None, conversation: str = "chat") -> Turn:
    """Return a turn said then."""
    return Turn(conversation, 0, number, "Ann", f"{conversation} {number}", said)


@both_profiles
def test_everything_is_shown_in_order_of_time_without_retrieval(book: PromptBook) -> None:
    """Two conversations are shown turn by turn as time went, and the answer is read from them as ever."""
    other = chat("Zoe: Alice had tea.", conversation="other", day=2)
    trace, model = ask([*other, *TURNS], says(["Kyoto"], answer="Kyoto Latte"), book=book)

    assert texts(trace) == [*[turn.text for turn in TURNS[:2]], "Alice had tea.", *[turn.text for turn in TURNS[2:]]]
    assert [action.name for action in trace.actions] == ["retrieve", "read"]
    assert (trace.status, trace.answer, trace.evidence) == (Status.ANSWERED, "Kyoto Latte", ("F1",))
    assert (trace.stopped, trace.notes, trace.usage.calls) == (Stop.ONE_ROUND, (), calls()[1])
    lines = [line for line in model.seen[0].growing.splitlines() if line.startswith("F") and line != "Facts:"]
    assert [line.partition(".")[0] for line in lines] == list(trace.facts)


@both_profiles
def test_facts_look_like_all_others(book: PromptBook) -> None:
    """A fact has its turn's label, speaker and time, and says what its relative times mean."""
    (turn,) = chat("Ben: I paid the vet yesterday.")
    trace, model = ask([turn], UNKNOWN, book=book)
    fact = trace.facts["F1"]
    assert (fact.unit, fact.turns, fact.speaker, fact.said) == (turn.id, ("D1:1",), "Ben", turn.said)
    assert fact.times == ('"yesterday" = 30 April 2023',)
    if book.profile == "compact":
        assert "F1. Ben: I paid the vet yesterday. [said 6:00 pm, 1 May 2023; " in model.seen[0].growing
    else:
        told = '[chat, 6:00 pm, 1 May 2023]\nF1. Ben: I paid the vet yesterday. ["yesterday" = 30 April 2023]\n'
        assert told in model.seen[0].growing


@both_profiles
def test_what_does_not_fit_is_the_oldest_and_is_reported(book: PromptBook) -> None:
    """The newest turns are kept, without a gap; the trace counts the others and says from when on it knows."""
    cost = sum(hit_cost(hit) for hit in newest(TURNS[4:], EVERYTHING, {}))
    trace, _ = ask(TURNS, UNKNOWN, book=book, budget=Budget(sys.maxsize, cost))
    assert texts(trace) == [turn.text for turn in TURNS[4:]]
    assert trace.notes == (
        "the context has no room for the oldest 4 of 6 turns: shown is what was said from 6:04 pm, 3 May 2023 on",
    )


def test_a_turn_that_is_too_long_in_the_middle_leaves_no_gap() -> None:
    """What is older than the first turn without room is left out too, however short."""
    turns = chat("Ann: short", f"Ann: {'long ' * 200}", "Ann: new")
    trace, _ = ask(turns, UNKNOWN, budget=Budget(sys.maxsize, 60))
    assert texts(trace) == ["new"]
    assert "oldest 2 of 3" in trace.notes[0]


def test_a_budget_of_units_holds_too() -> None:
    """Where it is given fewer units than the context has room for, those are the newest."""
    trace, _ = ask(TURNS, UNKNOWN, budget=Budget(2, 3000))
    assert texts(trace) == [turn.text for turn in TURNS[-2:]]


def test_a_long_turn_is_shown_as_the_store_keeps_it(tmp_path: Path) -> None:
    """Its passages are the facts, under the ids that are stored, so that the trace can be kept; its end may be alone."""
    long = " ".join(f"Sentence {number} of a long story about the sea." for number in range(120))
    turns = chat("Ann: first", f"Ben: {long}", "Ann: last")
    store = Store(tmp_path / "store", HashEmbedder(), announce=lambda _: None)
    store.add(Conversation("chat", "test", tuple(turns)))
    tools = Tools(ListBackbone(), ScriptedModel([UNKNOWN, UNKNOWN]), FULL, EVERYTHING)
    trace = FullContext(tools, store).answer(Question("What of the sea?", MOMENT))

    assert store.are_stored([fact.unit for fact in trace.facts.values()])
    assert " ".join(texts(trace)) == f"first {long} last"
    assert len(trace.facts) > 4
    assert trace.notes == ()
    few = Tools(ListBackbone(), ScriptedModel([UNKNOWN]), FULL, Budget(2, 3000))
    cut = FullContext(few, store).answer(Question("What of the sea?", MOMENT))
    assert [fact.unit for fact in cut.facts.values()] == [fact.unit for fact in trace.facts.values()][-2:]
    (note,) = cut.notes
    assert note.startswith(
        "the context has no room for the oldest 1 of 3 turns and the beginning of the first turn shown:"
    )
    assert note.endswith("from 6:01 pm, 1 May 2023 on")


def test_remembered_answers_are_not_shown(tmp_path: Path) -> None:
    """An answer that was kept beside a question's turn is no turn."""
    turns = chat("Ann: I have a cat.", "Ann: Which pet do I have?")
    store = Store(tmp_path / "store", HashEmbedder(), announce=lambda _: None)
    store.add(Conversation("chat", "test", tuple(turns)))
    (question,) = (turn for turn in store.turns() if turn.text.endswith("?"))
    store.add_answer("an elephant", question, [], {})
    tools = Tools(ListBackbone(), ScriptedModel([UNKNOWN]), FULL, EVERYTHING)
    trace = FullContext(tools, store).answer(Question("Which pet?", MOMENT))
    assert texts(trace) == [turn.text for turn in turns]


def test_the_question_s_scope_and_time_hide_the_rest() -> None:
    """Other conversations, what was said later, and with an end what was said nobody knows when, are not shown."""
    turns = [
        said_at(0, datetime(2023, 1, 1)), said_at(1, datetime(2023, 2, 1)), said_at(2, None),
        said_at(3, datetime(2023, 3, 1)), said_at(0, datetime(2023, 1, 1), "other"),
    ]  # fmt: skip
    every, _ = ask(turns, UNKNOWN, question=Question("?", MOMENT, conversations=("chat",)))
    assert texts(every) == ["chat 0", "chat 1", "chat 2", "chat 3"]
    moment = datetime(2023, 2, 1)
    early, _ = ask(turns, UNKNOWN, question=Question("?", moment, conversations=("chat",), as_of=moment))
    assert texts(early) == ["chat 0", "chat 1"]


def test_the_end_of_the_time_is_compared_as_searches_do() -> None:
    """Times with an offset are compared as instants, others by their clocks."""
    evening = datetime(2023, 2, 1, 23, 0, tzinfo=timezone(timedelta(hours=-5)))
    turns = [said_at(0, datetime(2023, 2, 1, 12, 0)), said_at(1, evening)]
    trace, _ = ask(turns, UNKNOWN, question=Question("?", MOMENT, as_of=datetime(2023, 2, 2, 3, 0, tzinfo=UTC)))
    assert texts(trace) == ["chat 0"]
    trace, _ = ask(turns, UNKNOWN, question=Question("?", MOMENT, as_of=datetime(2023, 2, 2, 3, 0)))
    assert texts(trace) == ["chat 0", "chat 1"]


class Narrow(ScriptedModel):
    """A model whose context holds so many letters of facts."""

    def __init__(self, letters: int) -> None:
        super().__init__(lambda request: UNKNOWN(request))
        self._letters = letters

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Reply, or say that the prompt is too long."""
        if any(len(request.growing) > self._letters for request in requests):
            raise ContextOverflow("too long")
        return super().complete(requests)


def test_a_prompt_that_is_longer_than_estimated_is_made_shorter() -> None:
    """Where the model has no room after all, older turns go until it has; the trace counts them as any others."""
    turns = [said_at(number, MOMENT + timedelta(minutes=number)) for number in range(100)]
    model = Narrow(900)
    trace = FullContext(Tools(ListBackbone(), model, FULL, EVERYTHING), Kept(turns)).answer(Question("?", MOMENT))
    assert (trace.status, model.calls, trace.usage.calls) == (Status.UNKNOWN, 1, 1)
    assert 20 < len(trace.facts) < 50
    assert texts(trace) == [turn.text for turn in turns[-len(trace.facts) :]]
    assert f"oldest {100 - len(trace.facts)} of 100 turns" in trace.notes[0]
    assert [action.name for action in trace.actions] == ["retrieve", "read"]


def test_a_context_without_room_for_anything_is_an_error() -> None:
    """It does not try for ever."""
    tools = Tools(ListBackbone(), Narrow(0), FULL, EVERYTHING)
    with pytest.raises(ContextOverflow):
        FullContext(tools, Kept(TURNS)).answer(Question("?", MOMENT))


class Slow(Kept):
    """Turns that take a while to read."""

    def turns(self, conversations: Sequence[str] | None = None) -> list[Turn]:
        """Return the turns of the conversations, at last."""
        sleep(0.05)
        return super().turns(conversations)


def test_reading_the_transcript_is_part_of_the_time_it_took() -> None:
    """As retrieval is for other reasoners."""
    tools = Tools(ListBackbone(), ScriptedModel([UNKNOWN]), FULL, EVERYTHING)
    assert FullContext(tools, Slow(TURNS)).answer(Question("?", MOMENT)).usage.seconds >= 0.05


@both_profiles
def test_an_empty_scope_is_unknown_and_asks_nobody(book: PromptBook) -> None:
    """Where nothing was said, or nothing fits, there is nothing to read."""
    trace, model = ask([], book=book)
    assert (trace.status, model.calls) == (Status.UNKNOWN, 0)
    assert trace.notes == ("nothing was retrieved",)
    trace, model = ask(TURNS, book=book, budget=Budget(sys.maxsize, 3))
    assert (trace.status, model.calls) == (Status.UNKNOWN, 0)
    assert trace.notes == ("the context has no room for the oldest 6 of 6 turns", "nothing was retrieved")


@both_profiles
def test_an_unusable_answer_is_failed(book: PromptBook) -> None:
    """Two replies of another form, or citing what was not shown, end it."""
    trace, _ = ask(TURNS, RUBBISH, says(["F7"], answer="tea"), book=book)
    assert (trace.status, trace.answer, trace.evidence) == (Status.FAILED, None, ())
    assert (trace.failure or "").startswith("read: ")


def test_of_a_long_memory_only_what_fits_is_looked_at() -> None:
    """A hundred thousand turns are ordered and counted; only those shown are identified, cut and annotated."""
    start = datetime(2020, 1, 1)
    turns = [said_at(number, start + timedelta(minutes=number)) for number in range(100_000)]
    trace, _ = ask(turns, UNKNOWN, budget=Budget(sys.maxsize, 1000))
    looked_at = [turn for turn in turns if "id" in vars(turn)]
    assert 0 < len(looked_at) - len(trace.facts) <= 1
    assert texts(trace)[-1] == "chat 99999"
    assert f"{100_000 - len(trace.facts):,} of 100,000" in trace.notes[0]


def test_turns_without_a_time_stay_where_they_were_said() -> None:
    """They follow what was said before them; at the head they go with the first time; without any they come first."""
    first, last = datetime(2023, 1, 1), datetime(2023, 3, 1)
    turns = [
        said_at(0, None), said_at(1, first), said_at(2, None), said_at(3, last), said_at(0, datetime(2023, 2, 1), "other"),
        said_at(0, None, "undated"), said_at(1, None, "undated"),
    ]  # fmt: skip
    assert [turn.text for turn in chronological(turns[::-1], lambda turn: turn)] == [
        "undated 0", "undated 1", "chat 0", "chat 1", "chat 2", "other 0", "chat 3",
    ]  # fmt: skip


def test_times_with_offsets_are_ordered_as_instants() -> None:
    """Where every time has an offset the earlier instant comes first, else the earlier clock."""
    east = datetime(2023, 1, 2, 1, 0, tzinfo=timezone(timedelta(hours=9)))
    west = datetime(2023, 1, 1, 20, 0, tzinfo=timezone(timedelta(hours=-5)))
    turns = [said_at(0, east, "east"), said_at(0, west, "west")]
    assert chronological(turns, lambda turn: turn) == turns
    naive = [*turns, said_at(0, datetime(2023, 1, 1), "naive")]
    assert [turn.conversation for turn in chronological(naive, lambda turn: turn)] == ["naive", "west", "east"]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.none() | st.integers(0, 5)), max_size=12))
def test_the_order_is_one_whatever_the_order_of_the_turns(drawn: list[tuple[str, int | None]]) -> None:
    """Nothing is lost, and where nobody's clock runs backwards each conversation keeps its own order."""
    turns: list[Turn] = []
    latest = {"a": 0, "b": 0}
    for number, (conversation, hours) in enumerate(drawn):
        latest[conversation] += hours or 0
        said = None if hours is None else MOMENT + timedelta(hours=latest[conversation])
        turns.append(said_at(number, said, conversation))
    ordered = chronological(turns, lambda turn: turn)
    assert ordered == chronological(turns[::-1], lambda turn: turn)
    for conversation in "ab":
        own = [turn for turn in turns if turn.conversation == conversation]
        assert [turn for turn in ordered if turn.conversation == conversation] == own


@given(st.integers(0, 400), st.integers(0, 8))
def test_what_is_shown_is_the_end_of_what_there_is(tokens: int, units: int) -> None:
    """Whatever the budget, the units are the last ones, within it, and one more would not fit."""
    every = newest(TURNS, EVERYTHING, {})
    shown = newest(TURNS, Budget(units, tokens), {})
    assert shown == every[len(every) - len(shown) :]
    assert len(shown) <= units
    assert sum(map(hit_cost, shown)) <= tokens
    if len(shown) < min(units, len(every)):
        following: Hit = every[len(every) - len(shown) - 1]
        assert sum(map(hit_cost, shown)) + hit_cost(following) > tokens


@adversarial
def test_whatever_the_model_writes_it_ends_within_its_bounds(
    book: PromptBook, seed: int, units: int, tokens: int
) -> None:
    """No reply makes it ask more, show more or cite what was not shown."""
    stays_within(lambda tools: FullContext(tools, Kept(TURNS)), calls()[1], book, seed, units, tokens)


def test_with_tiser_the_whole_transcript_is_read_by_way_of_a_timeline() -> None:
    """The same facts in the same order, and the prompt that checks a timeline (REMem, Table 13)."""
    reply = json.dumps({"reasoning": "r", "timeline": [], "reflection": "right", "facts": ["F1"], "answer": "tea"})
    model = ScriptedModel([reply])
    tools = Tools(ListBackbone(), model, PromptBook.load(None, "full", (TISER,)), EVERYTHING, "scripted")
    said = Kept(chat("Ana: I drink tea.", "Ben: I drink milk."))
    trace = TiserFullContext(tools, said).answer(Question(QUESTION, MOMENT))

    assert (trace.reasoner, trace.answer) == ("full-context-tiser", "tea")
    assert texts(trace) == ["I drink tea.", "I drink milk."]
    assert [request.step for request in model.seen] == ["tiser"]

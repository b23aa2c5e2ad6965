"""The stages of a run: each question of its own conversation, asked once, whatever interrupts it, on however many machines."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.backbones.flat import FlatBackbone
from goalmem_cli.errors import ContextOverflow, UsageError
from goalmem_cli.lab.evaluation.cases import Case, Dataset
from goalmem_cli.lab.evaluation.queries import QueryKind, gold_queries, plain_words
from goalmem_cli.lab.evaluation.runs.estimate import estimated, say_duration
from goalmem_cli.lab.evaluation.runs.folder import RunFolder, read_run
from goalmem_cli.lab.evaluation.runs.matrix import merge
from goalmem_cli.lab.evaluation.runs.run import Answered, Placed, Run
from goalmem_cli.lab.evaluation.runs.runner import Memory, Row, answer, retrieve
from goalmem_cli.lab.evaluation.runs.sampling import Sample, choose, shard
from goalmem_cli.lab.evaluation.runs.together import Together
from goalmem_cli.ports import JsonShape, LanguageModel, Request
from goalmem_cli.reasoners.measured import MeasuredModel
from goalmem_cli.records import Conversation, Query, Question
from goalmem_cli.store import Store
from goalmem_cli.testing import HashEmbedder, ScriptedModel
from goalmem_cli.trace import Status, Trace
from tests.lab.evaluation.runs import CASES, Echo, dataset, manifest, memory
from tests.reasoners.scripting import chat

ROW = Row("echo", "hybrid")


def measured(path: Path, held: Memory, cases: Sequence[Placed], reasoner: Echo, **changes: object) -> Run:
    """Return the run after both stages."""
    folder = RunFolder.begin(path, manifest(**changes), cases)
    try:
        retrieve(folder, cases, held, {"hybrid": FlatBackbone(held.store)}, k=10)
        answer(folder, cases, [ROW], held, lambda *_: reasoner)
    finally:
        folder.close()
    return read_run(path)


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """The dataset in a store."""
    return memory(tmp_path_factory.mktemp("held") / "store")


def test_each_question_sees_its_own_conversation_only(held: Memory, tmp_path: Path) -> None:
    """Nothing of another conversation is retrieved, though both are in one store and share labels."""
    run = measured(tmp_path / "run", held, choose(CASES), Echo())

    assert len(run.retrieved) == len(CASES)
    for retrieved in run.retrieved:
        assert all(" " not in label for unit in retrieved.units for label in unit)
        assert len(retrieved.units) <= (3 if retrieved.case.startswith("tea-01") else 2)


def test_a_domain_is_one_scope_where_it_is_wanted(tmp_path: Path) -> None:
    """By domain the other conversation's turns are there, told apart by its name."""
    wide = memory(tmp_path / "store", by_domain=True, cases=CASES[:1])
    assert wide.scope(CASES[0]) == ("tea-01", "tea-02")
    run = measured(tmp_path / "run", wide, choose(CASES[:1]), Echo())
    assert ("D1:1",) in run.retrieved[0].units
    assert ("tea-02 D1:2",) in run.retrieved[0].units


def test_a_case_without_a_domain_sees_its_own_conversation(tmp_path: Path) -> None:
    """Conversations of no domain are no domain together."""
    alone = [replace(case, domain="") for case in CASES]
    whole = replace(dataset(), cases=tuple(alone))
    held = Memory(Store(tmp_path / "store", HashEmbedder(), announce=lambda _: None), whole, alone[:1], by_domain=True)
    assert held.scope(alone[0]) == ("tea-01",)
    assert held.fill() == 3


def test_a_models_plans_are_asked_for_once(held: Memory, tmp_path: Path) -> None:
    """Interrupted between two backbones, a run takes the plans from the first; one that does not fit is the question."""
    asked: list[str] = []

    def planner(question: Question) -> list[str]:
        asked.append(question.text)
        if "stolen" in question.text:
            raise ContextOverflow("too long", "shorten it")
        return ["Ana ordered drink"]

    placed = choose(CASES[:2])
    for names in (("hybrid",), ("hybrid", "bm25")):
        folder = RunFolder.begin(tmp_path / "run", manifest(backbones=names), placed)
        backbones = {name: FlatBackbone(held.store, name) for name in names}
        retrieve(folder, placed, held, backbones, kinds=[QueryKind.MODEL], k=2, planner=planner)
        folder.close()
    assert asked == [case.question for case in CASES[:2]]
    assert [row.queries for row in read_run(tmp_path / "run").retrieved] == [
        ("Ana ordered drink",), (CASES[1].question,),
    ] * 2  # fmt: skip


def test_a_question_is_asked_with_the_conversations_last_turn(held: Memory) -> None:
    """Without a time of its own a case is asked then; nothing is hidden from it."""
    question = held.question(CASES[0])
    assert (question.asked.day, question.as_of) == (2, None)


def test_gold_is_that_of_the_very_question(held: Memory) -> None:
    """The oracle gets a case's evidence and no other's, also where two cases under way have the same words."""
    first, second = (held.question(case) for case in (CASES[0], replace(CASES[1], question=CASES[0].question)))
    assert first == second
    assert [hit.unit.text for hit in held.gold(first)] == ["I ordered jasmine tea."]
    assert [hit.unit.text for hit in held.gold(second)] == ["My bike was stolen."]
    assert held.gold(replace(first)) == []


def test_long_evidence_comes_in_passages(tmp_path: Path) -> None:
    """As it is retrieved: a turn too long to be shown whole would leave the oracle without evidence."""
    story = " ".join(f"Sentence {number} of a long story about the sea." for number in range(120))
    turns = chat("Ann: first", f"Ben: {story}", conversation="sea")
    case = Case("sea/1", "sea", "What\nof the sea?", "a story", ("D1:2",), "4")
    sea = Dataset(
        "sea", "locomo", "d1", (case,), {}, {}, lambda _: iter([Conversation("sea", "locomo", tuple(turns))])
    )  # fmt: skip
    held = Memory(Store(tmp_path / "store", HashEmbedder(), announce=lambda _: None), sea, [case])
    held.fill()
    question = held.question(case)
    hits = held.gold(question)

    assert question.text == "What of the sea?"
    assert len(hits) > 2
    assert {hit.unit.kind for hit in hits} == {"passage"}
    assert " ".join(hit.unit.text for hit in hits) == story


@pytest.mark.parametrize("stops_at", range(len(CASES)))
def test_an_interrupted_run_goes_on_and_asks_nothing_twice(held: Memory, tmp_path: Path, stops_at: int) -> None:
    """Interrupted at any question, the second run asks exactly those that are left, and ends like an undisturbed one."""
    first, second = Echo(stops_at), Echo()
    with pytest.raises(KeyboardInterrupt):
        measured(tmp_path / "run", held, choose(CASES), first)
    run = measured(tmp_path / "run", held, choose(CASES), second)

    assert first.asked + second.asked == [case.question for case in CASES]
    whole = measured(tmp_path / "whole", held, choose(CASES), Echo())
    assert (run.answered, run.retrieved) == (whole.answered, whole.retrieved)


@given(count=st.integers(1, 7))
def test_shards_are_disjoint_and_whole(count: int) -> None:
    """Every case is in exactly one shard, and the shards' sizes differ by one at most."""
    placed = choose(CASES)
    parts = [shard(placed, number, count) for number in range(1, count + 1)]
    assert sorted((member for part in parts for member in part), key=lambda member: member.place) == list(placed)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_shards_merge_to_the_run_that_one_machine_makes(held: Memory, tmp_path: Path) -> None:
    """Three shards, merged in any order, are the same run; two of them, or one twice, are refused."""
    placed = choose(CASES)
    runs = [
        measured(tmp_path / str(number), held, shard(placed, number, 3), Echo(), shard=(number, 3))
        for number in (1, 2, 3)
    ]
    whole = measured(tmp_path / "whole", held, placed, Echo())

    assert merge(runs) == merge(runs[::-1]) == whole
    for wrong in (runs[:2], [runs[0], runs[0], runs[1]]):
        with pytest.raises(UsageError, match="not the shards of one run"):
            merge(wrong)
    with pytest.raises(UsageError, match="budget"):
        merge([runs[0], measured(tmp_path / "other", held, placed[:1], Echo(), settings={"budget": "1"})])


def test_progress_says_what_has_begun_and_what_is_done(held: Memory, tmp_path: Path) -> None:
    """Before the first question of a row too; a row that is done already is not mentioned."""
    cases, told = choose(CASES[:2]), []
    folder = RunFolder.begin(tmp_path / "run", manifest(), cases)
    for _ in range(2):
        answer(folder, cases, [ROW], held, lambda *_: Echo(), lambda *told_now: told.append(told_now))
    folder.close()
    assert told == [(ROW.name, 0, 2), (ROW.name, 1, 2), (ROW.name, 2, 2)]


def test_a_prompt_too_long_fails_its_question_only(held: Memory, tmp_path: Path) -> None:
    """A question that overflows the context is recorded as failed, and the run goes on."""

    class Overflowing(Echo):
        def answer(self, question: Question) -> Trace:
            if "stolen" in question.text:
                MeasuredModel(ScriptedModel(["one"])).complete([Request("plan", "", (), "", "", JsonShape({}))])
                raise ContextOverflow("too long", "shorten it")
            return super().answer(question)

    run = measured(tmp_path / "run", held, choose(CASES), Overflowing())
    assert [entry.shown for entry in run.answered if entry.trace.status is Status.FAILED] == [{"plan": 1}]
    assert len(run.answered) == len(CASES)


class Twice:
    """A reasoner that asks the model about what it retrieved, and about what it retrieves for the reply."""

    def __init__(self, held: Memory, model: LanguageModel) -> None:
        self._backbone = FlatBackbone(held.store)
        self._model = model

    def answer(self, question: Question) -> Trace:
        """Answer with the second reply."""
        text = question.text
        for _ in range(2):
            hits = self._backbone.retrieve(Query(text, question.conversations), 2)
            shown = "\n".join(hit.unit.text for hit in hits)
            text = self._model.complete([Request("read", "", (), question.text, shown, JsonShape({}))])[0].text
        return Trace(Status.ANSWERED, "twice", question.text, question.asked, answer=text)


def answered_together(
    path: Path, held: Memory, model: ScriptedModel, at_once: int, *, is_shared: bool = False
) -> list[Answered]:
    """Return what the run has after answering what is left of it, so many at a time; sorted by case."""
    placed = choose(CASES)
    folder = RunFolder.begin(path, manifest(), placed)
    together = Together(model, at_once, is_shared=is_shared)
    told: list[int] = []
    try:
        answer(
            folder, placed, [ROW], held, lambda *_: Twice(held, together),
            lambda _name, number, _of: told.append(number), together.each,
        )  # fmt: skip
    finally:
        folder.close()
        assert told == list(range(told[0], told[0] + len(told))) if told else True
    return sorted(read_run(path).answered, key=lambda answered: answered.case)


def first_line(request: Request) -> str:
    """Reply with the first thing shown."""
    return request.tail.split("\n")[0]


@pytest.fixture(scope="module")
def one_by_one(held: Memory, tmp_path_factory: pytest.TempPathFactory) -> list[Answered]:
    """What a run has that answers one question after another."""
    return answered_together(tmp_path_factory.mktemp("alone"), held, ScriptedModel(first_line), 1)


@pytest.mark.parametrize("is_shared", [False, True])
@pytest.mark.parametrize("at_once", [2, 3, 8])
def test_answers_together_are_those_one_by_one(
    held: Memory, one_by_one: list[Answered], tmp_path: Path, at_once: int, is_shared: bool
) -> None:
    """Over one store, whose parts then serve several threads in turn; only the number of calls is another."""
    model = ScriptedModel(first_line)
    assert answered_together(tmp_path / "run", held, model, at_once, is_shared=is_shared) == one_by_one
    assert len({answered.trace.answer for answered in one_by_one}) > 1
    assert is_shared or model.calls == {2: 6, 3: 4, 8: 2}[at_once]
    assert len(model.seen) == 2 * len(CASES)


@pytest.mark.parametrize("is_shared", [False, True])
@pytest.mark.parametrize("stops_at", [1, 5, 8, 10])
def test_a_run_interrupted_together_goes_on_and_asks_nothing_twice(
    held: Memory, one_by_one: list[Answered], tmp_path: Path, stops_at: int, is_shared: bool
) -> None:
    """Interrupted at any request, the second run has what was done, and asks only about what was not."""

    def interrupted(request: Request) -> str:
        if len(first.seen) >= stops_at:
            raise KeyboardInterrupt
        return first_line(request)

    first, second = ScriptedModel(interrupted), ScriptedModel(first_line)
    with pytest.raises(KeyboardInterrupt):
        answered_together(tmp_path / "run", held, first, 3, is_shared=is_shared)
    kept = {answered.case for answered in read_run(tmp_path / "run").answered}
    whole = answered_together(tmp_path / "run", held, second, 3, is_shared=is_shared)

    assert sorted(request.growing for request in second.seen) == sorted(
        2 * [case.question for case in CASES if case.id not in kept]
    )
    assert whole == one_by_one


def test_a_prompt_too_long_fails_its_question_only_among_several(
    held: Memory, one_by_one: list[Answered], tmp_path: Path
) -> None:
    """The others of the same call are answered as ever."""

    def reply(request: Request) -> str:
        if "stolen" in request.growing:
            raise ContextOverflow("too long", "shorten it")
        return first_line(request)

    answered = answered_together(tmp_path / "run", held, ScriptedModel(reply), 3)
    assert [(each.case, each.trace.failure) for each in answered if each.trace.status is Status.FAILED] == [
        (CASES[1].id, "too long")
    ]
    others = [each for each in one_by_one if each.case != CASES[1].id]
    assert [each for each in answered if each.case != CASES[1].id] == others


def test_plans_of_several_questions_are_made_in_one_call(held: Memory, tmp_path: Path) -> None:
    """The same plans and units as one by one, and each plan once for both backbones."""
    model = ScriptedModel(lambda request: request.growing.split()[-1])
    found = []
    for at_once in (1, 3):
        folder = RunFolder.begin(tmp_path / str(at_once), manifest(backbones=("hybrid", "bm25")), choose(CASES))
        backbones = {name: FlatBackbone(held.store, name) for name in ("hybrid", "bm25")}
        together = Together(model, at_once, is_shared=False)

        def planner(question: Question, together: Together = together) -> list[str]:
            request = Request("decompose", "", (), question.text, "", JsonShape({}))
            return [reply.text for reply in together.complete([request])]

        retrieve(
            folder, choose(CASES), held, backbones, kinds=[QueryKind.MODEL], k=2, planner=planner, each=together.each
        )
        folder.close()
        found.append(sorted(read_run(tmp_path / str(at_once)).retrieved, key=lambda row: (row.backbone, row.case)))
    assert found[0] == found[1]
    assert model.calls == 5 + 2


def test_queries_of_a_plan_are_plain_words() -> None:
    """Brackets, letters and stars of the notation are gone; a case without a plan has no such queries."""
    assert plain_words("(Ana) ordered (x:drink*) at (Momoco:cafe)") == "Ana ordered drink at Momoco"
    assert gold_queries(CASES[0], QueryKind.PLAN) == ("Ana ordered drink",)
    assert gold_queries(CASES[0], QueryKind.PLAN_AND_REFINEMENTS) == ("What did Ana order?", "Ana ordered drink")
    assert gold_queries(CASES[1], QueryKind.PLAN) == ()


def test_samples_are_drawn_alike_everywhere() -> None:
    """The same seed gives the same cases, in the dataset's order; strata keep their shares."""
    many = [
        case.__class__(f"{case.id}-{number}", case.conversation, case.question, case.answer, (), case.category)
        for number in range(20)
        for case in CASES
    ]
    for sample in Sample:
        drawn = choose(many, limit=50, sample=sample, seed=3)
        assert drawn == choose(many, limit=50, sample=sample, seed=3)
        assert [placed.place for placed in drawn] == list(range(50))
        order = [many.index(placed.case) for placed in drawn]
        assert order == sorted(order)
    by_category = [placed.case.category for placed in choose(many, limit=50, seed=1)]
    assert {category: by_category.count(category) for category in "145"} == {"1": 10, "4": 30, "5": 10}
    assert choose(many, limit=50, seed=1) != choose(many, limit=50, seed=2)
    assert [placed.case for placed in choose(many, limit=2, sample=Sample.FIRST)] == many[:2]
    assert {placed.case.category for placed in choose(many, categories={"5"})} == {"5"}


def test_the_estimate_counts_what_is_left() -> None:
    """Calls and time are those of the questions left, from the least to the most."""
    calls = {"echo": (1, 1), "goal-mem": (2, 37)}
    told = estimated({ROW: 10, Row("goal-mem", "hybrid"): 2}, calls, 3.0)
    assert told == "12 questions to ask: 14 to 84 calls, 42 s to 4 min at 3.0 s a call"
    assert estimated({ROW: 1}, calls, 3.0) == "1 questions to ask: 1 calls, about 3 s at 3.0 s a call"
    assert [say_duration(seconds) for seconds in (5, 600, 36000)] == ["5 s", "10 min", "10.0 h"]

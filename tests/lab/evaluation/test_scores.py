"""Every number of one answered question, for traces of every kind."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.config import Settings
from goalmem_cli.lab.evaluation.cases import Case, GoldPlan, GoldStep
from goalmem_cli.lab.evaluation.runs.run import Answered, Verdict
from goalmem_cli.lab.evaluation.summaries.scores import has_ranks, over_all, score, tokens_of
from goalmem_cli.records import Question, Usage
from goalmem_cli.store import Store
from goalmem_cli.testing import HashEmbedder, ScriptedModel, faked
from goalmem_cli.trace import Action, Attempt, Fact, Status, Step, Stop, Trace, as_document, from_document
from goalmem_cli.wiring import build_reasoner
from tests.reasoners.scripting import chat
from tests.render.traces import ANSWERED, ASKED, FAILED, GOAL, QUESTION, SUBGOALS, UNKNOWN

CASE = Case("q1", "momoco-01", QUESTION, "Matcha Powder", ("D2:1", "D3:2"), "4")
USAGE = {"calls", "prompt_tokens", "cached_tokens", "completion_tokens", "seconds", "left_out"}
RECALL = {"recall@10", "recall@20", "recall@40", "recall@60"}
WORDS = {"f1", "token_f1", "mem0_f1", "bleu1", "exact", "exact_strict"}
SEARCH = {"breadth", "depth", "subgoals"}
FORWARD = Trace(
    Status.ANSWERED,
    "direct",
    QUESTION,
    ASKED,
    answer="matcha powder",
    facts=ANSWERED.facts,
    evidence=("F1",),
    actions=(Action("retrieve", queries=(QUESTION,), new_facts=tuple(ANSWERED.facts)), Action("read")),
    stopped=Stop.ONE_ROUND,
    usage=Usage(1, 900, 300, 12, 2.5),
)


def test_tokens_beside_fixed_prompts_by_hand() -> None:
    """All that prompts show, and what is read and written before the answer: nothing if the memory is read once."""
    paper = Answered("q1", "goal-mem", "bm25", FORWARD, {"unify": 800, "answer": 90}, {"unify": 60, "answer": 9}, 0, 99)
    once = Answered("q1", "direct", "bm25", FORWARD, {"read": 850}, {"read": 12}, 0, 862)
    assert tokens_of(replace(paper, shown={"read": 900}, written={"read": 59}))["search_tokens"] == 860.0
    assert "search_tokens" not in tokens_of(replace(paper, last_tokens=None))
    assert tokens_of(paper) == {"shown_tokens": 890.0, "search_tokens": 860.0, "memory_tokens": 0.0}
    assert tokens_of(replace(once, memory_tokens=70)) == {
        "shown_tokens": 850.0, "search_tokens": 0.0, "memory_tokens": 70.0,
    }  # fmt: skip
    for planning, steps, status, searched in (
        ("paper", ("unify", "refine"), Status.UNKNOWN, 150.0), ("paper", ("unify", "answer"), Status.UNKNOWN, 50.0),
        ("paper", ("decompose", "unify"), Status.ANSWERED, 150.0), ("paper", ("unify", "generate"), Status.ANSWERED, 50.0),
        ("together", ("plan_and_prove",), Status.UNKNOWN, 150.0), ("together", ("plan_and_prove",), Status.ANSWERED, 50.0),
    ):  # fmt: skip
        trace = replace(FORWARD, planning=planning, status=status, attempts=(Attempt(1, "", ()),))
        written = {step: 50 // len(steps) for step in steps}
        own = Answered("q1", "goal-mem", "bm25", trace, {steps[0]: 100}, written, 0, 100)
        assert tokens_of(own)["search_tokens"] == searched, (planning, steps, status)
    unasked = Answered("q1", "oracle", "none", replace(FORWARD, usage=Usage()), {}, {}, 0, 0)
    assert set(tokens_of(unasked).values()) == {0.0}
    for shown in (None, {"read": 0}):  # a run made before they were counted, and a server without usage
        assert tokens_of(Answered("q1", "direct", "bm25", FORWARD, shown, {"read": 12})) == {"memory_tokens": 0.0}


def facts(*labels: str, conversation: str = "momoco-01") -> dict[str, Fact]:
    """Return facts numbered from F1 that came from the turns, in order."""
    numbered = enumerate(labels, 1)
    return {f"F{n}": Fact(f"F{n}", f"u{n}", (label,), conversation, "Ben", None, "words") for n, label in numbered}


def verdict(is_right: bool | None, number: int = 1) -> Verdict:
    """Return what a judge said in one pass."""
    return Verdict("q1", "direct", "hybrid", "judge", "standard", number, is_right)


def test_a_forward_answer_by_hand() -> None:
    """An answered question has its words' scores, its evidence, its refusal and its cost, and nothing of a plan."""
    scores = score(CASE, "locomo", FORWARD)
    assert scores == {
        "refused": 0.0, "f1": 1.0, "token_f1": 1.0, "mem0_f1": 1.0, "bleu1": 1.0, "exact": 1.0, "exact_strict": 1.0,
        "recall@10": 1.0, "recall@20": 1.0, "recall@40": 1.0, "recall@60": 1.0,
        "calls": 1.0, "prompt_tokens": 900.0, "cached_tokens": 300.0, "completion_tokens": 12.0, "seconds": 2.5, "left_out": 0.0,
    }  # fmt: skip
    assert all(type(value) is float for value in scores.values())


def test_a_partial_answer_by_hand() -> None:
    """Each score of words goes its own way."""
    scores = score(CASE, "locomo", replace(FORWARD, answer="The matcha powders, powders"))
    assert scores["f1"] == pytest.approx(2 * (2 / 3) * 1 / (2 / 3 + 1))
    assert scores["token_f1"] == pytest.approx(2 * 1 / (3 + 2))  # without the article, and no stems
    assert scores["mem0_f1"] == pytest.approx(2 * 1 / (3 + 2))
    assert scores["bleu1"] == pytest.approx(1 / 5)
    assert scores["exact"] == scores["exact_strict"] == 0.0


def test_a_right_answer_in_other_signs_is_exact_but_not_strictly() -> None:
    """Both are reported, each under its own name."""
    scores = score(CASE, "locomo", replace(FORWARD, answer="The Matcha, powder."))

    assert (scores["exact"], scores["exact_strict"]) == (1.0, 0.0)


def test_goal_mem_says_how_far_it_searched() -> None:
    """Attempts, the deepest round, and the subgoals of the final plan; a plan's quality needs a gold plan."""
    assert set(score(CASE, "locomo", ANSWERED)) == {"refused"} | WORDS | RECALL | USAGE | SEARCH
    scores = score(CASE, "locomo", ANSWERED)
    assert (scores["breadth"], scores["depth"], scores["subgoals"]) == (1.0, 1.0, 2.0)
    assert scores["f1"] == pytest.approx(2 / 3)
    again = Attempt(2, GOAL, SUBGOALS[:1], (Step(0),))
    scores = score(CASE, "locomo", replace(UNKNOWN, attempts=(*ANSWERED.attempts, again)))
    assert (scores["breadth"], scores["depth"], scores["subgoals"]) == (2.0, 1.0, 1.0)


def test_a_gold_plan_adds_the_quality_of_the_reasoning() -> None:
    """Shares and counts of the plan are there for `goal-mem` alone; what is undefined is absent."""
    plan = GoldPlan(GOAL, ("y",), (GoldStep(SUBGOALS[0], ("D2:1",)), GoldStep(SUBGOALS[1], ("D3:2",), {"y": "Matcha"})))
    case = replace(CASE, plan=plan)
    scores = score(case, "locomo", ANSWERED)
    assert [scores[name] for name in ("plan_parsed", "subgoal_match", "grounding_precision", "bindings_right")] == [
        1.0
    ] * 4
    assert (scores["grounding_recall"], scores["stated"], scores["derived"], scores["inferred"]) == (1.0, 1.0, 0.0, 1.0)
    assert "plan_parsed" not in score(case, "locomo", FORWARD)
    failed = score(case, "locomo", FAILED)
    assert (failed["plan_parsed"], failed["subgoal_match"], failed["grounding_recall"]) == (0.0, 0.0, 0.0)
    assert "grounding_precision" not in failed


@pytest.mark.parametrize("trace", [UNKNOWN, FAILED, replace(FORWARD, answer="Unknown.")])
def test_refused_questions_are_scored_as_not_mentioned(trace: Trace) -> None:
    """A refusal of an answerable question is a wrong answer, not a missing one."""
    scores = score(CASE, "locomo", trace)
    assert scores["refused"] == 1.0
    assert [scores[name] for name in sorted(WORDS)] == [0.0] * len(WORDS)
    assert score(replace(CASE, answer="not mentioned by Ben"), "locomo", trace)["f1"] > 0.5


def test_a_failed_question_has_no_depth() -> None:
    """Where no plan was read there was no round and there are no subgoals; the attempt counts."""
    scores = score(CASE, "locomo", FAILED)
    assert scores["breadth"] == 1.0
    assert not {"depth", "subgoals"} & set(scores)
    assert scores["recall@60"] == 0.0


@pytest.mark.parametrize(("trace", "refused"), [(UNKNOWN, 1.0), (FAILED, 0.0), (FORWARD, 0.0)])
def test_unanswerable_questions_are_scored_by_refusal_alone(trace: Trace, refused: float) -> None:
    """Whatever answer, set or evidence the file gives, what counts is whether the question was refused; a failure is no refusal."""
    case = replace(CASE, category="5", is_unanswerable=True, answers=("Matcha",))
    scores = score(case, "locomo", trace)
    assert scores["refused"] == refused
    assert set(scores) - SEARCH == {"refused"} | USAGE


def test_locomos_categories_rule_in_its_formats_only() -> None:
    """Multi-hop compares lists in LoCoMo and REALTALK; elsewhere the same code is just a name."""
    case = replace(CASE, category="1", answer="Matcha, oat milk")
    trace = replace(FORWARD, answer="oat milk, tea")
    assert score(case, "locomo", trace)["f1"] == score(case, "realtalk", trace)["f1"] == 0.5
    assert score(case, "came", trace)["f1"] == pytest.approx(2 / 3)
    assert score(replace(case, category="knowledge-update"), "longmemeval", trace)["f1"] == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="6"):
        score(replace(case, category="6"), "locomo", trace)


def test_without_a_gold_answer_there_are_no_words_to_compare() -> None:
    """An answerable question whose file gives no answer keeps its evidence and its cost."""
    assert set(score(replace(CASE, answer=None), "locomo", FORWARD)) == {"refused"} | RECALL | USAGE


def test_sets_of_answers_are_scored_as_sets() -> None:
    """Where all items must be named, precision, recall and F1 go over items; a refusal names none of them."""
    case = replace(CASE, answers=("matcha", "oat milk", "sugar"))
    scores = score(case, "came", replace(FORWARD, answer="oat milk and matcha"))
    assert (scores["set_precision"], scores["set_recall"], scores["set_f1"]) == pytest.approx((1.0, 2 / 3, 0.8))
    assert score(case, "came", UNKNOWN)["set_f1"] == 0.0


def test_the_judges_verdicts_are_averaged() -> None:
    """Unreadable verdicts are left out; without a readable one the question is unjudged, not wrong."""
    some = [verdict(True), verdict(False, 2), verdict(None, 3), verdict(True, 4)]
    assert score(CASE, "locomo", FORWARD, some)["judge"] == pytest.approx(2 / 3)
    assert score(CASE, "locomo", FORWARD, [verdict(False)])["judge"] == 0.0
    assert "judge" not in score(CASE, "locomo", FORWARD, [verdict(None)])
    assert "judge" in score(replace(CASE, is_unanswerable=True), "longmemeval", UNKNOWN, [verdict(True)])


def test_evidence_is_found_by_depth() -> None:
    """The share of the evidence in the first k facts, whose numbers order them, F10 after F9."""
    labels = [f"D1:{n}" for n in range(1, 61)]
    numbered = facts(*labels)
    case = replace(CASE, evidence=("D1:10", "D1:11", "D1:35", "D9:9"))
    wanted = {"recall@10": 0.25, "recall@20": 0.5, "recall@40": 0.75, "recall@60": 0.75}
    shuffled = dict(sorted(numbered.items()))
    for order in (numbered, shuffled):
        scores = score(case, "locomo", replace(FORWARD, facts=order))
        assert {name: scores[name] for name in RECALL} == wanted


WALKS = [f"Ana: Walk {n} with the dog along the river took us to bridge {n}, and Ben was there." for n in range(40)]
SALE = Case("q2", "chat", "To whom did Ben sell his blue bicycle?", "Cem", ("D1:41",), "4")


@pytest.mark.parametrize("reasoner", ["direct", "reformulate", "tiser", "goal-mem"])
def test_rank_decides_where_full_prompts_number_facts_by_time(tmp_path: Path, reasoner: str) -> None:
    """The best hit of sixty counts among the first ten, though it was said last and has the last number."""
    store = Store(tmp_path / "store", HashEmbedder(), announce=lambda _: None)
    store.add_turns(chat(*WALKS, "Ben: I sold my blue bicycle to Cem."))
    loaded = faked(ScriptedModel(lambda _: "no reply that could be read")).model(Settings(tmp_path))
    settings = Settings(tmp_path / "store", reasoner=reasoner, backbone="hybrid")
    trace = build_reasoner(settings, store, loaded).answer(Question(SALE.question, ASKED))

    (evidence,) = (fact for fact in trace.facts.values() if "D1:41" in fact.turns)
    assert int(evidence.number.removeprefix("F")) > 10 > evidence.rank == 1
    assert sorted(fact.rank for fact in trace.facts.values()) == list(range(1, len(trace.facts) + 1))
    assert score(SALE, "locomo", trace)["recall@10"] == 1.0


@pytest.mark.parametrize(("profile", "is_known"), [("full", False), ("compact", True), (None, True)])
def test_facts_without_a_rank_are_ranked_by_number_where_that_is_their_rank(
    profile: str | None, is_known: bool
) -> None:
    """Traces of before have none: with the compact prompts the numbers are the ranks, with the full ones they are not."""
    settings = {} if profile is None else {"profile": profile}
    assert has_ranks(FORWARD, settings) is is_known
    assert RECALL.isdisjoint(score(CASE, "locomo", FORWARD, is_ranked=False))
    ranked = {name: replace(fact, rank=1) for name, fact in FORWARD.facts.items()}
    assert has_ranks(replace(FORWARD, facts=ranked), settings)


def test_hits_for_which_the_tokens_had_no_room_are_counted() -> None:
    """Those beyond the units are not among them; an older trace does not tell the two apart."""
    said = Action("retrieve", queries=(QUESTION,), skipped=12, too_long=9)
    assert score(CASE, "locomo", replace(FORWARD, actions=(said, said, Action("read"))))["left_out"] == 18.0
    old = replace(said, too_long=None)
    assert "left_out" not in score(CASE, "locomo", replace(FORWARD, actions=(said, old)))
    rounds = Attempt(1, GOAL, SUBGOALS, (Step(0, skipped=3), Step(1, skipped=4)))
    assert score(CASE, "locomo", replace(ANSWERED, attempts=(rounds, rounds)))["left_out"] == 14.0


def test_evidence_is_a_turn_of_the_questions_conversation() -> None:
    """A label of another conversation finds nothing; passages of one turn find it once; repeats do not count twice."""
    case = replace(CASE, evidence=("D1:1", "D1:2", "D1:1"))
    assert (
        score(case, "locomo", replace(FORWARD, facts=facts("D1:1", "D1:2", conversation="other")))["recall@10"] == 0.0
    )
    assert score(case, "locomo", replace(FORWARD, facts=facts("D1:1", "D1:1")))["recall@10"] == 0.5
    of_two = {"F1": replace(facts("D1:1")["F1"], turns=("D1:1", "D1:2"))}
    assert score(case, "locomo", replace(FORWARD, facts=of_two))["recall@10"] == 1.0


@pytest.mark.parametrize("changes", [{"evidence": ()}, {"is_unanswerable": True}])
def test_questions_without_evidence_have_no_recall(changes: dict[str, Any]) -> None:
    """Nothing can be found where nothing is named, nor where nothing answers."""
    assert not RECALL & set(score(replace(CASE, **changes), "locomo", FORWARD))


@pytest.mark.parametrize("trace", [ANSWERED, UNKNOWN, FAILED, FORWARD])
def test_a_stored_trace_scores_the_same(trace: Trace) -> None:
    """A finished run is scored again from what it wrote."""
    assert score(CASE, "locomo", from_document(as_document(trace))) == score(CASE, "locomo", trace)


@pytest.mark.parametrize(
    ("is_unanswerable", "scores", "is_judged", "expected"),
    [
        (True, {"refused": 1.0}, False, {"all_f1": 1.0, "all_bleu1": 1.0}),
        (True, {"refused": 0.0}, True, {"all_f1": 0.0, "all_bleu1": 0.0, "all_judge": 0.0}),
        (True, {"refused": 1.0, "judge": 0.5}, True, {"all_f1": 1.0, "all_bleu1": 1.0, "all_judge": 0.5}),
        (False, {"refused": 1.0, "token_f1": 0.0, "bleu1": 0.0, "judge": 0.0}, True,
         {"all_f1": 0.0, "all_bleu1": 0.0, "all_judge": 0.0}),
        (False, {"refused": 0.0, "token_f1": 0.4, "bleu1": 0.2, "f1": 0.9}, True, {"all_f1": 0.4, "all_bleu1": 0.2}),
        (False, {"refused": 0.0}, True, {}),
    ],
)  # fmt: skip
def test_over_all_questions_a_refusal_counts(
    is_unanswerable: bool, scores: dict[str, float], is_judged: bool, expected: dict[str, float]
) -> None:
    """It is right where there is no answer, wrong elsewhere; a judge's own mark of it goes before."""
    case = replace(CASE, is_unanswerable=is_unanswerable)
    assert over_all(case, scores, is_judged=is_judged) == expected

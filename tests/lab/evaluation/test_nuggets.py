"""BEAM's scoring: a mark for each nugget, the order of events, and what a run makes of them (arXiv 2510.27246)."""

from dataclasses import replace

import pytest

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.metrics.ordering import order_score
from goalmem_cli.lab.evaluation.runs.judge import COUNT, NUGGET, ORDER, Judge, Paper, Style, steps_of
from goalmem_cli.lab.evaluation.runs.run import Verdict
from goalmem_cli.lab.evaluation.summaries.scores import score
from goalmem_cli.lab.evaluation.summaries.summary import accuracies
from goalmem_cli.ports import LanguageModel, Request
from goalmem_cli.prompts import Profile, PromptBook
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.trace import Side
from tests.lab.evaluation.test_judge import Overflowing, answer

CASE = Case(
    "q1", "c1", "What is left to do on the boat?", "paint and ropes", (), "information_extraction",
    nuggets=("should state: paint", 'should state: "ropes"'),
)  # fmt: skip
EVENTS = ("sanding", "buying paint", "renting a berth")
ORDERED = Case("q2", "c1", "In which order?", None, (), "event_ordering", nuggets=EVENTS)


def judge_of(model: LanguageModel, style: Style = "standard", profile: Profile = "full") -> Judge:
    """A judge of BEAM's questions."""
    steps = steps_of("beam", style)
    return Judge(model, PromptBook.load(None, profile, steps), "big", style, "beam", "cd34")


def marked(judge: Judge, case: Case, text: str | None = "paint", numbers: tuple[int, ...] = (1,)) -> list[Verdict]:
    """What the judge says of one answer."""
    (verdicts,) = judge.verdicts([Paper(case, answer(text, case.id), numbers)])
    return verdicts


def reply_of(profile: Profile, mark: str) -> str:
    """A reply that gives the mark."""
    return f"verdict: {mark}" if profile == "compact" else f'{{"why": "so it is", "verdict": "{mark}"}}'


@pytest.mark.parametrize("profile", ["full", "compact"])
def test_each_nugget_is_marked_by_itself_and_the_answer_has_the_mean(profile: Profile) -> None:
    """Each request shows one nugget, in quotes; the answer's part of the prompt is the same for all of them."""
    model = ScriptedModel([reply_of(profile, "1"), reply_of(profile, "0.5")])
    (verdict,) = marked(judge_of(model, profile=profile), CASE)

    assert (verdict.score, verdict.is_right, verdict.mark) == (0.75, True, 0.75)
    assert [request.step for request in model.seen] == [NUGGET, NUGGET]
    assert model.seen[0].growing == model.seen[1].growing
    assert 'Demand: "should state: paint"' in model.seen[0].tail
    assert 'Demand: "should state: \\"ropes\\""' in model.seen[1].tail
    assert verdict.usage.calls == 2


def test_an_even_pass_shows_the_demand_before_the_answer() -> None:
    """As with other judges, a second pass differs in the order alone."""
    model = ScriptedModel([reply_of("full", "1")] * 4)
    marked(judge_of(model), CASE, numbers=(1, 2))

    orders = [request.growing.find("Demand:") < 0 for request in model.seen]
    assert orders == [True, True, False, False]


@pytest.mark.parametrize(("style", "expected"), [("standard", 0.5), ("strict", 0.0)])
def test_in_the_strict_style_half_a_nugget_counts_for_nothing(style: Style, expected: float) -> None:
    """The authors' own code cuts marks to whole numbers for most abilities."""
    (verdict,) = marked(judge_of(ScriptedModel([reply_of("full", "0.5")] * 2), style), CASE)

    assert (verdict.score, verdict.is_right) == (expected, expected >= 0.5)


def test_one_nugget_that_cannot_be_read_leaves_the_answer_without_a_mark() -> None:
    """It is asked once more, alone; the other nugget's mark is kept, and not asked for again."""
    model = ScriptedModel([reply_of("full", "1"), "no idea", "no idea"])
    (verdict,) = marked(judge_of(model), CASE)

    assert (verdict.score, verdict.is_right, verdict.mark) == (None, None, None)
    assert ["ropes" in request.tail for request in model.seen] == [False, True, True]
    assert "could not be used" in model.seen[2].tail


def test_a_prompt_that_is_too_long_leaves_no_mark() -> None:
    """Its reason is kept."""
    (verdict,) = marked(judge_of(Overflowing()), CASE)

    assert verdict.mark is None
    assert verdict.reply


def test_a_refusal_has_no_nugget_and_nothing_is_asked() -> None:
    """Of a question that cannot be answered, refusing is scored elsewhere."""
    model = ScriptedModel([])
    (verdict,) = marked(judge_of(model), CASE, None)

    assert (verdict.is_right, verdict.mark) == (False, 0.0)
    assert marked(judge_of(model), Case("q3", "c1", "Q?", "A", (), "abstention", is_unanswerable=True)) == []


def test_both_sides_of_a_conflict_are_an_answer() -> None:
    """Questions about contradictions want both sides, and what would settle it."""
    case, given = replace(CASE, category="contradiction_resolution"), answer(None, CASE.id)
    sides = (Side("never wrote a route", ("F1",)), Side("wrote the login route", ("F2",)))
    model = ScriptedModel([reply_of("full", "1"), reply_of("full", "0")])
    ((verdict,),) = judge_of(model).verdicts(
        [Paper(case, replace(given, trace=replace(given.trace, conflict=sides)), (1,))]
    )

    assert verdict.score == 0.5
    assert "wrote the login route (); what would settle it: " in model.seen[0].growing
    assert not judge_of(model).is_asked(Paper(CASE, replace(given, trace=replace(given.trace, conflict=sides)), (1,)))


@pytest.mark.parametrize("profile", ["full", "compact"])
def test_events_are_scored_by_their_order(profile: Profile) -> None:
    """The judge says which event each item is; Kendall's tau-b does the rest."""
    reply = "order: 2\norder: 1\norder: 3" if profile == "compact" else '{"order": ["2", "1", "3"]}'
    model = ScriptedModel([reply])
    (verdict,) = marked(judge_of(model, profile=profile), ORDERED, "paint, sanding, berth")

    assert verdict.score == pytest.approx(2 / 3)
    assert model.seen[0].step == ORDER
    assert '2. "buying paint"' in model.seen[0].growing


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ([1, 2, 3], 1.0),
        ([3, 2, 1], 0.0),
        ([2, 1, 3], 2 / 3),
        ([1, 1, 2, 3], 1.0),
        ([], 0.0),
        ([0, 0], 0.0),
    ],
)
def test_the_score_of_an_order(order: list[int], expected: float) -> None:
    """Right is 1, reversed 0, and an answer without any of the events has nothing."""
    assert order_score(order, 3) == pytest.approx(expected)


def test_what_is_missing_or_no_event_makes_an_order_worse() -> None:
    """Both are ties behind the list that lacks them, as the authors count them: at its end they change nothing."""
    assert order_score([1, 3], 3) == pytest.approx(2 / 3)
    assert order_score([0, 0, 1, 2, 3], 3) < order_score([0, 1, 2, 3], 3) < 1
    assert order_score([1, 2], 3) == order_score([1, 2, 3, 0], 3) == 1
    assert order_score([1], 1) == 1


def test_scores_and_rows_have_the_mean_of_marks() -> None:
    """`judge` is the mean mark, not the share of answers that pass."""
    answered = answer("paint")
    verdicts = [Verdict("q1", "direct", "hybrid", "big", "standard", 1, True, score=0.75)]

    assert score(CASE, "beam", answered.trace, verdicts)["judge"] == 0.75
    assert accuracies(verdicts) == {"q1": 0.75}
    assert accuracies([Verdict("q1", "direct", "hybrid", "big", "standard", 1, True)]) == {"q1": 1.0}


def test_a_number_beyond_the_events_is_asked_for_again() -> None:
    """The reply names an event that is not listed."""

    def reply(request: Request) -> str:
        return '{"order": ["1", "2"]}' if "could not" in request.tail else '{"order": ["9"]}'

    (verdict,) = marked(judge_of(ScriptedModel(reply)), ORDERED)

    assert verdict.score is not None
    assert verdict.score > 0.5


SET = Case("q3", "c1", "Which hotels?", "Apollo; Alfama; Casa", (), "type_4", answers=("Apollo", "Alfama", "Casa"))


@pytest.mark.parametrize("profile", ["full", "compact"])
def test_the_right_items_of_an_answer_are_counted(profile: Profile) -> None:
    """For CAME-Bench, as STITCH's Listing 12 does, beside the rules; single answers are marked whole."""
    reply = "order: 2\norder: 1\norder: 0" if profile == "compact" else '{"order": ["2", "1", "0", "1"]}'
    model = ScriptedModel([reply, reply_of(profile, "right")])
    judge = Judge(model, PromptBook.load(None, profile, steps_of("came", "standard")), "big", "standard", "came")
    (verdict,) = marked(judge, SET, "the Alfama, the Apollo and the Ritz")
    (single,) = marked(judge, replace(SET, id="q4", answers=("Apollo",)), "the Apollo")

    named = 3 if profile == "compact" else 4
    assert verdict.score == pytest.approx(4 / (named + 3))
    assert verdict.precision == 2 / named
    assert [request.step for request in model.seen] == [COUNT, "judge"]
    scores = score(SET, "came", answer("Apollo", "q3").trace, [verdict])
    assert (scores["judge"], scores["judge_precision"]) == (verdict.score, verdict.precision)
    assert scores["set_precision"] == 1.0
    assert score(SET, "came", answer("Apollo", "q4").trace, [single])["judge_precision"] == 1.0

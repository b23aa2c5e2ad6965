"""A question about now is not answered by a fact that a later one replaces; one about the past may be."""

from pathlib import Path

import pytest

from goalmem_cli.backbones.flat import FlatBackbone
from goalmem_cli.backbones.now.holding import Holding
from goalmem_cli.ports import Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.direct import STEPS, Direct
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.reasoners.inquiry import Budget, Tools
from goalmem_cli.reasoners.showing import lines_shown
from goalmem_cli.records import Question
from goalmem_cli.store import Store
from goalmem_cli.testing import HashEmbedder, Reply, ScriptedModel
from goalmem_cli.trace import Status, Trace
from tests.reasoners.scripting import (
    COMPACT,
    FULL,
    MOMENT,
    TOGETHER,
    answered,
    chat,
    claims,
    grounds,
    plan,
    proved,
    refusals,
    unified,
)

LEEDS, YORK = "We moved to Leeds in February.", "Back to York since June."
LIVES = plan("(Ana) lives in (x:city)", "(Ana) lives in (x:city)")
IN_LEEDS = plan("(Ana) lives in (Leeds)", "(Ana) lives in (Leeds)", answer=())


def backbone(folder: Path) -> Holding:
    """Return a backbone over a store in which Ana moved to Leeds and back."""
    store = Store(folder / "store", HashEmbedder(), announce=lambda _: None)
    store.add_turns(chat(f"Ana: {LEEDS}", "Ben: How is Leeds?", "--", f"Ana: {YORK}", "Ben: Welcome home then."))
    return Holding(FlatBackbone(store), store)


def asked(folder: Path, question: str, *replies: Reply) -> Trace:
    """Return the trace of a question, answered from scripted replies."""
    engine = GoalMem(backbone(folder), ScriptedModel(replies), TOGETHER, Limits(max_breadth=1), planning="together")
    return engine.answer(Question(question, MOMENT))


@pytest.mark.parametrize(
    "question", ["Where does Ana live now?", "Where does Ana live?", "Which city does Ana live in?"]
)
def test_a_fact_that_a_later_one_replaces_grounds_nothing_of_now(tmp_path: Path, question: str) -> None:
    """The reason names the later fact and has its words; the later one grounds it, and says what it replaces."""
    trace = asked(
        tmp_path, question,
        proved(claims(1, "moved to Leeds", x="Leeds"), plan=LIVES, status="settled", wording="Leeds"),
        proved(claims(1, "Back to York", x="York"), status="settled", wording="York"),
    )  # fmt: skip
    number = {fact.text: number for number, fact in trace.facts.items()}
    assert refusals(trace) == [f"superseded now: {number[YORK]} was said later: {YORK}"]
    assert trace.answer == "York"
    (grounded,) = trace.attempts[0].steps[1].grounded
    assert f"supersedes {number[LEEDS]}" in grounded.notes
    later = trace.facts[number[LEEDS]].moved_on
    assert later is not None
    assert later.text == YORK


@pytest.mark.parametrize("own_checks", [True, False])
def test_algorithm_1_knows_nothing_of_what_a_later_fact_replaces(tmp_path: Path, *, own_checks: bool) -> None:
    """Without the engine's own checks the replaced fact grounds a question of now, as any that entails it does."""
    words: list[Reply] = [LIVES, unified(grounds(1, "moved to Leeds", x="Leeds")), answered("Leeds")]
    limits = Limits(max_breadth=1, max_depth=0, own_checks=own_checks)
    engine = GoalMem(backbone(tmp_path), ScriptedModel(words), FULL, limits, planning="paper")
    trace = engine.answer(Question("Where does Ana live now?", MOMENT))
    assert trace.answer == (None if own_checks else "Leeds")
    assert any("superseded now" in why for why in refusals(trace)) is own_checks


@pytest.mark.parametrize("cited", [(LEEDS,), (LEEDS, YORK)])
def test_a_small_model_reads_again_without_what_is_replaced(tmp_path: Path, cited: tuple[str, ...]) -> None:
    """It takes the old value though a later one is shown beside it. Then only the later fact is shown."""
    shown: list[str] = []

    def reply(request: Request) -> str:
        shown.append(request.growing)
        is_old = LEEDS in request.growing
        lines, wanted = lines_shown(request.growing), cited if is_old else (YORK,)
        facts = ", ".join(line.number for line in lines if any(map(line.says, wanted)))
        return f"answer: {'Leeds' if is_old else 'York'}\nfacts: {facts}"

    engine = GoalMem(backbone(tmp_path), ScriptedModel(reply), COMPACT, Limits(max_breadth=1), planning="stepwise")
    trace = engine.answer(Question("Which city does Ana live in?", MOMENT))
    assert (trace.answer, [LEEDS in each for each in shown]) == ("York", [True, False])
    assert [why.partition(":")[0] for why in refusals(trace)] == ["superseded now"]


@pytest.mark.parametrize(
    ("question", "old", "new", "was", "now"),
    [
        ("What time does the library open?", "Ana: The library opens at 9.", "Ana: The library opens at 10 now.", "9", "10"),
        ("On which day is choir?", "Ana: Choir is on Tuesday.", "Ana: Choir is on Thursday now.", "Tuesday", "Thursday"),
        ("Who has the spare key?", "Ines: I have the spare key.", "Ines: I gave the spare key to Dov.", "Ines", "Dov"),
        ("How much are the dues?", "Ana: The dues are 40.", "Ana: From now on the dues are 45.", "40", "45"),
    ],
)  # fmt: skip
def test_times_and_holders_are_replaced_too(
    tmp_path: Path, question: str, old: str, new: str, was: str, now: str
) -> None:
    """A small model reads the old hour, day or holder, and is asked again without that turn."""

    def reply(request: Request) -> str:
        lines, text = lines_shown(request.growing), old.partition(": ")[2]
        told = (text, was) if text in request.growing else (new.partition(": ")[2], now)
        return f"answer: {told[1]}\nfacts: {', '.join(line.number for line in lines if line.says(told[0]))}"

    store = Store(tmp_path / "store", HashEmbedder(), announce=lambda _: None)
    store.add_turns(chat(old, "Ben: Good.", "--", new, "Ben: Fine."))
    found = Holding(FlatBackbone(store), store)
    engine = GoalMem(found, ScriptedModel(reply), COMPACT, Limits(max_breadth=1), planning="stepwise")
    trace = engine.answer(Question(question, MOMENT))
    assert (trace.answer, [why.partition(":")[0] for why in refusals(trace)]) == (now, ["superseded now"])


@pytest.mark.parametrize(
    ("told", "who"),
    [
        ("I gave the spare key to Dov.", "Dov"),
        ("We've just handed the spare key over to Bea this morning!", "Bea"),
        ("I lent the spare key to Dov. He gave it back on Monday.", "Ines"),
        ("I lent the spare key to Dov and got it back.", "Ines"),
        ("I gave the spare key to the bike shed to Dov.", "Ines"),
        ("I gave the spare key ring to Dov.", "Ines"),
        ("I gave the spare key to Dov and Bea.", "Ines"),
        ("Dov gave me the spare key.", "Ines"),
        ("I never gave the spare key to Dov.", "Ines"),
        ("I got the spare key back from Dov.", "Ines"),
    ],
)
def test_who_gave_a_thing_away_does_not_have_it(tmp_path: Path, told: str, who: str) -> None:
    """A small model names the one who speaks, whatever he says; the engine names who got the thing."""

    def reply(request: Request) -> str:
        return f"answer: Ines\nfacts: {', '.join(one.number for one in lines_shown(request.growing) if one.says(told))}"

    store = Store(tmp_path / "store", HashEmbedder(), announce=lambda _: None)
    store.add_turns(chat(f"Ines: {told}", "Ben: Good."))
    found = Holding(FlatBackbone(store), store)
    engine = GoalMem(found, ScriptedModel(reply), COMPACT, Limits(max_breadth=1), planning="stepwise")
    assert engine.answer(Question("Who has the spare key?", MOMENT)).answer == who


def test_a_question_about_then_may_rest_on_it(tmp_path: Path) -> None:
    """The same fact, and the same reply."""
    told = plan("(Ana) lived in (x:city)", "(Ana) lived in (x:city)")
    reply = proved(claims(1, "moved to Leeds", x="Leeds"), plan=told, status="settled", wording="Leeds")
    trace = asked(tmp_path, "Where did Ana live in March?", reply)
    assert (trace.answer, refusals(trace)) == ("Leeds", [])


def test_yes_and_no_rest_on_what_holds(tmp_path: Path) -> None:
    """ "Still in Leeds" is not so because she moved there once, and is denied by the later fact."""
    yes = proved(claims(1, "moved to Leeds"), plan=IN_LEEDS, status="settled", wording="yes")
    no = proved(claims(1, "Back to York", verdict="contradicted"), status="settled", wording="no")
    trace = asked(tmp_path, "Does Ana still live in Leeds?", yes, no)
    assert (trace.status, trace.answer) == (Status.ANSWERED, "no")
    assert [why.partition(":")[0] for why in refusals(trace)] == ["superseded now"]


def test_other_reasoners_see_what_holds_first(tmp_path: Path) -> None:
    """One that only reads the facts has them from the same place."""
    seen: list[str] = []

    def reply(request: Request) -> str:
        seen.append(request.growing)
        return "York"

    book = PromptBook.load(None, "compact", STEPS)
    Direct(Tools(backbone(tmp_path), ScriptedModel(reply), book, Budget(2, 1000), "m")).answer(
        Question("Where does Ana live now?", MOMENT)
    )
    assert f"F1. Ana: {YORK}" in seen[0]
    assert f"F2. Ana: {LEEDS}" in seen[0]

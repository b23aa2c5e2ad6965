"""Which prover a question gets: by its name, or by the prompts that the model has."""

import pytest

from goalmem_cli.errors import UsageError
from goalmem_cli.prompts import Profile, PromptBook
from goalmem_cli.reasoners.direct import STEPS, Direct
from goalmem_cli.reasoners.goal_mem import PLANNINGS, GoalMem, Limits, Planning, calls_of, chosen_planning, steps_of
from goalmem_cli.reasoners.inquiry import Tools
from goalmem_cli.reasoners.prompt_texts import AsAsked
from goalmem_cli.records import Question
from goalmem_cli.testing import ListBackbone, Reply, ScriptedModel
from tests.reasoners.scripting import (
    COMPACT,
    FULL,
    MOMENT,
    TOGETHER,
    answered,
    ask,
    ask_together,
    chat,
    claims,
    grounds,
    plan,
    proved,
    unified,
)
from tests.reasoners.test_stepwise import read, run


@pytest.mark.parametrize(
    ("wanted", "profile", "planning"),
    [
        (None, "full", "together"),
        (None, "compact", "stepwise"),
        ("together", "full", "together"),
        ("paper", "full", "paper"),
        ("stepwise", "compact", "stepwise"),
        ("seen", "full", "together"),
        ("blind", "full", "paper"),
        ("blind", "compact", "stepwise"),
    ],
)
def test_a_prover_is_chosen_by_name_or_prompts(wanted: str | None, profile: Profile, planning: str) -> None:
    """The names of before are known; small models had no other planning than blind."""
    assert chosen_planning(wanted, profile) == planning


@pytest.mark.parametrize(
    ("wanted", "profile", "words"),
    [
        ("together", "compact", "know no planning together"),
        ("seen", "compact", "know no planning seen"),
        ("paper", "compact", "know no planning paper"),
        ("stepwise", "full", "know no planning stepwise"),
        ("nonsense", "full", "there is no planning 'nonsense'"),
    ],
)
def test_what_the_prompts_do_not_know_is_said(wanted: str, profile: Profile, words: str) -> None:
    """With what to choose instead."""
    with pytest.raises(UsageError, match=words) as raised:
        chosen_planning(wanted, profile)
    assert raised.value.hint


@pytest.mark.parametrize("planning", PLANNINGS)
def test_each_prover_has_the_prompts_of_its_steps(planning: str) -> None:
    """In the profile that it is for."""
    profile: Profile = "compact" if planning == "stepwise" else "full"
    named = chosen_planning(planning, profile)
    least, most = calls_of(named, 3, 5)

    assert PromptBook.load(None, profile, steps_of(named)).prompts.keys() == set(steps_of(named))
    assert 1 <= least < most


READING = PromptBook.load(None, "compact", STEPS)
TENT = plan("the tent is in (x:place)", "the tent is in (x:place)")
READ = "answer: my garage\nfacts: F1"


@pytest.mark.parametrize(
    ("asker", "answer"), [(None, "Mira's garage"), ("Zoe", "Mira's garage"), ("Mira", "your garage")]
)
@pytest.mark.parametrize(
    ("planning", "replies"),
    [
        ("together", [proved(claims(1, "my garage", x="my garage"), plan=TENT, status="settled", wording="my garage")]),
        ("paper", [TENT, unified(grounds(1, "my garage", x="my garage")), answered("my garage")]),
        ("stepwise", [READ] * 2),
        (None, [READ]),
    ],
)
def test_every_way_to_answer_names_whose_it_is(
    planning: Planning | None, replies: list[Reply], asker: str | None, answer: str
) -> None:
    """Without a planning, `direct` reads. The proof keeps the words of the fact."""
    book = {"together": TOGETHER, "paper": FULL, "stepwise": COMPACT}.get(planning or "", READING)
    backbone, model = ListBackbone(chat("Mira: The tent is in my garage."), least=0), ScriptedModel(replies)
    engine = GoalMem(backbone, model, book, Limits(), planning=planning) if planning else None
    trace = AsAsked(engine or Direct(Tools(backbone, model, book))).answer(
        Question("Where is the tent?", MOMENT, asker)
    )
    assert trace.answer == answer


TALK = chat("Ana: Who keeps hens here?", "Ben: I keep hens, nine of them.", "Ana: Who drives on Sunday?", "Ben: Sure.")


def answer(planning: str, question: str, goal: str, said: str, cited: str) -> str | None:
    """Return the answer of a prover whose model always names somebody, and cites the fact with these words."""
    if planning == "stepwise":
        return run(read(said, cited), question, TALK)[0].answer
    replies: list[Reply] = [plan(goal, goal), unified(grounds(1, cited, x=said)), answered(said)]
    if planning == "together":
        replies = [proved(claims(1, cited, x=said), plan=plan(goal, goal), status="settled", wording=said)]
    limits = Limits(max_breadth=1, max_depth=0)
    return (ask if planning == "paper" else ask_together)(TALK, question, *replies, limits=limits)[0].answer


@pytest.mark.parametrize("planning", PLANNINGS)
def test_no_prover_answers_with_a_pronoun_or_with_who_asked_it(planning: str) -> None:
    """Whatever the model says: the engine puts the speaker in place of "I", and refuses the others."""
    hens, drives = (
        ("Who keeps hens?", "(x:person) keeps hens"),
        ("Who drives on Sunday?", "(x:person) drives on Sunday"),
    )

    assert {said: answer(planning, *hens, said, "nine of them") for said in ("I", "me", "Ben", "we", "he", "they")} == {
        "I": "Ben", "me": "Ben", "Ben": "Ben", "we": None, "he": None, "they": None,
    }  # fmt: skip
    assert answer(planning, *drives, "Ana", "on Sunday") is None
    assert answer(planning, *drives, "I", "on Sunday") is None
    assert answer(planning, *hens, "Ana", "keeps hens here") is None

"""The paper's running examples and the six questions of its Table 6, over conversations of our own wording."""

from __future__ import annotations

from goalmem_cli.logic.support import Support
from goalmem_cli.reasoners.goal_mem import Limits
from goalmem_cli.trace import Status
from tests.reasoners.scripting import STOP, answered, ask, chat, grounds, plan, refined, unified


def test_running_example_1_which_drink() -> None:
    """A direct substitution settles the goal."""
    turns = chat("Alice: At cafe Momoco I ordered the Kyoto Latte, as always.", "Ben: Good choice.")
    goal = "(x:drink) ordered by (Alice:human) at (Momoco:cafe)"
    trace, _ = ask(
        turns, "Which drink did I order at cafe Momoco?", plan(goal, goal),
        unified(grounds(1, "Kyoto Latte", x="Kyoto Latte")), answered("Kyoto Latte"), asker="Alice",
    )  # fmt: skip

    assert trace.answer == "Kyoto Latte"


def test_running_example_2_recommend_a_drink() -> None:
    """The cafe of last week must be known before the drink served there can be; an alias joins the flavours."""
    turns = chat(
        "Alice: Honestly, my favourite flavour is matcha.", "--",
        "Alice: Yesterday I visited Momoco, the cafe by the canal.", "--",
        "Ben: Momoco advertises a drink called Kyoto Latte, it contains matcha powder.",
    )  # fmt: skip
    trace, _ = ask(
        turns,
        "I like the cafe I went to last week, what drink should I try this time?",
        plan(
            "Recommend (x:drink) to (Alice) from the menu of the cafe she went to last week",
            "(Alice) likes (y:flavour)", "(x:drink) contains (y:flavour)", "(x:drink) is served in (z:cafe visited last week)",
        ),
        unified(
            grounds(1, "favourite", y="matcha"), grounds(2, "contains", x="Kyoto Latte", y="matcha powder"),
            unresolved={3: "the cafe visited last week is unknown"},
        ),
        refined((3, "(Alice) visited (z:cafe) last week", "Alice visited cafe")),
        unified(grounds(4, "by the canal", z="Momoco"), grounds(3, "advertises", x="Kyoto Latte", z="Momoco")),
        answered("Kyoto Latte"),
        asker="Alice",
    )  # fmt: skip

    assert trace.answer == "Kyoto Latte"
    assert trace.substitution["z"] == ("Momoco",)
    assert trace.attempts[0].steps[0].refined[0].of == 2
    assert len(trace.evidence) == 3


def test_table_6_state_of_the_shelter() -> None:
    """The type asks for a state: the step from town to state is the model's, and is shown as inferred."""
    turns = chat("James: The puppy I adopted comes from a shelter in Stamford.")
    trace, _ = ask(
        turns,
        "In which state is the shelter from which James adopted the puppy?",
        plan("the shelter of the puppy of (James) is in (x:state)", "(James) adopted a puppy from a shelter in (y:town)", "(y:town) is in (x:state)"),
        unified(grounds(1, "shelter", y="Stamford"), grounds(2, "Stamford", y="Stamford", x="Connecticut")),
        answered("Connecticut"),
    )  # fmt: skip

    assert trace.answer == "Connecticut"
    assert trace.attempts[0].steps[0].grounded[1].support == {"y": Support.STATED, "x": Support.INFERRED}


def test_table_6_game_of_the_april_tournament() -> None:
    """Refinement finds the game that was played at that time; another game is not taken."""
    turns = chat(
        "James: My online tournament in April went badly.", "John: Pity!", "--",
        "James: In Apex Legends my squad lost the tournament in round one, that was April.", "--",
        "James: Civilization VI kept me up all night.",
    )  # fmt: skip
    game = "(James) played (x:game) in the online gaming tournament in April"
    trace, _ = ask(
        turns, "What game was James playing in the online gaming tournament in April 2022?", plan(game, game),
        unified(unresolved={1: "no game is named for the tournament"}),
        refined((1, "(James) lost with his squad in (x:game)", "squad lost round")),
        unified(grounds(2, "Apex", x="Apex Legends"), grounds(1, "went badly", "Apex", x="Apex Legends")),
        answered("Apex Legends"),
        limits=Limits(budget=4),
    )  # fmt: skip

    assert trace.answer == "Apex Legends"
    assert trace.attempts[0].steps[1].depth == 1


def test_table_6_favourite_game_with_the_partner() -> None:
    """Among several games the one that entails the favourite is bound; naming both is a conflict."""
    turns = chat(
        "Jolene: We played Detroit together.", "Jolene: It Takes Two is what I love playing with my partner most."
    )
    game = "the favourite game of (Jolene) and her partner is (x:game)"
    right, _ = ask(
        turns,
        "What is Jolene's favourite game?",
        plan(game, game),
        unified(grounds(1, "most", x="It Takes Two")),
        answered("It Takes Two"),
    )
    both = unified(grounds(1, "most", x="It Takes Two"), grounds(1, "Detroit", x="Detroit"))
    torn, _ = ask(turns, "What is Jolene's favourite game?", plan(game, game), both, STOP, limits=Limits(max_breadth=1))

    assert right.answer == "It Takes Two"
    assert torn.status is Status.UNKNOWN


def test_table_6_outdoor_activity_at_the_second_breadth() -> None:
    """A too literal decomposition fails; another that asks what she learns and invites to is grounded."""
    turns = chat("Jolene: I am learning surfing, you should come with me, Deborah!", "Deborah: Lovely.")
    trace, _ = ask(
        turns,
        "What outdoor activity did Jolene suggest doing together with Deborah?",
        plan("(Jolene) suggested (x:outdoor activity) to (Deborah)", "(Jolene) suggested (x:outdoor activity) to (Deborah)"),
        unified(unresolved={1: "nothing is called a suggestion"}),
        STOP,
        plan("(Jolene) suggested (x:outdoor activity) to (Deborah)", "(Jolene) is learning (x:activity)", "(Jolene) invited (Deborah) to come along"),
        unified(grounds(1, "surfing", x="surfing"), grounds(2, "come with me")),
        answered("surfing"),
    )  # fmt: skip

    assert trace.answer == "surfing"
    assert len(trace.attempts) == 2


def test_table_6_old_area() -> None:
    """The phrase "my old area" is no answer to which area: its name is found one level down."""
    turns = chat("John: My old area was hit by a flood.", "--", "John: West County was where I grew up, my old area.")
    area = "(x:area) was hit by a flood"
    trace, _ = ask(
        turns, "What area was hit by a flood?", plan(area, area),
        unified(unresolved={1: "which area is meant is not said"}),
        refined((1, "the old area of (John) is (x:area)", "where John grew up")),
        unified(grounds(2, "grew up", x="West County"), grounds(1, "flood", "grew up", x="West County")),
        answered("West County"), limits=Limits(budget=2),
    )  # fmt: skip

    assert trace.answer == "West County"


def test_table_6_last_month() -> None:
    """What was done "last month" is dated by the time of speaking, so that July's activity is bound."""
    turns = list(
        chat("Evan: Last month I drove somewhere fun.", "--", "Evan: The fun trip was for skiing, by the way.", day=8)
    )
    turns = [
        type(turn)(
            turn.conversation,
            turn.session,
            turn.ordinal,
            turn.speaker,
            turn.text,
            turn.said.replace(month=8) if turn.said else None,
            turn.own_id,
        )
        for turn in turns
    ]
    trace, _ = ask(
        turns,
        "What fun activity did Evan mention doing in July 2023?",
        plan(
            "(Evan) did (x:fun activity) in July 2023",
            "(Evan) did something fun in (y:month)",
            "(Evan) did (x:activity)",
        ),
        unified(grounds(1, "Last month", y="July 2023"), grounds(2, "skiing", x="skiing")),
        answered("skiing"),
        strict=True,
    )

    assert trace.answer == "skiing"
    assert trace.attempts[0].steps[0].grounded[0].support == {"y": Support.DERIVED}

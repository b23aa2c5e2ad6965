"""Traces made by hand, in every state that rendering has to show."""

from datetime import datetime

from goalmem_cli.logic.support import Support
from goalmem_cli.records import Usage
from goalmem_cli.trace import (
    Attempt,
    Checked,
    Contradicted,
    Denied,
    Ending,
    Fact,
    Grounded,
    Opened,
    Refined,
    Rejected,
    Status,
    Step,
    Trace,
    Unresolved,
    Verdict,
)  # fmt: skip

FACTS = {
    "F1": Fact(
        "F1", "u1", ("D2:1",), "momoco-01", "Ben", datetime(2023, 5, 21, 18, 20),
        "Alice finally gave in and ordered the Kyoto Latte at Momoco, and she has not stopped talking about its "
        "roasted taste since then.",
    ),
    "F2": Fact("F2", "u2", ("a" * 32,), "momoco-01", "Alice", None, "I only drink oat milk [bold]now[/bold]."),
    "F3": Fact("F3", "u3", ("D2:3",), "momoco-01", "Alice", datetime(2023, 5, 22, 9, 5), "The new menu is up."),
    "F4": Fact(
        "F4", "u4", ("D3:2",), "momoco-01", "Ben", datetime(2023, 6, 1, 12, 0), "Their latte is whisked with matcha.",
    ),
}  # fmt: skip
GOAL = "(Alice) ordered a drink with (y:ingredient) at (Momoco:cafe)"
SUBGOALS = ("(Alice) ordered (x:drink) at (Momoco:cafe)", "(x:drink) is made with (y:ingredient)")
FIRST_STEP = Step(
    depth=0,
    queries=("Alice ordered drink Momoco", "drink made with ingredient"),
    new_facts=("F1", "F2", "F3"),
    refined=(Refined(1, "(z:menu) lists (x:drink)", "menu of Momoco", "semantic"),),
    grounded=(Grounded(0, ("F1",), {"x": ("Kyoto Latte",)}, {"x": Support.STATED}, ("Momoco is bridged",)),),
    rejected=(Rejected(1, ("F2",), "y: a milk is no ingredient of the drink", {"y": ("oat milk",)}),),
    unresolved=(Unresolved(1, "no fact says what the drink is made with"),),
    usage=Usage(1, 100, 50, 20, 1.25),
)
SECOND_STEP = Step(
    depth=1,
    queries=("menu of Momoco",),
    new_facts=("F4",),
    grounded=(Grounded(1, ("F4",), {"y": ("Matcha",)}, {"y": Support.INFERRED}),),
    usage=Usage(1, 100, 50, 20, 0.5),
)
USAGE = Usage(4, 1204, 800, 60, 4.2)
QUESTION = "Which ingredient is in the drink that Alice ordered at Momoco?"
ASKED = datetime(2023, 6, 2)

ANSWERED = Trace(
    status=Status.ANSWERED,
    reasoner="goal-mem",
    question=QUESTION,
    asked=ASKED,
    answer="Matcha",
    goal=GOAL,
    substitution={"x": ("Kyoto Latte",), "y": ("Matcha",)},
    facts=FACTS,
    evidence=("F1", "F4"),
    attempts=(Attempt(1, GOAL, SUBGOALS, (FIRST_STEP, SECOND_STEP), Ending.GROUNDED),),
    usage=USAGE,
    model="scripted",
)
UNKNOWN = Trace(
    status=Status.UNKNOWN,
    reasoner="goal-mem",
    question=QUESTION,
    asked=ASKED,
    goal=GOAL,
    facts=FACTS,
    attempts=(Attempt(1, GOAL, SUBGOALS, (FIRST_STEP,), Ending.NOTHING_NEW),),
    usage=USAGE,
)
FAILED = Trace(
    status=Status.FAILED,
    reasoner="goal-mem",
    question=QUESTION,
    asked=ASKED,
    attempts=(Attempt(1, "", (), (), Ending.UNUSABLE_REPLY, "decompose: the reply is not JSON"),),
    failure="decompose: the reply is not JSON",
    usage=USAGE,
)
CONTRADICTED = Trace(
    status=Status.ANSWERED,
    reasoner="goal-mem",
    question="Does Alice drink cow's milk?",
    asked=ASKED,
    answer="no",
    goal="(Alice) drinks (cow's milk)",
    facts=FACTS,
    evidence=("F2",),
    attempts=(
        Attempt(
            1,
            "(Alice) drinks (cow's milk)",
            ("(Alice) drinks (cow's milk)",),
            (Step(0, ("Alice milk",), ("F2",), contradicted=(Contradicted(0, ("F2",)),)),),
            Ending.GROUNDED,
        ),
    ),
    usage=USAGE,
)
TOGETHER = Trace(
    status=Status.UNKNOWN,
    reasoner="goal-mem",
    question=QUESTION,
    asked=ASKED,
    goal=GOAL,
    facts=FACTS,
    attempts=(
        Attempt(
            1,
            GOAL,
            SUBGOALS,
            (
                Step(
                    0,
                    (QUESTION,),
                    ("F1", "F2", "F3"),
                    denied=(Denied(0, ("F2",), Verdict.OF_ANOTHER, "F2 says it of Ben", is_final=True),),
                    opened=(Opened(1, "it is not told", ("matcha whisk", "menu of Momoco")),),
                    several=("y",),
                    provisional={"x": ("Kyoto Latte",)},
                    refined=(Refined(1, "(z:menu) lists (x:drink)", "menu of Momoco", "semantic"),),
                    dropped=(2,),
                    usage=Usage(1, 100, 50, 20, 1.25),
                ),
                Step(1, ("menu of Momoco",)),
            ),
            Ending.DENIED,
        ),
    ),
    usage=USAGE,
    planning="together",
    check=Checked(("it is the answer of plan 2",), is_same=False, differs="it is Ben's drink"),
    may_be_more=True,
)

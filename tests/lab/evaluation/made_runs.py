"""Runs made by hand: a few questions of every category, answered in every way, with verdicts and what was retrieved."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.runs.run import NO_REASONER, Answered, Manifest, Placed, Retrieved, Run, Verdict
from goalmem_cli.logic.support import Support
from goalmem_cli.records import Usage
from goalmem_cli.trace import (
    Action,
    Attempt,
    Ending,
    Fact,
    Grounded,
    Refined,
    Rejected,
    Status,
    Step,
    Stop,
    Trace,
    Unresolved,
)  # fmt: skip

HOSTILE = (
    '</script><script>window.hostile = 1</script><img src=x onerror="window.hostile = 1"> \'q\' "q" & &lt;'
    " \u2028 \u2029 [bold]b[/bold] \x1b[31m \u202e ]]> --> {{ 7 * 7 }} ${7}"
)
CATEGORIES = {"1": "multi-hop", "2": "temporal", "3": "open-domain", "4": "single-hop", "5": "adversarial"}
ASKED = datetime(2023, 6, 2)
SAID = datetime(2023, 5, 21, 18, 20)

CASES = (
    Case("c1-0", "conv-1", "Which drink did Alice order at Momoco?", "Kyoto Latte", ("D1:1",), "4"),
    Case("c1-1", "conv-1", "When did Ben leave for Lisbon?", "7 May 2023", ("D1:2", "D2:1"), "2"),
    Case("c1-2", "conv-1", "Which ingredients does the drink have?", "matcha, oat milk", ("D2:2",), "1"),
    Case("c1-3", "conv-1", "Which car does Alice drive?", None, ("D1:1",), "5", is_unanswerable=True),
    Case("c2-0", "conv-2", f"What does the sign say? {HOSTILE}", HOSTILE, ("D1:1",), "4"),
    Case("c2-1", "conv-2", "Would Ben like a tea house?", "likely yes", (), "3"),
)


def manifest(**changes: object) -> Manifest:
    """Return the manifest of a finished run of two reasoners over one backbone, changed where said."""
    made = Manifest(
        dataset="made-up",
        format="locomo",
        digest="0" * 32,
        sources=("made-up.json",),
        reasoners=("direct", "goal-mem"),
        backbones=("hybrid",),
        model="scripted",
        categories=CATEGORIES,
        repairs={"answers that are numbers, read as text": 6},
        settings={"seed": "0"},
        prompts={"read": "0" * 32},
        version="0.1.0",
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def fact(number: int, label: str, text: str, conversation: str = "conv-1") -> Fact:
    """Return a fact of the label."""
    return Fact(
        f"F{number}", f"{conversation}-{label}", (label,), conversation, "Alice", SAID, text,
        times=('"last Friday" = 19 May 2023',),
    )  # fmt: skip


def forward(case: Case, answer: str | None, labels: Sequence[str] = ("D1:1",), reasoner: str = "direct") -> Trace:
    """Return the trace of a reasoner that retrieves once and reads the answer from what it got; None: it refused."""
    facts = {f"F{n}": fact(n, label, f"{label} of {case.conversation}") for n, label in enumerate(labels, 1)}
    return Trace(
        Status.ANSWERED if answer is not None else Status.UNKNOWN,
        reasoner,
        case.question,
        ASKED,
        answer=answer,
        facts=facts,
        evidence=("F1",) if answer is not None else (),
        actions=(
            Action("retrieve", queries=(case.question,), new_facts=tuple(facts), skipped=2),
            Action("read", (("answer", answer or "unknown"), ("facts", "F1")), usage=Usage(1, 900, 300, 12, 2.0)),
        ),
        stopped=Stop.ONE_ROUND,
        usage=Usage(1, 900, 300, 12, 2.0),
        model="scripted",
    )


def backward(case: Case, answer: str | None, labels: Sequence[str] = ("D1:1",), attempts: int = 1) -> Trace:
    """Return a trace of `goal-mem` with as many attempts, each of two rounds and two subgoals; None: unknown."""
    facts = {f"F{n}": fact(n, label, f"{label}: {HOSTILE}") for n, label in enumerate(labels, 1)}
    goal, subgoals = "(Alice) ordered (x:drink)", ("(Alice) went to (y:cafe)", "(Alice) ordered (x:drink) at (y:cafe)")
    first = Step(
        0, ("Alice went to cafe", "Alice ordered drink"), tuple(facts), 1,
        (Refined(1, "(z:menu) lists (x:drink)", "menu of the cafe", "semantic"),),
        (Grounded(0, ("F1",), {"y": ("Momoco",)}, {"y": Support.STATED}, ("Momoco is bridged",)),),
        (Rejected(1, ("F1",), f"x: no drink {HOSTILE}", {"x": ("tea",)}),),
        unresolved=(Unresolved(1, "no fact says it", ("F1",)),),
        usage=Usage(2, 1800, 900, 60, 3.0),
    )  # fmt: skip
    second = Step(
        1, ("menu of the cafe",),
        grounded=(Grounded(1, ("F1",), {"x": ("Kyoto Latte",)}, {"x": Support.INFERRED}),) if answer else (),
        unresolved=() if answer else (Unresolved(1, "no fact says it", ("F1",)),),
        usage=Usage(1, 700, 600, 30, 1.0),
    )  # fmt: skip
    ending = Ending.GROUNDED if answer is not None else Ending.NOTHING_NEW
    return Trace(
        Status.ANSWERED if answer is not None else Status.UNKNOWN,
        "goal-mem",
        case.question,
        ASKED,
        answer=answer,
        goal=goal,
        substitution={"x": ("Kyoto Latte",)} if answer is not None else {},
        facts=facts,
        evidence=("F1",) if answer is not None else (),
        attempts=tuple(
            Attempt(number, goal, subgoals, (first, second), ending if number == attempts else Ending.NOTHING_NEW)
            for number in range(1, attempts + 1)
        ),
        usage=Usage(4 * attempts, 3000 * attempts, 1500 * attempts, 120 * attempts, 6.0 * attempts),
        model="scripted",
        notes=(f"a note {HOSTILE}",),
    )


def failed(case: Case) -> Trace:
    """Return the trace of a question whose every reply was unusable."""
    return Trace(
        Status.FAILED, "goal-mem", case.question, ASKED,
        attempts=(Attempt(1, "", (), (), Ending.UNUSABLE_REPLY, "decompose: the reply is not JSON"),),
        failure="decompose: the reply is not JSON",
        usage=Usage(2, 500, 0, 40, 1.5),
    )  # fmt: skip


def answered_run(**changes: object) -> Run:
    """Return a run of `direct` and `goal-mem` over six questions, judged twice by one judge; direct has one to do."""
    first, second, third, fourth, fifth, sixth = CASES
    direct = {
        first: forward(first, "Kyoto Latte"),
        second: forward(second, "on 9 June", ("D1:2", "D9:9")),
        third: forward(third, None),
        fourth: forward(fourth, "a red car"),
        fifth: forward(fifth, HOSTILE),
    }
    goal_mem = {
        first: backward(first, "Kyoto Latte"),
        second: backward(second, "7 May 2023", ("D1:2", "D2:1")),
        third: backward(third, "matcha", attempts=2),
        fourth: backward(fourth, None, attempts=3),
        fifth: backward(fifth, HOSTILE),
        sixth: failed(sixth),
    }
    rights: Mapping[str, Mapping[str, tuple[bool | None, ...]]] = {
        "direct": {"c1-0": (True, True), "c1-1": (False, False), "c2-0": (True, None)},
        "goal-mem": {"c1-0": (True, True), "c1-1": (True, True), "c1-2": (True, False), "c2-0": (None, None)},
    }
    made = Run(
        manifest(),
        placed(CASES),
        answered=tuple(
            Answered(case.id, reasoner, "hybrid", trace)
            for reasoner, traces in (("direct", direct), ("goal-mem", goal_mem))
            for case, trace in traces.items()
        ),
        verdicts=tuple(
            Verdict(case, reasoner, "hybrid", "arbiter", "standard", number, is_right, f"reply {HOSTILE}")
            for reasoner, cases in rights.items()
            for case, passes in cases.items()
            for number, is_right in enumerate(passes, 1)
        ),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def retrieved_run() -> Run:
    """Return a run that only retrieves, with the question and with a plan, over all conversations of a domain."""
    found = {
        "question": (("D1:1",), ("conv-2 D1:2",), ("D7:7",)),
        "plan": (("D1:2", "D1:3"), ("D2:1",), ("D2:2",), ("D1:1",)),
    }
    return Run(
        manifest(reasoners=(NO_REASONER,), model=""),
        placed(CASES),
        retrieved=tuple(
            Retrieved(case.id, "hybrid", kind, (case.question,), units)
            for kind, units in found.items()
            for case in CASES
        ),
    )


def long_run(questions: int, reasoners: Sequence[str] = ("direct", "reflect")) -> Run:
    """Return a run of as many questions, every third of them answered wrongly."""
    names = sorted(CATEGORIES)
    cases = tuple(
        Case(f"q{n}", f"conv-{n % 10}", f"What is thing number {n}?", f"thing {n}", (f"D1:{n % 50}",), names[n % 4])
        for n in range(questions)
    )
    return Run(
        manifest(reasoners=tuple(reasoners)),
        placed(cases),
        answered=tuple(
            Answered(
                case.id, reasoner, "hybrid",
                forward(case, f"thing {n}" if (n + shift) % 3 else "something else", tuple(f"D1:{m}" for m in range(60)), reasoner),
            )
            for shift, reasoner in enumerate(reasoners)
            for n, case in enumerate(cases)
        ),
    )  # fmt: skip


def placed(cases: Sequence[Case]) -> tuple[Placed, ...]:
    """Return the cases in this order."""
    return tuple(Placed(place, case) for place, case in enumerate(cases))

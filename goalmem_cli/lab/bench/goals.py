"""Keep goals over a generated story, check them after each step by gold replies, and compare with the right answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from time import perf_counter
from typing import TYPE_CHECKING

from goalmem_cli.errors import ModelError
from goalmem_cli.lab.bench.stories import CLOSED, SINGLE, TWO_STEPS, Matter, Standing, Step, Story, Telling, last_about
from goalmem_cli.lab.bench.timing import Progress, unwatched
from goalmem_cli.logic.normal import normalise
from goalmem_cli.memory_records import Selection
from goalmem_cli.ports import Completion, Request
from goalmem_cli.reasoners.prompt_texts import say_day
from goalmem_cli.reasoners.showing import lines_shown

if TYPE_CHECKING:
    from goalmem_cli.library.memory import Memory
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.records import Conversation
    from goalmem_cli.store.goal_records import CheckedGoal

_HEADING = re.compile(r"^\[.*?(\d{1,2} [A-Z][a-z]+ \d{4})\]$")
_QUESTION = re.compile(r"^Question: (.*?)$", re.MULTILINE)
_SETTLED = re.compile(r"^(S\d+)\. .* -- settled: (.*)$", re.MULTILINE)
_VALUE = re.compile(r"^[xy] = (.+?)(?:;| \(F\d)")


class GoldModel:
    """Replies to `plan_and_prove` and `check`. `asked` counts the requests.

    It knows what each turn states, but uses only turns that are in the prompt.
    """

    def __init__(self, goals: Iterable[Standing], steps: Iterable[Step]) -> None:
        """Take the goals, and the steps whose turns can be asked about."""
        self.asked = 0
        self._goals = {goal.question: goal for goal in goals}
        self._told = {
            (each.turn.speaker, each.turn.text, say_day(each.turn.said)): each
            for step in steps
            for each in step.tellings
            if each.turn.said is not None
        }

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the replies.

        Raises:
            ModelError: there is no reply for the step.
        """
        self.asked += len(requests)
        return [Completion(json.dumps(self._reply(request)), 1, 1) for request in requests]

    def _reply(self, request: Request) -> dict[str, object]:
        """Return the gold reply: a plan with its proof if the plan is new, else the proof of the remaining steps."""
        if request.step == "check":
            return {"answers": "yes", "differs": ""}
        found = _QUESTION.search(request.growing)
        if request.step != "plan_and_prove" or found is None or found[1] not in self._goals:
            raise ModelError(f"there is no gold reply for the step {request.step!r}", "ask only the story's goals")
        goal = self._goals[found[1]]
        is_new = "Plan: to be written" in request.tail
        plan = {
            "goal": goal.subgoals[-1], "current": True, "conclusion": False, "variables": [],
            "answer": list(goal.answers), "subgoals": list(goal.subgoals),
        }  # fmt: skip
        proof = self._proof(goal, self._shown(request.growing), dict(_SETTLED.findall(request.tail)))
        if is_new or proof["status"] == "settled":
            return plan | proof if is_new else proof
        return proof | {"status": "look" if proof["groundings"] else "stop"}  # what was just settled leads on

    def _shown(self, prompt: str) -> list[tuple[str, Telling]]:
        """Return the facts in the prompt that state something, each with its number, in the order of time."""
        found, day = dict[str, Telling](), ""
        for line in prompt.splitlines():
            if heading := _HEADING.match(line):
                day = heading[1]
            for shown in lines_shown(line):
                text = shown.told.rpartition(" [")[0] if shown.told.endswith("]") else shown.told
                if (told := self._told.get((shown.speaker, text, day))) is not None:
                    found[shown.number] = told
        return sorted(found.items(), key=lambda pair: pair[1].turn.said.isoformat() if pair[1].turn.said else "")

    def _proof(
        self, goal: Standing, shown: Sequence[tuple[str, Telling]], settled: dict[str, str]
    ) -> dict[str, object]:
        """Return groundings for the steps that are not settled, and a status: settled, or look for missing facts."""
        groundings, wanted = [], list[dict[str, object]]()
        person: str | None = goal.person
        value: str | None = None
        is_denied = False
        for place, slot in enumerate(goal.slots, 1):
            label, name = f"S{place}", "xy"[place - 1]
            last = last_about([each for _, each in shown], person, slot)
            if label in settled:
                bound = _VALUE.search(settled[label])
                value = person = bound[1] if bound is not None else None
                is_denied = settled[label].startswith("contradicted")
                continue
            if last is None or (last.holds is None and goal.value is None):
                wanted.append({"subgoal": label, "why": "no turn tells it", "queries": [], "needs": []})
                value = person = None
                continue
            is_denied = goal.value not in (None, last.holds)
            value, verdict = last.holds, "contradicted" if is_denied else "entailed"
            bindings = [{"variable": name, "value": value}] if goal.value is None else []
            bindings += [{"variable": "x", "value": person}] if place > 1 else []
            number = next(number for number, each in shown if each is last)
            groundings.append(
                {"subgoal": label, "facts": [number], "verdict": verdict, "bindings": bindings, "why": "",
                 "instead": False}
            )  # fmt: skip
            person = value
        reply: dict[str, object] = {"groundings": groundings, "several": [], "same": [], "next": []}
        if wanted:
            return reply | {"open": [], "status": "look", "wording": "unknown"}
        word = (value or "unknown") if goal.value is None else "no" if is_denied else "yes"
        return reply | {"open": [], "status": "settled", "wording": word}


KINDS = (SINGLE, CLOSED, TWO_STEPS)
ALL = "all"


@dataclass(frozen=True, slots=True)
class GoalFigures:
    """The results of all steps for one kind of goal.

    - `goals`: the number of goals. `checks`: goals times steps.
    - `changes`: how often the right answer changed. `noticed`: how many of these were proved again; `caught`: how many
      then had the right answer.
    - `told`: how often a turn about a goal's facts was added or forgotten. `repeats`: how many of these left the answer
      unchanged.
    - `untouched`: how often none was. `false_alarms`: how many of these were proved again. `beside`: how many of
      `untouched` had new turns in the goal's chat; `false_beside`: how many of those were proved again.
    - `proved`: the goals proved again; `in_vain`: how many kept their answers.
    - `calls`: the model calls of the checks. `anew`: those of asking every question again after each step.
    - `right`, `right_anew`: the goals with the right answer after the last step, as kept and when asked again.
    """

    kind: str
    goals: int = 0
    checks: int = 0
    changes: int = 0
    noticed: int = 0
    caught: int = 0
    told: int = 0
    repeats: int = 0
    untouched: int = 0
    false_alarms: int = 0
    beside: int = 0
    false_beside: int = 0
    proved: int = 0
    in_vain: int = 0
    calls: int = 0
    anew: int = 0
    right: int = 0
    right_anew: int = 0

    def plus(self, other: GoalFigures) -> GoalFigures:
        """Return the sums of both, with this one's kind."""
        named = [each.name for each in fields(self)][1:]
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in named})


@dataclass(frozen=True, slots=True)
class Measured:
    """The results by kind and of all goals, milliseconds to notice changes per goal, and missed changes in words."""

    figures: tuple[GoalFigures, ...]
    milliseconds: float
    missed: tuple[str, ...] = ()


def measure_goals(memory: Memory, story: Story, report: Progress = unwatched) -> Measured:
    """Keep the story's goals in a new memory, carry out the steps, and check the goals after each step.

    Raises:
        ModelError: the model has no reply.
        StoreError: the store cannot be used.
    """
    return _Run(memory, story).measured(report)


class _Run:
    """A run over a story. An object runs once."""

    def __init__(self, memory: Memory, story: Story) -> None:
        self._memory = memory
        self._story = story
        self._told = list(story.before.tellings)
        self._by_name: dict[str, Standing] = {}
        self._figures = {kind: GoalFigures(kind) for kind in KINDS}
        self._kept: dict[str, str | None] = {}  # the answers after the last check, which forgetting takes out
        self._seconds = 0.0
        self._missed: list[str] = []

    def measured(self, report: Progress) -> Measured:
        """Keep the goals, carry out the steps, and return the results."""
        from goalmem_cli.library.answering import Terms

        memory, story = self._memory, self._story
        memory.kept.add_all(story.before.chats)
        for number, goal in enumerate(story.goals):
            kept = memory.goals.add(goal.question, Terms(), f"{goal.kind} {number}", keeps_failed=True)
            self._by_name[kept.name], self._kept[goal.question] = goal, kept.state.answer
            self._count(goal.kind, goals=1)
        for number, step in enumerate(story.steps, 1):
            self._take(number, step)
            self._ask_anew(is_last=number == len(story.steps))
            report(number, len(story.steps))
        rows = tuple(self._figures.values())
        whole = GoalFigures(ALL)
        for row in rows:
            whole = whole.plus(row)
        return Measured((*rows, whole), 1000 * self._seconds / max(1, whole.checks), tuple(self._missed))

    def _take(self, number: int, step: Step) -> None:
        """Carry out a step, and check the goals."""
        before = {name: self._so(goal) for name, goal in self._by_name.items()}
        self._told = step.after(self._told)
        kept = self._memory.kept
        if step.chats:
            kept.add_all(without_forgotten(kept, step.chats))
        if step.forgotten:
            _forget(self._memory, step)
        goals = self._memory.goals
        started = perf_counter()
        found = goals.touched()
        self._seconds += perf_counter() - started
        for goal, touch in found:
            checked = goals.untouched(goal) if touch is None else goals.check(goal, touch)
            self._compare(number, step, before[goal.name], checked)

    def _so(self, goal: Standing) -> tuple[str | None, set[Matter]]:
        """Return the right answer to the goal's question, None if it is unknown, and the facts that it depends on."""
        return goal.answer(self._told), goal.matters(self._told)

    def _compare(self, number: int, step: Step, before: tuple[str | None, set[Matter]], checked: CheckedGoal) -> None:
        """Count the result of a goal's check, given what `_so` returned before the step."""
        goal, answer, is_proved = self._by_name[checked.goal.name], checked.goal.state.answer, bool(checked.touched)
        (was, then), (right, now) = before, self._so(goal)
        is_told = bool((then | now) & step.matters)
        is_beside = not is_told and goal.chat in step.grown
        is_changed, is_right = right != was, _is_same(answer, right)
        self._count(
            goal.kind,
            checks=1, changes=is_changed, noticed=is_changed and is_proved, caught=is_changed and is_right,
            told=is_told, repeats=is_told and not is_changed, untouched=not is_told,
            false_alarms=is_proved and not is_told, beside=is_beside, false_beside=is_proved and is_beside,
            proved=is_proved, in_vain=is_proved and _is_same(answer, self._kept[goal.question]), calls=checked.calls,
        )  # fmt: skip
        self._kept[goal.question] = answer
        if is_changed and not is_right:
            how = "proved again" if is_proved else "not noticed"
            found = f"{answer or 'unknown'}, not {right or 'unknown'}"
            self._missed.append(f"step {number}: {goal.question} ({how}) {found}")

    def _ask_anew(self, *, is_last: bool) -> None:
        """Ask each question without its kept proof. After the last step, count the right answers."""
        from goalmem_cli.library.answering import Terms

        asking = self._memory.asking(Terms())
        for name, goal in self._by_name.items():
            anew = asking.answer(asking.question(goal.question))
            self._count(goal.kind, anew=anew.usage.calls)
            if is_last:
                right, kept = goal.answer(self._told), self._memory.goals.folder.get(name).state
                self._count(goal.kind, right=_is_same(kept.answer, right), right_anew=_is_same(anew.answer, right))

    def _count(self, kind: str, **told: int) -> None:
        self._figures[kind] = self._figures[kind].plus(GoalFigures(kind, **told))


def without_forgotten(kept: KeptMemory, chats: Sequence[Conversation]) -> list[Conversation]:
    """Return the chats as `ingest` stores them: what was forgotten does not come back."""
    from goalmem_cli.library.forgetting import Sieve
    from goalmem_cli.library.known import KnownMemory

    sieve = Sieve(restores=False, takes=False)
    sieve.take(KnownMemory(kept, is_dry=False))
    return [each.kept for each in sieve.sifted(chats) if each.kept is not None]


def _forget(memory: Memory, step: Step) -> None:
    from goalmem_cli.library.forgetting import forget

    forget(memory.kept, Selection(content_keys=frozenset(each.turn.content_key for each in step.forgotten)))


def _is_same(one: str | None, other: str | None) -> bool:
    return one == other or (one is not None and other is not None and normalise(one) == normalise(other))

"""Simulate a perfect model that replies according to a question's gold plan, to measure everything else.

It plans as the gold plan does, proves what the facts in view prove, asks for the plan's refinements, and stops when a
further search has not found what the memory lacks.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from goalmem_cli.lab.evaluation.cases import Case, GoldStep
from goalmem_cli.logic import parse_atom
from goalmem_cli.logic.dates import parse_date
from goalmem_cli.ports import JsonShape, Request
from goalmem_cli.reasoners.showing import ShownLine, lines_shown
from goalmem_cli.records import Turn

Reply = Mapping[str, object]

_SUBGOAL = re.compile(r"S(\d+)\. (.+?)(?: \(for S\d+\))?(?: -- (.*))?")
_MOST_FACTS, _MOST_CITED = 4, 8
_WORDS_OF_A_VALUE = 4
_MOST_QUERY = 120


@dataclass(frozen=True, slots=True)
class _Line:
    """A subgoal as a prompt shows it: its label, its gold step, and whether it is settled."""

    label: str
    step: GoldStep
    is_settled: bool


class GoldReplies:
    """JSON replies to the requests of one question, from its gold plan; `turns` are by label.

    It covers the steps of `goal-mem` with full prompts, and reading an answer from facts.
    """

    def __init__(self, case: Case, turns: Mapping[str, Turn]) -> None:
        """Take the question.

        Raises:
            ValueError: it has no gold plan.
        """
        if case.plan is None:
            raise ValueError(f"{case.id} has no gold plan")
        self._case = case
        self._plan = case.plan
        self._turns = turns
        self._stars = frozenset(name for name in case.plan.answer_variables if self._is_list(name))
        self._roots = list({self._text(step): step for step in case.plan.subgoals}.values())
        self._steps = {self._text(step): step for step in (*case.plan.refinements, *self._roots)}
        self._asked: set[str] = set()
        self._has_looked = False

    @property
    def subgoals(self) -> Sequence[GoldStep]:
        """The steps of the plan in the order of a reply, each once."""
        return self._roots

    def values(self, name: str) -> list[str]:
        """Return the gold values of a variable."""
        steps = (*self._roots, *self._plan.refinements)
        value = next(step.bindings[name] for step in steps if name in step.bindings)
        return value.split(", ") if name in self._stars else [value]

    def __call__(self, request: Request) -> str:
        """Return the reply to a request.

        Raises:
            ValueError: there is no gold reply for the request's step.
        """
        steps: Mapping[str, Callable[[Request], Reply]] = {
            "plan_and_prove": self._proof,
            "check": lambda _: {"answers": "yes", "differs": ""},
            "decompose": lambda _: self._planned(),
            "unify": self._unified,
            "refine": self._refined,
            "answer": self._answered,
            "verdict": self._answered,
            "read": self._read,
        }
        if request.step not in steps:
            raise ValueError(f"a gold plan has no reply for the step {request.step}")
        return json.dumps(steps[request.step](request))

    # The prover `paper`, and reading

    def _planned(self) -> Reply:
        return {
            "goal": self._starred(self._plan.goal),
            "current": False,
            "variables": [],
            "answer": list(self._plan.answer_variables),
            "subgoals": list(map(self._text, self._roots)),
        }

    def _unified(self, request: Request) -> Reply:
        facts = lines_shown(request.growing)
        groundings = [self._grounding(line, facts) for line in self._lines(request)]
        return {"groundings": [entry for entry in groundings if entry], "same": [], "unresolved": []}

    def _refined(self, request: Request) -> Reply:
        labels = {self._roots.index(line.step): line.label for line in self._lines(request) if line.step in self._roots}
        fresh = [step for step in self._plan.refinements if step.of in labels and step.query not in self._asked]
        self._asked |= {step.query for step in fresh}
        antecedents = [
            {"of": labels[step.of or 0], "relation": "semantic", "subgoal": self._text(step), "query": step.query}
            for step in fresh
        ]
        return {"status": "refine" if fresh else "stop", "antecedents": antecedents}

    def _answered(self, request: Request) -> Reply:
        return {"answer": self._case.answer or "unknown"}

    def _read(self, request: Request) -> Reply:
        facts = lines_shown(request.growing)
        cited = [number for label in self._case.evidence if (number := self._number(label, facts))]
        return {
            "facts": cited[:_MOST_CITED],
            "answer": "unknown" if self._case.is_unanswerable else self._case.answer or "unknown",
        }

    # The prover `together`

    def _proof(self, request: Request) -> Reply:
        schema = request.shape.schema if isinstance(request.shape, JsonShape) else {}
        keys = schema["properties"]
        if not isinstance(keys, Mapping):
            raise ValueError("the schema has no properties")
        if "goal" not in keys:
            return self._round(self._lines(request), lines_shown(request.growing), keys)
        plan = self._planned()
        if keys["subgoals"].get("minItems") == 0:  # the request for another plan may be declined
            return {**plan, "goal": "", "answer": [], "subgoals": [], "conclusion": False, **_nothing("stop")}
        lines = [_Line(f"S{place}", step, is_settled=False) for place, step in enumerate(self._roots, 1)]
        return {**plan, "conclusion": False, **self._round(lines, lines_shown(request.growing), keys)}

    def _round(self, lines: Sequence[_Line], facts: Sequence[ShownLine], keys: Mapping[str, object]) -> Reply:
        """Return what the facts prove about the subgoals in view, and what is still to be found."""
        left = [line for line in lines if not line.is_settled]
        found = {line.label: entry for line in left if (entry := self._grounding(line, facts))}
        open_ = [line for line in left if line.label not in found and line.step in self._roots]
        is_over = self._has_looked and not any(line.step.facts for line in open_)
        self._has_looked = True
        status = "stop" if open_ and is_over else "look" if open_ else "settled"
        answer = "unknown" if open_ else self._case.answer or "unknown"
        wording = keys["wording"]
        verdicts = wording.get("enum") if isinstance(wording, Mapping) else None
        return _nothing(status) | {
            "groundings": [entry | {"why": "", "instead": False} for entry in found.values()],
            "open": [self._open(line) for line in open_],
            "wording": "unknown" if verdicts and answer not in verdicts else answer,
        }

    def _open(self, line: _Line) -> Reply:
        number = self._roots.index(line.step)
        fresh = [step for step in self._plan.refinements if step.of == number and step.query not in self._asked][:1]
        self._asked |= {step.query for step in fresh}
        return {
            "subgoal": line.label,
            "why": "no fact in view says it",
            "queries": [step.query[:_MOST_QUERY] for step in fresh] or [_phrase(line.step)[:_MOST_QUERY]],
            "needs": [{"text": self._text(step), "relation": "semantic"} for step in fresh],
        }

    # Shared by both provers

    def _grounding(self, line: _Line, facts: Sequence[ShownLine]) -> dict[str, object]:
        """Return the gold grounding of a subgoal, or nothing if one of its facts is not in view."""
        cited = [self._number(label, facts) for label in line.step.facts]
        if not cited or not all(cited):
            return {}
        bindings = [
            {"variable": name, "value": value}
            for name in line.step.bindings
            for value in self.values(name)
            if f"({name}:" in line.step.text
        ]
        return {"subgoal": line.label, "facts": cited[:_MOST_FACTS], "verdict": "entailed", "bindings": bindings}

    def _lines(self, request: Request) -> list[_Line]:
        """Return the subgoals in a prompt that the plan knows by text or position."""
        lines = []
        for line in request.tail.splitlines():
            if found := _SUBGOAL.fullmatch(line):
                place, text = int(found[1]) - 1, found[2]
                known = {str(parse_atom(name)): step for name, step in self._steps.items()}
                step = known.get(text) or (self._roots[place] if place < len(self._roots) else None)
                if step is not None:
                    lines.append(_Line(f"S{place + 1}", step, (found[3] or "").startswith(("settled", "contradicted"))))
        return lines

    def _number(self, label: str, facts: Sequence[ShownLine]) -> str | None:
        """Return the fact number of a turn, or None if it is not in view."""
        text = self._turns[label].text
        return next((line.number for line in facts if line.says(text)), None)

    def _is_list(self, name: str) -> bool:
        """Say whether a variable's gold value is a list; the corpus writes lists with commas."""
        values = [step.bindings[name] for step in self._plan.subgoals if name in step.bindings]
        return bool(values) and all(
            ", " in value
            and parse_date(value) is None
            and all(len(part.split()) <= _WORDS_OF_A_VALUE for part in value.split(", "))
            for value in values
        )

    def _text(self, step: GoldStep) -> str:
        return self._starred(step.text)

    def _starred(self, text: str) -> str:
        for name in self._stars:
            text = re.sub(rf"\({name}:([^()]+)\)", rf"({name}:\1*)", text)
        return text


def _phrase(step: GoldStep) -> str:
    return parse_atom(step.text).phrase


def _nothing(status: str) -> dict[str, object]:
    empty: dict[str, object] = {key: [] for key in ("groundings", "several", "same", "open", "next")}
    return empty | {"status": status, "wording": "unknown"}

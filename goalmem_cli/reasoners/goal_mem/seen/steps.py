"""The model steps of the order `seen`, with JSON replies: each fills its prompt, builds the schema, asks, and reads.

The schema is built for each call: facts, labels and variables are enumerations of what exists, and a round whose plan
is given has no keys for one. A reply is read by the prompt's own schema, without those enumerations, since a server may
ignore them: a citation of what was not shown is then a grounding that the engine refuses, not a reply to ask for again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from goalmem_cli.logic import Atom
from goalmem_cli.ports import JsonShape, LanguageModel, Request
from goalmem_cli.prompts import Prompt, PromptBook
from goalmem_cli.reasoners.asking import Reply, ask, asker_in, parse_json, say_day
from goalmem_cli.reasoners.goal_mem.asking import VERDICTS, say_bindings
from goalmem_cli.reasoners.goal_mem.seen.reading import read_proof
from goalmem_cli.reasoners.goal_mem.seen.records import LETTERS, Judgement, Proof, Standing
from goalmem_cli.reasoners.showing import block_of
from goalmem_cli.records import Question
from goalmem_cli.trace import Fact

PROVE, CHECK = "plan_and_prove", "check"
STEPS = (PROVE, CHECK)
PLAN_KEYS = ("goal", "current", "conclusion", "variables", "answer", "subgoals")

Schema = Mapping[str, Any]
T = TypeVar("T")


class JsonSeenSteps:
    """Steps for models of about 3B parameters and more."""

    def __init__(self, model: LanguageModel, prompts: PromptBook, max_subgoals: int) -> None:
        self._model = model
        self._prompts = prompts
        self._max_subgoals = max_subgoals

    def plan_and_prove(self, standing: Standing) -> Reply[Proof]:
        """Return what one reply plans, proves and wants to look for."""
        prompt = self._prompts[PROVE]
        labels = range(self._max_subgoals) if standing.plan is None else standing.subgoals
        choices = {
            "subgoals": [f"S{number + 1}" for number in labels],
            "facts": standing.numbers,
            "variables": LETTERS,
        }

        def build(trouble: str) -> Request:
            request = prompt.request(_inputs(standing) | {"problem": trouble}, choices)
            return replace(request, shape=JsonShape(for_round(_schema_of(request), standing)))

        def read(reply: Any) -> Proof:
            return read_proof(reply, standing, self._max_subgoals)

        return self._ask(build, for_round(prompt.schema or {}, standing), read)

    def check(self, question: Question, facts: Sequence[Fact], goal: Atom, found: str) -> Reply[Judgement]:
        """Return whether these facts answer the question as it was asked."""
        prompt: Prompt = self._prompts[CHECK]

        def build(trouble: str) -> Request:
            inputs = _asked(question) | {"facts": list(block_of(facts).lines), "goal": str(goal), "found": found}
            return prompt.request(inputs | {"problem": trouble})

        def read(reply: Any) -> Judgement:
            return Judgement(reply["answers"] == "yes", " ".join(reply["differs"].split()))

        return self._ask(build, prompt.schema or {}, read)

    def _ask(self, build: Callable[[str], Request], schema: Schema, read: Callable[[Any], T]) -> Reply[T]:
        return ask(self._model, lambda trouble: [build(trouble)], lambda texts: read(parse_json(texts[0], schema)))


def for_round(schema: Schema, standing: Standing) -> Schema:
    """Return the schema of a round's reply.

    A plan that is to be written is required, but a further one may be declined, by leaving it empty. Of one that is
    given no key is written again, and a closed question's wording is one of the verdicts.
    """
    properties, required = dict(schema["properties"]), [*PLAN_KEYS, *schema["required"]]
    if standing.plan is not None:
        properties = {name: part for name, part in properties.items() if name not in PLAN_KEYS}
        required = list(schema["required"])
        if not standing.plan.answer_variables:
            properties["wording"] = {"type": "string", "enum": list(VERDICTS)}
    elif standing.failed:
        properties["goal"] = {**properties["goal"], "minLength": 0}
        properties["subgoals"] = {**properties["subgoals"], "minItems": 0}
    return {**schema, "properties": properties, "required": required}


def _schema_of(request: Request) -> Schema:
    return request.shape.schema if isinstance(request.shape, JsonShape) else {}


def _asked(question: Question) -> dict[str, object]:
    return {"question": question.text, "asker": asker_in(question), "asked": say_day(question.asked)}


def _inputs(standing: Standing) -> dict[str, object]:
    plan = standing.plan
    return _asked(standing.question) | {
        "facts": list(standing.lines),
        "goal": "" if plan is None else str(plan.goal),
        "answer": "" if plan is None else (", ".join(map(str, plan.answers)) or "yes or no"),
        "subgoals": list(standing.subgoals.values()),
        "perhaps": say_bindings(standing.perhaps),
        "refused": list(standing.refused),
        "tried": list(standing.tried),
        "failed": list(standing.failed),
        "undecided": [f"{left} / {right}" for left, right in standing.undecided],
    }

"""Plans and proves in one reply per round, over facts that are shown first: for models from about 3B parameters on.

Each call has its own schema: it enumerates the facts, labels and variables that exist, and has keys for a plan only
while there is none. Replies are read without these enumerations, since a server may ignore them. A claim that cites a
fact which was not shown is then refused, without asking for another reply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from goalmem_cli.languages.finding import language_asked
from goalmem_cli.logic import Rule
from goalmem_cli.logic.dates import times_named
from goalmem_cli.ports import JsonShape, LanguageModel, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem.loop import REPEATED
from goalmem_cli.reasoners.goal_mem.plan_texts import say_bindings, say_question, say_settled
from goalmem_cli.reasoners.goal_mem.provers.floor import Floor
from goalmem_cli.reasoners.goal_mem.provers.goal_reading import plan_asked
from goalmem_cli.reasoners.goal_mem.provers.mending import PLAN_KEYS, mended_json
from goalmem_cli.reasoners.goal_mem.provers.mending_plans import LETTERS
from goalmem_cli.reasoners.goal_mem.provers.together_reading import read_proof
from goalmem_cli.reasoners.goal_mem.records import (
    VERDICTS,
    Ended,
    Judgement,
    Kept,
    Limits,
    Manner,
    Plan,
    Proof,
    Proposed,
    Round,
    Search,
    Spending,
    Status,
    Task,
)
from goalmem_cli.reasoners.goal_mem.state import ProofState
from goalmem_cli.reasoners.inquiry import READ
from goalmem_cli.reasoners.prompt_texts import Reply, ask, parse_json
from goalmem_cli.reasoners.showing import block_of
from goalmem_cli.records import Question, Usage
from goalmem_cli.trace import Attempt, Ending

NAME: Final = "together"
PROVE, CHECK = "plan_and_prove", "check"
STEPS = (PROVE, CHECK, READ)
UNPLANNED = "it was read, not planned"
NOT_PLANNED = "read, not planned: no proof could be read of what the model replied"
MOST_ANTECEDENTS = 8
"""The most antecedents of an attempt: with four subgoals, the labels go from S1 to S12."""

Schema = Mapping[str, Any]


class Together:
    """Plans with the first facts in view; each reply plans, proves, and says what to look for next.

    Model calls stay within B(D + 1) + 2 a question, or twice that where every reply needs its second try, for maximum
    breadth B (plans) and depth D (rounds of a plan after its first). The last two are a reading where no proof can be
    read, and a check of the answer.
    """

    manner = Manner(rereads=False, most_antecedents=MOST_ANTECEDENTS)
    spending = Spending(first=2 / 3, later=1, beside=1 / 4, least_look=30, neighbours=True, least=0.1)

    def __init__(self, model: LanguageModel, prompts: PromptBook, limits: Limits) -> None:
        self._model = model
        self._prompts = prompts
        self._max_subgoals = limits.max_subgoals

    def search(self, search: Search) -> Ended | None:
        """Try one plan after another: the first reply writes the first plan, and later ones come from replies too.

        If a reply has no readable proof, the model reads the question from the facts in view instead.
        """
        failed: dict[frozenset[str], str] = {}
        plan: Plan | None = None
        for breadth in range(1, search.limits.max_breadth + 1):
            queries = _first_queries(search.question) if breadth == 1 else () if plan is None else None
            task = Task(breadth, self, search.pool, search.limits.max_depth, plan, queries, dict(failed))
            ended = search.attempt(task)
            if ended.is_proved:
                return ended
            if _is_disorderly(ended):
                return self._read(search, () if ended.state is None else (UNPLANNED,))
            if ended.is_over:
                return None
            if ended.state is not None and ended.record is not None:
                failed[ended.state.plan.key] = _failure(ended.state, ended.record)
            plan = ended.last.next if ended.last is not None else None
            if plan is not None and plan.key in failed:
                search.count(Usage(), REPEATED)
                return None
        return None

    def resume(self, search: Search, kept: Kept) -> Ended | None:
        """Try the plan of an earlier proof again: the first reply sees what still stands, and what is open.

        A rule's plan is tried as if the model had just written it, over the facts that it would have been shown.
        """
        depth, queries = search.limits.max_depth, _first_queries(search.question) if kept.begun.is_rule else None
        ended = search.attempt(Task(1, self, search.pool, depth, kept.plan, queries, begun=kept.begun))
        return ended if ended.is_proved else None

    def _read(self, search: Search, doubts: tuple[str, ...]) -> Ended | None:
        """Let the model read the question once from the facts in view."""
        asked = plan_asked(search.question)
        planned = tuple(map(str, asked.subgoals))
        floor = Floor(self._model, self._prompts[READ])
        ended = search.attempt(Task(0, floor, search.pool, 0, asked, (), planned=planned, doubts=doubts))
        if not ended.is_proved:
            return None
        search.count(Usage(), NOT_PLANNED)
        return ended

    def propose(self, standing: Round) -> Reply[Proposed]:
        """Return one reply: its plan, its claims and what it wants to retrieve."""
        prompt, state = self._prompts[PROVE], standing.state
        labels = range(self._max_subgoals) if state is None else state.in_view()
        choices = {
            "subgoals": [f"S{number + 1}" for number in labels],
            "facts": tuple(standing.pool.facts),
            "variables": LETTERS,
        }

        def build(trouble: str) -> Request:
            request = prompt.request(_inputs(standing) | {"problem": trouble}, choices)
            return replace(request, shape=JsonShape(for_round(_schema_of(request), standing)))

        schema = for_round(prompt.schema or {}, standing)

        def read(texts: Sequence[str]) -> Proposed:
            reply, repairs = mended_json(texts[0], schema, {"goal": standing.question.text})
            proposed = read_proof(reply, standing, self._max_subgoals)
            proposed = replace(proposed, repairs=(*repairs, *proposed.repairs))
            return replace(proposed, status=Status.STOP) if proposed.is_disorderly else proposed

        return ask(self._model, lambda trouble: [build(trouble)], read, takes_parts=True)

    def word(self, proof: Proof) -> None:
        """Return None: the last reply has the wording."""

    def check(self, proof: Proof, answer: str) -> Reply[Judgement]:
        """Ask the model whether the facts answer the question as asked."""
        prompt = self._prompts[CHECK]

        def build(trouble: str) -> Request:
            facts = list(block_of(proof.facts).lines)
            inputs = say_question(proof.question) | {"facts": facts, "goal": str(proof.goal), "found": answer}
            return prompt.request(inputs | {"problem": trouble})

        def read(texts: Sequence[str]) -> Judgement:
            reply = parse_json(texts[0], prompt.schema or {})
            return Judgement(reply["answers"] == "yes", " ".join(reply["differs"].split()))

        return ask(self._model, lambda trouble: [build(trouble)], read)


def _first_queries(question: Question) -> tuple[str, ...]:
    """Return the queries of the first look, before there is a plan: the question, and the times that it names."""
    return question.text, *times_named(question.text, question.asked, language_asked(question.text))


def for_round(schema: Schema, standing: Round) -> Schema:
    """Return the schema of a round's reply.

    Without a plan, the reply must write one; after failed plans it may decline by leaving goal and subgoals empty. With
    a plan, the reply has no keys of a plan except `answer`, for a computed answer. The wording of a closed question is
    one of the verdicts.
    """
    properties, required = dict(schema["properties"]), [*PLAN_KEYS, *schema["required"]]
    if standing.state is not None:
        properties = {name: part for name, part in properties.items() if name not in PLAN_KEYS}
        required = list(schema["required"])
        if standing.state.plan.is_closed:
            properties["wording"] = {"type": "string", "enum": list(VERDICTS)}
        else:
            properties["answer"] = schema["properties"]["answer"]
    elif standing.failed:
        properties["goal"] = {**properties["goal"], "minLength": 0}
        properties["subgoals"] = {**properties["subgoals"], "minItems": 0}
    return {**schema, "properties": properties, "required": required}


def _is_disorderly(ended: Ended) -> bool:
    """Say whether the attempt's last reply was unusable or disorderly."""
    is_unusable = ended.record is not None and ended.record.ending is Ending.UNUSABLE_REPLY
    return is_unusable or (ended.last is not None and ended.last.is_disorderly)


def _schema_of(request: Request) -> Schema:
    return request.shape.schema if isinstance(request.shape, JsonShape) else {}


def _inputs(standing: Round) -> dict[str, object]:
    state, pool = standing.state, standing.pool
    inputs = say_question(standing.question) | {
        "facts": list(pool.shown.lines), "goal": "", "answer": "", "subgoals": [], "perhaps": "", "refused": [],
        "tried": [], "failed": list(standing.failed), "undecided": [],
    }  # fmt: skip
    if state is None:
        return inputs
    return inputs | {
        "goal": str(state.plan.goal),
        "answer": ", ".join(map(str, state.plan.answers)) or "yes or no",
        "subgoals": [_line(state, number) for number in state.in_view()],
        "perhaps": say_bindings(state.perhaps),
        "refused": [f"S{item.subgoal + 1}: {_proposed(item.bindings)}{item.why}" for item in state.rejected],
        "tried": list(pool.tried),
        "undecided": [f"{left} / {right}" for left, right in state.undecided],
    }


def _line(state: ProofState, number: int) -> str:
    settled, serves = say_settled(state, number), state.serves(number)
    place = f" (for S{serves + 1})" if serves is not None else ""
    return f"S{number + 1}. {state.atoms[number]}{place} -- {f'settled: {settled}' if settled else 'open'}"


def _proposed(bindings: Mapping[str, tuple[str, ...]]) -> str:
    return f"{said}: " if (said := say_bindings(bindings)) else ""


def _failure(state: ProofState, record: Attempt) -> str:
    """Return a failed plan with the reasons, so that the next reply writes another."""
    rule = Rule(state.plan.subgoals, state.plan.goal)
    last = record.steps[-1].unresolved if record.steps else ()
    whys = [f"S{entry.subgoal + 1}: {entry.why}" for entry in last if entry.subgoal < len(state.plan.subgoals)]
    return f"{rule} -- {'; '.join(whys)}" if whys else str(rule)

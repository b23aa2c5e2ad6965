"""GOAL-MEM's Algorithm 1: decompose, unify, refine and answer, each in its own call, with JSON replies.

The model plans before it sees any fact, and each plan starts with no fact in view.

Before it plans, each speaker's turns may be summarised. A summary is made once and kept in the memory, as a derived
unit of `goal-mem`: it goes when a turn behind it is forgotten, and new turns extend the last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from goalmem_cli.backbones.mem0 import SUM_UP, SUMMARY
from goalmem_cli.backbones.mem0.pair_reading import Summing
from goalmem_cli.backbones.scope import scope_of, within_time
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.stretches import stretches_of
from goalmem_cli.logic import Rule
from goalmem_cli.logic.normal import as_pair, words
from goalmem_cli.memory_ports import StructuredMemory
from goalmem_cli.memory_records import Derivation
from goalmem_cli.model_replies import Reply, ask_each
from goalmem_cli.ports import LanguageModel
from goalmem_cli.prompts import Prompt, PromptBook
from goalmem_cli.reasoners.goal_mem.loop import REPEATED
from goalmem_cli.reasoners.goal_mem.plans import (
    ask_json,
    parse_plan,
    parse_reply_atom,
    say_bindings,
    say_proof,
    say_question,
)
from goalmem_cli.reasoners.goal_mem.records import NAME as GOAL_MEM
from goalmem_cli.reasoners.goal_mem.records import (
    AfterReply,
    Begun,
    Claim,
    Ended,
    Limits,
    Plan,
    Proof,
    Proposed,
    Round,
    Spending,
    Task,
    Wish,
)
from goalmem_cli.reasoners.goal_mem.state import ProofState
from goalmem_cli.records import Question, Turn, Unit, Usage
from goalmem_cli.trace import Attempt, Ending, Verdict

if TYPE_CHECKING:
    from goalmem_cli.reasoners.goal_mem.engine import SearchRun


GENERATE: Final = "generate"
STEPS = ("decompose", "unify", "refine")
WORDING = ("answer", "verdict")
"""The steps that word an answer; with `generates`, `generate` does."""
_CUES = {"temporal": "when", "causal": "why", "spatial": "where"}
"""The word by which a query tells a backbone its relation (Appendix I.3); none for semantic."""


class Paper:
    """Plans before it sees any fact (GOAL-MEM Algorithm 1 and section 4).

    A question takes at most 1 + B(2 + 2D) model calls for maximum breadth B and depth D, or 2B(3 + 2D) if every reply
    needs its retry (Appendix B).
    """

    spending = Spending()

    def __init__(
        self,
        model: LanguageModel,
        prompts: PromptBook,
        limits: Limits,
        open_store: Callable[[], StructuredMemory] | None = None,
    ) -> None:
        """Take the model with its prompts, the limits, and the memory that keeps summaries of the speakers, if any."""
        self._model = model
        self._prompts = prompts
        self._limits = limits
        self._background = None if open_store is None else Background(open_store, model, prompts)
        # Line 30 of Algorithm 1 ends an attempt only when all is grounded, and then at once.
        self.after_reply = AfterReply(refine=self.refine, is_deniable=False, gathers=False, has_verdict=False)

    def search(self, search: SearchRun) -> Ended | None:
        """Try one plan after another, each different from those that failed, until the question's budget is spent."""
        failed: dict[frozenset[str], str] = {}
        known: list[str] = []
        depth, left = search.limits.max_depth, search.limits.budget
        background = self._summaries(search)
        for breadth in range(1, search.limits.max_breadth + 1):
            if left < 1:
                search.count(Usage(), f"no further plan: all {search.limits.budget} facts of the budget were shown")
                return None
            plan = self._new_plan(search, failed, breadth, {"background": background, "known": known})
            if plan is None:
                return None
            queries = [atom.phrase for atom in plan.subgoals]
            pool = search.pool.emptied(left, self.spending.within(depth))
            ended = search.attempt(Task(breadth, self, pool, depth, plan, queries, dict(failed)))
            if ended.is_proved:
                return ended
            failed[plan.key] = str(Rule(plan.subgoals, plan.goal))
            left -= pool.shown.units
            known += [line for line in _known(ended.state) if line not in known]
        return None

    def resume(self, search: SearchRun, plan: Plan, begun: Begun) -> Ended | None:
        """Try the plan of an earlier proof again, for its open subgoals."""
        depth = search.limits.max_depth
        pool = search.pool.emptied(search.limits.budget, self.spending.within(depth))
        ended = search.attempt(Task(1, self, pool, depth, plan, begun=begun))
        return ended if ended.is_proved else None

    def _summaries(self, search: SearchRun) -> list[str]:
        if self._background is None:
            return []
        lines, usage = self._background.of(search.question)
        search.count(usage)
        return lines

    def _new_plan(
        self, search: SearchRun, failed: Mapping[frozenset[str], str], breadth: int, told: Mapping[str, Sequence[str]]
    ) -> Plan | None:
        """Return a plan, or None. With `own_checks`, a plan that failed before is refused once."""
        problem = note = ""
        for _ in range(2):
            reply = self.decompose(search.question, list(failed.values()), problem, **told)
            search.count(reply.usage)
            if reply.value is None:
                problem, note = reply.problem, ""
                break
            if self._limits.own_checks and reply.value.key in failed:
                problem, note = "it repeats a plan that failed", REPEATED
            else:
                return reply.value
        if note:
            search.count(Usage(), note)
        else:
            failure = f"decomposition: {problem}"
            search.count(Usage(), failed=Attempt(breadth, "", (), ending=Ending.UNUSABLE_REPLY, failure=failure))
        return None

    def decompose(
        self,
        question: Question,
        failed: Sequence[str] = (),
        problem: str = "",
        background: Sequence[str] = (),
        known: Sequence[str] = (),
    ) -> Reply[Plan]:
        """Ask for a rule of at most `max_subgoals` for the question that is none of the `failed` ones (GOAL-MEM 4.1).

        `background` tells of each speaker in a line, `known` is what earlier attempts proved (Appendix I.1).
        """
        told = {"background": list(background), "known": list(known), "failed": list(failed), "problem": problem}
        read = partial(_read_plan, question=question, is_checked=self._limits.own_checks)
        prompt = _of_most(self._prompts["decompose"], "subgoals", self._limits.max_subgoals)
        return ask_json(self._model, prompt, say_question(question) | told, read)

    def propose(self, standing: Round) -> Reply[Proposed]:
        """Ask in one call for claims on all active subgoals over all facts in view (GOAL-MEM 4.2)."""
        state = standing.begun
        active = {number: state.applied(number) for number in state.active_numbers()}
        labels = {f"S{number + 1}": number for number in active}
        variables = sorted({variable.name for atom in active.values() for variable in atom.variables})
        inputs = _facing(standing, state) | {
            "subgoals": [f"{label}. {active[number]}" for label, number in labels.items()],
            "variables": [f"{name}: {state.plan.meanings.get(name, 'to be found')}" for name in variables],
            "undecided": [f"{left} / {right}" for left, right in state.undecided],
        }
        choices = {
            "subgoals": list(labels),
            "facts": list(standing.pool.facts),
            # A schema needs a value to enumerate even where nothing is left to bind; the engine ignores it.
            "variables": sorted({*variables, *state.substitution.bindings}) or ["none"],
        }
        read = partial(_read_claims, labels=labels, plan=state.plan)
        return ask_json(self._model, self._prompts["unify"], inputs, read, choices)

    def refine(self, standing: Round, unresolved: Mapping[int, str]) -> Reply[tuple[Wish, ...]]:
        """Ask in one call for antecedents of the unresolved subgoals, at most `max_subgoals` (GOAL-MEM 4.3).

        None means stop.
        """
        state = standing.begun
        labels = {f"S{number + 1}": number for number in unresolved}
        lines = [f"{label}. {state.applied(number)} -- {unresolved[number]}" for label, number in labels.items()]
        inputs = _facing(standing, state) | {"unresolved": lines, "tried": list(map(str, state.antecedents))}
        prompt = _of_most(self._prompts["refine"], "antecedents", self._limits.max_subgoals)
        read = partial(_read_antecedents, labels=labels)
        return ask_json(self._model, prompt, inputs, read, {"subgoals": list(labels)})

    def word(self, proof: Proof) -> Reply[str]:
        """Ask for the wording of the answer, or the verdict of a closed question (GOAL-MEM 4.4)."""
        step = GENERATE if self._limits.generates else "verdict" if proof.is_closed else "answer"
        told = {"found": ", ".join(proof.found)} if step == "answer" else {"settled": list(proof.settled)}
        return ask_json(self._model, self._prompts[step], say_proof(proof) | told, lambda reply: str(reply["answer"]))

    def check(self, proof: Proof, answer: str) -> None:
        """Return None: Algorithm 1 has no last check."""


def _of_most(prompt: Prompt, name: str, most: int) -> Prompt:
    """Return the prompt with a schema whose list of that name has at most so many elements; 0 sets no bound."""
    schema: Any = prompt.schema or {}
    properties = schema.get("properties", {})
    if not most or name not in properties:
        return prompt
    bounded = {**properties[name], "maxItems": most}
    return replace(prompt, schema={**schema, "properties": {**properties, name: bounded}})


def _facing(standing: Round, state: ProofState) -> dict[str, object]:
    return say_question(standing.question, standing.pool.shown.facts) | {
        "facts": list(standing.pool.shown.lines),
        "goal": str(state.plan.goal),
        "substitution": say_bindings(state.substitution.bindings),
        "known": _known(state),
    }


def _known(state: ProofState | None) -> list[str]:
    """Return the settled subgoals with their values, as statements; for a closed question those that hold."""
    if state is None:
        return []
    return [str(state.applied(number)) for number in range(len(state.atoms)) if state.settling(number)]


def _read_plan(reply: Any, question: Question, *, is_checked: bool) -> Plan:
    meanings = {entry["name"]: entry["stands_for"] for entry in reply["variables"]}
    told = reply["goal"], reply["subgoals"], reply["answer"], meanings, reply["current"]
    return parse_plan(question, *told, is_checked=is_checked)


def _read_claims(reply: Any, labels: Mapping[str, int], plan: Plan) -> Proposed:
    claims = []
    for entry in reply["groundings"]:
        bindings: dict[str, tuple[str, ...]] = {}
        for binding in entry["bindings"]:
            bindings[binding["variable"]] = (*bindings.get(binding["variable"], ()), binding["value"])
        facts = tuple(dict.fromkeys(entry["facts"]))
        claims.append(Claim(labels[entry["subgoal"]], facts, bindings, Verdict(entry["verdict"])))
    same = frozenset(as_pair(entry["left"], entry["right"]) for entry in reply["same"])
    reasons = {labels[entry["subgoal"]]: entry["why"] for entry in reply["unresolved"]}
    return Proposed(plan, tuple(claims), same=same, reasons=reasons)


def _read_antecedents(reply: Any, labels: Mapping[str, int]) -> tuple[Wish, ...]:
    if reply["status"] == "stop":
        return ()
    return tuple(
        Wish(
            labels[entry["of"]],
            "",
            (_led(entry["query"], entry["relation"]),),
            parse_reply_atom(entry["subgoal"]),
            entry["relation"],
        )
        for entry in reply["antecedents"]
    )


def _led(query: str, relation: str) -> str:
    """Return the query with the word for its relation in front, unless it has it."""
    cue = _CUES.get(relation, "")
    return query if not cue or cue in words(query) else f"{cue} {query}"


STEP = SUM_UP
_LETTERS = 12_000
"""About how many letters of one speaker's turns a request adds to that speaker's summary."""


class Background:
    """Summarises the speakers of a question's conversations, as far as that is not done yet."""

    def __init__(self, open_store: Callable[[], StructuredMemory], model: LanguageModel, prompts: PromptBook) -> None:
        self._open_store = open_store
        self._kit = Kit(model, prompts, 1, 0)

    def of(self, question: Question) -> tuple[list[str], Usage]:
        """Return a line for each speaker whom the question may see, and what making the new ones took.

        A speaker whose summary cannot be read from the model's reply keeps the summary of the turns before.

        Raises:
            ModelError: the model cannot be used at all.
            StoreError: the memory cannot be used; `StoreUnable` if it cannot keep what is derived.
        """
        store = self._open_store()
        of: dict[tuple[str, str], list[Turn]] = {}
        for turn in filter(within_time(scope_of(question)), store.turns(question.conversations)):
            if turn.speaker:
                of.setdefault((turn.conversation, turn.speaker), []).append(turn)
        units = {unit.id: unit for unit in store.units_of(GOAL_MEM, [SUMMARY], question.conversations)}
        known = {line.name: units[line.units[0]] for line in store.derived(GOAL_MEM) if set(line.units) & units.keys()}
        lines, usage = [], Usage()
        for (_, speaker), turns in of.items():
            summary, cost = self._summed(store, turns, known)
            usage += cost
            if summary is not None:
                lines.append(f"{speaker}: {summary.text}")
        return lines, usage

    def _summed(
        self, store: StructuredMemory, turns: Sequence[Turn], known: dict[str, Unit]
    ) -> tuple[Unit | None, Usage]:
        """Return the summary after the last stretch of a speaker's turns, and the cost of the stretches not known."""
        last: Unit | None = None
        covered: tuple[Turn, ...] = ()
        usage = Usage()
        for stretch in stretches_of(turns, _LETTERS):
            step = Summing(stretch, last, covered, GOAL_MEM)
            covered = step.turns
            if step.part.name not in known:
                build, read = partial(step.request, self._kit), partial(step.read, self._kit)
                (reply,) = ask_each(self._kit.model, [build], [read])
                usage += reply.usage
                if reply.value is None:
                    break
                store.derive(GOAL_MEM, [Derivation(step.part, (reply.value,), usage=reply.usage)])
                known[step.part.name] = reply.value
            last = known[step.part.name]
        return last, usage

"""Plans and proves in one reply per round, over facts that are shown first: for models from about 3B parameters on.

Each call has its own schema: it enumerates the facts, labels and variables that exist, and has keys for a plan only
while there is none. Replies are read without these enumerations, since a server may ignore them. A claim that cites a
fact which was not shown is then refused, without asking for another reply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.languages.finding import language_asked
from goalmem_cli.logic import Atom, Rule
from goalmem_cli.logic.dates import times_named
from goalmem_cli.logic.normal import as_pair
from goalmem_cli.model_replies import Reply, ask, in_one_line
from goalmem_cli.ports import JsonShape, LanguageModel, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem.loop import REPEATED
from goalmem_cli.reasoners.goal_mem.plans import (
    answered_anew,
    ask_json,
    parse_plan,
    say_bindings,
    say_proof,
    say_question,
    say_settled,
)
from goalmem_cli.reasoners.goal_mem.provers.mending import (
    LETTERS,
    PLAN_KEYS,
    MendedPlan,
    mended_json,
    mended_plan,
    read_statement,
)
from goalmem_cli.reasoners.goal_mem.provers.readings import Floor, plan_asked
from goalmem_cli.reasoners.goal_mem.records import (
    VERDICTS,
    AfterReply,
    Begun,
    Claim,
    Ended,
    Judgement,
    Limits,
    Plan,
    Proof,
    Proposed,
    ReplyStatus,
    Round,
    Spending,
    Task,
    Wish,
)
from goalmem_cli.reasoners.goal_mem.state import ProofState
from goalmem_cli.reasoners.inquiry import READ, is_refusal
from goalmem_cli.records import Question, Usage
from goalmem_cli.trace import Attempt, Ending, Verdict

if TYPE_CHECKING:
    from goalmem_cli.reasoners.goal_mem.engine import SearchRun

PROVE, CHECK = "plan_and_prove", "check"
STEPS = (PROVE, CHECK, READ)
UNPLANNED = "it was read, not planned"
NOT_PLANNED = "read, not planned: no proof could be read of what the model replied"

Schema = Mapping[str, Any]


class Together:
    """Plans with the first facts in view; each reply plans, proves, and says what to look for next.

    Model calls stay within B(D + 1) + 2 a question, or twice that where every reply needs its second try, for maximum
    breadth B (plans) and depth D (rounds of a plan after its first). The last two are a reading where no proof can be
    read, and a check of the answer.
    """

    after_reply = AfterReply(most_antecedents=8)  # with four subgoals, the labels go from S1 to S12
    # later=1: of 127 training questions whose evidence is not among the first facts 98 are proved so, 81 with 1/2
    spending = Spending(first=2 / 3, later=1, beside=1 / 4, least_look=30, neighbours=True, least=0.1, hopeful=0.022)

    def __init__(self, model: LanguageModel, prompts: PromptBook, limits: Limits) -> None:
        self._model = model
        self._prompts = prompts
        self._max_subgoals = limits.max_subgoals

    def search(self, search: SearchRun) -> Ended | None:
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

    def resume(self, search: SearchRun, plan: Plan, begun: Begun) -> Ended | None:
        """Try the plan of an earlier proof again: the first reply sees what still stands, and what is open.

        A rule's plan is tried as if the model had just written it, over the facts that it would have been shown.
        """
        depth, queries = search.limits.max_depth, _first_queries(search.question) if begun.is_rule else None
        ended = search.attempt(Task(1, self, search.pool, depth, plan, queries, begun=begun))
        return ended if ended.is_proved else None

    def _read(self, search: SearchRun, doubts: tuple[str, ...]) -> Ended | None:
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

        def build(trouble: str) -> list[Request]:
            request = prompt.request(_inputs(standing) | {"problem": trouble}, choices)
            full = request.shape.schema if isinstance(request.shape, JsonShape) else {}
            return [replace(request, shape=JsonShape(for_round(full, standing)))]

        schema = for_round(prompt.schema or {}, standing)

        def read(texts: Sequence[str]) -> Proposed:
            reply, repairs = mended_json(texts[0], schema, {"goal": standing.question.text})
            proposed = read_proof(reply, standing, self._max_subgoals)
            proposed = replace(proposed, repairs=(*repairs, *proposed.repairs))
            return replace(proposed, status=ReplyStatus.STOP) if proposed.is_disorderly else proposed

        return ask(self._model, build, read, takes_parts=True)

    def word(self, proof: Proof) -> None:
        """Return None: the last reply has the wording."""

    def check(self, proof: Proof, answer: str) -> Reply[Judgement]:
        """Ask the model whether the facts answer the question as asked."""

        def read(reply: Any) -> Judgement:
            return Judgement(reply["answers"] == "yes", in_one_line(reply["differs"]))

        return ask_json(self._model, self._prompts[CHECK], say_proof(proof) | {"found": answer}, read)


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


def _inputs(standing: Round) -> dict[str, object]:
    """Return the prompt's inputs for a round.

    These are the question, the facts in view, the failed plans, and the plan with what became of it: values, refused
    claims, tried queries, undecided pairs. Before there is a plan, its inputs are empty.
    """
    state, pool = standing.state, standing.pool
    inputs = say_question(standing.question, pool.shown.facts) | {
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


# Reading replies; whether their claims hold is judged elsewhere (`judge.py`)


def read_proof(reply: Any, standing: Round, max_subgoals: int) -> Proposed:
    """Return the content of a reply. Labels S1, S2 ... count the subgoals in the order of the reply.

    Raises:
        ReplyUnusable: the plan is unreadable, or has too many subgoals.
    """
    state, atoms, places = standing.state, list[Atom](), dict[str, int]()
    plan, mended, repairs = None, None, list[str]()
    if state is not None:
        atoms, places = list(state.atoms), {f"S{number + 1}": number for number in state.in_view()}
        plan = answered_anew(state.plan, reply.get("answer", ()), standing.question)
    elif reply["subgoals"]:
        mended = mended_plan(reply, standing.question)
        repairs += mended.repairs
        meanings = {mended.letter(entry["name"]): entry["stands_for"] for entry in reply["variables"]}
        plan = _plan(standing.question, mended, max_subgoals, meanings)
        plan = replace(plan, is_current=reply["current"], is_conclusion=reply["conclusion"])
        atoms, places = list(plan.subgoals), _places(mended.subgoals)
    if plan is None:
        return Proposed(None, status=ReplyStatus.STOP)
    lost = mended.left_out if mended is not None else {}
    told = [entry for entry in reply["groundings"] if entry["subgoal"] not in lost]
    claims = tuple(_claim(entry, places, atoms, mended) for entry in told)
    following = _next(reply["next"], plan, standing.question, max_subgoals, repairs)
    wishes = [_wish(entry, places[entry["subgoal"]], mended) for entry in reply["open"] if entry["subgoal"] in places]
    is_declined = reply["status"] == ReplyStatus.STOP and is_refusal(reply["wording"])
    is_disorderly = bool(mended is not None and mended.repairs)
    is_disorderly = is_disorderly or (not is_declined and _is_unreadable(claims, plan, standing, len(atoms)))
    return Proposed(
        plan,
        claims,
        frozenset(reply["several"]),
        frozenset(as_pair(entry["left"], entry["right"]) for entry in reply["same"]),
        tuple(wishes),
        {},
        following,
        ReplyStatus(reply["status"]),
        " ".join(reply["wording"].split()),
        tuple(repairs),
        is_disorderly,
    )


def _is_unreadable(claims: Sequence[Claim], plan: Plan, standing: Round, count: int) -> bool:
    """Say whether most claims use undeclared labels, or whether claims for the answer bind no answer variable."""
    if 2 * sum(not 0 <= claim.subgoal < count for claim in claims) > len(claims):
        return True
    bound = standing.state.substitution.bindings if standing.state is not None else {}
    wanted = set(plan.answer_variables) - set(bound)
    having = plan.having(wanted)
    told = [claim for claim in claims if claim.subgoal in having and claim.verdict is Verdict.ENTAILED]
    return bool(told) and not any(wanted & claim.bindings.keys() for claim in told)


def _plan(question: Question, written: MendedPlan, max_subgoals: int, meanings: Mapping[str, str]) -> Plan:
    """Return the plan of a reply.

    Raises:
        ReplyUnusable: it is unreadable, has too many subgoals, or uses an unknown variable.
    """
    subgoals = [text for text in written.subgoals if text is not None]
    if len(subgoals) > max_subgoals:
        raise ReplyUnusable(f"it has {len(subgoals)} subgoals, and at most {max_subgoals} may be")
    plan = parse_plan(question, written.goal, subgoals, written.answer, meanings, False)
    names = [variable.name for atom in plan.subgoals for variable in atom.variables]
    if strange := [name for name in names if name not in LETTERS]:
        raise ReplyUnusable(f"the variable {strange[0]} is none of {', '.join(LETTERS)}")
    return replace(plan, left_out=tuple(written.left_out.values()))


def _next(written: Sequence[Any], plan: Plan, question: Question, max_subgoals: int, repairs: list[str]) -> Plan | None:
    """Return the next plan, or None. An unreadable one is left out and noted in `repairs`."""
    if not written:
        return None
    try:
        found = _plan(question, mended_plan(written[0], question), max_subgoals, plan.meanings)
    except ReplyUnusable as error:
        repairs.append(f"the next plan was left out: {error.message}"[:160])
        return None
    return replace(found, is_current=plan.is_current, is_conclusion=plan.is_conclusion)


def _places(texts: Sequence[str | None]) -> dict[str, int]:
    """Return label -> subgoal number. Repeated texts share a number; texts that were left out have none."""
    distinct = list(dict.fromkeys(text for text in texts if text is not None))
    return {f"S{place}": distinct.index(text) for place, text in enumerate(texts, 1) if text is not None}


def _claim(entry: Any, places: Mapping[str, int], atoms: Sequence[Atom], mended: MendedPlan | None) -> Claim:
    """Return the claim of a grounding, without bindings of variables that its subgoal lacks."""
    is_known = entry["subgoal"] in places
    number = places[entry["subgoal"]] if is_known else _number(entry["subgoal"])
    names = {variable.name for variable in atoms[number].variables} if is_known else set()
    bindings: dict[str, tuple[str, ...]] = {}
    for binding in entry["bindings"]:
        name, value = binding["variable"], " ".join(binding["value"].split())
        name = name if mended is None else mended.letter(name)
        if name in names and value not in bindings.get(name, ()):
            bindings[name] = (*bindings.get(name, ()), value)
    verdict = Verdict(entry["verdict"])
    facts = tuple(dict.fromkeys(entry["facts"]))
    return Claim(number, facts, bindings, verdict, " ".join(entry["why"].split()), entry["instead"])


def _number(label: str) -> int:
    """Return the number in an undeclared label, which no subgoal has."""
    return int(label[1:]) - 1 if label[1:].isdecimal() and len(label) < 4 else -1


def _wish(entry: Any, number: int, mended: MendedPlan | None) -> Wish:
    queries = tuple(dict.fromkeys(text for query in entry["queries"] if (text := " ".join(query.split()))))
    letters = mended.letters if mended is not None else {}
    told = [(read_statement(needed["text"], letters), needed["relation"]) for needed in entry["needs"]]
    need, relation = next((each for each in told if each[0] is not None), (None, ""))
    return Wish(number, " ".join(entry["why"].split()), queries, need, relation)

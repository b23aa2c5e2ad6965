"""The prover for small models: read the question from its best facts; if unsure, plan, read the steps, and read again.

Reading several facts together shows what single facts do not: which of several turns is meant, and yes or no. An easy
question takes one call. Each further reading begins with the facts of the first, so a model in this process computes
only what is new.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.fitted import Fitted
from goalmem_cli.languages.words import is_foreign
from goalmem_cli.logic import Atom, Substitution, Variable
from goalmem_cli.logic.computing.kinds import gathered
from goalmem_cli.logic.computing.question_words import computed_step, plain_answer
from goalmem_cli.logic.questions import (
    asks_for_current_state,
    asks_for_something,
    asks_yes_or_no,
    kinds_asked_for,
    may_ask_for_several,
)
from goalmem_cli.model_replies import Reply, ask
from goalmem_cli.ports import LanguageModel, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem.judge import sides_of
from goalmem_cli.reasoners.goal_mem.plans import calculations, parse_plan, parse_reply_atom
from goalmem_cli.reasoners.goal_mem.provers.readings import (
    GoalReading,
    StepReading,
    computed_plan,
    likelihood_of,
    plan_asked,
)
from goalmem_cli.reasoners.goal_mem.records import Begun, Claim, Ended, Plan, Proof, Spending, Task
from goalmem_cli.reasoners.goal_mem.replacing import OUTDATED
from goalmem_cli.reasoners.prompt_texts import asker_in
from goalmem_cli.records import Question, Usage
from goalmem_cli.trace import Verdict

if TYPE_CHECKING:
    from goalmem_cli.reasoners.goal_mem.engine import SearchRun


STEPS = ("decompose", "read")
READINGS = 7
"""The most readings of the question itself: two at first (few facts, then more), two more without turns that were
replaced later, one more without an "I have never", one after its steps, one from more facts."""
_NEVER = re.compile(r"(?:\b(?:have|has)|['’]ve)(?: \w+ly| just| still)? never\b(?! again)", re.IGNORECASE)
"""An English "have never" denies all that was before. A yes of later is shown as a conflict too: the user decides."""
_VAGUE = re.compile(r"(?:about|less|more|at least|at most|up to)\b|.* to ")


class Stepwise:
    """Reads the question, the steps of a plan, and the question again. The engine checks each reading like any claim.

    A question takes at most 1 + 7 + (D + 1) model calls for maximum depth D: the plan, the readings of the question,
    and the rounds for the steps. It takes twice that if every reply needs its retry.
    """

    spending = Spending()

    def __init__(self, model: LanguageModel, prompts: PromptBook, fitted: Fitted) -> None:
        self._model = model
        self._prompts = prompts
        self._fitted = fitted

    def resume(self, search: SearchRun, plan: Plan, begun: Begun) -> Ended | None:
        """Read the question; if that is unsure, read the open steps of an earlier proof's plan. See `search`."""
        is_outdone = not plan.is_computed and computed_plan(search.question) is not None  # by a rule of this version
        return self.search(search, plan, begun) if len(plan.subgoals) > 1 and not is_outdone else self.search(search)

    def search(self, search: SearchRun, plan: Plan | None = None, begun: Begun | None = None) -> Ended | None:
        """Read the question. If that is unsure, plan, read the plan's steps, and read the question again.

        If the value read was replaced later, the question is first read again without the turns that gave it. If the
        answer is no by an "I have never", and surely yes without that turn, the two are in conflict. The last
        readings use the facts that the steps found, or more of the question's own. A given `plan` is not asked for.
        """
        asked = plan_asked(search.question)
        first, replaced = self._first(search, asked)
        if self._is_torn(search, asked, first, replaced):
            return None
        if first.is_proved and likelihood_of(first) >= self._fitted.sure:
            return first
        plan = plan or self._planned(search)
        last, holds = first, False
        if plan is not None and len(plan.subgoals) > 1 and may_read(plan):
            steps = search.attempt(self._steps(search, plan, first, begun))
            holds = _has_result(steps, search)
            if holds and plan.is_computed and likelihood_of(steps) >= likelihood_of(first):
                return steps
            bound = steps.state.substitution if steps.state is not None else Substitution()
            found = [bound.apply(atom).phrase for atom in plan.subgoals]
            last = search.attempt(self._reading(search, asked, first, tuple(dict.fromkeys(found)), replaced))
            if last.is_proved:
                return last
            if holds and not first.is_proved and not plan.is_closed:
                return steps
        if not holds:
            again = search.attempt(self._reading(search, asked, last, without=replaced))
            if again.is_proved:
                return again
        return first if first.is_proved else None

    def _first(self, search: SearchRun, asked: Plan) -> tuple[Ended, frozenset[str]]:
        """Read the question; return the reading and the units left out because they were replaced."""
        first = search.attempt(self._reading(search, asked))
        replaced = _replaced_in(first)
        if replaced and not first.is_proved:
            first = search.attempt(self._reading(search, asked, without=replaced))
        return first, replaced

    def _is_torn(self, search: SearchRun, asked: Plan, first: Ended, replaced: frozenset[str]) -> bool:
        """Say whether facts say yes where the first reading says no by an "I have never"."""
        denied = None if asked.is_current else _denied_in(first)
        if denied is None:
            return False
        claim, units = denied
        other = search.attempt(self._reading(search, asked, without=replaced | units, denial=claim))
        return other.record is not None and bool(sides_of([other.record]))

    def _planned(self, search: SearchRun) -> Plan | None:
        """Return a plan for the question, by rule if its words say how the answer is computed, else by the model.

        Return None if none could be read, or the question is not in English.

        Small models learned to plan English questions; of others they make yes-or-no questions.
        """
        if is_foreign(search.question.text):
            return None
        if (computed := computed_plan(search.question)) is not None:
            return computed
        reply = self.decompose(search.question)
        search.count(reply.usage, f"no plan could be read: {reply.problem}" if reply.value is None else "")
        return reply.value

    def _reading(
        self,
        search: SearchRun,
        asked: Plan,
        after: Ended | None = None,
        beside: tuple[str, ...] = (),
        without: frozenset[str] = frozenset(),
        denial: Claim | None = None,
    ) -> Task:
        """Return the task of reading the question from its best facts, `without` some units; see `GoalReading`.

        `after` an earlier reading it shows that reading's facts and more: hits of the queries `beside`, or else further
        hits of the question.
        """
        limits, fitted = search.limits, self._fitted
        pool, units, tokens = search.pool, min(limits.budget, fitted.rounds[-1][-1]), limits.read_tokens
        if after is not None:
            pool, shown = after.task.pool, after.task.pool.shown
            count, tokens = fitted.again
            if beside:
                count, tokens = len(shown.facts) + fitted.added[0], shown.tokens + fitted.added[1]
            count = max(count, len(shown.facts), fitted.rounds[-1][-1])
            units = min(limits.budget + shown.units, count)
            tokens = min(max(tokens, limits.read_tokens), limits.max_fact_tokens)
            fitted = replace(fitted, rounds=((count,),))
        if denial is not None:
            fitted = replace(fitted, rounds=(fitted.rounds[-1][-1:],))
        seen = pool.shown if after is not None else None
        proposer = GoalReading(self._model, self._prompts, fitted, seen, without, denial)
        queries = (search.question.text, *beside)
        own = pool.within(units, tokens, self.spending.within(0))
        planned = () if denial is not None else tuple(map(str, asked.subgoals))  # `certainty.py` counts readings by it
        return Task(0, proposer, own, 0, asked, queries, planned=planned)

    def _steps(self, search: SearchRun, plan: Plan, first: Ended, begun: Begun | None) -> Task:
        shown = first.task.pool.shown
        proposer = StepReading(self._model, self._prompts, self._fitted, shown, search.limits.max_fact_tokens)
        queries = [atom.phrase for atom in plan.subgoals]
        depth = search.limits.max_depth
        pool = first.task.pool.beyond(search.limits, self.spending.within(depth))
        return Task(1, proposer, pool, depth, plan, queries if begun is None else None, begun=begun)

    def decompose(self, question: Question) -> Reply[Plan]:
        """Ask for a rule for the question (GOAL-MEM 4.1)."""

        def build(trouble: str) -> list[Request]:
            inputs = {"question": question.text, "asker": asker_in(question), "problem": trouble}
            return [self._prompts["decompose"].request(inputs, plan_choices(question))]

        return ask(self._model, build, lambda texts: read_plan(texts[0], question))

    def word(self, proof: Proof) -> Reply[str] | None:
        """Return the values read, without a call; None for a closed question, whose reading has the verdict."""
        return None if proof.is_closed else Reply(", ".join(proof.found), Usage())

    def check(self, proof: Proof, answer: str) -> None:
        """Return None: a small model cannot check its own answer."""


def _replaced_in(read: Ended) -> frozenset[str]:
    """Return the units that a reading was refused for, since later ones replace them."""
    steps, facts = read.record.steps if read.record is not None else (), read.task.pool.every_fact
    refused = [item for step in steps for item in step.rejected if item.why.startswith(OUTDATED)]
    cited = (facts[number] for item in refused for number in item.facts)
    return frozenset(fact.unit for fact in cited if fact.moved_on is not None)


def _denied_in(read: Ended) -> tuple[Claim, frozenset[str]] | None:
    """Return the claim that the answer is no, and the units that it rests on, if a cited turn says "have never"."""
    facts = read.task.pool.every_fact
    for item in read.state.contradicted if read.is_proved and read.state is not None else ():
        denying = [number for number in item.facts if _NEVER.search(facts[number].text)]
        if denying:
            claim = Claim(0, tuple(denying), verdict=Verdict.CONTRADICTED, grounding_certainty=item.grounding_certainty)
            return claim, frozenset(facts[number].unit for number in denying)
    return None


def _has_result(steps: Ended, search: SearchRun) -> bool:
    """Say whether all steps are proved and, if their values are computed with, the result is exact."""
    state = steps.state
    if state is None or not steps.is_proved or not state.plan.is_computed:
        return steps.is_proved
    facts = steps.task.pool.every_fact
    found = calculations(state.plan, state.groundings, facts, search.question, state.judged)
    return not any(each.why or any(map(_VAGUE.match, each.values)) for each in found)


def most_calls(depth: int) -> int:
    """Return the most model calls of a question, without retries."""
    return 1 + READINGS + depth + 1


def may_read(plan: Plan) -> bool:
    """Say whether a plan's steps can be read: they have one value each, and one answer if nothing is computed."""
    if plan.is_computed:
        return not any(map(gathered, plan.answers))
    return len(plan.answer_variables) <= 1


# Plans in the form of the compact prompts

_WORD, _CAPITAL = re.compile(r"\w+"), re.compile("[A-Z0-9]")
_ADDRESSED = "Assistant"
"""The name for "you" in a question."""
_SUBGOAL = re.compile(r"\d\. (.+)")


def write_plan(goal: str, subgoals: Sequence[str]) -> str:
    """Return a plan as a reply: the goal, whose variables are the answer's, then one numbered line per subgoal."""
    return "\n".join((goal, *(f"{number}. {text}" for number, text in enumerate(subgoals, start=1))))


def read_plan(text: str, question: Question) -> Plan:
    """Return the plan of a reply. If its subgoals lack an answer variable, the goal is the only subgoal.

    A subgoal that only counts the time between two dates becomes an expression, since small models miscount.

    Raises:
        ReplyUnusable: the reply has another form, or is no plan for the question.
    """
    goal, *rest = text.strip().split("\n")
    matches = [_SUBGOAL.fullmatch(line) for line in rest]
    if not matches or None in matches:
        raise ReplyUnusable("it must be a goal line and numbered subgoals")
    subgoals = [match[1] for match in matches if match is not None]
    answer = [variable.name for variable in parse_reply_atom(goal).variables]
    said = {variable.name for subgoal in subgoals for variable in parse_reply_atom(subgoal).variables}
    if not said.issuperset(answer):
        subgoals = [goal]
    atoms = [parse_reply_atom(subgoal) for subgoal in subgoals]
    step = computed_step(answer[0], atoms) if len(answer) == 1 else None
    if step is not None:
        at, expression = step
        rest = [*subgoals[:at], *subgoals[at + 1 :]]
        return parse_plan(question, goal, rest, [expression], {}, asks_for_current_state(question.text))
    wanted = [variable for name in answer for variable in _having(name, atoms)]
    computed = plain_answer(question.text, wanted, atoms)
    return parse_plan(question, goal, subgoals, computed, {}, asks_for_current_state(question.text))


def _having(name: str, atoms: Sequence[Atom]) -> list[Variable]:
    """Return the variable as the first subgoal with it writes it: a list of one, or none."""
    return [variable for atom in atoms for variable in atom.variables if variable.name == name][:1]


def plan_choices(question: Question) -> dict[str, list[str]]:
    """Return the choices for the grammar of a plan: the goal's variables, their types, and the names it may use."""
    is_several = may_ask_for_several(question.text)
    return {
        "kinds": [] if is_several else list(kinds_asked_for(question.text)),
        "open": ["x"] if asks_for_something(question.text) else [],
        "several": ["x and y"] if is_several else [],
        "closed": ["yes or no"] if asks_yes_or_no(question.text) else [],
        "names": _names(question.text, asker_in(question), _ADDRESSED),
    }


def _names(*texts: str) -> list[str]:
    """Return the words with a capital or digit that a plan may use, so that a small model cannot make names up.

    If the first text has no capitals, each of its words may be a name.
    """
    words = dict.fromkeys(word for text in texts for word in _WORD.findall(text))
    is_cased = any(len(word) > 1 and word[0].isupper() for word in _WORD.findall(texts[0])[1:])
    as_typed = [form for word in words for form in (word, word.removesuffix("s"))]
    forms = as_typed if is_cased else [*as_typed, *(word[:1].upper() + word[1:] for word in words)]
    return [form for form in dict.fromkeys(forms) if _CAPITAL.search(form)]

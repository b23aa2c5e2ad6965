"""The depth loop of one attempt: retrieve, unify, check, refine, until all is grounded or nothing leads on.

GOAL-MEM Algorithm 1, lines 6 to 36.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from goalmem_cli.logic import Atom, Substitution, Variable
from goalmem_cli.logic.normal import normalise
from goalmem_cli.ports import Observer
from goalmem_cli.reasoners.goal_mem.agreement import shares
from goalmem_cli.reasoners.goal_mem.facts import FactBook, Retrieved
from goalmem_cli.reasoners.goal_mem.grounding import rule
from goalmem_cli.reasoners.goal_mem.plans import (
    Antecedent,
    Bench,
    Decomposition,
    Limits,
    Pair,
    ProvingSteps,
    Situation,
    Unification,
    as_pair,
)
from goalmem_cli.reasoners.goal_mem.weighing import speakers
from goalmem_cli.reasoners.showing import Shown
from goalmem_cli.records import Question, Usage
from goalmem_cli.trace import Attempt, Contradicted, Ending, Grounded, Refined, Step, Unresolved


@dataclass(frozen=True, slots=True)
class Outcome:
    """An attempt that ended: its record, and what it proved, if it did.

    `judged` are pairs that were held to be one; `wording` is the answer, where a reply gave it beside its proof;
    `shown` are the facts that its model calls saw.
    """

    record: Attempt
    is_grounded: bool
    substitution: Substitution
    groundings: tuple[Grounded, ...]
    contradicted: tuple[Contradicted, ...]
    subgoals: tuple[Atom, ...]
    usage: Usage
    judged: frozenset[Pair] = frozenset()
    wording: str = ""
    shown: Shown = field(default_factory=Shown)


class AttemptRun:
    """One decomposition on its way; it starts with an empty substitution, and runs once.

    Its pool is empty too, or what an earlier attempt of the question was `shown`: then its prompts begin as those did.
    """

    def __init__(
        self,
        question: Question,
        plan: Decomposition,
        book: FactBook,
        steps: ProvingSteps,
        limits: Limits,
        *,
        is_strict: bool,
        breadth: int,
        observer: Observer,
        shown: Shown = Shown(),  # noqa: B008 - frozen
    ) -> None:
        self._question = question
        self._plan = plan
        self._book = book
        self._steps = steps
        self._limits = limits
        self._is_strict = is_strict
        self._breadth = breadth
        self._observer = observer
        self._atoms: list[Atom] = list(plan.subgoals)
        self._serves: list[int | None] = [None] * len(plan.subgoals)
        self._groundings: list[Grounded] = []
        self._contradicted: dict[int, Contradicted] = {}
        self._substitution = Substitution()
        self._shown = shown
        self._undecided: tuple[tuple[str, str], ...] = ()
        self._asked: set[Pair] = set()
        self._same: set[Pair] = set()
        self._explored: set[str] = set()
        self._queries: list[list[str]] = [[atom.phrase] for atom in plan.subgoals]
        self._queried: set[str] = {atom.phrase for atom in plan.subgoals}
        self._found: dict[str, Mapping[str, float]] = {}
        self._told: Mapping[str, float] = {}
        self._held: set[tuple[str, str]] = set()
        self._wording = ""

    def run(self) -> Outcome:
        """Return how the attempt ended, after at most 1 + max_depth rounds."""
        self._observer.started(self._breadth, str(self._plan.goal), [str(atom) for atom in self._plan.subgoals])
        record = Attempt(self._breadth, str(self._plan.goal), tuple(map(str, self._plan.subgoals)))
        queries = list(dict.fromkeys(self._steps.queries(self._question, self._plan)))
        usage, ending, is_deep = Usage(), None, bool(self._shown.blocks)
        for depth in range(self._limits.max_depth + 1):
            step, has_new = self._round(depth, queries, is_deep)
            ending = self._ending(step, depth, has_new)
            is_last = depth == self._limits.max_depth or ending not in (None, Ending.GROUNDED)
            wanted = [] if is_last else self._unexplored(is_again=self._question.wants_all and has_new)
            queries, is_deep = self._explore(wanted), bool(wanted)
            if wanted and not step.unresolved:
                ending = None
            elif ending is None:
                step, ending, more = self._refine(step)
                queries = list(dict.fromkeys([*queries, *more, *self._renewed()]))[: self._limits.max_subgoals]
            record = replace(record, steps=(*record.steps, step))
            usage += step.usage
            self._observer.stepped(self._breadth, step, self._book.facts)
            if ending is not None:
                break
        record = replace(record, ending=ending)
        return Outcome(
            record,
            self._is_grounded,
            self._substitution,
            self._lasting(),
            tuple(self._contradicted.values()),
            tuple(self._atoms),
            usage,
            frozenset(self._same),
            self._wording,
            self._shown,
        )

    @property
    def _is_grounded(self) -> bool:
        roots = all(self._is_settled(number) for number in range(len(self._plan.subgoals)))
        return roots and all(name in self._substitution for name in self._plan.answer_variables)

    def _round(self, depth: int, queries: list[str], is_deep: bool) -> tuple[Step, bool]:
        """Retrieve and unify once; say too whether retrieval brought anything new."""
        found = self._book.retrieve(queries, self._shown, is_first=depth == 0, is_deep=is_deep)
        self._queried |= set(queries)
        self._found |= found.by_query
        self._told = found.by_speaker.get(self._question.text, self._told)
        self._shown = self._shown.plus(found.block)
        step = Step(depth, tuple(queries), tuple(fact.number for fact in found.new), skipped=found.skipped)
        active = self._active()
        is_idle = not found.new and not any(map(self._open, active))
        if not self._shown.blocks or is_idle:
            return replace(step, unresolved=self._unresolved({}, {}, found)), bool(found.new)
        situation = self._situation(active)
        reply = self._steps.unify(situation)
        if reply.value is None:
            return replace(step, failure=f"unification: {reply.problem}", usage=reply.usage), bool(found.new)
        self._held |= {(str(situation.subgoals[number]), fact) for number, fact in reply.value.held}
        step = self._take(step, reply.value, found)
        return replace(step, usage=reply.usage), bool(found.new)

    def _take(self, step: Step, unification: Unification, found: Retrieved) -> Step:
        """Judge what the model proposed, and keep what holds."""
        self._same |= unification.same
        self._wording = unification.wording
        self._asked |= {as_pair(*pair) for pair in self._undecided}
        ruling = rule(unification.proposals, self._bench())
        self._groundings += ruling.grounded
        for contradicted in ruling.contradicted:
            self._contradicted.setdefault(contradicted.subgoal, contradicted)
        self._substitution = ruling.substitution
        pairs = {as_pair(*pair): pair for pair in ruling.undecided}
        self._undecided = tuple(pair for key, pair in pairs.items() if key not in self._asked)
        refusals = {entry.subgoal: entry.why for entry in ruling.rejected}
        return replace(
            step,
            grounded=ruling.grounded,
            rejected=ruling.rejected,
            contradicted=ruling.contradicted,
            unresolved=self._unresolved(refusals, unification.unresolved, found),
        )

    def _bench(self) -> Bench:
        return Bench(
            question=self._question.text,
            subgoals=tuple(self._atoms),
            facts={fact.number: fact for fact in self._shown.facts},
            substitution=self._substitution,
            earlier=tuple(self._groundings),
            people=speakers(self._shown.facts),
            same=frozenset(self._same),
            asker=self._question.asker,
            is_closed=not self._plan.answer_variables,
            is_current=self._plan.is_current,
            is_strict=self._is_strict,
            is_unchecked=not self._limits.checks,
        )

    def _ending(self, step: Step, depth: int, has_new: bool) -> Ending | None:
        """Return why the attempt ends after this round, or None if refinement may lead on."""
        if step.failure is not None:
            return Ending.UNUSABLE_REPLY
        if self._is_grounded:
            return Ending.GROUNDED
        if depth > 0 and not has_new:
            is_spent = self._book.is_spent(self._shown)
            return Ending.BUDGET_SPENT if is_spent else Ending.NOTHING_NEW
        if depth == self._limits.max_depth:
            return Ending.MAX_DEPTH
        return Ending.BUDGET_SPENT if self._book.is_spent(self._shown) else None

    def _refine(self, step: Step) -> tuple[Step, Ending | None, list[str]]:
        """Ask for antecedents of what is unresolved; return the step with them, the ending if any, and the queries."""
        unresolved = {entry.subgoal: entry.why for entry in step.unresolved}
        tried = [str(atom) for atom, serves in zip(self._atoms, self._serves, strict=True) if serves is not None]
        reply = self._steps.refine(self._situation(list(unresolved)), unresolved, tried)
        step = replace(step, usage=step.usage + reply.usage)
        if reply.value is None:
            return replace(step, failure=f"refinement: {reply.problem}"), Ending.UNUSABLE_REPLY, []
        again = self._asked_again(reply.value)
        fresh = self._fresh(antecedent for antecedent in reply.value if antecedent not in again)
        if not again and not fresh:
            return step, None if self._renewed() else Ending.REFINEMENT_STOPPED, []
        refined = []
        for antecedent in again:
            self._queries[antecedent.of].append(antecedent.query)
        for antecedent in fresh:
            self._atoms.append(antecedent.subgoal)
            self._serves.append(antecedent.of)
            self._queries.append([antecedent.query])
            self._queries[antecedent.of].append(antecedent.query)
            self._queried.add(self._phrase(len(self._atoms) - 1))  # its own query stands for it
            text = str(antecedent.subgoal)
            refined.append(Refined(antecedent.of, text, antecedent.query, antecedent.relation))
        return replace(step, refined=tuple(refined)), None, [antecedent.query for antecedent in (*again, *fresh)]

    def _asked_again(self, antecedents: Iterable[Antecedent]) -> list[Antecedent]:
        """Return those that say what the subgoal they serve says: each is another query for it, if it is a new one."""
        return [
            antecedent
            for antecedent in antecedents
            if antecedent.subgoal.phrase in (self._atoms[antecedent.of].phrase, self._phrase(antecedent.of))
            and antecedent.query.strip()
            and antecedent.query not in self._found
        ]

    def _fresh(self, antecedents: Iterable[Antecedent]) -> list[Antecedent]:
        """Return the antecedents that repeat no subgoal of this attempt, at most `max_subgoals`."""
        known = {normalise(atom.phrase) for atom in self._atoms}
        fresh: dict[str, Antecedent] = {}
        for antecedent in antecedents:
            key = normalise(antecedent.subgoal.phrase)
            if key not in known and antecedent.query.strip():
                fresh.setdefault(key, antecedent)
        return list(fresh.values())[: self._limits.max_subgoals]

    def _situation(self, numbers: list[int]) -> Situation:
        plain = self._plain()
        return Situation(
            self._question,
            self._plan,
            self._shown,
            {number: plain.apply(self._atoms[number]) for number in numbers},
            self._substitution.bindings,
            self._undecided,
            {number: self._leads(number) for number in numbers},
            self._found.get(self._question.text, {}),
            self._told,
        )

    def _leads(self, number: int) -> dict[str, float]:
        """Return the facts that a subgoal's queries led to, the likeliest first, but those it was held against."""
        text = str(self._plain().apply(self._atoms[number]))
        likely: dict[str, float] = {}
        for query in dict.fromkeys((self._phrase(number), *self._queries[number])):
            for fact, likelihood in self._found.get(query, {}).items():
                likely[fact] = max(likelihood, likely.get(fact, 0.0))
        order = sorted(likely, key=lambda fact: -likely[fact])
        return {fact: likely[fact] for fact in order if (text, fact) not in self._held}

    def _nearest(self, number: int, found: Retrieved) -> tuple[str, ...]:
        """Return the first two facts that the subgoal led to in a round."""
        queries = (self._atoms[number].phrase, self._phrase(number))
        led = [list(found.by_query.get(query, {})) for query in queries]
        return tuple((led[0] or led[1])[:2])

    def _open(self, number: int) -> bool:
        """Say whether a subgoal still waits for its grounding: an antecedent does only while the one it serves does."""
        serves = self._serves[number]
        return not self._is_settled(number) and (serves is None or self._open(serves))

    def _is_settled(self, number: int) -> bool:
        return number in self._contradicted or any(item.subgoal == number for item in self._groundings)

    def _lasting(self) -> tuple[Grounded, ...]:
        """Return the groundings that the substitution still rests on: some value of each starred variable is in it."""
        kept = self._substitution.bindings
        return tuple(
            item
            for item in self._groundings
            if all(shares(values, kept[name]) for name, values in item.bindings.items() if name in self._starred())
        )

    def _active(self) -> list[int]:
        """Return the subgoals to unify: the open ones, and the starred ones whose further retrieval has just run."""
        return [n for n in range(len(self._atoms)) if self._open(n) or (self._is_settled(n) and self._asks_more(n))]

    def _asks_more(self, number: int) -> bool:
        return any(variable.name in self._explored for variable in self._starred_in(number))

    def _starred(self) -> frozenset[str]:
        return frozenset(v.name for n in range(len(self._atoms)) for v in self._starred_in(n))

    def _starred_in(self, number: int) -> list[Variable]:
        return [variable for variable in self._atoms[number].variables if variable.is_starred]

    def _unexplored(self, *, is_again: bool) -> list[int]:
        """Return the grounded subgoals of starred variables without a further retrieval so far, or all `is_again`."""
        return [
            number
            for number in sorted({item.subgoal for item in self._groundings})
            if any(is_again or variable.name not in self._explored for variable in self._starred_in(number))
        ][: self._limits.max_subgoals]

    def _explore(self, numbers: list[int]) -> list[str]:
        self._explored |= {variable.name for number in numbers for variable in self._starred_in(number)}
        return [self._phrase(number) for number in numbers]

    def _phrase(self, number: int) -> str:
        """Return the subgoal as a query, with what is bound put in; a set is left to its type."""
        return self._plain().apply(self._atoms[number]).phrase

    def _plain(self) -> Substitution:
        starred = self._starred()
        return Substitution({n: v for n, v in self._substitution.bindings.items() if n not in starred})

    def _renewed(self) -> list[str]:
        """Return the queries of open subgoals that read differently than when they were last asked."""
        phrases = [self._phrase(number) for number in range(len(self._atoms)) if self._open(number)]
        return [phrase for phrase in dict.fromkeys(phrases) if phrase not in self._queried]

    def _unresolved(
        self, refusals: Mapping[int, str], reasons: Mapping[int, str], found: Retrieved
    ) -> tuple[Unresolved, ...]:
        nothing = "no fact entails it" if self._shown.blocks else "nothing was retrieved"
        return tuple(
            Unresolved(
                number,
                refusals.get(number) or reasons.get(number) or nothing,
                self._nearest(number, found),
            )
            for number in range(len(self._atoms))
            if self._open(number)
        )

"""One attempt at a plan: look into memory, let the prover propose, judge the claims, look for what is still open.

An attempt has at most 1 + max_depth rounds. Its state holds only what the judge accepted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from goalmem_cli.languages.words import is_foreign
from goalmem_cli.logic import Atom, Substitution
from goalmem_cli.logic.normal import content_stems, stem, words
from goalmem_cli.logic.questions import asks_for_all
from goalmem_cli.ports import Observer
from goalmem_cli.reasoners.goal_mem.pool import Looked
from goalmem_cli.reasoners.goal_mem.records import Ended, Limits, Plan, Proposed, ReplyStatus, Round, Task, Wish
from goalmem_cli.reasoners.goal_mem.replacing import OUTDATED
from goalmem_cli.reasoners.goal_mem.state import ProofState
from goalmem_cli.reasoners.goal_mem.wording import settled_by, verdict_in
from goalmem_cli.records import Question, Usage
from goalmem_cli.trace import Attempt, Denied, Ending, Grounded, Opened, Step, Unresolved, Verdict

REPEATED = "the next plan repeated one that had failed"
VOID = "the verdict does not count: it is unknown, or what it rests on was refused"
DECLINED = "no further plan: the model sees nothing more to look for"


@dataclass(frozen=True, slots=True)
class AttemptTerms:
    """What all attempts at a question share."""

    question: Question
    limits: Limits
    observer: Observer
    is_strict: bool


class AttemptRun:
    """One run of a task. An object runs once."""

    def __init__(self, terms: AttemptTerms, task: Task) -> None:
        self._terms = terms
        self._task = task
        self._after = task.proposer.after_reply
        self._pool = task.pool
        self._state: ProofState | None = None
        self._last: Proposed | None = None
        self._wishes: tuple[Wish, ...] = ()
        self._frontier: Collection[int] | None = None
        self._looked_beside: set[str] = set()
        self._steps: list[Step] = []
        self._note = ""
        self._is_void = False
        self._is_in_vain = False
        self._queries: Mapping[str, int] = {}
        self._last_asked: frozenset[str] = frozenset()
        self._taken_up: tuple[tuple[str, ...], tuple[Grounded, ...]] = ((), ())

    def run(self) -> Ended:
        """Run at most 1 + max_depth rounds, and return how the attempt ended."""
        if self._task.plan is not None:
            self._take_up(self._begin(self._task.plan))
        looked, ending, most = self._first_look(), None, self._task.max_depth
        for depth in range(most + 1):
            step = Step(
                depth, looked.queries, tuple(fact.number for fact in looked.new), looked.skipped,
                denied=self._confirmed(looked) if depth else (),
            )  # fmt: skip
            step, ending = self._ask(step) if self._has_to_ask(depth, looked) else self._end_idle(step)
            if ending is None and not self._note and depth < most:
                step, ending = self._refine(step)
            self._record(step)
            if ending is not None or self._note:
                break
            if depth < most:
                looked = self._look_again()
        return self._ended(ending or self._spent())

    def _begin(self, plan: Plan) -> ProofState:
        terms, task = self._terms, self._task
        self._state = ProofState(
            terms.question, plan,
            is_strict=terms.is_strict, is_unchecked=not terms.limits.checks, own_checks=terms.limits.own_checks,
            most_antecedents=self._after.most_antecedents,
        )  # fmt: skip
        terms.observer.started(task.breadth, str(plan.goal), list(map(str, plan.subgoals)))
        return self._state

    def _take_up(self, state: ProofState) -> None:
        """Judge the claims of an earlier proof, over the facts that they cite, as if the model had just made them."""
        begun = self._task.begun
        if begun is None:
            return
        shown = tuple(fact.number for fact in self._pool.bring(begun.hits))
        numbers = {fact.unit: fact.number for fact in self._pool.facts.values()}
        claims = tuple(
            replace(claim, facts=tuple(numbers[unit] for unit in claim.facts))
            for claim in begun.claims
            if all(unit in numbers for unit in claim.facts)
        )
        self._taken_up = (shown, state.take(Proposed(state.plan, claims), self._pool.facts, Step(0)).grounded)

    # Looking

    def _first_look(self) -> Looked:
        """Retrieve for the task's queries, else for the plan's open subgoals. With neither, use the facts in view."""
        if self._state is not None:
            self._queries = open_queries(self._state, ())
            if self._task.begun is not None:  # what names nothing yet would only fill the budget
                named = {query: each for query, each in self._queries.items() if self._state.applied(each).constants}
                self._queries = named or self._queries
        queries = self._task.queries
        return self._told(self._pool.look(self._queries) if queries is None else self._pool.look_first(queries))

    def _look_again(self) -> Looked:
        """Retrieve for the open subgoals. If all are settled, retrieve for further values of lists."""
        state = self._state
        if state is None:
            return Looked()
        if self._after.refine is not None and not state.is_settled:
            return self._told(self._pool.look(query for wish in self._wishes for query in wish.queries))
        if not state.is_settled:
            self._queries = open_queries(state, self._wishes)
            beside = (*state.incomplete, *settled_by(state.groundings, ())[1])
            self._looked_beside |= set(state.incomplete)
            is_stopped = self._last is not None and self._last.status is ReplyStatus.STOP
            has_to_go_on = state.rejected or state.undecided or state.incomplete or self._terms.question.wants_all
            is_first = len(self._steps) == 1 and not has_to_go_on and not is_foreign(self._terms.question.text)
            looked = self._told(self._pool.look(() if is_stopped else self._queries, beside, is_first=is_first))
            self._is_in_vain = looked.is_vain and not looked.new
            return looked
        numbers = self._wanted_again(state)
        named = [wish for wish in self._wishes if wish.subgoal in numbers]
        queries = [query for wish in named for query in wish.queries]
        queries += [state.applied(number).phrase for number in numbers]
        question, is_first_again = self._terms.question, not state.looked_again & set(numbers)
        is_all = question.wants_all or asks_for_all(question.text) or bool(named)
        state.looked_again |= set(numbers)
        lists = [item for item in state.groundings if item.subgoal in numbers] if is_all else []
        return self._told(
            self._pool.look(queries, settled_by(lists, ())[1], is_deep=True, is_picky=not (is_all and is_first_again))
        )

    def _told(self, looked: Looked) -> Looked:
        if looked.queries:
            self._terms.observer.retrieved(looked.queries, self._pool.every_fact)
        return looked

    def _confirmed(self, looked: Looked) -> tuple[Denied, ...]:
        """Make denials final whose subgoals this look found nothing new for."""
        if self._state is None:
            return ()
        found = {self._queries.get(query) for query, numbers in looked.found.items() if numbers}
        return self._state.denials.confirm(n for n in self._state.open_roots() if n not in found)

    def _wanted_again(self, state: ProofState) -> list[int]:
        """Return the settled subgoals to retrieve for again: those the reply called open, and those with lists.

        If the question wants everything, lists are retrieved for until a look finds nothing new. Otherwise they are
        retrieved for once, or not at all if the list is as long as the question or a cited fact says.
        """
        called = [wish.subgoal for wish in self._wishes if state.has_settled(wish.subgoal)]
        lists = [number for name in sorted(state.starred) for number in state.grounded_with(name)]
        if self._terms.question.wants_all:
            return sorted({*called} - state.looked_again | {*lists})
        return sorted({*called, *(n for n in lists if not self._is_whole(state, n))} - state.looked_again)

    def _is_whole(self, state: ProofState, number: int) -> bool:
        """Say whether each list of a settled subgoal is as long as the question or a cited fact says."""
        facts, asked = self._pool.every_fact, words(self._terms.question.text)
        told = [words(facts[each].text) for item in state.settling(number) for each in item.facts]
        lists = [variable for variable in state.atoms[number].variables if variable.is_starred]
        counted = [(each.type, len(state.values_of(each.name, number))) for each in lists]
        return bool(counted) and all(
            _counts(asked, count, kind) or any(_counts(said, count, kind, _WHOLES) for said in told)
            for kind, count in counted
        )

    # Asking

    def _has_to_ask(self, depth: int, looked: Looked) -> bool:
        """Say whether asking again can help: there are new facts, or an open subgoal has changed its wording."""
        state = self._state
        if not self._pool.facts or self._is_denied:
            return False
        if depth == 0 or looked.new:
            return True
        if state is None or state.is_settled:
            return False
        return (
            bool(state.undecided)
            or self._is_first_outdated()
            or (self._after.most_antecedents is None and not self._open_texts(state) <= self._last_asked)
        )

    def _is_first_outdated(self) -> bool:
        """Say whether the last reply, and none before it, rested on a fact that a later one replaces."""
        outdated = [any(item.why.startswith(OUTDATED) for item in step.rejected) for step in self._steps]
        return outdated[-1:] == [True] and not any(outdated[:-1])

    @staticmethod
    def _open_texts(state: ProofState) -> frozenset[str]:
        """Return the open subgoals with the known values put in."""
        return frozenset(str(state.applied(number)) for number in state.open_numbers())

    def _ask(self, step: Step) -> tuple[Step, Ending | None]:
        """Ask for one reply and judge it. Return why the attempt ends, or None if it goes on."""
        reply = self._task.proposer.propose(self._standing)
        step = replace(step, usage=reply.usage)
        if reply.value is None:
            ending = Ending.GROUNDED if self._is_proved else Ending.UNUSABLE_REPLY
            return replace(step, failure=f"proof: {reply.problem}"), ending
        proposed, state = reply.value, self._state
        if proposed.plan is None or (state is None and proposed.plan.key in self._task.failed):
            self._note = DECLINED if proposed.plan is None else REPEATED
            return step, None
        if state is None:
            state = self._begin(proposed.plan)
        self._last_asked, self._last, self._wishes = self._open_texts(state), proposed, proposed.wishes
        step = state.take(proposed, self._pool.facts, step)
        refined = state.add(proposed.wishes) if proposed.status is not ReplyStatus.STOP else ()
        opened = tuple(Opened(wish.subgoal, wish.why, wish.queries) for wish in proposed.wishes)
        step = replace(step, refined=refined, repairs=proposed.repairs, opened=opened)
        step = replace(step, unresolved=self._unresolved(state, step))
        self._is_void = self._has_void_verdict(state, proposed, step)
        return step, self._ending(state, proposed)

    def _refine(self, step: Step) -> tuple[Step, Ending | None]:
        """Ask the model what to retrieve, if the prover has a call for that. Without a new query the attempt ends.

        What is refined is the frontier: first the plan's open subgoals, then the last antecedents that are still open
        (Algorithm 1, line 19).
        """
        state, refine = self._state, self._after.refine
        if state is None or state.is_settled or refine is None:
            return step, None
        if self._pool.is_spent or (step.depth and not step.new_facts):
            return step, self._nothing_new()
        whys = {entry.subgoal: entry.why for entry in step.unresolved}
        frontier = {number: why for number, why in whys.items() if self._frontier is None or number in self._frontier}
        if not frontier:
            return step, Ending.REFINEMENT_STOPPED
        reply = refine(self._standing, frontier)
        step = replace(step, usage=step.usage + reply.usage)
        if reply.value is None:
            return replace(step, failure=f"refinement: {reply.problem}"), Ending.UNUSABLE_REPLY
        self._wishes, known = reply.value, len(state.atoms)
        step = replace(step, refined=state.add(reply.value))
        self._frontier = range(known, len(state.atoms))
        return step, None if self._frontier else Ending.REFINEMENT_STOPPED

    @property
    def _standing(self) -> Round:
        return Round(self._terms.question, self._pool, self._state, tuple(self._task.failed.values()))

    # Ending

    @property
    def _is_denied(self) -> bool:
        """Whether facts deny the plan, and that ends the attempt."""
        state = self._state
        return self._after.is_deniable and state is not None and (state.is_refuted or state.is_dead)

    @property
    def _is_proved(self) -> bool:
        return self._state is not None and self._state.is_settled and not self._is_void

    def _ending(self, state: ProofState, proposed: Proposed) -> Ending | None:
        """Return why the attempt ends after a reply, or None if it goes on.

        If a fact leaves out the detail that is asked for, the attempt goes on to show the turns next to that fact, even
        if the reply wants to stop.
        """
        if self._is_proved:
            gathers = self._after.gathers or self._terms.question.wants_all
            return None if gathers and self._wanted_again(state) else Ending.GROUNDED
        if self._is_denied:
            return Ending.DENIED
        has_neighbours = bool(set(state.incomplete) - self._looked_beside)
        return Ending.DECLINED if proposed.status is ReplyStatus.STOP and not has_neighbours else None

    def _has_void_verdict(self, state: ProofState, proposed: Proposed, step: Step) -> bool:
        """Say whether a closed question's verdict does not count: its claims were refused, or are still to be found.

        If the verdict is asked for in a separate call, after the attempt, it does.
        """
        if not state.plan.is_closed or not self._after.has_verdict:
            return False
        weak = (Verdict.INCOMPLETE, Verdict.SUGGESTED)
        outdone = {(c.subgoal, c.facts) for c in proposed.claims if c.verdict in weak and state.has_settled(c.subgoal)}
        roots = [item for item in step.rejected if item.subgoal < len(state.plan.subgoals)]
        is_refused = any((item.subgoal, item.facts) not in outdone for item in roots)
        return is_refused or (verdict_in(proposed.wording) is None and bool(proposed.wishes))

    def _end_idle(self, step: Step) -> tuple[Step, Ending | None]:
        """End a round without asking the model, because nothing new was found that could change the outcome.

        If the first look found nothing at all, a prover that refines may still say what else to retrieve.
        """
        if self._state is not None:
            step = replace(step, unresolved=self._unresolved(self._state, step))
        if self._is_proved:
            return step, Ending.GROUNDED
        if not step.depth and self._after.refine is not None:
            return step, None
        return step, Ending.DENIED if self._is_denied else self._nothing_new()

    def _nothing_new(self) -> Ending:
        return Ending.BUDGET_SPENT if self._pool.is_spent else Ending.NOTHING_NEW

    def _spent(self) -> Ending | None:
        """Return why the attempt ends when no further round is allowed."""
        if self._note:
            return None
        return Ending.GROUNDED if self._is_proved else Ending.MAX_DEPTH

    def _record(self, step: Step) -> None:
        if not self._steps:
            shown, grounded = self._taken_up
            step = replace(step, new_facts=(*shown, *step.new_facts), grounded=(*grounded, *step.grounded))
        self._steps.append(step)
        if self._state is not None:
            self._terms.observer.stepped(self._task.breadth, step, self._pool.every_fact)

    def _ended(self, ending: Ending | None) -> Ended:
        usage = sum((step.usage for step in self._steps), Usage())
        task, state, last = self._task, self._state, self._last
        if self._note:
            return Ended(task, None, is_over=True, note=self._note, usage=usage)
        goal = str(state.plan.goal) if state is not None else ""
        subgoals = tuple(map(str, state.plan.subgoals)) if state is not None else ()
        record = Attempt(task.breadth, goal, subgoals, tuple(self._steps), ending, planned=task.planned)
        if state is not None:
            answers = tuple(map(str, state.plan.answers)) or state.plan.answer_variables
            record = replace(record, answers=answers, is_current=state.plan.is_current)
        is_last = last is not None and last.next is None and (last.status is ReplyStatus.STOP or self._is_in_vain)
        is_over = not self._pool.facts or (state is not None and state.is_refuted)
        return Ended(
            task, record, state, last,
            is_proved=ending is Ending.GROUNDED,
            is_over=is_over or (is_last and ending is not Ending.UNUSABLE_REPLY),
            note=VOID if state is not None and state.is_settled and self._is_void else "",
            may_be_more=state is not None and any(state.has_settled(wish.subgoal) for wish in self._wishes),
            usage=usage,
        )  # fmt: skip

    def _unresolved(self, state: ProofState, step: Step) -> tuple[Unresolved, ...]:
        """Return the open subgoals, each with the engine's reason, or else the model's."""
        refused = {item.subgoal: item.why for item in step.rejected}
        told = {wish.subgoal: wish.why for wish in self._wishes if wish.why}
        told |= self._last.reasons if self._last is not None else {}
        nothing = "no fact entails it" if self._pool.facts else "nothing was retrieved"
        return tuple(
            Unresolved(
                number,
                refused.get(number) or state.denials.why(number) or told.get(number) or nothing,
                self._pool.nearest(state.atoms[number].phrase),
            )
            for number in state.open_numbers()
        )


def open_queries(state: ProofState, wishes: Sequence[Wish]) -> dict[str, int]:
    """Return the queries for open subgoals, each with the number of its subgoal.

    The model's own queries come first, since the question's words were searched already. Then come the statements with
    their known values put in, and with provisional values too. An antecedent that counts like the plan's own subgoals
    is searched by the model's query alone.
    """
    numbers = state.open_numbers()
    needs = [wish.need for wish in wishes if wish.need is not None and wish.queries]
    queries = {query: wish.subgoal for wish in wishes if wish.subgoal in numbers for query in wish.queries}
    certain = {name: values for name, values in state.substitution.bindings.items() if name not in state.starred}
    for bound in (certain, {**state.perhaps, **certain}):
        told = {phrase_of(need, bound) for need in needs}
        for number in numbers:
            phrase, is_root = phrase_of(state.atoms[number], bound), state.serves(number) is None
            if is_root or state.is_provisional or phrase not in told:
                queries.setdefault(phrase, number)
    return queries


_WHOLES = frozenset("all the my our his her their your these".split())
"""A number after one of these words counts all there are ("the three"); without one it may count only some."""
_PARTS = frozenset(
    "more other others another besides except least only first last next also week month year today day".split()
)
_NEAR = 4


def _counts(found: Sequence[str], count: int, kind: str, before: Collection[str] = ()) -> bool:
    """Say whether the words state the number `count` for things of a kind, after one of the words `before` if given."""
    kinds = content_stems(kind)
    return count > 1 and any(
        word == str(count)
        and (not before or previous in before)
        and kinds & set(map(stem, found[place + 1 : place + 3]))
        and not _PARTS & set(found[max(0, place - _NEAR + 1) : place + _NEAR + 1])
        for place, (previous, word) in enumerate(zip(("", *found), found, strict=False))
    )


_SORT_OF = re.compile(r"\b(?:type|kind|sort)s? of ", re.IGNORECASE)
_BUT = re.compile(r" (?:besides|other than|apart from|except(?: for)?|excluding) [^,.;]*", re.IGNORECASE)


def phrase_of(atom: Atom, bound: Mapping[str, tuple[str, ...]]) -> str:
    """Return a statement as a query in everyday words.

    Known values are put in, and variables become their types. "type of" and exceptions ("besides thrillers") are left
    out.
    """
    phrase = Substitution(bound).apply(atom).phrase
    return _BUT.sub("", _SORT_OF.sub("", phrase)).strip() or phrase

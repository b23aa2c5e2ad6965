"""One plan in the order `seen`: look into memory, ask once for plan and proof, check, look for what is open, and again.

The first round of a question writes the plan with the first facts in view; a plan that another reply proposed is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from goalmem_cli.logic.questions import asks_for_all
from goalmem_cli.ports import Observer
from goalmem_cli.reasoners.goal_mem.base import settled_by
from goalmem_cli.reasoners.goal_mem.plans import Decomposition, Limits
from goalmem_cli.reasoners.goal_mem.seen.board import Board, Taken
from goalmem_cli.reasoners.goal_mem.seen.closing import verdict_in
from goalmem_cli.reasoners.goal_mem.seen.queries import further_queries, open_queries
from goalmem_cli.reasoners.goal_mem.seen.records import Open, Proof, SeenSteps, Standing, Wish
from goalmem_cli.reasoners.goal_mem.seen.sight import LIKELY, Looked, Sight
from goalmem_cli.records import Question, Usage
from goalmem_cli.trace import Attempt, Denied, Ending, Opened, Step, Unresolved

REPEATED = "the next plan repeated one that had failed"
VOID = "the verdict does not count: it is unknown, or what it rests on was refused"
DECLINED = "no further plan: the model sees nothing more to look for"


@dataclass(frozen=True, slots=True)
class Ended:
    """An attempt that ended: its record, None where no plan was made; the board and the reply that it ended with.

    `is_over` says that no further plan is to be asked for, `note` why where the record does not say it.
    """

    record: Attempt | None
    board: Board | None = None
    proof: Proof | None = None
    is_over: bool = False
    note: str = ""
    may_be_more: bool = False
    usage: Usage = field(default_factory=Usage)

    @property
    def is_proved(self) -> bool:
        """Say whether every subgoal was settled."""
        return self.record is not None and self.record.ending is Ending.GROUNDED


@dataclass(frozen=True, slots=True)
class Terms:
    """What an attempt works with; `failed` are the plans that failed, with the reasons, by their keys."""

    question: Question
    sight: Sight
    steps: SeenSteps
    limits: Limits
    observer: Observer
    is_strict: bool
    failed: Mapping[frozenset[str], str] = field(default_factory=dict)


class AttemptRun:
    """One plan on its way; it runs once. `plan` is the one to follow, None where the model is to write it."""

    def __init__(self, terms: Terms, breadth: int, plan: Decomposition | None) -> None:
        self._terms = terms
        self._sight = terms.sight
        self._breadth = breadth
        self._plan = plan
        self._board: Board | None = None
        self._proof: Proof | None = None
        self._open: tuple[Open, ...] = ()
        self._steps: list[Step] = []
        self._note = ""
        self._is_void = False
        self._asked: Mapping[str, int] = {}
        self._searched_again: set[int] = set()

    def run(self) -> Ended:
        """Return how the attempt ended, after at most 1 + max_depth calls without second tries.

        Raises:
            ModelError: the model could not be used at all.
            StoreError: the memory could not be read.
        """
        if self._plan is not None:
            self._begin(self._plan)
        looked, ending, most = self._first_look(), None, self._terms.limits.max_depth
        for depth in range(most + 1):
            step = Step(
                depth, looked.queries, tuple(fact.number for fact in looked.new), looked.skipped,
                denied=self._confirmed(looked) if depth else (),
            )  # fmt: skip
            is_asking = self._sight.facts and (depth == 0 or looked.new or self._undecided) and not self._is_denied
            ending = self._ask(step) if is_asking else self._idle(step)
            if ending is not None or self._note:
                break
            if depth < most:
                looked = self._look_again()
        return self._ended(ending or self._spent())

    @property
    def _undecided(self) -> tuple[tuple[str, str], ...]:
        """The pairs that a further reply could settle, and with them what is open."""
        return self._board.undecided if self._board is not None and not self._board.is_settled else ()

    def _begin(self, plan: Decomposition) -> Board:
        terms = self._terms
        self._board = Board(terms.question, plan, is_strict=terms.is_strict, is_unchecked=not terms.limits.checks)
        self._terms.observer.started(self._breadth, str(plan.goal), list(map(str, plan.subgoals)))
        return self._board

    # Looking

    def _first_look(self) -> Looked:
        """Look for the question, or for what a given plan needs; a plan to be written is made of what is there."""
        if self._board is not None:
            self._asked = open_queries(self._board, ())
            return self._look(self._asked)
        if self._breadth == 1:
            looked = self._sight.look_first()
            self._terms.observer.retrieved(looked.queries, self._sight.facts)
            return looked
        return Looked()

    def _look_again(self) -> Looked:
        """Look for what is open; where all is settled, for more of what is a list."""
        board = self._board
        if board is None:
            return Looked()
        if not board.is_settled:
            self._asked = open_queries(board, self._open)
            return self._look(self._asked, settled_by(board.groundings, ())[1])
        numbers = self._wanted_again(board)
        named = [wish for wish in self._open if wish.subgoal in numbers]
        queries = [query for wish in named for query in wish.queries]
        queries += [query for number in numbers for query in further_queries(board, number)]
        question, is_second = self._terms.question, not self._searched_again & set(numbers)
        is_all = question.wants_all or asks_for_all(question.text) or bool(named)
        least = 0.0 if is_all and is_second else LIKELY
        self._searched_again |= set(numbers)
        lists = [item for item in board.groundings if item.subgoal in numbers] if is_all else []
        return self._look(queries, settled_by(lists, ())[1], is_for_more=True, least=least)

    def _confirmed(self, looked: Looked) -> tuple[Denied, ...]:
        """Take what speaks against a subgoal for settled where a look for it has just brought nothing new."""
        if self._board is None:
            return ()
        found = {self._asked.get(query) for query, numbers in looked.by_query.items() if numbers}
        return self._board.denials.confirm(n for n in self._board.open_roots() if n not in found)

    def _look(
        self, queries: Iterable[str], cited: Iterable[str] = (), *, is_for_more: bool = False, least: float = 0.0
    ) -> Looked:
        looked = self._sight.look(queries, cited, is_for_more=is_for_more, least=least)
        if looked.queries:
            self._terms.observer.retrieved(looked.queries, self._sight.facts)
        return looked

    def _wanted_again(self, board: Board) -> list[int]:
        """Return the settled subgoals to look for once more: called open in the same reply, or with lists in them.

        Lists are looked for again and again where all is wanted, which ends with the first look that brings nothing.
        """
        called = [wish.subgoal for wish in self._open if board.has_settled(wish.subgoal)]
        lists = [number for name in sorted(board.starred) for number in board.grounded_with(name)]
        again = {*called, *lists} - self._searched_again
        return sorted(again | set(lists) if self._terms.question.wants_all else again)

    # Asking

    def _ask(self, step: Step) -> Ending | None:
        """Ask for one round's reply, take it, and return why the attempt ends, None if it goes on."""
        reply = self._terms.steps.plan_and_prove(self._standing())
        step = replace(step, usage=reply.usage)
        if reply.value is None:
            return self._record(replace(step, failure=f"proof: {reply.problem}"), Ending.UNUSABLE_REPLY)
        proof, board = reply.value, self._board
        if proof.plan is None or (board is None and proof.plan.key in self._terms.failed):
            self._note = DECLINED if proof.plan is None else REPEATED
            return self._record(step, None)
        if board is None:
            board = self._begin(proof.plan)
        self._proof = proof
        taken = board.take(proof, self._sight.facts)
        self._open = proof.open
        refined = board.add(proof.open) if proof.wish is not Wish.STOP else ()
        step = replace(
            step,
            grounded=taken.grounded,
            rejected=taken.rejected,
            contradicted=taken.contradicted,
            denied=(*step.denied, *taken.denied),
            several=taken.several,
            dropped=taken.dropped,
            provisional=board.perhaps,
            refined=refined,
            opened=tuple(Opened(wish.subgoal, wish.why, wish.queries) for wish in proof.open),
            unresolved=self._unresolved(board, taken),
        )
        self._is_void = self._has_void_verdict(board, proof, step)
        return self._record(step, self._ending(board, proof))

    def _standing(self) -> Standing:
        board, sight = self._board, self._sight
        common = Standing(
            self._terms.question, sight.lines, tuple(sight.facts), failed=tuple(self._terms.failed.values())
        )
        if board is None:
            return common
        return replace(
            common,
            plan=board.plan,
            atoms=tuple(board.atoms),
            subgoals={number: self._line(board, number) for number in board.in_view()},
            perhaps=board.perhaps,
            refused=tuple(f"S{item.subgoal + 1}: {_proposed(item.bindings)}{item.why}" for item in board.rejected),
            tried=sight.tried,
            undecided=board.undecided,
        )

    def _line(self, board: Board, number: int) -> str:
        settled = board.settled_line(number)
        serves = board.serves(number)
        place = f" (for S{serves + 1})" if serves is not None else ""
        state = f"settled: {settled}" if settled else "open"
        return f"S{number + 1}. {board.atoms[number]}{place} -- {state}"

    # Ending

    @property
    def _is_denied(self) -> bool:
        return self._board is not None and (self._board.is_refuted or self._board.is_dead)

    def _ending(self, board: Board, proof: Proof) -> Ending | None:
        """Return why the attempt ends after a reply, or None if a further look may lead on."""
        if board.is_settled and not self._is_void:
            return None if self._wanted_again(board) else Ending.GROUNDED
        if self._is_denied:
            return Ending.DENIED
        return Ending.DECLINED if proof.wish is Wish.STOP else None

    def _has_void_verdict(self, board: Board, proof: Proof, step: Step) -> bool:
        """Say whether a closed question's verdict does not count: what it rests on was refused, or is to be found."""
        is_refused = any(item.subgoal < len(board.plan.subgoals) for item in step.rejected)
        return board.is_closed and (is_refused or (verdict_in(proof.wording) is None and bool(proof.open)))

    def _idle(self, step: Step) -> Ending:
        """End with a round that asks nothing, as it brought nothing new, or nothing that could change the outcome."""
        board = self._board
        if board is not None:
            step = replace(step, unresolved=self._unresolved(board, Taken()))
        self._record(step, None)
        if board is not None and board.is_settled and not self._is_void:
            return Ending.GROUNDED
        if self._is_denied:
            return Ending.DENIED
        return Ending.BUDGET_SPENT if self._sight.is_spent else Ending.NOTHING_NEW

    def _spent(self) -> Ending | None:
        """Return why the attempt ends where it may have no further round."""
        if self._note:
            return None
        is_grounded = self._board is not None and self._board.is_settled and not self._is_void
        return Ending.GROUNDED if is_grounded else Ending.MAX_DEPTH

    def _record(self, step: Step, ending: Ending | None) -> Ending | None:
        self._steps.append(step)
        if self._board is not None:
            self._terms.observer.stepped(self._breadth, step, self._sight.facts)
        return ending

    def _ended(self, ending: Ending | None) -> Ended:
        usage = sum((step.usage for step in self._steps), Usage())
        board, proof = self._board, self._proof
        if self._note:
            return Ended(None, is_over=True, note=self._note, usage=usage)
        goal = str(board.plan.goal) if board is not None else ""
        subgoals = tuple(map(str, board.plan.subgoals)) if board is not None else ()
        record = Attempt(self._breadth, goal, subgoals, tuple(self._steps), ending)
        is_stopped = proof is not None and proof.wish is Wish.STOP and proof.next is None
        is_over = not self._sight.facts or (board is not None and board.is_refuted)
        return Ended(
            record, board, proof,
            is_over=is_over or (is_stopped and ending is not Ending.UNUSABLE_REPLY),
            note=VOID if board is not None and board.is_settled and self._is_void else "",
            may_be_more=board is not None and any(board.has_settled(wish.subgoal) for wish in self._open),
            usage=usage,
        )  # fmt: skip

    def _unresolved(self, board: Board, taken: Taken) -> tuple[Unresolved, ...]:
        """Return what is open, each with the engine's reason, else the model's."""
        refused = {item.subgoal: item.why for item in taken.rejected}
        named = {wish.subgoal: wish.why for wish in self._open}
        return tuple(
            Unresolved(
                number,
                refused.get(number) or board.denials.why(number) or named.get(number) or "no fact entails it",
                self._sight.nearest(board.atoms[number].phrase),
            )
            for number in board.open_numbers()
        )


def _proposed(bindings: Mapping[str, Sequence[str]]) -> str:
    said = "; ".join(f"{name} = {', '.join(values)}" for name, values in bindings.items())
    return f"{said}: " if said else ""

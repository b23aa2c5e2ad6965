"""Keep goals: add them, notice which may have changed, and prove only those again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, count
from typing import TYPE_CHECKING, TypeAlias

from goalmem_cli.errors import LanguageUnread, ReplyUnusable, UsageError
from goalmem_cli.library.goals.noticing import Touch, touch_of, watches_of, with_replacing
from goalmem_cli.library.goals.outcomes import first_state, next_state, verdict
from goalmem_cli.logic.moments import is_later, latest
from goalmem_cli.records import Question
from goalmem_cli.store.goal_records import CheckedGoal, Goal, GoalState, Outcome, Watch
from goalmem_cli.store.goals import GoalFolder
from goalmem_cli.store.traces import bare

if TYPE_CHECKING:
    from goalmem_cli.errors import StoreError
    from goalmem_cli.library.answering import Parts, Terms
    from goalmem_cli.ports import Backbone, Observer
    from goalmem_cli.reasoners.goal_mem.records import Begun
    from goalmem_cli.records import Hit
    from goalmem_cli.trace import Trace

_Watched: TypeAlias = "tuple[Observer | None, Callable[[], None]]"
LONGEST_NAME = 80
_WORDS_OF_NAME = 6
ASKED_ANEW = "proved again on request"


class Goals:
    """The kept goals of a memory."""

    def __init__(self, parts: Parts) -> None:
        """Take the memory's parts; the traces of goals have the prompts and replies, whatever the settings say."""
        self._parts = replace(parts, settings=replace(parts.settings, keep_prompts=True))

    @property
    def folder(self) -> GoalFolder:
        """The files of the goals."""
        from goalmem_cli.store.privacy import GOALS

        return GoalFolder(self._parts.kept.path / GOALS)

    def add(
        self,
        question: str,
        terms: Terms,
        name: str | None = None,
        observer: Observer | None = None,
        loaded: Callable[[], None] = lambda: None,
        *,
        keeps_failed: bool = False,
    ) -> Goal:
        """Ask the question, and keep it as a goal with its first state.

        `observer` sees each step of the proof. `loaded` is called once the model is loaded. With `keeps_failed`, a
        question without a usable reply is kept as unknown, for measurements.

        Raises:
            UsageError: the name is taken or too long, later turns are hidden, or as `Asking.question`.
            ReplyUnusable: the model gave no usable reply; no goal is kept.
            StoreError, ModelError: as `Asking.answer`.
        """
        from goalmem_cli.library.answering import Asking
        from goalmem_cli.trace import Status

        chosen = self.free_name(question, name)
        asking = Asking(self._parts, terms, may_try_rules=False)
        asked = asking.question(question)
        refuse_hidden(asked)
        generation = self.generation
        trace = asking.answer(asked, observer, loaded)
        if trace.status is Status.FAILED and not keeps_failed:
            raise ReplyUnusable(f"no goal is kept, as no reply was usable: {trace.failure}", "try another --model")
        return self.keep(asked, trace, chosen, generation, asking.keep(trace))

    def free_name(self, question: str, name: str | None = None) -> str:
        """Return the wanted name, or one made from the question's first words.

        If the settings say that secrets are blacked out, the question's are, and a name with one is refused.

        Raises:
            UsageError: the name is empty, too long or taken, or has a secret.
        """
        from goalmem_cli.library.answering import one_line
        from goalmem_cli.store.redaction import redacted

        folder = self.folder
        if self._parts.settings.redact:
            _refuse_secret(name or "")
            question = redacted(question)[0]
        if name is not None:
            chosen = one_line(name)
            if not chosen or len(chosen) > LONGEST_NAME:
                raise UsageError(
                    f"the name {chosen[:20]!r} is empty or too long", f"give at most {LONGEST_NAME} letters"
                )
            if folder.has_name(chosen):
                raise _taken(chosen)
            return chosen
        words = "".join(each if each.isalnum() else " " for each in one_line(question).casefold()).split()
        stem = "-".join(words[:_WORDS_OF_NAME])[: LONGEST_NAME - 10] or "goal"
        names = chain([stem], (f"{stem}-{number}" for number in count(2)))
        return next(each for each in names if not folder.has_name(each))

    def keep(self, asked: Question, trace: Trace, name: str, generation: int, saved: str | None = None) -> Goal:
        """Keep a question that was just asked, with its trace, as a goal of that name; raises as `add`.

        `generation` is the memory's before it was asked: what was stored since then may change the goal. `saved` is the
        id of the saved trace.
        """
        now = _now()
        state = replace(
            first_state(bare(trace), now), checked=asked.asked.astimezone(UTC), generation=generation,
            traces=(saved,) if saved else (),
        )  # fmt: skip
        goal = Goal(
            name, asked.text, now, asked.asker, asked.conversations, asked.since, asked.until, asked.wants_all,
            (self._watched(state, trace, asked, generation),),
        )  # fmt: skip
        with self._parts.kept.keeping() as written:
            folder = self._own(written)
            if folder.has_name(name):  # another process took it while the model answered
                raise _taken(name)
            folder.save(goal)
        self._undermine_lost(goal, generation)
        return self.folder.get(name)

    def touched(
        self, names: Iterable[str] | None = None, unread: list[StoreError] | None = None
    ) -> list[tuple[Goal, Touch | None]]:
        """Return the goals (None: all), each with the reason why it may have changed, or None; no model is used.

        With `unread`, goals that cannot be read are left out, and their errors are appended to it.

        Raises:
            UsageError: there is no goal of such a name.
            StoreError: there is no memory, it cannot be read, or without `unread` a goal cannot be read.
        """
        folder, generation = self.folder, self.generation
        goals = folder.all(unread, names)
        if not goals:
            return []
        backbone, kept = self._ranked(), self._parts.kept
        return [(goal, touch_of(goal, question_of(goal), kept, backbone, generation)) for goal in goals]

    @staticmethod
    def untouched(goal: Goal) -> CheckedGoal:
        """Return the result for a goal that nothing can have changed: it stands as it did, without a proof."""
        return CheckedGoal(goal, goal.state, Outcome.STILL)

    def check(
        self,
        goal: Goal,
        touch: Touch | None,
        observer: Observer | None = None,
        loaded: Callable[[], None] = lambda: None,
    ) -> CheckedGoal:
        """Prove a goal again, and keep its new state. Without `touch`, every step is proved again.

        The proof begins with the kept plan and the groundings that were not touched. If that fails where there was an
        answer, the question is asked anew. A goal that another process changed meanwhile keeps what that one wrote, and
        is reported as still so. One in a language that the model does not read is not checked, and stays as it is.

        Raises:
            ModelError: the model cannot be loaded or used.
            StoreError: the memory cannot be read or written.
        """
        from goalmem_cli.trace import Status
        from goalmem_cli.wiring import open_traces

        before, began = goal.state, _now()
        asked, generation = question_of(goal), self.generation
        touch = self._up_to_date(goal, asked, touch, generation)
        there = self._stored({fact.unit for fact in before.facts})
        try:
            tries = self._tried(goal, asked, touch, there, (observer, loaded))
        except LanguageUnread as error:
            return CheckedGoal(goal, before, Outcome.FAILED, touch.why, failure=error.message)
        trace, calls = tries[-1][0], sum(each.usage.calls for each, _ in tries)
        if trace.status is Status.FAILED:
            return CheckedGoal(goal, before, Outcome.FAILED, touch.why, calls)
        told = verdict(before, trace, touch, frozenset(there))
        saved = tuple(id_ for _, id_ in tries if id_ is not None)
        state = replace(next_state(goal, bare(trace), told, saved, began), generation=generation)
        rivals = before.watches if state.rival is not None else ()
        after, outcome = goal.with_state(self._watched(state, trace, asked, generation, rivals)), told.outcome
        with self._parts.kept.keeping() as written:
            folder = self._own(written)
            if folder.has(goal):
                folder.save(after)
            elif folder.has_name(goal.name):
                after, outcome = folder.get(goal.name), Outcome.STILL
        traces = open_traces(self._parts.settings)
        named = {each for state in after.states for each in (*state.traces, *state.last_traces)}
        for id_ in {*before.last_traces, *saved} - named:
            traces.remove(id_)
        self._undermine_lost(after, generation)
        return CheckedGoal(after, before, outcome, touch.why, calls)

    def remove(self, name: str) -> None:
        """Delete a goal.

        Raises:
            UsageError: there is none of that name.
            StoreError: the folder cannot be written.
        """
        with self._parts.kept.keeping() as written:
            self._own(written).remove(name)

    # How it proves

    def _up_to_date(self, goal: Goal, asked: Question, touch: Touch | None, generation: int) -> Touch:
        """Return why the goal is proved again; without `touch`, every step is.

        If the memory has changed since `touch` was found, it is found anew, as its turns may be forgotten by now.
        """
        if touch is None:
            return Touch(ASKED_ANEW, subgoals=frozenset(each.subgoal for each in goal.state.watches))
        if touch.generation == generation:
            return touch
        again = touch_of(goal, asked, self._parts.kept, self._ranked(), generation)
        return again or replace(touch, new=())

    def _tried(
        self, goal: Goal, asked: Question, touch: Touch, there: dict[str, Hit], watched: _Watched
    ) -> list[tuple[Trace, str | None]]:
        """Return the traces of the tries, each with the id of the saved one; the last one counts.

        The kept plan is tried first, and again if a later turn that the model did not see may change what it found. New
        turns that give one of two values in conflict are then judged by themselves. Where there was an answer and these
        found none, the question is asked anew.
        """
        from goalmem_cli.library.answering import Asking, Terms
        from goalmem_cli.reasoners.goal_mem.kept_proofs import begun_of, settled_by
        from goalmem_cli.trace import Status
        from goalmem_cli.wiring import reasoner_entry

        asking, before = Asking(self._parts, Terms(), may_try_rules=False), goal.state
        tries: list[tuple[Trace, str | None]] = []

        def tried(begun: Begun | None) -> Trace:
            trace = asking.answer(asked, *watched, begun=begun)
            tries.append((trace, asking.keep(trace)))
            return trace

        begun = None
        if before.trace is not None and reasoner_entry(self._parts.settings.reasoner).tries_again:
            standing = {unit: hit for unit, hit in there.items() if unit not in touch.replaced}
            begun = begun_of(before.trace, touch.subgoals, standing, touch.new)
        trace = tried(begun)
        if (unseen := self._overlooked(goal, asked, trace)) is not None:
            trace = tried(unseen)
        if before.rival is not None and (settled := settled_by(trace, touch.new, there)) is not None:
            trace = tried(settled)
        is_lost = trace.status is not Status.ANSWERED and before.answer is not None
        if is_lost and (begun is not None or unseen is not None):
            tried(None)
        return tries

    def _overlooked(self, goal: Goal, asked: Question, trace: Trace) -> Begun | None:
        """Return the proof that was just found, with unseen turns that may change it, as the start of another try.

        These turns are later than those that a step cites, and the model was not shown them. None if there are none, or
        if the proof has no answer or only one step.
        """
        from goalmem_cli.reasoners.goal_mem.kept_proofs import begun_of
        from goalmem_cli.trace import Status

        state = first_state(trace, _now())
        if trace.status is not Status.ANSWERED or state.plan is None or len(state.plan.subgoals) < 2:
            return None
        ranked, said = self._ranked(), {fact.unit: fact.said for fact in trace.facts.values()}
        watches = tuple(replace(each, found=()) for each in watches_of(trace, asked, ranked))
        seen = replace(goal, states=(replace(state, watches=watches, generation=-1),))
        touch = touch_of(seen, asked, self._parts.kept, ranked, self.generation)
        if touch is None:
            return None
        cited = {each.subgoal: latest(said.get(unit) for unit in each.cited) for each in watches}
        old = [time for number, time in cited.items() if number in touch.subgoals and time is not None]
        new = [hit for hit in touch.new if hit.unit.said and any(is_later(hit.unit.said, time) for time in old)]
        units = {fact.unit for fact in state.evidence}
        return begun_of(trace, touch.subgoals, self._stored(units), new) if new else None

    def _watched(
        self, state: GoalState, trace: Trace, asked: Question, generation: int, others: Sequence[Watch] = ()
    ) -> GoalState:
        """Return the state with the queries that it depends on, and `others`, with their hits.

        If the memory changed meanwhile, no hit counts as seen, so that the next check proves the goal again.
        """
        seen = watches_of(trace, asked, self._ranked(), others)
        watches = with_replacing(seen, self._parts.kept)
        if self.generation != generation:
            watches = tuple(replace(each, found=()) for each in seen)
        return replace(state, watches=watches)

    # How it reads the memory

    def _own(self, written: Callable[[str], None]) -> GoalFolder:
        return GoalFolder(self.folder.path, written)

    def _ranked(self) -> Backbone:
        """Return the backbone `reranked`, which finds new hits, without its own search for later statements.

        A check looks for these anyway.
        """
        from goalmem_cli.backbones.flat import RERANKED
        from goalmem_cli.backbones.now.holding import found_by
        from goalmem_cli.wiring import open_backbone

        parts = self._parts
        settings = replace(parts.settings, backbone=RERANKED)
        return found_by(open_backbone(settings, parts.kept, parts.factories, parts.model.loaded))

    @property
    def generation(self) -> int:
        """The number of changes of the memory so far; raises StoreError if the memory cannot be read."""
        from goalmem_cli.library.answering import generation_of

        return generation_of(self._parts.kept)

    def _stored(self, units: Iterable[str]) -> dict[str, Hit]:
        with self._parts.kept.reading() as reader:
            return reader.hits(list(units))

    def _undermine_lost(self, goal: Goal, generation: int) -> None:
        """Remove from the goal's state the facts that were forgotten while the model answered.

        `forget` deletes rows first and changes goals afterwards, so it may have missed this state. If the memory is not
        of that `generation` any more, the state loses neighbouring turns too, which may have been forgotten.
        """
        shown, is_changed = {fact.unit for fact in goal.state.facts}, self.generation != generation
        there = self._stored(shown).keys()  # before the memory is locked for writing
        lost = shown - there
        if lost or is_changed:
            with self._parts.kept.keeping() as written:
                folder = self._own(written)
                if is_changed and folder.has(goal):
                    folder.save(replace(goal, states=(*goal.states[:-1], goal.state.without_neighbours())))
                folder.undermine(lost, lambda _: there)


def refuse_hidden(asked: Question) -> None:
    """Refuse to keep a question that hides later turns.

    Raises:
        UsageError: it has a time after which turns are hidden.
    """
    if asked.as_of is not None:
        raise UsageError("a goal follows the memory as it grows", "leave out the time after which turns are hidden")


def question_of(goal: Goal) -> Question:
    """Return the goal's question as it is asked now."""
    from goalmem_cli.library.answering import local_now

    return Question(
        goal.question, local_now(), goal.asker, goal.conversations, None, goal.wants_all, goal.since, goal.until
    )


def _refuse_secret(name: str) -> None:
    """Raise UsageError if the name has a secret."""
    from goalmem_cli.store.redaction import kinds_in_words, redacted

    _, found = redacted(name)
    if found:
        raise UsageError(f"the name has a secret ({kinds_in_words(found)})", "take another name")


def _taken(name: str) -> UsageError:
    return UsageError(f"there is a goal {name!r} already", "`goalmem goals` lists them")


def _now() -> datetime:
    return datetime.now(UTC)

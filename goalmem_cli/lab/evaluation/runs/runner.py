"""The stages of a run: retrieve, then answer. Each result is appended when it is made; none is made twice."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from itertools import count
from typing import Protocol, runtime_checkable

from goalmem_cli.backbones.now.holding import found_by
from goalmem_cli.errors import ContextOverflow, LanguageUnread
from goalmem_cli.lab.evaluation.cases import Case, Dataset
from goalmem_cli.lab.evaluation.metrics.agreement import label_agreement
from goalmem_cli.lab.evaluation.queries import Planner, QueryKind, gold_queries, retrieve_fused
from goalmem_cli.lab.evaluation.runs.folder import Key, Result, RunFolder, key_of
from goalmem_cli.lab.evaluation.runs.run import Answered, Placed, Retrieved
from goalmem_cli.lab.evaluation.runs.together import Each, one_by_one
from goalmem_cli.memory_ports import KeptMemory
from goalmem_cli.model_replies import in_one_line
from goalmem_cli.ports import Backbone, Reasoner
from goalmem_cli.records import Conversation, Hit, Query, Question
from goalmem_cli.stages import watching
from goalmem_cli.store.units import retrievable, units_from_turns
from goalmem_cli.trace import Status, Trace

BuildReasoner = Callable[[str, str], Reasoner]
"""Builds the reasoner of a name over the backbone of a name."""

Progress = Callable[[str, int, int], None]
"""Called before a row's first result and after each, with its name, the results done and the total."""


@runtime_checkable
class ChoosesLabels(Protocol):
    """A backbone that labels turns and chooses labels for a query, as STITCH does."""

    def labelled(self, query: Query) -> tuple[Sequence[str], Mapping[tuple[str, str], Sequence[str]]]:
        """Return the labels chosen for the query, and (conversation, turn's label) -> labels of each labelled turn."""
        ...


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the comparison."""

    reasoner: str
    backbone: str

    @property
    def name(self) -> str:
        """The row's name: reasoner and backbone."""
        return f"{self.reasoner} over {self.backbone}"


class Memory:
    """A dataset's conversations in a store, and which of them each case may see."""

    def __init__(self, store: KeptMemory, dataset: Dataset, cases: Iterable[Case], *, by_domain: bool = False) -> None:
        """Take the store; with `by_domain`, a case sees all conversations of its domain.

        Rankings weigh words by their rarity in the whole store, so runs are comparable only with the same `cases`.
        """
        self.store = store
        self._dataset = dataset
        self._by_domain = by_domain
        members = list(cases)
        self._ids = frozenset(case.id for case in members)
        wanted = {case.domain for case in members if by_domain and case.domain}
        scopes: dict[str, dict[str, None]] = {}
        for case in (*members, *(case for case in dataset.cases if case.domain in wanted)):
            scopes.setdefault(self._group(case), {})[case.conversation] = None
        self._scopes = {group: tuple(names) for group, names in scopes.items()}
        self._last: dict[str, datetime] = {}
        self._asked: dict[int, tuple[Question, Case]] = {}

    def fill(self, report: Callable[[int], None] = lambda _: None) -> int:
        """Read the conversations into the store, report the number of turns so far, and return the total.

        Raises:
            InputError: a file cannot be read.
            StoreError: the store cannot be written.
        """
        wanted = {name for names in self._scopes.values() for name in names}
        stored = 0

        def named() -> Iterable[Conversation]:
            """Yield the wanted conversations, each named by its own id if it has one.

            Count and report their turns, and note their times.
            """
            nonlocal stored
            for conversation in self._dataset.conversations(wanted):
                name = conversation.own_id or conversation.name
                for turn in conversation.turns:
                    if turn.said is not None:
                        self._note_time(name, turn.said)
                stored += len(conversation.turns)
                yield replace(conversation, name=name)
                report(stored)

        self.store.add_all(named(), by_name=True)
        return stored

    def scope(self, case: Case) -> tuple[str, ...]:
        """Return the conversations that the case may see: its own, or those of its domain."""
        return self._scopes[self._group(case)]

    @property
    def scopes(self) -> int:
        """The number of scopes; no case sees two."""
        return len(self._scopes)

    def asked(self, case: Case) -> datetime:
        """Return the case's time: its own, else that of its conversation's last turn."""
        return case.asked or self._last.get(case.conversation, datetime(1970, 1, 1))

    def question(self, case: Case) -> Question:
        """Return the case as a question on one line; later turns than its own time are hidden."""
        question = Question(in_one_line(case.question), self.asked(case), case.asker, self.scope(case), case.asked)
        self._asked[id(question)] = (question, case)  # by id, because cases with the same words make equal questions
        return question

    def gold(self, question: Question) -> list[Hit]:
        """Return the evidence of the case from which this question object was made; nothing for other questions.

        A long turn is returned as its passages, because whole it could be too long to show.

        Raises:
            StoreError: the memory cannot be read.
        """
        if id(question) not in self._asked:
            return []
        _, case = self._asked[id(question)]
        turns = self.store.turns([case.conversation])
        evidence = [turn for turn in turns if turn.label in case.evidence]
        wanted = [unit.id for unit in retrievable(units_from_turns(evidence))]
        with self.store.reading() as reader:
            hits = reader.hits(wanted)
        return [hits[unit] for unit in wanted if unit in hits]

    def prompt(self, question: Question) -> str:
        """Return the benchmark's own prompt for a question that `Memory.question` returned; "" if there is none."""
        if id(question) not in self._asked:
            return ""
        return self._prompts.get(self._asked[id(question)][1].id, "")

    @cached_property
    def _prompts(self) -> Mapping[str, str]:
        """The prompts of all cases by id; read when the first is wanted, since they hold the facts again."""
        return {} if self._dataset.prompts is None else self._dataset.prompts(self._ids)

    def _note_time(self, conversation: str, said: datetime) -> None:
        clock = said.replace(tzinfo=None)
        self._last[conversation] = max(clock, self._last.get(conversation, clock))

    def _group(self, case: Case) -> str:
        return f"domain {case.domain}" if self._by_domain and case.domain else f"conversation {case.conversation}"


def retrieve(
    folder: RunFolder,
    cases: Sequence[Placed],
    memory: Memory,
    backbones: Mapping[str, Backbone],
    *,
    kinds: Sequence[QueryKind] = (QueryKind.QUESTION,),
    k: int = 60,
    planner: Planner | None = None,
    each: Each = one_by_one,
    progress: Progress = lambda *_: None,
) -> None:
    """Retrieve for every case, kind of query and backbone, except for existing results.

    `each` is the way to go through the cases if a model plans; otherwise they go one by one.

    Raises:
        StoreError: the memory cannot be read, or the run cannot be written.
        ModelError: the planner's model cannot be used.
    """
    done: set[Key] = set()
    plans: dict[str, tuple[str, ...]] = {}
    for earlier in folder.results(Retrieved):
        done.add(key_of(earlier))
        if earlier.kind == QueryKind.MODEL.value:
            plans[earlier.case] = earlier.queries

    def found(kind: QueryKind, name: str, case: Case) -> Retrieved:
        queries = _queries(case, kind, memory, planner, plans)
        scope = Query("", memory.scope(case), until=case.asked, asked=memory.asked(case))
        hits = retrieve_fused(backbones[name], queries, scope, k)
        units = tuple(_labels(hit.unit.conversation, hit.unit.labels, case) for hit in hits)
        chosen, labels = _labelled(backbones[name], replace(scope, text=case.question), case, kind)
        return Retrieved(case.id, name, kind.value, queries, units, chosen, labels)

    for kind in kinds:
        pace = each if kind is QueryKind.MODEL else one_by_one
        for name in backbones:
            left = [placed.case for placed in cases if (placed.case.id, name, kind.value) not in done]
            told = partial(progress, f"{name}, {kind.value}")
            pace(left, partial(found, kind, name), _keeping(folder, told, len(left), len(cases)))


def answer(
    folder: RunFolder,
    cases: Sequence[Placed],
    rows: Sequence[Row],
    memory: Memory,
    build: BuildReasoner,
    progress: Progress = lambda *_: None,
    each: Each = one_by_one,
) -> None:
    """Answer every case in every row, except for existing results; `each` is the way to go through the cases.

    A question whose prompt does not fit into the model's context, or whose language the model does not read, counts as
    failed and does not end the run.

    Raises:
        ModelError: the model cannot be used.
        StoreError: the memory cannot be read, or the run cannot be written.
    """
    done = folder.keys(Answered)
    for row in rows:
        left = [placed.case for placed in cases if (placed.case.id, row.reasoner, row.backbone) not in done]
        if not left:
            continue
        reasoner = build(row.reasoner, row.backbone)
        told = partial(progress, row.name)
        told(len(cases) - len(left), len(cases))
        each(left, partial(_answered, reasoner, row, memory), _keeping(folder, told, len(left), len(cases)))


def unretrieved(
    done: Collection[object], cases: Sequence[Placed], backbones: Sequence[str], kinds: Sequence[QueryKind]
) -> int:
    """Return how many retrievals are not among the keys yet."""
    wanted = {(placed.case.id, backbone, kind.value) for placed in cases for backbone in backbones for kind in kinds}
    return len(wanted.difference(done))


def unanswered(done: Collection[object], cases: Sequence[Placed], row: Row) -> int:
    """Return how many cases of a row are not among the keys yet."""
    return sum((placed.case.id, row.reasoner, row.backbone) not in done for placed in cases)


def _keeping(folder: RunFolder, told: Callable[[int, int], None], left: int, of: int) -> Callable[[Result], None]:
    """Return a function that appends a result to the run and reports progress; `left` of `of` results are missing."""
    numbers = count(of - left + 1)

    def keep(result: Result) -> None:
        folder.append(result)
        told(next(numbers), of)

    return keep


def _answered(reasoner: Reasoner, row: Row, memory: Memory, case: Case) -> Answered:
    """Return the answer to a case; a too long prompt or an unread language gives a failed trace."""
    question = memory.question(case)
    with watching() as watch:
        try:
            trace = reasoner.answer(question)
        except (ContextOverflow, LanguageUnread) as error:
            trace = Trace(
                Status.FAILED, row.reasoner, question.text, question.asked, asker=question.asker, failure=error.message
            )
    counted = dict(watch.shown), dict(watch.written), watch.memory_tokens, watch.last_tokens
    return Answered(case.id, row.reasoner, row.backbone, trace, *counted)


def _queries(
    case: Case, kind: QueryKind, memory: Memory, planner: Planner | None, plans: dict[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the queries of a kind; if a model's plan is unusable, the question itself."""
    if kind is not QueryKind.MODEL or planner is None:
        return gold_queries(case, kind)
    if case.id not in plans:
        try:
            planned = planner(memory.question(case))
        except ContextOverflow:
            planned = ()
        plans[case.id] = tuple(dict.fromkeys(planned)) or (case.question,)
    return plans[case.id]


def _labelled(
    backbone: Backbone, query: Query, case: Case, kind: QueryKind
) -> tuple[tuple[str, ...], Mapping[str, float]]:
    """Return the labels that the backbone chose for a question, and how they fit the labels of its evidence.

    Both are empty for a backbone without labels.
    """
    own = found_by(backbone)
    if kind is not QueryKind.QUESTION or not isinstance(own, ChoosesLabels):
        return (), {}
    chosen, turns = own.labelled(query)
    evidence = [] if case.is_unanswerable else [(case.conversation, label) for label in case.evidence]
    return tuple(chosen), label_agreement(chosen, turns, evidence)


def _labels(conversation: str, labels: Sequence[str], case: Case) -> tuple[str, ...]:
    if conversation == case.conversation:
        return tuple(labels)
    return tuple(f"{conversation} {label}" for label in labels)

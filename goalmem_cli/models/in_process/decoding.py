"""Decode several requests together: shared beginnings are evaluated once, and replies grow in one batch.

Every call starts with an empty cache. So the positions in the cache, and with them every bit of the arithmetic, depend
on the call's requests only. States kept from earlier calls are restored as if they had just been evaluated.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np

from goalmem_cli.errors import ModelError
from goalmem_cli.models.in_process.kv_cache import KvCache, Logits, Tokens, shared_length
from goalmem_cli.models.in_process.prompt_states import PromptStates
from goalmem_cli.models.in_process.sampling import Grammars, ReplyGrammar
from goalmem_cli.models.in_process.vocabulary import Vocabulary
from goalmem_cli.ports import Completion, Request

# A separate evaluation costs as much as this many extra tokens, because it reads all weights.
LEAST_SAVED = 16
# From this length on, a prompt's own part is evaluated separately, so that it can be kept for later calls. Shorter
# parts cost little, and even less when evaluated together with others.
LEAST_KEPT = 128


@dataclass(frozen=True, slots=True)
class Root:
    """A beginning that is evaluated in an empty cache: the first `end` tokens of the prompt at index `place`."""

    place: int
    end: int


@dataclass(frozen=True, slots=True)
class Fork:
    """The prompt at `place` continues from the first `start` tokens of the one at `source` and is evaluated to `end`.

    If `end` equals `start`, nothing is evaluated yet. If `source` equals `place`, the prompt continues itself.
    """

    place: int
    source: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class DecodingPlan:
    """The order of evaluation: each root alone, then the forks level by level, then the rest of every prompt.

    `cells` is the number of tokens held at the end.
    """

    roots: tuple[Root, ...]
    levels: tuple[tuple[Fork, ...], ...]
    cells: int


def plan(prompts: Sequence[Tokens], fixed: Sequence[int], *, can_fork: bool) -> DecodingPlan:
    """Return how to evaluate the prompts.

    The first `fixed` tokens of a prompt are the same in all prompts of its step. The last token of a prompt is never
    shared, because its logits are needed. Without `can_fork` nothing is shared.
    """
    lasts = [len(tokens) - 1 for tokens in prompts]
    size = sum(map(len, prompts))
    bases = [min(length, last) for length, last in zip(fixed, lasts, strict=True)]
    if len(prompts) == 1:
        return DecodingPlan((Root(0, bases[0]),), (), size)
    if not can_fork:
        return DecodingPlan(tuple(Root(place, last) for place, last in enumerate(lasts)), (), size)
    steps: dict[bytes, list[int]] = {}
    for place, (tokens, base) in enumerate(zip(prompts, bases, strict=True)):
        steps.setdefault(tokens[:base].tobytes(), []).append(place)
    tree = _Tree(prompts)
    for places in steps.values():
        tree.add_step(places, bases[places[0]])
    forked = sum(fork.start for level in tree.levels for fork in level if fork.place != fork.source)
    return DecodingPlan(tuple(tree.roots), tuple(map(tuple, tree.levels)), size - forked)


class _Tree:
    """The roots and forks of a plan under construction."""

    def __init__(self, prompts: Sequence[Tokens]) -> None:
        self.roots: list[Root] = []
        self.levels: list[list[Fork]] = []
        self._prompts = prompts

    def add_step(self, places: Sequence[int], fixed: int) -> None:
        """Plan the prompts of one step: long ones become roots, the others forks of the step's fixed part."""
        long = list(self._long(places, fixed))
        for group in long:
            end = self._shared(group)
            self.roots.append(Root(group[0], end))
            self._branch(group, group[0], end, 0)
        taken = {place for group in long for place in group}
        if short := [place for place in places if place not in taken]:
            self.roots.append(Root(short[0], fixed))
            self._branch(short, short[0], fixed, 0)

    def _long(self, group: Sequence[int], fixed: int) -> Iterator[Sequence[int]]:
        """Yield groups of prompts, each with a common beginning that is long enough to keep.

        A group with a shorter one is split by the next token, as long as little of its beginning is then evaluated
        twice.
        """
        shared = self._shared(group)
        if shared - fixed >= LEAST_KEPT:
            yield group
        elif shared - fixed < LEAST_SAVED and len(group) > 1:
            for part in self._parts(group, shared):
                yield from self._long(part, fixed)

    def _branch(self, group: Sequence[int], source: int, start: int, level: int) -> None:
        """Plan prompts that continue from the first `start` tokens of the one at `source`, already evaluated."""
        shared = self._shared(group)
        if (len(group) - 1) * (shared - start) >= LEAST_SAVED:
            self._fork(Fork(group[0], source, start, shared), level)
            source, start, level = group[0], shared, level + 1
        parts = self._parts(group, shared)
        for part in parts:
            if len(part) > 1:
                self._branch(part, source, start, level)
        for place in group:
            if place != source and [place] in parts:
                self._fork(Fork(place, source, start, start), level)

    def _fork(self, fork: Fork, level: int) -> None:
        while len(self.levels) <= level:
            self.levels.append([])
        self.levels[level].append(fork)

    def _shared(self, group: Sequence[int]) -> int:
        """Return how many tokens the prompts have in common at the start, not counting the last of any."""
        first = self._prompts[group[0]]
        lengths = [min(shared_length(first, self._prompts[place]), len(self._prompts[place]) - 1) for place in group]
        return min(lengths)

    def _parts(self, group: Sequence[int], shared: int) -> list[list[int]]:
        """Return the prompts grouped by their next token; a prompt with only its last token left is its own group."""
        parts: dict[int, list[int]] = {}
        for place in group:
            is_last = len(self._prompts[place]) - 1 == shared
            parts.setdefault(-1 - place if is_last else int(self._prompts[place][shared]), []).append(place)
        return list(parts.values())


# Flash attention uses another kernel, which rounds differently, for batches of fewer tokens than this. So shorter runs
# after the fixed part are not kept, and at least this many tokens are always evaluated after a kept state.
LEAST_ROWS = 64


@dataclass(slots=True, eq=False)
class Job:
    """One request in progress; the first `fixed` tokens of its prompt are the same in every prompt of its step.

    `shown` is the number of tokens of the request's `growing` and `tail`.
    """

    request: Request
    prompt: Tokens
    fixed: int
    limit: int
    shown: int = 0
    sequence: int = -1
    cached: int = 0
    reply: list[int] = field(default_factory=list)
    is_complete: bool = False
    probabilities: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, request: Request, prompt: Sequence[int], fixed: int, limit: int, shown: int = 0) -> Job:
        """Return the job of a request whose reply may have up to `limit` tokens."""
        return cls(request, np.array(prompt, dtype=np.int32), fixed, limit, shown)


class Decoder:
    """Runs jobs over one cache, at most `parallel` at a time, and keeps evaluated states for later calls."""

    def __init__(
        self, cache: KvCache, states: PromptStates, grammars: Grammars, vocabulary: Vocabulary, parallel: int
    ) -> None:
        self._cache = cache
        self._states = states
        self._grammars = grammars
        self._vocabulary = vocabulary
        self._parallel = parallel

    def run(self, jobs: Sequence[Job]) -> list[Completion]:
        """Return the completions of the jobs, in order.

        Raises:
            ModelError: llama.cpp rejects the shape of a reply, or fails.
        """
        for job in jobs:
            self._grammars.check(job.request.shape)
        waiting = deque(jobs)
        while waiting:
            together = self._admit(waiting)
            with ExitStack() as stack:
                grammars = [stack.enter_context(self._grammars.of(job.request.shape)) for job in together]
                self._decode(list(zip(together, grammars, strict=True)), self._evaluate(together))
        return [self._completion(job) for job in jobs]

    def _admit(self, waiting: deque[Job]) -> list[Job]:
        """Take from the queue, in order, the jobs that fit into the cache together; at least one."""
        admitted = [waiting.popleft()]
        while waiting and len(admitted) < self._parallel and self._do_fit([*admitted, waiting[0]]):
            admitted.append(waiting.popleft())
        return admitted

    def _do_fit(self, jobs: Sequence[Job]) -> bool:
        """Say whether the cache can hold the jobs' prompts and their longest replies."""
        room = self._cache.cells - sum(job.limit for job in jobs)
        return sum(len(job.prompt) for job in jobs) <= room or self._plan(jobs).cells <= room

    def _plan(self, jobs: Sequence[Job]) -> DecodingPlan:
        return plan([job.prompt for job in jobs], [job.fixed for job in jobs], can_fork=self._cache.can_cut)

    def _decode(self, replies: Sequence[tuple[Job, ReplyGrammar]], outcomes: Sequence[Logits]) -> None:
        """Extend all replies by one token at a time until each has ended."""
        while replies:
            going: list[tuple[Job, ReplyGrammar]] = []
            for (job, grammar), logits in zip(replies, outcomes, strict=True):
                if self._says_more(job, grammar, logits):
                    going.append((job, grammar))
                else:
                    self._cache.drop(job.sequence)
            replies = going
            outcomes = self._cache.evaluate([(job.sequence, job.reply[-1:]) for job, _ in replies])

    def _says_more(self, job: Job, grammar: ReplyGrammar, logits: Logits) -> bool:
        """Add the next token to a job's reply; return whether the reply goes on."""
        given = logits.copy()  # the grammar masks tokens in place
        token = grammar.choose(logits)
        job.is_complete = self._vocabulary.is_end(token)
        if job.is_complete or len(job.reply) == job.limit:
            return False
        grammar.accept(token)
        job.reply.append(token)
        job.probabilities.append(_probability(given, token))
        job.is_complete = grammar.is_over()
        return not job.is_complete

    def _evaluate(self, jobs: Sequence[Job]) -> list[Logits]:
        """Evaluate the jobs' prompts, shared beginnings first, and return the logits after each."""
        planned = self._plan(jobs)
        self._begin_roots([(jobs[root.place], root.end) for root in planned.roots], is_alone=len(jobs) == 1)
        for level in planned.levels:
            for fork in level:
                if fork.place != fork.source:
                    jobs[fork.place].cached = fork.start
                    jobs[fork.place].sequence = self._cache.fork(jobs[fork.source].sequence, fork.start)
            grown = [(jobs[fork.place], fork) for fork in level if fork.end > fork.start]
            self._cache.evaluate([(job.sequence, job.prompt[fork.start : fork.end].tolist()) for job, fork in grown])
        parts = [(job.sequence, job.prompt[len(self._cache.tokens(job.sequence)) :].tolist()) for job in jobs]
        outcomes = self._cache.evaluate(parts)
        if len(jobs) == 1 and len(parts[0][1]) >= LEAST_ROWS:
            self._states.keep_prompt(jobs[0].sequence)
        return outcomes

    def _begin_roots(self, roots: Sequence[tuple[Job, int]], *, is_alone: bool) -> None:
        """Give each root job a sequence with its prompt up to its end, using kept states.

        Each is evaluated in an empty cache and then restored beside the others, so that none depends on the others.
        """
        states: list[bytes] = []
        for job, end in reversed(roots):
            self._cache.clear()
            self._begin(job, end, is_alone=is_alone)
            if job is not roots[0][0]:
                states.append(self._cache.state(job.sequence))
        for job, end in roots[1:]:
            restored = self._cache.restore(job.prompt[:end], states.pop())
            if restored is None:
                raise ModelError("llama.cpp cannot go on: it does not take its own state", "try a longer --context")
            job.sequence = restored

    def _begin(self, job: Job, end: int, *, is_alone: bool) -> None:
        """Give the job a sequence that holds its prompt at least up to `end`.

        A kept state may hold more of the prompt if the job runs alone.
        """
        cache, fixed = self._cache, job.prompt[: min(job.fixed, end)]
        until = len(job.prompt) if is_alone else end
        known = self._states.continued(job.prompt, len(fixed), until - LEAST_ROWS)
        known = known if known is not None else self._states.begin(fixed)
        job.sequence = known if known is not None else cache.begin()
        job.cached = len(cache.tokens(job.sequence))
        if known is None and len(fixed):
            cache.evaluate([(job.sequence, fixed.tolist())])
            self._states.keep(job.sequence, job.request.step)
        held = len(cache.tokens(job.sequence))
        if end > held:
            cache.evaluate([(job.sequence, job.prompt[held:end].tolist())])
        if end - held >= LEAST_ROWS:
            self._states.keep_prompt(job.sequence)

    def _completion(self, job: Job) -> Completion:
        """Return a finished job's text, token counts and probabilities."""
        text = self._vocabulary.text(job.reply)
        told = job.probabilities
        return Completion(
            text,
            len(job.prompt),
            job.cached,
            len(job.reply),
            job.is_complete,
            told[0] if told else None,
            math.prod(told) if told else None,
            job.shown,
        )


def _probability(logits: Logits, token: int) -> float:
    """Return the probability that the (vocabulary,) logits give the token."""
    weights = np.exp(logits.astype(np.float64) - float(logits.max()))
    return float(weights[token] / weights.sum())

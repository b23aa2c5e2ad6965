"""Decodes several requests together: what their prompts share is evaluated once, their replies grow in one batch.

Every call starts from an empty cache, so that where things lie in it, and with that each last bit of the arithmetic, is
decided by the call's requests alone. What earlier calls left is restored there as if it had just been evaluated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np

from goalmem_cli.errors import ModelError
from goalmem_cli.models.kv_cache import KvCache, Logits, Tokens, shared_length
from goalmem_cli.models.prompt_states import PromptStates
from goalmem_cli.models.sampling import Grammars, ReplyGrammar
from goalmem_cli.models.vocabulary import Vocabulary
from goalmem_cli.ports import Completion, Request

# Flash attention computes fewer tokens at a time than these by another kernel, which rounds differently. So nothing is
# kept that was evaluated as fewer after the fixed part, and as many are always left to evaluate after what was kept.
LEAST_ROWS = 64
# What two requests of a call share beyond that is an accident of their first words.
LEAST_SHARED = 16


@dataclass(slots=True, eq=False)
class Job:
    """One request on its way: its prompt's tokens, of which the first `fixed` are those of every prompt of its step."""

    request: Request
    prompt: Tokens
    fixed: int
    limit: int
    sequence: int = -1
    cached: int = 0
    reply: list[int] = field(default_factory=list)
    is_complete: bool = False

    @classmethod
    def of(cls, request: Request, prompt: Sequence[int], fixed: int, limit: int) -> Job:
        """Return the job of a request whose reply may have `limit` tokens."""
        return cls(request, np.array(prompt, dtype=np.int32), fixed, limit)


class Decoder:
    """Runs jobs over one cache, at most `parallel` together. What they evaluated is kept for the calls that follow."""

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
            ModelError: llama.cpp rejects the shape of a reply, or cannot go on.
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
        """Take the jobs from the queue that there is room for together, in order: one at least."""
        admitted: list[Job] = []
        needed = 0
        while waiting and len(admitted) < self._parallel:
            job = waiting[0]
            shared = max((self._trunk(job, other) for other in admitted), default=0)
            needed += len(job.prompt) - shared + job.limit
            if admitted and needed > self._cache.cells:
                break
            admitted.append(waiting.popleft())
        return admitted

    def _decode(self, replies: Sequence[tuple[Job, ReplyGrammar]], outcomes: Sequence[Logits]) -> None:
        """Let the replies grow, all by one token at a time, until each has ended."""
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
        """Add the next token to a job's reply; say whether there was one."""
        token = grammar.choose(logits)
        job.is_complete = self._vocabulary.is_end(token)
        if job.is_complete or len(job.reply) == job.limit:
            return False
        grammar.accept(token)
        job.reply.append(token)
        return True

    def _evaluate(self, jobs: Sequence[Job]) -> list[Logits]:
        """Evaluate the jobs' prompts, what several share first, and return the logits after each."""
        ends = [self._first_end(job, jobs) for job in jobs]
        roots = [place for place, job in enumerate(jobs) if not any(self._trunk(job, other) for other in jobs[:place])]
        self._begin_roots([(jobs[place], ends[place]) for place in roots])
        for place, (job, end) in enumerate(zip(jobs, ends, strict=True)):
            if place not in roots:
                self._fork(job, jobs[:place], end)
        parts = [(job.sequence, job.prompt[len(self._cache.tokens(job.sequence)) :].tolist()) for job in jobs]
        outcomes = self._cache.evaluate(parts)
        if len(jobs) == 1 and len(parts[0][1]) >= LEAST_ROWS:
            self._states.keep_prompt(jobs[0].sequence)
        return outcomes

    def _trunk(self, job: Job, other: Job) -> int:
        """Return how many tokens two prompts share beyond what their steps share anyway; 0 if hardly any."""
        shared = min(shared_length(job.prompt, other.prompt), len(job.prompt) - 1)
        is_long = shared >= job.fixed + LEAST_SHARED
        return shared if is_long and self._cache.can_cut else 0

    def _first_end(self, job: Job, jobs: Sequence[Job]) -> int:
        """Return how much of the prompt is evaluated by itself: what others share, else all but its last token.

        A prompt that is alone is not cut there: its last token is evaluated with the others before it.
        """
        last = len(job.prompt) - 1
        if len(jobs) == 1:
            return min(job.fixed, last)
        return max(self._trunk(job, other) for other in jobs if other is not job) or last

    def _begin_roots(self, roots: Sequence[tuple[Job, int]]) -> None:
        """Give each job a sequence that holds its prompt as far as its end, from what is known of it already.

        Each is evaluated in an empty cache and put beside the others afterwards, so that none depends on the others.
        """
        states: list[bytes] = []
        for job, end in reversed(roots):
            self._cache.clear()
            self._begin(job, end)
            if job is not roots[0][0]:
                states.append(self._cache.state(job.sequence))
        for job, end in roots[1:]:
            restored = self._cache.restore(job.prompt[:end], states.pop())
            if restored is None:
                raise ModelError("llama.cpp cannot go on: it does not take its own state", "try a longer --context")
            job.sequence = restored

    def _begin(self, job: Job, end: int) -> None:
        cache, fixed = self._cache, job.prompt[: min(job.fixed, end)]
        until = end if end > len(fixed) else len(job.prompt)
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

    def _fork(self, job: Job, begun: Sequence[Job], end: int) -> None:
        """Let the job go on from the one before it whose prompt it shares most of, as far as `end`."""
        lengths = {
            other.sequence: min(self._trunk(job, other), end, len(self._cache.tokens(other.sequence)))
            for other in begun
        }
        source = max(lengths, key=lengths.__getitem__)
        job.cached = lengths[source]
        job.sequence = self._cache.fork(source, job.cached)
        if end > job.cached:
            self._cache.evaluate([(job.sequence, job.prompt[job.cached : end].tolist())])

    def _completion(self, job: Job) -> Completion:
        text = self._vocabulary.text(job.reply)
        return Completion(text, len(job.prompt), job.cached, len(job.reply), job.is_complete)

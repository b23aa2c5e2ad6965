"""What all reasoners except `goal-mem` share: retrieval for one question, calls of the model, and the trace of both.

They share one budget of units (GOAL-MEM Appendix F, eq. 7) and one way to retrieve, and most share the prompt that
reads the answer from the facts. They differ in what they retrieve, and when.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TypeVar

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.languages.words import is_unknown_in_any
from goalmem_cli.logic.normal import content_stems, normalise
from goalmem_cli.logic.people import is_only_asking, names_nobody, who_is_meant
from goalmem_cli.logic.questions import asks_for_person
from goalmem_cli.model_replies import Fields, Reply, ask_whole, read_fields
from goalmem_cli.ports import Backbone, Completion, LanguageModel, Observer, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.facts import NumberedFacts, Room, round_robin
from goalmem_cli.reasoners.prompt_texts import asked_in, asker_in, fact_line, say_day
from goalmem_cli.reasoners.showing import Block, Shown, block_of
from goalmem_cli.records import Hit, Question, Usage
from goalmem_cli.trace import Action, Fact, Status, Step, Stop, Trace

T = TypeVar("T")

READ = "read"
RETRIEVE = "retrieve"
_REFUSALS = frozenset(map(normalise, (
    "unknown", "not mentioned", "not specified", "not stated", "no information", "no information available",
    "i don't know", "i do not know", "not sure", "cannot be determined", "unanswerable", "cannot be answered",
)))  # fmt: skip

_COPIES = re.compile(r'\s*;\s*"[^"]*"\s*=|\s*\[(?:said|time|F\d)|[.,;]?\s+facts: F\d')
"""Matches the beginning of a fact that the model copied from its prompt."""
_SENTENCE_END = re.compile(r"(?<=\w[.])\s+(?=[A-Z(])")
_EXPLAINS = re.compile(
    r"\(?(?:(?:the|these|those|this) (?:facts?|story|text|information|answer|conversation|reply)\b"
    r"|this is (?:the|a|because|what|where|who|when)\b|F\d)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that one question may show the model: units (Appendix F, eq. 7) and estimated tokens of facts."""

    units: int = 60
    tokens: int = 3000


class Unwatched:
    """An observer that ignores everything."""

    def retrieved(self, queries: Sequence[str], facts: Mapping[str, Fact]) -> None:
        """Do nothing."""

    def started(self, attempt: int, goal: str, subgoals: Sequence[str]) -> None:
        """Do nothing."""

    def stepped(self, attempt: int, step: Step, facts: Mapping[str, Fact]) -> None:
        """Do nothing."""

    def acted(self, action: Action, facts: Mapping[str, Fact]) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What a reasoner works with. `prompts` are those of its steps; `adapter` is the hash of the model's adapter.

    `sifts`: full prompts leave out turns that are never evidence. `leans`: they bring the turns that others lean on.
    """

    backbone: Backbone
    model: LanguageModel
    prompts: PromptBook
    budget: Budget = field(default_factory=Budget)
    model_name: str = ""
    observer: Observer = field(default_factory=Unwatched)
    adapter: str = ""
    sifts: bool = True
    leans: bool = True


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer (None if the facts give none) and the numbers of the facts that it cites.

    `likelihood` is the mean probability (0 to 1) of the reply's words, or None if it is not known.
    """

    answer: str | None
    cited: tuple[str, ...] = ()
    likelihood: float | None = None


class Inquiry:
    """Retrieves and asks the model for one question, and records both. `shown` holds the facts found so far."""

    def __init__(self, reasoner: str, question: Question, tools: Tools) -> None:
        self.question = question
        self.shown = Shown()
        self._reasoner = reasoner
        self._tools = tools
        self._facts = NumberedFacts(
            tools.backbone, question, tools.prompts.profile, sifts=tools.sifts, leans=tools.leans
        )
        self._actions: list[Action] = []
        self._notes: list[str] = []
        self._started = perf_counter()

    @property
    def pool(self) -> list[Fact]:
        """The facts found so far, in the order shown."""
        return list(self.shown.facts)

    def retrieve(self, queries: Sequence[str], per_query: int, more: int = 0) -> Block:
        """Add the queries' hits to the pool, taking turns, at most `per_query` each; return them as a block.

        `more` retrievals may follow, for which tokens are reserved (see `take`). Hits that exceed the budget are
        counted. If nothing is new, the block has no facts.

        Raises:
            StoreError: the memory could not be read.
        """
        queries = tuple(dict.fromkeys(query.strip() for query in queries if query.strip()))
        return self.take(round_robin([self._facts.hits(query, per_query) for query in queries]), queries, more)

    def take(
        self,
        hits: Sequence[Hit],
        queries: Sequence[str] = (),
        more: int = 0,
        told: Sequence[tuple[str, str]] = (),
        *,
        brings: bool = True,
        missing: int = 0,
    ) -> Block:
        """Add the hits that fit into the budget to the pool, and return them as a block for the prompt.

        `told`: what the memory said besides the hits, for the trace. `brings`: the turns come along that hits lean on.
        `missing`: how many hits the caller left out as too long.

        If `more` retrievals may follow, the first one takes half of the tokens, since the question's own hits are the
        likeliest. Later ones take equal shares of the rest. The first fact of a retrieval may exceed its share.
        """
        budget, shown = self._tools.budget, self.shown
        left = budget.tokens - shown.tokens
        share = left // (more + 1 if shown.blocks else min(more, 1) + 1)
        is_sifted = brings and bool(queries) and not self._actions
        room = Room(budget.units - shown.units, share, left, brings, is_sifted)
        chosen = self._facts.choose(hits, {fact.unit for fact in shown.facts}, room)
        block = self._facts.block(chosen)
        self.shown = shown.plus(block)
        numbers = tuple(fact.number for fact in block.facts)
        skipped, too_long = chosen.skipped + chosen.left, chosen.skipped + missing
        self._record(Action(RETRIEVE, tuple(told), tuple(queries), numbers, skipped + missing, too_long=too_long))
        return block

    def ask(
        self,
        step: str,
        read: Callable[[Fields], T],
        choices: Mapping[str, Sequence[str]] | None = None,
        facts: Sequence[Fact] | None = None,
        **inputs: object,
    ) -> T | None:
        """Ask the model for a step, and return what `read` makes of its reply, or None if it was unusable twice.

        The prompt gets those of question, asker, day and facts (default: the pool) that it declares, and the `inputs`.
        `choices` lists what its reply may name. `read` raises ReplyUnusable for a reply that it cannot use.

        Raises:
            ModelError: the model could not be used at all.
        """
        prompt = self._tools.prompts[step]
        shown = () if "facts" not in prompt.variables else self.shown.facts if facts is None else facts
        common: dict[str, object] = {
            "question": asked_in(self.question.text, shown),
            "asker": asker_in(self.question),
            "asked": say_day(self.question.asked),
            "facts": self._lines(facts),
        }
        declared = {name: value for name, value in common.items() if name in prompt.variables}
        said: list[Fields] = []
        likelihoods: list[float | None] = []

        def build(problem: str) -> list[Request]:
            return [prompt.request(declared | inputs | {"problem": problem}, choices)]

        def parse(requests: list[Request], completions: list[Completion]) -> T:
            said.append(read_fields(completions[0].text, requests[0]))
            likelihoods.append(completions[0].mean_likelihood)
            return read(said[-1])

        reply: Reply[T] = ask_whole(self._tools.model, build, parse)
        lines = tuple((name, value) for name, values in said[-1].items() for value in values) if said else ()
        failure = reply.problem or None if reply.value is None else None
        likelihood = likelihoods[-1] if likelihoods else None
        self._record(Action(step, lines, failure=failure, usage=reply.usage, likelihood=likelihood))
        return reply.value

    def _lines(self, facts: Sequence[Fact] | None) -> list[str]:
        """Return the prompt's lines for the facts, or for everything shown so far."""
        if facts is None:
            return list(self.shown.lines)
        return list(map(fact_line, facts) if self._is_compact else block_of(facts).lines)

    @property
    def _is_compact(self) -> bool:
        return self._tools.prompts.profile == "compact"

    def nothing_more(self) -> Stop:
        """Return why the last retrieval added nothing: no new hits, or no room in the budget."""
        return Stop.BUDGET_SPENT if self._actions[-1].skipped else Stop.NOTHING_NEW

    def note(self, text: str) -> None:
        """Add a note to the trace."""
        self._notes.append(text)

    def record(self, name: str, said: Sequence[tuple[str, str]]) -> None:
        """Record an action that used neither model nor memory, such as a choice among the facts."""
        self._record(Action(name, tuple(said)))

    def read(
        self, stopped: Stop, facts: Sequence[Fact] | None = None, step: str = READ, *, is_ranked: bool = True
    ) -> Trace:
        """Let the model read the answer from the facts (default: the pool), best first, and return the trace.

        A small model gets ranked facts best last, next to the question, since it tends to cite the last one. Facts that
        are not ranked (`is_ranked`) keep their order. Without any fact the model is not asked.

        Raises:
            ModelError: the model could not be used at all.
        """
        known = self.pool if facts is None else list(facts)
        if not known:
            self.note("nothing was retrieved")
            return self.conclude(Reading(None), stopped)
        numbers = [fact.number for fact in known]
        shown = known[::-1] if is_ranked and self._is_compact else facts

        def read(fields: Fields) -> Reading:
            return reading_of(fields, numbers, self.question.text if self._is_compact else None)

        return self.conclude(self.ask(step, read, reading_choices(numbers), shown), stopped)

    def conclude(self, reading: Reading | None, stopped: Stop) -> Trace:
        """Return the trace: answered, unknown, or failed if there is no reading because no reply was usable."""
        if reading is not None and reading.answer is not None and reading.cited:
            reading = self._naming(reading.answer, reading)
        status = Status.FAILED
        if reading is not None:
            status = Status.ANSWERED if reading.answer is not None else Status.UNKNOWN
        steps = {action.name for action in self._actions}
        usage = sum((action.usage for action in self._actions), Usage())
        last = self._actions[-1] if self._actions else None
        return Trace(
            status,
            self._reasoner,
            self.question.text,
            self.question.asked,
            answer=reading.answer if reading is not None else None,
            facts=self._facts.by_number,
            evidence=reading.cited if reading is not None and reading.answer is not None else (),
            actions=tuple(self._actions),
            stopped=stopped,
            failure=f"{last.name}: {last.failure}" if last is not None and status is Status.FAILED else None,
            usage=replace(usage, seconds=perf_counter() - self._started),
            model=self._tools.model_name,
            asker=self.question.asker,
            prompts={name: digest for name, digest in self._tools.prompts.hashes.items() if name in steps},
            notes=tuple(self._notes),
            adapter=self._tools.adapter,
        )

    def _naming(self, answer: str, reading: Reading) -> Reading:
        """Return the reading with the person whom a pronoun means; without an answer where it names nobody, or only who
        asks the question in the chat.
        """
        facts = [self._facts.by_number[number] for number in reading.cited]
        question, why = self.question.text, ""
        if asks_for_person(question):
            answer = who_is_meant(answer, facts[0])
            why = f"{answer!r} is nobody's name" if names_nobody(answer, question) else ""
        if is_only_asking(answer, facts, question):
            why = f"{answer} only asks it"
        if why:
            self.note(why)
        return replace(reading, answer=None if why else answer)

    def _record(self, action: Action) -> None:
        self._actions.append(action)
        self._tools.observer.acted(action, self._facts.by_number)


def reading_choices(numbers: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return the choices for the reply of a reading: unknown, or an answer that cites some of the facts."""
    return {"facts": numbers, "replies": ["unknown", "cited"]}


def reading_of(fields: Fields, numbers: Sequence[str], question: str | None = None) -> Reading:
    """Return the reading in the fields `answer` and `facts`; `numbers` are the facts that were shown.

    A small model often continues after its answer with an explanation or copied facts. If the `question` is given, that
    part is cut off.

    Raises:
        ReplyUnusable: there is no answer, it cites no fact, or it cites one that was not shown.
    """
    answer = one_of(fields, "answer")
    if question is not None:
        answer = _answer_alone(answer, question)
    cited = tuple(dict.fromkeys(part.strip() for text in fields.get("facts", ()) for part in text.split(",") if part))
    if unknown := [number for number in cited if number not in numbers]:
        raise ReplyUnusable(f"{unknown[0][:20]!r} is none of the facts")
    if is_refusal(answer) or (not cited and normalise(answer) == normalise("none")):
        return Reading(None)
    if not cited:
        raise ReplyUnusable("it names no fact that the answer rests on")
    return Reading(answer, cited)


def _answer_alone(answer: str, question: str) -> str:
    """Return an answer without what follows it: copied facts, or a sentence that explains it.

    A sentence explains the answer if it begins like one ("The facts say ..."), or if it repeats the answer's words
    together with at least two of the question's.
    """
    answer = _COPIES.split(answer, maxsplit=1)[0].strip() or answer
    asked = content_stems(question)
    for end in _SENTENCE_END.finditer(answer):
        first, rest = answer[: end.start()], answer[end.end() :]
        told = content_stems(rest)
        if _EXPLAINS.match(rest) or (content_stems(first) <= told and len(asked & told) > 1):
            return first
    return answer


def is_refusal(answer: str) -> bool:
    """Say whether the text is a refusal, such as "unknown" or "not mentioned"."""
    return normalise(answer) in _REFUSALS or is_unknown_in_any(answer)


def fresh(queries: Iterable[str], issued: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct queries that were not issued yet, ignoring case, articles and punctuation."""
    seen = {_sense(query) for query in issued}
    kept: dict[str, str] = {}
    for query in queries:
        if query.strip() and _sense(query) not in seen:
            kept.setdefault(_sense(query), " ".join(query.split()))
    return tuple(kept.values())


def _sense(query: str) -> str:
    return normalise(query) or query.strip()


def is_yes(fields: Fields, name: str) -> bool:
    """Say whether a field says yes.

    Raises:
        ReplyUnusable: it says neither yes nor no.
    """
    verdict = one_of(fields, name)
    if verdict not in ("yes", "no"):
        raise ReplyUnusable(f"{name} is neither yes nor no")
    return verdict == "yes"


def one_of(fields: Fields, name: str) -> str:
    """Return the one value of a field.

    Raises:
        ReplyUnusable: it has none, several, or an empty one.
    """
    values = fields.get(name, ())
    if len(values) != 1 or not values[0].strip():
        raise ReplyUnusable(f"it must say {name} once")
    return values[0].strip()

"""Benchmark questions of any dataset."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from goalmem_cli.records import Conversation

DEPTHS = (10, 20, 40, 60)
"""The numbers of first units in which the evidence is searched (k of recall@k)."""


@dataclass(frozen=True, slots=True)
class GoldStep:
    """A gold subgoal or refinement: its atom, the labels of the turns that ground it, and its bindings.

    A refinement also has `query`, `relation`, and `of`, the number of the subgoal that it serves. A subgoal without
    facts is one that the conversation cannot ground.
    """

    text: str
    facts: tuple[str, ...] = ()
    bindings: Mapping[str, str] = field(default_factory=dict)
    query: str = ""
    of: int | None = None
    relation: str = ""


@dataclass(frozen=True, slots=True)
class GoldPlan:
    """A question's gold reasoning, in the form of the corpus (`shared/data/corpus/SPEC.md`).

    `alternative` are the subgoals of another valid decomposition. `distractors` are the labels of turns that look
    relevant but entail no subgoal.
    """

    goal: str
    answer_variables: tuple[str, ...]
    subgoals: tuple[GoldStep, ...]
    refinements: tuple[GoldStep, ...] = ()
    alternative: tuple[str, ...] = ()
    distractors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One question of a dataset.

    - `id`: unique in the dataset, and the same on every reading.
    - `conversation`: the transcript reader's name for the conversation; `domain` a group of related conversations.
    - `answer`: None if the file gives none. `answers`: all items to name, if the answer is a set.
    - `evidence`: labels of existing turns.
    - `category`: the dataset's own code.
    - `accepted`: other ways to write the answer; its words are compared with the nearest.
    - `nuggets`: what an answer must contain; each is judged separately.
    - `is_unanswerable`: the right answer is to say so.
    - `asked`: None means the time of the last turn.
    - `language`, `asked_in`, `kind`: the codes of the conversation's and the question's languages, and the question's
      type; "" if the dataset does not say.
    - `temporal`: what the question needs to know about time, if a model sorted the questions.
    """

    id: str
    conversation: str
    question: str
    answer: str | None
    evidence: tuple[str, ...]
    category: str
    is_unanswerable: bool = False
    answers: tuple[str, ...] = ()
    nuggets: tuple[str, ...] = ()
    adversarial_answer: str | None = None
    domain: str = ""
    asked: datetime | None = None
    asker: str | None = None
    plan: GoldPlan | None = None
    accepted: tuple[str, ...] = ()
    language: str = ""
    asked_in: str = ""
    kind: str = ""
    temporal: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions and their conversations.

    - `format`: ``locomo`` (also the corpus), ``longmemeval``, ``realtalk``, ``beam``, ``came``, ``tot``,
      ``complex-tr``, ``musique``, ``2wiki`` or ``hotpotqa``.
    - `digest`: a hash of the files.
    - `categories`: code to name, in table order; question types unknown to the format come last.
    - `repairs`: what was corrected in the files, with counts.
    - `skipped`: each unreadable row with file, place and reason.
    - `prompts`: returns the benchmark's own prompts of the cases with these ids; None if it has none.
    - `conversations`: yields the conversations with the given `Case.conversation` names, in the parts that the
      transcript's reader yields.
    """

    name: str
    format: str
    digest: str
    cases: tuple[Case, ...]
    categories: Mapping[str, str]
    repairs: Mapping[str, int]
    conversations: Callable[[Collection[str]], Iterator[Conversation]]
    skipped: tuple[str, ...] = ()
    prompts: Callable[[Collection[str]], Mapping[str, str]] | None = None

    @property
    def notes(self) -> list[str]:
        """Notes on the files: each repair with its count, and each row that was left out with the reason."""
        return [
            *(f"{often} {what}" for what, often in self.repairs.items()),
            *(f"left out: {row}" for row in self.skipped),
        ]

"""Benchmark questions, whatever dataset they come from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from goalmem_cli.records import Conversation

DEPTHS = (10, 20, 40, 60)
"""Among how many of the first units the evidence is looked for."""


@dataclass(frozen=True, slots=True)
class GoldStep:
    """A gold subgoal or refinement: its atom, the turns that ground it (by label), and the bindings they give.

    `query` and `relation` are a refinement's own; `of` the number of the subgoal that a refinement serves. A subgoal
    without facts is one that the conversation cannot ground.
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

    `alternative` are the subgoals of another decomposition, `distractors` the labels of turns that look relevant and
    entail no subgoal.
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

    `id` is unique in the dataset, and the same whenever the file is read. `conversation` is what the transcript's
    reader calls the conversation that the question is asked of; `domain` a group of conversations that belong
    together. `answer` is None where the file gives none; `answers` are all that must be named, where the answer is a
    set. `evidence` are labels of turns that the conversation has. `category` is the dataset's own code.
    `nuggets` are what an answer must have, each judged by itself. `is_unanswerable` says that the right answer is to
    say so. `asked` None stands for the time of the last turn.
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


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions and the conversations they are asked of.

    `format` is ``locomo`` (the corpus form too), ``longmemeval``, ``realtalk``, ``beam``, ``came``, ``tot`` or
    ``complex-tr``; `digest` a hash of the files. `categories` maps each category's code to its name, in the order of
    the tables, with types of question that the format does not know behind those that it does. `repairs` are what was
    wrong in the files, with how often; `skipped` names each row that could not be read: file, place, reason.
    `conversations` yields those of the given names (the `Case.conversation`), a conversation that comes in stretches
    as the transcript's reader gives it.
    """

    name: str
    format: str
    digest: str
    cases: tuple[Case, ...]
    categories: Mapping[str, str]
    repairs: Mapping[str, int]
    conversations: Callable[[Collection[str]], Iterator[Conversation]]
    skipped: tuple[str, ...] = ()

    @property
    def notes(self) -> list[str]:
        """What is to be said of the files: each repair with how often, and each row that was left out with why."""
        return [
            *(f"{often} {what}" for what, often in self.repairs.items()),
            *(f"left out: {row}" for row in self.skipped),
        ]

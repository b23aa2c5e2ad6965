"""What passes between the loop of the order `seen` and its two model steps: frozen records, and the seam `SeenSteps`.

The steps are `plan_and_prove`, the one call of a round, and `check`, the last check of an answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from goalmem_cli.logic import Atom
from goalmem_cli.reasoners.asking import Reply
from goalmem_cli.reasoners.goal_mem.plans import Decomposition, Pair, Proposal
from goalmem_cli.records import Question
from goalmem_cli.trace import Fact, Verdict

LETTERS = tuple("xyzwvu")
"""The letters that variables may have."""
MOST_ANTECEDENTS = 8
"""How many antecedents an attempt may have: with four subgoals the labels go from S1 to S12."""


class Wish(StrEnum):
    """What the model wants next. The engine decides from what it accepted."""

    SETTLED = "settled"
    LOOK = "look"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Claim:
    """One grounding as the model wrote it; `is_instead` where it is to replace a value that was settled before.

    `why` says in a clause why facts suggest it that do not say it.

    Its subgoal is one that there is not where nothing declared the label.
    """

    proposal: Proposal
    verdict: Verdict = Verdict.ENTAILED
    why: str = ""
    is_instead: bool = False


@dataclass(frozen=True, slots=True)
class Need:
    """An antecedent: a statement that has to be known first (GOAL-MEM 4.3), and how the two are related."""

    subgoal: Atom
    relation: str


@dataclass(frozen=True, slots=True)
class Open:
    """A subgoal to look for, also one that is grounded and surely not complete: why, and what would find it."""

    subgoal: int
    why: str
    queries: tuple[str, ...]
    need: Need | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """A reply of `plan_and_prove`. `plan` is the one that it follows, given or written; None where it was declined.

    `several` are the variables that it says have several values at once; `next` is another plan for the question.
    """

    plan: Decomposition | None
    claims: tuple[Claim, ...] = ()
    several: frozenset[str] = frozenset()
    same: frozenset[Pair] = frozenset()
    open: tuple[Open, ...] = ()
    next: Decomposition | None = None
    wish: Wish = Wish.LOOK
    wording: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a question stands when a round asks.

    `lines` are the facts as they are shown, in blocks of which each round adds one, and `numbers` those that may be
    cited. `plan` is None where it is to be written, and may be declined if one `failed` before. `subgoals` are those in
    view by number, each as it stands there; `perhaps` are the provisional bindings.
    """

    question: Question
    lines: tuple[str, ...]
    numbers: tuple[str, ...]
    plan: Decomposition | None = None
    atoms: tuple[Atom, ...] = ()
    subgoals: Mapping[int, str] = field(default_factory=dict)
    perhaps: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    undecided: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the last check says: whether the facts answer the question as it was asked, and if not what differs."""

    is_same: bool
    differs: str = ""


class SeenSteps(Protocol):
    """The two things that the order `seen` asks a model, each one call, retried once when the reply is unusable."""

    def plan_and_prove(self, standing: Standing) -> Reply[Proof]:
        """Return a plan, where it is to be written, what the facts prove of it, and what to look for (4.1 to 4.4)."""
        ...

    def check(self, question: Question, facts: Sequence[Fact], goal: Atom, found: str) -> Reply[Judgement]:
        """Return whether these facts answer the question as it was asked."""
        ...

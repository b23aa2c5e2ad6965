"""Two made-up questions that test whether a model can plan and prove in one reply (`together`)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from goalmem_cli.errors import StoreError
from goalmem_cli.logic.normal import content_stems
from goalmem_cli.models.state_cache import model_cache
from goalmem_cli.ports import Completion, LanguageModel, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem.loop import AttemptRun, AttemptTerms
from goalmem_cli.reasoners.goal_mem.pool import Pool
from goalmem_cli.reasoners.goal_mem.provers.together import Together
from goalmem_cli.reasoners.goal_mem.records import Limits, Task
from goalmem_cli.reasoners.inquiry import Unwatched
from goalmem_cli.records import Hit, Query, Question, Turn, Unit
from goalmem_cli.store.files import replace_file

Suited = Literal["together", "stepwise"]
OUTCOMES = "planning.json"
OUTCOMES_SCHEMA = 1

SAID = datetime(2023, 5, 7, 18, 30)
LIMITS = Limits(max_breadth=1, max_depth=0)
MOST_TOKENS = 500
"""The most tokens of a reply. A good one has some 300, so a longer one shows that the model fails."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A made-up question over a chat of two people, and the value that the right answer contains."""

    question: str
    lines: tuple[tuple[str, str, str], ...]
    value: str


TRIALS = (
    Trial(
        "What does the brother of Mira repair?",
        (
            ("Mira", "Jon", "My brother Teo moved to Ghent last year."),
            ("Jon", "Mira", "I repair nothing, I always call somebody."),
            ("Mira", "Jon", "Teo repairs violins now, in a shop by the river."),
        ),
        "violins",
    ),
    Trial(
        "Where did Iva sail from?",
        (
            ("Iva", "Oren", "The ferry from Porto was full, so I sailed from Vigo."),
            ("Oren", "Iva", "I took the train to Lisbon."),
        ),
        "Vigo",
    ),
)


def masters_proofs(model: LanguageModel, prompts: PromptBook) -> bool | None:
    """Say whether the model's replies to both questions are well-formed and prove the right answers.

    None if a reply shows neither: it is empty, or was cut off before any JSON began.

    Raises:
        ModelError: the model cannot be used at all.
    """
    brief = _Brief(model)
    masters = all(_is_proved(trial, brief, prompts) for trial in TRIALS)
    return None if not masters and brief.says_nothing else masters


def _is_proved(trial: Trial, model: LanguageModel, prompts: PromptBook) -> bool:
    """Say whether the model proves the trial's value in one round."""
    question, prover = Question(trial.question, SAID), Together(model, prompts, LIMITS)
    pool = Pool(_Told(trial), question, LIMITS, "full", prover.spending)
    task = Task(1, prover, pool, LIMITS.max_depth, queries=(trial.question,))
    ended = AttemptRun(AttemptTerms(question, LIMITS, Unwatched(), is_strict=False), task).run()
    if not ended.is_proved or ended.state is None or ended.last is None or ended.last.is_disorderly:
        return False
    bound, names = ended.state.substitution.bindings, ended.state.plan.answer_variables
    return any(content_stems(trial.value) <= content_stems(value) for name in names for value in bound[name])


class _Brief:
    """The model with short replies: at most `MOST_TOKENS`."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.says_nothing = False

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return one completion per request, in order, and note whether a reply says nothing.

        A reply has at most `MOST_TOKENS` tokens.
        """
        brief = [replace(each, max_tokens=min(each.max_tokens, MOST_TOKENS)) for each in requests]
        replies = self._model.complete(brief)
        self.says_nothing |= any(not each.is_complete and "{" not in each.text for each in replies)
        self.says_nothing |= any(not each.text.strip() for each in replies)
        return replies


class _Told:
    """A memory that holds only the lines of a trial."""

    def __init__(self, trial: Trial) -> None:
        self._hits = [
            Hit(
                Unit(f"T{place}", "turn", text, "trial", speaker, SAID, (f"T{place}",), (f"T{place}",), ordinal=place),
                1 / (1 + place), {"order": 1 + place}, to=to,
            )
            for place, (speaker, to, text) in enumerate(trial.lines)
        ]  # fmt: skip

    def update(self, turns: Sequence[Turn]) -> None:
        """Ignore the turns: this memory is fixed."""

    def retrieve(self, query: Query, k: int) -> list[Hit]:  # noqa: ARG002 - all of it is shown
        """Return the first `k` lines, in order."""
        return self._hits[:k]


# The outcomes, kept in the user's cache so that each model is asked once


def kept_outcomes() -> dict[str, Suited]:
    """Return the prover that suits each model asked so far; empty without a readable file."""
    try:
        document = json.loads(_outcomes_file().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    models = document.get("models") if isinstance(document, dict) else None
    if not isinstance(models, dict) or document.get("schema_version") != OUTCOMES_SCHEMA:
        return {}
    return {str(key): found for key, found in models.items() if found in ("together", "stepwise")}


def keep_outcome(key: str, found: Suited) -> None:
    """Keep an outcome. If nothing can be written, the model is asked again the next time."""
    document = {"schema_version": OUTCOMES_SCHEMA, "models": {**kept_outcomes(), key: found}}
    with suppress(StoreError):
        replace_file(_outcomes_file(), json.dumps(document, ensure_ascii=False, indent=1).encode())


def _outcomes_file() -> Path:
    return model_cache() / OUTCOMES

"""The provers, which plan and prove: one for each size of model, and one in the paper's order."""

from collections.abc import Callable, Sequence
from typing import Final

from goalmem_cli.errors import UsageError
from goalmem_cli.fitted import UNFITTED, Fitted
from goalmem_cli.memory_ports import StructuredMemory
from goalmem_cli.ports import LanguageModel
from goalmem_cli.prompts import Profile, PromptBook
from goalmem_cli.reasoners.goal_mem.provers import stepwise, together
from goalmem_cli.reasoners.goal_mem.records import GoalMemSettings, Limits, Planning, Prover
from goalmem_cli.records import Question

TOGETHER: Final = "together"
STEPWISE: Final = "stepwise"
PAPER: Final = "paper"
PLANNINGS: tuple[Planning, ...] = (TOGETHER, STEPWISE, PAPER)
_DEFAULTS = GoalMemSettings()
AUTO = "auto"
"""Not a prover: goalmem tests which prover suits the model before it chooses the prompts."""
OLD_NAMES: dict[str, dict[Profile, Planning]] = {
    "seen": {"full": TOGETHER}, "blind": {"full": PAPER, "compact": STEPWISE},
}  # fmt: skip
"""Former names that the command line still accepts, and what they are called now, by the prompts' profile."""


def chosen_planning(wanted: str | None, profile: Profile) -> Planning:
    """Return the name of the wanted prover, or else the usual one for the prompts' profile.

    Raises:
        UsageError: there is no such prover, or the profile has no prompts for it.
    """
    usual: Planning = STEPWISE if profile == "compact" else TOGETHER
    named = wanted if wanted is None else OLD_NAMES.get(wanted, {}).get(profile, wanted)
    if named in (None, AUTO, usual):
        return usual
    planning = next((each for each in PLANNINGS if each == named), None)
    if planning is None and wanted not in OLD_NAMES:
        raise UsageError(f"there is no planning {wanted!r}", f"choose one of {', '.join(PLANNINGS)}")
    if profile == "compact":
        raise UsageError(
            f"the compact prompts, which small models have, know no planning {wanted}",
            f"leave --planning out, write --planning {usual}, or take a model of 3B parameters or more with --model",
        )
    if planning in (TOGETHER, PAPER):
        return planning
    raise UsageError(
        "the full prompts, which large models have, know no planning stepwise",
        f"leave --planning out, or write --planning {TOGETHER} or {PAPER}",
    )


def prover_of(
    planning: Planning, model: LanguageModel, prompts: PromptBook, limits: Limits, fitted: Fitted,
    open_store: Callable[[], StructuredMemory] | None = None,
) -> Prover:  # fmt: skip
    """Return the prover of that name.

    Raises:
        UsageError: another prover than `paper` is to have what only that has: a background, answers that the model
            generates, no checks of the engine's own, no bound of subgoals.
    """
    is_literal = limits.generates or not limits.own_checks or not limits.max_subgoals
    if planning != PAPER and (open_store is not None or is_literal):
        raise UsageError(
            "goal-mem: the settings own_checks (off), max_subgoals (0), background and generates are for --planning "
            f"{PAPER}",
            "leave them out",
        )
    if planning == PAPER:
        from goalmem_cli.reasoners.goal_mem.provers.paper import Paper  # only here, as it loads what mem0 needs

        return Paper(model, prompts, limits, open_store)
    if planning == TOGETHER:
        return together.Together(model, prompts, limits)
    return stepwise.Stepwise(model, prompts, fitted)


def steps_of(planning: Planning, told: GoalMemSettings = _DEFAULTS) -> tuple[str, ...]:
    """Return the steps whose prompts a prover uses."""
    if planning != PAPER:
        return together.STEPS if planning == TOGETHER else stepwise.STEPS
    from goalmem_cli.reasoners.goal_mem.provers import paper

    wording = (paper.GENERATE,) if told.generates else paper.WORDING
    return (*((paper.STEP,) if told.background else ()), *paper.STEPS, *wording)


def calls_of(planning: Planning, breadth: int, depth: int) -> tuple[int, int]:
    """Return the least and the most model calls of a question for maximum breadth and depth, without retries."""
    if planning == TOGETHER:
        return 1, breadth * (depth + 1) + 2
    if planning == PAPER:
        return 2, 1 + breadth * (2 + 2 * depth)
    return 1, stepwise.most_calls(depth)


def planner(model: LanguageModel, prompts: PromptBook) -> Callable[[Question], Sequence[str]]:
    """Return a function that gives a question's first subgoals in plain words, or none if the plan is unusable."""
    from goalmem_cli.reasoners.goal_mem.provers.paper import Paper

    small = prompts.profile == "compact"
    prover = stepwise.Stepwise(model, prompts, UNFITTED) if small else Paper(model, prompts, Limits())

    def plan(question: Question) -> Sequence[str]:
        made = prover.decompose(question).value
        return [] if made is None else [atom.phrase for atom in made.subgoals]

    return plan

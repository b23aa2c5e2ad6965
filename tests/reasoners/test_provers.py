"""Which prover a question gets: by its name, or by the prompts that the model has."""

from __future__ import annotations

import pytest

from goalmem_cli.errors import UsageError
from goalmem_cli.prompts import Profile, PromptBook
from goalmem_cli.reasoners.goal_mem import PLANNINGS, calls_of, chosen_planning, steps_of


@pytest.mark.parametrize(
    ("wanted", "profile", "planning"),
    [
        (None, "full", "together"),
        (None, "compact", "stepwise"),
        ("together", "full", "together"),
        ("paper", "full", "paper"),
        ("stepwise", "compact", "stepwise"),
        ("seen", "full", "together"),
        ("blind", "full", "paper"),
        ("blind", "compact", "stepwise"),
    ],
)
def test_a_prover_is_chosen_by_name_or_prompts(wanted: str | None, profile: Profile, planning: str) -> None:
    """The names of before are known; small models had no other planning than blind."""
    assert chosen_planning(wanted, profile) == planning


@pytest.mark.parametrize(
    ("wanted", "profile", "words"),
    [
        ("together", "compact", "know no planning together"),
        ("seen", "compact", "know no planning seen"),
        ("paper", "compact", "know no planning paper"),
        ("stepwise", "full", "know no planning stepwise"),
        ("nonsense", "full", "there is no planning 'nonsense'"),
    ],
)
def test_what_the_prompts_do_not_know_is_said(wanted: str, profile: Profile, words: str) -> None:
    """With what to choose instead."""
    with pytest.raises(UsageError, match=words) as raised:
        chosen_planning(wanted, profile)
    assert raised.value.hint


@pytest.mark.parametrize("planning", PLANNINGS)
def test_each_prover_has_the_prompts_of_its_steps(planning: str) -> None:
    """In the profile that it is for."""
    profile: Profile = "compact" if planning == "stepwise" else "full"
    named = chosen_planning(planning, profile)
    least, most = calls_of(named, 3, 5)

    assert PromptBook.load(None, profile, steps_of(named)).prompts.keys() == set(steps_of(named))
    assert 1 <= least < most

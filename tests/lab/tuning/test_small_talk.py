"""Fitting which turns are never evidence: on goalmem's own samples, by the command that prints the weights."""

import json
from pathlib import Path

import pytest

from goalmem_cli.backbones import small_talk
from goalmem_cli.fitted import values_beside
from goalmem_cli.lab.tuning import commands
from goalmem_cli.lab.tuning.small_talk import LOST, Turns, fit
from goalmem_cli.records import Hit, Unit
from tests.conftest import SAMPLES


def said(text: str, *before: str) -> Hit:
    """Return a turn, after another one where one is given."""
    earlier = tuple(Unit(each, "turn", each, "talk", "Ben", None, (each,), ("D1:1",)) for each in before)
    return Hit(Unit(text, "turn", text, "talk", "Ana", None, (text,), ("D1:2",), ordinal=1), 0.0, {}, earlier)


@pytest.mark.parametrize(
    "text", ["Thanks so much!", "Bye, see you soon!", "Sounds good!", "Haha yes", "That's awesome, congrats!"]
)
def test_courtesy_is_never_evidence(text: str) -> None:
    """Farewells, thanks and cheering are less likely evidence than anything is shown for."""
    assert not small_talk.may_be_evidence(said(text))


@pytest.mark.parametrize(
    "hit",
    [
        said("In the hall."),
        said("done", "40 and you drive us to the fair"),
        said("We sold it for 40."),
        said("Ana moved to Leeds."),
        said("I love it here, thanks!"),
    ],
)
def test_what_says_something_may_be_evidence(hit: Hit) -> None:
    """Short answers, deals, amounts and names stay."""
    assert small_talk.may_be_evidence(hit)


def test_a_picture_may_be_evidence() -> None:
    """What was not said in words alone is never left out."""
    derived = Unit("u", "gist", "thanks", "talk", "Ana", None, ("u",), ("D1:2",))
    assert small_talk.may_be_evidence(Hit(derived, 0.0))


def test_the_fit_loses_as_little_evidence_as_it_promises() -> None:
    """Of the turns that are evidence where it is fitted, no greater share is left out; a fit of too little says so."""
    turns = Turns.from_files([SAMPLES])
    fitted = fit(turns)
    left_out, lost = fitted.shares(turns)

    assert turns.matrix.shape == (len(turns.are_evidence), len(small_talk.WEIGHTS))
    assert lost <= LOST
    assert 0 <= left_out < 0.5


def test_the_command_prints_weights_and_shares(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`python -m goalmem_cli.lab.tuning small-talk FOLDER` prints what is fitted and lost, and writes it as it is shipped."""
    out = tmp_path / "small_talk.json"
    commands.main(["small-talk", str(SAMPLES), "--report", str(SAMPLES / "momoco.json"), "--out", str(out)])
    printed = capsys.readouterr()
    told = printed.out + printed.err

    assert all(name in told for name in small_talk.WEIGHTS)
    assert list(json.loads(out.read_text("utf-8"))) == list(values_beside(small_talk.__file__))
    assert "momoco.json" in told and "turns left out" in told

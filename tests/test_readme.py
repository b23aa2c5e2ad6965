"""The README: its commands run, and what it lists is what there is."""

from __future__ import annotations

import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest

from goalmem_cli.cli.main import run
from goalmem_cli.config import Settings
from goalmem_cli.transcripts import FORMATS
from tests.cli.test_commands import every_command
from tests.conftest import CHECKOUT

README = (CHECKOUT / "README.md").read_text("utf-8")
# Enough to prove that a command works; the bundled model takes minutes for all that its default bounds allow.
BOUNDS = {"GOALMEM_MAX_BREADTH": "1", "GOALMEM_MAX_DEPTH": "0", "GOALMEM_BUDGET": "4"}
TESTED = re.compile(r"<!-- tested -->\n```sh\n(.*?)```", re.DOTALL)
MAY_END_IN_UNKNOWN = {"ask"}


def commands_shown() -> list[list[str]]:
    """Return the words of every command in the README's tested blocks."""
    lines = [line for block in TESTED.findall(README) for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.strip()]


@pytest.mark.slow
@pytest.mark.usefixtures("empty_cache")
def test_every_tested_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One after another, over the sample conversations and the bundled model, as the README shows them."""
    (tmp_path / "sample_convos").symlink_to(CHECKOUT / "sample_convos")
    monkeypatch.chdir(tmp_path)
    for variable, value in BOUNDS.items():
        monkeypatch.setenv(variable, value)
    commands = commands_shown()
    assert len(commands) > 10
    for program, *words in commands:
        assert program == "goalmem"
        code = run(words)
        err = capsys.readouterr().err
        assert code in ({0, 1, 4} if words[0] in MAY_END_IN_UNKNOWN else {0}), (words, code, err)
        assert "error: " not in err or code == 4, (words, err)


def test_every_command_and_subcommand_is_mentioned() -> None:
    """Who reads the README has seen every command."""
    missing = [" ".join(words) for words in every_command() if f"goalmem {' '.join(words)}".strip() not in README]
    defaults = {"stores list", "models list", "embedder show", "prompts list", "trace list", "eval run"}
    assert set(missing) == defaults


def test_every_format_has_its_section() -> None:
    """Each reader's format is documented under its name."""
    assert [name for name in FORMATS if f"### `{name}`" not in README] == []


def test_every_setting_is_listed() -> None:
    """The keys of the settings files are those of `Settings`."""
    (listed,) = re.findall(r"Keys: (.*?)\. A variable", README)
    assert set(re.findall(r"`(\w+)`", listed)) == {slot.name for slot in fields(Settings)}


def test_the_two_commands_install_what_there_is() -> None:
    """The extras that the README installs are in pyproject.toml."""
    pyproject = (CHECKOUT / "pyproject.toml").read_text("utf-8")
    for extra in re.findall(r"pip install '\.\[(\w+)\]'", README):
        assert f"\n{extra} = [" in pyproject

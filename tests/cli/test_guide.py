"""`goalmem guide`: the manual on a terminal and in a pipe."""

import pytest

from goalmem_cli.guide import NAMES, page
from tests.invoking import Goalmem


def test_the_pages_are_listed(goalmem: Goalmem) -> None:
    """With --list, and where no page is named."""
    outcome = goalmem("guide", "--list")
    assert [line.split()[0] for line in outcome.out.splitlines()[1:]] == list(NAMES)
    assert goalmem("guide").out == outcome.out


@pytest.mark.parametrize("name", NAMES)
def test_a_page_in_a_pipe_is_its_markdown(goalmem: Goalmem, name: str) -> None:
    """Nothing is drawn, so that it can be kept as a file."""
    assert goalmem("guide", name).out == page(name).text


def test_a_page_on_a_terminal_is_drawn(goalmem: Goalmem, monkeypatch: pytest.MonkeyPatch) -> None:
    """Headings and tables are drawn, in colours; the pager shows it."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("PAGER", "cat")
    drawn = goalmem("guide", "scripting").out
    assert "\x1b[" in drawn
    assert "```" not in drawn


def test_a_page_that_is_not_there_names_the_nearest(goalmem: Goalmem) -> None:
    """A usage error leads on."""
    outcome = goalmem("guide", "formatts")
    assert outcome.code == 2
    assert "no page 'formatts'" in outcome.error_lines[0]
    assert "goalmem guide formats" in outcome.error_lines[1]

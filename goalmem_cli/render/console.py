"""The two output streams: stdout carries the answer or one JSON document, stderr everything else."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import TextIO

from rich.console import Console, RenderableType
from rich.text import Text

from goalmem_cli.render.streams import OutputClosed
from goalmem_cli.render.text import document, plain, safe, safe_lines

FALLBACK_HINT = "`goalmem doctor` shows what is installed and reachable"


class Screen:
    """The output of a command. `is_quiet` drops notes but no errors; `is_verbose` adds details."""

    def __init__(self, *, is_quiet: bool = False, is_verbose: bool = False, width: int | None = None) -> None:
        self.is_quiet = is_quiet
        self.is_verbose = is_verbose
        self._out = _console(sys.stdout, width)
        self.notes = _console(sys.stderr, width)

    @property
    def is_live(self) -> bool:
        """Whether stderr is a terminal and notes are shown, so that progress makes sense."""
        return self.notes.is_terminal and not self.is_quiet

    def answer(self, text: str) -> None:
        """Write the answer; characters that could control a terminal are replaced."""
        self._write(safe_lines(text))

    def text(self, text: str) -> None:
        """Write lines that are already safe, with their indentation."""
        self._write(text)

    def document(self, content: object) -> None:
        """Write one JSON document."""
        self._write(document(content))

    def show(self, renderable: RenderableType) -> None:
        """Write a table or tree that was asked for.

        Raises:
            OutputClosed: the reader has gone.
        """
        _put(self._out, renderable)

    def note(self, text: str) -> None:
        """Write a note on stderr, unless quiet."""
        if not self.is_quiet:
            self.notes.print(plain(text), soft_wrap=True)

    def warn(self, text: str) -> None:
        """Write a warning on stderr."""
        self.notes.print(Text.assemble(("warning: ", "yellow"), safe(text)), soft_wrap=True)

    def detail(self, text: str) -> None:
        """Write a note on stderr, if verbose."""
        if self.is_verbose:
            self.note(text)

    def report(self, text: str) -> None:
        """Write a line about what was done on stdout, unless quiet."""
        if not self.is_quiet:
            self.answer(text)

    def draw(self, renderable: RenderableType) -> None:
        """Draw a table or tree on stderr, next to the answer."""
        _put(self.notes, renderable)

    def read(self, markdown: str) -> None:
        """Show a page of Markdown: rendered and paged on a terminal, unchanged elsewhere.

        Raises:
            OutputClosed: the reader has gone.
        """
        if not self._out.is_terminal:
            self.text(markdown.rstrip("\n"))
            return
        from rich.markdown import Markdown

        os.environ.setdefault("LESS", "-FRX")  # as in git: colours, and no pager if the page fits
        with self._out.pager(styles=True):
            self._out.print(Markdown(markdown, hyperlinks=False))

    def error(self, message: str, hint: str = "") -> None:
        """Write an error's two lines on stderr."""
        self.notes.print(two_lines(message, hint), soft_wrap=True)

    def line(self, content: object) -> None:
        """Write one JSON document on one line."""
        self._write(document(content, is_indented=False))

    @contextmanager
    def counting(self, name: str) -> Iterator[Callable[[int, int], None]]:
        """Yield a function that takes the done and total counts; the bar appears on a terminal only, until the end."""
        from rich import progress as bars  # only here, as most commands draw none

        columns = (
            bars.TextColumn("{task.description}", markup=False),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
            bars.TimeRemainingColumn(),
        )
        with bars.Progress(*columns, console=self.notes, transient=True, disable=not self.is_live) as display:
            task = display.add_task(safe(name), total=None)

            def reach(done: int, total: int) -> None:
                display.update(task, completed=done, total=total)

            yield reach

    @contextmanager
    def working(self) -> Iterator[Callable[[str, float, float], None]]:
        """Yield a function that takes the current task's name, the work done and the total work, in any unit.

        The bar, with elapsed and remaining time, appears on a terminal only, until the end.
        """
        from rich import progress as bars  # only here, as most commands draw none

        columns = (
            bars.TextColumn("{task.description}", markup=False),
            bars.BarColumn(),
            bars.TimeElapsedColumn(),
            bars.TextColumn("left", style="dim"),
            bars.TimeRemainingColumn(),
        )
        with bars.Progress(
            *columns, console=self.notes, transient=True, disable=not self.is_live, speed_estimate_period=3600
        ) as display:
            task = display.add_task("", total=None)

            def reach(name: str, done: float, total: float) -> None:
                display.update(task, description=safe(name), completed=done, total=total)

            yield reach

    @contextmanager
    def progress(self, total: int) -> Iterator[Callable[[str], None]]:
        """Yield a function that takes the name of each task as it begins; the bar appears on a terminal only."""
        from rich import progress as bars  # only here, as most commands draw none

        columns = (
            bars.SpinnerColumn(),
            bars.TextColumn("{task.description}", markup=False),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
        )
        with bars.Progress(*columns, console=self.notes, transient=True, disable=not self.is_live) as display:
            task = display.add_task("", total=total)
            done = count()

            def begin(name: str) -> None:
                display.update(task, description=safe(name), completed=next(done))

            yield begin

    @contextmanager
    def bytes_done(self, name: str) -> Iterator[Callable[[str, int, int | None], None]]:
        """Yield a function that takes a name, the bytes so far and the total; the bar appears on a terminal only."""
        from rich import progress as bars  # only here, as most commands draw none

        columns = (
            bars.TextColumn("{task.description}", markup=False),
            bars.BarColumn(),
            bars.DownloadColumn(),
            bars.TransferSpeedColumn(),
        )
        with bars.Progress(
            *columns, bars.TimeRemainingColumn(), console=self.notes, transient=True, disable=not self.is_live
        ) as display:
            task = display.add_task(safe(name), total=None)

            def reach(name: str, done: int, total: int | None) -> None:
                display.update(task, description=safe(name), completed=done, total=total)

            yield reach

    def _write(self, text: str) -> None:
        _put_text(self._out, text + "\n")


def _put(console: Console, renderable: RenderableType) -> None:
    """Print the renderable; into a pipe or file, without trailing blanks."""
    if console.is_terminal:
        console.print(renderable)
        return
    with console.capture() as captured:
        console.print(renderable)
    _put_text(console, "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def _put_text(console: Console, text: str) -> None:
    """Write plain text; raises OutputClosed if the pipe is closed."""
    try:
        console.file.write(text)
        console.file.flush()
    except BrokenPipeError as error:
        raise OutputClosed from error


def two_lines(message: str, hint: str = "") -> Text:
    """Return ``error: ...`` and ``hint: ...``, each on one line."""
    return Text.assemble(
        ("error: ", "bold red"), safe(message), "\n", ("hint: ", "bold"), safe(hint) or FALLBACK_HINT
    )  # fmt: skip


def show_error(message: str, hint: str = "") -> None:
    """Write an error's two lines on stderr before a command has its screen."""
    Screen().error(message, hint)


class _Stream(Console):
    """A console whose reader may close the stream."""

    def on_broken_pipe(self) -> None:
        """Raise goalmem's exception; Rich would end the process with its own exit code."""
        raise OutputClosed


def _console(stream: TextIO, width: int | None) -> Console:
    return _Stream(file=stream, width=width, markup=False, emoji=False, highlight=False)

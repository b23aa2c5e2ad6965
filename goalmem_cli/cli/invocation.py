"""The start of every command: its settings, its screen, and the factories of model and embedder."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, BinaryIO

import typer

from goalmem_cli.config import Settings, command_for, load_settings
from goalmem_cli.errors import InputError, StoreError, UsageError
from goalmem_cli.records import STANDARD_INPUT

if TYPE_CHECKING:
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.render.console import Screen
    from goalmem_cli.wiring import Factories

_typed_stores: ContextVar[tuple[str | None, ...]] = ContextVar("stores of the runs", default=())
UNINSTALLED = "unknown: run from a folder, not installed"


@dataclass(frozen=True, slots=True)
class Invocation:
    """One run of one command; `store` as it was typed, None if it was not."""

    settings: Settings
    screen: Screen
    factories: Factories
    store: str | None = None

    def command(self, *words: str, names: Sequence[str] = ()) -> str:
        """Return another command for the same store, as it is typed in a shell; `names` are its arguments."""
        return command_for(self.store, *words, names=names)

    def stored(self) -> KeptMemory:
        """Return the memory of the settings with its own embedder, for maintenance.

        Raises:
            StoreError: it cannot be read.
        """
        from goalmem_cli.wiring import open_stored

        return open_stored(self.settings, self.factories, self.screen.note)

    @contextmanager
    def over_milvus(self, folder: Path, *, is_wanted: bool) -> Iterator[Invocation]:
        """Yield this run with an embedded Milvus in the folder, and close it afterwards; unchanged if not wanted."""
        if not is_wanted:
            yield self
            return
        from goalmem_cli.addresses import MilvusAddress
        from goalmem_cli.milvus.embedded import close_embedded

        settings = replace(self.settings, store=folder / "beside", address=MilvusAddress(path=folder / "milvus"))
        try:
            yield replace(self, settings=settings)
        finally:
            close_embedded()


def begin(context: typer.Context, /, *, quiet: bool = False, verbose: bool = False, **flags: object) -> Invocation:
    """Return the run with its settings and screen; `flags` are settings by field name, None if not typed.

    Raises:
        UsageError: a settings file or a variable is wrong.
    """
    from goalmem_cli.render.console import Screen
    from goalmem_cli.wiring import Factories

    settings = load_settings(flags, os.environ)
    screen = Screen(is_quiet=quiet, is_verbose=verbose)
    if settings.planning is not None:
        from goalmem_cli.reasoners.goal_mem import OLD_NAMES

        if settings.planning in OLD_NAMES:
            now = OLD_NAMES[settings.planning]
            small = f", or with small models {now['compact']}" if "compact" in now else ""
            screen.note(f"planning {settings.planning} is called {now['full']} now{small}")
    own = context.obj if isinstance(context.obj, Factories) else None
    made = own or Factories.announcing(settings, screen.note, screen.bytes_done)
    named = flags.get("store")
    store = None if named is None else str(named)
    _typed_stores.set((*_typed_stores.get(), store))
    return Invocation(settings, screen, made, store)


def forget_typed_store() -> None:
    """Begin anew to note which stores are typed, before a command runs."""
    _typed_stores.set(())


def typed_store() -> str | None:
    """Return the store that was typed for this command, None if there was none, or two that differ."""
    stores = set(_typed_stores.get())
    return stores.pop() if len(stores) == 1 else None


def is_terminal() -> bool:
    """Return whether a user at a terminal can answer a question."""
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


def confirm(question: str, *, is_given: bool) -> None:
    """Return only after a yes, which was given as a flag or is typed now.

    Raises:
        UsageError: there is no terminal to ask at.
        typer.Abort: the answer is no.
    """
    if is_given:
        return
    if not is_terminal():
        raise UsageError(f"nobody is there to confirm it: {question}", "--yes goes on without asking")
    typer.confirm(question, abort=True, err=True)


def version_of(distribution: str, otherwise: str) -> str:
    """Return the version of an installed distribution, or `otherwise` if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return otherwise


def standard_input() -> bytes:
    """Return everything on standard input; raises InputError if it is closed."""
    if sys.stdin is None or sys.stdin.closed:
        raise InputError(STANDARD_INPUT, "", "standard input is closed", "pipe something in")
    return sys.stdin.buffer.read()


@contextmanager
def standard_input_file() -> Iterator[Callable[[], BinaryIO]]:
    """Yield a function that opens the content of standard input again; the content may be of any length.

    Close one reader before the next is opened.

    Raises:
        InputError: standard input is closed.
    """
    if sys.stdin is None or sys.stdin.closed:
        raise InputError(STANDARD_INPUT, "", "standard input is closed", "pipe something in")
    from tempfile import TemporaryFile

    with TemporaryFile() as kept:
        try:
            shutil.copyfileobj(sys.stdin.buffer, kept)
            kept.flush()
        except OSError as error:
            raise InputError(
                STANDARD_INPUT, "", f"cannot be read ({error.strerror})", "check the free space"
            ) from error

        def opened() -> BinaryIO:
            again = os.fdopen(os.dup(kept.fileno()), "rb")
            again.seek(0)
            return again

        yield opened


@contextmanager
def temporary() -> Iterator[Path]:
    """Yield a temporary folder, which is deleted afterwards.

    Raises:
        StoreError: the system cannot make one.
    """
    try:
        folder = TemporaryDirectory(prefix="goalmem-eval-", ignore_cleanup_errors=True)
    except OSError as error:
        raise StoreError(f"no temporary folder: {error.strerror or error}", "make room, or set TMPDIR") from error
    with folder as path:
        yield Path(path)

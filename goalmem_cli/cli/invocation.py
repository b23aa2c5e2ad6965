"""What every command starts with: its settings, its screen, and what builds the expensive parts."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import typer

from goalmem_cli.config import Settings, load_settings
from goalmem_cli.errors import InputError

if TYPE_CHECKING:
    from goalmem_cli.render.console import Screen
    from goalmem_cli.wiring import Factories

STANDARD_INPUT = "-"
UNINSTALLED = "unknown: run from a folder, not installed"


@dataclass(frozen=True, slots=True)
class Invocation:
    """One run of one command."""

    settings: Settings
    screen: Screen
    factories: Factories


def begin(context: typer.Context, /, *, quiet: bool = False, verbose: bool = False, **flags: object) -> Invocation:
    """Return the run's settings and screen; `flags` are settings by field name, None where none was typed.

    Raises:
        UsageError: a settings file or a variable is wrong.
    """
    from goalmem_cli.render.console import Screen
    from goalmem_cli.wiring import Factories

    settings = load_settings(flags, os.environ)
    factories = context.obj if isinstance(context.obj, Factories) else Factories()
    return Invocation(settings, Screen(is_quiet=quiet, is_verbose=verbose), factories)


def version_of(distribution: str, otherwise: str) -> str:
    """Return the version of an installed distribution, or what stands for one that is not installed."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return otherwise


def standard_input() -> bytes:
    """Return everything on standard input.

    Raises:
        InputError: it is closed.
    """
    if sys.stdin is None or sys.stdin.closed:
        raise InputError(STANDARD_INPUT, "", "standard input is closed", "pipe something in")
    return sys.stdin.buffer.read()

"""The command `goalmem`: its subcommands, error lines and exit codes."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
from _thread import interrupt_main
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import import_module
from threading import Timer, get_ident
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goalmem_cli.cli.groups import CONTEXT, examples
from goalmem_cli.cli.invocation import UNINSTALLED, forget_typed_store, typed_store, version_of
from goalmem_cli.errors import GoalmemError
from goalmem_cli.render.streams import OutputClosed, abandon_output

if TYPE_CHECKING:
    from goalmem_cli.wiring import Factories

INTERRUPTED = 130
# Importing libraries creates many objects and hardly any garbage, so collecting after every 700 wastes time.
OBJECTS_PER_COLLECTION = 50_000
SECONDS_TO_LEAVE_A_CALLBACK = 0.01

COMMANDS = (
    "ingest", "sources", "ask", "chat", "index", "goals", "rules", "forget", "search", "eval", "report", "trace",
    "stores", "people", "models", "warm", "embedder", "prompts", "bench", "mcp", "doctor", "guide",
)  # fmt: skip
"""The commands in the order of the help.

Each has a module of its name, with its `group`, or with a function of that name and its `EPILOG`.
"""
LAB = ("eval", "report", "bench")


def _print_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"goalmem {version_of('goalmem', UNINSTALLED)}")
        raise typer.Exit


def _root(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@cache
def command_tree(only: str | None = None) -> Any:
    """Return the tree of all commands, or of one, which takes half the time."""
    app = typer.Typer(
        name="goalmem",
        context_settings=CONTEXT,
        help="Ask your own conversations questions, offline, and see the proof of every answer.",
        epilog=examples(
            "goalmem ingest sample_convos",
            'goalmem ask --trace "Which drink did Alice order at Momoco?"',
            guide="",
        ),
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        add_completion=True,
    )
    app.callback(invoke_without_command=True)(_root)
    for name in COMMANDS if only is None else (only,):
        module = import_module(f"goalmem_cli.{'lab.' if name in LAB else ''}cli.{name}")
        if hasattr(module, "group"):
            app.add_typer(module.group, name=name)
        else:
            app.command(name, context_settings=CONTEXT, epilog=module.EPILOG)(getattr(module, name))
    return typer.main.get_command(app)


def main(arguments: Sequence[str] | None = None, factories: Factories | None = None) -> None:
    """Run the command line and exit with its exit code."""
    gc.set_threshold(OBJECTS_PER_COLLECTION)
    sys.unraisablehook = _interrupt_again
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # else Typer's flags search all installed packages
    sys.exit(run(arguments, factories))


def _interrupt_again(dropped: sys.UnraisableHookArgs) -> None:
    """Repeat a Ctrl-C that arrived inside a weak reference's or C callback, where Python drops exceptions."""
    if not issubclass(dropped.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
    elif not sys.is_finalizing():
        if sys.platform == "win32":
            interrupt: Callable[[], None] = interrupt_main
        else:  # a signal also wakes a sleeping thread
            interrupt = partial(signal.pthread_kill, get_ident(), signal.SIGINT)
        again = Timer(SECONDS_TO_LEAVE_A_CALLBACK, interrupt)
        again.daemon = True
        again.start()


def run(arguments: Sequence[str] | None = None, factories: Factories | None = None) -> int:
    """Run the command line and return its exit code; a bug raises its exception.

    Args:
        arguments: the words after `goalmem`; None uses the process's own.
        factories: builds embedders and models; None uses the real ones.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    forget_typed_store()
    try:
        words = list(sys.argv[1:] if arguments is None else arguments)
        command = command_tree(words[0] if words and words[0] in COMMANDS else None)
        code = command(args=words, prog_name="goalmem", standalone_mode=False, obj=factories)
        return code if isinstance(code, int) else 0
    except GoalmemError as error:
        return _failed(error.message, _hint_for_store(error.hint), error.exit_code)
    except typer.TyperException as error:
        return _failed(error.format_message(), _usage_hint(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except OutputClosed:
        abandon_output()
        return 0


def _failed(message: str, hint: str, code: int) -> int:
    from goalmem_cli.render.console import show_error

    show_error(message, hint)
    return code


def _hint_for_store(hint: str) -> str:
    """Return the hint with commands for the store that was typed."""
    store = typed_store()
    if store is None or "`goalmem " not in hint:
        return hint
    from goalmem_cli.cli.hints import with_store

    return with_store(hint, store, _takes_store)


def _takes_store(words: Sequence[str]) -> bool:
    """Say whether the command of these words after `goalmem` has the flag `--store`."""
    name, *rest = words or [""]
    if name not in COMMANDS:
        return False
    found = command_tree(name).commands[name]
    if known := getattr(found, "commands", {}):
        named = rest[0] if rest and rest[0] in known else getattr(found, "default", "run")
        found = known.get(named)
    return found is not None and any("--store" in each.opts for each in found.params)


def _usage_hint(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "goalmem"
    return f"`{command} --help` shows the words and flags it takes, with an example"

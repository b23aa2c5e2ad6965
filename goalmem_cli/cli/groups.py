"""Groups of commands with a default command, and the examples at the end of `--help`."""

from __future__ import annotations

from typing import Any, ClassVar

import typer.core

HELP_NAMES = ["-h", "--help"]
CONTEXT = {"help_option_names": HELP_NAMES}


def examples(*lines: str, guide: str) -> str:
    """Return the epilog of a command's help: examples, and its page of the manual.

    The first character stops click from rewrapping the lines.
    """
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines) + f"\n\nManual: goalmem guide {guide}".rstrip()


class ListGroup(typer.core.TyperGroup):
    """A group that runs its default command if none is named: `models --json` is `models list --json`."""

    default: ClassVar[str] = "list"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command before arguments that name none."""
        is_unnamed = not args or (args[0].startswith("-") and args[0] not in HELP_NAMES)
        return super().parse_args(ctx, [self.default, *args] if is_unnamed else args)


class ShowGroup(ListGroup):
    """A group whose default command is `show`."""

    default: ClassVar[str] = "show"


class ServeGroup(ListGroup):
    """A group whose default command is `serve`."""

    default: ClassVar[str] = "serve"


class RunGroup(typer.core.TyperGroup):
    """A group that runs its command `run` if no other is named: `eval FILE --limit 5` is `eval run FILE ...`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `run` before arguments that begin with no command."""
        return super().parse_args(ctx, args if args and args[0] in self.commands else ["run", *args])

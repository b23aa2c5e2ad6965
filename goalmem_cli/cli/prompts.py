"""`goalmem prompts`: lists, shows and checks prompts, also your own files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, ListGroup, examples
from goalmem_cli.cli.invocation import begin
from goalmem_cli.errors import PromptError

if TYPE_CHECKING:
    from goalmem_cli.prompts import Prompt

SCHEMA_VERSION = 1
PROFILES: tuple[Literal["full", "compact"], ...] = ("full", "compact")
ProfileName: TypeAlias = Literal["full", "compact"]

Profile = Annotated[
    ProfileName, typer.Option("--profile", help="full for models of 3B and more, compact for small ones.")
]

group = typer.Typer(
    cls=ListGroup,
    help="List, show and check the prompts.",
    context_settings=CONTEXT,
    epilog=examples("goalmem prompts", "goalmem prompts check --prompts my-prompts", guide="settings"),
)


@group.command("list", epilog=examples("goalmem prompts list --json", guide="settings"))
def list_prompts(context: typer.Context, prompts: options.Prompts = None, json: options.Json = False) -> int:
    """List the prompts of both profiles, with what each is for.

    The hash is the one that traces record.
    """
    from goalmem_cli.render.tables import plain_table
    from goalmem_cli.wiring import open_prompts

    run = begin(context, prompts=prompts)
    books = [open_prompts(run.settings.prompts, profile) for profile in PROFILES]
    found = [(book.profile, prompt) for book in books for prompt in book.prompts.values()]
    if json:
        listed = [
            {"profile": profile, "step": p.name, "hash": p.hash, "description": p.description} for profile, p in found
        ]
        run.screen.document({"schema_version": SCHEMA_VERSION, "prompts": listed})
    else:
        cells = [(profile, p.name, p.hash[:8], p.description) for profile, p in found]
        run.screen.show(
            plain_table(("profile", "step", "hash", "description"), cells, whole=("profile", "step", "hash"))
        )
    return 0


@group.command(
    "show",
    epilog=examples("goalmem prompts show unify", "goalmem prompts show read --profile compact", guide="settings"),
)
def show(
    context: typer.Context,
    step: Annotated[str, typer.Argument(metavar="STEP", help="As `goalmem prompts` lists it.")],
    profile: Profile = "full",
    prompts: options.Prompts = None,
) -> int:
    """Show one prompt: fixed text, examples, and the reply's form."""
    from goalmem_cli.wiring import open_prompts

    run = begin(context, prompts=prompts)
    run.screen.answer(_written(open_prompts(run.settings.prompts, profile)[step]))
    return 0


@group.command("check", epilog=examples("goalmem prompts check --prompts my-prompts", guide="settings"))
def check(context: typer.Context, prompts: options.Prompts = None, quiet: options.Quiet = False) -> int:
    """Read every prompt and say what is wrong. Exits with 4 when one is."""
    from goalmem_cli.wiring import open_prompts

    run = begin(context, quiet=quiet, prompts=prompts)
    code = 0
    for profile in PROFILES:
        try:
            book = open_prompts(run.settings.prompts, profile)
        except PromptError as error:
            run.screen.error(error.message, error.hint)
            code = error.exit_code
        else:
            run.screen.report(f"{book.folder}: {len(book.prompts)} prompts, all right")
    return code


def _written(prompt: Prompt) -> str:
    """Return a prompt as text: system, examples, input and reply."""
    from goalmem_cli.render.text import document

    examples_text = "\n".join(
        f"## example {number}\n{example.input.strip()}\n-> {example.output}"
        for number, example in enumerate(prompt.examples, start=1)
    )
    reply = prompt.grammar if prompt.grammar is not None else document(prompt.schema)
    parts = (
        f"# {prompt.name}: {prompt.description}\n# hash {prompt.hash}, replies of at most {prompt.max_tokens} tokens",
        f"## system\n{prompt.system}", examples_text, f"## growing\n{prompt.growing.strip()}",
        f"## tail\n{prompt.tail.strip()}", f"## reply\n{reply}",
    )  # fmt: skip
    return "\n\n".join(part for part in parts if part)

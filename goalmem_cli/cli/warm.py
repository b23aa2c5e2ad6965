"""`goalmem warm`: keeps the model loaded between commands."""

from __future__ import annotations

import subprocess
import sys
from tempfile import TemporaryFile
from time import sleep
from typing import IO, TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import examples
from goalmem_cli.cli.invocation import Invocation, begin
from goalmem_cli.errors import ModelError, UsageError

if TYPE_CHECKING:
    from goalmem_cli.models.servers.warm import Held

MINUTES = 15.0
POLL_SECONDS = 0.05
EPILOG = examples("goalmem warm", "goalmem warm --minutes 60", "goalmem warm --stop", guide="models")


def warm(
    context: typer.Context,
    minutes: Annotated[
        float, typer.Option("--minutes", min=0.01, max=1440, help="How long to keep it after its last use.")
    ] = MINUTES,
    stop: Annotated[bool, typer.Option("--stop", help="Unload the model now.")] = False,
    foreground: Annotated[bool, typer.Option("--foreground", help="Run here, until it ends or Ctrl-C.")] = False,
    model: options.Model = None,
    adapter: options.Adapter = None,
    context_length: options.Context = None,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
) -> int:
    """Keep the model loaded between commands, for some minutes.

    `ask`, `chat` and `mcp` use it. A process of its own holds the model, and ends by itself. It listens on a socket in
    your cache that only you can reach, and stores nothing that it is asked.
    """
    from goalmem_cli.models.servers import warm as kept
    from goalmem_cli.models.servers.address import is_address

    run = begin(context, quiet=quiet, model=model, adapter=adapter, context=context_length, threads=threads)
    if not kept.can_be_kept_warm():
        raise UsageError("a model cannot be kept warm on Windows", "do without goalmem warm")
    if stop:
        return _stopped(run)
    if is_address(run.settings.model):
        raise UsageError("the model is a server's, which keeps it loaded itself", "--model names one of this machine")
    if (held := kept.held()) is not None:
        return _already(run, held)
    if foreground:
        from goalmem_cli.loading import keep_warm

        keep_warm(run.settings, 60 * minutes, run.screen.note, run.screen.bytes_done)
        return 0
    held = _started(run, minutes)
    run.screen.report(f"{held.name} is loaded, and stays so until {minutes:g} minutes without a question have passed")
    return 0


def _stopped(run: Invocation) -> int:
    """Unload the warm model, print whether there was one, and return the exit code."""
    from goalmem_cli.models.servers import warm as kept

    try:
        kept.stop()
    except kept.Gone:
        run.screen.report("no model is kept warm")
    else:
        run.screen.report("the model is unloaded")
    return 0


def _already(run: Invocation, held: Held) -> int:
    """Print which model is loaded already.

    Raises:
        UsageError: it is another model than the settings name, or was loaded with other settings.
    """
    from goalmem_cli.loading import kept_warm

    if kept_warm(run.settings) is None:
        raise UsageError(f"{held.name} is kept warm already, with other settings", "goalmem warm --stop first")
    run.screen.report(f"{held.name} is kept warm already, by process {held.process}")
    return 0


def _started(run: Invocation, minutes: float) -> Held:
    """Start the process that holds the model, and return what it holds once it is ready.

    Raises:
        ModelError: the process ended before it was ready.
    """
    from goalmem_cli.models.catalogue import resolve
    from goalmem_cli.models.servers import warm as kept

    spec = resolve(run.settings.model, note=run.screen.note, watch=run.screen.bytes_done)  # put together here, seen
    with TemporaryFile() as output:
        started = subprocess.Popen(  # noqa: S603 - this program itself
            [sys.executable, "-P", "-m", "goalmem_cli", *_words(run, spec.name, minutes)],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
        try:
            while (held := kept.held()) is None or held.process != started.pid:
                if started.poll() is not None:
                    raise _failed(output)
                sleep(POLL_SECONDS)
        except BaseException:
            started.terminate()
            started.wait()
            raise
    started.returncode = 0  # it outlives this command, which does not wait for it
    return held


def _words(run: Invocation, model: str, minutes: float) -> list[str]:
    """Return the command line of the process, with all settings as flags."""
    settings = run.settings
    given = {"--model": model, "--adapter": settings.adapter, "--context": settings.context}
    given |= {"--threads": settings.threads, "--minutes": f"{minutes:g}"}
    told = [word for name, value in given.items() if value is not None for word in (name, str(value))]
    return ["warm", "--foreground", *told]


def _failed(output: IO[bytes]) -> ModelError:
    """Return the error that the process printed."""
    output.seek(0)
    lines = [line for line in output.read().decode("utf-8", "replace").splitlines() if line.strip()]
    told = next((line for line in reversed(lines) if line.startswith("error: ")), lines[-1] if lines else "")
    hint = next((line for line in lines if line.startswith("hint: ")), "")
    return ModelError(
        f"the model could not be kept warm: {told.removeprefix('error: ') or 'its process ended'}",
        hint.removeprefix("hint: ") or "goalmem warm --foreground shows what happens",
    )

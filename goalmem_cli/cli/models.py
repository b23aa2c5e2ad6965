"""`goalmem models`: lists and downloads language models, and shows the cache that makes them start faster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, ListGroup, examples
from goalmem_cli.cli.invocation import Invocation, begin
from goalmem_cli.errors import ModelError

SCHEMA_VERSION = 1
SHOWN_HASH = 12
_MILLION, _BILLION = 10**6, 10**9

group = typer.Typer(
    cls=ListGroup,
    help="List and download models, and show their cache.",
    context_settings=CONTEXT,
    epilog=examples("goalmem models", "goalmem models download hf:owner/repository/model-q4_k_m.gguf", guide="models"),
)


@group.command("list", epilog=examples("goalmem models list --json", guide="models"))
def list_models(context: typer.Context, json: options.Json = False) -> int:
    """List the bundled and the downloaded models, and where each is."""
    from goalmem_cli.languages.names import languages_read
    from goalmem_cli.models import catalogue

    run = begin(context)
    listings = catalogue.list_models()
    if json:
        listed = [
            {
                "name": each.name, "is_installed": each.is_installed, "path": str(each.path) if each.path else None,
                "bytes": each.size, "parameters": each.parameters, "profile": each.profile, "memory": each.memory,
                "is_cached": each.is_cached, "note": each.note,
                "languages": sorted(each.languages) if each.languages else None,
                "adapter": {"path": str(each.adapter.path), "sha256": each.adapter.digest} if each.adapter else None,
            }
            for each in listings
        ]  # fmt: skip
        run.screen.document({"schema_version": SCHEMA_VERSION, "models": listed})
        return 0
    for each in listings:
        told = (
            f"{_count(each.parameters)} parameters" if each.parameters else "",
            _gigabytes(each.size), f"{_gigabytes(each.memory)} of memory" if each.memory else "",
            f"{each.profile} prompts" if each.profile else "",
            f"reads {languages_read(each.languages)}" if each.languages else "",
            f"adapter {each.adapter.digest[:SHOWN_HASH]}" if each.adapter else "",
        )  # fmt: skip
        _show_whole(run, f"{each.name}: {', '.join(filter(None, told))}", each.note or str(each.path))
    return 0


@group.command("suggest", epilog=examples("goalmem models suggest", guide="models"))
def suggest(context: typer.Context, json: options.Json = False) -> int:
    """Suggest larger models to download, by memory.

    Downloads nothing. A model of 3 billion parameters or more gets the full prompts. All are Qwen's, and read the
    thirteen languages of `goalmem guide languages`.
    """
    from goalmem_cli.models.bundled import SUGGESTIONS
    from goalmem_cli.models.catalogue import resolve

    def path_of(name: str) -> str:
        try:
            return str(resolve(name).path)
        except ModelError:
            return ""

    run = begin(context)
    found = [(each, path_of(each.name)) for each in SUGGESTIONS]
    if json:
        listed = [
            {
                "name": each.name, "memory": each.memory, "bytes": each.size, "is_tried": each.is_tried,
                "is_downloaded": bool(path), "command": f"goalmem models download {each.name}",
            }
            for each, path in found
        ]  # fmt: skip
        run.screen.document({"schema_version": SCHEMA_VERSION, "suggestions": listed})
        return 0
    for each, path in found:
        told = f"{_gigabytes(each.memory)} of memory, a file of {_gigabytes(each.size)}, "
        told += "tried" if each.is_tried else "untried"
        told += " with the golden questions" + ", downloaded" * bool(path)
        _show_whole(run, told, path or f"goalmem models download {each.name}")
    return 0


def _show_whole(run: Invocation, about: str, line: str) -> None:
    """Print a line about a model, and under it a path, a note or a command, which no width breaks."""
    from goalmem_cli.render.text import safe

    run.screen.text(f"{safe(about)}\n    {safe(line)}")


@group.command(
    "download", epilog=examples("goalmem models download hf:owner/repository/model-q4_k_m.gguf", guide="models")
)
def download(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="qwen-1.5b, qwen-0.5b, or hf:owner/repository/file.gguf")],
    quiet: options.Quiet = False,
) -> int:
    """Download a model file. The hash of a bundled model is checked.

    Only this command and `embedder distil --download` download anything.
    """
    from goalmem_cli.models import catalogue

    run = begin(context, quiet=quiet)
    with run.screen.bytes_done(name) as reach:
        spec = catalogue.download(name, lambda done, total: reach(name, done, total))
    run.screen.report(f"{spec.name}: {spec.path}, {spec.profile} prompts")
    return 0


@group.command("cache", epilog=examples("goalmem models cache", "goalmem models cache --clear", guide="models"))
def cache(
    context: typer.Context,
    clear: Annotated[bool, typer.Option("--clear", help="Delete the cache; it is made again when needed.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Show the cache that makes models start faster.

    It has evaluated prompts, at most GOALMEM_MODEL_CACHE megabytes (2048; 0 keeps none), and the joined or repacked
    files of bundled models.
    """
    from goalmem_cli.models.state_cache import MEGABYTE, StateCache, model_cache
    from goalmem_cli.models.weights import parts, repacking

    run = begin(context, quiet=quiet)
    folder, limit = model_cache(), run.settings.model_cache * MEGABYTE
    try:
        joined = parts.joined_files(folder)
    except OSError as error:
        raise ModelError(f"{folder} cannot be read: {error.strerror}", "check the folder's rights") from error
    states, weights = StateCache.in_folder(folder, limit), repacking.made_weights(folder)
    kept = [Kept(f"prompt {each.step}", each.model, each.size, each.path, each.used) for each in states.states()[::-1]]
    kept += [Kept(f"weights as {_form(path)}", "smollm2-135m", size, path) for path, size in weights]
    kept += [_put_together(path, size) for path, size in joined]
    total = sum(each.size for each in kept)
    if clear:
        run.screen.note(f"{len(kept)} files, {_megabytes(total)}, in {folder} go; they are made again when needed")
        try:
            states.clear()
            repacking.clear(folder)
            parts.clear(folder)
        except OSError as error:
            raise ModelError(f"{folder} cannot be cleared: {error.strerror}", "check the folder's rights") from error
    if json:
        run.screen.document(_cache_document(folder, limit, kept, is_cleared=clear))
    elif clear:
        run.screen.report(f"removed {len(kept)} files, {_megabytes(total)}, from {folder}")
    else:
        _show_kept(run, folder, kept, total)
    return 0


@dataclass(frozen=True, slots=True)
class Kept:
    """One file of the cache: its content, its model, its size in bytes, and its last use in seconds since 1970."""

    what: str
    model: str
    size: int
    path: Path
    used: float | None = None


def _put_together(path: Path, size: int) -> Kept:
    """Return the entry of a joined model file, or of a part that an interruption left."""
    from goalmem_cli.models.bundled import BUNDLED
    from goalmem_cli.models.state_cache import PART

    what = "left by an interruption" if path.suffix == PART else "put together"
    return Kept(what, next((name for name in BUNDLED if path.name.strip(".").startswith(f"{name}-")), ""), size, path)


def _show_kept(run: Invocation, folder: Path, kept: Sequence[Kept], total: int) -> None:
    """Print the files of the cache as a table."""
    from goalmem_cli.render.tables import plain_table

    if not kept:
        run.screen.note(f"nothing is kept in {folder}")
        return
    cells = [(each.what, each.model, _megabytes(each.size), _day(each.used)) for each in kept]
    run.screen.show(plain_table(("what", "of", "size", "last used"), cells, numbers=("size",)))
    run.screen.note(f"{_megabytes(total)} in {folder}; `goalmem models cache --clear` removes all of it")


def _cache_document(folder: Path, limit: int, kept: Sequence[Kept], *, is_cleared: bool) -> dict[str, object]:
    """Return the files of the cache as `--json` prints them."""
    files = [
        {"what": each.what, "model": each.model, "bytes": each.size, "path": str(each.path), "last_used": each.used}
        for each in kept
    ]
    return {
        "schema_version": SCHEMA_VERSION,
        "folder": str(folder),
        "limit": limit,
        "is_cleared": is_cleared,
        "files": files,
    }


def _form(path: Path) -> str:
    """Return the quantisation of repacked weights, as their file name has it before an adapter's hash."""
    return next((word for word in reversed(path.stem.split("-")) if word.startswith("Q")), "")


def _gigabytes(size: int | None) -> str:
    return "" if size is None else f"{size / _BILLION:.1f} GB"


def _megabytes(size: int) -> str:
    return f"{size / 2**20:.1f} MB"


def _day(moment: float | None) -> str:
    return "" if moment is None else f"{datetime.fromtimestamp(moment).astimezone():%Y-%m-%d %H:%M}"


def _count(parameters: int | None) -> str:
    if parameters is None:
        return ""
    return f"{parameters / _BILLION:.1f} B" if parameters >= _BILLION else f"{parameters / _MILLION:.0f} M"

"""Where programs on this machine keep transcripts: a table, and a look that reads nothing but names and beginnings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path

import platformdirs

from goalmem_cli.errors import InputError, UsageError
from goalmem_cli.transcripts.files import Found, transcript_files
from goalmem_cli.transcripts.formats import format_of
from goalmem_cli.transcripts.reading.source import Source

MOST_NAMES = 50_000
"""How many names of a folder, its subfolders included, are looked at."""
MOST_OPENED = 200
"""How many files of a folder that is everybody's are opened to see what they are, the newest first."""

_DOWNLOADS = "DOWNLOADS"


@dataclass(frozen=True, slots=True)
class Program:
    """A program, and where its transcripts lie.

    `folders` may begin with ``~`` and with a variable, which leaves them out where it is not set; ``$DOWNLOADS`` is the
    folder of downloads. `patterns` are of paths below them, part by part. `formats` are what its files
    are in; in the folder of downloads, where everybody's files lie, only what is in one of them is the program's.
    """

    name: str
    what: str
    folders: tuple[str, ...]
    patterns: tuple[str, ...]
    formats: tuple[str, ...]


PROGRAMS = (
    Program(
        "claude-code", "sessions of Claude Code",
        ("$CLAUDE_CONFIG_DIR/projects", "~/.claude/projects", "~/.config/claude/projects"),
        ("*/*.jsonl", "*/*/subagents/*.jsonl"), ("agent-log",),
    ),
    Program(
        "codex", "sessions of the Codex CLI",
        ("$CODEX_HOME/sessions", "$CODEX_HOME/archived_sessions", "~/.codex/sessions", "~/.codex/archived_sessions"),
        ("rollout-*.jsonl", "*/*/*/rollout-*.jsonl"), ("agent-log",),
    ),
    Program(
        "gemini-cli", "sessions of Gemini CLI", ("~/.gemini/tmp",),
        ("*/chats/session-*.json", "*/chats/session-*.jsonl", "*/checkpoint-*.json", "*/logs.json"), ("gemini-cli",),
    ),
    Program(
        "cursor", "transcripts of Cursor's agents", ("~/.cursor/projects",),
        ("*/agent-transcripts/*.jsonl", "*/agent-transcripts/*/*.jsonl"), ("cursor",),
    ),
    Program(
        "telegram", "exports of Telegram Desktop", ("$DOWNLOADS",),
        ("ChatExport_*", "DataExport_*", "Telegram Desktop/ChatExport_*", "Telegram Desktop/DataExport_*"),
        ("telegram", "telegram-html"),
    ),
    Program("whatsapp", "exported chats of WhatsApp", ("$DOWNLOADS",), ("WhatsApp Chat*",), ("whatsapp",)),
    Program("slack", "exports of Slack", ("$DOWNLOADS",), ("*Slack export*",), ("slack",)),
    Program(
        "chatgpt", "data exports of ChatGPT", ("$DOWNLOADS",),
        ("*.zip", "conversations*.json", "*/conversations*.json"), ("chatgpt",),
    ),
    Program(
        "claude", "data exports of Claude", ("$DOWNLOADS",),
        ("*.zip", "conversations*.json", "*/conversations*.json"), ("claude",),
    ),
)  # fmt: skip
"""Add a program here; nothing else has to know it."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a program has on this machine: `paths` are files, or folders that are one export, in order.

    `newest` is when the last of them was written, `size` how many bytes their files have as they lie there.
    """

    program: Program
    paths: tuple[Path, ...]
    newest: datetime | None
    size: int

    def found(self) -> list[Found]:
        """Return what to read of it. Whatever is no transcript is to be passed over, as in a folder."""
        return [one for path in self.paths for one in _opened(path)]


def program_of(name: str) -> Program:
    """Return the program of that name.

    Raises:
        UsageError: there is none.
    """
    for program in PROGRAMS:
        if program.name == name:
            return program
    raise UsageError(f"no known place is called {name!r}", f"places: {', '.join(one.name for one in PROGRAMS)}")


def kept_by(program: Program) -> Kept:
    """Look for a program's transcripts. What cannot be looked at is taken as not there."""
    paths: dict[Path, None] = {}
    for folder in folders_of(program):
        paths |= dict.fromkeys(_matching(folder, program))
    stats = [status for path in paths for status in _stats(path)]
    newest = max((status.st_mtime for status in stats), default=None)
    when = None if newest is None else datetime.fromtimestamp(newest, UTC).astimezone()
    return Kept(program, tuple(paths), when, sum(status.st_size for status in stats))


def folders_of(program: Program) -> list[Path]:
    """Return the folders in which its transcripts would lie, there or not, each once."""
    found: dict[Path, None] = {}
    for text in program.folders:
        first, _, rest = text.partition("/")
        root = _root(first)
        if root is not None:
            found[root / rest] = None
    return list(found)


def _root(first: str) -> Path | None:
    if first == "~":
        return Path.home()
    if first == f"${_DOWNLOADS}":
        return platformdirs.user_downloads_path()
    value = os.environ.get(first.removeprefix("$"), "")
    return Path(value).expanduser() if value else None


def _matching(folder: Path, program: Program) -> list[Path]:
    """Return what lies below the folder under the program's patterns, in order."""
    patterns = [pattern.split("/") for pattern in program.patterns]
    below = islice(_below(folder, max(map(len, patterns)) - 1), MOST_NAMES)
    named = [path for path in below if any(_is_like(path.relative_to(folder).parts, one) for one in patterns)]
    if _is_shared(program):
        latest = sorted(named, key=lambda path: -max((each.st_mtime for each in _stats(path)), default=0.0))
        named = [path for path in latest[:MOST_OPENED] if _is_in(path, program.formats)]
    return sorted(named)


def _is_like(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    return len(parts) == len(pattern) and all(map(fnmatch, parts, pattern))


def _is_shared(program: Program) -> bool:
    return program.folders == (f"${_DOWNLOADS}",)


def _below(folder: Path, deepest: int, depth: int = 0) -> Iterator[Path]:
    """Yield what lies in a folder and below it, links to folders left alone, down to some depth."""
    try:
        with os.scandir(folder) as entries:
            here = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in here:
        if entry.name.startswith("."):
            continue
        yield Path(entry.path)
        if depth < deepest and entry.is_dir(follow_symlinks=False):
            yield from _below(Path(entry.path), deepest, depth + 1)


def _is_in(path: Path, formats: Sequence[str]) -> bool:
    """Say whether something in the file, zip or folder begins as one of the formats."""
    for one in _opened(path):
        try:
            if one.problem is None and format_of(Source.from_path(one.place)) in formats:
                return True
        except InputError:
            continue
    return False


def _opened(path: Path) -> list[Found]:
    try:
        found = transcript_files([path])
    except InputError as error:
        return [Found(path, path.parent, problem=error)]
    return [replace(one, searched=one.searched or path.parent) for one in found]


def _stats(path: Path) -> list[os.stat_result]:
    """Return what is known of the file, or of the files in the folder."""
    try:
        status = path.stat()
        if not path.is_dir():
            return [status]
        return [inner.stat() for inner in islice(_below(path, 1), MOST_NAMES) if inner.is_file()]
    except OSError:
        return []

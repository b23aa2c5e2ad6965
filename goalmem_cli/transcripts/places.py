"""Finds the transcripts that programs on this machine keep. Only names and beginnings of files are read."""

from __future__ import annotations

import os
import stat
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
"""The most names that are looked at in a folder and its subfolders."""
MOST_OPENED = 200
"""The most files that are opened in a shared folder (downloads) to detect their format, newest first."""
MOST_INSIDE = 20
"""The most files that are opened in each zip or folder there, least deep first."""

_LATEST = datetime(9999, 12, 30, tzinfo=UTC).timestamp()

_DOWNLOADS, _CONFIG = "DOWNLOADS", "CONFIG"
_EDITORS = ("Code*", "VSCodium*", "Cursor", "Windsurf", "data")
"""VS Code and what is made of it, below the folder of settings, and the part of `~/.vscode-server`."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program, and where its transcripts lie.

    `folders` may begin with ``~`` or with a variable; a folder whose variable is not set is left out. ``$DOWNLOADS`` is
    the folder of downloads, ``$CONFIG`` that of programs' settings. `patterns` match paths below the folders, part by
    part. `formats` are the formats of its files. The folder of downloads is shared: there, only files in one of these
    formats are the program's. `inside` are patterns of file names: in a zip there, only matching files are opened to
    detect their format.
    """

    name: str
    what: str
    folders: tuple[str, ...]
    patterns: tuple[str, ...]
    formats: tuple[str, ...]
    inside: tuple[str, ...] = ("*",)


def _of_editors(*below: str) -> tuple[str, ...]:
    """Return the patterns of what lies below the user's folder of each editor."""
    return tuple(f"{editor}/User/{pattern}" for editor in _EDITORS for pattern in below)


_IN_EDITORS = ("$CONFIG", "~/.vscode-server")
PROGRAMS = (
    Program(
        "claude-code", "sessions of Claude Code",
        (
            "$CLAUDE_CONFIG_DIR/projects", "~/.claude/projects",
            "$XDG_CONFIG_HOME/claude/projects", "~/.config/claude/projects",
        ),
        ("*/*.jsonl", "*/*/subagents/agent-*.jsonl"), ("agent-log",),
    ),
    Program(
        "codex", "sessions of the Codex CLI",
        ("$CODEX_HOME/sessions", "$CODEX_HOME/archived_sessions", "~/.codex/sessions", "~/.codex/archived_sessions"),
        tuple(f"{at}rollout-*.jsonl{end}" for at in ("", "*/*/*/") for end in ("", ".zst", ".gz")), ("agent-log",),
    ),
    Program(
        "gemini-cli", "sessions of Gemini CLI", ("$GEMINI_CLI_HOME/.gemini/tmp", "~/.gemini/tmp"),
        ("*/chats/session-*.json", "*/chats/session-*.jsonl", "*/checkpoint-*.json", "*/logs.json"), ("gemini-cli",),
    ),
    Program(
        "qwen-code", "sessions of Qwen Code", ("$QWEN_RUNTIME_DIR/projects", "~/.qwen/projects"),
        ("*/chats/*.jsonl",), ("gemini-cli",),
    ),
    Program(
        "cursor", "transcripts of Cursor's agents", ("~/.cursor/projects",),
        ("*/agent-transcripts/*.jsonl", "*/agent-transcripts/*/*.jsonl"), ("cursor",),
    ),
    Program(
        "cline", "tasks of Cline", (*_IN_EDITORS, "~/.cline"),
        (*_of_editors("globalStorage/saoudrizwan.claude-dev/tasks/*/ui_messages.json"), "tasks/*/ui_messages.json"),
        ("cline",),
    ),
    Program(
        "roo", "tasks of Roo Code", _IN_EDITORS,
        _of_editors("globalStorage/rooveterinaryinc.roo-cline/tasks/*/ui_messages.json"), ("cline",),
    ),
    Program(
        "copilot", "chats with Copilot in VS Code", _IN_EDITORS,
        _of_editors(
            "workspaceStorage/*/chatSessions/*.json", "workspaceStorage/*/chatSessions/*.jsonl",
            "globalStorage/emptyWindowChatSessions/*.json", "globalStorage/emptyWindowChatSessions/*.jsonl",
        ), ("vscode-copilot",),
    ),
    Program(
        "copilot-cli", "sessions of the Copilot CLI", ("$COPILOT_HOME/session-state", "~/.copilot/session-state"),
        ("*/events.jsonl", "*.jsonl"), ("copilot-cli",),
    ),
    Program(
        "goose", "sessions of Goose", ("~/.local/share/goose/sessions", "$APPDATA/Block/goose/data/sessions"),
        ("*.jsonl",), ("goose",),
    ),
    Program(
        "continue", "sessions of Continue", ("$CONTINUE_GLOBAL_DIR/sessions", "~/.continue/sessions"),
        ("*-*.json",), ("continue",),
    ),
    Program(
        "lm-studio", "chats of LM Studio", ("~/.lmstudio/conversations", "~/.cache/lm-studio/conversations"),
        ("*.conversation.json", "*/*.conversation.json", "*/*/*.conversation.json"), ("lm-studio",),
    ),
    Program(
        "telegram", "exports of Telegram Desktop", ("$DOWNLOADS",),
        ("ChatExport_*", "DataExport_*", "Telegram Desktop/ChatExport_*", "Telegram Desktop/DataExport_*"),
        ("telegram", "telegram-html"),
    ),
    Program("whatsapp", "exported chats of WhatsApp", ("$DOWNLOADS",), ("*WhatsApp*",), ("whatsapp",)),
    Program("slack", "exports of Slack", ("$DOWNLOADS",), ("*Slack export*",), ("slack",)),
    Program(
        "chatgpt", "data exports of ChatGPT", ("$DOWNLOADS",),
        ("*.zip", "conversations*.json", "*/conversations*.json"), ("chatgpt",), ("conversations*.json",),
    ),
    Program(
        "claude", "data exports of Claude", ("$DOWNLOADS",),
        ("*.zip", "conversations*.json", "*/conversations*.json"), ("claude",), ("conversations*.json",),
    ),
)  # fmt: skip
"""To support a program, add it here; no other code has to change."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The transcripts of a program on this machine: `paths` are files or exported folders, in order.

    `newest` is when the newest file was written. `size` is the number of bytes on disk. `unseen` says what could not be
    searched, so there may be more.
    """

    program: Program
    paths: tuple[Path, ...]
    newest: datetime | None
    size: int
    unseen: tuple[str, ...]

    def found(self) -> list[Found]:
        """Return what to read. Files that are not transcripts should be skipped, as in a folder.

        In a shared folder, files in other formats are left out: they are not the program's.
        """
        every = [one for path in self.paths for one in _opened(path)]
        if not _is_shared(self.program):
            return [replace(one, searched=self.paths[0].parent, is_kept=True) for one in every]
        return [one for one in every if _form(one) in (None, *self.program.formats)]


def program_of(name: str) -> Program:
    """Return the program of that name; raises UsageError if there is none."""
    for program in PROGRAMS:
        if program.name == name:
            return program
    raise UsageError(f"no known place is called {name!r}", f"places: {', '.join(one.name for one in PROGRAMS)}")


def kept_by(program: Program) -> Kept:
    """Find a program's transcripts. A missing folder has none; `unseen` names a folder that cannot be listed."""
    paths: dict[Path, None] = {}
    unseen: list[str] = []
    for folder in folders_of(program):
        paths |= dict.fromkeys(_matching(folder, program, unseen))
    stats = [status for path in paths for status in _stats(path)]
    newest = max((status.st_mtime for status in stats), default=None)
    when = None if newest is None else datetime.fromtimestamp(min(max(newest, 0), _LATEST), UTC).astimezone()
    return Kept(program, tuple(paths), when, sum(status.st_size for status in stats), tuple(unseen))


def folders_of(program: Program) -> list[Path]:
    """Return the folders that may hold the program's transcripts, existing or not. Links to one folder count once."""
    found: dict[str, Path] = {}
    for text in program.folders:
        first, _, rest = text.partition("/")
        root = _root(first)
        if root is not None:
            found.setdefault(os.path.realpath(root / rest), root / rest)
    return list(found.values())


def _root(first: str) -> Path | None:
    """Return the folder that the first part of a pattern names; None if its variable is not set."""
    if first == f"${_DOWNLOADS}":
        return platformdirs.user_downloads_path()
    if first == f"${_CONFIG}":
        return platformdirs.user_config_path(roaming=True)
    value = os.environ.get(first.removeprefix("$"), "") if first.startswith("$") else first
    try:
        return Path(value).expanduser() if value else None
    except RuntimeError:  # the home of a user who does not exist
        return None


def _matching(folder: Path, program: Program, unseen: list[str]) -> list[Path]:
    """Return the paths below the folder that match the program's patterns, sorted."""
    below = _below(folder, [pattern.split("/") for pattern in program.patterns], unseen)
    looked = list(islice(below, MOST_NAMES))
    if next(below, None) is not None:
        unseen.append(f"{folder} holds more than {MOST_NAMES:,} names: the rest was not looked at")
    named = [path for path, is_like in looked if is_like and _can_be_read(path, program)]
    if _is_shared(program):
        latest = sorted(named, key=lambda path: -max((each.st_mtime for each in _stats(path)), default=0.0))
        named = [path for path in latest[:MOST_OPENED] if _is_in(path, program)]
    return sorted(named, key=str)


def _can_be_read(path: Path, program: Program) -> bool:
    """Say whether it is a file or, in a shared folder, a folder. Reading a pipe would block."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or (_is_shared(program) and stat.S_ISDIR(mode) and not path.is_symlink())


def _is_shared(program: Program) -> bool:
    return program.folders == (f"${_DOWNLOADS}",)


def _below(folder: Path, patterns: Sequence[Sequence[str]], unseen: list[str]) -> Iterator[tuple[Path, bool]]:
    """Yield each path in a folder with whether it matches a whole pattern.

    Subfolders are searched as far as a pattern leads. Hidden entries are skipped, and links to folders are not
    followed.
    """
    try:
        with os.scandir(folder) as entries:
            here = sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        unseen.append(f"{folder} cannot be listed ({error.strerror})")
        return
    for entry in here:
        if entry.name.startswith("."):
            continue
        fitting = [pattern for pattern in patterns if fnmatch(entry.name, pattern[0])]
        yield Path(entry.path), any(len(pattern) == 1 for pattern in fitting)
        further = [pattern[1:] for pattern in fitting if len(pattern) > 1]
        if further and entry.is_dir(follow_symlinks=False):
            yield from _below(Path(entry.path), further, unseen)


def _is_in(path: Path, program: Program) -> bool:
    """Say whether a file at the path begins like one of the program's formats."""
    named = [one for one in _opened(path) if any(fnmatch(one.place.name, name) for name in program.inside)]
    least_deep = sorted(named, key=lambda one: len(Path(str(one.place)).parts))
    return any(_form(one) in program.formats for one in least_deep[:MOST_INSIDE])


def _form(one: Found) -> str | None:
    """Return its format, judged by its beginning; None if it is in none or cannot be read."""
    try:
        return None if one.problem is not None else format_of(Source.from_path(one.place))
    except InputError:
        return None


def _opened(path: Path) -> list[Found]:
    """Return the transcripts at a path in a known place; a path that cannot be read is one with a `problem`."""
    try:
        found = transcript_files([path])
    except InputError as error:
        return [Found(path, path.parent, problem=error)]
    return [replace(one, searched=one.searched or path.parent) for one in found]


def _stats(path: Path) -> list[os.stat_result]:
    """Return the status of the file, or of each file in the folder."""
    try:
        status = path.stat()
        if not path.is_dir():
            return [status]
        inside = islice(_below(path, [["*", "*"]], []), MOST_NAMES)
        return [inner.stat() for inner, _ in inside if inner.is_file()]
    except OSError:
        return []

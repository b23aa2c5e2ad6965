"""Add `goalmem mcp` to a client's settings, and remove it: first a plan, then its execution."""

from __future__ import annotations

import json
import re
import shlex
import stat
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, replace
from pathlib import Path

from goalmem_cli.cli.serving.clients import Client
from goalmem_cli.cli.serving.settings_text import Entry, changed, has_comments, parsed
from goalmem_cli.config import Settings
from goalmem_cli.errors import UsageError
from goalmem_cli.store.files import Written, content_if_there, replace_file, reporting, unwatched

COPY_SUFFIX = ".before-goalmem"
HINT_FILE = "check the permissions and the free space there"
_MOST_SECONDS = 120
_MARK = "\ufeff"
_UNSAFE = re.compile(r"\$\{|[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Plan:
    """A planned change of a client's settings.

    `old` is the present entry and `new` the wanted one; None means no entry. `content` is the file's present content.
    `runs` are commands of the client to run; if there are none, `text` replaces the file's content.
    """

    client: Client
    name: str
    old: object
    new: Entry | None
    content: bytes | None
    text: str
    runs: tuple[tuple[str, ...], ...]

    def lines(self) -> str:
        """Describe the plan, a line a step."""
        shown = [f"{self.client.title}, {self.client.settings}:"]
        if self.old is not None:
            shown.append(f"- {_told(self.client, self.name, self.old)}")
        if self.new is not None:
            shown.append(f"+ {_told(self.client, self.name, self.new)}")
        return "\n".join([*shown, *(f"by: {shlex.join(words)}" for words in self.runs)])

    def carry_out(self, written: Written = unwatched) -> Path | None:
        """Carry out the plan; return the path of the copy of the old settings, None if there were none.

        `written` is called after every single write.

        Raises:
            UsageError: the settings are read-only or were changed meanwhile, or the client's command failed.
            StoreError: a file cannot be written.
        """
        path, kept = self.client.settings, None
        self._check_unchanged()
        self._check_writable()
        if self.content is not None:
            kept = path.with_name(path.name + COPY_SUFFIX)
            replace_file(kept, self.content, written, HINT_FILE)  # only its owner may read what it makes
        for words in self.runs:
            _run(words, kept)
        if self.runs:
            return kept
        real = path.resolve()  # a link stays one

        def check(what: str) -> None:
            written(what)
            if what != real.name:  # it is written under another name, and takes its own next
                self._check_unchanged()

        with reporting(real, HINT_FILE):
            mode = None if self.content is None else real.stat().st_mode & 0o777
            replace_file(real, self.text.encode("utf-8"), check, HINT_FILE)
            if mode is not None:
                real.chmod(mode)
        return kept

    @property
    def is_needed(self) -> bool:
        """Whether the present entry differs from the wanted one; additions by the client do not count."""
        if self.old is None or self.new is None:
            return self.old is not self.new
        return not isinstance(self.old, dict) or any(self.old.get(key) != value for key, value in self.new.items())

    def _check_writable(self) -> None:
        """Raise an error if the owner made the file read-only; a rename over it would succeed."""
        path = self.client.settings
        with reporting(path, HINT_FILE):
            if self.content is not None and not path.stat().st_mode & stat.S_IWUSR:
                raise UsageError(f"{path} is read-only", f"make it writable first: chmod u+w {shlex.quote(str(path))}")

    def _check_unchanged(self) -> None:
        path = self.client.settings
        if content_if_there(path) != self.content:
            raise UsageError(f"{path} was changed meanwhile", "nothing was written; try again")


def command_of(settings: Settings) -> tuple[str, ...]:
    """Return the command line that serves the store, with absolute paths, so that it works from any folder.

    Raises:
        UsageError: a word cannot be written into a client's settings unchanged.
    """
    script = Path(sysconfig.get_path("scripts")) / ("goalmem.exe" if sys.platform == "win32" else "goalmem")
    start = [str(script)] if script.exists() else [sys.executable, "-P", "-m", "goalmem_cli"]
    if settings.address is None:
        place = str(settings.store.absolute())
    elif settings.address.path is None:
        place = settings.place
    else:
        place = str(replace(settings.address, path=settings.address.path.absolute()))
    words = (*start, "mcp", "--store", place)
    for word in words:
        if _UNSAFE.search(word):
            raise UsageError(f"{word!r} cannot be entered: a client would read ${{ or it is not text", "move the store")
    return words


def planned(client: Client, name: str, command: tuple[str, ...] | None) -> Plan:
    """Return the plan to add the command to the client's settings under `name`; a command of None removes the entry.

    Raises:
        UsageError: the client does not take the name, or its settings cannot be changed safely.
        StoreError: they cannot be read.
    """
    client.check(name)
    new = None if command is None else client.entry(command)
    paste = f"enter it by hand: {_told(client, name, new)}" if new else f"take {name!r} out by hand"
    content, text = _read(client, paste)
    old = _entry(client, name, text, paste)
    plan = Plan(client, name, old, new, content, text, ())
    if not plan.is_needed:
        return plan
    runs: list[list[str]] = []
    if old is not None and client.removes and client.program:
        runs.append(client.removing(name))
    if command is not None and client.adds:
        runs.append(client.adding(name, command))
    if runs and not (client.loses_comments and has_comments(text)):
        return replace(plan, runs=tuple(map(tuple, runs)))
    if not client.settings.parent.is_dir():
        raise UsageError(f"{client.settings.parent} is not there", f"start {client.title} once, which makes it")
    mark = _MARK if text.startswith(_MARK) else ""
    try:
        text = changed(text.removeprefix(_MARK), client.table, name, new, is_toml=client.is_toml)
    except ValueError as error:
        raise UsageError(f"{client.settings}: {error}", paste) from error
    return replace(plan, text=mark + text)


def _read(client: Client, hint: str) -> tuple[bytes | None, str]:
    """Return a settings file's bytes (None if missing) and text; raises UsageError if it is not UTF-8."""
    content = content_if_there(client.settings)
    try:
        return content, (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{client.settings}: not UTF-8", hint) from error


def _entry(client: Client, name: str, text: str, hint: str) -> object:
    """Return the entry of that name, or None."""
    try:
        servers = parsed(text.removeprefix(_MARK), is_toml=client.is_toml).get(client.table, {})
    except ValueError as error:
        raise UsageError(f"{client.settings}: cannot be read: {error}", hint) from error
    return servers.get(name) if isinstance(servers, dict) else None


def _told(client: Client, name: str, entry: object) -> str:
    """Return the entry as one line for the settings file; for TOML, a line for its top level."""
    if client.is_toml and isinstance(entry, dict):
        pairs = ", ".join(
            f"{key} = {json.dumps(value, ensure_ascii=False, default=str)}" for key, value in entry.items()
        )
        return f"{client.table}.{name} = {{{pairs}}}"
    return json.dumps({client.table: {name: entry}}, ensure_ascii=False, default=str)


def _run(words: tuple[str, ...], kept: Path | None) -> None:
    """Run a command of the client, without a shell.

    Raises:
        UsageError: it failed.
    """
    try:
        ran = subprocess.run(  # noqa: S603 - the client's own command, by its whole path
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_MOST_SECONDS,
        )  # fmt: skip
        if ran.returncode == 0:
            return
        lines = (ran.stderr or ran.stdout).decode("utf-8", "replace").strip().splitlines()
        said = f"{ran.returncode}, {lines[-1]}" if lines else str(ran.returncode)
    except (OSError, subprocess.TimeoutExpired) as error:
        said = str(error)
    hint = f"the settings as they were: {kept}" if kept else "run it yourself to see why"
    raise UsageError(f"{shlex.join(words)} failed: {said}", hint)

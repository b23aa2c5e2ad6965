"""Add `goalmem mcp` to a client's settings, and remove it: first a plan, then its execution."""

from __future__ import annotations

import copy
import json
import re
import shlex
import stat
import subprocess
import sys
import sysconfig
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from goalmem_cli.cli.serving.clients import Client
from goalmem_cli.config import Settings
from goalmem_cli.errors import UsageError
from goalmem_cli.store.files import Written, content_if_there, replace_file, reporting, unwatched

Entry = dict[str, object]

_DECODER = json.JSONDecoder()
_STRING = r'"(?:[^"\\\n]|\\.)*"'
_COMMENTS = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMAS = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_BLANKS = re.compile(r"[ \t\r\n]*")
_LINE_BEFORE = re.compile(r"(?:\A|\r?\n)[ \t]*\Z")
_LINE_AFTER = re.compile(r"[ \t]*(?=\r?\n|\Z)")


def parsed(text: str, *, is_toml: bool) -> dict[str, Any]:
    """Return the parsed settings; a blank text has none.

    Raises:
        ValueError: they cannot be read, or an object has a key twice.
    """
    if is_toml:
        return tomllib.loads(text)
    plain = _without_commas(_without_comments(text))
    try:
        said = json.loads(plain, object_pairs_hook=_single) if plain.strip() else {}
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(said, dict):
        raise ValueError("not an object")
    return said


def changed(text: str, table: str, name: str, entry: Entry | None, *, is_toml: bool) -> str:
    """Return the text with the entry `name` in the table, or without it if `entry` is None.

    Raises:
        ValueError: the settings cannot be read, or the change would affect other settings.
    """
    wanted = copy.deepcopy(parsed(text, is_toml=is_toml))
    servers = wanted.setdefault(table, {})
    if not isinstance(servers, dict):
        raise ValueError(f"{table} is not a table")
    if entry is None:
        del servers[name]
    else:
        servers[name] = entry
    new = _toml(text, table, name, entry) if is_toml else _json(text, table, name, entry)
    said = parsed(new, is_toml=is_toml)
    if is_toml and not servers:  # a table without a line of its own is gone with its last entry
        wanted.pop(table)
        said = {key: value for key, value in said.items() if key != table or value}
    if repr(said) != repr(wanted):  # the order counts, and a number that is none equals itself
        raise ValueError(f"{table} is written in a way that cannot be changed safely")
    return new


class _Member(NamedTuple):
    """A member of a JSON object, by its positions in the text."""

    key: str
    start: int
    value: int
    end: int


def _single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    said = dict(pairs)
    if len(said) < len(pairs):
        raise ValueError("a key stands twice")
    return said


def _blank(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith('"') else re.sub(r"[^\r\n]", " ", match[0])


def _without_comments(text: str) -> str:
    return _COMMENTS.sub(_blank, text)


def _without_commas(text: str) -> str:
    return _LAST_COMMAS.sub(_blank, text)


def _after_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return at if match is None else match.end()


def _members(plain: str, at: int) -> tuple[list[_Member], int]:
    """Return the members of the object that begins at `at`, and the position of its closing brace."""
    members = []
    at = _after_blanks(plain, at + 1)
    while plain[at] != "}":
        key, end = _DECODER.raw_decode(plain, at)
        value = _after_blanks(plain, _after_blanks(plain, end) + 1)
        _, end = _DECODER.raw_decode(plain, value)
        members.append(_Member(key, at, value, end))
        at = _after_blanks(plain, end)
        if plain[at] == ",":
            at = _after_blanks(plain, at + 1)
    return members, at


def _json(text: str, table: str, name: str, entry: Entry | None) -> str:
    """Return the JSON text with the entry set, or removed if it is None."""
    bare = _without_comments(text)
    plain = _without_commas(bare)
    if not plain.strip():
        text, bare, plain = text + "{}\n", bare + "{}\n", plain + "{}\n"
    at, index = _after_blanks(plain, 0), 0
    for key, value in ((table, {name: entry}), (name, entry)):
        members, close = _members(plain, at)
        index = next((place for place, member in enumerate(members) if member.key == key), len(members))
        if index == len(members):
            member = f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(value, ensure_ascii=False)}"
            return _inserted(text, bare, (at, close), members, member)
        at = members[index].value
    found = members[index]
    if entry is None:
        return _removed(text, bare, members, index)
    return text[: found.value] + json.dumps(entry, ensure_ascii=False) + text[found.end :]


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent(text: str, at: int) -> str:
    """Return the indentation of the line at a position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _inserted(text: str, bare: str, braces: tuple[int, int], members: list[_Member], member: str) -> str:
    """Return the JSON text with `member` added at the end of the object between the `braces`.

    In an object of several lines it comes after all comments. `bare` is the text with its comments blanked out, and
    `members` are the members that the object has.
    """
    at, close = braces
    end = members[-1].end if members else at + 1
    if members and "\n" not in text[at:close]:
        return f"{text[:end]}, {member}{text[end:]}"
    own, newline = _indent(text, at), _newline(text)
    has_line = bool(members) and _LINE_BEFORE.search(text, 0, members[-1].start)
    inner = _indent(text, members[-1].start) if has_line else own + "  "
    is_ended = "," in bare[end:close]
    tail = len(text[:close].rstrip())
    rest = text[tail:close] if "\n" in text[tail:close] else newline + own
    before = text[:end] + ("," if members and not is_ended else "") + text[end:tail]
    return f"{before}{newline}{inner}{member}{',' if is_ended else ''}{rest}{text[close:]}"


def _removed(text: str, bare: str, members: list[_Member], index: int) -> str:
    """Return the JSON text without a member, one comma beside it, and its line if nothing else is on it."""
    _, start, _, end = members[index]
    after = _after_blanks(bare, end)
    if bare[after] == ",":
        text = text[:after] + text[after + 1 :]
    elif index:
        comma = bare.index(",", members[index - 1].end)
        text, start, end = text[:comma] + text[comma + 1 :], start - 1, end - 1
    before, behind = _LINE_BEFORE.search(text, 0, start), _LINE_AFTER.match(text, end)
    if before and behind:
        return text[: before.start()] + text[behind.end() :]
    left, right = text[:start].rstrip(" \t"), text[end:]
    if index < len(members) - 1:
        right = ("" if left.endswith("{") else " ") + right.lstrip(" \t")
    return left + right


def _toml(text: str, table: str, name: str, entry: Entry | None) -> str:
    """Return the TOML text with the entry replaced or appended, or removed if it is None.

    The entry's lines are its tables, up to the last line that is neither blank nor a comment.
    """
    kept: list[str] = []
    loose: list[str] = []
    place, is_own = None, False
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        header = _header(line)
        if header is not None:
            is_own = name in header.get(table, {})
        if not is_own:
            kept += [*loose, line]
            loose = []
            continue
        place = len(kept) if place is None else place
        loose = [*loose, line] if header is None and not line.partition("#")[0].strip() else []
    kept += loose
    if entry is None:
        if place == len(kept) and kept and not kept[-1].strip():
            kept.pop()
        return "".join(kept)
    newline = _newline(text)
    values = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    block = newline.join([f"[{table}.{name}]", *values, ""])
    if place is not None:
        return "".join([*kept[:place], block, *kept[place:]])
    whole = "".join(kept)
    gap = "" if not whole.strip() else newline if whole.endswith("\n") else newline * 2
    return whole + gap + block


def _header(line: str) -> dict[str, Any] | None:
    """Return the parsed table header, or None if the line is none."""
    if not line.lstrip().startswith("["):
        return None
    try:
        return tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None


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
            kept = _copied(path, self.content, written)
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


def _copied(path: Path, content: bytes, written: Written) -> Path:
    """Return a copy of the content beside the path: the first stays for good, the second is of the last change."""
    first = path.with_name(path.name + COPY_SUFFIX)
    kept = first if content_if_there(first) in (None, content) else first.with_name(f"{first.name}-2")
    if content_if_there(kept) != content:
        replace_file(kept, content, written, HINT_FILE)  # only its owner may read what it makes
    return kept


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
        runs.append([client.program, *client.removes, name])
    if command is not None and client.adds:
        runs.append(client.adding(name, command))
    if runs and not (client.loses_comments and _without_comments(text) != text):
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

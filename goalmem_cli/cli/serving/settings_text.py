"""Edit settings of other programs as text: add or remove one entry, and leave everything else unchanged.

The new text is parsed and compared with the old one. JSON may have comments and trailing commas, which no library of
goalmem reads; they are replaced by blanks, so that all positions stay the same.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from typing import Any, NamedTuple

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


def has_comments(text: str) -> bool:
    """Return whether the JSON text has a comment."""
    return _without_comments(text) != text


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
    """Insert a member at the end of an object, after all comments there."""
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
    """Remove a member with one comma, and its line if nothing else is on it."""
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
    """Replace the lines of the entry (its tables up to the last line that is no comment), or append them."""
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

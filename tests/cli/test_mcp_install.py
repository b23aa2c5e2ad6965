"""`goalmem mcp install` and `uninstall`, over real files in a made-up home and made-up commands of clients."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters

from goalmem_cli.cli.serving.clients import ClientName, client_of, clients
from goalmem_cli.cli.serving.installing import COPY_SUFFIX, changed, parsed, planned
from goalmem_cli.errors import UsageError
from tests.conftest import CHECKOUT
from tests.invoking import Goalmem

COMMENTED = """\
// mine: do not touch
{
\t"inputs": [], /* none, yet */
\t"servers": {
\t\t// the files
\t\t"files": {"command": "files-server", "args": ["//no comment", "/* nor that */"]}, // keep
\t},
\t"z": 1e400, "a": "größer"
}
"""
TOML = """\
# mine
model = "o9"   # the best

[mcp_servers.files]
command = "files-server"
args = [
  "[not.a.header]",
]

# at the end
[tui]
theme = "dark"
"""
FAKE = """\
#!{python}
import json, os, pathlib, sys
with open(os.environ["CLIENT_LOG"], "a", encoding="utf-8") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
words, path = sys.argv[1:], pathlib.Path(os.environ["CLIENT_SETTINGS"])
said = json.loads(path.read_text("utf-8")) if path.exists() else {{}}
if words[0] == "--add-mcp":
    entry = json.loads(words[1])
    said.setdefault("servers", {{}})[entry.pop("name")] = entry
elif words[1] == "add":
    if words[4] in said.get("mcpServers", {{}}):
        sys.exit("first line\\nMCP server already exists in user config")
    said.setdefault("mcpServers", {{}})[words[4]] = {{"type": "stdio", "command": words[6], "args": words[7:], "env": {{}}}}
else:
    del said["mcpServers"][words[4]]
path.write_text(json.dumps(said), "utf-8")
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of someone who has started every client once, and has none of their commands on the PATH."""
    folder = tmp_path / "häuser mit platz"
    for inner in (".cursor", ".codex", ".config/Claude", ".config/Code/User", "bin"):
        (folder / inner).mkdir(parents=True)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "VSCODE_APPDATA", "VSCODE_PORTABLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    monkeypatch.setenv("PATH", str(folder / "bin"))
    return folder


def settings_of(home: Path, client: ClientName) -> Path:
    """Return the settings file of a client in the home."""
    return clients("linux", home, {"XDG_CONFIG_HOME": str(home / ".config")})[client].settings


def command(home: Path, name: str, settings: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a client's command on the PATH, which keeps its words and changes the settings; return where the words are."""
    program = home / "bin" / name
    program.write_text(FAKE.format(python=sys.executable), "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("CLIENT_LOG", str(home / "log"))
    monkeypatch.setenv("CLIENT_SETTINGS", str(settings))
    return home / "log"


def words_in(log: Path) -> list[list[str]]:
    """Return the words of each call."""
    return [json.loads(line) for line in log.read_text("utf-8").splitlines()]


def without(text: str, *parts: str) -> str:
    """Return the text without the parts, each of which is in it once."""
    for part in parts:
        assert text.count(part) == 1, text
        text = text.replace(part, "")
    return text


FILES: dict[ClientName, str] = {
    "claude-code": '{"numStartups": 3}', "claude-desktop": '{\r\n    "mcpServers": {}\r\n}\r\n', "cursor": "",
    "vscode": COMMENTED, "codex": TOML,
}  # fmt: skip


@pytest.mark.parametrize("client", FILES)
def test_the_settings_from_before_goalmem_are_kept_for_good(goalmem: Goalmem, home: Path, client: ClientName) -> None:
    """So are those from before the last change, in a second copy; what has a copy already gets no second."""
    path, before = settings_of(home, client), FILES[client].encode()
    path.write_bytes(before)
    first = path.with_name(path.name + COPY_SUFFIX)
    assert str(first) in goalmem("mcp", "install", client, "--yes", "--store", "a").err
    kept = first.with_name(f"{first.name}-2")
    for words in (["install", client, "--store", "b"], ["install", client, "--store", "c"], ["uninstall", client]):
        was = path.read_bytes()
        assert goalmem("mcp", *words, "--yes").err == f"the settings as they were: {kept}\n"
        assert (first.read_bytes(), kept.read_bytes(), kept.stat().st_mode & 0o777) == (before, was, 0o600)
    path.write_bytes(before)
    assert goalmem("mcp", "install", client, "--yes").err == f"the settings as they were: {first}\n"
    assert len(list(path.parent.glob(f"{path.name}{COPY_SUFFIX}*"))) == 2


@pytest.mark.parametrize("client", FILES)
def test_the_entry_comes_into_the_file_and_goes_again(goalmem: Goalmem, home: Path, client: ClientName) -> None:
    """Without a command of the client. The entry has absolute paths, the store, and no --write; the rest stays."""
    path, before = settings_of(home, client), FILES[client].encode()
    path.write_bytes(before)
    path.chmod(0o640)
    told = goalmem("mcp", "install", client, "--yes", "--store", "my störe")
    assert (told.code, told.err) == (0, f"the settings as they were: {path}{COPY_SUFFIX}\n")
    text = path.read_bytes().decode()
    is_toml = client == "codex"
    said = parsed(text, is_toml=is_toml)
    table = {"codex": "mcp_servers", "vscode": "servers"}.get(client, "mcpServers")
    entry = said[table]["goalmem"]
    assert Path(entry["command"]).is_absolute()
    assert Path(entry["command"]).exists()
    assert entry["args"] == ["mcp", "--store", str(Path.cwd() / "my störe")]
    assert entry.get("type") == ("stdio" if client in {"claude-code", "vscode"} else None)
    kept = path.with_name(path.name + COPY_SUFFIX)
    assert (kept.read_bytes(), kept.stat().st_mode & 0o777) == (before, 0o600)
    assert path.stat().st_mode & 0o777 == 0o640

    assert goalmem("mcp", "install", client, "--store", "my störe").out == f"{path} has that entry already\n"
    assert goalmem("mcp", "uninstall", client, "--yes").code == 0
    del said[table]["goalmem"]
    again = parsed(path.read_text("utf-8"), is_toml=is_toml)
    assert repr(again) == repr(said)
    if client in {"vscode", "codex"}:
        assert path.read_bytes() == before
    assert goalmem("mcp", "uninstall", client, "--yes").code == 1


def test_comments_and_order_stay_to_the_letter(goalmem: Goalmem, home: Path) -> None:
    """What is added is a line at the end of the servers, indented as they are; the comma there before stays."""
    path = settings_of(home, "vscode")
    path.write_text(COMMENTED, "utf-8")
    assert goalmem("mcp", "install", "vscode", "--yes", "--name", 'mein "Gedächtnis" // 1').code == 0
    entry = json.dumps(
        parsed(path.read_text("utf-8"), is_toml=False)["servers"]['mein "Gedächtnis" // 1'], ensure_ascii=False
    )
    line = f'\t\t"mein \\"Gedächtnis\\" // 1": {entry},\n'
    assert without(path.read_text("utf-8"), line) == COMMENTED
    assert path.read_text("utf-8").index("// keep") < path.read_text("utf-8").index("Gedächtnis")


def test_toml_is_added_to_at_its_end(goalmem: Goalmem, home: Path) -> None:
    """Every letter that was there stays, and an entry that was there is replaced in its place."""
    path = settings_of(home, "codex")
    path.write_text(TOML, "utf-8")
    assert goalmem("mcp", "install", "codex", "--yes").code == 0
    assert path.read_text("utf-8").startswith(TOML)
    path.write_text(path.read_text("utf-8") + "# of mine", "utf-8")
    assert goalmem("mcp", "uninstall", "codex", "--yes").code == 0
    assert path.read_text("utf-8") == f"{TOML}\n# of mine"
    path.write_text(TOML.replace("servers.files]", 'servers."goalmem"]\nenv.A = "b"'), "utf-8")
    assert goalmem("mcp", "install", "codex", "--yes").code == 0
    new = path.read_text("utf-8")
    assert new.endswith(TOML[TOML.index("\n# at the end") :])
    assert set(tomllib.loads(new)["mcp_servers"]["goalmem"]) == {"command", "args"}


def test_the_entry_starts_a_server_that_only_reads(
    momoco: Goalmem, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that starts what the entry says, in another folder, is offered the memory without what changes it."""
    assert momoco("mcp", "install", "cursor", "--yes", "--store", os.path.relpath(tmp_path / "store")).code == 0
    entry = json.loads(settings_of(home, "cursor").read_text("utf-8"))["mcpServers"]["goalmem"]
    variables = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    parameters = StdioServerParameters(**entry, env=variables, cwd=str(home))

    async def tools() -> tuple[set[str], str]:
        async with Client(parameters) as client:
            named = {tool.name for tool in (await client.list_tools()).tools}
            return named, str(await client.call_tool("conversations", {}))

    named, told = anyio.run(tools)
    assert "search" in named
    assert not named & {"remember", "forget"}
    assert "momoco" in told


def test_a_client_s_own_command_is_used(goalmem: Goalmem, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its words as a list: a store with blanks and quotes is one of them. Replacing removes first."""
    path = settings_of(home, "claude-code")
    log = command(home, "claude", path, monkeypatch)
    place = str(home / 'it\'s "mine"; $(touch x)')
    told = goalmem("mcp", "install", "claude-code", "--yes", "--store", place)
    assert (told.code, told.err) == (0, "")
    (words,) = words_in(log)
    assert words[:6] == ["mcp", "add", "--scope", "user", "goalmem", "--"]
    assert words[7:] == ["mcp", "--store", place]
    assert goalmem("mcp", "install", "claude-code", "--store", place).out == f"{path} has that entry already\n"
    assert goalmem("mcp", "install", "claude-code", "--yes", "--store", "other").code == 0
    assert [words[1] for words in words_in(log)] == ["add", "remove", "add"]
    assert goalmem("mcp", "uninstall", "claude-code", "--yes").code == 0
    assert words_in(log)[-1] == ["mcp", "remove", "--scope", "user", "goalmem"]
    assert path.with_name(path.name + COPY_SUFFIX).stat().st_mode & 0o777 == 0o600


def test_vs_code_s_command_is_used_unless_it_would_lose_comments(
    goalmem: Goalmem, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes the file anew. It cannot remove, so that this is done in the file."""
    path = settings_of(home, "vscode")
    log = command(home, "code", path, monkeypatch)
    assert goalmem("mcp", "install", "vscode", "--yes").code == 0
    ((option, told),) = words_in(log)
    assert option == "--add-mcp"
    assert json.loads(told)["name"] == "goalmem"
    assert goalmem("mcp", "uninstall", "vscode", "--yes").code == 0
    assert json.loads(path.read_text("utf-8")) == {"servers": {}}
    path.write_text(COMMENTED, "utf-8")
    assert goalmem("mcp", "install", "vscode", "--yes").code == 0
    assert len(words_in(log)) == 1
    assert "// keep" in path.read_text("utf-8")


def test_a_command_that_fails_or_does_nothing_is_told(
    goalmem: Goalmem, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its last line, and where the settings are as they were."""
    path = settings_of(home, "claude-code")
    path.write_text("{}", "utf-8")
    command(home, "claude", home / "elsewhere.json", monkeypatch)
    told = goalmem("mcp", "install", "claude-code", "--yes")
    assert told.code == 0
    assert "warning: Claude Code reported no error" in told.err
    error, hint = goalmem("mcp", "install", "claude-code", "--yes").error_lines
    assert error.endswith("failed: 1, MCP server already exists in user config")
    assert hint == f"the settings as they were: {path}{COPY_SUFFIX}"


def test_another_entry_of_the_name_is_shown_and_replaced_only_with_yes(goalmem: Goalmem, home: Path) -> None:
    """And --dry-run shows both and does nothing."""
    path = settings_of(home, "cursor")
    path.write_text('{"mcpServers": {"goalmem": {"command": "mine"}, "b": {}}}', "utf-8")
    for words, code in (((), 2), (("--dry-run",), 0)):
        told = goalmem("mcp", "install", "cursor", *words)
        assert told.code == code
        assert '- {"mcpServers": {"goalmem": {"command": "mine"}}}' in told.out
        assert '+ {"mcpServers": {"goalmem": {"command": "/' in told.out
        assert "mine" in path.read_text("utf-8")
    assert list(path.parent.iterdir()) == [path]
    assert goalmem("mcp", "install", "cursor", "--yes").code == 0
    assert list(json.loads(path.read_text("utf-8"))["mcpServers"]) == ["goalmem", "b"]
    assert "mine" not in path.read_text("utf-8")


def test_an_entry_that_is_none_is_replaced_too(goalmem: Goalmem, home: Path) -> None:
    """Whatever stands there under the name."""
    path = settings_of(home, "cursor")
    path.write_text('{"mcpServers": {"goalmem": "words"}}', "utf-8")
    assert goalmem("mcp", "install", "cursor").code == 2
    assert goalmem("mcp", "install", "cursor", "--yes").code == 0
    assert "words" not in path.read_text("utf-8")


@pytest.mark.parametrize("words", [("install", "cursor"), ("uninstall", "cursor")])
def test_nothing_is_done_without_a_yes(goalmem: Goalmem, home: Path, words: tuple[str, str]) -> None:
    """What would be done is shown first; nobody is there to say yes."""
    path = settings_of(home, "cursor")
    path.write_text('{"mcpServers": {"goalmem": {"command": "mine"}}}' if words[0] == "uninstall" else "{}", "utf-8")
    before = path.read_bytes()
    told = goalmem("mcp", *words, stdin=b"")
    assert told.code == 2
    assert "nobody is there" in told.error_lines[0]
    assert str(path) in told.out
    assert path.read_bytes() == before


def test_settings_that_change_meanwhile_are_left_alone(home: Path) -> None:
    """Before anything is written, and between the writing and the renaming; nothing half-written is left there."""
    path = settings_of(home, "cursor")
    path.write_text("{}", "utf-8")
    plan = planned(client_of("cursor"), "goalmem", ("/bin/goalmem", "mcp"))
    path.write_text('{"a": 1}', "utf-8")
    with pytest.raises(UsageError, match="changed meanwhile"):
        plan.carry_out()

    def interfere(what: str) -> None:
        if what == "mcp.json, under another name":
            path.write_text('{"a": 2}', "utf-8")

    plan = planned(client_of("cursor"), "goalmem", ("/bin/goalmem", "mcp"))
    with pytest.raises(UsageError, match="changed meanwhile"):
        plan.carry_out(interfere)
    assert path.read_text("utf-8") == '{"a": 2}'
    assert sorted(file.name for file in path.parent.iterdir()) == ["mcp.json", f"mcp.json{COPY_SUFFIX}"]


KILLED = """
import os, sys
from goalmem_cli.cli.serving.clients import client_of
from goalmem_cli.cli.serving.installing import planned
left = [int(sys.argv[1])]
def stop(what):
    left[0] -= 1
    if left[0] < 0:
        os._exit(9)
planned(client_of("cursor"), "goalmem", ("/bin/goalmem", "mcp")).carry_out(stop)
"""


def test_a_process_that_dies_leaves_the_old_settings_or_the_new(home: Path) -> None:
    """Wherever it dies: after each single write."""
    path, ends = settings_of(home, "cursor"), []
    for writes in range(5):
        path.write_text('{"a": 1}', "utf-8")
        for kept in path.parent.glob(f"{path.name}.before-goalmem*"):
            kept.unlink()
        ran = subprocess.run([sys.executable, "-c", KILLED, str(writes)], cwd=CHECKOUT)
        ends.append((ran.returncode, "goalmem" in json.loads(path.read_text("utf-8")).get("mcpServers", {})))
    assert ends == [(9, False), (9, False), (9, False), (9, True), (0, True)]


@pytest.mark.parametrize(
    ("client", "content"),
    [
        ("cursor", b'{"mcpServers": }'), ("cursor", b'{"a": 1, "a": 2}'), ("cursor", b"[1]"), ("cursor", b"\xff\xfe{}"),
        ("cursor", b'{"mcpServers": []}'), ("cursor", b"[" * 9999), ("codex", b"mcp_servers = {}"), ("codex", b"a = "),
        ("codex", b"mcp_servers.goalmem.command = 'mine'"), ("codex", b'a = """\n[mcp_servers.goalmem]\n[b]\n"""'),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_changed_safely_are_refused(
    goalmem: Goalmem, home: Path, client: ClientName, content: bytes
) -> None:
    """In one line, with the entry to paste."""
    path = settings_of(home, client)
    path.write_bytes(content)
    told = goalmem("mcp", "install", client, "--yes")
    assert (told.code, path.read_bytes()) == (2, content)
    error, hint = told.error_lines
    assert error.startswith(f"{path}: ")
    entry = hint.removeprefix("enter it by hand: ")
    assert "goalmem" in (tomllib.loads(entry)["mcp_servers"] if client == "codex" else json.loads(entry)["mcpServers"])


def test_read_only_settings_are_left_alone(goalmem: Goalmem, home: Path) -> None:
    """Though the folder would let another file take their place; and no copy is made."""
    path = settings_of(home, "cursor")
    path.write_text("{}", "utf-8")
    path.chmod(0o444)
    error, hint = goalmem("mcp", "install", "cursor", "--yes").error_lines
    assert (error, path.read_text("utf-8")) == (f"{path} is read-only", "{}")
    assert hint.startswith("make it writable first: chmod u+w '")
    assert list(path.parent.iterdir()) == [path]


def test_a_link_to_the_settings_stays_a_link(goalmem: Goalmem, home: Path) -> None:
    """Who keeps them in another folder finds them changed there, and the copy beside the link."""
    real, path = home / "dotfiles.json", settings_of(home, "cursor")
    real.write_text("\ufeff{}", "utf-8")
    path.symlink_to(real)
    assert goalmem("mcp", "install", "cursor", "--yes").code == 0
    assert path.is_symlink()
    assert real.read_text("utf-8").startswith('\ufeff{\n  "mcpServers": {"goalmem": ')
    assert path.with_name(path.name + COPY_SUFFIX).read_text("utf-8") == "\ufeff{}"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("claude-code", "--name", "two words"), "Claude Code takes no server of the name 'two words'"),
        (("cursor", "--name", ""), "Cursor takes no server of the name ''"),
        (("cursor", "--store", "${HOME}/a"), "cannot be entered"),
        (("cursor", "--store", "a\nb"), "cannot be entered"),
        (("emacs",), "emacs"),
    ],
)
def test_what_no_client_takes_is_refused(goalmem: Goalmem, home: Path, words: tuple[str, ...], error: str) -> None:
    """Before anything is shown or done."""
    told = goalmem("mcp", "install", *words, "--yes")
    assert (told.code, told.out) == (2, "")
    assert error in told.error_lines[0]
    assert not settings_of(home, "cursor").exists()


def test_a_client_that_never_ran_is_not_given_settings(goalmem: Goalmem, home: Path) -> None:
    """Its folder is not there."""
    settings_of(home, "cursor").parent.rmdir()
    assert goalmem("mcp", "install", "cursor", "--yes").error_lines[1] == "start Cursor once, which makes it"


def test_a_memory_in_milvus_is_named_by_its_address(goalmem: Goalmem, home: Path) -> None:
    """A file by its absolute path, a server as it is."""
    for place, named in (("milvus:db", f"milvus:{Path.cwd()}/db"), ("milvus+https://h:1/d", "milvus+https://h:1/d")):
        assert goalmem("mcp", "install", "cursor", "--yes", "--store", place).code == 0
        entry = json.loads(settings_of(home, "cursor").read_text("utf-8"))["mcpServers"]["goalmem"]
        assert entry["args"] == ["mcp", "--store", named]


def test_settings_are_looked_for_where_each_platform_has_them(tmp_path: Path) -> None:
    """With the variables that move them; an installed package on Windows has a folder of its own."""

    def found(platform: str, **variables: str) -> dict[str, str]:
        return {
            name: client.settings.relative_to(tmp_path).as_posix()
            for name, client in clients(platform, tmp_path, variables).items()
        }

    linux = found("linux")
    assert linux == {
        "claude-code": ".claude.json", "claude-desktop": ".config/Claude/claude_desktop_config.json",
        "cursor": ".cursor/mcp.json", "codex": ".codex/config.toml", "vscode": ".config/Code/User/mcp.json",
    }  # fmt: skip
    mac = found("darwin", XDG_CONFIG_HOME="/nowhere")
    assert mac["claude-desktop"] == "Library/Application Support/Claude/claude_desktop_config.json"
    assert mac["vscode"] == "Library/Application Support/Code/User/mcp.json"
    moved = found(
        "linux", CLAUDE_CONFIG_DIR=f"{tmp_path}/c", CODEX_HOME=f"{tmp_path}/x", VSCODE_PORTABLE=f"{tmp_path}/p"
    )
    assert [moved[name] for name in ("claude-code", "codex", "vscode")] == [
        "c/.claude.json", "x/config.toml", "p/user-data/User/mcp.json",
    ]  # fmt: skip
    windows = found("win32", APPDATA=f"{tmp_path}/R", LOCALAPPDATA=f"{tmp_path}/L")
    assert windows["claude-desktop"] == "R/Claude/claude_desktop_config.json"
    assert windows["vscode"] == "R/Code/User/mcp.json"
    package = "L/Packages/Claude_pzs8/LocalCache/Roaming/Claude"
    (tmp_path / package).mkdir(parents=True)
    windows = found("win32", APPDATA=f"{tmp_path}/R", LOCALAPPDATA=f"{tmp_path}/L")
    assert windows["claude-desktop"] == f"{package}/claude_desktop_config.json"


BLANKS = st.sampled_from(["", " ", "\n", "\r\n\t", " // a, }\n", "/* ] , */", "\n  "])
NAMES = st.sampled_from(["goalmem", "a", "//b", "c\\", 'd"', "é\u2028"])


@st.composite
def objects(draw: st.DrawFn, depth: int = 2) -> str:
    """An object as somebody may write it: comments and line ends everywhere, commas at the end."""
    parts = []
    for key in draw(st.lists(NAMES, unique=True, max_size=3)):
        plain = st.sampled_from(["1", "[2, ]", '"},"'])
        value = draw(st.one_of(plain, objects(depth - 1)) if depth else plain)
        blanks = [draw(BLANKS) for _ in range(4)]
        parts.append(f"{blanks[0]}{json.dumps(key)}{blanks[1]}:{blanks[2]}{value}{blanks[3]}")
    end = draw(st.sampled_from(["", ","])) if parts else ""
    return f"{{{','.join(parts)}{end}{draw(BLANKS)}}}"


@given(objects(), objects(), BLANKS)
def test_any_json_says_the_same_but_for_the_entry(servers: str, other: str, blank: str) -> None:
    """Every comment stays but those in the entry, and taking the entry out gives back what was said."""
    text = f'{blank}{{"x": {other},{blank}"servers"{blank}: {servers}}}{blank}'
    before = parsed(text, is_toml=False)
    entry: dict[str, Any] = {"command": "ü", "args": ["//", ","]}
    new = changed(text, "servers", "goalmem", entry, is_toml=False)
    assert parsed(new, is_toml=False)["servers"]["goalmem"] == entry
    if "goalmem" not in before["servers"]:
        assert new.count("// a, }") == text.count("// a, }")
        again = changed(new, "servers", "goalmem", None, is_toml=False)
        assert repr(parsed(again, is_toml=False)) == repr(before)
        assert again.count("// a, }") == text.count("// a, }")
        assert again.count("/* ] , */") == text.count("/* ] , */")

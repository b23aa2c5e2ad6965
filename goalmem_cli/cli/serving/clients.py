"""The clients that start `goalmem mcp`: their settings files and their own commands to add a server."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from goalmem_cli.errors import UsageError

ClientName: TypeAlias = Literal["claude-code", "claude-desktop", "cursor", "codex", "vscode"]

_BARE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Client:
    """A client. `table` is the key of its `settings` file that holds the servers.

    `program` is its command, empty if it cannot add servers. `adds` and `removes` are its words before the name;
    `removes` is empty if it cannot remove. `is_typed`: an entry needs `"type": "stdio"`. `is_bare`: names have only
    letters, digits, - and _. `loses_comments`: the command rewrites the whole file.
    """

    title: str
    settings: Path
    table: str = "mcpServers"
    program: str = ""
    adds: tuple[str, ...] = ()
    removes: tuple[str, ...] = ()
    is_typed: bool = False
    is_bare: bool = False
    loses_comments: bool = False

    @property
    def is_toml(self) -> bool:
        """Whether the settings are TOML; else they are JSON, perhaps with comments."""
        return self.settings.suffix == ".toml"

    def entry(self, command: Sequence[str]) -> dict[str, object]:
        """Return the entry that starts the command."""
        kind = {"type": "stdio"} if self.is_typed else {}
        return {**kind, "command": command[0], "args": list(command[1:])}

    def adding(self, name: str, command: Sequence[str]) -> list[str]:
        """Return the words of the client's own command that add the server."""
        if self.adds == ("--add-mcp",):
            return [self.program, *self.adds, json.dumps({"name": name, **self.entry(command)}, ensure_ascii=False)]
        return [self.program, *self.adds, name, "--", *command]

    def check(self, name: str) -> None:
        """Check that the client accepts the name; raises UsageError if it does not accept it."""
        if not name or (self.is_bare and not _BARE_NAME.fullmatch(name)):
            raise UsageError(f"{self.title} takes no server of the name {name!r}", "use letters, digits, - and _")


def client_of(name: ClientName) -> Client:
    """Return the client as it is on this machine; its command is left out if it is not on the PATH.

    A batch file, as npm installs it on Windows, is not used either: cmd.exe would parse the words again.
    """
    client = clients(sys.platform, Path.home(), os.environ)[name]
    found = shutil.which(client.program) if client.program else None
    if found is None or found.lower().endswith((".cmd", ".bat")):
        return replace(client, program="", adds=(), removes=())
    return replace(client, program=found)


def clients(platform: str, home: Path, variables: Mapping[str, str]) -> dict[ClientName, Client]:
    """Return all clients as they are on a platform (`sys.platform`), with their settings for all projects."""

    def folder(variable: str, otherwise: Path) -> Path:
        return Path(variables[variable]) if variables.get(variable) else otherwise

    if platform == "win32":
        kept = folder("APPDATA", home / "AppData/Roaming")
        packages = folder("LOCALAPPDATA", home / "AppData/Local") / "Packages"
        # An installed package (MSIX) reads its own copy of the folder of settings.
        desktop = next(iter(sorted(packages.glob("Claude_*/LocalCache/Roaming/Claude"))), kept / "Claude")
    else:
        mac = home / "Library/Application Support"
        kept = mac if platform == "darwin" else folder("XDG_CONFIG_HOME", home / ".config")
        desktop = kept / "Claude"
    code = folder("VSCODE_APPDATA", kept) / "Code"
    if variables.get("VSCODE_PORTABLE"):
        code = Path(variables["VSCODE_PORTABLE"]) / "user-data"
    return {
        "claude-code": Client(
            "Claude Code", folder("CLAUDE_CONFIG_DIR", home) / ".claude.json", program="claude",
            adds=("mcp", "add", "--scope", "user"), removes=("mcp", "remove", "--scope", "user"),
            is_typed=True, is_bare=True,
        ),
        "claude-desktop": Client("Claude Desktop", desktop / "claude_desktop_config.json"),
        "cursor": Client("Cursor", home / ".cursor/mcp.json"),
        "codex": Client(
            "Codex", folder("CODEX_HOME", home / ".codex") / "config.toml", "mcp_servers", program="codex",
            adds=("mcp", "add"), removes=("mcp", "remove"), is_bare=True,
        ),
        "vscode": Client(
            "VS Code", code / "User/mcp.json", "servers", program="code", adds=("--add-mcp",), is_typed=True,
            loses_comments=True,
        ),
    }  # fmt: skip

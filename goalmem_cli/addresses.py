"""Addresses of memories in Milvus, in a local file or on a server, as `--store` takes them."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from goalmem_cli.errors import UsageError

EMBEDDED, SERVER, OWN_SERVER = "milvus:", "milvus+https://", "milvus+http://"
FORMS = "write milvus:PATH, or milvus+https://HOST:PORT/DATABASE"
TOKEN_VARIABLE = "GOALMEM_MILVUS_TOKEN"  # noqa: S105 - the name of a variable
SHARDS_VARIABLE = "GOALMEM_MILVUS_SHARDS"
PORT, DATABASE = 19530, "default"
MOST_SHARDS = 64

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_STRANGE = re.compile(r"[^A-Za-z0-9.]+")


@dataclass(frozen=True, slots=True)
class MilvusAddress:
    """The address of an embedded database in `path`, or of a database on the server `uri`."""

    path: Path | None = None
    uri: str = ""
    database: str = DATABASE

    def __str__(self) -> str:
        """Return the address in the form of `--store`."""
        return f"{EMBEDDED}{self.path}" if self.path is not None else f"milvus+{self.uri}/{self.database}"

    @property
    def folder_name(self) -> str:
        """The name of this memory's folder in the user's data directory, for traces, settings and locks."""
        shown = str(self) if self.path is None else f"{EMBEDDED}{self.path.absolute()}"
        told = hashlib.blake2b(shown.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
        return f"{_STRANGE.sub('-', shown)[:80].strip('-')}-{told}"


def parse_shards(text: str) -> int:
    """Return the number of shards for a server; 1 if the text is empty.

    Raises:
        UsageError: the text is no number, or one that no server accepts.
    """
    if not text:
        return 1
    if not text.isdecimal() or len(text) > 3 or not 1 <= int(text) <= MOST_SHARDS:
        raise UsageError(f"{SHARDS_VARIABLE}: {text!r} is no number of shards", f"set it to 1 to {MOST_SHARDS}")
    return int(text)


def is_loopback(url: str) -> bool:
    """Return whether the address of a server is one of this machine alone."""
    with suppress(ValueError):
        host = urlsplit(url).hostname or ""
        return host in _LOOPBACK or ip_address(host).is_loopback
    return False


def is_milvus(text: str) -> bool:
    """Return whether the text is meant as a Milvus address, valid or not."""
    return text.startswith(("milvus:", "milvus+"))


def parse_address(text: str, where: str) -> MilvusAddress:
    """Parse a Milvus address; `where` is its source, for the error message.

    Raises:
        UsageError: it is no address, holds a password, or would send data unencrypted to another machine.
    """
    if text.startswith(EMBEDDED):
        if not text.removeprefix(EMBEDDED):
            raise UsageError(f"{where}: {text!r} names no file", FORMS)
        return MilvusAddress(path=Path(text.removeprefix(EMBEDDED)).expanduser())
    if not text.startswith((SERVER, OWN_SERVER)):
        raise UsageError(f"{where}: {text!r} is no address of a memory in Milvus", FORMS)
    try:
        parts = urlsplit(text.removeprefix("milvus+"))
        host, port = parts.hostname, parts.port or PORT
    except ValueError as error:
        raise UsageError(f"{where}: {text!r} is no address: {error}", FORMS) from error
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise UsageError(f"{where}: the address of a memory holds no password and no options", f"set {TOKEN_VARIABLE}")
    database = parts.path.strip("/") or DATABASE
    if not host or not _NAME.fullmatch(database):
        raise UsageError(f"{where}: {text!r} names no server and database", FORMS)
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise UsageError(f"{where}: {host} would be sent everything unencrypted", "write milvus+https://")
    shown = f"[{host}]" if ":" in host else host
    return MilvusAddress(uri=f"{parts.scheme}://{shown}:{port}", database=database)

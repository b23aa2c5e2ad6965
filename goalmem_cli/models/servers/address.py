"""Read the address and key of a server; refuse those that could leak a secret."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from goalmem_cli.errors import ModelError
from goalmem_cli.records import encodable

KEY_VARIABLE = "GOALMEM_API_KEY"
EMBEDDER_KEY = "GOALMEM_EMBEDDER_KEY"
BASE_HINT = "the address of an OpenAI-compatible server usually ends in /v1"


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server and the name of a model there; an empty name means its first model."""

    base: str
    model: str
    host: str

    @classmethod
    def from_text(cls, text: str, variable: str = KEY_VARIABLE) -> Address:
        """Parse ``http(s)://host[:port]/path[#name]``. `variable` is where a key belongs, for messages.

        Raises:
            ModelError: it has another form, or holds a secret; the message does not repeat the secret.
        """
        base, _, model = text.partition("#")
        parts = _split(base)
        if "@" in parts.netloc or parts.query:
            raise ModelError(
                f"the address of a server on {parts.hostname} holds a user's name or parameters",
                f"leave them out: a key is read from {variable}",
            )
        return cls(base.rstrip("/"), encodable(model), str(parts.hostname))

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine, so that no proxy is used."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        with suppress(ValueError):
            address = ip_address(self.host)
            return address.is_loopback or address.is_unspecified
        return False


def is_address(name: str) -> bool:
    """Return whether the name of a model or embedder is the address of a server."""
    return name.lower().startswith(("http://", "https://"))


def _split(base: str) -> SplitResult:
    """Return the parts of a server's address; raises ModelError if it is malformed."""
    hint = "give it as http://host:port/v1, or http://host:port/v1#name-of-the-model"
    try:
        parts = urlsplit(base)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise ModelError("the address of the server is malformed", hint) from error
    if not is_whole or not base.isprintable() or " " in base:
        raise ModelError("the address of the server is malformed", hint)
    return parts


def sound_key(key: str, variable: str = KEY_VARIABLE) -> str:
    """Return the key of the variable without surrounding blanks.

    Raises:
        ModelError: an HTTP header cannot carry it.
    """
    stripped = key.strip()
    if not all("!" <= character <= "~" for character in stripped):
        raise ModelError(
            f"{variable} is no key: it has blanks, line breaks or letters beyond ASCII",
            f"set {variable} to the key alone",
        )
    return stripped


def host_of(location: str) -> str:
    """Return the host of a redirect address, or "" if it names none."""
    with suppress(ValueError):
        return urlsplit(location).hostname or ""
    return ""

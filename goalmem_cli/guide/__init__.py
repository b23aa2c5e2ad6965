"""The manual: pages of Markdown beside this file, each about something that a person wants to do."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

NAMES = (
    "formats", "assistants", "agents", "messengers", "rooms", "files", "proofs", "goals", "models", "languages",
    "backbones", "measuring", "tables", "figures", "structures", "store", "servers", "mcp", "settings", "scripting",
    "library", "plugins", "training", "internals",
)  # fmt: skip
"""The pages, in the order in which they are best read."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its name, its title, and its Markdown, which begins with the title."""

    name: str
    title: str
    text: str


def pages() -> tuple[Page, ...]:
    """Return all pages, in the order in which they are best read."""
    return tuple(map(page, NAMES))


def page(name: str) -> Page:
    """Return the page of that name, which is one of `NAMES`."""
    text = files(__name__).joinpath(f"{name}.md").read_text("utf-8")
    return Page(name, text.partition("\n")[0].removeprefix("# "), text)

"""The manual: the Markdown pages in this folder, one a task."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

NAMES = (
    "formats", "assistants", "agents", "messengers", "phones", "rooms", "files", "benchmarks", "proofs", "goals",
    "models", "languages", "backbones", "measuring", "tables", "figures", "structures", "store", "servers", "mcp", "settings",
    "parameters", "scripting", "library", "plugins", "training", "internals", "glossary",
)  # fmt: skip
"""The names of the pages, in reading order."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the manual; `text` is Markdown and begins with the title."""

    name: str
    title: str
    text: str


def pages() -> tuple[Page, ...]:
    """Return all pages in reading order."""
    return tuple(map(page, NAMES))


def page(name: str) -> Page:
    """Return a page by name.

    Raises:
        FileNotFoundError: the name is not in `NAMES`.
    """
    text = files(__name__).joinpath(f"{name}.md").read_text("utf-8")
    return Page(name, text.partition("\n")[0].removeprefix("# "), text)

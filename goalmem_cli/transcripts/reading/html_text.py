"""Extracts the text from the HTML of messages: blocks on lines of their own, links as their labels, no quotes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from html.parser import HTMLParser
from typing import Generic, TypeVar

T = TypeVar("T")

_BLOCKS = frozenset(
    {"p", "div", "br", "li", "tr", "table", "ul", "ol", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "section"}
)
_CELLS = frozenset({"td", "th"})
_UNSEEN = frozenset({"script", "style", "head", "title"})
_QUOTES = frozenset({"blockquote", "quote"})
_BLANKS = re.compile(r"[ \t\r\f\v\xa0]+")
_LINES = re.compile(r" ?\n ?(?:\s*\n)?")


def text_from_html(html: str, without: Collection[str] = _QUOTES) -> str:
    """Return the text that the HTML shows, except the text in the elements `without`."""
    parser = _Text(_UNSEEN | frozenset(without))
    parser.feed(html)
    parser.close()
    return _LINES.sub("\n", _BLANKS.sub(" ", "".join(parser.parts))).strip()


class AnyHtml(HTMLParser):
    """A parser that takes any text: Python's own raises an AssertionError at marked sections that it does not know."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """Treat a marked section as a comment, as browsers do."""
        return self.parse_bogus_comment(i, bool(report))


VOID = frozenset({"br", "img", "meta", "link", "hr", "input", "source", "wbr"})
"""Elements without content."""


class Elements(AnyHtml):
    """A parser that knows which elements are open: `opened` has their names and roles, the outermost first."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[tuple[str, str]] = []

    @property
    def role(self) -> str:
        """The role of the innermost element, empty outside of all."""
        return self.opened[-1][1] if self.opened else ""

    def handle_endtag(self, tag: str) -> None:
        """Leave an element, and those in it that are still open; ignore the end of one that is not open."""
        while any(tag == entered for entered, _ in self.opened):
            entered, _ = self.opened.pop()
            self.handle_left()
            if entered == tag:
                break

    def handle_left(self) -> None:
        """Do nothing; called when an element was left."""


class MessagePage(Elements, Generic[T]):
    """A parser of a page of messages. A subclass appends each message to `complete` in `end_message`."""

    def __init__(self) -> None:
        super().__init__()
        self.complete: list[T] = []

    def messages(self, chunks: Iterable[str]) -> Iterator[T]:
        """Yield the page's messages while it is read; one that breaks off at its end counts too."""
        for chunk in chunks:
            self.feed(chunk)
            yield from self._taken()
        self.close()
        self.end_message()
        yield from self._taken()

    def _taken(self) -> list[T]:
        complete, self.complete = self.complete, []
        return complete

    def end_message(self) -> None:
        """Complete the message that is open, if there is one."""
        raise NotImplementedError


class _Text(AnyHtml):
    def __init__(self, hidden: frozenset[str]) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._hidden = hidden
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Add a line break or an image's caption, or enter a hidden element."""
        if tag in self._hidden:
            self._inside.append(tag)
        elif tag in _BLOCKS:
            self.parts.append("\n")
        elif tag == "img" and not self._inside and (caption := dict(attrs).get("alt")):
            self.parts.append(f"[image: {caption}]")

    def handle_endtag(self, tag: str) -> None:
        """Leave a hidden element, or add the blank that separates blocks and cells."""
        if tag in self._inside:
            del self._inside[len(self._inside) - 1 - self._inside[::-1].index(tag) :]
        elif tag in _BLOCKS:
            self.parts.append("\n")
        elif tag in _CELLS:
            self.parts.append(" ")

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self.parts.append(data)

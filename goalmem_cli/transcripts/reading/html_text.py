"""Extracts the text from the HTML of messages: blocks on lines of their own, links as their labels, no quotes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from html.parser import HTMLParser
from itertools import groupby

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


_VOID = frozenset({"br", "img", "meta", "link", "hr", "input", "source", "wbr"})
"""Elements without content."""
_NOTHING: dict[str, str] = {}
_AT_ONCE = 2**16
"""How many characters are parsed at once; few, since an element for each tag takes memory."""


class Element:
    """An element of a page, with its attributes and the classes among them.

    A reader sets `role`, which says what the text in it is. `above` is the element around it.
    """

    __slots__ = ("above", "classes", "given", "is_void", "role", "tag")

    def __init__(self, tag: str, attrs: list[tuple[str, str | None]], above: Element | None) -> None:
        self.tag = tag
        self.given = {name: value or "" for name, value in attrs} if attrs else _NOTHING
        written = self.given.get("class")
        self.classes = written.split() if written else []
        self.is_void = tag in _VOID
        self.role = ""
        self.above = above

    def inherited(self) -> str:
        """Return the role of the element around it, "" if there is none."""
        return self.above.role if self.above is not None else ""

    def is_in(self, tag: str, role: str | None = None) -> bool:
        """Return whether this is, or stands in, an element with the tag and, if it is given, the role."""
        element: Element | None = self
        while element is not None:
            if element.tag == tag and role in (None, element.role):
                return True
            element = element.above
        return False


Pieces = list[tuple[Element, str]]
"""What is in an element, in the page's order: each inner element with "", and each text with the element around it."""
Begins = Callable[[Element, "Element | None"], bool]


def parts_of_page(chunks: Iterable[str], begins: Begins) -> Iterator[tuple[Element, Pieces]]:
    """Yield the parts of a page, such as its messages, each when it is complete; one that breaks off is complete too.

    `begins` says whether an element begins a part. It is given the part that is open, which then ends.
    """
    page = _Page(begins)
    for chunk in chunks:
        for at in range(0, len(chunk), _AT_ONCE):
            page.feed(chunk[at : at + _AT_ONCE])
            yield from page.taken()
    page.close()
    page.end()
    yield from page.taken()


class _Page(AnyHtml):
    """Splits a page into its parts. The end of an element that is not open is ignored."""

    def __init__(self, begins: Begins) -> None:
        super().__init__()
        self._begins = begins
        self._opened: list[Element] = []
        self._part: Element | None = None
        self._pieces: Pieces = []
        self._complete: list[tuple[Element, Pieces]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter an element, which may begin a part."""
        element = Element(tag, attrs, self._opened[-1] if self._opened else None)
        if not element.is_void:
            self._opened.append(element)
            if self._begins(element, self._part):
                self.end()
                self._part, self._pieces = element, []
                return
        if self._part is not None:
            self._pieces.append((element, ""))

    def handle_endtag(self, tag: str) -> None:
        """Leave an element, and those in it that are still open."""
        if any(tag == entered.tag for entered in reversed(self._opened)):
            left = None
            while left is None or left.tag != tag:
                left = self._opened.pop()
                if left is self._part:
                    self.end()

    def handle_data(self, data: str) -> None:
        """Take text, which may come in several pieces."""
        if self._part is not None:
            self._pieces.append((self._opened[-1], data))

    def end(self) -> None:
        """Complete the part that is open, if there is one."""
        if self._part is not None:
            runs = groupby(self._pieces, lambda piece: (piece[0], bool(piece[1])))
            joined = [(element, "".join(text for _, text in own)) for (element, _), own in runs]
            self._complete.append((self._part, joined))
        self._part = None

    def taken(self) -> list[tuple[Element, Pieces]]:
        """Return the parts that were completed since the last call."""
        complete, self._complete = self._complete, []
        return complete


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

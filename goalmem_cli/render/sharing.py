"""Export a proof to share it: the terminal's tree as an HTML page, an SVG picture, or Markdown.

No text is read as markup: it is escaped, and characters that XML or a terminal cannot handle are replaced. Pages and
pictures load nothing. Rich's export is not used because it loads web fonts, has one colour scheme, and squeezes wide
characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from rich.tree import Tree

from goalmem_cli.records import encodable
from goalmem_cli.render.nodes import BRIEF, Detail
from goalmem_cli.render.policy import page
from goalmem_cli.render.text import safe
from goalmem_cli.render.tree import proof_tree
from goalmem_cli.trace import Trace

WIDTH = 100
"""The number of terminal columns that pages and pictures show."""

_LIGHT = {
    "page": "#ffffff", "ink": "#1f2328", "green": "#116329", "yellow": "#7d4e00", "red": "#a40e26",
    "blue": "#0550ae", "magenta": "#8250df", "cyan": "#0b6e7a",
}  # fmt: skip
_DARK = {
    "page": "#0d1117", "ink": "#e6edf3", "green": "#56d364", "yellow": "#e3b341", "red": "#ff7b72",
    "blue": "#79c0ff", "magenta": "#d2a8ff", "cyan": "#76e3ea",
}  # fmt: skip
_CELL, _LINE, _MARGIN = 8.4, 17, 16
_NO_XML = re.compile("[\ufffe\uffff]")


def proof_text(trace: Trace, detail: Detail = BRIEF) -> str:
    """Return the proof as text lines, `WIDTH` columns wide."""
    lines = ("".join(segment.text for segment in line) for line in _lines(proof_tree(trace, detail)))
    return "\n".join(line.rstrip() for line in lines)


def proof_html(trace: Trace, detail: Detail = BRIEF) -> str:
    """Return the proof as one self-contained HTML page, encodable as UTF-8."""
    style = _style(
        "body", "color", "body { margin: 1rem; } pre { font: 14px/1.2 monospace; } span { unicode-bidi: isolate; }"
    )
    lines = "\n".join("".join(map(_span, line)) for line in _lines(proof_tree(trace, detail)))
    return page(_escaped(safe(trace.question)), style, f"<pre>{lines}</pre>")


def proof_svg(trace: Trace, detail: Detail = BRIEF) -> str:
    """Return the proof as an SVG picture, `WIDTH` columns wide, encodable as UTF-8."""
    style = _style("svg", "fill", "text { font: 14px monospace; white-space: pre; }")
    lines = list(_lines(proof_tree(trace, detail)))
    width, height = round(WIDTH * _CELL + 2 * _MARGIN), len(lines) * _LINE + 2 * _MARGIN
    drawn = "\n".join(
        text for row, line in enumerate(lines) for text in _placed(line, _MARGIN + (row + 1) * _LINE - 4)
    )  # fmt: skip
    return encodable(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img">\n<title>{_escaped(safe(trace.question))}</title>\n<style>{style}</style>\n'
        f'<rect class="page" width="100%" height="100%"/>\n{drawn}\n</svg>\n'
    )


def proof_markdown(trace: Trace, detail: Detail = BRIEF) -> str:
    """Return the proof as a nested Markdown list below the question as a heading."""
    tree = proof_tree(trace, detail)
    return "\n".join([f"### {_literal(_plain(tree))}", "", *_items(tree, "")])


def _lines(tree: Tree) -> Iterator[list[Segment]]:
    """Yield the lines that a terminal of `WIDTH` columns shows."""
    console = Console(width=WIDTH, force_terminal=True, color_system="truecolor", legacy_windows=False)
    for line in console.render_lines(tree, pad=False):
        yield list(Segment.simplify(line))


def _style(root: str, painted: str, rules: str) -> str:
    """Return the style sheet with classes for colours and weights, in light and in preferred dark mode.

    `painted` is the property that colours text. Colours are written out, because picture viewers do not support
    variables.
    """
    light, dark = (
        f"{root} {{ background: {scheme['page']}; }} .page {{ fill: {scheme['page']}; }} "
        f"{root}, text {{ {painted}: {scheme['ink']}; }} "
        + " ".join(f".{name} {{ {painted}: {scheme[name]}; }}" for name in scheme if name not in ("page", "ink"))
        for scheme in (_LIGHT, _DARK)
    )
    weights = ".bold { font-weight: bold; } .dim { opacity: 0.7; }"
    in_the_dark = f"@media (prefers-color-scheme: dark) {{ {dark} }}"
    return f":root {{ color-scheme: light dark; }} {rules} {light} {weights} {in_the_dark}"


def _named(style: Style | None) -> str:
    """Return the class attribute that draws the style, or "" if there is no style."""
    if style is None:
        return ""
    colour = style.color.name if style.color is not None and style.color.name in _LIGHT else ""
    classes = " ".join(filter(None, (colour, "bold" if style.bold else "", "dim" if style.dim else "")))
    return f' class="{classes}"' if classes else ""


def _span(segment: Segment) -> str:
    """Return a segment as its own span, so that a right-to-left name does not reorder the date after it."""
    return f"<span{_named(segment.style)}>{_escaped(segment.text)}</span>"


def _placed(line: list[Segment], y: int) -> Iterator[str]:
    """Yield the texts of a line, each placed at its columns, so that the font's width does not matter.

    Wide characters are spaced out to two columns; other text is stretched, so that joined letters stay joined.
    """
    column = 0
    for segment in line:
        start = column
        for text, is_wide in _runs(segment.text):
            cells = cell_len(text)
            if text.strip():
                x, length = round(_MARGIN + start * _CELL, 1), round(cells * _CELL, 1)
                adjust = "spacing" if is_wide else "spacingAndGlyphs"
                yield (
                    f'<text x="{x}" y="{y}" textLength="{length}" lengthAdjust="{adjust}" xml:space="preserve"'
                    f"{_named(segment.style)}>{_escaped(text)}</text>"
                )
            start += cells
        column += cell_len(segment.text)


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """Yield runs of two-column and of other characters; combining marks stay with their character."""
    run, is_wide = "", False
    for character in text:
        cells = cell_len(character)
        if cells and run and (cells > 1) is not is_wide:
            yield run, is_wide
            run = ""
        is_wide = cells > 1 if cells else is_wide
        run += character
    yield run, is_wide


def _escaped(text: str) -> str:
    return escape(_NO_XML.sub("\ufffd", text))


def _items(tree: Tree, indent: str) -> Iterator[str]:
    """Yield a list item for each branch; its further lines stay in the same paragraph."""
    for branch in tree.children:
        first, *others = [_literal(line) for line in _plain(branch).splitlines() if line.strip()] or [""]
        yield f"{indent}- {first}" + "".join(f"\\\n{indent}  {line}" for line in others)
        yield from _items(branch, indent + "  ")


def _plain(tree: Tree) -> str:
    return tree.label.plain if isinstance(tree.label, Text) else str(tree.label)


_MARKUP = re.compile(r"[\\`*_\[\]<>&|~$@#^{}]|(?<=:)/(?=/)|(?<=www)\.")
_OPENING = re.compile(r"^([+=:-]|\d+(?=[.)]))")


def _literal(text: str) -> str:
    """Return the line with all Markdown syntax escaped."""
    escaped = _MARKUP.sub(lambda found: f"\\{found[0]}", text.strip())
    return _OPENING.sub(lambda found: found[1] + "\\" if found[1].isdigit() else "\\" + found[1], escaped)

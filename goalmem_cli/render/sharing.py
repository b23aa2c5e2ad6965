"""A proof to pass on: the tree of the terminal as a page, as a picture, or as Markdown.

Nothing in it is ever read as markup: text is escaped, and what XML or a terminal would trip over is replaced. Neither
page nor picture fetches anything. Rich's own export is not used: it names web fonts, has one set of colours, and
squeezes wide characters.
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
from goalmem_cli.render.policy import source
from goalmem_cli.render.text import safe
from goalmem_cli.render.tree import proof_tree
from goalmem_cli.trace import Trace

WIDTH = 100
"""How many columns the terminal has that pages and pictures show."""

_LIGHT = {
    "page": "#ffffff", "ink": "#1f2328", "green": "#116329", "yellow": "#7d4e00", "red": "#a40e26",
    "blue": "#0550ae", "magenta": "#8250df", "cyan": "#0b6e7a",
}  # fmt: skip
_DARK = {
    "page": "#0d1117", "ink": "#e6edf3", "green": "#56d364", "yellow": "#e3b341", "red": "#ff7b72",
    "blue": "#79c0ff", "magenta": "#d2a8ff", "cyan": "#76e3ea",
}  # fmt: skip
_CELL, _LINE, _MARGIN = 8.4, 20, 16
_NO_XML = re.compile("[\ufffe\uffff]")


def proof_text(trace: Trace, detail: Detail = BRIEF) -> str:
    """Return the proof as the lines that a terminal of `WIDTH` columns shows."""
    lines = ("".join(segment.text for segment in line) for line in _lines(proof_tree(trace, detail)))
    return "\n".join(line.rstrip() for line in lines)


def proof_html(trace: Trace, detail: Detail = BRIEF) -> str:
    """Return the proof as one page that needs nothing else; it can be written as UTF-8."""
    style = _style(
        "body { background: var(--page); color: var(--ink); margin: 1rem; } pre { font: 14px/1.4 monospace; }"
    )
    policy = f"default-src 'none'; style-src {source(style)}; base-uri 'none'; form-action 'none'"
    lines = "\n".join("".join(_span(segment, "span") for segment in line) for line in _lines(proof_tree(trace, detail)))
    return encodable(
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_escaped(safe(trace.question))}</title>\n<style>{style}</style>\n</head>\n"
        f"<body>\n<pre>{lines}</pre>\n</body>\n</html>\n"
    )


def proof_svg(trace: Trace, detail: Detail = BRIEF) -> str:
    """Return the proof as a picture, `WIDTH` columns wide; it can be written as UTF-8."""
    style = _style(
        "svg { background: var(--page); } text { fill: var(--ink); font: 14px monospace; white-space: pre; }"
    )
    lines = list(_lines(proof_tree(trace, detail)))
    width, height = round(WIDTH * _CELL + 2 * _MARGIN), len(lines) * _LINE + 2 * _MARGIN
    drawn = "\n".join(
        text for row, line in enumerate(lines) for text in _placed(line, _MARGIN + (row + 1) * _LINE - 6)
    )  # fmt: skip
    return encodable(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img">\n<title>{_escaped(safe(trace.question))}</title>\n<style>{style}</style>\n'
        f'<rect width="100%" height="100%" style="fill: var(--page)"/>\n{drawn}\n</svg>\n'
    )


def proof_markdown(trace: Trace, detail: Detail = BRIEF) -> str:
    """Return the proof as a nested list, below the question as a heading."""
    tree = proof_tree(trace, detail)
    return "\n".join([f"### {_literal(_plain(tree))}", "", *_items(tree, "")])


def _lines(tree: Tree) -> Iterator[list[Segment]]:
    """Yield the lines that a terminal of `WIDTH` columns shows."""
    console = Console(width=WIDTH, force_terminal=True, color_system="truecolor", legacy_windows=False)
    for line in console.render_lines(tree, pad=False):
        yield list(Segment.simplify(line))


def _style(rules: str) -> str:
    """Return the style sheet: colours for light and for dark, and what they and weights are called."""
    light, dark = ("; ".join(f"--{name}: {value}" for name, value in each.items()) for each in (_LIGHT, _DARK))
    names = " ".join(f".{name} {{ color: var(--{name}); fill: var(--{name}); }}" for name in _LIGHT if name != "page")
    scheme = (
        f":root {{ color-scheme: light dark; {light}; }} @media (prefers-color-scheme: dark) {{ :root {{ {dark}; }} }}"
    )
    return f"{scheme} {rules} {names} .bold {{ font-weight: bold; }} .dim {{ opacity: 0.7; }}"


def _classes(style: Style | None) -> str:
    if style is None:
        return ""
    colour = style.color.name if style.color is not None and style.color.name in _LIGHT else ""
    return " ".join(filter(None, (colour, "bold" if style.bold else "", "dim" if style.dim else "")))


def _span(segment: Segment, tag: str, place: str = "") -> str:
    classes = _classes(segment.style)
    text = _escaped(segment.text)
    if not classes and not place:
        return text
    named = f' class="{classes}"' if classes else ""
    return f"<{tag}{place}{named}>{text}</{tag}>"


def _placed(line: list[Segment], y: int) -> Iterator[str]:
    """Yield the line's texts, each where its columns are: no font has to be as wide as another."""
    column = 0
    for segment in line:
        cells = cell_len(segment.text)
        if segment.text.strip():
            x = round(_MARGIN + column * _CELL, 1)
            length = round(cells * _CELL, 1)
            yield _span(segment, "text", f' x="{x}" y="{y}" textLength="{length}" xml:space="preserve"')
        column += cells


def _escaped(text: str) -> str:
    return escape(_NO_XML.sub("\ufffd", text))


def _items(tree: Tree, indent: str) -> Iterator[str]:
    """Yield a list item for each branch; further lines of one stay in its paragraph."""
    for branch in tree.children:
        first, *others = [_literal(line) for line in _plain(branch).splitlines() if line.strip()] or [""]
        yield f"{indent}- {first}" + "".join(f"\\\n{indent}  {line}" for line in others)
        yield from _items(branch, indent + "  ")


def _plain(tree: Tree) -> str:
    return tree.label.plain if isinstance(tree.label, Text) else str(tree.label)


_MARKUP = re.compile(r"[\\`*_\[\]<>&|~$@]|(?<=:)/(?=/)|(?<=www)\.")
_OPENING = re.compile(r"^([#+=-]|\d+(?=[.)]))")


def _literal(text: str) -> str:
    """Return the line with everything escaped that Markdown would read as more than its characters."""
    escaped = _MARKUP.sub(lambda found: f"\\{found[0]}", text.strip())
    return _OPENING.sub(lambda found: found[1] + "\\" if found[1].isdigit() else "\\" + found[1], escaped)

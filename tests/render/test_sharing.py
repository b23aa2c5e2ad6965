"""Proofs to pass on: pages, pictures and Markdown that show what the terminal shows, and read nothing as markup."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from goalmem_cli.render.nodes import BRIEF, FULL, Detail
from goalmem_cli.render.sharing import WIDTH, proof_html, proof_markdown, proof_svg
from goalmem_cli.render.text import safe
from goalmem_cli.render.tree import proof_tree
from goalmem_cli.trace import Trace, as_document, from_document
from tests.lab.evaluation.made_runs import HOSTILE
from tests.render.test_actions import ANSWERED as FORWARD_ANSWERED
from tests.render.test_actions import FAILED as FORWARD_FAILED
from tests.render.test_actions import UNKNOWN as FORWARD_UNKNOWN
from tests.render.traces import ANSWERED, CONTRADICTED, FACTS, FAILED, TOGETHER, UNKNOWN

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

NEW_IN_VERSION_2 = {
    "opened", "denied", "several", "provisional", "dropped", "planning", "check", "may_be_more", "certainty",
    "calculations",
}  # fmt: skip


def of_version_1(trace: Trace) -> Trace:
    """Return the trace as it is read from a file that an older goalmem wrote."""

    def older(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: older(value) for name, value in part.items() if name not in NEW_IN_VERSION_2}
        return [older(each) for each in part] if isinstance(part, list) else part

    written = json.loads(json.dumps(as_document(trace)))
    return from_document({**older(written), "schema_version": 1})


TRACES = {
    "answered": ANSWERED,
    "unknown": UNKNOWN,
    "failed": FAILED,
    "contradicted": CONTRADICTED,
    "paper": replace(ANSWERED, planning="paper", certainty=0.34),
    "together": TOGETHER,
    "version 1": of_version_1(ANSWERED),
    "version 1, unknown": of_version_1(UNKNOWN),
    "another reasoner": FORWARD_ANSWERED,
    "another reasoner, unknown": FORWARD_UNKNOWN,
    "another reasoner, failed": FORWARD_FAILED,
}
SVG = "{http://www.w3.org/2000/svg}"
TEXTS = [
    HOSTILE,
    "</pre></text></style><script>alert(1)</script>",
    "]]> <!-- &amp; &#60; <?xml?>",
    "asked in #general of C# #",
    "{{ 7 * 7 }} {#id .class} x^2^ : defined",
    "# head\n- item\n1. one\n> quote\n```\nfence\n```\n---\n===",
    "*a* _b_ `c` ~~d~~ [e](http://f) ![g](h) www.example.org https://example.org @ana $x$ a|b \\*c",
    "\x00\x1b[31mred \u202eright\u2066 \ufffe\uffff \ud800",
    "模型" * 60 + " אבג دهو",
    "w" * 500,
]


READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def parsed(picture: str) -> ElementTree.Element:
    """Return the elements of a picture."""
    return ElementTree.fromstring(picture)  # noqa: S314 - made by the test itself


class Page(HTMLParser):
    """The text of a page's body, its tags, and its style."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self._is_in_body = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the name."""
        self.tags.append(tag)
        self._is_in_body |= tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        """The tree ends."""
        self._is_in_body &= tag != "pre"

    def handle_data(self, data: str) -> None:
        """Keep what the tree says."""
        self.text += data if self._is_in_body else ""


def hostile(text: str) -> Trace:
    """Return an answered trace that says this wherever somebody else's words stand."""
    facts = {number: replace(fact, text=text, speaker=text, conversation=text) for number, fact in FACTS.items()}
    return replace(ANSWERED, question=text, goal=text, answer=text, facts=facts, notes=(text,))


def on_a_terminal(trace: Trace, detail: Detail = BRIEF) -> str:
    """Return the lines that a terminal of that width shows."""
    page = StringIO()
    Console(file=page, width=WIDTH, markup=False, highlight=False).print(proof_tree(trace, detail))
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())


@pytest.mark.parametrize("name", TRACES)
@pytest.mark.parametrize("detail", [BRIEF, FULL], ids=["brief", "full"])
def test_a_page_shows_what_the_terminal_shows(name: str, detail: Detail) -> None:
    """Line by line, in every outcome and order."""
    page = Page(proof_html(TRACES[name], detail))
    assert "\n".join(line.rstrip() for line in page.text.splitlines()) == on_a_terminal(TRACES[name], detail)


@pytest.mark.parametrize("name", TRACES)
def test_a_picture_shows_what_the_terminal_shows(name: str) -> None:
    """Every word at its place, within the frame."""
    picture = parsed(proof_svg(TRACES[name]))
    lines: dict[str, str] = {}
    for text in picture.iter(f"{SVG}text"):
        lines[text.attrib["y"]] = lines.get(text.attrib["y"], "") + (text.text or "")
        assert float(text.attrib["x"]) + float(text.attrib["textLength"]) <= float(picture.attrib["width"])
        assert float(text.attrib["y"]) < float(picture.attrib["height"])
    assert ["".join(line.split()) for line in lines.values()] == [
        "".join(line.split()) for line in on_a_terminal(TRACES[name]).splitlines()
    ]


@pytest.mark.parametrize("text", TEXTS)
def test_nothing_that_was_said_is_markup(text: str) -> None:
    """Not in a page, not in a picture, and not where the Markdown is read."""
    trace = hostile(text)
    page, picture, markdown = proof_html(trace, FULL), proof_svg(trace, FULL), proof_markdown(trace, FULL)
    assert {*Page(page).tags} <= {"html", "head", "meta", "title", "style", "body", "pre", "span"}
    assert {each.tag for each in parsed(picture).iter()} <= {
        f"{SVG}{name}" for name in ("svg", "title", "style", "rect", "text")
    }
    tokens = READER.parse(markdown)
    assert tokens[1].content.count("#") == tokens[1].content.count("\\#") == safe(text).count("#")
    inline = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in inline} <= {"text", "text_special", "hardbreak", "softbreak"}
    assert not re.search(r"://|www\.|(?<!\\)@", markdown)
    for made in (page, picture, markdown):
        made.encode()
        assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", made)


@pytest.mark.parametrize("name", TRACES)
def test_markdown_is_one_list_under_a_heading(name: str) -> None:
    """It says what the tree says, and nothing of it becomes another heading, a quotation or code."""
    tokens = READER.parse(proof_markdown(TRACES[name]))
    kinds = {token.type.removesuffix("_open") for token in tokens if token.nesting == 1}
    assert kinds == {"heading", "bullet_list", "list_item", "paragraph"}
    said = "".join(child.content for token in tokens for child in token.children or () if child.content)
    drawn = re.sub("[├└│─]", "", on_a_terminal(TRACES[name]))
    assert "".join(said.split()) == "".join(drawn.split())


def test_nothing_is_fetched_and_colours_follow_the_scheme() -> None:
    """No address stands in either but the name of SVG itself; both have colours for light and for dark."""
    for made in (proof_html(ANSWERED), proof_svg(ANSWERED)):
        assert set(re.findall(r"https?://\S+?(?=[\"\s])", made)) <= {"http://www.w3.org/2000/svg"}
        assert not re.search(r"url\(|@import|@font-face|<script|var\(", made)
        assert "prefers-color-scheme: dark" in made


def test_wide_characters_take_two_columns() -> None:
    """What follows them stands where a terminal has it, and is not spread out with them."""
    picture = parsed(proof_svg(replace(ANSWERED, answer="模型 of Kyoto e\u0301")))
    texts = {text.text: text.attrib for text in picture.iter(f"{SVG}text")}
    wide, narrow = texts["模型"], texts[" of Kyoto e\u0301"]
    assert (wide["lengthAdjust"], narrow["lengthAdjust"]) == ("spacing", "spacingAndGlyphs")
    assert float(wide["textLength"]) == pytest.approx(4 * 8.4, abs=0.1)
    assert float(narrow["x"]) == pytest.approx(float(wide["x"]) + 4 * 8.4, abs=0.1)
    assert float(narrow["textLength"]) == pytest.approx(11 * 8.4, abs=0.1)


def test_in_a_browser_a_name_from_right_to_left_leaves_the_date_whole(browser: Chrome, tmp_path: Path) -> None:
    """Each part of a line keeps its place, in the page and in the picture, whatever way the part before it is read."""
    facts = {number: replace(fact, speaker="علي") for number, fact in FACTS.items()}
    for made, name in ((proof_html, "proof.html"), (proof_svg, "proof.svg")):
        file = tmp_path / name
        file.write_text(made(replace(ANSWERED, facts=facts)), "utf-8")
        browser.get(file.as_uri())
        name_ends, date_begins = browser.execute_script(
            """
            const parts = [...document.querySelectorAll("span, text")];
            const place = (said) => parts.find((part) => part.textContent.includes(said)).getBoundingClientRect();
            return [place("علي").right, place("21 May 2023").left];
            """
        )
        assert name_ends <= date_begins + 1


def test_in_a_browser_proofs_follow_the_scheme_and_ask_for_nothing(browser: Chrome, tmp_path: Path) -> None:
    """Ink and paper change with the scheme that is preferred; the file is all that is read."""
    trace = hostile(HOSTILE)
    for made, name in ((proof_html, "proof.html"), (proof_svg, "proof.svg")):
        file = tmp_path / name
        file.write_text(made(trace, FULL), "utf-8")
        seen = []
        for scheme in ("light", "dark"):
            feature = {"name": "prefers-color-scheme", "value": scheme}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
            browser.get(file.as_uri())
            seen.append(
                browser.execute_script(
                    """
                    const page = getComputedStyle(document.querySelector("rect, body"));
                    const text = getComputedStyle(document.querySelector("pre, text"));
                    const is_picture = document.documentElement.tagName === "svg";
                    return is_picture ? [page.fill, text.fill] : [page.backgroundColor, text.color];
                    """
                )
            )
            assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
            assert browser.execute_script("return window.hostile") is None
        assert seen == [["rgb(255, 255, 255)", "rgb(31, 35, 40)"], ["rgb(13, 17, 23)", "rgb(230, 237, 243)"]]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

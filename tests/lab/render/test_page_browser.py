"""The page in a real browser without a window: what a person does with it, and what hostile text does not."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from goalmem_cli.lab.evaluation.runs.run import Run
from goalmem_cli.lab.evaluation.summaries.summary import summarise
from goalmem_cli.lab.render.page import page
from tests.lab.evaluation.made_runs import CASES, answered_run, long_run, manifest, retrieved_run

if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

CSS = "css selector"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run that answers and one that only retrieves."""
    return written(tmp_path_factory.mktemp("page") / "report.html", answered_run(), retrieved_run())


@pytest.fixture
def opened(browser: Chrome, file: Path) -> Chrome:
    """The browser, with the page just opened."""
    browser.get("about:blank")
    for kind in ("browser", "performance"):
        browser.get_log(kind)  # type: ignore[no-untyped-call]
    browser.get(file.as_uri())
    return browser


def written(path: Path, *runs: Run) -> Path:
    """Write the page of the runs."""
    path.write_text(page([summarise(run) for run in runs], runs), encoding="utf-8")
    return path


def all_of(browser: Chrome, selector: str) -> list[WebElement]:
    """Return the elements that are shown."""
    return [element for element in browser.find_elements(CSS, selector) if element.is_displayed()]


def the(browser: Chrome, selector: str) -> WebElement:
    """Return the one element."""
    (element,) = browser.find_elements(CSS, selector)
    return element


def select(browser: Chrome, name: str, choice: str) -> None:
    """Choose an option of a filter by its text."""
    from selenium.webdriver.support.select import Select

    Select(the(browser, f"#{name}")).select_by_visible_text(choice)


def listed(browser: Chrome) -> list[str]:
    """Return the questions in the list."""
    return [element.text for element in all_of(browser, "#list button > .said")]


def complaints(browser: Chrome) -> list[Any]:
    """Return what the console says of errors and of the policy."""
    return [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]  # type: ignore[no-untyped-call]


def test_tables_and_bars_are_drawn(opened: Chrome) -> None:
    """The figures stand in tables and as bars with intervals, and the console has nothing to complain of."""
    assert the(opened, "h2[id^=dataset-title]").text == "made-up"
    captions = [element.text for element in all_of(opened, "table caption")]
    assert any(caption.startswith("Answers") for caption in captions)
    assert "0.700 [0.30, 1.00]" in [cell.text for cell in all_of(opened, "td")]
    widths = [bar.rect["width"] for bar in all_of(opened, "rect.bar")]
    assert len(widths) > 20
    assert max(widths) > 100
    assert all_of(opened, "path.interval")
    assert complaints(opened) == []


def test_labels_of_charts_stay_inside_them(browser: Chrome, tmp_path: Path) -> None:
    """Drawn in a real font, no label or value leaves its chart, and no long name makes the page scroll sideways."""
    models = ("QWEN2.5-7B-INSTRUCT-Q4_K_M-00001-OF-00002.GGUF", "W" * 80, "http://localhost:8080/v1#a/" + "model-" * 12)
    runs = [answered_run(manifest=manifest(model=model)) for model in models]
    browser.get(written(tmp_path / "labels.html", *runs).as_uri())
    outside = browser.execute_script(
        """
        return [...document.querySelectorAll("figure .bar-label span, figure svg text")].filter((text) => {
          const chart = text.closest("figure").getBoundingClientRect(), box = text.getBoundingClientRect();
          return box.left < chart.left - 1 || box.right > chart.right + 1 || box.bottom > chart.bottom + 1;
        }).map((text) => text.textContent);
        """
    )
    assert outside == []
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")


def test_the_list_is_filtered(opened: Chrome) -> None:
    """By category, by what one reasoner made of it, by what differs between reasoners, and by words; and cleared."""
    assert len(listed(opened)) == len(CASES)
    select(opened, "category", "temporal")
    assert listed(opened) == [CASES[1].question]
    select(opened, "category", "all")
    select(opened, "row", "goal-mem over hybrid")
    select(opened, "outcome", "wrong")
    assert listed(opened) == [CASES[5].question]
    select(opened, "outcome", "refused")
    assert listed(opened) == [CASES[3].question, CASES[5].question]
    select(opened, "outcome", "right in one, wrong in another")
    assert listed(opened) == [CASES[1].question, CASES[2].question, CASES[3].question]
    the(opened, "#search").send_keys("RED car")
    assert listed(opened) == [CASES[3].question]
    assert the(opened, "#count").text == "1 to 1 of 1 question"
    the(opened, "#search").send_keys(" nowhere")
    assert the(opened, "#count").text == "No question fits."
    the(opened, "#clear").click()
    assert len(listed(opened)) == len(CASES)


def test_a_question_shows_its_answers_and_traces(opened: Chrome) -> None:
    """Gold answer, every reasoner's answer, scores, verdicts, and the trace with its subgoals, bindings and facts."""
    all_of(opened, "#list button")[1].click()
    text = the(opened, "#detail").text
    for said in (
        CASES[1].question, "7 May 2023", "on 9 June", "✗ wrong", "✓ right", "F1 1", "2 verdicts: wrong, wrong",
        "Trace: 1 attempt, 4 calls, 3000 prompt tokens (1500 cached), 120 completion tokens, 6.0 s",
        "Attempt 1: every subgoal is settled", "S2 (Alice) ordered (x:drink) at (y:cafe)", "y = Momoco (stated)",
        "rejected S2", "proposed: x = tea", "unresolved S2", "S2 refined (semantic): (z:menu) lists (x:drink)",
        "F1 Alice, 21 May 2023 18:20, conv-1 D1:2", '["last Friday" = 19 May 2023]', "stopped it retrieves once",
        "retrieval: plan over hybrid", "D1:2: rank 1",
    ):  # fmt: skip
        assert " ".join(said.split()) in " ".join(text.split())
    assert opened.current_url.endswith("#question-1")
    assert opened.switch_to.active_element == the(opened, "#detail")
    chosen = all_of(opened, "#list button[aria-current=true]")
    assert [element.text.splitlines()[0] for element in chosen] == [CASES[1].question]
    details = next(
        element
        for element in all_of(opened, "#detail summary")
        if element.text == "2 facts seen, 1 of them the answer's evidence"
    )
    details.click()
    assert len(all_of(opened, "#detail .facts li")) > 4
    assert complaints(opened) == []


def test_a_link_to_a_question_opens_it(browser: Chrome, file: Path) -> None:
    """The address that a chosen question leaves opens it again."""
    browser.get("about:blank")
    browser.get(f"{file.as_uri()}#question-2")
    assert the(browser, "#detail h3").text == CASES[2].question


def test_hostile_text_is_shown_and_does_nothing(opened: Chrome) -> None:
    """Scripts and pictures in transcripts, answers, notes and verdicts are read as text, every one of them."""
    for button in all_of(opened, "#list button"):
        button.click()
        for summary in all_of(opened, "#detail details:not([open]) > summary"):
            summary.click()
    assert opened.execute_script("return typeof window.hostile") == "undefined"
    assert opened.find_elements(CSS, "img, #detail script, #list script, iframe, object, embed") == []
    all_of(opened, "#list button")[4].click()
    text = the(opened, "#detail").text
    assert '</script><script>window.hostile = 1</script><img src=x onerror="window.hostile = 1">' in text
    assert "{{ 7 * 7 }}" in text
    assert not re.search("[\u2028-\u202e\x1b]", text)
    assert complaints(opened) == []


def test_no_request_leaves_the_page(opened: Chrome, file: Path) -> None:
    """The browser asked for the file and nothing else; what tries to reach a server is refused by the policy."""
    for button in all_of(opened, "#list button"):
        button.click()
    asked = []

    class Asked(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)

    with HTTPServer(("127.0.0.1", 0), Asked) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        refused = opened.execute_async_script(
            """
            const [url, done] = arguments;
            const image = new Image();
            const seen = new Promise((end) => { image.onload = () => end("loaded"); image.onerror = () => end("refused"); });
            image.src = url + "image";
            const fetched = fetch(url + "fetch").then(() => "fetched", () => "refused");
            let markup = "refused";
            try { document.createElement("p").innerHTML = "<b>b</b>"; markup = "made"; } catch (error) {}
            Promise.all([seen, fetched, markup]).then(done);
            """,
            f"http://127.0.0.1:{server.server_port}/",
        )
        server.shutdown()
        thread.join()
    assert refused == ["refused", "refused", "refused"]
    assert asked == []
    messages = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]  # type: ignore[no-untyped-call]
    sent = {
        each["params"]["request"]["url"].split("#")[0]
        for each in messages
        if each["method"] == "Network.requestWillBeSent"
    }
    assert {url for url in sent if not url.startswith(("data:", "http://127.0.0.1"))} == {file.as_uri()}
    assert len(complaints(opened)) >= 2


@pytest.mark.slow
def test_thousands_of_questions_stay_usable(browser: Chrome, tmp_path: Path) -> None:
    """Only a page of the list is there at a time; one can turn pages, and find the last question by its words."""
    browser.get(written(tmp_path / "long.html", long_run(3000)).as_uri())
    assert the(browser, "#count").text == "1 to 50 of 3000 questions"
    assert len(browser.find_elements(CSS, "#list li")) == 50
    assert browser.execute_script("return document.querySelectorAll('*').length") < 9000
    the(browser, "#next").click()
    assert listed(browser)[0] == "What is thing number 50?"
    the(browser, "#previous").click()
    the(browser, "#search").send_keys("number 2999")
    assert listed(browser) == ["What is thing number 2999?"]
    all_of(browser, "#list button")[0].click()
    assert "thing 2999" in the(browser, "#detail").text


def test_it_works_with_the_keyboard_alone(opened: Chrome) -> None:
    """Every control is reached and named; arrows move in the list, Enter chooses."""
    from selenium.webdriver.common.keys import Keys

    for control in all_of(opened, "#filters input, #filters select"):
        assert control.accessible_name
    the(opened, "#search").send_keys(Keys.TAB)
    for _ in range(20):
        if opened.switch_to.active_element.get_attribute("data-place") is not None:
            break
        opened.switch_to.active_element.send_keys(Keys.TAB)
    opened.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert opened.switch_to.active_element.get_attribute("data-place") == "1"
    opened.switch_to.active_element.send_keys(Keys.ENTER)
    assert the(opened, "#detail h3").text == CASES[1].question


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_contrast_in_both_themes(opened: Chrome, theme: str) -> None:
    """Every colour of text stands out from its ground by 4.5 to 1 at least, by the rule of WCAG."""
    button = the(opened, "#theme")
    while button.text != f"Theme: {theme}":
        button.click()
    all_of(opened, "#list button")[1].click()
    pairs = opened.execute_script(
        """
        const ground = (node) => {
          for (let at = node; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if (!/, 0\\)$/.test(colour)) return colour;
          }
        };
        const found = new Set();
        for (const node of document.querySelectorAll("body *:not(script)")) {
          if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim())) continue;
          const style = getComputedStyle(node);
          found.add(JSON.stringify([node instanceof SVGElement ? style.fill : style.color, ground(node)]));
        }
        return [...found].map(JSON.parse);
        """
    )
    assert len(pairs) >= 6
    low = [pair for pair in pairs if contrast(*pair) < 4.5]
    assert low == []


def contrast(colour: str, ground: str) -> float:
    """Return the contrast ratio of two colours written ``rgb(r, g, b)``."""
    light, dark = sorted((luminance(colour), luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour."""
    channels = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.slow
def test_a_narrow_window_needs_no_sideways_scrolling(opened: Chrome) -> None:
    """At 500 pixels only the tables scroll, in their own frames."""
    opened.set_window_size(500, 900)
    all_of(opened, "#list button")[4].click()
    wide, there = opened.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    opened.set_window_size(1300, 1000)
    assert wide <= there

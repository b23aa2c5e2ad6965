"""The page as text: self-contained, escaped, whole. What it does in a browser is tested in `test_page_browser.py`."""

import base64
import hashlib
import json
import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.lab.evaluation.runs.run import Run
from goalmem_cli.lab.evaluation.summaries.summary import summarise
from goalmem_cli.lab.render import page as page_module
from goalmem_cli.lab.render.charts import WIDTH, charts_of
from goalmem_cli.lab.render.figures import sections
from goalmem_cli.lab.render.page import page
from tests.conftest import CHECKOUT
from tests.lab.evaluation.made_runs import CASES, HOSTILE, answered_run, manifest, placed, retrieved_run

FILES = Path(page_module.__file__).with_name("page_files")


class Reading(HTMLParser):
    """Collects the elements of a page, and the content of its scripts and style."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[dict[str, str | None], str]] = []
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the element."""
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.raw.append((dict(attrs), ""))
            self._inside = True

    def handle_endtag(self, tag: str) -> None:
        """A script or style ends."""
        if tag in ("script", "style"):
            self._inside = False

    def handle_data(self, data: str) -> None:
        """Keep what stands in scripts and styles."""
        if self._inside:
            attributes, text = self.raw[-1]
            self.raw[-1] = (attributes, text + data)

    def json(self, name: str) -> Any:
        """Return the value of the JSON block of the id."""
        return next(json.loads(text) for attributes, text in self.raw if attributes.get("id") == name)


def made(*runs: Run) -> str:
    """Return the page of the runs."""
    return page([summarise(run) for run in runs], runs)


@pytest.fixture(scope="module")
def text() -> str:
    """The page of a run that answers and one that only retrieves."""
    return made(answered_run(), retrieved_run())


@pytest.fixture(scope="module")
def reading(text: str) -> Reading:
    """The same page, parsed."""
    return Reading(text)


def test_every_figure_of_the_tables_is_on_the_page(text: str) -> None:
    """The tables of the terminal are those of the page."""
    for section in sections([summarise(answered_run()), summarise(retrieved_run())]):
        for table in section.tables:
            for _, cells in table.rows:
                assert all(cell in text for cell in cells)


def test_nothing_is_fetched_from_anywhere(reading: Reading) -> None:
    """No element names another resource, and the policy forbids every request."""
    links = [value for _, attributes in reading.tags for name, value in attributes.items() if name in ("src", "href")]
    assert all(link is not None and link.startswith(("#", "data:")) for link in links)
    policy = next(a["content"] for tag, a in reading.tags if tag == "meta" and "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "http" not in policy


def test_the_policy_lets_only_the_pages_own_script_and_style_run(reading: Reading) -> None:
    """The hashes in the policy are those of the one script and the one style."""
    policy = next(a["content"] or "" for tag, a in reading.tags if tag == "meta" and "http-equiv" in a)
    code = [content for attributes, content in reading.raw if "type" not in attributes]
    assert len(code) == 2
    for content in code:
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_the_script_never_reads_a_string_as_markup() -> None:
    """Nothing in the script makes elements from text."""
    script = (FILES / "page.js").read_text("utf-8")
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "fetch(",
                 "XMLHttpRequest", "http:", "https:", "DOMParser", "srcdoc"):  # fmt: skip
        assert word not in script


def test_hostile_text_stays_text(text: str, reading: Reading) -> None:
    """Whatever a transcript or a model says makes no element, and comes back from the data as it was."""
    assert not [tag for tag, _ in reading.tags if tag == "img"]
    assert "window.hostile = 1</script>" not in text
    assert "\u2028" not in text
    assert "\u202e" not in text
    detail = reading.json("detail-4")
    assert detail["gold"] == HOSTILE
    assert detail["results"][0]["trace"]["answer"] == HOSTILE
    assert HOSTILE in reading.json("index")["questions"][4]["text"]


def test_hostile_names_stay_text() -> None:
    """A dataset's, model's, category's or reasoner's name makes no element either."""
    run = answered_run(
        manifest=manifest(
            dataset=HOSTILE, model=HOSTILE, categories={str(code): HOSTILE for code in range(1, 6)},
            repairs={HOSTILE: 1}, settings={HOSTILE: HOSTILE}, sources=(HOSTILE,),
        )
    )  # fmt: skip
    whole = made(run)
    reading = Reading(whole)
    assert not [tag for tag, _ in reading.tags if tag == "img"]
    assert len([tag for tag, _ in reading.tags if tag == "script"]) == 3 + len(CASES)
    assert "\u202e" not in whole


def test_text_that_utf8_cannot_carry_is_written_all_the_same() -> None:
    """A lone surrogate in a name does not break the page."""
    whole = made(answered_run(manifest=manifest(dataset="made \ud800 up", model="\udfff")))
    assert whole.encode("utf-8")


def test_the_index_holds_every_question_and_outcome(reading: Reading) -> None:
    """Right is what the judge says, else the F1; of an unanswerable question a refusal."""
    index = reading.json("index")
    assert index["rows"] == [
        "direct over hybrid", "goal-mem over hybrid", "retrieval: question over hybrid", "retrieval: plan over hybrid",
    ]  # fmt: skip
    outcomes = [
        {row: (outcome, refused) for row, outcome, refused, _ in each["results"] if row < 2}
        for each in index["questions"]
    ]
    assert outcomes == [
        {0: ("right", False), 1: ("right", False)},
        {0: ("wrong", False), 1: ("right", False)},
        {0: ("wrong", True), 1: ("right", False)},
        {0: ("wrong", False), 1: ("right", True)},
        {0: ("right", False), 1: ("right", False)},
        {1: ("wrong", True)},
    ]


def test_a_question_has_its_answers_verdicts_trace_and_evidence(reading: Reading) -> None:
    """What the browser shows of a question is all there, each fact once on the page."""
    facts, detail = reading.json("facts"), reading.json("detail-1")
    assert (detail["question"], detail["gold"], detail["category"]) == (CASES[1].question, "7 May 2023", "temporal")
    direct, goal_mem, question, _ = detail["results"]
    assert direct["scores"]["f1"] == 0.0
    assert goal_mem["verdicts"][0][:4] == ["arbiter", "standard", 1, True]
    assert goal_mem["trace"]["attempts"][0]["steps"][0]["rejected"][0]["why"].startswith("x: no drink")
    assert list(goal_mem["trace"]["facts"]) == ["F1", "F2"]
    assert facts[detail["evidence"][0][1]][1] == "D1:2"
    assert question["retrieved"]["ranks"] == {"D1:1": 1, "conv-2 D1:2": 2, "D7:7": 3}
    assert len({json.dumps(fact) for fact in facts}) == len(facts)


def test_runs_of_one_dataset_share_their_questions() -> None:
    """The same questions asked with another model stand there once, with the answers of both."""
    other = answered_run(manifest=manifest(model="other"))
    reading = Reading(made(answered_run(), other))
    index = reading.json("index")
    assert len(index["questions"]) == len(CASES)
    assert len(index["questions"][0]["results"]) == 4
    assert index["rows"][0] == "direct over hybrid, scripted"


def test_bars_and_intervals_stay_inside_their_chart() -> None:
    """Bars begin at the zero line, intervals hold their bars' ends, and all is within the drawing."""
    groups = charts_of([summarise(answered_run()), summarise(retrieved_run())])
    assert {group.title for group in groups} >= {"Answers", "Evidence recall", "Differences", "Cost of a question"}
    for chart in (chart for group in groups for chart in group.charts):
        assert re.fullmatch(r"[^\x00-\x1f]+", chart.description)
        for bar in chart.bars:
            assert 0 <= bar.start <= bar.end <= WIDTH
            assert chart.zero in (bar.start, bar.end)
            if bar.low is not None and bar.high is not None:
                assert 0 <= bar.low <= bar.high <= WIDTH
                assert any(bar.low - 0.02 <= tip <= bar.high + 0.02 for tip in (bar.start, bar.end))


def test_an_empty_run_has_a_page() -> None:
    """Without questions there is still a page that says so."""
    reading = Reading(made(Run(manifest(), placed(()))))
    assert reading.json("index")["questions"] == []


def test_the_pages_files_are_in_the_package() -> None:
    """The template, style and script lie where the wheel takes everything from."""
    assert {path.name for path in FILES.iterdir()} == {"page.html.j2", "page.css", "page.js"}
    build = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    assert "goalmem_cli" in build["targets"]["wheel"]["packages"]

"""`goalmem eval matrix`: every pair once, indexed once, resumed, in shards, estimated, with ablations, drawn as a map."""

import json
import re
from pathlib import Path

import pytest

from goalmem_cli.lab.evaluation.runs.folder import read_run
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.wiring import Factories, LoadedModel
from tests.cli.test_remem import reply as remembering
from tests.invoking import Goalmem, seeing
from tests.lab.cli.test_eval import MOMOCO, answering, document, replies, without_seconds

FEW = (MOMOCO, "--limit", "3", "--sample", "first")
PAIRS = ("--backbone", "bm25,dense", "--reasoner", "direct,oracle")


def extracting(stops_at: int | None = None) -> tuple[Factories, ScriptedModel]:
    """Return factories with a model that extracts for `remem` and reads, which the user interrupts at a call."""
    return answering(stops_at, lambda request: (replies if request.step == "read" else remembering)(request))


def steps(model: ScriptedModel, step: str) -> int:
    """Return how often the model was asked for a step."""
    return sum(request.step == step for request in model.seen)


def test_every_pair_is_a_cell_with_its_difference(goalmem: Goalmem, tmp_path: Path) -> None:
    """Backbones are rows and reasoners columns; the same command again asks nothing, and prints the same."""
    factories, model = answering()
    words = ("eval", "matrix", *FEW, *PAIRS, "--out", str(tmp_path / "m"))
    outcome = goalmem(*words, factories=factories)
    assert outcome.code == 0, outcome.err
    for metric in ("F1", "Exact match"):
        table = outcome.out[outcome.out.index(f"{metric}, backbones by reasoners") :].splitlines()
        assert table[2].split() == ["backbone", "direct", "oracle"]
        assert [line.split()[0] for line in table[3:5]] == ["bm25", "dense"]
        assert re.search(r"bm25 +\d\.\d{3} +\d\.\d{3} [+-]\d\.\d{3} \[[+-]\d\.\d\d, [+-]\d\.\d\d\]", table[3])
    assert "Cost of a question, backbones by reasoners" in outcome.out
    asked = model.calls
    again = goalmem(*words, factories=factories)
    assert (again.code, model.calls) == (0, asked)
    assert again.out == outcome.out == goalmem("report", str(tmp_path / "m")).out


def test_its_figures_are_those_of_an_ordinary_run(goalmem: Goalmem, tmp_path: Path) -> None:
    """The pairs of `eval`, no other."""
    matrix = document(goalmem, "matrix", *FEW, *PAIRS, factories=answering()[0])
    run = document(goalmem, *FEW, *PAIRS, "--out", str(tmp_path / "run"), factories=answering()[0])
    assert without_seconds(matrix) == without_seconds(run)


def test_a_variant_is_a_row_or_a_column_of_its_own(goalmem: Goalmem, tmp_path: Path) -> None:
    """Ablations and varied settings are compared with `direct` over the same backbone; what they change is kept."""
    words = ("--backbone", "bm25", "--reasoner", "direct,goal-mem", "--ablations", "goal-mem",
             "--vary", "goal-mem:max_breadth=2,max_depth=1", "--out", str(tmp_path / "m"))  # fmt: skip
    made = document(goalmem, "matrix", *FEW, *words, factories=answering()[0])
    rows = {entry["reasoner"]: entry for entry in made["runs"] if entry["queries"] is None}
    assert list(rows) == [
        "direct", "goal-mem", "goal-mem without refinement", "goal-mem, breadth 1", "goal-mem, unchecked",
        "goal-mem, paper", "goal-mem, max_breadth=2,max_depth=1",
    ]  # fmt: skip
    assert all(entry["n"] == 3 for entry in rows.values())
    assert all(entry["paired"]["baseline"] == "direct" for name, entry in rows.items() if name != "direct")
    settings = {
        json.loads(file.read_text())["settings"].get("checks", "on")
        for file in (tmp_path / "m").glob("parts/*/run.json")
    }
    assert settings == {"on", "off"}


@pytest.mark.slow
def test_a_backbone_is_indexed_once(goalmem: Goalmem, tmp_path: Path) -> None:
    """For all reasoners, for each ablation that only searches otherwise, and for what is added later."""
    factories, model = extracting()
    words = ("matrix", *FEW, "--backbone", "remem", "--out", str(tmp_path / "m"))
    made = document(goalmem, *words, "--reasoner", "direct", "--ablations", "remem", factories=factories)
    extracted = steps(model, "remem_extract")
    assert extracted > 0
    rows = [entry for entry in made["runs"] if entry["queries"] is None]
    assert len({entry["backbone"] for entry in rows}) == 8
    assert {entry["indexing"]["calls"] for entry in rows} == {extracted}
    document(goalmem, *words, "--reasoner", "direct,oracle", factories=factories)
    assert steps(model, "remem_extract") == extracted
    document(goalmem, *words, "--reasoner", "direct", "--vary", "remem:least_cosine=0.9", factories=factories)
    assert steps(model, "remem_extract") == 2 * extracted  # it decides what is indexed
    varied = ("--vary", "remem:top=5", "--vary", "remem:top=7", "--out", str(tmp_path / "v"))
    beside = ("matrix", *FEW, "--backbone", "bm25", "--reasoner", "direct", *varied)
    rows = json.loads(goalmem("eval", *beside, "--estimate", "--json", factories=factories).out)["rows"]
    assert [row["backbone"] for row in rows if not row["reasoner"]] == ["remem, top=5"]
    made = document(goalmem, *beside, factories=factories)
    spent = [each["indexing"]["calls"] for each in made["runs"] if each["queries"] is None]
    assert sorted(spent) == [0, extracted, extracted]  # of one that only --vary names, too


@pytest.mark.slow
@pytest.mark.parametrize("stops_at", [0, 3, 5, 9])
def test_an_interrupted_matrix_goes_on(goalmem: Goalmem, tmp_path: Path, stops_at: int) -> None:
    """Ctrl-C while it indexes or answers is exit 130; what is done is not done again, and the figures are the same."""
    words = ("matrix", *FEW, "--backbone", "bm25,remem", "--reasoner", "direct", "--vary", "remem:top=5")
    assert goalmem("eval", *words, "--out", str(tmp_path / "m"), factories=extracting(stops_at)[0]).code == 130
    second, model = extracting()
    made = document(goalmem, *words, "--out", str(tmp_path / "m"), factories=second)
    fresh, whole_model = extracting()
    whole = document(goalmem, *words, "--out", str(tmp_path / "whole"), factories=fresh)
    assert without_seconds(made) == without_seconds(whole)
    assert model.calls <= whole_model.calls


def test_a_reasoner_is_varied_in_its_own_settings(goalmem: Goalmem, tmp_path: Path) -> None:
    """Without further retrievals `reflect` asks once a question; a setting of all goes with it."""
    factories, _ = answering()
    words = ("matrix", *FEW, "--backbone", "bm25", "--reasoner", "reflect", "--vary", "reflect:turns=0,budget=5")
    document(goalmem, *words, "--out", str(tmp_path / "m"), factories=factories)
    runs = {path.parent.name: read_run(path.parent) for path in (tmp_path / "m" / "parts").glob("*/run.json")}
    (varied,) = (run for name, run in runs.items() if name != "plain")
    assert (varied.manifest.settings["reflect.turns"], varied.manifest.settings["budget"]) == ("0", "5")
    assert "reflect.turns" not in runs["plain"].manifest.settings
    assert {len(result.trace.actions) for result in varied.answered} == {2}
    assert all(action.name != "reflect" for result in varied.answered for action in result.trace.actions)
    assert any(action.name == "reflect" for result in runs["plain"].answered for action in result.trace.actions)


def test_a_backbone_has_a_budget_of_its_own_and_a_reasoner_steps(goalmem: Goalmem, tmp_path: Path) -> None:
    """Ten units and three in one matrix (REMem 4.4); one that only `--vary` names is measured with its own alone."""
    words = ("matrix", *FEW, "--backbone", "bm25", "--reasoner", "direct,react", "-k", "10", "--no-lean", "--vary",
             "dense:budget=3", "--vary", "react:max_steps=1", "--out", str(tmp_path / "m"))  # fmt: skip
    made = document(goalmem, *words, factories=answering()[0])
    rows = {(each["backbone"], each["reasoner"]) for each in made["runs"] if each["queries"] is None and each["n"]}
    three, one = "dense, budget=3", "react, max_steps=1"
    assert rows == {("bm25", "direct"), ("bm25", "react"), (three, "direct"), (three, "react"), ("bm25", one)}
    runs = [read_run(path.parent) for path in (tmp_path / "m" / "parts").glob("*/run.json")]
    told = {run.manifest.backbones + run.manifest.reasoners: run.manifest.settings for run in runs}
    assert {each: settings["budget"] for each, settings in told.items()} == {
        ("bm25", "direct", "react"): "10", ("dense", "direct", "react"): "3", ("bm25", "react"): "10",
    }  # fmt: skip
    assert (told["bm25", "react"]["max_steps"], told["bm25", "react"]["react.max_steps"]) == ("5", "1")
    direct = [each for run in runs for each in run.answered if each.reasoner == "direct"]
    assert {each.backbone: len(each.trace.facts) for each in direct if each.trace.facts} == {"bm25": 10, "dense": 3}


def test_shards_merge_to_the_whole(goalmem: Goalmem, tmp_path: Path) -> None:
    """A matrix in two parts is the matrix."""
    words = ("matrix", *FEW, *PAIRS, "--vary", "direct:budget=5")
    for number in (1, 2):
        out = str(tmp_path / f"s{number}")
        document(goalmem, *words, "--shard", f"{number}/2", "--out", out, factories=answering()[0])
    merged = document(goalmem, "merge", str(tmp_path / "all"), str(tmp_path / "s1"), str(tmp_path / "s2"))
    whole = document(goalmem, *words, "--out", str(tmp_path / "whole"), factories=answering()[0])
    assert without_seconds(merged) == without_seconds(whole)
    mixed = goalmem(
        "eval", "merge", str(tmp_path / "no"), str(tmp_path / "s1"), str(tmp_path / "whole" / "parts" / "plain")
    )
    assert mixed.code == 2
    assert "has no matrix" in mixed.error_lines[0]
    document(
        goalmem, *words, "--vary", "direct:budget=9", "--shard", "2/2", "--out", str(tmp_path / "s2"),
        factories=answering()[0],
    )  # fmt: skip
    for one, other in (("s1", "s2"), ("s2", "s1")):
        uneven = goalmem("eval", "merge", str(tmp_path / "no"), str(tmp_path / one), str(tmp_path / other))
        assert uneven.code == 2
        assert "have not the same parts: direct, budget=9" in uneven.error_lines[0]
        assert not (tmp_path / "no").exists()


def test_the_estimate_comes_first_and_measures_nothing(goalmem: Goalmem, tmp_path: Path) -> None:
    """Calls, tokens and hours of each index and pair, and of all, by one question; nothing is kept."""
    model = ScriptedModel(replies)
    factories = seeing(lambda _: LoadedModel(model, "scripted", "full", 8192))
    words = ("eval", "matrix", *FEW, "--backbone", "bm25,remem", "--reasoner", "direct,goal-mem", "--estimate",
             "--out", str(tmp_path / "m"))  # fmt: skip
    outcome = goalmem(*words, factories=factories)
    assert outcome.code == 0, outcome.err
    assert model.calls == 1
    assert not (tmp_path / "m").exists()
    assert [line.split()[:2] for line in outcome.out.splitlines()[1:4]] == [
        ["remem", "(index)"], ["bm25", "direct"], ["bm25", "goal-mem"],
    ]  # fmt: skip
    rows = json.loads(goalmem(*words, "--json", factories=factories).out)["rows"]
    assert [row["calls"] for row in rows if row["reasoner"] == "direct"] == [[3, 3], [3, 3]]
    assert rows[0]["tokens"][0] > 0


def test_the_page_has_a_heat_map_with_the_same_numbers(goalmem: Goalmem, tmp_path: Path) -> None:
    """Each cell of the table is a cell of the map, and the warmest is the best."""
    words = ("eval", "matrix", *FEW, *PAIRS, "--out", str(tmp_path / "m"))
    shown = goalmem(*words, factories=answering()[0]).out
    assert goalmem("report", str(tmp_path / "m"), "--html", str(tmp_path / "page.html")).code == 0
    page = (tmp_path / "page.html").read_text()
    cells = re.findall(r'<td class="heat heat-(\d)">(\d\.\d{3})([^<]*)</td>', page)
    assert len(cells) >= 4
    assert all(" ".join(f"{mean}{rest}".split()) in shown for _, mean, rest in cells)
    assert max(cells[:4], key=lambda cell: int(cell[0]))[1] == max(mean for _, mean, _ in cells[:4])


def test_answers_of_all_parts_are_judged(goalmem: Goalmem, tmp_path: Path) -> None:
    """While it measures, or afterwards; the judge's share is a table of its own."""
    words = ("matrix", *FEW, *PAIRS, "--vary", "direct:budget=5", "--out", str(tmp_path / "m"))
    document(goalmem, *words, factories=answering()[0])
    made = document(goalmem, "score", str(tmp_path / "m"), "--judge", "bundled", factories=answering()[0])
    rows = [entry for entry in made["runs"] if entry["queries"] is None]
    assert len(rows) == 6
    assert all(entry["metrics"]["judge"]["mean"] == 1 for entry in rows)
    sheet = tmp_path / "marks.csv"
    assert goalmem("eval", "agree", str(tmp_path / "m"), "--sheet", str(sheet)).code == 0
    sheet.write_text(re.sub(r",(?=,(direct|oracle|\"direct, budget=5\"),)", ",right", sheet.read_text("utf-8-sig")))
    (pair,) = document(goalmem, "agree", str(tmp_path / "m"), str(sheet))["pairs"]
    assert {row["reasoner"] for row in pair["rows"]} == {"direct", "oracle", "direct, budget=5"}
    assert (pair["n"], pair["agreement"]["mean"]) == (18, 1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--ablations", "raptor"), "there is no 'raptor'"),
        (("--ablations", "remem"), "remem is not in the matrix"),
        (("--vary", "goal-mem"), "is no variant"),
        (("--vary", "goal-mem:depth=1"), "has no setting 'depth'"),
        (("--vary", "goal-mem:max_depth=many"), "max_depth"),
        (("--vary", "remem:top=0"), "top is below 1"),
        (("--vary", "reflect:turns=-1"), "turns is below 0"),
        (("--vary", "reflect:depth=1"), "reflect has no setting 'depth'"),
        (("--vary", "reflect:turns=1"), "reflect is not in the matrix"),
        (("--vary", "bm25:max_depth=1"), "bm25 is not in the matrix"),
        (("--vary", "flat:budget=1"), "there is no 'flat'"),
        (("--vary", "bm25:top=1"), "bm25 has no setting 'top'"),
        (("--vary", "react:max_steps=0"), "max_steps is below 1"),
        (("--backbone", "flat"), "there is no 'flat'"),
    ],
)
def test_what_cannot_be_is_said_before_anything_begins(
    goalmem: Goalmem, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    """One line, what to do, and no folder."""
    factories, model = answering()
    refused = goalmem("eval", "matrix", *FEW, *words, "--out", str(tmp_path / "m"), factories=factories)
    assert refused.code == 2
    assert said in refused.error_lines[0]
    assert (model.calls, (tmp_path / "m").exists()) == (0, False)


def test_a_folder_of_something_else_is_left_alone(goalmem: Goalmem, tmp_path: Path) -> None:
    """Neither a run nor foreign files become a matrix, and another matrix is another."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    refused = goalmem("eval", "matrix", *FEW, *PAIRS, "--out", str(tmp_path / "mine"), factories=answering()[0])
    assert "holds no matrix" in refused.error_lines[0]
    out = str(tmp_path / "m")
    document(goalmem, "matrix", *FEW, *PAIRS, "--out", out, factories=answering()[0])
    other = goalmem("eval", "matrix", *FEW, *PAIRS, "-k", "5", "--out", out, factories=answering()[0])
    assert other.code == 2
    assert "holds another run: budget is 60" in other.err


@pytest.mark.slow
def test_the_bundled_model_fills_a_small_matrix(goalmem: Goalmem, tmp_path: Path) -> None:
    """A question over a backbone that is indexed and one that is not."""
    made = document(
        goalmem, "matrix", MOMOCO, "--limit", "1", "--backbone", "bm25,secom", "--reasoner", "direct,goal-mem",
        "--max-breadth", "1", "--max-depth", "1", "--out", str(tmp_path / "m"),
    )  # fmt: skip
    rows = [entry for entry in made["runs"] if entry["queries"] is None]
    assert [(entry["backbone"], entry["reasoner"], entry["n"]) for entry in rows] == [
        ("bm25", "direct", 1), ("secom", "direct", 1), ("bm25", "goal-mem", 1), ("secom", "goal-mem", 1),
    ]  # fmt: skip
    assert [entry["indexing"]["calls"] > 0 for entry in rows] == [False, True, False, True]


def test_a_variant_stands_beside_the_paper_that_was_told_the_same(goalmem: Goalmem, tmp_path: Path) -> None:
    """By its own part's settings: the plain reasoner shows fewer tokens than GOAL-MEM's, which is said."""
    words = [
        "eval",
        "matrix",
        *FEW,
        "--backbone",
        "bm25-plain",
        "--reasoner",
        "direct",
        "--vary",
        "direct:fact_tokens=0",
    ]
    words += ["--categories", "1,2,3,4", "--no-sift", "--no-lean", "--out", str(tmp_path / "m")]
    assert goalmem(*words, factories=answering()[0]).code == 0
    outcome = goalmem("report", str(tmp_path / "m"), "--published", "--html", str(tmp_path / "page.html"))
    assert outcome.code == 0, outcome.err
    page = (tmp_path / "page.html").read_text("utf-8")
    table = page[page.index("Reported in papers, not measured here: answers") :]
    places = [table.index(f"{name}<") for name in ("direct over bm25-plain", "direct, fact_tokens=0 over bm25-plain")]
    assert places[0] < places[1] < table.index("RAG (BM25)<") < table.index("RAG (Dense)<")
    assert (
        "not beside direct over bm25-plain: GOAL-MEM, Table 1, RAG (BM25): fact_tokens is 3000 here and 0 there" in page
    )

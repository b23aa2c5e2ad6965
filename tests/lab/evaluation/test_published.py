"""What the papers report: as it stands in their texts, and beside a run."""

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import get_args

import pytest

from goalmem_cli.backbones.catalogue import STRUCTURED
from goalmem_cli.cli.options import ReasonerName
from goalmem_cli.errors import InputError
from goalmem_cli.lab.evaluation.summaries.made import OTHER, Cell, Made
from goalmem_cli.lab.evaluation.summaries.made import made as made_tables
from goalmem_cli.lab.evaluation.summaries.published import FILE, Line, load, read_tables
from goalmem_cli.lab.evaluation.summaries.summary import Summary, summarise
from goalmem_cli.lab.render.figures import sections
from goalmem_cli.lab.render.published import HERE, TITLE, beside, chosen, filled
from goalmem_cli.wiring import Factories, backbone_names
from tests.lab.evaluation.made_runs import answered_run, manifest

PAPERS = Path(__file__).resolve().parents[4] / "shared" / "papers"
NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
MADE = """
papers: {p: {title: P, source: s}}
tables:
  - paper: p
    table: 1
    benchmark: locomo
    questions: all
    model: M
    columns: [{metric: judge, unit: percent}, {metric: tokens, unit: million, over: 2000}]
    rows:
      - {name: A, backbone: hybrid, reasoner: direct, figures: [50.5, 1.2]}
      - {name: B, figures: [null, 3]}
"""


def made(folder: Path, text: str = MADE) -> Path:
    """Write a file of figures."""
    path = folder / "published.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def without_marks(cell: str) -> str:
    """Return a cell of a converted table without the marks of its type."""
    return re.sub(r"</?u>|\*\*|\$\^?_?\{.*?\}\$", "", cell).strip()


def is_in_order(wanted: list[float], line: str) -> bool:
    """Say whether the line has the numbers in this order, others between them."""
    left = iter(float(number) for number in NUMBER.findall(re.sub(r"(?<=\d),(?=\d{3}\b)", "", line)))
    return all(any(number == one for one in left) for number in wanted)


TURNED = {("remem", 2), ("remem", 17), ("remem", 18), ("remem", 22), ("stitch", 3), ("stitch", 4), ("stitch", 6)}
"""The tables whose rows are columns here, or the other way round."""


@pytest.mark.shared
def test_every_figure_stands_in_its_paper() -> None:
    """Beside the row's name, on one line, within some lines of the table that is named."""
    if not PAPERS.is_dir():
        pytest.skip("the papers are not here")
    _, listed = read_tables()
    for table in (one for one in listed if one.paper != "hindsight"):  # a page, not a paper
        if (table.paper, table.table) in TURNED:
            continue
        lines = (PAPERS / f"{table.paper}.txt").read_text("utf-8").splitlines()
        at = next(number for number, line in enumerate(lines) if line.startswith(f"Table {table.table}:"))
        near = lines[max(0, at - 26) : at + 26]
        for row in table.rows:
            wanted = [figure for figure in row.figures if figure is not None]
            label = row.row or row.name
            hits = [
                line for line in near
                if any(without_marks(cell).startswith(label) for cell in line.split("\t")) and is_in_order(wanted, line)
            ]  # fmt: skip
            assert hits, (table.paper, table.table, table.benchmark, row.name)


def test_what_it_names_is_what_goalmem_has() -> None:
    """Backbones and reasoners of the file go by goalmem's names."""
    figures = load()
    assert {one.backbone for one in figures} - {None} <= {*backbone_names(Factories()), "none"}
    assert {one.reasoner for one in figures} - {None} <= {*get_args(ReasonerName), "oracle", "own-prompt"}
    assert {one.benchmark for one in figures} == {
        "locomo",
        "longmemeval",
        "realtalk",
        "complex-tr",
        "tot",
        "came",
        "beam",
        "musique",
        "2wiki",
    }


def test_known_figures_are_read() -> None:
    """Headline figures of the three papers, as shares, and totals of tokens as amounts a question."""
    told = {(one.source, one.benchmark, one.method, one.model, one.metric, one.category, one.subset): one.value
            for one in load()}  # fmt: skip
    gemma = "Gemma-4-26B-A4B"
    assert told["GOAL-MEM, Table 1", "locomo", "RAG (Dense) with GOAL-MEM", gemma, "judge", "", ""] == 0.7944
    assert told["GOAL-MEM, Table 4", "locomo", "RAG (BM25)", gemma, "judge", "2", ""] == 0.4984
    assert told["REMem, Table 13", "tot", "REMem-I", "GPT-4.1-mini", "exact", "timeline", ""] == 0.929
    assert told["STITCH, Table 1", "came", "STITCH", "GPT-5-mini", "judge", "", "large"] == 0.592
    per_question = told["REMem, Table 20", "locomo", "REMem-I", "GPT-4.1-mini", "prompt_tokens", "", ""]
    assert per_question == pytest.approx(18_100_000 / 1986)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("paper: p", "paper: q", "no paper is called 'q'"),
        ("benchmark: locomo", "benchmark: loco", "no benchmark is called 'loco'"),
        ("metric: judge", "metric: jugde", "no metric is called 'jugde'"),
        ("unit: percent", "unit: permille", "is given in 'permille'"),
        ("[50.5, 1.2]", "[50.5]", "A has 1 figures for 2 columns"),
        ("[50.5, 1.2]", "[150.5, 1.2]", "A has 150.5 percent of judge"),
        ("[50.5, 1.2]", "[-1, 1.2]", "A has -1"),
        ("[50.5, 1.2]", "[many, 1.2]", "not of the kind"),
        ("name: B,", "name: A, model: M,", "A has two figures of tokens"),
        ("name: B,", "nam: B,", "nam"),
        ("tables:", "tabels:", "no list of published figures"),
        ("papers:", "papers: [", "no list of published figures"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path: Path, old: str, new: str, said: str) -> None:
    """What it names must exist, cells fit columns, shares are no more than 1, and no figure is given twice."""
    with pytest.raises(InputError) as raised:
        load(made(tmp_path, MADE.replace(old, new)))
    assert said in raised.value.message
    assert "published.yaml" in raised.value.message


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """An error with the path, and no crash."""
    with pytest.raises(InputError, match=r"none\.yaml"):
        load(tmp_path / "none.yaml")
    assert FILE.is_file()


def test_reported_rows_stand_behind_the_measured_one_of_their_kind(tmp_path: Path) -> None:
    """Each row says where it comes from; what goalmem does not have comes last; empty cells stay empty."""
    summaries = [summarise(answered_run())]
    (part,) = beside(sections(summaries), summaries, load(made(tmp_path)))
    own = {table.title.removeprefix(f"{TITLE}: "): table for table in part.tables if table.title.startswith(TITLE)}

    assert list(own) == ["answers", "cost of a question"]
    assert own["answers"].columns == ("judged right",)
    assert own["answers"].rows == (
        (("direct over hybrid", "scripted", HERE), ("0.667",)),
        (("A", "M", "P, Table 1"), ("0.505",)),
        (("goal-mem over hybrid", "scripted", HERE), ("0.833",)),
    )
    assert own["cost of a question"].rows == (
        (("direct over hybrid", "scripted", HERE), ("912",)),
        (("A", "M", "P, Table 1"), ("600",)),
        (("goal-mem over hybrid", "scripted", HERE), (f"{(3120 * 8 + 540) / 6:,.0f}",)),
        (("B", "M", "P, Table 1"), ("1,500",)),
    )
    assert "measured here" in own["answers"].note
    assert part.notes[-1] == "P, Table 1: all"


NEEDS = MADE.replace(
    "    rows:",
    "    settings: {direct: {budget: 60, max_steps: 5, scope: domain, lean: 'off'}, goal-mem: {planning: paper}}\n    rows:",
).replace("reasoner: direct,", "reasoner: direct, settings: {budget: 10, hybrid.way: fast},")
TOLD = {"budget": "10", "scope": "domain", "lean": "off", "hybrid.way": "fast", "max_steps": "5"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ""),
        ({"budget": "60"}, "budget is 60 here and 10 there"),
        ({"lean": None}, "lean is on here and off there"),
        ({"lean": None, "profile": "compact"}, ""),
        ({"hybrid.way": None}, "hybrid.way is as usual here and fast there"),
        ({"hybrid.depth": "3"}, "hybrid.depth is 3 here and as usual there"),
        ({"dense.depth": "3"}, ""),
        ({"direct.turns": "3"}, "direct.turns is 3 here and as usual there"),
        ({"max_steps": "5", "direct.max_steps": "3"}, "max_steps is 3 here and 5 there"),
        ({"scope": "conversation", "budget": "5"},
         "budget is 5 here and 10 there; scope is conversation here and domain there"),
    ],
)  # fmt: skip
def test_a_row_stands_beside_a_run_that_was_told_the_same_and_no_other(
    tmp_path: Path, changes: dict[str, str | None], said: str
) -> None:
    """A row's own settings go before its table's; what differs is said with both values, and its figures stand apart."""
    settings = {name: value for name, value in (TOLD | changes).items() if value is not None}
    summaries = [summarise(answered_run(manifest=manifest(settings=settings)))]
    (part,) = beside(sections(summaries), summaries, load(made(tmp_path, NEEDS)))
    answers = next(table for table in part.tables if table.title == f"{TITLE}: answers")
    order = [names[0] for names, _ in answers.rows]
    apart = ["direct over hybrid", "goal-mem over hybrid", "A"]
    assert order == (apart if said else ["direct over hybrid", "A", "goal-mem over hybrid"])
    unlike = [note for note in part.notes if note.startswith("not beside")]
    assert unlike == ([f"not beside direct over hybrid: P, Table 1, A: {said}"] if said else [])


def test_a_variant_of_a_matrix_is_compared_by_what_it_was_told(tmp_path: Path) -> None:
    """It goes by the name of what it is a variant of, with the settings of its own part, and the run's embedder."""
    settings = TOLD | {"budget": "60", "embedder": "static"}
    run, names = answered_run(manifest=manifest(settings=settings)), {"direct": "direct, ten"}
    varied = replace(
        run,
        manifest=replace(run.manifest, reasoners=("direct, ten", "goal-mem")),
        answered=tuple(replace(each, reasoner=names.get(each.reasoner, each.reasoner)) for each in run.answered),
        verdicts=tuple(replace(each, reasoner=names.get(each.reasoner, each.reasoner)) for each in run.verdicts),
        variants={"direct, ten": ("direct", TOLD)},
    )
    summaries = [summarise(varied)]
    (part,) = beside(sections(summaries), summaries, load(made(tmp_path, NEEDS)))
    answers = next(table for table in part.tables if table.title == f"{TITLE}: answers")
    assert [names[0] for names, _ in answers.rows] == ["direct, ten over hybrid", "A", "goal-mem over hybrid"]
    assert [names[1] for names, _ in answers.rows] == [
        "scripted with embedder static",
        "M",
        "scripted with embedder static",
    ]


def test_what_the_papers_need_are_settings_of_a_run() -> None:
    """Their names and values are those of a manifest; the pairs that were unlike are told apart."""
    told = {(one.source, one.benchmark, one.method): one for one in load()}
    names = {name for one in told.values() for name in one.settings}
    assert names <= {
        "scope", "budget", "fact_tokens", "sift", "lean", "checks", "planning", "max_breadth", "max_depth", "max_steps",
        "goal-mem.background", "goal-mem.generates", "goal-mem.own_checks", "max_subgoals", "certainty", "strict",
        "rules", "profile", "categories",
        *(f"{each}.{slot.name}" for each, entry in STRUCTURED.items() for slot in fields(entry.settings)),
    }  # fmt: skip
    usual = {
        "scope": "conversation", "budget": "60", "fact_tokens": "3000", "planning": "together", "max_breadth": "3",
        "max_depth": "5", "max_steps": "5",
    }  # fmt: skip
    unlike = {
        ("REMem, Table 13", "tot", "REMem-I with TISER"): "paper:remem.gists is as usual here and False there",
        ("REMem, Table 4", "complex-tr", "REMem-I"): "scope is conversation here and domain there",
        ("REMem, Table 3", "locomo", "NV-Embed-v2 (7B)"): "budget is 60 here and 10 there",
        ("STITCH, Table 1", "came", "STITCH"): "budget is 60 here and 40 there",
        ("GOAL-MEM, Table 1", "locomo", "Mem0 with GOAL-MEM"): "planning is together here and paper there",
    }
    for key, wanted in unlike.items():
        assert wanted in told[key].differing(usual), key
        assert told[key].differing(told[key].settings) == ()
        assert told[key].differing({**told[key].settings, "certainty": "0 of an answer"}) == ()
        kept = told[key].differing({**told[key].settings, "certainty": "45 of an answer"})
        assert kept == ("certainty is 45 here and 0 there",)
    ours = told["GOAL-MEM, Table 1", "locomo", "Mem0 with GOAL-MEM"]
    for name, other, wanted in (
        ("rules", "on", "rules is on here and off there"),
        ("max_subgoals", "4", "max_subgoals is 4 here and 0 there"),
        ("goal-mem.own_checks", "True", "goal-mem.own_checks is True here and False there"),
        ("categories", "", "categories is all here and 1,2,3,4 there"),
        ("categories", "4,2", "categories is 2,4 here and 1,2,3,4 there"),
    ):
        assert ours.differing({**ours.settings, name: other}) == (wanted,)
    assert ours.differing({**ours.settings, "categories": "4,3,2,1"}) == ()
    recipe = told["STITCH, Table 1", "came", "STITCH"]
    small = {**recipe.settings, "profile": "compact"}
    assert "profile is compact here and full there" in recipe.differing(small)
    part = {**recipe.settings, "categories": "type_1"}
    assert recipe.differing(part) == ("categories is type_1 here and all there",)
    assert recipe.metric in ("judge", "judge_precision")
    ceilings = {
        ("GOAL-MEM, Table 1", "locomo", "RAPTOR"): "raptor.read_tokens is as usual here and 100000 there",
        ("GOAL-MEM, Table 1", "longmemeval", "MemTree with GOAL-MEM"):
            "memtree.read_letters is as usual here and 1000000 there",
        ("GOAL-MEM, Table 1", "locomo", "GraphRAG"): "graphrag.read_tokens is as usual here and 100000 there",
        ("STITCH, Table 1", "came", "RAPTOR"): "raptor.read_tokens is as usual here and 4096 there",
        ("STITCH, Table 7", "came", "SeCom, streaming"): "secom.way is as usual here and online there",
        ("Hindsight on BEAM, Table 1", "beam", "RAG"): "budget is 60 here and 10 there",
    }  # fmt: skip
    for key, wanted in ceilings.items():
        assert wanted in told[key].differing(usual), key
    assert not [name for name in told["GOAL-MEM, Table 1", "locomo", "Mem0"].settings if "." in name]
    for strict, profile, is_off in (("None", "full", True), ("False", "compact", True), ("True", "full", False)):
        run = {**ours.settings, "strict": strict, "profile": profile}
        assert ours.differing(run) == (() if is_off else ("strict is on here and off there",))
    assert "strict is on here and off there" in ours.differing(
        {**ours.settings, "strict": "None", "profile": "compact"}
    )
    assert told["GOAL-MEM, Table 3", "locomo", "RAG (BM25) with ReAct"].metric in ("seconds", "search_tokens")


def test_categories_go_by_the_run_s_names() -> None:
    """REMem's and GOAL-MEM's columns stand under the dataset's own names."""
    summaries = [summarise(answered_run())]
    (part,) = beside(sections(summaries), summaries, load())
    table = next(each for each in part.tables if each.title == f"{TITLE}: Judged right by category")
    rows = {names: dict(zip(table.columns, cells, strict=True)) for names, cells in table.rows}

    gemma = rows["RAG (Dense) with GOAL-MEM", "Gemma-4-26B-A4B", "GOAL-MEM, Table 4"]
    assert gemma == {
        "multi-hop": "0.631", "temporal": "0.838", "open-domain": "0.490", "single-hop": "0.867",
    }  # fmt: skip
    whole = next(each for each in part.tables if each.title == f"{TITLE}: Judged right, refusals counted by category")
    remem = {names: dict(zip(whole.columns, cells, strict=True)) for names, cells in whole.rows}
    assert remem["REMem-I", "GPT-4.1-mini", "REMem, Table 10"]["adversarial"] == "0.668"


def test_remem_s_figures_of_all_questions_stand_beside_ours_of_all_questions() -> None:
    """A refusal counts 1 there where nothing can be answered: LoCoMo's own F1 and the judge of answers are others."""
    figures = load()
    metrics = {(one.paper, one.benchmark): set[str]() for one in figures}
    for one in figures:
        metrics[one.paper, one.benchmark].add(one.metric)
    assert {"all_f1", "all_bleu1", "all_judge"} <= metrics["REMem", "locomo"]
    assert not {"f1", "bleu1", "judge"} & metrics["REMem", "locomo"]
    assert {"token_f1", "bleu1", "judge"} <= metrics["REMem", "realtalk"] & metrics["REMem", "complex-tr"]
    assert {"f1", "judge"} <= metrics["GOAL-MEM", "locomo"]


def test_where_no_paper_reports_anything_that_is_said() -> None:
    """A benchmark that no figure is about has no table of them."""
    summaries = [summarise(answered_run(manifest=manifest(format="realtalk")))]
    figures = [one for one in load() if one.benchmark == "tot"]
    (part,) = beside(sections(summaries), summaries, figures)

    assert chosen(summaries, figures) == []
    assert not [table for table in part.tables if table.title.startswith(TITLE)]
    assert "no paper here" in part.notes[-1]


def table_of(paper: str, number: int) -> list[list[str]]:
    """Return the cells of the table beside its caption, without marks, half-widths and differences."""
    lines = (PAPERS / f"{paper}.txt").read_text("utf-8").splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith(f"Table {number}:"))
    step = 1 if paper == "remem" or (paper, number) == ("goal-mem", 3) else -1  # a caption above its table
    place, found = at + step, list[list[str]]()
    while "\t" in lines[place] or not lines[place].strip():
        line = re.sub(r"</?u>|\*\*|\$?[\^_]\{.*?\}|\\\w+\s*[0-9.]+|\s\([0-9.]+\)|\$", "", lines[place])
        found += [[cell.strip() for cell in line.split("\t")]] if line.strip() else []
        place += step
    return found


@pytest.mark.shared
def test_every_figure_of_a_table_with_rows_is_listed() -> None:
    """Each row and column of the paper's is there, but for what `besides` in `tables.yaml` or a table's note names."""
    if not PAPERS.is_dir():
        pytest.skip("the papers are not here")
    own: dict[tuple[str, int], list[Line]] = {}
    for table in read_tables()[1]:
        own.setdefault((table.paper, table.table), []).extend(table.rows)
    left = dict[tuple[str, int, str], list[float]]()
    for (paper, number), rows in own.items():
        for cells in table_of(paper, number) if paper != "hindsight" else ():
            is_turned = (paper, number) in TURNED
            named = [row for row in rows if is_turned or any(cell.startswith(row.row or row.name) for cell in cells)]
            names = {row.row or row.name for row in named}
            told = [cell.rstrip("M").replace(",", "") for cell in cells if cell not in names]
            figures = [float(cell) for cell in told if re.fullmatch(r"[0-9]+(\.[0-9]+)?", cell)]
            for figure in (figure for row in named for figure in row.figures if figure in figures):
                figures.remove(figure)
            if figures:
                left[paper, number, max(cells[:3], key=len)] = figures
    assert left == {
        ("goal-mem", 2, "Tree-Based"): [50.33, 52.22, 37.22],  # three of RAPTOR's four: the text has lost one
        ("remem", 14, "NV-Embed-v2"): [38.2, 30.5, 57.5],  # these are means of the two, and totals of the four
        ("remem", 14, "Mem0"): [6.9, 5.1, 8.0],
        ("remem", 14, "REMem"): [38.2, 32.1, 55.3],
        **{("remem", 20, name): [total] for name, total in (("NV-Embed-v2", 1.36), ("REMem-I", 20.51), ("REMem-S", 3.63))},
    }  # fmt: skip


def filling(model: str, *sources: str, embedder: str = "static") -> Summary:
    """Return a run of `direct` over `dense-plain`, as STITCH's Table 1 needs it, of LongMemEval."""
    (table,) = (one for one in read_tables()[1] if (one.paper, one.table, one.benchmark) == STITCH_1)
    line = next(line for line in table.rows if (line.backbone, line.reasoner) == ("dense-plain", "direct"))
    run, settings = answered_run(), {**table.needed(line), "embedder": embedder}
    own = manifest(
        format="longmemeval",
        sources=sources,
        model=model,
        settings=settings,
        reasoners=("direct",),
        backbones=("dense-plain",),
    )
    answered = tuple(replace(each, backbone="dense-plain") for each in run.answered if each.reasoner == "direct")
    verdicts = tuple(replace(each, backbone="dense-plain") for each in run.verdicts if each.reasoner == "direct")
    return summarise(replace(run, manifest=own, answered=answered, verdicts=verdicts))


STITCH_1 = ("stitch", 1, "longmemeval")


def test_a_run_fills_one_of_the_rows_that_differ_in_the_embedder() -> None:
    """The others say why they have nothing; the table's title names what was measured."""
    (table,) = (
        one
        for one in made_tables("stitch", 1, [filling("scripted", "longmemeval_s.json")])
        if one.benchmark == "longmemeval"
    )
    own = [cells for _, cells in dense_rows(table)]
    assert len(own) > 1
    assert [cell.measured is not None for cell in own[0]] == [column.subset == "S" for column in table.columns]
    assert {cell.missing for cells in own[1:] for cell in cells} == {OTHER}
    figures = filled(table, {})
    assert figures.title.endswith("longmemeval, scripted with embedder static")
    assert OTHER in figures.note


@pytest.mark.parametrize(
    ("embedders", "rows"),
    [
        (("http://host:1/v1#text-embedding-3-large",), [2]),
        (("hf/Qwen3-Embedding-8B", "http://host:1/v1#text-embedding-3-small"), [0, 1]),
        (("static", "minilm"), [0]),
    ],
)
def test_a_run_fills_the_row_of_its_model_and_embedder(embedders: tuple[str, ...], rows: list[int]) -> None:
    """Each its own; those that are like none fill the first."""
    runs = [filling("GPT-5-mini", "longmemeval_s.json", embedder=name) for name in embedders]
    (table,) = (one for one in made_tables("stitch", 1, runs) if one.benchmark == "longmemeval")
    own = [any(cell.measured is not None for cell in cells) for _, cells in dense_rows(table)]
    assert [place for place, is_filled in enumerate(own) if is_filled] == rows


def dense_rows(table: Made) -> list[tuple[str, tuple[Cell, ...]]]:
    """Return the rows of the table that goalmem's `dense-plain` is for."""
    (own,) = (one for one in read_tables()[1] if (one.paper, one.table, one.benchmark) == STITCH_1)
    names = [line.name for line in own.rows if (line.backbone, line.reasoner) == ("dense-plain", "direct")]
    return [(name, cells) for name, _, cells in table.rows if name in names]


@pytest.mark.parametrize(
    ("sources", "part"),
    [
        (("longmemeval_s.json",), "S"),
        (("s/oracle.json",), "oracle"),
        (("oracle/rows.json",), "oracle"),
        (("m/longmemeval.json",), ""),
        (("longmemeval_s.json", "longmemeval_m.json"), ""),
        (("longmemeval_s.json", "rows.json"), ""),
        (("longmemeval_s_m.json",), ""),
    ],
)
def test_a_run_fills_the_columns_of_its_part_alone(sources: tuple[str, ...], part: str) -> None:
    """The file's name says it, else its folder's; a run of several parts, or of one that no name tells, fills none."""
    (table,) = (
        one for one in made_tables("stitch", 1, [filling("scripted", *sources)]) if one.benchmark == "longmemeval"
    )
    cells = dense_rows(table)[0][1]
    have = [column.subset for column, cell in zip(table.columns, cells, strict=True) if cell.measured is not None]
    assert have == [part] * bool(part)


def test_categories_of_locomo_go_by_the_papers_names_in_their_tables() -> None:
    """REMem's Table 9 has single-hop and multi-hop, and Table 10 the others, by the sizes that these print."""
    names = answered_run().manifest.categories
    heads = [
        filled(table, names).columns[at]
        for number in (9, 10)
        for table in made_tables("remem", number, ())
        for at in (-4, -1)
    ]
    assert [head.partition("\n")[2] for head in heads] == ["single-hop", "multi-hop", "temporal", "adversarial"]

"""The tables of reported figures on the page of the manual about measuring, made from `published.yaml`.

`python -m tests.lab.evaluation.published_page` writes them anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from goalmem_cli.lab.evaluation.datasets.tot import SEMANTIC
from goalmem_cli.lab.evaluation.summaries.published import Reported, load

PAGE = Path(__file__).parents[3] / "goalmem_cli" / "guide" / "measuring.md"
HEADING = "## What the papers report"
GEMMA, GPT = "Gemma-4-26B-A4B", "GPT-5.4 mini"
REASONERS = ("direct", "reformulate", "reflect", "memguide", "react", "goal-mem")
SHORT = {
    "before_after": "before after", "event_at_time_t": "at time t", "event_at_what_time": "at what time",
    "event_at_the_time_of_another_event": "at another's", "number_of_events_in_time_interval": "number",
    "first_last": "first last", "relation_duration": "duration", "timeline": "timeline",
}  # fmt: skip
Column = tuple[str, str, str]
"""Benchmark, metric and subset."""


def tables() -> str:
    """Return the section's text behind its heading."""
    figures = load()
    remem: list[Column] = [
        *(("locomo", metric, "") for metric in ("f1", "bleu1", "judge")),
        *(("realtalk", metric, "") for metric in ("f1", "bleu1", "judge")),
        *(("complex-tr", metric, "") for metric in ("f1", "bleu1", "judge")),
        ("tot", "exact", ""),
    ]
    sizes = ("small", "medium", "large")
    stitch: list[Column] = [
        *(("came", metric, size) for size in sizes for metric in ("set_precision", "set_f1")),
        *(("longmemeval", "judge", part) for part in ("oracle", "S", "M")),
        ("locomo", "judge", ""),
    ]
    three = "F1, BLEU-1, judged"
    return "\n".join(
        [
            (f"`goalmem report RUN --published` prints all {len(figures):,} figures of `published.yaml` that are about "
            "the run's benchmark beside those of the run: by category, of refusals and of cost too. They are what the "
            "authors report, with their models and prompts, and none of them is measured here. In percent; two figures "
            f"are of {GEMMA} and {GPT}."),
            "",
            ("A row stands beside a run of the same backbone and reasoner that was told the same; for any other a note "
            "says which setting differs, and its figures stand apart. `goalmem eval tables PAPER` prints the commands "
            "that are told the same as each row, and runs them: `goalmem guide tables`."),
            "",
            "GOAL-MEM (arXiv 2605.12213, Tables 1 and 2), judged right, LoCoMo's categories 1 to 4:",
            "",
            *_matrix(figures, "locomo"),
            "",
            "The same, LongMemEval-S (of RAPTOR's row for the second model the text at hand has lost a cell):",
            "",
            *_matrix(figures, "longmemeval"),
            "",
            (f"REMem (arXiv 2602.13530, Tables 3, 4, 5 and 13), GPT-4.1-mini where nothing else is said; {three} for "
            "LoCoMo (all 1,986), REALTALK and Complex-TR, and exact match for Test of Time (semantic):"),
            "",
            *_methods(figures, "REMem", remem, ("LoCoMo", "REALTALK", "Complex-TR", "Test of Time"), (3, 3, 3, 1)),
            "",
            "By type of question, Test of Time (Table 13):",
            "",
            *_types(figures),
            "",
            "Refusals of LoCoMo's unanswerable questions (REMem's Table 6), precision, recall and F1: "
            + "; ".join(_refusals(figures)) + ".",
            "",
            ("STITCH (arXiv 2601.10702, Tables 1 and 2), GPT-5-mini where nothing else is said; precision and F1 of "
            "answer sets for CAME-Bench of three sizes, judged right for LongMemEval (oracle, S, M) and LoCoMo:"),
            "",
            *_methods(
                figures, "STITCH", stitch,
                ("CAME-Bench small", "medium", "large", "LongMemEval", "LoCoMo"), (2, 2, 2, 3, 1),
            ),
        ]
    )  # fmt: skip


def section(text: str) -> tuple[str, str, str]:
    """Return what stands before the section's text, that text, and what stands behind it."""
    before, _, rest = text.partition(f"{HEADING}\n\n")
    body, mark, after = rest.partition("\n\n## ")
    return f"{before}{HEADING}\n\n", body.rstrip("\n"), f"{mark}{after}" if mark else "\n"


def _matrix(figures: Sequence[Reported], benchmark: str) -> list[str]:
    own = [one for one in figures if one.paper == "GOAL-MEM" and one.benchmark == benchmark and not one.category]
    told = {(one.method.split(" with ")[0], one.reasoner, one.model): one.value for one in own if one.metric == "judge"}
    lines = [f"| | {' | '.join(f'`{name}`' for name in REASONERS)} |", f"|---{'|---' * len(REASONERS)}|"]
    for method in dict.fromkeys(name for name, _, _ in told):
        backbone = next(one.backbone for one in own if one.method == method)
        cells = [[told.get((method, name, model)) for model in (GEMMA, GPT)] for name in REASONERS]
        called = method if backbone is None else f"{method}, `{backbone}`"
        lines.append(f"| {called} | {' | '.join(' / '.join(_percent(value, 2) for value in pair) for pair in cells)} |")
    return lines


def _methods(
    figures: Sequence[Reported], paper: str, columns: Sequence[Column], heads: Sequence[str], widths: Sequence[int]
) -> list[str]:
    own = [one for one in figures if one.paper == paper and not one.category]
    told = {(one.method, one.model, (one.benchmark, one.metric, one.subset)): one for one in own}
    lines = [f"| | backbone | reasoner | {' | '.join(heads)} |", f"|---|---|---{'|---' * len(heads)}|"]
    main = "GPT-4.1-mini" if paper == "REMem" else "GPT-5-mini"
    for method, model in dict.fromkeys((name, model) for name, model, key in told if key in columns):
        cells = [told.get((method, model, key)) for key in columns]
        one = next(cell for cell in cells if cell is not None)
        groups, at = [], 0
        for width in widths:
            part = cells[at : at + width]
            groups.append(
                ", ".join(_percent(None if cell is None else cell.value) for cell in part) if any(part) else ""
            )
            at += width
        called = method if model == main or model in method else f"{method}, {model}"
        names = (f"`{name}`" if name else "" for name in (one.backbone, one.reasoner))
        lines.append(f"| {called} | {' | '.join(names)} | {' | '.join(groups)} |")
    return lines


def _types(figures: Sequence[Reported]) -> list[str]:
    own = [one for one in figures if one.benchmark == "tot" and one.category]
    told = {(one.method, one.model, one.category): one.value for one in own}
    lines = [f"| | {' | '.join(SHORT[code] for code in SEMANTIC)} |", f"|---{'|---' * len(SEMANTIC)}|"]
    for method, model in dict.fromkeys((name, model) for name, model, _ in told):
        called = method if model == "GPT-4.1-mini" else f"{method}, {model}"
        lines.append(f"| {called} | {' | '.join(_percent(told[method, model, code]) for code in SEMANTIC)} |")
    return lines


def _refusals(figures: Sequence[Reported]) -> list[str]:
    shares: dict[str, list[str]] = {}
    for one in figures:
        if one.metric.startswith("refusal_"):
            shares.setdefault(one.method, []).append(_percent(one.value))
    return [f"{method} {', '.join(cells)}" for method, cells in shares.items()]


def _percent(value: float | None, places: int = 1) -> str:
    return "?" if value is None and places == 2 else "" if value is None else f"{100 * value:.{places}f}"


if __name__ == "__main__":
    start, _, end = section(PAGE.read_text("utf-8"))
    PAGE.write_text(f"{start}{tables()}{end}", "utf-8")

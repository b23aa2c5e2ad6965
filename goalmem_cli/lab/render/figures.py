"""The tables of a report as text cells; the terminal and the page show the same ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

from goalmem_cli.lab.evaluation.metrics.agreement import DIAGNOSTICS, FAULTS
from goalmem_cli.lab.evaluation.metrics.bootstrap import Interval
from goalmem_cli.lab.evaluation.summaries.errors import ErrorClass, measure
from goalmem_cli.lab.evaluation.summaries.pairing import ablations, kind_of
from goalmem_cli.lab.evaluation.summaries.parts import SHOWN_BY_PART
from goalmem_cli.lab.evaluation.summaries.scores import OVER_ALL, TOT
from goalmem_cli.lab.evaluation.summaries.summary import (
    ANSWERS,
    LIMITS,
    PAIRED,
    REASONING,
    SEARCH,
    SUPPORT,
    USAGE,
    Row,
    Summary,
)
from goalmem_cli.lab.render.cells import Figures, Format, Section, amount, difference, heading, heats, label, share
from goalmem_cli.render.text import counted

SHOWN_BY_CATEGORY = (
    "f1", "bleu1", "exact", "judge", "set_precision", "set_recall", "set_f1", "set_accuracy", "answer_f1", "refused",
    "recall@10",
)  # fmt: skip
_EXACT_MATCH = "exact match is SQuAD's, case, punctuation, articles and blanks aside, which HippoRAG 2 counts"
_EXACT_MATCH_OF_TIMES = "exact match is Test of Time's, of values however they are written, which REMem reports"
_STRICT_MATCH = "strict match sets aside case and the blanks around alone, and is in no paper here"
SHOWN_IN_GRIDS = ("f1", "judge", "set_f1", "set_accuracy", "exact")
_HASH = re.compile("[0-9a-f]{32,}")
_DISTRIBUTIONS = {"breadth": "decompositions tried", "depth": "refinements", "subgoals": "subgoals"}

Member = tuple[Summary, Row]


def sections(summaries: Sequence[Summary]) -> list[Section]:
    """Return a section for each dataset, in the order of the summaries."""
    groups: dict[str, list[Summary]] = {}
    for summary in summaries:
        groups.setdefault(summary.manifest.dataset, []).append(summary)
    return [_section(dataset, members) for dataset, members in groups.items()]


def names_of(members: Sequence[Member]) -> list[tuple[str, ...]]:
    """Return the names of each row: reasoner and backbone, then the model if models differ, then the run.

    The run is named only if rows would otherwise have the same names, by the settings in which the runs differ.
    """
    has_models = len({summary.manifest.model for summary, _ in members} - {""}) > 1
    names: list[tuple[str, ...]] = [
        (row.name, row.backbone, summary.manifest.model) if has_models else (row.name, row.backbone)
        for summary, row in members
    ]
    if len(set(names)) == len(names):
        return names
    return [(*name, told) for name, told in zip(names, _told(members), strict=True)]


def _keys_of(members: Sequence[Member]) -> tuple[str, ...]:
    """Return the headings of the columns that `names_of` gives."""
    has_models = len({summary.manifest.model for summary, _ in members} - {""}) > 1
    keys = ("reasoner", "backbone", "model", "run") if has_models else ("reasoner", "backbone", "run")
    return keys[: len(names_of(members)[0])] if members else ()


def _told(members: Sequence[Member]) -> list[str]:
    """Return for each row the settings in which its run differs from the others, as text."""
    told = [
        {
            "digest": manifest.digest[:8],
            **manifest.settings,
            "shard": "/".join(map(str, manifest.shard)),
            "version": manifest.version,
        }
        for manifest in (summary.manifest for summary, _ in members)
    ]
    names = dict.fromkeys(name for each in told for name in each)
    differing = [name for name in names if len({each.get(name, "") for each in told}) > 1]
    return [", ".join(f"{name} {_short(each[name])}" for name in differing if each.get(name)) for each in told]


def _short(value: object) -> object:
    """Return the first eight characters of a hash; any other value unchanged."""
    return value[:8] if isinstance(value, str) and _HASH.fullmatch(value) else value


def in_words(name: tuple[str, ...]) -> str:
    """Return a row's names from `names_of` as one text: ``goal-mem over hybrid``."""
    reasoner, backbone, *model = name
    return ", ".join([f"{reasoner} over {backbone}", *filter(None, model)])


def _section(dataset: str, summaries: Sequence[Summary]) -> Section:
    """Return the section of a dataset: all tables that have figures, and the notes of its runs."""
    members = [(summary, row) for summary in summaries for row in summary.rows]
    makers = (
        _grids,
        _answers,
        _over_all,
        _categories,
        _parts,
        _refusals,
        _errors,
        _recall,
        _chosen_labels,
        _usage,
        _indexing,
        _graphs,
        _distributions,
        _within,
        _reasoning,
        _paired,
        _ablations,
        _judges,
    )
    tables = [table for make in makers for table in make(members) if table.rows and table.columns]
    names = iter([in_words(name) for name in names_of(members)])
    notes = [note for each in summaries for note in _notes(each, list(islice(names, len(each.rows))))]
    return Section(dataset, tuple(tables), tuple(dict.fromkeys(notes)))


def _notes(summary: Summary, names: Sequence[str]) -> Iterator[str]:
    """Yield the notes that qualify a run's figures; `names` are the names of its rows in the tables."""
    manifest = summary.manifest
    yield from (f"repaired in {manifest.dataset}: {count} {what}" for what, count in manifest.repairs.items())
    if manifest.shard[1] > 1:
        yield f"shard {manifest.shard[0]} of {manifest.shard[1]}: part of the questions only"
    for name, row in zip(names, summary.rows, strict=True):
        yield from _row_notes(summary, name, row)
    answering = {row.reasoner for row in summary.rows if not row.queries}
    if answering and manifest.at_once > 1:
        yield f"{manifest.at_once} questions at a time: the seconds of each include its waiting for the others"
    if answering and summary.baseline not in answering:
        yield f"no differences: {summary.baseline} is not in the run"


def _row_notes(summary: Summary, name: str, row: Row) -> Iterator[str]:
    """Yield the notes that qualify a row's figures: what is missing, failed, was left out, or judged by itself."""
    if row.unfinished:
        yield f"{name}: {counted(row.unfinished, 'question')} of {summary.cases} not done yet"
    if row.without_queries:
        yield f"{name}: {counted(row.without_queries, 'question')} without such queries left out"
    if row.unplanned:
        yield f"{name}: {counted(row.unplanned, 'question')} asked with its own words, the plan being unusable"
    if row.failed:
        yield f"{name}: {counted(row.failed, 'question')} failed, and count as refused if they have an answer"
    if row.left_out is not None and row.left_out.mean:
        yield f"{name}: {row.left_out.mean:.1f} hits a question left out for want of tokens (--fact-tokens, --context)"
    if row.unranked:
        yield (
            f"{name}: no evidence recall: {counted(row.unranked, 'answer')} of an earlier goalmem did not keep "
            "the order in which facts were found"
        )
    for judged in row.judged:
        if judged.unscored:
            yield (
                f"{name}: {judged.unscored} of {counted(judged.verdicts, 'verdict')} of {judged.judge} "
                f"({judged.prompt}) could not be read, and count neither as right nor as wrong"
            )
        if judged.is_self_judged:
            yield f"{name}: judged by {judged.judge}, the model that answered"


def _grids(members: Sequence[Member]) -> Iterator[Figures]:
    """Yield a table of backbones by reasoners for each run that has several of both, as in GOAL-MEM's Table 1."""
    for run in dict.fromkeys(id(summary) for summary, _ in members):
        own = [(summary, row) for summary, row in members if id(summary) == run and not row.queries and row.n]
        if len({row.backbone for _, row in own}) < 2 or len({row.reasoner for _, row in own}) < 2:
            continue
        manifest, baseline = own[0][0].manifest, own[0][0].baseline
        of = f"backbones by reasoners{f' ({manifest.model})' if len(names_of(members)[0]) > 2 else ''}"
        note = f"and the difference to {baseline} over the same backbone, paired, 95%"
        for name in SHOWN_IN_GRIDS:
            if any(name in row.metrics for _, row in own):
                yield _grid(f"{heading(name)}, {of}", note, own, partial(_compared, name), name)
        yield _grid(f"Cost of a question, {of}", "calls, prompt tokens", own, _spent)


def _grid(title: str, note: str, members: Sequence[Member], written: Callable[[Row], str], heated: str = "") -> Figures:
    """Return a table with a row per backbone and a column per reasoner; the metric `heated` gives the heat map."""
    cells = {(row.backbone, row.reasoner): row for _, row in members}
    names = list(dict.fromkeys(row.backbone for _, row in members))
    columns = tuple(dict.fromkeys(row.reasoner for _, row in members))
    found = [[cells.get((name, column)) for column in columns] for name in names]
    rows = [
        ((name,), tuple("" if row is None else written(row) for row in line))
        for name, line in zip(names, found, strict=True)
    ]
    means = [
        [None if row is None or heated not in row.metrics else row.metrics[heated].mean for row in line]
        for line in found
    ]
    return Figures(title, ("backbone",), columns, tuple(rows), note, heats(means))


def _compared(metric: str, row: Row) -> str:
    figure, apart = row.metrics.get(metric), row.paired.get(metric)
    if figure is None:
        return ""
    return f"{figure.mean:.3f}" if apart is None else f"{figure.mean:.3f} {difference(apart)}"


def _spent(row: Row) -> str:
    calls, tokens = row.usage.get("calls"), row.usage.get("prompt_tokens")
    return "" if calls is None or tokens is None else f"{calls.mean:,.1f}, {tokens.mean:,.0f}"


def _indexing(members: Sequence[Member]) -> Iterator[Figures]:
    """Yield the table of the cost of building each backbone."""
    columns = ("calls", "tokens read", "of them cached", "written", "tokens a question", "seconds", "peak memory")
    rows: dict[tuple[str, ...], tuple[str, ...]] = {}
    for (_, *name), (summary, row) in zip(names_of(members), members, strict=True):
        if (used := row.indexing).calls:
            tokens = (used.prompt_tokens, used.cached_tokens, used.completion_tokens)
            share_of_one = (used.prompt_tokens + used.completion_tokens) / max(1, summary.cases)
            cells = (f"{used.calls:,}", *(f"{each:,}" for each in tokens), f"{share_of_one:,.0f}")
            rows[tuple(name)] = (*cells, f"{used.seconds:,.1f}", _gigabytes(row))
    note = "all conversations, once; the memory is that of the process, with a model that runs in it"
    yield Figures("Cost of indexing", _keys_of(members)[1:], columns, tuple(rows.items()), note)


def _gigabytes(row: Row) -> str:
    return f"{row.grown.peak / 1e9:.1f} GB" if row.grown is not None and row.grown.peak else ""


def _graphs(members: Sequence[Member]) -> Iterator[Figures]:
    """Yield the table of the sizes of structured backbones' graphs (REMem, Table 22)."""
    rows: dict[tuple[str, ...], tuple[str, ...]] = {}
    for (_, *name), (_, row) in zip(names_of(members), members, strict=True):
        if (grown := row.grown) is None:
            continue
        for kind, n in grown.counts.units.items():
            ends = grown.counts.ends.get(kind, {})
            by_edge = ", ".join(f"{edge} {count / n:,.1f}" for edge, count in ends.items()) if n else ""
            degree = f"{grown.counts.degrees.get(kind, 0):,.1f}"
            rows[(*name, f"{kind}, nodes")] = (
                f"{n / grown.graphs:,.1f}",
                f"{degree} ({by_edge})" if by_edge else degree,
            )
        for kind, n in grown.counts.edges.items():
            rows[(*name, f"{kind}, edges")] = (f"{n / grown.graphs:,.1f}", "")
    keys = (*_keys_of(members)[1:], "kind")
    note = "a graph is what one question may see; mean degrees count the ends of edges, by kind of edge in brackets"
    yield Figures("Size of the graphs", keys, ("in a graph", "mean degree"), tuple(rows.items()), note)


def _answers(members: Sequence[Member]) -> Iterator[Figures]:
    """Yield the table of the scores of answers."""
    names = [name for name in ANSWERS if any(name in row.metrics for _, row in members)]
    judges = dict.fromkeys(f"{each.judge[0]} ({each.judge[1]})" for each, _ in members if each.judge is not None)
    is_of_times = any(summary.manifest.format == TOT for summary, _ in members)
    said = [_EXACT_MATCH_OF_TIMES if is_of_times else _EXACT_MATCH, _STRICT_MATCH] if "exact" in names else []
    said += [f"judged by {', '.join(judges)}"] if judges else []
    columns = {label(name): [row.metrics.get(name) for _, row in members] for name in names}
    yield _intervals("Answers", members, columns, share, "; ".join(said))


def _over_all(members: Sequence[Member]) -> Iterator[Figures]:
    columns = {label(name): [row.metrics.get(name) for _, row in members] for name in OVER_ALL}
    note = "with the unanswerable ones, where a refusal is right and all else wrong, as REMem's tables have it"
    yield _intervals("Answers, over all questions", members, columns, share, note)


def _categories(members: Sequence[Member]) -> Iterator[Figures]:
    """Yield a table for each metric that is shown by category."""
    codes = {code: name for summary, _ in members for code, name in summary.categories.items()}
    for metric in SHOWN_BY_CATEGORY:
        columns = {
            name: [row.by_category[code].metrics.get(metric) if code in row.by_category else None for _, row in members]
            for code, name in codes.items()
        }
        yield _intervals(f"{heading(metric)} by category", members, columns, share)


def _parts(members: Sequence[Member]) -> Iterator[Figures]:
    """Yield a table for each division of the questions, with a line for each row and part."""
    for title in dict.fromkeys(title for _, row in members for title in row.by_part):
        parts = [
            ((*key, name), part)
            for key, (_, row) in zip(names_of(members), members, strict=True)
            for name, part in row.by_part.get(title, {}).items()
        ]
        there = [name for name in SHOWN_BY_PART if any(name in part.metrics for _, part in parts)]
        rows = [
            (key, (str(part.n), *(share(part.metrics[name]) if name in part.metrics else "" for name in there)))
            for key, part in parts
        ]
        columns = ("questions", *(label(name).replace(", ", "\n") for name in there))
        table = _table(f"By {title}", members, columns, rows)
        yield Figures(table.title, (*table.keys, title.split()[0]), table.columns, table.rows)


def _refusals(members: Sequence[Member]) -> Iterator[Figures]:
    """Yield the table of how well refusals match the unanswerable questions."""
    rows = []
    for name, (_, row) in zip(names_of(members), members, strict=True):
        if row.refusal is not None:
            found = row.refusal
            shares = ("" if each is None else f"{each:.3f}" for each in (found.precision, found.recall, found.f1))
            rows.append((name, (*shares, str(found.refused), str(found.unanswerable))))
    columns = ("precision", "recall", "F1", "refused", "unanswerable")
    yield _table("Refusal", members, columns, rows, "saying that memory does not tell, where that is right")


def _errors(members: Sequence[Member]) -> Iterator[Figures]:
    """Yield the table of wrong answers by class of error."""
    there = [kind for kind in ErrorClass if any(kind in row.errors for _, row in members)]
    rows = []
    for name, (_, row) in zip(names_of(members), members, strict=True):
        if wrong := sum(row.errors.values()):
            counts = [row.errors.get(kind, 0) for kind in there]
            rows.append((name, (str(wrong), *(f"{count} ({count / wrong:.0%})" for count in counts))))
    note = "answers that are not right, each in one class, and its share of them"
    yield _table("Errors", members, ("wrong", *(kind.replace(", ", "\n") for kind in there)), rows, note)


def _recall(members: Sequence[Member]) -> Iterator[Figures]:
    depths = sorted({k for _, row in members for k in row.recall})
    columns = {f"@{k}": [row.recall.get(k) for _, row in members] for k in depths}
    note = "share of the evidence among the first k units; answerable questions with evidence"
    yield _intervals("Evidence recall", members, columns, share, note)


def _chosen_labels(members: Sequence[Member]) -> Iterator[Figures]:
    """Yield the tables of how labels chosen for questions fit the evidence's, and of their faults (STITCH, D)."""
    rows = [
        (key, tuple(f"{spread.mean:.2f} ± {spread.deviation:.2f}" for spread in row.labels.values()))
        for key, (_, row) in zip(names_of(members), members, strict=True) if row.labels
    ]  # fmt: skip
    note = (
        "mean and standard deviation over conversations; shares of questions, or of the evidence or the labels chosen"
    )
    yield _table("Labels chosen for questions", members, tuple(DIAGNOSTICS.values()), rows, note)
    columns = {called: [row.faults.get(name) for _, row in members] for name, called in FAULTS.items()}
    note = "share of the choices judged: the labels of a kind for a wrongly answered question"
    yield _intervals("Faults of the labels chosen", members, columns, share, note)


def _usage(members: Sequence[Member]) -> Iterator[Figures]:
    columns = {label(name): [row.usage.get(name) for _, row in members] for name in USAGE}
    yield _intervals("Cost of a question", members, columns, amount)


def _distributions(members: Sequence[Member]) -> Iterator[Figures]:
    """Yield a table for each of breadth, depth and subgoals: how many questions had which value."""
    for name in SEARCH:
        values = sorted({value for _, row in members for value in row.distributions.get(name, {})})
        rows = []
        for key, (_, row) in zip(names_of(members), members, strict=True):
            if counts := row.distributions.get(name):
                total = sum(counts.values())
                rows.append(
                    (key, tuple(f"{counts.get(each, 0)} ({counts.get(each, 0) / total:.0%})" for each in values))
                )
        yield _table(f"Realised {name}", members, tuple(map(str, values)), rows, f"questions by {_DISTRIBUTIONS[name]}")


def _within(members: Sequence[Member]) -> Iterator[Figures]:
    """Yield a table of right answers for each limit of depth or breadth."""
    for name in LIMITS:
        limits = sorted({limit for _, row in members for limit in row.within.get(name, {})})
        columns = {f"{limit}": [row.within.get(name, {}).get(limit) for _, row in members] for limit in limits}
        names = dict.fromkeys(measure(one.manifest.format, row.metrics) for one, row in members if row.within)
        note = f"right answers ({', '.join(map(label, names))}), where one that was settled later counts as wrong"
        yield _intervals(f"Right within {name}", members, columns, share, note)


def _reasoning(members: Sequence[Member]) -> Iterator[Figures]:
    """Yield the tables of the comparison with gold plans, and of bindings by their support."""
    columns = {label(name): [row.reasoning.get(name) for _, row in members] for name in REASONING}
    yield _intervals("Reasoning, against the gold plans", members, columns, share)
    rows = [
        (key, tuple(str(row.support.get(name, 0)) for name in SUPPORT))
        for key, (_, row) in zip(names_of(members), members, strict=True)
        if row.support
    ]
    yield _table("Bindings by their support", members, SUPPORT, rows)


def _paired(members: Sequence[Member]) -> Iterator[Figures]:
    """Yield a table of the differences to each baseline."""
    for baseline in dict.fromkeys(summary.baseline for summary, _ in members):
        chosen = [(summary, row) for summary, row in members if summary.baseline == baseline]
        columns = {label(name): [row.paired.get(name) for _, row in chosen] for name in PAIRED}
        note = "mean difference, question by question, over the same backbone"
        yield _intervals(f"Compared with {baseline}", chosen, columns, difference, note)


def _ablations(members: Sequence[Member]) -> Iterator[Figures]:
    for whole, apart in ablations(members).items():
        columns = {label(name): [apart.get(at, {}).get(name) for at in range(len(members))] for name in PAIRED}
        title = f"{kind_of(members[at] for at in apart)} of {in_words(names_of(members)[whole])}"
        yield _intervals(title, members, columns, difference, "mean difference, question by question")


def _judges(members: Sequence[Member]) -> Iterator[Figures]:
    """Yield the table of judges: accuracy, verdicts, unreadable ones, and tokens."""
    rows = [
        (
            (*key, f"{judged.judge}, {judged.prompt}{', itself' if judged.is_self_judged else ''}"),
            (
                share(judged.accuracy) if judged.accuracy is not None else "",
                str(judged.verdicts),
                str(judged.unscored),
                *(_tokens(judged.usage.prompt_tokens), _tokens(judged.usage.completion_tokens)),
            ),
        )
        for key, (_, row) in zip(names_of(members), members, strict=True)
        for judged in row.judged
    ]
    table = _table("Judges", members, ("right", "verdicts", "unscored", "tokens read", "written"), rows)
    yield Figures(table.title, (*table.keys, "judge"), table.columns, table.rows)


def _tokens(number: int) -> str:
    """Return a number of tokens as text, or "" if it is 0 because the run did not record it."""
    return f"{number:,}" if number else ""


def _intervals(
    title: str,
    members: Sequence[Member],
    columns: Mapping[str, Sequence[Interval | None]],
    written: Format,
    note: str = "",
) -> Figures:
    """Return a table of figures with intervals; columns and rows without figures are left out."""
    kept = {name: cells for name, cells in columns.items() if any(cell is not None for cell in cells)}
    rows = [
        (name, tuple("" if (cell := cells[place]) is None else written(cell) for cells in kept.values()))
        for place, name in enumerate(names_of(members))
        if any(cells[place] is not None for cells in kept.values())
    ]
    headings = tuple(f"{name}\n{_questions(cells)}" for name, cells in kept.items())
    return _table(title, members, headings, rows, note)


def _questions(cells: Iterable[Interval | None]) -> str:
    """Return the number of questions behind a column: ``n=150``, or ``n=148-150`` if rows differ."""
    counts = [cell.n for cell in cells if cell is not None]
    return f"n={min(counts)}" if min(counts) == max(counts) else f"n={min(counts)}-{max(counts)}"


def _table(
    title: str,
    members: Sequence[Member],
    columns: tuple[str, ...],
    rows: Iterable[tuple[tuple[str, ...], tuple[str, ...]]],
    note: str = "",
) -> Figures:
    return Figures(title, _keys_of(members), columns, tuple(rows), note)

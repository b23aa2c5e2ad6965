"""Generate the questions of a file and write them row by row in the benchmarks' forms."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from goalmem_cli.errors import UsageError
from goalmem_cli.lab.bench.sums.questions import Sum
from goalmem_cli.lab.bench.sums.story import Story
from goalmem_cli.lab.bench.tot.arithmetic import carried
from goalmem_cli.lab.bench.tot.graphs import MOST_NODES, NAMED, NAMELESS, Span, Told, timed_graphs
from goalmem_cli.lab.bench.tot.questions import COMPLEX, SEMANTIC, chosen
from goalmem_cli.store.files import reporting
from goalmem_cli.transcripts.readers.statements import EVIDENCE

HINT = "check the folder's permissions and the free space, or name another folder"
TOT, ARITHMETIC, COMPLEX_TR = "tot", "arithmetic", "complex-tr"
FILES = {TOT: "tot_semantic.jsonl", ARITHMETIC: "tot_arithmetic.jsonl", COMPLEX_TR: "complex_tr.jsonl"}
"""The forms and their file names."""

_BARREN = 100  # give up after so many graphs in a row without a question
_SORTINGS: Mapping[str, Callable[[Span], tuple[int, ...]]] = {
    "start_time": lambda span: (span.first,),
    "start_time_and_target": lambda span: (span.first, span.object),
    "relation_and_start_time": lambda span: (span.relation, span.first),
    "target_and_start_time": lambda span: (span.object, span.first),
}
_SHUFFLED = "shuffle"
_INTRODUCTION = "The facts below go in one direction only. Reply with JSON that has the fields explanation and answer."


@dataclass(frozen=True, slots=True)
class Asked:
    """A generated question, its story of statements, and its row in the benchmark's form."""

    story: Story
    question: Sum
    row: Mapping[str, object]


def made_up(form: str, count: int, algorithms: Sequence[str], nodes: int, seed: int = 0) -> Iterator[Asked]:
    """Yield exactly `count` questions, one of each type that a graph allows, graph after graph.

    Equal arguments give equal results. Arithmetic questions need no graph.

    Raises:
        UsageError: networkx is not installed, there is no such algorithm, or such graphs give no questions.
    """
    if form == COMPLEX_TR and nodes > MOST_NODES:
        raise UsageError(f"there are names for {MOST_NODES} nodes, not for {nodes}", "give fewer --nodes")
    yield from islice(_arithmetic(seed) if form == ARITHMETIC else _of_graphs(form, algorithms, nodes, seed), count)


def _of_graphs(form: str, algorithms: Sequence[str], nodes: int, seed: int) -> Iterator[Asked]:
    style, asks, row = (NAMELESS, SEMANTIC, _semantic) if form == TOT else (NAMED, COMPLEX, _complex)
    barren = 0
    for graph in timed_graphs(algorithms, nodes, seed):
        chance = random.Random(f"{form} {seed} {graph.number} questions")  # noqa: S311 - the same each time
        told = Told(graph, style, seed)
        found = chosen(told, asks, chance)
        for place, question in enumerate(found):
            yield Asked(told.story, question, row(told, question, place, chance) | _evidence(told.story, question))
        barren = 0 if found else barren + 1
        if barren == _BARREN:
            raise UsageError(f"{barren} graphs of {nodes} nodes gave no question", "give more --nodes")


def _arithmetic(seed: int) -> Iterator[Asked]:
    for story, one in carried(seed):
        question = one.question
        row: dict[str, object] = {"question": question.text, "question_type": question.type, "label": one.label}
        yield Asked(story, question, row | (_evidence(story, question) if question.groundings else {}))


def write_rows(out: Path, form: str, asked: Iterable[Asked]) -> Iterator[Asked]:
    """Write each question's row to the form's file in the folder, and yield the question once it is written.

    Raises:
        StoreError: it cannot be written.
    """
    path = out / FILES[form]
    with reporting(path, HINT):
        out.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for one in asked:
                file.write(f"{json.dumps(one.row, ensure_ascii=False)}\n")
                yield one


def _semantic(told: Told, question: Sum, place: int, chance: random.Random) -> dict[str, object]:  # noqa: ARG001
    sorting = chance.choice((*_SORTINGS, _SHUFFLED))
    spans = list(told.statements)
    if sorting == _SHUFFLED:
        chance.shuffle(spans)
    else:
        spans.sort(key=_SORTINGS[sorting])
    facts = "\n".join(told.statements[span] for span in spans)
    return {
        "question": question.text,
        "graph_gen_algorithm": told.graph.algorithm,
        "question_type": question.type,
        "sorting_type": sorting,
        "prompt": f"{_INTRODUCTION}\n\nFacts:\n{facts}\n\nQuestion: {question.text}",
        "label": ", ".join(question.answer),
    }


def _complex(told: Told, question: Sum, place: int, chance: random.Random) -> dict[str, object]:  # noqa: ARG001
    facts = list(told.statements.values())
    return {
        "id": f"{question.type}_{told.story.name}_{place}",
        "question": question.text,
        "fact_context": "\n".join(facts),
        "context": " ".join(facts),
        "text_answers": {"text": list(question.answer)},
    }


def _evidence(story: Story, question: Sum) -> dict[str, list[str]]:
    """Return the statements that the gold groundings cite."""
    texts = {turn.label: turn.text for turn in story.turns}
    return {EVIDENCE: [texts[label] for label in dict.fromkeys(gold.turn for gold in question.groundings)]}

"""Read the questions of MuSiQue, 2WikiMultihopQA and HotpotQA; each is asked about the paragraphs of all rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.questions import UNTYPED, Repair, answer_from_node, settled
from goalmem_cli.transcripts.readers.multihop import Multihop, paragraphs_of
from goalmem_cli.transcripts.readers.statements import rows
from goalmem_cli.transcripts.reading.nodes import Node
from goalmem_cli.transcripts.reading.source import Source

CATEGORIES: Mapping[str, Mapping[str, str]] = {
    "musique": {
        "2hop": "2 hops", "3hop1": "3 hops, shape 1", "3hop2": "3 hops, shape 2",
        "4hop1": "4 hops, shape 1", "4hop2": "4 hops, shape 2", "4hop3": "4 hops, shape 3",
    },
    "2wiki": {
        "compositional": "compositional", "comparison": "comparison", "inference": "inference",
        "bridge_comparison": "bridge comparison",
    },
    "hotpotqa": {"bridge": "bridge", "comparison": "comparison"},
}  # fmt: skip
"""MuSiQue's are the shapes with which its ids begin (`3hop1__...`), the others' those in `type`."""


def read_cases(benchmark: Multihop, source: Source, repairs: Counter[str]) -> Iterator[Case]:
    """Yield the questions. The evidence of one is the paragraphs that its answer needs.

    MuSiQue-Full asks each question again without one of these. Those rows are left out: all rows are one conversation,
    so the paragraph is there, and the answer too.

    Raises:
        InputError: the text is not JSON. A row with another layout, or with the id of an earlier row, is skipped if the
            source allows it.
    """
    ids: set[str] = set()

    def read(row: Node) -> Iterator[Case]:
        if row.child("answerable").value is False:
            repairs[Repair.ASKED_AGAIN] += 1
            return
        case = _case(row, benchmark, repairs)
        if case.id in ids:
            raise row.child(benchmark.id).error("is the id of an earlier row")
        ids.add(case.id)
        yield case

    return source.readable(rows(source), read)


def _case(row: Node, benchmark: Multihop, repairs: Counter[str]) -> Case:
    """Return a row's question, and count repairs; raises InputError if the row has another layout."""
    paragraphs = paragraphs_of(row, benchmark)
    name = row.required(benchmark.id).filled_text()
    answers = _answers(row, repairs)
    shape = name.partition("__")[0] if "__" in name else ""
    return Case(
        id=name,
        conversation=benchmark.name,
        question=row.required("question").filled_text(),
        answer=answers[0],
        evidence=settled((one.label for one in paragraphs if one.is_supporting), repairs),
        category=row.child("type").optional_text() or shape or UNTYPED,
        accepted=answers[1:],
    )


def _answers(row: Node, repairs: Counter[str]) -> tuple[str, ...]:
    """Return the answer and the other ways to write it, each once.

    Raises:
        InputError: there is no answer.
    """
    given, others = row.required("answer"), row.child("answer_aliases")
    nodes = given.elements() if isinstance(given.value, list) else [given]
    nodes += others.elements() if others.value is not None else []
    answers = tuple(dict.fromkeys(answer for node in nodes if (answer := answer_from_node(node, repairs))))
    if not answers:
        raise given.error("names no answer")
    return answers

"""Reads the benchmarks of questions over several Wikipedia paragraphs: MuSiQue, 2WikiMultihopQA and HotpotQA.

The paragraphs of all rows, each once, are one conversation, as REMem and HippoRAG 2 use them (REMem, Table 14).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from goalmem_cli.records import content_hash
from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.readers.statements import rows
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.nodes import Node
from goalmem_cli.transcripts.reading.source import Source

SPEAKER = "Wikipedia"
"""The speaker of all paragraphs."""
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Multihop:
    """A benchmark's names for things: the keys that each row has, and the key of the row's id.

    With `in_pairs`, a row's `context` lists titles with sentences, and `supporting_facts` the titles that the answer
    needs. Otherwise `paragraphs` are objects, and `is_supporting` marks those.
    """

    name: str
    sign: str
    marks: tuple[str, ...]
    id: str = "_id"
    in_pairs: bool = True


BENCHMARKS = (
    Multihop("musique", "questions of MuSiQue with `paragraphs`", ("question", "paragraphs"), "id", in_pairs=False),
    Multihop(
        "2wiki", "questions of 2WikiMultihopQA with `context` and `evidences`", ("question", "context", "evidences")
    ),
    Multihop("hotpotqa", "questions of HotpotQA with `context` and `level`", ("question", "context", "level")),
)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, and whether the row's answer needs it. Paragraphs with the same label are the same."""

    text: str
    is_supporting: bool

    @property
    def label(self) -> str:
        """The label of the turn."""
        return content_hash(self.text)[:_DIGITS]


class MultihopReader(RecordReader):
    """Reads the paragraphs of all rows as one conversation: a turn each, below its title, in a session of its own."""

    suffixes = (".json", ".jsonl", ".ndjson")

    def __init__(self, benchmark: Multihop) -> None:
        self.name, self.sign = benchmark.name, benchmark.sign
        self._benchmark = benchmark

    def _drafts(self, source: Source) -> Iterator[Draft]:
        told: dict[str, int] = {}

        def messages(row: Node) -> Iterator[Message]:
            for paragraph in paragraphs_of(row, self._benchmark):
                if (label := paragraph.label) not in told:
                    told[label] = len(told)
                    yield Message(SPEAKER, paragraph.text, own_id=label, session=told[label])

        return Draft(self.name).fill(source.readable(rows(source), messages))

    def _is_meant(self, row: Node) -> bool:
        return all(map(row.has, self._benchmark.marks))


def paragraphs_of(row: Node, benchmark: Multihop) -> list[Paragraph]:
    """Return the paragraphs of a row.

    Raises:
        InputError: it has none, or they are not as the benchmark writes them.
    """
    if not benchmark.in_pairs:
        listed = row.required("paragraphs")
        found = [_paragraph(each) for each in listed.elements()]
    else:
        listed = row.required("context")
        named = row.child("supporting_facts")
        wanted = {_pair(each)[0].text() for each in named.elements()} if named.value is not None else set()
        found = [_titled(title, sentences, wanted) for title, sentences in map(_pair, listed.elements())]
    if not found:
        raise listed.error("holds no paragraph")
    return found


def _paragraph(one: Node) -> Paragraph:
    text = one.child("paragraph_text" if one.has("paragraph_text") else "text").filled_text()
    return Paragraph(f"{one.required('title').text()}\n{text}", one.child("is_supporting").value is True)


def _titled(title: Node, sentences: Node, wanted: set[str]) -> Paragraph:
    text = " ".join(sentence for each in sentences.elements() if (sentence := each.text()))
    return Paragraph(f"{title.text()}\n{text}", title.text() in wanted)


def _pair(node: Node) -> tuple[Node, Node]:
    found = node.elements()
    if len(found) != 2:
        raise node.error(f"expected a title and one more value, found {len(found)}")
    return found[0], found[1]

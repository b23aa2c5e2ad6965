"""A model that replies with gold structure, as if a structured backbone's model never misread anything.

So structured backbones are tested without a model. The content of each turn comes from gold plans. There are no gold summaries;
the first words of everything to summarise serve instead.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from goalmem_cli.lab.bench.changes.measuring import gold_reply
from goalmem_cli.model_replies import in_one_line
from goalmem_cli.ports import Completion, Request
from goalmem_cli.records import Turn

SUMMARY_WORDS = 75
_LINE = re.compile(r"^(T\d+)\. (.*) \[(?:said |nobody knows)", re.MULTILINE)
_ITEM = re.compile(r"^- (.*)$", re.MULTILINE)
_EXCHANGE = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)
_TERM = re.compile(r"\(([^()]*)\)")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement: its text and the names in it, in order."""

    text: str
    names: tuple[str, ...]

    @property
    def triple(self) -> tuple[str, str, str]:
        """The first name, the words between, and the last name."""
        first, last = self.names[0], self.names[-1]
        between = self.text.partition(first)[2].rpartition(last)[0]
        return first, in_one_line(between) or "is", last


def gold_statements(
    subgoals: Iterable[tuple[str, Mapping[str, str], Sequence[str]]],
) -> dict[str, list[Statement]]:
    """Return the statements of gold plans' subgoals by the label of the first turn that grounds each.

    A subgoal is its text, its variables' values, and the labels of its turns.
    """
    told: dict[str, list[Statement]] = {}
    for text, bindings, turns in subgoals:
        statement = filled_in(text, bindings)
        if turns and len(set(statement.names)) > 1:
            told.setdefault(turns[0], []).append(statement)
    return told


def filled_in(text: str, bindings: Mapping[str, str]) -> Statement:
    """Return a subgoal as a statement with its variables replaced by their values."""
    names = []

    def said(match: re.Match[str]) -> str:
        name, _, _ = match[1].partition(":")
        names.append(in_one_line(bindings.get(name.strip(), name)))
        return names[-1]

    return Statement(_TERM.sub(said, text), tuple(name for name in names if name))


class GoldModel:
    """Replies to the steps of backbones from `secom` to `graphiti`, with full prompts.

    Gold structure has no segments, decisions, links or causes. So a session is one segment, everything is new to
    `mem0`, `mem0-graph` and `graphiti`, nothing is connected in `a-mem`, and nothing is a cause in `magma`.
    """

    def __init__(self, statements: Mapping[str, Sequence[Statement]], turns: Iterable[Turn]) -> None:
        """Take the statements by label, and the turns, which a prompt shows by speaker and text."""
        self._statements = statements
        self._label = {_shown(turn): turn.label for turn in turns}
        self._steps: Mapping[str, Callable[[Request], object]] = {
            "secom_segments": lambda _: {"starts": ["0"]},
            "raptor_summary": lambda request: {"summary": _summed_up(_ITEM.findall(request.growing))},
            "memtree_aggregate": lambda request: {
                "summary": _summed_up([_after(request.growing, "So far: "), _after(request.tail, "New message: ")])
            },
            "hipporag_names": self._names,
            "hipporag_triples": self._triples,
            "hipporag_recognise": lambda request: {"facts": [place for place, _ in _EXCHANGE.findall(request.growing)]},
            "graphrag_extract": self._graph,
            "graphrag_glean": lambda _: {"entities": [], "relationships": []},
            "graphrag_describe": lambda request: {"description": "; ".join(_ITEM.findall(request.growing))[:2000]},
            "graphrag_report": _report,
            "mem0_facts": lambda request: {"facts": [told.text[:240] for _, told in self._told(request)][:16]},
            "mem0_decide": lambda _: {"acts": []},
            "mem0_entities": self._named,
            "mem0_relations": lambda request: {"triples": self._triples(request)["triples"][:24]},
            "mem0_conflicts": lambda _: {"acts": []},
            "magma_links": self._linked,
            "amem_note": self._note,
            "amem_evolve": lambda _: {"acts": []},
            "amem_keywords": lambda request: {"keywords": _after(request.growing, "Question: ")[:200]},
            "graphiti_entities": lambda request: {"names": self._names(request)["names"][:24]},
            "graphiti_facts": self._facts,
            "graphiti_dates": lambda _: {"valid_at": "", "invalid_at": ""},
            "graphiti_resolve": lambda _: {"acts": []},
            "graphiti_decide": lambda _: {"acts": []},
            "graphiti_merge": lambda request: {"summary": _summed_up(_ITEM.findall(request.growing))},
            "graphiti_title": lambda request: {"title": _after(request.growing, "Summary: ")[:120]},
        }

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the gold replies.

        Raises:
            ModelError: there is no reply for the step.
        """
        return [Completion(gold_reply(self._steps, request)) for request in requests]

    def _told(self, request: Request) -> list[tuple[str, Statement]]:
        """Return (line label, statement) for everything that the lines of a request tell."""
        return [
            (number, statement)
            for number, line in _LINE.findall(request.growing)
            for statement in self._statements.get(self._label.get(line, ""), ())
        ]

    def _note(self, request: Request) -> object:
        line = re.sub(r" \[\d{4}-\d\d-\d\d\]$", "", request.growing.strip().split("\n")[-1])
        told = self._statements.get(self._label.get(line, ""), ())
        names = dict.fromkeys(name[:60] for statement in told for name in statement.names)
        context = "; ".join(statement.text for statement in told)[:300]
        return {"keywords": list(names)[:8], "context": context or "nothing", "tags": []}

    def _linked(self, request: Request) -> object:
        line = re.sub(r" \[\d{4}-\d\d-\d\d\]$", "", _after(request.tail, "New message: "))
        told = self._statements.get(self._label.get(line, ""), ())
        names = dict.fromkeys(name[:80] for statement in told for name in statement.names)
        return {"entities": list(names)[:16], "causal": []}

    def _named(self, request: Request) -> object:
        """Return the names in the lines, or those in the question."""
        known = {name for told in self._statements.values() for each in told for name in each.names}
        line = request.growing.strip().split("\n")[-1].casefold()
        asked = sorted(name for name in known if name.casefold() in line)
        names = [name for _, statement in self._told(request) for name in statement.names]
        return {"names": [name[:80] for name in dict.fromkeys(names or asked)][:32]}

    def _names(self, request: Request) -> dict[str, list[str]]:
        names = [name[:80] for _, statement in self._told(request) for name in statement.names]
        return {"names": list(dict.fromkeys(names))[:48]}

    def _triples(self, request: Request) -> dict[str, list[object]]:
        triples: list[object] = []
        for number, statement in self._told(request)[:48]:
            subject, predicate, thing = statement.triple
            triples.append(
                {"turns": [number], "subject": subject[:80], "predicate": predicate[:60], "object": thing[:120]}
            )
        return {"triples": triples}

    def _facts(self, request: Request) -> object:
        facts = [
            {
                "turns": [number], "source": statement.names[0][:80], "target": name[:80], "relation": "RELATED",
                "fact": statement.text[:240], "valid_at": "", "invalid_at": "",
            }
            for number, statement in self._told(request)
            for name in [each for each in dict.fromkeys(statement.names) if each != statement.names[0]][:1]
        ]  # fmt: skip
        return {"facts": facts[:24]}

    def _graph(self, request: Request) -> object:
        told = self._told(request)
        entities = [
            {"turns": [number], "name": name[:80], "type": "event", "description": statement.text[:240]}
            for number, statement in told
            for name in dict.fromkeys(statement.names)
        ]
        relations = [
            {
                "turns": [number], "source": statement.names[0][:80], "target": name[:80],
                "description": statement.text[:240], "strength": 5,
            }
            for number, statement in told
            for name in dict.fromkeys(statement.names[1:])
        ]  # fmt: skip
        return {"entities": entities[:32], "relationships": relations[:32]}


def _report(request: Request) -> object:
    lines = _ITEM.findall(request.growing)
    told = {"title": lines[0].partition(":")[0][:120] or "report", "summary": " ".join(lines)[:800], "rating": 5}
    return {**told, "findings": [], "rating_explanation": ""}


def _summed_up(texts: Sequence[str]) -> str:
    """Return the first words of each text, up to the length of a summary in total."""
    each = max(3, SUMMARY_WORDS // max(1, len(texts)))
    return " ".join(word for text in texts for word in text.split()[:each])[:1000]


def _after(text: str, mark: str) -> str:
    return text.partition(mark)[2].split("\n")[0]


def _shown(turn: Turn) -> str:
    return f"{in_one_line(turn.speaker)}: {in_one_line(turn.text)}"

"""A small dataset, and the parts to measure it with, for tests of runs."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from goalmem_cli.lab.evaluation.cases import Case, Dataset, GoldPlan, GoldStep
from goalmem_cli.lab.evaluation.runs.run import Manifest
from goalmem_cli.lab.evaluation.runs.runner import Memory
from goalmem_cli.records import Conversation, Question
from goalmem_cli.store import Store
from goalmem_cli.testing import HashEmbedder
from goalmem_cli.trace import Action, Status, Stop, Trace
from tests.reasoners.scripting import chat

TEA = chat(
    "Ana: I ordered jasmine tea.", "Ben: I had a coffee.", "--", "Ana: My bike was stolen.", conversation="tea-01"
)
CUP = chat("Cem: The cup is blue.", "Dee: I ordered a red one.", conversation="tea-02")
PLAN = GoldPlan(
    "(Ana) ordered (x:drink)", ("x",), (GoldStep("(Ana) ordered (x:drink)", ("D1:1",), {"x": "jasmine tea"}),)
)
CASES = (
    Case("tea-01/1", "tea-01", "What did Ana order?", "jasmine tea", ("D1:1",), "4", domain="tea", plan=PLAN),
    Case("tea-01/2", "tea-01", "What was stolen?", "a bike", ("D2:3",), "4", domain="tea"),
    Case("tea-01/3", "tea-01", "Who drank coffee?", "Ben", ("D1:2",), "1", domain="tea"),
    Case("tea-01/4", "tea-01", "What did Ana sell?", None, ("D1:1",), "5", is_unanswerable=True, domain="tea"),
    Case("tea-02/1", "tea-02", "Which colour is the cup?", "blue", ("D1:1",), "4", domain="tea"),
)


def dataset() -> Dataset:
    """Return five questions on two conversations of one domain, with the same turn labels."""

    def conversations(names: Collection[str]) -> Iterator[Conversation]:
        for turns in (TEA, CUP):
            if turns[0].conversation in names:
                yield Conversation(turns[0].conversation, "locomo", tuple(turns))

    names = {"1": "multi-hop", "4": "single-hop", "5": "adversarial"}
    return Dataset("tea", "locomo", "d1", CASES, names, {}, conversations)


def manifest(**changes: object) -> Manifest:
    """Return what a run over the dataset measures."""
    fields: dict[str, object] = {
        "dataset": "tea", "format": "locomo", "digest": "d1", "sources": ("tea.json",), "reasoners": ("echo",),
        "backbones": ("hybrid",), "model": "scripted", "categories": dataset().categories, "repairs": {},
        "settings": {"budget": "60"}, "prompts": {"read": "p1"}, "version": "1",
    }  # fmt: skip
    return Manifest(**(fields | changes))  # type: ignore[arg-type]


def memory(folder: Path, *, by_domain: bool = False, cases: Sequence[Case] = CASES) -> Memory:
    """Return the dataset's conversations in a real store."""
    filled = Memory(Store(folder, HashEmbedder(), announce=lambda _: None), dataset(), cases, by_domain=by_domain)
    filled.fill()
    return filled


class Echo:
    """A reasoner that answers with the question's first word, and counts how often it was asked each."""

    def __init__(self, stops_at: int | None = None) -> None:
        self.asked: list[str] = []
        self._stops_at = stops_at

    def answer(self, question: Question) -> Trace:
        """Answer, or be interrupted."""
        if self._stops_at is not None and len(self.asked) == self._stops_at:
            raise KeyboardInterrupt
        self.asked.append(question.text)
        return Trace(
            Status.ANSWERED, "echo", question.text, datetime(2023, 5, 1), answer=question.text.split()[0],
            actions=(Action("read", (("answer", question.text.split()[0]),)),), stopped=Stop.ONE_ROUND,
        )  # fmt: skip

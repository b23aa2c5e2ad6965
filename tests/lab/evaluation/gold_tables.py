"""Made-up data of each benchmark of the papers' tables, and a model that replies to everything by their gold answers."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from goalmem_cli.lab.evaluation.cases import Case, GoldPlan, GoldStep
from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
from goalmem_cli.ports import JsonShape, Request
from goalmem_cli.reasoners.showing import lines_shown
from goalmem_cli.records import Turn
from goalmem_cli.testing import ScriptedModel
from tests.backbones.replies import AnyReply
from tests.lab.evaluation import test_came, test_realtalk
from tests.lab.evaluation.gold_replies import GoldReplies
from tests.lab.evaluation.test_multihop import musique, pairs
from tests.lab.evaluation.test_time_questions import complex_tr, semantic, written

_LINE = re.compile(r"^(T\d+)\. [^:]*: (.*?)(?: \[[^\]]*\])*$", re.MULTILINE)
TOLD = {
    "Ana lives in Leeds.": ("Where does Ana live?", "(Ana) lives in (x:city).", "Leeds"),
    "Ben has a cat called Biscuit.": ("What is Ben's cat called?", "(Ben) has a cat called (x:name).", "Biscuit"),
    "Ana drinks tea.": ("What does Ana drink?", "(Ana) drinks (x:drink).", "tea"),
    "Ben plays cello.": ("What does Ben play?", "(Ben) plays (x:instrument).", "cello"),
    "Ana bought cup-9.": ("Which cup did Ana buy?", "(Ana) bought (x:cup).", "cup-9"),
}
"""What turns tell, the question about each, its plan's one subgoal, and the answer; the last is LongMemEval's."""
KEEPING = ("mem0_facts", "remem_gists", "remem_facts")
"""The steps whose replies hold the answers in the turns' words."""
TIMED = {"Where": "event attributes", "What": "non-temporal", "Which": "event timing"}
"""The kind of each question of LoCoMo by its first word."""
KINDS = (
    "before_after", "event_at_time_t", "event_at_what_time", "first_last", "event_at_the_time_of_another_event",
    "number_of_events_in_time_interval", "relation_duration", "timeline",
)  # fmt: skip


def small(folder: Path) -> dict[str, Path]:
    """Write the data: a question of each category of each benchmark."""
    *turns, (bought, (which, _, cup)) = TOLD.items()
    said = [{"speaker": text.split()[0], "dia_id": f"D1:{n}", "text": text} for n, (text, _) in enumerate(turns, 1)]
    asked: list[dict[str, object]] = [
        {"question": question, "answer": answer, "evidence": [f"D1:{n}"], "category": n}
        for n, (_, (question, _, answer)) in enumerate(turns, 1)
    ]
    asked.append(
        {"question": "Which car does Ana drive?", "adversarial_answer": "a van", "evidence": [], "category": 5}
    )
    talk = {"speaker_a": "Ana", "speaker_b": "Ben", "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": said}
    question = {
        "question_id": "q1", "question_type": "multi-session", "question": which, "answer": cup,
        "question_date": "2023/05/30 (Tue) 23:40", "answer_session_ids": ["s1"], "haystack_session_ids": ["s1"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [[{"role": "user", "content": bought, "has_answer": True}]],
    }  # fmt: skip
    (folder / "realtalk").mkdir()
    chat = test_realtalk.written(folder / "realtalk", *((f"When did Mia see Theodor {n}?", "2023") for n in (1, 2, 3)))
    content = json.loads(chat.read_text("utf-8"))
    for number, each in enumerate(content["qa"], 1):
        each["category"] = number
    chat.write_text(json.dumps(content), "utf-8")
    times = [semantic(f"Who was the R3 of E40 in 1984, kind {kind}?", "E12", question_type=kind) for kind in KINDS]
    types = [
        test_came.question(id=f"q{n}", type=f"type_{n}", content=f"Which hotel for day {n}?") for n in (1, 2, 3, 4)
    ]
    levels = [
        complex_tr(f"{level}_1", ["Acme"], question=f"For whom did Ana Reis work in {year}?")
        for level, year in (("L2", 1957), ("L3", 1958))
    ]
    return {
        "locomo": written(folder, {"sample_id": "conv-1", "conversation": talk, "qa": asked}, name="locomo.json"),
        "longmemeval": written(folder, question, name="longmemeval_s.json"),
        "realtalk": chat,
        "complex-tr": written(folder, *levels, name="complex_tr.jsonl"),
        "tot": written(folder, *times, name="tot.jsonl"),
        "musique": written(folder, musique("2hop__1_2", "Hull"), name="musique.jsonl"),
        "2wiki": written(folder, pairs("a", "Hull", evidences=[]), name="2wiki.jsonl"),
        "came": test_came.trajectory(folder / "came-small-debate", *types),
    }


def gold_model(files: Iterable[Path]) -> ScriptedModel:
    """Return the model over the data; it counts its calls."""
    return ScriptedModel(_Gold(files))


class _Gold:
    """Replies by the gold plan where there is one, else by the gold answer.

    What neither knows, such as what most backbones keep of a talk, is any reply that the schema allows.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self._any = AnyReply(1)
        self._cases: dict[str, Case] = {}
        turns: list[Turn] = []
        for file in files:
            dataset = read_dataset([file])
            turns += [
                turn
                for each in dataset.conversations({case.conversation for case in dataset.cases})
                for turn in each.turns
            ]
            self._cases |= {case.question: case for case in dataset.cases}
        self._turns: Mapping[str, Turn] = {turn.text: turn for turn in turns}
        for text, (question, subgoal, answer) in TOLD.items():
            step = GoldStep(subgoal, (self._turns[text].label,), {"x": answer})
            self._cases[question] = replace(self._cases[question], plan=GoldPlan(subgoal, ("x",), (step,)))

    def __call__(self, request: Request) -> str:
        """Return the reply as JSON."""
        asked = f"{request.growing}\n{request.tail}"
        if request.step == "temporal_kind":
            return json.dumps({"kind": TIMED[request.growing.split('"')[1].split()[0]]})
        case = next(
            (case for question, case in self._cases.items() if f" {question}" in asked or f'"{question}"' in asked),
            None,
        )
        if case is not None and case.plan is not None and request.step != "read":
            try:
                return _proved(
                    GoldReplies(case, {turn.label: turn for turn in self._turns.values()})(request), request, case
                )
            except ValueError:  # not a step of a plan
                pass
        return json.dumps(self._answered(request, case))

    def _answered(self, request: Request, case: Case | None) -> dict[str, Any]:
        reply: dict[str, Any] = json.loads(self._any(request))
        assert isinstance(request.shape, JsonShape)
        schema: Any = request.shape.schema
        allowed = {name: each.get("items", each).get("enum", ()) for name, each in schema["properties"].items()}
        if request.step in KEEPING:
            kept = [_kept(request.step, *line) for line in _LINE.findall(request.growing)]
            return {request.step.rpartition("_")[2]: kept}
        if "acts" in reply:
            return {"acts": []}
        if case is None:
            return reply
        answer = "unknown" if case.is_unanswerable else case.answer
        gold = {
            "facts": [fact for fact in allowed.get("facts", ()) if fact][:8], "answer": answer, "sufficient": True,
            "verdict": "right", "order": [number for number in allowed.get("order", ()) if number != "0"],
            "action": allowed.get("action", ("",))[-1], "input": answer,
        }  # fmt: skip
        if tools := allowed.get("tool"):
            tool = "output_answer" if "output_answer" in tools else next(each for each in tools if "_retrieve" in each)
            return {"thought": "so", "tool": tool, "query": case.question, "answer": answer, "facts": gold["facts"]}
        return reply | {name: value for name, value in gold.items() if name in reply}


def _proved(reply: str, request: Request, case: Case) -> str:
    """Return the reply of a plan; what a backbone has written of a turn grounds the subgoal as the turn would."""
    told: dict[str, Any] = json.loads(reply)
    shown = [line.number for line in lines_shown(request.growing) if case.answer and case.answer in line.told]
    if told.get("groundings") == [] and shown:
        binding = {"variable": "x", "value": case.answer}
        told["groundings"] = [{"subgoal": "S1", "facts": shown[:1], "verdict": "entailed", "bindings": [binding]}]
    return json.dumps(told)


def _kept(step: str, number: str, text: str) -> object:
    """Return what is kept of a message: its text as a fact or a gist, or as what is told of its first word."""
    if step == "mem0_facts":
        return text
    if step == "remem_gists":
        return {"turns": [number], "text": text, "when": ""}
    times = dict.fromkeys(("point_in_time", "start_time", "end_time"), "")
    return {"turns": [number], "subject": text.split()[0], "predicate": "is told", "object": text[:120], **times}
